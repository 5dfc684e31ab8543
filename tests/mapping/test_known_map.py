"""Known maps: what they contain, and that what is seen agrees with them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from itinera.errors import BadArgument
from itinera.hearth.ground import ground_world
from itinera.mapping.config import MapConfig
from itinera.mapping.egocentric_map import SemanticMaps
from itinera.mapping.known_map import known_instances, known_map
from itinera.mapping.labels import paper_table
from itinera.mapping.storeys import find_floors
from itinera.rendering.camera import Camera
from itinera.rendering.rasterizer import Rasterizer
from itinera.seeding import generator
from itinera.worlds import World
from itinera.worlds.labels import MAP_CLASSES
from mapping.test_egocentric_map import EYE, HALL, LIFT, STAIRS

CAMERA = Camera(128, 128, math.pi / 2)


def test_a_known_map_has_every_wall_and_object_within_the_band():
    heights, labels = known_map(HALL).storey(0)
    i0, j0 = known_map(HALL).grids.grids[0, :2]
    table = labels == MAP_CLASSES.index("table")
    j, i = np.nonzero(table)
    x, y = (i + i0) * 0.05, (j + j0) * 0.05
    # The large box, 1.8 m high, has sides only: its top is above the band. The small one, 0.7 m high, has a top.
    small = (x > 3.5) & (np.abs(heights[j, i] - 0.7) < 1e-6)
    assert small.sum() >= 12 * 14
    assert not ((x > 2.1) & (x < 2.9) & (y > 1.1) & (y < 2.9)).any()
    walls = np.isfinite(heights) & (labels == 0)
    assert walls[0 - j0, -i0 : 6 * 20 - i0].all()
    assert walls[4 * 20 - j0, -i0 : 6 * 20 - i0].all()
    assert np.isfinite(heights)[heights > -np.inf].all()
    assert heights[np.isfinite(heights)].min() > 0.25
    assert heights.max() < 1.75


def test_instances_are_kept_as_labels():
    assert set(np.unique(known_instances(HALL).labels).tolist()) == {0, 1}
    with pytest.raises(BadArgument, match="no mesh"):
        known_instances(World("bare", HALL.space))
    with pytest.raises(BadArgument, match="no mesh"):
        known_map(World("bare", HALL.space))


def test_a_known_map_of_another_world_is_refused():
    maps = SemanticMaps([HALL])
    with pytest.raises(BadArgument, match="another world"):
        maps.load([0], [known_map(STAIRS)])
    with pytest.raises(BadArgument, match="another world"):
        maps.load([0], [known_map(HALL, MapConfig(column=0.1))])


def test_storeys_are_the_levels_with_ground_to_stand_on():
    np.testing.assert_allclose(find_floors(STAIRS.space.ground, separation=2.0), [0.0, 2.7])
    np.testing.assert_allclose(find_floors(HALL.space.ground, separation=2.0), [0.0])


def test_what_is_seen_in_a_house_is_in_its_known_map_and_each_storey_in_half_a_megabyte():
    house = ground_world(1, 3, radius=0.18)
    rng = generator(2, "known")
    raster, seen, known = Rasterizer(house.mesh), SemanticMaps([house]), SemanticMaps([house])
    known.load([0], [known_map(house)])
    places = house.space.sample(rng, 60)
    places = places[np.argsort(places[:, 2])]
    headings = rng.uniform(-math.pi, math.pi, len(places))
    frames = raster.render_many(CAMERA, places + LIFT, headings, channels=("depth", "classes"))
    zeros = np.zeros(len(places), dtype=int)
    seen.insert(frames.depth, frames.classes, places + LIFT, headings, CAMERA, zeros, table=paper_table())
    level = np.isclose(places[:, 2], 0.0, atol=0.02) | np.isclose(places[:, 2], 2.9, atol=0.02)
    a = seen.read(places[level] + LIFT, headings[level], zeros[level])
    b = known.read(places[level] + LIFT, headings[level], zeros[level])
    padded = np.pad(b.occupancy, ((0, 0), (1, 1), (1, 1)))
    near = np.max([padded[:, 1 + i : 65 + i, 1 + j : 65 + j] for i in (-1, 0, 1) for j in (-1, 0, 1)], axis=0)
    assert (near[a.occupancy > 0] > 0).mean() > 0.99
    assert a.occupancy.sum() < b.occupancy.sum()
    both = (a.labels > 0) & (b.labels > 0)
    assert (a.labels[both] == b.labels[both]).mean() > 0.9
    assert len(seen.columns(0).grids.floors) == 2
    assert known.columns(0).heights.nbytes + known.columns(0).labels.nbytes < 2 * 1_000_000
    assert EYE == 1.25
