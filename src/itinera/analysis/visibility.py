"""How much of what comes next was seen before, by depth images taken along the way. Start with `seen_along`.

What `coverage.py` asks of the nodes of a graph is asked here of the cells of a house: a cell has been observed once a
pixel of a depth image, put back into space, lies in it. Which pixels count is a `Seeing`. An agent on a tour sees
while it acts and while it is led; the first view of an episode belongs to that episode.
Reference: Krantz et al. 2023, Iterative Vision-and-Language Navigation, figures 2b, 5 and 7.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from itinera.analysis._kernels import mark_cells
from itinera.analysis.coverage import Seen
from itinera.errors import BadArgument
from itinera.records import Phase, Rollout, Trajectory
from itinera.rendering.rasterizer import Camera, Frame, Raster, blank_frames
from itinera.worlds import Array, Ragged, World
from itinera.worlds.mesh import Mesh
from itinera.worlds.surface import Surface

CAMERA = Camera(256, 256, math.pi / 2)  # VLN-CE's for depth
BATCH = 64  # views drawn at a time, so that their depth stays small
STOREY = 1.5  # metres; floors less far apart belong to one storey
LANDING = 1.0  # square metres; a level part of the ground that is smaller makes no storey
BELOW = 0.1  # metres that a point may lie below the floor of its storey
LOOKOUT = 0.5  # metres between the places from which a scene is looked at
PHASES = (Phase.GUIDED_TO_START, Phase.ACTING, Phase.GUIDED_TO_GOAL)  # of an episode, in the order they happen


@dataclass(frozen=True)
class Seeing:
    """Which points of a depth image count as seen, and how finely. Metres.

    By default a plan on one sheet of all that is between the floor one stands on and 2 m above it: by the words of
    Iterative VLN "between the floor and ceiling planes"; camera, depths, cell and upper limit are those of its code.
    Like that code's map it has one cell for all storeys, so in a tall house what was seen below counts as seen above.
    How the paper's own curves were counted was not released; `RELEASED` and `FLOOR` are two other readings.
    """

    camera: Camera = CAMERA
    height: float = 1.25  # of the camera above the floor
    nearest: float = 0.1  # along the optical axis; nearer points do not count
    farthest: float = 9.9  # nor do farther ones
    lowest: float = -1.35  # relative to the camera; lower points do not count
    highest: float = 0.75  # nor do higher ones
    cell: float = 0.1  # the side of the square cells
    storeys: bool = False  # whether cells over one another count apart

    def __post_init__(self) -> None:
        if not (0 <= self.nearest < self.farthest and self.lowest < self.highest):
            depths, heights = f"{self.nearest} to {self.farthest} m", f"{self.lowest} to {self.highest} m"
            raise BadArgument(f"Nothing lies at depths of {depths} and heights of {heights}: give low before high.")
        if not (math.isfinite(self.cell) and self.cell > 0):
            raise BadArgument(f"The side of a cell must be a positive number of metres, not {self.cell}.")


# What enters the released map: 0.25 to 1.75 m above the floor, so furniture and walls, but no open floor.
RELEASED = Seeing(lowest=-1.0, highest=0.5)
# The open floor alone, on every storey.
FLOOR = Seeing(lowest=-1.35, highest=-1.15, storeys=True)


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a place seen from above, storey by storey."""

    origin: Array  # (2,) the low corner, metres
    size: float  # the side of a cell, metres
    shape: tuple[int, int]  # how many along x and along y
    floors: Array  # (storeys,) their heights, low to high, metres


@dataclass(frozen=True, eq=False)
class Views:
    """Where somebody stood, which way they looked, and in which row what they saw is to be noted. n views."""

    places: Array  # (n, 3) on the floor, metres
    headings: Array  # (n,) radians
    elevations: Array  # (n,) radians
    rows: NDArray[np.int64]  # (n,)


def seen_along(walks: Sequence[Rollout], world: World, *, seeing: Seeing | None = None) -> Seen:
    """Before each episode of each walk, the shares of cells that had been observed by then.

    `upcoming` is of the cells that the walk of the episode itself shows, `tour` of all that the whole walk shows, and
    `scene` of all that can be seen from where one can go. By then: in the episodes before, and while led to this one.
    """
    seeing = seeing or Seeing()
    surface, raster = _surface_of(world), Raster(_mesh_of(world))
    cells, views = cells_of(world, seeing), [_views(walk) for walk in walks]
    island = int(surface.island(views[0].places[:1])[0]) if walks else 0
    scene = look_through(raster, cells, _lookouts(surface, island, seeing), seeing, rows=1)[0]
    shares = []
    for walk, along in zip(walks, views, strict=True):
        seen = look_through(raster, cells, along, seeing, rows=len(PHASES) * len(walk.trajectories))
        if not seen[1::3].any(axis=1).all() or not scene.any():
            problem = f"An episode of tour {walk.tour_id} shows no cell that counts."
            raise BadArgument(f"{problem} Widen what counts as seen.")
        shares.append(_shares(seen, scene))
    upcoming, tour, of_scene = (Ragged.of([share[i] for share in shares], dtype=np.float64) for i in range(3))
    return Seen((world.id,) * len(walks), upcoming, tour, of_scene)


def together(parts: Sequence[Seen]) -> Seen:
    """What was seen in several worlds as one."""
    world_ids = tuple(name for part in parts for name in part.world_ids)
    upcoming, tour, scene = (
        Ragged.of([row for part in parts for row in _each(getattr(part, name))], dtype=np.float64)
        for name in ("upcoming", "tour", "scene")
    )
    return Seen(world_ids, upcoming, tour, scene)


def _each(shares: Ragged) -> list[Array]:
    return [shares[row] for row in range(len(shares))]


def cells_of(world: World, seeing: Seeing) -> Cells:
    """The cells that cover a world, once, or for every storey of its ground."""
    size = seeing.cell
    corners = _mesh_of(world).corners[..., :2].astype(np.float64)
    low = np.floor(corners.min(axis=(0, 1)) / size) - 1
    wide, tall = (int(n) for n in np.ceil(corners.max(axis=(0, 1)) / size) + 1 - low)
    floors = _floors(_surface_of(world))
    return Cells(low * size, size, (wide, tall), floors if seeing.storeys else floors[:1])


def look_through(raster: Raster, cells: Cells, views: Views, seeing: Seeing, *, rows: int) -> NDArray[np.bool_]:
    """(rows, storeys * w * h) which cells the views of each row show."""
    seen = np.zeros((rows, len(cells.floors), *cells.shape), dtype=np.bool_)
    eyes = np.add(views.places, (0.0, 0.0, seeing.height))
    bases = _bases(views.headings, views.elevations)
    limits = np.array([seeing.nearest, seeing.farthest, seeing.lowest, seeing.highest])
    # What counts in no case need not be drawn.
    camera = replace(seeing.camera, far=min(seeing.camera.far, max(seeing.farthest, 2 * seeing.camera.near)))
    room: Frame | None = None
    for first in range(0, len(eyes), BATCH):
        now = slice(first, first + BATCH)
        count = len(eyes[now])
        if room is None or len(room.depth) != count:
            room = blank_frames(camera, count, ("depth",))
        raster.look_many(camera, eyes[now], views.headings[now], views.elevations[now], out=room)
        mark_cells(
            room.depth, eyes[now], bases[now], views.rows[now], camera.focal, limits,
            cells.origin, cells.size, cells.floors - BELOW, seen,
        )  # fmt: skip
    return seen.reshape(rows, -1)


def _shares(seen: NDArray[np.bool_], scene: NDArray[np.bool_]) -> tuple[Array, Array, Array]:
    """Before each episode, the shares of its own cells, of the tour's and of the scene's that had been seen."""
    by_then = np.logical_or.accumulate(seen, axis=0)
    before, own, whole = by_then[0::3], seen[1::3], by_then[-1]
    upcoming = (own & before).sum(axis=1) / own.sum(axis=1)
    return upcoming, before.sum(axis=1) / whole.sum(), (before & scene).sum(axis=1) / scene.sum()


def _views(walk: Rollout) -> Views:
    """The views of a walk: of episode k, those on the way to it go to row 3 k, its own to the next, then the rest."""
    parts = walk.trajectories
    rows = [3 * k + np.array(_phases(part), dtype=np.int64) for k, part in enumerate(parts)]
    if any(part.headings is None or isinstance(part.places, tuple) for part in parts):
        raise BadArgument(f"Walk {walk.tour_id} does not tell where on the ground one stood and which way one looked.")
    level = [np.zeros(len(part.places)) if part.elevations is None else part.elevations for part in parts]
    places = np.concatenate([np.asarray(part.places, dtype=np.float64) for part in parts])
    headings = np.concatenate([np.asarray(part.headings) for part in parts])
    return Views(places, headings, np.concatenate(level), np.concatenate(rows))


def _phases(part: Trajectory) -> list[int]:
    acting = PHASES.index(Phase.ACTING)
    return [acting] * len(part.places) if part.phases is None else [PHASES.index(phase) for phase in part.phases]


def _lookouts(surface: Surface, island: int, seeing: Seeing) -> Views:
    """All around from places all over an island of the ground, enough to show what can be seen from it."""
    ground = surface.ground
    every = max(1, round(LOOKOUT / ground.size))
    chosen = np.flatnonzero((ground.islands == island) & (ground.columns % every == 0).all(axis=1))
    turns = math.ceil(math.tau / seeing.camera.fov - 1e-9)
    across = ground.origin + (ground.columns[chosen] + 0.5) * ground.size
    places = np.repeat(np.column_stack([across, ground.heights[chosen]]), turns, axis=0)
    headings = np.tile(np.arange(turns) * (math.tau / turns), len(chosen))
    return Views(places, headings, np.zeros(len(places)), np.zeros(len(places), dtype=np.int64))


def _floors(surface: Surface) -> Array:
    """The heights of the storeys, low to high: the commonest height of level ground, then the next one far enough."""
    ground = surface.ground
    level = ground.heights[(ground.slopes == 0).all(axis=1) & (ground.islands == 0)]
    heights, counts = np.unique((level / BELOW).round().astype(np.int64), return_counts=True)
    areas, found = counts * ground.size**2, list[float]()
    while len(areas) and (areas.max() >= LANDING or not found):
        found.append(float(heights[np.argmax(areas)] * BELOW))
        apart = np.abs(heights * BELOW - found[-1]) >= STOREY
        heights, areas = heights[apart], areas[apart]
    return np.array(sorted(found) or [float(ground.heights.min())])


def _bases(headings: ArrayLike, elevations: ArrayLike) -> Array:
    """(n, 3, 3) of each view the directions right, down and forward."""
    # Rounded, because the last bit of a sine is not the same everywhere.
    (ch, sh), (ce, se) = ((np.cos(a).round(12), np.sin(a).round(12)) for a in (headings, elevations))
    right = np.stack([sh, -ch, np.zeros_like(ch)], axis=1)
    down = np.stack([se * ch, se * sh, -ce], axis=1)
    forward = np.stack([ce * ch, ce * sh, se], axis=1)
    return np.stack([right, down, forward], axis=1)


def _surface_of(world: World) -> Surface:
    if not isinstance(world.space, Surface):
        raise BadArgument(f"World {world.id} has no ground to walk on, so what is seen from it cannot be counted.")
    return world.space


def _mesh_of(world: World) -> Mesh:
    if world.mesh is None:
        raise BadArgument(f"World {world.id} has no mesh, so a camera sees nothing of it.")
    return world.mesh
