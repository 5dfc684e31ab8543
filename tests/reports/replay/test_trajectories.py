"""What a replay shows of walks: where they went, who led, what met what, and what is left out when it is not known."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import cottage
from itinera.errors import BadArgument
from itinera.records import Ending, Predictions, Trajectory
from itinera.records.trajectory import PLACED
from itinera.reports.replay.data import ACTING, GUIDED_TO_GOAL, GUIDED_TO_START
from itinera.reports.replay.trajectories import More, replay_of
from itinera.tasks import PROTOCOLS, Episode, Instruction, Split
from itinera.tasks.fastest_times import FastestTimes, ReferenceRobot
from itinera.worlds import Euclidean, Pose, World
from reports.replays_of import TEXT, books, first, replay, split


def test_places_are_whole_centimetres_on_their_storey():
    attempt = replay().tasks[0].attempts[0]
    assert (attempt.track.x, attempt.track.y) == ([100, 500, 700, 800], [100, 100, 250, 100])
    assert attempt.track.storey == [0, 0, 0, 1]


def test_phases_tell_who_led():
    one, other = (task.attempts[1] for task in replay().tasks)
    assert one.phases == [ACTING] * 4 + [GUIDED_TO_GOAL] * 2
    assert other.phases == [GUIDED_TO_START, ACTING, ACTING]
    assert replay().tasks[0].attempts[0].phases == []


def test_the_alignment_is_of_places_it_acted_in():
    tasks = replay().tasks
    assert tasks[0].attempts[0].pairs == [0, 0, 1, 1, 2, 2, 3, 3]
    strayed = np.array(tasks[0].attempts[1].pairs).reshape(-1, 2)
    assert strayed[:, 0].max() == 3
    assert strayed[-1].tolist() == [3, 3]
    # The first place of the second episode was not its own.
    assert np.array(tasks[1].attempts[1].pairs).reshape(-1, 2)[:, 0].min() == 1


def test_measures_are_those_of_the_scorer():
    shown = replay()
    good, stray = shown.tasks[0].attempts
    assert (good.arrived, dict(good.measures)["nDTW"], dict(good.measures)["NE"]) == (True, "1.00", "0.00 m")
    assert stray.arrived is False
    assert dict(shown.tour_measures[0])["t-nDTW"] == "1.00"
    assert float(dict(shown.tour_measures[1])["t-nDTW"]) < 1


def test_the_way_left_is_told_where_it_acted():
    attempt = replay().tasks[0].attempts[1]
    lengths = [cottage.world().space.between([node], ["d"])[0, 0] for node in "abab"]
    assert attempt.away[:4] == [round(100 * metres) for metres in lengths]
    assert attempt.away[4:] == [-1, -1]


def test_words_are_cut_where_they_are_tied_and_nothing_is_lost():
    words = replay().tasks[0].words
    assert "".join(word.text for word in words) == TEXT
    assert [(word.text, word.first) for word in words if word.first >= 0][-2:] == [("up", 2), ("stop.", 3)]
    assert [word.first for word in replay().tasks[1].words] == [-1]


def test_words_that_were_said_otherwise_than_written_are_passed_over():
    spoken = replace(first().alignment, words=("Leave", "the", "kitchen,", "clamber", "up", "stop."))
    words = replay(split(alignment=spoken)).tasks[0].words
    assert "".join(word.text for word in words) == TEXT
    assert "clamber" not in [word.text for word in words]


def test_words_without_capitals_and_endings_are_found():
    words = ("leave", "the", "kitch", "climb", "up", "stop")
    tied = [
        w.text for w in replay(split(alignment=replace(first().alignment, words=words))).tasks[0].words if w.first >= 0
    ]
    assert tied == ["Leave", "the", "kitchen", "climb", "up", "stop"]


def test_a_house_gives_rooms_and_things_and_a_bare_graph_its_storeys():
    storeys = replay().places[0].storeys
    assert [storey.name for storey in storeys] == ["ground floor", "storey 2"]
    assert [label.text for label in storeys[0].labels] == ["kitchen", "hallway"]
    bare = replay(house=False).places[0]
    assert len(bare.storeys) == 2
    assert bare.storeys[0].drawings == []
    assert [label.text for label in bare.storeys[0].labels] == ["kitchen", "hallway"]
    assert (bare.nodes.storey, bare.edges) == ([0, 0, 0, 1], [0, 1, 1, 2, 2, 3])


def test_what_is_withheld_is_left_out():
    task = replay(split(goals=(), reference=(), alignment=None)).tasks[0]
    assert (len(task.goals), len(task.reference), len(task.shortest)) == (0, 0, 0)
    attempt = task.attempts[0]
    assert (attempt.arrived, attempt.measures, attempt.pairs, attempt.away) == (None, [], [], [])


def test_an_agent_without_a_walk_is_missing_from_the_episode_only():
    walks = books()
    walks["strays"] = Predictions.from_trajectories("b.jsonl", (next(walks["strays"].trajectories),))
    shown = replay(walks=walks)
    assert [[attempt.agent for attempt in task.attempts] for task in shown.tasks] == [[0, 1], [0]]
    assert shown.tour_measures[1] == []


def test_nothing_to_show_is_refused():
    with pytest.raises(BadArgument, match="None of these walks"):
        replay(walks={"nobody": Predictions("none.jsonl", ())})


def test_walks_a_score_would_refuse_are_shown():
    jumped = Predictions.from_trajectories("a.jsonl", (Trajectory("e1", ("b", "d")),))
    assert replay(walks={"jumps": jumped}).tasks[0].attempts[0].track.storey == [0, 1]


def test_times_make_seconds_and_fastest_times_are_told():
    timed = Trajectory("e1", tuple("abcd"), times=np.array([5.0, 6.5, 9.0, 9.5]), ending=Ending.OUT_OF_STEPS)
    robot = ReferenceRobot()
    times = FastestTimes(robot, ("e1", "e2"), np.array([3.0, math.inf]), np.array([3.5, math.inf]))
    shown = replay(walks={"timed": Predictions.from_trajectories("a.jsonl", (timed,))}, times=times)
    assert shown.unit == "s"
    assert shown.tasks[0].attempts[0].clock == [0.0, 1.5, 4.0, 4.5]
    assert shown.tasks[0].attempts[0].ending == "out of steps"
    assert [task.fastest_seconds for task in shown.tasks] == ["3.0 – 3.5 s", "no way leads there"]


def ground(points: list[tuple[float, float, float]], **fields) -> Trajectory:
    return Trajectory("g", np.array(points, dtype=np.float64), **fields)


def on_ground(trajectory: Trajectory, **options):
    path = np.array([(0.0, 0.0, 0.0), (4.0, 0.0, 0.0)])
    episode = Episode("g", "open", Pose(path[0]), path[1:], path, Instruction("go"))
    walks = {"one": Predictions.from_trajectories("a.jsonl", (trajectory,))}
    worlds = {"open": World("open", Euclidean())}
    asked = Split("drawn", (episode,), protocol="r2r-ce")
    return replay_of(walks, asked, worlds, protocol=PROTOCOLS["r2r-ce"], more=More(**options)).tasks[0]


def test_positions_on_open_ground_are_shown_as_they_are():
    task = on_ground(ground([(0, 0, 0), (2, 1, 0), (4, 0, 0)], headings=np.array([0.0, math.pi / 2, -math.pi])))
    attempt = task.attempts[0]
    assert (attempt.track.x, attempt.track.y) == ([0, 200, 400], [0, 100, 0])
    assert attempt.headings == [0, 90, -180]
    assert (task.shortest.x, task.shortest.y) == ([0, 400], [0, 0])


def test_headings_that_are_not_told_follow_the_walk():
    assert on_ground(ground([(0, 0, 0), (0, 2, 0), (2, 2, 0)])).attempts[0].headings == [90, 0, 0]
    assert on_ground(ground([(0, 0, 0)])).attempts[0].headings == [0]


def test_where_a_body_was_put_is_a_jump():
    moved = ground([(0, 0, 0), (1, 0, 0), (4, 0, 0)], actions=np.array([1, PLACED]))
    assert on_ground(moved).attempts[0].jumps == [2]


def test_the_camera_takes_no_more_than_it_may_and_none_of_standing_still():
    taken = []

    def look(world, places, headings):
        taken.append(len(places))
        return ["x"] * len(places)

    line = [(0.1 * k, 0.0, 0.0) for k in range(40)]
    frames = on_ground(ground(line), look=look, pictures=10).attempts[0].frames
    assert (taken, len(frames)) == ([10], 10)
    assert (frames[0].step, frames[-1].step) == (0, 39)
    stood = on_ground(ground([(0, 0, 0)] * 5 + [(1, 0, 0)]), look=look).attempts[0].frames
    assert [frame.step for frame in stood] == [0, 5]
    assert on_ground(ground(line), look=look, pictures=0).attempts[0].frames == []
    assert on_ground(ground(line), look=lambda *_: []).attempts[0].frames == []


def test_a_drive_is_drawn_where_it_is_known():
    drive = np.array([(0.0, 0.0, 0.0), (1.0, 0.5, 0.0)])
    assert on_ground(ground([(0, 0, 0)]), drives={"g": drive}).fastest.x == [0, 100]
