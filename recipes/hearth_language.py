"""Can Hearth's instructions be followed, and are they needed? A reader by rules, on the houses of val-unseen.

The reader gets the text and sees what a person standing there would: rooms, doors, things in view, directions. Each
instruction is read as it is; with its things masked ("the red sofa" becomes "the thing"); with its directions left out;
and in place of another one of the same house with another start and another goal. Beside it stand two kinds of chance:
walks as long as the path that choose evenly at each move, and ends of shortest paths of as many edges as R2R has, from
the same start. Success is R2R's: to stop within 3 m of the goal.

    python recipes/hearth_language.py --episodes 800 --houses 11

Expected: step-by-step instructions bring the reader to the goal in more than 90 of 100 episodes, without things or
without directions in at least 20 fewer, and another's instruction hardly more often than a random walk. The walk faces
the nearest of twelve headings at first, so a first turn may be half a step off.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.progress import track

from itinera.agents.rule_based import Reader
from itinera.builders.hearth import Home, build_home, paths_in
from itinera.builders.path_sampling import EDGES, SHORTEST
from itinera.hearth.language.generate import DETAILS, describe
from itinera.hearth.language.scene_description import Outlook
from itinera.hearth.language.vocabulary import COLOUR_WORDS, DIRECTION_WORDS, SHAPE_WORDS, words_for
from itinera.hearth.season import IN_ALL, role_of
from itinera.reports.tables import Grid, drawn
from itinera.seeding import generator
from itinera.simulators.graph import GraphSimulator
from itinera.simulators.simulator import STOP
from itinera.stats import interval
from itinera.tasks import Instruction
from itinera.worlds import Pose

RADIUS = 3.0  # metres
LONGEST = 30  # moves after which a walk is ended
READ = ("full", "no things", "no turns", "another's")
CHANCE = ("random walk", "random goal")
LEAST, COST = 0.90, 0.20  # of success: step by step, and what either mask takes away


@dataclass(frozen=True)
class Told:
    """An instruction and the path it was written for."""

    path: tuple[str, ...]
    heading: float  # at its start
    detail: str
    text: str


def instructions(home: Home, paths: Sequence[tuple[str, ...]], seed: int) -> list[Told]:
    """Every path of a house with its three instructions."""
    told = []
    for number, path in enumerate(paths):
        rng = generator(seed, "language", home.house.id, str(number))
        heading = float(rng.uniform(-np.pi, np.pi))
        for detail in DETAILS:
            words = describe(home.outlooks, path, heading, rng, detail=detail)
            told.append(Told(path, heading, detail, words.text))
    return told


def without_things(names: set[str]) -> Callable[[str], str]:
    """Masks things of these names, with their colours and shapes."""
    nouns = sorted({word for name in names for word in words_for(name)}, key=lambda word: (-len(word), word))
    looks = "|".join(sorted(COLOUR_WORDS | SHAPE_WORDS))
    phrase = re.compile(rf"\b(?:(?:{looks}) )*(?:{'|'.join(map(re.escape, nouns))})\b")
    return lambda text: phrase.sub("thing", text)


def without_turns(text: str) -> str:
    """The text without its words for directions."""
    left = re.sub(rf"\b(?:{'|'.join(sorted(DIRECTION_WORDS))})\b", "", text, flags=re.IGNORECASE)
    return re.sub(r"\s+", " ", left)


def followed(text: str, start: Pose, walk: GraphSimulator, home: Home) -> str:
    """Where the reader of a text stops."""
    reader = Reader()
    reader.reset(generator(0))
    reader.start_episode(Instruction(text))
    seen = walk.reset(home.world, start)
    for _ in range(LONGEST):
        action = reader.act(seen)
        if action == STOP:
            break
        seen = walk.step(action)
    return str(walk.pose.place)


def outcomes(home: Home, told: Sequence[Told], rng: np.random.Generator) -> Iterator[dict[str, float]]:
    """For each instruction, how often each reading of it and each kind of chance reaches the goal."""
    graph = home.graph
    masked = without_things({item.name for item in home.house.items})
    walk = GraphSimulator(sights={home.world.id: home.outlooks})
    for one in told:
        texts = (one.text, masked(one.text), without_turns(one.text), another(one, told, home, rng).text)
        ends = [followed(text, Pose(one.path[0], one.heading), walk, home) for text in texts]
        ends.append(wandered(one.path[0], len(one.path) - 1, home.outlooks, rng))
        reached = (graph.between(ends, one.path[-1:])[:, 0] <= RADIUS).astype(float).tolist()
        yield dict(zip((*READ, *CHANCE), (*reached, anywhere(one, home)), strict=True))


def another(one: Told, told: Sequence[Told], home: Home, rng: np.random.Generator) -> Told:
    """An instruction of the same detail that starts and ends somewhere else."""
    order = rng.permutation(len(told)).tolist()
    others = (told[k] for k in order if told[k].detail == one.detail and told[k].path[0] != one.path[0])
    return next(o for o in others if home.graph.between(o.path[-1:], one.path[-1:])[0, 0] > RADIUS)


def wandered(start: str, moves: int, outlooks: Mapping[str, Outlook], rng: np.random.Generator) -> str:
    for _ in range(moves):
        candidates = outlooks[start].candidates
        start = candidates[int(rng.integers(len(candidates)))].node
    return start


def anywhere(one: Told, home: Home) -> float:
    """The share of goals one might have had from the same start that are near this one."""
    graph = home.graph
    far = [node for node in graph.nodes if graph.between(one.path[:1], [node])[0, 0] >= SHORTEST]
    goals = [node for node in far if len(graph.route(one.path[0], node)) - 1 in EDGES]
    return float((graph.between(goals, one.path[-1:]) <= RADIUS).mean())


def main(
    episodes: Annotated[int, typer.Option(min=1, help="Paths in all, each with three instructions.")] = 800,
    houses: Annotated[int, typer.Option(min=1, help="Houses of val-unseen, of which a season has 11.")] = 11,
    seed: Annotated[int, typer.Option(min=0, help="The season.")] = 1,
) -> None:
    """Print how often the reader succeeds; leave with 1 if language is not followed, or not needed."""
    indices = [index for index in range(IN_ALL * houses) if role_of(index) == "val_unseen"][:houses]
    rows: list[tuple[str, str, int, dict[str, float]]] = []  # detail, house, words, outcomes
    for index in track(indices, "houses", console=Console(stderr=True), transient=True):
        home = build_home(seed, index)
        told = instructions(home, paths_in(home.graph, seed, index, -(-episodes // houses)), seed)
        rng = generator(seed, "language", home.house.id)
        found = outcomes(home, told, rng)
        rows += [(one.detail, home.house.id, len(one.text.split()), out) for one, out in zip(told, found, strict=True)]
    lines, steps = [], {}
    for detail in (*DETAILS, "all"):
        chosen = [row for row in rows if detail in (row[0], "all")]
        names, lengths = [house for _, house, _, _ in chosen], [words for _, _, words, _ in chosen]
        cells = []
        for reading in (*READ, *CHANCE):
            values = [out[reading] for *_, out in chosen]
            rate = interval(values, clusters=names, bounds=(0.0, 1.0))
            steps[detail, reading] = rate.mean
            cells.append(f"{100 * rate.mean:.1f} [{100 * rate.low:.1f}, {100 * rate.high:.1f}]")
        lines.append((detail, str(len(chosen)), f"{np.mean(lengths):.1f} ± {np.std(lengths):.1f}", *cells))
    headings = ("detail", "instructions", "words, mean ± SD", *(f"{reading} %" for reading in (*READ, *CHANCE)))
    Console(width=180).print(drawn(Grid(headings, tuple(lines))))
    print(f"Success within {RADIUS:g} m and its 95 % interval over {len(indices)} houses of season {seed}.")
    full = steps["steps", "full"]
    costs = {mask: full - steps["steps", mask] for mask in ("no things", "no turns")}
    if full < LEAST or min(costs.values()) < COST:
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
