"""API keys: what is stored of them, what they allow, and the real server that asks for them."""

import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.access.database import FILE
from app.access.keys import SCOPES, Key, Keys, Scope
from app.server.routes.presidio import PATHS
from models.errors import ConfigurationError, LetheError
from tests.commands import lethe, write_records
from tests.serving import Served, ingested, served

NOTE = "Invented note. The boiler of the mill is broken; the plumber asks for 400 euros to repair it."
ASKED = {"messages": [{"role": "user", "content": "What is broken at the mill?"}]}


@pytest.fixture
def keys(tmp_path: Path) -> Iterator[Keys]:
    with closing(Keys(tmp_path / "data")) as opened:
        yield opened


def test_only_a_digest_of_a_key_is_stored(keys: Keys, tmp_path: Path) -> None:
    made = keys.create("ward", frozenset(("query",)), None)
    secret = made.text.split("_", 2)[2]
    assert len(made.text) == len("lethe_") + 8 + 1 + 43
    assert secret not in repr(made)
    for path in (tmp_path / "data").iterdir():
        assert secret[-20:].encode() not in path.read_bytes()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert keys.caller(made.text) == made.key


def test_older_keys_are_taken_and_newer_ones_refused_and_left_alone(tmp_path: Path) -> None:
    with closing(Keys(tmp_path)) as keys:
        text = keys.create("ward", frozenset(("query",)), None).text
    said = r"a newer Lethe \(version 4, this one reads 3\). Use that version"
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.execute("PRAGMA user_version = 0")
        with closing(Keys(tmp_path)) as keys:
            assert keys.caller(text) is not None
        assert connection.execute("PRAGMA user_version").fetchone() == (3,)
        connection.execute("PRAGMA user_version = 4")
        with pytest.raises(LetheError, match=said):
            Keys(tmp_path)
        assert connection.execute("PRAGMA user_version").fetchone() == (4,)


def test_a_key_counts_until_it_is_revoked(keys: Keys) -> None:
    assert not keys.any()
    one, other = (keys.create(name, frozenset(("query",)), None) for name in ("one", "other"))
    assert keys.any()
    revoked = keys.revoke(one.key.key_id)
    assert revoked.revoked is not None
    assert not revoked.allows("query")
    assert keys.caller(one.text) is None
    assert keys.caller(other.text) == other.key
    assert keys.revoke(one.key.key_id) == revoked
    assert keys.any()
    assert [each.name for each in keys.all()] == ["one", "other"]


def test_what_is_no_key_is_nobodys(keys: Keys) -> None:
    text = keys.create("ward", frozenset(("query",)), None).text
    head, secret = text[:14], text[15:]
    forged = [f"{head}_{secret[1:]}{secret[0]}", f"{head}_{'A' * 43}", f"lethe_00000000_{secret}", secret]
    for each in (*forged, text[:-1], f"{text} ", text.upper(), "", None, "lethe_'; DROP TABLE keys; --"):
        assert keys.caller(each) is None
    assert keys.caller(text) is not None


@pytest.mark.parametrize(
    ("name", "scopes", "collections", "reason"),
    [
        (" ", {"query"}, None, "Name the key"),
        ("a\nb", {"query"}, None, "Name the key"),
        ("a", set(), None, "needs scopes, and these only: query, ingest"),
        ("a", {"query", "all"}, None, "needs scopes"),
        ("a", {"query"}, set(), "Grant the key a collection"),
    ],
)
def test_a_key_that_allows_nothing_is_not_made(
    keys: Keys, name: str, scopes: set[Any], collections: set[str] | None, reason: str
) -> None:
    granted = None if collections is None else frozenset(collections)
    with pytest.raises(ConfigurationError, match=reason):
        keys.create(name, frozenset(scopes), granted)
    assert not keys.any()


def test_keys_that_cannot_be_opened_say_where(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LetheError, match="Set a data folder that you may write in"):
        Keys(tmp_path / "file")
    (tmp_path / FILE).write_text("no database, and long enough to be taken for one" * 40)
    with pytest.raises(LetheError, match="cannot be read or written .SQLITE_NOTADB.. Free some space"):
        Keys(tmp_path)


@given(st.sets(st.sampled_from(SCOPES)), st.none() | st.sets(st.sampled_from("abc")), st.booleans())
def test_a_key_allows_what_it_has_and_nothing_else(
    scopes: set[Scope], granted: set[str] | None, revoked: bool
) -> None:
    collections = None if granted is None else frozenset(granted)
    key = Key("1", "x", frozenset(scopes), collections, "", "2030" if revoked else None)
    for scope in SCOPES:
        for name in "abcd":
            expected = scope in scopes and not revoked and (granted is None or name in granted)
            assert key.allows(scope, name) == expected


# -- the command, and the server -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("keys")
    data = ingested(folder, "threads = 1\n", [NOTE])
    assert lethe(data, "ingest", str(folder / "notes.jsonl"), "-c", "more").code == 0
    return data


def created(data: Path, *arguments: str) -> str:
    ran = lethe(data, "keys", "create", *arguments)
    assert ran.code == 0, ran.err
    assert "cannot be shown again" in ran.err
    return str(ran.summary["key"])


def with_key(server: Served, key: str | None) -> httpx.Client:
    return server.client(headers={"authorization": f"Bearer {key}"} if key else {})


def models(client: httpx.Client) -> list[str]:
    return [each["id"] for each in client.get("/v1/models").json()["data"]]


def collections(client: httpx.Client) -> list[str]:
    return [each["collection"] for each in client.get("/v1/collections").json()["collections"]]


def refused(answer: httpx.Response) -> tuple[int, str, str]:
    found = answer.json()
    error = found.get("error", found)
    return answer.status_code, error["code"], error.get("message") or error["detail"]


@dataclass(frozen=True)
class Route:
    """A call of a route: what it needs, and the status where that is there.

    What would change anything names what is not there, or is refused for another reason.
    """

    method: str
    path: str
    scopes: str = "query"
    body: object = None
    status: int = 200

    @property
    def place(self) -> str:
        whole = self.method == "DELETE" and "{doc_id}" not in self.path
        names = {"model": "kb:notes", "collection": "never" if whole else "notes"}
        return self.path.format(**names, doc_id="never", job_id="never", key_id="never")


DOCUMENTS = "/v1/collections/{collection}/documents"
ROUTES = [
    Route("GET", "/v1/models"),
    Route("GET", "/v1/models/{model}"),
    Route("GET", "/v1/collections"),
    Route("GET", "/v1/collections/{collection}"),
    Route("DELETE", "/v1/collections/{collection}", "erase", status=404),
    Route("GET", DOCUMENTS),
    Route("POST", DOCUMENTS, "ingest", {"documents": []}, 400),
    Route("GET", f"{DOCUMENTS}/{{doc_id}}", status=404),
    Route("DELETE", f"{DOCUMENTS}/{{doc_id}}", "erase", status=404),
    Route("POST", f"{DOCUMENTS}/{{doc_id}}/reveal", "reveal", status=404),
    Route("POST", f"{DOCUMENTS}/{{doc_id}}/review", "ingest query", {"masks": []}, 404),
    Route("GET", "/v1/collections/{collection}/review"),
    Route("POST", "/v1/collections/{collection}/erase", "erase", {"ids": ["never"]}, 404),
    Route("POST", "/v1/collections/{collection}/resanitize", "ingest reveal", {"into": "notes"}, 400),
    Route("GET", "/v1/jobs", "ingest"),
    Route("GET", "/v1/jobs/{job_id}", "ingest", status=404),
    Route("GET", "/v1/jobs/{job_id}/events", "ingest", status=404),
    Route("DELETE", "/v1/jobs/{job_id}", "ingest", status=404),
    Route("POST", "/v1/collections/{collection}/audits", "audit", {"suit": "quick"}, 400),
    Route("GET", "/v1/audits", "audit"),
    *(
        Route("GET", f"/v1/audits/{{job_id}}{part}", "audit", status=404)
        for part in ("", "/report", "/figures")
    ),
    Route("DELETE", "/v1/audits/{job_id}", "audit", status=404),
    Route("POST", "/v1/search", body={"collection": "notes", "question": "boiler"}),
    Route("POST", "/v1/sanitize", "ingest", {"text": "boiler", "policy": {"tau": "high"}}, 400),
    Route("GET", "/v1/policies"),
    Route("GET", "/v1/me", ""),
    Route("GET", "/v1/trail", "audit"),
    Route("GET", "/v1/keys", "admin"),
    Route("POST", "/v1/keys", "admin", {"name": "", "scopes": ["query"]}, 400),
    Route("DELETE", "/v1/keys/{key_id}", "admin", status=404),
    Route("POST", "/v1/chat/completions", body={**ASKED, "model": "kb:notes"}),
    Route("POST", "/v1/responses", body={"model": "kb:notes", "input": "Is the boiler broken?"}),
    Route("POST", "/v1/embeddings", body={"model": "lethe", "input": "boiler"}),
    Route("POST", "/analyze", body={"text": "boiler", "language": "en"}),
    Route("POST", "/anonymize", body={"text": "boiler", "analyzer_results": []}),
    Route("POST", "/deanonymize", body={"text": "x", "anonymizer_results": [], "deanonymizers": {}}),
    *(Route("GET", f"/{name}") for name in "recognizers supportedentities anonymizers deanonymizers".split()),
]
OPEN = {"/livez", "/readyz", "/health"}


@pytest.fixture(scope="module")
def server(data: Path) -> Iterator[Served]:
    with served(data, "--host", "127.0.0.1") as running:
        with running.client() as anybody:
            # Open on loopback until the first key is made, from then on closed.
            assert models(anybody) == ["kb:more", "kb:notes"]
        yield running


@pytest.fixture(scope="module")
def made(server: Served, data: Path) -> dict[str, str]:
    given = {
        "all": created(data, "all", "--scope", ",".join(SCOPES)),
        "notes": created(data, "notes", "-c", "notes"),
    }
    with closing(Keys(data)) as keys:
        return given | {scope: keys.create(scope, frozenset((scope,)), None).text for scope in SCOPES}


@pytest.mark.parametrize("who", ["nobody", "forged", "all", *SCOPES])
def test_every_route_asks_for_a_key_with_its_scope(server: Served, made: dict[str, str], who: str) -> None:
    key = {**made, "nobody": None, "forged": "lethe_00000000_" + "A" * 43}[who]
    with with_key(server, key) as client:
        described = client.get("/openapi.json").json()["paths"]
        calls = {(method.upper(), path) for path, methods in described.items() for method in methods}
        assert {(each.method, each.path) for each in ROUTES} == calls - {("GET", path) for path in OPEN}
        assert {client.get(path).status_code for path in OPEN} == {200}
        for route in ROUTES:
            answer = client.request(route.method, route.place, json=route.body)
            if who in ("nobody", "forged"):
                expected, code = 401, "invalid_api_key"
            elif who == "all" or {*route.scopes.split()} <= {who}:
                expected, code = route.status, None
            else:
                expected, code = 403, "insufficient_scope"
            assert answer.status_code == expected, (route, answer.text)
            # Presidio's errors have no code.
            assert code is None or route.path in PATHS or refused(answer)[1] == code
            assert answer.headers.get("www-authenticate") == ("Bearer" if expected == 401 else None)


def test_what_is_not_granted_looks_like_what_is_not_there(server: Served, made: dict[str, str]) -> None:
    with with_key(server, made["notes"]) as client:
        assert models(client) == ["lethe", "kb:notes"]
        assert collections(client) == ["notes"]
        unknown = "There is no such collection; the collections are notes."
        for name in ("more", "never"):
            search = client.post("/v1/search", json={"collection": name, "question": "boiler"})
            assert refused(search) == (404, "collection_not_found", unknown)
            assert refused(client.get(f"/v1/collections/{name}")) == refused(search)
            chat = client.post("/v1/chat/completions", json={**ASKED, "model": f"kb:{name}"})
            told = "There is no such model; the models are lethe and kb:notes."
            assert refused(chat) == (404, "model_not_found", told)


def test_a_caller_of_several_collections_names_one(server: Served, made: dict[str, str]) -> None:
    told = (
        "The model lethe is there only for a caller with one collection, and you have several; "
        "the models are kb:more and kb:notes."
    )
    with with_key(server, made["all"]) as client:
        several = client.post("/v1/search", json={"question": "boiler"})
        assert refused(several)[2] == "Name the collection: there are more and notes."
        chat = {**ASKED, "collection": "notes"}
        assert client.post("/v1/chat/completions", json=chat).status_code == 200
        two = client.post("/v1/chat/completions", json={**chat, "model": "kb:more"})
        assert refused(two)[2] == "model and collection name two collections: leave one out."
        assert models(client) == ["kb:more", "kb:notes"]
        asked = [
            client.post("/v1/chat/completions", json=each) for each in (ASKED, {**ASKED, "model": "lethe"})
        ]
        for answer in (*asked, client.get("/v1/models/lethe")):
            assert refused(answer) == (404, "model_not_found", told)


def test_keys_are_listed_without_secrets_and_revoked_at_once(
    server: Served, made: dict[str, str], data: Path
) -> None:
    short = created(data, "short", "-c", "more")
    with with_key(server, short) as client:
        assert models(client) == ["lethe", "kb:more"]
        listed = lethe(data, "keys").rows
        assert [each["name"] for each in listed] == ["all", "notes", *SCOPES, "short"]
        assert not any("key" in each for each in listed)
        assert lethe(data, "keys", "revoke", listed[-1]["key_id"]).summary["revoked"]
        assert client.get("/v1/models").status_code == 401
    stored = (data / FILE).read_bytes() + (data / f"{FILE}-wal").read_bytes()
    assert not any(key.split("_", 2)[2].encode() in stored for key in (*made.values(), short))


def test_an_error_about_rights_names_the_remedy_and_no_collection(
    server: Served, data: Path, made: dict[str, str]
) -> None:
    adds = created(data, "adds", "--scope", "ingest", "-c", "more")
    # Whether there is such a collection is not said.
    for key, name in ((made["query"], "notes"), (adds, "notes"), (adds, "never"), (adds, "no such")):
        with with_key(server, key) as client:
            answer = client.post(f"/v1/collections/{name}/documents", json={"documents": []})
        said = (
            "This key does not have the scope ingest for this collection, which this needs. Whoever manages "
            "keys can make one that does: on the page, or by `lethe keys create NAME --scope ingest`."
        )
        assert refused(answer) == (403, "insufficient_scope", said)
    with with_key(server, made["query"]) as client:
        assert refused(client.get("/v1/jobs"))[2].startswith("This key does not have the scope ingest, which")
    with with_key(server, made["all"]) as client:
        assert refused(client.delete("/v1/keys/none"))[:2] == (404, "key_not_found")


def test_what_is_not_there_is_neither_granted_nor_revoked(data: Path) -> None:
    ran = lethe(data, "keys", "create", "x", "-c", "never")
    assert (ran.code, "There is no collection never" in ran.err) == (1, True)
    ran = lethe(data, "keys", "revoke", "00000000")
    assert (ran.code, "There is no key with this id" in ran.err) == (2, True)


def test_a_collection_that_comes_goes_or_is_replaced_is_seen(tmp_path: Path) -> None:
    data = ingested(tmp_path, "threads = 1\n", [NOTE])
    heron = str(write_records(tmp_path / "heron.jsonl", ["Invented note. The heron by the pond was fed."]))

    def found(client: httpx.Client, question: str) -> httpx.Response:
        return client.post("/v1/search", json={"collection": "notes", "question": question})

    def texts(answer: httpx.Response) -> list[str]:
        return [each["text"] for each in answer.json()["passages"]]

    with served(data, "--host", "127.0.0.1") as server, server.client() as client:
        assert ["boiler" in each for each in texts(found(client, "boiler"))] == [True]
        assert lethe(data, "ingest", heron, "-c", "birds").code == 0
        assert collections(client) == ["birds", "notes"]
        assert lethe(data, "collections", "delete", "notes", "--yes").code == 0
        assert refused(found(client, "boiler"))[:2] == (404, "collection_not_found")
        assert lethe(data, "ingest", heron, "-c", "notes").code == 0
        assert ["heron" in each for each in texts(found(client, "heron"))] == [True]


def test_who_manages_keys_gives_and_takes_no_more_than_their_own(
    server: Served, made: dict[str, str], data: Path
) -> None:
    limited = created(data, "limited", "--scope", "admin,query", "-c", "notes")
    with with_key(server, limited) as client:
        more = client.post("/v1/keys", json={"name": "x", "scopes": ["reveal"]})
        told = "scopes: a key cannot give another one what it does not have itself."
        assert refused(more) == (400, "invalid_value", told)
        asked = {"name": "x", "scopes": ["query"]}
        assert client.post("/v1/keys", json={**asked, "collections": ["more"]}).status_code == 404
        own = client.post("/v1/keys", json=asked).json()
        assert own["collections"] == ["notes"]
        listed = client.get("/v1/keys").json()["keys"]
        assert {each["name"] for each in listed} >= {"limited", "x"}
        assert all(each["collections"] == ["notes"] for each in listed)
        (owner,) = (each["key_id"] for each in lethe(data, "keys").rows if each["name"] == "all")
        unknown = client.delete(f"/v1/keys/{owner}")
        assert refused(unknown)[2] == "There is no key with this id. GET /v1/keys and `lethe keys` list them."
        assert client.delete(f"/v1/keys/{own['key_id']}").json()["revoked"] is not None
    with with_key(server, made["all"]) as client:
        assert client.get("/v1/me").json()["name"] == "all"
