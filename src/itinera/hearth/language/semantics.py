"""Semantics of clauses: how well each candidate fits a clause, and when the clause is done. Start with `Clause`.

The generator checks with it whether a clause is unambiguous; the rule-based agent decides with it what to do. Both know
only the scene description, the heading, and the movement since the clause began.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import Enum

from itinera.hearth.language.references import (
    LAST,
    NEAR_ANCHOR,
    Reference,
    matching_objects,
    relative_side,
    wrap_angle,
)
from itinera.hearth.language.scene_description import (
    DescribedCandidate,
    DescribedDoor,
    DescribedObject,
    SceneDescription,
)
from itinera.hearth.language.vocabulary import TURNS

Point = tuple[float, float]  # metres, relative to the start of the clause

DIRECTION_TOLERANCE = math.radians(30)  # tolerance of a stated direction
TARGET_TOLERANCE = math.radians(20)  # tolerance of the direction to a visible object
MIN_GAIN = 0.3  # metres by which a step must reduce the distance to count
MAX_PASS_DISTANCE = 2.8  # metres, the maximum distance for passing an object
ONWARD_ANGLE = math.radians(40)  # tolerance of going straight on
BACK_ANGLE = math.radians(150)  # anything farther around is where the agent came from
ALTERNATIVE = 0.3  # fraction of the best score from which a candidate is an alternative
NO_EVIDENCE = 0.02  # the score of a candidate without evidence
AVOIDED = 0.05  # factor for a candidate in a room that the clause says not to enter
LANDING_ANGLE = math.radians(50)  # stairs that turn by more than this have a landing
STAIRS = "s"  # the kind of room of a stairwell


class Act(Enum):
    """The kinds of clauses."""

    GO = "go"  # one step in a direction
    TOWARDS = "towards"  # one step towards an object
    REACH = "reach"  # repeatedly, as long as the distance to an object decreases
    PASS = "pass"  # a step that passes an object on one side
    ENTER = "enter"  # into a kind of room
    LEAVE = "leave"  # out of this room
    DOOR = "door"  # to a door or opening, and through it
    END = "end"  # straight on, to the end of the room
    UP = "up"  # to the top of the stairs
    DOWN = "down"  # to the bottom of the stairs
    SEE = "see"  # straight on, until an object or a room comes into view
    GOAL = "goal"  # no step: the statement where the path ends
    STOP = "stop"  # here, or as near to an object as possible


@dataclass(frozen=True)
class Clause:
    """One step of an instruction."""

    act: Act
    turn: str = ""  # a key of TURNS for the first step; empty if not mentioned
    landmark: Reference | None = None  # for a door, the object next to it; for a room, an object in it
    room: str = ""  # the kind to enter, or to leave
    side: str = ""  # of a door, or of an object to pass: "left", "right", or "ahead" for a door
    rank: int = 0  # which door on that side, from 1; LAST for the farthest; 0 for the only one
    wide: bool = False  # an opening rather than a door
    stride: str = ""  # "short" or "long": among fitting candidates, the nearer or farther one; a key of STAIR_PARTS
    avoid: str = ""  # the kind of room not to enter
    avoid_side: str = ""  # the side of the door not to take
    color: str = ""  # of a door
    floor: str = ""  # of a goal: "up" or "down" for another storey


STAIR_PARTS = ("", "short", "landing", "floor")
"""Parts of stairs: all the way, some steps, up to the landing, one storey."""


@dataclass(frozen=True)
class Progress:
    """The execution state of a clause."""

    heading: float  # current heading
    has_moved: bool  # whether a step was taken before, so that turning back would undo it
    position: Point = (0.0, 0.0)
    moves: int = 0
    crossed: bool = False  # whether a step left a room
    climbed: bool = False
    target: Point | None = None  # the position of the landmark or door, once it has been identified

    def advance(self, candidate: DescribedCandidate) -> Progress:
        dx, dy = candidate.offset
        return Progress(
            candidate.heading,
            True,
            (self.position[0] + dx, self.position[1] + dy),
            self.moves + 1,
            self.crossed or candidate.exit != "",
            self.climbed or candidate.climb != 0,
            self.target,
        )

    def with_target(self, seen: DescribedObject | DescribedDoor) -> Progress:
        """The progress with an identified target."""
        there = (self.position[0] + seen.offset[0], self.position[1] + seen.offset[1])
        return Progress(self.heading, self.has_moved, self.position, self.moves, self.crossed, self.climbed, there)


def name_turn(relative: float) -> str:
    """The name of a turn by that many radians to the left."""
    return min(TURNS, key=lambda turn: abs(wrap_angle(relative - TURNS[turn])))


def matching_doors(clause: Clause, description: SceneDescription, heading: float) -> list[DescribedDoor]:
    """The doors that a clause may refer to, nearest first."""
    doors = [door for door in description.doors if door.wide == clause.wide and clause.color in ("", door.color)]
    if clause.side:
        doors = [door for door in doors if relative_side(door, heading) == clause.side]
    if clause.avoid_side:
        doors = [door for door in doors if relative_side(door, heading) != clause.avoid_side]
    if clause.landmark is not None:
        marks = matching_objects(clause.landmark, description, heading)
        doors = [door for door in doors if any(_is_near_door(mark, door) for mark in marks)]
    doors.sort(key=lambda door: (door.distance, door.heading))
    if clause.rank:
        doors = doors[-1:] if clause.rank == LAST else doors[clause.rank - 1 : clause.rank]
    return doors


def _is_near_door(mark: DescribedObject, door: DescribedDoor) -> bool:
    return math.dist(mark.offset, door.offset) <= min(0.9 + mark.size / 2, NEAR_ANCHOR)


def find_referents(
    clause: Clause, description: SceneDescription, heading: float
) -> list[DescribedDoor] | list[DescribedObject]:
    """The visible objects or doors that the clause may refer to, nearest first."""
    if clause.act is Act.DOOR:
        return matching_doors(clause, description, heading)
    if clause.landmark is None:
        return []
    found = matching_objects(clause.landmark, description, heading)
    if clause.act is Act.ENTER:  # "the room with the round table" is another room
        found = [landmark for landmark in found if not landmark.inside]
    return found


def resolve_target(clause: Clause, description: SceneDescription, progress: Progress) -> Progress:
    """The progress with the target set, if it was not and the referent is visible now."""
    if progress.target is not None or clause.act is Act.SEE:
        return progress
    found = find_referents(clause, description, progress.heading)
    return progress.with_target(found[0]) if found else progress


def candidate_scores(clause: Clause, description: SceneDescription, progress: Progress) -> list[float]:
    """The score of each candidate for the clause, 0 … 1."""
    scores = _SCORES[clause.act](clause, description, progress)
    if clause.turn and progress.moves == 0 and clause.act is not Act.GO:
        scores = [
            score * turn_score(clause.turn, candidate, progress)
            for score, candidate in zip(scores, description.candidates, strict=True)
        ]
    if clause.stride and progress.moves == 0 and clause.act not in (Act.UP, Act.DOWN):
        scores = _stride_scores(clause.stride, scores, description)
    if clause.avoid:
        scores = [
            score * (AVOIDED if candidate.room == clause.avoid and candidate.exit else 1.0)
            for score, candidate in zip(scores, description.candidates, strict=True)
        ]
    if progress.has_moved and clause.turn != "around":
        # Instructions rarely undo a step without saying to turn around.
        scores = [
            score * (0.1 if abs(wrap_angle(candidate.heading - progress.heading)) > BACK_ANGLE else 1.0)
            for score, candidate in zip(scores, description.candidates, strict=True)
        ]
    return [round(score, 6) for score in scores]  # to the precision at which exponentials agree on every machine


def turn_score(turn: str, candidate: DescribedCandidate, progress: Progress) -> float:
    return _bell(wrap_angle(candidate.heading - progress.heading - TURNS[turn]), DIRECTION_TOLERANCE)


def _bell(angle: float, width: float) -> float:
    return math.exp(-((angle / width) ** 2))


def _go_scores(clause: Clause, description: SceneDescription, progress: Progress) -> list[float]:
    if clause.turn:
        return [turn_score(clause.turn, candidate, progress) for candidate in description.candidates]
    return [
        0.3 * _bell(wrap_angle(candidate.heading - progress.heading), math.radians(60))
        for candidate in description.candidates
    ]


def _stride_scores(stride: str, scores: list[float], description: SceneDescription) -> list[float]:
    """The scores of candidates that differ only in their distance."""
    least = ALTERNATIVE * max(scores, default=0.0)
    lengths = [
        candidate.distance for score, candidate in zip(scores, description.candidates, strict=True) if score >= least
    ]
    if not lengths:
        return scores
    if stride == "short":
        shares = [min(lengths) / max(candidate.distance, min(lengths)) for candidate in description.candidates]
    else:
        shares = [min(candidate.distance / max(lengths), 1.0) for candidate in description.candidates]
    return [score * share**2 for score, share in zip(scores, shares, strict=True)]


def _offset(progress: Progress) -> Point:
    assert progress.target is not None
    return progress.target[0] - progress.position[0], progress.target[1] - progress.position[1]


def _towards_scores(clause: Clause, description: SceneDescription, progress: Progress) -> list[float]:
    if progress.target is None:
        return _straight_on_scores(description, progress)
    x, y = _offset(progress)
    heading = math.atan2(y, x)
    return [_bell(wrap_angle(candidate.heading - heading), TARGET_TOLERANCE) for candidate in description.candidates]


def _reach_scores(clause: Clause, description: SceneDescription, progress: Progress) -> list[float]:
    if progress.target is None:
        return _straight_on_scores(description, progress)
    gained = distance_gains(description, progress)
    best = max(gained, default=0.0)
    return [math.exp((gain - best) / 0.6) if gain > MIN_GAIN else NO_EVIDENCE for gain in gained]


def distance_gains(description: SceneDescription, progress: Progress) -> list[float]:
    """The reduction of the distance to the target by each candidate, metres."""
    x, y = _offset(progress)
    here = math.hypot(x, y)
    return [here - math.hypot(x - candidate.offset[0], y - candidate.offset[1]) for candidate in description.candidates]


def _pass_scores(clause: Clause, description: SceneDescription, progress: Progress) -> list[float]:
    if progress.target is None:
        return _straight_on_scores(description, progress)
    x, y = _offset(progress)
    return [_pass_score(clause.side, candidate, x, y) for candidate in description.candidates]


def _pass_score(side: str, candidate: DescribedCandidate, x: float, y: float) -> float:
    """The score of a candidate for passing an object at (x, y) on that side."""
    ahead, left = _along(candidate, x, y)
    beside = -left if side == "right" else left if side == "left" else abs(left)
    if not (ahead > 0.2 and 0.25 < beside < MAX_PASS_DISTANCE):
        return NO_EVIDENCE
    if ahead < candidate.distance + 0.2:
        return 1.0 - 0.5 * beside / MAX_PASS_DISTANCE
    return 0.5 * _bell(math.atan2(left, ahead), DIRECTION_TOLERANCE)  # not yet passed


def _along(candidate: DescribedCandidate, x: float, y: float) -> tuple[float, float]:
    """The distance of (x, y) ahead along the step to a candidate, and to its left, metres."""
    dx, dy = candidate.offset
    length = max(candidate.distance, 1e-6)
    return (x * dx + y * dy) / length, (y * dx - x * dy) / length


def _enter_scores(clause: Clause, description: SceneDescription, progress: Progress) -> list[float]:
    if clause.landmark is not None:
        return _enter_room_with(clause, description, progress)
    found = [
        1.0 if candidate.room == clause.room and candidate.exit else NO_EVIDENCE for candidate in description.candidates
    ]
    if max(found, default=0.0) > NO_EVIDENCE:
        return found
    return _nearest_door_scores(description, progress, [door for door in description.doors if door.room == clause.room])


def _enter_room_with(clause: Clause, description: SceneDescription, progress: Progress) -> list[float]:
    """Scores for entering the room that an object is in: towards the object, out of this room if that is possible."""
    near = _reach_scores(clause, description, progress)
    if progress.target is None:
        return near
    exits = [
        score if candidate.exit and clause.room in ("", candidate.room) else NO_EVIDENCE
        for score, candidate in zip(near, description.candidates, strict=True)
    ]
    return exits if max(exits, default=0.0) >= ALTERNATIVE else near


def _see_scores(clause: Clause, description: SceneDescription, progress: Progress) -> list[float]:
    return _straight_on_scores(description, progress)


def _leave_scores(clause: Clause, description: SceneDescription, progress: Progress) -> list[float]:
    if clause.room and clause.room != description.room:
        return _straight_on_scores(description, progress)
    found = [1.0 if candidate.exit else NO_EVIDENCE for candidate in description.candidates]
    if max(found, default=0.0) > NO_EVIDENCE:
        return found
    return _nearest_door_scores(description, progress, description.doors)


def _nearest_door_scores(
    description: SceneDescription, progress: Progress, doors: list[DescribedDoor] | tuple[DescribedDoor, ...]
) -> list[float]:
    if not doors:
        return _straight_on_scores(description, progress)
    each = [_reach_scores(Clause(Act.REACH), description, progress.with_target(door)) for door in doors]
    return [0.8 * max(scores) for scores in zip(*each, strict=True)]


def _door_scores(clause: Clause, description: SceneDescription, progress: Progress) -> list[float]:
    if progress.target is None:
        return _straight_on_scores(description, progress)
    x, y = _offset(progress)
    through = [
        1.0 if candidate.exit and _is_on_the_way(candidate, x, y) else NO_EVIDENCE
        for candidate in description.candidates
    ]
    return (
        through
        if max(through, default=0.0) > NO_EVIDENCE
        else [0.8 * fit for fit in _reach_scores(clause, description, progress)]
    )


def _is_on_the_way(candidate: DescribedCandidate, x: float, y: float) -> bool:
    ahead, left = _along(candidate, x, y)
    return -0.3 < ahead < candidate.distance + 0.3 and abs(left) < 0.7


def _end_scores(clause: Clause, description: SceneDescription, progress: Progress) -> list[float]:
    here = [candidate.room == description.room and not candidate.exit for candidate in description.candidates]
    straight = [
        _bell(wrap_angle(candidate.heading - progress.heading), DIRECTION_TOLERANCE)
        for candidate in description.candidates
    ]
    return [fit if inside else NO_EVIDENCE for fit, inside in zip(straight, here, strict=True)]


def _climb_scores(clause: Clause, description: SceneDescription, progress: Progress) -> list[float]:
    climb = 1 if clause.act is Act.UP else -1
    found = [1.0 if candidate.climb == climb else NO_EVIDENCE for candidate in description.candidates]
    if max(found, default=0.0) > NO_EVIDENCE:
        return found
    stairs = matching_objects(Reference("stairs"), description, progress.heading)
    if not stairs:
        return _straight_on_scores(description, progress)
    return [0.8 * fit for fit in _reach_scores(clause, description, progress.with_target(stairs[0]))]


def _straight_on_scores(description: SceneDescription, progress: Progress) -> list[float]:
    """Without evidence: straight on until something is recognized."""
    return [
        0.45 * _bell(wrap_angle(candidate.heading - progress.heading), DIRECTION_TOLERANCE)
        for candidate in description.candidates
    ]


_SCORES = {
    Act.GO: _go_scores,
    Act.TOWARDS: _towards_scores,
    Act.REACH: _reach_scores,
    Act.PASS: _pass_scores,
    Act.ENTER: _enter_scores,
    Act.LEAVE: _leave_scores,
    Act.DOOR: _door_scores,
    Act.END: _end_scores,
    Act.UP: _climb_scores,
    Act.DOWN: _climb_scores,
    Act.SEE: _see_scores,
    Act.GOAL: _see_scores,
    Act.STOP: _reach_scores,
}


def is_done(clause: Clause, description: SceneDescription, progress: Progress) -> bool:
    """Whether the clause is done, judged from here."""
    if clause.act in (Act.STOP, Act.REACH):
        return clause.landmark is None or (progress.target is not None and not _can_approach(description, progress))
    if clause.act is Act.GOAL:
        return True
    if progress.moves == 0:
        return False
    if clause.act is Act.PASS:
        return progress.target is not None and _is_behind(progress)
    if clause.act is Act.ENTER:
        return progress.crossed and _is_in_the_room(clause, description, progress)
    if clause.act in (Act.LEAVE, Act.DOOR):
        return progress.crossed
    if clause.act is Act.END:
        return max(_end_scores(clause, description, progress), default=0.0) < _bell(ONWARD_ANGLE, DIRECTION_TOLERANCE)
    if clause.act in (Act.UP, Act.DOWN):
        return progress.climbed and _is_climbed(clause, description, progress)
    return clause.act is not Act.SEE or is_in_view(clause, description, progress.heading)


def _is_in_the_room(clause: Clause, description: SceneDescription, progress: Progress) -> bool:
    if clause.room and description.room != clause.room:
        return False
    if clause.landmark is None:
        return True
    plain = replace(clause.landmark, side="", rank=0, relation="", anchors=(), count=0, far=False)
    return any(landmark.inside for landmark in matching_objects(plain, description, progress.heading))


def _is_climbed(clause: Clause, description: SceneDescription, progress: Progress) -> bool:
    climb = 1 if clause.act is Act.UP else -1
    onward = [candidate for candidate in description.candidates if candidate.climb == climb]
    if clause.stride == "short" or not onward:
        return True
    if clause.stride == "landing":
        return all(abs(wrap_angle(candidate.heading - progress.heading)) > LANDING_ANGLE for candidate in onward)
    return clause.stride == "floor" and any(
        candidate.climb == 0 and candidate.room != STAIRS for candidate in description.candidates
    )


def is_in_view(clause: Clause, description: SceneDescription, heading: float) -> bool:
    """Whether the object or room of the clause is in view; the room counts if it is behind a visible door."""
    if clause.landmark is not None:
        return bool(matching_objects(clause.landmark, description, heading))
    return clause.room == description.room or any(door.room == clause.room for door in description.doors)


def _is_behind(progress: Progress) -> bool:
    x, y = _offset(progress)
    return x * math.cos(progress.heading) + y * math.sin(progress.heading) < 0.2


def _can_approach(description: SceneDescription, progress: Progress) -> bool:
    return round(max(distance_gains(description, progress), default=0.0), 6) > MIN_GAIN
