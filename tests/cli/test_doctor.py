"""`itinera doctor`: what is installed and what works."""

from __future__ import annotations

import re
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from cli.conftest import Command
from itinera.analysis import installation
from itinera.analysis.installation import CORE, EXTRAS, DataFolder, Kernels, examine

ROOT = Path(__file__).parents[2]


def named(requirement: str) -> str:
    found = re.match(r"[\w-]+", requirement)
    assert found is not None
    return found[0]


def test_it_tells_versions_extras_and_machine(itinera: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ITINERA_DATA", raising=False)
    outcome = itinera("doctor")
    assert (outcome.code, outcome.err) == (0, "")
    assert all(re.search(rf"^{name} +\d", outcome.out, re.MULTILINE) for name in CORE)
    assert outcome.out.endswith("Everything works.\n")
    told = itinera("doctor", "--json").json
    assert told["troubles"] == []
    assert told["cores"] >= 1
    assert told["kernels"]["compiled"] <= told["kernels"]["count"] > 100
    assert told["data"] is None


def test_core_and_extras_are_those_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert [named(one) for one in project["dependencies"]] == list(CORE)
    assert EXTRAS.keys() <= project["optional-dependencies"].keys()
    asked = re.compile(r'MissingExtra\(\s*"[^"]*", "[^"]*", "(\w+)"\s*\)')
    sources = (ROOT / "src" / "itinera").rglob("*.py")
    assert {name for file in sources for name in asked.findall(file.read_text(encoding="utf-8"))} == EXTRAS.keys()


def test_every_extra_of_the_project_is_listed_as_installed_or_not(itinera: Command) -> None:
    from importlib.metadata import metadata

    found = examine().extras
    assert list(found)[: len(EXTRAS)] == list(EXTRAS)
    assert set(found) >= set(metadata("itinera").get_all("Provides-Extra"))
    # An extra that names other extras has their packages.
    assert {**found["maps"].installed, **found["figures"].installed}.keys() <= found["all"].installed.keys()
    lines = {line.split("  ")[0]: line for line in itinera("doctor").out.splitlines()}
    for name, extra in found.items():
        line = lines[f"extra {name}"]
        lacking = bool(extra.missing) or not extra.installed
        assert ("not installed: lacks" in line, extra.install in line) == (lacking, lacking)
        assert "installed: " in line


def test_a_missing_extra_comes_with_its_command(itinera: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = installation._version
    monkeypatch.setattr(installation, "_version", lambda package: "" if package == "h5py" else installed(package))
    outcome = itinera("doctor")
    assert outcome.code == 0
    assert 'pip install "itinera[features]"' in outcome.out
    assert itinera("doctor", "--json").json["extras"]["features"]["missing"] == ["h5py"]


def test_a_folder_of_data_that_is_not_there_is_trouble(
    itinera: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ITINERA_DATA", str(tmp_path / "nowhere"))
    outcome = itinera("doctor")
    assert outcome.code == 1
    assert "which is not a folder" in outcome.out
    (tmp_path / "r2r").mkdir()
    (tmp_path / "r2r" / "R2R_train.json").write_text("[]")
    monkeypatch.setenv("ITINERA_DATA", str(tmp_path))
    assert itinera("doctor", "--json").json["data"] == {"folder": str(tmp_path), "found": True, "r2r_splits": 1}


def test_every_trouble_has_a_remedy() -> None:
    well = replace(examine(), data=None, browser=None, browser_setting=None)
    assert well.troubles == ()
    assert "pip install" in replace(well, core={"numpy": ""}).troubles[0]
    assert "NUMBA_CACHE_DIR" in replace(well, kernels=Kernels("/", False, 0, 1)).troubles[0]
    assert replace(well, kernels=Kernels("", False, 0, 0, "Set it.")).troubles == ("Set it.",)
    assert "Install it" in replace(well, browser_setting="lynx").troubles[0]
    assert "unset it" in replace(well, data=DataFolder("/x", False, 0)).troubles[0]


def test_a_compiled_kernel_is_counted(
    itinera_process: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert itinera_process("doctor", "--json").json["kernels"]["compiled"] == 0
    (folder,) = [folder for folder in tmp_path.iterdir() if folder.name.startswith("records_")]
    source = (ROOT / "src" / "itinera" / "records" / "_kernels.py").read_text(encoding="utf-8")
    found = re.search(r"^@njit.*\ndef (\w+)", source, re.MULTILINE)
    assert found is not None
    line = source[: found.start()].count("\n") + 1
    version = f"py{sys.version_info.major}{sys.version_info.minor}"
    (folder / f"_kernels.{found[1]}-{line}.{version}.nbi").touch()
    told = itinera_process("doctor", "--json").json["kernels"]
    assert (told["compiled"], told["folder"]) == (1, str(tmp_path))
