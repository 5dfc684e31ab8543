"""A skill: what an agent is told at the end of a walk, and how much of what it then does is right.

A skill is two functions and its sentences, in a file of its own; `design` turns cuts into trials with any of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from itinera.errors import BadArgument
from itinera.records.action_probabilities import Leaning
from itinera.seeding import generator
from itinera.skills.filter_counts import Dropped, Tally, TallySheet
from itinera.skills.truncation import Cut
from itinera.tasks import Episode, Instruction
from itinera.tasks.trial import Trial
from itinera.worlds import NavGraph, World

Draws: TypeAlias = Callable[[str], np.random.Generator]
"""The generator of a trial, by its id."""

Candidate: TypeAlias = tuple[Trial, ...] | Dropped
"""What becomes of one candidate: an intervention and the trials it is held against, or the reason it was dropped."""


@dataclass(frozen=True)
class Skill:
    """What is asked of an agent, and how its answer is read."""

    name: str  # "stop", "direction-left"
    sentences: tuple[str, ...]  # one of them is said; {…} stands for what the design fills in
    design: Callable[[Cut, World, Draws], Iterable[Candidate]]  # at least one candidate for each cut
    response: Callable[[Trial, Leaning, World], float]  # what the models explain
    measures: str = "probability"  # what the response is, for axes and tables
    unit: str = ""  # of the response: "m", or none
    higher_is_better: bool = True
    rolls_out: bool = False  # whether the agent goes on after it was asked, by its likeliest actions, until it stops


@dataclass(frozen=True, eq=False)
class Study:
    """The trials of one or more skills, and by skill what became of every candidate."""

    trials: tuple[Trial, ...]
    tallies: Mapping[str, Tally]


def design(skills: Iterable[Skill], cuts: Sequence[Cut], worlds: Mapping[str, World], *, seed: int) -> Study:
    """The trials of these skills at these cuts, skill by skill.

    Every intervention comes with its control: the same walk and target, and the words as they were cut. What is drawn
    depends on the seed and the id of a trial alone.
    """
    known = _worlds_of(cuts, worlds)
    trials: list[Trial] = []
    tallies = {}
    for skill in skills:
        sheet = TallySheet()
        for cut in cuts:
            candidates = list(skill.design(cut, known[cut.source.world_id], partial(generator, seed, "study")))
            kept = [candidate for candidate in candidates if not isinstance(candidate, Dropped)]
            trials += (trial for candidate in kept for trial in candidate)
            sheet.cut(len(kept), [candidate.reason for candidate in candidates if isinstance(candidate, Dropped)])
        tallies[skill.name] = sheet.total()
    return Study(tuple(trials), tallies)


def ask(
    cut: Cut, skill: str, sentences: Sequence[str], target: Mapping[str, Any], rng: Draws, *, detail: str = ""
) -> tuple[Trial, Trial]:
    """An intervention, with one of these sentences after the words of the cut, and its control.

    `detail` tells apart the trials of one skill at one cut.
    """
    name = ".".join(filter(None, (cut.id, skill, detail)))
    # Nothing is left to chance where there is but one sentence.
    sentence = sentences[int(rng(name).integers(len(sentences)))] if len(sentences) > 1 else sentences[0]
    control = told(cut, skill, f"{name}.control", "control", cut.text, target)
    return told(cut, skill, name, "intervention", f"{cut.text} {sentence}", target, twin=control.id), control


def told(cut: Cut, skill: str, name: str, arm: str, text: str, target: Mapping[str, Any], *, twin: str = "") -> Trial:
    """The trial of this name and arm, in which the agent is walked to the cut and told this text.

    Its goal is where the words end: here, or as many edges on as the target says.
    """
    source = cut.source
    end = len(cut.nodes) - 1 + int(target.get("edges", 0))
    episode = Episode(
        id=name,
        world_id=source.world_id,
        start=source.start,
        goals=tuple(map(str, source.reference[end : end + 1])) or cut.nodes[-1:],
        reference=cut.nodes,
        instruction=Instruction(text, source.instruction.language),
        path_id=source.path_id,
    )
    return Trial(name, skill, arm, twin, episode, target, source.id)


def correct_mass(trial: Trial, leaning: Leaning) -> float:
    """The probability of the right actions, whose mean over interventions is the skill score; NaN where none is right
    at once, as for rooms several steps away.

    Right is to stop, or to go to one of the target's nodes: those the filter asks for.
    Reference: Yang et al. 2023, equation 1.
    """
    if trial.target.get("stop"):
        return leaning.stop
    if "nodes" not in trial.target:
        return math.nan
    return mass_on(trial, leaning)


def mass_on(trial: Trial, leaning: Leaning) -> float:
    """The probability of going to one of the target's nodes; to stop is none of them."""
    shares = dict(zip(leaning.nodes, leaning.moves.tolist(), strict=True))
    lost = [node for node in trial.target["nodes"] if node not in shares]
    if lost:
        raise BadArgument(
            f"Trial {trial.id} asks about {lost[0]}, which its answer does not list. Answer it in the world it is of."
        )
    return float(sum(shares[node] for node in trial.target["nodes"]))


def graph_of(world: World) -> NavGraph:
    """The graph of a world; skills are asked on graphs only."""
    if not isinstance(world.space, NavGraph):
        raise BadArgument(f"World {world.id} is no navigation graph, so there are no ways on to choose from.")
    return world.space


def _worlds_of(cuts: Sequence[Cut], worlds: Mapping[str, World]) -> dict[str, World]:
    """The worlds of these cuts; raises BadArgument where they do not fit together."""
    needed = dict.fromkeys(cut.source.world_id for cut in cuts)
    missing = [world_id for world_id in needed if world_id not in worlds]
    if missing:
        raise BadArgument(f"No world is given for {', '.join(missing[:5])}. Give the worlds the episodes are in.")
    known = {world_id: worlds[world_id] for world_id in needed}
    seen: set[str] = set()
    for cut in cuts:
        if cut.id in seen:
            raise BadArgument(f"Two cuts are named {cut.id}. Give each episode once, under an id of its own.")
        seen.add(cut.id)
        graph_of(known[cut.source.world_id]).locate(cut.nodes)  # says which is not a node
    return known
