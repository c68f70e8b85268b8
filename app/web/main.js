// One page, whose tabs have addresses: #chat/NAME, #search/NAME, #ingest/JOB, #collections/NAME, #audit/JOB,
// #trail/NAME.

import { ask, askForKey, callers, forgetKey, hasKey } from "/web/api.js";
import * as audit from "/web/audit.js";
import * as chat from "/web/chat.js";
import * as collections from "/web/collections.js";
import { $ } from "/web/dom.js";
import * as ingest from "/web/ingest.js";
import * as keys from "/web/keys.js";
import * as playground from "/web/playground.js";
import * as search from "/web/search.js";
import * as trail from "/web/trail.js";

const PAGES = { chat, search, playground, ingest, collections, audit, trail, keys };
let shown = null;

function route(focus) {
  const [name, ...rest] = location.hash.slice(1).split("/");
  const page = name in PAGES ? name : "chat";
  for (const each of Object.keys(PAGES)) $(`page-${each}`).hidden = each !== page;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.getAttribute("href") === `#${page}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const title = $(`${page}-title`);
  document.title = `${title.textContent} – Lethe`;
  // The first page is read from its start; a page that was gone to is read from its heading.
  if (focus && shown !== page) {
    title.focus({ preventScroll: true });
    scrollTo(0, 0);
  }
  shown = page;
  PAGES[page].show(rest.length ? decode(rest.join("/")) : "");
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

async function introduce() {
  $("key-button").textContent = hasKey() ? "Forget the key" : "Give a key";
  let me;
  try {
    me = await ask("GET", "/v1/me");
  } catch {
    me = { name: "", scopes: [] };
  }
  const free = me.name === "everybody" && !hasKey();
  $("who").textContent = free ? "No key needed" : me.name;
  $("key-button").textContent = hasKey() ? "Forget the key" : "Give a key";
  $("key-button").hidden = free;
  for (const link of document.querySelectorAll("nav a[data-scope]")) link.hidden = !me.scopes.includes(link.dataset.scope);
}

$("skip").addEventListener("click", (event) => {
  event.preventDefault();
  $("main").focus();
});
$("key-cancel").addEventListener("click", () => $("key-dialog").close());
$("key-button").addEventListener("click", () => {
  if (hasKey()) forgetKey();
  else askForKey("");
});
callers.addEventListener("change", () => {
  introduce();
  route(false);
});
addEventListener("hashchange", () => route(true));
introduce();
route(false);
