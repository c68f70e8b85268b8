"""What a rewritten text keeps of its original. All texts are invented."""

import pytest

from eval.experiment import SanitizedCorpus
from eval.progress import no_progress
from eval.tasks.judged import BLEU, COSINE, ROUGE, UNCHANGED, Rewritten
from ingest.deciding.baselines.uniform import ORIGIN, REDACT
from ingest.documents import Document, SanitizedDocument
from ingest.protocols import Method
from ingest.sanitize import DecidingSanitizer
from ingest.scoring.prior import RiskPrior
from tests.doubles import PhraseDetector
from tests.hashing_encoder import HashingEncoder

HERON = Document("heron", "the heron eats eels at noon")


def figures_of(method: Method) -> dict[str, float]:
    done = DecidingSanitizer(PhraseDetector({"heron": "animal"}), method, RiskPrior()).sanitize([HERON])
    there = [each for each in done if isinstance(each, SanitizedDocument)]
    corpus = SanitizedCorpus("s", 1, {}, {}, None, there)  # type: ignore[arg-type]
    (row,) = Rewritten([HERON], HashingEncoder()).rows(corpus, ["heron"], no_progress)
    return dict(row.figures)


def test_bleu_and_rouge_of_a_rewritten_text_by_hand() -> None:
    # "the animal eats eels at noon": 5 of 6 words, 3 of 5 pairs, 2 of 4 triples and 1 of 3 fours are left.
    found = figures_of(REDACT)
    assert found[BLEU] == pytest.approx((5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** (1 / 4))
    assert found[ROUGE] == pytest.approx(5 / 6)
    assert found[UNCHANGED] == 0 and found[COSINE] < 1


def test_an_untouched_text_keeps_everything() -> None:
    found = figures_of(ORIGIN)
    assert [found[name] for name in (BLEU, ROUGE, UNCHANGED)] == pytest.approx([1, 1, 1])
    assert found[COSINE] == pytest.approx(1)
