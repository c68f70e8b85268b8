"""An audit of a collection with the originals that readings bring."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path

from app.compose import system_of
from app.data_dir import DataDir
from app.settings.report import run_settings
from eval.corpora.given import read_corpus
from eval.corpora.gold import GoldRows
from eval.progress import Progress
from eval.studies.audit.report import AuditReport
from eval.studies.audit.study import Options, audit
from ingest.read.reading import Reading


def audit_of(
    data: DataDir,
    name: str,
    readings: Iterable[Reading],
    options: Options,
    gold: GoldRows | None,
    progress: Progress,
    folder: Path | None,
) -> AuditReport:
    """Audit a collection; its rows are written to ``folder``, where an interrupted audit goes on.

    Raises:
        ConfigurationError: A gate is of no measure.
        LetheError: None of the originals is in the collection, or they hold nothing sensitive.
        CollectionError: There is no such collection.
    """
    with data.open(name) as collection:
        manifest = collection.manifest
        system = system_of(data.settings, made_with=manifest)
        public_ids = partial(data.public_ids, keep=manifest.keeps_ids)
        corpus = read_corpus(readings, public_ids, gold, progress)
        made_with = run_settings(data.settings)
        return audit(system, collection, corpus, options, progress, folder=folder, made_with=made_with)
