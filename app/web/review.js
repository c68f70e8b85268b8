// Stored documents as they were sanitized, with what was found marked; and looking through them one after the other.

import { ask, documentOf, part } from "/web/api.js";
import { KINDS, announce, complain, count, fill, h, many, score, table } from "/web/dom.js";
import { linesOf } from "/web/spans.js";

const LETTER = /[\p{L}\p{N}_]/u;

/** A text whose marked pieces are made by `made(piece, decision, number)`. */
function marked(text, decisions, made) {
  const lines = linesOf(text, decisions.map((each) => [each.start, each.end]));
  return lines.map((pieces) =>
    h("p", { class: "line" }, pieces.length ? pieces.map((piece) => (piece.mark === null ? piece.text : made(piece.text, decisions[piece.mark], piece.mark))) : h("br")),
  );
}

const look = (decision) => `entity ${decision.identifier} ${decision.action === "keep" ? "kept" : "gone"}`;
const why = (decision) => `${decision.label}: ${decision.action === "keep" ? "kept" : "replaced"}, ${decision.reason}`;

/** A whole document, with its decisions for those who may see them. */
export function whole({ text, decisions }) {
  if (!decisions) return h("p", { class: "said quoted" }, text);
  const points = Array.from(text);
  const rows = decisions.map((each) => [
    points.slice(each.start, each.end).join("") || "∅",
    each.label,
    KINDS[each.identifier],
    each.action,
    each.reason,
    score(each.risk),
    score(each.priority),
  ]);
  return [
    h("div", { class: "said quoted" }, marked(text, decisions, (words, decision) => h("span", { class: look(decision), title: why(decision) }, words))),
    h("details", null, h("summary", null, `${many(decisions.length, "decision")}, and why`), table("Decisions", ["Text", "Label", "Class", "Action", "Reason", "Risk", "Priority"], rows)),
  ];
}

/** Where words stand in a text as words, in code points. */
function placesOf(text, words) {
  const points = Array.from(text, (each) => each.toLowerCase());
  const wanted = Array.from(words, (each) => each.toLowerCase());
  const inWord = (one, other) => one !== undefined && other !== undefined && LETTER.test(one) && LETTER.test(other);
  const found = [];
  for (let start = 0; start + wanted.length <= points.length; start++) {
    const end = start + wanted.length;
    if (!wanted.every((point, n) => point === points[start + n])) continue;
    if (inWord(points[start - 1], wanted[0]) || inWord(wanted.at(-1), points[end])) continue;
    found.push({ start, end });
    start = end - 1;
  }
  return found;
}

/** The part of a collection's page where a person looks through its documents; `changed` follows each change. */
export function reviewing(row, changed) {
  const name = row.collection;
  const skipped = new Set();
  const place = h("div", { class: "panel" });
  const summary = h("summary", null, "Review documents");
  const next = async (said = "") => {
    try {
      const { left, documents } = await ask("GET", `/v1/collections/${part(name)}/review?limit=100`);
      summary.textContent = `Review documents (${count(left)} left)`;
      const document = documents.find((each) => !skipped.has(each.doc_id));
      const done = said ? h("p", { class: "hint", role: "status" }, said) : null;
      if (!document) {
        fill(place, done, h("p", { class: "hint" }, left ? "The others were put off: close and open this to begin again." : "Every document was looked through."));
        return;
      }
      fill(place, done, one(name, document, await documentOf(name, document.doc_id), { next, changed, later: () => skipped.add(document.doc_id) }));
      place.querySelector("h4").focus({ preventScroll: true });
      box.scrollIntoView({ block: "start" });
      if (said) announce(said);
    } catch (error) {
      complain(place, error);
    }
  };
  const box = h("details", { id: "review" }, summary, place);
  box.addEventListener("toggle", () => {
    skipped.clear();
    if (box.open) next();
  });
  return box;
}

/** One document to look through; `later`, where it is given, puts it off. */
export function one(name, document, { text, decisions }, { next, changed, later }) {
  const chosen = new Set();
  const words = h("textarea", { id: "review-words", rows: "2", spellcheck: "false", autocomplete: "off", "aria-describedby": "review-words-hint" });
  const instead = h("input", { id: "review-instead", maxlength: "200", autocomplete: "off", spellcheck: "false", "aria-describedby": "review-instead-hint" });
  const everywhere = h("input", { type: "checkbox", id: "review-everywhere" });
  const problem = h("div", { id: "review-error" });
  const piece = (said, decision, number) => {
    if (decision.action !== "keep") return h("span", { class: look(decision), title: why(decision) }, said);
    const button = h("button", { type: "button", class: `${look(decision)} plain`, "aria-pressed": "false", title: why(decision) }, said);
    button.addEventListener("click", () => {
      if (!chosen.delete(number)) chosen.add(number);
      button.setAttribute("aria-pressed", String(chosen.has(number)));
    });
    return button;
  };
  const shown = h("div", { class: "said quoted", id: "review-text" }, marked(text, decisions ?? [], piece));
  shown.addEventListener("mouseup", () => {
    const selected = String(getSelection()).trim();
    if (selected && !selected.includes("\n")) words.value = [...lines(words), selected].join("\n");
  });
  const send = async (masks) => {
    complain(problem, null);
    try {
      const body = { masks, everywhere: everywhere.checked };
      const { places, documents } = await ask("POST", `/v1/collections/${part(name)}/documents/${part(document.doc_id)}/review`, { json: body });
      await changed();
      await next(places ? `${many(places, "place")} masked in ${many(documents, "document")}.` : "Noted: all may stay.");
    } catch (error) {
      complain(problem, error);
    }
  };
  const mask = () => {
    const asked = lines(words).map((each) => [each, placesOf(text, each)]);
    const missing = asked.filter(([, places]) => !places.length).map(([each]) => each);
    if (missing.length) return complain(problem, new Error(`Not in this text as words: ${missing.join(", ")}.`));
    const places = [...[...chosen].map((number) => decisions[number]), ...asked.flatMap(([, found]) => found)];
    if (!places.length) return complain(problem, new Error("Choose underlined words in the text, or type others."));
    const apart = new Map(places.map(({ start, end }) => [`${start} ${end}`, { start, end, instead: instead.value.trim() }]));
    return send([...apart.values()]);
  };
  const unread = document.not_read.filter((each) => !each.read).map((each) => many(each.count, each.kind));
  const reasons = [...document.doubts.map((each) => `Names may have been missed: ${each}.`), ...(unread.length ? [`Not read: ${unread.join(", ")}.`] : [])];
  return [
    h("h4", { tabindex: "-1" }, document.title || document.doc_id),
    h("p", { class: "hint" }, reasons.join(" ") || "Nothing speaks for a mistake in it."),
    shown,
    h("p", { class: "hint" }, "Filled words were replaced. Underlined words were found and kept: press those that should go. Select or type others. Red identifies alone, blue with other facts, violet tells more. What is masked cannot be brought back."),
    h(
      "div",
      { class: "halves" },
      h("div", { class: "field" }, h("label", { for: "review-words" }, "Other words to mask, one line each"), words, h("p", { class: "hint", id: "review-words-hint" }, "They go wherever they stand in this document.")),
      h("div", { class: "field" }, h("label", { for: "review-instead" }, "What to write instead"), instead, h("p", { class: "hint", id: "review-instead-hint" }, "Milder words, such as “a small town”. Left empty: the kind in brackets.")),
    ),
    h("p", { class: "check" }, everywhere, h("label", { for: "review-everywhere" }, "Mask the same words in all documents of this collection")),
    problem,
    h(
      "p",
      { class: "row" },
      h("button", { type: "button", onclick: mask }, "Mask and go on"),
      h("button", { type: "button", class: "quiet", onclick: () => send([]) }, "All may stay"),
      later ? h("button", { type: "button", class: "quiet", onclick: () => (later(), next()) }, "Later") : null,
    ),
  ];
}

const lines = (area) => area.value.split("\n").map((line) => line.trim()).filter((line) => line);
