"""Speed of live phases: 16 teams at once against a server and a worker that share one core.

`make bench` runs this. Each team is a thread that sends turns over HTTP and does nothing else; `lanes` is how many
episodes it plays at a time, which share a request. Steps per CPU second count the CPU of server and worker together,
every answer stored by a synchronized transaction; steps per second of the clock also wait for disk and other load.

    python benchmarks/live_sessions.py [SEASON]      # default: a small season, built now
"""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "support")]

from itinera.api.building import build_hearth  # noqa: E402
from itinera.server.folder import ServerFolder  # noqa: E402
from itinera.server.teams import create_team, make_token  # noqa: E402
from killing import HERE as SERVER  # noqa: E402
from killing import answers, free_port, wait_for  # noqa: E402
from live_killing import HERE as WORKER  # noqa: E402

TEAMS, STEPS = 16, 6
CHALLENGE = """\
worlds = "{worlds}"
tasks = "{tasks}"
[phases.test]
kind = "live"
protocol = "r2r"
"""


class Team:
    """A connection that plays the first episodes of a session, always to the first candidate."""

    def __init__(self, port: int, token: str) -> None:
        self._http = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._headers = {"Authorization": f"Bearer {token}"}
        self._session = json.loads(self.post("/api/live", {"phase": "test", "method": "Bench"}))["entry"]

    def post(self, path: str, *lines: dict[str, object]) -> bytes:
        """The body of the reply."""
        body = "\n".join(map(json.dumps, lines)).encode()
        while True:
            try:
                self._http.request("POST", path, body, self._headers)
                reply = self._http.getresponse()
                content = reply.read()
            except (OSError, http.client.HTTPException):  # the server closes idle connections; turns may be repeated
                self._http.close()
                continue
            if reply.status < 400:
                return content
            if reply.status != 503:
                raise RuntimeError(content)

    def play(self, lanes: int, rounds: int, first: int, finished: list[bool]) -> None:
        """Episodes from `first` on: so many at a time, so many times."""
        path = f"/api/live/{self._session}/turns?wants=description"
        ended: list[dict[str, object]] = []
        for number in range(rounds):
            tours = range(first + number * lanes, first + (number + 1) * lanes)
            self.post(path, *ended, *({"tour": tour, "turn": 0} for tour in tours))
            for turn in range(1, STEPS + 1):
                action = 1 if turn < STEPS else 0
                self.post(path, *({"tour": tour, "turn": turn, "action": action} for tour in tours))
            ended = [{"tour": tour, "turn": 0, "end": True} for tour in tours]
        self.post(path, *ended)
        finished.append(True)


def cpu_seconds(pid: int) -> float:
    """CPU seconds of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(folder: Path, lanes: list[tuple[int, int]]) -> list[tuple[int, int, float, float, float]]:
    """For each number of lanes: steps, seconds, CPU seconds of the server, and of the worker."""
    server = ServerFolder(folder)
    with server.store.write() as db:
        now = server.store.clock()
        worker_token = make_token(db, "worker", time=now)
        tokens = [
            make_token(db, "submit", time=now, team_id=create_team(db, f"Team {n}", time=now)) for n in range(TEAMS)
        ]
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    cores = sorted(os.sched_getaffinity(0))
    pinned = ["taskset", "-c", str(cores[0])]
    os.sched_setaffinity(0, set(cores[1:]) or set(cores))
    database = f"sqlite:///{folder / 'itinera.db'}"
    processes = [
        subprocess.Popen([*pinned, sys.executable, str(SERVER), "serve", str(folder), str(port), database]),
        subprocess.Popen([*pinned, sys.executable, str(WORKER), "work", url, str(folder), worker_token]),
    ]
    rows = []
    try:
        wait_for(lambda: answers(url), 60)
        teams = [Team(port, token) for token in tokens]
        first = 0
        for width, rounds in [(8, 2), *lanes]:  # the first is warming up
            before, begun = [cpu_seconds(one.pid) for one in processes], time.perf_counter()
            finished: list[bool] = []
            threads = [threading.Thread(target=team.play, args=(width, rounds, first, finished)) for team in teams]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            seconds = time.perf_counter() - begun
            assert len(finished) == TEAMS
            used = [cpu_seconds(one.pid) - was for one, was in zip(processes, before, strict=True)]
            rows.append((width, TEAMS * width * rounds * STEPS, seconds, used[0], used[1]))
            first += width * rounds
    finally:
        for one in processes:
            one.kill()
            one.wait()
    return rows[1:]


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as temporary:
        if len(sys.argv) > 1:
            season = Path(sys.argv[1]).resolve()
        else:
            season = Path(temporary) / "season"
            build_hearth(season, splits=["val_seen"], houses=2)
        folder = Path(temporary) / "challenge"
        folder.mkdir()
        tasks = season / "r2r" / "R2R_val_seen.json"
        (folder / "challenge.toml").write_text(CHALLENGE.format(worlds=season, tasks=tasks))
        rows = measure(folder, [(1, 16), (4, 8), (16, 3)])
    table = Table(title=f"{TEAMS} teams at once; server and worker on one core")
    for name in ("lanes", "steps", "steps/s", "steps/CPU s", "server ms/step", "worker ms/step"):
        table.add_column(name, justify="right")
    for lanes, steps, seconds, web, worker in rows:
        rates = (f"{steps / seconds:,.0f}", f"{steps / (web + worker):,.0f}")
        table.add_row(str(lanes), f"{steps:,}", *rates, f"{1000 * web / steps:.3f}", f"{1000 * worker / steps:.3f}")
    Console().print(table)
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
