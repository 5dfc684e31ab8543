"""The file of a season that a build finds in its folder: used if it is one, and never trusted."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from itinera.runs.build_season import _read_record, _remove_earlier_files

RECORD = {"config": {"seed": 1}, "splits": {"train": {"paths": 2}}, "files": {"rooms.csv": "ab"}}


def folder(path: Path, content: str) -> Any:
    (path / "season.json").write_text(content)
    return SimpleNamespace(out=path)


def test_a_record_is_read_as_it_is(tmp_path: Path) -> None:
    assert _read_record(folder(tmp_path, json.dumps(RECORD | {"more": 1}))) == RECORD | {"more": 1}


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "[" * 100_000,
        json.dumps(RECORD | {"files": ["rooms.csv"]}),
        json.dumps(RECORD | {"files": {"rooms.csv": 1}}),
        json.dumps(RECORD | {"config": None}),
        json.dumps(RECORD | {"splits": {"train": []}}),
        json.dumps({"config": {}, "files": {}}),
        '{"config": {"seed": ' + "9" * 5000 + "}}",
    ],
)
def test_a_file_that_is_no_record_is_not_used(tmp_path: Path, content: str) -> None:
    assert _read_record(folder(tmp_path, content)) is None


def test_a_pipe_is_no_record_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "season.json")
    assert _read_record(SimpleNamespace(out=tmp_path)) is None  # type: ignore[arg-type]


def test_only_files_of_the_folder_are_removed(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "season" / "rooms.csv"
    inside.parent.mkdir()
    for file in (outside, inside):
        file.write_text("x")
    names = {"rooms.csv": "", "../outside": "", str(outside): "", "a\0b": ""}
    _remove_earlier_files(folder(inside.parent, json.dumps(RECORD | {"files": names})))
    assert outside.exists()
    assert list(inside.parent.iterdir()) == []
