"""The event log: rows that are only appended, each with the digest of the one before."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
from sqlalchemy import Connection, insert, select, update

from itinera.server.event_lines import Event, next_event
from itinera.server.tables import chain, event


def append_event(db: Connection, kind: str, about: Mapping[str, Any], *, by: str, time: int) -> None:
    """Append an event to the log, in the transaction of what it is about.

    The log is published: `about` and `by` contain no names, tokens or reasons, from which an anonymous team is known.

    It locks the end of the chain until the transaction ends, so it is the last statement of a transaction.
    """
    end = chain.c.id == 1
    grown = update(chain).where(end).values(number=chain.c.number + 1)
    text = db.execute(grown.returning(chain.c.line)).scalar_one()
    last = msgspec.json.decode(text, type=Event) if text else None
    at = datetime.fromtimestamp(time / 1000, UTC)
    at = at if last is None else max(at, last.at)  # a clock that was set back does not turn the log around
    new = next_event(last, kind, about, at=at, by=by)
    line = new.line.decode()
    db.execute(insert(event).values(number=new.number, time=time, kind=kind, line=line, digest=new.digest))
    db.execute(update(chain).where(end).values(line=line))


def read_events(db: Connection) -> list[Event]:
    """All events, in order."""
    lines = db.execute(select(event.c.line).order_by(event.c.number)).scalars()
    return [msgspec.json.decode(line, type=Event) for line in lines]
