"""The most central sentences, word for word: what stands in for Paraphrase where there is no language model.

It is no paraphrase and is not called one: it protects by leaving out, and what it keeps is as it was.
"""

from collections.abc import Sequence

import numpy as np

from ingest.annotated import AnnotatedText
from ingest.protocols import Encoder
from ingest.sentences import split_sentences

KEPT_SHARE = 0.5


class Extract:
    """Keeps half of the sentences, those nearest to the mean of all of the document, in reading order."""

    name = "extract"

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def rewrite(self, texts: Sequence[AnnotatedText]) -> list[str]:
        """The kept sentences of each text, a line each."""
        return [self._kept(split_sentences(text.text)) for text in texts]

    def _kept(self, sentences: Sequence[str]) -> str:
        if not sentences:
            return ""
        vectors = self._encoder.encode(sentences)
        nearness = vectors @ vectors.mean(axis=0)
        number = max(1, round(KEPT_SHARE * len(sentences)))
        best = sorted(np.argsort(-nearness, kind="stable")[:number].tolist())
        return "\n".join(sentences[place] for place in best)
