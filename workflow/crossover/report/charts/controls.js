// The controls of the charts: the legend hides and shows arms, the choice shows one panel of many, files are saved.

function hide(gallery, arm, hidden) {
  const button = [...gallery.querySelectorAll("[data-arm]")].find((each) => each.dataset.arm === arm);
  button?.setAttribute("aria-pressed", String(!hidden));
  for (const chart of gallery.querySelectorAll(".crossover-chart")) {
    drawings.get(chart)?.view?.signal("hidden", hiddenArms(chart)).runAsync();
  }
}

// The address of the page names the selection: the panel that is shown, and the hidden arms.
function note(gallery) {
  const panels = [...gallery.querySelectorAll(".crossover-panel")].filter((panel) => !panel.hidden);
  if (panels.length !== 1) return;
  const arms = hiddenArms(gallery.querySelector(".crossover-chart")).map(encodeURIComponent);
  history.replaceState(null, "", `#${[panels[0].id, ...arms].join("!")}`);
}

for (const button of document.querySelectorAll(".crossover-legend [data-arm]")) {
  const gallery = button.closest(".crossover-gallery");
  button.addEventListener("click", () => {
    hide(gallery, button.dataset.arm, button.getAttribute("aria-pressed") === "true");
    note(gallery);
  });
}

// A choice applies to all metrics of an experiment that have such a panel.
function show(select, title) {
  if (![...select.options].some(({ value }) => value === title)) return;
  select.value = title;
  const gallery = select.closest(".crossover-gallery");
  gallery.dataset.shown = title === "" ? "all" : "one";
  for (const panel of gallery.querySelectorAll(".crossover-panel")) {
    panel.hidden = title !== "" && panel.dataset.panel !== title;
  }
}

for (const select of document.querySelectorAll(".crossover-choice select")) {
  const { group } = select.closest(".crossover-gallery").dataset;
  show(select, select.options[0].value);
  select.addEventListener("change", () => {
    const alike = [...document.querySelectorAll(".crossover-gallery")].filter((gallery) => gallery.dataset.group === group);
    for (const gallery of alike) {
      const other = gallery.querySelector(".crossover-choice select");
      if (other) show(other, select.value);
    }
    note(select.closest(".crossover-gallery"));
  });
}
reveal();

function save(name, type, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

// The numbers of a chart: a line of headings, then a line for each point.
function linesOf(specification) {
  const { columns } = specification.usermeta;
  // Rows that only break a line have no numbers.
  const rows = specification.data.values.filter((row) => "value" in row);
  return [columns.map(([heading]) => heading), ...rows.map((row) => columns.map(([, field]) => String(row[field] ?? "")))];
}

function csv(specification) {
  const quoted = (cell) => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  return `${linesOf(specification).map((line) => line.map(quoted).join(",")).join("\n")}\n`;
}

// Shows the numbers of a chart below it, or hides them again.
function tabulate(button, specification) {
  const chart = button.closest(".crossover-chart");
  const shown = chart.querySelector(".table-scroll");
  button.setAttribute("aria-expanded", String(!shown));
  if (shown) {
    shown.remove();
    return;
  }
  const frame = document.createElement("div");
  frame.className = "table-scroll";
  frame.tabIndex = 0;
  frame.setAttribute("role", "region");
  frame.setAttribute("aria-label", "Numbers of the chart");
  const table = frame.appendChild(document.createElement("table"));
  linesOf(specification).forEach((line, number) => {
    const row = table.insertRow();
    for (const text of line) {
      const cell = row.appendChild(document.createElement(number ? "td" : "th"));
      if (!number) cell.scope = "col";
      cell.textContent = text;
    }
  });
  chart.append(frame);
}

// Includes the title and the legend, which the page shows itself, and uses the colours of the light scheme.
async function svg(specification) {
  const light = (_, name) => getComputedStyle(document.documentElement).getPropertyValue(name).match(/#\w+/)[0];
  const text = JSON.stringify(specification).replace(/var\((--chart-[a-z]+)\)/g, light);
  const { view } = await vegaEmbed(document.createElement("div"), { ...JSON.parse(text), width: 420, background: "#fff" }, { actions: false, ast: true });
  const drawn = await view.toSVG();
  view.finalize();
  return drawn;
}

async function take(chart, file) {
  const specification = await specificationOf(chart);
  if (file.endsWith(".csv")) save(file, "text/csv", csv(specification));
  else if (file.endsWith(".svg")) save(file, "image/svg+xml", await svg(specification));
  else tabulate(chart.querySelector("[data-file$='.table']"), specification);
}

for (const files of document.querySelectorAll(".crossover-files")) {
  for (const [ending, text] of Object.entries({ table: "Table", csv: "Data", svg: "SVG" })) {
    const button = files.appendChild(document.createElement("button"));
    Object.assign(button, { type: "button", textContent: text, ariaLabel: `${text} of this chart` });
    button.dataset.file = `${files.dataset.stem}.${ending}`;
    button.addEventListener("click", () => take(files.closest(".crossover-chart"), button.dataset.file));
  }
}
