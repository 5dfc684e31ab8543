// What lies on the floor of the house: viewpoints, edges and paths as flat triangles; and the names of rooms.

const LIFT = 0.03; // metres above the ground, so that rugs do not hide it
const COLORS = { edge: [29, 95, 168, 130], node: [29, 95, 168, 235], rim: [255, 255, 255, 235], path: [213, 94, 0, 255], casing: [255, 255, 255, 220], body: [0, 114, 178, 255], start: [0, 122, 88, 255] };

class Triangles {
  constructor() { this.places = []; this.colors = []; }

  add(points, color) {
    for (const point of points) { this.places.push(...point); this.colors.push(...color); }
  }

  // A flat band between two points.
  band([xa, ya, za], [xb, yb, zb], width, color) {
    const length = Math.hypot(xb - xa, yb - ya) || 1, [u, v] = [(-(yb - ya) / length) * width / 2, ((xb - xa) / length) * width / 2];
    const [a, b, c, d] = [[xa + u, ya + v, za], [xa - u, ya - v, za], [xb - u, yb - v, zb], [xb + u, yb + v, zb]];
    this.add([a, b, c, a, c, d], color);
  }

  // A flat disc, or a ring if it has an inner radius, or a star.
  disc([x, y, z], radius, color, inner = 0, corners = 24) {
    const at = (k, r) => [x + r * Math.cos((2 * Math.PI * k) / corners), y + r * Math.sin((2 * Math.PI * k) / corners), z];
    for (let k = 0; k < corners; k++) this.add([at(k, inner), at(k, radius), at(k + 1, radius), at(k, inner), at(k + 1, radius), at(k + 1, inner)], color);
  }

  star([x, y, z], radius, color) {
    const at = (k) => { const r = k % 2 ? 0.45 * radius : radius, a = Math.PI / 2 + (k * Math.PI) / 5; return [x + r * Math.cos(a), y + r * Math.sin(a), z]; };
    for (let k = 0; k < 10; k++) this.add([[x, y, z], at(k), at(k + 1)], color);
  }
}

const raised = ([x, y, z], by = 0) => [x, y, z + LIFT + by];

function graphTriangles(graph) {
  const triangles = new Triangles(), at = (k) => [graph.x[k], graph.y[k], graph.z[k]];
  for (let k = 0; k < graph.edges.length; k += 2) triangles.band(raised(at(graph.edges[k])), raised(at(graph.edges[k + 1])), 0.045, COLORS.edge);
  graph.ids.forEach((_, k) => { triangles.disc(raised(at(k), 0.002), 0.17, COLORS.rim); triangles.disc(raised(at(k), 0.004), 0.13, COLORS.node); });
  return triangles;
}

// A path with arrows along it, a ring at its start and a star at its goal; without a path, the start alone.
function pathTriangles(points) {
  const triangles = new Triangles();
  for (const [width, color, lift] of [[0.2, COLORS.casing, 0.006], [0.13, COLORS.path, 0.008]]) {
    for (let k = 1; k < points.length; k++) triangles.band(raised(points[k - 1], lift), raised(points[k], lift), width, color);
    for (const point of points.slice(1, -1)) triangles.disc(raised(point, lift), width / 2, color, 0, 12);
  }
  for (let k = 1; k < points.length; k++) arrows(triangles, points[k - 1], points[k]);
  if (points.length) {
    triangles.disc(raised(points[0], 0.012), 0.3, COLORS.rim); triangles.disc(raised(points[0], 0.014), 0.26, COLORS.start);
    triangles.disc(raised(points[0], 0.016), 0.14, COLORS.rim);
  }
  if (points.length > 1) {
    const goal = points[points.length - 1];
    triangles.disc(raised(goal, 0.012), 0.42, COLORS.rim); triangles.star(raised(goal, 0.016), 0.4, COLORS.path);
  }
  return triangles;
}

function arrows(triangles, from, to) {
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
  if (length < 0.7) return;
  const [u, v] = [(to[0] - from[0]) / length, (to[1] - from[1]) / length], count = Math.max(1, Math.round(length / 1.2));
  for (let k = 0; k < count; k++) {
    const [x, y, z] = raised(mix(from, to, (k + 0.5) / count), 0.01);
    triangles.add([[x + 0.14 * u, y + 0.14 * v, z], [x - 0.08 * u - 0.1 * v, y - 0.08 * v + 0.1 * u, z], [x - 0.08 * u + 0.1 * v, y - 0.08 * v - 0.1 * u, z]], COLORS.casing);
  }
}

// Where the follower of an episode is, seen from above.
function bodyTriangles(point, heading) {
  const triangles = new Triangles(), [x, y, z] = raised(point, 0.03), far = 1.1, turn = (angle) => [x + far * Math.cos(heading + angle), y + far * Math.sin(heading + angle), z];
  for (let k = -4; k < 4; k++) triangles.add([[x, y, z], turn(k * 0.11), turn((k + 1) * 0.11)], [0, 114, 178, 90]);
  triangles.disc(raised(point, 0.034), 0.27, COLORS.rim); triangles.disc(raised(point, 0.038), 0.22, COLORS.body);
  return triangles;
}

// The names of the rooms of a storey, where they have space.
function drawNames(pen, rooms, storey, matrix, width, height) {
  const taken = [];
  pen.textAlign = "center"; pen.textBaseline = "middle"; pen.lineJoin = "round";
  pen.font = "600 13px system-ui, sans-serif";
  for (const room of rooms) {
    if (room.storey !== storey) continue;
    const at = toScreen(matrix, [room.x, room.y, room.floor + 0.1], width, height);
    if (!at || at.x < 0 || at.y < 0 || at.x > width || at.y > height) continue;
    const across = pen.measureText(room.name).width + 6;
    if (taken.some(([x, y, w]) => Math.abs(x - at.x) < (w + across) / 2 && Math.abs(y - at.y) < 17)) continue;
    taken.push([at.x, at.y, across]);
    pen.strokeStyle = "rgb(255 255 255 / 0.88)"; pen.lineWidth = 4;
    pen.strokeText(room.name, at.x, at.y);
    pen.fillStyle = "#1f1e1c";
    pen.fillText(room.name, at.x, at.y);
  }
}
