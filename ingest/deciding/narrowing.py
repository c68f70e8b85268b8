"""How much each fact of a text narrows down who is meant, in bits, and which of them may stay.

Who looks for a person knows some facts about them. Every word of a fact is worth the bits by which it
narrows down who is meant, times how likely somebody near the person knows it, and the bits that it adds to
a link with public texts, times how likely these may say it (``models.bits``). What the kept facts are worth
together, every word counted once, is the logarithm of a share: of ``people`` who might be meant,
``people / 2 ** bits`` would fit these facts.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from ingest.annotated import AnnotatedText
from ingest.documents import Entity, Identifier
from ingest.labels import label_of
from models.bits import BitsModel, surprisals
from models.encoders.words import Need

RARELY_KNOWN = 0.05
"""The probability of having to be masked up to which a fact counts as known to nobody."""
CASE_RARELY_KNOWN = 0.2
"""The same for what describes a case: how somebody lives is known to more people than what they have."""
COMMON = 2.5
"""The bits up to which a word narrows down nobody: a sixth of all texts hold it."""
WORD = re.compile(r"[^\W_]+")
_KINDS: Mapping[str, Sequence[str]] = {
    "person": ("person full name",),
    "organization": ("organization",),
    "place": ("city name", "county", "state or province", "place"),
    "country": ("country", "nationality", "language"),
    "date": ("date", "date of birth"),
    "time": ("time", "duration", "frequency"),
    "age": ("person age",),
    "job": ("job title", "job area", "job type"),
    "person's": (
        "demographic attribute",
        "gender",
        "marital status",
        "religion",
        "person height",
        "eye color",
    ),
    "illness": ("symptom", "disease", "diagnosis", "allergy"),
    "drug": ("medication", "dosage"),
    "test": ("medical test", "test result", "procedure", "medical department"),
    "money": ("monetary amount",),
    "quantity": ("quantity",),
    "event": ("event",),
    "detail": ("identifying detail",),
}
_CASE = frozenset(("time", "illness", "drug", "test"))
"""Kinds that describe a case. Public texts of the games hardly have them, so that no link is counted."""
_KIND_OF = {label: kind for kind, labels in _KINDS.items() for label in labels}
FEATURES = (
    *("surprisal", "times", "times elsewhere", "holders", "digits", "year", "capital", "capitals", "letters"),
    *("words of fact", "mentions of fact", "attribute"),
    *_KINDS,
)
"""The columns that ``models.bits`` reads, of each word of a fact."""
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Held:
    """The words of a text: how often each link has it, and how often it stands outside of all mentions.

    ``links`` are those that do not identify by themselves. Words inside an identifier are nobody's. Private.
    """

    links: Mapping[int, Sequence[Entity]] = field(repr=False)
    words: Mapping[int, Mapping[str, int]] = field(repr=False)
    elsewhere: Mapping[str, int] = field(repr=False)
    forms: Mapping[str, Sequence[str]] = field(repr=False)


def held(text: AnnotatedText, identifying: Collection[int]) -> Held:
    """The words of each link of a text but ``identifying``; of nested mentions the shortest has them.

    A mention without letters and digits is a word of its own.
    """
    owners = np.full(len(text.text), -1, np.int64)
    longest_first = sorted(text.entities, key=lambda e: (e.link in identifying, -len(e.span)))
    for entity in longest_first:
        owners[entity.span.start : entity.span.end] = entity.link
    words: dict[int, Counter[str]] = defaultdict(Counter)
    elsewhere, forms = Counter[str](), defaultdict[str, list[str]](list)
    for match in WORD.finditer(text.text):
        word, owner = match[0].lower(), int(owners[match.start()])
        forms[word].append(match[0])
        if owner < 0:
            elsewhere[word] += 1
        elif owner not in identifying:
            words[owner][word] += 1
    links = {link: each for link, each in text.mentions().items() if link not in identifying}
    for link in links.keys() - words.keys():
        for mention in links[link]:
            said = text.text[mention.span.start : mention.span.end]
            if WORD.search(said) is None:
                words[link][said] += 1
                forms[said].append(said)
    return Held(links, words, elsewhere, forms)


def rows_of(text: Held, rarity: Mapping[str, float]) -> tuple[list[tuple[int, str]], Floats]:
    """Each word of each fact, and its features: shape (words, ``FEATURES``)."""
    holders: dict[str, list[int]] = defaultdict(list)
    for link in text.links:
        for word in text.words.get(link, ()):
            holders[word].append(link)
    of_link = {}
    for link, mentions in text.links.items():
        kind = _kind_of(mentions)
        described = any(each.identifier is Identifier.ATTRIBUTE for each in mentions)
        counts = len(text.words.get(link, ())), len(mentions)
        of_link[link] = [*counts, described, *(float(kind == each) for each in _KINDS)]
    keys, rows = [], []
    for word, links in holders.items():
        main = max(links, key=lambda link: (text.words[link][word], -link))
        forms, digits = text.forms[word], word.isdigit()
        row = [
            rarity[word],
            math.log2(1 + sum(text.words[link][word] for link in links)),
            math.log2(1 + text.elsewhere.get(word, 0)),
            len(links),
            digits,
            digits and len(word) == 4 and word[0] in "12",
            sum(form[0].isupper() for form in forms) / len(forms),
            sum(form.isupper() and len(form) > 1 for form in forms) / len(forms),
            len(word),
            *of_link[main],
        ]
        keys += [(link, word) for link in links]
        rows += [row] * len(links)
    return keys, np.array(rows, np.float32).reshape(len(rows), len(FEATURES))


def _kind_of(mentions: Sequence[Entity]) -> str:
    (label, _), *_ = Counter(each.label for each in mentions).most_common(1)
    return _KIND_OF.get(label, "")


Facts = Mapping[int, Mapping[str, float]]
"""The words of each link that does not identify by itself, and the bits of each, in all links the same."""


def facts_of(
    texts: Sequence[AnnotatedText], identifying: Sequence[Collection[int]], model: BitsModel
) -> list[Facts]:
    """The facts of each text, all words measured at once; ``identifying`` are the links that go anyway."""
    read = [held(text, those) for text, those in zip(texts, identifying, strict=True)]
    rarity = surprisals(
        sorted({word for text in read for of_link in text.words.values() for word in of_link})
    )
    tables = [rows_of(text, rarity) for text in read]
    linking, narrowing = model.bits(
        np.concatenate([np.empty((0, len(FEATURES)), np.float32), *(r for _, r in tables)])
    )
    found: list[Facts] = []
    first = 0
    for text, (keys, rows) in zip(read, tables, strict=True):
        known = {link: _known(mentions) for link, mentions in text.links.items()}
        bits: dict[str, float] = defaultdict(float)
        for number, (link, word) in enumerate(keys, first):
            near, public = known[link]
            if narrowing[number] > COMMON:
                # a word that stays outside of all facts links whatever happens to them
                links = 0.0 if text.elsewhere.get(word) else public * float(linking[number])
                worth = near * float(narrowing[number]) + links
                bits[word] = max(worth, bits[word])
        found.append({link: {word: bits[word] for word in text.words.get(link, ())} for link in text.links})
        first += len(rows)
    return found


def _known(mentions: Sequence[Entity]) -> tuple[float, float]:
    """How likely somebody near the person knows a fact, and how likely the public may say it.

    The likeliest mention counts. Where no model read the context, the risk of the label stands for it.
    """
    near = public = 0.0
    for each in mentions:
        need = each.need or Need(*[label_of(each.label).risk] * 3)
        case = _KIND_OF.get(each.label) in _CASE
        rarely = CASE_RARELY_KNOWN if case else RARELY_KNOWN
        near = max(near, (need.must - rarely) / (1 - rarely))
        public = max(public, 0.0 if case else need.should)
    return near, public


@dataclass(frozen=True, slots=True)
class Kept:
    """A fact in the order in which facts are kept: the bits that it adds, and those of all kept so far."""

    link: int
    bits: float
    together: float


def in_order(facts: Facts, first: Collection[int] = ()) -> list[Kept]:
    """What says nothing, then ``first``, then always the fact that adds least to what those before say.

    A word that several facts have counts once: what a fact adds never grows, so that the facts kept under a
    limit are always the first of one order. Each word makes its holders cheaper only once.
    """
    holders: dict[str, list[int]] = defaultdict(list)
    for link, words in facts.items():
        for word in words:
            holders[word].append(link)
    said: set[str] = set()
    order: list[Kept] = []
    together = 0.0
    current = {link: sum(words.values()) for link, words in facts.items()}
    current |= {link: -1.0 for link in first if current.get(link)}
    current |= {link: -2.0 for link, bits in current.items() if not bits}
    waiting = [(bits, link) for link, bits in current.items()]
    heapify(waiting)
    while waiting:
        bits, link = heappop(waiting)
        if current.get(link) != bits:
            continue
        del current[link]
        new = {word: worth for word, worth in facts[link].items() if word not in said}
        said.update(new)
        together += sum(new.values())
        order.append(Kept(link, sum(new.values()), together))
        for other in {each for word in new for each in holders[word]}:
            if other in current and other not in first:
                current[other] = sum(worth for word, worth in facts[other].items() if word not in said)
                heappush(waiting, (current[other], other))
    return order
