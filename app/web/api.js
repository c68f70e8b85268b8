// Requests to the server that the page came from. The key is sent as a header and never stands in a URL.

import { $ } from "/web/dom.js";

const KEPT = "lethe-key";
let key = sessionStorage.getItem(KEPT) ?? "";
let asking = null;

/** Tells pages that the caller may be somebody else by now. */
export const callers = new EventTarget();

export const hasKey = () => key !== "";

/** What went wrong, in the server's words. */
export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** Forgets the key here and in the browser. */
export function forgetKey() {
  key = "";
  sessionStorage.removeItem(KEPT);
  callers.dispatchEvent(new Event("change"));
}

/** Asks for a key, once for all requests that wait for it; resolves to whether one was given. */
export function askForKey(why) {
  asking ??= new Promise((resolve) => {
    const dialog = $("key-dialog");
    let given = false;
    $("key-why").textContent = why;
    $("key-text").value = "";
    const submit = (event) => {
      event.preventDefault();
      key = $("key-text").value.replaceAll(/[^!-~]/g, ""); // a header holds nothing else
      given = key !== "";
      sessionStorage.removeItem(KEPT);
      if (given && $("key-keep").checked) sessionStorage.setItem(KEPT, key);
      dialog.close();
    };
    $("key-form").addEventListener("submit", submit);
    dialog.addEventListener(
      "close",
      () => {
        $("key-form").removeEventListener("submit", submit);
        $("key-text").value = "";
        asking = null;
        resolve(given);
        if (given) callers.dispatchEvent(new Event("change"));
      },
      { once: true },
    );
    dialog.showModal();
  });
  return asking;
}

async function refusal(response) {
  let message = `The server answered ${response.status}.`;
  try {
    const body = await response.json();
    const told = body.detail ?? body.error?.message ?? body.error ?? body.title;
    if (typeof told === "string") message = told;
  } catch {
    // Not JSON: the status alone is shown.
  }
  return new Refused(response.status, message);
}

/** A response, once a key that the server wants was asked for. Raises Refused for every other error. */
export async function send(method, path, { json, form, signal } = {}) {
  for (;;) {
    const used = key;
    const headers = {};
    if (key) headers.authorization = `Bearer ${key}`;
    if (json !== undefined) headers["content-type"] = "application/json";
    const body = json === undefined ? form : JSON.stringify(json);
    let response;
    try {
      response = await fetch(path, { method, headers, body, signal, credentials: "omit", cache: "no-store" });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Refused(0, "The server cannot be reached. Check that it runs, then try again.");
    }
    if (response.ok) return response;
    const error = await refusal(response);
    if (response.status !== 401) throw error;
    // Another request may have asked for a new key in the meantime.
    if (used === key && !(await askForKey(used ? "The server does not know this key." : "")))
      throw new Refused(401, "This needs a key. Choose “Give a key” at the top.");
  }
}

/** The body of an answer, as JSON. */
export const ask = async (method, path, options) => (await send(method, path, options)).json();

/** The data of each server-sent event of a response. */
export async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      waiting += value.replaceAll("\r", "");
      const parts = waiting.split("\n\n");
      waiting = parts.pop();
      for (const part of parts) {
        const lines = part.split("\n").filter((line) => line.startsWith("data:"));
        if (lines.length) yield lines.map((line) => line.slice(5).trimStart()).join("\n");
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** A part of a path. */
export const part = (text) => encodeURIComponent(text);

/** The sanitized text of a document. */
export const documentOf = (collection, id) => ask("GET", `/v1/collections/${part(collection)}/documents/${part(id)}`);

let collectionsAsked = null;

/** The rows of the collections, asked for once by all who wait at the same time. */
export function collectionRows() {
  collectionsAsked ??= ask("GET", "/v1/collections")
    .then((body) => body.collections)
    .finally(() => {
      collectionsAsked = null;
    });
  return collectionsAsked;
}

let policiesAsked = null;

/** The policies, which do not change while the server runs. */
export function policyRows() {
  policiesAsked ??= ask("GET", "/v1/policies").then(
    (body) => body.policies,
    (error) => {
      policiesAsked = null;
      throw error;
    },
  );
  return policiesAsked;
}
