"""Places, distances between them, and the rooms and objects at each place. Start with `space.py`."""

from itinera.worlds.euclidean import Euclidean
from itinera.worlds.graph import NavGraph
from itinera.worlds.pose import Pose
from itinera.worlds.ragged import Ragged
from itinera.worlds.regions import Region
from itinera.worlds.space import Array, BatchSpace, Place, Places, Space
from itinera.worlds.world import Instance, Room, VisibleObject, World

__all__ = [
    "Array",
    "BatchSpace",
    "Euclidean",
    "Instance",
    "NavGraph",
    "Place",
    "Places",
    "Pose",
    "Ragged",
    "Region",
    "Room",
    "Space",
    "VisibleObject",
    "World",
]
