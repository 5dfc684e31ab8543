"""Entries: what a team submits to a phase. Start with `submit_entry`."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass

from sqlalchemy import Connection, func, insert, select, update

from itinera.errors import escape_controls
from itinera.server.events import append_event
from itinera.server.phases import find_phase
from itinera.server.refusals import Conflict, NotFound, RefusedRequest, TooLarge
from itinera.server.shots import reserve_shot
from itinera.server.store import insert_missing
from itinera.server.tables import blob, entry, judgement

LONGEST_METHOD = 200
LONGEST_NOTES = 5000
VISIBILITIES = ("team", "host", "anonymous", "public", "withdrawn")


@dataclass(frozen=True)
class Submission:
    """What a team sends: a bundle that it has uploaded, and words about it."""

    phase: str
    bundle: str  # SHA-256 of the uploaded file
    method: str
    request: str  # chosen by the client: repeating a request whose answer was lost makes no second entry
    notes: str = ""
    visibility: str = "public"


def submit_entry(db: Connection, submission: Submission, *, team_id: int, time: int) -> str:
    """The id of the entry: reserves a shot and queues its first judgement, all in one transaction.

    Raises RefusedRequest for a closed phase, no shots left, or a bundle that was not uploaded.
    """
    _check(submission)
    repeated = _find_request(db, submission, team_id)
    if repeated is not None:
        return repeated
    target = find_phase(db, submission.phase, time)
    target.require_files()
    target.require_open()
    size = db.execute(select(blob.c.size).where(blob.c.sha256 == submission.bundle)).scalar_one_or_none()
    if size is None:
        raise NotFound(f"The bundle {submission.bundle} was not uploaded: upload it first.")
    if size > target.max_bytes:
        raise TooLarge(f"The bundle has {size} bytes; phase {target.name} accepts {target.max_bytes}.")
    entry_id = secrets.token_hex(8)
    row = {
        "id": entry_id,
        "team_id": team_id,
        "phase": submission.phase,
        "bundle": submission.bundle,
        "request": submission.request,
        "method": escape_controls(submission.method, one_line=True)[:LONGEST_METHOD],
        "notes": escape_controls(submission.notes)[:LONGEST_NOTES],
        "visibility": submission.visibility,
        "submitted": time,
    }
    if not insert_missing(db, entry, row):  # the same request, by another connection
        found = _find_request(db, submission, team_id)
        assert found is not None
        return found
    reserve_shot(db, team_id=team_id, phase=target.name, entry_id=entry_id, limits=target.limits, time=time)
    queue_judgement(db, entry_id, time=time)
    about = {"entry": entry_id, "phase": target.name, "bundle": submission.bundle}
    append_event(db, "entry", about, by="team", time=time)
    return entry_id


def queue_judgement(db: Connection, entry_id: str, *, time: int) -> None:
    """Queue a new judgement of an entry, beside its earlier ones."""
    number = select(func.coalesce(func.max(judgement.c.number), 0) + 1).where(judgement.c.entry_id == entry_id)
    row = {"entry_id": entry_id, "state": "queued", "queued": time, "attempt": 0, "losses": 0}
    db.execute(insert(judgement).values(**row, number=number.scalar_subquery()))


def rerun_entry(db: Connection, entry_id: str, *, time: int) -> None:
    """Judge an entry again, whatever became of it; earlier judgements stay. It costs no shot."""
    find_entry_phase(db, entry_id)
    judged = select(judgement.c.id).where(judgement.c.entry_id == entry_id)
    if db.execute(judged).first() is None:
        raise Conflict(f"Entry {entry_id} is a live session that is being played.")
    waiting = select(judgement.c.id).where(
        judgement.c.entry_id == entry_id, judgement.c.state.in_(("queued", "running"))
    )
    if db.execute(waiting).first() is not None:
        raise Conflict(f"Entry {entry_id} is being judged already.")
    queue_judgement(db, entry_id, time=time)
    append_event(db, "rerun", {"entry": entry_id}, by="host", time=time)


def hide_entry(db: Connection, entry_id: str, why: str, *, time: int) -> None:
    """Take an entry off the board with a reason; an empty reason shows it again."""
    find_entry_phase(db, entry_id)
    db.execute(update(entry).where(entry.c.id == entry_id).values(hidden=why or None))
    append_event(db, "hide" if why else "show", {"entry": entry_id}, by="host", time=time)


def set_visibility(db: Connection, entry_id: str, visibility: str, *, team_id: int, time: int) -> None:
    """Change who may see an entry of the team's own. A withdrawn entry keeps its row and its shot."""
    if visibility not in VISIBILITIES:
        raise RefusedRequest(f"visibility must be one of {', '.join(VISIBILITIES)}.")
    own = (entry.c.id == entry_id, entry.c.team_id == team_id, entry.c.visibility != "withdrawn")
    if db.execute(update(entry).where(*own).values(visibility=visibility)).rowcount != 1:
        raise NotFound(f"Your team has no entry {entry_id}, or has withdrawn it.")
    kind = "withdraw" if visibility == "withdrawn" else "visibility"
    append_event(db, kind, {"entry": entry_id}, by="team", time=time)


def find_entry_phase(db: Connection, entry_id: str) -> str:
    """The phase of an entry; raises NotFound if there is no such entry."""
    found = db.execute(select(entry.c.phase).where(entry.c.id == entry_id)).scalar_one_or_none()
    if found is None:
        raise NotFound(f"There is no entry {entry_id!r}.")
    return str(found)


def _find_request(db: Connection, submission: Submission, team_id: int) -> str | None:
    """The entry that an earlier copy of this request has made; raises Conflict if that one was different."""
    found = select(entry.c.id, entry.c.phase, entry.c.bundle)
    row = db.execute(found.where(entry.c.team_id == team_id, entry.c.request == submission.request)).one_or_none()
    if row is None:
        return None
    if (row.phase, row.bundle) != (submission.phase, submission.bundle):
        raise Conflict("This request was used for another entry: choose a new one.")
    return str(row.id)


def _check(submission: Submission) -> None:
    if not re.fullmatch(r"[0-9a-f]{64}", submission.bundle):
        raise RefusedRequest("bundle must be a SHA-256 in hexadecimal.")
    if not re.fullmatch(r"[A-Za-z0-9_-]{8,64}", submission.request):
        raise RefusedRequest("request must have 8 to 64 letters, digits, - or _.")
    if not submission.method.strip():
        raise RefusedRequest("method must not be empty: name your method.")
    if submission.visibility not in VISIBILITIES[:-1]:
        raise RefusedRequest(f"visibility must be one of {', '.join(VISIBILITIES[:-1])}.")
