"""From the settings of a policy to collections that keep it. All names and numbers are invented."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from app.cli.arguments import parser
from app.cli.given import settings_arguments
from app.cli.main import main
from app.compose import detector_of, system_of
from app.data_dir import DataDir
from app.policies import write_policy
from app.settings.load import PolicySettings, Settings, load_policy_file, load_settings
from ingest.deciding.policy import Policy, Treatment
from ingest.documents import Document, SanitizedDocument
from models.errors import ConfigurationError
from retrieval.errors import CollectionError
from retrieval.manifest import read_manifest, write_manifest
from tests.commands import READING, write_records
from tests.retrieval.test_store import MANIFEST

MARKER = "Zqmarker Heron"
POLICY = f"""
name = "redact"
allow = ["Parkinson"]
deny = ["{MARKER}"]

[operators]
"email address" = "hash"

[words]
"person full name" = "neighbors"

[[patterns]]
name = "ward number"
regex = "W-(?:[0-9]{{4}}|{MARKER})"
label = "ward number"
"""
TEXT = f"Mr Tobias Venn of {MARKER} wrote from t.venn@example.org about W-1236."


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in {**READING, "LETHE_DATA_DIR": str(tmp_path / "data")}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.toml").write_text(POLICY)
    write_records(tmp_path / "notes.jsonl", [TEXT])
    return tmp_path


def settings_with(policy: object) -> Settings:
    return load_settings({"policy": policy})


def sanitized(policy: object, text: str = TEXT) -> str:
    (outcome,) = system_of(settings_with(policy)).sanitizer().sanitize([Document("d", text)])
    assert isinstance(outcome, SanitizedDocument)
    return outcome.text


def refused(policy: object) -> str:
    with pytest.raises(ConfigurationError) as caught:
        sanitized(policy)
    assert MARKER not in str(caught.value)
    return str(caught.value)


# -- settings to parts -------------------------------------------------------------------------------------


def test_what_a_file_says_is_done(here: Path) -> None:
    done = sanitized(load_policy_file(here / "own.toml"))
    start, end = "Mr neighbors of a place wrote from [email address ", "] about a ward number."
    assert done.startswith(start) and done.endswith(end)
    assert len(done) == len(start) + 8 + len(end)


def test_origin_stays_origin(here: Path) -> None:
    policy = load_policy_file(here / "own.toml").model_copy(update={"name": "origin"})
    assert sanitized(policy) == TEXT


@pytest.mark.parametrize("place", ["operators", "words"])
def test_a_label_that_nothing_finds_is_refused(here: Path, place: str) -> None:
    value = "mask" if place == "operators" else "a number"
    assert refused({place: {"phone nubmer": value}}) == (
        f"policy.{place}: phone nubmer is not a label; the nearest is phone number."
    )
    assert refused({place: {"qqqqqq": value}}) == (
        f"policy.{place}: qqqqqq is not a label; name it with --label or in detector.labels."
    )


def test_labels_of_lists_and_patterns_are_labels(here: Path) -> None:
    said = {"deny": {"project": ["Heron"]}, "operators": {"project": "mask"}, "name": "redact"}
    assert sanitized(said, "For Heron only.") == "For **** only."


def test_labels_without_a_model_are_refused(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LETHE_DETECTOR__LEARNED", "false")
    with pytest.raises(ConfigurationError, match="detector.labels asks a model for labels"):
        detector_of(load_settings({"detector.labels": ["ship"]}))


def test_files_have_an_entry_a_line(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LETHE_DETECTOR__LEARNED", "false")
    (here / "deny.txt").write_text(f"\ufeff{MARKER}\n\n  Stork  \r\n")
    (here / "allow.txt").write_text("Venn\nTobias Venn\n")
    said = {"name": "redact", "deny": ["Crane"], "deny_file": "deny.txt", "allow_file": "allow.txt"}
    assert sanitized(said, f"Mr Tobias Venn, {MARKER}, STORK and crane.") == (
        "Mr Tobias Venn, a detail, a detail and a detail."
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "names.txt: could not be read (No such file or directory); check the path."),
        (b"\xff", "names.txt: is not UTF-8; save it as UTF-8."),
        (
            f"{MARKER}\n--\n".encode(),
            "names.txt, entry 2: give a string with a letter or digit, and of up to 200 characters.",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_named_and_not_quoted(
    here: Path, content: bytes | None, message: str
) -> None:
    if content is not None:
        (here / "names.txt").write_bytes(content)
    assert refused({"deny_file": "names.txt"}) == message


def test_an_id_that_is_denied_is_digested(here: Path) -> None:
    ids = ["rec-0001", "heron-0002"]
    assert DataDir(settings_with({"deny": ["heron"]})).public_ids(ids, keep=True)[0] == "rec-0001"
    assert DataDir(settings_with({"deny": ["heron"]})).public_ids(ids, keep=True)[1] != "heron-0002"


# -- collections -------------------------------------------------------------------------------------------


def test_a_manifest_keeps_what_is_said_of_labels(tmp_path: Path) -> None:
    treatment = Treatment({"date": "mask"}, {"city name": "a town"})
    manifest = replace(MANIFEST, policy=Policy("redact", treatment=treatment), own_entities="0f")
    write_manifest(manifest, tmp_path / "manifest.json")
    assert read_manifest(tmp_path / "manifest.json") == manifest
    assert MANIFEST.differences(manifest) == [
        'operators {}, you asked for {"date": "mask"}',
        'words {}, you asked for {"city name": "a town"}',
        "own lists and patterns none, you asked for 0f",
    ]


def test_a_manifest_from_before_is_read(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    write_manifest(MANIFEST, path)
    content = json.loads(path.read_text())
    del content["own_entities"], content["policy"]["treatment"]
    path.write_text(json.dumps(content))
    assert read_manifest(path) == MANIFEST


def test_a_manifest_that_keeps_names_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    write_manifest(MANIFEST, path)
    content = json.loads(path.read_text())
    content["policy"]["treatment"]["operators"] = {"person full name": "keep"}
    path.write_text(json.dumps(content))
    with pytest.raises(CollectionError, match="the manifest is damaged"):
        read_manifest(path)


def test_a_collection_holds_no_list_and_refuses_another(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ingest", "notes.jsonl", "-c", "own", "--policy", "own.toml"]) == 0
    assert main(["ingest", "notes.jsonl", "-c", "own", "--policy", "own.toml"]) == 0
    for path in (here / "data" / "collections").rglob("*"):
        assert path.is_dir() or not any(word in path.read_bytes() for word in (b"Zqmarker", b"Parkinson"))
    capsys.readouterr()
    (here / "other.toml").write_text(POLICY.replace("Parkinson", "Alzheimer"))
    assert main(["ingest", "notes.jsonl", "-c", "own", "--policy", "other.toml"]) == 1
    captured = capsys.readouterr().err
    assert "own lists and patterns " in captured and "Use the settings it was made with" in captured
    assert "Zqmarker" not in captured and "Alzheimer" not in captured


def test_explaining_by_a_collection_asks_for_its_lists(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ingest", "notes.jsonl", "-c", "own", "--policy", "own.toml"]) == 0
    asked = ["explain", "notes.jsonl", "-c", "own", "--json"]
    assert main([*asked, "--policy", "own.toml"]) == 0
    capsys.readouterr()
    assert main(asked) == 2
    assert capsys.readouterr().err == (
        "lethe: The collection was made with other allow-lists, deny-lists or patterns, and does not store "
        "them: give the policy file that it was made with, or write them into the settings.\n"
    )
    (here / "other.toml").write_text(POLICY.replace("hash", "mask"))
    assert main([*asked, "--policy", "other.toml"]) == 2
    assert "A collection decides by the policy that it was made with" in capsys.readouterr().err


# -- files that are written --------------------------------------------------------------------------------


def test_a_written_policy_is_the_same_policy_for_its_owner_alone(here: Path) -> None:
    chosen = load_policy_file(here / "own.toml").model_copy(update={"deny_file": here / "deny 😀.txt"})
    path = here / "fitted.toml"
    path.touch(0o644)
    write_policy(path, chosen, {"tau": 0.25}, "a test")
    assert load_policy_file(path) == chosen.model_copy(update={"tau": 0.25})
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_policy_without_lists_is_written_without_them(here: Path) -> None:
    write_policy(here / "fitted.toml", PolicySettings(), {}, "a test")
    written = (here / "fitted.toml").read_text()
    assert not any(name in written for name in ("operators", "words", "allow", "deny", "patterns"))


# -- the command line --------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["sanitize", "explain", "ingest"])
def test_labels_of_ones_own_are_arguments(verb: str) -> None:
    collection = ["-c", "any"] if verb == "ingest" else []
    given = parser().parse_args([verb, "-", *collection, "--label", "ship", "--label", "political party"])
    assert load_settings(settings_arguments(given)).detector.labels == ("ship", "political party")
