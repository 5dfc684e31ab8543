"""Generation of instructions for paths, from scene descriptions. Start with `generate_instruction`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.hearth.language.english import EnglishSpeaker
from itinera.hearth.language.faults import add_faults
from itinera.hearth.language.path_context import PathContext, Segment
from itinera.hearth.language.references import Reference, matching_objects, wrap_angle
from itinera.hearth.language.scene_description import SceneDescription
from itinera.hearth.language.segmentation import ORDINARY, STEPS, choose_segments
from itinera.hearth.language.semantics import Act, Clause
from itinera.hearth.language.sentences import Phrase, Speaker, join_phrases
from itinera.hearth.language.spanish import SpanishSpeaker, can_name_in_spanish
from itinera.hearth.language.voices import choose_voice
from itinera.worlds import Array

Detail = Literal["short", "ordinary", "steps"]
DETAILS: tuple[Detail, ...] = ("short", "ordinary", "steps")

Language = Literal["en", "es"]
LANGUAGES: tuple[Language, ...] = ("en", "es")
LANGUAGE_TAGS: Mapping[str, str] = MappingProxyType({"en": "en-US", "es": "es-ES"})
"""RxR's tag of each language."""

_SPEAKERS: Mapping[str, Callable[..., Speaker]] = MappingProxyType({"en": EnglishSpeaker, "es": SpanishSpeaker})
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
    language: str = "en-US"  # as RxR writes it


def generate_instruction(
    descriptions: Mapping[str, SceneDescription],
    path: Sequence[str],
    heading: float,
    rng: np.random.Generator,
    *,
    detail: Detail,
    voice: str | None = None,
    language: Language = "en",
    faults: float = 0.0,
) -> GeneratedInstruction:
    """An instruction for a path, for an agent with this initial heading.

    "short" names the goal, "ordinary" describes the route in few words, "steps" describes every step. The voice is one
    of `voices.VOICES`, a random one by default. `faults` is the probability per word of the small faults that people
    make when they write; verified text has none.
    """
    if len(path) < 2:
        raise BadArgument(f"A path needs at least two nodes to be described; got {len(path)}.")
    if detail not in DETAILS:
        raise BadArgument(f"detail must be one of {', '.join(DETAILS)}, not {detail!r}.")
    if language not in _SPEAKERS:
        raise BadArgument(f"language must be one of {', '.join(_SPEAKERS)}, not {language!r}.")
    chosen = choose_voice(voice, rng)
    speaker = _SPEAKERS[language](rng, chosen, brief=detail != "steps")
    habits = replace(chosen.habits, can_name=can_name_in_spanish) if language == "es" else chosen.habits
    context = PathContext(descriptions, path, heading, habits)
    goal = context.landmark_at_goal(rng) if detail == "short" else None
    if detail == "short" and (goal is not None or context.leaves_room()):
        phrases = _goal_phrases(context, Clause(Act.STOP, landmark=goal), speaker)
    else:  # a goal without a name has to be described by the way there
        segments = choose_segments(context, rng, chosen.adjust(STEPS if detail == "steps" else ORDINARY))
        segments = [_warn(context, segment, speaker) for segment in segments]
        share = min(LANDMARK_PROBABILITY.get(detail, LANDMARK_PROBABILITY["ordinary"]) * chosen.turn_landmark, 1.0)
        phrases = _phrase_segments(context, segments, _turn_landmarks(context, segments, rng, share), speaker)
    sentences = join_phrases(phrases, speaker)
    if faults > 0:
        sentences = [
            replace(phrase, text=text)
            for phrase, text in zip(sentences, add_faults([p.text for p in sentences], faults, rng), strict=True)
        ]
    return _align(sentences, path, LANGUAGE_TAGS[language])


def _warn(context: PathContext, segment: Segment, speaker: Speaker) -> Segment:
    """The segment, sometimes with a room not to enter: one behind a door that the path passes by."""
    clause = segment.clause
    if (
        clause.act in (Act.STOP, Act.DOOR)
        or clause.avoid
        or clause.stride
        or not speaker.sampler.chance(speaker.sampler.voice.warning)
    ):
        return segment
    here = context.descriptions[segment.first]
    entered = {here.room, clause.room, *(step.room for step in context.steps[segment.first : segment.last])}
    rooms = [way.room for way in here.candidates if way.exit and way.room not in entered]
    return replace(segment, clause=replace(clause, avoid=rooms[0])) if rooms else segment


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
    context: PathContext, segments: Sequence[Segment], spots: Mapping[int, Reference], speaker: Speaker
) -> list[Phrase]:
    *candidates, stop = segments
    before = candidates[-1].clause if candidates else stop.clause
    phrases = [_say_segment(segment, spots.get(segment.first), speaker) for segment in candidates]
    if speaker.sampler.chance(speaker.sampler.voice.goal) and stop.first == stop.last:
        clause = Clause(Act.GOAL, room=context.descriptions[-1].room, floor=_goal_floor(context))
        phrases.insert(0, Phrase(speaker.state_goal(clause.room, floor=clause.floor), 0, 0, clause, fixed=True))
    return [*phrases, Phrase(_stop_phrase(context, stop.clause, before, speaker), stop.first, stop.last, stop.clause)]


def _say_segment(segment: Segment, spot: Reference | None, speaker: Speaker) -> Phrase:
    clause = segment.clause
    if spot is not None:
        return Phrase(speaker.say_turn_at(clause, spot), segment.first, segment.last, clause, fixed=True)
    elliptic = not clause.stride and clause.turn != "around" and speaker.sampler.chance(speaker.sampler.voice.ellipsis)
    return Phrase(speaker.say(clause, elliptic=elliptic), segment.first, segment.last, clause, fixed=elliptic)


def _goal_floor(context: PathContext) -> str:
    """Whether the path ends on a higher or lower storey: "up", "down" or empty."""
    climb = sum(step.climb for step in context.steps)
    return "up" if climb > 0 else "down" if climb < 0 else ""


def _stop_phrase(context: PathContext, clause: Clause, before: Clause, speaker: Speaker) -> str:
    goal, arrival = context.descriptions[-1], context.headings[-1]
    facing = False
    if clause.landmark is not None:
        objects = matching_objects(clause.landmark, goal, arrival)
        facing = bool(objects) and abs(wrap_angle(objects[0].heading - arrival)) < FACING_ANGLE
    entered = context.steps[-1].exit != "" and goal.room != context.descriptions[-2].room
    entering = entered and before.act in (Act.ENTER, Act.DOOR, Act.LEAVE)
    return speaker.say_stop(clause, before, facing=facing, room=goal.room, entering=entering)


def _goal_phrases(context: PathContext, stop: Clause, speaker: Speaker) -> list[Phrase]:
    """Only the goal, and the landmark there."""
    clause = Clause(Act.ENTER, room=context.descriptions[-1].room)
    ended = Phrase(_stop_phrase(context, stop, stop, speaker), context.end, context.end, stop)
    same = clause.room == context.descriptions[0].room
    if same and not context.leaves_room():
        clause = Clause(Act.REACH, landmark=stop.landmark)
        return [Phrase(speaker.say(clause), 0, context.end, clause), replace(ended, text=speaker.say_stop_here())]
    text = speaker.say_goal(clause.room, other=same, floor=_goal_floor(context))
    return [Phrase(text, 0, context.end, clause, fixed=True), ended]


def _align(phrases: Sequence[Phrase], path: Sequence[str], language: str) -> GeneratedInstruction:
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
            now = round(ends[-1] + (SENTENCE_GAP if word.endswith((".", "!", "?")) else WORD_GAP), 3)
        # The speaker arrives at the goal before the last word ends.
        known.setdefault(phrase.last, begins[-1] if phrase is phrases[-1] else now)
    times = np.interp(range(len(path)), list(known), list(known.values())).round(3)
    first = np.searchsorted(times, begins, side="right") - 1
    last = np.maximum(np.searchsorted(times, ends, side="left") - 1, first)
    arrivals = tuple(zip(path, times.tolist(), strict=True))
    times_of_words = np.array(begins), np.array(ends)
    return GeneratedInstruction(" ".join(words), tuple(words), first, last, *times_of_words, arrivals, language)
