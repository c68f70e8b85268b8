"""Measuring privacy-risk models against snippets that were scored under the rubric."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import expm1, isfinite
from typing import Any, Literal

from eval.measures.agreement import (
    RESAMPLES,
    SEED,
    Rows,
    Statistic,
    estimated,
    mean_absolute_difference,
    share_near,
    spearman,
    weighted_kappa,
)
from eval.measures.uncertainty import Estimate
from eval.progress import Progress, no_progress
from eval.provenance import Frozen, Provenance
from eval.studies.detection.study import machine_and_versions
from ingest.annotated import AnnotatedText
from ingest.documents import Document, Entity, Span
from ingest.labels import label_of
from ingest.linking.link import link
from ingest.protocols import RiskModel
from models.corpora.rubric import PASSES, Snippet, is_fresh
from models.errors import ConfigurationError, LetheError
from models.packs import packs

SOURCE = "rubric"


def annotated(snippet: Snippet) -> AnnotatedText:
    """The snippet with its marks as linked entities."""
    entities = [
        Entity(Span(*place), label, label_of(label).identifier, 1.0, SOURCE)
        for place, label in zip(snippet.places, snippet.labels, strict=True)
    ]
    return AnnotatedText(snippet.text, link(Document(snippet.id, snippet.text), entities))


def judged(name: str, model: RiskModel, snippets: Sequence[Snippet]) -> list[list[float]]:
    """1 - exp(-H), in [0, 1], of each mark of each snippet, H being the marginal hazard of its linked entity.

    Raises:
        LetheError: The model failed, or gave no finite number for a mark; no message quotes a snippet.
    """
    texts = [annotated(snippet) for snippet in snippets]
    try:
        hazards = model.hazards(texts)
    except LetheError:
        raise
    except Exception as error:
        # The message of the error may quote a snippet.
        raise LetheError(
            f"The privacy-risk model {name} failed on scored snippets ({type(error).__name__}); "
            "repair it, or leave it out."
        ) from None
    if len(hazards) != len(texts):
        raise LetheError(
            f"The privacy-risk model {name} answered for {len(hazards)} of {len(texts)} snippets; "
            "it must answer for each."
        )
    found = []
    for snippet, text, judgement in zip(snippets, texts, hazards, strict=True):
        links = {(entity.span, entity.label): entity.link for entity in text.entities}
        marks = zip(snippet.places, snippet.labels, strict=True)
        of_marks = [judgement.marginals.get(links[Span(*place), label]) for place, label in marks]
        finite = [hazard for hazard in of_marks if hazard is not None and isfinite(hazard)]
        if len(finite) < len(of_marks):
            raise LetheError(
                f"The privacy-risk model {name} gave no finite hazard for a mark of snippet {snippet.id}; "
                "it must give one for every linked entity."
            )
        found.append([-expm1(-max(0.0, hazard)) for hazard in finite])
    return found


ALL = "all"

Kind = Literal["all", "invented", "references", "fresh"]
"""All snippets but the fresh, invented ones, passages of corpora, and passages that other readers scored."""
KINDS: tuple[Kind, ...] = ("all", "invented", "references", "fresh")


class ModelRow(Frozen):
    """One model against the mean of the passes, over some snippets.

    ``spearman`` in [-1, 1] and ``error``, the mean absolute one in [0, 1], compare 1 - exp(-hazard).
    """

    model: str
    domain: str
    kind: Kind
    snippets: int
    mentions: int
    spearman: Estimate
    error: Estimate


class AgreementRow(Frozen):
    """The two passes against each other, over some snippets.

    ``difference`` is the mean absolute one, ``near`` the share of mentions scored at most 0.1 apart,
    ``kappa`` weighted quadratically over the rubric's four levels.
    """

    domain: str
    kind: Kind
    snippets: int
    mentions: int
    spearman: Estimate
    difference: Estimate
    near: Estimate
    kappa: Estimate


class RiskReport(Frozen):
    """Every figure of every model by domain and kind of snippet, and the agreement of the passes."""

    provenance: Provenance
    models: tuple[str, ...]
    seed: int
    resamples: int
    rows: tuple[ModelRow, ...]
    agreement: tuple[AgreementRow, ...]

    def row(self, model: str, domain: str = ALL, kind: Kind = "all") -> ModelRow:
        """One row; raises KeyError if there is none."""
        return {(row.model, row.domain, row.kind): row for row in self.rows}[model, domain, kind]

    def agreed(self, domain: str = ALL, kind: Kind = "all") -> AgreementRow:
        """The passes of one domain and kind; raises KeyError if there are none."""
        return {(row.domain, row.kind): row for row in self.agreement}[domain, kind]


_BATCH = 16


def measure(
    models: Mapping[str, RiskModel],
    snippets: Sequence[Snippet],
    progress: Progress = no_progress,
    *,
    scored_twice: Sequence[Snippet] | None = None,
    commit: str | None = None,
) -> RiskReport:
    """The rank correlation of each model with the scores, by domain and kind and over all.

    Agreement of the passes is measured on ``scored_twice``, else on the snippets themselves; only snippets
    with two passes count.

    Raises:
        ConfigurationError: There is no snippet.
        LetheError: A model failed.
    """
    if not snippets:
        raise ConfigurationError("There is no scored snippet to measure on: give at least one.")
    ordered = sorted(snippets, key=lambda snippet: snippet.id)
    golden = [snippet.scores for snippet in ordered]
    rows: list[ModelRow] = []
    for name, model in models.items():
        found: list[list[float]] = []
        for batch in packs(ordered, _BATCH):
            found += judged(name, model, batch)
            progress(f"privacy risk, {name}", len(found), len(ordered))
        pairs = list(zip(found, golden, strict=True))
        rows += [
            ModelRow(
                model=name,
                **_over(domain, kind, chosen),
                error=_figure(mean_absolute_difference, chosen),
            )
            for domain, kind, chosen in _groups(ordered, pairs)
        ]
    compared = sorted(snippets if scored_twice is None else scored_twice, key=lambda snippet: snippet.id)
    compared = [each for each in compared if len(each.passes) == len(PASSES)]
    agreement = [
        AgreementRow(
            **_over(domain, kind, chosen),
            difference=_figure(mean_absolute_difference, chosen),
            near=_figure(share_near, chosen),
            kappa=_figure(weighted_kappa, chosen),
        )
        for domain, kind, chosen in _groups(compared, [(each.passes[0], each.passes[1]) for each in compared])
    ]
    return RiskReport(
        provenance=machine_and_versions({name: model.name for name, model in models.items()}, commit),
        models=tuple(models),
        seed=SEED,
        resamples=RESAMPLES,
        rows=tuple(rows),
        agreement=tuple(agreement),
    )


def is_reference(snippet: Snippet) -> bool:
    """Whether the snippet is a reference into a corpus."""
    return "-ref-" in snippet.id


def _groups(snippets: Sequence[Snippet], pairs: Rows) -> Iterator[tuple[str, Kind, Rows]]:
    """Every domain and then all domains, by kind, with the pairs of their snippets; may be empty."""
    for domain in (*dict.fromkeys(sorted(snippet.domain for snippet in snippets)), ALL):
        for kind in KINDS:
            yield domain, kind, [
                pair
                for snippet, pair in zip(snippets, pairs, strict=True)
                if domain in (ALL, snippet.domain) and kind in _kinds(snippet)
            ]  # fmt: skip


def _kinds(snippet: Snippet) -> tuple[Kind, ...]:
    if is_fresh(snippet.id):
        return ("fresh",)
    return ("all", "references" if is_reference(snippet) else "invented")


def _over(domain: str, kind: Kind, chosen: Rows) -> dict[str, Any]:
    return {
        **{"domain": domain, "kind": kind, "snippets": len(chosen)},
        "mentions": sum(len(first) for first, _ in chosen),
        "spearman": _figure(spearman, chosen),
    }


_UNDEFINED: Mapping[Callable[..., object], str] = {
    spearman: "one side has a single value, which has no order",
    weighted_kappa: "all scores are of one level",
}


def _figure(statistic: Statistic, pairs: Rows) -> Estimate:
    answer = estimated(statistic, pairs)
    if answer.value is not None:
        return answer
    why = _UNDEFINED.get(statistic, "") if any(first for first, _ in pairs) else ""
    return Estimate(why_not=why or "there is no mention")
