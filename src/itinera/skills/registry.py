"""All skills by name. To add one, write a file like those of the existing skills and a line in `make_skills`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Literal, TypeAlias

from itinera.errors import BadArgument
from itinera.hearth.language.vocabulary import ROOM_WORDS
from itinera.skills import stopping, turning
from itinera.skills.categories import DEFAULT_CATEGORIES
from itinera.skills.objects import object_skill
from itinera.skills.rooms import (
    MATTERPORT_NAMES,
    MAX_STEPS,
    SENTENCE,
    SENTENCE_WITH_STOP,
    adjacent_room_skill,
    room_search_skill,
)
from itinera.skills.trials import Skill

Variant: TypeAlias = Literal["paper", "released", "hearth"]
VARIANTS: tuple[Variant, ...] = ("paper", "released", "hearth")
"""Sentences and filters as described in the paper; as in the released scripts; as in the paper, with the names of
rooms and objects that Hearth's own instructions use."""


def make_skills(
    variant: Variant = "paper",
    *,
    categories: Mapping[str, str] = DEFAULT_CATEGORIES,
    orders: turning.NeighborOrders | None = None,
) -> dict[str, Skill]:
    """All skills by name. The released filter of directions needs `orders`: see `turning.direction_skill`."""
    if variant not in VARIANTS:
        raise BadArgument(f"variant must be one of {', '.join(VARIANTS)}, not {variant!r}.")
    released = variant == "released"
    if released and orders is None:
        raise BadArgument("variant 'released' needs `orders`: by world and node, the neighbours in the agent's order.")
    wording = "released" if released else "paper"
    names = ROOM_WORDS if variant == "hearth" else MATTERPORT_NAMES
    skills = [
        stopping.stop_skill(stopping.SENTENCES[wording]),
        *(
            turning.direction_skill(
                direction, turning.SENTENCES[wording][direction], orders=orders if released else None
            )
            for direction in turning.RANGES
        ),
        object_skill(categories=categories, own_names=variant == "hearth", min_neighbors=3 if released else 2),
        adjacent_room_skill((SENTENCE_WITH_STOP if released else SENTENCE,), names=names, released=released),
        *(room_search_skill(steps, names=names, released=released) for steps in range(2, MAX_STEPS + 1)),
        *(room_search_skill(steps, within=True, names=names, released=released) for steps in range(1, MAX_STEPS + 1)),
    ]
    return {skill.name: skill for skill in skills}


SKILLS: Mapping[str, Skill] = make_skills()
"""The skills as described in the paper, with the built-in table of categories."""

FAMILIES: Mapping[str, tuple[str, ...]] = {
    "direction": tuple(name for name in SKILLS if name.startswith("direction-")),
    "room": tuple(name for name in SKILLS if name.startswith("room-") and "within" not in name),
    "room-within": tuple(name for name in SKILLS if name.startswith("room-within-")),
    "all": tuple(SKILLS),
}
"""Names that stand for several skills."""


def select_skills(names: Iterable[str], table: Mapping[str, Skill] = SKILLS) -> list[Skill]:
    """The skills of these names, each once, in order; the name of a family stands for all of its skills.

    >>> [skill.name for skill in select_skills(["stop", "direction-left"])]
    ['stop', 'direction-left']
    """
    selected: dict[str, Skill] = {}
    for name in names:
        members = FAMILIES.get(name, (name,))
        if members[0] not in table:
            near = get_close_matches(name, [*table, *FAMILIES], n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise BadArgument(f"{name!r} is not a skill.{hint} Use one of {', '.join([*FAMILIES, *table])}.")
        selected |= {member: table[member] for member in members}
    return list(selected.values())
