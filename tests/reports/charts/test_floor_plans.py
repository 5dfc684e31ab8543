"""Floor plans and views as images: what is where on them, and when they are refused."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import cottage
from itinera.errors import BadArgument, MissingExtra
from itinera.reports.charts.floor_plans import MARGIN, SCALE, draw_plan, draw_views
from itinera.reports.storeys import TINTS

matplotlib = pytest.importorskip("matplotlib")
from matplotlib.colors import to_rgb  # noqa: E402
from matplotlib.image import imread  # noqa: E402

DOTS = 160 * SCALE  # pixels for a metre
LOW, HIGH = np.array([0.0, 0.0]) - MARGIN, np.array([9.0, 4.0]) + MARGIN


def drawn(folder: Path, **options) -> np.ndarray:
    draw_plan(cottage.house(), folder / "plan.png", **options)
    return imread(folder / "plan.png")[..., :3]


def pixel(picture: np.ndarray, x: float, y: float, storey: int = 0) -> tuple[float, ...]:
    """The colour of a place on a storey."""
    column = (x - LOW[0] + storey * (HIGH[0] - LOW[0])) * DOTS
    row = picture.shape[0] - (y - LOW[1]) * DOTS
    return tuple(picture[round(row), round(column)])


def test_each_storey_has_a_panel_and_each_room_its_tint(tmp_path):
    picture = drawn(tmp_path)
    assert picture.shape[1] == pytest.approx(2 * (HIGH - LOW)[0] * DOTS, abs=2)
    assert pixel(picture, 0.5, 3.7) == pytest.approx(to_rgb(TINTS["k"]), abs=0.01)
    assert pixel(picture, 8.5, 0.3) == pytest.approx(to_rgb(TINTS["h"]), abs=0.01)
    assert pixel(picture, 8.5, 0.3, storey=1) == pytest.approx(to_rgb(TINTS["b"]), abs=0.01)
    assert pixel(picture, 3.0, 3.7) == pytest.approx((1, 1, 1))  # the garden, in the bend of the kitchen


def test_walls_have_holes_where_the_doors_are(tmp_path):
    picture = drawn(tmp_path)
    assert max(pixel(picture, 4.05, 0.5)) < 0.3
    assert min(pixel(picture, 4.05, 1.5)) > 0.7
    assert min(pixel(picture, 4.05, 2.4)) > 0.7


def test_things_stand_on_their_storey_in_their_colour(tmp_path):
    picture = drawn(tmp_path)
    red, green, _ = pixel(picture, 2.2, 1.3, storey=1)
    assert red > 3 * green
    assert pixel(picture, 2.2, 1.3) != pytest.approx((red, green, _), abs=0.05)
    brown = pixel(picture, 2.3, 1.1)
    assert brown[0] > brown[1] > brown[2]


def test_a_path_changes_the_storeys_it_walks(tmp_path):
    graph = cottage.world().space
    plain = drawn(tmp_path, graph=graph)
    above = drawn(tmp_path, graph=graph, paths=[("c", "d")])
    half = plain.shape[1] // 2
    assert (plain[:, half:] != above[:, half:]).any()
    below = drawn(tmp_path, graph=graph, paths=[("a", "b")])
    assert (plain[:, :half] != below[:, :half]).any()
    assert (plain[:, half:] == below[:, half:]).all()


def test_equal_plans_are_equal_files(tmp_path):
    drawn(tmp_path)
    before = (tmp_path / "plan.png").read_bytes()
    drawn(tmp_path)
    assert (tmp_path / "plan.png").read_bytes() == before
    assert b"atplotlib" not in before


def test_views_stand_side_by_side(tmp_path):
    dark, light = np.zeros((6, 8, 3), np.uint8), np.full((6, 8, 3), 200, np.uint8)
    draw_views([dark, light], tmp_path / "views.png")
    picture = imread(tmp_path / "views.png")
    assert picture.shape[:2] == (6, 20)
    assert picture[0, 0, 0] == 0
    assert picture[0, -1, 0] == pytest.approx(200 / 255, abs=0.01)


def test_what_cannot_be_drawn_is_refused(tmp_path, monkeypatch):
    with pytest.raises(BadArgument, match=r"ends in \.png or \.svg, not '\.pdf'"):
        draw_plan(cottage.house(), tmp_path / "plan.pdf")
    with pytest.raises(BadArgument, match=r"ends in \.png, not '\.svg'"):
        draw_views([np.zeros((6, 8, 3), np.uint8)], tmp_path / "views.svg")
    with pytest.raises(BadArgument, match="give the navigation graph"):
        drawn(tmp_path, paths=[("a", "b")])
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"Floor plans need matplotlib.*itinera\[figures\]"):
        drawn(tmp_path)
