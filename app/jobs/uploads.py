"""What was sent for a job, sealed on the disk until the job is over.

An upload is read from the memory of the process that does the job: its content is nowhere on the disk in
clear. Files are called by their number, since a name may name somebody.
"""

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from app.access.vault import Sealer
from ingest.documents import Document
from ingest.errors import UnreadableDocument
from ingest.private_files import private_folder
from ingest.read.paths import canonical, upload_origin
from ingest.read.reading import Fields, Reading, ReadLimits
from ingest.read.sources import read_documents
from ingest.temporary import temporary_file, temporary_folder
from models.errors import LetheError


@dataclass(frozen=True, slots=True)
class Upload:
    """A file as it was sent."""

    name: str = field(repr=False)
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Order:
    """What a job is to do: settings of the policy, fields of records, readers, options of an audit.

    ``source`` is the collection whose originals are taken from the vault.
    """

    policy: Mapping[str, Any] = field(default_factory=dict, repr=False)
    text_field: str = field(default="text", repr=False)
    id_field: str = field(default="id", repr=False)
    readers_field: str = field(default="", repr=False)
    readers: list[str] = field(default_factory=list, repr=False)
    source: str | None = None
    audit: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class _Sent:
    """A file that is read: where it is for a moment, what its sender calls it, and how reports do."""

    path: Path
    name: str = field(repr=False)
    place: str

    def named(self, item: Document | UnreadableDocument) -> Document | UnreadableDocument:
        """The item under names that hold for longer than the path."""
        place = item.place.replace(str(self.path), self.place)
        if isinstance(item, UnreadableDocument):
            return UnreadableDocument(place, item.reason, self.source)
        # Documents without ids of their own are named after their file.
        doc_id = item.doc_id.replace(canonical(self.path), self.name)
        return replace(item, doc_id=doc_id, metadata={**item.metadata, "place": place}, source=self.source)

    @property
    def source(self) -> str:
        """What stands for the origin of its documents: no path of this machine."""
        return upload_origin(self.name)


class Uploads:
    """Sealed orders and files, a folder for each job."""

    def __init__(self, folder: Path, key: bytes) -> None:
        self._folder = folder / "uploads"
        self._sealer = Sealer(key, "uploads")

    def keep(self, job_id: str, order: Order, files: Sequence[Upload]) -> None:
        """Write them; raises LetheError if the disk is full."""
        folder = self._folder / job_id
        described = {name: getattr(order, name) for name in Order.__slots__}
        head = json.dumps({"order": described, "names": [each.name for each in files]})
        try:
            private_folder(folder)
            # The order last: without it there is nothing to do.
            for number, content in [*enumerate((each.content for each in files), 1), (0, head.encode())]:
                sealed = self._sealer.seal(content, _place(job_id, number))
                with temporary_file(folder, ".upload-", sealed) as written:
                    written.rename(folder / str(number))
        except OSError as error:
            shutil.rmtree(folder, ignore_errors=True)
            reason = error.strerror or type(error).__name__
            raise LetheError(
                f"The upload could not be kept ({reason}). Free some space, or send less."
            ) from None

    def order(self, job_id: str) -> Order:
        """The order of a job; raises LetheError if it cannot be opened."""
        return Order(**self._head(job_id)["order"])

    def bytes_of(self, job_id: str) -> int:
        """The size of the files, about."""
        folder = self._folder / job_id
        return sum(each.stat().st_size for each in folder.iterdir() if each.name != "0")

    def forget(self, job_id: str) -> None:
        """Delete what was sent."""
        shutil.rmtree(self._folder / job_id, ignore_errors=True)

    def job_ids(self) -> list[str]:
        """The jobs for which something was sent."""
        return [each.name for each in self._folder.iterdir()] if self._folder.is_dir() else []

    @contextmanager
    def readings(self, job_id: str, limits: ReadLimits) -> Iterator[Iterator[Reading]]:
        """The documents of the files, read from memory while the block lasts."""
        order, names = self.order(job_id), self._head(job_id)["names"]
        with ExitStack() as stack, temporary_folder() as folder:
            files = []
            for number, name in enumerate(names, 1):
                memory = stack.enter_context(os.fdopen(os.memfd_create("upload"), "wb"))
                memory.write(self._opened(job_id, number))
                memory.flush()
                # A link to what is in memory: readers go by the extension of a path.
                path = folder / f"{number}{_extension(name)}"
                path.symlink_to(f"/proc/{os.getpid()}/fd/{memory.fileno()}")
                files.append(_Sent(path, name, f"file {number}"))
            fields = Fields(order.text_field, order.id_field, order.readers_field)
            read = read_documents([str(each.path) for each in files], fields=fields, limits=limits)
            sent = {str(each.path): each for each in files}
            yield (replace(each, item=sent[each.item.source].named(each.item)) for each in read)

    def _head(self, job_id: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = json.loads(self._opened(job_id, 0))
        return found

    def _opened(self, job_id: str, number: int) -> bytes:
        try:
            sealed = (self._folder / job_id / str(number)).read_bytes()
        except OSError:
            raise LetheError("What was sent for this job is gone. Send it again.") from None
        return self._sealer.opened(sealed, _place(job_id, number))


def _place(job_id: str, number: int) -> str:
    return f"{job_id}/{number}"


def _extension(name: str) -> str:
    """The last extension of a name that a client made up, and the one before ``.gz``."""
    found = re.search(r"(\.[A-Za-z0-9]{1,8})?(\.gz)?\Z", name)
    return found[0] if found else ""
