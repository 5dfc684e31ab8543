from __future__ import annotations

import numpy as np
import pytest

import grid_house
from itinera.hearth.language.path_context import PathContext
from itinera.hearth.language.segmentation import ORDINARY, STEPS, choose_segments
from itinera.hearth.language.semantics import Act, find_referents
from itinera.seeding import generator

SEEDS = range(4)


def scenes(seed: int, count: int = 12):
    place = grid_house.place(seed)
    rng = generator(seed, "legs")
    for path in place.paths(count, rng):
        yield PathContext(place.descriptions, path, float(rng.uniform(-np.pi, np.pi))), rng


@pytest.mark.parametrize("costs", [STEPS, ORDINARY], ids=["steps", "ordinary"])
@pytest.mark.parametrize("seed", SEEDS)
def test_legs_cover_the_path_from_start_to_stop(seed, costs):
    for context, rng in scenes(seed):
        segments = choose_segments(context, rng, costs)
        assert segments[0].first == 0
        assert segments[-1].last == context.end
        assert [segment.last for segment in segments[:-1]] == [segment.first for segment in segments[1:]]
        assert [segment.clause.act for segment in segments].count(Act.STOP) == 1
        assert segments[-1].clause.act is Act.STOP


@pytest.mark.parametrize("seed", SEEDS)
def test_what_a_clause_speaks_of_is_one_thing_among_those_in_view(seed):
    for context, rng in scenes(seed):
        for segment in choose_segments(context, rng, STEPS):
            if segment.clause.landmark is not None or segment.clause.act is Act.DOOR:
                counts = [
                    len(find_referents(segment.clause, context.descriptions[place], context.headings[place]))
                    for place in (segment.first, segment.last)
                ]
                assert counts[1] > 0 == counts[0] if segment.clause.act is Act.SEE else counts[0] == 1


@pytest.mark.parametrize("seed", SEEDS)
def test_nearly_every_leg_can_be_told_for_sure(seed):
    doubts = [
        segment.ambiguity > 0 for context, rng in scenes(seed) for segment in choose_segments(context, rng, STEPS)
    ]
    assert np.mean(doubts) < 0.1


def test_now_a_turn_decides_and_now_a_landmark():
    acts = [
        segment.clause.act
        for seed in SEEDS
        for context, rng in scenes(seed)
        for segment in choose_segments(context, rng, STEPS)
    ]
    turns = acts.count(Act.GO)
    landmarks = sum(acts.count(act) for act in (Act.TOWARDS, Act.REACH, Act.PASS))
    assert 0.4 < turns / landmarks < 2.5


def test_fewer_legs_make_an_ordinary_telling():
    counts = {
        name: np.mean([len(choose_segments(context, rng, costs)) for seed in SEEDS for context, rng in scenes(seed)])
        for name, costs in {"steps": STEPS, "ordinary": ORDINARY}.items()
    }
    assert counts["ordinary"] < counts["steps"]
