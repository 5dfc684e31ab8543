"""Coverage of the intervals of a skill study, on simulated studies whose true effect is known.

A study has 11, 30 or 61 scenes, strongly unequal: 6 to 100 trajectories each, 1 to 6 episodes on a trajectory, and
every episode once with the intervention and once without. The response is a probability, such as that of stopping,
and concentrates near 0 and 1. Scenes and trajectories differ in its mean; the effect of the intervention is the same
everywhere, or differs between scenes, or is zero (a null agent). In the last rows the two responses of an episode are
also more similar to each other than to those of other episodes of their trajectory.

Expected: the 95 % intervals of the default mixed model and of the default bootstrap cover the true effect in 93–97 % of
studies in every row, so that a null agent is "significant" in 3–7 %. For comparison: the model's own interval, as
lmerTest computes it, which is too wide where scenes agree and where the responses of an episode are similar; and the
percentile bootstrap over scenes, which is too narrow with few scenes.

    python recipes/skill_recovery.py --simulations 2000 --seed 1
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table

from itinera.seeding import generator
from itinera.stats import fit_mixed, paired_effect
from itinera.stats._t_distribution import quantile

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SCENES = (11, 30, 61)
FEWEST_TRAJECTORIES, MOST_TRAJECTORIES, MOST_EPISODES = 6, 100, 6
SIZE_SHAPE = (0.8, 0.5)  # of the beta distribution of trajectories per scene, between these two
LOWEST, HIGHEST = 0.93, 0.97  # coverage that passes

MEAN = 0.45  # response of the average scene without intervention
SCENE_SD, TRAJECTORY_SD = 0.06, 0.06
EFFECT, EFFECT_SD = 0.1, 0.05
CONCENTRATION = 1.5  # of the responses around their mean: below 2, they concentrate near 0 and 1


@dataclass(frozen=True)
class Agent:
    """How a simulated agent responds to an intervention."""

    name: str
    effect: float  # on the average scene: the truth
    effect_sd: float = 0.0  # between scenes
    similarity: float = 0.0  # share of the response that the two arms of an episode have in common


AGENTS = (
    Agent("same effect everywhere", EFFECT),
    Agent("effects vary by scene", EFFECT, EFFECT_SD),
    Agent("no effect", 0.0),
    Agent("no effect on average", 0.0, EFFECT_SD),
    Agent("same effect, twins alike", EFFECT, similarity=0.5),
)


@dataclass(frozen=True)
class Study:
    """Responses of all episodes with and without the intervention, and their scenes and trajectories."""

    intervened: Floats  # (episodes,)
    controls: Floats  # (episodes,)
    scenes: Integers  # (episodes,)
    trajectories: Integers  # (episodes,)


def draw_study(agent: Agent, scenes: int, rng: np.random.Generator) -> Study:
    spread = MOST_TRAJECTORIES + 1 - FEWEST_TRAJECTORIES
    sizes = np.floor(FEWEST_TRAJECTORIES + spread * rng.beta(*SIZE_SHAPE, scenes)).astype(np.int64)
    scene_of_trajectory = np.repeat(np.arange(scenes), sizes)
    episodes = rng.integers(1, MOST_EPISODES + 1, len(scene_of_trajectory))
    trajectory = np.repeat(np.arange(len(scene_of_trajectory)), episodes)
    scene = scene_of_trajectory[trajectory]
    mean = MEAN + _around_zero(SCENE_SD, scenes, rng)[scene]
    mean += _around_zero(TRAJECTORY_SD, len(scene_of_trajectory), rng)[trajectory]
    effect = agent.effect + _around_zero(agent.effect_sd, scenes, rng)[scene]
    shared = agent.similarity * _respond(mean, rng) if agent.similarity else 0.0
    own = 1 - agent.similarity
    return Study(
        shared + own * _respond(mean + effect / own, rng), shared + own * _respond(mean, rng), scene, trajectory
    )


def _around_zero(sd: float, count: int, rng: np.random.Generator) -> Floats:
    """Normal numbers with clipped tails, so that a mean response stays between 0 and 1."""
    return sd * np.clip(rng.standard_normal(count), -2.2, 2.2)


def _respond(mean: Floats, rng: np.random.Generator) -> Floats:
    return rng.beta(CONCENTRATION * mean, CONCENTRATION * (1 - mean))


Ends = tuple[float, float]


def intervals(study: Study, rng: np.random.Generator) -> dict[str, Ends]:
    """The interval of the effect by each method."""
    fit = fit_mixed(
        np.concatenate([study.intervened, study.controls]),
        np.repeat([1.0, 0.0], len(study.controls)),
        scenes=np.tile(study.scenes, 2),
        trajectories=np.tile(study.trajectories, 2),
    )
    reach = quantile(0.975, fit.effect.df) * fit.effect.standard_error
    arms, scenes = (study.intervened, study.controls), [study.scenes]
    found = {
        "model": fit.interval,
        "bootstrap": paired_effect(*arms, levels=scenes, rng=rng),
        "percentile": paired_effect(*arms, levels=scenes, rng=rng, method="percentile"),
    }
    ends = {name: (each.low, each.high) for name, each in found.items()}
    return {**ends, "lmerTest": (fit.effect.estimate - reach, fit.effect.estimate + reach)}


@dataclass(frozen=True)
class Coverage:
    """How often an interval contained the true value, and its mean width."""

    rate: float
    width: float


def coverages(agent: Agent, scenes: int, simulations: int, seed: int) -> dict[str, Coverage]:
    """The coverage of each method over the same simulated studies."""
    rng = generator(seed, "skill recovery", agent.name, str(scenes))
    found = [intervals(draw_study(agent, scenes, rng), rng) for _ in range(simulations)]
    return {name: measure([each[name] for each in found], agent.effect) for name in found[0]}


def measure(found: list[Ends], truth: float) -> Coverage:
    low, high = np.array(found).T
    return Coverage(float(np.mean((low <= truth) & (truth <= high))), float(np.mean(high - low)))


def main(
    simulations: Annotated[
        int, typer.Option(min=1, help="Number of simulated studies per row; with few, rows fail by chance.")
    ] = 2000,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 1,
) -> None:
    """Print the coverage of the intervals; exit 1 if a default is outside 93–97 % in a row."""
    table = Table("agent", "scenes", "model", "width", "bootstrap", "width", "", "lmerTest", "percentile")
    table.title = f"Coverage of 95 % intervals of an intervention's effect, {simulations} simulated studies per row"
    rows = [(agent, scenes) for agent in AGENTS for scenes in SCENES]
    failures = 0
    for agent, scenes in track(rows, "simulating", console=Console(stderr=True), transient=True):
        found = coverages(agent, scenes, simulations, seed)
        judged = (found["model"], found["bootstrap"])
        passed = all(LOWEST <= each.rate <= HIGHEST for each in judged)
        failures += not passed
        cells = [text for each in judged for text in (f"{each.rate:.1%}", f"{each.width:.3f}")]
        verdict = "[green]PASS[/]" if passed else "[red]FAIL[/]"
        contrast = [f"{found[name].rate:.1%}" for name in ("lmerTest", "percentile")]
        table.add_row(agent.name, str(scenes), *cells, verdict, *contrast)
    Console(width=120).print(table)
    print('A null agent ("no effect") is called significant in 100 % minus the coverage of its row.')
    if failures:
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
