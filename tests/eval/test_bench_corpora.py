"""Corpora with questions: every layout on small invented files, and what must hold of all of them."""

import gzip
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.corpora.corpus import Corpus, Question, Selection, bounded
from eval.corpora.loaders import SPLIT, bare_subject, corpus_names, load
from eval.corpora.whole_documents import (
    AFTER,
    BEFORE,
    FEWEST_WORDS,
    MOST_WORDS,
    cloze_questions,
    questions_of,
)
from ingest.documents import Document
from ingest.errors import UnreadableDocument
from ingest.language.sentences import split_sentences
from models.errors import ConfigurationError, LetheError, ModelUnavailable
from tests.commands import public_data

Records = Sequence[object]

THINGS = ("kiln", "heron", "lathe", "weir", "barge", "quarry", "orchard", "lighthouse", "windmill", "ferry")


def tale(number: int) -> str:
    """Five sentences that no other tale has; three of them have 8 words or more."""
    thing = f"{THINGS[number % len(THINGS)]} number {number}"
    return (
        f"Good day. The {thing} was painted green by two cousins last spring. "
        f"It took them a week to carry all the ladders to the {thing}. "
        f"Nobody had told the owner of the {thing} what green would cost him! It is paid."
    )


def mts(number: int, note: str = "") -> dict[str, object]:
    told = (
        note or f"The keeper of kiln number {number} has had a cough for {number + 2} days. He sleeps badly."
    )
    return {
        "id": f"mts-{number}",
        "dialogue": f"Doctor: Cough {number}?\nPatient: Yes.",
        "note_section": told,
    }


def aci(number: int, note: str) -> dict[str, object]:
    return {"id": f"aci-{number}", "dialogue": f"[doctor] visit {number} .", "note": note}


HISTORY = (
    "MEDICATIONS\n\nHe takes a spoon of honey in his tea every evening. It helps.\n\n"
    "HISTORY OF PRESENT ILLNESS\n\nThe keeper coughs. "
    "It began nine days ago after a night at the weir.\n\nHe sleeps badly.\n\nPLAN\n\nTea."
)
WITHOUT_HISTORY = (
    "MEDICATIONS\n\nTea twice.\n\nSOCIAL HISTORY\n\n"
    "The patient mends nets at the harbor every single morning. She sings.\n\nPLAN:\nRest."
)


def exam(number: int) -> dict[str, object]:
    return {
        "id": f"exam-{number}",
        "question": f"{tale(number)} What would green have cost him?",
        "options": {"A": "Tea.", "B": "A boat."},
        "answer_idx": "B",
    }


def consultation(number: int) -> dict[str, object]:
    return {
        "instruction": "Answer.",
        "input": f"My elbow number {number} itches.",
        "output": f"Rub it with butter {number} times.",
    }


def mail(number: int, questions: int = 2) -> dict[str, object]:
    return {
        "email": f"Subject: barge\n\nThe barge {number} comes at noon.",
        "questions": [f"When does barge {number} come, part {each}?" for each in range(questions)],
        "gold_answers": [f"At noon, {number}-{each}." for each in range(questions)],
        "path": f"keeper/sent/{number}.",
    }


def letter(number: int, subject: str, body: str = "") -> dict[str, object]:
    told = body or f"Dear all. The painted ferry {number} leaves the quarry pier on Friday. Bring a hat. Bye."
    return {"id": f"letter-{number}", "subject": subject, "body": told}


def case(number: int) -> dict[str, object]:
    text = tale(number)
    start = text.index("two cousins")
    mention = {"start": start, "end": start + len("two cousins"), "type": "PERSON", "text": "two cousins"}
    return {"doc_id": f"case-{number}", "text": text, "mentions": [mention]}


def demo_record(number: int) -> dict[str, object]:
    return {
        "id": f"demo-{number}",
        "text": tale(number),
        "entities": [{"text": "two cousins", "label": "person full name", "identifier": "direct"}],
        "question": f"Who painted thing {number}?",
        "answer": "Two cousins did.",
    }


LAYOUTS: dict[str, tuple[str, Records]] = {
    "mts_dialog": ("data.jsonl", [mts(number) for number in range(30)]),
    "aci_bench": ("data.jsonl", [aci(n, HISTORY.replace("nine", f"{n} or nine")) for n in range(30)]),
    "medqa": ("data.jsonl", [exam(number) for number in range(30)]),
    "healthcaremagic": ("data.jsonl", [consultation(number) for number in range(300)]),
    "enronqa": ("train.jsonl", [mail(number, 10) for number in range(30)]),
    "aeslc": ("data.jsonl", [letter(n, f"Re: the painted ferry {n}") for n in range(30)]),
    "ewt_email": ("data.jsonl", [{"id": f"run-{n}", "text": tale(n)} for n in range(30)]),
    "tab": ("dev.jsonl", [case(number) for number in range(30)]),
    "demo": ("corpus.jsonl", [demo_record(number) for number in range(30)]),
    "folder": ("notes.jsonl", [{"id": f"note-{n}", "text": tale(n)} for n in range(30)]),
}


def written(folder: Path, records: Records, name: str = "data.jsonl") -> Path:
    path = folder / name
    lines = "".join(f"{json.dumps(record)}\n" for record in records)
    path.write_bytes(gzip.compress(lines.encode()) if name.endswith(".gz") else lines.encode())
    return folder


def loaded(folder: Path, corpus: str, records: Records, **wanted: Any) -> Corpus:
    return load(corpus, written(folder, records, LAYOUTS[corpus][0]), Selection(**wanted))


def spread(folder: Path, corpus: str, **wanted: Any) -> Corpus:
    return loaded(folder, corpus, LAYOUTS[corpus][1], **wanted)


# -- every layout ----------------------------------------------------------------------------------------


def test_every_corpus_has_a_layout_here() -> None:
    assert set(LAYOUTS) == set(corpus_names())


@pytest.mark.parametrize("corpus", LAYOUTS)
def test_a_corpus_comes_with_documents_and_questions_about_them(tmp_path: Path, corpus: str) -> None:
    found = spread(tmp_path, corpus)
    ids = {document.doc_id for document in found.documents}
    assert found.name == corpus and found.source and found.license and found.split.endswith("(seed 0).")
    assert len(found.documents) == (297 if corpus == "healthcaremagic" else 30)
    assert found.questions and len({each.question_id for each in found.questions}) == len(found.questions)
    assert all(each.text and each.answer for each in found.questions)
    assert all((each.about in ids) == (corpus != "healthcaremagic") for each in found.questions)


@pytest.mark.parametrize("corpus", LAYOUTS)
def test_the_same_seed_draws_the_same(tmp_path: Path, corpus: str) -> None:
    first, again = (spread(tmp_path, corpus, most_documents=12, most_questions=2, seed=5) for _ in range(2))
    assert first == again
    others = [spread(tmp_path, corpus, most_documents=12, most_questions=2, seed=seed) for seed in range(4)]
    assert any(other.questions != first.questions for other in others)
    assert any(other.documents != first.documents for other in others)


@pytest.mark.parametrize("corpus", LAYOUTS)
def test_bounds_are_kept_and_what_is_asked_about_stays(tmp_path: Path, corpus: str) -> None:
    found = spread(tmp_path, corpus, most_documents=4, most_questions=3)
    ids = {document.doc_id for document in found.documents}
    assert len(ids) == 4 and 1 <= len(found.questions) <= 3
    assert {each.about for each in found.questions} <= ids | {""}
    assert found.gold is None or set(found.gold) == ids


@pytest.mark.parametrize("corpus", [name for name in LAYOUTS if name != "folder"])
def test_a_folder_without_the_corpus_is_reported_with_its_layout(tmp_path: Path, corpus: str) -> None:
    with pytest.raises(ConfigurationError, match=f"holds no file of the corpus {corpus}: put .* fields "):
        load(corpus, tmp_path)


@pytest.mark.parametrize("corpus", [name for name in LAYOUTS if name != "folder"])
def test_a_record_without_a_field_is_named_by_its_place(tmp_path: Path, corpus: str) -> None:
    records = [LAYOUTS[corpus][1][0], {"stray": "keeper Zorvath"}]
    with pytest.raises(UnreadableDocument, match=r"line 2: has no field '\w+'; a record of") as caught:
        loaded(tmp_path, corpus, records)
    assert "Zorvath" not in str(caught.value)


@pytest.mark.parametrize("corpus", ["mts_dialog", "aci_bench", "medqa", "aeslc", "ewt_email", "tab", "demo"])
def test_two_records_under_one_id_are_refused(tmp_path: Path, corpus: str) -> None:
    record = LAYOUTS[corpus][1][0]
    with pytest.raises(UnreadableDocument, match="line 2: has the id of an earlier record"):
        loaded(tmp_path, corpus, [record, record])


def test_no_repr_shows_what_is_said(tmp_path: Path) -> None:
    for corpus in LAYOUTS:
        folder = tmp_path / corpus
        folder.mkdir()
        found = spread(folder, corpus)
        shown = f"{found!r}{found.questions[0]!r}"
        assert not any(word in shown for word in ("cousins", "cough", "elbow", "barge", "ferry", "noon"))


# -- which corpus ----------------------------------------------------------------------------------------


def test_an_unknown_name_is_answered_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no corpus 'kiln': the names are mts_dialog, aci_bench"):
        load("kiln", tmp_path)


def test_own_questions_go_with_a_folder_only(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="goes with the corpus folder, and tab has its own"):
        load("tab", tmp_path, Selection(questions_file=tmp_path))


@pytest.mark.parametrize("corpus", SPLIT)
def test_a_split_is_taken_by_its_name(corpus: str, tmp_path: Path) -> None:
    splits = ("train", "test1", "test2")
    records = [
        record | {"official_split": splits[number % 3]}
        for number, record in enumerate(LAYOUTS[corpus][1])
        if isinstance(record, dict)
    ]
    found = loaded(tmp_path, corpus, records, split="test")
    assert len(found.documents) == 20
    assert " of 20 documents of official splits named test (seed 0)." in found.split
    with pytest.raises(ConfigurationError, match="gives no document of official splits named dev"):
        load(corpus, tmp_path, Selection(split="dev"))


def test_a_record_without_its_split_is_reported_where_one_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(
        UnreadableDocument, match=r"line 1.*has no field 'official_split'; a record of mts_dialog"
    ):
        loaded(tmp_path, "mts_dialog", LAYOUTS["mts_dialog"][1], split="test")


def test_a_corpus_without_splits_has_none_to_ask_for(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"^tab says of no record which split .* leave --split out"):
        load("tab", tmp_path, Selection(split="test"))


@pytest.mark.parametrize("name", ["most_documents", "most_questions", "questions_per_document"])
def test_a_bound_is_at_least_one(name: str) -> None:
    wanted: dict[str, Any] = {name: 0}
    with pytest.raises(ConfigurationError, match=f"{name} is 0: give at least 1"):
        Selection(**wanted)


@pytest.mark.parametrize("share", [0.0, -0.1, 1.5, float("nan")])
def test_a_share_is_a_share(share: float) -> None:
    with pytest.raises(ConfigurationError, match="asked_share is .*give a share in"):
        Selection(asked_share=share)


def test_nouns_refuse_what_they_promise_not_to_hold() -> None:
    document = Document("a", "The weir.")
    asked = Question("q", "Weir?", "Yes.", "b")
    with pytest.raises(ValueError, match="question q lacks its text or its answer"):
        Question("q", "Weir?", " ")
    with pytest.raises(ValueError, match="about a document that it does not hold"):
        Corpus("small", [document], [asked], None, "", "", "")
    with pytest.raises(ValueError, match="two documents under one id"):
        Corpus("small", [document, document], [], None, "", "", "")


# -- notes of conversations ------------------------------------------------------------------------------


def test_a_note_is_asked_for_by_its_opening(tmp_path: Path) -> None:
    long = "He " + "very " * 60 + "slowly walked. Then he sat."
    short = "Coughs. He lives alone in the lighthouse and mends his own nets. No dog."
    found = loaded(tmp_path, "mts_dialog", [mts(1), mts(2, long), mts(3, short)])
    assert [each.text for each in found.questions] == [
        "The keeper of kiln number 1 has had a cough for 3 days.",
        "He " + " ".join(["very"] * 39),
        "Coughs. He lives alone in the lighthouse and mends his own nets.",
    ]
    assert found.questions[2].answer == short and found.questions[2].about == "mts-3"
    assert found.documents[0].text == "Doctor: Cough 1?\nPatient: Yes."


def test_a_note_without_more_than_its_opening_asks_nothing(tmp_path: Path) -> None:
    alone = mts(2, "He has been coughing for nine days at the weir.")
    found = loaded(tmp_path, "mts_dialog", [mts(1), alone, mts(3, "Noncontributory.")])
    assert [each.about for each in found.questions] == ["mts-1"]
    assert len(found.documents) == 3
    assert "1 of 1 such questions are asked, of 3 of 3 documents" in found.split


def test_notes_that_open_alike_ask_for_neither(tmp_path: Path) -> None:
    same = "The patient has never smoked in all his life. "
    found = loaded(
        tmp_path, "mts_dialog", [mts(1), mts(2, same + "He sings."), mts(3, same.upper() + "He rows.")]
    )
    assert [each.about for each in found.questions] == ["mts-1"]


def test_the_history_of_a_visit_is_asked_for(tmp_path: Path) -> None:
    found = loaded(tmp_path, "aci_bench", [aci(1, HISTORY), aci(2, WITHOUT_HISTORY), aci(3, "PLAN\n\nTea.")])
    first, second = found.questions
    assert first.text == "The keeper coughs. It began nine days ago after a night at the weir."
    assert first.answer == f"{first.text}\n\nHe sleeps badly."
    assert second.text == "The patient mends nets at the harbor every single morning."
    assert second.answer == f"{second.text} She sings."
    assert len(found.documents) == 3


# -- consultations ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("share", "count"), [(0.01, 3), (0.1, 30), (0.0001, 1), (1.0, 299)])
def test_held_out_consultations_are_not_in_the_knowledge_base(
    tmp_path: Path, share: float, count: int
) -> None:
    found = spread(tmp_path, "healthcaremagic", asked_share=share)
    texts = " ".join(document.text for document in found.documents)
    assert (len(found.questions), len(found.documents)) == (count, 300 - count)
    assert not any(each.text in texts or each.answer in texts for each in found.questions)
    assert f"{count} of 300 consultations are held out" in found.split
    document = found.documents[0]
    number = int(document.doc_id.removeprefix("consultation-")) - 1
    assert (
        document.text
        == f"Patient: My elbow number {number} itches.\nDoctor: Rub it with butter {number} times."
    )


def test_what_repeats_a_held_out_patient_is_left_out(tmp_path: Path) -> None:
    twins = [{**consultation(number // 2), "output": f"Answer {number}."} for number in range(40)]
    found = loaded(tmp_path, "healthcaremagic", twins, asked_share=0.25)
    asked = {each.text for each in found.questions}
    assert not any(text in document.text for document in found.documents for text in asked)
    repeated = 40 - len(found.questions) - len(found.documents)
    assert repeated > 0 and f"and {repeated} that repeat a held-out patient are left out" in found.split


def test_a_json_list_and_own_ids_are_read(tmp_path: Path) -> None:
    records = [{"id": number, **consultation(number)} for number in range(4)]
    (tmp_path / "HealthCareMagic-100k.json").write_text(json.dumps(records))
    found = load("healthcaremagic", tmp_path)
    ids = {document.doc_id for document in found.documents} | {each.question_id for each in found.questions}
    assert ids == {"0", "1", "2", "3"}


def test_one_consultation_is_too_few(tmp_path: Path) -> None:
    blank = {**consultation(2), "output": " "}
    with pytest.raises(ConfigurationError, match="holds 1 whole consultations: give at least two"):
        loaded(tmp_path, "healthcaremagic", [consultation(1), blank])


# -- mail ------------------------------------------------------------------------------------------------


def test_published_pairs_are_asked_about_their_mail(tmp_path: Path) -> None:
    found = spread(tmp_path, "enronqa", asked_share=1.0)
    assert len(found.questions) == 300 and len(spread(tmp_path, "enronqa").questions) == 3
    assert found.questions[10] == Question(
        "keeper/sent/1./1", "When does barge 1 come, part 0?", "At noon, 1-0.", "keeper/sent/1."
    )


def test_a_path_in_two_parts_is_one_mail(tmp_path: Path) -> None:
    written(tmp_path, [mail(1, 2)], "dev.jsonl")
    written(tmp_path, [mail(1, 3), mail(2, 1)], "train.jsonl")
    found = load("enronqa", tmp_path, Selection(asked_share=1.0))
    assert [document.doc_id for document in found.documents] == ["keeper/sent/1.", "keeper/sent/2."]
    assert len({each.question_id for each in found.questions}) == 6


def test_questions_without_their_answers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableDocument, match="line 1: has 2 questions and 1 gold_answers"):
        loaded(tmp_path, "enronqa", [{**mail(1, 2), "gold_answers": ["At noon."]}])
    with pytest.raises(UnreadableDocument, match="line 1: has no list in field 'questions'"):
        loaded(tmp_path, "enronqa", [{**mail(1), "questions": "When?"}])


def test_parquet_without_its_reader_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "train.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ModelUnavailable, match="train.parquet is Parquet, .* install pyarrow, or write"):
        load("enronqa", tmp_path)


class ParquetFile:
    """As much of pyarrow's reader as is used: batches of rows, here of JSON lines."""

    def __init__(self, path: Path) -> None:
        self._lines = path.read_text().splitlines()

    def iter_batches(self) -> list["ParquetFile"]:
        return [self]

    def to_pylist(self) -> list[object]:
        return [json.loads(line) for line in self._lines]


def parquet_reader(monkeypatch: pytest.MonkeyPatch, opened: object) -> None:
    package, module = ModuleType("pyarrow"), ModuleType("pyarrow.parquet")
    package.__dict__["parquet"] = module
    module.__dict__["ParquetFile"] = opened
    monkeypatch.setitem(sys.modules, "pyarrow", package)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", module)


def test_parquet_is_read_where_its_reader_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parquet_reader(monkeypatch, ParquetFile)
    written(tmp_path, [mail(1), mail(2)], "train.parquet")
    assert len(load("enronqa", tmp_path, Selection(asked_share=1.0)).questions) == 4
    written(tmp_path, [mail(1), {}], "train.parquet")
    with pytest.raises(UnreadableDocument, match="train.parquet, row 2: has no field 'path'"):
        load("enronqa", tmp_path)


def test_broken_parquet_is_reported_without_its_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(path: Path) -> object:
        raise ValueError("the keeper Zorvath")

    parquet_reader(monkeypatch, broken)
    written(tmp_path, [], "train.parquet")
    with pytest.raises(UnreadableDocument, match=r"is no Parquet that can be read \(ValueError\)") as caught:
        load("enronqa", tmp_path)
    assert caught.value.__suppress_context__ and "Zorvath" not in str(caught.value)


def test_a_subject_asks_for_its_mail(tmp_path: Path) -> None:
    records = [
        letter(1, "Re: FW:  the painted ferry 1"),
        letter(2, "Hats"),
        letter(3, "a painted lighthouse is open"),
        letter(4, "fwd: Friday at the quarry pier"),
        letter(5, "Friday at the quarry pier"),
    ]
    found = loaded(tmp_path, "aeslc", records)
    assert [(each.text, each.about) for each in found.questions] == [("the painted ferry 1", "letter-1")]
    assert found.questions[0].answer == "The painted ferry 1 leaves the quarry pier on Friday. Bring a hat."
    assert len(found.documents) == 5


@pytest.mark.parametrize(
    ("subject", "bare"),
    [
        ("RE: Fw : the weir", "the weir"),
        ("Fwd:re:the  weir", "the weir"),
        ("Reports: weir", "Reports: weir"),
        ("the weir re: nets", "the weir re: nets"),
        ("re:", ""),
    ],
)
def test_marks_of_replies_are_taken_off(subject: str, bare: str) -> None:
    assert bare_subject(subject) == bare


def test_a_compressed_corpus_is_read_and_a_damaged_one_reported(tmp_path: Path) -> None:
    written(tmp_path, [letter(1, "the painted ferry 1")], "data.jsonl.gz")
    assert len(load("aeslc", tmp_path).questions) == 1
    whole = (tmp_path / "data.jsonl.gz").read_bytes()
    (tmp_path / "data.jsonl.gz").write_bytes(whole[:-9])
    with pytest.raises(
        UnreadableDocument, match="data.jsonl.gz: is damaged gzip data; fetch the corpus again"
    ):
        load("aeslc", tmp_path)


# -- inverse cloze ---------------------------------------------------------------------------------------


def test_a_drawn_sentence_is_answered_by_those_beside_it() -> None:
    questions = cloze_questions([Document("a", tale(1))], 9, Selection())
    sentences = split_sentences(tale(1))
    assert [each.question_id for each in questions] == ["a/cloze-1", "a/cloze-2", "a/cloze-3"]
    assert [each.text for each in questions] == sentences[1:4]
    assert questions[0].answer == " ".join([sentences[0], *sentences[2:4]])
    assert questions[2].answer == " ".join([sentences[2], sentences[4]])


@pytest.mark.parametrize(
    "sentence",
    [
        "Too few words.",
        "The weir " + "and the weir " * 20 + "fell.",
        "the tail of a sentence that was cut at some abbreviation.",
        "48213/07) against the keepers of the old weir down there.",
        "Keeper of the Weir Department of Nets and Barges",
    ],
)
def test_what_asks_about_nothing_is_not_drawn(sentence: str) -> None:
    assert cloze_questions([Document("a", f"Good day.\n\n{sentence}\n\nBye.")], 9, Selection()) == []


def test_a_sentence_of_two_documents_is_not_drawn() -> None:
    phrase = "The keeper of the weir will be pleased to hear from you."
    documents = [Document("a", f"{tale(1)} {phrase}"), Document("b", f"{tale(2)} {phrase}")]
    assert phrase not in [each.text for each in cloze_questions(documents, 9, Selection())]
    assert phrase in [each.text for each in cloze_questions(documents[:1], 9, Selection())]


def test_a_sentence_alone_has_no_answer() -> None:
    alone = "The keeper of the weir will be pleased to hear from you."
    assert cloze_questions([Document("a", alone)], 9, Selection()) == []


@given(
    texts=st.lists(st.text(alphabet="aA wW.!?\n", max_size=400), max_size=5),
    count=st.integers(1, 4),
    seed=st.integers(0, 99),
)
def test_cloze_always_draws_whole_sentences(texts: list[str], count: int, seed: int) -> None:
    documents = [Document(str(number), text) for number, text in enumerate(texts)]
    questions = cloze_questions(documents, count, Selection(seed=seed))
    assert questions == cloze_questions(documents, count, Selection(seed=seed))
    for each in questions:
        sentences = split_sentences(texts[int(each.about)])
        place = sentences.index(each.text)
        beside = sentences[max(0, place - BEFORE) : place] + sentences[place + 1 : place + 1 + AFTER]
        assert each.answer == " ".join(beside)
        assert FEWEST_WORDS <= len(each.text.split()) <= MOST_WORDS
    assert all(sum(each.about == d.doc_id for each in questions) <= count for d in documents)


@given(
    documents=st.integers(1, 12),
    about=st.lists(st.integers(0, 12), max_size=20),
    most_documents=st.none() | st.integers(1, 14),
    most_questions=st.none() | st.integers(1, 22),
    seed=st.integers(0, 9),
)
def test_bounds_hold_whatever_is_asked_about(
    documents: int, about: list[int], most_documents: int | None, most_questions: int | None, seed: int
) -> None:
    held = [Document(str(number), "The weir.") for number in range(documents)]
    # One more than there are documents stands for a question about none.
    asked = [
        Question(str(number), "Weir?", "Yes.", str(each) if each < documents else "")
        for number, each in enumerate(about)
    ]
    wanted = Selection(seed, most_documents, most_questions)
    kept, questions = bounded(held, asked, wanted)
    assert (kept, questions) == bounded(held, asked, wanted)
    ids = {document.doc_id for document in kept}
    assert len(kept) == min(documents, most_documents or documents)
    assert {each.about for each in questions} <= ids | {""}
    assert len(questions) <= (most_questions or len(asked))
    assert [d for d in held if d in kept] == kept and [q for q in asked if q in questions] == questions
    if most_documents is None:
        assert len(questions) == min(len(asked), most_questions or len(asked))
    elif asked:
        assert questions


def test_marked_mentions_come_with_their_cases(tmp_path: Path) -> None:
    found = spread(tmp_path, "tab", most_documents=2)
    assert found.gold is not None and len(found.gold) == 2
    rows = found.gold[found.documents[0].doc_id]
    assert [row["type"] for row in rows] == ["PERSON"]
    assert "of 2 of 30 documents" in found.split


def test_more_sentences_are_asked_where_that_is_wanted(tmp_path: Path) -> None:
    assert len(spread(tmp_path, "tab", questions_per_document=1).questions) == 30
    assert len(spread(tmp_path, "tab").questions) == 60
    assert len(spread(tmp_path, "tab", questions_per_document=3).questions) == 90


def test_the_invented_documents_bring_questions_of_their_own(tmp_path: Path) -> None:
    found = spread(tmp_path, "demo", questions_per_document=1)
    assert found.questions[0] == Question(
        "demo-0/written", "Who painted thing 0?", "Two cousins did.", "demo-0"
    )
    assert len(found.questions) == 60 and found.split.startswith("One question on each document is written")
    assert found.gold is not None and len(found.gold) == 30


# -- a user's own folder ---------------------------------------------------------------------------------


def test_a_folder_of_files_is_asked_about(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(tale(1))
    (tmp_path / "b.txt").write_text(tale(2))
    (tmp_path / "c.bin").write_text("no text")
    found = load("folder", tmp_path)
    assert [document.text for document in found.documents] == [tale(1), tale(2)]
    assert len(found.questions) == 6 and "(1 files or records could not be read" in found.split


def test_a_folder_without_documents_says_why(tmp_path: Path) -> None:
    with pytest.raises(UnreadableDocument, match="does not exist; check the path"):
        load("folder", tmp_path / "missing.txt")
    (tmp_path / "short.txt").write_text("Good day.")
    with pytest.raises(ConfigurationError, match="The corpus folder gives no question. Each question is"):
        load("folder", tmp_path)


def own_questions(folder: Path, records: Records) -> Path:
    return written(folder, records, "asked.jsonl") / "asked.jsonl"


def test_own_questions_are_asked_of_own_documents(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    documents = written(tmp_path / "own", LAYOUTS["folder"][1], "notes.jsonl")
    asked = own_questions(
        tmp_path,
        [
            {"question": "Who painted it?", "answer": "Two cousins.", "about": "note-3"},
            {"question": "What is a weir?", "answer": "A low dam.", "about": None},
        ],
    )
    found = load("folder", documents, Selection(questions_file=asked, most_documents=1))
    assert [document.doc_id for document in found.documents] == ["note-3"]
    assert [(each.question_id, each.about) for each in found.questions] == [
        ("question-1", "note-3"),
        ("question-2", ""),
    ]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"question": "Who?"}, "line 1: has no field 'answer'"),
        ({"question": "Who?", "answer": " "}, "line 1: has an empty question or answer"),
        ({"question": "Who?", "answer": 4}, "line 1: holds something other than text in field 'answer'"),
        (
            {"question": "Who?", "answer": "I.", "about": "b"},
            "line 1: is about a document that is none of the 1 ",
        ),
    ],
)
def test_own_questions_must_be_whole(tmp_path: Path, record: object, message: str) -> None:
    with pytest.raises(UnreadableDocument, match=message):
        questions_of(own_questions(tmp_path, [record]), ["a"])


def test_a_missing_file_of_questions_is_reported(tmp_path: Path) -> None:
    with pytest.raises(LetheError, match="fields question, answer"):
        questions_of(tmp_path / "asked.jsonl", [])


# -- the corpora themselves ------------------------------------------------------------------------------

PUBLIC = {
    "mts_dialog": "mts_dialog",
    "aci_bench": "aci_bench",
    "ewt_email": "ewt_email",
    "tab": "tab",
    "aeslc": "noncommercial/aeslc",
    "healthcaremagic": "noncommercial/chatdoctor_genmedgpt5k",
}


@pytest.mark.parametrize("corpus", PUBLIC)
def test_the_public_corpora_are_in_their_layouts(corpus: str) -> None:
    folder = public_data(PUBLIC[corpus])
    found = load(corpus, folder / PUBLIC[corpus], Selection(most_questions=100, asked_share=0.05))
    assert len(found.documents) >= 40 and len(found.questions) == 100


def test_the_bundled_documents_are_in_their_layout() -> None:
    found = load("demo", Path(__file__).parents[2] / "app" / "demo")
    assert len(found.documents) == 73 and 200 <= len(found.questions) <= 300
