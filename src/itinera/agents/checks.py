"""`check_agent`: runs an agent in a small built-in scene and reports the first contract violation.

The agent runs two short tours twice: on a graph with views and scene descriptions, or in a room with a camera.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from itinera.agents.agent import METHODS, Agent, ProbabilisticAgent, missing_methods, validate_probabilities
from itinera.errors import BadArgument
from itinera.hearth.language.scene_description import DescribedCandidate, DescribedObject, SceneDescription
from itinera.seeding import generator
from itinera.simulators.simulator import STOP, Observation, Simulator
from itinera.tasks import Instruction
from itinera.worlds import Array, NavGraph, Pose, World

if TYPE_CHECKING:
    from itinera.simulators.sensors import CameraSensor

MAX_STEPS = 12  # actions in an episode
VIEW_SIZE = 8  # numbers of each view
GUIDED_STEPS = 2  # after each episode
TEXTS = ("Walk past the red sofa and stop at the table.", "Turn left. Wait by the door.", "Zum Tisch ü!")

Body = Literal["graph", "ground"]


def check_agent(
    agent: Agent, *, body: Body = "graph", simulator: Simulator | None = None, view_size: int = VIEW_SIZE
) -> None:
    """Raise BadArgument if an agent violates its contract.

    It must have its methods, return values of the right kind, and act the same given the same random numbers.
    `simulator` is the one the agent is made for, instead of one with a camera and the four actions of the ground;
    `view_size` is the number of features of each view of a graph.
    """
    _check_methods(agent)
    scene = _make_graph_scene(view_size) if body == "graph" else _make_ground_scene()
    if simulator is not None:
        scene = replace(scene, simulator=simulator)
    first = [_run_tour(agent, scene, tour, probabilities=False) for tour in (0, 1)]
    if [_run_tour(agent, scene, tour, probabilities=False) for tour in (0, 1)] != first:
        raise BadArgument(
            "The agent acted differently in the same tour with the same random numbers. reset() must forget "
            "everything, and all randomness must come from the generator it receives."
        )
    if (
        isinstance(agent, ProbabilisticAgent)
        and [_run_tour(agent, scene, tour, probabilities=True) for tour in (0, 1)] != first
    ):
        raise BadArgument(
            "action_probabilities() changes later actions: it must not change the agent or draw random numbers."
        )


_POINT_GOAL = (4.0, 1.0, 0.0)  # in the room of the checks, for agents that drive to a point


def _check_methods(agent: Agent) -> None:
    if not isinstance(agent, Agent):
        missing = missing_methods(agent)[0]
        raise BadArgument(f"An agent has the methods {', '.join(METHODS)}; this one has no {missing}().")
    if isinstance(agent, type):
        raise BadArgument(f"{agent.__name__} is a class; pass an object: {agent.__name__}().")


@dataclass(frozen=True, eq=False)
class _Scene:
    """A scene to check an agent in."""

    world: World
    simulator: Simulator
    starts: tuple[Pose, ...]


def _run_tour(agent: Any, scene: _Scene, tour: int, *, probabilities: bool) -> list[list[int]]:
    """The actions of an agent in the episodes of a tour."""
    _call_returning_none("reset", agent.reset, generator(tour, "check"))
    taken = []
    for number, (text, start) in enumerate(zip(TEXTS, scene.starts, strict=True)):
        observation = scene.simulator.reset(scene.world, start)
        goal = None if isinstance(start.place, str) else _POINT_GOAL
        _call_returning_none("start_episode", agent.start_episode, Instruction(text, point_goal=goal))
        taken.append(list(_act(agent, scene.simulator, observation, probabilities=probabilities)))
        if number + 1 < len(TEXTS):
            _guide(agent, scene)
    return taken


def _act(agent: Any, simulator: Simulator, observation: Observation, *, probabilities: bool) -> Iterator[int]:
    for _ in range(MAX_STEPS):
        if probabilities:
            found = _call("action_probabilities", agent.action_probabilities, observation)
            validate_probabilities(found, simulator.actions)
        action = _validate_action(_call("act", agent.act, observation), simulator.actions)
        yield action
        if action == STOP:
            return
        observation = simulator.step(action)


def _guide(agent: Any, scene: _Scene) -> None:
    for _ in range(GUIDED_STEPS):
        _call_returning_none("observe", agent.observe, scene.simulator.step(1))


def _call(name: str, method: Callable[[Any], Any], argument: object) -> Any:
    try:
        return method(argument)
    except Exception as error:
        raise BadArgument(f"{name}() failed: {type(error).__name__}: {error}") from error


def _call_returning_none(name: str, method: Callable[[Any], Any], argument: object) -> None:
    found = _call(name, method, argument)
    if found is not None:
        raise BadArgument(f"{name}() returned {_short(found)}; it must return None.")


def _validate_action(action: Any, count: int) -> int:
    expected = f"expected an integer from 0 (STOP) to {count - 1}."
    if isinstance(action, bool | np.bool_):
        raise BadArgument(f"act() returned {action}; {expected}")
    try:
        number = operator.index(action)
    except TypeError:
        raise BadArgument(f"act() returned {_short(action)} ({type(action).__name__}); {expected}") from None
    if not 0 <= number < count:
        raise BadArgument(f"act() returned {_short(number)}; {expected}")
    return number


def _short(value: object, max_length: int = 80) -> str:
    text = repr(value)
    return text if len(text) <= max_length else f"{text[:max_length]}…"


def _make_graph_scene(view_size: int) -> _Scene:
    """Five nodes: a square and a stair up from one of its corners."""
    from itinera.simulators.graph import GraphSimulator

    positions: dict[str, Sequence[float]]
    positions = {"a": (0, 0, 0), "b": (2, 0, 0), "c": (2, 2, 0), "d": (0, 2, 0), "e": (4, 2, 1)}
    graph = NavGraph.from_edges(positions, [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("c", "e")])
    descriptions = {node: _describe(graph, node) for node in graph.nodes}
    simulator = GraphSimulator(_Views(view_size), descriptions={"check": descriptions})
    starts = Pose("a", 0.3), Pose("e", -2.0), Pose("c", 1.0, 0.4)
    return _Scene(World("check", graph), simulator, starts)


def _describe(graph: NavGraph, node: str) -> SceneDescription:
    candidates = [
        DescribedCandidate(other, graph.heading(node, other), float(graph.between([node], [other])[0, 0]), 0, "h", "")
        for other in graph.neighbors(node)
    ]
    objects = DescribedObject("sofa", "red", "", 0.5, 2.0, 1.8), DescribedObject("table", "", "round", -1.0, 3.0, 1.2)
    return SceneDescription(node, "h", objects, tuple(candidates), ())


class _Views:
    """Random features of each view, different at each node."""

    def __init__(self, size: int) -> None:
        self.size = size

    def at(self, world_id: str, node: str) -> Array:
        views = generator(0, "check", node).random((36, self.size))
        views.flags.writeable = False
        return views


def _make_ground_scene() -> _Scene:
    from itinera.simulators.ground import GroundSimulator

    starts = [Pose(np.array([x, y, 0.0]), heading) for x, y, heading in ((1, 1, 0), (4, 3, 2), (1, 3, -1.5))]
    return _Scene(make_ground_world(), GroundSimulator(camera=default_camera()), tuple(starts))


def make_ground_world() -> World:
    """The world of checks on the ground, "check": a room of 5 by 4 metres with a table in it."""
    from itinera.hearth.geometry.solids import Solids
    from itinera.worlds.surface import Surface

    solids = Solids()
    solids.polygon([(0, 0, 0), (5, 0, 0), (5, 4, 0), (0, 4, 0)], "floor", 0, (150, 120, 90))
    solids.box((2.0, 1.5, 0.0), (3.0, 2.5, 0.8), "table", 1, (112, 68, 36))
    mesh = solids.mesh()
    surface = Surface.from_mesh(mesh, radius=0.1, height=1.5)
    return World("check", surface, mesh=mesh)


def default_camera() -> CameraSensor:
    """The camera of checks on the ground."""
    from itinera.rendering.camera import Camera
    from itinera.simulators.sensors import CameraSensor

    return CameraSensor(Camera(32, 24, math.radians(79)))
