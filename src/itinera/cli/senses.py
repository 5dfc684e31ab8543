"""What an agent is shown on a run besides where it stands: views of the places of a graph, or a camera on the ground.

`senses_of` makes sense of the options; `views_of` opens what they name, in the process that walks.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from itinera.cli import inputs as given
from itinera.errors import BadArgument
from itinera.policies.pretrained import Learned

if TYPE_CHECKING:
    from itinera.simulators.sensors import CameraSensor
    from itinera.simulators.view_features import ViewSource
    from itinera.tasks import Split
    from itinera.worlds import World
    from itinera.worlds.mesh import Mesh

ANNOTATIONS, RENDERED = "annotations", "rendered"
FOV_DEG = 90.0
USUAL_CHANNELS = "rgb,depth"

_ON_GRAPHS = "What is seen on graphs"
_ON_GROUND = "What is seen on the ground"

Views = Annotated[
    str | None,
    typer.Option(
        help="annotations (objects and rooms), rendered (from meshes), or a file of features, TSV or HDF5.",
        rich_help_panel=_ON_GRAPHS,
    ),
]
Objects = Annotated[
    Path | None,
    typer.Option(
        help="For annotations: REVERIE's BBox folder or archive. A season has its own.", rich_help_panel=_ON_GRAPHS
    ),
]
Rooms = Annotated[
    Path | None,
    typer.Option(help="For annotations: a table of rooms, CSV. A season has its own.", rich_help_panel=_ON_GRAPHS),
]
Camera = Annotated[
    str | None, typer.Option(help="A camera of WIDTHxHEIGHT pixels, such as 64x64.", rich_help_panel=_ON_GROUND)
]
Channels = Annotated[
    str | None,
    typer.Option(help=f"Of rgb, depth, classes, instances; {USUAL_CHANNELS} if left out.", rich_help_panel=_ON_GROUND),
]
Fov = Annotated[
    float | None, typer.Option(help=f"Degrees from left to right; {FOV_DEG:g} if left out.", rich_help_panel=_ON_GROUND)
]
CameraHeight = Annotated[
    float | None, typer.Option(help="Metres above the floor; 1.25 if left out.", rich_help_panel=_ON_GROUND)
]
Panorama = Annotated[
    bool, typer.Option("--panorama", help="All 36 views around, not the one ahead.", rich_help_panel=_ON_GROUND)
]


@dataclass(frozen=True)
class Senses:
    """What an agent is shown. It decides what the agent does, so runs with other senses are other runs."""

    views: str | None = None  # on graphs: annotations, rendered, or the name of a file of features
    objects: Path | None = None  # where annotations are known from
    rooms: Path | None = None
    names: tuple[str, ...] = ()  # the objects that have a column in annotated views
    reach: float = 0.0  # metres; above 0 annotated views also tell what lies farther off
    eye: CameraSensor | None = None  # on the ground

    @property
    def file(self) -> Path | None:
        """The file of features."""
        return None if self.views in (None, ANNOTATIONS, RENDERED) else Path(str(self.views))

    @property
    def inputs(self) -> dict[str, Path | None]:
        """The files that are looked at, by role."""
        return {"views": self.file, "objects": self.objects, "rooms": self.rooms}

    @property
    def fingerprint(self) -> tuple[str, str]:
        """All that decides what is shown, apart from what is in the files."""
        views = "features" if self.file is not None else str(self.views)
        known = f"{views} of {self.names} within {self.reach:g} m" if self.reach else views
        return (known, repr(self.eye))


BLIND = Senses()


def senses_of(
    split: Split,
    worlds: Path,
    *,
    views: str | None,
    objects: Path | None,
    rooms: Path | None,
    eye: CameraSensor | None,
    learned: Learned | None = None,
) -> Senses:
    """The senses that options ask for. Views are of the nodes of graphs, a camera is carried over the ground.

    An agent that `learned` is shown views like those it learned with, unless others are asked for.
    """
    on_graph = bool(split.episodes) and isinstance(split.episodes[0].start.place, str)
    if learned is not None and not on_graph:
        raise BadArgument("This agent has learned to walk on graphs, and these tasks are walked on the ground.")
    if learned is not None and views is None:
        views = _usual(learned)
    if views is not None and not on_graph:
        raise BadArgument("Views are of the nodes of a graph, and these tasks are walked on the ground: give --camera.")
    if eye is not None and on_graph:
        raise BadArgument("A camera is carried over the ground, and these tasks are walked on a graph: give --views.")
    if views != ANNOTATIONS and (objects is not None or rooms is not None):
        raise BadArgument("--objects and --rooms are what annotations are known from: give --views annotations too.")
    if views == ANNOTATIONS:
        return _annotations(split, worlds, objects, rooms, learned)
    senses = Senses(views, eye=eye)
    if senses.file is not None and not senses.file.is_file():
        raise BadArgument(f"--views must be {ANNOTATIONS}, {RENDERED} or a file of features; there is no file {views}.")
    return senses


def eye_of(
    camera: str | None, *, channels: str | None, fov: float | None, height: float | None, panorama: bool
) -> CameraSensor | None:
    """The camera that options ask for; `fov` in degrees."""
    if camera is None:
        if panorama or any(option is not None for option in (channels, fov, height)):
            raise BadArgument("--channels, --fov, --camera-height and --panorama tell of a camera: give --camera too.")
        return None
    found = re.fullmatch(r"(\d{1,5})x(\d{1,5})", camera)
    if found is None:
        raise BadArgument(f"--camera is WIDTHxHEIGHT in pixels, such as 64x64, not {camera!r}.")
    from itinera.rendering import rasterizer
    from itinera.simulators.sensors import CameraSensor

    optics = rasterizer.Camera(int(found[1]), int(found[2]), math.radians(FOV_DEG if fov is None else fov))
    drawn = tuple(dict.fromkeys((channels or USUAL_CHANNELS).split(",")))
    eye = CameraSensor(optics, channels=drawn, around=panorama)
    return eye if height is None else replace(eye, height=height)


def _usual(learned: Learned) -> str | None:
    """The views an agent learned with."""
    if not learned.columns:
        return None
    if learned.views not in (ANNOTATIONS, RENDERED):
        told = f' ("{learned.views}")' if learned.views else ""
        raise BadArgument(f"This agent learned with features from a file{told}: give those of these worlds as --views.")
    return learned.views


def _annotations(
    split: Split, worlds: Path, objects: Path | None, rooms: Path | None, learned: Learned | None
) -> Senses:
    if given.season_file(worlds).exists():
        from itinera.formats.hearth_season import BOXES

        objects, rooms = objects or worlds / BOXES, rooms or worlds / "rooms.csv"
    if objects is None and rooms is None:
        raise BadArgument(f"{worlds} is no season of Hearth, so annotations come from elsewhere: --objects, --rooms.")
    names: tuple[str, ...] = ()
    if rooms is not None:
        from itinera.formats.rooms import read_table

        _covers(rooms, read_table(rooms), split)
    if objects is not None:
        from itinera.formats.reverie import read_objects
        from itinera.simulators.view_features import frequent_names
        from itinera.worlds import Euclidean, World

        seen = read_objects(objects)
        _covers(objects, seen, split)
        # Over all the file tells of, so that another split of the same worlds has the same columns.
        names = frequent_names({scan: World(scan, Euclidean(), objects=seen[scan]) for scan in sorted(seen)})
    if learned is not None:
        return Senses(ANNOTATIONS, objects, rooms, learned.names, reach=learned.reach)
    return Senses(ANNOTATIONS, objects, rooms, names)


def _covers(path: Path, told: Iterable[str], split: Split) -> None:
    missing = sorted(set(split.world_ids) - set(told))
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise BadArgument(f"{path} tells nothing of world {missing[0]}{more}, which is walked.")


def views_of(senses: Senses, path: Path, worlds: Mapping[str, World]) -> ViewSource | None:
    """What is seen at the nodes of the worlds, which lie at this path."""
    if senses.file is not None:
        from itinera.formats.features import read_features

        return read_features(senses.file)
    if senses.views == RENDERED:
        from itinera.simulators.view_features import rendered_views

        return rendered_views(worlds, _meshes(path))
    if senses.views == ANNOTATIONS:
        from itinera.simulators.view_features import annotated_views

        shown = worlds if not senses.reach else _in_sight(path, worlds)
        return annotated_views(_annotated(senses, shown), senses.names, reach=senses.reach)
    return None


def _in_sight(path: Path, worlds: Mapping[str, World]) -> Mapping[str, World]:
    """The same worlds with what is in sight from each node, where connectivity tells it; walking does not need it."""
    from itinera.formats.catalog import detect
    from itinera.formats.matterport import read_worlds

    folder = path / "connectivity" if given.season_file(path).exists() else path
    return read_worlds(folder, visible=True) if detect(folder).name == "connectivity" else worlds


def columns_of(views: ViewSource | None) -> tuple[str, ...]:
    """What each number of a view tells, where that is known."""
    return tuple(getattr(views, "columns", ()))


def _annotated(senses: Senses, worlds: Mapping[str, World]) -> Mapping[str, World]:
    from itinera.formats.reverie import read_objects
    from itinera.formats.rooms import read_table
    from itinera.worlds.lazy import OnDemand

    seen = {} if senses.objects is None else read_objects(senses.objects)
    rooms = {} if senses.rooms is None else read_table(senses.rooms)

    def world(world_id: str) -> World:
        return replace(worlds[world_id], rooms=rooms.get(world_id, {}), objects=seen.get(world_id, {}))

    return OnDemand(worlds, world)


def _meshes(path: Path) -> Mapping[str, Mesh]:
    """Meshes by world; not kept, as what is drawn of them is."""
    from itinera.formats import scenes
    from itinera.formats.hearth_season import houses_of
    from itinera.worlds.lazy import OnDemand

    files = scenes.scenes_in(path) if path.is_dir() else {}
    if files:
        return OnDemand(files, lambda world_id: scenes.read_scene(files[world_id]), kept=0)
    houses = houses_of(path)
    if houses is None:
        raise BadArgument(f"{path} has no meshes to draw: give a season of Hearth, or a folder with scenes in it.")
    from itinera.hearth.build import build_house

    return OnDemand(houses, lambda world_id: build_house(*houses[world_id]).mesh, kept=0)
