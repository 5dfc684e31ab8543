"""Named views: labels of pixels by direction and distance, compared with a slow twin."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from itinera.policies.ground.polar_views import (
    BIN,
    FAR,
    FLOOR,
    MIN_PIXELS,
    NUMBERS,
    OBSTACLE_BAND,
    PANORAMA,
    LabelNames,
    LabelWords,
    PolarReader,
    PolarViews,
    bin_numbers,
    label_vocabulary,
    mirror,
)
from itinera.rendering.camera import Camera, Frame
from itinera.simulators.sensors import CameraSensor
from itinera.worlds import Instance
from itinera.worlds.regions import RegionGrid, locate_regions
from named_rooms import named_world
from policies.ground.views import render

WORLD = named_world()
READER = PolarReader.for_world(WORLD)
SMALL = CameraSensor(Camera(16, 16, math.pi / 2), channels=("depth", "classes", "instances"), around=4)


def read_slowly(frames, position, heading, sensor):
    """The counts of (bin, band, label) and the distances to obstacles per bin, pixel by pixel."""
    camera, counts = sensor.camera, Counter()
    columns = [[] for _ in range(24)]
    for view in range(sensor.around):
        direction = heading + view * math.tau / sensor.around
        for u in range(camera.width):
            left_per_depth = (camera.width / 2 - u - 0.5) / camera.focal
            bearing = view * math.tau / sensor.around + math.atan(left_per_depth)
            bin, nearest = math.floor(bearing / BIN + 0.5) % 24, FAR
            for v in range(camera.height):
                depth = float(frames.depth[view, v, u])
                if math.isinf(depth):
                    continue
                up = sensor.height + depth * (camera.height / 2 - v - 0.5) / camera.focal
                away = depth * math.hypot(1, left_per_depth)
                if OBSTACLE_BAND[0] < up < OBSTACLE_BAND[1]:
                    nearest = min(nearest, away)
                label = int(frames.instances[view, v, u])
                if not label and frames.classes[view, v, u] == FLOOR:
                    x = position[0] + depth * (math.cos(direction) - math.sin(direction) * left_per_depth)
                    y = position[1] + depth * (math.sin(direction) + math.cos(direction) * left_per_depth)
                    region = READER.grid.lookup(np.array([[x, y, position[2] + up]]))[0]
                    label = READER.offset + int(region) if region >= 0 else 0
                if label:
                    band = 0 if away < 1.8 else 1 if away < 4.0 else 2
                    counts[bin * 3 + band, label] += 1
            columns[bin].append(nearest)
    return {key: n for key, n in counts.items() if n >= MIN_PIXELS}, columns


@pytest.mark.parametrize("place", [((2.0, 2.0, 0.0), 0.3), ((6.0, 1.5, 0.0), -2.0), ((3.9, 2.0, 0.0), 1.0)])
def test_the_kernel_counts_what_its_slow_twin_counts(place):
    position, heading = np.array(place[0]), place[1]
    frames = render(WORLD, SMALL, position, heading)
    views, free = READER.read(frames, position[None], np.array([heading]), SMALL)
    one = Frame(*(channel[0] if len(channel) else channel for channel in frames.channels))
    counts, columns = read_slowly(one, position, heading, SMALL)
    found = {(int(c), int(k)): w for c, k, w in zip(views.cells, views.labels, views.weights, strict=True)}
    assert found.keys() == counts.keys()
    for key, n in counts.items():
        assert found[key] == pytest.approx(math.log1p(n), rel=1e-3)  # stored in half precision
    for bin, row in enumerate(columns):
        assert free[0, bin, 0] == pytest.approx(sorted(row)[len(row) // 2], rel=1e-5)
        assert free[0, bin, 1] == pytest.approx(min(row), rel=1e-5)


def texts_by_bin(views):
    """The texts in each bin of the first place."""
    texts = LabelNames.from_world(WORLD).texts()
    found = {}
    for cell, label in zip(views.cells.tolist(), views.labels.tolist(), strict=True):
        found.setdefault(cell // 3, set()).add(texts[label])
    return found


def test_things_and_rooms_are_seen_where_they_are():
    position, heading = np.array([2.0, 2.0, 0.0]), 0.0
    frames = render(WORLD, PANORAMA, position, heading)
    seen = texts_by_bin(READER.read(frames, position[None], np.array([heading]), PANORAMA)[0])
    assert "red round wooden dining table" in seen[9]  # at 130 degrees
    assert "bedroom" in seen[0]  # through the opening
    assert "bedroom" not in seen[12]
    assert "kitchen" in seen[12]
    assert not any("blue bed" in texts for texts in (seen[6], seen[18]))


def test_turning_the_agent_by_a_bin_turns_the_sights_by_a_bin():
    position = np.array([2.0, 2.0, 0.0])
    ahead, turned = (
        texts_by_bin(READER.read(render(WORLD, PANORAMA, position, h), position[None], np.array([h]), PANORAMA)[0])
        for h in (0.0, math.radians(90))
    )
    assert turned == {(bin - 6) % 24: texts for bin, texts in ahead.items()}


def test_the_room_of_a_cell_is_that_of_its_middle():
    grid = RegionGrid.from_regions(WORLD.regions)
    places = np.random.default_rng(0).uniform((0.1, 0.1, 0), (7.9, 3.9, 0.2), (50, 3))
    places = places[np.abs(places[:, 0] - 4) > 0.2]
    np.testing.assert_array_equal(grid.lookup(places), locate_regions(WORLD.regions, places))
    assert grid.lookup(np.array([[20.0, 2.0, 0.0], [2.0, 2.0, -3.0]])).tolist() == [-1, -1]


def test_the_words_of_labels_are_those_of_the_kind():
    names = LabelNames.from_world(WORLD)
    assert names.texts()[names.offset] == "kitchen"
    assert names.offset not in names.texts("things")
    assert names.texts("classes") == {1: "table", 2: "bed", 3: "plant"}
    assert {"red", "wooden", "bed", "kitchen"} <= label_vocabulary([names])


def test_labels_become_the_words_of_the_vocabulary_in_order():
    words = LabelWords.from_texts({1: "red table", 3: "unknown bed"}, {"red": 3, "table": 4, "bed": 5})
    views = PolarViews(
        np.array([0, 2, 3]),
        np.array([0, 5, 7], np.uint8),
        np.array([3, 1, 3], np.uint16),
        np.ones(3, np.float32),
        np.zeros((2, 24, len(NUMBERS)), np.float32),
    )
    ids, entries, counts = words.expand(views)
    assert ids.tolist() == [5, 3, 4, 5]
    assert entries.tolist() == [0, 1, 1, 2]
    assert counts.tolist() == [3, 1]


def test_an_instance_is_called_by_its_looks_and_its_name():
    names = LabelNames({1: Instance("chair", color="green", material="leather")}, ())
    assert names.texts()[1] == "green leather chair"


def test_numbers_of_bins_say_what_is_free_and_known_and_where_one_came_from():
    free = np.full((1, 24, 2), np.nan, np.float32)
    free[0, 0] = (2.5, 1.0)
    numbers = dict(zip(NUMBERS, bin_numbers(free, np.array([12]), np.array([True]))[0].T, strict=True))
    assert numbers["free"][0] == 0.5
    assert numbers["nearest"][0] == pytest.approx(0.2, abs=1e-3)
    assert numbers["known"].tolist() == [1.0] + [0.0] * 23
    assert np.flatnonzero(numbers["back"]).tolist() == [12]
    assert np.flatnonzero(numbers["blocked"]).tolist() == [0]
    assert numbers["sine"][6] == pytest.approx(1, abs=1e-3)
    assert numbers["cosine"][12] == pytest.approx(-1, abs=1e-3)


@given(st.integers(0, 10_000))
@settings(max_examples=20)
def test_mirroring_twice_changes_nothing_and_once_exchanges_left_and_right(seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, 3)
    starts = np.concatenate([[0], np.cumsum(counts)])
    m = int(starts[-1])
    numbers = bin_numbers(rng.random((3, 24, 2), np.float32), rng.integers(-1, 24, 3), rng.random(3) < 0.5)
    cells = rng.integers(0, 72, m).astype(np.uint8)
    views = PolarViews(starts, cells, rng.integers(1, 9, m).astype(np.uint16), rng.random(m, np.float32), numbers)
    places = rng.random(3) < 0.5
    flipped = mirror(views, places)
    again = mirror(flipped, places)
    np.testing.assert_array_equal(again.cells, views.cells)
    np.testing.assert_allclose(again.numbers, views.numbers)
    for place in np.flatnonzero(places):
        for k in range(starts[place], starts[place + 1]):
            bin, band = divmod(int(views.cells[k]), 3)
            assert flipped.cells[k] == (-bin % 24) * 3 + band
        np.testing.assert_allclose(flipped.numbers[place, :, :2], views.numbers[place, :, :2], atol=1e-3)


def test_parts_of_sights_are_joined_and_selected():
    numbers = np.zeros((2, 24, len(NUMBERS)), np.float32)
    one = PolarViews(
        np.array([0, 1, 3]),
        np.array([1, 2, 3], np.uint8),
        np.array([4, 5, 6], np.uint16),
        np.ones(3, np.float32),
        numbers,
    )
    joined = PolarViews.concatenate([one, one])
    assert len(joined) == 4
    chosen = joined.select(np.array([3, 0]))
    assert chosen.labels.tolist() == [5, 6, 4]
    assert chosen.starts.tolist() == [0, 2, 3]
