"""Jobs, relatives, illnesses and other attributes in their sentences."""

import re

from ingest.ladders.amounts import rungs_of_amount
from ingest.ladders.classify import class_of
from ingest.ladders.mentions import Choose, Fit, Mention, bracket
from ingest.ladders.places import adjective_of, is_country, rungs_of_place
from ingest.ladders.rungs import Rung, with_article
from ingest.language.vocabulary import WORD, fold, words

_AMOUNTS = frozenset(
    ("monetary amount", "quantity", "duration", "dosage", "frequency", "bitcoin amount", "test result")
)
_CONDITIONS = frozenset(("diagnosis", "disease", "symptom", "allergy"))
_ATTRIBUTES = frozenset(("demographic attribute", "identifying detail", "marital status"))
_PHRASE = 4
"""Words of a phrase whose last noun says what it is about."""
_UNCOUNTED = frozenset(("cancer",))
_EDUCATION = re.compile(
    r"(?i)(?<![^\W_])(?:degrees?|ph\.?d|masters?|m\.?s\.?c?|b\.?s\.?c?|m\.?b\.?a|bachelors?|diploma|graduat\w+"
    r"|school|university|uni|college|certificate|gcses?|a-levels?|thesis|semester|class of)(?![^\W_])"
)
_BE = re.compile(r"(?i)(?:(?<![^\W_])(?:is|was|am|are|were|be|been)|['’](?:s|m|re))\s$")
_FIELD = re.compile(r" (?:of|for|in|at|to) |, ")
_PLURAL = re.compile(r"(?i)[^su]s$|ees$|men$|children$|people$|wives$")
_ONE = re.compile(r"(?i)(?<![^\W_])(?:an?|one)\s$")
_NAME_AFTER = re.compile(r" [A-Z][a-z.]")
_LISTED = re.compile(r"[,:/(]\s?$")
_ENDS_ITEM = (",", " -", " –", ":")
_MANY = {"person": "people", "child": "children"}


def fit_of_description(mention: Mention, choose: Choose) -> Fit:
    """The class of an attribute as a noun phrase; in brackets its kind, where it has no class."""
    label, said = mention.label, mention.said
    if label in _AMOUNTS:
        return Fit(choose([*rungs_of_amount(said, mention.before), Rung(bracket(label).words)]))
    found: str | None = None
    if label == "job title":
        found = _job(mention)
    elif label == "nationality":
        found = _people(said)
    elif label == "language":
        kind = class_of(said, "peoples")
        found = kind and with_article(f"{kind} language")
    elif label in _CONDITIONS:
        found = _counted(class_of(said, "conditions"))
    elif label == "medication":
        found = _counted(class_of(said, "drugs"))
    elif label in _ATTRIBUTES:
        found = _attribute(mention)
    return Fit(found) if found else bracket(label)


def _counted(kind: str | None) -> str | None:
    return with_article(kind) if kind and kind not in _UNCOUNTED else kind


def _attribute(mention: Mention) -> str | None:
    said = mention.said
    folded = {fold(word) for word in WORD.findall(said)}
    short = len(folded) <= _PHRASE
    if short and (kind := class_of(_FIELD.split(said)[0], "relatives", last=True)):
        return _noun(mention, kind)
    if people := _people(said):
        return people
    if _EDUCATION.search(said):
        return "[education]"
    if folded & words("religions"):
        return "[religion]"
    if mention.label != "demographic attribute" or _BE.search(mention.before):
        return None
    return _counted(class_of(said, "conditions")) or (_job(mention) if short else None)


def _people(said: str) -> str | None:
    """The people's part of the world: Eastern European, Asians."""
    named = said[:1].isupper() and is_country(said)
    of_country = (adjective_of(rung.words) for rung in rungs_of_place(said, "country")) if named else ()
    kind = class_of(said, "peoples") or next(filter(None, of_country), None)
    many = said.endswith("s") and not said.endswith("ss")
    return f"{kind}s" if kind and many else kind


def _job(mention: Mention) -> str | None:
    head = _FIELD.split(mention.said)[0]
    kinds = (
        class_of(head, "relatives", last=True),
        class_of(head, "jobs", last=True),
        class_of(mention.said, "jobs", last=True),
    )
    kind = next(filter(None, kinds), None)
    return _noun(mention, kind) if kind else None


def _noun(mention: Mention, kind: str) -> str:
    """The class as a noun phrase: plural for a plural, without an article in a title or a signature."""
    head = WORD.findall(_FIELD.split(mention.said)[0])[-1:]
    if head and _PLURAL.search(head[0]) and not _ONE.search(mention.before):
        return plural(kind)
    line_before, line_after = mention.before.rpartition("\n")[2], mention.after.partition("\n")[0]
    alone = not line_before.strip() and (not line_after.strip() or line_after.startswith(_ENDS_ITEM))
    titled = _NAME_AFTER.match(mention.after) or _LISTED.search(mention.before)
    if alone or (mention.said[0].isupper() and titled):
        return kind[0].upper() + kind[1:]
    return with_article(kind)


def plural(noun: str) -> str:
    """The plural of a class: people in finance, drivers or pilots, children."""
    head, gap, rest = noun, "", ""
    for joint in (" in ", " of ", " out "):
        if joint in head:
            head, gap, rest = noun.partition(joint)
    parts = head.split(" or ")
    if " " in parts[-1]:
        parts = [head]
    made = []
    for part in parts:
        first, _, last = part.rpartition(" ")
        made.append(f"{first} {_MANY.get(last, f'{last}s')}".strip())
    return " or ".join(made) + gap + rest
