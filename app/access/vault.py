"""The vault: originals of documents, sealed in their collection under a key that lies elsewhere.

It is off unless the settings turn it on. An original is sealed for its collection and its text: a row that
was altered, or put into another place, is not opened.
"""

import base64
import binascii
import hashlib
import hmac
import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from app.data_dir import DataDir
from app.settings.load import Settings
from ingest.documents import Document, SanitizedDocument, Unread
from ingest.keys import content_key, secret_in
from models.errors import ConfigurationError, LetheError
from retrieval.collection import Collection, UnknownDocument, locked
from retrieval.documents import Groups, Sealed, SealedOriginal

if TYPE_CHECKING:
    from retrieval.store.database import Store


_NONCE = 12


class Unsealable(LetheError):
    """Sealed bytes that were altered, or belong to another key or place."""

    def __init__(self) -> None:
        super().__init__(
            "It was altered, or sealed under another key. Restore the key file, or send it again."
        )


class Sealer:
    """AES-256-GCM under a key for one ``purpose``, derived from ``key``; each nonce is drawn at random."""

    def __init__(self, key: bytes, purpose: str) -> None:
        # Imported late: most commands seal nothing.
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        self._cipher = AESGCM(hmac.digest(key, f"lethe {purpose}".encode(), hashlib.sha256))

    def seal(self, content: bytes, place: str) -> bytes:
        """The content, to be opened at the same ``place`` only."""
        nonce = secrets.token_bytes(_NONCE)
        return nonce + self._cipher.encrypt(nonce, content, place.encode())

    def opened(self, sealed: bytes, place: str) -> bytes:
        """What was sealed at this place; raises Unsealable."""
        from cryptography.exceptions import InvalidTag

        try:
            return self._cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], place.encode())
        except (InvalidTag, ValueError):
            raise Unsealable from None


_BYTES = 32


def vault_keys(settings: Settings) -> tuple[bytes, Sequence[bytes]] | None:
    """The key that seals, and those before it; None where the settings name none and leave the vault off.

    Raises:
        ConfigurationError: The vault is on without a key, or a key is none or lies in the data folder.
    """
    chosen = settings.vault
    if chosen.key is not None and chosen.key_file is not None:
        raise ConfigurationError("vault.key and vault.key_file both name a key: leave one of them out.")
    if chosen.key is not None:
        key = _key_in(chosen.key.get_secret_value(), "vault.key")
    elif chosen.key_file is not None:
        key = _key_at(chosen.key_file, "vault.key_file", settings.data_dir)
    elif chosen.enabled:
        raise ConfigurationError(
            "vault.enabled keeps originals, and there is no key to seal them. Make one outside the data "
            f"folder, `openssl rand -base64 {_BYTES} > FILE`, and set vault.key_file or LETHE_VAULT__KEY."
        )
    else:
        return None
    return key, [_key_at(path, "vault.old_key_files", settings.data_dir) for path in chosen.old_key_files]


def _key_at(path: Path, name: str, data_dir: Path) -> bytes:
    if path.resolve().is_relative_to(data_dir.resolve()):
        raise ConfigurationError(
            f"{name}: the key lies in the data folder, beside what it opens. Move it to another place."
        )
    try:
        text = secret_in(path).decode("ascii")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise ConfigurationError(f"{name}: the key cannot be read ({reason}). Check the path.") from None
    return _key_in(text, name)


def _key_in(text: str, name: str) -> bytes:
    try:
        key = base64.b64decode(text.strip(), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) != _BYTES:
        raise ConfigurationError(
            f"{name} should be {_BYTES} random bytes in base64: `openssl rand -base64 {_BYTES}`."
        )
    return key


_BLOCK = 1024
"""Sealed content is filled up to whole blocks: an exact length would tell how long the names in it are."""
_COLLECTION_ID = "vault"
_MOST_AT_ONCE = 64


class NoOriginal(LetheError):
    """A document, or a collection, of which no original is in the vault."""

    def __init__(self, of: str = "document") -> None:
        super().__init__(
            f"The vault has no original of this {of} to show: it was off when the {of} was ingested, "
            "or the settings name no key for it."
        )


class OriginalNotOpened(LetheError):
    """An original under a key that the settings do not name, or that was altered."""


@dataclass(frozen=True, slots=True)
class Original:
    """A document as it was read. ``spans`` are those of the decisions about it, in their order.

    ``sealed_as`` is the id that it had then: a text with several ids may have lost that one since.
    """

    document: Document = field(repr=False)
    spans: Sequence[tuple[int, int]]
    sealed_as: str


@dataclass(frozen=True, slots=True)
class Sealing:
    """Seals originals of one collection; ``data_key`` is that of ``DataDir``. For other processes as well."""

    key: bytes = field(repr=False)
    data_key: bytes = field(repr=False)
    collection_id: str

    def __call__(self, document: Document, sanitized: SanitizedDocument) -> Sealed:
        """The sealed original of a sanitized document."""
        spans = [[each.entity.span.start, each.entity.span.end] for each in sanitized.decisions]
        content = {
            "doc_id": document.doc_id,
            "text": document.text,
            "metadata": dict(document.metadata),
            "unread": [asdict(each) for each in document.unread],
            "source": document.source,
            "spans": spans,
        }
        packed = json.dumps(content, ensure_ascii=False).encode("utf-8", "surrogatepass")
        text_key = content_key(document.text, self.data_key, document.readers)
        return _sealed(self.key, packed, self.collection_id, text_key)


class Vault:
    """The keys of the settings: one that seals, and those before it, which only open."""

    def __init__(self, key: bytes, old_keys: Sequence[bytes] = ()) -> None:
        self._key = key
        self._keys = {key_id_of(each): each for each in (*old_keys, key)}
        self.key_id = key_id_of(key)

    def knows(self, key_id: str) -> bool:
        """Whether the settings name this key."""
        return key_id in self._keys

    def sealing(self, data: DataDir, collection: Collection) -> Sealing:
        """What seals the originals of a collection; the caller holds its lock.

        Raises:
            ConfigurationError: There are originals in it under a key that the settings do not name.
        """
        unknown = [each for each in collection.store.originals_by_key() if not self.knows(each)]
        if unknown:
            raise ConfigurationError(
                f"vault.key_file: the collection holds originals under the key {unknown[0]}, and the "
                "settings name another. Name its file in vault.old_key_files, or set the key that it was."
            )
        return Sealing(self._key, data.key, _collection_id(collection.store, make=True))

    def opened(self, store: "Store", kept: SealedOriginal) -> Original:
        """An original.

        Raises:
            NoOriginal: It is not kept.
            OriginalNotOpened: Its key is not among those of the settings, or it was altered.
        """
        content = json.loads(self._content(store, kept).decode("utf-8", "surrogatepass"))
        unread = [Unread(**each) for each in content["unread"]]
        document = Document(
            kept.doc_id, content["text"], content["metadata"], tuple(unread), content["source"], kept.readers
        )
        return Original(document, [(start, end) for start, end in content["spans"]], content["doc_id"])

    def resealed(self, store: "Store", kept: SealedOriginal) -> Sealed:
        """The same original under the key that seals."""
        content = self._content(store, kept)
        return _sealed(self._key, content, _collection_id(store), kept.content_key)

    def _content(self, store: "Store", kept: SealedOriginal) -> bytes:
        if kept.sealed is None:
            raise NoOriginal
        key = self._keys.get(kept.sealed.key_id)
        if key is None:
            raise OriginalNotOpened(
                f"The original of this document is sealed under the key {kept.sealed.key_id}, which the "
                "settings do not name. Name its file in vault.old_key_files."
            )
        place = _place(_collection_id(store), kept.content_key, kept.sealed.key_id)
        try:
            return _sealer(key).opened(kept.sealed.content, place).rstrip(b"\0")
        except Unsealable:
            raise OriginalNotOpened(
                "The original of this document was altered, or put into another place. Restore the "
                "collection from a backup."
            ) from None


def key_id_of(key: bytes) -> str:
    """16 digits that name a key and tell nothing of it."""
    return hashlib.blake2b(key, digest_size=8, person=b"lethe vault id").hexdigest()


@lru_cache(maxsize=8)
def _sealer(key: bytes) -> Sealer:
    return Sealer(key, "vault")


def _sealed(key: bytes, content: bytes, collection_id: str, text_key: bytes) -> Sealed:
    key_id = key_id_of(key)
    filled = content + b"\0" * (-len(content) % _BLOCK)
    return Sealed(key_id, _sealer(key).seal(filled, _place(collection_id, text_key, key_id)))


def _place(collection_id: str, text_key: bytes, key_id: str) -> str:
    return f"{collection_id}/{text_key.hex()}/{key_id}"


def _collection_id(store: "Store", *, make: bool = False) -> str:
    """What tells a collection from all others; random, made with its first original."""
    found = store.get_meta(_COLLECTION_ID)
    if found is None and make:
        found = secrets.token_hex(16)
        store.set_meta(_COLLECTION_ID, found)
    return found or ""


# -- of a data folder ------------------------------------------------------------------------------------


def vault_of(settings: Settings) -> Vault | None:
    """The vault of the settings; None where they name no key and do not turn it on.

    Raises:
        ConfigurationError: It is on without a key, or a key is none or lies in the data folder.
    """
    keys = vault_keys(settings)
    return Vault(*keys) if keys else None


def sealing_of(data: DataDir, collection: Collection) -> Sealing | None:
    """What seals the originals of an ingest; None where the settings leave the vault off.

    Raises:
        ConfigurationError: As ``vault_of`` and ``Vault.sealing``.
    """
    vault = vault_of(data.settings) if data.settings.vault.enabled else None
    return vault.sealing(data, collection) if vault else None


def _opening(settings: Settings) -> Vault:
    vault = vault_of(settings)
    if vault is None:
        raise NoOriginal("collection")
    return vault


def originals(data: DataDir, name: str) -> Iterator[tuple[str, Document]]:
    """Every id of a collection with the document that was read under it, for sanitizing it again.

    A text that has several ids comes once with each; only the first comes with its source. Documents that
    were ingested while the vault was off are left out.

    Raises:
        NoOriginal: The settings name no key.
        OriginalNotOpened: An original was altered, or its key is not among those of the settings.
        CollectionError: There is no such collection.
    """
    vault = _opening(data.settings)
    with data.open(name) as collection:
        for kept in collection.store.originals():
            document = vault.opened(collection.store, kept).document
            yield document.doc_id, document
            for alias in kept.aliases:
                yield alias, replace(document, doc_id=alias, source="")


def revealed(
    vault: Vault | None, collection: Collection, names: Sequence[str], groups: Groups = None
) -> Mapping[str, object]:
    """The original of the document that one of the names stands for, as JSON.

    It has the text, and each decision's place in it and in the sanitized text. ``groups`` are the reader's.

    Raises:
        UnknownDocument: None of the names is in the collection, or the reader may not read it.
        NoOriginal: It is not kept, or there is no vault.
        OriginalNotOpened: As ``Vault.opened``.
    """
    store = collection.store
    kept = next(filter(None, map(store.original, store.documents_called(names, groups))), None)
    if kept is None:
        raise UnknownDocument(
            "There is no document with this id: the list of the collection's documents has them."
        )
    if vault is None:
        raise NoOriginal
    original = vault.opened(store, kept)
    places = [
        {"start": start, "end": end, "label": label, "action": action, "sanitized": [first, stop]}
        for (start, end), (label, action, first, stop) in zip(
            original.spans, store.treated(kept.doc_id)[: len(original.spans)], strict=True
        )
    ]
    return {
        "doc_id": original.document.doc_id,
        "sealed_as": original.sealed_as,
        "text": original.document.text,
        "places": places,
    }


def rotate(data: DataDir, name: str) -> int:
    """Put every original of a collection under the key that seals; how many were under another.

    A killed run goes on when it is run again.

    Raises:
        LetheError: As ``originals``; or another process is writing to the collection or reading it.
    """
    vault = _opening(data.settings)
    folder = data.open(name).folder
    count = 0
    with locked(folder, data.keeping), Collection.open(folder, data.keeping) as collection:
        batch: list[tuple[SealedOriginal, Sealed]] = []
        for kept in collection.store.originals(but_under=vault.key_id):
            batch.append((kept, vault.resealed(collection.store, kept)))
            if len(batch) == _MOST_AT_ONCE:
                collection.store.reseal(batch)
                count, batch = count + len(batch), []
        collection.store.reseal(batch)
        # What was under the old key has to go from the log of the database as well.
        if not collection.store.compact():
            raise LetheError(
                f"collection {name}: all originals are under the new key, and the log of the database still "
                "holds some under the old one: another process is reading. Stop it and run this again."
            )
    return count + len(batch)


def vault_row(data: DataDir, name: str) -> Mapping[str, object]:
    """How many originals a collection holds, under which keys, and how many of them can be opened now."""
    vault = vault_of(data.settings)
    with data.open(name) as collection:
        documents, by_key = collection.store.count_documents(), collection.store.originals_by_key()
    under = vault.key_id if vault else None
    return {
        "collection": name,
        "documents": documents,
        "originals": sum(by_key.values()),
        "keys": by_key,
        "to_rotate": sum(count for key_id, count in by_key.items() if key_id != under),
        "without_key": sum(
            count for key_id, count in by_key.items() if vault is None or not vault.knows(key_id)
        ),
    }
