"""INTACT with a language model: five candidates for each value, and five guesses from each (section 3).

The prompts are ours, after tables 2 to 4 of the paper. Dates, people and numbers that identify have the words
of the rules, as in the paper.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from ingest.annotated import AnnotatedText
from ingest.documents import Action, Decision
from ingest.labels import PERSON, label_of
from ingest.language.vocabulary import WORD, fold, words
from ingest.wording.dates import Date, date_of
from ingest.wording.guessed import EMPTY, Case, figures_of
from ingest.wording.replace import whole_words
from ingest.wording.rungs import GUESSES, Ladder, Rung, Take
from ingest.wording.words import worded
from models.language.asking import Asker
from models.language.prompts import prompt
from models.language.protocol import items_in

CANDIDATES = 5
_REMEMBERED = 4_096
_LONGEST = 80
"""Characters of a candidate: longer ones are explanations."""
_MOMENTS = frozenset(("date", "date of birth", "time", "person age"))
LOOK = 200
"""Characters on each side of a value that the model reads."""


class ModelLadders:
    """Ladders that a language model writes; what it has no candidates for gets the words of the rules.

    Candidates that hold the value, or a name or number of anything that is replaced, are left out.
    """

    def __init__(self, asker: Asker) -> None:
        self._asker = asker
        self._read = b""
        self._candidates = lru_cache(_REMEMBERED)(self._asked)

    def __call__(self, text: AnnotatedText, decisions: Sequence[Decision], take: Take) -> list[Decision]:
        """The decisions with words, as ``ingest.wording.words.worded`` gives them."""
        if (read := text.digest()) != self._read:
            # what was said in one document is not kept beyond it
            self._read = read
            self._candidates.cache_clear()
        whole = whole_words(text.text, decisions)
        gone = frozenset(
            word
            for each in whole
            if each.action is not Action.KEEP
            for word in telling_words(text.text[each.entity.span.start : each.entity.span.end])
        )
        given = [
            self._with_words(text.text, each, take, gone) if _is_asked(text.text, each) else each
            for each in whole
        ]
        return worded(text, given, take)

    def _with_words(self, text: str, decision: Decision, take: Take, gone: frozenset[str]) -> Decision:
        start, end = decision.entity.span.start, decision.entity.span.end
        before = text[max(0, start - LOOK) : start].rpartition("\n\n")[2]
        after = text[end : end + LOOK].partition("\n\n")[0]
        said = text[start:end]
        ladder = [
            rung
            for rung in self._candidates(decision.entity.label, said, before, after)
            if fold(said) not in fold(rung.words) and not gone & _words_of(rung.words)
        ]
        if not ladder:
            return decision
        return replace(decision, replacement=take(decision.entity.link, ladder).words)

    def _asked(self, label: str, value: str, before: str, after: str) -> Ladder:
        slots = {"label": label, "value": value, "before": before, "after": after}
        (found,) = self._asker.all(prompt("generalize_value"), [slots], _some)
        return [Rung(words) for words in (found or ())[:CANDIDATES] if len(words) <= _LONGEST]


class ModelGuesser:
    """Asks a language model for the value in the brackets; an answer without guesses is no test."""

    def __init__(self, asker: Asker) -> None:
        self._asker, self._prompt = asker, prompt("guess_value")
        self.name = f"guesser ({asker.engine(self._prompt)})"

    def guesses(self, cases: Sequence[Case]) -> list[Sequence[str] | None]:
        """At most ``GUESSES`` guesses for each case; None where the answer holds none."""
        asked = [{"before": each.before, "words": each.words, "after": each.after} for each in cases]
        return [each and each[:GUESSES] for each in self._asker.all(self._prompt, asked, _some)]


def _some(answer: str) -> list[str] | None:
    return items_in(answer) or None


def telling_words(said: str) -> frozenset[str]:
    """The names and numbers of a value, folded, without words that many organizations have."""
    names = {fold(word) for word in WORD.findall(said) if word[0].isupper() and len(word) > 2}
    return frozenset(names - words("organization_cues") - EMPTY) | figures_of(said)


def _words_of(said: str) -> frozenset[str]:
    return frozenset(map(fold, WORD.findall(said))) | figures_of(said)


def _is_asked(text: str, decision: Decision) -> bool:
    label = decision.entity.label
    if decision.action is not Action.GENERALIZE or decision.replacement:
        return False
    if label == PERSON or label_of(label).rigid:
        return False
    date = date_of(text[decision.entity.span.start : decision.entity.span.end])
    return label not in _MOMENTS or date is None or date == Date()
