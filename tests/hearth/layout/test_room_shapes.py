"""What shapes a room may have, and corners that change hands."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from itinera.hearth.layout.room_grid import InvalidLayout, RoomSketch, StoreyLayout, rasterize_rooms
from itinera.hearth.layout.room_shapes import check_outside, check_shapes, count_corners, is_good_shape, notch_rooms


def rectangle(wide: int, tall: int) -> NDArray[np.bool_]:
    return np.pad(np.ones((wide, tall), dtype=bool), 3)


def test_good_and_bad_bedrooms() -> None:
    assert is_good_shape(rectangle(40, 50), "b")
    assert not is_good_shape(rectangle(30, 30), "b")  # too small
    assert not is_good_shape(rectangle(60, 60), "b")  # too large
    assert not is_good_shape(rectangle(24, 80), "b")  # too long


def test_a_sliver_beside_a_good_room_is_bad() -> None:
    mask = rectangle(45, 50)
    mask[48:58, 3:13] = True
    assert not is_good_shape(mask, "b")
    mask[48:63, 3:20] = True
    assert is_good_shape(mask, "b")


def test_halls_may_be_long_but_not_narrow() -> None:
    assert is_good_shape(rectangle(15, 180), "h")
    assert not is_good_shape(rectangle(12, 180), "h")


def test_corners_are_counted() -> None:
    mask = rectangle(40, 50)
    assert count_corners(mask) == 4
    mask[3:10, 3:10] = False
    assert count_corners(mask) == 6


def test_a_storey_with_a_bad_room_is_refused() -> None:
    with pytest.raises(InvalidLayout, match="kind b"):
        check_shapes(rasterize_rooms([RoomSketch("b", ((0, 0, 20, 20),))]))


def apart(gap: int) -> StoreyLayout:
    """Two bedrooms beside a hall with a gap between them."""
    rects = [(0, 0, 100, 15), (0, 15, 40, 60), (40 + gap, 15, 90, 60)]
    return rasterize_rooms([RoomSketch(kind, (rect,)) for kind, rect in zip("hbb", rects, strict=True)])


def test_a_narrow_gap_outside_is_refused() -> None:
    check_outside(apart(24))
    with pytest.raises(InvalidLayout, match="gap"):
        check_outside(apart(12))


def test_a_bite_makes_two_rooms_l_shaped_and_loses_nothing() -> None:
    storey = rasterize_rooms([RoomSketch("b", ((0, 0, 45, 55),)), RoomSketch("o", ((45, 0, 85, 55),))])
    after = notch_rooms(np.random.default_rng(3), storey, tries=30, max_notches=2)
    assert [count_corners(after.labels == k) for k in (0, 1)] == [6, 6]
    assert np.array_equal(after.labels < 0, storey.labels < 0)
    assert count_corners(storey.labels == 0) == 4  # the storey given is as it was
