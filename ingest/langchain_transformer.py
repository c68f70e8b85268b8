"""LangChain documents in, sanitized LangChain documents out.

Needs only ``langchain-core``. Nothing here is traced, so no environment variable can make LangChain send a
document to a tracing service.
"""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from langchain_core.documents import BaseDocumentTransformer
from langchain_core.documents import Document as LangChainDocument

from ingest.documents import Document, SanitizedDocument
from ingest.errors import SanitizationError
from ingest.protocols import Sanitizer
from models.errors import ConfigurationError

POLICY, RISK_BEFORE, RISK_AFTER = "lethe_policy", "lethe_risk_before", "lethe_risk_after"
"""The added metadata: the policy's name, and the risks in [0, 1], rounded to two digits."""


class SanitizingTransformer(BaseDocumentTransformer):
    """Sanitizes each document's text before a splitter, an embedding or a vector store sees it.

    Metadata is not sanitized, and loaders put paths, authors and subjects there. So only the keys in
    ``keep_metadata`` are kept. A document's ``id`` is unchanged, since stores look documents up by it: use
    ids that contain no names.

    Args:
        sanitizer: any sanitizer except policy origin.
        keep_metadata: keys whose values are not private; these are copied.

    Raises:
        ConfigurationError: the sanitizer is the policy origin, which leaves the text raw.
    """

    def __init__(self, sanitizer: Sanitizer, keep_metadata: Sequence[str] = ()) -> None:
        if sanitizer.name == "origin":
            raise ConfigurationError(
                "The policy origin changes nothing, and raw text is never passed on. "
                "Take trip, redact or suppress."
            )
        self._sanitizer = sanitizer
        self._keep_metadata = frozenset(keep_metadata)

    def transform_documents(
        self, documents: Sequence[LangChainDocument], **kwargs: Any
    ) -> list[LangChainDocument]:
        """New documents in the order of ``documents``, all of them or none.

        Raises:
            SanitizationError: a document failed; the message has its number, from 1, not its id.
            ConfigurationError: options were given; none exist.
        """
        if kwargs:
            raise ConfigurationError("SanitizingTransformer takes documents and no options; leave them out.")
        # Loader ids are often paths with names in them, so errors give a document's number instead.
        numbered = [
            Document(f"number {number}", document.page_content)
            for number, document in enumerate(documents, start=1)
        ]
        made: list[LangChainDocument] = []
        for document, outcome in zip(documents, self._sanitizer.sanitize(numbered), strict=True):
            if isinstance(outcome, SanitizationError):
                raise outcome
            made.append(self._made(document, outcome))
        return made

    def _made(self, document: LangChainDocument, sanitized: SanitizedDocument) -> LangChainDocument:
        kept = {key: value for key, value in document.metadata.items() if key in self._keep_metadata}
        added = {
            POLICY: sanitized.policy,
            RISK_BEFORE: round(sanitized.risk.before, 2),
            RISK_AFTER: round(sanitized.risk.after, 2),
        }
        return LangChainDocument(sanitized.text, id=document.id, metadata=deepcopy(kept) | added)
