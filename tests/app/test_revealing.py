"""Revealing over HTTP by the real server, and what its trail says. All texts are invented."""

import base64
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.access.database import FILE
from app.access.keys import SCOPES
from app.access.trail import Trail
from app.data_dir import DataDir
from app.settings.load import load_settings
from tests.commands import lethe, write_records
from tests.serving import Served, ingested, served

NOTE = "Invented note. Mr Tobias Zorvathian, MRN 88213407, came about the boiler of the mill."
OLD = "Invented note. The weir was mended before the rain by Mr Zorvathian."
SETTINGS = 'threads = 1\n[risk]\nkind = "prior"\n'


@dataclass(frozen=True)
class Place:
    """A running server, its data folder, and its keys by name: text and id."""

    server: Served
    data: Path
    keys: dict[str, tuple[str, str]]

    def client(self, who: str) -> httpx.Client:
        return self.server.client(headers={"authorization": f"Bearer {self.keys[who][0]}"})

    def trail(self) -> list[dict[str, Any]]:
        with closing(Trail(DataDir(load_settings({"data_dir": self.data})))) as trail:
            return [dict(row) for row in trail.rows()]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("reveal")
    data = ingested(folder, SETTINGS, [OLD])
    key = folder / "vault.key"
    key.touch(0o600)
    key.write_bytes(base64.b64encode(b"k" * 32))
    vault = f"[vault]\nenabled = true\nkey_file = {json.dumps(str(key))}\n"
    (data / "settings.toml").write_text(SETTINGS + vault)
    for name in ("notes", "more"):
        records = write_records(folder / f"{name}.jsonl", [OLD, NOTE])
        assert lethe(data, "ingest", str(records), "-c", name).code == 0
    keys = {}
    scopes = {"reader": ["query"], "revealer": ["reveal", "-c", "notes"], "all": [",".join(SCOPES)]}
    for name, given in scopes.items():
        made = lethe(data, "keys", "create", name, "--scope", *given).summary
        keys[name] = (made["key"], made["key_id"])
    with served(data, "--host", "127.0.0.1") as server:
        yield Place(server, data, keys)


def reveal(client: httpx.Client, doc_id: str, collection: str = "notes") -> httpx.Response:
    return client.post(f"/v1/collections/{collection}/documents/{doc_id}/reveal")


def test_a_key_with_the_scope_sees_the_original_and_the_trail_says_so(place: Place) -> None:
    before = len(place.trail())
    with place.client("revealer") as client:
        answer = reveal(client, "r0001")
    assert answer.status_code == 200, answer.text
    shown = answer.json()
    assert (shown["text"], answer.headers["cache-control"]) == (NOTE, "no-store")
    assert any("Zorvathian" in NOTE[each["start"] : each["end"]] for each in shown["places"])
    began, ended = place.trail()[before:]
    assert (began["outcome"], ended["outcome"], ended["about"]) == ("begun", 200, "r0001")
    for entry in (began, ended):
        assert entry["key_id"] == place.keys["revealer"][1]
        assert entry["action"] == "POST /v1/collections/{collection}/documents/{doc_id}/reveal"
        assert entry["collection"] == "notes"


@pytest.mark.parametrize(
    ("who", "doc_id", "collection", "status", "code"),
    [
        ("reader", "r0001", "notes", 403, "insufficient_scope"),
        ("revealer", "r0001", "more", 404, "collection_not_found"),
        ("revealer", "zorvathian", "notes", 404, "document_not_found"),
        ("revealer", "r0000", "notes", 404, "original_not_kept"),
    ],
)
def test_what_cannot_be_revealed_is_refused_and_noted(
    place: Place, who: str, doc_id: str, collection: str, status: int, code: str
) -> None:
    with place.client(who) as client:
        answer = reveal(client, doc_id, collection)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    last = place.trail()[-1]
    assert (last["key_id"], last["outcome"]) == (place.keys[who][1], status)
    assert "zorvathian" not in json.dumps(last)


def test_questions_leave_counts_and_no_word(place: Place) -> None:
    with place.client("reader") as client:
        body = {"collection": "notes", "question": "Who is Tobias Zorvathian?"}
        assert client.post("/v1/search", json=body).status_code == 200
        chat = {"model": "kb:notes", "messages": [{"role": "user", "content": "Zorvathian?"}]}
        assert client.post("/v1/chat/completions", json=chat).status_code == 200
    searched, chatted = place.trail()[-2:]
    assert (searched["action"], searched["collection"]) == ("POST /v1/search", "notes")
    assert searched["counts"] == {"passages": 2}
    assert (chatted["action"], chatted["collection"]) == ("POST /v1/chat/completions", "notes")
    for path in place.data.glob(f"{FILE}*"):
        assert b"orvathian" not in path.read_bytes()


def test_a_server_whose_vault_has_no_key_does_not_start(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "settings.toml").write_text("[vault]\nenabled = true\n")
    ran = lethe(tmp_path / "data", "serve", "--port", "0")
    assert (ran.code, "there is no key to seal them" in ran.err) == (2, True)


def test_a_key_made_is_in_the_trail_and_without_a_trail_the_server_shows_and_erases_nothing(
    place: Place,
) -> None:
    with place.client("all") as client:
        made = client.post("/v1/keys", json={"name": "ward", "scopes": ["query"]})
        assert made.status_code == 201, made.text
        assert client.delete(f"/v1/keys/{made.json()['key_id']}").status_code == 200
    entries = place.trail()[-4:]
    assert [entry["outcome"] for entry in entries] == ["begun", 201, "begun", 200]
    assert [entry.get("about") for entry in entries[1::2]] == [made.json()["key_id"]] * 2
    whole = lethe(place.data, "trail", "verify")
    assert whole.code == 0, whole.err
    with closing(sqlite3.connect(place.data / FILE)) as connection, place.client("all") as client:
        full = "CREATE TRIGGER full BEFORE INSERT ON trail BEGIN SELECT raise(ABORT, 'full'); END"
        connection.execute(full)
        connection.commit()
        for answer in (
            reveal(client, "r0001"),
            client.delete("/v1/collections/notes/documents/r0001"),
            client.post("/v1/search", json={"collection": "notes", "question": "boiler"}),
            client.post("/v1/keys", json={"name": "ward", "scopes": ["query"]}),
        ):
            assert (answer.status_code, answer.json()["code"]) == (503, "trail_unavailable"), answer.text
            assert "boiler" not in answer.text
        connection.execute("DROP TRIGGER full")
        connection.commit()
        assert reveal(client, "r0001").json()["text"] == NOTE
        assert len(client.get("/v1/keys").json()["keys"]) == 4
        erased = client.delete("/v1/collections/notes/documents/r0001")
        assert erased.status_code == 200, erased.text
        assert reveal(client, "r0001").json()["code"] == "document_not_found"
