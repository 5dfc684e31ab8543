"""What a team may upload, decided before the first byte arrives."""

from __future__ import annotations

from sqlalchemy import Connection, exists, func, select

from itinera.server.phases import find_phase
from itinera.server.refusals import TooLarge, TooMany
from itinera.server.shots import count_shots
from itinera.server.store import insert_missing
from itinera.server.tables import blob, entry

UNUSED_BUNDLES = 4  # of the largest size that a team may have uploaded without submitting them


def check_upload(db: Connection, *, team_id: int, phase: str, size: int, time: int) -> None:
    """Raise RefusedRequest if an upload of this size could not be submitted to the phase now."""
    target = find_phase(db, phase, time)
    target.require_files()
    target.require_open()
    if size > target.max_bytes:
        raise TooLarge(f"The file has {size} bytes; phase {phase} accepts {target.max_bytes}.")
    today, total = count_shots(db, team_id=team_id, phase=phase, limits=target.limits, time=time)
    if 0 in (today.left, total.left):
        when = "in all" if total.left == 0 else "today"
        raise TooMany(f"No shots are left {when} in phase {phase}, so the file could not be submitted.")
    used = exists().where(entry.c.bundle == blob.c.sha256)
    unused = db.execute(select(func.sum(blob.c.size)).where(blob.c.team_id == team_id, ~used)).scalar_one() or 0
    if unused + size > UNUSED_BUNDLES * target.max_bytes:
        raise TooMany(f"{unused} bytes are uploaded and not submitted: submit them first.")


def record_blob(db: Connection, digest: str, size: int, *, team_id: int | None, time: int) -> None:
    """Make a complete blob known to the database, so that entries and judgements can name it."""
    insert_missing(db, blob, {"sha256": digest, "size": size, "created": time, "team_id": team_id})
