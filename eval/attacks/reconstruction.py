"""Reconstruction: fill guesses into a sanitized document, and measure how much of the original that restores.

The guesses of ``eval.attacks.guessing`` fill the replaced slots. The sanitized text itself is measured as the
baseline.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from eval.attacks.guessing import ENTITY_INFERENCE, Guess, IndexAttack
from eval.attacks.slots import OriginalsMissing
from eval.measures.leakage import SensitiveIndex
from eval.measures.overlap import rouge_l, stems
from eval.measures.uncertainty import Estimate, clustered_share, mean_of
from ingest.documents import Document, SanitizedDocument

OPENING = "([{\"'“‘«"
"""Marks that no blank follows."""

DOCUMENT_RECONSTRUCTION = IndexAttack(
    name="document reconstruction",
    goal="Bring back an original document from its sanitized text.",
    threat_model=ENTITY_INFERENCE.threat_model,
    reference=(
        "Zhu et al., Not All Entities are Created Equal, section 3.2, second objective of the attacker; "
        "putting the best guesses in is ours"
    ),
)


@dataclass(frozen=True, slots=True)
class Reconstruction:
    """One document before and after the guesses were put in.

    ROUGE-L F values are in [0, 1]; the original is the reference. Of the ``sensitive`` entities of the
    original, ``left`` are in the sanitized text and ``recovered`` in the reconstructed ``text``.
    """

    doc_id: str
    sanitized_rouge: float
    rouge: float
    sensitive: int
    left: int
    recovered: int
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class ReconstructionMeans:
    """Means over documents; ``gain`` is the paired difference of the ROUGE-L F values.

    Shares are of all sensitive entities. All intervals are over documents.
    """

    sanitized_rouge: Estimate
    rouge: Estimate
    gain: Estimate
    left: Estimate
    recovered: Estimate


def reconstruct(
    documents: Iterable[Document],
    sanitized: Sequence[SanitizedDocument],
    guesses: Iterable[Guess],
    sensitive: SensitiveIndex,
) -> list[Reconstruction]:
    """One row for each sanitized document, in order.

    Raises:
        OriginalsMissing: one of the sanitized documents has no original.
    """
    originals = {document.doc_id: document.text for document in documents}
    best: dict[str, dict[int, str]] = {}
    for guess in guesses:
        best.setdefault(guess.doc_id, {})[guess.number] = "" if guess.kept else guess.best
    rows = []
    for each in sanitized:
        if each.doc_id not in originals:
            raise OriginalsMissing(
                f"document {each.doc_id} has no original: give the documents that were sanitized"
            )
        filled = filled_in(each, best.get(each.doc_id, {}))
        rows.append(_measured(originals[each.doc_id], each, filled, sensitive))
    return rows


def filled_in(sanitized: SanitizedDocument, words: dict[int, str]) -> str:
    """The sanitized text with ``words`` in its slots, by the number of the decision.

    A slot without words stays as it is. A blank is added before the words of a suppressed slot; articles stay
    as the sanitizer left them.
    """
    places = sorted((sanitized.places[number], number) for number, said in words.items() if said)
    text, cursor = "", 0
    for (start, end), number in places:
        text += sanitized.text[cursor:start]
        said = words[number]
        text = text + said if start < end else _put_in(text, said)
        cursor = end
    return text + sanitized.text[cursor:]


def reconstruction_means(rows: Sequence[Reconstruction], seed: int = 0) -> ReconstructionMeans:
    """The rows folded; without rows every mean and share is None."""
    totals = [row.sensitive for row in rows]
    return ReconstructionMeans(
        sanitized_rouge=mean_of([row.sanitized_rouge for row in rows], seed),
        rouge=mean_of([row.rouge for row in rows], seed),
        gain=mean_of([row.rouge - row.sanitized_rouge for row in rows], seed),
        left=clustered_share([row.left for row in rows], totals, seed),
        recovered=clustered_share([row.recovered for row in rows], totals, seed),
    )


def _measured(
    original: str, sanitized: SanitizedDocument, filled: str, sensitive: SensitiveIndex
) -> Reconstruction:
    reference, doc_id = stems(original), sanitized.doc_id
    return Reconstruction(
        doc_id=doc_id,
        sanitized_rouge=rouge_l(reference, stems(sanitized.text)).f,
        rouge=rouge_l(reference, stems(filled)).f,
        sensitive=len(sensitive.behind([doc_id])),
        left=len(sensitive.leaked([doc_id], sanitized.text, "")),
        recovered=len(sensitive.leaked([doc_id], filled, "")),
        text=filled,
    )


def _put_in(text: str, words: str) -> str:
    """``text`` followed by the words of a suppressed slot."""
    # Suppression removes the blank before the mention as well.
    blank = " " if text and not (text[-1].isspace() or text[-1] in OPENING) else ""
    return f"{text}{blank}{words}"
