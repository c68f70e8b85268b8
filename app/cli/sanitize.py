"""``lethe sanitize``."""

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from pathlib import Path, PurePosixPath

from app.cli.console import message, result
from app.cli.given import data_of, documents_of, under_public_ids
from app.compose import system_of
from app.ingesting import walk_of
from app.rows import sanitized_row
from ingest.documents import SanitizedDocument
from ingest.errors import SanitizationError
from ingest.pipeline import Limits, batches
from ingest.private_files import private_folder
from ingest.read.paths import FOLDERS_ALONE, Walk, files_of
from ingest.read.sources import STDIN
from ingest.temporary import PREFIX, sweep, temporary_file
from models.errors import ConfigurationError, LetheError


class FileRefused(LetheError):
    """A file that would replace another."""


class SanitizedFiles:
    """A folder for the sanitized texts of what is read from ``named``.

    Never replaced are input files, files of other documents of the run, and, without
    ``overwrite``, files with another text. Memory grows with the number of files.
    """

    def __init__(
        self, folder: Path, named: Sequence[str], *, overwrite: bool, walk: Walk = FOLDERS_ALONE
    ) -> None:
        """Make the folder if need be; raises LetheError if it cannot be or lies in what is read."""
        for each in named:
            if (
                each != STDIN
                and Path(each).is_dir()
                and folder.resolve().is_relative_to(Path(each).resolve())
            ):
                raise ConfigurationError(
                    f"--output: {folder} lies in {each}, which is an input, so that its files would be read "
                    "too. Name a folder outside of it."
                )
        self._folder = folder
        self._named, self._walk = named, walk
        self._overwrite = overwrite
        self._written: set[Path] = set()
        self._swept: set[Path] = set()
        try:
            private_folder(folder)
        except OSError as error:
            raise _unwritten(folder, error) from None

    def write(self, doc_id: str, text: str) -> Path:
        """Write a text; returns its path, which is made from its id.

        Raises:
            FileRefused: Another file exists, or the id cannot be a file name.
            LetheError: The file cannot be written.
        """
        path = self._folder / name_of(doc_id)
        content = text.encode()
        try:
            if self._needed(path, content):
                self._write_whole(path, content)
        except OSError as error:
            raise _unwritten(path, error) from None
        self._written.add(path)
        return path

    def _needed(self, path: Path, content: bytes) -> bool:
        """Whether the file must be written; refuses to replace protected files."""
        if path in self._written:
            raise FileRefused(
                f"{path}: another document of this run was written to it. Give every document its own id."
            )
        if not (path.exists() or path.is_symlink()):
            return True
        if not path.is_file():
            raise FileRefused(f"{path}: is not a regular file. Name another folder with --output.")
        status = path.stat()
        if status.st_size == len(content) and path.read_bytes() == content:
            return False
        if not self._overwrite:
            raise FileRefused(f"{path}: a file with another text exists. Give --overwrite to replace it.")
        if (status.st_dev, status.st_ino) in self._sources:
            raise FileRefused(f"{path}: is an input file and is not replaced. Name another folder.")
        return True

    def _write_whole(self, path: Path, content: bytes) -> None:
        private_folder(path.parent)
        if path.parent not in self._swept:
            sweep(path.parent)
            self._swept.add(path.parent)
        with temporary_file(path.parent, PREFIX, content) as temporary:
            temporary.replace(path)

    @cached_property
    def _sources(self) -> set[tuple[int, int]]:
        """The input files; listed only when a file would be replaced."""
        files = chain.from_iterable(files_of(each, self._walk) for each in self._named if each != STDIN)
        return _identities(path for path in files if isinstance(path, Path))


def name_of(doc_id: str) -> PurePosixPath:
    """A relative path that ends in ``.txt``: of a digest, or of an id that is kept, often a path itself.

    Raises:
        FileRefused: The id is nothing but dots and slashes.
    """
    parts = [part for part in PurePosixPath(doc_id).parts if part.strip("/") not in ("", "..")]
    if not parts:
        raise FileRefused(f"{doc_id}: cannot be a file name. Leave out --keep-ids.")
    path = PurePosixPath(*parts)
    return path if path.suffix.lower() == ".txt" else path.with_name(f"{path.name}.txt")


def _identities(paths: Iterable[Path]) -> set[tuple[int, int]]:
    found = set()
    for path in paths:
        try:
            status = path.stat()
        except OSError:
            continue
        found.add((status.st_dev, status.st_ino))
    return found


def _unwritten(path: Path, error: OSError) -> LetheError:
    reason = error.strerror or type(error).__name__
    return LetheError(f"{path}: could not be written ({reason}). Free some space, or name another folder.")


def run(arguments: argparse.Namespace) -> int:
    """One JSON object per document; failures go to standard error."""
    if arguments.overwrite and not arguments.output:
        raise ConfigurationError("--overwrite goes with --output: name the folder, or leave out --overwrite.")
    data = data_of(arguments)
    system = system_of(data.settings)
    if arguments.collection:
        with data.open(arguments.collection) as collection:
            system = replace(system, scale=collection.manifest.scale)
    sanitizer = system.sanitizer()
    files = None
    if arguments.output:
        files = SanitizedFiles(
            Path(arguments.output),
            arguments.paths,
            overwrite=arguments.overwrite,
            walk=walk_of(data.settings),
        )
    unread: list[str] = []
    failed = 0
    limits = data.settings.ingest
    documents = documents_of(arguments, data.settings, unread)
    for batch in batches(documents, Limits(limits.batch_documents, limits.batch_characters)):
        outcomes = sanitizer.sanitize(under_public_ids(data, batch))
        for document, outcome in zip(batch, outcomes, strict=True):
            try:
                _show(outcome, files)
            except (SanitizationError, FileRefused) as error:
                message(f"{document.place}: {error}")
                failed += 1
    return 1 if failed or unread else 0


def _show(outcome: SanitizedDocument | SanitizationError, files: SanitizedFiles | None) -> None:
    if isinstance(outcome, SanitizationError):
        raise outcome
    row = sanitized_row(outcome)
    if files is not None:
        path = files.write(outcome.doc_id, outcome.text)
        row = {**{name: value for name, value in row.items() if name != "text"}, "file": str(path)}
    result(row)
