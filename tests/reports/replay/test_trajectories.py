"""The contents of a replay: tracks, phases, alignments and metrics, and what is left out if it is unknown."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import cottage
from itinera.errors import BadArgument
from itinera.records import Ending, Predictions, Trajectory
from itinera.records.trajectory import NO_ACTION
from itinera.reports.replay.data import ACTING, GUIDED_TO_GOAL, GUIDED_TO_START
from itinera.reports.replay.trajectories import make_replay
from itinera.tasks import PROTOCOLS, Episode, Instruction, Split
from itinera.tasks.fastest_times import FastestTimes, ReferenceRobot
from itinera.worlds import Euclidean, Pose, World
from reports.example_replays import TEXT, first, make_predictions, replay, split


def test_places_are_whole_centimetres_on_their_storey():
    trajectory = replay().episodes[0].trajectories[0]
    assert (trajectory.track.x, trajectory.track.y) == ([100, 500, 700, 800], [100, 100, 250, 100])
    assert trajectory.track.storey == [0, 0, 0, 1]


def test_phases_are_those_of_the_trajectory():
    one, other = (episode.trajectories[1] for episode in replay().episodes)
    assert one.phases == [ACTING] * 4 + [GUIDED_TO_GOAL] * 2
    assert other.phases == [GUIDED_TO_START, ACTING, ACTING]
    assert replay().episodes[0].trajectories[0].phases == []


def test_the_alignment_is_of_places_it_acted_in():
    episodes = replay().episodes
    assert episodes[0].trajectories[0].alignment == [0, 0, 1, 1, 2, 2, 3, 3]
    strayed = np.array(episodes[0].trajectories[1].alignment).reshape(-1, 2)
    assert strayed[:, 0].max() == 3
    assert strayed[-1].tolist() == [3, 3]
    # The first position of the second episode was guided.
    assert np.array(episodes[1].trajectories[1].alignment).reshape(-1, 2)[:, 0].min() == 1


def test_metrics_are_those_of_the_scorer():
    shown = replay()
    good, stray = shown.episodes[0].trajectories
    assert (good.success, dict(good.metrics)["nDTW"], dict(good.metrics)["NE"]) == (True, "1.00", "0.00 m")
    assert stray.success is False
    assert dict(shown.tour_metrics[0])["t-nDTW"] == "1.00"
    assert float(dict(shown.tour_metrics[1])["t-nDTW"]) < 1


def test_goal_distances_are_known_in_acting_phases():
    trajectory = replay().episodes[0].trajectories[1]
    lengths = [cottage.world().space.between([node], ["d"])[0, 0] for node in "abab"]
    assert trajectory.goal_distances[:4] == [round(100 * metres) for metres in lengths]
    assert trajectory.goal_distances[4:] == [-1, -1]


def test_the_instruction_is_split_at_aligned_words_and_nothing_is_lost():
    words = replay().episodes[0].instruction
    assert "".join(word.text for word in words) == TEXT
    assert [(word.text, word.first) for word in words if word.first >= 0][-2:] == [("up", 2), ("stop.", 3)]
    assert [word.first for word in replay().episodes[1].instruction] == [-1]


def test_spoken_words_that_are_not_written_are_skipped():
    spoken = replace(first().alignment, words=("Leave", "the", "kitchen,", "clamber", "up", "stop."))
    words = replay(split(alignment=spoken)).episodes[0].instruction
    assert "".join(word.text for word in words) == TEXT
    assert "clamber" not in [word.text for word in words]


def test_words_without_capitals_and_endings_are_found():
    words = ("leave", "the", "kitch", "climb", "up", "stop")
    tied = [
        w.text
        for w in replay(split(alignment=replace(first().alignment, words=words))).episodes[0].instruction
        if w.first >= 0
    ]
    assert tied == ["Leave", "the", "kitchen", "climb", "up", "stop"]


def test_a_house_has_rooms_and_furniture_and_a_bare_graph_its_storeys():
    storeys = replay().scenes[0].storeys
    assert [storey.name for storey in storeys] == ["ground floor", "storey 2"]
    assert [label.text for label in storeys[0].labels] == ["kitchen", "hallway"]
    bare = replay(house=False).scenes[0]
    assert len(bare.storeys) == 2
    assert bare.storeys[0].drawings == []
    assert [label.text for label in bare.storeys[0].labels] == ["kitchen", "hallway"]
    assert (bare.nodes.storey, bare.edges) == ([0, 0, 0, 1], [0, 1, 1, 2, 2, 3])


def test_what_is_withheld_is_left_out():
    task = replay(split(goals=(), reference=(), alignment=None)).episodes[0]
    assert (len(task.goals), len(task.reference), len(task.shortest)) == (0, 0, 0)
    trajectory = task.trajectories[0]
    assert (trajectory.success, trajectory.metrics, trajectory.alignment, trajectory.goal_distances) == (
        None,
        [],
        [],
        [],
    )


def test_an_agent_without_a_trajectory_is_missing_from_the_episode_only():
    walks = make_predictions()
    walks["strays"] = Predictions.from_trajectories("b.jsonl", (next(walks["strays"].trajectories),))
    shown = replay(predictions=walks)
    assert [[trajectory.agent for trajectory in task.trajectories] for task in shown.episodes] == [[0, 1], [0]]
    assert shown.tour_metrics[1] == []


def test_nothing_to_show_is_refused():
    with pytest.raises(BadArgument, match="No trajectory of these predictions"):
        replay(predictions={"nobody": Predictions("none.jsonl", ())})


def test_trajectories_a_score_would_refuse_are_shown():
    jumped = Predictions.from_trajectories("a.jsonl", (Trajectory("e1", ("b", "d")),))
    assert replay(predictions={"jumps": jumped}).episodes[0].trajectories[0].track.storey == [0, 1]


def test_times_are_in_seconds_and_fastest_times_are_shown():
    timed = Trajectory("e1", tuple("abcd"), times=np.array([5.0, 6.5, 9.0, 9.5]), ending=Ending.OUT_OF_STEPS)
    robot = ReferenceRobot()
    times = FastestTimes(robot, ("e1", "e2"), np.array([3.0, math.inf]), np.array([3.5, math.inf]))
    shown = replay(predictions={"timed": Predictions.from_trajectories("a.jsonl", (timed,))}, times=times)
    assert shown.unit == "s"
    assert shown.episodes[0].trajectories[0].times == [0.0, 1.5, 4.0, 4.5]
    assert shown.episodes[0].trajectories[0].ending == "out of steps"
    assert [task.fastest_seconds for task in shown.episodes] == ["3.0 – 3.5 s", "unreachable"]


def ground(points: list[tuple[float, float, float]], **fields) -> Trajectory:
    return Trajectory("g", np.array(points, dtype=np.float64), **fields)


def on_ground(trajectory: Trajectory, **options):
    path = np.array([(0.0, 0.0, 0.0), (4.0, 0.0, 0.0)])
    episode = Episode("g", "open", Pose(path[0]), path[1:], path, Instruction("go"))
    walks = {"one": Predictions.from_trajectories("a.jsonl", (trajectory,))}
    worlds = {"open": World("open", Euclidean())}
    asked = Split("drawn", (episode,), protocol="r2r-ce")
    return make_replay(walks, asked, worlds, protocol=PROTOCOLS["r2r-ce"], **options).episodes[0]


def test_positions_on_open_ground_are_shown_as_they_are():
    task = on_ground(ground([(0, 0, 0), (2, 1, 0), (4, 0, 0)], headings=np.array([0.0, math.pi / 2, -math.pi])))
    trajectory = task.trajectories[0]
    assert (trajectory.track.x, trajectory.track.y) == ([0, 200, 400], [0, 100, 0])
    assert trajectory.headings == [0, 90, -180]
    assert (task.shortest.x, task.shortest.y) == ([0, 400], [0, 0])


def test_unknown_headings_are_the_direction_of_motion():
    assert on_ground(ground([(0, 0, 0), (0, 2, 0), (2, 2, 0)])).trajectories[0].headings == [90, 0, 0]
    assert on_ground(ground([(0, 0, 0)])).trajectories[0].headings == [0]


def test_a_teleport_is_a_jump():
    moved = ground([(0, 0, 0), (1, 0, 0), (4, 0, 0)], actions=np.array([1, NO_ACTION]))
    assert on_ground(moved).trajectories[0].jumps == [2]


def test_no_more_views_are_rendered_than_allowed_and_none_of_standing_still():
    taken = []

    def render(world, places, headings):
        taken.append(len(places))
        return ["x"] * len(places)

    line = [(0.1 * k, 0.0, 0.0) for k in range(40)]
    frames = on_ground(ground(line), view_renderer=render, max_views=10).trajectories[0].frames
    assert (taken, len(frames)) == ([10], 10)
    assert (frames[0].step, frames[-1].step) == (0, 39)
    stood = on_ground(ground([(0, 0, 0)] * 5 + [(1, 0, 0)]), view_renderer=render).trajectories[0].frames
    assert [frame.step for frame in stood] == [0, 5]
    assert on_ground(ground(line), view_renderer=render, max_views=0).trajectories[0].frames == []
    assert on_ground(ground(line), view_renderer=lambda *_: []).trajectories[0].frames == []


def test_a_drive_is_drawn_where_it_is_known():
    drive = np.array([(0.0, 0.0, 0.0), (1.0, 0.5, 0.0)])
    assert on_ground(ground([(0, 0, 0)]), drives={"g": drive}).fastest.x == [0, 100]
