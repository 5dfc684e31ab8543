"use strict";
// The form that submits an entry: the file is uploaded by its digest, from where an earlier upload ended, then submitted.
const form = document.getElementById("submit");

function field(name) {
  return document.getElementById(name);
}

async function call(path, options = {}) {
  const headers = { ...options.headers, authorization: `Bearer ${field("token").value.trim()}` };
  const response = await fetch(path, { ...options, headers });
  const found = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(found.error ?? `The server answered ${response.status}.`);
  return found;
}

async function digestFile(file) {
  if (!globalThis.crypto?.subtle) throw new Error("The browser computes digests on HTTPS only. Use itinera submit.");
  const digest = await crypto.subtle.digest("SHA-256", await file.arrayBuffer());
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function upload(file, phase, say) {
  const most = Number(field("file").dataset.most);
  if (most && file.size > most) throw new Error(`The file has ${file.size} bytes; at most ${most} are taken.`);
  say("Computing the digest of the file …");
  const digest = await digestFile(file);
  let state = await call(`/api/blobs/${digest}`);
  if (!state.complete) {
    say(`Uploading ${file.size - state.received} bytes …`);
    const headers = { "upload-offset": String(state.received), "upload-length": String(file.size) };
    const address = `/api/blobs/${digest}?phase=${encodeURIComponent(phase)}`;
    state = await call(address, { method: "PUT", headers, body: file.slice(state.received) });
  }
  if (!state.complete) throw new Error("The upload ended early. Submit again to continue it.");
  return digest;
}

async function showShots() {
  const shown = field("shots");
  shown.textContent = "";
  if (!field("token").value.trim()) return;
  try {
    const { phases } = await call("/api/challenge");
    const phase = phases.find((one) => one.name === field("phase").value);
    const left = [["today", phase?.today], ["in all", phase?.total]];
    const words = left.filter(([, shots]) => shots && shots.left !== null).map(([when, shots]) => `${shots.left} ${when}`);
    shown.textContent = words.length ? `Shots left: ${words.join(", ")}.` : "";
  } catch (error) {
    shown.textContent = error.message;
  }
}

// Sent again with the same text after a lost reply, a request makes no second entry.
let request = { key: "", text: "" };

async function submit(event) {
  event.preventDefault();
  const button = form.querySelector("button");
  const outcome = field("outcome");
  const say = (text) => { outcome.textContent = text; };
  outcome.className = "";
  button.disabled = true;
  try {
    const [phase, method, notes, visibility] = ["phase", "method", "notes", "visibility"].map((name) => field(name).value);
    const bundle = await upload(field("file").files[0], phase, say);
    const key = JSON.stringify([phase, bundle, method, notes, visibility]);
    if (request.key !== key) request = { key, text: crypto.randomUUID() };
    const body = JSON.stringify({ phase, bundle, method, notes, visibility, request: request.text });
    const { entry } = await call("/api/entries", { method: "POST", body, headers: { "content-type": "application/json" } });
    request = { key: "", text: "" };
    const link = document.createElement("a");
    link.href = "/status";
    link.textContent = "the queue";
    outcome.replaceChildren(`Entry ${entry} is accepted. See `, link, ".");
    await showShots();
  } catch (error) {
    outcome.className = "fault";
    say(error.message);
  } finally {
    button.disabled = false;
  }
}

if (form) {
  form.hidden = false;
  form.addEventListener("submit", submit);
  for (const name of ["token", "phase"]) field(name).addEventListener("change", showShots);
}
