"""Table I of "Success Weighted by Completion Time" (Yokoyama et al. 2021) with small agents in procedural houses.

Agents with 4 (point-turn), 6 and 15 (unicycle) actions learn PointNav by PPO with the shaped reward (equation 3) and
the decaying one (equation 4). They sense a scan of 32 rays and a contact; the paper's see depth images of 256 x 256
through a ResNet-50 and train for 150 M steps on 64 GPU environments, which no CPU does. STOP is forbidden beyond 0.2 m
by the agent's own estimate, unless --lift-gate. Models are chosen by SCT in half of the houses of val-unseen and
reported in the other half; settings were chosen on held-out training houses (--held-out). Greedy actions, sliding.

    itinera build hearth hearth && python recipes/sct_agents.py --season hearth --out sct --minutes 10 --seeds 3

Interrupted, the same command resumes; with --report it trains nothing and prints the table of the agents that are
finished. The printed table has the mean over seeds ± their standard deviation, and in
brackets the 95 % interval with houses as the sample; SCT∩ and SPL∩ are over episodes that all agents of a seed solve,
and only over seeds that all agents have.
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
    model_file,
    solved_by_all,
    train_variant,
    training_cost,
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
    parser.add_argument("--report", action="store_true", help="Train nothing: print the agents that are finished.")
    parser.add_argument("--jobs", type=int, default=1, help="Agents trained at the same time. Default: 1.")
    return parser.parse_args()


Agents = dict[tuple[str, bool], dict[int, StoredScores]]  # the scores of each seed, by robot and reward


def run(experiment: Experiment, variant: Variant) -> StoredScores:
    train_variant(experiment, variant)
    return evaluate_variant(experiment, variant)


def common_seeds(agents: Agents) -> list[int]:
    """The seeds that all of them have."""
    return sorted(set.intersection(*(set(scores) for scores in agents.values())))


def print_table(agents: Agents, costs: dict[tuple[str, bool], str]) -> None:
    seeds = common_seeds(agents)
    joint = [solved_by_all([scores[seed] for scores in agents.values()]) for seed in seeds]
    comparable = bool(joint) and all(mask.any() for mask in joint)
    rows: list[tuple[str, ...]] = []
    for (drive, decaying), scores in agents.items():
        own = list(scores.values())
        cells = [str(mean_cell(own, name)) for name in COLUMNS[:3]]
        shared = [scores[seed] for seed in seeds]
        cells += [str(mean_cell(shared, name[:3], joint)) if comparable else "–" for name in COLUMNS[3:]]
        contacts = sum(float(one.column("contacts").mean()) for one in own) / len(own)
        rows.append((drive, "decaying" if decaying else "shaped", *cells, f"{contacts:.1f}", costs[drive, decaying]))
        rows.append(("", "paper", *(f"{value:.1f}" for value in PAPER[drive, decaying]), "", "150 M steps"))
    print(TextTable(("agent", "reward", *COLUMNS, "contacts", "training"), tuple(rows)))
    print(f"Solved by all agents of a seed: {sum(int(m.sum()) for m in joint)} of {sum(map(len, joint))} episodes.")


def print_claims(agents: Agents) -> None:
    print("\nClaims, on episodes that both agents solve:")
    for a, b, metric, sign, claim in CLAIMS:
        if a not in agents or b not in agents:
            continue
        seeds = common_seeds({a: agents[a], b: agents[b]})
        one, other = [agents[a][seed] for seed in seeds], [agents[b][seed] for seed in seeds]
        if not any(solved_by_all(pair).any() for pair in zip(one, other, strict=True)):
            print(f"  {claim} ({metric}∩): no episode that both solve")
            continue
        found = compare_agents(one, other, metric)
        spread = found.interval
        numbers = f"{100 * spread.mean:+.1f} ({100 * spread.low:+.1f} – {100 * spread.high:+.1f})"
        print(f"  {claim} ({metric}∩): {numbers} on {found.episodes} episodes, {judge_claim(found, sign)}")


def describe_training(experiment: Experiment, variants: list[Variant]) -> str:
    """Seeds, steps and CPU minutes of the agents of a row."""
    costs = [training_cost(experiment, variant) for variant in variants]
    steps = "/".join(sorted({f"{1e-6 * steps:.3g} M" for steps, _ in costs}))
    minutes = [spent for _, spent in costs if spent == spent]
    spent = f", {sum(minutes) / len(minutes):.0f} CPU min" if minutes else ""
    return f"{len(variants)} × {steps} steps{spent}"


def train_all(experiment: Experiment, variants: list[Variant], jobs: int) -> list[StoredScores]:
    for split in evaluation_splits(experiment):  # before the workers, which all need them
        fastest_times(experiment, split)
    if jobs <= 1:
        return [run(experiment, variant) for variant in variants]
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        return list(pool.map(run, [experiment] * len(variants), variants))


def main() -> int:
    given = parse()
    minutes = 10.0 if given.minutes is None and given.steps is None else given.minutes
    options = PointNavOptions(
        sensor=given.sensor, sliding=not given.no_sliding, steps=given.steps, minutes=minutes,
        max_distance=given.max_distance, lift_gate=given.lift_gate,
    )  # fmt: skip
    experiment = Experiment(given.season, given.out, options, given.houses, given.episodes, given.held_out)
    kinds = [(drive, reward == "decaying") for drive, reward in product(given.drives, given.rewards)]
    # Seed by seed, so that a first table can be made early.
    variants = [Variant(drive, decaying, seed) for seed in range(given.seeds) for drive, decaying in kinds]
    if given.report:
        variants = [variant for variant in variants if model_file(experiment, variant).exists()]
        if not variants:
            print(f"{given.out}: no agent is finished. Run the same command without --report.", file=sys.stderr)
            return 1
        found = [evaluate_variant(experiment, variant) for variant in variants]
    else:
        found = train_all(experiment, variants, given.jobs)
    agents: Agents = {}
    for variant, scores in zip(variants, found, strict=True):
        agents.setdefault((variant.drive, variant.decaying), {})[variant.seed] = scores
    costs = {
        kind: describe_training(experiment, [v for v in variants if (v.drive, v.decaying) == kind]) for kind in agents
    }
    print_table(agents, costs)
    print_claims(agents)
    return 0


if __name__ == "__main__":
    sys.exit(main())
