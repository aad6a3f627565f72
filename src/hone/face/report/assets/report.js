// What the report does beyond being read: theme, tooltips, the chart's two axes, highlighting a
// pattern, copying, unfolding for links and for print. Everything is on the page without it.
"use strict";
(() => {
  const root = document.documentElement;
  const all = (selector, from = document) => Array.from(from.querySelectorAll(selector));
  root.classList.add("js");

  // Theme: what the system asks for until the reader chooses.
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const button = document.getElementById("theme");
  const shown = () => root.dataset.theme || (dark.matches ? "dark" : "light");
  const name = () => { button.textContent = shown() === "dark" ? "light theme" : "dark theme"; };
  try { if (localStorage.honeTheme) root.dataset.theme = localStorage.honeTheme; } catch (e) { /* private window */ }
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = shown() === "dark" ? "light" : "dark";
    try { localStorage.honeTheme = root.dataset.theme; } catch (e) { /* private window */ }
    name();
  });
  dark.addEventListener("change", name);
  name();

  // Tooltips: the <title> of a mark, shown at once and by touch too.
  const tip = document.getElementById("tip");
  const texts = new WeakMap();
  for (const title of all("svg title")) {
    texts.set(title.parentNode, title.textContent);
    title.remove();
  }
  const place = (event) => {
    const box = tip.getBoundingClientRect();
    const x = Math.min(event.clientX + 14, innerWidth - box.width - 8);
    const below = event.clientY + 16 + box.height < innerHeight;
    tip.style.left = Math.max(8, x) + "px";
    tip.style.top = (below ? event.clientY + 16 : event.clientY - box.height - 12) + "px";
  };
  const show = (event) => {
    const text = texts.get(event.target);
    tip.hidden = text === undefined;
    if (text !== undefined) {
      tip.textContent = text;
      place(event);
    }
  };
  document.addEventListener("pointerover", show);
  document.addEventListener("pointermove", (event) => { if (!tip.hidden) place(event); });
  document.addEventListener("pointerdown", show);
  // A mark of a kernel leads to its row.
  document.addEventListener("click", (event) => {
    const kernel = /^#\d+ +([0-9a-f]{12})/.exec(texts.get(event.target) || "");
    if (kernel && event.pointerType !== "touch") location.hash = "k-" + kernel[1];
  });
  addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });

  // The progress chart: time or number of the evaluation along its axis.
  const chart = document.getElementById("progress-chart");
  if (chart) {
    const swap = (mark, a, b) => {
      const held = mark.getAttribute(a);
      mark.setAttribute(a, mark.getAttribute(b));
      mark.setAttribute(b, held);
    };
    const change = () => {
      for (const mark of all("circle[data-x]", chart)) swap(mark, "cx", "data-x");
      for (const mark of all("rect[data-x]", chart)) swap(mark, "x", "data-x");
      for (const mark of all("line[data-x]", chart)) {
        swap(mark, "x1", "data-x");
        mark.setAttribute("x2", mark.getAttribute("x1"));
      }
      for (const mark of all("line[data-x1]", chart)) {
        swap(mark, "x1", "data-x1");
        swap(mark, "x2", "data-x2");
      }
    };
    let axis = "time";
    const choose = (wanted) => {
      if (wanted === axis) return;
      axis = wanted;
      change();
      for (const b of all("[data-show]", chart)) b.setAttribute("aria-pressed", String(b.dataset.show === axis));
      for (const part of all("[data-axis]", chart))
        part.dataset.axis === axis ? part.removeAttribute("hidden") : part.setAttribute("hidden", "");
    };
    for (const b of all("[data-show]", chart)) b.addEventListener("click", () => choose(b.dataset.show));
    for (const part of all(".switch", chart)) part.hidden = false;

    // Pointing at a pattern in the table below picks out its marks.
    const marks = all("[data-p]", chart);
    for (const row of all("tr[data-pattern]")) {
      row.addEventListener("pointerenter", () => {
        chart.classList.add("faded");
        for (const mark of marks) mark.classList.toggle("kept", mark.dataset.p === row.dataset.pattern);
      });
      row.addEventListener("pointerleave", () => chart.classList.remove("faded"));
    }
  }

  for (const b of all(".copy")) {
    b.addEventListener("click", async () => {
      const text = b.parentNode.querySelector("pre").textContent;
      try {
        await navigator.clipboard.writeText(text);
      } catch (e) {  // not offered to files in every browser
        const range = document.createRange();
        range.selectNodeContents(b.parentNode.querySelector("pre"));
        getSelection().removeAllRanges();
        getSelection().addRange(range);
        document.execCommand("copy");
      }
      b.textContent = "copied";
      setTimeout(() => { b.textContent = "copy"; }, 1500);
    });
  }

  // A link to a folded kernel opens the folds around it.
  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let up = target.parentElement; up; up = up.parentElement) if (up.tagName === "DETAILS") up.open = true;
    target.scrollIntoView({ block: "center" });
  };
  addEventListener("hashchange", reveal);
  if (location.hash.startsWith("#k-")) reveal();
  for (const summary of all(".tree summary a")) summary.addEventListener("click", (e) => e.stopPropagation());

  // On paper everything but the logs is unfolded.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = all("details:not(.log)").filter((d) => !d.open);
    for (const d of opened) d.open = true;
  });
  addEventListener("afterprint", () => { for (const d of opened) d.open = false; });
})();
