"""Backups: the database by its own means while it is in use, then the blobs, which never change once they exist."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from pathlib import Path

from psycopg.conninfo import make_conninfo

from itinera.errors import BadArgument, ItineraError, MissingPackage
from itinera.formats.challenge import FILE_NAME
from itinera.formats.writing import atomic_write, make_folder, sync_folder
from itinera.server.store import DATABASE_NAME, Store

DUMP_NAME = "itinera.pgdump"
_PIECE = 1 << 20


class BackupError(ItineraError):
    """A program of PostgreSQL has failed; the message is its own."""


def back_up(store: Store, folder: Path, target: Path) -> None:
    """Write the database, the challenge file and all blobs to a folder; an earlier backup there is replaced.

    The database first: every blob that it names is complete before its row exists.
    """
    make_folder(target)
    if store.is_sqlite:
        _copy_sqlite(store, target / DATABASE_NAME)
    else:
        dump = _run(store, "pg_dump", "--format=custom", "--no-owner")
        with atomic_write(target / DUMP_NAME) as stream:
            stream.write(dump)
    _copy(folder / FILE_NAME, target / FILE_NAME)
    for blob in sorted((folder / "blobs").glob("??/*")):
        copy = target / blob.relative_to(folder)
        if not copy.exists():
            _copy(blob, copy)


def restore(backup: Path, store: Store, folder: Path) -> None:
    """Put a backup into an empty folder, and into an empty database if it is one of PostgreSQL."""
    found = backup / (DATABASE_NAME if store.is_sqlite else DUMP_NAME)
    if not found.exists():
        raise BadArgument(f"{backup} has no {found.name}: it is not a backup of this kind of database.")
    if any((folder / name).exists() for name in (DATABASE_NAME, "blobs")):
        raise BadArgument(f"{folder} has a server already: restore into an empty folder.")
    make_folder(folder)
    if store.is_sqlite:
        _copy(found, folder / DATABASE_NAME)
    else:
        _run(store, "pg_restore", "--no-owner", "--exit-on-error", "--single-transaction", content=found.read_bytes())
    for blob in sorted((backup / "blobs").glob("??/*")):
        _copy(blob, folder / blob.relative_to(backup))
    if not (folder / FILE_NAME).exists():
        _copy(backup / FILE_NAME, folder / FILE_NAME)


def _copy_sqlite(store: Store, target: Path) -> None:
    """A copy by SQLite itself, which is whole even while others write."""
    assert store.url.database is not None
    draft = target.with_name(f".{target.name}.part")
    draft.unlink(missing_ok=True)
    with sqlite3.connect(store.url.database) as source, sqlite3.connect(draft) as copy:
        source.backup(copy)
        copy.execute("PRAGMA journal_mode=DELETE")  # one file, without a log beside it
    source.close()
    copy.close()
    with draft.open("rb") as stream:
        os.fsync(stream.fileno())
    draft.replace(target)
    sync_folder(target.parent)


def _copy(source: Path, target: Path) -> None:
    with source.open("rb") as content, atomic_write(target) as stream:
        shutil.copyfileobj(content, stream, _PIECE)


def _run(store: Store, program: str, *options: str, content: bytes | None = None) -> bytes:
    """The output of a program of PostgreSQL on the database of a store."""
    url = store.url
    where = {"host": url.host, "port": url.port, "user": url.username, "dbname": url.database, **url.query}
    dsn = make_conninfo("", **{name: str(value) for name, value in where.items() if value is not None})
    target = ["--dbname", dsn]
    secret = {} if url.password is None else {"PGPASSWORD": str(url.password)}  # not in the arguments
    path = shutil.which(program)
    if path is None:
        raise MissingPackage(f"A backup of PostgreSQL ({program})", "postgresql-client")
    done = subprocess.run([path, *options, *target], input=content, capture_output=True, env=os.environ | secret)
    if done.returncode:
        raise BackupError(f"{program}: {done.stderr.decode('utf-8', 'replace').strip()}")
    return done.stdout
