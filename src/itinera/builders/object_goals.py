"""Object goals: short instructions that name an object at the end of a path, in the manner of REVERIE.

An object is used only if its name, with color or shape where needed, is unique among all rooms of that kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from itinera.hearth.build import House
from itinera.hearth.geometry.solids import HouseObject
from itinera.hearth.language.scene_description import BUILDING_CATEGORIES
from itinera.hearth.language.vocabulary import ROOM_WORDS
from itinera.tasks import Episode, Instruction
from itinera.worlds import World

NEAR = 3.0  # metres; REVERIE's objects are no farther from the last viewpoint
TEXTS_PER_OBJECT = 3  # instructions per object
VERBS = ("clean", "dust", "inspect", "touch", "photograph", "take a look at", "point at")
TEMPLATES = (
    "Go to the {room} and {deed} the {thing}.",
    "Walk to the {room}, find the {thing} and {deed} it.",
    "{Deed} the {thing} in the {room}.",
    "Please {deed} the {thing} that is in the {room}.",
    "Find the {thing} in the {room} and {deed} it.",
)


def sample_object_goals(
    house: House, world: World, episodes: Sequence[Episode], rng: np.random.Generator
) -> tuple[Episode, ...]:
    """An object goal at the end of each path, with three instructions; paths without a suitable object are left out.

    The object is in the room of the last viewpoint. `episodes` define the paths; `notes["objId"]` is the object's id.
    """
    paths = {episode.path_id: episode for episode in episodes}
    return tuple(chain.from_iterable(_episodes(house, world, episode, rng) for episode in paths.values()))


def _episodes(house: House, world: World, path_episode: Episode, rng: np.random.Generator) -> list[Episode]:
    goal = str(path_episode.goals[0])
    near = [house.object(int(seen.id)) for seen in world.objects[goal] if seen.distance <= NEAR and len(seen.views)]
    here = [item for item in near if str(item.room) == world.rooms[goal].region_id]
    named = [(item, words) for item in here if (words := find_unique_name(house, item))]
    if not named:
        return []
    item, words = named[int(rng.integers(len(named)))]
    kind = house.plan.rooms[item.room].kind
    texts = [
        _fill_template(TEMPLATES[k], words, kind, rng)
        for k in rng.permutation(len(TEMPLATES))[:TEXTS_PER_OBJECT].tolist()
    ]
    return [
        Episode(
            id=f"{path_episode.path_id}_{i}",
            world_id=path_episode.world_id,
            start=path_episode.start,
            goals=path_episode.goals,
            reference=path_episode.reference,
            instruction=Instruction(text),
            path_id=path_episode.path_id,
            notes={"id": path_episode.path_id, "objId": item.index},
        )
        for i, text in enumerate(texts)
    ]


def find_unique_name(house: House, item: HouseObject) -> str:
    """The shortest name that fits this object and no other in rooms of the same kind; empty if there is none."""
    if item.category in BUILDING_CATEGORIES:
        return ""
    kind = house.plan.rooms[item.room].kind
    others = [
        other
        for other in house.objects
        if other.name == item.name and other.index != item.index and house.plan.rooms[other.room].kind == kind
    ]
    for color, shape in ((False, False), (True, False), (False, True), (True, True)):
        if (color and not item.color) or (shape and not item.shape):
            continue
        alike = [o for o in others if (not color or o.color == item.color) and (not shape or o.shape == item.shape)]
        if not alike:
            return " ".join(word for word in (item.shape * shape, item.color * color, item.name) if word)
    return ""


def _fill_template(phrase: str, thing: str, kind: str, rng: np.random.Generator) -> str:
    deed = VERBS[int(rng.integers(len(VERBS)))]
    room = ROOM_WORDS[kind][int(rng.integers(len(ROOM_WORDS[kind])))]
    return phrase.format(deed=deed, Deed=deed.capitalize(), thing=thing, room=room)
