"""Labels that a text hardly holds, since it has no word of their kind.

Corpora mark a few kinds each and are silent about the rest. A detector that met a kind only in the texts
that hold it finds it everywhere; so the obvious absences are learned as well. The patterns are broad on
purpose: where one matches, nothing is claimed. They know no list of drugs or faiths, so a rare one that
stands alone is claimed to be absent; texts of medicine are therefore not asked (``rows.OF_MEDICINE``).
"""

import re

_MEDICAL = (
    r"abortion|ache|addict|adhd|aids|alcohol|allerg|alzheim|anaemi|anemi|angio|anorexi|antibio|anxi"
    r"|apno?ea|appendec|arthr|asthma|attack|bleed|bloat|blood|blur|bpm\b|broken|bruis|burn|bypass"
    r"|cancer|capsul|cardi|cataract|chemo|clinic|cold|constip|copd|cough|cramp|cream|creatin|crohn"
    r"|c-section|cyst|dead|deaf|death|deficien|dement|depress|diabet|diagnos|diarr|die|disab|diseas"
    r"|disorder|dizz|doctor|dose|drops|drug|dystroph|ecg|echo|ectom|eczema|edema|eeg|ekg|emia\b"
    r"|endoscop|epilep|faint|fatigue|fever|flash|flu\b|fractur|fusion|gastr|gerd|gout|haem|hallucin"
    r"|hba1c|head|health|hearing|heart|hemo|hepat|hernia|hiv\b|hodgkin|hospital|hurt|hyper|hypo|ill"
    r"|infect|influenza|inhal|injur|insomn|insulin|intubat|iron|itch|itis\b|joint|loss|lumbar|lung"
    r"|lupus|malaria|mcg|measles|medic|memory|mental|mg\b|migrain|\d\s?ml\b|mmhg|mmol|mood|mri\b|mutat"
    r"|nause|numb|nurs|oma\b|operation|opioid|orthop|osis\b|pacemak|pain|palpit|palsy|paralys|pathy\b"
    r"|patient|pill|plasty|pneumon|pregnan|psa\b|psor|psych|puff|pulmon|rash|renal|repair|replacement"
    r"|result|ringing|runny|saturat|scan|scar|schizo|scop[ey]|seizur|sick|skin|sleep|sore|spirom|spoon"
    r"|spray|steroid|stiff|stress|stroke|suffer|surge|swab|sweat|swell|swoll|symptom|syndrome|tablet"
    r"|test|therap|tired|toxic|trauma|treat|tremor|tsh\b|tumou?r|ulcer|ultraso|unit|vaccin|vein|virus"
    r"|vision|vitamin|vomit|weak|weight|wheez|wound|x-?ray"
    # how medicines end
    r"|(?:adol|alopram|amab|asone|azepam|azole|caine|cillin|codone|cycline|dipine|floxacin|formin"
    r"|gliptin|glutide|grel|ine|isone|mab|morphine|mycin|nib|nide|olol|oxin|parin|pentin|phen"
    r"|pril|profen|sartan|semide|statin|tadine|thyroxine|tirizine|traline|triptan|vir|xaban"
    r"|zide|zolam)\b"
)
_CURRENCIES = (
    r"baht|bitcoin|bucks|cent|crown|currenc|dinar|dirham|dollar|euro|forint|franc|koruna|kron|leu|lev|lira|mark"
    r"|naira|pence|peso|pound|quid|rand|reais|real|renminbi|ringgit|riyal|rouble|ruble|rupee|rupiah"
    r"|shekel|sterling|won|yen|yuan|zloty"
)
_LANGUAGES = (
    r"afrikaans|albanian|amharic|arabic|armenian|basque|belarus|bengali|bosnian|bulgarian|burmese|cantonese|catalan"
    r"|chinese|creole|croatian|czech|danish|dari|dutch|english|estonian|farsi|finnish|flemish|french|fluent"
    r"|gaelic|galician|georgian|german|greek|gujarati|hausa|hebrew|hindi|hungarian|icelandic|igbo|indonesian|interpret|irish"
    r"|italian|japanese|kazakh|khmer|korean|kurdish|languag|latin|latvian|lithuanian|macedonian|malay|maltese"
    r"|mandarin|marathi|mongol|native|nepali|norwegian|pashto|persian|polish|portuguese|punjabi|quechua|romanian"
    r"|russian|sanskrit|serbian|sinhal|slovak|slovene|slovenian|somali|spanish|speak|spoke|swahili|swedish"
    r"|tagalog|tamil|telugu|thai|tigrinya|tongue|translat|turkish|ukrainian|urdu|uzbek|vietnamese|welsh"
    r"|xhosa|yiddish|yoruba|zulu"
)
_RELIGIONS = (
    r"adventis|agnostic|alevi|amish|angli|atheis|bah[aá]|baptis|bible|buddh|catholic|christ|church|confucian"
    r"|copt|druze|evangel|faith|god|halal|hindu|imam|islam|jain|jehovah|jew|judai|kosher|lutheran|method|mormon|mosque|muslim|orthodox"
    r"|pagan|pastor|pentecost|pray|presbyter|priest|protestant|quaker|quran|koran|rabbi|rasta|relig|scientolog|shinto"
    r"|sikh|sunni|shi.?a|synagogue|tao|temple|wicca|yazid|zoroast"
)
_NUMBERS = r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b"
_TIMES = (
    rf"\d|a\.m|afternoon|clock|dawn|dusk|evening|{_NUMBERS}|midnight|morning|night|noon|p\.m|past|quarter"
    r"|sunrise|sunset"
)
_GENDERS = (
    r"\b[fm]\b|boy|female|femin|gender|gent|girl|guy|\blad|\bmale|\bman|\bmen|mascul|sex|trans|woman|women"
)
_MARITAL = (
    r"bachelor|cohabit|divorc|engag|\bex\b|fianc|husband|marri|partner|separat|single|spinster|spouse|wed"
    r"|widow|wife"
)
_AMOUNTS = rf"\d|[$€£¥₹]|hundred|thousand|million|billion|money|{_CURRENCIES}"

MEDICAL = (
    "disease",
    "diagnosis",
    "symptom",
    "medication",
    "dosage",
    "procedure",
    "medical test",
    "test result",
)
"""The labels that go by one list of medical words."""

_CUES: dict[str, str] = {
    **dict.fromkeys(MEDICAL, _MEDICAL),
    **dict.fromkeys(
        ("reference number", "case number", "national id number", "passport number", "zip postal code"),
        r"\d",
    ),
    **dict.fromkeys(("URL link", "personal web link"), r"://|www|\w\.\w|\bdot\b"),
    "email address": r"@|\bat\b|\bdot\b",
    "phone number": rf"(?:\d\D{{0,3}}){{5}}|call|dial|\bext|{_NUMBERS}|phone|\btel",
    "IP address": r"\d|::",
    "street address": (
        r"\d|\bave|boulevard|close|court|crescent|drive|gardens|hill|lane|mews|place|road|row\b|rue\b|square"
        r"|\bst\b|street|terrace|via\b|way"
    ),
    "date of birth": r"\bb\b|birth|born|d\.?o\.?b|\(.*\d{4}",
    "person age": (
        rf"\d|age|decade|fift|fort|{_NUMBERS}|month|newborn|ninet|eighty|eighti|old|sevent|sixt|teen|thirt|toddl"
        r"|twent|year|young"
    ),
    "person height": r"\d|feet|foot|height|tall",
    "gender": _GENDERS,
    "marital status": _MARITAL,
    "religion": _RELIGIONS,
    "language": _LANGUAGES,
    "time": _TIMES,
    "duration": rf"{_TIMES}|centur|day|decade|fortnight|hour|hrs|life|min|mom|month|second|week|while|year",
    "monetary amount": _AMOUNTS,
    "currency full name": _CURRENCIES,
    "currency symbol": r"[^\x00-\x7f]|\$|\bkr|\bfr\b",
    "ordinal direction": r"north|south|east|west|\b[ns][ew]\b",
}
_PATTERNS = {label: re.compile(pattern, re.IGNORECASE) for label, pattern in _CUES.items()}
_PATTERNS["currency ISO code"] = re.compile(r"[A-Z]{3}")


def surely_absent(text: str) -> tuple[str, ...]:
    """The labels of whose kind the text has no word."""
    return tuple(label for label, pattern in _PATTERNS.items() if not pattern.search(text))
