"""All corpora with questions, by name."""

from collections.abc import Callable
from pathlib import Path

from eval.corpora import consultations, dialogues, exams, mails, whole_documents
from eval.corpora.corpus import Corpus, Selection
from models.errors import ConfigurationError

Loader = Callable[[Path, Selection], Corpus]

_LOADERS: dict[str, Loader] = {
    "mts_dialog": dialogues.mts_dialog,
    "aci_bench": dialogues.aci_bench,
    "medqa": exams.medqa,
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


def load(name: str, path: Path, selection: Selection | None = None) -> Corpus:
    """The corpus of a name: its documents and questions, the same for the same selection.

    ``path`` is the folder of the corpus, or one file of it. Without a selection, all documents and the
    paper's share of questions are taken.

    Raises:
        ConfigurationError: The name is unknown, ``path`` holds no such corpus, a published corpus is given
            own questions, or one without splits is given a split.
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
