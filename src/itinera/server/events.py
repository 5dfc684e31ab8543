"""The event log: rows that are only appended, each with the digest of the one before."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import Connection, insert, select, update

from itinera.formats.event_log import Event, daily_digest, next_event
from itinera.server.tables import chain, event


def append_event(db: Connection, kind: str, about: Mapping[str, Any], *, by: str, time: int) -> None:
    """Append an event to the log, in the transaction of what it is about; the first one of a day after the digest of
    the entries of the day before.

    The log is published: `about` and `by` contain no names, tokens or reasons, from which an anonymous team is known.

    It locks the end of the chain until the transaction ends, so it is the last statement of a transaction.
    """
    end = chain.c.id == 1
    locked = update(chain).where(end).values(number=chain.c.number)
    text = db.execute(locked.returning(chain.c.line)).scalar_one()
    last = msgspec.json.decode(text, type=Event) if text else None
    at = datetime.fromtimestamp(time / 1000, UTC)
    at = at if last is None else max(at, last.at)  # a clock that was set back does not turn the log around
    if last is not None and last.at.date() < at.date():
        digest = daily_digest(last.at.date(), _read_entries(db, last.at))
        if digest["entries"]:
            last = _write(db, next_event(last, "day", digest, at=at, by="server"))
    new = _write(db, next_event(last, kind, about, at=at, by=by))
    db.execute(update(chain).where(end).values(number=new.number + 1, line=new.line.decode()))


def read_events(db: Connection, *, kind: str | None = None) -> list[Event]:
    """All events, or those of a kind, in order."""
    found = select(event.c.line).order_by(event.c.number)
    if kind is not None:
        found = found.where(event.c.kind == kind)
    return [msgspec.json.decode(line, type=Event) for line in db.execute(found).scalars()]


def find_last_event(db: Connection, *, besides: str) -> int:
    """The number of the last event that is not of a kind; -1 if there is none."""
    found = select(event.c.number).where(event.c.kind != besides).order_by(event.c.number.desc()).limit(1)
    number = db.execute(found).scalar_one_or_none()
    return -1 if number is None else int(number)


def _read_entries(db: Connection, at: datetime) -> list[Event]:
    """The entries of the day of a time."""
    begin = at.replace(hour=0, minute=0, second=0, microsecond=0)
    of_day = event.c.time.between(_to_ms(begin), _to_ms(begin + timedelta(days=1)) - 1)
    found = select(event.c.line).where(event.c.kind == "entry", of_day).order_by(event.c.number)
    return [msgspec.json.decode(line, type=Event) for line in db.execute(found).scalars()]


def _write(db: Connection, new: Event) -> Event:
    values = {"number": new.number, "time": _to_ms(new.at), "kind": new.kind, "digest": new.digest}
    db.execute(insert(event).values(**values, line=new.line.decode()))
    return new


def _to_ms(at: datetime) -> int:
    return round(at.timestamp() * 1000)
