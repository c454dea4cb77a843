// The controls of the charts: the legend hides and shows arms, the choice shows one panel of many, files are saved.

for (const button of document.querySelectorAll(".crossover-legend [data-arm]")) {
  button.addEventListener("click", () => {
    button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") === "false"));
    for (const chart of button.closest(".crossover-gallery").querySelectorAll(".crossover-chart")) {
      drawings.get(chart)?.view?.signal("hidden", hiddenArms(chart)).runAsync();
    }
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
  });
}

function save(name, type, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

function csv(specification) {
  const { columns } = specification.usermeta;
  const quoted = (cell) => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  // Rows that only break a line have no numbers.
  const rows = specification.data.values.filter((row) => columns.every(([, field]) => field in row));
  const lines = [columns.map(([heading]) => heading), ...rows.map((row) => columns.map(([, field]) => row[field] ?? ""))];
  return `${lines.map((line) => line.map((cell) => quoted(String(cell))).join(",")).join("\n")}\n`;
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

for (const button of document.querySelectorAll(".crossover-files [data-file]")) {
  const { file } = button.dataset;
  button.addEventListener("click", async () => {
    const specification = await specificationOf(button.closest(".crossover-chart"));
    if (file.endsWith(".csv")) save(file, "text/csv", csv(specification));
    else save(file, "image/svg+xml", await svg(specification));
  });
}
