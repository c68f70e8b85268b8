"""The language model that a benchmark asks, and the further methods that it measures."""

import argparse
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from app.access.answers import ANSWERS, SealedAnswers
from app.compose import language_model_of
from app.data_dir import DataDir
from app.settings.report import files_of
from ingest.deciding.baselines.als_like import ALS_LIKE, AlsLike
from ingest.protecting.whole_texts import BY_MODEL
from ingest.sanitize import Rewriter
from models.errors import ConfigurationError
from models.language.asking import Answers, Asker, InMemory
from models.language.protocol import LanguageModel


def asker_of(
    arguments: argparse.Namespace, data: DataDir, folder: Path | None, stack: ExitStack
) -> Asker | None:
    """Asks the model of the settings; what it answers is kept sealed in ``folder``, or for this run alone.

    None without ``--ask-model``.

    Raises:
        ConfigurationError: There is no model, or it is remote and may not read raw text.
    """
    if not arguments.ask_model:
        return None
    model = language_model_of(data.settings)
    if model is None:
        raise ConfigurationError(
            "--ask-model needs a language model: set generator.kind to llama_cpp or openai_compatible, "
            "or name a file with --gguf."
        )
    return asking(model, data, folder, stack)


def asking(model: LanguageModel, data: DataDir, folder: Path | None, stack: ExitStack) -> Asker:
    """Asks a model that was made already; what it answers is kept as by ``asker_of``."""
    answers: Answers = InMemory()
    if folder is not None:
        answers = stack.enter_context(SealedAnswers(folder / ANSWERS, data.key))
    at_once = data.settings.generator.at_once if data.settings.generator.kind == "openai_compatible" else 1
    gguf = data.settings.generator.path
    return Asker(model, answers, at_once, repr(files_of([gguf] if gguf else [])))


def also_of(arguments: argparse.Namespace, asker: Asker | None, detector: str) -> Mapping[str, Rewriter]:
    """The methods of ``--also``, each once; ``detector`` is the name of the one that finds entities.

    Raises:
        ConfigurationError: A method needs a language model, and none is asked.
    """
    found: dict[str, Rewriter] = {}
    for name in arguments.also or ():
        if name == ALS_LIKE:
            found[name] = AlsLike(detector)
        elif asker is None:
            raise ConfigurationError(f"--also {name} rewrites by a language model: add --ask-model.")
        else:
            found[name] = BY_MODEL[name](asker)
    return found
