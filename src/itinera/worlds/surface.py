"""The navigable surface of a mesh: where a robot may be, how far it is from there to there, and by which way.

Start with `Surface.from_mesh`. The ground is found in `ground.py`, distances spread in `field.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from itinera.errors import BadArgument, NoRoute
from itinera.worlds import _surface_kernels as kernels
from itinera.worlds.distance_field import SNAP, DistanceField, Spots, as_points, nearest, positions, stand
from itinera.worlds.ground import Ground, find_ground
from itinera.worlds.mesh import Mesh
from itinera.worlds.ragged import Ragged
from itinera.worlds.space import Array, Place, Places

_STAIR_STEP = 0.25  # metres between the points of a route where it goes up or down


@dataclass(frozen=True, eq=False)
class Surface:
    """A space over triangles, for a robot of one radius and height: floors, stairs, and the ways over them.

    The ground is a grid of square cells in layers. A cell is walkable if its middle is at least the radius away,
    across, from everything that rises above the climb and below the height, and from every edge of the floor;
    obstacles are measured where they are, not by whole cells, so the border is right to half a cell, that of an open
    edge to a whole one. A robot may stand anywhere in a walkable cell. Heights are those of walking: stairs are ramps.

    A distance is the length of a real way of straight lines over walkable cells, slopes included, and equal to the
    length of the route; the way is shortest or nearly so. Against exact geodesics in polygonal rooms, 5 cm cells are
    off by less than 1 % in the mean and less than 3 % plus a cell at worst. Symmetry and the triangle inequality hold
    to the same accuracy, not exactly.
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
        """The surface for an upright cylinder that climbs steps up to `climb` metres and slopes up to `slope`."""
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
        """(islands,) square metres of each connected part, the largest first."""
        return np.asarray(np.bincount(self.ground.islands) * self.ground.size**2, dtype=np.float64)

    def locate(self, places: Places) -> Array:
        """(n, 3) the places put onto the surface; one further than SNAP, 0.5 m, from it is refused."""
        return positions(self.ground, stand(self.ground, places))

    def snap(self, points: Places, *, reach: float = SNAP, island: int | None = None) -> tuple[Array, Array]:
        """(n, 3) the nearest walkable points, NaN where none is within reach, and (n,) how far off they are, inf there.

        A point that hangs at most a climb above or below the surface stays where it is across. With `island`, only
        that connected part counts; 0 is the largest.
        """
        spots, gaps = nearest(self.ground, points, reach=reach, island=-1 if island is None else island)
        found = np.full((len(spots), 3), np.nan)
        here = spots.cells >= 0
        found[here] = positions(self.ground, spots[here])
        return found, gaps

    def island(self, points: Places) -> NDArray[np.int32]:
        """(n,) the connected part each point lies on; 0 is the largest."""
        return self.ground.islands[stand(self.ground, points).cells]

    def sample(self, rng: np.random.Generator, n: int, *, island: int | None = 0) -> Array:
        """(n, 3) walkable points, evenly over the area of the largest connected part, another, or all (None)."""
        cells = np.arange(len(self.ground)) if island is None else np.flatnonzero(self.ground.islands == island)
        if not len(cells):
            raise BadArgument(f"There is no island {island}; they are numbered 0 to {int(self.ground.islands.max())}.")
        chosen = cells[rng.integers(len(cells), size=n)].astype(np.int32)
        # Off the borders, where rounding could put a point into the next cell.
        across = self.ground.columns[chosen] + rng.uniform(0.001, 0.999, size=(n, 2))
        return positions(self.ground, Spots(chosen, across))

    def field(self, goals: Places) -> DistanceField:
        """Distances from everywhere to the nearest goal."""
        spots = stand(self.ground, goals)
        if not len(spots):
            raise BadArgument("A distance field needs at least one goal.")
        return DistanceField.towards(self.ground, spots)

    def between(self, a: Places, b: Places) -> Array:
        return self._table(stand(self.ground, a), stand(self.ground, b))

    def along(self, places: Places) -> Array:
        spots = stand(self.ground, places)
        return self._lengths(spots[:-1], spots[1:]) if len(spots) else np.empty(0)

    def route(self, start: Place, goal: Place) -> Array:
        """(k, 3) the bends of a shortest way, both ends included; on stairs a point every 0.25 m."""
        begin, end = (stand(self.ground, np.asarray(place, dtype=np.float64)[None]) for place in (start, goal))
        if self.ground.islands[begin.cells[0]] != self.ground.islands[end.cells[0]]:
            raise NoRoute("No way leads from the start to the goal: they are on different islands of the surface.")
        way = DistanceField.towards(self.ground, end, until=begin).way(begin)
        return self._with_stairs(way)

    def blocks(self, a: Ragged, b: Ragged) -> Array:
        froms, tos = stand(self.ground, a.values), stand(self.ground, b.values)
        parts = [
            self._table(froms[a.starts[k] : a.starts[k + 1]], tos[b.starts[k] : b.starts[k + 1]]).ravel()
            for k in range(len(a))
        ]
        return np.concatenate(parts) if parts else np.empty(0)

    def steps(self, rows: Ragged) -> Array:
        spots, joints = stand(self.ground, rows.values), rows.joints
        return self._lengths(spots[joints], spots[joints + 1])

    def walkable(self, a: Places, b: Places) -> NDArray[np.bool_]:
        """(n,) whether the straight line from a[i] to b[i] stays on the surface."""
        clear: NDArray[np.bool_] = np.isfinite(self._straight(stand(self.ground, a), stand(self.ground, b)))
        return clear

    def advance(self, points: Array, headings: ArrayLike, distance: float, *, sliding: bool) -> Array:
        """Where a robot at each point comes to by going `distance` metres forward: (3,), or (n, 3) for n points.

        At a wall it stops, or slides on along it with what is left of its movement in that direction.
        """
        many = np.atleast_2d(as_points(np.atleast_2d(points)))
        turned = np.broadcast_to(np.asarray(headings, dtype=np.float64), len(many))
        spots = stand(self.ground, many)
        moves = np.column_stack([np.cos(turned), np.sin(turned)]) * (distance / self.ground.size)
        return positions(self.ground, self._moved(spots, moves, sliding=sliding)).reshape(np.shape(points))

    def _moved(self, spots: Spots, moves: Array, *, sliding: bool = False) -> Spots:
        """Where each place comes to by its move across, in cells."""
        moved, ground = Spots(np.empty_like(spots.cells), np.empty_like(spots.across)), self.ground
        kernels.advance(
            ground.links, ground.slopes, spots.cells, spots.across, moves, sliding, moved.cells, moved.across
        )
        return moved

    def _table(self, a: Spots, b: Spots) -> Array:
        """(len(a), len(b)) distances: one field for each distinct place of the shorter side."""
        if len(a) < len(b):
            return self._table(b, a).T
        out = np.empty((len(a), len(b)))
        goals, which = np.unique(np.column_stack([b.cells, b.across]), axis=0, return_inverse=True)
        for k, (cell, *across) in enumerate(goals):
            goal = Spots(np.array([cell], dtype=np.int32), np.array([across]))
            near = a[np.flatnonzero(self.ground.islands[a.cells] == self.ground.islands[goal.cells])]
            field = DistanceField.towards(self.ground, goal, until=near if len(near) else goal)
            out[:, which.ravel() == k] = field.read(a)[0][:, None]
        return out

    def _straight(self, a: Spots, b: Spots) -> Array:
        """(n,) metres of the straight line between each pair; inf where something is in the way."""
        out, ground = np.empty(len(a)), self.ground
        kernels.straight_lengths(ground.links, ground.slopes, a.cells, a.across, b.cells, b.across, out)
        return out * ground.size

    def _lengths(self, a: Spots, b: Spots) -> Array:
        """(n,) metres between each pair: straight where one can walk straight."""
        out = self._straight(a, b)
        for k in np.flatnonzero(np.isinf(out)):
            out[k] = self._table(a[k : k + 1], b[k : k + 1])[0, 0]
        return out

    def _with_stairs(self, way: Spots) -> Array:
        """The way as positions, with points between its bends where it goes up or down."""
        level = np.linalg.norm(np.diff(way.across, axis=0), axis=1) * self.ground.size
        sloping = self._straight(way[:-1], way[1:]) > level + 1e-6
        found = positions(self.ground, way)
        parts = [found[:1]]
        for k in range(len(way) - 1):
            if sloping[k]:
                parts.append(self._climb(way[k : k + 1], way.across[k + 1] - way.across[k]))
            parts.append(found[k + 1 : k + 2])
        return np.concatenate(parts)

    def _climb(self, start: Spots, move: Array) -> Array:
        """(k, 3) points between the ends of a straight line, on its slopes and at their feet and heads."""
        pieces = int(np.ceil(np.linalg.norm(move) * self.ground.size / _STAIR_STEP)) + 1
        moves = np.linspace(0.0, 1.0, pieces + 1)[:, None] * move
        passed = self._moved(Spots(np.repeat(start.cells, len(moves)), np.repeat(start.across, len(moves), 0)), moves)
        slope = (self.ground.slopes[passed.cells] != 0).any(axis=1)
        near = slope[1:-1] | slope[:-2] | slope[2:]
        return positions(self.ground, passed[1 + np.flatnonzero(near)])
