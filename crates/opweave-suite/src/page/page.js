// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
"use strict";
(() => {
  const table = document.getElementById("rows");
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const filter = document.getElementById("filter");
  const status = document.getElementById("status");
  const show = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = [0, 1, 9].map((at) => row.cells[at].textContent).join(" ").toLowerCase();
      const fits = words.every((word) => text.includes(word)) && (!status.value || row.dataset.status === status.value);
      row.hidden = !fits;
      shown += fits ? 1 : 0;
    }
    document.getElementById("count").textContent = `${shown} of ${rows.length} rows`;
    document.getElementById("none").hidden = shown > 0;
  };
  const sort = (head) => {
    const column = head.cellIndex;
    const numbers = head.firstElementChild.dataset.sort === "number";
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of head.parentElement.cells) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const value = (row) => row.cells[column].dataset.value;
    rows.sort((a, b) => {
      if (!numbers) return a.cells[column].textContent.localeCompare(b.cells[column].textContent) * (down ? -1 : 1);
      // What has no number comes last in either order.
      const [x, y] = [value(a), value(b)];
      if (x === undefined || y === undefined) return (x === undefined) - (y === undefined);
      return (Number(x) - Number(y)) * (down ? -1 : 1);
    });
    body.append(...rows);
  };
  for (const button of table.querySelectorAll("button[data-sort]")) {
    button.addEventListener("click", () => sort(button.parentElement));
  }
  filter.addEventListener("input", show);
  status.addEventListener("change", show);
  document.getElementById("controls").addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
  show();
})();
