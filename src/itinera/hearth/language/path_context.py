"""A path with its scene descriptions, and the clauses that describe it unambiguously. Start with `PathContext`.

A clause is offered only if an agent that knows nothing but the scene descriptions would follow the path and no other.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from itinera.errors import BadArgument
from itinera.hearth.language.landmarks import USUAL_HABITS, ReferenceHabits, refer
from itinera.hearth.language.references import LAST, Reference, relative_side, wrap_angle
from itinera.hearth.language.scene_description import DescribedDoor, DescribedObject, SceneDescription
from itinera.hearth.language.semantics import (
    Act,
    Clause,
    Point,
    Progress,
    candidate_scores,
    find_referents,
    is_done,
    is_in_view,
    matching_doors,
    name_turn,
    resolve_target,
)

MIN_SCORE = 0.3  # minimum score of the correct candidate
CLEAR_RATIO = 2.2  # minimum ratio of its score to that of any other candidate
FAIR_RATIO = 1.25  # the same where no better clause exists
LANDMARKS = 9  # most salient objects considered at each place
MIN_LANDMARK_SIZE = 0.35  # metres; smaller objects are no landmarks
MAX_LANDMARK_DISTANCE = 14.0  # metres
DULL = 0.3  # factor of the salience of windows and curtains, of which there are many
MAX_DOOR_OFFSET = 1.2  # metres from the middle of a step through a door to the door
MAX_STEPS_TO_VIEW = 3  # steps after which an object comes into view
LONG_ROOMS = frozenset("hlfdkenrg")  # kinds of rooms whose end is a landmark
MARK_DISTANCE = 1.8  # metres to an object that marks a turning point
AT_DISTANCE = 1.6  # metres from the edge of an object within which an agent is "at" it
TURN_ACTS = frozenset({Act.TOWARDS, Act.REACH, Act.PASS, Act.ENTER, Act.LEAVE, Act.DOOR, Act.UP, Act.DOWN})
STRIDE_ACTS = frozenset({Act.GO, Act.TOWARDS, Act.ENTER, Act.LEAVE, Act.DOOR})
"""Acts to which a turn, or a distance, can be added to disambiguate the first step."""

VIEWED = frozenset({"left of", "right of", "behind"})  # relations that depend on where the viewer stands


@dataclass(frozen=True)
class Segment:
    """A section of a path, from node index `first` to `last`, and the clause that describes it."""

    first: int
    last: int
    clause: Clause
    ambiguity: int = 0  # 0: unambiguous; 1: other candidates score nearly as well; 2: fallback


def _candidate_index(here: SceneDescription, node: str) -> int:
    for number, candidate in enumerate(here.candidates):
        if candidate.node == node:
            return number
    raise BadArgument(f"No edge leads from {here.node} to {node}. Give a path along the edges of the graph.")


def _salience(landmark: DescribedObject) -> float:
    plain = DULL if landmark.name in ("window", "curtain") else 1.0
    return round(plain * landmark.size / (1.0 + landmark.distance), 4)


def _most_salient(here: SceneDescription) -> list[DescribedObject]:
    large = [
        landmark
        for landmark in here.objects
        if landmark.size >= MIN_LANDMARK_SIZE and landmark.distance <= MAX_LANDMARK_DISTANCE
    ]
    large.sort(key=lambda landmark: (-_salience(landmark), landmark.heading))
    return large[:LANDMARKS]


class PathContext:
    """A path with the scene descriptions of its nodes."""

    def __init__(
        self,
        descriptions: Mapping[str, SceneDescription],
        path: Sequence[str],
        heading: float,
        habits: ReferenceHabits = USUAL_HABITS,
    ) -> None:
        self.path = path
        self.habits = habits
        self.end = len(path) - 1
        self.descriptions = [descriptions[node] for node in path]
        pairs = list(zip(self.descriptions[:-1], path[1:], strict=True))
        self.right = [
            _candidate_index(here, node) for here, node in pairs
        ]  # index of the correct candidate at each place
        self.steps = [here.candidates[number] for (here, _), number in zip(pairs, self.right, strict=True)]
        self.headings = [heading, *(candidate.heading for candidate in self.steps)]
        self._in_view = [{landmark.instance for landmark in here.objects} for here in self.descriptions]
        self.positions: list[Point] = [(0.0, 0.0)]
        for candidate in self.steps:
            x, y = self.positions[-1]
            self.positions.append((x + candidate.offset[0], y + candidate.offset[1]))

    def segments(self, i: int, rng: np.random.Generator) -> Iterator[Segment]:
        """Every unambiguous segment from this place; ambiguous ones if there is none."""
        clauses = list(self._clauses(i, rng))
        found = list(self._unambiguous(clauses, i))
        if i < self.end and not any(segment.last > i for segment in found):
            found += [replace(segment, ambiguity=1) for segment in self._unambiguous(clauses, i, clear=FAIR_RATIO)]
            found.append(Segment(i, i + 1, Clause(Act.GO, self._turn(i)), ambiguity=2))
        yield from found

    def _unambiguous(
        self, clauses: Sequence[tuple[Clause, DescribedObject | None]], i: int, *, clear: float = CLEAR_RATIO
    ) -> Iterator[Segment]:
        for plain, seen in clauses:
            for clause in self._disambiguate(plain, i, seen, clear):
                follow = self.follow(clause, i, seen, clear=clear)
                if follow is not None and (follow > i or clause.act is Act.STOP):
                    yield Segment(i, follow, clause)
                    break

    def _disambiguate(self, plain: Clause, i: int, seen: DescribedObject | None, clear: float) -> Iterator[Clause]:
        """The clause if it identifies the first step, or else with a turn or a distance that does."""
        if i == self.end:
            yield plain
            return
        here, start = self.descriptions[i], self._start(plain, i, seen)
        scores = candidate_scores(plain, here, start)
        if scores[self.right[i]] < MIN_SCORE:
            return
        if self._is_clear(scores, i, clear):
            yield plain
            return
        turns = ("", self._turn(i)) if plain.act in TURN_ACTS and not plain.side else ("",)
        strides = ("", "short", "long") if plain.act in STRIDE_ACTS else ("",)
        avoided = [replace(plain, avoid=room) for room in self._wrong_rooms(i, scores, clear)]
        others = (
            replace(plain, turn=turn or plain.turn, stride=stride or plain.stride)
            for turn, stride in itertools.product(turns, strides)
        )
        for clause in (*others, *avoided):
            if clause != plain and self._is_clear(candidate_scores(clause, here, start), i, clear):
                yield clause

    def _wrong_rooms(self, i: int, scores: Sequence[float], clear: float) -> list[str]:
        """The kind of room to warn of, if all candidates that compete with the correct one lead there."""
        right = scores[self.right[i]]
        rivals = [
            candidate
            for k, (score, candidate) in enumerate(zip(scores, self.descriptions[i].candidates, strict=True))
            if k != self.right[i] and right < clear * score
        ]
        rooms = {candidate.room if candidate.exit else "" for candidate in rivals}
        return [room for room in rooms if len(rooms) == 1 and room not in ("", self.steps[i].room)]

    def _turn(self, i: int) -> str:
        relative = wrap_angle(self.steps[i].heading - self.headings[i])
        turn = name_turn(relative)
        if turn == "around" and i > 0:  # "around" would be where the agent came from, and no path goes back
            return "sharp left" if relative > 0 else "sharp right"
        return turn

    def _start(self, clause: Clause, i: int, seen: DescribedObject | None) -> Progress:
        progress = Progress(self.headings[i], i > 0, self.positions[i])
        return resolve_target(clause, self.descriptions[i], progress) if seen is None else progress.with_target(seen)

    def _clauses(self, i: int, rng: np.random.Generator) -> Iterator[tuple[Clause, DescribedObject | None]]:
        """The clauses that might be used here, and the visible object each refers to."""
        if i == self.end:
            yield Clause(Act.STOP), None
        for landmark, reference in self._landmarks(i, rng):
            near = [self._is_at(landmark, i, j) for j in range(i, self.end + 1)]
            if near[-1]:
                yield Clause(Act.STOP, landmark=reference), landmark
            if i < self.end:
                yield from (
                    (clause, landmark) for clause in self._object_clauses(i, landmark, reference, any(near[1:]))
                )
        if i < self.end:
            yield from ((clause, None) for clause in self._place_clauses(i, rng))
            yield from ((clause, None) for clause in self._sights(i, rng))

    def _is_at(self, landmark: DescribedObject, i: int, j: int) -> bool:
        """Whether an agent at place j is "at" an object that is visible from place i."""
        (x, y), (u, v), (dx, dy) = self.positions[i], self.positions[j], landmark.offset
        return math.hypot(x + dx - u, y + dy - v) <= AT_DISTANCE + landmark.size / 2 and self._is_visible(j, landmark)

    def _is_visible(self, j: int, landmark: DescribedObject) -> bool:
        return landmark.instance in self._in_view[j]

    def _object_clauses(self, i: int, landmark: DescribedObject, reference: Reference, near: bool) -> Iterator[Clause]:
        yield Clause(Act.TOWARDS, landmark=reference)
        if near:
            yield Clause(Act.REACH, landmark=reference)
        if not landmark.inside and not (reference.side or reference.rank or reference.far):
            yield Clause(Act.ENTER, landmark=reference)
        side = relative_side(landmark, self.steps[i].heading)
        if side in ("left", "right") and not reference.side and self._is_visible(i + 1, landmark):  # no wall in between
            yield Clause(Act.PASS, landmark=reference, side=side)

    def _sights(self, i: int, rng: np.random.Generator) -> Iterator[Clause]:
        """Clauses to go straight on until something comes into view that is not visible yet."""
        here = self.descriptions[i]
        if not self._is_clear(
            candidate_scores(Clause(Act.SEE), here, self._start(Clause(Act.SEE), i, None)), i, CLEAR_RATIO
        ):
            return
        for j in range(i + 1, min(i + MAX_STEPS_TO_VIEW, self.end) + 1):
            fresh = [thing for thing in self._salient(j) if not self._is_visible(i, thing)]
            for thing in fresh[:2]:
                found = refer(thing, self.descriptions[j], self.headings[j], rng, self.habits)
                if found is not None and not (found[1].side or found[1].rank or found[1].relation or found[1].far):
                    clause = Clause(Act.SEE, landmark=found[1])
                    if not is_in_view(clause, here, self.headings[i]):
                        yield clause
            beyond = {door.room for door in self.descriptions[j].doors if door.room}
            clauses = [Clause(Act.SEE, room=room) for room in sorted(beyond)]
            yield from (clause for clause in clauses if not is_in_view(clause, here, self.headings[i]))

    def _place_clauses(self, i: int, rng: np.random.Generator) -> Iterator[Clause]:
        here = self.descriptions[i]
        yield Clause(Act.GO, self._turn(i))
        ahead = next((j for j in range(i, self.end) if self.steps[j].exit), None)
        if ahead is not None:
            if self.steps[ahead].room != here.room:
                yield Clause(Act.ENTER, room=self.steps[ahead].room)
            yield Clause(Act.LEAVE, room=here.room)
            yield from self._doors(i, ahead, rng)
        if here.room in LONG_ROOMS:
            yield Clause(Act.END, room=here.room)
        for act, climb in ((Act.UP, 1), (Act.DOWN, -1)):
            if any(candidate.climb == climb for candidate in self.steps[i:]):
                yield Clause(act)
                yield Clause(act, stride="floor")
                if any(
                    candidate.climb == climb for candidate in self.descriptions[i + 1].candidates
                ):  # some of the stairs, not all
                    yield Clause(act, stride="short")
                    yield Clause(act, stride="landing")

    def _doors(self, i: int, ahead: int, rng: np.random.Generator) -> Iterator[Clause]:
        here, heading = self.descriptions[i], self.headings[i]
        plain = Clause(Act.DOOR, wide=self.steps[ahead].exit == "opening")
        yield plain
        for side in ("left", "right", "ahead"):
            sided = replace(plain, side=side)
            count = len(matching_doors(sided, here, heading))
            if count == 1:
                yield sided
            elif side != "ahead":
                yield from (replace(sided, rank=rank) for rank in (*range(1, min(count, 4) + 1), LAST) if count)
        door = self._door_ahead(i, ahead)
        if door is not None:
            yield from self._marked_doors(plain, door, i, rng)

    def _door_ahead(self, i: int, ahead: int) -> DescribedDoor | None:
        """The visible door through which the path leaves the room."""
        (x, y), (u, v), (a, b) = self.positions[i], self.positions[ahead], self.positions[ahead + 1]
        middle = (u + a) / 2 - x, (v + b) / 2 - y
        doors = self.descriptions[i].doors
        nearest = min(doors, key=lambda door: round(math.dist(door.offset, middle), 4), default=None)
        found = nearest is not None and math.dist(nearest.offset, middle) <= MAX_DOOR_OFFSET
        return nearest if found else None

    def _marked_doors(self, plain: Clause, door: DescribedDoor, i: int, rng: np.random.Generator) -> Iterator[Clause]:
        """The door by its color, by an object next to it, and by the one that it is not."""
        here, heading = self.descriptions[i], self.headings[i]
        options = [replace(plain, color=door.color)] if door.color else []
        others = [other for other in matching_doors(plain, here, heading) if other is not door]
        if len(others) == 1:
            options.append(replace(plain, avoid_side=relative_side(others[0], heading)))
        for landmark in self._salient(i):
            if math.dist(landmark.offset, door.offset) <= 2.0:
                found = refer(landmark, here, heading, rng, replace(self.habits, relation=0.0, group=0.0))
                if found is not None and not (found[1].side or found[1].rank or found[1].relation):
                    options.append(replace(plain, landmark=found[1]))
        for clause in options:
            if clause.avoid_side not in ("ahead", "behind") and matching_doors(clause, here, heading) == [door]:
                yield clause

    def _salient(self, i: int) -> list[DescribedObject]:
        """The most salient visible objects."""
        here = self.descriptions[i]
        return here.remember("salient", lambda: _most_salient(here))

    def _landmarks(self, i: int, rng: np.random.Generator) -> Iterator[tuple[DescribedObject, Reference]]:
        """Salient visible objects, each with an expression that refers to no other visible object."""
        for landmark in self._salient(i):
            found = refer(landmark, self.descriptions[i], self.headings[i], rng, self.habits)
            if found is not None:
                yield found

    def follow(
        self, clause: Clause, i: int, seen: DescribedObject | None = None, *, clear: float = CLEAR_RATIO
    ) -> int | None:
        """The place that the clause leads to from place i along the path, or None if it is ambiguous.

        seen: the object it refers to, if known.
        """
        progress = Progress(self.headings[i], i > 0, self.positions[i])
        if seen is not None:
            progress = progress.with_target(seen)
        for at in range(i, self.end + 1):
            here = self.descriptions[at]
            if progress.target is None:
                if not self._is_unique_or_later(clause, here, progress, at == i):
                    return None
                progress = resolve_target(clause, here, progress)
            if is_done(clause, here, progress):
                return at if self._holds(clause, seen, i, at) else None
            if at == self.end or not self._is_clear(candidate_scores(clause, here, progress), at, clear):
                return None
            progress = progress.advance(self.steps[at])
        return None

    def _is_unique_or_later(self, clause: Clause, here: SceneDescription, progress: Progress, first: bool) -> bool:
        """Whether the referent of a clause is unique among the visible objects, or may still come into view."""
        if clause.act is Act.SEE or (clause.act is not Act.DOOR and clause.landmark is None):
            return True
        count = len(find_referents(clause, here, progress.heading))
        at_once = clause.act in (Act.DOOR, Act.TOWARDS)
        return count == 1 or (count == 0 and not (first and at_once))

    def _is_clear(self, scores: Sequence[float], at: int, clear: float) -> bool:
        right = scores[self.right[at]]
        return right >= MIN_SCORE and all(
            k == self.right[at] or right >= clear * score for k, score in enumerate(scores)
        )

    def landmark_at_goal(self, rng: np.random.Generator) -> Reference | None:
        """A landmark at the end of the path, preferably one that cannot be approached further; None if there is none.

        It is mentioned without a side, because the direction of arrival is unknown.
        """
        seen = self._landmarks(self.end, rng)
        near = [
            (landmark, words)
            for landmark, words in seen
            if not (words.side or words.rank or words.far or words.relation in VIEWED)
            and self._is_at(landmark, self.end, self.end)
        ]
        near.sort(key=lambda pair: self.follow(Clause(Act.STOP, landmark=pair[1]), self.end, pair[0]) is None)
        return near[0][1] if near else None

    def leaves_room(self) -> bool:
        """Whether the path leads through a door, an opening or to another kind of room."""
        return any(step.exit for step in self.steps) or self.descriptions[0].room != self.descriptions[-1].room

    def landmark_at(self, i: int, rng: np.random.Generator) -> Reference | None:
        """A landmark at this place, if there is one."""
        for landmark, reference in self._landmarks(i, rng):
            if (
                landmark.distance <= MARK_DISTANCE
                and self.follow(Clause(Act.REACH, landmark=reference), i, landmark) == i
            ):
                return reference
        return None

    def _holds(self, clause: Clause, seen: DescribedObject | None, i: int, at: int) -> bool:
        """Whether a clause given at place i holds where it ends."""
        if clause.act is Act.STOP and at != self.end:
            return False
        if clause.act is Act.ENTER and seen is not None:
            return any(one.instance == seen.instance and one.inside for one in self.descriptions[at].objects)
        if clause.act in (Act.UP, Act.DOWN) and clause.stride == "landing":
            climb = 1 if clause.act is Act.UP else -1
            return any(candidate.climb == climb for candidate in self.descriptions[at].candidates)
        return clause.act not in (Act.REACH, Act.STOP) or seen is None or self._is_at(seen, i, at)
