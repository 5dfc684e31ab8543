"""Every reader of predictions names the fields it does not know; none drops them in silence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from examples import EXAMPLES
from json_files import written

from itinera.formats import catalog

MORE = {"surprise": 1}


def add_to_list(text: str) -> str:
    return json.dumps([record | MORE for record in json.loads(text)])


def add_to_lines(text: str) -> str:
    return "".join(json.dumps(json.loads(line) | MORE) + "\n" for line in text.splitlines())


def add_to_steps(text: str) -> str:
    return json.dumps({name: [step | MORE for step in steps] for name, steps in json.loads(text).items()})


def add_to_trajectories(text: str) -> str:
    header, line = text.splitlines()
    rollout = json.loads(line)
    return f"{header}\n{json.dumps(rollout | {'trajectories': [t | MORE for t in rollout['trajectories']]})}\n"


READERS = {
    "native-predictions": add_to_trajectories,
    "r2r-submission": add_to_list,
    "soon-submission": add_to_list,
    "rxr-followers": add_to_lines,
    "rxr-submission": add_to_lines,
    "rxr-ce-submission": add_to_lines,
    "vlnce-submission": add_to_steps,
    "ivln-ce-predictions": add_to_steps,
    "vlln": add_to_lines,
    "omninavbench": lambda text: json.dumps(json.loads(text) | MORE),
}


@pytest.mark.parametrize("name", READERS)
def test_unknown_fields_are_named(tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str) -> None:
    caplog.set_level("INFO", "itinera")
    form = catalog.find_format(name)
    plain = EXAMPLES[name].decode()
    form.read(written(tmp_path / "plain", plain))
    assert caplog.messages == []
    read = form.read(written(tmp_path / "more", READERS[name](plain)))
    (said,) = caplog.messages
    assert said.startswith(str(tmp_path / "more"))
    assert said.endswith(": surprise.")
    assert len(read) > 0


def test_only_the_first_names_of_many_are_listed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "itinera")
    record = {"instr_id": "1_0", "trajectory": [["a"]]} | {f"k{i:02}" + "x" * 50 * (i == 0): i for i in range(12)}
    catalog.find_format("r2r-submission").read(written(tmp_path / "walks.json", [record]))
    assert caplog.messages[0].endswith(f"not scored: k00{'x' * 36}…, k01, k02, k03, k04, k05, k06, k07 and 4 more.")


def test_columns_of_a_robots_log_that_are_not_read_are_named_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "itinera")
    folder = tmp_path / "logs"
    folder.mkdir()
    for name in ("1", "2"):
        written(folder / f"{name}.csv", "time,x,y,battery,note\n0,0,0,9,a\n1,1,0,9,b\n")
    written(folder / "3.tum", EXAMPLES["tum"].decode())
    catalog.find_format("robot-csv").read(folder / "1.csv")
    catalog.find_format("robot-logs").read(folder)
    said = ": fields that this format does not have are not read: battery, note."
    assert caplog.messages == [f"{folder / '1.csv'}{said}", f"{folder}{said}"]


def test_every_reader_of_predictions_is_looked_at() -> None:
    """Of the others, CSV logs of positions refuse unknown columns, TUM has none, and case files are full of them."""
    known = {f.name for f in (*catalog.FORMATS, *catalog.ARCHIVES) if f.kind == "predictions"}
    assert known - READERS.keys() == {
        "positions", "robot-csv", "tum", "robot-logs", "case-files", "omninavbench-results",
    }  # fmt: skip
