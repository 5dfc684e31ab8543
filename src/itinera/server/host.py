"""What the host of a challenge does: phases, shots, tokens, entries, backups. Start with `ChallengeHost`.

It works on the folder and the database, beside the running server; the server itself has no administration to attack.
"""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Literal

import msgspec
from sqlalchemy import select

from itinera.errors import BadArgument
from itinera.formats.writing import atomic_write
from itinera.server.backup import back_up, restore
from itinera.server.entries import hide_entry, rerun_entry
from itinera.server.events import append_event, read_events
from itinera.server.folder import ServerFolder
from itinera.server.messages import EntryReport
from itinera.server.phases import find_phase, switch_phase
from itinera.server.service import Service
from itinera.server.shots import find_ledger_faults, grant_shots
from itinera.server.store import DATABASE_NAME, Store
from itinera.server.tables import entry, judgement, team
from itinera.server.teams import Scope, ban_team, create_team, find_team, make_token, revoke_token
from itinera.server.visibility import HOST, PUBLIC

_DAY_MS = 86_400_000


class ChallengeHost:
    """The commands of a host, on the folder of a challenge. Close it, or use it in a `with` block."""

    def __init__(self, folder: str | Path, *, database: str | None = None) -> None:
        self._server = ServerFolder(folder, database=database)
        self._store = self._server.store

    def __enter__(self) -> ChallengeHost:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the database."""
        self._server.close()

    def open(self, phase: str) -> None:
        """Open a phase now, whatever its times say."""
        self._switch(phase, "open")

    def close_phase(self, phase: str) -> None:
        """Close a phase now, whatever its times say."""
        self._switch(phase, "closed")

    def follow_times(self, phase: str) -> None:
        """Let the times of the challenge file decide again whether a phase is open."""
        self._switch(phase, None)

    def grant(self, name: str, phase: str, shots: int) -> None:
        """Let a team submit more often than the limits allow: today, and in all."""
        if shots < 1:
            raise BadArgument(f"shots must be ≥ 1 (got {shots}).")
        time = self._store.clock()
        with self._store.write() as db:
            find_phase(db, phase, time)
            grant_shots(db, team_id=find_team(db, name), phase=phase, shots=shots, time=time)
            append_event(db, "grant", {"phase": phase, "shots": shots}, by="host", time=time)

    def rerun(self, entry_id: str) -> None:
        """Judge an entry again, whatever became of it; its earlier judgements stay."""
        with self._store.write() as db:
            rerun_entry(db, entry_id, time=self._store.clock())

    def rerun_phase(self, phase: str) -> int:
        """Judge all entries of a phase again that are not being judged; the number of them."""
        with self._store.read() as db:
            find_phase(db, phase, self._store.clock())
            busy = select(judgement.c.entry_id).where(judgement.c.state.in_(("queued", "running")))
            wanted = select(entry.c.id).where(entry.c.phase == phase, entry.c.id.not_in(busy))
            names = list(db.execute(wanted.order_by(entry.c.submitted, entry.c.id)).scalars())
        for name in names:
            self.rerun(name)
        return len(names)

    def hide(self, entry_id: str, why: str) -> None:
        """Take an entry off the board, with a reason; an empty reason shows it again."""
        with self._store.write() as db:
            hide_entry(db, entry_id, why, time=self._store.clock())

    def ban(self, name: str, why: str) -> None:
        """Exclude a team, with a reason; an empty reason readmits it."""
        with self._store.write() as db:
            ban_team(db, name, why, time=self._store.clock())

    def make_token(self, scope: Scope, *, team_name: str = "", days: int | None = None) -> str:
        """A new token, shown only now. A team that does not exist is created; workers and invitations have none."""
        if (scope in ("submit", "read")) != bool(team_name):
            raise BadArgument("A token to submit or read belongs to a team (--team); others do not.")
        time = self._store.clock()
        with self._store.write() as db:
            team_id = None
            if team_name:
                known = db.execute(select(team.c.id).where(team.c.name == team_name)).scalar_one_or_none()
                team_id = create_team(db, team_name, time=time) if known is None else known
            expires = None if days is None else time + days * _DAY_MS
            return make_token(db, scope, time=time, team_id=team_id, expires=expires)

    def revoke(self, prefix: str) -> None:
        """End a token, named by its first characters."""
        with self._store.write() as db:
            revoke_token(db, prefix, time=self._store.clock())

    def entries(self, phase: str | None = None) -> list[EntryReport]:
        """All entries with their states, the newest first."""
        return Service(self._store, self._server.blobs).list_entries(HOST, phase)

    def check_ledger(self) -> list[str]:
        """Where shots, limits and entries contradict each other; empty if all sums are right."""
        with self._store.read() as db:
            return find_ledger_faults(db)

    def export(self, out: str | Path) -> None:
        """Write the public entries and the event log to a folder, as JSON."""
        folder = Path(out)
        reports = Service(self._store, self._server.blobs).list_entries(PUBLIC)
        with self._store.read() as db:
            events = read_events(db)
        with atomic_write(folder / "entries.json") as stream:
            stream.write(msgspec.json.encode(reports))
        with atomic_write(folder / "events.jsonl") as stream:
            stream.writelines(event.line + b"\n" for event in events)

    def back_up(self, target: str | Path) -> None:
        """Write the database and all blobs to a folder, while the server runs."""
        back_up(self._store, self._server.folder, Path(target))

    def _switch(self, phase: str, switch: Literal["open", "closed"] | None) -> None:
        with self._store.write() as db:
            switch_phase(db, phase, switch, time=self._store.clock())


def restore_backup(backup: str | Path, folder: str | Path, *, database: str | None = None) -> None:
    """Put a backup into an empty folder, and its database into an empty one."""
    target = Path(folder)
    store = Store(database or target / DATABASE_NAME)
    try:
        restore(Path(backup), store, target)
    finally:
        store.close()
