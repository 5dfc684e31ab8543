"""Itinera in a few minutes: houses, agents, predictions, scores, a skill study, completion times, replays, a report.

Everything is generated from a seed: six Hearth houses, and the predictions of simple agents and of a pretrained one on
navigation graphs, on tours, in continuous environments (VLN-CE) and for PointNav. The `itinera` commands are printed,
then run two at a time. Expected: the rule-based reader is better than the random agent in every metric that has a
direction, with p = 0.031, the smallest p-value six houses allow, and the pretrained agent is between them; instructions
change the actions of the reader, and not those of the uniform agent; a unicycle robot is faster than one that turns in
place, on longer paths.

    python recipes/demo.py      # writes demo/; if interrupted, rerun it to resume; delete demo/ to start anew
"""

from __future__ import annotations

import argparse
import gzip
import io
import os
import runpy
import shlex
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import msgspec
from rich.console import Console
from rich.table import Table

from itinera.__main__ import main as itinera
from itinera.cli.output import progress
from itinera.formats import ivln, pointnav, vlnce
from itinera.formats.bundles import read_scores
from itinera.formats.writing import atomic_write
from itinera.records.summary import summarize
from itinera.reports.benchmark import group_by_benchmark
from itinera.reports.breakdown import classify_failures
from itinera.runs.engines.processes import parallel_map
from itinera.tasks import Split

Command = tuple[str, ...]  # the words after `itinera`; "> FILE" at the end saves the output

RECIPES = Path(__file__).parent
HEARTH = "demo/hearth"
SEASON = Path(HEARTH, "season.json")  # written last: if it exists, all houses do
R2R = f"{HEARTH}/r2r/R2R_val_unseen.json"
DENSE = f"{HEARTH}/vlnce/val_unseen/val_unseen_gt.json.gz"  # dense reference paths on the ground
TRACES = f"{HEARTH}/rxr/pose_traces/rxr_val_unseen.tar.gz"
TOURS = "demo/tours_hearth.json"
VLNCE, POINTNAV, RXR, TIMES = "demo/vlnce.json", "demo/pointnav.json", "demo/rxr_guide.jsonl.gz", "demo/times.jsonl"
TRIALS, FINDINGS = "demo/skills/trials.jsonl", "demo/skills/findings.json"
SMALL = Path("demo/scores/wanderer.jsonl")  # the last file of the small benchmark
HOUSES = 46  # of a season; six of them are val-unseen
VLNCE_EPISODES, POINTNAV_EPISODES, STUDY_EVERY = 3, 4, 12  # episodes per house; every so many paths for the study
REPLAYS = 2  # replays of failures of each agent and kind, and of PointNav episodes
PARALLEL = 2  # commands at a time

AGENTS = {
    "r2r": ("random", "rcm-fidelity", "reader"),  # random, pretrained, rule-based
    "tours": ("random", "reader"),
    "vlnce": ("forward", "expert"),
    "pointnav": ("point-turn", "unicycle-6"),  # drives of the expert
}
INPUTS: dict[str, Command] = {
    "r2r": ("--tasks", R2R, "--worlds", HEARTH),
    "tours": ("--tasks", R2R, "--worlds", HEARTH, "--tours", TOURS),
    "vlnce": ("--tasks", VLNCE, "--worlds", HEARTH),
    "pointnav": ("--tasks", POINTNAV, "--worlds", HEARTH),
}
STUDY_AGENTS = ("uniform", "reader")
METRICS = ("SR", "SPL", "nDTW", "t-nDTW", "SCT")


# The stages of the demo: the commands of a stage are independent of each other.


def first_house_commands() -> list[Command]:
    """Build the first house, which compiles most kernels; compile the planners on another core."""
    small = () if SMALL.exists() else (("python", str(RECIPES / "small_benchmark.py")),)
    if Path(HEARTH).exists():
        return [*small]
    return [
        ("build", "hearth", "--out", HEARTH, "--houses", "3", "--splits", "val_unseen", "--workers", "1"),
        ("python", str(RECIPES / "demo.py"), "--compile"),
        *small,
    ]


def house_commands() -> list[Command]:
    """Build all houses; the season of one house is replaced, and its house is used again."""
    built = msgspec.json.decode(SEASON.read_bytes())["config"]["houses"] if SEASON.exists() else 0
    replace_season = () if built == HOUSES else ("--overwrite",)
    return [("build", "hearth", "--out", HEARTH, "--houses", str(HOUSES), "--splits", "val_unseen", *replace_season)]


def run_commands() -> list[Command]:
    """Run the agents, the slowest commands first."""
    return [
        ("fastest-times", POINTNAV, "--worlds", HEARTH, "--workers", "1", "--out", TIMES),
        *runs("pointnav"),
        *runs("vlnce"),
        *runs("r2r"),
        ("build", "tours", "--tasks", R2R, "--worlds", f"{HEARTH}/connectivity", "--out", TOURS),
        ("study", "design", "stop", "direction", "object", "room-1", "--tasks", RXR, "--alignment", TRACES,
         "--worlds", HEARTH, "--out", TRIALS),
    ]  # fmt: skip


def score_commands() -> list[Command]:
    """Score the predictions; run the agents on tours and in the study, which needed files of the stage before."""
    return [
        *(("study", "run", "--agent", agent, "--trials", TRIALS, "--worlds", HEARTH, "--workers", "0", "--out", out)
          for agent, out in zip(STUDY_AGENTS, study_answers(), strict=True)),
        *runs("tours"),
        *score("vlnce", "--reference", DENSE),
        *score("pointnav", "--times", TIMES),
        *score("r2r"),
    ]  # fmt: skip


def show_commands(r2r: list[str], vlnce: list[str], pointnav: list[str], tour: str) -> list[Command]:
    """Make replays of these episodes and of a tour; analyze the study; compare."""
    return [
        show("pointnav", pointnav, "--times", TIMES),
        show("r2r", r2r),
        show("vlnce", vlnce),
        ("show", *predictions("tours"), *INPUTS["r2r"], "--tour", tour, "--out", "demo/replays/tour.html"),
        ("study", "analyse", TRIALS, *study_answers(), "--json", ">", FINDINGS),
        *score("tours"),
        ("compare", *scores("r2r")),
        ("compare", *scores("pointnav"), "--solved"),
    ]


def report_commands() -> list[Command]:
    bundles = [bundle for kind in AGENTS for bundle in scores(kind)]
    options = ("--replays", "demo/replays", "--title", "Itinera's demo", "--out", "demo/report.html")
    return [("report", *bundles, FINDINGS, TIMES, *options)]


def runs(kind: str) -> list[Command]:
    """A run per agent."""
    return [("run", *agent_options(kind, name), *INPUTS[kind], "--workers", "0", "--out", out)
            for name, out in zip(AGENTS[kind], predictions(kind), strict=True)]  # fmt: skip


def agent_options(kind: str, name: str) -> Command:
    return ("--agent", "expert" if kind == "pointnav" else name, *drive_options(kind, name))


def drive_options(kind: str, name: str) -> Command:
    """The drive is part of the protocol, so that a score names it as the run did."""
    return ("--drive", name) if kind == "pointnav" else ()


def score(kind: str, *more: str) -> list[Command]:
    """A score per agent, and its table as text."""
    return [("score", path, *INPUTS[kind], *drive_options(kind, name), *more, "--out", out,
             ">", str(Path(out).with_suffix(".txt")))
            for name, path, out in zip(AGENTS[kind], predictions(kind), scores(kind), strict=True)]  # fmt: skip


def show(kind: str, episodes: list[str], *more: str) -> Command:
    chosen = [word for episode in episodes for word in ("--episode", episode)]
    return ("show", *predictions(kind), *INPUTS[kind], *more, *chosen, "--out", f"demo/replays/{kind}.html")


def predictions(kind: str) -> list[str]:
    return [f"demo/predictions/{kind}/{name}.jsonl" for name in AGENTS[kind]]


def scores(kind: str) -> list[str]:
    return [f"demo/scores/{kind}/{name}.jsonl" for name in AGENTS[kind]]


def study_answers() -> list[str]:
    return [f"demo/skills/{agent}.jsonl" for agent in STUDY_AGENTS]


# A command is skipped if its outputs exist and are newer than its inputs.


def execute(commands: list[Command]) -> None:
    """Print the commands and run them, some at a time; those that are done are skipped."""
    left = [command for command in commands if not is_done(command)]
    for command in commands:
        print(f"$ {command_line(command)}{'' if command in left else '  # done already'}", flush=True)
    with progress(f"{len(left)} commands", len(left)) as done:
        for number, (code, printed, remarks) in parallel_map(run_captured, left, workers=min(PARALLEL, len(left))):
            finish(left[number], code, printed, remarks)
            done(1)


def command_line(command: Command) -> str:
    if command[0] == "python":
        return f"python recipes/{' '.join((Path(command[1]).name, *command[2:]))}"
    return f"itinera {' '.join(word if word == '>' else shlex.quote(word) for word in command)}"


def run_captured(command: Command) -> tuple[int, str, str]:
    """Exit code, output and remarks of a command."""
    printed, remarks = io.StringIO(), io.StringIO()
    with redirect_stdout(printed), redirect_stderr(remarks):
        code = run_command(command)
    return code, printed.getvalue(), remarks.getvalue()


def run_command(command: Command) -> int:
    """The exit code of a command, run in this process."""
    words = command[: command.index(">")] if ">" in command else command
    try:
        if words[0] == "python":
            sys.argv = list(words[1:])
            runpy.run_path(words[1], run_name="__main__")
        else:
            sys.argv = ["itinera", *words]
            itinera()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def finish(command: Command, code: int, printed: str, remarks: str) -> None:
    """Save or print the output of a command."""
    saved = Path(command[-1]) if ">" in command and not code else None
    print("".join(f"  {line}\n" for line in ("" if saved else printed).splitlines() + remarks.splitlines()), end="")
    if code:
        raise SystemExit(f"{command_line(command)}\nfailed with exit code {code}. Run `make demo` again to resume.")
    if saved is not None:
        with atomic_write(saved) as stream:
            stream.write(printed.encode())
    for file in outputs(command):
        if file != SEASON:
            file.touch()  # a resumed run that was complete leaves its file as old as it was


def is_done(command: Command) -> bool:
    made = outputs(command)
    if not made or not all(file.exists() for file in made):
        return False
    used = [file for file in map(file_named, command) if file.is_file() and file not in made]
    return min(file.stat().st_mtime for file in made) >= max((file.stat().st_mtime for file in used), default=0.0)


def outputs(command: Command) -> list[Path]:
    return [file_named(word) for before, word in pairwise(command) if before in ("--out", ">")]


def file_named(word: str) -> Path:
    """The file of a word of a command; for all files of the houses, the season file."""
    return SEASON if word.startswith(HEARTH) else Path(word)


# A subset of the tasks is enough.


def write_subsets() -> None:
    """Write a few episodes per house for VLN-CE, PointNav and the study, which take longer than graphs."""
    if not is_done((HEARTH, "--out", VLNCE)):
        split = vlnce.read_split(f"{HEARTH}/vlnce/val_unseen/val_unseen.json.gz")
        vlnce.write_split(VLNCE, first_per_world(split, VLNCE_EPISODES))
    if not is_done((HEARTH, "--out", POINTNAV)):
        split = pointnav.read_split(f"{HEARTH}/pointnav/val_unseen/val_unseen.json.gz")
        pointnav.write_split(POINTNAV, first_per_world(split, POINTNAV_EPISODES))
    if not is_done((HEARTH, "--out", RXR)):
        guide = gzip.decompress(Path(HEARTH, "rxr/rxr_val_unseen_guide.jsonl.gz").read_bytes())
        with atomic_write(Path(RXR)) as stream:  # compressed, by its suffix
            for line in guide.splitlines(keepends=True):
                if msgspec.json.decode(line)["path_id"] % STUDY_EVERY == 0:
                    stream.write(line)


def first_per_world(split: Split, episodes: int) -> Split:
    rows = sorted(row for own in split.rows_by_world.values() for row in own[:episodes].tolist())
    return replace(split, episodes=tuple(split.episodes[row] for row in rows))


def select_replays() -> tuple[list[str], list[str], list[str], str]:
    """Failures in R2R and VLN-CE, some PointNav episodes, and the first tour."""
    episodes = read_scores(scores("pointnav")[0]).episode_ids
    return list_failures("r2r"), list_failures("vlnce"), list(episodes[:REPLAYS]), ivln.read_tours(TOURS)[0].id


def list_failures(kind: str) -> list[str]:
    """The first examples of each agent and kind of failure in the report."""
    (benchmark,) = group_by_benchmark(AGENTS[kind], [read_scores(bundle) for bundle in scores(kind)])
    found = [classify_failures(benchmark, agent) for agent in range(len(benchmark.names))]
    rows = [row for one in found if one is not None for kind_rows in one.kinds.values() for row in kind_rows[:REPLAYS]]
    return [benchmark.tables[0].episode_ids[row] for row in dict.fromkeys(rows)]


# The result.


def make_table() -> Table:
    """A row per agent: the main metrics with intervals."""
    table = Table("tasks", "agent", *(f"{name} %" for name in METRICS), title="Means with 95 % intervals over houses")
    for kind, names in AGENTS.items():
        for name, bundle in zip(names, scores(kind), strict=True):
            table.add_row(kind, name, *cells(bundle), end_section=name == names[-1])
    return table


def cells(bundle: str) -> Iterator[str]:
    """Each mean with its interval below, in percent."""
    intervals = summarize(read_scores(bundle)).intervals
    for name in METRICS:
        found = intervals.get(name)
        yield "–" if found is None else f"{100 * found.mean:.1f}\n({100 * found.low:.0f}–{100 * found.high:.0f})"


def compile_ahead() -> None:
    """Plan a drive around an obstacle, which compiles the kernels of the planners."""
    import numpy as np

    from itinera.planners.motion.fastest import fastest
    from itinera.worlds.grid import Grid

    walls = np.ones((60, 60), dtype=bool)
    walls[5:55, 5:55] = False
    walls[20:40, 28:32] = True
    fastest(Grid(walls, 0.1), (1.0, 3.0, 0.0), (5.0, 3.0), trees=0)


def main() -> None:
    began = time.monotonic()

    def announce(stage: str) -> None:
        print(f"\n[{time.monotonic() - began:3.0f} s] {stage}", flush=True)

    announce("Build a first house. Kernels are compiled on first use, which takes most of a minute.")
    execute(first_house_commands())
    announce("Build six val-unseen houses.")
    for command in house_commands():
        print(f"$ {command_line(command)}", flush=True)
        if run_command(command):  # prints its own progress, and resumes by itself
            raise SystemExit("Stopped. Run `make demo` again to resume.")
    write_subsets()
    announce("Run agents: on graphs, in continuous environments in steps of 25 cm, and to points in minimum time.")
    execute(run_commands())
    announce("Score the predictions. Run agents on tours, and in a skill study with modified instructions.")
    execute(score_commands())
    announce("Compare agents. Make replays of failures and of a tour.")
    execute(show_commands(*select_replays()))
    announce("Write the report.")
    execute(report_commands())
    announce("Done.")
    Console().print(make_table())
    print(
        "\nFiles:"
        "\n  demo/report.html           report: which agent is better, by how much, how certain, where it fails"
        "\n  demo/replays/              replays of episodes; tour.html is a whole tour"
        "\n  demo/scores/               score bundles with their provenance: itinera check FILE"
        "\n  demo/predictions/          trajectories of the agents; demo/hearth/ the houses"
        "\n  demo/tasks.json            a benchmark small enough to read, with predictions demo/follower.json"
        "\nScore your own: itinera score PREDICTIONS --tasks TASKS --worlds CONNECTIVITY"
    )


def stop(*_: object) -> None:
    """Exit at once with all running commands: partial work is resumed, or made again."""
    Console(stderr=True).show_cursor()
    print("\nStopped. Run `make demo` again to resume.", flush=True)
    os._exit(1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compile", action="store_true", help=argparse.SUPPRESS)  # in a process of its own
    if parser.parse_args().compile:
        compile_ahead()
    else:
        signal.signal(signal.SIGINT, stop)
        main()
