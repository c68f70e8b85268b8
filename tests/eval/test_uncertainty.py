"""Shares and means with intervals, against published values and properties. All data is invented."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.measures import uncertainty
from eval.measures.uncertainty import Estimate, clustered_share, crossed_share, mean_of, ratio_of, wilson

TRIALS = st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [
        # Newcombe (1998), Statistics in Medicine 17, table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_is_the_published_interval(hits: int, n: int, low: float, high: float) -> None:
    assert wilson(hits, n) == pytest.approx((low, high), abs=5e-5)


@given(TRIALS, st.integers(2, 50))
def test_wilson_contains_the_share_shrinks_with_trials_and_widens_with_confidence(
    trial: tuple[int, int], times: int
) -> None:
    hits, n = trial
    low, high = wilson(hits, n)
    assert 0 <= low <= hits / n <= high <= 1
    closer_low, closer_high = wilson(hits * times, n * times)
    assert closer_high - closer_low < high - low
    widths = [high - low for low, high in (wilson(*trial, confidence=c) for c in (0.5, 0.9, 0.95, 0.99))]
    assert widths == sorted(widths)


def test_wilson_ends_exactly_at_none_and_all() -> None:
    assert {wilson(0, n)[0] for n in range(1, 400)} == {0.0}
    assert {wilson(n, n)[1] for n in range(1, 400)} == {1.0}


def test_nothing_measured_is_not_zero_and_what_does_not_vary_has_no_interval() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    assert uncertainty.share_of(0, 0) == Estimate()
    assert clustered_share([0, 0], [0, 0]).value is None
    assert mean_of([]).value is None
    estimate = mean_of([0.25] * 10)
    assert (estimate.n, estimate.value, estimate.low, estimate.high) == (10, 0.25, None, None)
    assert mean_of([0.25]).low is None
    # A count of everything.
    assert uncertainty.counted_share(3, 4) == Estimate(0.75, None, None, hits=3, n=4)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ((-1, 5), "-1 hits of 5 are not a share: give 0 <= hits <= n"),
        ((6, 5), "6 hits of 5 are not a share: give 0 <= hits <= n"),
        *(((1, 2, c), f"the confidence {c} is not between 0 and 1") for c in (0.0, 1.0, 95.0)),
    ],
)
def test_what_is_no_share_or_no_confidence_is_refused(asked: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        wilson(*asked)
    with pytest.raises(ValueError, match="a query has more hits than its total"):
        clustered_share([0, 3], [5, 2])


def test_the_same_seed_gives_the_same_interval_and_another_seed_another() -> None:
    hits, totals = [0, 1, 2, 3, 5, 8] * 5, [9, 9, 9, 9, 9, 9] * 5
    assert ratio_of(hits, totals, seed=7) == ratio_of(hits, totals, seed=7)
    assert ratio_of(hits, totals, seed=7) != ratio_of(hits, totals, seed=8)


def test_entities_that_leak_together_widen_the_interval_over_queries() -> None:
    """Fifty queries leak all of their twenty entities or none: there are 50 trials, not 1,000."""
    share = clustered_share([20, 0] * 25, [20, 20] * 25)
    assert share.value == 0.5
    assert share.interval is not None
    assert share.interval == pytest.approx(wilson(25, 50), abs=0.03)
    low, high = wilson(500, 1_000)
    assert share.interval[1] - share.interval[0] > 3 * (high - low)
    assert share.interval == ratio_of([20, 0] * 25, [20, 20] * 25).interval
    # Queries that leak alike say nothing by themselves: Wilson's is the wider, and stands.
    assert ratio_of([1] * 9, [2] * 9).interval == (0.5, 0.5)
    assert clustered_share([1] * 9, [2] * 9) == Estimate(0.5, *wilson(9, 18), 9, 18)


@given(st.integers(1, 60), st.integers(1, 40), st.integers(0, 5))
def test_nothing_or_everything_counts_each_query_once(queries: int, entities: int, empty: int) -> None:
    """Twenty prompts that leak none of their forty names are twenty trials, not 800."""
    totals = [entities] * queries + [0] * empty
    none, everything = clustered_share([0] * len(totals), totals), clustered_share(totals, totals)
    assert (none.value, none.interval) == (0.0, wilson(0, queries))
    assert (everything.value, everything.interval) == (1.0, wilson(queries, queries))
    assert (everything.hits, everything.n) == (sum(totals), sum(totals))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=20))
def test_the_interval_over_queries_lies_between_the_least_and_the_most(pairs: list[tuple[int, int]]) -> None:
    hits, totals = [min(pair) for pair in pairs], [max(pair) for pair in pairs]
    interval = ratio_of(hits, totals, resamples=50).interval
    ratios = [hit / total for hit, total in zip(hits, totals, strict=True) if total]
    if not ratios:
        assert interval is None
        return
    assert interval is not None
    assert min(ratios) - 1e-9 <= interval[0] <= interval[1] <= max(ratios) + 1e-9


def test_documents_that_many_queries_bring_up_widen_the_interval() -> None:
    """Two documents that leak all or nothing, brought up by fifty queries each, are two trials, not 100."""
    queries = [{"a": (10, 10)}, {"b": (0, 10)}] * 50
    share = crossed_share(queries)
    assert (share.hits, share.n, share.value, share.interval) == (500, 1_000, 0.5, (0.0, 1.0))
    many = crossed_share([{f"d{n}": ((n % 2) * 10, 10)} for n in range(100)])
    assert many.interval is not None and many.interval[1] - many.interval[0] < 0.3
    # Queries that leak together widen it too.
    queries = [dict.fromkeys(map(str, range(40)), (leaks, 1)) for leaks in (0, 1)] * 5
    assert crossed_share(queries) == clustered_share([0, 40] * 5, [40, 40] * 5)
    # Nothing leaked from three documents says little, however many prompts ask.
    share = crossed_share([dict.fromkeys("abc", (0, 10))] * 250)
    assert (share.value, share.interval, share.n) == (0.0, wilson(0, 3), 7_500)
    assert crossed_share([]).value is None and crossed_share([{}, {"a": (0, 0)}]).value is None


HITS = st.integers(0, 5).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total)))


@given(st.lists(st.dictionaries(st.sampled_from("abcd"), HITS), max_size=6))
def test_crossing_counts_everything_once(queries: list[dict[str, tuple[int, int]]]) -> None:
    share = crossed_share(queries)
    pairs = [pair for query in queries for pair in query.values()]
    assert (share.hits, share.n) == (sum(h for h, _ in pairs), sum(n for _, n in pairs))
    low, high = wilson(int(share.hits), int(share.n))
    assert share.interval is None or share.interval[1] - share.interval[0] >= high - low
