"""The ledger of shots: reserved at submission, spent when a score is written, returned otherwise.

A reservation is a conditional update of two rows of `quota`, never a count followed by an insertion, so simultaneous
submissions cannot exceed a limit. Both rows change only together with the ledger.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import ColumnElement, Connection, and_, case, func, insert, select, true, update

from itinera.server.refusals import TooMany
from itinera.server.store import insert_missing
from itinera.server.tables import entry, quota, shot

ALL_DAYS = ""


@dataclass(frozen=True)
class ShotLimits:
    """How often a team may submit to a phase; None: as often as it likes."""

    per_day: int | None = None
    total: int | None = None


@dataclass(frozen=True)
class ShotCount:
    """What a team has used of a limit, and what is left; `left` is None without a limit."""

    used: int
    granted: int
    left: int | None


def utc_day(time: int) -> str:
    """The day of a time, by UTC.

    >>> utc_day(1_767_225_600_000)
    '2026-01-01'
    """
    return datetime.fromtimestamp(time / 1000, UTC).strftime("%Y-%m-%d")


def next_day(time: int) -> datetime:
    """When the shots of a day are there again: midnight, UTC."""
    day = datetime.fromtimestamp(time / 1000, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return day + timedelta(days=1)


def reserve_shot(db: Connection, *, team_id: int, phase: str, entry_id: str, limits: ShotLimits, time: int) -> None:
    """Take a shot for an entry, or raise TooMany."""
    day = utc_day(time)
    _ensure_quota(db, team_id, phase, day)
    if not _take(db, team_id, phase, ALL_DAYS, limits.total):
        raise TooMany(f"No shots are left in phase {phase} ({limits.total} in all). The host can grant more.")
    if not _take(db, team_id, phase, day, limits.per_day):
        when = next_day(time).strftime("%Y-%m-%d %H:%M UTC")
        raise TooMany(f"No shots are left today in phase {phase} ({limits.per_day} per day). Submit after {when}.")
    row = {"team_id": team_id, "phase": phase, "entry_id": entry_id, "day": day, "state": "reserved", "created": time}
    db.execute(insert(shot).values(**row))


def spend_shot(db: Connection, entry_id: str, time: int) -> None:
    """The entry has a score: its reserved shot is spent. Changes nothing if it is settled already."""
    reserved = and_(shot.c.entry_id == entry_id, shot.c.state == "reserved")
    db.execute(update(shot).where(reserved).values(state="spent", settled=time, why="scored"))


def return_shot(db: Connection, entry_id: str, why: str, time: int) -> None:
    """The entry gets no score: its reserved shot is the team's again. Changes nothing if it is settled already."""
    reserved = and_(shot.c.entry_id == entry_id, shot.c.state == "reserved")
    settled = update(shot).where(reserved).values(state="returned", settled=time, why=why)
    row = db.execute(settled.returning(shot.c.team_id, shot.c.phase, shot.c.day)).one_or_none()
    if row is None:
        return
    for day in (ALL_DAYS, row.day):
        db.execute(update(quota).where(_same(row.team_id, row.phase, day)).values(used=quota.c.used - 1))


def grant_shots(db: Connection, *, team_id: int, phase: str, shots: int, time: int) -> None:
    """Let a team submit more often than the limits allow: today, and in all."""
    day = utc_day(time)
    _ensure_quota(db, team_id, phase, day)
    for one in (ALL_DAYS, day):
        db.execute(update(quota).where(_same(team_id, phase, one)).values(granted=quota.c.granted + shots))


def count_shots(
    db: Connection, *, team_id: int, phase: str, limits: ShotLimits, time: int
) -> tuple[ShotCount, ShotCount]:
    """What a team has used and has left: today, and in all."""
    found = []
    for day, limit in ((utc_day(time), limits.per_day), (ALL_DAYS, limits.total)):
        row = db.execute(select(quota.c.used, quota.c.granted).where(_same(team_id, phase, day))).one_or_none()
        used, granted = (0, 0) if row is None else row
        found.append(ShotCount(used, granted, None if limit is None else max(0, limit + granted - used)))
    return found[0], found[1]


def find_ledger_faults(db: Connection) -> list[str]:
    """Where the ledger, the quotas and the entries contradict each other; empty if all sums are right."""
    counted: dict[tuple[int, str, str], int] = {}
    taken = case((shot.c.state == "returned", 0), else_=1)
    sums = select(shot.c.team_id, shot.c.phase, shot.c.day, func.sum(taken)).group_by(
        shot.c.team_id, shot.c.phase, shot.c.day
    )
    for team_id, phase, day, used in db.execute(sums):
        for one in (day, ALL_DAYS):
            counted[team_id, phase, one] = counted.get((team_id, phase, one), 0) + used
    faults = [
        f"team {row.team_id}, phase {row.phase}, day {row.day or 'all'}: {row.used} used, but the ledger has {ledger}."
        for row in db.execute(select(quota))
        if (ledger := counted.pop((row.team_id, row.phase, row.day), 0)) != row.used
    ]
    faults += [f"team {one[0]}, phase {one[1]}: shots without a quota." for one, used in counted.items() if used]
    without = select(entry.c.id).outerjoin(shot, shot.c.entry_id == entry.c.id).where(shot.c.id.is_(None))
    return faults + [f"entry {name}: has no shot." for name in db.execute(without).scalars()]


def _ensure_quota(db: Connection, team_id: int, phase: str, day: str) -> None:
    for one in (ALL_DAYS, day):
        insert_missing(db, quota, {"team_id": team_id, "phase": phase, "day": one, "used": 0, "granted": 0})


def _take(db: Connection, team_id: int, phase: str, day: str, limit: int | None) -> bool:
    free = true() if limit is None else quota.c.used < limit + quota.c.granted
    taken = update(quota).where(_same(team_id, phase, day), free).values(used=quota.c.used + 1)
    return db.execute(taken).rowcount == 1


def _same(team_id: int, phase: str, day: str) -> ColumnElement[bool]:
    return and_(quota.c.team_id == team_id, quota.c.phase == phase, quota.c.day == day)
