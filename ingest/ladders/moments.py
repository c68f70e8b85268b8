"""Dates, times and ages in their sentences."""

import re
from datetime import date

from ingest.ladders.ages import DECADE, OLDEST, decade_words, rungs_of_age, years_of
from ingest.ladders.amounts import rungs_of_amount
from ingest.ladders.dates import (
    WEEKDAY,
    Date,
    atoms,
    date_of,
    decade_of,
    part_of_day,
    relative_of,
    rungs_of_date,
)
from ingest.ladders.mentions import Choose, Fit, Mention, behind_the, bracket, like
from ingest.ladders.rungs import Rung

_HOUR = re.compile(r"(?i)[0-2]?[0-9](?:[:.][0-5][0-9])?\s*(?:[ap]\.?m\.?)?|noon|midnight")
_AT = re.compile(r"(?i)(?<![^\W_])at\s$")
_ON = re.compile(r"(?i)(?<![^\W_])(?:on|at)\s(?:the\s)?$")
_PREPOSITION = re.compile(r"(?i)(?<![^\W_])(?:on|in|over|during|for|since|from|by|until|the)\s(?:the\s)?$")
_PART_OF = re.compile(
    r"(?i)(?<![^\W_])(?:morning|afternoon|evening|night|day|week|weekend|month|spring|summer|autumn|fall|winter"
    r"|beginning|middle|end|start|rest|half|quarter)s? of (?:the )?$"
)
_BEFORE_PART_OF_DAY = re.compile(
    r"(?i)(?<![^\W_])(?:by|before|after|until|till|around|about|from|to|since|between|and|in)\s$"
)
_NO_ADVERB = re.compile(r"(?i)(?<![^\W_])(?:before|after|until|till|by|since|from|to|between)\s(?:the\s)?$")
_PART_BEFORE = re.compile(r"(?i)(?<![^\W_])(?P<in>(?:in|on) )?(?:the )?(?:early|mid|late)(?:-|\s)$")
_WHICH = re.compile(r"(?i)(?<![^\W_])(?P<which>last|past|next|this|coming|early|late)\s$")
_LENGTH = re.compile(r"(?i)(?<![^\W_])(?:years?|months?|weeks?|days?|hours?|minutes?)(?![^\W_])")
_A_YEAR = 364


def fit_of_date(mention: Mention, choose: Choose) -> Fit:
    """A date or a time of the day; of a range both ends."""
    said = mention.said.strip()
    if _HOUR.fullmatch(said) or (mention.label == "time" and not _LENGTH.search(said)):
        return _of_time(mention)
    parts = atoms(said)
    if parts:
        rungs = [choose(list(rungs_of_date(each))) for _, _, each in parts]
        joint = said[parts[0][1] : parts[1][0]].strip()
        words = f" {joint if joint.isalpha() else 'to'} ".join(dict.fromkeys(rungs))
        return _after_preposition(words, mention)
    if relative := relative_of(said):
        if _NO_ADVERB.search(mention.before) or mention.after.startswith(("'s", "’s")):
            return bracket("date")
        found = _PREPOSITION.search(mention.before)
        return Fit(like(relative, found.group()), len(found.group())) if found else Fit(relative)
    if WEEKDAY.fullmatch(said.strip(" ,.")):
        return _of_weekday(mention)
    found_date = date_of(said)
    if found_date is None or found_date == Date():
        if decades := decade_of(said):
            return _after_preposition(choose(decades), mention)
        length = rungs_of_amount(said, mention.before) if _LENGTH.search(said) else []
        return Fit(choose(length)) if length else bracket(mention.label)
    ladder = list(rungs_of_date(found_date))
    if mention.label == "date of birth" and found_date.year:
        oldest = found_date.year + OLDEST <= date.today().year
        ladder = ladder[-2:] if oldest else [rung for rung in ladder if rung.admits >= _A_YEAR] or ladder
    rung = choose(ladder)
    if _PART_OF.search(mention.before):
        unit = "day" if found_date.day else "month" if found_date.month else "year"
        rung = f"a {unit} in {rung}"
    return _after_preposition(rung, mention)


def _of_time(mention: Mention) -> Fit:
    part = part_of_day(mention.said)
    if part is None:
        return bracket("time")
    if at := _AT.search(mention.before):
        return Fit(like("at night" if part == "night" else f"in the {part}", at.group()), len(at.group()))
    return Fit(f"the {part}" if _BEFORE_PART_OF_DAY.search(mention.before) else part)


def _of_weekday(mention: Mention) -> Fit:
    which = _WHICH.search(mention.before)
    day = "a weekend day" if mention.said.strip().lower().startswith("s") else "a weekday"
    if which is None:
        return Fit(day)
    near = {"last": "recently", "past": "recently", "early": f"on {day}", "late": f"on {day}"}
    return Fit(like(near.get(which["which"].casefold(), "soon"), which.group()), len(which.group()))


def _after_preposition(words: str, mention: Mention) -> Fit:
    """After "on" or "at", "in"; no article before a bare month or year, and no second one."""
    if part := _PART_BEFORE.search(mention.before):
        return Fit(like(f"in {words}" if part["in"] else words, part.group()), len(part.group()))
    if on := _ON.search(mention.before):
        return Fit(like(f"in {words}", on.group()), len(on.group()))
    if mention.the and (words.startswith(("the ", "a ")) or not mention.modifies):
        return behind_the(words, mention)
    return Fit(words.removeprefix("the ") if mention.determined else words)


_OLD = re.compile(r"(?i)[- ]?(years?|yrs?|months?|weeks?|days?|y)(?:[- ]old(s?)|/?o|\.o\.?|\. ?o\.?)$")
_ONLY_LENGTH = re.compile(r"(?i)[\w -]+ (?:years|months|weeks|days)")
_IN_YEARS = re.compile(r"(?i)years|yrs|y/?o(?![^\W_])|of age")
_QUALIFIED = re.compile(r"(?i)^(?:early|mid|late)[- ]?(?:to[- ](?:mid|late)[- ])?")
_ATTRIBUTE = re.compile(r"(?i)(?<![^\W_])(?:an?|this|the|my|his|her|our|their)\s(?:[a-z]+\s)?$")
_DEFINITE = re.compile(r"(?i)(?<![^\W_])(?:the|this|that|my|our)\s$")
_SEX = re.compile(r"(?i) (?:\w+[- ])?(?P<sex>male|man|gentleman|female|woman|lady)(?![^\W_])")
_CLAUSE = re.compile(
    r"\s*(?:$|[.,;:)\n]|(?:who|with|that|which|and|in|on|at|from|is|was|has|had|here|present\w*|referred|seen|being"
    r"|admitted|complaining|came|comes)(?![^\W_]))"
)
_WOMEN = ("female", "woman", "lady")
_HIS = frozenset("he dad father son husband brother uncle man boy grandfather grandpa gentleman".split())
_HER = frozenset("she mom mum mother daughter wife sister aunt woman girl grandmother grandma lady".split())
_WHOSE = {"i": "my", "you": "your", "we": "our", "they": "their"}
_BE = re.compile(
    r"(?i)(?:(?P<who>[a-z]+)(?:['’](?:s|m|re)|\s(?:is|was|am|are|were)(?:n['’]t)?)|(?<![^\W_])(?:be|been|being))"
    r"(?: (?:now|only|just|about|already|almost|nearly))?\s$"
)
_TURNED_TO = re.compile(r"(?i)turn(?:ed|s|ing)?\s")
_TURNED = re.compile(r"(?i)(?<![^\W_])turn(?:ed|s|ing)?\s$")
_SCHOOL_AGE = 10


def fit_of_age(mention: Mention, choose: Choose) -> Fit:
    """An age, as an attribute ("a woman in her forties"), after "is" ("in his forties"), or alone."""
    said = mention.said.strip()
    if otherwise := _no_plain_age(said, mention, choose):
        return otherwise
    age = years_of(_OLD.sub(r" \1", said))
    if age is None:
        return bracket(mention.label)
    band, decade, old = choose(rungs_of_age(age)), decade_words(age), _OLD.search(said)
    if band.startswith("["):
        return Fit(band)
    in_decade = decade is not None and band.endswith("9")
    if old and ("-" in said or _ATTRIBUTE.search(mention.before)):
        return _attribute(mention, age, band, decade if in_decade else None, old.group(2) or "")
    after_be = _BE.search(mention.before) is not None
    whose = _possessive(mention.before)
    if whose and in_decade and not old:
        return Fit(f"in {whose} {decade}")
    if decade and in_decade and _TURNED.search(mention.before):
        return Fit(f"{decade[:-3]}y-something")
    if said.lower().startswith("age"):
        return Fit(f"{'aged' if said.lower().startswith('aged') else 'age'} {band}")
    if old or _IN_YEARS.search(said):
        between = f"between {band.replace(' to ', ' and ')}" if after_be and " to " in band else band
        return Fit(f"{between} years old")
    return Fit(band)


def _no_plain_age(said: str, mention: Mention, choose: Choose) -> Fit | None:
    """A decade of life, a birthday, or a length of time that was taken for an age."""
    if turned := _TURNED_TO.match(said):
        age = years_of(said[turned.end() :])
        decade = decade_words(age) if age else None
        return Fit(f"{turned.group()}{decade[:-3]}y-something") if decade else bracket(mention.label)
    if DECADE.fullmatch(said):
        return Fit(choose([Rung(_QUALIFIED.sub("", said), 10), Rung(bracket(mention.label).words)]))
    if _ONLY_LENGTH.fullmatch(said) and mention.modifies:
        length = rungs_of_amount(said, mention.before)
        return Fit(choose(length)) if length else bracket("duration")
    return None


def _attribute(mention: Mention, age: int, band: str, decade: str | None, plural: str) -> Fit:
    sex = _SEX.match(mention.after)
    if sex and decade and _CLAUSE.match(mention.after, sex.end()) and sex.end() <= mention.room[1]:
        who = "woman in her" if sex["sex"].lower() in _WOMEN else "man in his"
        article = "" if _DEFINITE.search(mention.before) else "a "
        return Fit(f"{article}{who} {decade}", right=sex.end())
    if not _SCHOOL_AGE <= age < OLDEST:
        return Fit("young" if age < OLDEST else "very old")
    return Fit(f"{band.replace(' ', '-')}-year-old{plural}")


def _possessive(before: str) -> str | None:
    """My, your, his, her, our or their, of the word before the verb; None where it does not say whose."""
    be = _BE.search(before)
    who = (be["who"] or "").casefold() if be else ""
    return _WHOSE.get(who) or ("his" if who in _HIS else "her" if who in _HER else None)
