"""ROS maps (map_server, Nav2) of a house: an occupancy grid per storey, and its rooms as GeoJSON polygons.

Frame and units are ours: x and y in metres, and the map's origin is not rotated. The map is that of a wheeled robot: it
rolls over what is at most `CLIMB` high, and stairs are obstacles.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from itinera.errors import BadArgument
from itinera.hearth.build import House
from itinera.hearth.ground import ROBOT_HEIGHT
from itinera.hearth.layout.plan import PlannedRoom
from itinera.hearth.room_lookup import distance_to_polygon
from itinera.worlds.grid import Grid
from itinera.worlds.labels import ROOM_NAMES
from itinera.worlds.storey_grid import grid_from_mesh

RESOLUTION = 0.05  # metres per pixel
CLIMB = 0.05  # metres; rugs and thresholds are lower
WALL = 0.35  # metres around rooms and free ground that are known to be occupied: the walls
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
    """The occupancy of a storey: free where the floor of one of its rooms can be rolled on."""
    levels = sorted({round(room.floor, 3) for room in house.plan.rooms if room.storey == storey})
    grids = []
    for level in levels:
        try:
            grids.append(grid_from_mesh(house.mesh, level, height=ROBOT_HEIGHT, cell=RESOLUTION, climb=CLIMB))
        except BadArgument:  # a level without ground, such as that of a room filled by stairs
            continue
    if not grids:
        raise BadArgument(f"Storey {storey} of {house.id} has no ground for a robot.")
    free = np.any([~grid.blocked for grid in grids], axis=0)
    for one, other in ((a, b) for i, a in enumerate(grids) for b in grids[i + 1 :]):
        # Between two levels is a step.
        beside = ndimage.binary_dilation(~one.blocked) & ndimage.binary_dilation(~other.blocked)
        free &= ~beside | (~one.blocked & ~other.blocked)
    return Grid(~free, RESOLUTION, origin=grids[0].origin)


def _occupancy(grid: Grid, rooms: list[PlannedRoom]) -> NDArray[np.uint8]:
    """(rows, columns) the values of the image, the lowest row first."""
    rows, columns = grid.blocked.shape
    x = grid.origin[0] + RESOLUTION * (np.arange(columns) + 0.5)
    y = grid.origin[1] + RESOLUTION * (np.arange(rows) + 0.5)
    known = ~grid.blocked
    for room in rooms:
        low, high = room.outline.min(axis=0) - WALL, room.outline.max(axis=0) + WALL
        i = np.flatnonzero((x >= low[0]) & (x <= high[0]))
        j = np.flatnonzero((y >= low[1]) & (y <= high[1]))
        points = np.stack(np.meshgrid(x[i], y[j]), axis=-1).reshape(-1, 2)
        inside = distance_to_polygon(room.outline, points) <= WALL
        known[np.ix_(j, i)] |= inside.reshape(len(j), len(i))
    return np.where(~grid.blocked, FREE, np.where(known, OCCUPIED, UNKNOWN)).astype(np.uint8)


def _encode_pgm(values: NDArray[np.uint8]) -> bytes:
    rows, columns = values.shape
    return b"P5\n%d %d\n255\n" % (columns, rows) + np.ascontiguousarray(values[::-1]).tobytes()


def _features(rooms: list[PlannedRoom]) -> Mapping[str, Any]:
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
