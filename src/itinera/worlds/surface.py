"""The navigable surface of a mesh: where a robot may be, geodesic distances, and shortest routes.

Start with `Surface.from_mesh`. `ground.py` finds the walkable cells, `distance_field.py` measures distances on them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from itinera.errors import BadArgument, NoRoute
from itinera.worlds import _surface_kernels as kernels
from itinera.worlds.distance_field import (
    SNAP,
    DistanceField,
    GroundPoints,
    as_points,
    find_nearest,
    ground_positions,
    snap_to_ground,
)
from itinera.worlds.ground import Ground, find_ground
from itinera.worlds.mesh import Mesh
from itinera.worlds.ragged import Ragged
from itinera.worlds.space import Array, Place, Places

_STAIR_STEP = 0.25  # metres between the points of a route on stairs


@dataclass(frozen=True, eq=False)
class Surface:
    """A space over triangles, for a robot of one radius and height: floors, stairs, and the routes over them.

    The ground is a grid of square cells in layers. A cell is walkable if its center is at least the radius away,
    horizontally, from everything between the climb and the height, and from every edge of the floor. Obstacles are
    measured exactly, not by whole cells, so the border is accurate to half a cell, that of an open edge to a whole
    cell. A robot may be anywhere in a walkable cell. Two blocked cells that meet at a corner close it, as on a `Grid`.
    Heights follow walking: stairs are ramps.

    A distance is the length of a feasible path of straight lines over walkable cells, slopes included, and equals the
    length of the route; the path is shortest or nearly so. Compared with exact geodesics in polygonal rooms, 5 cm cells
    are off by less than 1 % on average and less than 3 % plus a cell at worst. Symmetry and the triangle inequality
    hold to the same accuracy, not exactly.
    """

    ground: Ground

    @classmethod
    def from_mesh(
        cls,
        mesh: Mesh,
        *,
        radius: float,
        height: float,
        cell: float = 0.05,
        climb: float = 0.25,
        slope: float = np.pi / 4,
    ) -> Surface:
        """The surface for an upright cylinder that climbs steps of `climb` metres and slopes of `slope` radians."""
        for name, value in {"radius": radius, "height": height, "cell": cell, "climb": climb}.items():
            if not (np.isfinite(value) and value > 0):
                raise BadArgument(f"The {name} must be a positive number of metres, not {value}.")
        if not 0 < slope < np.pi / 2:
            raise BadArgument(f"The slope must lie between 0 and pi / 2 radians, not {slope}.")
        if height <= climb:
            raise BadArgument(f"The height, {height:g} m, must exceed the climb, {climb:g} m.")
        return cls(find_ground(mesh, radius=radius, height=height, cell=cell, climb=climb, slope=slope))

    @property
    def area(self) -> Array:
        """(islands,) square metres of each connected component, the largest first."""
        return np.asarray(np.bincount(self.ground.islands) * self.ground.size**2, dtype=np.float64)

    def locate(self, places: Places) -> Array:
        """(n, 3) the places projected onto the surface; raises BadArgument for one more than SNAP (0.5 m) away."""
        return ground_positions(self.ground, snap_to_ground(self.ground, places))

    def snap(self, points: Places, *, reach: float = SNAP, island: int | None = None) -> tuple[Array, Array]:
        """(n, 3) the nearest walkable points, NaN where none is within reach, and (n,) their distances, inf there.

        A point at most a climb above or below the surface keeps its x and y. With `island`, only that connected
        component counts; 0 is the largest.
        """
        spots, gaps = find_nearest(self.ground, points, reach=reach, island=-1 if island is None else island)
        found = np.full((len(spots), 3), np.nan)
        here = spots.cells >= 0
        found[here] = ground_positions(self.ground, spots[here])
        return found, gaps

    def island(self, points: Places) -> NDArray[np.int32]:
        """(n,) the connected component of each point; 0 is the largest."""
        return self.ground.islands[snap_to_ground(self.ground, points).cells]

    def sample(self, rng: np.random.Generator, n: int, *, island: int | None = 0) -> Array:
        """(n, 3) walkable points, uniform over the area of the largest island, another one, or all (None)."""
        cells = np.arange(len(self.ground)) if island is None else np.flatnonzero(self.ground.islands == island)
        if not len(cells):
            raise BadArgument(f"There is no island {island}; they are numbered 0 to {int(self.ground.islands.max())}.")
        chosen = cells[rng.integers(len(cells), size=n)].astype(np.int32)
        # Away from the borders, where rounding could move a point into the next cell.
        across = self.ground.columns[chosen] + rng.uniform(0.001, 0.999, size=(n, 2))
        return ground_positions(self.ground, GroundPoints(chosen, across))

    def field(self, goals: Places) -> DistanceField:
        """Geodesic distances from everywhere to the nearest goal."""
        spots = snap_to_ground(self.ground, goals)
        if not len(spots):
            raise BadArgument("A distance field needs at least one goal.")
        return DistanceField.compute(self.ground, spots)

    def between(self, a: Places, b: Places) -> Array:
        return self._table(snap_to_ground(self.ground, a), snap_to_ground(self.ground, b))

    def along(self, places: Places) -> Array:
        spots = snap_to_ground(self.ground, places)
        return self._lengths(spots[:-1], spots[1:]) if len(spots) else np.empty(0)

    def route(self, start: Place, goal: Place) -> Array:
        """(k, 3) the turning points of a shortest path, both ends included; on stairs a point every 0.25 m."""
        begin, end = (snap_to_ground(self.ground, np.asarray(place, dtype=np.float64)[None]) for place in (start, goal))
        if self.ground.islands[begin.cells[0]] != self.ground.islands[end.cells[0]]:
            raise NoRoute("No route leads from the start to the goal: they are on different islands of the surface.")
        path = DistanceField.compute(self.ground, end, until=begin).route(begin)
        return self._add_stair_points(path)

    def blocks(self, a: Ragged, b: Ragged) -> Array:
        froms, tos = snap_to_ground(self.ground, a.values), snap_to_ground(self.ground, b.values)
        parts = [
            self._table(froms[a.starts[k] : a.starts[k + 1]], tos[b.starts[k] : b.starts[k + 1]]).ravel()
            for k in range(len(a))
        ]
        return np.concatenate(parts) if parts else np.empty(0)

    def steps(self, rows: Ragged) -> Array:
        spots, joints = snap_to_ground(self.ground, rows.values), rows.joints
        return self._lengths(spots[joints], spots[joints + 1])

    def walkable(self, a: Places, b: Places) -> NDArray[np.bool_]:
        """(n,) whether the straight line from a[i] to b[i] stays on the surface.

        Every cell that the line runs through must be walkable. A line through the corner of four cells may touch one
        blocked cell there, but not pass between two that meet at the corner: a robot has a width.
        """
        clear: NDArray[np.bool_] = np.isfinite(
            self._straight(snap_to_ground(self.ground, a), snap_to_ground(self.ground, b))
        )
        return clear

    def advance(self, points: Array, headings: ArrayLike, distance: float, *, sliding: bool) -> Array:
        """The positions of robots after moving `distance` metres forward: (3,), or (n, 3) for n points.

        At a wall a robot stops, or slides along it with the rest of its movement in that direction.
        """
        many = np.atleast_2d(as_points(np.atleast_2d(points)))
        turned = np.broadcast_to(np.asarray(headings, dtype=np.float64), len(many))
        spots = snap_to_ground(self.ground, many)
        moves = np.column_stack([np.cos(turned), np.sin(turned)]) * (distance / self.ground.size)
        return ground_positions(self.ground, self._move(spots, moves, sliding=sliding)).reshape(np.shape(points))

    def _move(self, spots: GroundPoints, moves: Array, *, sliding: bool = False) -> GroundPoints:
        """Each point after its move, in cells."""
        moved, ground = GroundPoints(np.empty_like(spots.cells), np.empty_like(spots.across)), self.ground
        kernels.advance(
            ground.links, ground.slopes, spots.cells, spots.across, moves, sliding, moved.cells, moved.across
        )
        return moved

    def _table(self, a: GroundPoints, b: GroundPoints) -> Array:
        """(len(a), len(b)) distances: one field for each distinct point of the shorter side."""
        if len(a) < len(b):
            return self._table(b, a).T
        out = np.empty((len(a), len(b)))
        goals, which = np.unique(np.column_stack([b.cells, b.across]), axis=0, return_inverse=True)
        for k, (cell, *across) in enumerate(goals):
            goal = GroundPoints(np.array([cell], dtype=np.int32), np.array([across]))
            near = a[np.flatnonzero(self.ground.islands[a.cells] == self.ground.islands[goal.cells])]
            field = DistanceField.compute(self.ground, goal, until=near if len(near) else goal)
            out[:, which.ravel() == k] = field.lookup(a)[0][:, None]
        return out

    def _straight(self, a: GroundPoints, b: GroundPoints) -> Array:
        """(n,) metres of the straight line between each pair; inf where it is blocked."""
        out, ground = np.empty(len(a)), self.ground
        kernels.straight_lengths(ground.links, ground.slopes, a.cells, a.across, b.cells, b.across, out)
        return out * ground.size

    def _lengths(self, a: GroundPoints, b: GroundPoints) -> Array:
        """(n,) metres between each pair: the straight line where it is clear, else the geodesic distance."""
        out = self._straight(a, b)
        for k in np.flatnonzero(np.isinf(out)):
            out[k] = self._table(a[k : k + 1], b[k : k + 1])[0, 0]
        return out

    def _add_stair_points(self, path: GroundPoints) -> Array:
        """The route as positions, with intermediate points where it goes up or down."""
        level = np.linalg.norm(np.diff(path.across, axis=0), axis=1) * self.ground.size
        sloping = self._straight(path[:-1], path[1:]) > level + 1e-6
        found = ground_positions(self.ground, path)
        parts = [found[:1]]
        for k in range(len(path) - 1):
            if sloping[k]:
                parts.append(self._stair_points(path[k : k + 1], path.across[k + 1] - path.across[k]))
            parts.append(found[k + 1 : k + 2])
        return np.concatenate(parts)

    def _stair_points(self, start: GroundPoints, move: Array) -> Array:
        """(k, 3) intermediate points of a straight line, on its slopes and at their feet and heads."""
        pieces = int(np.ceil(np.linalg.norm(move) * self.ground.size / _STAIR_STEP)) + 1
        moves = np.linspace(0.0, 1.0, pieces + 1)[:, None] * move
        passed = self._move(
            GroundPoints(np.repeat(start.cells, len(moves)), np.repeat(start.across, len(moves), 0)), moves
        )
        slope = (self.ground.slopes[passed.cells] != 0).any(axis=1)
        near = slope[1:-1] | slope[:-2] | slope[2:]
        return ground_positions(self.ground, passed[1 + np.flatnonzero(near)])
