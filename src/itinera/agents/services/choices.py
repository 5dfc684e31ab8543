"""The style *choices*: numbered places to move to, with the map and the history so far, as MapGPT asks.

Places are numbered in the order in which they are first visible, and keep their numbers on a tour. The options are
letters, A to stop; the answer is a JSON object with the letter, and with a plan that comes back in the next question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from itinera.agents.services.prompts import (
    Question,
    Unparsable,
    clean_answer,
    describe_turn,
    encode_image,
    find_action,
    find_field,
)
from itinera.agents.services.scene_text import describe_viewpoint
from itinera.simulators.ground import wrap_angle
from itinera.simulators.simulator import STOP, Observation
from itinera.tasks import Instruction

LONGEST_PLAN = 500  # characters of the model's plan that come back to it
LONGEST_MAP = 60  # places of the map in a question, the last ones visited

# The image (height, width, 3) at a place of a world, towards a heading.
RenderView = Callable[[str, str, float], NDArray[np.uint8]]

SYSTEM = """\
You are a robot that carries out a navigation instruction inside a building. You move from place to place. At each \
step you are told where you are, what is visible, and which options you have. Choose the option that follows the \
instruction, or stop if you are at the place where the instruction ends. You cannot move any more after you stop, and \
you succeed only if you stop near the right place.

Answer with one JSON object and nothing else: {"thought": "why, in one or two sentences", "plan": "what is left of \
the instruction", "action": "the letter of one option"}"""

# A letter that stands for itself: "B", "(b)", "Option B", "B. go to Place 3", but not the "A" of "A door".
_STATED = re.compile(r"""[\s"'*(\[]*(?:option\s+)?(?:([A-Z]{1,2})(?=\s*(?:$|["'*.):,\]}]))|(stop)\b)""", re.IGNORECASE)
_ALONE = re.compile(r"\W*(?:option\s+)?(?:([A-Z]{1,2})|(stop)(?: here)?)\W*", re.IGNORECASE)


class ChoicesStyle:
    """Questions with numbered options: `columns` are the meanings of the numbers of a view, `render` draws options."""

    system = SYSTEM

    def __init__(self, columns: Sequence[str] = (), render: RenderView | None = None) -> None:
        self._columns, self._render = tuple(columns), render
        self._instruction = Instruction("")
        self.reset()

    def reset(self) -> None:
        self._numbers: dict[str, int] = {}  # of places, by node
        self._edges: dict[int, list[int]] = {}  # of visited places, in the order of the first visit
        self._forget_episode()

    def start_episode(self, instruction: Instruction) -> None:
        self._instruction = instruction
        self._forget_episode()

    def observe(self, observation: Observation) -> None:
        candidates = observation.candidates
        if candidates is None:
            return
        here = self._number(observation.place)
        self._edges[here] = [self._number(node) for node in candidates.nodes]

    def ask(self, observation: Observation) -> Question:
        self.observe(observation)
        candidates = observation.candidates
        assert candidates is not None
        here, scene = self._number(observation.place), describe_viewpoint(observation, self._columns)
        options, images = ["stop here"], []
        lines = ["A. stop here"]
        for k, node in enumerate(candidates.nodes):
            where = describe_turn(float(candidates.headings[k]) - observation.heading)
            visited = ", visited before" if self._number(node) in self._edges else ""
            option = f"go to Place {self._number(node)}, {where}, {float(candidates.distances[k]):.1f} m{visited}"
            options.append(option)
            more = f": {scene.options[k]}" if scene.options[k] else ""
            image = ""
            if self._render is not None:
                heading = float(candidates.headings[k])
                images.append(encode_image(self._render(observation.world_id, str(observation.place), heading)))
                image = f" (image {len(images)})"
            lines.append(f"{make_label(k + 1)}. {option}{image}{more}")
        self._options, self._here = options, here
        parts = [
            f"Instruction: {self._instruction.text}",
            self._describe_map(),
            "History: " + (" ".join(self._history) or "none, this is the start."),
            f"Your plan so far: {self._plan}" if self._plan else "",
            f"Step {len(self._history) + 1}. You are at Place {here}{f', in the {scene.room}' if scene.room else ''}."
            + (f" Around you: {scene.around}." if scene.around else ""),
            "Options:\n" + "\n".join(lines),
        ]
        return Question("\n\n".join(part for part in parts if part), tuple(images))

    def parse(self, answer: str, observation: Observation) -> Sequence[int]:
        text = clean_answer(answer)
        stated = find_action(text)
        found = _ALONE.fullmatch(text) if stated is None else _STATED.match(stated)
        if found is None:
            raise Unparsable("does not name an option")
        action = STOP if found[2] else parse_label(found[1])
        if action >= len(self._options):
            raise Unparsable(
                f"names option {found[1].upper()}, but the last one is {make_label(len(self._options) - 1)}"
            )
        self._plan = " ".join(find_field(text, "plan").split())[:LONGEST_PLAN]
        self._remember(action)
        return [action]

    def fall_back(self, rule: str, observation: Observation, rng: np.random.Generator) -> int:
        candidates = observation.candidates
        assert candidates is not None
        if not candidates.nodes:
            return STOP
        if rule == "forward":
            turns = [abs(wrap_angle(heading - observation.heading)) for heading in candidates.headings.tolist()]
            action = 1 + int(np.argmin(turns))
        else:
            action = 1 + int(rng.integers(len(candidates.nodes)))
        self._remember(action)
        return action

    def _remember(self, action: int) -> None:
        self._history.append(f"Step {len(self._history) + 1}: at Place {self._here}, {self._options[action]}.")

    def _describe_map(self) -> str:
        rows = list(self._edges.items())[-LONGEST_MAP:]
        return "Map: " + " ".join(
            f"Place {place} leads to {', '.join(f'Place {other}' for other in others) or 'no other'}."
            for place, others in rows
        )

    def _number(self, node: object) -> int:
        return self._numbers.setdefault(str(node), len(self._numbers))

    def _forget_episode(self) -> None:
        self._history: list[str] = []
        self._plan = ""
        self._options = []
        self._here = 0


def make_label(index: int) -> str:
    """The letter of an option, two from the 27th on.

    >>> make_label(0), make_label(25), make_label(26)
    ('A', 'Z', 'AA')
    """
    first, second = divmod(index, 26)
    return (chr(ord("A") + first - 1) if first else "") + chr(ord("A") + second)


def parse_label(label: str) -> int:
    """The index of an option with this letter.

    >>> [parse_label(make_label(k)) for k in (0, 1, 25, 26, 701)]
    [0, 1, 25, 26, 701]
    """
    index = 0
    for letter in label.upper():
        index = 26 * index + ord(letter) - ord("A") + 1
    return index - 1
