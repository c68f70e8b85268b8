// Sends files to a collection and follows the jobs. Reports number the files; this browser puts in their names.

import { ask, callers, collectionRows, events, part, policyRows, send } from "/web/api.js";
import { $, KINDS, announce, complain, count, fill, h, many, size, table, when } from "/web/dom.js";

const STATES = { waiting: "waiting", running: "running", done: "done", failed: "failed", cancelled: "cancelled" };
const over = (job) => !["waiting", "running"].includes(job.state);

let chosen = [];
const namesOf = new Map(); // by job, until the page is closed; never stored
let following = null;
let shown = null;

export async function show(jobId) {
  try {
    const [rows, policies] = await Promise.all([collectionRows(), policyRows()]);
    fill($("ingest-collections"), rows.map((row) => h("option", { value: row.collection })));
    if (!$("ingest-policy").options.length)
      fill($("ingest-policy"), policies.map((each) => h("option", { value: each.name }, each.name)));
    there = new Set(rows.map((row) => row.collection));
    named();
  } catch (error) {
    complain($("ingest-error"), error);
  }
  await list();
  if (jobId && jobId !== shown) follow(jobId);
}

let there = new Set();

function named() {
  const known = there.has($("ingest-collection").value);
  $("ingest-policy").disabled = known;
  $("ingest-collection-hint").textContent = known
    ? "This collection is there already and keeps the policy that it was made with."
    : "A collection keeps the policy that it was made with.";
}

async function list() {
  try {
    const { jobs } = await ask("GET", "/v1/jobs");
    complain($("job-error"), null);
    if (!jobs.length) return fill($("job-list"), h("p", { class: "hint" }, "There are no jobs yet."));
    const rows = jobs.map((job) => [
      h("a", { href: `#ingest/${part(job.job_id)}` }, when(job.created)),
      job.collection,
      job.dry_run ? "dry run" : job.kind,
      state(job),
      count(job.progress.documents_kept ?? 0),
      count(job.progress.documents_failed ?? 0),
    ]);
    fill($("job-list"), table("Jobs, newest first", ["Started", "Collection", "Kind", "State", "Kept", "Failed"], rows));
  } catch (error) {
    complain($("job-error"), error);
  }
}

const state = (job) => h("span", { class: `state ${job.state}` }, STATES[job.state] ?? job.state);

function choose(files) {
  const known = new Set(chosen.map((file) => `${file.name}/${file.size}/${file.lastModified}`));
  chosen = [...chosen, ...[...files].filter((file) => !known.has(`${file.name}/${file.size}/${file.lastModified}`))];
  draw();
}

function draw() {
  const rows = chosen.map((file, at) =>
    h(
      "li",
      null,
      h("span", { class: "name" }, file.name),
      h("span", { class: "hint" }, size(file.size)),
      h("button", { type: "button", class: "quiet small", "aria-label": `Leave out ${file.name}`, onclick: () => leaveOut(at) }, "Leave out"),
    ),
  );
  fill($("ingest-list"), rows);
  announce(`${many(chosen.length, "file")} chosen.`);
}

function leaveOut(at) {
  chosen = chosen.filter((_, n) => n !== at);
  draw();
  $("ingest-files").focus();
}

async function start(dryRun) {
  complain($("ingest-error"), null);
  if (!chosen.length) return complain($("ingest-error"), new Error("Choose at least one file."));
  const collection = $("ingest-collection").value;
  const form = new FormData();
  // A file's name becomes the digest that names its document; the server's reports call it by its number.
  for (const file of chosen) form.append("files", file);
  // Before the policies are listed, that of the server's settings is taken.
  const policy = $("ingest-policy").value;
  if (policy && !there.has(collection)) form.append("policy", JSON.stringify({ name: policy }));
  if ($("ingest-readers").value.trim()) form.append("readers", $("ingest-readers").value);
  for (const [field, given] of [["text_field", $("ingest-text")], ["id_field", $("ingest-id")]]) if (given.value.trim()) form.append(field, given.value.trim());
  form.append("dry_run", String(dryRun));
  const names = chosen.map((file) => file.name);
  lock(true);
  try {
    const job = await ask("POST", `/v1/collections/${part(collection)}/documents`, { form });
    namesOf.set(job.job_id, names);
    location.hash = `ingest/${part(job.job_id)}`;
    follow(job.job_id);
  } catch (error) {
    complain($("ingest-error"), error);
  } finally {
    lock(false);
  }
}

function lock(is) {
  $("ingest-dry").disabled = $("ingest-run").disabled = is;
}

/** Shows a job and every change of it until it has ended. */
async function follow(jobId) {
  following?.abort();
  const mine = (following = new AbortController());
  shown = jobId;
  let job = null;
  try {
    const response = await send("GET", `/v1/jobs/${part(jobId)}/events`, { signal: mine.signal });
    for await (const data of events(response)) {
      const first = job === null;
      job = JSON.parse(data);
      drawJob(job);
      if (first) $("job-now").scrollIntoView({ block: "nearest" });
    }
    if (job && over(job)) announce(`${job.dry_run ? "The dry run" : "The job"} is ${job.state}.`);
    await show("");
  } catch (error) {
    if (following === mine) complain($("job-now"), error);
  }
}

/** "file 2, line 7" in words of the browser, which knows the second file's name. */
function place(job, text) {
  const names = namesOf.get(job.job_id) ?? [];
  return text.replace(/^file (\d+)/, (whole, number) => names[Number(number) - 1] ?? whole);
}

function drawJob(job) {
  const { progress } = job;
  const title = `${job.dry_run ? "Dry run" : job.kind === "ingest" ? "Ingest" : "Resanitizing"} into ${job.collection}`;
  const bar = h("progress", { max: Math.max(1, progress.bytes_total ?? 1), "aria-label": job.kind === "ingest" ? "Bytes done" : "Progress" });
  // Without a value the bar says that work goes on.
  if (over(job)) bar.value = bar.max;
  else if (progress.bytes_total) bar.value = progress.bytes_done ?? progress.bytes_read;
  const before = job.ahead === null ? null : h("p", { class: "hint" }, `${many(job.ahead, "job")} before it. Jobs of keys take turns.`);
  const figures = [
    [many(progress.documents_read ?? 0, "document"), "read"],
    [count(progress.documents_kept ?? 0), job.dry_run ? "would be kept" : "kept"],
    [count(progress.documents_failed ?? 0), "failed"],
  ];
  if (cancel?.dataset.job !== job.job_id) {
    cancel = h("button", { type: "button", class: "quiet", onclick: () => stop(job.job_id) }, "Cancel");
    cancel.dataset.job = job.job_id;
  }
  const focused = document.activeElement?.matches("#job-now button");
  fill(
    $("job-now"),
    h(
      "section",
      { class: "panel", "aria-labelledby": "job-title" },
      h("div", { class: "row between" }, h("h2", { id: "job-title" }, title), state(job)),
      bar,
      before,
      h("p", { class: "figures" }, figures.map(([figure, noun]) => h("span", null, h("b", null, figure), ` ${noun}`))),
      job.error ? h("p", { class: "alert" }, job.error) : null,
      failures(job),
      job.summary ? summary(job) : null,
      over(job) ? null : h("p", { class: "row" }, cancel),
    ),
  );
  if (focused && !over(job)) cancel.focus();
}

/** Advice of the command line in words of this page. */
const onPage = (reason) => reason.replaceAll("text_field of the request", "“Field with the text”").replaceAll("id_field of the request", "“Field with the id”");

function failures(job) {
  if (!job.failures?.length) return null;
  const rows = job.failures.map((each) => [place(job, each.place), onPage(each.reason)]);
  return [h("h3", null, "Not read"), table("What was not read", ["Where", "Why"], rows)];
}

const LINES = {
  documents_replaced: "replaced by a newer version",
  documents_erased: "erased, because they are gone from their file",
  duplicates_skipped: "were there already",
  passages: "passages",
};

function summary(job) {
  const { summary: found } = job;
  const lines = Object.entries(LINES).filter(([name]) => found[name]);
  const doubts = Object.entries(found.doubts ?? {});
  return [
    lines.length ? h("p", { class: "figures" }, lines.map(([name, words]) => h("span", null, h("b", null, count(found[name])), ` ${words}`))) : null,
    doubts.map(([doubt, times]) => h("p", { class: "warning" }, `Entities may have been missed in ${many(times, "document")}: ${doubt}.`)),
    (found.not_read ?? []).map((each) => h("p", { class: "warning" }, `${each.read ? "Read" : "Not read"}: ${many(each.count, each.kind)} (${onPage(each.reason)}).`)),
    found.decisions?.length ? decisions(found.decisions) : null,
    job.dry_run || job.state !== "done" ? null : h("p", null, h("a", { href: `#collections/${part(job.collection)}` }, `Open ${job.collection}`), " or ", h("a", { href: `#chat/${part(job.collection)}` }, "ask about it"), "."),
    job.dry_run && job.state === "done" ? h("p", { class: "hint" }, "Nothing was stored.") : null,
  ];
}

function decisions(rows) {
  const cells = rows.map((row) => [
    row.label,
    h("span", { class: `kind ${row.identifier}` }, KINDS[row.identifier]),
    row.action,
    count(row.mentions),
    row.replacements.join(", "),
    row.reason,
  ]);
  return [h("h3", null, "What would happen"), table("Decisions by kind", ["Label", "Class", "Action", "Mentions", "Becomes, for example", "Reason"], cells)];
}

let cancel = null; // the same button while a job is drawn again and again, so that it can be clicked

async function stop(jobId) {
  try {
    await ask("DELETE", `/v1/jobs/${part(jobId)}`);
    announce("Cancelling.");
  } catch (error) {
    complain($("job-error"), error);
  }
}

const drop = $("ingest-drop");
// A file that misses the place must not be opened instead of the page.
for (const name of ["dragover", "drop"]) addEventListener(name, (event) => event.preventDefault());
drop.addEventListener("dragover", () => drop.classList.add("over"));
for (const name of ["dragleave", "drop"]) drop.addEventListener(name, () => drop.classList.remove("over"));
drop.addEventListener("drop", (event) => {
  choose(event.dataTransfer.files);
});
$("ingest-files").addEventListener("change", (event) => {
  choose(event.target.files);
  event.target.value = "";
});
$("ingest-collection").addEventListener("input", named);
$("ingest-form").addEventListener("submit", (event) => {
  event.preventDefault();
  start(event.submitter?.value !== "run");
});
callers.addEventListener("change", () => {
  following?.abort();
  shown = null;
  fill($("job-now"));
});
