"""Coverage of the default interval, on simulated benchmarks whose true mean is known.

A benchmark has 11, 30 or 61 scenes (as R2R's unseen and training splits have 11 and 61), strongly unequal in size: 6 to
100 paths, most of them near either end, with 3 instructions each. Scenes differ in difficulty, paths within a scene do,
and so do the attempts on one path. The truth is the mean over the episodes of infinitely many such scenes.

Expected: the default interval at 95 % covers 93–97 % in every row. For comparison: the interval that treats episodes as
independent (plain t), and the percentile bootstrap over scenes.

    python recipes/interval_coverage.py --simulations 2000 --seed 1
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table
from scipy.special import betainc, expit, logit

from itinera.seeding import generator
from itinera.stats import Interval, cluster_bootstrap, interval

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SCENES = (11, 30, 61)
FEWEST_PATHS, MOST_PATHS, INSTRUCTIONS = 6, 100, 3
SIZE_SHAPE = (0.8, 0.5)  # of the beta distribution of sizes between these two
LOWEST, HIGHEST = 0.93, 0.97  # coverage that passes, in every row
RESAMPLES = 1000

SCENE_SD, PATH_SD, ATTEMPT_SD = 0.5, 0.8, 0.8  # of difficulty, in logits
NE_SCALE = 0.6  # the same difficulties move the logarithm of an error less


@dataclass(frozen=True)
class Outcome:
    """A type of score: how difficulty determines a value, and the range of values."""

    name: str
    ease: float  # of the average episode, before the effects of scene, path and attempt
    value: Callable[[Floats, np.random.Generator], Floats]  # from ease, one per episode
    expected: Callable[[Floats], Floats]  # the value to expect at this ease
    bounds: tuple[float, float]
    size_slope: float = 0.0  # change of ease from the smallest scene to the largest


def coin(ease: Floats, rng: np.random.Generator) -> Floats:
    return (rng.random(len(ease)) < expit(ease)).astype(np.float64)


def share(ease: Floats, rng: np.random.Generator) -> Floats:
    return np.asarray(expit(ease))


def metres(ease: Floats, rng: np.random.Generator) -> Floats:
    return np.exp(-NE_SCALE * ease)


OUTCOMES = (
    Outcome("success, rate about 0.5", 0.0, coin, expit, (0.0, 1.0)),
    Outcome("success, rate about 0.15", float(logit(0.1)), coin, expit, (0.0, 1.0)),
    Outcome("success, large scenes harder", 0.7, coin, expit, (0.0, 1.0), size_slope=-1.5),
    Outcome("nDTW-like, in [0, 1]", 0.4, share, expit, (0.0, 1.0)),
    Outcome("NE-like, skewed metres", -2.0, metres, lambda ease: np.exp(-NE_SCALE * ease), (0.0, np.inf)),
)


def draw_sizes(count: int, rng: np.random.Generator) -> Integers:
    """Paths per scene: many large scenes, several very small ones, few in between."""
    return np.floor(FEWEST_PATHS + (MOST_PATHS + 1 - FEWEST_PATHS) * rng.beta(*SIZE_SHAPE, count)).astype(np.int64)


def ease_by_size(outcome: Outcome, sizes: Integers) -> Floats:
    return outcome.ease + outcome.size_slope * (sizes - FEWEST_PATHS) / (MOST_PATHS - FEWEST_PATHS)


def draw_benchmark(outcome: Outcome, scenes: int, rng: np.random.Generator) -> tuple[Floats, Integers]:
    """The values of all episodes of a new benchmark, and the scene of each."""
    sizes = draw_sizes(scenes, rng)
    scene_of_path = np.repeat(np.arange(scenes), sizes)
    of_scene = ease_by_size(outcome, sizes) + SCENE_SD * rng.standard_normal(scenes)
    of_path = of_scene[scene_of_path] + PATH_SD * rng.standard_normal(len(scene_of_path))
    of_episode = np.repeat(of_path, INSTRUCTIONS)
    attempt = ATTEMPT_SD * rng.standard_normal(len(of_episode))
    return outcome.value(of_episode + attempt, rng), np.repeat(scene_of_path, INSTRUCTIONS)


def truth(outcome: Outcome) -> float:
    """The mean over the episodes of infinitely many scenes: each size weighs by its episodes."""
    sizes = np.arange(FEWEST_PATHS, MOST_PATHS + 1)
    chances = np.diff(betainc(*SIZE_SHAPE, np.linspace(0, 1, len(sizes) + 1)))
    nodes, masses = np.polynomial.hermite_e.hermegauss(80)
    spread = np.sqrt(SCENE_SD**2 + PATH_SD**2 + ATTEMPT_SD**2) * nodes
    means = outcome.expected(ease_by_size(outcome, sizes)[:, None] + spread) @ masses / masses.sum()
    return float(np.average(means, weights=chances * sizes))


@dataclass(frozen=True)
class Coverage:
    """How often an interval contained the true mean, and its mean width."""

    rate: float
    width: float


def measure(intervals: list[Interval], target: float) -> Coverage:
    covers = [each.low <= target <= each.high for each in intervals]
    return Coverage(float(np.mean(covers)), float(np.mean([each.high - each.low for each in intervals])))


def default_interval(outcome: Outcome, values: Floats, scenes: Integers, rng: np.random.Generator) -> Interval:
    return interval(values, clusters=scenes, bounds=outcome.bounds)


def plain_t(outcome: Outcome, values: Floats, scenes: Integers, rng: np.random.Generator) -> Interval:
    return interval(values, bounds=(-np.inf, np.inf))


def scene_bootstrap(outcome: Outcome, values: Floats, scenes: Integers, rng: np.random.Generator) -> Interval:
    return cluster_bootstrap(values, scenes, resamples=RESAMPLES, rng=rng)


Method = Callable[[Outcome, Floats, Integers, np.random.Generator], Interval]


def coverages(
    outcome: Outcome, scenes: int, methods: tuple[Method, ...], simulations: int, seed: int
) -> list[Coverage]:
    """The coverage of each method over the same simulated benchmarks."""
    rng = generator(seed, "interval coverage", outcome.name, str(scenes))
    found: list[list[Interval]] = [[] for _ in methods]
    for _ in range(simulations):
        values, clusters = draw_benchmark(outcome, scenes, rng)
        for method, intervals in zip(methods, found, strict=True):
            intervals.append(method(outcome, values, clusters, rng))
    target = truth(outcome)
    return [measure(intervals, target) for intervals in found]


def main(
    simulations: Annotated[
        int, typer.Option(min=1, help="Number of simulated benchmarks per row; with few, rows fail by chance.")
    ] = 2000,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 1,
) -> None:
    """Print the coverage table; exit 1 if a row of the default interval is outside 93–97 %."""
    title = f"Coverage of 95 % intervals, {simulations} simulations per row"
    table = Table("outcome", "scenes", "truth", "default", "width", "", "plain t", "scene bootstrap", title=title)
    methods = (default_interval, plain_t, scene_bootstrap)
    rows = [(outcome, scenes) for outcome in OUTCOMES for scenes in SCENES]
    failures = 0
    for outcome, scenes in track(rows, "simulating", console=Console(stderr=True), transient=True):
        default, plain, boot = coverages(outcome, scenes, methods, simulations, seed)
        passed = LOWEST <= default.rate <= HIGHEST
        failures += not passed
        verdict = "[green]PASS[/]" if passed else "[red]FAIL[/]"
        shares = [f"{each.rate:.1%}" for each in (default, plain, boot)]
        width, target = f"{default.width:.3f}", f"{truth(outcome):.3f}"
        table.add_row(outcome.name, str(scenes), target, shares[0], width, verdict, shares[1], shares[2])
    Console(width=120).print(table)
    if failures:
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
