"""The check digits and checksums that tell an identifier from a run of characters."""

import hashlib
from collections.abc import Callable
from functools import cache
from importlib import import_module

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_BECH32_CONSTANTS = (1, 0x2BC830A3)
_VIN_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
_VIN_VALUES = dict(zip("ABCDEFGHJKLMNPRSTUVWXYZ", "12345678123457923456789", strict=True))


def digits_of(value: str) -> str:
    """The digits of ``value``, in order."""
    return "".join(char for char in value if "0" <= char <= "9")


def is_luhn(value: str) -> bool:
    """Luhn's formula over the digits (ISO/IEC 7812-1, annex B); false for all zeros."""
    digits = digits_of(value)
    if not digits.strip("0"):
        return False
    odd = sum(int(digit) for digit in digits[-1::-2])
    even = sum(sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (odd + even) % 10 == 0


def is_mod97(iban: str) -> bool:
    """The check of ISO 13616: moved and spelled as a number, the remainder by 97 is 1."""
    moved = iban[4:] + iban[:4]
    return int("".join(str(int(char, 36)) for char in moved)) % 97 == 1


def base58_version(value: str) -> int | None:
    """The version byte of a Base58Check address of 25 bytes, or ``None`` if its check fails."""
    number = 0
    for char in value:
        number = number * 58 + _BASE58.index(char)
    if number >= 1 << 200:
        return None
    raw = number.to_bytes(25, "big")
    check = hashlib.sha256(hashlib.sha256(raw[:-4]).digest()).digest()[:4]
    return raw[0] if check == raw[-4:] else None


def is_bech32(value: str) -> bool:
    """The checksum of BIP 173 or BIP 350 over a segwit address."""
    prefix, _, data = value.lower().rpartition("1")
    expanded = [ord(char) >> 5 for char in prefix] + [0] + [ord(char) & 31 for char in prefix]
    remainder = 1
    for number in expanded + [_BECH32.index(char) for char in data]:
        top = remainder >> 25
        remainder = (remainder & 0x1FFFFFF) << 5 ^ number
        for bit, factor in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
            remainder ^= factor if top >> bit & 1 else 0
    return remainder in _BECH32_CONSTANTS


def is_vin(value: str) -> bool:
    """The check digit of a North American vehicle (49 CFR 565.15), its ninth character."""
    vin = value.upper()
    total = sum(
        weight * int(_VIN_VALUES.get(char, char)) for weight, char in zip(_VIN_WEIGHTS, vin, strict=True)
    )
    return vin[8] == "0123456789X"[total % 11]


@cache
def _validator(module: str) -> Callable[[str], bool]:
    found: Callable[[str], bool] = import_module(f"stdnum.{module}").is_valid
    return found


def standard(module: str) -> Callable[[str], bool]:
    """The validator of python-stdnum's ``module``, for example ``es.dni``, loaded when first used."""

    def check(value: str) -> bool:
        return _validator(module)(value)

    return check
