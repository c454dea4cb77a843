// Tabs: a click or an arrow key shows one panel and hides its siblings.
for (const bar of document.querySelectorAll(".tab-bar")) {
  const tabs = [...bar.querySelectorAll("[role=tab]")];
  const show = (chosen) => {
    for (const tab of tabs) {
      tab.setAttribute("aria-selected", String(tab === chosen));
      tab.tabIndex = tab === chosen ? 0 : -1;
      document.getElementById(tab.getAttribute("aria-controls")).hidden = tab !== chosen;
    }
  };
  bar.addEventListener("click", (event) => {
    const tab = event.target.closest("[role=tab]");
    if (tab) show(tab);
  });
  bar.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    const next = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length];
    show(next);
    next.focus();
  });
}

// The colour scheme: the system's, unless the reader chooses one, which the browser remembers if it can.
const schemes = { "light dark": "Theme: automatic", light: "Theme: light", dark: "Theme: dark" };
const schemeButton = document.querySelector(".scheme");
const memory = (use) => {
  try {
    return use(localStorage);
  } catch {
    return null; // a browser may forbid this to local files
  }
};
const choose = (scheme) => {
  document.documentElement.style.colorScheme = scheme;
  schemeButton.textContent = schemes[scheme];
};
const before = memory((storage) => storage.getItem("crossover-scheme"));
choose(before in schemes ? before : "light dark");
schemeButton.hidden = false;
schemeButton.addEventListener("click", () => {
  const names = Object.keys(schemes);
  const next = names[(names.indexOf(document.documentElement.style.colorScheme) + 1) % names.length];
  choose(next);
  memory((storage) => storage.setItem("crossover-scheme", next));
});

// The table of contents: open beside the text, or folded above it on a narrow page.
const contents = document.querySelector("nav details");
const beside = matchMedia("(min-width: 72rem)");
const foldContents = () => { contents.open = beside.matches; };
foldContents();
beside.addEventListener("change", foldContents);
contents.addEventListener("click", (event) => {
  if (event.target.closest("a") && !beside.matches) contents.open = false;
});

// Marks the current section: that of the last heading above the reader's position.
const links = new Map([...contents.querySelectorAll("a")].map((link) => [link.hash.slice(1), link]));
const headings = [...links.keys()].map((name) => document.getElementById(name)).filter(Boolean);
const mark = () => {
  const passed = headings.filter((heading) => heading.getBoundingClientRect().top < innerHeight / 4).at(-1);
  for (const [name, link] of links) {
    if (name === passed?.id) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
};
const watch = new IntersectionObserver(mark, { rootMargin: "1000000px 0px -75% 0px" });
for (const heading of headings) watch.observe(heading);
