"""What verbs printed as JSON, read back: the findings of skill studies and what was seen along tours."""

from __future__ import annotations

from pathlib import Path

import msgspec

from itinera.formats.decoding import decode
from itinera.formats.io import read_bytes


class Estimate(msgspec.Struct, frozen=True):
    """A mean with its interval."""

    mean: float | None
    low: float | None = None
    high: float | None = None


class SkillFound(msgspec.Struct, frozen=True):
    """What was found about one skill of one agent."""

    verdicts: list[str]
    score: Estimate | None = None  # a fraction


class Findings(msgspec.Struct, frozen=True):
    """What `itinera study analyse --json` prints: by agent, by skill."""

    agents: dict[str, dict[str, SkillFound]]


class Point(msgspec.Struct, frozen=True):
    """The share seen before an episode, over the tours that have so many."""

    episodes_done: int
    mean: float | None
    low: float | None
    high: float | None


class Described(msgspec.Struct, frozen=True):
    """Of what `itinera describe --json` prints, what was seen along tours: by way of seeing, by share."""

    name: str
    seen: dict[str, dict[str, list[Point]]] = {}


def read_printed(path: Path) -> Findings | list[Described]:
    """Findings, or a description for each data set, whichever the file holds."""
    content = read_bytes(path)
    kind: type[Findings] | type[list[Described]] = list[Described] if content.lstrip()[:1] == b"[" else Findings
    return decode(content, kind, str(path))
