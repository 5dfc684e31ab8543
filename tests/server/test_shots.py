"""The ledger of shots: limits hold against simultaneous submissions, and every shot is accounted for."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from sqlalchemy import delete, func, select, update

from itinera.server.entries import rerun_entry
from itinera.server.refusals import TooMany
from itinera.server.shots import (
    ShotCount,
    ShotLimits,
    count_shots,
    find_ledger_faults,
    grant_shots,
    return_shot,
    spend_shot,
)
from itinera.server.tables import entry, quota, shot
from submitting import add_team, submit

LIMITS = ShotLimits(per_day=2, total=3)
DAY = 24 * 60 * 60


def states(db):
    return list(db.execute(select(shot.c.state).order_by(shot.c.id)).scalars())


def left(db, team_id, time):
    today, total = count_shots(db, team_id=team_id, phase="test", limits=LIMITS, time=time)
    return today.left, total.left


def test_sixteen_clients_get_exactly_the_last_three_shots(open_store, store, clock):
    with store.write() as db:
        team_id = add_team(db)
        grant_shots(db, team_id=team_id, phase="test", shots=1, time=clock())  # 3 today, 4 in all
        submit(db, team_id, "the-first", time=clock() - DAY * 1000)
    stores = [open_store() for _ in range(16)]
    together = Barrier(16)

    def race(number):
        together.wait()
        try:
            with stores[number].write() as db:
                return submit(db, team_id, f"request-{number}", time=clock())
        except TooMany:
            return None

    with ThreadPoolExecutor(16) as pool:
        accepted = [found for found in pool.map(race, range(16)) if found]
    assert len(accepted) == 3
    with store.read() as db:
        assert states(db) == ["reserved"] * 4
        assert db.execute(select(func.count()).select_from(entry)).scalar_one() == 4
        assert left(db, team_id, clock()) == (0, 0)
        assert find_ledger_faults(db) == []


def test_sixteen_copies_of_one_request_make_one_entry(open_store, store, clock):
    with store.write() as db:
        team_id = add_team(db)
    stores = [open_store() for _ in range(16)]

    def repeat(number):
        with stores[number].write() as db:
            return submit(db, team_id, "the-same", time=clock())

    with ThreadPoolExecutor(16) as pool:
        assert len(set(pool.map(repeat, range(16)))) == 1
    with store.read() as db:
        assert states(db) == ["reserved"]


def test_a_day_ends_and_the_total_does_not(store, clock):
    with store.write() as db:
        team_id = add_team(db)
        submit(db, team_id, "request-1", time=clock())
        submit(db, team_id, "request-2", time=clock())
    today = r"today in phase test \(2 per day\). Submit after 2026-09-22 00:00 UTC"
    with pytest.raises(TooMany, match=today), store.write() as db:
        submit(db, team_id, "request-3", time=clock())
    with store.write() as db:
        assert left(db, team_id, clock()) == (0, 1)
        submit(db, team_id, "request-3", time=clock() + DAY * 1000)
    in_all = r"in phase test \(3 in all\). The host can grant more"
    with pytest.raises(TooMany, match=in_all), store.write() as db:
        submit(db, team_id, "request-4", time=clock() + DAY * 1000)
    with store.read() as db:
        assert find_ledger_faults(db) == []


def test_a_spent_shot_is_never_returned_and_a_returned_one_never_spent(store, clock):
    with store.write() as db:
        team_id = add_team(db)
        spent = submit(db, team_id, "request-1", time=clock())
        returned = submit(db, team_id, "request-2", time=clock())
        spend_shot(db, spent, clock())
        return_shot(db, spent, "too late", clock())
        return_shot(db, returned, "refused", clock())
        return_shot(db, returned, "again", clock())
        spend_shot(db, returned, clock())
        assert states(db) == ["spent", "returned"]
        assert left(db, team_id, clock()) == (1, 2)
        assert db.execute(select(shot.c.why).order_by(shot.c.id)).scalars().all() == ["scored", "refused"]
        assert find_ledger_faults(db) == []


def test_a_shot_returned_on_a_later_day_is_one_of_its_own_day(store, clock):
    with store.write() as db:
        team_id = add_team(db)
        submitted = submit(db, team_id, time=clock())
        return_shot(db, submitted, "failed", clock() + DAY * 1000)
        assert left(db, team_id, clock()) == (2, 3)
        assert find_ledger_faults(db) == []


def test_a_phase_without_limits_counts_all_the_same(store, clock):
    with store.write() as db:
        team_id = add_team(db)
        for number in range(5):
            submit(db, team_id, f"request-{number}", phase="dev", time=clock())
        found = count_shots(db, team_id=team_id, phase="dev", limits=ShotLimits(), time=clock())
    assert found == (ShotCount(5, 0, None), ShotCount(5, 0, None))


def test_a_rerun_costs_no_shot(store, clock):
    with store.write() as db:
        team_id = add_team(db)
        submitted = submit(db, team_id, time=clock())
        db.execute(update(entry.metadata.tables["judgement"]).values(state="scored"))
        spend_shot(db, submitted, clock())
        rerun_entry(db, submitted, time=clock())
        assert states(db) == ["spent"]
        assert left(db, team_id, clock()) == (1, 2)


@pytest.mark.parametrize(
    ("damage", "fault"),
    [
        (update(quota).where(quota.c.day == "").values(used=2), "day all: 2 used, but the ledger has 1."),
        (update(shot).values(state="returned"), "1 used, but the ledger has 0."),
        (delete(quota), "shots without a quota."),
        (delete(shot), "has no shot."),
    ],
    ids=["quota", "state", "no quota", "no shot"],
)
def test_a_wrong_sum_is_found(store, clock, damage, fault):
    with store.write() as db:
        submit(db, add_team(db), time=clock())
        db.execute(damage)
        assert fault in "\n".join(find_ledger_faults(db))
