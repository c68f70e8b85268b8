"""Postal codes, alone or after a cue."""

from ingest.detection.patterns.measures import is_measure
from ingest.detection.patterns.page import hints
from ingest.detection.patterns.pattern import MIDDLE, STRONG_LINK, TIGHT, Pattern, cued

_STATES_BY_DIGIT = (
    "CT|MA|ME|NH|NJ|PR|RI|VT|AE|Connecticut|Massachusetts|Maine|New Hampshire|New Jersey|Rhode Island"
    "|Vermont",
    "DE|NY|PA|Delaware|New York|Pennsylvania",
    "DC|MD|NC|SC|VA|WV|D\\.C\\.|Maryland|North Carolina|South Carolina|Virginia|West Virginia",
    "AL|FL|GA|MS|TN|AA|Alabama|Florida|Georgia|Mississippi|Tennessee",
    "IN|KY|MI|OH|Indiana|Kentucky|Michigan|Ohio",
    "IA|MN|MT|ND|SD|WI|Iowa|Minnesota|Montana|North Dakota|South Dakota|Wisconsin",
    "IL|KS|MO|NE|Illinois|Kansas|Missouri|Nebraska",
    "AR|LA|OK|TX|Arkansas|Louisiana|Oklahoma|Texas",
    "AZ|CO|ID|NM|NV|UT|WY|Arizona|Colorado|Idaho|New Mexico|Nevada|Utah|Wyoming",
    "AK|CA|HI|OR|WA|AP|Alaska|California|Hawaii|Oregon|Washington",
)
"""At its place the states whose postal codes begin with that digit."""
STATES = "|".join(_STATES_BY_DIGIT)
ZIP = r"[0-9]{5}(?:-[0-9]{4})?(?![\w]|[.,/-][0-9])"
_OWN_ZIP = "|".join(
    (*(rf"(?:{states}),? (?={digit})" for digit, states in enumerate(_STATES_BY_DIGIT)), "[ADF]PO,? A[AEP] ")
)
UK = (
    r"(?:GIR ?0AA|[A-PR-UWYZ](?:[0-9]{1,2}|[A-HK-Y][0-9]{1,2}|[0-9][A-HJKPSTUW]"
    r"|[A-HK-Y][0-9][ABEHMNPRVWXY]) ?[0-9][ABD-HJLNP-UW-Z]{2})(?!\w)"
)
CANADA = r"[ABCEGHJ-NPRSTVXY][0-9][ABCEGHJ-NPRSTV-Z] ?[0-9][ABCEGHJ-NPRSTV-Z][0-9](?!\w)"
_BEHIND_TOWN = r"(?= [A-Z][a-zà-ÿ]|[ ]?(?:$|[\n,.;)])| - )"
_SPACED_UK = UK.replace(" ?[0-9][A", " [0-9][A")
_GIVEN = (
    r"(?:(?<=, )|(?<=\n)|(?<=\bin )|(?<=\bto )|(?<=\bof )|(?<=\bfrom )|(?<=\bte )|(?<=\bnach )|(?<=\bà ))"
)
_BEHIND_HOUSE = (
    r"(?:(?<=[0-9], )|(?<=[0-9][A-Za-z], )|(?<=[0-9]\n)|(?<=[0-9][A-Za-z]\n)|(?<=\bin )|(?<=\bte ))"
)
_PREFIXED = r"(?:(?:D|F|FI|S|SE|CZ|PL)-[0-9]{5}|(?:A|CH|B|L|NL|DK)-[0-9]{4})"
_ANY_CODE = (
    rf"(?:{UK}|{CANADA}|[0-9]{{5}}-[0-9]{{3,4}}|[0-9]{{4,6}}|[0-9]{{4}} ?[A-Z]{{2}}"
    r"|[0-9]{2}-[0-9]{3}|[0-9]{3} [0-9]{2,3})(?![\w]|[.,/-][0-9])"
)
_OR_BLANK = STRONG_LINK.replace("(?=", "(?=[ ]|", 1)


def _is_no_quantity(value: str) -> bool:
    """Reject "M3 8GB" and "E10 1ST": the last part is a quantity or an ordinal."""
    return not is_measure(value[-3:]) and not is_measure(value[-3:].lower())


PATTERNS: tuple[Pattern, ...] = (
    Pattern("zip-state", "zip postal code", rf"(?<!\w)(?:{_OWN_ZIP})(?P<id>{ZIP})", 0.92, MIDDLE),
    Pattern(
        "zip-after-town",
        "zip postal code",
        rf"(?<!\w)[A-Z][A-Za-zà-ÿ'.-]{{1,24}}(?:, ?|\n)(?:{STATES}),? (?P<id>{ZIP})",
        0.9,
        MIDDLE,
    ),
    Pattern("postcode-uk", "zip postal code", rf"(?<![\w-]){_SPACED_UK}", 0.85, TIGHT, _is_no_quantity),
    Pattern("postcode-canada", "zip postal code", rf"(?<![\w-]){CANADA.replace(' ?', ' ')}", 0.92, TIGHT),
    Pattern(
        "postcode-dutch",
        "zip postal code",
        rf"{_BEHIND_HOUSE}[1-9][0-9]{{3}} (?!S[ADS])[A-Z]{{2}}(?= [A-Z][a-z]{{2}})",
        0.75,
        TIGHT,
    ),
    Pattern(
        "postcode-prefixed",
        "zip postal code",
        rf"{_GIVEN}{_PREFIXED}(?= [A-ZÄÖÜØÅ][a-zäöüßøåéè]{{2}})",
        0.85,
        TIGHT,
    ),
    cued(
        "postcode-cue",
        "zip postal code",
        r"post ?codes?|postal codes?|zip ?codes?|plz|postleitzahl|code postal|código postal|pin ?code",
        _ANY_CODE,
        hints("post|zip|plz|code postal|código postal|pin code|pincode"),
        link=_OR_BLANK,
    ),
    cued(
        "postcode-short-cue",
        "zip postal code",
        r"zip(?= ?[:#=])|cep|(?-i:ZIP|Zip|CAP|C\.P\.?|CP\.?)",
        rf"(?:[0-9]{{5}}(?:-[0-9]{{3,4}})?|(?<=[.:] )[0-9]{{4,6}})(?![\w]|[.,/-][0-9]){_BEHIND_TOWN}",
        hints("zip|cp|c.p|cap|cep"),
        link=_OR_BLANK,
    ),
)
