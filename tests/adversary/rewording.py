"""The re-wording attack on a sealed season: describe every candidate path by the public generator, take the nearest.

The published folder of a sealed season has the graphs and the scene descriptions, and the generator of instructions is
public. So an attacker needs no agent: the path whose wording is nearest to the text is probably the path.

python tests/adversary/rewording.py SEASON     # the success rate of the attack; needs the folder SEASON-answers
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from itinera.builders.path_sampling import EDGE_FRACTIONS, MIN_LENGTH
from itinera.formats import matterport, r2r, rxr
from itinera.formats.scene_descriptions import read_descriptions
from itinera.hearth.language.generate import DETAILS, generate_instruction
from itinera.hearth.language.scene_description import SceneDescription
from itinera.seeding import generator
from itinera.tasks import Episode
from itinera.worlds import NavGraph

DRAWS = 6  # wordings per candidate and level of detail


def read_tasks(folder: Path) -> dict[str, Episode]:
    """The R2R and RxR tasks of the test split, by id."""
    files = {r2r: folder / "r2r/R2R_test.json", rxr: folder / "rxr/rxr_test_guide.jsonl.gz"}
    return {episode.id: episode for form, file in files.items() for episode in form.read_split(file).episodes}


def answer(season: Path) -> dict[str, tuple[str, ...]]:
    """The path that the attack takes for each task, from the published folder alone."""
    worlds = matterport.read_worlds(season / "connectivity")
    descriptions = read_descriptions(season / "scene_descriptions")
    found = {}
    for name, task in read_tasks(season).items():
        graph = worlds[task.world_id].space
        assert isinstance(graph, NavGraph)
        found[name] = _nearest_path(task, graph, descriptions[task.world_id])
    return found


def _nearest_path(task: Episode, graph: NavGraph, descriptions: Mapping[str, SceneDescription]) -> tuple[str, ...]:
    text = task.instruction.text
    likeness = {path: max(_likeness(text, other) for other in _wordings(task, path, descriptions))
                for path in candidates(graph, str(task.start.place))}  # fmt: skip
    return max(likeness, key=lambda path: likeness[path])


def candidates(graph: NavGraph, start: str) -> list[tuple[str, ...]]:
    """Every path that the sampler might have taken from this start."""
    distances = graph.between([start], graph.nodes)[0]
    far = np.flatnonzero(np.isfinite(distances) & (distances.round(6) >= MIN_LENGTH))
    paths = [graph.route(start, graph.nodes[i]) for i in far.tolist()]
    return [path for path in paths if len(path) - 1 in EDGE_FRACTIONS]


def _wordings(task: Episode, path: tuple[str, ...], descriptions: Mapping[str, SceneDescription]) -> Iterator[str]:
    for detail in DETAILS:
        rng = generator(0, detail, *path)
        for _ in range(DRAWS):
            yield generate_instruction(descriptions, path, task.start.heading, rng, detail=detail).text


def _likeness(a: str, b: str) -> float:
    """The Dice coefficient of the words and pairs of words of two texts."""
    ones, others = _grams(a), _grams(b)
    return 2 * sum((ones & others).values()) / (sum(ones.values()) + sum(others.values()))


def _grams(text: str) -> Counter[str]:
    words = text.lower().replace(",", " ").replace(".", " ").split()
    return Counter([*words, *map(" ".join, pairwise(words))])


@dataclass(frozen=True)
class AttackResult:
    """Rates of the attack over the tasks of a season."""

    tasks: int
    success: float  # the path ends within 3 m of the goal
    exact: float  # it ends at the goal
    chance: float  # success of a random candidate path


def measure(season: Path) -> dict[str, AttackResult]:
    """The rates of the attack by length of text: "short" (up to 15 words) or "long"."""
    answers = read_tasks(season.with_name(f"{season.name}-answers"))
    worlds = matterport.read_worlds(season / "connectivity")
    rows: dict[str, list[tuple[float, float, float]]] = {"short": [], "long": []}
    for name, path in answer(season).items():
        task = answers[name]
        graph = worlds[task.world_id].space
        assert isinstance(graph, NavGraph)
        kind = "short" if len(task.instruction.text.split()) <= 15 else "long"
        ends = [path[-1], *(other[-1] for other in candidates(graph, str(task.start.place)))]
        errors = graph.between(ends, task.goals)[:, 0]
        rows[kind].append((float(errors[0] <= 3.0), float(errors[0] == 0.0), float(np.mean(errors[1:] <= 3.0))))
    return {kind: AttackResult(len(found), *np.mean(found, axis=0).tolist()) for kind, found in rows.items()}


if __name__ == "__main__":
    for kind, result in measure(Path(sys.argv[1])).items():
        print(kind, result)
