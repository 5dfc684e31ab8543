"""What an agent observes in a run besides its pose and candidates: views of graph nodes, or a camera on the ground.

`configure_observations` checks what was asked for; `open_views` reads it, in the process that runs the agent.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from itinera.errors import BadArgument, validate_choice
from itinera.runs.config import ANNOTATIONS, INFERRED, RENDERED, ObservationConfig, WaypointConfig

if TYPE_CHECKING:
    from itinera.policies.ground.requirements import GroundRequirements
    from itinera.policies.pointnav.requirements import PointNavRequirements
    from itinera.policies.pretrained import ModelRequirements
    from itinera.simulators.sensors import CameraSensor
    from itinera.simulators.view_features import ViewSource
    from itinera.tasks import Split
    from itinera.worlds import World
    from itinera.worlds.mesh import Mesh

FOV_DEG = 90.0
DEFAULT_CHANNELS = "rgb,depth"


def configure_observations(
    split: Split,
    worlds: Path | None,
    *,
    views: str | None = None,
    objects: Path | None = None,
    rooms: Path | None = None,
    camera: CameraSensor | None = None,
    appearance: str | None = None,
    map_lifetime: str | None = None,
    semantics: str | None = None,
    waypoints: str | None = None,
    driver: str | None = None,
    stops: str | None = None,
    requirements: ModelRequirements | GroundRequirements | PointNavRequirements | None = None,
) -> ObservationConfig:
    """The observations that were asked for: views for tasks on graphs, a camera or waypoints for tasks on the ground.

    A model with `requirements` gets views like those it was trained with, unless others are asked for, or the camera
    it was trained with. `worlds` is the folder of the worlds; None where they were given as objects.
    """
    from itinera.policies.pointnav.requirements import PointNavRequirements
    from itinera.policies.pretrained import ModelRequirements

    if isinstance(requirements, PointNavRequirements):
        asked = (views, objects, rooms, camera, appearance, map_lifetime, semantics, waypoints, driver)
        return _configure_pointnav(split, requirements, has_options=any(option is not None for option in asked))
    on_graph = bool(split.episodes) and isinstance(split.episodes[0].start.place, str)
    if requirements is not None and not isinstance(requirements, ModelRequirements):
        if on_graph:
            raise BadArgument(f"This model was trained on the ground; {split.name} has episodes on navigation graphs.")
        if waypoints is not None or driver is not None or stops is not None:
            raise BadArgument(
                "--waypoints, --driver and --stops are for agents that choose among candidates; this model steps and "
                "turns itself: leave them out."
            )
        camera = _trained_camera(requirements, camera, map_lifetime, semantics)
        requirements = None
    elif map_lifetime is not None or semantics is not None:
        raise BadArgument("--map-lifetime and --semantics are for trained agents with maps: give one as --agent.")
    choice = _configure_waypoints(split, waypoints, driver, stops, camera=camera, appearance=appearance)
    if requirements is not None and not on_graph and choice is None:
        raise BadArgument(
            f"This model was trained on navigation graphs; {split.name} has continuous episodes. Add --waypoints depth "
            "(waypoints=) for it to choose among waypoints there."
        )
    if requirements is not None and views is None:
        views = _trained_views(requirements)
    if choice is not None:
        config = _configure_pose_views(split, worlds, views, objects, rooms, requirements)
        return replace(config, waypoints=choice)
    if views is not None and not on_graph:
        raise BadArgument(
            "--views are features of graph nodes; for continuous episodes give --camera (camera=), or --waypoints."
        )
    if views == INFERRED:
        raise BadArgument("--views inferred are for waypoints on the ground: give --waypoints (waypoints=) too.")
    if camera is not None and on_graph:
        raise BadArgument("--camera is for continuous episodes; for episodes on graphs give --views (views=).")
    if views != ANNOTATIONS and (objects is not None or rooms is not None):
        raise BadArgument("--objects and --rooms are the sources of annotations: give --views annotations too.")
    if appearance is not None and views != RENDERED and camera is None:
        raise BadArgument("--appearance is that of rendered images: give --camera, or on graphs --views rendered, too.")
    if views == ANNOTATIONS:
        return _configure_annotations(split, worlds, objects, rooms, requirements)
    config = ObservationConfig(views, camera=camera, map_lifetime=map_lifetime, semantics=semantics)
    if appearance is not None:
        config = _set_appearance(config, appearance)
    if config.file is not None and not config.file.is_file():
        raise BadArgument(f"--views must be {ANNOTATIONS}, {RENDERED} or a file of features; there is no file {views}.")
    return config


def _configure_pointnav(split: Split, requirements: PointNavRequirements, *, has_options: bool) -> ObservationConfig:
    """The sensor of a PointNav model, which needs tasks that say where their goals are."""
    if has_options:
        raise BadArgument(
            f"This model brings its own sensor ({requirements.describe()}): leave out the options of observations."
        )
    without = next((episode for episode in split.episodes if episode.instruction.point_goal is None), None)
    if without is not None:
        raise BadArgument(
            f"This model drives to a point, and episode {without.id} of {split.name} names none: give PointNav tasks."
        )
    return ObservationConfig(camera=requirements.camera, scan=requirements.scan)


def _configure_waypoints(
    split: Split,
    source: str | None,
    driver: str | None,
    stops: str | None,
    *,
    camera: CameraSensor | None,
    appearance: str | None,
) -> WaypointConfig | None:
    """The waypoints that were asked for."""
    if source is None:
        if driver is not None or stops is not None:
            raise BadArgument("--driver and --stops move a body among waypoints: give --waypoints (waypoints=) too.")
        return None
    from itinera.simulators.waypoint_drivers import DRIVERS
    from itinera.simulators.waypoints import STOPS, WAYPOINTS

    validate_choice("waypoints", source, WAYPOINTS)
    chosen = validate_choice("driver", "follower" if driver is None else driver, DRIVERS)
    place = validate_choice("stops", "waypoint" if stops is None else stops, STOPS)
    if split.episodes and isinstance(split.episodes[0].start.place, str):
        raise BadArgument(
            f"--waypoints is for continuous episodes, and {split.name} has episodes on graphs, where the candidates "
            "are nodes: leave it out."
        )
    if camera is not None or appearance is not None:
        raise BadArgument("With --waypoints agents observe views, not a camera: leave out --camera and --appearance.")
    return WaypointConfig(source, chosen, place)


def _configure_pose_views(
    split: Split,
    worlds: Path | None,
    views: str | None,
    objects: Path | None,
    rooms: Path | None,
    requirements: ModelRequirements | None,
) -> ObservationConfig:
    """The views at poses on the ground."""
    if views is None:
        if objects is not None or rooms is not None:
            raise BadArgument("--objects and --rooms are the sources of annotations: give --views annotations too.")
        return ObservationConfig()
    if views not in (ANNOTATIONS, INFERRED):
        raise BadArgument(f"With --waypoints, --views must be {ANNOTATIONS} or {INFERRED}, not {views}.")
    return replace(_configure_annotations(split, worlds, objects, rooms, requirements), views=views)


def _set_appearance(config: ObservationConfig, name: str) -> ObservationConfig:
    from itinera.rendering.appearance import parse_appearance

    appearance = parse_appearance(name)
    if config.camera is not None:
        return replace(config, camera=replace(config.camera, appearance=appearance))
    return replace(config, appearance=name)


def make_camera(
    size: str | None,
    *,
    channels: str | None = None,
    fov: float | None = None,
    height: float | None = None,
    panorama: bool = False,
) -> CameraSensor | None:
    """The camera of WIDTHxHEIGHT pixels; `fov` in degrees from left to right, `height` in metres above the floor."""
    if size is None:
        if panorama or any(option is not None for option in (channels, fov, height)):
            raise BadArgument("--channels, --fov, --camera-height and --panorama need a camera: give --camera too.")
        return None
    found = re.fullmatch(r"(\d{1,5})x(\d{1,5})", size)
    if found is None:
        raise BadArgument(f"--camera is WIDTHxHEIGHT in pixels, such as 64x64, not {size!r}.")
    from itinera.rendering.camera import Camera
    from itinera.simulators.sensors import CameraSensor

    optics = Camera(int(found[1]), int(found[2]), math.radians(FOV_DEG if fov is None else fov))
    rendered = tuple(dict.fromkeys((channels or DEFAULT_CHANNELS).split(",")))
    sensor = CameraSensor(optics, channels=rendered, panorama=panorama)
    return sensor if height is None else replace(sensor, height=height)


def _trained_camera(
    requirements: GroundRequirements, camera: CameraSensor | None, map_lifetime: str | None, semantics: str | None
) -> CameraSensor:
    """The camera a model was trained with; one that was asked for must be the same, apart from its channels."""
    from itinera.mapping.config import MapLifetime
    from itinera.policies.pretrained import SUFFIX
    from itinera.policies.segmentation.semantics import INFERRED, TRUE

    if requirements.map is None and (map_lifetime is not None or semantics is not None):
        raise BadArgument("--map-lifetime and --semantics are for agents with maps, and this model has none.")
    if map_lifetime is not None:
        validate_choice("map_lifetime", map_lifetime, tuple(one.value for one in MapLifetime))
    if semantics is not None and not semantics.endswith(SUFFIX):
        validate_choice("semantics", semantics, (TRUE, INFERRED, f"FILE{SUFFIX}"))
    needed = requirements.camera(semantics)
    if camera is None:
        return needed
    if replace(camera, channels=needed.channels, appearance=needed.appearance) != needed:
        raise BadArgument(
            f"This model was trained with {requirements.describe_camera()}: leave out --camera, --fov, "
            "--camera-height and --panorama (camera=)."
        )
    return replace(needed, appearance=camera.appearance, channels=tuple({*needed.channels, *camera.channels}))


def _trained_views(requirements: ModelRequirements) -> str | None:
    """The kind of views a model was trained with."""
    if not requirements.columns:
        return None
    if requirements.views not in (ANNOTATIONS, RENDERED):
        kind = f' ("{requirements.views}")' if requirements.views else ""
        raise BadArgument(f"This model was trained with features from a file{kind}: give yours as --views (views=).")
    return requirements.views


def _configure_annotations(
    split: Split,
    worlds: Path | None,
    objects: Path | None,
    rooms: Path | None,
    requirements: ModelRequirements | None,
) -> ObservationConfig:
    from itinera.formats.catalog import season_file

    if worlds is not None and season_file(worlds).exists():
        from itinera.formats.hearth_season import BOXES

        objects, rooms = objects or worlds / BOXES, rooms or worlds / "rooms.csv"
    if objects is None and rooms is None:
        place = "The worlds are" if worlds is None else f"{worlds} is"
        raise BadArgument(f"{place} not a Hearth season: give --objects or --rooms for annotations.")
    names: tuple[str, ...] = ()
    if rooms is not None:
        from itinera.formats.rooms import read_table

        _require_worlds(rooms, read_table(rooms), split)
    if objects is not None:
        from itinera.formats.reverie import read_objects
        from itinera.simulators.view_features import frequent_names
        from itinera.worlds import Euclidean, World

        visible = read_objects(objects)
        _require_worlds(objects, visible, split)
        # Over the whole file, so that another split of the same worlds has the same columns.
        names = frequent_names({scan: World(scan, Euclidean(), objects=visible[scan]) for scan in sorted(visible)})
    if requirements is not None:
        return ObservationConfig(ANNOTATIONS, objects, rooms, requirements.names, reach=requirements.reach)
    return ObservationConfig(ANNOTATIONS, objects, rooms, names)


def _require_worlds(path: Path, world_ids: Iterable[str], split: Split) -> None:
    missing = sorted(set(split.world_ids) - set(world_ids))
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise BadArgument(f"{path} does not contain world {missing[0]}{more} of {split.name}.")


def open_views(config: ObservationConfig, path: Path | None, worlds: Mapping[str, World]) -> ViewSource | None:
    """The views at the nodes of the worlds, which were read from `path`."""
    if config.file is not None:
        from itinera.formats.features import read_features

        return read_features(config.file)
    if config.views == RENDERED:
        from itinera.rendering.appearance import parse_appearance
        from itinera.simulators.view_features import rendered_views

        return rendered_views(worlds, open_meshes(path), appearance=parse_appearance(config.appearance))
    if config.views == ANNOTATIONS:
        from itinera.simulators.view_features import annotated_views

        shown = worlds if not config.reach else _with_visibility(path, worlds)
        return annotated_views(annotate_worlds(config, shown), config.names, reach=config.reach)
    return None


def _with_visibility(path: Path | None, worlds: Mapping[str, World]) -> Mapping[str, World]:
    """The same worlds with the nodes visible from each node, where the connectivity files contain them."""
    if path is None:
        return worlds
    from itinera.formats.catalog import detect, season_file
    from itinera.formats.matterport import read_worlds

    folder = path / "connectivity" if season_file(path).exists() else path
    return read_worlds(folder, visible=True) if detect(folder).name == "connectivity" else worlds


def view_columns(views: ViewSource | None) -> tuple[str, ...]:
    """The meaning of each number of a view, where that is known."""
    if views is None:
        return ()
    from itinera.simulators.view_features import WorldViews

    return views.columns if isinstance(views, WorldViews) else ()


def annotate_worlds(config: ObservationConfig, worlds: Mapping[str, World]) -> Mapping[str, World]:
    """The same worlds with the rooms and visible objects of their nodes."""
    from itinera.formats.reverie import read_objects
    from itinera.formats.rooms import read_table
    from itinera.worlds.lazy import LazyMapping

    objects = {} if config.objects is None else read_objects(config.objects)
    rooms = {} if config.rooms is None else read_table(config.rooms)

    def world(world_id: str) -> World:
        return replace(worlds[world_id], rooms=rooms.get(world_id, {}), objects=objects.get(world_id, {}))

    return LazyMapping(worlds, world)


def open_meshes(path: Path | None) -> Mapping[str, Mesh]:
    """Meshes by world; not kept in memory, as the views rendered from them are."""
    from itinera.formats import scenes
    from itinera.formats.hearth_season import season_houses
    from itinera.worlds.lazy import LazyMapping

    if path is None:
        raise BadArgument("Rendered views need meshes: give the folder of a Hearth season or of scenes as worlds.")
    files = scenes.find_scenes(path) if path.is_dir() else {}
    if files:
        return LazyMapping(files, lambda world_id: scenes.read_scene(files[world_id]), cache_size=0)
    houses = season_houses(path)
    if houses is None:
        raise BadArgument(f"{path} contains no meshes to render: give a Hearth season, or a folder with scenes.")
    from itinera.hearth.build import build_house

    return LazyMapping(houses, lambda world_id: build_house(*houses[world_id]).mesh, cache_size=0)
