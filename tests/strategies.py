"""Hypothesis strategies for texts, entities and decisions."""

from hypothesis import strategies as st

from ingest.annotated import AnnotatedText
from ingest.documents import Action, Decision, Document, Entity, Span
from ingest.labels import LABELS
from ingest.linking.accounts import link_accounts
from ingest.linking.link import link
from tests.doubles import entity

texts = st.text(alphabet="ab éß\n😀'.,", min_size=1, max_size=60)
labels = st.sampled_from(["person full name", "person age", "city name", "symptom", "email address", "date"])


@st.composite
def spans(draw: st.DrawFn, length: int) -> Span:
    start = draw(st.integers(0, length - 1))
    return Span(start, draw(st.integers(start + 1, length)))


@st.composite
def entities(draw: st.DrawFn, text: str) -> list[Entity]:
    found = draw(st.lists(st.tuples(spans(len(text)), labels), max_size=8))
    return [entity(span.start, span.end, label) for span, label in found]


@st.composite
def decided_texts(draw: st.DrawFn) -> tuple[str, list[Decision]]:
    text = draw(texts)
    actions = st.sampled_from(list(Action))
    found = draw(entities(text))
    return text, [Decision(each, None, draw(actions), "test") for each in found]


def linked(text: str, found: list[Entity]) -> AnnotatedText:
    document = Document("d", text)
    return AnnotatedText(text, link_accounts(document, link(document, found)))


@st.composite
def annotated_texts(draw: st.DrawFn) -> AnnotatedText:
    text = draw(texts)
    return linked(text, draw(entities(text)))


@st.composite
def sentences_about_people(draw: st.DrawFn) -> AnnotatedText:
    """A longer text from invented pieces, every piece an entity of a random label."""
    words = [
        "Keller",
        "Anna Keller",
        "Bremen",
        "42",
        "asthma",
        "3 May",
        "nurse",
        "a.keller@example.org",
        "she",
        "went",
    ]
    pieces = draw(st.lists(st.sampled_from(words), min_size=1, max_size=30))
    gaps = draw(
        st.lists(st.sampled_from([" ", " saw ", ". ", "\n\n"]), min_size=len(pieces), max_size=len(pieces))
    )
    text, found = "", []
    for piece, gap in zip(pieces, gaps, strict=True):
        if draw(st.booleans()):
            found.append(entity(len(text), len(text) + len(piece), draw(st.sampled_from(sorted(LABELS)))))
        text += piece + gap
    return linked(text, found)


@st.composite
def overlapping_words(draw: st.DrawFn) -> AnnotatedText:
    """Words and runs of words under random labels, the user's own among them, overlapping at will."""
    words = draw(
        st.lists(
            st.sampled_from(["Anna", "Keller", "akeller@a.example", "ID44871", "the", "witness", "ill"]),
            min_size=2,
            max_size=9,
        )
    )
    text = " ".join(words)
    starts = [sum(len(word) + 1 for word in words[:number]) for number in range(len(words))]
    names = st.sampled_from(
        ["person full name", "email address", "medical record number", "city name", "disease", "witness"]
    )
    found = []
    for _ in range(draw(st.integers(1, 5))):
        first = draw(st.integers(0, len(words) - 1))
        last = draw(st.integers(first, len(words) - 1))
        found.append(entity(starts[first], starts[last] + len(words[last]), draw(names)))
    return linked(text, found)
