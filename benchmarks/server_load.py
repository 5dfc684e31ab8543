"""A challenge server under load on one core: pages of a board and submissions, with FastAPI beside it in the same run.

The server is a process on the last core; this program, which asks it, is on the first. Rates are per CPU second of the
server, because other programs may use its core; latencies are of the wall clock. Goals: 200 board pages/s and 50
submissions/s per core, p99 below 250 ms. A submission is three requests: what of the file has arrived, the file, and
the entry. The page of FastAPI is made by the same functions from the same database.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import msgspec
import numpy as np
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "tests"), str(ROOT / "tests/support")]

from itinera.formats.bundles import write_scores  # noqa: E402
from itinera.server.entries import Submission, submit_entry  # noqa: E402
from itinera.server.folder import ServerFolder  # noqa: E402
from itinera.server.html import Site, render_board  # noqa: E402
from itinera.server.judge import make_verdict  # noqa: E402
from itinera.server.messages import EntryRequest  # noqa: E402
from itinera.server.page_routes import BoardTexts  # noqa: E402
from itinera.server.public_pages import PublicPages  # noqa: E402
from itinera.server.queue import finish_judgement, lease_judgement  # noqa: E402
from itinera.server.service import Service  # noqa: E402
from itinera.server.tables import phase  # noqa: E402
from itinera.server.teams import create_team, make_token  # noqa: E402
from itinera.server.uploads import record_blob  # noqa: E402
from killing import answers, free_port, wait_for  # noqa: E402
from server.boards import a_large_board, rows  # noqa: E402
from timing import cpu  # noqa: E402

ENTRIES, CLIENTS, PAGES, SUBMISSIONS = 50, 8, 2000, 800
CHALLENGE = 'name = "May"\ntasks = "tasks.json"\nworlds = "season"\nshow = "rows"\n[phases.test]\n'
PAGE = "/phases/test"


def fill(folder: Path) -> list[str]:
    """Write a challenge with a board; the tokens of teams."""
    (folder / "challenge.toml").write_text(CHALLENGE)
    server = ServerFolder(folder)
    with server.store.write() as db:
        now = server.store.clock()
        teams = [create_team(db, f"Team {n}", time=now) for n in range(CLIENTS)]
        tokens = [make_token(db, "submit", time=now, team_id=one) for one in teams]
    for number in range(ENTRIES):
        add_entry(server, teams[number % CLIENTS], number)
    server.close()
    return tokens


def add_entry(server: ServerFolder, team_id: int, number: int) -> None:
    """An entry with scores of 240 episodes."""
    table = rows(f"agent {number}", 0.2 + 0.6 * number / ENTRIES)
    bundle = store_file(server, lambda file: file.write_text(f"entry {number}"), team_id)
    scores = store_file(server, lambda file: write_scores(file, table), None)
    verdict = make_verdict(table, badge="replayed", stopped=len(table), failed=0)
    with server.store.write() as db:
        now = server.store.clock()
        digests = {row.name: row.digest for row in db.execute(phase.select())}
        submission = Submission("test", bundle, f"Method {number}", f"request-{number}")
        submit_entry(db, submission, team_id=team_id, time=now)
        lease = lease_judgement(db, worker="bench", phases=digests, time=now)
        assert lease is not None
        finish_judgement(db, lease.judgement_id, lease.attempt, verdict, rows=scores, time=now)


def store_file(server: ServerFolder, write: Callable[[Path], object], team_id: int | None) -> str:
    """The digest of a file that counts as uploaded."""
    file = server.folder / "new"
    write(file)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    target = server.blobs.path(digest)
    target.parent.mkdir(parents=True, exist_ok=True)
    size = file.rename(target).stat().st_size
    with server.store.write() as db:
        record_blob(db, digest, size, team_id=team_id, time=server.store.clock())
    return digest


class Client:
    """A connection that stays open, and the seconds that each request took."""

    def __init__(self, port: int, token: str = "") -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def send(self, method: str, path: str, body: bytes = b"", **headers: str) -> bytes:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        self._connection.request(method, path, body or None, self._headers | names)
        reply = self._connection.getresponse()
        content = reply.read()
        assert reply.status < 300, (reply.status, content)
        return content

    def submit(self, number: int) -> None:
        """One whole submission."""
        content = f"new entry {number}".encode() + bytes(4000)
        path = f"/api/blobs/{hashlib.sha256(content).hexdigest()}"
        self.send("GET", path)
        self.send("PUT", path + "?phase=test", content, Upload_Offset="0", Upload_Length=str(len(content)))
        request = EntryRequest("test", path[11:], "Method", f"request-new-{number}")
        self.send("POST", "/api/entries", msgspec.json.encode(request))


def drive(process: int, works: list[Callable[[], object]], count: int) -> tuple[float, float, float]:
    """Repeat each work in a thread of its own: repetitions per CPU second of a process and per second, p99 in ms."""
    took: list[float] = []

    def repeat(work: Callable[[], object]) -> None:
        for _ in range(count // len(works)):
            begun = time.perf_counter()
            work()
            took.append(time.perf_counter() - begun)

    threads = [threading.Thread(target=repeat, args=(work,)) for work in works]
    begun, used = time.perf_counter(), cpu_seconds(process)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(took) == count, "a client has failed"
    used = cpu_seconds(process) - used
    return count / used, count / (time.perf_counter() - begun), 1000 * float(np.quantile(took, 0.99))


def cpu_seconds(process: int) -> float:
    """The CPU seconds that a process has used, on Linux."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Served:
    """A server of this program as a process on the last core."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.port = free_port()
        last = max(os.sched_getaffinity(0))
        command = ["taskset", "-c", str(last), sys.executable, __file__, kind, str(folder), str(self.port)]
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL)

    def __enter__(self) -> Served:
        wait_for(lambda: answers(f"http://127.0.0.1:{self.port}"), 60)
        return self

    def __exit__(self, *error: object) -> None:
        self._process.terminate()
        self._process.wait()

    def drive(self, works: list[Callable[[], object]], count: int) -> tuple[float, float, float]:
        return drive(self._process.pid, works, count)

    def drive_page(self, path: str) -> tuple[float, float, float]:
        clients = [Client(self.port) for _ in range(CLIENTS)]
        clients[0].send("GET", path)  # the board is computed once
        return self.drive([lambda client=client: client.send("GET", path) for client in clients], PAGES)  # type: ignore[misc]

    def drive_submissions(self, tokens: list[str]) -> tuple[float, float, float]:
        numbers = iter(range(10**9))
        clients = [Client(self.port, token) for token in tokens]
        works = [lambda client=client: client.submit(next(numbers)) for client in clients]  # type: ignore[misc]
        return self.drive(works, SUBMISSIONS)


def serve(folder: Path, port: int) -> None:
    from itinera.server.serving import run_server

    run_server(ServerFolder(folder), port=port, workers=0)


def serve_with_fastapi(folder: Path, port: int) -> None:
    import uvicorn
    from fastapi import FastAPI
    from fastapi.responses import HTMLResponse

    server, app = ServerFolder(folder), FastAPI()
    boards = BoardTexts(PublicPages(Service(server.store, server.blobs)))
    app.get("/healthz")(lambda: {"status": "ok"})
    app.get("/phases/{phase}")(lambda phase: HTMLResponse(boards.find(phase)))
    uvicorn.run(app, port=port, log_level="warning", access_log=False)


def main() -> None:
    table = Table("", "per CPU s of the server", "per s", "p99 ms")

    def add(name: str, figures: tuple[float, float, float]) -> None:
        table.add_row(name, *(f"{figure:,.0f}" for figure in figures))

    with tempfile.TemporaryDirectory() as place:
        tokens = fill(folder := Path(place))
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))} if (os.cpu_count() or 1) > 1 else {0})
        with Served("serve", folder) as server:
            add(f"board page, {ENTRIES} entries", server.drive_page(PAGE))
            add("board.json", server.drive_page(PAGE + "/board.json"))
            add("submission", server.drive_submissions(tokens))
        if find_spec("fastapi") is not None:
            with Served("fastapi", folder) as other:
                add("the same page by FastAPI", other.drive_page(PAGE))
    console = Console(width=110)
    console.print(table)
    large = a_large_board()
    render_board(Site("May", ("test",)), large)
    seconds = cpu(lambda: render_board(Site("May", ("test",)), large), repeats=5)
    console.print(f"A board of 1,000 entries renders in {1000 * seconds:.0f} ms CPU (goal: below 100).")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        {"serve": serve, "fastapi": serve_with_fastapi}[sys.argv[1]](Path(sys.argv[2]), int(sys.argv[3]))
    else:
        main()
