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

  // A chart with `levels` has heat maps of more cells than can be drawn: each level has the whole axis in equal columns.
  // Drawn is what lies in the window, of the coarsest level that has enough columns there.
  const enough = 512;
  const cells = (level) => (level.bytes ??= Uint8Array.from(atob(level.cells), (character) => character.charCodeAt(0)));
  const windowed = (axis, [from, to]) => {
    const share = Math.min(1, Math.max(1e-9, (to - from) / axis.end));
    const level = axis.levels.find(({ columns }) => columns * share >= enough) ?? axis.levels.at(-1);
    const width = axis.end / level.columns;
    const first = Math.max(0, Math.min(level.columns - 1, Math.floor(from / width)));
    const last = Math.max(first + 1, Math.min(level.columns, Math.ceil(to / width)));
    const bytes = cells(level);
    const rows = Array.from({ length: axis.rows }, (_, row) => Array.from(bytes.subarray(row * level.columns + first, row * level.columns + last)));
    return {
      x0: (first + 0.5) * width,
      dx: width,
      z: rows.map((row) => row.map((cell) => Math.floor(cell / axis.shares))),
      customdata: rows.map((row) => row.map((cell) =>
        `${axis.names[Math.floor(cell / axis.shares)]}: ${Math.round((100 * (cell % axis.shares)) / (axis.shares - 1))} % of the time`)),
    };
  };
  const zoomed = (element, change) => {
    if (!Object.keys(change).some((key) => key.startsWith("xaxis."))) return;
    const range = element._fullLayout.xaxis.range;
    for (const axis of charts[element.dataset.chart].levels) {
      const { x0, dx, z, customdata } = windowed(axis, range);
      Plotly.restyle(element, { x0, dx, z: [z], customdata: [customdata] }, [axis.trace]);
    }
    element.dataset.columns = element.data[0].z[0].length;
  };
  const draw = async (element) => {
    const chart = charts[element.dataset.chart];
    const { data, layout } = themed({ data: chart.data, layout: chart.layout }, element.clientWidth);
    for (const axis of chart.levels ?? []) Object.assign(data[axis.trace], windowed(axis, element._fullLayout?.xaxis.range ?? [0, axis.end]));
    const watched = Boolean(element._fullLayout);
    await Plotly.react(element, data, layout, { responsive: true, displaylogo: false, displayModeBar: false });
    if (chart.levels && !watched) element.on("plotly_relayout", (change) => zoomed(element, change));
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
