"""The queue: each judgement ends once, lost leases return, and no team blocks the others."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

from itinera.server.entries import rerun_entry
from itinera.server.phases import list_phases
from itinera.server.queue import (
    LEASE_MS,
    expire_leases,
    find_places,
    finish_judgement,
    lease_judgement,
    refuse_judgement,
    release_judgement,
    renew_lease,
)
from itinera.server.refusals import Conflict
from itinera.server.shots import find_ledger_faults
from itinera.server.tables import event, judgement, shot
from submitting import VERDICT, add_team, submit


@pytest.fixture
def lease(store, clock):
    """Leases the next judgement to a worker that has the rules of the server."""

    def take(worker="w1", using=store):
        with using.write() as db:
            phases = {one.name: one.digest for one in list_phases(db, clock())}
            return lease_judgement(db, worker=worker, phases=phases, time=clock())

    return take


@pytest.fixture
def entry_id(store, clock):
    with store.write() as db:
        return submit(db, add_team(db), time=clock())


def only(store, table=judgement):
    with store.read() as db:
        return db.execute(select(table)).one()


def kinds(store):
    with store.read() as db:
        return list(db.execute(select(event.c.kind).order_by(event.c.number)).scalars())


def test_a_score_is_written_once_and_spends_the_shot(store, clock, lease, entry_id):
    taken = lease()
    assert (taken.entry_id, taken.attempt, taken.phase, taken.until) == (entry_id, 1, "test", clock() + LEASE_MS)
    assert lease() is None
    with store.write() as db:
        assert finish_judgement(db, taken.judgement_id, 1, VERDICT, rows=None, time=clock())
    with store.write() as db:
        assert not finish_judgement(db, taken.judgement_id, 1, VERDICT, rows=None, time=clock())
        assert not refuse_judgement(db, taken.judgement_id, 1, "no", time=clock())
        assert not release_judgement(db, taken.judgement_id, 1, "no", time=clock())
        assert not renew_lease(db, taken.judgement_id, 1, time=clock())
    assert (only(store).state, only(store).badge, only(store, shot).state) == ("scored", "replayed", "spent")
    assert kinds(store).count("judgement") == 1


def test_a_renewed_lease_is_kept_and_another_returns_to_the_queue(store, clock, lease, entry_id):
    taken = lease()
    clock.advance(seconds=50)
    with store.write() as db:
        assert renew_lease(db, taken.judgement_id, 1, time=clock())
    clock.advance(seconds=50)
    assert expire_leases(store) == 0
    clock.advance(seconds=11)
    assert expire_leases(store) == 1
    assert (only(store).state, only(store).losses) == ("queued", 1)


def test_a_late_worker_changes_nothing(store, clock, lease, entry_id):
    slow = lease("slow")
    clock.advance(seconds=61)
    assert expire_leases(store) == 1
    fast = lease("fast")
    assert fast.attempt == 2
    with store.write() as db:
        for write in (
            finish_judgement(db, slow.judgement_id, 1, VERDICT, rows=None, time=clock()),
            refuse_judgement(db, slow.judgement_id, 1, "no", time=clock()),
            release_judgement(db, slow.judgement_id, 1, "no", time=clock()),
            renew_lease(db, slow.judgement_id, 1, time=clock()),
        ):
            assert write is False
    assert (only(store).state, only(store).worker, only(store, shot).state) == ("running", "fast", "reserved")
    with store.write() as db:
        assert finish_judgement(db, fast.judgement_id, 2, VERDICT, rows=None, time=clock())


def test_the_third_loss_fails_the_entry_with_its_reason_and_returns_the_shot(store, clock, lease, entry_id):
    for losses in (1, 2):
        lease(f"w{losses}")
        clock.advance(seconds=61)
        assert expire_leases(store) == 1
        assert (only(store).state, only(store).losses) == ("queued", losses)
    lease("w3")
    clock.advance(seconds=61)
    assert expire_leases(store) == 1
    assert only(store).state == "failed"
    assert only(store).reason == (
        "3 attempts to judge the entry ended without a result. The last: worker w3 did not renew its lease."
    )
    assert (only(store, shot).state, only(store, shot).why) == ("returned", "failed")
    assert lease() is None
    assert kinds(store)[-1] == "fail"
    with store.read() as db:
        assert find_ledger_faults(db) == []


def test_an_entry_with_faults_of_its_own_is_refused_at_once(store, clock, lease, entry_id):
    taken = lease()
    with store.write() as db:
        assert refuse_judgement(db, taken.judgement_id, 1, "line 3: no\x1b[2J actions.", time=clock())
    assert (only(store).state, only(store).reason) == ("refused", "line 3: no\\x1b[2J actions.")
    assert only(store, shot).state == "returned"


def test_a_worker_with_trouble_of_its_own_gives_the_entry_back(store, clock, lease, entry_id):
    taken = lease()
    with store.write() as db:
        assert release_judgement(db, taken.judgement_id, 1, "disk full", time=clock())
    assert (only(store).state, only(store).losses, only(store).reason) == ("queued", 1, "disk full")
    assert lease().attempt == 2


def test_the_team_with_the_fewest_running_judgements_is_next(store, clock, lease):
    with store.write() as db:
        red, blue = add_team(db, "Red"), add_team(db, "Blue")
        reds = [submit(db, red, f"request-{n}", phase="dev", time=clock() + n) for n in range(4)]
        blues = [submit(db, blue, f"request-{n}", phase="dev", time=clock() + 10 + n) for n in range(2)]
    with store.read() as db:
        found = find_places(db, reds + blues, time=clock())
    places = {name: one.place for name, one in found.items()}
    order = [lease().entry_id for _ in range(6)]
    assert order == [reds[0], blues[0], reds[1], blues[1], reds[2], reds[3]]
    assert sorted(places, key=places.get) == order  # what the status page has promised
    assert sorted(places.values()) == [1, 2, 3, 4, 5, 6]


def test_the_place_of_a_judgement_that_does_not_wait_is_none(store, clock, lease, entry_id):
    lease()
    with store.read() as db:
        assert find_places(db, [entry_id], time=clock()) == {}


def test_the_expected_time_follows_the_latest_judgements(store, clock, lease):
    with store.write() as db:
        team_id = add_team(db)
        names = [submit(db, team_id, f"request-{n}", phase="dev", time=clock() + n) for n in range(4)]
        assert find_places(db, names, time=clock())[names[3]].seconds is None
    for _ in range(2):
        taken = lease()
        clock.advance(seconds=30)
        with store.write() as db:
            finish_judgement(db, taken.judgement_id, taken.attempt, VERDICT, rows=None, time=clock())
    with store.read() as db:
        assert find_places(db, names, time=clock())[names[3]].seconds == pytest.approx(60.0)


def test_a_worker_with_other_rules_gets_nothing(store, clock, entry_id):
    with store.write() as db:
        assert lease_judgement(db, worker="w", phases={}, time=clock()) is None
        assert lease_judgement(db, worker="w", phases={"test": "0" * 64}, time=clock()) is None


def test_eight_workers_lease_each_judgement_once(open_store, store, clock, lease):
    with store.write() as db:
        team_id = add_team(db)
        names = {submit(db, team_id, f"request-{n}", phase="dev", time=clock()) for n in range(20)}
    stores = [open_store() for _ in range(8)]

    def work(number):
        found = []
        while (taken := lease(f"w{number}", stores[number])) is not None:
            found.append(taken.entry_id)
        return found

    with ThreadPoolExecutor(8) as pool:
        leased = [name for found in pool.map(work, range(8)) for name in found]
    # On PostgreSQL a worker may leave while others still hold the last rows, but nothing is leased twice.
    assert len(leased) == len(set(leased))
    assert set(leased) <= names
    assert lease() is None
    assert len(leased) == 20


def test_a_rerun_makes_a_new_judgement_beside_the_old_one(store, clock, lease, entry_id):
    with pytest.raises(Conflict, match="is being judged already"), store.write() as db:
        rerun_entry(db, entry_id, time=clock())
    taken = lease()
    with store.write() as db:
        finish_judgement(db, taken.judgement_id, 1, VERDICT, rows=None, time=clock())
        rerun_entry(db, entry_id, time=clock())
    assert lease().entry_id == entry_id
    with store.read() as db:
        found = db.execute(select(judgement.c.number, judgement.c.state).order_by(judgement.c.number)).all()
    assert [tuple(row) for row in found] == [(1, "scored"), (2, "running")]


@pytest.mark.parametrize("jump", [-86_400, 86_400], ids=["back", "forward"])
def test_a_jump_of_the_clock_costs_at_most_one_lease(store, clock, lease, entry_id, jump):
    taken = lease()
    clock.advance(seconds=jump)
    lost = expire_leases(store)
    assert lost == (jump > 0)
    taken = taken if not lost else lease()
    with store.write() as db:
        assert renew_lease(db, taken.judgement_id, taken.attempt, time=clock())
        assert finish_judgement(db, taken.judgement_id, taken.attempt, VERDICT, rows=None, time=clock())
    assert only(store).state == "scored"
