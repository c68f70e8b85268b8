"""Figures of a linkage attack from its rows."""

from eval.measures.uncertainty import Estimate, clustered_share, mean_of, share_of
from eval.rows import Row
from eval.tasks import linkage as linked


def row(case: int, right: float = 0, skipped: float = 0, **figures: float) -> Row:
    named = {name.replace("_", " "): value for name, value in figures.items()}
    fixed = {linked.RIGHT: right, linked.SKIPPED: skipped, linked.LEFT: 4.0}
    return Row(system="s", task="t", case=f"d{case}", figures={**fixed, **named})


FAILED = Row(system="s", task="t", case="d9", failure="not sanitized")
ROWS = [
    row(0, right=1, claim_distance=0.0, lexical_distance=0.2),
    row(1, right=1, claim_distance=0.5),
    row(2, claim_distance=1.0),
    row(3, skipped=1),
    FAILED,
]


def test_skipped_documents_are_counted_both_ways() -> None:
    found = linked.linkage(ROWS)
    # Two of four right, three if the skipped one were; of the three that were linked, two.
    assert (found.rate, found.worst, found.linked) == (share_of(2, 4), share_of(3, 4), share_of(2, 3))
    assert found.skipped == 1
    assert linked.linkage([FAILED]).rate == Estimate()


def test_a_distance_has_both_extremes() -> None:
    found = linked.distances(ROWS)
    assert found.skipped == 1
    assert found.mean == mean_of([0.0, 0.5, 1.0])
    assert found.worst == mean_of([0.0, 0.5, 1.0, 0.0])
    assert found.best == mean_of([0.0, 0.5, 1.0, 1.0])
    assert [each.value for each in (found.worst, found.mean, found.best)] == [0.375, 0.5, 0.625]
    assert linked.distances(ROWS, linked.LEXICAL).mean.value == 0.2
    assert linked.distances([FAILED]).mean == Estimate()


def test_a_document_that_no_judge_rated_counts_both_ways() -> None:
    unrated = row(4)
    unrated.figures.pop(linked.DISTANCE, None)
    found = linked.distances([*ROWS, unrated])
    assert found.mean == linked.distances(ROWS).mean
    assert found.worst == mean_of([0.0, 0.5, 1.0, 0.0, 0.0])
    assert found.best == mean_of([0.0, 0.5, 1.0, 1.0, 1.0])


def test_documents_of_which_nothing_is_left_to_find_out_count_nowhere() -> None:
    nothing = row(4, skipped=1)
    nothing.figures[linked.LEFT] = 0.0
    assert linked.distances([*ROWS, nothing]) == linked.distances(ROWS)
    without = row(5, skipped=1)
    without.figures[linked.DETAILS] = 0.0
    details = [row(6, share_of_details_hidden=0.25, details=4), row(7, skipped=1, details=2), without]
    found = linked.distances(details, linked.HIDDEN)
    assert (found.skipped, found.mean.value, found.worst.value, found.best.value) == (1, 0.25, 0.125, 0.625)


def test_leaked_claims_are_pooled() -> None:
    rated = [{linked.RATED: 4, linked.LEAKED: 1}, {linked.RATED: 8, linked.LEAKED: 5}]
    rows = [*(row(n, **each) for n, each in enumerate(rated)), row(2, skipped=1), FAILED]
    assert linked.leaked_claims(rows) == clustered_share([1, 5, 0], [4, 8, 0])
    assert linked.leaked_claims(rows).value == 0.5


def test_leaks_by_category() -> None:
    age, pet = linked.RATED_AS + "Age", linked.RATED_AS + "Pet"
    rows = [row(0, **{age: 2, linked.LEAKED_AS + "Age": 1}), row(1, **{age: 2, pet: 3}), FAILED]
    found = linked.leaked_by_category(rows, ["Age", "Pet", "Finance"])
    assert [(each.hits, each.n) for each in found.values()] == [(1, 4), (0, 3), (0, 0)]
    assert list(found) == ["Age", "Pet", "Finance"] and found["Finance"].value is None


def test_the_distribution_is_split_by_the_link() -> None:
    right = [row(n, right=1, claim_distance=value) for n, value in enumerate((0.0, 0.09, 0.1, 0.99))]
    rows = [*right, row(4, claim_distance=1.0), row(5, claim_distance=1.7), row(6, skipped=1), FAILED]
    found = linked.distribution(rows, linked.DISTANCE)
    assert found.right == (2, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0)
    assert found.wrong == (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2)
    assert sum(linked.distribution(rows, linked.LEXICAL).right) == 0
