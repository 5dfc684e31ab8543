"""Parsing of an English instruction into clauses, by rules over its words. Start with `parse`.

The rules know the words for rooms, doors, stairs and directions; any other noun with an article is a landmark, which
`reference_parser.py` takes apart.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace

from itinera.agents.reference_parser import (
    any_word,
    find_landmark,
    find_room,
    find_side,
    read_reference,
)
from itinera.hearth.language.references import LAST
from itinera.hearth.language.semantics import Act, Clause
from itinera.hearth.language.vocabulary import COLOR_NAMES, COLOR_WORDS, LAST_WORDS, ORDINALS, ROOM_KINDS, gerund

_STAIR = r"(?:stairs|steps|staircase|stairway|first flight(?: of stairs)?)"
_DOOR = re.compile(
    rf"\b(?:the|a)(?: ({any_word((*ORDINALS, *LAST_WORDS))}))?(?: ({any_word(COLOR_WORDS)}))?(?: (?:wide|open))* "
    r"(door|doorway|opening|archway|arch)\b"
    r"(?: (?:on|to)(?: your| the)? (left|right)\b(?! of)| (?:straight )?(ahead)(?: of you)?\b| (in front) of you\b)?"
    r"(?: (?:next to|beside|near|by|close to|adjacent to) (the .+))?"
)
_DOOR_TO = re.compile(rf"\b(?:door|doorway|entrance) (?:in|on)?to the (?:{any_word(ROOM_KINDS)})\b")
_DOORWAY_OF = re.compile(r"\b(?:in|just inside) the doorway(?: of (the [a-z -]+))?")
_ROOM_WITH = re.compile(rf"\bthe (room|{any_word(ROOM_KINDS)}) with (the .+)")
_GOAL_ABOVE = re.compile(
    rf"^(.*\bthe (?:other )?(?:{any_word(ROOM_KINDS)})) (upstairs|downstairs|on the floor above|on the floor below)$"
)
_UP = re.compile(
    rf"\bupstairs\b|\bclimb\b|\bascend\b|\bmount\b|\b(?:up|top of) the {_STAIR}\b|\bstairs up\b"
    r"|\bup a couple of steps\b|\bup (?:one|to the next) (?:floor|level|storey)\b|\bup to the landing\b"
)
_DOWN = re.compile(
    rf"\bdownstairs\b|\bdescend\b|\b(?:down|bottom of) the {_STAIR}\b|\bstairs down\b|\bdown a couple of steps\b"
    r"|\bdown (?:one|to the next) (?:floor|level|storey)\b|\bdown to the landing\b"
)
_STAIR_PARTS = (
    ("landing", re.compile(r"\blanding\b|\bfirst flight\b")),
    ("floor", re.compile(r"\b(?:one|next) (?:floor|level|storey)\b|\bfloor (?:above|below)\b")),
    ("short", re.compile(r"\b(?:few|couple of) steps\b|\bpart of\b|\bstart\b")),
)
_END = re.compile(
    r"\bend of the\b|\bto its end\b|\ball the way (?:down|across) the\b|\bto the (?:other )?end\b|\bfull length of\b"
)
_LEAVE = re.compile(r"\b(?:leave|exit|out of|off|outside|away from|depart from|through the|cross the)\b")
_PASS = re.compile(
    r"\b(?:past|pass|passed|passing|bypass|alongside|keep the|keeping|leave the)\b|^(?:[a-z]+ |wend your way )by\b"
)
_TOWARDS = re.compile(r"\b(?:towards?|in the direction of|make for|aim for|facing|closer to)\b")
_SEE = re.compile(
    r"\buntil (?:you (?:can )?(?:see|spot|notice|glimpse|make out|catch sight of)\b"
    r"|the .+ comes? into (?:view|sight)\b)"
)
_INTO_VIEW = re.compile(r" comes? into (?:view|sight)")
_GOAL = re.compile(
    r"\b(?:your|the) (?:destination|goal|target|final stop) is\b|\b(?:you|we) are (?:going|heading) to\b|\bend up in\b"
)
_STOP = re.compile(
    r"(?:^stand|\b(?:stop|wait|halt|pause|finish|stay|remain|come to rest|(?:park|position|plant) yourself"
    r"|await further instructions|linger|settle|hold still|conclude|(?:is|reached) (?:your|the) "
    r"(?:destination|end(?: ?point)?)|(?:have|'ve) arrived|you are done))\b(?! straight| out of)"
)
_MOTION_VERBS = (
    *("walk", "go", "head", "move", "proceed", "continue", "step", "travel", "stroll", "march", "wander"),
    *("pace", "trek", "amble", "advance", "saunter", "venture", "stride", "hike", "mosey", "tread", "roam"),
    *("shuffle", "tiptoe", "scoot", "hustle", "sneak", "trot", "waltz", "meander", "wend", "inch", "turn"),
    *("take", "make", "enter", "exit", "leave", "pass", "cross", "approach", "keep", "carry", "face"),
    *("get", "come", "follow", "find", "climb", "ascend", "descend", "mount", "squeeze", "skirt", "duck"),
    *("slip", "pop", "traverse", "start", "depart", "navigate", "bypass", "press"),
)
_VERBS = {gerund(verb): verb for verb in (*_MOTION_VERBS, "let")}
_MOTION = re.compile(rf"\b(?:{any_word(_MOTION_VERBS)}|going|steps|way|xxx)\b")
_AVOID = re.compile(r"\b(?:do not|don't|without|avoid|avoiding|stay out of)\b")
_NOT_THE_ONE = re.compile(r"\bnot the (?:one|door|opening) (?:on|to) (?:the|your) (left|right)\b")
_OPENERS = re.compile(
    r"^(?:(?:then|next|now|after that|from there|from here|once there|once through|once done|once you are through"
    r"|finally|lastly|afterwards|after this|at that point|right after that|subsequently|immediately afterwards"
    r"|having done that|to finish|in the end|following that|on the other side|and|but|so)\b,? ?)+"
)
_CONDITION = re.compile(r"^(?:once|after|when|as soon as) you (?!are\b|have\b)")
_GERUND = re.compile(r"^(?:just after|after|upon) ([a-z]+ing)\b")
_FILLERS = re.compile(
    r"\b(?:please|simply|carefully|slowly|calmly|quickly|casually|kindly|quietly|cautiously"
    r"|now just|go ahead and|(?:be|make) sure to|(?:try|remember|it's best) to|you'll want to|you'll need to"
    r"|you (?:will have|need|ought|might want|are supposed) to|you've got to|you (?:should|can(?! see| make out))"
    r"|all you do is|i want you to|i'd like you to|i suggest you)\b,? ?"
)
_REMARKS = re.compile(
    r"\blet's get going\b|\bhow to get there\b|\btake a break now\b|\bwon't take long\b|\bgetting lost\b"
    r"|\bwaiting for you\b|\bexcuse the\b|\bthis place\b|\bhome today\b|\bwelcome to\b|\bthese instructions\b"
)
_TURN_AT = re.compile(r"^(.*\b(?:left|right|turn|around)\b.*?) (?:at|when you (?:reach|get to)) (the .+)$")
_BREAKS = re.compile(r"(,? and then |,? then |, and | and |, (?!keeping|which)| then (?=[a-z]))")
_ON_A_SIDE = re.compile(r"\b(?:on|to) (?:your|the) (?:left|right)\b(?= of)|\bon (?:your|the) (?:left|right)\b")
_BESIDE_ANCHOR = re.compile(r"\b(?:left|right) of (?=the)")
_TURN_TO = re.compile(r"\bto (?:your|the) (left|right)\b")
_SLIGHT = re.compile(r"\b(?:slight|slightly|bear|veer|angle|a bit|gently|gentle|diagonally|swerve)\b")
# After turning around, what was behind on the left is on the right.
_MIRRORED = {"left": "sharp right", "right": "sharp left"}
_SHARP = re.compile(r"\b(?:sharp|sharply|hard|double back|tight|hairpin)\b")


def parse(text: str) -> list[Clause]:
    """The clauses of an instruction, in order; the last is a STOP."""
    clauses: list[Clause] = []
    plain = text.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    for sentence in re.split(r"[.!?;]+", _FILLERS.sub("", plain)):
        _read_sentence(sentence.strip(), clauses)
    merged = list(_merge_stops(clauses))
    return merged if merged and merged[-1].act is Act.STOP else [*merged, Clause(Act.STOP)]


def _read_sentence(sentence: str, clauses: list[Clause]) -> None:
    """Append the clauses of a sentence."""
    sentence = re.sub(r"\b(through|out of|off) and (well )", r"\1 \2", sentence)
    text = re.sub(r"(between the [a-z' -]+?) and (the )", r"\1 & \2", _OPENERS.sub("", sentence))
    parts = [piece for part in _BREAKS.split(text) for piece in _expand(part)]
    pending: Clause | None = None  # a direction that may belong to the next clause
    for k, part in enumerate(parts[::2]):
        words = _CONDITION.sub("", _OPENERS.sub("", part.strip()))
        words = _GERUND.sub(lambda found: _VERBS.get(found[1], found[1]), words)
        if _warn(words, clauses):
            continue
        clause = _clause(words)
        if clause is None:
            continue
        link = parts[2 * k - 1].strip() if k else ""
        if pending is not None and link == "and" and clause.act is not Act.STOP:
            clauses[-1:] = [_combine_turn(pending, clause)]
        else:
            clauses.append(clause)
        pending = clauses[-1] if clauses[-1].act is Act.GO else None


def _warn(part: str, clauses: list[Clause]) -> bool:
    """Whether the part says where not to go; the last clause is changed accordingly."""
    door = _NOT_THE_ONE.search(part)
    room = find_room(part) if _AVOID.search(part) else ""
    if clauses and door:
        clauses[-1] = replace(clauses[-1], avoid_side=door[1])
    elif clauses and room:
        clauses[-1] = replace(clauses[-1], avoid=room)
    return bool(door or room)


def _expand(part: str) -> list[str]:
    """The part in order of execution: "turn left at the sofa" is to go to the sofa, then to turn left."""
    found = _TURN_AT.match(part)
    if found:
        return [f"at {found[2]}", ", then ", found[1]]
    above = _GOAL_ABOVE.match(part)
    if above and not _GOAL.search(part):
        stairs = "up the stairs" if above[2] in ("upstairs", "on the floor above") else "down the stairs"
        return [stairs, ", then ", above[1]]
    return [part]


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
    if not part or _REMARKS.search(part):
        return None
    if _GOAL.search(part):
        floor = (
            "up"
            if re.search(r"\bupstairs|above\b", part)
            else "down"
            if re.search(r"\bdownstairs|below\b", part)
            else ""
        )
        return Clause(Act.GOAL, room=find_room(part), floor=floor)
    if _SEE.search(part):
        return _until(part)
    if _STOP.search(part):
        return _stop(part)
    part = re.sub(r"\ball the way around\b|\bback around\b|\babout-face\b", "around", part)
    return _passage(part) or _landmark_clause(part)


def _until(part: str) -> Clause:
    words = _INTO_VIEW.sub("", part.split("until", 1)[1])
    room = find_room(words)
    return Clause(Act.SEE, room=room) if room else Clause(Act.SEE, landmark=find_landmark(words))


def _stop(part: str) -> Clause:
    part = re.sub(r"\b(?:on|at) the (?:(?:top|bottom|foot)(?: of)?(?: the)?|landing|stairs)(?: stairs)?\b", "", part)
    part = _DOORWAY_OF.sub(r"in \1", part)
    return Clause(Act.STOP, landmark=find_landmark(part), room=find_room(part))


def _passage(part: str) -> Clause | None:
    """A clause about a door, stairs or a room."""
    turn = _turn(part)
    inside = _ROOM_WITH.search(part)
    if inside:
        return Clause(Act.ENTER, turn, read_reference(inside[2]), ROOM_KINDS.get(inside[1], ""), stride=_stride(part))
    door = _DOOR.search(part)
    if door and not _DOOR_TO.search(part):
        return replace(_through(door, _turn(part.replace(door[0], ""))), stride=_stride(part))
    for act, words in ((Act.UP, _UP), (Act.DOWN, _DOWN)):
        if words.search(part) and not _PASS.search(part) and not _TOWARDS.search(part):
            stride = next((name for name, pattern in _STAIR_PARTS if pattern.search(part)), "")
            return Clause(act, turn, stride=stride)
    room = find_room(part)
    if room:
        through = _DOOR_TO.search(part)
        act = Act.END if _END.search(part) else Act.LEAVE if _LEAVE.search(part) and not through else Act.ENTER
        return Clause(act, turn, room=room, stride=_stride(part))
    if re.search(r"\bthe room\b", part) and _LEAVE.search(part):
        return Clause(Act.LEAVE, turn, stride=_stride(part))
    return None


def _landmark_clause(part: str) -> Clause | None:
    turn, landmark = _turn(part), find_landmark(part)
    if landmark is None:
        known = turn or _stride(part) or _MOTION.search(part)
        return Clause(Act.GO, turn, stride=_stride(part)) if known else None
    if _PASS.search(part):
        return Clause(Act.PASS, turn, landmark=replace(landmark, side=""), side=find_side(part))
    if _TOWARDS.search(part):
        return Clause(Act.TOWARDS, turn, landmark=landmark, stride=_stride(part))
    return Clause(Act.REACH, turn, landmark=landmark)


def _through(door: re.Match[str], turn: str) -> Clause:
    rank, color, noun, side, ahead, front, mark = door.groups()
    where = side or ("ahead" if ahead or front else "")
    number = 0 if not rank else LAST if rank in LAST_WORDS else ORDINALS.index(rank) + 1
    landmark = read_reference(mark) if mark else None
    wide = noun in ("opening", "archway", "arch")
    return Clause(Act.DOOR, turn, landmark, "", where, number, wide, color=COLOR_NAMES.get(color or "", ""))


def _turn(part: str) -> str:
    text = _BESIDE_ANCHOR.sub("", _ON_A_SIDE.sub("", part))
    side = re.search(r"\b(left|right)\b(?! (?:by|there|after|next))", text)
    if side:
        kind = "slight " if _SLIGHT.search(text) else "sharp " if _SHARP.search(text) else ""
        return kind + side[1]
    if re.search(r"\b(?:around|other way)\b", text):
        return "around"
    return "forward" if re.search(r"\b(?:straight|forwards?|ahead|onward)\b", text) else ""


def _stride(part: str) -> str:
    if re.search(r"\b(?:little|small step|one step|just inside|just onto|just off|just outside|just through)\b", part):
        return "short"
    return (
        "long"
        if re.search(r"\b(?:long way|good stretch|well (?:into|onto|away|past|beyond)|deep (?:into|onto))\b", part)
        else ""
    )
