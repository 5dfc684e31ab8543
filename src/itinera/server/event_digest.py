"""The digest of an event."""

from __future__ import annotations

import hashlib
import json


def event_digest(*, previous: str, sequence: int, time: int, actor: str, kind: str, content: str) -> str:
    """SHA-256 of an event and of the digest before it."""
    fields = [previous, sequence, time, actor, kind, content]
    return hashlib.sha256(json.dumps(fields, separators=(",", ":"), ensure_ascii=False).encode()).hexdigest()
