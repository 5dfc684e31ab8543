"""The style *words*: moves on the ground in words, as VLN-CE's language models give them, several steps in an answer.

"move forward 75 cm", "turn left 30 degrees", "stop", sequences of these, and the arrows of StreamVLN (↑ ← →). An answer
must consist of moves, but for what the released models always say around them: no word is taken for a move because it
occurs in a sentence, least of all STOP.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

import numpy as np

from itinera.agents.services.prompts import (
    Question,
    Unparsable,
    clean_answer,
    encode_image,
    find_action,
    sample_evenly,
)
from itinera.agents.services.scene_text import describe_image
from itinera.errors import BadArgument
from itinera.simulators.ground import FORWARD, LEFT, RIGHT
from itinera.simulators.simulator import STOP, Observation
from itinera.tasks import Instruction, Protocol
from itinera.worlds import World

MAX_ACTIONS = 100  # of one answer; no sensible answer takes more
MAX_ANSWERS = 20  # earlier ones in a question
ARROWS = {"↑": FORWARD, "←": LEFT, "→": RIGHT}

SYSTEM = """\
You are a robot that carries out a navigation instruction inside a building. At each step you receive what the camera \
in front of you shows, and decide how to move next: "move forward 75 cm" (any distance), "turn left 30 degrees", \
"turn right 45 degrees" (any angle), or "stop" if you are at the place where the instruction ends. Steps are \
{step:.0f} cm and turns {turn:.0f} degrees; you may give several moves, separated by commas. You cannot move any more \
after you stop, and you succeed only if you stop near the right place.

You may explain your decision in one or two sentences. End your answer with a line of the form:
Action: move forward 75 cm"""

_NUMBER = r"(\d{1,6}(?:\.\d{1,6})?)"
_MOVE = re.compile(
    rf"(?:(?:move|go|walk|step)\s+)?(?:straight\s+)?(?:forwards?|ahead)(?:\s+(?:by\s+|for\s+)?{_NUMBER}"
    r"\s*(cm|centimet(?:er|re)s?|m|met(?:er|re)s?)(?![a-z]))?",
    re.IGNORECASE,
)
_TURN = re.compile(
    rf"(?:(?:turn|rotate)\s+)?(?:to\s+the\s+)?(left|right)(?:\s+(?:by\s+)?{_NUMBER}\s*(?:°|deg(?:rees?)?(?![a-z])|))?",
    re.IGNORECASE,
)
_STOP = re.compile(r"stop(?:\s+because\b.*)?", re.IGNORECASE | re.DOTALL)
_ARROW = re.compile("[↑←→]")
_OPENING = re.compile(
    r"[\s\"'*`:]*(?:(?:the\s+)?next\s+actions?\s+(?:is|are)|i\s+think\s+i\s+should)?[\s:\"']*", re.IGNORECASE
)
_GAP = re.compile(r"[\s,;.\"'*`}\]]*(?:(?:and\s+)?then\b|and\b)?[\s,]*", re.IGNORECASE)


def parse_moves(text: str, protocol: Protocol) -> list[int]:
    """The actions of a sequence of moves; raises Unparsable unless the text consists of them.

    >>> from itinera.tasks import PROTOCOLS
    >>> parse_moves("The next action is move forward 75 cm.", PROTOCOLS["r2r-ce"])
    [1, 1, 1]
    >>> parse_moves("turn left 30 degrees, then stop", PROTOCOLS["r2r-ce"]), parse_moves("↑→STOP", PROTOCOLS["r2r-ce"])
    ([2, 2, 0], [1, 3, 0])
    """
    actions: list[int] = []
    position, opening = 0, _OPENING.match(text)
    if opening is not None:
        position = opening.end()
    while position < len(text):
        found = _parse_move(text, position, protocol)
        if found is None:
            raise Unparsable(f"is not a sequence of moves: {_short(text)}")
        count, action, end = found
        if len(actions) + count > MAX_ACTIONS:
            raise Unparsable(f"names more than {MAX_ACTIONS} actions: {_short(text)}")
        actions += [action] * count
        gap = _GAP.match(text, end)
        position = end if gap is None else gap.end()
        if action == STOP:
            break
    if not actions or text[position:].strip():
        raise Unparsable(f"is not a sequence of moves: {_short(text)}" if text.strip() else "names no move")
    return actions


def _parse_move(text: str, position: int, protocol: Protocol) -> tuple[int, int, int] | None:
    """How often which action the move at a position is, and where it ends; None if there is none."""
    assert protocol.step_size is not None
    assert protocol.turn_angle is not None
    if found := _STOP.match(text, position):
        # "stopping" and "stop at the door" are no moves.
        end = found.end()
        return None if text[end : end + 1].isalnum() else (1, STOP, end)
    if found := _ARROW.match(text, position):
        return 1, ARROWS[found[0]], found.end()
    if found := _TURN.match(text, position):
        angle = float(found[2]) if found[2] else math.degrees(protocol.turn_angle)
        count = _count(angle, math.degrees(protocol.turn_angle))
        return count, LEFT if found[1].lower() == "left" else RIGHT, found.end()
    if found := _MOVE.match(text, position):
        unit = 1.0 if not found[2] or found[2].lower().startswith("m") else 0.01
        distance = float(found[1]) * unit if found[1] else protocol.step_size
        return _count(distance, protocol.step_size), FORWARD, found.end()
    return None


def _count(amount: float, unit: float) -> int:
    """How many steps come nearest to an amount; at least one unless the amount is 0."""
    return 0 if amount == 0 else max(1, round(amount / unit))


def _short(text: str, max_length: int = 80) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= max_length else f"{line[:max_length]}…")


class GroundHistory:
    """What a style on the ground remembers of an episode: the images of earlier questions and the answers."""

    def __init__(self, history: int) -> None:
        self._history = history
        self.start_episode(Instruction(""))

    def start_episode(self, instruction: Instruction) -> None:
        """Forget the episode before."""
        self.instruction = instruction
        self._images: list[str] = []
        self._answers: list[str] = []

    def question(self, observation: Observation, text: str) -> Question:
        """The question with the images before and now, if there are any, and what is visible in words."""
        frame = observation.frame
        images: tuple[str, ...] = ()
        if frame is not None and len(frame.rgb):
            now = encode_image(frame.rgb)
            images = (*sample_evenly(self._images, self._history), now)
            self._images.append(now)
        shown = "The image is what you see now."
        if len(images) > 1:
            shown = f"The first {len(images) - 1} images are earlier ones, in order; the last is what you see now."
        answers = "; ".join(self._answers[-MAX_ANSWERS:]) or "none, this is the start"
        parts = [
            f"Instruction: {self.instruction.text}",
            f"Your moves so far{' (the last ones)' if len(self._answers) > MAX_ANSWERS else ''}: {answers}.",
            shown if images else "",
            text,
            "The last step hit an obstacle." if observation.collided else "",
        ]
        return Question("\n\n".join(part for part in parts if part), images)

    def remember(self, answer: str) -> None:
        """Take note of an answer that was carried out."""
        self._answers.append(answer)


def describe_moves(actions: Sequence[int], protocol: Protocol) -> str:
    """Actions in words, equal ones together.

    >>> from itinera.tasks import PROTOCOLS
    >>> describe_moves([1, 1, 1, 2, 0], PROTOCOLS["r2r-ce"])
    'move forward 75 cm, turn left 15 degrees, stop'
    """
    assert protocol.step_size is not None
    assert protocol.turn_angle is not None
    runs: list[list[int]] = []
    for action in actions:
        if runs and runs[-1][0] == action:
            runs[-1][1] += 1
        else:
            runs.append([action, 1])
    words = []
    for action, count in runs:
        if action == STOP:
            words.append("stop")
        elif action == FORWARD:
            words.append(f"move forward {100 * count * protocol.step_size:.0f} cm")
        else:
            side = "left" if action == LEFT else "right"
            words.append(f"turn {side} {math.degrees(count * protocol.turn_angle):.0f} degrees")
    return ", ".join(words)


def fall_back_on_ground(rule: str, rng: np.random.Generator) -> int:
    """The step by a rule: ahead, or one of ahead, left and right."""
    return FORWARD if rule == "forward" else int(rng.choice([FORWARD, LEFT, RIGHT]))


class WordsStyle:
    """Questions with the images of the camera, or with words for them if it renders no colors."""

    def __init__(self, protocol: Protocol, worlds: Mapping[str, World], *, history: int) -> None:
        if protocol.step_size is None or protocol.turn_angle is None:
            raise BadArgument(f"Protocol {protocol.name} has no step size and turn angle: --prompt words needs both.")
        self._protocol, self._worlds = protocol, worlds
        self._memory = GroundHistory(history)
        self.system = SYSTEM.format(step=100 * protocol.step_size, turn=math.degrees(protocol.turn_angle))

    def reset(self) -> None:
        self._memory.start_episode(Instruction(""))

    def start_episode(self, instruction: Instruction) -> None:
        self._memory.start_episode(instruction)

    def observe(self, observation: Observation) -> None:
        """Nothing: images are those of questions."""

    def ask(self, observation: Observation) -> Question:
        frame, text = observation.frame, ""
        if frame is not None and len(frame.instances) and len(frame.depth):
            text = describe_image(observation, self._worlds[observation.world_id])
        return self._memory.question(observation, text)

    def parse(self, answer: str, observation: Observation) -> Sequence[int]:
        text = clean_answer(answer)
        stated = find_action(text)
        actions = parse_moves(text if stated is None else stated, self._protocol)
        self._memory.remember(describe_moves(actions, self._protocol))
        return actions

    def fall_back(self, rule: str, observation: Observation, rng: np.random.Generator) -> int:
        action = fall_back_on_ground(rule, rng)
        self._memory.remember(describe_moves([action], self._protocol))
        return action
