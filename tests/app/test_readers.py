"""Documents for some readers, from ingest to the real server and its vault. All texts are invented."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.commands import lethe, write_records
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
    records = [
        {"id": "o", "text": OPEN},
        {"id": "n", "text": NORTH, "ward": "north"},
        {"id": "b", "text": BOTH, "ward": ["north", "south"]},
    ]
    notes = folder / "notes.jsonl"
    notes.write_text("".join(json.dumps(each) + "\n" for each in records))
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


@pytest.fixture
def client(server: Served, keys: dict[str, str], who: str) -> Iterator[httpx.Client]:
    with server.client(headers={"authorization": f"Bearer {keys[who]}"}) as opened:
        yield opened


def done(client: httpx.Client, job: httpx.Response) -> None:
    place = f"/v1/jobs/{job.json()['job_id']}"
    # The events end with the job.
    client.get(f"{place}/events").read()
    assert client.get(place).json()["state"] == "done"


@pytest.mark.parametrize("who", SEES)
def test_a_key_finds_lists_and_reveals_what_it_may_read(client: httpx.Client, who: str) -> None:
    asked = {"collection": "notes", "question": "boiler roof weir of the mill", "k": 9}
    search = client.post("/v1/search", json=asked).json()["passages"]
    assert {each["doc_id"] for each in search} == SEES[who]
    listed = client.get("/v1/collections/notes/documents").json()["documents"]
    assert {each["doc_id"] for each in listed} == SEES[who]
    assert {each["doc_id"]: each["readers"] for each in listed} == {
        "o": [],
        **({"n": ["north"]} if "n" in SEES[who] else {}),
        **({"b": ["north", "south"]} if "b" in SEES[who] else {}),
    }
    for doc_id in ("o", "n", "b"):
        answer = client.post(f"/v1/collections/notes/documents/{doc_id}/reveal")
        missing = client.post("/v1/collections/notes/documents/never/reveal")
        opened = client.get(f"/v1/collections/notes/documents/{doc_id}")
        not_there = client.get("/v1/collections/notes/documents/never")
        if doc_id in SEES[who]:
            assert (answer.status_code, opened.json()["doc_id"]) == (200, doc_id)
        else:
            # As what is not there.
            assert (answer.status_code, answer.json()) == (missing.status_code, missing.json())
            assert (opened.status_code, opened.json()) == (not_there.status_code, not_there.json())


@pytest.mark.parametrize("who", SEES)
def test_an_answer_says_nothing_of_what_its_reader_may_not_read(client: httpx.Client, who: str) -> None:
    turns = [{"role": "user", "content": "Who came about the boiler of the mill?"}]
    answer = client.post("/v1/chat/completions", json={"model": "kb:notes", "messages": turns}).json()
    assert {each["doc_id"] for each in answer["citations"]} <= SEES[who]
    assert ("boiler" in answer["choices"][0]["message"]["content"]) == ("n" in SEES[who])


@pytest.mark.parametrize("who", ["manager"])
def test_the_server_takes_groups_with_keys_and_readers_with_documents(
    server: Served, client: httpx.Client
) -> None:
    made = client.post("/v1/keys", json={"name": "west", "scopes": ["query"], "groups": ["west"]})
    assert made.status_code == 201, made.text
    assert made.json()["groups"] == ["west"]
    refused = client.post("/v1/keys", json={"name": "west", "scopes": ["query"], "groups": ["Mr Zorvathian"]})
    assert refused.status_code == 400
    assert "a group has 1 to 64 letters" in refused.text
    assert "Zorvathian" not in refused.text
    blank = {"documents": [{"id": "w", "text": "Invented.", "readers": [""]}]}
    assert client.post("/v1/collections/sluices/documents", json=blank).status_code == 400
    body = {
        "documents": [
            {"id": "w", "text": "Invented note. The sluice of the western weir is rusty."},
            {"id": "e", "text": "Invented note. The sluice of the eastern weir is new.", "readers": ["east"]},
        ],
        "readers": ["west"],
    }
    job = client.post("/v1/collections/sluices/documents", json=body)
    assert job.status_code == 202, job.text
    done(client, job)
    with server.client(headers={"authorization": f"Bearer {made.json()['key']}"}) as western:
        assert western.get("/v1/me").json()["groups"] == ["west"]
        listed = western.get("/v1/collections/sluices/documents").json()["documents"]
    assert [each["doc_id"] for each in listed] == ["w"]


@pytest.mark.parametrize("who", ["manager"])
def test_what_is_sanitized_again_keeps_its_readers(
    server: Served, client: httpx.Client, keys: dict[str, str]
) -> None:
    job = client.post(
        "/v1/collections/notes/resanitize", json={"into": "again", "policy": {"name": "redact"}}
    )
    assert job.status_code == 202, job.text
    done(client, job)
    for name in ("anyone", "south"):
        with server.client(headers={"authorization": f"Bearer {keys[name]}"}) as other:
            listed = other.get("/v1/collections/again/documents").json()["documents"]
        assert {each["doc_id"] for each in listed} == SEES[name]


def kept(data: Path, collection: str) -> dict[str, list[str]]:
    return {row["doc_id"]: row["readers"] for row in lethe(data, "documents", "-c", collection).rows}


def test_a_copy_for_others_is_a_document_of_its_own_and_readers_can_be_changed(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "settings.toml").write_text(SETTINGS)
    notes = write_records(tmp_path / "notes.jsonl", [NORTH])
    assert lethe(data, "ingest", str(notes), "-c", "c", "--readers", "north,east").code == 0
    assert kept(data, "c") == {"r0000": ["east", "north"]}
    again = lethe(data, "ingest", str(notes), "-c", "c", "--readers", "east, north").summary
    assert (again["duplicates_skipped"], again["documents_kept"]) == (1, 0)
    copy = tmp_path / "copy.jsonl"
    copy.write_text(json.dumps({"id": "copy", "text": NORTH}) + "\n")
    assert lethe(data, "ingest", str(copy), "-c", "c").code == 0
    assert kept(data, "c") == {"copy": [], "r0000": ["east", "north"]}
    # Nothing is opened by leaving its readers out, from whatever file and with whatever text.
    for text in (NORTH, OPEN):
        notes.write_text(json.dumps({"id": "r0000", "text": text}) + "\n")
        opened = lethe(
            data, "ingest", str(notes), "-c", "c", "--retry-failed" if text == OPEN else "--workers=1"
        )
        assert opened.code == 1
        assert (
            "is stored for some readers, and this time names none" in opened.summary["failures"][0]["reason"]
        )
    assert kept(data, "c") == {"copy": [], "r0000": ["east", "north"]}
    closed = lethe(data, "ingest", str(copy), "-c", "c", "--readers", "south").summary
    assert closed["documents_replaced"] == 1
    assert kept(data, "c") == {"copy": ["south"], "r0000": ["east", "north"]}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "names no readers in field 'ward'; name them, or give ward... if all may read those that"),
        (" ", "names no readers in field 'ward'"),
        ("Mr Zorvathian", "names readers in field 'ward' that are no groups; a group has 1 to 64 letters"),
        ("north,", "names readers in field 'ward' that are no groups"),
        (["a"] * 3 + [f"g{n}" for n in range(64)], "that are no groups; "),
    ],
)
def test_a_record_without_proper_readers_is_not_stored(tmp_path: Path, value: object, said: str) -> None:
    notes = tmp_path / "notes.jsonl"
    records = [{"id": "n", "text": NORTH, "ward": value}, {"id": "o", "text": OPEN, "ward": "north , east"}]
    notes.write_text("".join(json.dumps(each) + "\n" for each in records))
    ran = lethe(tmp_path / "data", "ingest", str(notes), "-c", "c", "--readers-field", "ward", "--dry-run")
    assert (ran.code, ran.summary["documents_failed"], ran.summary["documents_kept"]) == (1, 1, 1)
    assert said in ran.summary["failures"][0]["reason"]
    assert "Zorvathian" not in ran.out + ran.err


@pytest.mark.parametrize("field", ["ward[*]", "ward[*].name", "ward"])
def test_a_list_without_readers_opens_nothing_and_no_other_file_does(tmp_path: Path, field: str) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.jsonl").write_text(json.dumps({"id": "n", "text": NORTH, "ward": []}) + "\n")
    (notes / "b.txt").write_text(OPEN)
    ran = lethe(tmp_path / "data", "ingest", str(notes), "-c", "c", "--readers-field", field, "--dry-run")
    record, file = (each["reason"] for each in ran.summary["failures"])
    assert record.startswith(f"names no readers in field {field!r}")
    assert file.startswith(f"is no record with the field {field!r}, so nothing says who may read it")
    assert ran.summary["documents_kept"] == 0


def test_records_name_their_readers_in_a_field_of_that_name(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "settings.toml").write_text(SETTINGS)
    notes = tmp_path / "notes.jsonl"
    records = [{"id": "n", "text": NORTH, "readers": ["north"]}, {"id": "o", "text": OPEN}]
    notes.write_text("".join(json.dumps(each) + "\n" for each in records))
    assert lethe(data, "ingest", str(notes), "-c", "c").code == 0
    assert kept(data, "c") == {"n": ["north"], "o": []}


@pytest.mark.parametrize(
    "arguments",
    [
        ["ingest", "never.txt", "-c", "c", "--readers", ""],
        ["keys", "create", "x", "--group", ""],
        ["ingest", "never.txt", "-c", "c", "--readers", "a b"],
        ["keys", "create", "x", "--group", "Mr Zorvathian"],
    ],
)
def test_groups_by_other_names_are_refused(tmp_path: Path, arguments: list[str]) -> None:
    ran = lethe(tmp_path / "data", *arguments)
    assert ran.code != 0
    assert "Name groups of readers by other names: a group has 1 to 64 letters, digits" in ran.err
    assert "Zorvathian" not in ran.err
