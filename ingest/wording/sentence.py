"""The form that words take in a sentence: article, number, verb, and what around them changes along."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ingest.labels import PERSON
from ingest.language.vocabulary import plurals
from ingest.wording.mentions import SITUATION, Fit, Mention, behind_the, bracket, like
from ingest.wording.rungs import with_article

Forms = Mapping[str, float]
"""The probability of each form that may stand in an item's place (``models.wording.FORMS``)."""
LIKELY = 0.5
CERTAIN = 0.8
"""The probability from which what does not look like a plural is one, and from which an item is a verb."""
BARE = 0.2
"""How much likelier words without an article have to be where the sentence does not decide."""
_VERBAL = ("do", "does", "did", "doing", "done")
_OWN = re.compile(r"(?i)^(?:an?|one|his|her|my|our|their|your|its|(?P<the>the)|this|that)\s")
_NO_ADJECTIVE = (
    r"to|in|of|at|on|by|for|from|with|and|or|as|is|was|are|were|has|had|than|that|who|he|she|it|we|they|i|his|her"
    r"|but|not|will|would|when|where|which|if|so|an?|the|this|these|those|my|our|your|their|its"
)
_ADJECTIVES = rf"(?:(?!(?:{_NO_ADJECTIVE})\s)[a-z0-9]+(?:-[a-z0-9]+)*\s){{0,2}}"
_SINGLE = r"many an?|what an?|such an?|an?|one|another|each|every|any|no|neither|either|this|that|what"
_PLURAL = (
    r"[0-9]+(?:[.,][0-9]+)*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|both|several|many|few|these|those"
    r"|most|dozens? of|couple of|half a dozen|number of"
)
_COUNT = (
    r"(?:(?:one|two|three|most|many|some|any|both|each|none|several|few) )?of"
    r" (?:the|these|those|my|his|her|our|their)"
)
_WHOSE = r"my|your|his|her|its|our|their|whose|[\w.-]+['’]s|[\w.-]+s['’]"
_DETERMINED = re.compile(
    rf"(?i)(?<![^\W_])(?:(?P<count>{_COUNT})|(?P<single>{_SINGLE})|(?P<plural>{_PLURAL})|(?P<the>the)|some"
    rf"|(?P<whose>{_WHOSE}))\s(?P<between>{_ADJECTIVES})$"
)
_DESCRIBES = re.compile(
    r"(?i)(?<![^\W_-])(?P<word>severe|mild|moderate|acute|chronic|bad|early|late|advanced|terminal|suspected|possible"
    r"|[a-z]+(?:ous|ive|ic|al))\s$"
)
_GREETS = re.compile(
    r"(?i)(?<![^\W_])(?:dear|hello|hi|hey|thanks|thank you|happy [a-z]+|good [a-z]+|sorry|yes|no|please),?\s$"
)
_COUNTED = frozenset(("job title", "demographic attribute", "nationality", "religion", "organization"))
"""Labels of what can be counted, so that a plural is one."""
_ENDS = re.compile(r"$|\s*\n|\s+[\"“(]?[A-Z]")
_OWNS = re.compile(r"['’]s(?![^\W_])|['’](?= [a-z])")
PART_BEFORE = re.compile(r"(?i)(?<![^\W_])(?P<in>(?:in|on) )?(?:the )?(?:early|mid|late)(?:-|\s)$")
_BORN = re.compile(
    r"(?i)(?<![^\W_])(?:born|me|again|him|them|us|it|off|out|back|held|met|died|here|there|home) $"
)
"""Words behind which a month needs "in"."""
_ON = re.compile(r"(?i)(?<![^\W_])(?:on|at)\s(?:the\s)?$")
_DOSE_BEFORE = re.compile(r"(?i)[0-9] ?(?:mg|mcg|micrograms?|g|ml|units?|tablets?|puffs?|drops?) $")
_SUFFERS = re.compile(
    r"(?:(?<![^\W_])(?:[Hh]e|[Ss]he|I|[Yy]ou|[Tt]hey|[Ww]e|who|[A-Z][a-z]+|[A-Z])"
    r"\s(?:is|was|am|are|were)|(?<![^\W_])(?:has|have|had) been|['’](?:(?P<owns>s)|m|re))"
    r"(?: (?:also|now|still|both))?\s(?P<article>an?\s)?$"
)
_ARTICLE_BEFORE = re.compile(r"(?i)(?<![^\W_])(?:the|an?) $")
_LETTERED = re.compile(r"(?:^| )[A-Z]{1,2}$")
_SEVERAL = re.compile(r"(?i)(?:[^siu]s|ees|ies|men|children|people|wives)$")
CONDITIONS = frozenset(("diagnosis", "disease", "symptom", "allergy"))
MOMENTS = frozenset(("date", "date of birth", "time"))
AREAS = frozenset(("place", "city name", "county", "state or province", "country"))
_IRREGULAR = {"person": "people", "child": "children", "wife": "wives", "staff": "staff"}


@dataclass(frozen=True, slots=True)
class Words:
    """Words for a thing: one of it with its article, several, and without an article; a verb, an adjective.

    What is empty is not sayable in that form.
    """

    one: str
    many: str = ""
    bare: str = ""
    verb: str = ""
    adjective: str = ""
    person: bool = False
    """Whether the noun is somebody, who can be it: she is a nurse, not she is an illness."""
    named: bool = False
    """Whether it is a name, or a kind in brackets, which no form changes."""


def words_from(phrase: str) -> Words:
    """The forms of a noun phrase in its dictionary form: "a nurse", "somebody in law", "medication"."""
    article, _, noun = phrase.partition(" ")
    if phrase[0] in "[0123456789" or _LETTERED.search(phrase):
        return Words(phrase, named=True)
    if article in ("a", "an"):
        return Words(phrase, plural(noun), noun)
    if article == "somebody":
        return Words(phrase, f"people {noun}")
    return Words(phrase, phrase, phrase)


def plural(noun: str) -> str:
    """The plural of a noun phrase: people in finance, members of staff, children."""
    found = re.match(r"(.*?)( (?:in|of|out|from|with|for|at|on|to) .*|)$", noun)
    head, rest = (found[1], found[2]) if found else (noun, "")
    first, _, last = head.rpartition(" ")
    several = _IRREGULAR.get(last)
    if several is None:
        several = f"{last[:-3]}men" if last.endswith("man") else " ".join(plurals((last,))[-1])
    return f"{first} {several}".strip() + rest


def fit(mention: Mention, words: Words, forms: Forms) -> Fit:
    """The words in the form that the sentence takes; the kind in brackets where it takes none of them.

    ``forms`` says what probably fits; what stands right before and behind decides where it is plain. A name,
    or a kind in brackets, has no forms.
    """
    if words.named:
        return _name(mention, words)
    found = _form(mention, words, forms)
    return replace(found, words=_capitals(mention, found.words))


def after_preposition(words: str, mention: Mention) -> Fit:
    """After "on" or "at", "in"; no article before a bare month or year, and no second one."""
    if part := PART_BEFORE.search(mention.before):
        return Fit(like(f"in {words}" if part["in"] else words, part.group()), len(part.group()))
    on = _ON.search(mention.before) if not mention.after.startswith(("'s", "’s")) else None
    if on:
        return Fit(like(f"in {words}", on.group()), len(on.group()))
    if _BORN.search(mention.before) and not mention.modifies:
        return Fit(f"in {words}")
    if mention.the and (words.startswith(("the ", "a ")) or not mention.modifies):
        return behind_the(words, mention)
    return Fit(words.removeprefix("the ") if mention.determined else words)


def _name(mention: Mention, words: Words) -> Fit:
    """Person A, without the article of the name, which another noun behind it would keep."""
    article = _ARTICLE_BEFORE.search(mention.before)
    if words.one.startswith("[") or mention.modifies or article is None or len(article[0]) > mention.room[0]:
        return Fit(words.one)
    return Fit(words.one, len(article[0]))


def edges(mention: Mention, found: Fit) -> Fit:
    """With the full stop that ended both the item and its sentence, and an apostrophe that fits the words.

    A word that stood before and begins the words too stands once.
    """
    words, right = found.words, found.right
    first = words.partition(" ")[0]
    before = mention.before[: len(mention.before) - found.left]
    if first.isalpha() and before.lower().endswith(f" {first.lower()} "):
        found = replace(found, left=found.left + len(first) + 1)
    behind = mention.after[right:]
    if mention.said.endswith(".") and not words.endswith(".") and _ENDS.match(behind):
        words += "."
    owns = None if mention.before.endswith(("'", "‘")) or words.startswith("[") else _OWNS.match(behind)
    if owns and len(owns[0]) <= mention.room[1] - right:
        several = words.endswith("s") and not words.endswith("ss")
        words, right = words + ("'" if several else "'s"), right + len(owns[0])
    return replace(found, words=words, right=right)


def _capitals(mention: Mention, words: str) -> str:
    """The words in capitals where the line has nothing else."""
    line = mention.before.rpartition("\n")[2] + mention.after.partition("\n")[0]
    around = [char for char in line if char.isalpha()]
    loud = len(around) > 3 and mention.said.isupper() and all(map(str.isupper, around))
    return words.upper() if loud and "[" not in words else words


def _form(mention: Mention, words: Words, forms: Forms) -> Fit:
    verb = _verb_form(mention, forms)
    if verb == "clause":
        return Fit("something happened")
    if verb:
        return Fit(inflected(words.verb or _any_verb(mention.said), verb))
    suffers = _SUFFERS.search(mention.before) if mention.label in CONDITIONS else None
    # "Ann's" may be "Ann is", or say whose it is.
    owned = suffers is not None and suffers["owns"] and forms.get("is", 0.0) < LIKELY
    if suffers and not owned and len(suffers["article"] or "") <= mention.room[0]:
        return Fit(f"affected by {words.one or 'a health problem'}", len(suffers["article"] or ""))
    if mention.label == "medication" and _DOSE_BEFORE.search(mention.before) and words.one:
        return Fit(f"of {words.one}")
    own = _OWN.match(mention.said)
    several = _is_plural(mention, forms)
    if own:
        if own["the"] and words.bare != words.one and words.bare and mention.label not in AREAS:
            return Fit(f"the {words.many if several else words.bare}")
        return _said(words.many if several else words.one, mention)
    determined = _DETERMINED.search(mention.before)
    return (
        _determined(mention, words, several, determined)
        if determined
        else _alone(mention, words, several, forms)
    )


def _said(words: str, mention: Mention) -> Fit:
    """The words; the kind in brackets where there are none in that form."""
    return Fit(words) if words else bracket(mention.label)


def _alone(mention: Mention, words: Words, several: bool, forms: Forms) -> Fit:
    """The words where no article or the like stands before them."""
    if _GREETS.search(mention.before) and words.one != words.bare:
        return bracket(mention.label)
    if several:
        return _said(words.many, mention)
    if mention.modifies:
        return _said("" if _names_an_area(words) else words.adjective or words.bare, mention)
    nouns = max((forms.get(form, 0.0) for form in ("one", "bare", "many")), default=0.0)
    if words.adjective and forms.get("is", 0.0) > nouns:
        return Fit(words.adjective)
    if forms.get("is", 0.0) > LIKELY and not words.one:
        return Fit(SITUATION)
    if (described := _DESCRIBES.search(mention.before)) and words.one != words.bare:
        room = len(described.group()) <= mention.room[0]
        whole = like(with_article(f"{described['word'].lower()} {words.bare}"), described["word"])
        return Fit(whole, len(described.group())) if room and words.bare else _said(words.bare, mention)
    likely = forms.get("bare", 0.0) > forms.get("one", 1.0) + BARE
    bare = likely and (words.person or not mention.in_sentence)
    return _said(words.bare if bare and words.bare else words.one, mention)


def is_verbal(forms: Forms) -> bool:
    """Whether an item is probably a verb phrase or a clause."""
    return sum(forms.get(form, 0.0) for form in (*_VERBAL, "clause")) > CERTAIN


def _verb_form(mention: Mention, forms: Forms) -> str | None:
    """The form of the verb that an item begins with, "clause" for what no words replace; None for no verb."""
    verbal = {form: forms.get(form, 0.0) for form in _VERBAL}
    clause = forms.get("clause", 0.0)
    determined = _DETERMINED.search(mention.before)
    if not is_verbal(forms) or (determined and not determined["between"]):
        return None
    return max(verbal, key=lambda form: verbal[form]) if sum(verbal.values()) > clause else "clause"


def _determined(mention: Mention, words: Words, several: bool, found: re.Match[str]) -> Fit:
    """The words behind an article, a number, or whose they are."""
    single, between = (found["single"] or "").lower(), found["between"]
    several = bool(found["plural"] or found["count"]) or (not single and several)
    mass = words.one == words.bare != ""
    if mention.modifies and not several:
        return _said("" if _names_an_area(words) else words.adjective or words.bare, mention)
    if several:
        return _said("" if mass and found["plural"] else words.many, mention)
    left = len(found.group()) - len(between)
    article = single in ("a", "an") or found["the"] is not None
    if words.bare and not (mass and single in ("a", "an")):
        # a proper name's article was its own: the Netherlands, but the doctor
        proper = found["the"] and not between and mention.said[:1].isupper() and mention.label in AREAS
        if proper and left <= mention.room[0] and not _parted(found):
            return Fit(like(words.one, found.group()), left)
        return bracket(mention.label) if found["whose"] and _names_an_area(words) else Fit(words.bare)
    if single == "one" and words.many.startswith("people "):
        return Fit(words.many.replace("people", "person", 1))
    if not words.one or not article or between or left > mention.room[0] or _parted(found):
        return bracket(mention.label)
    # "the" or "a" goes before "somebody in law" and "medication"
    return Fit(like(words.one, found.group()), left)


def _parted(found: re.Match[str]) -> bool:
    """Whether a line or a cell ends between an article and its noun."""
    return "\n" in found[0] or "\t" in found[0]


def _names_an_area(words: Words) -> bool:
    return " in " in words.bare and words.bare.rpartition(" ")[2][:1].isupper()


def _is_plural(mention: Mention, forms: Forms) -> bool:
    if mention.label in AREAS or mention.label == PERSON:
        return False
    head = re.split(r" (?:of|in|at|from|for|with|on|who|to)(?![^\W_])|,", mention.said)[0]
    if not _SEVERAL.search(head):
        return forms.get("many", 0.0) > CERTAIN
    last = head.rpartition(" ")[2]
    counted = mention.label in _COUNTED and (mention.label != "organization" or last[:1].islower())
    if counted and last[:1].islower():
        return True
    return forms.get("many", 0.0) > (0.1 if counted or last[:1].islower() else LIKELY)


def _any_verb(said: str) -> str:
    """A verb phrase that is true of whoever an item says something of."""
    verbs = {form: verb for verb, forms in (("be", _BE), ("have", _HAVE)) for form in forms.values()}
    first = next((word for word in said.lower().split() if word in verbs), None)
    return {"be": f"be {SITUATION}", "have": "have something"}[verbs[first]] if first else "do something"


_BE = {"do": "be", "does": "is", "did": "was", "doing": "being", "done": "been"}
_HAVE = {"do": "have", "does": "has", "did": "had", "doing": "having", "done": "had"}


def inflected(verb: str, form: str) -> str:
    """A verb phrase in its dictionary form, inflected by its first word: works in law, had a lung problem."""
    first, _, rest = verb.partition(" ")
    known = {"be": _BE, "have": _HAVE}.get(first)
    if known:
        head = known[form]
    elif form == "does":
        head = " ".join(plurals((first,))[-1]) if not first.endswith("o") else f"{first}es"
    elif form in ("did", "done"):
        regular = f"{first}d" if first.endswith("e") else f"{first}ed"
        head = _PAST.get(first, (regular, regular))[form == "done"]
    elif form == "doing":
        head = _DOING.get(first) or f"{first.removesuffix('e')}ing"
    else:
        head = first
    return f"{head} {rest}".strip()


_PAST = {
    **{"come": ("came", "come"), "do": ("did", "done"), "run": ("ran", "run")},
    **{"say": ("said", "said"), "speak": ("spoke", "spoken"), "study": ("studied", "studied")},
    "take": ("took", "taken"),
}
"""Past forms of the verbs that words of sorts begin with, where they are not regular."""
_DOING = {"die": "dying", "run": "running"}
