"""``lethe calibrate``."""

import argparse
from dataclasses import replace
from pathlib import Path

from app.cli.asking import asked_model
from app.cli.console import console, current_phase_on, message, progress, result
from app.cli.given import data_of, fields_of, reported_readings_of
from app.compose import system_of
from app.policies import check_writable, write_policy
from eval.corpora.corpus import GoldRows, Selection, fewer_documents, gold_rows, read_corpus
from eval.measures.leakage import NOTHING_SENSITIVE
from eval.prepared import Prepared, prepared
from eval.progress import Progress
from eval.studies.audit.measures import Grounds, Measure, linking, singling_out
from eval.studies.calibrate import (
    COUNTED,
    MarkedThreshold,
    Promise,
    attack_curves,
    leak_curves,
    links_of,
    marked_by_model,
    marked_by_people,
    promised,
    threshold_for_share,
    threshold_from_marks,
)
from eval.targets import reading_once
from eval.tasks.linkage import LinkageTask
from ingest.deciding.policy import Policy
from models.errors import ConfigurationError, LetheError
from models.language.protocol import LanguageModel

SAMPLE = 100
"""Most documents that a language model is asked about."""
MOST_OTHERS = 500
"""Most documents among which each attacked one is hidden."""


def run(arguments: argparse.Namespace) -> int:
    """The threshold as one JSON line, its assumptions in words, and a policy file on request."""
    data = data_of(arguments)
    system = system_of(data.settings)
    if not system.policy.has_threshold:
        raise ConfigurationError(
            f"Only lethe and trip have a threshold, and this is {system.policy.name}: leave out --policy."
        )
    # Before documents are read.
    model = asked_model(arguments, data.settings)
    if arguments.output:
        check_writable(Path(arguments.output))
    gold = _marks(arguments)
    with progress("done") as bar:
        reported = current_phase_on(bar)
        corpus = read_corpus(reported_readings_of(arguments, data.settings), data.public_ids, gold, reported)
        ready = prepared(system, corpus, reported)
        if corpus.unread:
            message(f"{corpus.unread} documents could not be read and are not counted")
        figures = _fitted(arguments, ready, model, reported)
    threshold = figures["tau"]
    assert isinstance(threshold, float)
    fitted: dict[str, object] = {"k": system.policy.at(threshold).k}
    if system.policy.name == "trip":
        fitted = {"tau": threshold, "scale": list(ready.scale.percentiles)}
        figures["scale_source"] = ready.scale.source
    figures |= fitted
    if arguments.output:
        path = Path(arguments.output)
        write_policy(path, data.settings.policy, fitted, f"lethe calibrate ({figures['method']})")
        message(f"policy: {path}; use it with --policy {path}")
    result(figures)
    return 0


def _marks(arguments: argparse.Namespace) -> GoldRows | None:
    field = arguments.marks or arguments.gold_field
    if field is None:
        return None
    return gold_rows(arguments.paths, field, fields_of(arguments))


def _fitted(
    arguments: argparse.Namespace, ready: Prepared, model: LanguageModel | None, reported: Progress
) -> dict[str, object]:
    policy = ready.system.policy
    if arguments.max_leak is not None and arguments.attack:
        measure, pool = _attacked(arguments, ready)
        assert measure.loss is not None
        (curve,) = attack_curves(ready, policy, measure.task, [measure.loss], reported)
        promise = promised(curve, arguments.max_leak, arguments.confidence)
        _report_attack(policy, promise, measure, pool)
        return _promise_row(promise, measure.name)
    if arguments.max_leak is not None:
        (curve,) = leak_curves(ready, policy, [COUNTED[arguments.count]], reported)
        promise = promised(curve, arguments.max_leak, arguments.confidence)
        _report(policy, promise, arguments.count)
        return _promise_row(promise, arguments.count)
    if arguments.share is not None:
        tau = threshold_for_share(links_of(ready, policy), arguments.share)
        return {"method": "share", "tau": tau, "share": arguments.share}
    if model is not None:
        marks = marked_by_model(ready, model, SAMPLE, reported)
        links = links_of(ready.only(marks.documents), policy, marks.marked)
        return _marks_row(threshold_from_marks(links, arguments.quantile), model.name)
    gold = ready.corpus.gold
    assert gold is not None
    links = links_of(ready, policy, marked_by_people(ready, gold))
    return _marks_row(threshold_from_marks(links, arguments.quantile), "marks")


def _attacked(arguments: argparse.Namespace, ready: Prepared) -> tuple[Measure, int]:
    """The measure of an audit that the promise is about, and how many documents hide each of the others.

    Losses have to be independent. For linkage, half of the documents or more are attacked, each hidden among
    the others alone. How many people fit a document depends on no other document, and nothing hides it.
    """
    documents = ready.corpus.documents
    if len(documents) < 2:
        raise LetheError("An attack needs two documents or more: one is hidden among the others.")
    selection = Selection(seed=0, most_documents=min(MOST_OTHERS, len(documents) // 2))
    others = [] if arguments.attack == "singled-out" else fewer_documents(documents, selection)
    hidden = {each.doc_id for each in others}
    grounds = Grounds(
        [each for each in documents if each.doc_id not in hidden],
        NOTHING_SENSITIVE,
        reading_once(ready.system.encoder),
        "full" if others else "quick",
        ready.system.k,
        seed=0,
    )
    found = {each.name: each for each in (*linking(grounds), *singling_out(grounds)) if each.loss}
    if arguments.attack not in found:
        names = ", ".join(found)
        raise ConfigurationError(
            f"--attack {arguments.attack} is none that can be promised. There are: {names}."
        )
    measure = found[arguments.attack]
    if isinstance(measure.task, LinkageTask):
        measure = replace(measure, task=replace(measure.task, among=others))
    return measure, len(others)


def _report_attack(policy: Policy, promise: Promise, measure: Measure, pool: int) -> None:
    among, hidden = (
        (f", each hidden among {pool} others", ", and each is hidden among these others")
        if pool
        else ("", "")
    )
    console().print(
        f"{_stated(policy, promise.tau)}: the share of {measure.title} is at most {promise.max_leak:.1%} in "
        f"expectation, with confidence {promise.confidence:.0%}. Measured: {promise.measured:.2%} over "
        f"{promise.documents} documents{among}, upper bound {promise.bound:.2%}; "
        f"{promise.kept:.0%} of all mentions are kept.\n"
        f"Assumptions: new documents are drawn from the same distribution, one for each person{hidden}; "
        "detector, models, weights and scale are given and stay the same; the attacker does what this attack "
        f"does. The attack does not see {measure.blind}."
    )


def _stated(policy: Policy, threshold: float) -> str:
    chosen = policy.at(threshold)
    return f"k {chosen.k:.3g} of {chosen.people:g}" if policy.name == "lethe" else f"tau {threshold:g}"


def _marks_row(fitted: MarkedThreshold, marked_by: str) -> dict[str, object]:
    return {
        "method": "marks",
        "marked_by": marked_by,
        "tau": fitted.tau,
        "f1": fitted.f1,
        "best_tau": fitted.best_tau,
        "best_f1": fitted.best_f1,
        "marked": fitted.marked,
        "linked_entities": fitted.links,
    }


def _promise_row(promise: Promise, count: str) -> dict[str, object]:
    return {
        "method": "conformal",
        "tau": promise.tau,
        "max_leak": promise.max_leak,
        "confidence": promise.confidence,
        "counted": count,
        "documents": promise.documents,
        "measured_leakage": promise.measured,
        "bound": promise.bound,
        "mentions_kept": promise.kept,
        "thresholds": [
            {"tau": each.tau, "leakage": each.mean, "p_value": each.p_value, "safe": each.safe}
            for each in promise.tested
        ],
    }


def _report(policy: Policy, promise: Promise, count: str) -> None:
    console().print(
        f"{_stated(policy, promise.tau)}: an index reader finds on average at most {promise.max_leak:.1%} of "
        f"the sensitive entities ({count}) of a new document that has any, with confidence "
        f"{promise.confidence:.0%}. Measured: {promise.measured:.2%} over the {promise.documents} documents "
        f"that have any, upper bound {promise.bound:.2%}; {promise.kept:.0%} of all mentions are kept.\n"
        "Assumptions: new documents are drawn from the same distribution; detector, models, weights and "
        "scale stay the same; only entities of the reference count, word for word. Where the reference is "
        "the detector itself, its misses are not covered; neither is what can be inferred."
    )
