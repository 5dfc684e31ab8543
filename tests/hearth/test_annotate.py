"""Rooms and boxes at viewpoints: the compiled passes against slow twins, and whole panoramas against drawn views."""

from __future__ import annotations

import math

import numpy as np
import pytest

from itinera.hearth.annotate import annotate
from itinera.hearth.build import build_house
from itinera.hearth.viewpoints import place_viewpoints
from itinera.rendering._cube_kernels import gather_boxes, project_pixels
from itinera.rendering.camera import Camera
from itinera.rendering.cube_map import FOCAL, MIN_PIXELS, view_axes
from itinera.rendering.panorama import VIEW_HEIGHT, VIEW_WIDTH, VIEWS
from itinera.rendering.rasterizer import Rasterizer
from itinera.seeding import generator
from itinera.worlds.surface import Surface

WIDTH, HEIGHT = VIEW_WIDTH / 2, VIEW_HEIGHT / 2


def cube_corners(size):
    """The corners of a small cube's pixels, faces to +x, +y and up only: enough for every kind of pixel."""
    looks = [((0, -1, 0), (0, 0, 1), (1, 0, 0)), ((1, 0, 0), (0, 0, 1), (0, 1, 0)), ((0, -1, 0), (-1, 0, 0), (0, 0, 1))]
    ticks = np.linspace(-1, 1, size + 1)
    return np.array(
        [
            [[np.array(ahead) + x * np.array(right) - y * np.array(up) for x in ticks] for y in ticks]
            for right, up, ahead in looks
        ],
        dtype=float,
    )


def seen_at(direction, axes):
    """Where a view shows a direction, pixels from its upper left corner; None behind the camera."""
    right, up, ahead = axes @ direction
    return (WIDTH + FOCAL * right / ahead, HEIGHT - FOCAL * up / ahead) if ahead > 0 else None


def slow_entries(corners):
    """(pixel, view, left, top, right, bottom) of every pixel a view shows, one at a time."""
    faces, size = len(corners), corners.shape[1] - 1
    for pixel, (face, row, column) in enumerate(np.ndindex(faces, size, size)):
        patch = [corners[face, row + i, column + j] for i in (0, 1) for j in (0, 1)]
        for view, axes in enumerate(view_axes()):
            middle = seen_at((patch[0] + patch[3]) / 2, axes)
            if middle is None or not (0 < middle[0] < VIEW_WIDTH and 0 < middle[1] < VIEW_HEIGHT):
                continue
            u, v = zip(*(seen_at(corner, axes) for corner in patch), strict=True)
            frame = max(min(u), 0), max(min(v), 0), min(max(u), VIEW_WIDTH), min(max(v), VIEW_HEIGHT)
            yield pixel, view, *(round(side) for side in frame)


def projected(corners):
    pixels = corners.shape[0] * (corners.shape[1] - 1) ** 2
    starts = np.empty(pixels + 1, np.int64)
    lens = corners, view_axes(), FOCAL, WIDTH, HEIGHT, starts
    count = project_pixels(*lens, np.empty(0, np.uint8), np.empty((0, 4), np.int16))
    views, frames = np.empty(count, np.uint8), np.empty((count, 4), np.int16)
    project_pixels(*lens, views, frames)
    return starts, views, frames


def test_pixels_fall_into_the_views_that_show_them():
    corners = cube_corners(12)
    starts, views, frames = projected(corners)
    pixels = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    assert np.column_stack([pixels, views, frames]).tolist() == [list(entry) for entry in slow_entries(corners)]


def test_one_pass_over_the_pixels_gives_the_box_of_every_thing_in_every_view():
    size, things = 12, 4
    corners = cube_corners(size)
    starts, views, frames = projected(corners)
    rays = (corners[:, :-1, :-1] + corners[:, 1:, 1:]).reshape(-1, 3) / 2
    rng = np.random.default_rng(3)
    instances = rng.integers(0, things, (2, len(rays))).astype(np.int32) * rng.integers(0, 2, (2, len(rays)), np.int32)
    depths = rng.uniform(1, 9, instances.shape).astype(np.float32)
    pixels, shown = np.zeros((2, things), np.int32), np.zeros((2, things, VIEWS), np.int32)
    boxes, middles = np.zeros((2, things, VIEWS, 4), np.int16), np.zeros((2, things, 3))
    nearest = np.full((2, things), np.inf)
    gather_boxes(instances, depths, rays, starts, views, frames, pixels, shown, boxes, middles, nearest)

    entries = np.array(list(slow_entries(corners)))
    lengths = np.linalg.norm(rays, axis=1)
    for k, thing in np.ndindex(2, things):
        its = np.flatnonzero(instances[k] == thing) if thing else np.empty(0, int)
        assert pixels[k, thing] == len(its)
        assert nearest[k, thing] == pytest.approx((depths[k] * lengths)[its].min(initial=np.inf))
        angles = 1 / lengths[its, None] ** 3
        assert middles[k, thing] == pytest.approx((rays[its] / lengths[its, None] * angles).sum(axis=0))
        for view in range(VIEWS):
            there = entries[np.isin(entries[:, 0], its) & (entries[:, 1] == view), 2:]
            assert shown[k, thing, view] == len(there)
            if len(there):
                assert boxes[k, thing, view].tolist() == [*there[:, :2].min(axis=0), *there[:, 2:].max(axis=0)]


def test_views_are_in_the_order_of_r2r():
    ahead = view_axes()[:, 2]
    assert ahead[12] == pytest.approx([0, 1, 0])  # the first of the level row looks along +y
    assert ahead[15] == pytest.approx([1, 0, 0])  # a quarter turn clockwise
    assert np.arcsin(ahead[[0, 12, 24], 2]) == pytest.approx(np.radians([-30, 0, 30]))


@pytest.fixture(scope="module")
def annotated():
    """A house, its graph, its raster and what is known at its viewpoints; and the views from one viewpoint, drawn."""
    house = build_house(1, 0)
    surface = Surface.from_mesh(house.mesh, radius=0.2, height=1.5)
    graph = place_viewpoints(house, surface, generator(1, "house", "0", "viewpoints"))
    raster = Rasterizer(house.mesh)
    return house, graph, raster, annotate(house, graph, raster)


def drawn_views(raster, position):
    view = np.arange(VIEWS)
    camera = Camera(VIEW_WIDTH, VIEW_HEIGHT, 2 * math.atan(WIDTH / FOCAL))
    headings, elevations = math.pi / 2 - np.radians(30) * (view % 12), np.radians(30) * (view // 12 - 1)
    return raster.render_many(camera, np.tile(position, (VIEWS, 1)), headings, elevations)


def test_boxes_are_those_of_the_views_drawn_one_by_one(annotated):
    _, graph, raster, known = annotated
    off = []
    # At single viewpoints the share below varies from 0.92 to 1, in any house.
    for number in range(0, len(graph.nodes), 12):
        frames = drawn_views(raster, graph.positions[number])
        for thing in known.objects[graph.nodes[number]]:
            for view, (x, y, width, height) in zip(thing.views, thing.boxes, strict=True):
                rows, columns = np.nonzero(frames.instances[view] == int(thing.id))
                assert len(rows), f"view {view} does not show {thing.name} {thing.id}"
                sides = columns.min() - x, rows.min() - y, columns.max() + 1 - x - width, rows.max() + 1 - y - height
                off.append(np.abs(sides).max())
    # A panorama's pixel is 2.5 pixels of a view in its middle and 4 in its corner; slivers between things come and go.
    assert np.median(off) <= 2
    assert np.mean(np.array(off) <= 5) >= 0.95


@pytest.mark.parametrize("number", [5, 40])
def test_nothing_that_fills_a_part_of_a_view_is_overlooked(annotated, number):
    _, graph, raster, known = annotated
    frames = drawn_views(raster, graph.positions[number])
    listed = {int(thing.id) for thing in known.objects[graph.nodes[number]]}
    for view in frames.instances:
        things, counts = np.unique(view[view > 0], return_counts=True)
        assert set(things[counts > 20 * MIN_PIXELS]) <= listed


def test_distance_and_heading_are_those_of_what_is_seen(annotated):
    _, graph, raster, known = annotated
    frames = drawn_views(raster, graph.positions[40])
    for thing in known.objects[graph.nodes[40]]:
        view, row, column = np.nonzero(frames.instances == int(thing.id))
        if not len(view):  # under one's feet or right above, where no view looks
            assert not len(thing.views)
            continue
        through = np.stack([column + 0.5 - WIDTH, HEIGHT - row - 0.5, np.full(len(row), FOCAL)], axis=1) / FOCAL
        distances = frames.depth[view, row, column] * np.linalg.norm(through, axis=1)
        off = thing.distance - distances.min()
        assert off < 0.05 + 0.03 * thing.distance
        if row.max() < VIEW_HEIGHT - 1 or view.min() > 11:  # else its nearest point may lie below all views
            assert off > -0.05 - 0.03 * thing.distance
        rays = (through[:, :, None] * view_axes()[view]).sum(axis=1)
        aside = (np.arctan2(rays[:, 1], rays[:, 0]) - thing.heading + math.pi) % (2 * math.pi) - math.pi
        assert aside.min() < 0.01
        assert aside.max() > -0.01


def test_a_viewpoint_is_in_the_room_whose_outline_holds_it(annotated):
    house, graph, _, known = annotated
    assert set(known.rooms) == set(known.objects) == set(graph.nodes)
    assert {room.region_id for room in known.rooms.values()} == {str(room.index) for room in house.plan.rooms}
    assert all(known.regions[int(room.region_id)].kind == room.label for room in known.rooms.values())
