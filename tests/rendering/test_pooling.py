"""Fewer pixels: the nearest of a square for depth and labels, the mean for colors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.errors import BadArgument
from itinera.rendering.camera import Camera, Frame, blank_frames
from itinera.rendering.pooling import pool_frames
from itinera.rendering.rasterizer import Rasterizer, render_meshes
from text_worlds import quick
from worlds.rooms import room, storeys


def draw_frames(rng, count, height, width):
    """Frames with few depths, so that several pixels of a square are equally near."""
    depth = rng.choice([1.0, 2.0, 3.0, np.inf], size=(count, height, width)).astype(np.float32)
    labels = rng.integers(0, 200, size=(2, count, height, width))
    rgb = rng.integers(0, 256, size=(count, height, width, 3)).astype(np.uint8)
    return Frame(rgb, depth, labels[0].astype(np.uint8), labels[1].astype(np.int32))


def pool_slowly(frames, factor):
    """One square after the other."""
    count, height, width = frames.depth.shape
    shape = count, height // factor, width // factor
    out = Frame(np.empty((*shape, 3), np.uint8), *(np.empty(shape, c.dtype) for c in frames.channels[1:]))
    for view, y, x in np.ndindex(shape):
        square = view, slice(y * factor, (y + 1) * factor), slice(x * factor, (x + 1) * factor)
        depth = frames.depth[square]
        column = int(np.argmin(depth.min(axis=0)))
        row = int(np.argmin(depth[:, column]))
        out.rgb[view, y, x] = np.floor(frames.rgb[square].reshape(-1, 3).mean(axis=0) + 0.5)
        for found, channel in zip(out.channels[1:], frames.channels[1:], strict=True):
            found[view, y, x] = channel[square][row, column]
    return out


@quick
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 3), st.integers(1, 3))
def test_a_pixel_is_the_nearest_of_its_square_and_has_its_mean_color(seed, factor, high, wide):
    frames = draw_frames(np.random.default_rng(seed), 2, factor * high, factor * wide)
    for found, expected in zip(pool_frames(frames, factor).channels, pool_slowly(frames, factor).channels, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_channels_that_were_not_rendered_stay_empty():
    frames = draw_frames(np.random.default_rng(0), 3, 4, 8)
    none = [channel[:0] for channel in frames.channels]
    depth = pool_frames(Frame(none[0], frames.depth, none[2], none[3]), 2)
    assert [channel.shape for channel in depth.channels] == [(0, 2, 4, 3), (3, 2, 4), (0, 2, 4), (0, 2, 4)]
    assert pool_frames(Frame(frames.rgb, *none[1:]), 4).rgb.shape == (3, 1, 2, 3)


def test_what_cannot_be_pooled_is_refused():
    frames = draw_frames(np.random.default_rng(0), 1, 4, 6)
    for factor in (0, 4):
        with pytest.raises(BadArgument, match=f"divides both sides of 4 x 6 pixels, not {factor}"):
            pool_frames(frames, factor)
    with pytest.raises(BadArgument, match="render the depth channel too"):
        pool_frames(Frame(frames.rgb, frames.depth[:0], frames.classes, frames.instances), 2)


def test_one_call_renders_several_meshes_as_each_alone():
    rng, camera = np.random.default_rng(4), Camera(24, 16, math.radians(90))
    one, two = Rasterizer(room(6, 4, boxes=[((2, 1, 0), (3, 3, 1.8))])), Rasterizer(storeys())
    rasters = [one, one, two, one, two, two, two, one]
    places, headings = rng.uniform((0.2, 0.2, 1), (5.8, 3.8, 2), (8, 3)), rng.uniform(-3, 3, 8)
    frames = render_meshes(rasters, camera, places, headings, -0.2)
    out = blank_frames(camera, 8)
    assert render_meshes(rasters, camera, places, headings, -0.2, out=out) is out
    for k, raster in enumerate(rasters):
        alone = raster.render(camera, places[k], headings[k], -0.2)
        for found, again, expected in zip(frames[k].channels, out[k].channels, alone.channels, strict=True):
            np.testing.assert_array_equal(found, expected)
            np.testing.assert_array_equal(again, expected)
    with pytest.raises(BadArgument, match="8 positions need as many meshes, not 7"):
        render_meshes(rasters[:7], camera, places, headings)
    with pytest.raises(BadArgument, match="not finite"):
        render_meshes(rasters, camera, places, headings * np.nan)
