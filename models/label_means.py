"""MiniLM's mean states of label names, which bi-encoders compare texts with; each computed once."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from models.minilm import MiniLM

if TYPE_CHECKING:
    from torch import Tensor


class LabelMeans:
    """Remembers what it computed; a label is short and there are few of them."""

    def __init__(self) -> None:
        self._encoder = MiniLM()
        self._known: dict[str, Tensor] = {}

    def of(self, names: Sequence[str]) -> "Tensor":
        """Shape (names, 384), a row for each name in the order given."""
        import torch

        new = [name for name in dict.fromkeys(names) if name not in self._known]
        if new:
            with torch.no_grad():
                self._known.update(zip(new, self._encoder.means(new), strict=True))
        return torch.stack([self._known[name] for name in names])
