"""Materials of other renderers: textures and colors that look like ours."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from itinera.formats.scene_export.materials import PHYSICAL, base_color, encode_png, linear_light, texture_png
from itinera.formats.scene_export.parts import Surface
from itinera.rendering.textures import texture
from itinera.worlds.labels import MATERIALS

NOTHING = np.empty((0, 3), np.float32)


def surface(material: str, color: tuple[int, int, int]) -> Surface:
    return Surface(material, color, NOTHING, NOTHING, NOTHING[:, :2], NOTHING.astype(np.int32))


def test_every_material_has_a_roughness_and_a_metalness() -> None:
    assert tuple(PHYSICAL) == MATERIALS
    assert all(0 <= value <= 1 for values in PHYSICAL.values() for value in values)


def test_an_encoded_image_is_read_by_pillow() -> None:
    gray = np.arange(15, dtype=np.uint8).reshape(3, 5) * 17
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(encode_png(gray)))), gray)


@pytest.mark.parametrize("material", MATERIALS[1:])
def test_a_texture_times_the_base_color_is_our_color(material: str) -> None:
    ours = np.clip(np.array([120, 90, 60]) * texture(material)[..., None] / 128, 0, 255) / 255
    image = np.asarray(Image.open(io.BytesIO(texture_png(material)))) / 255
    theirs = linear_light(image)[..., None] * np.array(base_color(surface(material, (120, 90, 60))))
    # In sRGB the product of two colors is not exactly the color of the product.
    assert np.abs(theirs - linear_light(ours)).max() < 0.05


def test_a_color_without_a_texture_is_the_linear_light_of_its_srgb_values() -> None:
    assert base_color(surface("plain", (255, 0, 128))) == (1.0, 0.0, 0.21586)
