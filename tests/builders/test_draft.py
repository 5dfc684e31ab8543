"""Work done part by part, interrupted and taken up again."""

from __future__ import annotations

import gzip

import pytest

from itinera.builders.draft import Draft
from itinera.errors import BadArgument


def test_parts_become_the_result_in_order_and_nothing_is_left_behind(tmp_path):
    draft = Draft(tmp_path / "out.json", "plan", resume=False)
    draft.add([b"a\n", b"b\n"], [2])
    draft.add([b"c\n"], [1])
    assert draft.counts == [(2,), (1,)]
    assert draft.lines() == [b"a", b"b", b"c"]
    draft.finish()
    assert (tmp_path / "out.json").read_bytes() == b"a\nb\nc\n"
    assert [file.name for file in tmp_path.iterdir()] == ["out.json"]


def test_a_name_in_gz_is_compressed(tmp_path):
    draft = Draft(tmp_path / "out.json.gz", "plan", resume=False)
    draft.add([b"a"])
    draft.finish()
    assert gzip.decompress((tmp_path / "out.json.gz").read_bytes()) == b"a"
    assert [file.name for file in tmp_path.iterdir()] == ["out.json.gz"]


def test_what_was_whole_is_kept_and_what_broke_off_is_made_again(tmp_path):
    def breaks():
        yield b"half"
        raise KeyboardInterrupt

    draft = Draft(tmp_path / "out.json", "plan", resume=False)
    draft.add([b"first\n"], [1, 9])
    with pytest.raises(KeyboardInterrupt):
        draft.add(breaks())
    assert not (tmp_path / "out.json").exists()
    again = Draft(tmp_path / "out.json", "plan", resume=True)
    assert again.counts == [(1, 9)]
    again.add([b"second\n"])
    again.finish()
    assert (tmp_path / "out.json").read_bytes() == b"first\nsecond\n"


def test_counts_may_be_filled_while_a_part_is_made(tmp_path):
    counted = [0]

    def blocks():
        for block in (b"x", b"y"):
            counted[0] += 1
            yield block

    draft = Draft(tmp_path / "out.json", "plan", resume=False)
    draft.add(blocks(), counted)
    assert draft.counts == [(2,)]


def test_without_resume_everything_is_made_anew(tmp_path):
    Draft(tmp_path / "out.json", "plan", resume=False).add([b"first"])
    anew = Draft(tmp_path / "out.json", "plan", resume=False)
    assert anew.counts == []
    anew.add([b"2nd"])
    anew.finish()
    assert (tmp_path / "out.json").read_bytes() == b"2nd"


def test_parts_of_another_plan_are_never_mixed_in(tmp_path):
    Draft(tmp_path / "out.json", "plan", resume=False).add([b"first"])
    with pytest.raises(BadArgument, match="begun from other inputs"):
        Draft(tmp_path / "out.json", "another plan", resume=True)
