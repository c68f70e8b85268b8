"""Vehicle identification numbers and number plates."""

from ingest.detection.patterns.checksums import is_vin
from ingest.detection.patterns.page import hints
from ingest.detection.patterns.pattern import STRONG_LINK, TIGHT, Pattern, compiled, cued

_VIN = r"(?=[A-Z0-9]{0,16}[0-9])(?=[A-Z0-9]{0,16}[A-Z])[A-HJ-NPR-Z0-9]{17}(?![\w])"
_PLATE = r"(?=[A-ZÄÖÜ -]{0,7}[0-9])[A-ZÄÖÜ0-9]{1,4}(?:[ -][A-Z0-9]{1,4}|[A-Z0-9]{1,4}){0,2}(?![\w])"
_PLATE_CUES = (
    r"licen[cs]e plates?|number plates?|vrm|(?:vehicle|car) registration(?: mark| plate)?"
    r"|registration(?: mark| plate)?"
    r"|kennzeichen|matrícula|immatriculation|targa|kenteken"
)
_PLATE_HINTS = hints(
    "plate|license|licence|number plate|vrm|vehicle|car|registration|kennzeichen|matrícula"
    "|immatriculation|targa|kenteken"
)


def _is_plate(value: str) -> bool:
    plain = [char for char in value if char.isalnum()]
    clock = compiled("[0-9]{1,2} ?[AP]M").fullmatch(value)
    return 4 <= len(plain) <= 8 and any(char.isalpha() for char in plain) and clock is None


PATTERNS: tuple[Pattern, ...] = (
    Pattern("vin", "vehicle VIN", rf"(?<![\w-]){_VIN}", 0.95, TIGHT, is_vin),
    cued(
        "vin-cue",
        "vehicle VIN",
        r"vin|vehicle identification|chassis|fahrgestell(?:nummer)?|fin",
        r"(?=[A-Za-z0-9]{0,16}[0-9])[A-HJ-NPR-Za-hj-npr-z0-9]{17}(?!\w)",
        hints("vin|vehicle|chassis|fahrgestell|fin"),
        confidence=0.97,
    ),
    Pattern(
        "plate-uk",
        "vehicle VRM",
        r"(?<![\w-])[A-HJ-PR-Y][A-Y][0-9]{2}[ ]?[A-HJ-PR-Z]{3}(?![\w-])",
        0.8,
        TIGHT,
    ),
    cued("plate", "vehicle VRM", _PLATE_CUES, _PLATE, _PLATE_HINTS, confidence=0.85, check=_is_plate),
    cued(
        "plate-car",
        "vehicle VRM",
        r"vehicle|car|reg|registration|plates?",
        _PLATE,
        hints("vehicle|car|reg|plate"),
        confidence=0.75,
        link=STRONG_LINK,
        check=_is_plate,
    ),
)
