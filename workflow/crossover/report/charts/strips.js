// Rows of marks: the arrow keys move along the cells of a row, and a button saves a picture of it.

for (const row of document.querySelectorAll(".strips tr[id]")) {
  const track = row.querySelector(".track");
  const cells = [...track.querySelectorAll("a")];
  const address = row.querySelector("th a").getAttribute("href");
  for (const cell of cells) cell.href = address;
  const tools = row.querySelector(".told").appendChild(document.createElement("span"));
  tools.className = "tools";
  const here = tools.appendChild(document.createElement("a"));
  Object.assign(here, { href: `#${row.id}`, textContent: "#", title: "Link to this row", ariaLabel: "Link to this row" });
  const button = tools.appendChild(document.createElement("button"));
  Object.assign(button, { type: "button", textContent: "SVG", ariaLabel: "Picture of this row" });
  button.addEventListener("click", () => save(`${row.id}.svg`, "image/svg+xml", pictureOf(row)));
  cells.forEach((cell, number) => { cell.tabIndex = number ? -1 : 0; });
  track.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    cells[(cells.indexOf(event.target.closest("a")) + step + cells.length) % cells.length].focus();
  });
}

// The picture has the row's words, its strip, and where it comes from: title, machine, date and address of the page.
function pictureOf(row) {
  const namespace = "http://www.w3.org/2000/svg";
  const light = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--chart-${name}`).match(/#\w+/)[0];
  const ink = light("ink");
  const svg = document.createElementNS(namespace, "svg");
  const add = (name, attributes, text = "") => {
    const element = document.createElementNS(namespace, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.textContent = text;
    svg.append(element);
  };
  const [left, width, top, height] = [24, 752, 64, 30];
  const x = (element) => left + (width * parseFloat(element.style.left)) / 100;
  const wide = (element) => (width * parseFloat(element.style.width)) / 100;
  const words = (text, y, style = {}) => add("text", { x: left, y, "font-size": 14, fill: ink, ...style }, text.replace(/\s+/g, " ").trim());
  const told = row.querySelector(".told").cloneNode(true);
  told.querySelector(".tools").remove();
  for (const pause of told.querySelectorAll("br")) pause.replaceWith("; ");
  add("rect", { width: 800, height: 176, fill: "#fff" });
  words(row.querySelector("th").textContent, 26, { "font-size": 17, "font-weight": 600 });
  words(told.textContent, 47);
  for (const mark of row.querySelectorAll(".cell, .point")) {
    const colour = getComputedStyle(mark).getPropertyValue("--own").match(/#\w+/)?.[0] ?? ink;
    const kind = mark.classList;
    if (kind.contains("point")) {
      const fill = kind.contains("open") ? light("noise") : ink;
      add("rect", { x: -5, y: -5, width: 10, height: 10, fill, stroke: ink, transform: `translate(${x(mark)} ${top + height / 2}) rotate(45)` });
    } else if (["interval", "measured", "bias"].some((name) => kind.contains(name))) {
      const thick = kind.contains("bias") ? 1 : 4;
      add("rect", { x: x(mark), y: top + (height - thick) / 2, width: Math.max(wide(mark), 2), height: thick, fill: colour });
    } else {
      const plain = { open: "#fff", range: light("grid") }[kind[1]];
      const share = plain ? 1 : parseFloat(mark.style.getPropertyValue("--share")) / 100;
      add("rect", { x: x(mark), y: top, width: wide(mark), height, fill: plain ?? colour, "fill-opacity": share, stroke: kind.contains("open") ? colour : plain ? light("grid") : "#fff" });
      if (!plain) add("rect", { x: x(mark), y: top, width: wide(mark), height: 4, fill: colour });
      if (wide(mark) > 30) add("text", { x: x(mark) + wide(mark) / 2, y: top + 20, "font-size": 12, fill: ink, "text-anchor": "middle" }, mark.textContent);
    }
  }
  for (const tick of row.closest("tbody").querySelectorAll(".tick")) {
    add("text", { x: x(tick), y: top + height + 17, "font-size": 11, fill: ink, "text-anchor": "middle" }, tick.textContent);
  }
  const address = location.protocol.startsWith("http") ? ` · ${location.href.split("#")[0]}#${row.id}` : "";
  words(`${document.querySelector("h1").textContent} · ${document.querySelector(".subtitle")?.textContent ?? ""}`, 140, { "font-size": 10 });
  words(`Measured by crossover${address}`, 158, { "font-size": 10 });
  for (const [key, value] of Object.entries({ xmlns: namespace, viewBox: "0 0 800 176", width: 800, height: 176, "font-family": "sans-serif" })) svg.setAttribute(key, value);
  return new XMLSerializer().serializeToString(svg);
}
