"""A house from a seed: floor plan, walls, furniture, and their mesh."""

from __future__ import annotations

from dataclasses import dataclass

from itinera.errors import BadArgument
from itinera.hearth.furniture.furnish import furnish
from itinera.hearth.geometry.shell import build_shell
from itinera.hearth.geometry.solids import HouseObject, Solids
from itinera.hearth.layout.families import season_house_type
from itinera.hearth.layout.generate import generate_floor_plan
from itinera.hearth.layout.plan import FloorPlan
from itinera.seeding import generator
from itinera.worlds.mesh import Mesh

MAX_CLUTTER = 3.0


@dataclass(frozen=True, eq=False)
class House:
    """A furnished house."""

    id: str
    plan: FloorPlan
    objects: tuple[HouseObject, ...]  # object k has index k + 1
    mesh: Mesh

    def object(self, instance: int) -> HouseObject:
        """The object of an instance in the mesh."""
        return self.objects[instance - 1]


def build_house(seed: int, index: int, *, id: str = "", clutter: float = 1.0) -> House:
    """The house of this index in the season of this seed: a pure function of both.

    `clutter` scales the number of small things: 0 for none, 1 as usual, 2 for a messy house.
    """
    if not 0 <= clutter <= MAX_CLUTTER:
        raise BadArgument(f"clutter must be between 0 (none) and {MAX_CLUTTER:g} (got {clutter:g}); 1 is usual.")
    if seed < 0 or index < 0:
        raise BadArgument(f"Seeds and house indices must be ≥ 0; got seed {seed}, house {index}.")
    names = ("house", str(index))
    plan = generate_floor_plan(generator(seed, *names, "plan"), season_house_type(seed, index))
    solids = Solids()
    fixtures = build_shell(plan, generator(seed, *names, "shell"), solids)
    furniture = furnish(plan, fixtures, generator(seed, *names, "furniture"), solids, clutter=clutter)
    return House(id or f"hearth-{seed}-{index:03d}", plan, (*fixtures, *furniture), solids.mesh())
