"""The shading kernel beside a slow twin, which looks up texture, light and sky pixel by pixel."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from itinera.rendering import _shading_kernels as layout
from itinera.rendering._shading_kernels import MIRROR, SHORT, SKY, SURFACE
from itinera.rendering._texture_simd_kernels import BLOCK, LIGHT_UNIT, SKY_SIDE, SQUARE
from itinera.rendering.appearance import APPEARANCES, Appearance
from itinera.rendering.camera import Camera
from itinera.rendering.mipmaps import LEVELS, OFFSETS, _double, _halve
from itinera.rendering.rasterizer import Rasterizer, _bases, _normals
from itinera.rendering.surfaces import make_surfaces
from itinera.rendering.textures import texture
from itinera.worlds.labels import MATERIALS
from rendering.scenes import two_rooms

CAMERA = Camera(70, 44, 1.5)
VIEWS = [((-2.0, 0.3, 1.5), 0.2, -0.3), ((2.2, -1.0, 1.2), 2.6, 0.1), ((-9.0, 0.4, 1.6), 0.05, 0.15)]
KINDS = [(SURFACE,), (SURFACE, SKY), (SKY, MIRROR)]  # that each view shows at least


class Twin:
    """Colors of the pixels of a view, from their depths and patches."""

    def __init__(self, mesh, appearance, camera, eye, heading, elevation):
        normals, _ = _normals(mesh)
        self.surfaces, patches = make_surfaces(mesh, normals, appearance)
        self.eye, self.camera = np.asarray(eye), camera
        self.right, self.down, self.forward = _bases(1, heading, elevation)[0]
        raster = Rasterizer(mesh, appearance=appearance)
        trees = raster._face_trees
        raster._face_trees = trees._replace(instances=np.arange(len(trees.instances), dtype=np.int32))
        frame = raster.render(camera, eye, heading, elevation, channels=("depth", "instances"))
        self.depth, self.patches = frame.depth.astype(float), frame.instances  # every patch is an instance of its own
        corner = mesh.corners[:, 0].astype(float)
        heights = np.einsum("fi,fi->f", normals, self.eye - corner)
        self.heights = dict(zip(patches.tolist(), heights.tolist(), strict=True))  # of the camera over each patch

    def image(self):
        rows = [self.row(y) for y in range(self.camera.height)]
        return np.floor(np.minimum(np.array(rows), 255.0)).astype(np.uint8)

    def row(self, y):
        """Runs of one patch, in blocks: one level of detail for a block, and light from its first pixel to the next."""
        shown = self.patches[y]
        ends = [*(np.flatnonzero(np.diff(shown)) + 1).tolist(), len(shown)]
        colors = []
        for start, end in zip([0, *ends[:-1]], ends, strict=True):
            for x in range(start, end, BLOCK):
                after = min(x + BLOCK, end - 1)
                for pixel in range(x, min(x + BLOCK, end)):
                    if self.kind(shown[x]) != SURFACE:
                        colors.append(self.sky_color(pixel, y))
                        continue
                    share = (pixel - x) / (after - x) if end - start > SHORT and after > x else 0.0
                    light = (1 - share) * self.light(x, y) + (share * self.light(after, y) if share else 0.0)
                    color = self.surfaces.skins[shown[x], :3] * light * self.texel(pixel, y, self.detail(x, y)) / 128
                    colors.append(color + 0.5)
        return colors

    def kind(self, patch):
        return int(self.surfaces.marks[patch, layout.CODE]) & 3

    def ray(self, x, y):
        width, height, focal = self.camera.width, self.camera.height, self.camera.focal
        return self.forward + (x + 0.5 - width / 2) / focal * self.right + (y + 0.5 - height / 2) / focal * self.down

    def plane_coordinates(self, x, y):
        """The point that a pixel shows, along the two axes of its face."""
        point = self.eye + self.ray(x, y) * self.depth[y, x]
        code = int(self.surfaces.marks[self.patches[y, x], layout.CODE])
        return point[code >> layout.U_BIT & 3], point[code >> layout.V_BIT & 3]

    def detail(self, x, y):
        """Half steps of the level of detail: twice the logarithm of a pixel's side on the face, in texels."""
        patch, ray = self.patches[y, x], self.ray(x, y)
        slant = ray @ ray
        texels = self.surfaces.skins[patch, layout.SCALE] / (layout.FRACTION * self.camera.focal)
        area = texels**2 * 0.5 * (slant + slant**2) * self.depth[y, x] ** 3 / self.heights[patch]
        mantissa, exponent = math.frexp(max(area, 1.0))
        return min(exponent - 1 + (mantissa >= 0.75), len(OFFSETS) - 2)

    def texel(self, x, y, detail):
        """The texture between four texels of a level."""
        skin, code = self.surfaces.skins[self.patches[y, x]], int(self.surfaces.marks[self.patches[y, x], layout.CODE])
        level = pyramid(MATERIALS[code >> layout.MATERIAL_BIT & 63])[detail]
        phases = skin[layout.U_PHASE], skin[layout.V_PHASE]
        texels = [
            (at * skin[layout.SCALE] + phase) / layout.FRACTION / 2 ** (detail // 2) - 0.5
            for at, phase in zip(self.plane_coordinates(x, y), phases, strict=True)
        ]
        return between(level, *texels, wrap=True)

    def light(self, x, y):
        """Red, green and blue light between four texels of the patch's chart."""
        patch = self.patches[y, x]
        skin, mark = self.surfaces.skins[patch], self.surfaces.marks[patch]
        width, rows = int(skin[layout.S_LAST]) + 1, int(skin[layout.T_LAST]) + 1
        first = int(mark[layout.CHART])
        assert width == mark[layout.CHART_WIDTH]
        chart = self.surfaces.lightmap.reshape(-1, 4)[first : first + width * rows, :3].reshape(rows, width, 3)
        u, v = self.plane_coordinates(x, y)
        s = np.clip(u * skin[layout.S_SCALE] - skin[layout.S_ORIGIN], 0, width - 1)
        t = np.clip(v * skin[layout.T_SCALE] - skin[layout.T_ORIGIN], 0, rows - 1)
        return between(chart.astype(float), s, t, wrap=False) / LIGHT_UNIT

    def sky_color(self, x, y):
        """The sky behind a pixel, or the sky that a pane mirrors there."""
        skin, ray = self.surfaces.skins[self.patches[y, x]], self.ray(x, y)
        if self.kind(self.patches[y, x]) == MIRROR:
            normal = skin[layout.S_ORIGIN : layout.S_SCALE + 1].astype(float)
            ray = ray - 2 * (ray @ normal) * normal
        u, v, z = ray / np.abs(ray).sum()
        if z < 0:
            u, v = math.copysign(1 - abs(v), u), math.copysign(1 - abs(u), v)
        column, line = (min(int((way + 1) * SKY_SIDE / 2), SKY_SIDE - 1) for way in (u, v))
        side = SKY_SIDE // SQUARE
        word = int(
            self.surfaces.sky.reshape(side, side, SQUARE, SQUARE)[
                line // SQUARE, column // SQUARE, line % SQUARE, column % SQUARE
            ]
        )
        return np.array([word & 255, word >> 8 & 255, word >> 16 & 255]) * skin[:3]


def between(table, column, line, *, wrap):
    """A value between four neighbors of a table."""
    i, j = math.floor(column), math.floor(line)
    s, t = column - i, line - j
    rows, columns = table.shape[:2]
    corners = [(j, i), (j, i + 1), (j + 1, i), (j + 1, i + 1)]
    inside = [(a % rows, b % columns) if wrap else (min(a, rows - 1), min(b, columns - 1)) for a, b in corners]
    weights = ((1 - t) * (1 - s), (1 - t) * s, t * (1 - s), t * s)
    return sum(weight * table[at] for weight, at in zip(weights, inside, strict=True))


@cache
def pyramid(material):
    """The levels of a texture, in half steps."""
    level, levels = texture(material).astype(float), []
    for _ in range(LEVELS):
        coarse = _halve(level) if len(level) > 1 else level
        levels += [level, 0.5 * (level + _double(coarse)) if len(level) > 1 else level]
        level = coarse
    return [np.floor(each + 0.5) for each in levels]


@pytest.mark.parametrize("appearance", [APPEARANCES["day"], Appearance(mood="lamps", randomize=4)], ids=str)
@pytest.mark.parametrize("k", range(len(VIEWS)))
def test_the_kernel_shades_as_its_twin(appearance, k):
    mesh, view = two_rooms(), VIEWS[k]
    twin = Twin(mesh, appearance, CAMERA, *view)
    assert set(KINDS[k]) <= {twin.kind(patch) for patch in np.unique(twin.patches)}
    found = Rasterizer(mesh, appearance=appearance).render(CAMERA, *view, channels=("rgb",)).rgb
    off = np.abs(twin.image().astype(int) - found.astype(int)).max(axis=2)
    # A level of detail or a texel of the sky may round to its neighbor.
    assert (off <= 1).mean() > 0.995
    assert off.max() <= 24
