// The collections: their figures, their documents, erasing, and sanitizing again.

import { ask, callers, collectionRows, documentOf, part, policyRows } from "/web/api.js";
import { bars, histogram } from "/web/charts.js";
import { $, announce, complain, confirmed, count, fill, h, many, pager, table, when } from "/web/dom.js";
import { erase, erasing, tell } from "/web/erasing.js";
import { one, reviewing, whole } from "/web/review.js";

const PAGE = 50;
const MOST = 1000; // documents whose risk is drawn
const STEP = 500;
let selected = new Set();
let opened = "";

export async function show(name) {
  opened = name;
  let rows, policies;
  try {
    [rows, policies] = await Promise.all([collectionRows(), policyRows()]);
  } catch (error) {
    return complain($("collections-error"), error);
  }
  complain($("collections-error"), null);
  drawList(rows);
  const row = rows.find((each) => each.collection === name) ?? null;
  if (name && !row) complain($("collections-error"), new Error(`There is no collection ${name} that you may see.`));
  if (row) await drawOne(row, policies);
  else fill($("collection"));
}

function drawList(rows) {
  if (!rows.length)
    return fill($("collections-list"), h("p", { class: "hint" }, "There are no collections yet. ", h("a", { href: "#ingest" }, "Ingest documents"), " first."));
  const cells = rows.map((row) => [
    h("a", { href: `#collections/${part(row.collection)}`, "aria-current": row.collection === opened ? "true" : null }, row.collection),
    count(row.documents),
    count(row.passages),
    row.policy,
    when(row.created),
  ]);
  fill($("collections-list"), table("Collections", ["Name", "Documents", "Passages", "Policy", "Made"], cells));
}

const ACTIONS = { keep: "kept", generalize: "generalized", surrogate: "other value", suppress: "removed" };

async function drawOne(row, policies) {
  const name = row.collection;
  const facts = {
    Policy: row.policy,
    "People are replaced by": row.replacements === "alias" ? "the same alias in every document" : "descriptors, anew in each document",
    "Originals in the vault": count(row.originals),
    Threshold: row.tau,
    Encoder: row.encoder,
    Detector: row.detector,
    "Risk model": row.risk,
    Index: row.index,
    Made: when(row.created),
    "Audit log": row.audit_log,
    ...(row.files_failed ? { "Files that failed": count(row.files_failed) } : {}),
  };
  const acts = Object.entries(row.entities).map(([action, value]) => ({
    name: ACTIONS[action] ?? action,
    value,
    shown: count(value),
    look: action === "keep" ? "soft" : "accent",
  }));
  const spread = h("div", { class: "panel" }, h("h3", null, "Risk of documents"), h("p", { class: "hint" }, "Reading."));
  const documents = h("div", { id: "documents" });
  const heading = h("h2", { id: "collection-title", tabindex: "-1" }, name);
  fill(
    $("collection"),
    h(
      "section",
      { "aria-labelledby": "collection-title" },
      h(
        "div",
        { class: "row between" },
        heading,
        h(
          "div",
          { class: "row" },
          h("a", { class: "button-like quiet", href: `#chat/${part(name)}` }, "Ask about it"),
          h("button", { type: "button", class: "quiet danger", onclick: () => erase(name, [...selected], [], () => show(name)) }, "Erase selected"),
          h("button", { type: "button", class: "quiet danger", onclick: () => removeAll(row) }, "Delete collection"),
        ),
      ),
      row.interrupted ? h("p", { class: "warning" }, h("b", null, "Warning: "), "the last ingest did not finish. Start it again: what is kept is not read twice.") : null,
      h("div", { id: "receipt", role: "status" }),
      h(
        "ul",
        { class: "tiles" },
        tile(row.documents, "documents"),
        tile(row.passages, "passages"),
        tile(Object.values(row.entities).reduce((sum, each) => sum + each, 0), "entities"),
      ),
      h(
        "div",
        { class: "halves" },
        h("div", { class: "panel" }, acts.length ? bars("Entities by what was done", acts) : h("p", { class: "hint" }, "No entities were found.")),
        spread,
      ),
      h("details", null, h("summary", null, "Settings"), h("dl", null, Object.entries(facts).flatMap(([term, value]) => [h("dt", null, term), h("dd", null, value)]))),
      reviewing(row, () => drawDocuments(name, documents, [""])),
      erasing(row, () => show(name)),
      sanitizingAgain(row, policies),
      h("h3", null, "Documents"),
      h("p", { class: "hint" }, "Names of files are not stored, only keyed digests of them; the form above finds a document by the name of its file."),
      documents,
    ),
  );
  selected = new Set();
  await Promise.all([drawDocuments(name, documents, [""]), drawSpread(name, spread, row.documents)]);
}

const tile = (value, noun) => h("li", null, h("b", null, count(value)), noun);

async function page(name, after, limit) {
  const query = new URLSearchParams({ limit: String(limit) });
  if (after) query.set("after", after);
  return (await ask("GET", `/v1/collections/${part(name)}/documents?${query}`)).documents;
}

async function drawSpread(name, place, total) {
  const heading = h("h3", null, "Risk of documents");
  try {
    const found = [];
    while (found.length < Math.min(MOST, total)) {
      const more = await page(name, found.at(-1)?.doc_id, STEP);
      found.push(...more);
      if (more.length < STEP) break;
    }
    if (!found.length) return fill(place, heading, h("p", { class: "hint" }, "There are no documents."));
    const series = [
      { name: "before", look: "soft", values: found.map((each) => each.detected_risk.before) },
      { name: "after", look: "accent", values: found.map((each) => each.detected_risk.after) },
    ];
    const legend = series.map((each) => h("li", null, h("span", { class: `swatch ${each.look}`, "aria-hidden": "true" }), each.name));
    const which = found.length < total ? `the first ${count(found.length)} documents` : many(found.length, "document");
    fill(place, heading, h("ul", { class: "legend", "aria-label": "Colors" }, legend), histogram(series), h("p", { class: "hint" }, `Risk of re-identification by what was found, from 0 to 1, in ${which}.`));
  } catch (error) {
    complain(place, error);
  }
}

/** A page of documents; `starts` are the ids behind which the pages up to this one begin. */
async function drawDocuments(name, place, starts) {
  let rows;
  try {
    rows = await page(name, starts.at(-1), PAGE + 1);
  } catch (error) {
    return complain(place, error);
  }
  const shown = rows.slice(0, PAGE);
  if (!shown.length) return fill(place, h("p", { class: "hint" }, "There are no documents."));
  const cells = shown.map((row) => [
    h("span", { class: "check" }, box(row.doc_id), h("label", { for: `doc-${row.doc_id}` }, row.title, " ", h("span", { class: "hint whole" }, row.doc_id)), opener(name, row, () => drawDocuments(name, place, starts))),
    when(row.kept_at),
    count(row.characters),
    count(row.passages),
    row.readers.join(", ") || "all",
    row.detected_risk.before.toFixed(2),
    row.detected_risk.after.toFixed(2),
    row.reviewed ? when(row.reviewed) : "",
    [...row.doubts, ...row.not_read.map((each) => `${many(each.count, each.kind)} ${each.read ? "read" : "not read"}`)].join("; "),
  ]);
  const heads = ["Document", "Kept", "Characters", "Passages", "Readers", "Risk of document before", "Risk of document after", "Reviewed", "Warnings"];
  const next = rows.length > PAGE ? shown.at(-1).doc_id : null;
  fill(place, h("p", { class: "hint" }, "Risk is that of a whole document, as it was sanitized; a review does not change it."), table(`Documents of ${name}`, heads, cells), pager(place, starts, next, (to) => drawDocuments(name, place, to)), h("div", { id: "document" }));
}

/** A button that shows the sanitized text of a document below the table, where it can be looked through again. */
function opener(name, row, changed) {
  const open = async (said = "") => {
    const place = $("document");
    try {
      const document = await documentOf(name, row.doc_id);
      const heading = h("h4", { tabindex: "-1" }, document.title || row.doc_id);
      const review = () => {
        fill(place, one(name, row, document, { next: open, changed }));
        place.querySelector("h4").focus();
      };
      const again = document.decisions ? h("p", null, h("button", { type: "button", class: "quiet", onclick: review }, "Mask words of it")) : null;
      fill(place, said ? h("p", { class: "hint", role: "status" }, said) : null, heading, h("p", { class: "hint" }, "Sanitized text, as it is stored and searched."), whole(document), again);
      heading.focus();
      place.scrollIntoView({ block: "start" });
    } catch (error) {
      complain(place, error);
    }
  };
  return h("button", { type: "button", class: "quiet small", "aria-label": `Open ${row.title || row.doc_id}`, onclick: () => open() }, "Open");
}

function box(docId) {
  const made = h("input", { type: "checkbox", id: `doc-${docId}` });
  made.checked = selected.has(docId);
  made.addEventListener("change", () => (made.checked ? selected.add(docId) : selected.delete(docId)));
  return made;
}

function sanitizingAgain(row, policies) {
  const title = h("summary", null, "Sanitize again under another policy");
  if (!row.originals)
    return h(
      "details",
      null,
      title,
      h("p", { class: "panel" }, "This collection has no originals in the vault, and what is sanitized cannot be sanitized anew: what was taken out is gone. Ingest the sources into a new collection with the other policy. Where the settings turn the vault on (vault.enabled and vault.key_file), what is ingested from then on can be sanitized again."),
    );
  const into = h("input", { id: "again-into", required: true, autocomplete: "off", spellcheck: "false", maxlength: "64", pattern: $("ingest-collection").pattern, title: $("ingest-collection").title });
  const policy = h("select", { id: "again-policy" }, policies.map((each) => h("option", { value: each.name }, each.name)));
  const problem = h("div", { id: "again-error" });
  const left = row.documents - row.originals;
  const submit = async (event) => {
    event.preventDefault();
    complain(problem, null);
    try {
      const order = { into: into.value, policy: { name: policy.value } };
      const job = await ask("POST", `/v1/collections/${part(row.collection)}/resanitize`, { json: order });
      location.hash = `ingest/${part(job.job_id)}`;
    } catch (error) {
      complain(problem, error);
    }
  };
  return h(
    "details",
    null,
    title,
    h(
      "form",
      { class: "panel", onsubmit: submit },
      h("p", { class: "hint" }, `The originals of ${many(row.originals, "document")} are read from the vault and sanitized into a new collection; this one stays as it is. What a review masked here is not masked there.`),
      left ? h("p", { class: "warning" }, `${many(left, "document")} without an original ${left === 1 ? "is" : "are"} left out.`) : null,
      h(
        "div",
        { class: "controls" },
        h("p", { class: "field" }, h("label", { for: "again-into" }, "New collection"), into),
        h("p", { class: "field" }, h("label", { for: "again-policy" }, "Its policy"), policy),
      ),
      problem,
      h("p", { class: "row" }, h("button", { type: "submit" }, "Sanitize again"), h("span", { class: "hint" }, "The job is followed in the tab Ingest.")),
    ),
  );
}

async function removeAll(row) {
  const name = row.collection;
  const sentences = [`${many(row.documents, "document")} and all that was made from them are removed. This cannot be undone.`];
  if (!(await confirmed(`Delete ${name}?`, sentences, "Delete", name))) return;
  try {
    await ask("DELETE", `/v1/collections/${part(name)}`);
    location.hash = "collections";
    announce(`${name} is deleted.`);
  } catch (error) {
    tell(error);
  }
}

callers.addEventListener("change", () => fill($("collection")));
