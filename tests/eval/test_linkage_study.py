"""What the linkage study adds to the attack: its parts, and what stays useful. All texts are invented."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.attacks.claims import MOST_KNOWN
from eval.corpora.corpus import Selection
from eval.corpora.loaders import ChoiceQuestion, choice_questions, medqa
from eval.corpora.seen import MEDQA_DEVELOPMENT, Exposure, exposures
from eval.experiment import SanitizedCorpus, Task
from eval.progress import no_progress
from eval.reports.words import words
from eval.rows import Row
from eval.studies.linkage import report
from eval.studies.linkage.report import LINKERS, PRESETS, VERSION_1, VERSION_2, Attack, WholeText, material
from eval.tasks import sets as keeping
from eval.tasks.choices import OPTIONS, RIGHT, UNANSWERED, Choices, SimilarityAnswerer
from eval.tasks.linkage import LinkageTask, version_1, version_2
from eval.tasks.sets import GIVEN, MAUVE, OWN, SMOOTHED, WHOLE, Classes, Kept, Likeness
from ingest.deciding.baselines.uniform import ORIGIN, SUPPRESS
from ingest.documents import Document, SanitizedDocument, Span
from ingest.errors import UnreadableDocument
from ingest.protocols import Encoder, Method
from ingest.sanitize import DecidingSanitizer
from ingest.scoring.prior import RiskPrior
from models.errors import ConfigurationError
from models.vectors import Vectors
from tests.commands import write_lines
from tests.doubles import PhraseDetector, WordEncoder
from tests.hashing_encoder import HashingEncoder

ENCODER: Encoder = HashingEncoder()
HERON = Document("heron", "The heron eats 3 eels. The mill is shut.")
OTTER = Document("otter", "The otter sleeps. The mill burns.")
BOTH = [HERON, OTTER]
KINDS = {"heron": "birds", "otter": "mammals"}


def kept(
    documents: Sequence[Document], phrases: Sequence[str] = (), method: Method = SUPPRESS
) -> SanitizedCorpus:
    detector = PhraseDetector(dict.fromkeys(phrases, "job title"))
    done = DecidingSanitizer(detector, method, RiskPrior()).sanitize(documents)
    there = [each for each in done if isinstance(each, SanitizedDocument)]
    return SanitizedCorpus("s", len(there), {}, {}, lambda encoder: pytest.fail("not asked"), there)


def rows(task: Task, corpus: SanitizedCorpus) -> list[Row]:
    return list(task.rows(corpus, task.cases, no_progress))


def test_facts_and_claims_kept_by_hand() -> None:
    # Facts: heron, eat, 3, eel, mill, shut. Without "heron" and "3" four of six are left. The first claim has
    # two of its four words (2 of 4 is above .4, below .8): said in part. The second is said.
    first, _ = rows(Kept(BOTH), kept(BOTH, ["heron", "3"]))
    assert first.figures[keeping.FACTS] == pytest.approx(4 / 6)
    # The other document says one of them, the mill.
    assert first.figures[keeping.CHANCE] == pytest.approx(1 / 6)
    counted = [first.figures[name] for name in (keeping.CLAIMS, keeping.SAID, keeping.SAID_PARTLY)]
    assert counted == [2, 1, 2]


def test_an_unsanitized_document_keeps_everything_and_an_empty_one_nothing() -> None:
    for row in rows(Kept(BOTH), kept(BOTH)):
        assert row.figures[keeping.FACTS] == 1
        assert row.figures[keeping.SAID] == row.figures[keeping.CLAIMS] == 2
    done = DecidingSanitizer(WholeText(), SUPPRESS, RiskPrior()).sanitize(BOTH)
    emptied = [each for each in done if isinstance(each, SanitizedDocument)]
    assert [each.text for each in emptied] == ["", ""]
    for row in rows(Kept(BOTH), replace(kept(BOTH), documents=emptied)):
        assert row.figures[keeping.FACTS] == row.figures[keeping.SAID_PARTLY] == 0
    # A single document has no other one, and one without words no facts.
    (row,) = rows(Kept([HERON]), kept([HERON]))
    assert keeping.CHANCE not in row.figures
    (row,) = rows(Kept([Document("empty", "")]), kept([Document("empty", "")]))
    assert row.figures == {keeping.CLAIMS: 0, keeping.SAID: 0, keeping.SAID_PARTLY: 0}


def tasks(answer: str) -> list[Task]:
    exam = Choices([question("heron"), question("otter")], Fixed(answer))
    return [Kept(BOTH), exam, Classes(BOTH, KINDS, ENCODER), Likeness(BOTH, ENCODER)]


def test_what_was_not_sanitized_is_not_measured() -> None:
    corpus = replace(kept([]), failed={"heron": "Broken"})
    for task in tasks("A")[:3]:
        assert [row.failure for row in rows(task, corpus)] == ["Broken", "not sanitized"], task.name
    (row,) = rows(Likeness(BOTH, ENCODER), corpus)
    assert (row.case, row.measured) == (WHOLE, False)


def test_rows_hold_numbers_only() -> None:
    for task in tasks("Eels"):
        found = rows(task, kept(BOTH, method=ORIGIN))
        shown = json.dumps([row.model_dump(mode="json") for row in found]) + repr(task)
        assert not any(word in shown for word in ("eels", "sleeps", "mill", "kiln", "birds", "What eats"))


@given(st.lists(st.sampled_from(["heron", "mill", "eels", "shut", "3"]), unique=True))
def test_hiding_more_keeps_no_more(hidden: list[str]) -> None:
    shares = [
        rows(Kept([HERON]), kept([HERON], hidden[:count]))[0].figures[keeping.FACTS]
        for count in range(len(hidden) + 1)
    ]
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] == pytest.approx(1 - len(hidden) / 6)


def question(about: str, right: str = "B") -> ChoiceQuestion:
    options = {"A": "A kiln.", "B": "A heron eats eels.", "C": "A loom.", "D": "Rust."}
    return ChoiceQuestion(about, "What eats?", options, right)


class Fixed:
    """The same answer to every question."""

    name = "fixed (test double)"

    def __init__(self, answer: str) -> None:
        self._answer = answer

    def answers(self, documents: Sequence[str], questions: Sequence[ChoiceQuestion]) -> list[str]:
        return [self._answer for _ in documents]


@pytest.mark.parametrize(
    ("answers", "right", "unanswered"),
    [
        (["B", "b", "B. The heron", "b. Because", " (b) the mill", "**B.** Rust", "_B_"], 1, 0),
        (["A"], 0, 0),
        (["", "...", "Both", "Because of B", "The answer is B", "B2", "2. B"], 0, 1),
    ],
)
def test_an_answer_is_its_first_letter(answers: list[str], right: int, unanswered: int) -> None:
    for answer in answers:
        (row,) = rows(Choices([question("heron")], Fixed(answer)), kept([HERON]))
        assert row.figures == {RIGHT: right, UNANSWERED: unanswered, OPTIONS: 4}, answer


def test_the_nearest_option_is_answered_and_depends_on_the_document() -> None:
    answerer = SimilarityAnswerer(ENCODER)
    asked = [question("heron"), question("loom")]
    assert answerer.answers([HERON.text, "A loom, a loom, a loom."], asked) == ["B", "C"]
    task = Choices([question("heron"), question("otter")], answerer)
    found = list(task.rows(kept(BOTH), ["heron"], no_progress))
    assert [(row.case, row.figures[RIGHT]) for row in found] == [("heron", 1)]


def test_the_embedded_encoder_takes_the_option_that_the_vignette_speaks_of(minilm: Encoder) -> None:
    options = {"A": "Repair of a bicycle", "B": "A broken leg", "C": "Baking of bread", "D": "A tax form"}
    asked = ChoiceQuestion("x", "What does the person have?", options, "B")
    vignette = "A skier fell on ice. An X-ray shows a fracture of the tibia."
    assert SimilarityAnswerer(minilm).answers([vignette], [asked]) == ["B"]


def exam(number: int, **changed: Any) -> dict[str, Any]:
    told = f"Keeper {number} of a weir is 3{number} years old. He coughs. What does he need?"
    options = {"A": "Tea", "B": "Rest", "C": "Eels", "D": "Rust"}
    return {"id": f"exam-{number}", "question": told, "options": options, "answer_idx": "B", **changed}


def exams(folder: Path, *records: Mapping[str, Any]) -> Path:
    write_lines(folder / "data.jsonl", records)
    return folder


def test_a_vignette_is_a_record_without_its_question(tmp_path: Path) -> None:
    path = exams(tmp_path, exam(1), exam(2, question="What is rust?"))
    corpus = medqa(path, Selection())
    told = "Keeper 1 of a weir is 31 years old. He coughs."
    assert [(each.doc_id, each.text) for each in corpus.documents] == [("exam-1", told)]
    asked_of = [(each.text, each.answer, each.about) for each in corpus.questions]
    assert asked_of == [("What does he need?", "Rest", "exam-1")]
    (asked,) = choice_questions(path).values()
    assert (asked.options["C"], asked.right) == ("Eels", "B")
    assert "Eels" not in repr(asked) and "need" not in repr(asked)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"options": ["Tea"]}, "line 1: has no texts by letter in field 'options'; write"),
        ({"answer_idx": "E"}, "line 1: names a right answer that is none of its options"),
    ],
)
def test_a_broken_exam_is_named_by_its_place(tmp_path: Path, changed: dict[str, Any], message: str) -> None:
    with pytest.raises(UnreadableDocument, match=message):
        medqa(exams(tmp_path, exam(1, **changed)), Selection())


def test_the_first_records_are_for_development(tmp_path: Path) -> None:
    exams(tmp_path / "medqa", *(exam(number) for number in range(MEDQA_DEVELOPMENT + 2)))
    ids = ["exam-0", "exam-499", "exam-500", "exam-501"]
    found = exposures(tmp_path, "medqa", ids)
    assert list(found.values()) == [Exposure.LOOKED_AT] * 2 + [Exposure.UNSEEN] * 2
    assert set(exposures(tmp_path / "medqa", "medqa", ids).values()) == {Exposure.LOOKED_AT}


def test_a_set_is_like_itself_and_unlike_an_empty_one() -> None:
    texts = [Document(f"d{n}", f"heron {n} eats eel {n * 7} at the mill") for n in range(40)]
    task = Likeness(texts, WordEncoder())
    (same,) = rows(task, kept(texts))
    assert same.figures[MAUVE] == same.figures[SMOOTHED] == pytest.approx(1)
    words_of = {word for each in texts for word in each.text.split()}
    (other,) = rows(task, kept(texts, sorted(words_of, key=len, reverse=True)))
    assert other.figures[MAUVE] < 0.1
    assert (same.case, same.engine) == (WHOLE, "mauve[word-sum (test double)]")


class Plane:
    """The vectors of single letters, in a plane."""

    name = "plane (test double)"
    dim = 2
    max_tokens = 8

    def encode(self, texts: Sequence[str]) -> Vectors:
        places = {"e": (1.0, 0.0), "n": (0.0, 1.0), "x": (math.sqrt(0.5), math.sqrt(0.5)), "": (0.0, 1.0)}
        return np.array([places[text] for text in texts], np.float32)

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        return []


def test_the_class_with_the_nearest_mean_is_given_without_the_own_original() -> None:
    # East: e, e, x. North: n, n. The mean of the others of x is e; its cosine with x is .71, as is that of n,
    # and the first class is taken.
    documents = [Document(f"{n}", text) for n, text in enumerate("eexnn")]
    task = Classes(documents, {"0": "east", "1": "east", "2": "east", "3": "north", "4": "north"}, Plane())
    found = rows(task, kept(documents))
    assert [(row.figures[GIVEN], row.figures[OWN]) for row in found] == [(0, 0)] * 3 + [(1, 1)] * 2
    # What is removed falls north.
    (moved,) = task.rows(kept(documents, ["e"]), ["0"], no_progress)
    assert (moved.figures[GIVEN], moved.figures[OWN]) == (1, 0)
    # Alone in its class, a text has no other original to be near to.
    alone = Classes(documents[:2], {"0": "east", "1": "north"}, Plane())
    assert [row.figures[GIVEN] for row in rows(alone, kept(documents[:2]))] == [1, 0]


def test_the_presets_are_the_attacks_of_both_versions() -> None:
    plain = LinkageTask([HERON], LINKERS["bm25"](ENCODER))
    assert VERSION_1.on(plain, ENCODER).name == version_1([HERON]).name
    assert VERSION_2.on(plain, ENCODER).name == version_2([HERON], ENCODER).name
    assert PRESETS == {"1": VERSION_1, "2": VERSION_2}


def test_variations_differ_in_one_part_and_have_the_main_attack() -> None:
    found = report.variations(VERSION_2)
    assert [len(each) for each in found.values()] == [len(LINKERS), 3, 2, MOST_KNOWN]
    assert all(VERSION_2 in found[part] for part in ("linker", "choice", "words"))
    assert {each.choice for each in found["known"]} == {"last"}
    with pytest.raises(ConfigurationError, match="no linker 'kiln': the names are rouge, bm25, "):
        Attack("kiln")
    with pytest.raises(ConfigurationError, match="ask for 1 to 5"):
        Attack(k=6)


def test_details_are_whole_words_wherever_they_stand() -> None:
    document = Document("d", "Ada, 40, met Ada's aunt. Adam is 140.")
    name: dict[str, object] = {"text": "Ada", "label": "person full name"}
    age: dict[str, object] = {"start": 5, "end": 7, "label": "person age"}
    assert report.detail_spans(document, [name, age]) == [Span(0, 3), Span(5, 7), Span(13, 16)]


def test_the_sample_is_drawn_from_what_is_held_out(tmp_path: Path) -> None:
    path = exams(tmp_path / "medqa", *(exam(number) for number in range(MEDQA_DEVELOPMENT + 8)))
    chosen = Selection(most_documents=8)
    found = material("medqa", path, chosen, lambda ids: [f"public {each}" for each in ids], tmp_path)
    ids = [each.doc_id for each in found.corpus.documents]
    assert ids == [f"public exam-{number}" for number in range(500, 508)]
    assert set(found.exam) == set(ids) and all(found.exam[each].about == each for each in ids)
    assert not found.details and not found.classes
    assert "8 of 8 documents are drawn" in found.corpus.split


def test_classes_of_conversations_are_their_sections(tmp_path: Path) -> None:
    said = "He has had a cough for {} days and does not sleep. He rows."
    records = [
        {"id": f"talk-{n}", "dialogue": f"Doctor: Cough {n}?", "note_section": said.format(n)}
        | {"section_header": "HISTORY" if n < 5 else "PLAN"}
        for n in range(9)
    ]
    found = material("mts_dialog", exams(tmp_path, *records), Selection(), list)
    assert found.classes == {f"talk-{number}": "HISTORY" for number in range(5)}


def test_published_figures_are_whole() -> None:
    printed = words("linkage")
    widths = {name: {len(row) for row in rows.values()} for name, rows in printed.items()}
    assert widths == {"medqa": {7}, "wildchat": {7}, "linkage": {7}, "linkage_version_1": {3}}
    # The attack is strongest on what was not sanitized, in the paper too.
    for table in ("linkage", "linkage_version_1"):
        first, *others = printed[table].values()
        assert all(first[0] >= other[0] for other in others)
