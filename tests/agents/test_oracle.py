"""The expert goes the shortest way, on graphs and on the ground, alone and on tours."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.agents.oracle import GraphExpert, ShortestPathExpert
from itinera.errors import BadArgument
from itinera.metrics import Attempts
from itinera.metrics.goal import spl, success
from itinera.records import Ending
from itinera.runs.rollout import rollout
from itinera.simulators.graph import GraphSimulator
from itinera.simulators.ground import GroundSimulator
from itinera.tasks import PROTOCOLS, Instruction, Tour
from itinera.tasks.protocol import IVLN, R2R
from itinera.worlds import Pose, Ragged, World
from itinera.worlds.surface import Surface
from text_worlds import episode, graphs, quick
from text_worlds import world as drawn_world
from worlds.rooms import ROBOT, room

MESH = room(8, 6, boxes=[((2, 1, 0), (3, 4, 1.8)), ((5, 2, 0), (6, 6, 1.8))])
HALL = World("house", Surface.from_mesh(MESH, **ROBOT))


def attempted(world: World, episodes, trajectories) -> Attempts:
    space = world.space
    return Attempts(
        space=space,
        path=Ragged.from_rows([space.locate(t.acting_places) for t in trajectories]),
        reference=Ragged.from_rows([space.locate(e.reference) for e in episodes]),
        goals=Ragged.from_rows([space.locate(e.goals) for e in episodes]),
        stopped=np.array([t.ending is Ending.STOPPED for t in trajectories]),
    )


def toured(world, episodes, protocol, simulator, *, alone=False, **options):
    agent = ShortestPathExpert(episodes, {world.id: world}, protocol, **options)
    tours = [Tour(e.id, world.id, (e.id,)) for e in episodes] if alone else [Tour("t", world.id, tuple("x"))]
    asked = [[e] for e in episodes] if alone else [episodes]
    walks = [
        rollout(agent, simulator, world, tour, some, protocol=protocol, seed=0)
        for tour, some in zip(tours, asked, strict=True)
    ]
    return [trajectory for one in walks for trajectory in one.trajectories]


@pytest.mark.parametrize("alone", [True, False])
@quick
@given(space=graphs(connected=True), data=st.data())
def test_on_graphs_it_always_succeeds_by_a_shortest_path(alone, space, data):
    nodes = st.sampled_from(space.nodes)
    episodes = [
        episode(str(k), space.route(data.draw(nodes), data.draw(nodes)), instruction=Instruction(str(k)))
        for k in range(4)
    ]
    world = World("house", space)
    trajectories = toured(world, episodes, IVLN, GraphSimulator(), alone=alone)
    attempts = attempted(world, episodes, trajectories)
    assert [t.ending for t in trajectories] == [Ending.STOPPED] * 4
    assert spl(attempts, radius=0.0) == pytest.approx(np.ones(4), abs=1e-9)


def street() -> World:
    return drawn_world("a-b-c-d")


def test_the_nearest_of_several_goals_is_gone_to():
    asked = [episode("1", "ba", goals=("d", "a"))]
    assert toured(street(), asked, R2R, GraphSimulator())[0].places == ("b", "a")


def test_episodes_told_alike_are_told_apart_by_where_they_begin_or_what_came_before():
    asked = [episode("1", "ab"), episode("2", "dc"), episode("3", "ad")]
    tour = Tour("t", "house", ("1", "2", "3"))
    found = toured(street(), asked, IVLN, GraphSimulator(), tours=[tour])
    assert "have the same start and instruction" in found[0].notes["failed"]  # nothing came before the first
    assert found[1].places[-1] == "c"
    assert found[2].places[-1] == "d"
    same = [episode("1", "ab"), episode("2", "ab")]
    assert all(t.places == ("a", "b") for t in toured(street(), same, R2R, GraphSimulator()))


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (lambda e: replace(e, instruction=Instruction("other")), "has no episode in world"),
        (lambda e: replace(e, start=Pose("c")), "has no episode in world"),
        (lambda e: replace(e, goals=()), "goal of episode 1 is withheld"),
    ],
)
def test_what_it_does_not_know_fails_with_the_reason(asked, told):
    real = episode("1", "ab")
    agent = ShortestPathExpert([asked(real)], {"house": street()}, R2R)
    found = rollout(agent, GraphSimulator(), street(), Tour("1", "house", ("1",)), [real], protocol=R2R, seed=0)
    assert told in found.trajectories[0].notes["failed"]


@pytest.mark.parametrize("name", ["r2r-ce", "rxr-ce", "pointnav", "ivln-ce"])
def test_on_the_ground_it_succeeds_by_nearly_a_shortest_way(name):
    protocol = PROTOCOLS[name]
    rng = np.random.default_rng(3)
    starts, goals = (HALL.space.sample(rng, 20) for _ in range(2))
    episodes = [
        episode(
            str(k),
            np.array([a, b]),
            start=Pose(a, float(rng.uniform(-math.pi, math.pi))),
            instruction=Instruction("go"),
        )
        for k, (a, b) in enumerate(zip(starts, goals, strict=True))
    ]
    trajectories = toured(HALL, episodes, protocol, GroundSimulator.for_protocol(protocol))
    attempts = attempted(HALL, episodes, trajectories)
    assert success(attempts, radius=protocol.success_radius).mean() == 1
    assert spl(attempts, radius=protocol.success_radius).mean() > 0.97


def test_on_a_graph_an_expert_leans_to_the_nearest_goal_from_wherever_it_was_led():
    place = drawn_world("""
        a-b-c-d
          |
          e
    """)
    agent = GraphExpert(place.space, ("d", "e"))
    body = GraphSimulator()
    observation = body.reset(place, Pose("c"))
    assert observation.candidates.nodes[int(agent.action_probabilities(observation).argmax()) - 1] == "d"
    observation = body.reset(place, Pose("a"))
    assert observation.candidates.nodes[agent.act(observation) - 1] == "b"
    assert agent.action_probabilities(body.reset(place, Pose("e"))).tolist() == [1, 0]


def test_an_expert_without_goals_is_refused():
    with pytest.raises(BadArgument, match="withheld"):
        GraphExpert(drawn_world("a-b").space, ())
