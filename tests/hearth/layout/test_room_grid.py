"""Rooms on the grid of decimetres."""

from __future__ import annotations

import pytest

from itinera.hearth.layout.room_grid import (
    InvalidLayout,
    RoomSketch,
    RowFrame,
    find_walls,
    rasterize_rooms,
    trace_outline,
)


def test_a_frame_turns_rectangles_the_way_its_row_runs() -> None:
    behind, aside = RowFrame((0, 15), (1, 0), (0, 1)), RowFrame((10, 0), (0, -1), (-1, 0))
    assert behind.place((2, 0, 5, 40)) == (2, 15, 5, 55)
    assert aside.place((2, 0, 5, 40)) == (-30, -5, 10, -2)


def test_rooms_may_not_overlap() -> None:
    with pytest.raises(InvalidLayout, match="overlap"):
        rasterize_rooms([RoomSketch("b", ((0, 0, 10, 10),)), RoomSketch("a", ((9, 9, 20, 20),))])


def test_walls_are_found_once_with_the_rooms_on_both_sides() -> None:
    storey = rasterize_rooms([RoomSketch("b", ((0, 0, 30, 40),)), RoomSketch("a", ((30, 10, 50, 40),))])
    shared = [wall for wall in find_walls(storey) if -1 not in wall.rooms]
    (wall,) = shared
    assert (wall.rooms, wall.upright, wall.at, wall.low, wall.high) == ((0, 1), True, 30, 10, 40)
    assert sum(wall.length for wall in find_walls(storey)) == 30 + 2 * (30 + 40) + 2 * (20 + 30) - 2 * 30


def test_an_outline_runs_counter_clockwise_round_an_l() -> None:
    storey = rasterize_rooms([RoomSketch("l", ((0, 0, 40, 20), (0, 20, 20, 50)))])
    assert trace_outline(0, find_walls(storey)) == [(0, 0), (40, 0), (40, 20), (20, 20), (20, 50), (0, 50)]


def test_straight_walls_beside_several_rooms_have_no_corners_in_between() -> None:
    rooms = [
        RoomSketch("h", ((0, 0, 60, 15),)),
        RoomSketch("b", ((0, 15, 30, 50),)),
        RoomSketch("b", ((30, 15, 60, 50),)),
    ]
    assert len(trace_outline(0, find_walls(rasterize_rooms(rooms)))) == 4


@pytest.mark.parametrize(
    "rects",
    [((0, 0, 10, 10), (20, 0, 30, 10)), ((0, 0, 30, 10), (0, 10, 10, 20), (20, 10, 30, 20), (0, 20, 30, 30))],
    ids=["two pieces", "a ring"],
)
def test_a_room_in_pieces_or_round_a_yard_is_refused(rects: tuple[tuple[int, int, int, int], ...]) -> None:
    with pytest.raises(InvalidLayout, match="pieces"):
        trace_outline(0, find_walls(rasterize_rooms([RoomSketch("h", rects)])))
