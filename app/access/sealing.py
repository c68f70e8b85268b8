"""Sealed bytes: what must wait on the disk is written so that only the data folder's key opens it."""

import hashlib
import hmac
import secrets

from models.errors import LetheError

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
