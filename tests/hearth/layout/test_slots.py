"""Rows of rooms beside a hall."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.hearth.layout.room_grid import InvalidLayout, RoomSketch, RowFrame, rasterize_rooms
from itinera.hearth.layout.slots import BEDROOMS, LEISURE, MAX_PER_KIND, SERVICE, Slot, draw_slot, fill_hall

MENU = (*BEDROOMS, *SERVICE, *LEISURE)


@given(st.integers(40, 200), st.integers(46, 62), st.integers(0, 99))
def test_slots_fill_a_stretch_of_hall_exactly(gap: int, depth: int, seed: int) -> None:
    rng, taken = np.random.default_rng(seed), ["o"]
    try:
        row = fill_hall(rng, gap, depth, MENU, taken)
    except InvalidLayout:
        return
    assert sum(length for _, length in row) == gap
    for slot, length in row:
        low, high = slot.span(depth)
        assert low <= length <= high
    assert sorted(taken) == sorted("o" + "".join(slot.kinds for slot, _ in row))
    assert all(taken.count(kind) <= MAX_PER_KIND[kind] for kind in taken)


@pytest.mark.parametrize("gap", [-5, 7])
def test_what_cannot_be_filled_is_refused_and_takes_nothing(gap: int) -> None:
    taken: list[str] = []
    with pytest.raises(InvalidLayout):
        fill_hall(np.random.default_rng(0), gap, 50, MENU, taken)
    assert taken == []


@pytest.mark.parametrize("slot", MENU, ids=lambda slot: f"{slot.kinds} {slot.draw.__name__}")
@pytest.mark.parametrize("seed", range(5))
def test_a_slot_is_cut_up_without_gaps_or_overlaps(slot: Slot, seed: int) -> None:
    depth = 48
    low, high = slot.span(depth)
    rng = np.random.default_rng(seed)
    length = int(rng.integers(low, high + 1))
    rooms = draw_slot(rng, slot, RowFrame((0, 0), (1, 0), (0, 1)), 10, length, depth, first=7)
    assert np.count_nonzero(rasterize_rooms(rooms).labels >= 0) == length * depth
    assert all(room.kind in slot.kinds for room in rooms)
    for room in rooms:
        assert room.owner == -1 or rooms[room.owner - 7].kind == "b"


def test_a_row_keeps_to_its_frame() -> None:
    slot = BEDROOMS[0]
    (room,) = draw_slot(np.random.default_rng(0), slot, RowFrame((0, 0), (0, 1), (-1, 0)), 5, 40, 50, first=0)
    assert room == RoomSketch("b", ((-50, 5, 0, 45),))
