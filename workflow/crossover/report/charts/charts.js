// Draws the page's charts from the specifications inside it, each when it comes near the screen. Charts in hidden tabs
// and panels are drawn when they are shown; for print, all that are shown. Bundled with Vega, which defines vegaEmbed.

const FALLBACK_WIDTH = 480; // of a chart that is drawn before it is shown
const PRINT_WIDTH = 330; // two charts fit side by side on A4 or letter paper
const charts = [...document.querySelectorAll(".crossover-chart")];
const drawings = new Map(); // vegaEmbed's result for each chart, or its promise
const canvasOf = (chart) => chart.querySelector(".crossover-canvas");

const unpacked = new Map(); // the specification of each chart, as soon as it is known
const packs = new Map(); // of each gallery, the promise that its charts are unpacked

async function unpackAllOf(gallery) {
  const packed = Uint8Array.from(atob(gallery.querySelector(":scope > script").textContent), (letter) => letter.charCodeAt(0));
  const text = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  const specifications = JSON.parse(text);
  gallery.querySelectorAll(".crossover-chart").forEach((chart, index) => unpacked.set(chart, specifications[index]));
}

function unpack(chart) {
  const gallery = chart.closest(".crossover-gallery");
  if (!packs.has(gallery)) packs.set(gallery, unpackAllOf(gallery));
  return packs.get(gallery);
}

// Waits for nothing once the specification is known, so that print can draw charts at once.
async function specificationOf(chart) {
  if (!unpacked.has(chart)) await unpack(chart);
  return structuredClone(unpacked.get(chart));
}

function hiddenArms(chart) {
  const buttons = chart.closest(".crossover-gallery").querySelectorAll("[data-arm][aria-pressed=false]");
  return [...buttons].map((button) => button.dataset.arm);
}

// Colours are variables of the page, so charts follow its colour scheme. The font is the page's, too.
async function draw(chart, width) {
  const specification = await specificationOf(chart);
  const font = getComputedStyle(document.body).fontFamily;
  // The page itself shows the title and usually the legend, which then fit any width; the canvas has the description.
  delete specification.title;
  if (chart.closest(".crossover-gallery").querySelector(".crossover-legend")) {
    const channels = specification.layer.flatMap(({ encoding }) => [encoding.color, encoding.shape]);
    for (const channel of channels) if (channel) channel.legend = null;
  }
  specification.config = { ...specification.config, font, background: null, aria: false };
  specification.params.find(({ name }) => name === "hidden").value = hiddenArms(chart);
  specification.width = width || FALLBACK_WIDTH;
  specification.autosize = { type: "fit-x", contains: "padding" };
  // Vega replaces the description by "Vega visualization".
  const described = ["role", "aria-label"].map((name) => [name, canvasOf(chart).getAttribute(name)]);
  const drawing = await vegaEmbed(canvasOf(chart), specification, {
    actions: false, renderer: "svg", tooltip: true, ast: true, // interpreted: the page's policy forbids new code
  });
  for (const [name, text] of described) canvasOf(chart).setAttribute(name, text);
  canvasOf(chart).removeAttribute("aria-roledescription");
  canvasOf(chart).querySelector("svg").setAttribute("aria-hidden", "true"); // otherwise each mark would need a name
  drawing.width = specification.width;
  drawings.set(chart, drawing);
  chart.dataset.drawn = "yes";
  // Meanwhile the width may have changed, or an arm may have been hidden.
  drawing.view.signal("hidden", hiddenArms(chart)).runAsync();
  fit(chart, canvasOf(chart).clientWidth);
}

// Browsers from before 2023 cannot unpack the specification. The style sheet then shows the chart's description.
function tell(chart, error) {
  chart.dataset.drawn = "no";
  console.error(error);
}

function begin(chart, width) {
  if (drawings.has(chart)) fit(chart, width);
  else drawings.set(chart, draw(chart, width).catch((error) => tell(chart, error)));
}

// Sets the width by force, because Vega stores the width inside the axes in the same signal, and would ignore an outer
// width of the same value.
function fit(chart, width) {
  const drawing = drawings.get(chart);
  if (!drawing?.view || !width || Math.abs(drawing.width - width) < 1) return;
  drawing.width = width;
  drawing.view.signal("width", width, { force: true }).runAsync();
}

// Draws the charts one by one from the top, so that the browser can show each at once.
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

// Browsers print as soon as the listeners have ended, and drawing waits for nothing but the specification. So those of
// the charts that are shown are unpacked at once, the others after them.
const isShown = (chart) => chart.checkVisibility?.() ?? true;
async function unpackAll(wanted) {
  await Promise.all(wanted.filter((chart) => !unpacked.has(chart)).map((chart) => unpack(chart).catch((error) => tell(chart, error))));
}
requestAnimationFrame(async () => {
  await unpackAll(charts.filter(isShown));
  document.body.dataset.printable = "yes";
  await unpackAll(charts);
});

// Print shows what the screen shows: folded blocks stay folded.
addEventListener("beforeprint", () => charts.filter(isShown).forEach((chart) => begin(chart, PRINT_WIDTH)));
addEventListener("afterprint", () => charts.forEach((chart) => fit(chart, canvasOf(chart).clientWidth)));

// A link into a folded block, a hidden tab or a hidden panel shows it; the arms after its exclamation marks are hidden.
function reveal() {
  const [name, ...arms] = location.hash.slice(1).split("!").map(decodeURIComponent);
  const target = name && document.getElementById(name);
  if (!target) return;
  for (let block = target.closest("details"); block; block = block.parentElement.closest("details")) block.open = true;
  const tab = target.closest("[role=tabpanel]");
  if (tab) document.querySelector(`[role=tab][aria-controls="${tab.id}"]`)?.click();
  const gallery = target.closest(".crossover-gallery");
  const select = gallery?.querySelector(".crossover-choice select");
  if (select && target.dataset.panel) show(select, target.dataset.panel);
  for (const arm of gallery ? arms : []) hide(gallery, arm, true);
  target.scrollIntoView();
}
addEventListener("hashchange", reveal);
