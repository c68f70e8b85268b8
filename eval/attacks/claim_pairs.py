"""Claims with texts that tell them, tell part of them or do not, made by rule from corpora.

No person or model rated these pairs: their levels follow from how they were made. Mentions that a detector
found are generalized by ladders or descriptors; claims are reworded, joined, negated, given other numbers or
names, or come from elsewhere. ``lethe models train-judge`` learns from them.
"""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from eval.attacks.claims import RuleAtomizer, RuleRewording
from eval.corpora.layouts import records_in, text_of
from eval.corpora.loaders import ACI_BENCH, MTS_DIALOG
from eval.corpora.whole_documents import EWT_EMAIL
from ingest.annotated import AnnotatedText
from ingest.documents import Action, Decision, Document
from ingest.language.sentences import split_sentences
from ingest.language.vocabulary import fold
from ingest.protocols import EntityDetector
from ingest.sanitize import annotate
from ingest.wording.replace import apply
from ingest.wording.rungs import Ladder, Rung
from ingest.wording.words import worded
from models.corpora.read import corpora_in, read_corpora
from models.errors import ConfigurationError
from models.judges import PARTLY, SAME, UNSUPPORTED, ClaimPair, names_in, negates, numbers_in

LEARNED = ("gum", "wikigold", "medquad")
"""The corpora beside the dialogues and mails."""
MOST = {"mts_dialog": 600, "ewt_email": 220, "aci_bench": 180, "gum": 180, "wikigold": 80, "medquad": 180}
"""The passages that are drawn from each corpus."""
SPOKEN = ("dialog", "bench")
"""The ends of the names of corpora in which people speak of themselves."""
CHARACTERS = 900
"""About the length of a passage."""
FEWEST, LONGEST = 3, 32
"""Words of a claim."""
NEIGHBORS = 30
"""The passages of which the most alike gives claims that are told elsewhere."""
SHORT = 6
"""The most words of a claim that is all about its number."""
_SPEAKER = re.compile(r"(?m)^\s*(?:\[\w+\]|[A-Z]\w{2,20}(?: \w+)?:)\s*")
_SELF = re.compile(r"\b(?P<self>I|my|me|I['’](?P<short>m|ve|ll|d))\b(?: (?P<verb>am|have|don['’]t))?")
_VERBS = {"am": "is", "have": "has", "don't": "does not", "don’t": "does not", "m": "is", "ve": "has"}
_FILLER = re.compile(r"^(?:(?:yes|yeah|no|well|um|uh|so|okay|and|but),? )+", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_AUXILIARY = re.compile(r"\b(is|was|are|were|am|can|could|will|would|does|did|do|should)\b(?! not\b|n['’]t)")
_HAVING = re.compile(r"\b(has|have|had|shows?|takes?|reports?)\b(?: an?\b)?(?! (?:no|not|been|had|to)\b)")
_NEGATED = re.compile(r"\b(?:is|was|are|were|do|does|did|can|could|has|have|had)( not\b|n['’]t\b)")
_NONE = re.compile(r"\bno (?=[a-z])")
_DENIED = re.compile(r"\bdenies\b")


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a document. ``note`` is what somebody else wrote of the whole of it, where there is one."""

    corpus: str
    doc_id: str
    text: str = field(repr=False)
    note: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class _Told:
    """A passage with mentions generalized, and the claims of the original. Private."""

    passage: Passage = field(repr=False)
    text: str = field(repr=False)
    words: frozenset[str] = field(repr=False)
    claims: Sequence[str] = field(repr=False)
    notes: Sequence[str] = field(repr=False)


def claim_pairs(data: Path, detector: EntityDetector, seed: int) -> list[ClaimPair]:
    """Pairs from the training parts of the corpora under ``data``, the same for the same seed.

    Raises:
        ConfigurationError: None of the corpora is there.
    """
    chance = random.Random(seed)
    corpora = _passages(data).items()
    passages = [each for name, there in corpora for each in chance.sample(there, min(len(there), MOST[name]))]
    if not passages:
        raise ConfigurationError(
            f"{data} holds no corpus that the judge could learn from: {', '.join(MOST)} are read."
        )
    return pairs_of(passages, detector, chance)


def pairs_of(passages: Sequence[Passage], detector: EntityDetector, chance: random.Random) -> list[ClaimPair]:
    """Pairs of every kind that the passages allow."""
    texts = annotate(detector, [Document(str(n), each.text) for n, each in enumerate(passages)])
    told = [_told(passage, text, chance) for passage, text in zip(passages, texts, strict=True)]
    return [pair for each in told for pair in _pairs(each, told, chance)]


def _passages(data: Path) -> dict[str, list[Passage]]:
    found: dict[str, list[Passage]] = {name: [] for name in MOST}
    for layout, body, note in (
        (MTS_DIALOG, "dialogue", "note_section"), (ACI_BENCH, "dialogue", ""), (EWT_EMAIL, "text", "")
    ):  # fmt: skip
        if (data / layout.corpus).is_dir():
            for number, record in enumerate(records_in(data / layout.corpus, layout, "train")):
                parts = list(cut(text_of(record, body)))
                of = text_of(record, note) if note and len(parts) == 1 else ""
                found[layout.corpus] += [
                    Passage(layout.corpus, f"{layout.corpus} {number}", part, of) for part in parts
                ]
    there = corpora_in(data)
    if wanted := [name for name in LEARNED if name in there]:
        for example in read_corpora(data, "train", [name for name in there if name not in wanted]):
            if example.corpus in found and len(example.text) > CHARACTERS // 6:
                found[example.corpus] += [
                    Passage(example.corpus, f"{example.corpus} {example.group}", part)
                    for part in cut(example.text)
                ]
    return found


def cut(text: str) -> Iterator[str]:
    """Passages of whole lines, or of whole sentences of a long line."""
    lines = [
        part
        for line in text.replace("\r", "\n").splitlines()
        for part in ([line] if len(line) < CHARACTERS else split_sentences(line))
        if part.strip()
    ]
    passage = list[str]()
    for line in lines:
        if passage and sum(map(len, passage)) + len(line) > CHARACTERS:
            yield "\n".join(passage)
            passage = []
        passage.append(line)
    if passage:
        yield "\n".join(passage)


def _told(passage: Passage, text: AnnotatedText, chance: random.Random) -> _Told:
    """The passage with some linked mentions generalized: by a rung drawn of their ladder, or a descriptor."""
    share = chance.choice((0.0, 0.4, 0.7, 1.0))
    goes = {link for link in sorted({each.link for each in text.entities}) if chance.random() < share}
    decisions = [
        Decision(each, None, Action.GENERALIZE if each.link in goes else Action.KEEP, "")
        for each in text.entities
    ]
    if chance.random() < 0.5:
        drawn: dict[int, float] = {}

        def take(link: int, ladder: Ladder) -> Rung:
            return ladder[int(drawn.setdefault(link, chance.random()) * len(ladder))]

        decisions = worded(text, decisions, take)
    written = apply(text, decisions).residual.text
    return _Told(passage, written, _words(written), claims_of(passage.text), claims_of(passage.note))


def claims_of(text: str) -> list[str]:
    """The claims of a text without the names of speakers; no questions, nothing very short or long."""
    claims = RuleAtomizer().claims([_SPEAKER.sub("", text)])[0]
    return [each for each in claims if FEWEST <= len(each.split()) <= LONGEST and "?" not in each]


def _words(text: str) -> frozenset[str]:
    return frozenset(fold(word) for word in _WORD.findall(text))


def _absent(claim: str, said: frozenset[str]) -> float:
    """The share of the longer words and numbers of a claim that are not said."""
    words = [word for word in _words(claim) if len(word) > 3 or word[:1].isdigit()]
    return sum(word not in said for word in words) / max(1, len(words))


def _pairs(told: _Told, others: Sequence[_Told], chance: random.Random) -> Iterator[ClaimPair]:
    claims = chance.sample(told.claims, len(told.claims))
    whole = [each for each in claims if not (_words(each) - told.words)]
    changed = [each for each in claims if each not in whole]
    yield from _told_of(told, whole, changed, chance)
    for claim in chance.sample(told.notes, min(3, len(told.notes))):
        agrees = not _absent(claim, told.words) and numbers_in(claim) <= numbers_in(told.text)
        agrees = agrees and negates(claim) <= negates(told.text)
        yield _pair(told, claim, SAME, SAME if agrees else PARTLY, "note")
    drawn = chance.sample(others, min(len(others), NEIGHBORS))
    elsewhere = [each for each in drawn if each.passage.doc_id != told.passage.doc_id]
    alike = [each for each in elsewhere if each.passage.corpus == told.passage.corpus and each.claims]
    distant = [claim for each in elsewhere[:6] for claim in each.claims[:2]]
    if whole and distant:
        yield from _joined(told, whole[-1], chance.choice(distant), chance)
    yield from _altered(told, whole, alike, chance)
    yield from _from_alike(told, alike, chance)
    yield from _unrelated(told, elsewhere, distant, chance)


def _pair(told: _Told, claim: str, low: int, high: int, kind: str, text: str = "") -> ClaimPair:
    return ClaimPair(claim, text or told.text, low, high, kind, told.passage.doc_id)


def _told_of(
    told: _Told, whole: Sequence[str], changed: Sequence[str], chance: random.Random
) -> Iterator[ClaimPair]:
    """Claims of which the text has all words, and those of which some were generalized."""
    rewording = RuleRewording()
    for bounds, some in (((SAME, SAME), whole), ((PARTLY, PARTLY), changed)):
        speaking = [each for each in some if _SELF.search(each) and _absent(each, told.words) <= 0.7]
        for claim in speaking[:2] if told.passage.corpus.endswith(SPOKEN) else ():
            yield _pair(told, of_another(claim, chance), *bounds, "of another")
    for claim in whole[:3]:
        (other,) = rewording.reworded([claim])
        said = other if other != claim and chance.random() < 0.7 else claim
        yield _pair(told, said, SAME, SAME, "own" if said == claim else "reworded")
    for claim in changed[:3]:
        (other,) = rewording.reworded([claim])
        most = UNSUPPORTED if _absent(claim, told.words) > 0.7 else PARTLY
        yield _pair(told, other if chance.random() < 0.4 else claim, PARTLY, most, "generalized")


def _joined(told: _Told, first: str, second: str, chance: random.Random) -> Iterator[ClaimPair]:
    """A claim of the text, and one of another text, as one."""
    if len((first + second).split()) < LONGEST and _absent(second, told.words) > 0.5:
        both = [first, second[0].lower() + second[1:]]
        joined = " and ".join(both if chance.random() < 0.5 else [second, first])
        yield _pair(told, joined, PARTLY, PARTLY, "joined")


def _altered(
    told: _Told, whole: Sequence[str], alike: Sequence[_Told], chance: random.Random
) -> Iterator[ClaimPair]:
    """Claims of the text, negated, with other numbers and with other names."""
    for make, low, kind in ((_negated, UNSUPPORTED, "negated"), (_renumbered, PARTLY, "number")):
        made = [(claim, make(claim, told.words, chance)) for claim in reversed(whole)]
        for claim, other in made:
            if other is not None:
                short = len(claim.split()) <= SHORT
                yield _pair(told, other, UNSUPPORTED if short else low, UNSUPPORTED, kind)
                break
    names = sorted({name for each in alike[:5] for claim in each.claims for name in names_in(claim)})
    named = next(filter(names_in, whole), None)
    if names and named:
        own = names_in(named)
        renamed = _WORD.sub(
            lambda found: chance.choice(names).capitalize() if found[0].casefold() in own else found[0], named
        )
        yield _pair(told, renamed, PARTLY, UNSUPPORTED, "name")


def _unrelated(
    told: _Told, elsewhere: Sequence[_Told], distant: Sequence[str], chance: random.Random
) -> Iterator[ClaimPair]:
    """Claims and notes of other documents, and a claim of this one without the sentences that tell it."""
    if claim := next((each for each in distant if _absent(each, told.words) > 0.6), ""):
        yield _pair(told, claim, UNSUPPORTED, UNSUPPORTED, "distant")
    if notes := [note for each in elsewhere if each.notes and told.notes for note in each.notes]:
        claim = chance.choice(notes)
        if _absent(claim, told.words) > 0.6:
            yield _pair(told, claim, UNSUPPORTED, UNSUPPORTED, "other note")
    sentences = split_sentences(told.text)
    for claim in chance.sample(told.claims, min(3, len(told.claims))):
        kept = [each for each in sentences if _absent(claim, _words(each)) > 0.7]
        if 2 <= len(kept) < len(sentences) and _absent(claim, _words(" ".join(kept))) > 0.6:
            yield _pair(told, claim, UNSUPPORTED, UNSUPPORTED, "removed", "\n".join(kept))
            break


def _from_alike(told: _Told, alike: Sequence[_Told], chance: random.Random) -> Iterator[ClaimPair]:
    """Claims of the passage that shares most words: another document on the same matter."""
    if not alike:
        return
    nearest = max(alike, key=lambda each: len(each.words & told.words) / len(each.words | told.words))
    for claim in chance.sample(nearest.claims, min(2, len(nearest.claims))):
        absent = _absent(claim, told.words)
        if absent > 0.3:
            yield _pair(told, claim, UNSUPPORTED if absent > 0.6 else PARTLY, UNSUPPORTED, "alike")


def of_another(claim: str, chance: random.Random) -> str:
    """What somebody says of themselves, as another tells it: "I have a cough", "the patient has a cough"."""
    subject, owner = chance.choice((("he", "his"), ("she", "her"), ("the patient", "the patient's")))

    def other(found: re.Match[str]) -> str:
        verb = found["verb"] or ""
        if found["self"] not in ("my", "me"):
            verb = _VERBS.get(verb or found["short"], "")
        return f"{owner if found['self'] == 'my' else subject} {verb}".rstrip()

    told = _SELF.sub(other, _FILLER.sub("", claim))
    return told[:1].upper() + told[1:]


def _negated(claim: str, said: frozenset[str], chance: random.Random) -> str | None:
    """The claim with one negation more or less; None where no rule applies."""
    if negates(claim):
        for pattern, instead in ((_NEGATED, None), (_NONE, ""), (_DENIED, "reports")):
            if found := pattern.search(claim):
                other = f"{claim[: found.start(instead is None)]}{instead or ''}{claim[found.end() :]}"
                return None if negates(other) else other
        return None
    if found := _AUXILIARY.search(claim):
        return f"{claim[: found.end()]} not{claim[found.end() :]}"
    if found := _HAVING.search(claim):
        return f"{claim[: found.start()]}{found[1]} no{claim[found.end() :]}"
    return None


def _renumbered(claim: str, said: frozenset[str], chance: random.Random) -> str | None:
    """The claim with its numbers changed to ones that the text does not say; None without a number."""
    if not _NUMBER.search(claim):
        return None

    def other(found: re.Match[str]) -> str:
        value = float(found[0])
        factor = chance.choice((0.5, 0.7, 0.85, 1.2, 1.4, 2.0))
        new = value * factor if value > 3 else value + chance.randint(2, 6)
        return f"{new:.1f}" if "." in found[0] else str(int(new))

    made = _NUMBER.sub(other, claim)
    return made if made != claim and not numbers_in(made) <= numbers_in(" ".join(said)) else None
