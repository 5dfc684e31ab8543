"""Work done part by part, interrupted and taken up again."""

from __future__ import annotations

import pytest

from itinera.builders.parts import Parts
from itinera.errors import BadArgument


def test_parts_become_lines_in_order_and_vanish(tmp_path):
    parts = Parts(tmp_path / "out.json", "plan", resume=False)
    made = [parts.made(0, lambda: [b"a", b"b"]), parts.made(1, lambda: [b"c"])]
    assert list(parts.lines(made)) == [b"a", b"b", b"c"]
    parts.remove()
    assert list(tmp_path.iterdir()) == []


def test_what_was_made_before_is_not_made_again(tmp_path):
    Parts(tmp_path / "out.json", "plan", resume=False).made(0, lambda: [b"first"])
    again = Parts(tmp_path / "out.json", "plan", resume=True)
    assert list(again.lines([again.made(0, lambda: [b"second"])])) == [b"first"]


def test_a_part_that_broke_off_is_made_again(tmp_path):
    def breaks():
        yield b"half"
        raise KeyboardInterrupt

    parts = Parts(tmp_path / "out.json", "plan", resume=False)
    with pytest.raises(KeyboardInterrupt):
        parts.made(0, breaks)
    again = Parts(tmp_path / "out.json", "plan", resume=True)
    assert list(again.lines([again.made(0, lambda: [b"whole"])])) == [b"whole"]


def test_without_resume_everything_is_made_anew(tmp_path):
    Parts(tmp_path / "out.json", "plan", resume=False).made(0, lambda: [b"first"])
    anew = Parts(tmp_path / "out.json", "plan", resume=False)
    assert list(anew.lines([anew.made(0, lambda: [b"second"])])) == [b"second"]


def test_parts_of_another_plan_are_never_mixed_in(tmp_path):
    Parts(tmp_path / "out.json", "plan", resume=False)
    with pytest.raises(BadArgument, match="parts of another build"):
        Parts(tmp_path / "out.json", "another plan", resume=True)
