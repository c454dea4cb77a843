// Rows of marks: the arrow keys move along the cells of a row.

for (const row of document.querySelectorAll(".strips tr[id]")) {
  const track = row.querySelector(".track");
  const cells = [...track.querySelectorAll("a")];
  const address = row.querySelector("th a").getAttribute("href");
  for (const cell of cells) cell.href = address;
  cells.forEach((cell, number) => { cell.tabIndex = number ? -1 : 0; });
  track.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    cells[(cells.indexOf(event.target.closest("a")) + step + cells.length) % cells.length].focus();
  });
}
