"use strict";
// Geometry of the walk-through: the mesh from its typed arrays, rays, the ground below a point, matrices.
// Lengths are metres, z up; headings are radians counter-clockwise from +x.

const TYPES = { uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array };
const [WALKABLE, GLASS, HANGING] = [1, 2, 4]; // flags of a face

async function readBuffer(text) {
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
}

const arrayAt = (buffer, [type, offset, length]) => new TYPES[type](buffer, offset, length);

// The mesh with three corners for each face. Opaque faces come first, then hanging ones, then panes of glass:
// `ranges` has the first face of each kind and the end.
function unpackMesh(mesh, light, buffer) {
  const grid = arrayAt(buffer, mesh.positions), corners = arrayAt(buffer, mesh.corners), looks = arrayAt(buffer, mesh.look_indices);
  const charts = light ? arrayAt(buffer, light.charts) : null, vertices = grid.length / 3;
  const kind = (face) => { const flags = mesh.looks[looks[face]][4]; return flags & GLASS ? 2 : flags & HANGING ? 1 : 0; };
  const order = [[], [], []];
  for (let face = 0; face < mesh.faces; face++) order[kind(face)].push(face);
  const places = new Float32Array(9 * mesh.faces), normals = new Float32Array(3 * mesh.faces), flags = new Uint8Array(mesh.faces);
  const look = new Uint8Array(12 * 3 * mesh.faces), chart = new Uint32Array(look.buffer); // per corner: color, material; normal; chart
  order.flat().forEach((face, row) => {
    for (let k = 0; k < 9; k++) {
      const axis = k % 3;
      places[9 * row + k] = mesh.low[axis] + (grid[axis * vertices + corners[3 * face + (k - axis) / 3]] / 65535) * mesh.size[axis];
    }
    const p = places.subarray(9 * row, 9 * row + 9), normal = unit(cross(minus(p.subarray(3, 6), p), minus(p.subarray(6, 9), p)));
    normals.set(normal, 3 * row);
    const [red, green, blue, material, flag] = mesh.looks[looks[face]];
    flags[row] = flag;
    for (let k = 0; k < 3; k++) {
      look.set([red, green, blue, material, ...normal.map((n) => (Math.round(127 * n) + 256) % 256)], 12 * (3 * row + k));
      chart[3 * (3 * row + k) + 2] = charts ? charts[face] : 0;
    }
  });
  const ends = [0, order[0].length, order[0].length + order[1].length, mesh.faces];
  return { faces: mesh.faces, places, normals, flags, look, ranges: ends };
}

// The charts of the light, eight numbers each: first texel, width, height, axis; origin along u and v, two unused.
function unpackCharts(light, buffer) {
  const sizes = arrayAt(buffer, light.sizes), origins = arrayAt(buffer, light.origins), axes = arrayAt(buffer, light.axes), count = axes.length;
  const charts = new Int32Array(8 * count);
  for (let k = 0, first = 0; k < count; first += sizes[k] * sizes[count + k], k++) {
    charts.set([first, sizes[k], sizes[count + k], axes[k], origins[k] - 32768, origins[count + k] - 32768], 8 * k);
  }
  return charts;
}

// Red, green, blue and an unused byte of each texel of light; 128 leaves a color as it is.
function unpackTexels(mood, buffer) {
  const bytes = arrayAt(buffer, mood.texels), count = bytes.length / 3, texels = new Uint8Array(4 * count);
  for (let k = 0, g = 0, r = 0, b = 0; k < count; k++) {
    g += bytes[k]; r += bytes[count + k]; b += bytes[2 * count + k];
    texels[4 * k] = g + r; texels[4 * k + 1] = g; texels[4 * k + 2] = g + b; // modulo 256
  }
  return texels;
}

// Vectors

const minus = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const mix = (a, b, part) => a.map((value, k) => value + part * (b[k] - value));
const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
const turnTo = (from, to) => ((((to - from) % (2 * Math.PI)) + 3 * Math.PI) % (2 * Math.PI)) - Math.PI;
const direction = (heading, elevation) => [Math.cos(elevation) * Math.cos(heading), Math.cos(elevation) * Math.sin(heading), Math.sin(elevation)];

function unit(a) {
  const length = Math.hypot(...a) || 1;
  return [a[0] / length, a[1] / length, a[2] / length];
}

// Rays and ground

// The nearest face that a ray meets below the cut, from its front; null if none.
function castRay(mesh, from, toward, cut) {
  const { places, normals, flags } = mesh;
  let nearest = Infinity, found = -1;
  for (let face = 0; face < mesh.faces; face++) {
    const n = 3 * face, p = 9 * face;
    const slope = toward[0] * normals[n] + toward[1] * normals[n + 1] + toward[2] * normals[n + 2];
    if (slope > -1e-6 || flags[face] & GLASS || (cut < 1e5 && flags[face] & HANGING)) continue;
    const gap = (places[p] - from[0]) * normals[n] + (places[p + 1] - from[1]) * normals[n + 1] + (places[p + 2] - from[2]) * normals[n + 2];
    const distance = gap / slope;
    if (distance <= 0 || distance >= nearest) continue;
    const at = [from[0] + distance * toward[0], from[1] + distance * toward[1], from[2] + distance * toward[2]];
    if (at[2] > cut || !isInside(places, normals, face, at)) continue;
    nearest = distance; found = face;
  }
  return found < 0 ? null : { distance: nearest, face: found, at: from.map((value, k) => value + nearest * toward[k]) };
}

function isInside(places, normals, face, at) {
  const p = 9 * face, normal = normals.subarray(3 * face, 3 * face + 3);
  for (let k = 0; k < 3; k++) {
    const a = places.subarray(p + 3 * k, p + 3 * k + 3), b = places.subarray(p + 3 * ((k + 1) % 3), p + 3 * ((k + 1) % 3) + 3);
    if (dot(cross(minus(b, a), minus(at, a)), normal) < -1e-7) return false;
  }
  return true;
}

// A function of x, y and the height of the feet: the height of the highest ground that can be stepped on, or null.
function makeGround(mesh, stepUp = 0.45, stepDown = 1.2) {
  const walkable = [...mesh.flags.keys()].filter((face) => mesh.flags[face] & WALKABLE);
  const boxes = walkable.map((face) => {
    const p = mesh.places.subarray(9 * face, 9 * face + 9);
    return [Math.min(p[0], p[3], p[6]), Math.max(p[0], p[3], p[6]), Math.min(p[1], p[4], p[7]), Math.max(p[1], p[4], p[7])];
  });
  return (x, y, feet) => {
    let best = null;
    walkable.forEach((face, k) => {
      const [x0, x1, y0, y1] = boxes[k];
      if (x < x0 - 1e-4 || x > x1 + 1e-4 || y < y0 - 1e-4 || y > y1 + 1e-4) return;
      const n = mesh.normals.subarray(3 * face, 3 * face + 3), p = mesh.places.subarray(9 * face, 9 * face + 3);
      const z = p[2] - ((x - p[0]) * n[0] + (y - p[1]) * n[1]) / n[2];
      if (z > feet + stepUp || z < feet - stepDown || (best !== null && z <= best) || !isInside(mesh.places, mesh.normals, face, [x, y, z])) return;
      best = z;
    });
    return best;
  };
}

function inPolygon(outline, x, y) {
  let inside = false;
  for (let k = 0, last = outline.length - 2; k < outline.length; last = k, k += 2) {
    const [xa, ya, xb, yb] = [outline[k], outline[k + 1], outline[last], outline[last + 1]];
    if (ya > y !== yb > y && x < ((xb - xa) * (y - ya)) / (yb - ya) + xa) inside = !inside;
  }
  return inside;
}

// Cameras: column-major matrices, as WebGL takes them

function viewAxes({ heading, elevation }) {
  const ahead = direction(heading, elevation), right = [Math.sin(heading), -Math.cos(heading), 0];
  return { ahead, right, up: cross(right, ahead) };
}

function projection(camera, width, height, near, far) {
  const { ahead, right, up } = viewAxes(camera), e = camera.eye;
  const sy = 1 / Math.tan(camera.fov / 2), sx = (sy * height) / width, depth = (near + far) / (near - far), shift = (2 * near * far) / (near - far);
  const x = [...right, -dot(right, e)], y = [...up, -dot(up, e)], z = [...ahead, -dot(ahead, e)];
  const matrix = new Float32Array(16);
  for (let k = 0; k < 4; k++) {
    matrix[4 * k] = sx * x[k];
    matrix[4 * k + 1] = sy * y[k];
    matrix[4 * k + 2] = -depth * z[k] + (k === 3 ? shift : 0);
    matrix[4 * k + 3] = z[k];
  }
  return matrix;
}

// The position of a point on the screen, in pixels, and its distance along the view; null behind the camera.
function toScreen(matrix, point, width, height) {
  const row = (r) => matrix[r] * point[0] + matrix[4 + r] * point[1] + matrix[8 + r] * point[2] + matrix[12 + r];
  const w = row(3);
  return w < 0.05 ? null : { x: ((1 + row(0) / w) * width) / 2, y: ((1 - row(1) / w) * height) / 2, distance: w };
}

function rayThrough(camera, x, y, width, height) {
  const { ahead, right, up } = viewAxes(camera), tall = Math.tan(camera.fov / 2), across = (tall * width) / height;
  const [u, v] = [(2 * x) / width - 1, 1 - (2 * y) / height];
  return unit(ahead.map((value, k) => value + u * across * right[k] + v * tall * up[k]));
}
