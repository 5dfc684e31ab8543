"""The chained log: what is written is read, and whatever is changed, left out or added is found, by its line."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from itinera.errors import BadArgument, BadFile
from itinera.formats.event_log import (
    FIRST,
    Event,
    check_events,
    daily_digest,
    encode_events,
    merkle_root,
    missing_days,
    next_event,
)

DAY = datetime(2026, 11, 19, 12, 0, tzinfo=UTC)
SECRET = bytes(range(32))
COMMITMENT = hashlib.sha256(SECRET).hexdigest()


def grow(*events: tuple[str, dict, int]) -> list[Event]:
    """A log of kinds, contents and hours after noon."""
    log: list[Event] = []
    for kind, about, hours in events:
        at = DAY + timedelta(hours=hours)
        log.append(next_event(log[-1] if log else None, kind, about, at=at, by="host"))
    return log


def a_log() -> list[Event]:
    log = grow(
        ("season", {"name": "May", "commitment": COMMITMENT}, 0),
        ("entry", {"entry": "a", "bundle": "11"}, 1),
        ("entry", {"entry": "b", "bundle": "22"}, 2),
    )
    day = daily_digest("2026-11-19", log)
    return [
        *log,
        next_event(log[-1], "day", day, at=DAY + timedelta(hours=20), by="host"),
    ]


def fault(data: bytes, head: str | None = None) -> str:
    with pytest.raises(BadFile) as raised:
        check_events(data, "log", head=head)
    (found,) = raised.value.faults
    return found.where


def test_a_line_is_canonical_and_chained():
    first, second = grow(("season", {"b": 1, "a": "é"}, 0), ("reveal", {}, 1))
    assert first.line.decode() == (
        '{"number":0,"at":"2026-11-19T12:00:00Z","kind":"season","by":"host","about":{"a":"é","b":1},'
        f'"previous":"{FIRST}"}}'
    )
    assert first.digest == hashlib.sha256(first.line).hexdigest() == second.previous
    assert (first.number, second.number) == (0, 1)


def test_times_have_zones_and_do_not_go_back():
    log = a_log()
    with pytest.raises(BadArgument, match=r"not before the event before, 2026-11-20 08:00:00"):
        next_event(log[-1], "entry", {}, at=DAY, by="host")
    with pytest.raises(BadArgument, match="must have a time zone"):
        next_event(None, "entry", {}, at=datetime(2026, 1, 1), by="host")
    east = next_event(None, "entry", {}, at=DAY.astimezone(timezone(timedelta(hours=5))), by="host")
    assert east.line.count(b"2026-11-19T12:00:00Z") == 1


def test_a_log_is_read_as_it_was_written():
    log = a_log()
    assert check_events(encode_events(log), "log", head=log[-1].digest) == log
    assert check_events(b"", "log") == []


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("field", ["about", "by", "at", "previous", "number"])
def test_a_changed_line_is_named(number: int, field: str):
    log = a_log()
    lines = [json.loads(event.line) for event in log]
    lines[number][field] = {
        "about": {"entry": "c"},
        "by": "somebody",
        "at": "2026-11-19T12:00:01Z",
        "previous": "1" * 64,
        "number": 17,
    }[field]
    text = b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)
    assert text.splitlines()[(number + 1) % 4] == log[(number + 1) % 4].line  # only one line differs
    assert fault(text, log[-1].digest) == f"line {number + 1}"


def test_lines_left_out_swapped_or_added_are_found():
    log = a_log()
    lines = [event.line + b"\n" for event in log]
    head = log[-1].digest
    assert fault(b"".join(lines[1:]), head) == "line 1"
    assert fault(b"".join([lines[0], *lines[2:]]), head) == "line 1"  # what follows it does not continue it
    assert fault(b"".join(lines[:3]), head) == "line 3"
    assert fault(b"".join([lines[0], lines[2], lines[1], lines[3]]), head) in ("line 2", "line 3")
    more = next_event(log[-1], "note", {}, at=log[-1].at, by="x").line + b"\n"
    assert fault(b"".join([*lines, more]), head) == "line 5"
    assert fault(b"", head) == ""
    assert fault(b"".join(lines)[:-1], head) == "line 4"


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_no_byte_can_change_unseen(data: st.DataObject):
    log = a_log()
    text = bytearray(encode_events(log))
    at = data.draw(st.integers(0, len(text) - 1))
    line = text[:at].count(b"\n") + 1
    text[at] ^= data.draw(st.integers(1, 255))
    assert fault(bytes(text), log[-1].digest) == f"line {line}"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"[" * 100_000, "is no event"),
        (b'{"number":0}', "is no event"),
        (b'{"about": {}}', "is no event"),
        (b" " * (1 << 21), "has more than"),
        (b"\xff", "is no event"),
        (b"", "is no event"),
    ],
)
def test_what_is_no_event_is_named(line: bytes, problem: str):
    with pytest.raises(BadFile, match=f"log: line 5: .*{problem}"):
        check_events(encode_events(a_log()) + line + b"\n", "log")


def test_a_time_without_a_zone_is_no_event():
    line = a_log()[0].line.replace(b"00:00Z", b"00:00")
    with pytest.raises(BadFile, match="line 1"):
        check_events(line + b"\n", "log")


def test_a_daily_digest_that_drops_an_entry_is_found():
    log = a_log()[:3]
    short = daily_digest("2026-11-19", [*log[:1], log[2]])
    log.append(next_event(log[-1], "day", short, at=DAY + timedelta(hours=20), by="host"))
    assert fault(encode_events(log)) == "line 4"


def test_days_without_a_digest_are_found():
    log = grow(("entry", {"entry": "a"}, 0), ("entry", {"entry": "b"}, 24), ("entry", {"entry": "c"}, 25))
    assert missing_days(log) == [date(2026, 11, 19)]  # the last day may go on
    assert missing_days([]) == []
    assert fault(encode_events(log)) == "line 3"
    log.append(next_event(log[-1], "day", daily_digest(date(2026, 11, 19), log), at=log[-1].at, by="host"))
    assert missing_days(log) == []
    assert len(check_events(encode_events(log), "log")) == 4


@pytest.mark.parametrize(
    ("name", "secret", "right"),
    [
        ("May", SECRET.hex(), True),
        ("May", bytes(32).hex(), False),
        ("June", SECRET.hex(), False),
        ("May", "no hex", False),
        ("May", None, False),
        ("May", 7, False),
    ],
)
def test_only_the_committed_secret_can_be_revealed(name: str, secret: object, right: bool):
    log = grow(
        ("season", {"name": "May", "commitment": COMMITMENT}, 0), ("reveal", {"name": name, "secret": secret}, 1)
    )
    if right:
        assert check_events(encode_events(log), "log") == log
    else:
        assert fault(encode_events(log)) == "line 2"


def test_a_season_cannot_be_committed_twice():
    log = grow(*(("season", {"name": "May", "commitment": text * 64}, 0) for text in "aab"))
    assert fault(encode_events(log)) == "line 3"


def slow_root(leaves: list[bytes]) -> bytes:
    """RFC 6962, section 2.1, as it is written there."""
    if len(leaves) == 1:
        return hashlib.sha256(b"\x00" + leaves[0]).digest()
    k = 1
    while 2 * k < len(leaves):
        k *= 2
    return hashlib.sha256(b"\x01" + slow_root(leaves[:k]) + slow_root(leaves[k:])).digest()


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16, 17])
def test_the_root_is_that_of_rfc_6962(count: int):
    leaves = [hashlib.sha256(bytes([i])).digest() for i in range(count)]
    assert merkle_root([leaf.hex() for leaf in leaves]) == slow_root(leaves).hex()
