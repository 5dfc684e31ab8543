"""A tour whose agent is elsewhere: the same record as that of a rollout, and nothing that an agent may not know."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from itinera.agents.checks import default_camera, make_ground_world
from itinera.formats.live_log import END, FAILED, LATE, session_seed
from itinera.records import Ending
from itinera.runs.config import TourJob
from itinera.runs.live_client import AgentPlayer
from itinera.runs.live_tour import LiveTour, replay_answers
from itinera.runs.rollout import rollout
from itinera.simulators.graph import GraphSimulator
from itinera.simulators.ground import GroundSimulator
from itinera.tasks import Episode, Instruction, Tour
from itinera.tasks.protocol import IVLN, IVLN_TEST, R2R, R2R_CE
from itinera.worlds import Pose
from scripted_agents import Still, Wanderer
from text_worlds import STREET, episode, world

HOUSE = world(STREET)
SECRET = "0123456789abcdef" * 2
FIELDS = ("episode_id", "places", "headings", "elevations", "actions", "phases", "ending")


def asked(*references, words=()):
    told = [*words, *map(str, range(len(words), len(references)))]
    return tuple(
        episode(str(k), reference, instruction=Instruction(text))
        for k, (reference, text) in enumerate(zip(references, told, strict=True))
    )


def open_tour(episodes, protocol, secret=SECRET, wants=frozenset()):
    tour = Tour("tour", "house", tuple(e.id for e in episodes))
    return LiveTour(GraphSimulator(), HOUSE, TourJob(tour, episodes), protocol=protocol, secret=secret, wants=wants)


def play(agent, live):
    """The answers of an agent to a tour, and the bytes that it got."""
    player, answers, reasons, payload = AgentPlayer(agent), [], {}, live.start()
    sent = [payload]
    while (answer := player.answer(payload)) is not None:
        if isinstance(answer, str):
            reasons[len(answers)] = answer
        answers.append(FAILED if isinstance(answer, str) else answer)
        payload = live.answer(answers[-1], reasons.get(len(answers) - 1, ""))
        sent.append(payload)
    return answers, reasons, sent


def plain(trajectories):
    def value(found):
        return found.tolist() if isinstance(found, np.ndarray) else found

    notes = [t.notes.get("failed") for t in trajectories]
    return [tuple(value(getattr(t, name)) for name in FIELDS) for t in trajectories], notes


class Walker(Wanderer):
    """Moves at random without an end, so that it runs out of steps; it counts what it observes."""

    def act(self, observation):
        return int(self.rng.integers(1, len(observation.candidates.nodes) + 1))


class Doubter(Wanderer):
    """Fails wherever it is guided."""

    def observe(self, observation):
        raise ValueError("I did not ask for that.")


@pytest.mark.parametrize("protocol", [R2R, IVLN, IVLN_TEST, replace(IVLN, step_limit=3)], ids=lambda p: p.name)
@pytest.mark.parametrize("agent", [Still, Wanderer, Walker, Doubter], ids=lambda a: a.__name__)
def test_the_record_is_that_of_a_local_run_with_the_same_seed(agent, protocol):
    protocol = protocol if protocol.step_limit is not None else replace(protocol, step_limit=20)
    episodes = asked("abc", "ef", "ab", "cdef")
    tour = Tour("tour", "house", tuple(e.id for e in episodes))
    local = rollout(agent(), GraphSimulator(), HOUSE, tour, episodes, protocol=protocol, seed=session_seed(SECRET))
    live = open_tour(episodes, protocol)
    answers, reasons, _ = play(agent(), live)
    assert live.done
    assert plain(live.rollout.trajectories) == plain(local.trajectories)
    replayed = replay_answers(open_tour(episodes, protocol), answers, reasons)
    assert plain(replayed.trajectories) == plain(local.trajectories)


class Clumsy(Still):
    """Answers what the instruction says, which is no action."""

    def start_episode(self, instruction):
        self.answer = {"raise": None, "text": "1", "float": 1.0, "bool": True, "far": 99}[instruction.text]
        if self.answer is None:
            raise ValueError("no idea")

    def act(self, observation):
        return self.answer


def test_mistakes_of_an_agent_fail_its_episode_with_the_same_reason():
    words = ("raise", "text", "float", "bool", "far")
    episodes = asked("abc", "ef", "ab", "cd", "ab", words=words)
    tour = Tour("tour", "house", tuple(e.id for e in episodes))
    local = rollout(Clumsy(), GraphSimulator(), HOUSE, tour, episodes, protocol=IVLN, seed=0)
    live = open_tour(episodes, IVLN)
    play(Clumsy(), live)
    assert {t.ending for t in live.rollout.trajectories} == {Ending.FAILED}
    assert plain(live.rollout.trajectories) == plain(local.trajectories)


def test_an_episode_that_took_too_long_has_failed_and_the_tour_continues():
    episodes = asked("abc", "ef")
    found = replay_answers(open_tour(episodes, IVLN), [1, LATE, 0], {})
    assert [t.ending for t in found.trajectories] == [Ending.FAILED, Ending.STOPPED]
    assert "time limit" in found.trajectories[0].notes["failed"]


@pytest.mark.parametrize("end", [[], [END, 0]], ids=["abandoned", "left"])
def test_an_episode_without_an_end_has_failed_and_later_ones_are_missing(end):
    found = replay_answers(open_tour(asked("abc", "ef"), IVLN), [1, *end], {})
    assert [(t.episode_id, t.ending) for t in found.trajectories] == [("0", Ending.FAILED)]


def test_no_name_of_the_host_leaves_it_and_none_is_used_twice():
    """Two sessions, and two tours of a session, cannot join their notes by names."""
    episodes = asked("abc", "ef", "ab")
    _, _, sent = play(Wanderer(), open_tour(episodes, IVLN))
    names = [collect(content) for content in (sent, play(Wanderer(), open_tour(episodes, IVLN, "f" * 32))[2])]
    other = LiveTour(GraphSimulator(), HOUSE, TourJob(Tour("other", "house", ("0",)), episodes[:1]),
                     protocol=R2R, secret=SECRET)  # fmt: skip
    names.append(collect(play(Wanderer(), other)[2]))
    for one in names:
        assert one
        assert not one & {*"abcdef", "house", "tour"}
    assert not names[0] & names[1]
    assert not names[0] & names[2]


def collect(sent):
    """Every name in some requests."""
    found = set()
    for line in b"".join(sent).splitlines():
        observation = json.loads(line).get("observation")
        if observation is not None:
            assert "episode" not in json.loads(line)
            found |= {observation["world"], observation["place"], *observation["candidates"]["nodes"]}
    return found


def test_a_place_keeps_its_name_within_a_tour():
    """An agent with odometry would know that it has come back."""
    episodes = asked("abc")
    live = open_tour(episodes, R2R)
    places = [json.loads(live.start().splitlines()[-1])["observation"]["place"]]
    for _ in range(7):
        before = json.loads(live.payload.splitlines()[-1])["observation"]
        places.append(json.loads(live.answer(1).splitlines()[-1])["observation"]["place"])
        assert places[-1] == before["candidates"]["nodes"][0]
    assert len(set(places)) < len(places)


class Driver(Still):
    """Drives about at random on the ground and remembers what its camera showed."""

    def __init__(self):
        self.shown = []

    def act(self, observation):
        self.shown.append((observation.frame.rgb.tobytes(), observation.frame.depth.tobytes()))
        return int(self.rng.integers(1, 4)) if self.rng.random() < 0.95 else 0


@pytest.fixture(scope="module")
def room():
    return make_ground_world()


def test_an_agent_on_the_ground_sees_and_does_what_it_would_in_a_local_run(room):
    protocol = replace(R2R_CE, step_limit=40)
    camera = replace(default_camera(), channels=("rgb", "depth"))
    start = Pose(np.array([1.0, 1.0, 0.0]), 0.3)
    goal = np.array([[4.0, 3.0, 0.0]])
    one = Episode("1", "check", start, goal, goal, Instruction("", point_goal=(4.0, 3.0, 0.0)))
    tour = Tour("1", "check", ("1",))
    near, far = Driver(), Driver()
    make = lambda: GroundSimulator.for_protocol(protocol, camera=camera)  # noqa: E731
    local = rollout(near, make(), room, tour, (one,), protocol=protocol, seed=session_seed(SECRET))
    live = LiveTour(
        make(), room, TourJob(tour, (one,)), protocol=protocol, secret=SECRET, wants=frozenset({"rgb", "depth"})
    )
    lines = [json.loads(line) for line in live.start().split(b"\n")[:3]]
    assert lines[1]["point_goal"] == pytest.approx((3.0, 2.0, 0.0))  # from the start, not in the house
    assert lines[2]["observation"]["place"] == [0.0, 0.0, 0.0]
    again = LiveTour(
        make(), room, TourJob(tour, (one,)), protocol=protocol, secret=SECRET, wants=frozenset({"rgb", "depth"})
    )
    play(far, again)
    assert plain(again.rollout.trajectories) == plain(local.trajectories)
    assert far.shown == near.shown
    assert again.frames == len(far.shown)
