"""Words that carry content, without their endings."""

import re

STOP_WORDS = frozenset(
    "a about an and any are as at be been by can could did do does for from had has have he her his "
    "how i in is it its me my of on or our she should so than that the their them there they this to "
    "was we were what when where which who whom whose why will with would you your".split()
)
_ASKING = frozenset(
    "after also because before did done during get give got happen happened happens having him himself "
    "herself if instead just kind large long made make man many may might mean must much need no not "
    "now often one part person say said says since some somebody somebody's someone something soon sort "
    "still take taken tell then these those told too up us use used while woman wrong yet".split()
)
"""Words of questions and of replacements that say nothing about what is asked."""
_WORD = re.compile(r"\w+")
_ENDINGS = ("ings", "ing", "ied", "ies", "ed", "es", "ly", "s", "e", "y")


def stem(word: str) -> str:
    """``word`` in lower case without a common English ending; at least three letters stay."""
    word = word.casefold()
    for ending in _ENDINGS:
        rest = word.removesuffix(ending)
        if rest == word or len(rest) < 3 or (ending == "s" and rest[-1] in "su"):
            continue
        if ending in ("ings", "ing", "ed") and rest[-1] == rest[-2] and rest[-1] not in "ls":
            return rest[:-1]
        return rest
    return word


def content_words(text: str) -> list[str]:
    """The stems of the words that carry content, in order."""
    words = (word.casefold() for word in _WORD.findall(text))
    wanted = (word for word in words if word not in STOP_WORDS and word not in _ASKING)
    return [stem(word) for word in wanted if len(word) > 1 or word.isdigit()]
