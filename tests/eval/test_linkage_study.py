"""What the linkage study adds to the attack: its parts, and what stays useful. All texts are invented."""

import json
import math
from collections.abc import Mapping, Sequence
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
from eval.studies.linkage.report import (
    LINKERS,
    PRESETS,
    VERSION_1,
    VERSION_2,
    Attack,
    WholeText,
    detail_spans,
    material,
    variations,
)
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
from tests.doubles import PhraseDetector, WordEncoder
from tests.hashing_encoder import HashingEncoder

ENCODER: Encoder = HashingEncoder()
HERON = Document("heron", "The heron eats 3 eels. The mill is shut.")
OTTER = Document("otter", "The otter sleeps. The mill burns.")


def kept(
    documents: Sequence[Document], phrases: Sequence[str] = (), method: Method = SUPPRESS
) -> SanitizedCorpus:
    detector = PhraseDetector(dict.fromkeys(phrases, "job title"))
    done = DecidingSanitizer(detector, method, RiskPrior()).sanitize(documents)
    there = [each for each in done if isinstance(each, SanitizedDocument)]

    def retriever(encoder: Encoder) -> object:
        raise AssertionError("nothing is asked")

    return SanitizedCorpus("s", len(there), {}, {}, retriever, there)  # type: ignore[arg-type]


# -- what stays ------------------------------------------------------------------------------------------


def test_facts_and_claims_kept_by_hand() -> None:
    # Facts: heron, eat, 3, eel, mill, shut. Without "heron" and "3" four of six are left. The first claim has
    # two of its four words (2 of 4 is above .4, below .8): said in part. The second is said.
    task = Kept([HERON, OTTER])
    first, _ = task.rows(kept(task.documents, ["heron", "3"]), task.cases, no_progress)
    assert first.figures[keeping.FACTS] == pytest.approx(4 / 6)
    # The other document says one of them, the mill.
    assert first.figures[keeping.CHANCE] == pytest.approx(1 / 6)
    counted = [first.figures[name] for name in (keeping.CLAIMS, keeping.SAID, keeping.SAID_PARTLY)]
    assert counted == [2, 1, 2]


def test_an_unsanitized_document_keeps_everything_and_an_empty_one_nothing() -> None:
    task = Kept([HERON, OTTER])
    for row in task.rows(kept(task.documents), task.cases, no_progress):
        assert row.figures[keeping.FACTS] == 1
        assert row.figures[keeping.SAID] == row.figures[keeping.CLAIMS] == 2
    emptied = DecidingSanitizer(WholeText(), SUPPRESS, RiskPrior()).sanitize(task.documents)
    assert [each.text for each in emptied if isinstance(each, SanitizedDocument)] == ["", ""]
    corpus = SanitizedCorpus("s", 2, {}, {}, None, emptied)  # type: ignore[arg-type]
    for row in task.rows(corpus, task.cases, no_progress):
        assert row.figures[keeping.FACTS] == row.figures[keeping.SAID_PARTLY] == 0


def test_a_single_document_has_no_other_one_and_an_empty_one_no_facts() -> None:
    (row,) = Kept([HERON]).rows(kept([HERON]), ["heron"], no_progress)
    assert keeping.CHANCE not in row.figures
    (row,) = Kept([Document("empty", "")]).rows(kept([Document("empty", "")]), ["empty"], no_progress)
    assert row.figures == {keeping.CLAIMS: 0, keeping.SAID: 0, keeping.SAID_PARTLY: 0}


def test_what_was_not_sanitized_is_not_measured() -> None:
    corpus = SanitizedCorpus("s", 0, {"heron": "Broken"}, {}, None)  # type: ignore[arg-type]
    tasks: list[Task] = [
        Kept([HERON, OTTER]),
        Choices([question("heron"), question("otter")], Fixed("A")),
        Classes([HERON, OTTER], {"heron": "birds", "otter": "mammals"}, ENCODER),
    ]
    for task in tasks:
        failures = [row.failure for row in task.rows(corpus, task.cases, no_progress)]
        assert failures == ["Broken", "not sanitized"], task.name
    (row,) = Likeness([HERON, OTTER], ENCODER).rows(corpus, [WHOLE], no_progress)
    assert not row.measured


@given(st.lists(st.sampled_from(["heron", "mill", "eels", "shut", "3"]), unique=True))
def test_hiding_more_keeps_no_more(hidden: list[str]) -> None:
    task = Kept([HERON])

    def share(phrases: Sequence[str]) -> float:
        (row,) = task.rows(kept([HERON], phrases), ["heron"], no_progress)
        return row.figures[keeping.FACTS]

    shares = [share(hidden[:count]) for count in range(len(hidden) + 1)]
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] == pytest.approx(1 - len(hidden) / 6)


# -- exams -----------------------------------------------------------------------------------------------


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
    ("answer", "right", "unanswered"), [("b. Because", 1, 0), ("A", 0, 0), ("Both", 0, 1)]
)
def test_an_answer_is_its_first_letter(answer: str, right: int, unanswered: int) -> None:
    (row,) = Choices([question("heron")], Fixed(answer)).rows(kept([HERON]), ["heron"], no_progress)
    assert row.figures == {RIGHT: right, UNANSWERED: unanswered, OPTIONS: 4}


def test_the_nearest_option_is_answered_and_depends_on_the_document() -> None:
    answerer = SimilarityAnswerer(ENCODER)
    asked = [question("heron"), question("loom")]
    assert answerer.answers([HERON.text, "A loom, a loom, a loom."], asked) == ["B", "C"]
    questions = [question("heron"), question("otter")]
    task = Choices(questions, answerer)
    rows = list(task.rows(kept([HERON, OTTER]), ["heron"], no_progress))
    assert [(row.case, row.figures[RIGHT]) for row in rows] == [("heron", 1)]


def test_the_embedded_encoder_takes_the_option_that_the_vignette_speaks_of(minilm: Encoder) -> None:
    options = {"A": "Repair of a bicycle", "B": "A broken leg", "C": "Baking of bread", "D": "A tax form"}
    asked = ChoiceQuestion("x", "What does the person have?", options, "B")
    vignette = "A skier fell on ice. An X-ray shows a fracture of the tibia."
    assert SimilarityAnswerer(minilm).answers([vignette], [asked]) == ["B"]


def exam(number: int, **changed: Any) -> dict[str, object]:
    record: dict[str, object] = {
        "id": f"exam-{number}",
        "question": f"Keeper {number} of a weir is 3{number} years old. He coughs. What does he need?",
        "options": {"A": "Tea", "B": "Rest", "C": "Eels", "D": "Rust"},
        "answer_idx": "B",
    }
    return record | changed


def exams(folder: Path, *records: Mapping[str, object]) -> Path:
    (folder / "data.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in records))
    return folder


def test_a_vignette_is_a_record_without_its_question(tmp_path: Path) -> None:
    path = exams(tmp_path, exam(1), exam(2, question="What is rust?"))
    corpus = medqa(path, Selection())
    assert [(each.doc_id, each.text) for each in corpus.documents] == [
        ("exam-1", "Keeper 1 of a weir is 31 years old. He coughs.")
    ]
    assert [(each.text, each.answer, each.about) for each in corpus.questions] == [
        ("What does he need?", "Rest", "exam-1")
    ]
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
def test_a_broken_exam_is_named_by_its_place(
    tmp_path: Path, changed: dict[str, object], message: str
) -> None:
    with pytest.raises(UnreadableDocument, match=message):
        medqa(exams(tmp_path, exam(1, **changed)), Selection())


def test_the_first_records_are_for_development(tmp_path: Path) -> None:
    (tmp_path / "medqa").mkdir()
    exams(tmp_path / "medqa", *(exam(number) for number in range(MEDQA_DEVELOPMENT + 2)))
    ids = ["exam-0", "exam-499", "exam-500", "exam-501"]
    found = exposures(tmp_path, "medqa", ids)
    assert list(found.values()) == [Exposure.LOOKED_AT] * 2 + [Exposure.UNSEEN] * 2
    assert set(exposures(tmp_path / "medqa", "medqa", ids).values()) == {Exposure.LOOKED_AT}


# -- sets ------------------------------------------------------------------------------------------------


def test_a_set_is_like_itself_and_unlike_an_empty_one() -> None:
    texts = [Document(f"d{n}", f"heron {n} eats eel {n * 7} at the mill") for n in range(40)]
    task = Likeness(texts, WordEncoder())
    (same,) = task.rows(kept(texts), task.cases, no_progress)
    assert same.figures[MAUVE] == same.figures[SMOOTHED] == pytest.approx(1)
    words_of = {word for each in texts for word in each.text.split()}
    (other,) = task.rows(kept(texts, sorted(words_of, key=len, reverse=True)), task.cases, no_progress)
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
    classes = dict(zip("01234", ["east", "east", "east", "north", "north"], strict=True))
    task = Classes(documents, classes, Plane())
    rows = list(task.rows(kept(documents), task.cases, no_progress))
    assert [row.figures[GIVEN] for row in rows] == [0, 0, 0, 1, 1]
    assert [row.figures[OWN] for row in rows] == [0, 0, 0, 1, 1]
    # What is removed falls north.
    (moved,) = task.rows(kept(documents, ["e"]), ["0"], no_progress)
    assert (moved.figures[GIVEN], moved.figures[OWN]) == (1, 0)
    # Alone in its class, a text has no other original to be near to.
    alone = Classes(documents[:2], {"0": "east", "1": "north"}, Plane())
    assert [row.figures[GIVEN] for row in alone.rows(kept(documents[:2]), ["0"], no_progress)] == [1]


# -- attacks and material --------------------------------------------------------------------------------


def test_the_presets_are_the_attacks_of_both_versions() -> None:
    plain = LinkageTask([HERON], LINKERS["bm25"](ENCODER))
    assert VERSION_1.on(plain, ENCODER).name == version_1([HERON]).name
    assert VERSION_2.on(plain, ENCODER).name == version_2([HERON], ENCODER).name
    assert PRESETS == {"1": VERSION_1, "2": VERSION_2}


def test_an_unknown_linker_or_number_of_claims_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="no linker 'kiln': the names are rouge, bm25, "):
        Attack("kiln")
    with pytest.raises(ConfigurationError, match="ask for 1 to 5"):
        Attack(k=6)


def test_variations_differ_in_one_part_and_have_the_main_attack() -> None:
    found = variations(VERSION_2)
    assert [len(each) for each in found.values()] == [len(LINKERS), 3, 2, MOST_KNOWN]
    assert all(VERSION_2 in found[part] for part in ("linker", "choice", "words"))
    assert {each.choice for each in found["known"]} == {"last"}


def test_details_are_whole_words_wherever_they_stand() -> None:
    document = Document("d", "Ada, 40, met Ada's aunt. Adam is 140.")
    rows: list[dict[str, object]] = [
        {"text": "Ada", "label": "person full name"},
        {"start": 5, "end": 7, "label": "person age"},
    ]
    assert detail_spans(document, rows) == [Span(0, 3), Span(5, 7), Span(13, 16)]


def test_the_sample_is_drawn_from_what_is_held_out(tmp_path: Path) -> None:
    (tmp_path / "medqa").mkdir()
    path = exams(tmp_path / "medqa", *(exam(number) for number in range(MEDQA_DEVELOPMENT + 8)))

    def numbered(ids: Sequence[str]) -> list[str]:
        return [f"public {each}" for each in ids]

    found = material("medqa", path, Selection(most_documents=8), numbered, tmp_path)
    ids = [each.doc_id for each in found.corpus.documents]
    assert ids == [f"public exam-{number}" for number in range(500, 508)]
    assert set(found.exam) == set(ids) and all(found.exam[each].about == each for each in ids)
    assert not found.details and not found.classes
    assert "8 of 8 documents are drawn" in found.corpus.split


def test_classes_of_conversations_are_their_sections(tmp_path: Path) -> None:
    sections = ["HISTORY"] * 5 + ["PLAN"] * 4
    records = [
        {
            "id": f"talk-{number}",
            "dialogue": f"Doctor: Cough {number}?",
            "note_section": f"He has had a cough for {number} days and does not sleep. He rows.",
            "section_header": section,
        }
        for number, section in enumerate(sections)
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


def test_rows_of_new_tasks_hold_numbers_only() -> None:
    corpus = kept([HERON, OTTER], method=ORIGIN)
    tasks: list[Task] = [
        Kept([HERON, OTTER]),
        Choices([question("heron")], Fixed("Eels")),
        Classes([HERON, OTTER], {"heron": "birds", "otter": "mammals"}, ENCODER),
        Likeness([HERON, OTTER], ENCODER),
    ]
    for task in tasks:
        found: list[Row] = list(task.rows(corpus, task.cases, no_progress))
        shown = json.dumps([row.model_dump(mode="json") for row in found]) + repr(task)
        assert not any(word in shown for word in ("eels", "sleeps", "mill", "kiln", "birds", "What eats"))
