"""The turns of a live session, as participants send and receive them over HTTP.

A body has a line of JSON for each turn. The reply has, for each, a line of JSON that announces some bytes, and these
bytes: the requests to the agent, as `agents/remote.py` sends them to agents in other processes.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from itinera.errors import BadArgument
from itinera.formats.live_log import FAILED, MAX_ACTION

_Number = Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]


class TurnLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A turn in a tour. Turn 0 begins it and has no answer; `end` leaves it; `replay` asks for an earlier turn."""

    tour: _Number
    turn: _Number
    action: Annotated[int, msgspec.Meta(ge=0, le=MAX_ACTION)] | None = None
    failed: Annotated[str, msgspec.Meta(max_length=2000)] | None = None
    end: bool = False
    replay: bool = False

    @property
    def answer(self) -> tuple[int, str]:
        """The answer as it is stored, with its reason."""
        return (FAILED, self.failed) if self.failed is not None else (self.action or 0, "")


class TurnHead(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to a turn: the requests of this many bytes follow. The last one is `act` unless the tour is done."""

    tour: int
    turn: int  # the turn of the next answer
    done: bool
    bytes: int
    action: int | None = None  # where `replay` was asked: what was answered to these requests


def encode_turns(lines: list[TurnLine]) -> bytes:
    """The body of a request."""
    return _encoder.encode_lines(lines)


def decode_replies(content: bytes) -> list[tuple[TurnHead, bytes]]:
    """The heads of a reply and the bytes of their requests; raises BadArgument for anything else."""
    found, at = [], 0
    while at < len(content):
        end = content.find(b"\n", at) + 1
        try:
            head = _head_decoder.decode(content[at : end or None])
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise BadArgument(f"The server does not answer like one of live phases: {error}.") from None
        found.append((head, content[end : end + head.bytes]))
        at = end + head.bytes
    return found


_encoder = msgspec.json.Encoder()
_head_decoder = msgspec.json.Decoder(TurnHead)
