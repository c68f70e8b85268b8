"""What an answer may say when it leaves. All names, numbers and passages are invented."""

import json
import re
from collections.abc import Sequence
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
from retrieval.documents import Answer, Citation, Passage, RetrievedPassage
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

NAMES = {"Mara Vell": "person full name", "Tobin Aske": "person full name", "01632 960 014": "phone number"}
SANITIZER = DecidingSanitizer(PhraseDetector(NAMES), REDACT, RiskPrior(), language="any")
CANARY = "QX-4471-90210"


VALID = re.compile(r"\[[12](?:\s*[,;]\s*[12])*\]")
"""A mark of one of two passages."""


class Numbers:
    """Finds all numbers; such that follow one another are one."""

    name = "numbers (test double)"

    def detect(self, documents: Sequence[Document]) -> list[list[Entity]]:
        return [
            [entity(*found.span(), "phone number") for found in re.finditer(r"\d+(?:[ -]\d+)*", each.text)]
            for each in documents
        ]


class Reading:
    """A sanitizer that notes what it reads."""

    name = "reading (test double)"

    def __init__(self, read: list[str]) -> None:
        self._read = read

    def sanitize(self, documents: Sequence[Document]) -> list[SanitizedDocument | SanitizationError]:
        self._read.extend(each.text for each in documents)
        return SANITIZER.sanitize(documents)


def passages(*texts: str) -> list[RetrievedPassage]:
    return [
        RetrievedPassage(Passage(n, f"d{n}", 0, len(text), text), 0.5)
        for n, text in enumerate(texts, start=1)
    ]


def out_of(text: str, *texts: str, rules: AnswerRules | None = None, cuts: Sequence[int] = ()) -> str:
    guard = AnswerGuard(rules or AnswerRules(SANITIZER), passages(*texts))
    ends = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [guard.feed(text[start:end]) for start, end in zip(ends, ends[1:], strict=False)]
    return "".join(pieces) + guard.close()


def test_a_name_that_no_passage_says_is_replaced_as_the_policy_does() -> None:
    said = out_of("The patient is Mara Vell [1]. Call 01632 960 014.", "Somebody is ill.")
    assert said == "The patient is somebody [1]. Call a phone number."


def test_what_a_passage_says_word_for_word_stays() -> None:
    assert (
        out_of("Tobin Aske signed it [1].", "It was read.\nTobin\nAske, clerk.")
        == "Tobin Aske signed it [1]."
    )
    assert "Aske" not in out_of("Tobin Aske signed it [1].", "Aske, Tobin signed it.")
    assert out_of(NO_ANSWER) == NO_ANSWER


def test_what_stands_in_a_passage_alone_needs_no_detector() -> None:
    def never() -> DecidingSanitizer:
        raise AssertionError("nothing is detected here")

    text = "the cough went away [1]. It came back [2]."
    texts = ("So the cough went away. Then", "It came back.")
    assert out_of(text, *texts, rules=AnswerRules(OneAtATime(never))) == text
    with pytest.raises(AssertionError):
        out_of("It went back.", *texts, rules=AnswerRules(OneAtATime(never)))


def test_a_number_in_brackets_that_marks_no_passage_is_no_mark() -> None:
    rules = AnswerRules(DecidingSanitizer(PhraseDetector({"214": "phone number"}), REDACT, RiskPrior()))
    assert "214" not in out_of("His room is [214], he said.", "Somebody is ill.", rules=rules)


NO_MARKS = (
    "[078] [051] [120]. ",
    "[078][051][120].",
    "[078, 051;120].",
    "[0780] [51120]. ",
    "[1, 078] [051120].",
)


@pytest.mark.parametrize("text", NO_MARKS)
@pytest.mark.parametrize("found", [(), ("Somebody is ill.",)], ids=["no passage", "one passage"])
def test_no_number_leaves_in_brackets_that_mark_no_passage(text: str, found: Sequence[str]) -> None:
    rules = AnswerRules(DecidingSanitizer(Numbers(), REDACT, RiskPrior()))
    for said in (text, f"Call {text}", f"Somebody is ill [1]. {text}"):
        left = VALID.sub(" ", out_of(said, *found, rules=rules))
        assert not re.search("[02-9]", left)


def test_patterns_find_a_number_that_is_written_as_marks() -> None:
    rules = AnswerRules(DecidingSanitizer(HybridDetector(), REDACT, RiskPrior()))
    for text in ("[078] [051] [120]. ", "[078] [1] [051] [1][1] [120]. ", "[078, 051, 120]. "):
        said = out_of(f"Call {text}", "Somebody is ill.", rules=rules)
        assert said == "Call [a phone number]. "


def test_only_numbers_of_passages_are_marks() -> None:
    rules = AnswerRules(DecidingSanitizer(Numbers(), REDACT, RiskPrior()))
    assert out_of("Somebody is ill [1].", "Somebody is ill.", rules=rules) == "Somebody is ill [1]."
    for mark in ("[0]", "[2]", "[01]", "[1, 2]"):
        said = out_of(f"Somebody is ill {mark}.", "Somebody is ill.", rules=rules)
        assert said == "Somebody is ill [a phone number]."


@pytest.mark.parametrize("between", [" [1] ", " [1] [2][1, 2] ", "[1]"])
def test_a_name_put_together_from_two_passages_around_a_mark_is_replaced(between: str) -> None:
    text = f"Mara{between}Vell."
    assert out_of(f"It was {text}", "Mara wrote it.", "So did Vell.") == "It was somebody."
    assert out_of(text, "Mara", "Vell") == "Somebody."
    assert out_of(text, "Mara Vell", "Vell") == text


def test_dots_between_words_of_two_passages_make_no_quotation() -> None:
    rules = AnswerRules(
        DecidingSanitizer(PhraseDetector({"Mara…Vell": "person full name"}), REDACT, RiskPrior())
    )
    assert out_of("Mara…Vell coughs", "Mara", "Vell coughs", rules=rules) == "Somebody coughs"


def test_a_name_that_goes_on_beyond_the_end_of_a_sentence_is_replaced_whole() -> None:
    rules = AnswerRules(
        DecidingSanitizer(PhraseDetector({"Mara A. Vell? Jones": "person full name"}), REDACT, RiskPrior())
    )
    assert out_of("It is Mara A. Vell? Jones who coughs.", rules=rules) == "It is somebody who coughs."


@pytest.mark.parametrize(
    "written",
    [
        "Ma[1]ra Vell",
        "Mara Ve[2]ll",
        "M[1]a[1]r[1]a V[1]e[1]l[1]l",
        "Ma[1][2]ra Vell",
        "Ma[1, 2]ra Vell",
        "Ma[7]ra Vell",
        "Ma[1]ra[2]Vell",
        "Mara[1]Ve[1]ll",
    ],
)
def test_a_mark_inside_a_word_hides_no_name(written: str) -> None:
    said = out_of(f"The patient is {written} today.", "Somebody is ill.", "It was read.")
    assert said == "The patient is somebody today."


@pytest.mark.parametrize("written", ["01632 9[1]60 014", "01632 960[1] 014", "01632[1]960[2]014"])
def test_a_mark_inside_a_number_hides_no_number(written: str) -> None:
    assert out_of(f"Call {written} now.", "Somebody", "is ill.") == "Call a phone number now."


@pytest.mark.parametrize("written", ["mara.vell@[1]post.example", "mara[1].vell@post.example"])
def test_a_mark_beside_a_sign_inside_an_address_hides_no_address(written: str) -> None:
    rules = AnswerRules(DecidingSanitizer(HybridDetector(), REDACT, RiskPrior()))
    said = out_of(f"Please write to {written} about it.", "Please write about it.", rules=rules)
    assert said == "Please write to an email address about it."


def test_words_of_one_passage_around_a_mark_are_no_word_that_none_says() -> None:
    detector = PhraseDetector({"Maravell": "person full name"})
    rules = AnswerRules(DecidingSanitizer(detector, REDACT, RiskPrior()))
    assert out_of("It was Mara[1]vell.", "It was Mara vell.", rules=rules) == "It was somebody."
    assert out_of("It was Mara [1]vell.", "It was Mara vell.", rules=rules) == "It was Mara [1]vell."


def test_a_mark_behind_a_word_costs_no_second_reading() -> None:
    read: list[str] = []
    marked = "It went away[1]. So it did [2], again[1], twice."
    out_of(marked, "No.", "Nobody.", rules=AnswerRules(Reading(read)))
    assert not [text for text in read if "away. So" in text]


@settings(max_examples=60)
@given(st.lists(st.integers(0, len("Mara Vell")), max_size=3), st.sampled_from(["[1]", "[2]", "[1, 2]"]))
def test_no_three_marks_hide_a_name_wherever_they_stand(places: list[int], mark: str) -> None:
    written = "Mara Vell"
    for place in sorted(places, reverse=True):
        written = written[:place] + mark + written[place:]
    said = out_of(f"The patient is {written} today.", "Mara was read.", "Vell said so.")
    assert "Mara Vell" not in VALID.sub("", said)


SHORT = [
    ("Mara. Vell.", "Somebody."),
    ("Mara [1]. Vell [2].", "Somebody [2]."),
    ("Mara. Vell [1] said so.", "Somebody [1] said so."),
    ("It was Mara, they say. Mara. Vell.", "It was Mara, they say. somebody."),
    ("Mara!\n- Vell\n", "Somebody\n"),
    ("Yes. No. Mara. Vell. Good.", "Yes. No. somebody. Good."),
]


@pytest.mark.parametrize(("text", "expected"), SHORT, ids=range(len(SHORT)))
def test_short_sentences_side_by_side_are_judged_as_one(text: str, expected: str) -> None:
    found = ("Mara was here. Mara.", "Vell said so. Vell.", "It was Mara, they say.", "Yes. No.", "Good.")
    assert out_of(text, *found) == expected


def test_a_short_sentence_is_judged_with_what_was_let_out_before() -> None:
    found = ("The patient is Mara.", "Vell. He is ill.")
    assert (
        out_of("The patient is Mara. Vell. He is ill.", *found) == "The patient is Mara. somebody. He is ill."
    )


def test_short_sentences_that_one_passage_says_so_stay() -> None:
    def never() -> DecidingSanitizer:
        raise AssertionError("nothing is detected here")

    rules = AnswerRules(OneAtATime(never))
    text = "It was Mara. Vell. Yes. He said so [1]."
    assert out_of(text, "It was Mara. Vell. Yes. He said so.", rules=rules) == text


def test_a_short_sentence_waits_for_the_next_and_no_longer() -> None:
    guard = AnswerGuard(AnswerRules(SANITIZER), passages("Yes. It is so, he said."))
    assert guard.feed("Yes. " + " " * AHEAD) == ""
    assert guard.feed("It is so, he said. ") == ""
    assert guard.feed("x" * AHEAD) == "Yes. " + " " * AHEAD + "It is so, he said."
    assert guard.close() == " " + "x" * AHEAD


def test_letters_that_show_as_nothing_hide_no_name() -> None:
    assert out_of("The patient is Ma\u200bra\u00ad Vell.") == "The patient is somebody."


def test_no_canary_leaves_however_it_is_written() -> None:
    rules = AnswerRules(SANITIZER, Canaries([CANARY, "blanket orchard violin stamp"]))
    for written in (
        CANARY,
        "qx 4471 90210",
        "Q X - 4 4 7 1 - 9 0 2 1 0",
        "\uff31X-4471-90210",
        "QX-4471-\n90210",
    ):
        said = out_of(f"The number is {written}, they say.", f"The number is {CANARY}.", rules=rules)
        assert said == f"The number is {WITHHELD}, they say."
    assert "orchard" not in out_of("It is blanket. Orchard. Violin stamp!", rules=rules)


def test_a_quotation_ends_where_it_is_longer_than_allowed() -> None:
    passage = "one two three four five six seven eight"
    rules = AnswerRules(SANITIZER, quote=3)
    assert out_of(f"It says: {passage} [1]. So there.", passage, rules=rules) == (
        f"It says: one two three {LEFT_OUT}[1] So there."
    )
    assert out_of("One, two; THREE. Four [1]", passage, rules=rules) == f"One, two; THREE. {LEFT_OUT}[1]"
    assert out_of(f"{NO_ANSWER}", passage, rules=rules) == NO_ANSWER
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
    ):
        file.write_text(text)
        with pytest.raises(ConfigurationError) as caught:
            canaries_in(file)
        assert str(caught.value).startswith(message)
    with pytest.raises(ConfigurationError) as caught:
        canaries_in(tmp_path / "none")
    assert str(caught.value) == "generator.canaries is no text file in UTF-8 that can be read."


PIECES = st.sampled_from(
    [
        *NAMES,
        "Mara",
        "Vell",
        "Ma",
        "ra Vell",
        " ",
        " ",
        "\n",
        ". ",
        "? ",
        "[1]",
        "[2, 1]",
        "Dr. ",
        "one two",
        " three four",
        "five",
    ]
    + [
        CANARY,
        "QX-4471",
        "-90210",
        "\r",
        "\r\n",
        "e",
        "\u0301",
        "\u200b",
        "\u4f60\u597d\u3002",
        "a" * 97,
        "\U0001f600",
    ]
    + ["no end of words " * 30, "\u4f60" * 300]
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
NUMERIC_TEXTS = st.lists(
    BRACKETS
    | NUMBERS
    | st.sampled_from(["[", "]", " ", ". ", "-", "\n", "…", "Ring 078", "code is 051", "it"]),
    max_size=20,
).map("".join)


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


def test_the_detector_reads_what_stands_before() -> None:
    read: list[str] = []
    out_of("It is the first. It is the second.", rules=AnswerRules(Reading(read)))
    assert read == ["It is the first. It is the second."] * 2


def test_patterns_and_rules_find_identifiers_in_an_answer() -> None:
    rules = AnswerRules(DecidingSanitizer(HybridDetector(), REDACT, RiskPrior()))
    said = out_of(
        "Please write to mara.vell@post.example about it [1].", "Please write about it.", rules=rules
    )
    assert said == "Please write to an email address about it [1]."


def test_what_the_extractive_generator_quotes_leaves_as_it_is() -> None:
    generator = ExtractiveGenerator(word_reader, floor=-1.0)
    texts = [json.loads(line).get("text", "") for line in corpus_path().read_text("utf-8").splitlines()]
    for number in range(0, 60, 3):
        found = passages(*(text[:600] for text in texts[number : number + 3]))
        answer = whole(generator.write("Who is ill, and since when?", found))
        assert guarded(answer, AnswerRules(SANITIZER)) == answer


class Saying:
    """Says the same to everybody."""

    name = "saying"

    def write(self, question: str, found: Sequence[RetrievedPassage]) -> Writing:
        said = "It is Mara Vell [1]. Call 01632 960 014 at once."
        return at_once(Answer(said, [Citation(1, 1, "d1")], found, "saying"))


class Finding:
    def retrieve(self, questions: Sequence[str], k: int) -> list[list[RetrievedPassage]]:
        return [passages("Somebody is ill.") for _ in questions]


@pytest.mark.parametrize("stream", [False, True])
def test_no_event_of_a_stream_holds_what_the_guard_has_replaced(stream: bool) -> None:
    one = One(Finding())
    guarded = GuardedAnswers(Saying(), AnswerRules(SANITIZER))
    one._served = ServedCollection(lambda groups: Finding(), guarded, 5, Finding())
    body = {"model": "lethe", "messages": [{"role": "user", "content": "Who?"}], "stream": stream}
    with TestClient(assemble(one, no_detector), base_url="http://127.0.0.1") as client:
        said = client.post("/v1/chat/completions", json=body).text
    said = "".join(re.findall(r'"content":\s?"([^"]*)"', said))
    assert said == "It is somebody [1]. Call a phone number at once."
