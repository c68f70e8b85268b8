"""Audits over HTTP and by the command line, with the real server and its jobs. All names are invented."""

import base64
import json
import re
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.data_dir import DataDir
from app.jobs.table import Jobs, Lane
from app.jobs.uploads import Order, Upload, Uploads
from app.jobs.work import _work
from app.settings.load import load_settings
from tests.commands import Ran, in_process, write_lines, write_records
from tests.serving import Served, ingested, served

NOTES = [
    "Invented note. Mr Zorvath Quellbaum keeps the lighthouse. He has had a cough for three weeks.",
    "Invented note. Mrs Ada Vennstrom was told to rest her knee. She sells apples at the market on Mondays.",
    "Invented note. The boiler of the mill is broken. The plumber Oswin Tarrant asks for 400 euros in cash.",
]


AUDITS = "/v1/collections/notes/audits"
SETTINGS = 'threads = 1\n[risk]\nkind = "prior"\n[ingest]\nkeep_ids = true\n'


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ingested(tmp_path_factory.mktemp("audits"), SETTINGS, NOTES)


def originals(data: Path) -> list[tuple[str, tuple[str, bytes]]]:
    return [("files", ("notes.jsonl", (data.parent / "notes.jsonl").read_bytes()))]


def comes(true: Callable[[], bool], seconds: float) -> None:
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until
        time.sleep(0.1)


@pytest.fixture(scope="module")
def server(data: Path) -> Iterator[Served]:
    with served(data, "--host", "127.0.0.1") as running:
        yield running


def state(client: httpx.Client, job: Any) -> Any:
    return client.get(f"/v1/audits/{job['job_id']}").json()


def over(client: httpx.Client, job: Any) -> Any:
    comes(lambda: state(client, job)["state"] not in ("waiting", "running"), 200)
    return state(client, job)


def told(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


def test_an_audit_is_a_job_with_a_report_to_view(server: Served, data: Path) -> None:
    with server.client() as client:
        asked = {"suite": "quick", "at_most": json.dumps({"linked": 0.01})}
        begun = client.post(AUDITS, files=originals(data), data=asked)
        assert begun.status_code == 202, begun.text
        job = begun.json()
        place = f"/v1/audits/{job['job_id']}"
        assert begun.headers["location"] == place
        early = client.get(f"{place}/report")
        done = over(client, job)
        assert (done["state"], done["kind"], done["error"]) == ("done", "audit", None)
        assert done["progress"] == {"systems_done": 5, "systems": 5}
        summary = done["summary"]
        assert (summary["passed"], summary["documents"]) == (False, 3)
        assert summary["verdict"].startswith("Not to be released: 1 of 1 gates are exceeded (linked is 1.000")
        page = client.get(f"{place}/report")
        assert page.headers["content-type"].startswith("text/html")
        assert "default-src 'none'" in page.headers["content-security-policy"]
        figures = client.get(f"{place}/figures").json()
        assert [each["job_id"] for each in client.get("/v1/audits").json()["jobs"]] == [job["job_id"]]
        assert client.get("/v1/jobs").json()["jobs"] == []
        assert told(client.get(f"/v1/jobs/{job['job_id']}")) == (404, "job_not_found")
    assert early.status_code == 200 or told(early) == (404, "no_report")
    assert {each["name"] for each in figures["measures"]} >= {"left-direct", "linked", "found-first"}
    for text in (page.text, json.dumps(figures), json.dumps(done)):
        assert not any(name in text for name in ("Quellbaum", "Vennstrom", "Tarrant"))
    assert not [path for path in data.rglob("*") if path.is_file() and b"Quellbaum" in path.read_bytes()]
    assert not list(data.glob("audits/*/rows.jsonl"))


def test_what_cannot_be_audited_is_refused(server: Served) -> None:
    files = [("files", ("other.txt", b"Invented. Nobody has ingested this."))]
    with server.client() as client:
        assert told(client.post(AUDITS, json={"suite": "quick"})) == (404, "original_not_kept")
        assert client.post(AUDITS, json={"suit": "quick"}).status_code == 400
        unknown = client.post("/v1/collections/nope/audits", json={"suite": "quick"})
        assert told(unknown) == (404, "collection_not_found")
        assert told(client.get("/v1/audits/none/report")) == (404, "job_not_found")
        for form, said in (
            ({"at_most": "linked=1"}, 'at_most: send one JSON object, such as {"linked": 0.1}.'),
            (
                {"at_least": '{"linked": 1}'},
                "at_least: name 1 in it is not that of a measure. Those are: found-first",
            ),
            ({"at_most": '{"linked": NaN}'}, "at_most.linked"),
        ):
            wrong = client.post(AUDITS, files=files, data=form)
            assert wrong.status_code == 400
            assert wrong.json()["detail"].startswith(said)
        begun = client.post(AUDITS, files=files, data={"suite": "quick"}).json()
        failed = over(client, begun)
        assert client.get("/v1/audits").json()["jobs"][0]["job_id"] == begun["job_id"]
    assert failed["state"] == "failed"
    assert failed["error"].startswith("None of the 1 originals is in the collection notes: name the files")


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, Path]]:
    """A server whose vault has the originals."""
    folder = tmp_path_factory.mktemp("sealed")
    key = folder / "vault.key"
    key.touch(0o600)
    key.write_bytes(base64.b64encode(b"k" * 32))
    vault = f"[vault]\nenabled = true\nkey_file = {json.dumps(str(key))}\n"
    data = ingested(folder, SETTINGS + vault, NOTES)
    with served(data, "--host", "127.0.0.1") as running:
        yield running, data


def test_originals_of_the_vault_are_enough(sealed: tuple[Served, Path]) -> None:
    server, data = sealed
    asked = {"suite": "quick", "at_most": {"linked": 1, "member": 0.6}}
    with server.client() as client:
        done = over(client, client.post(AUDITS, json=asked).json())
        assert (done["state"], done["error"]) == ("done", None)
        assert done["summary"]["verdict"] == "No verdict: 1 of 2 gates were not measured (member)."
        assert [each["outcome"] for each in done["summary"]["gates"]] == ["held", "not measured"]
        report = data / "audits" / done["job_id"] / "audit.json"
        figures = json.loads(report.read_text())
        report.write_text(json.dumps({**figures, "worst": [{"doc_id": "r0002", "labels": {"city": 1}}]}))
        place = f"/v1/audits/{done['job_id']}/report"
        assert client.get(place).status_code == 200
        assert client.post("/v1/collections/notes/erase", json={"ids": ["r0002"]}).status_code == 200
        assert client.get(place).status_code == 404
        assert state(client, done)["summary"]["verdict"] == done["summary"]["verdict"]


def test_an_erasure_ends_audits_and_nothing_is_left_of_them(sealed: tuple[Served, Path]) -> None:
    server, data = sealed
    with server.client() as client:
        running = client.post(AUDITS, files=originals(data), data={"suite": "quick"}).json()
        another = client.post(AUDITS, json={"suite": "quick"})
        assert another.status_code == 409
        assert another.json()["detail"].startswith("An audit of this collection is not over: wait for it, or")
        comes(lambda: state(client, running)["state"] != "waiting", 60)
        erase = partial(client.post, "/v1/collections/notes/erase")
        assert erase(json={"ids": ["nobody"]}).status_code == 404
        assert state(client, running)["state"] == "running"
        receipt = erase(json={"ids": ["r0000"]})
        assert receipt.status_code == 200, receipt.text
        assert receipt.json()["complete"]
        ended = state(client, running)
        assert told(client.get(f"/v1/audits/{running['job_id']}/report")) == (404, "no_report")
    assert ended["state"] == "cancelled"
    assert ended["error"] == "Documents of the collection were to be erased. Begin the audit again."
    left = data / "audits" / running["job_id"]
    comes(lambda: not list(data.glob("uploads/*")) and not left.exists(), 20)


def test_an_audit_is_cancelled(server: Served, data: Path) -> None:
    with server.client() as client:
        begun = client.post(AUDITS, files=originals(data), data={"suite": "quick"}).json()
        client.delete(f"/v1/audits/{begun['job_id']}")
        ended = over(client, begun)
    assert (ended["state"], ended["error"]) == ("cancelled", None)


def test_an_audit_of_a_collection_that_has_changed_meanwhile_begins_anew(
    collection: Path, small_corpus: Path
) -> None:
    settings = load_settings({})
    data = DataDir(settings)
    jobs, uploads = Jobs(settings.data_dir), Uploads(settings.data_dir, data.key)
    order = Order(audit={"suite": "quick", "seed": 0, "at_most": {}, "at_least": {}})
    uploads.keep("one", order, [Upload("notes.jsonl", collection.read_bytes())])
    jobs.create("one", "audit", "notes", key_id="", dry_run=False)
    begun = settings.data_dir / "audits" / "one"
    begun.mkdir(parents=True)
    (begun / "rows.jsonl").write_text('{"run":"before"}\n')
    _work(settings, Lane(("audit",)))
    assert (jobs.get("one").state, jobs.get("one").error) == ("done", None)
    assert {each.name for each in begun.iterdir()} >= {"audit.json", "report.html"}


@pytest.fixture
def collection(
    small_corpus: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Path:
    monkeypatch.setenv("LETHE_INGEST__KEEP_IDS", "true")
    path = write_records(small_corpus / "notes.jsonl", NOTES)
    assert in_process(capsys, "ingest", str(path), "-c", "notes").code == 0
    return path


def audited(capsys: pytest.CaptureFixture[str], path: Path, *more: str) -> Ran:
    return in_process(capsys, "audit", "-c", "notes", "--originals", str(path), "--suite", "quick", *more)


def test_the_command_writes_a_report_and_gates_end_it(
    collection: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "report"
    done = audited(capsys, collection, "--fail-above", "linked=0.01", "--output", str(folder))
    assert done.code == 100
    assert "Not to be released" in done.err
    assert done.messages[0].startswith("lethe: Attempts on each of 5 systems: left-direct and left-quasi 3, ")
    said = r"linked is .* has to be at most 0\.01 .* With so few cases .* cases?: r000\d"
    assert [each for each in done.messages if re.search(said, each)]
    lost = audited(capsys, collection, "--output", str(folder))
    assert (lost.code, lost.summary) == (1, {})
    assert "a finished audit with gates that this command does not set (linked 0.01)" in lost.messages[-1]
    written = {each.name for each in folder.iterdir()}
    assert written == {"audit.json", "audit.sarif", "junit.xml", "report.html", "rows.jsonl"}
    assert json.loads((folder / "audit.json").read_text()) == done.summary
    held = audited(capsys, collection, "--fail-above", "linked=1", "--fail-below", "found-first=0")
    assert (held.code, "All 2 gates hold." in held.err) == (0, True)
    misused = audited(capsys, collection, "--fail-above", "lnked=1")
    assert misused.code == 2
    assert misused.messages[-1].startswith("lethe: lnked is no measure of a leak. Those are: left-d")
    beside = in_process(capsys, "compare", str(folder), str(folder / "audit.json"))
    assert (beside.code, "too few" in beside.err) == (0, True), "three documents are too few for a difference"
    wrong = in_process(capsys, "compare", str(folder), str(folder / "report.html"))
    assert wrong.code == 2
    assert "is no audit of this version: name the folder" in wrong.messages[-1]


def test_the_command_names_each_original_that_it_skipped(
    collection: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, outside = tmp_path / "originals", tmp_path / "outside.txt"
    folder.mkdir()
    (folder / collection.name).write_bytes(collection.read_bytes())
    (folder / "broken.pdf").write_bytes(b"%PDF-")
    outside.write_text("The mill stood still for a week.")
    (folder / "linked.txt").symlink_to(outside)
    skipped = "linked.txt: was skipped: a link leads out of the folder to it; name it, or give --follow-links"
    done = audited(capsys, folder)
    assert [each for each in done.messages if skipped in each]
    assert [each for each in done.messages if f"{folder / 'broken.pdf'}: " in each]
    assert not [each for each in audited(capsys, folder, "--follow-links").messages if "skipped" in each]


def test_what_still_stands_is_shown_only_on_request(
    collection: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    marks = [[{"text": "lighthouse", "label": "place", "identifier": "direct"}], [], []]
    rows = map(json.loads, collection.read_text().splitlines())
    marked = ({**row, "marks": each} for row, each in zip(rows, marks, strict=True))
    write_lines(tmp_path / "marked.jsonl", marked)
    for more, shown in (((), False), (("--reveal",), True)):
        done = audited(capsys, tmp_path / "marked.jsonl", "--gold-field", "marks", *more)
        assert done.code == 0
        assert ("r0000: lighthouse" in done.err) is shown
        assert "lighthouse" not in done.out
