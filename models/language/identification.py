"""Language identification with py3langid's model, which ships with its package and needs no network."""

import io
import lzma
from array import array
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any


def language_shares(text: str) -> Mapping[str, float]:
    """The probability of each of 139 languages, by ISO 639 code; the shares of a text add up to 1.

    They are calibrated: of a word or two no language is likely. ``zxx`` stands for no language at all. Safe
    to call from several threads.
    """
    return dict(_identifier().rank(text))


@cache
def _identifier() -> Any:
    """The package's own identifier, whose loader would unpack its model into a file on the disk."""
    import numpy as np
    import py3langid
    from py3langid.langid import LanguageIdentifier

    packed = Path(py3langid.__file__).parent / "data" / "model.npz.xz"
    with np.load(io.BytesIO(lzma.decompress(packed.read_bytes())), allow_pickle=False) as data:
        states, rows = (
            array("HI"[data[name].itemsize // 4], data[name].tobytes())
            for name in ("nextmove", "nextmove_row")
        )
        classes, features = data["classes"].tolist(), data["out_feat"].tolist()
        learned = (data["ptc"], data["pc"], classes, states, features)
        return LanguageIdentifier(*learned, norm_probs=True, tk_row=rows)
