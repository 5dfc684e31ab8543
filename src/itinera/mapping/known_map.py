"""Known maps: the columns of a scene's mesh, as if everything within the insertion bands had been seen."""

from __future__ import annotations

import numpy as np

from itinera.errors import BadArgument
from itinera.mapping import _kernels as kernels
from itinera.mapping.config import MAX_LABEL, MapConfig
from itinera.mapping.egocentric_map import Columns
from itinera.mapping.labels import Table, paper_table
from itinera.mapping.storeys import make_storey_grids
from itinera.worlds import World

SPACING = 0.6  # of a column: points this close leave no column out that a face crosses by more than its corner


def known_map(world: World, config: MapConfig | None = None, *, table: Table | None = None) -> Columns:
    """The map of a whole scene: the highest point of its mesh in each column, within each storey's insertion band.

    The labels are those of the paper, or with another table those it gives the classes of MPCAT40.
    """
    if world.mesh is None:
        raise BadArgument(f"World {world.id} has no mesh to make a known map of.")
    classes = world.mesh.classes.astype(np.int64)
    found = paper_table() if table is None else table
    return _sample(world, np.append(found, np.uint16(0))[np.minimum(classes, len(found))], config or MapConfig())


def known_instances(world: World, config: MapConfig | None = None) -> Columns:
    """The known map whose labels are the instances of the mesh."""
    if world.mesh is None:
        raise BadArgument(f"World {world.id} has no mesh to make a known map of.")
    instances = world.mesh.instances
    if len(instances) and not (instances.min() >= 0 and instances.max() <= MAX_LABEL):
        raise BadArgument(f"A map has instances from 0 to {MAX_LABEL}; {world.id} has up to {instances.max()}.")
    return _sample(world, instances.astype(np.uint16), config or MapConfig())


def _sample(world: World, labels: Table, config: MapConfig) -> Columns:
    assert world.mesh is not None
    grids = make_storey_grids(world, config)
    heights = np.full(grids.size, kernels.NOTHING)
    kinds = np.zeros(grids.size, dtype=np.uint16)
    bands = grids.floors[:, None] + config.camera_height + np.array(config.insertion)
    kernels.insert_faces(
        world.mesh.corners.astype(np.float64),
        labels.astype(np.uint16),
        SPACING * config.column,
        config.column,
        bands,
        grids.bounds,
        grids.grids,
        heights,
        kinds,
    )
    return Columns(grids, heights, kinds)
