"""Options and tables of the recipes of Tables 3 and 4 of Iterative VLN; `experiments.py` trains and evaluates."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from itinera.seeding import generator
from itinera.stats.intervals import Interval, interval
from itinera.stats.paired import Difference, paired_difference
from itinera.training.ground.experiments import METRES, Experiment, TourScores
from itinera.training.ground.train_agent import STEPS_PER_MINUTE, GroundOptions

Scores = Mapping[int, Sequence[TourScores]]  # of each row of a table, seed by seed
Claim = tuple[str, bool, str]  # in words, whether it holds, and the numbers


def add_options(parser: argparse.ArgumentParser, *, out: Path) -> None:
    """Add the options of both recipes: how long, how many seeds, which houses and where to; `out` is the default."""
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--hours", type=float, default=1.0, help="training time of each agent on one core (1)")
    length.add_argument("--steps", type=int, help="optimizer steps of each agent, instead of --hours")
    parser.add_argument("--seeds", type=int, default=3, help="number of agents of each kind (3)")
    parser.add_argument("--rollouts", type=int, default=1000, help="episodes walked per iteration of DAgger (1000)")
    parser.add_argument("--out", type=Path, default=out, help="folder for models and logs")
    parser.add_argument("--season", type=Path, default=Path(".tables/hearth"), help="Hearth season; built if missing")
    parser.add_argument("--held-out", action="store_true", help="evaluate in held-out training houses")
    parser.add_argument("--houses", type=int, help="only the first houses of each split")
    parser.add_argument("--tour-episodes", type=int, help="only the first episodes of each tour")
    parser.add_argument("--workers", type=int, default=2, help="number of worker processes (2)")


def count_steps(args: argparse.Namespace) -> int:
    """The optimizer steps of each agent that were asked for."""
    return int(args.steps or max(1, round(60 * args.hours * STEPS_PER_MINUTE)))


def make_experiment(args: argparse.Namespace, options: GroundOptions) -> Experiment:
    """The experiment that was asked for; runs of other lengths and houses are in folders of their own."""
    out = args.out / ("held out" if args.held_out else "test") / f"{options.steps} steps"
    return Experiment(args.season, out, options, args.houses, args.tour_episodes, args.held_out)


def print_results(
    experiment: Experiment,
    name: str,
    rows: Iterable[int],
    seeds: int,
    *,
    find: Callable[[str, int, int], TourScores],  # the scores of a split, a row and a seed
    make_table: Callable[[str, Scores, str], object],  # of a split, its scores and a title
    check_claims: Callable[[Scores], Iterable[Claim]],
    show: Callable[[object], None],
) -> None:
    """Print a table of each split and, below it, which of the paper's claims hold."""
    cells = f"mean of {seeds} seed{'s' if seeds > 1 else ''} (95 % interval over houses)"
    for split in experiment.splits:
        scores = {row: [find(split, row, seed) for seed in range(seeds)] for row in rows}
        show(make_table(split, scores, f"{name}, {split.replace('_', '-')}: tours of Hearth, {cells}"))
        for claim, holds, numbers in check_claims(scores):
            show(f"{'holds' if holds else 'does NOT hold':13}  {claim}: {numbers}")


def format_cell(scores: Sequence[TourScores], metric: str) -> str:
    """The mean over seeds with its standard error, as in the paper, and its interval over houses."""
    scale = 1.0 if metric in METRES else 100.0
    means = scale * np.array(
        [np.average(rows, weights=weights) for rows, _, weights in (s.rows(metric) for s in scores)]
    )
    error = f" ±{means.std(ddof=1) / len(means) ** 0.5:.1f}" if len(means) > 1 else ""
    found = interval_over_houses(scores, metric)
    return f"{means.mean():.1f}{error} ({scale * found.low:.1f} – {scale * found.high:.1f})"


def interval_over_houses(scores: Sequence[TourScores], metric: str) -> Interval:
    """The mean of all seeds with its interval, houses being the sample."""
    _, worlds, weights = scores[0].rows(metric)
    values = np.mean([one.rows(metric)[0] for one in scores], axis=0)
    bounds = None if metric in METRES else (0.0, 1.0)
    return interval(values, clusters=list(worlds), weights=weights, bounds=bounds)


def compare_seeds(a: Sequence[TourScores], b: Sequence[TourScores], metric: str) -> Difference:
    """a - b on the same episodes or tours, both averaged over seeds, with an interval over houses."""
    _, worlds, weights = a[0].rows(metric)
    means = [np.mean([one.rows(metric)[0] for one in scores], axis=0) for scores in (a, b)]
    return paired_difference(*means, rng=generator(0, "compare", metric), clusters=list(worlds), weights=weights)


def format_difference(found: Difference) -> str:
    """A difference in percentage points with its 95 % interval."""
    spread = found.interval
    return f"{100 * spread.mean:+.1f} ({100 * spread.low:+.1f} – {100 * spread.high:+.1f})"
