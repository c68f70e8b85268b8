"""Documents over HTTP, by the real server and its real jobs. Every name here is invented."""

import base64
import json
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.data_dir import DataDir
from app.erasing import NOTHING_TO_ERASE
from app.server.errors import PROBLEM
from app.server.forms import MOST_FILES
from app.settings.load import load_settings
from retrieval.collection import Collection, locked
from tests.commands import lethe
from tests.serving import Served, ingested, served

NAME = "Zorvath Quellbaum"
NOTES = {
    f"{NAME}.txt": f"Invented note. Mr {NAME} keeps the lighthouse. He has had a cough for three weeks.",
    "mill.txt": "Invented note. The boiler of the mill is broken; the plumber asks for 400 euros.",
}
REDACT = json.dumps({"name": "redact"})


def data_in(folder: Path, settings: str = "") -> Path:
    (folder / "data").mkdir()
    (folder / "data" / "settings.toml").write_text(f"threads = 1\n{settings}")
    return folder / "data"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return data_in(tmp_path_factory.mktemp("documents"), "[server]\nupload_megabytes = 1\n")


@pytest.fixture(scope="module")
def server(data: Path) -> Iterator[Served]:
    with served(data, "--host", "127.0.0.1") as running:
        yield running


@pytest.fixture
def client(server: Served) -> Iterator[httpx.Client]:
    with server.client() as connected:
        yield connected


def place(collection: str) -> str:
    return f"/v1/collections/{collection}/documents"


def sent(client: httpx.Client, collection: str, files: Mapping[str, str], **fields: str) -> Any:
    parts = [("files", (name, text.encode())) for name, text in files.items()]
    answer = client.post(place(collection), files=parts, data=fields)
    assert answer.status_code == 202, answer.text
    assert answer.headers["location"] == f"/v1/jobs/{answer.json()['job_id']}"
    return answer.json()


def over(client: httpx.Client, job: Mapping[str, Any]) -> Any:
    """The job at its end, as the events tell it; every event is a whole job."""
    with client.stream("GET", f"/v1/jobs/{job['job_id']}/events") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        lines = [line for line in stream.iter_lines() if line.startswith("data: ")]
    jobs = [json.loads(line.removeprefix("data: ")) for line in lines]
    assert {each["job_id"] for each in jobs} == {job["job_id"]}
    assert jobs[-1] == client.get(f"/v1/jobs/{job['job_id']}").json()
    return jobs[-1]


def problem(answer: httpx.Response) -> tuple[int, str, str]:
    assert answer.headers["content-type"] == PROBLEM
    found = answer.json()
    return answer.status_code, found["code"], found["detail"]


def raw_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and b"Quellbaum" in path.read_bytes()]


def test_files_become_a_collection_that_answers_and_are_erased_with_a_receipt(
    client: httpx.Client, data: Path
) -> None:
    files = {**NOTES, "empty.txt": "", "rows.jsonl": '{"note": "Invented."}'}
    done = over(client, sent(client, "notes", files, policy=REDACT, text_field="\0words"))
    assert (done["state"], done["error"]) == ("done", None)
    lacks = (
        "has no field '\\x00words' among its only field; name that of the text with text_field of the request"
    )
    assert done["failures"] == [
        {"place": "file 3", "reason": "is empty (0 bytes); fill it in or leave it out"},
        {"place": "file 4, line 1", "reason": f"{lacks}, or ... for all"},
    ]
    assert done["summary"]["documents_kept"] == 2
    assert client.get("/v1/collections/notes").json()["policy"] == "redact"
    first = client.get(place("notes"), params={"limit": 1}).json()["documents"]
    rest = client.get(place("notes"), params={"after": first[0]["doc_id"]}).json()["documents"]
    assert len(first) == len(rest) == 1
    asked = {"question": "Who keeps it, and what has he had?", "k": 1}
    found = client.post("/v1/search", json=asked).json()["passages"]
    assert "keeps" in found[0]["text"]
    assert "Quellbaum" not in found[0]["text"]
    whole = client.get(f"{place('notes')}/{found[0]['doc_id']}").json()
    assert found[0]["text"] in whole["text"]
    assert whole["title"] == found[0]["title"]
    assert whole["title"].startswith("Invented note.")
    assert problem(client.get(f"{place('notes')}/never"))[:2] == (404, "document_not_found")

    nothing = problem(client.post("/v1/collections/notes/erase", json={}))
    assert nothing == (400, "invalid_value", "ids: name documents by ids, or people by their full names.")
    receipt = client.post("/v1/collections/notes/erase", json={"ids": [f"{NAME}.txt", "never"]}).json()
    assert (receipt["complete"], receipt["proved"], receipt["not_proved"]) == (True, True, [])
    assert receipt["not_found"] == ["never"]
    (erasure,) = receipt["erasures"]
    assert erasure["doc_id"] == found[0]["doc_id"]
    assert (erasure["passages"], erasure["traces_found"]) == (1, 0)
    assert erasure["bytes_searched"] > 0
    # The attacks succeed before, else their failure afterwards would say nothing.
    assert receipt["proof"] == {
        "before": {"passages": 1, "found": 1, "members": 1},
        "after": {"passages": 1, "found": 0, "members": 0},
        "read_back": 0,
    }
    again = client.post("/v1/search", json={**asked, "k": 5}).json()["passages"]
    left = [each["doc_id"] for each in first + rest if each["doc_id"] != erasure["doc_id"]]
    assert [each["doc_id"] for each in again] == left
    gone = client.delete(f"{place('notes')}/{erasure['doc_id']}")
    assert problem(gone) == (404, "document_not_found", NOTHING_TO_ERASE)
    assert raw_in(data) == []


def test_records_come_as_json_and_a_collection_keeps_its_policy(client: httpx.Client) -> None:
    documents = [{"id": "a", "text": NOTES["mill.txt"]}, {"id": "b", "text": "Invented. The pond is deep."}]
    body: dict[str, object] = {"documents": documents, "policy": {"name": "suppress"}}
    made = client.post(place("records"), json=body)
    assert over(client, made.json())["summary"]["documents_kept"] == 2
    # Without a policy, that of the collection; the same text again is no second document.
    documents.append({"id": "c", "text": "Invented. Rain."})
    summary = over(client, client.post(place("records"), json={"documents": documents}).json())["summary"]
    assert (summary["documents_kept"], summary["duplicates_skipped"]) == (1, 2)
    # An id of another text that is stored takes that one's old text away, which counts.
    moved = {"documents": [{"id": "a", "text": "Invented. Rain."}]}
    summary = over(client, client.post(place("records"), json=moved).json())["summary"]
    assert (summary["documents_replaced"], summary["duplicates_skipped"]) == (1, 1)
    assert len(client.get(place("records")).json()["documents"]) == 2
    assert client.get("/v1/collections/records").json()["policy"] == "suppress"
    other = client.post(place("records"), json={**body, "policy": {"name": "redact"}})
    told = "policy: the collection was made with another. Leave it out, or name a new collection."
    assert problem(other) == (400, "invalid_value", told)
    again = client.post("/v1/collections/records/resanitize", json={"into": "other"})
    assert problem(again) == (
        404,
        "original_not_kept",
        "The vault has no original of this collection to show: it was off when the collection was ingested, "
        "or the settings name no key for it.",
    )
    assert client.delete("/v1/collections/records").json() == {"deleted": "records"}
    assert problem(client.get(place("records")))[1] == "collection_not_found"


def test_a_dry_run_counts_decisions_and_makes_no_collection(client: httpx.Client) -> None:
    done = over(client, sent(client, "tried", NOTES, policy=REDACT, dry_run="true"))
    assert not any(each["collection"] == "tried" for each in client.get("/v1/trail").json()["entries"])
    assert done["dry_run"] is True
    assert "person full name" in {each["label"] for each in done["summary"]["decisions"]}
    assert problem(client.get("/v1/collections/tried"))[1] == "collection_not_found"


def form(content_type: str, content: bytes) -> dict[str, Any]:
    return {"content": content, "headers": {"content-type": content_type}}


def of_policy(policy: str) -> dict[str, Any]:
    return {"files": {"files": ("a.txt", b"b")}, "data": {"policy": policy}}


def of_fields(**fields: Any) -> dict[str, Any]:
    return {"files": {"files": ("a.txt", b"b")}, "data": fields}


A = {"id": "a", "text": "b"}
TOO_MANY = (
    "The form could not be read: its parts are not as multipart/form-data has them. Send up to 1000 files in "
    "parts named files, as `curl -F files=@notes.txt` does, and up to 10 other fields with short names"
)
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"json": {"documents": []}}, "documents: List should have at least 1 item after validation, not 0."),
    ({"json": {"documents": [{"id": "a"}]}}, "documents.0.text: Field required."),
    ({"json": {"documents": [A], "zorvath": 1}}, "zorvath: this field is not supp"),
    (form("text/plain", b"Mr Quellbaum"), "Send files as multipart/"),
    ({"files": {"other": ("a.txt", b"b")}}, "files: send one file or more, each in a part of this name"),
    (of_policy("{"), 'policy: send one JSON object, such as {"name": "redact"}.'),
    (of_policy("[]"), "policy: Input should be a valid dict"),
    (of_policy('{"name": "origin"}'), "policy.name: origin"),
    (
        of_policy('{"name": "x"}'),
        "policy.name: there is no such policy. Those are lethe, trip, intact, redact,",
    ),
    (
        of_policy('{"words": {"Quellbaum": "x"}}'),
        "policy.words: name 1 in it is not a label. Name one that is",
    ),
    (
        of_policy('{"words": {"phone nubmer": 5}}'),
        "policy.words: name 1 in it is not a label. The nearest is ph",
    ),
    (of_policy('{"words": 5}'), "policy.words: Input should be a valid dictionary."),
    (of_policy('{"words": {"person full name": "a\\nb"}}'), "policy: words for person full name: "),
    (of_policy('{"k": 500}'), "policy: k must be at most people; with as many as that, no fact stays."),
    (
        of_policy('{"name": "lprag", "epsilon": 1e-300}'),
        "policy: epsilon of lprag must be from 0.001 to 700.",
    ),
    (of_fields(dry_run=["true", "false"]), "The form names a field twice, other than files."),
    (of_fields(**{f"x{number}": "x" for number in range(11)}), TOO_MANY),
    (of_policy('{"deny_file": "/etc/passwd"}'), "policy: deny_file cannot be set here; name, k, people,"),
    (of_policy('{"tau": "Quellbaum"}'), "policy.tau: Input"),
    (
        {"files": [("files", (f"{number}.txt", b"b")) for number in range(MOST_FILES + 1)]},
        "The form could not be read: its parts are not as multipart/form-data has them. Send up to 1000 file",
    ),
    (form("multipart/form-data; boundary=y", b"--x\r\nQuellbaum"), "The form could not be read"),
    (form("multipart/form-data", b""), "The form could not be read"),
]


@pytest.mark.parametrize(("request_", "expected"), REFUSED, ids=[told[:24] for _, told in REFUSED])
def test_what_cannot_be_taken_is_refused_and_no_job_is_made(
    client: httpx.Client, request_: dict[str, Any], expected: str
) -> None:
    before = len(client.get("/v1/jobs").json()["jobs"])
    status, _, detail = problem(client.post(place("never"), **request_))
    assert status == 400
    assert detail.startswith(expected)
    assert "Quellbaum" not in detail
    assert ".." not in detail
    assert len(client.get("/v1/jobs").json()["jobs"]) == before


def test_an_upload_beyond_its_limit_is_refused_whatever_its_header_says(client: httpx.Client) -> None:
    big = b"x" * (1 << 20)
    chunked = {"content": iter([b'{"', big, b'":1}']), "headers": {"content-type": "application/json"}}
    for upload in ({"files": {"files": ("a.txt", big)}}, chunked):
        refused = client.post(place("never"), **upload)
        told = "The body is larger than 1048576 bytes; send less."
        assert problem(refused) == (413, "request_too_large", told)


def test_a_job_is_cancelled_and_another_one_goes_on(client: httpx.Client) -> None:
    running = sent(client, "cancelled", NOTES)
    assert client.delete(f"/v1/jobs/{running['job_id']}").status_code == 200
    assert over(client, running)["state"] == "cancelled"
    assert over(client, sent(client, "other", NOTES, policy=REDACT))["state"] == "done"
    newest = [each["job_id"] for each in client.get("/v1/jobs").json()["jobs"]]
    assert newest.index(running["job_id"]) == 1
    assert problem(client.get("/v1/jobs/never"))[:2] == (404, "job_not_found")


def test_a_job_waits_for_another_that_writes_to_its_collection(client: httpx.Client, data: Path) -> None:
    with locked(data / "collections" / "locked"):
        job = sent(client, "locked", NOTES)
        for _ in range(100):
            looked = client.get(f"/v1/jobs/{job['job_id']}").json()
            time.sleep(0.1)
        assert looked["state"] == "running"
    assert over(client, job)["state"] == "done"


def test_searches_are_answered_while_a_job_runs(client: httpx.Client, server: Served) -> None:
    over(client, sent(client, "answers", NOTES, policy=REDACT))
    job = sent(client, "busy", {f"{number}.txt": f"{NOTES['mill.txt']} {number}." for number in range(60)})
    slowest = 0.0
    while client.get(f"/v1/jobs/{job['job_id']}").json()["state"] in ("waiting", "running"):
        began = time.perf_counter()
        answer = client.post("/v1/search", json={"collection": "answers", "question": "What asks for it?"})
        slowest = max(slowest, time.perf_counter() - began)
        assert "asks" in answer.json()["passages"][0]["text"]
    # A job that held the server would hold it for seconds: loading its models alone takes that long.
    assert slowest < 2


def test_a_text_is_sanitized_with_every_decision(client: httpx.Client) -> None:
    text = f"\ufeffInvented. Mr {NAME} was born on 3 May 1970."
    answer = client.post("/v1/sanitize", json={"text": text, "policy": {"k": 5, "people": 20}}).json()
    assert "Quellbaum" not in answer["text"]
    assert (answer["policy"], answer["tau"], answer["read"]) == ("lethe", 2.0, text[1:])
    decisions, read = answer["decisions"], answer["read"]
    (named,) = (each for each in decisions if "Quellbaum" in read[each["start"] : each["end"]])
    assert named["identifier"] == "direct"
    assert set(named["scores"]) == {"risk", "divergence", "relevance", "priority", "bits"}
    for decision, (start, end) in zip(decisions, answer["places"], strict=True):
        if decision["replacement"]:
            assert answer["text"][start:end] == decision["replacement"]
    assert 'name = "lethe"\nk = 5.0\npeople = 20.0\n' in answer["policy_toml"]
    polish = "Tekst zmyślony. Kocioł w młynie jest zepsuty, a hydraulik wróci dopiero w poniedziałek."
    status, code, told = problem(client.post("/v1/sanitize", json={"text": polish}))
    assert (status, code, told[:22]) == (422, "not_sanitized", "The text is in Polish,")
    assert 'Send one of these, or let the operator set detector.language to "any"' in told
    body = {"text": text, "policy": {"replacements": "alias"}}
    told = "policy.replacements: aliases are those of a collection. Name it."
    assert problem(client.post("/v1/sanitize", json=body)) == (400, "invalid_value", told)
    names = [each["name"] for each in client.get("/v1/policies").json()["policies"]]
    assert names == ["lethe", "trip", "intact", "redact", "suppress", "entity-type", "lprag"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_job_goes_on_when_the_server_is_started_again(tmp_path: Path, number: signal.Signals) -> None:
    data = data_in(tmp_path)
    with served(data, "--host", "127.0.0.1") as first, first.client() as client:
        job = sent(client, "notes", NOTES, policy=REDACT)
        while client.get(f"/v1/jobs/{job['job_id']}").json()["state"] == "waiting":
            time.sleep(0.05)
        first.process.send_signal(number)
        first.process.wait(timeout=30)
    assert raw_in(data) == []
    with served(data, "--host", "127.0.0.1") as second, second.client() as client:
        done = over(client, job)
        assert (done["state"], done["error"]) == ("done", None)
        assert client.get("/v1/collections/notes").json()["documents"] == 2
        assert not any((data / "uploads").iterdir())
        refused = lethe(data, "serve")
    assert refused.code == 1
    assert "another server serves this data folder. End it first" in refused.err


def test_erasing_while_others_search_is_whole(client: httpx.Client) -> None:
    files = {f"{number}.txt": f"Invented note {number}. The mill {number} is broken." for number in range(12)}
    over(client, sent(client, "many", files, policy=REDACT))
    ending = threading.Event()

    def search() -> set[int]:
        body = {"collection": "many", "question": "Which mill is broken?"}
        statuses = set[int]()
        while not ending.is_set():
            statuses.add(client.post("/v1/search", json=body).status_code)
        return statuses

    with ThreadPoolExecutor(3) as pool:
        searching = [pool.submit(search) for _ in range(3)]
        try:
            for number in range(3):
                answer = client.post("/v1/collections/many/erase", json={"ids": [f"{number}.txt"]})
                assert answer.status_code == 200 and answer.json()["complete"], answer.text
        finally:
            ending.set()
    assert {status for each in searching for status in each.result()} == {200}
    assert client.get("/v1/collections/many").json()["documents"] == 9


def test_originals_are_sanitized_again_by_another_policy_into_another_collection(tmp_path: Path) -> None:
    data = data_in(tmp_path)
    vault = {"LETHE_VAULT__ENABLED": "true", "LETHE_VAULT__KEY": base64.b64encode(b"v" * 32).decode()}
    with served(data, "--host", "127.0.0.1", **vault) as server, server.client() as client:
        over(client, sent(client, "strict", NOTES, policy='{"name": "suppress"}'))
        body = {"into": "mild", "policy": {"name": "redact"}}
        made = client.post("/v1/collections/strict/resanitize", json=body)
        assert made.status_code == 202, made.text
        assert made.headers["location"] == f"/v1/jobs/{made.json()['job_id']}"
        done = over(client, made.json())
        assert (done["kind"], done["state"], done["error"]) == ("resanitize", "done", None)
        before, after = (client.get(place(name)).json()["documents"] for name in ("strict", "mild"))
        assert [each["doc_id"] for each in before] == [each["doc_id"] for each in after]
        assert client.get("/v1/collections/mild").json()["policy"] == "redact"
        found = client.post("/v1/search", json={"collection": "mild", "question": "Who keeps it?"})
        assert "Mr somebody keeps" in found.text
        again = client.post("/v1/collections/strict/resanitize", json={"into": "mild"})
        told = "into: there is such a collection. Name one that is not there yet."
        assert problem(again) == (400, "invalid_value", told)
        assert client.get("/v1/collections/strict").json()["originals"] == 2
    assert raw_in(data) == []


def test_all_about_somebody_is_erased_where_aliases_are_the_same_in_every_document(
    client: httpx.Client,
) -> None:
    letters = {
        "a.txt": "Invented letter. Mr Tobias Keller sold the boat. He is content.",
        "b.txt": "Invented letter. In the end Tobias Keller bought the mill.",
        "c.txt": "Invented letter. Ms Anna Gruber bought the other mill.",
    }
    policy = json.dumps({"name": "trip", "replacements": "alias"})
    over(client, sent(client, "letters", letters, policy=policy))
    erase = "/v1/collections/letters/erase"
    receipt = client.post(erase, json={"people": ["Tobias Keller"]})
    assert (receipt.status_code, len(receipt.json()["erasures"])) == (200, 2)
    (left,) = client.get(place("letters")).json()["documents"]
    found = client.post("/v1/search", json={"collection": "letters", "question": "Who bought it?"}).json()
    assert [each["doc_id"] for each in found["passages"]] == [left["doc_id"]]
    for people, told in (
        (["Tobias Keller"], NOTHING_TO_ERASE),
        (["the"], "people: a name was not recognized. Give it in full, as in the documents."),
    ):
        assert problem(client.post(erase, json={"people": people}))[2] == told
    over(client, sent(client, "unlinked", {"c.txt": letters["c.txt"]}, policy=REDACT))
    unlinked = client.post("/v1/collections/unlinked/erase", json={"people": ["Anna Gruber"]})
    assert problem(unlinked)[2].startswith("people: this collection has no keyed aliases")


def test_what_others_say_too_is_no_trace_and_no_sign(client: httpx.Client) -> None:
    said = "Invented template. The visit of {} went well, the next one is due."
    letters = {
        "a.txt": said.format("the mill"),
        "b.txt": said.format("the  mill").replace("went well", "went  well"),
        "c.txt": said.format("the pond"),
    }
    over(client, sent(client, "template", letters, policy=REDACT))
    for name in letters:
        receipt = client.post("/v1/collections/template/erase", json={"ids": [name]}).json()
        assert [receipt["proof"][when]["found"] for when in ("before", "after")] == [1, 0]
        # While another says the same, similarities tell nothing.
        left_open = [(each["cause"], each["checks"]) for each in receipt["not_proved"]]
        assert left_open == ([("not_nearest", ["membership"])] if name == "a.txt" else [])
        assert receipt["proved"] == (name != "a.txt")


def cut_short(data: Path, collection: str, doc_ids: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an erasure end like one whose process is killed before the files are searched."""

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with DataDir(load_settings({"data_dir": data})).open(collection) as opened:
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(Collection, "publish", killed)
            opened.erase_all(doc_ids)


def test_a_receipt_of_an_erasure_that_was_cut_short_says_what_it_does_not_prove(
    client: httpx.Client, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    over(client, sent(client, "cut", {**NOTES, "pond.txt": "Invented. The pond is deep."}, policy=REDACT))
    ids = [each["doc_id"] for each in client.get(place("cut")).json()["documents"]]
    cut_short(data, "cut", ids[:1], monkeypatch)
    receipt = client.post("/v1/collections/cut/erase", json={"ids": ids[:2]}).json()
    resumed, whole = sorted(receipt["erasures"], key=lambda each: not each["resumed"])
    shown = [(each["doc_id"], each["resumed"], each["bytes_searched"] > 0) for each in (resumed, whole)]
    assert shown == [(ids[0], True, False), (ids[1], False, True)]
    # The searches for the other one succeed, and prove nothing about the first.
    assert receipt["proof"]["before"] == {"passages": 1, "found": 1, "members": 1}
    assert (receipt["complete"], receipt["proved"]) == (True, False)
    (left_open,) = receipt["not_proved"]
    assert left_open.pop("reason").startswith("The erasure was begun before and cut short.")
    checks = ["search", "membership", "files"]
    assert left_open == {"cause": "resumed", "checks": checks, "documents": 1, "passages": 1}
    # By another id, it is finished as well, and that is said.
    cut_short(data, "cut", ids[2:], monkeypatch)
    told = f"{NOTHING_TO_ERASE} Erasures that had been cut short are finished now: 1."
    never = client.post("/v1/collections/cut/erase", json={"ids": ["never"]})
    assert problem(never) == (404, "document_not_found", told)
    assert client.get(place("cut")).json()["documents"] == []


def test_a_document_of_which_nothing_was_indexed_is_erased(client: httpx.Client) -> None:
    over(client, sent(client, "bare", {"a.txt": NAME}, policy='{"name": "suppress"}'))
    (document,) = client.get(place("bare")).json()["documents"]
    assert document["passages"] == 0
    receipt = client.post("/v1/collections/bare/erase", json={"ids": ["a.txt"]}).json()
    # Nothing could be asked, and it says so.
    assert (receipt["complete"], receipt["proved"]) == (True, False)
    (left_open,) = receipt["not_proved"]
    assert (left_open["cause"], left_open["documents"], left_open["passages"]) == ("no_passages", 1, 0)
    assert client.get(place("bare")).json()["documents"] == []


def test_nothing_is_erased_or_deleted_that_a_waiting_job_would_bring_back(client: httpx.Client) -> None:
    over(client, sent(client, "waited", NOTES, policy=REDACT))
    first = sent(client, "elsewhere", {f"{n}.txt": f"Invented {n}." for n in range(30)})
    waiting = sent(client, "waited", {"mill.txt": "Invented. The mill was sold."})
    remedy = "Jobs of this collection are not over: cancel them or wait, then send this again."
    told = (409, "collection_error", remedy)
    assert problem(client.post("/v1/collections/waited/erase", json={"ids": ["mill.txt"]})) == told
    assert problem(client.delete("/v1/collections/waited")) == told
    client.delete(f"/v1/jobs/{waiting['job_id']}")
    over(client, waiting)
    assert client.post("/v1/collections/waited/erase", json={"ids": ["mill.txt"]}).json()["complete"]
    client.delete(f"/v1/jobs/{first['job_id']}")
    over(client, first)


@pytest.mark.parametrize(
    ("table", "answers"),
    [
        ("[retrieval]\nleast_similarity = 0.1", [(400, "invalid_value"), (400, "invalid_value")]),
        ("[server]\ndocuments_percent = 50.0", [(200, ""), (429, "collection_budget_exceeded")]),
    ],
)
def test_a_server_of_one_collection_shows_whole_documents_within_limits_and_makes_no_other(
    tmp_path: Path, table: str, answers: Sequence[tuple[int, str]]
) -> None:
    data = ingested(tmp_path, f"threads = 1\n{table}\n", [*NOTES.values()])
    with served(data) as server, server.client() as client:
        rows = client.get(place("notes")).json()["documents"]
        opened = [client.get(f"{place('notes')}/{row['doc_id']}") for row in rows]
        refused = client.post(place("other"), files={"files": ("a.txt", b"Invented.")})
        assert problem(refused)[:2] == (404, "collection_not_found")
        assert over(client, sent(client, "notes", {"a.txt": "Invented. More."}))["state"] == "done"
    assert [(each.status_code, each.json().get("code", "")) for each in opened] == answers
