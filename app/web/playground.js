// Sanitizes what is typed, shows both texts side by side, and explains each decision.

import { ask, policyRows } from "/web/api.js";
import { bars } from "/web/charts.js";
import { $, KINDS, announce, complain, download, fill, h, many, score, table } from "/web/dom.js";
import { pairedLines } from "/web/spans.js";

const WAIT_MS = 250;
const SCORES = ["risk", "divergence", "relevance", "priority"];
const EXAMPLE = `Invented note, for trying this page out.

Ms Runa Hagestad, born 9 February 1978 (MRN 5520174), works as a nurse in Leeds. She was admitted on 3 May 2024 with chest pain. She has type 2 diabetes and asthma, takes metformin 500 mg twice a day, and has lost 12 kg since the birth of her third child.

Her husband, Oswin Tarrant, can be reached at oswin.tarrant@example.org or 01632 960 133. They are saving for a trip to Iceland in August.

Dr Ida Pellworm, Teme Valley Clinic`;

let policies = [];
let moved = false; // whether the threshold is the user's and not the policy's
let wanted = 0; // the number of the newest question
let asking = false;
let timer = 0;
let answered = null;
let pointed = false; // whether the pointer opened the note, and not the focus

/** Whether the policies are there. */
export async function show() {
  if (policies.length) return true;
  try {
    const rows = await policyRows();
    if (policies.length) return true;
    policies = rows;
    fill($("play-policy"), policies.map((each) => h("option", { value: each.name }, each.name)));
    chosen();
  } catch (error) {
    complain($("play-error"), error);
  }
  return policies.length > 0;
}

const policy = () => policies.find((each) => each.name === $("play-policy").value);

/** What the policy does and, once there are decisions, how many of them hang on the threshold. */
function chosen(decisions = []) {
  const about = `The policy ${policy()?.name} ${policy()?.description}.`;
  const scored = decisions.filter((each) => /^(priority|with it)/.test(each.reason)).length;
  const which = scored === 1 ? "one of the" : `${scored} of the`;
  const decides = `The threshold decides about ${which} ${decisions.length} entities, rules about the others.`;
  $("play-about").textContent = decisions.length && policy()?.has_threshold ? `${about} ${decides}` : about;
  $("play-threshold").hidden = !policy()?.has_threshold;
}

function later(wait = WAIT_MS) {
  clearTimeout(timer);
  timer = setTimeout(sanitize, wait);
}

/** Asks one question at a time: what changes meanwhile is asked at its end, and what is overtaken is dropped. */
async function sanitize() {
  wanted += 1;
  if (asking) return;
  asking = true;
  $("play-pair").setAttribute("aria-busy", "true");
  let mine;
  do {
    mine = wanted;
    await once(() => mine === wanted);
  } while (mine !== wanted);
  $("play-pair").removeAttribute("aria-busy");
  asking = false;
}

async function once(isNewest) {
  const text = $("play-text").value;
  if (!text.trim()) {
    answered = null;
    $("play-result").hidden = true;
    $("play-save").disabled = $("play-copy").disabled = true;
    return complain($("play-error"), null);
  }
  if (!(await show())) return;
  const chosenPolicy = { name: $("play-policy").value };
  if (moved && policy()?.has_threshold) Object.assign(chosenPolicy, threshold());
  try {
    const answer = await ask("POST", "/v1/sanitize", { json: { text, policy: chosenPolicy } });
    if (!isNewest()) return;
    complain($("play-error"), null);
    draw(text, answer);
  } catch (error) {
    if (isNewest()) complain($("play-error"), error);
  }
}

function draw(text, answer) {
  answered = answer;
  const { decisions, places } = answer;
  chosen(decisions);
  if (!moved && answer.tau !== null && answer.tau !== undefined) {
    Object.assign($("play-tau"), inBits() ? BITS : PRIORITY);
    $("play-tau").value = answer.tau;
  }
  told();
  hideTip();
  const spans = decisions.map((each) => [each.start, each.end]);
  const [before, after] = pairedLines(text, spans, answer.text, places);
  pane($("play-before"), "Before", before, decisions, "play-before-title");
  pane($("play-after"), "After", after, decisions, "play-after-title");
  $("play-result").hidden = false;
  $("play-save").disabled = $("play-copy").disabled = false;
  drawRisk(answer.detected_risk);
  drawMarks(decisions);
  drawDecisions(text, decisions);
  drawLegend(decisions);
  const gone = decisions.filter((each) => each.action !== "keep").length;
  const doubts = answer.doubts.map((each) => `Warning: entities may have been missed: ${each}.`);
  announce([`${many(decisions.length, "entity").replace("entitys", "entities")} found, ${gone} replaced.`, ...doubts].join(" "));
  if (doubts.length) fill($("play-error"), doubts.map((each) => h("p", { class: "warning" }, each)));
}

/** One side: its lines are rows of a grid that both sides share, so that they stay level. */
function pane(place, title, lines, decisions, id) {
  let first = true;
  const rows = lines.map((pieces) => {
    const made = pieces.map((piece) => {
      if (piece.mark === null) return document.createTextNode(piece.text);
      const decision = decisions[piece.mark];
      const stop = first ? "0" : "-1";
      first = false;
      return h(
        "span",
        {
          class: `entity ${decision.identifier} ${decision.action === "keep" ? "kept" : "gone"}`,
          role: "button",
          tabindex: stop,
          "data-mark": piece.mark,
          "aria-describedby": "tip",
        },
        piece.text || "∅",
      );
    });
    return h("p", { class: "line" }, made.length ? made : document.createElement("br"));
  });
  place.style.gridRow = `span ${rows.length + 1}`;
  fill(place, h("h2", { id, class: "pane-title" }, title), rows);
}

const wordOf = (mark) => [...document.querySelectorAll(`.entity[data-mark="${mark}"]`)];

function showTip(word) {
  const decision = answered.decisions[Number(word.dataset.mark)];
  const scores = decision.scores ?? {};
  const measured = SCORES.filter((name) => scores[name] !== null && scores[name] !== undefined);
  const rows = [
    ["Class", KINDS[decision.identifier]],
    ["Action", decision.action === "keep" ? "kept" : decision.action],
    ...(decision.action === "keep" ? [] : [["Becomes", decision.replacement || "nothing"]]),
    ["Reason", decision.reason],
    ...(measured.length ? [["Scores", measured.map((name) => `${name} ${score(scores[name])}`).join(", ")]] : []),
    ["Found by", `${decision.source}, confidence ${score(decision.confidence)}`],
  ];
  const tip = $("tip");
  fill(tip, h("b", null, decision.label), h("dl", null, rows.flatMap(([name, value]) => [h("dt", null, name), h("dd", null, value)])));
  tip.hidden = false;
  for (const each of document.querySelectorAll(".entity.same")) each.classList.remove("same");
  for (const each of wordOf(word.dataset.mark)) each.classList.add("same");
  const box = word.getClientRects()[0];
  const left = Math.max(8, Math.min(box.left, document.documentElement.clientWidth - tip.offsetWidth - 8));
  const below = box.bottom + 6 + tip.offsetHeight < innerHeight;
  tip.style.left = `${left + scrollX}px`;
  tip.style.top = `${(below ? box.bottom + 6 : Math.max(8, box.top - tip.offsetHeight - 6)) + scrollY}px`;
}

function hideTip() {
  $("tip").hidden = true;
  for (const each of document.querySelectorAll(".entity.same")) each.classList.remove("same");
}

/** Moves the focus to the next or previous marked word of the same side. */
function move(word, step) {
  const words = [...word.closest(".pane").querySelectorAll(".entity")];
  const next = words[words.indexOf(word) + step];
  if (!next) return;
  word.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

function drawRisk(risk) {
  const rows = [
    { name: "before", value: risk.before, shown: risk.before.toFixed(2), look: "soft" },
    { name: "after", value: risk.after, shown: risk.after.toFixed(2), look: "accent" },
  ];
  fill($("play-risk"), bars(`Risk of re-identification by ${risk.of}`, rows, 1), h("p", { class: "hint" }, `Estimated by ${risk.engine}. 0 does not mean safe: what was not found is not counted.`));
}

function drawMarks(decisions) {
  const rows = Object.entries(KINDS).map(([kind, name]) => {
    const of = decisions.filter((each) => each.identifier === kind);
    const gone = of.filter((each) => each.action !== "keep").length;
    return { name, value: gone / Math.max(1, of.length), shown: `${gone} of ${of.length}`, look: kind };
  });
  fill($("play-marks"), bars("Replaced entities by class", rows, 1));
}

function drawLegend(decisions) {
  const there = new Set(decisions.map((each) => each.identifier));
  const shown = Object.entries(KINDS).filter(([kind]) => there.has(kind));
  fill(
    $("play-legend"),
    shown.map(([kind, name]) => h("li", null, h("span", { class: `swatch ${kind}`, "aria-hidden": "true" }), name)),
    h("li", null, h("span", { class: "swatch gone-only", "aria-hidden": "true" }), "filled: replaced"),
    h("li", null, h("span", { class: "swatch kept-only", "aria-hidden": "true" }), "underlined: kept"),
  );
}

function drawDecisions(text, decisions) {
  const points = Array.from(text);
  const rows = decisions.map((each) => [
    points.slice(each.start, each.end).join(""),
    each.label,
    KINDS[each.identifier],
    each.action,
    each.action === "keep" ? "" : each.replacement || "nothing",
    each.reason,
    score(each.scores?.risk),
    score(each.scores?.priority),
  ]);
  const heads = ["Text", "Label", "Class", "Action", "Becomes", "Reason", "Risk", "Priority"];
  fill($("play-decisions"), table("All decisions", heads, rows));
}

const BITS = { min: 0, max: 12, step: 0.1 };
const PRIORITY = { min: -1, max: 2, step: 0.01 };
const PEOPLE = 100;

const inBits = () => policy()?.name === "lethe";

/** What the slider says, as a policy has it: a priority, or how many of a hundred people must fit. */
function threshold() {
  const value = Number($("play-tau").value);
  return inBits() ? { k: PEOPLE / 2 ** value, people: PEOPLE } : { tau: value };
}

function told() {
  const { k, tau } = threshold();
  $("play-tau-value").textContent = k === undefined ? tau.toFixed(2) : `${Number(k.toPrecision(2))} of ${PEOPLE} people fit`;
}

$("play-text").addEventListener("input", () => later());
$("play-policy").addEventListener("change", () => {
  moved = false;
  chosen();
  later(0);
});
$("play-tau").addEventListener("input", () => {
  moved = true;
  told();
  later(80);
});
$("play-example").addEventListener("click", () => {
  $("play-text").value = EXAMPLE;
  later(0);
});
$("play-copy").addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(answered.text);
    announce("Copied.");
  } catch {
    complain($("play-error"), new Error("The browser does not allow copying here: select the text instead."));
  }
});
$("play-save").addEventListener("click", () => download("policy.toml", answered.policy_toml, "application/toml"));

const pair = $("play-pair");
const word = (event) => event.target.closest?.(".entity");
pair.addEventListener("focusin", (event) => {
  if (!word(event)) return;
  showTip(word(event));
  pointed = false;
});
pair.addEventListener("mouseover", (event) => {
  if (!word(event)) return;
  showTip(word(event));
  pointed = true;
});
pair.addEventListener("click", (event) => word(event) && showTip(word(event)));
pair.addEventListener("focusout", hideTip);
// The note stays while the pointer is on the word or on the note.
for (const place of [pair, $("tip")])
  place.addEventListener("mouseout", (event) => {
    if (pointed && !event.relatedTarget?.closest?.(".entity, #tip")) hideTip();
  });
pair.addEventListener("keydown", (event) => {
  const at = word(event);
  if (!at) return;
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (step) {
    event.preventDefault();
    move(at, step);
  } else if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    showTip(at);
  }
});
addEventListener("keydown", (event) => {
  if (event.key === "Escape") hideTip();
});
