"""The families of houses in a season."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from itinera.hearth.layout.families import FAMILIES, STOREYS, season_house_type


@pytest.mark.parametrize("seed", [1, 2, 7, 2**100])
def test_a_season_has_every_family_in_its_fraction(seed: int) -> None:
    families = Counter(season_house_type(seed, index).family for index in range(90))
    for family, share in FAMILIES.items():
        assert families[family] / 90 == pytest.approx(share, abs=0.05)


@pytest.mark.parametrize("seed", [1, 2, 7, 2**100])
def test_two_of_three_houses_of_a_season_have_several_storeys(seed: int) -> None:
    storeys = np.array([season_house_type(seed, index).storeys for index in range(90)])
    assert 0.62 <= np.mean(storeys > 1) <= 0.74
    assert 0.3 <= np.mean(storeys > 2) <= 0.48


def test_no_house_has_a_number_of_storeys_that_its_family_lacks() -> None:
    for index in range(300):
        house = season_house_type(3, index)
        assert STOREYS[house.family][house.storeys - 1] > 0


def test_seasons_differ_and_a_type_is_a_pure_function_of_seed_and_index() -> None:
    first, again, other = ([season_house_type(seed, index) for index in range(30)] for seed in (1, 1, 2))
    assert first == again
    assert first != other
