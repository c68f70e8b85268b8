"""What can go wrong on the way in. No message quotes a document."""

from models.errors import LetheError


class UnreadableDocument(LetheError):
    """A file or record that could not be read: ``place`` says where, ``reason`` why and what to do."""

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(f"{place}: {reason}")
        self.place = place
        self.reason = reason


class SanitizationError(LetheError):
    """A document that could not be sanitized, and so was not indexed."""

    def __init__(self, doc_id: str, step: str, kind: str) -> None:
        super().__init__(f"document {doc_id} was not indexed: {step} failed ({kind}); nothing of it was kept")
        self.doc_id = doc_id
        self.step = step
        self.kind = kind
