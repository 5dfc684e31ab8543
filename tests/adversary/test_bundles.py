"""Score bundles with forged protocols: refused, or shown with a name that says so."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

import itinera
import tiny
from itinera.errors import BadArgument, BadFile


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    files = tiny.on_graphs(tmp_path)
    itinera.score(files.predictions, files.tasks, files.worlds, out=tmp_path / "honest.jsonl")
    return tmp_path / "honest.jsonl"


def forge(bundle: Path, target: str, **fields: object) -> Path:
    """A bundle with other values in its protocol, and a digest that agrees with them."""
    head, *rows = bundle.read_text().splitlines()
    header = json.loads(head)
    header["protocol"] |= fields
    header["digest"] = ""
    text = "\n".join([json.dumps(header), *rows]) + "\n"
    digest = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
    return tiny.written(bundle.with_name(target), text.replace('"digest": ""', f'"digest": "{digest}"'))


def test_a_forged_protocol_is_not_compared_with_an_honest_one(bundle: Path) -> None:
    forged = forge(bundle, "forged.jsonl", success_radius=1000.0)
    with pytest.raises(BadArgument, match="Results of different protocols cannot be compared"):
        itinera.compare([bundle, forged])


def test_a_known_name_is_never_printed_over_other_rules(bundle: Path) -> None:
    forged, again = (forge(bundle, name, success_radius=1000.0) for name in ("forged.jsonl", "again.jsonl"))
    label = "r2r (modified, 564ecbfa)"
    assert f"protocol {label}" in str(itinera.read_scores(forged))
    assert f"protocol {label}" in str(itinera.compare([forged, again]))
    out = bundle.with_name("report.html")
    itinera.report([bundle, forged], out=out)
    assert label in out.read_text()
    assert "protocol r2r\n" in str(itinera.read_scores(bundle))


@pytest.mark.parametrize(
    "fields", [{"success_radius": 0.0}, {"step_limit": 0}, {"name": "r2r\u200b"}, {"turn_angle": -1.0}], ids=str
)
def test_protocols_out_of_range_are_refused(bundle: Path, fields: dict[str, object]) -> None:
    with pytest.raises(BadFile, match="line 1, field protocol"):
        itinera.read_scores(forge(bundle, "forged.jsonl", **fields))
