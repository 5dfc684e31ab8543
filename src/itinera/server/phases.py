"""The phases of a challenge in the database: when they are open, and what they allow."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import Connection, Row, insert, select, update

from itinera.formats.hosted_challenge import ChallengePhase, HostedChallenge
from itinera.server.events import append_event
from itinera.server.refusals import Forbidden, NotFound
from itinera.server.shots import ShotLimits
from itinera.server.tables import phase, season


@dataclass(frozen=True)
class StoredPhase:
    """A phase as the server applies it now."""

    name: str
    digest: str
    is_open: bool
    has_closed: bool
    opens: int | None
    closes: int | None
    limits: ShotLimits
    show: Literal["rows", "totals"]
    reveal: Literal["always", "closed"]
    max_bytes: int  # of an entry
    rules: dict[str, object]

    @property
    def is_live(self) -> bool:
        """Whether agents act in the host's simulator, instead of teams sending files."""
        return self.rules.get("kind") == "live"

    def require_files(self) -> None:
        """Raise Forbidden for a live phase."""
        if self.is_live:
            raise Forbidden(f"Phase {self.name} is live: run your agent with itinera run --challenge.")

    def require_open(self) -> None:
        """Raise Forbidden unless teams may submit now."""
        if not self.is_open:
            state = "has closed" if self.has_closed else "is not open yet"
            raise Forbidden(f"Phase {self.name} {state}.")


def store_challenge(db: Connection, challenge: HostedChallenge, *, time: int) -> None:
    """Write the phases of the challenge file; those of an earlier file stay, closed, with their entries."""
    row = db.execute(select(season)).first()
    values = {"name": challenge.name, "commitment": challenge.commitment}
    if row is None:
        found = db.execute(insert(season).values(**values, created=time).returning(season.c.id)).scalar_one()
    else:
        found = row.id
        db.execute(update(season).values(**values))
    stored = {one.name: one for one in db.execute(select(phase))}
    changed = []
    for position, one in enumerate(challenge.phases):
        wanted = {"season_id": found, "position": position, **_phase_values(one)}
        old = stored.pop(one.name, None)
        if old is None:
            db.execute(insert(phase).values(name=one.name, **wanted))
        elif any(getattr(old, key) != value for key, value in wanted.items()):
            db.execute(update(phase).where(phase.c.name == one.name).values(**wanted))
        else:
            continue
        changed.append(one)
    for name, old in stored.items():
        if old.switch != "closed":
            db.execute(update(phase).where(phase.c.name == name).values(switch="closed"))
            append_event(db, "switch", {"phase": name, "switch": "closed"}, by="host", time=time)
    if row is None or any(getattr(row, key) != value for key, value in values.items()):
        append_event(db, "season", values, by="host", time=time)
    for one in changed:
        content = {"phase": one.name, **_phase_values(one)}
        append_event(db, "phase", content, by="host", time=time)


def list_phases(db: Connection, time: int) -> list[StoredPhase]:
    """All phases, in the order of the challenge file."""
    rows = db.execute(select(phase).order_by(phase.c.position, phase.c.name))
    return [_read_phase(row, time) for row in rows]


def find_phase(db: Connection, name: str, time: int) -> StoredPhase:
    """The phase of a name; raises NotFound if there is none."""
    row = db.execute(select(phase).where(phase.c.name == name)).one_or_none()
    if row is None:
        names = ", ".join(db.execute(select(phase.c.name).order_by(phase.c.position)).scalars())
        raise NotFound(f"There is no phase {name!r}. The phases are {names}.")
    return _read_phase(row, time)


def switch_phase(db: Connection, name: str, switch: Literal["open", "closed"] | None, *, time: int) -> None:
    """Open or close a phase whatever its times say; None: its times decide again."""
    find_phase(db, name, time)
    db.execute(update(phase).where(phase.c.name == name).values(switch=switch))
    append_event(db, "switch", {"phase": name, "switch": switch}, by="host", time=time)


def _phase_values(one: ChallengePhase) -> dict[str, object]:
    return {
        "rules": json.dumps(one.settings, sort_keys=True, ensure_ascii=False),
        "digest": one.digest,
        "opens": _to_ms(one.opens),
        "closes": _to_ms(one.closes),
        "shots_per_day": one.shots_per_day,
        "shots": one.shots,
        "show": one.show,
        "reveal": one.reveal,
        "max_bytes": one.max_bytes,
    }


def _read_phase(row: Row[tuple[object, ...]], time: int) -> StoredPhase:
    begun = row.opens is None or row.opens <= time
    ended = row.closes is not None and row.closes <= time
    return StoredPhase(
        name=row.name,
        digest=row.digest,
        is_open=row.switch == "open" or (row.switch is None and begun and not ended),
        has_closed=row.switch == "closed" or (row.switch is None and ended),
        opens=row.opens,
        closes=row.closes,
        limits=ShotLimits(row.shots_per_day, row.shots),
        show=row.show,
        reveal=row.reveal,
        max_bytes=row.max_bytes,
        rules=json.loads(row.rules),
    )


def _to_ms(time: datetime | None) -> int | None:
    return None if time is None else round(time.timestamp() * 1000)
