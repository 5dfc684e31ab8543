"""All of Itinera in a few minutes: houses, agents that walk through them, scores, skills, completion times, one page.

Everything is made here, from a seed: six houses of Hearth, walks of simple agents, and of one that learned, on their
graphs, in tours, on the ground and to points, and what these walks are worth. The `itinera` commands are those that
anybody would type; they are printed, then run two at a time. Expected: the reader, who follows the words by rules, is
ahead of one who walks at random in every metric that says who is better, with p = 0.031, the least that six houses can
give, and the one that learned is between them; words move the reader, and not one who does not listen; a robot that
curves takes less time than one that turns on the spot, over ways that are longer.

    python recipes/demo.py      # writes into demo/; one that was stopped goes on; delete demo/ to begin anew
"""

from __future__ import annotations

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

from itinera.cli.main import main as itinera
from itinera.cli.output import progress
from itinera.formats import ivln, pointnav, vlnce
from itinera.formats.bundles import read_scores
from itinera.formats.io import atomic_write
from itinera.reports.breakdown import failures
from itinera.reports.page.contest import contests
from itinera.reports.summary import summarise
from itinera.runs.process_map import in_processes
from itinera.tasks import Split

Command = tuple[str, ...]  # what is typed after `itinera`; "> FILE" at its end keeps what it prints

RECIPES = Path(__file__).parent
HEARTH = "demo/hearth"
SEASON = Path(HEARTH, "season.json")  # written last, so that it tells whether the houses are all there
R2R = f"{HEARTH}/r2r/R2R_val_unseen.json"
DENSE = f"{HEARTH}/vlnce/val_unseen/val_unseen_gt.json.gz"  # the references on the ground, step by step
TRACES = f"{HEARTH}/rxr/pose_traces/rxr_val_unseen.tar.gz"
TOURS = "demo/tours_hearth.json"
GROUND, POINTS, GUIDE, TIMES = "demo/vlnce.json", "demo/pointnav.json", "demo/rxr_guide.jsonl.gz", "demo/times.jsonl"
TRIALS, FOUND = "demo/skills/trials.jsonl", "demo/skills/found.json"
SMALL = Path("demo/scores/wanderer.jsonl")  # the last that the small benchmark leaves
HOUSES = 46  # of a season; six of them are val-unseen
ON_GROUND, TO_POINTS, STUDIED = 3, 4, 12  # episodes of each house on the ground and to points; one path in so many
WATCHED = 2  # failures of each agent and kind that can be watched, and episodes to a point
AT_ONCE = 2  # commands at work

AGENTS = {
    "r2r": ("random", "rcm-fidelity", "reader"),  # one who goes anywhere, one who learned, one who follows rules
    "tours": ("random", "reader"),
    "vlnce": ("forward", "expert"),
    "pointnav": ("point-turn", "unicycle-6"),  # all are the expert, who drives them
}
GIVEN: dict[str, Command] = {
    "r2r": ("--tasks", R2R, "--worlds", HEARTH),
    "tours": ("--tasks", R2R, "--worlds", HEARTH, "--tours", TOURS),
    "vlnce": ("--tasks", GROUND, "--worlds", HEARTH),
    "pointnav": ("--tasks", POINTS, "--worlds", HEARTH),
}
LISTENING = ("uniform", "reader")  # the agents of the study
SHOWN = ("SR", "SPL", "nDTW", "t-nDTW", "SCT")


# Parts of the demo: the commands of each. None needs what another of its part makes.


def beginning() -> list[Command]:
    """The first house, which takes as long as many for all the code that is compiled; another core compiles more."""
    small = () if SMALL.exists() else (("python", str(RECIPES / "small_benchmark.py")),)
    if SEASON.exists():
        return [*small]
    return [
        ("build", "hearth", "--out", HEARTH, "--houses", "3", "--splits", "val_unseen", "--workers", "1"),
        ("python", str(RECIPES / "demo.py"), "--compile"),
        *small,
    ]


def houses() -> list[Command]:
    return [("build", "hearth", "--out", HEARTH, "--houses", str(HOUSES), "--splits", "val_unseen")]


def walking() -> list[Command]:
    """Whatever takes longest is begun first."""
    return [
        ("fastest-times", POINTS, "--worlds", HEARTH, "--workers", "1", "--out", TIMES),
        *runs("pointnav"),
        *runs("vlnce"),
        *runs("r2r"),
        ("build", "tours", "--tasks", R2R, "--worlds", f"{HEARTH}/connectivity", "--out", TOURS),
        ("study", "design", "stop", "direction", "object", "room-1", "--tasks", GUIDE, "--alignment", TRACES,
         "--worlds", HEARTH, "--out", TRIALS),
    ]  # fmt: skip


def scoring() -> list[Command]:
    """Also the walks in tours, and the answers of the study, which had to wait for what is asked."""
    return [
        *(("study", "run", "--agent", agent, "--trials", TRIALS, "--worlds", HEARTH, "--workers", "0", "--out", out)
          for agent, out in zip(LISTENING, answers(), strict=True)),
        *runs("tours"),
        *judged("vlnce", "--reference", DENSE),
        *judged("pointnav", "--times", TIMES),
        *judged("r2r"),
    ]  # fmt: skip


def looking(failed: list[str], fallen: list[str], driven: list[str], tour: str) -> list[Command]:
    """Pages of failures on the graph and on the ground, of drives to points, and of a whole tour."""
    return [
        shown("pointnav", driven, "--times", TIMES),
        shown("r2r", failed),
        shown("vlnce", fallen),
        ("show", *walks("tours"), *GIVEN["r2r"], "--tour", tour, "--out", "demo/replays/tour.html"),
        ("study", "analyse", TRIALS, *answers(), "--json", ">", FOUND),
        *judged("tours"),
        ("compare", *scores("r2r")),
        ("compare", *scores("pointnav"), "--solved"),
    ]


def telling() -> list[Command]:
    bundles = [bundle for kind in AGENTS for bundle in scores(kind)]
    told = ("--replays", "demo/replays", "--title", "Itinera's demo", "--out", "demo/report.html")
    return [("report", *bundles, FOUND, TIMES, *told)]


def runs(kind: str) -> list[Command]:
    """A run for each agent."""
    return [("run", *who(kind, name), *GIVEN[kind], "--workers", "0", "--out", out)
            for name, out in zip(AGENTS[kind], walks(kind), strict=True)]  # fmt: skip


def who(kind: str, name: str) -> Command:
    return ("--agent", "expert", "--drive", name) if kind == "pointnav" else ("--agent", name)


def judged(kind: str, *more: str) -> list[Command]:
    """A score for each agent, and the table of it."""
    return [("score", walked, *GIVEN[kind], *more, "--out", out, ">", str(Path(out).with_suffix(".txt")))
            for walked, out in zip(walks(kind), scores(kind), strict=True)]  # fmt: skip


def shown(kind: str, episodes: list[str], *more: str) -> Command:
    chosen = [word for episode in episodes for word in ("--episode", episode)]
    return ("show", *walks(kind), *GIVEN[kind], *more, *chosen, "--out", f"demo/replays/{kind}.html")


def walks(kind: str) -> list[str]:
    return [f"demo/walks/{kind}/{name}.jsonl" for name in AGENTS[kind]]


def scores(kind: str) -> list[str]:
    return [f"demo/scores/{kind}/{name}.jsonl" for name in AGENTS[kind]]


def answers() -> list[str]:
    return [f"demo/skills/{agent}.jsonl" for agent in LISTENING]


# A command runs unless what it makes is there, and newer than what it is made of.


def do(commands: list[Command]) -> None:
    """Run commands, some at a time, each after printing it; those that are done are left out."""
    left = [command for command in commands if not is_done(command)]
    for command in commands:
        print(f"$ {line_of(command)}{'' if command in left else '  # is there already'}", flush=True)
    with progress(f"{len(left)} commands", len(left)) as done:
        for number, (code, printed, remarks) in in_processes(captured, left, workers=min(AT_ONCE, len(left))):
            finish(left[number], code, printed, remarks)
            done(1)


def line_of(command: Command) -> str:
    if command[0] == "python":
        return f"python recipes/{' '.join((Path(command[1]).name, *command[2:]))}"
    return f"itinera {' '.join(word if word == '>' else shlex.quote(word) for word in command)}"


def captured(command: Command) -> tuple[int, str, str]:
    """How a command ends, what it prints, and its remarks."""
    printed, remarks = io.StringIO(), io.StringIO()
    with redirect_stdout(printed), redirect_stderr(remarks):
        code = typed(command)
    return code, printed.getvalue(), remarks.getvalue()


def typed(command: Command) -> int:
    """How a command ends that is run here, as if it had been typed."""
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
    """Keep or show what a command printed."""
    kept = Path(command[-1]) if ">" in command and not code else None
    print("".join(f"  {line}\n" for line in ("" if kept else printed).splitlines() + remarks.splitlines()), end="")
    if code:
        raise SystemExit(f"{line_of(command)}\nended with {code}; `make demo` goes on from here.")
    if kept is not None:
        with atomic_write(kept) as stream:
            stream.write(printed.encode())
    for file in made_by(command):
        if file != SEASON:
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


def worth_seeing() -> tuple[list[str], list[str], list[str], str]:
    """Failures on the graph and on the ground, some episodes to points, and the first tour."""
    driven = read_scores(scores("pointnav")[0]).episode_ids
    return missed("r2r"), missed("vlnce"), list(driven[:WATCHED]), ivln.read_tours(TOURS)[0].id


def missed(kind: str) -> list[str]:
    """The failures of each agent and kind that the report names first."""
    (contest,) = contests(AGENTS[kind], [read_scores(bundle) for bundle in scores(kind)])
    found = [failures(contest, agent) for agent in range(len(contest.names))]
    rows = [row for one in found if one is not None for of_kind in one.kinds.values() for row in of_kind[:WATCHED]]
    return [contest.tables[0].episode_ids[row] for row in dict.fromkeys(rows)]


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


def compile_ahead() -> None:
    """Plan a drive round a corner of an empty room, so that the code that plans drives is there when it is needed."""
    import numpy as np

    from itinera.planners.motion.fastest import fastest
    from itinera.worlds.grid import Grid

    walls = np.ones((60, 60), dtype=bool)
    walls[5:55, 5:55] = False
    walls[20:40, 28:32] = True
    fastest(Grid(walls, 0.1), (1.0, 3.0, 0.0), (5.0, 3.0), trees=0)


def main() -> None:
    began = time.monotonic()

    def start_episode(what: str) -> None:
        print(f"\n[{time.monotonic() - began:3.0f} s] {what}", flush=True)

    start_episode("A first house. All code is compiled the first time it is used, which takes most of a minute.")
    do(beginning())
    start_episode("Six houses that no agent was trained in.")
    for command in houses():
        print(f"$ {line_of(command)}", flush=True)
        if typed(command):  # which tells itself how far it is, and whether it is done already
            raise SystemExit("Stopped; `make demo` goes on from here.")
    write_some()
    start_episode(
        "Agents walk: from viewpoint to viewpoint, on the ground in steps of 25 cm, to a point as fast as can be."
    )
    do(walking())
    start_episode(
        "Walks are scored. Agents walk in tours. Which skills have they? Sentences are added, to see what changes."
    )
    do(scoring())
    start_episode("Who is better? What became of the failures?")
    do(looking(*worth_seeing()))
    start_episode("One page about it all.")
    do(telling())
    start_episode("Done.")
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


def stop(*_: object) -> None:
    """End at once, and with it every command at work: whatever is half done is kept as a draft, or made again."""
    Console(stderr=True).show_cursor()
    print("\nStopped; `make demo` goes on from here.", flush=True)
    os._exit(1)


if __name__ == "__main__":
    if sys.argv[1:] == ["--compile"]:
        compile_ahead()
    else:
        signal.signal(signal.SIGINT, stop)
        main()
