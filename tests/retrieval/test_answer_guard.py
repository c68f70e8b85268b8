"""What an answer may say when it leaves. All names, numbers and passages are invented."""

import json
import re
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.demo import corpus_path
from app.server.app import assemble
from app.server.served import ServedCollection
from ingest.deciding.baselines.uniform import REDACT
from ingest.detection.hybrid import HybridDetector
from ingest.documents import Document, Entity, SanitizedDocument
from ingest.errors import SanitizationError
from ingest.sanitize import DecidingSanitizer
from ingest.scoring.prior import RiskPrior
from models.errors import ConfigurationError
from retrieval.citations import NO_ANSWER
from retrieval.documents import Answer, Citation, RetrievedPassage
from retrieval.generators.extractive import ExtractiveGenerator
from retrieval.guards.answers import (
    AHEAD,
    LEFT_OUT,
    WITHHELD,
    AnswerGuard,
    AnswerRules,
    Canaries,
    GuardedAnswers,
    canaries_in,
)
from retrieval.guards.questions import OneAtATime
from retrieval.writing import Writing, at_once, filtered, whole
from tests.doubles import PhraseDetector, entity
from tests.serving import One, no_detector
from tests.word_reader import word_reader
from tests.writing import found as passages

NAMES = {"Mara Vell": "person full name", "Tobin Aske": "person full name", "01632 960 014": "phone number"}


def finding(phrases: dict[str, str]) -> DecidingSanitizer:
    return DecidingSanitizer(PhraseDetector(phrases), REDACT, RiskPrior(), language="any")


SANITIZER = finding(NAMES)
PATTERNS = AnswerRules(DecidingSanitizer(HybridDetector(), REDACT, RiskPrior()))
VALID = re.compile(r"\[[12](?:\s*[,;]\s*[12])*\]")
"""A mark of one of two passages."""
CANARY = "QX-4471-90210"


class Numbers:
    """Finds all numbers; such that follow one another are one."""

    name = "numbers (test double)"

    def detect(self, documents: Sequence[Document]) -> list[list[Entity]]:
        return [
            [entity(*found.span(), "phone number") for found in re.finditer(r"\d+(?:[ -]\d+)*", each.text)]
            for each in documents
        ]


NUMBERED = AnswerRules(DecidingSanitizer(Numbers(), REDACT, RiskPrior()))


def never() -> DecidingSanitizer:
    raise AssertionError("nothing is detected here")


class Reading:
    """A sanitizer that notes what it reads."""

    name = "reading (test double)"

    def __init__(self, read: list[str]) -> None:
        self._read = read

    def sanitize(self, documents: Sequence[Document]) -> list[SanitizedDocument | SanitizationError]:
        self._read.extend(each.text for each in documents)
        return SANITIZER.sanitize(documents)


def out_of(text: str, *texts: str, rules: AnswerRules | None = None, cuts: Sequence[int] = ()) -> str:
    guard = AnswerGuard(rules or AnswerRules(SANITIZER), passages(*texts))
    ends = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [guard.feed(text[start:end]) for start, end in zip(ends, ends[1:], strict=False)]
    return "".join(pieces) + guard.close()


def test_a_name_that_no_passage_says_is_replaced_as_the_policy_does() -> None:
    said = out_of("The patient is Mara Vell [1]. Call 01632 960 014.", "Somebody is ill.")
    assert said == "The patient is somebody [1]. Call a phone number."
    assert out_of("The patient is Ma\u200bra\u00ad Vell.") == "The patient is somebody."
    told = "Please write to {} about it [1]."
    said = out_of(told.format("mara.vell@post.example"), "Please write about it.", rules=PATTERNS)
    assert said == told.format("an email address")
    longer = AnswerRules(finding({"Mara A. Vell? Jones": "person full name"}))
    assert out_of("It is Mara A. Vell? Jones who coughs.", rules=longer) == "It is somebody who coughs."


def test_what_a_passage_says_word_for_word_stays() -> None:
    signed = "Tobin Aske signed it [1]."
    assert out_of(signed, "It was read.\nTobin\nAske, clerk.") == signed
    assert "Aske" not in out_of(signed, "Aske, Tobin signed it.")
    assert out_of(NO_ANSWER) == NO_ANSWER


def test_what_stands_in_a_passage_alone_needs_no_detector() -> None:
    rules, texts = AnswerRules(OneAtATime(never)), ("So the cough went away. Then", "It came back.")
    text = "the cough went away [1]. It came back [2]."
    assert out_of(text, *texts, rules=rules) == text
    text = "It was Mara. Vell. Yes. He said so [1]."
    assert out_of(text, "It was Mara. Vell. Yes. He said so.", rules=rules) == text
    with pytest.raises(AssertionError):
        out_of("It went back.", *texts, rules=rules)


NO_MARKS = (
    "[078] [051] [120]. ",
    "[078][051][120].",
    "[078, 051;120].",
    "[0780] [51120]. ",
    "[1, 078] [051120].",
)  # fmt: skip


@pytest.mark.parametrize("text", NO_MARKS)
def test_no_number_leaves_in_brackets_that_mark_no_passage(text: str) -> None:
    for found, begun in product([(), ("Somebody is ill.",)], ["", "Call ", "Somebody is ill [1]. "]):
        left = VALID.sub(" ", out_of(begun + text, *found, rules=NUMBERED))
        assert not re.search("[02-9]", left)


@pytest.mark.parametrize(
    "text", ["[078] [051] [120]. ", "[078] [1] [051] [1][1] [120]. ", "[078, 051, 120]. "]
)
def test_patterns_find_a_number_that_is_written_as_marks(text: str) -> None:
    assert out_of(f"Call {text}", "Somebody is ill.", rules=PATTERNS) == "Call [a phone number]. "


@pytest.mark.parametrize("mark", ["[1]", "[0]", "[2]", "[01]", "[1, 2]"])
def test_only_numbers_of_passages_are_marks(mark: str) -> None:
    said = out_of(f"Somebody is ill {mark}.", "Somebody is ill.", rules=NUMBERED)
    assert said == f"Somebody is ill {mark if mark == '[1]' else '[a phone number]'}."


@pytest.mark.parametrize("between", [" [1] ", " [1] [2][1, 2] ", "[1]"])
def test_a_name_put_together_from_two_passages_around_a_mark_is_replaced(between: str) -> None:
    text = f"Mara{between}Vell."
    assert out_of(f"It was {text}", "Mara wrote it.", "So did Vell.") == "It was somebody."
    assert out_of(text, "Mara", "Vell") == "Somebody."
    assert out_of(text, "Mara Vell", "Vell") == text


def test_dots_and_marks_make_no_quotation_of_words_that_no_passage_has_together() -> None:
    dots = AnswerRules(finding({"Mara…Vell": "person full name"}))
    assert out_of("Mara…Vell coughs", "Mara", "Vell coughs", rules=dots) == "Somebody coughs"
    joined = AnswerRules(finding({"Maravell": "person full name"}))
    assert out_of("It was Mara[1]vell.", "It was Mara vell.", rules=joined) == "It was somebody."
    assert out_of("It was Mara [1]vell.", "It was Mara vell.", rules=joined) == "It was Mara [1]vell."


INSIDE = {
    "somebody": ("Ma[1]ra Vell", "Mara Ve[2]ll", "M[1]a[1]r[1]a V[1]e[1]l[1]l", "Ma[1][2]ra Vell")
    + ("Ma[1, 2]ra Vell", "Ma[7]ra Vell", "Ma[1]ra[2]Vell", "Mara[1]Ve[1]ll"),
    "a phone number": ("01632 9[1]60 014", "01632 960[1] 014", "01632[1]960[2]014"),
    "an email address": ("mara.vell@[1]post.example", "mara[1].vell@post.example"),
}


@pytest.mark.parametrize(("kind", "written"), [(kind, each) for kind in INSIDE for each in INSIDE[kind]])
def test_a_mark_inside_a_word_hides_nothing(kind: str, written: str) -> None:
    rules = PATTERNS if "@" in written else AnswerRules(SANITIZER)
    said = out_of(f"Please call {written} today.", "Somebody is ill.", "It was read.", rules=rules)
    assert said == f"Please call {kind} today."


def test_the_detector_reads_what_stands_before_and_nothing_twice_for_a_mark() -> None:
    read: list[str] = []
    out_of("It is the first. It is the second.", rules=AnswerRules(Reading(read)))
    assert read == ["It is the first. It is the second."] * 2
    read.clear()
    marked = "It went away[1]. So it did [2], again[1], twice."
    out_of(marked, "No.", "Nobody.", rules=AnswerRules(Reading(read)))
    assert read and not [text for text in read if "away. So" in text]


@settings(max_examples=60)
@given(st.lists(st.integers(0, len("Mara Vell")), max_size=3), st.sampled_from(["[1]", "[2]", "[1, 2]"]))
def test_no_three_marks_hide_a_name_wherever_they_stand(places: list[int], mark: str) -> None:
    written = "Mara Vell"
    for place in sorted(places, reverse=True):
        written = written[:place] + mark + written[place:]
    said = out_of(f"The patient is {written} today.", "Mara was read.", "Vell said so.")
    assert "Mara Vell" not in VALID.sub("", said)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mara. Vell.", "Somebody."),
        ("Mara [1]. Vell [2].", "Somebody [2]."),
        ("Mara. Vell [1] said so.", "Somebody [1] said so."),
        ("It was Mara, they say. Mara. Vell.", "It was Mara, they say. somebody."),
        ("Mara!\n- Vell\n", "Somebody\n"),
        ("Yes. No. Mara. Vell. Good.", "Yes. No. somebody. Good."),
        ("The patient is Mara. Vell. He is ill.", "The patient is Mara. somebody. He is ill."),
    ],
)
def test_short_sentences_side_by_side_are_judged_as_one(text: str, expected: str) -> None:
    found = ("Mara was here. Mara.", "Vell said so. Vell.", "It was Mara, they say.", "Yes. No.", "Good.")
    assert out_of(text, *found, "The patient is Mara.", "Vell. He is ill.") == expected


def test_a_short_sentence_waits_for_the_next_and_no_longer() -> None:
    guard = AnswerGuard(AnswerRules(SANITIZER), passages("Yes. It is so, he said."))
    assert guard.feed("Yes. " + " " * AHEAD) == ""
    assert guard.feed("It is so, he said. ") == ""
    assert guard.feed("x" * AHEAD) == "Yes. " + " " * AHEAD + "It is so, he said."
    assert guard.close() == " " + "x" * AHEAD


def test_no_canary_leaves_however_it_is_written() -> None:
    rules = AnswerRules(SANITIZER, Canaries([CANARY, "blanket orchard violin stamp"]))
    spaced = ("Q X - 4 4 7 1 - 9 0 2 1 0", "\uff31X-4471-90210", "QX-4471-\n90210")
    for written in (CANARY, "qx 4471 90210", *spaced):
        said = out_of(f"The number is {written}, they say.", f"The number is {CANARY}.", rules=rules)
        assert said == f"The number is {WITHHELD}, they say."
    assert "orchard" not in out_of("It is blanket. Orchard. Violin stamp!", rules=rules)


def test_a_quotation_ends_where_it_is_longer_than_allowed() -> None:
    passage, rules = "one two three four five six seven eight", AnswerRules(SANITIZER, quote=3)
    said = out_of(f"It says: {passage} [1]. So there.", passage, rules=rules)
    assert said == f"It says: one two three {LEFT_OUT}[1] So there."
    assert out_of("One, two; THREE. Four [1]", passage, rules=rules) == f"One, two; THREE. {LEFT_OUT}[1]"
    assert out_of(NO_ANSWER, passage, rules=rules) == NO_ANSWER
    assert out_of(passage, passage) == passage


def test_what_cannot_be_checked_is_withheld() -> None:
    class Refusing:
        name = "refusing"

        def sanitize(self, documents: Sequence[Document]) -> list[SanitizedDocument | SanitizationError]:
            return [SanitizationError(each.doc_id, "detection failed (KeyError)") for each in documents]

    said = out_of("Mara is ill. Somebody is well.", "Somebody is well.", rules=AnswerRules(Refusing()))
    assert said == f"{WITHHELD}  Somebody is well."


def guarded(answer: Answer, rules: AnswerRules) -> Answer:
    return whole(filtered(at_once(answer), AnswerGuard(rules, answer.passages)))


def test_citations_go_with_their_marks() -> None:
    texts = passages("one two three four", "five")
    cited = (Citation(1, 1, "d1"), Citation(2, 2, "d2"))
    answer = Answer("one two three four [1] five [2]", cited, texts, "x")
    assert guarded(answer, AnswerRules(SANITIZER)) == answer
    left = guarded(answer, AnswerRules(SANITIZER, Canaries(["fourfive"])))
    assert (left.text, left.citations) == (f"one two three {WITHHELD} [2]", cited[1:])


def test_the_canaries_of_a_file_are_read_and_faults_are_said(tmp_path: Path) -> None:
    file = tmp_path / "canaries.txt"
    file.write_text(f"{CANARY}\n\nviolin stamp\n")
    assert [span.start for span in canaries_in(file).spans("a violin stamp")] == [2]
    for text, message in (
        ("\n", "generator.canaries holds none: write one in each line."),
        ("a-b\n", "A canary has 6 to 200 letters and digits, and one given has not"),
        (None, "generator.canaries is no text file in UTF-8 that can be read."),
    ):
        file.unlink() if text is None else file.write_text(text)
        with pytest.raises(ConfigurationError) as caught:
            canaries_in(file)
        assert str(caught.value).startswith(message)


PIECES = st.sampled_from(
    [*NAMES, "Mara", "Vell", "Ma", "ra Vell", " ", " ", "\n", ". ", "? ", "[1]", "[2, 1]", "Dr. ", "one two"]
    + [" three four", "five", CANARY, "QX-4471", "-90210", "\r", "\r\n", "e", "\u0301", "\u200b", "a" * 97]
    + ["\u4f60\u597d\u3002", "\U0001f600", "no end of words " * 30, "\u4f60" * 300]
)
TEXTS = st.lists(PIECES, max_size=25).map("".join) | st.text(max_size=200)
RULES = [AnswerRules(SANITIZER), AnswerRules(SANITIZER, Canaries([CANARY, "violin stamp"]), quote=3)]
PASSAGES = ("one two three four five six", "Tobin Aske has a cough.")


@settings(max_examples=150)
@given(TEXTS, st.lists(st.integers(0, 1500), max_size=30), st.sampled_from(RULES))
def test_the_output_does_not_depend_on_the_cuts(text: str, cuts: list[int], rules: AnswerRules) -> None:
    assert out_of(text, *PASSAGES, rules=rules, cuts=cuts) == out_of(text, *PASSAGES, rules=rules)


NUMERIC = ("Ring 078 or 44, it says.", "The code is 051, twice.")
NUMBERS = st.sampled_from(["1", "2", "3", "12", "44", "078", "051", "120", "4410"]) | st.integers(0).map(str)
BRACKETS = st.lists(NUMBERS, min_size=1, max_size=4).flatmap(
    lambda numbers: st.sampled_from([",", ", ", " ; ", ",\n", "][", "] ["]).map(
        lambda comma: f"[{comma.join(numbers)}]"
    )
)
AROUND = ["[", "]", " ", ". ", "-", "\n", "…", "Ring 078", "code is 051", "it"]
NUMERIC_TEXTS = st.lists(BRACKETS | NUMBERS | st.sampled_from(AROUND), max_size=20).map("".join)


@settings(max_examples=300)
@example("[1]1it[1] [1]1", [], None)
@given(NUMERIC_TEXTS, st.lists(st.integers(0, 300), max_size=10), st.sampled_from([None, 2]))
def test_no_number_that_stands_in_no_passage_leaves_but_in_a_mark(
    text: str, cuts: list[int], quote: int | None
) -> None:
    rules = AnswerRules(DecidingSanitizer(Numbers(), REDACT, RiskPrior()), quote=quote)
    said = out_of(text, *NUMERIC, rules=rules, cuts=cuts)
    assert said == out_of(text, *NUMERIC, rules=rules)
    assert set(re.findall(r"\d+", VALID.sub(" ", said))) <= set(re.findall(r"\d+", " ".join(NUMERIC)))


@pytest.mark.parametrize("rules", RULES, ids=["policy", "all rules"])
def test_no_single_cut_and_no_even_pieces_change_the_output(rules: AnswerRules) -> None:
    text = (
        "The patient is Mara\r\nVell, Dr. Tobin Aske says [1]. one two three four five six! "
        f"Call 01632 960 014?\ne\u0301 {CANARY} \u4f60\u597d\u3002 Mara Vell"
    )
    whole = out_of(text, *PASSAGES, rules=rules)
    assert "Mara Vell" not in whole and "960" not in whole
    for cut in range(len(text) + 1):
        assert out_of(text, *PASSAGES, rules=rules, cuts=[cut]) == whole
    for size in range(1, 20):
        assert out_of(text, *PASSAGES, rules=rules, cuts=range(size, len(text), size)) == whole


@given(TEXTS)
def test_what_is_held_back_is_bounded(text: str) -> None:
    guard = AnswerGuard(AnswerRules(SANITIZER), passages(text))
    for place in range(len(text)):
        guard.feed(text[place])
        assert len(guard._raw) <= 256 and len(guard._text) <= 400 + guard.ahead


@given(st.lists(st.sampled_from([*NAMES, " and ", ". ", "\n", "x" * 390]), max_size=12).map("".join))
def test_no_name_survives_where_no_passage_has_it(text: str) -> None:
    said = out_of(text, "Somebody is ill.")
    assert not [name for name in NAMES if f" {name} " in f" {said} "]


def test_what_the_extractive_generator_quotes_leaves_as_it_is() -> None:
    generator = ExtractiveGenerator(word_reader, floor=-1.0)
    texts = [json.loads(line).get("text", "") for line in corpus_path().read_text("utf-8").splitlines()]
    for number in range(0, 60, 3):
        shown = passages(*(text[:600] for text in texts[number : number + 3]))
        answer = whole(generator.write("Who is ill, and since when?", shown))
        assert guarded(answer, AnswerRules(SANITIZER)) == answer


class Told:
    """Finds the same and says the same to everybody."""

    name = "told"

    def retrieve(self, questions: Sequence[str], k: int) -> list[list[RetrievedPassage]]:
        return [passages("Somebody is ill.") for _ in questions]

    def write(self, question: str, found: Sequence[RetrievedPassage]) -> Writing:
        said = "It is Mara Vell [1]. Call 01632 960 014 at once."
        return at_once(Answer(said, [Citation(1, 1, "d1")], found, self.name))


@pytest.mark.parametrize("stream", [False, True])
def test_no_event_of_a_stream_holds_what_the_guard_has_replaced(stream: bool) -> None:
    one = One(Told())
    answers = GuardedAnswers(Told(), AnswerRules(SANITIZER))
    one._served = ServedCollection(lambda groups: Told(), answers, 5, Told())
    body = {"model": "lethe", "messages": [{"role": "user", "content": "Who?"}], "stream": stream}
    with TestClient(assemble(one, no_detector), base_url="http://127.0.0.1") as client:
        said = client.post("/v1/chat/completions", json=body).text
    said = "".join(re.findall(r'"content":\s?"([^"]*)"', said))
    assert said == "It is somebody [1]. Call a phone number at once."
