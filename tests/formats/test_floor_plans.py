"""Pictures of floor plans as grids."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from itinera.errors import BadArgument, BadFile
from itinera.formats import map_images
from itinera.formats.floor_plans import read_floor_plan

# The top row of the picture first; the low left pixel alone is dark.
PLAN = np.array([[255, 255, 255], [0, 255, 255]], dtype=np.uint8)


def drawn(path: Path, values: np.ndarray, mode: str | None = None) -> Path:
    image = Image.fromarray(values)
    (image.convert(mode) if mode else image).save(path)
    return path


@pytest.mark.parametrize("mode", ["L", "1", "P", "RGB", "RGBA", "LA"])
def test_light_is_free_and_the_low_left_corner_is_the_origin(tmp_path: Path, mode: str) -> None:
    grid = read_floor_plan(drawn(tmp_path / "plan.png", PLAN, mode), 0.5)
    assert grid.blocked.tolist() == [[True, False, False], [False, False, False]]
    assert (grid.resolution, grid.origin, grid.rotation) == (0.5, (0.0, 0.0), 0.0)
    assert grid.size == (1.5, 1.0)


@pytest.mark.parametrize("ending", ["bmp", "pgm"])
def test_other_pictures_are_read_too(tmp_path: Path, ending: str) -> None:
    assert read_floor_plan(drawn(tmp_path / f"plan.{ending}", PLAN), 0.5).blocked.sum() == 1


def test_free_is_what_is_brighter_than_the_threshold(tmp_path: Path) -> None:
    plan = drawn(tmp_path / "plan.png", np.array([[239, 240, 241, 255]], dtype=np.uint8))
    assert read_floor_plan(plan, 1.0).blocked.tolist() == [[True, True, False, False]]
    assert read_floor_plan(plan, 1.0, threshold=239).blocked.tolist() == [[True, False, False, False]]


def test_sixteen_bits_are_as_bright_as_eight(tmp_path: Path) -> None:
    plan = drawn(tmp_path / "plan.png", np.array([[240 * 257, 240 * 257 + 1, 0, 65535]], dtype=np.uint16))
    assert read_floor_plan(plan, 1.0).blocked.tolist() == [[True, False, True, False]]


def test_what_is_transparent_is_as_white_as_paper(tmp_path: Path) -> None:
    pixels = [[(0, 0, 0, 0), (0, 0, 0, 255), (0, 0, 0, 10), (0, 0, 0, 100)]]
    plan = drawn(tmp_path / "plan.png", np.array(pixels, dtype=np.uint8))
    assert read_floor_plan(plan, 1.0).blocked.tolist() == [[False, True, False, True]]


@pytest.mark.parametrize("threshold", [-1.0, 255.0, float("nan")])
def test_a_threshold_that_leaves_nothing_is_refused(tmp_path: Path, threshold: float) -> None:
    with pytest.raises(BadArgument, match="threshold"):
        read_floor_plan(drawn(tmp_path / "plan.png", PLAN), 1.0, threshold)


def test_absurd_pixels_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadArgument, match="side of a cell"):
        read_floor_plan(drawn(tmp_path / "plan.png", PLAN), 0.0)


def test_what_is_no_picture_is_refused(tmp_path: Path) -> None:
    whole = drawn(tmp_path / "plan.png", np.full((40, 40), 255, dtype=np.uint8)).read_bytes()
    for content, words in [(b"", "is empty"), (b"hello", "cannot be read"), (whole[:60], "cannot be read")]:
        (tmp_path / "bad.png").write_bytes(content)
        with pytest.raises(BadFile, match=words):
            read_floor_plan(tmp_path / "bad.png", 1.0)
    with pytest.raises(BadFile, match="no such file"):
        read_floor_plan(tmp_path / "none.png", 1.0)


def test_a_picture_too_large_is_not_unpacked(tmp_path: Path) -> None:
    Image.new("1", (9000, 9000)).save(tmp_path / "large.png")
    Image.new("1", (60000, 4000)).save(tmp_path / "larger.png")
    for name in ("large.png", "larger.png"):
        with pytest.raises(BadFile, match=r"pixels.*\n.*Crop"):
            read_floor_plan(tmp_path / name, 1.0)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"])
def test_bands_of_rows_give_the_same_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    values = np.random.default_rng(0).integers(0, 256, (23, 9, 4), dtype=np.uint8)
    whole = Image.fromarray(values)
    gray = Image.fromarray(values[..., 0].astype(np.uint16) * 257)
    (gray if mode == "I;16" else whole.convert(mode)).save(tmp_path / "plan.png")
    at_once = read_floor_plan(tmp_path / "plan.png", 0.1, 128)
    monkeypatch.setattr(map_images, "_BAND", 20)
    assert (read_floor_plan(tmp_path / "plan.png", 0.1, 128).blocked == at_once.blocked).all()
    assert at_once.blocked.any()
    assert not at_once.blocked.all()


def test_a_text_image_is_parsed_part_by_part_until_its_pixels_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(map_images, "_PART", 3)
    (tmp_path / "plan.pgm").write_bytes(b"P2 3 2 255\n255 0 # a\n\n  255 0\t255 255 " + b"7 " * 100)
    assert read_floor_plan(tmp_path / "plan.pgm", 0.1).blocked.tolist() == [[True, False, False], [False, True, False]]
