"""What a clause of an instruction asks for: which way fits it, and when it has been done. Start with `Clause`.

Whoever writes a clause can look here whether it will be understood; whoever reads one, what to do. Both know only what
is seen from where one stands, where one faces, and how one has moved since the clause began.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from itinera.hearth.language.scene_description import Doorway, Outlook, Thing, Way
from itinera.hearth.language.vocabulary import TURNS

Point = tuple[float, float]  # metres, from where a clause began

BROAD = math.radians(30)  # how far a way may lie from the direction said before it fits badly
NARROW = math.radians(20)  # the same for walking towards something one sees
NEARER = 0.3  # metres a step must bring one nearer to count
BESIDE = 2.8  # metres, the farthest one passes something and still says so
AHEAD = math.radians(20)  # what lies within this of straight ahead,
ASIDE = 0.7  # and no more metres to the side, is on neither side
ONWARD = math.radians(40)  # what still counts as going on
BACK = math.radians(150)  # what lies farther round than this is where one came from
PASSABLE = 0.3  # the share of the best fit from which a way is an alternative
LOST = 0.02  # the fit of a way that nothing speaks for


class Act(Enum):
    """What one can be told to do."""

    GO = "go"  # one step in a direction
    TOWARDS = "towards"  # one step towards a thing
    REACH = "reach"  # on and on, as long as a thing gets nearer
    PASS = "pass"  # a step that leaves a thing behind, on one side
    ENTER = "enter"  # into a kind of room
    LEAVE = "leave"  # out of this room
    DOOR = "door"  # to a door or opening, and through it
    END = "end"  # straight on, as far as the room goes
    UP = "up"  # to the top of the stairs
    DOWN = "down"  # to the bottom of the stairs
    STOP = "stop"  # here, or as near a thing as one gets


@dataclass(frozen=True)
class Reference:
    """Words for one thing among those in view."""

    name: str
    colour: str = ""
    shape: str = ""
    side: str = ""  # "left" or "right" of where one faces, if said

    def fits(self, thing: Thing, heading: float) -> bool:
        return (
            thing.name.endswith(self.name)  # an office chair is a chair as well
            and self.colour in ("", thing.colour)
            and self.shape in ("", thing.shape)
            and (not self.side or self.side == side_of(thing, heading))
        )


@dataclass(frozen=True)
class Clause:
    """One thing to do on the way."""

    act: Act
    turn: str = ""  # a word of TURNS for the first step; empty where it is not said
    thing: Reference | None = None
    room: str = ""  # the kind to enter, or the one to leave
    side: str = ""  # of a door, or of a thing to pass: "left", "right", or "ahead" for a door
    rank: int = 0  # which door on that side, from 1; 0 for the only one
    wide: bool = False  # an opening rather than a door
    stride: str = ""  # "short" or "long": of the ways that fit, the one that ends nearer or farther; some stairs only


@dataclass(frozen=True)
class Progress:
    """How far one has come with a clause."""

    heading: float  # where one faces now
    walked: bool  # whether one has come from somewhere, so that turning back would undo a step
    position: Point = (0.0, 0.0)
    moves: int = 0
    crossed: bool = False  # whether a step led out of a room
    climbed: bool = False
    target: Point | None = None  # where the thing or door is, once it has been made out

    def after(self, way: Way) -> Progress:
        dx, dy = way.offset
        return Progress(
            way.heading,
            True,
            (self.position[0] + dx, self.position[1] + dy),
            self.moves + 1,
            self.crossed or way.through != "",
            self.climbed or way.climb != 0,
            self.target,
        )

    def aiming(self, seen: Thing | Doorway) -> Progress:
        """The progress of someone who has made out what is meant."""
        there = (self.position[0] + seen.offset[0], self.position[1] + seen.offset[1])
        return Progress(self.heading, self.walked, self.position, self.moves, self.crossed, self.climbed, there)


def wrap(angle: float) -> float:
    """The same angle in (-pi, pi]."""
    return math.pi - (math.pi - angle) % (2 * math.pi)


def side_of(seen: Thing | Doorway, heading: float) -> str:
    """On which side something lies of someone who faces that way: "left", "right", "ahead" or "behind".

    Ahead is what lies within some degrees of straight ahead and not far to the side: the doors along a hall are on its
    sides, however far away.
    """
    angle = wrap(seen.heading - heading)
    if abs(angle) <= AHEAD and abs(math.sin(angle)) * seen.distance <= ASIDE:
        return "ahead"
    if abs(angle) >= math.pi - AHEAD:
        return "behind"
    return "left" if angle > 0 else "right"


def named_turn(relative: float) -> str:
    """The word for a turn of that many radians to the left."""
    return min(TURNS, key=lambda turn: abs(wrap(relative - TURNS[turn])))


def doors_meant(clause: Clause, outlook: Outlook, heading: float) -> list[Doorway]:
    """The doors a clause may mean, nearest first."""
    doors = [door for door in outlook.doors if door.wide == clause.wide]
    if clause.side:
        doors = [door for door in doors if side_of(door, heading) == clause.side]
    doors.sort(key=lambda door: (door.distance, door.heading))
    if clause.rank:
        doors = doors[clause.rank - 1 : clause.rank]
    return doors


def things_meant(reference: Reference, outlook: Outlook, heading: float) -> list[Thing]:
    """The things in view that the words fit, nearest first."""
    found = [thing for thing in outlook.things if reference.fits(thing, heading)]
    return sorted(found, key=lambda thing: (thing.distance, thing.heading))


def meant(clause: Clause, outlook: Outlook, heading: float) -> list[Doorway] | list[Thing]:
    """What in view the clause may speak of, nearest first."""
    if clause.act is Act.DOOR:
        return doors_meant(clause, outlook, heading)
    return things_meant(clause.thing, outlook, heading) if clause.thing is not None else []


def make_out(clause: Clause, outlook: Outlook, progress: Progress) -> Progress:
    """The progress with the target found, if one has not found it before and sees now what is meant."""
    if progress.target is not None:
        return progress
    found = meant(clause, outlook, progress.heading)
    return progress.aiming(found[0]) if found else progress


def fits(clause: Clause, outlook: Outlook, progress: Progress) -> list[float]:
    """How well each way fits the clause here, 0 … 1."""
    scores = _FITS[clause.act](clause, outlook, progress)
    if clause.turn and progress.moves == 0 and clause.act is not Act.GO:
        scores = [
            score * turn_fit(clause.turn, way, progress) for score, way in zip(scores, outlook.candidates, strict=True)
        ]
    if clause.stride and progress.moves == 0 and clause.act not in (Act.UP, Act.DOWN):
        scores = _strided(clause.stride, scores, outlook)
    if progress.walked and clause.turn != "around":
        # One is rarely told to undo a step without being told to turn round.
        scores = [
            score * (0.1 if abs(wrap(way.heading - progress.heading)) > BACK else 1.0)
            for score, way in zip(scores, outlook.candidates, strict=True)
        ]
    return [round(score, 6) for score in scores]  # no farther than every machine's exponential agrees


def turn_fit(turn: str, way: Way, progress: Progress) -> float:
    return _bell(wrap(way.heading - progress.heading - TURNS[turn]), BROAD)


def _bell(angle: float, width: float) -> float:
    return math.exp(-((angle / width) ** 2))


def _go(clause: Clause, outlook: Outlook, progress: Progress) -> list[float]:
    if clause.turn:
        return [turn_fit(clause.turn, way, progress) for way in outlook.candidates]
    return [0.3 * _bell(wrap(way.heading - progress.heading), math.radians(60)) for way in outlook.candidates]


def _strided(stride: str, scores: list[float], outlook: Outlook) -> list[float]:
    """The fits of ways that are alike but for where they end, near or far."""
    least = PASSABLE * max(scores, default=0.0)
    lengths = [way.distance for score, way in zip(scores, outlook.candidates, strict=True) if score >= least]
    if not lengths:
        return scores
    if stride == "short":
        shares = [min(lengths) / max(way.distance, min(lengths)) for way in outlook.candidates]
    else:
        shares = [min(way.distance / max(lengths), 1.0) for way in outlook.candidates]
    return [score * share**2 for score, share in zip(scores, shares, strict=True)]


def _offset(progress: Progress) -> Point:
    assert progress.target is not None
    return progress.target[0] - progress.position[0], progress.target[1] - progress.position[1]


def _towards(clause: Clause, outlook: Outlook, progress: Progress) -> list[float]:
    if progress.target is None:
        return _blind(outlook, progress)
    x, y = _offset(progress)
    heading = math.atan2(y, x)
    return [_bell(wrap(way.heading - heading), NARROW) for way in outlook.candidates]


def _reach(clause: Clause, outlook: Outlook, progress: Progress) -> list[float]:
    if progress.target is None:
        return _blind(outlook, progress)
    gained = gains(outlook, progress)
    best = max(gained, default=0.0)
    return [math.exp((gain - best) / 0.6) if gain > NEARER else LOST for gain in gained]


def gains(outlook: Outlook, progress: Progress) -> list[float]:
    """How much nearer each way brings one to the target, metres."""
    x, y = _offset(progress)
    here = math.hypot(x, y)
    return [here - math.hypot(x - way.offset[0], y - way.offset[1]) for way in outlook.candidates]


def _pass(clause: Clause, outlook: Outlook, progress: Progress) -> list[float]:
    if progress.target is None:
        return _blind(outlook, progress)
    x, y = _offset(progress)
    return [_passing(clause.side, way, x, y) for way in outlook.candidates]


def _passing(side: str, way: Way, x: float, y: float) -> float:
    """How well a way leads past something at (x, y) that should stay on that side."""
    ahead, left = _along(way, x, y)
    beside = -left if side == "right" else left if side == "left" else abs(left)
    if not (ahead > 0.2 and 0.25 < beside < BESIDE):
        return LOST
    if ahead < way.distance + 0.2:
        return 1.0 - 0.5 * beside / BESIDE
    return 0.5 * _bell(math.atan2(left, ahead), BROAD)  # not there yet


def _along(way: Way, x: float, y: float) -> tuple[float, float]:
    """How far (x, y) lies ahead along a way and to its left, metres."""
    dx, dy = way.offset
    length = max(way.distance, 1e-6)
    return (x * dx + y * dy) / length, (y * dx - x * dy) / length


def _enter(clause: Clause, outlook: Outlook, progress: Progress) -> list[float]:
    found = [1.0 if way.room == clause.room and way.through else LOST for way in outlook.candidates]
    if max(found, default=0.0) > LOST:
        return found
    return _to_a_door(outlook, progress, [door for door in outlook.doors if door.room == clause.room])


def _leave(clause: Clause, outlook: Outlook, progress: Progress) -> list[float]:
    if clause.room and clause.room != outlook.room:
        return _blind(outlook, progress)
    found = [1.0 if way.through else LOST for way in outlook.candidates]
    if max(found, default=0.0) > LOST:
        return found
    return _to_a_door(outlook, progress, outlook.doors)


def _to_a_door(outlook: Outlook, progress: Progress, doors: list[Doorway] | tuple[Doorway, ...]) -> list[float]:
    if not doors:
        return _blind(outlook, progress)
    each = [_reach(Clause(Act.REACH), outlook, progress.aiming(door)) for door in doors]
    return [0.8 * max(scores) for scores in zip(*each, strict=True)]


def _door(clause: Clause, outlook: Outlook, progress: Progress) -> list[float]:
    if progress.target is None:
        return _blind(outlook, progress)
    x, y = _offset(progress)
    through = [1.0 if way.through and _on_the_way(way, x, y) else LOST for way in outlook.candidates]
    return through if max(through, default=0.0) > LOST else [0.8 * fit for fit in _reach(clause, outlook, progress)]


def _on_the_way(way: Way, x: float, y: float) -> bool:
    ahead, left = _along(way, x, y)
    return -0.3 < ahead < way.distance + 0.3 and abs(left) < 0.7


def _end(clause: Clause, outlook: Outlook, progress: Progress) -> list[float]:
    here = [way.room == outlook.room and not way.through for way in outlook.candidates]
    straight = [_bell(wrap(way.heading - progress.heading), BROAD) for way in outlook.candidates]
    return [fit if inside else LOST for fit, inside in zip(straight, here, strict=True)]


def _climb(clause: Clause, outlook: Outlook, progress: Progress) -> list[float]:
    climb = 1 if clause.act is Act.UP else -1
    found = [1.0 if way.climb == climb else LOST for way in outlook.candidates]
    if max(found, default=0.0) > LOST:
        return found
    stairs = things_meant(Reference("stairs"), outlook, progress.heading)
    if not stairs:
        return _blind(outlook, progress)
    return [0.8 * fit for fit in _reach(clause, outlook, progress.aiming(stairs[0]))]


def _blind(outlook: Outlook, progress: Progress) -> list[float]:
    """Nothing in view tells: one goes straight on until something does."""
    return [0.45 * _bell(wrap(way.heading - progress.heading), BROAD) for way in outlook.candidates]


_FITS = {
    Act.GO: _go,
    Act.TOWARDS: _towards,
    Act.REACH: _reach,
    Act.PASS: _pass,
    Act.ENTER: _enter,
    Act.LEAVE: _leave,
    Act.DOOR: _door,
    Act.END: _end,
    Act.UP: _climb,
    Act.DOWN: _climb,
    Act.STOP: _reach,
}


def done(clause: Clause, outlook: Outlook, progress: Progress) -> bool:
    """Whether the clause has been done, seen from here."""
    if clause.act in (Act.STOP, Act.REACH):
        return clause.thing is None or (progress.target is not None and not _nearer(outlook, progress))
    if progress.moves == 0:
        return False
    if clause.act is Act.PASS:
        return progress.target is not None and _behind(progress)
    if clause.act is Act.ENTER:
        return outlook.room == clause.room and progress.crossed
    if clause.act in (Act.LEAVE, Act.DOOR):
        return progress.crossed
    if clause.act is Act.END:
        return max(_end(clause, outlook, progress), default=0.0) < _bell(ONWARD, BROAD)
    if clause.act in (Act.UP, Act.DOWN):
        climb = 1 if clause.act is Act.UP else -1
        return progress.climbed and (clause.stride == "short" or all(way.climb != climb for way in outlook.candidates))
    return True


def _behind(progress: Progress) -> bool:
    x, y = _offset(progress)
    return x * math.cos(progress.heading) + y * math.sin(progress.heading) < 0.2


def _nearer(outlook: Outlook, progress: Progress) -> bool:
    return round(max(gains(outlook, progress), default=0.0), 6) > NEARER
