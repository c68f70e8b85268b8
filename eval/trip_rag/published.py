"""What the paper of TRIP-RAG printed, to stand beside what was measured here.

Zhu et al., Not All Entities are Created Equal: A Dynamic Anonymization Framework for Privacy-Preserving
Retrieval-Augmented Generation, tables 1 to 4. Other documents, other questions and another generator
(Llama-2-7b-chat): never figures of Lethe, and not to be subtracted from them.
"""

from collections.abc import Mapping
from dataclasses import dataclass

CHATDOCTOR, ENRONQA = "ChatDoctor", "EnronQA"
CORPORA = (CHATDOCTOR, ENRONQA)
ENCODER = "all-MiniLM-L6-v2"
"""Whose rows of table 1 stand in ``ANSWERS``."""


@dataclass(frozen=True, slots=True)
class Answers:
    """A row of table 1 on one corpus; ``recall`` is Recall@k by k. The paper does not say which BLEU."""

    bleu: float
    rouge_l: float
    recall: Mapping[int, float]


def _row(bleu: float, rouge_l: float, *recall: float) -> Answers:
    return Answers(bleu, rouge_l, dict(zip((1, 5, 10), recall, strict=True)))


ANSWERS: Mapping[str, Mapping[str, Answers]] = {
    "origin": {CHATDOCTOR: _row(0.160, 0.135, 1, 1, 1), ENRONQA: _row(0.568, 0.698, 1, 1, 1)},
    "redact": {
        CHATDOCTOR: _row(0.067, 0.074, 0.416, 0.512, 0.545),
        ENRONQA: _row(0.213, 0.249, 0.747, 0.447, 0.406),
    },
    "paraphrase": {
        CHATDOCTOR: _row(0.059, 0.066, 0.105, 0.180, 0.205),
        ENRONQA: _row(0.075, 0.110, 0.598, 0.388, 0.351),
    },
    "lprag": {
        CHATDOCTOR: _row(0.057, 0.065, 0.360, 0.443, 0.480),
        ENRONQA: _row(0.258, 0.299, 0.776, 0.496, 0.452),
    },
    "trip": {
        CHATDOCTOR: _row(0.077, 0.081, 0.703, 0.760, 0.789),
        ENRONQA: _row(0.364, 0.444, 0.929, 0.702, 0.679),
    },
}
"""Table 1 with all-MiniLM-L6-v2, by the name that the method has here."""

_BGE: Mapping[str, Mapping[str, Answers]] = {
    "origin": {
        CHATDOCTOR: _row(0.162, 0.136, 1, 1, 1),
        ENRONQA: _row(0.563, 0.694, 1, 1, 1),
    },
    "redact": {
        CHATDOCTOR: _row(0.072, 0.075, 0.415, 0.514, 0.547),
        ENRONQA: _row(0.237, 0.276, 0.743, 0.411, 0.363),
    },
    "paraphrase": {
        CHATDOCTOR: _row(0.063, 0.067, 0.130, 0.188, 0.211),
        ENRONQA: _row(0.076, 0.112, 0.599, 0.397, 0.348),
    },
    "lprag": {
        CHATDOCTOR: _row(0.066, 0.072, 0.346, 0.446, 0.478),
        ENRONQA: _row(0.295, 0.342, 0.821, 0.549, 0.498),
    },
    "trip": {
        CHATDOCTOR: _row(0.086, 0.088, 0.672, 0.752, 0.778),
        ENRONQA: _row(0.393, 0.477, 0.923, 0.695, 0.659),
    },
}

_QWEN3: Mapping[str, Mapping[str, Answers]] = {
    "origin": {
        CHATDOCTOR: _row(0.156, 0.132, 1, 1, 1),
        ENRONQA: _row(0.559, 0.691, 1, 1, 1),
    },
    "redact": {
        CHATDOCTOR: _row(0.078, 0.078, 0.430, 0.524, 0.568),
        ENRONQA: _row(0.230, 0.269, 0.782, 0.455, 0.400),
    },
    "paraphrase": {
        CHATDOCTOR: _row(0.060, 0.066, 0.161, 0.235, 0.266),
        ENRONQA: _row(0.083, 0.121, 0.661, 0.497, 0.466),
    },
    "lprag": {
        CHATDOCTOR: _row(0.070, 0.075, 0.389, 0.477, 0.513),
        ENRONQA: _row(0.280, 0.326, 0.847, 0.597, 0.559),
    },
    "trip": {
        CHATDOCTOR: _row(0.083, 0.084, 0.721, 0.784, 0.810),
        ENRONQA: _row(0.364, 0.446, 0.935, 0.736, 0.710),
    },
}

_BY_ENCODER = {ENCODER: ANSWERS, "bge-large-en-v1.5": _BGE, "Qwen3-Embedding-0.6B": _QWEN3}


def answers_of(encoder: str, method: str) -> Mapping[str, Answers]:
    """The rows of table 1 by corpus, of an encoder under whatever owner and revision; none of others."""
    for name, rows in _BY_ENCODER.items():
        if name in encoder:
            return rows.get(method, {})
    return {}


LEAKAGE: Mapping[str, Mapping[str, float]] = {
    "origin": {CHATDOCTOR: 0.23, ENRONQA: 0.63},
    "paraphrase": {CHATDOCTOR: 0.19, ENRONQA: 0.26},
    "lprag": {CHATDOCTOR: 0.21, ENRONQA: 0.48},
    "trip": {CHATDOCTOR: 0.17, ENRONQA: 0.33},
}
"""Table 2: extraction with five passages. It has no row of Redact."""

ABLATIONS: Mapping[str, tuple[float, float, float]] = {
    "privacy only": (0.5560, 0.6306, 0.0933),
    "without topic": (0.5730, 0.6612, 0.1026),
    "without knowledge": (0.6473, 0.7280, 0.1007),
    "scores alone": (0.6858, 0.7447, 0.1043),
}
"""Table 3: Recall@1, Recall@5 and BLEU-1 on ChatDoctor; the last is its full method."""

CORRELATIONS: Mapping[tuple[str, str], Mapping[str, float]] = {
    ("P", "K"): {CHATDOCTOR: 0.2070, ENRONQA: 0.0456},
    ("P", "D"): {CHATDOCTOR: 0.1342, ENRONQA: 0.0764},
    ("K", "D"): {CHATDOCTOR: 0.3923, ENRONQA: 0.4166},
}
"""Table 4. Its symbols are lost in the text we have; the order of the pairs is taken to be the usual one."""

WEIGHT_SPEARMAN = 0.8561
"""Of a weight with Recall@5 over its grid; which weight is lost in the text we have."""
