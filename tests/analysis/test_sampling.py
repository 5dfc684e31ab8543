"""Subsets of a split: what is drawn, and the error that is stated for it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from itinera.analysis.extrapolation import extrapolate
from itinera.analysis.sampling import draw_subset, make_design
from itinera.errors import BadArgument
from itinera.tasks import Split
from small_split import SCENES, make_scores, make_split
from text_worlds import episode

SPLIT = make_split()


def test_the_subset_has_the_size_asked_for_and_no_episode_twice():
    for size in (2, 7, 40, len(SPLIT) - 1, len(SPLIT)):
        subset = draw_subset(SPLIT, size)
        assert len(subset) == len(set(subset.ids)) == size
        assert set(subset.ids) <= set(SPLIT.by_id)
        make_design(subset)  # refuses a sample that shows no variance


def test_every_scene_gets_its_share():
    subset = draw_subset(SPLIT, 68)
    drawn = {scene: sum(name.startswith(scene) for name in subset.ids) for scene in SCENES}
    total = sum(SCENES.values())
    for scene, paths in SCENES.items():
        assert abs(drawn[scene] - 68 * paths / total) <= 2


def test_strata_are_scenes_and_lengths_and_small_ones_are_joined():
    subset = draw_subset(SPLIT, 68)
    names = [stratum.name for stratum in subset.strata]
    assert "attic, length 4 – 5" in names
    assert any(name.startswith("cabin, length 4 – 5 + cabin") for name in names)
    assert [stratum.name for stratum in draw_subset(SPLIT, 20, by=("scene",)).strata] == ["attic", "barn + cabin"]
    assert [stratum.name for stratum in draw_subset(SPLIT, 20, by=()).strata] == ["all"]


def test_paths_meet_twice_in_some_episodes_only():
    subset = draw_subset(SPLIT, 50)
    counts = [len(path.ids) for stratum in subset.strata for path in stratum.sample]
    assert set(counts) == {1, 2}
    assert counts.count(2) == 5


def test_episodes_without_siblings_are_drawn_singly():
    subset = draw_subset(make_split(instructions=1), 30)
    assert {len(path.ids) for stratum in subset.strata for path in stratum.sample} == {1}


def test_the_same_seed_draws_the_same_episodes():
    assert draw_subset(SPLIT, 30, seed=4).digest == draw_subset(SPLIT, 30, seed=4).digest
    assert draw_subset(SPLIT, 30, seed=4).digest != draw_subset(SPLIT, 30, seed=5).digest


def test_positions_have_lengths_in_meters_and_goals_where_there_is_no_path():
    line = [episode(f"{k}", np.array([[0, 0, 0], [k, 0, 0.0]]), path_id=str(k)) for k in range(1, 10)]
    names = [stratum.name for stratum in draw_subset(Split("ground", tuple(line)), 6, by=["length"]).strata]
    assert names == ["length 1 – 3", "length 4 – 6", "length 7 – 9"]
    away = [episode(f"{k}", np.zeros((1, 3)), goals=np.array([[0, k, 0.0]]), path_id=str(k)) for k in range(1, 10)]
    drawn = draw_subset(Split("points", tuple(away)), 6, by=("length",))
    assert [stratum.name for stratum in drawn.strata] == names


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"size": 1}, "between 2 and 204, the episodes"),
        ({"size": 205}, "between 2 and 204, the episodes"),
        ({"size": 20, "by": ("scan",)}, "by must be one of scene, length, not 'scan'"),
    ],
)
def test_impossible_requests_are_refused(arguments, message):
    with pytest.raises(BadArgument, match=message):
        draw_subset(SPLIT, **arguments)


def test_a_length_needs_a_path():
    hidden = Split("hidden", tuple(episode(str(k), "a", goals=(), path_id=str(k)) for k in range(4)))
    hidden = Split("hidden", tuple(replace(one, reference=()) for one in hidden))
    with pytest.raises(BadArgument, match="has no reference path: draw by scene"):
        draw_subset(hidden, 2)


def test_a_reference_of_another_split_is_refused():
    other = make_scores(make_split(instructions=2), 1)
    with pytest.raises(BadArgument, match=r"The reference agent \(136 episodes\) must cover the 204 episodes of small"):
        draw_subset(SPLIT, 30, reference=other)


def test_the_stated_error_holds_over_many_draws():
    agent = make_scores(SPLIT, 1)
    within, inside, worst = [], [], []
    for seed in range(150):
        subset = draw_subset(SPLIT, 50, seed=seed, reference=agent)
        found = extrapolate(agent, subset)
        for metric in ("SR", "nDTW", "NE"):
            truth, one = agent[metric].mean(), found[metric]
            within.append(abs(one.split.mean - truth) <= subset.half_widths[metric])
            inside.append(one.split.low <= truth <= one.split.high)
        worst.append(abs(found["SR"].split.mean - agent["SR"].mean()) <= subset.worst_half_width)
    assert 0.92 <= np.mean(within) <= 0.985
    assert 0.92 <= np.mean(inside) <= 0.985
    assert np.mean(worst) >= 0.95
