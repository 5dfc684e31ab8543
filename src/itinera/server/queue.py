"""The queue of judgements: leases with heartbeats, and a fence around every write of a worker.

queued → running → scored, refused or failed. A worker that does not renew its lease in time loses it: the judgement
returns to the queue, and the third loss fails it. Every write names the attempt that the lease began, so a worker that
comes back late changes nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, Select, and_, func, select, update

from itinera.errors import escape_controls, shorten
from itinera.server.events import append_event
from itinera.server.shots import return_shot, spend_shot
from itinera.server.store import Store
from itinera.server.tables import entry, judgement, phase
from itinera.server.verdicts import Verdict, encode_verdict

LEASE_MS = 60_000
MAX_LOSSES = 3
LONGEST_REASON = 4000


@dataclass(frozen=True)
class Lease:
    """A judgement that a worker has until `until`, unless it renews."""

    judgement_id: int
    attempt: int
    entry_id: str
    phase: str
    bundle: str
    until: int


@dataclass(frozen=True)
class QueuePlace:
    """Where a waiting judgement is: its place (1 is next), and seconds that it may take, if that can be estimated."""

    place: int
    seconds: float | None


def lease_judgement(
    db: Connection, *, worker: str, phases: Mapping[str, str], time: int, lease_ms: int = LEASE_MS
) -> Lease | None:
    """The next judgement for a worker: of the team with the fewest running ones, then the oldest.

    phases: the digest of the rules that the worker has of each phase; phases with other rules are not its business.
    """
    known = [row.name for row in db.execute(select(phase.c.name, phase.c.digest)) if phases.get(row.name) == row.digest]
    running = (
        select(entry.c.team_id, func.count().label("jobs"))
        .join(judgement, judgement.c.entry_id == entry.c.id)
        .where(judgement.c.state == "running")
        .group_by(entry.c.team_id)
        .subquery()
    )
    next_one = (
        select(judgement.c.id)
        .join(entry, entry.c.id == judgement.c.entry_id)
        .outerjoin(running, running.c.team_id == entry.c.team_id)
        .where(judgement.c.state == "queued", entry.c.phase.in_(known))
        .order_by(func.coalesce(running.c.jobs, 0), judgement.c.queued, judgement.c.id)
        .limit(1)
        .with_for_update(of=judgement, skip_locked=True)
    )
    found = db.execute(next_one).scalar_one_or_none()
    if found is None:
        return None
    taken = update(judgement).where(judgement.c.id == found, judgement.c.state == "queued")
    taken = taken.values(
        state="running", attempt=judgement.c.attempt + 1, worker=worker[:80], leased=time, lease_until=time + lease_ms
    )
    row = db.execute(taken.returning(judgement.c.attempt, judgement.c.entry_id)).one()
    of = db.execute(select(entry.c.phase, entry.c.bundle).where(entry.c.id == row.entry_id)).one()
    return Lease(found, row.attempt, row.entry_id, of.phase, of.bundle, time + lease_ms)


def renew_lease(db: Connection, judgement_id: int, attempt: int, *, time: int, lease_ms: int = LEASE_MS) -> bool:
    """Keep a lease for longer; False if it was lost."""
    kept = update(judgement).where(_has_lease(judgement_id, attempt)).values(lease_until=time + lease_ms)
    return db.execute(kept).rowcount == 1


def finish_judgement(
    db: Connection, judgement_id: int, attempt: int, verdict: Verdict, *, rows: str | None, time: int
) -> bool:
    """Write the scores of a judgement and spend the shot; False, and nothing is written, if the lease was lost."""
    totals = encode_verdict(verdict)
    values = {"fingerprint": verdict.fingerprint, "badge": verdict.badge, "totals": totals, "rows": rows}
    row = _settle(db, judgement_id, attempt, state="scored", time=time, **values)
    if row is None:
        return False
    spend_shot(db, row[0], time)
    about = {"entry": row[0], "judgement": row[1], "badge": verdict.badge, "fingerprint": verdict.fingerprint}
    about |= {"rows": rows, "totals": hashlib.sha256(totals.encode()).hexdigest()}
    append_event(db, "judgement", about, by="worker", time=time)
    return True


def refuse_judgement(db: Connection, judgement_id: int, attempt: int, reason: str, *, time: int) -> bool:
    """The entry cannot be scored, by its own faults: the shot returns to the team. False if the lease was lost."""
    row = _settle(db, judgement_id, attempt, state="refused", time=time, reason=_plain(reason))
    if row is None:
        return False
    return_shot(db, row[0], "refused", time)
    append_event(db, "refuse", {"entry": row[0], "judgement": row[1]}, by="worker", time=time)
    return True


def release_judgement(db: Connection, judgement_id: int, attempt: int, reason: str, *, time: int) -> bool:
    """Count a loss: back to the queue, or failed with this reason if it is the third. False if the lease was lost."""
    losses = select(judgement.c.losses).where(_has_lease(judgement_id, attempt)).with_for_update()
    found = db.execute(losses).scalar_one_or_none()
    if found is None:
        return False
    if found + 1 < MAX_LOSSES:
        again = {"state": "queued", "losses": found + 1, "lease_until": None, "reason": _plain(reason)}
        db.execute(update(judgement).where(_has_lease(judgement_id, attempt)).values(**again))
        return True
    why = f"{MAX_LOSSES} attempts to judge the entry ended without a result. The last: {_plain(reason)}"
    row = _settle(db, judgement_id, attempt, state="failed", time=time, losses=found + 1, reason=why)
    assert row is not None
    return_shot(db, row[0], "failed", time)
    append_event(db, "fail", {"entry": row[0], "judgement": row[1]}, by="worker", time=time)
    return True


def expire_leases(store: Store) -> int:
    """Take back every lease that was not renewed in time; the number of them."""
    time = store.clock()
    with store.read() as db:
        late = select(judgement.c.id, judgement.c.attempt, judgement.c.worker)
        found = db.execute(late.where(judgement.c.state == "running", judgement.c.lease_until < time)).all()
    expired = 0
    for row in found:  # a transaction each, because each ends with the lock of the event chain
        with store.write() as db:
            renewed = select(judgement.c.id).where(_has_lease(row.id, row.attempt), judgement.c.lease_until >= time)
            if db.execute(renewed).first() is None:
                reason = f"worker {row.worker} did not renew its lease."
                expired += release_judgement(db, row.id, row.attempt, reason, time=time)
    return expired


def find_places(db: Connection, entry_ids: Collection[str], *, time: int) -> dict[str, QueuePlace]:
    """The places in the queue of the entries that wait; the others are left out."""
    order = _fair_order().subquery()
    place = func.row_number().over(order_by=(order.c.turn, order.c.queued, order.c.id)).label("place")
    ranked = select(order.c.entry_id, place).subquery()
    wanted = select(ranked.c.entry_id, ranked.c.place).where(ranked.c.entry_id.in_(entry_ids))
    places = {row.entry_id: row.place for row in db.execute(wanted)} if entry_ids else {}
    duration, workers = measure_workers(db, time) if places else (None, 0)

    def estimate(number: int) -> float | None:
        return None if duration is None or not workers else round(number * duration / workers, 1)

    return {name: QueuePlace(number, estimate(number)) for name, number in places.items()}


def measure_workers(db: Connection, time: int, *, window_ms: int = 600_000) -> tuple[float | None, int]:
    """The mean seconds of the latest judgements, and the workers that were active in the last ten minutes."""
    ended = judgement.c.finished.is_not(None) & judgement.c.leased.is_not(None)
    latest = (
        select((judgement.c.finished - judgement.c.leased).label("taken"))
        .where(ended)
        .order_by(judgement.c.finished.desc())
        .limit(20)
        .subquery()
    )
    mean = db.execute(select(func.avg(latest.c.taken))).scalar_one()
    active = select(func.count(judgement.c.worker.distinct())).where(judgement.c.leased >= time - window_ms)
    return None if mean is None else float(mean) / 1000, db.execute(active).scalar_one()


def _fair_order() -> Select[tuple[int, int, int, str]]:
    """The waiting judgements with the turn in which each is leased, by fewest running of its team and then age."""
    running = (
        select(entry.c.team_id, func.count().label("jobs"))
        .join(judgement, judgement.c.entry_id == entry.c.id)
        .where(judgement.c.state == "running")
        .group_by(entry.c.team_id)
        .subquery()
    )
    rank = func.row_number().over(partition_by=entry.c.team_id, order_by=(judgement.c.queued, judgement.c.id))
    return (
        select(
            (rank + func.coalesce(running.c.jobs, 0)).label("turn"),
            judgement.c.queued,
            judgement.c.id,
            judgement.c.entry_id,
        )
        .join(entry, entry.c.id == judgement.c.entry_id)
        .outerjoin(running, running.c.team_id == entry.c.team_id)
        .where(judgement.c.state == "queued")
    )


def _settle(db: Connection, judgement_id: int, attempt: int, *, time: int, **values: object) -> tuple[str, int] | None:
    """End a judgement that this attempt still holds; its entry and number, or None if it was lost."""
    ended = update(judgement).where(_has_lease(judgement_id, attempt)).values(finished=time, lease_until=None, **values)
    row = db.execute(ended.returning(judgement.c.entry_id, judgement.c.number)).one_or_none()
    return None if row is None else (row.entry_id, row.number)


def _has_lease(judgement_id: int, attempt: int) -> ColumnElement[bool]:
    return and_(judgement.c.id == judgement_id, judgement.c.attempt == attempt, judgement.c.state == "running")


def _plain(reason: str) -> str:
    return escape_controls(shorten(reason, LONGEST_REASON))
