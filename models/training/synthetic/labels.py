"""Which labels the invented texts mark, and for which of them a text can be vouched."""

from collections.abc import Collection, Iterable

PERSON = "person full name"

LABELS = (
    PERSON,
    "date of birth",
    "person age",
    "gender",
    "eye color",
    "person height",
    "social security number",
    "passport number",
    "job title",
    "job area",
    "job type",
    "bank account number",
    "bank account name",
    "IBAN",
    "BIC code",
    "bitcoin wallet address",
    "ethereum wallet address",
    "litecoin wallet address",
    "credit card number",
    "credit card CVV",
    "credit card issuer",
    "monetary amount",
    "currency ISO code",
    "currency full name",
    "currency symbol",
    "bitcoin amount",
    "street address",
    "building number",
    "secondary address unit",
    "city name",
    "county",
    "state or province",
    "zip postal code",
    "nearby GPS coordinate",
    "ordinal direction",
    "email address",
    "phone number",
    "IP address",
    "MAC address",
    "URL link",
    "user agent string",
    "password",
    "PIN code",
    "vehicle VIN",
    "vehicle VRM",
    "phone IMEI",
    "symptom",
    "disease",
    "diagnosis",
    "medication",
    "dosage",
    "frequency",
    "duration",
    "medical test",
    "test result",
    "procedure",
    "medical department",
    "allergy",
    "date",
    "time",
    "country",
    "nationality",
    "language",
    "religion",
    "marital status",
    "organization",
    "place",
    "event",
    "account handle",
    "personal web link",
    "secret key",
    "national id number",
    "tax number",
    "driving licence number",
    "medical record number",
    "health insurance number",
    "case number",
    "employee number",
    "reference number",
    "demographic attribute",
    "quantity",
    "identifying detail",
)

# What is one thing is also the other: both are marked, one over the other.
ALSO = {
    "date of birth": ("date",),
    "city name": ("place",),
    "county": ("place",),
    "state or province": ("place",),
    "country": ("place",),
    "diagnosis": ("disease",),
    "personal web link": ("URL link",),
    "nationality": ("demographic attribute",),
    "religion": ("demographic attribute",),
    "marital status": ("demographic attribute",),
}

# Their shape is so peculiar that none stands in a frame unless a slot puts it there.
TECHNICAL = (
    "social security number",
    "passport number",
    "IBAN",
    "BIC code",
    "bitcoin wallet address",
    "ethereum wallet address",
    "litecoin wallet address",
    "bitcoin amount",
    "credit card number",
    "credit card CVV",
    "nearby GPS coordinate",
    "IP address",
    "MAC address",
    "user agent string",
    "password",
    "PIN code",
    "vehicle VIN",
    "vehicle VRM",
    "phone IMEI",
    "secret key",
    "driving licence number",
    "eye color",
    "person height",
    "bank account name",
    "bank account number",
    "building number",
    "credit card issuer",
    "employee number",
    "health insurance number",
    "medical record number",
    "secondary address unit",
    "tax number",
)

# Whoever writes a frame marks these wherever they stand, or names them in the frame's head line.
ALWAYS_MARKED = (PERSON, "organization", "street address", "phone number", "email address", "date")

# A text that holds one of these may call it by the first label too, so the first is not vouched for.
BLURRED = {
    "quantity": (
        "monetary amount",
        "bitcoin amount",
        "dosage",
        "duration",
        "test result",
        "person height",
    ),
    "demographic attribute": ("gender", "person age", "job title", "language"),
}


def asked_for(found: Collection[str], unvouched: Collection[str]) -> tuple[str, ...]:
    """The labels, in order, for which the marking of a text is complete.

    Args:
        found: the labels of the text's mentions.
        unvouched: the labels that its frame may hold unmarked.
    """
    blurred = {label for label, others in BLURRED.items() if _any_in(others, found)}
    asked = {*found, *TECHNICAL, *ALWAYS_MARKED} - blurred - set(unvouched)
    return tuple(label for label in LABELS if label in asked)


def _any_in(labels: Iterable[str], found: Collection[str]) -> bool:
    return any(label in found for label in labels)
