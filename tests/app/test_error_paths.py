"""No answer over HTTP names a path of the server's disk. Every path here is invented."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fastapi import APIRouter
from starlette.testclient import TestClient

from app.access.keys import Keys
from app.access.trail import TrailNotWritten
from app.data_dir import DataDir
from app.jobs.table import Jobs, UnknownJob
from app.jobs.uploads import Order, Upload, Uploads
from app.jobs.work import _work
from app.rows import SOMEWHERE, error_text
from app.server.app import assemble, create_app
from app.server.errors import in_openai_shape
from app.settings.load import load_settings
from app.settings.places import places_of
from models.errors import ConfigurationError, LetheError, ModelUnavailable
from retrieval.errors import CollectionError
from tests.serving import One, no_detector

DATA = Path("/srv/mill house/lethe")
NAMED = [
    (f"{DATA}/server.db: No space left on device.", "{}: No space left on device."),
    (
        f"There is no collection x in {DATA}/collections. Collections: y.",
        "There is no collection x in {}. Coll",
    ),
    (f"{DATA}/secret.key is damaged (3 bytes).", "{} is damaged (3 bytes)."),
    ("/opt/keys/k.bin: Permission denied. Check it.", "{}: Permission denied. Check it."),
    ("llama.cpp cannot load /opt/heron.gguf; choose another", "llama.cpp cannot load {}; choose another"),
    ("The encoder model's folder '/opt/a' is not there:", "The encoder model's folder '{}' is not there:"),
    ("It is kept (/tmp/lethe-x1/1.txt), so it is.", "It is kept ({}), so it is."),
    ("x; raise LETHE_INGEST__DOCUMENT_SECONDS", "x; raise ingest.document_seconds in the server's settings"),
    ("with --language any it is read", "with detector.language = any in the server's settings it is read"),
    *((f"{each}lethe/deny.txt: is not UTF-8.", "{}: is not UTF-8.") for each in ("~/", "../")),
    *((f"{each}: could not be read.", "{}: could not be read.") for each in ("lists/deny.txt", "allow.txt")),
]


@pytest.mark.parametrize(("message", "expected"), NAMED, ids=range(len(NAMED)))
def test_a_path_in_a_message_is_no_path_in_an_answer(message: str, expected: str) -> None:
    lists = {"policy.deny_file": "lists/deny.txt", "policy.allow_file": "allow.txt"}
    places = places_of(load_settings({"data_dir": str(DATA), **lists}))
    for kind in (LetheError, ConfigurationError, CollectionError):
        said = error_text(kind(message), places)
        assert said.startswith(expected.format(SOMEWHERE))
        assert "/" not in said


@pytest.mark.parametrize(
    "message",
    [
        str(UnknownJob()),
        "Send files as multipart/form-data, or documents as application/json.",
        "the language model at https://models.example:8443/v1 cannot be reached; start it and/or wait 1/2 s",
        "run 'lethe models pull invented/heron-small', or copy its folder here and give that path.",
        "Lethe needs a data folder to write in: set --data-dir or LETHE_DATA_DIR.",
        "The collections cannot be listed; allow.txtual is no file, and neither is data.",
    ],
)
def test_what_is_no_path_of_the_disk_stays(message: str) -> None:
    places = places_of(load_settings({"data_dir": "data", "policy.allow_file": "allow.txt"}))
    assert error_text(LetheError(message), places) == message


def test_every_path_of_the_settings_is_a_place(clean: Path) -> None:
    settings: dict[str, Any] = {
        "data_dir": "pond",
        "key_file": "keys/id",
        "generator.canaries": "canaries.txt",
    }
    settings |= {"vault.key_file": "keys/vault", "vault.old_key_files": ["keys/old"]}
    places = places_of(load_settings(settings | {"encoder": {"source": "path", "name": "models/heron"}}))
    for named in "pond pond/collections keys/id keys/vault keys/old canaries.txt models/heron".split():
        assert {named, str(clean / named)} <= {*places}


ERRORS = [
    LetheError("/srv/lethe/server.db: Permission denied. Set a folder."),
    ConfigurationError("pond/secret.key: Permission denied. Set a folder."),
    ModelUnavailable("llama.cpp cannot load /srv/lethe/heron.gguf;", "choose another"),
    CollectionError("/srv/lethe/collections/x: the disk is full."),
    TrailNotWritten(LetheError("/srv/lethe/server.db: Permission denied.")),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_no_error_over_http_names_a_path(error: LetheError) -> None:
    router, paths = APIRouter(), ("/v1/fails", "/v1/chat/fails")

    def fails() -> None:
        raise error

    for path in paths:
        router.get(path)(fails)
    app = assemble(One(None), no_detector, own=[router])  # type: ignore[arg-type]
    app.state.places = ["pond"]
    with TestClient(app, base_url="http://127.0.0.1") as client:
        for said in map(client.get, paths):
            assert said.status_code >= 400
            assert SOMEWHERE in said.text
            assert "/srv" not in said.text and "pond" not in said.text
    told = json.loads(in_openai_shape(error, app.state.places))["error"]["message"]
    assert SOMEWHERE in told


def test_what_is_damaged_and_a_failed_job_name_no_path(clean: Path) -> None:
    settings = load_settings({"data_dir": "mill pond", "threads": 1})
    data = DataDir(settings)
    jobs, uploads = Jobs(settings.data_dir), Uploads(settings.data_dir, data.key)
    data.folder("notes").mkdir(parents=True)
    (data.folder("notes") / "manifest.json").write_text("{")
    uploads.keep("one", Order(), [Upload("a.txt", b"")])
    jobs.create("one", "ingest", "notes", key_id="", dry_run=False)
    _work(settings)
    expected = f"{SOMEWHERE}: the manifest is damaged. Restore it from a backup."
    assert jobs.get("one").error == expected
    with closing(Keys(settings.data_dir)) as keys:
        with TestClient(create_app(data, keys), base_url="http://127.0.0.1") as client:
            answer = client.post("/v1/search", json={"question": "Who?", "collection": "notes"})
    assert (answer.status_code, answer.json()["detail"]) == (409, expected)
