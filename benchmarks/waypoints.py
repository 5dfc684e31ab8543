"""Speed of waypoints on the ground: CPU milliseconds of a decision in a Hearth house, by where candidates come from.

`make bench` runs this. A decision is the observation of the agent: waypoints and views. Annotated views test lines of
sight, so they take longer than inferred ones.
"""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.table import Table

from itinera.builders.hearth import build_annotated_house
from itinera.hearth.ground import ground_world
from itinera.hearth.viewpoints import EYE_HEIGHT
from itinera.policies.room_classifier import load_room_classifier
from itinera.simulators.candidates import list_candidates
from itinera.simulators.ground import GroundSimulator
from itinera.simulators.inferred_views import InferredPoseViews
from itinera.simulators.pose_views import AnnotatedPoseViews
from itinera.simulators.surroundings import Scene, Surroundings
from itinera.simulators.view_features import frequent_names
from itinera.simulators.waypoint_drivers import straight_driver
from itinera.simulators.waypoint_simulator import PoseViews, WaypointSimulator
from itinera.simulators.waypoints import DepthWaypoints, GraphWaypoints, SurfaceWaypoints, WaypointSource
from itinera.tasks.protocol import R2R_CE
from itinera.worlds import Array, NavGraph, Pose
from timing import cpu

PLACES, REACH = 60, 10.0


def find_time(source: WaypointSource, scene: Scene, places: Array) -> float:
    """CPU milliseconds to find waypoints, the panorama included where they need it."""

    def find() -> None:
        for place in places:
            source.find(Surroundings(scene, place))

    find()  # compiled
    return 1000 * cpu(find, 3) / len(places)


def view_time(views: PoseViews, scene: Scene, places: Array) -> float:
    """CPU milliseconds of the views at a place, the panorama included."""
    source = DepthWaypoints()
    found = [source.find(Surroundings(scene, place)).places for place in places]
    lists = [
        list_candidates([str(k) for k in range(len(ends))], ends - place)
        for place, ends in zip(places, found, strict=True)
    ]

    def look() -> None:
        for place, ends, (candidates, order) in zip(places, found, lists, strict=True):
            views.at(Surroundings(scene, place), candidates, ends[order])

    look()
    return 1000 * cpu(look, 3) / len(places)


def main() -> None:
    house = build_annotated_house(1, 29, id="house")
    graph_world, ground = house.world, ground_world(1, 29, id="house", radius=0.1)
    graph, scene = graph_world.space, Scene(ground)
    assert isinstance(graph, NavGraph)
    places = graph.positions[np.linspace(0, len(graph.nodes) - 1, PLACES).astype(int)] - np.array([0, 0, EYE_HEIGHT])
    names = frequent_names({"house": graph_world})
    sources = {
        "graph": GraphWaypoints({"house": graph_world}),
        "surface": SurfaceWaypoints(),
        "depth, with its panorama": DepthWaypoints(),
    }
    table = Table("part", "CPU ms", title=f"a decision at {PLACES} places of a house")
    for name, source in sources.items():
        table.add_row(f"waypoints: {name}", f"{find_time(source, scene, places):.2f}")
    annotated = AnnotatedPoseViews({"house": graph_world}, names, reach=REACH)
    inferred = InferredPoseViews(load_room_classifier(), names, reach=REACH)
    table.add_row("views: annotations, with its panorama", f"{view_time(annotated, scene, places):.2f}")
    table.add_row("views: inferred, with its panorama", f"{view_time(inferred, scene, places):.2f}")
    whole = WaypointSimulator(
        GroundSimulator.for_protocol(R2R_CE), DepthWaypoints(), straight_driver(R2R_CE), views=inferred
    )

    def walk() -> None:
        for place in places[::6]:
            whole.reset(ground, Pose(place))
            for _ in range(5):
                whole.step(1 if whole.actions > 1 else 0)

    walk()
    decisions = 6 * len(places[::6])
    table.add_row("depth, inferred and straight, with driving", f"{1000 * cpu(walk, 3) / decisions:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
