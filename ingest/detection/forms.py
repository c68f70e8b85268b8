"""Form checks for numbers and addresses found by a model.

A model trained on prose mistakes many values in tables, code and notes for identifying numbers. These checks
reject only predictions that the form rules out; after a cue word only measurements are rejected.
"""

import re
from collections.abc import Callable, Mapping

from ingest.detection.patterns.measures import CURRENCIES, is_measure
from ingest.detection.patterns.money import CURRENCY_WORDS, MARKS
from ingest.language.vocabulary import fold, words

LOOK_BACK = 80
"""Characters before a number that are searched for a cue word."""
_ANNOUNCED = re.compile(
    r"(?i)(?<![^\W_])(?:(?:pass)?codes?|contract|mrn|ssn|nhs|ids?|no|nos|nr|n[º°]|numbers?|num|passport|account"
    r"|acct|reference|ref|case|file|docket|invoice|order|ticket|booking|policy|phone|tel|telephone|mobile|fax"
    r"|cell|call|licen[cs]e|permit|employee|application|appeal|complaint|chart|records?|member|card|tax|vat"
    r"|staff|claim|badge|zip|box|post ?code|extension|ext|ending|last|pin)(?!\.[^\W\d_])"
    r"[^\w\n]{0,4}(?:\w{1,6}[^\w\n]{1,3}){0,2}$"
)
_OPENS = re.compile(
    r"(?i)(?<![^\W_])(?:pins?|(?:pass)?codes?|password|passphrase|otp|combination|dial|enter|press)"
)
_DRIVEN = re.compile(
    r"(?i)(?<![^\W_])(?:cars?|vans?|trucks?|lorry|vehicles?|motor ?(?:cycle|bike)s?|bus|taxi|plates?"
    r"|reg(?:istration)?|vrm|tags?|drove|driv(?:es?|ing)|parked)(?![^\W\d_])"
)
_DECIMAL = re.compile(r"[+-]?(?:[0-9]{1,9}[.,][0-9]{1,9}|0\.[0-9]+)")
_LONG_RUN = re.compile(r"[0-9]{6}|[xX] ?[0-9]-?[0-9]{4}|(?<![0-9-])[0-9]-[0-9]{4}(?![0-9-])")
"""Six consecutive digits, rare in counts, ports and codes; or an extension: x54667, 3-5213."""
_FIGURE = re.compile(r"[0-9]")
_FORMS = {
    "IP address": re.compile(r"(?:[0-9xX*]{1,3}\.){3}[0-9xX*]|[0-9A-Fa-f]{0,4}:[0-9A-Fa-f]{0,4}:"),
    "MAC address": re.compile(r"(?:[0-9A-Fa-f]{2}[:-]){2}|(?:[0-9A-Fa-f]{4}\.){2}"),
    "URL link": re.compile(r"(?i)://|www\.|\w\.[^\W\d_]{2,}(?![\w.])|[^\W_]/[~@]?[^\W\d_]| dot "),
    "secondary address unit": re.compile(r"[0-9]|^[^\W\d_]$|[^\W\d_]{4}"),
    "credit card CVV": re.compile(r"(?<![0-9])[0-9]{3,4}(?![0-9])|^[^0-9]+$"),
    "email address": re.compile(r"[^\n]{5}"),
    "secret key": re.compile(r"[^\n]{8}"),
    "account handle": re.compile(r"^(?![^\W\d_]+\.$).*(?:[^\W\d_]|_|[0-9]{5})"),
    "nearby GPS coordinate": re.compile(r"[0-9]\s?°\s?[0-9NSEWO,]|[0-9]\.[0-9]{3}|[0-9]\s?[NSEW]\b"),
    "zip postal code": re.compile(r"(?=[^0-9]*[0-9])[A-Z0-9][A-Z0-9 -]{2,}[A-Z0-9]"),
    "social security number": re.compile(r"(?:[0-9xX*][ .-]{0,2}){9}|^[0-9]{4}$"),
}
_FORMS["personal web link"] = _FORMS["URL link"]
_PLATE = re.compile(r"[A-Z]{2}[0-9]{2} ?[A-Z]{3}|[A-ZÄÖÜ]{1,3}-[A-Z]{1,2} ?[0-9]{1,4}|[0-9][A-Z]{3}[0-9]{3}")
_LEAST_ON_PLATE = 5
_READINGS = re.compile(
    r"(?:(?<![^\W_])[^\W\d_]{1,6}[0-9]{0,2}[ :=]{1,2}[0-9][0-9.,/]{0,6}(?![\w-]).{0,9}?){2}"
)
"""Two names, each with a value: RR 22 BP 96/54."""
_RATIO = re.compile(r"[0-9]{1,4}/[0-9]{1,4}|(?=.*[/.]).*-[0-9]{2,3}-.*")
_SPACED = re.compile(r"[1-9][0-9]{0,3}(?: [0-9]{1,4}){1,2}")
_LONGEST_SPACED = 9
"""Digits of a few consecutive counts; a phone number with blanks only has more, or begins with 0."""
_ABBREVIATION = r"(?:[A-Z][a-z]{0,2}|[^\W_]{0,3}[A-Z][A-Z0-9][^\W_]{0,4})"
_CODE = rf"{_ABBREVIATION}[ :=]{{1,3}}[<>]?[0-9]{{1,4}}(?:[.,][0-9]{{1,3}})?"
_CODED = re.compile(rf"{_CODE}(?:,? {_CODE}){{0,9}}")

_MONEY = re.compile(rf"{MARKS}|(?<!\w)(?:{CURRENCIES})(?!\w)|(?i:(?<!\w){CURRENCY_WORDS}|grand\b)")
_LAB = re.compile(r"(?<!\w)(?:INR|CAD)\W{0,2}(?:[0-9]{1,2}(?:[.,][0-9]{1,2})?(?![0-9]).*)?$")
_PAID = re.compile(
    r"(?i)(?<![^\W_])(?:pa(?:y|ys|id|ying|yments?)|pric(?:ed?|es|ing)|costs?|fees?|charg(?:ed?|es)|salar(?:y|ies)"
    r"|wages?|rent|amount(?:s|ed)?|bills?|billed|loans?|owe[ds]?|debts?|fined?"
    r"|deposit(?:s|ed)?|cash|worth|earn(?:s|ed|ing|ings)?|spent|spends?|budget|income|bonus|refund(?:ed)?"
    r"|premium|shipping|discount|donat(?:ed|ion)|compensation|damages|award(?:ed)?|sold|bought"
    r"|gehalt|preis|betrag|miete|prix|montant|salaire|precio|importe|sueldo)"
    r"(?![^\W\d_])[ :=]{0,3}"
    r"(?:(?:of|was|is|to|at|for|by|about|her|him|them|me|us|a|each|over|up|in|only)[ ]){0,3}"
    r"[0-9.,]{0,12}$"
)
_SUMMED = re.compile(
    r"(?i)(?<![^\W_])(?:(?:sub)?totals?|sum|balance|excess|gross|net)[ :=]{0,3}[0-9.,]{0,12}$"
)
_CENTS = re.compile(r"[.,][0-9]{2}(?![0-9])")
_AMOUNT = re.compile(r"(?i)(?:hundred|thousand|million|billion|twenty|thirty|fifty)")

_STREET = re.compile(
    r"(?i)stra(?:ß|ss)e(?![^\W_])|str\.|(?:weg|platz|allee|gasse|damm|ufer|steig|straat|laan|plein|gracht|kade"
    r"|gatan|vägen|veien|vegen|vej|gade|gata|katu|kuja)(?![^\W_])|(?<![^\W_])(?:calle|avda|avenida|plaza|paseo"
    r"|camino|viale|piazza|corso|rua|chemin|quai|impasse|route d[eu]|ulica|ul\.|p\.? ?o\.? ?box|postfach"
    r"|cottage|villa|lodge|manor|estate|grove|circle|broadway"
    r"|(?-i:House|Farm|Building|Hill|Place|Pl|Row|Walk|Loop|Pike|Green|Rise|Yard))(?![^\W\d_])"
    r"|(?<![^\W_])(?:box|apt|apartment|suite|unit|flat|floor|trailer|block)\.? #?[0-9]{0,4}[A-Z]?(?![.,]?\w)"
)
_NUMBER_AND_NAME = re.compile(
    r"(?<![\w.,/])[1-9][0-9]{0,4}[A-Za-z]? (?:[NSEW]\.? )?(?!(?:Mb|Kb|Gb|Hz|Pa|Nm)\b)[A-ZÀ-Þ][^\W\d_A-Z]{2}"
    r"|[^\W\d_]{3}.*(?<![\w.])[0-9]{5}(?![\w.])|(?<![\w.])[0-9]{5},? [^\W\d_]{3}"
)
_NAMED_PLACE = re.compile(r"[A-ZÀ-Þ][^\W\d_]{2}.*[ -][A-ZÀ-Þ][^\W\d_A-Z]{2}|[A-ZÀ-Þ][^\W\d_A-Z]{3,}$")
_DWELLS = re.compile(
    r"(?i)(?<![^\W_])(?:address|anschrift|adresse|dirección|domicilio|lives?|lived|living|resid(?:es?|ing|ent)|home"
    r"|moved|house|street|road|located|deliver(?:ed|y)?|sent|post(?:ed)?)(?![^\W\d_])[^\n.;]{0,24}$"
)
_POST_CODE = re.compile(
    r"[A-Z]{1,2}[0-9][A-Z0-9]? ?[0-9][A-Z]{2}|[A-Z][0-9][A-Z] ?[0-9][A-Z][0-9]|[0-9]{4} ?[A-Z]{2}"
    r"|[0-9]{5}-[0-9]{4}"
    r"|[0-9]{2}-[0-9]{3}|[A-Z]{1,2}-[0-9]{4,5}|[A-Z]{1,2}[0-9][A-Z0-9]|[0-9]{3} [0-9]{2}"
)
_POST_FIGURES = re.compile(r"(?:[A-Z]{2,3},? )?([0-9]{4,6})")
_STRAY_BEFORE = re.compile(r"(?:(?!(?:in|to|at|from|of|near) $)(?<![^\W_])[^\W\d_A-Z]+|[0-9.,]+)[ =:]{1,2}$")
_ABBREVIATED = re.compile(r"(?<![^\W_])([A-Z]+)[ =:]{1,2}$")
_TOWN_AFTER = re.compile(r",? [A-ZÀ-Þ][^\W\d_A-Z]{2}")

_FEWEST = {
    "bitcoin wallet address": 20,
    "ethereum wallet address": 20,
    "litecoin wallet address": 20,
    "IBAN": 10,
    "phone IMEI": 10,
    "vehicle VIN": 10,
    "national id number": 9,
    "passport number": 8,
    "bank account number": 8,
    "tax number": 8,
    "driving licence number": 8,
    "health insurance number": 8,
    "case number": 8,
    "employee number": 8,
    "reference number": 8,
    "phone number": 7,
    "medical record number": 4,
    "credit card number": 4,
    "credit card CVV": 3,
    "social security number": 4,
}
"""Minimum number of letters and digits by label, also for partly masked values."""


_SIX_DIGITS = frozenset(("national id number", "case number", "medical record number"))
_SIX = 6
_NEXT_READING = re.compile(rf"[0-9]\)?[.,;]\s+{_ABBREVIATION}(?![^\W_])")
_LETTERS = re.compile(r"^[^0-9\n]{4}[^0-9\n]*$")
_SHORTEST_ALONE = 4
"""Minimum characters; an all-digit street address is a post code, and a short one may be any value."""
_VALUE_AFTER = re.compile(r"[ :=]{1,3}[<>]?[0-9]")
_CAPITALS = re.compile(r"[A-Z]{2,3}")
_WORD_AFTER = re.compile(r" (?:[a-z]{3}|[A-Z][0-9])")
_SHORT_PLACES = frozenset(("uk", "us", "eu", "la", "dc", "usa", "uae", "nyc", "nsw", "ussr"))
_CLASS = re.compile(r"\.[A-Z][a-z]|\.(?:java|kt|scala|py|js|ts|cs|go|rb)(?![\w.])")
_FORMS_OF_LINKS = re.compile(r"(?i)://|www\.|/|@")


def has_form(label: str, said: str, before: str, after: str = "") -> bool:
    """Whether ``said`` fits the form of its label; always true for labels without a fixed form.

    ``before`` and ``after`` are the adjacent text. A number without a cue word, in ``before`` or in itself,
    needs six consecutive digits or its label's minimum length, and must not be a measurement: "104 RR 22" is
    no national identity number. An address needs a street, a post box or a town; a plate a vehicle or its
    form; a sum a currency or a payment; a PIN the thing that it opens.
    """
    number = _FIGURE.search(said)
    if label in _CHECKS_OF_VALUES:
        return _CHECKS_OF_VALUES[label](said, before, after)
    if number and _ANNOUNCED.search(f"{before}{said[: number.start()]}") and not is_measure(said):
        return True
    if label in _FORMS and not _FORMS[label].search(said):
        return False
    if label in _CHECKS:
        return _CHECKS[label](said, before, after)
    return label not in _FEWEST or _is_long(label, said)


def _is_long(label: str, said: str) -> bool:
    if is_measure(said) or _DECIMAL.fullmatch(said) or _READINGS.search(said):
        return False
    if _LONG_RUN.search(said):
        return True
    n_digits = sum(char.isdigit() for char in said)
    if label in _SIX_DIGITS and (0 < n_digits < _SIX or _RATIO.fullmatch(said)):
        return False
    if label == "phone number" and n_digits <= _LONGEST_SPACED and _SPACED.fullmatch(said):
        return False
    return sum(char.isalnum() for char in said) >= _FEWEST[label]


def _is_sum(said: str, before: str, after: str) -> bool:
    near, behind = before.rpartition("\n")[2][-12:], after.partition("\n")[0][:16]
    if _MONEY.search(said) or _MONEY.match(behind.lstrip()) or _MONEY.search(near):
        return not _LAB.search(f"{near}{said}")
    if _FIGURE.search(said):
        paid = _PAID.search(before) or _PAID.search(said)
        return not is_measure(said) and bool(paid or (_CENTS.search(said) and _SUMMED.search(before)))
    return _AMOUNT.search(said) is not None


def _is_address(said: str, before: str, after: str) -> bool:
    if "@" in said:
        return False
    found = {fold(word) for word in re.findall(r"[^\W\d_]{3,}|(?<= )(?:St|Rd|Dr|Ln|Sq|Ct|Av)\b", said)}
    if _STREET.search(said) or not found.isdisjoint(words("street_words")) or _DWELLS.search(before):
        return _is_no_reading(said)
    if not _FIGURE.search(said):
        return _NAMED_PLACE.search(said) is not None
    if not found:
        is_code = len(said) > _SHORTEST_ALONE and _is_post_code(said, before, after)
        return is_code or (said.isdigit() and bool(_TOWN_AFTER.match(after)))
    return _NUMBER_AND_NAME.search(said) is not None


def _is_no_reading(said: str) -> bool:
    return not is_measure(said) and not _READINGS.search(said)


def _is_post_code(said: str, before: str, after: str) -> bool:
    """Whether it has a usual form; digits alone must not follow an ordinary word or an abbreviation."""
    if _POST_CODE.fullmatch(said):
        return True
    if not _POST_FIGURES.fullmatch(said):
        return False
    short = _ABBREVIATED.search(f"{before}{said.rstrip('0123456789')}")
    in_state = short is not None and short[1].lower() in words("state_codes")
    stray = (short and not in_state) or _STRAY_BEFORE.search(before)
    return not stray or _TOWN_AFTER.match(after) is not None


def _is_mark(said: str, before: str, after: str) -> bool:
    if sum(char.isalnum() for char in said) < _LEAST_ON_PLATE or is_measure(said):
        return False
    return _PLATE.search(said) is not None or _DRIVEN.search(before) is not None


def _opens(said: str, before: str, after: str) -> bool:
    return _LETTERS.search(said) is not None or _OPENS.search(before) is not None


def _is_amount(said: str, before: str, after: str) -> bool:
    """Whether it is not a measurement with its name: CRP 221."""
    return _CODED.fullmatch(said.rstrip(", ")) is None and _NEXT_READING.search(said) is None


def _is_detail(said: str, before: str, after: str) -> bool:
    """Whether it is not the abbreviation of a measurement before its value."""
    return not (re.fullmatch(_ABBREVIATION, said) and _VALUE_AFTER.match(after))


def _is_place(said: str, before: str, after: str) -> bool:
    """Whether it is not an unknown acronym before an ordinary word or a code: ST elevation."""
    if not _CAPITALS.fullmatch(said) or not _WORD_AFTER.match(after):
        return True
    return said.lower() in words("state_codes", "countries") | _SHORT_PLACES


def _is_link(said: str, before: str, after: str) -> bool:
    """Whether it is not a class name such as App.java and com.larch.Cart.load."""
    return _CLASS.search(said) is None or _FORMS_OF_LINKS.search(said) is not None


_CHECKS: Mapping[str, Callable[[str, str, str], bool]] = {
    "street address": _is_address,
    "zip postal code": _is_post_code,
    "vehicle VRM": _is_mark,
    "PIN code": _opens,
    "place": _is_place,
    "city name": _is_place,
    "identifying detail": _is_detail,
    "URL link": _is_link,
    "personal web link": _is_link,
}
_CHECKS_OF_VALUES: Mapping[str, Callable[[str, str, str], bool]] = {
    "monetary amount": _is_sum,
    "quantity": _is_amount,
}
"""A word that announces an identifier says nothing about these."""
