"use strict";
// A click on a heading sorts its table: by the attribute data-v of the cells, or else by their text.
for (const button of document.querySelectorAll("th button")) button.addEventListener("click", () => {
  const head = button.parentNode, body = head.closest("table").tBodies[0];
  const place = [...head.parentNode.children].indexOf(head), falls = head.getAttribute("aria-sort") === "ascending";
  for (const other of head.parentNode.children) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", falls ? "descending" : "ascending");
  const value = row => row.children[place].dataset.v ?? row.children[place].textContent.trim();
  const compare = (a, b) => parseFloat(a) - parseFloat(b) || String(a).localeCompare(b, undefined, { numeric: true });
  body.append(...[...body.rows].sort((a, b) => compare(value(a), value(b)) * (falls ? -1 : 1)));
});
