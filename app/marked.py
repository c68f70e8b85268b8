"""The marked passages as they stand in a collection: what has to go replaced by what Lethe puts there."""

import random

from ingest.annotated import AnnotatedText
from ingest.detection.reading import LABELS_OF
from ingest.documents import Action, Decision, Entity, Span
from ingest.labels import label_of
from ingest.language.sentences import quotable_spans
from ingest.spans import Shift, moved, resolve, substitute
from ingest.wording.replace import render, whole_words
from ingest.wording.rungs import below
from ingest.wording.shape import unsplit
from ingest.wording.words import worded
from models.corpora.passages import Passage, Rendered

_SOME = 0.5
"""The share of marks that a careful redactor generalizes which are replaced here."""
_GUESS_LIMIT = 0.5


def rendered(passage: Passage, replaced: bool, chance: random.Random) -> Rendered:
    """The passage by its marks, in its own words unless it is ``replaced``."""
    entities = [
        Entity(Span(mark.start, mark.end), label, label_of(label).identifier, 1.0, "marks", mark.entity)
        for mark in passage.marks
        if replaced
        and (mark.must == 2 or mark.identifier == "DIRECT" or (mark.must == 1 and chance.random() < _SOME))
        for label in (LABELS_OF[mark.kind][0],)
    ]
    text = passage.text
    decisions = worded(
        AnnotatedText(text, entities),
        [Decision(entity, None, Action.GENERALIZE, "") for entity in entities],
        below(_GUESS_LIMIT),
    )
    made = render(text, resolve(unsplit(text, whole_words(text, decisions)))).replacements
    new, shift = substitute(text, made), Shift(made)
    edits = [(span.start, span.end, *shift.of_replacement(n)) for n, (span, _) in enumerate(sorted(made))]

    def place_of(span: tuple[int, int]) -> tuple[int, int]:
        return moved(span[0], edits, after=False), moved(span[1], edits, after=True)

    return Rendered(new, quotable_spans(new), place_of)
