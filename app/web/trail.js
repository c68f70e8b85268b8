// The trail: who did what, the newest first, and whether the chain of its entries holds.

import { ask, callers, part } from "/web/api.js";
import { $, complain, count, download, fill, h, many, pager, table, when } from "/web/dom.js";

const PAGE = 50;
const MOST_IDS = 3; // of documents, keys or jobs in one row
const NOBODY = { everybody: "no key", console: "command line" };
const seen = new Set(); // names of collections, deleted ones too

export async function show(collection) {
  $("trail-collection").value = collection;
  await draw(collection, [null]);
}

/** A page of entries; `starts` are the numbers before which the pages up to this one begin, null for the newest. */
async function draw(collection, starts) {
  const query = new URLSearchParams({ newest: "true", most: String(PAGE + 1) });
  if (collection) query.set("collection", collection);
  if (starts.at(-1) !== null) query.set("before", String(starts.at(-1)));
  let found;
  try {
    found = await ask("GET", `/v1/trail?${query}`);
  } catch (error) {
    fill($("trail-chain"));
    fill($("trail-list"));
    return complain($("trail-error"), error);
  }
  complain($("trail-error"), null);
  drawChain(found);
  const shown = found.entries.slice(0, PAGE);
  for (const entry of shown) if (entry.collection) seen.add(entry.collection);
  fill($("trail-collections"), [...seen].sort().map((name) => h("option", { value: name })));
  if (!shown.length) return fill($("trail-list"), h("p", { class: "hint" }, "There are no entries."));
  const heads = ["Entry", "When", "Key", "Action", "Collection", "Outcome", "About"];
  const rows = shown.map((entry) => [
    count(entry.entry),
    when(entry.at, "medium"),
    NOBODY[entry.key_id] ?? entry.key_id ?? "",
    entry.action ?? "",
    entry.collection ?? "",
    outcome(entry, found.first_broken),
    [...ids(entry.about), ...Object.entries(entry.counts).map(([noun, number]) => `${noun}: ${count(number)}`)].join(", "),
  ]);
  const next = found.entries.length > PAGE ? shown.at(-1).entry : null;
  fill(
    $("trail-list"),
    table(collection ? `Entries about ${collection}, newest first` : "Entries, newest first", heads, rows),
    pager($("trail-list"), starts, next, (to) => draw(collection, to)),
  );
}

function drawChain({ head, whole, first_broken: broken }) {
  const save = () => download("head.json", `${JSON.stringify(head)}\n`, "application/json");
  const place = $("trail-chain");
  if (!whole) {
    const rest = "it was altered, removed, slipped in or cut off. What stands from there on proves nothing.";
    return fill(place, h("p", { class: "alert" }, h("b", null, `The chain is broken at entry ${count(broken)}: `), rest));
  }
  if (!head.entry) return fill(place);
  fill(
    place,
    h(
      "div",
      { class: "row between" },
      h("p", null, h("b", null, "The chain is whole. "), `Each of ${many(head.entry, "entry", "entries")} fits the one before it. Keep the head elsewhere: it shows later whether the end was cut off.`),
      h("button", { type: "button", class: "quiet", onclick: save }, "Save the head"),
    ),
  );
}

function outcome(entry, broken) {
  if (entry.entry === broken) return h("span", { class: "state failed" }, "does not fit");
  const bad = entry.outcome === "failed" || entry.outcome >= 400;
  return h("span", { class: `state ${bad ? "failed" : ""}` }, String(entry.outcome ?? "not known"));
}

function ids(about) {
  const found = about ? about.split(" ") : [];
  const rest = found.length - MOST_IDS;
  return rest > 0 ? [...found.slice(0, MOST_IDS), `${count(rest)} more`] : found;
}

$("trail-collection").addEventListener("change", (event) => {
  const name = event.target.value.trim();
  location.hash = name ? `trail/${part(name)}` : "trail";
});
callers.addEventListener("change", () => {
  seen.clear();
  fill($("trail-chain"));
  fill($("trail-list"));
});
