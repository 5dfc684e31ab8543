"""PolarViews remembered in a rich map: names survive a turn of the head, and the lifetimes of maps hold for them."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from itinera.mapping.config import MapLifetime
from itinera.policies.ground._polar_kernels import count_cells
from itinera.policies.ground.polar_views import BAND_LIMITS, FRONT, LabelNames
from itinera.policies.ground.remembered_views import RICH_MAP, RememberedViews
from itinera.rendering.camera import Frame
from named_rooms import named_world
from policies.ground.views import render

WORLD = named_world()
PLACE = np.array([2.0, 2.0, 0.0])
NAMES = LabelNames.from_world(WORLD).texts()


def look(memory, heading):
    frames = render(WORLD, FRONT, PLACE, heading)
    front = Frame(*(channel[:, 0] if len(channel) else channel for channel in frames.channels))
    memory.insert(front, PLACE[None], np.array([heading]), [0])


def recall(memory, heading=0.0):
    """The texts in each bin."""
    views, _ = memory.read(PLACE[None], np.array([heading]), [0])
    found = {}
    for cell, label in zip(views.cells.tolist(), views.labels.tolist(), strict=True):
        found.setdefault(cell // 3, set()).add(NAMES[label])
    return found


def test_what_was_seen_is_remembered_in_its_direction_after_a_turn():
    memory = RememberedViews([WORLD])
    look(memory, math.radians(135))  # towards the table
    seen = {text for texts in recall(memory).values() for text in texts}
    assert "red round wooden dining table" in recall(memory)[9]
    assert "bedroom" not in seen
    look(memory, 0.0)
    assert "red round wooden dining table" in recall(memory)[9]
    assert "bedroom" in recall(memory)[0]
    assert "red round wooden dining table" in recall(memory, math.radians(90))[3]


def test_free_distances_are_those_of_the_last_front_view():
    memory = RememberedViews([WORLD])
    look(memory, 0.0)
    _, free = memory.read(PLACE[None], np.array([0.0]), [0])
    assert np.isfinite(free[0, [0, 1, 2, 22, 23]]).all()
    assert np.isnan(free[0, 6:18]).all()


def test_an_episodic_map_is_cleared_with_the_episode_and_an_iterative_one_is_not():
    for lifetime, kept in ((MapLifetime.EPISODIC, False), (MapLifetime.ITERATIVE, True)):
        memory = RememberedViews([WORLD], lifetime)
        look(memory, math.radians(135))
        memory.clear([0])
        assert bool(recall(memory)) is kept
        memory.forget([0], [WORLD])
        assert not recall(memory)


def test_a_known_map_has_all_names_from_the_start_and_learns_nothing():
    memory = RememberedViews([WORLD], MapLifetime.KNOWN)
    known = recall(memory)
    texts = {text for row in known.values() for text in row}
    assert texts == set(NAMES.values())
    assert "red round wooden dining table" in known[9]
    look(memory, 0.0)
    assert recall(memory) == known


def test_polar_cells_are_counted_as_a_slow_twin_counts_them():
    rng = np.random.default_rng(1)
    maps = rng.choice([0, 0, 0, 4, 7], (2, 20, 20)).astype(np.uint16)
    starts, room = np.empty(3, np.int64), 2000
    cells, labels, counts = np.empty(room, np.uint8), np.empty(room, np.uint16), np.empty(room, np.int32)
    total = count_cells(maps, 0.5, np.array(BAND_LIMITS), starts, cells, labels, counts)
    for agent in range(2):
        expected = Counter()
        for i, j in zip(*np.nonzero(maps[agent]), strict=True):
            ahead, left = (10 - int(i)) * 0.5, (10 - int(j)) * 0.5
            bin = math.floor(math.atan2(left, ahead) / (math.tau / 24) + 0.5) % 24
            away = math.hypot(ahead, left)
            band = 0 if away < 1.8 else 1 if away < 4 else 2
            expected[bin * 3 + band, int(maps[agent, i, j])] += 1
        part = slice(starts[agent], starts[agent + 1])
        rows = zip(cells[part].tolist(), labels[part].tolist(), counts[part].tolist(), strict=True)
        assert {(c, k): n for c, k, n in rows} == expected
    assert count_cells(maps, 0.5, np.array(BAND_LIMITS), starts, cells[:3], labels, counts) == total


def test_the_map_reaches_farther_than_the_last_distance_band():
    assert RICH_MAP.reach > BAND_LIMITS[1]
    assert RICH_MAP.insertion[0] < -FRONT.height
    assert pytest.approx(RICH_MAP.camera_height) == FRONT.height
