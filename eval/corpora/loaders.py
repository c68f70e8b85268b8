"""Every corpus with questions under its name."""

from collections.abc import Callable
from pathlib import Path

from eval.corpora import consultations, dialogues, mails, whole_documents
from eval.corpora.bench_corpus import BenchCorpus, Selection
from models.errors import ConfigurationError

Loader = Callable[[Path, Selection], BenchCorpus]

_LOADERS: dict[str, Loader] = {
    "mts_dialog": dialogues.mts_dialog,
    "aci_bench": dialogues.aci_bench,
    "healthcaremagic": consultations.healthcaremagic,
    "enronqa": mails.enronqa,
    "aeslc": mails.aeslc,
    "ewt_email": whole_documents.ewt_email,
    "tab": whole_documents.tab,
    "demo": whole_documents.demo,
    "folder": whole_documents.folder,
}


SPLIT = ("mts_dialog", "aci_bench", "ewt_email")
"""Corpora whose records name their official split."""


def corpus_names() -> tuple[str, ...]:
    """The names that ``load`` knows, in the order of a table."""
    return tuple(_LOADERS)


def load(name: str, path: Path, selection: Selection | None = None) -> BenchCorpus:
    """The corpus of a name: its documents and questions, the same for the same selection.

    ``path`` is the corpus's own folder, or one file of it. Without a selection everything is taken and
    the paper's share is asked.

    Raises:
        ConfigurationError: The name is unknown, ``path`` holds no such corpus, own questions are given to a
            published corpus, or a split is asked of one that names none.
        ModelUnavailable: The files are Parquet and pyarrow is not installed.
        UnreadableDocument: A file or record cannot be read.
    """
    wanted = selection or Selection()
    if name not in _LOADERS:
        raise ConfigurationError(f"There is no corpus {name!r}: the names are {', '.join(_LOADERS)}.")
    if wanted.split is not None and name not in SPLIT:
        raise ConfigurationError(
            f"{name} says of no record which split it is of: leave --split out. {', '.join(SPLIT)} do."
        )
    if wanted.questions_file is not None and name != whole_documents.FOLDER.corpus:
        raise ConfigurationError(
            f"questions_file goes with the corpus folder, and {name} has its own questions: leave one out."
        )
    return _LOADERS[name](path, wanted)
