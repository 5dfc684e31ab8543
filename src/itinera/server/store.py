"""The database of a challenge server: connections, transactions and migrations. Start with `Store`.

SQLite by default, PostgreSQL by URL. Other modules of this package contain the statements and take the connection of a
transaction as their first argument.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, Table, create_engine, event, make_url
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError

from itinera.errors import BadArgument

DATABASE_NAME = "itinera.db"
BUSY_SECONDS = 30  # that a SQLite transaction waits for that of another process
POOL_SIZE = 16
_WRITING = "itinera_writing"


def now_ms() -> int:
    """Milliseconds since 1970, UTC."""
    return time.time_ns() // 1_000_000


class Store:
    """The database of a server. `read` and `write` are transactions; a write is durable when its block has ended.

    url: `sqlite:///FILE` or `postgresql://…`. clock: the time in milliseconds, an argument for tests.
    """

    def __init__(self, url: str | Path, *, clock: Callable[[], int] = now_ms) -> None:
        self.url = database_url(url)
        self.clock = clock
        self.engine = _make_engine(self.url)
        # Waiting threads of this process queue up here; SQLite itself lets them sleep and try again.
        self._turn = threading.Lock() if self.is_sqlite else None

    @property
    def is_sqlite(self) -> bool:
        """Whether the database is a SQLite file."""
        return self.url.get_backend_name() == "sqlite"

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that only reads."""
        with self.engine.connect() as db, db.begin():
            yield db

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction: everything in the block is stored, or nothing."""
        if self._turn is not None:
            self._turn.acquire()
        try:
            with self.engine.connect().execution_options(**{_WRITING: True}) as db, db.begin():
                yield db
        finally:
            if self._turn is not None:
                self._turn.release()

    def migrate(self) -> None:
        """Create the tables, or bring those of an earlier release up to date."""
        with self.write() as db:
            if not self.is_sqlite:  # two processes that start at once take turns
                db.exec_driver_sql("SELECT pg_advisory_xact_lock(7102000)")
            config = _alembic_config()
            newest = ScriptDirectory.from_config(config).get_heads()
            current = MigrationContext.configure(db).get_current_heads()
            known = {one.revision for one in ScriptDirectory.from_config(config).walk_revisions()}
            if not set(current) <= known:
                raise BadArgument(f"The database {self.name} belongs to a newer release of Itinera: update Itinera.")
            if set(current) != set(newest):
                config.attributes["connection"] = db
                command.upgrade(config, "head")

    @property
    def name(self) -> str:
        """The URL without its password."""
        return self.url.render_as_string(hide_password=True)

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def insert_missing(db: Connection, table: Table, row: Mapping[str, Any]) -> bool:
    """Insert a row unless one with its key exists; whether it was inserted."""
    dialect = sqlite if db.dialect.name == "sqlite" else postgresql
    inserted = dialect.insert(table).values(**row).on_conflict_do_nothing()
    return db.execute(inserted.returning(*table.primary_key)).first() is not None


def database_url(url: str | Path) -> URL:
    """The URL of SQLAlchemy for a database: a path is that of a SQLite file.

    >>> str(database_url("postgresql://host/itinera"))
    'postgresql+psycopg://host/itinera'
    """
    if isinstance(url, Path):
        return URL.create("sqlite", database=str(url))
    try:
        made = make_url(url)
    except ArgumentError:
        raise BadArgument(f"{url!r} is not the URL of a database. Use postgresql://USER@HOST/NAME.") from None
    if made.drivername in ("postgresql", "postgres"):
        made = made.set(drivername="postgresql+psycopg")
    if made.drivername not in ("postgresql+psycopg", "sqlite") or (
        made.drivername == "sqlite" and made.database in (None, "", ":memory:")
    ):
        raise BadArgument(f"The database must be postgresql://… or sqlite:///FILE, not {made.drivername}.")
    return made


def _make_engine(url: URL) -> Engine:
    if url.get_backend_name() != "sqlite":
        # A connection may have died with the server, so it is tested before use.
        options: dict[str, Any] = {"connect_timeout": 10, "options": "-c timezone=utc"}
        return create_engine(url, pool_size=POOL_SIZE, max_overflow=0, pool_pre_ping=True, connect_args=options)
    engine = create_engine(url, pool_size=POOL_SIZE, max_overflow=0, connect_args={"timeout": BUSY_SECONDS})
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, record: Any) -> None:
    connection.isolation_level = None  # transactions are begun below, not by the driver
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(db: Connection) -> None:
    # A transaction that reads first and writes later can lose its place; one that will write says so at once.
    db.exec_driver_sql("BEGIN IMMEDIATE" if db.get_execution_options().get(_WRITING) else "BEGIN")


def _alembic_config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    return config
