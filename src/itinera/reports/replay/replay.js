"use strict";
// The replay of one page: everything is read from the JSON above, nothing from anywhere else.
// Lengths are centimetres, y upwards; a place is drawn on one canvas, what moves on another above it.

const replay = JSON.parse(document.getElementById("replay").textContent);
const at = (id) => document.getElementById(id);
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const wide = matchMedia("(min-width: 56.01rem)");

// Okabe and Ito's colours: of agents, then of the paths they are compared with.
const AGENTS = ["#0072B2", "#D55E00", "#007A58", "#A8447F", "#5B5B5B"];
const STYLES = {
  reference: { colour: "#000000", width: 2.4, dash: [7, 5], band: "#bdb8ae" }, // broad, to be seen below whoever follows it
  shortest: { colour: "#56B4E9", width: 3, dash: [1, 5] },
  fastest: { colour: "#E69F00", width: 2.6, dash: [9, 3, 2, 3] },
};
const BAND = 11;
const LED = [2, 5];
const PHASES = ["acting", "led to the goal", "led to the next start"];
const RATE = replay.unit === "s" ? 4 : longestAttempt() > 60 ? 10 : 1.4; // units of time a second shows at 1×
const colourOf = (agent) => AGENTS[agent % AGENTS.length];

function longestAttempt() {
  return Math.max(0, ...replay.tasks.flatMap((task) => task.attempts.map((attempt) => attempt.track.x.length)));
}

const state = { task: 0, time: 0, agent: 0, storey: "follow", playing: false, speed: 1, view: null };
const layers = [
  { key: "reference", text: "reference path", has: (task) => task.reference.x.length > 0, on: true },
  { key: "goal", text: `goal, and ${replay.radius / 100} m around it`, has: (task) => task.goals.x.length > 0, on: true },
  { key: "shortest", text: "shortest way", has: (task) => task.shortest.x.length > 0, on: false },
  { key: "fastest", text: "fastest drive", has: (task) => task.fastest.x.length > 0, on: true },
  { key: "pairs", text: "alignment with the reference (DTW)", has: (task) => task.attempts.some((a) => a.pairs.length), on: true },
  { key: "led", text: "where it was led", has: () => anywhere((attempt) => attempt.phases.length), on: true },
  { key: "earlier", text: "earlier episodes", has: () => replay.tour !== "" && replay.tasks.length > 1, on: true },
  { key: "graph", text: "navigation graph", has: () => replay.places.some((place) => place.nodes.x.length), on: true },
  { key: "names", text: "room names", has: () => replay.places.some((p) => p.storeys.some((s) => s.labels.length)), on: true },
];
const shown = (key) => layers.some((layer) => layer.key === key && layer.on);

function anywhere(asked) {
  return replay.tasks.some((task) => task.attempts.some(asked));
}

// What is asked of the data

const task = () => replay.tasks[state.task];
const place = () => replay.places[task().place];
const watched = () => task().attempts.find((attempt) => attempt.agent === state.agent) || task().attempts[0];
const lastTime = (attempt) => (attempt.clock.length ? attempt.clock[attempt.clock.length - 1] : attempt.track.x.length - 1);
const duration = () => Math.max(0, ...task().attempts.map(lastTime));

function stepAt(attempt, time) {
  const last = attempt.track.x.length - 1;
  if (!attempt.clock.length) return Math.min(last, Math.floor(time + 1e-6));
  let low = 0, high = last;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (attempt.clock[middle] <= time + 1e-6) low = middle; else high = middle - 1;
  }
  return low;
}

const timeOf = (attempt, step) => (attempt.clock.length ? attempt.clock[step] : step);

function poseAt(attempt, time) {
  const { x, y, storey } = attempt.track;
  const step = stepAt(attempt, time);
  const pose = { step, x: x[step], y: y[step], storey: storey[step], heading: attempt.headings.length ? attempt.headings[step] : null };
  const next = step + 1;
  if (calm.matches || next >= x.length || attempt.jumps.includes(next)) return pose;
  const span = timeOf(attempt, next) - timeOf(attempt, step);
  const part = span > 0 ? Math.min(1, Math.max(0, (time - timeOf(attempt, step)) / span)) : 0;
  pose.x += part * (x[next] - x[step]);
  pose.y += part * (y[next] - y[step]);
  if (pose.heading !== null) pose.heading += part * ((((attempt.headings[next] - pose.heading) % 360) + 540) % 360 - 180);
  if (part > 0.5) pose.storey = storey[next];
  return pose;
}

const phaseAt = (attempt, step) => (attempt.phases.length ? attempt.phases[step] : 0);

// The reference places that the last acting step up to this one meets.
function metAt(attempt, step) {
  let first = -1, last = -1, found = -1;
  for (let k = 0; k < attempt.pairs.length && attempt.pairs[k] <= step; k += 2) {
    if (attempt.pairs[k] !== found) { found = attempt.pairs[k]; first = attempt.pairs[k + 1]; }
    last = attempt.pairs[k + 1];
  }
  return [first, last];
}

function storeyNow() {
  const attempt = watched();
  return state.storey !== "follow" ? Math.min(state.storey, place().storeys.length - 1)
    : attempt ? poseAt(attempt, state.time).storey : (task().reference.storey[0] || 0);
}

// Drawing

const stage = at("stage"), floorCanvas = at("floor"), walksCanvas = at("walks");
let floorKey = "", sharpness = 1;

function frame() {
  const [x0, y0, x1, y1] = place().bounds;
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
  const f = frame(), pen = context(floorCanvas, f), here = place(), level = here.storeys[storey];
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
  // A veil over the things, so that paths stand out from them.
  if (level.drawings.length) { pen.fillStyle = "rgb(255 255 255 / 0.3)"; pen.fillRect(0, 0, f.width, f.height); }
  if (shown("graph")) drawGraph(pen, f, here, storey);
  if (shown("names")) drawNames(pen, f, level);
  if (shown("earlier") && replay.tour !== "") drawEarlier(pen, f, storey);
  drawAsked(pen, f, storey);
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

function drawNames(pen, f, level) {
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

const size = (text, pixels) => Math.min(13, pixels / (0.56 * Math.max(1, text.length)));

function drawEarlier(pen, f, storey) {
  const agent = watched() ? watched().agent : 0, all = new Path2D();
  for (const before of replay.tasks.slice(0, state.task)) {
    if (before.place !== task().place) continue;
    const attempt = before.attempts.find((one) => one.agent === agent);
    if (attempt) all.addPath(traced(f, attempt.track, storey, { skip: (k) => phaseAt(attempt, k) !== 0 || attempt.jumps.includes(k) }));
  }
  // In one stroke, so that ways gone often are no darker than others.
  pen.globalAlpha = 0.22; pen.lineJoin = pen.lineCap = "round"; pen.strokeStyle = colourOf(agent); pen.lineWidth = 3;
  pen.stroke(all);
  pen.globalAlpha = 1;
}

function drawAsked(pen, f, storey) {
  const asked = task();
  const { reference, goals } = asked;
  const here = [...goals.x.keys()].filter((k) => shown("goal") && goals.storey[k] === storey);
  for (const k of here) {
    pen.setLineDash([2, 4]); pen.lineWidth = 1.2; pen.strokeStyle = "rgb(0 0 0 / 0.65)";
    pen.beginPath(); pen.arc(f.x(goals.x[k]), f.y(goals.y[k]), replay.radius * f.scale, 0, 7); pen.stroke();
    pen.setLineDash([]);
  }
  for (const key of ["shortest", "fastest", "reference"]) {
    if (shown(key) && asked[key].x.length) line(pen, f, asked[key], storey, STYLES[key], { cased: true });
  }
  if (shown("reference")) {
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
  pen.strokeStyle = style.colour; pen.setLineDash(style.dash); pen.lineWidth = style.width;
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
  at("bar").style.width = `${metres * 100 * f.scale}px`;
  at("metres").textContent = `${metres} m`;
}

function drawWalks(storey) {
  const f = frame(), pen = context(walksCanvas, f), attempts = task().attempts, subject = watched();
  if (shown("pairs") && subject) drawPairs(pen, f, subject, storey);
  const inOrder = [...attempts.filter((attempt) => attempt !== subject), ...(subject ? [subject] : [])];
  for (const attempt of inOrder) drawAttempt(pen, f, attempt, storey, attempts.length);
  for (const attempt of inOrder) drawBody(pen, f, attempt, storey, attempts.length);
}

const shiftOf = (attempt, count) => (count > 1 ? 3 * (attempt.agent - (replay.agents.length - 1) / 2) : 0);

function drawPairs(pen, f, attempt, storey) {
  const { track, pairs } = attempt, { reference } = task(), step = stepAt(attempt, state.time);
  const shift = shiftOf(attempt, task().attempts.length);
  pen.strokeStyle = "rgb(40 40 40 / 0.55)"; pen.lineWidth = 1;
  pen.beginPath();
  for (let k = 0; k < pairs.length && pairs[k] <= step; k += 2) {
    const [i, j] = [pairs[k], pairs[k + 1]];
    if (track.storey[i] !== storey || reference.storey[j] !== storey) continue;
    pen.moveTo(f.x(track.x[i]) + shift, f.y(track.y[i]) + shift);
    pen.lineTo(f.x(reference.x[j]), f.y(reference.y[j]));
  }
  pen.stroke();
}

function drawAttempt(pen, f, attempt, storey, count) {
  const { track } = attempt, pose = poseAt(attempt, state.time), colour = colourOf(attempt.agent);
  const shift = shiftOf(attempt, count), jumps = new Set(attempt.jumps);
  const acting = (k) => phaseAt(attempt, k) !== 0 || jumps.has(k);
  const led = (k) => phaseAt(attempt, k) === 0 || jumps.has(k);
  const moving = pose.storey === storey && track.storey[pose.step] === storey ? pose : null;
  const next = Math.min(pose.step + 1, track.x.length - 1), ledNow = phaseAt(attempt, next) !== 0;
  pen.globalAlpha = 0.28;
  line(pen, f, track, storey, { colour, width: 2, dash: [] }, { from: pose.step, skip: acting, shift });
  if (shown("led")) line(pen, f, track, storey, { colour, width: 2, dash: LED }, { from: pose.step, skip: led, shift });
  pen.globalAlpha = 1;
  line(pen, f, track, storey, { colour, width: 3.6, dash: [] }, { to: pose.step, skip: acting, shift, cased: true, end: ledNow ? null : moving });
  if (shown("led")) line(pen, f, track, storey, { colour, width: 2.4, dash: LED }, { to: pose.step, skip: led, shift, cased: true, end: ledNow ? moving : null });
  // Where it said stop.
  const last = attempt.phases.length ? attempt.phases.lastIndexOf(0) : track.x.length - 1;
  if (last >= 0 && last <= pose.step && track.storey[last] === storey) {
    const [x, y] = [f.x(track.x[last]) + shift, f.y(track.y[last]) + shift];
    pen.fillStyle = "#ffffff"; pen.fillRect(x - 6, y - 6, 12, 12);
    pen.fillStyle = colour; pen.fillRect(x - 4, y - 4, 8, 8);
  }
}

function drawBody(pen, f, attempt, storey, count) {
  const pose = poseAt(attempt, state.time), shift = shiftOf(attempt, count);
  const [x, y] = [f.x(pose.x) + shift, f.y(pose.y) + shift];
  pen.globalAlpha = pose.storey === storey ? 1 : 0.35;
  if (pose.heading !== null) {
    const angle = (-pose.heading * Math.PI) / 180;
    pen.beginPath(); pen.moveTo(x, y); pen.arc(x, y, 24, angle - 0.55, angle + 0.55); pen.closePath();
    pen.fillStyle = colourOf(attempt.agent); pen.globalAlpha *= 0.35; pen.fill(); pen.globalAlpha = pose.storey === storey ? 1 : 0.35;
  }
  ring(pen, x, y, 9, colourOf(attempt.agent), "#ffffff", 2.5);
  pen.fillStyle = "#ffffff"; pen.font = "700 11px system-ui, sans-serif"; pen.textAlign = "center"; pen.textBaseline = "middle";
  pen.fillText(String(attempt.agent + 1), x, y + 0.5);
  pen.globalAlpha = 1;
}

// What changes beside the map

let spans = [];

function showWords() {
  const box = at("words");
  box.textContent = "";
  box.lang = /^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/.test(task().language) ? task().language : "";
  spans = [];
  for (const [text, first, last] of task().words) {
    if (first < 0) { box.append(text); continue; }
    const span = document.createElement("span");
    span.className = "word";
    span.textContent = text;
    spans.push({ span, first, last });
    box.append(span);
  }
  at("told").hidden = !task().words.length;
  box.scrollTop = 0;
}

function markWords() {
  const attempt = watched();
  if (!attempt || !spans.length) return;
  const [first, last] = metAt(attempt, stepAt(attempt, state.time));
  let leading = null;
  for (const word of spans) {
    const now = word.first <= last && word.last >= first;
    word.span.classList.toggle("now", now);
    word.span.classList.toggle("done", !now && word.last < first);
    if (now && !leading) leading = word.span;
  }
  const box = at("words");
  if (leading && (leading.offsetTop - box.offsetTop < box.scrollTop || leading.offsetTop - box.offsetTop + 24 > box.scrollTop + box.clientHeight)) {
    box.scrollTop = leading.offsetTop - box.offsetTop - 12;
  }
}

function showPicture() {
  const attempt = watched(), figure = at("seen");
  figure.hidden = !anywhere((one) => one.frames.length);
  if (figure.hidden || !attempt) return;
  const step = stepAt(attempt, state.time);
  let seen = attempt.frames[0];
  for (const one of attempt.frames) if (one[0] <= step) seen = one;
  const picture = at("picture"), source = seen ? `data:image/jpeg;base64,${seen[1]}` : "";
  if (source && picture.getAttribute("src") !== source) picture.src = source;
  picture.alt = seen ? `What agent ${attempt.agent + 1} sees at step ${seen[0]}` : "No picture of this walk";
  at("caption").textContent = seen ? `What ${brief(replay.agents[attempt.agent], 40)} sees, step ${seen[0]}` : "";
}

const told = (time) => (replay.unit === "s" ? `${time.toFixed(1)} s` : String(Math.floor(time + 1e-6)));

function showNow(storey) {
  const attempt = watched(), end = duration();
  at("clock").textContent = replay.unit === "s" ? `${told(state.time)} of ${told(end)}` : `step ${told(state.time)} of ${told(end)}`;
  const parts = [];
  if (attempt) {
    const pose = poseAt(attempt, state.time), away = attempt.away.length ? attempt.away[pose.step] : -1;
    const over = state.time >= lastTime(attempt);
    parts.push(`${brief(replay.agents[attempt.agent], 40)}: ${over && phaseAt(attempt, pose.step) === 0 ? attempt.ending : PHASES[phaseAt(attempt, pose.step)]}`);
    if (away >= 0) parts.push(`${(away / 100).toFixed(1)} m to the goal`);
    if (place().storeys.length > 1) parts.push(place().storeys[pose.storey].name);
    walksCanvas.dataset.step = pose.step; walksCanvas.dataset.x = Math.round(pose.x); walksCanvas.dataset.y = Math.round(pose.y);
  }
  walksCanvas.dataset.storey = storey;
  at("now").textContent = parts.join(" · ");
  at("time").setAttribute("aria-valuetext", at("clock").textContent);
  walksCanvas.setAttribute("aria-label", `Map of ${place().id}, ${place().storeys[storey].name}. ${at("now").textContent}`);
}

function brief(text, most) {
  const letters = Array.from(text);
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : text;
}

// A choice with its label; the input is first, so that it is what a reader meets.
function choice(kind, name, { checked, text, sign, act }) {
  const label = document.createElement("label"), input = document.createElement("input");
  Object.assign(input, { type: kind, name, checked });
  input.addEventListener("change", act);
  label.append(input, ...(sign ? [sign] : []), text);
  return label;
}

function swatch({ colour, width, dash, band, heights = [6], mark = "" }) {
  const picture = svg("svg", { viewBox: "0 0 32 12", class: "swatch", "aria-hidden": "true" });
  const level = (y) => ({ x1: 1, x2: 31, y1: y, y2: y });
  if (band) picture.append(svg("line", { ...level(6), stroke: band, "stroke-width": 10 }));
  for (const y of heights) picture.append(svg("line", { ...level(y), stroke: colour, "stroke-width": width, "stroke-dasharray": dash.join(" ") }));
  if (mark) {
    const sign = svg("text", { x: 16, y: 11, "text-anchor": "middle", "font-size": 13 });
    sign.textContent = mark;
    picture.append(sign);
  }
  return picture;
}

function svg(name, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

const SIGNS = {
  ...STYLES,
  goal: { colour: "transparent", width: 0, dash: [], mark: "★" },
  pairs: { colour: "#555", width: 1, dash: [], heights: [2, 6, 10] },
  led: { colour: AGENTS[0], width: 2.4, dash: LED },
  earlier: { colour: "#a9c8de", width: 3, dash: [] },
  graph: { colour: "#8aa0b5", width: 1.2, dash: [] },
  names: { colour: "transparent", width: 0, dash: [], mark: "Aa" },
};

function showLayers() {
  const box = at("layers");
  box.replaceChildren(box.firstElementChild);
  for (const layer of layers.filter((one) => one.has(task()))) {
    const text = document.createElement("span");
    text.textContent = layer.text;
    box.append(choice("checkbox", layer.key, { checked: layer.on, text, sign: swatch(SIGNS[layer.key]), act: (event) => { layer.on = event.target.checked; floorKey = ""; render(); } }));
  }
}

function showAgents() {
  const box = at("agents");
  box.replaceChildren(box.firstElementChild);
  for (const attempt of task().attempts) {
    const badge = document.createElement("span"), who = document.createElement("span");
    const name = document.createElement("bdi"), how = document.createElement("span");
    badge.className = "badge"; badge.textContent = attempt.agent + 1; badge.style.background = colourOf(attempt.agent);
    who.className = "who"; name.className = "name"; how.className = "how";
    name.textContent = replay.agents[attempt.agent];
    const arrived = attempt.arrived === null ? [attempt.ending] : [attempt.arrived ? "✓ arrived" : "✗ missed the goal"];
    how.textContent = [...arrived, ...attempt.measures.map(([metric, value]) => `${metric} ${value}`)].join(" · ");
    who.append(name, how);
    for (const [metric, value] of (replay.tour_measures[attempt.agent] || []).slice(0, 1)) {
      const tour = document.createElement("span");
      tour.className = "how"; tour.textContent = `whole tour: ${metric} ${value}`;
      who.append(tour);
    }
    box.append(choice("radio", "agent", { checked: attempt === watched(), text: who, sign: badge, act: () => { state.agent = attempt.agent; floorKey = ""; render(); } }));
  }
  at("fastest").hidden = !task().fastest_seconds;
  at("fastest").textContent = `The fastest possible time: ${task().fastest_seconds}`;
}

function showStoreys() {
  const box = at("storeys"), storeys = place().storeys;
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
  const storey = storeyNow(), f = frame();
  const key = [state.task, state.agent, storey, f.width, f.height, sharpness, JSON.stringify(state.view)].join();
  if (key !== floorKey) { floorKey = key; drawFloor(storey); }
  drawWalks(storey);
  [...at("storeys").querySelectorAll("label")].forEach((label, k) => label.classList.toggle("here", k === storey + 1));
  at("time").value = state.time;
  showNow(storey); markWords(); showPicture();
}

function goTo(number, time = 0) {
  const before = task().place;
  state.task = Math.min(Math.max(0, number), replay.tasks.length - 1);
  if (before !== task().place) state.view = null;
  at("episode").value = state.task;
  at("previous").disabled = state.task === 0;
  at("next").disabled = state.task === replay.tasks.length - 1;
  Object.assign(at("time"), { max: duration(), step: replay.unit === "s" ? 0.1 : 1 });
  showWords(); showLayers(); showAgents(); showStoreys();
  floorKey = "";
  setTime(time);
}

function setTime(time) {
  state.time = Math.min(Math.max(0, time), duration());
  keepInSight();
  render();
}

// Who is watched stays on a map that is zoomed in.
function keepInSight() {
  if (!state.view || !watched()) return;
  const f = frame(), pose = poseAt(watched(), state.time), [x, y] = [f.x(pose.x) / f.width, f.y(pose.y) / f.height];
  if (x < 0.12 || x > 0.88 || y < 0.12 || y > 0.88) state.view = { ...state.view, x: pose.x, y: pose.y };
}

function stepBy(count) {
  const attempt = watched();
  if (replay.unit !== "s" || !attempt) return setTime(Math.floor(state.time + 1e-6) + count);
  const step = Math.min(Math.max(0, stepAt(attempt, state.time) + count), attempt.clock.length - 1);
  return setTime(attempt.clock[step]);
}

let before = null, rest = 0;

function play(on) {
  state.playing = on;
  at("play").textContent = on ? "Pause" : "Play";
  // A voice that reads every step would never come to an end.
  at("now").setAttribute("aria-live", on ? "off" : "polite");
  if (!on) return;
  if (state.time >= duration()) { if (state.task < replay.tasks.length - 1 && replay.tour !== "") goTo(state.task + 1); else state.time = 0; }
  before = null; rest = 0;
  requestAnimationFrame(tick);
}

function tick(now) {
  if (!state.playing) return;
  const passed = before === null ? 0 : Math.min(0.25, (now - before) / 1000);
  before = now;
  if (state.time < duration()) setTime(state.time + passed * RATE * state.speed);
  else if ((rest += passed) > 0.9) {
    // A moment to look at how it ended.
    if (state.task === replay.tasks.length - 1) return play(false);
    rest = 0; goTo(state.task + 1);
  }
  requestAnimationFrame(tick);
}

function zoom(factor, x = null, y = null) {
  const f = frame(), [x0, y0, x1, y1] = place().bounds;
  const view = state.view || { zoom: 1, x: (x0 + x1) / 2, y: (y0 + y1) / 2 };
  const larger = Math.min(12, Math.max(1, view.zoom * factor)), part = view.zoom / larger;
  const pose = watched() ? poseAt(watched(), state.time) : { x: view.x, y: view.y };
  const [px, py] = x === null ? [f.x(pose.x), f.y(pose.y)] : [x, y];
  const [cx, cy] = [view.x + (px - f.width / 2) / f.scale, view.y - (py - f.height / 2) / f.scale];
  state.view = larger === 1 ? null : { zoom: larger, x: cx + (view.x - cx) * part, y: cy + (view.y - cy) * part };
  walksCanvas.classList.toggle("moved", state.view !== null);
  render();
}

const KEYS = {
  " ": () => play(!state.playing),
  ArrowRight: (event) => stepBy(event.shiftKey ? 10 : 1),
  ArrowLeft: (event) => stepBy(event.shiftKey ? -10 : -1),
  Home: () => setTime(0),
  End: () => setTime(duration()),
  "[": () => goTo(state.task - 1),
  "]": () => goTo(state.task + 1),
  "+": () => zoom(1.4),
  "=": () => zoom(1.4),
  "-": () => zoom(1 / 1.4),
  "0": () => { state.view = null; zoom(1); },
};

document.addEventListener("keydown", (event) => {
  // Many keyboards have brackets on a key's third level only.
  const commanded = (event.ctrlKey || event.altKey || event.metaKey) && !event.getModifierState("AltGraph");
  if (commanded || !KEYS[event.key]) return;
  const target = event.target;
  // Lists and what scrolls keep the keys they know, choices their arrows, buttons the space bar.
  if (target.matches("select, #words") && (event.key.length > 1 || event.key === " ")) return;
  if (target.matches("input[type=radio]") && event.key.startsWith("Arrow")) return;
  if (target.matches("button, summary, input[type=checkbox]") && event.key === " ") return;
  event.preventDefault();
  KEYS[event.key](event);
});

at("play").addEventListener("click", () => play(!state.playing));
at("time").addEventListener("input", (event) => setTime(Number(event.target.value)));
at("speed").addEventListener("change", (event) => { state.speed = Number(event.target.value); });
at("episode").addEventListener("change", (event) => goTo(Number(event.target.value)));
at("previous").addEventListener("click", () => goTo(state.task - 1));
at("next").addEventListener("click", () => goTo(state.task + 1));
at("closer").addEventListener("click", () => zoom(1.4));
at("farther").addEventListener("click", () => zoom(1 / 1.4));
at("whole").addEventListener("click", () => KEYS["0"]());

walksCanvas.addEventListener("wheel", (event) => {
  if (!wide.matches) return; // there the page itself is scrolled
  event.preventDefault();
  zoom(Math.exp(-event.deltaY / 400), event.offsetX, event.offsetY);
}, { passive: false });

let held = null;
walksCanvas.addEventListener("pointerdown", (event) => {
  if (!state.view) return;
  held = { x: event.clientX, y: event.clientY, view: { ...state.view } };
  walksCanvas.setPointerCapture(event.pointerId);
  walksCanvas.classList.add("held");
});
walksCanvas.addEventListener("pointermove", (event) => {
  if (!held) return;
  const { scale } = frame();
  state.view = { ...held.view, x: held.view.x - (event.clientX - held.x) / scale, y: held.view.y + (event.clientY - held.y) / scale };
  render();
});
for (const name of ["pointerup", "pointercancel"]) walksCanvas.addEventListener(name, () => { held = null; walksCanvas.classList.remove("held"); });

new ResizeObserver(() => render()).observe(stage);
window.addEventListener("beforeprint", () => { sharpness = 3; render(); });
window.addEventListener("afterprint", () => { sharpness = 1; render(); });

// A link may name an episode: replay.html#4332_1
function named() {
  let wanted = "";
  try { wanted = decodeURIComponent(location.hash.slice(1)); } catch { return 0; }
  return Math.max(0, replay.tasks.findIndex((one) => one.id === wanted));
}
window.addEventListener("hashchange", () => goTo(named()));

at("title").textContent = replay.title;
replay.tasks.forEach((one, k) => {
  const option = document.createElement("option");
  option.value = k;
  const ended = one.attempts.map((attempt) => (attempt.arrived === null ? "" : attempt.arrived ? "✓" : "✗")).join("");
  option.textContent = `${replay.tasks.length > 1 ? `${k + 1} of ${replay.tasks.length}: ` : ""}${brief(one.id, 40)} ${ended}`;
  at("episode").append(option);
});
at("previous").hidden = at("next").hidden = replay.tasks.length < 2;
goTo(named());
