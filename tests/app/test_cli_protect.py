"""``lethe protect``: texts in, texts out that tell less of their authors. Invented posts."""

import json
import stat
from pathlib import Path

import pytest

from tests.commands import PLAIN, Ran, in_process, write_records

POST = "My wife says that I snore louder than the night tram. The tram stop is around the corner."
SECRET = "snore"


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in PLAIN.items():
        monkeypatch.setenv(name, value)


def protect(capsys: pytest.CaptureFixture[str], path: Path, attributes: str) -> Ran:
    output, data = path.with_name("out.jsonl"), path.with_name("d")
    more = ("--attributes", attributes, "--output", str(output), "--data-dir", str(data))
    return in_process(capsys, "protect", str(path), *more)


def test_texts_are_written_with_what_was_done_and_figures_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    posts = write_records(tmp_path / "posts.jsonl", [POST, "It rained."])
    done = protect(capsys, posts, "sex, relationship,sex")
    assert done.code == 0, done.err
    output = tmp_path / "out.jsonl"
    first, second = (json.loads(line) for line in output.read_text(encoding="utf-8").splitlines())
    assert "wife" not in first["text"] and first["edits"]
    assert list(first["attributes"]) == ["sex", "relationship"]
    told = first["attributes"]["relationship"]
    assert told["end"] in ("protected", "no edit helps") and told["after"] < told["before"]
    assert second["text"] == "It rained." and second["edits"] == {}
    assert stat.S_IMODE(output.stat().st_mode) == 0o600
    assert (done.summary["documents"], done.summary["exposed"], done.summary["edited"]) == (2, 1, 1)
    assert sum(done.summary["attributes"]["sex"].values()) == 2
    assert SECRET not in done.out + done.err


def test_what_cannot_be_guessed_replaced_or_read_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    posts, output = write_records(tmp_path / "posts.jsonl", [POST]), tmp_path / "out.jsonl"
    done = protect(capsys, posts, "sex,shoe")
    assert done.code == 2 and not output.exists()
    assert "--attributes: nothing guesses at shoe; name some of age, country, health, nationality" in done.err
    (tmp_path / "broken.pdf").write_bytes(b"no pdf")
    done = protect(capsys, tmp_path / "broken.pdf", "sex")
    assert (done.code, done.summary["failed"], done.summary["documents"]) == (1, 1, 0)
    output.write_text("kept")
    done = protect(capsys, posts, "sex")
    assert done.code == 2 and output.read_text() == "kept"
    assert "out.jsonl is there already. Name a new one." in done.err
