"""The surfaces of a mesh in a look: color, texture, light or sky of each face, in the layout of the shading kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from itinera.rendering import _shading_kernels as layout
from itinera.rendering._shading_kernels import FRACTION, MIRROR, SKY, Surfaces
from itinera.rendering.charts import U_AXES, V_AXES
from itinera.rendering.emitters import is_pane
from itinera.rendering.lightmaps import Lightmap, bake_light, even_light
from itinera.rendering.look import Look, Variation, draw_variation, tile_sizes
from itinera.rendering.mipmaps import OFFSETS, PYRAMID, mip_maps
from itinera.rendering.noise import SIZE
from itinera.rendering.sky import cube_of_sky
from itinera.rendering.textures import dominant_axes
from itinera.worlds.mesh import Mesh
from itinera.worlds.space import Array

PANE, REFLECTION = 0.96, 0.55  # share of the light that a pane lets through, and that it mirrors to the outside


def make_surfaces(mesh: Mesh, normals: Array, order: NDArray[np.int64], look: Look) -> Surfaces:
    """The surfaces of the faces in this order (n,), -1 for padding and the background; normals (f, 3) have length 1."""
    variation = draw_variation(look)
    normals = np.where(normals.any(axis=1, keepdims=True), normals, (0.0, 0.0, 1.0))  # faces without area are not drawn
    lightmap = even_light(mesh, normals) if look.mood == "flat" else bake_light(mesh, normals, look.mood)
    skins, marks = _texture_faces(mesh, variation, look.textures)
    axes = dominant_axes(normals)
    marks[:, layout.U_AXIS], marks[:, layout.V_AXIS] = U_AXES[axes], V_AXES[axes]
    _light_faces(skins, marks, lightmap)
    _glaze_panes(mesh, normals, lightmap, skins, marks)
    texels, _ = mip_maps()
    light = lightmap.texels * np.append(variation.light, 1.0)
    return Surfaces(
        _place(skins, order, (1.0,) * 3),
        _place(marks, order, (SKY,)),
        texels,
        OFFSETS,
        light.astype(np.float32).ravel(),
        cube_of_sky(look.mood),
    )


def _texture_faces(mesh: Mesh, variation: Variation, textured: bool) -> tuple[Array, NDArray[np.int32]]:
    """(f, 12) and (f, 7) the rows of the faces with color and texture; no light yet."""
    skins, marks = np.zeros((len(mesh.faces), 12)), np.zeros((len(mesh.faces), 7), dtype=np.int32)
    materials = mesh.materials
    skins[:, layout.RED : layout.BLUE + 1] = mesh.colors * variation.tints[materials]
    scales = SIZE * FRACTION / (tile_sizes() * variation.scales)
    skins[:, layout.SCALE] = scales[materials]
    skins[:, layout.U_PHASE : layout.V_PHASE + 1] = (variation.phases * SIZE * FRACTION)[materials]
    if textured:
        marks[:, layout.LEVELS] = mip_maps()[1][materials]
    marks[:, layout.PYRAMID] = PYRAMID * materials.astype(np.int32)
    return skins, marks


def _light_faces(skins: Array, marks: NDArray[np.int32], lightmap: Lightmap) -> None:
    """skins, marks <- the place of each face on the lightmap."""
    charts = lightmap.charts
    skins[:, [layout.S_ORIGIN, layout.T_ORIGIN]] = charts.origins[charts.faces]
    skins[:, [layout.S_SCALE, layout.T_SCALE]] = charts.scales[charts.faces]
    skins[:, [layout.S_LAST, layout.T_LAST]] = charts.sizes[charts.faces] - 1
    marks[:, layout.CHART] = charts.starts[charts.faces]
    marks[:, layout.CHART_WIDTH] = charts.sizes[charts.faces, 0]


def _glaze_panes(mesh: Mesh, normals: Array, lightmap: Lightmap, skins: Array, marks: NDArray[np.int32]) -> None:
    """skins, marks <- window panes that show the sky: behind them from inside, mirrored from outside."""
    panes = is_pane(mesh)
    outside = panes & lightmap.outdoors
    marks[panes, layout.KIND] = np.where(outside[panes], MIRROR, SKY)
    skins[panes, : layout.BLUE + 1] = np.where(outside[panes], REFLECTION, PANE)[:, None]
    # Panes have no light: the place on the lightmap has the normal instead.
    skins[panes, layout.S_ORIGIN : layout.S_SCALE + 1] = normals[panes]


def _place(rows: NDArray[Any], order: NDArray[np.int64], background: tuple[float, ...]) -> NDArray[Any]:
    """The rows of the faces in their new order; padding and the background have a row of their own."""
    kind = np.float32 if rows.dtype == np.float64 else np.int32
    last = np.zeros((1, rows.shape[1]), dtype=kind)
    last[0, : len(background)] = background
    return np.ascontiguousarray(np.concatenate([rows.astype(kind), last])[order])
