"""What the server does for a request, without HTTP: each method is one or two transactions. Start with `Service`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, Row, func, select

from itinera.server.blobs import BlobFolder
from itinera.server.board import seal_verdict
from itinera.server.entries import Submission, set_visibility, submit_entry
from itinera.server.messages import (
    ChallengeReport,
    EndMessage,
    EntryReport,
    EntryRequest,
    FinishMessage,
    JoinReply,
    LeaseMessage,
    LeaseReply,
    LeaseRequest,
    PhaseReport,
    QueueReport,
    ShotReport,
)
from itinera.server.phases import StoredPhase, list_phases
from itinera.server.queue import (
    LEASE_MS,
    QueuePlace,
    expire_leases,
    find_places,
    finish_judgement,
    lease_judgement,
    measure_workers,
    refuse_judgement,
    release_judgement,
    renew_lease,
)
from itinera.server.refusals import Forbidden, NotFound, RefusedRequest
from itinera.server.shots import count_shots, next_day
from itinera.server.store import Store
from itinera.server.tables import blob, entry, judgement, season, shot, team
from itinera.server.teams import Identity, Scope, identify, join_by_invitation
from itinera.server.uploads import check_upload, record_blob
from itinera.server.verdicts import decode_verdict
from itinera.server.visibility import Viewer, select_visible

LARGEST_ROWS = 1 << 30  # bytes of a score bundle


class Service:
    """The operations of a challenge server on its database and its blobs."""

    def __init__(self, store: Store, blobs: BlobFolder, *, lease_ms: int = LEASE_MS) -> None:
        self.store, self.blobs, self._lease_ms = store, blobs, lease_ms

    @property
    def lease_seconds(self) -> float:
        """How long a worker may be silent."""
        return self._lease_ms / 1000

    def identify(self, token: str, *scopes: Scope) -> Identity:
        """Who sends a token; raises Forbidden unless it has one of the scopes."""
        with self.store.read() as db:
            found = identify(db, token, self.store.clock())
        if found.scope not in scopes:
            raise Forbidden(f"This token is for {found.scope}; the request needs one for {' or '.join(scopes)}.")
        return found

    def join(self, invitation: str, team: str) -> JoinReply:
        """Found a team with an invitation."""
        with self.store.write() as db:
            team_id, token = join_by_invitation(db, invitation, team, time=self.store.clock())
            return JoinReply(_find_name(db, team_id), token)

    def describe_challenge(self, viewer: Viewer) -> ChallengeReport:
        """The challenge, and the shots of the team that asks."""
        time = self.store.clock()
        with self.store.read() as db:
            row = db.execute(select(season)).first()
            phases = [_describe_phase(db, one, viewer, time) for one in list_phases(db, time)]
        return ChallengeReport("" if row is None else row.name, None if row is None else row.commitment, phases)

    def describe_queue(self) -> QueueReport:
        """How much work waits, and how fast it is done."""
        time = self.store.clock()
        with self.store.read() as db:
            states = select(judgement.c.state, func.count(), func.min(judgement.c.queued)).group_by(judgement.c.state)
            counts = {state: (count, oldest) for state, count, oldest in db.execute(states)}
            mean, workers = measure_workers(db, time)
        queued, oldest = counts.get("queued", (0, None))
        age = None if oldest is None else max(0.0, (time - oldest) / 1000)
        return QueueReport(queued, counts.get("running", (0, None))[0], age, mean, workers)

    def count_states(self) -> dict[str, int]:
        """The number of judgements in each state."""
        with self.store.read() as db:
            found = db.execute(select(judgement.c.state, func.count()).group_by(judgement.c.state)).all()
        return {row[0]: row[1] for row in found}

    # Uploads

    def find_upload(self, digest: str, sender: Identity) -> tuple[int, bool]:
        """The bytes of a file that have arrived, and whether it is complete."""
        size = self.blobs.size(digest)
        if size is not None:
            self._record(digest, size, sender)
            return size, True
        return self.blobs.count_received(digest, _owner(sender)), False

    def check_upload(self, sender: Identity, phase: str, size: int) -> None:
        """Raise RefusedRequest before the first byte if the file could not be used."""
        if sender.scope == "worker":
            if size > LARGEST_ROWS:
                raise RefusedRequest(f"A score bundle has at most {LARGEST_ROWS} bytes.")
            return
        assert sender.team_id is not None
        with self.store.read() as db:
            check_upload(db, team_id=sender.team_id, phase=phase, size=size, time=self.store.clock())

    def complete_upload(self, digest: str, sender: Identity) -> int:
        """Verify a file that has arrived, and make it known; its size."""
        size = self.blobs.complete(digest, _owner(sender))
        self._record(digest, size, sender)
        return size

    def _record(self, digest: str, size: int, sender: Identity) -> None:
        with self.store.read() as db:
            if db.execute(select(blob.c.size).where(blob.c.sha256 == digest)).first() is not None:
                return
        with self.store.write() as db:
            record_blob(db, digest, size, team_id=sender.team_id, time=self.store.clock())

    # Entries

    def submit(self, request: EntryRequest, sender: Identity) -> str:
        """The id of a new entry, or that of an earlier copy of the same request."""
        assert sender.team_id is not None
        submission = Submission(
            phase=request.phase,
            bundle=request.bundle,
            method=request.method,
            request=request.request,
            notes=request.notes,
            visibility=request.visibility,
        )
        with self.store.write() as db:
            return submit_entry(db, submission, team_id=sender.team_id, time=self.store.clock())

    def list_entries(self, viewer: Viewer, phase: str | None = None) -> list[EntryReport]:
        """The entries that a viewer may see, the newest first; of the team alone if a team asks."""
        time = self.store.clock()
        found = select_visible(viewer, time).order_by(entry.c.submitted.desc(), entry.c.id).limit(1000)
        if viewer.team_id is not None:
            found = found.where(entry.c.team_id == viewer.team_id)
        if phase is not None:
            found = found.where(entry.c.phase == phase)
        with self.store.read() as db:
            return _describe_entries(db, db.execute(found).all(), time)

    def describe_entry(self, entry_id: str, viewer: Viewer) -> EntryReport:
        """An entry; raises NotFound if the viewer may not see it, as if it did not exist."""
        time = self.store.clock()
        with self.store.read() as db:
            row = db.execute(select_visible(viewer, time).where(entry.c.id == entry_id)).one_or_none()
            if row is None:
                raise NotFound(f"There is no entry {entry_id!r}.")
            return _describe_entries(db, [row], time)[0]

    def change_visibility(self, entry_id: str, visibility: str, sender: Identity) -> None:
        """Let a team decide who sees its entry, or withdraw it."""
        assert sender.team_id is not None
        with self.store.write() as db:
            set_visibility(db, entry_id, visibility, team_id=sender.team_id, time=self.store.clock())

    # Workers

    def lease(self, request: LeaseRequest) -> LeaseReply:
        """The next judgement for a worker."""
        expire_leases(self.store)
        with self.store.write() as db:
            found = lease_judgement(
                db, worker=request.worker, phases=request.phases, time=self.store.clock(), lease_ms=self._lease_ms
            )
        if found is None:
            return LeaseReply()
        seconds = self._lease_ms / 1000
        return LeaseReply(found.judgement_id, found.attempt, found.entry_id, found.phase, found.bundle, seconds)

    def renew(self, message: LeaseMessage) -> bool:
        """Keep a lease; False if it was lost."""
        with self.store.write() as db:
            return renew_lease(db, message.judgement, message.attempt, time=self.store.clock(), lease_ms=self._lease_ms)

    def finish(self, message: FinishMessage) -> bool:
        """Write scores; False if the lease was lost."""
        with self.store.write() as db:
            if message.rows is not None:
                known = db.execute(select(blob.c.size).where(blob.c.sha256 == message.rows)).first()
                if known is None:
                    raise NotFound(f"The score bundle {message.rows} was not uploaded.")
            return finish_judgement(
                db, message.judgement, message.attempt, message.verdict, rows=message.rows, time=self.store.clock()
            )

    def end(self, message: EndMessage) -> bool:
        """Write that there are no scores; False if the lease was lost."""
        write = refuse_judgement if message.outcome == "refused" else release_judgement
        with self.store.write() as db:
            return write(db, message.judgement, message.attempt, message.reason, time=self.store.clock())


def _owner(sender: Identity) -> str:
    return "worker" if sender.team_id is None else f"team{sender.team_id}"


def _find_name(db: Connection, team_id: int) -> str:
    return str(db.execute(select(team.c.name).where(team.c.id == team_id)).scalar_one())


def _describe_phase(db: Connection, one: StoredPhase, viewer: Viewer, time: int) -> PhaseReport:
    shots: dict[str, ShotReport] = {}
    if viewer.team_id is not None:
        today, total = count_shots(db, team_id=viewer.team_id, phase=one.name, limits=one.limits, time=time)
        shots = {"today": ShotReport(**asdict(today)), "total": ShotReport(**asdict(total))}
    return PhaseReport(
        name=one.name,
        is_open=one.is_open,
        opens=one.opens,
        closes=one.closes,
        shots_per_day=one.limits.per_day,
        shots=one.limits.total,
        max_bytes=one.max_bytes,
        show=one.show,
        reveal=one.reveal,
        rules=one.rules,
        resets=None if one.limits.per_day is None else next_day(time).isoformat(),
        **shots,
    )


def _describe_entries(db: Connection, rows: Sequence[Row[Any]], time: int) -> list[EntryReport]:
    """The reports of rows of `select_visible`, from one query for each kind of thing."""
    names = [row.id for row in rows]
    newest: dict[str, Row[Any]] = {}
    scored: dict[str, Row[Any]] = {}
    found = select(judgement).where(judgement.c.entry_id.in_(names)).order_by(judgement.c.number)
    for one in db.execute(found):
        newest[one.entry_id] = one
        if one.state == "scored":
            scored[one.entry_id] = one
    places = find_places(db, [name for name, one in newest.items() if one.state == "queued"], time=time)
    shots = {row.entry_id: row.state for row in db.execute(select(shot).where(shot.c.entry_id.in_(names)))}
    return [
        _describe_entry(row, newest.get(row.id), scored.get(row.id), places.get(row.id), shots[row.id]) for row in rows
    ]


def _describe_entry(
    row: Row[Any], newest: Row[Any] | None, scored: Row[Any] | None, place: QueuePlace | None, shot_state: str
) -> EntryReport:
    own = bool(row.own)
    verdict = decode_verdict(scored.totals) if scored is not None and row.scored else None
    return EntryReport(
        entry=row.id,
        phase=row.phase,
        team=row.team if row.named else None,
        method=row.method,
        submitted=row.submitted,
        state="playing" if newest is None else newest.state,
        visibility=row.visibility if own else None,
        place=None if place is None else place.place,
        expected_seconds=None if place is None else place.seconds,
        reason=newest.reason if own and newest is not None else None,
        shot=shot_state if own else None,
        verdict=seal_verdict(verdict) if verdict is not None and row.sealed else verdict,
    )
