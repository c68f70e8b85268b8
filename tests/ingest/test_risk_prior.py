import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.annotated import AnnotatedText
from ingest.documents import Document
from ingest.linking.link import link
from ingest.scoring.prior import NO_PERSON, RiskPrior, descriptor_of
from tests.doubles import PhraseDetector
from tests.strategies import annotated_texts, overlapping_words, sentences_about_people

MANY = settings(max_examples=300, deadline=None)


def totals(*texts: AnnotatedText) -> list[float]:
    return [hazards.total for hazards in RiskPrior().hazards(texts)]


def annotated(text: str, **phrases: str) -> AnnotatedText:
    document = Document("d", text)
    marks = {phrase.replace("_", " "): label for phrase, label in phrases.items()}
    return AnnotatedText(text, link(document, PhraseDetector(marks).detect([document])[0]))


@MANY
@given(st.one_of(sentences_about_people(), overlapping_words()))
def test_marginals_are_what_taking_away_would_show(text: AnnotatedText) -> None:
    (whole,) = RiskPrior().hazards([text])
    for number, gain in whole.marginals.items():
        (rest,) = totals(text.without({number}, descriptor_of))
        assert gain == pytest.approx(whole.total - rest, abs=1e-9)


@MANY
@given(annotated_texts())
def test_taking_away_never_raises_the_hazard(text: AnnotatedText) -> None:
    (hazards,) = RiskPrior().hazards([text])
    assert min([hazards.total, *hazards.marginals.values()]) >= -1e-9


def test_a_name_weighs_its_rubric_prior_once_however_often_it_stands() -> None:
    texts = (annotated(text, Keller="person full name") for text in ("Keller", "Keller Keller"))
    once, twice = totals(*texts)
    assert 1 - math.exp(-once) == pytest.approx(0.85)
    assert once == twice


def test_facts_weigh_more_together_than_apart() -> None:
    town = annotated("she lives in Bremen", Bremen="city name")
    job = annotated("she is a smith", smith="job title")
    both = annotated("she is a smith in Bremen", Bremen="city name", smith="job title")
    assert totals(both)[0] > sum(totals(town, job))


def test_facts_about_nobody_weigh_less() -> None:
    texts = (annotated(f"{train} to Bremen", Bremen="city name") for train in ("trains", "her train"))
    nobody, somebody = totals(*texts)
    assert nobody == pytest.approx(NO_PERSON * somebody)


def test_symptoms_together_stay_below_their_ceiling() -> None:
    words = {f"ache{n}x": "symptom" for n in range(100)}
    (hazard,) = totals(annotated("she has " + " ".join(words), **words))
    assert 1 - math.exp(-hazard) < 0.3
