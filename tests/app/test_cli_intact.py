"""``lethe bench intact`` on invented court cases."""

import io
import json
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

SECRETS = ("Ada Lind", "Leeds", "Quarnby", "3 May 2019", "12345/67", "plumber")
CASE = (
    "The case of {name} began on {day}. {name}, a {job} born in {year}, lives in {town}. "
    "The County Court of {town} heard the case, no. {code}."
)
PEOPLE = [
    ("Ada Lind", "3 May 2019", "plumber", "1970", "Leeds", "12345/67"),
    ("Bo Ferris", "14 June 2018", "nurse", "1981", "Quarnby", "22345/67"),
    ("Cy Marrow", "9 March 2001", "baker", "1955", "Hull", "32345/67"),
    ("Di Sorrel", "1 April 2011", "teacher", "1962", "Bristol", "42345/67"),
]
TYPES = {"name": "PERSON", "day": "DATETIME", "job": "DEM", "year": "DATETIME", "town": "LOC", "code": "CODE"}


def case(number: int) -> dict[str, Any]:
    values = dict(zip(("name", "day", "job", "year", "town", "code"), PEOPLE[number], strict=True))
    text = CASE.format(**values)
    mentions = []
    for key, said in values.items():
        at = text.find(said)
        while at >= 0:
            words = {"intact": f"{TYPES[key]}_1", "gpt35_presidio": "something"}
            mentions.append(
                {
                    "start": at,
                    "end": at + len(said),
                    "type": TYPES[key],
                    "text": said,
                    "reference_replacements": words,
                }
            )
            at = text.find(said, at + 1)
    return {"doc_id": f"case-{number}", "text": text, "mentions": mentions}


@pytest.fixture
def corpus(clean: Path) -> Path:
    folder = clean / "tab"
    folder.mkdir()
    lines = [json.dumps(case(number)) for number in range(len(PEOPLE))]
    (folder / "dev.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    known = {f"case-{number}": f"A {person[2]} of {person[4]}." for number, person in enumerate(PEOPLE)}
    (folder / "background_public10_train_dev.json").write_text(json.dumps(known), encoding="utf-8")
    return folder


def test_cases_with_their_marks_and_published_words(corpus: Path) -> None:
    cases = replaced_cases(corpus)
    assert [each.document.doc_id for each in cases] == [f"case-{number}" for number in range(4)]
    first = cases[0]
    said = {first.document.text[mark.start : mark.end]: mark.type for mark in first.marked.marks}
    assert said["Leeds"] == "LOC"
    assert first.published["intact"][Span(12, 20)] == "PERSON_1"
    assert "Ada" not in repr(first)
    assert len(backgrounds(corpus)) == 4


def test_halves_share_no_case_and_do_not_depend_on_the_order(corpus: Path) -> None:
    cases = replaced_cases(corpus)
    chosen_on, reported = halves(cases)
    assert len(chosen_on) == len(reported) == 2
    assert halves(cases[::-1]) == (chosen_on, reported)


def test_tables_and_figures_of_every_method(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = corpus.with_name("out")
    assert main(["bench", "intact", str(corpus), "--output", str(output)]) == 0
    out = capsys.readouterr().out
    report = IntactReport.model_validate_json((output / "intact.json").read_text(encoding="utf-8"))
    found = {each.method: each for each in report.methods}
    assert set(found) == set(METHODS)
    assert set(report.absent) == {DOU, TABLE}
    assert (report.cases, report.individuals, report.command) == (2, 4, "PATH")
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
    assert "| by prior | similarity |" in out
    assert (output / "tables.md").read_text(encoding="utf-8") == out
    written = out + (output / "intact.json").read_text(encoding="utf-8")
    assert not any(secret in written for secret in SECRETS)


def test_the_check_beside_what_people_said(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = {"system": "intact", "entity_type": "LOC", "span_text": "Leeds", "less_specific": 1, "truthful": 1}
    rows = [said | {"doc_id": f"case-{number}", "replacement": "England"} for number in range(20)]
    judged = corpus.with_name("judged.jsonl")
    judged.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert main(["bench", "intact", str(corpus), "--judged", str(judged)]) == 0
    out = capsys.readouterr().out
    assert "| truthful | all | 1.000" in out
    judged.write_text(json.dumps(said), encoding="utf-8")
    assert main(["bench", "intact", str(corpus), "--judged", str(judged)]) == 2
    assert "Line 1 of" in capsys.readouterr().err


def test_a_corpus_without_published_outputs_or_backgrounds(
    corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [case(number) for number in range(2)]
    for row in rows:
        for mention in row["mentions"]:
            del mention["reference_replacements"]
    bare = corpus.with_name("bare")
    bare.mkdir()
    (bare / "dev.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert main(["bench", "intact", str(bare), "--documents", "1", "--seed", "2"]) == 0
    out = capsys.readouterr().out
    assert "INTACT, published output is absent: the corpus has no output of it" in out
    assert "not measured" in out


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (
            {"mentions": [{"start": 0, "end": 9_999, "type": "LOC"}]},
            "has a mention without start, end or type",
        ),
        ({"mentions": [{"start": 0, "type": "LOC"}]}, "has a mention without start, end or type"),
        ({"text": 7}, "has no text in doc_id or text"),
    ],
)
def test_a_broken_record_is_named_and_not_quoted(
    corpus: Path, broken: dict[str, object], reason: str
) -> None:
    (corpus / "dev.jsonl").write_text(json.dumps(case(0) | broken) + "\n", encoding="utf-8")
    with pytest.raises(UnreadableDocument, match=reason) as error:
        replaced_cases(corpus)
    assert not any(secret in str(error.value) for secret in SECRETS)


def test_a_broken_background_file(corpus: Path) -> None:
    (corpus / "background_public10_train_dev.json").write_text("[]", encoding="utf-8")
    with pytest.raises(UnreadableDocument, match="is no JSON object of texts by id"):
        backgrounds(corpus)


def test_no_such_folder(clean: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "intact", str(clean / "nowhere")]) == 2
    assert "holds no file of the corpus tab" in capsys.readouterr().err


# -- the benchmark's table -------------------------------------------------------------------------------

HELD_OUT = 12
NAMES = "Ada Bo Cy Di Ed Flo Gus Hal Ida Joe Kay Lou".split()
TOWNS = "Leeds Hull Bristol York Derby Exeter Oxford Bath Ely Truro Durham Ripon".split()
JOBS = "plumber nurse baker teacher".split()
MATTERS = (
    "The roof of the old barn fell and the cattle were lost, and the insurer refused to pay for the stalls.",
    "The tram left its rails near the market, and the driver said that the brakes had been worn for weeks.",
    "The school closed its kitchen, and the children were given cold soup and bread in the corridor.",
    "The printer kept the plates of the atlas, and the publisher wanted his maps and drawings back.",
)


def held_out_case(number: int, published: bool = True) -> dict[str, Any]:
    """A case with every mention of it, as the benchmark gives them."""
    name, town, job = f"{NAMES[number]} Sorrel", TOWNS[number], JOBS[number % 4]
    text = (
        f"{name}, a {job}, wrote to the court on {number + 1} May 2003. {MATTERS[number % 4]} "
        f"The letter came from {town}. Later {name} moved away from {town}."
    )
    mentions = []
    for said, kind in ((name, "PERSON"), (job, "DEM"), (f"{number + 1} May 2003", "DATETIME"), (town, "LOC")):
        at = text.find(said)
        while at >= 0:
            mention = {"start": at, "end": at + len(said), "type": kind, "text": said}
            words = {"intact": f"{kind}_1", "gpt35_presidio": "Somewhere"}
            mentions.append(mention | ({"reference_replacements": words} if published else {}))
            at = text.find(said, at + 1)
    return {"doc_id": f"held-{number}", "text": text, "mentions": mentions}


def spia_case(number: int) -> dict[str, Any]:
    """The same case as SPIA gives it: jobs may stay."""
    kinds = {"PERSON": "DIRECT", "DEM": "NO_MASK", "DATETIME": "QUASI", "LOC": "QUASI"}
    case = held_out_case(number)
    entities = [
        {
            "span_text": each["text"],
            "entity_type": each["type"],
            "start_offset": each["start"],
            "end_offset": each["end"],
            "entity_id": each["text"],
            "identifier_type": kinds[each["type"]],
        }
        for each in case["mentions"]
    ]
    about = {"data_id": f"invented-{number}", "provenance": {"doc_id": case["doc_id"]}}
    return {"metadata": about, "text": case["text"], "entities": entities}


def write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def write_held_out(folder: Path, kept: int | None = None) -> Path:
    """Cases that nothing was learned from, as SPIA and Presidio see them too; with ``kept`` mentions each."""
    cases = [held_out_case(number) for number in range(HELD_OUT)]
    spans = {
        case["doc_id"]: [
            [each["start"], each["end"], "LOCATION"] for each in case["mentions"] if each["type"] == "LOC"
        ]
        for case in cases
    }
    known = {case["doc_id"]: MATTERS[number % 4] for number, case in enumerate(cases)}
    write_lines(
        folder / "tab" / "dev.jsonl", [case | {"mentions": case["mentions"][:kept]} for case in cases]
    )
    write_lines(folder / "spia" / "tab_dev.jsonl", [spia_case(number) for number in range(HELD_OUT)])
    write_lines(folder / "spia" / "tab_train.jsonl", [])
    for name, value in (("background_public10_train_dev", known), ("presidio_baseline_spans_dev", spans)):
        (folder / "tab" / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
    return folder / "tab"


def measured(corpus: Path) -> tuple[IntactReport, str]:
    """The report of the table, and what is printed; detection by rules, few restarts."""
    output, out = corpus.with_name("out"), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out):
        patch.setenv("LETHE_DETECTOR__LEARNED", "false")
        patch.setenv("LETHE_RISK__KIND", "prior")
        patch.setattr(clustered, "RESTARTS", 2)
        assert main(["bench", "intact", str(corpus), "--output", str(output), "--table"]) == 0
    return IntactReport.model_validate_json((output / "intact.json").read_text("utf-8")), out.getvalue()


@pytest.fixture
def held_out(clean: Path) -> Path:
    return write_held_out(clean)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> tuple[IntactReport, str]:
    return measured(write_held_out(tmp_path_factory.mktemp("held_out")))


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


def test_clusters_stand_beside_their_ceiling_and_chance(table: tuple[IntactReport, str]) -> None:
    rows = rows_of(table[0])
    figures = rows["origin", NOWHERE].nmi[BY_WORDS]
    assert figures.n == HELD_OUT // 2
    assert figures.kept == figures.ceiling
    assert figures.chance[0] < figures.ceiling[0]
    assert all(row.nmi[BY_WORDS].ceiling == figures.ceiling for row in rows.values() if BY_WORDS in row.nmi)


def test_own_detection_sees_no_gold_span(table: tuple[IntactReport, str], clean: Path) -> None:
    before, after = rows_of(table[0]), rows_of(measured(write_held_out(clean, kept=1))[0])
    for key, row in before.items():
        if key[1] == GOLD:
            assert after[key].masked.mentions != row.masked.mentions
        else:
            same = {"trir_minus_suppression": after[key].trir_minus_suppression}
            assert after[key] == row.model_copy(update=same)


def test_published_orders_that_come_out(table: tuple[IntactReport, str]) -> None:
    report, out = table
    found = {(each.measure, each.lower, each.higher): each.difference for each in report.order}
    assert (found["TPS", SUPPRESSION, ENTITY_TYPE].low or 0) > 0
    assert ("TRIR", SUPPRESSION, PUBLISHED["intact"]) in found
    assert f"| TPS | {ENTITY_TYPE} | {SUPPRESSION} |" in out


def test_no_table_where_cases_were_learned_from(held_out: Path) -> None:
    (held_out.parent / "spia" / "tab_dev.jsonl").rename(held_out.parent / "spia" / "tab_train.jsonl")
    write_lines(held_out.parent / "spia" / "tab_dev.jsonl", [])
    everything = replaced_cases(held_out)
    with pytest.raises(
        LetheError, match="none of these cases is known to be held out: the folder that holds"
    ):
        benchmark_cases(held_out, everything, halves(everything)[1])


def test_spans_outside_of_a_text_are_refused(held_out: Path) -> None:
    documents = [case.document for case in replaced_cases(held_out)]
    assert len(presidio_marks(held_out, documents)) == HELD_OUT
    file = held_out / "presidio_baseline_spans_dev.json"
    for broken in ('{"held-0": [[0, 9999, "PERSON"]]}', '{"held-0": [[0, 4]]}', '{"held-0": 7}'):
        file.write_text(broken, encoding="utf-8")
        with pytest.raises(UnreadableDocument, match="a span that is no start, end and type") as error:
            presidio_marks(held_out, documents)
        assert "Sorrel" not in str(error.value)
    file.unlink()
    assert presidio_marks(held_out, documents) == []
