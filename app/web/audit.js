// A report from a file, in a frame that may do nothing. The page's rules hold in the frame too, so that the
// report's own styles are left out: the server's copy of its style sheet takes their place.

import { $, complain, fill, h } from "/web/dom.js";

const PRESENTATION = /^(fill|stroke|font|text-anchor|opacity|stroke-.*|fill-.*|font-.*)$/;

export function show() {}

function cleaned(text) {
  const report = new DOMParser().parseFromString(text, "text/html");
  for (const each of report.querySelectorAll("script, style, link, base, meta, iframe, object, embed")) each.remove();
  for (const each of report.querySelectorAll("[style]")) {
    for (const rule of (each.getAttribute("style") ?? "").split(";")) {
      const [name, value] = rule.split(":").map((side) => side.trim());
      if (value && PRESENTATION.test(name)) each.setAttribute(name, value);
    }
    each.removeAttribute("style");
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
  const frame = h("iframe", { sandbox: "", title: `Report ${file.name}`, class: "report" });
  frame.srcdoc = cleaned(text);
  fill($("audit-frame"), frame);
});
