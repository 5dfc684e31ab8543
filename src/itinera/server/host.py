"""What the host of a challenge does: phases, shots, tokens, entries, backups. Start with `ChallengeHost`.

It works on the folder and the database, beside the running server; the server itself has no administration to attack.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from types import TracebackType
from typing import Literal

from sqlalchemy import select

from itinera.errors import BadArgument
from itinera.server.backup import back_up, restore
from itinera.server.entries import hide_entry, rerun_entry
from itinera.server.events import append_event, read_events
from itinera.server.exports import write_static_export
from itinera.server.folder import ServerFolder
from itinera.server.messages import EntryReport
from itinera.server.phases import find_phase, switch_phase
from itinera.server.public_pages import PublicPages
from itinera.server.service import Service
from itinera.server.shots import find_ledger_faults, grant_shots
from itinera.server.store import DATABASE_NAME, Store
from itinera.server.tables import entry, judgement, team
from itinera.server.teams import Scope, ban_team, create_team, find_team, make_token, revoke_token
from itinera.server.visibility import HOST

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
            judged = select(judgement.c.entry_id)  # not the sessions that are being played
            wanted = select(entry.c.id).where(entry.c.phase == phase, entry.c.id.not_in(busy), entry.c.id.in_(judged))
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

    def export(self, out: str | Path, *, dataset: str = "") -> Path:
        """Write the pages of the challenge into a folder that needs no server, with `board.zip`, whose log anybody can
        verify by `itinera check`; the file of the archive.

        dataset: OWNER/NAME of the benchmark on the Hugging Face Hub, for a file of evaluation results per entry.
        """
        pages = PublicPages(Service(self._store, self._server.blobs))
        site = pages.site()
        boards = [board for phase in site.phases if (board := pages.find_board(phase)) is not None]
        with self._store.read() as db:
            events = read_events(db)
        return write_static_export(Path(out), site.title, boards, pages.describe_challenge(), events, dataset=dataset)

    def reveal(self, secret: bytes) -> None:
        """Publish the secret of a sealed season, to which the challenge was committed from the beginning."""
        challenge = self._server.challenge
        if challenge.commitment is None:
            raise BadArgument(f"{challenge.name} was not committed to a secret: its file has no commitment.")
        if hashlib.sha256(secret).hexdigest() != challenge.commitment:
            raise BadArgument(f"This is not the secret to which {challenge.name} was committed.")
        with self._store.write() as db:
            if read_events(db, kind="reveal"):
                raise BadArgument(f"The secret of {challenge.name} has been revealed already.")
            about = {"name": challenge.name, "secret": secret.hex()}
            append_event(db, "reveal", about, by="host", time=self._store.clock())

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
