"""Worlds made when they are asked for."""

from __future__ import annotations

import pytest

from itinera.worlds import Euclidean, World
from itinera.worlds.lazy import CACHE_SIZE, LazyMapping


def test_a_world_is_made_once_while_it_is_kept_and_again_later():
    made = []

    def make(name: str) -> World:
        made.append(name)
        return World(name, Euclidean())

    names = [str(k) for k in range(CACHE_SIZE + 1)]
    worlds = LazyMapping(names, make)
    assert (list(worlds), len(worlds), "0" in worlds, "x" in worlds, made) == (names, CACHE_SIZE + 1, True, False, [])
    assert worlds["0"] is worlds["0"]
    assert made == ["0"]
    assert [worlds[name].id for name in names] == names
    worlds["0"]
    assert made == [*names, "0"]


def test_a_world_that_is_not_there_is_missed():
    with pytest.raises(KeyError, match="x"):
        LazyMapping(["a"], lambda name: World(name, Euclidean()))["x"]
