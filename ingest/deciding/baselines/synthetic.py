"""Invented values of the same kind, the same for each linked entity of a document: not truthful by design.

The baseline that truthful text sanitization draws from a language model is drawn from Faker here. A value
depends on the document and the link alone, so no run and no other document says anything about it.
"""

from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

from ingest.annotated import AnnotatedText
from ingest.documents import Action, Decision
from ingest.labels import ORGANIZATION, PERSON
from ingest.protocols import Hazards
from models.errors import ModelUnavailable

if TYPE_CHECKING:
    from faker import Faker

REASON = "every detected entity becomes an invented value of its kind"


class Synthetic:
    """Draws a value for each linked entity with Faker.

    Raises:
        ModelUnavailable: Faker is not installed.
    """

    name = "synthetic"

    def __init__(self) -> None:
        try:
            from faker import Faker
        except ImportError:
            raise ModelUnavailable("synthetic", "needs Faker: pip install 'lethe[train]'.") from None
        self._faker = Faker("en_GB")

    def decide(self, texts: Sequence[AnnotatedText], hazards: Sequence[Hazards]) -> list[Sequence[Decision]]:
        """A decision for each mention; mentions of a link with the same label get the same value."""
        return [self._decided(text) for text in texts]

    def _decided(self, text: AnnotatedText) -> list[Decision]:
        document = blake2b(text.text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        found: dict[tuple[str, int], str] = {}
        for each in text.entities:
            if (each.label, each.link) not in found:
                self._faker.seed_instance(f"{document} {each.label} {each.link}")
                draw = _DRAWN.get(each.label, _words)
                found[each.label, each.link] = draw(self._faker)
        return [
            Decision(each, None, Action.SURROGATE, REASON, found[each.label, each.link])
            for each in text.entities
        ]


def _words(faker: "Faker") -> str:
    return str(faker.catch_phrase().lower())


def _date(faker: "Faker") -> str:
    day = faker.date_between("-60y", "today")
    return f"{day.day} {day:%B %Y}"


_DRAWN: Mapping[str, Callable[["Faker"], str]] = {
    PERSON: lambda faker: str(faker.name()),
    ORGANIZATION: lambda faker: str(faker.company()),
    **dict.fromkeys(("place", "city name"), lambda faker: str(faker.city())),
    "country": lambda faker: str(faker.country()),
    "county": lambda faker: str(faker.county()),
    "street address": lambda faker: str(faker.street_address()),
    **dict.fromkeys(("date", "date of birth"), _date),
    "time": lambda faker: str(faker.time("%H:%M")),
    "person age": lambda faker: str(faker.random_int(18, 90)),
    "quantity": lambda faker: str(faker.random_int(2, 500)),
    "job title": lambda faker: str(faker.job().lower()),
    "demographic attribute": lambda faker: str(faker.job().lower()),
    "email address": lambda faker: str(faker.ascii_safe_email()),
    "phone number": lambda faker: str(faker.phone_number()),
    "reference number": lambda faker: str(faker.bothify("####/##")),
}
