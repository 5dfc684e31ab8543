"""The skills there are, by name. A new one is a file like those they are made in, and a line in `skill_table`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Literal, TypeAlias

from itinera.errors import BadArgument
from itinera.hearth.language.vocabulary import ROOM_WORDS
from itinera.skills import stopping, turning
from itinera.skills.categories import OURS
from itinera.skills.objects import seeking_objects
from itinera.skills.rooms import ARRIVED, FARTHEST, MATTERPORT_NAMES, TOWARDS, choosing_room, finding_room
from itinera.skills.trials import Skill

Variant: TypeAlias = Literal["paper", "released", "hearth"]
VARIANTS: tuple[Variant, ...] = ("paper", "released", "hearth")
"""Sentences and filters as the paper words them; as the released scripts have them; as the paper, with rooms and things
called as Hearth's own instructions call them."""


def skill_table(
    variant: Variant = "paper", *, categories: Mapping[str, str] = OURS, orders: turning.Orders | None = None
) -> dict[str, Skill]:
    """All skills by name. The released filter of directions needs `orders`: see `turning`."""
    if variant not in VARIANTS:
        raise BadArgument(f"{variant!r} is no variant of the skills. There are {', '.join(VARIANTS)}.")
    released = variant == "released"
    if released and orders is None:
        raise BadArgument("The released filter of directions needs the order in which agents are shown neighbours.")
    said = "released" if released else "paper"
    names = ROOM_WORDS if variant == "hearth" else MATTERPORT_NAMES
    skills = [
        stopping.stopping(stopping.SENTENCES[said]),
        *(
            turning.turning(direction, turning.SENTENCES[said][direction], orders=orders if released else None)
            for direction in turning.RANGES
        ),
        seeking_objects(categories=categories, own_names=variant == "hearth", least_neighbours=3 if released else 2),
        choosing_room((ARRIVED if released else TOWARDS,), names=names, released=released),
        *(finding_room(steps, names=names, released=released) for steps in range(2, FARTHEST + 1)),
        *(finding_room(steps, within=True, names=names, released=released) for steps in range(1, FARTHEST + 1)),
    ]
    return {skill.name: skill for skill in skills}


SKILLS: Mapping[str, Skill] = skill_table()
"""The skills as the paper has them, with our own table of categories."""

FAMILIES: Mapping[str, tuple[str, ...]] = {
    "direction": tuple(name for name in SKILLS if name.startswith("direction-")),
    "room": tuple(name for name in SKILLS if name.startswith("room-") and "within" not in name),
    "room-within": tuple(name for name in SKILLS if name.startswith("room-within-")),
    "all": tuple(SKILLS),
}
"""Names for several skills at once."""


def named(names: Iterable[str], table: Mapping[str, Skill] = SKILLS) -> list[Skill]:
    """The skills of these names, where the name of a family stands for all of its skills; each once, in order."""
    chosen: dict[str, Skill] = {}
    for name in names:
        members = FAMILIES.get(name, (name,))
        if members[0] not in table:
            near = get_close_matches(name, [*table, *FAMILIES], n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise BadArgument(f"{name!r} is no skill.{hint} There are {', '.join([*FAMILIES, *table])}.")
        chosen |= {member: table[member] for member in members}
    return list(chosen.values())
