"use strict";
// The list of every episode: filtered, sorted, a page at a time. Words enter the page as text only.
const PER_PAGE = 25;

function made(name, options = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(options)) {
    if (key === "text") element.textContent = value;
    else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

function chooser(label, choices) {
  const select = made("select");
  choices.forEach((words, i) => select.append(made("option", { value: i, text: words })));
  return [made("label", { text: label }, select), select];
}

function showList(place, told) {
  const rows = told.ids.map((_, i) => i);
  const judged = told.outcome[0] !== null;
  const state = { page: 0, key: null, down: false };
  const search = made("input", { type: "search", autocomplete: "off" });
  const [agentLabel, agent] = chooser("agent", ["any agent", ...told.agents]);
  const [kindLabel, kind] = chooser("outcome", ["any outcome", ...told.kinds]);
  const form = made("form", {}, made("label", { text: "episode or scene" }, search), ...(judged ? [agentLabel, kindLabel] : []));
  const count = made("p", { role: "status" });
  const body = made("tbody");
  const table = made("table", {}, made("thead", {}, headings()), body);
  const back = made("button", { type: "button", text: "Previous" });
  const on = made("button", { type: "button", text: "Next" });
  const region = made("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Every episode" }, table);
  place.replaceChildren(form, count, region, back, " ", on);

  function columns() {
    const found = [
      { name: "episode", of: (i) => told.ids[i] },
      { name: "scene", of: (i) => told.scenes[told.scene[i]] },
    ];
    if (told.length) found.push({ name: "way, m", of: (i) => told.length[i] });
    told.agents.forEach((name, a) => {
      if (told.error) found.push({ name: `${name}: NE, m`, of: (i) => told.error[a][i] });
      if (judged) found.push({ name: `${name}: outcome`, kind: true, of: (i) => told.kinds[told.outcome[a][i]] });
    });
    return found;
  }

  function headings() {
    const row = made("tr");
    columns().forEach((column, k) => {
      const button = made("button", { type: "button", text: column.name });
      const cell = made("th", { scope: "col" }, button);
      button.addEventListener("click", () => {
        state.down = state.key === k ? !state.down : false;
        state.key = k;
        state.page = 0;
        for (const other of row.children) other.removeAttribute("aria-sort");
        cell.setAttribute("aria-sort", state.down ? "descending" : "ascending");
        draw();
      });
      row.append(cell);
    });
    return row;
  }

  function fits(i) {
    const words = search.value.trim().toLowerCase();
    if (words && !`${told.ids[i]} ${told.scenes[told.scene[i]]}`.toLowerCase().includes(words)) return false;
    if (!judged || kind.value === "0") return true;
    const asked = agent.value === "0" ? told.agents.map((_, a) => a) : [Number(agent.value) - 1];
    return asked.some((a) => told.outcome[a][i] === Number(kind.value) - 1);
  }

  function sorted(found) {
    if (state.key === null) return found;
    const of = columns()[state.key].of;
    const sign = state.down ? -1 : 1;
    const order = (a, b) => (typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b);
    return found.sort((i, j) => {
      const [a, b] = [of(i), of(j)];
      if (a === null || b === null) return (a === null) - (b === null) || i - j;
      return sign * order(a, b) || i - j;
    });
  }

  function draw() {
    const found = sorted(rows.filter(fits));
    const pages = Math.max(1, Math.ceil(found.length / PER_PAGE));
    state.page = Math.min(state.page, pages - 1);
    const shown = found.slice(state.page * PER_PAGE, (state.page + 1) * PER_PAGE);
    count.textContent = `${found.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")} episodes, page ${state.page + 1} of ${pages}`;
    back.disabled = state.page === 0;
    on.disabled = state.page >= pages - 1;
    body.replaceChildren(...shown.map(line));
  }

  function line(i) {
    const cells = columns().map((column, k) => {
      const value = column.of(i);
      const words = value === null ? "–" : String(value);
      const link = k === 0 && told.replays[i] !== undefined;
      const content = link ? made("a", { href: told.replays[i], text: words }) : made("bdi", { text: words });
      return k === 0 ? made("th", { scope: "row" }, content) : made("td", column.kind ? { class: "kind" } : {}, content);
    });
    return made("tr", {}, ...cells);
  }

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => { state.page = 0; draw(); });
  back.addEventListener("click", () => { state.page -= 1; draw(); });
  on.addEventListener("click", () => { state.page += 1; draw(); });
  draw();
}

// Drawn when first seen, so that a page of many contests opens at once.
const waiting = new IntersectionObserver((entries) => {
  for (const entry of entries.filter((e) => e.isIntersecting)) {
    waiting.unobserve(entry.target);
    const data = document.querySelector(`script[data-list="${entry.target.id}"]`);
    showList(entry.target, JSON.parse(data.textContent));
  }
}, { rootMargin: "600px" });
document.querySelectorAll(".list").forEach((place) => waiting.observe(place));
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((d) => { d.open = true; }));
