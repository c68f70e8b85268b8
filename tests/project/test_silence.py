"""No marker in any repr, log, warning, error, answer or file. The marked person and all else is invented."""

import dataclasses
import gc
import importlib
import inspect
import json
import logging
import pkgutil
import socket
import sqlite3
import subprocess
import sys
import time
import traceback
import types
import typing
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from enum import Enum
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from fastapi.testclient import TestClient
from pydantic import BaseModel, SecretStr

from app.access.keys import Keys
from app.cli.main import main
from app.compose import system_of
from app.data_dir import DataDir
from app.ingesting import ingest
from app.server.app import create_app
from app.settings.load import load_settings
from ingest.errors import SanitizationError
from ingest.read.reading import Reading
from ingest.read.sources import read_documents
from models.encoders.minilm import MiniLM
from models.errors import LetheError
from tests.chat_server import Reply, chat_server, says
from tests.commands import environment, write_records

ROOMS = ("models", "ingest", "retrieval", "eval", "app")

NAME, MAIL, MRN = "Zorvathian Quell", "zorvathian.quell@example.org", "88213407"
MARKS = ("zorvathian", "quell@", MRN)
KEY = "zorvathian-key"
MARKED = [
    f"Invented clinic note. Patient name: Mr {NAME}, MRN: {MRN}. Mr {NAME} has had a cough for three weeks.",
    f"Invented letter. Dear Mr {NAME}, your boiler is repaired. We wrote to {MAIL}. MRN: {MRN}.",
]
PLAIN = ["Invented note. The boiler of the mill is broken.", "Invented note. The heron was fed at noon."]
QUESTION = f"Is the boiler of the mill of Mr {NAME} ({MAIL}, MRN {MRN}) broken?"


def marks_in(text: str | bytes) -> list[str]:
    """Which of the marks stand in a text, or in bytes, in whatever case."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace") + text.decode("utf-16-le", "replace")
    return [mark for mark in MARKS if mark in text.lower()]


def chain_of(error: BaseException | None) -> Iterator[BaseException]:
    """An error with everything that a traceback of it would go on to."""
    while error is not None:
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def printed_forms(error: BaseException) -> str:
    """Everything that a log of this error could show, values of variables left aside."""
    shown = [f"{e!r} {e} {e.args} {vars(e)} {getattr(e, '__notes__', '')}" for e in chain_of(error)]
    # The source lines of a traceback are ours and not the document's.
    lines = traceback.TracebackException.from_exception(error).format_exception_only()
    return "\n".join([*shown, *lines, "".join(traceback.format_exception(error))])


# -- reprs -----------------------------------------------------------------------------------------------

SHOWN = """
models.corpora.countries.Country: name nationality locale layouts roads units zips phones
models.catalog.ModelRef: name revision
models.catalog.EmbeddedFile: package path sha256
models.catalog.ModelDescription: id licence revision
models.pull.Offer: name revision licence
models.pull.RemoteFile: path sha256
models.catalog.VerifiedFile: model sha256
models.gliner_model.FoundSpan: label
models.trained.Trained: name
models.judges.ClaimPair: kind group
models.attributes.Head: attribute values
models.attributes.Heads: name heads
models.attributes.KnownTexts: attribute values
models.training.attributes.KeptApart: figures
eval.attacks.attributes.Value: name
eval.attacks.attributes.Country: code name people towns domain phone currency
eval.attacks.attribute_truths.KnownText: corpus
eval.attacks.claim_pairs.Passage: corpus doc_id
models.corpora.documents.Mark: label entity identifier
models.corpora.documents.MarkedText: id group
models.corpora.sentences.Sentence: id group unsure
models.corpora.examples.Example: id corpus group asked
models.corpora.examples.Mention: label
models.corpora.examples.Need: kind identifier
models.corpora.passages.Mark: kind identifier
models.corpora.passages.Passage: name document language noise
models.corpora.rubric.Snippet: id domain
models.reader.reader.Item: kind identifier
models.reader.network.Stored: name
models.training.reader.ReaderRecipe: shares
models.training.reader_rows.Item: source asked
ingest.documents.Document: doc_id
ingest.documents.Entity: label source
ingest.documents.Decision: reason replacement
ingest.documents.Risk: engine
ingest.documents.SanitizedDocument: doc_id policy doubts
ingest.documents.Unread: kind reason
ingest.language.identification.Languages: others
ingest.wording.rungs.Rung: words
ingest.wording.sentence.Words: one many bare verb adjective
ingest.wording.sorts.Known: sort group
models.training.wording.Example: sort form
models.training.fields.FieldExample: path beside cells kind base
models.wording.Place: kind
models.wording.Sort: name kind one many bare verb adjective
ingest.wording.mentions.Fit: words
ingest.wording.places._Areas: countries names people states codes
ingest.wording.places._Town: name country region
ingest.read.office.Relation: kind
ingest.read.rtf._Reader: fonts of_the_file
ingest.labels.Label: name descriptor
ingest.detection.cells.Cell: group
ingest.detection.fields.Field: kind
models.fields.FieldHead: kinds
models.bits.BitsModel: name features
eval.studies.narrowing.Pairs: name
ingest.detection.own.lists.OwnPattern: name label check
ingest.detection.patterns.page.Where: near
ingest.detection.patterns.pattern.Pattern: name label regex
ingest.pipeline.Failure: place reason
ingest.pipeline.Tally: entities unread documents_unread doubts
ingest.deciding.policy.Treatment: operators words
ingest.documents.Arrival: doc_id
ingest.read.mail.Mail: place
ingest.read.records.Record: place part
ingest.read.reading.Fields: text id
ingest.read.text.Line: problem
ingest.synthesizing.documents.SyntheticDocument: doc_id method privacy
ingest.wording.replace.Rendered: replacements
ingest.deciding.baselines.uniform.Uniform: name reason
ingest.scoring.scale.Scale: source
retrieval.collection.Erasure: doc_id
retrieval.store.chain.Chain: table
retrieval.store.chain.Link: at event digest
retrieval.documents.Sealed: key_id
retrieval.documents.SealedOriginal: doc_id
retrieval.documents.Passage: doc_id doubts
retrieval.documents.KeptDocument: doc_id kept_at doubts reviewed
retrieval.documents.Noted: label identifier source action reason
retrieval.reviewing.Reviewed: doc_id
retrieval.store.database.Rewritten: doc_id
retrieval.documents.Citation: doc_id
retrieval.documents.Answer: engine question_doubts
retrieval.system.System: own_entities settings_digest numbers
retrieval.manifest.Manifest: created encoder detector risk version own_entities table
eval.documents.SensitiveEntity: doc_id label
eval.documents.EntityRef: doc_id label
eval.documents.AttackPrompt: kind
eval.documents.Attempt: failure
eval.documents.PassageCopy: doc_id
eval.rows.Row: system task case kind failure engine doc_ids figures
eval.rows._Heading: run
eval.experiment.SanitizedCorpus: system
eval.experiment.SystemRows: system
eval.experiment.Experiment: systems tasks kept
eval.studies.intact.order.PublishedWords: name
eval.measures.preserved.Clustering: engine
eval.measures.preserved.ClustersKept: engine
eval.studies.intact.report.MethodFigures: method nmi kinds
eval.studies.intact.report.TextFigures: method nmi
eval.studies.intact.report.OrderFact: measure lower higher
eval.studies.intact.report.BenchmarkRow: method spans nmi
eval.studies.intact.report.BenchmarkFigures: engines
eval.studies.intact.report.IntactReport: command engines absent
eval.studies.intact.study.Replaced: doc_id kind label
ingest.wording.guessed.Case: label
eval.tasks.linkage.Categorizer: name
eval.tasks.sets.Mauve: engine
eval.measures.preserved.Preserved: engine
eval.studies.intact.order.Reidentified: engine
eval.measures.uncertainty.Estimate: why_not
eval.provenance.Provenance: date hardware versions settings commit
eval.studies.extraction.AttackCard: name goal threat_model reference
eval.studies.extraction.Reference: source
eval.studies.extraction.ArmSummary: name engines failures by_identifier by_label
eval.studies.extraction.ExtractionReport: baseline overlap_questions decisions
eval.reports.schema.Cell: mark
eval.reports.schema.Plot: kind
eval.studies.detection.study._Column: name corpora
eval.studies.detection.study._Work: wanted tallies estimates sizes
eval.studies.detection.cases.Case: id corpus unit asked
eval.studies.detection.tasks.Kind: name marked found also_found also_right
eval.studies.detection.cases.MarkedEntity: kind
eval.studies.detection.study.Miss: detector corpus record label shape
eval.studies.detection.study.DetectionReport: detectors seeds corpora wrong
eval.studies.detection.study.Figure: question detector
eval.studies.detection.study.Question: key corpus title unit
eval.studies.detection.tasks.Task: key corpus title
eval.attacks.canaries.CanaryKind: label
eval.attacks.extraction.CustomAttack: name goal threat_model reference
eval.attacks.guessing.Guess: doc_id label
eval.attacks.guessing.Reconstruction: doc_id
eval.attacks.posterior.Slot: doc_id
eval.corpora.corpus.Corpus: name split source license
eval.corpora.corpus.Question: question_id about
eval.corpora.corpus.Selection: split
eval.corpora.layouts.Layout: corpus files fields source license
eval.studies.risk.AgreementRow: domain
eval.studies.compare.figures._Measured: areas
eval.studies.compare.report.AttackFigures: method attack generator
eval.studies.compare.report.CanaryFigures: method recall
eval.studies.compare.report.Correlation: one other
eval.studies.compare.report.CorpusCard: name split source license reference
eval.studies.compare.report.Frontier: areas
eval.studies.compare.report.GuessFigures: method
eval.studies.compare.report.MethodFigures: method encoder
eval.studies.compare.report.PromiseFigures: policy counted
eval.studies.compare.report.TripRagReport: generator sacrebleu_signature grid_spearman absent
eval.studies.tune.Cell: decisions
eval.studies.tune.CheckedCell: decisions
eval.studies.tune.TuningReport: corpus split reference generator procedure
eval.studies.compare.methods.ComparedMethod: name
eval.studies.risk.ModelRow: model domain
eval.studies.risk.RiskReport: models
ingest.explain.ExplainedEntity: label reason replacement
app.access.keys.Key: key_id name scopes collections created revoked
app.access.keys.NewKey: key
app.access.trail.Entry: key_id action scopes outcome collection about counts
app.access.trail.Found: about counts
app.access.vault.Original: sealed_as
app.access.vault.Sealing: collection_id
app.server.bodies.ChatBody: model collection
app.server.bodies.ResponsesBody: model collection
app.server.bodies.SearchBody: collection
app.server.bodies.EmbeddingsBody: model
app.on_ray.OnRay: own_entities
app.on_ray._Sent: own_entities version
app.dry_run.Kind: identifier label action reason
app.dry_run.Counted: replacements
app.server.middleware.answered.Answered: request_id method route key_id error
app.server.answers.CollectionAnswer: collection entities policy encoder detector risk index table audit_log
app.server.answers.EmbeddingsAnswer: model
app.server.answers.PassageAnswer: doc_id warnings
app.server.answers.CitationAnswer: doc_id
app.server.answers.ModelAnswer: id
app.server.answers.ChatAnswer: id model engine warnings
app.server.answers.ResponseAnswer: id model engine warnings
app.server.answers.OutputMessageAnswer: id
app.server.answers.OriginalAnswer: doc_id sealed_as
app.server.answers.RevealedPlace: label action
app.server.answers.DetectedRiskAnswer: engine
app.server.answers.UnreadAnswer: kind reason
app.server.answers.DocumentAnswer: doc_id kept_at detected_risk doubts not_read reviewed
app.server.answers.StoredDecisionAnswer: label reason
app.server.answers.ReviewedAnswer: doc_id
app.server.answers.DocumentsAnswer: documents
app.server.answers.DocumentTextAnswer: doc_id
app.server.answers.FailureAnswer: place reason
app.server.answers.JobAnswer: job_id collection created started ended progress failures error
app.server.answers.JobsAnswer: jobs
app.server.answers.ErasureAnswer: doc_id
app.server.answers.NotProvedAnswer: reason
app.server.answers.ReceiptAnswer: collection not_proved erasures
app.server.answers.DeletedAnswer: deleted
app.server.answers.DecisionAnswer: label identifier scores action reason source
app.server.answers.SanitizedAnswer: detected_risk doubts policy
app.server.answers.PolicyAnswer: name description
app.server.answers.PoliciesAnswer: policies
app.server.answers.KeyAnswer: key_id name scopes collections created revoked
app.server.answers.NewKeyAnswer: key_id name scopes collections created revoked
app.server.answers.KeysAnswer: keys
app.server.answers.TrailEntryAnswer: at key_id action scopes outcome collection about counts digest
app.server.answers.TrailHeadAnswer: digest
app.server.answers.TrailAnswer: entries head
app.server.answers.ProblemAnswer: type title detail code param
app.server.routes.web._File: kind etag
app.server.routes.presidio_bodies.RefusedAnswer: error
app.server.bodies.KeyBody: name collections
app.server.bodies.ResanitizeBody: into
app.server.bodies.SanitizeBody: collection
app.jobs.table.Job: job_id key_id collection created started ended progress error
app.jobs.table.Lane: only
app.jobs.uploads.Order: source
app.jobs.uploads._Sent: place
app.server.answers.ErrorDetail: message type param code
app.settings.load._Problem: name wrong
app.cli.synthesize.Synthesis: figures sentences
models.language.tuning.Noise: accountant
app.settings.policy.PatternSettings: name label check
app.settings.policy.PolicySettings: operators words
app.settings.report.SettingRow: name value description
app.settings.tables.DetectorSettings: labels
app.settings.tables.GeneratorSettings: base_url model
app.settings.tables.IngestSettings: ray
app.settings.tables.ServerSettings: host hosts
eval.corpora.marked.Place: document
eval.corpora.marked.MarkedCorpus: name
eval.documents.Mark: kind
eval.documents.MarkedDocument: corpus annotator
eval.corpora.loaders.ChoiceQuestion: about
eval.studies.linkage.report.Attack: linker
eval.studies.linkage.report.AttackFigures: part
eval.studies.linkage.report.LinkageReport: command corpus source split engines answerer warning usage
eval.studies.linkage.report.MethodFigures: method categories
eval.studies.linkage.report.Outcome: method
eval.studies.marks.study.MarkFigure: method annotator kind count
eval.studies.marks.study.MarkedCorpusFigures: name annotators exposures
eval.studies.marks.study.MarkedPart: name failed extracted recall_overlap recall_minus_lethe
eval.studies.marks.study.MarksReport: command methods absent
eval.studies.marks.study.Options: corpora
eval.studies.audit.measures.Measure: name title blind shown_on reference
eval.studies.audit.report.AuditReport: collection suite systems reference verdict problems
eval.studies.audit.report.Gate: measure reference
eval.studies.audit.report.Place: doc_id label
eval.studies.audit.report.Leak: doc_id labels
eval.studies.audit.report.MeasureFigures: name title engine figures chances blind failures reference
eval.studies.audit.options.Options: at_most at_least
eval.studies.attributes.AttackFigures: attacker by_attribute
eval.studies.attributes.AttributesReport: command attributes methods usage blind judges engines
eval.studies.attributes.MethodFigures: method attacks stops rounds judged
eval.studies.attributes.Options: variants
ingest.protecting.incognitext.Incognito: variant attributes
ingest.protecting.incognitext.Protected: stops rounds
ingest.protecting.incognitext.Variant: name
ingest.protecting.incognitext.Pair: attribute
ingest.protecting.edits.Edit: kind
ingest.protecting.search.Searched: stops edits before after
models.language.prompts.Prompt: name
eval.tasks.injection.Injected: by_command
eval.studies.defences.Defence: name limits
eval.studies.defences.DefenceFigures: defence drawn also injected_by
eval.studies.defences.DefencesReport: command reference limits always absent need_a_model
eval.studies.defences.Options: refusals limit_figures also
eval.tasks.coverage.Benign: refusals
eval.tasks.coverage.CoverageTask: refusals
eval.tasks.marks.MarkShare: kind count
eval.tasks.membership.MembershipTask: scores
eval.tasks.membership.ScoreFigures: score failures
eval.studies.membership.ArmFigures: name engines
eval.studies.membership.MembershipReport: baseline victim shadow
eval.tasks.marks.Marks: annotator
eval.measures.said.Range: unit
eval.studies.intact.report.Pair: kind
eval.studies.intact.report.AgreementFigure: part
eval.studies.intact.report.JudgedReplacement: doc_id system kind
"""
"""Fields with text that a repr may show: ids, labels, names of parts, our own sentences. Everything else
that can hold text must be hidden; whoever adds a line here says that no document's words can get into it."""

SOURCES = ("notes.jsonl", "keller_tobias_zorvathian.txt", "mail.jsonl")

ALLOWED = {line.split(": ")[0]: frozenset(line.split(": ")[1].split()) for line in SHOWN.strip().splitlines()}


def nouns() -> dict[str, type]:
    """Every dataclass, named tuple and pydantic model of the five rooms, by its full name."""
    found: dict[str, type] = {}
    for room in ROOMS:
        package = importlib.import_module(room)
        for module in pkgutil.walk_packages(package.__path__, f"{room}."):
            # What is synthetic was never anybody's.
            if module.name.endswith("__main__") or ".synthetic." in module.name:
                continue
            for each in vars(importlib.import_module(module.name)).values():
                if isinstance(each, type) and each.__module__ == module.name and is_noun(each):
                    found[f"{each.__module__}.{each.__qualname__}"] = each
    return found


def is_noun(each: type) -> bool:
    data = dataclasses.is_dataclass(each) or issubclass(each, (BaseModel, tuple))
    return data and not inspect.isabstract(each)


def fields_of(noun: type) -> dict[str, Any]:
    """The types of a noun's own fields; what a library's base class brings is left to the library."""
    ours = {
        name
        for base in noun.__mro__
        if base.__module__.split(".")[0] in ROOMS
        for name in base.__dict__.get("__annotations__", {})
    }
    unloaded = {"Tensor": types.NoneType, "Tokenizer": types.NoneType, "Collection": Sequence}
    hints = typing.get_type_hints(noun, localns=unloaded)
    if issubclass(noun, BaseModel):
        return {name: hints[name] for name in noun.model_fields if name in ours}
    if dataclasses.is_dataclass(noun):
        return {field.name: hints[field.name] for field in dataclasses.fields(noun)}
    return {name: hints[name] for name in ours if name in getattr(noun, "_fields", ())}


def filled(noun: type) -> Any:
    """One with the marker wherever text could stand, save in the fields that may be shown."""
    allowed = ALLOWED.get(f"{noun.__module__}.{noun.__qualname__}", frozenset())
    values = {
        name: value_of(hint, "shown" if name in allowed else NAME) for name, hint in fields_of(noun).items()
    }
    if issubclass(noun, BaseModel):
        return noun.model_construct(**values)
    if issubclass(noun, tuple):
        return noun(**values)
    made = object.__new__(noun)
    for name, value in values.items():
        object.__setattr__(made, name, value)
    return made


def value_of(hint: Any, text: str) -> Any:
    """A value of a type with ``text`` in every place that can hold some; a union gives one of each."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return tuple(value_of(each, text) for each in arguments)
    if origin is typing.Literal:
        return arguments[0]
    if origin is not None:
        return container_of(origin, [value_of(each, text) for each in arguments if each is not ...], text)
    if hint in (str, object, Any, bytes):
        return text.encode() if hint is bytes else text
    if not isinstance(hint, type) or hint is types.NoneType:
        return None
    if is_noun(hint) and hint.__module__.split(".")[0] in ROOMS:
        return filled(hint)
    if issubclass(hint, SecretStr):
        return SecretStr(text)
    return next(iter(hint)) if issubclass(hint, Enum) else None


def container_of(origin: Any, items: list[Any], text: str) -> Any:
    if origin is np.ndarray:
        return np.array([text])
    if isinstance(origin, type) and issubclass(origin, Counter):
        return Counter(items)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {str(items[0]): items[1]}
    return None if origin is Callable or items == [] else tuple(items)


NOUNS = nouns()


@pytest.mark.parametrize("name", sorted(NOUNS))
def test_no_noun_shows_its_text(name: str) -> None:
    noun = filled(NOUNS[name])
    for shown in (repr(noun), str(noun), f"{noun}", f"{[noun]}", f"{noun!a}"):
        assert not marks_in(shown), f"{name} shows private text; hide the field, or see SHOWN"


def test_the_list_of_shown_fields_has_no_stale_line() -> None:
    there = {f"{name}: {field}" for name, noun in NOUNS.items() for field in fields_of(noun)}
    listed = {f"{name}: {field}" for name, fields in ALLOWED.items() for field in fields}
    assert listed <= there


def test_the_fields_with_text_are_really_filled() -> None:
    from ingest.documents import Document
    from retrieval.store.database import CutDocument

    assert filled(Document).text == NAME
    assert marks_in(filled(CutDocument).passages[0].text)
    assert len(NOUNS) > 60


# -- the real command, talking as much as it can ---------------------------------------------------------

TALKING = """
import logging, sys
logging.basicConfig(level=logging.DEBUG)
from app.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def talking(data_dir: Path, *arguments: str, code: str = TALKING) -> subprocess.CompletedProcess[str]:
    """The command line in Python's development mode, every warning and every log record on."""
    return subprocess.run(
        [sys.executable, "-X", "dev", "-W", "default", "-c", code, *arguments],
        env={**environment(data_dir), "PYTHONWARNINGS": "default"},
        cwd=data_dir.parent,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture(scope="module")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A data folder with the collection ``notes``, and what the command said that made it."""
    folder = tmp_path_factory.mktemp("silence")
    write_records(folder / "notes.jsonl", [*MARKED, *PLAIN])
    # Ids can name people too: of files by their paths, of records by a field.
    (folder / "keller_tobias_zorvathian.txt").write_text(f"Invented. Mr {NAME} waits for the ferry.", "utf-8")
    row = {"id": MAIL, "text": f"Invented. Mr {NAME} keeps a heron."}
    (folder / "mail.jsonl").write_text(json.dumps(row), "utf-8")
    paths = [str(folder / name) for name in SOURCES]
    return folder / "data", talking(folder / "data", "ingest", *paths, "-c", "notes")


@pytest.fixture(scope="module")
def data(ingested: tuple[Path, subprocess.CompletedProcess[str]]) -> Path:
    return ingested[0]


def test_a_real_ingest_says_nothing(ingested: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    _, ran = ingested
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["documents_kept"] == 6
    assert "DEBUG:" in ran.stderr, "nothing was logged, so this proves nothing"
    assert not marks_in(ran.stdout + ran.stderr)


def test_no_byte_under_the_data_folder_is_marked(data: Path) -> None:
    files = [path for path in data.rglob("*") if path.is_file()]
    assert {"collection.db", "vectors.faiss", "manifest.json"} <= {path.name for path in files}
    for path in files:
        assert not marks_in(path.read_bytes()), path
        assert not marks_in(str(path.relative_to(data)))
    database = (data / "collections" / "notes" / "collection.db").read_bytes()
    assert b"Mr A" in database


# -- logs of every verb, in this process -----------------------------------------------------------------


class Kept(logging.Handler):
    """Keeps what any handler could print of each record."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(f"{record.getMessage()} {vars(record)}")
        if record.exc_info and record.exc_info[1]:
            self.messages.append(printed_forms(record.exc_info[1]))


@pytest.fixture
def logged() -> Iterator[list[str]]:
    """All records of all loggers from DEBUG on."""
    root, kept = logging.getLogger(), Kept()
    level = root.level
    root.addHandler(kept)
    root.setLevel(logging.DEBUG)
    try:
        yield kept.messages
    finally:
        root.removeHandler(kept)
        root.setLevel(level)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, minilm: MiniLM, data: Path) -> Path:
    """This process set up as the command finds it, with one encoder for all runs; the data folder."""
    for name in ("HF_HUB_OFFLINE", "HF_HUB_DISABLE_TELEMETRY"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "false")
    monkeypatch.setenv("LETHE_DATA_DIR", str(data))
    monkeypatch.setenv("LETHE_INGEST__KEEP_IDS", "true")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("app.compose._encoder", lambda settings: minilm)
    return data


def test_no_verb_logs_what_it_works_on(
    here: Path, logged: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    notes = str(here.parent / "notes.jsonl")
    for verb in (
        ["ingest", notes, "-c", "again", "--dry-run"],
        ["ingest", notes, "-c", "again"],
        ["sanitize", notes],
        ["sanitize", notes, "--output", str(tmp_path / "clean"), "--keep-ids"],
        ["explain", notes, "--json"],
        ["sanitize", notes, "--policy", "trip", "--tau", "0.2"],
        ["protect", notes, "--attributes", "sex", "--output", str(tmp_path / "protected.jsonl")],
        ["search", QUESTION, "-c", "notes"],
        ["collections"],
        ["erase", "r0001", "-c", "again"],
    ):
        assert main(verb) == 0, verb
        out, err = capsys.readouterr()
        assert not marks_in(out + err), verb[0]
    assert main(["ask", QUESTION, "-c", "notes"]) == 0
    out, err = capsys.readouterr()
    answered = json.loads(out)
    assert answered.pop("question") == QUESTION, "the question comes back to who asked, and nothing else"
    assert not marks_in(json.dumps(answered) + err)
    assert main(["ask", QUESTION, "-c", "none"]) == 1
    assert not marks_in("".join(capsys.readouterr()))
    logging.getLogger("tests").debug("heard")
    assert any(line.startswith("heard") for line in logged), "the records were not captured"
    assert not marks_in("\n".join(logged))


def test_an_attack_writes_and_logs_only_counts(
    here: Path, logged: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    report = tmp_path / "report"
    arguments = ["-c", "notes", "-n", "6", "--aim", "health", "--report", str(report)]
    paths = [str(here.parent / name) for name in SOURCES]
    assert main(["attack", "extraction", *paths, *arguments]) == 0
    out, err = capsys.readouterr()
    arms = {arm["name"]: arm["entity_leakage"]["value"] for arm in json.loads(out)["arms"]}
    assert arms["origin"] == 1.0, "the unsanitized arm must leak, else the files had nothing to hide"
    assert not marks_in(out + err)
    files = {path.name: path.read_bytes() for path in report.iterdir()}
    assert set(files) == {"report.html", "summary.json", "rows.jsonl"}
    for name, content in files.items():
        assert not marks_in(content), name
    assert not marks_in("\n".join(logged))


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (says(f"Mr {NAME} coughs [1]."), 0),
        (Reply(json.dumps({"error": QUESTION}).encode(), status=500), 1),
        (Reply(f"not JSON: {QUESTION}".encode()), 1),
    ],
)
def test_a_language_model_over_http_leaves_nothing_in_the_log(
    here: Path,
    logged: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    reply: Reply,
    code: int,
) -> None:
    with chat_server(reply) as chat:
        for name, value in (
            ("KIND", "openai_compatible"),
            ("BASE_URL", chat.url),
            ("MODEL", "m"),
            ("API_KEY", KEY),
        ):
            monkeypatch.setenv(f"LETHE_GENERATOR__{name}", value)
        assert main(["ask", QUESTION, "-c", "notes"]) == code
        assert chat.keys == [f"Bearer {KEY}"]
    out, err = capsys.readouterr()
    assert not marks_in(err)
    assert code == 0 or (out == "" and "the language model at" in err or "its answer" in err)
    assert any("httpx" in line or "httpcore" in line for line in logged), "its library logged nothing"
    assert not marks_in("\n".join(logged))


# -- forced failures -------------------------------------------------------------------------------------


def marked(value: object) -> bool:
    """Whether something that goes into a step is of a marked document."""
    texts = value if isinstance(value, (list, tuple)) else [value]
    return any(marks_in(str(getattr(text, "text", text))) for text in texts)


def failing(step: Callable[..., Any]) -> Callable[..., Any]:
    """The step as it was, but it fails on marked text with an error, and a cause, that quote it."""

    def fail(*arguments: Any, **named: Any) -> Any:
        if not any(map(marked, arguments)):
            return step(*arguments, **named)
        try:
            raise ValueError(f"cannot parse {QUESTION} {MARKED}")
        except ValueError as cause:
            raise RuntimeError(f"cannot handle {arguments} {QUESTION} {MARKED}") from cause

    return fail


def readings(folder: Path) -> list[Reading]:
    return list(read_documents([str(folder / "notes.jsonl")]))


STEPS = [
    ("ingest.detection.hybrid.find_patterns", "detection", "redact"),
    ("ingest.detection.hybrid.find_patterns", "detection", "trip"),
    ("ingest.sanitize.link", "detection", "redact"),
    ("ingest.scoring.engine.Engine.measure", "scoring", "trip"),
    ("ingest.deciding.threshold.echoes", "scoring", "trip"),
    ("ingest.wording.replace.render", "replacement", "redact"),
    ("ingest.scoring.learned_risk.LearnedRisk.hazards", "risk measurement", "redact"),
]


def patched(monkeypatch: pytest.MonkeyPatch, target: str) -> None:
    """Make one function or method fail on what is marked."""
    path, _, attribute = target.rpartition(".")
    owner: Any = importlib.import_module(
        path if path.rpartition(".")[2].islower() else path.rpartition(".")[0]
    )
    owner = owner if path.rpartition(".")[2].islower() else getattr(owner, path.rpartition(".")[2])
    monkeypatch.setattr(owner, attribute, failing(getattr(owner, attribute)))


@pytest.mark.parametrize(("target", "step", "policy"), STEPS)
def test_a_failing_step_keeps_the_document_out_and_its_text_to_itself(
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    logged: list[str],
    tmp_path: Path,
    target: str,
    step: str,
    policy: str,
) -> None:
    patched(monkeypatch, target)
    notes = str(here.parent / "notes.jsonl")
    data_dir = tmp_path / "data"
    code = main(["ingest", notes, "-c", "x", "--policy", policy, "--data-dir", str(data_dir)])
    out, err = capsys.readouterr()
    summary = json.loads(out)
    assert (code, summary["documents_kept"]) == (1, len(PLAIN)), "the rest of the batch goes on"
    reasons = {each["place"]: each["reason"] for each in summary["failures"]}
    assert reasons[f"{notes}, line 1"] == (
        f"document r0000 was not indexed: {step} failed (RuntimeError); nothing of it was kept"
    )
    assert f"{step} failed" in err.replace("\n", " ")
    assert "Traceback" not in err
    assert not marks_in(out + err + "\n".join(logged))
    for path in data_dir.rglob("*"):
        assert not path.is_file() or not marks_in(path.read_bytes())


def test_a_sanitization_error_holds_on_to_nothing(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    patched(monkeypatch, "ingest.wording.replace.render")
    sanitizer = system_of(load_settings({"policy.name": "redact"})).sanitizer()
    documents = [each.item for each in readings(here.parent)]
    outcomes = sanitizer.sanitize([each for each in documents if not isinstance(each, LetheError)])
    errors = [each for each in outcomes if isinstance(each, SanitizationError)]
    assert len(errors) == len(MARKED)
    for error in errors:
        assert (error.__cause__, error.__context__, error.__traceback__) == (None, None, None)
        assert not marks_in(printed_forms(error))
    gc.collect()
    assert not [each for each in gc.get_objects() if type(each) is RuntimeError and marks_in(str(each))]


def _disk(*_: object) -> None:
    raise OSError(28, f"No space left for {QUESTION}")


def _faiss(*_: object) -> None:
    raise RuntimeError(f"Error in fwrite of {QUESTION}")


def _sqlite(*_: object) -> None:
    raise sqlite3.OperationalError(f"near {QUESTION!r}: syntax error")


@pytest.mark.parametrize(
    ("target", "broken", "sentence"),
    [
        (
            "retrieval.store.database.Store._insert",
            _sqlite,
            "the database answered OperationalError. Check that",
        ),
        ("retrieval.index.faiss.FaissIndex.save", _faiss, "the index could not be written"),
        ("retrieval.index.faiss.FaissIndex.save", _disk, "the index could not be written"),
    ],
)
def test_a_store_that_cannot_be_written_is_reported_without_text(
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    logged: list[str],
    target: str,
    broken: Callable[..., None],
    sentence: str,
) -> None:
    data = DataDir(load_settings({"policy.name": "redact", "data_dir": str(tmp_path / "data")}))
    system = system_of(data.settings)
    with monkeypatch.context() as patch:
        patch.setattr(target, broken)
        with pytest.raises(LetheError, match=sentence) as caught:
            ingest(system, data, "x", readings(here.parent))
    assert not marks_in(printed_forms(caught.value) + "\n".join(logged))
    again = ingest(system, data, "x", readings(here.parent))
    assert again.kept + again.duplicates == len(MARKED) + len(PLAIN)
    for path in (tmp_path / "data").rglob("*"):
        assert not path.is_file() or not marks_in(path.read_bytes())


@pytest.mark.parametrize(
    "target", ["models.encoders.minilm.MiniLM.encode", "models.encoders.minilm.MiniLM.token_spans"]
)
@pytest.mark.parametrize("verb", ["ingest", "ask", "attack"])
def test_an_unexpected_error_is_an_internal_error_without_words(
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    logged: list[str],
    target: str,
    verb: str,
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError(f"cannot encode {QUESTION} {MARKED}")

    monkeypatch.setattr(target, broken)
    notes = str(here.parent / "notes.jsonl")
    if verb == "ask" and target.endswith("token_spans"):
        pytest.skip("asking counts no tokens")
    arguments = {
        "ingest": ["ingest", notes, "-c", "unexpected", "--policy", "redact"],
        "ask": ["ask", QUESTION, "-c", "notes"],
        "attack": ["attack", "extraction", notes, "-n", "2"],
    }[verb]
    assert main(arguments) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert f"lethe: internal error RuntimeError at {Path(__file__).name}:" in err
    assert "Nothing half-done was kept" in err
    assert "Traceback" not in err
    assert not marks_in(err + "\n".join(logged))


# -- the server ------------------------------------------------------------------------------------------


@pytest.fixture
def client(here: Path) -> Iterator[TestClient]:
    data = DataDir(load_settings({"data_dir": str(here)}))
    with closing(Keys(here)) as keys:
        app = create_app(data, keys, "notes")
        with TestClient(app, "http://127.0.0.1", raise_server_exceptions=False) as client:
            yield client


def turn(content: object) -> dict[str, object]:
    return {"messages": [{"role": "user", "content": content}]}


MALFORMED: list[tuple[str, object]] = [
    ("search", {}),
    ("search", {"question": [QUESTION]}),
    ("search", {"question": QUESTION * 1000}),
    ("search", {"question": "q", "k": QUESTION}),
    ("search", {"question": "q", "filter": QUESTION}),
    ("search", {"question": "q", QUESTION: 1}),
    ("search", [QUESTION]),
    ("search", QUESTION),
    ("chat/completions", turn([QUESTION])),
    ("chat/completions", turn({"text": QUESTION})),
    ("chat/completions", {"messages": [{"role": QUESTION, "content": "c"}]}),
    ("chat/completions", {"messages": [{"role": "system", "content": QUESTION}]}),
    ("chat/completions", {**turn("c"), "stream": QUESTION}),
    ("chat/completions", {**turn("c"), "user": [QUESTION]}),
    ("chat/completions", {**turn("c"), "model": QUESTION * 20}),
    ("chat/completions", {**turn("c"), "model": QUESTION}),
    ("chat/completions", {**turn("c"), "tools": [QUESTION]}),
    ("chat/completions", {**turn("c"), "metadata": {QUESTION: QUESTION}}),
]


@pytest.mark.parametrize("number", range(len(MALFORMED)))
def test_a_malformed_body_is_refused_without_quoting_it(
    client: TestClient, logged: list[str], number: int
) -> None:
    path, body = MALFORMED[number]
    answer = client.post(f"/v1/{path}", json=body)
    assert answer.status_code in (400, 404, 413)
    told = answer.json()
    assert told.get("detail") or told["error"]["message"]
    assert not marks_in(answer.text + str(answer.headers) + "\n".join(logged))


@pytest.mark.parametrize("content", [QUESTION, f'{{"question": "{QUESTION}', f'"{QUESTION}" "'])
def test_what_is_no_json_is_refused_without_quoting_it(
    client: TestClient, logged: list[str], content: str
) -> None:
    headers = {"content-type": "application/json"}
    for path in ("search", "chat/completions"):
        answer = client.post(f"/v1/{path}", content=content, headers=headers)
        assert answer.status_code == 400
        assert not marks_in(answer.text + "\n".join(logged))


@pytest.mark.parametrize("kind", [RuntimeError, KeyError, UnicodeError, MemoryError])
def test_an_internal_error_is_answered_by_its_type_alone(
    client: TestClient, logged: list[str], monkeypatch: pytest.MonkeyPatch, kind: type[Exception]
) -> None:
    def broken(*_: object) -> None:
        raise kind(f"cannot answer {QUESTION}")

    monkeypatch.setattr("retrieval.retriever.HybridRetriever.retrieve", broken)
    for path, body in (("search", {"question": QUESTION}), ("chat/completions", turn(QUESTION))):
        answer = client.post(f"/v1/{path}", json=body)
        assert answer.status_code == 500
        assert f"nternal error {kind.__name__}. Try again" in answer.text
        assert not marks_in(answer.text + str(answer.headers) + "\n".join(logged))


def test_a_good_answer_holds_none_of_it(client: TestClient, logged: list[str]) -> None:
    for path, body in (("search", {"question": QUESTION}), ("chat/completions", turn(QUESTION))):
        answer = client.post(f"/v1/{path}", json=body)
        assert answer.status_code == 200
        assert "boiler" in answer.text
        assert not marks_in(answer.text)
    # The client of this test logs the address that it asks, and addresses hold no questions.
    assert not marks_in("\n".join(logged))


SERVING = f"""
import logging, sys
logging.basicConfig(level=logging.DEBUG)
from retrieval.retriever import HybridRetriever
retrieve = HybridRetriever.retrieve
def broken(self, questions, *rest):
    if "break" in questions[0]:
        raise RuntimeError("cannot answer " + questions[0])
    return retrieve(self, questions, *rest)
HybridRetriever.retrieve = broken
{TALKING}
"""


@contextmanager
def serving(data_dir: Path) -> Iterator[tuple[str, Path]]:
    """A real server process that fails on questions with the word break; its address and its stderr."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    said = data_dir.parent / "serve.err"
    with said.open("w") as err:
        command = [sys.executable, "-X", "dev", "-W", "default", "-c", SERVING]
        process = subprocess.Popen(
            [*command, "serve", "-c", "notes", "--port", str(port)],
            env={**environment(data_dir), "PYTHONWARNINGS": "default"},
            stdout=err,
            stderr=err,
        )
        try:
            yield f"http://127.0.0.1:{port}", said
        finally:
            process.terminate()
            process.wait(timeout=20)


def wait_for(url: str, seconds: float = 60) -> None:
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        try:
            httpx.get(f"{url}/livez", trust_env=False)
        except httpx.TransportError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("the server did not start")


def test_a_real_server_says_nothing(data: Path) -> None:
    with serving(data) as (url, said):
        wait_for(url)
        # After an internal error a server may close the connection: each request has its own.
        alone = httpx.Limits(max_keepalive_connections=0)
        with httpx.Client(base_url=url, trust_env=False, timeout=30, limits=alone) as client:
            codes = [
                client.post("/v1/search", json={"question": QUESTION}).status_code,
                client.post("/v1/chat/completions", json=turn(QUESTION)).status_code,
                client.post("/v1/chat/completions", json=turn(f"break {QUESTION}")).status_code,
                client.post("/v1/search", json={"question": [QUESTION]}).status_code,
                client.post("/v1/search", content=f"{{{QUESTION}").status_code,
                client.get("/v1/search", params={"question": QUESTION}).status_code,
            ]
        with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2]))) as raw:
            raw.sendall(f"{QUESTION}\r\n\r\n".encode())
            raw.recv(1000)
    assert codes == [200, 200, 500, 400, 400, 405]
    log = said.read_text(encoding="utf-8")
    assert "serving notes on" in log
    assert "DEBUG:" in log, "nothing was logged, so this proves nothing"
    assert "Traceback" not in log
    assert not marks_in(log)
