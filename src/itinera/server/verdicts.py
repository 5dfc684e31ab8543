"""What a worker reports of an entry: scores with intervals, their scenes, and how many episodes were answered."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from itinera.errors import ItineraError

_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=80)]
_Scene = Annotated[str, msgspec.Meta(max_length=200)]
_Scores = Annotated[dict[_Name, tuple[float, float | None, float | None]], msgspec.Meta(max_length=200)]
_Scenes = Annotated[dict[_Name, dict[_Scene, tuple[float, float]]], msgspec.Meta(max_length=200)]


class Coverage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the episodes ended."""

    answered: int
    stopped: int
    failed: int


class Verdict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The totals of a judgement. All numbers are finite; an undefined metric is left out."""

    badge: Literal["live", "replayed", "scored", "claimed"]
    episodes: int
    missing: int
    coverage: Coverage
    suite: str
    protocol: str  # its label
    fingerprint: Annotated[str, msgspec.Meta(max_length=64)]
    scores: _Scores  # metric -> value and interval, whose ends are null if there are too few episodes
    scenes: _Scenes = {}  # metric -> scene -> sum and number of its defined rows
    level: float = 0.95  # of the intervals


class BadVerdict(ItineraError):
    """A stored or sent verdict that cannot be read."""


def encode_verdict(verdict: Verdict) -> str:
    """The JSON of a verdict: equal verdicts give equal bytes."""
    return msgspec.json.encode(verdict, order="deterministic").decode()


def decode_verdict(text: str | bytes) -> Verdict:
    """The verdict of a JSON text."""
    try:
        return msgspec.json.decode(text, type=Verdict)
    except msgspec.DecodeError as error:
        raise BadVerdict(f"not a verdict: {error}") from None
