"""Homes and their tasks: everything fits together, and a seed and a number are all it depends on."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from itinera.builders.hearth import (
    AnnotatedHouse,
    HouseTasks,
    build_annotated_house,
    build_tasks,
    numeric_id,
    sample_house_paths,
)
from itinera.errors import BadArgument
from itinera.hearth.season import MAX_ROBOT_RADIUS
from itinera.tasks.protocol import R2R_CE
from itinera.worlds import Pose

COUNTS = {"train": 10, "val_seen": 3}


@pytest.fixture(scope="module")
def home() -> AnnotatedHouse:
    return build_annotated_house(1, 0)


@pytest.fixture(scope="module")
def tasks(home) -> dict[str, HouseTasks]:
    return build_tasks(home, COUNTS)


@pytest.fixture(scope="module")
def many(home) -> HouseTasks:
    return build_tasks(home, {"test": 40})["test"]


def same(a, b) -> bool:
    """Whether two values hold the same, arrays and poses looked into."""
    if isinstance(a, np.ndarray):
        return bool(np.array_equal(a, b))
    if isinstance(a, Pose):
        return same(a.place, b.place) and (a.heading, a.elevation) == (b.heading, b.elevation)
    return a == b


def test_a_home_knows_the_room_and_the_objects_of_every_viewpoint(home):
    assert home.world.id == home.house.id == "hearth-1-000"
    assert home.world.rooms.keys() == home.world.objects.keys() == set(home.graph.nodes) == home.descriptions.keys()


def test_a_home_goes_by_the_name_it_is_given(home):
    """Names reach the viewpoints, so a secret season's must not be made from its seed."""
    named = build_annotated_house(1, 0, id="hearth-secret-000")
    assert named.house.id == named.world.id == "hearth-secret-000"
    assert not set(named.graph.nodes) & set(home.graph.nodes)


def test_every_split_has_its_paths_with_three_instructions_each(tasks):
    assert {split: len(told.graph_episodes) for split, told in tasks.items()} == {"train": 30, "val_seen": 9}
    assert {split: len(told.pointnav) for split, told in tasks.items()} == COUNTS
    for told in tasks.values():
        assert set(Counter(episode.path_id for episode in told.graph_episodes).values()) == {3}
        assert all(episode.instruction.text for episode in told.graph_episodes)


def test_no_path_is_in_two_splits_and_ids_are_distinct(tasks):
    episodes = [episode for told in tasks.values() for episode in told.graph_episodes]
    assert len({episode.id for episode in episodes}) == len({numeric_id(episode) for episode in episodes}) == 39
    ends = {frozenset((e.reference[0], e.reference[-1])) for e in episodes}
    assert len(ends) == 13
    points = [episode.id for told in tasks.values() for episode in told.pointnav]
    assert len(set(points)) == len(points)


def test_episodes_are_shortest_paths_of_r2rs_kind(home, tasks):
    for episode in tasks["train"].graph_episodes:
        assert 4 <= len(episode.reference) - 1 <= 6
        shortest = home.graph.between(episode.reference[:1], episode.reference[-1:])[0, 0]
        assert shortest == pytest.approx(home.graph.along(episode.reference).sum())
        assert shortest >= 5
        assert episode.stated_distance == pytest.approx(shortest, abs=0.01)
        assert (episode.start.place, *episode.goals) == (episode.reference[0], episode.reference[-1])


def test_start_headings_look_anywhere(many):
    headings = [e.start.heading for e in many.graph_episodes[::3]]
    assert 0 <= min(headings) < max(headings) <= math.tau
    assert all(np.histogram(headings, 4, (0, math.tau))[0] >= 3)


def test_words_belong_to_places_of_the_path(tasks):
    for episode in tasks["train"].graph_episodes:
        told = episode.alignment
        assert " ".join(told.words) == episode.instruction.text
        assert (told.first >= 0).all()
        assert (told.first <= told.last).all()
        assert (told.last < len(episode.reference)).all()
        assert (np.diff(told.begins) >= 0).all()
        assert [node for node, _ in tasks["train"].arrivals[numeric_id(episode)]] == list(episode.reference)


def test_the_ground_below_a_path_can_be_walked(home, tasks):
    told = tasks["train"]
    for episode, on_graph in zip(told.ground_episodes, told.graph_episodes, strict=True):
        assert episode.id == numeric_id(on_graph)
        assert episode.path_id == on_graph.path_id
        eyes = home.graph.positions[home.graph.locate(on_graph.reference)]
        below = eyes - episode.reference
        assert np.abs(below[:, :2]).max() <= 0.05
        assert below[:, 2] == pytest.approx(1.5, abs=0.1)
        assert home.surface.walkable(episode.reference[:-1], episode.reference[1:]).all()
        assert 0.98 * np.linalg.norm(episode.goals[0] - episode.start.place) <= episode.stated_distance
        assert episode.stated_distance <= 1.02 * on_graph.stated_distance + 0.1


def test_the_expert_walks_from_start_to_goal_in_steps_of_the_protocol(tasks):
    told = tasks["train"]
    for episode in told.ground_episodes:
        trail = told.expert_trails[episode.id]
        assert trail.reached
        assert trail.positions[0] == pytest.approx(episode.start.place, abs=1e-3)
        assert np.linalg.norm(trail.positions[-1] - episode.goals[0]) <= R2R_CE.success_radius / 6
        assert trail.actions[-1] == 0
        assert set(trail.actions[:-1].tolist()) <= {1, 2, 3}
        strides = np.linalg.norm(np.diff(trail.positions[:, :2], axis=0), axis=1)
        assert strides.max() <= R2R_CE.step_size + 1e-6
        assert len(trail.actions) <= R2R_CE.step_limit


def test_points_are_worth_going_to(home, tasks):
    for episode in tasks["train"].pointnav:
        assert 1.0 <= episode.stated_distance <= 30.0
        away = home.wide_surface.between(episode.start.place[None], episode.goals)[0, 0]
        assert away == pytest.approx(episode.stated_distance, rel=0.03, abs=0.05)
        assert abs(episode.start.place[2] - episode.goals[0][2]) <= 0.5


def test_most_points_are_not_straight_ahead(many):
    winding = [e.stated_distance / np.linalg.norm(e.start.place - e.goals[0]) for e in many.pointnav]
    assert np.mean(np.array(winding) >= 1.1) > 0.6


def test_tasks_are_the_same_whatever_was_built_before(home, tasks):
    again = build_tasks(build_annotated_house(1, 0), COUNTS)
    for split, told in tasks.items():
        for kind in ("graph_episodes", "ground_episodes", "pointnav"):
            for a, b in zip(getattr(told, kind), getattr(again[split], kind), strict=True):
                for field in ("id", "start", "goals", "reference", "instruction", "stated_distance"):
                    assert same(getattr(a, field), getattr(b, field)), (kind, a.id, field)
        for name, trail in told.expert_trails.items():
            assert np.array_equal(trail.positions, again[split].expert_trails[name].positions)
            assert np.array_equal(trail.actions, again[split].expert_trails[name].actions)


def test_a_look_at_the_paths_needs_no_tasks(home, tasks):
    paths = sample_house_paths(home.graph, 1, 0, sum(COUNTS.values()))
    assert paths[:10] == tuple(e.reference for e in tasks["train"].graph_episodes[::3])


@pytest.mark.parametrize("radius", [MAX_ROBOT_RADIUS + 0.01, 0.5, 0.0, -0.1, math.nan])
def test_a_robot_that_does_not_fit_is_refused(radius):
    with pytest.raises(BadArgument, match="does not fit through these houses"):
        build_annotated_house(1, 0, radius=radius)


@pytest.mark.parametrize(("seed", "index"), [(-1, 0), (1, -1)])
def test_there_are_no_houses_below_zero(seed, index):
    with pytest.raises(BadArgument, match="must be ≥ 0"):
        build_annotated_house(seed, index)


def test_other_languages_are_added_to_rxr_and_change_nothing_else(home, tasks):
    spoken = build_tasks(home, COUNTS, languages=("es", "en"))
    for split, plain in tasks.items():
        both = spoken[split]
        count = len(plain.rxr_episodes)
        assert [e.instruction for e in both.graph_episodes] == [e.instruction for e in plain.graph_episodes]
        assert [(e.id, e.instruction) for e in both.rxr_episodes[:count]] == [
            (e.id, e.instruction) for e in plain.rxr_episodes
        ]
        spanish = both.rxr_episodes[count:]
        assert len(spanish) == count
        assert {e.instruction.language for e in spanish} == {"es-ES"}
        assert len({e.id for e in both.rxr_episodes}) == 2 * count == len(both.arrivals)
        for one, other in zip(plain.rxr_episodes, spanish, strict=True):
            assert (one.reference, one.start.heading) == (other.reference, other.start.heading)
            assert one.instruction.text != other.instruction.text
            assert tuple(node for node, _ in both.arrivals[other.id]) == tuple(other.reference)


def test_faults_change_words_and_not_paths(home, tasks):
    faulty = build_tasks(home, {"train": 10}, faults=0.2)["train"].graph_episodes
    plain = tasks["train"].graph_episodes
    assert [e.reference for e in faulty] == [e.reference for e in plain]
    changed = sum(a.instruction.text != b.instruction.text for a, b in zip(faulty, plain, strict=True))
    assert changed > len(plain) / 2
