"""Interior views of a house: the viewpoint and direction that show most objects, in its largest rooms."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from itinera.hearth.build import House
from itinera.hearth.room_lookup import locate_rooms
from itinera.hearth.viewpoints import EYE_HEIGHT
from itinera.rendering.appearance import FLAT, Appearance
from itinera.rendering.camera import Camera
from itinera.rendering.rasterizer import Rasterizer
from itinera.worlds import Array, NavGraph, Pose

VIEWS = 3
FOV = math.radians(80)
ELEVATION = -0.12  # radians: slightly down
HEADINGS = 12  # tried at each viewpoint
EXCLUDED_ROOMS = ("h", "s", "c", "t")  # halls, stairs, closets and toilets


def render_interior(house: House, graph: NavGraph, *, appearance: Appearance = FLAT) -> list[NDArray[np.uint8]]:
    """Images of the largest rooms of a house, at most three, each of another kind: (480, 640, 3) each."""
    rasterizer = Rasterizer(house.mesh, appearance=appearance)
    camera = Camera(640, 480, FOV)
    poses = choose_interior_poses(house, graph, rasterizer)
    return [
        rasterizer.render(camera, pose.place, pose.heading, pose.elevation, channels=("rgb",)).rgb for pose in poses
    ]


def choose_interior_poses(house: House, graph: NavGraph, rasterizer: Rasterizer) -> list[Pose]:
    """The poses of the best views of the largest rooms, each of another kind."""
    rooms = locate_rooms(house.plan, graph.positions - (0.0, 0.0, EYE_HEIGHT))
    chosen: dict[str, Pose] = {}
    for room in sorted(house.plan.rooms, key=lambda room: -round(float(np.prod(np.ptp(room.outline, axis=0))), 4)):
        positions = graph.positions[rooms == room.index]
        if room.kind not in (*chosen, *EXCLUDED_ROOMS) and len(positions) and len(chosen) < VIEWS:
            in_room = np.array([False, *(item.room == room.index for item in house.objects)])
            chosen[room.kind] = _best_view(positions, rasterizer, in_room)
    return list(chosen.values())


def _best_view(positions: Array, rasterizer: Rasterizer, in_room: NDArray[np.bool_]) -> Pose:
    """Of the positions (n, 3) and twelve headings, the view with most objects; those of the room count more."""
    headings = np.tile(np.arange(HEADINGS) * (2 * np.pi / HEADINGS), len(positions))
    places = np.repeat(positions, HEADINGS, axis=0)
    frames = rasterizer.render_many(Camera(80, 60, FOV), places, headings, ELEVATION, channels=("instances", "depth"))
    visible = [np.unique(view) for view in frames.instances]
    # Among views with equally many objects, the deepest.
    depths = np.minimum(frames.depth, 20.0).mean(axis=(1, 2)).round(3)
    best = max(range(len(visible)), key=lambda i: (4 * in_room[visible[i]].sum() + len(visible[i]), depths[i], -i))
    return Pose(places[best], float(headings[best]), ELEVATION)
