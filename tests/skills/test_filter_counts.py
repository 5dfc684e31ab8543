from __future__ import annotations

import pytest

from itinera.formats.trials import FilterCounts
from itinera.skills.filter_counts import FilterCounter


def test_every_candidate_is_kept_or_counted_by_its_reason_most_frequent_first():
    counter = FilterCounter()
    counter.add(2, ["b"])
    counter.add(0, ["a", "b"])
    counter.add(0, ["c"])
    counts = counter.total()
    assert counts == FilterCounts(6, 2, {"b": 2, "a": 1, "c": 1}, truncations=3, truncations_kept=1)
    assert list(counts.dropped) == ["b", "a", "c"]


def test_a_truncation_without_a_candidate_cannot_be_counted():
    with pytest.raises(AssertionError, match="at least one"):
        FilterCounter().add(0, [])
