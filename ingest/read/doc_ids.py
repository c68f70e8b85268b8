"""Ids for an index: they identify a document without naming a person."""

import re
from collections.abc import Callable
from hashlib import blake2b
from pathlib import PurePath

from ingest.language.vocabulary import words
from models.errors import ConfigurationError

_DIGESTED = re.compile(r"doc-[0-9a-f]{16}")
_OPAQUE = re.compile(r"[A-Za-z0-9._:/#~-]{1,200}")
_SEPARATORS = re.compile(r"[._:/#~-]+")
_WORD_STARTS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")
_NUMBER = re.compile(r"[0-9]{7}")
"""Minimum digits of phone numbers, dates and personal identifiers."""
_RANDOM = re.compile(
    r"~[0-9a-f]{8}(?![0-9A-Za-z])|(?<![0-9A-Za-z])"
    r"(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?=[0-9]*[a-f])[0-9a-f]{16,})(?![0-9A-Za-z])"
)
"""Digests and UUIDs, which carry no meaning."""
_OF_FILES = frozenset(
    "archive article attachment chat collection dialog dialogue docs docx email emails encounter entry html "
    "image inbox index invoice item json jsonl mbox memo ndjson page pptx post query sample scan sheet "
    "source text thread ticket transcript ward xlsm xlsx".split()
)


def digested_id(source_id: str, key: bytes) -> str:
    """A keyed digest of the id; an existing digest is unchanged."""
    if not 16 <= len(key) <= 64:
        raise ConfigurationError(
            f"the key for document ids has {len(key)} bytes; give it 16 to 64 random ones"
        )
    if _DIGESTED.fullmatch(source_id):
        return source_id
    digest = blake2b(source_id.encode("utf-8", "surrogatepass"), digest_size=8, key=key)
    return f"doc-{digest.hexdigest()}"


def kept_id(source_id: str, names_somebody: Callable[[str], bool], key: bytes) -> str:
    """``source_id`` if it looks opaque and names nobody, else a keyed digest of it.

    A name may show in seven consecutive digits, a listed name, or an uncommon word of four letters or more
    (ashdown_m). Random hexadecimal keys are no words. ``names_somebody`` is asked about the id and about its
    words, split and capitalized. Of a path only the file name is kept, with part of the digest. Mail ids are
    always digested: they stand in angle brackets. The same id and ``key`` always give the same result.

    Raises:
        ConfigurationError: ``key`` has fewer than 16 or more than 64 bytes.
    """
    digested = digested_id(source_id, key)
    kept = source_id
    if source_id.startswith("/"):
        path = PurePath(source_id)
        source_id, kept = path.name, f"{path.stem}~{digested[-8:]}{path.suffix}"
    if not _OPAQUE.fullmatch(source_id) or _may_tell(_RANDOM.sub(" ", source_id)):
        return digested
    return digested if any(map(names_somebody, (source_id, _words(source_id)))) else kept


def _may_tell(source_id: str) -> bool:
    """Whether a number or word of the id may identify a person."""
    if _NUMBER.search(source_id):
        return True
    names, plain = words("given_names", "given_names_ambiguous", "surnames"), words("common_words")
    return any(
        word in names or (len(word) > 3 and word not in plain)
        for word in _words(source_id).lower().split()
        if word.isalpha() and len(word) > 2 and word not in _OF_FILES
    )


def _words(source_id: str) -> str:
    spaced = _WORD_STARTS.sub(" ", _SEPARATORS.sub(" ", source_id))
    return " ".join(word.capitalize() for word in spaced.split())
