"""The simulator of a run with waypoints: where agents of graphs act on the ground."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from itinera.agents.path_tracking import PathTracker
from itinera.errors import BadArgument, MissingExtra
from itinera.formats.catalog import season_file
from itinera.formats.matterport import read_worlds
from itinera.runs.config import INFERRED, ObservationConfig, WaypointConfig
from itinera.runs.observations import annotate_worlds
from itinera.simulators.ground import GroundSimulator
from itinera.simulators.inferred_views import InferredPoseViews, RoomClassifier
from itinera.simulators.pose_views import AnnotatedPoseViews
from itinera.simulators.waypoint_drivers import Controller, Driver, straight_driver
from itinera.simulators.waypoint_simulator import LONGEST_DRIVE, WaypointSimulator
from itinera.simulators.waypoints import DepthWaypoints, GraphWaypoints, SurfaceWaypoints, WaypointSource
from itinera.tasks import Protocol
from itinera.worlds import Array, World
from itinera.worlds.surface import Surface

ARRIVAL = 0.25  # metres from a waypoint at which the follower has arrived
SNAP = 1.5  # metres within which the follower's goal is moved onto the walkable surface


def make_waypoint_simulator(
    protocol: Protocol, waypoints: WaypointConfig, observations: ObservationConfig, path: Path | None
) -> tuple[WaypointSimulator, tuple[str, ...]]:
    """The simulator, and the columns of its views; `path` is the folder of the worlds."""
    ground = GroundSimulator.for_protocol(protocol)
    views = make_pose_views(observations, path)
    driver = straight_driver(protocol) if waypoints.driver == "straight" else follower_driver(protocol)
    source, between = make_source(waypoints.source, path), waypoints.stops == "between"
    simulator = WaypointSimulator(ground, source, driver, views=views, stops_between=between)
    return simulator, () if views is None else views.columns


def make_source(name: str, path: Path | None) -> WaypointSource:
    """The source of waypoints of this name."""
    if name == "graph":
        return GraphWaypoints(read_viewpoints(path))
    return SurfaceWaypoints() if name == "surface" else DepthWaypoints()


def read_viewpoints(path: Path | None) -> Mapping[str, World]:
    """The graphs of a season's houses, with the nodes visible from each."""
    if path is None or not season_file(path).exists():
        raise BadArgument("These waypoints or views need the viewpoints of a Hearth season: give its folder as worlds.")
    return read_worlds(path / "connectivity", visible=True)


def make_pose_views(config: ObservationConfig, path: Path | None) -> AnnotatedPoseViews | InferredPoseViews | None:
    """The views at any pose that a configuration asks for."""
    if config.views is None:
        return None
    if config.views == INFERRED:
        return InferredPoseViews(_load_room_classifier(), config.names, reach=config.reach)
    return AnnotatedPoseViews(annotate_worlds(config, read_viewpoints(path)), config.names, reach=config.reach)


def _load_room_classifier() -> RoomClassifier:
    try:
        from itinera.policies.room_classifier import load_room_classifier
    except ImportError as error:
        raise MissingExtra("Inferred views", (error.name or "torch").partition(".")[0], "neural") from None
    return load_room_classifier()


def follower_driver(protocol: Protocol) -> Driver:
    """The driver that knows the walkable surface: it takes a shortest path to the place nearest to the waypoint."""

    def drive(world: World, place: Array) -> Controller:
        assert isinstance(world.space, Surface)
        snapped, gaps = world.space.snap(place[None], reach=SNAP)
        goal = snapped[0] if gaps[0] <= SNAP else place
        return PathTracker(world.space, goal, protocol, radius=ARRIVAL, limit=LONGEST_DRIVE)

    return drive
