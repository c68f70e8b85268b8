"""Loading with the model libraries: from local files only, and without output."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO

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
