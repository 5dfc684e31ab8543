"""Sealed tasks: no two of a house share anything that answers one of them, and the key alone decides."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from itinera.builders.hearth import AnnotatedHouse, HouseTasks, build_annotated_house
from itinera.builders.path_sampling import sample_paths_with_distinct_ends
from itinera.builders.sealed_tasks import build_sealed_tasks
from itinera.hearth.viewpoints import EYE_HEIGHT
from itinera.seeding import generator
from itinera.tasks import Episode

KEY = bytes(range(32))
COUNT = 48


@pytest.fixture(scope="module")
def house() -> AnnotatedHouse:
    return build_annotated_house(1, 2)


@pytest.fixture(scope="module")
def tasks(house) -> HouseTasks:
    return build_sealed_tasks(house, COUNT, KEY)


def on_graph(tasks: HouseTasks) -> list[Episode]:
    return [*tasks.graph_episodes, *tasks.rxr_episodes, *tasks.object_goals]


def test_every_path_is_one_task_of_one_kind_with_one_instruction(tasks):
    kinds = (tasks.graph_episodes, tasks.rxr_episodes, tasks.ground_episodes)
    assert [len(kind) for kind in kinds] == [COUNT / 4] * 3
    assert COUNT / 8 <= len(tasks.object_goals) <= COUNT / 4
    ids = [e.path_id for kind in (*kinds, tasks.object_goals) for e in kind]
    assert len(set(ids)) == len(ids)
    assert len({e.id for kind in (*kinds, tasks.object_goals, tasks.pointnav) for e in kind}) == len(ids) + COUNT


def test_no_two_tasks_share_a_start_or_a_goal(house, tasks):
    starts = [e.start.place for e in on_graph(tasks)]
    goals = [e.goals[0] for e in on_graph(tasks)]
    assert len(set(starts)) == len(starts)
    assert len(set(goals)) == len(goals)
    nodes = house.graph.positions[house.graph.locate([*starts])] - (0.0, 0.0, EYE_HEIGHT)
    for episode in tasks.ground_episodes:  # below a node that no graph episode starts at
        assert np.linalg.norm(nodes - episode.start.place, axis=1).min() > 0.1
    objects = [e.notes["objId"] for e in tasks.object_goals]
    assert len(set(objects)) == len(objects)


def test_paths_with_distinct_ends_are_as_many_as_a_house_has_room_for(house):
    paths = sample_paths_with_distinct_ends(house.graph, 1000, generator(1, "paths"))
    assert 0.7 * len(house.graph.nodes) < len(paths) <= len(house.graph.nodes)
    assert max(Counter(path[0] for path in paths).values()) == max(Counter(path[-1] for path in paths).values()) == 1
    assert len({frozenset((path[0], path[-1])) for path in paths}) == len(paths)


def test_ids_tell_neither_the_order_of_paths_nor_the_kind_of_text(tasks):
    """Sorted by id, short and long texts alternate by chance, as do the kinds of tasks."""
    kinds_of_tasks = (tasks.graph_episodes, tasks.rxr_episodes, tasks.ground_episodes, tasks.object_goals)
    labeled = [(int(e.path_id), k, len(e.instruction.text)) for k, kind in enumerate(kinds_of_tasks) for e in kind]
    ids, kinds, lengths = np.array(labeled).T
    for column in (np.arange(len(ids)), kinds, lengths):
        assert abs(np.corrcoef(np.argsort(np.argsort(ids)), column)[0, 1]) < 0.35
    assert ids.max() < 1 << 48


def test_instructions_are_of_every_kind(tasks):
    words = [len(e.instruction.text.split()) for e in (*tasks.graph_episodes, *tasks.rxr_episodes)]
    assert min(words) < 15
    assert max(words) > 35


def test_the_key_alone_decides(house, tasks):
    again = build_sealed_tasks(house, COUNT, KEY)
    assert [(e.id, e.reference, e.instruction) for e in on_graph(again)] == [
        (e.id, e.reference, e.instruction) for e in on_graph(tasks)
    ]
    other = build_sealed_tasks(house, COUNT, KEY[::-1])
    assert not {e.id for e in on_graph(other)} & {e.id for e in on_graph(tasks)}
    assert not {e.reference for e in on_graph(other)} >= {e.reference for e in on_graph(tasks)}


def test_experts_and_speakers_walk_the_references(tasks):
    for episode in tasks.rxr_episodes:
        assert [node for node, _ in tasks.arrivals[episode.id]] == list(episode.reference)
    for episode in tasks.ground_episodes:
        assert tasks.expert_trails[episode.id].reached
