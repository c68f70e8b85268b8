"""A sentence-transformers model as an encoder: texts to unit vectors."""

from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.catalog import ModelRef, check_embedded, embedded_model, folder_of, reference
from models.errors import LetheError, ModelUnavailable
from models.local_files import best_device, quiet, whole_model
from models.vectors import Vectors


class SentenceEncoder:
    """Encodes texts with a model from this machine's files. Safe to call from many threads."""

    def __init__(self, model: ModelRef | Path | str, batch_size: int = 32) -> None:
        """Load ``model``: embedded, whose files are checked, a folder, or a hub id in the local cache.

        Raises ModelUnavailable where files or the library are missing, changed or unfit.
        """
        ref = reference(model)
        self.name = Path(ref.name).name if ref.source == "path" else ref.name
        if ref.source == "embedded":
            embedded = embedded_model(ref.name, "encoder")
            self.name = embedded.id
            check_embedded(embedded)
        self._model = _load(folder_of(ref, "encoder"), self.name)
        self._tokenizer = self._model.tokenizer
        if not getattr(self._tokenizer, "is_fast", False):
            raise ModelUnavailable(
                f"The encoder {self.name} has no tokenizer that gives the offsets of its tokens:",
                "choose a model with a tokenizer.json.",
            )
        limit = self._model.max_seq_length or self._tokenizer.model_max_length
        self.max_tokens = int(limit) - int(self._tokenizer.num_special_tokens_to_add())
        self._batch_size = batch_size
        self._lock = Lock()
        self.dim = int(self.encode([""]).shape[1])

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """Start and end, in characters, of each token of the whole text; those of one character share it."""
        with self._lock:
            read = self._tokenizer(
                text, add_special_tokens=False, truncation=False, return_offsets_mapping=True, verbose=False
            )
        return [(int(start), int(end)) for start, end in read["offset_mapping"]]

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape ``(len(texts), dim)``, rows of unit length, in order.

        Of each text the first ``max_tokens`` tokens are read. A vector does not depend on the other texts.
        Raises LetheError if the model fails; the message does not quote the text.
        """
        if not texts:
            return np.zeros((0, self.dim), np.float32)
        with self._lock:
            try:
                raw = self._model.encode(
                    list(texts), batch_size=self._batch_size, show_progress_bar=False, convert_to_numpy=True
                )
            except Exception as error:
                raise LetheError(
                    f"The encoder {self.name} failed on a batch of {len(texts)} texts "
                    f"({type(error).__name__}): check that its files are whole and that it fits into memory."
                ) from None
        vectors = np.asarray(raw, np.float64)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: Vectors = (vectors / np.maximum(lengths, np.finfo(np.float64).tiny)).astype(np.float32)
        return unit


def _load(folder: Path, name: str) -> Any:
    with quiet():
        try:
            from sentence_transformers import SentenceTransformer

            model = SentenceTransformer(str(folder), device=best_device(), local_files_only=True)
        except ImportError:
            raise ModelUnavailable(
                f"The encoder {name} needs the library sentence-transformers, which is not here:",
                "install sentence-transformers.",
            ) from None
        except Exception as error:
            raise ModelUnavailable(
                f"The encoder {name} could not be loaded from its folder ({type(error).__name__}):",
                "copy or pull its files again.",
            ) from None
    # Half precision would let a text's neighbors in the batch show in its vector.
    return model.float().eval()


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
        """Shape (len(texts),), in [0, 1]; of both the longer is cut. LetheError does not quote the texts."""
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
