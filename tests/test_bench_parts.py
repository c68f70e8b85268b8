"""What a benchmark keeps between runs: its parts, the digest they stand under, and ids that name nobody."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app import provenance
from app.bench.options import Options
from app.bench.parts import FILE, Part, Parts
from app.bench.public_ids import under_public_ids
from app.bench.run_digest import run_digest
from app.compose import Services
from app.settings import load_settings
from eval.corpora.bench_corpus import BenchCorpus, Question
from eval.trip_rag.report import AttackRow
from ingest.documents import Document
from models.catalog import ModelRef
from models.errors import LetheError
from tests.commands import ROOT

HEADING = b'{"run":"r"}\n'
KELLER = "Anna Keller, HIV clinic.txt"
BENCH = BenchCorpus(
    "folder",
    [Document(KELLER, "Invented."), Document("b.txt", "Invented too.")],
    [
        Question(f"{KELLER}/cloze-1", "Is it invented?", "Yes.", KELLER),
        Question("Anna Keller asks", "Is it old?", "No.", "b.txt"),
        Question("Anna Keller asks of nothing", "Is it new?", "No."),
    ],
    {KELLER: [{"start": 0, "end": 8, "label": "word"}]},
    "Invented.",
    "invented",
    "none",
)


def row(number: int) -> AttackRow:
    return AttackRow(
        method="trip", attack="a", generator="g", k=5, attempt=number, prompt_kind="p", measured=True,
        failure="", engine="e", output_characters=1, doc_ids=("doc-1",), present=2, present_identifiers=1,
        leaked=1, leaked_identifiers=0, prompted=0, repeats=False, rouge_recall_above=False,
        rouge_f_above=False,
    )  # fmt: skip


def part(key: str, *numbers: int) -> Callable[[], Part]:
    return lambda: Part(key=key, figures=(), attempts=tuple(map(row, numbers)))


def never() -> Part:
    raise AssertionError("measured again")


# -- parts -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [b"{}\n", HEADING + b'{"key": 1}\n', b"a letter", b'{"key":'])
def test_damaged_parts_are_told_and_left_as_they_are(content: bytes, tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(
        LetheError, match=r"parts\.jsonl is damaged\. Remove it, and what it held is measured"
    ):
        Parts("r", tmp_path)
    assert (tmp_path / FILE).read_bytes() == content


@pytest.mark.parametrize("length", range(len(HEADING)))
def test_a_run_that_ended_in_its_first_line_begins_anew(length: int, tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(HEADING[:length])
    with Parts("r", tmp_path) as parts:
        parts.part("k", part("k"))
    assert (tmp_path / FILE).read_bytes().startswith(HEADING + b'{"key":"k"')


@given(st.data())
def test_a_run_that_ended_anywhere_measures_again_what_it_had_not_kept(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("parts")
    with Parts("r", folder) as parts:
        for key in ("a", "b"):
            parts.part(key, part(key, 0, 1))
    content = (folder / FILE).read_bytes()
    kept = data.draw(st.integers(0, len(content)))
    (folder / FILE).write_bytes(content[:kept])
    whole = max(0, content[:kept].count(b"\n") - 1)
    with Parts("r", folder) as parts:
        assert len(parts) == whole
        for number, key in enumerate(("a", "b")):
            parts.part(key, never if number < whole else part(key, 0, 1))
        assert [each.attempt for each in parts.attempts()] == [0, 1, 0, 1]
    assert (folder / FILE).read_bytes() == content


def test_parts_that_cannot_be_kept_are_told(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()
    with pytest.raises(LetheError, match=r"parts\.jsonl cannot be used \(Is a directory\)\. Name a folder"):
        Parts("r", tmp_path)


def test_without_a_folder_parts_last_as_long_as_the_process() -> None:
    with Parts("r") as parts:
        assert parts.part("k", part("k")) == parts.part("k", never)
        assert list(parts.attempts()) == []


def test_attempts_are_in_the_file_and_not_in_memory(tmp_path: Path) -> None:
    with Parts("r", tmp_path) as parts:
        assert parts.part("k", part("k", 0, 1)).attempts == ()
    with Parts("r", tmp_path) as parts:
        assert parts.part("k", never).attempts == ()
        parts.part("l", part("l", 2))
        assert list(parts.attempts()) == [row(0), row(1), row(2)]


def test_one_process_at_a_time_writes_into_a_folder(tmp_path: Path) -> None:
    open_parts = (
        f"from pathlib import Path; from app.bench.parts import Parts; Parts('r', Path({str(tmp_path)!r}))"
    )
    command = [sys.executable, "-c", open_parts]
    with Parts("r", tmp_path) as parts:
        parts.part("k", part("k"))
        content = (tmp_path / FILE).read_bytes()
        # As the other process would find it while a line is being written.
        (tmp_path / FILE).write_bytes(content + b'{"key":')
        done = subprocess.run(
            command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True
        )
        assert b"another process is measuring into this folder. Wait for it to end, then run" in done.stderr
        assert (tmp_path / FILE).read_bytes() == content + b'{"key":'
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / FILE).read_bytes() == content


def test_refused_parts_are_nobodys(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(HEADING)
    with pytest.raises(LetheError, match="is of another run"):
        Parts("other", tmp_path)
    with Parts("r", tmp_path) as parts:
        assert len(parts) == 0


# -- the digest of a run -----------------------------------------------------------------------------------


@pytest.fixture
def services(tmp_path: Path) -> Services:
    return Services(
        load_settings({"data_dir": str(tmp_path), "detector.learned": False, "risk.kind": "prior"})
    )


def digest(services: Services, bench: BenchCorpus = BENCH, options: Options | None = None) -> str:
    return run_digest(services, bench, options or Options(), ["e"], "code")


def test_a_digest_differs_where_the_corpus_does(services: Services) -> None:
    document, question = BENCH.documents[0], BENCH.questions[0]
    changed = [
        replace(BENCH, name="tab"),
        replace(BENCH, split="Invented otherwise."),
        replace(BENCH, gold=None),
        replace(BENCH, gold={KELLER: [{"start": 0, "end": 7, "label": "word"}]}),
        replace(BENCH, documents=[replace(document, text="Other."), BENCH.documents[1]]),
        replace(BENCH, questions=[replace(question, answer="No."), *BENCH.questions[1:]]),
    ]
    assert len({digest(services), *(digest(services, each) for each in changed)}) == 1 + len(changed)
    assert digest(services) == digest(services, replace(BENCH, gold=dict(BENCH.gold or {})))


def test_a_digest_differs_where_versions_code_or_encoders_do(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = digest(services)
    assert first != run_digest(services, BENCH, Options(), ["e"], "other code")
    assert first != run_digest(services, BENCH, Options(), ["e", "f"], "code")
    monkeypatch.setattr("eval.report.version", lambda package: "0.0.invented")
    assert first != digest(services)


def test_a_digest_differs_where_the_files_of_a_model_do(services: Services, tmp_path: Path) -> None:
    folder, gguf = tmp_path / "encoder", tmp_path / "model.gguf"
    folder.mkdir()
    for file in (folder / "weights", gguf):
        file.write_bytes(b"one")
    generator = services.settings.generator.model_copy(update={"kind": "llama_cpp", "path": gguf})
    named = Services(services.settings.model_copy(update={"generator": generator}))
    options = Options(encoders=(ModelRef(source="path", name=str(folder)),))
    found = {digest(named, options=options)}
    for file in (folder / "weights", gguf):
        file.write_bytes(b"three")
        found.add(digest(named, options=options))
        os.utime(file, ns=(1, 1))
        found.add(digest(named, options=options))
    (folder / "more").write_bytes(b"")
    found.add(digest(named, options=options))
    assert len(found) == 6


def test_the_code_is_digested_by_its_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    for room in provenance.ROOMS:
        (tmp_path / room / "deep").mkdir(parents=True)
    found = {provenance.source_digest()}
    for room in provenance.ROOMS:
        (tmp_path / room / "deep" / "a.py").write_text("one")
        found.add(provenance.source_digest())
        (tmp_path / room / "deep" / "a.py").write_text("two")
        found.add(provenance.source_digest())
    assert len(found) == 1 + 2 * len(provenance.ROOMS) == 11
    (tmp_path / "app" / "__pycache__").mkdir()
    (tmp_path / "app" / "__pycache__" / "a.pyc").write_text("one")
    assert provenance.source_digest() in found


# -- ids ---------------------------------------------------------------------------------------------------


def test_documents_questions_and_marks_come_under_public_ids(services: Services) -> None:
    found = under_public_ids(services, BENCH)
    first, second = services.public_ids([each.doc_id for each in BENCH.documents])
    assert re.fullmatch("doc-[0-9a-f]{16}", first) and first != second
    assert [(each.doc_id, each.text) for each in found.documents] == [
        (first, "Invented."),
        (second, "Invented too."),
    ]
    assert [(each.question_id, each.about, each.text) for each in found.questions] == [
        (f"{first}/cloze-1", first, "Is it invented?"),
        (f"{second}/question-2", second, "Is it old?"),
        ("question-3", "", "Is it new?"),
    ]
    assert found.gold == {first: [{"start": 0, "end": 8, "label": "word"}]}


def test_ids_that_name_nobody_stay_where_the_settings_keep_them(tmp_path: Path) -> None:
    keeping = Services(load_settings({"data_dir": str(tmp_path), "ingest.keep_ids": True}))
    found = under_public_ids(keeping, BENCH)
    assert found.documents[1].doc_id == "b.txt"
    assert "Keller" not in repr(found)
