"""The pretrained decision agent: trained on Hearth's training houses and stored as a small model file.

    python recipes/trained_decision_agent.py SEASON --minutes 40 --out decision.safetensors

Weights are stored in half precision; the scores on val-unseen, with intervals, are in the model card. It sees the names
of things and rooms all around, which is perfect perception. If interrupted, rerun the command to resume.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import msgspec
import torch

import itinera
from itinera.formats import vlnce
from itinera.formats.catalog import read_surfaces
from itinera.formats.writing import atomic_write
from itinera.policies.checkpoint import encode_model
from itinera.policies.ground.decision import DecisionConfig
from itinera.records.scores import ScoreTable
from itinera.tasks import PROTOCOLS, Split
from itinera.training.ground.decision_data import DecisionData, world_words
from itinera.training.ground.decision_evaluation import evaluate_decisions, other_instructions
from itinera.training.ground.decisions import DecisionOptions, train_decisions
from itinera.training.ground.train_decision_agent import STEPS_PER_MINUTE
from itinera.training.malloc import tune_malloc
from itinera.training.progress import TrainingLog, log_to_stderr

FOLDER = Path(".learning/decision")  # rolls and the checkpoint
METRICS = ("SR", "SPL", "nDTW")
SEED = 0


def read_split(season: Path, name: str) -> Split:
    """A split with its dense reference paths."""
    folder = season / "vlnce" / name
    dense = vlnce.read_dense(folder / f"{name}_gt.json.gz")
    return vlnce.with_dense_reference(itinera.read_tasks(folder / f"{name}.json.gz"), dense)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("season", type=Path, help="Hearth season; built if missing")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--minutes", type=float, default=40.0, help="training time on one core (40), without rolls")
    length.add_argument("--steps", type=int, help="optimizer steps, instead of --minutes")
    parser.add_argument("--dagger", type=int, default=0, help="rounds of DAgger (0)")
    parser.add_argument("--out", type=Path, default=FOLDER / "decision.safetensors", help="the model file")
    args = parser.parse_args()
    if not (args.season / "season.json").exists():
        itinera.build_hearth(args.season)
    torch.set_num_threads(1)
    tune_malloc()
    log_to_stderr()
    worlds = read_surfaces(args.season, PROTOCOLS["r2r-ce"])
    assert worlds is not None
    options = DecisionOptions(args.steps or max(1, round(args.minutes * STEPS_PER_MINUTE)), dagger_rounds=args.dagger)
    data = DecisionData(read_split(args.season, "train"), worlds, FOLDER / "rolls")
    FOLDER.mkdir(parents=True, exist_ok=True)
    with TrainingLog("decision", total=options.steps, folder=FOLDER / "logs") as log:
        checkpoint = FOLDER / "decision.partial"
        model = train_decisions(data, DecisionConfig(), options, seed=SEED, checkpoint=checkpoint, on_step=log.on_step)
    test = read_split(args.season, "val_unseen")
    tables = [
        evaluate_decisions(model, test, worlds, world_words(model), instructions=texts)
        for texts in (None, other_instructions(test))
    ]
    found = [{name: format_rate(table, name) for name in METRICS} for table in tables]
    metadata = {
        "description": "Decision agent that sees names all around, imitation learning",
        "training data": "train split of Hearth season 1",
        "steps": options.steps,
        "seed": SEED,
        "val-unseen, %": found[0],
        "val-unseen with another path's instructions, %": found[1],
    }
    card = msgspec.structs.replace(model.card, metadata=metadata)
    with atomic_write(args.out) as stream:
        stream.write(encode_model(replace(model, card=card), half=True))
    print(f"decision: {found[0]}, with another path's instructions {found[1]}")


def format_rate(table: ScoreTable, metric: str) -> str:
    """The mean of a metric with its interval over houses, percent."""
    found = table.interval(metric)
    return f"{100 * found.mean:.1f} ({100 * found.low:.1f} – {100 * found.high:.1f})"


if __name__ == "__main__":
    main()
