"""Ids that may stand in an index: they name a document without naming a person."""

import re
from collections.abc import Callable
from hashlib import blake2b

from models.errors import ConfigurationError

_DIGESTED = re.compile(r"doc-[0-9a-f]{16}")
_OPAQUE = re.compile(r"[A-Za-z0-9._:/#-]{1,200}")
_SEPARATORS = re.compile(r"[._:/#-]+")
_WORD_STARTS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")


def digested_id(source_id: str, key: bytes) -> str:
    """A keyed digest of the id; what is such a digest already stays as it is."""
    if not 16 <= len(key) <= 64:
        raise ConfigurationError(
            f"the key for document ids has {len(key)} bytes; give it 16 to 64 random ones"
        )
    if _DIGESTED.fullmatch(source_id):
        return source_id
    digest = blake2b(source_id.encode("utf-8", "surrogatepass"), digest_size=8, key=key)
    return f"doc-{digest.hexdigest()}"


def kept_id(source_id: str, names_somebody: Callable[[str], bool], key: bytes) -> str:
    """``source_id`` if it has the shape of an opaque key and names nobody, else a keyed digest of it.

    ``names_somebody`` is asked about the id as it is and about its words: separators turned into spaces, runs
    of letters and digits parted, each word capitalized. Ids of mail stand in angle brackets, so they are
    always digested. ``key`` has 16 to 64 bytes, or ``ConfigurationError``; the same id under the same key has
    the same answer, which is how a document is found again by the id of its source.
    """
    digested = digested_id(source_id, key)
    if _OPAQUE.fullmatch(source_id) and not any(map(names_somebody, (source_id, _words(source_id)))):
        return source_id
    return digested


def _words(source_id: str) -> str:
    spaced = _WORD_STARTS.sub(" ", _SEPARATORS.sub(" ", source_id))
    return " ".join(word.capitalize() for word in spaced.split())
