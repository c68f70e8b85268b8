"""From the settings of a policy to collections that keep it. All names and numbers are invented."""

import json
import re
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from app.cli.arguments import parser
from app.cli.given import settings_arguments
from app.compose import detector_of, system_of
from app.data_dir import DataDir
from app.policies import write_policy
from app.settings.load import PolicySettings, Settings, load_policy_file, load_settings
from ingest.deciding.policy import Policy, Treatment
from ingest.documents import Document, SanitizedDocument
from models.errors import ConfigurationError
from retrieval.errors import CollectionError
from retrieval.manifest import read_manifest, write_manifest
from tests.commands import READING, Ran, in_process, write_records
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


def test_what_a_file_says_is_done_and_origin_stays_origin(here: Path) -> None:
    policy = load_policy_file(here / "own.toml")
    done = sanitized(policy)
    # Whether the invented word is a place or a person is the reader's to say.
    mail = r"\[email address \w{8}\]"
    assert re.fullmatch(rf"Mr neighbors of (a place|neighbors) wrote from {mail} about a ward number\.", done)
    assert sanitized(policy.model_copy(update={"name": "origin"})) == TEXT


def test_a_label_that_nothing_finds_is_refused(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LETHE_DETECTOR__LEARNED", "false")
    for place, value in (("operators", "mask"), ("words", "a number")):
        assert refused({place: {"phone nubmer": value}}) == (
            f"policy.{place}: phone nubmer is not a label; the nearest is phone number."
        )
        assert refused({place: {"qqqqqq": value}}) == (
            f"policy.{place}: qqqqqq is not a label; name it with --label or in detector.labels."
        )
    with pytest.raises(ConfigurationError, match="detector.labels asks a model for labels"):
        detector_of(load_settings({"detector.labels": ["ship"]}))


def test_labels_of_lists_and_patterns_are_labels(here: Path) -> None:
    said = {"deny": {"project": ["Heron"]}, "operators": {"project": "mask"}, "name": "redact"}
    assert sanitized(said, "For Heron only.") == "For **** only."


def test_files_have_an_entry_a_line(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LETHE_DETECTOR__LEARNED", "false")
    (here / "deny.txt").write_text(f"\ufeff{MARKER}\n\n  Stork  \r\n")
    (here / "allow.txt").write_text("Venn\nTobias Venn\n")
    said = {"name": "redact", "deny": ["Crane"], "deny_file": "deny.txt", "allow_file": "allow.txt"}
    assert sanitized(said, f"Mr Tobias Venn, {MARKER}, STORK and crane.") == (
        "Mr Tobias Venn, a detail, a detail and a detail."
    )


def test_an_unusable_file_is_named_and_not_quoted(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LETHE_DETECTOR__LEARNED", "false")
    asked = {"deny_file": "names.txt"}
    assert refused(asked) == "names.txt: could not be read (No such file or directory); check the path."
    (here / "names.txt").write_bytes(b"\xff")
    assert refused(asked) == "names.txt: is not UTF-8; save it as UTF-8."
    (here / "names.txt").write_text(f"{MARKER}\n--\n")
    assert refused(asked) == (
        "names.txt, entry 2: give a string with a letter or digit, and of up to 200 characters."
    )


def test_an_id_that_is_denied_is_digested(here: Path) -> None:
    kept = DataDir(settings_with({"deny": ["heron"]})).public_ids(["rec-0001", "heron-0002"], keep=True)
    assert (kept[0], kept[1] == "heron-0002") == ("rec-0001", False)


def test_a_manifest_keeps_what_is_said_of_labels_and_is_damaged_if_it_keeps_names(tmp_path: Path) -> None:
    treatment = Treatment({"date": "mask"}, {"city name": "a town"})
    manifest = replace(MANIFEST, policy=Policy("redact", treatment=treatment), own_entities="0f")
    path = tmp_path / "manifest.json"
    write_manifest(manifest, path)
    assert read_manifest(path) == manifest
    assert MANIFEST.differences(manifest) == [
        'operators {}, you asked for {"date": "mask"}',
        'words {}, you asked for {"city name": "a town"}',
        "own lists and patterns none, you asked for 0f",
    ]
    content = json.loads(path.read_text())
    content["policy"]["treatment"]["operators"] = {"person full name": "keep"}
    path.write_text(json.dumps(content))
    with pytest.raises(CollectionError, match="the manifest is damaged"):
        read_manifest(path)
    # One from before says nothing of labels.
    write_manifest(MANIFEST, path)
    content = json.loads(path.read_text())
    del content["own_entities"], content["policy"]["treatment"]
    path.write_text(json.dumps(content))
    assert read_manifest(path) == MANIFEST


def test_a_collection_keeps_to_lists_it_does_not_hold(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lethe, own = partial(in_process, capsys), ("ingest", "notes.jsonl", "-c", "own", "--policy")
    asked = ("explain", "notes.jsonl", "-c", "own", "--json")
    assert lethe(*own, "own.toml").code == lethe(*own, "own.toml").code == 0
    for path in (here / "data" / "collections").rglob("*"):
        assert path.is_dir() or not any(word in path.read_bytes() for word in (b"Zqmarker", b"Parkinson"))
    (here / "other.toml").write_text(POLICY.replace("Parkinson", "Alzheimer"))
    (here / "masks.toml").write_text(POLICY.replace("hash", "mask"))
    other = lethe(*own, "other.toml")
    assert (other.code, "Zqmarker" in other.err, "Alzheimer" in other.err) == (1, False, False)
    assert "own lists and patterns " in other.err and "Use the settings it was made with" in other.err
    assert lethe(*asked, "--policy", "own.toml").code == 0
    assert lethe(*asked) == Ran(
        2,
        "",
        "lethe: The collection was made with other allow-lists, deny-lists or patterns, and does not store "
        "them: give the policy file that it was made with, or write them into the settings.\n",
    )
    masks = lethe(*asked, "--policy", "masks.toml")
    assert masks.code == 2
    assert "A collection decides by the policy that it was made with" in masks.err


def test_a_written_policy_is_the_same_policy_for_its_owner_alone(here: Path) -> None:
    chosen = load_policy_file(here / "own.toml").model_copy(update={"deny_file": here / "deny 😀.txt"})
    path = here / "fitted.toml"
    path.touch(0o644)
    write_policy(path, chosen, {"tau": 0.25}, "a test")
    assert load_policy_file(path) == chosen.model_copy(update={"tau": 0.25})
    assert path.stat().st_mode & 0o777 == 0o600
    # One without lists is written without them.
    write_policy(path, PolicySettings(), {}, "a test")
    assert not any(name in path.read_text() for name in ("operators", "words", "allow", "deny", "patterns"))


@pytest.mark.parametrize("verb", ["sanitize", "explain", "ingest"])
def test_labels_of_ones_own_are_arguments(verb: str) -> None:
    collection = ["-c", "any"] if verb == "ingest" else []
    given = parser().parse_args([verb, "-", *collection, "--label", "ship", "--label", "political party"])
    assert load_settings(settings_arguments(given)).detector.labels == ("ship", "political party")
