"""How close an answer is to a reference: BLEU-1, sacreBLEU and ROUGE-L.

Papers write "BLEU" for different things. BLEU-1 here is what the code of SAGE (Zeng et al. 2025), from which
TRIP-RAG took its baselines, computes: lower case, white space between tokens, unigram precision with the
brevity penalty. sacreBLEU is the standard one (Post 2018), of single sentences, on a scale from 0 to 1.
"""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from eval.measures.overlap import rouge_l, stems


@dataclass(frozen=True, slots=True)
class AnswerScores:
    """Each in [0, 1]; ``rouge_l`` is the F measure with stems."""

    bleu1: float
    sacrebleu: float
    rouge_l: float


def answer_scorer() -> Callable[[str, str], AnswerScores]:
    """A function from reference and answer to scores; it caches tokens."""
    from sacrebleu.metrics import BLEU

    standard = BLEU(effective_order=True)

    def scored(reference: str, answer: str) -> AnswerScores:
        return AnswerScores(
            bleu1(reference, answer),
            standard.sentence_score(answer, [reference]).score / 100,
            rouge_l(stems(reference), stems(answer)).f,
        )

    return scored


def sacrebleu_signature() -> str:
    """The signature that sacreBLEU figures are reported with."""
    from sacrebleu.metrics import BLEU

    metric = BLEU(effective_order=True)
    metric.sentence_score("a", ["a"])
    return str(metric.get_signature())


def bleu1(reference: str, answer: str) -> float:
    """Clipped unigram precision times the brevity penalty; 0 for an empty answer."""
    wanted, said = reference.lower().split(), answer.lower().split()
    shared = (Counter(wanted) & Counter(said)).total()
    if not shared:
        return 0.0
    penalty = 1.0 if len(said) > len(wanted) else math.exp(1 - len(wanted) / len(said))
    return penalty * shared / len(said)
