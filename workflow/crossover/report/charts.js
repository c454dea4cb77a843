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

async function draw(chart) {
  const specification = JSON.parse(chart.querySelector("script").textContent);
  const own = theme();
  const config = { ...own, ...specification.config };
  for (const part of ["axis", "title", "legend"]) config[part] = { ...specification.config?.[part], ...own[part] };
  const canvas = chart.querySelector(".crossover-canvas");
  await vegaEmbed(canvas, { ...specification, config }, { actions: false, renderer: "svg", tooltip: true });
  chart.dataset.drawn = "yes";
}

// A chart in a hidden tab has no width to fit; it is drawn when it is first shown.
const widths = new Map();
const observer = new ResizeObserver((entries) => {
  for (const { target, contentRect } of entries) {
    const before = widths.get(target) ?? 0;
    widths.set(target, contentRect.width);
    if (contentRect.width === 0) continue;
    if (before === 0 && !target.dataset.drawn) draw(target);
    else if (before !== contentRect.width) window.dispatchEvent(new Event("resize"));
  }
});
const charts = document.querySelectorAll(".crossover-chart");
charts.forEach((chart) => observer.observe(chart));

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  charts.forEach((chart) => chart.dataset.drawn && draw(chart));
});
