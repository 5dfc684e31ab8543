"""Playing live sessions: every answer is stored before the next observation leaves. Start with `LivePlay.turn`.

    participant ── turns (JSON lines over HTTP) ──▶ web process ── answers ──▶ database        one writer
                                                        │ ▲
                                    questions, by poll  ▼ │ requests of the wire protocol
                                                      worker: worlds, tasks, simulator          sealed answers

1. A turn names a tour of the session and its number there, so it can be repeated: one that is stored already is not
   stored again, with the same answer gives the same observation, and with another answer is refused.
2. The answer is stored with those of other teams that arrive at the same time, in one transaction.
3. A worker computes the state after it. It has no state of its own: what it forgot, it replays. So whoever of server,
   worker and participant is killed, the stored answers are what has happened, and the rest is asked again.
4. An agent that has lost its memory asks for the turns of its tour again, and is given what it has answered; an
   episode cannot be restarted, because its turns are taken.
5. Whoever takes longer than a step may take has failed the episode, by a stored answer like any other; the session
   ends at its deadline. Then its log is an entry, judged by replaying it, and episodes without an end have failed.

A participant sees what an agent in the simulator would, under names that are new in every tour of every session:
see `runs/live_tour.py`. Only `MAX_OPEN` tours of a session are open at a time, so that texts are not collected first.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from itinera.formats.live_log import END, LATE
from itinera.formats.live_turns import TurnHead, TurnLine
from itinera.server.live_messages import OpenRequest, PhaseFacts, PlayAnswer, SessionReport
from itinera.server.live_relay import LiveRelay
from itinera.server.live_sessions import (
    Answer,
    LiveSession,
    append_answers,
    close_session,
    find_expired,
    load_session,
    open_session,
    require_live,
)
from itinera.server.phases import StoredPhase, find_phase
from itinera.server.refusals import Conflict, Forbidden, NotFound, TooMany
from itinera.server.requests import call
from itinera.server.service import Service
from itinera.server.teams import Identity

MAX_OPEN = 16  # tours of a session that have begun and are not over
MAX_SESSIONS = 1000  # that are kept in memory
_ENDED = "The session has ended."


@dataclass(eq=False)
class _Playing:
    """A session in memory: what is stored, and what is not worth storing."""

    session: LiveSession
    phase: StoredPhase
    frames: int  # images rendered, at least one for every stored answer
    shown: dict[int, float] = field(default_factory=dict)  # when the last observation of a tour left
    locks: dict[int, asyncio.Lock] = field(default_factory=dict)


class LivePlay:
    """Sessions that are being played, in the event loop of the server."""

    def __init__(self, service: Service, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.relay = LiveRelay(silent_seconds=min(20.0, service.lease_seconds))
        self._service, self._clock = service, clock
        self._playing: dict[str, _Playing] = {}
        self._log = _AnswerLog(service, self._forget)

    async def open(self, request: OpenRequest, sender: Identity) -> SessionReport:
        """A new session of a team, or the one that it has open."""
        phase = await call(self._find_phase, request.phase)
        require_live(phase)
        await self.relay.facts(phase.name, phase.digest)  # no shot is taken while nobody can play
        entry_id = await call(self._open, request, sender)
        return await self.describe(entry_id, sender)

    async def describe(self, entry_id: str, sender: Identity) -> SessionReport:
        """How far a session has been played."""
        playing = await self._load(entry_id, sender)
        session, phase = playing.session, playing.phase
        facts = await self.relay.facts(phase.name, phase.digest)
        return SessionReport(
            entry=entry_id,
            phase=phase.name,
            tours=facts.tours,
            deadline=session.deadline,
            step_seconds=float(str(phase.rules["step_seconds"])),
            turns={tour: len(answers) + 1 for tour, answers in session.answers.items()},
            ended=sorted(session.ended),
            columns=facts.columns,
            protocol=facts.protocol,
            rules=phase.rules,
            closed=session.closed,
        )

    async def turn(
        self, entry_id: str, line: TurnLine, wants: Sequence[str] | None, sender: Identity
    ) -> tuple[TurnHead, bytes]:
        """The head of the reply to a turn, and the requests to the agent."""
        playing = await self._load(entry_id, sender)
        self._check_open(playing)
        async with playing.locks.setdefault(line.tour, asyncio.Lock()):
            facts = await self.relay.facts(playing.phase.name, playing.phase.digest)
            if line.replay:
                return await self._repeat(playing, line, wants)
            if line.end:
                return await self._end(playing, line)
            await self._store(playing, line, facts)
            turn = line.turn
            found = await self._ask(playing, line.tour, turn, wants)
            playing.shown.setdefault(line.tour, self._clock())
            return TurnHead(line.tour, turn + 1, found.done, len(found.payload)), found.payload

    async def close(self, entry_id: str, sender: Identity) -> None:
        """End a session: episodes that have not been played count as failures."""
        await self._load(entry_id, sender)
        await call(self._close, entry_id)
        self._forget(entry_id)

    async def close_expired(self) -> None:
        """End the sessions whose time is over."""
        for entry_id in await call(find_expired, self._service.store):
            await call(self._close, entry_id)
            self._forget(entry_id)

    async def _store(self, playing: _Playing, line: TurnLine, facts: PhaseFacts) -> None:
        """Store the answer of a turn, unless it is stored already."""
        session = playing.session
        taken = session.answers.get(line.tour)
        expected = 0 if taken is None else len(taken) + 1
        if taken is not None and line.turn < expected:
            if line.turn and line.answer[0] != taken[line.turn - 1][0] and taken[line.turn - 1][0] != LATE:
                raise Conflict(f"Turn {line.turn} of tour {line.tour} has been answered already, differently.")
            if line.turn < expected - 1:
                raise Conflict(
                    f"Tour {line.tour} stands at turn {expected}; ask for turn {line.turn} again, with replay."
                )
            return
        if line.tour in session.ended:
            raise Conflict(f"Tour {line.tour} is over.")
        if line.turn > expected:
            raise Conflict(f"Tour {line.tour} stands at turn {expected}, not {line.turn}.")
        if line.turn == 0:
            self._check_begin(session, line.tour, facts.tours)
            row = Answer(session.entry_id, line.tour, 0)
        else:
            answer, reason = (LATE, "") if self._is_late(playing, line.tour) else line.answer
            row = Answer(session.entry_id, line.tour, line.turn, answer, reason)
        playing.shown.pop(line.tour, None)
        await self._log.append(row)
        session.add(row)

    async def _ask(
        self, playing: _Playing, tour: int, turn: int, wants: Sequence[str] | None, *, replay: bool = False
    ) -> PlayAnswer:
        if playing.frames >= int(str(playing.phase.rules["frames"])):
            raise Forbidden("The session has used its images: close it. Other episodes count as failures.")
        found = await self.relay.ask(playing.session, playing.phase.digest, tour, turn, wants, replay=replay)
        playing.frames += found.frames
        return found

    async def _repeat(self, playing: _Playing, line: TurnLine, wants: Sequence[str] | None) -> tuple[TurnHead, bytes]:
        """The requests of an earlier turn, with what was answered to them."""
        taken = playing.session.answers.get(line.tour)
        if taken is None or line.turn > len(taken):
            raise Conflict(f"Tour {line.tour} has not come to turn {line.turn}.")
        found = await self._ask(playing, line.tour, line.turn, wants, replay=True)
        action = taken[line.turn][0] if line.turn < len(taken) else None
        return TurnHead(line.tour, line.turn + 1, found.done, len(found.payload), action), found.payload

    async def _end(self, playing: _Playing, line: TurnLine) -> tuple[TurnHead, bytes]:
        session = playing.session
        if line.tour not in session.ended:
            if line.tour not in session.answers:
                raise Conflict(f"Tour {line.tour} has not begun.")
            row = Answer(session.entry_id, line.tour, len(session.answers[line.tour]) + 1, END)
            await self._log.append(row)
            session.add(row)
        return TurnHead(line.tour, line.turn, True, 0), b""

    def _check_begin(self, session: LiveSession, tour: int, tours: int) -> None:
        if tour >= tours:
            raise NotFound(f"The phase has {tours} tours; there is no tour {tour}.")
        if len(session.answers) - len(session.ended) >= MAX_OPEN:
            raise TooMany(f"{MAX_OPEN} tours are open: end one of them first.")

    def _is_late(self, playing: _Playing, tour: int) -> bool:
        shown = playing.shown.get(tour)
        return shown is not None and self._clock() - shown > float(str(playing.phase.rules["step_seconds"]))

    def _check_open(self, playing: _Playing) -> None:
        if playing.session.closed or playing.session.deadline < self._service.store.clock():
            raise Forbidden(_ENDED)

    async def _load(self, entry_id: str, sender: Identity) -> _Playing:
        playing = self._playing.get(entry_id)
        if playing is None:
            session, phase = await call(self._read, entry_id)
            playing = self._playing.setdefault(entry_id, _Playing(session, phase, session.steps))
            if len(self._playing) > MAX_SESSIONS:
                self._playing.pop(next(one for one in self._playing if one != entry_id))
        if playing.session.team_id != sender.team_id:
            raise NotFound(f"There is no session {entry_id!r}.")
        return playing

    def _forget(self, entry_id: str) -> None:
        """Read a session again when it is next needed."""
        self._playing.pop(entry_id, None)

    # In a thread

    def _find_phase(self, name: str) -> StoredPhase:
        with self._service.store.read() as db:
            return find_phase(db, name, self._service.store.clock())

    def _open(self, request: OpenRequest, sender: Identity) -> str:
        assert sender.team_id is not None
        with self._service.store.write() as db:
            time = self._service.store.clock()
            return open_session(db, request, self._service.blobs, team_id=sender.team_id, time=time)

    def _read(self, entry_id: str) -> tuple[LiveSession, StoredPhase]:
        with self._service.store.read() as db:
            session = load_session(db, entry_id)
            return session, find_phase(db, session.phase, self._service.store.clock())

    def _close(self, entry_id: str) -> None:
        with self._service.store.write() as db:
            close_session(db, entry_id, self._service.blobs, time=self._service.store.clock())


class _AnswerLog:
    """Stores answers in groups: those that arrive during one transaction are in the next."""

    def __init__(self, service: Service, forget: Callable[[str], None]) -> None:
        self._service, self._forget = service, forget
        self._waiting: list[tuple[Answer, asyncio.Future[None]]] = []
        self._task: asyncio.Task[None] | None = None

    async def append(self, row: Answer) -> None:
        """Return when the answer is stored."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((row, future))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._write_all())
        await future

    async def _write_all(self) -> None:
        while self._waiting:
            group, self._waiting = self._waiting, []
            try:
                ended = await call(self._write, [row for row, _ in group])
            except Exception as error:
                # Whether they are stored is unknown, so the database says it when the participants ask again.
                for row, future in group:
                    self._forget(row.entry_id)
                    if not future.done():
                        future.set_exception(error)
            else:
                for row, future in group:
                    if future.done():
                        continue
                    if row.entry_id in ended:
                        future.set_exception(Forbidden(_ENDED))
                    else:
                        future.set_result(None)

    def _write(self, rows: Sequence[Answer]) -> set[str]:
        with self._service.store.write() as db:
            return append_answers(db, rows)
