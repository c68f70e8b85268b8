// Small charts: tables with a bar a row, and histograms. Every figure also stands as text.

import { h, s } from "/web/dom.js";

/** A table with a bar for each row {name, value, shown, look}; bars are relative to `most`. */
export function bars(caption, rows, most = Math.max(...rows.map((row) => row.value), 1e-9)) {
  return h(
    "table",
    { class: "bars" },
    h("caption", null, caption),
    h(
      "tbody",
      null,
      rows.map((row) =>
        h(
          "tr",
          null,
          h("th", { scope: "row" }, row.name),
          h("td", { class: "bar" }, bar(row.value / most, row.look)),
          h("td", { class: "figure" }, row.shown ?? String(row.value)),
        ),
      ),
    ),
  );
}

function bar(share, look) {
  const width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return s(
    "svg",
    { class: "bar", width: "100%", height: "14", "aria-hidden": "true", focusable: "false" },
    s("rect", { class: "track", width: "100%", height: "14", rx: "3" }),
    s("rect", { class: look ?? "plain", width, height: "14", rx: "3" }),
  );
}

const BINS = 10;
const HEIGHT = 120;

/** How values in [0, 1] are spread: two series of bars {name, look, values}, and a sentence for screen readers. */
export function histogram(series) {
  const counts = series.map(({ values }) => {
    const bins = new Array(BINS).fill(0);
    for (const value of values) bins[Math.min(BINS - 1, Math.floor(value * BINS))] += 1;
    return bins;
  });
  const most = Math.max(1, ...counts.flat());
  const told = series.map(({ name }, n) => {
    const bins = counts[n].map((found, bin) => (found ? `${found} from ${bin / BINS} to ${(bin + 1) / BINS}` : null));
    return `${name}: ${bins.filter((each) => each).join(", ")}`;
  });
  const share = 100 / BINS;
  const wide = share / (series.length + 0.5);
  const drawn = counts.flatMap((bins, n) =>
    bins.map((found, bin) => {
      const height = (found / most) * HEIGHT;
      const x = `${bin * share + wide * (n + 0.25)}%`;
      const place = { x, y: HEIGHT - height + 14, width: `${wide * 0.92}%`, height };
      return found ? s("rect", { ...place, class: series[n].look, rx: "2" }, s("title", null, `${series[n].name}: ${found}`)) : null;
    }),
  );
  const ticks = [0, 0.2, 0.4, 0.6, 0.8, 1].map((at) =>
    s("text", { x: `${at * 100}%`, y: HEIGHT + 30, "text-anchor": at === 0 ? "start" : at === 1 ? "end" : "middle" }, String(at)),
  );
  return s(
    "svg",
    { class: "histogram", width: "100%", height: HEIGHT + 36, role: "img", "aria-label": `${told.join("; ")}.` },
    s("line", { x1: "0", x2: "100%", y1: HEIGHT + 14.5, y2: HEIGHT + 14.5 }),
    s("text", { x: "0", y: "10" }, `most in a bar: ${most}`),
    drawn,
    ticks,
  );
}
