"""Kitchen counters along a wall, with sink, stove and wall cabinets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from itinera.hearth.furniture import appliances, decor
from itinera.hearth.furniture.groups import BESIDE, group, place_on, single_object
from itinera.hearth.furniture.interior import (
    FRONT,
    OFF_FLOOR,
    OFF_TOP,
    OFF_WALL,
    RIGHT,
    FurnitureGroup,
    Interior,
    Part,
    PlacedModel,
    PlacementPoses,
    StraightWall,
    place_rectangle,
)
from itinera.hearth.furniture.model import FurnitureKind, Model
from itinera.hearth.palette import Paint
from itinera.worlds import Array

JOINT = 0.01  # metres between neighbors in a run
CUPBOARD_LOW = 1.42
MIN_RUN, MAX_RUN = 1.75, 4.4
FRIDGE_SPACE = 0.9  # metres of a run for a refrigerator at its end
FRIDGE_DISTANCE = 3.3  # metres from a sink to the refrigerator, if any arrangement permits

Run = tuple[StraightWall, float, float]  # a wall, the start of the run on it, and its length
KitchenStyle = tuple[str, Paint]  # the color of the fronts, and the stone of the tops
CounterRow = tuple[FurnitureGroup, PlacementPoses]  # the group in a run, and its only pose


def furnish_kitchen(room: Interior) -> KitchenStyle:
    """Place sink, stove, counters, refrigerator, and the objects above and on them; returns their style."""
    style = room.make(appliances.counter(1.0)).color, room.pick(appliances.STONES)
    fridge, small = room.make(appliances.FRIDGE), room.make(appliances.SMALL_FRIDGE)
    fridges = [single_object(fridge, front=0.7), single_object(fridge, front=0.4), single_object(small, front=0.4)]
    if not _place_main_row(room, style, fridges):
        _place_separately(room, style)
        _place_fridge(room, fridges)
    second = next((run for run in _free_runs(room) if run[2] >= 0.9), None)
    if second is not None and room.area > 10:
        length = min(second[2], 2.6)
        _place_row(room, _make_row(room, second, ["counter"] if length < 1.9 else ["counter", "counter"], style), style)
    return style


def _free_runs(room: Interior) -> list[Run]:
    return room.free_wall_runs(0.66, 0.92, 0.8)


def _place_main_row(room: Interior, style: KitchenStyle, fridges: Sequence[FurnitureGroup]) -> bool:
    """Place the row with sink and stove and, close to it, the refrigerator; returns whether both fit."""
    bare = room.mark()
    rows, distances = [], []
    for row in _main_rows(room, style):
        rows.append(row)
        distances.append(_place_row_and_fridge(room, row, style, fridges))
        if distances[-1] <= FRIDGE_DISTANCE:
            return True
        room.undo(bare)
    if min(distances, default=np.inf) == np.inf:
        return False
    _place_row_and_fridge(room, rows[int(np.argmin(distances))], style, fridges)
    return True


def _main_rows(room: Interior, style: KitchenStyle) -> Iterator[CounterRow]:
    """The rows to try, made when they are needed: in the longest runs, in both orders of the modules.

    Rows that fill their run come before those that leave a space for the refrigerator, and rows with the stove in front
    of a window last.
    """
    runs = [run for run in _free_runs(room) if run[2] >= MIN_RUN][:2]
    shorter = [(wall, start, length - FRIDGE_SPACE) for wall, start, length in runs]
    shorter += [(wall, start + FRIDGE_SPACE, length) for wall, start, length in shorter]
    last = []
    for run in [*runs, *(run for run in shorter if run[2] >= MIN_RUN)]:
        modules = _main_modules(min(run[2], MAX_RUN))
        for order in (modules, modules[::-1]):
            row = _make_row(room, run, order, style)
            if _stove_before_window(room, row):
                last.append(row)
            else:
                yield row
    yield from last


def _place_row_and_fridge(
    room: Interior, row: CounterRow, style: KitchenStyle, fridges: Sequence[FurnitureGroup]
) -> float:
    """Place the row and the refrigerator; returns the distance from it to the sink, infinite unless both fit."""
    return _place_fridge(room, fridges) if _place_row(room, row, style) else np.inf


def _place_fridge(room: Interior, fridges: Sequence[FurnitureGroup]) -> float:
    """Place the first of these refrigerators that fits, close to the sink; returns its distance from it."""
    near = [one for one in room.placed if one.model.name == "sink"]
    settled = room.place(fridges, lambda poses: _distance_to_objects(poses, near))
    gaps = [np.hypot(settled[0].x - one.x, settled[0].y - one.y) for one in near] if settled else []
    return float(min(gaps, default=np.inf))


def _distance_to_objects(poses: PlacementPoses, placed: list[PlacedModel]) -> Array:
    gaps = [np.abs(poses.origins - (one.x, one.y)).sum(axis=1) for one in placed]
    return np.minimum.reduce(gaps) if gaps else poses.corner


def _main_modules(length: float) -> list[str]:
    """The modules from left to right; counters take the width left between the machines."""
    if length < 2.3:
        return ["stove", "sink"]
    modules = ["counter", "stove", "sink"] if length < 3.2 else ["counter", "stove", "counter", "sink"]
    if length >= 3.8:
        modules.append("dishwasher")
    return modules


def _make_row(room: Interior, run: Run, modules: list[str], style: KitchenStyle) -> CounterRow:
    """The modules side by side in the run."""
    wall, start, length = run
    start, length = start + BESIDE, min(length - 2 * BESIDE, MAX_RUN if "sink" in modules else 2.6)
    fixed = 0.62 * sum(name in ("stove", "dishwasher") for name in modules)
    rest = sum(name in ("counter", "sink") for name in modules)
    wide = np.floor((length - fixed - JOINT * len(modules)) / rest / 0.02) * 0.02
    wide = round(min(float(wide), 1.4), 2)
    parts: list[Part] = []
    x = 0.0
    for name in modules:
        built = _make_module(room, name, wide, style, {part.model.name for part in parts})
        parts += [replace(part, x=round(x + part.x, 3)) for part in built]
        x = round(x + built[0].model.size[0] + JOINT, 3)
    shift = round(-x / 2, 2)
    slack = length - x
    # Runs start in a corner if there is one.
    begin = start if start < 0.1 else start + slack if start + length > wall.length - 0.15 else start + slack / 2
    origin = np.array(wall.start) + round(begin - shift, 2) * RIGHT[wall.quarter] + OFF_WALL * FRONT[wall.quarter]
    spot = PlacementPoses(np.array([wall.quarter]), origin[None], np.zeros(1), np.zeros(1))
    return group([replace(part, x=round(part.x + shift, 3)) for part in parts], front=0.8), spot


def _stove_before_window(room: Interior, row: CounterRow) -> bool:
    whole, spot = row
    stove = next(part for part in whole.parts if part.model.name == "stove")
    half = stove.model.size[0] / 2
    x0, y0, x1, y1 = place_rectangle((stove.x - half, 0.0, stove.x + half, 0.4), spot)[0]
    return room.intersects((x0, y0, 1.2, x1, y1, 1.9))


def _place_row(room: Interior, row: CounterRow, style: KitchenStyle) -> bool:
    """Place the row and hang cabinets above it; False if that would block the room."""
    whole, spot = row
    settled = room.place([whole], lambda poses: poses.middle, poses=lambda _: spot)
    if not settled:
        return False
    _hang_above(room, settled, style)
    return True


def _make_module(room: Interior, name: str, wide: float, style: KitchenStyle, present: set[str]) -> list[Part]:
    """A module with its left side at x = 0 and its back at y = 0, and the objects on it."""
    if name in ("stove", "dishwasher"):
        machine = room.make(appliances.STOVE if name == "stove" else appliances.DISHWASHER)
        return [Part(machine, machine.size[0] / 2, machine.size[1] / 2)]
    basin = name == "sink"
    top = _make_in_style(room, appliances.counter(wide, style[1], basin=basin), style)
    base = Part(top, wide / 2, top.size[1] / 2)
    if not basin:
        return [base, *_objects_on_counter(room, base, present)]
    sink = room.make(appliances.SINK)
    # The basin hangs in the opening of the top, with its rim on it; handles protrude from the counter's front.
    return [base, Part(sink, wide / 2, round(sink.size[1] / 2 + 0.075, 3), round(OFF_FLOOR + top.top - 0.2, 4))]


def _make_in_style(room: Interior, kind: FurnitureKind, style: KitchenStyle) -> Model:
    return room.make(replace(kind, colors=(style[0],)))


def _objects_on_counter(room: Interior, base: Part, present: set[str]) -> list[Part]:
    kinds = (
        appliances.MICROWAVE,
        appliances.TOASTER,
        appliances.KETTLE,
        appliances.COFFEE_MACHINE,
        appliances.FRUIT_BOWL,
        decor.SMALL_PLANT,
    )
    present = present | {one.model.name for one in room.placed}
    fresh = [kind for kind in kinds if kind.name not in present]
    if not fresh or base.model.size[0] < 0.6:
        return []
    return [place_on(base, room.make(room.pick(fresh)), round(base.model.size[0] / 6, 2), -0.06)]


def _hang_above(room: Interior, run: list[PlacedModel], style: KitchenStyle) -> None:
    """Hang cabinets over the counters and a hood over the stove, except in front of windows."""
    for one in run:
        if one.model.name == "kitchen counter":
            wide = round(one.model.size[0] - 0.02, 2)
            _hang_over(room, one, _make_in_style(room, appliances.wall_cabinet(wide), style), CUPBOARD_LOW)
        elif one.model.name == "stove":
            _hang_over(room, one, room.make(appliances.HOOD), 1.6)


def _hang_over(room: Interior, below: PlacedModel, model: Model, low: float) -> None:
    quarter = round(below.heading / (np.pi / 2)) % 4
    back = below.model.size[1] / 2 + OFF_WALL - 0.006 - model.size[1] / 2
    x, y = np.array((below.x, below.y)) - back * FRONT[quarter]
    hung = PlacedModel(model, round(float(x), 4), round(float(y), 4), low, below.heading, blocks=False)
    if low + model.size[2] < room.room.height - OFF_TOP and not room.intersects(hung.box):
        room.add(hung)


def _place_separately(room: Interior, style: KitchenStyle) -> None:
    """Place sink and stove wherever they fit, for kitchens without a long free wall."""
    for wide in (1.0, 0.8):
        parts = _make_module(room, "sink", wide, style, set())
        if room.place([group([Part(p.model, p.x - wide / 2, p.y, p.z) for p in parts], front=0.6)], lambda s: s.corner):
            break
    sinks = [one for one in room.placed if one.model.name == "sink"]
    room.place(
        [single_object(room.make(appliances.STOVE), front=0.6)], lambda poses: _distance_to_objects(poses, sinks)
    )
