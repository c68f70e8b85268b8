"""Language models as judges, and the task that asks them. The model is scripted, all texts are invented."""

import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.experiment import SanitizedCorpus
from eval.measures import claim_distance as measured
from eval.measures.claim_distance import AT_ONCE, COHERENCE, INVALID, VOTES, ModelJudge, Scores
from eval.progress import no_progress
from eval.tasks.judged import MISSING, Judged
from ingest.deciding.baselines.uniform import ORIGIN
from ingest.documents import Document, SanitizedDocument
from ingest.sanitize import DecidingSanitizer
from ingest.scoring.prior import RiskPrior
from models.language.asking import REPAIR, Asker
from tests.doubles import PhraseDetector, Scripted

TEXT = "The heron eats eels at the weir."
REFUSED = "I am sorry, but I cannot help with that."


def rated(*ratings: object) -> str:
    rows = [{"claim": number, "reason": "so", "rating": each} for number, each in enumerate(ratings, 1)]
    return json.dumps({"ratings": rows})


def judging(*by_seed: str) -> ModelJudge:
    return ModelJudge(Asker(Scripted(lambda role, question, seed: by_seed[seed])), len(by_seed))


def test_the_mode_of_five_votes_counts_and_of_equals_what_tells_more() -> None:
    judge = judging(rated(1, 3, 2), rated(3, 3, 3), rated(3, 1, 2), rated(1, 1, 3), rated(2, 2, 1))
    # 1 1 2 3 3: one; 1 1 2 3 3: one; 1 2 2 3 3: two.
    assert judge.ratings(["a", "b", "c"], TEXT) == [1, 1, 2]
    assert judge.name == "judge[scripted (test double), prompt judge_claims v1, 5 votes]"
    assert ModelJudge(judge.asker).votes == VOTES == 5


def test_what_is_no_rating_counts_as_a_leak_and_what_is_not_rated_as_missing() -> None:
    judge = judging(rated(7, "no", 3, True), rated(0, None, 3, True), rated(3, 3, 3))
    found = judge.ratings(["a", "b", "c", "d", "e"], TEXT)
    assert found == [INVALID, INVALID, 3, INVALID, None]
    distance = measured.claim_distance(found)
    assert (distance.invalid, distance.missing, distance.leaked, distance.value) == (3, 1, 3, 1 / 4)


def test_a_refusal_is_asked_once_more_and_then_no_vote() -> None:
    judge = judging(REFUSED, "{}", rated(2))
    assert judge.ratings(["a"], TEXT) == [2]
    model = judge.asker.model
    assert isinstance(model, Scripted)
    assert [each.startswith(REPAIR) for _, each in model.asked] == [False, True, False, True, False]
    assert (judge.asker.usage.repaired, judge.asker.usage.unreadable) == (2, 2)
    assert judging(REFUSED).ratings(["a", "b"], TEXT) == [None, None]


def test_claims_go_ten_at_a_time_and_come_back_in_order() -> None:
    def says(role: str, question: str, seed: int) -> str:
        claims = question.partition("Claims:\n")[2].splitlines()
        return rated(*(int(each.rpartition(" ")[2]) for each in claims))

    wanted = [[1, 2, 3] * 7, [], [3], [2] * AT_ONCE]
    judge = ModelJudge(Asker(Scripted(says)), 2)
    asked = [([f"claim {each}" for each in those], TEXT) for those in wanted]
    assert judge.rated(asked) == wanted
    assert judge.asker.usage.questions == judge.plan(asked).questions == 2 * (3 + 0 + 1 + 1)


@given(st.lists(st.sampled_from([1, 2, 3]), min_size=1, max_size=7))
def test_no_rating_has_more_votes_than_the_one_that_counts(votes: list[int]) -> None:
    (found,) = judging(*map(rated, votes)).ratings(["a"], TEXT)
    assert found is not None
    assert all(votes.count(found) > votes.count(each) for each in range(1, found))
    assert all(votes.count(found) >= votes.count(each) for each in range(found, 4))


NAMES = measured.READABILITY, measured.MEANING, measured.FAITHFUL, measured.UTILITY


def scored(*scores: object) -> str:
    named = zip(NAMES[:3], scores, strict=True)
    return json.dumps({name: {"score": each, "reason": ""} for name, each in named})


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (scored(8, 4, 0), dict(zip(NAMES, (8, 4, 0, pytest.approx(0.4)), strict=True))),
        (f"Here:\n```json\n{scored(10, 10, 1)}\n```", dict(zip(NAMES, (10, 10, 1, 1), strict=True))),
        (scored(0, 4, 1), None),
        (scored(8, 11, 1), None),
        (scored(8, 4, 2), None),
        (scored("8", 4, 1), None),
        (scored(True, 4, 1), None),
        ('{"readability": 8, "meaning": 4, "faithful": 1}', None),
        (REFUSED, None),
    ],
)
def test_usefulness_is_the_mean_of_three_or_missing(answer: str, found: Scores | None) -> None:
    judge = measured.utility_judge(Asker(Scripted(lambda role, question, seed: answer)))
    assert judge.scores([("The kiln of Ada is hot.", "A kiln is hot.")]) == [found]
    assert judge.asker.usage.unreadable == (found is None)


def test_a_text_that_is_its_original_is_as_useful_unasked() -> None:
    judge = measured.utility_judge(Asker(Scripted(lambda role, question, seed: scored(8, 4, 0))))
    same, other = judge.scores([(TEXT, TEXT), (TEXT, "Less.")])
    assert same == dict(zip(NAMES, (10, 10, 1, 1), strict=True))
    assert other is not None and other[NAMES[0]] == 8
    assert judge.plan([(TEXT, TEXT)]).questions == 0


@pytest.mark.parametrize(("answer", "found"), [("4", 4), ("1", 1), ("0", None), ("6", None), ('"4"', None)])
def test_coherence_is_one_to_five_or_missing(answer: str, found: float | None) -> None:
    said = f'{{"reason": "so", "rating": {answer}}}'
    judge = measured.coherence_judge(Asker(Scripted(lambda role, question, seed: said)))
    assert judge.scores([("unseen original", TEXT)]) == [None if found is None else {COHERENCE: found}]
    model = judge.asker.model
    assert isinstance(model, Scripted) and "unseen" not in str(model.asked)
    assert judge.name == "judge[scripted (test double), prompt judge_coherence v3]"


def test_every_document_has_a_row_with_scores_or_says_why_not() -> None:
    documents = [Document("a", TEXT), Document("b", "Odd."), Document("c", " "), Document("d", "Gone.")]
    done = DecidingSanitizer(PhraseDetector({}), ORIGIN, RiskPrior()).sanitize(documents[:3])
    there = [each for each in done if isinstance(each, SanitizedDocument)]
    corpus = SanitizedCorpus("s", 3, {"d": "Broken"}, {}, None, there)  # type: ignore[arg-type]

    def says(role: str, question: str, seed: int) -> str:
        return REFUSED if "Odd." in question else '{"reason": "so", "rating": 5}'

    task = Judged(documents, measured.coherence_judge(Asker(Scripted(says))))
    found = {row.case: row for row in task.rows(corpus, task.cases, no_progress)}
    figures: list[Mapping[str, float]] = [found[case].figures for case in "abc"]
    assert figures == [{COHERENCE: 5}, {MISSING: 1}, {MISSING: 1}]
    assert (found["d"].failure, found["d"].figures) == ("Broken", {})
    assert found["a"].engine == task.judge.name and TEXT not in repr(task)
