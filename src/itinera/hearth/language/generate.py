"""Generation of instructions for paths, from scene descriptions. Start with `generate_instruction`."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.hearth.language.path_context import PathContext, Segment
from itinera.hearth.language.scene_description import SceneDescription
from itinera.hearth.language.segmentation import ORDINARY, STEPS, choose_segments
from itinera.hearth.language.semantics import Act, Clause, Reference, matching_objects, wrap_angle
from itinera.hearth.language.templates import Phraser
from itinera.worlds import Array

Detail = Literal["short", "ordinary", "steps"]
DETAILS: tuple[Detail, ...] = ("short", "ordinary", "steps")

OPENERS = ("", "", "", "", "", "", "Then", "Next,", "After that,", "Now")
LANDMARK_PROBABILITY = {"ordinary": 0.2, "steps": 0.6}  # probability of a landmark at a turn
FACING_ANGLE = 0.8  # radians from straight ahead within which an object is "in front of" the agent
WORD_SECONDS, LETTER_SECONDS = 0.15, 0.06  # seconds per word and per letter: about 2.3 words a second
WORD_GAP, SENTENCE_GAP = 0.02, 0.4  # seconds after a word, and after a full stop


@dataclass(frozen=True, eq=False)
class GeneratedInstruction:
    """An instruction, with the places and times at which its words are spoken along the path."""

    text: str
    words: tuple[str, ...]
    first: NDArray[np.int64]  # (words,) index of the first path node that a word belongs to
    last: NDArray[np.int64]  # (words,) index of the last one
    begins: Array  # (words,) seconds
    ends: Array  # (words,) seconds
    arrivals: tuple[tuple[str, float], ...]  # each node of the path and the speaker's arrival time there, seconds


@dataclass(frozen=True)
class Phrase:
    """Text about a section of the path."""

    text: str
    first: int
    last: int
    clause: Clause


def generate_instruction(
    descriptions: Mapping[str, SceneDescription],
    path: Sequence[str],
    heading: float,
    rng: np.random.Generator,
    *,
    detail: Detail,
) -> GeneratedInstruction:
    """An instruction for a path, for an agent with this initial heading.

    "short" names the goal, "ordinary" describes the route in few words, "steps" describes every step.
    """
    if len(path) < 2:
        raise BadArgument(f"A path needs at least two nodes to be described; got {len(path)}.")
    if detail not in DETAILS:
        raise BadArgument(f"detail must be one of {', '.join(DETAILS)}, not {detail!r}.")
    phraser = Phraser(rng, instruction=detail != "steps")
    context = PathContext(descriptions, path, heading)
    if detail == "short":
        phrases = _goal_phrases(context, Clause(Act.STOP, landmark=context.landmark_at_goal(rng)), phraser)
    else:
        segments = choose_segments(context, rng, STEPS if detail == "steps" else ORDINARY)
        phrases = _phrase_segments(
            context, segments, _turn_landmarks(context, segments, rng, LANDMARK_PROBABILITY[detail]), phraser
        )
    return _align(_join_sentences(phrases, phraser), path)


def _turn_landmarks(
    context: PathContext, segments: Sequence[Segment], rng: np.random.Generator, share: float
) -> dict[int, Reference]:
    """Landmarks at turning points, for a fraction of the turns: by the index of the node."""
    spots = {}
    for before, segment in itertools.pairwise(segments):
        clause = segment.clause
        plain = clause.act is Act.GO and not clause.stride and clause.turn not in ("forward", "around")
        if plain and before.clause.landmark is None and rng.random() < share:
            reference = context.landmark_at(segment.first, rng)
            if reference is not None:
                spots[segment.first] = reference
    return spots


def _phrase_segments(
    context: PathContext, segments: Sequence[Segment], spots: Mapping[int, Reference], phraser: Phraser
) -> list[Phrase]:
    *candidates, stop = segments
    before = candidates[-1].clause if candidates else stop.clause
    phrases = []
    for segment in candidates:
        spot = spots.get(segment.first)
        text = phraser.say(segment.clause) if spot is None else phraser.say_turn_at(segment.clause, spot)
        phrases.append(Phrase(text, segment.first, segment.last, segment.clause))
    return [*phrases, Phrase(_stop_phrase(context, stop.clause, before, phraser), stop.first, stop.last, stop.clause)]


def _stop_phrase(context: PathContext, clause: Clause, before: Clause, phraser: Phraser) -> str:
    goal, arrival = context.descriptions[-1], context.headings[-1]
    facing = False
    if clause.landmark is not None:
        objects = matching_objects(clause.landmark, goal, arrival)
        facing = bool(objects) and abs(wrap_angle(objects[0].heading - arrival)) < FACING_ANGLE
    entered = context.steps[-1].exit != "" and goal.room != context.descriptions[-2].room
    entering = entered and before.act in (Act.ENTER, Act.DOOR, Act.LEAVE)
    return phraser.say_stop(clause, before, facing=facing, room=goal.room, entering=entering)


def _goal_phrases(context: PathContext, stop: Clause, phraser: Phraser) -> list[Phrase]:
    """Only the goal, and the landmark there."""
    clause = Clause(Act.ENTER, room=context.descriptions[-1].room)
    ended = Phrase(_stop_phrase(context, stop, stop, phraser), context.end, context.end, stop)
    left = any(candidate.exit for candidate in context.steps)
    same = clause.room == context.descriptions[0].room
    if same and not left:
        if stop.landmark is None:
            return [replace(ended, first=0)]
        clause = Clause(Act.REACH, landmark=stop.landmark)
        return [Phrase(phraser.say(clause), 0, context.end, clause), replace(ended, text="stop there")]
    return [Phrase(phraser.goal(clause.room, other=same), 0, context.end, clause), ended]


def _join_sentences(phrases: Sequence[Phrase], phraser: Phraser) -> list[Phrase]:
    """The phrases as sentences: capitals, full stops, and connectives."""
    joined: list[Phrase] = []
    count = 0  # requests in the sentence so far
    opener = ""
    for k, phrase in enumerate(phrases):
        text = phrase.text
        if count == 0:
            if 0 < k < len(phrases) - 1 and not text.startswith(("at ", "when ")):
                opener = _opener(phrases[k - 1], opener, phraser)
                text = f"{opener} {text}".strip()
            text = text[0].upper() + text[1:]
        count += 1
        link = _link(phrase, phrases[k + 1], count, phraser) if k + 1 < len(phrases) else "."
        count = 0 if link == "." else count
        joined.append(replace(phrase, text=text + link))
    return joined


def _opener(before: Phrase, last: str, phraser: Phraser) -> str:
    """The beginning of a sentence, often empty, never the same twice in a row."""
    act = before.clause.act
    options = [*OPENERS, *("Once through,",) * (act is Act.DOOR)]
    if act in (Act.REACH, Act.ENTER):
        options += ["Once there,", "From there,"]
    return phraser.pick([option for option in options if option == "" or option != last])


def _link(phrase: Phrase, following: Phrase, count: int, phraser: Phraser) -> str:
    """The connective between two requests: a full stop, or words that join them."""
    spot = following.text.startswith(("at ", "when "))
    if spot or count >= 3 or phraser.chance(0.5 if count == 1 else 0.85):
        return "."
    # "Turn left and enter" would make the turn part of entering, and one "and" is enough in a request.
    free = not phrase.clause.turn and not following.clause.turn and count == 1
    return phraser.any((" and", " and", ", then", " and then") if free else (", then", ", and then"))


def _align(phrases: Sequence[Phrase], path: Sequence[str]) -> GeneratedInstruction:
    """The words with their places and times: a phrase is spoken while walking its section."""
    words: list[str] = []
    begins, ends, now = [], [], 0.0
    known = {0: 0.0}  # the speaker's arrival times at some nodes
    for phrase in phrases:
        known.setdefault(phrase.first, now)
        for word in phrase.text.split():
            words.append(word)
            begins.append(now)
            ends.append(round(now + WORD_SECONDS + LETTER_SECONDS * len(word), 3))
            now = round(ends[-1] + (SENTENCE_GAP if word.endswith(".") else WORD_GAP), 3)
        # The speaker arrives at the goal before the last word ends.
        known.setdefault(phrase.last, begins[-1] if phrase is phrases[-1] else now)
    times = np.interp(range(len(path)), list(known), list(known.values())).round(3)
    first = np.searchsorted(times, begins, side="right") - 1
    last = np.maximum(np.searchsorted(times, ends, side="left") - 1, first)
    arrivals = tuple(zip(path, times.tolist(), strict=True))
    return GeneratedInstruction(" ".join(words), tuple(words), first, last, np.array(begins), np.array(ends), arrivals)
