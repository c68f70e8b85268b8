"""Ages, in figures, in words and in clinical shorthand."""

from ingest.detection.patterns.page import Where, hints
from ingest.detection.patterns.pattern import MIDDLE, TIGHT, Pattern
from ingest.detection.patterns.words import CARDINAL

_FIGURE = r"(?:1[0-2][0-9]|[1-9]?[0-9])(?:\.5|½|[ -]1/2)?"
_NUMBER = rf"(?:{_FIGURE}|(?:a|one) hundred(?: and {CARDINAL})?|{CARDINAL})"
_UNIT = r"(?:years?|yrs?|y\.?|months?|mos?\.?|weeks?|wks?|days?)"
_OLD = (
    rf"(?i)(?<![\w.,/-])(?:{_NUMBER}(?:[ -]?(?:-|to|or|and)[ -]?))?{_NUMBER}[ -]?{_UNIT}"
    rf"(?:[ -](?:and (?:a half|{_NUMBER} months?)[ -]?))?[ -]?(?:old|of age)(?:s\b)?(?!\w)"
)
_SHORT_OLD = (
    rf"(?<![\w.,/-]){_FIGURE}[ -]?(?i:y/?o\b|y\.o\.|yo[mf]\b|yr?s?\.? ?old|year[- ]old"
    rf"|jährig\w{{0,2}}|jaar oud)"
)
_SEXED = (
    r"(?<!\w)(?i:an?|this|is|the|was|pt|patient|with|by)[ ](?P<id>[1-9][0-9])(?=[ -]?(?:[MF](?![\w.])|"
    r"(?i:(?:black |white |caucasian |african[- ]american |hispanic "
    r"|asian )?(?:male|female|gentleman|lady)\b)))"
)
_SHORTHAND = (
    r"(?<![\w.,/$-])[1-9][0-9][ ]?[MF](?=[,.;:)]|$|\n| (?i:with|who|presents?|presenting"
    r"|presented|w/|c/o|p/w|h/o|s/p|pt|admitted|here|and)(?!\w))"
)
_SHORTHAND_SLASH = r"(?<!\w)(?:[MF]/(?P<id>[1-9][0-9])|[1-9][0-9]/[MF])(?![\w/]|[.,][0-9])"
_ROMANCE = (
    r"(?i)(?<!\w)(?:de|d'|edad:?|tiene|tengo|avait|con|los|a|ha|i|of|,) ?(?P<id>(?:1[01][0-9]"
    r"|[1-9]?[0-9]) {1,2}"
    r"(?:años|ans|anni|anos|meses))(?!\w)"
    r"(?! (?:y medio|de (?:evolución|duración|antigüedad|tratamiento|prisión|seguimiento)|d'|después"
    r"|antes|atrás))"
)
_AGED = (
    rf"(?i)(?<!\w)(?:aged?|ages|alter|edad|âge|leeftijd|età)(?:[ ]?[:=,][ ]?| |[ ]?\()(?:of |is |was "
    rf"|between |about |around |approximately "
    rf"|only |just |from |group )?(?P<id>{_NUMBER}(?: ?(?:-|to|and|or|,) ?{_NUMBER})?)(?![\w%]|[.,/][0-9]"
    rf"| (?:mg|ml|per|percent|times)\b)"
)
_AT_AGE = rf"(?i)(?<!\w)the age of (?:about )?(?P<id>{_NUMBER})(?!\w)"
_DECADE = (
    r"(?i)(?<!\w)in (?:his|her|their|my|your)[ ](?P<id>(?:(?:early|mid|late|mid to late"
    r"|early to mid)[- ]?(?:to[- ](?:mid|late)[- ])?)?"
    r"(?:[1-9]0'?s|teens|twenties|thirties|forties|fifties|sixties|seventies|eighties|nineties))(?!\w)"
)
_SAID = (
    r"(?i)(?<!\w)(?:(?:i'm|he's|she's|you're|they're)|(?:i am|he is|she is|you are|who is|who was|he was"
    r"|she was|i was|son is"
    r"|daughter is|husband is|wife is|mother is|father is|brother is|sister is))(?: now| only| just"
    r"| about| almost| nearly)?[ ]"
    r"(?P<id>[1-9][0-9])(?=[.!?](?:\s|$|\")|[,;)\n]| and (?:i|he|she|they|have|has|live|work)\b| now\b"
    r"| today\b| years?(?:,|\.|;| and)|$)"
    r"(?!,[0-9])"
)
_TURNED = (
    r"(?i)(?<!\w)(?:turn(?:s|ed|ing)?|(?:his|her|my|their|your) (?=[0-9]{2}(?:st|nd|rd|th) birthday))[ ]?"
    r"(?P<id>[1-9][0-9](?:st|nd|rd|th)?)(?= (?:birthday|in|on|this|last|next|years|and)|[.,;!?)](?!\d)|$)"
)
_HINTS_OLD = ("old", "of age")

PATTERNS: tuple[Pattern, ...] = (
    Pattern("age-old", "person age", _OLD, 0.97, Where(_HINTS_OLD, 90, 8)),
    Pattern("age-short", "person age", _SHORT_OLD, 0.95, TIGHT),
    Pattern("age-sex", "person age", _SEXED, 0.8, TIGHT),
    Pattern("age-shorthand", "person age", _SHORTHAND, 0.75, TIGHT),
    Pattern("age-slash", "person age", _SHORTHAND_SLASH, 0.75, TIGHT),
    Pattern("age-romance", "person age", _ROMANCE, 0.8, TIGHT),
    Pattern("age-aged", "person age", _AGED, 0.92, Where(hints("age|alter|edad|âge|leeftijd|età"), 0, 60)),
    Pattern("age-of", "person age", _AT_AGE, 0.95, Where(("the age of",), 0, 40)),
    Pattern(
        "age-decade", "person age", _DECADE, 0.93, Where(hints("in his|in her|in their|in my|in your"), 0, 48)
    ),
    Pattern("age-said", "person age", _SAID, 0.7, MIDDLE),
    Pattern(
        "age-turned",
        "person age",
        _TURNED,
        0.75,
        Where(hints("turn|his |her |my |their |your "), 0, 40, figures=True),
    ),
)
