"""Persons whom the layout betrays: mail headers, greetings, signatures, speakers."""

import re
from collections import Counter
from collections.abc import Iterator

from ingest.detection.rules.hits import hit
from ingest.documents import Entity, Span
from ingest.labels import HANDLE, PERSON
from ingest.language.name_grammar import PARTICLES
from ingest.language.vocabulary import WORD, fold, words

_NAME = r"[^\W\d_][\w’'‑-]{0,30}\.?(?:[ ][^\W\d_][\w’'‑-]{0,30}\.?){0,4}"
"""One to five words, as a regular expression; whether they are a name is asked afterwards."""

HEADER = re.compile(
    r"^[ \t>*]{0,8}(?:From|To|Cc|CC|Bcc|Sent by|Forwarded by|Attn|Attention|Reply-To)[ \t]{0,8}:"
    r"[ \t]{0,8}([^\n]{2,600})",
    re.MULTILINE,
)
ENRON = re.compile(r"(?<=\w)/[A-Za-z]{2,12}(?:/[A-Za-z]{2,12}){1,3}")
FORWARDED = re.compile(rf"(?:Forwarded by|Sent by:?|Original Message From:?)[ \t]+({_NAME})")
GREETING = re.compile(
    r"(?:^|(?<=[.!?\n\]:])|(?<=[.!?\]:] ))[ \t]{0,8}(?i:hi there|hi|hello|hey|hiya|dear|good morning"
    r"|good afternoon|good evening|greetings|morning|thanks|thank you|welcome|cheers)"
    rf"[ ]?,?[ ]({_NAME})(?=[ ]?[,:;.!?\n–-]|[ ]?$)",
    re.MULTILINE,
)
ADDRESS_LINE = re.compile(rf"^({_NAME})[ ]?(?:[,:;–-]|--)?[ \t]{{0,8}}$", re.MULTILINE)
CLOSING = re.compile(
    r"^[ \t]{0,8}(?i:(?:many |best |kind |warm |with )*(?:regards|wishes|thanks|cheers|love|sincerely"
    r"|respectfully|yours|best|yours (?:sincerely|faithfully|truly)|sincerely yours|thank you))"
    rf"[ ]?[,.!]?[ \t]{{0,8}}\n{{1,3}}[ \t]{{0,8}}[-–]?[ ]?({_NAME})[ \t]{{0,8}}(?=\n|$)",
    re.MULTILINE,
)
SPEAKER = re.compile(rf"^(?:\[({_NAME})\]|({_NAME})[ ]?:)(?=[ ])", re.MULTILINE)
CHAT_HANDLE = re.compile(
    r"^([a-z]{2,16}[0-9]{2,4}|[a-z]{2,16}[._][a-z]{1,16}[0-9]{0,4}):(?=[ ]\S)", re.MULTILINE
)
SMALL_SIGNATURE = re.compile(
    r"(?<=[.!?,)]\n\n)[-–]?[ ]?([a-z]{2,12})[ \t]{0,8}"
    r"(?=\n{0,3}\Z|\n{1,3}[ \t]*(?:-{3,}|>|From:|To:|Subject:))"
)
VERSUS = re.compile(rf"(?<=\w)[ ]vs?\.?[ ]({_NAME})")
LAST_WORD = re.compile(r"[^\W\d_][\w’'‑-]{0,30}\.?")

ROLES = frozenset(
    ("doctor", "patient", "nurse", "guest", "family", "speaker", "interviewer", "interviewee")
    + ("question", "answer", "q", "a", "user", "assistant", "system", "agent", "customer", "caller")
    + ("operator", "host", "moderator", "clinician", "therapist", "physician", "subject", "note")
)
ORDINARY = ("common_words", "not_names", "organization_cues", "weekday_months", "medications", "titles") + (
    "diseases",
    "symptoms",
    "cities",
    "countries",
    "states",
    "jobs",
    "medical_tests",
)
"""The lists whose words name nobody, wherever they stand."""
OFFICES = frozenset(("surgery", "practice", "team", "ward", "school"))
"""Words of offices besides those of organizations."""
LIST_BREAK = re.compile(r"[;<>\[\]()\"]|,(?=[ ]|$)|@|/")


def _ordinary(word: str) -> bool:
    known = words("given_names", "given_names_ambiguous", "surnames")
    return word not in known and word in words(*ORDINARY)


def _named(candidate: str, unknown: bool) -> bool:
    """Whether the words can be a person's name.

    A word of the name lists must be among them, unless ``unknown`` allows for names in no list; none
    may be an ordinary word, and the first must have a capital letter or be a given name.
    """
    parts = WORD.findall(candidate)
    folded = [fold(part) for part in parts]
    if not parts or any(_ordinary(word) for word in folded) or folded[0] in ROLES:
        return False
    if all(word in words("common_words", "weekday_months") for word in folded):
        given = words("given_names", "given_names_ambiguous")
        return len(folded) == 1 and folded[0] in given and parts[0][0].isupper() and unknown
    known = words("given_names", "given_names_ambiguous", "surnames")
    if not parts[0][0].isupper():
        return folded[0] in words("given_names") and len(parts) == 1
    capitals = all(p[0].isupper() or p in PARTICLES for p in parts)
    if len(parts) == 1 and parts[0].isupper() and len(parts[0]) < 4:
        return False
    return capitals and (unknown or any(word in known for word in folded))


def _entity(match: re.Match[str], group: int, confidence: float, rule: str) -> Entity:
    start, end = match.span(group)
    while match.string[end - 1] in " .-,":
        end -= 1
    return hit(Span(start, end), PERSON, confidence, rule)


def _headers(text: str) -> Iterator[Entity]:
    for line in HEADER.finditer(text):
        start = line.start(1)
        of_firm, is_from = False, line.group().lstrip(" \t>*").startswith("From")
        for piece in LIST_BREAK.split(line.group(1)):
            place = text.find(piece, start, line.end(1))
            # Behind the sender's firm and a comma its town follows: Quellby Surgery, Ashdale.
            is_town = of_firm and text[start:place].strip() == "," and len(piece.split()) == 1
            start = place + len(piece)
            name = piece.strip(" \t'.")
            of_firm = is_from and not (words("organization_cues") | OFFICES).isdisjoint(
                map(fold, WORD.findall(name))
            )
            if name and not is_town and len(WORD.findall(name)) <= 5 and _named(name, unknown=True):
                first = text.find(name, place)
                yield hit(Span(first, first + len(name)), PERSON, 0.9, "mail-header")


def _speakers(text: str) -> Iterator[Entity]:
    matches = list(SPEAKER.finditer(text))
    counts = Counter(match.group(match.lastindex or 0) for match in matches)
    for match in matches:
        group = match.lastindex or 0
        often = counts[match.group(group)] > 1
        if "\n" not in match.group(group) and _named(match.group(group), unknown=often):
            yield _entity(match, group, 0.8, "speaker")


def _handles(text: str) -> Iterator[Entity]:
    """The accounts of a chat: what stands before a colon, again and again."""
    matches = list(CHAT_HANDLE.finditer(text))
    counts = Counter(match.group(1) for match in matches)
    for match in matches:
        if counts[match.group(1)] > 1:
            yield hit(Span(*match.span(1)), HANDLE, 0.8, "chat-handle")


def _small_signatures(text: str) -> Iterator[Entity]:
    """A given name or initials in small letters, alone under a mail."""
    for match in SMALL_SIGNATURE.finditer(text):
        said = match.group(1)
        if said in words("given_names", "given_names_ambiguous") or (
            len(said) in (2, 3) and said not in words(*ORDINARY)
        ):
            yield hit(Span(*match.span(1)), PERSON, 0.7, "small-signature")


def _name_before(text: str, end: int) -> Span | None:
    """The up to four capitalized words that end at ``end``, if they are a name."""
    line = text[max(0, end - 80) : end].rpartition("\n")[2]
    start = end
    for word in reversed(line.split(" ")[-4:]):
        if LAST_WORD.fullmatch(word) is None or not word[0].isupper():
            break
        if not _named(word, unknown=True) and len(word) > 2:
            break
        start -= len(word) + (start != end)
    return Span(start, end) if start < end and _named(text[start:end], unknown=True) else None


def _opponents(text: str) -> Iterator[Entity]:
    for match in VERSUS.finditer(text):
        span = _name_before(text, match.start())
        if span is not None:
            yield hit(span, PERSON, 0.8, "case-title")
        if _named(match.group(1), unknown=True):
            yield _entity(match, 1, 0.7, "case-title")
    for match in ENRON.finditer(text):
        span = _name_before(text, match.start())
        if span is not None:
            yield hit(span, PERSON, 0.9, "mail-address")


SIMPLE: tuple[tuple[re.Pattern[str], float, str, bool], ...] = (
    (FORWARDED, 0.85, "mail-header", True),
    (GREETING, 0.8, "greeting", True),
    (CLOSING, 0.8, "signature", True),
    (ADDRESS_LINE, 0.6, "name-line", False),
)


def layout(text: str) -> list[Entity]:
    """The persons who are named where a layout expects a name; may overlap."""
    found = [*_headers(text), *_speakers(text), *_opponents(text)]
    found += [*_handles(text), *_small_signatures(text)]
    for pattern, confidence, rule, unknown in SIMPLE:
        found.extend(
            _entity(match, 1, confidence, rule)
            for match in pattern.finditer(text)
            if _named(match.group(1), unknown)
        )
    return found
