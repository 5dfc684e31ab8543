"""Trajectories, logbooks and where they came from."""

from __future__ import annotations

import numpy as np

from itinera.records import Ending, Phase, Predictions, Rollout, Trajectory
from itinera.records.provenance import digest

LED = (Phase.GUIDED_TO_START, Phase.ACTING, Phase.ACTING, Phase.GUIDED_TO_GOAL)


def test_without_phases_all_of_a_walk_was_acted():
    assert Trajectory("1", ("a", "b")).acting_places == ("a", "b")


def test_where_the_agent_was_led_was_not_acted():
    assert Trajectory("1", ("a", "b", "c", "d"), phases=LED).acting_places == ("b", "c")
    points = np.arange(12.0).reshape(4, 3)
    assert Trajectory("1", points, phases=LED).acting_places.tolist() == points[1:3].tolist()


def test_the_steps_of_a_guide_and_the_one_it_ended_with_were_not_acted():
    marks = np.array([1, 2, 3])
    assert Trajectory("1", ("a", "b", "c", "d")).acting_steps(marks).tolist() == [1, 2, 3]
    assert Trajectory("1", ("a", "b", "c", "d"), phases=LED).acting_steps(marks).tolist() == [2]


def test_plain_values_say_what_is_known_of_single_steps():
    told = Trajectory("1", ("a", "b"), collided=np.array([True]), followed=np.array([False]), ending=Ending.STUCK)
    silent = Trajectory("2", ("a", "b"))
    first, second = Predictions.from_trajectories("walks", (told, silent)).to_dicts()
    assert (first["collided"], first["followed"], first["ending"]) == ([True], [False], "stuck")
    assert (second["collided"], second["followed"], second["ending"]) == (None, None, "stopped")


def test_events_are_computed_only_where_a_record_has_some():
    silent, stuck = Trajectory("1", ("a", "b")), Trajectory("2", ("a", "b"), ending=Ending.STUCK)
    assert Predictions.from_trajectories("walks", (silent,)).batch.events is None
    events = Predictions.from_trajectories("walks", (silent, stuck)).batch.events
    assert events.stuck.tolist() == [0, 1]
    taken = events.take(np.array([1, -1]))
    assert taken.stuck[0] == 1
    assert np.isnan(taken.stuck[1])


def test_a_logbook_lists_the_trajectories_of_its_walks_in_order():
    first, second, third = (Trajectory(name, ("a",)) for name in "123")
    book = Predictions("walks", (Rollout("tour", (first, second)), Rollout("3", (third,))))
    assert list(book.trajectories) == [first, second, third]
    assert [walk.tour_id for walk in Predictions.from_trajectories("walks", (second, first)).rollouts] == ["2", "1"]


def test_digests_depend_on_bytes_and_inside_folders_on_names(tmp_path):
    for folder, name, content in (("x", "a", b"1"), ("y", "a", b"1"), ("z", "b", b"1"), ("w", "a", b"2")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_bytes(content)
    of_x, of_y, of_z, of_w = (digest(tmp_path / folder) for folder in "xyzw")
    assert of_x == of_y
    assert len({of_x, of_z, of_w}) == 3
    assert digest(tmp_path / "x" / "a") == digest(tmp_path / "z" / "b")
