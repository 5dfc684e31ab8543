"""Objects to find: short instructions that name a thing at the end of a path, in the manner of REVERIE.

A thing is named only if its name, with its colour or shape where needed, fits no other in any room of that kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from itinera.hearth.build import House
from itinera.hearth.item import Item
from itinera.hearth.language.scene_description import UNSPOKEN
from itinera.hearth.language.vocabulary import ROOM_WORDS
from itinera.tasks import Episode, Instruction
from itinera.worlds import World

NEAR = 3.0  # metres; REVERIE's objects are no farther from the last viewpoint
TEXTS = 3  # instructions for each object
DEEDS = ("clean", "dust", "inspect", "touch", "photograph", "take a look at", "point at")
PHRASES = (
    "Go to the {room} and {deed} the {thing}.",
    "Walk to the {room}, find the {thing} and {deed} it.",
    "{Deed} the {thing} in the {room}.",
    "Please {deed} the {thing} that is in the {room}.",
    "Find the {thing} in the {room} and {deed} it.",
)


def finding_tasks(
    house: House, world: World, episodes: Sequence[Episode], rng: np.random.Generator
) -> tuple[Episode, ...]:
    """An object to find at the end of each path, with three instructions; paths that end at none are left out.

    It is in the room of the last viewpoint. `episodes` tell the paths; `notes["objId"]` is the object's id.
    """
    paths = {episode.path_id: episode for episode in episodes}
    return tuple(chain.from_iterable(_episodes(house, world, episode, rng) for episode in paths.values()))


def _episodes(house: House, world: World, told: Episode, rng: np.random.Generator) -> list[Episode]:
    goal = str(told.goals[0])
    near = [house.item(int(seen.id)) for seen in world.objects[goal] if seen.distance <= NEAR and len(seen.views)]
    here = [item for item in near if str(item.room) == world.rooms[goal].region_id]
    named = [(item, words) for item in here if (words := unmistakable(house, item))]
    if not named:
        return []
    item, words = named[int(rng.integers(len(named)))]
    kind = house.plan.rooms[item.room].kind
    texts = [_said(PHRASES[k], words, kind, rng) for k in rng.permutation(len(PHRASES))[:TEXTS].tolist()]
    return [
        Episode(
            id=f"{told.path_id}_{i}",
            world_id=told.world_id,
            start=told.start,
            goals=told.goals,
            reference=told.reference,
            instruction=Instruction(text),
            path_id=told.path_id,
            notes={"id": told.path_id, "objId": item.index},
        )
        for i, text in enumerate(texts)
    ]


def unmistakable(house: House, item: Item) -> str:
    """The shortest words that fit this item and no other in rooms of the same kind; empty if there are none."""
    if item.category in UNSPOKEN:
        return ""
    kind = house.plan.rooms[item.room].kind
    others = [
        other
        for other in house.items
        if other.name == item.name and other.index != item.index and house.plan.rooms[other.room].kind == kind
    ]
    for colour, shape in ((False, False), (True, False), (False, True), (True, True)):
        if (colour and not item.colour) or (shape and not item.shape):
            continue
        alike = [o for o in others if (not colour or o.colour == item.colour) and (not shape or o.shape == item.shape)]
        if not alike:
            return " ".join(word for word in (item.shape * shape, item.colour * colour, item.name) if word)
    return ""


def _said(phrase: str, thing: str, kind: str, rng: np.random.Generator) -> str:
    deed = DEEDS[int(rng.integers(len(DEEDS)))]
    room = ROOM_WORDS[kind][int(rng.integers(len(ROOM_WORDS[kind])))]
    return phrase.format(deed=deed, Deed=deed.capitalize(), thing=thing, room=room)
