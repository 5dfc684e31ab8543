"""Where: places, distances between them, and what stands there. Start with `space.py`."""

from itinera.worlds.euclidean import Euclidean
from itinera.worlds.graph import NavGraph
from itinera.worlds.pose import Pose
from itinera.worlds.ragged import Ragged
from itinera.worlds.space import Array, BatchSpace, Place, Places, Space
from itinera.worlds.world import Room, SeenObject, World

__all__ = [
    "Array",
    "BatchSpace",
    "Euclidean",
    "NavGraph",
    "Place",
    "Places",
    "Pose",
    "Ragged",
    "Room",
    "SeenObject",
    "Space",
    "World",
]
