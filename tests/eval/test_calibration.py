"""Thresholds from marks, shares and promises: the arithmetic, and whether promises are kept."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from eval.studies.calibrate import (
    MARGIN,
    PROMPT,
    DocumentEntities,
    ScoredLink,
    asked_of,
    documents_needed,
    f1_at,
    hoeffding_bentkus,
    largest_safe,
    read_numbers,
    threshold_for_share,
    threshold_from_marks,
    upper_bound,
)
from eval.studies.calibrate import tested_thresholds as in_turn
from models.errors import LetheError
from models.language.asking import Asker
from models.language.protocol import ChatMessage

LIMIT, CONFIDENCE, N, RESAMPLES = 0.1, 0.9, 120, 1000
shares = st.floats(0.001, 0.999)


# -- p-values --------------------------------------------------------------------------------------------


def exact_cdf(hits: int, n: int, share: Fraction) -> Fraction:
    return sum(
        (math.comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(min(hits, n) + 1)), Fraction(0)
    )


@pytest.mark.parametrize("n", [1, 7, 60])
@pytest.mark.parametrize("limit", [Fraction(1, 1000), Fraction(1, 10), Fraction(1, 2), Fraction(999, 1000)])
def test_p_values_are_those_of_fractions(n: int, limit: Fraction) -> None:
    for hits in {0, 1, n // 2, n - 1, n}:
        mean = Fraction(hits, n)
        hoeffding = (limit / mean) ** hits if hits else 1
        hoeffding *= ((1 - limit) / (1 - mean)) ** (n - hits) if hits < n else 1
        both = min(1.0, float(hoeffding), math.e * float(exact_cdf(hits, n, limit)))
        expected = both if mean < limit else 1.0
        assert hoeffding_bentkus(float(mean), n, float(limit)) == pytest.approx(expected, rel=1e-9)


def test_p_values_of_many_documents_neither_overflow_nor_vanish() -> None:
    assert hoeffding_bentkus(0.05, 200_000, 0.05001) == pytest.approx(1.0, abs=0.01)
    assert hoeffding_bentkus(0.0, 100_000, 0.5) == 0.0


@pytest.mark.parametrize(
    ("mean", "n", "limit", "expected"),
    [
        # nothing leaked: Hoeffding's is (1 - limit)^n, Bentkus's e times as much
        (0.0, 10, 0.2, 0.8**10),
        (0.0, 59, 0.05, 0.95**59),
        # P(X <= 1) of ten coins of a half is 11/1024; Hoeffding: 2^-10 / (0.1^1 * 0.9^9)
        (0.1, 10, 0.5, min(math.e * 11 / 1024, 0.5**10 / (0.1 * 0.9**9))),
        # so near the limit that Bentkus's would be above 1
        (0.7, 10, 0.75, (0.75 / 0.7) ** 7 * (0.25 / 0.3) ** 3),
        (0.5, 4, 0.5, 1.0),
        (0.6, 4, 0.5, 1.0),
        (1.0, 4, 0.999, 1.0),
    ],
)
def test_p_values_by_hand(mean: float, n: int, limit: float, expected: float) -> None:
    assert hoeffding_bentkus(mean, n, limit) == pytest.approx(expected, rel=1e-9)


def test_where_bentkus_is_the_sharper_of_the_two() -> None:
    cdf = float(exact_cdf(10, 1000, Fraction(1, 50)))
    assert hoeffding_bentkus(0.01, 1000, 0.02) == pytest.approx(math.e * cdf, rel=1e-9)
    hoeffding = ((0.02 / 0.01) ** 10) * (0.98 / 0.99) ** 990
    assert hoeffding_bentkus(0.01, 1000, 0.02) < hoeffding


def test_hits_that_are_no_whole_number_count_as_the_next_one() -> None:
    assert hoeffding_bentkus(0.0095, 1000, 0.02) == hoeffding_bentkus(0.0099, 1000, 0.02)
    cdf = float(exact_cdf(10, 1000, Fraction(1, 50)))
    assert hoeffding_bentkus(0.0099, 1000, 0.02) == pytest.approx(math.e * cdf, rel=1e-9)


def test_a_mean_a_hair_above_a_whole_number_of_hits_is_that_number() -> None:
    assert 100 * 0.07 > 7
    cdf = float(exact_cdf(7, 100, Fraction(1, 5)))
    assert hoeffding_bentkus(0.07, 100, 0.2) == pytest.approx(math.e * cdf, rel=1e-9)


@given(shares, st.integers(1, 200), shares)
def test_a_p_value_is_one_from_the_limit_on_and_a_share_always(mean: float, n: int, limit: float) -> None:
    p_value = hoeffding_bentkus(mean, n, limit)
    assert 0 <= p_value <= 1
    assert p_value == 1 or mean < limit


@given(st.integers(0, 20), st.integers(0, 20), st.integers(1, 20), shares)
def test_a_p_value_rises_with_the_mean(one: int, other: int, n: int, limit: float) -> None:
    less, more = sorted((min(one, n) / n, min(other, n) / n))
    assert hoeffding_bentkus(less, n, limit) <= hoeffding_bentkus(more, n, limit) + 1e-12


@given(st.integers(0, 20), st.integers(1, 20), st.integers(2, 5), shares)
def test_a_p_value_falls_with_more_documents_of_the_same_mean(
    hits: int, n: int, times: int, limit: float
) -> None:
    mean = min(hits, n) / n
    assert hoeffding_bentkus(mean, times * n, limit) <= hoeffding_bentkus(mean, n, limit) + 1e-12


@given(shares, shares, shares, st.integers(1, 100))
def test_a_p_value_falls_where_more_is_allowed(mean: float, one: float, other: float, n: int) -> None:
    less, more = sorted((one, other))
    assert hoeffding_bentkus(mean, n, more) <= hoeffding_bentkus(mean, n, less) + 1e-12


# -- how many documents, how low a limit -------------------------------------------------------------------


def test_how_many_documents_the_usual_promises_need() -> None:
    assert documents_needed(0.05, 0.95) == 59
    assert documents_needed(0.1, 0.9) == 22
    assert documents_needed(0.01, 0.95) == 299


@given(st.floats(0.005, 0.9), st.floats(0.05, 0.995))
def test_so_many_documents_without_a_leak_are_enough_and_one_less_is_not(
    limit: float, confidence: float
) -> None:
    needed = documents_needed(limit, confidence)
    assert hoeffding_bentkus(0, needed, limit) <= (1 - confidence) * (1 + 1e-9)
    assert needed == 1 or hoeffding_bentkus(0, needed - 1, limit) > (1 - confidence) * (1 - 1e-9)


def test_59_documents_promise_what_58_cannot() -> None:
    for n, safe in ((58, False), (59, True)):
        (only,) = in_turn([0.0], np.zeros((n, 1)), 0.05, 0.95)
        assert only.safe is safe


@settings(max_examples=50)
@given(st.integers(0, 60), st.integers(1, 60), st.floats(0.5, 0.99))
def test_the_bound_is_where_the_p_value_crosses(hits: int, n: int, confidence: float) -> None:
    mean = min(hits, n) / n
    bound = upper_bound(mean, n, confidence)
    assert mean <= bound <= 1
    if bound < 1 - 1e-6:
        assert hoeffding_bentkus(mean, n, bound + 1e-6) <= 1 - confidence
    if bound > mean + 1e-6:
        assert hoeffding_bentkus(mean, n, bound - 1e-6) > 1 - confidence


@pytest.mark.parametrize("mean", [1.0, 1 - 1e-4, 1 - 1e-12, 0.0])
def test_the_bound_of_an_extreme_mean_is_found(mean: float) -> None:
    assert mean <= upper_bound(mean, 5, 0.95) <= 1
    assert upper_bound(mean, 5, 0.95) > 0.45


def test_the_bound_of_no_leak_is_by_hand() -> None:
    assert upper_bound(0.0, 59, 0.95) == pytest.approx(1 - 0.05 ** (1 / 59), abs=1e-9)


# -- thresholds in turn -------------------------------------------------------------------------------------


def columns(*means: float, n: int = 100) -> NDArray[np.float64]:
    """0/1 losses of n documents with these means by threshold."""
    return np.array([[float(row < round(mean * n)) for mean in means] for row in range(n)])


def test_testing_ends_at_the_first_that_fails() -> None:
    taus = [-0.5, 0.0, 0.5, 1.0, 1.5]
    tested = in_turn(taus, columns(0.0, 0.01, 0.4, 0.0, 0.01), 0.1, 0.9)
    assert [each.tau for each in tested] == taus
    assert [each.safe for each in tested] == [True, True, False, False, False]
    assert tested[3].p_value <= 0.1, "it would pass, were it the first"
    assert [each.mean for each in tested] == pytest.approx([0.0, 0.01, 0.4, 0.0, 0.01])
    assert largest_safe(tested) == tested[1]


def test_none_is_safe_where_the_strictest_is_not() -> None:
    tested = in_turn([0.0, 0.5], columns(0.5, 0.0), 0.1, 0.9)
    assert not any(each.safe for each in tested)
    assert largest_safe(tested) is None
    assert largest_safe([]) is None


def test_each_p_value_is_that_of_its_column() -> None:
    losses = np.random.default_rng(3).uniform(0, 0.1, (40, 3))
    for number, each in enumerate(in_turn([0.0, 1.0, 2.0], losses, 0.2, 0.9)):
        p_value = hoeffding_bentkus(float(losses[:, number].mean()), 40, 0.2)
        assert each.p_value == pytest.approx(p_value)


@pytest.mark.parametrize("shape", [(5, 2), (0, 3), (5,), (3, 5)])
def test_losses_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="give a column for each") as raised:
        in_turn([0.0, 0.5, 1.0], np.zeros(shape), 0.1, 0.9)
    assert str(raised.value) == f"3 thresholds, losses of shape {shape}: give a column for each"


@pytest.mark.parametrize("bad", [-0.01, 1.01, math.nan, math.inf])
def test_a_loss_that_is_no_share_is_refused(bad: float) -> None:
    losses = np.zeros((5, 2))
    losses[3, 1] = bad
    with pytest.raises(ValueError, match=r"^a loss is not in \[0, 1\]$"):
        in_turn([0.0, 0.5], losses, 0.1, 0.9)


# -- are promises kept? -------------------------------------------------------------------------------------


def broken_promises(population: NDArray[np.float64], seed: int) -> float:
    """In what share of draws of N documents the chosen threshold leaks more than the limit in truth."""
    rng = np.random.default_rng(seed)
    truth = population.mean(axis=0)
    taus = [float(number) for number in range(population.shape[1])]
    broken = 0
    for _ in range(RESAMPLES):
        drawn = population[rng.integers(0, len(population), N)]
        chosen = largest_safe(in_turn(taus, drawn, LIMIT, CONFIDENCE))
        broken += chosen is not None and truth[int(chosen.tau)] > LIMIT
    return broken / RESAMPLES


def test_promises_are_kept_where_losses_rise_smoothly() -> None:
    rng = np.random.default_rng(1)
    slopes = rng.beta(0.5, 4, size=(5000, 1))
    population = np.minimum(1.0, slopes * np.linspace(0, 3, 15))
    truth = population.mean(axis=0)
    assert truth[0] == 0 and truth[-1] > 2 * LIMIT
    assert broken_promises(population, 2) <= 1 - CONFIDENCE


def test_promises_are_kept_where_all_or_nothing_leaks_just_above_the_limit() -> None:
    # 0, then 10.02 percent at once: the hardest that there is for a bound.
    population = np.zeros((5000, 2))
    population[:501, 1] = 1
    broken = broken_promises(population, 3)
    assert 0.01 < broken <= 1 - CONFIDENCE, "no promise is ever broken, so nothing was tested"


def test_promises_are_kept_where_losses_do_not_rise_in_order() -> None:
    # One safe threshold among thirty that are not: were each tested for itself, some would pass by chance.
    rng = np.random.default_rng(4)
    population = (rng.random((5000, 32)) < LIMIT * 1.03).astype(np.float64)
    population[:, 0] = 0
    population[:, 16] = 0
    truth = population.mean(axis=0)
    assert sum(truth > LIMIT) > 20
    assert broken_promises(population, 5) <= 1 - CONFIDENCE


def test_a_promise_is_no_excuse_for_never_promising() -> None:
    # 2 percent are far below the limit: with 120 documents it nearly always shows.
    population = np.zeros((5000, 1))
    population[:100] = 1
    rng = np.random.default_rng(6)
    found = [
        largest_safe(in_turn([0.0], population[rng.integers(0, 5000, N)], LIMIT, CONFIDENCE))
        for _ in range(200)
    ]
    assert sum(each is not None for each in found) > 180


# -- thresholds from marks ----------------------------------------------------------------------------------


def links(*each: tuple[float, bool]) -> list[ScoredLink]:
    """Linked entities that no hard rule takes, by priority and whether they are marked."""
    return [ScoredLink(priority, False, marked) for priority, marked in each]


MIXED = [
    *links((0.9, True), (0.8, True), (0.7, False), (0.6, True), (0.2, False), (0.1, False)),
    ScoredLink(0.05, always=True, marked=True),
    ScoredLink(0.95, always=True, marked=False),
]

some_links = st.lists(
    st.builds(
        ScoredLink,
        st.floats(-0.5, 1.4).map(lambda each: round(each, 2)),
        st.booleans(),
        st.booleans(),
    ),
    max_size=30,
)


@pytest.mark.parametrize(
    ("tau", "taken", "both"),
    [
        (2.0, 2, 1),  # the hard rules alone
        (0.8, 4, 3),
        (0.6, 6, 4),
        (-1.0, 8, 4),
    ],
)
def test_f1_by_hand(tau: float, taken: int, both: int) -> None:
    marked = 4
    precision, recall = both / taken, both / marked
    assert f1_at(MIXED, tau) == pytest.approx(2 * precision * recall / (precision + recall))


def test_f1_of_nothing_is_nought() -> None:
    assert f1_at([], 0.5) == 0
    assert f1_at(links((0.1, False)), 0.5) == 0
    assert f1_at(links((0.1, True)), 0.5) == 0


def test_the_threshold_is_a_low_priority_of_what_is_marked() -> None:
    fitted = threshold_from_marks(MIXED, 0.0)
    assert alike(fitted.tau, 0.6), "the lowest that a threshold decides about; 0.05 goes by a hard rule"
    assert (fitted.marked, fitted.links) == (4, 8)
    assert fitted.f1 == f1_at(MIXED, 0.6)
    assert alike(threshold_from_marks(MIXED, 0.5).tau, 0.8)
    assert alike(threshold_from_marks(MIXED, 0.99).tau, 0.8)


def alike(tau: float, priority: float) -> bool:
    """Whether a threshold takes of the mixed links what one at this priority takes, by a margin."""
    return tau < priority - MARGIN / 2 and taken_at(MIXED, tau) == taken_at(MIXED, priority)


@given(some_links, st.floats(0.01, 1))
def test_a_fitted_threshold_decides_alike_where_priorities_are_off_by_a_little(
    found: list[ScoredLink], share: float
) -> None:
    try:
        tau = threshold_for_share(found, share)
    except LetheError:
        return
    gaps = [abs(each.priority - tau) for each in found if not each.always]
    distinct = sorted({each.priority for each in found if not each.always})
    least = min((high - low for low, high in pairwise(distinct)), default=2 * MARGIN)
    assert all(gap >= min(MARGIN, least / 2) * 0.999 for gap in gaps)


def test_by_default_one_of_ten_marked_may_stay() -> None:
    rising = links(*((n / 10, True) for n in range(11)), (0.05, False))
    tau = threshold_from_marks(rising).tau
    assert tau == pytest.approx(0.075)
    assert sum(each.priority < tau for each in rising if each.marked) == 1


def test_the_largest_of_several_best_thresholds_is_reported() -> None:
    best = threshold_from_marks(links((0.9, True), (0.5, False), (0.4, True)))
    assert best.best_tau == pytest.approx(0.4 - MARGIN)
    assert best.best_f1 == pytest.approx(0.8)
    tie = links((0.9, True), (0.7, False), (0.6, False), (0.5, True))
    assert f1_at(tie, 0.9) == f1_at(tie, 0.5)
    assert threshold_from_marks(tie).best_tau == pytest.approx(0.8)


@given(some_links, st.floats(0, 1))
def test_what_is_fitted_leaves_no_more_than_the_quantile_and_the_best_is_best(
    found: list[ScoredLink], quantile: float
) -> None:
    decided = [each for each in found if each.marked and not each.always]
    if not decided:
        with pytest.raises(LetheError):
            threshold_from_marks(found, quantile)
        return
    fitted = threshold_from_marks(found, quantile)
    assert fitted.tau < max(each.priority for each in decided)
    assert sum(each.priority < fitted.tau for each in decided) <= quantile * len(decided) + 1e-9
    free = {each.priority for each in found if not each.always}
    candidates = {*free, max(free) + 1}
    best = max(f1_at(found, each) for each in candidates)
    assert fitted.best_f1 == best
    largest = max(each for each in candidates if f1_at(found, each) == best)
    assert taken_at(found, fitted.best_tau) == taken_at(found, largest)
    assert fitted.f1 == f1_at(found, fitted.tau) <= best


@pytest.mark.parametrize("found", [[], links((0.5, False)), [ScoredLink(0.5, always=True, marked=True)]])
def test_marks_that_no_threshold_decides_about_are_refused(found: list[ScoredLink]) -> None:
    with pytest.raises(LetheError) as raised:
        threshold_from_marks(found)
    assert str(raised.value) == (
        f"None of the {len(found)} linked entities is marked and not generalized by a hard rule anyway: "
        "there is nothing to fit a threshold to. Mark more documents, or calibrate by --max-leak or --share."
    )


def test_thousands_of_links_take_no_time() -> None:
    rng = np.random.default_rng(7)
    found = links(*((float(each), bool(each > 0.6)) for each in rng.random(20_000)))
    assert threshold_from_marks(found).best_f1 == 1.0


# -- thresholds from a share --------------------------------------------------------------------------------


def taken_at(found: Sequence[ScoredLink], tau: float) -> int:
    return sum(each.always or each.priority >= tau for each in found)


def test_a_share_by_hand() -> None:
    assert alike(threshold_for_share(MIXED, 0.5), 0.8)
    assert taken_at(MIXED, 0.8) == 4
    assert threshold_for_share(MIXED, 1.0) == pytest.approx(0.1 - MARGIN)


def test_a_share_that_the_hard_rules_fill_takes_nothing_more() -> None:
    tau = threshold_for_share(MIXED, 0.25)
    assert tau > 0.9
    assert taken_at(MIXED, tau) == 2
    assert threshold_for_share([ScoredLink(0.5, always=True)], 1.0) > 0


@given(some_links.filter(bool), st.floats(0.01, 1))
def test_about_the_share_goes(found: list[ScoredLink], share: float) -> None:
    wanted = round(share * len(found))
    always = sum(each.always for each in found)
    if wanted < always:
        with pytest.raises(LetheError):
            threshold_for_share(found, share)
        return
    tau = threshold_for_share(found, share)
    last = min((each.priority for each in found if not each.always and each.priority >= tau), default=None)
    ties = sum(each.priority == last for each in found if not each.always)
    assert wanted <= taken_at(found, tau) <= wanted + max(0, ties - 1)


def test_a_share_of_nothing_is_refused() -> None:
    with pytest.raises(LetheError) as raised:
        threshold_for_share([], 0.5)
    assert str(raised.value) == "The documents hold no entity: there is nothing to fit a threshold to."


def test_less_than_the_hard_rules_take_is_refused_with_what_can_be_had() -> None:
    found = [*(ScoredLink(0.5, always=True) for _ in range(101)), *links(*((0.1, False),) * 199)]
    with pytest.raises(LetheError) as raised:
        threshold_for_share(found, 0.2)
    assert str(raised.value) == (
        "The hard rules generalize 101 of 300 linked entities already, which is more than the share 0.2: "
        "ask for 0.34 or more, or raise direct_limit in the policy."
    )


@given(st.integers(1, 300), st.integers(0, 1000))
def test_the_share_that_a_refusal_names_can_be_had(always: int, others: int) -> None:
    found = [ScoredLink(0.5, always=True)] * always + links((0.1, False)) * others
    with pytest.raises(LetheError) as raised:
        threshold_for_share(found, 0.0)
    named = float(str(raised.value).split("ask for ")[1].split(" or more")[0])
    assert taken_at(found, threshold_for_share(found, named)) >= always


# -- what a language model answers --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "numbers"),
    [
        ('{"critical": [1, 4]}', [1, 4]),
        ('{"critical": []}', []),
        ('{"critical":[\n  1,\n  4\n]}', [1, 4]),
        ('```json\n{"critical": [2]}\n```', [2]),
        ('Sure! Here it is: {"critical": [3, 1]}. Entity 7 may stay [7].', [3, 1]),
        ('Of the list [1, 2, 3] I choose\n{"critical": [2]}', [2]),
        ('{"critical": ["1", "4"]}', [1, 4]),
        ('{"critical": ["1, 4"]}', [1, 4]),
        ('{"critical": ["", "4"]}', [4]),
        ("{'critical': ['1', '4']}", [1, 4]),
        ('{"critical": [1, 4,]}', [1, 4]),
        ('{"critical": [1 4]}', [1, 4]),
        ('{"critical": [1, 4', [1, 4]),
        ('{"critical": [1, 4}', [1, 4]),
        ('```json\n{"critical": [1, 4\n```', [1, 4]),
        ('{"critical": [[1, 4]]}', None),
        ("[1, 4]", [1, 4]),
        ("Take out [[1, 4]].", [1, 4]),
        (f'{{"critical": [1, {"9" * 5000}]}}', [1]),
        ('{"critical": ["Orrin", "Tarrant"]}', None),
        ('{"critical": ["Orrin"], "stay": [3]}', None),
        ('{"critical": null}', None),
        ('{"critical": [1, -4]}', None),
        ("I cannot say [and would not].", None),
        ("Nothing has to go.", None),
        ("", None),
    ],
)
def test_answers_are_read(said: str, numbers: list[int] | None) -> None:
    assert read_numbers(said) == numbers


@given(st.text(alphabet='{}[]"critical: 0123456789,`\n-x', max_size=60))
def test_no_answer_breaks_the_reading(said: str) -> None:
    read = read_numbers(said)
    assert read is None or all(each >= 0 for each in read)


class Answering:
    """A language model with one answer, which notes what it was sent."""

    name = "answering (test double)"
    context_tokens = 4096

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.asked: list[Sequence[ChatMessage]] = []

    def count_tokens(self, messages: Sequence[ChatMessage]) -> int:
        return sum(len(each.content) for each in messages)

    def complete(
        self, messages: Sequence[ChatMessage], *, max_tokens: int, temperature: float = 0.0, seed: int = 0
    ) -> str:
        assert (max_tokens, temperature) == (PROMPT.max_tokens, 0.0)
        self.asked.append(messages)
        return self.answer


LISTED = DocumentEntities("Mr Orrin, 61, keeps the lighthouse.", ["Mr Orrin", "61", "lighthouse"])


@pytest.mark.parametrize(
    ("answer", "marked"),
    [
        ('{"critical": [1, 3]}', {0, 2}),
        ('{"critical": [0, 1, 3, 4, 99]}', {0, 2}),
        ('{"critical": [3, 3]}', {2}),
        ('{"critical": []}', set()),
        ("no", None),
    ],
)
def test_numbers_of_an_answer_count_from_nought_and_only_what_was_listed(
    answer: str, marked: set[int] | None
) -> None:
    assert list(asked_of(Asker(Answering(answer)), [LISTED])) == [marked]


def test_the_question_holds_the_document_and_its_entities_with_numbers() -> None:
    model = Answering("[]")
    list(asked_of(Asker(model), [LISTED]))
    ((system, user),) = model.asked
    assert (system.role, user.role) == ("system", "user")
    assert user.content == (
        "Document:\nMr Orrin, 61, keeps the lighthouse.\n\nEntities:\n1. Mr Orrin\n2. 61\n3. lighthouse"
    )
    assert '{"critical": [1, 4]}' in system.content
    assert "Orrin" not in system.content


def test_no_repr_shows_a_document_or_an_entity() -> None:
    model = Answering("[1]")
    shown = repr((LISTED, list(asked_of(Asker(model), [LISTED])), model.asked))
    assert "Orrin" not in shown
    assert "lighthouse" not in shown
