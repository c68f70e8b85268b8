"""Dates, times and ages in their sentences."""

import re
from dataclasses import replace
from datetime import date

from ingest.detection.patterns.words import MONTHS
from ingest.wording.ages import DECADE, OLDEST, WITH_SEX, decade_words, rungs_of_age, years_of
from ingest.wording.amounts import rungs_of_amount
from ingest.wording.dates import (
    WEEKDAY,
    Date,
    atoms,
    date_of,
    decade_of,
    has_clock,
    part_of_day,
    relative_of,
    rungs_of_date,
)
from ingest.wording.descriptions import fit_of_length
from ingest.wording.mentions import PHRASES, Choose, Fit, Mention, bracket, kind, like
from ingest.wording.numerals import VALUES
from ingest.wording.rungs import Rung
from ingest.wording.sentence import PART_BEFORE, after_preposition

_WEEKDAY_BEFORE = re.compile(rf"{WEEKDAY.pattern},? $")
_HAS_DAY = re.compile(rf"(?i)[0-3]?[0-9](?:[./-][0-9]|(?:st|nd|rd|th)? (?:of )?(?:{MONTHS}))")
_ABOUT = re.compile(r"(?i)(?<![^\W_])(?:about|around|approximately|approx\.?|roughly) $")
_RELATIVE_YEAR = re.compile(r"(?i)(?P<which>last|next) year")
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
_NO_ADVERB = re.compile(
    r"(?i)(?<![^\W_])(?:of|before|after|until|till|by|since|from|to|between)\s(?:the\s)?$"
)
_WEEK_OF = re.compile(r"(?i)(?<![^\W_])(?P<unit>week|weekend) of (?:the )?$")
_WHICH = re.compile(r"(?i)(?<![^\W_])(?P<which>last|past|next|this|coming|early|late)\s$")
_WHICH_MONTH = re.compile(
    r"(?i)(?<![^\W_])(?P<since>since )?(?:in )?(?:this )?(?P<which>last|past|next|coming|following)\s$"
)
_NUMBERED = re.compile(r"(?i)(?P<unit>week|month|day|quarter|year) [0-9]{1,3}")
_UNIT_OF = re.compile(r"(?i)(?:the )?(?P<unit>weekend|week|month|day) of .+")
_SAID_ON = re.compile(r"(?i)(?:in|on|at|by|during|around) ")
_NTH = re.compile(
    r"(?i)(?:the )?(?:[0-3]?[0-9](?:st|nd|rd|th)|first|second|third|(?:twenty[- ])?[a-z]{2,6}(?:th|st))"
    r"(?: (?P<unit>day|week|month|year))?"
)
_LENGTH = re.compile(
    rf"(?i)(?:[0-9]|(?<![^\W_])(?:{'|'.join(VALUES)}|half|few|several|many|some|couple of))[ -]?(?:[a-z]+ )?"
    r"(?:year|month|week|day|night|hour|hr|minute|min)s?(?![^\W_])"
)
_TEMPORAL = re.compile(
    r"(?i)[0-9]|day|week|month|year|morning|noon|evening|night|spring|summer|autumn|winter|christmas|easter|o'clock"
)
_SOME = re.compile(r"(?i)[a-z0-9]+ [a-z]{3,}s")
"""Six sessions."""
_YEARS = re.compile(r"(?:1[5-9]|20)[0-9]{2}(?:(?:, and |, | and )(?:1[5-9]|20)[0-9]{2})+")
_SAID_IN = re.compile(r"(?i)(?:back |later |earlier |early |late )?in ")
_ZONE_AFTER = re.compile(r" (?:local )?time(?![^\W_])")
OF_WEEK = re.compile(rf"{WEEKDAY.pattern}(?:,? (?P<part>morning|afternoon|evening|night))?")
"""A day of the week, and the part of it."""
_HOLDS = re.compile(
    r"(?i)(?<![^\W_])(?:on|by|until|till?|since|from|to|through|before|after|for|of|at|in|than|and|or|between|is|was|be"
    r"|every|each|any|no|next|last|this|that|the|an?|my|his|her|our|their|your|per|most|all|both)\s$"
)
_WORD_BEFORE = re.compile(r"[a-z] $")
_OPENS = re.compile(r"(?:^|[.!?\n])\s*$")
_CLAUSE_AFTER = re.compile(r"(?i),? (?:i|we|he|she|it|they|you|the|there)(?:['’ ])")
_A_YEAR = 364


def fit_of_date(mention: Mention, choose: Choose) -> Fit:
    """A date or a time of the day; of a range both ends."""
    said = mention.said.strip()
    if birthday := _BIRTHDAY.search(said):
        return _of_birthday(birthday.group(), mention)
    weekday = _WEEKDAY_BEFORE.search(mention.before)
    if weekday and _HAS_DAY.match(said) and len(weekday.group()) <= mention.room[0]:
        fit = fit_of_date(replace(mention, before=mention.before[: weekday.start()]), choose)
        return replace(fit, left=fit.left + len(weekday.group()))
    if _HOUR.fullmatch(said) or (mention.label == "time" and not _LENGTH.search(said)):
        return _of_time(mention)
    parts = atoms(said)
    if parts:
        rungs = [choose(list(rungs_of_date(each))) for _, _, each in parts]
        joint = said[parts[0][1] : parts[1][0]].strip()
        words = f" {joint if joint.isalpha() else 'to'} ".join(dict.fromkeys(rungs))
        return after_preposition(words, mention)
    if _YEARS.fullmatch(said):
        years = sorted(map(int, re.findall("[0-9]+", said)))
        ends = [choose(list(rungs_of_date(Date(year)))) for year in (years[0], years[-1])]
        return after_preposition(" to ".join(dict.fromkeys(ends)), mention)
    if relative := relative_of(said):
        return _of_relative(relative, mention)
    if day := OF_WEEK.fullmatch(said.strip(" ,.")):
        return _of_weekday(mention, f" {day['part'].casefold()}" if day["part"] else "")
    found_date = date_of(said)
    if found_date is None or found_date == Date():
        return _of_no_date(said, mention, choose)
    return _of_date(found_date, mention, choose)


def _of_birthday(words: str, mention: Mention) -> Fit:
    return Fit(words if mention.determined else f"a {words}")


def _of_date(found_date: Date, mention: Mention, choose: Choose) -> Fit:
    ladder = list(rungs_of_date(found_date))
    if mention.label == "date of birth" and found_date.year:
        oldest = found_date.year + OLDEST <= date.today().year
        ladder = ladder[-2:] if oldest else [rung for rung in ladder if rung.admits >= _A_YEAR] or ladder
    rung = choose(ladder)
    if rung.startswith("["):
        return _of_month(rung, mention)
    if _SAID_IN.match(mention.said):
        return Fit(f"in {rung}")
    if week := _WEEK_OF.search(mention.before):
        return Fit(f"{week['unit']} in {rung}", len(week.group()))
    if _PART_OF.search(mention.before):
        unit = "day" if found_date.day else "month" if found_date.month else "year"
        if mention.before.endswith(f"{unit} of "):
            return Fit(f"{unit} in {rung}", len(f"{unit} of "))
        rung = f"a {unit} in {rung}"
    return after_preposition(rung, mention)


def _of_relative(relative: str, mention: Mention) -> Fit:
    if _NO_ADVERB.search(mention.before) or mention.after.startswith(("'s", "’s")):
        if year := _RELATIVE_YEAR.fullmatch(mention.said):
            return Fit("an earlier year" if year["which"].casefold() == "last" else "a later year")
        return kind(mention, "date")
    found = _PREPOSITION.search(mention.before)
    return Fit(like(relative, found.group()), len(found.group())) if found else Fit(relative)


def _of_no_date(said: str, mention: Mention, choose: Choose) -> Fit:
    """A decade, a time with a zone, the 14th, week 31, or a length of time that was taken for a date."""
    if decades := decade_of(said):
        return after_preposition(choose(decades), mention)
    if has_clock(said):
        return _of_time(mention)
    unit = _NUMBERED.fullmatch(said) or _NTH.fullmatch(said) or _UNIT_OF.fullmatch(said)
    if unit:
        named = unit["unit"] or "day"
        fit = kind(mention, "month" if named == "month" else "date")
        return replace(fit, words=fit.words.replace("day", named.casefold()))
    length = rungs_of_amount(said, mention.before) if _LENGTH.search(said) or _SOME.fullmatch(said) else []
    if length:
        return fit_of_length(choose(length), mention)
    if mention.label == "date" and _LENGTH.search(said):
        return kind(mention, "duration")
    fit = kind(mention, mention.label) if _TEMPORAL.search(said) else bracket(mention.label)
    return (
        replace(fit, words=f"on {fit.words}")
        if fit.words == PHRASES["date"] and _SAID_ON.match(said)
        else fit
    )


def _of_month(rung: str, mention: Mention) -> Fit:
    """A month alone: "in a certain month", "some time ago" for last May."""
    if which := _WHICH_MONTH.search(mention.before):
        near = "later" if which["which"].casefold() in ("next", "coming", "following") else "some time ago"
        words = "for some time" if which["since"] else near
        return Fit(like(words, which.group()), len(which.group()))
    part = PART_BEFORE.search(mention.before)
    if _SAID_IN.match(mention.said):
        return Fit("in a certain month")
    phrase = part is not None or _ON.search(mention.before) or mention.takes_a_phrase
    return after_preposition("a certain month" if phrase else rung, mention)


def _of_time(mention: Mention) -> Fit:
    part = part_of_day(mention.said)
    zone = _ZONE_AFTER.match(mention.after)
    right = zone.end() if zone else 0
    if part is None:
        return replace(kind(mention, "time"), right=right)
    hedged = _ABOUT.search(mention.before)
    if hedged:
        mention = replace(mention, before=mention.before[: hedged.start()])
    hedge = len(hedged.group()) if hedged else 0
    if at := _AT.search(mention.before):
        words = like("at night" if part == "night" else f"in the {part}", at.group())
        return Fit(words, len(at.group()) + hedge, right)
    if hedged:
        return Fit(f"in the {part}" if part != "night" else "at night", hedge, right)
    return Fit(f"the {part}" if _BEFORE_PART_OF_DAY.search(mention.before) else part, right=right)


def _of_weekday(mention: Mention, part: str) -> Fit:
    which = _WHICH.search(mention.before)
    day = "weekend" if mention.said.lstrip().lower().startswith("s") else "weekday"
    day = f"{day}{part}" if part or day == "weekday" else f"{day} day"
    if mention.said.strip(" ,.").lower().endswith("days"):
        return Fit(f"{day}s")
    if which is None:
        owns = mention.after.startswith(("'s", "’s"))
        bare = _WORD_BEFORE.search(mention.before) and not _HOLDS.search(mention.before) and not owns
        opens = _OPENS.search(mention.before) and _CLAUSE_AFTER.match(mention.after)
        return Fit(f"on a {day}" if bare or opens else f"a {day}")
    near = {"last": "recently", "past": "recently", "early": f"on a {day}", "late": f"on a {day}"}
    return Fit(like(near.get(which["which"].casefold(), "soon"), which.group()), len(which.group()))


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
_BIRTHDAY = re.compile(r"(?i)birthday(?: party)?$")
_ORDINAL = re.compile(
    r"(?i)[1-9]?[0-9](?:st|nd|rd|th)|[a-z]+(?:ie|teen|elf|nin)th|[a-z]+y-[a-z]+(?:st|nd|rd|th)"
)
_SCHOOL_AGE = 10
_AGE_WORDS = re.compile(r"(?i)aged|age(?: of)?")
_BELOW = re.compile(r"(?i)(?<![^\W_])(?:under|below|(?:less|younger) than|up to)(?: the age of)?\s$")
_ABOVE = re.compile(r"(?i)(?<![^\W_])(?:over|above|past|(?:more|older) than|at least)(?: the age of)?\s$")
_TWO_AGES = re.compile(r"(?i)([a-z0-9]+)(?: or | to | and | ?[-–] ?)([a-z0-9]+)")


def fit_of_age(mention: Mention, choose: Choose) -> Fit:
    """An age, as an attribute ("a woman in her forties"), after "is" ("in his forties"), or alone."""
    said = mention.said.strip()
    if otherwise := _no_plain_age(said, mention, choose):
        return otherwise
    age = _age_of(said)
    if age is None:
        return kind(mention, mention.label)
    band, decade, old = choose(rungs_of_age(age)), decade_words(age), _OLD.search(said)
    if band.startswith("["):
        return Fit(band)
    if bound := _bound(age, mention.before):
        return Fit(f"{bound} years old" if old else bound)
    in_decade = decade is not None and band.endswith("9")
    if old and ("-" in said or _ATTRIBUTE.search(mention.before)):
        return _attribute(mention, age, band, decade if in_decade else None, old.group(2) or "")
    after_be = _BE.search(mention.before) is not None
    whose = _possessive(mention.before)
    if whose and in_decade and not old:
        return Fit(f"in {whose} {decade}")
    if decade and in_decade and _TURNED.search(mention.before):
        return Fit(f"{decade[:-3]}y-something")
    if named := _AGE_WORDS.match(said):
        return Fit(f"{named.group().lower()} {band}")
    if age < _SCHOOL_AGE and (old or after_be):
        return Fit("a young child")
    between = f"between {band.replace(' to ', ' and ')}" if after_be and " to " in band else band
    return Fit(f"{between} years old" if old or _IN_YEARS.search(said) else between)


def _age_of(said: str) -> int | None:
    """The age in years; of two in one decade the first, "6 or 7 years old"."""
    plain = _OLD.sub(r" \1", said)
    age, two = years_of(plain), _TWO_AGES.match(plain)
    if age is None and two:
        first, second = years_of(two[1]), years_of(two[2])
        same = first is not None and second is not None and first // 10 == second // 10
        return first if same else None
    return age


def _bound(age: int, before: str) -> str | None:
    """The ten years beyond an age that "over" or "under" stands before, never the age itself."""
    if _BELOW.search(before):
        return str(age // 10 * 10 + 10)
    return str((age - 1) // 10 * 10) if _ABOVE.search(before) and age > 10 else None


def _no_plain_age(said: str, mention: Mention, choose: Choose) -> Fit | None:
    """A decade of life, a birthday, or a length of time that was taken for an age."""
    if birthday := _BIRTHDAY.search(said):
        return _of_birthday(birthday.group(), mention)
    if _ORDINAL.fullmatch(said) and mention.determined and not mention.modifies:
        return Fit("birthday")
    if turned := _TURNED_TO.match(said):
        age = years_of(said[turned.end() :])
        decade = decade_words(age) if age else None
        return Fit(f"{turned.group()}{decade[:-3]}y-something") if decade else kind(mention, mention.label)
    if WITH_SEX.match(said) and _ATTRIBUTE.search(mention.before):
        decade = decade_words(years_of(said) or 0)
        who = "woman in her" if "f" in said.lower() else "man in his"
        return Fit(f"{who} {decade}") if decade else bracket(mention.label)
    if DECADE.fullmatch(said):
        return Fit(choose([Rung(_QUALIFIED.sub("", said), 10), Rung(bracket(mention.label).words)]))
    if _ONLY_LENGTH.fullmatch(said) and (mention.modifies or mention.determined):
        length = rungs_of_amount(said, mention.before)
        return fit_of_length(choose(length), mention) if length else kind(mention, "duration")
    return None


def _attribute(mention: Mention, age: int, band: str, decade: str | None, plural: str) -> Fit:
    sex = _SEX.match(mention.after)
    if sex and decade and _CLAUSE.match(mention.after, sex.end()) and sex.end() <= mention.room[1]:
        who = "woman in her" if sex["sex"].lower() in _WOMEN else "man in his"
        article = "" if _DEFINITE.search(mention.before) else "a "
        return Fit(f"{article}{who} {decade}", right=sex.end())
    if not _SCHOOL_AGE <= age < OLDEST:
        word = "young" if age < OLDEST else "very old"
        return Fit(word if mention.modifies else f"{word} {'child' if age < OLDEST else 'person'}")
    return Fit(f"{band.replace(' ', '-')}-year-old{plural}")


def _possessive(before: str) -> str | None:
    """My, your, his, her, our or their, of the word before the verb; None where it does not say whose."""
    be = _BE.search(before)
    who = (be["who"] or "").casefold() if be else ""
    return _WHOSE.get(who) or ("his" if who in _HIS else "her" if who in _HER else None)
