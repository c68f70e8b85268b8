"""Where somebody lives: streets with their numbers, units, boxes and postal codes."""

from ingest.patterns.page import Where, hints
from ingest.patterns.pattern import AHEAD, MIDDLE, STRONG_LINK, TIGHT, Pattern, cued

_STATES = (
    "AL|AK|AZ|AR|CA|CO|CT|DE|DC|FL|GA|HI|ID|IL|IN|IA|KS|KY|LA|ME|MD|MA|MI|MN|MS|MO|MT|NE|NV|NH|NJ|NM|NY|NC|ND|OH|OK|OR"
    "|PA|RI|SC|SD|TN|TX|UT|VT|VA|WA|WV|WI|WY|PR|AA|AE|AP"
)
_STATE_NAMES = (
    "Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Delaware|Florida|Georgia|Hawaii|Idaho|Illinois"
    "|Indiana|Iowa|Kansas|Kentucky|Louisiana|Maine|Maryland|Massachusetts|Michigan|Minnesota|Mississippi|Missouri"
    "|Montana|Nebraska|Nevada|New Hampshire|New Jersey|New Mexico|New York|North Carolina|North Dakota"
    "|Ohio|Oklahoma"
    "|Oregon|Pennsylvania|Rhode Island|South Carolina|South Dakota|Tennessee|Texas|Utah|Vermont|Virginia"
    "|Washington"
    "|West Virginia|Wisconsin|Wyoming|D\\.C\\."
)
_ZIP = r"[0-9]{5}(?:-[0-9]{4})?(?![\w]|[.,/-][0-9])"
_UK = (
    r"(?:GIR ?0AA|[A-PR-UWYZ](?:[0-9]{1,2}|[A-HK-Y][0-9]{1,2}|[0-9][A-HJKPSTUW]"
    r"|[A-HK-Y][0-9][ABEHMNPRVWXY]) ?[0-9][ABD-HJLNP-UW-Z]{2})(?!\w)"
)
_CANADA = r"[ABCEGHJ-NPRSTVXY][0-9][ABCEGHJ-NPRSTV-Z] ?[0-9][ABCEGHJ-NPRSTV-Z][0-9](?!\w)"
_POST_CUES = (
    r"post ?codes?|postal codes?|zip(?: ?codes?)?|plz|postleitzahl|code postal|código postal"
    r"|c\.?p\.?|cap|cep|pin ?code"
)

_CAP = r"[A-ZÀ-ÖØ-Þ][\w'.-]{0,24}+"
_UNIT_WORD = (
    r"(?:(?i:apt|apartment|suite|ste|unit|flat|room|rm|floor|fl|bldg|building|lot|trailer|studio)\b\.?|#)"
)
_UNIT = rf"{_UNIT_WORD} ?#?(?:[0-9]{{1,5}}[A-Za-z]?|[A-Z](?:-?[0-9]{{1,4}})?)(?!\w)"
_CITY = rf"{_CAP}(?:[ -]{_CAP}){{0,3}}"
_POST_CODE = (
    rf"(?:(?:{_STATES}|{_STATE_NAMES})\.?,? {_ZIP}|{_UK}|(?:[A-Z]{{2}} )?{_CANADA}"
    rf"|[A-Z]{{2,3}} [0-9]{{4}}(?!\w)|[0-9]{{5}}(?:-[0-9]{{3,4}})?(?!\w))"
)
_GAP = r"(?:,? ?\n ?|, ?|\.? )"
_TAIL = rf"(?:{_GAP}{_UNIT})?(?:(?:{_GAP}{_CITY}){{0,3}}?{_GAP}{_POST_CODE})?"
_TAIL_BEFORE = (
    rf"(?:, ?| ?\n ?| - )(?:(?:[A-Z]{{1,2}}-)?[0-9]{{4,5}}(?: ?[A-Z]{{2}}(?!\w))?"
    rf"|[0-9]{{2}}-[0-9]{{3}}|[0-9]{{3}} ?[0-9]{{2}}) {_CITY}"
)

_TYPE = (
    r"(?:Street|St|Str|Road|Rd|Avenue|Ave|Av|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Circle|Cir|Place|Pl|Square|Sq|Terrace"
    r"|Ter|Parkway|Pkwy|Highway|Hwy|Way|Close|Crescent|Cres|Gardens|Gdns|Grove|Mews|Hill|Row|Walk|Alley|Trail|Loop|Plaza"
    r"|Turnpike|Pike|Green|Rise|Vale|Quay|Wharf|Expressway|Freeway|Cliffs|Embankment|Parade|Esplanade|Bypass|Yard)"
)
_ANY_TYPE = rf"(?:{_TYPE}|{_TYPE[3:-1].upper()}|street|road|avenue|boulevard|lane)"
_ENGLISH = (
    rf"(?<![\w.,:/$€£-])[0-9]{{1,6}}(?:-[0-9]{{1,5}})?[A-Za-z]?(?:[ ,]|, )(?:(?:[NSEW]\.?|NE|NW|SE|SW"
    rf"|North|South|East|West) )?"
    rf"(?:(?:{_CAP}|[0-9]{{1,3}}(?:st|nd|rd|th)) ){{1,4}}?{_ANY_TYPE}\b\.?(?:,? (?:NE|NW|SE|SW|[NSEW]"
    rf"|North|South|East|West)\b\.?)?"
    rf"{_TAIL}"
)
_BROADWAY = (
    rf"(?<![\w.,/$€£-])[0-9]{{1,5}} (?:(?:North|South|East|West|[NSEW]\.?) )?(?:Broadway|Bowery"
    rf"|Strand|Piccadilly)\b{_TAIL}"
)
_HOUSE = r"[0-9]{1,4}(?: ?[a-zA-Z](?!\w))?(?: ?[-/] ?[0-9]{1,4}[a-zA-Z]?)?(?![\w]|[.,][0-9]|[ ]?%)"
_COMPOUND = (
    r"(?<![\w-])(?:[A-ZÀ-Þ][\w.-]{1,30}[ -]){0,3}[A-ZÀ-Þ][\wß-]{0,30}(?:straße|strasse|str\.|weg|platz"
    r"|allee|gasse|damm|ufer"
    r"|steig|chaussee|promenade|straat|laan|plein|gracht|kade|dijk|singel|steeg|gatan|vägen|gata|veien|vegen|gade|vej|allé"
    rf"|katu|kuja|tie|tori|[ -](?:Straße|Strasse|Str\.|Weg|Platz|Allee|Damm|Ring|Ufer|Gasse)),? {_HOUSE}"
    rf"(?:{_TAIL_BEFORE})?"
)
_ARTICLES = (
    r"(?:(?:de la|de los|de las|de l'|de|du|des|del|della|delle|dei|di|da|do|dos|das|d'|la|le|les"
    r"|los|las|el) ?)?"
)
_NUMBER_FIRST = (
    r"(?<![\w.,/-])[0-9]{1,4}(?: ?(?:bis|ter|quater|[A-D]))?,? (?i:rue|avenue|boulevard|bd|place|chemin"
    r"|allée|impasse|quai|cours|route"
    rf"|square|passage|faubourg|sentier) (?:{_ARTICLES}[A-ZÀ-Þ0-9][\w'.-]{{0,30}}[ ]?){{1,4}}(?<! )"
    rf"(?:{_TAIL_BEFORE})?"
)
_NAME_FIRST = (
    r"(?<![\w-])(?:Calle|C/|Avda\.?|Avenida|Av\.|Plaza|Pza\.?|Paseo|Pº|Camino|Carretera|Ctra\.?|Ronda|Travesía|Via|Viale|Piazza"
    r"|Corso|Vicolo|Largo|Rua|R\.|Travessa|Praça|Rue|Rúa|Carrer|ul\.|ulica|al\.|pl\.|os\.)"
    rf" ?(?:{_ARTICLES}[A-ZÀ-Þ][\w'.ª-]{{0,30}} ?){{1,5}}(?<! )(?:,? |, ?)(?:(?:n\.?[º°]|nº|núm\."
    rf"|no?\.) ?)?{_HOUSE}"
    rf"(?:,? ?[0-9]{{1,2}}[º°ª] ?[A-Z]?(?!\w))?(?:{_TAIL_BEFORE})?"
)
_BOX = (
    r"(?<!\w)(?i:p\.? ?o\.? box|post office box|postfach|apartado(?: de correos)?|b\.?p\.?|boîte postale"
    r"|postbus|psc)"
    rf"(?: (?i:no|number)\.?)?[ :#]{{1,2}}[0-9]{{1,6}}(?:, Box [0-9]{{1,6}})?(?!\w){_TAIL}"
)
_BOX_HINTS = hints("po|p.|p o|postfach|apartado|bp|b.p|boîte|psc")


def _has_lower_or_long(value: str) -> bool:
    """Refuse "12 St" read as a street: the number alone is followed by the type."""
    return len(value) > 6


PATTERNS: tuple[Pattern, ...] = (
    Pattern("address", "street address", _ENGLISH, 0.85, AHEAD, _has_lower_or_long),
    Pattern(
        "address-small",
        "street address",
        r"(?<![\w.,:/$€£-])[0-9]{1,5} (?:[a-z]{3,15} ){1,2}(?:street|avenue|road|boulevard|lane|drive)(?!\w)",
        0.65,
        TIGHT,
    ),
    Pattern("address-plain", "street address", _BROADWAY, 0.85, AHEAD),
    Pattern("address-compound", "street address", _COMPOUND, 0.85),
    Pattern("address-number-first", "street address", _NUMBER_FIRST, 0.85, AHEAD),
    Pattern("address-name-first", "street address", _NAME_FIRST, 0.8),
    Pattern("box", "street address", _BOX, 0.9, Where(_BOX_HINTS, 16, 120, figures=True)),
    Pattern(
        "unit",
        "secondary address unit",
        r"(?<!\w)(?:(?i:apt|apartment|suite|ste|flat|unit)\b\.?) ?#?(?:[0-9]{1,5}[A-Za-z]?|[A-Z]"
        r"(?:-?[0-9]{1,4})?(?! [a-z'.]|'))(?![\w]|[.,/-][0-9])",
        0.8,
        Where(hints("apt|apartment|suite|ste|flat|unit"), 0, 40),
    ),
    Pattern(
        "zip-state",
        "zip postal code",
        rf"(?<!\w)(?:{_STATES}|{_STATE_NAMES}),? (?P<id>{_ZIP})",
        0.92,
        MIDDLE,
    ),
    Pattern("postcode-uk", "zip postal code", rf"(?<![\w-]){_UK}", 0.85, TIGHT),
    Pattern("postcode-canada", "zip postal code", rf"(?<![\w-]){_CANADA.replace(' ?', ' ')}", 0.92, TIGHT),
    Pattern(
        "postcode-dutch",
        "zip postal code",
        r"(?<![\w.,/-])[1-9][0-9]{3} [A-Z]{2}(?= [A-Z][a-z]{2})",
        0.75,
        TIGHT,
    ),
    Pattern(
        "postcode-prefixed",
        "zip postal code",
        r"(?<![\w-])(?:D|A|CH|F|B|L|NL|SE|S|FI|DK|PL|CZ)-[0-9]{4,5}(?= [A-Z])",
        0.85,
        TIGHT,
    ),
    cued(
        "postcode-cue",
        "zip postal code",
        _POST_CUES,
        rf"(?:{_UK}|{_CANADA}|[0-9]{{5}}-[0-9]{{3,4}}|[0-9]{{4,6}}|[0-9]{{4}} ?[A-Z]{{2}}"
        rf"|[0-9]{{2}}-[0-9]{{3}}|[0-9]{{3}} [0-9]{{2,3}})(?![\w]|[.,/-][0-9])",
        hints("post|zip|plz|cp|c.p|cap|cep|pin code|pincode"),
        link=STRONG_LINK.replace("(?=", "(?=[ ]|", 1),
    ),
)
