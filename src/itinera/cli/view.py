"""`itinera view`: a house of Hearth as a picture, from above or from inside."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from itinera.errors import BadArgument

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from itinera.hearth.build import House
    from itinera.rendering.rasterizer import Raster
    from itinera.worlds import Array, NavGraph, Pose

NAMED = re.compile(r"(?:hearth-(\d{1,18})-)?(\d{1,9})")
VIEWS = 3
WIDE = math.radians(80)
DOWN = -0.12  # radians; one looks a little down at a room
PASSED = ("h", "s", "c", "t")  # kinds of room that one only passes through, or hardly fits into


def view(
    house: Annotated[str, typer.Argument(help="A house by its number, 7, or by its name, hearth-1-007.")],
    out: Annotated[Path, typer.Option("--out", help="The picture to write, .png.")],
    plan: Annotated[bool, typer.Option("--plan", help="The floor plan, a panel for each storey.")] = False,
    inside: Annotated[bool, typer.Option("--inside", help="What one sees in three of its rooms.")] = False,
    season: Annotated[int | None, typer.Option(help="The season's seed; 1 if left out.")] = None,
    paths: Annotated[int, typer.Option(help="Draw so many of its paths on the plan.")] = 0,
) -> None:
    """Draw a house of Hearth: its floor plan with furniture and viewpoints, or a look inside.

    Example: itinera view 7 --plan --paths 2 --out plan.png
    """
    seed, index = _which(house, season)
    if plan == inside:
        raise BadArgument("Choose one of --plan and --inside.")
    if paths < 0 or (paths and inside):
        raise BadArgument("--paths is a number of paths to draw on the --plan.")
    from itinera.builders.hearth import build_place, paths_in
    from itinera.hearth.season import paths_of
    from itinera.reports.charts.floor_plans import check_picture, draw_plan

    check_picture(out)
    place, graph = build_place(seed, index)
    if plan:
        ways = paths_in(graph, seed, index, sum(paths_of(index).values()))[:paths]
        draw_plan(place, out, graph=graph, ways=ways)
    else:
        _look(place, graph, out)
    kinds = len(place.plan.rooms)
    typer.echo(f"{out}: {place.id}, {kinds} rooms, {len(graph.nodes)} viewpoints, {len(place.mesh.faces)} triangles.")


def _which(house: str, season: int | None) -> tuple[int, int]:
    """The season's seed and the number of the house."""
    found = NAMED.fullmatch(house)
    if found is None:
        raise BadArgument(f"{house!r} is no house. Give a number, such as 7, or a name, such as hearth-1-007.")
    named = None if found[1] is None else int(found[1])
    if named is not None and season is not None and named != season:
        raise BadArgument(f"{house} is a house of season {named}, not of --season {season}.")
    if season is not None and season < 0:
        raise BadArgument(f"Seasons count from 0, not {season}.")
    return next(seed for seed in (named, season, 1) if seed is not None), int(found[2])


def _look(place: House, graph: NavGraph, out: Path) -> None:
    from itinera.rendering.rasterizer import Camera, Raster
    from itinera.reports.charts.floor_plans import draw_views

    raster = Raster(place.mesh)
    camera = Camera(640, 480, WIDE)
    poses = _lookouts(place, graph, raster)
    draw_views([raster.look(camera, p.place, p.heading, p.elevation, channels=("rgb",)).rgb for p in poses], out)


def _lookouts(place: House, graph: NavGraph, raster: Raster) -> list[Pose]:
    """Where to stand and look in the largest rooms, each of another kind: where most things are seen."""
    import numpy as np

    from itinera.hearth.room_lookup import rooms_at
    from itinera.hearth.viewpoints import EYE_HEIGHT

    homes = rooms_at(place.plan, graph.positions - (0.0, 0.0, EYE_HEIGHT))
    chosen: dict[str, Pose] = {}
    for room in sorted(place.plan.rooms, key=lambda room: -round(float(np.prod(np.ptp(room.outline, axis=0))), 4)):
        stands = graph.positions[homes == room.index]
        if room.kind not in chosen and room.kind not in PASSED and len(stands) and len(chosen) < VIEWS:
            own = np.array([False, *(item.room == room.index for item in place.items)])
            chosen[room.kind] = _richest(stands, raster, own)
    return list(chosen.values())


def _richest(stands: Array, raster: Raster, own: NDArray[np.bool_]) -> Pose:
    """Of the positions, (n, 3), and twelve headings at each, the view with most things; `own` are those of the room."""
    import numpy as np

    from itinera.rendering.rasterizer import Camera
    from itinera.worlds import Pose

    headings = np.tile(np.arange(12) * (np.pi / 6), len(stands))
    places = np.repeat(stands, 12, axis=0)
    seen = raster.look_many(Camera(80, 60, WIDE), places, headings, DOWN, channels=("instances", "depth"))
    things = [np.unique(view) for view in seen.instances]
    # Of views that show as much, the deepest.
    depths = np.minimum(seen.depth, 20.0).mean(axis=(1, 2)).round(3)
    best = max(range(len(things)), key=lambda i: (4 * own[things[i]].sum() + len(things[i]), depths[i], -i))
    return Pose(places[best], float(headings[best]), DOWN)
