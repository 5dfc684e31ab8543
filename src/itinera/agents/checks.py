"""Does an agent keep its promises? `check_agent` lets it walk a little and names the first one it breaks.

It walks two short tours twice: on a graph with views and sights, or in a room with a camera.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from itinera.agents.agent import Agent
from itinera.errors import BadArgument
from itinera.hearth.language.scene_description import Outlook, Thing, Way
from itinera.seeding import generator
from itinera.simulators.simulator import STOP, Observation, Simulator
from itinera.tasks import Instruction
from itinera.worlds import Array, NavGraph, Pose, World

if TYPE_CHECKING:
    from itinera.simulators.sensors import CameraSensor

STEPS = 12  # most actions in an episode
VIEW_SIZE = 8  # numbers of each view
LED = 2  # places it is led past after each
TEXTS = ("Walk past the red sofa and stop at the table.", "Turn left. Wait by the door.", "Zum Tisch ü!")

Body = Literal["graph", "ground"]


def check_agent(
    agent: Agent, *, body: Body = "graph", simulator: Simulator | None = None, view_size: int = VIEW_SIZE
) -> None:
    """Raise BadArgument if an agent breaks a promise: it has its methods, returns what it should, and is the same agent
    again when it is given the same random numbers.

    `simulator` is the one it is made for, instead of a body with a camera and the four actions of the ground.
    `view_size`: how many numbers each view of a graph has.
    """
    _has_methods(agent)
    place = _graph_place(view_size) if body == "graph" else _ground_place()
    if simulator is not None:
        place = replace(place, simulator=simulator)
    first = [_toured(agent, place, tour, weighing=False) for tour in (0, 1)]
    if [_toured(agent, place, tour, weighing=False) for tour in (0, 1)] != first:
        raise BadArgument(
            "The same tour with the same random numbers was walked in another way the second time. reset() must forget "
            "everything, and all chance must come from the generator it is given."
        )
    if (
        hasattr(agent, "action_probabilities")
        and [_toured(agent, place, tour, weighing=True) for tour in (0, 1)] != first
    ):
        raise BadArgument(
            "action_probabilities() changes what is done after it: it must only look, and not draw random numbers."
        )


def _has_methods(agent: Agent) -> None:
    missing = [
        name for name in ("reset", "start_episode", "act", "observe") if not callable(getattr(agent, name, None))
    ]
    if missing:
        raise BadArgument(
            f"An agent has the methods reset, start_episode, act and observe; this one has no {missing[0]}()."
        )
    if isinstance(agent, type):
        raise BadArgument(f"{agent.__name__} is a class; an agent is one of its objects.")


@dataclass(frozen=True, eq=False)
class _Place:
    """Somewhere to try an agent."""

    world: World
    simulator: Simulator
    starts: tuple[Pose, ...]


def _toured(agent: Any, place: _Place, tour: int, *, weighing: bool) -> list[list[int]]:
    """The actions an agent takes in the episodes of a tour."""
    _nothing("reset", agent.reset, generator(tour, "check"))
    taken = []
    for number, (text, start) in enumerate(zip(TEXTS, place.starts, strict=True)):
        observation = place.simulator.reset(place.world, start)
        _nothing("start_episode", agent.start_episode, Instruction(text))
        taken.append(list(_actions(agent, place.simulator, observation, weighing=weighing)))
        if number + 1 < len(TEXTS):
            _lead(agent, place)
    return taken


def _actions(agent: Any, simulator: Simulator, observation: Observation, *, weighing: bool) -> Iterator[int]:
    for _ in range(STEPS):
        if weighing:
            _check_weights(_said("action_probabilities", agent.action_probabilities, observation), simulator.actions)
        action = _legal(_said("act", agent.act, observation), simulator.actions)
        yield action
        if action == STOP:
            return
        observation = simulator.step(action)


def _lead(agent: Any, place: _Place) -> None:
    for _ in range(LED):
        _nothing("observe", agent.observe, place.simulator.step(1))


def _said(name: str, method: Callable[[Any], Any], told: object) -> Any:
    try:
        return method(told)
    except Exception as error:
        raise BadArgument(f"{name}() failed: {type(error).__name__}: {error}") from error


def _nothing(name: str, method: Callable[[Any], Any], told: object) -> None:
    found = _said(name, method, told)
    if found is not None:
        raise BadArgument(f"{name}() returned {_short(found)}; it must return nothing.")


def _legal(action: Any, count: int) -> int:
    expected = f"expected a whole number from 0 (STOP) to {count - 1}."
    if isinstance(action, bool | np.bool_):
        raise BadArgument(f"act() returned {action}; {expected}")
    try:
        number = operator.index(action)
    except TypeError:
        raise BadArgument(f"act() returned {_short(action)} ({type(action).__name__}); {expected}") from None
    if not 0 <= number < count:
        raise BadArgument(f"act() returned {_short(number)}; {expected}")
    return number


def _check_weights(weights: Any, count: int) -> None:
    try:
        values = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadArgument(
            f"action_probabilities() returned {_short(weights)}; expected {count} probabilities."
        ) from None
    if values.shape != (count,):
        raise BadArgument(
            f"action_probabilities() returned an array of shape {values.shape}; expected ({count},), STOP first."
        )
    if not np.isfinite(values).all() or (values < 0).any():
        raise BadArgument(
            f"action_probabilities() returned {_short(values.tolist())}; expected probabilities, finite, not negative."
        )
    if not math.isclose(values.sum(), 1, abs_tol=1e-4):  # as far as single precision may be off
        raise BadArgument(
            f"action_probabilities() returned probabilities that sum to {values.sum():g}; they must sum to 1."
        )


def _short(value: object, most: int = 80) -> str:
    text = repr(value)
    return text if len(text) <= most else f"{text[:most]}…"


def _graph_place(view_size: int) -> _Place:
    """Five nodes: a square and a stair up from one of its corners."""
    from itinera.simulators.graph import GraphSimulator

    where: dict[str, Sequence[float]]
    where = {"a": (0, 0, 0), "b": (2, 0, 0), "c": (2, 2, 0), "d": (0, 2, 0), "e": (4, 2, 1)}
    graph = NavGraph.from_edges(where, [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("c", "e")])
    sights = {node: _outlook(graph, node) for node in graph.nodes}
    body = GraphSimulator(_Views(view_size), sights={"check": sights})
    starts = Pose("a", 0.3), Pose("e", -2.0), Pose("c", 1.0, 0.4)
    return _Place(World("check", graph), body, starts)


def _outlook(graph: NavGraph, node: str) -> Outlook:
    candidates = [
        Way(other, graph.heading(node, other), float(graph.between([node], [other])[0, 0]), 0, "h", "")
        for other in graph.neighbours(node)
    ]
    things = Thing("sofa", "red", "", 0.5, 2.0, 1.8), Thing("table", "", "round", -1.0, 3.0, 1.2)
    return Outlook(node, "h", things, tuple(candidates), ())


class _Views:
    """So many numbers for each view, others at each node."""

    def __init__(self, size: int) -> None:
        self.size = size

    def at(self, world_id: str, node: str) -> Array:
        views = generator(0, "check", node).random((36, self.size))
        views.flags.writeable = False
        return views


def _ground_place() -> _Place:
    """A room of 5 by 4 metres with a table in it."""
    from itinera.hearth.geometry.solids import Solids
    from itinera.simulators.ground import GroundSimulator
    from itinera.worlds.surface import Surface

    solids = Solids()
    solids.polygon([(0, 0, 0), (5, 0, 0), (5, 4, 0), (0, 4, 0)], "floor", 0, (150, 120, 90))
    solids.box((2.0, 1.5, 0.0), (3.0, 2.5, 0.8), "table", 1, (112, 68, 36))
    mesh = solids.mesh()
    surface = Surface.from_mesh(mesh, radius=0.1, height=1.5)
    starts = [Pose(np.array([x, y, 0.0]), heading) for x, y, heading in ((1, 1, 0), (4, 3, 2), (1, 3, -1.5))]
    return _Place(World("check", surface, mesh=mesh), GroundSimulator(eye=usual_eye()), tuple(starts))


def usual_eye() -> CameraSensor:
    """The camera an agent is tried with on the ground."""
    from itinera.rendering.rasterizer import Camera
    from itinera.simulators.sensors import CameraSensor

    return CameraSensor(Camera(32, 24, math.radians(79)))
