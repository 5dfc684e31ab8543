"""`itinera data verify`, end to end."""

from __future__ import annotations

import gzip
import json
import shutil
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import tiny
from cli.conftest import Command, Outcome
from itinera.records.provenance import digest


def note(folder: Path, *names: str) -> None:
    lines = [f"{sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
    (folder / "SHA256SUMS").write_text("".join(lines))


def by_file(outcome: Outcome) -> dict[str, Any]:
    return {one["file"]: one for one in outcome.json["files"]}


def test_a_whole_folder_has_no_faults(files: tiny.Files, itinera: Command) -> None:
    (files.folder / "README.md").write_text("Ours.")
    (files.folder / ".cache").write_text("{")
    note(files.folder, files.tasks.name, files.predictions.name)
    outcome = itinera("data", "verify", files.folder)
    assert (outcome.code, outcome.err) == (0, "")
    assert "2 digests compared. No faults." in outcome.out
    assert "5 trajectories" in outcome.out
    told = by_file(itinera("data", "verify", files.folder, "--json"))
    assert told[files.tasks.name]["format"] == "r2r"
    assert told[files.tasks.name]["holds"]["episodes"] == 5
    assert told[files.worlds.name]["format"] == "connectivity"
    assert told["README.md"]["format"] == ""
    assert ".cache" not in told
    alone = by_file(itinera("data", "verify", files.worlds, "--json"))["."]
    assert (alone["format"], alone["holds"]["worlds"]) == ("connectivity", 2)


def test_a_changed_file_a_missing_and_a_broken_one_are_told_together(files: tiny.Files, itinera: Command) -> None:
    (files.folder / "gone.json").write_text("[]")
    note(files.folder, files.tasks.name, "gone.json")
    (files.folder / "gone.json").unlink()
    files.tasks.write_text(files.tasks.read_text() + "\n")
    files.predictions.write_text(files.predictions.read_text()[:-5])
    (files.folder / "cut.json.gz").write_bytes(gzip.compress(b"[1, 2, 3]")[:-9])
    outcome = itinera("data", "verify", files.folder)
    assert outcome.code == 1
    assert f"{files.tasks}: does not have the digest in SHA256SUMS." in outcome.err
    assert f"{files.folder / 'gone.json'}: does not exist, though SHA256SUMS names it." in outcome.err
    assert f"{files.predictions}: " in outcome.err
    assert "cut short or damaged" in outcome.err
    assert "4 faults." in outcome.out
    assert itinera("data", "verify", files.folder, "--json").json["faults"] == 4


def test_a_season_is_held_against_its_own_digests(files: tiny.Files, itinera: Command) -> None:
    graphs = sorted(file for file in files.worlds.iterdir() if file.name.endswith("_connectivity.json"))
    noted = {file.relative_to(files.folder).as_posix(): digest(file) for file in graphs}
    (files.folder / "season.json").write_text(json.dumps({"itinera": "season", "files": noted}))
    told = by_file(itinera("data", "verify", files.folder, "--json"))
    assert told["season.json"]["holds"] == {"digests": len(graphs)}
    assert told[files.worlds.name]["digests"] == len(graphs)
    graphs[0].write_bytes(graphs[0].read_bytes() + b" ")
    outcome = itinera("data", "verify", files.folder)
    assert outcome.code == 1
    assert f"{graphs[0]}: does not have the digest in season.json." in outcome.err


def test_a_file_changed_since_its_provenance_was_written_is_told(files: tiny.Files, itinera: Command) -> None:
    copy = files.folder / "copy.jsonl"
    assert itinera("convert", files.predictions, copy, "--to", "rxr-submission").code == 0
    told = by_file(itinera("data", "verify", files.folder, "--json"))
    assert told["copy.jsonl"]["faults"] == []
    assert "copy.jsonl.provenance.json" not in told
    copy.write_text(copy.read_text() + "\n")
    assert "was changed after it was written" in itinera("data", "verify", files.folder).err


def test_archives_are_read_and_only_those_named_so_are_boxes(files: tiny.Files, itinera: Command) -> None:
    shutil.make_archive(str(files.folder / "graphs"), "zip", files.worlds)
    (files.folder / "odd").mkdir()
    (files.folder / "odd" / "a_b.json").write_text("3")
    shutil.make_archive(str(files.folder / "odd"), "gztar", files.folder / "odd")
    (files.folder / "cut.tar.gz").write_bytes((files.folder / "odd.tar.gz").read_bytes()[:40])
    told = by_file(itinera("data", "verify", files.folder, "--json"))
    assert told["graphs.zip"]["format"] == "connectivity"
    assert (told["odd.tar.gz"]["format"], told["odd.tar.gz"]["faults"]) == ("", [])
    assert len(told["cut.tar.gz"]["faults"]) == 1


def test_what_a_missing_extra_would_read_is_no_fault(
    tmp_path: Path, itinera: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "map.yaml").write_text("image: map.pgm\nresolution: 0.05\norigin: [0, 0, 0]\n")
    monkeypatch.setitem(sys.modules, "yaml", None)
    told = by_file(itinera("data", "verify", tmp_path, "--json"))
    assert told["map.yaml"]["faults"] == []
    assert 'pip install "itinera[maps]"' in told["map.yaml"]["note"]


def test_the_folder_may_be_that_of_the_environment(
    files: tiny.Files, itinera: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ITINERA_DATA", str(files.folder))
    assert itinera("data", "verify", "--json").json["folder"] == str(files.folder)
    monkeypatch.delenv("ITINERA_DATA")
    outcome = itinera("data", "verify")
    assert (outcome.code, "ITINERA_DATA" in outcome.err) == (2, True)


def test_what_is_no_folder_is_refused(files: tiny.Files, itinera: Command) -> None:
    outcome = itinera("data", "verify", files.tasks)
    assert outcome.code == 1
    assert "is not a folder" in outcome.err


@pytest.mark.real
@pytest.mark.slow
def test_the_real_data_are_whole(data: Path, itinera: Command) -> None:
    told = by_file(itinera("data", "verify", data, "--json"))
    assert told["r2r/R2R_val_unseen.json.gz"]["holds"]["episodes"] == 2349
    # Its own page of notes is no data.
    assert [name for name, one in told.items() if one["faults"] and name != "README.md"] == []
