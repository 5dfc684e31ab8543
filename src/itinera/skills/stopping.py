"""Stopping: does an agent stop where its instruction ends, and more surely where it is told that it has arrived?

The words of the control end here, so it is to stop; those of the intervention say so. A third arm, "ahead", has words
that lead on by one step, and is not to stop; where a sub-instruction leads on by several, it is one chunk ahead.
Reference: Yang et al. 2023, Behavioral Analysis of Vision-and-Language Navigation Agents, section 4.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from itinera.records.action_probabilities import Leaning
from itinera.skills.trials import Candidate, Draws, Skill, ask, told
from itinera.skills.truncation import Cut
from itinera.tasks.trial import Trial
from itinera.worlds import World

PAPER = (
    "This is your destination.",
    "This is your end point.",
    "You reached your destination.",
    "You are done.",
)
RELEASED = (
    *PAPER,
    "Stop.",
    "You have arrived.",
    "You've reached the end.",
    "This is where you stop.",
)
SENTENCES = {"paper": PAPER, "released": RELEASED}


def stopping(sentences: Sequence[str] = PAPER) -> Skill:
    """The skill of stopping. Every cut is kept; there is an arm "ahead" wherever more is said.

    A target is {"stop": true}; of the arm "ahead" also {"edges": n}, how many edges its words lead on.
    """
    drawn = tuple(sentences)
    return Skill("stop", drawn, partial(_design, drawn), stop_probability, measures="probability of stopping")


def _design(sentences: Sequence[str], cut: Cut, world: World, rng: Draws) -> Iterator[Candidate]:
    explicit, implicit = ask(cut, "stop", sentences, {"stop": True}, rng)
    if not cut.ahead:
        yield explicit, implicit
        return
    target = {"stop": True, "edges": cut.edges}
    yield explicit, implicit, told(cut, "stop", f"{cut.id}.stop.ahead", "ahead", cut.ahead, target, twin=implicit.id)


def stop_probability(trial: Trial, leaning: Leaning, world: World) -> float:
    """How likely the agent was to stop."""
    return leaning.stop


def one_step_ahead(trial: Trial) -> bool:
    """Whether a trial's words lead on by exactly one edge, so that it may be called one step ahead."""
    return trial.arm == "ahead" and trial.target["edges"] == 1
