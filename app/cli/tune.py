"""``lethe tune``."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from app.cli.console import console, current_phase_on, message, progress, result_beside_table
from app.cli.given import check_trip, settings_of
from app.compose import system_of
from app.policies import write_policy
from app.settings.load import PolicySettings
from eval.corpora.corpus import Selection
from eval.corpora.loaders import load
from eval.reports.files import report_folder, write_tuning
from eval.reports.schema import estimate_cell
from eval.studies.tune import CheckedCell, Search, TunedFigures, TuningReport, tune

if TYPE_CHECKING:
    from rich.table import Table


def run(arguments: argparse.Namespace) -> int:
    """The Pareto set on standard error, the figures as one JSON line, and files on request."""
    search = _search(arguments)
    settings = settings_of(arguments)
    system = system_of(settings, answers=True)
    check_trip(system.policy, "Only the policy trip has weights")
    system = replace(system, policy=replace(system.policy, name="trip"))
    folder = report_folder(Path(arguments.output)) if arguments.output else None
    selection = Selection(
        seed=arguments.seed,
        most_documents=arguments.documents,
        most_questions=arguments.questions,
        split=arguments.split,
        follow_links=settings.ingest.follow_links,
    )
    bench = load(arguments.corpus, Path(arguments.path), selection)
    with progress("done") as bar:
        report = tune(system, bench, search, current_phase_on(bar))
    console().print(_pareto_table(report))
    message(report.procedure)
    result_beside_table(report.model_dump(mode="json", exclude={"cells"}), arguments.json)
    if folder:
        for cell in report.pareto:
            _write_policy(folder, settings.policy, report, cell)
        message(f"report: {write_tuning(report, folder)}")
    return 0


def _search(arguments: argparse.Namespace) -> Search:
    given = {name: getattr(arguments, name) for name in ("betas", "gammas", "shares")}
    return Search(seed=arguments.seed, **{name: each for name, each in given.items() if each is not None})


def _pareto_table(report: TuningReport) -> "Table":
    from rich.box import SIMPLE
    from rich.table import Table

    table = Table(
        box=SIMPLE,
        title=f"{report.corpus}: {len(report.pareto)} of {len(report.cells)} cells are Pareto-optimal",
    )
    measured = (f"{name}\n(held out)" for name in ("leakage", "R@5", "ROUGE-L"))
    for name in ("share", "tau", "beta", "gamma", *measured):
        table.add_column(name, justify="right", no_wrap=True)
    for cell in report.pareto:
        table.add_row(*_row(cell))
    table.add_section()
    table.add_row(*_row(report.current))
    return table


def _row(cell: CheckedCell) -> list[str]:
    share = "now" if cell.share is None else f"{cell.share:g}"
    setting = [share, f"{cell.tau:.3f}", f"{cell.beta:g}", f"{cell.gamma:g}"]
    pairs = zip(_figures(cell.chosen_on), _figures(cell.held_out), strict=True)
    return [*setting, *(f"{chosen} ({held_out})" for chosen, held_out in pairs)]


def _figures(figures: TunedFigures) -> list[str]:
    recall = figures.recall_overlap[5]
    return [estimate_cell(each).text for each in (figures.disclosed, recall, figures.rouge_l)]


def _write_policy(folder: Path, policy: PolicySettings, report: TuningReport, cell: CheckedCell) -> None:
    path = folder / f"share-{cell.share:g}-beta-{cell.beta:g}-gamma-{cell.gamma:g}.toml"
    fitted = {
        "name": "trip",
        "tau": cell.tau,
        "beta": cell.beta,
        "gamma": cell.gamma,
        "scale": list(report.scale),
    }
    write_policy(path, policy, fitted, f"lethe tune (share {cell.share:g})")
