"""Membership inference: was this document indexed? The attacker has the candidate's original text.

Scores that are higher for members: the similarity of the best passage to the text, an upper bound that needs
no generator; how much of the second half comes back when the first is the question (S2MIA); and how many
masked words come back (MBA). Each is calibrated by the same score of perturbed versions of the text, since
some texts score high wherever they are asked (DCMI), and by the nearest reference texts.

Two more need a victim that answers yes or no: asking whether the text is there, and questions about what it
says (IA), some of which a language model writes.
"""

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from eval.attacks.extraction import WORDS
from eval.attacks.guessing import IndexAttack
from eval.measures.leakage import STOP_WORDS, normalized
from eval.measures.overlap import rouge_l, stems, word_tokens
from ingest.documents import Document
from ingest.protocols import Encoder
from models.errors import ConfigurationError
from models.language.asking import Asker, Plan, Slots
from models.language.prompts import prompt
from models.language.protocol import rows_in
from models.vectors import Vectors
from retrieval.citations import NO_ANSWER
from retrieval.documents import Answer

MEMBERSHIP = IndexAttack(
    name="membership",
    goal="Say whether a document is in the index.",
    threat_model=(
        "An untrusted user of a trusted server, who has the original text of each candidate, asks any "
        "question, and sees answers and the similarities of passages."
    ),
    reference=(
        "Li et al. 2024, Generating Is Believing (S2MIA); Liu et al. 2024, Mask-based Membership Inference "
        "Attacks (MBA); DCMI, differential calibration; Naseh et al. 2025, Riddle Me This! (IA)"
    ),
)
RETRIEVAL, CONTINUATION, MASKED = "best similarity", "second half returned", "masked words returned"
DIRECT, INTERROGATION = "said to be there", "questions answered right"
SCORES = (RETRIEVAL, CONTINUATION, MASKED)
"""Those of any victim."""
YES_OR_NO = (DIRECT, INTERROGATION)
"""Those of a victim that answers yes or no, which only a language model does."""
BY_PERTURBED, BY_REFERENCES = " above perturbed versions", " above near references"
"""After the name of a score."""
MASK = "[mask]"
CONTEXT = 3
"""The words on each side of a mask by which its place is found in an answer."""
FEWEST_CONTEXT = 2
"""The fewest of them that must stand there."""
NOT_MASKED = 5
"""No word of the first ones of a text is masked: they lead the search."""
NEAREST_REFERENCES = 5
QUOTED = 2_048
"""The first characters of a text, that direct asking quotes: more need not fit into a context."""
_WORD = re.compile(r"\w+")
_COMMON = frozenset(WORDS) | STOP_WORDS
_ANSWER_SHORT = "Begin your answer with Yes or No."
# "No passage says so" and "Yes and no" are neither.
_YES_OR_NO = re.compile(r"[\W_]*(?P<word>yes|no)(?=\s*(?:[^\w\s/?'’-]|\n|\Z))", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Masked:
    """A text with masks, the masked words, and up to three words on each side of each."""

    text: str = field(repr=False)
    words: Sequence[str] = field(repr=False)
    before: Sequence[Sequence[str]] = field(repr=False)
    after: Sequence[Sequence[str]] = field(repr=False)


@dataclass(frozen=True, slots=True)
class YesNo:
    """A question about a text, and whether yes is right according to it."""

    question: str = field(repr=False)
    yes: bool


@dataclass(frozen=True, slots=True)
class Questions:
    """What is asked about one text, and what the answers are compared with."""

    text: str = field(repr=False)
    first_half: str = field(repr=False)
    second_half: str = field(repr=False)
    masked: Masked = field(repr=False)
    interrogation: Sequence[YesNo] = field(default=(), repr=False)

    @property
    def asked(self) -> dict[str, Sequence[str]]:
        """By the score that the answers give."""
        return {
            RETRIEVAL: [self.text],
            CONTINUATION: [self.first_half],
            MASKED: [self.masked.text],
            DIRECT: [f"Is this text among your passages? {_ANSWER_SHORT}\n\n{self.text[:QUOTED]}"],
            INTERROGATION: [f"{each.question} {_ANSWER_SHORT}" for each in self.interrogation],
        }


def questions_about(text: str, masks: int, interrogation: Sequence[YesNo] = ()) -> Questions:
    """The questions of every score."""
    words = list(_WORD.finditer(text))
    middle = words[(len(words) + 1) // 2 - 1].end() if len(words) > 1 else len(text)
    return Questions(text, text[:middle], text[middle:], masked(text, masks), interrogation)


def masked(text: str, masks: int) -> Masked:
    """Mask the hardest word of each of ``masks`` equal fragments.

    The hardest is the longest that is not common. Words in small letters come first: a sanitizer leaves them,
    and the attacker knows that there is one. Stop words, the first five and neighbors of a masked word are
    not masked, so that a text may have fewer masks.
    """
    found = list(_WORD.finditer(text))
    words = [each[0].casefold() for each in found]
    places: list[int] = []
    for fragment in np.array_split(np.arange(min(NOT_MASKED, len(found)), len(found)), masks):
        first = places[-1] + 2 if places else 0
        free = [place for place in fragment.tolist() if place >= first and words[place] not in STOP_WORDS]
        if free:
            places.append(max(free, key=lambda place: (*_hardness(found[place][0]), -place)))
    return Masked(
        _replaced(text, found, dict.fromkeys(places, MASK)),
        [words[place] for place in places],
        [words[max(0, place - CONTEXT) : place] for place in places],
        [words[place + 1 : place + 1 + CONTEXT] for place in places],
    )


def _replaced(text: str, words: Sequence[re.Match[str]], put: Mapping[int, str]) -> str:
    """``text`` with others in place of some of its words, in order."""
    pieces, at = list[str](), 0
    for place, other in put.items():
        pieces += text[at : words[place].start()], other
        at = words[place].end()
    return "".join(pieces) + text[at:]


def _hardness(word: str) -> tuple[bool, bool, int]:
    return word.islower() and word.isalpha(), word.casefold() not in _COMMON, len(word)


def recovered(hidden: Masked, answer: str) -> float:
    """The share of masked words that stand in the answer where their contexts stand; 0 without masks.

    The place is the first at which most of the context matches; below two words nothing is guessed.
    """
    said = word_tokens(answer)
    if not said or not hidden.words:
        return 0.0
    numbers: dict[str, int] = {}
    padding = [-1] * CONTEXT
    there = np.array([*padding, *(numbers.setdefault(word, len(numbers)) for word in said), *padding])
    matches = np.zeros((len(hidden.words), len(said)), np.int64)
    for step in range(1, CONTEXT + 1):
        for sides, shift in ((hidden.before, -step), (hidden.after, step)):
            wanted = np.array([_number(numbers, side, shift) for side in sides])
            matches += wanted[:, None] == there[CONTEXT + shift : CONTEXT + shift + len(said)]
    best = matches.argmax(axis=1)
    right: list[bool] = [
        count >= FEWEST_CONTEXT and said[place] == word
        for word, place, count in zip(hidden.words, best.tolist(), matches.max(axis=1).tolist(), strict=True)
    ]
    return sum(right) / len(right)


def _number(numbers: dict[str, int], side: Sequence[str], shift: int) -> int:
    """The number of the word at a distance from the mask; -2, which no word has, if there is none."""
    if len(side) < abs(shift):
        return -2
    return numbers.get(side[shift] if shift < 0 else side[shift - 1], -2)


def perturbed(text: str, share: float, rng: random.Random) -> str:
    """``text`` with a share of its words replaced by common words drawn at random."""
    words = list(_WORD.finditer(text))
    drawn = rng.sample(range(len(words)), round(share * len(words)))
    return _replaced(text, words, {place: rng.choice(WORDS) for place in sorted(drawn)})


def said_yes(answer: str) -> bool | None:
    """Whether an answer begins with a yes or a no that stands by itself; None for any other answer."""
    found = _YES_OR_NO.match(answer)
    return None if found is None else found["word"].casefold() == "yes"


def agreement(right: Sequence[bool], answers: Sequence[str]) -> float | None:
    """The share of answers that say what is right, of those that are a yes or a no; None without any.

    The published code of IA counts an answer that is neither as right where the truth is unknown.
    """
    said = [(yes, said_yes(answer)) for yes, answer in zip(right, answers, strict=True)]
    read = [yes == answer for yes, answer in said if answer is not None]
    return sum(read) / len(read) if read else None


def scores_of(asked: Questions, answers: Mapping[str, Sequence[Answer]]) -> dict[str, float]:
    """The scores whose questions were answered; without those whose answers cannot be read."""
    judged: dict[str, Callable[[Sequence[Answer]], float | None]] = {
        RETRIEVAL: lambda whole: max((float(each.similarity) for each in whole[0].passages), default=0.0),
        CONTINUATION: lambda rest: rouge_l(stems(asked.second_half), stems(rest[0].text)).recall,
        MASKED: lambda filled: recovered(asked.masked, filled[0].text),
        # Who has nothing about a text says that it is not there.
        DIRECT: lambda said: 0.0 if said[0].text.startswith(NO_ANSWER) else agreement([True], [said[0].text]),
        INTERROGATION: lambda said: agreement(
            [each.yes for each in asked.interrogation], [each.text for each in said]
        ),
    }
    found = ((name, judged[name](own)) for name, own in answers.items())
    return {name: score for name, score in found if score is not None}


def above_references(
    score: float, text: Vectors, of_references: Sequence[float], references: Vectors
) -> float:
    """A score minus the mean score of the references that are nearest to its text."""
    near = np.argsort(-(references @ text), kind="stable")[:NEAREST_REFERENCES]
    return score - float(np.mean(np.array(of_references)[near]))


def members_and_others(
    documents: Sequence[Document], held_out: int, seed: int = 0
) -> tuple[list[Document], list[Document]]:
    """``held_out`` documents drawn to be left out of the index, and the rest, both in order.

    Of documents with the same words only the first is taken: a copy of a member is no non-member.

    Raises:
        ConfigurationError: Fewer than one document would be left for either part.
    """
    distinct = list({normalized(each.text): each for each in reversed(documents)}.values())[::-1]
    if not 1 <= held_out < len(distinct):
        raise ConfigurationError(
            f"{held_out} documents cannot be held out of {len(distinct)} different ones: "
            f"ask for 1 to {len(distinct) - 1}"
        )
    out = set(random.Random(seed).sample(range(len(distinct)), held_out))
    parts: tuple[list[Document], list[Document]] = ([], [])
    for place, document in enumerate(distinct):
        parts[place in out].append(document)
    return parts


KEPT = 15
"""The questions that are asked about a text, of up to 30 that are written: the most similar to it."""


@dataclass(frozen=True, slots=True)
class Interrogator:
    """A language model that writes questions about a text, its first 2,048 characters, for a yes or a no.

    After Naseh et al. 2025, Riddle Me This! (IA). A victim that has the text in its index answers them better
    than one that has not.
    """

    asker: Asker
    encoder: Encoder
    kept: int = KEPT

    @property
    def name(self) -> str:
        return f"interrogation[{self.asker.engine(prompt('interrogate'))}; {self.encoder.name}]"

    def plan(self, texts: Sequence[str]) -> Plan:
        return self.asker.plan(prompt("interrogate"), _slots(texts))

    def questions(self, texts: Sequence[str]) -> Iterator[list[YesNo]]:
        """The questions about each text, in order; none where the answer has none, or the prompt is too long.

        Raises:
            ModelUnavailable: The model could not be reached or failed.
        """
        written = self.asker.each(prompt("interrogate"), _slots(texts), questions_in)
        for text, found in zip(texts, written, strict=True):
            yield nearest(text, found, self.encoder, self.kept) if found else []


def questions_in(answer: str) -> list[YesNo] | None:
    """The questions of an answer, each once; None without any. What has another form is left out."""
    found: dict[str, YesNo] = {}
    for row in rows_in(answer, "questions") or ():
        asked, right = (row.get("question"), row.get("answer")) if isinstance(row, dict) else (None, None)
        said = right.strip().casefold() if isinstance(right, str) else ""
        if isinstance(asked, str) and asked.strip() and said in ("yes", "no"):
            found.setdefault(asked.strip().casefold(), YesNo(asked.strip(), said == "yes"))
    return list(found.values()) or None


def nearest(text: str, questions: Sequence[YesNo], encoder: Encoder, most: int) -> list[YesNo]:
    """At most so many questions, those whose vectors have the largest cosine with that of the text."""
    vectors = encoder.encode([text, *(each.question for each in questions)])
    order = np.argsort(-(vectors[1:] @ vectors[0]), kind="stable")[:most]
    return [questions[place] for place in sorted(order.tolist())]


def _slots(texts: Sequence[str]) -> list[Slots]:
    return [{"text": text[:QUOTED]} for text in texts]
