"""References: expressions for visible objects, and which objects they match. Start with `Reference`.

An expression combines a name, looks, a side of the viewer, an ordinal, and a relation to one or two other objects.
Relations are judged as the viewer sees them: "left of the fridge" is left in the image.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from itinera.hearth.language.scene_description import DescribedDoor, DescribedObject, SceneDescription

AHEAD_ANGLE = math.radians(20)  # an object within this angle of straight ahead,
AHEAD_OFFSET = 0.7  # and at most so many metres to the side, is on neither side
FAR_DISTANCE = 5.0  # metres from which an object is "in the distance"
NEXT_GAP = 0.5  # metres between two objects next to each other
NEAR_ANCHOR = 2.4  # metres to the object that a relation refers to
MIN_OFFSET = 0.4  # metres to the left, right or back that people would call so
BETWEEN_DISTANCE = 0.7  # metres from the line between two objects
MAX_SPAN = 5.0  # metres from one to the other of two objects with something in between
STACK_HEIGHT = 0.75  # metres of height difference up to which a small object stands on a larger one
MAX_STACKED_SIZE = 0.7  # metres, its longest side
GROUP_SPREAD = 2.2  # metres from the center of a group to its farthest member
LAST = -1  # the rank of the farthest object


@dataclass(frozen=True)
class Reference:
    """A referring expression for one of the visible objects, or for a group of equal ones."""

    name: str
    color: str = ""
    shape: str = ""
    side: str = ""  # "left" or "right" of the heading, if mentioned
    material: str = ""
    rank: int = 0  # from 1, the nearest; LAST for the farthest; 0 if not mentioned
    relation: str = ""  # a key of RELATIONS
    anchors: tuple[Reference, ...] = ()  # the objects of the relation: two for "between", else one
    count: int = 0  # "the two chairs"; 0 for a single object
    far: bool = False  # "in the distance"

    def matches(self, landmark: DescribedObject, heading: float) -> bool:
        """Whether name, looks and place fit; relations, ranks and counts need the whole scene."""
        return (
            landmark.name.endswith(self.name)
            and self.color in ("", landmark.color)
            and self.shape in ("", landmark.shape)
            and self.material in ("", landmark.material)
            and (not self.far or landmark.distance > FAR_DISTANCE)
            and (not self.side or self.side == relative_side(landmark, heading))
        )


def wrap_angle(angle: float) -> float:
    """The angle in (-pi, pi]."""
    return math.pi - (math.pi - angle) % (2 * math.pi)


def relative_side(seen: DescribedObject | DescribedDoor, heading: float) -> str:
    """The side of an object relative to a heading: "left", "right", "ahead" or "behind".

    "Ahead" means within some degrees of straight ahead and not far to the side: the doors along a hall are on its sides
    at any distance.
    """
    angle = wrap_angle(seen.heading - heading)
    if abs(angle) <= AHEAD_ANGLE and abs(math.sin(angle)) * seen.distance <= AHEAD_OFFSET:
        return "ahead"
    if abs(angle) >= math.pi - AHEAD_ANGLE:
        return "behind"
    return "left" if angle > 0 else "right"


def matching_objects(reference: Reference, description: SceneDescription, heading: float) -> list[DescribedObject]:
    """The visible objects that match the expression, nearest first; a group is one object at its center."""
    named = description.objects_named(reference.name)
    found = [landmark for landmark in named if reference.matches(landmark, heading)]
    if reference.relation and found:
        found = _related(reference, found, description, heading)
    found.sort(key=lambda landmark: (landmark.distance, landmark.heading))
    if reference.count:
        return _group(found, reference.count)
    if reference.rank:
        return found[-1:] if reference.rank == LAST else found[reference.rank - 1 : reference.rank]
    return found


def _related(
    reference: Reference, found: Sequence[DescribedObject], description: SceneDescription, heading: float
) -> list[DescribedObject]:
    anchors = [matching_objects(anchor, description, heading) for anchor in reference.anchors]
    holds = RELATIONS[reference.relation]
    return [
        landmark
        for landmark in found
        if any(landmark not in chosen and holds(landmark, *chosen) for chosen in itertools.product(*anchors))
    ]


def _group(found: Sequence[DescribedObject], count: int) -> list[DescribedObject]:
    """The group of exactly so many objects, as an object at their center; empty if there is no such group."""
    if len(found) != count:
        return []
    x, y = (sum(one.offset[k] for one in found) / count for k in (0, 1))
    if max(math.dist((x, y), one.offset) for one in found) > GROUP_SPREAD:
        return []
    place = round(math.atan2(y, x), 6), round(math.hypot(x, y), 6)
    return [replace(found[0], heading=place[0], distance=place[1])]


def _apart(a: DescribedObject, b: DescribedObject) -> float:
    return math.dist(a.offset, b.offset)


def _is_next_to(a: DescribedObject, b: DescribedObject) -> bool:
    return _apart(a, b) <= min((a.size + b.size) / 2 + NEXT_GAP, NEAR_ANCHOR) and not _is_stacked(a, b)


def _is_stacked(a: DescribedObject, b: DescribedObject) -> bool:
    """Whether one is on, above or under the other."""
    return _apart(a, b) < 0.5 * max(a.size, b.size) and abs(a.height - b.height) > 0.25


def _from_anchor(a: DescribedObject, b: DescribedObject) -> tuple[float, float]:
    """How far a is beyond b and to the left of b, as the viewer sees them, metres."""
    dx, dy = a.offset[0] - b.offset[0], a.offset[1] - b.offset[1]
    cos, sin = math.cos(b.heading), math.sin(b.heading)
    return dx * cos + dy * sin, dy * cos - dx * sin


def _is_to_the_left(a: DescribedObject, b: DescribedObject) -> bool:
    beyond, left = _from_anchor(a, b)
    return left >= max(MIN_OFFSET, abs(beyond)) and _apart(a, b) <= NEAR_ANCHOR + b.size / 2


def _is_to_the_right(a: DescribedObject, b: DescribedObject) -> bool:
    beyond, left = _from_anchor(a, b)
    return -left >= max(MIN_OFFSET, abs(beyond)) and _apart(a, b) <= NEAR_ANCHOR + b.size / 2


def _is_behind(a: DescribedObject, b: DescribedObject) -> bool:
    beyond, left = _from_anchor(a, b)
    return beyond >= max(MIN_OFFSET, 2 * abs(left)) and _apart(a, b) <= NEAR_ANCHOR and not _is_stacked(a, b)


def _is_between(a: DescribedObject, b: DescribedObject, c: DescribedObject) -> bool:
    (x, y), (u, v) = b.offset, c.offset
    length = math.hypot(u - x, v - y)
    if b == c or not 1.0 < length <= MAX_SPAN:
        return False
    dx, dy = (u - x) / length, (v - y) / length
    along = (a.offset[0] - x) * dx + (a.offset[1] - y) * dy
    aside = (a.offset[1] - y) * dx - (a.offset[0] - x) * dy
    return 0.2 * length <= along <= 0.8 * length and abs(aside) <= BETWEEN_DISTANCE


def _is_on(a: DescribedObject, b: DescribedObject) -> bool:
    lies_over = _apart(a, b) <= 0.45 * b.size and a.size <= min(MAX_STACKED_SIZE, b.size)
    return lies_over and 0.1 < a.height - b.height < STACK_HEIGHT


def _carries(a: DescribedObject, b: DescribedObject) -> bool:
    return _is_on(b, a)


def _is_above(a: DescribedObject, b: DescribedObject) -> bool:
    return a.height - b.height >= STACK_HEIGHT and _apart(a, b) <= max(0.45 * b.size, 0.5)


def _is_below(a: DescribedObject, b: DescribedObject) -> bool:
    return _is_above(b, a)


RELATIONS: Mapping[str, Callable[..., bool]] = MappingProxyType(
    {
        "next to": _is_next_to,
        "left of": _is_to_the_left,
        "right of": _is_to_the_right,
        "behind": _is_behind,
        "between": _is_between,
        "on": _is_on,
        "with": _carries,  # "the table with the vase on it"
        "above": _is_above,
        "below": _is_below,
    }
)
"""Relations between an object and one or two others, by name."""
