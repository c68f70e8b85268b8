"""Thresholds from marks, shares and promises: the arithmetic, and whether promises are kept."""

import math
import re
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from eval.studies import calibrate as fitting
from models.errors import LetheError
from models.language.asking import Asker
from tests.doubles import Scripted

LIMIT, CONFIDENCE, N, RESAMPLES = 0.1, 0.9, 120, 1000
p_value_of = fitting.hoeffding_bentkus
shares = st.floats(0.001, 0.999)


def exact_cdf(hits: int, n: int, share: Fraction) -> Fraction:
    terms = (math.comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(min(hits, n) + 1))
    return sum(terms, Fraction(0))


@pytest.mark.parametrize("n", [1, 7, 60])
@pytest.mark.parametrize("limit", [Fraction(1, 1000), Fraction(1, 10), Fraction(1, 2), Fraction(999, 1000)])
def test_p_values_are_those_of_fractions(n: int, limit: Fraction) -> None:
    for hits in {0, 1, n // 2, n - 1, n}:
        mean = Fraction(hits, n)
        hoeffding = (limit / mean) ** hits if hits else 1
        hoeffding *= ((1 - limit) / (1 - mean)) ** (n - hits) if hits < n else 1
        both = min(1.0, float(hoeffding), math.e * float(exact_cdf(hits, n, limit)))
        expected = both if mean < limit else 1.0
        assert p_value_of(float(mean), n, float(limit)) == pytest.approx(expected, rel=1e-9)


def test_p_values_of_hits_that_are_no_whole_number_and_of_many_documents() -> None:
    # Hits that are no whole number count as the next one, but 100 * 0.07, a hair above 7, as 7.
    for mean, n, limit, hits in ((0.0095, 1000, 0.02, 10), (0.01, 1000, 0.02, 10), (0.07, 100, 0.2, 7)):
        bentkus = math.e * float(exact_cdf(hits, n, Fraction(str(limit))))
        assert p_value_of(mean, n, limit) == pytest.approx(bentkus, rel=1e-9)
    # Of many documents it neither overflows nor vanishes.
    assert p_value_of(0.05, 200_000, 0.05001) == pytest.approx(1.0, abs=0.01)
    assert p_value_of(0.0, 100_000, 0.5) == 0.0


@given(st.integers(0, 20), st.integers(0, 20), st.integers(1, 20), st.integers(2, 5), shares, shares)
def test_a_p_value_rises_with_the_mean_and_falls_with_more_documents_and_where_more_is_allowed(
    one: int, other: int, n: int, times: int, limit: float, larger: float
) -> None:
    less, more = sorted((min(one, n) / n, min(other, n) / n))
    p_value = p_value_of(less, n, limit)
    assert 0 <= p_value <= 1 and (p_value == 1 or less < limit)
    assert p_value <= p_value_of(more, n, limit) + 1e-12
    assert p_value_of(less, times * n, limit) <= p_value + 1e-12
    assert p_value_of(less, n, max(limit, larger)) <= p_value + 1e-12


@given(st.floats(0.005, 0.9), st.floats(0.05, 0.995))
def test_so_many_documents_without_a_leak_are_enough_and_one_less_is_not(
    limit: float, confidence: float
) -> None:
    needed = fitting.documents_needed(limit, confidence)
    assert p_value_of(0, needed, limit) <= (1 - confidence) * (1 + 1e-9)
    assert needed == 1 or p_value_of(0, needed - 1, limit) > (1 - confidence) * (1 - 1e-9)


def test_59_documents_promise_what_58_cannot() -> None:
    assert fitting.documents_needed(0.05, 0.95) == 59
    for n, safe in ((58, False), (59, True)):
        (only,) = fitting.tested_thresholds([0.0], np.zeros((n, 1)), 0.05, 0.95)
        assert only.safe is safe
    assert fitting.upper_bound(0.0, 59, 0.95) == pytest.approx(1 - 0.05 ** (1 / 59), abs=1e-9)
    for extreme in (1.0, 1 - 1e-4, 1 - 1e-12):
        assert extreme <= fitting.upper_bound(extreme, 5, 0.95) <= 1


@settings(max_examples=50)
@given(st.integers(0, 60), st.integers(1, 60), st.floats(0.5, 0.99))
def test_the_bound_is_where_the_p_value_crosses(hits: int, n: int, confidence: float) -> None:
    mean = min(hits, n) / n
    bound = fitting.upper_bound(mean, n, confidence)
    assert mean <= bound <= 1
    if bound < 1 - 1e-6:
        assert p_value_of(mean, n, bound + 1e-6) <= 1 - confidence
    if bound > mean + 1e-6:
        assert p_value_of(mean, n, bound - 1e-6) > 1 - confidence


def columns(*means: float, n: int = 100) -> NDArray[np.float64]:
    """0/1 losses of n documents with these means by threshold."""
    return np.array([[float(row < round(mean * n)) for mean in means] for row in range(n)])


def test_testing_ends_at_the_first_that_fails() -> None:
    taus, means = [-0.5, 0.0, 0.5, 1.0, 1.5], [0.0, 0.01, 0.4, 0.0, 0.01]
    tested = fitting.tested_thresholds(taus, columns(*means), 0.1, 0.9)
    assert [each.tau for each in tested] == taus
    assert [each.safe for each in tested] == [True, True, False, False, False]
    assert [each.mean for each in tested] == pytest.approx(means)
    assert [each.p_value for each in tested] == pytest.approx([p_value_of(m, 100, 0.1) for m in means])
    assert tested[3].p_value <= 0.1, "it would pass, were it the first"
    assert fitting.largest_safe(tested) == tested[1]
    none = fitting.tested_thresholds([0.0, 0.5], columns(0.5, 0.0), 0.1, 0.9)
    assert fitting.largest_safe(none) is fitting.largest_safe([]) is None


@pytest.mark.parametrize(
    ("losses", "message"),
    [
        *((np.zeros(shape), "2 thresholds, .*: give a column for each") for shape in ((5, 3), (0, 2), (2,))),
        *((np.array([[0, 0], [0, bad]]), r"a loss is not in \[0, 1\]") for bad in (-0.01, 1.01, math.nan)),
    ],
)
def test_losses_that_are_no_shares_or_of_another_shape_are_refused(
    losses: NDArray[np.float64], message: str
) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        fitting.tested_thresholds([0.0, 0.5], losses, 0.1, 0.9)


def promised_and_broken(population: NDArray[np.float64], resamples: int = RESAMPLES) -> tuple[float, float]:
    """In what share of draws of N documents a threshold is chosen, and one that truly leaks too much."""
    rng = np.random.default_rng(2)
    truth = population.mean(axis=0)
    taus = [float(number) for number in range(population.shape[1])]
    promised = broken = 0
    for _ in range(resamples):
        drawn = population[rng.integers(0, len(population), N)]
        chosen = fitting.largest_safe(fitting.tested_thresholds(taus, drawn, LIMIT, CONFIDENCE))
        promised += chosen is not None
        broken += chosen is not None and truth[int(chosen.tau)] > LIMIT
    return promised / resamples, broken / resamples


def test_promises_are_kept_where_all_or_nothing_leaks_just_above_the_limit() -> None:
    # 0, then 10.02 percent at once: the hardest that there is for a bound.
    population = np.zeros((5000, 2))
    population[:501, 1] = 1
    _, broken = promised_and_broken(population)
    assert 0.01 < broken <= 1 - CONFIDENCE, "no promise is ever broken, so nothing was tested"


def test_promises_are_kept_where_losses_do_not_rise_in_order() -> None:
    # Two safe thresholds among thirty that are not: were each tested for itself, some would pass by chance.
    population = (np.random.default_rng(4).random((5000, 32)) < LIMIT * 1.03).astype(np.float64)
    population[:, [0, 16]] = 0
    assert sum(population.mean(axis=0) > LIMIT) > 20
    assert promised_and_broken(population)[1] <= 1 - CONFIDENCE


def test_a_promise_is_no_excuse_for_never_promising() -> None:
    # 2 percent are far below the limit: with 120 documents it nearly always shows.
    population = np.zeros((5000, 1))
    population[:100] = 1
    assert promised_and_broken(population, 200)[0] > 0.9


def links(*each: tuple[float, bool]) -> list[fitting.ScoredLink]:
    """Linked entities that no hard rule takes, by priority and whether they are marked."""
    return [fitting.ScoredLink(priority, False, marked) for priority, marked in each]


MIXED = [
    *links((0.9, True), (0.8, True), (0.7, False), (0.6, True), (0.2, False), (0.1, False)),
    fitting.ScoredLink(0.05, always=True, marked=True),
    fitting.ScoredLink(0.95, always=True, marked=False),
]
priorities = st.floats(-0.5, 1.4).map(lambda each: round(each, 2))
some_links = st.lists(st.builds(fitting.ScoredLink, priorities, st.booleans(), st.booleans()), max_size=30)


ALWAYS = fitting.ScoredLink(0.5, always=True)


def taken_at(found: Sequence[fitting.ScoredLink], tau: float) -> int:
    return sum(each.always or each.priority >= tau for each in found)


def alike(tau: float, priority: float) -> bool:
    """Whether a threshold takes of the mixed links what one at this priority takes, by a margin."""
    return tau < priority - fitting.MARGIN / 2 and taken_at(MIXED, tau) == taken_at(MIXED, priority)


# At 2.0 the hard rules alone take something.
@pytest.mark.parametrize(("tau", "taken", "both"), [(2.0, 2, 1), (0.8, 4, 3), (0.6, 6, 4), (-1.0, 8, 4)])
def test_f1_by_hand(tau: float, taken: int, both: int) -> None:
    precision, recall = both / taken, both / 4
    assert fitting.f1_at(MIXED, tau) == pytest.approx(2 * precision * recall / (precision + recall))
    for nothing in ([], links((0.1, False)), links((0.1, True))):
        assert fitting.f1_at(nothing, 0.5) == 0


def test_the_threshold_is_a_low_priority_of_what_is_marked() -> None:
    fitted = fitting.threshold_from_marks(MIXED, 0.0)
    assert alike(fitted.tau, 0.6), "the lowest that a threshold decides about; 0.05 goes by a hard rule"
    assert (fitted.marked, fitted.links, fitted.f1) == (4, 8, fitting.f1_at(MIXED, 0.6))
    assert alike(fitting.threshold_from_marks(MIXED, 0.5).tau, 0.8)
    assert alike(fitting.threshold_from_marks(MIXED, 0.99).tau, 0.8)
    rising = links(*((n / 10, True) for n in range(11)), (0.05, False))
    assert fitting.threshold_from_marks(rising).tau == pytest.approx(0.075), "by default one of ten may stay"


@given(some_links, st.floats(0.01, 1))
def test_a_fitted_threshold_decides_alike_where_priorities_are_off_by_a_little(
    found: list[fitting.ScoredLink], share: float
) -> None:
    try:
        tau = fitting.threshold_for_share(found, share)
    except LetheError:
        return
    distinct = sorted({each.priority for each in found if not each.always})
    least = min((high - low for low, high in pairwise(distinct)), default=2 * fitting.MARGIN)
    assert all(abs(each - tau) >= min(fitting.MARGIN, least / 2) * 0.999 for each in distinct)


@given(some_links, st.floats(0, 1))
def test_what_is_fitted_leaves_no_more_than_the_quantile_and_the_best_is_best(
    found: list[fitting.ScoredLink], quantile: float
) -> None:
    decided = [each for each in found if each.marked and not each.always]
    if not decided:
        with pytest.raises(LetheError) as raised:
            fitting.threshold_from_marks(found, quantile)
        assert str(raised.value) == (
            f"None of the {len(found)} linked entities is marked and not generalized by a hard rule anyway: "
            "there is nothing to fit a threshold to. Mark more documents, or calibrate by --max-leak or "
            "--share."
        )
        return
    fitted = fitting.threshold_from_marks(found, quantile)
    assert fitted.tau < max(each.priority for each in decided)
    assert sum(each.priority < fitted.tau for each in decided) <= quantile * len(decided) + 1e-9
    free = {each.priority for each in found if not each.always}
    candidates = {*free, max(free) + 1}
    best = max(fitting.f1_at(found, each) for each in candidates)
    assert fitted.best_f1 == best
    largest = max(each for each in candidates if fitting.f1_at(found, each) == best)
    assert taken_at(found, fitted.best_tau) == taken_at(found, largest)
    assert fitted.f1 == fitting.f1_at(found, fitted.tau) <= best


def test_a_share_by_hand() -> None:
    assert alike(fitting.threshold_for_share(MIXED, 0.5), 0.8) and taken_at(MIXED, 0.8) == 4
    assert fitting.threshold_for_share(MIXED, 1.0) == pytest.approx(0.1 - fitting.MARGIN)
    assert fitting.threshold_for_share(MIXED, 0.25) > 0.9, "the hard rules fill the share"
    assert fitting.threshold_for_share([ALWAYS], 1.0) > 0
    with pytest.raises(LetheError, match="^The documents hold no entity: there is nothing to fit"):
        fitting.threshold_for_share([], 0.2)


@given(some_links.filter(bool), st.floats(0.01, 1))
def test_about_the_share_goes(found: list[fitting.ScoredLink], share: float) -> None:
    wanted = round(share * len(found))
    if wanted < sum(each.always for each in found):
        with pytest.raises(LetheError):
            fitting.threshold_for_share(found, share)
        return
    tau = fitting.threshold_for_share(found, share)
    last = min((each.priority for each in found if not each.always and each.priority >= tau), default=None)
    ties = sum(each.priority == last for each in found if not each.always)
    assert wanted <= taken_at(found, tau) <= wanted + max(0, ties - 1)


@given(st.integers(1, 300), st.integers(0, 1000))
def test_the_share_that_a_refusal_names_can_be_had(always: int, others: int) -> None:
    found = [ALWAYS] * always + links((0.1, False)) * others
    with pytest.raises(LetheError) as raised:
        fitting.threshold_for_share(found, 0.0)
    said = re.fullmatch(
        r"The hard rules generalize (\d+) of ([\d,]+) linked entities already, which is more than the share "
        r"0: ask for ([\d.]+) or more, or raise direct_limit in the policy\.",
        str(raised.value),
    )
    assert said and (said[1], said[2]) == (str(always), f"{always + others:,}")
    named = float(said[3])
    assert taken_at(found, fitting.threshold_for_share(found, named)) >= always


LIST = '{"critical": '


@pytest.mark.parametrize(
    "tail", ["[1,\n4]}", '["1, 4"]}', "[1, 4,]}", "[1 4]}", "[1, 4", "[1, 4}", "[1, 4\n`"]
)
def test_lists_of_numbers_are_read_however_they_are_written(tail: str) -> None:
    assert fitting.read_numbers(LIST + tail) == [1, 4]


@pytest.mark.parametrize(
    ("said", "numbers"),
    [
        (LIST + "[]}", []),
        ("Sure! Here it is: " + LIST + "[3, 1]}. Entity 7 may stay [7].", [3, 1]),
        ("Of the list [1, 2, 3] I choose\n" + LIST + "[2]}", [2]),
        (LIST + '["", "4"]}', [4]),
        ("{'critical': ['1', '4']}", [1, 4]),
        ("Take out [[1, 4]].", [1, 4]),
        (LIST + f"[1, {'9' * 5000}]}}", [1]),
        *((LIST + tail, None) for tail in ("[[1, 4]]}", '["Orrin"], "stay": [3]}', "null}", "[1, -4]}")),
        ("I cannot say [and would not].", None),
        ("", None),
    ],
)
def test_answers_are_read(said: str, numbers: list[int] | None) -> None:
    assert fitting.read_numbers(said) == numbers


@given(st.text(alphabet='{}[]"critical: 0123456789,`\n-x', max_size=60))
def test_no_answer_breaks_the_reading(said: str) -> None:
    read = fitting.read_numbers(said)
    assert read is None or all(each >= 0 for each in read)


LISTED = fitting.DocumentEntities("Mr Orrin, 61, keeps the lighthouse.", ["Mr Orrin", "61", "lighthouse"])


@pytest.mark.parametrize(
    ("answer", "marked"),
    [
        ('{"critical": [0, 1, 3, 4, 99]}', {0, 2}),
        ('{"critical": [3, 3]}', {2}),
        ('{"critical": []}', set()),
        ("no", None),
    ],
)
def test_numbers_of_an_answer_count_from_nought_and_only_what_was_listed(
    answer: str, marked: set[int] | None
) -> None:
    model = Scripted(lambda *_: answer)
    found = list(fitting.asked_of(Asker(model), [LISTED]))
    assert found == [marked]
    system, user = model.asked[0]
    listed = "1. Mr Orrin\n2. 61\n3. lighthouse"
    assert user == f"Document:\nMr Orrin, 61, keeps the lighthouse.\n\nEntities:\n{listed}"
    assert '{"critical": [N, N]}' in system and "Orrin" not in system
    shown = repr((LISTED, found, model))
    assert "Orrin" not in shown and "lighthouse" not in shown
