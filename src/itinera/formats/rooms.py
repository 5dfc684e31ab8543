"""The room of each viewpoint: Matterport's `.house` and `panorama_to_region.txt`, and a table of all scans.

`read_house` and `read_regions` read one scan, `read_table` many. Viewpoints outside every region are left out.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from itinera.errors import BadArgument, BadFile, Fault
from itinera.formats.io import FaultList, read_bytes
from itinera.formats.writing import atomic_write
from itinera.hearth.geometry.solids import HouseObject
from itinera.hearth.layout.plan import FloorPlan, PlannedRoom
from itinera.worlds import Array, NavGraph, Room, World
from itinera.worlds.labels import MPCAT40, ROOM_NAMES

_OUTSIDE = "-1"


def read_house(path: str | Path) -> dict[str, Room]:
    """The room of each viewpoint of one scan, from its .house file (which may be compressed)."""
    path = Path(path)
    found = _House(str(path))
    lines = read_bytes(path).splitlines()
    if not lines or not lines[0].startswith(b"ASCII"):
        found.faults.append(Fault("line 1", "does not begin with ASCII.", "Give a Matterport .house file."))
    for number, line in enumerate(lines, start=1):
        # Objects and segments are most of the file; only the needed records are parsed.
        if line[:2] in (b"H ", b"R ", b"P "):
            found.take(f"line {number}", line.decode("utf-8", "replace").split())
    found.finish()
    found.faults.raise_any()
    return {
        viewpoint: Room(found.labels[region], region)
        for viewpoint, region in found.regions.items()
        if region != _OUTSIDE
    }


class _House:
    """The records of a .house file read so far."""

    def __init__(self, source: str) -> None:
        self.labels: dict[str, str] = {}  # of regions
        self.regions: dict[str, str] = {}  # of viewpoints
        self.faults = FaultList(source)
        self._lines: dict[str, str] = {}  # the line of each viewpoint
        self._promised: Sequence[str] | None = None

    def take(self, where: str, fields: Sequence[str]) -> None:
        needed = {"H": 11, "R": 6, "P": 5}[fields[0]]
        if len(fields) < needed:
            problem = f"record {fields[0]} has {len(fields)} fields, fewer than {needed}."
            self.faults.append(Fault(where, problem, "Copy the file again."))
        elif fields[0] == "H":
            self._promised = (fields[4], fields[10])
        elif fields[0] == "R":
            self._region(where, fields[1], fields[5])
        # A portal's record has the letter of a panorama's, but a number for a name and a label where that has a 0.
        elif not (fields[1].isdecimal() and fields[4] != "0"):
            self._panorama(where, fields[1], fields[3])

    def _region(self, where: str, region: str, label: str) -> None:
        self.faults += _label_faults(where, label)
        if region in self.labels:
            self.faults.append(Fault(where, f"region {region} is given twice.", "Region numbers must be distinct."))
        self.labels[region] = label

    def _panorama(self, where: str, viewpoint: str, region: str) -> None:
        if viewpoint in self.regions:
            self.faults.append(_twice(where, viewpoint))
        self.regions[viewpoint], self._lines[viewpoint] = region, where

    def finish(self) -> None:
        """The faults that show only at the end: regions that were never described, records that never came."""
        known = {*self.labels, _OUTSIDE}
        for viewpoint, region in self.regions.items():
            if region not in known:
                problem = f"panorama {viewpoint} lies in region {region}, which the file does not describe."
                self.faults.append(Fault(self._lines[viewpoint], problem, "Copy the file again."))
        found = (str(len(self.regions)), str(len(self.labels)))
        if self._promised is None:
            self.faults.append(Fault("", "has no H record.", "Give a Matterport .house file."))
        elif self._promised != found:
            problem = "promises {} panoramas and {} regions".format(*self._promised)
            remedy = "The file is cut short or damaged: copy it again."
            self.faults.append(Fault("", f"{problem}, but holds {found[0]} and {found[1]}.", remedy))


def read_regions(path: str | Path) -> dict[str, Room]:
    """The room of each viewpoint of one scan, from its panorama_to_region.txt: "index viewpoint region label" lines."""
    path = Path(path)
    rooms: dict[str, Room] = {}
    faults = FaultList(str(path))
    for number, line in enumerate(_text(path).splitlines(), start=1):
        fields, where = line.split(), f"line {number}"
        if not fields:
            continue
        if len(fields) != 4:
            faults.append(Fault(where, f"has {len(fields)} fields.", "A line is: index viewpoint region label."))
            continue
        _, viewpoint, region, label = fields
        faults += _label_faults(where, label)
        if viewpoint in rooms:
            faults.append(_twice(where, viewpoint))
        rooms[viewpoint] = Room(label, "" if region == _OUTSIDE else region)
    faults.raise_any()
    return {viewpoint: room for viewpoint, room in rooms.items() if room != Room("-")}


_NEEDED = ("scan", "viewpoint", "room_code")


def read_table(path: str | Path) -> dict[str, dict[str, Room]]:
    """The room of each viewpoint by scan, from a CSV table with the columns scan, viewpoint, room_code and region_id.

    region_id may be missing or empty where it is unknown; other columns are ignored.
    """
    path = Path(path)
    rooms: dict[str, dict[str, Room]] = {}
    faults = FaultList(str(path))
    for where, row in _rows(path, faults):
        scan, viewpoint, label = (row[name] for name in _NEEDED)
        if not scan or not viewpoint:
            faults.append(Fault(where, "names no scan or no viewpoint.", "Fill both columns."))
        faults += _label_faults(where, label)
        there = rooms.setdefault(scan, {})
        if viewpoint in there:
            faults.append(_twice(where, viewpoint))
        there[viewpoint] = Room(label, row.get("region_id", ""))
    faults.raise_any()
    return rooms


def _rows(path: Path, faults: FaultList) -> Iterator[tuple[str, dict[str, str]]]:
    reader = csv.reader(io.StringIO(_text(path), newline=""), strict=True)
    try:
        header = next(reader, [])
        missing = [name for name in _NEEDED if name not in header]
        if missing:
            problem = f"the header lacks {', '.join(missing)}."
            faults.append(Fault("line 1", problem, f"The columns are {', '.join(_NEEDED)} and region_id."))
            return
        for row in reader:
            if len(row) == len(header):
                yield f"line {reader.line_num}", dict(zip(header, row, strict=True))
            elif row:
                problem = f"has {len(row)} columns where the header has {len(header)}."
                faults.append(Fault(f"line {reader.line_num}", problem, "Quote values that hold a comma."))
    except csv.Error as error:
        faults.append(Fault(f"line {reader.line_num}", f"is not CSV ({error}).", "Save the table as CSV again."))


def _text(path: Path) -> str:
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadFile(str(path), [Fault("", "is not UTF-8 text.", "Save the file as UTF-8.")]) from None


def _label_faults(where: str, label: str) -> Iterator[Fault]:
    if label not in ROOM_NAMES:
        yield Fault(where, f"{label!r} is not a room code.", f"Room codes are {' '.join(ROOM_NAMES)}.")


def _twice(where: str, viewpoint: str) -> Fault:
    return Fault(where, f"viewpoint {viewpoint} is given twice.", "Give each viewpoint one room.")


def write_table(path: str | Path, rooms: Mapping[str, Mapping[str, Room]]) -> None:
    """Write rooms by scan and viewpoint as a CSV table, with the name of each room beside its code."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("scan", "viewpoint", "room_code", "room_label", "region_id"))
    for scan, viewpoints in rooms.items():
        for viewpoint, room in viewpoints.items():
            writer.writerow((scan, viewpoint, room.label, ROOM_NAMES.get(room.label, room.label), room.region_id))
    with atomic_write(Path(path)) as stream:
        stream.write(text.getvalue().encode())


def write_house(
    path: str | Path, world: World, *, plan: FloorPlan | None = None, items: Sequence[HouseObject] = ()
) -> None:
    """Write the rooms of a graph world as a .house file with its H, R and P records.

    With the plan of the house its regions are the rooms of the plan, with their floors as S and V records and its
    storeys as L; with its items there are C and O records, whose boxes are turned as the items are.

    Without a plan, a region is a number with one label there, and its box the box around its viewpoints. Rooms that
    share a number but not a label, or have none, are numbered after the others, so one of unknown region gets a region
    of its own label.
    """
    graph = world.space
    if not isinstance(graph, NavGraph):
        raise BadArgument(f"World {world.id} is not a navigation graph, so it has no panoramas to write.")
    spaced = [name for name in (world.id, *graph.nodes) if len(name.split()) != 1]
    if spaced:
        raise BadArgument(f"A .house file has spaces between its fields, so {spaced[0]!r} cannot be written.")
    homes = [world.rooms.get(node) for node in graph.nodes]
    if plan is None:
        numbers = _numbered([room for room in homes if room is not None])
        regions = [-1 if room is None else numbers[room] for room in homes]
        described = _around_viewpoints(graph, numbers, regions)
    else:
        regions = [-1 if room is None else int(room.region_id) for room in homes]
        described = _planned(plan)
    panoramas = [
        f"P  {node}  {i} {region}  0  {_triples(graph.positions[i])}  0 0 0 0 0"
        for i, (node, region) in enumerate(zip(graph.nodes, regions, strict=True))
    ]
    lines = ["ASCII 1.1", *described, *panoramas, *_things(items)]
    lines.insert(1, _head(world.id, graph, lines))
    with atomic_write(Path(path)) as stream:
        stream.write("".join(f"{line}\n" for line in lines).encode())


def _around_viewpoints(graph: NavGraph, numbers: Mapping[Room, int], regions: Sequence[int]) -> list[str]:
    lines = []
    for room, number in sorted(numbers.items(), key=lambda pair: pair[1]):
        inside = graph.positions[np.array(regions) == number]
        low, high = inside.min(axis=0), inside.max(axis=0)
        height = float(high[2] - low[2])
        lines.append(_region(number, 0, room.label, inside.mean(axis=0), low, high, height))
    return lines


def _region(number: int, level: int, label: str, middle: Array, low: Array, high: Array, height: float) -> str:
    return f"R  {number} {level}  0 0  {label}  {_triples(middle, low, high)}  {height:g}  0 0 0 0"


def _planned(plan: FloorPlan) -> list[str]:
    """The levels, regions, surfaces and vertices of a plan: a surface is the floor of a room."""
    boxes = [_box(room) for room in plan.rooms]
    levels, regions, surfaces = [], [], []
    vertices: list[str] = []
    for storey in range(plan.storeys):
        inside = [box for room, box in zip(plan.rooms, boxes, strict=True) if room.storey == storey]
        low, high = np.min([box[0] for box in inside], axis=0), np.max([box[1] for box in inside], axis=0)
        levels.append(f"L  {storey}  {len(inside)}  -  {_triples((low + high) / 2, low, high)}  0 0 0 0 0")
    for room, (low, high) in zip(plan.rooms, boxes, strict=True):
        middle = np.array([*(low + high)[:2] / 2, room.floor])
        regions.append(_region(room.index, room.storey, room.kind, middle, low, high, room.height))
        flat = np.array([*high[:2], room.floor])
        surfaces.append(f"S  {room.index} {room.index}  0  F  {_triples(middle, UP, low, flat)}  0 0 0 0 0")
        for corner in room.outline:
            at = np.array([*corner, room.floor])
            vertices.append(f"V  {len(vertices)} {room.index}  F  {_triples(at, UP)}  0 0 0")
    return [*levels, *regions, *surfaces, *vertices]


UP = np.array([0.0, 0.0, 1.0])


def _box(room: PlannedRoom) -> tuple[Array, Array]:
    low, high = room.outline.min(axis=0), room.outline.max(axis=0)
    return np.array([*low, room.floor]), np.array([*high, room.floor + room.height])


def _things(items: Sequence[HouseObject]) -> list[str]:
    """The categories and objects of a house; an object's number is its item's index less one."""
    kinds = sorted({(MPCAT40.index(item.category), item.name) for item in items})
    number = {kind: i for i, kind in enumerate(kinds)}
    # Spaces separate fields, so the files write "coffee#table".
    lines = [
        f"C  {i}  {i + 1} {name.replace(' ', '#')}  {category} {MPCAT40[category]}  0 0 0 0 0"
        for i, (category, name) in enumerate(kinds)
    ]
    for item in items:
        kind = number[MPCAT40.index(item.category), item.name]
        ahead = np.array([np.cos(item.heading), np.sin(item.heading), 0.0]).round(6) + 0.0  # no minus zero
        aside = np.array([ahead[1], -ahead[0], 0.0]) + 0.0
        placed = _triples(item.center, aside, ahead, item.size / 2)
        lines.append(f"O  {item.index - 1} {item.room} {kind}  {placed}  0 0 0 0 0 0 0 0")
    return lines


def _numbered(rooms: Sequence[Room]) -> dict[Room, int]:
    """A number for each distinct room, its own wherever it has one that is still free."""
    distinct = list(dict.fromkeys(rooms))
    numbers: dict[Room, int] = {}
    taken: set[int] = set()
    for room in distinct:
        # A number of more digits is no index of anything, and might be too long to become one.
        if room.region_id.isdecimal() and len(room.region_id) < 10 and int(room.region_id) not in taken:
            numbers[room] = int(room.region_id)
            taken.add(numbers[room])
    fresh = iter(range(max(taken, default=-1) + 1, max(taken, default=-1) + 1 + len(distinct)))
    return numbers | {room: next(fresh) for room in distinct if room not in numbers}


def _head(name: str, graph: NavGraph, lines: Sequence[str]) -> str:
    nothing = np.zeros(3)
    low = graph.positions.min(axis=0) if len(graph.nodes) else nothing
    high = graph.positions.max(axis=0) if len(graph.nodes) else nothing
    count = Counter(line[0] for line in lines[1:])
    held = " ".join(str(count[letter]) for letter in "IPVSEOCR")
    return f"H  {name}  -  {held} 0  {max(count['L'], 1)}  0 0 0 0 0 {_triples(low, high)}  0 0 0 0 0"


def _triples(*points: np.ndarray) -> str:
    return "  ".join(" ".join(f"{value:g}" for value in point) for point in points)
