"use strict";
// Draws tables with data-chart as charts. Without scripts the tables are shown; with scripts they are folded below the
// charts.
(() => {
  const opened = new Set(); // tables that the reader has opened
  let plots = [];
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const strokes = ["--bar4", "--bar1", "--bar3"];
  const local = (t) => new Date((t - new Date(t * 1e3).getTimezoneOffset() * 60) * 1e3).toISOString(); // in the zone of the browser
  const seconds = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 1209600, 2592000, 7776000, 31536000];

  const draw = (table) => {
    const rows = [...table.tBodies[0].rows];
    if (rows.length < 2 || table.dataset.drawn) return;
    table.dataset.drawn = "yes";
    const details = table.closest("details");
    details.open = opened.has(details.id);
    details.addEventListener("toggle", () => (details.open ? opened.add(details.id) : opened.delete(details.id)));
    const heads = [...table.tHead.rows[0].cells].slice(1).filter((h) => !("plain" in h.dataset));
    const time = table.dataset.chart === "time";
    const data = [rows.map((r) => Number(r.cells[0].dataset.at))];
    heads.forEach((h) => data.push(rows.map((r) => (r.cells[h.cellIndex].dataset.n ? Number(r.cells[h.cellIndex].dataset.n) : null))));
    const figure = document.createElement("figure");
    figure.className = "plot";
    const caption = document.createElement("figcaption");
    heads.forEach((h, i) => {
      const name = document.createElement("span");
      name.className = "series s" + i;
      name.textContent = h.textContent;
      caption.append(name, " ");
    });
    const at = document.createElement("div");
    at.setAttribute("role", "img");
    at.setAttribute("aria-label", table.caption.textContent + ". The table below has the numbers.");
    figure.append(caption, at);
    details.before(figure);
    const scale = (h) => h.dataset.scale || "y";
    const ink = colour("--dim"), line = colour("--line");
    const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
    const axes = [{ ...axis }, { ...axis, scale: "y" }];
    const spans = data[0][data[0].length - 1] - data[0][0]; // seconds
    const [least, told] = spans > 129600 ? [3600, (at) => at.slice(5, 10) + "\n" + at.slice(11, 16)] : spans > 600 ? [60, (at) => at.slice(11, 16)] : [1, (at) => at.slice(11, 19)];
    axes[0].incrs = seconds.filter((s) => s >= least || !time); // no two labels are the same
    axes[0].space = 60;
    if (time) axes[0].values = (_, ticks) => ticks.map((t) => told(local(t))); // 2030-04-01T09:00:00Z
    else axes[0].values = (_, ticks) => ticks.map((t) => Math.floor(t / 60) + ":" + String(Math.floor(t % 60)).padStart(2, "0"));
    const scales = { x: { time }, y: { range: (_, low, high) => [0, Math.max(1, high * 1.1)] } };
    if (heads.some((h) => scale(h) === "%")) {
      axes.push({ ...axis, side: 1, scale: "%", size: 60, grid: { show: false }, values: (_, ticks) => ticks.map((t) => t + " %") });
      scales["%"] = { range: time ? [0, 100] : (_, low, high) => [0, Math.max(5, high * 1.2)] }; // little loss is much
    }
    const plot = new uPlot(
      {
        width: Math.max(280, figure.clientWidth), height: 220, scales, axes, legend: { show: false }, cursor: { drag: { setScale: false } },
        series: [{}, ...heads.map((h, i) => ({ label: h.textContent, scale: scale(h), stroke: colour(strokes[i % strokes.length]), width: 2, spanGaps: false }))],
      },
      data,
      at,
    );
    plots.push({ plot, figure, table });
  };

  const drawAll = () => {
    plots = plots.filter((p) => p.figure.isConnected || p.plot.destroy());
    document.querySelectorAll("table[data-chart]").forEach(draw);
  };
  const again = () => {
    plots.forEach((p) => {
      p.plot.destroy();
      p.figure.remove();
      delete p.table.dataset.drawn;
    });
    plots = [];
    drawAll();
  };
  addEventListener("resize", () => plots.forEach((p) => p.plot.setSize({ width: Math.max(280, p.figure.clientWidth), height: 220 })));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  document.addEventListener("htmx:afterSwap", drawAll);
  drawAll();
})();
