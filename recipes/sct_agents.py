"""Table I of "Success Weighted by Completion Time" (Yokoyama et al. 2021) with small agents in procedural houses.

Agents with 4 (point-turn), 6 and 15 (unicycle) actions learn PointNav by PPO with the shaped reward (equation 3) and
the decaying one (equation 4). They sense a scan of 32 rays and a contact; the paper's see depth images of 256 x 256
through a ResNet-50 and train for 150 M steps on 64 GPU environments, which no CPU does. STOP is forbidden beyond 0.2 m
by the agent's own estimate, unless --lift-gate. Models are chosen by SCT in half of the houses of val-unseen and
reported in the other half; settings were chosen on held-out training houses (--held-out). Greedy actions, sliding.

    itinera build hearth hearth && python recipes/sct_agents.py --season hearth --out sct --minutes 10 --seeds 3

Interrupted, the same command resumes. The printed table has the mean over seeds ± their standard deviation, and in
brackets the 95 % interval with houses as the sample; SCT∩ and SPL∩ are over episodes that all agents of a seed solve.
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from pathlib import Path

from itinera.records.tables import TextTable
from itinera.training.pointnav.experiments import (
    DRIVES,
    Experiment,
    StoredScores,
    Variant,
    compare_agents,
    evaluate_variant,
    evaluation_splits,
    fastest_times,
    judge_claim,
    mean_cell,
    solved_by_all,
    train_variant,
)
from itinera.training.pointnav.train_agent import PointNavOptions

PAPER = {
    ("point-turn", False): (65.82, 88.41, 94.16, 71.26, 95.11),
    ("point-turn", True): (65.99, 87.91, 93.96, 71.75, 94.90),
    ("unicycle-6", False): (82.15, 82.83, 93.16, 90.41, 90.70),
    ("unicycle-6", True): (88.92, 88.07, 98.79, 93.66, 91.64),
    ("unicycle-15", False): (81.43, 83.31, 94.37, 88.37, 89.69),
    ("unicycle-15", True): (86.01, 85.37, 95.77, 91.09, 89.66),
}
COLUMNS = ("SCT", "SPL", "SR", "SCT∩", "SPL∩")
CLAIMS = (  # a, b, metric, sign of a - b, the claim
    (("unicycle-6", False), ("point-turn", False), "SCT", 1, "unicycle-6 completes faster than point-turn"),
    (("unicycle-6", False), ("point-turn", False), "SPL", -1, "and its paths are longer"),
    (("unicycle-6", True), ("unicycle-6", False), "SCT", 1, "the decaying reward makes unicycle-6 faster"),
    (("unicycle-15", True), ("unicycle-15", False), "SCT", 1, "and unicycle-15"),
    (("unicycle-6", False), ("unicycle-15", False), "SCT", 1, "6 actions complete faster than 15"),
)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--season", type=Path, required=True, help="Folder of a Hearth season.")
    parser.add_argument("--out", type=Path, required=True, help="Folder for models, scores and curves.")
    parser.add_argument("--minutes", type=float, help="Training of each agent, of one core. Default: 10.")
    parser.add_argument("--steps", type=int, help="Instead of --minutes: steps of all environments.")
    parser.add_argument("--seeds", type=int, default=3, help="Number of seeds. Default: 3.")
    parser.add_argument("--drives", nargs="+", choices=DRIVES, default=list(DRIVES), help="Robots. Default: all.")
    parser.add_argument("--rewards", nargs="+", choices=("shaped", "decaying"), default=["shaped", "decaying"])
    parser.add_argument("--sensor", default="scan", choices=("none", "scan", "pooled-depth", "depth"))
    parser.add_argument("--no-sliding", action="store_true", help="Robots stop at walls instead of sliding along them.")
    parser.add_argument("--lift-gate", action="store_true", help="Let agents learn when to stop.")
    parser.add_argument("--houses", type=int, help="Train in the first houses only.")
    parser.add_argument("--episodes", type=int, help="Evaluate on the first episodes of each house only.")
    parser.add_argument("--max-distance", type=float, default=30.0, help="Farthest starts in training, metres.")
    parser.add_argument("--held-out", action="store_true", help="Evaluate in held-out training houses.")
    parser.add_argument("--jobs", type=int, default=1, help="Agents trained at the same time. Default: 1.")
    return parser.parse_args()


def run(experiment: Experiment, variant: Variant) -> StoredScores:
    train_variant(experiment, variant)
    return evaluate_variant(experiment, variant)


def print_table(agents: dict[tuple[str, bool], list[StoredScores]]) -> None:
    seeds = len(next(iter(agents.values())))
    joint = [solved_by_all([scores[k] for scores in agents.values()]) for k in range(seeds)]
    rows: list[tuple[str, ...]] = []
    for (drive, decaying), scores in agents.items():
        cells = [str(mean_cell(scores, name)) for name in COLUMNS[:3]]
        cells += [
            str(mean_cell(scores, name[:3], joint)) if all(m.any() for m in joint) else "–" for name in COLUMNS[3:]
        ]
        contacts = sum(float(one.column("contacts").mean()) for one in scores) / seeds
        rows.append((drive, "decaying" if decaying else "shaped", *cells, f"{contacts:.1f}"))
        rows.append(("", "paper", *(f"{value:.1f}" for value in PAPER[drive, decaying]), ""))
    print(TextTable(("agent", "reward", *COLUMNS, "contacts"), tuple(rows)))
    print(f"Solved by all agents of a seed: {sum(int(m.sum()) for m in joint)} of {sum(map(len, joint))} episodes.")


def print_claims(agents: dict[tuple[str, bool], list[StoredScores]]) -> None:
    print("\nClaims, on episodes that both agents solve:")
    for a, b, metric, sign, claim in CLAIMS:
        if a not in agents or b not in agents:
            continue
        if not any(solved_by_all([one, other]).any() for one, other in zip(agents[a], agents[b], strict=True)):
            print(f"  {claim} ({metric}∩): no episode that both solve")
            continue
        found = compare_agents(agents[a], agents[b], metric)
        spread = found.interval
        numbers = f"{100 * spread.mean:+.1f} ({100 * spread.low:+.1f} – {100 * spread.high:+.1f})"
        print(f"  {claim} ({metric}∩): {numbers} on {found.episodes} episodes, {judge_claim(found, sign)}")


def main() -> int:
    given = parse()
    minutes = 10.0 if given.minutes is None and given.steps is None else given.minutes
    options = PointNavOptions(
        sensor=given.sensor, sliding=not given.no_sliding, steps=given.steps, minutes=minutes,
        max_distance=given.max_distance, lift_gate=given.lift_gate,
    )  # fmt: skip
    experiment = Experiment(given.season, given.out, options, given.houses, given.episodes, given.held_out)
    for split in evaluation_splits(experiment):  # before the workers, which all need them
        fastest_times(experiment, split)
    kinds = [(drive, reward == "decaying") for drive, reward in product(given.drives, given.rewards)]
    # Seed by seed, so that a first table can be made early.
    variants = [Variant(drive, decaying, seed) for seed in range(given.seeds) for drive, decaying in kinds]
    if given.jobs > 1:
        with ProcessPoolExecutor(given.jobs, mp_context=get_context("spawn")) as pool:
            found = list(pool.map(run, [experiment] * len(variants), variants))
    else:
        found = [run(experiment, variant) for variant in variants]
    agents: dict[tuple[str, bool], list[StoredScores]] = {kind: [] for kind in kinds}
    for variant, scores in zip(variants, found, strict=True):
        agents[variant.drive, variant.decaying].append(scores)
    print_table(agents)
    print_claims(agents)
    return 0


if __name__ == "__main__":
    sys.exit(main())
