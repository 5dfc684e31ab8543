"""A benchmark small enough to read, used by the examples of the documentation.

Everything is generated from a seed: eight houses as navigation graphs, tasks in R2R's format with template
instructions, tours through each house, and the predictions of an agent that follows the reference path with noise and
of a random walker. Expected: the follower is better than the wanderer in every metric that has a direction, with
p = 0.008, the smallest p-value eight houses allow.

    python recipes/small_benchmark.py     # writes demo/, replacing the files of an earlier run
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np

from itinera.formats import ivln, matterport, r2r
from itinera.records import Predictions, Trajectory
from itinera.seeding import generator
from itinera.tasks import Episode, Instruction, Split, Tour
from itinera.worlds import NavGraph, Pose, World

SEED = 7
HOUSES, PATHS = 8, 8  # paths in each house; each has three instructions
MIN_ROOMS, MAX_ROOMS = 4, 8  # rooms entered on a path

ROOMS = (
    ("porch", "hall", "study", "library", "veranda"),
    ("kitchen", "pantry", "dining room", "playroom", "bedroom"),
    ("laundry", "workshop", "living room", "music room", "bathroom"),
    ("garage", "cellar stairs", "conservatory", "guest room", "balcony"),
)


# Houses: a room about every three meters. Rooms of a column are connected, as are those of the first row; other doors
# are random.


def make_house(name: str, rng: np.random.Generator) -> World:
    """A house with a node in the middle of each room and an edge through each door."""
    spots = {room: (x, y) for y, row in enumerate(ROOMS) for x, room in enumerate(row)}
    doors = [(ROOMS[y][x], ROOMS[y + 1][x]) for y in range(len(ROOMS) - 1) for x in range(len(ROOMS[0]))]
    doors += [
        (left, right) for y, row in enumerate(ROOMS) for left, right in pairwise(row) if y == 0 or rng.random() < 0.5
    ]
    places = {room: (*(3.0 * np.array(spot) + rng.random(2)), 0.0) for room, spot in spots.items()}
    return World(name, NavGraph.from_edges(places, doors))


# Tasks: from one room through a second to a third, with three instructions each. The path is often not the shortest,
# so that success and fidelity differ.


def make_episodes(world: World, first_path: int, rng: np.random.Generator) -> Iterable[Episode]:
    """The episodes of a house: three per path, with ids as in R2R."""
    graph = navigation_graph(world)
    path_id = first_path
    while path_id < first_path + PATHS:
        start, through, goal = (graph.nodes[int(i)] for i in rng.integers(len(graph.nodes), size=3))
        path = graph.route(start, through) + graph.route(through, goal)[1:]
        if start == goal or not MIN_ROOMS < len(path) <= MAX_ROOMS + 1:
            continue
        for i, words in enumerate(make_instructions(graph, path)):
            yield Episode(
                id=f"{path_id}_{i}",
                world_id=world.id,
                start=Pose(start, graph.heading(path[0], path[1])),
                goals=(goal,),
                reference=path,
                instruction=Instruction(words),
                path_id=str(path_id),
                stated_distance=round(float(graph.along(path).sum()), 2),
            )
        path_id += 1


def make_instructions(graph: NavGraph, path: tuple[str, ...]) -> tuple[str, ...]:
    """Three instructions for a path: two that name rooms, one with turns."""
    between = ", the ".join(path[1:-1])
    turns = [f"{describe_turn(graph, *step)} to the {step[2]}" for step in zip(path, path[1:], path[2:], strict=False)]
    return (
        f"From the {path[0]}, pass the {between} and stop in the {path[-1]}.",
        f"Leave the {path[0]} for the {path[1]}. Cross the {', the '.join(path[2:-1])} and wait in the {path[-1]}.",
        f"Walk into the {path[1]}, then go {', '.join(turns)}. Stop there.",
    )


def describe_turn(graph: NavGraph, before: str, here: str, after: str) -> str:
    change = math.remainder(graph.heading(here, after) - graph.heading(before, here), math.tau)
    if abs(change) > 0.75 * math.pi:
        return "back"
    return "straight on" if abs(change) < math.pi / 4 else "left" if change > 0 else "right"


def make_tours(split: Split) -> tuple[Tour, ...]:
    """Three tours per house, one for each kind of instruction."""
    visits: dict[tuple[str, str], list[str]] = {}
    for episode in split.episodes:
        visits.setdefault((episode.world_id, episode.id.rpartition("_")[2]), []).append(episode.id)
    return tuple(Tour(str(k), world_id, tuple(ids)) for k, ((world_id, _), ids) in enumerate(visits.items()))


# Agents: they use the reference path; a real one reads the instruction and its observations.

Agent = Callable[[NavGraph, Episode, np.random.Generator], list[str]]


def follower(graph: NavGraph, episode: Episode, rng: np.random.Generator) -> list[str]:
    """Follows the reference path with occasional wrong doors, and sometimes stops too early."""
    path = [str(episode.start.place)]
    for room in map(str, episode.reference[1:]):
        if rng.random() < 0.15:
            path.append(random_neighbor(graph, path[-1], rng))
        path.extend(graph.route(path[-1], room)[1:])
    return path[: 1 + int(rng.integers(len(path)))] if rng.random() < 0.3 else path


def wanderer(graph: NavGraph, episode: Episode, rng: np.random.Generator) -> list[str]:
    """Takes as many steps as the reference path, each through a random door."""
    path = [str(episode.start.place)]
    for _ in episode.reference[1:]:
        path.append(random_neighbor(graph, path[-1], rng))
    return path


AGENTS: Mapping[str, Agent] = {"follower": follower, "wanderer": wanderer}


def random_neighbor(graph: NavGraph, room: str, rng: np.random.Generator) -> str:
    doors = graph.neighbors(room)
    return doors[int(rng.integers(len(doors)))]


def predict(name: str, split: Split, worlds: Mapping[str, World]) -> Predictions:
    """The predictions of an agent. Each episode has its own random stream, so their order does not matter."""
    trajectories = []
    for episode in split.episodes:
        rng = generator(SEED, "demo", name, episode.id)
        places = AGENTS[name](navigation_graph(worlds[episode.world_id]), episode, rng)
        trajectories.append(Trajectory(episode.id, tuple(places)))
    return Predictions.from_trajectories(name, tuple(trajectories))


def navigation_graph(world: World) -> NavGraph:
    assert isinstance(world.space, NavGraph)
    return world.space


# The files, in the formats of R2R and IVLN.


def write_benchmark(folder: Path) -> None:
    """Write the houses, tasks, tours and predictions."""
    names = [f"house{k}" for k in range(HOUSES)]
    worlds = {name: make_house(name, generator(SEED, "demo", name)) for name in names}
    episodes = [
        episode
        for k, world in enumerate(worlds.values())
        for episode in make_episodes(world, PATHS * k, generator(SEED, "demo", world.id, "tasks"))
    ]
    split = Split("demo", tuple(episodes))
    matterport.write_worlds(folder / "connectivity", worlds)
    r2r.write_split(folder / "tasks.json", split)
    ivln.write_tours(folder / "tours.json", {split.name: make_tours(split)})
    for name in AGENTS:
        r2r.write_predictions(folder / f"{name}.json", predict(name, split, worlds))


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    write_benchmark(Path("demo"))
    for name in AGENTS:
        command = ("score", f"demo/{name}.json", "--tasks", "demo/tasks.json", "--worlds", "demo/connectivity",
                   "--tours", "demo/tours.json", "--rows", f"demo/rows/{name}.jsonl",
                   "--out", f"demo/scores/{name}.jsonl")  # fmt: skip
        words = [sys.executable, "-m", "itinera", "--quiet", *command]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    print("demo/: eight houses as graphs, tasks for them, and the predictions of two agents, scored.")


if __name__ == "__main__":
    main()
