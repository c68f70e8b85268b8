"""What stays of the texts of a method, and who is named by them: the measures that need no marks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

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
from eval.measures.reidentified import Reidentified, reidentified
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
