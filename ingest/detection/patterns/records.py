"""Record numbers of institutions: files, cases, policies, staff."""

from collections.abc import Callable, Iterator

from ingest.detection.field_words import NOTHING
from ingest.detection.patterns.page import Page, Where, hints, zones
from ingest.detection.patterns.pattern import (
    COUNTED_LINK,
    ID_VALUE,
    LINK,
    MIDDLE,
    STRONG_LINK,
    TIGHT,
    Pattern,
    compiled,
    cued,
    entity,
    is_code,
    is_long_number,
    is_number_like,
)
from ingest.documents import Entity
from ingest.labels import PERSON

_APPLICATION = r"[0-9]{1,6}/[0-9]{2}(?![\w/]|[.,-][0-9])"
_JOINT = r"(?:,? and |,? & |[,;] ?(?:and )?|\n)"
_APPLICATION_LIST = (
    r"(?<![^\W_])(?i:applications?|requêtes?|nos?\.?|n[º°]s?|numbers?|cases?)[ \n]{1,2}(?:(?i:nos?\.?"
    r"|n[º°]s?)[ ]?)?"
    rf"(?P<list>{_APPLICATION}(?:{_JOINT}(?:(?:no\. )?{_APPLICATION})){{0,60}}+)"
)
_LISTS = MIDDLE
_YEAR_FIRST = r"(?:(?:19|20)[0-9]{2}/[0-9]{1,6}|[A-Z]{1,4} [0-9]{1,6}/(?:19|20)[0-9]{2})(?![\w/]|[.,-][0-9])"


def find_application_numbers(page: Page) -> Iterator[Entity]:
    """Each number of "applications nos. 12/34 and 56/78", of the European Court of Human Rights."""
    lists, one = compiled(_APPLICATION_LIST), compiled(_APPLICATION)
    for first, last in zones(page, _LISTS):
        for match in lists.finditer(page.text, first, last):
            for number in one.finditer(page.text, *match.span("list")):
                yield entity("application", "case number", *number.span(), 0.95)


def _is_no_span_of_years(value: str) -> bool:
    """Reject "1996/97", a school year or a season."""
    first, second = value.split("/")
    spans = len(first) == 4 and 1700 <= int(first) < 2040
    return not (spans and 0 < int(second) - int(first[2:]) <= 10)


_US_DOCKET = (
    r"(?:[0-9]{1,2}:)?[0-9]{2}-(?i:cv|cr|mc|md|mj|bk|ap|ca|civ|crim|po|sw|vv)-[0-9]{1,6}"
    r"(?:-[A-Za-z0-9]{1,5}){0,4}"
)
_COURTS = (
    r"(?:UKSC|UKHL|UKPC|UKUT|UKFTT|UKEAT|EAT|EWCA|EWHC|EWFC|EWCOP|NICA|NIQB|NI|CSIH|CSOH|HCJAC"
    r"|IEHC|IESC|IECA|NZCA|NZHC)"
)
_REPORTS = r"(?:SCC|HCA|FCA|AC|QB|KB|WLR|All ER|Ch|Fam|ECR|EHRR|ICR|IRLR|FLR)"
_YEAR = "(?:19|20)[0-9]{2}"
_CITATION = (
    rf"(?:\[{_YEAR}\] (?:[0-9]{{1,2}} )?(?:{_COURTS}|{_REPORTS})"
    # Round brackets stand about the year of any paper, so a volume or a court has to follow.
    rf"|\({_YEAR}\) (?:{_COURTS}|[0-9]{{1,2}} {_REPORTS}))"
    r"(?: (?:Civ|Crim|Admin|Fam|TCC|Comm))? [0-9]{1,5}(?: \([A-Z][A-Za-z]{1,8}\))?"
)
_REGISTERS = (
    "ACa|ACz|AKa|AKo|APa|AUa|Ca|CK|CKN|CKU|CO|Co|CR|CSK|CSKP|CZ|CZP|Cz|C|FSK|GC|GNc|GSK|Ga|K|Ka|KK|KKN|Ko|KO|Kow"
    "|Kp|Kz|Kzw|KZP|Ks|NC|NSNc|Nc|Ns|Nsm|NSM|OSK|P|PK|PKN|Pa|Pz|PPa|RC|RCa|RNs|SA|SAB|SO|U|UK|UKN|Ua|Uz|W|WKK|WZ"
    "|ARs?|AZR|B|BGs|BvL|BvR|R|StR|StB|StVR|ZA|ZB|ZR"
)
"""Register codes of Polish and German courts."""
_CIVIL_LAW = (
    rf"[IVX]{{1,5}} (?:{_REGISTERS})[ -][0-9]{{1,6}}/[0-9]{{2,4}}"  # a Polish or German docket
    r"|[CTF]-[0-9]{1,4}/[0-9]{2}(?: ?P(?!\w))?"  # the courts of the European Union
    r"|ECLI:[A-Z]{2}:[A-Z0-9]{1,10}:[0-9]{4}:[A-Z0-9.]{1,25}(?<!\.)"
)
_CASE_VALUE = (
    r"(?=[A-Za-z/_.:\-]{0,12}+[0-9])[A-Z0-9]{1,16}+(?:[\-/._:](?=[A-Za-z\-/._]{0,8}[0-9]"
    r"|[A-Z])[A-Za-z0-9]{1,16}+){0,7}+(?!\w)"
)

_CASE_CUES = (
    r"(?:court |criminal |police |civil |investigation |incident )?(?:case|cause|docket|file(?= ?(?:no|nr"
    r"|num|ref|#))|crime|incident|complaint"
    r"|petition|appeal|proceeding|prosecution|judgment)s?(?: (?:file|reference|ref))?|application"
    r"|aktenzeichen|dossier|sygn\. akt|expediente|zaak|(?:az|gz|rg)(?=[^\n]{0,24}[0-9]/[0-9]{2})"
)
_CASE_HINTS = hints(
    "court|criminal|police|civil|investigation|case|cause|docket|file|crime|incident|complaint|petition|appeal|proceeding|prosecution|judgment|application|aktenzeichen|az|gz|dossier|rg|sygn|expediente|zaak"
)

_MRN_CUES = r"mrn|fallnummer|patientennummer|m\.r\.n\.?|nhc|mr(?= ?#)|med(?:ical)?\.? rec(?:ord)? (?=n|#)"
_CHART_CUES = (
    r"med(?:ical)?\.? rec(?:ord)?s?|patient (?:id(?:entifier)?|record|file|chart)|ehr|emr|historia clínica"
    r"|patienten-?id|episodio|cipa|accession|hospital record"
)
_PLACE_CUES = "hospital|chart|patient|unit|clinic|ward|specimen|encounter"
_MRN_HINTS = hints("mrn|fallnummer|patientennummer|m.r.n|nhc|mr #|mr#|med")
_CHART_HINTS = hints("med|hospital|patient|ehr|emr|historia|patienten|episodio|cipa|accession")
_INSURANCE_CUES = (
    r"medicare|medicaid|mbi|hicn|member|subscriber|beneficiary|(?:kranken)?versicherten(?:nummer|nr)?|nass"
    r"|cip|ohip|phn|hcn|kvnr|policy holder"
)
_COVER_CUES = (
    r"(?:health|medical)(?: ?care)?(?: insurance| plan| card)?|insurance(?: policy| member| card)?|group"
)
_INSURANCE_HINTS = hints(
    "medicare|medicaid|mbi|hicn|member|subscriber|beneficiary|krankenversicherten|versicherten|nass|cip|ohip"
    "|phn|hcn|kvnr|policy holder"
)
_INSURANCE_VALUE = (
    r"(?=[A-Za-z/_.\-]{0,12}+[0-9])[A-Za-z0-9]{1,24}+(?:[\-/._ ]"
    r"(?=[A-Z]{0,3}[0-9])[A-Za-z0-9]{1,20}+){0,6}+(?!\w)"
)
_STAFF_CUES = r"(?:employee|payroll|badge)s?(?: (?:badge|identification))?|emp|matricule"
_STAFF_HINTS = hints("employee|payroll|badge|emp|matricule")
_CREW_CUES = (
    r"(?:staff|personnel|associate|officer|warrant|collar|shield|faculty|crew|service)s?"
    r"(?: (?:badge|identification))?"
    r"|student|worker(?= (?:id|no|num))"
)
_CREW_HINTS = hints(
    "staff|personnel|associate|officer|warrant|collar|shield|faculty|crew|service|student|worker"
)
_REFERENCE_CUES = (
    r"(?:claim|ticket|invoice|policy|order|booking|reservation|confirmation|tracking|transaction|customer|client"
    r"|membership|loan|quote|contract|receipt|shipment|parcel|serial|licen[cs]e|permit|certificate|registration"
    r"|subscription|purchase order|po|certification|prescription|rx|npi|dea|deal)s?"
)
_REFERENCE_HINTS = hints(
    "claim|ticket|invoice|policy|order|booking|reservation|confirmation|tracking|transaction|customer|client"
    "|membership|loan|quote|contract|receipt|shipment|parcel|serial|licen|permit|certificate|registration"
    "|subscription|purchase order|po|certification|prescription|rx|npi|dea|deal"
)
_THING_CUES = r"(?:account|request|record|flight|device|control|meter)s?"
_THING_HINTS = hints("account|request|record|flight|device|control|meter")
_LONG_NUMBER = r"#?(?:[A-Z]{1,5}-?)?[0-9]{5,20}(?![\w]|[.,/-][0-9])"


def _announced(
    name: str,
    label: str,
    cues: str,
    near: tuple[str, ...],
    *,
    value: str = ID_VALUE,
    confidence: float = 0.85,
    check: Callable[[str], bool] = is_long_number,
) -> Iterator[Pattern]:
    """A number after a word for a number, or a longer one after a colon, which is weaker evidence."""
    yield cued(name, label, cues, value, near, confidence=confidence, link=COUNTED_LINK, check=is_number_like)
    yield cued(
        f"{name}-colon", label, cues, value, near, confidence=confidence, link=STRONG_LINK, check=check
    )


_NAME = r"[A-ZÀ-ÖØ-Þ][^\W\d_]*(?:['’-][^\W\d_]+)*"
_BIRTH_NAME = rf"{_NAME}(?: {_NAME}){{0,2}}(?![^\W_]|[.]? ?\d)"
_BIRTH_NAME_CUES = r"née?|\(nee|geb|geborene?r?|maiden name"
"""Words that stand before nothing but the name that somebody was born with, or a date of birth."""


PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        "application-bare",
        "case number",
        r"(?<![\w./,-])[0-9]{4,6}/[0-9]{2}(?![\w/]|[.,-][0-9])",
        0.85,
        TIGHT,
        _is_no_span_of_years,
    ),
    cued(
        "case-year",
        "case number",
        r"nos?\.?|n[º°]",
        _YEAR_FIRST,
        hints("no.|no |nos|nº|n°"),
        confidence=0.85,
    ),
    Pattern(
        "tribunal",
        "case number",
        r"(?<![\w./,-])[0-9]{6,8}/(?:19|20)[0-9]{2}(?![\w/]|[.,-][0-9])",
        0.9,
        TIGHT,
    ),
    cued(
        "birth-name",
        PERSON,
        _BIRTH_NAME_CUES,
        _BIRTH_NAME,
        hints("née|né|(nee|geb|maiden name"),
        confidence=0.97,
        check=lambda value: value.casefold() not in NOTHING,
        figures=False,
    ),
    Pattern("us-docket", "case number", rf"(?<![\w:-])(?:{_US_DOCKET})(?!\w)", 0.97, TIGHT),
    Pattern("citation", "case number", rf"(?<!\w){_CITATION}", 0.6, Where(hints("[19|[20|(19|(20"), 0, 60)),
    Pattern("civil-docket", "case number", rf"(?<![\w-])(?:{_CIVIL_LAW})(?!\w)", 0.85, MIDDLE),
    *_announced("case", "case number", _CASE_CUES, _CASE_HINTS, value=_CASE_VALUE, confidence=0.9),
    cued("mrn", "medical record number", _MRN_CUES, ID_VALUE, _MRN_HINTS, check=is_number_like),
    *_announced("chart", "medical record number", _CHART_CUES, _CHART_HINTS, confidence=0.9),
    *_announced(
        "place", "medical record number", _PLACE_CUES, hints(_PLACE_CUES), confidence=0.9, check=is_code
    ),
    *_announced(
        "health-insurance",
        "health insurance number",
        _INSURANCE_CUES,
        _INSURANCE_HINTS,
        value=_INSURANCE_VALUE,
    ),
    *_announced(
        "cover",
        "health insurance number",
        _COVER_CUES,
        hints("health|medical|insurance|group"),
        value=_INSURANCE_VALUE,
        check=is_code,
    ),
    *_announced("staff", "employee number", _STAFF_CUES, _STAFF_HINTS, confidence=0.9),
    *_announced("crew", "employee number", _CREW_CUES, _CREW_HINTS, confidence=0.9, check=is_code),
    cued(
        "colegiado",
        "employee number",
        r"n[º°] ?col|colegiado",
        r"[0-9]{2}[ ]?[0-9]{2}[ ]?[0-9]{2,5}(?!\w)",
        hints("nº|n°|colegiado"),
    ),
    cued(
        "professional-register",
        "employee number",
        "gmc|nmc|gdc|hcpc|gphc|ahpra|imc|mcr",
        r"(?:(?:[A-Z]{2,3})?[0-9]{5,10}|[0-9]{2}[A-Z][0-9]{4}[A-Z])(?!\w)",
        ("gmc", "nmc", "gdc", "hcpc", "gphc", "ahpra", "imc", "mcr"),
        link=r"[ .:#]{1,3}(?:(?:no|number|pin|reg(?:istration)?)\.?[ :]{1,2}){0,2}",
    ),
    cued("personalnummer", "employee number", "personalnummer", ID_VALUE, ("personalnummer",)),
    *_announced("reference", "reference number", _REFERENCE_CUES, _REFERENCE_HINTS),
    *_announced("thing", "reference number", _THING_CUES, _THING_HINTS, check=is_code),
    cued(
        "reference-long",
        "reference number",
        _REFERENCE_CUES,
        _LONG_NUMBER,
        _REFERENCE_HINTS,
        confidence=0.8,
        link=r"[ (#]{1,3}+(?:(?:is|was|to)[ ])?",
    ),
    cued(
        "reference-ref",
        "reference number",
        r"ref(?:erence)?",
        ID_VALUE,
        ("ref",),
        link=rf"(?=[ .]{{0,2}}(?:[:#=]|n[or]|number|id)){LINK}",
        check=is_number_like,
        confidence=0.85,
    ),
)
