// Keys of the server: listed, created and revoked by those who may.

import { ask, hasKey, part } from "/web/api.js";
import { $, announce, complain, confirmed, fill, h, table, when } from "/web/dom.js";

const SCOPES = {
  query: "search and ask",
  ingest: "add documents and sanitize",
  erase: "erase documents and collections",
  audit: "see the trail and the server's figures",
  reveal: "see originals",
  admin: "manage keys",
};

export async function show() {
  if (!$("keys-scopes").children.length) drawScopes();
  try {
    const { keys } = await ask("GET", "/v1/keys");
    complain($("keys-error"), null);
    drawList(keys);
  } catch (error) {
    fill($("keys-list"));
    complain($("keys-error"), error);
  }
}

function drawScopes() {
  fill(
    $("keys-scopes"),
    Object.entries(SCOPES).map(([scope, words]) =>
      h(
        "span",
        { class: "check" },
        h("input", { type: "checkbox", id: `scope-${scope}`, value: scope, checked: scope === "query" }),
        h("label", { for: `scope-${scope}` }, `${words} (${scope})`),
      ),
    ),
  );
}

function drawList(keys) {
  if (!keys.length) {
    // The first one has to be able to make others.
    for (const box of document.querySelectorAll("#keys-scopes input")) box.checked = true;
    return fill($("keys-list"), h("p", { class: "hint" }, "There are no keys yet: everybody on this machine may do everything. The first key closes the server to everybody else. It may do everything, so keep it: it makes the others."));
  }
  const rows = keys.map((key) => [
    key.name,
    key.key_id,
    key.scopes.join(", "),
    key.collections === null ? "all" : key.collections.join(", "),
    key.scopes.includes("admin") ? "all" : key.groups.join(", "),
    when(key.created),
    key.revoked ? h("span", null, "revoked ", when(key.revoked)) : h("button", { type: "button", class: "quiet small danger", "aria-label": `Revoke the key of ${key.name}`, onclick: () => revoke(key) }, "Revoke"),
  ]);
  fill($("keys-list"), h("h2", null, "All keys"), table("Keys", ["Name", "Id", "Scopes", "Collections", "Groups", "Made", ""], rows));
}

const listed = (text) => text.split(",").map((each) => each.trim()).filter((each) => each);

async function create() {
  const scopes = [...document.querySelectorAll("#keys-scopes input:checked")].map((each) => each.value);
  const named = listed($("keys-collections").value);
  const body = { name: $("keys-name").value, scopes, collections: named.length ? named : null, groups: listed($("keys-groups").value) };
  try {
    const made = await ask("POST", "/v1/keys", { json: body });
    complain($("keys-error"), null);
    $("keys-name").value = "";
    drawScopes();
    drawNew(made.key);
    // The first key closes the server: asking again would put a dialog over the key that is shown.
    if (hasKey()) await show();
    else fill($("keys-list"), h("p", { class: "hint" }, "From now on the server wants a key for everything, and this page asks for it."));
  } catch (error) {
    complain($("keys-error"), error);
  }
}

function drawNew(text) {
  const shown = h("input", { readonly: true, value: text, "aria-label": "The new key", class: "code" });
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      announce("Copied.");
    } catch {
      shown.select();
    }
  };
  const close = () => fill($("keys-new"));
  fill(
    $("keys-new"),
    h("p", null, h("b", null, "The new key. "), "Copy it now: it is not shown again."),
    h("p", { class: "row" }, shown, h("button", { type: "button", onclick: copy }, "Copy"), h("button", { type: "button", class: "quiet", onclick: close }, "Hide it")),
  );
}

async function revoke(key) {
  if (!(await confirmed(`Revoke the key of ${key.name}?`, ["Whoever uses it is refused from now on. This cannot be undone."], "Revoke"))) return;
  try {
    await ask("DELETE", `/v1/keys/${part(key.key_id)}`);
    announce("Revoked.");
    await show();
  } catch (error) {
    complain($("keys-error"), error);
  }
}

$("keys-form").addEventListener("submit", (event) => {
  event.preventDefault();
  create();
});
