"""The log of a live session: every answer of an agent, from which the host replays the session.

The first line is a header; every other line has the answers of one tour (or single episode), by its number in the
session. Tour and episode are not named: their order follows from the secret, see `tour_order`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from itinera.errors import BadFile, Fault
from itinera.formats.decoding import UNDECODABLE, make_fault
from itinera.formats.io import FaultList, read_bytes
from itinera.seeding import generator

MAX_BYTES = 1 << 28
MAX_ACTION = (1 << 31) - 1
FAILED, LATE, END = -1, -2, -3  # answers that are no actions: the agent failed, was too slow, has left the tour

Answer = Annotated[int, msgspec.Meta(ge=END, le=MAX_ACTION)]


class LiveHeader(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a session was opened with."""

    itinera: Literal["live session"]
    phase: str
    secret: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{32}$")]


class LiveTourLog(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The answers in one tour, in their order, and the reasons of failures by the answer's index."""

    tour: Annotated[int, msgspec.Meta(ge=0)]
    answers: list[Answer]
    reasons: dict[int, str] = {}


@dataclass(frozen=True)
class LiveLog:
    """A session as it was played."""

    phase: str
    secret: str
    tours: tuple[LiveTourLog, ...]


def session_seed(secret: str) -> int:
    """The seed of a session's agents: `itinera run --seed` with it acts as they did."""
    return int(generator(0, "live", secret, "seed").integers(1 << 53))


def tour_order(secret: str, tours: int) -> Sequence[int]:
    """The order in which a session plays the tours of a split."""
    order: list[int] = generator(0, "live", secret, "order").permutation(tours).tolist()
    return order


def encode_live_log(phase: str, secret: str, tours: Mapping[int, LiveTourLog]) -> bytes:
    """The log as a file: equal sessions, with their reasons in the order of answers, give equal bytes."""
    lines = [LiveHeader("live session", phase, secret), *(tours[number] for number in sorted(tours))]
    return msgspec.json.Encoder().encode_lines(lines)


def read_live_log(path: str | Path) -> LiveLog:
    """The log of a session; raises BadFile with every fault of its lines."""
    lines = read_bytes(Path(path), limit=MAX_BYTES).splitlines()
    faults = FaultList(str(path))
    try:
        header = msgspec.json.decode(lines[0] if lines else b"", type=LiveHeader)
    except UNDECODABLE as error:
        raise BadFile(str(path), [make_fault(error, "line 1")]) from None
    tours: dict[int, LiveTourLog] = {}
    decoder = msgspec.json.Decoder(LiveTourLog)
    for number, line in enumerate(lines[1:], start=2):
        try:
            one = decoder.decode(line)
        except UNDECODABLE as error:
            faults.append(make_fault(error, f"line {number}"))
            continue
        if one.tour in tours:
            faults.append(Fault(f"line {number}", f"tour {one.tour} occurs twice.", "Ask the host for the original."))
        tours[one.tour] = one
    faults.raise_any()
    return LiveLog(header.phase, header.secret, tuple(tours[number] for number in sorted(tours)))
