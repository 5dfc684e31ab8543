"""Houses for tests, each laid out once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from itinera.hearth.geometry.shell import raise_shell
from itinera.hearth.geometry.solids import Solids
from itinera.hearth.item import Item
from itinera.hearth.layout.generate import lay_out
from itinera.hearth.layout.plan import Plan
from itinera.seeding import generator
from itinera.worlds.mesh import Mesh

SEED = 1


@cache
def _plan(index: int) -> Plan:
    return lay_out(generator(SEED, "house", str(index), "plan"))


@cache
def _shell(index: int) -> tuple[tuple[Item, ...], Mesh]:
    solids = Solids()
    items = raise_shell(_plan(index), generator(SEED, "house", str(index), "shell"), solids)
    return items, solids.mesh()


@pytest.fixture(scope="session")
def plan_of() -> Callable[[int], Plan]:
    """The plan of the house of an index, season 1."""
    return _plan


@pytest.fixture(scope="session")
def shell_of() -> Callable[[int], tuple[tuple[Item, ...], Mesh]]:
    """The doors, windows and stairs of the house of an index, and the mesh of its empty rooms."""
    return _shell
