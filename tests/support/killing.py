"""A challenge server, its workers and its database as processes that are killed at random, while teams submit.

Run as a program it is one of these processes: `serve FOLDER PORT DATABASE LEASE_SECONDS` or `work URL FOLDER TOKEN`.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from sqlalchemy import func, select
from sqlalchemy.exc import DBAPIError

from itinera.errors import ItineraError
from itinera.formats.hosted_challenge import read_hosted_challenge
from itinera.server.client import Client, Refusal, Unreachable
from itinera.server.messages import EntryRequest, NewEntry
from itinera.server.store import Store
from itinera.server.tables import judgement
from itinera.server.verdicts import Coverage, Verdict
from itinera.server.worker import Worker

# Seconds after which something is lost for good; a busy machine may need more for thousands of entries.
LONGEST_WAIT = float(os.environ.get("ITINERA_LONGEST_WAIT", 600))
HERE = Path(__file__)
CHALLENGE = """\
tasks = "tasks.json"
worlds = "season"
[phases.dev]
"""


def judge(bundle: Path, phase: object, rows: Path) -> Verdict:
    """A verdict from the content of the entry, so that a test can tell whether it is the right one's."""
    number = float(json.loads(bundle.read_text())["number"])
    rows.write_bytes(bundle.read_bytes() + b"scored")
    return Verdict("replayed", 1, 0, Coverage(1, 1, 0), "paper", "r2r", "f" * 16, {"SR": (number, number, number)})


def make_bundle(number: int) -> bytes:
    """The file of an entry."""
    return json.dumps({"number": number, "padding": "x" * 3000}).encode()


def free_port() -> int:
    """A port of this machine that nothing uses."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@dataclass
class Ward:
    """A process that is started again whenever it is killed."""

    command: list[str]
    process: subprocess.Popen[bytes] | None = None
    kills: int = 0
    started: Callable[[], None] = lambda: None

    def start(self) -> None:
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL)

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()
        self.kills += 1
        self.start()

    def end(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()


@dataclass
class Teams:
    """Threads that submit entries, and repeat every request until the server has answered."""

    url: str
    tokens: list[str]
    entries: int
    folder: Path
    accepted: dict[str, int] = field(default_factory=dict)  # entry id -> number of its bundle
    failures: list[str] = field(default_factory=list)

    def run(self) -> list[threading.Thread]:
        threads = [threading.Thread(target=self._submit, args=(n,)) for n in range(len(self.tokens))]
        for thread in threads:
            thread.start()
        return threads

    def _submit(self, team: int) -> None:
        client = Client(self.url, self.tokens[team], pause=0.05)
        for number in range(team, self.entries, len(self.tokens)):
            try:
                self._submit_one(client, number)
            except Exception as error:
                self.failures.append(f"entry {number}: {error!r}")

    def _submit_one(self, client: Client, number: int) -> None:
        file = self.folder / f"{number}.json"
        file.write_bytes(make_bundle(number))
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        request = EntryRequest("dev", digest, f"method {number}", f"request-{number}")
        until = time.monotonic() + LONGEST_WAIT
        while time.monotonic() < until:
            try:
                client.upload(file, phase="dev")
                created = client.post("/api/entries", request, NewEntry)
            except (Unreachable, Refusal) as error:
                if isinstance(error, Refusal) and error.status not in (404, 408, 409, 503):
                    raise
                time.sleep(0.1)
                continue
            self.accepted[created.entry] = number
            file.unlink()
            return
        raise TimeoutError


def answers(url: str) -> bool:
    """Whether a server and its database answer."""
    try:
        return Client(url)._send("GET", "/healthz") != b""
    except (Unreachable, Refusal):
        return False


def wait_for(answer: Callable[[], bool], seconds: float) -> None:
    """Wait until something is so."""
    until = time.monotonic() + seconds
    while not answer():
        assert time.monotonic() < until, f"not within {seconds} seconds"
        time.sleep(0.1)


class Watcher:
    """Follows the queue in the database: how many judgements have ended, and the longest time that one had no news.

    The time of a judgement runs from a lease to its end or to the next lease, so it counts what a lost worker costs.
    """

    def __init__(self, store: Store) -> None:
        self._store, self._seen = store, dict[tuple[int, int], int]()  # judgement and attempt -> its longest time
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self.settled = 0  # judgements that have ended

    def __enter__(self) -> Watcher:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()

    @property
    def longest_seconds(self) -> float:
        """The longest time without news of a judgement that had been leased."""
        return max(self._seen.values(), default=0) / 1000

    def _watch(self) -> None:
        while not self._ended.wait(0.25):
            with suppress(DBAPIError):  # PostgreSQL starts again
                self._look()

    def _look(self) -> None:
        open_states = ("queued", "running")
        held = select(judgement.c.id, judgement.c.attempt, judgement.c.leased)
        with self._store.read() as db:
            states = select(judgement.c.state, func.count()).group_by(judgement.c.state)
            counts = {state: count for state, count in db.execute(states)}  # noqa: C416
            rows = db.execute(held.where(judgement.c.state.in_(open_states), judgement.c.attempt > 0)).all()
        self.settled = sum(count for state, count in counts.items() if state not in open_states)
        now = self._store.clock()
        self._seen |= {(row.id, row.attempt): now - row.leased for row in rows}


def kill_at_random(
    kills: Sequence[Callable[[], None]], rng: np.random.Generator, progress: Callable[[], int], *, count: int, most: int
) -> None:
    """Kill in random order, each equally often, when a progress from 0 to `most` passes random points of it."""
    for point, kill in zip(sorted(rng.uniform(0, most, count)), rng.permutation(count) % len(kills), strict=True):
        wait_for(lambda point=point: progress() >= point, LONGEST_WAIT)
        time.sleep(rng.uniform(0, 0.2))
        kills[kill]()


def _serve(folder: str, port: str, database: str, lease_seconds: str) -> None:
    from itinera.server.folder import ServerFolder
    from itinera.server.serving import run_server

    until = time.monotonic() + LONGEST_WAIT
    while True:
        try:
            server = ServerFolder(folder, database=database)
            break
        except Exception:  # PostgreSQL starts again
            if time.monotonic() > until:
                raise
            time.sleep(0.2)
    run_server(server, port=int(port), workers=0, lease_seconds=float(lease_seconds))


def _work(url: str, folder: str, token: str) -> None:
    client = Client(url, token, pause=0.05)
    worker = Worker(client, read_hosted_challenge(folder), judge, name=str(os.getpid()), idle_seconds=0.05)
    while True:
        try:
            worker.run()
        except ItineraError as error:
            print(error, file=sys.stderr)
            time.sleep(0.1)


if __name__ == "__main__":
    {"serve": _serve, "work": _work}[sys.argv[1]](*sys.argv[2:])
