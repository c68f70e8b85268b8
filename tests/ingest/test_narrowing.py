"""Facts, the bits that they say, and the order in which they are kept."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.annotated import AnnotatedText
from ingest.deciding.lethe import Lethe
from ingest.deciding.narrowing import FEATURES, Facts, facts_of, held, in_order, rows_of
from ingest.deciding.policy import DIRECT, FITS, KEPT, NARROWS, Policy, Treatment
from ingest.documents import Action, Decision, Entity, Span
from ingest.labels import label_of
from ingest.scoring.prior import RiskPrior
from models.bits import embedded_bits, load_bits, surprisals
from models.catalog import ModelRef
from models.encoders.words import Need
from models.errors import ModelUnavailable
from tests.doubles import entity

CERTAIN, UNLIKELY = Need(1.0, 0.98, 0.9), Need(0.6, 0.1, 0.02)
WORTH = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0, 20), min_size=8, max_size=8)
LINKS = st.dictionaries(st.integers(0, 6), st.sets(st.sampled_from("abcdefgh"), max_size=4), max_size=7)
FACTS = st.builds(
    lambda worth, links: {link: {word: worth[word] for word in words} for link, words in links.items()},
    WORTH,
    LINKS,
)
"""Links with some words; a word is worth the same in all of them."""


NAME, JOB, CITY, DRUG, ILLNESS = "person full name", "job title", "city name", "medication", "disease"


def annotated(text: str, **named: tuple[str, Need | None]) -> AnnotatedText:
    """The text with each named phrase wherever it stands; a phrase is one link."""
    entities = []
    for link, (phrase, (label, need)) in enumerate(named.items()):
        for match in re.finditer(re.escape(phrase.replace("_", " ")), text):
            span, kind = Span(*match.span()), label_of(label).identifier
            entities.append(Entity(span, label, kind, 0.9, "test", link, need=need))
    return AnnotatedText(text, sorted(entities, key=lambda each: each.span))


def bits_of(text: AnnotatedText) -> list[float]:
    """The bits that each link of a text says."""
    (facts,) = facts_of([text], [()], embedded_bits())
    return [sum(facts[link].values()) for link in sorted(facts)]


def _said(facts: Facts, links: set[int]) -> float:
    """The bits of some facts together, slowly."""
    return sum({word: bits for link in links for word, bits in facts[link].items()}.values())


@given(FACTS, st.sets(st.integers(0, 6)))
@settings(deadline=None)
def test_the_order_keeps_next_what_adds_least_to_what_is_said(
    facts: Mapping[int, Mapping[str, float]], first: set[int]
) -> None:
    order = in_order(facts, first)
    assert sorted(each.link for each in order) == sorted(facts)
    nothing = {link for link in facts if not _said(facts, {link})}
    before_all = nothing | (first & facts.keys())
    assert {each.link for each in order[: len(nothing)]} == nothing
    assert {each.link for each in order[: len(before_all)]} == before_all
    kept: set[int] = set()
    for each in order:
        if not before_all - kept:
            others = [_said(facts, {*kept, link}) for link in facts if link not in kept]
            assert _said(facts, {*kept, each.link}) <= min(others) + 1e-9
        before = _said(facts, kept)
        kept.add(each.link)
        assert each.together == pytest.approx(_said(facts, kept))
        assert each.bits == pytest.approx(_said(facts, kept) - before)
    assert all(one.together <= other.together + 1e-9 for one, other in pairwise(order))


def test_a_word_that_two_facts_share_is_said_once() -> None:
    order = in_order({0: {"north": 5.0}, 1: {"north": 5.0, "quay": 1.0}, 2: {"mill": 4.0}})
    assert [(each.link, each.bits) for each in order] == [(2, 4.0), (0, 5.0), (1, 1.0)]
    assert order[-1].together == 10.0


@pytest.mark.parametrize(
    "shared", [lambda n: {"may": 0.5, "2011": 2.0}, lambda n: {f"v{n // 2}": 2.0 + n % 3}]
)
def test_order_does_not_grow_with_the_square_of_facts_that_share_words(
    shared: Callable[[int], dict[str, float]],
) -> None:
    def steps(count: int) -> int:
        asked = 0

        class Counted(dict[str, float]):
            def items(self) -> Any:
                nonlocal asked
                asked += 1
                return super().items()

        facts = {n: Counted({f"w{n}": 1.0 + n % 7, **shared(n)}) for n in range(count)}
        assert sorted(each.link for each in in_order(facts)) == list(range(count))
        return asked

    assert steps(400) <= 2.2 * steps(200)


def test_words_belong_to_the_innermost_fact_and_never_to_an_identifier() -> None:
    found = [entity(0, 9, NAME, 0), entity(13, 23, "organization", 1)]
    found += [entity(13, 18, NAME, 0), entity(35, 39, CITY, 2)]
    read = held(AnnotatedText("Ada Quill of Quill Mill, a mill in Tarn.", found), {0})
    assert {link: dict(words) for link, words in read.words.items()} == {1: {"mill": 1}, 2: {"tarn": 1}}
    assert read.elsewhere == {"of": 1, "a": 1, "mill": 1, "in": 1}


def test_rare_words_that_the_reader_would_mask_say_most() -> None:
    text = "She was a lighthouse keeper in Leeds and took ramipril for asthma since 2019."
    known = {"lighthouse_keeper": (JOB, CERTAIN), "Leeds": (CITY, CERTAIN)}
    found = annotated(text, **known, ramipril=(DRUG, UNLIKELY), asthma=(ILLNESS, UNLIKELY))
    keeper, town, drug, illness = bits_of(found)
    assert keeper > town > 1 > drug == illness == 0


def test_without_a_reader_the_risk_of_the_label_stands_for_it() -> None:
    text, day = "Born 4 May 1957 in Leeds. Takes ramipril.", {"4_May_1957": ("date of birth", None)}
    born, town, drug = bits_of(annotated(text, **day, Leeds=(CITY, None), ramipril=(DRUG, None)))
    assert born > town > drug


def test_a_fact_without_letters_is_a_word_of_its_own() -> None:
    (sign,) = bits_of(annotated("Marked \u2642 on the form.", **{"\u2642": ("gender", CERTAIN)}))
    assert sign > 1


def test_the_likeliest_mention_says_how_likely_a_fact_is_known() -> None:
    mixed = annotated("Asked for the keeper. The keeper came. The keeper left.", keeper=(JOB, CERTAIN))
    labels = (ILLNESS, ILLNESS, JOB)
    entities = [replace(each, label=label) for each, label in zip(mixed.entities, labels, strict=True)]
    (keeper,) = bits_of(AnnotatedText(mixed.text, entities))
    assert keeper > 1


def test_bits_depend_neither_on_the_batch_nor_on_padding() -> None:
    model, said = embedded_bits(), ("A baker in Hull.", "Nothing here.", "A baker in Bath, 61.")
    known = {"baker": (JOB, CERTAIN), "Hull": (CITY, CERTAIN), "Bath": (CITY, CERTAIN)}
    texts = [annotated(each, **known) for each in said]
    alone = [facts_of([text], [()], model)[0] for text in texts]
    assert facts_of(texts, [()] * 3, model) == alone
    assert facts_of([], [], model) == []
    padded = AnnotatedText(f"{texts[0].text} {'The work was long and hard. ' * 200}", texts[0].entities)
    assert facts_of([padded], [()], model) == [alone[0]]


def test_rarer_and_oftener_words_never_say_less() -> None:
    text = annotated("A cooper in Hull.", cooper=(JOB, CERTAIN), Hull=(CITY, CERTAIN))
    _, rows = rows_of(held(text, ()), {"cooper": 10.0, "hull": 12.0})
    for column in ("surprisal", "times"):
        place, last = FEATURES.index(column), np.full(len(rows), -np.inf, np.float32)
        for value in (0.0, 1.0, 2.0, 6.0, 12.0, 20.0):
            changed = rows.copy()
            changed[:, place] = value
            linking = embedded_bits().linking.of(changed)
            assert (linking >= last - 1e-5).all()
            last = linking


def test_surprisal_grows_with_rarity() -> None:
    found = surprisals(["the", "engineer", "zymurgist"])
    assert 5 < found["the"] < 12 < found["engineer"] < 25 < found["zymurgist"]
    # A name is as frequent as it is with its capital.
    assert surprisals(["london"])["london"] < surprisals(["londonn"])["londonn"] - 5


def test_a_model_with_other_files_is_refused(tmp_path: object) -> None:
    with pytest.raises(ModelUnavailable, match=r"it needs bits\.safetensors and bits\.json"):
        load_bits(ModelRef(source="path", name=str(tmp_path)))


YEAR = {"1957": ("date", Need(0.9, 0.5, 0.3))}
WORK = {"Ada_Quill": (NAME, CERTAIN), "lighthouse_keeper": (JOB, CERTAIN), "Leeds": (CITY, CERTAIN)}
HEALTH = {"ramipril": (DRUG, UNLIKELY), "asthma": (ILLNESS, UNLIKELY)}
SAID = "Ada Quill, a lighthouse keeper in Leeds, born in 1957, takes ramipril for asthma."
LETTER = annotated(SAID, **WORK, **HEALTH, **YEAR)


def _decided(policy: Policy, text: AnnotatedText = LETTER) -> Mapping[str, Decision]:
    (found,) = Lethe(embedded_bits(), policy).decide([text], RiskPrior().hazards([text]))
    return {each.entity.label: each for each in found}


def test_what_narrows_down_goes_and_what_describes_a_case_stays() -> None:
    found = {label: each.reason for label, each in _decided(Policy()).items()}
    narrow, fit = dict.fromkeys((JOB, CITY, "date"), NARROWS), dict.fromkeys((DRUG, ILLNESS), FITS)
    assert found == {NAME: DIRECT, **narrow, **fit}


def test_the_more_people_must_fit_the_less_stays() -> None:
    kept = []
    for k in (99.0, 50.0, 20.0, 1.0, 1e-3, 1e-60):
        stays = {label: each for label, each in _decided(Policy(k=k)).items() if each.action is Action.KEEP}
        scores = [each.scores for each in stays.values()]
        priorities = [each.priority for each in scores if each is not None and each.priority is not None]
        assert max(priorities, default=0.0) < Policy(k=k).threshold
        kept.append(set(stays))
    assert all(one <= other for one, other in pairwise(kept))
    assert kept[0] < kept[-1] == {JOB, CITY, "date", DRUG, ILLNESS}


def test_only_the_share_of_people_counts() -> None:
    assert Policy(k=20, people=100).threshold == Policy(k=2_000, people=10_000).threshold
    assert Policy().at(3.0).threshold == pytest.approx(3.0)
    assert Policy().at(math.inf).threshold == math.inf
    assert (Policy().at(-0.05).k, Policy().at(-math.inf).threshold) == (Policy().people, 0)
    assert Policy("trip").at(0.4) == Policy("trip", tau=0.4)
    assert (
        Policy(k=1e308, people=1e-308).threshold < -2_000 < 2_000 < Policy(k=1e-308, people=1e308).threshold
    )


def test_what_a_label_keeps_is_said_before_all_else() -> None:
    policy = Policy(k=1e-3, treatment=Treatment({JOB: "keep"}))
    kept, free = _decided(policy), _decided(policy.at(20.0))
    assert kept[JOB].reason == KEPT
    job, town = kept[JOB].scores, free[CITY].scores
    assert job is not None and town is not None and job.priority is not None and town.priority is not None
    assert town.priority > job.priority > 0


@pytest.mark.parametrize(("tau", "action"), [(math.inf, Action.KEEP), (-math.inf, Action.GENERALIZE)])
def test_what_has_no_word_of_its_own_says_nothing_and_stays(tau: float, action: Action) -> None:
    labels = {"€": "currency symbol", "York_clinic": "organization", "York": CITY}
    labels |= {"clinic": "medical department"}
    found = {said: (label, CERTAIN) for said, label in labels.items()}
    decided = _decided(Policy().at(tau), annotated("Paid 40 € at York clinic.", **found))
    assert {each.action for each in decided.values()} == {action}


def test_all_of_health_goes_where_the_policy_says_so() -> None:
    found = _decided(Policy(sensitive="generalize"))
    assert {found[label].action for label in (DRUG, ILLNESS)} == {Action.GENERALIZE}
