"""Coverage of the default interval, on simulated benchmarks whose true mean is known.

A benchmark has 5, 11, 30 or 61 scenes (R2R's unseen and training splits have 11 and 61), strongly unequal in size, with
3 instructions per path. Scenes differ in difficulty, paths within a scene do, and so do the attempts on one path. The
truth is the mean over the episodes of infinitely many such scenes.

In the first rows the difficulty of scenes is normal, and scenes have 6 to 100 paths, most of them near either end. In
the skewed rows it is exponential (a few scenes are much harder, or much easier, than all others), and the sizes are
those of R2R val-unseen: all eleven, or a random choice of them for other numbers of scenes. In the rows of lost scenes
one scene in ten is far harder; at 11 scenes 31 % of the samples contain no such scene. The last rows have
distributions of scenes that the constants of the correction were not chosen on: heavy tails on both sides, a log-normal
tail, two kinds of scenes, and scenes that are alike.

Expected: the default interval at 95 % covers at least 90 % in every row, and at least 93 % where scenes are not skewed,
except for lost scenes; nothing is promised for the last rows. For comparison: the same interval without the
correction for skewness, and how much narrower it is; the interval that treats episodes as independent (plain t); the
percentile bootstrap over scenes.

    python recipes/interval_coverage.py --simulations 2000 --seed 1
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table
from scipy.special import betainc, expit, logit, ndtri

from itinera.seeding import generator
from itinera.stats import Interval, cluster_bootstrap, interval

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SCENES = (5, 11, 30, 61)
FEWEST_PATHS, MOST_PATHS, INSTRUCTIONS = 6, 100, 3
SIZE_SHAPE = (0.8, 0.5)  # of the beta distribution of sizes between these two
R2R_SIZES = (6, 15, 47, 60, 64, 93, 98, 100, 100, 100, 100)  # paths of the scenes of R2R val-unseen
LOWEST, LOWEST_IF_SKEWED = 0.93, 0.90  # coverage that passes
RESAMPLES = 1000

SCENE_SD, PATH_SD, ATTEMPT_SD = 0.5, 0.8, 0.8  # of difficulty, in logits
NE_SCALE = 0.6  # the same difficulties move the logarithm of an error less
GAIN = 0.5  # of the better of two systems, in logits


@dataclass(frozen=True)
class SceneEffects:
    """How the difficulty of scenes is distributed."""

    draw: Callable[[int, np.random.Generator], Floats]  # one effect per scene, in logits
    nodes: Floats  # effects and their probabilities, for expected values
    masses: Floats
    like_r2r: bool = True  # whether scenes have the sizes of R2R val-unseen


def normal_effects() -> SceneEffects:
    nodes, masses = np.polynomial.hermite_e.hermegauss(40)

    def draw(count: int, rng: np.random.Generator) -> Floats:
        return SCENE_SD * rng.standard_normal(count)

    return SceneEffects(draw, SCENE_SD * nodes, masses / masses.sum(), like_r2r=False)


def exponential_effects(scale: float) -> SceneEffects:
    """Exponential effects with mean 0: a tail of easy scenes, or of hard ones where the scale is negative."""
    nodes, masses = np.polynomial.laguerre.laggauss(60)

    def draw(count: int, rng: np.random.Generator) -> Floats:
        return scale * (rng.exponential(size=count) - 1)

    return SceneEffects(draw, scale * (nodes - 1), masses)


def lost_effects(chance: float = 0.1, penalty: float = 3.0) -> SceneEffects:
    usual = normal_effects()

    def draw(count: int, rng: np.random.Generator) -> Floats:
        return usual.draw(count, rng) - penalty * (rng.random(count) < chance)

    nodes = np.concatenate([usual.nodes, usual.nodes - penalty])
    return SceneEffects(draw, nodes, np.concatenate([(1 - chance) * usual.masses, chance * usual.masses]))


def quantile_effects(quantiles: Callable[[Floats], Floats]) -> SceneEffects:
    """Effects with these quantiles, moved to mean 0."""
    middles = (np.arange(2000) + 0.5) / 2000
    nodes = quantiles(middles)
    mean = float(nodes.mean())

    def draw(count: int, rng: np.random.Generator) -> Floats:
        return quantiles(rng.random(count)) - mean

    return SceneEffects(draw, nodes - mean, np.full(len(nodes), 1 / len(nodes)))


def two_kinds(chance: float, gap: float) -> SceneEffects:
    """A share of the scenes is easier than the others by a gap."""
    return quantile_effects(lambda ranks: gap * (ranks > 1 - chance))


@dataclass(frozen=True)
class Outcome:
    """A type of score: how difficulty determines a value, and the range of values."""

    name: str
    ease: float  # of the average episode, before the effects of scene, path and attempt
    value: Callable[[Floats, np.random.Generator], Floats]  # from ease, one per episode
    expected: Callable[[Floats], Floats]  # the value to expect at this ease
    bounds: tuple[float, float]
    size_slope: float = 0.0  # change of ease from the smallest scene to the largest
    scenes: SceneEffects = field(default_factory=normal_effects)
    lowest: float | None = LOWEST  # coverage that passes; None if nothing is promised


def coin(ease: Floats, rng: np.random.Generator) -> Floats:
    return (rng.random(len(ease)) < expit(ease)).astype(np.float64)


def share(ease: Floats, rng: np.random.Generator) -> Floats:
    return np.asarray(expit(ease))


def metres(ease: Floats, rng: np.random.Generator) -> Floats:
    return np.exp(-NE_SCALE * ease)


def metres_expected(ease: Floats) -> Floats:
    return np.exp(-NE_SCALE * ease)


def gain(ease: Floats, rng: np.random.Generator) -> Floats:
    """The difference of two systems on the same episodes."""
    return coin(ease + GAIN, rng) - coin(ease, rng)


def gain_expected(ease: Floats) -> Floats:
    return np.asarray(expit(ease + GAIN) - expit(ease))


RATE, ERROR, ANY = (0.0, 1.0), (0.0, np.inf), (-np.inf, np.inf)
EASY_TAIL, HARD_TAIL = exponential_effects(1.0), exponential_effects(-1.0)
MILD_TAIL, MILDER_TAIL = exponential_effects(-0.7), exponential_effects(-0.5)
OUTCOMES = (
    Outcome("success, rate about 0.5", 0.0, coin, expit, RATE),
    Outcome("success, rate about 0.15", float(logit(0.1)), coin, expit, RATE),
    Outcome("success, rate about 0.05", -3.5, coin, expit, RATE),
    Outcome("success, large scenes harder", 0.7, coin, expit, RATE, size_slope=-1.5),
    Outcome("nDTW-like, in [0, 1]", 0.4, share, expit, RATE),
    Outcome("NE-like, skewed metres", -2.0, metres, metres_expected, ERROR),
)
SKEWED = (
    Outcome("success about 0.5, skewed scenes", 0.0, coin, expit, RATE, 0.0, EASY_TAIL, LOWEST_IF_SKEWED),
    Outcome("success about 0.06, skewed scenes", -3.8, coin, expit, RATE, 0.0, EASY_TAIL, LOWEST_IF_SKEWED),
    Outcome("success about 0.96, skewed scenes", 4.4, coin, expit, RATE, 0.0, HARD_TAIL, LOWEST_IF_SKEWED),
    Outcome("nDTW about 0.91, skewed scenes", 3.0, share, expit, RATE, 0.0, MILD_TAIL, LOWEST_IF_SKEWED),
    Outcome("NE, skewed scenes", -2.0, metres, metres_expected, ERROR, 0.0, MILDER_TAIL, LOWEST_IF_SKEWED),
    Outcome("NE, one scene in ten lost", -2.0, metres, metres_expected, ERROR, 0.0, lost_effects(), None),
    Outcome("gain in success, skewed scenes", 0.0, gain, gain_expected, ANY, 0.0, EASY_TAIL, LOWEST_IF_SKEWED),
)
HEAVY_TAILS = quantile_effects(
    lambda ranks: -0.5 * np.sign(ranks - 0.5) * np.log1p(-2 * np.abs(ranks - 0.5))
)  # Laplace
LOG_NORMAL = quantile_effects(lambda ranks: 0.7 * np.exp(0.8 * ndtri(ranks)))
HARDER_LOG_NORMAL = quantile_effects(lambda ranks: -0.7 * np.exp(0.8 * ndtri(ranks)))
ALIKE = quantile_effects(lambda ranks: 0.0 * ranks)
HELD_OUT = (
    Outcome("success about 0.5, heavy tails", 0.0, coin, expit, RATE, 0.0, HEAVY_TAILS, None),
    Outcome("NE, heavy tails", -2.0, metres, metres_expected, ERROR, 0.0, HEAVY_TAILS, None),
    Outcome("success about 0.06, log-normal", -3.8, coin, expit, RATE, 0.0, LOG_NORMAL, None),
    Outcome("success about 0.9, log-normal", 3.0, coin, expit, RATE, 0.0, HARDER_LOG_NORMAL, None),
    Outcome("success about 0.3, two kinds", -1.4, coin, expit, RATE, 0.0, two_kinds(0.2, 2.5), None),
    Outcome("SPL about 0.6, scenes alike", 0.5, share, expit, RATE, 0.0, ALIKE, None),
)


def draw_sizes(count: int, rng: np.random.Generator, *, like_r2r: bool = False) -> Integers:
    """Paths per scene: those of R2R, or many large scenes, several very small ones, few in between."""
    if like_r2r:
        return np.array(R2R_SIZES) if count == len(R2R_SIZES) else rng.choice(R2R_SIZES, count)
    return np.floor(FEWEST_PATHS + (MOST_PATHS + 1 - FEWEST_PATHS) * rng.beta(*SIZE_SHAPE, count)).astype(np.int64)


def ease_by_size(outcome: Outcome, sizes: Integers) -> Floats:
    return outcome.ease + outcome.size_slope * (sizes - FEWEST_PATHS) / (MOST_PATHS - FEWEST_PATHS)


def draw_benchmark(outcome: Outcome, scenes: int, rng: np.random.Generator) -> tuple[Floats, Integers]:
    """The values of all episodes of a new benchmark, and the scene of each."""
    sizes = draw_sizes(scenes, rng, like_r2r=outcome.scenes.like_r2r)
    scene_of_path = np.repeat(np.arange(scenes), sizes)
    of_scene = ease_by_size(outcome, sizes) + outcome.scenes.draw(scenes, rng)
    of_path = of_scene[scene_of_path] + PATH_SD * rng.standard_normal(len(scene_of_path))
    of_episode = np.repeat(of_path, INSTRUCTIONS)
    attempt = ATTEMPT_SD * rng.standard_normal(len(of_episode))
    return outcome.value(of_episode + attempt, rng), np.repeat(scene_of_path, INSTRUCTIONS)


def truth(outcome: Outcome) -> float:
    """The mean over the episodes of infinitely many scenes: each size weighs by its episodes."""
    sizes = np.arange(FEWEST_PATHS, MOST_PATHS + 1)
    chances = np.diff(betainc(*SIZE_SHAPE, np.linspace(0, 1, len(sizes) + 1)))
    nodes, masses = np.polynomial.hermite_e.hermegauss(40)
    spread = np.sqrt(PATH_SD**2 + ATTEMPT_SD**2) * nodes
    ease = ease_by_size(outcome, sizes)[:, None, None] + outcome.scenes.nodes[:, None] + spread
    means = outcome.expected(ease) @ (masses / masses.sum()) @ outcome.scenes.masses
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


def uncorrected(outcome: Outcome, values: Floats, scenes: Integers, rng: np.random.Generator) -> Interval:
    return interval(values, clusters=scenes, bounds=outcome.bounds, correct_skewness=False)


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
    """Print the coverage table; exit 1 if the default interval covers too little in some row."""
    title = f"Coverage of 95 % intervals, {simulations} simulations per row"
    columns = ("outcome", "scenes", "truth", "default", "", "uncorrected t", "width", "plain t", "scene bootstrap")
    table = Table(*columns, title=title, caption="width: of the default, relative to the uncorrected t")
    methods = (default_interval, uncorrected, plain_t, scene_bootstrap)
    rows = [(outcome, scenes) for outcome in OUTCOMES + SKEWED + HELD_OUT for scenes in SCENES]
    failures = 0
    for outcome, scenes in track(rows, "simulating", console=Console(stderr=True), transient=True):
        default, other, plain, boot = coverages(outcome, scenes, methods, simulations, seed)
        passed = outcome.lowest is None or default.rate >= outcome.lowest
        failures += not passed
        verdict = "" if outcome.lowest is None else "[green]PASS[/]" if passed else "[red]FAIL[/]"
        shares = [f"{each.rate:.1%}" for each in (default, other, plain, boot)]
        target, width = f"{truth(outcome):.3f}", f"{default.width / other.width:.2f}"
        table.add_row(outcome.name, str(scenes), target, shares[0], verdict, shares[1], width, *shares[2:])
    Console(width=130).print(table)
    if failures:
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
