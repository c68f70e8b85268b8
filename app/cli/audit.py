"""``lethe audit``: attack a collection and say whether it may be released; ``lethe compare``: two audits."""

import argparse
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import ValidationError

from app.auditing import audit_of
from app.cli.console import current_phase_on, message, progress, result_beside_table, show
from app.cli.given import data_of, fields_of, reported_readings_of
from eval.attacks.attribute_truths import truths_in
from eval.corpora.corpus import Corpus, fields_in, gold_rows, persons_in, read_corpus
from eval.reports.audit import audit_table, gate_words, side_by_side
from eval.reports.files import audit_folder, write_audit
from eval.reports.render import AUDIT
from eval.studies.audit.options import Options
from eval.studies.audit.report import AuditReport
from models.errors import ConfigurationError, LetheError

EXCEEDED = 100
"""The exit code of an audit with a gate that is exceeded."""


def run(arguments: argparse.Namespace) -> int:
    """A table on standard error, the figures as one JSON line where nobody reads it, files on request.

    100 if a gate is exceeded; 1 if something that a gate asks for was not measured.
    """
    data = data_of(arguments)
    paths, fields, known = arguments.paths, fields_of(arguments), arguments.attributes_field
    gold = gold_rows(paths, arguments.gold_field, fields) if arguments.gold_field else None
    persons = persons_in(paths, arguments.person_field, fields) if arguments.person_field else None
    attributes = truths_in(fields_in(paths, known, fields)) if known else None
    at_most, at_least = (
        _gates(option, getattr(arguments, option) or ()) for option in ("fail_above", "fail_below")
    )
    options = Options(arguments.suite, arguments.seed, at_most, at_least)
    folder = audit_folder(Path(arguments.output), options) if arguments.output else None
    with progress("done") as bar:
        reported = current_phase_on(bar)

        def originals(public_ids: Callable[[Sequence[str]], Sequence[str]]) -> Corpus:
            readings = reported_readings_of(arguments, data.settings)
            return read_corpus(readings, public_ids, gold, reported, persons, attributes)

        report = audit_of(data, arguments.collection, originals, options, reported, folder, message)
    show(audit_table(report), narrow=True)
    for gate in report.gates:
        if gate.outcome != "held":
            message(gate_words(gate, places=True))
    if arguments.reveal:
        for leak in report.worst:
            message(f"{leak.doc_id}: {'; '.join(leak.exposed)}")
    result_beside_table(report.model_dump(mode="json"), arguments.json)
    if folder:
        message(f"report: {write_audit(report, folder)}")
    outcomes = {gate.outcome for gate in report.gates}
    return EXCEEDED if "exceeded" in outcomes else int("not measured" in outcomes)


def _gates(option: str, given: Sequence[tuple[str, float]]) -> dict[str, float]:
    for measure, times in Counter(measure for measure, _ in given).items():
        if times > 1:
            named = option.replace("_", "-")
            raise ConfigurationError(f"--{named} names {measure} {times} times: give each measure one limit.")
    return dict(given)


def compare(arguments: argparse.Namespace) -> int:
    """The figures of two audits side by side, with their difference."""
    one, other = (_read(Path(path)) for path in (arguments.one, arguments.other))
    show(side_by_side(one, other))
    both = {"one": one.model_dump(mode="json"), "other": other.model_dump(mode="json")}
    result_beside_table(both, arguments.json)
    return 0


def _read(given: Path) -> AuditReport:
    path = given / AUDIT if given.is_dir() else given
    try:
        return AuditReport.model_validate_json(path.read_bytes())
    except OSError as error:
        raise LetheError(f"{path} cannot be read ({error.strerror}): name the folder of an audit.") from None
    except ValidationError:
        raise ConfigurationError(
            f"{path} is no audit of this version: name the folder that `lethe audit --output` wrote."
        ) from None
