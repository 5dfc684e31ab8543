"""A skill: which sentence is added at the end of a path, and how an agent's action distribution is scored.

A skill is two functions and its sentences, in a file of its own; `design` turns truncations into trials with any of
them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from itinera.errors import BadArgument
from itinera.formats.trials import Study
from itinera.records.action_probabilities import ActionDistribution
from itinera.seeding import generator
from itinera.skills.filter_counts import FilterCounter, RejectedTrial
from itinera.skills.truncation import Truncation
from itinera.tasks import Episode, Instruction
from itinera.tasks.trial import Trial
from itinera.worlds import NavGraph, World

TrialRng: TypeAlias = Callable[[str], np.random.Generator]
"""The random generator of a trial, by its id."""

DesignOutcome: TypeAlias = tuple[Trial, ...] | RejectedTrial
"""The outcome for one candidate: an intervention with its control trials, or the reason it was dropped."""


@dataclass(frozen=True)
class Skill:
    """What is asked of an agent, and how its action distribution is scored."""

    name: str  # "stop", "direction-left"
    sentences: tuple[str, ...]  # one of them is added; {…} is filled in by the design
    design: Callable[[Truncation, World, TrialRng], Iterable[DesignOutcome]]  # at least one outcome per truncation
    response: Callable[[Trial, ActionDistribution, World], float]  # the dependent variable of the statistical models
    response_name: str = "probability"  # for axes and tables
    unit: str = ""  # of the response: "m", or none
    higher_is_better: bool = True
    needs_rollout: bool = False  # whether the agent continues with greedy actions until it stops


def design(
    skills: Iterable[Skill], truncations: Sequence[Truncation], worlds: Mapping[str, World], *, seed: int
) -> Study:
    """The trials of these skills at these truncations, skill by skill, with the filter counts of each skill.

    Every intervention comes with its control: the same path and target, and the truncated instruction alone. Random
    choices depend only on the seed and the id of a trial.
    """
    needed = _select_worlds(truncations, worlds)
    trials: list[Trial] = []
    counts = {}
    for skill in skills:
        counter = FilterCounter()
        for truncation in truncations:
            world = needed[truncation.source.world_id]
            outcomes = list(skill.design(truncation, world, partial(generator, seed, "study")))
            groups = [outcome for outcome in outcomes if not isinstance(outcome, RejectedTrial)]
            trials += (trial for group in groups for trial in group)
            counter.add(len(groups), [outcome.reason for outcome in outcomes if isinstance(outcome, RejectedTrial)])
        counts[skill.name] = counter.total()
    return Study(tuple(trials), counts)


def make_trial_pair(
    truncation: Truncation,
    skill: str,
    sentences: Sequence[str],
    target: Mapping[str, Any],
    rng: TrialRng,
    *,
    detail: str = "",
) -> tuple[Trial, Trial]:
    """An intervention, with one of these sentences after the truncated instruction, and its control.

    `detail` distinguishes the trials of one skill at one truncation.
    """
    name = ".".join(filter(None, (truncation.id, skill, detail)))
    # Nothing is drawn if there is only one sentence, so that the stream does not depend on it.
    sentence = sentences[int(rng(name).integers(len(sentences)))] if len(sentences) > 1 else sentences[0]
    control = make_trial(truncation, skill, f"{name}.control", "control", truncation.text, target)
    text = f"{truncation.text} {sentence}"
    return make_trial(truncation, skill, name, "intervention", text, target, control_id=control.id), control


def make_trial(
    truncation: Truncation,
    skill: str,
    name: str,
    arm: str,
    text: str,
    target: Mapping[str, Any],
    *,
    control_id: str = "",
) -> Trial:
    """The trial of this name and arm: the agent is guided to the truncation point with this text as instruction.

    Its goal is where the text ends: at the truncation point, or as many edges later as the target says.
    """
    source = truncation.source
    end = len(truncation.nodes) - 1 + int(target.get("edges", 0))
    episode = Episode(
        id=name,
        world_id=source.world_id,
        start=source.start,
        goals=tuple(map(str, source.reference[end : end + 1])) or truncation.nodes[-1:],
        reference=truncation.nodes,
        instruction=Instruction(text, source.instruction.language),
        path_id=source.path_id,
    )
    return Trial(name, skill, arm, control_id, episode, target, source.id)


def correct_probability(trial: Trial, distribution: ActionDistribution) -> float:
    """The probability of the correct actions, whose mean over interventions is the skill score.

    Correct is to stop, or to go to one of the target's nodes. NaN if no single action is correct, as for rooms several
    steps away.
    Reference: Yang et al. 2023, equation 1.
    """
    if trial.target.get("stop"):
        return distribution.stop
    if "nodes" not in trial.target:
        return math.nan
    return target_probability(trial, distribution)


def target_probability(trial: Trial, distribution: ActionDistribution) -> float:
    """The probability of going to one of the target's nodes; STOP is not one of them."""
    probabilities = dict(zip(distribution.nodes, distribution.moves.tolist(), strict=True))
    missing = [node for node in trial.target["nodes"] if node not in probabilities]
    if missing:
        raise BadArgument(
            f"Trial {trial.id} has the target node {missing[0]}, which is not among the candidates of its action "
            "distribution. Run the trial in the world it was designed in."
        )
    return float(sum(probabilities[node] for node in trial.target["nodes"]))


def require_graph(world: World) -> NavGraph:
    """The navigation graph of a world; raises BadArgument if it has none."""
    if not isinstance(world.space, NavGraph):
        raise BadArgument(f"World {world.id} is not a navigation graph. Skill studies need one: give --worlds graphs.")
    return world.space


def _select_worlds(truncations: Sequence[Truncation], worlds: Mapping[str, World]) -> dict[str, World]:
    """The worlds of these truncations; raises BadArgument if they do not fit together."""
    needed = dict.fromkeys(truncation.source.world_id for truncation in truncations)
    missing = [world_id for world_id in needed if world_id not in worlds]
    if missing:
        raise BadArgument(f"The worlds lack {', '.join(missing[:5])}. Give the worlds of the episodes.")
    selected = {world_id: worlds[world_id] for world_id in needed}
    ids: set[str] = set()
    for truncation in truncations:
        if truncation.id in ids:
            raise BadArgument(f"Two truncations have the id {truncation.id}. Give each episode once, with its own id.")
        ids.add(truncation.id)
        require_graph(selected[truncation.source.world_id]).locate(truncation.nodes)  # names a node that is missing
    return selected
