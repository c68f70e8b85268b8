"""An audit of a collection of the data folder."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from app.compose import system_of
from app.data_dir import DataDir
from app.settings.report import run_settings
from eval.corpora.corpus import Corpus
from eval.progress import Progress
from eval.studies.audit.options import Options
from eval.studies.audit.report import AuditReport
from eval.studies.audit.study import audit


def audit_of(
    data: DataDir,
    name: str,
    originals: Callable[[Callable[[Sequence[str]], Sequence[str]]], Corpus],
    options: Options,
    progress: Progress,
    folder: Path | None,
    told: Callable[[str], None] = lambda plan: None,
) -> AuditReport:
    """Audit a collection; its rows are written to ``folder``, where an interrupted audit goes on.

    ``originals`` reads them, given the function from their ids to those that the collection stores. ``told``
    hears how much there is to do.

    Raises:
        LetheError: None of the originals is in the collection, or they hold nothing sensitive.
        CollectionError: There is no such collection.
    """
    with data.open(name) as collection:
        manifest = collection.manifest
        system = system_of(data.settings, made_with=manifest)
        corpus = originals(partial(data.public_ids, keep=manifest.keeps_ids))
        made_with = run_settings(data.settings)
        return audit(
            system, collection, corpus, options, progress, folder=folder, made_with=made_with, told=told
        )
