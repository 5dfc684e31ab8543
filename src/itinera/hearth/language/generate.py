"""Instructions for paths, made from what is seen and done along them. Start with `describe`."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.hearth.language.path_context import Leg, Scene
from itinera.hearth.language.scene_description import Outlook
from itinera.hearth.language.segmentation import ORDINARY, STEPS, choose_legs
from itinera.hearth.language.semantics import Act, Clause, Reference, things_meant, wrap
from itinera.hearth.language.templates import Voice
from itinera.worlds import Array

Detail = Literal["short", "ordinary", "steps"]
DETAILS: tuple[Detail, ...] = ("short", "ordinary", "steps")

OPENERS = ("", "", "", "", "", "", "Then", "Next,", "After that,", "Now")
SPOTS = {"ordinary": 0.2, "steps": 0.6}  # how often one is told where to turn
FACING = 0.8  # radians from straight ahead within which one stands in front of a thing
BREATH, LETTER = 0.15, 0.06  # seconds to begin a word, and for each of its letters: about 2.3 words a second
GAP, PAUSE = 0.02, 0.4  # seconds after a word, and after a full stop


@dataclass(frozen=True, eq=False)
class Wording:
    """An instruction, and where and when along the path each of its words is said."""

    text: str
    words: tuple[str, ...]
    first: NDArray[np.int64]  # (words,) the first place of the path a word belongs to
    last: NDArray[np.int64]  # (words,) the last
    begins: Array  # (words,) seconds
    ends: Array  # (words,) seconds
    stays: tuple[tuple[str, float], ...]  # each node of the path and when the speaker came to stand there, seconds


@dataclass(frozen=True)
class Piece:
    """Words said about a stretch of the path."""

    text: str
    first: int
    last: int
    clause: Clause


def describe(
    outlooks: Mapping[str, Outlook],
    path: Sequence[str],
    heading: float,
    rng: np.random.Generator,
    *,
    detail: Detail,
) -> Wording:
    """An instruction for walking the path, for someone who faces that way at its start.

    "short" tells the goal, "ordinary" the way in few words, "steps" every step.
    """
    if len(path) < 2:
        raise BadArgument(f"A path of {len(path)} places needs no words. Give at least two.")
    if detail not in DETAILS:
        raise BadArgument(f"{detail!r} is no level of detail. Choose one of {', '.join(DETAILS)}.")
    voice = Voice(rng, instruction=detail != "steps")
    scene = Scene(outlooks, path, heading)
    if detail == "short":
        pieces = _goal(scene, Clause(Act.STOP, thing=scene.near_goal(rng)), voice)
    else:
        legs = choose_legs(scene, rng, STEPS if detail == "steps" else ORDINARY)
        pieces = _told(scene, legs, _spots(scene, legs, rng, SPOTS[detail]), voice)
    return _aligned(_joined(pieces, voice), path)


def _spots(scene: Scene, legs: Sequence[Leg], rng: np.random.Generator, share: float) -> dict[int, Reference]:
    """What stands where one turns, for a share of the turns: by the place's number."""
    spots = {}
    for before, leg in itertools.pairwise(legs):
        clause = leg.clause
        plain = clause.act is Act.GO and not clause.stride and clause.turn not in ("forward", "around")
        if plain and before.clause.thing is None and rng.random() < share:
            reference = scene.beside(leg.first, rng)
            if reference is not None:
                spots[leg.first] = reference
    return spots


def _told(scene: Scene, legs: Sequence[Leg], spots: Mapping[int, Reference], voice: Voice) -> list[Piece]:
    *candidates, stop = legs
    before = candidates[-1].clause if candidates else stop.clause
    pieces = []
    for leg in candidates:
        spot = spots.get(leg.first)
        text = voice.say(leg.clause) if spot is None else voice.say_turn_at(leg.clause, spot)
        pieces.append(Piece(text, leg.first, leg.last, leg.clause))
    return [*pieces, Piece(_stop(scene, stop.clause, before, voice), stop.first, stop.last, stop.clause)]


def _stop(scene: Scene, clause: Clause, before: Clause, voice: Voice) -> str:
    goal, arrival = scene.outlooks[-1], scene.headings[-1]
    facing = False
    if clause.thing is not None:
        things = things_meant(clause.thing, goal, arrival)
        facing = bool(things) and abs(wrap(things[0].heading - arrival)) < FACING
    entered = scene.steps[-1].through != "" and goal.room != scene.outlooks[-2].room
    entering = entered and before.act in (Act.ENTER, Act.DOOR, Act.LEAVE)
    return voice.say_stop(clause, before, facing=facing, room=goal.room, entering=entering)


def _goal(scene: Scene, stop: Clause, voice: Voice) -> list[Piece]:
    """Only where to end, and by what."""
    clause = Clause(Act.ENTER, room=scene.outlooks[-1].room)
    ended = Piece(_stop(scene, stop, stop, voice), scene.end, scene.end, stop)
    left = any(way.through for way in scene.steps)
    same = clause.room == scene.outlooks[0].room
    if same and not left:
        if stop.thing is None:
            return [replace(ended, first=0)]
        clause = Clause(Act.REACH, thing=stop.thing)
        return [Piece(voice.say(clause), 0, scene.end, clause), replace(ended, text="stop there")]
    return [Piece(voice.goal(clause.room, other=same), 0, scene.end, clause), ended]


def _joined(pieces: Sequence[Piece], voice: Voice) -> list[Piece]:
    """The pieces as sentences: capitals, full stops, and words between."""
    joined: list[Piece] = []
    count = 0  # requests in the sentence so far
    opener = ""
    for k, piece in enumerate(pieces):
        text = piece.text
        if count == 0:
            if 0 < k < len(pieces) - 1 and not text.startswith(("at ", "when ")):
                opener = _opener(pieces[k - 1], opener, voice)
                text = f"{opener} {text}".strip()
            text = text[0].upper() + text[1:]
        count += 1
        link = _link(piece, pieces[k + 1], count, voice) if k + 1 < len(pieces) else "."
        count = 0 if link == "." else count
        joined.append(replace(piece, text=text + link))
    return joined


def _opener(before: Piece, last: str, voice: Voice) -> str:
    """How a sentence begins after a piece, not twice in a row the same way; often with nothing."""
    act = before.clause.act
    options = [*OPENERS, *("Once through,",) * (act is Act.DOOR)]
    if act in (Act.REACH, Act.ENTER):
        options += ["Once there,", "From there,"]
    return voice.pick([option for option in options if option == "" or option != last])


def _link(piece: Piece, following: Piece, count: int, voice: Voice) -> str:
    """What stands between two requests: a full stop, or words that join them."""
    spot = following.text.startswith(("at ", "when "))
    if spot or count >= 3 or voice.chance(0.5 if count == 1 else 0.85):
        return "."
    # "Turn left and enter" would make the turn a part of entering, and one "and" is enough in a request.
    free = not piece.clause.turn and not following.clause.turn and count == 1
    return voice.any((" and", " and", ", then", " and then") if free else (", then", ", and then"))


def _aligned(pieces: Sequence[Piece], path: Sequence[str]) -> Wording:
    """The words with their places and times: a piece is said while walking its stretch."""
    words: list[str] = []
    begins, ends, now = [], [], 0.0
    known = {0: 0.0}  # when the speaker came to places
    for piece in pieces:
        known.setdefault(piece.first, now)
        for word in piece.text.split():
            words.append(word)
            begins.append(now)
            ends.append(round(now + BREATH + LETTER * len(word), 3))
            now = round(ends[-1] + (PAUSE if word.endswith(".") else GAP), 3)
        # One stands at the goal before the last word is over.
        known.setdefault(piece.last, begins[-1] if piece is pieces[-1] else now)
    times = np.interp(range(len(path)), list(known), list(known.values())).round(3)
    first = np.searchsorted(times, begins, side="right") - 1
    last = np.maximum(np.searchsorted(times, ends, side="left") - 1, first)
    stays = tuple(zip(path, times.tolist(), strict=True))
    return Wording(" ".join(words), tuple(words), first, last, np.array(begins), np.array(ends), stays)
