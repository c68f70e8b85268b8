"""Extraction that goes on from what answers said. All documents and people are invented."""

import json
import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.attacks.adaptive import NEXT_TURN, Follow, RandomText, Seen
from eval.attacks.extraction import WORDS, Aim, Unchanged, extraction_suite, in_turns
from eval.documents import Adaptive, EntityRef, LeakedEntity, SensitiveEntity
from eval.experiment import SanitizedCorpus
from eval.measures.leakage import SensitiveIndex, drawn_out
from eval.progress import no_progress
from eval.rows import Row
from eval.targets import reading_once
from eval.tasks.coverage import CoverageTask
from ingest.documents import Identifier
from ingest.protocols import Encoder
from retrieval.citations import NO_ANSWER
from retrieval.documents import Answer, Passage, RetrievedPassage
from retrieval.generators.verbatim import VerbatimGenerator

SUITE = extraction_suite(list(Aim), 10, 0)


class People:
    """Files of people, in passages that go on; each passage is about another thing and names its person."""

    def __init__(self, encoder: Encoder, files: int = 60, length: int = 3) -> None:
        rng, self._encoder = random.Random(5), encoder
        self.passages: list[Passage] = []
        self.secrets: list[SensitiveEntity] = []
        for number in range(files):
            name = (
                f"{rng.choice('BDFGKLM')}{rng.choice('aeiou')}ndri{number} {rng.choice('HPRST')}or{number}el"
            )
            words = rng.sample(WORDS, 8 * length)
            for turn in range(length):
                one, two, three, *rest = words[8 * turn : 8 * turn + 8]
                secret = f"{number}{turn}-{rng.randrange(100, 999)}"
                text = (
                    f"{name} keeps the {one} near the {two}, number {secret}. The {three} of this file of "
                    f"{words[0]} and {words[1]} lies with {', '.join(rest)}."
                )
                self.passages.append(Passage(len(self.passages), f"d{number}", turn, turn + 1, text))
                self.secrets.append(SensitiveEntity(f"d{number}", secret, "number", Identifier.DIRECT))
        self._vectors = encoder.encode([each.text for each in self.passages])

    def retrieve(self, questions: Sequence[str], k: int) -> list[list[RetrievedPassage]]:
        scores = self._encoder.encode(questions) @ self._vectors.T
        return [
            [RetrievedPassage(self.passages[n], float(row[n])) for n in (-row).argsort()[:k].tolist()]
            for row in scores
        ]

    def rows(self, attack: Adaptive, budget: int) -> list[Row]:
        kept = SanitizedCorpus("s", 60, {}, {}, lambda encoder: self)
        sensitive = SensitiveIndex(self.secrets)
        task = CoverageTask(attack, VerbatimGenerator(), self._encoder, 3, budget, sensitive)
        return list(task.rows(kept, task.cases, no_progress))

    def drawn(self, attack: Adaptive, budget: int) -> float:
        everything = SensitiveIndex(self.secrets).behind(f"d{number}" for number in range(60))
        return drawn_out(self.rows(attack, budget), everything).value or 0.0


def test_going_on_from_answers_beats_as_many_prompts_that_do_not(minilm: Encoder) -> None:
    read = reading_once(minilm)
    people = People(read)
    followed = people.drawn(Follow(read), 60)
    assert followed > 1.05 * people.drawn(Unchanged(extraction_suite(list(Aim), 15, 0)), 60)
    assert followed > 1.05 * people.drawn(RandomText(), 60)
    # It asks in every way and shows no words.
    rows = people.rows(Follow(read), 30)
    assert {row.kind for row in rows} == {"topic", "ends", "name", "word", "turn"}
    shown = json.dumps([row.model_dump(mode="json") for row in rows]) + repr(rows)
    assert "ndri" not in shown and "keeps" not in shown


class Saying:
    """Says one text, then nothing; keeps what was asked."""

    def __init__(self, text: str) -> None:
        self.left, self.asked = [text], list[str]()

    def ask(self, question: str) -> Answer:
        self.asked.append(question)
        return Answer(self.left.pop() if self.left else NO_ANSWER, (), (), "one text (test double)")


def test_what_is_asked_comes_from_what_was_said(minilm: Encoder) -> None:
    target = Saying(
        f"Bendrik Horlel keeps the zebrawood, number 4711-22. {'It is so. ' * 20}At the quayside. [1]"
    )
    attempts = list(Follow(minilm, 1).ask(target, 8))
    assert len(attempts) == 8
    first, *later = target.asked
    topics = [prompt.text for prompt in in_turns(extraction_suite(list(Aim), 250, 1))]
    assert first == topics[0]
    followed = [each for each in later if each not in topics]
    assert any(each.startswith("Bendrik Horlel keeps") and "At the quayside." in each for each in followed)
    assert any(each.startswith(f"{first}\n{NEXT_TURN}") for each in followed)
    of = {each.prompt.kind: each.prompt.text for each in attempts}
    assert any(each in of["name"] for each in ("Bendrik Horlel", "4711-22"))
    assert any(f"known of {each}," in of["word"] for each in ("zebrawood", "quayside", "bendrik"))


def test_the_suite_takes_its_aims_in_turn() -> None:
    prompts = in_turns(SUITE)
    assert [each.number for each in prompts] == list(range(40))
    kinds = [each.kind for each in prompts[:4]]
    assert len(set(kinds)) == 4 and "random words" in kinds
    target = Saying("")
    assert [each.prompt.text for each in Unchanged(SUITE).ask(target, 6)] == target.asked
    assert target.asked == [each.text for each in prompts[:6]]
    assert len(list(Unchanged(SUITE).ask(target, 100))) == 40


def test_what_stands_alone_is_known(minilm: Encoder) -> None:
    seen = Seen(minilm)
    assert seen.crowded.tolist() == []
    seen.news(["The mill is red."], 0.95)
    assert seen.crowded.tolist() == [-1]
    seen.news(["The mill is old and red.", "He sings at noon."], 1.1)
    vectors = minilm.encode(seen.texts)
    near = vectors @ vectors.T
    for place in range(3):
        others = [float(near[place, other]) for other in range(3) if other != place]
        assert seen.crowded[place] == pytest.approx(max(others), abs=1e-5)


def ref(doc_id: str, number: int) -> EntityRef:
    return EntityRef(doc_id, number, "person", Identifier.DIRECT)


def row(*found: EntityRef) -> Row:
    return Row(system="s", task="t", case="c", leaked=tuple(LeakedEntity(each, False) for each in found))


def test_what_came_out_worked_by_hand() -> None:
    everything = [ref("a", 0), ref("a", 1), ref("b", 0), ref("c", 0)]
    rows = [row(ref("a", 0)), row(ref("a", 0), ref("b", 0)), Row(system="s", task="t", case="x", failure="E")]
    found = drawn_out(rows, everything)
    assert (found.hits, found.n, found.value) == (2, 4, 0.5)
    assert drawn_out([], everything).value == 0 and drawn_out(rows, []).value is None


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3)), max_size=12), st.integers(0, 12))
def test_more_questions_never_bring_out_less(found: list[tuple[str, int]], budget: int) -> None:
    everything = [ref(doc_id, number) for doc_id in "abc" for number in range(4)]
    rows = [row(ref(*each)) for each in found]
    some, whole = (drawn_out(each, everything) for each in (rows[:budget], rows))
    assert some.hits <= whole.hits == len(set(found))
