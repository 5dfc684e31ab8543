"use strict";
// Filters and sorting of the board. Without this script the table is complete and in the order of the host.
const table = document.getElementById("board");

function cellValue(row, column) {
  return row.cells[column].dataset.value ?? "";
}

function compareValues(a, b) {
  const [x, y] = [Number(a), Number(b)];
  return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b, "en") : x - y;
}

function makeSortable(body, rows) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    if (!("sort" in head.dataset)) return;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") !== "descending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const place = new Map(rows.map((row, index) => [row, index]));
      const sorted = [...rows].sort((a, b) => {
        const [x, y] = [cellValue(a, column), cellValue(b, column)];
        if (x === "" || y === "") return (x === "") - (y === "") || place.get(a) - place.get(b);
        return (down ? -1 : 1) * compareValues(x, y) || place.get(a) - place.get(b);
      });
      body.append(...sorted);
    });
  });
}

function makeFilters(rows) {
  const form = document.getElementById("filters");
  const [text, badge, best] = ["text", "badge", "best"].map((name) => document.getElementById(`filter-${name}`));
  const count = document.getElementById("filter-count");
  const words = rows.map((row) => row.cells[0].textContent.toLowerCase());
  function apply() {
    const wanted = text.value.trim().toLowerCase();
    const teams = new Set();
    let shown = 0;
    rows.forEach((row, index) => {
      const { team } = row.dataset;
      // Rows are in the order of the host, so the first of a team is its best. Anonymous entries are teams of their own.
      const repeated = best.checked && team !== "" && teams.has(team);
      const visible = words[index].includes(wanted) && (!badge.value || row.dataset.badge === badge.value) && !repeated;
      if (visible) teams.add(team);
      row.hidden = !visible;
      shown += visible;
    });
    count.textContent = `${shown.toLocaleString("en")} of ${rows.length.toLocaleString("en")} entries`;
  }
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", apply);
  apply();
}

if (table) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  makeSortable(body, rows);
  makeFilters(rows);
}
