"""Words for what is visible: rooms and objects by direction, from scene descriptions, annotated views or images."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from itinera.agents.services.prompts import describe_turn
from itinera.hearth.language.scene_description import DescribedObject, SceneDescription
from itinera.simulators.ground import wrap_angle
from itinera.simulators.simulator import Observation
from itinera.simulators.view_features import feature_kind
from itinera.worlds import World
from itinera.worlds.labels import ROOM_NAMES

NEAR_DIRECTION = math.radians(35)  # objects within this angle of a candidate are mentioned with it
MAX_NAMED = 6  # objects that are mentioned with a candidate
MAX_AROUND = 8  # other objects
MIN_PIXELS = 6 / 128**2  # share of an image that an object fills to be mentioned
FAR_SIDE = 1 / 6  # of the width of an image: nearer to its middle than this is ahead


@dataclass(frozen=True)
class SceneText:
    """What is visible at a viewpoint, in words."""

    room: str  # "kitchen"; empty where unknown
    options: tuple[str, ...]  # of each candidate: the room there and the objects in its direction
    around: str  # objects in other directions


def describe_viewpoint(observation: Observation, columns: Sequence[str]) -> SceneText:
    """The words for a viewpoint: from the scene description, else from annotated views with these columns."""
    assert observation.candidates is not None
    if isinstance(observation.description, SceneDescription):
        return _from_description(observation.description, observation.heading)
    if observation.views is not None and columns:
        return _from_views(observation, columns)
    return SceneText("", ("",) * len(observation.candidates.nodes), "")


def room_name(code: str) -> str:
    """The name of a room by Matterport's code, its first synonym; empty for rooms without a name.

    >>> room_name("k"), room_name("e"), room_name("-")
    ('kitchen', 'entryway', '')
    """
    return "" if code in ("-", "z", "Z", "") else ROOM_NAMES.get(code, "").split("/")[0]


def _from_description(description: SceneDescription, heading: float) -> SceneText:
    left, options = sorted(description.objects, key=lambda thing: (thing.distance, thing.name, thing.heading)), []
    taken: set[int] = set()
    for candidate in description.candidates:
        near = [
            (k, thing)
            for k, thing in enumerate(left)
            if abs(wrap_angle(thing.heading - candidate.heading)) <= NEAR_DIRECTION
        ][:MAX_NAMED]
        taken.update(k for k, _ in near)
        through = {"door": "through a door", "opening": "through an opening"}.get(candidate.exit, "")
        climb = {1: "up", -1: "down"}.get(candidate.climb, "")
        room = room_name(candidate.room)
        way = ", ".join(part for part in (climb, through, f"to the {room}" if room else "") if part)
        objects = ", ".join(_name_object(thing) for _, thing in near)
        options.append("; ".join(part for part in (way, f"you see {objects}" if objects else "") if part))
    others = [thing for k, thing in enumerate(left) if k not in taken][:MAX_AROUND]
    around = ", ".join(f"{_name_object(thing)} {describe_turn(thing.heading - heading)}" for thing in others)
    return SceneText(room_name(description.room), tuple(options), around)


def _name_object(thing: DescribedObject) -> str:
    words = " ".join(part for part in (thing.color, thing.shape, thing.material, thing.name) if part)
    return f"{words} ({thing.distance:.1f} m)"


def _from_views(observation: Observation, columns: Sequence[str]) -> SceneText:
    assert observation.candidates is not None
    assert observation.views is not None
    views = np.asarray(observation.views)
    objects = [k for k, column in enumerate(columns) if not feature_kind(column)]
    rooms = {kind: [k for k, name in enumerate(columns) if feature_kind(name) == kind] for kind in ("in", "to")}
    here = [columns[k].removeprefix("in ") for k in rooms["in"] if views[:, k].any()]
    options = []
    for view in observation.candidates.views.tolist():
        row = views[view]
        beyond = [columns[k].removeprefix("to ") for k in rooms["to"] if row[k] > 0]
        largest = sorted((k for k in objects if row[k] > 0), key=lambda k: (-row[k], columns[k]))[:MAX_NAMED]
        seen = ", ".join(columns[k] for k in largest)
        way = f"to the {beyond[0].split('/')[0]}" if beyond else ""
        options.append("; ".join(part for part in (way, f"you see {seen}" if seen else "") if part))
    return SceneText(here[0].split("/")[0] if here else "", tuple(options), "")


def describe_image(observation: Observation, world: World) -> str:
    """The words for a camera image: the room, and the named objects with their distance and side, nearest first."""
    frame = observation.frame
    assert frame is not None
    room = world.room_at(np.asarray(observation.place, dtype=np.float64))
    name = "" if room is None else room_name(room.label)
    found = []
    for instance, count in zip(*np.unique(frame.instances, return_counts=True), strict=True):
        known = world.instances.get(int(instance))
        if known is None or not known.name or count < MIN_PIXELS * frame.instances.size:
            continue
        mask = frame.instances == instance
        distance = float(np.median(frame.depth[mask]))
        side = float(np.median(np.nonzero(mask)[1])) / frame.instances.shape[1] - 0.5
        where = "ahead" if abs(side) <= FAR_SIDE else f"on the {'right' if side > 0 else 'left'}"
        words = " ".join(part for part in (known.color, known.shape, known.material, known.name) if part)
        found.append((distance, f"{words} {where} ({distance:.1f} m)"))
    middle = frame.depth[frame.depth.shape[0] // 2, frame.depth.shape[1] // 2]
    parts = [
        f"You are in the {name}." if name else "",
        f"You see {', '.join(words for _, words in sorted(found))}." if found else "You see no object.",
        f"Straight ahead the view is free for {middle:.1f} m." if np.isfinite(middle) else "",
    ]
    return " ".join(part for part in parts if part)
