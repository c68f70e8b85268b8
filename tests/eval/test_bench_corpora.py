"""Corpora with questions: every layout on small invented files, and what must hold of all of them."""

import gzip
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
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

Record = dict[str, object]
Records = Sequence[Record]


def tale(number: int) -> str:
    """Five sentences that no other tale has; three of them have 8 words or more."""
    return (
        f"Good day. The kiln number {number} was painted green by two cousins last spring. "
        f"It took them a week to carry all the ladders to kiln {number}. "
        f"Nobody had told the owner of kiln {number} what green would cost him! It is paid."
    )


def mts(number: int, note: str = "") -> Record:
    told = f"The keeper of kiln number {number} has had a cough for {number + 2} days. He sleeps badly."
    dialogue = f"Doctor: Cough {number}?\nPatient: Yes."
    return {"id": f"mts-{number}", "dialogue": dialogue, "note_section": note or told}


def aci(number: int, note: str) -> Record:
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


def exam(number: int) -> Record:
    asked = {"question": f"{tale(number)} What would it have cost?", "options": {"A": "Tea.", "B": "A boat."}}
    return {"id": f"exam-{number}", **asked, "answer_idx": "B"}


def consultation(number: int) -> Record:
    return {"input": f"My elbow number {number} itches.", "output": f"Rub it with butter {number} times."}


def mail(number: int, questions: int = 2) -> Record:
    return {
        "email": f"Subject: barge\n\nThe barge {number} comes at noon.",
        "questions": [f"When does barge {number} come, part {each}?" for each in range(questions)],
        "gold_answers": [f"At noon, {number}-{each}." for each in range(questions)],
        "path": f"keeper/sent/{number}.",
    }


def letter(number: int, subject: str) -> Record:
    told = f"Dear all. The painted ferry {number} leaves the quarry pier on Friday. Bring a hat. Bye."
    return {"id": f"letter-{number}", "subject": subject, "body": told}


def case(number: int) -> Record:
    start = tale(number).index("two cousins")
    mention = {"start": start, "end": start + len("two cousins"), "type": "PERSON", "text": "two cousins"}
    return {"doc_id": f"case-{number}", "text": tale(number), "mentions": [mention]}


def demo_record(number: int) -> Record:
    marks = [{"text": "two cousins", "label": "person full name", "identifier": "direct"}]
    asked = {"question": f"Who painted thing {number}?", "answer": "Two cousins did."}
    return {"id": f"demo-{number}", "text": tale(number), "entities": marks, **asked}


LAYOUTS: dict[str, tuple[str, Records]] = {
    "mts_dialog": ("data.jsonl", [mts(n) for n in range(30)]),
    "aci_bench": ("data.jsonl", [aci(n, HISTORY.replace("nine", f"{n} or nine")) for n in range(30)]),
    "medqa": ("data.jsonl", [exam(n) for n in range(30)]),
    "healthcaremagic": ("data.jsonl", [consultation(n) for n in range(300)]),
    "enronqa": ("train.jsonl", [mail(n, 10) for n in range(30)]),
    "aeslc": ("data.jsonl", [letter(n, f"Re: the painted ferry {n}") for n in range(30)]),
    "ewt_email": ("data.jsonl", [{"id": f"run-{n}", "text": tale(n)} for n in range(30)]),
    "tab": ("dev.jsonl", [case(n) for n in range(30)]),
    "demo": ("corpus.jsonl", [demo_record(n) for n in range(30)]),
    "folder": ("notes.jsonl", [{"id": f"note-{n}", "text": tale(n)} for n in range(30)]),
}
PUBLISHED = [name for name in LAYOUTS if name != "folder"]


def written(folder: Path, records: Records, name: str = "data.jsonl") -> Path:
    lines = "".join(f"{json.dumps(record)}\n" for record in records).encode()
    (folder / name).write_bytes(gzip.compress(lines) if name.endswith(".gz") else lines)
    return folder


def loaded(folder: Path, corpus: str, records: Records, **wanted: Any) -> Corpus:
    return load(corpus, written(folder, records, LAYOUTS[corpus][0]), Selection(**wanted))


def spread(folder: Path, corpus: str, **wanted: Any) -> Corpus:
    return loaded(folder, corpus, LAYOUTS[corpus][1], **wanted)


@pytest.mark.parametrize("corpus", LAYOUTS)
def test_a_corpus_comes_with_documents_and_questions_about_them(tmp_path: Path, corpus: str) -> None:
    assert set(LAYOUTS) == set(corpus_names())
    found = spread(tmp_path, corpus)
    ids = {document.doc_id for document in found.documents}
    assert found.name == corpus and found.source and found.license and found.split.endswith("(seed 0).")
    assert len(found.documents) == (297 if corpus == "healthcaremagic" else 30)
    assert found.questions and len({each.question_id for each in found.questions}) == len(found.questions)
    assert all(each.text and each.answer for each in found.questions)
    assert all((each.about in ids) == (corpus != "healthcaremagic") for each in found.questions)
    shown = f"{found!r}{found.questions[0]!r}"
    assert not any(word in shown for word in ("cousins", "cough", "elbow", "barge", "ferry", "noon"))
    few, other, again = (load(corpus, tmp_path, Selection(seed, 4, 3)) for seed in (0, 1, 0))
    # The same seed draws the same.
    assert few == again
    assert other.questions != few.questions and other.documents != few.documents
    # Bounds are kept, and what is asked about stays.
    for each in few, other:
        ids = {document.doc_id for document in each.documents}
        assert len(ids) == 4 and 1 <= len(each.questions) <= 3
        assert {question.about for question in each.questions} <= ids | {""}
        assert each.gold is None or set(each.gold) == ids


@pytest.mark.parametrize("corpus", PUBLISHED)
def test_a_folder_or_record_in_another_layout_is_reported(tmp_path: Path, corpus: str) -> None:
    with pytest.raises(ConfigurationError, match=f"holds no file of the corpus {corpus}: put .* fields "):
        load(corpus, tmp_path)
    records: Records = [LAYOUTS[corpus][1][0], {"stray": "keeper Zorvath"}]
    with pytest.raises(UnreadableDocument, match=r"line 2: has no field '\w+'; a record of") as caught:
        loaded(tmp_path, corpus, records)
    assert "Zorvath" not in str(caught.value)
    # Consultations have no ids, and parts of EnronQA share their mails.
    if corpus not in ("healthcaremagic", "enronqa"):
        with pytest.raises(UnreadableDocument, match="line 2: has the id of an earlier record"):
            loaded(tmp_path, corpus, [records[0]] * 2)


@pytest.mark.parametrize("corpus", SPLIT)
def test_a_split_is_taken_by_its_name(corpus: str, tmp_path: Path) -> None:
    splits = ("train", "test1", "test2")
    records = [each | {"official_split": splits[n % 3]} for n, each in enumerate(LAYOUTS[corpus][1])]
    found = loaded(tmp_path, corpus, records, split="test")
    assert len(found.documents) == 20
    assert " of 20 documents of official splits named test (seed 0)." in found.split
    with pytest.raises(ConfigurationError, match="gives no document of official splits named dev"):
        load(corpus, tmp_path, Selection(split="dev"))


@pytest.mark.parametrize(
    ("corpus", "wanted", "message"),
    [
        ("kiln", {}, "no corpus 'kiln': the names are mts_dialog, aci_bench"),
        ("tab", {"questions_file": Path()}, "goes with the corpus folder, and tab has its own"),
        ("tab", {"split": "test"}, "^tab says of no record which split .* leave --split out"),
        ("mts_dialog", {"split": "test"}, "line 1.*has no field 'official_split'; a record of mts_dialog"),
        ("tab", {"most_documents": 0}, "most_documents is 0: give at least 1"),
        ("tab", {"most_questions": 0}, "most_questions is 0: give at least 1"),
        ("tab", {"questions_per_document": 0}, "questions_per_document is 0: give at least 1"),
        *(
            ("tab", {"asked_share": share}, "asked_share is .*give a share in")
            for share in (0.0, -0.1, 1.5, float("nan"))
        ),
    ],
)
def test_what_cannot_be_selected_is_refused(
    tmp_path: Path, corpus: str, wanted: dict[str, Any], message: str
) -> None:
    written(tmp_path, LAYOUTS["mts_dialog"][1])
    with pytest.raises(LetheError, match=message) as refused:
        load(corpus, tmp_path, Selection(**wanted))
    assert isinstance(refused.value, ConfigurationError | UnreadableDocument)


def test_nouns_refuse_what_they_promise_not_to_hold() -> None:
    document, asked = Document("a", "The weir."), Question("q", "Weir?", "Yes.", "b")
    with pytest.raises(ValueError, match="question q lacks its text or its answer"):
        Question("q", "Weir?", " ")
    with pytest.raises(ValueError, match="about a document that it does not hold"):
        Corpus("small", [document], [asked])
    with pytest.raises(ValueError, match="two documents under one id"):
        Corpus("small", [document, document])


def test_a_note_is_asked_for_by_its_opening(tmp_path: Path) -> None:
    long = "He " + "very " * 60 + "slowly walked. Then he sat."
    short = "Coughs. He lives alone in the lighthouse and mends his own nets. No dog."
    same = "The patient has never smoked in all his life. "
    nothing_asked = [
        "He has been coughing for nine days at the weir.",
        "Noncontributory.",
        # Two that open alike.
        f"{same} He sings.",
        f"{same.upper()} He rows.",
    ]
    records = [mts(number, note) for number, note in enumerate(["", long, short, *nothing_asked], 1)]
    found = loaded(tmp_path, "mts_dialog", records)
    assert [(each.text, each.about) for each in found.questions] == [
        ("The keeper of kiln number 1 has had a cough for 3 days.", "mts-1"),
        ("He " + " ".join(["very"] * 39), "mts-2"),
        ("Coughs. He lives alone in the lighthouse and mends his own nets.", "mts-3"),
    ]
    assert found.questions[2].answer == short
    assert found.documents[0].text == "Doctor: Cough 1?\nPatient: Yes."
    assert "3 of 3 such questions are asked, of 7 of 7 documents" in found.split


def test_the_history_of_a_visit_is_asked_for(tmp_path: Path) -> None:
    found = loaded(tmp_path, "aci_bench", [aci(1, HISTORY), aci(2, WITHOUT_HISTORY), aci(3, "PLAN\n\nTea.")])
    first, second = found.questions
    assert first.text == "The keeper coughs. It began nine days ago after a night at the weir."
    assert first.answer == f"{first.text}\n\nHe sleeps badly."
    assert second.text == "The patient mends nets at the harbor every single morning."
    assert second.answer == f"{second.text} She sings."
    assert len(found.documents) == 3


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
    record = consultation(int(document.doc_id.removeprefix("consultation-")) - 1)
    assert document.text == f"Patient: {record['input']}\nDoctor: {record['output']}"


def test_what_repeats_a_held_out_patient_is_left_out(tmp_path: Path) -> None:
    twins = [{**consultation(number // 2), "output": f"Answer {number}."} for number in range(40)]
    found = loaded(tmp_path, "healthcaremagic", twins, asked_share=0.25)
    asked = {each.text for each in found.questions}
    assert not any(text in document.text for document in found.documents for text in asked)
    repeated = 40 - len(found.questions) - len(found.documents)
    assert repeated > 0 and f"and {repeated} that repeat a held-out patient are left out" in found.split


def test_a_json_list_and_own_ids_are_read_and_one_consultation_is_too_few(tmp_path: Path) -> None:
    listed = tmp_path / "HealthCareMagic-100k.json"
    listed.write_text(json.dumps([{"id": number, **consultation(number)} for number in range(4)]))
    found = load("healthcaremagic", listed)
    ids = [document.doc_id for document in found.documents] + [each.question_id for each in found.questions]
    assert sorted(ids) == ["0", "1", "2", "3"]
    blank = {**consultation(2), "output": " "}
    listed.write_text(json.dumps([consultation(1), blank]))
    with pytest.raises(ConfigurationError, match="holds 1 whole consultations: give at least two"):
        load("healthcaremagic", listed)


def test_published_pairs_are_asked_about_their_mail(tmp_path: Path) -> None:
    found = spread(tmp_path, "enronqa", asked_share=1.0)
    assert len(found.questions) == 300 and len(load("enronqa", tmp_path).questions) == 3
    asked = "When does barge 1 come, part 0?"
    assert found.questions[10] == Question("keeper/sent/1./1", asked, "At noon, 1-0.", "keeper/sent/1.")
    # A path in two parts is one mail.
    written(tmp_path, [mail(1, 2)], "dev.jsonl")
    written(tmp_path, [mail(1, 3), mail(2, 1)], "train.jsonl")
    found = load("enronqa", tmp_path, Selection(asked_share=1.0))
    assert [document.doc_id for document in found.documents] == ["keeper/sent/1.", "keeper/sent/2."]
    assert len({each.question_id for each in found.questions}) == 6
    # Questions without their answers are refused.
    with pytest.raises(UnreadableDocument, match="line 1: has 2 questions and 1 gold_answers"):
        loaded(tmp_path, "enronqa", [mail(1) | {"gold_answers": ["At noon."]}])
    with pytest.raises(UnreadableDocument, match="line 1: has no list in field 'questions'"):
        loaded(tmp_path, "enronqa", [mail(1) | {"questions": "When?"}])


def parquet_reader(monkeypatch: pytest.MonkeyPatch, rows_of: Callable[[Path], list[object]]) -> None:
    """As much of pyarrow's reader as is used: batches of rows."""

    def opened(path: Path) -> object:
        rows = rows_of(path)
        return SimpleNamespace(iter_batches=lambda: [SimpleNamespace(to_pylist=lambda: rows)])

    parquet = SimpleNamespace(ParquetFile=opened)
    monkeypatch.setitem(sys.modules, "pyarrow", SimpleNamespace(parquet=parquet))
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", parquet)


def test_parquet_is_read_where_its_reader_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parquet_reader(monkeypatch, lambda path: [json.loads(line) for line in path.read_text().splitlines()])
    written(tmp_path, [mail(1), mail(2)], "train.parquet")
    assert len(load("enronqa", tmp_path, Selection(asked_share=1.0)).questions) == 4
    written(tmp_path, [mail(1), {}], "train.parquet")
    with pytest.raises(UnreadableDocument, match="train.parquet, row 2: has no field 'path'"):
        load("enronqa", tmp_path)

    def broken(path: Path) -> list[object]:
        raise ValueError("the keeper Zorvath")

    parquet_reader(monkeypatch, broken)
    with pytest.raises(UnreadableDocument, match=r"is no Parquet that can be read \(ValueError\)") as caught:
        load("enronqa", tmp_path)
    assert caught.value.__suppress_context__ and "Zorvath" not in str(caught.value)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ModelUnavailable, match="train.parquet is Parquet, .* install pyarrow, or write"):
        load("enronqa", tmp_path)


def test_a_subject_asks_for_its_mail(tmp_path: Path) -> None:
    subjects = ["Re: FW:  the painted ferry 1", "Hats", "a painted lighthouse is open"]
    subjects += ["fwd: Friday at the quarry pier", "Friday at the quarry pier"]
    found = loaded(tmp_path, "aeslc", [letter(number, subject) for number, subject in enumerate(subjects, 1)])
    assert [(each.text, each.about) for each in found.questions] == [("the painted ferry 1", "letter-1")]
    assert found.questions[0].answer == "The painted ferry 1 leaves the quarry pier on Friday. Bring a hat."
    assert len(found.documents) == 5


def test_marks_of_replies_are_taken_off() -> None:
    bare = {"RE: Fw : the weir": "the weir", "Fwd:re:the  weir": "the weir", "re:": ""}
    bare |= {whole: whole for whole in ("Reports: weir", "the weir re: nets")}
    assert {subject: bare_subject(subject) for subject in bare} == bare


def test_a_compressed_corpus_is_read_and_a_damaged_one_reported(tmp_path: Path) -> None:
    packed = written(tmp_path, [letter(1, "the painted ferry 1")], "data.jsonl.gz") / "data.jsonl.gz"
    assert len(load("aeslc", tmp_path).questions) == 1
    packed.write_bytes(packed.read_bytes()[:-9])
    with pytest.raises(UnreadableDocument, match="jsonl.gz: is damaged gzip data; fetch the corpus again"):
        load("aeslc", tmp_path)


def test_a_drawn_sentence_is_answered_by_those_beside_it() -> None:
    questions = cloze_questions([Document("a", tale(1))], 9, Selection())
    sentences = split_sentences(tale(1))
    assert [each.question_id for each in questions] == ["a/cloze-1", "a/cloze-2", "a/cloze-3"]
    assert [each.text for each in questions] == sentences[1:4]
    assert questions[0].answer == " ".join([sentences[0], *sentences[2:4]])
    assert questions[2].answer == " ".join([sentences[2], sentences[4]])
    # A sentence of two documents is not drawn.
    both = [Document(doc_id, f"{tale(number)} {PHRASE}") for number, doc_id in enumerate("ab")]
    for documents, drawn in (both, False), (both[:1], True):
        asked = [each.text for each in cloze_questions(documents, 9, Selection())]
        assert (PHRASE in asked) is drawn


PHRASE = "The keeper of the weir will be pleased to hear from you."


@pytest.mark.parametrize(
    "text",
    [
        # A sentence alone has no answer.
        PHRASE,
        *(
            f"Good day.\n\n{sentence}\n\nBye."
            for sentence in (
                "Too few words.",
                "The weir " + "and the weir " * 20 + "fell.",
                "the tail of a sentence that was cut at some abbreviation.",
                "48213/07) against the keepers of the old weir down there.",
                "Keeper of the Weir Department of Nets and Barges",
            )
        ),
    ],
)
def test_what_asks_about_nothing_is_not_drawn(text: str) -> None:
    assert cloze_questions([Document("a", text)], 9, Selection()) == []


@given(st.lists(st.text("aA wW.!?\n", max_size=400), max_size=5), st.integers(1, 4), st.integers(0, 99))
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


bounds = st.none() | st.integers(1, 22)


@given(st.integers(1, 12), st.lists(st.integers(0, 12), max_size=20), bounds, bounds, st.integers(0, 9))
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
    assert [row["type"] for row in found.gold[found.documents[0].doc_id]] == ["PERSON"]
    assert "of 2 of 30 documents" in found.split
    # More sentences are asked where that is wanted; two without a word.
    for count, questions in (None, 60), (1, 30), (3, 90):
        assert len(load("tab", tmp_path, Selection(questions_per_document=count)).questions) == questions


def test_the_invented_documents_bring_questions_of_their_own(tmp_path: Path) -> None:
    found = spread(tmp_path, "demo", questions_per_document=1)
    written_one = Question("demo-0/written", "Who painted thing 0?", "Two cousins did.", "demo-0")
    assert found.questions[0] == written_one
    assert len(found.questions) == 60 and found.split.startswith("One question on each document is written")
    assert found.gold is not None and len(found.gold) == 30


def test_a_folder_of_files_is_asked_about(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(tale(1))
    (tmp_path / "b.txt").write_text(tale(2))
    (tmp_path / "c.bin").write_text("no text")
    found = load("folder", tmp_path)
    assert [document.text for document in found.documents] == [tale(1), tale(2)]
    assert len(found.questions) == 6 and "(1 files or records could not be read" in found.split
    # Without documents or sentences it says why.
    with pytest.raises(UnreadableDocument, match="does not exist; check the path"):
        load("folder", tmp_path / "missing.txt")
    (tmp_path / "b.txt").write_text("Good day.")
    with pytest.raises(ConfigurationError, match="The corpus folder gives no question. Each question is"):
        load("folder", tmp_path / "b.txt")


def own_questions(folder: Path, *records: Record) -> Path:
    return written(folder, records, "asked.jsonl") / "asked.jsonl"


def test_own_questions_are_asked_of_own_documents(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    documents = written(tmp_path / "own", LAYOUTS["folder"][1], "notes.jsonl")
    about: Record = {"question": "Who painted it?", "answer": "Two cousins.", "about": "note-3"}
    at_large: Record = {"question": "What is a weir?", "answer": "A low dam.", "about": None}
    asked = own_questions(tmp_path, about, at_large)
    found = load("folder", documents, Selection(questions_file=asked, most_documents=1))
    assert [document.doc_id for document in found.documents] == ["note-3"]
    ids = [(each.question_id, each.about) for each in found.questions]
    assert ids == [("question-1", "note-3"), ("question-2", "")]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"question": "Who?"}, "line 1: has no field 'answer'"),
        ({"question": "Who?", "answer": " "}, "line 1: has an empty question or answer"),
        ({"question": "Who?", "answer": 4}, "line 1: holds something other than text in field 'answer'"),
        ({"question": "Who?", "answer": "I.", "about": "b"}, "line 1: is about a document that is none of "),
    ],
)
def test_own_questions_must_be_whole(tmp_path: Path, record: Record, message: str) -> None:
    with pytest.raises(UnreadableDocument, match=message):
        questions_of(own_questions(tmp_path, record), ["a"])
    with pytest.raises(LetheError, match="fields question, answer"):
        questions_of(tmp_path / "missing.jsonl", [])


@pytest.mark.parametrize(
    "place",
    ["mts_dialog", "aci_bench", "ewt_email", "tab", "noncommercial/aeslc"]
    + ["noncommercial/chatdoctor_genmedgpt5k"],
)
def test_the_public_corpora_are_in_their_layouts(place: str) -> None:
    corpus = "healthcaremagic" if "chatdoctor" in place else place.rpartition("/")[2]
    found = load(corpus, public_data(place) / place, Selection(most_questions=100, asked_share=0.05))
    assert len(found.documents) >= 40 and len(found.questions) == 100


def test_the_bundled_documents_are_in_their_layout() -> None:
    found = load("demo", Path(__file__).parents[2] / "app" / "demo")
    assert len(found.documents) == 73 and 200 <= len(found.questions) <= 300
