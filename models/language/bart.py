"""BART (Lewis et al. 2020) in two halves: from a text to its encoder's states, and from states to a text."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.errors import ModelUnavailable
from models.local_files import whole_model

TOKENS = 20
"""Of a piece, marks and padding included: the length that DP-BART was measured with."""
BEAMS = 3
PRUNED = "pruned_neurons.json"
PRUNED_SHARE = 0.25
_AT_ONCE = 16


class Bart:
    """A BART from a folder, which decodes by beams, without chance; ModelUnavailable where there is none."""

    def __init__(self, folder: Path) -> None:
        self.name = folder.resolve().name
        self._folder = folder
        network, tokenizer = whole_model("BartForConditionalGeneration", folder)
        self._words = tokenizer.backend_tokenizer
        self._start, self._end = tokenizer.bos_token_id, tokenizer.eos_token_id
        self._padding, self._tokenizer = tokenizer.pad_token_id, tokenizer
        self._network: Any = network.eval()
        self.width = int(network.config.d_model)

    def pieces(self, text: str) -> list[list[int]]:
        """The tokens of ``text`` in pieces of ``TOKENS``, marks included; only the last may be shorter."""
        ids = self._words.encode(text, add_special_tokens=False).ids
        room = TOKENS - 2
        return [[self._start, *ids[at : at + room], self._end] for at in range(0, len(ids), room)]

    def states(self, pieces: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """The encoder's output, shape (pieces, ``TOKENS``, width), at places of padding too."""
        import torch

        found = []
        for some in _batches(pieces):
            ids = [[*piece, *[self._padding] * (TOKENS - len(piece))] for piece in some]
            real = [[int(place < len(piece)) for place in range(TOKENS)] for piece in some]
            given, mask = torch.tensor([ids, real], device=self._network.device)
            with torch.inference_mode():
                read = self._network.get_encoder()(input_ids=given, attention_mask=mask)
            found.append(read.last_hidden_state.float().cpu().numpy())
        return np.concatenate(found)

    def written(self, states: NDArray[np.float32]) -> list[str]:
        """The text of each piece, decoded from nothing but its states: where padding was is not told."""
        import torch
        from transformers.modeling_outputs import BaseModelOutput

        found: list[str] = []
        for some in _batches(states):
            given = torch.from_numpy(some).to(self._network.device)
            with torch.inference_mode():
                ids = self._network.generate(
                    encoder_outputs=BaseModelOutput(last_hidden_state=given),
                    attention_mask=torch.ones(given.shape[:2], dtype=torch.long, device=given.device),
                    num_beams=BEAMS,
                    do_sample=False,
                    min_length=0,
                    max_length=TOKENS,
                )
            found += self._tokenizer.batch_decode(ids, skip_special_tokens=True)
        return found

    def pruned(self) -> list[int]:
        """The neurons of the encoder's output that can best be done without, in order.

        Those that the folder's ``PRUNED`` lists, a JSON list of numbers from 0; without it, the quarter that
        the first cross-attention reads least, by the absolute sum of its weights for keys: the first step of
        DP-BART-PR. Neither depends on a text. Raises ModelUnavailable where the list is none.
        """
        listed = self._folder / PRUNED
        if not listed.exists():
            read = self._network.get_decoder().layers[0].encoder_attn.k_proj.weight.detach().abs().sum(dim=0)
            least = read.argsort(stable=True)[: int(PRUNED_SHARE * self.width)]
            return sorted(least.tolist())
        try:
            said = json.loads(listed.read_bytes())
            numbers = {*said} if isinstance(said, list) else {-1}
        except (OSError, ValueError, TypeError):
            numbers = {-1}
        if not numbers < {*range(self.width)}:
            raise ModelUnavailable(
                f"{listed} does not say which neurons are pruned:",
                f"write a JSON list of some, not all, of the numbers from 0 to {self.width - 1}.",
            )
        return sorted(map(int, numbers))


def _batches(rows: Any) -> Any:
    return (rows[at : at + _AT_ONCE] for at in range(0, len(rows), _AT_ONCE))
