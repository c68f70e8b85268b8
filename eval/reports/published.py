"""The published figures of TRIP-RAG, for comparison: see words/published.toml."""

from collections.abc import Mapping
from dataclasses import dataclass

from eval.reports.words import words

CHATDOCTOR, ENRONQA = "ChatDoctor", "EnronQA"
CORPORA = (CHATDOCTOR, ENRONQA)
ENCODER = "all-MiniLM-L6-v2"
"""The corpora of table 1."""


@dataclass(frozen=True, slots=True)
class PublishedAnswers:
    """A row of table 1 on one corpus; ``recall`` is Recall@k by k. The paper does not say which BLEU."""

    bleu: float
    rouge_l: float
    recall: Mapping[int, float]


_PRINTED = words("published")
_BY_ENCODER: Mapping[str, Mapping[str, Mapping[str, PublishedAnswers]]] = {
    encoder: {
        method: {
            corpus: PublishedAnswers(bleu, rouge_l, dict(zip((1, 5, 10), recall, strict=True)))
            for corpus, (bleu, rouge_l, *recall) in rows.items()
        }
        for method, rows in methods.items()
    }
    for encoder, methods in _PRINTED["answers"].items()
}
ANSWERS = _BY_ENCODER[ENCODER]
"""Table 1 with all-MiniLM-L6-v2, by our method names."""
LEAKAGE: Mapping[str, Mapping[str, float]] = _PRINTED["leakage"]
"""Table 2."""
ABLATIONS: Mapping[str, tuple[float, float, float]] = {
    name: tuple(row) for name, row in _PRINTED["ablations"].items()
}
"""Table 3: Recall@1, Recall@5 and BLEU-1 on ChatDoctor."""
CORRELATIONS: Mapping[tuple[str, str], Mapping[str, float]] = {
    (pair[0], pair[1]): row for pair, row in _PRINTED["correlations"].items()
}
"""Table 4."""
WEIGHT_SPEARMAN: float = _PRINTED["weights"]["spearman"]


def answers_of(encoder: str, method: str) -> Mapping[str, PublishedAnswers]:
    """The rows of table 1 by corpus; the encoder matches under any owner and revision."""
    for name, rows in _BY_ENCODER.items():
        if name in encoder:
            return rows.get(method, {})
    return {}
