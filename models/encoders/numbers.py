"""The number format in which the layers of the embedded models are multiplied."""

import typing
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from models.encoders.bert import LAYERS, PROJECTIONS, TOGETHER, by_onednn

if TYPE_CHECKING:
    from torch import Tensor

    from models.encoders.bert import Weights

Numbers = Literal["float32", "bfloat16"]
"""``bfloat16`` has the range of ``float32`` and 8 bits of precision; products are summed in ``float32``."""
_NORM = ".LayerNorm."


def fastest(device: str = "cpu") -> Numbers:
    """``bfloat16`` where the processor multiplies it: x86 with AMX or AVX512-BF16, NVIDIA from Ampere on."""
    import torch

    if device != "cpu":
        return "bfloat16" if torch.cuda.is_bf16_supported(including_emulation=False) else "float32"
    known = torch.cpu.get_capabilities()
    return "bfloat16" if known.get("amx_bf16") or known.get("avx512_bf16") else "float32"


def cast(weights: "Weights", numbers: Numbers, layers: Sequence[int] = range(LAYERS)) -> "Weights":
    """The weights, with the affine maps of some layers in a format; all else stays in single precision.

    In ``bfloat16`` the three maps before attention become one, which is faster.
    """
    import torch

    if numbers == "float32":
        return weights
    found = {
        name: weight.bfloat16() if name.startswith("encoder.layer.") and _NORM not in name else weight
        for name, weight in weights.items()
    }
    for number in layers:
        place = f"encoder.layer.{number}.attention.self"
        for part in ("weight", "bias"):
            apart = [found.pop(f"{place}.{each}.{part}") for each in PROJECTIONS]
            found[f"{place}.{TOGETHER}.{part}"] = torch.cat(apart)
    return {name: _laid_out(weight) for name, weight in found.items()}


def _laid_out(weight: "Tensor") -> "Tensor":
    """A map in the order in which oneDNN reads it: a short text does not wait until it is in order."""
    import torch

    fits = weight.dtype == torch.bfloat16 and weight.dim() == 2 and weight.device.type == "cpu"
    if not fits or not by_onednn(half=True):
        return weight
    with torch.inference_mode():
        return typing.cast("Tensor", torch.ops.mkldnn._reorder_linear_weight(weight, None))
