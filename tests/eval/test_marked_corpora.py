"""Marked corpora and what was seen of them. All texts are invented; published corpora are counted only."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from eval.corpora import seen
from eval.corpora.corpus import Corpus, Question
from eval.corpora.marked import KINDS, VISITS_MAIL, marked_corpora, siblings, with_seen
from eval.corpora.seen import Exposure, exposures
from eval.documents import Mark, MarkedDocument
from ingest.documents import Document
from models.corpora.documents import spia_texts
from models.corpora.read import read_corpora
from models.corpora.rubric import held_out, records_of, referenced_records, shipped_snippets
from models.errors import ConfigurationError, LetheError
from tests.commands import ROOT, public_data, write_lines

TEXT = "Invented. Ada Lind, 45, came. Ada Lind has a cough."
IDS = ("mts_dialog|mts-test1-9001", "mts_dialog|mts-train-9002", "ewt_email|ewt-none_01")
SECRET = ("Ada", "Lind", "cough")
HELD_OUT = (Exposure.UNSEEN, Exposure.LOOKED_AT)


def mention(text: str, nth: int = 0, kind: str = "DIRECT", must: int = 2, entity: int = 1) -> dict[str, Any]:
    return {"text": text, "nth": nth, "type": "PERSON", "class": kind, "must": must, "entity": entity}


MENTIONS = [
    mention("Ada Lind", 1),
    mention("45", kind="QUASI", must=1, entity=2),
    mention("cough", kind="SENSITIVE", must=0, entity=3),
]


def write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


def write_gold(data: Path, mentions: Sequence[dict[str, Any]] = MENTIONS) -> Path:
    folder = data / VISITS_MAIL
    write(folder / "documents.json", [{"id": each, "text": TEXT} for each in IDS])
    for name in "ab":
        docs = [{"id": each, "people": 1, "mentions": list(mentions)} for each in IDS]
        write(folder / f"annotator_{name}.json", {"docs": docs})
    return folder


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A gold of three documents, and the corpus that tells of which split two of them are."""
    write_gold(tmp_path)
    splits = {"mts-test1-9001": "test1", "mts-train-9002": "train"}
    rows = [{"id": name, "official_split": split} for name, split in splits.items()]
    write_lines(tmp_path / "mts_dialog" / "data.jsonl", rows)
    return tmp_path


def test_annotators_are_kept_apart_and_marks_are_where_they_say(data: Path) -> None:
    corpus = with_seen(data, VISITS_MAIL)
    assert list(corpus.by_annotator) == ["a", "b"]
    (first, *_) = corpus.by_annotator["b"]
    assert first.annotator == "b"
    shown = [(TEXT[each.start : each.end], each.kind, each.must, each.entity) for each in first.marks]
    assert shown == [("Ada Lind", "DIRECT", 2, "1"), ("45", "QUASI", 1, "2"), ("cough", "SENSITIVE", 0, "3")]
    assert first.marks[0].start == TEXT.rindex("Ada")
    assert not any(word in repr(corpus) + repr(first) for word in SECRET)


def test_what_was_learned_from_is_left_out_and_what_was_looked_at_is_told(data: Path) -> None:
    corpus = with_seen(data, VISITS_MAIL)
    assert list(corpus.exposures.values()) == [Exposure.UNSEEN, Exposure.LOOKED_AT, Exposure.LEARNED]
    # Without the sentences that a mail could be among, a mail counts as learned from.
    kept = corpus.only(HELD_OUT)
    assert [each.doc_id for each in kept.documents] == list(IDS[:2])
    assert all(len(each) == 2 for each in kept.by_annotator.values())
    # What cannot be told counts as seen.
    (data / "mts_dialog" / "data.jsonl").unlink()
    assert exposures(data, seen.MTS, ["mts-test1-9001"]) == {"mts-test1-9001": Exposure.LOOKED_AT}
    assert exposures(data, seen.TAB, ["001-1"]) == {"001-1": Exposure.LEARNED}
    for unknown, said in (
        (lambda: exposures(data, "wikigold", ["1"]), "not known what was learned from"),
        (lambda: with_seen(data, "x"), "There is no marked corpus 'x': the names are visits_mail"),
        (lambda: with_seen(data, seen.DEMO), "file of its own"),
    ):
        with pytest.raises(ConfigurationError, match=said):
            unknown()


def refused(data: Path, place: str) -> None:
    with pytest.raises(LetheError) as error:
        with_seen(data, VISITS_MAIL)
    assert place in str(error.value)
    assert not any(word in str(error.value) for word in SECRET)


@pytest.mark.parametrize(
    "broken, place",
    [
        ({"nth": 2}, "annotator_a.json, document 1, mark 1: does not stand in its document that often"),
        ({"nth": None}, "document 1, mark 1: has no whole number in nth"),
        ({"text": ""}, "document 1, mark 1: has no text in text"),
        ({"text": 7}, "document 1, mark 1: has no text in text"),
        ({"class": "SECRET Ada"}, "document 1, mark 1: needs a class"),
        ({"must": 3}, "document 1, mark 1: needs a class"),
    ],
)
def test_a_broken_mark_is_named_by_its_place(data: Path, broken: dict[str, Any], place: str) -> None:
    write_gold(data, [mention("Ada Lind") | broken])
    refused(data, place)


@pytest.mark.parametrize(
    ("name", "content", "place"),
    [
        ("annotator_b", '{"docs": [\n{"id": "Ada Lind"', ", line 2: is no JSON"),
        ("annotator_b", {"docs": [{"id": IDS[0], "mentions": []}]}, ": does not mark the documents of docum"),
        ("annotator_b", {"docs": [{"id": IDS[0]}]}, ", document 1: has no list of mentions"),
        ("documents", [{"id": IDS[0], "text": TEXT}] * 2, ", document 2: has no text, or no id of its own"),
        ("documents", {"Ada Lind": 1}, ": holds no list of documents"),
        ("documents", None, ": "),
    ],
)
def test_broken_files_are_named(data: Path, name: str, content: object, place: str) -> None:
    path = data / VISITS_MAIL / f"{name}.json"
    if content is None:
        path.unlink()
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    refused(data, f"{name}.json{place}")


def write_posts(data: Path, kinds: Sequence[str], entity: str = "1") -> None:
    mark = {"span_text": "Ada Lind", "entity_type": "PERSON", "start_offset": 10, "end_offset": 18}
    posts = []
    for number, kind in enumerate(kinds):
        profile = {"Unique ID": f"author-{number}", "First Name": "Ada"}
        about = {"data_id": f"PANORAMA-{number}", "provenance": {"profile": profile}}
        marks = [mark | {"entity_id": entity, "identifier_type": kind}]
        posts.append({"metadata": about, "text": TEXT, "entities": marks})
    write_lines(data / "spia" / "panorama_entities.jsonl", posts)


def test_posts_have_the_must_of_their_class_and_only_held_out_authors(tmp_path: Path) -> None:
    write_posts(tmp_path, [("DIRECT", "QUASI", "NO_MASK")[n % 3] for n in range(20)])
    (documents,) = with_seen(tmp_path, seen.PUBLISHED_POSTS).by_annotator.values()
    found = {(mark.kind, mark.must) for each in documents for mark in each.marks}
    assert found == {("DIRECT", 2), ("QUASI", 2), ("NO_MASK", 0)}
    kept = {each.doc_id for each in with_seen(tmp_path, seen.PUBLISHED_POSTS).only(HELD_OUT).documents}
    learned = {each.id.partition(":")[2] for each in read_corpora(tmp_path, "train", ["spia_cases"])}
    assert len(kept) == 4 and not kept & learned


@pytest.mark.parametrize(("kind", "entity"), [("SECRET", "1"), ("DIRECT", "")])
def test_a_post_without_a_known_class_or_entity_is_refused(tmp_path: Path, kind: str, entity: str) -> None:
    write_posts(tmp_path, [kind], entity)
    with pytest.raises(ConfigurationError, match="mark 1 of PANORAMA-0 has no entity_id or no known"):
        with_seen(tmp_path, seen.PUBLISHED_POSTS)


def test_benchmark_cases_are_read_by_annotator_and_a_copy_without_classes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="tab: echr_dev.json is missing. Identifier types"):
        with_seen(tmp_path, seen.TAB)
    place = {"entity_id": "e1", "entity_type": "PERSON", "start_offset": 10, "end_offset": 18}
    marks = [{**place, "identifier_type": kind} for kind in ("DIRECT", "NO_MASK")]
    annotations = {f"annotator{n}": {"entity_mentions": marks[n - 1 :]} for n in (1, 2)}
    case = {"doc_id": "001", "text": TEXT, "annotations": annotations}
    write(tmp_path / "tab" / "echr_dev.json", [case])
    (tmp_path / "tab" / "dev.jsonl").write_text("", encoding="utf-8")
    read = with_seen(tmp_path, seen.TAB).by_annotator
    assert {name: [(m.kind, m.must) for m in each[0].marks] for name, each in read.items()} == {
        "annotator 1": [("DIRECT", 2), ("NO_MASK", 0)],
        "annotator 2": [("NO_MASK", 0)],
    }
    assert not with_seen(tmp_path, seen.TAB).only(HELD_OUT).documents
    marks[0]["end_offset"] = 900
    write(tmp_path / "tab" / "echr_dev.json", [case])
    with pytest.raises(LetheError, match="echr_dev.json, case 1, mark 1: needs an identifier_type"):
        with_seen(tmp_path, seen.TAB)


def test_the_demo_corpus_is_marked_and_learned_from(tmp_path: Path) -> None:
    corpus = with_seen(tmp_path, seen.DEMO, ROOT / "app" / "demo" / "corpus.jsonl")
    (documents,) = corpus.by_annotator.values()
    assert len(documents) == 72
    assert {mark.kind for each in documents for mark in each.marks} <= set(KINDS)
    for each in documents:
        ends = [(mark.start, mark.end) for mark in sorted(each.marks)]
        assert all(one[1] <= other[0] for one, other in zip(ends, ends[1:], strict=False))
    assert set(corpus.exposures.values()) == {Exposure.LEARNED}


def test_the_references_tell_the_records_without_any_corpus() -> None:
    learned, measured = referenced_records()
    assert learned and measured and not learned & measured


@pytest.fixture(scope="module")
def published() -> Path:
    return public_data(VISITS_MAIL)


def test_nothing_that_was_trained_on_is_in_a_reported_set(published: Path) -> None:
    snippets, _ = held_out(shipped_snippets(published))
    records = {record.partition("/")[2] for record in records_of(snippets)}
    examples = list(read_corpora(published, "train", leave_out=["medquad"]))
    learned = records | {example.group for example in examples}
    learned |= {example.group.replace("email-", "ewt-", 1) for example in examples}
    texts = {example.text for example in examples}
    for name in marked_corpora():
        if name in (seen.TAB, seen.DEMO):
            continue
        documents = with_seen(published, name).only(HELD_OUT).documents
        assert documents
        assert not {each.doc_id.rpartition("|")[2] for each in documents} & learned, name
        assert not {each.text for each in documents} & texts, name


def test_training_cases_were_learned_from(published: Path) -> None:
    corpus = with_seen(published, seen.CASES)
    trained = {each.id for each in spia_texts(published, "tab_train")}
    assert all(corpus.exposures[each] is Exposure.LEARNED for each in trained)


def test_held_out_are_the_unseen_documents_or_those_that_taught_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    exposed = {"a": Exposure.LEARNED, "b": Exposure.LOOKED_AT, "c": Exposure.UNSEEN}
    monkeypatch.setattr(seen, "exposures", lambda folder, name, ids: {each: exposed[each] for each in ids})

    def held_out_of(ids: str) -> Corpus:
        questions = [Question(f"{each}/1", "Invented?", "Yes.", each) for each in ids]
        documents = [Document(each, "Invented.") for each in ids]
        return seen.held_out(Path(), Corpus("x", documents, questions, split="All."))

    found = held_out_of("abc")
    assert [each.doc_id for each in found.documents] == [each.about for each in found.questions] == ["c"]
    assert found.split == "All. 2 documents that Lethe had seen are left out, the others are unseen."
    assert [each.doc_id for each in held_out_of("ab").documents] == ["b"]
    with pytest.raises(ConfigurationError, match="^All 1 documents of x were learned from.$"):
        held_out_of("a")


@pytest.mark.parametrize(
    ("words", "shared", "known"), [(12, 4, True), (12, 3, False), (8, 8, False)], ids=["many", "few", "short"]
)
def test_a_case_that_shares_its_identifiers_with_a_known_one_is_known(
    words: int, shared: int, known: bool
) -> None:
    names = [f"Invented{number:02d}" for number in range(words)]
    text = " ".join(names)
    marks = tuple(Mark(text.index(name), text.index(name) + len(name), "QUASI", 2, name) for name in names)
    case = MarkedDocument(Document("case", text), marks, seen.CASES, "a")
    learned = ["another case", f"heard before: {', '.join(names[:shared]).upper()}"]
    assert list(siblings([case], learned)) == (["case"] if known else [])
    assert list(siblings([case], [])) == []
