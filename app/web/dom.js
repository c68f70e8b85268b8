// Elements are made by calls and text is put in as text: nothing here ever reads a string as HTML.

const SVG = "http://www.w3.org/2000/svg";

const present = (children) => children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== "");

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...present(children));
  return element;
}

/** An element with attributes, listeners (names that start with "on") and children. */
export function h(name, attributes, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/** The same for a picture. */
export function s(name, attributes, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

/** The classes of entities in words. */
export const KINDS = { direct: "direct identifier", quasi: "quasi-identifier", attribute: "sensitive or other" };

export const $ = (id) => document.getElementById(id);

/** Takes the children of an element away and gives it others. */
export function fill(element, ...children) {
  element.replaceChildren(...present(children));
}

export const count = (number) => number.toLocaleString("en");

/** A number and its noun: 1 document, 2 documents. */
export const many = (number, noun, plural = `${noun}s`.replace(/([^aeiou])ys$/, "$1ies")) => `${count(number)} ${number === 1 ? noun : plural}`;

export const score = (value) => (value === null || value === undefined ? "not measured" : value.toFixed(2));

export function size(bytes) {
  if (bytes < 1000) return many(bytes, "byte");
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** A moment, in the words of the reader; `timeStyle` medium has seconds. */
export function when(iso, timeStyle = "short") {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return "";
  const words = date.toLocaleString("en-GB", { dateStyle: "medium", timeStyle });
  return h("time", { datetime: iso, class: "whole" }, words);
}

/** Says a sentence to screen readers. */
export function announce(sentence) {
  $("said").textContent = sentence;
}

/** Shows an error, or nothing, in the place for errors of a page. */
export function complain(place, error) {
  if (!error || error.name === "AbortError") place.replaceChildren();
  else fill(place, h("p", { class: "alert", role: "alert" }, error.message));
}

/** A table row by row; cells are text or elements, and the first is the row's head.

 On a narrow screen cells stand below each other, each beside its head, and the roles keep it a table. */
export function table(caption, heads, rows) {
  const cells = (row) => row.map((cell, n) => h("td", { role: "cell", "data-head": heads[n + 1] || null }, cell));
  return h(
    "div",
    { class: "wide", role: "region", tabindex: "0", "aria-label": caption },
    h(
      "table",
      { role: "table" },
      h("caption", { class: "unseen" }, caption),
      h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, heads.map((head) => h("th", { scope: "col", role: "columnheader" }, head)))),
      h(
        "tbody",
        { role: "rowgroup" },
        rows.map(([first, ...rest]) => h("tr", { role: "row" }, h("th", { scope: "row", role: "rowheader" }, first), cells(rest))),
      ),
    ),
  );
}

/** Buttons between the pages of a table in `place`, null where there is one page.

 `starts` are where the pages up to this one begin, `next` where the next one does; `draw` is given those of a page. */
export function pager(place, starts, next, draw) {
  if (starts.length === 1 && next === null) return null;
  const turn = async (to) => {
    await draw(to);
    place.querySelector(".wide")?.focus();
  };
  const button = (words, to) => h("button", { type: "button", class: "quiet", disabled: to === null, onclick: () => turn(to) }, words);
  return h(
    "p",
    { class: "row" },
    button("Previous", starts.length > 1 ? starts.slice(0, -1) : null),
    h("span", { class: "hint" }, `Page ${starts.length}`),
    button("Next", next === null ? null : [...starts, next]),
  );
}

/** Asks in a dialog; resolves to whether it was confirmed. `word` has to be typed first, where one is given. */
export function confirmed(title, sentences, doing, word) {
  const dialog = $("confirm");
  const typed = h("input", { id: "confirm-word", autocomplete: "off", spellcheck: "false" });
  const go = h("button", { type: "submit", class: "danger" }, doing);
  const matches = () => {
    go.disabled = word !== undefined && typed.value !== word;
  };
  typed.addEventListener("input", matches);
  matches();
  return new Promise((resolve) => {
    let answer = false;
    const form = h(
      "form",
      {
        onsubmit: (event) => {
          event.preventDefault();
          answer = true;
          dialog.close();
        },
      },
      h("h2", { id: "confirm-title" }, title),
      sentences.map((sentence) => h("p", null, sentence)),
      word === undefined
        ? null
        : h("p", { class: "field" }, h("label", { for: "confirm-word" }, `Type ${word} to confirm`), typed),
      h(
        "p",
        { class: "row end" },
        h("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, "Cancel"),
        go,
      ),
    );
    fill(dialog, form);
    const closed = () => {
      fill(dialog); // it may have named somebody
      resolve(answer);
    };
    dialog.addEventListener("close", closed, { once: true });
    dialog.showModal();
  });
}

/** Lets the browser save a text as a file. */
export function download(name, text, type) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
