// Audits: begins them, follows them, and shows their reports, or one from a file, in a frame without scripts, forms and
// ways out. The page's rules hold in the frame too and forbid styles within a page, so that the report's are renamed
// before it is read, and the server's copy of them takes their place. The frame is of the page's origin, or it could not
// load that copy; without scripts it has no use of it.

import { ask, callers, collectionRows, part, send } from "/web/api.js";
import { $, announce, complain, fill, h, table, when } from "/web/dom.js";

const PRESENTATION = /^(fill|stroke|font|text-anchor|opacity|stroke-.*|fill-.*|font-.*)$/;
const LOOKS = 1000; // milliseconds between two looks at an audit that goes on
const over = (job) => !["waiting", "running"].includes(job.state);
let followed = null;

export async function show(jobId) {
  try {
    const { scopes } = await ask("GET", "/v1/me");
    if (!scopes.includes("audit")) {
      $("audit-form").hidden = true;
      return;
    }
    const names = (await collectionRows()).map((row) => row.collection);
    const before = $("audit-collection").value;
    fill($("audit-collection"), names.map((name) => h("option", { value: name, selected: name === before }, name)));
    // Not before there is a collection to choose: a browser sends no form that lacks one, and says little of why.
    $("audit-form").hidden = !names.length;
    await list();
    complain($("audit-error"), null);
    if (jobId && jobId !== followed) await follow(jobId);
  } catch (error) {
    followed = null;
    complain($("audit-error"), error);
  }
}

async function list() {
  const { jobs } = await ask("GET", "/v1/audits");
  const rows = jobs.map((job) => [
    h("a", { href: `#audit/${part(job.job_id)}` }, when(job.created)),
    job.collection,
    h("span", { class: `state ${job.state}` }, job.state),
    job.summary?.verdict ?? job.error ?? "",
  ]);
  const heads = ["Started", "Collection", "State", "Verdict"];
  fill($("audit-list"), jobs.length ? [h("h2", null, "Audits"), table("Audits, newest first", heads, rows)] : null);
}

/** Shows an audit until it has ended, then its report. */
async function follow(jobId) {
  followed = jobId;
  fill($("audit-frame"));
  for (;;) {
    const job = await ask("GET", `/v1/audits/${part(jobId)}`);
    if (followed !== jobId) return;
    draw(job);
    if (!over(job)) {
      await new Promise((resolve) => setTimeout(resolve, LOOKS));
      continue;
    }
    await list();
    announce(`The audit is ${job.state}.`);
    if (job.state !== "done") return;
    const page = await send("GET", `/v1/audits/${part(jobId)}/report`);
    return frame(await page.text(), `Audit of ${job.collection}`);
  }
}

function draw(job) {
  const { systems_done: done = 0, systems = 5 } = job.progress;
  const stop = async () => {
    await ask("DELETE", `/v1/audits/${part(job.job_id)}`).catch((error) => complain($("audit-error"), error));
  };
  const bar = h("progress", { max: systems, value: done, "aria-label": "Systems attacked" });
  const cancel = h("button", { type: "button", class: "quiet", onclick: stop }, "Cancel");
  const said = job.summary?.verdict ?? job.error ?? `${done} of ${systems} systems are attacked`;
  const focused = document.activeElement?.matches("#audit-now button");
  fill(
    $("audit-now"),
    h("section", { class: "panel" }, h("h2", null, `Audit of ${job.collection}: ${job.state}`), h("p", null, said), over(job) ? null : [bar, h("p", { class: "row" }, cancel)]),
  );
  if (focused && !over(job)) $("audit-now").querySelector("button").focus();
}

const gateOf = (measure) => measure.selectedOptions[0].parentElement.dataset.gate;

/** A row for a limit of one measure. The options say whether it is the most of a leak or the least of what is useful. */
function addGate() {
  const measure = $("audit-gate").content.firstElementChild.cloneNode(true);
  const limit = h("input", { type: "number", min: "0", max: "1", step: "any", required: true, "aria-label": "Limit" });
  const side = h("span", { class: "hint" });
  const said = () => fill(side, gateOf(measure) === "at_most" ? "at most" : "at least");
  const leaveOut = () => {
    row.remove();
    $("audit-gate-add").focus();
  };
  const row = h("li", { class: "row" }, measure, side, limit, h("button", { type: "button", class: "quiet small", onclick: leaveOut }, "Leave out"));
  measure.addEventListener("change", said);
  said();
  $("audit-gate-list").append(row);
  measure.focus();
}

function gates() {
  const found = { at_most: {}, at_least: {} };
  for (const row of $("audit-gate-list").children) {
    const measure = row.querySelector("select");
    if (measure.value in found[gateOf(measure)]) throw new Error(`${measure.value} has two limits: leave one out.`);
    found[gateOf(measure)][measure.value] = row.querySelector("input").valueAsNumber;
  }
  return found;
}

async function begin() {
  const path = `/v1/collections/${part($("audit-collection").value)}/audits`;
  const files = $("audit-originals").files;
  const limits = gates();
  if (!files.length) return ask("POST", path, { json: { suite: $("audit-suite").value, ...limits } });
  const form = new FormData();
  for (const file of files) form.append("files", file);
  form.append("suite", $("audit-suite").value);
  for (const [name, of] of Object.entries(limits)) form.append(name, JSON.stringify(of));
  return ask("POST", path, { form });
}

$("audit-gate-add").addEventListener("click", addGate);

$("audit-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  complain($("audit-begin-error"), null);
  try {
    const job = await begin();
    location.hash = `audit/${part(job.job_id)}`;
  } catch (error) {
    complain($("audit-begin-error"), error);
  }
});

callers.addEventListener("change", () => {
  followed = null;
  for (const place of ["audit-now", "audit-list", "audit-frame", "audit-begin-error", "audit-error"]) fill($(place));
});

function frame(text, title) {
  const shown = h("iframe", { class: "report", title, sandbox: "allow-same-origin" });
  shown.srcdoc = cleaned(text);
  fill($("audit-frame"), shown);
}

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
  frame(text, `Report ${file.name}`);
});
