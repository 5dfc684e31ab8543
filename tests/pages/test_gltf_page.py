"""An exported .glb file in Chromium: drawn with WebGL from its own accessors, materials and node poses.

The page below is a minimal renderer. Objects drawn in the color of their instance must cover the pixels that our
rasterizer gives them.
"""

from __future__ import annotations

import base64
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.ndimage import maximum_filter, minimum_filter

from itinera.formats.frames import points_to_habitat
from itinera.formats.scene_export.gltf import encode_glb
from itinera.formats.scene_export.parts import split_house
from itinera.hearth.build import House, build_house
from itinera.rendering.camera import Camera
from itinera.rendering.rasterizer import Rasterizer

SIZE = 160
PAGE = """<!doctype html><canvas id="view" width="SIZE" height="SIZE"></canvas><script>
const bytes = Uint8Array.from(atob("CONTENT"), c => c.charCodeAt(0)).buffer;
const length = new DataView(bytes).getUint32(12, true);
const gltf = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 20, length)));
const start = 28 + length;
const gl = document.getElementById("view").getContext("webgl2", {preserveDrawingBuffer: true});
const compile = (kind, text) => {
  const shader = gl.createShader(kind);
  gl.shaderSource(shader, text); gl.compileShader(shader);
  if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
  return shader;
};
const program = gl.createProgram();
gl.attachShader(program, compile(gl.VERTEX_SHADER, `#version 300 es
  in vec3 point, normal; in vec2 tile; uniform mat4 camera; uniform vec4 turn; uniform vec3 shift;
  out vec2 at; out float light;
  vec3 rotated(vec3 v) { return v + 2.0 * cross(turn.xyz, cross(turn.xyz, v) + turn.w * v); }
  void main() {
    gl_Position = camera * vec4(rotated(point) + shift, 1.0);
    at = tile; light = 0.75 + 0.25 * dot(rotated(normal), normalize(vec3(0.4, 1.0, 0.3)));
  }`));
gl.attachShader(program, compile(gl.FRAGMENT_SHADER, `#version 300 es
  precision highp float;
  in vec2 at; in float light; uniform vec4 color; uniform sampler2D image; uniform bool textured, labels;
  out vec4 paint;
  void main() {
    vec3 base = color.rgb * (textured ? pow(texture(image, at).rgb, vec3(2.2)) : vec3(1.0));
    paint = labels ? color : vec4(pow(base * light, vec3(1.0 / 2.2)), 1.0);
  }`));
gl.linkProgram(program); gl.useProgram(program);
const place = name => gl.getUniformLocation(program, name);
const sizes = {SCALAR: 1, VEC2: 2, VEC3: 3};
const fill = (target, index) => {
  const a = gltf.accessors[index], v = gltf.bufferViews[a.bufferView];
  gl.bindBuffer(target, gl.createBuffer());
  const from = start + v.byteOffset + a.byteOffset;
  gl.bufferData(target, new Uint8Array(bytes, from, a.count * sizes[a.type] * 4), gl.STATIC_DRAW);
  return a;
};
const attribute = (name, index) => {
  const a = fill(gl.ARRAY_BUFFER, index), at = gl.getAttribLocation(program, name);
  gl.enableVertexAttribArray(at);
  gl.vertexAttribPointer(at, sizes[a.type], gl.FLOAT, false, 0, 0);
};
const textures = [];
const load = async () => {
  for (const image of gltf.images || []) {
    const v = gltf.bufferViews[image.bufferView];
    const blob = new Blob([new Uint8Array(bytes, start + v.byteOffset, v.byteLength)], {type: image.mimeType});
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, await createImageBitmap(blob));
    gl.generateMipmap(gl.TEXTURE_2D);
    textures.push(texture);
  }
};
const draw = async (camera, labels) => {
  if (!textures.length) await load();
  gl.viewport(0, 0, SIZE, SIZE);
  gl.enable(gl.DEPTH_TEST); gl.enable(gl.CULL_FACE);
  gl.clearColor(0, 0, 0, 1); gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
  gl.uniformMatrix4fv(place("camera"), false, camera);
  gl.uniform1i(place("labels"), labels);
  for (const node of gltf.nodes) {
    gl.uniform4fv(place("turn"), node.rotation || [0, 0, 0, 1]);
    gl.uniform3fv(place("shift"), node.translation || [0, 0, 0]);
    const k = node.extras.instance;
    for (const primitive of gltf.meshes[node.mesh].primitives) {
      const physical = gltf.materials[primitive.material].pbrMetallicRoughness;
      gl.uniform4fv(place("color"), labels ? [(k >> 8) / 255, (k & 255) / 255, 0, 1] : physical.baseColorFactor);
      gl.uniform1i(place("textured"), "baseColorTexture" in physical);
      if ("baseColorTexture" in physical) gl.bindTexture(gl.TEXTURE_2D, textures[physical.baseColorTexture.index]);
      attribute("point", primitive.attributes.POSITION);
      attribute("normal", primitive.attributes.NORMAL);
      attribute("tile", primitive.attributes.TEXCOORD_0);
      const a = fill(gl.ELEMENT_ARRAY_BUFFER, primitive.indices);
      gl.drawElements(gl.TRIANGLES, a.count, gl.UNSIGNED_INT, 0);
    }
  }
  const pixels = new Uint8Array(4 * SIZE * SIZE);
  gl.readPixels(0, 0, SIZE, SIZE, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
  return Array.from(pixels);
};
</script>"""


@pytest.fixture(scope="module")
def house() -> House:
    return build_house(1, 1)


@pytest.fixture(scope="module")
def page(chromium: Any, house: House, tmp_path_factory: pytest.TempPathFactory) -> Any:
    content = base64.b64encode(encode_glb(split_house(house))).decode()
    file: Path = tmp_path_factory.mktemp("page") / "house.html"
    file.write_text(PAGE.replace("SIZE", str(SIZE)).replace("CONTENT", content))
    opened = chromium.new_page()
    opened.goto(file.as_uri())
    if not opened.evaluate("gl !== null"):
        pytest.skip("this Chromium has no WebGL 2")
    return opened


def camera_matrix(camera: Camera, eye: np.ndarray, heading: float) -> np.ndarray:
    """(4, 4) from points in the frame of glTF to clip space."""
    right, up, ahead = points_to_habitat(
        np.array(
            [(math.sin(heading), -math.cos(heading), 0), (0, 0, 1), (math.cos(heading), math.sin(heading), 0)], float
        )
    )
    place = points_to_habitat(eye)[0]
    view = np.eye(4)
    view[:3, :3] = right, up, -ahead
    view[:3, 3] = -view[:3, :3] @ place
    near, far, scale = camera.near, camera.far, 2 * camera.focal / camera.width
    lens = np.diag([scale, scale, (near + far) / (near - far), 0.0])
    lens[2, 3], lens[3, 2] = 2 * near * far / (near - far), -1
    return lens @ view


def draw(page: Any, matrix: np.ndarray, *, labels: bool) -> np.ndarray:
    """(SIZE, SIZE, 3) the picture that the page draws, the top row first."""
    pixels = page.evaluate("([camera, labels]) => draw(camera, labels)", [matrix.T.ravel().tolist(), labels])
    return np.array(pixels, dtype=np.uint8).reshape(SIZE, SIZE, 4)[::-1, :, :3]


def test_webgl_draws_every_object_where_our_rasterizer_sees_it(page: Any, house: House) -> None:
    camera, raster = Camera(SIZE, SIZE, math.pi / 2), Rasterizer(house.mesh)
    rooms = sorted(house.plan.rooms, key=lambda room: -np.ptp(room.outline, axis=0).min())
    for room, heading in zip(rooms[:3], (0.3, 2.0, 4.0), strict=True):
        eye = np.array([*room.outline.mean(axis=0), room.floor + 1.5])
        frame = raster.render(camera, eye, heading, channels=("rgb", "instances"))
        matrix = camera_matrix(camera, eye, heading)
        drawn = draw(page, matrix, labels=True).astype(int)
        # Pixels at the edge of an object may belong to either side.
        within = maximum_filter(frame.instances, 3) == minimum_filter(frame.instances, 3)
        assert np.mean((drawn[..., 0] * 256 + drawn[..., 1] == frame.instances)[within]) > 0.995
        # The colors are those of our images up to the light.
        picture = draw(page, matrix, labels=False).astype(float)
        assert np.corrcoef(picture.ravel(), frame.rgb.astype(float).ravel())[0, 1] > 0.8
