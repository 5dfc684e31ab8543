"""Do ground agents read? Decision agents on Hearth: their success with their own and with another path's instructions.

A decision agent chooses a bearing and up to eight steps, or stops (`policies/ground/decision.py`). Agents differ in
what they see: *panorama*, the names of things and rooms all around; *map*, those of front views remembered in a map,
acting with episodic, iterative and known maps; *classes*, all around but only the 13 classes of semantic maps. An agent
that follows its instruction loses most of its success with the instruction of another path from elsewhere in the house;
one that merely walks where people tend to walk loses nothing. Names are annotations, which is perfect perception.

Agents learn from the teacher's decisions on clean and noisy rolls, `--dagger` adds rounds of their own. `--held-out`
trains without some training houses and scores on those instead of val-unseen: choose settings there. If interrupted,
rerun the command to resume.

    python recipes/reading.py SEASON --minutes 30 --seeds 2 --out .learning/reading
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

import itinera
from itinera.formats import vlnce
from itinera.formats.writing import atomic_write
from itinera.mapping.config import MapLifetime
from itinera.policies.checkpoint import Model, encode_model, read_model
from itinera.policies.ground.decision import DecisionConfig
from itinera.runs.engines.processes import parallel_map
from itinera.stats.intervals import Interval, interval
from itinera.tasks import Instruction, Split
from itinera.training.ground.decision_batches import PathTexts, RollSampler
from itinera.training.ground.decision_data import DecisionData, make_sources, world_words
from itinera.training.ground.decision_evaluation import evaluate_decisions, other_instructions, reading_gap
from itinera.training.ground.decisions import DecisionOptions, train_decisions
from itinera.training.ground.tour_order import order_tours
from itinera.training.ground.train_decision_agent import STEPS_PER_MINUTE
from itinera.training.malloc import tune_malloc
from itinera.training.progress import TrainingLog, log_to_stderr

AGENTS: Mapping[str, DecisionConfig] = {
    "panorama": DecisionConfig(),
    "map": DecisionConfig(remembers=True),
    "classes": DecisionConfig(labels="classes"),
}
LIFETIMES: Mapping[str, tuple[str, ...]] = {
    "panorama": ("",),
    "map": ("episodic", "iterative", "known"),
    "classes": ("",),
}
METRICS = ("SR", "SPL", "nDTW", "NE", "PL")
TEXTS = ("own", "another's")
MAX_RATIO, MIN_GAP = 0.75, 0.05  # an agent that reads has at most this share of its success, and at least this gap
MIN_SUCCESS = 0.40  # of the agent that sees names all around
Job = tuple[str, int]  # the agent and the seed


@dataclass(frozen=True)
class Setting:
    """The arguments of the recipe."""

    season: Path
    out: Path
    steps: int
    dagger: int
    is_held_out: bool

    def data(self, split: str, agent: str, lifetime: str = "") -> DecisionData:
        """The episodes of a split, with the folder of their rolls."""
        life = MapLifetime(lifetime or "episodic")
        return DecisionData(
            load_split(self.season, split), load_worlds(self.season), self.out.parent / split, lifetime=life
        )

    def training_worlds(self) -> list[str]:
        """The worlds to train in."""
        data = self.data("train", "panorama")
        return [name for name in data.paths if not self.is_held_out or name not in data.held_out()]

    def test_split(self) -> Split:
        """The episodes to score on: val-unseen, or those of the training houses that were held out."""
        if not self.is_held_out:
            return load_split(self.season, "val_unseen")
        data = self.data("train", "panorama")
        chosen = data.held_out()
        return data.split.select([episode.id for episode in data.split if episode.world_id in chosen])

    def model_file(self, job: Job) -> Path:
        return self.out / f"{job[0]} seed {job[1]}.safetensors"


@cache
def load_split(season: Path, split: str) -> Split:
    folder = season / "vlnce" / split
    dense = vlnce.read_dense(folder / f"{split}_gt.json.gz")
    return vlnce.with_dense_reference(itinera.read_tasks(folder / f"{split}.json.gz"), dense)


@cache
def load_worlds(season: Path) -> Mapping[str, Any]:
    from itinera.formats.catalog import read_surfaces
    from itinera.tasks import PROTOCOLS

    worlds = read_surfaces(season, PROTOCOLS["r2r-ce"])
    assert worlds is not None
    return worlds


def make_rolls(setting: Setting, job: tuple[str, str, str]) -> None:
    """Make the rolls of a house, unless they exist."""
    agent, split, world_id = job
    data = setting.data(split, agent)
    data.names(world_id)
    data.expert_rolls(AGENTS[agent], [world_id])


def train_agent(setting: Setting, job: Job) -> None:
    """Train an agent and write its model, unless it exists."""
    torch.set_num_threads(1)
    tune_malloc()
    log_to_stderr()
    out, (agent, seed) = setting.model_file(job), job
    if out.exists():
        return
    out.parent.mkdir(parents=True, exist_ok=True)
    partial_file = out.with_name(f"{out.name}.partial")
    options = DecisionOptions(setting.steps, dagger_rounds=setting.dagger)
    with TrainingLog(out.stem, total=setting.steps, folder=setting.out / "logs" / out.stem) as log:
        model = train_decisions(
            setting.data("train", agent),
            AGENTS[agent],
            options,
            seed=seed,
            worlds=setting.training_worlds(),
            checkpoint=partial_file,
            on_step=log.on_step,
        )
    with atomic_write(out) as stream:
        stream.write(encode_model(model))
    partial_file.unlink(missing_ok=True)


@dataclass(frozen=True)
class Result:
    """The scores of an agent in each episode."""

    worlds: list[str]
    columns: dict[str, list[float]]

    def values(self, metric: str) -> np.ndarray[Any, Any]:
        return np.array(self.columns[metric])


def score_agent(setting: Setting, job: tuple[Job, str, str]) -> Result:
    """The scores of an agent with maps of a lifetime, with its own or another path's instructions."""
    (agent, seed), lifetime, text = job
    file = setting.out / "scores" / f"{agent} {lifetime} {text} seed {seed}.json"
    if file.exists():
        return Result(**json.loads(file.read_text()))
    torch.set_num_threads(1)
    model, split, worlds = (
        read_model(setting.model_file((agent, seed))).model,
        setting.test_split(),
        load_worlds(setting.season),
    )
    texts = None if text == "own" else other_instructions(split)
    if lifetime == "iterative":
        table = score_on_tours(setting, model, split, texts)
    else:
        sources = make_sources(AGENTS[agent], MapLifetime(lifetime or "episodic"))
        table = evaluate_decisions(model, split, worlds, world_words(model), instructions=texts, sources=sources)
    result = Result(list(table.world_ids), {name: table.values[name].tolist() for name in METRICS})
    file.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(file) as stream:
        stream.write(json.dumps(vars(result)).encode())
    return result


def score_on_tours(setting: Setting, model: Model, split: Split, texts: Mapping[str, Instruction] | None) -> Any:
    """The scores of an agent that keeps its map over tours."""
    if texts is not None:
        split = replace(split, episodes=tuple(replace(e, instruction=texts[e.id]) for e in split.episodes))
    toured, worlds = order_tours(split), load_worlds(setting.season)
    predictions = itinera.run(model.agent(), toured, worlds, workers=0, map_lifetime="iterative", progress=None)
    return itinera.score(predictions, toured, worlds)


def measure_gap(setting: Setting, job: Job) -> tuple[float, float]:
    """The teacher-forced loss of an agent with its own and with another path's instructions, on clean rolls."""
    torch.set_num_threads(1)
    agent, _ = job
    model, split = read_model(setting.model_file(job)).model, setting.test_split()
    data = setting.data("train" if setting.is_held_out else "val_unseen", agent)
    rolls = data.expert_rolls(AGENTS[agent], list(split.world_ids))
    texts = PathTexts.from_episodes(split.episodes, model.tokenizer, max_words=model.card.max_words)
    words = data.label_words(model.tokenizer, AGENTS[agent])
    sampler = RollSampler(rolls, words, texts, model.tokenizer, batch_size=24, seed=0)
    starts = np.cumsum([0, *(len(house) for house in rolls)])
    clean = [np.arange(start, start + len(house) // 2) for start, house in zip(starts, rolls, strict=False)]
    gap = reading_gap(model.policy, sampler, np.concatenate(clean))
    return gap.own, gap.other


def mean_over_seeds(results: Sequence[Result], metric: str) -> np.ndarray[Any, Any]:
    """(episodes,) the mean over seeds."""
    return np.mean([result.values(metric) for result in results], axis=0)


def format_interval(found: Interval, scale: float = 100.0) -> str:
    return f"{scale * found.mean:.1f} ({scale * found.low:.1f} – {scale * found.high:.1f})"


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("season", type=Path, help="Hearth season; built if missing")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--minutes", type=float, default=30.0, help="training time of an agent on one core (30)")
    length.add_argument("--steps", type=int, help="optimizer steps of an agent, instead of --minutes")
    parser.add_argument("--seeds", type=int, default=2, help="number of agents of each kind (2)")
    parser.add_argument("--agents", nargs="*", default=list(AGENTS), choices=list(AGENTS), help="agents to train (all)")
    parser.add_argument("--dagger", type=int, default=0, help="rounds of DAgger (0)")
    parser.add_argument("--held-out", action="store_true", help="score on training houses that are held out")
    parser.add_argument(
        "--out", type=Path, default=Path(".learning/reading"), help="folder for models, rolls and scores"
    )
    parser.add_argument("--workers", type=int, default=2, help="number of worker processes (2)")
    return parser.parse_args()


def main() -> None:
    """Train, score with both kinds of instructions, and print the table."""
    args = parse_arguments()
    if not (args.season / "season.json").exists():
        itinera.build_hearth(args.season)
    steps = args.steps or max(1, round(args.minutes * STEPS_PER_MINUTE))
    name = f"{steps} steps" + (f" dagger {args.dagger}" if args.dagger else "") + (" held out" if args.held_out else "")
    setting = Setting(args.season, args.out / name, steps, args.dagger, args.held_out)
    console, jobs = Console(width=180), [(agent, seed) for agent in args.agents for seed in range(args.seeds)]
    kinds = [agent for agent in args.agents if agent != "classes"] or ["panorama"]
    splits = ("train",) if args.held_out else ("train", "val_unseen")
    worlds = [
        (kind, split, world) for kind in kinds for split in splits for world in load_split(args.season, split).world_ids
    ]

    def execute(work: Any, of: Sequence[Any]) -> list[Any]:
        done = dict(parallel_map(partial(work, setting), of, workers=args.workers))
        return [done[k] for k in range(len(of))]

    execute(make_rolls, worlds)
    execute(train_agent, jobs)
    gaps = dict(zip(jobs, execute(measure_gap, jobs), strict=True))
    scored = [(job, life, text) for job in jobs for life in LIFETIMES[job[0]] for text in TEXTS]
    results = dict(zip(scored, execute(score_agent, scored), strict=True))
    where = "held-out training houses" if args.held_out else "val-unseen"
    table = Table(title=f"Decision agents on {where}, {steps} steps, {args.seeds} seeds (95 % interval over houses)")
    for column in ("agent", "map", "SR own", "SR another's", "difference", "SPL", "nDTW", "loss own", "gap"):
        table.add_column(column)
    claims = []
    for agent in args.agents:
        own_loss, other_loss = np.mean([gaps[agent, seed] for seed in range(args.seeds)], axis=0)
        for life in LIFETIMES[agent]:
            own, other = ([results[(agent, seed), life, text] for seed in range(args.seeds)] for text in TEXTS)
            houses = own[0].worlds
            rates = [mean_over_seeds(each, "SR") for each in (own, other)]
            cells = [format_interval(interval(rate, clusters=houses, bounds=(0.0, 1.0))) for rate in rates]
            cells.append(format_interval(interval(rates[0] - rates[1], clusters=houses)))
            cells += [
                format_interval(interval(mean_over_seeds(own, metric), clusters=houses, bounds=(0.0, 1.0)))
                for metric in ("SPL", "nDTW")
            ]
            table.add_row(agent, life, *cells, f"{own_loss:.3f}", f"{other_loss - own_loss:+.3f}")
            ratio = float(rates[1].mean() / max(rates[0].mean(), 1e-9))
            if agent != "classes":
                claims.append((f"{agent} {life} reads: at most {MAX_RATIO:.0%} of its success with another's words",
                               ratio <= MAX_RATIO, f"{ratio:.0%}"))  # fmt: skip
        if agent != "classes":
            gap = other_loss - own_loss
            claims.append((f"{agent}: gap at least {MIN_GAP}", gap >= MIN_GAP, f"{gap:.3f}"))
        if agent == "panorama":
            rate = rate_mean(results, agent, args.seeds)
            claims.append((f"{agent}: SR at least {MIN_SUCCESS:.0%}", rate >= MIN_SUCCESS, f"{rate:.1%}"))
    console.print(table)
    for claim, holds, number in claims:
        console.print(f"{'holds' if holds else 'does NOT hold':13}  {claim}: {number}")
    console.print(
        "Names are annotations (perfect perception): do not compare with agents that recognize things in images."
    )


def rate_mean(results: Mapping[tuple[Job, str, str], Result], agent: str, seeds: int) -> float:
    """The success rate of an agent with its own instructions, over seeds."""
    return float(
        np.mean([results[(agent, seed), LIFETIMES[agent][0], "own"].values("SR").mean() for seed in range(seeds)])
    )


if __name__ == "__main__":
    main()
