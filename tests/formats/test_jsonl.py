"""JSON lines with their numbers, and NaN where JSON has none."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from itinera.errors import Fault
from itinera.formats.jsonl import iter_records, replace_nan


class Point(msgspec.Struct):
    x: float | None


def test_blank_lines_are_passed_over_but_counted(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text('{"x": 1}\n\n  \n{"x": 2}')
    faults: list[Fault] = []
    assert list(iter_records(path, Point, faults)) == [("line 1", Point(1)), ("line 4", Point(2))]
    assert faults == []


def test_every_bad_line_is_a_fault_and_the_others_are_read(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text('{"x": "far"}\n{"x": 2}\n{"x": 3\n{"x": Infinity, "y": NaN}\n' + "[" * 100_000)
    faults: list[Fault] = []
    assert [record.x for _, record in iter_records(path, Point, faults)] == [2]
    assert [fault.where for fault in faults] == ["line 1", "line 3", "line 4", "line 5"]
    assert "Infinity is not a JSON number" in faults[2].problem


def test_a_bare_nan_is_missing_but_the_word_nan_is_a_word(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text('{"x": NaN}\n')
    assert [record.x for _, record in iter_records(path, Point, [])] == [None]
    assert json.loads(replace_nan(b'["NaN, NaN", NaN, {"NaN": [NaN]}]')) == ["NaN, NaN", None, {"NaN": [None]}]


def test_infinity_is_not_taken_for_missing() -> None:
    with pytest.raises(ValueError, match="-Infinity"):
        replace_nan(b"[-Infinity]")
