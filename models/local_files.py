"""Loading with the model libraries: from local files only, and without output."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from models.errors import ModelUnavailable

TALKATIVE = ("transformers", "gliner", "sentence_transformers", "huggingface_hub")


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress warnings, logs, prints and progress bars of the model libraries while they load.

    Their output can quote their input. The streams belong to the whole process, so use this for loading only,
    not for serving.
    """
    loggers = [logging.getLogger(name) for name in TALKATIVE]
    levels = [logger.level for logger in loggers]
    with warnings.catch_warnings(), redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        warnings.simplefilter("ignore")
        for logger in loggers:
            logger.setLevel(logging.CRITICAL + 1)
        try:
            yield
        finally:
            for logger, level in zip(loggers, levels, strict=True):
                logger.setLevel(level)


def best_device() -> str:
    """``cuda`` where torch sees a GPU, else ``cpu``."""
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def whole_model(kind: str, folder: Path, numbers: str = "float32") -> tuple[Any, Any]:
    """A network of the transformers library's class ``kind`` and its tokenizer, on the best device.

    From safetensors alone, since other formats can hold code; nothing is downloaded. ``numbers`` names a
    dtype of torch. Raises ModelUnavailable where the folder does not hold both, whole.
    """
    with quiet():
        try:
            import torch
            import transformers

            here: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
            tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **here)
            network, told = getattr(transformers, kind).from_pretrained(
                folder, dtype=getattr(torch, numbers), use_safetensors=True, output_loading_info=True, **here
            )
            if told["missing_keys"]:
                raise ValueError("the library would put random weights in their place")
        except Exception as error:
            raise ModelUnavailable(
                f"The model {folder.name} could not be loaded from its folder ({type(error).__name__}):",
                f"it needs config.json, safetensors and a tokenizer, for {kind}; copy its files again, or "
                "name another folder.",
            ) from None
    return network.to(best_device()), tokenizer
