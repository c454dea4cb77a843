// Rows of marks: the arrow keys move along the cells of a row, and a button saves a picture of it.

for (const row of document.querySelectorAll(".strips tr[id]")) {
  const track = row.querySelector(".track");
  const cells = [...track.querySelectorAll("a")];
  const address = row.querySelector("th a").getAttribute("href");
  for (const cell of cells) cell.href = address;
  const tools = row.querySelector(".told").appendChild(document.createElement("span"));
  tools.className = "tools";
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

// The picture has the row's words, its strip, a key of its marks, and its origin: title, machine and address of the page.
function pictureOf(row) {
  const namespace = "http://www.w3.org/2000/svg";
  const light = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--chart-${name}`).match(/#\w+/)[0];
  const colourOf = (mark) => getComputedStyle(mark).getPropertyValue("--own").match(/#\w+/)?.[0] ?? light("noise");
  const ink = light("ink");
  const add = (parent, name, attributes, text = "") => {
    const element = document.createElementNS(namespace, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.textContent = text;
    return parent.appendChild(element);
  };
  const svg = document.createElementNS(namespace, "svg");
  const pen = document.createElement("canvas").getContext("2d");
  const widthOf = (text, size, weight = 400) => {
    pen.font = `${weight} ${size}px sans-serif`;
    return 1.05 * pen.measureText(text).width; // the font of another viewer may be wider
  };
  const [left, right, margin, height] = [24, 776, 14, 30];
  let y = 10;
  const write = (text, size, weight = 400) => {
    let line = "";
    const end = () => { y += 1.35 * size; add(svg, "text", { x: left, y, "font-size": size, "font-weight": weight, fill: ink }, line); };
    for (const word of text.trim().split(/\s+/)) {
      const longer = line ? `${line} ${word}` : word;
      if (line && widthOf(longer, size, weight) > right - left) { end(); line = word; } else line = longer;
    }
    end();
  };
  const ground = add(svg, "rect", { width: 800, fill: "#fff" });
  let heading = row;
  while (heading && !heading.matches(".heading")) heading = heading.previousElementSibling;
  write([heading, row.querySelector("th")].filter(Boolean).map((part) => part.textContent).join(": "), 17, 600);
  const told = row.querySelector(".told").cloneNode(true);
  told.querySelector(".tools").remove();
  for (const pause of told.querySelectorAll("br")) pause.replaceWith("; ");
  write(told.textContent, 14);

  const top = (y += 12);
  const marks = [...row.querySelectorAll(".cell, .point")];
  const share = (text) => left + margin + ((right - left - 2 * margin) * parseFloat(text)) / 100;
  const cells = marks.filter((mark) => mark.matches("a.cell"));
  const ends = (mark) => {
    const [start, end] = [share(mark.style.left), share(parseFloat(mark.style.left) + parseFloat(mark.style.width))];
    return [start - margin * (mark === cells[0]), end + margin * (mark === cells.at(-1))];
  };
  const hatch = (colour) => {
    const id = `hatch-${colour.slice(1)}`;
    if (!svg.querySelector(`#${id}`)) {
      const pattern = add(svg, "pattern", { id, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" });
      add(pattern, "rect", { width: 2, height: 6, fill: colour, "fill-opacity": 0.38 });
    }
    return `url(#${id})`;
  };
  const block = (mark, x, width, at, high) => {
    const colour = colourOf(mark);
    if (mark.matches(".range")) add(svg, "rect", { x, y: at, width, height: high, fill: light("grid"), stroke: light("noise") });
    else if (mark.matches(".open")) add(svg, "rect", { x: x + 0.5, y: at, width: width - 1, height: high, fill: hatch(colour), stroke: colour });
    else {
      const strength = 0.0085 * (parseFloat(mark.style.getPropertyValue("--share")) || 100);
      add(svg, "rect", { x, y: at, width: width - 1, height: high, fill: colour, "fill-opacity": strength });
      add(svg, "rect", { x, y: at, width: width - 1, height: 3, fill: colour });
    }
  };
  const line = (mark, x, width, at) => {
    const high = mark.matches(".bias") ? 1 : 4;
    add(svg, "rect", { x, y: at - high / 2, width: Math.max(width, 2), height: high, fill: mark.matches(".interval") ? ink : colourOf(mark) });
  };
  const symbol = (mark, x, at) => {
    const fill = mark.matches(".crossover") ? ink : mark.matches(".open") ? light("noise") : light(mark.matches(".holds") ? "blue" : "orange");
    add(svg, "rect", { x: -5, y: -5, width: 10, height: 10, fill, stroke: "#fff", transform: `translate(${x} ${at}) rotate(45)` });
  };
  const draw = (mark, x, width, at, high) => {
    const middle = mark.matches(".interval, .crossover") ? at + high : at + high / 2;
    if (mark.matches(".point")) symbol(mark, x, middle);
    else if (mark.matches(".interval, .measured, .bias")) line(mark, x, width, middle);
    else block(mark, x, width, at, high);
  };
  for (const mark of marks) {
    const [start, end] = mark.matches(".cell") ? ends(mark) : [share(mark.style.left)];
    draw(mark, start, end - start, top, height);
  }
  for (const mark of cells) {
    const [start, end] = ends(mark);
    const size = [12, 10].find((size) => widthOf(mark.textContent, size) < end - start - 2);
    if (size) add(svg, "text", { x: (start + end) / 2, y: top + 20, "font-size": size, fill: ink, "text-anchor": "middle" }, mark.textContent);
  }
  const axis = row.closest("tbody").querySelector(".axis");
  y = top + height + 20;
  for (const tick of axis.querySelectorAll(".tick")) {
    const anchor = tick.matches(".first") ? "start" : tick.matches(".last") ? "end" : "middle";
    const x = share(tick.style.left) + { start: -margin, middle: 0, end: margin }[anchor];
    add(svg, "text", { x, y, "font-size": 11, fill: ink, "text-anchor": anchor }, tick.textContent);
  }
  y += 16;
  add(svg, "text", { x: (left + right) / 2, y, "font-size": 11, fill: ink, "text-anchor": "middle" }, axis.cells[0].textContent);

  // The key: the arms of the row, then the other kinds of its marks in the words of the page.
  const arms = new Map([...told.querySelectorAll("b")].map((name) => [name.textContent, name]));
  const cellOf = (arm) => row.querySelector(`.chosen.${arm.className}`) ?? row.querySelector(`.cell.${arm.className}`);
  const entries = cells.length ? [...arms].map(([name, arm]) => [name, cellOf(arm)]) : [];
  for (const words of row.closest(".crossover-map").querySelectorAll(".crossover-key span:has(i)")) {
    const mark = words.querySelector("i");
    const kind = `${mark.matches(".cell") ? ".cell" : ".point"}.${mark.classList[1]}`;
    if (row.querySelector(kind)) entries.push([words.textContent.trim(), mark]);
  }
  y += 26;
  let x = left;
  for (const [text, mark] of entries) {
    const width = 28 + widthOf(text, 12);
    if (x > left && x + width > right) [x, y] = [left, y + 18];
    draw(mark, mark.matches(".point") ? x + 11 : x, 22, y - 10, mark.matches(".interval, .crossover") ? 6 : 12);
    add(svg, "text", { x: x + 28, y, "font-size": 12, fill: ink }, text);
    x += width + 16;
  }
  y += 10;
  const address = location.protocol.startsWith("http") ? ` · ${location.href.split("#")[0]}#${row.id}` : "";
  write(`${document.querySelector("h1").textContent} · ${document.querySelector(".subtitle")?.textContent ?? ""}`, 10);
  write(`Measured by crossover${address}`, 10);
  y += 14;
  ground.setAttribute("height", y);
  for (const [key, value] of Object.entries({ xmlns: namespace, viewBox: `0 0 800 ${y}`, width: 800, height: y, "font-family": "sans-serif" })) svg.setAttribute(key, value);
  return new XMLSerializer().serializeToString(svg);
}
