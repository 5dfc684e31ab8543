"""What the styles of prompts share: the contract of a style, answers that name no action, and words for directions.

A style turns observations into a conversation, and the answer into actions; `chat_agent.py` does the rest.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from itinera.agents.services.answers import LONGEST_ANSWER
from itinera.rendering.png import encode_png
from itinera.simulators.ground import wrap_angle
from itinera.simulators.simulator import Observation
from itinera.tasks import Instruction

LONGEST_PARSED = 20_000  # characters of an answer, the last ones
MAX_OBJECTS = 20  # JSON objects of an answer that are looked at, the last ones
AHEAD = math.radians(22.5)
BEHIND = math.radians(157.5)

_THINKING = re.compile(r"^.*</think>", re.DOTALL)  # of models that write what they think into the answer
_OBJECT = re.compile(r"\{[^{}]*\}")
_AFTER_ACTION = re.compile(r'^.*\baction\b["*_ ]*[:=](.*)$', re.DOTALL | re.IGNORECASE)


class Unparsable(Exception):
    """An answer names no action that is possible here. Says why, after "The answer"."""


@dataclass(frozen=True)
class Question:
    """What is asked at a step: text, and images after it."""

    text: str
    images: tuple[str, ...] = ()  # data URLs


class PromptStyle(Protocol):
    """How a language model is asked, and how its answers are understood."""

    @property
    def system(self) -> str:
        """The rules, which are the same in all episodes."""
        ...

    def reset(self) -> None:
        """Forget everything: a new scene begins."""
        ...

    def start_episode(self, instruction: Instruction) -> None:
        """A new episode begins, perhaps in the same scene."""
        ...

    def observe(self, observation: Observation) -> None:
        """Take note of an observation that nothing is asked about."""
        ...

    def ask(self, observation: Observation) -> Question:
        """The question at a step, which takes note of the observation too."""
        ...

    def parse(self, answer: str, observation: Observation) -> Sequence[int]:
        """The actions that an answer names, at least one; raises Unparsable."""
        ...

    def fall_back(self, rule: str, observation: Observation, rng: np.random.Generator) -> int:
        """The action instead of an answer, by a rule: "forward" or "random"."""
        ...


def clean_answer(answer: str) -> str:
    """The answer without the thoughts before it; raises Unparsable if nothing is left, or it is too long."""
    if len(answer) >= LONGEST_ANSWER:
        raise Unparsable(f"has {LONGEST_ANSWER} characters or more")
    text = _THINKING.sub("", answer).strip()
    if text.startswith("<think>"):
        raise Unparsable("ends before the model has finished thinking")
    if not text:
        raise Unparsable("is empty")
    return text[-LONGEST_PARSED:]


def find_action(text: str) -> str | None:
    """The action that an answer states: of its last JSON object with one, else after the last "Action:".

    >>> find_action('{"thought": "the kitchen is ahead", "action": "B"}'), find_action("I think… Action: stop.")
    ('B', ' stop.')
    """
    for found in reversed(list(_OBJECT.finditer(text))[-MAX_OBJECTS:]):
        for name, value in _fields(found[0]):
            if name.lower() == "action":
                return " ".join(map(str, value)) if isinstance(value, list) else str(value)
    stated = _AFTER_ACTION.match(text)
    return None if stated is None else stated[1]


def find_field(text: str, name: str) -> str:
    """A text field of the last JSON object of an answer that has it; empty if none has."""
    for found in reversed(list(_OBJECT.finditer(text))[-MAX_OBJECTS:]):
        for key, value in _fields(found[0]):
            if key.lower() == name and isinstance(value, str):
                return value
    return ""


def _fields(text: str) -> Iterator[tuple[str, Any]]:
    try:
        yield from msgspec.json.decode(text, type=dict[str, Any]).items()
    except (msgspec.DecodeError, UnicodeEncodeError):
        return


def describe_turn(angle: float) -> str:
    """Where something lies, by the angle from straight ahead, radians counter-clockwise.

    >>> describe_turn(0.1), describe_turn(math.radians(60)), describe_turn(math.radians(-90)), describe_turn(3.1)
    ('ahead', '60° to the left', '90° to the right', 'behind')
    """
    angle = wrap_angle(angle)
    if abs(angle) <= AHEAD:
        return "ahead"
    if abs(angle) >= BEHIND:
        return "behind"
    return f"{round(math.degrees(abs(angle)))}° to the {'left' if angle > 0 else 'right'}"


def encode_image(rgb: NDArray[np.uint8]) -> str:
    """The data URL of an image (height, width, 3)."""
    return "data:image/png;base64," + base64.b64encode(encode_png(rgb)).decode("ascii")


def sample_evenly(images: Sequence[str], count: int) -> tuple[str, ...]:
    """At most this many of the images, the first one among them, evenly spaced."""
    if count == 0:
        return ()
    if len(images) <= count:
        return tuple(images)
    return tuple(images[k * len(images) // count] for k in range(count))
