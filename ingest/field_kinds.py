"""The kinds of fields and columns, by the words that users and the head of fields have for them."""

from collections.abc import Mapping

from ingest.labels import HANDLE, ORGANIZATION, PERSON

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
