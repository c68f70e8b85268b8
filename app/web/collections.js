// The collections: their figures, their documents, and erasing.

import { ask, callers, collectionRows, part } from "/web/api.js";
import { bars, histogram } from "/web/charts.js";
import { $, announce, complain, confirmed, count, download, fill, h, many, table, when } from "/web/dom.js";

const PAGE = 50;
const MOST = 1000; // documents whose risk is drawn
const STEP = 500;
let selected = new Set();
let opened = "";

export async function show(name) {
  opened = name;
  let rows;
  try {
    rows = await collectionRows();
  } catch (error) {
    return complain($("collections-error"), error);
  }
  complain($("collections-error"), null);
  drawList(rows);
  const row = rows.find((each) => each.collection === name) ?? null;
  if (name && !row) complain($("collections-error"), new Error(`There is no collection ${name} that you may see.`));
  if (row) await drawOne(row);
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

async function drawOne(row) {
  const name = row.collection;
  const facts = {
    Policy: row.policy,
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
          h("button", { type: "button", class: "quiet danger", onclick: () => erasePart(name) }, "Erase selected"),
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
      h("h3", null, "Documents"),
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
    h("span", { class: "check" }, box(row.doc_id), h("label", { for: `doc-${row.doc_id}`, class: "whole" }, row.doc_id)),
    when(row.kept_at),
    count(row.characters),
    count(row.passages),
    row.detected_risk.before.toFixed(2),
    row.detected_risk.after.toFixed(2),
    [...row.doubts, ...row.not_read.map((each) => `${many(each.count, each.kind)} not read`)].join("; "),
  ]);
  const heads = ["Document", "Kept", "Characters", "Passages", "Risk before", "Risk after", "Warnings"];
  const back = h("button", { type: "button", class: "quiet", onclick: () => drawDocuments(name, place, starts.slice(0, -1)) }, "Previous");
  const next = h("button", { type: "button", class: "quiet", onclick: () => drawDocuments(name, place, [...starts, shown.at(-1).doc_id]) }, "Next");
  back.disabled = starts.length === 1;
  next.disabled = rows.length <= PAGE;
  fill(
    place,
    table(`Documents of ${name}`, heads, cells),
    back.disabled && next.disabled ? null : h("p", { class: "row" }, back, h("span", { class: "hint" }, `Page ${starts.length}`), next),
  );
}

function box(docId) {
  const made = h("input", { type: "checkbox", id: `doc-${docId}` });
  made.checked = selected.has(docId);
  made.addEventListener("change", () => (made.checked ? selected.add(docId) : selected.delete(docId)));
  return made;
}

async function erasePart(name) {
  const ids = [...selected];
  if (!ids.length) return fill($("receipt"), h("p", { class: "warning" }, "Select the documents to erase in the list below."));
  const sure = await confirmed(
    `Erase ${many(ids.length, "document")}?`,
    ["Their text, vectors and decisions are removed, and the server then searches its files for what is left. This cannot be undone.", ids.slice(0, 5).join(", ") + (ids.length > 5 ? " and more" : "")],
    "Erase",
  );
  if (!sure) return;
  try {
    const receipt = await ask("POST", `/v1/collections/${part(name)}/erase`, { json: { ids } });
    await show(name);
    fill($("receipt"), told(receipt));
    $("collection-title").focus();
  } catch (error) {
    complain($("receipt"), error);
  }
}

/** A receipt in plain words; what the server sent can be kept as a file. */
function told(receipt) {
  const lines = receipt.erasures.map((each) => {
    const names = [each.doc_id, ...each.also_known_as].join(", also known as ");
    const searched = `${count(each.bytes_searched)} bytes were searched`;
    const traces = each.traces_found ? `${searched}, and ${many(each.traces_found, "trace")} of it ${each.traces_found === 1 ? "was" : "were"} found. It is not gone.` : `${searched}, and no trace of it was found.`;
    return h("li", { class: each.traces_found ? "alert" : null }, `${names}: ${many(each.passages, "passage")} and ${many(each.ledger_rows, "noted decision")} removed; ${traces}`);
  });
  const clean = receipt.complete && receipt.erasures.every((each) => each.traces_found === 0);
  const { before, after } = receipt.proof;
  return h(
    "div",
    { class: "panel" },
    h("h3", null, clean ? `${many(receipt.erasures.length, "document")} erased` : "Traces were found"),
    h("ul", null, lines),
    before.passages
      ? h("p", null, `Asked with the words of ${many(before.passages, "erased passage")}, the search found ${count(before.found)} before and finds ${count(after.found)} now.`)
      : null,
    receipt.not_found.length ? h("p", { class: "warning" }, `Not found: ${receipt.not_found.join(", ")}.`) : null,
    h("p", null, h("button", { type: "button", class: "quiet", onclick: () => saveReceipt(receipt) }, "Save the receipt")),
  );
}

function saveReceipt(receipt) {
  download("receipt.json", `${JSON.stringify(receipt, null, 2)}\n`, "application/json");
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
    complain($("receipt"), error);
  }
}

callers.addEventListener("change", () => fill($("collection")));
