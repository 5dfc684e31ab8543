"""Houses for tests, each laid out once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from itinera.hearth.geometry.shell import build_shell
from itinera.hearth.geometry.solids import HouseObject, Solids
from itinera.hearth.layout.families import season_house_type
from itinera.hearth.layout.generate import generate_floor_plan
from itinera.hearth.layout.plan import FloorPlan
from itinera.seeding import generator
from itinera.worlds.mesh import Mesh

SEED = 1


@cache
def _plan(index: int) -> FloorPlan:
    return generate_floor_plan(generator(SEED, "house", str(index), "plan"), season_house_type(SEED, index))


@cache
def _shell(index: int) -> tuple[tuple[HouseObject, ...], Mesh]:
    solids = Solids()
    items = build_shell(_plan(index), generator(SEED, "house", str(index), "shell"), solids)
    return items, solids.mesh()


@pytest.fixture(scope="session")
def plan_of() -> Callable[[int], FloorPlan]:
    """The plan of the house of an index, season 1."""
    return _plan


@pytest.fixture(scope="session")
def shell_of() -> Callable[[int], tuple[tuple[HouseObject, ...], Mesh]]:
    """The doors, windows and stairs of the house of an index, and the mesh of its empty rooms."""
    return _shell
