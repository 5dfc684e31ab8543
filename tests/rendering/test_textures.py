"""Procedural textures: tileable, as bright as the plain color, the same everywhere."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from itinera.errors import BadArgument
from itinera.rendering.textures import TILE_METRES, UNCHANGED, dominant_axes, texture, texture_coordinates
from itinera.worlds.labels import MATERIALS

TEXTURED = tuple(name for name in MATERIALS if name != "plain")


def test_every_material_has_a_texture():
    assert set(TILE_METRES) == set(MATERIALS)
    assert all(edge > 0 for edge in TILE_METRES.values())


@pytest.mark.parametrize("material", MATERIALS)
def test_a_texture_keeps_the_mean_brightness(material):
    tile = texture(material)
    assert (tile.shape, tile.dtype) == ((256, 256), np.uint8)
    assert abs(tile.mean() - UNCHANGED) < 0.05


@pytest.mark.parametrize("material", TEXTURED)
def test_the_seam_of_a_texture_is_no_rougher_than_its_inside(material):
    tile = texture(material).astype(float)
    for turned in (tile, tile.T):
        steps = np.abs(np.diff(turned, axis=0, append=turned[:1])).mean(axis=1)
        assert steps[-1] <= steps.max()
        assert turned.std() > 0.3


@pytest.mark.parametrize("material", TEXTURED)
def test_textures_differ_from_each_other(material):
    others = [texture(name) for name in TEXTURED if name != material]
    assert not any(np.array_equal(texture(material), other) for other in others)


def test_plain_is_unchanged_everywhere():
    assert (texture("plain") == UNCHANGED).all()


def test_an_unknown_material_is_named():
    with pytest.raises(BadArgument, match="got 'velvet'"):
        texture("velvet")


def test_coordinates_follow_the_dominant_axis():
    normals = [(0.1, 0.2, -0.9), (-0.8, 0.5, 0.1), (0.3, 0.9, 0.2), (1, 1, 1), (1, -1, 0)]
    assert dominant_axes(normals).tolist() == [2, 0, 1, 2, 0]
    found = texture_coordinates(np.tile([1.0, 2.0, 3.0], (5, 1)), normals)
    assert found.tolist() == [[1, 2], [2, 3], [1, 3], [1, 2], [2, 3]]


def test_textures_have_the_same_bytes_everywhere():
    digest = hashlib.sha256(b"".join(texture(name).tobytes() for name in MATERIALS)).hexdigest()
    assert digest[:16] == "a35fc63440e6fa90"
