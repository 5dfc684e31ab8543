"""Runs with waypoints: recorded as primitive actions, and scored, replayed and resumed as any run on the ground."""

from __future__ import annotations

import gzip
import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import itinera
from itinera.errors import BadArgument
from itinera.formats.catalog import read_surfaces
from itinera.formats.native_predictions import encode_rollout
from itinera.records import Ending, Phase, Predictions
from itinera.tasks import Tour
from itinera.tasks.protocol import IVLN_CE, R2R_CE
from itinera.worlds.world import Worlds
from scripted_agents import Scripted, Still

CLIENT = Path(__file__).parents[2] / "examples" / "client.py"
GROUND = "vlnce/val_unseen/val_unseen.json.gz"


def rows(predictions):
    return [encode_rollout(rollout) for rollout in predictions.rollouts]


class Goer(Still):
    """Goes to the first candidate until it has gone often enough; notes what it observed."""

    moves = 4

    def start_episode(self, instruction):
        self.left, self.seen = self.moves, []

    def act(self, observation):
        self.seen.append(observation)
        self.left -= 1
        return int(self.left >= 0)

    def action_probabilities(self, observation):
        count = 1 + len(observation.candidates.nodes)
        return np.full(count, 1 / count)


@pytest.fixture(scope="module")
def tasks(season):
    return itinera.read_tasks(season / GROUND)


@pytest.fixture(scope="module")
def ground(season):
    """The season's ground, in memory once for all tests."""
    return Worlds(dict(read_surfaces(season, R2R_CE)), str(season))


@pytest.fixture(scope="module")
def predictions(season, ground):
    return itinera.run("rcm-fidelity", season / GROUND, ground, waypoints="depth", max_episodes=6, workers=0)


def test_a_pretrained_agent_acts_on_the_ground_by_steps_and_turns(predictions, tasks, season, ground):
    assert predictions.protocol == R2R_CE
    for trajectory in predictions:
        assert trajectory.ending is Ending.STOPPED
        assert trajectory.places.shape == (len(trajectory.actions) + 1, 3)
        assert set(trajectory.actions.tolist()) <= {1, 2, 3}
        assert np.abs(np.diff(trajectory.times) - 1).max(initial=0) < 1e-9
        np.testing.assert_allclose(trajectory.places[0], tasks.by_id[trajectory.episode_id].start.place, atol=0.1)
    assert itinera.replay(predictions, tasks, ground).identical
    ids = [trajectory.episode_id for trajectory in predictions]
    scores = itinera.score(predictions, season / GROUND, ground, episodes=ids)
    assert 0 < scores["SPL"].mean() <= scores["SR"].mean() <= 1


@pytest.mark.slow
def test_the_rows_do_not_depend_on_workers(predictions, season):
    together = itinera.run("rcm-fidelity", season / GROUND, season, waypoints="depth", max_episodes=6, workers=2)
    assert rows(together) == rows(predictions)


def test_the_rows_do_not_depend_on_interruptions(season, ground, tmp_path):
    options = {"waypoints": "depth", "max_episodes": 4}

    class Interrupted(Goer):
        left = 2

        def reset(self, rng):
            Interrupted.left -= 1
            if Interrupted.left == -1:
                raise KeyboardInterrupt

    out = tmp_path / "predictions.jsonl"
    with pytest.raises(KeyboardInterrupt):
        itinera.run(Interrupted(), season / GROUND, ground, workers=0, out=out, **options)
    resumed = itinera.run(Interrupted(), season / GROUND, ground, workers=0, out=out, **options)
    assert rows(resumed) == rows(itinera.run(Goer(), season / GROUND, ground, workers=0, **options))


@pytest.mark.parametrize(
    "option", [{"waypoints": "surface"}, {"driver": "straight"}, {"views": "inferred"}, {"stops": "between"}]
)
def test_other_waypoints_views_and_drivers_are_other_runs(season, ground, tmp_path, option):
    out = tmp_path / "predictions.jsonl"
    options = {"waypoints": "depth", "views": "annotations", "max_episodes": 1, "workers": 0, "out": out}
    itinera.run(Goer(), season / GROUND, ground, **options)
    with pytest.raises(itinera.errors.ItineraError, match="another"):
        itinera.run(Goer(), season / GROUND, ground, **{**options, **option})


@pytest.mark.parametrize("waypoints", ["graph", "surface", "depth"])
@pytest.mark.parametrize("driver", ["follower", "straight"])
def test_every_source_and_driver_brings_agents_somewhere(season, ground, tasks, waypoints, driver):
    agent = Goer()
    found = itinera.run(agent, season / GROUND, ground, waypoints=waypoints, driver=driver, max_episodes=2)
    for trajectory in found:
        assert np.linalg.norm(np.diff(trajectory.places, axis=0), axis=1).sum() > 1.0
    assert itinera.replay(found, tasks, ground).identical
    places = [observation.place for observation in agent.seen]
    assert all(isinstance(place, str) for place in places)
    for before, after in zip(agent.seen, agent.seen[1:], strict=False):
        if waypoints != "graph":  # there, the place is the nearest node
            assert after.place == before.candidates.nodes[0]
        assert after.time > before.time


def test_the_step_limit_counts_primitive_actions(season, ground):
    limited = replace(R2R_CE, step_limit=17)
    found = itinera.run(Goer(), season / GROUND, ground, waypoints="depth", protocol=limited, max_episodes=3)
    for trajectory in found:
        assert (trajectory.ending, len(trajectory.actions)) == (Ending.OUT_OF_STEPS, 17)
    assert itinera.replay(found, itinera.read_tasks(season / GROUND), ground, protocol=limited).identical


def test_action_probabilities_are_those_of_decisions(season, ground):
    found = itinera.run(Goer(), season / GROUND, ground, waypoints="depth", max_episodes=1, record_probabilities=True)
    (log,) = (trajectory.action_log for trajectory in found)
    assert len(log.probabilities) == len(log.candidates) == 1 + Goer.moves
    pairs = zip(log.candidates, log.probabilities, strict=True)
    assert all(names[0] == "stop" and len(names) == len(own) for names, own in pairs)


class Undecided(Goer):
    """As likely to stop as to go on to its first candidate."""

    moves = 2

    def action_probabilities(self, observation):
        return np.array([0.6, 0.4, *[0.0] * (len(observation.candidates.nodes) - 1)])


def test_a_run_stops_between_waypoints(season, ground, tasks):
    options = {"waypoints": "depth", "driver": "straight", "max_episodes": 3}
    at, between = (
        itinera.run(Undecided(), season / GROUND, ground, stops=stops, **options) for stops in ("waypoint", "between")
    )
    for stopped, approached in zip(at, between, strict=True):
        count = len(stopped.places)
        assert approached.places[:count].tolist() == stopped.places.tolist()
        assert approached.notes["approach"] == len(approached.places) - count
        assert 0.5 <= np.linalg.norm(approached.places[-1] - stopped.places[-1]) <= 1.75
        assert approached.ending is Ending.STOPPED
    assert itinera.replay(between, tasks, ground).identical
    limit = len(next(iter(at)).actions) + 2
    limited = itinera.run(
        Undecided(), season / GROUND, ground, stops="between", protocol=replace(R2R_CE, step_limit=limit), **options
    )
    first = next(iter(limited))
    assert (first.ending, len(first.actions)) == (Ending.STOPPED, limit - 1)  # the last step is STOP


def test_agents_without_probabilities_cannot_stop_between(season, ground):
    with pytest.raises(BadArgument, match="Still does not report them: it has no method action_probabilities"):
        itinera.run(Still(), season / GROUND, ground, waypoints="depth", stops="between", max_episodes=1)


def test_an_agent_in_another_process_chooses_among_waypoints(season, ground):
    found = itinera.run(
        [sys.executable, str(CLIENT)], season / GROUND, ground, waypoints="depth", max_episodes=2, workers=0
    )
    assert all(trajectory.ending is not Ending.FAILED for trajectory in found)
    assert any(len(trajectory.places) > 1 for trajectory in found)


@pytest.mark.parametrize("agent", ["uniform", "random", "forward", "still"])
def test_named_agents_of_graphs_choose_among_waypoints(season, ground, agent):
    found = itinera.run(agent, season / GROUND, ground, waypoints="depth", max_episodes=2, workers=0)
    assert all(trajectory.ending is not Ending.FAILED for trajectory in found)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"waypoints": "depths"}, 'Did you mean "depth"|depth'),
        ({"waypoints": "depth", "driver": "train"}, "follower, straight|follower"),
        ({"driver": "straight"}, "give --waypoints"),
        ({"stops": "between"}, "give --waypoints"),
        ({"waypoints": "depth", "stops": "anywhere"}, "waypoint, between|between"),
        ({"waypoints": "depth", "camera": "8x8"}, "leave out --camera"),
        ({"waypoints": "depth", "drive": "point-turn"}, "leave out --drive"),
        ({"waypoints": "depth", "views": "rendered"}, "must be annotations or inferred, not rendered"),
        ({"views": "inferred"}, "--waypoints"),
        ({"waypoints": "depth", "rooms": "rooms.csv"}, "give --views annotations too"),
    ],
)
def test_options_that_do_not_fit_are_refused(season, options, message):
    with pytest.raises(BadArgument, match=message):
        itinera.run(Scripted({}), season / GROUND, season, **options)


def test_waypoints_are_for_the_ground(season, ground):
    graph_tasks = season / "r2r" / "R2R_val_unseen.json"
    with pytest.raises(BadArgument, match="has episodes on graphs, where the candidates are nodes: leave it out"):
        itinera.run("uniform", graph_tasks, season, waypoints="depth")
    with pytest.raises(BadArgument, match="Add --waypoints depth"):
        itinera.run("rcm-fidelity", season / GROUND, season)
    with pytest.raises(BadArgument, match="acts by steps, not by waypoints"):
        itinera.run("expert", season / GROUND, ground, waypoints="depth", workers=0)


def test_worlds_without_viewpoints_have_no_waypoints_of_the_graph(ground, tasks):
    worlds = dict(ground)
    with pytest.raises(BadArgument, match="need the viewpoints of a Hearth season"):
        itinera.run(Goer(), tasks, worlds, waypoints="graph", workers=0)
    assert len(itinera.run(Goer(), tasks, worlds, waypoints="depth", workers=0, max_episodes=1)) == 1


@pytest.fixture(scope="module")
def tours(tasks):
    """A tour of three paths."""
    ids = tuple(tasks.episodes[k].id for k in (0, 3, 6))
    return tasks.with_tours((Tour("three", tasks.episodes[0].world_id, ids),), "tours")


def test_tours_are_run_by_waypoints_and_guided_by_steps(season, ground, tours):
    found = itinera.run(Goer(), tours, ground, waypoints="depth", workers=0)
    assert found.protocol == IVLN_CE
    (rollout,) = found.rollouts
    phases = {phase for trajectory in rollout.trajectories for phase in trajectory.phases or ()}
    assert phases == set(Phase)
    for trajectory in rollout.trajectories:
        assert np.linalg.norm(np.diff(trajectory.places[:, :2], axis=0), axis=1).max() <= 0.25 + 1e-6
    (alone,) = itinera.run(Goer(), season / GROUND, ground, waypoints="depth", max_episodes=1)
    first = rollout.trajectories[0]
    assert first.acting_places.tolist() == alone.places.tolist()
    assert itinera.replay(found, tours, ground).identical
    scores = itinera.score(found, tours, ground)
    assert 0 <= scores.tours["t-nDTW"].mean() <= 1


@pytest.mark.slow
def test_the_rows_of_tours_do_not_depend_on_workers(season, ground, tours):
    here, there = (
        itinera.run("rcm-fidelity", tours, season, waypoints="depth", views="inferred", workers=n) for n in (0, 1)
    )
    assert rows(here) == rows(there)


def test_a_run_is_shown_with_its_steps(season, ground, tasks, predictions, tmp_path):
    page = tmp_path / "replay.html"
    ids = [trajectory.episode_id for trajectory in predictions]
    itinera.show(predictions, tasks, ground, out=page, episodes=ids[:2], max_views=2)
    found = re.search(r'<script type="application/json" id="replay">(.*?)</script>', page.read_text(), re.DOTALL)
    episodes = json.loads(found[1])["episodes"]
    for shown, trajectory in zip(episodes, list(predictions)[:2], strict=True):
        assert shown["id"] == trajectory.episode_id
        assert len(shown["trajectories"][0]["track"]["x"]) == len(trajectory.places)


def test_an_entry_is_judged_by_its_steps(season, predictions, tmp_path):
    """The host replays primitive actions, and needs no waypoints, views or policy."""
    with gzip.open(season / GROUND) as stream:
        content = json.load(stream)
    content["episodes"] = content["episodes"][:2]
    with gzip.open(tmp_path / "tasks.json.gz", "wt") as stream:
        json.dump(content, stream)
    entry = predictions.rollouts[:2]
    rules = f'tasks = "tasks.json.gz"\nworlds = "{season}"\nprotocol = "r2r-ce"\n'
    (tmp_path / "challenge.toml").write_text(rules)
    found = itinera.judge(Predictions("", entry, R2R_CE), tmp_path)
    assert (found.badge, found.missing, found.differences) == ("replayed", 0, ())
    lying = replace(entry[0].trajectories[0], places=entry[0].trajectories[0].places + np.array([0.0, 0.01, 0.0]))
    told = Predictions("", (replace(entry[0], trajectories=(lying,)), entry[1]), R2R_CE)
    judged = itinera.judge(told, tmp_path)
    assert len(judged.differences) == 1
    assert judged.scores["SPL"].mean() == found.scores["SPL"].mean()
