from __future__ import annotations

import pytest

from itinera.hearth.build import build_house
from itinera.skills.categories import DEFAULT_CATEGORIES, lookup_category
from itinera.worlds.labels import MPCAT40


def test_every_category_of_our_table_is_one_of_matterports():
    assert set(DEFAULT_CATEGORIES.values()) <= set(MPCAT40)


@pytest.mark.parametrize(
    ("name", "category"),
    [
        ("pillow", "cushion"),
        ("dining chair", "chair"),
        ("round coffee table", "table"),
        ("table lamp", "lighting"),
        ("bedside table", "chest_of_drawers"),
        ("tv stand", "furniture"),
        ("gym equipment", "gym_equipment"),
        ("table of contents", None),
        ("", None),
    ],
)
def test_a_name_is_known_whole_or_by_its_last_word(name, category):
    assert lookup_category(name) == category


def test_our_table_calls_the_things_of_hearth_what_hearth_does():
    for index in (0, 3):
        for item in build_house(1, index).objects:
            assert lookup_category(item.name) == item.category, item.name


def test_a_given_table_does_not_guess_by_last_words():
    assert lookup_category("coffee table", {"table": "table"}) is None
