"""The most central sentences, verbatim: a substitute for Paraphrase without a language model.

It protects only by omission: the sentences that it keeps are unchanged.
"""

from collections.abc import Sequence

import numpy as np

from ingest.annotated import AnnotatedText
from ingest.language.sentences import split_sentences
from ingest.protocols import Encoder

KEPT_SHARE = 0.5


class Extract:
    """Keeps the half of the sentences nearest to the document's mean, in reading order."""

    name = "extract"

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def rewrite(self, texts: Sequence[AnnotatedText]) -> list[str]:
        """The kept sentences of each text, one per line."""
        return [self._kept(split_sentences(text.text)) for text in texts]

    def _kept(self, sentences: Sequence[str]) -> str:
        if not sentences:
            return ""
        vectors = self._encoder.encode(sentences)
        nearness = vectors @ vectors.mean(axis=0)
        number = max(1, round(KEPT_SHARE * len(sentences)))
        best = sorted(np.argsort(-nearness, kind="stable")[:number].tolist())
        return "\n".join(sentences[place] for place in best)
