"""INTACT with a language model: five candidates for each value, and five guesses from each (section 3).

The prompts are ours, after tables 2 to 4 of the paper. Dates, people and numbers that identify have the words
of the rules, as in the paper.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from ingest.annotated import AnnotatedText
from ingest.documents import Action, Decision
from ingest.labels import PERSON, label_of
from ingest.ladders.dates import Date, date_of
from ingest.ladders.guessed import Case
from ingest.ladders.rungs import GUESSES, Ladder, Rung, Take
from ingest.ladders.wording import worded
from ingest.language.vocabulary import WORD, fold
from ingest.rendering.replace import whole_words
from models.language.protocol import ChatMessage, LanguageModel

CANDIDATES = 5
MAX_TOKENS = 256
_REMEMBERED = 4_096
_LONGEST = 80
"""Characters of a candidate: longer ones are explanations."""
_MOMENTS = frozenset(("date", "date of birth", "time", "person age"))
_LINE = re.compile(r"^\s*(?:[-*•]|[0-9]{1,2}[.)])\s*(?P<words>.+?)\s*$")
_TELLING = re.compile(r"[0-9]+|(?<![^\W_])[A-Z][^\W_]+")
LOOK = 200
"""Characters on each side of a value that the model reads."""
_CANDIDATES = (
    "You generalize private values in documents. You get a sentence with a value in double square brackets, "
    f"and its kind. Answer with {CANDIDATES} replacements, one in each line after a hyphen, from the most "
    "specific to the most general. Each must be true of the value, say less than it, fit the sentence and "
    "hold no word or number of the value. Write nothing else."
)
_GUESSES = (
    "You get a text in which a value in double square brackets was replaced with something more general. "
    f"Guess the value from the text: answer with {GUESSES} guesses, one in each line after a hyphen, the "
    "likeliest first. Guess names and dates in full. Write nothing else."
)


class ModelLadders:
    """Ladders that a language model writes; what it has no candidates for gets the words of the rules.

    Candidates that hold the value, or a name or number of it, are left out.
    """

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._candidates = lru_cache(_REMEMBERED)(self._asked)

    def __call__(self, text: AnnotatedText, decisions: Sequence[Decision], take: Take) -> list[Decision]:
        """The decisions with words, as ``ingest.ladders.wording.worded`` gives them."""
        given = [
            self._with_words(text.text, each, take) if _is_asked(text.text, each) else each
            for each in whole_words(text.text, decisions)
        ]
        return worded(text, given, take)

    def _with_words(self, text: str, decision: Decision, take: Take) -> Decision:
        start, end = decision.entity.span.start, decision.entity.span.end
        before = text[max(0, start - LOOK) : start].rpartition("\n\n")[2]
        after = text[end : end + LOOK].partition("\n\n")[0]
        ladder = self._candidates(decision.entity.label, text[start:end], before, after)
        if not ladder:
            return decision
        return replace(decision, replacement=take(decision.entity.link, ladder).words)

    def _asked(self, label: str, said: str, before: str, after: str) -> Ladder:
        question = f"Kind: {label}\nSentence: {before}[[{said}]]{after}"
        answer = self._model.complete(
            [ChatMessage("system", _CANDIDATES), ChatMessage("user", question)], max_tokens=MAX_TOKENS
        )
        return [
            Rung(words)
            for words in lines_of(answer)[:CANDIDATES]
            if len(words) <= _LONGEST and not _says(words, said)
        ]


class ModelGuesser:
    """Asks a language model for the value in the brackets; an answer without guesses is no test."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self.name = f"guesser ({model.name})"

    def guesses(self, cases: Sequence[Case]) -> list[Sequence[str] | None]:
        """At most ``GUESSES`` guesses for each case; None where the answer holds none."""
        return [self._guesses(case) for case in cases]

    def _guesses(self, case: Case) -> Sequence[str] | None:
        question = f"Text: {case.before}[[{case.words}]]{case.after}"
        answer = self._model.complete(
            [ChatMessage("system", _GUESSES), ChatMessage("user", question)], max_tokens=MAX_TOKENS
        )
        return lines_of(answer)[:GUESSES] or None


def lines_of(answer: str) -> list[str]:
    """The items of a list that a model wrote, each once, without quotation marks."""
    found = (match["words"].strip("\"'“”‘’ ") for line in answer.splitlines() if (match := _LINE.match(line)))
    return list(dict.fromkeys(filter(None, found)))


def _says(words: str, said: str) -> bool:
    """Whether a candidate holds the value itself, or a name or number of it."""
    telling = {fold(name) for name in _TELLING.findall(said)}
    return fold(said) in fold(words) or bool(telling & {fold(word) for word in WORD.findall(words)})


def _is_asked(text: str, decision: Decision) -> bool:
    label = decision.entity.label
    if decision.action is not Action.GENERALIZE or decision.replacement:
        return False
    if label == PERSON or label_of(label).rigid:
        return False
    date = date_of(text[decision.entity.span.start : decision.entity.span.end])
    return label not in _MOMENTS or date is None or date == Date()
