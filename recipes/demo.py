"""All of Itinera in a few minutes: houses, agents that walk through them, scores, skills, completion times, one page.

Everything is made here, from a seed: six houses of Hearth, walks of simple agents on their graphs, in tours, on the
ground and to points, and what these walks are worth. The `itinera` commands are run as anybody would type them, and
printed before they run. Expected: the reader, who follows the words, is ahead of one who walks at random in every
metric that says who is better, with p = 0.031, the least that six houses can give; words move the reader, and not one
who does not listen; a robot that curves takes less time than one that turns on the spot, over ways that are longer.

    python recipes/demo.py      # writes into demo/; one that was stopped goes on; delete demo/ to begin anew
"""

from __future__ import annotations

import gzip
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import msgspec
from rich.console import Console
from rich.table import Table

from itinera.formats import pointnav, vlnce
from itinera.formats.bundles import read_scores
from itinera.formats.files import atomic_write
from itinera.reports.summary import summarise
from itinera.tasks import Split

Command = tuple[str, ...]  # what is typed after `itinera`; "> FILE" at its end keeps what it prints

DEMO = Path("demo")
HEARTH = "demo/hearth"
SEASON = Path(HEARTH, "season.json")  # written last, so that it tells whether the houses are all there
R2R = f"{HEARTH}/r2r/R2R_val_unseen.json"
TOURS = "demo/tours_hearth.json"
GROUND, POINTS, GUIDE, TIMES = "demo/vlnce.json", "demo/pointnav.json", "demo/rxr_guide.jsonl.gz", "demo/times.jsonl"
HOUSES = 46  # of a season; six of them are val-unseen
ON_GROUND, TO_POINTS, STUDIED = 8, 5, 10  # episodes of each house on the ground and to points; one path in so many

AGENTS = {
    "r2r": ("random", "reader"),
    "tours": ("random", "reader"),
    "vlnce": ("forward", "expert"),
    "pointnav": ("point-turn", "unicycle-6"),  # all are the expert, who drives them
}
LISTENING = ("uniform", "reader")  # the agents of the study
SHOWN = ("SR", "SPL", "nDTW", "t-nDTW", "SCT")


# Parts of the demo: the commands of each.


def houses() -> list[Command]:
    return [("build", "hearth", "--out", HEARTH, "--houses", str(HOUSES), "--splits", "val_unseen")]


def on_graphs() -> list[Command]:
    return [*walked_and_scored("r2r", R2R), ("compare", *scores("r2r"))]


def in_tours() -> list[Command]:
    """One episode after another in the same house, led in between."""
    build = ("build", "tours", "--tasks", R2R, "--worlds", f"{HEARTH}/connectivity", "--out", TOURS)
    return [build, *walked_and_scored("tours", R2R, "--tours", TOURS)]


def on_the_ground() -> list[Command]:
    return walked_and_scored("vlnce", GROUND)


def to_points() -> list[Command]:
    """The same expert with two robots: one that turns on the spot, one that curves. Who is faster?"""
    commands: list[Command] = [("fastest-times", POINTS, "--worlds", HEARTH, "--out", TIMES)]
    for drive in AGENTS["pointnav"]:
        given, walked, kept = ("--tasks", POINTS, "--worlds", HEARTH), *files("pointnav", drive)
        commands.append(("run", "--agent", "expert", "--drive", drive, *given, "--out", walked))
        commands.append(("score", walked, *given, "--times", TIMES, "--out", *kept))
    return [*commands, ("compare", *scores("pointnav"), "--solved")]


def skills() -> list[Command]:
    traces = f"{HEARTH}/rxr/pose_traces/rxr_val_unseen.tar.gz"
    trials, answers = "demo/skills/trials.jsonl", [f"demo/skills/{agent}.jsonl" for agent in LISTENING]
    return [
        ("study", "design", "stop", "direction", "object", "room-1", "--tasks", GUIDE, "--alignment", traces,
         "--worlds", HEARTH, "--out", trials),
        *(("study", "run", "--agent", agent, "--trials", trials, "--worlds", HEARTH, "--out", out)
          for agent, out in zip(LISTENING, answers, strict=True)),
        ("study", "analyse", trials, *answers, "--json", ">", "demo/skills/found.json"),
    ]  # fmt: skip


def replays(missed: str, ground: str, point: str, tour: str) -> list[Command]:
    """Pages of an episode on the graph, on the ground and to a point, and of a whole tour."""
    graph = ("--tasks", R2R, "--worlds", HEARTH)
    return [
        ("show", *walks("r2r"), *graph, "--episode", missed, "--out", f"demo/replays/replay-{missed}.html"),
        ("show", *walks("vlnce"), "--tasks", GROUND, "--worlds", HEARTH, "--episode", ground,
         "--out", f"demo/replays/replay-{ground}.html"),
        ("show", *walks("pointnav"), "--tasks", POINTS, "--worlds", HEARTH, "--times", TIMES, "--episode", point,
         "--out", f"demo/replays/replay-{point}.html"),
        ("show", *walks("tours"), *graph, "--tour", tour, "--out", "demo/replays/tour.html"),
    ]  # fmt: skip


def page() -> list[Command]:
    bundles = [bundle for kind in AGENTS for bundle in scores(kind)]
    told = ("--replays", "demo/replays", "--title", "Itinera's demo", "--out", "demo/report.html")
    return [("report", *bundles, "demo/skills/found.json", TIMES, *told)]


def walked_and_scored(kind: str, tasks: str, *more: str) -> list[Command]:
    """A run and a score for each agent."""
    given, commands = ("--tasks", tasks, "--worlds", HEARTH, *more), list[Command]()
    for agent in AGENTS[kind]:
        walked, kept = files(kind, agent)
        commands.append(("run", "--agent", agent, *given, "--out", walked))
        commands.append(("score", walked, *given, "--out", *kept))
    return commands


def files(kind: str, name: str) -> tuple[str, Command]:
    """Where an agent's walks go, and where its scores and the table of them."""
    scored = f"demo/scores/{kind}/{name}"
    return f"demo/walks/{kind}/{name}.jsonl", (f"{scored}.jsonl", ">", f"{scored}.txt")


def walks(kind: str) -> list[str]:
    return [f"demo/walks/{kind}/{name}.jsonl" for name in AGENTS[kind]]


def scores(kind: str) -> list[str]:
    return [f"demo/scores/{kind}/{name}.jsonl" for name in AGENTS[kind]]


# A command runs unless what it makes is there, and newer than what it is made of.


def do(commands: list[Command]) -> None:
    """Run `itinera` commands as the shell would, each after printing it; those that are done are left out."""
    for command in commands:
        line = " ".join(word if word == ">" else shlex.quote(word) for word in command)
        print(f"$ itinera {line}{'  # is there already' if is_done(command) else ''}", flush=True)
        if is_done(command):
            continue
        typed, kept = (command[:-2], Path(command[-1])) if ">" in command else (command, None)
        done = subprocess.run(
            [sys.executable, "-m", "itinera.cli.main", *typed], stdout=None if kept is None else subprocess.PIPE
        )
        if done.returncode:
            raise SystemExit(f"It ended with {done.returncode}; `make demo` goes on from here.")
        if kept is not None:
            with atomic_write(kept) as stream:
                stream.write(done.stdout)
        for file in made_by(command):
            file.touch()  # a run that finds its walks there already leaves them as old as they are


def is_done(command: Command) -> bool:
    makes = made_by(command)
    if not makes or not all(file.exists() for file in makes):
        return False
    uses = [file for file in map(told_by, command) if file.is_file() and file not in makes]
    return min(file.stat().st_mtime for file in makes) >= max((file.stat().st_mtime for file in uses), default=0.0)


def made_by(command: Command) -> list[Path]:
    return [told_by(word) for before, word in pairwise(command) if before in ("--out", ">")]


def told_by(word: str) -> Path:
    """The file that changes when this word of a command does; of the houses it is their list."""
    return SEASON if word.startswith(HEARTH) else Path(word)


# Some of the tasks will do.


def write_some() -> None:
    """A few episodes of each house, for what takes longer than walking on a graph."""
    if not is_done((HEARTH, "--out", GROUND)):
        walked = vlnce.read_split(f"{HEARTH}/vlnce/val_unseen/val_unseen.json.gz")
        vlnce.write_split(GROUND, first_of_each(walked, ON_GROUND))
    if not is_done((HEARTH, "--out", POINTS)):
        driven = pointnav.read_split(f"{HEARTH}/pointnav/val_unseen/val_unseen.json.gz")
        pointnav.write_split(POINTS, first_of_each(driven, TO_POINTS))
    if not is_done((HEARTH, "--out", GUIDE)):
        guide = gzip.decompress(Path(HEARTH, "rxr/rxr_val_unseen_guide.jsonl.gz").read_bytes())
        with atomic_write(Path(GUIDE)) as stream:  # compressed, by its name
            for line in guide.splitlines(keepends=True):
                if msgspec.json.decode(line)["path_id"] % STUDIED == 0:
                    stream.write(line)


def first_of_each(split: Split, episodes: int) -> Split:
    rows = sorted(row for own in split.rows_by_world.values() for row in own[:episodes].tolist())
    return replace(split, episodes=tuple(split.episodes[row] for row in rows))


def worth_seeing() -> tuple[str, str, str, str]:
    """An episode the reader misses, the first on the ground and to a point, and the first tour."""
    reader = read_scores(scores("r2r")[-1])
    missed = next(episode for episode, reached in zip(reader.episode_ids, reader["SR"], strict=True) if not reached)
    ground, point = (read_scores(scores(kind)[-1]).episode_ids[0] for kind in ("vlnce", "pointnav"))
    tours = read_scores(scores("tours")[-1]).tours
    assert tours is not None
    return missed, ground, point, tours.tour_ids[0]


# What comes out.


def table() -> Table:
    """A row for each agent: the metrics that tell most, with intervals."""
    shown = Table("tasks", "agent", *(f"{name} %" for name in SHOWN), title="Means, with 95 % intervals over houses")
    for kind, names in AGENTS.items():
        for name, bundle in zip(names, scores(kind), strict=True):
            shown.add_row(kind, name, *cells(bundle), end_section=name == names[-1])
    return shown


def cells(bundle: str) -> Iterator[str]:
    """A mean and its interval below it, in percent."""
    intervals = summarise(read_scores(bundle)).intervals
    for name in SHOWN:
        found = intervals.get(name)
        yield "–" if found is None else f"{100 * found.mean:.1f}\n({100 * found.low:.0f}–{100 * found.high:.0f})"


def main() -> None:
    began = time.monotonic()

    def begin(what: str) -> None:
        print(f"\n[{time.monotonic() - began:3.0f} s] {what}", flush=True)

    begin("Six houses that no agent was trained in; code is compiled the first time.")
    do(houses())
    write_some()
    begin("From viewpoint to viewpoint: one agent follows the words, one walks at random.")
    do(on_graphs())
    begin("The same in tours: one episode after another.")
    do(in_tours())
    begin("On the ground, in steps of 25 cm.")
    do(on_the_ground())
    begin("To a point, as fast as can be: success weighted by completion time.")
    do(to_points())
    begin("Which skills? Sentences are added, and one looks at what that changes.")
    do(skills())
    begin("Pages to look at.")
    do(replays(*worth_seeing()))
    do(page())
    begin("Done.")
    Console().print(table())
    print(
        "\nWhere to look:"
        "\n  demo/report.html           who is better, by how much, how sure, where it fails"
        "\n  demo/replays/              walks to watch; tour.html is a whole tour"
        "\n  demo/scores/               result bundles, with all it takes to check them: itinera check FILE"
        "\n  demo/walks/                what the agents did; demo/hearth/ where they did it"
        "\n  demo/tasks.json            a benchmark small enough to read, with demo/follower.json as predictions"
        "\nNow score your own: itinera score PREDICTIONS --tasks TASKS --worlds CONNECTIVITY"
    )


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit("\nStopped; `make demo` goes on from here.") from None
