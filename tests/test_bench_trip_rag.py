"""The benchmark of whole methods, on a handful of invented letters and a small encoder."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from app.bench.methods import (
    ABLATIONS,
    ORIGIN,
    REDACTED,
    TRIP,
    ablations,
    at_share,
    grid,
    methods,
    scores_alone,
    strengths,
)
from app.bench.options import Options
from app.bench.parts import FILE, Part, Parts
from app.bench.trip_rag import frontier_of, trip_rag
from app.cli.main import main
from app.compose import Services
from app.corpus import Corpus, detected
from app.scored import ScoredCorpus, scored_corpus
from app.settings import load_settings
from eval.corpora.bench_corpus import BenchCorpus, Question
from eval.trip_rag.goals import summary_of
from eval.trip_rag.report import TripRagReport
from ingest.documents import Document
from models.errors import LetheError
from models.vectors import Vectors
from tests.doubles import WordEncoder

PEOPLE = ("Tobias Quellmann", "Ada Vennström", "Oswin Tarrant", "Mira Jaspersen", "Ilko Brandtner")
THINGS = ("boiler", "kettle", "harvest", "ferry", "orchard")
LETTERS = [
    Document(
        f"letter-{number}",
        f"Invented. Mr {person} asked about the {thing} in March. The {thing} stands in Varde and is old. "
        f"Mr {person} is a plumber, aged {41 + number}; write to {person.split()[0].lower()}@example.org.",
    )
    for number, (person, thing) in enumerate(zip(PEOPLE, THINGS, strict=True))
]
QUESTIONS = [
    Question(
        f"q{number}",
        f"Who asked about the {thing}?",
        f"A plumber asked about the {thing}.",
        f"letter-{number}",
    )
    for number, thing in enumerate(THINGS)
]
BENCH = BenchCorpus("folder", LETTERS, QUESTIONS, None, "Invented.", "invented", "none")
SMALL = Options(seed=3, prompts=2, thorough=False)
WHOLE = Options(seed=3, prompts=2)


class Backwards(WordEncoder):
    """Another encoder: of the same words spelled from behind."""

    name = "backwards (test double)"

    def encode(self, texts: Sequence[str]) -> Vectors:
        return super().encode([text[::-1] for text in texts])


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Services:
    folder = tmp_path_factory.mktemp("data")
    made = Services(load_settings({"data_dir": str(folder), "detector.learned": False, "risk.kind": "prior"}))
    made.encoder = WordEncoder()
    return made


@pytest.fixture(scope="module")
def report(services: Services) -> TripRagReport:
    return trip_rag(services, BENCH, SMALL)


@pytest.fixture(scope="module")
def whole(services: Services, tmp_path_factory: pytest.TempPathFactory) -> tuple[TripRagReport, Path]:
    """A thorough run with another encoder, and its folder."""
    folder = tmp_path_factory.mktemp("whole")
    return trip_rag(services, BENCH, WHOLE, further=[Backwards()], folder=folder), folder


@pytest.fixture(scope="module")
def scored(services: Services) -> ScoredCorpus:
    return scored_corpus(services, Corpus(LETTERS, detected(services, LETTERS)))


def test_every_method_is_measured_or_absent_with_a_reason(report: TripRagReport) -> None:
    there = [each.method for each in report.methods]
    assert there[:2] == [ORIGIN, REDACTED]
    assert {TRIP, "suppress", "entity-type", "random", "lprag", "lprag-compat", "extract"} <= set(there)
    assert report.absent["paraphrase"].startswith("needs a language model")
    assert all(each.documents_failed == 0 for each in report.methods)


def test_the_unsanitized_index_overlaps_with_itself_and_shows_all(report: TripRagReport) -> None:
    origin, redact = report.methods[:2]
    assert [origin.recall_overlap[k].mean for k in (1, 5, 10)] == [1.0, 1.0, 1.0]
    assert origin.disclosed.share == origin.kept.share == 1.0
    assert redact.kept.share == 0.0
    assert redact.identifiers.share == 0.0


def test_every_attack_breaks_the_unsanitized_index(whole: tuple[TripRagReport, Path]) -> None:
    verbatim = [each for each in whole[0].attacks if each.method == ORIGIN and "verbatim" in each.generator]
    assert len(verbatim) == 3
    assert all(each.all_entities.share and each.failed == 0 for each in verbatim)


def test_a_quick_run_attacks_what_the_summary_compares(report: TripRagReport) -> None:
    assert [each.method for each in report.attacks] == [ORIGIN, REDACTED, TRIP]
    assert (report.sweep, report.grid, report.canaries, report.promises) == ((), (), (), ())
    assert None not in (summary_of(report).identifier_excess, summary_of(report).leakage_change)


def test_a_thorough_run_has_every_part(whole: tuple[TripRagReport, Path]) -> None:
    found = whole[0]
    methods_there = [each.method for each in found.methods]
    assert [each.method for each in found.canaries] == methods_there
    assert {each.method for each in found.attacks} == set(methods_there)
    assert [each.method for each in found.encoders] == methods_there
    assert {each.encoder for each in found.encoders} == {Backwards.name}
    assert found.encoders[0].recall_overlap[1].mean == 1.0, (
        "each encoder is held to its own unsanitized index"
    )
    assert len(found.grid) == 36 and found.sweep and len(found.promises) == 3


def test_planted_secrets_come_out_of_the_unsanitized_index_and_numbers_of_no_other(
    whole: tuple[TripRagReport, Path],
) -> None:
    recall = {each.method: each.recall for each in whole[0].canaries}
    assert whole[0].canaries[0].documents == len(LETTERS)
    assert all(share.share == 1.0 for share in recall[ORIGIN].values() if share.n)
    assert recall[TRIP]["reference number"].hits == recall[REDACTED]["reference number"].hits == 0


def test_a_run_goes_on_where_it_was_ended(
    whole: tuple[TripRagReport, Path], services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report, folder = whole
    lines = (folder / FILE).read_bytes().splitlines(keepends=True)
    (tmp_path / FILE).write_bytes(b"".join(lines[:9]) + lines[9][:40])
    measured: list[str] = []
    part = Parts.part

    def counting(parts: Parts, key: str, measure: Callable[[], Part]) -> Part:
        def counted() -> Part:
            measured.append(key)
            return measure()

        return part(parts, key, counted)

    monkeypatch.setattr(Parts, "part", counting)
    again = trip_rag(services, BENCH, WHOLE, further=[Backwards()], folder=tmp_path)
    assert len(measured) == len(lines) - 9
    assert again.model_copy(update={"provenance": report.provenance}) == report
    assert (tmp_path / FILE).read_bytes() == b"".join(lines)


def test_the_parts_are_told_of_as_they_are_measured(services: Services) -> None:
    told: list[tuple[int, int | None]] = []
    trip_rag(
        services,
        BENCH,
        SMALL,
        lambda phase, done, total: told.append((done, total)) if phase == "measured" else None,
    )
    assert told == [(number, told[-1][0]) for number in range(1, len(told) + 1)]


def test_a_thorough_run_has_as_many_parts_as_are_told(whole: tuple[TripRagReport, Path]) -> None:
    parts = (whole[1] / FILE).read_text().splitlines()[1:]
    compared = len(whole[0].methods)
    assert len(parts) == 2 * compared + len(whole[0].ablations) + len(whole[0].sweep) + len(whole[0].grid)


def test_parts_of_another_run_are_refused(whole: tuple[TripRagReport, Path], services: Services) -> None:
    place = re.escape(str(whole[1] / FILE))
    with pytest.raises(LetheError, match=rf"^{place} is of another run: .* remove the file\.$"):
        trip_rag(services, BENCH, replace(WHOLE, prompts=3), further=[Backwards()], folder=whole[1])


@pytest.mark.parametrize("content", [b"", b"{}\n", b'{"run": "r"}\n{"key": 1}\n'])
def test_damaged_parts_are_told_and_left_as_they_are(content: bytes, tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(
        LetheError, match=r"parts\.jsonl is damaged\. Remove it, and what it held is measured"
    ):
        Parts("r", tmp_path)
    assert (tmp_path / FILE).read_bytes() == content


def test_parts_that_cannot_be_kept_are_told(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()
    with pytest.raises(LetheError, match=r"parts\.jsonl cannot be used \(Is a directory\)\. Name a folder"):
        Parts("r", tmp_path)


def test_without_a_folder_parts_last_as_long_as_the_process() -> None:
    parts, asked = Parts("r"), []

    def measure() -> Part:
        asked.append(1)
        return Part(key="k", figures=())

    assert parts.part("k", measure) == parts.part("k", measure)
    assert len(asked) == 1


def test_there_is_a_row_for_every_question_to_every_method(report: TripRagReport) -> None:
    assert len(report.rows) == len(report.methods) * len(QUESTIONS)
    assert {row.question_id for row in report.rows} == {question.question_id for question in QUESTIONS}


def test_the_random_control_takes_as_many(report: TripRagReport) -> None:
    kept = {each.method: each.kept.share for each in report.methods}
    assert kept["random, frequency-matched"] == pytest.approx(kept[TRIP], abs=0.05)


def test_the_same_seed_gives_the_same_figures(report: TripRagReport, services: Services) -> None:
    again = trip_rag(services, BENCH, SMALL)
    assert again.model_copy(update={"provenance": report.provenance}) == report


def test_the_summary_compares_with_redact_and_origin(report: TripRagReport) -> None:
    summary = summary_of(report)
    assert summary.recall is not None and summary.recall_ratio is not None
    assert summary.leakage_change is not None and summary.leakage_change < 0
    assert summary.identifier_excess is not None and 0 <= summary.identifier_excess <= 1


def test_strengths_reach_from_little_to_everything(scored: ScoredCorpus) -> None:
    encoder = WordEncoder()
    named = strengths(scored, encoder, 0)
    assert {each.name for each in named} == {TRIP, "scores alone", "privacy only", "random", "lprag"}
    assert len(grid(scored, 0.6)) == 36
    policy = scores_alone(scored.services.policy)
    assert at_share(scored, policy, 1.0).tau < at_share(scored, policy, 0.7).tau
    assert {each.name for each in ablations(scored, 0.6)} >= {"without topic", "single mentions"}
    assert len(ablations(scored, 0.6)) == ABLATIONS


def test_methods_of_a_corpus_can_all_sanitize(scored: ScoredCorpus) -> None:
    for each in [*methods(scored, WordEncoder(), 0)[0], *ablations(scored, 0.6)]:
        outcomes = each.make().sanitize(LETTERS[:2])
        assert not any(isinstance(outcome, LetheError) for outcome in outcomes), each.name


def test_a_frontier_without_leakage_has_no_area(report: TripRagReport) -> None:
    assert frontier_of([]).areas == {}
    whole = frontier_of(report.methods)
    assert whole.points == len(report.methods) - 2
    assert 0 <= whole.dominated <= whole.points


def test_a_corpus_without_questions_is_refused(services: Services) -> None:
    bench = BenchCorpus("folder", LETTERS, [], None, "Invented.", "invented", "none")
    with pytest.raises(LetheError, match=r"^folder has no questions: more documents, or longer ones, would"):
        trip_rag(services, bench, SMALL)


def test_the_verb_refuses_another_policy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "letters"
    folder.mkdir()
    (folder / "a.txt").write_text(json.dumps("Invented."))
    code = main(["bench", "trip-rag", str(folder), "--policy", "redact", "--data-dir", str(tmp_path)])
    assert code == 2
    assert "compares trip with every other policy, and this is redact" in capsys.readouterr().err
