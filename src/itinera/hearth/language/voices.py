"""Voices: the habits of different speakers, from the length of their sentences to what they pay attention to."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from itinera.errors import BadArgument
from itinera.hearth.language.landmarks import USUAL_HABITS, ReferenceHabits
from itinera.hearth.language.segmentation import ClauseCosts
from itinera.hearth.language.semantics import Act

LANDMARK_ACTS = (Act.TOWARDS, Act.REACH, Act.PASS, Act.SEE)


@dataclass(frozen=True)
class Voice:
    """A speaker's habits; all but `brevity` and the bonuses are probabilities."""

    name: str
    share: float  # of instructions
    brevity: int  # 1: the shorter of two phrases, -1: the longer one, 0: either
    full_stop: float  # ending a sentence after one request
    ellipsis: float = 0.0  # leaving out the verb: "Left, then through the door."
    filler: float = 0.0  # "just", "you'll want to", "go ahead and"
    courtesy: float = 0.0  # a greeting or remark before or after the route
    opener: float = 0.35  # "then", "next" at the beginning of a sentence
    subordinate: float = 0.06  # "once you pass the sofa, …"
    play: float = 0.01  # "tiptoe", "mosey"
    praise: float = 0.0  # opinions about objects: "the lovely sofa"
    goal: float = 0.02  # stating the goal first
    warning: float = 0.008  # saying where not to go
    turn_landmark: float = 1.0  # factor of the probability of a landmark at a turn
    landmark_bonus: float = 0.0  # deduced from the cost of clauses about objects
    turn_bonus: float = 0.0  # deduced from the cost of turns
    rare_words: float = 1.0  # exponent of the frequency of words: the lower, the more varied
    habits: ReferenceHabits = USUAL_HABITS

    def adjust(self, costs: ClauseCosts) -> ClauseCosts:
        """The costs of clauses for this speaker."""
        acts = {act: cost - self.landmark_bonus * (act in LANDMARK_ACTS) for act, cost in costs.acts.items()}
        acts[Act.GO] -= self.turn_bonus
        return replace(costs, acts=acts, turn_first=costs.turn_first - self.turn_bonus)


VOICES = (
    Voice("neutral", 0.4, brevity=0, full_stop=0.5, rare_words=1.05),
    Voice(
        "terse",
        0.2,
        brevity=1,
        full_stop=0.35,
        ellipsis=0.5,
        opener=0.1,
        subordinate=0.0,
        rare_words=1.3,
        habits=ReferenceHabits(color=0.2, shape=0.05, material=0.15, relation=0.05, head_noun=0.5),
    ),
    Voice(
        "chatty",
        0.12,
        brevity=-1,
        full_stop=0.4,
        filler=0.3,
        courtesy=0.6,
        opener=0.6,
        subordinate=0.15,
        play=0.15,
        praise=0.2,
        goal=0.08,
        warning=0.03,
        rare_words=0.55,
        habits=ReferenceHabits(color=0.5, shape=0.3, material=0.4, relation=0.13),
    ),
    Voice(
        "landmark-lover",
        0.14,
        brevity=0,
        full_stop=0.45,
        subordinate=0.12,
        praise=0.05,
        turn_landmark=1.6,
        landmark_bonus=0.35,
        goal=0.03,
        rare_words=0.9,
        habits=ReferenceHabits(color=0.6, shape=0.35, material=0.5, relation=0.2, head_noun=0.1, far=0.6),
    ),
    Voice(
        "turn-counter",
        0.14,
        brevity=0,
        full_stop=0.6,
        turn_landmark=0.4,
        turn_bonus=0.45,
        subordinate=0.03,
        rare_words=1.1,
        habits=ReferenceHabits(color=0.25, shape=0.1, material=0.15, relation=0.06),
    ),
)
"""The voices of an English or Spanish season, in the order of `share`'s cumulative sum."""


def choose_voice(name: str | None, rng: np.random.Generator) -> Voice:
    """The voice of that name, or a random one."""
    if name is None:
        return VOICES[int(rng.choice(len(VOICES), p=[voice.share for voice in VOICES]))]
    for voice in VOICES:
        if voice.name == name:
            return voice
    raise BadArgument(f"voice must be one of {', '.join(voice.name for voice in VOICES)}, not {name!r}.")
