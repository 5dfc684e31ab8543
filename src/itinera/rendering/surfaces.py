"""The surfaces of a mesh: color, texture, light or sky of each face, in the layout of the shading kernel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itinera.rendering import _shading_kernels as layout
from itinera.rendering._shading_kernels import FRACTION, MIRROR, SKY, SURFACE, Surfaces
from itinera.rendering._texture_simd_kernels import LIGHT_UNIT, WIDTH
from itinera.rendering.appearance import Appearance, Variation, draw_variation, tile_sizes
from itinera.rendering.charts import U_AXES, V_AXES
from itinera.rendering.emitters import is_pane
from itinera.rendering.lightmaps import Lightmap, bake_light, even_light
from itinera.rendering.mipmaps import OFFSETS, mip_maps
from itinera.rendering.noise import SIZE
from itinera.rendering.sky import paint_sky
from itinera.rendering.textures import dominant_axes
from itinera.worlds.mesh import Mesh
from itinera.worlds.space import Array

COPLANAR = 1e-4  # normals and offsets (metres) of planes that differ less are the same
PANE, REFLECTION = 0.96, 0.55  # share of the light that a pane lets through, and that it mirrors to the outside


def make_surfaces(mesh: Mesh, normals: Array, appearance: Appearance) -> tuple[Surfaces, NDArray[np.int64]]:
    """The surfaces of a mesh whose faces have these normals (f, 3), by patch, and (f,) the patch of each face."""
    variation = draw_variation(appearance)
    normals = np.where(normals.any(axis=1, keepdims=True), normals, (0.0, 0.0, 1.0))  # faces without area are not drawn
    lightmap = even_light(mesh, normals) if appearance.mood == "flat" else bake_light(mesh, normals, appearance.mood)
    skins = np.zeros((len(mesh.faces) + 1, WIDTH), dtype=np.float32)
    marks = skins.view(np.int32)
    _texture_faces(mesh, variation, skins[:-1])
    _light_faces(lightmap, skins[:-1], marks[:-1])
    _glaze_panes(mesh, normals, lightmap, skins[:-1])
    skins[-1, : layout.BLUE + 1] = 1.0  # the background
    marks[:-1, layout.INSTANCE] = mesh.instances
    marks[:-1, layout.CODE] = _codes(mesh, normals, lightmap, textured=appearance.textures)
    marks[-1, layout.CODE] = SKY
    light = np.minimum(lightmap.texels * np.append(variation.light, 1.0) * LIGHT_UNIT + 0.5, 65535.0)
    firsts, patches = _find_patches(mesh, normals, marks[:-1])
    placed = _align(skins[np.append(firsts, -1)])
    sky = paint_sky(appearance.mood)
    return Surfaces(placed, placed.view(np.int32), mip_maps(), OFFSETS, light.astype(np.uint16).ravel(), sky), patches


def _find_patches(mesh: Mesh, normals: Array, marks: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(p,) a face of each patch, and (f,) the patch of each face: faces in one plane with the same marks (f, WIDTH).

    Most are the two halves of a rectangle. Shading takes less time the fewer patches it meets.
    """
    heights = np.einsum("fi,fi->f", normals, mesh.corners[:, 0].astype(np.float64))
    planes = np.rint(np.column_stack([normals, heights]) / COPLANAR).astype(np.int32)
    rows = np.ascontiguousarray(np.column_stack([marks, planes]))
    keys = rows.view([("", rows.dtype)] * rows.shape[1]).reshape(-1)
    _, firsts, patches = np.unique(keys, return_index=True, return_inverse=True)
    # In the order of the mesh, where neighbors are close to each other: fewer pages of memory for a view.
    order = np.argsort(firsts)
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    return firsts[order], ranks[patches.reshape(-1)]


def _align(skins: NDArray[np.float32]) -> NDArray[np.float32]:
    """The same, each row in one cache line."""
    line = WIDTH * skins.itemsize
    memory = np.empty(len(skins) * WIDTH + WIDTH, dtype=np.float32)
    shift = -memory.ctypes.data % line // skins.itemsize
    aligned = memory[shift : shift + skins.size].reshape(skins.shape)
    aligned[:] = skins
    return aligned


def _texture_faces(mesh: Mesh, variation: Variation, skins: NDArray[np.float32]) -> None:
    """skins <- the color of each face and its place on the texture."""
    materials = mesh.materials
    skins[:, layout.RED : layout.BLUE + 1] = mesh.colors * variation.tints[materials]
    scales = SIZE * FRACTION / (tile_sizes() * variation.scales)
    skins[:, layout.SCALE] = scales[materials]
    skins[:, layout.U_PHASE : layout.V_PHASE + 1] = (variation.phases * SIZE * FRACTION)[materials]


def _light_faces(lightmap: Lightmap, skins: NDArray[np.float32], marks: NDArray[np.int32]) -> None:
    """skins, marks <- the place of each face on the lightmap."""
    charts = lightmap.charts
    skins[:, layout.S_ORIGIN : layout.T_ORIGIN + 1] = charts.origins[charts.faces]
    skins[:, layout.S_SCALE : layout.T_SCALE + 1] = charts.scales[charts.faces]
    skins[:, layout.S_LAST : layout.T_LAST + 1] = charts.sizes[charts.faces] - 1
    marks[:, layout.CHART] = charts.starts[charts.faces]
    marks[:, layout.CHART_WIDTH] = charts.sizes[charts.faces, 0]


def _glaze_panes(mesh: Mesh, normals: Array, lightmap: Lightmap, skins: NDArray[np.float32]) -> None:
    """skins <- the tint of window panes, and their normals instead of a place on the lightmap."""
    panes = is_pane(mesh)
    skins[panes, : layout.BLUE + 1] = np.where(lightmap.outdoors[panes], REFLECTION, PANE)[:, None]
    skins[panes, layout.S_ORIGIN : layout.S_SCALE + 1] = normals[panes]
    skins[panes, layout.T_SCALE : layout.T_LAST + 1] = 0.0


def _codes(mesh: Mesh, normals: Array, lightmap: Lightmap, *, textured: bool) -> NDArray[np.int32]:
    """(f,) kind, axes of texture coordinates, texture and class of each face.

    Panes show the sky behind them from inside and mirror it to the outside.
    """
    kinds = np.where(is_pane(mesh), np.where(lightmap.outdoors, MIRROR, SKY), SURFACE)
    axes, materials = dominant_axes(normals), mesh.materials.astype(np.int64) * textured
    codes: NDArray[np.int64] = kinds | U_AXES[axes] << layout.U_BIT | V_AXES[axes] << layout.V_BIT
    codes |= materials << layout.MATERIAL_BIT | mesh.classes.astype(np.int64) << layout.CLASS_BIT
    return codes.astype(np.int32)
