"""What an environment shows: spaces, and observations of the stage put into arrays that fit them.

Headings are radians counter-clockwise, seen from where one faces; every array is new, so that it may be kept.
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
from itinera.rendering.panorama import VIEWS
from itinera.rendering.rasterizer import Frame
from itinera.simulators.sensors import CameraSensor
from itinera.simulators.simulator import Observation
from itinera.simulators.view_features import ViewSource
from itinera.tasks import Episode
from itinera.worlds import Place
from itinera.worlds.labels import MPCAT40

Seen: TypeAlias = dict[str, Any]
Spaces: TypeAlias = dict[str, spaces.Space[Any]]

CANDIDATE = ("sin heading", "cos heading", "sin elevation", "cos elevation", "metres")
"""The columns of a candidate: where it lies, seen from where one faces, and how far it is."""

FARTHEST_WAY = 100.0  # metres; no step on a graph is longer
DEEP = 10.0  # metres, the depth beyond which a camera tells no more, as Habitat's
_HUGE = float(np.finfo(np.float32).max)


class Sense(Protocol):
    """Something an environment shows of every observation. `episode` is None while the agent is led."""

    @property
    def spaces(self) -> Spaces: ...

    def __call__(self, seen: Observation, episode: Episode | None) -> Seen: ...


class Instruction(spaces.Text):
    """Words. Gymnasium reads a text in shared memory once and never again, so it must not be kept there."""


@create_shared_memory.register(Instruction)
def _refuse_sharing(space: Instruction, n: int = 1, ctx: object = None) -> None:
    raise BadArgument('Instructions do not fit into shared memory: give vector_kwargs={"shared_memory": False}.')


class Words:
    """The instruction; empty while nothing is asked."""

    def __init__(self, episodes: Iterable[Episode]) -> None:
        texts = [episode.instruction.text for episode in episodes]
        letters = frozenset("".join({*texts, " "}))
        self.spaces: Spaces = {"instruction": Instruction(max(1, *map(len, texts)), min_length=0, charset=letters)}

    def __call__(self, seen: Observation, episode: Episode | None) -> Seen:
        return {"instruction": "" if episode is None else episode.instruction.text}


class Heading:
    """Where one faces: sines and cosines of the heading, counter-clockwise from +x, and of the elevation."""

    def __init__(self) -> None:
        self.spaces: Spaces = {"facing": spaces.Box(-1.0, 1.0, (4,), np.float32)}

    def __call__(self, seen: Observation, episode: Episode | None) -> Seen:
        return {"facing": _directions(np.array([seen.heading]), np.array([seen.elevation]))[0]}


class Candidates:
    """The places one step away, a row for each action: where they lie, and which of them there are.

    Row 0 stands for STOP and is all zeros, as are the rows that no way leads along.
    """

    def __init__(self, actions: int) -> None:
        self._actions = actions
        one = np.ones((actions, 4), dtype=np.float32)
        low, high = np.hstack([-one, 0 * one[:, :1]]), np.hstack([one, FARTHEST_WAY * one[:, :1]])
        self.spaces: Spaces = {
            "candidates": spaces.Box(low, high, dtype=np.float32),
            "action_mask": spaces.MultiBinary(actions),
        }

    def __call__(self, seen: Observation, episode: Episode | None) -> Seen:
        assert seen.candidates is not None
        count = len(seen.candidates.nodes)
        rows = np.zeros((self._actions, len(CANDIDATE)), dtype=np.float32)
        rows[1 : count + 1, :4] = _directions(seen.candidates.headings - seen.heading, seen.candidates.elevations)
        rows[1 : count + 1, 4] = seen.candidates.distances
        return {"candidates": rows, "action_mask": mask_of(0 if episode is None else 1 + count, self._actions)}


def _directions(headings: NDArray[np.float64], elevations: NDArray[np.float64]) -> NDArray[np.float32]:
    """(n, 4) sines and cosines."""
    columns = np.sin(headings), np.cos(headings), np.sin(elevations), np.cos(elevations)
    return np.column_stack(columns).astype(np.float32)


def mask_of(legal: int, actions: int) -> NDArray[np.int8]:
    """(actions,) 1 for those that can be chosen: the first ones."""
    return (np.arange(actions) < legal).astype(np.int8)


class Views:
    """Features of the 36 views around, and the view that each candidate is seen in."""

    def __init__(self, source: ViewSource, actions: int) -> None:
        self._actions = actions
        self.spaces: Spaces = {
            "views": spaces.Box(-_HUGE, _HUGE, (VIEWS, source.size), np.float32),
            "candidate_views": spaces.Box(0, VIEWS - 1, (actions,), np.int64),
        }

    def __call__(self, seen: Observation, episode: Episode | None) -> Seen:
        assert seen.candidates is not None
        best = np.zeros(self._actions, dtype=np.int64)
        best[1 : 1 + len(seen.candidates.views)] = seen.candidates.views
        return {"views": np.array(seen.views, dtype=np.float32), "candidate_views": best}


class Pictures:
    """What the camera sees: a picture for each channel of its eye."""

    def __init__(self, eye: CameraSensor) -> None:
        shape = ((VIEWS,) if eye.around else ()) + (eye.camera.height, eye.camera.width)
        self._channels = sorted(eye.channels)
        self.spaces: Spaces = {name: _PICTURES[name][0](shape) for name in self._channels}

    def __call__(self, seen: Observation, episode: Episode | None) -> Seen:
        assert seen.frame is not None
        return {name: _PICTURES[name][1](seen.frame) for name in self._channels}


Shape: TypeAlias = tuple[int, ...]
_PICTURES: dict[str, tuple[Callable[[Shape], spaces.Box], Callable[[Frame], NDArray[Any]]]] = {
    "rgb": (lambda shape: spaces.Box(0, 255, (*shape, 3), np.uint8), lambda frame: frame.rgb.copy()),
    "depth": (
        lambda shape: spaces.Box(0.0, DEEP, (*shape, 1), np.float32),
        lambda frame: np.minimum(frame.depth, np.float32(DEEP))[..., None],
    ),
    "classes": (lambda shape: spaces.Box(0, len(MPCAT40) - 1, shape, np.uint8), lambda frame: frame.classes.copy()),
    "instances": (
        lambda shape: spaces.Box(0, np.iinfo(np.int32).max, shape, np.int32),
        lambda frame: frame.instances.copy(),
    ),
}


class PointGoal:
    """The goal as [metres, cos, sin] across the floor, seen from where one stands and faces; of several the nearest."""

    def __init__(self) -> None:
        low, high = np.array([0.0, -1.0, -1.0], np.float32), np.array([_HUGE, 1.0, 1.0], np.float32)
        self.spaces: Spaces = {"pointgoal": spaces.Box(low, high, dtype=np.float32)}

    def __call__(self, seen: Observation, episode: Episode | None) -> Seen:
        if episode is None or episode.goals_withheld:
            raise BadArgument("Without a goal there is no point to go to. PointNav needs tasks that tell their goals.")
        gaps = [_across(seen.place, goal) for goal in episode.goals]
        dx, dy = min(gaps, key=lambda gap: math.hypot(*gap))
        angle = math.atan2(dy, dx) - seen.heading
        return {"pointgoal": np.array([math.hypot(dx, dy), math.cos(angle), math.sin(angle)], dtype=np.float32)}


def _across(place: Place, goal: Place) -> tuple[float, float]:
    return float(goal[0]) - float(place[0]), float(goal[1]) - float(place[1])
