"use strict";
// The replay of one page: all data are in the JSON element above.
// Lengths are centimetres, y up. The scene is drawn on one canvas, trajectories on another above it.

const replay = JSON.parse(document.getElementById("replay").textContent);
const byId = (id) => document.getElementById(id);
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const wide = matchMedia("(min-width: 56.01rem)");

// Okabe and Ito's colors: of agents, then of reference, shortest and fastest paths.
const AGENTS = ["#0072B2", "#D55E00", "#007A58", "#A8447F", "#5B5B5B"];
const STYLES = {
  reference: { color: "#000000", width: 2.4, dash: [7, 5], band: "#bdb8ae" }, // wide, to be visible below a trajectory on top of it
  shortest: { color: "#56B4E9", width: 3, dash: [1, 5] },
  fastest: { color: "#E69F00", width: 2.6, dash: [9, 3, 2, 3] },
};
const BAND = 11;
const GUIDED_DASH = [2, 5];
const PHASES = ["acting", "guided to the goal", "guided to the next start"];
const RATE = replay.unit === "s" ? 4 : longestTrajectory() > 60 ? 10 : 1.4; // units of time per second at 1×
const colorOf = (agent) => AGENTS[agent % AGENTS.length];

function longestTrajectory() {
  return Math.max(0, ...replay.episodes.flatMap((episode) => episode.trajectories.map((trajectory) => trajectory.track.x.length)));
}

const state = { episode: 0, time: 0, agent: 0, storey: "follow", playing: false, speed: 1, view: null };
const layers = [
  { key: "reference", text: "reference path", has: (episode) => episode.reference.x.length > 0, on: true },
  { key: "goal", text: `goal with its success radius of ${replay.success_radius / 100} m`, has: (episode) => episode.goals.x.length > 0, on: true },
  { key: "shortest", text: "shortest path", has: (episode) => episode.shortest.x.length > 0, on: false },
  { key: "fastest", text: "fastest drive", has: (episode) => episode.fastest.x.length > 0, on: true },
  { key: "alignment", text: "DTW alignment with the reference", has: (episode) => episode.trajectories.some((a) => a.alignment.length), on: true },
  { key: "guided", text: "guided phases (oracle)", has: () => someTrajectory((trajectory) => trajectory.phases.length), on: true },
  { key: "earlier", text: "earlier episodes", has: () => replay.tour !== "" && replay.episodes.length > 1, on: true },
  { key: "map", text: "map held by the agent", has: () => someTrajectory((trajectory) => trajectory.maps), on: true },
  { key: "graph", text: "navigation graph", has: () => replay.scenes.some((scene) => scene.nodes.x.length), on: true },
  { key: "labels", text: "room names", has: () => replay.scenes.some((p) => p.storeys.some((s) => s.labels.length)), on: true },
  { key: "objects", text: "objects near the paths", has: () => replay.scenes.some((p) => p.storeys.some((s) => s.objects.length)), on: true },
];
const isShown = (key) => layers.some((layer) => layer.key === key && layer.on);

function someTrajectory(test) {
  return replay.episodes.some((episode) => episode.trajectories.some(test));
}

// Queries

const episode = () => replay.episodes[state.episode];
const scene = () => replay.scenes[episode().scene];
const followed = () => episode().trajectories.find((trajectory) => trajectory.agent === state.agent) || episode().trajectories[0];
const lastTime = (trajectory) => (trajectory.times.length ? trajectory.times[trajectory.times.length - 1] : trajectory.track.x.length - 1);
const duration = () => Math.max(0, ...episode().trajectories.map(lastTime));

function stepAt(trajectory, time) {
  const last = trajectory.track.x.length - 1;
  if (!trajectory.times.length) return Math.min(last, Math.floor(time + 1e-6));
  let low = 0, high = last;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (trajectory.times[middle] <= time + 1e-6) low = middle; else high = middle - 1;
  }
  return low;
}

const timeOf = (trajectory, step) => (trajectory.times.length ? trajectory.times[step] : step);

function poseAt(trajectory, time) {
  const { x, y, storey } = trajectory.track;
  const step = stepAt(trajectory, time);
  const pose = { step, x: x[step], y: y[step], storey: storey[step], heading: trajectory.headings.length ? trajectory.headings[step] : null };
  const next = step + 1;
  if (calm.matches || next >= x.length || trajectory.jumps.includes(next)) return pose;
  const span = timeOf(trajectory, next) - timeOf(trajectory, step);
  const part = span > 0 ? Math.min(1, Math.max(0, (time - timeOf(trajectory, step)) / span)) : 0;
  pose.x += part * (x[next] - x[step]);
  pose.y += part * (y[next] - y[step]);
  if (pose.heading !== null) pose.heading += part * ((((trajectory.headings[next] - pose.heading) % 360) + 540) % 360 - 180);
  if (part > 0.5) pose.storey = storey[next];
  return pose;
}

const phaseAt = (trajectory, step) => (trajectory.phases.length ? trajectory.phases[step] : 0);

// The first and last reference index aligned with the last acting step up to this one.
function alignedAt(trajectory, step) {
  let first = -1, last = -1, found = -1;
  for (let k = 0; k < trajectory.alignment.length && trajectory.alignment[k] <= step; k += 2) {
    if (trajectory.alignment[k] !== found) { found = trajectory.alignment[k]; first = trajectory.alignment[k + 1]; }
    last = trajectory.alignment[k + 1];
  }
  return [first, last];
}

function storeyNow() {
  const trajectory = followed();
  return state.storey !== "follow" ? Math.min(state.storey, scene().storeys.length - 1)
    : trajectory ? poseAt(trajectory, state.time).storey : (episode().reference.storey[0] || 0);
}

// Drawing

const stage = byId("stage"), floorCanvas = byId("floor"), trackCanvas = byId("trajectories");
let floorKey = "", sharpness = 1;

function viewport() {
  const [x0, y0, x1, y1] = scene().bounds;
  const width = stage.clientWidth, height = stage.clientHeight;
  const fit = Math.min(width / (x1 - x0), height / (y1 - y0)) || 0.01;
  const view = state.view || { zoom: 1, x: (x0 + x1) / 2, y: (y0 + y1) / 2 };
  const scale = fit * view.zoom;
  return { width, height, scale, x: (cm) => width / 2 + (cm - view.x) * scale, y: (cm) => height / 2 - (cm - view.y) * scale };
}

function context(canvas, { width, height }) {
  const ratio = (window.devicePixelRatio || 1) * sharpness;
  const [columns, rows] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== columns || canvas.height !== rows) { canvas.width = columns; canvas.height = rows; }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return pen;
}

function drawFloor(storey) {
  const f = viewport(), pen = context(floorCanvas, f), here = scene(), level = here.storeys[storey];
  for (const [fill, line, width, outlines] of level.drawings) {
    pen.beginPath();
    for (const ring of outlines) {
      pen.moveTo(f.x(ring[0]), f.y(ring[1]));
      for (let k = 2; k < ring.length; k += 2) pen.lineTo(f.x(ring[k]), f.y(ring[k + 1]));
      if (fill) pen.closePath();
    }
    if (fill) { pen.fillStyle = fill; pen.fill(); }
    if (line) { pen.strokeStyle = line; pen.lineWidth = Math.max(0.6, width * f.scale); pen.lineJoin = "miter"; pen.lineCap = "butt"; pen.stroke(); }
  }
  // Faded, so that paths stand out from the furniture.
  if (level.drawings.length) { pen.fillStyle = "rgb(255 255 255 / 0.3)"; pen.fillRect(0, 0, f.width, f.height); }
  if (isShown("graph")) drawGraph(pen, f, here, storey);
  if (isShown("labels")) drawLabels(pen, f, level);
  if (isShown("objects")) drawObjects(pen, f, level);
  if (isShown("earlier") && replay.tour !== "") drawEarlier(pen, f, storey);
  drawTask(pen, f, storey);
  drawScale(f);
}

function drawGraph(pen, f, here, storey) {
  const { nodes, edges } = here;
  pen.strokeStyle = "rgb(60 90 120 / 0.35)"; pen.lineWidth = 1;
  pen.beginPath();
  for (let k = 0; k < edges.length; k += 2) {
    const [a, b] = [edges[k], edges[k + 1]];
    if (nodes.storey[a] !== storey && nodes.storey[b] !== storey) continue;
    pen.moveTo(f.x(nodes.x[a]), f.y(nodes.y[a]));
    pen.lineTo(f.x(nodes.x[b]), f.y(nodes.y[b]));
  }
  pen.stroke();
  pen.fillStyle = "rgb(60 90 120 / 0.7)";
  for (let k = 0; k < nodes.x.length; k++) if (nodes.storey[k] === storey) dot(pen, f.x(nodes.x[k]), f.y(nodes.y[k]), 2);
}

function drawLabels(pen, f, level) {
  pen.textAlign = "center"; pen.textBaseline = "middle"; pen.lineJoin = "round";
  for (const [text, x, y, across, tall] of level.labels) {
    const upright = tall > 1.5 * across && size(text, across * f.scale) < 13;
    const points = size(text, (upright ? tall : across) * f.scale);
    if (points < 7) continue;
    pen.save();
    pen.translate(f.x(x), f.y(y));
    if (upright) pen.rotate(-Math.PI / 2);
    pen.font = `${points}px system-ui, sans-serif`;
    pen.strokeStyle = "rgb(255 255 255 / 0.85)"; pen.lineWidth = 3;
    pen.strokeText(text, 0, 0);
    pen.fillStyle = "#4a4741";
    pen.fillText(text, 0, 0);
    pen.restore();
  }
}

// A dot for each object, and its name where it does not cover the name of another.
function drawObjects(pen, f, level) {
  const taken = [];
  pen.font = "10px system-ui, sans-serif"; pen.textAlign = "left"; pen.textBaseline = "middle"; pen.lineJoin = "round";
  for (const [text, x, y] of level.objects) {
    const [left, top, across] = [f.x(x) + 4, f.y(y) - 6, pen.measureText(text).width];
    pen.fillStyle = "#7a4a12";
    dot(pen, f.x(x), f.y(y), 1.8);
    if (taken.some(([l, t, a]) => left < l + a && l < left + across && Math.abs(top - t) < 11)) continue;
    taken.push([left, top, across]);
    pen.strokeStyle = "rgb(255 255 255 / 0.85)"; pen.lineWidth = 3;
    pen.strokeText(text, left, f.y(y));
    pen.fillText(text, left, f.y(y));
  }
}

const size = (text, pixels) => Math.min(13, pixels / (0.56 * Math.max(1, text.length)));

function drawEarlier(pen, f, storey) {
  const agent = followed() ? followed().agent : 0, all = new Path2D();
  for (const before of replay.episodes.slice(0, state.episode)) {
    if (before.scene !== episode().scene) continue;
    const trajectory = before.trajectories.find((one) => one.agent === agent);
    if (trajectory) all.addPath(traced(f, trajectory.track, storey, { skip: (k) => phaseAt(trajectory, k) !== 0 || trajectory.jumps.includes(k) }));
  }
  // In one stroke, so that paths taken often are no darker than others.
  pen.globalAlpha = 0.22; pen.lineJoin = pen.lineCap = "round"; pen.strokeStyle = colorOf(agent); pen.lineWidth = 3;
  pen.stroke(all);
  pen.globalAlpha = 1;
}

function drawTask(pen, f, storey) {
  const { reference, goals } = episode();
  const here = [...goals.x.keys()].filter((k) => isShown("goal") && goals.storey[k] === storey);
  for (const k of here) {
    pen.setLineDash([2, 4]); pen.lineWidth = 1.2; pen.strokeStyle = "rgb(0 0 0 / 0.65)";
    pen.beginPath(); pen.arc(f.x(goals.x[k]), f.y(goals.y[k]), replay.success_radius * f.scale, 0, 7); pen.stroke();
    pen.setLineDash([]);
  }
  for (const key of ["shortest", "fastest", "reference"]) {
    if (isShown(key) && episode()[key].x.length) line(pen, f, episode()[key], storey, STYLES[key], { cased: true });
  }
  if (isShown("reference")) {
    for (let k = 0; k < reference.x.length; k++) {
      if (reference.storey[k] !== storey) continue;
      ring(pen, f.x(reference.x[k]), f.y(reference.y[k]), k === 0 ? 6 : 3.4, "#ffffff", "#000000", k === 0 ? 2.4 : 1.5);
    }
  }
  for (const k of here) star(pen, f.x(goals.x[k]), f.y(goals.y[k]), 14);
}

// The parts of a path that touch this storey.
function traced(f, track, storey, { from = 0, to = track.x.length - 1, skip = () => false, shift = 0, end = null } = {}) {
  const trace = new Path2D();
  let open = false;
  for (let k = from + 1; k <= to; k++) {
    if (skip(k) || (track.storey[k] !== storey && track.storey[k - 1] !== storey)) { open = false; continue; }
    if (!open) trace.moveTo(f.x(track.x[k - 1]) + shift, f.y(track.y[k - 1]) + shift);
    trace.lineTo(f.x(track.x[k]) + shift, f.y(track.y[k]) + shift);
    open = true;
  }
  if (end) { trace.moveTo(f.x(track.x[to]) + shift, f.y(track.y[to]) + shift); trace.lineTo(f.x(end.x) + shift, f.y(end.y) + shift); }
  return trace;
}

// A path in its style, on white where it is cased.
function line(pen, f, track, storey, style, { cased = false, ...part } = {}) {
  const trace = traced(f, track, storey, part);
  pen.lineJoin = pen.lineCap = "round";
  pen.setLineDash([]);
  if (cased) { pen.strokeStyle = "rgb(255 255 255 / 0.85)"; pen.lineWidth = (style.band ? BAND : style.width) + 3; pen.stroke(trace); }
  if (style.band) { pen.strokeStyle = style.band; pen.lineWidth = BAND; pen.stroke(trace); }
  pen.strokeStyle = style.color; pen.setLineDash(style.dash); pen.lineWidth = style.width;
  pen.lineCap = style.dash.length && style.dash[0] > 1 ? "butt" : "round";
  pen.stroke(trace);
  pen.setLineDash([]);
}

function dot(pen, x, y, radius) {
  pen.beginPath(); pen.arc(x, y, radius, 0, 7); pen.fill();
}

function ring(pen, x, y, radius, fill, edge, width) {
  pen.beginPath(); pen.arc(x, y, radius, 0, 7);
  pen.fillStyle = fill; pen.fill(); pen.strokeStyle = edge; pen.lineWidth = width; pen.stroke();
}

function star(pen, x, y, radius) {
  pen.beginPath();
  for (let k = 0; k < 10; k++) {
    const far = k % 2 ? radius * 0.45 : radius, angle = -Math.PI / 2 + (k * Math.PI) / 5;
    pen.lineTo(x + far * Math.cos(angle), y + far * Math.sin(angle));
  }
  pen.closePath();
  pen.lineJoin = "round"; pen.strokeStyle = "#ffffff"; pen.lineWidth = 4; pen.stroke();
  pen.fillStyle = "#000000"; pen.fill();
}

function drawScale(f) {
  const metres = [1, 2, 5, 10, 20].find((n) => n * 100 * f.scale > 50) || 20;
  byId("bar").style.width = `${metres * 100 * f.scale}px`;
  byId("metres").textContent = `${metres} m`;
}

function drawTrajectories(storey) {
  const f = viewport(), pen = context(trackCanvas, f), trajectories = episode().trajectories, subject = followed();
  if (isShown("map") && subject && subject.maps) drawHeldMap(pen, f, subject, storey);
  if (isShown("alignment") && subject) drawAlignment(pen, f, subject, storey);
  const inOrder = [...trajectories.filter((trajectory) => trajectory !== subject), ...(subject ? [subject] : [])];
  for (const trajectory of inOrder) drawTrajectory(pen, f, trajectory, storey, trajectories.length);
  for (const trajectory of inOrder) drawBody(pen, f, trajectory, storey, trajectories.length);
}

// The frame of the last step up to this one that has any: first-person views and maps.
function frameAt(frames, step) {
  let found = frames[0];
  for (const one of frames) if (one[0] <= step) found = one;
  return found;
}

// Pictures of maps, decoded once; the map is drawn again when one is ready.
const pictures = new Map();
function pictureOf(content) {
  if (!pictures.has(content)) {
    const picture = new Image();
    picture.addEventListener("load", () => render());
    picture.src = `data:image/png;base64,${content}`;
    pictures.set(content, picture);
  }
  return pictures.get(content);
}

// Where the agent made the map: itself in the middle cell, ahead is up in the picture.
function drawHeldMap(pen, f, trajectory, storey) {
  const { size, width, frames } = trajectory.maps, { track, headings } = trajectory;
  const [step, content] = frameAt(frames, stepAt(trajectory, state.time)), picture = pictureOf(content);
  if (!picture.complete || track.storey[step] !== storey || !headings.length) return;
  const side = width * f.scale, corner = -side * (size / 2 + 0.5) / size;
  pen.save();
  pen.translate(f.x(track.x[step]), f.y(track.y[step]));
  pen.rotate(((90 - headings[step]) * Math.PI) / 180);
  pen.imageSmoothingEnabled = false;
  pen.fillStyle = "rgb(255 255 255 / 0.35)"; pen.fillRect(corner, corner, side, side);
  pen.globalAlpha = 0.85;
  pen.drawImage(picture, corner, corner, side, side);
  pen.globalAlpha = 1;
  pen.strokeStyle = "rgb(0 0 0 / 0.55)"; pen.lineWidth = 1; pen.strokeRect(corner, corner, side, side);
  pen.restore();
  trackCanvas.dataset.map = step;
}

function showHeldMap() {
  const trajectory = followed(), figure = byId("held");
  figure.hidden = !trajectory || !trajectory.maps;
  if (figure.hidden) return;
  const { maps } = trajectory, [step, content] = frameAt(maps.frames, stepAt(trajectory, state.time));
  const picture = byId("map"), source = `data:image/png;base64,${content}`;
  if (picture.getAttribute("src") !== source) picture.src = source;
  picture.alt = `Map held by agent ${trajectory.agent + 1} at step ${step}`;
  byId("map-caption").textContent = `Map held at step ${step}: ${maps.width / 100} m wide, the agent in the middle, ahead is up`;
  const legend = byId("legend"), key = JSON.stringify(maps.legend);
  if (legend.dataset.key === key) return;
  legend.dataset.key = key;
  legend.replaceChildren(...maps.legend.map(([name, color]) => {
    const item = document.createElement("span"), mark = svg("svg", { viewBox: "0 0 8 8", "aria-hidden": "true" });
    mark.append(svg("rect", { width: 8, height: 8, fill: color }));
    item.append(mark, name.replaceAll("_", " "));
    return item;
  }));
}

const shiftOf = (trajectory, count) => (count > 1 ? 3 * (trajectory.agent - (replay.agents.length - 1) / 2) : 0);

function drawAlignment(pen, f, trajectory, storey) {
  const { track, alignment } = trajectory, { reference } = episode(), step = stepAt(trajectory, state.time);
  const shift = shiftOf(trajectory, episode().trajectories.length);
  pen.strokeStyle = "rgb(40 40 40 / 0.55)"; pen.lineWidth = 1;
  pen.beginPath();
  for (let k = 0; k < alignment.length && alignment[k] <= step; k += 2) {
    const [i, j] = [alignment[k], alignment[k + 1]];
    if (track.storey[i] !== storey || reference.storey[j] !== storey) continue;
    pen.moveTo(f.x(track.x[i]) + shift, f.y(track.y[i]) + shift);
    pen.lineTo(f.x(reference.x[j]), f.y(reference.y[j]));
  }
  pen.stroke();
}

function drawTrajectory(pen, f, trajectory, storey, count) {
  const { track } = trajectory, pose = poseAt(trajectory, state.time), color = colorOf(trajectory.agent);
  const shift = shiftOf(trajectory, count), jumps = new Set(trajectory.jumps);
  const acting = (k) => phaseAt(trajectory, k) !== 0 || jumps.has(k);
  const guided = (k) => phaseAt(trajectory, k) === 0 || jumps.has(k);
  const moving = pose.storey === storey && track.storey[pose.step] === storey ? pose : null;
  const next = Math.min(pose.step + 1, track.x.length - 1), guidedNow = phaseAt(trajectory, next) !== 0;
  pen.globalAlpha = 0.28;
  line(pen, f, track, storey, { color, width: 2, dash: [] }, { from: pose.step, skip: acting, shift });
  if (isShown("guided")) line(pen, f, track, storey, { color, width: 2, dash: GUIDED_DASH }, { from: pose.step, skip: guided, shift });
  pen.globalAlpha = 1;
  line(pen, f, track, storey, { color, width: 3.6, dash: [] }, { to: pose.step, skip: acting, shift, cased: true, end: guidedNow ? null : moving });
  if (isShown("guided")) line(pen, f, track, storey, { color, width: 2.4, dash: GUIDED_DASH }, { to: pose.step, skip: guided, shift, cased: true, end: guidedNow ? moving : null });
  // Where the acting phase ended.
  const last = trajectory.phases.length ? trajectory.phases.lastIndexOf(0) : track.x.length - 1;
  if (last >= 0 && last <= pose.step && track.storey[last] === storey) {
    const [x, y] = [f.x(track.x[last]) + shift, f.y(track.y[last]) + shift];
    pen.fillStyle = "#ffffff"; pen.fillRect(x - 6, y - 6, 12, 12);
    pen.fillStyle = color; pen.fillRect(x - 4, y - 4, 8, 8);
  }
}

function drawBody(pen, f, trajectory, storey, count) {
  const pose = poseAt(trajectory, state.time), shift = shiftOf(trajectory, count);
  const [x, y] = [f.x(pose.x) + shift, f.y(pose.y) + shift];
  pen.globalAlpha = pose.storey === storey ? 1 : 0.35;
  if (pose.heading !== null) {
    const angle = (-pose.heading * Math.PI) / 180;
    pen.beginPath(); pen.moveTo(x, y); pen.arc(x, y, 24, angle - 0.55, angle + 0.55); pen.closePath();
    pen.fillStyle = colorOf(trajectory.agent); pen.globalAlpha *= 0.35; pen.fill(); pen.globalAlpha = pose.storey === storey ? 1 : 0.35;
  }
  ring(pen, x, y, 9, colorOf(trajectory.agent), "#ffffff", 2.5);
  pen.fillStyle = "#ffffff"; pen.font = "700 11px system-ui, sans-serif"; pen.textAlign = "center"; pen.textBaseline = "middle";
  pen.fillText(String(trajectory.agent + 1), x, y + 0.5);
  pen.globalAlpha = 1;
}

// The panels beside the map

let spans = [];

function showWords() {
  const box = byId("words");
  box.textContent = "";
  box.lang = /^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/.test(episode().language) ? episode().language : "";
  spans = [];
  for (const [text, first, last] of episode().instruction) {
    if (first < 0) { box.append(text); continue; }
    const span = document.createElement("span");
    span.className = "word";
    span.textContent = text;
    spans.push({ span, first, last });
    box.append(span);
  }
  byId("instruction").hidden = !episode().instruction.length;
  box.scrollTop = 0;
}

function markWords() {
  const trajectory = followed();
  if (!trajectory || !spans.length) return;
  const [first, last] = alignedAt(trajectory, stepAt(trajectory, state.time));
  let firstNow = null;
  for (const word of spans) {
    const now = word.first <= last && word.last >= first;
    word.span.classList.toggle("now", now);
    word.span.classList.toggle("done", !now && word.last < first);
    if (now && !firstNow) firstNow = word.span;
  }
  const box = byId("words");
  if (firstNow && (firstNow.offsetTop - box.offsetTop < box.scrollTop || firstNow.offsetTop - box.offsetTop + 24 > box.scrollTop + box.clientHeight)) {
    box.scrollTop = firstNow.offsetTop - box.offsetTop - 12;
  }
}

function showPicture() {
  const trajectory = followed(), figure = byId("view");
  figure.hidden = !someTrajectory((one) => one.frames.length);
  if (figure.hidden || !trajectory) return;
  const step = stepAt(trajectory, state.time);
  const frame = frameAt(trajectory.frames, step), picture = byId("picture"), source = frame ? `data:image/jpeg;base64,${frame[1]}` : "";
  if (source && picture.getAttribute("src") !== source) picture.src = source;
  picture.alt = frame ? `First-person view of agent ${trajectory.agent + 1} at step ${frame[0]}` : "No first-person view of this trajectory";
  byId("caption").textContent = frame ? `First-person view of ${shorten(replay.agents[trajectory.agent], 40)}, step ${frame[0]}` : "";
}

const formatTime = (time) => (replay.unit === "s" ? `${time.toFixed(1)} s` : String(Math.floor(time + 1e-6)));

function showNow(storey) {
  const trajectory = followed(), end = duration();
  byId("clock").textContent = replay.unit === "s" ? `${formatTime(state.time)} of ${formatTime(end)}` : `step ${formatTime(state.time)} of ${formatTime(end)}`;
  const parts = [];
  if (trajectory) {
    const pose = poseAt(trajectory, state.time), distance = trajectory.goal_distances.length ? trajectory.goal_distances[pose.step] : -1;
    const ended = state.time >= lastTime(trajectory);
    parts.push(`${shorten(replay.agents[trajectory.agent], 40)}: ${ended && phaseAt(trajectory, pose.step) === 0 ? trajectory.ending : PHASES[phaseAt(trajectory, pose.step)]}`);
    if (distance >= 0) parts.push(`${(distance / 100).toFixed(1)} m to the goal`);
    if (scene().storeys.length > 1) parts.push(scene().storeys[pose.storey].name);
    trackCanvas.dataset.step = pose.step; trackCanvas.dataset.x = Math.round(pose.x); trackCanvas.dataset.y = Math.round(pose.y);
  }
  trackCanvas.dataset.storey = storey;
  byId("now").textContent = parts.join(" · ");
  byId("time").setAttribute("aria-valuetext", byId("clock").textContent);
  trackCanvas.setAttribute("aria-label", `Map of ${scene().id}, ${scene().storeys[storey].name}. ${byId("now").textContent}`);
}

function shorten(text, most) {
  const letters = Array.from(text);
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : text;
}

// An input with its label; the input is first in reading order.
function choice(kind, name, { checked, text, icon, act }) {
  const label = document.createElement("label"), input = document.createElement("input");
  Object.assign(input, { type: kind, name, checked });
  input.addEventListener("change", act);
  label.append(input, ...(icon ? [icon] : []), text);
  return label;
}

function swatch({ color, width, dash, band, heights = [6], mark = "" }) {
  const picture = svg("svg", { viewBox: "0 0 32 12", class: "swatch", "aria-hidden": "true" });
  const level = (y) => ({ x1: 1, x2: 31, y1: y, y2: y });
  if (band) picture.append(svg("line", { ...level(6), stroke: band, "stroke-width": 10 }));
  for (const y of heights) picture.append(svg("line", { ...level(y), stroke: color, "stroke-width": width, "stroke-dasharray": dash.join(" ") }));
  if (mark) {
    const icon = svg("text", { x: 16, y: 11, "text-anchor": "middle", "font-size": 13 });
    icon.textContent = mark;
    picture.append(icon);
  }
  return picture;
}

function svg(name, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

const ICONS = {
  ...STYLES,
  goal: { color: "transparent", width: 0, dash: [], mark: "★" },
  alignment: { color: "#555", width: 1, dash: [], heights: [2, 6, 10] },
  guided: { color: AGENTS[0], width: 2.4, dash: GUIDED_DASH },
  earlier: { color: "#a9c8de", width: 3, dash: [] },
  map: { color: "transparent", width: 0, dash: [], mark: "▦" },
  graph: { color: "#8aa0b5", width: 1.2, dash: [] },
  labels: { color: "transparent", width: 0, dash: [], mark: "Aa" },
  objects: { color: "transparent", width: 0, dash: [], mark: "•a" },
};

function showLayers() {
  const box = byId("layers");
  box.replaceChildren(box.firstElementChild);
  for (const layer of layers.filter((one) => one.has(episode()))) {
    const text = document.createElement("span");
    text.textContent = layer.text;
    box.append(choice("checkbox", layer.key, { checked: layer.on, text, icon: swatch(ICONS[layer.key]), act: (event) => { layer.on = event.target.checked; floorKey = ""; render(); } }));
  }
}

function showAgents() {
  const box = byId("agents");
  box.replaceChildren(box.firstElementChild);
  for (const trajectory of episode().trajectories) {
    const badge = document.createElement("span"), details = document.createElement("span");
    const name = document.createElement("bdi"), metrics = document.createElement("span");
    badge.className = "badge"; badge.textContent = trajectory.agent + 1; badge.style.background = colorOf(trajectory.agent);
    details.className = "details"; name.className = "name"; metrics.className = "metrics";
    name.textContent = replay.agents[trajectory.agent];
    const outcome = trajectory.success === null ? [trajectory.ending] : [trajectory.success ? "✓ success" : "✗ failure"];
    metrics.textContent = [...outcome, ...trajectory.metrics.map(([metric, value]) => `${metric} ${value}`)].join(" · ");
    details.append(name, metrics);
    for (const [metric, value] of (replay.tour_metrics[trajectory.agent] || []).slice(0, 1)) {
      const tour = document.createElement("span");
      tour.className = "metrics"; tour.textContent = `whole tour: ${metric} ${value}`;
      details.append(tour);
    }
    box.append(choice("radio", "agent", { checked: trajectory === followed(), text: details, icon: badge, act: () => { state.agent = trajectory.agent; floorKey = ""; render(); } }));
  }
  byId("fastest").hidden = !episode().fastest_seconds;
  byId("fastest").textContent = `Bounds of the fastest possible time: ${episode().fastest_seconds}`;
}

function showStoreys() {
  const box = byId("storeys"), storeys = scene().storeys;
  box.replaceChildren(box.firstElementChild);
  box.hidden = storeys.length < 2;
  if (typeof state.storey === "number" && state.storey >= storeys.length) state.storey = "follow";
  const options = [["follow", "follow"], ...storeys.map((storey, k) => [k, storey.name])];
  for (const [value, text] of options) {
    box.append(choice("radio", "storey", { checked: state.storey === value, text, act: () => { state.storey = value; render(); } }));
  }
}

// Moving through time and episodes

function render() {
  const storey = storeyNow(), f = viewport();
  const key = [state.episode, state.agent, storey, f.width, f.height, sharpness, JSON.stringify(state.view)].join();
  if (key !== floorKey) { floorKey = key; drawFloor(storey); }
  drawTrajectories(storey);
  [...byId("storeys").querySelectorAll("label")].forEach((label, k) => label.classList.toggle("current", k === storey + 1));
  byId("time").value = state.time;
  showNow(storey); markWords(); showPicture(); showHeldMap();
}

function goTo(number, time = 0) {
  const before = episode().scene;
  state.episode = Math.min(Math.max(0, number), replay.episodes.length - 1);
  if (before !== episode().scene) state.view = null;
  byId("episode").value = state.episode;
  byId("previous").disabled = state.episode === 0;
  byId("next").disabled = state.episode === replay.episodes.length - 1;
  Object.assign(byId("time"), { max: duration(), step: replay.unit === "s" ? 0.1 : 1 });
  showWords(); showLayers(); showAgents(); showStoreys();
  floorKey = "";
  setTime(time);
}

function setTime(time) {
  state.time = Math.min(Math.max(0, time), duration());
  keepInView();
  render();
}

// The followed agent stays visible on a zoomed map.
function keepInView() {
  if (!state.view || !followed()) return;
  const f = viewport(), pose = poseAt(followed(), state.time), [x, y] = [f.x(pose.x) / f.width, f.y(pose.y) / f.height];
  if (x < 0.12 || x > 0.88 || y < 0.12 || y > 0.88) state.view = { ...state.view, x: pose.x, y: pose.y };
}

function stepBy(count) {
  const trajectory = followed();
  if (replay.unit !== "s" || !trajectory) return setTime(Math.floor(state.time + 1e-6) + count);
  const step = Math.min(Math.max(0, stepAt(trajectory, state.time) + count), trajectory.times.length - 1);
  return setTime(trajectory.times[step]);
}

let lastTick = null, rest = 0;

function play(on) {
  state.playing = on;
  byId("play").textContent = on ? "Pause" : "Play";
  // A screen reader would read every step.
  byId("now").setAttribute("aria-live", on ? "off" : "polite");
  if (!on) return;
  if (state.time >= duration()) { if (state.episode < replay.episodes.length - 1 && replay.tour !== "") goTo(state.episode + 1); else state.time = 0; }
  lastTick = null; rest = 0;
  requestAnimationFrame(tick);
}

function tick(now) {
  if (!state.playing) return;
  const passed = lastTick === null ? 0 : Math.min(0.25, (now - lastTick) / 1000);
  lastTick = now;
  if (state.time < duration()) setTime(state.time + passed * RATE * state.speed);
  else if ((rest += passed) > 0.9) {
    // A pause at the end of the episode.
    if (state.episode === replay.episodes.length - 1) return play(false);
    rest = 0; goTo(state.episode + 1);
  }
  requestAnimationFrame(tick);
}

function zoom(factor, x = null, y = null) {
  const f = viewport(), [x0, y0, x1, y1] = scene().bounds;
  const view = state.view || { zoom: 1, x: (x0 + x1) / 2, y: (y0 + y1) / 2 };
  const larger = Math.min(12, Math.max(1, view.zoom * factor)), part = view.zoom / larger;
  const pose = followed() ? poseAt(followed(), state.time) : { x: view.x, y: view.y };
  const [px, py] = x === null ? [f.x(pose.x), f.y(pose.y)] : [x, y];
  const [cx, cy] = [view.x + (px - f.width / 2) / f.scale, view.y - (py - f.height / 2) / f.scale];
  state.view = larger === 1 ? null : { zoom: larger, x: cx + (view.x - cx) * part, y: cy + (view.y - cy) * part };
  trackCanvas.classList.toggle("moved", state.view !== null);
  render();
}

const KEYS = {
  " ": () => play(!state.playing),
  ArrowRight: (event) => stepBy(event.shiftKey ? 10 : 1),
  ArrowLeft: (event) => stepBy(event.shiftKey ? -10 : -1),
  Home: () => setTime(0),
  End: () => setTime(duration()),
  "[": () => goTo(state.episode - 1),
  "]": () => goTo(state.episode + 1),
  "+": () => zoom(1.4),
  "=": () => zoom(1.4),
  "-": () => zoom(1 / 1.4),
  "0": () => { state.view = null; zoom(1); },
};

document.addEventListener("keydown", (event) => {
  // On many keyboards brackets need AltGr.
  const commanded = (event.ctrlKey || event.altKey || event.metaKey) && !event.getModifierState("AltGraph");
  if (commanded || !KEYS[event.key]) return;
  const target = event.target;
  // Lists and scrolling text keep their own keys, radio buttons the arrows, buttons the space bar.
  if (target.matches("select, #words") && (event.key.length > 1 || event.key === " ")) return;
  if (target.matches("input[type=radio]") && event.key.startsWith("Arrow")) return;
  if (target.matches("button, summary, input[type=checkbox]") && event.key === " ") return;
  event.preventDefault();
  KEYS[event.key](event);
});

byId("play").addEventListener("click", () => play(!state.playing));
byId("time").addEventListener("input", (event) => setTime(Number(event.target.value)));
byId("speed").addEventListener("change", (event) => { state.speed = Number(event.target.value); });
byId("episode").addEventListener("change", (event) => goTo(Number(event.target.value)));
byId("previous").addEventListener("click", () => goTo(state.episode - 1));
byId("next").addEventListener("click", () => goTo(state.episode + 1));
byId("closer").addEventListener("click", () => zoom(1.4));
byId("farther").addEventListener("click", () => zoom(1 / 1.4));
byId("whole").addEventListener("click", () => KEYS["0"]());

trackCanvas.addEventListener("wheel", (event) => {
  if (!wide.matches) return; // on small screens the wheel scrolls the page
  event.preventDefault();
  zoom(Math.exp(-event.deltaY / 400), event.offsetX, event.offsetY);
}, { passive: false });

let held = null;
trackCanvas.addEventListener("pointerdown", (event) => {
  if (!state.view) return;
  held = { x: event.clientX, y: event.clientY, view: { ...state.view } };
  trackCanvas.setPointerCapture(event.pointerId);
  trackCanvas.classList.add("held");
});
trackCanvas.addEventListener("pointermove", (event) => {
  if (!held) return;
  const { scale } = viewport();
  state.view = { ...held.view, x: held.view.x - (event.clientX - held.x) / scale, y: held.view.y + (event.clientY - held.y) / scale };
  render();
});
for (const name of ["pointerup", "pointercancel"]) trackCanvas.addEventListener(name, () => { held = null; trackCanvas.classList.remove("held"); });

new ResizeObserver(() => render()).observe(stage);
window.addEventListener("beforeprint", () => { sharpness = 3; render(); });
window.addEventListener("afterprint", () => { sharpness = 1; render(); });

// A link can name an episode: replay.html#4332_1
function episodeOfLink() {
  let wanted = "";
  try { wanted = decodeURIComponent(location.hash.slice(1)); } catch { return 0; }
  return Math.max(0, replay.episodes.findIndex((one) => one.id === wanted));
}
window.addEventListener("hashchange", () => goTo(episodeOfLink()));

byId("title").textContent = replay.title;
replay.episodes.forEach((one, k) => {
  const option = document.createElement("option");
  option.value = k;
  const outcomes = one.trajectories.map((trajectory) => (trajectory.success === null ? "" : trajectory.success ? "✓" : "✗")).join("");
  option.textContent = `${replay.episodes.length > 1 ? `${k + 1} of ${replay.episodes.length}: ` : ""}${shorten(one.id, 40)} ${outcomes}`;
  byId("episode").append(option);
});
byId("previous").hidden = byId("next").hidden = replay.episodes.length < 2;
goTo(episodeOfLink());
