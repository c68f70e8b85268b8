"""Explanations as one self-contained page: the colored text with its scores."""

from collections.abc import Iterable, Sequence
from html import escape

from app.explain_text import Stretch, original_stretches, outcome, remarks, sanitized_stretches, strictest
from eval.reports.render import style
from ingest.deciding.policy import Policy
from ingest.documents import Action, Identifier, Scores
from ingest.explain import ExplainedEntity, Explanation

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
