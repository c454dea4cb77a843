// Unpacks and runs the page's scripts. Browsers from before 2023 cannot: charts stay words, as without scripts.
const packed = Uint8Array.from(atob(document.getElementById("crossover-scripts").textContent), (letter) => letter.charCodeAt(0));
const script = document.createElement("script");
script.type = "module";
script.textContent = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
document.head.append(script);
