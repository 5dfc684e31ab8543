"""The contents of a replay as plain values: scene maps, episodes and trajectories.

`trajectories.py` makes them; pages, videos and images are drawn from them alone. Lengths are whole centimetres in the
world's frame, angles whole degrees counter-clockwise from +x, so that a tour of a hundred episodes stays small.
"""

from __future__ import annotations

from typing import Literal

import msgspec

ACTING, GUIDED_TO_GOAL, GUIDED_TO_START = 0, 1, 2  # phases of a trajectory


class Drawing(msgspec.Struct, frozen=True, array_like=True):
    """Polygons of one color, or lines of one width."""

    fill: str
    line: str
    width: int  # of the line; 0 is a hairline
    outlines: list[list[int]]  # each x, y, x, y, …


class Label(msgspec.Struct, frozen=True, array_like=True):
    """The name of a room or of an object on the map, and the space for it."""

    text: str
    x: int
    y: int
    width: int
    height: int


class StoreyMap(msgspec.Struct, frozen=True):
    """One floor of a scene; drawings are in painting order."""

    name: str
    drawings: list[Drawing]
    labels: list[Label]  # of rooms
    objects: list[Label] = []


class Track(msgspec.Struct, frozen=True):
    """A sequence of positions."""

    x: list[int]
    y: list[int]
    storey: list[int]

    def __len__(self) -> int:
        return len(self.x)


class SceneMap(msgspec.Struct, frozen=True):
    """A world from above."""

    id: str
    bounds: list[int]  # x0, y0, x1, y1 of everything that is drawn
    storeys: list[StoreyMap]  # the lowest first
    nodes: Track  # of a navigation graph
    edges: list[int]  # indices of nodes, two per edge


class TextSpan(msgspec.Struct, frozen=True, array_like=True):
    """A piece of an instruction and the reference positions it is aligned with, -1 if unknown."""

    text: str
    first: int
    last: int


class ReplayFrame(msgspec.Struct, frozen=True, array_like=True):
    """The first-person view at one step of a trajectory."""

    step: int
    image: str  # JPEG, base64


class HeldMaps(msgspec.Struct, frozen=True):
    """The egocentric maps an agent held: the agent in the cell (size / 2, size / 2), ahead is up."""

    size: int  # cells along a side
    width: int  # of the map
    legend: list[tuple[str, str]]  # name and color of each label that occurs
    frames: list[ReplayFrame]  # PNG instead of JPEG


class ReplayTrajectory(msgspec.Struct, frozen=True):
    """An agent's trajectory in an episode."""

    agent: int
    track: Track  # every position, the start first
    headings: list[int]  # degrees, one per position; empty if unknown
    phases: list[int]  # one per position; empty if all are acting
    jumps: list[int]  # positions the body was teleported to
    times: list[float]  # seconds, one per position; empty if only steps are known
    alignment: list[int]  # DTW alignment: position index, reference index, …
    goal_distances: list[int]  # of each position, by the world's own distance; -1 if unknown
    success: bool | None  # None if the goal is unknown
    ending: str
    metrics: list[tuple[str, str]]  # name and formatted value
    frames: list[ReplayFrame]
    maps: HeldMaps | None = None  # if they were recorded


class ReplayEpisode(msgspec.Struct, frozen=True):
    """An episode with the trajectories of all agents."""

    id: str
    scene: int
    language: str
    instruction: list[TextSpan]
    reference: Track
    shortest: Track
    fastest: Track
    fastest_seconds: str  # bounds of the fastest time; empty if unknown
    goals: Track
    trajectories: list[ReplayTrajectory]


class Replay(msgspec.Struct, frozen=True):
    """Everything a replay page contains."""

    title: str
    agents: list[str]
    unit: Literal["steps", "s"]  # of time
    success_radius: int
    tour: str  # the tour's id, empty if the episodes are not of a tour
    tour_metrics: list[list[tuple[str, str]]]  # for each agent
    scenes: list[SceneMap]
    episodes: list[ReplayEpisode]

    def __repr__(self) -> str:
        return f"Replay({self.title!r})"


def duration(episode: ReplayEpisode) -> float:
    """The duration of an episode's longest trajectory, in the unit of the replay."""
    return max((t.times[-1] if t.times else len(t.track) - 1 for t in episode.trajectories), default=0)
