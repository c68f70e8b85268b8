"""API keys: what is stored of them, what they allow, and the real server that asks for them."""

import json
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.access.database import FILE
from app.access.keys import SCOPES, Key, Keys, Scope
from app.server.presidio import PATHS
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
    with pytest.raises(LetheError, match="cannot be read or written .SQLITE_NOTADB.. Free some space, or restore"):
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
    ran = lethe(data, "ingest", str(write_records(folder / "more.jsonl", [NOTE])), "-c", "more")
    assert ran.code == 0, ran.err
    return data


def created(data: Path, *arguments: str) -> str:
    ran = lethe(data, "keys", "create", *arguments)
    assert ran.code == 0, ran.err
    assert "cannot be shown again" in ran.err
    return str(json.loads(ran.out)["key"])


def with_key(server: Served, key: str | None) -> httpx.Client:
    return server.client(headers={"authorization": f"Bearer {key}"} if key else {})


def models(client: httpx.Client) -> list[str]:
    return [each["id"] for each in client.get("/v1/models").json()["data"]]


def collections(client: httpx.Client) -> list[str]:
    return [each["collection"] for each in client.get("/v1/collections").json()["collections"]]


def refused(answer: httpx.Response) -> tuple[int, str, str]:
    error = answer.json()["error"]
    return answer.status_code, error["code"], error["message"]


ROUTES: list[tuple[str, str, str, object]] = [
    ("GET", "/v1/models", "/v1/models", None),
    ("GET", "/v1/models/{model}", "/v1/models/kb:notes", None),
    ("GET", "/v1/collections", "/v1/collections", None),
    ("GET", "/v1/collections/{collection}", "/v1/collections/notes", None),
    ("POST", "/v1/search", "/v1/search", {"collection": "notes", "question": "boiler"}),
    ("POST", "/v1/chat/completions", "/v1/chat/completions", {**ASKED, "model": "kb:notes"}),
    ("POST", "/v1/embeddings", "/v1/embeddings", {"model": "lethe", "input": "boiler"}),
    ("POST", "/analyze", "/analyze", {"text": "boiler", "language": "en"}),
    ("POST", "/anonymize", "/anonymize", {"text": "boiler", "analyzer_results": []}),
    ("POST", "/deanonymize", "/deanonymize", {"text": "x", "anonymizer_results": [], "deanonymizers": {}}),
    *(("GET", path, path, None) for path in ("/recognizers", "/supportedentities")),
    *(("GET", path, path, None) for path in ("/anonymizers", "/deanonymizers")),
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
    return {
        "all": created(data, "all", "--scope", ",".join(SCOPES)),
        "notes": created(data, "notes", "-c", "notes"),
        "audits": created(data, "audits", "--scope", "audit"),
    }


@pytest.mark.parametrize(
    ("who", "status", "code"),
    [
        ("nobody", 401, "invalid_api_key"),
        ("forged", 401, "invalid_api_key"),
        ("audits", 403, "insufficient_scope"),
        ("all", 200, None),
        ("notes", 200, None),
    ],
)
def test_every_route_asks_for_a_key_with_its_scope(
    server: Served, made: dict[str, str], who: str, status: int, code: str | None
) -> None:
    key = {**made, "nobody": None, "forged": "lethe_00000000_" + "A" * 43}[who]
    with with_key(server, key) as client:
        described = client.get("/openapi.json").json()["paths"]
        assert {path for _, path, _, _ in ROUTES} | OPEN == set(described)
        assert {client.get(path).status_code for path in OPEN} == {200}
        for method, path, place, body in ROUTES:
            answer = client.request(method, place, json=body)
            assert answer.status_code == status, (path, answer.text)
            if status != 200 and path in PATHS:
                assert set(answer.json()) == {"error"}
            elif status != 200:
                assert answer.json()["error"]["code"] == code
            assert answer.headers.get("www-authenticate") == ("Bearer" if status == 401 else None)


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
    with with_key(server, made["all"]) as client:
        several = client.post("/v1/search", json={"question": "boiler"})
        assert refused(several)[2] == "Name the collection: there are more and notes."
        chat = {**ASKED, "collection": "notes"}
        assert client.post("/v1/chat/completions", json=chat).status_code == 200
        two = client.post("/v1/chat/completions", json={**chat, "model": "kb:more"})
        assert refused(two)[2] == "model and collection name two collections: leave one out."


def test_the_openai_client_sends_its_key(server: Served, made: dict[str, str]) -> None:
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key=made["notes"], max_retries=0) as sdk:
        said = sdk.chat.completions.create(
            model="lethe", messages=[{"role": "user", "content": "What is broken at the mill?"}]
        )
        assert "boiler" in str(said.choices[0].message.content)
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="other", max_retries=0) as sdk:
        with pytest.raises(openai.AuthenticationError, match="This server needs an API key"):
            sdk.models.list()


def test_keys_are_listed_without_secrets_and_revoked_at_once(
    server: Served, made: dict[str, str], data: Path
) -> None:
    short = created(data, "short", "-c", "more")
    with with_key(server, short) as client:
        assert models(client) == ["lethe", "kb:more"]
        listed = [json.loads(line) for line in lethe(data, "keys").out.splitlines()]
        assert [each["name"] for each in listed] == ["all", "notes", "audits", "short"]
        assert not any("key" in each for each in listed)
        revoked = lethe(data, "keys", "revoke", listed[-1]["key_id"])
        assert json.loads(revoked.out)["revoked"]
        assert client.get("/v1/models").status_code == 401
    stored = (data / FILE).read_bytes() + (data / f"{FILE}-wal").read_bytes()
    assert not any(key.split("_", 2)[2].encode() in stored for key in (*made.values(), short))


def test_a_grant_for_what_is_not_there_is_refused(data: Path) -> None:
    ran = lethe(data, "keys", "create", "x", "-c", "never")
    assert ran.code == 1
    assert "There is no collection never" in ran.err
    wrong = lethe(data, "keys", "revoke", "00000000")
    assert wrong.code == 2
    assert "There is no key with this id" in wrong.err


def test_a_collection_that_comes_goes_or_is_replaced_is_seen(tmp_path: Path) -> None:
    data = ingested(tmp_path, "threads = 1\n", [NOTE])
    heron = str(write_records(tmp_path / "heron.jsonl", ["Invented note. The heron by the pond was fed."]))

    def found(client: httpx.Client, question: str) -> list[str]:
        answer = client.post("/v1/search", json={"collection": "notes", "question": question})
        return [each["text"] for each in answer.json()["passages"]]

    with served(data, "--host", "127.0.0.1") as server, server.client() as client:
        assert ["boiler" in each for each in found(client, "boiler")] == [True]
        assert lethe(data, "ingest", heron, "-c", "birds").code == 0
        assert collections(client) == ["birds", "notes"]
        assert lethe(data, "collections", "delete", "notes", "--yes").code == 0
        gone = client.post("/v1/search", json={"collection": "notes", "question": "boiler"})
        assert refused(gone)[:2] == (404, "collection_not_found")
        assert lethe(data, "ingest", heron, "-c", "notes").code == 0
        assert ["heron" in each for each in found(client, "heron")] == [True]
