"""The messages of live sessions besides their turns: JSON for participants, MessagePack for workers."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

_Short = Annotated[str, msgspec.Meta(max_length=200)]


class OpenRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Open a session in a live phase, or continue the one that is open."""

    phase: _Short
    method: _Short
    notes: Annotated[str, msgspec.Meta(max_length=5000)] = ""
    visibility: _Short = "public"


class SessionReport(msgspec.Struct, frozen=True):
    """A session: its tours (or single episodes), and how far each has been played."""

    entry: str
    phase: str
    tours: int
    deadline: int  # milliseconds since 1970, UTC
    step_seconds: float
    turns: dict[int, int]  # of each tour that has begun: its next turn
    ended: list[int]  # the tours that are over
    columns: list[str]  # the meanings of the numbers of a view
    protocol: str  # its name
    rules: dict[str, Any]
    closed: bool = False


class PlayQuestion(msgspec.Struct, frozen=True, array_like=True):
    """What a worker is asked: the state of a tour after some answers."""

    id: int
    phase: str
    secret: str
    tour: int
    known: int  # answers that it has been given before
    answers: list[tuple[int, str]]
    wants: list[str] | None  # None: all
    replay: bool


class PlayAnswer(msgspec.Struct, frozen=True, array_like=True):
    """The state of a tour; `missing` if the worker needs all answers, as after its start."""

    id: int
    payload: bytes = b""
    done: bool = False
    frames: int = 0
    missing: bool = False
    error: str = ""


class PhaseFacts(msgspec.Struct, frozen=True, array_like=True):
    """What only a worker knows of a phase."""

    digest: str
    tours: int
    columns: list[str]
    protocol: str  # its name


class LivePoll(msgspec.Struct, frozen=True, array_like=True):
    """A worker brings answers and waits for questions."""

    worker: str
    phases: dict[str, PhaseFacts]
    answers: list[PlayAnswer]
    wait: bool  # whether it has nothing else to do


class LiveWork(msgspec.Struct, frozen=True, array_like=True):
    """The next questions for a worker."""

    questions: list[PlayQuestion]
