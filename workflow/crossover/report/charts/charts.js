// Draws the charts of the page from the specifications inside it, each when it comes near the screen; those of hidden
// tabs and panels when they are shown, and all of them for print. Bundled with Vega, which names vegaEmbed.

const FALLBACK_WIDTH = 480; // of a chart that is drawn while it is hidden, until it is shown
const PRINT_WIDTH = 330; // two beside each other on a page of A4 or letter
const charts = [...document.querySelectorAll(".crossover-chart")];
const drawings = new Map(); // what vegaEmbed made of each chart, or its promise
const canvasOf = (chart) => chart.querySelector(".crossover-canvas");

async function specificationOf(chart) {
  const packed = Uint8Array.from(atob(chart.querySelector("script").textContent), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

function hiddenArms(chart) {
  const buttons = chart.closest(".crossover-gallery").querySelectorAll("[data-arm][aria-pressed=false]");
  return [...buttons].map((button) => button.dataset.arm);
}

// Colours are variables of the page, so a chart that is drawn follows its scheme; the font it takes from the page too.
async function draw(chart, width) {
  const specification = await specificationOf(chart);
  const font = getComputedStyle(document.body).fontFamily;
  // The page has a title and mostly a legend of its own, which fit any width; and its canvas has the text alternative.
  delete specification.title;
  if (chart.closest(".crossover-gallery").querySelector(".crossover-legend")) {
    const channels = specification.layer.flatMap(({ encoding }) => [encoding.color, encoding.shape]);
    for (const channel of channels) if (channel) channel.legend = null;
  }
  specification.config = { ...specification.config, font, background: null, aria: false };
  specification.params.find(({ name }) => name === "hidden").value = hiddenArms(chart);
  specification.width = width || FALLBACK_WIDTH;
  specification.autosize = { type: "fit-x", contains: "padding" };
  const drawing = await vegaEmbed(canvasOf(chart), specification, { actions: false, renderer: "svg", tooltip: true });
  canvasOf(chart).querySelector("svg").setAttribute("aria-hidden", "true"); // else each mark would want a name
  drawing.width = specification.width;
  drawings.set(chart, drawing);
  chart.dataset.drawn = "yes";
  // Meanwhile the place may have become another, or an arm have been hidden.
  drawing.view.signal("hidden", hiddenArms(chart)).runAsync();
  fit(chart, canvasOf(chart).clientWidth);
}

// Browsers from before 2023 cannot unpack the specification. The style then shows the words that stand for the chart.
function tell(chart, error) {
  chart.dataset.drawn = "no";
  console.error(error);
}

function begin(chart, width) {
  if (drawings.has(chart)) fit(chart, width);
  else drawings.set(chart, draw(chart, width).catch((error) => tell(chart, error)));
}

// Later widths are forced upon a drawing: Vega keeps the width inside the axes in the same signal, and ignores an outer
// width that happens to equal it.
function fit(chart, width) {
  const drawing = drawings.get(chart);
  if (!drawing?.view || !width || Math.abs(drawing.width - width) < 1) return;
  drawing.width = width;
  drawing.view.signal("width", width, { force: true }).runAsync();
}

// One after the other from the top, with room for the browser to show each.
const waiting = [];
function beginNext() {
  const chart = waiting[0];
  if (!chart) return;
  begin(chart, canvasOf(chart).clientWidth);
  setTimeout(() => {
    waiting.shift();
    beginNext();
  });
}

const near = new IntersectionObserver(
  (entries) => {
    const idle = waiting.length === 0;
    waiting.push(...entries.filter(({ isIntersecting }) => isIntersecting).map(({ target }) => target));
    if (idle) beginNext();
  },
  { rootMargin: "600px 0px" },
);
const sized = new ResizeObserver((entries) => {
  for (const { target, contentRect } of entries) fit(target.closest(".crossover-chart"), contentRect.width);
});
for (const chart of charts) {
  near.observe(chart);
  sized.observe(canvasOf(chart));
}

addEventListener("beforeprint", () => charts.forEach((chart) => begin(chart, PRINT_WIDTH)));
addEventListener("afterprint", () => charts.forEach((chart) => fit(chart, canvasOf(chart).clientWidth)));
