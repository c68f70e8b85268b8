// Erasing documents by file name, by id or by person, and the receipt in plain words.

import { ask, part } from "/web/api.js";
import { $, complain, confirmed, count, download, fill, h, many, size, table } from "/web/dom.js";

const CHECKS = { search: "the search by words", membership: "the attack by similarity", files: "the search of the files" };
const MOST = 10; // documents whose table is open from the start

const lines = (area) => area.value.split("\n").map((line) => line.trim()).filter((line) => line);

/** Says what came of something, at the top of the collection. */
export function tell(content) {
  if (content instanceof Error) complain($("receipt"), content);
  else fill($("receipt"), content);
  $("receipt").scrollIntoView({ block: "nearest" });
}

/** A field of several lines. */
function area(id, words, hint) {
  const typed = h("textarea", { id, rows: "3", spellcheck: "false", autocomplete: "off", "aria-describedby": `${id}-hint` });
  return [typed, h("div", { class: "field" }, h("label", { for: id }, words), typed, h("p", { class: "hint", id: `${id}-hint` }, hint))];
}

/** The form that erases from a collection; `drawn` draws it anew. */
export function erasing(row, drawn) {
  const aliases = row.replacements === "alias";
  const [ids, idsField] = area("erase-ids", "Documents, one a line", "The name of a file as it was uploaded, or its path if lethe ingest read it; the id of a record; or an id as it is listed below.");
  const [people, peopleField] = area("erase-people", "People, one full name a line", "Every document goes in which the alias of one of them stands. The names are sent to this server and stored nowhere.");
  const why = "Nothing here says which documents are about the same person, so they cannot be erased by name: that needs a policy with the same alias in every document (replacements = \"alias\").";
  const submit = (event) => {
    event.preventDefault();
    erase(row.collection, lines(ids), lines(people), drawn);
  };
  return h(
    "details",
    null,
    h("summary", null, aliases ? "Erase by file name, id or person" : "Erase by file name or id"),
    h(
      "form",
      { class: "panel", onsubmit: submit },
      h("div", { class: "halves" }, idsField, aliases ? peopleField : h("p", { class: "hint" }, why)),
      h("p", { class: "row" }, h("button", { type: "submit", class: "danger" }, "Erase")),
    ),
  );
}

/** Asks whether to erase, erases, and shows the receipt. */
export async function erase(name, ids, people, drawn) {
  if (!ids.length && !people.length) return tell(h("p", { class: "warning" }, "Select the documents to erase in the list below, or name them."));
  const what = [...(ids.length ? [many(ids.length, "document or file", "documents or files")] : []), ...(people.length ? [`all about ${many(people.length, "person", "people")}`] : [])];
  const sure = await confirmed(
    `Erase ${what.join(" and ")}?`,
    [
      "Their text, vectors and decisions are removed, and the server then searches its files for what is left. This cannot be undone.",
      ids.slice(0, 5).join(", ") + (ids.length > 5 ? " and more" : ""),
      people.length ? `Every document in which ${people.join(" or ")} has an alias goes, whoever else stands in it.` : "",
    ],
    "Erase",
  );
  if (!sure) return;
  try {
    const receipt = await ask("POST", `/v1/collections/${part(name)}/erase`, { json: { ids, people } });
    await drawn();
    tell(panel({ collection: name, erased_at: new Date().toISOString(), asked: { ids, people }, ...receipt }));
    $("collection-title").focus({ preventScroll: true });
  } catch (error) {
    tell(error);
  }
}

/** A receipt; what the server sent can be kept as a file. */
function panel(receipt) {
  const { erasures, proof } = receipt;
  const { before, after } = proof;
  const rows = erasures.map((each) => [
    [each.doc_id, ...each.also_known_as].join(", also known as ") + (each.resumed ? " (cut short before, finished now)" : ""),
    count(each.passages),
    count(each.ledger_rows),
  ]);
  const searched = Math.max(...erasures.map((each) => each.bytes_searched));
  const traces = erasures.reduce((sum, each) => sum + each.traces_found, 0);
  const checks = [
    ["Search with the words of each passage", `${count(before.found)} of ${count(before.passages)} found`, `${count(after.found)} found`],
    ["Attack that sees similarities only", `${count(before.members)} of ${count(before.passages)} taken for stored`, `${count(after.members)} taken for stored`],
    ["Ids of the erased documents", "", `${count(proof.read_back)} known`],
    ["Beginnings of texts and vectors in the files", "", searched ? `${many(traces, "trace")} in ${size(searched)}` : "not searched for"],
  ];
  const save = () => download(`receipt-${receipt.collection}-${receipt.erased_at.slice(0, 16).replaceAll(/[-:]/g, "")}.json`, `${JSON.stringify(receipt, null, 2)}\n`, "application/json");
  return h(
    "div",
    { class: "panel" },
    h("h3", null, `${many(erasures.length, "document")} erased`),
    table("What was checked", ["Check", "Before", "Now"], checks),
    receipt.proved ? h("p", null, h("b", null, "Proved: "), "search and attack found every passage before, and nothing is found now.") : leftOpen(receipt.not_proved),
    receipt.not_found.length ? h("p", { class: "warning" }, `Not found: ${receipt.not_found.join(", ")}.`) : null,
    h("details", { open: erasures.length <= MOST }, h("summary", null, "What was erased"), table("Erased documents", ["Document", "Passages", "Noted decisions"], rows)),
    h("p", null, h("button", { type: "button", class: "quiet", onclick: save }, "Save the receipt")),
  );
}

function leftOpen(reasons) {
  const items = reasons.map((each) => {
    const checks = each.checks.map((check) => CHECKS[check]).join(", ");
    const about = [many(each.documents, "document"), ...(each.passages ? [many(each.passages, "passage")] : [])].join(", ");
    return h("li", null, h("b", null, `${about}: `), `${each.reason} Open: ${checks}.`);
  });
  return h("div", { class: "warning" }, h("b", null, "Not all is proved"), h("ul", null, items));
}
