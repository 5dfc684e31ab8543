"""Streams that depend on seed and names alone."""

from __future__ import annotations

import pytest

from itinera.errors import BadArgument
from itinera.seeding import generator


def first(seed: int, *names: str) -> float:
    return float(generator(seed, *names).random())


def test_same_seed_and_names_give_the_same_stream_whatever_ran_before():
    alone = generator(7, "house", "3").random(5).tolist()
    generator(7, "house", "2").random(100)
    assert generator(7, "house", "3").random(5).tolist() == alone


def test_streams_stay_as_they_are_so_that_old_results_can_be_made_again():
    assert generator(7, "house", "3").integers(0, 1_000_000, 3).tolist() == [517334, 162696, 674337]


def test_other_seeds_and_other_names_give_other_streams():
    streams = [(7,), (8,), (7, "a"), (7, "b"), (7, "a", "b"), (7, "b", "a"), (7, "ab"), (7, "a", "")]
    assert len({first(*stream) for stream in streams}) == len(streams)


def test_a_negative_seed_is_refused():
    with pytest.raises(BadArgument, match=r"must be ≥ 0 \(got -1\)"):
        generator(-1)
