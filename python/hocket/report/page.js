// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Unpacks plotly.js and the figures, draws the charts when they come into view, and redraws them when the colour scheme changes.
(async () => {
  "use strict";
  const unpacked = (id) => {
    const packed = atob(document.getElementById(id).textContent);
    const bytes = Uint8Array.from(packed, (character) => character.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
  };
  let charts;
  try {
    const content = await unpacked("charts").json();
    charts = content.charts;
    for (const element of document.querySelectorAll("[data-fragment]"))
      element.innerHTML = content.fragments[element.dataset.fragment];
    const script = document.createElement("script");
    script.textContent = await unpacked("plotly").text();
    document.head.append(script);
  } catch {
    document.getElementById("no-charts").hidden = false;
    return;
  }

  // "--name" anywhere in a figure stands for the colour of that CSS variable.
  const coloured = (value, style) => {
    if (typeof value === "string") return value.startsWith("--") ? style.getPropertyValue(value).trim() : value;
    if (Array.isArray(value)) return value.map((item) => coloured(item, style));
    if (value && typeof value === "object")
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, coloured(item, style)]));
    return value;
  };
  const themed = (figure, width) => {
    const style = getComputedStyle(document.documentElement);
    const { data, layout } = coloured(figure, style);
    const colour = (name) => style.getPropertyValue(name).trim();
    for (const [key, axis] of Object.entries(layout))
      if (/^[xy]axis/.test(key))
        layout[key] = { gridcolor: colour("--line"), zerolinecolor: colour("--axis"), linecolor: colour("--axis"), ...axis };
    if (width < 600)
      for (const [key, axis] of Object.entries(layout)) if (/^xaxis/.test(key)) axis.nticks = 4;
    return {
      data,
      layout: {
        paper_bgcolor: "rgba(0,0,0,0)",
        plot_bgcolor: "rgba(0,0,0,0)",
        font: { family: style.fontFamily, size: 13, color: colour("--text") },
        hoverlabel: { bgcolor: colour("--surface"), bordercolor: colour("--axis"), font: { color: colour("--text") } },
        ...layout,
      },
    };
  };
  const draw = (element) => {
    const { data, layout } = themed(charts[element.dataset.chart], element.clientWidth);
    return Plotly.react(element, data, layout, { responsive: true, displaylogo: false, displayModeBar: false });
  };

  const elements = [...document.querySelectorAll("[data-chart]")];
  const drawn = new Set();
  const show = async (element) => {
    if (drawn.has(element)) return;
    drawn.add(element);
    await draw(element);
    element.dataset.drawn = "yes";
  };
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) show(entry.target);
  }, { rootMargin: "600px" });
  elements.forEach((element) => observer.observe(element));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawn.forEach(draw));
  addEventListener("beforeprint", () => elements.forEach(show));
})();
