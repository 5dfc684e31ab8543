"""Kills long commands at random moments and compares what they leave behind with an undisturbed run.

    PYTHONPATH=src:tests:tests/support python tests/adversary/kills.py --command run --kills 50 --seed 0

A command runs on a tiny data set until the given number of signals (SIGINT, SIGTERM, SIGKILL) has ended it. The moment
is uniform over the duration of an undisturbed run, or, for every other signal, over the time after the first unfinished
work was written. The command is started again after each; whenever it completes, every byte of its output is compared,
and it starts anew in an empty folder. After each signal no process may live on, and after SIGINT and SIGTERM no
temporary file may be left. Prints a line of counts per command; exit code 1 if anything differs.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
MARKER = "ITINERA_KILLS"  # an environment variable by which the processes of a command are found
END_SECONDS = 60.0  # a command that was interrupted has to end
ORPHAN_SECONDS = 60.0  # its children have to end; one that was just started has to import first what notices that
# Negative before the command handles signals. Python also ends by SIGINT if the exception was raised inside exec().
EXIT_CODES = {signal.SIGINT: {130, -2}, signal.SIGTERM: {143, -15, -2}, signal.SIGKILL: {-9}}
TESTS = Path(__file__).parents[1]


@dataclass(frozen=True)
class Case:
    """A command, run in a folder beside `inputs`, that writes to `out`."""

    prepare: Callable[[Path], None]  # writes the inputs
    words: tuple[str, ...]
    program: tuple[str, ...] = ("-m", "itinera")


_INTERRUPTED_IMPORTS = ("Could not import runpy module", "cannot load module more than once per process")


@dataclass
class Counts:
    """What happened to a command."""

    kills: Counter[str] = field(default_factory=Counter)  # by the name of the signal
    resumed: int = 0  # starts that found unfinished work
    completed: int = 0
    identical: int = 0  # of the completed ones
    orphans: list[str] = field(default_factory=list)
    leftovers: list[str] = field(default_factory=list)  # temporary files
    faults: list[str] = field(default_factory=list)  # wrong exit codes, hangs, other bytes

    @property
    def is_clean(self) -> bool:
        return self.identical == self.completed > 0 and not (self.orphans or self.leftovers or self.faults)

    def __str__(self) -> str:
        kills = ", ".join(f"{count} {name}" for name, count in sorted(self.kills.items()))
        return (
            f"{self.kills.total()} kills ({kills}), {self.resumed} resumed, {self.completed} completed, "
            f"{self.identical} identical, {len(self.orphans)} orphans, {len(self.leftovers)} temporary files"
        )


def write_graph_tasks(folder: Path, *, paths: int) -> None:
    """Connectivity of grids of 5 × 6 nodes and R2R tasks with so many paths per scan."""
    import json

    import networkx
    import numpy as np

    from itinera.formats import matterport
    from itinera.worlds import NavGraph, World

    rng = np.random.default_rng(5)
    grid = networkx.grid_2d_graph(5, 6)
    name = {node: f"n{node[0]}{node[1]}" for node in grid}
    places = {name[node]: (2.0 * node[0], 2.0 * node[1], 0.0) for node in grid}
    graph = NavGraph.from_edges(places, [(name[a], name[b]) for a, b in grid.edges])
    scans = [f"scan{k}" for k in range(6)]
    matterport.write_worlds(folder / "connectivity", {scan: World(scan, graph) for scan in scans})
    records = []
    for k in range(paths * len(scans)):
        start, goal = rng.choice(len(grid), 2, replace=False)
        path = [name[node] for node in networkx.shortest_path(grid, list(grid)[start], list(grid)[goal])]
        words = [f"Go to {path[-1]}, way {j}." for j in range(3)]
        records.append(
            {"path_id": k, "scan": scans[k % len(scans)], "path": path, "heading": 1.0, "instructions": words}
            | {"distance": 2.0 * (len(path) - 1)}
        )
    (folder / "R2R_tiny.json").write_text(json.dumps(records))


def write_study(folder: Path) -> None:
    """Crossings with rooms, and trials designed there."""
    import crossing
    import itinera
    from cli.test_study import spoken
    from itinera.formats import matterport, native_tasks, rooms
    from itinera.tasks import Split

    matterport.write_worlds(folder / "connectivity", crossing.WORLDS)
    rooms.write_table(folder / "rooms.csv", {name: world.rooms for name, world in crossing.WORLDS.items()})
    episodes = [spoken(world, f"p{k}", n) for world in crossing.SCENES for k in range(15) for n in range(3)]
    native_tasks.write_split(folder / "tasks.jsonl", Split("val", tuple(episodes), protocol="rxr"))
    itinera.design_study(
        ["stop", "direction"],
        folder / "tasks.jsonl",
        folder / "connectivity",
        rooms=folder / "rooms.csv",
        out=folder / "trials.jsonl",
    )


def write_scenes(folder: Path) -> None:
    """Two scenes and continuous tasks in them."""
    from cli.test_fastest_times import HALL, HOUSE, tasks_in
    from itinera.formats.scenes import write_scene
    from worlds.rooms import room, storeys

    write_scene(folder / "scenes" / "hall.glb", room(4, 3, boxes=[((1.6, 1.0, 0.0), (2.2, 2.0, 0.8))]))
    write_scene(folder / "scenes" / "house.glb", storeys())
    tasks_in(folder, hall=HALL, house=HOUSE)


def write_nothing(folder: Path) -> None:
    """A season needs no inputs."""


GRAPH_TASKS = ("--tasks", "../inputs/R2R_tiny.json", "--worlds", "../inputs/connectivity")
STUDY = ("--trials", "../inputs/trials.jsonl", "--worlds", "../inputs/connectivity", "--rooms", "../inputs/rooms.csv")
SCENES = ("--worlds", "../inputs/scenes")
TRAINING = """
import signal, sys
signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(143))  # which a program that calls the library decides
import itinera
from functools import partial
from itinera.policies.rcm import RCMConfig
from itinera.training import train_agent
train_agent.Schedule = partial(train_agent.Schedule, checkpoint_every=2)  # so that there is something to resume
config = RCMConfig(word_dim=8, text_dim=8, num_text_layers=1, visual_dim=12, key_dim=6, hidden_dim=10, scorer_dim=8)
tasks, worlds = "../inputs/R2R_tiny.json", "../inputs/connectivity"
itinera.train("rcm", tasks, worlds, steps=40, batch_size=4, config=config, out="out/agent.safetensors",
              validation=tasks, evaluate_every=7)
"""
# Enough work that about half of the signals come after the start and the imports.
COMMANDS: Mapping[str, Case] = {
    "run": Case(
        partial(write_graph_tasks, paths=10),
        ("run", "--agent", "scripted_agents:Dawdler", *GRAPH_TASKS, "--out", "out/preds.jsonl", "--workers", "2"),
    ),
    "study-run": Case(
        write_study,
        ("study", "run", "--agent", "uniform", *STUDY, "--out", "out/probabilities.jsonl", "--workers", "2"),
    ),
    "build-r4r": Case(partial(write_graph_tasks, paths=150), ("build", "r4r", *GRAPH_TASKS, "--out", "out/r4r.json")),
    "build-tours": Case(
        partial(write_graph_tasks, paths=80), ("build", "tours", *GRAPH_TASKS, "--out", "out/tours.json")
    ),
    "build-hearth": Case(
        write_nothing,
        ("build", "hearth", "--out", "out", "--houses", "3", "--splits", "train,val_unseen", "--workers", "2"),
    ),
    "fastest-times": Case(
        write_scenes,
        ("fastest-times", "../inputs/tasks.json", *SCENES, "--out", "out/times.jsonl", "--workers", "2"),
    ),
    "train": Case(partial(write_graph_tasks, paths=10), (), ("-c", TRAINING)),
}


class Campaign:
    """Kills of one command in a folder."""

    def __init__(self, name: str, folder: Path, seed: int, *, more: tuple[str, ...] = (), warm_up: bool = True) -> None:
        self.case = replace(COMMANDS[name], words=COMMANDS[name].words + more)
        self.folder, self.rng = folder, random.Random(f"{name} {seed}")
        self.counts = Counts()
        for part in ("inputs", "undisturbed", "killed", "tmp"):
            (folder / part).mkdir()
        self.case.prepare(folder / "inputs")
        if warm_up:  # so that compiling kernels is no part of the duration
            self._start(folder / "undisturbed", "warm-up").wait()
            shutil.rmtree(folder / "undisturbed" / "out", ignore_errors=True)
        began = time.monotonic()
        process = self._start(folder / "undisturbed", "undisturbed")
        wait_for_work(process, folder / "undisturbed")
        first_work = time.monotonic()
        if process.wait():
            raise RuntimeError(f"{name} fails undisturbed:\n{self._stderr()}")
        self.seconds, self.work_seconds = time.monotonic() - began, time.monotonic() - first_work
        self.expected = read_tree(folder / "undisturbed")
        self.caches = set((folder / "tmp").rglob("*"))  # of libraries, in the folder for temporary files

    def run(self, kills: int, signals: tuple[signal.Signals, ...] = SIGNALS) -> Counts:
        """Interrupt the command so many times; the last start is left alone."""
        starts = 0
        while self.counts.kills.total() < kills:
            self._run_once(self.rng.choice(signals), late=bool(starts % 2))
            starts += 1
        self._run_once(None)
        self.counts.leftovers += sorted(str(file) for file in {*(self.folder / "tmp").rglob("*")} - self.caches)
        return self.counts

    def _run_once(self, number: signal.Signals | None, *, late: bool = False) -> None:
        folder = self.folder / "killed"
        before = find_temporary(folder)
        self.counts.resumed += any(folder.rglob("*.partial"))
        token = os.urandom(8).hex()
        process = self._start(folder, token)
        sent = False
        if late:
            wait_for_work(process, folder)
        began = time.monotonic()
        try:
            seconds = self.rng.uniform(0, self.work_seconds if late else self.seconds)
            process.wait(None if number is None else seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(number or signal.SIGKILL)
            sent = True
        try:
            code = process.wait(END_SECONDS if sent else None)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
            self.counts.faults.append(f"did not end after {number!r}")
        self.counts.orphans += end_orphans(token)
        if code == 0:
            self._shorten(time.monotonic() - began, late=late)
            self._compare(folder)
        elif not sent or number is None:
            self.counts.faults.append(f"exit code {code}: {self._stderr()}")
        else:
            self.counts.kills[number.name] += 1
            # Before the first line of the command runs, an interrupt ends the interpreter in its own way, also in the
            # middle of the import of NumPy, which then refuses to be imported once more.
            while_starting = code == 1 and any(words in self._stderr() for words in _INTERRUPTED_IMPORTS)
            if code not in EXIT_CODES[number] and not while_starting:
                self.counts.faults.append(f"exit code {code} after {number.name}: {self._stderr()}")
            if number is not signal.SIGKILL:
                self.counts.leftovers += [f"{file} after {number.name}" for file in find_temporary(folder) - before]

    def _shorten(self, seconds: float, *, late: bool) -> None:
        """Expect no longer duration than that of a completed run: the undisturbed one may have compiled kernels.

        Signals that come after the end are no kills, and each costs another run.
        """
        if late:
            self.work_seconds = min(self.work_seconds, seconds)
        else:
            self.seconds = min(self.seconds, seconds)
            self.work_seconds = min(self.work_seconds, seconds)

    def _compare(self, folder: Path) -> None:
        found = read_tree(folder)
        differing = [name for name in {*found, *self.expected} if found.get(name) != self.expected.get(name)]
        self.counts.completed += 1
        self.counts.identical += not differing
        self.counts.leftovers += sorted(str(file) for file in find_temporary(folder))
        self.counts.faults += [f"{name} differs" for name in differing]
        shutil.rmtree(folder)
        folder.mkdir()

    def _start(self, folder: Path, token: str) -> subprocess.Popen[bytes]:
        environment = {
            **os.environ,
            MARKER: token,
            "PYTHONPATH": os.pathsep.join([*filter(None, sys.path)]),
            "TMPDIR": str(self.folder / "tmp"),
        }
        with (self.folder / "stderr").open("wb") as stderr:
            return subprocess.Popen(
                [sys.executable, *self.case.program, *self.case.words],
                cwd=folder,
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                # Ctrl-C is heard, even where this program runs in the background of a shell.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            )

    def _stderr(self) -> str:
        return (self.folder / "stderr").read_text(errors="replace")[-2000:]


def wait_for_work(process: subprocess.Popen[bytes], folder: Path) -> None:
    """Wait until a command has written something, or ended."""
    before = describe_files(folder)
    while process.poll() is None and describe_files(folder) == before:
        time.sleep(0.01)


def describe_files(folder: Path) -> set[tuple[str, int, int]]:
    """The names, sizes and times of all files and folders."""
    found = set()
    for file in folder.rglob("*"):
        with suppress(OSError):  # removed meanwhile
            found.add((str(file), file.stat().st_size, file.stat().st_mtime_ns))
    return found


def read_tree(folder: Path) -> dict[str, bytes]:
    """The bytes of all files of a folder, by name."""
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def find_temporary(folder: Path) -> set[str]:
    """The drafts of files and folders, and locks; not the unfinished work that the next start uses."""
    names = (file for file in folder.rglob("*") if file.suffix in (".part", ".lock"))
    return {file.relative_to(folder).as_posix() for file in names}


def find_processes(token: str) -> dict[int, str]:
    """The living processes that were started with this token, and their commands."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal() or int(entry.name) == os.getpid():
            continue
        try:
            if f"{MARKER}={token}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:  # it ended meanwhile, or belongs to somebody else
            continue
    return found


def end_orphans(token: str) -> list[str]:
    """The processes that live on although their command ended; they are killed."""
    until = time.monotonic() + ORPHAN_SECONDS
    while (found := find_processes(token)) and time.monotonic() < until:
        time.sleep(0.05)
    for number in found:
        os.kill(number, signal.SIGKILL)
    return list(found.values())


def main() -> None:
    parser = argparse.ArgumentParser(description="Kill long commands at random moments and compare their results.")
    parser.add_argument("--command", choices=COMMANDS, action="append", help="May be repeated. Default: all.")
    parser.add_argument("--kills", type=int, default=50, help="Signals per command.")
    parser.add_argument("--seed", type=int, default=0, help="Random seed of signals and moments.")
    arguments = parser.parse_args()
    sys.path[:0] = [str(TESTS), str(TESTS / "support"), str(TESTS.parent / "src")]
    clean = True
    for name in arguments.command or COMMANDS:
        with tempfile.TemporaryDirectory() as folder:
            campaign = Campaign(name, Path(folder), arguments.seed)
            counts = campaign.run(arguments.kills)
        clean = clean and counts.is_clean
        print(f"{name} ({campaign.seconds:.1f} s undisturbed): {counts}", flush=True)
        for problem in (*counts.faults, *counts.orphans, *counts.leftovers):
            print(f"  {problem}", flush=True)
    sys.exit(0 if clean else 1)


if __name__ == "__main__":
    main()
