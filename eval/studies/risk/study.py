"""Measuring privacy-risk models against snippets that were scored under the rubric."""

from collections.abc import Callable, Iterator, Mapping, Sequence

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
from eval.studies.detection.report import machine_and_versions
from eval.studies.risk.judged import judged
from eval.studies.risk.report import ALL, KINDS, AgreementRow, Kind, ModelRow, RiskReport
from ingest.protocols import RiskModel
from models.corpora.rubric import PASSES, Snippet, is_fresh
from models.errors import ConfigurationError
from models.packs import packs

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
        found = list(_judged(name, model, ordered, progress))
        rows += _model_rows(name, ordered, list(zip(found, golden, strict=True)))
    compared = sorted(snippets if scored_twice is None else scored_twice, key=lambda snippet: snippet.id)
    return RiskReport(
        provenance=machine_and_versions({name: model.name for name, model in models.items()}, commit),
        models=tuple(models),
        seed=SEED,
        resamples=RESAMPLES,
        rows=tuple(rows),
        agreement=tuple(_agreement([each for each in compared if len(each.passes) == len(PASSES)])),
    )


def _judged(
    name: str, model: RiskModel, snippets: Sequence[Snippet], progress: Progress
) -> Iterator[list[float]]:
    done = 0
    for batch in packs(snippets, _BATCH):
        yield from judged(name, model, batch)
        done += len(batch)
        progress(f"privacy risk, {name}", done, len(snippets))


def is_reference(snippet: Snippet) -> bool:
    """Whether the snippet is a reference into a corpus."""
    return "-ref-" in snippet.id


def _groups(snippets: Sequence[Snippet]) -> Iterator[tuple[str, Kind, list[int]]]:
    """Every domain and then all domains, by kind, with snippet numbers; may be empty."""
    for domain in (*dict.fromkeys(sorted(snippet.domain for snippet in snippets)), ALL):
        for kind in KINDS:
            yield domain, kind, [
                number
                for number, snippet in enumerate(snippets)
                if domain in (ALL, snippet.domain) and kind in _kinds(snippet)
            ]  # fmt: skip


def _kinds(snippet: Snippet) -> tuple[Kind, ...]:
    if is_fresh(snippet.id):
        return ("fresh",)
    return ("all", "references" if is_reference(snippet) else "invented")


def _model_rows(name: str, snippets: Sequence[Snippet], pairs: Rows) -> Iterator[ModelRow]:
    for domain, kind, numbers in _groups(snippets):
        chosen = [pairs[number] for number in numbers]
        yield ModelRow(
            model=name,
            domain=domain,
            kind=kind,
            snippets=len(chosen),
            mentions=sum(len(first) for first, _ in chosen),
            spearman=_figure(spearman, chosen),
            error=_figure(mean_absolute_difference, chosen),
        )


def _agreement(snippets: Sequence[Snippet]) -> Iterator[AgreementRow]:
    pairs = [(snippet.passes[0], snippet.passes[1]) for snippet in snippets]
    for domain, kind, numbers in _groups(snippets):
        chosen = [pairs[number] for number in numbers]
        yield AgreementRow(
            domain=domain,
            kind=kind,
            snippets=len(chosen),
            mentions=sum(len(first) for first, _ in chosen),
            spearman=_figure(spearman, chosen),
            difference=_figure(mean_absolute_difference, chosen),
            near=_figure(share_near, chosen),
            kappa=_figure(weighted_kappa, chosen),
        )


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
