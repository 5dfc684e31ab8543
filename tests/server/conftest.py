"""Fixtures of the server's tests: stores on SQLite and on PostgreSQL, with a clock that tests set."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from itinera.formats.hosted_challenge import HostedChallenge, read_hosted_challenge
from itinera.server.phases import store_challenge
from itinera.server.store import Store
from itinera.server.tables import metadata
from postgres import Cluster

START = 1_790_000_000_000  # 2026-09-21 14:13:20 UTC

CHALLENGE = """\
name = "Spring"
worlds = "season"

[phases.dev]
tasks = "dev.json"
show = "rows"

[phases.test]
tasks = "test.json"
protocol = "r2r"
shots_per_day = 2
shots = 3
"""


class Clock:
    """A clock that stands still until a test moves it."""

    def __init__(self) -> None:
        self.time = START

    def __call__(self) -> int:
        return self.time

    def advance(self, *, seconds: float) -> None:
        self.time += round(seconds * 1000)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """The PostgreSQL server of this run: the first test process that needs it starts it, the last one stops it."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    register = shared / "postgres"  # the folder of the server, then a letter for each process that uses it
    with open(shared / "postgres.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if register.exists():
            folder, users = register.read_text().split("\n")
            made = Cluster(Path(folder))
        else:
            made, users = Cluster(), ""
            made.start()
        register.write_text(f"{made.folder}\n{users}u")
    yield made
    with open(shared / "postgres.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _, users = register.read_text().split("\n")
        register.write_text(f"{made.folder}\n{users[1:]}")
        if len(users) == 1:
            made.stop()
            register.unlink()
            shutil.rmtree(made.folder)


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite database with empty tables, to copy."""
    file = tmp_path_factory.mktemp("migrated") / "itinera.db"
    store = Store(file)
    store.migrate()
    store.close()
    return file


@pytest.fixture(scope="session")
def migrated_url(cluster: Cluster) -> str:
    """A PostgreSQL database with empty tables; one for each test process."""
    url = cluster.create(f"test_{os.environ.get('PYTEST_XDIST_WORKER', 'main')}")
    store = Store(url)
    store.migrate()
    store.close()
    return url


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a migrated, empty database, of either kind."""
    if request.param == "sqlite":
        shutil.copy(request.getfixturevalue("migrated_file"), tmp_path / "itinera.db")
        return f"sqlite:///{tmp_path / 'itinera.db'}"
    url: str = request.getfixturevalue("migrated_url")
    with psycopg.connect(url, autocommit=True) as db:
        db.execute(f"TRUNCATE {', '.join(name for name in metadata.tables)} RESTART IDENTITY CASCADE")
        db.execute("INSERT INTO chain (id, number, line) VALUES (1, 0, '')")
    return url


@pytest.fixture
def open_store(database: str, clock: Clock) -> Iterator[Callable[[], Store]]:
    """Opens the database once more, as another process would."""
    opened: list[Store] = []

    def make() -> Store:
        opened.append(Store(database, clock=clock))
        return opened[-1]

    yield make
    for one in opened:
        one.close()


@pytest.fixture
def challenge(tmp_path: Path) -> HostedChallenge:
    """A challenge with an open phase without limits and one with two shots a day, three in all."""
    folder = tmp_path / "challenge"
    folder.mkdir()
    (folder / "challenge.toml").write_text(CHALLENGE)
    return read_hosted_challenge(folder)


@pytest.fixture
def store(open_store: Callable[[], Store], challenge: HostedChallenge, clock: Clock) -> Store:
    """A database with the challenge."""
    made = open_store()
    with made.write() as db:
        store_challenge(db, challenge, time=clock())
    return made
