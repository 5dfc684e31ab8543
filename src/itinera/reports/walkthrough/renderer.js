// WebGL2: the house with its textures, sky and ground, then lines and markers on the floor.

const NEAR = 0.06, FAR = 400;

const HOUSE_VERTEX = `#version 300 es
layout(location = 0) in vec3 place;
layout(location = 1) in vec4 look; // color and material
layout(location = 2) in vec3 normal;
layout(location = 3) in float light;
uniform mat4 camera;
out vec3 vPlace; out vec3 vColor; out vec3 vNormal; out float vLight; flat out int vMaterial;
void main() {
  vPlace = place; vColor = look.rgb / 255.0; vMaterial = int(look.a + 0.5); vNormal = normal; vLight = light / 128.0;
  gl_Position = camera * vec4(place, 1.0);
}`;

// Back faces of a house that is cut open are the inside of its walls: they are filled as in an architect's section.
const HOUSE_FRAGMENT = `#version 300 es
precision highp float; precision highp sampler2DArray;
in vec3 vPlace; in vec3 vColor; in vec3 vNormal; in float vLight; flat in int vMaterial;
uniform vec3 eye; uniform float cut; uniform float opacity; uniform bool textured; uniform bool lit;
uniform sampler2DArray tiles; uniform float layers[32]; uniform float metres[32]; uniform vec4 floors;
out vec4 color;
const vec3 SUN = normalize(vec3(0.45, 0.3, 0.85)), FILL = normalize(vec3(-0.7, 0.55, 0.1));
vec2 tilePlace(vec3 n) {
  vec3 a = abs(n);
  if (a.z >= a.x && a.z >= a.y) return vPlace.xy;
  return a.x >= a.y ? vPlace.yz : vPlace.xz;
}
// Darker towards the floor, where less light arrives.
float rise(float n) {
  float floorBelow = floors.x;
  for (int k = 1; k < 4; k++) if (vPlace.z > floors[k] - 0.05) floorBelow = max(floorBelow, floors[k]);
  float h = max(0.0, vPlace.z - floorBelow);
  return mix(1.0, mix(0.72, 1.0, smoothstep(0.0, 0.55, h)), 1.0 - abs(n));
}
void main() {
  if (vPlace.z > cut) discard;
  if (!gl_FrontFacing && cut < 1e5) { color = vec4(0.17, 0.165, 0.16, 1.0); return; }
  vec3 n = normalize(gl_FrontFacing ? vNormal : -vNormal);
  vec3 base = vColor;
  float layer = layers[vMaterial];
  // Outside of the branch: derivatives of neighbouring pixels choose the level of detail.
  float tile = texture(tiles, vec3(tilePlace(vNormal) / metres[vMaterial], max(layer, 0.0))).r;
  if (textured && layer >= 0.0) base *= tile * 255.0 / 128.0;
  base = pow(base, vec3(2.2));
  float shade = 0.6 + 0.36 * max(dot(n, SUN), 0.0) + 0.14 * max(dot(n, FILL), 0.0) + 0.14 * max(-n.z, 0.0);
  shade = lit ? vLight : shade * rise(n.z);
  float away = distance(eye, vPlace);
  float glow = pow(1.0 - abs(dot(normalize(eye - vPlace), n)), 5.0); // surfaces reflect more light at grazing angles
  vec3 seen = base * shade * (0.72 + 0.34 * exp(-away / 9.0)) + 0.05 * glow;
  // Noise of half a step hides the bands of eight bits.
  float dither = (fract(sin(dot(gl_FragCoord.xy, vec2(12.9898, 78.233))) * 43758.5453) - 0.5) / 255.0;
  color = vec4(pow(seen, vec3(1.0 / 2.2)) + dither, opacity < 1.0 ? mix(opacity, 0.7, glow) : 1.0);
}`;

const SKY_VERTEX = `#version 300 es
uniform vec3 ahead, right, up;
out vec3 ray;
void main() {
  vec2 at = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
  ray = ahead + at.x * right + at.y * up;
  gl_Position = vec4(at, 1.0, 1.0);
}`;

const SKY_FRAGMENT = `#version 300 es
precision highp float;
in vec3 ray;
uniform vec3 eye; uniform float ground; uniform float plain; uniform vec4 bounds;
out vec4 color;
float hash(vec2 p) { return fract(sin(dot(p, vec2(12.9898, 78.233))) * 43758.5453); }
float noise(vec2 p) {
  vec2 i = floor(p), f = fract(p); f = f * f * (3.0 - 2.0 * f);
  return mix(mix(hash(i), hash(i + vec2(1, 0)), f.x), mix(hash(i + vec2(0, 1)), hash(i + vec2(1, 1)), f.x), f.y);
}
void main() {
  vec3 d = normalize(ray);
  vec3 horizon = vec3(0.87, 0.91, 0.94), sky = mix(horizon, vec3(0.42, 0.62, 0.86), pow(clamp(d.z, 0.0, 1.0), 0.55));
  float t = (ground - eye.z) / d.z;
  if (t > 0.0) {
    vec2 p = eye.xy + t * d.xy;
    float fade = exp(-t * length(d.xy) / 60.0), grain = 0.7 * noise(p * 0.35) + 0.3 * noise(p * 3.0) * exp(-t / 25.0);
    sky = mix(horizon, vec3(0.47, 0.55, 0.36) * (0.86 + 0.28 * grain), fade);
  }
  // Below a dollhouse a table, with the soft shadow of the house.
  vec2 q = abs(eye.xy + t * d.xy - bounds.xy) - bounds.zw;
  float away = length(max(q, 0.0)) + min(max(q.x, q.y), 0.0);
  vec3 table = vec3(0.905, 0.9, 0.885) * (t > 0.0 ? 1.0 - 0.3 * exp(-max(away, 0.0) / 1.2) : 1.0);
  color = vec4(mix(sky, table, plain) + (hash(gl_FragCoord.xy) - 0.5) / 255.0, 1.0);
}`;

const FLAT_VERTEX = `#version 300 es
layout(location = 0) in vec3 place;
layout(location = 1) in vec4 look;
uniform mat4 camera;
out vec4 vColor; out float vHeight;
void main() { vColor = look / 255.0; vHeight = place.z; gl_Position = camera * vec4(place, 1.0); }`;

const FLAT_FRAGMENT = `#version 300 es
precision highp float;
in vec4 vColor; in float vHeight;
uniform float cut; uniform float opacity;
out vec4 color;
void main() { if (vHeight > cut) discard; color = vec4(vColor.rgb, vColor.a * opacity); }`;

function compile(gl, vertex, fragment) {
  const program = gl.createProgram();
  for (const [type, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(type);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) throw new Error(`shader: ${gl.getProgramInfoLog(program)}`);
  const names = new Map();
  const at = (name) => { if (!names.has(name)) names.set(name, gl.getUniformLocation(program, name)); return names.get(name); };
  return { program, at };
}

function upload(gl, array, attributes) {
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ARRAY_BUFFER, array, gl.STATIC_DRAW);
  for (const [location, size, type, normalized, stride, offset] of attributes) {
    gl.enableVertexAttribArray(location);
    gl.vertexAttribPointer(location, size, type, normalized, stride, offset);
  }
}

class Renderer {
  // Throws without WebGL2.
  constructor(canvas, mesh, data, buffer) {
    const gl = canvas.getContext("webgl2", { antialias: true, alpha: false });
    if (!gl) throw new Error("no WebGL2");
    Object.assign(this, { gl, canvas, mesh, data, buffer });
    this.layers = new Map();
    this.build();
  }

  // Also called when the context was lost and is restored.
  build() {
    const { gl, mesh, data, buffer } = this;
    this.house = compile(gl, HOUSE_VERTEX, HOUSE_FRAGMENT);
    this.sky = compile(gl, SKY_VERTEX, SKY_FRAGMENT);
    this.flat = compile(gl, FLAT_VERTEX, FLAT_FRAGMENT);
    this.empty = gl.createVertexArray();
    this.shape = gl.createVertexArray();
    gl.bindVertexArray(this.shape);
    upload(gl, mesh.places, [[0, 3, gl.FLOAT, false, 12, 0]]);
    upload(gl, mesh.look, [[1, 4, gl.UNSIGNED_BYTE, false, 12, 0], [2, 3, gl.BYTE, true, 12, 4], [3, 1, gl.UNSIGNED_BYTE, false, 12, 7]]);
    this.loadTextures(data.textures, buffer);
    for (const [name, triangles] of [...this.layers]) this.setLayer(name, triangles.source);
  }

  loadTextures(textures, buffer) {
    const { gl } = this, edge = textures.length ? Math.round(Math.sqrt(textures[0].texels[2])) : 1;
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D_ARRAY, gl.createTexture());
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl.texStorage3D(gl.TEXTURE_2D_ARRAY, Math.floor(Math.log2(edge)) + 1, gl.R8, edge, edge, Math.max(1, textures.length));
    const layers = new Float32Array(32).fill(-1), metres = new Float32Array(32).fill(1);
    textures.forEach((texture, k) => {
      gl.texSubImage3D(gl.TEXTURE_2D_ARRAY, 0, 0, 0, k, edge, edge, 1, gl.RED, gl.UNSIGNED_BYTE, arrayAt(buffer, texture.texels));
      layers[texture.material] = k; metres[texture.material] = texture.metres;
    });
    gl.generateMipmap(gl.TEXTURE_2D_ARRAY);
    gl.texParameteri(gl.TEXTURE_2D_ARRAY, gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_LINEAR);
    const sharper = gl.getExtension("EXT_texture_filter_anisotropic");
    if (sharper) gl.texParameterf(gl.TEXTURE_2D_ARRAY, sharper.TEXTURE_MAX_ANISOTROPY_EXT, 4);
    gl.useProgram(this.house.program);
    gl.uniform1fv(this.house.at("layers"), layers);
    gl.uniform1fv(this.house.at("metres"), metres);
    const floors = this.data.storeys.map((storey) => storey.floor);
    gl.uniform4f(this.house.at("floors"), ...[0, 1, 2, 3].map((k) => (k < floors.length ? floors[k] : floors[0])));
    gl.uniform1i(this.house.at("lit"), this.mesh.lit);
  }

  // Replaces the triangles of a layer: { places: x, y, z, …; colors: red, green, blue, alpha, … for each corner }.
  setLayer(name, source) {
    const { gl } = this, shape = gl.createVertexArray(), old = this.layers.get(name);
    if (old) gl.deleteVertexArray(old.shape);
    gl.bindVertexArray(shape);
    upload(gl, new Float32Array(source.places), [[0, 3, gl.FLOAT, false, 12, 0]]);
    upload(gl, new Uint8Array(source.colors), [[1, 4, gl.UNSIGNED_BYTE, false, 4, 0]]);
    this.layers.set(name, { shape, count: source.places.length / 3, source });
  }

  // shown: { cut, textured, plain, layers: [[name, opacity behind walls], …] }
  draw(camera, shown) {
    const { gl, canvas, mesh } = this;
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.disable(gl.BLEND);
    this.drawSky(camera, shown);
    gl.enable(gl.DEPTH_TEST);
    const matrix = projection(camera, canvas.width, canvas.height, NEAR, FAR), { program, at } = this.house;
    gl.useProgram(program);
    gl.bindVertexArray(this.shape);
    gl.uniformMatrix4fv(at("camera"), false, matrix);
    gl.uniform3fv(at("eye"), camera.eye);
    gl.uniform1f(at("cut"), shown.cut);
    gl.uniform1i(at("textured"), shown.textured ? 1 : 0);
    gl.uniform1f(at("opacity"), 1);
    const [first, hanging, panes, end] = mesh.ranges, open = shown.cut < 1e5;
    gl.drawArrays(gl.TRIANGLES, 3 * first, 3 * ((open ? hanging : panes) - first));
    this.drawLayers(matrix, shown);
    gl.useProgram(program);
    gl.bindVertexArray(this.shape);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    gl.depthMask(false);
    gl.uniform1f(at("opacity"), 0.18);
    gl.drawArrays(gl.TRIANGLES, 3 * panes, 3 * (end - panes));
    gl.depthMask(true);
    gl.disable(gl.BLEND);
  }

  drawSky(camera, shown) {
    const { gl, canvas } = this, { program, at } = this.sky, { ahead, right, up } = viewAxes(camera), tall = Math.tan(camera.fov / 2);
    gl.disable(gl.DEPTH_TEST);
    gl.useProgram(program);
    gl.bindVertexArray(this.empty);
    gl.uniform3fv(at("ahead"), ahead);
    gl.uniform3fv(at("right"), right.map((value) => (value * tall * canvas.width) / canvas.height));
    gl.uniform3fv(at("up"), up.map((value) => value * tall));
    gl.uniform3fv(at("eye"), camera.eye);
    gl.uniform1f(at("ground"), this.data.mesh.low[2] - 0.05);
    gl.uniform1f(at("plain"), shown.plain ? 1 : 0);
    const { low, size } = this.data.mesh;
    gl.uniform4f(at("bounds"), low[0] + size[0] / 2, low[1] + size[1] / 2, size[0] / 2, size[1] / 2);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  drawLayers(matrix, shown) {
    const { gl } = this, { program, at } = this.flat;
    gl.useProgram(program);
    gl.uniformMatrix4fv(at("camera"), false, matrix);
    gl.uniform1f(at("cut"), shown.cut);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    gl.depthMask(false);
    for (const [name, hidden] of shown.layers) {
      const layer = this.layers.get(name);
      if (!layer || !layer.count) continue;
      gl.bindVertexArray(layer.shape);
      for (const [test, opacity] of [[gl.GREATER, hidden], [gl.LEQUAL, 1]]) {
        if (!opacity) continue;
        gl.depthFunc(test);
        gl.uniform1f(at("opacity"), opacity);
        gl.drawArrays(gl.TRIANGLES, 0, layer.count);
      }
    }
    gl.depthFunc(gl.LEQUAL);
    gl.depthMask(true);
    gl.disable(gl.BLEND);
  }
}
