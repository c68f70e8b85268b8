"""The rule-and-word-list detector as one function."""

from collections.abc import Mapping

from ingest.detection.overlaps import longest, outside
from ingest.detection.rules.hits import hit
from ingest.detection.rules.layout import layout
from ingest.detection.rules.lexicon import Match, scan
from ingest.detection.rules.medical import medical
from ingest.detection.rules.organizations import organizations
from ingest.detection.rules.people_words import people_words
from ingest.detection.rules.persons import running_text
from ingest.detection.rules.places import places
from ingest.documents import Entity
from ingest.language.tokens import LOWER, Tokens, tokenize


def _named_things(tokens: Tokens, matches: Mapping[str, list[Match]]) -> list[Entity]:
    """Listed names of several words that look like a person's: Morgan Stanley, Nova Scotia."""
    return [
        hit(match.span(tokens), label, 1.0, "list")
        for kind, label in THINGS.items()
        for match in matches.get(kind, ())
        if match.end > match.first + 1 and tokens.shapes[match.first] != LOWER
    ]


THINGS = {
    "organizations": "organization",
    "cities": "city name",
    "countries": "country",
    "states": "state or province",
    "places": "place",
}


def find_by_rules(text: str) -> list[Entity]:
    """The entities that rules and word lists find in ``text``, in text order.

    Entities of one family (persons, places, organizations, words about people, medical words) do not overlap;
    families may overlap each other. Deterministic; confidence is that of the rule.
    """
    tokens = tokenize(text)
    matches = scan(tokens)
    things = _named_things(tokens, matches)
    persons = longest([*outside(running_text(tokens), things), *layout(text)])
    families = (
        persons,
        outside(longest(places(tokens, matches)), persons),
        longest(organizations(tokens, matches)),
        longest(people_words(tokens, matches)),
        longest(medical(tokens, matches)),
    )
    found = [entity for family in families for entity in family]
    return sorted(found, key=lambda entity: (entity.span, entity.label, entity.source))
