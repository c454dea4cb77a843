// Draws every chart of the page from the specification inside it. Bundled with Vega, which names vegaEmbed.

// The page, not the operating system, decides on light or dark: take its own ink.
function theme() {
  const page = getComputedStyle(document.body);
  const ink = page.color;
  return {
    background: null,
    font: page.fontFamily,
    aria: false, // the chart's container speaks for it
    title: { color: ink, subtitleColor: ink },
    axis: { labelColor: ink, titleColor: ink, tickColor: ink, domainColor: ink, gridColor: ink, gridOpacity: 0.12 },
    legend: { labelColor: ink, titleColor: ink },
  };
}

const drawings = new Map();

async function draw(chart) {
  drawings.get(chart)?.finalize();
  const specification = JSON.parse(chart.querySelector("script").textContent);
  const own = theme();
  const config = { ...own, ...specification.config };
  for (const part of ["axis", "title", "legend"]) config[part] = { ...specification.config?.[part], ...own[part] };
  const canvas = chart.querySelector(".crossover-canvas");
  const options = { actions: false, renderer: "svg", tooltip: true };
  drawings.set(chart, await vegaEmbed(canvas, { ...specification, config }, options));
  chart.dataset.drawn = "yes";
}

// A chart in a hidden tab has no width to fit; it is drawn when it is first shown. Later widths are forced upon it:
// Vega keeps the width inside the axes in the same signal, and ignores an outer width that happens to equal it.
const begun = new Set();
const observer = new ResizeObserver((entries) => {
  for (const { target, contentRect } of entries) {
    if (contentRect.width === 0) continue;
    if (begun.has(target)) drawings.get(target)?.view.signal("width", contentRect.width, { force: true }).runAsync();
    else {
      begun.add(target);
      draw(target);
    }
  }
});
const charts = document.querySelectorAll(".crossover-chart");
charts.forEach((chart) => observer.observe(chart));

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  charts.forEach((chart) => chart.dataset.drawn && draw(chart));
});
