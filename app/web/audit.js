// A report from a file, in a frame without scripts, forms and ways out. The page's rules hold in the frame too and
// forbid styles within a page, so that the report's are renamed before it is read, and the server's copy of them takes
// their place. The frame is of the page's origin, or it could not load that copy; without scripts it has no use of it.

import { $, complain, fill, h } from "/web/dom.js";

const PRESENTATION = /^(fill|stroke|font|text-anchor|opacity|stroke-.*|fill-.*|font-.*)$/;

export function show() {}

function cleaned(text) {
  const renamed = text.replaceAll(/<(\/?)style\b/gi, "<$1x-style").replaceAll(/\sstyle="/gi, ' data-style="');
  const report = new DOMParser().parseFromString(renamed, "text/html");
  for (const each of report.querySelectorAll("script, x-style, link, base, meta, iframe, object, embed")) each.remove();
  for (const each of report.querySelectorAll("[data-style]")) {
    for (const rule of (each.dataset.style).split(";")) {
      const [name, value] = rule.split(":").map((side) => side.trim());
      if (value && PRESENTATION.test(name)) each.setAttribute(name, value);
    }
    each.removeAttribute("data-style");
  }
  const sheet = report.createElement("link");
  sheet.rel = "stylesheet";
  sheet.href = new URL("/web/report.css", location.href).href;
  report.head.append(sheet);
  return `<!doctype html>${report.documentElement.outerHTML}`;
}

$("audit-file").addEventListener("change", async (event) => {
  const [file] = event.target.files;
  if (!file) return;
  complain($("audit-error"), null);
  const text = await file.text();
  if (!/^\s*<!doctype html/i.test(text))
    return complain($("audit-error"), new Error("This is not an HTML page: choose the .html file that lethe has written."));
  const frame = h("iframe", { class: "report", title: `Report ${file.name}`, sandbox: "allow-same-origin" });
  frame.srcdoc = cleaned(text);
  fill($("audit-frame"), frame);
});
