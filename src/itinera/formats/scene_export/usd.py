"""Universal Scene Description (.usda): one prim per object, with colliders, materials and semantic labels.

Frame and units are ours: z up, metres. Files are written as text, so that no library is needed; usd-core and Isaac read
them, and `usdcat` converts them to the smaller .usdc.

Every mesh is a static collider of UsdPhysics: it has a collision API and no rigid body. Labels follow UsdSemantics
("semantics:labels:class") and, for Isaac's replicator, its older attributes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

import numpy as np

from itinera.formats.scene_export.materials import PHYSICAL, UNTEXTURED, base_color
from itinera.formats.scene_export.parts import Part, Surface
from itinera.worlds import Array

_HEADER = """#usda 1.0
(
    defaultPrim = "World"
    doc = "{id}, a procedural house of Hearth"
    metersPerUnit = 1
    kilogramsPerUnit = 1
    upAxis = "Z"
)
"""


def encode_usda(house_id: str, parts: Sequence[Part], *, textures: str) -> bytes:
    """A .usda file of the parts; `textures` is the folder of the texture images relative to the file."""
    surfaces = {surface.name: surface for part in parts for surface in part.surfaces}
    lines = [
        _HEADER.format(id=house_id),
        'def Xform "World"',
        "{",
        '    def PhysicsScene "PhysicsScene"',
        "    {",
        "        vector3f physics:gravityDirection = (0, 0, -1)",
        "        float physics:gravityMagnitude = 9.81",
        "    }",
        '    def DistantLight "Sun"',
        "    {",
        "        float inputs:intensity = 1000",
        "        double3 xformOp:rotateXYZ = (35, 0, 25)",
        '        uniform token[] xformOpOrder = ["xformOp:rotateXYZ"]',
        "    }",
        '    def DomeLight "Sky"',
        "    {",
        "        float inputs:intensity = 500",
        "    }",
        '    def Scope "Looks"',
        "    {",
        *(line for name in sorted(surfaces) for line in _material(surfaces[name], textures)),
        "    }",
        '    def Xform "House"',
        "    {",
        *(line for part in parts for line in _prim(part)),
        "    }",
        "}",
        "",
    ]
    return "\n".join(lines).encode()


def prim_name(part: Part) -> str:
    """The name of the prim of a part: "chair_12", "wall_0"; letters, digits and underscores."""
    return re.sub(r"\W", "_", f"{part.category}_{part.instance}")


def _material(surface: Surface, textures: str) -> Iterator[str]:
    path = f"/World/Looks/{surface.name}"
    roughness, metalness = PHYSICAL[surface.material]
    color = _tuple(base_color(surface))
    yield f'        def Material "{surface.name}"'
    yield "        {"
    yield f"            token outputs:surface.connect = <{path}/Shader.outputs:surface>"
    yield '            def Shader "Shader"'
    yield "            {"
    yield '                uniform token info:id = "UsdPreviewSurface"'
    if surface.material == UNTEXTURED:
        yield f"                color3f inputs:diffuseColor = {color}"
    else:
        yield f"                color3f inputs:diffuseColor.connect = <{path}/Texture.outputs:rgb>"
    yield f"                float inputs:roughness = {roughness:g}"
    yield f"                float inputs:metallic = {metalness:g}"
    yield "                token outputs:surface"
    yield "            }"
    if surface.material != UNTEXTURED:
        yield from _texture(surface, path, f"{textures}/{surface.material}.png")
    yield "        }"


def _texture(surface: Surface, path: str, file: str) -> Iterator[str]:
    red, green, blue = base_color(surface)
    yield '            def Shader "Coordinates"'
    yield "            {"
    yield '                uniform token info:id = "UsdPrimvarReader_float2"'
    yield '                string inputs:varname = "st"'
    yield "                float2 outputs:result"
    yield "            }"
    yield '            def Shader "Texture"'
    yield "            {"
    yield '                uniform token info:id = "UsdUVTexture"'
    yield f"                asset inputs:file = @{file}@"
    yield f"                float2 inputs:st.connect = <{path}/Coordinates.outputs:result>"
    yield f"                float4 inputs:scale = {_tuple((red, green, blue, 1.0))}"
    yield '                token inputs:sourceColorSpace = "sRGB"'
    yield '                token inputs:wrapS = "repeat"'
    yield '                token inputs:wrapT = "repeat"'
    yield "                float3 outputs:rgb"
    yield "            }"


def _prim(part: Part) -> Iterator[str]:
    """A prim with the pose and labels of a part, and its mesh; a subset of faces for each material."""
    half = part.turn / 2
    yield f'        def Xform "{prim_name(part)}" ('
    yield '            prepend apiSchemas = ["SemanticsLabelsAPI:class", "SemanticsLabelsAPI:name"]'
    yield "        )"
    yield "        {"
    yield f'            token[] semantics:labels:class = ["{part.category}"]'
    yield f'            token[] semantics:labels:name = ["{part.name}"]'
    yield '            string semantic:Semantics:params:semanticType = "class"'
    yield f'            string semantic:Semantics:params:semanticData = "{part.category}"'
    yield f"            custom int hearth:instance = {part.instance}"
    yield f"            double3 xformOp:translate = {_tuple(part.origin)}"
    yield f"            quatd xformOp:orient = {_tuple((math.cos(half), 0.0, 0.0, math.sin(half)))}"
    yield '            uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]'
    yield from _mesh(part)
    yield "        }"


def _mesh(part: Part) -> Iterator[str]:
    counts = [len(surface.faces) for surface in part.surfaces]
    sizes = [len(surface.points) for surface in part.surfaces]
    starts = np.cumsum([0, *sizes[:-1]])
    points = np.concatenate([surface.points for surface in part.surfaces])
    faces = np.concatenate([s.faces + start for s, start in zip(part.surfaces, starts, strict=True)])
    coordinates = np.concatenate([surface.coordinates for surface in part.surfaces])
    # An image has its first row at the top and USD's t = 0 at the bottom.
    coordinates = coordinates * (1, -1) + (0, 1)
    normals = np.concatenate([surface.normals for surface in part.surfaces])
    schemas = '"PhysicsCollisionAPI", "PhysicsMeshCollisionAPI", "MaterialBindingAPI"'
    yield '            def Mesh "Mesh" ('
    yield f"                prepend apiSchemas = [{schemas}]"
    yield "            )"
    yield "            {"
    yield f"                float3[] extent = {_tuples(np.array([points.min(axis=0), points.max(axis=0)]))}"
    yield f"                int[] faceVertexCounts = [{', '.join(['3'] * len(faces))}]"
    yield f"                int[] faceVertexIndices = [{', '.join(map(str, faces.ravel().tolist()))}]"
    yield f"                point3f[] points = {_tuples(points)}"
    yield f"                normal3f[] normals = {_tuples(normals)} ("
    yield '                    interpolation = "vertex"'
    yield "                )"
    yield f"                texCoord2f[] primvars:st = {_tuples(coordinates)} ("
    yield '                    interpolation = "vertex"'
    yield "                )"
    yield '                uniform token subdivisionScheme = "none"'
    yield "                bool physics:collisionEnabled = 1"
    yield '                uniform token physics:approximation = "none"'
    if len(part.surfaces) == 1:
        yield f"                rel material:binding = </World/Looks/{part.surfaces[0].name}>"
    else:
        yield from _subsets(part.surfaces, counts)
    yield "            }"


def _subsets(surfaces: Sequence[Surface], counts: Sequence[int]) -> Iterator[str]:
    yield '                uniform token subsetFamily:materialBind:familyType = "partition"'
    first = 0
    for surface, count in zip(surfaces, counts, strict=True):
        yield f'                def GeomSubset "{surface.name}" ('
        yield '                    prepend apiSchemas = ["MaterialBindingAPI"]'
        yield "                )"
        yield "                {"
        yield '                    uniform token elementType = "face"'
        yield '                    uniform token familyName = "materialBind"'
        yield f"                    int[] indices = [{', '.join(map(str, range(first, first + count)))}]"
        yield f"                    rel material:binding = </World/Looks/{surface.name}>"
        yield "                }"
        first += count


def _tuple(values: Sequence[float] | Array) -> str:
    return f"({', '.join(_number(value) for value in values)})"


def _tuples(rows: Array) -> str:
    return f"[{', '.join(_tuple(row) for row in np.asarray(rows).tolist())}]"


def _number(value: float) -> str:
    """To a hundredth of a millimetre, without trailing zeros or a minus before zero."""
    return f"{round(float(value), 5) + 0.0:.5f}".rstrip("0").rstrip(".")
