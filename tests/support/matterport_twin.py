"""Matterport3DSimulator and the way agents use it in plain Python, rule by rule: the slow twin of
`itinera.simulators.graph`. R2R's frame: heading 0 is +y, headings grow clockwise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from itinera.worlds import NavGraph

STEP = math.radians(30)
HALF_WIDTH = math.radians(40)  # half of 60 degrees x 640 / 480


@dataclass(frozen=True)
class Location:
    """A node as a view lists it."""

    node: str
    rel_heading: float
    rel_elevation: float
    rel_distance: float

    @property
    def apart(self) -> float:
        # Rounded, so that angles that are equal on paper compare equal.
        return round(math.hypot(self.rel_heading, self.rel_elevation), 9)


class Simulator:
    """With discretised viewing angles and restricted navigation."""

    def __init__(self, graph: NavGraph) -> None:
        self.places = {node: tuple(at) for node, at in zip(graph.nodes, graph.positions.tolist(), strict=True)}
        self.beside = {node: graph.neighbors(node) for node in graph.nodes}

    def new_episode(self, node: str, heading: float, elevation: float) -> None:
        self.node = node
        self.turns = math.floor(round(heading % math.tau / STEP, 9) + 0.5) % 12
        self.row = 0 if elevation < -STEP / 2 else 2 if elevation > STEP / 2 else 1

    @property
    def view(self) -> int:
        return 12 * self.row + self.turns

    def locations(self) -> list[Location]:
        """Index 0 is to stay; then the adjacent nodes in view, nearest to its middle first."""
        listed = [self._seen(other) for other in self.beside[self.node]]
        listed = [one for one in listed if abs(round(one.rel_heading, 9)) <= round(HALF_WIDTH, 9)]
        return [Location(self.node, 0.0, 0.0, 0.0), *sorted(listed, key=lambda one: one.apart)]

    def _seen(self, other: str) -> Location:
        (x, y, z), (x1, y1, z1) = self.places[self.node], self.places[other]
        flat = math.hypot(x1 - x, y1 - y)
        heading = math.atan2(x1 - x, y1 - y) if flat else math.pi / 2
        rel_heading = (heading - self.turns * STEP + math.pi) % math.tau - math.pi
        rel_elevation = math.atan2(z1 - z, flat) - (self.row - 1) * STEP
        return Location(other, rel_heading, rel_elevation, math.hypot(flat, z1 - z))

    def make_action(self, index: int, right: int, up: int) -> None:
        self.node = self.locations()[index].node
        self.turns = (self.turns + right) % 12
        self.row = min(max(self.row + up, 0), 2)


@dataclass(frozen=True)
class Candidate:
    """A node an agent may choose."""

    node: str
    view: int
    index: int  # among the locations of that view
    heading: float  # absolute
    elevation: float
    distance: float
    apart: float


def candidates(simulator: Simulator) -> list[Candidate]:
    """Sweep all 36 views from where the simulator stands; it is left where it was."""
    node, turns, row = simulator.node, simulator.turns, simulator.row
    found: dict[str, Candidate] = {}
    for view in range(36):
        if view == 0:
            simulator.new_episode(node, 0.0, -STEP)
        else:
            simulator.make_action(0, 1, 1 if view % 12 == 0 else 0)
        for index, one in enumerate(simulator.locations()[1:], start=1):
            if one.node not in found or one.apart < found[one.node].apart:
                heading = simulator.turns * STEP + one.rel_heading
                elevation = (simulator.row - 1) * STEP + one.rel_elevation
                at = simulator.view, index, heading, elevation, one.rel_distance, one.apart
                found[one.node] = Candidate(one.node, *at)
    simulator.node, simulator.turns, simulator.row = node, turns, row
    return list(found.values())


def choose(simulator: Simulator, candidate: Candidate) -> None:
    """Tilt, turn right until the candidate's view is ahead, and go."""
    while simulator.row != candidate.view // 12:
        simulator.make_action(0, 0, 1 if candidate.view // 12 > simulator.row else -1)
    while simulator.view != candidate.view:
        simulator.make_action(0, 1, 0)
    simulator.make_action(candidate.index, 0, 0)
