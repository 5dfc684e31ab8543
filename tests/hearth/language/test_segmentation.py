from __future__ import annotations

import numpy as np
import pytest

import grid_house
from itinera.hearth.language.path_context import Scene
from itinera.hearth.language.segmentation import ORDINARY, STEPS, choose_legs
from itinera.hearth.language.semantics import Act, meant
from itinera.seeding import generator

SEEDS = range(4)


def scenes(seed: int, count: int = 12):
    place = grid_house.place(seed)
    rng = generator(seed, "legs")
    for path in place.paths(count, rng):
        yield Scene(place.outlooks, path, float(rng.uniform(-np.pi, np.pi))), rng


@pytest.mark.parametrize("prices", [STEPS, ORDINARY], ids=["steps", "ordinary"])
@pytest.mark.parametrize("seed", SEEDS)
def test_legs_cover_the_path_from_start_to_stop(seed, prices):
    for scene, rng in scenes(seed):
        legs = choose_legs(scene, rng, prices)
        assert legs[0].first == 0
        assert legs[-1].last == scene.end
        assert [leg.last for leg in legs[:-1]] == [leg.first for leg in legs[1:]]
        assert [leg.clause.act for leg in legs].count(Act.STOP) == 1
        assert legs[-1].clause.act is Act.STOP


@pytest.mark.parametrize("seed", SEEDS)
def test_what_a_clause_speaks_of_is_one_thing_among_those_in_view(seed):
    for scene, rng in scenes(seed):
        for leg in choose_legs(scene, rng, STEPS):
            if leg.clause.thing is not None or leg.clause.act is Act.DOOR:
                assert len(meant(leg.clause, scene.outlooks[leg.first], scene.headings[leg.first])) == 1


@pytest.mark.parametrize("seed", SEEDS)
def test_nearly_every_leg_can_be_told_for_sure(seed):
    doubts = [leg.doubt > 0 for scene, rng in scenes(seed) for leg in choose_legs(scene, rng, STEPS)]
    assert np.mean(doubts) < 0.1


def test_now_a_turn_decides_and_now_a_landmark():
    acts = [leg.clause.act for seed in SEEDS for scene, rng in scenes(seed) for leg in choose_legs(scene, rng, STEPS)]
    turns = acts.count(Act.GO)
    landmarks = sum(acts.count(act) for act in (Act.TOWARDS, Act.REACH, Act.PASS))
    assert 0.4 < turns / landmarks < 2.5


def test_fewer_legs_make_an_ordinary_telling():
    counts = {
        name: np.mean([len(choose_legs(scene, rng, prices)) for seed in SEEDS for scene, rng in scenes(seed)])
        for name, prices in {"steps": STEPS, "ordinary": ORDINARY}.items()
    }
    assert counts["ordinary"] < counts["steps"]
