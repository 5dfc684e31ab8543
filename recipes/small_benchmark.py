"""A benchmark small enough to read: what the examples of the documentation score and compare.

Everything is made here, from a seed: eight houses as navigation graphs, tasks in R2R's format with instructions from
templates, tours through each house, and the predictions of an agent that follows its instructions with some noise and
of one that wanders. Expected: the follower is ahead of the wanderer in every metric that says who is better, with p =
0.008, the least that eight houses can give.

    python recipes/small_benchmark.py     # writes into demo/, replacing what an earlier run left there
"""

from __future__ import annotations

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
FEWEST, MOST = 4, 8  # rooms entered on the way

ROOMS = (
    ("porch", "hall", "study", "library", "veranda"),
    ("kitchen", "pantry", "dining room", "playroom", "bedroom"),
    ("laundry", "workshop", "living room", "music room", "bathroom"),
    ("garage", "cellar stairs", "conservatory", "guest room", "balcony"),
)


# Houses: a room every three metres or so. Rooms behind one another are joined, as are those along the front; other
# doors are there or not.


def house(name: str, rng: np.random.Generator) -> World:
    """A house with a node in the middle of each room and an edge through each door."""
    spots = {room: (x, y) for y, row in enumerate(ROOMS) for x, room in enumerate(row)}
    doors = [(ROOMS[y][x], ROOMS[y + 1][x]) for y in range(len(ROOMS) - 1) for x in range(len(ROOMS[0]))]
    doors += [
        (left, right) for y, row in enumerate(ROOMS) for left, right in pairwise(row) if y == 0 or rng.random() < 0.5
    ]
    places = {room: (*(3.0 * np.array(spot) + rng.random(2)), 0.0) for room, spot in spots.items()}
    return World(name, NavGraph.from_edges(places, doors))


# Tasks: from one room through a second to a third, told in three ways. The way is often not the shortest, so that
# arriving and following are not the same.


def episodes(world: World, first_path: int, rng: np.random.Generator) -> Iterable[Episode]:
    """The episodes of a house: three to a path, named as R2R names them."""
    graph = graph_of(world)
    path_id = first_path
    while path_id < first_path + PATHS:
        start, through, goal = (graph.nodes[int(i)] for i in rng.integers(len(graph.nodes), size=3))
        way = graph.route(start, through) + graph.route(through, goal)[1:]
        if start == goal or not FEWEST < len(way) <= MOST + 1:
            continue
        for i, words in enumerate(instructions(graph, way)):
            yield Episode(
                id=f"{path_id}_{i}",
                world_id=world.id,
                start=Pose(start, graph.heading(way[0], way[1])),
                goals=(goal,),
                reference=way,
                instruction=Instruction(words),
                path_id=str(path_id),
                stated_distance=round(float(graph.along(way).sum()), 2),
            )
        path_id += 1


def instructions(graph: NavGraph, way: tuple[str, ...]) -> tuple[str, ...]:
    """The same way told three times: as rooms, as rooms again, and as turns."""
    between = ", the ".join(way[1:-1])
    turns = [f"{turn(graph, *step)} to the {step[2]}" for step in zip(way, way[1:], way[2:], strict=False)]
    return (
        f"From the {way[0]}, pass the {between} and stop in the {way[-1]}.",
        f"Leave the {way[0]} for the {way[1]}. Cross the {', the '.join(way[2:-1])} and wait in the {way[-1]}.",
        f"Walk into the {way[1]}, then go {', '.join(turns)}. Stop there.",
    )


def turn(graph: NavGraph, before: str, here: str, after: str) -> str:
    change = math.remainder(graph.heading(here, after) - graph.heading(before, here), math.tau)
    if abs(change) > 0.75 * math.pi:
        return "back"
    return "straight on" if abs(change) < math.pi / 4 else "left" if change > 0 else "right"


def tours(split: Split) -> tuple[Tour, ...]:
    """Each house visited three times, once for each way of telling its paths."""
    visits: dict[tuple[str, str], list[str]] = {}
    for episode in split.episodes:
        visits.setdefault((episode.world_id, episode.id.rpartition("_")[2]), []).append(episode.id)
    return tuple(Tour(str(k), world_id, tuple(ids)) for k, ((world_id, _), ids) in enumerate(visits.items()))


# Agents: they cheat, of course. A real one would read the words and look around.

Agent = Callable[[NavGraph, Episode, np.random.Generator], list[str]]


def follower(graph: NavGraph, episode: Episode, rng: np.random.Generator) -> list[str]:
    """Follows the reference, now and then through a wrong door and back, and sometimes stops too early."""
    walk = [str(episode.start.place)]
    for room in map(str, episode.reference[1:]):
        if rng.random() < 0.15:
            walk.append(any_neighbour(graph, walk[-1], rng))
        walk.extend(graph.route(walk[-1], room)[1:])
    return walk[: 1 + int(rng.integers(len(walk)))] if rng.random() < 0.3 else walk


def wanderer(graph: NavGraph, episode: Episode, rng: np.random.Generator) -> list[str]:
    """Takes as many steps as the reference, each through any door."""
    walk = [str(episode.start.place)]
    for _ in episode.reference[1:]:
        walk.append(any_neighbour(graph, walk[-1], rng))
    return walk


AGENTS: Mapping[str, Agent] = {"follower": follower, "wanderer": wanderer}


def any_neighbour(graph: NavGraph, room: str, rng: np.random.Generator) -> str:
    doors = graph.neighbours(room)
    return doors[int(rng.integers(len(doors)))]


def walks(name: str, split: Split, worlds: Mapping[str, World]) -> Predictions:
    """An agent's walks. Each episode has a random stream of its own, so their order does not matter."""
    trajectories = []
    for episode in split.episodes:
        rng = generator(SEED, "demo", name, episode.id)
        places = AGENTS[name](graph_of(worlds[episode.world_id]), episode, rng)
        trajectories.append(Trajectory(episode.id, tuple(places)))
    return Predictions.from_trajectories(name, tuple(trajectories))


def graph_of(world: World) -> NavGraph:
    assert isinstance(world.space, NavGraph)
    return world.space


# The files, in the formats R2R and IVLN use.


def write_benchmark(folder: Path) -> None:
    """The houses, tasks, tours and predictions of the demo."""
    names = [f"house{k}" for k in range(HOUSES)]
    worlds = {name: house(name, generator(SEED, "demo", name)) for name in names}
    asked = [
        episode
        for k, world in enumerate(worlds.values())
        for episode in episodes(world, PATHS * k, generator(SEED, "demo", world.id, "tasks"))
    ]
    split = Split("demo", tuple(asked))
    matterport.write_worlds(folder / "connectivity", worlds)
    r2r.write_split(folder / "tasks.json", split)
    ivln.write_tours(folder / "tours.json", {split.name: tours(split)})
    for name in AGENTS:
        r2r.write_predictions(folder / f"{name}.json", walks(name, split, worlds))


def main() -> None:
    write_benchmark(Path("demo"))
    for name in AGENTS:
        command = ("score", f"demo/{name}.json", "--tasks", "demo/tasks.json", "--worlds", "demo/connectivity",
                   "--tours", "demo/tours.json", "--rows", f"demo/rows/{name}.jsonl",
                   "--out", f"demo/scores/{name}.jsonl")  # fmt: skip
        words = [sys.executable, "-m", "itinera.cli.main", "--quiet", *command]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    print("demo/: eight houses as graphs, tasks for them, and the predictions of two agents, scored.")


if __name__ == "__main__":
    main()
