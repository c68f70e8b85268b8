"""Which method comes before which: what INTACT's authors found, and whether it comes out here.

Their figures are on other cases, by language models; "most specific" and "least specific" are theirs of a
language model's candidates and ours of a ladder by rules. So only the order is compared.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import fmean, stdev

from eval.corpora.marked import ReplacedCase
from eval.measures.preserved import (
    BY_WORDS,
    Clustering,
    ClustersKept,
    EditedDocument,
    Preserved,
    clustered,
    clusters_kept,
    engine_of,
    text_preserved,
    window_vectors,
    word_vectors,
)
from eval.measures.uncertainty import Estimate, mean_of, share_of
from eval.studies.intact.report import OrderFact
from eval.studies.marks.methods import GoldDetector
from ingest.annotated import AnnotatedText
from ingest.deciding.baselines.entity_type import EntityType
from ingest.deciding.baselines.synthetic import Synthetic
from ingest.deciding.baselines.uniform import REDACT, SUPPRESS
from ingest.documents import Action, Decision, Document, Entity, SanitizedDocument, Span
from ingest.protocols import Encoder, Hazards, Method, Wording
from ingest.sanitize import DecidingSanitizer
from ingest.scoring.prior import RiskPrior
from ingest.wording.guessed import Guessed, Guesser
from ingest.wording.rungs import below, least_specific, most_specific
from ingest.wording.words import worded
from models.errors import ModelUnavailable

SUPPRESSION, ENTITY_TYPE, SYNTHETIC = "suppression", "entity type", "synthetic"
LEAST, MOST, INTACT, LETHE = "least specific", "most specific", "intact (rule engine)", "lethe"
PUBLISHED: Mapping[str, str] = {
    "intact": "INTACT, published output",
    "gpt35_presidio": "synthetic by GPT-3.5, published output",
}
"""What tables call the published outputs of the corpus."""
METHODS = (SUPPRESSION, ENTITY_TYPE, *PUBLISHED.values(), SYNTHETIC, LEAST, MOST, INTACT, LETHE)
"""In the order of the tables."""
DOU = "Dou et al. abstraction"
DOU_IS_ABSENT = "its weights, an adapter of a language model of 7 billion weights, are not part of Lethe"


def sanitizers(
    cases: Sequence[ReplacedCase], guesser: Guesser, limit: float
) -> tuple[dict[str, DecidingSanitizer], dict[str, str]]:
    """Each method that can run, by name, and why others are absent. All replace every annotated mention."""
    gold, risk = GoldDetector([case.marked for case in cases]), RiskPrior()

    def by(method: Method, wording: Wording | None = None) -> DecidingSanitizer:
        return DecidingSanitizer(gold, method, risk, language="any", wording=wording)

    made: dict[str, Callable[[], DecidingSanitizer]] = {
        SUPPRESSION: lambda: by(SUPPRESS),
        ENTITY_TYPE: lambda: by(EntityType()),
        SYNTHETIC: lambda: by(Synthetic()),
        LEAST: lambda: by(REDACT, partial(worded, take=least_specific)),
        MOST: lambda: by(REDACT, partial(worded, take=most_specific)),
        INTACT: lambda: by(REDACT, Guessed(guesser, limit)),
        LETHE: lambda: by(REDACT, partial(worded, take=below(limit))),
    }
    for key, name in PUBLISHED.items():
        words = {case.document.text: case.published.get(key, {}) for case in cases}
        if all(words.values()):
            made[name] = partial(by, PublishedWords(name, words))
    found: dict[str, DecidingSanitizer] = {}
    absent = {DOU: DOU_IS_ABSENT}
    for name in METHODS:
        try:
            found[name] = made[name]()
        except KeyError:
            absent[name] = "the corpus has no output of it"
        except ModelUnavailable as error:
            absent[name] = str(error)
    return found, absent


@dataclass(frozen=True, slots=True)
class PublishedWords:
    """Puts in what a published output has for each span; ``words`` are by text and span."""

    name: str
    words: Mapping[str, Mapping[Span, str]] = field(repr=False)

    def decide(self, texts: Sequence[AnnotatedText], hazards: Sequence[Hazards]) -> list[Sequence[Decision]]:
        """A decision for each mention."""
        return [[self._decision(text, entity) for entity in text.entities] for text in texts]

    def _decision(self, text: AnnotatedText, entity: Entity) -> Decision:
        said = self.words[text.text][entity.span].strip()
        return Decision(entity, None, Action.SURROGATE if said else Action.SUPPRESS, self.name, said)


TRIR_ENGINE = "trir[tfidf]"


@dataclass(frozen=True, slots=True)
class Reidentified:
    """The share of documents whose individual was named, with Wilson's interval.

    ``named`` says of each document, by its individual, whether it was. Ids of individuals may be names, so
    the repr leaves it out.
    """

    engine: str
    estimate: Estimate
    n_individuals: int
    named: Mapping[str, bool] = field(repr=False)


def reidentified(backgrounds: Mapping[str, str], sanitized: Mapping[str, str]) -> Reidentified:
    """The TRIR of sanitized documents, given the background of every individual, both by individual.

    The measure of Manzanares-Salor, Sánchez and Lison (2024, Evaluating the disclosure risk of anonymized
    documents via a machine learning-based re-identification attack), which INTACT uses. The background is a
    public text about an individual. Theirs trains a language model on the backgrounds; ours, ``trir[tfidf]``,
    names the individual whose background is most similar by TF-IDF. It is weaker: a low share is no proof of
    safety, and the published shares are no yardstick.

    Raises:
        ValueError: an individual has no background, or no background has a word.
    """
    if without := len(sanitized.keys() - backgrounds.keys()):
        raise ValueError(f"{without} of {len(sanitized)} individuals have no background: give one of each")
    guesses = most_similar_individuals(backgrounds, list(sanitized.values()))
    named = {each: each == guess for each, guess in zip(sanitized, guesses, strict=True)}
    return Reidentified(TRIR_ENGINE, share_of(sum(named.values()), len(named)), len(backgrounds), named)


def most_similar_individuals(backgrounds: Mapping[str, str], texts: Sequence[str]) -> list[str | None]:
    """For each text the individual of the most similar background, None if no word is in any of them.

    Similarity is the cosine of TF-IDF vectors with a logarithmic count of words (1 + ln tf), without English
    stop words. The vocabulary and its frequencies are those of the backgrounds. The first of equals is named.

    Raises:
        ValueError: no background has a word that is not a stop word.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    individuals = list(backgrounds)
    vectorizer = TfidfVectorizer(sublinear_tf=True, stop_words="english")
    try:
        known = vectorizer.fit_transform(backgrounds.values())
    except ValueError:
        raise ValueError(
            f"{len(backgrounds)} backgrounds hold no words but stop words: give one with words"
        ) from None
    if not texts:
        return []
    similarities = (vectorizer.transform(texts) @ known.T).toarray()
    return [individuals[row.argmax()] if row.any() else None for row in similarities]


def reidentified_difference(one: Reidentified, other: Reidentified, seed: int = 0) -> Estimate:
    """The share under one method minus that under another, paired and resampled by document.

    No interval if all documents differ by the same.

    Raises:
        ValueError: the two are not about the same documents.
    """
    if one.named.keys() != other.named.keys():
        raise ValueError("the two methods were measured on different individuals")
    return mean_of([float(named) - float(other.named[each]) for each, named in one.named.items()], seed)


Clusterings = Sequence[Clustering | None]
"""The clusters of some texts: by words, and by the vectors of an encoder."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A method's figures; clusters and names are None where a document is missing."""

    kept: Preserved
    clusters: Sequence[ClustersKept | None]
    named: Reidentified | None = field(repr=False)


def clusterings(texts: Sequence[str], encoder: Encoder, seed: int) -> Clusterings:
    """The clusters of texts by each engine, None where an engine finds too few different ones."""
    return (
        clustered(BY_WORDS, word_vectors(texts), seed),
        clustered(engine_of(encoder), window_vectors(texts, encoder), seed),
    )


def compared(
    originals: Sequence[Document],
    sanitized: Sequence[SanitizedDocument],
    clusters: Clusterings,
    known: Mapping[str, str],
    encoder: Encoder,
    seed: int,
) -> Compared:
    """Compare sanitized documents, in order, with their originals, whose ``clusters`` are given."""
    texts = {each.doc_id: each.text for each in originals}
    whole = len(sanitized) == len(originals)
    found = clusterings([each.text for each in sanitized], encoder, seed) if whole else [None] * len(clusters)
    return Compared(
        text_preserved([edited(texts[each.doc_id], each) for each in sanitized], encoder, seed),
        [clusters_kept(one, other) for one, other in zip(clusters, found, strict=True)],
        reidentified(known, {each.doc_id: each.text for each in sanitized}) if known and whole else None,
    )


def edited(text: str, document: SanitizedDocument) -> EditedDocument:
    """An original, and what a method put in place of the spans that it did not keep."""
    edits = [
        (decision.entity.span, document.text[start:end])
        for decision, (start, end) in zip(document.decisions, document.places, strict=True)
        if decision.action is not Action.KEEP
    ]
    return EditedDocument(text, edits)


_INTACT, _GPT = PUBLISHED["intact"], PUBLISHED["gpt35_presidio"]
TPS, NMI, TRIR = "TPS", "NMI", "TRIR"
FOUND: Mapping[str, Sequence[tuple[str, str]]] = {
    TPS: ((SUPPRESSION, ENTITY_TYPE), (ENTITY_TYPE, _GPT), (_GPT, LEAST), (LEAST, _INTACT), (_INTACT, MOST)),
    NMI: ((MOST, _INTACT), (_GPT, MOST), (ENTITY_TYPE, _GPT), (LEAST, _GPT), (LEAST, ENTITY_TYPE)),
    TRIR: (
        *((SUPPRESSION, MOST), (_INTACT, MOST), (_INTACT, LEAST)),
        *((SUPPRESSION, _INTACT), (_GPT, SUPPRESSION), (ENTITY_TYPE, SUPPRESSION)),
    ),
}
"""Pairs of methods by measure, the one with the lower figure first."""
DEVIATIONS = 2.0
"""An interval of NMI is so many standard deviations over pairs of runs to each side."""


def order_facts(measured: Mapping[str, Compared], seed: int = 0) -> tuple[OrderFact, ...]:
    """The difference of each pair of methods that were both measured, by document or by pair of runs."""
    return tuple(
        OrderFact(measure=name, lower=lower, higher=higher, difference=difference)
        for measure, pairs in FOUND.items()
        for lower, higher in pairs
        if lower in measured and higher in measured
        for name, difference in _differences(measure, measured[lower], measured[higher], seed)
    )


def _differences(measure: str, low: Compared, high: Compared, seed: int) -> list[tuple[str, Estimate]]:
    if measure == TPS:
        both = zip(low.kept.per_document, high.kept.per_document, strict=True)
        found = [more - less for less, more in both if less is not None and more is not None]
        return [(TPS, mean_of(found, seed))]
    if measure == TRIR:
        if low.named is None or high.named is None:
            return []
        return [(TRIR, reidentified_difference(high.named, low.named, seed))]
    return [
        (one.engine, by_run(one.pairs, other.pairs))
        for one, other in zip(low.clusters, high.clusters, strict=True)
        if one is not None and other is not None
    ]


def by_run(low: Sequence[float], high: Sequence[float]) -> Estimate:
    """The mean difference of pairs of runs. Its interval covers the draws of k-means, not those of cases."""
    differences = [more - less for less, more in zip(low, high, strict=True)]
    mean = fmean(differences)
    reach = DEVIATIONS * stdev(differences) if len(differences) > 1 else 0.0
    return Estimate(mean, mean - reach, mean + reach, n=len(differences))


def comes_out(difference: Estimate) -> str:
    """Whether the higher method is higher, as far as the interval tells."""
    if difference.value is None:
        return "not measured"
    if difference.interval is None:
        return "no difference" if difference.value == 0 else "unclear"
    low, high = difference.interval
    if low > 0:
        return "yes"
    return "no, the reverse" if high < 0 else "unclear"
