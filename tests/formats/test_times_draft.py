"""Times are kept by their fingerprints, whatever happens to the process that keeps them."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from itinera.errors import BadFile
from itinera.formats.times_draft import TimesDraft


def test_what_was_kept_is_known_again(tmp_path: Path) -> None:
    with TimesDraft(tmp_path / "times.jsonl") as draft:
        draft.add(["a", "b"], [1.0, 2.5], [1.5, math.inf])
        assert draft.known == {"a": (1.0, 1.5), "b": (2.5, math.inf)}
    with TimesDraft(tmp_path / "times.jsonl") as again:
        assert again.known == {"a": (1.0, 1.5), "b": (2.5, math.inf)}
        again.discard()
    assert not list(tmp_path.iterdir())


def test_a_line_that_broke_off_is_passed_over_and_does_not_spoil_the_next(tmp_path: Path) -> None:
    with TimesDraft(tmp_path / "times.jsonl") as draft:
        draft.add(["a", "b"], [1.0, 2.0], [1.5, 3.0])
    whole = draft.path.read_bytes()
    for cut in range(len(whole)):
        draft.path.write_bytes(whole[:cut])
        with TimesDraft(tmp_path / "times.jsonl") as again:
            assert set(again.known) <= {"a", "b"}
            again.add(["c"], [4.0], [5.0])
        with TimesDraft(tmp_path / "times.jsonl") as after:
            assert after.known == again.known | {"c": (4.0, 5.0)}


def test_where_nothing_can_be_written_it_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadFile, match="cannot be written"):
        TimesDraft(tmp_path / "file" / "times.jsonl")
