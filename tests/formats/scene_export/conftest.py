"""One house of Hearth, and its parts, for the tests of all formats."""

from __future__ import annotations

import pytest

from itinera.formats.scene_export.parts import Part, split_house
from itinera.hearth.build import House, build_house


@pytest.fixture(scope="session")
def house() -> House:
    """The house of the `season` fixture."""
    return build_house(1, 1)


@pytest.fixture(scope="session")
def parts(house: House) -> tuple[Part, ...]:
    return split_house(house)
