"""What a cloud service for personal data would star out, found by our own detector: no service is asked.

The categories, the threshold of confidence and the replacement are those with which Azure's language
service (ALS) is run as a baseline by Staab et al. (2024) and Frikha et al. (2024), IncogniText. The detector
is another one, so its figures are not the service's. National ids and the like are none of the categories.
"""

from collections.abc import Sequence

from ingest.annotated import AnnotatedText

ALS_LIKE = "als-like"
THRESHOLD = 0.4
LABELS = frozenset(
    (
        *("person full name", "bank account name"),
        *("job title", "job type"),
        *("city name", "county", "state or province", "country", "place", "nearby GPS coordinate"),
        *("organization", "event"),
        *("street address", "building number", "secondary address unit", "zip postal code"),
        *("phone number", "email address", "URL link", "personal web link", "IP address"),
        *("date", "time", "date of birth", "duration"),
        *("person age", "monetary amount", "bitcoin amount", "quantity"),
    )
)
"""Our labels of Person, PersonType, Location, Organization, Event, Address, PhoneNumber, Email, URL, IP,
DateTime and, of Quantity, Age, Currency and Number."""


class AlsLike:
    """Stars in place of each entity of the categories, as many as it has characters."""

    def __init__(self, detector: str) -> None:
        self.name = f"{ALS_LIKE} ({detector})"

    def rewrite(self, texts: Sequence[AnnotatedText]) -> list[str]:
        """The texts, as long as before."""
        return [_starred(each) for each in texts]


def _starred(text: AnnotatedText) -> str:
    shown = list(text.text)
    for each in text.entities:
        if each.label in LABELS and each.confidence >= THRESHOLD:
            shown[each.span.start : each.span.end] = "*" * len(each.span)
    return "".join(shown)
