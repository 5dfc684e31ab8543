"""Every reader of predictions names the fields it does not know; none drops them in silence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from examples import EXAMPLES
from json_files import written

from itinera.formats import catalog

READERS = ("native-predictions", "r2r-submission", "soon-submission", "rxr-followers", "rxr-submission",
           "rxr-ce-submission", "vlnce-submission", "ivln-ce-predictions")  # fmt: skip


def add_field(content: Any) -> Any:
    """The same content with a field "surprise" in its innermost records."""
    if isinstance(content, dict):
        inner = next((key for key in ("trajectories", "trajectory") if key in content), None)
        if inner is not None and isinstance(content[inner], dict | list) and inner == "trajectories":
            return content | {inner: add_field(content[inner])}
        if any(isinstance(value, list) and value and isinstance(value[0], dict) for value in content.values()):
            return {key: add_field(value) for key, value in content.items()}
        return content | {"surprise": 1}
    return [add_field(value) for value in content]


def surprising(name: str) -> str:
    text = EXAMPLES[name].decode()
    if name in ("native-predictions", "rxr-followers", "rxr-submission", "rxr-ce-submission"):
        lines = [json.loads(line) for line in text.splitlines()]
        return "".join(json.dumps(line if "itinera" in line else add_field(line)) + "\n" for line in lines)
    return json.dumps(add_field(json.loads(text)))


@pytest.mark.parametrize("name", READERS)
def test_unknown_fields_are_named(tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str) -> None:
    caplog.set_level("INFO", "itinera")
    form = catalog.find_format(name)
    form.read(written(tmp_path / "plain", EXAMPLES[name]))
    assert caplog.messages == []
    read = form.read(written(tmp_path / "more", surprising(name)))
    (said,) = caplog.messages
    assert said.startswith(str(tmp_path / "more"))
    assert said.endswith(": surprise.")
    assert len(read) > 0


def test_only_the_first_names_of_many_are_listed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "itinera")
    record = {"instr_id": "1_0", "trajectory": [["a"]]} | {f"k{i:02}" + "x" * 50 * (i == 0): i for i in range(12)}
    catalog.find_format("r2r-submission").read(written(tmp_path / "walks.json", [record]))
    assert caplog.messages[0].endswith(f"not scored: k00{'x' * 36}…, k01, k02, k03, k04, k05, k06, k07 and 4 more.")


def test_every_reader_of_predictions_is_looked_at() -> None:
    """Of the others, CSV logs of positions refuse unknown columns, and robots' logs ignore them, as documented."""
    known = {f.name for f in (*catalog.FORMATS, *catalog.ARCHIVES) if f.kind == "predictions"}
    assert known - set(READERS) == {"positions", "robot-csv", "tum", "robot-logs"}
