"""Which labels count for which figure, as data. Names are those of ``ingest.labels`` and of the corpora."""

from dataclasses import dataclass

MEDICAL_CONTENT = frozenset(
    (
        "symptom", "disease", "medication", "dosage", "frequency", "medical test", "test result",
        "procedure", "chemical",
    )
)  # fmt: skip
"""Medical content that does not identify; corpora of identifiers do not mark it."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of entity in corpora that mark a few kinds of names.

    ``marked`` are the gold labels to be found, ``found`` the detector's labels that claim one. ``also_found``
    count for recall but not for precision: an address finds the town in it, but is not wrong if no town is
    marked. ``also_right`` are gold labels that make a claim right but do not count for recall.
    """

    name: str
    marked: frozenset[str]
    found: frozenset[str]
    also_found: frozenset[str] = frozenset()
    also_right: frozenset[str] = frozenset()


_PERSON, _ANY_PERSON, _HANDLE = "person full name", "any mention of a person", "account handle"
_PEOPLE = frozenset((_PERSON, "politician", "researcher", "scientist", "writer", "musician"))

PERSONS = Kind("persons", frozenset((_PERSON,)), _PEOPLE, also_right=frozenset((_ANY_PERSON,)))
PERSONS_AND_HANDLES = Kind(
    "persons, handles among them",
    frozenset((_PERSON, _HANDLE)),
    _PEOPLE,
    also_found=frozenset((_HANDLE,)),
)
PERSONS_DESCRIBED = Kind(
    "persons, named or described", frozenset((_PERSON, _ANY_PERSON)), _PEOPLE | {_ANY_PERSON}
)
PLACES = Kind(
    "places",
    frozenset(("place",)),
    frozenset(("place", "city name", "county", "state or province", "country")),
    also_found=frozenset(("any mention of a place", "facility", "street address")),
    also_right=frozenset(("any mention of a place", "facility")),
)
ORGANIZATIONS = Kind(
    "organizations",
    frozenset(("organization",)),
    frozenset(("organization", "political party", "university", "band")),
    also_right=frozenset(("contract party",)),
)
DISEASES = Kind("diseases", frozenset(("disease",)), frozenset(("disease", "diagnosis", "symptom")))
CHEMICALS = Kind("chemicals and drugs", frozenset(("chemical",)), frozenset(("chemical", "medication")))

_NAMES = (PERSONS, PLACES, ORGANIZATIONS)
_NAMES_IN_POSTS = (PERSONS_AND_HANDLES, PLACES, ORGANIZATIONS)
_NAMES_AND_DESCRIPTIONS = (PERSONS, PERSONS_DESCRIBED, PLACES)

CORPUS_NAMES = {
    "gum": "GUM",
    "litbank": "LitBank",
    "re3d": "re3d",
    "wnut17": "WNUT-17",
    "broad_twitter": "Broad Twitter",
    "wikigold": "Wikigold",
    "crossner": "CrossNER",
    "uner_ewt": "UNER-EWT",
    "sec_filings": "SEC filings",
    "bc5cdr": "BC5CDR",
    "ncbi_disease": "NCBI disease",
}

KINDS: dict[str, tuple[Kind, ...]] = {
    "gum": (*_NAMES_AND_DESCRIPTIONS, ORGANIZATIONS),
    "litbank": _NAMES_AND_DESCRIPTIONS,
    "re3d": (*_NAMES_AND_DESCRIPTIONS, ORGANIZATIONS),
    "wnut17": _NAMES_IN_POSTS,
    "broad_twitter": _NAMES_IN_POSTS,
    "wikigold": _NAMES,
    "crossner": _NAMES,
    "uner_ewt": _NAMES,
    "sec_filings": _NAMES,
    "bc5cdr": (DISEASES, CHEMICALS),
    "ncbi_disease": (DISEASES,),
}
"""The kinds that each corpus marks well enough to be measured on."""

WITHOUT_NAMES: dict[str, tuple[Kind, ...]] = {
    "bc5cdr": (PERSONS, PLACES),
    "ncbi_disease": (PERSONS, PLACES),
}
"""Corpora in which every span of these kinds is a false alarm."""
