"""The trained agents that come with Itinera: each learns on Hearth's training houses and is kept as a small model file.

    python recipes/trained_agents.py SEASON           # a season of Hearth, built there if it is not
    python recipes/trained_agents.py SEASON hamt      # one of them, after those it goes on from

They are small, and kept half as precise as they learned. What each does on val-unseen houses stands on its card with
the interval. Rooms and objects are annotations, which is perfect perception.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import msgspec
import torch

import places
from itinera.formats.io import atomic_write
from itinera.policies import envdrop, follower, hamt, rcm, tour_hamt
from itinera.policies.checkpoint import Model, encode, new_model, read_model
from itinera.runs.process_map import in_processes
from itinera.training.dataset import Shuffle
from itinera.training.evaluation import Scores, evaluate
from itinera.training.experts import to_goal
from itinera.training.inflection_weighting import inflected_cloning
from itinera.training.malloc import keep_memory
from itinera.training.objectives import halving, imitation, reinforcement
from itinera.training.progress import Log
from itinera.training.rewards import fidelity_oriented, goal_oriented
from itinera.training.tours import TourShuffle, evaluate_tours, tour_lesson, tours_of
from itinera.training.trainer import Chance, Lesson, Schedule, train

KEPT = Path(__file__).parents[1] / "src" / "itinera" / "agents" / "neural" / "trained"
DRAFTS = Path(".learning/trained")
BATCH, MOVES, LIMIT = 64, 10, 15  # walkers, and most moves while imitating, and when paid or tried
LANES = 8  # tours at once

SMALLER = {"word": 64, "text": 128, "sight": 128, "key": 64, "state": 128, "dropout": 0.15, "env_dropout": 0.15}
TRANSFORMER = replace(hamt.SMALL, size=96, inner=192)
REMEMBERING = tour_hamt.ROWS[2].sizes(TRANSFORMER)  # all four switches on


@dataclass(frozen=True)
class Recipe:
    """How an agent is made."""

    kind: str
    sizes: Any
    words: str  # what it is
    steps: int = 1400
    rate: float = 1.5e-3
    after: str = ""  # the agent it goes on from
    reward: Callable[..., Any] | None = None  # what it is paid for; None: it imitates


def _sized(sizes: Any) -> Any:
    return replace(sizes, **{name: value for name, value in SMALLER.items() if hasattr(sizes, name)})


RECIPES = {
    "follower": Recipe("follower", _sized(follower.SMALL), "Speaker-Follower's follower, by imitation"),
    "envdrop": Recipe("envdrop", _sized(envdrop.SMALL), "EnvDrop's listener, by imitation"),
    "rcm": Recipe("rcm", replace(_sized(rcm.SMALL), judge=64), "RCM's navigator, by imitation"),
    "hamt": Recipe("hamt", TRANSFORMER, "HAMT, by imitation", rate=1e-3),
    "rcm-goal": Recipe("rcm", None, "RCM's navigator paid for reaching the goal", 600, 4e-4, "rcm", goal_oriented),
    "rcm-fidelity": Recipe(
        "rcm", None, "RCM's navigator paid for staying on the path", 600, 4e-4, "rcm", fidelity_oriented
    ),
    "tour-hamt": Recipe("tour-hamt", REMEMBERING, "TourHAMT, led through tours by a teacher", 200, 5e-4, "hamt"),
}
ROUNDS = [["hamt", "rcm", "envdrop", "follower"], ["tour-hamt", "rcm-goal", "rcm-fidelity"]]


def make(season: Path, name: str) -> str:
    """Train an agent, try it, and keep it; one that was being made is gone on with."""
    torch.set_num_threads(1)
    keep_memory()
    recipe, ground = RECIPES[name], _ground(season)
    model = _begun(ground, name, recipe)
    schedule = Schedule(recipe.steps, recipe.rate, last_rate=0.05)
    with Log(DRAFTS / "logs" / name, total=recipe.steps) as log:
        train(
            model, _lesson(ground, model, recipe), schedule,
            seed=0, name=name, checkpoint=DRAFTS / f"{name}.safetensors", heard=log.heard,
        )  # fmt: skip
    model.policy.eval()
    scores = _tried(ground, model)
    told = {
        "what": recipe.words,
        "learned on": "the training houses of Hearth's season 1",
        "steps": recipe.steps,
        "seed": 0,
    }
    card = msgspec.structs.replace(model.card, told={**told, "val-unseen, %": _figures(scores)})
    with atomic_write(KEPT / f"{name}.safetensors") as stream:
        stream.write(encode(replace(model, card=card), half=True))
    return f"{name}: {card.told['val-unseen, %']}"


def _begun(ground: places.Places, name: str, recipe: Recipe) -> Model:
    before = read_model(DRAFTS / f"{recipe.after}.safetensors").model if recipe.after else None
    if before is not None and recipe.sizes is None:
        return before
    Chance.of(0, "begun", name)
    model = new_model(ground.card(recipe.kind, recipe.sizes))
    if before is not None:
        model.policy.load_state_dict(model.policy.state_dict() | before.policy.state_dict())
    return model


def _lesson(ground: places.Places, model: Model, recipe: Recipe) -> Lesson:
    lessons, atlas = ground.lessons("train"), ground.atlas
    if recipe.kind == "tour-hamt":
        tours = TourShuffle(tours_of(ground.splits["train"], lessons), LANES, seed=0)
        weighed = partial(inflected_cloning, atlas=atlas)
        return tour_lesson(model.policy, atlas, lessons, tours, loss=weighed, teacher=to_goal, limit=MOVES)
    batches = Shuffle(lessons, BATCH, seed=0)
    cloning = imitation(model.policy, atlas, batches, limit=MOVES)
    if recipe.reward is None:
        return cloning
    reward, cloned = recipe.reward(atlas, needs_stop=True), halving(recipe.steps / 4, least=0.2)
    return reinforcement(model.policy, atlas, batches, reward, limit=LIMIT, cloned=cloned, cloning_lesson=cloning)


def _tried(ground: places.Places, model: Model) -> Scores:
    lessons = ground.lessons("val_unseen")
    if model.card.kind == "tour-hamt":
        tours = tours_of(ground.splits["val_unseen"], lessons)
        return evaluate_tours(model.policy, ground.atlas, lessons, tours, limit=LIMIT)
    return evaluate(model.policy, ground.atlas, lessons, limit=LIMIT)


def _figures(scores: Scores) -> dict[str, str]:
    found = {name: scores.interval(name) for name in ("SR", "SPL", "CLS", "nDTW")}
    return {name: f"{100 * f.mean:.1f} ({100 * f.low:.1f} – {100 * f.high:.1f})" for name, f in found.items()}


@cache
def _ground(season: Path) -> places.Places:
    return places.toured(places.hearth(season))


def main(season: Path, wanted: Sequence[str]) -> None:
    places.built(season)
    for names in ROUNDS:
        chosen = [name for name in names if not wanted or name in wanted]
        for _, line in in_processes(partial(make, season), chosen, workers=2):
            print(line, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
