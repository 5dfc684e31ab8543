"""Pictures of maps: what is where, in which color."""

from __future__ import annotations

import math

import numpy as np
import pytest

from itinera.errors import BadArgument
from itinera.mapping.drawing import BACKGROUND, BODY, TRAIL, draw_columns, draw_egocentric_map
from itinera.mapping.egocentric_map import EgocentricMaps
from itinera.mapping.known_map import known_map
from itinera.mapping.labels import MAP_COLORS, paper_labels
from itinera.records.map_colors import UNLABELED, color_label, paint_map
from itinera.worlds.labels import MAP_CLASSES, MPCAT40
from mapping.test_egocentric_map import HALL

BED, SOFA = MAP_CLASSES.index("bed"), MAP_CLASSES.index("sofa")


def held() -> EgocentricMaps:
    """A bed far ahead on the left, something without a label on the right."""
    occupancy, labels = np.zeros((1, 64, 64), np.uint8), np.zeros((1, 64, 64), np.uint16)
    occupancy[0, 5, 10] = occupancy[0, 32, 60] = 1
    labels[0, 5, 10] = BED
    return EgocentricMaps(occupancy, labels)


def test_cells_have_the_colors_of_their_labels_and_the_agent_is_in_the_middle():
    image = draw_egocentric_map(held(), scale=4)
    assert image.shape == (256, 256, 3)
    assert (image[20:24, 40:44] == MAP_COLORS[BED]).all()
    assert (image[128:132, 240:244] == UNLABELED).all()
    assert (image[0, 0] == BACKGROUND).all()
    rows, columns = np.nonzero((image == BODY).all(axis=2))
    assert abs(columns.mean() - 130) < 1.5
    assert rows.min() < 125 < 135 < rows.max()
    # It points up: the triangle is narrow above and wide below.
    assert (rows < 126).sum() < (rows > 134).sum()


def test_a_trail_is_drawn_where_the_agent_came_from():
    # It came along +x to (2, 1) and then looks to +y: the trail is on its left.
    trail = [(1.0, 1.0), (2.0, 1.0)]
    image = draw_egocentric_map(held(), scale=4, trail=trail, position=(2.0, 1.0, 0.0), heading=math.pi / 2)
    rows, columns = np.nonzero((image == TRAIL).all(axis=2))
    assert rows.min() > 126
    assert rows.max() < 134
    assert abs(columns.min() - (130 - 40)) <= 2
    assert columns.max() < 131


def test_a_storey_is_drawn_from_above_with_y_up():
    known = known_map(HALL)
    image = draw_columns(known, scale=1, trail=[(1.0, 1.0), (1.0, 3.0)], position=(5.0, 2.0), heading=0.0)
    i0, j0, width, height, _ = known.grids.grids[0]
    assert image.shape == (height, width, 3)
    # The small box from (4, 0.5) to (4.6, 1.2).
    row, column = height - 1 - (round(0.9 / 0.05) - j0), round(4.3 / 0.05) - i0
    assert tuple(image[row, column]) == MAP_COLORS[MAP_CLASSES.index("table")]
    assert (image == TRAIL).all(axis=2).sum() >= 40
    assert (image == BODY).all(axis=2).any()


def test_labels_without_a_legend_have_colors_that_differ():
    colors = {color_label(label, ()) for label in range(1, 200)}
    assert len(colors) > 190
    painted = paint_map(np.array([[1, 0]], np.uint8), np.array([[7, 7]], np.uint16), ())
    assert painted[0, 0, 3] == 255
    assert painted[0, 1].tolist() == [0, 0, 0, 0]


def test_what_cannot_be_drawn_is_refused():
    many = EgocentricMaps(np.zeros((2, 4, 4), np.uint8), np.zeros((2, 4, 4), np.uint16))
    with pytest.raises(BadArgument, match="one agent; got 2"):
        draw_egocentric_map(many)
    with pytest.raises(BadArgument, match="give its position"):
        draw_egocentric_map(held(), trail=[(0, 0), (1, 1)])
    with pytest.raises(BadArgument, match="scale must be at least 1"):
        draw_egocentric_map(held(), scale=0)


def test_the_paper_has_twelve_classes_and_void():
    assert len(MAP_CLASSES) == len(MAP_COLORS) == 13
    classes = np.array([[MPCAT40.index("sofa"), MPCAT40.index("wall")]], dtype=np.uint8)
    assert paper_labels(classes).tolist() == [[SOFA, 0]]
    assert sorted(set(paper_labels(np.arange(len(MPCAT40), dtype=np.uint8)).tolist())) == list(range(13))
