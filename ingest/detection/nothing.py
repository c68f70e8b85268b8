"""What is taken for an item of a kind and is none in any document: a unit without its number, a continent."""

import re
from functools import cache

from ingest.detection.patterns.words import MONTHS
from ingest.detection.rules.known_parts import PLAIN_TITLES
from ingest.labels import ORGANIZATION, PERSON, VAGUE
from ingest.language.vocabulary import entries, fold, words

_PLACES = frozenset(("place", "city name", "county", "state or province", "country"))
_MOMENTS = frozenset(("date", "time"))
_UNIT = "(?:hour|day|week|month|quarter|year|century)"
_NO_MOMENT = re.compile(
    rf"(?i)morning|afternoon|evening|night|weekends?|end|beginning|middle|{_UNIT}s?|{_UNIT}[- ]end"
    rf"|(?:the )?(?:end|beginning|start|middle|rest) of (?:(?:the|this|last|next) )?{_UNIT}"
    r"|(?:the )?(?:[0-9]{1,2}th and )?(?:[a-z]+[- ])?(?:[0-9]{1,2}|[a-z]+)(?:th|st)[- ]centur(?:y|ies)"
    r"(?: [a-z]+)?"
    rf"|(?!{MONTHS})(?-i:[A-Z]{{1,4}})-[0-9]{{1,4}}"
)
_NUMBER = re.compile(r"[0-9]{1,3}(?:\.[0-9])?")
_DAY_BEFORE = re.compile(
    r"(?i)(?<![^\W_])(?:on|by|until|till|from|to|and|or|at|before|after|of|the|since|between|around|about|born"
    rf"|birthday|geb\.?|[a-z]{{3,9}}day,?|(?:{MONTHS})\.?|-|–|/)\s?$|:\s?$"
)
_DAY_AFTER = re.compile(
    rf"(?i)\s?(?:st|nd|rd|th|o'clock|[ap]\.?m\b|of |[-/]|{MONTHS}|year|month|week|day|hour|min)"
)
_CONTINENT = re.compile(
    r"(?i)(?:the )?(?:(?:(?:north|south|east|west)(?:ern)?|southeast|latin|central|mainland) )?"
    r"(?:europe|asia|africa|americas?|oceania|antarctica|middle east|far east|caribbean|balkans)"
)
_FIELD = re.compile(r"(?i)(?:[a-z]+ )?[a-z]+(?:ology|istry|physics|omics|matics|onomy|ography)")
"""A field of study behind "in"."""
_SCALE = re.compile(r"(?:[A-Za-z-]+ )+(?i:scale|score|criteria|classification|staging|questionnaire)")
"""The whole name of a scale; not Score Publishing, and not Quellby Index."""
_OF_SCALE = re.compile(r" (?:index|scale|score|criteria|classification|staging)(?![^\W_])")
_ILLNESS_OF_SCALE = re.compile(r" (?:Scale|Score|Inventory|Questionnaire)(?![^\W_])")
_SCALES = frozenset(
    ("barthel", "karnofsky", "wells", "ranson", "likert", "braden", "rankin", "ashworth", "waterlow")
)
"""Names of scales that are not among ``eponyms``."""
_CONDITIONS = frozenset(("diagnosis", "disease", "symptom"))
_FIGURES = re.compile("[0-9]{1,3}")
_ITEM_AFTER = re.compile(r"\. [A-Z]")
_YEAR = re.compile("(?:1[89]|20)[0-9]{2}")
_LAW_BEFORE = re.compile(
    r"(?:(?:Act|Code|Regulations?|Order|Rules|Ordinance|Directive|Convention)(?: \([A-Z][^)]*\))?"
    r"|(?i:sections?|articles?|regulations?|clause|ss?\.) ?[0-9][0-9A-Za-z() ,]{0,8} [A-Z]{2,5}) $"
)
"""The title of a law, to which its year belongs."""
_SUMS = frozenset(("monetary amount", "quantity"))
_MEASURABLE = _PLACES | _MOMENTS | {ORGANIZATION}
_MEASURED = re.compile(
    r"[0-9.,]+ ?(?:MW|GW|kW|kV|MHz|GHz|GB|MB|TB|km|cm|mm|kg|mg|ml)|(?i:phase|stage|step)(?: [IVX]+| [0-9])?"
)
_LETTER = re.compile("[b-z]")
_WORDS_ONLY = frozenset(("country", "religion", "nationality", "language", "marital status", "gender"))
"""Labels whose items have no figures."""
_ROW = re.compile(r"(?=.*[0-9]{6})(?:[A-Z]?[0-9]+(?:\.[0-9]+)? )+[A-Z]?[0-9]+(?:\.[0-9]+)?")
"""Figures of a table side by side."""
_UNIT_ALONE = re.compile("[A-Za-z]{1,2}")
_KIN = re.compile(r"(?i)aunt(?:ie|y)?|uncle|cousin|sister|brother|father|mother|grand(?:ma|pa)")
_NAME_AFTER = re.compile(r" [A-Z][a-z]")
_SIGN_AFTER = re.compile(r"(?:['’]s)? (?:tests?|signs?|maneuver)(?![^\W_])")
_OF_CARE = re.compile(r" (?:physician|doctor|provider|clinician|nurse|team|visit|appointment)s?(?![^\W_])")
_CURRENCY = re.compile(r"[A-Z]{3}|[$€£]")


_SELF = ("person age", "demographic attribute", "gender")
_ONLY_YOUNG = re.compile(
    r"(?i)(?:(?:very|so|pretty|really|super|duper|quite|too|still|fairly|rather) )*(?:young|old)(?:er|est)?"
    r"|only|just|almost|nearly|about|aged?|elderly|back then"
)
_CRIED = re.compile(
    r"(?i)(?<![^\W_])(?:oh+|ah+|hey+|yo|a+w+|ugh|wow|damn|dang|dude|come on|c'mon|yeah|yep|nah|cheers),? $"
)
_FELLOW = re.compile(r"(?i)man|boy|girl|dude|bro|mate|lady|lord")
"""Oh man: nobody in particular."""
_AREA = re.compile("Region|County|District|Province|State|City|Town|Village|Area|Zone|Borough")
_NOBODY = re.compile(
    "God|Allah|Santa(?: Claus)?|(?:EO[DBW]|COB|ASAP|FYI|TB[ADC]|RSVP|FAQ|DIY|BTW)(?: [A-Z][a-z]{2,5}day)?"
)
_NAME_GOES_ON = re.compile(r"[ &-]{1,3}[A-Z0-9]")
_NO_FIRM = re.compile(
    "NDA|POS|CEO|CFO|CTO|COO|HR|PR|IT|QA|API|URL|PDF|ETA|KPI|ROI|SLA|RFP|RFQ|MOU|SMS|GPS|ATM|USB|VAT|GDP|IPO"
    "|B2B|B2C|PO|ID|CV|VP|EVP|SVP"
)
"""Abbreviations that name no organization, unless a name goes on behind them: HR Quellby."""
_KNOWN_THING = re.compile(
    r"(?i) (?:shepherd|terrier|bulldog|army knife|toast|fries|press|pastry|pastries|delight|roulette|numeral"
    r"|alphabet|dressing)s?(?![^\W_])"
)
"""What is called by a people and says nothing about one: a German shepherd."""
_FIELD_NAME = re.compile(
    r"(?i)(?:user ?name|pass ?(?:word|code|phrase)|log[ -]?in|log[ -]?out|sign[ -]?in)s?"
)
_MAIL_FIELD = re.compile(
    r"(?i)von|an|gesendet|betreff|datum|kopie|de|para|asunto|fecha|enviado|objet|envoyé|oggetto|inviato|aan"
    r"|onderwerp|verzonden"
)
"""Fields of a mail in other languages, before a colon."""
_SMALL = re.compile("ms|mr|re|cc|px|hx|dx|sp")
"""Short forms that models take for names."""
_CLAIMED = frozenset(
    (*_PLACES, PERSON, ORGANIZATION, VAGUE, "person age", "job title", "job area", "demographic attribute")
)
"""Labels under which models find short forms of clinical notes and public bodies."""
_READ = re.compile(r"(?P<what>[A-Za-z][A-Za-z0-9&]*)[ :=]{1,3}[<>]?[0-9]+(?:[.,/][0-9]+)?")
"""A reading with its name: eGFR 41."""
_SMALL_FORMS = frozenset(("abdo", "echo", "sats", "trop", "hba1c", "ecg", "usg"))
"""Forms that are written in small letters too."""
_TITLED = re.compile(
    r"(?i)(?<![^\W_])(?:mr|mrs|ms|miss|dr|prof|appellant|applicant|claimant|respondent|child|wife|husband|son"
    r"|daughter|brother|sister|aunt|uncle|mother|father|partner|friend|named|called|known as)[.,:]? $"
)
"""What stands before the initials of somebody."""
_BELONGS = re.compile(
    r"(?i)(?<![^\W_])(?:at|for|by|with|from|to|of|in|joined|left|employers?,?|inspector|officer) (?:the )?$"
)
"""What stands before an employer."""
_LETTER_BEFORE, _LETTER_AFTER = re.compile(r"(?<![^\W_])[A-Z]&$"), re.compile(r"&[A-Z]s?(?![^\W_])")
"""The other half of U&E."""
_BAY = re.compile(r" (?:bay|bed|cubicle|resus|room)(?: [0-9]{1,2})?$")
_CARRIED = re.compile(r"(?i)G[0-9]{1,2} ?P[0-9]{1,2}(?:\+[0-9])?|[1-4][0-9] ?\+ ?[0-6](?: ?/ ?40)?")
"""Pregnancies and births, and weeks of one: G2P1, 31+4."""
_GRADE = re.compile(r"(?:FY|ST|CT|IMT|PGY-?)[1-8] [a-z]{4,}")
"""A grade of training: ST5 psychiatry."""


def says_nothing(label: str, said: str, before: str, after: str) -> bool:
    """Whether the words are none of what their label says, between the text before and after them."""
    if (label in _MEASURABLE and _MEASURED.fullmatch(said)) or _is_of_notes(label, said, before, after):
        return True
    if label in _MOMENTS:
        of_law = _YEAR.fullmatch(said) is not None and _LAW_BEFORE.search(before) is not None
        return of_law or _no_moment(said, before, after)
    if label in _WORDS_ONLY and any(map(str.isdigit, said)):
        return True
    if label == "nationality":
        return _KNOWN_THING.match(after) is not None
    if label in _SELF:
        return _nobody_in_particular(said, before)
    if label in (PERSON, ORGANIZATION) and _FIGURES.fullmatch(said) and _ITEM_AFTER.match(after):
        return True
    if label == ORGANIZATION and _NO_FIRM.fullmatch(said) and not _NAME_GOES_ON.match(after):
        return True
    if label in _CONDITIONS:
        return len(said) == 1 or _ILLNESS_OF_SCALE.match(after) is not None
    if label in (*_PLACES, ORGANIZATION):
        return _no_place(label, said) or _SCALE.fullmatch(said) is not None or _is_of_scale(said, after)
    return _no_person(said, before, after) if label == PERSON else _no_care_or_sum(label, said, after)


def _is_of_notes(label: str, said: str, before: str, after: str) -> bool:
    """Whether a short form of clinical notes or a public body is taken for a name or the like."""
    if label == "quantity" and (read := _READ.fullmatch(said)):
        return fold(read["what"]) in _clinical_forms()
    if label not in _CLAIMED or _TITLED.search(before):
        return False
    left, right = _LETTER_BEFORE.search(before), _LETTER_AFTER.match(after)
    said = f"{left.group() if left else ''}{said}{right.group() if right else ''}"
    if _CARRIED.fullmatch(said) or (label not in _PLACES and _GRADE.fullmatch(said)):
        return True
    if fold(said) in words("public_short"):
        return said.isupper() and not _BELONGS.search(before)
    short = _BAY.sub("", said)
    if fold(short) not in _clinical_forms():
        return False
    if short.islower():
        return short in _SMALL_FORMS
    if not short.isalpha() or not short.isupper():
        return not short.istitle() or short.isupper()
    # Initials are in capitals too: these are a form of notes beside a word of medicine alone.
    return label not in _PLACES and _says_medicine(f"{before} {after}")


def _says_medicine(near: str) -> bool:
    """Whether there is a medical term in small letters among the words."""
    found = [fold(word) for word in re.findall(r"(?<![^\W_])[a-z]{4,}(?![^\W_])", near)]
    return not _medical_words().isdisjoint(found)


@cache
def _medical_words() -> frozenset[str]:
    lists = ("medications", "diseases", "symptoms", "medical_tests", "procedures")
    return words(*lists) - words("common_words")


@cache
def _clinical_forms() -> frozenset[str]:
    return frozenset(entries("clinical_short"))


def _no_care_or_sum(label: str, said: str, after: str) -> bool:
    if label == "medical department":
        return _OF_CARE.match(after) is not None
    unit = _UNIT_ALONE.fullmatch(said) if label == "quantity" else None
    return unit is not None or (label in _SUMS and _CURRENCY.fullmatch(said) is not None)


def _no_place(label: str, said: str) -> bool:
    """A continent, a field of study, a kind of area without its name; among firms what is nobody."""
    forms = (_CONTINENT, _FIELD, _AREA) if label in _PLACES else (_NOBODY,)
    return any(form.fullmatch(said) for form in forms)


def _is_of_scale(said: str, after: str) -> bool:
    """Whether a known eponym names a scale: Barthel index."""
    return fold(said) in words("eponyms") | _SCALES and _OF_SCALE.match(after) is not None


def _is_mail_field(said: str, before: str, after: str) -> bool:
    """Whether a line begins with a field of a mail, and a line beside it with another one."""
    if not after.startswith(":") or not _MAIL_FIELD.fullmatch(said) or before.rpartition("\n")[2].strip():
        return False
    others = {
        line.partition(":")[0].strip().casefold()
        for line in f"{before}{after[1:]}".split("\n")
        if ":" in line
    }
    return any(_MAIL_FIELD.fullmatch(other) for other in others - {said.casefold()})


def _no_person(said: str, before: str, after: str) -> bool:
    """Eponyms of scales and signs, kin before a name, titles alone, fields of forms, short forms; no more."""
    of_sign = fold(said) in words("eponyms") and _SIGN_AFTER.match(after) is not None
    of_kin = _KIN.fullmatch(said) is not None and _NAME_AFTER.match(after) is not None
    small = _LETTER.fullmatch(said) or _SMALL.fullmatch(said) or fold(said.rstrip(".")) in PLAIN_TITLES
    field = _FIELD_NAME.fullmatch(said) or _is_mail_field(said, before, after)
    nobody = field or _NOBODY.fullmatch(said)
    return of_sign or of_kin or bool(small) or bool(nobody) or _is_of_scale(said, after)


def _nobody_in_particular(said: str, before: str) -> bool:
    """Young, which is no age, and a cry: oh man."""
    cried = _FELLOW.fullmatch(said) is not None and _CRIED.search(before) is not None
    return cried or _ONLY_YOUNG.fullmatch(said) is not None


def _no_moment(said: str, before: str, after: str) -> bool:
    if _NO_MOMENT.fullmatch(said) or _ROW.fullmatch(said):
        return True
    alone = _NUMBER.fullmatch(said) is not None
    return alone and not _DAY_BEFORE.search(before) and not _DAY_AFTER.match(after)
