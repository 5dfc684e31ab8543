"""The baked light of a mesh as small typed arrays for the browser. Start with `pack_light`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from itinera.rendering.lightmaps import Lightmap, bake_light
from itinera.rendering.sky import SKIES
from itinera.reports.walkthrough.data import PackedLight, PackedMood
from itinera.reports.walkthrough.mesh import BufferWriter, narrow_indices
from itinera.worlds.mesh import Mesh
from itinera.worlds.space import Array

MOODS = ("day", "lamps")
UNIT = 128  # the byte of a light that leaves the color as it is
GREEN_STEP, HUE_STEP = 2, 4  # of the bytes of a texel: coarser ones compress better, and nobody sees it


def pack_light(mesh: Mesh, moods: Sequence[str], writer: BufferWriter) -> PackedLight | None:
    """The light of these moods on the mesh, with its arrays in the writer's buffer; None without moods or faces."""
    if not moods or not len(mesh.faces):
        return None
    normals = _unit_normals(mesh)
    baked = {mood: bake_light(mesh, normals, mood) for mood in moods}
    charts = baked[moods[0]].charts  # the same for every mood
    return PackedLight(
        spacing=charts.spacing,
        charts=writer.add(narrow_indices(charts.faces)),
        sizes=writer.add(charts.sizes.T.astype(np.uint16).ravel()),
        # Whole numbers of texels, of which some are negative: the browser subtracts half of the range again.
        origins=writer.add((charts.origins.T + (1 << 15)).round().astype(np.uint16).ravel()),
        axes=writer.add(charts.axes.astype(np.uint8)),
        moods=[_pack_mood(mood, lightmap, writer) for mood, lightmap in baked.items()],
    )


def _unit_normals(mesh: Mesh) -> Array:
    corners = mesh.corners.astype(np.float64)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    return np.where(lengths > 0, normals / np.maximum(lengths, 1e-30), (0.0, 0.0, 1.0))


def _pack_mood(mood: str, lightmap: Lightmap, writer: BufferWriter) -> PackedMood:
    sky = SKIES[mood]
    return PackedMood(
        name=mood,
        zenith=list(sky.zenith),
        horizon=list(sky.horizon),
        lawn=list(sky.lawn),
        texels=writer.add(encode_texels(lightmap.texels[: lightmap.charts.count, :3])),
    )


def encode_texels(texels: Array) -> NDArray[np.uint8]:
    """(3 * n,) green light, red minus green, blue minus green, each as the difference to the texel before, modulo 256.

    Neighboring texels are almost equal and light is almost white, so most of these bytes are 0.
    """
    red, green, blue = np.clip(UNIT * texels.T, 0, 255)
    green = (green / GREEN_STEP).round() * GREEN_STEP
    hues = (((other - green) / HUE_STEP).round() * HUE_STEP for other in (red, blue))
    planes = np.stack([green, *hues])
    differences = np.diff(planes.astype(np.int64), axis=1, prepend=0)
    encoded: NDArray[np.uint8] = np.mod(differences, 256).astype(np.uint8).ravel()
    return encoded
