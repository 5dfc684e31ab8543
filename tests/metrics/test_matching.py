"""The gate: walks beside episodes, every fault of a file told once and together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from itinera.errors import BadFile, GoalsWithheld
from itinera.metrics.attempts import drop_repeats
from itinera.metrics.matching import MatchingRules, PlausibilityCheck, match, repeat_fraction
from itinera.records import Ending, Phase, Predictions, Trajectory
from itinera.tasks import Episode, Instruction, Split
from itinera.tasks.protocol import R2R, R2R_CE
from itinera.worlds import Euclidean, Pose, Ragged, World
from itinera.worlds.surface import Surface
from text_worlds import STREET, RowByRow, episode, predictions, split, world
from worlds.rooms import ROBOT, room

HOUSE = {"house": world(STREET)}
OPEN = {"house": World("house", Euclidean())}
ROW_BY_ROW = {"house": World("house", RowByRow(Euclidean()))}


def paired(walks, references, *, worlds=HOUSE, **options):
    (group,) = match(predictions(walks), split(references), worlds, **options)
    return group


def told(walks, references, *, worlds=HOUSE, **options) -> str:
    with pytest.raises(BadFile) as caught:
        match(predictions(walks), split(references), worlds, **options)
    return str(caught.value)


def line(*xs: float) -> np.ndarray:
    return np.array([[x, 0.0, 0.0] for x in xs])


@pytest.mark.parametrize(
    ("walks", "problem", "remedy"),
    [
        ({"1": "ab", "9": "ab"}, 'walks.json: episode "9": is unknown.', "It is not in drawn"),
        ({}, 'walks.json: episode "1": has no trajectory.', "--missing zero"),
        ({"1": "bc"}, 'episode "1": starts at node b, but the task starts at node a.', "must include its start"),
        ({"1": "acb"}, 'episode "1": goes from node a to node c, which no edge joins.', "Log every node passed"),
        ({"1": "abz"}, 'episode "1": node z is not in world house.', "belong together"),
        ({"1": ""}, 'episode "1": has no places.', "must include its start"),
    ],
    ids=["unknown id", "missing", "wrong start", "no edge", "node of another world", "empty"],
)
def test_faults_say_where_what_and_what_to_do(walks, problem, remedy):
    message = told(walks, {"1": "ab"})
    assert problem in message
    assert remedy in message


def test_an_episode_answered_twice_is_a_fault():
    twice = Predictions.from_trajectories("walks.json", (Trajectory("1", "ab"), Trajectory("1", "abc")))
    with pytest.raises(BadFile, match=r'episode "1": has two trajectories\.\n  Keep one'):
        match(twice, split({"1": "ab"}), HOUSE)


def test_predictions_for_other_tasks_are_one_sentence():
    found = told({f"x{i}": "ab" for i in range(30)}, {f"{i}": "ab" for i in range(20)})
    assert found == (
        "walks.json: none of the 30 episodes is in drawn (20 episodes).\n"
        '  Their ids are such as "x0", those of drawn such as "0". '
        "Give the tasks file that they were made for (--tasks)."
    )


def test_predictions_mostly_for_other_tasks_are_one_sentence():
    found = told({"0": "zz"} | {f"x{i}": "ab" for i in range(30)}, {f"{i}": "ab" for i in range(20)})
    assert found.startswith("walks.json: 30 of the 31 episodes are not in drawn (20 episodes).\n")
    assert found.count("walks.json") == 1  # that "0" has wrong nodes follows from the wrong tasks


def test_episodes_without_a_trajectory_are_one_sentence():
    found = told({"0": "ab"}, {f"{i}": "ab" for i in range(1200)})
    assert found.startswith('walks.json: 1,199 of the 1,200 episodes of drawn have no trajectory (first: "1").\n')
    assert "--missing zero" in found
    assert "--episodes" in found
    assert found.count("\n") == 1


def test_episodes_with_two_trajectories_are_one_sentence():
    twice = Predictions.from_trajectories("walks.json", [Trajectory(name, "ab") for name in ("1", "2", "1", "2")])
    with pytest.raises(BadFile, match=r'2 episodes have two trajectories \(first: "1"\)') as caught:
        match(twice, split({"1": "ab", "2": "ab"}), HOUSE)
    assert len(caught.value.faults) == 1


def test_trajectories_of_the_rest_of_a_split_are_left_out():
    walks = predictions({"1": "ab", "2": "zz", "3": "a"})
    part = split({"1": "ab", "2": "ab", "3": "ab"}).select(["3", "1"])
    (group,) = match(walks, part, HOUSE)
    assert group.episode_ids == ("1", "3")
    assert not group.missing.any()
    with pytest.raises(BadFile, match='"9": is unknown'):
        match(predictions({"1": "ab", "3": "ab", "9": "ab"}), part, HOUSE)


def test_every_fault_of_a_file_is_told_together():
    message = told({"1": "b", "2": "ac", "9": "a"}, {"1": "ab", "2": "ab", "3": "ab"})
    for problem in ('"9": is unknown', '"3": has no trajectory', '"1": starts at', '"2": goes from node a to node c'):
        assert problem in message


def test_the_first_jump_of_each_walk_is_told_in_the_order_of_episodes():
    message = told({"1": "acf", "2": "abcea"}, {"1": "ab", "2": "ab"})
    assert message.index('"1": goes from node a to node c') < message.index('"2": goes from node c to node e')
    assert "to node f" not in message
    assert "node e to node a" not in message


@pytest.mark.parametrize("worlds", [OPEN, ROW_BY_ROW], ids=["batch", "row by row"])
def test_positions_must_be_finite(worlds):
    message = told({"1": line(0, np.nan), "2": line(0, 1)}, {"1": line(0, 1), "2": line(0, 1)}, worlds=worlds)
    assert 'episode "1": positions must be finite triples of metres.' in message
    assert '"2"' not in message


@pytest.mark.parametrize("places", [np.zeros((2, 2)), np.zeros(3)], ids=["pairs", "flat"])
def test_positions_must_be_triples(places):
    message = told({"1": places, "2": line(0, 1)}, {"1": line(0, 1), "2": line(0, 1)}, worlds=OPEN)
    assert message == 'walks.json: episode "1": positions must be triples of metres.\n  Log x, y and z of each place.'


def test_nodes_and_positions_in_one_file_are_refused():
    message = told({"1": line(0), "2": "ab"}, {"1": "ab", "2": "ab"})
    assert "some trajectories are on a graph and some are continuous" in message


@pytest.mark.parametrize(("walk", "worlds"), [("ab", OPEN), (line(0, 1), HOUSE)], ids=["nodes", "positions"])
def test_nodes_in_the_open_and_positions_on_a_graph_are_faults_not_crashes(walk, worlds):
    assert 'episode "1"' in told({"1": walk}, {"1": "ab" if worlds is HOUSE else line(0, 1)}, worlds=worlds)


def test_in_the_open_a_walk_begins_within_half_a_metre_of_its_start():
    assert len(paired({"1": line(0.4, 2)}, {"1": line(0, 2)}, worlds=OPEN).rows) == 1
    message = told({"1": line(0.6, 2)}, {"1": line(0, 2)}, worlds=OPEN)
    assert "starts at (0.60, 0.00, 0.00), but the task starts at (0.00, 0.00, 0.00)." in message


def test_withheld_goals_stop_scoring_but_not_checking():
    hidden = Split("test", (episode("1", "ab"), episode("2", "a", goals=())))
    with pytest.raises(GoalsWithheld, match=r"test: goals withheld: 1 of 2 episodes") as caught:
        match(predictions({"1": "ab", "2": "ab"}), hidden, HOUSE)
    assert "itinera check" in str(caught.value)
    (group,) = match(predictions({"1": "ab", "2": "abc"}), hidden, HOUSE, goals=False)
    assert [group.path[k].tolist() for k in range(2)] == [[0, 1], [0, 1, 2]]
    with pytest.raises(BadFile, match="no edge joins"):
        match(predictions({"1": "ab", "2": "ac"}), hidden, HOUSE, goals=False)


def test_a_world_not_given_is_named():
    with pytest.raises(
        BadFile,
        match=r"drawn: world house is not among the worlds given\.\n  Check worlds \(--worlds\): there are none\.",
    ):
        match(predictions({"1": "ab"}), split({"1": "ab"}), {})


def test_tasks_that_leave_their_world_are_named():
    with pytest.raises(BadFile, match=r"tasks: a start, reference or goal leaves world house: Not a node .*: z"):
        match(predictions({"1": "ab"}), split({"1": "abz"}), HOUSE)


def test_a_task_that_starts_outside_its_world_is_named():
    lost = Split("lost", (episode("1", "ab", start=Pose("z")),))
    with pytest.raises(BadFile, match=r"tasks: a start, reference or goal leaves world house: .*: z"):
        match(predictions({"1": "ab"}), lost, HOUSE)


def test_episodes_of_one_id_are_refused():
    double = Split("double", (episode("1", "ab"), episode("1", "bc")))
    with pytest.raises(BadFile, match="double: has episodes of the same id"):
        match(predictions({"1": "ab"}), double, HOUSE)


def test_rules_let_jumps_and_starts_elsewhere_pass():
    walk = {"1": "bd"}
    assert "starts at" in told(walk, {"1": "ab"}, rules=MatchingRules(jumps="measure"))
    assert "no edge" in told(walk, {"1": "ab"}, rules=MatchingRules(starts="measure"))
    group = paired(walk, {"1": "ab"}, rules=MatchingRules(jumps="measure", starts="measure"))
    assert group.path[0].tolist() == [1, 3]


def test_repeats_are_kept_or_dropped():
    assert paired({"1": "aabba"}, {"1": "ab"}).path[0].tolist() == [0, 0, 1, 1, 0]
    dropped = paired({"1": "aabba"}, {"1": "ab"}, rules=MatchingRules(repeats="drop"))
    assert dropped.path[0].tolist() == [0, 1, 0]


def test_in_the_open_only_equal_positions_are_repeats():
    rows = Ragged.from_rows([line(0, 0, 1), line(1, 1 + 1e-9)])
    assert [drop_repeats(rows)[k][:, 0].tolist() for k in range(2)] == [[0.0, 1.0], [1.0, 1 + 1e-9]]


def test_a_missing_walk_stands_at_its_start_and_is_marked():
    group = paired({"2": "bc"}, {"1": "ab", "2": "bc"}, missing="zero")
    assert group.missing.tolist() == [True, False]
    assert group.path[0].tolist() == [0]
    assert group.stopped.tolist() == [False, True]


def test_missing_walks_stand_at_their_start_in_the_open_too():
    group = paired({"2": line(0, 1)}, {"1": line(5, 6), "2": line(0, 1)}, missing="zero", worlds=OPEN)
    assert group.path[0].tolist() == [[5.0, 0.0, 0.0]]


def test_a_world_where_nothing_was_walked_is_whole():
    tasks = Split("two", (episode("1", "ab"), episode("2", "xy", world_id="other")))
    worlds = {**HOUSE, "other": world("x-y", "other")}
    groups = match(predictions({"1": "ab"}), tasks, worlds, missing="zero")
    assert [group.missing.tolist() for group in groups] == [[False], [True]]
    assert np.isnan(groups[1].durations).tolist() == [True]
    (group,) = match(predictions({}), split({"1": "ab"}), HOUSE, missing="zero")
    assert group.path[0].tolist() == [0]
    assert len(group.durations) == len(group.stopped) == 1


def test_only_what_the_agent_decided_is_judged():
    phases = (Phase.ACTING, Phase.ACTING, Phase.GUIDED_TO_GOAL, Phase.GUIDED_TO_START)
    walk = Trajectory("1", "abcd", times=np.array([10.0, 12.0, 15.0, 19.0]), phases=phases)
    (group,) = match(Predictions.from_trajectories("walks", (walk,)), split({"1": "abc"}), HOUSE)
    assert group.path[0].tolist() == [0, 1]
    assert group.durations.tolist() == [2.0]


def test_endings_and_durations_stand_beside_their_episode():
    walks = (
        Trajectory("2", "ab", ending=Ending.OUT_OF_STEPS, times=np.array([1.0, 4.5])),
        Trajectory("1", "ab"),
        Trajectory("3", "ab", ending=Ending.FAILED),
    )
    (group,) = match(Predictions.from_trajectories("walks", walks), split(dict.fromkeys("123", "ab")), HOUSE)
    assert group.stopped.tolist() == [True, False, False]
    np.testing.assert_array_equal(group.durations, [np.nan, 3.5, np.nan])


def test_groups_gather_the_episodes_of_each_world_and_remember_their_rows():
    tasks = Split("two", (episode("1", "ab"), episode("2", "xy", world_id="other"), episode("3", "bc")))
    worlds = {**HOUSE, "other": world("x-y", "other")}
    groups = match(predictions({"3": "bc", "2": "xy", "1": "ab"}), tasks, worlds)
    assert [(group.space, group.rows.tolist()) for group in groups] == [
        (worlds["house"].space, [0, 2]),
        (worlds["other"].space, [1]),
    ]
    assert groups[0].path[1].tolist() == [1, 2]


def test_the_share_of_trajectories_with_repeats():
    groups = match(
        predictions({"1": "aabb", "2": "aba", "3": "ab", "4": "aa"}), split(dict.fromkeys("1234", "ab")), HOUSE
    )
    assert repeat_fraction(groups) == 0.5
    assert repeat_fraction(()) == 0.0


def test_a_goal_without_a_reference_is_refused_by_name():
    lonely = Split("drawn", (replace(episode("1", "abc"), reference=()),))
    with pytest.raises(BadFile, match=r'episode "1": has a goal but no reference path\.'):
        match(predictions({"1": "abc"}), lonely, HOUSE)


def test_who_does_not_compare_paths_asks_for_no_reference():
    lonely = Split("drawn", (replace(episode("1", "abc"), reference=()),))
    (group,) = match(predictions({"1": "ab"}), lonely, HOUSE, reference=False)
    assert (group.reference.counts.tolist(), group.goals.counts.tolist(), len(group.path[0])) == ([0], [1], 2)


def test_a_walk_off_the_surface_is_named():
    world = World("house", Surface.from_mesh(room(4, 3), **ROBOT))
    here, there = np.array([[1.0, 1.0, 0.0]]), np.array([[1.0, 1.0, 0.0], [9.0, 1.0, 0.0]])
    asked = Episode("1", "house", Pose(here[0]), here, here, Instruction(""))
    walks = Predictions.from_trajectories("walks", [Trajectory("1", there)])
    with pytest.raises(
        BadFile, match=r'episode "1": leaves world house: Place 1, \(9.00, 1.00, 0.00\), is not walkable'
    ):
        match(walks, Split("drawn", (asked,)), {"house": world})


def on_ground(points, protocol=R2R_CE, times=None):
    walk = Trajectory("1", np.asarray(points, dtype=float), times=None if times is None else np.asarray(times, float))
    tasks = Split("open", (episode("1", np.array([points[0], points[-1]], dtype=float)),), protocol=protocol.name)
    check = PlausibilityCheck(protocol)
    match(
        Predictions.from_trajectories("walks", (walk,)),
        tasks,
        {"house": World("house", Euclidean())},
        plausibility=check,
    )
    return {name: len(faults) for name, faults in check.faults.items()}


def test_steps_on_the_ground_are_as_long_as_the_protocol_allows():
    assert on_ground([(0, 0, 0), (0.287, 0, 0.3)]) == {}
    assert on_ground([(0, 0, 0), (0.31, 0, 0)]) == {"steps that are too long": 1}
    assert on_ground([(0, 0, 0), (0.1, 0, 0.6)]) == {"steps that are too long": 1}
    assert on_ground([(0, 0, 0), (0.31, 0, 0)], replace(R2R_CE, step_size=0.5)) == {}
    assert on_ground([(0, 0, 0), (50, 0, 0)], R2R) == {}  # no body to compare with


def test_with_times_a_step_per_second_is_allowed():
    assert on_ground([(0, 0, 0), (1, 0, 0)], times=[10, 14]) == {}
    assert on_ground([(0, 0, 0), (1, 0, 0)], times=[10, 13]) == {"steps that are too long": 1}
    assert on_ground([(0, 0, 0), (3, 0, 0)], times=[10, 20]) == {}
    assert on_ground([(0, 0, 0), (4, 0, 0)], times=[10, 30]) == {"steps that are too long": 1}  # nothing in between
    assert on_ground([(0, 0, 0), (0, 0, 0)], times=[10, 30]) == {}  # it waits
    assert on_ground([(0, 0, 0), (0.2, 0, 0)], times=[10, 9]) == {"steps that are too long": 1}


def test_steps_are_counted_or_timed():
    still = np.zeros((502, 3))
    assert on_ground(still) == {}
    assert on_ground([*still, (0, 0, 0)]) == {"too many steps": 1}
    assert on_ground(still, times=np.arange(502) / 10) == {}
    assert on_ground(still[:2], times=[0, 501]) == {"too many steps": 1}


def test_moves_on_a_graph_are_counted_without_turns():
    check = PlausibilityCheck(replace(R2R, step_limit=2))
    match(predictions({"1": "aabbbc", "2": "abab"}), split(dict.fromkeys("12", "abc")), HOUSE, plausibility=check)
    assert (check.faults, check.long_paths) == ({}, [3])
    assert check.remark == (
        f"1 trajectory has more moves (up to 3) than protocol {check.protocol.label} allows steps (2); "
        "scored as they are."
    )


def test_times_stand_beside_places():
    with pytest.raises(BadFile, match="has 1 times for 2 places"):
        on_ground([(0, 0, 0), (0.1, 0, 0)], times=[0])


def test_guidance_cannot_hide_a_part_of_the_acting_phase():
    phases = (Phase.ACTING, Phase.GUIDED_TO_START, Phase.ACTING)
    walk = Trajectory("1", "aba", phases=phases)
    with pytest.raises(BadFile, match="guidance interrupts the acting phase"):
        match(Predictions.from_trajectories("walks", (walk,)), split({"1": "ab"}), HOUSE)
