"""Table 3 of Iterative Vision-and-Language Navigation (Krantz et al. 2022): does unstructured memory of a tour help?

CMA forgets everything between episodes. TourCMA keeps the state of its first GRU over a tour; PoolCMA and PoolEndCMA
keep the maximum of its states. All are trained by teacher forcing, as in the paper: CMA in episodes, the others over
tours with truncated back-propagation, and evaluated on the tours of val-seen and val-unseen. --dagger trains CMA by
DAgger too, a row that the paper lacks. Every column of the paper is printed; PL is its TL, OSR its OS. Differences:
Hearth instead of Matterport3D, a small network whose image encoders are trained, oracle phases shown in training, and
tours in the order of the file instead of shuffled ones.

--hours is the training time of each agent on one core, which is converted to steps; or give --steps. With --held-out
agents train in seven of eight training houses and are evaluated in the others: choose settings there. If interrupted,
rerun the command to resume.

    python recipes/iterative_latent.py --hours 1 --seeds 3 --out .learning/iterative_latent
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

import itinera
from itinera.runs.engines.processes import parallel_map
from itinera.training.ground.experiment_tables import (
    Claim,
    Scores,
    add_options,
    compare_seeds,
    count_steps,
    format_cell,
    format_difference,
    make_experiment,
    print_results,
)
from itinera.training.ground.experiments import (
    METRICS,
    Experiment,
    TourScores,
    Trial,
    Variant,
    evaluate_trial,
    evaluation_split,
    train_variant,
)
from itinera.training.ground.train_agent import GroundOptions

ROWS: Mapping[int, str] = {1: "cma", 2: "tour-cma", 3: "pool-cma", 4: "pool-end-cma"}
NAMES: Mapping[str, str] = {"cma": "CMA", "tour-cma": "TourCMA", "pool-cma": "PoolCMA", "pool-end-cma": "PoolEndCMA"}
DAGGER = 5  # the row that is not in the paper: CMA with DAgger
PUBLISHED: Mapping[str, Mapping[int, str]] = {  # mean ± standard error over 3 runs, in the order of METRICS
    "val_seen": {
        1: "7.8±0.4 8.8±0.6 27±3 42±3 18±3 17±3 39±1",
        2: "8.0±0.4 8.2±0.9 30±2 44±2 20±3 19±2 40±1",
        3: "7.2±0.5 9.1±0.4 24±4 41±2 17±4 16±2 37±2",
        4: "7.6±0.8 8.9±0.9 27±3 42±3 18±4 17±2 38±2",
    },
    "val_unseen": {
        1: "7.5±0.3 8.8±0.2 26±1 44±1 19±1 18±1 38±2",
        2: "7.8±0.1 9.0±0.2 26±1 42±1 18±0 17±1 36±1",
        3: "7.3±0.2 9.0±0.3 23±1 42±1 16±1 15±0 36±2",
        4: "6.9±0.2 8.7±0.2 25±2 44±1 18±1 16±1 38±2",
    },
}
Job = tuple[int, int]  # the row and the seed


def run_training(experiment: Experiment, dagger: GroundOptions, job: Job) -> None:
    """Train the agent of a row."""
    row, seed = job
    of_row = _of_row(experiment, dagger, row)
    train_variant(of_row, Variant(ROWS.get(row, "cma"), seed))


def run_evaluation(experiment: Experiment, dagger: GroundOptions, job: tuple[str, Job]) -> TourScores:
    """Evaluate the agent of a row on a split."""
    split, (row, seed) = job
    of_row = _of_row(experiment, dagger, row)
    return evaluate_trial(of_row, Trial(Variant(ROWS.get(row, "cma"), seed), split))


def _of_row(experiment: Experiment, dagger: GroundOptions, row: int) -> Experiment:
    if row != DAGGER:
        return experiment
    return replace(experiment, options=dagger, out=experiment.out / "dagger")


def make_table(split: str, scores: Scores, title: str) -> Table:
    table = Table(title=title)
    for column in ("#", "model", *METRICS):
        table.add_column(column)
    for row, of_seeds in scores.items():
        name = NAMES[ROWS[row]] if row in ROWS else "CMA, DAgger (ours)"
        table.add_row(str(row), name, *(format_cell(of_seeds, metric) for metric in METRICS))
        if row in PUBLISHED.get(split, {}):
            table.add_row("", "  published", *PUBLISHED[split][row].split(), style="dim")
    return table


def check_claims(scores: Scores) -> Iterator[Claim]:
    """The paper's claims, whether they hold here, and the numbers: differences with 95 % intervals over houses."""
    found = {row: compare_seeds(scores[row], scores[1], "t-nDTW") for row in (2, 3, 4)}
    text = ", ".join(f"row {row} {format_difference(one)}" for row, one in found.items())
    helps = any(one.interval.low > 0 for one in found.values())
    yield "no latent memory of tours is better than none (t-nDTW against row 1)", not helps, text
    yield "TourCMA is worse than CMA (t-nDTW)", found[2].interval.mean < 0, format_difference(found[2])
    pooled = [found[row].interval for row in (3, 4)]
    yield "pooling is as good as no memory (t-nDTW)", all(one.low <= 0 <= one.high for one in pooled), text
    episodic = {row: compare_seeds(scores[row], scores[1], "SR") for row in (2, 3, 4)}
    text = ", ".join(f"row {row} {format_difference(one)}" for row, one in episodic.items())
    yield "memory lowers SR in every row", all(one.interval.mean < 0 for one in episodic.values()), text


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser, out=Path(".learning/iterative_latent"))
    parser.add_argument("--dagger", action="store_true", help="also train CMA by DAgger, for row 5")
    return parser.parse_args()


def main() -> None:
    """Train, evaluate, and print Table 3 beside the published rows."""
    args = parse_arguments()
    if not (args.season / "season.json").exists():
        itinera.build_hearth(args.season)
    steps = count_steps(args)
    # The progress monitor is off in the paper's latent models.
    options = GroundOptions(steps=steps, iterations=0, progress_weight=0.0)
    dagger = GroundOptions(steps=steps, rollouts=args.rollouts, progress_weight=0.0)
    experiment = make_experiment(args, options)
    console = Console(width=210)
    rows = [*ROWS, DAGGER] if args.dagger else [*ROWS]
    jobs = [(row, seed) for row in rows for seed in range(args.seeds)]
    for number, _ in parallel_map(partial(run_training, experiment, dagger), jobs, workers=args.workers):
        console.print(f"trained: row {jobs[number][0]}, seed {jobs[number][1]}", style="dim")
    for split in experiment.splits:
        for row in rows:
            evaluation_split(
                _of_row(experiment, dagger, row), split
            )  # tours are ordered once, before workers need them
    trials = [(split, job) for split in experiment.splits for job in jobs]
    found = dict(parallel_map(partial(run_evaluation, experiment, dagger), trials, workers=args.workers))
    print_results(
        experiment,
        "Table 3",
        rows,
        args.seeds,
        find=lambda split, row, seed: found[trials.index((split, (row, seed)))],
        make_table=make_table,
        check_claims=check_claims,
        show=console.print,
    )


if __name__ == "__main__":
    main()
