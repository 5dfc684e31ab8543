"""The sensors of an environment: Gymnasium spaces, and observations as arrays that fit them.

Headings are radians counter-clockwise, relative to the agent's heading; every array is a copy and may be kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeAlias

import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import create_shared_memory
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.rendering.camera import Frame
from itinera.rendering.panorama import VIEWS
from itinera.simulators.sensors import CameraSensor
from itinera.simulators.simulator import Observation
from itinera.simulators.view_features import ViewSource
from itinera.tasks import Episode
from itinera.worlds import Place
from itinera.worlds.labels import MPCAT40

ObservationDict: TypeAlias = dict[str, Any]
Spaces: TypeAlias = dict[str, spaces.Space[Any]]

CANDIDATE = ("sin heading", "cos heading", "sin elevation", "cos elevation", "metres")
"""The columns of a candidate: its direction relative to the agent's heading, and its distance."""

MAX_CANDIDATE_DISTANCE = 100.0  # metres; no edge of a graph is longer
MAX_DEPTH = 10.0  # metres, at which depth images are clipped, as Habitat's are
_MAX_FLOAT = float(np.finfo(np.float32).max)


class Sensor(Protocol):
    """A part of every observation. `episode` is None while the agent is guided."""

    @property
    def spaces(self) -> Spaces: ...

    def __call__(self, observation: Observation, episode: Episode | None) -> ObservationDict: ...


class InstructionSpace(spaces.Text):
    """Text that is not kept in shared memory, where Gymnasium would read it once and never again."""


@create_shared_memory.register(InstructionSpace)
def _refuse_sharing(space: InstructionSpace, n: int = 1, ctx: object = None) -> None:
    raise BadArgument('Instructions do not fit into shared memory: give vector_kwargs={"shared_memory": False}.')


class InstructionSensor:
    """The instruction; empty while the agent is guided."""

    def __init__(self, episodes: Iterable[Episode]) -> None:
        texts = [episode.instruction.text for episode in episodes]
        characters = frozenset("".join({*texts, " "}))
        self.spaces: Spaces = {
            "instruction": InstructionSpace(max(1, *map(len, texts)), min_length=0, charset=characters)
        }

    def __call__(self, observation: Observation, episode: Episode | None) -> ObservationDict:
        return {"instruction": "" if episode is None else episode.instruction.text}


class HeadingSensor:
    """The agent's orientation: sine and cosine of the heading, counter-clockwise from +x, and of the elevation."""

    def __init__(self) -> None:
        self.spaces: Spaces = {"orientation": spaces.Box(-1.0, 1.0, (4,), np.float32)}

    def __call__(self, observation: Observation, episode: Episode | None) -> ObservationDict:
        return {"orientation": _directions(np.array([observation.heading]), np.array([observation.elevation]))[0]}


class CandidateSensor:
    """The candidate viewpoints, a row per action, and the mask of available actions.

    Row 0 stands for STOP and is all zeros, as are the rows without a candidate.
    """

    def __init__(self, actions: int) -> None:
        self._actions = actions
        one = np.ones((actions, 4), dtype=np.float32)
        low, high = np.hstack([-one, 0 * one[:, :1]]), np.hstack([one, MAX_CANDIDATE_DISTANCE * one[:, :1]])
        self.spaces: Spaces = {
            "candidates": spaces.Box(low, high, dtype=np.float32),
            "action_mask": spaces.MultiBinary(actions),
        }

    def __call__(self, observation: Observation, episode: Episode | None) -> ObservationDict:
        candidates = observation.candidates
        assert candidates is not None
        count = len(candidates.nodes)
        rows = np.zeros((self._actions, len(CANDIDATE)), dtype=np.float32)
        rows[1 : count + 1, :4] = _directions(candidates.headings - observation.heading, candidates.elevations)
        rows[1 : count + 1, 4] = candidates.distances
        return {"candidates": rows, "action_mask": make_action_mask(0 if episode is None else 1 + count, self._actions)}


def _directions(headings: NDArray[np.float64], elevations: NDArray[np.float64]) -> NDArray[np.float32]:
    """(n, 4) sines and cosines."""
    columns = np.sin(headings), np.cos(headings), np.sin(elevations), np.cos(elevations)
    return np.column_stack(columns).astype(np.float32)


def make_action_mask(available: int, actions: int) -> NDArray[np.int8]:
    """(actions,) 1 for the available actions, which are the first ones."""
    return (np.arange(actions) < available).astype(np.int8)


class ViewSensor:
    """Features of the 36 views of the panorama, and the view that shows each candidate."""

    def __init__(self, source: ViewSource, actions: int) -> None:
        self._actions = actions
        self.spaces: Spaces = {
            "views": spaces.Box(-_MAX_FLOAT, _MAX_FLOAT, (VIEWS, source.size), np.float32),
            "candidate_views": spaces.Box(0, VIEWS - 1, (actions,), np.int64),
        }

    def __call__(self, observation: Observation, episode: Episode | None) -> ObservationDict:
        assert observation.candidates is not None
        indices = np.zeros(self._actions, dtype=np.int64)
        indices[1 : 1 + len(observation.candidates.views)] = observation.candidates.views
        return {"views": np.array(observation.views, dtype=np.float32), "candidate_views": indices}


class ImageSensor:
    """The images of the camera, one per channel."""

    def __init__(self, sensor: CameraSensor) -> None:
        views = VIEWS if sensor.panorama else sensor.around
        shape = ((views,) if views > 1 else ()) + (sensor.camera.height, sensor.camera.width)
        self._channels = sorted(sensor.channels)
        self.spaces: Spaces = {name: _IMAGES[name][0](shape) for name in self._channels}

    def __call__(self, observation: Observation, episode: Episode | None) -> ObservationDict:
        assert observation.frame is not None
        return {name: _IMAGES[name][1](observation.frame) for name in self._channels}


Shape: TypeAlias = tuple[int, ...]
_IMAGES: dict[str, tuple[Callable[[Shape], spaces.Box], Callable[[Frame], NDArray[Any]]]] = {
    "rgb": (lambda shape: spaces.Box(0, 255, (*shape, 3), np.uint8), lambda frame: frame.rgb.copy()),
    "depth": (
        lambda shape: spaces.Box(0.0, MAX_DEPTH, (*shape, 1), np.float32),
        lambda frame: np.minimum(frame.depth, np.float32(MAX_DEPTH))[..., None],
    ),
    "classes": (lambda shape: spaces.Box(0, len(MPCAT40) - 1, shape, np.uint8), lambda frame: frame.classes.copy()),
    "instances": (
        lambda shape: spaces.Box(0, np.iinfo(np.int32).max, shape, np.int32),
        lambda frame: frame.instances.copy(),
    ),
}


class PointGoalSensor:
    """The nearest goal as [metres, cos, sin] in the horizontal plane, relative to the agent's pose."""

    def __init__(self) -> None:
        low, high = np.array([0.0, -1.0, -1.0], np.float32), np.array([_MAX_FLOAT, 1.0, 1.0], np.float32)
        self.spaces: Spaces = {"pointgoal": spaces.Box(low, high, dtype=np.float32)}

    def __call__(self, observation: Observation, episode: Episode | None) -> ObservationDict:
        if episode is None or episode.goals_withheld:
            raise BadArgument("PointNav needs tasks that contain their goals; these withhold them.")
        offsets = [_offset(observation.place, goal) for goal in episode.goals]
        dx, dy = min(offsets, key=lambda offset: math.hypot(*offset))
        angle = math.atan2(dy, dx) - observation.heading
        return {"pointgoal": np.array([math.hypot(dx, dy), math.cos(angle), math.sin(angle)], dtype=np.float32)}


def _offset(place: Place, goal: Place) -> tuple[float, float]:
    return float(goal[0]) - float(place[0]), float(goal[1]) - float(place[1])
