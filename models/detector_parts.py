"""What a detector's file holds beside MiniLM's layers, and reading one that has it all."""

from collections.abc import Mapping

from models.bert import WIDTH
from models.catalog import ModelRef
from models.errors import ModelUnavailable
from models.gliner_forward import HIDDEN
from models.trained import Trained, read_trained

HEADS = ("start", "end", "inside", "begin", "prompt")
"""Parts of two layers each: those of a span's ends, those of words, and that of labels."""
SHAPES: Mapping[str, tuple[int, int]] = {
    "projection": (HIDDEN, WIDTH),
    "labels_projection": (HIDDEN, WIDTH),
    **{f"{name}.0": (4 * HIDDEN, HIDDEN) for name in HEADS},
    **{f"{name}.3": (HIDDEN, 4 * HIDDEN) for name in HEADS},
    "out.0": (4 * HIDDEN, 2 * HIDDEN),
    "out.3": (HIDDEN, 4 * HIDDEN),
}
"""Height and width of each part's matrix; its bias is as long as it is high."""


def read_detector(model: ModelRef) -> Trained:
    """The detector's weights and card; raises ModelUnavailable where they are absent, broken or another's."""
    trained = read_trained(model, "detector")
    for name, shape in SHAPES.items():
        weight = trained.weights.get(f"{name}.weight")
        if weight is None or tuple(weight.shape) != shape:
            raise ModelUnavailable(
                f"The detector model {trained.name} does not have the part {name} as this version reads it:",
                "train it again with 'lethe models train-detector'.",
            )
    return trained
