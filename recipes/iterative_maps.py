"""Table 4 of Iterative Vision-and-Language Navigation (Krantz et al. 2022): do maps that live as long as a tour help?

MAP-CMA is trained with maps of three lifetimes: *episodic* (reset in every episode), *iterative* (reset in every
tour) and *known* (from the start), each with true and with inferred semantics. Each of the six agents is evaluated
with maps of all three lifetimes on the tours of val-seen and val-unseen: 18 rows, every column of the paper. PL is
its TL, OSR its OS. Training is the paper's: teacher forcing, then DAgger, with the progress monitor. Differences:
Hearth instead of Matterport3D, a small network and a small RGB-D segmentation network instead of RedNet, no augmented
data, and a fixed number of steps instead of the checkpoint that is best on val-unseen: nothing is chosen on the
houses of the test.

--hours is the training time of each of the six agents on one core, which is converted to steps; or give --steps. With
--held-out agents train in seven of eight training houses and are evaluated in the others: choose settings there. If
interrupted, rerun the command to resume.

    python recipes/iterative_maps.py --hours 1 --seeds 3 --out .learning/iterative_maps
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

import itinera
from itinera.mapping.config import MapLifetime
from itinera.runs.engines.processes import parallel_map
from itinera.training.ground.experiment_tables import (
    Claim,
    Scores,
    add_options,
    compare_seeds,
    count_steps,
    format_cell,
    format_difference,
    interval_over_houses,
    make_experiment,
    print_results,
)
from itinera.training.ground.experiments import (
    METRICS,
    Trial,
    Variant,
    evaluate_trial,
    evaluation_split,
    train_variant,
)
from itinera.training.ground.train_agent import GroundOptions

EPISODIC, ITERATIVE, KNOWN = MapLifetime.EPISODIC, MapLifetime.ITERATIVE, MapLifetime.KNOWN
LIFETIMES = (EPISODIC, ITERATIVE, KNOWN)
TRUE, INFERRED = "true", "inferred"
SEMANTICS = (TRUE, INFERRED)
Row = tuple[str, MapLifetime, MapLifetime]  # semantics, the maps of training, the maps of the evaluation
ROWS: Mapping[int, Row] = {
    k + 1: row
    for k, row in enumerate(
        (s, trained, evaluated) for s in SEMANTICS for trained in LIFETIMES for evaluated in LIFETIMES
    )
}
PUBLISHED: Mapping[str, Mapping[int, str]] = {  # one run each, in the order of METRICS
    "val_seen": {
        1: "10.6 6.3 51 54 34 32 49",
        2: "10.4 6.3 50 54 34 31 50",
        3: "10.1 6.2 50 55 34 32 50",
        4: "9.4 6.8 45 54 36 34 51",
        5: "9.5 6.3 52 58 41 39 54",
        6: "9.4 6.2 51 58 42 39 54",
        7: "10.0 7.3 43 50 32 29 46",
        8: "9.9 6.4 49 55 37 34 51",
        9: "9.9 6.1 54 58 41 39 51",
        10: "10.2 6.6 51 54 35 32 50",
        11: "10.1 6.6 49 54 36 33 51",
        12: "10.0 6.9 49 53 34 32 50",
        13: "9.5 6.9 43 53 34 31 48",
        14: "9.4 6.4 48 56 39 36 52",
        15: "9.3 6.4 51 56 38 36 52",
        16: "10.2 6.7 50 53 35 32 50",
        17: "10.0 6.1 57 57 40 36 54",
        18: "10.1 6.2 55 57 40 37 53",
    },
    "val_unseen": {
        1: "9.8 6.9 42 50 29 26 42",
        2: "9.4 7.0 41 50 29 27 43",
        3: "9.5 6.9 40 50 29 26 43",
        4: "8.7 7.1 40 52 32 30 44",
        5: "8.5 6.7 43 54 36 33 48",
        6: "8.6 6.7 43 54 34 32 49",
        7: "9.4 7.7 37 48 29 27 40",
        8: "9.1 6.8 45 53 34 31 46",
        9: "9.2 6.7 44 53 34 32 46",
        10: "9.8 7.2 43 50 33 30 43",
        11: "9.3 7.5 39 49 29 27 42",
        12: "9.3 7.3 41 50 29 27 43",
        13: "8.8 7.3 40 51 31 29 44",
        14: "8.5 6.8 44 54 35 32 47",
        15: "8.6 6.9 43 54 34 31 46",
        16: "9.6 7.5 39 49 28 25 41",
        17: "9.4 7.1 44 51 30 27 43",
        18: "9.4 7.2 43 51 31 28 44",
    },
}


def make_trial(row: int, seed: int, split: str, segmentation: str = INFERRED) -> Trial:
    """The evaluation of a row; `segmentation` is the source of inferred labels."""
    semantics, trained, evaluated = ROWS[row]
    source = segmentation if semantics == INFERRED else semantics
    return Trial(Variant("map-cma", seed, trained, source), split, evaluated)


def make_table(split: str, scores: Scores, title: str) -> Table:
    table = Table(title=title)
    for column in ("#", "semantics", "trained", "evaluated", *METRICS):
        table.add_column(column)
    for row, of_seeds in scores.items():
        semantics, trained, evaluated = ROWS[row]
        cells = (format_cell(of_seeds, metric) for metric in METRICS)
        table.add_row(str(row), semantics, trained.value, evaluated.value, *cells)
        if split in PUBLISHED:
            table.add_row("", "", "", "  published", *PUBLISHED[split][row].split(), style="dim")
    return table


def check_claims(scores: Scores) -> Iterator[Claim]:
    """The paper's claims, whether they hold here, and the numbers: differences with 95 % intervals over houses."""
    rows = {row: k for k, row in ROWS.items() if k in scores}
    for semantics in SEMANTICS:
        for trained in LIFETIMES:
            pair = [rows.get((semantics, trained, evaluated)) for evaluated in (ITERATIVE, EPISODIC)]
            if None in pair:
                continue
            a, b = (scores[k] for k in pair if k is not None)
            found = {metric: compare_seeds(a, b, metric) for metric in ("t-nDTW", "SR")}
            text = ", ".join(f"{metric} {format_difference(one)}" for metric, one in found.items())
            name = f"{semantics} semantics, trained on {trained.value} maps"
            claim = f"rows {pair[0]} − {pair[1]}: {name}: iterative > episodic"
            yield claim, found["t-nDTW"].interval.low > 0, text
        iterative, known = rows.get((semantics, ITERATIVE, ITERATIVE)), rows.get((semantics, KNOWN, KNOWN))
        if iterative is not None and known is not None:
            one = compare_seeds(scores[known], scores[iterative], "t-nDTW")
            claim = f"rows {known} − {iterative}: {semantics} semantics: known maps are not better than iterative ones"
            yield claim, one.interval.low <= 0, f"t-nDTW {format_difference(one)}"
    if 5 in scores and 14 in scores:
        one = compare_seeds(scores[14], scores[5], "t-nDTW")
        claim = "rows 14 − 5: inferred semantics cost at most 2 points of t-nDTW (paper 1)"
        yield claim, one.interval.mean >= -0.02, f"t-nDTW {format_difference(one)}"
    if scores:
        best = max(scores, key=lambda row: interval_over_houses(scores[row], "t-nDTW").mean)
        yield (
            "the best row is trained and evaluated on iterative maps",
            ROWS[best][1:] == (ITERATIVE, ITERATIVE),
            f"row {best}",
        )


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser, out=Path(".learning/iterative_maps"))
    parser.add_argument("--iterations", type=int, default=6, help="iterations of DAgger (6)")
    parser.add_argument("--semantics", nargs="+", choices=SEMANTICS, default=list(SEMANTICS), help="rows to make (all)")
    parser.add_argument("--segmentation", default=INFERRED, help="model file of inferred labels (the pretrained one)")
    return parser.parse_args()


def main() -> None:
    """Train, evaluate, and print Table 4 beside the published rows."""
    args = parse_arguments()
    if not (args.season / "season.json").exists():
        itinera.build_hearth(args.season)
    steps = count_steps(args)
    options = GroundOptions(steps=steps, iterations=args.iterations, rollouts=args.rollouts, progress_weight=1.0)
    experiment = make_experiment(args, options)
    console = Console(width=210)
    rows = [row for row in ROWS if ROWS[row][0] in args.semantics]
    make = partial(make_trial, segmentation=args.segmentation)
    variants = list(dict.fromkeys(make(row, seed, "").variant for row in rows for seed in range(args.seeds)))
    for number, _ in parallel_map(partial(train_variant, experiment), variants, workers=args.workers):
        console.print(f"trained: {variants[number].name}", style="dim")
    for split in experiment.splits:
        evaluation_split(experiment, split)  # tours are ordered once, before workers need them
    trials = [make(row, seed, split) for split in experiment.splits for row in rows for seed in range(args.seeds)]
    found = dict(parallel_map(partial(evaluate_trial, experiment), trials, workers=args.workers))
    print_results(
        experiment,
        "Table 4",
        rows,
        args.seeds,
        find=lambda split, row, seed: found[trials.index(make(row, seed, split))],
        make_table=make_table,
        check_claims=check_claims,
        show=console.print,
    )


if __name__ == "__main__":
    main()
