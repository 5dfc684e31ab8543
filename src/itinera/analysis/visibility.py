"""Coverage of a tour by depth images: the share of cells observed before each episode. See `measure_visibility`.

`coverage.py` counts nodes of a graph, this module cells of a house: a cell is observed once a pixel of a depth image,
projected back into space, lies in it. Which pixels count is a `VisibilityRule`. An agent on a tour observes while it
acts and while it is guided; the first view of an episode belongs to that episode.
Reference: Krantz et al. 2023, Iterative Vision-and-Language Navigation, figures 2b, 5 and 7.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from itinera.analysis._kernels import mark_cells
from itinera.analysis.coverage import TourCoverage
from itinera.errors import BadArgument
from itinera.records import Phase, Rollout, Trajectory
from itinera.rendering.camera import Camera, Frame, blank_frames
from itinera.rendering.rasterizer import Rasterizer
from itinera.worlds import Array, Ragged, World
from itinera.worlds.mesh import Mesh
from itinera.worlds.surface import Surface

CAMERA = Camera(256, 256, math.pi / 2)  # VLN-CE's depth camera
BATCH = 64  # views rendered at a time, to bound the memory of their depth images
MIN_STOREY_HEIGHT = 1.5  # metres; floors less far apart belong to one storey
MIN_STOREY_AREA = 1.0  # square metres of level ground that make a storey
FLOOR_TOLERANCE = 0.1  # metres that a point may lie below the floor of its storey
VIEWPOINT_SPACING = 0.5  # metres between the places from which a scene is rendered
PHASES = (Phase.GUIDED_TO_START, Phase.ACTING, Phase.GUIDED_TO_GOAL)  # of an episode, in the order they happen


@dataclass(frozen=True)
class VisibilityRule:
    """Which points of a depth image count as observed, and the size of the cells. Metres.

    By default everything between the floor below the camera and 2 m above it, projected onto one plan: in the words of
    Iterative VLN "between the floor and ceiling planes"; camera, depths, cell and upper limit are those of its code.
    Like that code's map it has one cell for all storeys, so in a tall house a cell observed below counts as observed
    above. How the paper's own curves were counted was not released; `RELEASED` and `FLOOR` are two other readings.
    """

    camera: Camera = CAMERA
    camera_height: float = 1.25  # above the floor
    min_depth: float = 0.1  # along the optical axis
    max_depth: float = 9.9
    min_height: float = -1.35  # relative to the camera
    max_height: float = 0.75
    cell_size: float = 0.1  # the side of the square cells
    per_storey: bool = False  # whether each storey has cells of its own

    def __post_init__(self) -> None:
        if not (0 <= self.min_depth < self.max_depth and self.min_height < self.max_height):
            depths = f"{self.min_depth} to {self.max_depth} m"
            heights = f"{self.min_height} to {self.max_height} m"
            raise BadArgument(f"Depths of {depths} and heights of {heights} are empty: give the minimum first.")
        if not (math.isfinite(self.cell_size) and self.cell_size > 0):
            raise BadArgument(f"cell_size must be a positive number of metres (got {self.cell_size}).")


# The released map: 0.25 to 1.75 m above the floor, so furniture and walls, but no open floor.
RELEASED = VisibilityRule(min_height=-1.0, max_height=0.5)
# The open floor only, on every storey.
FLOOR = VisibilityRule(min_height=-1.35, max_height=-1.15, per_storey=True)


@dataclass(frozen=True, eq=False)
class CellGrid:
    """Square cells of a floor plan, storey by storey."""

    origin: Array  # (2,) the low corner, metres
    size: float  # the side of a cell, metres
    shape: tuple[int, int]  # how many along x and along y
    floors: Array  # (storeys,) their heights, low to high, metres


@dataclass(frozen=True, eq=False)
class CameraPoses:
    """Camera poses, and the row of the result in which each view is marked. n views."""

    places: Array  # (n, 3) on the floor, metres
    headings: Array  # (n,) radians
    elevations: Array  # (n,) radians
    rows: NDArray[np.int64]  # (n,)


def measure_visibility(
    rollouts: Sequence[Rollout], world: World, *, rule: VisibilityRule | None = None
) -> TourCoverage:
    """The shares of cells observed before each episode of each rollout.

    `upcoming` is of the cells that the trajectory of the episode itself shows, `tour` of those the whole rollout shows,
    and `scene` of those visible from anywhere reachable. Before: in earlier episodes, and while guided to this one.
    """
    rule = rule or VisibilityRule()
    surface, rasterizer = _require_surface(world), Rasterizer(_require_mesh(world))
    cells, views = make_cell_grid(world, rule), [_camera_poses(rollout) for rollout in rollouts]
    island = int(surface.island(views[0].places[:1])[0]) if rollouts else 0
    scene = mark_visible_cells(rasterizer, cells, _scene_poses(surface, island, rule), rule, rows=1)[0]
    shares = []
    for rollout, poses in zip(rollouts, views, strict=True):
        visible = mark_visible_cells(rasterizer, cells, poses, rule, rows=len(PHASES) * len(rollout.trajectories))
        if not visible[1::3].any(axis=1).all() or not scene.any():
            problem = f"An episode of tour {rollout.tour_id} shows no cell within the rule's depths and heights."
            raise BadArgument(f"{problem} Widen them.")
        shares.append(_observed_shares(visible, scene))
    upcoming, tour, of_scene = (Ragged.from_rows([share[i] for share in shares], dtype=np.float64) for i in range(3))
    return TourCoverage((world.id,) * len(rollouts), upcoming, tour, of_scene)


def concatenate_coverage(parts: Sequence[TourCoverage]) -> TourCoverage:
    """The coverage in several worlds as one."""
    world_ids = tuple(name for part in parts for name in part.world_ids)
    upcoming, tour, scene = (
        Ragged.from_rows([row for part in parts for row in _rows(getattr(part, name))], dtype=np.float64)
        for name in ("upcoming", "tour", "scene")
    )
    return TourCoverage(world_ids, upcoming, tour, scene)


def _rows(shares: Ragged) -> list[Array]:
    return [shares[row] for row in range(len(shares))]


def make_cell_grid(world: World, rule: VisibilityRule) -> CellGrid:
    """The cells that cover a world, once, or for every storey of its ground."""
    size = rule.cell_size
    corners = _require_mesh(world).corners[..., :2].astype(np.float64)
    low = np.floor(corners.min(axis=(0, 1)) / size) - 1
    wide, tall = (int(n) for n in np.ceil(corners.max(axis=(0, 1)) / size) + 1 - low)
    floors = _find_floors(_require_surface(world))
    return CellGrid(low * size, size, (wide, tall), floors if rule.per_storey else floors[:1])


def mark_visible_cells(
    rasterizer: Rasterizer, cells: CellGrid, views: CameraPoses, rule: VisibilityRule, *, rows: int
) -> NDArray[np.bool_]:
    """(rows, storeys * w * h) which cells the views of each row show."""
    visible = np.zeros((rows, len(cells.floors), *cells.shape), dtype=np.bool_)
    eyes = np.add(views.places, (0.0, 0.0, rule.camera_height))
    bases = _bases(views.headings, views.elevations)
    limits = np.array([rule.min_depth, rule.max_depth, rule.min_height, rule.max_height])
    # Nothing beyond the largest depth needs to be rendered.
    camera = replace(rule.camera, far=min(rule.camera.far, max(rule.max_depth, 2 * rule.camera.near)))
    buffer: Frame | None = None
    for first in range(0, len(eyes), BATCH):
        now = slice(first, first + BATCH)
        count = len(eyes[now])
        if buffer is None or len(buffer.depth) != count:
            buffer = blank_frames(camera, count, ("depth",))
        rasterizer.render_many(camera, eyes[now], views.headings[now], views.elevations[now], out=buffer)
        mark_cells(
            buffer.depth, eyes[now], bases[now], views.rows[now], camera.focal, limits,
            cells.origin, cells.size, cells.floors - FLOOR_TOLERANCE, visible,
        )  # fmt: skip
    return visible.reshape(rows, -1)


def _observed_shares(visible: NDArray[np.bool_], scene: NDArray[np.bool_]) -> tuple[Array, Array, Array]:
    """The shares of each episode's own cells, of the tour's and of the scene's that were observed before it."""
    observed = np.logical_or.accumulate(visible, axis=0)
    before, own, whole = observed[0::3], visible[1::3], observed[-1]
    upcoming = (own & before).sum(axis=1) / own.sum(axis=1)
    return upcoming, before.sum(axis=1) / whole.sum(), (before & scene).sum(axis=1) / scene.sum()


def _camera_poses(rollout: Rollout) -> CameraPoses:
    """The views of a rollout: of episode k, those while guided to it in row 3 k, its own next, then the rest."""
    parts = rollout.trajectories
    rows = [3 * k + np.array(_phases(part), dtype=np.int64) for k, part in enumerate(parts)]
    if any(part.headings is None or isinstance(part.places, tuple) for part in parts):
        raise BadArgument(f"The trajectories of tour {rollout.tour_id} lack positions or headings.")
    level = [np.zeros(len(part.places)) if part.elevations is None else part.elevations for part in parts]
    places = np.concatenate([np.asarray(part.places, dtype=np.float64) for part in parts])
    headings = np.concatenate([np.asarray(part.headings) for part in parts])
    return CameraPoses(places, headings, np.concatenate(level), np.concatenate(rows))


def _phases(part: Trajectory) -> list[int]:
    acting = PHASES.index(Phase.ACTING)
    return [acting] * len(part.places) if part.phases is None else [PHASES.index(phase) for phase in part.phases]


def _scene_poses(surface: Surface, island: int, rule: VisibilityRule) -> CameraPoses:
    """Full turns at places all over an island of the ground, enough to show everything visible from it."""
    ground = surface.ground
    every = max(1, round(VIEWPOINT_SPACING / ground.size))
    chosen = np.flatnonzero((ground.islands == island) & (ground.columns % every == 0).all(axis=1))
    turns = math.ceil(math.tau / rule.camera.fov - 1e-9)
    across = ground.origin + (ground.columns[chosen] + 0.5) * ground.size
    places = np.repeat(np.column_stack([across, ground.heights[chosen]]), turns, axis=0)
    headings = np.tile(np.arange(turns) * (math.tau / turns), len(chosen))
    return CameraPoses(places, headings, np.zeros(len(places)), np.zeros(len(places), dtype=np.int64))


def _find_floors(surface: Surface) -> Array:
    """The heights of the storeys, low to high: the most frequent height of level ground, then the next far enough."""
    ground = surface.ground
    level = ground.heights[(ground.slopes == 0).all(axis=1) & (ground.islands == 0)]
    heights, counts = np.unique((level / FLOOR_TOLERANCE).round().astype(np.int64), return_counts=True)
    areas, found = counts * ground.size**2, list[float]()
    while len(areas) and (areas.max() >= MIN_STOREY_AREA or not found):
        found.append(float(heights[np.argmax(areas)] * FLOOR_TOLERANCE))
        apart = np.abs(heights * FLOOR_TOLERANCE - found[-1]) >= MIN_STOREY_HEIGHT
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


def _require_surface(world: World) -> Surface:
    if not isinstance(world.space, Surface):
        raise BadArgument(f"World {world.id} has no surface: coverage by depth images needs scenes or a Hearth season.")
    return world.space


def _require_mesh(world: World) -> Mesh:
    if world.mesh is None:
        raise BadArgument(f"World {world.id} has no mesh, so a camera cannot render it.")
    return world.mesh
