"""What a study keeps between runs: its rows, the digest they stand under, and ids that name nobody."""

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.data_dir import DataDir
from app.settings.load import load_settings
from app.settings.report import run_settings
from eval import provenance
from eval.corpora.corpus import Corpus, Question, under_public_ids
from eval.documents import EntityRef, LeakedEntity, PassageCopy
from eval.provenance import run_digest
from eval.rows import FILE, Row, RowFile, read_rows, write_rows
from eval.studies.compare.study import Options
from ingest.documents import Document, Identifier
from models.catalog import ModelRef
from models.errors import LetheError
from tests.commands import ROOT

HEADING = b'{"run":"r"}\n'
KELLER = "Anna Keller, HIV clinic.txt"
BENCH = Corpus(
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


def row(number: int, system: str = "trip", task: str = "attack") -> Row:
    entity = EntityRef("doc-1", number, "person full name", Identifier.DIRECT)
    return Row(
        system=system, task=task, case=str(number), kind="p", engine="e", doc_ids=("doc-1",),
        leaked=(LeakedEntity(entity, prompted=False),),
        copies=(PassageCopy(1, "doc-1", 0.5, (20,), 0.5, 0.25),),
        figures={"output characters": 7.0},
    )  # fmt: skip


def test_a_row_is_read_as_it_was_written_but_for_its_evidence(tmp_path: Path) -> None:
    with RowFile("r", tmp_path) as rows:
        rows.add(row(0).model_copy(update={"evidence": "Anna Keller", "present": (row(0).leaked[0].entity,)}))
        assert rows.rows("trip", "attack") == [row(0)]
    assert "Keller" not in (tmp_path / FILE).read_text()
    assert "Keller" not in repr(row(0).model_copy(update={"evidence": "Anna Keller"}))


@pytest.mark.parametrize("content", [b"{}\n", HEADING + b'{"case": 1}\n', b"a letter", b'{"case":'])
def test_damaged_rows_are_reported_left_as_they_are_and_unlocked(content: bytes, tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(LetheError, match=r"rows\.jsonl is damaged, or no file of a run that can go on"):
        RowFile("r", tmp_path)
    assert (tmp_path / FILE).read_bytes() == content
    (tmp_path / FILE).write_bytes(HEADING)
    with pytest.raises(LetheError, match="is of another run"):
        RowFile("other", tmp_path)
    with RowFile("r", tmp_path) as rows:
        assert rows.cases("trip", "attack") == set()


def test_rows_are_read_from_a_report_and_from_a_run_that_goes_on(tmp_path: Path) -> None:
    write_rows([row(0), row(1)], tmp_path / "report.jsonl")
    with RowFile("r", tmp_path / "made" / "here") as rows:
        rows.add(row(0))
        rows.add(row(1))
    going_on = tmp_path / "made" / "here" / FILE
    assert read_rows(tmp_path / "report.jsonl") == read_rows(going_on) == [row(0), row(1)]
    going_on.write_bytes(going_on.read_bytes()[:-9])
    assert read_rows(going_on) == [row(0)]


def test_what_holds_no_rows_is_refused_by_line(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(HEADING + b'{"case": "Anna Keller"}\n')
    with pytest.raises(LetheError, match=r"rows\.jsonl: line 2 is no row\.$"):
        read_rows(tmp_path / FILE)
    with pytest.raises(LetheError, match=r"none\.jsonl cannot be read \(No such file or directory\)\.$"):
        read_rows(tmp_path / "none.jsonl")
    (tmp_path / FILE).unlink()
    (tmp_path / FILE).mkdir()
    with pytest.raises(LetheError, match=r"rows\.jsonl cannot be used \(Is a directory\)\. Name a folder"):
        RowFile("r", tmp_path)


@given(st.data())
def test_a_run_that_ended_anywhere_has_every_row_that_was_written_whole(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("rows")
    with RowFile("r", folder) as rows:
        for number in range(3):
            rows.add(row(number))
    content = (folder / FILE).read_bytes()
    # Also within the first line, where it begins anew.
    kept = data.draw(st.integers(0, len(HEADING)) | st.integers(0, len(content)))
    (folder / FILE).write_bytes(content[:kept])
    whole = max(0, content[:kept].count(b"\n") - 1)
    with RowFile("r", folder) as rows:
        assert rows.cases("trip", "attack") == {str(number) for number in range(whole)}
        for number in range(whole, 3):
            rows.add(row(number))
        assert rows.rows("trip", "attack") == [row(0), row(1), row(2)]
    assert (folder / FILE).read_bytes() == content


@pytest.mark.parametrize("in_a_file", [True, False])
def test_rows_are_found_by_system_and_task(tmp_path: Path, in_a_file: bool) -> None:
    with RowFile("r", tmp_path if in_a_file else None) as rows:
        for each in (row(0), row(1, "redact"), row(2, task="index"), row(3)):
            rows.add(each)
        assert rows.rows("trip", "attack") == [row(0), row(3)]
        assert rows.rows("trip", "questions") == [] and rows.cases("redact", "index") == set()
        assert list(rows.all(["attack"])) == [row(0), row(3), row(1, "redact")]


def test_one_process_at_a_time_writes_into_a_folder(tmp_path: Path) -> None:
    opened = f"from pathlib import Path; from eval.rows import RowFile; RowFile('r', Path({str(tmp_path)!r}))"

    def opened_elsewhere() -> "subprocess.CompletedProcess[bytes]":
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        return subprocess.run([sys.executable, "-c", opened], cwd=ROOT, env=environment, capture_output=True)

    with RowFile("r", tmp_path) as rows:
        rows.add(row(0))
        content = (tmp_path / FILE).read_bytes()
        # As the other process would find it while a line is being written.
        (tmp_path / FILE).write_bytes(content + b'{"case":')
        refused = opened_elsewhere().stderr
        assert b"another process is measuring into this folder. Wait for it to end, then run" in refused
        assert (tmp_path / FILE).read_bytes() == content + b'{"case":'
    done = opened_elsewhere()
    assert done.returncode == 0, done.stderr
    assert (tmp_path / FILE).read_bytes() == content


def digest(corpus: Corpus = BENCH, made_with: str = "settings") -> str:
    return run_digest(corpus, made_with, Options(), ["e"], "code")


def test_a_digest_differs_where_corpus_versions_code_settings_or_encoders_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    document, question = BENCH.documents[0], BENCH.questions[0]
    changed = [
        replace(BENCH, name="tab"),
        replace(BENCH, split="Invented otherwise."),
        replace(BENCH, gold=None),
        replace(BENCH, gold={KELLER: [{"start": 0, "end": 7, "label": "word"}]}),
        replace(BENCH, documents=[replace(document, text="Other."), BENCH.documents[1]]),
        replace(BENCH, questions=[replace(question, answer="No."), *BENCH.questions[1:]]),
    ]
    found = [digest(), *map(digest, changed), digest(made_with="other settings")]
    found.append(run_digest(BENCH, "settings", Options(), ["e"], "other code"))
    found.append(run_digest(BENCH, "settings", Options(), ["e", "f"], "code"))
    found.append(run_digest(BENCH, "settings", Options(prompts=3), ["e"], "code"))
    assert digest() == digest(replace(BENCH, gold=dict(BENCH.gold or {}))) == found[0]
    monkeypatch.setattr("eval.provenance.version", lambda package: "0.0.invented")
    found.append(digest())
    assert len(set(found)) == len(found)


def test_the_settings_of_a_run_differ_where_the_files_of_a_model_do(tmp_path: Path) -> None:
    folder, gguf = tmp_path / "encoder", tmp_path / "model.gguf"
    folder.mkdir()
    for file in (folder / "weights", gguf):
        file.write_bytes(b"one")
    settings = load_settings({"generator.kind": "llama_cpp", "generator.path": str(gguf)})
    encoders = [ModelRef(source="path", name=str(folder))]
    found = {run_settings(settings, encoders)}
    for file in (folder / "weights", gguf):
        file.write_bytes(b"three")
        found.add(run_settings(settings, encoders))
        os.utime(file, ns=(1, 1))
        found.add(run_settings(settings, encoders))
    (folder / "more").write_bytes(b"")
    found.add(run_settings(settings, encoders))
    assert len(found) == 6


def test_the_code_is_digested_by_its_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    for room in provenance.ROOMS:
        (tmp_path / room / "deep").mkdir(parents=True)
    found = {provenance.source_digest()}
    for room in provenance.ROOMS:
        for name, content in (("a.py", "one"), ("a.py", "two"), ("words.txt", "one")):
            (tmp_path / room / "deep" / name).write_text(content)
            found.add(provenance.source_digest())
    assert len(found) == 1 + 3 * len(provenance.ROOMS) == 16
    (tmp_path / "app" / "__pycache__").mkdir()
    (tmp_path / "app" / "__pycache__" / "a.pyc").write_text("one")
    assert provenance.source_digest() in found


def test_documents_questions_and_marks_come_under_public_ids(tmp_path: Path) -> None:
    data = DataDir(load_settings({"data_dir": str(tmp_path)}))
    found = under_public_ids(BENCH, data.public_ids)
    first, second = data.public_ids([each.doc_id for each in BENCH.documents])
    assert re.fullmatch("doc-[0-9a-f]{16}", first) and first != second
    documents = [(each.doc_id, each.text) for each in found.documents]
    assert documents == [(first, "Invented."), (second, "Invented too.")]
    assert [(each.question_id, each.about, each.text) for each in found.questions] == [
        (f"{first}/cloze-1", first, "Is it invented?"),
        (f"{second}/question-2", second, "Is it old?"),
        ("question-3", "", "Is it new?"),
    ]
    assert found.gold == {first: [{"start": 0, "end": 8, "label": "word"}]}
    # They stay where the settings keep them.
    keeping = DataDir(load_settings({"data_dir": str(tmp_path), "ingest.keep_ids": True}))
    found = under_public_ids(BENCH, keeping.public_ids)
    assert found.documents[1].doc_id == "b.txt" and "Keller" not in repr(found)
