"""Sums of money, in figures and in words."""

from ingest.patterns.page import Where, hints
from ingest.patterns.pattern import TIGHT, Pattern
from ingest.patterns.words import NUMBER_WORDS

_FIGURE = r"[0-9]{1,3}(?:[,. '][0-9]{3}){1,6}+(?:[.,][0-9]{1,2})?(?![0-9])|[0-9]{1,15}+(?:[.,][0-9]{1,4})?"
_SCALE = (
    r"(?:[ -]?(?:hundred|thousand|million|billion|trillion|mln|mio|mrd|bn|millones|millions|millionen)\b"
    r"|[ ]?(?:k|m|bn|mm|K|M|B)\b)?"
)
_ISO = (
    "AED|ARS|AUD|BGN|BRL|CAD|CHF|CLP|CNY|COP|CZK|DEM|DKK|EEK|EGP|ESP|EUR|FIM|FRF|GBP|GEL|HKD|HRK|HUF|IDR"
    "|IEP|ILS|INR|ISK|ITL|JPY|KES|KRW|LTL|LVL|MDL|MXN|MYR|NGN|NLG|NOK|NZD|PHP|PKR|PLN|PLZ|ROL|RON|RSD|RUB"
    "|RUR|SAR|SEK|SGD|SIT|SKK|THB|TRL|TRY|TWD|UAH|USD|VND|ZAR|BTC|ETH"
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
_SIGNS = hints("$|€|£|¥|₹|₽|₺|₪|₩|₴|zł|rs")

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
        rf"(?<!\w)(?:{_ISO})[ ]?(?:{_FIGURE}){_SCALE}",
        0.95,
        TIGHT,
    ),
    Pattern(
        "money-figure",
        "monetary amount",
        rf"(?<![\w.,/-])(?:{_FIGURE}){_SCALE}[ -](?:(?:{_ISO})\b|(?i:{_UNIT})(?: \((?:{_ISO})\))?)",
        0.95,
        TIGHT,
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
