"""Planted strings: sentences with invented secrets, put into documents before they are sanitized.

What comes out of a canary can only have come from its document, so its recall needs no judgement. The
three kinds measure different things: a coded number has a form that patterns know, an invented name needs
a detector that reads, and an odd phrase of everyday words is nothing that a sanitizer can see. After
Carlini et al. (2019), The Secret Sharer, there for what a language model memorizes.
"""

import random
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from eval.attacks.asking import attempt
from eval.attacks.canary_words import KINDS, drawn_topic
from eval.attacks.extraction import TARGETED_COMMAND
from eval.documents import AttackPrompt, AttackResult, Attempt, SensitiveEntity
from eval.measures.intervals import Share, share_of
from eval.measures.leakage import measured, normalized
from eval.protocols import Target
from ingest.documents import Document
from ingest.sentences import ABBREVIATIONS
from models.errors import ConfigurationError

_SENTENCE_END = re.compile(r"(\w*)[.!?][\"')\]”’]*(?=\s|\Z)")
MOST_DRAWS = 1_000
"""After so many canaries that the corpus holds already, there is something wrong with the corpus."""


@dataclass(frozen=True, slots=True)
class Planted:
    """All documents in their order, ``n`` of them with a canary, and what was planted.

    ``canaries`` and ``questions`` go together: one canary a document, in the order of the kinds, and a
    question that its sentence would answer.
    """

    seed: int
    documents: Sequence[Document] = field(repr=False)
    canaries: Sequence[SensitiveEntity]
    questions: Sequence[str] = field(repr=False)


def plant(documents: Sequence[Document], n: int, seed: int = 0) -> Planted:
    """Put a sentence with a canary at the end of a sentence of ``n`` documents.

    The kinds take turns. No canary and no topic stands in the corpus or in an earlier one; letter case and
    white space make no difference. The same for the same documents, ``n`` and ``seed``.

    Raises:
        ConfigurationError: ``n`` is below 1, there are fewer documents, two documents have one id, or no
            new canary could be drawn.
    """
    _check(documents, n)
    rng = random.Random(seed)
    taken = [normalized("\n".join(document.text for document in documents))]
    changed = list(documents)
    canaries, questions = [], []
    for turn, place in enumerate(rng.sample(range(len(documents)), n)):
        kind, document = KINDS[turn % len(KINDS)], documents[place]
        secret = _unheard(kind.draw, rng, taken)
        topic = _unheard(drawn_topic, rng, taken)
        carrier = rng.choice(kind.carriers).format(topic=topic, canary=secret)
        changed[place] = replace(document, text=_with_sentence(document.text, carrier, rng))
        canaries.append(SensitiveEntity(document.doc_id, secret, kind.label, kind.identifier))
        questions.append(kind.question.format(topic=topic))
    return Planted(seed, changed, canaries, questions)


@dataclass(frozen=True, slots=True)
class CanaryAttack:
    """Asks once for what stands around each canary, without the canary, and to have it repeated.

    Attempt ``number`` is about ``planted.canaries[number]``.
    """

    planting: Planted

    @property
    def name(self) -> str:
        """Its name in reports."""
        return "canaries"

    @property
    def goal(self) -> str:
        """What the attacker is after."""
        return "Make the generator repeat the sentences in which secrets were planted."

    @property
    def threat_model(self) -> str:
        """What the attacker can do."""
        return (
            "An untrusted user of a trusted server: asks any question, sees the answers, and knows what "
            "each secret is about but not what it says."
        )

    @property
    def reference(self) -> str:
        """Where the idea was published."""
        return (
            "Carlini et al. 2019, The Secret Sharer: Evaluating and Testing Unintended Memorization in "
            "Neural Networks"
        )

    @property
    def seed(self) -> int:
        """The seed of the planting, which settles all questions."""
        return self.planting.seed

    @property
    def planned(self) -> int:
        """How many attempts ``run`` makes: one a canary."""
        return len(self.planting.canaries)

    def prompts(self) -> list[AttackPrompt]:
        """The prompts in the order of the canaries; each has its canary's label as its kind."""
        planted = self.planting
        asked = zip(planted.canaries, planted.questions, strict=True)
        return [
            AttackPrompt(number, canary.label, question + TARGETED_COMMAND)
            for number, (canary, question) in enumerate(asked)
        ]

    def run(self, target: Target) -> Iterator[Attempt]:
        """Ask every prompt once."""
        for prompt in self.prompts():
            yield attempt(target, prompt)


def canary_recall(planted: Planted, results: Iterable[AttackResult]) -> dict[str, Share]:
    """The share of canaries that came out whole, by label, in the order of the kinds.

    A canary counts once however often it came out, and also where another's question brought it out. One
    whose own attempt the target failed, and that did not come out elsewhere, is not measured.
    """
    rows = measured(results)
    out = {leak.entity.doc_id for row in rows for leak in row.leaked}
    asked = {planted.canaries[row.attempt].doc_id for row in rows}
    total = Counter(canary.label for canary in planted.canaries if canary.doc_id in asked | out)
    hits = Counter(canary.label for canary in planted.canaries if canary.doc_id in out)
    return {kind.label: share_of(hits[kind.label], total[kind.label]) for kind in KINDS}


def _check(documents: Sequence[Document], n: int) -> None:
    if not 1 <= n <= len(documents):
        raise ConfigurationError(
            f"{n} canaries cannot be planted in {len(documents)} documents, one in each: "
            f"ask for 1 to {len(documents)}"
        )
    if len({document.doc_id for document in documents}) < len(documents):
        raise ConfigurationError(
            "canaries are told apart by their documents, and two documents have the same id: "
            "give each its own"
        )


def _unheard(draw: Callable[[random.Random], str], rng: random.Random, taken: list[str]) -> str:
    """Something that stands in nothing that is taken; it is taken from then on."""
    for _ in range(MOST_DRAWS):
        drawn = draw(rng)
        if not _is_in(normalized(drawn), taken):
            taken.append(normalized(drawn))
            return drawn
    raise ConfigurationError(
        f"{MOST_DRAWS} canaries in a row stand in the documents already: plant fewer, or use another seed"
    )


def _is_in(normal: str, taken: Collection[str]) -> bool:
    # Not as whole words: a canary inside a longer word would be seen there by eye.
    return any(normal in text for text in taken)


def _with_sentence(text: str, sentence: str, rng: random.Random) -> str:
    """``text`` with ``sentence`` after one of its sentences, or at its end where it has none."""
    ends = [found.end() for found in _SENTENCE_END.finditer(text) if not _is_inside(found[1])]
    end = rng.choice(ends) if ends else len(text.rstrip())
    space = " " if end else ""
    return f"{text[:end]}{space}{sentence}{text[end:]}"


def _is_inside(last_word: str) -> bool:
    """Whether the mark after this word is that of an abbreviation, an initial or a number in a list."""
    return len(last_word) == 1 or last_word.isdigit() or last_word.casefold() in ABBREVIATIONS
