"""Jobs, relatives, illnesses and other attributes in their sentences."""

import re

from ingest.labels import VAGUE
from ingest.ladders.amounts import rungs_of_amount
from ingest.ladders.classify import class_of
from ingest.ladders.dates import relative_of
from ingest.ladders.mentions import Choose, Fit, Mention, bracket, kind
from ingest.ladders.places import adjective_of, is_country, rungs_of_place
from ingest.ladders.rungs import with_article
from ingest.language.vocabulary import WORD, fold, plurals, words

_AMOUNTS = frozenset(
    ("monetary amount", "quantity", "duration", "dosage", "frequency", "bitcoin amount", "test result")
)
_CONDITIONS = frozenset(("diagnosis", "disease", "symptom", "allergy"))
_ATTRIBUTES = frozenset(("demographic attribute", "identifying detail", "marital status"))
_PHRASE = 4
"""Words of a phrase whose last noun says what it is about."""
_UNCOUNTED = frozenset(("cancer", "sales", "finance", "education", "technology", "farming"))
_ONE_UNIT = re.compile(r"(?i)(?<![^\W_])(?:year|month|week|day|night|hour|minute)$")
_MANY_OF = re.compile(r"(?:a few|several|many|more than [0-9]+) ")
_ARTICLE = re.compile(r"(?i)(?<![^\W_])an? $")
_PERSON_NOUN = re.compile(r"(?i)(?:er|or|ist|ian|ant|ent|ee|man|woman|person|men|people|staff)s?$")
"""The end of a last word before which another may say the job: nurse practitioner, not marine biology."""
_SUBJECT = re.compile(
    r"(?i)(?:ology|istry|physics|omics|matics|onomy|ography|studies|engineering|medicine|(?<![\w-])law)$"
)
_DESCENT = re.compile(r"(?i) (?:origin|descent|background|heritage|ancestry|extraction|nationality|roots)$")
_FAITH = re.compile(r"(?i)(?:ism|ity|islam|religion|faith|church)$")
_DEGREES = (
    r"degrees?|ph\.?d|masters?|m\.?s\.?c?|b\.?s\.?c?|m\.?b\.?a|bachelor(?:s|['’]s| of| degree)|diploma"
    r"|certificate"
)
_DEGREE = re.compile(rf"(?i)(?<![^\W_])(?:{_DEGREES})(?![^\W_])")
_EDUCATION = re.compile(
    rf"(?i)(?<![^\W_])(?:{_DEGREES}|graduat\w+|school|university|uni|college|gcses?|a-levels?|thesis|semester"
    r"|class of)(?![^\W_])"
)
_ADJECTIVE = re.compile(r"(?i)^(?:[a-z0-9]+[- ]){0,2}(?:[a-z]+(?:ic|iac|ed|al|ous|ive|less|ant|id)|bipolar)$")
"""Of one to three words: asthmatic, HIV positive."""
_POSSESSIVE = re.compile(r"['’]s? |s['’] ")
_SPELLED = re.compile(r"(?<![^\W_])(?:[A-Z] )+[A-Z](?![^\W_])")
_IS = r"(?:(?<![^\W_])(?:is|was|am|are|were|be|been)|['’](?:s|m|re))\s"
_BE = re.compile(rf"(?i){_IS}$")
_SO_BE = re.compile(
    rf"(?i){_IS}(?:(?:also|now|still|both|not) )?(?:[a-z-]+(?: [a-z-]+)? (?:and|or|but) (?:also )?)?$"
)
"""Is, is also, is autistic and."""
_SUFFERER = re.compile(
    r"(?i)(?:[a-z0-9-]+ ){0,2}(?:[a-z]+iac|[a-z]*(?:holic|betic|leptic|autistic|asthmatic|phrenic|rexic)"
    r"|[a-z]*(?:limic|lexic|plegic)|bipolar|depressive|carrier|sufferer|survivor)"
)
"""Somebody who has it: a haemophiliac, a hep B carrier."""
_SPEAKS = re.compile(
    r"(?i)(?<![^\W_])(?:speak(?:s|ing)?|spoken?|learn(?:s|ed|t|ing)?|stud(?:y|ies|ied|ying)|teach(?:es|ing)?|taught"
    r"|understands?|tackl(?:e|es|ed|ing)|fluent in|(?:write|talk|sing|pray|read|reply|answer)s? in"
    r"|translated? (?:in)?to|practi[sc](?:e|es|ing)) (?:some |a bit of |a little |in )?$"
)
_CLAUSE = re.compile(r"(?i)^[^\W_]+ (?:[^\W_]+ )?(?:is|was|were|are|has|had|will|would)(?![^\W_])")
"""A subject and its verb, of which no noun phrase says the same."""
_DOSE_BEFORE = re.compile(r"(?i)[0-9] ?(?:mg|mcg|micrograms?|g|ml|units?|tablets?|puffs?|drops?) $")
_HEDGE = re.compile(r"(?i)(?<![^\W_])(?:about|around|approximately|approx\.?|roughly|nearly|almost|circa) $")
"""What says that a number is not exact, and reads badly before words that are wider still."""
_FIELD = re.compile(r" (?:of|for|in|at|to|from|with|who|that|on|by|as) |, ")
_PLURAL = re.compile(r"(?i)[^su]s$|ees$|men$|children$|people$|wives$")
_ARTICLE_INSIDE = re.compile(r"(?i)[^\W_]\s(?:an?|the|his|her|my|our|their|and)\s[a-z]")
"""In a phrase that has a verb: owned a garage."""
_ONE = re.compile(r"(?i)(?<![^\W_])(?:an?|one)\s$")
_QUALIFIED = re.compile(
    r"(?i)(?<![^\W_])(?:former|retired|ex|senior|junior|acting|serving|current|then|late)[ -]$|['’]s $"
)
_ONE_SUCH = re.compile(r"(?i)(?<![^\W_])an?\s[a-z]+\s$")
_NAME_AFTER = re.compile(r" [A-Z][a-z.]")
_LISTED = re.compile(r"[,:/(]\s?$")
_ENDS_ITEM = (",", " -", " –", ":")
_MANY = {"person": "people", "child": "children"}


def fit_of_description(mention: Mention, choose: Choose) -> Fit:
    """The class of an attribute as a noun phrase; in brackets its kind, where it has no class."""
    label, said = mention.label, mention.said
    if label in _AMOUNTS:
        rungs = rungs_of_amount(said, mention.before)
        if rungs:
            return fit_of_length(choose(rungs), mention)
        if relative := relative_of(said):
            return Fit(relative)
        return kind(mention, label) if any(map(str.isdigit, said)) or label != "quantity" else bracket(VAGUE)
    found = _group(mention)
    return Fit(found) if found else kind(mention, label)


def _group(mention: Mention) -> str | None:
    """The class of what a mention says, in words that fit its sentence; None where it has none."""
    label, said = mention.label, mention.said
    if label in _CONDITIONS:
        return _condition(mention)
    if label in _ATTRIBUTES:
        return None if _CLAUSE.search(said) else _attribute(mention)
    if label == "language":
        group = class_of(said, "peoples")
        return group and with_article(f"{group} language")
    if label == "medication":
        found = _counted(class_of(said, "drugs"))
        return f"of {found}" if found and _DOSE_BEFORE.search(mention.before) else found
    of_label = {"job title": _job, "job area": _field, "religion": _religion, "gender": _gender}
    if label == "nationality":
        people = _people(said)
        one = people and not people.endswith("s") and not mention.modifies
        return with_article(f"{people} language") if one and _SPEAKS.search(mention.before) else people
    return of_label[label](mention) if label in of_label else None


def _condition(mention: Mention) -> str | None:
    """A group of illnesses; of an adjective, ill, or affected by one; of who has it, a person with one."""
    found = _counted(class_of(_spoken(mention.said), "conditions"))
    if _ADJECTIVE.search(mention.said) and _SO_BE.search(mention.before):
        return f"affected by {found}" if found else "ill"
    if _SUFFERER.fullmatch(mention.said) and not mention.modifies and _ONE.search(mention.before):
        return f"a person with {found or 'a medical condition'}"
    return found


def _by_head(said: str, name: str) -> str | None:
    """The class of the last cue: of relatives, and behind a possessive, only of the last word.

    A widow's car is a car, and a child protection officer no child.
    """
    if _POSSESSIVE.search(said):
        return class_of(said.split()[-1], name)
    named_by_head = name == "relatives" or (name == "jobs" and not _PERSON_NOUN.search(said))
    return class_of(said, name, last=True, head=named_by_head)


def _field(mention: Mention) -> str | None:
    group = class_of(mention.said, "jobs", last=True)
    return group if group in _UNCOUNTED else None


def _gender(mention: Mention) -> str | None:
    adjective = fold(mention.said) in ("male", "female") and mention.modifies
    named = class_of(mention.said, "relatives") is not None and not adjective
    return _noun(mention, "person") if named else None


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


def _religion(mention: Mention) -> str | None:
    """A religion, religious, or believers."""
    said = mention.said.strip()
    if not mention.takes_a_phrase and mention.modifies and mention.in_sentence:
        return "religious"
    if _FAITH.search(said):
        return with_article("religion") if mention.in_sentence else None
    if said.endswith("s") and mention.in_sentence:
        return "believers"
    if _ONE.search(mention.before):
        return "a believer"
    if not mention.modifies and _ONE_SUCH.search(mention.before):
        return "believer"
    return "religious" if _BE.search(mention.before) else None


def _counted(group: str | None) -> str | None:
    return with_article(group) if group and group not in _UNCOUNTED else group


def _attribute(mention: Mention) -> str | None:
    said = mention.said
    folded = {fold(word) for word in WORD.findall(said)}
    head = _FIELD.split(said)[0]
    short = len(WORD.findall(head)) <= _PHRASE
    if short and (group := _by_head(head, "relatives")):
        return _noun(mention, group)
    if people := _people(said):
        return people
    if short and class_of(head.rpartition(" ")[2], "jobs"):
        return _job(mention)
    if folded & words("religions") and fold(WORD.findall(said)[-1]) not in (
        "school",
        "college",
        "university",
    ):
        return _religion(mention) or "[religion]"
    if said.islower() and short and (group := class_of(head, "organizations", last=True, head=True)):
        return _noun(mention, group.lower())
    if _EDUCATION.search(said) or (said.islower() and short and _SUBJECT.search(head)):
        return _education(mention)
    if _BE.search(mention.before):
        return None
    if not _ARTICLE_INSIDE.search(said) and (group := _by_head(head, "things")):
        return _noun(mention, group)
    if class_of(_spoken(said), "conditions", last=True, head=True):
        return _condition(mention)
    return _job(mention) if short else None


def _education(mention: Mention) -> str:
    if not _EDUCATION.search(mention.said):
        return "a subject"
    if mention.modifies and mention.in_sentence and mention.said[-1].isalpha():
        return "academic"
    if _DEGREE.search(mention.said) and (mention.in_sentence or mention.determined):
        return with_article("qualification")
    return "studies" if mention.determined and not _ONE.search(mention.before) else "[education]"


def _spoken(said: str) -> str:
    """The words with letters that are spoken one by one as one word: COPD for C O P D."""
    return _SPELLED.sub(lambda match: match.group().replace(" ", ""), said)


def _people(said: str) -> str | None:
    """The people's part of the world: Eastern European, Asians, of Asian origin; of a thing with its kind."""
    if descent := _DESCENT.search(said):
        whose = _people(said[: descent.start()])
        return whose and f"{whose}{descent.group()}"
    last = said.rpartition(" ")[2]
    if last[:1].islower() and class_of(said.removesuffix(last), "peoples") and not class_of(last, "peoples"):
        whose, thing = class_of(said, "peoples"), class_of(last, "organizations") or class_of(last, "things")
        return f"{whose} {thing.lower()}" if thing else whose
    named = said[:1].isupper() and is_country(said)
    of_country = (adjective_of(rung.words) for rung in rungs_of_place(said, "country")) if named else ()
    group = class_of(said, "peoples") or next(filter(None, of_country), None)
    many = said.endswith("s") and not said.endswith("ss")
    return f"{group}s" if group and many else group


def _job(mention: Mention) -> str | None:
    head = _FIELD.split(mention.said)[0]
    groups = (_by_head(head, "relatives"), _by_head(head, "jobs"), _by_head(mention.said, "jobs"))
    group = next(filter(None, groups), None)
    return _noun(mention, group) if group else None


def _noun(mention: Mention, group: str) -> str:
    """The class as a noun phrase: plural for a plural, without an article in a title or a signature."""
    head = WORD.findall(_FIELD.split(mention.said)[0])[-1:]
    if head and _PLURAL.search(head[0]) and not _ONE.search(mention.before):
        return plural(group)
    line_before, line_after = mention.before.rpartition("\n")[2], mention.after.partition("\n")[0]
    if mention.room[0] <= 1 or _QUALIFIED.search(mention.before):
        return group
    alone = not line_before.strip() and (not line_after.strip() or line_after.startswith(_ENDS_ITEM))
    titled = _NAME_AFTER.match(mention.after) or _LISTED.search(mention.before)
    if alone or (mention.said[0].isupper() and titled):
        return group[0].upper() + group[1:]
    return _counted(group) or group


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
        made.append(f"{first} {_MANY.get(last) or ' '.join(plurals((last,))[-1])}".strip())
    return " or ".join(made) + gap + rest
