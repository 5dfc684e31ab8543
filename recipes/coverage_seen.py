"""Coverage along tours: figures 2b, 5 and 7 of "Iterative Vision-and-Language Navigation" (Krantz et al. 2022).

An expert follows the tours through the houses of Hearth's val-unseen, acting and being guided, with VLN-CE's depth
camera. A depth pixel, projected back into space, marks the cell it lies in. Before each episode: the share of the cells
that the episode itself will show that are marked already (upcoming), of those that the whole tour shows (tour), and of
those visible from anywhere in the house (scene). The same for tours through as many paths as IR2R-CE's have in the
mean, with the rule of the test split, and for R4R, R6R and R8R as tours of two, three and four paths. The paper's
curves are pictures; printed beside ours are the bounds that its text and captions state.

    python recipes/coverage_seen.py coverage.png

Expected, over 11 houses with one tour of 71 or 72 episodes each: after ten episodes 91 % [76, 97] of the next path were
observed (printed: over 50) and 67 % [54, 77] of the tour (printed: over 70, which is reached after 12); after 20
episodes 88 %. At the start of its last part R8R has shown 44 % [36, 52] of the scene (printed: under 30; a tour shows
66 % after ten episodes and 98 % after sixty). If storeys count separately, or the open floor does not count, a tour
shows 53 % or 52 % after ten episodes: the definition matters, and the paper's own rule was not released.
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

from itinera.agents.oracle import ShortestPathExpert
from itinera.analysis.coverage import CoverageCurve, TourCoverage, coverage_curve
from itinera.analysis.visibility import FLOOR, RELEASED, VisibilityRule, concatenate_coverage, measure_visibility
from itinera.builders.hearth import AnnotatedHouse, HouseTasks, build_annotated_house, build_tasks
from itinera.builders.joining import JoinConfig, join_scene_paths
from itinera.builders.tours import TourConfig, tour_scene
from itinera.hearth.season import HOUSE_CYCLE, house_role, paths_per_split, public_season
from itinera.records import Rollout
from itinera.records.tables import TextTable
from itinera.reports.charts.datasets import PublishedBound, draw_observed_coverage
from itinera.runs.rollout import rollout
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
TOURED = ("tours", SHORTER, "test rule")
JOINED = {"R4R": 2, "R6R": 3, "R8R": 4}
PRINTED = (
    PublishedBound("upcoming", "tours", 10, 0.50, is_lower=True),
    PublishedBound("tour", "tours", 10, 0.70, is_lower=True),
    PublishedBound("scene", "R8R", 3, 0.30, is_lower=False),
)


# The rollouts of a house, by data set.


def make_rollouts(home: AnnotatedHouse, tasks: HouseTasks, world: World, paths: int) -> dict[str, list[Rollout]]:
    split = Split(SPLIT, tasks.ground_episodes, protocol="r2r-ce")
    found = {
        "tours": follow_tours(split, world, TourConfig(order="end-to-start", tours=1), IVLN_CE),
        SHORTER: follow_tours(with_fewer_paths(split), world, TourConfig(order="end-to-start", tours=1), IVLN_CE),
        "test rule": follow_tours(split, world, TourConfig(order="start-to-start", tours=1), IVLN_CE_TEST),
    }
    by_path = {episode.path_id: episode for episode in reversed(split.episodes)}  # the first of each path
    on_graph = Split(SPLIT, tasks.graph_episodes)
    for name, parts in JOINED.items():
        joining = JoinConfig(parts=parts, max_paths=paths, max_instructions=1)
        joined = join_scene_paths(on_graph, world.id, {world.id: home.world}, joining)
        found[name] = [follow_episodes([by_path[part] for part in one.part_ids], world, IVLN_CE) for one in joined]
    return found


def with_fewer_paths(split: Split) -> Split:
    """As many paths, drawn at random, as the tours of figure 2b have on average."""
    paths = sorted({episode.path_id for episode in split.episodes})
    rng = generator(SEASON.seed, "coverage", split.episodes[0].world_id)
    kept = {paths[k] for k in rng.permutation(len(paths))[:FEWER]}
    return Split(split.name, tuple(e for e in split.episodes if e.path_id in kept), protocol=split.protocol)


def follow_tours(split: Split, world: World, config: TourConfig, protocol: Protocol) -> list[Rollout]:
    """One rollout for each set of paths: its other tours have the same paths with other instructions."""
    groups = tour_scene(split, world.id, {world.id: world}, config)
    return [follow_episodes([split.by_id[name] for name in group.tours[0]], world, protocol) for group in groups]


def follow_episodes(episodes: Sequence[Episode], world: World, protocol: Protocol) -> Rollout:
    """The expert's rollout through the episodes, guided from each to the next as the protocol says."""
    tour = Tour("-".join(episode.id for episode in episodes), world.id, tuple(episode.id for episode in episodes))
    expert = ShortestPathExpert(episodes, {world.id: world}, protocol, tours=[tour])
    return rollout(expert, GroundSimulator.for_protocol(protocol), world, tour, episodes, protocol=protocol, seed=0)


# Coverage.

OTHER_RULES = {
    "as the plan, storeys apart": VisibilityRule(per_storey=True),
    "0.25 to 1.75 m, on one sheet (the released map)": RELEASED,
    "open floor only, storeys apart": FLOOR,
}


def measure_house(index: int, paths: int) -> dict[str, TourCoverage]:
    """The coverage in one house, by data set; of the tours, also by other rules."""
    home = build_annotated_house(SEASON.seed, index, id=SEASON.house_id(index))
    world = World(home.house.id, home.surface, mesh=home.house.mesh)
    rollouts = make_rollouts(home, build_tasks(home, paths_per_split(index))[SPLIT], world, paths)
    every = measure_visibility([one for some in rollouts.values() for one in some], world)
    found, first = {}, 0
    for name, some in rollouts.items():
        found[name] = select_tours(every, np.arange(first, first + len(some)))
        first += len(some)
    return found | {name: measure_visibility(rollouts["tours"], world, rule=rule) for name, rule in OTHER_RULES.items()}


def select_tours(coverage: TourCoverage, rows: NDArray[np.int64]) -> TourCoverage:
    names = tuple(coverage.world_ids[row] for row in rows)
    return TourCoverage(names, coverage.upcoming.take(rows), coverage.tour.take(rows), coverage.scene.take(rows))


def measure_houses(houses: int, paths: int, workers: int) -> dict[str, TourCoverage]:
    """The coverage in several houses, by data set."""
    indices = [index for index in range(HOUSE_CYCLE) if house_role(index) == SPLIT][:houses]
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        parts = pool.map(partial(measure_house, paths=paths), indices)
        done = list(track(parts, "Houses", total=len(indices), console=Console(stderr=True), transient=True))
    return {name: concatenate_coverage([part[name] for part in done]) for name in done[0]}


# Tables.


def coverage_table(curves: Mapping[str, Mapping[str, CoverageCurve]]) -> TextTable:
    rows = []
    for name in (*TOURED, *JOINED):
        for share in SHARES:
            of = curves[name][share]
            rows.append((f"{name}, {share}", *(cell(of, k) for k in DONE), published(name, share)))
    return TextTable(("observed before, %", *(f"after {k}" for k in DONE), "printed"), tuple(rows))


def rule_table(curves: Mapping[str, Mapping[str, CoverageCurve]]) -> TextTable:
    by_rule = {"0 to 2 m, on one sheet (the plan)": curves["tours"], **{rule: curves[rule] for rule in OTHER_RULES}}
    rows = [(name, *(cell(of[share], 10) for share in SHARES)) for name, of in by_rule.items()]
    return TextTable(("rule, tours after 10 episodes", *SHARES), tuple(rows))


def cell(of: CoverageCurve, done: int) -> str:
    """The mean and its interval, in percent."""
    if done >= len(of):
        return ""
    mean, low, high = (100 * values[done] for values in (of.mean, of.low, of.high))
    return f"{mean:.0f}" if np.isnan(low) else f"{mean:.0f} [{low:.0f}, {high:.0f}]"


def published(name: str, share: str) -> str:
    bounds = [p for p in PRINTED if (p.name, p.share_of) == (name, share)]
    return ", ".join(f"{'over' if p.is_lower else 'under'} {100 * p.value:.0f} after {p.episodes_done}" for p in bounds)


def main(
    out: Annotated[Path, typer.Argument(help="Figure to write, .png or .svg.")] = Path("coverage.png"),
    houses: Annotated[int, typer.Option(help="Number of val-unseen houses, at most 11.")] = 11,
    paths: Annotated[int, typer.Option(help="Random R4R, R6R and R8R paths per house.")] = 12,
    workers: Annotated[int, typer.Option(help="Number of worker processes.")] = os.cpu_count() or 1,
) -> None:
    """Print the coverage along tours beside the published bounds, and draw it."""
    coverage = measure_houses(houses, paths, workers)
    curves = {
        name: {share: coverage_curve(getattr(found, share), found.world_ids) for share in SHARES}
        for name, found in coverage.items()
    }
    print(coverage_table(curves))
    print(rule_table(curves))
    print("Means over tours, or over joined paths, with 95 % intervals that take houses as the sample.")
    shown = {name: curves[name] for name in TOURED} | {name: without_tour(curves[name]) for name in JOINED}
    draw_observed_coverage(shown, out, published=PRINTED)
    for bound in PRINTED:
        print(verdict(curves, bound))


def without_tour(curves: Mapping[str, CoverageCurve]) -> dict[str, CoverageCurve]:
    """Without the share of the tour, which says little for a path joined from two."""
    return {share: of for share, of in curves.items() if share != "tour"}


def verdict(curves: Mapping[str, Mapping[str, CoverageCurve]], bound: PublishedBound) -> str:
    ours = float(curves[bound.name][bound.share_of].mean[bound.episodes_done])
    holds = ours > bound.value if bound.is_lower else ours < bound.value
    printed = f"{'over' if bound.is_lower else 'under'} {100 * bound.value:.0f} % were printed"
    summary = f"{bound.name}, {bound.share_of}, after {bound.episodes_done}: {100 * ours:.1f} %; {printed}"
    return f"{summary}: confirmed." if holds else f"{summary}: NOT confirmed."


if __name__ == "__main__":
    typer.run(main)
