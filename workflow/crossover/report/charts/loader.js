// Unpacks and runs the page's scripts. Browsers from before 2023 cannot; the style sheet then shows charts in words.
try {
  const packed = Uint8Array.from(atob(document.getElementById("crossover-scripts").textContent), (letter) => letter.charCodeAt(0));
  const script = document.createElement("script");
  script.type = "module";
  script.textContent = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  document.head.append(script);
} catch (error) {
  for (const chart of document.querySelectorAll(".crossover-chart")) chart.dataset.drawn = "no";
  console.error(error);
}
