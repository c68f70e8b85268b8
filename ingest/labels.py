"""The label table: every entity label and its descriptor.

The first 58 rows are TRIP-RAG's generalization map (its table 5) in its order; most are labels of the
detector too (docs/paper.md). The remaining rows are ours, for identifiers that the map lacks.

``risk`` is the prior privacy risk of a mention of the label, from the paper's rubric (section on the
privacy surrogate): 0.7-1.0 identifies alone, 0.4-0.7 identifies in context, 0.1-0.4 is broad in a large
population, below 0.1 is general. ``rigid`` labels have a checksum or a fixed format and are always
generalized.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ingest.documents import Identifier

DIRECT, QUASI, ATTRIBUTE = Identifier.DIRECT, Identifier.QUASI, Identifier.ATTRIBUTE

PERSON, ORGANIZATION, EMAIL = "person full name", "organization", "email address"
HANDLE, PERSONAL_LINK = "account handle", "personal web link"
VAGUE = "identifying detail"
"""The label for identifying details that fit no other label."""


@dataclass(frozen=True, slots=True)
class Label:
    """One kind of entity: its name, descriptor, identifier class and prior risk in [0, 1]."""

    name: str
    descriptor: str
    identifier: Identifier
    risk: float
    rigid: bool = False


PAPER_ROWS: tuple[Label, ...] = (
    Label("person full name", "somebody", DIRECT, 0.85),
    Label("date of birth", "a specific date", QUASI, 0.65),
    Label("person age", "a certain age", QUASI, 0.55),
    Label("gender", "a gender", QUASI, 0.25),
    Label("eye color", "an eye color", QUASI, 0.25),
    Label("person height", "a height", QUASI, 0.40),
    Label("social security number", "a social security number", DIRECT, 0.95, rigid=True),
    Label("passport number", "a passport number", DIRECT, 0.95, rigid=True),
    Label("job title", "a job title", QUASI, 0.35),
    Label("job area", "a field of work", QUASI, 0.20),
    Label("job type", "a type of employment", QUASI, 0.15),
    Label("bank account number", "a bank account number", DIRECT, 0.90, rigid=True),
    Label("bank account name", "a bank account holder", DIRECT, 0.85),
    Label("IBAN", "an IBAN code", DIRECT, 0.90, rigid=True),
    Label("BIC code", "a BIC code", QUASI, 0.30),
    Label("bitcoin wallet address", "a Bitcoin address", DIRECT, 0.90, rigid=True),
    Label("ethereum wallet address", "an Ethereum address", DIRECT, 0.90, rigid=True),
    Label("litecoin wallet address", "a Litecoin address", DIRECT, 0.90, rigid=True),
    Label("credit card number", "a credit card number", DIRECT, 0.95, rigid=True),
    Label("credit card CVV", "a CVV code", DIRECT, 0.75, rigid=True),
    Label("credit card issuer", "a card issuing bank", QUASI, 0.15),
    Label("monetary amount", "a sum of money", QUASI, 0.25),
    Label("currency ISO code", "a currency code", ATTRIBUTE, 0.05),
    Label("currency full name", "a currency name", ATTRIBUTE, 0.05),
    Label("currency symbol", "a currency symbol", ATTRIBUTE, 0.05),
    Label("bitcoin amount", "a cryptocurrency amount", QUASI, 0.25),
    Label("street address", "a street address", DIRECT, 0.90),
    Label("building number", "a building number", QUASI, 0.30),
    Label("secondary address unit", "an apartment or unit number", QUASI, 0.35),
    Label("city name", "a city", QUASI, 0.40),
    Label("county", "a county", QUASI, 0.35),
    Label("state or province", "a state or province", QUASI, 0.20),
    Label("zip postal code", "a postal code", QUASI, 0.65),
    Label("nearby GPS coordinate", "GPS coordinates", DIRECT, 0.85, rigid=True),
    Label("ordinal direction", "a direction", ATTRIBUTE, 0.05),
    Label("email address", "an email address", DIRECT, 0.95, rigid=True),
    Label("phone number", "a phone number", DIRECT, 0.95, rigid=True),
    Label("IP address", "an IP address", DIRECT, 0.85, rigid=True),
    Label("MAC address", "a MAC address", DIRECT, 0.90, rigid=True),
    Label("URL link", "a web link", QUASI, 0.30),
    Label("user agent string", "a browser user agent", QUASI, 0.40),
    Label("password", "a password", DIRECT, 0.90, rigid=True),
    Label("PIN code", "a PIN code", DIRECT, 0.85, rigid=True),
    Label("vehicle VIN", "a vehicle VIN", DIRECT, 0.90, rigid=True),
    Label("vehicle VRM", "a vehicle registration mark", DIRECT, 0.85, rigid=True),
    Label("phone IMEI", "a phone IMEI", DIRECT, 0.95, rigid=True),
    Label("symptom", "a symptom", ATTRIBUTE, 0.05),
    Label("disease", "a disease", ATTRIBUTE, 0.10),
    Label("diagnosis", "a medical diagnosis", ATTRIBUTE, 0.25),
    Label("medication", "a medication", ATTRIBUTE, 0.05),
    Label("dosage", "a medication dosage", ATTRIBUTE, 0.05),
    Label("frequency", "a frequency of medication", ATTRIBUTE, 0.05),
    Label("duration", "a duration of time", ATTRIBUTE, 0.10),
    Label("medical test", "a medical test", ATTRIBUTE, 0.05),
    Label("test result", "a test result", ATTRIBUTE, 0.15),
    Label("procedure", "a medical procedure", ATTRIBUTE, 0.15),
    Label("medical department", "a hospital department", QUASI, 0.15),
    Label("allergy", "an allergy", ATTRIBUTE, 0.15),
)

OWN_ROWS: tuple[Label, ...] = (
    Label("date", "a specific date", QUASI, 0.45),
    Label("time", "a specific time", ATTRIBUTE, 0.10),
    Label("country", "a country", QUASI, 0.20),
    Label("nationality", "a nationality", QUASI, 0.35),
    Label("language", "a language", QUASI, 0.20),
    Label("religion", "a religion", QUASI, 0.40),
    Label("marital status", "a marital status", QUASI, 0.15),
    Label("organization", "an organization", QUASI, 0.35),
    Label("place", "a place", QUASI, 0.40),
    Label("event", "an event", QUASI, 0.35),
    Label("demographic attribute", "a personal attribute", QUASI, 0.35),
    Label("quantity", "a quantity", QUASI, 0.15),
    Label("identifying detail", "a detail", QUASI, 0.35),
    Label("account handle", "a username", DIRECT, 0.85, rigid=True),
    Label("personal web link", "a web link", DIRECT, 0.85, rigid=True),
    Label("secret key", "a secret key", DIRECT, 0.95, rigid=True),
    Label("national id number", "a national identity number", DIRECT, 0.95, rigid=True),
    Label("tax number", "a tax number", DIRECT, 0.90, rigid=True),
    Label("driving licence number", "a driving licence number", DIRECT, 0.95, rigid=True),
    Label("medical record number", "a medical record number", DIRECT, 0.95, rigid=True),
    Label("health insurance number", "a health insurance number", DIRECT, 0.95, rigid=True),
    Label("case number", "a case number", DIRECT, 0.90, rigid=True),
    Label("employee number", "an employee number", DIRECT, 0.90, rigid=True),
    Label("reference number", "a reference number", DIRECT, 0.75, rigid=True),
)

NOT_ASKED = frozenset(("currency ISO code", "currency full name", "currency symbol", "ordinal direction"))
"""Labels not passed to the model: they expose nobody, and the model would mislabel other words."""

NAMES = frozenset(
    ("person full name", "organization", "place", "city name", "county", "state or province", "country")
)
"""Labels of names, which may be repeated elsewhere in the text."""

SENSITIVE = frozenset(
    (
        *("symptom", "disease", "diagnosis", "medication", "dosage", "medical test", "test result"),
        *("procedure", "medical department", "allergy", "frequency"),
        *("religion", "nationality", "language", "demographic attribute"),
    )
)
"""Labels of health, belief and origin: what a stranger could use against a person (GDPR, article 9)."""

LABELS: dict[str, Label] = {row.name: row for row in (*PAPER_ROWS, *OWN_ROWS)}


OWN_LABEL_RISK = 0.55
"""The prior risk of user-defined labels."""


LONGEST_NAME = 60


def is_short_line(words: str) -> bool:
    """Whether ``words`` can be a label or its replacement: 1 to 60 printable characters in one line."""
    return words == words.strip() != "" and words.isprintable() and len(words) <= LONGEST_NAME


def label_of(name: str) -> Label:
    """The row of ``name``; a user-defined label is a quasi-identifier of medium risk."""
    known = LABELS.get(name)
    if known is not None:
        return known
    article = "an" if name[:1].lower() in "aeiou" else "a"
    return Label(name, f"{article} {name}", QUASI, OWN_LABEL_RISK)


FREE, NONE = "free text", "none"
KINDS: Mapping[str, str] = {
    "name": PERSON,
    "given name": PERSON,
    "family name": PERSON,
    "date of birth": "date of birth",
    "date": "date",
    "age": "person age",
    "gender": "gender",
    "phone": "phone number",
    "email": "email address",
    "handle": HANDLE,
    "social security": "social security number",
    "national id": "national id number",
    "passport": "passport number",
    "driving licence": "driving licence number",
    "tax": "tax number",
    "insurance": "health insurance number",
    "record": "medical record number",
    "employee number": "employee number",
    "customer number": "reference number",
    "account": "bank account number",
    "card": "credit card number",
    "address": "street address",
    "city": "city name",
    "region": "state or province",
    "postcode": "zip postal code",
    "country": "country",
    "organization": ORGANIZATION,
    "job": "job title",
    "plate": "vehicle VRM",
    "ip": "IP address",
    "nationality": "nationality",
    "marital status": "marital status",
    "religion": "religion",
    "password": "password",
}
"""The label of each kind of field, besides free text, which is read as any text, and none."""
