// WebGL2: the house with its textures, sky and ground, then lines and markers on the floor.

const NEAR = 0.06, FAR = 400;
const EVEN = { zenith: [107, 158, 219], horizon: [222, 232, 240], lawn: [120, 140, 92] }; // colors outside in even light

const HOUSE_VERTEX = `#version 300 es
layout(location = 0) in vec3 place;
layout(location = 1) in vec4 look; // color and material
layout(location = 2) in vec3 normal;
layout(location = 3) in uint chart;
uniform mat4 camera;
out vec3 vPlace; out vec3 vColor; out vec3 vNormal; flat out int vMaterial; flat out int vChart;
void main() {
  vPlace = place; vColor = look.rgb / 255.0; vMaterial = int(look.a + 0.5); vNormal = normal; vChart = int(chart);
  gl_Position = camera * vec4(place, 1.0);
}`;

// Back faces of a house that is cut open are the inside of its walls: they are filled as in an architect's section.
const HOUSE_FRAGMENT = `#version 300 es
precision highp float; precision highp sampler2DArray; precision highp isampler2D;
in vec3 vPlace; in vec3 vColor; in vec3 vNormal; flat in int vMaterial; flat in int vChart;
uniform vec3 eye; uniform float cut; uniform float opacity; uniform bool textured; uniform bool lit;
uniform sampler2DArray tiles; uniform float layers[32]; uniform float metres[32]; uniform vec4 floors;
uniform isampler2D charts; uniform sampler2D light; uniform float spacing;
out vec4 color;
const vec3 SUN = normalize(vec3(0.45, 0.3, 0.85)), FILL = normalize(vec3(-0.7, 0.55, 0.1));
vec2 flatten(int axis) { return axis == 2 ? vPlace.xy : axis == 0 ? vPlace.yz : vPlace.xz; }
int dominant(vec3 n) {
  vec3 a = abs(n);
  return a.z >= a.x && a.z >= a.y ? 2 : a.x >= a.y ? 0 : 1;
}
vec3 texel(int k) { return texelFetch(light, ivec2(k & 2047, k >> 11), 0).rgb * (255.0 / 128.0); }
// Between the four nearest texels of the chart.
vec3 bakedLight() {
  ivec4 chart = texelFetch(charts, ivec2((2 * vChart) & 2047, (2 * vChart) >> 11), 0);
  ivec4 grid = texelFetch(charts, ivec2((2 * vChart + 1) & 2047, (2 * vChart + 1) >> 11), 0);
  vec2 last = vec2(chart.yz - 1), at = clamp(flatten(chart.w) / spacing - vec2(grid.xy), vec2(0.0), last);
  ivec2 low = ivec2(at), high = min(low + 1, chart.yz - 1);
  vec2 part = at - vec2(low);
  vec3 lower = mix(texel(chart.x + low.y * chart.y + low.x), texel(chart.x + low.y * chart.y + high.x), part.x);
  vec3 upper = mix(texel(chart.x + high.y * chart.y + low.x), texel(chart.x + high.y * chart.y + high.x), part.x);
  return mix(lower, upper, part.y);
}
// Light from everywhere, darker towards the floor and far away.
vec3 evenLight(vec3 n) {
  float floorBelow = floors.x;
  for (int k = 1; k < 4; k++) if (vPlace.z > floors[k] - 0.05) floorBelow = max(floorBelow, floors[k]);
  float rise = mix(1.0, mix(0.72, 1.0, smoothstep(0.0, 0.55, max(0.0, vPlace.z - floorBelow))), 1.0 - abs(n.z));
  float shade = 0.6 + 0.36 * max(dot(n, SUN), 0.0) + 0.14 * max(dot(n, FILL), 0.0) + 0.14 * max(-n.z, 0.0);
  return vec3(pow(shade * rise * (0.72 + 0.34 * exp(-distance(eye, vPlace) / 9.0)), 1.0 / 2.2));
}
// Rooms without windows are dark by day: eyes adapt to them, an exposure for the whole house does not.
vec3 seenLight(vec3 n) {
  vec3 baked = bakedLight(), adapted = 0.32 * evenLight(n);
  return sqrt(baked * baked + adapted * adapted);
}
void main() {
  if (vPlace.z > cut) discard;
  if (!gl_FrontFacing && cut < 1e5) { color = vec4(0.17, 0.165, 0.16, 1.0); return; }
  vec3 n = normalize(gl_FrontFacing ? vNormal : -vNormal);
  float layer = layers[vMaterial];
  // Outside of the branch: derivatives of neighbouring pixels choose the level of detail.
  float tile = texture(tiles, vec3(flatten(dominant(vNormal)) / metres[vMaterial], max(layer, 0.0))).r;
  vec3 base = textured && layer >= 0.0 ? vColor * tile * (255.0 / 128.0) : vColor;
  float grazing = pow(1.0 - abs(dot(normalize(eye - vPlace), n)), 5.0);
  // Noise of half a step hides the bands of eight bits.
  float dither = (fract(sin(dot(gl_FragCoord.xy, vec2(12.9898, 78.233))) * 43758.5453) - 0.5) / 255.0;
  color = vec4(base * (lit ? seenLight(n) : evenLight(n)) + dither, opacity < 1.0 ? mix(opacity, 0.55, grazing) : 1.0);
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
uniform vec3 zenith, horizon, lawn;
out vec4 color;
float hash(vec2 p) { return fract(sin(dot(p, vec2(12.9898, 78.233))) * 43758.5453); }
float noise(vec2 p) {
  vec2 i = floor(p), f = fract(p); f = f * f * (3.0 - 2.0 * f);
  return mix(mix(hash(i), hash(i + vec2(1, 0)), f.x), mix(hash(i + vec2(0, 1)), hash(i + vec2(1, 1)), f.x), f.y);
}
void main() {
  vec3 d = normalize(ray);
  vec3 sky = mix(horizon, zenith, pow(clamp(d.z, 0.0, 1.0), 0.55));
  float t = (ground - eye.z) / d.z;
  if (t > 0.0) {
    vec2 p = eye.xy + t * d.xy;
    float fade = exp(-t * length(d.xy) / 60.0), grain = 0.7 * noise(p * 0.35) + 0.3 * noise(p * 3.0) * exp(-t / 25.0);
    sky = mix(horizon, lawn * (0.86 + 0.28 * grain), fade);
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
    upload(gl, mesh.look, [[1, 4, gl.UNSIGNED_BYTE, false, 12, 0], [2, 3, gl.BYTE, true, 12, 4]]);
    gl.enableVertexAttribArray(3);
    gl.vertexAttribIPointer(3, 1, gl.UNSIGNED_INT, 12, 8);
    this.loadTextures(data.textures, buffer);
    this.loadLight(data.light, buffer);
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
  }

  // Charts and the texels of every mood, in textures of 2048 columns.
  loadLight(light, buffer) {
    const { gl } = this, texture = (unit, inside, format, type, array) => {
      const rows = Math.max(1, Math.ceil(array.length / 4 / 2048)), padded = new array.constructor(4 * 2048 * rows), made = gl.createTexture();
      padded.set(array);
      gl.activeTexture(gl.TEXTURE0 + unit);
      gl.bindTexture(gl.TEXTURE_2D, made);
      gl.texStorage2D(gl.TEXTURE_2D, 1, inside, 2048, rows);
      gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, 2048, rows, format, type, padded);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
      return made;
    };
    texture(1, gl.RGBA32I, gl.RGBA_INTEGER, gl.INT, light ? unpackCharts(light, buffer) : new Int32Array(4));
    const none = texture(2, gl.RGBA8, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
    this.moods = new Map([["even", { texture: none, ...EVEN }]]);
    for (const mood of light ? light.moods : []) {
      this.moods.set(mood.name, { ...mood, texture: texture(2, gl.RGBA8, gl.RGBA, gl.UNSIGNED_BYTE, unpackTexels(mood, buffer)) });
    }
    for (const [name, unit] of [["tiles", 0], ["charts", 1], ["light", 2]]) gl.uniform1i(this.house.at(name), unit);
    gl.uniform1f(this.house.at("spacing"), light ? light.spacing : 1);
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

  // shown: { cut, textured, mood, plain, layers: [[name, opacity behind walls], …] }
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
    gl.uniform1i(at("lit"), shown.mood === "even" ? 0 : 1);
    gl.activeTexture(gl.TEXTURE2);
    gl.bindTexture(gl.TEXTURE_2D, this.moods.get(shown.mood).texture);
    const [first, hanging, panes, end] = mesh.ranges, open = shown.cut < 1e5;
    gl.drawArrays(gl.TRIANGLES, 3 * first, 3 * ((open ? hanging : panes) - first));
    this.drawLayers(matrix, shown);
    gl.useProgram(program);
    gl.bindVertexArray(this.shape);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    gl.depthMask(false);
    gl.uniform1f(at("opacity"), 0.12);
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
    for (const name of ["zenith", "horizon", "lawn"]) gl.uniform3fv(at(name), this.moods.get(shown.mood)[name].map((value) => value / 255));
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
