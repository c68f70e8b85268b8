"""Errors of ingest. No message quotes a document."""

from ingest.documents import ACCEPTED
from models.errors import LetheError


class UnreadableDocument(LetheError):
    """A file or record that could not be read: ``place`` says where, ``reason`` why and what to do.

    ``source`` is the origin of the file or folder (``ingest.read.paths.origin``), empty if there is none.
    """

    def __init__(self, place: str, reason: str, source: str = "") -> None:
        super().__init__(f"{place}: {reason}")
        self.place = place
        self.reason = reason
        self.source = source


class SanitizationError(LetheError):
    """A document that could not be sanitized, and so was not indexed: ``what`` says why."""

    def __init__(self, doc_id: str, what: str) -> None:
        super().__init__(f"document {doc_id} was not indexed: {what}; nothing of it was kept")
        self.doc_id = doc_id
        self.what = what


class ForeignDocument(SanitizationError):
    """A document in ``language``, which the models did not learn; ``why`` names it and those they did."""

    def __init__(self, doc_id: str, language: str) -> None:
        *most, last = ACCEPTED.values()
        self.language = language
        self.why = f"in {language}, and only {', '.join(most)} and {last} are accepted"
        super().__init__(
            doc_id, f"it is {self.why} (with --language any it is read, with a warning in every result)"
        )
