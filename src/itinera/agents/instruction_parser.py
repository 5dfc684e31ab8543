"""Parsing of an English instruction into clauses, by rules over its words. Start with `parse`.

The rules know the words for rooms, doors, stairs and directions; any other noun with an article is a landmark.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from itinera.hearth.language.semantics import Act, Clause, Reference
from itinera.hearth.language.vocabulary import COLOR_WORDS, OBJECT_NAMES, ORDINALS, ROOM_KINDS, SHAPE_WORDS


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=lambda word: (-len(word), word)))


_ROOM = re.compile(rf"\bthe (?:other )?({_any(ROOM_KINDS)})\b(?! (?!to\b|on\b|at\b|in\b|as\b|when\b|once\b)[a-z])")
_DOOR = re.compile(
    rf"\b(?:the|a)(?: ({_any(ORDINALS)}))?(?: wide)? (door|doorway|opening|archway)\b"
    r"(?: on(?: your| the)?(?: (left|right))?\b| (?:straight )?(ahead)\b| (in front) of you\b)?"
)
_LANDMARK = re.compile(
    r"\bthe ((?!end\b|far end\b|direction\b|top\b|bottom\b|left\b|right\b|other way\b|way\b)[a-z][a-z -]*)"
)
_AFTER_LANDMARK = re.compile(r"\b(?:on|on your|on the|to your|behind|as you|keeping|when|once)\b.*$")
_SIDE = re.compile(r"\b(?:on|to) (?:your|the) (left|right)\b")
_ON_A_SIDE = re.compile(r"\bon (?:your|the) (?:left|right)\b")
_UP = re.compile(r"\bupstairs\b|\bclimb\b|\b(?:up|top of) the (?:stairs|steps|staircase)\b|\bstairs up\b")
_DOWN = re.compile(r"\bdownstairs\b|\bdescend\b|\b(?:down|bottom of) the (?:stairs|steps|staircase)\b|\bstairs down\b")
_END = re.compile(r"\bend of the\b|\bto its end\b|\ball the way (?:down|across) the\b|\bto the end\b")
_LEAVE = re.compile(r"\b(?:leave|exit|out of|outside|through the|cross the)\b")
_PASS = re.compile(r"\b(?:past|pass|keep the|keeping|leave the|(?:walk|go|head|move) by)\b")
_TOWARDS = re.compile(r"\b(?:towards?|in the direction of|make for|facing)\b")
_STOP = re.compile(
    r"\b(?:stop|wait|halt|pause|finish|(?:is|reached) (?:your|the) (?:destination|end(?: ?point)?)|(?:have|'ve) arrived"
    r"|you are done)\b"
)
_OPENERS = re.compile(r"^(?:(?:then|next|now|after that|from there|once there|once through|finally|and)\b,? ?)+")
_TURN_AT = re.compile(r"^(.*\b(?:left|right|turn|around)\b.*?) at (the .+)$")
_BREAKS = re.compile(r"(,? and then |,? then |, and | and |, (?!keeping))")
_SLIGHT = re.compile(r"\b(?:slight|slightly|bear|veer|angle|a bit)\b")
# After turning around, what was behind on the left is on the right.
_MIRRORED = {"left": "sharp right", "right": "sharp left"}
_SHARP = re.compile(r"\b(?:sharp|sharply|hard|double back)\b")


def parse(text: str) -> list[Clause]:
    """The clauses of an instruction, in order; the last is a STOP."""
    clauses: list[Clause] = []
    for sentence in re.split(r"[.!?;]+", text.lower()):
        clauses += _sentence(_OPENERS.sub("", sentence.strip()))
    merged = list(_merge_stops(clauses))
    return merged if merged and merged[-1].act is Act.STOP else [*merged, Clause(Act.STOP)]


def _sentence(sentence: str) -> Iterator[Clause]:
    parts = [piece for part in _BREAKS.split(sentence) for piece in _place_first(part)]
    pending: Clause | None = None  # a direction that may belong to the next clause
    for k, part in enumerate(parts[::2]):
        clause = _clause(_OPENERS.sub("", part.strip()))
        if clause is None:
            continue
        link = parts[2 * k - 1].strip() if k else ""
        if pending is not None and link == "and" and clause.act is not Act.STOP:
            clause, pending = _combine_turn(pending, clause), None
        if pending is not None:
            yield pending
        pending = clause if clause.act is Act.GO else None
        if pending is None:
            yield clause
    if pending is not None:
        yield pending


def _place_first(part: str) -> list[str]:
    """ "turn left at the sofa" in order of execution: go to the sofa, then turn left."""
    found = _TURN_AT.match(part)
    return [f"at {found[2]}", ", then ", found[1]] if found else [part]


def _combine_turn(turn: Clause, clause: Clause) -> Clause:
    """A direction combined with the clause after it: "turn left and enter the kitchen"."""
    if clause.act is Act.GO and clause.turn not in ("", "forward"):
        return replace(clause, turn=_MIRRORED.get(clause.turn, clause.turn)) if turn.turn == "around" else clause
    return replace(clause, turn=turn.turn)


def _merge_stops(clauses: list[Clause]) -> Iterator[Clause]:
    """The clauses, with "stop and wait by the sofa" as one."""
    for clause, following in itertools.pairwise([*clauses, Clause(Act.GO)]):
        if clause.act is not Act.STOP or clause is clauses[-1]:
            yield clause
        elif following.act is not Act.STOP and clause.landmark is not None:
            yield replace(clause, act=Act.REACH)


def _clause(part: str) -> Clause | None:
    if not part:
        return None
    if _STOP.search(part):
        part = re.sub(r"\b(?:on|at the (?:top|bottom|foot) of) the stairs\b", "", part)
        return Clause(Act.STOP, landmark=_landmark(part), room=_room(part))
    part = part.replace("all the way around", "around")
    turn = _turn(part)
    door = _DOOR.search(part)
    if door:
        return replace(_through(door, turn), stride=_stride(part))
    for act, words in ((Act.UP, _UP), (Act.DOWN, _DOWN)):
        if words.search(part) and not _PASS.search(part) and not _TOWARDS.search(part):
            few = re.search(r"\bfew steps\b|\bpart of\b|\bstart\b", part)
            return Clause(act, turn, stride="short" if few else "")
    room = _room(part)
    if room:
        act = Act.END if _END.search(part) else Act.LEAVE if _LEAVE.search(part) else Act.ENTER
        return Clause(act, turn, room=room, stride=_stride(part))
    landmark = _landmark(part)
    if landmark is None:
        return Clause(Act.GO, turn, stride=_stride(part))
    if _PASS.search(part):
        return Clause(Act.PASS, turn, landmark=replace(landmark, side=""), side=_side(part))
    if _TOWARDS.search(part):
        return Clause(Act.TOWARDS, turn, landmark=landmark, stride=_stride(part))
    return Clause(Act.REACH, turn, landmark=landmark)


def _through(door: re.Match[str], turn: str) -> Clause:
    rank, noun, side, ahead, front = door.groups()
    where = side or ("ahead" if ahead or front else "")
    number = ORDINALS.index(rank) + 1 if rank else 0
    # A direction after the door is its position, not a turn.
    turn = "" if turn == "forward" and where == "ahead" else turn
    return Clause(Act.DOOR, turn, side=where, rank=number, wide=noun in ("opening", "archway"))


def _room(part: str) -> str:
    found = _ROOM.search(part)
    return ROOM_KINDS[found[1]] if found else ""


def _side(part: str) -> str:
    found = _SIDE.search(part)
    return found[1] if found else ""


def _turn(part: str) -> str:
    text = _ON_A_SIDE.sub("", part)
    side = re.search(r"\b(left|right)\b", text)
    if side:
        kind = "slight " if _SLIGHT.search(text) else "sharp " if _SHARP.search(text) else ""
        return kind + side[1]
    if re.search(r"\b(?:around|other way)\b", text):
        return "around"
    return "forward" if re.search(r"\b(?:straight|forward|ahead)\b", text) else ""


def _stride(part: str) -> str:
    if re.search(r"\b(?:little|small step|one step|just inside|just outside|just through)\b", part):
        return "short"
    return "long" if re.search(r"\b(?:long way|good stretch|well into|deep into)\b", part) else ""


def _landmark(part: str) -> Reference | None:
    found = [match[1] for match in _LANDMARK.finditer(part) if not _ROOM.match(match[0])]
    if not found:
        return None
    words = _AFTER_LANDMARK.sub("", found[-1]).split()
    color = next((word for word in words if word in COLOR_WORDS), "")
    shape = next((word for word in words[:-1] if word in SHAPE_WORDS), "")
    name = " ".join(word for word in words if word not in (color, shape))
    if name in ("", "thing"):
        return None
    return Reference(OBJECT_NAMES.get(name, name), color, shape, _side(part))
