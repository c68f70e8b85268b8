"""A cross-encoder: how well texts answer a question, each read together with it."""

from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.errors import LetheError, ModelUnavailable
from models.local_files import whole_model

_AT_ONCE = 32


class CrossEncoder:
    """A sequence classifier with one output, as sentence-transformers saves it, from a folder.

    Loaded without that library, which would take any BERT and draw the missing output at random. Safe to
    call from many threads. Raises ``ModelUnavailable`` where files are missing or unfit.
    """

    def __init__(self, folder: Path) -> None:
        self.name = folder.resolve().name
        network, self._tokenizer = whole_model("AutoModelForSequenceClassification", folder)
        if network.config.num_labels != 1:
            raise ModelUnavailable(
                f"The reranker {self.name} has {network.config.num_labels} outputs:",
                "choose a cross-encoder with one, such as those that are made for MS MARCO.",
            )
        self._network: Any = network.eval()
        places = getattr(network.config, "max_position_embeddings", self._tokenizer.model_max_length)
        self._longest = min(int(places), int(self._tokenizer.model_max_length))
        self._lock = Lock()

    def scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape ``(len(texts),)``, in [0, 1] and in order; where both are too long, the longer is cut.

        Raises ``LetheError`` if the model fails; the message does not quote the texts.
        """
        found = [
            self._some(question, texts[first : first + _AT_ONCE]) for first in range(0, len(texts), _AT_ONCE)
        ]
        return np.concatenate(found) if found else np.empty(0, np.float32)

    def _some(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        import torch

        with self._lock, torch.inference_mode():
            try:
                read = self._tokenizer(
                    [question] * len(texts),
                    list(texts),
                    padding=True,
                    truncation="longest_first",
                    max_length=self._longest,
                    return_tensors="pt",
                )
                logits = self._network(**read.to(self._network.device)).logits
            except Exception as error:
                raise LetheError(
                    f"The reranker {self.name} failed on a question and {len(texts)} passages "
                    f"({type(error).__name__}): check that its files are whole and that it fits into memory."
                ) from None
        scores: NDArray[np.float32] = torch.sigmoid(logits[:, 0].float()).cpu().numpy()
        return scores
