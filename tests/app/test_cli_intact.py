"""``lethe bench intact`` on invented court cases."""

import io
import json
import re
from collections.abc import Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from app.cli.main import main
from eval.corpora.marked import backgrounds, halves, presidio_marks, replaced_cases
from eval.measures import preserved as clustered
from eval.measures.preserved import BY_WORDS
from eval.studies.intact.order import DOU, ENTITY_TYPE, INTACT, METHODS, PUBLISHED, SUPPRESSION
from eval.studies.intact.report import BenchmarkRow, IntactReport
from eval.studies.intact.study import ALL, DETECTED, GOLD, NOWHERE, PRESIDIO, TABLE, benchmark_cases
from ingest.documents import Span
from ingest.errors import UnreadableDocument
from models.errors import LetheError
from tests.commands import write_lines

HELD_OUT = 12
NAMES = "Ada Bo Cy Di Ed Flo Gus Hal Ida Joe Kay Lou".split()
TOWNS = "Leeds Hull Bristol York Derby Exeter Oxford Bath Ely Truro Durham Ripon".split()
JOBS = "plumber nurse baker teacher".split()
SECRETS = ("Sorrel", *TOWNS[:4], "May 2003", *JOBS)
MATTERS = (
    "The roof of the old barn fell and the cattle were lost, and the insurer refused to pay for the stalls.",
    "The tram left its rails near the market, and the driver said that the brakes had been worn for weeks.",
    "The school closed its kitchen, and the children were given cold soup and bread in the corridor.",
    "The printer kept the plates of the atlas, and the publisher wanted his maps and drawings back.",
)


def case(number: int, published: bool = True) -> dict[str, Any]:
    """A case with every mention of it, as the benchmark gives them."""
    name, town, job = f"{NAMES[number]} Sorrel", TOWNS[number], JOBS[number % 4]
    text = (
        f"{name}, a {job}, wrote to the court on {number + 1} May 2003. {MATTERS[number % 4]} "
        f"The letter came from {town}. Later {name} moved away from {town}."
    )
    mentions = []
    for said, kind in ((name, "PERSON"), (job, "DEM"), (f"{number + 1} May 2003", "DATETIME"), (town, "LOC")):
        words = {"intact": f"{kind}_1", "gpt35_presidio": "Somewhere"}
        for found in re.finditer(re.escape(said), text):
            mention = {"start": found.start(), "end": found.end(), "type": kind, "text": said}
            mentions.append(mention | ({"reference_replacements": words} if published else {}))
    return {"doc_id": f"case-{number:02d}", "text": text, "mentions": mentions}


def spia_case(number: int) -> dict[str, Any]:
    """The same case as SPIA gives it: jobs may stay."""
    kinds = {"PERSON": "DIRECT", "DEM": "NO_MASK", "DATETIME": "QUASI", "LOC": "QUASI"}
    given = case(number)
    entities = [
        {
            "span_text": each["text"], "entity_type": each["type"], "start_offset": each["start"],
            "end_offset": each["end"], "entity_id": each["text"], "identifier_type": kinds[each["type"]],
        }
        for each in given["mentions"]
    ]  # fmt: skip
    about = {"data_id": f"invented-{number}", "provenance": {"doc_id": given["doc_id"]}}
    return {"metadata": about, "text": given["text"], "entities": entities}


def write_corpus(folder: Path, count: int, kept: int | None = None, spia: bool = True) -> Path:
    """Cases that nothing was learned from, as SPIA and Presidio see them too; with ``kept`` mentions each."""
    cases = [case(number) for number in range(count)]
    shown = ({**each, "mentions": each["mentions"][:kept]} for each in cases)
    write_lines(folder / "tab" / "dev.jsonl", shown)
    if spia:
        write_lines(folder / "spia" / "tab_dev.jsonl", map(spia_case, range(count)))
        write_lines(folder / "spia" / "tab_train.jsonl", [])
    spans: dict[str, list[object]] = {each["doc_id"]: [] for each in cases}
    for each in cases:
        for at in (at for at in each["mentions"] if at["type"] == "LOC"):
            spans[each["doc_id"]].append([at["start"], at["end"], "LOCATION"])
    known = {each["doc_id"]: MATTERS[number % 4] for number, each in enumerate(cases)}
    for name, value in (("background_public10_train_dev", known), ("presidio_baseline_spans_dev", spans)):
        (folder / "tab" / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
    return folder / "tab"


@pytest.fixture
def corpus(clean: Path) -> Path:
    return write_corpus(clean, 4, spia=False)


def test_cases_with_their_marks_and_published_words_and_halves_that_share_none(corpus: Path) -> None:
    cases = replaced_cases(corpus)
    assert [each.document.doc_id for each in cases] == [f"case-{number:02d}" for number in range(4)]
    first = cases[0]
    said = {first.document.text[mark.start : mark.end]: mark.type for mark in first.marked.marks}
    assert said["Leeds"] == "LOC"
    assert first.published["intact"][Span(0, 10)] == "PERSON_1"
    assert "Ada" not in repr(first)
    assert len(backgrounds(corpus)) == 4
    chosen_on, reported = halves(cases)
    assert len(chosen_on) == len(reported) == 2
    assert halves(cases[::-1]) == (chosen_on, reported)


SAID = {"system": "intact", "entity_type": "LOC", "span_text": "Leeds", "less_specific": 1, "truthful": 1}


def test_tables_and_figures_of_every_method_and_what_people_said(
    corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output, judged = corpus.with_name("out"), corpus.with_name("judged.jsonl")
    write_lines(judged, (SAID | {"doc_id": f"case-{n}", "replacement": "England"} for n in range(20)))
    assert main(["bench", "intact", str(corpus), "--output", str(output), "--judged", str(judged)]) == 0
    out = capsys.readouterr().out
    report = IntactReport.model_validate_json((output / "intact.json").read_text(encoding="utf-8"))
    found = {each.method: each for each in report.methods}
    assert set(found) == set(METHODS)
    assert set(report.absent) == {DOU, TABLE}
    assert (report.cases, report.individuals, report.command) == (2, 4, "PATH --judged judged.jsonl")
    tps = {name: each.tps.value or 0 for name, each in found.items()}
    assert tps["suppression"] < tps["entity type"] < min(tps["lethe"], tps["most specific"])
    every = {name: each.kinds[ALL] for name, each in found.items()}
    assert every["suppression"].fallback.value == every[PUBLISHED["intact"]].fallback.value == 1
    assert (every["lethe"].fallback.value or 0) <= 0.5 < (every["entity type"].fallback.value or 0)
    assert sum(every["most specific"].rungs.values()) > 0
    assert found["suppression"].trir_minus_suppression is not None
    for name, each in found.items():
        by_kind = [kind.similarity for key, kind in each.kinds.items() if key != ALL and kind.similarity]
        pooled = sum(kind.hits for kind in by_kind) / sum(kind.n for kind in by_kind)
        assert pooled == pytest.approx(each.similarity.value), name
    assert every["suppression"].similarity is not None and every["suppression"].similarity.value == 0
    assert "| by prior | similarity |" in out and "| truthful | all | 1.000" in out
    assert (output / "tables.md").read_text(encoding="utf-8") == out
    written = out + (output / "intact.json").read_text(encoding="utf-8")
    assert not any(secret in written for secret in SECRETS)


def test_a_corpus_without_published_outputs_or_backgrounds(
    clean: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_lines(clean / "bare" / "dev.jsonl", [case(number, published=False) for number in range(2)])
    assert main(["bench", "intact", str(clean / "bare"), "--documents", "1", "--seed", "2"]) == 0
    out = capsys.readouterr().out
    assert "INTACT, published output is absent: the corpus has no output of it" in out
    assert "not measured" in out


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ({"mentions": [{"start": 0, "end": 9_999, "type": "LOC"}]}, "has a mention without start, end or t"),
        ({"mentions": [{"start": 0, "type": "LOC"}]}, "has a mention without start, end or type"),
        ({"text": 7}, "has no text in doc_id or text"),
    ],
)
def test_a_broken_record_is_named_and_not_quoted(
    corpus: Path, broken: dict[str, object], reason: str
) -> None:
    write_lines(corpus / "dev.jsonl", [case(0) | broken])
    with pytest.raises(UnreadableDocument, match=reason) as error:
        replaced_cases(corpus)
    assert not any(secret in str(error.value) for secret in SECRETS)
    (corpus / "background_public10_train_dev.json").write_text("[]", encoding="utf-8")
    with pytest.raises(UnreadableDocument, match="is no JSON object of texts by id"):
        backgrounds(corpus)


def test_what_cannot_be_read_is_refused(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "intact", str(corpus.with_name("nowhere"))]) == 2
    assert "holds no file of the corpus tab" in capsys.readouterr().err
    write_lines(corpus.with_name("judged.jsonl"), [SAID])
    assert main(["bench", "intact", str(corpus), "--judged", str(corpus.with_name("judged.jsonl"))]) == 2
    assert "Line 1 of" in capsys.readouterr().err


def measured(corpus: Path) -> tuple[IntactReport, str]:
    """The report of the table, and what is printed; detection by rules, few restarts."""
    output, out = corpus.with_name("out"), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out):
        patch.setenv("LETHE_DETECTOR__LEARNED", "false")
        patch.setenv("LETHE_RISK__KIND", "prior")
        patch.setattr(clustered, "RESTARTS", 2)
        assert main(["bench", "intact", str(corpus), "--output", str(output), "--table"]) == 0
    return IntactReport.model_validate_json((output / "intact.json").read_text("utf-8")), out.getvalue()


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> tuple[IntactReport, str]:
    return measured(write_corpus(tmp_path_factory.mktemp("held_out"), HELD_OUT))


def rows_of(report: IntactReport) -> Mapping[tuple[str, str], BenchmarkRow]:
    assert report.benchmark is not None
    return {(row.method, row.spans): row for row in report.benchmark.rows}


def test_the_table_of_methods_on_gold_spans_and_on_their_own(table: tuple[IntactReport, str]) -> None:
    report, out = table
    rows = rows_of(report)
    assert report.benchmark is not None
    assert (report.methods, report.command) == ((), "PATH --table")
    assert (report.benchmark.compared, report.benchmark.marked) == (HELD_OUT // 2, HELD_OUT)
    own = {(name, DETECTED) for name in ("redact", "trip", INTACT, "lethe")}
    wanted = {("origin", NOWHERE), (ENTITY_TYPE, PRESIDIO)} | own
    assert rows.keys() == wanted | {(name, GOLD) for name in METHODS}
    untouched, suppressed = rows["origin", NOWHERE], rows[SUPPRESSION, GOLD]
    assert untouched.tps.value == untouched.tpi.value == 1
    assert untouched.masked.entities.value == 0
    assert untouched.masked.token_precision.value is None
    assert suppressed.masked.direct.value == suppressed.masked.quasi.value == 1
    # Of the six mentions of a case the job may stay.
    assert suppressed.masked.mention_precision.value == pytest.approx(5 / 6)
    assert suppressed.tps.value == suppressed.tpi.value
    stock = rows[ENTITY_TYPE, PRESIDIO]
    assert (stock.masked.direct.value, stock.masked.quasi.value) == (0, 0.5)
    assert (rows["redact", DETECTED].masked.quasi.value or 0) > 0
    assert "NMI cannot see" in out and "TRIR cannot see" in out
    assert "| lethe | own detection |" in out
    assert not any(f"{name} Sorrel" in out or f"{name} Sorrel" in report.model_dump_json() for name in NAMES)


def test_clusters_stand_beside_their_ceiling_and_chance_and_published_orders_come_out(
    table: tuple[IntactReport, str],
) -> None:
    report, out = table
    rows = rows_of(report)
    figures = rows["origin", NOWHERE].nmi[BY_WORDS]
    assert (figures.n, figures.kept) == (HELD_OUT // 2, figures.ceiling)
    assert figures.chance[0] < figures.ceiling[0]
    assert all(row.nmi[BY_WORDS].ceiling == figures.ceiling for row in rows.values() if BY_WORDS in row.nmi)
    found = {(each.measure, each.lower, each.higher): each.difference for each in report.order}
    assert (found["TPS", SUPPRESSION, ENTITY_TYPE].low or 0) > 0
    assert ("TRIR", SUPPRESSION, PUBLISHED["intact"]) in found
    assert f"| TPS | {ENTITY_TYPE} | {SUPPRESSION} |" in out


def test_own_detection_sees_no_gold_span(table: tuple[IntactReport, str], clean: Path) -> None:
    before, after = rows_of(table[0]), rows_of(measured(write_corpus(clean, HELD_OUT, kept=1))[0])
    for key, row in before.items():
        if key[1] == GOLD:
            assert after[key].masked.mentions != row.masked.mentions
        else:
            same = {"trir_minus_suppression": after[key].trir_minus_suppression}
            assert after[key] == row.model_copy(update=same)


def test_no_table_where_cases_were_learned_from(clean: Path) -> None:
    corpus = write_corpus(clean, 4)
    (corpus.parent / "spia" / "tab_dev.jsonl").rename(corpus.parent / "spia" / "tab_train.jsonl")
    write_lines(corpus.parent / "spia" / "tab_dev.jsonl", [])
    everything = replaced_cases(corpus)
    with pytest.raises(LetheError, match="none of these cases is known to be held out: the folder that"):
        benchmark_cases(corpus, everything, halves(everything)[1])


def test_spans_outside_of_a_text_are_refused(corpus: Path) -> None:
    documents = [case.document for case in replaced_cases(corpus)]
    assert len(presidio_marks(corpus, documents)) == 4
    file = corpus / "presidio_baseline_spans_dev.json"
    for broken in ('{"case-00": [[0, 9999, "PERSON"]]}', '{"case-00": [[0, 4]]}', '{"case-00": 7}'):
        file.write_text(broken, encoding="utf-8")
        with pytest.raises(UnreadableDocument, match="a span that is no start, end and type") as error:
            presidio_marks(corpus, documents)
        assert "Sorrel" not in str(error.value)
    file.unlink()
    assert presidio_marks(corpus, documents) == []
