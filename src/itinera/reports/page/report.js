"use strict";
// The list of all episodes: filtered, sorted and paginated. Names enter the page as text, never as markup.
const PER_PAGE = 25;

function element(name, options = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(options)) {
    if (key === "text") node.textContent = value;
    else node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}

function dropdown(name, choices) {
  const select = element("select");
  choices.forEach((label, i) => select.append(element("option", { value: i, text: label })));
  return [element("label", { text: name }, select), select];
}

function showList(container, data) {
  const rows = data.ids.map((_, i) => i);
  const scored = data.outcome[0] !== null;
  const state = { page: 0, key: null, down: false };
  const search = element("input", { type: "search", autocomplete: "off" });
  const [agentLabel, agent] = dropdown("agent", ["any agent", ...data.agents]);
  const [kindLabel, kind] = dropdown("outcome", ["any outcome", ...data.kinds]);
  const form = element("form", {}, element("label", { text: "episode or scene" }, search), ...(scored ? [agentLabel, kindLabel] : []));
  const count = element("p", { role: "status" });
  const body = element("tbody");
  const table = element("table", {}, element("thead", {}, headings()), body);
  const back = element("button", { type: "button", text: "Previous" });
  const next = element("button", { type: "button", text: "Next" });
  const region = element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "All episodes" }, table);
  container.replaceChildren(form, count, region, back, " ", next);

  function columns() {
    const found = [
      { name: "episode", of: (i) => data.ids[i] },
      { name: "scene", of: (i) => data.scenes[data.scene[i]] },
    ];
    if (data.length) found.push({ name: "path, m", digits: 1, of: (i) => data.length[i] });
    data.agents.forEach((name, a) => {
      if (data.error) found.push({ name: `${name}: NE, m`, digits: 2, of: (i) => data.error[a][i] });
      if (scored) found.push({ name: `${name}: outcome`, kind: true, of: (i) => data.kinds[data.outcome[a][i]] });
    });
    return found;
  }

  function headings() {
    const row = element("tr");
    columns().forEach((column, k) => {
      const button = element("button", { type: "button", text: column.name });
      const cell = element("th", { scope: "col" }, button);
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

  function matches(i) {
    const words = search.value.trim().toLowerCase();
    if (words && !`${data.ids[i]} ${data.scenes[data.scene[i]]}`.toLowerCase().includes(words)) return false;
    if (!scored || kind.value === "0") return true;
    const selected = agent.value === "0" ? data.agents.map((_, a) => a) : [Number(agent.value) - 1];
    return selected.some((a) => data.outcome[a][i] === Number(kind.value) - 1);
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
    const found = sorted(rows.filter(matches));
    const pages = Math.max(1, Math.ceil(found.length / PER_PAGE));
    state.page = Math.min(state.page, pages - 1);
    const shown = found.slice(state.page * PER_PAGE, (state.page + 1) * PER_PAGE);
    count.textContent = `${found.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")} episodes, page ${state.page + 1} of ${pages}`;
    back.disabled = state.page === 0;
    next.disabled = state.page >= pages - 1;
    body.replaceChildren(...shown.map(line));
  }

  function line(i) {
    const cells = columns().map((column, k) => {
      const value = column.of(i);
      const words = value === null ? "–" : column.digits ? value.toFixed(column.digits) : String(value);
      const link = k === 0 && data.replays[i] !== undefined;
      const content = link ? element("a", { href: data.replays[i], text: words }) : element("bdi", { text: words });
      return k === 0 ? element("th", { scope: "row" }, content) : element("td", column.kind ? { class: "kind" } : {}, content);
    });
    return element("tr", {}, ...cells);
  }

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => { state.page = 0; draw(); });
  back.addEventListener("click", () => { state.page -= 1; draw(); });
  next.addEventListener("click", () => { state.page += 1; draw(); });
  draw();
}

// Drawn when scrolled into view, so that a page of many benchmarks opens at once.
const waiting = new IntersectionObserver((entries) => {
  for (const entry of entries.filter((e) => e.isIntersecting)) {
    waiting.unobserve(entry.target);
    const source = document.querySelector(`script[data-list="${entry.target.id}"]`);
    showList(entry.target, JSON.parse(source.textContent));
  }
}, { rootMargin: "600px" });
document.querySelectorAll(".list").forEach((container) => waiting.observe(container));
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((d) => { d.open = true; }));
