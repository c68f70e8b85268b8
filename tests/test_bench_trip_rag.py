"""The benchmark of whole methods, on a handful of invented letters and a small encoder."""

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from app.bench import planting
from app.bench.methods import (
    MATCHED,
    ORIGIN,
    RANDOM,
    REDACTED,
    TRIP,
    Compared,
    ablations,
    grid,
    methods,
    scores_alone,
    strengths,
)
from app.bench.options import Options
from app.bench.parts import FILE, Part, Parts
from app.bench.running import ground_of
from app.bench.shares import at_share, share_taken, single_mentions
from app.bench.trip_rag import trip_rag
from app.calibrating import links_of
from app.cli.main import main
from app.compose import Services
from app.corpus import Corpus, detected, untold
from app.scored import ScoredCorpus, scored_corpus
from app.settings import load_settings
from eval.attacks.canaries import plant
from eval.corpora.bench_corpus import BenchCorpus, Question
from eval.measures.leakage import SensitiveIndex
from eval.trip_rag.comparing import with_comparisons
from eval.trip_rag.report import NOTHING_COMPARED, AttackRow, Summary, TripRagReport
from ingest.documents import Document, Risk, SanitizedDocument
from ingest.errors import SanitizationError
from ingest.scoring.raw import Weights
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
NO_RISK = Risk(0.0, 0.0, "test")
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
    assert len([each for each in whole[0].attacks if each.method == ORIGIN]) == 5
    assert all(each.all_entities.share and each.failed == 0 for each in verbatim)


def test_a_quick_run_attacks_what_the_summary_compares(report: TripRagReport) -> None:
    assert [each.method for each in report.attacks] == [ORIGIN, REDACTED, TRIP]
    assert (report.sweep, report.grid, report.canaries, report.promises) == ((), (), (), ())
    assert None not in (report.summary.identifier_excess, report.summary.leakage_change)


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
    assert len(found.grid) == 36 and found.sweep
    kinds = {(each.policy, each.counted) for each in found.promises}
    assert kinds == {(name, whose) for name in (TRIP, "scores alone") for whose in ("identifiers", "all")}


def test_planted_secrets_come_out_of_the_unsanitized_index_and_numbers_of_no_other(
    whole: tuple[TripRagReport, Path],
) -> None:
    recall = {each.method: each.recall for each in whole[0].canaries}
    assert whole[0].canaries[0].documents == len(LETTERS)
    assert all(share.share == 1.0 for share in recall[ORIGIN].values() if share.n)
    assert recall[TRIP]["reference number"].hits == recall[REDACTED]["reference number"].hits == 0


class Unfinished:
    """Changes nothing, and fails on the first document."""

    name = "unfinished (test double)"

    def sanitize(self, documents: Sequence[Document]) -> list[SanitizedDocument | SanitizationError]:
        failed = SanitizationError(documents[0].doc_id, "rewriting", "RuntimeError")
        kept = [SanitizedDocument(each.doc_id, each.text, (), (), NO_RISK, "", 0) for each in documents[1:]]
        return [failed, *kept]


def test_a_canary_in_a_document_that_failed_is_not_measured(services: Services, scored: ScoredCorpus) -> None:
    ground = ground_of(services, scored, BENCH, SensitiveIndex([]), ())
    planted = plant(LETTERS, len(LETTERS))
    part = planting.measured(ground, planted, Compared("unfinished", Unfinished), untold)
    (figures,) = part.canaries
    assert (figures.documents, figures.documents_failed) == (5, 1)
    assert sum(share.n for share in figures.recall.values()) == 4
    assert sum(share.hits for share in figures.recall.values()) == 4
    assert len(part.attempts) == 4


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
    assert (tmp_path / "attacks.jsonl").read_bytes() == (folder / "attacks.jsonl").read_bytes()


def test_the_parts_are_told_of_as_they_are_measured(services: Services) -> None:
    told: list[tuple[int, int | None]] = []
    trip_rag(
        services,
        BENCH,
        SMALL,
        lambda phase, done, total: told.append((done, total)) if phase == "measured" else None,
    )
    assert told == [(number, told[-1][0]) for number in range(1, len(told) + 1)]


def test_every_prompt_has_a_row_that_its_figures_are_made_of(whole: tuple[TripRagReport, Path]) -> None:
    report, folder = whole
    rows = [
        AttackRow.model_validate_json(line) for line in (folder / "attacks.jsonl").read_text().splitlines()
    ]
    assert len(rows) == sum(each.prompts for each in report.attacks) + 5 * len(report.canaries)
    for told in report.attacks:
        named = (told.method, told.attack, told.generator, told.k)
        own = [row for row in rows if (row.method, row.attack, row.generator, row.k) == named]
        assert [row.attempt for row in own] == list(range(told.prompts))
        for share, leaked, present in (
            (told.all_entities, [row.leaked for row in own], [row.present for row in own]),
            (
                told.identifiers,
                [row.leaked_identifiers for row in own],
                [row.present_identifiers for row in own],
            ),
        ):
            assert (share.hits, share.n) == (sum(leaked), sum(present))
        assert told.repeat_prompts.hits == sum(row.repeats for row in own)
        assert told.rouge_recall_prompts.hits == sum(row.rouge_recall_above for row in own)
        assert told.rouge_f_prompts.hits == sum(row.rouge_f_above for row in own)
    planted = [row for row in rows if row.attack == "canaries" and row.method == ORIGIN]
    assert all(1 <= row.leaked <= row.present for row in planted)
    assert {row.prompt_kind for row in planted} <= set(report.canaries[0].recall)


def test_a_thorough_run_has_as_many_parts_as_are_told(whole: tuple[TripRagReport, Path]) -> None:
    parts = (whole[1] / FILE).read_text().splitlines()[1:]
    compared = len(whole[0].methods)
    assert len(parts) == 2 * compared + len(whole[0].ablations) + len(whole[0].sweep) + len(whole[0].grid)


def test_parts_of_another_run_are_refused(whole: tuple[TripRagReport, Path], services: Services) -> None:
    place = re.escape(str(whole[1] / FILE))
    with pytest.raises(LetheError, match=rf"^{place} is of another run: .* remove the file\.$"):
        trip_rag(services, BENCH, replace(WHOLE, prompts=3), further=[Backwards()], folder=whole[1])


def test_there_is_a_row_for_every_question_to_every_method(report: TripRagReport) -> None:
    parts = len(report.methods) + len(report.ablations)
    assert len(report.rows) == parts * len(QUESTIONS)
    names = [re.fullmatch(r"(doc-[0-9a-f]{16})/question-[1-5]", row.question_id) for row in report.rows]
    assert len({name[0] for name in names if name}) == len({name[1] for name in names if name}) == 5
    assert all(re.fullmatch(r"doc-[0-9a-f]{16}", doc_id) for row in report.rows for doc_id in row.doc_ids)


def test_the_random_control_takes_as_many(report: TripRagReport) -> None:
    kept = {each.method: each.kept.share for each in report.methods}
    assert kept["random, frequency-matched"] == pytest.approx(kept[TRIP], abs=0.05)


def test_the_same_seed_gives_the_same_figures(report: TripRagReport, services: Services) -> None:
    again = trip_rag(services, BENCH, SMALL)
    assert again.model_copy(update={"provenance": report.provenance}) == report


def test_the_summary_compares_with_redact_and_origin(report: TripRagReport) -> None:
    summary = report.summary
    assert summary.recall is not None and summary.recall_ratio is not None
    assert summary.leakage_change is not None and summary.leakage_change.value < 0
    assert summary.identifier_excess is not None and 0 <= summary.identifier_excess.value <= 1


def test_strengths_reach_from_little_to_everything(scored: ScoredCorpus) -> None:
    encoder = WordEncoder()
    named = strengths(scored, encoder, 0)
    by_scores = {TRIP, "scores alone", "privacy only", RANDOM, MATCHED}
    assert {each.name for each in named} == by_scores | {"lprag", "lprag-compat"}
    taken = [each.strength for each in named if each.name == TRIP]
    assert len(set(taken)) == len(taken), "each strength once"
    assert all((strength or 0.0) >= 0.5 for strength in taken), "hard rules take more than half of these"
    assert len(grid(scored, 0.6)) == 36
    policy = scores_alone(scored.services.policy)
    assert at_share(scored, policy, 1.0).tau < at_share(scored, policy, 0.7).tau
    assert {each.name for each in ablations(scored, 0.6)} >= {"without topic", "single mentions"}


def test_methods_of_a_corpus_can_all_sanitize(scored: ScoredCorpus) -> None:
    for each in [*methods(scored, WordEncoder(), 0)[0], *ablations(scored, 0.6)]:
        outcomes = each.make().sanitize(LETTERS[:2])
        assert not any(isinstance(outcome, LetheError) for outcome in outcomes), each.name


def test_rows_of_every_part_are_kept(whole: tuple[TripRagReport, Path]) -> None:
    found = whole[0]
    asked = Counter(row.part for row in found.rows if row.encoder == found.methods[0].encoder)
    assert set(asked.values()) == {found.corpus.questions}
    weighted = {f"grid {cell.figures.method} {cell.figures.strength}" for cell in found.grid}
    assert weighted <= set(asked)
    assert len(asked) == len(found.methods) + len(found.ablations) + len(found.sweep) + len(found.grid)


def test_what_is_compared_follows_from_the_rows(whole: tuple[TripRagReport, Path]) -> None:
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


def test_ablations_take_the_share_that_the_default_takes(scored: ScoredCorpus) -> None:
    services = scored.services
    policy = replace(services.policy, quasi_limit=1.0)
    share = share_taken(scored.decisions(scored.method(policy)))
    for weights in (Weights(), Weights(1.0, 0.0, 0.0), Weights(1.0, 0.0, 2.0)):
        chosen = at_share(scored, replace(scores_alone(policy), weights=weights), share)
        taken = share_taken(scored.decisions(scored.method(chosen)))
        assert taken == pytest.approx(share, abs=1.5 / len(links_of(scored, chosen)))
    single = single_mentions(scored, scores_alone(policy), share)
    assert share_taken(scored.decisions(single)) == pytest.approx(share, abs=0.15)


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
