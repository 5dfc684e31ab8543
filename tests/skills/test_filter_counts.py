from __future__ import annotations

import pytest

from itinera.skills.filter_counts import Tally, TallySheet


def test_every_candidate_is_kept_or_counted_by_its_reason_commonest_first():
    sheet = TallySheet()
    sheet.cut(2, ["b"])
    sheet.cut(0, ["a", "b"])
    sheet.cut(0, ["c"])
    tally = sheet.total()
    assert tally == Tally(candidates=6, kept=2, dropped={"b": 2, "a": 1, "c": 1}, cuts=3, cuts_kept=1)
    assert list(tally.dropped) == ["b", "a", "c"]


def test_a_tally_that_does_not_add_up_cannot_be_made():
    with pytest.raises(AssertionError, match="lost"):
        Tally(candidates=3, kept=1, dropped={"a": 1}, cuts=3, cuts_kept=1)


def test_a_cut_without_a_candidate_cannot_be_counted():
    with pytest.raises(AssertionError, match="at least one"):
        TallySheet().cut(0, [])
