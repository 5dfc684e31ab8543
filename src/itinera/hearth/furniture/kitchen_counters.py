"""A kitchen's run of counters along a wall, with sink and stove in it and cabinets above."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from itinera.hearth.furniture import appliances, decor
from itinera.hearth.furniture.groups import BESIDE, group, on, solo
from itinera.hearth.furniture.interior import (
    FRONT,
    OFF_FLOOR,
    OFF_TOP,
    OFF_WALL,
    RIGHT,
    Group,
    Interior,
    Part,
    Placed,
    Spots,
    Wall,
    rectangles,
)
from itinera.hearth.furniture.model import Kind, Model
from itinera.hearth.geometry.solids import Colour
from itinera.worlds import Array

JOINT = 0.01  # between neighbours in a run
CUPBOARD_LOW = 1.42
LONGEST = 4.4

Run = tuple[Wall, float, float]  # a wall, where on it the run starts, and how long it is
Look = tuple[str, Colour]  # the colour of the fronts, and the stone of the tops
Row = tuple[Group, Spots]  # what stands in a run, and the one spot for it


def fit_kitchen(room: Interior) -> None:
    """Put in sink, stove, counters, refrigerator and what belongs above and on them."""
    look = room.make(appliances.counter(1.0)).colour, room.pick(appliances.STONES)
    if not _main_run(room, look):
        _piecemeal(room, look)
    fridge, small = room.make(appliances.FRIDGE), room.make(appliances.SMALL_FRIDGE)
    sinks = [one for one in room.placed if one.model.name in ("sink", "stove")]
    room.place(
        [solo(fridge, front=0.7), solo(fridge, front=0.4), solo(small, front=0.4)], lambda spots: _away(spots, sinks)
    )
    second = next((run for run in _runs(room) if run[2] >= 0.9), None)
    if second is not None and room.area > 10:
        length = min(second[2], 2.6)
        _build(room, _row(room, second, ["counter"] if length < 1.9 else ["counter", "counter"], look), look)


def _runs(room: Interior) -> list[Run]:
    return room.runs(0.66, 0.92, 0.8)


def _main_run(room: Interior, look: Look) -> bool:
    """The run with sink and stove in it, the stove not before a window if that can be helped; whether it fits."""
    rows = []
    for run in [run for run in _runs(room) if run[2] >= 1.75][:2]:
        modules = _main_modules(min(run[2], LONGEST))
        rows += [_row(room, run, modules, look), _row(room, run, modules[::-1], look)]
    # A stable sort: the longer run first among equals.
    rows.sort(key=lambda row: _stove_before_window(room, row))
    return any(_build(room, row, look) for row in rows)


def _away(spots: Spots, things: list[Placed]) -> Array:
    gaps = [np.abs(spots.origins - (one.x, one.y)).sum(axis=1) for one in things]
    return np.minimum.reduce(gaps) if gaps else spots.corner


def _main_modules(length: float) -> list[str]:
    """What stands side by side, left to right: words for counters of the widths left over between machines."""
    if length < 2.3:
        return ["stove", "sink"]
    modules = ["counter", "stove", "sink"] if length < 3.2 else ["counter", "stove", "counter", "sink"]
    if length >= 3.8:
        modules.append("dishwasher")
    return modules


def _row(room: Interior, run: Run, modules: list[str], look: Look) -> Row:
    """The modules side by side in the run."""
    wall, start, length = run
    start, length = start + BESIDE, min(length - 2 * BESIDE, LONGEST if "sink" in modules else 2.6)
    fixed = 0.62 * sum(name in ("stove", "dishwasher") for name in modules)
    rest = sum(name in ("counter", "sink") for name in modules)
    wide = np.floor((length - fixed - JOINT * len(modules)) / rest / 0.02) * 0.02
    wide = round(min(float(wide), 1.4), 2)
    parts: list[Part] = []
    x = 0.0
    for name in modules:
        built = _module(room, name, wide, look, {part.model.name for part in parts})
        parts += [replace(part, x=round(x + part.x, 3)) for part in built]
        x = round(x + built[0].model.size[0] + JOINT, 3)
    shift = round(-x / 2, 2)
    slack = length - x
    # Runs begin in a corner where there is one.
    begin = start if start < 0.1 else start + slack if start + length > wall.length - 0.15 else start + slack / 2
    origin = np.array(wall.start) + round(begin - shift, 2) * RIGHT[wall.quarter] + OFF_WALL * FRONT[wall.quarter]
    spot = Spots(np.array([wall.quarter]), origin[None], np.zeros(1), np.zeros(1))
    return group([replace(part, x=round(part.x + shift, 3)) for part in parts], front=0.8), spot


def _stove_before_window(room: Interior, row: Row) -> bool:
    whole, spot = row
    stove = next(part for part in whole.parts if part.model.name == "stove")
    half = stove.model.size[0] / 2
    x0, y0, x1, y1 = rectangles((stove.x - half, 0.0, stove.x + half, 0.4), spot)[0]
    return room.hits((x0, y0, 1.2, x1, y1, 1.9))


def _build(room: Interior, row: Row, look: Look) -> bool:
    """Stand the row there and hang cabinets above it; False if that would block the room."""
    whole, spot = row
    settled = room.place([whole], lambda spots: spots.middle, spots=lambda _: spot)
    if not settled:
        return False
    _hang_above(room, settled, look)
    return True


def _module(room: Interior, name: str, wide: float, look: Look, there: set[str]) -> list[Part]:
    """A module with its left side at x = 0 and its back at y = 0, and what stands on it."""
    if name in ("stove", "dishwasher"):
        machine = room.make(appliances.STOVE if name == "stove" else appliances.DISHWASHER)
        return [Part(machine, machine.size[0] / 2, machine.size[1] / 2)]
    basin = name == "sink"
    top = _painted(room, appliances.counter(wide, look[1], basin=basin), look)
    base = Part(top, wide / 2, top.size[1] / 2)
    if not basin:
        return [base, *_on_counter(room, base, there)]
    sink = room.make(appliances.SINK)
    # The basin hangs in the hole of the top, its rim on it; the counter's front stands out by its handles.
    return [base, Part(sink, wide / 2, round(sink.size[1] / 2 + 0.075, 3), round(OFF_FLOOR + top.top - 0.2, 4))]


def _painted(room: Interior, kind: Kind, look: Look) -> Model:
    return room.make(replace(kind, colours=(look[0],)))


def _on_counter(room: Interior, base: Part, there: set[str]) -> list[Part]:
    kinds = (
        appliances.MICROWAVE,
        appliances.TOASTER,
        appliances.KETTLE,
        appliances.COFFEE_MACHINE,
        appliances.FRUIT_BOWL,
        decor.SMALL_PLANT,
    )
    there = there | {one.model.name for one in room.placed}
    fresh = [kind for kind in kinds if kind.name not in there]
    if not fresh or base.model.size[0] < 0.6:
        return []
    return [on(base, room.make(room.pick(fresh)), round(base.model.size[0] / 6, 2), -0.06)]


def _hang_above(room: Interior, run: list[Placed], look: Look) -> None:
    """Cabinets over the counters and a hood over the stove, where no window is."""
    for one in run:
        if one.model.name == "kitchen counter":
            wide = round(one.model.size[0] - 0.02, 2)
            _hang_over(room, one, _painted(room, appliances.wall_cabinet(wide), look), CUPBOARD_LOW)
        elif one.model.name == "stove":
            _hang_over(room, one, room.make(appliances.HOOD), 1.6)


def _hang_over(room: Interior, below: Placed, thing: Model, low: float) -> None:
    quarter = round(below.heading / (np.pi / 2)) % 4
    back = below.model.size[1] / 2 + OFF_WALL - 0.006 - thing.size[1] / 2
    x, y = np.array((below.x, below.y)) - back * FRONT[quarter]
    hung = Placed(thing, round(float(x), 4), round(float(y), 4), low, below.heading, blocks=False)
    if low + thing.size[2] < room.room.height - OFF_TOP and not room.hits(hung.box):
        room.add(hung)


def _piecemeal(room: Interior, look: Look) -> None:
    """Sink and stove wherever they fit, for kitchens without a long free wall."""
    for wide in (1.0, 0.8):
        parts = _module(room, "sink", wide, look, set())
        if room.place([group([Part(p.model, p.x - wide / 2, p.y, p.z) for p in parts], front=0.6)], lambda s: s.corner):
            break
    room.place([solo(room.make(appliances.STOVE), front=0.6)], lambda spots: spots.corner)
