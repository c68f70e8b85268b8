// A chat over one collection: streamed answers, whose marks open the passages that they stand for.

import { ask, collectionRows, documentOf, events, send } from "/web/api.js";
import { $, announce, complain, fill, h, many, score } from "/web/dom.js";

const MOST_TURNS = 3; // as many of the user's turns as the server reads into one question
let turns = [];
let running = null;
let loaded = null; // when the collections are known
let opener = null;

const asked = () => turns.filter((turn) => turn.role === "user").map((turn) => turn.content);

export function show(wanted) {
  loaded = load(wanted);
  return loaded;
}

async function load(wanted) {
  const choice = $("chat-collection");
  try {
    const rows = await offered(choice, $("chat-send"), wanted);
    complain($("chat-error"), null);
    if (rows.length === 0) fill($("chat-log"), nothingYet());
    else if (!turns.length) welcome(rows.find((row) => row.collection === choice.value));
  } catch (error) {
    complain($("chat-error"), error);
  }
}

/** The collections, now offered by a choice; without any, a button is off. */
export async function offered(choice, go, wanted) {
  const rows = await collectionRows();
  const now = wanted || choice.value;
  fill(choice, rows.map((row) => h("option", { value: row.collection }, row.collection)));
  if (rows.some((row) => row.collection === now)) choice.value = now;
  go.disabled = rows.length === 0;
  return rows;
}

/** Says that there are no collections. */
export function nothingYet() {
  return h("p", { class: "hint" }, "There are no collections yet. ", h("a", { href: "#ingest" }, "Ingest documents"), " first.");
}

function welcome(row) {
  fill(
    $("chat-log"),
    h(
      "p",
      { class: "hint" },
      `${row.collection}: ${many(row.documents, "document")}, sanitized with the policy ${row.policy}. `,
      "Answers come from the sanitized text; a mark such as [1] opens the passage that it stands for.",
    ),
  );
}

function fresh() {
  running?.abort();
  turns = [];
  opener = null;
  closePassage();
  show($("chat-collection").value);
}

/** The answer's text, with a button for each mark that has a citation. */
function marked(text, citations, open) {
  const known = new Map(citations.map((each) => [String(each.mark), each]));
  // A mark and the punctuation behind it stay on one line.
  return text.split(/(\[\d+\][.,;:!?)]*)/).map((piece) => {
    const [, number, after] = /^\[(\d+)\](.*)$/.exec(piece) ?? [];
    const cited = known.get(number);
    if (!cited) return document.createTextNode(piece);
    const look = { type: "button", class: "mark", "aria-label": `Open passage ${number}` };
    const button = h("button", { ...look, onclick: (event) => open(cited, event.target) }, `[${number}]`);
    return h("span", { class: "whole" }, button, after);
  });
}

async function answer(question) {
  const collection = $("chat-collection").value;
  if (!turns.length) fill($("chat-log"));
  const before = turns;
  turns = [...turns, { role: "user", content: question }];
  const questions = asked();
  const text = h("p", { class: "said" });
  const beside = h("div", { class: "beside" });
  const turn = h("div", { class: "turn" }, h("h2", { class: "unseen" }, "Answer"), text, beside);
  turn.setAttribute("aria-busy", "true");
  const yours = h("div", { class: "turn yours" }, h("h2", { class: "unseen" }, "Question"), h("p", { class: "said" }, question));
  $("chat-log").append(yours, turn);
  down();
  running = new AbortController();
  const mine = running;
  busy(true);
  let whole = "";
  let last = { citations: [], warnings: [] };
  try {
    const body = { model: `kb:${collection}`, messages: turns, stream: true };
    const response = await send("POST", "/v1/chat/completions", { json: body, signal: mine.signal });
    for await (const data of events(response)) {
      if (data === "[DONE]") break;
      const event = JSON.parse(data);
      if (event.error) throw new Error(event.error.message);
      const [choice] = event.choices;
      whole += choice?.delta.content ?? "";
      if (choice?.finish_reason) last = { ...last, ...event };
      text.textContent = whole;
      down();
    }
    const open = (cited, button) => openPassage(cited, collection, questions, button);
    fill(text, marked(whole, last.citations, open));
    fill(beside, about(last, open));
    turns = [...turns, { role: "assistant", content: whole }];
  } catch (error) {
    // A turn without an answer is not gone on about.
    turns = before;
    if (error.name === "AbortError") fill(beside, h("p", { class: "hint" }, "Stopped."));
    else fill(beside, h("p", { class: "alert", role: "alert" }, error.message));
  } finally {
    turn.removeAttribute("aria-busy");
    if (running === mine) {
      running = null;
      busy(false);
    }
    down();
  }
}

function writer(last) {
  if (last.engine !== "extractive") return `Written by ${last.engine ?? "the server"}.`;
  return `${last.citations.length ? "Quoted from the passages" : "Looked for in the passages"}; no language model is in use.`;
}

/** What stands below an answer: where it comes from, what may be wrong with it, and who wrote it. */
function about(last, open) {
  const sources = last.citations.map((each) =>
    h(
      "li",
      null,
      h(
        "button",
        { type: "button", class: "source", onclick: (event) => open(each, event.currentTarget) },
        h("b", null, `[${each.mark}] `),
        each.title || each.doc_id,
      ),
    ),
  );
  return [
    sources.length ? h("ul", { class: "sources", "aria-label": "Sources" }, sources) : null,
    last.warnings.map((each) => h("p", { class: "warning" }, h("b", null, "Warning: "), each)),
    last.question_sent
      ? h("details", null, h("summary", null, "What the remote model read as the question"), h("p", { class: "said" }, last.question_sent))
      : null,
    h("p", { class: "hint" }, writer(last)),
  ];
}

/**
 * Opens a cited passage. The search that the answer came from is asked again: its question was the last turn of
 * the user, or that behind those before it.
 */
async function openPassage(cited, collection, questions, button) {
  opener?.removeAttribute("aria-expanded");
  opener = button;
  opener.setAttribute("aria-expanded", "true");
  $("passage-title").textContent = `Passage [${cited.mark}]`;
  $("passage").hidden = false;
  fill($("passage-body"), h("p", { class: "hint" }, "Looking it up."));
  $("passage-title").focus();
  try {
    for (let back = 1; back <= Math.min(MOST_TURNS, questions.length); back++) {
      const question = questions.slice(-back).join("\n");
      const { passages } = await ask("POST", "/v1/search", { json: { collection, question } });
      const found = passages.find((each) => each.passage_id === cited.passage_id);
      if (found) return fill($("passage-body"), passageOf(found, collection));
    }
    // What stands beside a found passage may be quoted too.
    const { title, text } = await documentOf(collection, cited.doc_id);
    fill($("passage-body"), h("h3", null, title), h("p", { class: "said quoted" }, text));
  } catch (error) {
    complain($("passage-body"), error);
  }
}

/** A passage as `words`, its text unless others are given; `opened` is called once it shows its whole document. */
export function passageOf(found, collection, words = found.text, opened = () => $("passage-title").focus()) {
  const said = h("p", { class: "said quoted" }, words);
  const whole = h("button", { type: "button", class: "quiet" }, "Whole document");
  whole.onclick = async () => {
    whole.disabled = true;
    try {
      const { text } = await documentOf(collection, found.doc_id);
      const at = text.indexOf(found.text);
      if (at < 0) fill(said, text);
      else fill(said, text.slice(0, at), h("mark", null, found.text), text.slice(at + found.text.length));
      whole.remove();
      opened();
    } catch (error) {
      complain(said, error);
    }
  };
  return [
    h("h3", null, found.title || found.doc_id),
    h("p", { class: "hint" }, "Sanitized text, as it is stored and searched."),
    said,
    whole,
    h("dl", null, ...terms({ Document: found.doc_id, Score: score(found.score), Similarity: score(found.similarity) })),
    found.warnings.map((each) => h("p", { class: "warning" }, h("b", null, "Warning: "), each)),
  ];
}

const terms = (rows) => Object.entries(rows).flatMap(([name, value]) => [h("dt", null, name), h("dd", null, value)]);

function closePassage() {
  if ($("passage").hidden) return;
  $("passage").hidden = true;
  opener?.removeAttribute("aria-expanded");
  opener?.focus();
}

function busy(is) {
  $("chat-stop").hidden = !is;
  $("chat-send").disabled = is;
  announce(is ? "Answering" : "");
}

function down() {
  $("chat-log").scrollTop = $("chat-log").scrollHeight;
}

$("chat-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  await loaded;
  const question = $("chat-question").value.trim();
  if (!question || running || !$("chat-collection").value) return;
  $("chat-question").value = "";
  answer(question);
});
$("chat-question").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  $("chat-form").requestSubmit();
});
$("chat-stop").addEventListener("click", () => {
  running?.abort();
  $("chat-question").focus();
});
$("chat-new").addEventListener("click", () => {
  fresh();
  $("chat-question").focus();
});
$("chat-collection").addEventListener("change", fresh);
$("passage-close").addEventListener("click", closePassage);
$("passage").addEventListener("keydown", (event) => {
  if (event.key === "Escape") closePassage();
});
