"""Thresholds fitted on tallies made by hand. All texts here are invented."""

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.corpora.examples import Example, Mention
from models.detectors.words import WordHit
from models.training.thresholds import (
    BALANCED,
    DEVELOPMENT_SHARE,
    FEWEST_WORDS,
    GRID,
    LOWEST,
    PROFILES,
    RECALL,
    Profile,
    Tally,
    development_split,
    f_beta,
    fit,
    tallied,
)

scores = st.floats(0, 1)
many_scores = st.lists(scores, max_size=50).map(tuple)
tallies = st.builds(
    lambda right, wrong, missed: Tally(right, wrong, len(right) + missed),
    many_scores,
    many_scores,
    st.integers(0, 120),
)


def clean(limit: float, words: int = FEWEST_WORDS) -> Tally:
    """Everything right scores at least ``limit``, everything wrong a little less."""
    return Tally((limit + 0.01,) * words, (limit - 0.02,) * words, words)


@pytest.mark.parametrize("limit", [0.2, 0.35, 0.5, 0.75])
def test_the_threshold_is_where_right_and_wrong_part(limit: float) -> None:
    assert fit({"a": clean(limit)}, BALANCED)["a"] == pytest.approx(limit)


def test_each_label_with_words_enough_has_its_own_and_the_rest_take_the_common_one() -> None:
    many = {"high": clean(0.7, FEWEST_WORDS), "low": clean(0.2, 10 * FEWEST_WORDS)}
    few = {"few": clean(0.6, FEWEST_WORDS - 1)}
    chosen = fit(many | few, BALANCED)
    assert set(chosen) == {"", "high", "low", "few"}
    assert chosen["high"] == pytest.approx(0.7)
    assert chosen["low"] == pytest.approx(0.2)
    assert chosen["few"] == chosen[""] == pytest.approx(0.2)
    enough = fit(many | {"few": clean(0.6, FEWEST_WORDS)}, BALANCED)
    assert enough["few"] == pytest.approx(0.6)


def test_words_that_were_missed_count_among_the_fewest() -> None:
    half = FEWEST_WORDS // 2
    found = Tally((0.61,) * half, (0.58,) * half, FEWEST_WORDS)
    common = {"low": clean(0.2, 10 * FEWEST_WORDS)}
    assert fit(common | {"found": found}, BALANCED)["found"] == pytest.approx(0.6)
    fewer = Tally(found.right, found.wrong, FEWEST_WORDS - 1)
    assert fit(common | {"found": fewer}, BALANCED)["found"] == pytest.approx(0.2)


def test_of_equal_thresholds_the_lowest_holds() -> None:
    sure = Tally((0.99,) * FEWEST_WORDS, (), FEWEST_WORDS)
    assert fit({"a": sure}, BALANCED) == {"": 0.15, "a": 0.15}
    assert fit({"a": sure}, RECALL) == {"": 0.05, "a": 0.05}
    assert fit({}, BALANCED) == {"": 0.15}


def test_recall_weighs_misses_more_than_false_alarms() -> None:
    # Below 0.4 more words are wrong than right.
    doubtful = Tally((0.9,) * 90 + (0.3,) * 30, (0.3,) * 75, 120)
    assert fit({"a": doubtful}, BALANCED)["a"] > 0.3
    assert fit({"a": doubtful}, RECALL)["a"] <= 0.3


def brute(tally: Tally, profile: Profile) -> float:
    """The best F-beta in a profile's range, from its definition by counts of hits and misses."""
    best = 0.0
    for limit in GRID:
        if profile.low <= limit <= profile.high:
            hits = sum(score >= limit for score in tally.right)
            alarms = sum(score >= limit for score in tally.wrong)
            if hits:
                precision, recall = hits / (hits + alarms), hits / tally.marked
                weight = profile.beta**2
                best = max(best, (1 + weight) / (weight / recall + 1 / precision))
    return best


@settings(max_examples=200)
@given(tallies, st.sampled_from(PROFILES))
def test_no_threshold_in_the_profiles_range_does_better(tally: Tally, profile: Profile) -> None:
    chosen = fit({"a": tally}, profile)[""]
    assert profile.low <= chosen <= profile.high
    assert chosen in GRID
    assert f_beta(tally, chosen, profile.beta) == pytest.approx(brute(tally, profile))


@settings(max_examples=200)
@given(st.dictionaries(st.sampled_from("abc"), tallies, max_size=3))
def test_recall_never_asks_for_more_than_balanced(of_labels: dict[str, Tally]) -> None:
    balanced, recall = fit(of_labels, BALANCED), fit(of_labels, RECALL)
    assert set(balanced) == set(recall) == {"", *of_labels}
    assert all(recall[label] <= balanced[label] for label in balanced)


@given(tallies, st.floats(0, 1), st.sampled_from([0.5, 1.0, 3.0]))
def test_f_beta_lies_between_precision_and_recall(tally: Tally, limit: float, beta: float) -> None:
    value = f_beta(tally, limit, beta)
    assert 0 <= value <= 1
    hits = sum(score >= limit for score in tally.right)
    if value:
        precision = hits / (hits + sum(score >= limit for score in tally.wrong))
        recall = hits / tally.marked
        assert min(precision, recall) - 1e-9 <= value <= max(precision, recall) + 1e-9
    else:
        assert not hits


def test_f_beta_by_hand() -> None:
    tally = Tally((0.9, 0.8, 0.3), (0.7, 0.2), 4)
    assert f_beta(tally, 0.5, 1.0) == pytest.approx(2 * (2 / 3) * (1 / 2) / (2 / 3 + 1 / 2))
    assert f_beta(tally, 0.95, 1.0) == 0.0
    assert f_beta(tally, 0.3, 3.0) == pytest.approx(10 * (3 / 4) * (3 / 4) / (9 * 3 / 4 + 3 / 4))
    assert f_beta(Tally((), (), 0), 0.5, 1.0) == 0.0


def example(number: int, group: str, corpus: str = "invented") -> Example:
    return Example(f"i{number}", corpus, group, "then Quorin went", (), ("a",))


def test_a_group_is_never_torn_and_about_one_in_twenty_is_set_apart() -> None:
    chance = random.Random(0)
    examples = [example(number, f"g{chance.randrange(1_500)}") for number in range(4_000)]
    trained_on, development = development_split(examples)
    assert Counter(e.id for e in [*trained_on, *development]) == Counter(e.id for e in examples)
    assert not {e.group for e in trained_on} & {e.group for e in development}
    assert len(development) / len(examples) == pytest.approx(1 / DEVELOPMENT_SHARE, rel=0.4)
    # The side depends on nothing but the group's name.
    shuffled = chance.sample(examples, len(examples))
    assert {e.id for e in development_split(shuffled)[1]} == {e.id for e in development}
    assert [e.id for e in trained_on] == [e.id for e in examples if e.group in {t.group for t in trained_on}]


def test_groups_of_one_name_in_two_corpora_are_two() -> None:
    both = [example(0, f"g{n}", corpus) for n in range(400) for corpus in ("one", "other")]
    sides = {(e.corpus, e.group): side for side, kept in enumerate(development_split(both)) for e in kept}
    assert any(sides["one", f"g{n}"] != sides["other", f"g{n}"] for n in range(400))


WORDS = [(10 * number, 10 * number + 9) for number in range(8)]


def test_a_tally_counts_words_where_their_label_was_asked() -> None:
    # A mention of two words, one that holds part of a third, and one of a label that is not asked.
    gold = (Mention(0, 19, "a"), Mention(34, 36, "a"), Mention(40, 49, "b"))
    marked = Example("x", "invented", "g", "." * 80, gold, ("a", "none"))
    found = [
        WordHit(0, "a", 0.9, True),
        WordHit(2, "a", 0.3, False),
        WordHit(3, "a", 0.4, True),
        WordHit(3, "b", 0.8, True),
        WordHit(4, "b", 0.8, True),
        WordHit(5, "none", 0.7, True),
    ]
    other = Example("y", "invented", "g", "." * 80, (Mention(0, 9, "b"), Mention(5, 19, "b")), ("b",))
    counted = tallied([marked, other], [WORDS, WORDS], [found, []])
    assert counted == {"a": Tally((0.9, 0.4), (0.3,), 3), "b": Tally((), (), 2)}


def test_a_word_that_two_windows_saw_is_counted_once_with_its_higher_score() -> None:
    marked = Example("x", "invented", "g", "." * 80, (Mention(0, 9, "a"),), ("a",))
    seen = [WordHit(0, "a", 0.5, True), WordHit(1, "a", 0.8, False)]
    again = [WordHit(0, "a", 0.7, True), WordHit(1, "a", 0.2, False)]
    assert tallied([marked], [WORDS], [[*seen, *again]]) == {"a": Tally((0.7,), (0.8,), 1)}


@given(
    st.lists(st.tuples(st.integers(0, 75), st.integers(1, 30), st.sampled_from("ab")), max_size=6),
    st.lists(
        st.builds(WordHit, st.integers(0, 7), st.sampled_from("ab"), scores, st.booleans()), max_size=20
    ),
)
def test_every_marked_word_and_every_hit_is_tallied_once(
    gold: list[tuple[int, int, str]], hits: list[WordHit]
) -> None:
    mentions = tuple(Mention(start, start + length, label) for start, length, label in gold)
    marked = Example("x", "invented", "g", "." * 80, mentions, ("a",))
    counted = tallied([marked], [WORDS], [hits])
    inside = {
        number
        for number, (start, end) in enumerate(WORDS)
        if any(m.label == "a" and m.start < end and start < m.end for m in mentions)
    }
    best: dict[int, float] = {}
    for hit in hits:
        if hit.label == "a":
            best[hit.word] = max(hit.score, best.get(hit.word, 0.0))
    if not inside:
        assert counted == {}
        return
    assert set(counted) == {"a"}
    assert counted["a"].marked == len(inside)
    assert sorted(counted["a"].right) == sorted(score for word, score in best.items() if word in inside)
    assert sorted(counted["a"].wrong) == sorted(score for word, score in best.items() if word not in inside)


def test_the_grid_reaches_the_ends_of_every_range() -> None:
    for profile in PROFILES:
        assert LOWEST <= profile.low
        assert {profile.low, profile.high} <= set(GRID)
