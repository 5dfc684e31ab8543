"""Do the skills of an agent rise with its success? Table 1 of "Behavioral Analysis of Vision-and-Language Navigation
Agents" (Yang et al. 2023) with agents that learned.

EnvDrop's listener and HAMT, as in the paper, and a follower and RCM's navigator beside them, are trained on Hearth's
training houses for `--minutes` each, one more of each for a tenth of them, and asked on its val-unseen houses what they
would do when told to stop, to turn, to go to an object or into a room. The paper finds that skills rise with success,
though not all alike, and that agents are better at stopping and turning than at objects and rooms. What is done is
kept: a run that was stopped goes on.

    python recipes/skills.py --minutes 10 --every 10
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
import torch
import typer
from rich.console import Console

import hearth_skills
import places
from itinera.formats.io import atomic_write
from itinera.policies import envdrop, follower, hamt, rcm
from itinera.policies.checkpoint import encode, new_model
from itinera.runs.process_map import in_processes
from itinera.training.dataset import Shuffle
from itinera.training.malloc import keep_memory
from itinera.training.objectives import imitation
from itinera.training.progress import Log
from itinera.training.trainer import Chance, Schedule, train

# Kind, sizes, learning rate and steps that one core makes in a minute, about, by the agent's name.
AGENTS: dict[str, tuple[str, Any, float, int]] = {
    "follower": ("follower", follower.SMALL, 1.5e-3, 300),
    "envdrop": ("envdrop", envdrop.SMALL, 1.5e-3, 300),
    "rcm": ("rcm", rcm.SMALL, 1.5e-3, 260),
    "hamt": ("hamt", hamt.SMALL, 1e-3, 120),
}
BRIEFLY = 0.1  # of the minutes, for one more of each kind: with success alike nothing could rise with it
BATCH, MOVES = 64, 10
SKILLS = ("stop", "turn", "object", "room")
ASKED = ("stop", "direction", "object", "room-1")


@dataclass(frozen=True)
class Job:
    """An agent to be trained."""

    kind: str
    seed: int
    minutes: float
    instruction: bool = False

    @property
    def name(self) -> str:
        return f"{self.kind}-{'instruction' if self.instruction else self.seed}"


def learn(out: Path, season: Path, job: Job) -> Path:
    """The model of an agent after so many minutes of imitation."""
    name, seed = job.name, job.seed
    torch.set_num_threads(1)
    keep_memory()
    done = out / f"{name}.safetensors"
    if done.exists():
        return done
    kind, sizes, rate, pace = AGENTS[job.kind]
    ground = _ground(season)
    Chance.of(seed, "begun", name)
    model = new_model(ground.card(kind, sizes, seed=seed, minutes=job.minutes))
    lesson = imitation(model.policy, ground.atlas, Shuffle(ground.lessons("train"), BATCH, seed=seed), limit=MOVES)
    steps = max(1, round(job.minutes * pace))
    draft = out / "drafts" / done.name
    with Log(out / "logs" / name, total=steps) as log:
        train(model, lesson, Schedule(steps, rate), seed=seed, name=name, checkpoint=draft, heard=log.heard)
    with atomic_write(done) as stream:
        stream.write(encode(model))
    draft.unlink(missing_ok=True)
    return done


@cache
def _ground(season: Path) -> places.Places:
    return places.hearth(season)


def main(
    minutes: Annotated[float, typer.Option(help="Of training for each agent, on one core.")] = 10.0,
    seeds: Annotated[int, typer.Option(help="Agents of each kind.")] = 3,
    every: Annotated[int, typer.Option(help="One path in so many is asked about.")] = 10,
    out: Annotated[Path, typer.Option(help="What is made is kept here.")] = Path(".learning/skills"),
    season: Annotated[Path, typer.Option(help="A season of Hearth, built if it is not there.")] = Path(
        ".tables/hearth"
    ),
    workers: Annotated[int, typer.Option(help="Processes at work.")] = 2,
) -> None:
    """Train, ask, and print skills beside success."""
    console = Console(width=120)
    season, out = places.built(season), out / f"{minutes:g} minutes"
    jobs = [Job(kind, seed, minutes) for kind in AGENTS for seed in range(seeds)]
    jobs += [Job(kind, 0, BRIEFLY * minutes, instruction=True) for kind in AGENTS]
    made = dict(in_processes(partial(learn, out, season), jobs, workers=workers))
    models = {job.name: made[k] for k, job in enumerate(jobs)}
    trials = out / "trials.jsonl"
    hearth_skills.designed(season, every, trials, ASKED)
    files = [hearth_skills.asked(name, trials, season, out, agent=str(file)) for name, file in models.items()]
    scores = [word for _, bundle in files for word in ("--scores", bundle)]
    analysed = ("study", "analyse", trials, *(leanings for leanings, _ in files), *scores)
    console.print(hearth_skills.itinera(*analysed))
    table = msgspec.json.decode(hearth_skills.itinera(*analysed, "--json"))["table"]
    for line in told(table):
        console.print(line)


def told(table: dict[str, Any]) -> list[str]:
    """Whether what the paper says holds here."""
    success = np.array([row["SR"]["mean"] for row in table.values()])
    lines = []
    for skill in SKILLS:
        values = np.array([row[skill]["mean"] for row in table.values()])
        together = float(np.corrcoef(success, values)[0, 1])
        words = "rises with success" if together > 0.5 else "does NOT rise with success"
        lines.append(f"{skill}: {words} over {len(table)} agents (correlation {together:+.2f})")
    means = {skill: np.mean([row[skill]["mean"] for row in table.values()]) for skill in SKILLS}
    holds = min(means["stop"], means["turn"]) > max(means["object"], means["room"])
    ordered = ", ".join(f"{skill} {100 * value:.0f}" for skill, value in means.items())
    lines.append(f"{'held    ' if holds else 'NOT held'}  stopping and turning before objects and rooms: {ordered}")
    return lines


if __name__ == "__main__":
    typer.run(main)
