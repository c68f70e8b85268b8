"""From every corpus's labels to ours: a hand-made table, as data.

A label of a corpus may mean several of ours at once (a university is also an organization). What a corpus
marks too loosely to be of use (its "misc") is left out.
"""

PERSON, ANY_PERSON = "person full name", "any mention of a person"
PLACE, ANY_PLACE = "place", "any mention of a place"
ORGANIZATION = "organization"

# Names that the detector learns beyond those that documents are generalized by.
NEW_LABELS: tuple[str, ...] = (
    ANY_PERSON,
    ANY_PLACE,
    "chemical",
    "product",
    "creative work",
    "facility",
    "vehicle",
    "person title",
    "contract party",
    "weapon",
    "military platform",
    "document reference",
    "political party",
    "politician",
    "election",
    "researcher",
    "scientist",
    "university",
    "conference",
    "field of study",
    "research task",
    "algorithm",
    "evaluation metric",
    "programming language",
    "academic discipline",
    "scientific theory",
    "academic journal",
    "chemical element",
    "chemical compound",
    "protein",
    "enzyme",
    "astronomical object",
    "award",
    "writer",
    "literary genre",
    "book",
    "poem",
    "magazine",
    "musician",
    "music genre",
    "musical instrument",
    "band",
    "album",
    "song",
)

# What court cases, novels, articles and tweets certainly do not hold: absence that is worth learning.
SURELY_ABSENT: tuple[str, ...] = (
    "phone IMEI",
    "vehicle VIN",
    "bitcoin wallet address",
    "credit card CVV",
    "password",
    "MAC address",
    "user agent string",
    "eye color",
    "IBAN",
)

# What forms, letterheads and wards hold and running text does not. Without this a detector that met such a
# label only in forms finds it everywhere.
FORM_LABELS: tuple[str, ...] = (
    "BIC code",
    "allergy",
    "bank account name",
    "bank account number",
    "bitcoin amount",
    "building number",
    "credit card issuer",
    "credit card number",
    "driving licence number",
    "employee number",
    "ethereum wallet address",
    "health insurance number",
    "litecoin wallet address",
    "medical department",
    "medical record number",
    "nearby GPS coordinate",
    "PIN code",
    "secondary address unit",
    "secret key",
    "social security number",
    "tax number",
    "vehicle VRM",
)

# What court cases, novels and reports speak of by the way, and never as a field of its own.
WARD_LABELS: tuple[str, ...] = ("dosage", "frequency", "medical test", "test result", "job area", "job type")

_RUNNING_TEXT = (
    "tab",
    "spia_cases",
    "gum",
    "litbank",
    "re3d",
    "wikigold",
    "crossner",
    "wnut17",
    "broad_twitter",
)

_TAB: dict[str, tuple[str, ...]] = {
    "PERSON": (PERSON,),
    "LOC": (PLACE,),
    "ORG": (ORGANIZATION,),
    "DATETIME": ("date",),
    "CODE": ("reference number",),
    "DEM": ("demographic attribute",),
    "QUANTITY": ("quantity",),
    "MISC": ("identifying detail",),
}

LABEL_MAPS: dict[str, dict[str, tuple[str, ...]]] = {
    "tab": _TAB,
    "spia_cases": _TAB,
    # The types of the posts are noisy; models.training.corpora.posts mends them first.
    "spia_posts": {
        **_TAB,
        "HANDLE": ("account handle",),
        "EMAIL": ("email address",),
        "PHONE": ("phone number",),
        "ADDRESS": ("street address",),
        "NATIONAL_ID": ("national id number",),
        "SSN": ("social security number", "national id number"),
        "PASSPORT": ("passport number",),
        "LICENCE": ("driving licence number",),
        "POSTCODE": ("zip postal code",),
    },
    # Bare: every mention; "named": those that are a name.
    "gum": {
        "person": (ANY_PERSON,),
        "place": (ANY_PLACE,),
        "named person": (PERSON,),
        "named place": (PLACE,),
        "named organization": (ORGANIZATION,),
        "named event": ("event",),
        "named time": ("date",),
    },
    # Rooms and houses are places too: GUM says so, and the two corpora must agree.
    "litbank": {
        "PER": (ANY_PERSON,),
        "GPE": (ANY_PLACE,),
        "LOC": (ANY_PLACE,),
        "FAC": ("facility", ANY_PLACE),
        "VEH": ("vehicle",),
        "named PER": (PERSON,),
        "named GPE": (PLACE,),
        "named LOC": (PLACE,),
        "named ORG": (ORGANIZATION,),
    },
    "re3d": {
        "Person": (ANY_PERSON,),
        "Location": (ANY_PLACE,),
        "named Person": (PERSON,),
        "named Location": (PLACE,),
        "named Organisation": (ORGANIZATION,),
        "named Temporal": ("date",),
        "Nationality": ("nationality",),
        "Quantity": ("quantity",),
        # The court cases count sums of money as quantities.
        "Money": ("monetary amount", "quantity"),
        "Weapon": ("weapon",),
        "MilitaryPlatform": ("military platform",),
        "DocumentReference": ("document reference",),
    },
    "wikigold": {"PER": (PERSON,), "LOC": (PLACE,), "ORG": (ORGANIZATION,)},
    "uner_ewt": {"PER": (PERSON,), "LOC": (PLACE,), "ORG": (ORGANIZATION,)},
    "wnut17": {
        "person": (PERSON,),
        "location": (PLACE,),
        "corporation": (ORGANIZATION,),
        "group": (ORGANIZATION,),
        "product": ("product",),
        "creative-work": ("creative work",),
        "HANDLE": ("account handle",),
    },
    "broad_twitter": {
        "PER": (PERSON,),
        "LOC": (PLACE,),
        "ORG": (ORGANIZATION,),
        "HANDLE": ("account handle",),
    },
    "crossner": {
        "person": (PERSON,),
        "politician": ("politician", PERSON),
        "researcher": ("researcher", PERSON),
        "scientist": ("scientist", PERSON),
        "writer": ("writer", PERSON),
        "musicalartist": ("musician", PERSON),
        "location": (PLACE,),
        "country": ("country", PLACE),
        "organisation": (ORGANIZATION,),
        "politicalparty": ("political party", ORGANIZATION),
        "university": ("university", ORGANIZATION),
        "band": ("band", ORGANIZATION),
        "event": ("event",),
        "election": ("election", "event"),
        "conference": ("conference",),
        "field": ("field of study",),
        "task": ("research task",),
        "algorithm": ("algorithm",),
        "metrics": ("evaluation metric",),
        "programlang": ("programming language",),
        "product": ("product",),
        "discipline": ("academic discipline",),
        "theory": ("scientific theory",),
        "academicjournal": ("academic journal",),
        "chemicalelement": ("chemical element", "chemical"),
        "chemicalcompound": ("chemical compound", "chemical"),
        "protein": ("protein",),
        "enzyme": ("enzyme",),
        "astronomicalobject": ("astronomical object",),
        "award": ("award",),
        "literarygenre": ("literary genre",),
        "book": ("book",),
        "poem": ("poem",),
        "magazine": ("magazine",),
        "musicgenre": ("music genre",),
        "musicalinstrument": ("musical instrument",),
        "album": ("album",),
        "song": ("song",),
    },
    "sec_filings": {
        "PER": (PERSON,),
        "LOC": (PLACE,),
        "ORG": (ORGANIZATION,),
        "PARTY": ("contract party",),
    },
    "bc5cdr": {"Chemical": ("chemical",), "Disease": ("disease",)},
    "ncbi_disease": {"Disease": ("disease",)},
    "presidio_synth": {
        "PERSON": (PERSON,),
        "GPE": (PLACE,),
        "ORGANIZATION": (ORGANIZATION,),
        "STREET_ADDRESS": ("street address",),
        "ZIP_CODE": ("zip postal code",),
        "CREDIT_CARD": ("credit card number",),
        "DATE_TIME": ("date",),
        "PHONE_NUMBER": ("phone number",),
        "EMAIL_ADDRESS": ("email address",),
        "DOMAIN_NAME": ("URL link",),
        "IP_ADDRESS": ("IP address",),
        "IBAN_CODE": ("IBAN",),
        "US_SSN": ("social security number",),
        "US_DRIVER_LICENSE": ("driving licence number",),
        "AGE": ("person age",),
        "TITLE": ("person title",),
        "NRP": ("nationality",),
    },
    "medquad": {},
}

# Each field of CrossNER marks these and its own; the rest of the table may occur there unmarked.
_CROSSNER_ALL = ("person", "organisation", "location", "country")
CROSSNER_FIELDS: dict[str, tuple[str, ...]] = {
    "ai": (
        *_CROSSNER_ALL,
        *("field", "task", "product", "algorithm", "researcher", "metrics", "programlang", "conference"),
        "university",
    ),
    "literature": (
        *_CROSSNER_ALL,
        *("book", "writer", "award", "poem", "event", "magazine", "literarygenre"),
    ),
    "music": (
        *_CROSSNER_ALL,
        *("musicgenre", "song", "band", "album", "musicalartist", "musicalinstrument", "award", "event"),
    ),
    "politics": (*_CROSSNER_ALL, "politician", "politicalparty", "election", "event"),
    "science": (
        *_CROSSNER_ALL,
        *("scientist", "university", "discipline", "enzyme", "protein", "chemicalelement"),
        *("chemicalcompound", "astronomicalobject", "academicjournal", "event", "theory", "award"),
    ),
}

# Labels beyond the table whose absence is certain in a corpus.
ALSO_ASKED: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(_RUNNING_TEXT, (*FORM_LABELS, *WARD_LABELS)),
    "uner_ewt": FORM_LABELS,
    "sec_filings": (*FORM_LABELS, *WARD_LABELS),
    # Diseases named after people are the hardest thing that is no name.
    "bc5cdr": (PERSON, PLACE, "identifying detail", *FORM_LABELS),
    "ncbi_disease": (PERSON, PLACE, "identifying detail", *FORM_LABELS),
    "medquad": (
        *(label for label in FORM_LABELS if label != "allergy"),
        PERSON,
        "person age",
        "street address",
        "demographic attribute",
        "identifying detail",
        "account handle",
        "case number",
        "gender",
        "job title",
        "job area",
        "job type",
        "marital status",
        "religion",
        "language",
        "ordinal direction",
        "currency ISO code",
        "currency full name",
        "currency symbol",
    ),
}

# Labels of the table that a corpus marks only in part.
NOT_ASKED: dict[str, tuple[str, ...]] = {
    # Error messages are marked as codes here and there.
    "spia_posts": ("reference number", "identifying detail", "zip postal code", *SURELY_ABSENT),
    # Whether a capitalized mention is a name is guessed.
    "litbank": (PERSON, PLACE, ORGANIZATION, "eye color"),
    # Groups of people and countries that act count as organizations there.
    "re3d": (ANY_PERSON, ANY_PLACE),
    "broad_twitter": ("eye color",),
    "uner_ewt": ("eye color",),
    "wnut17": ("eye color", "password"),
    # Some parties are marked and some are not; one line holds an account.
    "sec_filings": ("contract party", "IBAN"),
    "medquad": ("eye color",),
    "presidio_synth": tuple(label for label in SURELY_ABSENT if label != "IBAN"),
}


def mapped(corpus: str, label: str) -> tuple[str, ...]:
    """Our names for a corpus's ``label``; none where it is left out."""
    return LABEL_MAPS[corpus].get(label, ())


def asked_labels(corpus: str, field: str = "") -> tuple[str, ...]:
    """The labels whose marking is complete in ``corpus`` (for CrossNER: in one of its fields)."""
    table = LABEL_MAPS[corpus]
    marked = CROSSNER_FIELDS[field] if field else tuple(table)
    names = [ours for label in marked for ours in table[label]]
    names += [*ALSO_ASKED.get(corpus, ()), *SURELY_ABSENT]
    left_out = NOT_ASKED.get(corpus, ())
    return tuple(dict.fromkeys(name for name in names if name not in left_out))
