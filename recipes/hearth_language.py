"""Can Hearth's instructions be followed, and are they needed? A rule-based agent on the val-unseen houses.

The agent receives the text and a scene description: rooms, doors, visible objects, directions. Each instruction is
tested as it is; with its objects masked ("the red sofa" becomes "the thing"); without its directions; and replaced by
that of another path in the same house. There are two chance levels: random walks of the same number of steps, and
random goals among the ends of shortest paths with as many edges as R2R's. Success: stopping within 3 m of the goal.

    python recipes/hearth_language.py      # all 783 paths of the split, in 11 houses

Expected: with step-by-step instructions the success rate exceeds 95 %, with ordinary ones 90 %; masking objects or
directions costs at least 25 points in both, and the instruction of another path is hardly better than a random walk.
The simulator rounds the initial heading to twelve directions, so the first turn may be half a step off.

With ITINERA_DATA set to a folder with `r2r/R2R_train.json.gz`, a second table compares the words with R2R's, at equal
sample size: vocabulary, entropy of n-grams and of the first three words, share of instructions with a relation between
two objects, words per instruction.
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.progress import track

from itinera.agents.rule_based import RuleBasedAgent
from itinera.builders.hearth import AnnotatedHouse, build_annotated_house, sample_house_paths
from itinera.builders.path_sampling import EDGE_FRACTIONS, MIN_LENGTH
from itinera.formats.r2r import read_split
from itinera.hearth.language.generate import DETAILS, generate_instruction
from itinera.hearth.language.scene_description import SceneDescription
from itinera.hearth.language.vocabulary import DIRECTION_WORDS, object_pattern
from itinera.hearth.season import HOUSE_CYCLE, house_role, paths_per_split
from itinera.records.tables import TextTable
from itinera.seeding import generator
from itinera.simulators.graph import GraphSimulator
from itinera.simulators.simulator import STOP
from itinera.stats import interval
from itinera.tasks import Instruction
from itinera.worlds import Pose

RADIUS = 3.0  # meters
MAX_STEPS = 30
VARIANTS = ("full", "no objects", "no turns", "another's")
CHANCE = ("random walk", "random goal")
MIN_SUCCESS = {"steps": 0.95, "ordinary": 0.90}
MIN_LOSS = 0.25  # by either mask
BUILDING = frozenset({"door", "railing"})  # objects that are no landmarks
_NO_NOUN = (
    r"(?!(?:and|then|to|stop|wait|stand|room|left|right|top|end|bottom|side|front|middle|door\w*|hall\w*|stairs)\b)"
)
_NOUN = rf"(?:{_NO_NOUN}[a-z'-]+ ){{0,2}}{_NO_NOUN}[a-z'-]+"
RELATION = re.compile(
    rf"\b(?:the|a|an) {_NOUN} (?:next to|beside|(?:in )?between|near|behind|above|over|below|under|underneath|beneath"
    r"|on top of|opposite|across from|close to|adjacent to|(?:to |on )?(?:the )?(?:left|right) of|with) "
    rf"(?:the|a|an) {_NOUN}"
)
"""A noun, a relation, and another noun: "the chair next to the bed". A rough measure, the same for both data sets."""


@dataclass(frozen=True)
class PathInstruction:
    """An instruction and its path."""

    path: tuple[str, ...]
    heading: float  # at its start
    detail: str
    text: str


def generate_instructions(home: AnnotatedHouse, paths: Sequence[tuple[str, ...]], seed: int) -> list[PathInstruction]:
    """The three instructions of each path."""
    found = []
    for number, path in enumerate(paths):
        rng = generator(seed, "language", home.house.id, str(number))
        heading = float(rng.uniform(-np.pi, np.pi))
        for detail in DETAILS:
            words = generate_instruction(home.descriptions, path, heading, rng, detail=detail)
            found.append(PathInstruction(path, heading, detail, words.text))
    return found


def drop_turns(text: str) -> str:
    """The text without words for directions."""
    left = re.sub(rf"\b(?:{'|'.join(sorted(DIRECTION_WORDS))})\b", "", text, flags=re.IGNORECASE)
    return re.sub(r"\s+", " ", left)


def follow(text: str, start: Pose, simulator: GraphSimulator, home: AnnotatedHouse) -> str:
    """The node where the rule-based agent stops."""
    agent = RuleBasedAgent()
    agent.reset(generator(0))
    agent.start_episode(Instruction(text))
    observation = simulator.reset(home.world, start)
    for _ in range(MAX_STEPS):
        action = agent.act(observation)
        if action == STOP:
            break
        observation = simulator.step(action)
    return str(simulator.pose.place)


def evaluate(
    home: AnnotatedHouse, instructions: Sequence[PathInstruction], rng: np.random.Generator
) -> Iterator[dict[str, float]]:
    """The success of each variant of each instruction, and of each chance level."""
    graph = home.graph
    objects = object_pattern({item.name for item in home.house.objects} - BUILDING)
    simulator = GraphSimulator(descriptions={home.world.id: home.descriptions})
    for one in instructions:
        texts = (
            one.text,
            objects.sub("thing", one.text),
            drop_turns(one.text),
            other_instruction(one, instructions, home, rng).text,
        )
        ends = [follow(text, Pose(one.path[0], one.heading), simulator, home) for text in texts]
        ends.append(random_walk(one.path[0], len(one.path) - 1, home.descriptions, rng))
        reached = (graph.between(ends, one.path[-1:])[:, 0] <= RADIUS).astype(float).tolist()
        yield dict(zip((*VARIANTS, *CHANCE), (*reached, random_goal_success(one, home)), strict=True))


def other_instruction(
    one: PathInstruction, instructions: Sequence[PathInstruction], home: AnnotatedHouse, rng: np.random.Generator
) -> PathInstruction:
    """An instruction of the same level of detail with another start and goal."""
    order = rng.permutation(len(instructions)).tolist()
    shuffled: list[PathInstruction] = [instructions[k] for k in order]
    others = (other for other in shuffled if other.detail == one.detail and other.path[0] != one.path[0])
    return next(o for o in others if home.graph.between(o.path[-1:], one.path[-1:])[0, 0] > RADIUS)


def random_walk(start: str, steps: int, descriptions: Mapping[str, SceneDescription], rng: np.random.Generator) -> str:
    for _ in range(steps):
        candidates = descriptions[start].candidates
        start = candidates[int(rng.integers(len(candidates)))].node
    return start


def random_goal_success(one: PathInstruction, home: AnnotatedHouse) -> float:
    """The fraction of possible goals from the same start that are near this goal."""
    graph = home.graph
    far = [node for node in graph.nodes if graph.between(one.path[:1], [node])[0, 0] >= MIN_LENGTH]
    goals = [node for node in far if len(graph.route(one.path[0], node)) - 1 in EDGE_FRACTIONS]
    return float((graph.between(goals, one.path[-1:]) <= RADIUS).mean())


def compare_words(texts: Sequence[str], data: Path) -> TextTable:
    """The words of the instructions beside those of as many from R2R's train split."""
    split = read_split(data / "r2r" / "R2R_train.json.gz")
    known = [episode.instruction.text for episode in split.episodes]
    order = generator(0, "r2r").permutation(len(known))[: len(texts)].tolist()
    ours, theirs = describe_words(texts), describe_words([known[k] for k in order])
    lines = [(name, f"{ours[name]:.2f}", f"{theirs[name]:.2f}", f"{ours[name] / theirs[name]:.2f}") for name in ours]
    return TextTable((f"{len(texts)} instructions", "Hearth", "R2R", "ratio"), tuple(lines))


def describe_words(texts: Sequence[str]) -> dict[str, float]:
    """Statistics of the words of instructions; entropies in bits."""
    words = [re.findall(r"[a-z'-]+", text.lower()) for text in texts]
    ngrams = {n: [tuple(line[k : k + n]) for line in words for k in range(len(line) - n + 1)] for n in (1, 2, 3)}
    return {
        "words per instruction": float(np.mean([len(line) for line in words])),
        "vocabulary": float(len({word for line in words for word in line})),
        "entropy of words, bits": entropy(ngrams[1]),
        "entropy of 2-grams": entropy(ngrams[2]),
        "entropy of 3-grams": entropy(ngrams[3]),
        "entropy of first 3 words": entropy(tuple(line[:3]) for line in words),
        "with a relation of two objects, %": 100 * float(np.mean([bool(RELATION.search(t.lower())) for t in texts])),
    }


def entropy(events: Iterable[Hashable]) -> float:
    """The entropy of the empirical distribution, bits."""
    counts = Counter(events)
    total = sum(counts.values())
    return -sum(count / total * math.log2(count / total) for count in counts.values())


def main(
    episodes: Annotated[
        int | None, typer.Option(min=1, help="Number of paths, each with three instructions. Default: the split's.")
    ] = None,
    houses: Annotated[int, typer.Option(min=1, help="Number of val-unseen houses; a season has 11.")] = 11,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the season.")] = 1,
) -> None:
    """Print the success rates; exit with 1 if the instructions cannot be followed, or are not needed."""
    indices = [index for index in range(HOUSE_CYCLE * houses) if house_role(index) == "val_unseen"][:houses]
    rows: list[tuple[str, str, int, dict[str, float]]] = []  # detail, house, words, outcomes
    texts: list[str] = []
    for index in track(indices, "houses", console=Console(stderr=True), transient=True):
        home = build_annotated_house(seed, index)
        count = paths_per_split(index)["val_unseen"] if episodes is None else -(-episodes // houses)
        instructions = generate_instructions(home, sample_house_paths(home.graph, seed, index, count), seed)
        texts += [one.text for one in instructions]
        rng = generator(seed, "language", home.house.id)
        found = evaluate(home, instructions, rng)
        paired = zip(instructions, found, strict=True)
        rows += [(one.detail, home.house.id, len(one.text.split()), out) for one, out in paired]
    lines, rates = [], {}
    for detail in (*DETAILS, "all"):
        chosen = [row for row in rows if detail in (row[0], "all")]
        names, lengths = [house for _, house, _, _ in chosen], [words for _, _, words, _ in chosen]
        cells = []
        for variant in (*VARIANTS, *CHANCE):
            values = [out[variant] for *_, out in chosen]
            rate = interval(values, clusters=names, bounds=(0.0, 1.0))
            rates[detail, variant] = rate.mean
            cells.append(f"{100 * rate.mean:.1f} [{100 * rate.low:.1f}, {100 * rate.high:.1f}]")
        lines.append((detail, str(len(chosen)), f"{np.mean(lengths):.1f} ± {np.std(lengths):.1f}", *cells))
    headings = ("detail", "instructions", "words, mean ± SD", *(f"{variant} %" for variant in (*VARIANTS, *CHANCE)))
    print(TextTable(headings, tuple(lines)))
    print(f"Success rate ({RADIUS:g} m) with 95 % confidence intervals over {len(indices)} houses of season {seed}.")
    if "ITINERA_DATA" in os.environ:
        print(compare_words(texts, Path(os.environ["ITINERA_DATA"])))
    for detail, least in MIN_SUCCESS.items():
        losses = [rates[detail, "full"] - rates[detail, variant] for variant in ("no objects", "no turns")]
        if rates[detail, "full"] < least or min(losses) < MIN_LOSS:
            raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
