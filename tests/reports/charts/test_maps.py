"""Pictures of maps: layers of cells, marks inside and outside, rotated maps, large maps."""

from __future__ import annotations

import numpy as np
import pytest

from itinera.reports.charts import maps
from itinera.reports.charts.maps import MapMark, classify_cells, draw_map
from itinera.worlds.grid import Grid

pytest.importorskip("matplotlib")

CELLS = np.zeros((20, 40), dtype=bool)
CELLS[:, 25] = True
ROOMS = Grid(CELLS, 0.1, origin=(3.0, -5.0))


def test_cells_are_free_cut_off_unknown_too_close_or_blocked():
    cells, unknown = CELLS.copy(), np.zeros_like(CELLS)
    cells[:, 0] = unknown[:, 0] = True
    grid = Grid(cells, 0.1)
    layers = classify_cells(grid, radius=0.1, unknown=unknown)
    # Unknown, one cell too close, free up to the one too close to the wall, the wall, the smaller room, the border.
    names = [maps.LAYERS[k][1] for k in layers[10, [0, 1, 2, 23, 24, 25, 26, 27, 38, 39]]]
    assert names == [
        "unknown", "too close for the robot", "free", "free", "too close for the robot", "obstacle",
        "too close for the robot", "free, not connected to the rest", "free, not connected to the rest",
        "too close for the robot",
    ]  # fmt: skip
    assert (classify_cells(grid, component=2)[10, [10, 30]] == [maps.OTHER_REGION, maps.FREE]).all()


def test_walls_of_one_cell_survive_the_reduction_of_large_maps(monkeypatch):
    monkeypatch.setattr(maps, "MAX_CELLS", 7)
    reduced, step = maps._reduce(classify_cells(ROOMS))
    assert (step, reduced.shape) == (6, (4, 7))
    assert (reduced[:, 4] == maps.BLOCKED).all()
    assert not (np.delete(reduced, 4, axis=1) == maps.BLOCKED).any()


def test_marks_outside_the_map_widen_the_picture_or_stand_at_its_edge(tmp_path):
    near, far = MapMark("start", np.array([2.5, -4.0]), heading=0.5), MapMark("goal", np.array([900.0, -4.0]))
    draw_map(ROOMS, tmp_path / "map.svg", title="two rooms", marks=[near, far])
    text = (tmp_path / "map.svg").read_text()
    assert "goal, beyond the picture" in text
    assert ">start<" in text
    assert ">two rooms<" in text
    assert ">900<" not in text  # the axis keeps the size of the map
    draw_map(ROOMS, tmp_path / "again.svg", title="two rooms", marks=[near, far])
    assert (tmp_path / "again.svg").read_bytes() == (tmp_path / "map.svg").read_bytes()


def test_a_rotated_map_is_drawn_where_it_lies(tmp_path):
    from matplotlib.image import imread

    dark = Grid(np.ones((10, 40), dtype=bool), 0.1, rotation=np.pi / 2)
    draw_map(dark, tmp_path / "map.png")
    picture = imread(tmp_path / "map.png")[..., :3]
    rows, columns = np.nonzero((np.abs(picture - np.array([0x33, 0x31, 0x2E]) / 255) < 0.02).all(axis=2))
    assert np.ptp(rows) > 3 * np.ptp(columns[rows < np.quantile(rows, 0.9)])  # a strip, upright
