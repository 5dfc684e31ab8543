"""PNG files are read by Pillow as they were written."""

from __future__ import annotations

import io

import numpy as np
import pytest

from itinera.errors import BadArgument
from itinera.rendering.png import encode_png


@pytest.mark.parametrize("channels", [3, 4])
def test_an_image_is_read_as_it_was_written(channels):
    image_module = pytest.importorskip("PIL.Image")
    image = np.random.default_rng(0).integers(0, 256, (5, 7, channels)).astype(np.uint8)
    read = image_module.open(io.BytesIO(encode_png(image)))
    np.testing.assert_array_equal(np.asarray(read), image)


@pytest.mark.parametrize("wrong", [np.zeros((2, 2), np.uint8), np.zeros((2, 2, 2), np.uint8), np.zeros((2, 2, 3))])
def test_other_arrays_are_refused(wrong):
    with pytest.raises(BadArgument, match="3 or 4"):
        encode_png(wrong)
