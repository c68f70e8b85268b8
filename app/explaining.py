"""Explanations: the text in stretches, sentences about the document, and one self-contained page."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import pairwise

from eval.reports.render import style
from ingest.deciding.policy import Policy
from ingest.documents import Action, Identifier, Scores, Span
from ingest.explain import ExplainedEntity, Explanation

Stretch = tuple[str, Sequence[int]]
"""Some text and the numbers of the entities that hold it, counted from 0."""


def original_stretches(explanation: Explanation) -> Iterator[Stretch]:
    """The original, cut wherever a mention begins or ends."""
    mentions = [(span, number) for number, each in enumerate(explanation.entities) for span in each.mentions]
    return _stretches(explanation.text, mentions)


def sanitized_stretches(explanation: Explanation) -> Iterator[Stretch]:
    """The sanitized text, cut wherever a replacement or a kept mention begins or ends."""
    numbers = {
        (each.link, each.action, each.reason): number for number, each in enumerate(explanation.entities)
    }
    sanitized = explanation.sanitized
    mentions = [
        (Span(start, end), numbers[decision.entity.link, decision.action, decision.reason])
        for decision, (start, end) in zip(sanitized.decisions, sanitized.places, strict=True)
        if start < end
    ]
    return _stretches(sanitized.text, mentions)


def remarks(explanation: Explanation, policy: Policy) -> Iterator[str]:
    """A sentence each about the document as a whole: who fits it, its risk, its doubts, what was not read."""
    sanitized = explanation.sanitized
    if explanation.sanitized.bits is not None:
        yield f"{fitting(explanation, policy).capitalize()}; the policy asks for {policy.k:,.0f}."
    risk = sanitized.risk
    yield f"Detected risk, of found entities only: {risk.before:.3f} before, {risk.after:.3f} after."
    for doubt in sanitized.doubts:
        yield f"Doubt: {doubt.removesuffix('.')}."
    for part in sanitized.unread:
        yield f"{'Read' if part.read else 'Not read'}: {part.kind}, {part.count:,} of it: {part.reason}."


def fitting(explanation: Explanation, policy: Policy) -> str:
    """How many people fit the facts that stay; of a policy that counts bits."""
    bits = explanation.sanitized.bits or 0.0
    return (
        f"of {policy.people:,.0f} people who might be meant, about {policy.people * 2.0**-bits:,.0f} fit the "
        f"facts that were found and stay ({bits:.1f} bits)"
    )


def outcome(entity: ExplainedEntity) -> str:
    """The action, the words with the chance that five guesses see through them, and the rule."""
    words = f" {entity.replacement}" if entity.replacement else ""
    chance = "" if entity.chance is None else f" (five guesses find it: {entity.chance:.0%})"
    return f"{entity.action}{words}{chance}: {entity.reason}"


def strictest(explanation: Explanation, numbers: Sequence[int]) -> ExplainedEntity:
    """The entity with the strictest action."""
    return max((explanation.entities[number] for number in numbers), key=lambda each: each.action.strictness)


def _stretches(text: str, mentions: Sequence[tuple[Span, int]]) -> Iterator[Stretch]:
    begins: dict[int, list[int]] = {}
    ends: dict[int, list[int]] = {}
    for place, (span, _) in enumerate(mentions):
        begins.setdefault(span.start, []).append(place)
        ends.setdefault(span.end, []).append(place)
    open_now: set[int] = set()
    for start, end in pairwise(sorted({0, len(text), *begins, *ends})):
        open_now = (open_now - set(ends.get(start, ()))) | set(begins.get(start, ()))
        yield text[start:end], sorted({mentions[place][1] for place in open_now})


_STYLE = """
.texts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(440px, 100%), 1fr)); gap: 1rem; }
.text { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; font: inherit; font-size: 0.95rem; }
.text mark { color: inherit; background: color-mix(in srgb, var(--tone) 18%, transparent);
  border-bottom: 2px solid var(--tone); border-radius: 3px; padding: 0 0.1em; }
.text mark.keep { background: none; border-bottom-style: dotted; }
mark a { color: inherit; text-decoration: none; } :target { outline: 2px solid var(--ink); }
.direct { --tone: var(--s0); } .quasi { --tone: var(--s5); } .attribute { --tone: var(--s4); }
.legend { display: flex; flex-wrap: wrap; gap: 1rem; color: var(--soft); font-size: 0.84rem; }
.legend b { border-bottom: 2px solid var(--tone); font-weight: 500; }
td.words { text-align: left; max-width: 22rem; overflow-wrap: anywhere; }
"""
_HEAD = (
    "#",
    "entity",
    "label",
    "times",
    "P risk",
    "K divergence",
    "D distance",
    "S priority",
    "bits",
    "decision",
)


def explanation_page(explanations: Sequence[Explanation], threshold: str, policy: Policy) -> str:
    """The whole page, as HTML; ``threshold`` describes the policy."""
    parts = "".join(_document(number, each, policy) for number, each in enumerate(explanations))
    legend = "".join(f'<span class="{kind}"><b>{kind}</b></span>' for kind in Identifier)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Lethe: decisions explained</title><style>{style()}{_STYLE}</style></head><body><main>"
        f'<header><h1>Decisions explained</h1><p class="lead">{escape(threshold)} '
        "P marginal privacy risk, K knowledge divergence, D distance from what the text is about; S is alpha "
        "P - beta K + gamma D, or under lethe the bits that are said with a fact when it is its turn to "
        "stay.</p>"
        '<p class="alert">This page quotes the documents as they were before sanitizing. Keep it where you '
        f'keep them.</p><p class="legend">{legend}<span>dotted: kept</span></p></header>'
        f"{parts}<footer>Written by Lethe.</footer></main></body></html>\n"
    )


def _document(number: int, explanation: Explanation, policy: Policy) -> str:
    sentences = "".join(f'<p class="sub">{escape(each)}</p>' for each in remarks(explanation, policy))
    return (
        f"<section><h2>{escape(explanation.sanitized.doc_id)}</h2>{sentences}"
        f'<div class="texts">{_text("As it was read", number, explanation, original_stretches(explanation))}'
        f"{_text('Sanitized', number, explanation, sanitized_stretches(explanation))}</div>"
        f'<div class="panel"><table><thead><tr>{_cells("th", _HEAD)}</tr></thead>'
        f"<tbody>{''.join(_row(number, place, explanation) for place in range(len(explanation.entities)))}"
        "</tbody></table></div></section>"
    )


def _text(title: str, number: int, explanation: Explanation, stretches: Iterable[Stretch]) -> str:
    words = "".join(_marked(number, explanation, *stretch) for stretch in stretches)
    return f'<div class="panel"><h3>{title}</h3><p class="text">{words}</p></div>'


def _marked(number: int, explanation: Explanation, words: str, entities: Sequence[int]) -> str:
    if not entities:
        return escape(words)
    shown = strictest(explanation, entities)
    kept = " keep" if shown.action is Action.KEEP else ""
    tooltip = f"{shown.label}: {shown.action}, {shown.reason}"
    place = explanation.entities.index(shown)
    return (
        f'<mark class="{shown.identifier}{kept}" title="{escape(tooltip)}">'
        f'<a href="#e{number}-{place}">{escape(words)}</a></mark>'
    )


def _row(number: int, place: int, explanation: Explanation) -> str:
    each = explanation.entities[place]
    cells = (
        str(place + 1),
        said(explanation.text, each),
        each.label,
        str(len(each.mentions)),
        *figures(each.scores),
        outcome(each),
    )
    return f'<tr id="e{number}-{place}" class="{each.identifier}">{_cells("td", cells)}</tr>'


def _cells(tag: str, words: Iterable[str]) -> str:
    return "".join(f'<{tag} class="words">{escape(each)}</{tag}>' for each in words)


def said(text: str, entity: ExplainedEntity) -> str:
    """What the longest mention of an entity says."""
    span = max(entity.mentions, key=len)
    return text[span.start : span.end]


UNMEASURED = "–"


def figures(scores: Scores | None) -> tuple[str, ...]:
    """P, K, D, S and bits with three decimals; dashes for what was not measured."""
    if scores is None:
        return (UNMEASURED,) * 5
    relevance = scores.topical_relevance
    distance = None if relevance is None else 1 - relevance
    return (
        f"{scores.marginal_privacy_risk:.3f}",
        _figure(scores.knowledge_divergence),
        _figure(distance),
        _figure(scores.priority),
        _figure(scores.bits),
    )


def _figure(value: float | None) -> str:
    return UNMEASURED if value is None else f"{value:.3f}"
