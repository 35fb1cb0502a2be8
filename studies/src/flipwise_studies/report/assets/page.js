"use strict";
// Tables sort by a click on a header or, on narrow screens, by the choice above them. Figures sort as numbers.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const original = [...body.rows];
  const key = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.value !== undefined ? Number(cell.dataset.value) : cell.textContent.trim();
  };
  const sort = (column, descending) => {
    const sign = descending ? -1 : 1;
    const rows = [...original].sort((a, b) => {
      const x = key(a, column), y = key(b, column);
      if (typeof x === "number" && typeof y === "number") return sign * (x - y);
      if (typeof x === "number") return -1; // figures before words, in either direction
      if (typeof y === "number") return 1;
      return sign * x.localeCompare(y, "en", { numeric: true });
    });
    body.append(...rows);
    heads.forEach((head, place) => {
      if (place === column) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
  };
  heads.forEach((head, column) => {
    head.querySelector("button").addEventListener("click", () => {
      sort(column, head.getAttribute("aria-sort") === "ascending");
    });
  });
  const sorter = table.previousElementSibling;
  if (sorter && sorter.classList.contains("sorter")) {
    sorter.querySelector("select").addEventListener("change", (event) => {
      if (event.target.value === "") {
        body.append(...original);
        heads.forEach((head) => head.removeAttribute("aria-sort"));
      } else {
        sort(Number(event.target.value), false);
      }
    });
  }
}
