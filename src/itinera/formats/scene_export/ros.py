"""ROS maps (map_server, Nav2) of a house: an occupancy grid per storey, and its rooms as GeoJSON polygons.

Frame and units are ours: x and y in metres, and the map's origin is not rotated. The map is that of a wheeled robot: it
rolls over what is at most `CLIMB` high, and stairs are obstacles.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from itinera.errors import BadArgument
from itinera.hearth.build import House
from itinera.hearth.ground import ROBOT_HEIGHT
from itinera.hearth.layout.plan import FloorPlan, Passage, PlannedRoom
from itinera.worlds import Array
from itinera.worlds.grid import Grid
from itinera.worlds.labels import ROOM_NAMES
from itinera.worlds.regions import distance_to_polygon
from itinera.worlds.storey_grid import grid_from_mesh

RESOLUTION = 0.05  # metres per pixel
CLIMB = 0.05  # metres; rugs and thresholds are lower
WALL = 0.35  # metres around rooms that are known to be occupied: the walls
FREE, OCCUPIED, UNKNOWN = 254, 0, 205  # as map_saver writes them
_LEGEND = """image: {image}
mode: trinary
resolution: {resolution}
origin: [{x:.2f}, {y:.2f}, 0.0]
negate: 0
occupied_thresh: 0.65
free_thresh: 0.196
"""


def encode_maps(house: House) -> dict[str, bytes]:
    """The files of a house by name: storey_0.yaml, storey_0.pgm and storey_0.rooms.geojson, and so on."""
    files = {}
    for storey in range(house.plan.storeys):
        rooms = [room for room in house.plan.rooms if room.storey == storey]
        name, grid = f"storey_{storey}", storey_grid(house, storey)
        x, y = grid.origin
        files[f"{name}.yaml"] = _LEGEND.format(image=f"{name}.pgm", resolution=RESOLUTION, x=x, y=y).encode()
        files[f"{name}.pgm"] = _encode_pgm(_occupancy(grid, rooms))
        files[f"{name}.rooms.geojson"] = msgspec.json.format(msgspec.json.encode(_features(rooms)), indent=1)
    return files


def storey_grid(house: House, storey: int) -> Grid:
    """The occupancy of a storey: free where the floor of one of its rooms, or of a passage, can be rolled on."""
    rooms = [room for room in house.plan.rooms if room.storey == storey]
    grids = []
    for level in sorted({round(room.floor, 3) for room in rooms}):
        try:
            grids.append(grid_from_mesh(house.mesh, level, height=ROBOT_HEIGHT, cell=RESOLUTION, climb=CLIMB))
        except BadArgument:  # a level without ground, such as that of a room filled by stairs
            continue
    if not grids:
        raise BadArgument(f"Storey {storey} of {house.id} has no ground for a robot.")
    free = np.any([~grid.blocked for grid in grids], axis=0)
    for one, other in combinations(grids, 2):
        # Between two levels is a step.
        beside = ndimage.binary_dilation(~one.blocked) & ndimage.binary_dilation(~other.blocked)
        free &= ~beside | (~one.blocked & ~other.blocked)
    whole = Grid(~free, RESOLUTION, origin=grids[0].origin)
    return replace(whole, blocked=~(free & _within(house.plan, rooms, whole)))


def _within(plan: FloorPlan, rooms: Sequence[PlannedRoom], grid: Grid) -> NDArray[np.bool_]:
    """(rows, columns) the cells in rooms and in the passages between them; not the terrain around a house."""
    indices = {room.index for room in rooms}
    passages = [_outline(passage) for passage in plan.passages if indices & set(passage.rooms)]
    return _cover([*(room.outline for room in rooms), *passages], grid, 0.0)


def _outline(passage: Passage) -> Array:
    """(4, 2) the corners of the opening of a passage, through its wall."""
    through, along = passage.normal * passage.depth / 2, np.array([-passage.normal[1], passage.normal[0]])
    aside = along * passage.width / 2
    corners = (-through - aside, through - aside, through + aside, -through + aside)
    return np.array([passage.center + corner for corner in corners])


def _cover(outlines: Sequence[Array], grid: Grid, margin: float) -> NDArray[np.bool_]:
    """(rows, columns) the cells whose center is in one of the polygons, or at most a margin away."""
    rows, columns = grid.blocked.shape
    x = grid.origin[0] + RESOLUTION * (np.arange(columns) + 0.5)
    y = grid.origin[1] + RESOLUTION * (np.arange(rows) + 0.5)
    covered = np.zeros(grid.blocked.shape, dtype=np.bool_)
    for outline in outlines:
        low, high = outline.min(axis=0) - margin, outline.max(axis=0) + margin
        i = np.flatnonzero((x >= low[0]) & (x <= high[0]))
        j = np.flatnonzero((y >= low[1]) & (y <= high[1]))
        points = np.stack(np.meshgrid(x[i], y[j]), axis=-1).reshape(-1, 2)
        inside = distance_to_polygon(outline, points) <= margin
        covered[np.ix_(j, i)] |= inside.reshape(len(j), len(i))
    return covered


def _occupancy(grid: Grid, rooms: Sequence[PlannedRoom]) -> NDArray[np.uint8]:
    """(rows, columns) the values of the image, the lowest row first."""
    known = ~grid.blocked | _cover([room.outline for room in rooms], grid, WALL)
    return np.where(~grid.blocked, FREE, np.where(known, OCCUPIED, UNKNOWN)).astype(np.uint8)


def _encode_pgm(values: NDArray[np.uint8]) -> bytes:
    rows, columns = values.shape
    return b"P5\n%d %d\n255\n" % (columns, rows) + np.ascontiguousarray(values[::-1]).tobytes()


def _features(rooms: Sequence[PlannedRoom]) -> Mapping[str, Any]:
    """A GeoJSON collection of the rooms, in the frame of the map, metres."""
    return {"type": "FeatureCollection", "features": [_feature(room) for room in rooms]}


def _feature(room: PlannedRoom) -> Mapping[str, Any]:
    corners = [[round(value, 4) for value in corner] for corner in room.outline.tolist()]
    return {
        "type": "Feature",
        "id": room.index,
        "properties": {
            "name": ROOM_NAMES[room.kind],
            "code": room.kind,
            "storey": room.storey,
            "floor": round(float(room.floor), 4),
            "height": round(float(room.height), 4),
        },
        "geometry": {"type": "Polygon", "coordinates": [[*corners, corners[0]]]},
    }
