"""Sums of money, in figures and in words."""

import re

from ingest.detection.patterns.measures import CURRENCIES
from ingest.detection.patterns.page import Where, hints
from ingest.detection.patterns.pattern import TIGHT, Pattern
from ingest.detection.patterns.words import NUMBER_WORDS

_FIGURE = r"[0-9]{1,3}(?:[,. '][0-9]{3}){1,6}+(?:[.,][0-9]{1,2})?(?![0-9])|[0-9]{1,15}+(?:[.,][0-9]{1,4})?"
_SCALE = (
    r"(?:[ -]?(?:hundred|thousand|million|billion|trillion|mln|mio|mrd|bn|millones|millions|millionen)\b"
    r"|[ ]?(?:k|m|bn|mm|K|M|B)\b)?"
)
_SYMBOL = r"(?:(?:US|CA|C|A|AU|NZ|HK|S|R|MX)?\$|€|£|¥|₹|₽|₺|₪|₩|₴|zł|Rs\.?)"
_NATION = (
    r"(?:US|U\.S\.|American|Canadian|Australian|Hong Kong|Swedish|Danish|Norwegian|Czech|Slovak|Turkish|New"
    r"|Polish|Swiss|French|German|Belgian|Russian|Ukrainian|Hungarian|Bulgarian|Romanian|Croatian|Italian"
    r"|British|Irish|Japanese|Indian|Mexican|Estonian|Finnish|Icelandic|Moldovan|Slovenian)"
)
_UNIT = (
    rf"(?:{_NATION}[ ])?(?:dollars?|bucks|cents|euros?|eurocents?|pounds sterling|quid|pence|francs?"
    rf"|marks|markkas?"
    r"|kron(?:or|er|a|e|ur)|koruny?|korunas?|zlot(?:ys?|ych|ies)|lir[ae]s?|liri|roubles?|rubles?|hryvnias?|hryvnyas?"
    r"|rupees?|yen|yuan|renminbi|pesos?|reais|shekels?|forints?|levs?|leva|lei|drachmas?|escudos?|pesetas?"
    r"|guilders?|schillings?|tolars?|kunas?|litai|lati?|dinars?|rand|naira|baht|bitcoins?|pounds"
    r"(?= sterling))\b"
)
_MONEY_HINTS = hints(
    "dollar|bucks|cents|euro|pound|quid|pence|franc|mark|kron|korun|zlot|lir|rouble|ruble|hryvn|rupee|yen|yuan|renminbi|peso|reais|shekel|forint|lev|lei|drachma|escudo|peseta|guilder|schilling|tolar|kuna|lita|lat|dinar|rand|naira|baht|bitcoin"
)
MARKS, CURRENCY_WORDS = _SYMBOL, _UNIT
_MEDICAL = re.compile(r"(?<!\w)(?:INR|CAD)(?!\w)")
_LARGE = re.compile(r"[0-9]{3}|[0-9][ -]?(?:[kKmMB]|bn|hundred|thousand|million|billion|mln)\b")
_SIGNS = hints("$|€|£|¥|₹|₽|₺|₪|₩|₴|zł|rs")


def _may_be_money(said: str) -> bool:
    """Whether a currency code that is also a medical term is next to a sum: INR 250,000, but not INR 2.5."""
    return not _MEDICAL.search(said) or _LARGE.search(said) is not None


PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        "money-symbol",
        "monetary amount",
        rf"(?<!\w){_SYMBOL}[ ]?(?:{_FIGURE})(?:[ ]?-[ ]?{_SYMBOL}?(?:{_FIGURE}))?{_SCALE}",
        0.95,
        Where(_SIGNS, 4, 60, figures=True),
    ),
    Pattern(
        "money-symbol-after",
        "monetary amount",
        rf"(?<![\w.,])(?:{_FIGURE}){_SCALE}[ ]?(?:€|£|¥|₹|₽|₺|₪|₩|₴|zł(?!\w)|\$(?![0-9]))",
        0.9,
        Where(_SIGNS, 40, 4, figures=True),
    ),
    Pattern(
        "money-code",
        "monetary amount",
        rf"(?<!\w)(?:{CURRENCIES})[ ]?(?:{_FIGURE}){_SCALE}",
        0.95,
        TIGHT,
        _may_be_money,
    ),
    Pattern(
        "money-figure",
        "monetary amount",
        rf"(?<![\w.,/-])(?:{_FIGURE}){_SCALE}[ -]"
        rf"(?:(?:{CURRENCIES})\b(?!(?<=INR)[ :]{{1,2}}[0-9])|(?i:{_UNIT})(?: \((?:{CURRENCIES})\))?)",
        0.95,
        TIGHT,
        _may_be_money,
    ),
    Pattern(
        "money-words",
        "monetary amount",
        rf"(?<!\w)(?i:{NUMBER_WORDS}[ -](?:of )?{_UNIT})",
        0.9,
        Where(_MONEY_HINTS, 100, 30),
    ),
    Pattern(
        "money-pounds",
        "monetary amount",
        rf"(?<![\w.,])(?:{_FIGURE}){_SCALE} pounds(?= (?:in cash|a (?:month|week|year)|per|fine|rent))",
        0.7,
        Where(("pounds",), 40, 30),
    ),
)
