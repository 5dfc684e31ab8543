// The page: state, camera, panels, keyboard, mouse and touch. All data are in the JSON element above.

const data = JSON.parse(document.getElementById("walkthrough").textContent);
const byId = (id) => document.getElementById(id);
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const stage = byId("stage"), canvas = byId("scene"), names = byId("names");
const { graph, rooms, storeys, episodes } = data;
const WALKING = 1.5, TURNING = 1.9; // metres and radians per second
const STRIDE = 0.3, TURN = Math.PI / 12; // of one press of a key
const BODY = 0.2; // metres that a walker keeps from walls
const WHOLE = 1e6; // the cut of a house that is not cut
const START_ELEVATION = -0.1;

let mesh = null, renderer = null, ground = () => null, framed = ""; // the dollhouse camera that shows the whole house
const firstRoom = Math.max(0, rooms.findIndex((room) => room.viewpoint >= 0));
const state = {
  mode: "dollhouse", storey: 0, // index, or "all" for the house with its roof
  feet: [0, 0, 0], heading: 0, elevation: START_ELEVATION,
  mood: data.light ? data.light.moods[0].name : "even", orbit: null, flight: null, episode: -1, time: 0, playing: false,
};
const layers = [
  { key: "graph", text: "viewpoints and edges", on: true },
  { key: "path", text: "reference path of the episode", on: true },
  { key: "names", text: "room names", on: true },
  { key: "textures", text: "textures", on: true },
];
const isShown = (key) => layers.some((layer) => layer.key === key && layer.on);
const node = (k) => [graph.x[k], graph.y[k], graph.z[k]];
const episode = () => (state.episode < 0 ? null : episodes[state.episode]);

// Places

const storeyAt = (z) => Math.max(0, storeys.findLastIndex((storey) => z > storey.floor - 0.3));

function roomAt([x, y, z]) {
  const here = rooms.filter((room) => inPolygon(room.outline, x, y) && room.floor < z + 0.4);
  return here.reduce((best, room) => (!best || room.floor > best.floor ? room : best), null);
}

function nearestViewpoint(place, within) {
  let best = -1, nearest = within;
  graph.ids.forEach((_, k) => { const away = Math.hypot(...minus(node(k), place)); if (away < nearest) { nearest = away; best = k; } });
  return best;
}

// Cameras

function fieldOfView() {
  const aspect = stage.clientWidth / Math.max(1, stage.clientHeight), across = 1.25; // radians
  return clamp(2 * Math.atan(Math.tan(across / 2) / aspect), 0.95, 1.5);
}

const walkerCamera = () => ({ eye: [state.feet[0], state.feet[1], state.feet[2] + data.eye_height], heading: state.heading, elevation: state.elevation, fov: fieldOfView() });

function orbitCamera() {
  const { at, distance, heading, elevation } = state.orbit;
  return { eye: minus(at, direction(heading, elevation).map((value) => value * distance)), heading, elevation, fov: 0.8 };
}

const goalCamera = () => (state.mode === "walk" ? walkerCamera() : orbitCamera());

function cameraNow(now) {
  const to = goalCamera(), flight = state.flight;
  if (!flight) return to;
  const part = clamp((now - flight.begin) / flight.duration, 0, 1), s = part * part * (3 - 2 * part);
  if (part >= 1) { state.flight = null; return to; }
  const from = flight.from;
  return {
    eye: mix(from.eye, to.eye, s), fov: from.fov + s * (to.fov - from.fov),
    heading: from.heading + s * turnTo(from.heading, to.heading), elevation: from.elevation + s * (to.elevation - from.elevation),
  };
}

// From the camera of now to that of the changed state.
function fly(change) {
  const from = cameraNow(performance.now()), cut = cutNow();
  change();
  const length = Math.hypot(...minus(goalCamera().eye, from.eye));
  state.flight = calm.matches || document.hidden ? null : { from, cut, begin: performance.now(), duration: clamp(300 + 110 * length, 350, 1300) };
  render();
}

function cutNow() {
  const goal = state.mode === "walk" || state.storey === "all" ? WHOLE : storeys[state.storey].cut, flight = state.flight;
  // The roof of a house closes when the camera is inside.
  return flight && flight.cut < goal && performance.now() - flight.begin < 0.7 * flight.duration ? flight.cut : goal;
}

function wholeHouse() {
  const { low, size } = data.mesh, storey = state.storey === "all" ? null : storeys[state.storey];
  const z = storey ? storey.floor : low[2] + size[2] / 3, aspect = stage.clientWidth / Math.max(1, stage.clientHeight);
  const heading = state.orbit ? state.orbit.heading : size[0] > size[1] === aspect > 1 ? 1.1 : 0.35;
  // The house must fit: its extent across the view, and along it, foreshortened.
  const [c, s] = [Math.abs(Math.cos(heading)), Math.abs(Math.sin(heading))], elevation = storey ? -0.95 : -0.5;
  const across = size[0] * s + size[1] * c, along = (size[0] * c + size[1] * s) * Math.sin(-elevation) + size[2] * Math.cos(elevation);
  const distance = (1.02 * Math.max(along, across / aspect)) / (2 * Math.tan(0.4)) + 0.12 * Math.hypot(size[0], size[1]);
  state.orbit = { at: [low[0] + size[0] / 2, low[1] + size[1] / 2, z], distance, heading, elevation };
  framed = JSON.stringify(state.orbit);
}

// A stage of another size needs another distance, unless somebody has moved the house.
function resize() {
  if (JSON.stringify(state.orbit) === framed) wholeHouse();
  render();
}

// Going to places

function goTo(feet, heading = state.heading, elevation = START_ELEVATION) {
  fly(() => { Object.assign(state, { feet: [...feet], heading, elevation }); setMode("walk"); });
}

function goToViewpoint(k) {
  const away = minus(node(k), state.feet), turned = state.mode === "walk" && Math.hypot(away[0], away[1]) > 0.3;
  goTo(node(k), turned ? Math.atan2(away[1], away[0]) : state.heading);
}

function goToRoom(room) {
  play(false);
  if (room.viewpoint >= 0) goTo(node(room.viewpoint), room.heading);
  else goTo([room.x, room.y, room.floor]);
}

function walkBy(ahead, aside) {
  const [c, s] = [Math.cos(state.heading), Math.sin(state.heading)], [x, y, z] = state.feet;
  const step = [ahead * c + aside * s, ahead * s - aside * c], length = Math.hypot(...step);
  if (!length) return;
  // Where both ways are blocked, slide along the wall.
  for (const [u, v] of [step, [step[0], 0], [0, step[1]]]) {
    const part = Math.hypot(u, v);
    if (part < 1e-6) continue;
    const reach = (part + BODY) / part, found = ground(x + u, y + v, z);
    if (found === null || ground(x + u * reach, y + v * reach, found) === null) continue;
    state.feet = [x + u, y + v, calm.matches ? found : z + clamp(found - z, -0.75 * part - 0.02, 0.75 * part + 0.02)];
    return;
  }
}

function setMode(mode) {
  state.mode = mode;
  stage.classList.toggle("walking", mode === "walk");
  byId("storeys").hidden = mode === "walk";
  byId("modes").querySelectorAll("input").forEach((input) => { input.checked = input.value === mode; });
}

function switchMode(mode) {
  if (mode === state.mode) return;
  fly(() => {
    setMode(mode);
    if (mode === "dollhouse") { setStorey(storeyAt(state.feet[2])); wholeHouse(); }
    else if (episode()) setTime(state.time);
  });
}

function setStorey(storey) {
  state.storey = storey;
  byId("storeys").querySelectorAll("input").forEach((input) => { input.checked = input.value === String(storey); });
}

function zoom(factor) {
  if (state.mode === "walk") { walkBy(factor < 1 ? STRIDE : -STRIDE, 0); return render(); }
  state.orbit.distance = clamp(state.orbit.distance * factor, 1.5, 150);
  return render();
}

// Episodes

const pathPoints = (one) => (one.path.length ? one.path : [one.start]).map(node);
const lastTime = () => (episode() ? Math.max(0, episode().path.length - 1) : 0);

function poseOnPath(time) {
  const points = pathPoints(episode()), k = Math.min(Math.floor(time), points.length - 1), next = Math.min(k + 1, points.length - 1);
  const feet = mix(points[k], points[next], time - k);
  if (time <= 0) return { feet, heading: episode().heading, slope: 0 };
  // Looks at the point of the path a little ahead.
  let ahead = points[next], rest = 1.0 - Math.hypot(...minus(points[next], feet));
  for (let j = next + 1; j < points.length && rest > 0; j++) {
    const leg = Math.hypot(...minus(points[j], points[j - 1]));
    ahead = mix(points[j - 1], points[j], Math.min(1, rest / (leg || 1)));
    rest -= leg;
  }
  let way = minus(ahead, feet);
  if (Math.hypot(way[0], way[1]) < 0.3) way = minus(points[points.length - 1], points[Math.max(0, points.length - 2)]);
  return { feet, heading: Math.atan2(way[1], way[0]), slope: Math.atan2(way[2], Math.hypot(way[0], way[1]) || 1) };
}

// Moves the follower; the camera of a walker goes along, turning at most this many radians.
function setTime(time, turn = Math.PI) {
  if (!episode()) return;
  state.time = clamp(time, 0, lastTime());
  const pose = poseOnPath(state.time);
  if (state.mode === "walk") {
    state.feet = pose.feet;
    state.heading += clamp(turnTo(state.heading, pose.heading), -turn, turn);
    state.elevation += clamp(START_ELEVATION + 0.75 * pose.slope - state.elevation, -turn, turn);
  } else if (state.storey !== "all") setStorey(storeyAt(pose.feet[2]));
  renderer?.setLayer("body", state.time > 0 || state.playing ? bodyTriangles(pose.feet, pose.heading) : new Triangles());
  byId("time").value = state.time;
  markWords();
  render();
}

function chooseEpisode(k) {
  play(false);
  state.episode = clamp(k, -1, episodes.length - 1);
  state.time = 0;
  byId("episode").value = state.episode;
  byId("previous").disabled = state.episode <= 0;
  byId("next").disabled = state.episode >= episodes.length - 1;
  const one = episode();
  byId("task").hidden = !one;
  renderer?.setLayer("path", one ? pathTriangles(pathPoints(one)) : new Triangles());
  renderer?.setLayer("body", new Triangles());
  canvas.dataset.path = one ? one.path.length : 0;
  if (!one) return render();
  byId("withheld").hidden = one.path.length > 1;
  byId("controls").hidden = one.path.length < 2;
  byId("time").max = lastTime();
  showWords(one);
  return fly(() => setTime(0));
}

let spans = [];

function showWords(one) {
  const box = byId("words");
  box.textContent = "";
  box.lang = /^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/.test(one.language) ? one.language : "";
  spans = [];
  for (const [text, first, last] of one.instruction) {
    if (first < 0) { box.append(text); continue; }
    const span = document.createElement("span");
    span.className = "word";
    span.textContent = text;
    spans.push({ span, first, last });
    box.append(span);
  }
  box.hidden = !one.instruction.length;
  box.scrollTop = 0;
}

function markWords() {
  const at = Math.round(state.time), box = byId("words");
  let current = null;
  for (const { span, first, last } of spans) {
    const now = first <= at && at <= last;
    span.classList.toggle("now", now);
    span.classList.toggle("done", last < at);
    if (now) current ??= span;
  }
  byId("clock").textContent = `${at + 1} of ${lastTime() + 1}`;
  byId("time").setAttribute("aria-valuetext", `viewpoint ${at + 1} of ${lastTime() + 1}`);
  if (!current) return;
  const top = current.offsetTop - box.offsetTop;
  if (top < box.scrollTop || top + 24 > box.scrollTop + box.clientHeight) box.scrollTop = top - 12;
}

let resting = 0;

function play(on) {
  on = on && episode() !== null && lastTime() > 0;
  state.playing = on;
  byId("play").textContent = on ? "Pause" : "Follow";
  // A screen reader would read every step.
  byId("now").setAttribute("aria-live", on ? "off" : "polite");
  resting = 0;
  if (!on) return;
  if (state.time >= lastTime()) fly(() => setTime(0));
  else if (state.mode === "walk") fly(() => setTime(state.time));
  render();
}

function advance(seconds) {
  if (state.flight) return;
  const points = pathPoints(episode()), k = Math.min(Math.floor(state.time), points.length - 2);
  if (calm.matches) {
    // From viewpoint to viewpoint, without motion.
    if ((resting += seconds) > 1.2) { resting = 0; setTime(Math.floor(state.time) + 1); }
  } else {
    const pose = poseOnPath(Math.max(1e-6, state.time)), behind = Math.abs(turnTo(state.heading, pose.heading));
    const slow = state.mode === "walk" ? clamp(1.2 - behind, 0.05, 1) : 1; // turns first, then walks
    setTime(state.time + (WALKING * slow * seconds) / Math.max(0.3, Math.hypot(...minus(points[k + 1], points[k]))), TURNING * seconds);
  }
  if (state.time >= lastTime()) play(false);
}

// Drawing: only when something changed

let asked = false, lastFrame = null, sharpness = 1;

function render() {
  if (asked || !renderer || document.hidden) return;
  asked = true;
  requestAnimationFrame(frame);
}

function frame(now) {
  asked = false;
  const seconds = lastFrame === null ? 0 : Math.min(0.1, (now - lastFrame) / 1000);
  lastFrame = now;
  if (state.playing) advance(seconds);
  walkByKeys(now, seconds);
  drawFrame(performance.now());
  if (state.playing || state.flight || held.size) render(); else lastFrame = null;
}

function drawFrame(now) {
  const width = stage.clientWidth, height = stage.clientHeight, ratio = Math.min(2, window.devicePixelRatio || 1) * sharpness;
  for (const one of [canvas, names]) {
    const [columns, rows] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
    if (one.width !== columns || one.height !== rows) { one.width = columns; one.height = rows; }
  }
  const camera = cameraNow(now), cut = cutNow(), dollhouse = state.mode === "dollhouse";
  const shown = [...(isShown("graph") ? [["graph", 0]] : []), ...(isShown("path") ? [["path", dollhouse ? 0.6 : 0.3]] : []), ...(dollhouse && isShown("path") ? [["body", 0.7]] : [])];
  renderer.draw(camera, { cut, textured: isShown("textures"), mood: state.mood, plain: cut < WHOLE, layers: shown });
  const pen = names.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  if (isShown("names") && dollhouse && state.storey !== "all" && !state.flight) {
    drawNames(pen, rooms, state.storey, projection(camera, width, height, NEAR, FAR), width, height);
  }
  showNow(camera);
}

function showNow(camera) {
  const walking = state.mode === "walk", room = walking ? roomAt(state.feet) : null, viewpoint = walking ? nearestViewpoint(state.feet, 0.15) : -1;
  const storey = walking ? storeyAt(state.feet[2]) : state.storey, place = storey === "all" ? "whole house" : storeys[storey].name;
  const parts = walking ? [room ? shorten(room.name, 40) : "between rooms", ...(storeys.length > 1 ? [place] : [])] : ["Dollhouse", place];
  if (walking && viewpoint >= 0) parts.push(`viewpoint ${shorten(graph.ids[viewpoint], 12)}`);
  if (byId("now").textContent !== parts.join(" · ")) byId("now").textContent = parts.join(" · ");
  canvas.setAttribute("aria-label", `3D view of ${shorten(data.title, 60)}: ${parts.join(", ")}`);
  for (const button of byId("rooms").querySelectorAll("button")) button.setAttribute("aria-current", String(room !== null && rooms[button.value] === room));
  const [x, y, z] = camera.eye.map((value) => value.toFixed(3));
  Object.assign(canvas.dataset, { x, y, z, heading: camera.heading.toFixed(3), elevation: camera.elevation.toFixed(3), mode: state.mode, mood: state.mood, storey: String(storey), viewpoint: viewpoint < 0 ? "" : graph.ids[viewpoint], time: state.time.toFixed(2), flying: state.flight ? "1" : "", drawn: "1" });
}

// Panels

function shorten(text, most) {
  const letters = Array.from(text);
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : text;
}

function choice(kind, name, { value = "on", checked, text, act }) {
  const label = document.createElement("label"), input = document.createElement("input");
  Object.assign(input, { type: kind, name, value, checked });
  input.addEventListener("change", act);
  label.append(input, text);
  return label;
}

function showPanels() {
  byId("title").textContent = data.title;
  for (const [value, text] of [["dollhouse", "Dollhouse"], ["walk", "Walk"]]) byId("modes").append(choice("radio", "mode", { value, checked: value === state.mode, text, act: () => { play(false); switchMode(value); } }));
  for (const [value, text] of [...storeys.map((storey, k) => [k, storey.name]), ["all", "with roof"]]) {
    byId("storeys").append(choice("radio", "storey", { value, checked: value === state.storey, text, act: () => fly(() => { play(false); setStorey(value); wholeHouse(); }) }));
  }
  for (const layer of layers) {
    if ((layer.key === "path" && !episodes.length) || (layer.key === "textures" && !data.textures.length)) continue;
    byId("layers").append(choice("checkbox", layer.key, { checked: layer.on, text: layer.text, act: (event) => { layer.on = event.target.checked; render(); } }));
  }
  const moods = [...(data.light ? data.light.moods.map((mood) => mood.name) : []), "even"];
  byId("light").hidden = moods.length < 2;
  for (const value of moods) byId("moods").append(choice("radio", "mood", { value, checked: value === state.mood, text: value, act: () => { state.mood = value; render(); } }));
  storeys.forEach((storey, k) => showRooms(storey, k));
  showEpisodes();
}

function showRooms(storey, level) {
  const head = document.createElement("h3"), list = document.createElement("ul");
  head.textContent = storey.name;
  rooms.forEach((room, k) => {
    if (room.storey !== level) return;
    const item = document.createElement("li"), button = document.createElement("button");
    Object.assign(button, { type: "button", value: k, textContent: room.name });
    button.addEventListener("click", () => goToRoom(room));
    item.append(button);
    list.append(item);
  });
  byId("rooms").append(...(storeys.length > 1 ? [head, list] : [list]));
}

function showEpisodes() {
  const select = byId("episode"), groups = new Map();
  byId("follow").hidden = !episodes.length;
  const option = (value, text) => Object.assign(document.createElement("option"), { value, textContent: text });
  select.append(option(-1, `Choose one of ${episodes.length}`));
  episodes.forEach((one, k) => {
    if (!groups.has(one.group)) {
      groups.set(one.group, Object.assign(document.createElement("optgroup"), { label: one.group }));
      select.append(groups.get(one.group));
    }
    const words = one.instruction.map(([text]) => text).join("").replace(/\s+/g, " ");
    groups.get(one.group).append(option(k, `${shorten(one.id, 24)}: ${shorten(words, 60)}`));
  });
  byId("next").disabled = !episodes.length;
  byId("previous").disabled = true;
}

// Keyboard: a press is one step; a key that is held walks on.

const held = new Map(); // keys and the time they were pressed
const MOVES = {
  w: (n) => walkBy(n * STRIDE, 0), s: (n) => walkBy(-n * STRIDE, 0), a: (n) => walkBy(0, -n * STRIDE), d: (n) => walkBy(0, n * STRIDE),
  arrowup: (n) => walkBy(n * STRIDE, 0), arrowdown: (n) => walkBy(-n * STRIDE, 0),
  arrowleft: (n) => { state.heading += n * TURN; }, arrowright: (n) => { state.heading -= n * TURN; },
  r: (n) => tilt(n * TURN), f: (n) => tilt(-n * TURN),
};
const ORBITS = {
  arrowleft: (n) => { state.orbit.heading -= n * TURN; }, arrowright: (n) => { state.orbit.heading += n * TURN; },
  arrowup: (n) => tilt(-n * TURN), arrowdown: (n) => tilt(n * TURN), r: (n) => tilt(-n * TURN), f: (n) => tilt(n * TURN),
  w: (n) => shift(0, n), s: (n) => shift(0, -n), a: (n) => shift(-n, 0), d: (n) => shift(n, 0),
};
const KEYS = {
  " ": () => play(!state.playing), "[": () => chooseEpisode(Math.max(0, state.episode - 1)), "]": () => chooseEpisode(state.episode + 1),
  v: () => { play(false); switchMode(state.mode === "walk" ? "dollhouse" : "walk"); },
  "+": () => zoom(1 / 1.25), "=": () => zoom(1 / 1.25), "-": () => zoom(1.25), 0: () => showWhole(),
};
const moves = () => (state.mode === "walk" ? MOVES : ORBITS);

function tilt(angle) {
  if (state.mode === "walk") state.elevation = clamp(state.elevation + angle, -1.3, 1.3);
  else state.orbit.elevation = clamp(state.orbit.elevation + angle, -1.55, -0.08);
}

// Moves the dollhouse by tenths of the distance, along the axes of the view.
function shift(right, up) {
  const { heading, distance } = state.orbit, by = 0.05 * distance, [c, s] = [Math.cos(heading), Math.sin(heading)];
  const { low, size } = data.mesh, at = state.orbit.at;
  at[0] = clamp(at[0] + by * (right * s + up * c), low[0], low[0] + size[0]);
  at[1] = clamp(at[1] + by * (up * s - right * c), low[1], low[1] + size[1]);
}

function showWhole() {
  play(false);
  fly(() => { if (state.mode === "walk") setStorey(storeyAt(state.feet[2])); setMode("dollhouse"); wholeHouse(); });
}

function press(key) {
  if (held.has(key)) return;
  play(false);
  state.flight = null;
  held.set(key, performance.now());
  moves()[key](1);
  render();
}

function walkByKeys(now, seconds) {
  for (const [key, since] of held) {
    // In steps only, without smooth motion.
    const wait = calm.matches ? 400 : 180;
    if (now - since < wait || !moves()[key]) continue;
    if (calm.matches) { held.set(key, now); moves()[key](1); continue; }
    moves()[key](key.includes("left") || key.includes("right") || key === "r" || key === "f" || state.mode !== "walk" ? (TURNING * seconds) / TURN / 1.6 : (WALKING * seconds) / STRIDE);
  }
}

document.addEventListener("keydown", (event) => {
  // On many keyboards brackets need AltGr.
  if ((event.ctrlKey || event.altKey || event.metaKey) && !event.getModifierState("AltGraph")) return;
  const key = event.key.toLowerCase(), target = event.target;
  if (!KEYS[key] && !moves()[key]) return;
  // Lists and scrolling text keep their own keys, radio buttons and the slider the arrows, buttons the space bar.
  if (target.matches("select, #words")) return;
  if (target.matches("input") && key.startsWith("arrow")) return;
  if (target.matches("button, summary, input[type=checkbox], input[type=radio]") && key === " ") return;
  event.preventDefault();
  if (KEYS[key]) { if (!event.repeat) KEYS[key](); } else press(key);
});
document.addEventListener("keyup", (event) => held.delete(event.key.toLowerCase()));
window.addEventListener("blur", () => held.clear());
document.addEventListener("visibilitychange", () => { held.clear(); if (document.hidden) play(false); else render(); });

// Mouse and touch

const pointers = new Map();
let pressed = null, dragged = 0;

function pick(x, y) {
  const width = stage.clientWidth, height = stage.clientHeight, camera = cameraNow(performance.now()), cut = cutNow();
  const hit = castRay(mesh, camera.eye, rayThrough(camera, x, y, width, height), cut), matrix = projection(camera, width, height, NEAR, FAR);
  let viewpoint = -1, nearest = 16; // pixels
  if (isShown("graph")) graph.ids.forEach((_, k) => {
    const place = raised(node(k)), at = place[2] > cut ? null : toScreen(matrix, place, width, height);
    const away = at ? Math.hypot(at.x - x, at.y - y) : Infinity, spot = at ? clamp(260 / at.distance, 8, 44) : 0;
    if (away > Math.max(spot, 14) || away >= nearest + spot) return;
    const gap = Math.hypot(...minus(place, camera.eye)), seen = castRay(mesh, camera.eye, unit(minus(place, camera.eye)), cut);
    if (seen && seen.distance < gap - 0.25) return;
    nearest = away; viewpoint = k;
  });
  return { viewpoint, floor: hit && mesh.flags[hit.face] & WALKABLE ? hit.at : null };
}

function click(x, y) {
  const { viewpoint, floor } = pick(x, y);
  if (viewpoint >= 0) { play(false); goToViewpoint(viewpoint); }
  else if (floor && state.mode === "walk") { play(false); goTo(floor, state.heading, state.elevation); }
}

canvas.addEventListener("pointerdown", (event) => {
  canvas.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, [event.offsetX, event.offsetY]);
  pressed = pointers.size === 1 ? [event.offsetX, event.offsetY] : null;
  dragged = 0;
  canvas.classList.add("held");
});
canvas.addEventListener("pointermove", (event) => {
  const before = pointers.get(event.pointerId);
  if (!before) { if (event.pointerType === "mouse" && mesh) canvas.classList.toggle("over", pick(event.offsetX, event.offsetY).viewpoint >= 0); return; }
  const after = [event.offsetX, event.offsetY], [dx, dy] = [after[0] - before[0], after[1] - before[1]];
  dragged += Math.hypot(dx, dy);
  if (dragged < 5) return;
  const others = [...pointers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
  pointers.set(event.pointerId, after);
  play(false);
  state.flight = null;
  if (others.length) pinch(before, after, others[0]);
  else if (event.shiftKey && state.mode === "dollhouse") shift(-dx / 20, dy / 20);
  else drag(dx, dy);
  render();
});

function drag(dx, dy) {
  const scale = goalCamera().fov / Math.max(1, stage.clientHeight);
  if (state.mode === "walk") { state.heading += dx * scale; tilt(dy * scale); }
  else { state.orbit.heading -= dx * 0.006; tilt(-dy * 0.006); }
}

// Two fingers: apart and together zooms or walks, side by side moves.
function pinch(before, after, other) {
  const apart = (at) => Math.hypot(at[0] - other[0], at[1] - other[1]), factor = apart(before) / Math.max(20, apart(after));
  if (state.mode === "walk") walkBy(clamp((1 / factor - 1) * 4, -0.4, 0.4), 0);
  else { zoom(clamp(factor, 0.8, 1.25)); shift(-(after[0] - before[0]) / 40, (after[1] - before[1]) / 40); }
}

for (const name of ["pointerup", "pointercancel"]) {
  canvas.addEventListener(name, (event) => {
    pointers.delete(event.pointerId);
    if (!pointers.size) canvas.classList.remove("held");
    if (name === "pointerup" && pressed && dragged < 5 && mesh) click(event.offsetX, event.offsetY);
    pressed = null;
  });
}
canvas.addEventListener("wheel", (event) => { event.preventDefault(); zoom(Math.exp(clamp(event.deltaY, -200, 200) / 700)); }, { passive: false });

for (const button of byId("pad").querySelectorAll("button")) {
  const key = button.dataset.key;
  button.addEventListener("pointerdown", (event) => { button.setPointerCapture(event.pointerId); press(key); });
  for (const name of ["pointerup", "pointercancel"]) button.addEventListener(name, () => held.delete(key));
  // By keyboard and screen reader; a pointer has already moved.
  button.addEventListener("click", (event) => { if (event.detail === 0) { press(key); held.delete(key); } });
}

byId("play").addEventListener("click", () => play(!state.playing));
byId("time").addEventListener("input", (event) => { play(false); state.flight = null; setTime(Number(event.target.value)); });
byId("episode").addEventListener("change", (event) => chooseEpisode(Number(event.target.value)));
byId("previous").addEventListener("click", KEYS["["]);
byId("next").addEventListener("click", KEYS["]"]);
byId("closer").addEventListener("click", KEYS["+"]);
byId("farther").addEventListener("click", KEYS["-"]);
byId("whole").addEventListener("click", showWhole);
new ResizeObserver(resize).observe(stage);
window.addEventListener("beforeprint", () => { if (renderer) { sharpness = 2; drawFrame(performance.now()); } });
window.addEventListener("afterprint", () => { sharpness = 1; render(); });

// A link can name an episode: house.html#1068_2
function openLink() {
  let wanted = "";
  try { wanted = decodeURIComponent(location.hash.slice(1)); } catch { return; }
  const found = episodes.findIndex((one) => one.id === wanted);
  if (found >= 0) chooseEpisode(found);
}
window.addEventListener("hashchange", openLink);

async function start() {
  showPanels();
  setMode("dollhouse");
  wholeHouse();
  if (rooms.length && rooms[firstRoom].viewpoint >= 0) { state.feet = node(rooms[firstRoom].viewpoint); state.heading = rooms[firstRoom].heading; }
  try {
    const buffer = await readBuffer(data.buffer);
    mesh = unpackMesh(data.mesh, data.light, buffer);
    ground = makeGround(mesh);
    renderer = new Renderer(canvas, mesh, data, buffer);
  } catch (error) {
    byId("problem").hidden = false;
    byId("problem").textContent = `This browser cannot draw the house: it needs WebGL2 and DecompressionStream (Chrome 80, Firefox 113, Safari 16.4, or newer, with hardware acceleration or SwiftShader). Instructions can still be read. (${error.message})`;
    openLink();
    return;
  }
  canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
  canvas.addEventListener("webglcontextrestored", () => { renderer.build(); render(); });
  renderer.setLayer("graph", graphTriangles(graph));
  openLink();
  render();
}

start();
