"""A house from a seed: plan, walls, furniture, and the mesh of it all."""

from __future__ import annotations

from dataclasses import dataclass

from itinera.errors import BadArgument
from itinera.hearth.furniture.furnish import furnish
from itinera.hearth.geometry.shell import raise_shell
from itinera.hearth.geometry.solids import Solids
from itinera.hearth.item import Item
from itinera.hearth.layout.generate import lay_out
from itinera.hearth.layout.plan import Plan
from itinera.seeding import generator
from itinera.worlds.mesh import Mesh


@dataclass(frozen=True, eq=False)
class House:
    """A place with everything in it."""

    id: str
    plan: Plan
    items: tuple[Item, ...]  # item k has index k + 1
    mesh: Mesh

    def item(self, instance: int) -> Item:
        """The thing a face's instance stands for."""
        return self.items[instance - 1]


def build_house(seed: int, index: int, *, id: str = "") -> House:
    """The house of this index in the season of this seed: the same whenever and wherever it is asked for."""
    if seed < 0 or index < 0:
        raise BadArgument(f"Seeds and house numbers count from 0; got seed {seed}, house {index}.")
    names = ("house", str(index))
    plan = lay_out(generator(seed, *names, "plan"))
    solids = Solids()
    fixtures = raise_shell(plan, generator(seed, *names, "shell"), solids)
    furniture = furnish(plan, fixtures, generator(seed, *names, "furniture"), solids)
    return House(id or f"hearth-{seed}-{index:03d}", plan, (*fixtures, *furniture), solids.mesh())
