"""Row houses: narrow and deep, with neighbors on both sides, the stairs in the middle and the storeys stacked.

The house runs along x from the street to the garden. A hall follows one side wall; the living room lies towards the
street, kitchen and dining room towards the garden, the stairs and a bath between them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from itinera.hearth.layout.room_blocks import subdivide_block
from itinera.hearth.layout.room_grid import NO_ROOM, InvalidLayout, RoomSketch, RowFrame
from itinera.hearth.layout.slots import LEISURE, SERVICE, Slot, single_room
from itinera.hearth.layout.storeys import StoreySketch, randint

ENTRY_LENGTH = 36, 46
WASHING = (*SERVICE[:2], single_room("a", (9, 13), (20, 28), 1.0))
UPSTAIRS: tuple[Slot, ...] = (single_room("a", (9, 13), (20, 28), 1.0), SERVICE[2], LEISURE[0])
STREET_ROOMS = "bboirf"  # kinds of the large room towards the street on upper floors


@dataclass(frozen=True)
class _Measures:
    """What all storeys share."""

    hall: int  # width of the hall
    row: int  # depth of the rooms beside it
    street: int  # length of the rooms towards the street
    entry: int  # length of the entry
    middle: int  # length of the rooms beside the stairs
    garden: int  # length of the rooms towards the garden
    stairs: int  # width of the stairwell

    @property
    def width(self) -> int:
        return self.hall + self.row


def sketch_row_house(rng: np.random.Generator, storeys: int) -> list[list[RoomSketch]]:
    """The storeys of a row house."""
    row = randint(rng, 48, 54)
    stairs = randint(rng, 23, 25)
    own = _Measures(
        randint(rng, 21, 22),
        row,
        randint(rng, 62, 76),
        randint(rng, *ENTRY_LENGTH),
        stairs + randint(rng, 22, 44),
        randint(rng, 56, 68),
        stairs,
    )
    stairs_first = bool(rng.random() < 0.5)
    floors = [_ground_floor(rng, own, stairs_first=stairs_first)]
    for level in range(1, storeys):
        taken = [room.kind for floor in floors for room in floor]
        attic = level == 2
        floors.append(_upper_floor(rng, own, taken, stairs_first=stairs_first, attic=attic))
    return floors


def _start(rng: np.random.Generator, own: _Measures, *, taken: str, stairs_first: bool) -> StoreySketch:
    """A storey with its hall and stairs."""
    hall = (-own.street + own.entry, 0, own.middle, own.hall)
    sketch = StoreySketch(rng, [hall], taken=list(taken))
    at = 0 if stairs_first else own.middle - own.stairs
    sketch.add("s", (at, own.hall, at + own.stairs, own.width))
    return sketch


def _fill_middle(sketch: StoreySketch, own: _Measures, menu: tuple[Slot, ...], *, stairs_first: bool) -> None:
    start, end = (own.stairs, own.middle) if stairs_first else (0, own.middle - own.stairs)
    sketch.fill(RowFrame((0, own.hall), (1, 0), (0, 1)), start, end, own.row, menu)


def _ground_floor(rng: np.random.Generator, own: _Measures, *, stairs_first: bool) -> list[RoomSketch]:
    sketch = _start(rng, own, taken="ekdl", stairs_first=stairs_first)
    sketch.add("e", (-own.street, 0, -own.street + own.entry, own.hall))
    sketch.add("l", (-own.street, own.hall, 0, own.width))
    _fill_middle(sketch, own, WASHING, stairs_first=stairs_first)
    shares = [("k", float(rng.uniform(18, 24))), ("d", float(rng.uniform(18, 24)))]
    block = (own.middle, 0, own.middle + own.garden, own.width)
    step = (own.middle - 1, 0, own.middle, own.hall)
    for kind, rect in subdivide_block(rng, block, shares, [(step, {"d": 2.0, "k": 1.0})]):
        sketch.add(kind, rect)
    return sketch.all_rooms()


def _upper_floor(
    rng: np.random.Generator, own: _Measures, taken: list[str], *, stairs_first: bool, attic: bool
) -> list[RoomSketch]:
    """A storey of bedrooms; the attic ends at the stairs, so that there is a roof terrace behind it."""
    known = "".join(kind for kind in taken if kind not in "bac")
    sketch = _start(rng, own, taken=known + "ekdlug", stairs_first=stairs_first)
    sketch.add("a" if rng.random() < 0.6 else "j", (-own.street, 0, -own.street + own.entry, own.hall))
    kinds = [kind for kind in STREET_ROOMS if kind == "b" or kind not in taken]
    kind = kinds[int(rng.integers(len(kinds)))]
    sketch.add(kind, (-own.street, own.hall, 0, own.width))
    _fill_middle(sketch, own, UPSTAIRS, stairs_first=stairs_first)
    if not attic:
        _garden_bedroom(sketch, own)
    kinds_here = [room.kind for room in sketch.rooms]
    if "a" not in kinds_here or "b" not in kinds_here:
        raise InvalidLayout("nowhere to sleep or to wash upstairs")
    return sketch.all_rooms()


def _garden_bedroom(sketch: StoreySketch, own: _Measures) -> None:
    """Add a bedroom with its own bath and closet towards the garden."""
    rng = sketch.rng
    shares = [
        ("b", float(rng.uniform(22, 28))),
        ("a", float(rng.uniform(8, 11))),
        ("c", float(rng.uniform(5, 8))),
    ]
    block = (own.middle, 0, own.middle + own.garden, own.width)
    step = (own.middle - 1, 0, own.middle, own.hall)
    rooms = subdivide_block(rng, block, shares, [(step, {"b": 20.0})])
    bedroom = len(sketch.rooms) + [kind for kind, _ in rooms].index("b")
    for kind, rect in rooms:
        sketch.add(kind, rect, bedroom if kind in "ac" else NO_ROOM)
