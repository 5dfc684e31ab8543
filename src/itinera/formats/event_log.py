"""The public log of a challenge: a line of JSON per event, each with the digest of the line before.

Whoever keeps one digest of the log can tell that nothing before it was changed or left out. Once a day the log also
states the Merkle root of the entries of that day, so that one short digest, published anywhere, fixes all of them.
Start with `next_event` to write and `check_events` to verify.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import msgspec

from itinera.errors import BadArgument, BadFile, Fault
from itinera.formats.decoding import UNDECODABLE
from itinera.formats.io import FaultList, read_bytes

FIRST = "0" * 64  # what the first event has for the digest of the one before
LONGEST_LINE = 1 << 20  # bytes


class Event(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something that happened to a challenge."""

    number: int  # from 0
    at: datetime  # UTC, never before the event before
    kind: str
    by: str
    about: dict[str, Any]
    previous: str  # digest of the event before

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
    if at.utcoffset() is None or (last is not None and at < last.at):
        before = "" if last is None else f" and not before the event before, {last.at:%Y-%m-%d %H:%M:%S.%f}"
        raise BadArgument(f"The time of an event must have a time zone{before}; found {at}.")
    number, previous = (0, FIRST) if last is None else (last.number + 1, last.digest)
    return Event(number, at.astimezone(UTC), kind, by, dict(about), previous)


def encode_events(events: Iterable[Event]) -> bytes:
    """The log as a file."""
    return b"".join(event.line + b"\n" for event in events)


def read_events(path: str | Path) -> list[Event]:
    """The events of a log; raises BadFile, which names the first line that is wrong."""
    return check_events(read_bytes(Path(path)), str(path))


def check_events(data: bytes, source: str, *, head: str | None = None) -> list[Event]:
    """The events of a log after verification of its chain, its days and its secrets.

    head: the digest that the last line must have. Without it, a change of the last line cannot be noticed.
    Raises BadFile for the first line that is wrong.
    """
    faults = FaultList(source)
    lines = data.split(b"\n")
    if lines.pop() != b"":
        faults.append(Fault(f"line {len(lines) + 1}", "has no end.", _REMEDY))
        raise BadFile(source, faults)
    events = [_parse(line, number, source) for number, line in enumerate(lines, start=1)]
    _check_chain(events, lines, source, head)
    for number, problem in _content_faults(events):
        faults.append(Fault(f"line {number}", problem, _REMEDY))
    faults.raise_any()
    return events


_REMEDY = "The log was changed after it was written: ask the host for the original."


def _parse(line: bytes, number: int, source: str) -> Event:
    problem = ""
    try:
        if len(line) > LONGEST_LINE:
            raise msgspec.DecodeError(f"has more than {LONGEST_LINE} bytes")
        event = msgspec.json.decode(line, type=Event)
        if event.line == line and event.at.utcoffset() is not None:
            return event
        problem = "is not written as an event is."
    except UNDECODABLE as error:
        problem = f"is no event ({error})."
    raise BadFile(source, [Fault(f"line {number}", problem, _REMEDY)])


def _check_chain(events: Sequence[Event], lines: Sequence[bytes], source: str, head: str | None) -> None:
    """Raise BadFile for the first line that its neighbors contradict."""
    digests = [FIRST, *(hashlib.sha256(line).hexdigest() for line in lines)]
    expected = [*(event.previous for event in events), digests[-1] if head is None else head]
    broken = [i for i, (found, wanted) in enumerate(zip(digests, expected, strict=True)) if found != wanted]
    if broken:
        # Line i is what line i + 1 does not continue; if line i + 2 does not continue line i + 1 either, or there is
        # nothing before it that could be wrong, it is line i + 1 itself.
        first = broken[0]
        wrong = first + 1 if first + 1 in broken or first == 0 else first
        if not lines:
            raise BadFile(source, [Fault("", "has no events, but the board states some.", _REMEDY)])
        problem = "does not fit the lines around it: its digest is not the one that the log continues."
        raise BadFile(source, [Fault(f"line {min(wrong, len(lines))}", problem, _REMEDY)])
    for number, event in enumerate(events):
        if event.number != number:
            raise BadFile(source, [Fault(f"line {number + 1}", f"has the number {event.number}.", _REMEDY)])
        if number and event.at < events[number - 1].at:
            raise BadFile(source, [Fault(f"line {number + 1}", "is earlier than the line before.", _REMEDY)])


def _content_faults(events: Sequence[Event]) -> Iterable[tuple[int, str]]:
    """Line numbers and problems of days and secrets that do not agree with the rest of the log."""
    commitments: dict[str, str] = {}
    for event in events:
        about = event.about
        if event.kind == "season":
            name, committed = str(about.get("name")), about.get("commitment")
            if committed is not None and commitments.setdefault(name, str(committed)) != committed:
                yield event.number + 1, f"commits season {name!r} to another secret."
        elif event.kind == "reveal" and _commitment(about.get("secret")) != commitments.get(str(about.get("name")), ""):
            yield event.number + 1, "reveals a secret that the season was not committed to."
        elif event.kind == "day" and about != daily_digest(about.get("date", ""), events):
            yield event.number + 1, f"does not give the entries of {str(about.get('date'))[:20]}."
    for day in missing_days(events):
        yield len(events), f"comes after {day}, whose entries have no daily digest."


def _commitment(secret: Any) -> str | None:
    try:
        return hashlib.sha256(bytes.fromhex(secret)).hexdigest()
    except (TypeError, ValueError):
        return None


def daily_digest(day: date | str, events: Iterable[Event]) -> dict[str, Any]:
    """What the event "day" states: the date, the number of entries, and the Merkle root of their events."""
    name = day if isinstance(day, str) else day.isoformat()
    digests = [event.digest for event in events if event.kind == "entry" and event.at.date().isoformat() == name]
    return {"date": name, "entries": len(digests), "root": merkle_root(digests)}


def missing_days(events: Sequence[Event]) -> list[date]:
    """The days before that of the last event which have entries but no daily digest."""
    if not events:
        return []
    stated = {event.about.get("date") for event in events if event.kind == "day"}
    days = {event.at.date() for event in events if event.kind == "entry"}
    return sorted(day for day in days if day < events[-1].at.date() and day.isoformat() not in stated)


def merkle_root(digests: Sequence[str]) -> str:
    """The root of the Merkle tree over digests in hexadecimal, built as RFC 6962 builds it.

    >>> merkle_root([])[:16]  # the SHA-256 of nothing
    'e3b0c44298fc1c14'
    """
    if not digests:
        return hashlib.sha256(b"").hexdigest()
    level = [hashlib.sha256(b"\x00" + bytes.fromhex(digest)).digest() for digest in digests]
    while len(level) > 1:
        # Pairs from the left; a last one without a partner moves up unchanged, which gives RFC 6962's tree.
        pairs = [hashlib.sha256(b"\x01" + a + b).digest() for a, b in zip(level[::2], level[1::2], strict=False)]
        level = pairs + ([level[-1]] if len(level) % 2 else [])
    return level[0].hex()


def group_by_entry(events: Iterable[Event]) -> dict[str, list[Event]]:
    """The events about each entry, in order."""
    found: defaultdict[str, list[Event]] = defaultdict(list)
    for event in events:
        if isinstance(entry := event.about.get("entry"), str):
            found[entry].append(event)
    return dict(found)
