"""The benchmark of whole methods, on a handful of invented letters and a small encoder."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from app.cli.main import main
from app.compose import system_of
from app.settings.load import load_settings
from eval.corpora.corpus import Corpus, Question
from eval.corpora.sensitive import sensitive_in
from eval.measures.leakage import is_identifier
from eval.prepared import Prepared, prepared
from eval.rows import FILE, Row, RowFile
from eval.studies.calibrate import links_of
from eval.studies.compare import methods as variants
from eval.studies.compare.figures import WEIGHTED, system_name, with_comparisons
from eval.studies.compare.methods import LETHE, MATCHED, ORIGIN, RANDOM, REDACTED, TRIP
from eval.studies.compare.report import NOTHING_COMPARED, Summary, TripRagReport
from eval.studies.compare.study import Options, trip_rag
from ingest.deciding.baselines.dp_bart import DpBart
from ingest.deciding.policy import Policy
from ingest.documents import Document, SanitizedDocument
from ingest.errors import SanitizationError
from ingest.protocols import Sanitizer
from ingest.scoring.scale import Weights
from models.errors import LetheError
from models.vectors import Vectors
from retrieval.system import System
from tests.doubles import Letters, WordEncoder

PEOPLE = ("Tobias Quellmann", "Ada Vennström", "Oswin Tarrant", "Mira Jaspersen", "Ilko Brandtner")
THINGS = ("boiler", "kettle", "harvest", "ferry", "orchard")
LETTERS = [
    Document(
        f"letter-{number}",
        f"Invented. Mr {person} asked about the {thing} in March. The {thing} stands in Varde and is old. "
        f"Mr {person} is a plumber since 3 May {2011 + number}; "
        f"write to {person.split()[0].lower()}@example.org.",
    )
    for number, (person, thing) in enumerate(zip(PEOPLE, THINGS, strict=True))
]
ASKED, TOLD = "Who asked about the {}?", "A plumber asked about the {}."
QUESTIONS = [
    Question(f"q{number}", ASKED.format(thing), TOLD.format(thing), f"letter-{number}")
    for number, thing in enumerate(THINGS)
]
BENCH = Corpus("folder", LETTERS, QUESTIONS, None, "Invented.", "invented", "none")
SMALL = Options(seed=3, prompts=2, thorough=False)
WHOLE = Options(seed=3, prompts=2)
Whole = tuple[TripRagReport, Path]
Steps = list[tuple[int, int | None]]


class Backwards(WordEncoder):
    """Another encoder: of the same words spelled from behind."""

    name = "backwards (test double)"

    def encode(self, texts: Sequence[str]) -> Vectors:
        return super().encode([text[::-1] for text in texts])


@pytest.fixture(scope="module")
def system() -> System:
    settings = load_settings({"detector.learned": False, "risk.kind": "prior", "policy.name": "trip"})
    return system_of(settings, encoder=WordEncoder())


@pytest.fixture(scope="module")
def steps() -> Steps:
    """How many systems of how many were measured, as it was told."""
    return []


@pytest.fixture(scope="module")
def report(system: System, steps: Steps) -> TripRagReport:
    def told(phase: str, done: int, total: int | None) -> None:
        if phase == "measured":
            steps.append((done, total))

    # Whatever the policy is, the same methods are compared.
    other = replace(system, policy=Policy())
    return trip_rag(other, BENCH, SMALL, told, dp_barts=[DpBart(Letters(), [0], 1000, rng=Random(0))])


@pytest.fixture(scope="module")
def whole(system: System, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    """A thorough run with another encoder, and its folder."""
    folder = tmp_path_factory.mktemp("whole")
    return trip_rag(system, BENCH, WHOLE, further=[Backwards()], folder=folder), folder


@pytest.fixture(scope="module")
def ready(system: System) -> Prepared:
    return prepared(system, BENCH)


def test_every_method_is_measured_or_absent_with_a_reason(report: TripRagReport, steps: Steps) -> None:
    there = [each.method for each in report.methods]
    assert there[:2] == [ORIGIN, REDACTED]
    bart = "dp-bart (letters, epsilon 1000 and delta 1e-05 a text, 1 of 6 neurons pruned)"
    others = "suppress entity-type lprag lprag-compat extract".split()
    assert {TRIP, LETHE, "random within rules", bart, *others} <= set(there)
    assert report.absent["paraphrase"].startswith("needs a language model")
    assert "dp-bart" not in report.absent
    assert all(each.documents_failed == 0 for each in (*report.methods, *report.ablations))
    systems = len(report.methods) + len(report.ablations)
    assert steps == [(number, systems) for number in range(systems + 1)]
    # A row for every question to every method.
    assert len(report.rows) == systems * len(QUESTIONS)
    assert {row.case for row in report.rows} == {question.question_id for question in QUESTIONS}
    assert {doc_id for row in report.rows for doc_id in row.doc_ids} <= {each.doc_id for each in LETTERS}


def test_the_unsanitized_index_shows_all_and_the_random_control_takes_as_many(report: TripRagReport) -> None:
    origin, redact = report.methods[:2]
    assert [origin.recall_overlap[k].value for k in (1, 5, 10)] == [1.0, 1.0, 1.0]
    assert origin.disclosed.value == origin.kept.value == 1.0
    assert redact.kept.value == redact.identifiers.value == 0.0
    kept = {each.method: each.kept.value or 0.0 for each in report.methods}
    assert kept["random within rules"] == pytest.approx(kept[TRIP], abs=0.05)
    assert kept["rules alone"] >= kept[TRIP]


def test_a_quick_run_attacks_what_the_summary_compares(report: TripRagReport) -> None:
    assert [each.method for each in report.attacks] == [ORIGIN, REDACTED, TRIP]
    assert (report.sweep, report.grid, report.canaries, report.promises) == ((), (), (), ())
    summary = report.summary
    assert None not in (summary.recall.value, summary.recall_ratio.value)
    assert summary.leakage_change.value is not None and summary.leakage_change.value < 0
    assert summary.identifier_excess.value is not None and 0 <= summary.identifier_excess.value <= 1


def test_every_attack_breaks_the_unsanitized_index(whole: Whole) -> None:
    verbatim = [each for each in whole[0].attacks if each.method == ORIGIN and "verbatim" in each.generator]
    assert len(verbatim) == 3
    assert len([each for each in whole[0].attacks if each.method == ORIGIN]) == 5
    assert all(each.all_entities.value and each.failed == 0 for each in verbatim)


def test_a_thorough_run_has_every_part(whole: Whole, report: TripRagReport) -> None:
    found = whole[0]
    there = [each.method for each in found.methods]
    assert [each.method for each in found.canaries] == [each.method for each in found.encoders] == there
    assert {each.method for each in found.attacks} == set(there)
    assert {each.encoder for each in found.encoders} == {Backwards.name}
    assert found.absent["dp-bart"] == "needs a BART: name its folder with --dp-bart"
    assert found.correlations == report.correlations, "scores are those of trip"
    # Each encoder is held to its own unsanitized index.
    assert found.encoders[0].recall_overlap[1].value == 1.0
    assert len(found.grid) == 36 and found.sweep
    kinds = {(each.policy, each.counted) for each in found.promises}
    assert kinds == {(name, whose) for name in (TRIP, "scores alone") for whose in ("identifiers", "all")}
    answering = f"questions, {found.methods[0].encoder}"
    asked = Counter(row.system for row in found.rows if row.task == answering)
    assert set(asked.values()) == {found.corpus.questions}
    weighted = {system_name(cell.figures.method, cell.figures.strength, WEIGHTED) for cell in found.grid}
    assert weighted <= set(asked)
    assert len(asked) == len(found.methods) + len(found.ablations) + len(found.sweep) + len(found.grid)


def test_planted_secrets_come_out_of_the_unsanitized_index_and_numbers_of_no_other(whole: Whole) -> None:
    recall = {each.method: each.recall for each in whole[0].canaries}
    assert whole[0].canaries[0].documents == len(LETTERS)
    assert all(share.value == 1.0 for share in recall[ORIGIN].values() if share.n)
    assert recall[TRIP]["reference number"].hits == recall[REDACTED]["reference number"].hits == 0


def test_a_canary_in_a_document_that_failed_is_not_measured(
    whole: Whole, system: System, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = System.sanitizer

    def failing(self: System) -> Sanitizer:
        made = own(self)
        return Unfinished(made) if self.policy.name == "suppress" else made

    lines = (whole[1] / FILE).read_bytes().splitlines(keepends=True)
    (tmp_path / FILE).write_bytes(b"".join(each for each in lines if b'"canaries in' not in each))
    monkeypatch.setattr(System, "sanitizer", failing)
    again = trip_rag(system, BENCH, WHOLE, further=[Backwards()], folder=tmp_path)
    figures = {each.method: each for each in again.canaries}["suppress"]
    assert (figures.documents, figures.documents_failed) == (5, 1)
    assert sum(share.n for share in figures.recall.values()) == 4


class Unfinished:
    """Sanitizes like another one, and fails on the first document."""

    name = "unfinished (test double)"

    def __init__(self, made: Sanitizer) -> None:
        self.made = made

    def sanitize(self, documents: Sequence[Document]) -> list[SanitizedDocument | SanitizationError]:
        failed = SanitizationError(documents[0].doc_id, "rewriting failed (RuntimeError)")
        return [failed, *self.made.sanitize(documents[1:])]


def test_a_run_goes_on_where_it_was_ended(
    whole: Whole, system: System, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report, folder = whole
    lines = (folder / FILE).read_bytes().splitlines(keepends=True)
    end = len(lines) // 4
    (tmp_path / FILE).write_bytes(b"".join(lines[:end]) + lines[end][:40])
    added: list[Row] = []
    own = RowFile.add

    def counting(file: RowFile, row: Row) -> None:
        # Others are kept in memory: thresholds are tried again.
        if file.folder == tmp_path:
            added.append(row)
        own(file, row)

    monkeypatch.setattr(RowFile, "add", counting)
    again = trip_rag(system, BENCH, WHOLE, further=[Backwards()], folder=tmp_path)
    assert len(added) == len(lines) - end
    assert again.model_copy(update={"provenance": report.provenance}) == report
    assert (tmp_path / FILE).read_bytes() == b"".join(lines)
    assert (tmp_path / "attacks.jsonl").read_bytes() == (folder / "attacks.jsonl").read_bytes()


def test_every_prompt_has_a_row_that_its_figures_are_made_of(whole: Whole, system: System) -> None:
    report, folder = whole
    rows = [Row.model_validate_json(line) for line in (folder / "attacks.jsonl").read_text().splitlines()]
    assert len(rows) == sum(each.prompts for each in report.attacks) + 5 * len(report.canaries)
    sensitive = sensitive_in(BENCH, system.detector)
    for figures in report.attacks:
        task = f"{figures.attack}, {figures.generator}, k {figures.k}"
        own = [row for row in rows if (row.system, row.task) == (figures.method, task)]
        assert [row.case for row in own] == [str(number) for number in range(figures.prompts)]
        leaked = [leak.entity for row in own for leak in row.leaked]
        present = [entity for row in own for entity in sensitive.behind(row.doc_ids)]
        assert (figures.all_entities.hits, figures.all_entities.n) == (len(leaked), len(present))
        identifiers = [len([*filter(is_identifier, each)]) for each in (leaked, present)]
        assert [figures.identifiers.hits, figures.identifiers.n] == identifiers
        assert figures.repeat_prompts.hits == sum(any(copy.copied_runs for copy in row.copies) for row in own)
    planted = [row for row in rows if row.system == f"canaries in {ORIGIN}"]
    assert len(planted) == 5 and all(row.leaked for row in planted)
    assert {row.kind for row in planted} <= set(report.canaries[0].recall)


def test_parts_of_another_run_are_refused(whole: Whole, system: System) -> None:
    place = re.escape(str(whole[1] / FILE))
    with pytest.raises(LetheError, match=rf"^{place} is of another run: .* remove the file\.$"):
        trip_rag(system, BENCH, replace(WHOLE, prompts=3), further=[Backwards()], folder=whole[1])
    # Settings digest only the length of the user's lists.
    listed = replace(system, own_entities="of other lists")
    with pytest.raises(LetheError, match=rf"^{place} is of another run"):
        trip_rag(listed, BENCH, WHOLE, further=[Backwards()], folder=whole[1])


def test_strengths_reach_from_little_to_everything(ready: Prepared) -> None:
    encoder = WordEncoder()
    named = variants.strengths(ready, encoder, 0)
    by_scores = {TRIP, LETHE, "scores alone", "privacy only", RANDOM, MATCHED}
    assert {each.name for each in named} == by_scores | {"lprag", "lprag-compat"}
    for name in (TRIP, LETHE):
        taken = [each.strength for each in named if each.name == name]
        assert len(set(taken)) == len(taken), "each strength once"
        assert all((strength or 0.0) >= 0.5 for strength in taken), "hard rules take more than half of these"
        assert 1.0 in taken
    assert len(variants.grid(ready, 0.6)) == 36
    policy = variants.scores_alone(ready.system.policy)
    assert variants.at_share(ready, policy, 1.0).tau < variants.at_share(ready, policy, 0.7).tau
    assert {each.name for each in variants.ablations(ready, 0.6)} >= {"without topic", "single mentions"}


def test_what_is_compared_follows_from_the_rows(whole: Whole) -> None:
    found = whole[0]
    bare = found.model_copy(
        update={"frontier": NOTHING_COMPARED, "frontier_all": NOTHING_COMPARED, "summary": Summary()}
    )
    assert with_comparisons(bare) == found
    assert with_comparisons(bare.model_copy(update={"rows": ()})).summary == Summary()
    for each in (found.frontier, found.frontier_all):
        assert 0 <= each.by_trip <= each.dominated <= each.points
        assert each.points <= len(found.methods) - 2 + len(found.sweep)
    assert found.summary.dominated == found.frontier.share
    assert set(found.frontier_all.areas) <= {each.method for each in (*found.methods, *found.sweep)}
    again = found.model_copy(update={"sweep": (*found.sweep, *found.sweep)})
    assert with_comparisons(again).frontier == found.frontier, "a point counts once"


def test_ablations_take_the_share_that_the_default_takes(ready: Prepared) -> None:
    policy = ready.system.policy
    share = variants.share_taken(ready.decisions(ready.by(policy).method()))
    for weights in (Weights(), Weights(1.0, 0.0, 0.0), Weights(1.0, 0.0, 2.0)):
        chosen = variants.at_share(ready, replace(variants.scores_alone(policy), weights=weights), share)
        taken = variants.share_taken(ready.decisions(ready.by(chosen).method()))
        assert taken == pytest.approx(share, abs=1.5 / len(links_of(ready, chosen)))
    single = variants.single_mentions(ready, variants.scores_alone(policy), share)
    assert variants.share_taken(ready.decisions(single)) == pytest.approx(share, abs=0.15)


def test_a_corpus_without_questions_is_refused(system: System) -> None:
    bench = Corpus("folder", LETTERS, [], None, "Invented.", "invented", "none")
    with pytest.raises(LetheError, match=r"^folder has no questions: more documents, or longer ones, would"):
        trip_rag(system, bench, SMALL)


def test_the_verb_refuses_another_policy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "letters"
    folder.mkdir()
    (folder / "a.txt").write_text(json.dumps("Invented."))
    code = main(["bench", "trip-rag", str(folder), "--policy", "redact", "--data-dir", str(tmp_path)])
    assert code == 2
    assert "compares trip with every other policy, and this is redact" in capsys.readouterr().err
