"""Backups while the server is in use, and what a restored server knows."""

from __future__ import annotations

import hashlib
import os
import threading

import pytest
from sqlalchemy import select

from itinera.errors import BadArgument
from itinera.server.backup import DUMP_NAME, back_up, restore
from itinera.server.blobs import BlobFolder
from itinera.server.queue import finish_judgement, lease_judgement
from itinera.server.shots import find_ledger_faults
from itinera.server.store import DATABASE_NAME, Store
from itinera.server.tables import metadata
from itinera.server.teams import identify, make_token
from submitting import VERDICT, add_team, submit

CONTENT = b"entry"
DIGEST = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def empty(request, tmp_path, database):
    """An empty folder, and a store on an empty database of the same kind."""
    folder = tmp_path / "restored"
    if database.startswith("sqlite"):
        made = Store(folder / DATABASE_NAME)
    else:
        cluster = request.getfixturevalue("cluster")
        made = Store(cluster.create(f"restored_{os.environ.get('PYTEST_XDIST_WORKER', 'main')}"))
    yield folder, made
    made.close()


def rows(store):
    with store.read() as db:
        return {
            name: sorted(map(tuple, db.execute(select(table))), key=repr) for name, table in metadata.tables.items()
        }


def test_a_restored_server_is_the_one_that_was_backed_up(store, challenge, clock, empty, tmp_path):
    folder, other = empty
    blobs = BlobFolder(challenge.folder)
    with blobs.append(DIGEST, "team1", offset=0, total=5) as upload:
        upload.write(CONTENT)
    blobs.complete(DIGEST, "team1")
    with store.write() as db:
        team_id = add_team(db)
        token = make_token(db, "submit", time=clock(), team_id=team_id)
        submit(db, team_id, time=clock())
        phases = {phase.name: phase.digest for phase in challenge.phases}
        lease = lease_judgement(db, worker="w", phases=phases, time=clock())
        assert finish_judgement(db, lease.judgement_id, 1, VERDICT, rows=None, time=clock())
        submit(db, team_id, "request-2", time=clock())
    back_up(store, challenge.folder, tmp_path / "backup")
    back_up(store, challenge.folder, tmp_path / "backup")  # an hour later
    restore(tmp_path / "backup", other, folder)
    other.migrate()
    assert rows(other) == rows(store)
    with BlobFolder(folder).open(DIGEST) as stream:
        assert stream.read() == CONTENT
    assert (folder / "challenge.toml").read_text() == (challenge.folder / "challenge.toml").read_text()
    with other.write() as db:  # and it goes on
        assert identify(db, token, clock()).team_id == team_id
        assert lease_judgement(db, worker="w", phases=phases, time=clock()) is not None
        assert find_ledger_faults(db) == []


def test_a_backup_during_writes_is_whole(store, challenge, clock, empty, tmp_path):
    folder, other = empty
    with store.write() as db:
        team_id = add_team(db)
    ended = threading.Event()

    def keep_submitting():
        number = 0
        while not ended.is_set():
            with store.write() as db:
                submit(db, team_id, f"request-{number}", phase="dev", time=clock())
            number += 1

    thread = threading.Thread(target=keep_submitting)
    thread.start()
    try:
        back_up(store, challenge.folder, tmp_path / "backup")
    finally:
        ended.set()
        thread.join()
    restore(tmp_path / "backup", other, folder)
    with other.read() as db:
        assert find_ledger_faults(db) == []


def test_a_restore_overwrites_nothing(store, challenge, empty, tmp_path):
    folder, other = empty
    with pytest.raises(BadArgument, match="is not a backup of this kind"):
        restore(tmp_path / "none", other, folder)
    back_up(store, challenge.folder, tmp_path / "backup")
    restore(tmp_path / "backup", other, folder)
    if other.is_sqlite:
        with pytest.raises(BadArgument, match="has a server already"):
            restore(tmp_path / "backup", other, folder)
    assert (tmp_path / "backup" / DUMP_NAME).exists() != other.is_sqlite
