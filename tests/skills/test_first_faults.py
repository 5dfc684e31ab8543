from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import itinera
from itinera.errors import BadArgument
from itinera.formats.annotations import read_aligned_tasks
from itinera.records import Ending, Predictions, Trajectory
from itinera.seeding import generator
from itinera.skills.clauses import clause_at, split_clauses
from itinera.skills.first_faults import (
    DEPARTED,
    OUT_OF_STEPS,
    PASSED,
    STOPPED,
    FirstFaults,
    find_first_faults,
    follow_reference,
)
from itinera.tasks import PROTOCOLS, Alignment, Instruction, Split
from text_worlds import episode, world

R2R = PROTOCOLS["r2r"]
HOUSE = world("""
    a-b-c-d-e-f-g
        |
        x
        |
        y
        |
        z
""")  # edges of 2 m
WORDS = Alignment(
    ("go", "to", "c", "turn", "right", "walk", "on", "stop"),
    np.array([0, 0, 0, 2, 2, 2, 2, 6]),
    np.array([2, 2, 2, 4, 4, 6, 6, 6]),
    np.arange(8.0),
    np.arange(8.0) + 0.5,
)
TEXT = Instruction("go to c, turn right, walk on, stop")
SPOKEN = replace(WORDS, words=("go", "to", "c,", "turn", "right,", "walk", "on,", "stop"))
EPISODE = episode("1", "abcdefg", alignment=SPOKEN, instruction=TEXT)


def fault_of(path: str, *, tolerance: float = 2.5, ending: Ending = Ending.STOPPED) -> FirstFaults:
    predictions = Predictions.from_trajectories("preds", [Trajectory("1", tuple(path), ending=ending)])
    rules = replace(R2R, success_radius=0.5)
    return find_first_faults(
        predictions, Split("small", (EPISODE,)), {"house": HOUSE}, protocol=rules, tolerance=tolerance
    )


@pytest.mark.parametrize(
    ("path", "how", "place", "text"),
    [
        ("abcxyz", DEPARTED, 2, "turn right,"),  # c is where it leaves
        ("abc", STOPPED, 2, "turn right,"),
        ("ab", STOPPED, 1, "go to c,"),
        ("abcde", STOPPED, 4, "walk on,"),
    ],
)
def test_the_fault_is_at_the_clause_that_leads_on_from_the_last_place_visited(path, how, place, text):
    (found,) = fault_of(path)
    assert (found.how, found.place, found.text) == (how, place, text)


def test_a_trajectory_that_goes_on_past_the_end_misses_the_stop():
    (found,) = fault_of("abcdefgf")
    assert (found.how, found.place, found.text, found.kind) == (PASSED, 6, "stop", "stop")


def test_a_trajectory_that_runs_out_of_steps_on_the_path_says_so():
    (found,) = fault_of("abcdcd", ending=Ending.OUT_OF_STEPS)
    assert (found.how, found.place) == (OUT_OF_STEPS, 3)


def test_an_excursion_within_the_tolerance_is_no_fault_but_a_farther_one_is():
    (near,) = fault_of("abcxcde", tolerance=2.5)
    assert (near.how, near.place) == (STOPPED, 4)
    (far,) = fault_of("abcxcde", tolerance=1.5)
    assert (far.how, far.place) == (DEPARTED, 2)


def test_successes_have_no_fault_and_count_all_their_clauses():
    found = fault_of("abcdefg")
    assert (len(found), found.succeeded, found.episodes) == (0, 1, 1)
    assert {one.kind: (one.clauses, one.faults) for one in found.kinds} == {
        "turn": (1, 0), "stop": (1, 0), "straight": (2, 0),
    }  # fmt: skip
    assert all(one.share is None for one in found.kinds)
    with pytest.raises(KeyError, match="no first fault"):
        found["1"]


def test_clauses_after_the_fault_are_not_counted_as_reached():
    found = fault_of("abcxyz")
    assert {one.kind: (one.clauses, one.faults) for one in found.kinds} == {"turn": (1, 1), "straight": (1, 0)}
    assert found["1"].sentence == 'left the reference path at clause 2 of 4 (turn): "turn right,"'
    assert "turn" in str(found)


def test_tasks_without_aligned_words_are_refused_with_what_to_give():
    plain = Split("plain", (episode("1", "abc"),))
    with pytest.raises(BadArgument, match="not aligned with places"):
        find_first_faults(
            Predictions.from_trajectories("preds", [Trajectory("1", ("a", "b", "c"))]),
            plain,
            {"house": HOUSE},
            protocol=R2R,
        )


@given(st.integers(1, 12), st.integers(0, 12), st.data())
def test_the_place_of_departure_is_the_one_planted(length, leave, data):
    """On a line of 1 m steps a path follows the reference to a place, then leaves it at a right angle."""
    leave = min(leave, length - 1)
    reference = np.array([(k, 0.0) for k in range(length)])
    aside = data.draw(st.integers(3, 6))
    path = np.vstack([reference[: leave + 1], [(leave, -k) for k in range(1, aside + 1)]])
    distances = np.linalg.norm(path[:, None] - reference, axis=2)
    assert follow_reference(distances, near=0.1, tolerance=2.0) == (leave, True)


def test_planted_faults_on_hearth_are_found(season):
    """An agent follows each path to a random place, leaves it by another edge and never comes back."""
    tasks = season / "rxr" / "rxr_val_unseen_guide.jsonl.gz"
    split = read_aligned_tasks(tasks)
    worlds = itinera.read_worlds(season)
    planted, trajectories = {}, []
    for one in split:
        rng = generator(3, one.id)
        graph = worlds[one.world_id].space
        leave = int(rng.integers(0, len(one.reference) - 1))
        away = walk_away(graph, one.reference, leave, rng)
        if away is None:
            continue
        planted[one.id] = leave
        trajectories.append(Trajectory(one.id, (*one.reference[: leave + 1], *away)))
    assert len(planted) > 30
    kept = replace(split, episodes=tuple(one for one in split if one.id in planted))
    found = itinera.first_faults(Predictions.from_trajectories("preds", trajectories), kept, worlds)
    right = 0
    for one in kept:
        clauses = split_clauses(one)
        expected = clause_at(clauses, planted[one.id], final=len(one.reference) - 1)
        right += any(fault.episode_id == one.id and fault.clause == expected for fault in found)
    assert right / len(planted) >= 0.95


def walk_away(graph, reference, leave, rng):
    """Nodes from a place of the reference to one that is more than 3 m from all of the rest of it; None without."""
    rest = list(reference[leave:])
    node, path, seen = reference[leave], [], {*reference}
    for _ in range(8):
        nearby = [other for other in graph.neighbors(node) if other not in seen]
        if not nearby:
            return None
        distances = graph.between(nearby, rest).min(axis=1)
        node = nearby[int(distances.argmax())]
        path.append(node)
        seen.add(node)
        if distances.max() > 3.0:
            return path
    return None
