"""A challenge server, its workers and its database as processes that are killed at random, while teams submit.

Run as a program it is one of these processes: `serve FOLDER PORT DATABASE` or `work URL FOLDER TOKEN`.
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
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from itinera.errors import ItineraError
from itinera.formats.hosted_challenge import read_hosted_challenge
from itinera.server.client import Client, Refusal, Unreachable
from itinera.server.messages import EntryRequest, NewEntry
from itinera.server.verdicts import Coverage, Verdict
from itinera.server.worker import Worker

LEASE_SECONDS = 2.0
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
        until = time.monotonic() + 300
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


def kill_at_random(
    kills: list[Callable[[], None]], rng: np.random.Generator, until: Callable[[], bool], most: int
) -> int:
    """Kill one after the other at random, with random pauses; the number of kills."""
    done = 0
    while not until() and done < most:
        time.sleep(rng.uniform(0.2, 0.8))
        kills[rng.integers(len(kills))]()
        done += 1
    return done


def _serve(folder: str, port: str, database: str) -> None:
    from itinera.server.folder import ServerFolder
    from itinera.server.serving import run_server

    until = time.monotonic() + 60
    while True:
        try:
            server = ServerFolder(folder, database=database)
            break
        except Exception:  # PostgreSQL starts again
            if time.monotonic() > until:
                raise
            time.sleep(0.2)
    run_server(server, port=int(port), workers=0, lease_seconds=LEASE_SECONDS)


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
