"""The event log: appended only, each row with the digest of the one before."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

from sqlalchemy import select

from itinera.formats.event_log import FIRST, check_events, daily_digest, encode_events
from itinera.server.events import append_event, read_events
from itinera.server.tables import event


def test_events_of_eight_processes_form_one_chain(open_store, store, clock):
    with store.read() as db:
        before = len(read_events(db))
    stores = [open_store() for _ in range(8)]

    def append(number):
        for step in range(5):
            with stores[number].write() as db:
                append_event(db, "test", {"step": step}, by=f"p{number}", time=clock())

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(append, range(8)))
    with store.read() as db:
        events = read_events(db)
        digests = list(db.execute(select(event.c.digest).order_by(event.c.number)).scalars())
    assert len(events) == before + 40
    assert [one.number for one in events] == list(range(len(events)))
    assert [one.previous for one in events] == [FIRST, *digests[:-1]]
    assert [one.digest for one in events] == digests


def test_a_clock_that_was_set_back_does_not_turn_the_log_around(store, clock):
    with store.write() as db:
        append_event(db, "test", {}, by="host", time=clock() - 3_600_000)
        events = read_events(db)
    assert [one.at for one in events] == sorted(one.at for one in events)
    assert events[-1].at == datetime.fromtimestamp(clock() / 1000, UTC)


def test_an_event_of_a_transaction_that_fails_is_none(store, clock):
    class Failure(Exception):
        pass

    with store.read() as db:
        before = read_events(db)
    try:
        with store.write() as db:
            append_event(db, "test", {}, by="host", time=clock())
            raise Failure
    except Failure:
        pass
    with store.read() as db:
        assert read_events(db) == before


def test_the_first_event_of_a_day_comes_after_the_digest_of_the_entries_of_the_day_before(store, clock):
    def append(kind, about):
        with store.write() as db:
            append_event(db, kind, about, by="team", time=clock())

    append("entry", {"entry": "a", "phase": "dev", "bundle": "0" * 64})
    clock.advance(seconds=86_400)
    append("test", {})
    clock.advance(seconds=86_400)
    append("test", {})
    with store.read() as db:
        events = read_events(db)
    assert [event.kind for event in events][-4:] == ["entry", "day", "test", "test"]  # no digest of a day without any
    assert events[-3].about == daily_digest("2026-09-21", events)
    assert events[-3].about["entries"] == 1
    assert check_events(encode_events(events), "log") == events
