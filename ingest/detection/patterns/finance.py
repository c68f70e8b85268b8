"""Payment cards, bank accounts and wallets."""

from collections.abc import Iterator

from ingest.detection.patterns.checksums import (
    base58_version,
    digits_of,
    iban_length,
    is_bech32,
    is_luhn,
    is_mod97,
    standard,
)
from ingest.detection.patterns.page import Page, Where, hints, zones
from ingest.detection.patterns.pattern import ANYWHERE, STRONG_LINK, TIGHT, Pattern, compiled, cued, entity
from ingest.documents import Entity

# Issuer ranges by length (ISO/IEC 7812): other prefixes are no payment cards.
_ISSUERS = {
    13: ("4",),
    14: ("30", "36", "38", "39"),
    15: ("34", "37", "1800", "2131"),
    16: ("2", "3", "4", "5", "6"),
    17: ("50", "56", "57", "58", "6"),
    18: ("50", "56", "57", "58", "6"),
    19: ("4", "50", "56", "57", "58", "6"),
}
_CARD = (
    r"(?<![\w./+-])(?:[0-9]{4}([ .-])[0-9]{4}\1[0-9]{4}\1[0-9]{4}(?:\1[0-9]{3})?"
    r"|[0-9]{4}([ .-])[0-9]{6}\2[0-9]{4,5}|[0-9]{13,19})(?![\w]|[./-][0-9])"
)


def is_card(value: str) -> bool:
    """Whether the digits are a payment card number by length, issuer and check digit."""
    digits = digits_of(value)
    return digits.startswith(_ISSUERS.get(len(digits), ())) and is_luhn(digits)


_IBAN_HEAD = r"(?<![^\W_])[A-Za-z]{2}[0-9]{2}(?=[ -]?[A-Za-z0-9]{3})"
_BIC = r"(?<![\w])[A-Z]{4}[A-Z]{2}[A-Z0-9]{2}(?:[A-Z0-9]{3})?(?!\w)"
_BIC_DISTANCE = 60


def find_ibans(page: Page) -> Iterator[Entity]:
    """IBANs in any grouping, and the BIC of the same country beside each."""
    head = compiled(_IBAN_HEAD)
    for first, last in zones(page, TIGHT):
        for match in head.finditer(page.text, first, last):
            end = _iban_end(page.text, match.start())
            if end is not None:
                yield entity("iban", "IBAN", match.start(), end, 0.99)
                yield from _bics_beside(page.text, match.start(), end)


def _iban_end(text: str, start: int) -> int | None:
    length = iban_length(text[start : start + 2].upper())
    if length is None:
        return None
    taken, place = "", start
    while place < len(text) and len(taken) < length:
        char = text[place]
        if char.isascii() and char.isalnum():
            taken += char.upper()
        elif char not in " -" or text[place - 1] in " -":
            return None
        place += 1
    follows = text[place : place + 1]
    complete = len(taken) == length and not (follows.isalnum() or follows == "_")
    return place if complete and is_mod97(taken) else None


def _bics_beside(text: str, start: int, end: int) -> Iterator[Entity]:
    country = text[start : start + 2].upper()
    regex = compiled(_BIC)
    for first, last in ((max(0, start - _BIC_DISTANCE), start), (end, end + _BIC_DISTANCE)):
        for match in regex.finditer(text, first, last):
            if match[0][4:6] == country and not text[match.end() : match.end() + 1].isalnum():
                yield entity("bic-beside-iban", "BIC code", *match.span(), 0.85)


def _is_bitcoin(value: str) -> bool:
    if value[:2].lower() == "bc":
        return _is_one_case(value) and is_bech32(value)
    return base58_version(value) in (0x00, 0x05)


def _is_litecoin(value: str) -> bool:
    if value[:3].lower() == "ltc":
        return _is_one_case(value) and is_bech32(value)
    return base58_version(value) in (0x30, 0x32)


def _is_one_case(value: str) -> bool:
    return value in (value.lower(), value.upper())


_BASE58 = "[1-9A-HJ-NP-Za-km-z]"
_BECH32 = "[02-9ac-hj-np-z]{8,87}+"


def _has_account_digits(value: str) -> bool:
    return 5 <= len(digits_of(value)) <= 20


_ACCOUNT_CUES = (
    r"(?:bank|savings|checking|current|deposit)?[ -]{0,2}(?:accounts?|acct|a/c|acc)\b|konto(?:nummer|nr)?|"
    r"compte|cuenta|rekening(?:nummer)?|conto"
)
_ACCOUNT_HINTS = hints(
    "account|acct|acc|a/c|bank|saving|checking|current|deposit|konto|compte|cuenta|rekening|conto"
)

_IN_THOUSANDS = r"[0-9]{1,3}(?: [0-9]{3})+(?![0-9]| [0-9])"

PATTERNS: tuple[Pattern, ...] = (
    Pattern("card", "credit card number", _CARD, 0.97, TIGHT, is_card),
    cued(
        "card-cue",
        "credit card number",
        r"(?:credit|debit|visa|mastercard|amex|payment)[ -]?cards?|card",
        r"[0-9]{4}(?:[ .-]?[0-9]){8,15}(?!\w)",
        hints("card|amex|credit|debit|visa|master|payment"),
        confidence=0.9,
    ),
    cued(
        "card-ending",
        "credit card number",
        r"card(?:[ \t]{1,2}\w{1,12}){0,3}[ \t]ending(?:[ \t](?:in|with))?",
        r"[0-9]{4}(?!\w)",
        ("card",),
        confidence=0.7,
    ),
    cued(
        "cvv",
        "credit card CVV",
        r"cvv2?|cvc2?|(?:card|visa|mastercard|amex)[^\n]{0,60}(?<!\w)(?:cvn|csc|cid)|card verification"
        r"|security code|prüfziffer|prüfnummer",
        r"[0-9]{3,4}(?![\w.])|[0-9]{3,4}(?=\.(?!\w))",
        hints("cvv|cvc|card|visa|amex|security code|prüf"),
    ),
    cued(
        "bic",
        "BIC code",
        r"bic|swift(?:[ /-]?bic)?",
        r"[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?(?!\w)",
        ("bic", "swift"),
        figures=False,
    ),
    cued(
        "bank-account",
        "bank account number",
        _ACCOUNT_CUES,
        r"[0-9](?:[ -]?[0-9]){4,19}(?!\w|[.,/][0-9])",
        _ACCOUNT_HINTS,
        confidence=0.85,
        link=STRONG_LINK,
        check=_has_account_digits,
    ),
    cued(
        "bank-account-bare",
        "bank account number",
        r"(?:(?:bank|savings|checking|current|deposit)[ -]{0,2})?(?:account|acct|a/c)\b|konto|rekening",
        rf"(?!{_IN_THOUSANDS})[0-9](?:[ -]?[0-9]){{6,19}}(?!\w|[.,/][0-9])",
        _ACCOUNT_HINTS,
        confidence=0.85,
        link=r"[ (-]{1,3}+(?:(?:is|was|ist)[ ])?",
        check=_has_account_digits,
    ),
    cued(
        "sort-code",
        "bank account number",
        r"sort[ -]?code|s/c|bankleitzahl|blz|bsb|ifsc",
        r"[0-9]{2}[ -]?[0-9]{2}[ -]?[0-9]{2}(?!\w)|[0-9]{3} ?[0-9]{3} ?[0-9]{2}(?!\w)"
        r"|[0-9]{3}-[0-9]{3}(?!\w)|[A-Z]{4}0[A-Z0-9]{6}(?!\w)",
        hints("sort|s/c|bankleitzahl|blz|bsb|ifsc"),
    ),
    cued(
        "routing",
        "bank account number",
        r"(?:aba|routing|transit)(?:[ -](?:transit|routing))?",
        r"[0-9]{9}(?!\w)",
        hints("aba|routing|transit"),
        check=standard("us.rtn"),
    ),
    Pattern(
        "bitcoin",
        "bitcoin wallet address",
        rf"(?<!\w)(?:[13]{_BASE58}{{25,33}}+|bc1{_BECH32}|BC1[02-9AC-HJ-NP-Z]{{8,87}}+)(?!\w)",
        0.99,
        ANYWHERE,
        _is_bitcoin,
    ),
    Pattern(
        "ethereum",
        "ethereum wallet address",
        r"(?<!\w)0x[0-9a-fA-F]{40}(?!\w)",
        0.97,
        Where(("0x",), 0, 60),
    ),
    Pattern(
        "litecoin",
        "litecoin wallet address",
        rf"(?<!\w)(?:[LM]{_BASE58}{{25,33}}+|ltc1{_BECH32}|LTC1[02-9AC-HJ-NP-Z]{{8,87}}+)(?!\w)",
        0.99,
        ANYWHERE,
        _is_litecoin,
    ),
)
