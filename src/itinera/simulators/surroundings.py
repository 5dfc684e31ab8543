"""What a body on the ground can see from where it stands: one cube-map panorama, rendered when first asked for."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.hearth.viewpoint_edges import clear_between, sort_faces
from itinera.hearth.viewpoints import EYE_HEIGHT
from itinera.rendering.camera import Frame
from itinera.rendering.cube_map import count_object_pixels, render_cube_maps, visible_objects
from itinera.rendering.rasterizer import Rasterizer
from itinera.worlds import Array, VisibleObject, World


class Scene:
    """A world with what is prepared once for looking around in it."""

    def __init__(self, world: World) -> None:
        if world.mesh is None:
            raise BadArgument(f"World {world.id} has no mesh to look at. Use a Hearth season, or a folder of scenes.")
        self.world, self._mesh = world, world.mesh

    @cached_property
    def raster(self) -> Rasterizer:
        return Rasterizer(self._mesh)

    @cached_property
    def num_instances(self) -> int:
        """The highest instance of the mesh, plus 1."""
        return int(self._mesh.instances.max(initial=0)) + 1

    @cached_property
    def faces(self) -> Array:
        """(f, 3, 3) the faces of the mesh, the largest first, for lines of sight."""
        return sort_faces(self._mesh)


class Surroundings:
    """A place (3,) on the ground of a scene, and what is visible from the eye above it."""

    def __init__(self, scene: Scene, place: Array) -> None:
        self.scene, self.place = scene, place
        self.eye: Array = place + np.array([0.0, 0.0, EYE_HEIGHT])

    @property
    def world(self) -> World:
        return self.scene.world

    @cached_property
    def panorama(self) -> Frame:
        """Depth and instances of the six faces of a cube map."""
        return render_cube_maps(self.scene.raster, self.eye)

    def visible_objects(self, within: float) -> tuple[VisibleObject, ...]:
        """The visible objects that have a name and are within a distance, metres."""
        names = self.scene.world.instances
        counts = count_object_pixels(self.panorama, self.scene.num_instances, within=within)
        found = visible_objects(counts, 0, lambda instance: names[instance].name if instance in names else "")
        return tuple(item for item in found if item.name and item.distance <= within)

    def sees(self, eyes: Array) -> NDArray[np.bool_]:
        """(n,) whether the straight line to each point (n, 3) is clear."""
        return clear_between(self.scene.faces, np.broadcast_to(self.eye, eyes.shape), eyes)
