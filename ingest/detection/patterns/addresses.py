"""Addresses: streets with numbers, units, post boxes and postal codes."""

from ingest.detection.patterns.page import Where, hints
from ingest.detection.patterns.pattern import AHEAD, TIGHT, Pattern
from ingest.detection.patterns.postal import CANADA, STATES, UK, ZIP

_CAP = r"[A-ZÀ-ÖØ-Þ][\w'.-]{0,24}+"
_UNIT_WORD = (
    r"(?:(?i:apt|apartment|suite|ste|unit|flat|room|rm|floor|fl|bldg|building|lot|trailer|studio)\b\.?|#)"
)
_UNIT = rf"{_UNIT_WORD} ?#?(?:[0-9]{{1,5}}[A-Za-z]?|[A-Z](?:-?[0-9]{{1,4}})?)(?!\w)"
_CITY = rf"{_CAP}(?:[ -]{_CAP}){{0,3}}"
_POST_CODE = (
    rf"(?:(?:{STATES})\.?,? {ZIP}|{UK}|(?:[A-Z]{{2}} )?{CANADA}"
    rf"|[A-Z]{{2,3}} [0-9]{{4}}(?!\w)|[0-9]{{5}}(?:-[0-9]{{3,4}})?(?!\w))"
)
_GAP = r"(?:,? ?\n ?|, ?|\.? )"
_AT_UNIT = rf"{_GAP}{_UNIT}"
_IN_TOWN = rf"(?:{_GAP}{_CITY}){{0,3}}?{_GAP}{_POST_CODE}"
_TAIL = rf"(?:{_AT_UNIT})?(?:{_IN_TOWN})?"
_WHOLE_TAIL = rf"(?:{_AT_UNIT}(?:{_IN_TOWN})?|{_IN_TOWN})"
_TOWN_AFTER_CODE = (
    r"(?:, ?| ?\n ?| - )(?:(?:[A-Z]{1,2}-)?[0-9]{4,5}(?: ?[A-Z]{2}(?!\w))?"
    rf"|[0-9]{{2}}-[0-9]{{3}}|[0-9]{{3}} ?[0-9]{{2}}) {_CITY}"
)
_TAIL_BEFORE = rf"(?:{_TOWN_AFTER_CODE})?"

_TYPE = (
    "Street|Str|Road|Rd|Avenue|Ave|Boulevard|Blvd|Lane|Ln|Terrace|Parkway|Pkwy|Highway|Hwy|Crescent|Cres"
    "|Gardens|Gdns|Grove|Mews|Alley|Turnpike|Expressway|Freeway|Quay|Wharf|Embankment|Esplanade"
)
_ANY_TYPE = rf"(?:{_TYPE}|{_TYPE.upper()}|street|road|avenue|boulevard|lane)"
_MANIFOLD = (
    "Drive|Dr|St|Av|Court|Ct|Circle|Cir|Place|Pl|Square|Sq|Ter|Way|Close|Hill|Row|Walk|Trail|Loop|Plaza|Pike"
    "|Green|Rise|Vale|Cliffs|Parade|Bypass|Yard"
)
"""Ambiguous street words: 2 PM Dr. Hale, 64 SLICE CT, a 6 Minute Walk test."""
_GOES_TO = (
    r"(?:(?<=: )|(?<=\bat )|(?<=\bto )|(?<=\bon )|(?<=\bin )|(?<=\bis )|(?<=\bwas )|(?<=\bfrom )"
    r"|(?<=\bnear )|(?<=\boutside )|(?<=[Aa]ddress ))"
)
"""Cues before an address: somebody lives or goes there."""
_NEW_LINE = r"(?<![^\n])"
_CLOSES = r"(?=[ ]?(?:\n|$|[;)])|[.!?](?:\s|$)|,[ \n]| (?:and|in|since|until|with|where|for|when)\b)"
_NUMBERED = (
    r"(?<![\w.,:/$€£-])[0-9]{1,6}(?:-[0-9]{1,5})?[A-Za-z]?(?:[ ,]|, )(?:(?:[NSEW]\.?|NE|NW|SE|SW"
    r"|North|South|East|West) )?"
    rf"(?:(?![AP]M )(?:{_CAP}|[0-9]{{1,3}}(?:st|nd|rd|th)) ){{1,4}}?"
)
_FAR_NUMBERED = _NUMBERED.replace("[0-9]{1,6}(?:", "(?!19|20[0-9]{2} )[1-9][0-9]{3,5}(?:", 1)
_SHORT_NUMBERED = _NUMBERED.replace("[0-9]{1,6}(?:", "[1-9][0-9]{2}(?:", 1)
_QUARTER = r"(?:,? (?:NE|NW|SE|SW|[NSEW]|North|South|East|West)\b\.?)?"
_ENGLISH = (
    rf"{_NUMBERED}{_ANY_TYPE}\b\.?{_QUARTER}{_TAIL}"
    rf"|(?<![\w.,:/$€£-])[0-9]{{1,6}} (?:County |State |Old )?(?:Route|Rte\.?|Road|Rd\.?|Highway|Hwy\.?)"
    rf" [0-9]{{1,4}}(?!\w){_TAIL}"
)
_ON = rf"(?:{_MANIFOLD}|{_MANIFOLD.upper()})\b\.?{_QUARTER}"
_BY_CONTEXT = (
    rf"(?:{_NUMBERED}{_ON}{_WHOLE_TAIL}|{_GOES_TO}{_NUMBERED}{_ON}{_CLOSES}{_TAIL}"
    rf"|{_NEW_LINE}{_NUMBERED}{_ON}(?=,? ?(?:\n|$)|, [A-Z]){_TAIL}"
    rf"|{_FAR_NUMBERED}(?:{_MANIFOLD})\b\.?{_QUARTER}{_TAIL}"
    rf"|{_SHORT_NUMBERED}(?:St|Ct|Cir|Pl|Sq)\b\.?(?! [A-Z]){_QUARTER}{_TAIL})"
)
_BROADWAY = (
    rf"(?<![\w.,/$€£-])[0-9]{{1,5}} (?:(?:North|South|East|West|[NSEW]\.?) )?(?:Broadway|Bowery"
    rf"|Piccadilly|Strand(?=,? [A-Z][a-z]))\b{_TAIL}"
)
_HOUSE = r"[0-9]{1,4}(?: ?[a-zA-Z](?!\w))?(?: ?[-/] ?[0-9]{1,4}[a-zA-Z]?)?(?![\w]|[.,][0-9]|[ ]?%)"
_COMPOUND_NAME = r"(?<![\w-])(?:[A-ZÀ-Þ][\w.-]{1,30}[ -]){0,3}[A-ZÀ-Þ][\wß-]{0,30}"
_COMPOUND = (
    rf"{_COMPOUND_NAME}(?:(?:straße|strasse|str\.|weg|platz"
    r"|allee|gasse|damm|ufer"
    r"|steig|chaussee|promenade|straat|laan|plein|gracht|kade|dijk|singel|steeg|gatan|vägen|veien|vegen|vej|allé"
    r"|(?<!i)gade|(?<=\w\w)gata|katu|kuja|(?<=\w\w\w)n(?:tie|tori)"
    rf"|[ -](?:Straße|Strasse|Str\.|Weg|Platz|Allee|Damm|Ufer|Gasse)),? {_HOUSE}{_TAIL_BEFORE}"
    rf"|[ -]Ring,? {_HOUSE}{_TOWN_AFTER_CODE})"
)
_ARTICLE = (
    r"(?:de la|de los|de las|de l'|de|du|des|del|della|delle|dei|di|da|do|dos|das|d'|la|le|les|los|las|el)"
)
_ARTICLES = rf"(?:{_ARTICLE} ?)?"
_NUMBER_FIRST = (
    r"(?<![\w.,/-])[0-9]{1,4}(?: ?(?:bis|ter|quater|[A-D]))?,? (?:"
    rf"(?i:rue|avenue|boulevard|bd|chemin|allée|impasse|quai|faubourg|sentier)"
    rf" (?:{_ARTICLES}[A-ZÀ-Þ0-9][\w'.-]{{0,30}}[ ]?){{1,4}}(?<! ){_TAIL_BEFORE}"
    rf"|(?i:place|cours|route|square|passage)(?: (?={_ARTICLE}[ A-ZÀ-Þ])"
    rf"(?:{_ARTICLES}[A-ZÀ-Þ][\w'.-]{{0,30}}[ ]?){{1,4}}(?<! ){_TAIL_BEFORE}"
    rf"|(?: [A-ZÀ-Þ][\w'.-]{{0,30}}){{1,4}}{_TOWN_AFTER_CODE}))"
)
_NAME = r"[A-ZÀ-Þ][\w'.ª-]{0,30}"
_NAMED = rf" ?(?:{_ARTICLES}{_NAME} ?){{1,5}}(?<! )"
_LONG_NAMED = rf" (?:{_ARTICLE} ?{_NAME}|{_NAME} {_ARTICLES}{_NAME})(?: {_ARTICLES}{_NAME}){{0,4}}"
_NUMBER_WORD = r"(?:n\.?[º°]|nº|núm\.|[Nn]o?\.) ?"
_REST = rf"{_HOUSE}(?:,? ?[0-9]{{1,2}}[º°ª] ?[A-Z]?(?!\w))?{_TAIL_BEFORE}"
_NAME_FIRST = (
    r"(?<![\w-])(?:(?:Calle|C/|Avda\.?|Avenida|Pza\.?|Paseo|Pº|Camino|Carretera|Ctra\.?|Travesía|Viale|Piazza"
    r"|Vicolo|Rua|Travessa|Praça|Rue|Rúa|Carrer|ul\.|ulica)"
    rf"{_NAMED}(?:,? |, ?)(?:{_NUMBER_WORD})?{_REST}"
    # Ambiguous words, so further evidence of a street is needed.
    rf"|(?:Av\.|Plaza|Ronda){_LONG_NAMED} {_REST}"
    rf"|(?:{_GOES_TO}|(?<=[0-9] ))(?:Av\.|Plaza|Ronda|Via|Corso|Largo){_NAMED} {_REST}"
    rf"|(?:Av\.|Plaza|Ronda|Via|Corso|Largo|R\.|al\.|pl\.|os\.){_NAMED}"
    rf"(?:(?:,? {_NUMBER_WORD}|, ?){_REST}| {_HOUSE}{_TOWN_AFTER_CODE}))"
)
_BOX_NUMBER = r"(?: (?i:no|number)\.?)?[ :#]{1,2}[0-9]{1,6}(?!\w|[/.][0-9])"
_BOX = (
    r"(?<!\w)(?:(?i:p\.? ?o\.? box|post office box|postfach|apartado(?: de correos)?|boîte postale|postbus)"
    rf"{_BOX_NUMBER}{_TAIL}"
    r"|(?i:psc) [0-9]{1,5}, (?i:box) [0-9]{1,6}(?!\w)" + _TAIL + "|"
    # A French post box is in an address: before a postal code and town, or after a street.
    rf"(?:BP|B\.P\.){_BOX_NUMBER}(?:,? ?(?:\n| - | )[0-9]{{5}} {_CITY}|,? Cedex\b)"
    rf"|(?:(?<=[0-9], )|(?<=[a-z], )|(?<=[a-z0-9]\n))(?:BP|B\.P\.)"
    rf"{_BOX_NUMBER}(?=,? ?(?:\n|[0-9]{{5}}|Cedex)))"
)
_NUMBER_OF_UNIT = r"\.? ?#?(?:[0-9]{1,5}[A-Za-z]?|[A-Z](?:-?[0-9]{1,4})?)(?!\w)"
_ROOMS = r"\.? ?#?[0-9]{3,5}[A-Za-z]?(?!\w|[./-][0-9])"
_FLAT = (
    rf"(?<!\w)(?i:apt|apartment|flat){_ROOMS}"
    rf"|(?:{_GOES_TO}|{_NEW_LINE}|(?<=, )|(?<=\bof ))(?i:apt|apartment|flat){_NUMBER_OF_UNIT}"
    r"(?=[ ]?(?:$|[\n,;!?)\"]|\.(?!\w))"
    r"| (?:of|in|at|on|and|is|was|has|since|today|now|for|with|to|near|by|where)\b)"
)
_LIVES = (
    r"(?<!\w)(?:live[sd]?|living|reside[sd]?|staying|stay(?:s|ed)|rent(?:s|ed|ing)?|moved)(?: \w{1,8}){0,2} "
)
_OFFICE = rf"(?i:suite|ste|unit){_NUMBER_OF_UNIT}"
_IN_ADDRESS = r"(?=, (?:[0-9]{1,5} )?[A-Z][a-z]{2})"
_SUITE = (
    rf"(?:{_LIVES}|(?<!\w)(?=(?:Suite|Ste|Unit){_ROOMS}|suite{_ROOMS}[ ]?[,\n])"
    rf"|{_NEW_LINE}(?={_OFFICE}{_IN_ADDRESS})"
    rf"|(?<=[a-z.], )(?={_OFFICE}(?:{_IN_ADDRESS}|\.?,?[ ]?(?:\n|$))))(?P<id>{_OFFICE})"
)
_BOX_HINTS = hints("po|p.|p o|postfach|apartado|bp|b.p|boîte|psc")


def _has_lower_or_long(value: str) -> bool:
    """Refuse "12 St" read as a street: the number alone is followed by the type."""
    return len(value) > 6


_SMALL_WORD = (
    r"(?!(?:and|or|the|for|from|with|along|down|was|were|are|when|but|metres?|meters?|miles?) )"
    r"[a-z]{3,15}"
)
"""A word of a street's name in small letters: 12 mill lane, not 1998 and the road."""
PATTERNS: tuple[Pattern, ...] = (
    Pattern("address", "street address", _ENGLISH, 0.85, AHEAD, _has_lower_or_long),
    Pattern(
        "address-small",
        "street address",
        rf"(?:(?<![\w.,:/$€£-])[0-9]{{1,5}} (?:{_SMALL_WORD} ){{1,2}}(?:street|avenue|road|boulevard)"
        rf"|{_GOES_TO}[0-9]{{1,5}} (?:{_SMALL_WORD} ){{1,2}}(?:lane|drive))(?!\w)(?:{_AT_UNIT})?",
        0.65,
        TIGHT,
    ),
    Pattern("address-by-context", "street address", _BY_CONTEXT, 0.8, AHEAD, _has_lower_or_long),
    Pattern("address-plain", "street address", _BROADWAY, 0.85, AHEAD),
    Pattern("address-compound", "street address", _COMPOUND, 0.85),
    Pattern("address-number-first", "street address", _NUMBER_FIRST, 0.85, AHEAD),
    Pattern("address-name-first", "street address", _NAME_FIRST, 0.8),
    Pattern("box", "street address", _BOX, 0.9, Where(_BOX_HINTS, 16, 120, figures=True)),
    Pattern("flat", "secondary address unit", _FLAT, 0.8, Where(hints("apt|apartment|flat"), 8, 40)),
    Pattern("suite", "secondary address unit", _SUITE, 0.8, Where(hints("suite|ste|unit"), 40, 40)),
)
