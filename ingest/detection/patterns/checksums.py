"""Check digits and checksums of identifiers."""

import hashlib
import re
from collections.abc import Callable
from functools import cache
from importlib import import_module

_BECH32_CONSTANTS = (1, 0x2BC830A3)
"""The constants of BIP 173 and BIP 350."""
_VIN_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
_VIN_VALUES = dict(zip("ABCDEFGHJKLMNPRSTUVWXYZ", "12345678123457923456789", strict=True))


def digits_of(value: str) -> str:
    """The digits of ``value``, in order."""
    return "".join(char for char in value if "0" <= char <= "9")


def is_luhn(value: str) -> bool:
    """Luhn's formula over the digits (ISO/IEC 7812-1, annex B); false for all zeros."""
    digits = digits_of(value)
    return bool(digits.strip("0")) and standard("luhn")(digits)


def is_mod97(iban: str) -> bool:
    """The check of ISO 13616: rearranged and written as a number, it is 1 modulo 97."""
    return standard("iso7064.mod_97_10")(iban[4:] + iban[:4])


def base58_version(value: str) -> int | None:
    """The version byte of a Base58Check address of 25 bytes, or ``None`` if its check fails."""
    from stdnum.bitcoin import b58decode

    raw = b58decode(value)
    check = hashlib.sha256(hashlib.sha256(raw[:-4]).digest()).digest()[:4]
    return raw[0] if len(raw) == 25 and check == raw[-4:] else None


def is_bech32(value: str) -> bool:
    """The checksum of BIP 173 or BIP 350 over a segwit address."""
    from stdnum.bitcoin import bech32_checksum

    prefix, _, data = value.lower().rpartition("1")
    values = [ord(char) >> 5 for char in prefix] + [0] + [ord(char) & 31 for char in prefix]
    return bech32_checksum(values + ["qpzry9x8gf2tvdw0s3jn54khce6mua7l".index(char) for char in data]) in (
        _BECH32_CONSTANTS
    )


@cache
def iban_length(country: str) -> int | None:
    """The length of a country's IBAN; None if it has none."""
    from stdnum import numdb

    known: dict[str, str] = numdb.get("iban").info(country)[0][1]
    fields = re.findall("[0-9]+", known.get("bban", ""))
    return 4 + sum(map(int, fields)) if fields else None


def is_vin(value: str) -> bool:
    """The check digit of a North American vehicle (49 CFR 565.15), its ninth character."""
    vin = value.upper()
    total = sum(
        weight * int(_VIN_VALUES.get(char, char)) for weight, char in zip(_VIN_WEIGHTS, vin, strict=True)
    )
    return vin[8] == "0123456789X"[total % 11]


@cache
def standard(module: str) -> Callable[[str], bool]:
    """The validator of python-stdnum's ``module``, for example ``es.dni``, loaded when first used."""

    def check(value: str) -> bool:
        return bool(import_module(f"stdnum.{module}").is_valid(value))

    return check
