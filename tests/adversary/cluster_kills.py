"""Kills workers, nodes and drivers of a Ray cluster at random moments and compares the results with an undisturbed run.

    PYTHONPATH=src:tests:tests/support python tests/adversary/cluster_kills.py --kills 100 --seed 0

A cluster of this machine has a head without cores and three nodes with one core each. Commands run on it, one after
another. At random moments SIGKILL ends a worker process of the cluster, the raylet of a node (another node joins), or
the command itself (it is started again). Whenever a command completes, every byte of its output is compared with that
of an undisturbed run in one process, and it starts anew in an empty folder. Prints a line of counts per command; exit
code 1 if anything differs.
"""

from __future__ import annotations

import argparse
import os
import random
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adversary import kills

NODES = 3
LATE = 0.8  # share of the starts after which kills come only once there is work done
VICTIMS = ("worker", "raylet", "driver")
LIMIT_SECONDS = 1800.0  # for one command, with all its kills
GRAPH = ("--tasks", "../inputs/R2R_tiny.json", "--worlds", "../inputs/connectivity")
SLOW = "scripted_agents:Dawdler"  # so that there is something to interrupt
TOURS = ("--tours", "../inputs/tours.json")


def write_tours(folder: Path) -> None:
    """Graph tasks and tours of them."""
    kills.write_graph_tasks(folder, paths=10)
    import itinera

    itinera.build_tours(folder / "R2R_tiny.json", folder / "connectivity", folder / "tours.json")


def nap(seconds: float) -> None:
    """A chunk that takes its time, whatever else the machine does; here, so that nodes can import it."""
    time.sleep(seconds)


COMMANDS: dict[str, tuple[Callable[[Path], None], tuple[str, ...]]] = {
    "run": (write_tours, ("run", "--agent", SLOW, *GRAPH, "--out", "out/preds.jsonl")),
    "tours": (write_tours, ("run", "--agent", SLOW, *GRAPH, *TOURS, "--out", "out/preds.jsonl")),
    "study": (
        kills.write_study,
        ("study", "run", "--agent", "uniform", *kills.STUDY[:4], "--out", "out/probabilities.jsonl"),
    ),
    "r4r": (
        lambda folder: kills.write_graph_tasks(folder, paths=150),
        ("build", "r4r", *GRAPH, "--out", "out/r4r.json"),
    ),
    "ground": (
        kills.write_scenes,
        ("run", "--agent", "random", "--tasks", "../inputs/tasks.json", *kills.SCENES, "--out", "out/preds.jsonl"),
    ),
    "fastest-times": (
        kills.write_scenes,
        ("fastest-times", "../inputs/tasks.json", *kills.SCENES, "--out", "out/times.jsonl"),
    ),
}


class KillableCluster:
    """A cluster of this machine whose nodes can be killed."""

    def __init__(self, rng: random.Random, *, nodes: int = NODES) -> None:
        from itinera.runs.engines.ray_cluster import HEALTH_CHECKS, quiet, require_ray

        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
        require_ray()
        with quiet():
            from ray.cluster_utils import Cluster

            head = {"num_cpus": 0, "include_dashboard": False, "_system_config": HEALTH_CHECKS}
            self._cluster: Any = Cluster(initialize_head=True, head_node_args=head)
            self._nodes = [self._cluster.add_node(num_cpus=1) for _ in range(nodes)]
        self._rng = rng
        self.engine = f"ray:{self._cluster.address}"

    def kill_worker(self) -> bool:
        """Kill a process that works for the cluster; whether there was one."""
        raylets = {self._raylet(node) for node in self._nodes}
        found = [pid for pid, parent, command in list_processes() if parent in raylets and command.startswith("ray::")]
        found = [pid for pid in found if "Agent" not in Path(f"/proc/{pid}/cmdline").read_text(errors="replace")]
        if not found:
            return False
        with suppress(OSError):
            os.kill(self._rng.choice(found), signal.SIGKILL)
        return True

    def kill_node(self, *, replace: bool = True) -> bool:
        """Kill the raylet of a node; another node joins, unless none shall."""
        from itinera.runs.engines.ray_cluster import quiet

        with quiet():
            node = self._nodes.pop(self._rng.randrange(len(self._nodes)))
            self._cluster.remove_node(node, allow_graceful=False)
            if replace:
                self._nodes.append(self._cluster.add_node(num_cpus=1))
        return True

    @staticmethod
    def _raylet(node: Any) -> int:
        return int(node.all_processes["raylet"][0].process.pid)

    def close(self) -> None:
        """End the cluster."""
        with suppress(Exception):
            self._cluster.shutdown()


def list_processes() -> list[tuple[int, int, str]]:
    """The id, the parent and the command of every process."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with suppress(OSError, ValueError, IndexError):
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                found.append((int(entry.name), parent, command))
    return found


@dataclass
class Counts:
    """What happened to a command."""

    kills: Counter[str] = field(default_factory=Counter)
    starts: int = 0
    completed: int = 0
    identical: int = 0
    faults: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        return self.identical == self.completed > 0 and not self.faults

    def __str__(self) -> str:
        names = ", ".join(f"{count} {name}s" for name, count in sorted(self.kills.items()))
        return (
            f"{self.kills.total()} kills ({names}), {self.starts} starts, {self.completed} completed, "
            f"{self.identical} identical"
        )


class Campaign:
    """Kills of one command on a cluster."""

    def __init__(self, name: str, folder: Path, cluster: KillableCluster, rng: random.Random, pause: float) -> None:
        prepare, self.words = COMMANDS[name]
        self.folder, self.cluster, self.rng, self.pause = folder, cluster, rng, pause
        self.counts = Counts()
        for part in ("inputs", "undisturbed", "killed"):
            (folder / part).mkdir()
        prepare(folder / "inputs")
        if self._start("undisturbed", "--workers", "0").wait():
            raise RuntimeError(f"{name} fails undisturbed:\n{self._stderr()}")
        self.expected = self._rows("undisturbed")

    def run(self, count: int) -> Counts:
        """Kill so many times; the last start is left alone."""
        while self.counts.kills.total() < count:
            self._run_once(count)
        self._run_once(0)
        return self.counts

    def _run_once(self, count: int) -> None:
        """Start the command again and again until it completes, with a kill in each pause once it works."""
        until = time.monotonic() + LIMIT_SECONDS
        process = self._start_working()
        while time.monotonic() < until:
            try:
                code = process.wait(self.rng.uniform(0, 2 * self.pause))
            except subprocess.TimeoutExpired:
                if self.counts.kills.total() < count:
                    self._kill(process)
                continue
            if code == 0:
                self._compare()
                return
            if code != -signal.SIGKILL:
                self.counts.faults.append(f"exit code {code}: {self._stderr()}")
            process = self._start_working()
        process.kill()
        process.wait()
        self.counts.faults.append("did not end")

    def _start_working(self) -> subprocess.Popen[bytes]:
        """The command, mostly when it has written something: else most kills would come while it imports."""
        process = self._start("killed", "--engine", self.cluster.engine)
        if self.rng.random() < LATE:
            kills.wait_for_work(process, self.folder / "killed")
        return process

    def _kill(self, process: subprocess.Popen[bytes]) -> None:
        victim = self.rng.choice(VICTIMS)
        if victim == "worker" and not self.cluster.kill_worker():
            return
        if victim == "raylet":
            self.cluster.kill_node()
        if victim == "driver":
            process.kill()
            process.wait()
        self.counts.kills[victim] += 1

    def _compare(self) -> None:
        self.counts.completed += 1
        same = self._rows("killed") == self.expected
        self.counts.identical += same
        if not same:
            self.counts.faults.append("other bytes")
        shutil.rmtree(self.folder / "killed")
        (self.folder / "killed").mkdir()

    def _rows(self, part: str) -> dict[str, bytes]:
        """The output without the header and the provenance file, which tell the engine of the command."""
        found = kills.read_tree(self.folder / part)
        found = {name: content for name, content in found.items() if not name.endswith(".provenance.json")}
        return {n: c.partition(b"\n")[2] if c.startswith(b'{"itinera"') else c for n, c in found.items()}

    def _start(self, part: str, *more: str) -> subprocess.Popen[bytes]:
        self.counts.starts += part == "killed"
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*filter(None, sys.path)])}
        with (self.folder / "stderr").open("wb") as stderr:
            return subprocess.Popen(
                [sys.executable, "-m", "itinera", *self.words, *more],
                cwd=self.folder / part,
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
            )

    def _stderr(self) -> str:
        return (self.folder / "stderr").read_text(errors="replace")[-2000:]


def main() -> None:
    parser = argparse.ArgumentParser(description="Kill workers, nodes and drivers of a Ray cluster.")
    parser.add_argument("--command", choices=COMMANDS, action="append", help="May be repeated. Default: all.")
    parser.add_argument("--kills", type=int, default=100, help="Kills of all commands together.")
    parser.add_argument("--pause", type=float, default=4.0, help="Mean seconds between kills.")
    parser.add_argument("--seed", type=int, default=0, help="Random seed of victims and moments.")
    arguments = parser.parse_args()
    sys.path[:0] = [str(kills.TESTS), str(kills.TESTS / "support"), str(kills.TESTS.parent / "src")]
    names = arguments.command or list(COMMANDS)
    rng = random.Random(arguments.seed)
    os.environ["PYTHONPATH"] = os.pathsep.join([*filter(None, sys.path)])  # for the workers of the cluster
    cluster = KillableCluster(rng)
    clean = True
    try:
        for number, name in enumerate(names):
            share = (arguments.kills * (number + 1)) // len(names) - (arguments.kills * number) // len(names)
            with tempfile.TemporaryDirectory() as folder:
                counts = Campaign(name, Path(folder), cluster, rng, arguments.pause).run(share)
            clean = clean and counts.is_clean
            print(f"{name}: {counts}", flush=True)
            for problem in counts.faults:
                print(f"  {problem}", flush=True)
    finally:
        cluster.close()
    sys.exit(0 if clean else 1)


if __name__ == "__main__":
    main()
