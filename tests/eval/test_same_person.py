"""Which documents are about the same person. All people and texts are invented."""

from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.attacks.linkage import Bm25
from eval.experiment import SanitizedCorpus
from eval.measures.uncertainty import Estimate, clustered_share
from eval.progress import no_progress
from eval.rows import Row
from eval.tasks import same_person as measured
from eval.tasks.same_person import NO_TWIN, Found, SamePersonTask, found_twins, same_person
from ingest.deciding.baselines.uniform import ORIGIN, REDACT, SUPPRESS
from ingest.deciding.policy import Policy, Replacements
from ingest.documents import Document, SanitizedDocument
from ingest.language.sentences import split_sentences
from ingest.protocols import Encoder, Method
from ingest.sanitize import DecidingSanitizer
from ingest.scoring.prior import RiskPrior
from models.errors import ConfigurationError
from tests.doubles import PhraseDetector
from tests.hashing_encoder import HashingEncoder

ENCODER = HashingEncoder()
FAMILIES = "Talvik Ostrem Brandal Kvisla Myrhaug Tveiten Solbakk Hagness Lunder Fosdahl".split()
GIVEN = "Alvi Ersu Marun Petlo Laulo Tomru Julvo Martil".split()
NAMES = [f"{given} {family}" for family in FAMILIES for given in GIVEN][:40]
PLAIN = ("The ferry was late.", "It rained all day.", "We had tea.", "The road is closed.", "Nobody came.")
THINGS = "anvil barge churn dory easel fiddle gondola harrow inkwell jib kiln loom mangle niche oar".split()


def about(names: Sequence[str]) -> tuple[list[Document], list[tuple[str, str]]]:
    """Two letters of each person, which share nothing but the name."""
    random = Random(0)
    people = [(f"d{number:02}a", f"d{number:02}b") for number in range(len(names))]
    documents = [
        Document(doc_id, f"A letter from {name}. {' '.join(random.sample(PLAIN, 3))}")
        for name, ids in zip(names, people, strict=True)
        for doc_id in ids
    ]
    return documents, people


def kept(
    documents: Sequence[Document], method: Method, replacements: Replacements = "descriptor"
) -> SanitizedCorpus:
    detector = PhraseDetector(dict.fromkeys(NAMES, "person full name"))
    policy = Policy(replacements=replacements)
    done = DecidingSanitizer(detector, method, RiskPrior(), policy, b"k" * 32).sanitize(documents)
    there = [each for each in done if isinstance(each, SanitizedDocument)]
    return SanitizedCorpus("s", len(there), {}, {}, lambda encoder: pytest.fail("not asked"), there)


def rows(corpus: SanitizedCorpus, people: Sequence[Sequence[str]], encoder: Encoder = ENCODER) -> list[Row]:
    task = SamePersonTask(people, encoder)
    return list(task.rows(corpus, task.cases, no_progress))


def rows_of(method: Method, replacements: Replacements = "descriptor") -> list[Row]:
    """Of two letters of each of forty people."""
    documents, people = about(NAMES)
    return rows(kept(documents, method, replacements), people)


def test_the_same_person_in_two_unsanitized_documents_is_caught() -> None:
    found = rows_of(ORIGIN)
    first, chance = same_person(found)
    assert (first.value, first.n) == (1, 80) and chance.value == pytest.approx(1 / 79)
    assert [row.figures[measured.CHANCE_FIVE] for row in found] == pytest.approx([5 / 79] * 80)
    assert {row.figures[measured.ALIAS] for row in found} == {0}
    # Aliases show as the cost that they are.
    aliased = rows_of(REDACT, "alias")
    assert same_person(aliased)[0].value == 1
    assert {row.figures[measured.ALIAS] for row in aliased} == {1}


@pytest.mark.parametrize("method", [REDACT, SUPPRESS], ids=["generalized", "suppressed"])
def test_where_nothing_is_left_linking_is_chance(method: Method) -> None:
    found = rows_of(method)
    # Of 80 draws with 1/79, and with 5/79, more come once in ten thousand times.
    assert same_person(found)[0].hits <= 7
    assert sum(row.figures[measured.RANK] <= 5 for row in found) <= 16
    assert {row.figures[measured.ALIAS] for row in found} == {0}


def test_an_alias_is_found_among_many_other_words() -> None:
    random = Random(1)
    texts = [" ".join(random.choices(THINGS, k=200)) for _ in range(20)]
    documents = [Document(f"d{n:02}", f"{text}. {NAMES[n // 2]} wrote.") for n, text in enumerate(texts)]
    people = [(f"d{n:02}", f"d{n + 1:02}") for n in range(0, 20, 2)]
    assert same_person(rows(kept(documents, REDACT, "alias"), people))[0].value == 1


def test_what_is_left_in_both_documents_links_them(minilm: Encoder) -> None:
    said = (
        ("plays the harpsichord in a chapel", "performs baroque keyboard music at church"),
        ("breeds tortoises in a greenhouse", "keeps reptiles under glass"),
        ("repairs clocks of old lighthouses", "mends timepieces in coastal towers"),
        ("paints whales on the hulls of boats", "decorates ships with sea animals"),
        ("bakes bread for a monastery", "makes loaves for monks"),
        ("teaches chess to prisoners", "gives lessons in board games in jail"),
    )
    documents = [Document(f"a{n}", f"{NAMES[n]} {each}.") for n, (each, _) in enumerate(said)]
    documents += [Document(f"b{n}", f"There is {NAMES[n]}, who {each}.") for n, (_, each) in enumerate(said)]
    people = [(f"a{n}", f"b{n}") for n in range(len(said))]
    first, chance = same_person(rows(kept(documents, SUPPRESS), people, minilm))
    assert first.hits >= 8
    assert chance.value == pytest.approx(1 / 11)


def test_ranks_by_hand() -> None:
    scores = np.array([-np.inf, 3.0, 2.0, 1.0, 0.0])
    rng = np.random.default_rng(0)
    assert found_twins(scores, 0, [3], rng) == Found(3, 1, 4)
    assert found_twins(scores, 0, [3, 1], rng) == Found(1, 2, 4)
    # Equals are ranked at random.
    ranks = [found_twins(np.zeros(5), 0, [4], np.random.default_rng(seed)).rank for seed in range(400)]
    assert set(ranks) == {1, 2, 3, 4}
    assert 60 <= ranks.count(1) <= 140


@given(st.integers(1, 30), st.integers(1, 30), st.integers(1, 40))
def test_chance_grows_to_certainty(twins: int, without: int, top: int) -> None:
    found = Found(1, twins, twins + without)
    assert 0 < found.chance(top) <= found.chance(top + 1) + 1e-12 <= 1 + 2e-12
    assert found.chance(1) == pytest.approx(twins / (twins + without))
    assert found.chance(without + 1) == pytest.approx(1)
    # No twin among two of four: 2/4 * 1/3.
    assert Found(1, 2, 4).chance(2) == pytest.approx(5 / 6)


def test_shares_are_of_documents_and_intervals_over_people() -> None:
    def row(person: int, rank: int) -> Row:
        figures = {measured.PERSON: person, measured.RANK: rank, measured.CHANCE: 0.25}
        return Row(system="s", task="t", case=f"{person} {rank}", figures=figures)

    failed = Row(system="s", task="t", case="x", failure=NO_TWIN)
    found = same_person([row(1, 1), row(1, 5), row(2, 6), failed])
    assert found == (clustered_share([1, 0], [2, 1]), Estimate(0.25))
    assert same_person([failed])[0].value is same_person([])[1].value is None


def test_people_with_several_documents_have_rows_and_all_documents_are_candidates() -> None:
    documents, people = about(NAMES[:4])
    found = rows(kept(documents, ORIGIN), [(*people[0], *people[1]), ("d02a",)])
    assert [row.case for row in found] == ["d00a", "d00b", "d01a", "d01b"]
    names = measured.TWINS, measured.OTHERS, measured.RANK
    figures = {tuple(row.figures[name] for name in names) for row in found}
    assert figures == {(3, 7, 1)}
    assert "Talvik" not in repr(found) and "letter" not in repr([found, SamePersonTask(people, ENCODER)])


def test_who_has_no_twin_left_is_not_measured() -> None:
    documents, people = about(NAMES[:4])
    corpus, task = kept(documents[1:], ORIGIN), SamePersonTask(people, ENCODER)
    found = {row.case: row for row in rows(corpus, people)}
    # Some cases have the same rows.
    assert list(task.rows(corpus, ["d03b", "d02a"], no_progress)) == [found["d03b"], found["d02a"]]
    assert found["d00a"].failure == "not sanitized"
    assert (found["d00b"].failure, found["d00b"].figures) == (NO_TWIN, {})
    assert same_person(found.values())[0].n == 6


def test_the_scores_are_the_sum_of_three() -> None:
    documents, _ = about(NAMES[:3])
    corpus = kept(documents, REDACT, "alias")
    scores = measured.SamePerson(ENCODER).scores(corpus.documents)
    texts = [each.text for each in corpus.documents]
    words = np.array(list(Bm25().index(texts)(texts)))
    vectors = np.array([ENCODER.encode([" ".join(split_sentences(text))])[0] for text in texts], np.float64)
    vectors -= vectors.mean(axis=0)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    assert np.isinf(np.diag(scores)).all()
    one, same, other, *_ = map(measured.marks_in, corpus.documents)
    assert one == same != other and len(one) == 1
    expected = words / np.diag(words)[:, None] + vectors @ vectors.T
    # Two of six documents show the alias: log(6 / 2) / log(6 / 2).
    assert scores[0, 1] == pytest.approx(expected[0, 1] + measured.MARK, abs=1e-5)
    assert scores[0, 2] == pytest.approx(expected[0, 2], abs=1e-5)
    assert measured.SamePerson(ENCODER).scores([]).shape == (0, 0)


def test_marks_are_aliases_and_what_was_kept_and_may_identify() -> None:
    documents, _ = about(NAMES[:3])
    origin = kept(documents, ORIGIN).documents
    assert measured.marks_in(origin[0]) == {"person full name: alvi talvik"}
    assert not measured.aliases_in(origin[0])
    assert not measured.marks_in(kept(documents, REDACT).documents[0])


def test_gold_that_cannot_be_used_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="A document is about two people, or named twice"):
        SamePersonTask([("a", "b"), ("b", "c")], ENCODER)
    with pytest.raises(ConfigurationError, match="No person has two documents: name at least two ids"):
        SamePersonTask([("a",), ()], ENCODER)
