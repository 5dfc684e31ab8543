"""A path with what is seen along it, and what can be said there that is sure to be understood. Start with `Scene`.

A clause is offered only if someone who knows no more than what is seen would be led by it along the path and nowhere
else.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from itinera.errors import BadArgument
from itinera.hearth.language.scene_description import Outlook, Thing
from itinera.hearth.language.semantics import (
    Act,
    Clause,
    Point,
    Progress,
    Reference,
    done,
    doors_meant,
    fits,
    make_out,
    meant,
    named_turn,
    side_of,
    wrap,
)

SURE = 0.3  # the fit a way must have at least
CLEAR = 2.2  # how many times better it must fit than any other
FAIR = 1.25  # the same where nothing better can be said
LANDMARKS = 9  # things looked at from each place, those that catch the eye most
SMALL = 0.35  # metres; smaller things are no landmarks
FAR = 9.0  # metres
LONG_ROOMS = frozenset("hlfdkenrg")  # kinds of room whose end one speaks of
MARK = 1.8  # metres to something that marks a spot
ARM = 1.6  # metres to the edge of a thing, the farthest one is from it and still at it
TURNED = frozenset({Act.TOWARDS, Act.REACH, Act.PASS, Act.ENTER, Act.LEAVE, Act.DOOR, Act.UP, Act.DOWN})
STRODE = frozenset({Act.GO, Act.TOWARDS, Act.ENTER, Act.LEAVE, Act.DOOR})
"""Acts to which one adds a turn, or how far to go, where they do not tell the way alone."""


@dataclass(frozen=True)
class Leg:
    """A stretch of a path, from its place number `first` to `last`, and the clause that leads along it."""

    first: int
    last: int
    clause: Clause
    doubt: int = 0  # 0 where it is sure to be understood, 1 where others fit nearly as well, 2 where it is a mere hope


def _number(here: Outlook, node: str) -> int:
    for number, way in enumerate(here.candidates):
        if way.node == node:
            return number
    raise BadArgument(f"There is no way from {here.node} to {node}. Give a path along the edges of the graph.")


class Scene:
    """A path with what is seen along it."""

    def __init__(self, outlooks: Mapping[str, Outlook], path: Sequence[str], heading: float) -> None:
        self.path = path
        self.end = len(path) - 1
        self.outlooks = [outlooks[node] for node in path]
        pairs = list(zip(self.outlooks[:-1], path[1:], strict=True))
        self.right = [_number(here, node) for here, node in pairs]  # of the way to take at each place
        self.steps = [here.candidates[number] for (here, _), number in zip(pairs, self.right, strict=True)]
        self.headings = [heading, *(way.heading for way in self.steps)]
        self._in_view = [{thing.instance for thing in here.things} for here in self.outlooks]
        self.positions: list[Point] = [(0.0, 0.0)]
        for way in self.steps:
            x, y = self.positions[-1]
            self.positions.append((x + way.offset[0], y + way.offset[1]))

    def legs(self, i: int, rng: np.random.Generator) -> Iterator[Leg]:
        """Every leg from this place that can be said for sure; less sure ones where there is none."""
        clauses = list(self._clauses(i, rng))
        found = list(self._understood(clauses, i))
        if i < self.end and not any(leg.last > i for leg in found):
            found += [replace(leg, doubt=1) for leg in self._understood(clauses, i, clear=FAIR)]
            found.append(Leg(i, i + 1, Clause(Act.GO, self._turn(i)), doubt=2))
        yield from found

    def _understood(
        self, clauses: Sequence[tuple[Clause, Thing | None]], i: int, *, clear: float = CLEAR
    ) -> Iterator[Leg]:
        for plain, seen in clauses:
            for clause in self._worded(plain, i, seen, clear):
                led = self.led(clause, i, seen, clear=clear)
                if led is not None and (led > i or clause.act is Act.STOP):
                    yield Leg(i, led, clause)
                    break

    def _worded(self, plain: Clause, i: int, seen: Thing | None, clear: float) -> Iterator[Clause]:
        """The clause if it tells the first step apart, or else with a turn or a stride that does."""
        if i == self.end:
            yield plain
            return
        here, start = self.outlooks[i], self._start(plain, i, seen)
        scores = fits(plain, here, start)
        if scores[self.right[i]] < SURE:
            return
        if self._clear(scores, i, clear):
            yield plain
            return
        turns = ("", self._turn(i)) if plain.act in TURNED and not plain.side else ("",)
        strides = ("", "short", "long") if plain.act in STRODE else ("",)
        for turn, stride in itertools.product(turns, strides):
            clause = replace(plain, turn=turn or plain.turn, stride=stride)
            if clause != plain and self._clear(fits(clause, here, start), i, clear):
                yield clause

    def _turn(self, i: int) -> str:
        relative = wrap(self.steps[i].heading - self.headings[i])
        turn = named_turn(relative)
        if turn == "around" and i > 0:  # round is where one came from, and no path goes there
            return "sharp left" if relative > 0 else "sharp right"
        return turn

    def _start(self, clause: Clause, i: int, seen: Thing | None) -> Progress:
        progress = Progress(self.headings[i], i > 0, self.positions[i])
        return make_out(clause, self.outlooks[i], progress) if seen is None else progress.aiming(seen)

    def _clauses(self, i: int, rng: np.random.Generator) -> Iterator[tuple[Clause, Thing | None]]:
        """What might be said here, and the thing in view that it speaks of."""
        if i == self.end:
            yield Clause(Act.STOP), None
        for thing, reference in self._landmarks(i, rng):
            near = [self._at(thing, i, j) for j in range(i, self.end + 1)]
            if near[-1]:
                yield Clause(Act.STOP, thing=reference), thing
            if i < self.end:
                yield from ((clause, thing) for clause in self._by_thing(i, thing, reference, any(near[1:])))
        if i < self.end:
            yield from ((clause, None) for clause in self._by_place(i))

    def _at(self, thing: Thing, i: int, j: int) -> bool:
        """Whether someone at place j would say to stand at a thing that is seen from place i."""
        (x, y), (u, v), (dx, dy) = self.positions[i], self.positions[j], thing.offset
        return math.hypot(x + dx - u, y + dy - v) <= ARM + thing.size / 2 and self._sees(j, thing)

    def _sees(self, j: int, thing: Thing) -> bool:
        return thing.instance in self._in_view[j]

    def _by_thing(self, i: int, thing: Thing, reference: Reference, near: bool) -> Iterator[Clause]:
        yield Clause(Act.TOWARDS, thing=reference)
        if near:
            yield Clause(Act.REACH, thing=reference)
        side = side_of(thing, self.steps[i].heading)
        if side in ("left", "right") and not reference.side and self._sees(i + 1, thing):  # no wall in between
            yield Clause(Act.PASS, thing=reference, side=side)

    def _by_place(self, i: int) -> Iterator[Clause]:
        here = self.outlooks[i]
        yield Clause(Act.GO, self._turn(i))
        ahead = next((j for j in range(i, self.end) if self.steps[j].through), None)
        if ahead is not None:
            if self.steps[ahead].room != here.room:
                yield Clause(Act.ENTER, room=self.steps[ahead].room)
            yield Clause(Act.LEAVE, room=here.room)
            yield from self._doors(i, wide=self.steps[ahead].through == "opening")
        if here.room in LONG_ROOMS:
            yield Clause(Act.END, room=here.room)
        for act, climb in ((Act.UP, 1), (Act.DOWN, -1)):
            if any(way.climb == climb for way in self.steps[i:]):
                yield Clause(act)
                if any(way.climb == climb for way in self.outlooks[i + 1].candidates):  # some of the stairs, not all
                    yield Clause(act, stride="short")

    def _doors(self, i: int, *, wide: bool) -> Iterator[Clause]:
        here, heading = self.outlooks[i], self.headings[i]
        plain = Clause(Act.DOOR, wide=wide)
        yield plain
        for side in ("left", "right", "ahead"):
            sided = replace(plain, side=side)
            count = len(doors_meant(sided, here, heading))
            if count == 1:
                yield sided
            elif side != "ahead":
                yield from (replace(sided, rank=rank) for rank in range(1, min(count, 4) + 1))

    def _landmarks(self, i: int, rng: np.random.Generator) -> Iterator[tuple[Thing, Reference]]:
        """Things in view that catch the eye, each with words that fit nothing else in view."""
        large = [thing for thing in self.outlooks[i].things if thing.size >= SMALL and thing.distance <= FAR]
        large.sort(key=lambda thing: (-round(thing.size / (1.0 + thing.distance), 4), thing.heading))
        for thing in large[:LANDMARKS]:
            reference = self._reference(thing, i, rng)
            if reference is not None:
                yield thing, reference

    def _reference(self, thing: Thing, i: int, rng: np.random.Generator) -> Reference | None:
        name, colour, shape = thing.name, thing.colour, thing.shape
        fancy = Reference(name, colour if rng.random() < 0.5 else "", shape if rng.random() < 0.15 else "")
        tries = [fancy, Reference(name, colour), Reference(name, "", shape), Reference(name, colour, shape)]
        side = side_of(thing, self.headings[i])
        if side in ("left", "right"):
            tries += [Reference(name, "", "", side), Reference(name, colour, "", side)]
        alike = [seen for seen in self.outlooks[i].things if seen.name.endswith(name)]
        heading = self.headings[i]
        return next((words for words in tries if sum(words.fits(seen, heading) for seen in alike) == 1), None)

    def led(self, clause: Clause, i: int, seen: Thing | None = None, *, clear: float = CLEAR) -> int | None:
        """The place the clause leads to from place i along the path, or None if it might lead astray.

        seen: the thing it speaks of, where one is known to be meant.
        """
        progress = Progress(self.headings[i], i > 0, self.positions[i])
        if seen is not None:
            progress = progress.aiming(seen)
        for at in range(i, self.end + 1):
            here = self.outlooks[at]
            if progress.target is None:
                if not self._one_or_later(clause, here, progress, at == i):
                    return None
                progress = make_out(clause, here, progress)
            if done(clause, here, progress):
                return at if self._true(clause, seen, i, at) else None
            if at == self.end or not self._clear(fits(clause, here, progress), at, clear):
                return None
            progress = progress.after(self.steps[at])
        return None

    def _one_or_later(self, clause: Clause, here: Outlook, progress: Progress, first: bool) -> bool:
        """Whether what a clause speaks of is one thing in view, or may yet come into view."""
        if clause.act is not Act.DOOR and clause.thing is None:
            return True
        count = len(meant(clause, here, progress.heading))
        at_once = clause.act in (Act.DOOR, Act.TOWARDS)
        return count == 1 or (count == 0 and not (first and at_once))

    def _clear(self, scores: Sequence[float], at: int, clear: float) -> bool:
        right = scores[self.right[at]]
        return right >= SURE and all(k == self.right[at] or right >= clear * score for k, score in enumerate(scores))

    def near_goal(self, rng: np.random.Generator) -> Reference | None:
        """Something at the end of the path, rather something that one nowhere gets nearer to; None if there is nothing.

        It is told without a side, as one does not know from where someone else will come.
        """
        seen = self._landmarks(self.end, rng)
        near = [(thing, words) for thing, words in seen if not words.side and self._at(thing, self.end, self.end)]
        near.sort(key=lambda pair: self.led(Clause(Act.STOP, thing=pair[1]), self.end, pair[0]) is None)
        return near[0][1] if near else None

    def beside(self, i: int, rng: np.random.Generator) -> Reference | None:
        """Something one stands at in this place, if there is anything."""
        for thing, reference in self._landmarks(i, rng):
            if thing.distance <= MARK and self.led(Clause(Act.REACH, thing=reference), i, thing) == i:
                return reference
        return None

    def _true(self, clause: Clause, seen: Thing | None, i: int, at: int) -> bool:
        """Whether what was said at place i holds where the clause ends."""
        if clause.act is Act.STOP and at != self.end:
            return False
        return clause.act not in (Act.REACH, Act.STOP) or seen is None or self._at(seen, i, at)
