"""What the pages show, from the database: boards, rules and the queue as everybody may see them."""

from __future__ import annotations

import hashlib
import math
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache, partial
from pathlib import Path

from sqlalchemy import Connection, func, select

from itinera.errors import ItineraError
from itinera.formats.bundles import read_scores
from itinera.records import Column, ScoreTable
from itinera.server.board import Board, BoardEntry, Coverage, JudgedEntry, make_board
from itinera.server.events import find_last_event, read_events
from itinera.server.html import ChallengeView, PhaseView, QueueJob, Site, StatusView, SubmitView
from itinera.server.phases import StoredPhase, list_phases
from itinera.server.queue import find_places
from itinera.server.scored_entries import ScoredEntry, list_scored_entries
from itinera.server.service import Service
from itinera.server.tables import chain, entry, judgement, season
from itinera.server.visibility import HOST, PUBLIC

MOST_JOBS = 50  # of the queue, on its page
_SHOWN = {"rows": "scores of every episode", "totals": "totals, rounded to their noise"}


class PublicPages:
    """The source of the pages of a server.

    A board is computed again after an event, except for the arrival of an entry, which changes none, and when a phase
    closes; requests that come meanwhile wait for it instead of computing it too.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._boards: dict[str, tuple[object, Board]] = {}
        self._turn = threading.Lock()
        self._read_rows = lru_cache(maxsize=128)(partial(_read_rows, service))

    def site(self) -> Site:
        """The title and the phases."""
        with self._service.store.read() as db:
            return Site(_find_title(db), tuple(phase.name for phase in list_phases(db, self._service.store.clock())))

    def find_board(self, phase: str) -> Board | None:
        """The board of a phase; None if there is no such phase."""
        time = self._service.store.clock()
        with self._service.store.read() as db:
            stored = next((one for one in list_phases(db, time) if one.name == phase), None)
            if stored is None:
                return None
            state = find_last_event(db, besides="entry"), stored.has_closed
        kept = self._boards.get(phase)
        if kept is not None and kept[0] == state:
            return kept[1]
        with self._turn:
            kept = self._boards.get(phase)
            if kept is None or kept[0] != state:
                kept = self._boards[phase] = state, self._compute_board(stored, time)
        return kept[1]

    def _compute_board(self, phase: StoredPhase, time: int) -> Board:
        with self._service.store.read() as db:
            found = list_scored_entries(db, phase.name, PUBLIC, time=time)
            # Tie groups need the rows also where the phase does not show them.
            rows = {one.id: one.rows for one in list_scored_entries(db, phase.name, HOST, time=time)}
            title = _find_title(db)
        return self._make_board(title, phase, found, rows, time)

    def _make_board(
        self, title: str, phase: StoredPhase, found: list[ScoredEntry], rows: dict[str, str | None], time: int
    ) -> Board:
        loaders = {one.id: partial(self._read_rows, digest) for one in found if (digest := rows.get(one.id))}
        entries = [_judge_entry(one, loaders.get(one.id)) for one in found]
        columns = find_columns(entries)
        names = {name for one in entries for name in one.scores}
        newest = found[-1].verdict if found else None
        return make_board(
            title,
            phase.name,
            entries,
            columns=columns,
            updated=datetime.fromtimestamp(time / 1000, UTC),
            metric="SR" if not names or "SR" in names else next(c.name for c in columns if c.name in names),
            sealed=phase.show == "totals",
            protocol="" if newest is None else newest.protocol,
            suite="" if newest is None else newest.suite,
        )

    def find_entry(self, entry_id: str) -> tuple[Board, BoardEntry] | None:
        """An entry on a board; None if there is none that everybody may see."""
        with self._service.store.read() as db:
            phase = db.execute(select(entry.c.phase).where(entry.c.id == entry_id)).scalar_one_or_none()
        board = None if phase is None else self.find_board(phase)
        if board is None or entry_id not in {one.id for one in board.entries}:
            return None
        return board, board[entry_id]

    def describe_challenge(self) -> ChallengeView:
        """The rules."""
        with self._service.store.read() as db:
            row = db.execute(select(season)).first()
            phases = tuple(_describe_phase(one) for one in list_phases(db, self._service.store.clock()))
            last = db.execute(select(chain.c.line)).scalar_one()
            revealed = read_events(db, kind="reveal")
        commitment = None if row is None else row.commitment
        head = hashlib.sha256(last.encode()).hexdigest() if last else ""
        secret = str(revealed[-1].about["secret"]) if revealed else ""
        return ChallengeView("", phases, commitment=commitment or "", secret=secret, head=head)

    def describe_status(self) -> StatusView:
        """The queue. Its entries have no names, because those that wait may belong to teams that nobody may know."""
        report = self._service.describe_queue()
        time = self._service.store.clock()
        with self._service.store.read() as db:
            waiting = (
                select(judgement.c.entry_id, judgement.c.state, judgement.c.queued, entry.c.phase)
                .join(entry, entry.c.id == judgement.c.entry_id)
                .where(judgement.c.state.in_(("queued", "running")))
                .order_by(judgement.c.queued, judgement.c.id)
                .limit(MOST_JOBS)
            )
            rows = db.execute(waiting).all()
            places = find_places(db, [row.entry_id for row in rows if row.state == "queued"], time=time)
        jobs = [
            QueueJob(
                0 if (place := places.get(row.entry_id)) is None else place.place,
                row.phase,
                max(0.0, (time - row.queued) / 1000),
                None if place is None else place.seconds,
            )
            for row in rows
        ]
        return StatusView(
            report.queued,
            report.running,
            report.workers,
            report.oldest_seconds,
            tuple(sorted(jobs, key=lambda job: job.place)),
        )

    def describe_submission(self) -> SubmitView:
        """The phases that are open."""
        with self._service.store.read() as db:
            opened = [one for one in list_phases(db, self._service.store.clock()) if one.is_open]
        files = [one for one in opened if not one.is_live]
        most = max((one.max_bytes for one in files), default=0)
        return SubmitView(tuple(one.name for one in files), most, live=tuple(one.name for one in opened if one.is_live))


def _read_rows(service: Service, digest: str) -> ScoreTable:
    return read_scores(Path(service.blobs.path(digest)))


def _judge_entry(one: ScoredEntry, load_rows: Callable[[], ScoreTable] | None) -> JudgedEntry:
    verdict = one.verdict
    coverage = verdict.coverage
    return JudgedEntry(
        id=one.id,
        team=one.team,
        team_key=one.team_key,
        method=one.method,
        submitted=one.submitted,
        badge=verdict.badge,
        attempts=one.attempts,
        scores={name: (mean, _to_end(low), _to_end(high)) for name, (mean, low, high) in verdict.scores.items()},
        coverage=Coverage(verdict.episodes, coverage.answered, coverage.stopped, coverage.failed),
        fingerprint=verdict.fingerprint,
        bundle=one.bundle,
        load_rows=load_rows,
        notes=one.notes,
    )


def _to_end(end: float | None) -> float:
    return math.nan if end is None else end


def find_columns(entries: list[JudgedEntry]) -> tuple[Column, ...]:
    """The columns, of episodes and then of tours, of the newest entry whose rows are there; of others only the names
    are known.
    """
    for one in reversed(entries):
        if one.load_rows is not None:
            try:
                table = one.load_rows()
            except (ItineraError, OSError):  # its file was lost: the board is there all the same
                continue
            return (*table.columns, *(() if table.tours is None else table.tours.columns))
    return tuple(Column(name) for name in dict.fromkeys(name for one in entries for name in one.scores))


def _find_title(db: Connection) -> str:
    return str(db.execute(select(func.max(season.c.name))).scalar_one() or "")


def _describe_phase(phase: StoredPhase) -> PhaseView:
    rules = phase.rules
    return PhaseView(
        phase.name,
        opens=_to_time(phase.opens),
        closes=_to_time(phase.closes),
        is_open=phase.is_open,
        shots_per_day=phase.limits.per_day,
        shots=phase.limits.total,
        protocol=str(rules.get("protocol") or ""),
        suite=str(rules.get("suite") or ""),
        shown=_SHOWN[phase.show],
        is_live=phase.is_live,
    )


def _to_time(ms: int | None) -> datetime | None:
    return None if ms is None else datetime.fromtimestamp(ms / 1000, UTC)
