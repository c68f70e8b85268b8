"""Documents for some readers, from ingest to the real server and its vault. All texts are invented."""

import base64
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.commands import PLAIN, Ran, in_process, lethe, write_lines
from tests.serving import Served, served

OPEN = "Invented note. The weir was mended before the rain."
NORTH = "Invented note. Mr Tobias Zorvathian came about the boiler of the mill."
BOTH = "Invented note. The roof of the mill leaks since the storm."
SETTINGS = 'threads = 1\n[detector]\nlearned = false\n[risk]\nkind = "prior"\n[ingest]\nkeep_ids = true\n'
SEES = {"anyone": {"o"}, "south": {"o", "b"}, "north": {"o", "b", "n"}, "manager": {"o", "b", "n"}}
"""What each key may read."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("readers")
    (folder / "vault.key").touch(0o600)
    (folder / "vault.key").write_bytes(base64.b64encode(b"k" * 32))
    vault = f"[vault]\nenabled = true\nkey_file = {json.dumps(str(folder / 'vault.key'))}\n"
    data = folder / "data"
    data.mkdir()
    (data / "settings.toml").write_text(SETTINGS + vault)
    notes = folder / "notes.jsonl"
    records = (
        {"id": "n", "text": NORTH, "ward": "north"},
        {"id": "b", "text": BOTH, "ward": ["north", "south"]},
    )
    write_lines(notes, ({"id": "o", "text": OPEN}, *records))
    ran = lethe(data, "ingest", str(notes), "-c", "notes", "--readers-field", "ward...")
    assert ran.code == 0, ran.err
    return data


@pytest.fixture(scope="module")
def keys(data: Path) -> dict[str, str]:
    given = {
        "anyone": ["--scope", "query,reveal,ingest"],
        "south": ["--scope", "query,reveal", "--group", "south"],
        "north": ["--scope", "query,reveal", "--group", "north,east"],
        "manager": ["--scope", "query,reveal,admin,ingest,erase"],
    }
    return {
        name: lethe(data, "keys", "create", name, *options).summary["key"] for name, options in given.items()
    }


@pytest.fixture(scope="module")
def server(data: Path, keys: dict[str, str]) -> Iterator[Served]:
    with served(data, "--host", "127.0.0.1") as running:
        yield running


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


def done(client: httpx.Client, job: httpx.Response) -> None:
    assert job.status_code == 202, job.text
    place = f"/v1/jobs/{job.json()['job_id']}"
    # The events end with the job.
    client.get(f"{place}/events").read()
    assert client.get(place).json()["state"] == "done"


@pytest.mark.parametrize("who", SEES)
def test_a_key_finds_what_it_may_read_alone(server: Served, keys: dict[str, str], who: str) -> None:
    sees, place = SEES[who], "/v1/collections/notes/documents"
    turns = [{"role": "user", "content": "Who came about the boiler of the mill?"}]
    with server.client(headers=bearer(keys[who])) as client:
        asked = {"collection": "notes", "question": "boiler roof weir of the mill", "k": 9}
        search = client.post("/v1/search", json=asked).json()["passages"]
        assert {each["doc_id"] for each in search} == sees
        listed = {each["doc_id"]: each["readers"] for each in client.get(place).json()["documents"]}
        readers: dict[str, list[str]] = {"o": [], "n": ["north"], "b": ["north", "south"]}
        assert listed == {name: readers[name] for name in sees}
        # Of the others it is told as of what is not there.
        missing, not_there = client.post(f"{place}/never/reveal"), client.get(f"{place}/never")
        for doc_id in readers:
            answer, opened = client.post(f"{place}/{doc_id}/reveal"), client.get(f"{place}/{doc_id}")
            if doc_id in sees:
                assert (answer.status_code, opened.json()["doc_id"]) == (200, doc_id)
            else:
                assert (answer.status_code, answer.json()) == (missing.status_code, missing.json())
                assert (opened.status_code, opened.json()) == (not_there.status_code, not_there.json())
        said = client.post("/v1/chat/completions", json={"model": "kb:notes", "messages": turns}).json()
        assert {each["doc_id"] for each in said["citations"]} <= sees
        assert ("boiler" in said["choices"][0]["message"]["content"]) == ("n" in sees)


@pytest.fixture
def manager(server: Served, keys: dict[str, str]) -> Iterator[httpx.Client]:
    with server.client(headers=bearer(keys["manager"])) as opened:
        yield opened


def listed_by(server: Served, key: str, collection: str) -> set[str]:
    with server.client(headers=bearer(key)) as client:
        listed = client.get(f"/v1/collections/{collection}/documents").json()["documents"]
    return {each["doc_id"] for each in listed}


def test_keys_are_given_groups_and_documents_readers(server: Served, manager: httpx.Client) -> None:
    west: dict[str, Any] = {"name": "west", "scopes": ["query"], "groups": ["west"]}
    made = manager.post("/v1/keys", json=west)
    assert (made.status_code, made.json()["groups"]) == (201, ["west"])
    refused = manager.post("/v1/keys", json=west | {"groups": ["Mr Zorvathian"]})
    assert (refused.status_code, "Zorvathian" in refused.text) == (400, False)
    assert "a group has 1 to 64 letters" in refused.text
    place = "/v1/collections/sluices/documents"
    blank = {"documents": [{"id": "w", "text": "Invented.", "readers": [""]}]}
    assert manager.post(place, json=blank).status_code == 400
    documents = [{"id": "w", "text": OPEN}, {"id": "e", "text": NORTH, "readers": ["east"]}]
    done(manager, manager.post(place, json={"documents": documents, "readers": ["west"]}))
    assert listed_by(server, made.json()["key"], "sluices") == {"w"}
    with server.client(headers=bearer(made.json()["key"])) as western:
        assert western.get("/v1/me").json()["groups"] == ["west"]


def test_what_is_sanitized_again_keeps_its_readers(
    server: Served, manager: httpx.Client, keys: dict[str, str]
) -> None:
    again = {"into": "again", "policy": {"name": "redact"}}
    done(manager, manager.post("/v1/collections/notes/resanitize", json=again))
    for name in ("anyone", "south"):
        assert listed_by(server, keys[name], "again") == SEES[name]


Lethe = Callable[..., Ran]


@pytest.fixture
def here(clean: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Lethe:
    """The command in an empty folder."""
    for name, value in {**PLAIN, "LETHE_INGEST__KEEP_IDS": "true"}.items():
        monkeypatch.setenv(name, value)
    return partial(in_process, capsys)


def test_a_copy_for_others_is_a_document_of_its_own_and_readers_can_be_changed(here: Lethe) -> None:
    def kept(collection: str = "c") -> dict[str, list[str]]:
        return {row["doc_id"]: row["readers"] for row in here("documents", "-c", collection).rows}

    notes, copy = Path("notes.jsonl"), Path("copy.jsonl")
    write_lines(notes, [{"id": "r", "text": NORTH}])
    assert here("ingest", "notes.jsonl", "-c", "c", "--readers", "north,east").code == 0
    assert kept() == {"r": ["east", "north"]}
    again = here("ingest", "notes.jsonl", "-c", "c", "--readers", "east, north").summary
    assert (again["duplicates_skipped"], again["documents_kept"]) == (1, 0)
    write_lines(copy, [{"id": "copy", "text": NORTH}])
    assert here("ingest", "copy.jsonl", "-c", "c").code == 0
    assert kept() == {"copy": [], "r": ["east", "north"]}
    # Nothing is opened by leaving its readers out, from whatever file and with whatever text.
    for text, option in ((NORTH, "--workers=1"), (OPEN, "--retry-failed")):
        write_lines(notes, [{"id": "r", "text": text}])
        opened = here("ingest", "notes.jsonl", "-c", "c", option)
        (failure,) = opened.summary["failures"]
        assert (opened.code, "is stored for some readers, and this" in failure["reason"]) == (1, True)
    assert kept() == {"copy": [], "r": ["east", "north"]}
    closed = here("ingest", "copy.jsonl", "-c", "c", "--readers", "south").summary
    assert closed["documents_replaced"] == 1
    assert kept() == {"copy": ["south"], "r": ["east", "north"]}
    # Records name their readers in a field of that name.
    write_lines(notes, [{"id": "n", "text": NORTH, "readers": ["north"]}, {"id": "o", "text": OPEN}])
    assert here("ingest", "notes.jsonl", "-c", "other").code == 0
    assert kept("other") == {"n": ["north"], "o": []}


NOBODY = "names no readers in field 'ward'"
NO_GROUPS = "names readers in field 'ward' that are no groups; a group has 1 to 64 letters"


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("ward", None, f"{NOBODY}; name them, or give ward... if all may read those that"),
        ("ward", " ", NOBODY),
        ("ward", [], NOBODY),
        ("ward[*]", [], "names no readers in field 'ward[*]'"),
        ("ward[*].name", [], "names no readers in field 'ward[*].name'"),
        ("ward", "Mr Zorvathian", NO_GROUPS),
        ("ward", "north,", NO_GROUPS),
        ("ward", ["a"] * 3 + [f"g{n}" for n in range(64)], "that are no groups; "),
    ],
)
def test_a_record_without_proper_readers_is_not_stored_nor_another_file(
    here: Lethe, field: str, value: object, said: str
) -> None:
    others = [{"id": "o", "text": OPEN, "ward": "north , east"}] if field == "ward" else []
    write_lines(Path("notes/a.jsonl"), [{"id": "n", "text": NORTH, "ward": value}, *others])
    Path("notes/b.txt").write_text(OPEN)
    ran = here("ingest", "notes", "-c", "c", "--readers-field", field, "--dry-run")
    assert (ran.code, ran.summary["documents_failed"]) == (1, 2)
    assert ran.summary["documents_kept"] == len(others)
    record, file = (each["reason"] for each in ran.summary["failures"])
    assert said in record
    assert file.startswith(f"is no record with the field {field!r}, so nothing says who may read it")
    assert "Zorvathian" not in ran.out + ran.err


def test_groups_by_other_names_are_refused(here: Lethe) -> None:
    for command in (["ingest", "never.txt", "-c", "c", "--readers"], ["keys", "create", "x", "--group"]):
        for name in ("", "a b", "Mr Zorvathian"):
            ran = here(*command, name)
            assert ran.code != 0
            assert "Name groups of readers by other names: a group has 1 to 64 letters, digits" in ran.err
            assert "Zorvathian" not in ran.err


# -- reviews (last: they change what is stored) --------------------------------------------------------


def test_a_review_masks_what_the_reviewer_may_read_and_nothing_else(
    server: Served, keys: dict[str, str], data: Path
) -> None:
    def asking(name: str) -> httpx.Client:
        return httpx.Client(
            base_url=server.url, headers={"authorization": f"Bearer {keys[name]}"}, timeout=60
        )

    path = "/v1/collections/notes"
    with asking("anyone") as anyone, asking("manager") as manager, asking("south") as south:
        assert [each["doc_id"] for each in anyone.get(f"{path}/review").json()["documents"]] == ["o"]
        assert south.get(f"{path}/review").json()["left"] == 2
        # Decisions are shown to those who may add documents.
        assert south.get(f"{path}/documents/o").json()["decisions"] is None
        assert anyone.get(f"{path}/documents/o").json()["decisions"] == []
        place = {"start": OPEN.index("note"), "end": OPEN.index("note") + 4}
        body = {"masks": [place], "everywhere": True}
        assert south.post(f"{path}/documents/o/review", json=body).status_code == 403
        assert anyone.post(f"{path}/documents/n/review", json={}).status_code == 404
        done = anyone.post(f"{path}/documents/o/review", json=body)
        assert done.json() == {"doc_id": "o", "places": 1, "documents": 1}
        assert anyone.get(f"{path}/documents/o").json()["text"] == OPEN.replace("note", "[detail]")
        # What others read still says it, until somebody who may read it looks through it.
        text = manager.get(f"{path}/documents/n").json()["text"]
        assert "Invented note." in text
        # The original of a reviewed document is shown with the decisions of its sanitizing.
        assert manager.post(f"{path}/documents/o/reveal").json()["text"] == OPEN
        start = text.index("note")
        body = {"masks": [{"start": start, "end": start + 4, "instead": "page"}], "everywhere": True}
        assert manager.post(f"{path}/documents/n/review", json=body).json()["documents"] == 2
        assert manager.get(f"{path}/review").json()["left"] == 1
        hidden = {"start": 0, "end": 4, "instead": "one\u2028two"}
        for wrong in ({"start": 5, "end": 5}, {"start": 0, "end": 9999}, hidden):
            refused = manager.post(f"{path}/documents/b/review", json={"masks": [wrong]})
            assert (refused.status_code, refused.json()["code"]) == (400, "invalid_value")
        assert manager.post("/v1/search", json={"collection": "notes", "question": "page"}).status_code == 200
    assert lethe(data, "documents", "-c", "notes", "o").rows[0]["decisions"] != []
