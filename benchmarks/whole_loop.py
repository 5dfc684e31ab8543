"""Speed of a rollout: tour loop, agent, simulator and record together, on one core, in one process.

`make bench` runs this. The agent does no computation, so the loop is measured; a step is an action, STOP included.
Episodes are as long as R2R's, as its step limit, and as continuous ones; the cost of their start and end is included.
"""

from __future__ import annotations

import math
import multiprocessing
import resource
from collections.abc import Sequence

import numpy as np
from rich.console import Console
from rich.table import Table

from itinera.builders.hearth import build_house_graph
from itinera.hearth.ground import ground_world
from itinera.rendering.camera import Camera
from itinera.runs.rollout import rollout
from itinera.seeding import generator
from itinera.simulators.graph import GraphSimulator
from itinera.simulators.ground import GroundSimulator
from itinera.simulators.sensors import CameraSensor
from itinera.simulators.simulator import STOP, Observation, Simulator
from itinera.simulators.view_features import rendered_views
from itinera.tasks import Episode, Instruction, Protocol, Tour
from itinera.tasks.protocol import R2R, R2R_CE
from itinera.worlds import NavGraph, Place, Pose, World
from itinera.worlds.surface import Surface
from timing import cpu

EPISODES = 2000
R2R_MOVES, CONTINUOUS_MOVES = 6, 60  # about as many as a reference has


class TrivialAgent:
    """Takes arbitrary actions, for a number of moves."""

    def __init__(self, moves: int) -> None:
        self._moves = moves

    def reset(self, rng: np.random.Generator) -> None:
        self._turn = 0

    def start_episode(self, instruction: Instruction) -> None:
        self._left = self._moves

    def act(self, observation: Observation) -> int:
        if not self._left:
            return STOP
        self._left -= 1
        self._turn += 7919
        return 1 + self._turn % (3 if observation.candidates is None else len(observation.candidates.nodes))

    def observe(self, observation: Observation) -> None:
        pass


def rate(world: World, places: Sequence[Place], body: Simulator, protocol: Protocol, moves: int, count: int) -> float:
    """Actions per CPU second over `count` episodes."""
    agent = TrivialAgent(moves)
    episodes = [
        Episode(str(i), world.id, Pose(places[i % len(places)]), (), (), Instruction("Walk.")) for i in range(count)
    ]

    def run() -> None:
        for episode in episodes:
            tour = Tour(episode.id, world.id, (episode.id,))
            rollout(agent, body, world, tour, (episode,), protocol=protocol, seed=0)

    run()  # compiles, and renders every view
    actions = count * min(moves + 1, protocol.step_limit or moves + 1)
    return actions / cpu(run, 3)


def worker_memory() -> float:
    """Peak megabytes of a process that runs in one house, on the graph and on the ground with a camera."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_work)


def _work() -> float:
    house, graph = build_house_graph(1, 0)
    drawn = World(house.id, graph, mesh=house.mesh)
    views = rendered_views({drawn.id: drawn}, {drawn.id: house.mesh})
    rate(drawn, graph.nodes, GraphSimulator(views), R2R, R2R_MOVES, 50)
    world, starts = _ground()
    rate(world, starts, GroundSimulator.for_protocol(R2R_CE, camera=_depth()), R2R_CE, CONTINUOUS_MOVES, 5)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _ground() -> tuple[World, Sequence[Place]]:
    world = ground_world(1, 0, radius=0.10, height=1.5)
    assert isinstance(world.space, Surface)
    return world, list(world.space.sample(generator(0, "starts"), 50))


def _depth() -> CameraSensor:
    return CameraSensor(Camera(64, 64, math.radians(90)), channels=("depth",))


def main() -> None:
    house, graph = build_house_graph(1, 0)
    assert isinstance(graph, NavGraph)
    drawn = World(house.id, graph, mesh=house.mesh)
    views = rendered_views({drawn.id: drawn}, {drawn.id: house.mesh})
    ground, starts = _ground()
    limit = R2R.step_limit or 0
    rows = [
        (
            f"graph, {R2R_MOVES} moves per episode",
            rate(drawn, graph.nodes, GraphSimulator(), R2R, R2R_MOVES, EPISODES),
            100,
        ),
        (f"graph, {limit} moves per episode", rate(drawn, graph.nodes, GraphSimulator(), R2R, limit, EPISODES), 100),
        ("graph, rendered views", rate(drawn, graph.nodes, GraphSimulator(views), R2R, R2R_MOVES, EPISODES), 20),
        ("ground", rate(ground, starts, GroundSimulator.for_protocol(R2R_CE), R2R_CE, CONTINUOUS_MOVES, 200), 50),
        (
            "ground, depth 64 × 64",
            rate(ground, starts, GroundSimulator.for_protocol(R2R_CE, camera=_depth()), R2R_CE, CONTINUOUS_MOVES, 20),
            None,
        ),
    ]
    table = Table("rollout", "actions / CPU second", "target")
    for name, measured, target in rows:
        table.add_row(name, f"{measured:,.0f}", "" if target is None else f"≥ {target},000/s")
    console = Console(width=110)
    console.print(table)
    console.print(f"Peak memory of a process: {worker_memory():.0f} MB (target ≤ 500).")


if __name__ == "__main__":
    main()
