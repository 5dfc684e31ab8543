"""What an oracle has observed of what comes next: figures 2b, 5 and 7 of "Iterative Vision-and-Language Navigation".

An expert walks the tours through the houses of Hearth's val-unseen, acting and being led, with VLN-CE's depth camera.
A depth pixel, put back into space, marks the cell it lies in. Before each episode: which share of the cells that the
episode itself will show was marked already (upcoming), which of those that the whole tour shows (tour), and which of
those that can be seen from anywhere in the house (scene). The same for tours through as many paths as IR2R-CE's have
in the mean, with the rule of the test split, and for R4R, R6R and R8R as tours of two, three and four paths. The
paper's curves are pictures; printed beside ours is what its text and captions state about them, which are bounds.

    python recipes/coverage_seen.py coverage.png

Expected, over 11 houses with one tour of 71 or 72 episodes each: after ten episodes 91 % [76, 97] of the next path have
been observed (printed: over 50) and 67 % [54, 77] of the tour (printed: over 70, which is reached after 12); after 20
episodes 88 %. At the start of its last part R8R has shown 44 % [36, 52] of the scene (printed: under 30; a tour shows
66 % after ten episodes and 98 % after sixty). Where storeys count apart, or the open floor does not count, a tour shows
53 % or 52 % after ten episodes: what counts as seen matters, and the paper's own rule was not released.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

from itinera.agents.oracle import Expert
from itinera.analysis.coverage import Curve, Seen, curve
from itinera.analysis.visibility import FLOOR, RELEASED, Seeing, seen_along, together
from itinera.builders.hearth import Home, Tasks, build_home, tasks_of
from itinera.builders.joining import Joining, join_scene
from itinera.builders.tours import Touring, tour_scene
from itinera.hearth.season import IN_ALL, paths_of, public_season, role_of
from itinera.records import Rollout
from itinera.reports.charts.coverage import Printed, draw_observed
from itinera.reports.tables import Grid, drawn
from itinera.runs.rollout import walk
from itinera.seeding import generator
from itinera.simulators.ground import GroundSimulator
from itinera.tasks import Episode, Protocol, Split, Tour
from itinera.tasks.protocol import IVLN_CE, IVLN_CE_TEST
from itinera.worlds import World

SEASON = public_season(1)
SPLIT = "val_unseen"
SHARES = ("upcoming", "tour", "scene")
DONE = (1, 2, 3, 5, 10, 20, 40, 60)  # episodes done, in the table
FEWER = 48  # episodes in a tour of IR2R-CE, train; ours have 71
SHORTER = f"tours of {FEWER}"
WALKED = ("tours", SHORTER, "test rule")
JOINED = {"R4R": 2, "R6R": 3, "R8R": 4}
PRINTED = (
    Printed("upcoming", "tours", 10, 0.50, over=True),
    Printed("tour", "tours", 10, 0.70, over=True),
    Printed("scene", "R8R", 3, 0.30, over=False),
)


# The walks of a house, by data set.


def walks_in(home: Home, tasks: Tasks, world: World, journeys: int) -> dict[str, list[Rollout]]:
    split = Split(SPLIT, tasks.on_ground, protocol="r2r-ce")
    found = {
        "tours": toured(split, world, Touring(order="end-to-start", tours=1), IVLN_CE),
        SHORTER: toured(with_fewer_paths(split), world, Touring(order="end-to-start", tours=1), IVLN_CE),
        "test rule": toured(split, world, Touring(order="start-to-start", tours=1), IVLN_CE_TEST),
    }
    by_path = {episode.path_id: episode for episode in reversed(split.episodes)}  # the first of each path
    on_graph = Split(SPLIT, tasks.on_graph)
    for name, parts in JOINED.items():
        joining = Joining(parts=parts, journeys=journeys, texts=1)
        joined = join_scene(on_graph, world.id, {world.id: home.world}, joining)
        found[name] = [walked([by_path[part] for part in one.part_ids], world, IVLN_CE) for one in joined]
    return found


def with_fewer_paths(split: Split) -> Split:
    """As many paths, drawn at random, as the tours of figure 2b have in the mean."""
    paths = sorted({episode.path_id for episode in split.episodes})
    rng = generator(SEASON.seed, "coverage", split.episodes[0].world_id)
    kept = {paths[k] for k in rng.permutation(len(paths))[:FEWER]}
    return Split(split.name, tuple(e for e in split.episodes if e.path_id in kept), protocol=split.protocol)


def toured(split: Split, world: World, touring: Touring, protocol: Protocol) -> list[Rollout]:
    """One walk through each set of paths: its other tours ask for the same ways in other words."""
    groups = tour_scene(split, world.id, {world.id: world}, touring)
    return [walked([split.by_id[name] for name in group.tours[0]], world, protocol) for group in groups]


def walked(episodes: Sequence[Episode], world: World, protocol: Protocol) -> Rollout:
    """The expert's walk through the episodes, led from each to the next as the protocol says."""
    tour = Tour("-".join(episode.id for episode in episodes), world.id, tuple(episode.id for episode in episodes))
    expert = Expert(episodes, {world.id: world}, protocol, tours=[tour])
    return walk(expert, GroundSimulator.for_protocol(protocol), world, tour, episodes, protocol=protocol, seed=0)


# What they show.

OTHERS = {
    "as the plan, storeys apart": Seeing(storeys=True),
    "0.25 to 1.75 m, on one sheet (the released map)": RELEASED,
    "open floor only, storeys apart": FLOOR,
}


def observed_in(index: int, journeys: int) -> dict[str, Seen]:
    """What was seen in one house, by data set; of the tours, also by other rules of what counts."""
    home = build_home(SEASON.seed, index, id=SEASON.house_id(index))
    world = World(home.house.id, home.surface, mesh=home.house.mesh)
    walks = walks_in(home, tasks_of(home, paths_of(index))[SPLIT], world, journeys)
    every = seen_along([one for some in walks.values() for one in some], world)
    found, first = {}, 0
    for name, some in walks.items():
        found[name] = tours_of(every, np.arange(first, first + len(some)))
        first += len(some)
    return found | {rule: seen_along(walks["tours"], world, seeing=seeing) for rule, seeing in OTHERS.items()}


def tours_of(seen: Seen, rows: NDArray[np.int64]) -> Seen:
    names = tuple(seen.world_ids[row] for row in rows)
    return Seen(names, seen.upcoming.take(rows), seen.tour.take(rows), seen.scene.take(rows))


def observed(houses: int, journeys: int, workers: int) -> dict[str, Seen]:
    """The same over houses."""
    indices = [index for index in range(IN_ALL) if role_of(index) == SPLIT][:houses]
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        parts = pool.map(partial(observed_in, journeys=journeys), indices)
        done = list(track(parts, "Houses", total=len(indices), console=Console(stderr=True), transient=True))
    return {name: together([part[name] for part in done]) for name in done[0]}


# Tables.


def table(curves: Mapping[str, Mapping[str, Curve]]) -> Grid:
    rows = []
    for name in (*WALKED, *JOINED):
        for share in SHARES:
            of = curves[name][share]
            rows.append((f"{name}, {share}", *(cell(of, k) for k in DONE), stated(name, share)))
    return Grid(("observed before, %", *(f"after {k}" for k in DONE), "printed"), tuple(rows))


def table_of_rules(curves: Mapping[str, Mapping[str, Curve]]) -> Grid:
    named = {"0 to 2 m, on one sheet (the plan)": curves["tours"], **{rule: curves[rule] for rule in OTHERS}}
    rows = [(name, *(cell(of[share], 10) for share in SHARES)) for name, of in named.items()]
    return Grid(("what counts as seen, tours after 10 episodes", *SHARES), tuple(rows))


def cell(of: Curve, done: int) -> str:
    """The mean and its interval, in percent."""
    if done >= len(of):
        return ""
    mean, low, high = (100 * values[done] for values in (of.mean, of.low, of.high))
    return f"{mean:.0f}" if np.isnan(low) else f"{mean:.0f} [{low:.0f}, {high:.0f}]"


def stated(name: str, share: str) -> str:
    told = [p for p in PRINTED if (p.name, p.what) == (name, share)]
    return ", ".join(f"{'over' if p.over else 'under'} {100 * p.share:.0f} after {p.done}" for p in told)


def main(
    out: Annotated[Path, typer.Argument(help="The figure, .png or .svg.")] = Path("coverage.png"),
    houses: Annotated[int, typer.Option(help="Of val-unseen, at most 11.")] = 11,
    journeys: Annotated[int, typer.Option(help="R4R, R6R and R8R journeys in each house, drawn at random.")] = 12,
    workers: Annotated[int, typer.Option(help="Processes.")] = os.cpu_count() or 1,
) -> None:
    console = Console(width=170)
    seen = observed(houses, journeys, workers)
    curves = {
        name: {share: curve(getattr(found, share), found.world_ids) for share in SHARES} for name, found in seen.items()
    }
    console.print(drawn(table(curves)), drawn(table_of_rules(curves)))
    console.print("Means over tours, or over journeys, with 95 % intervals that take houses as the sample.")
    shown = {name: curves[name] for name in WALKED} | {name: parts_of(curves[name]) for name in JOINED}
    draw_observed(shown, out, printed=PRINTED)
    for bound in PRINTED:
        console.print(verdict(curves, bound))


def parts_of(curves: Mapping[str, Curve]) -> dict[str, Curve]:
    """Without the share of the journey's own cells, which says little where a journey has two parts."""
    return {share: of for share, of in curves.items() if share != "tour"}


def verdict(curves: Mapping[str, Mapping[str, Curve]], bound: Printed) -> str:
    ours = float(curves[bound.name][bound.what].mean[bound.done])
    holds = ours > bound.share if bound.over else ours < bound.share
    printed = f"{'over' if bound.over else 'under'} {100 * bound.share:.0f} % were printed"
    told = f"{bound.name}, {bound.what}, after {bound.done}: {100 * ours:.1f} %; {printed}"
    return f"{told}, which holds." if holds else f"{told}, which does NOT hold here."


if __name__ == "__main__":
    typer.run(main)
