"""Membership inference: does a copy of a document tell whether it is indexed? All notes are invented."""

import json
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.compose import system_of
from app.settings.load import load_settings
from eval.attacks import membership as attack
from eval.attacks.membership import BY_PERTURBED, BY_REFERENCES, DIRECT, INTERROGATION, RETRIEVAL, SCORES
from eval.experiment import Experiment, SanitizedCorpus, kept_in_memory
from eval.progress import no_progress
from eval.rows import Row, RowFile
from eval.tasks.membership import HELD_OUT, MEMBER, MembershipTask, figures_of, membership
from ingest.deciding.policy import Policy
from ingest.documents import Document
from ingest.protocols import Encoder
from models.errors import ConfigurationError
from retrieval.citations import NO_ANSWER
from retrieval.documents import Answer, RetrievedPassage
from retrieval.generators.verbatim import VerbatimGenerator
from retrieval.system import System
from retrieval.writing import Writing, at_once
from tests.hashing_encoder import HashingEncoder

CALLS = "grebe linnet ouzel pipit redstart siskin tarn wheatear yaffle zander brill charlock dunlin".split()
THINGS = "anvil barge churn easel fiddle gondola harrow inkwell kiln loom mangle oar piano quoit".split()
ENCODER: Encoder = HashingEncoder()
KINDS = (MEMBER, HELD_OUT)


def invented(number: int) -> Document:
    """A note of words that are drawn for it, and of sentences that every note has."""
    rng = random.Random(number)
    one, two, three, four, five, six = (f"{rng.choice(CALLS)}{rng.choice(THINGS)}" for _ in range(6))
    text = (
        f"This note was written at the office in the morning. The {one} stood near the {two} for a week. "
        f"Somebody carried a {three} to the harbor and came back with a {four}. It was then decided that "
        f"the {five} should be mended before the winter. The {six} is to be looked at again in a month."
    )
    return Document(f"n{number}", text)


NOTES = [invented(number) for number in range(60)]
MEMBERS, OTHERS = attack.members_and_others(NOTES, 30)


@pytest.fixture(scope="module")
def system() -> System:
    settings = load_settings({"detector.learned": False, "risk.kind": "prior"})
    return replace(system_of(settings, encoder=ENCODER), policy=Policy("origin"))


@pytest.fixture(scope="module")
def index(system: System) -> Iterator[Callable[[Sequence[Document]], SanitizedCorpus]]:
    with ExitStack() as stack:
        yield lambda documents: kept_in_memory("origin", documents, system, stack, no_progress)


@pytest.fixture(scope="module")
def of_members(index: Callable[[Sequence[Document]], SanitizedCorpus]) -> SanitizedCorpus:
    return index(MEMBERS)


TASK = MembershipTask(MEMBERS, OTHERS, VerbatimGenerator(), ENCODER, k=2)
EVERY = (*SCORES, *(score + BY_PERTURBED for score in SCORES))


def rows(task: MembershipTask, kept: SanitizedCorpus, cases: Sequence[str] | None = None) -> list[Row]:
    return list(task.rows(kept, task.cases if cases is None else cases, no_progress))


@pytest.fixture(scope="module")
def found(of_members: SanitizedCorpus) -> list[Row]:
    """The rows of an index of originals."""
    return rows(TASK, of_members)


def test_area_and_rates_by_hand() -> None:
    # Of 4 x 5 pairs: 0.9 beats 5, 0.8 beats 4 and ties 1, 0.5 beats 2 and ties 2, 0.1 ties 1.
    found = figures_of("s", [0.9, 0.8, 0.5, 0.1], [0.8, 0.5, 0.5, 0.3, 0.1])
    assert found.auc.value == pytest.approx((5 + 4.5 + 2 + 1 + 0.5) / 20)
    # Without a false alarm only 0.9 is called a member: at 0.8 one of five others is called one too.
    assert [each.value for each in found.tpr.values()] == [0.25, 0.25, 0.25]
    # At 0.8: two members and four others are right, of nine.
    assert found.oracle_accuracy.value == pytest.approx(6 / 9)
    assert (found.members, found.others, found.failures) == (4, 5, {})


def test_a_rate_is_read_at_the_highest_allowed_rate_of_false_positives() -> None:
    others = [number / 100 for number in range(100)]
    found = figures_of("s", [0.995, 0.985, 0.945, 0.905, 0.2], others)
    # Above 0.985 stands one other of a hundred, above 0.945 five, above 0.905 nine.
    assert {limit: each.value for limit, each in found.tpr.items()} == {0.01: 0.4, 0.05: 0.6, 0.1: 0.8}


def test_one_group_tells_nothing() -> None:
    alone = figures_of("s", [1.0], [])
    assert (alone.auc.value, alone.oracle_accuracy.value, alone.chance_accuracy) == (None, None, None)
    assert [each.value for each in alone.tpr.values()] == [None, None, None]


def test_chance_is_that_of_shuffled_labels() -> None:
    found = figures_of("s", [float(n) for n in range(20)], [n + 0.5 for n in range(20)])
    # The best threshold of random labels is right more often than half the time.
    assert found.chance_accuracy is not None and 0.5 < found.chance_accuracy < 0.75
    assert found.chance_tpr[0.1] == pytest.approx(0.1, abs=0.06)


SCORED = st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=8)


@given(SCORED, SCORED, st.randoms())
def test_areas_are_shares_and_the_order_of_rows_changes_nothing(
    members: list[float], others: list[float], rng: random.Random
) -> None:
    scored = [(MEMBER, each) for each in members] + [(HELD_OUT, each) for each in others]
    given = [
        Row(system="s", task="t", case=f"{n}", kind=kind, figures={"x": score, "turned": -score})
        for n, (kind, score) in enumerate(scored)
    ]
    found, turned = membership(given, "x"), membership(given, "turned")
    assert membership(rng.sample(given, len(given)), "x") == found
    by_pairs = [(one > other) + (one == other) / 2 for one in members for other in others]
    assert found.auc.value == pytest.approx(sum(by_pairs) / len(by_pairs))
    assert found.auc.value is not None and turned.auc.value is not None
    assert 0 <= found.auc.value <= 1
    assert found.auc.value + turned.auc.value == pytest.approx(1)
    assert found.auc.low is not None and found.auc.low <= found.auc.value
    assert all(0 <= (each.value or 0) <= 1 for each in (*found.tpr.values(), found.oracle_accuracy))


def test_rows_without_the_score_are_left_out_and_failures_counted() -> None:
    given = [
        Row(system="s", task="t", case="a", kind=MEMBER, figures={"x": 1.0}),
        Row(system="s", task="t", case="b", kind=MEMBER, failure="not sanitized"),
        Row(system="s", task="t", case="c", kind=HELD_OUT, figures={"x": 0.0, "y": 1.0}),
    ]
    found = membership(given, "x")
    assert (found.members, found.others, found.failures) == (1, 1, {"not sanitized": 1})
    assert found.auc.value == 1.0
    assert membership(given, "y").auc.value is None


def test_the_hardest_word_of_each_fragment_is_masked_and_found_again() -> None:
    text = "At the old mill a blue harmonium was sold to a clockmaker before the winter."
    hidden = attack.masked(text, 2)
    assert list(hidden.words) == ["harmonium", "clockmaker"]
    assert hidden.text == text.replace("harmonium", attack.MASK).replace("clockmaker", attack.MASK)
    assert attack.recovered(hidden, text) == 1.0
    assert attack.recovered(hidden, text.replace("clockmaker", "miller")) == 0.5
    assert attack.recovered(hidden, "Nothing of that kind.") == attack.recovered(hidden, "") == 0.0
    assert attack.recovered(attack.masked("too short", 5), "too short") == 0.0


def test_the_halves_make_the_text() -> None:
    for text in (NOTES[0].text, "one", ""):
        asked = attack.questions_about(text, 3)
        assert asked.first_half + asked.second_half == text
        assert [*asked.asked] == [*SCORES, *attack.YES_OR_NO]


@given(st.integers(0, 60), st.floats(0.05, 1))
def test_a_share_of_words_is_perturbed(number: int, share: float) -> None:
    text = invented(number).text
    other = attack.perturbed(text, share, random.Random(number))
    pairs = list(zip(text.split(), other.split(), strict=True))
    assert sum(one != two for one, two in pairs) <= round(share * len(pairs))
    assert other == attack.perturbed(text, share, random.Random(number))


def test_a_copy_of_a_member_is_not_held_out() -> None:
    copies = [replace(each, doc_id=f"copy of {each.doc_id}", text=f" {each.text} ") for each in NOTES]
    members, others = attack.members_and_others([*NOTES, *copies], 30)
    assert (members, others) == (MEMBERS, OTHERS)
    assert (len(MEMBERS), len(OTHERS)) == (30, 30)
    assert not {each.text for each in members} & {each.text for each in others}
    assert attack.members_and_others(NOTES, 30, seed=1) != (members, others)
    for held_out in (0, 60, 61):
        with pytest.raises(
            ConfigurationError, match=f"^{held_out} documents cannot be held out of 60 different ones: "
        ):
            attack.members_and_others(NOTES, held_out)


SAID: dict[bool | None, tuple[str, ...]] = {
    True: ("Yes.", "yes [1]"),
    False: (" **No**, the passages differ.", "NO\nIt is another text.", "No"),
    None: (
        "No passage says so.", "Nothing in this collection answers that.", "Yes and no.", "Yes/No",
        "Yesterday, no.", "I say yes.", ""
    )
}  # fmt: skip


@pytest.mark.parametrize(("answer", "yes"), [(each, yes) for yes, those in SAID.items() for each in those])
def test_only_a_yes_or_a_no_that_stands_by_itself_is_read(answer: str, yes: bool | None) -> None:
    assert attack.said_yes(answer) is yes


def test_agreement_by_hand() -> None:
    # Right, wrong, not readable, right: two of three.
    assert attack.agreement([True, True, False, False], ["Yes.", "No.", "Unknown.", "No [2]."]) == 2 / 3
    # Where the truth is no, an answer that is neither does not agree with it.
    assert attack.agreement([False, False], ["Unknown.", "No passage tells."]) is None
    assert attack.agreement([], []) is None


def test_members_are_found_in_an_index_of_originals(found: list[Row]) -> None:
    assert [row.case for row in found] == list(TASK.cases)
    for score in EVERY:
        auc = membership(found, score).auc
        assert auc.low is not None and auc.low > 0.5, score
    figures = membership(found, RETRIEVAL)
    assert figures.tpr[0.05].value is not None and figures.tpr[0.05].value > 2 * figures.chance_tpr[0.05]


def test_nothing_is_found_where_members_and_others_are_both_outside(
    index: Callable[[Sequence[Document]], SanitizedCorpus],
) -> None:
    stored = index([invented(number) for number in range(100, 160)])
    outside = rows(TASK, replace(stored, documents=()))
    for score in EVERY:
        # Two standard errors of chance with 30 of each.
        assert membership(outside, score).auc.value == pytest.approx(0.5, abs=0.15), score


class Stopped(BaseException):
    """What ends a run."""


class Counting:
    """Quotes, and ends the run at one of its questions."""

    name = "counting"

    def __init__(self, last: int) -> None:
        self.last, self.asked = last, 0

    def write(self, question: str, passages: Sequence[RetrievedPassage]) -> Writing:
        if self.asked == self.last:
            raise Stopped
        self.asked += 1
        return (yield from VerbatimGenerator().write(question, passages))


def test_an_interrupted_run_asks_again_about_references_and_the_text_that_it_was_at(
    of_members: SanitizedCorpus, system: System, tmp_path: Path
) -> None:
    def run(generator: Counting, file: RowFile) -> Sequence[Row]:
        task = replace(TASK, generator=generator, scores=(attack.CONTINUATION,), perturbations=1)
        task = replace(task, held_out=OTHERS[:20], references=OTHERS[20:])
        done = Experiment(MEMBERS, {"origin": system}, {"origin": [task]}, {"origin": of_members}).run(file)
        return next(done).rows[task.name]

    whole = Counting(-1)
    wanted = run(whole, RowFile(""))
    # Ten references, then two versions of each of fifty candidates.
    assert whole.asked == 10 + 2 * 50
    with RowFile("run", tmp_path) as file, pytest.raises(Stopped):
        run(Counting(10 + 2 * 40 + 1), file)
    rest = Counting(-1)
    with RowFile("run", tmp_path) as file:
        assert run(rest, file) == wanted
    assert rest.asked == 10 + 2 * 10


def test_a_row_holds_numbers_and_ids_only(found: list[Row]) -> None:
    shown = repr(TASK) + repr(attack.questions_about(NOTES[0].text, 3)) + repr(found)
    shown += json.dumps([row.model_dump(mode="json") for row in found])
    assert not any(word in shown for each in NOTES for word in each.text.split() if len(word) > 8)
    for row in found:
        assert row.kind in KINDS
        assert (row.doc_ids, row.engine) == ((row.case,), "verbatim (worst case); hashed words")


def test_what_was_not_sanitized_is_no_member(of_members: SanitizedCorpus) -> None:
    first = MEMBERS[0].doc_id
    gone = replace(of_members, documents=of_members.documents[1:])
    assert rows(TASK, gone, [first])[0].failure == "not sanitized"
    assert rows(TASK, replace(gone, failed={first: "Broken"}), [first])[0].failure == "Broken"
    # Nothing was sanitized: an empty index has no members either.
    failed = {each.doc_id: "Broken" for each in MEMBERS}
    none = rows(TASK, replace(of_members, documents=(), failed=failed))
    assert membership(none, RETRIEVAL).members == 0
    assert membership(none, RETRIEVAL).failures == {"Broken": len(MEMBERS)}


def test_a_refused_question_is_not_measured(of_members: SanitizedCorpus) -> None:
    class Refusing(VerbatimGenerator):
        def write(self, question: str, passages: Sequence[RetrievedPassage]) -> Writing:
            if attack.MASK in question:
                raise PermissionError(question)
            return super().write(question, passages)

    some = TASK.cases[:2]
    found = rows(replace(TASK, generator=Refusing()), of_members, some)
    assert {row.failure for row in found} == {"PermissionError"}
    assert membership(found, RETRIEVAL).failures == {"PermissionError": len(found)}
    without = replace(TASK, generator=Refusing(), scores=(RETRIEVAL, attack.CONTINUATION))
    assert all(row.measured for row in rows(without, of_members, some))


def test_errors_say_what_to_do(of_members: SanitizedCorpus) -> None:
    every = ", ".join((*SCORES, *attack.YES_OR_NO))
    refused: list[tuple[dict[str, Any], str]] = [
        ({"held_out": []}, "needs members and held-out documents: give at least one"),
        ({"references": OTHERS[:1]}, "is given twice .*: give each id once"),
        ({"scores": ("luck",)}, f"is inferred by one or more of: {every}$"),
    ]
    for changed, message in refused:
        with pytest.raises(ConfigurationError, match=message):
            replace(TASK, **changed)
    swapped = replace(TASK, members=OTHERS, held_out=MEMBERS)
    with pytest.raises(ConfigurationError, match="^30 held-out documents or references are in the index: "):
        rows(swapped, of_members)


class Witness:
    """Says yes where all rare words of a question stand in the best passage, no elsewhere."""

    name = "witness"

    def __init__(self, unwilling: str = "") -> None:
        self.unwilling = unwilling

    def write(self, question: str, passages: Sequence[RetrievedPassage]) -> Writing:
        words = rare(question)
        there = bool(words) and all(word in passages[0].passage.text for word in words)
        said = "I will not say." if self.unwilling in question else "Yes [1]." if there else "No."
        return (yield from at_once(Answer(said, (), passages, self.name)))


def rare(text: str) -> list[str]:
    return [word for word in text.split() if word.endswith(tuple(THINGS))]


INTERROGATIONS = {
    each.text: [
        attack.YesNo("Is there a {} near the {} with a {} ?".format(*rare(each.text)), True),
        attack.YesNo("Was the {} not far from the {} and the {} ?".format(*rare(each.text)), True),
        attack.YesNo("Was it painted by a xylophone?", False),
    ]
    for each in NOTES
}


def test_a_victim_that_answers_yes_or_no_tells_who_is_there(of_members: SanitizedCorpus) -> None:
    interrogations = {each.text: INTERROGATIONS[each.text] for each in (*MEMBERS, *OTHERS[:20])}
    task = replace(TASK, generator=Witness("zzz"), scores=attack.YES_OR_NO, interrogations=interrogations)
    task = replace(task, perturbations=1, held_out=OTHERS[:20], references=OTHERS[20:])
    found = rows(task, of_members)
    # An interrogation is of the text alone.
    calibrated = {DIRECT + BY_PERTURBED, DIRECT + BY_REFERENCES}
    assert {*found[0].figures} == {*attack.YES_OR_NO, *calibrated}
    assert membership(found, DIRECT).auc.value == membership(found, INTERROGATION).auc.value == 1
    by_kind = {kind: {row.figures[INTERROGATION] for row in found if row.kind == kind} for kind in KINDS}
    # Of an other only the question whose answer is no is answered right.
    assert by_kind == {MEMBER: {1.0}, HELD_OUT: {1 / 3}}
    assert {row.figures[DIRECT] for row in found} == {0.0, 1.0}


def test_what_is_answered_by_neither_is_not_measured_for_that_score(of_members: SanitizedCorpus) -> None:
    first, second = MEMBERS[0], MEMBERS[1]
    asked: dict[str, Any] = {"interrogations": {first.text: INTERROGATIONS[first.text]}, "perturbations": 0}
    task = replace(TASK, generator=Witness("painted"), scores=attack.YES_OR_NO, **asked)
    # The third question has no answer: two are left, both right.
    with_questions, without = rows(task, of_members, [first.doc_id, second.doc_id])
    assert with_questions.figures == {DIRECT: 1.0, INTERROGATION: 1.0}
    assert without.measured and without.figures == {DIRECT: 1.0}
    silent = replace(task, generator=Witness(""), perturbations=1, scores=(*SCORES, *attack.YES_OR_NO))
    for row in rows(silent, of_members, [first.doc_id]):
        assert row.measured and not {*attack.YES_OR_NO, DIRECT + BY_PERTURBED} & {*row.figures}
        assert {*SCORES, *(score + BY_PERTURBED for score in SCORES)} == {*row.figures}


def test_who_has_nothing_about_a_text_says_no() -> None:
    asked = attack.questions_about("The weir is red.", 1)
    for text, score in (("Yes [1].", {DIRECT: 1.0}), (NO_ANSWER, {DIRECT: 0.0}), ("It may be.", {})):
        assert attack.scores_of(asked, {DIRECT: [Answer(text, (), (), "victim")]}) == score
