"""Which method comes before which: what INTACT's authors found, and whether it comes out here.

Their figures are on other cases, by language models; "most specific" and "least specific" are theirs of a
language model's candidates and ours of a ladder by rules. So only the order is compared.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, stdev

from eval.measures.clustered import (
    BY_WORDS,
    Clustering,
    ClustersKept,
    clustered,
    clusters_kept,
    engine_of,
    window_vectors,
    word_vectors,
)
from eval.measures.preserved import EditedDocument, Preserved, text_preserved
from eval.measures.reidentified import Reidentified, reidentified, reidentified_difference
from eval.measures.uncertainty import Estimate, mean_of
from eval.studies.intact.methods import ENTITY_TYPE, LEAST, MOST, PUBLISHED, SUPPRESSION
from eval.studies.intact.report import OrderFact
from ingest.documents import Action, Document, SanitizedDocument
from ingest.protocols import Encoder

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
    found = (
        clusterings([each.text for each in sanitized], encoder, seed) if whole else [None for _ in clusters]
    )
    return Compared(
        text_preserved([edited(texts[each.doc_id], each) for each in sanitized], encoder, seed),
        [clusters_kept(one, other) for one, other in zip(clusters, found, strict=True)],
        reidentified(known, {each.doc_id: each.text for each in sanitized}) if known and whole else None,
    )


def edited(text: str, document: SanitizedDocument) -> EditedDocument:
    """An original, and what a method put in place of the spans that it did not keep."""
    return EditedDocument(
        text,
        [
            (decision.entity.span, document.text[start:end])
            for decision, (start, end) in zip(document.decisions, document.places, strict=True)
            if decision.action is not Action.KEEP
        ],
    )


_INTACT, _GPT = PUBLISHED["intact"], PUBLISHED["gpt35_presidio"]
TPS, NMI, TRIR = "TPS", "NMI", "TRIR"
FOUND: Mapping[str, Sequence[tuple[str, str]]] = {
    TPS: (
        (SUPPRESSION, ENTITY_TYPE),
        (ENTITY_TYPE, _GPT),
        (_GPT, LEAST),
        (LEAST, _INTACT),
        (_INTACT, MOST),
    ),
    NMI: (
        (MOST, _INTACT),
        (_GPT, MOST),
        (ENTITY_TYPE, _GPT),
        (LEAST, _GPT),
        (LEAST, ENTITY_TYPE),
    ),
    TRIR: (
        (SUPPRESSION, MOST),
        (_INTACT, MOST),
        (_INTACT, LEAST),
        (SUPPRESSION, _INTACT),
        (_GPT, SUPPRESSION),
        (ENTITY_TYPE, SUPPRESSION),
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
        return [(TPS, _by_document(low.kept.per_document, high.kept.per_document, seed))]
    if measure == TRIR:
        if low.named is None or high.named is None:
            return []
        return [(TRIR, reidentified_difference(high.named, low.named, seed))]
    return [
        (one.engine, by_run(one.pairs, other.pairs))
        for one, other in zip(low.clusters, high.clusters, strict=True)
        if one is not None and other is not None
    ]


def _by_document(low: Sequence[float | None], high: Sequence[float | None], seed: int) -> Estimate:
    both = zip(low, high, strict=True)
    return mean_of([more - less for less, more in both if less is not None and more is not None], seed)


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
