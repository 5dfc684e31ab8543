"""Stopping: does an agent stop where its instruction ends, and more often if a sentence says that it has arrived?

The instruction of the control ends at the truncation point, so stopping is correct; that of the intervention says so
explicitly. A third arm, "ahead", has an instruction that continues for one step, where stopping is wrong; if a
sub-instruction continues for several steps, the arm is one chunk ahead.
Reference: Yang et al. 2023, Behavioral Analysis of Vision-and-Language Navigation Agents, section 4.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from itinera.records.action_probabilities import ActionDistribution
from itinera.skills.trials import DesignOutcome, Skill, TrialRng, make_trial, make_trial_pair
from itinera.skills.truncation import Truncation
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


def stop_skill(sentences: Sequence[str] = PAPER) -> Skill:
    """The skill of stopping. Every truncation is kept; there is an arm "ahead" wherever the instruction continues.

    A target is {"stop": true}; of the arm "ahead" also {"edges": n}, how many edges its instruction continues.
    """
    choices = tuple(sentences)
    return Skill("stop", choices, partial(_design, choices), stop_response, response_name="probability of stopping")


def _design(sentences: Sequence[str], truncation: Truncation, world: World, rng: TrialRng) -> Iterator[DesignOutcome]:
    intervention, control = make_trial_pair(truncation, "stop", sentences, {"stop": True}, rng)
    if not truncation.text_ahead:
        yield intervention, control
        return
    target = {"stop": True, "edges": truncation.edges_ahead}
    name, text = f"{truncation.id}.stop.ahead", truncation.text_ahead
    ahead = make_trial(truncation, "stop", name, "ahead", text, target, control_id=control.id)
    yield intervention, control, ahead


def stop_response(trial: Trial, distribution: ActionDistribution, world: World) -> float:
    """The probability of stopping."""
    return distribution.stop
