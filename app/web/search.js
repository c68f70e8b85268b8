// Passages of one collection for a question, best first, with the words of the question marked.

import { ask, callers } from "/web/api.js";
import { nothingYet, offered, passageOf } from "/web/chat.js";
import { $, complain, fill, h, many } from "/web/dom.js";

const LETTERS = 4; // words are marked by so many first letters; shorter ones are not

let loaded = null; // when the collections are known

export function show(wanted) {
  loaded = load(wanted);
  return loaded;
}

async function load(wanted) {
  try {
    const rows = await offered($("search-collection"), $("search-go"), wanted);
    complain($("search-error"), null);
    if (!rows.length) fill($("search-found"), nothingYet());
  } catch (error) {
    complain($("search-error"), error);
  }
}

/** A text in pieces, those that a word of the question begins like marked. */
function marked(text, question) {
  const words = question.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const starts = new Set(words.filter((word) => word.length >= LETTERS).map((word) => word.slice(0, LETTERS)));
  return text.split(/([\p{L}\p{N}]+)/u).map((piece) => (starts.has(piece.toLowerCase().slice(0, LETTERS)) ? h("mark", null, piece) : piece));
}

async function look(question) {
  const collection = $("search-collection").value;
  complain($("search-error"), null);
  $("search-go").disabled = true;
  try {
    const { passages } = await ask("POST", "/v1/search", { json: { collection, question } });
    const shown = passages.map((each) => h("li", { class: "panel" }, passageOf(each, collection, marked(each.text, question), () => {})));
    const words = shown.some((each) => each.querySelector("mark")) || !passages.length ? "" : " None holds a word of the question: these are only the nearest in meaning.";
    fill($("search-found"), h("p", { class: "hint" }, `${many(passages.length, "passage")}, best first.${words}`), h("ol", { class: "found" }, shown));
  } catch (error) {
    fill($("search-found"));
    complain($("search-error"), error);
  } finally {
    $("search-go").disabled = false;
  }
}

$("search-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  await loaded;
  const question = $("search-question").value.trim();
  if (question && $("search-collection").value) look(question);
});
callers.addEventListener("change", () => fill($("search-found")));
