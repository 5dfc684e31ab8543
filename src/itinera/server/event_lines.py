"""Events and their lines: each event contains the digest of the one before, so none can change unseen."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

FIRST = "0" * 64  # what the first event has for the digest of the one before


class Event(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something that happened to a challenge."""

    number: int
    at: datetime
    kind: str
    by: str
    about: dict[str, Any]
    previous: str

    @property
    def line(self) -> bytes:
        """Canonical JSON: equal events give equal bytes."""
        return msgspec.json.encode(self, order="deterministic")

    @property
    def digest(self) -> str:
        """SHA-256 of the line."""
        return hashlib.sha256(self.line).hexdigest()


def next_event(last: Event | None, kind: str, about: Mapping[str, Any], *, at: datetime, by: str) -> Event:
    """The event after the last one of a log."""
    number, previous = (0, FIRST) if last is None else (last.number + 1, last.digest)
    return Event(number, at, kind, by, dict(about), previous)
