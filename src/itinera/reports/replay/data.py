"""What a replay shows, as plain numbers and words: places, episodes, and who walked where.

`replay_walks.py` makes it; a page, a film and a picture are drawn from it alone. Lengths are whole centimetres in the
world's frame, angles whole degrees counter-clockwise from +x, so that a tour of a hundred episodes stays small.
"""

from __future__ import annotations

from typing import Literal

import msgspec

ACTING, GUIDED_TO_GOAL, GUIDED_TO_START = 0, 1, 2  # who decides where to go


class Drawing(msgspec.Struct, frozen=True, array_like=True):
    """Polygons of one colour, or lines of one width."""

    fill: str
    line: str
    width: int  # of the line; 0 is a hairline
    outlines: list[list[int]]  # each x, y, x, y, …


class Label(msgspec.Struct, frozen=True, array_like=True):
    """A name on the floor, and how much space there is for it."""

    text: str
    x: int
    y: int
    wide: int
    tall: int


class Storey(msgspec.Struct, frozen=True):
    """One floor of a place, what is drawn first standing first."""

    name: str
    drawings: list[Drawing]
    labels: list[Label]


class Track(msgspec.Struct, frozen=True):
    """Places one after another."""

    x: list[int]
    y: list[int]
    storey: list[int]

    def __len__(self) -> int:
        return len(self.x)


class Place(msgspec.Struct, frozen=True):
    """A world from above."""

    id: str
    bounds: list[int]  # x0, y0, x1, y1 of everything that is drawn
    storeys: list[Storey]  # the lowest first
    nodes: Track  # of a navigation graph
    edges: list[int]  # numbers of nodes, two for each


class Word(msgspec.Struct, frozen=True, array_like=True):
    """A piece of an instruction and the places of the reference it tells of, -1 where that is not known."""

    text: str
    first: int
    last: int


class Frame(msgspec.Struct, frozen=True, array_like=True):
    """What was seen from one place of a walk."""

    step: int
    picture: str  # JPEG, base64


class Attempt(msgspec.Struct, frozen=True):
    """What an agent did in an episode."""

    agent: int
    track: Track  # every place, the start first
    headings: list[int]  # degrees, one for each place; empty where not known
    phases: list[int]  # one for each place; empty where it acted throughout
    jumps: list[int]  # places the body was put to, where nobody walked
    clock: list[float]  # seconds, one for each place; empty where only steps are known
    pairs: list[int]  # place, reference place, … that meet in the alignment of DTW
    away: list[int]  # of each place, to the goal by the world's own distance; -1 where not known
    arrived: bool | None  # None where the goal is not known
    ending: str
    measures: list[tuple[str, str]]  # a metric's name and its value
    frames: list[Frame]


class Task(msgspec.Struct, frozen=True):
    """An episode, and what everybody did in it."""

    id: str
    place: int
    language: str
    words: list[Word]  # together they are the instruction
    reference: Track
    shortest: Track
    fastest: Track
    fastest_seconds: str  # between which times nobody can be faster; empty where not known
    goals: Track
    attempts: list[Attempt]


class Replay(msgspec.Struct, frozen=True):
    """Everything a page holds."""

    title: str
    agents: list[str]
    unit: Literal["steps", "s"]  # of the time
    radius: int  # within which one has arrived
    tour: str  # the tour's id, empty where the episodes stand alone
    tour_measures: list[list[tuple[str, str]]]  # for each agent
    places: list[Place]
    tasks: list[Task]


def duration(task: Task) -> float:
    """How long the longest attempt of an episode takes, in the unit of the replay."""
    return max((attempt.clock[-1] if attempt.clock else len(attempt.track) - 1 for attempt in task.attempts), default=0)
