"""Numbers that an institution gives a person or a matter: files, cases, policies, staff."""

from collections.abc import Iterator

from ingest.documents import Entity
from ingest.patterns.page import Page, Where, hints, zones
from ingest.patterns.pattern import (
    ID_VALUE,
    LINK,
    MIDDLE,
    STRONG_LINK,
    TIGHT,
    Pattern,
    compiled,
    cued,
    entity,
    is_number_like,
)

_APPLICATION = r"[0-9]{1,6}/[0-9]{2}(?![\w/]|[.,-][0-9])"
_JOINT = r"(?:,? and |,? & |[,;] ?(?:and )?|\n)"
_APPLICATION_LIST = (
    r"(?<![^\W_])(?i:applications?|requêtes?|nos?\.?|n[º°]s?|numbers?|cases?)[ \n]{1,2}(?:(?i:nos?\.?"
    r"|n[º°]s?)[ ]?)?"
    rf"(?P<list>{_APPLICATION}(?:{_JOINT}(?:(?:no\. )?{_APPLICATION})){{0,60}}+)"
)
_LISTS = MIDDLE
_YEAR_FIRST = r"(?:19|20)[0-9]{2}/[0-9]{1,6}(?![\w/]|[.,-][0-9])"


def find_application_numbers(page: Page) -> Iterator[Entity]:
    """Each number of "applications nos. 12/34 and 56/78", of the European Court of Human Rights."""
    lists, one = compiled(_APPLICATION_LIST), compiled(_APPLICATION)
    for first, last in zones(page, _LISTS):
        for match in lists.finditer(page.text, first, last):
            for number in one.finditer(page.text, *match.span("list")):
                yield entity("application", "case number", *number.span(), 0.95)


def _is_no_span_of_years(value: str) -> bool:
    """Refuse "1996/97", a school year or a season."""
    first, second = value.split("/")
    spans = len(first) == 4 and 1700 <= int(first) < 2040
    return not (spans and 0 < int(second) - int(first[2:]) <= 10)


_US_DOCKET = (
    r"(?:[0-9]{1,2}:)?[0-9]{2}-(?i:cv|cr|mc|md|mj|bk|ap|ca|civ|crim|po|sw|vv)-[0-9]{1,6}"
    r"(?:-[A-Za-z0-9]{1,5}){0,4}"
)
_CITATION = (
    r"[\[(](?:19|20)[0-9]{2}[\])] (?:[0-9]{1,2} )?(?:UKSC|UKHL|UKPC|UKUT|UKFTT|UKEAT|EAT|EWCA|EWHC|EWFC"
    r"|EWCOP|NICA|NIQB|NI"
    r"|CSIH|CSOH|HCJAC|IEHC|IESC|IECA|SCC|HCA|FCA|NZCA|NZHC|AC|QB|KB|WLR|All ER|Ch|Fam|ECR|EHRR|ICR|IRLR|FLR)"
    r"(?: (?:Civ|Crim|Admin|Fam|TCC|Comm))? [0-9]{1,5}(?: \([A-Z][A-Za-z]{1,8}\))?"
)
_CIVIL_LAW = (
    r"[IVX]{1,5} [A-Z][A-Za-z]{0,4}[ -][0-9]{1,6}/[0-9]{2,4}"  # a Polish or German docket
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
    r"|aktenzeichen|az|gz"
    r"|dossier|rg|sygn\. akt|expediente|zaak"
)
_CASE_HINTS = hints(
    "court|criminal|police|civil|investigation|case|cause|docket|file|crime|incident|complaint|petition|appeal|proceeding|prosecution|judgment|application|aktenzeichen|az|gz|dossier|rg|sygn|expediente|zaak"
)

_MRN_CUES = r"mrn|m\.r\.n\.?|nhc|mr(?= ?#)|med(?:ical)?\.? rec(?:ord)? (?=n|#)"
_CHART_CUES = (
    r"med(?:ical)?\.? rec(?:ord)?s?|(?:hospital|chart|patient|unit|clinic|ward)(?= ?(?:no|nr|num|id|#|:"
    r"|file))"
    r"|patient (?:id(?:entifier)?|record|file|chart)|ehr|emr|historia clínica|fallnummer|patienten"
    r"(?:nummer|-?id)"
    r"|episodio|cipa|accession|specimen|encounter|hospital record"
)
_MRN_HINTS = hints("mrn|m.r.n|nhc|mr #|mr#|med")
_CHART_HINTS = hints(
    "med|hospital|chart|patient|unit|clinic|ward|ehr|emr|historia|fallnummer|patienten|episodio|cipa|accession|specimen|encounter"
)
_INSURANCE_CUES = (
    r"(?:health|medical)(?: ?care)?(?: insurance| plan| card)|medicare|medicaid|mbi|hicn|insurance"
    r"(?: policy| member| card)?"
    r"|member|subscriber|beneficiary|group|krankenversicherten|versicherten(?:nummer|nr)?|nass|cip|ohip"
    r"|phn|hcn|kvnr|policy holder"
)
_INSURANCE_HINTS = (
    "health",
    "medical",
    "medicare",
    "medicaid",
    "mbi",
    "hicn",
    "insurance",
    "member",
    "subscriber",
    "beneficiary",
    "group",
    "krankenversicherten",
    "versicherten",
    "nass",
    "cip",
    "ohip",
    "phn",
    "hcn",
    "kvnr",
    "policy holder",
)
_STAFF_CUES = (
    r"(?:employee|staff|personnel|payroll|badge|worker|associate|officer|warrant|collar|shield|faculty|crew|service)s?"
    r"(?: (?:badge|identification))?|emp|personalnummer|matricule|student"
)
_STAFF_HINTS = hints(
    "employee|staff|personnel|payroll|badge|worker|associate|officer|warrant|collar|shield|faculty|crew|service|emp|personalnummer|matricule|student"
)
_REFERENCE_CUES = (
    r"(?:claim|ticket|invoice|policy|order|booking|reservation|confirmation|tracking|transaction|customer|client|membership"
    r"|loan|quote|contract|receipt|shipment|parcel|serial|licen[cs]e|permit|certificate|registration|request|deal|account"
    r"|subscription|purchase order|po|record|flight|device|control|certification|prescription|rx|npi|dea"
    r"|meter)s?"
)
_REFERENCE_HINTS = hints(
    "claim|ticket|invoice|policy|order|booking|reservation|confirmation|tracking|transaction|customer|client|membership|loan|quote|contract|receipt|shipment|parcel|serial|licen|permit|certificate|registration|request|deal|account|subscription|po|record|flight|device|control|certification|prescription|rx|npi|dea|meter"
)
_LONG_NUMBER = r"#?(?:[A-Z]{1,5}-?)?[0-9]{5,20}(?![\w]|[.,/-][0-9])"

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
    Pattern("us-docket", "case number", rf"(?<![\w:-])(?:{_US_DOCKET})(?!\w)", 0.97, TIGHT),
    Pattern("citation", "case number", rf"(?<!\w){_CITATION}", 0.6, Where(hints("[19|[20|(19|(20"), 0, 60)),
    Pattern("civil-docket", "case number", rf"(?<![\w-])(?:{_CIVIL_LAW})(?!\w)", 0.85, MIDDLE),
    cued(
        "case",
        "case number",
        _CASE_CUES,
        _CASE_VALUE,
        _CASE_HINTS,
        link=STRONG_LINK,
        check=is_number_like,
    ),
    cued("mrn", "medical record number", _MRN_CUES, ID_VALUE, _MRN_HINTS, check=is_number_like),
    cued(
        "chart",
        "medical record number",
        _CHART_CUES,
        ID_VALUE,
        _CHART_HINTS,
        link=STRONG_LINK,
        check=is_number_like,
    ),
    cued(
        "health-insurance",
        "health insurance number",
        _INSURANCE_CUES,
        r"(?=[A-Za-z/_.\-]{0,12}+[0-9])[A-Za-z0-9]{1,24}+(?:[\-/._ ]"
        r"(?=[A-Z]{0,3}[0-9])[A-Za-z0-9]{1,20}+){0,6}+(?!\w)",
        _INSURANCE_HINTS,
        link=STRONG_LINK,
        check=is_number_like,
        confidence=0.85,
    ),
    cued(
        "staff",
        "employee number",
        _STAFF_CUES,
        ID_VALUE,
        _STAFF_HINTS,
        link=STRONG_LINK,
        check=is_number_like,
    ),
    cued(
        "colegiado",
        "employee number",
        r"n[º°] ?col|colegiado",
        r"[0-9]{2}[ ]?[0-9]{2}[ ]?[0-9]{2,5}(?!\w)",
        hints("nº|n°|colegiado"),
    ),
    cued(
        "reference",
        "reference number",
        _REFERENCE_CUES,
        ID_VALUE,
        _REFERENCE_HINTS,
        link=STRONG_LINK,
        check=is_number_like,
        confidence=0.85,
    ),
    cued(
        "reference-long",
        "reference number",
        _REFERENCE_CUES,
        _LONG_NUMBER,
        _REFERENCE_HINTS,
        confidence=0.8,
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
