"""Sessions of live phases in the database: opened with a shot reserved, filled with answers, closed as an entry.

A session is an entry from its opening on. Its bundle is the log of its answers: an empty one at first, which fixes the
secret, and the complete one when it closes and its judgement is queued. The replay of that log is what counts.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, insert, or_, select, update

from itinera.errors import escape_controls
from itinera.formats.live_log import END, LiveTourLog, encode_live_log
from itinera.server.blobs import BlobFolder
from itinera.server.entries import LONGEST_METHOD, LONGEST_NOTES, VISIBILITIES, queue_judgement
from itinera.server.events import append_event
from itinera.server.live_messages import OpenRequest
from itinera.server.phases import StoredPhase, find_phase
from itinera.server.refusals import Conflict, NotFound, RefusedRequest
from itinera.server.shots import reserve_shot
from itinera.server.store import Store
from itinera.server.tables import entry, live_answer, live_session, phase
from itinera.server.uploads import record_blob


@dataclass(frozen=True)
class Answer:
    """A row of the log: what an agent answered in a turn of a tour; turn 0 begins the tour."""

    entry_id: str
    tour: int
    turn: int
    answer: int = 0
    reason: str = ""


@dataclass
class LiveSession:
    """A session as the database has it."""

    entry_id: str
    team_id: int
    phase: str
    secret: str
    deadline: int
    closed: bool
    answers: dict[int, list[tuple[int, str]]] = field(default_factory=dict)  # of each tour that has begun
    ended: set[int] = field(default_factory=set)

    def add(self, one: Answer) -> None:
        """Note a row that is stored now."""
        tour = self.answers.setdefault(one.tour, [])
        if one.turn and one.answer == END:
            self.ended.add(one.tour)
        elif one.turn:
            tour.append((one.answer, one.reason))

    @property
    def steps(self) -> int:
        """The number of answers."""
        return sum(map(len, self.answers.values()))


def open_session(db: Connection, request: OpenRequest, blobs: BlobFolder, *, team_id: int, time: int) -> str:
    """The entry of a new session, with a shot reserved; that of the team's open session if there is one."""
    target = find_phase(db, request.phase, time)
    rules = require_live(target)
    # Two requests at once take turns: the second finds the session of the first.
    db.execute(update(phase).where(phase.c.name == target.name).values(name=phase.c.name))
    found = _find_open(db, target.name, team_id)
    if found is not None:
        if found.method != _method(request):
            raise Conflict(f"Session {found.id} of method {found.method!r} is open: finish it, or close it, first.")
        return str(found.id)
    target.require_open()
    if not request.method.strip():
        raise RefusedRequest("method must not be empty: name your method.")
    if request.visibility not in VISIBILITIES[:-1]:
        raise RefusedRequest(f"visibility must be one of {', '.join(VISIBILITIES[:-1])}.")
    entry_id, secret = secrets.token_hex(8), secrets.token_hex(16)
    bundle = _store_log(db, blobs, encode_live_log(target.name, secret, {}), time)
    values = {"id": entry_id, "team_id": team_id, "phase": target.name, "bundle": bundle, "submitted": time}
    values |= {"request": f"live-{entry_id}", "method": _method(request), "visibility": request.visibility}
    db.execute(insert(entry).values(**values, notes=escape_controls(request.notes)[:LONGEST_NOTES]))
    deadline = time + round(float(rules["session_seconds"]) * 1000)
    db.execute(insert(live_session).values(entry_id=entry_id, secret=secret, opened=time, deadline=deadline))
    reserve_shot(db, team_id=team_id, phase=target.name, entry_id=entry_id, limits=target.limits, time=time)
    append_event(db, "session", {"entry": entry_id, "phase": target.name, "bundle": bundle}, by="team", time=time)
    return entry_id


def load_session(db: Connection, entry_id: str) -> LiveSession:
    """A session with all its answers; raises NotFound if there is none."""
    columns = select(live_session, entry.c.team_id, entry.c.phase).join(entry, entry.c.id == live_session.c.entry_id)
    row = db.execute(columns.where(live_session.c.entry_id == entry_id)).one_or_none()
    if row is None:
        raise NotFound(f"There is no session {entry_id!r}.")
    made = LiveSession(entry_id, row.team_id, row.phase, row.secret, row.deadline, row.closed is not None)
    stored = select(live_answer).where(live_answer.c.entry_id == entry_id)
    for one in db.execute(stored.order_by(live_answer.c.tour, live_answer.c.turn)):
        made.add(Answer(entry_id, one.tour, one.turn, one.answer, one.reason or ""))
    return made


def append_answers(db: Connection, answers: Sequence[Answer]) -> set[str]:
    """Store answers, all or none, apart from those of sessions that have ended; these sessions."""
    names = {one.entry_id for one in answers}
    going = select(live_session.c.entry_id).where(live_session.c.entry_id.in_(names), live_session.c.closed.is_(None))
    still = set(db.execute(going.with_for_update()).scalars())
    rows = [
        {"entry_id": one.entry_id, "tour": one.tour, "turn": one.turn, "answer": one.answer, "reason": one.reason}
        for one in answers
        if one.entry_id in still
    ]
    if rows:
        db.execute(insert(live_answer), rows)
    return names - still


def close_session(db: Connection, entry_id: str, blobs: BlobFolder, *, time: int) -> bool:
    """End a session: its log becomes its bundle, and its judgement is queued. False if it has ended before."""
    open_one = (live_session.c.entry_id == entry_id, live_session.c.closed.is_(None))
    if db.execute(update(live_session).where(*open_one).values(closed=time)).rowcount != 1:
        return False
    session = load_session(db, entry_id)
    bundle = _store_log(db, blobs, encode_session(session), time)
    db.execute(update(entry).where(entry.c.id == entry_id).values(bundle=bundle))
    queue_judgement(db, entry_id, time=time)
    about = {"entry": entry_id, "phase": session.phase, "bundle": bundle}
    append_event(db, "entry", about, by="team", time=time)
    return True


def find_expired(store: Store) -> list[str]:
    """The open sessions whose time is over, or whose phase the host has closed."""
    with store.read() as db:
        joined = select(live_session.c.entry_id).join(entry, entry.c.id == live_session.c.entry_id)
        joined = joined.join(phase, phase.c.name == entry.c.phase).where(live_session.c.closed.is_(None))
        late = or_(live_session.c.deadline < store.clock(), phase.c.switch == "closed")
        return list(db.execute(joined.where(late)).scalars())


def encode_session(session: LiveSession) -> bytes:
    """The log of a session as a file."""
    tours = {
        number: LiveTourLog(
            number,
            [answer for answer, _ in answers],
            {index: reason for index, (_, reason) in enumerate(answers) if reason},
        )
        for number, answers in session.answers.items()
    }
    return encode_live_log(session.phase, session.secret, tours)


def require_live(target: StoredPhase) -> dict[str, Any]:
    """The rules of a live phase; raises RefusedRequest for any other."""
    if not target.is_live:
        raise RefusedRequest(f"Phase {target.name} takes files: use itinera submit.")
    return target.rules


def _method(request: OpenRequest) -> str:
    return escape_controls(request.method, one_line=True)[:LONGEST_METHOD]


def _find_open(db: Connection, name: str, team_id: int) -> Any:
    found = select(entry.c.id, entry.c.method).join(live_session, live_session.c.entry_id == entry.c.id)
    mine = (entry.c.team_id == team_id, entry.c.phase == name, live_session.c.closed.is_(None))
    return db.execute(found.where(*mine)).first()


def _store_log(db: Connection, blobs: BlobFolder, content: bytes, time: int) -> str:
    digest = blobs.store(content)
    record_blob(db, digest, len(content), team_id=None, time=time)
    return digest
