"""Jobs, relatives, illnesses, amounts and other descriptions in their sentences."""

import re
from dataclasses import replace

from ingest.labels import VAGUE
from ingest.wording.amounts import rungs_of_amount
from ingest.wording.dates import relative_of
from ingest.wording.mentions import PHRASES, Choose, Fit, Mention, bracket, kind
from ingest.wording.places import adjective_of, is_country, people_of, rungs_of_place
from ingest.wording.rungs import with_article
from ingest.wording.sentence import Words, fit, plural, words_from
from ingest.wording.sorts import Known, known_of

_AMOUNTS = frozenset(("monetary amount", "quantity", "duration", "dosage", "frequency", "bitcoin amount"))
_OF_PEOPLE = frozenset(("nationality", "language", "demographic attribute"))
_PLAIN = {
    **{label: words_from(PHRASES[label]) for label in ("symptom", "medication", "medical test", "procedure")},
    **dict.fromkeys(
        ("diagnosis", "disease"), replace(words_from(PHRASES["disease"]), verb="have a medical condition")
    ),
    **{"job title": Words("", verb="work"), "religion": Words("", adjective="religious")},
}
"""The words of labels that are true of whatever has them."""
_ONE_UNIT = re.compile(r"(?i)(?<![^\W_])(?:year|month|week|day|night|hour|minute)$")
_MANY_OF = re.compile(r"(?:a few|several|many|more than [0-9]+) ")
_ARTICLE = re.compile(r"(?i)(?<![^\W_])an? $")
_DESCENT = re.compile(r"(?i) (?:origin|descent|background|heritage|ancestry|extraction|nationality|roots)$")
_SPEAKS = re.compile(
    r"(?i)(?<![^\W_])(?:speak(?:s|ing)?|spoken?|learn(?:s|ed|t|ing)?|stud(?:y|ies|ied|ying)|teach(?:es|ing)?|taught"
    r"|understands?|tackl(?:e|es|ed|ing)|fluent in|(?:write|talk|sing|pray|read|reply|answer)s? in"
    r"|translated? (?:in)?to|practi[sc](?:e|es|ing)) (?:only |some |a bit of |a little |me |us |in )?$"
)
_SINCE = re.compile(r"(?i)(?:ever )?(?:since|for)(?![^\W_])")
_HEDGE = re.compile(
    r"(?i)(?<![^\W_])(?:about|around|approximately|approx\.?|roughly|nearly|almost|circa"
    r"|(?:just|a little|a bit|slightly|a shade) (?:over|above|under|below|more than|less than)) $"
)
"""What says that a number is not exact, and reads badly before words that are wider still."""


def fit_of_description(mention: Mention, choose: Choose) -> Fit:
    """Words that are true of what an item is; in brackets its kind, where none are sure or none fit."""
    if mention.label in _AMOUNTS:
        return _of_amount(mention, choose)
    if mention.label == "gender" and mention.modifies:
        return bracket(mention.label)
    known = known_of(mention)
    if mention.label in _OF_PEOPLE and (area := _people(mention.said)):
        return _of_people(area, mention, known)
    plain = _PLAIN.get(mention.label)
    words = known.words or plain
    if words and plain and not words.verb:
        words = replace(words, verb=plain.verb)
    found = fit(mention, words or Words(""), known.forms)
    return found if words or found != bracket(mention.label) else kind(mention, mention.label)


def _of_amount(mention: Mention, choose: Choose) -> Fit:
    rungs = rungs_of_amount(mention.said, mention.before)
    if rungs:
        return fit_of_length(choose(rungs), mention)
    if relative := relative_of(mention.said):
        return Fit(relative)
    if mention.label == "duration" and _SINCE.match(mention.said):
        return Fit("for some time")
    figures = any(map(str.isdigit, mention.said)) or mention.label != "quantity"
    return kind(mention, mention.label) if figures else bracket(VAGUE)


def fit_of_length(words: str, mention: Mention) -> Fit:
    """An amount, which before a noun is a possessive: a few years' history, a more-than-20-year career."""
    unit = _ONE_UNIT.search(words)
    if unit is None or not _MANY_OF.match(words):
        hedged = _HEDGE.search(mention.before)
        return Fit(words, len(hedged.group()) if hedged else 0)
    if words.startswith("more"):
        return Fit(words.replace(" ", "-"))
    article = _ARTICLE.search(mention.before) if not words.startswith("a ") else None
    return Fit(f"{words}s'", len(article.group()) if article else 0)


def _of_people(area: str, mention: Mention, known: Known) -> Fit:
    """A part of the world, of somebody or of a language."""
    descent = _DESCENT.search(mention.said)
    if descent:
        return Fit(f"{area}{descent.group()}")
    many = mention.said.endswith("s")
    spoken = mention.label == "language" or (mention.label != "nationality" and known.sort == "language")
    if spoken or (_SPEAKS.search(mention.before) and not mention.modifies and not many):
        noun = f"{area} language"
        return fit(mention, Words(with_article(noun), plural(noun), noun), known.forms)
    return Fit(f"{area}s" if many and not mention.modifies else area)


def _people(said: str) -> str | None:
    """The adjective of a people's part of the world: Eastern European; None for what names no people."""
    descent = _DESCENT.search(said)
    named = said[: descent.start()] if descent else said
    if len(named.split()) > 2:
        return None
    of_country = (
        (adjective_of(rung.words) for rung in rungs_of_place(named, "country")) if is_country(named) else ()
    )
    return people_of(named) or next(filter(None, of_country), None)
