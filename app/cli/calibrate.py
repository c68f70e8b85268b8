"""``lethe calibrate``."""

import argparse
import sys
from pathlib import Path

from app.calibrating import (
    COUNTED,
    Promise,
    leak_curve,
    links_of,
    marked_by_model,
    marked_by_people,
    promised,
)
from app.cli.attack import phases_on
from app.cli.console import console, message, progress, result
from app.cli.given import services_of
from app.compose import Services
from app.corpus import Phases, read_corpus
from app.policy_file import check_writable, write_policy
from app.scored import ScoredCorpus, scored_corpus
from eval.calibration.marks import MarkedThreshold, threshold_for_share, threshold_from_marks
from eval.gold import GoldRows, gold_rows
from ingest.policy import Policy
from ingest.read.sources import read_documents
from models.errors import ConfigurationError
from models.language_model import LanguageModel

SAMPLE = 100
"""Most documents that a language model is asked about."""


def run(arguments: argparse.Namespace) -> int:
    """A threshold as one JSON line, what it rests on in words, and a policy file on request."""
    services = services_of(arguments)
    if services.policy.name != "trip":
        raise ConfigurationError(
            f"Only the policy trip has a threshold, and this is {services.policy.name}: leave --policy away."
        )
    model = _model(arguments, services)
    if arguments.output:
        check_writable(Path(arguments.output))
    gold = _marks(arguments)
    readings = read_documents(
        arguments.paths, text_field=arguments.text_field, id_field=arguments.id_field, stdin=sys.stdin.buffer
    )
    with progress("done") as bar:
        told = phases_on(bar)
        corpus = read_corpus(services, readings, gold, phases=told)
        scored = scored_corpus(services, corpus, told)
        if corpus.unread:
            message(f"{corpus.unread} documents could not be read and are not counted")
        figures = _fitted(arguments, scored, services.policy, model, told)
    # Whatever engine the settings name, this is the one that the threshold was fitted with.
    figures |= {
        "scale": list(scored.scale.percentiles),
        "scale_source": scored.scale.source,
        "engine": scored.services.engine.name,
    }
    if arguments.output:
        path = Path(arguments.output)
        fitted = {name: figures[name] for name in ("tau", "scale", "engine")}
        write_policy(path, services.settings.policy, fitted, f"lethe calibrate ({figures['method']})")
        message(f"policy: {path}; use it with --policy {path}")
    result(figures)
    return 0


def _marks(arguments: argparse.Namespace) -> GoldRows | None:
    field = arguments.marks or arguments.gold_field
    if field is None:
        return None
    return gold_rows(arguments.paths, field, arguments.text_field, arguments.id_field)


def _model(arguments: argparse.Namespace, services: Services) -> LanguageModel | None:
    """What marks the documents where a model is to: asked for before they are read."""
    if not arguments.ask_model:
        return None
    if services.language_model is None:
        raise ConfigurationError(
            "--ask-model needs a language model: set generator.kind to llama_cpp or openai_compatible, "
            "or name a file with --gguf."
        )
    return services.language_model


def _fitted(
    arguments: argparse.Namespace,
    scored: ScoredCorpus,
    policy: Policy,
    model: LanguageModel | None,
    told: Phases,
) -> dict[str, object]:
    if arguments.max_leak is not None:
        counted = COUNTED[arguments.count]
        promise = promised(
            leak_curve(scored, policy, counted, told), arguments.max_leak, arguments.confidence
        )
        _tell(promise, arguments.count)
        return _promise_row(promise, arguments.count)
    if arguments.share is not None:
        tau = threshold_for_share(links_of(scored, policy), arguments.share)
        return {"method": "share", "tau": tau, "share": arguments.share}
    if model is not None:
        marks = marked_by_model(scored, model, SAMPLE, told)
        links = links_of(scored.only(marks.documents), policy, marks.marked)
        return _marks_row(threshold_from_marks(links, arguments.quantile), model.name)
    gold = scored.corpus.gold
    assert gold is not None
    links = links_of(scored, policy, marked_by_people(scored, gold))
    return _marks_row(threshold_from_marks(links, arguments.quantile), "marks")


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


def _tell(promise: Promise, count: str) -> None:
    console().print(
        f"tau {promise.tau:g}: of a new document like these that has any, a reader of the whole index finds "
        f"on average at most {promise.max_leak:.1%} of its sensitive entities ({count}), with confidence "
        f"{promise.confidence:.0%}. Measured: {promise.measured:.2%} over the {promise.documents} documents "
        f"that have any, at most {promise.bound:.2%}; {promise.kept:.0%} of all mentions are kept.\n"
        "This holds for documents drawn as these were, by the same detector, models, weights and scale, and "
        "for entities that the reference knows, word for word. It says nothing about what the detector does "
        "not find where the reference is the detector itself, nor about what can be inferred."
    )
