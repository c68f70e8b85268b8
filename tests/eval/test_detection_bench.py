import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.reports.detection import figures_table, markdown, misses_table
from eval.studies.detection import cases, study, tasks
from eval.studies.detection.cases import AGE, FAMILY_NAME, FIRST_NAME, GENDER, Case, Ends, Measure, Tally
from eval.studies.detection.study import DetectionReport
from ingest.documents import Action, Decision, Document, Entity, Risk, SanitizedDocument, Span
from ingest.errors import SanitizationError
from models.corpora.examples import Mention
from models.errors import ConfigurationError, LetheError
from tests.commands import public_data, write_lines
from tests.doubles import FailingDetector, PhraseDetector, entity

CASE = "Mr Jan Novak, born in 1961, lived in Dornau. Novak left."
POST = "@mira_vole writes: my code is K7."
PERSON = "person full name"
PEOPLE = {
    **dict.fromkeys(("Jan Novak", "Novak", "Ada", " otto", "Pinewood"), PERSON),
    **{"196": "date", "lived": "organization", "born": "symptom", "Call": "symptom"},
    "mira_vole": "account handle",
}
RELEASED = "Presidio, released spans"


def mark(text: str, words: str, kind: str, number: str, label: str = "PERSON", at: int = 0) -> dict[str, Any]:
    start = text.index(words, at)
    ends = {"start_offset": start, "end_offset": start + len(words)}
    return {"span_text": words, "entity_type": label, **ends, "entity_id": number, "identifier_type": kind}


def write_cases(folder: Path, released: object = None, **changed: Any) -> None:
    marks = [
        mark(CASE, "Mr Jan Novak", "DIRECT", "e1"),
        mark(CASE, "Novak", "NO_MASK", "e1", at=20) | changed,
        mark(CASE, "1961", "QUASI", "e2", "DATETIME"),
        mark(CASE, "Dornau", "QUASI", "e3", "LOC"),
    ]
    row = {"metadata": {"data_id": "T-1", "provenance": {"doc_id": "001-1"}}, "text": CASE, "entities": marks}
    write_lines(folder / "spia" / "tab_dev.jsonl", [row])
    write_lines(folder / "spia" / "tab_train.jsonl", [])
    mentions = [{"start": m["start_offset"], "end": m["end_offset"], "type": m["entity_type"]} for m in marks]
    write_lines(folder / "tab" / "dev.jsonl", [{"doc_id": "001-1", "text": CASE, "mentions": mentions}])
    spans = json.dumps({"001-1": released or [[3, 12, "PERSON"]]})
    (folder / "tab" / "presidio_baseline_spans_dev.json").write_text(spans)


def write_sentence(folder: Path, text: str, *spans: tuple[int, int, str]) -> None:
    marked = [{"start": start, "end": end, "label": label} for start, end, label in spans]
    row = {"id": "s1", "template_id": "1", "text": text, "spans": marked}
    write_lines(folder / "presidio_synth" / "data.jsonl", [row])


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small corpus in each layout."""
    folder = tmp_path_factory.mktemp("corpora")
    write_cases(folder)
    profile = {"Unique ID": "p1", "First Name": "Mira", "Last Name": "Vole"}
    # The second mark has slipped by one character.
    slipped = mark(POST, "K7", "QUASI", "2", "CODE") | {"start_offset": POST.index("K7") + 1}
    about = {"metadata": {"data_id": "post-1", "provenance": {"profile": profile}}}
    post = {**about, "text": POST, "entities": [mark(POST, "mira_vole", "DIRECT", "1"), slipped]}
    write_lines(folder / "spia" / "panorama_entities.jsonl", [post])
    names = {"patient_firstname": "otto", "patient_familyname": "Green"}
    dialogue = "[doctor] hi , otto . you look green today . otto is a forty-three year old tired male ."
    note = "Mr. Green is a 43-year-old male. A man fell on Green."
    patient = {**names, "patient_age": "43.0", "patient_gender": "male "}
    visit = {"id": "v1", "metadata": patient, "dialogue": dialogue, "note": note}
    write_lines(folder / "aci_bench" / "data.jsonl", [visit])
    write_sentence(folder, "Call Ada at 555 0199.", (5, 8, "PERSON"), (12, 20, "PHONE_NUMBER"))
    posts = [
        {"id": "w1", "tokens": ["@otto99", "met", "Ada", "in", "Dornau"], "ner": [[2, 2, "person"]]},
        {"id": "w2", "tokens": ["Pinewood", "is", "quiet"], "ner": [[0, 0, "location"]]},
    ]
    write_lines(folder / "wnut17" / "test.jsonl", posts)
    tokens = ["Ada", "Lind", "leads", "the", "Moss", "Party", "."]
    marks = [[0, 1, "politician"], [4, 5, "politicalparty"]]
    for part in ("train", "dev", "test"):
        for field in ("ai", "literature", "music", "science"):
            write_lines(folder / "crossner" / f"{field}_{part}.jsonl", [])
        row = {"id": f"crossner-politics-{part}-0", "tokens": tokens, "ner": marks}
        write_lines(folder / "crossner" / f"politics_{part}.jsonl", [row])
    told = "rest and water help " * 5
    pages = [{"id": f"m{n:02d}", "doc": f"page-{n:02d}", "answer": told} for n in range(20)]
    write_lines(folder / "medquad" / "data.jsonl.gz", pages)
    return folder


def report_of(folder: Path, **more: Any) -> DetectionReport:
    return study.run({"ours": PhraseDetector(PEOPLE)}, folder, **more)


@pytest.fixture(scope="module")
def report(data: Path) -> DetectionReport:
    """Of every corpus, without a detector for labels and without a sanitizer."""
    return report_of(data, commit="0" * 7)


def values(report: DetectionReport, detector: str = "ours") -> dict[str, float | None]:
    return {each.question: each.estimate.value for each in report.figures if each.detector == detector}


def test_figures_are_those_computed_by_hand(data: Path, report: DetectionReport) -> None:
    found = values(report)
    # Marked: 12 + 4 + 6 + 5 characters. Found: 9 + 3 + 5 + 5, of which 17 are marked; "born" is medical.
    for corpus in ("tab", "spia_cases"):
        assert found[f"{corpus}.characters.precision"] == pytest.approx(17 / 22)
        assert found[f"{corpus}.characters.recall"] == pytest.approx(17 / 27)
        assert found[f"{corpus}.characters.F1"] == pytest.approx(34 / 49)
    assert (found["tab.speed"] or 0) > 0
    by_hand = {
        "spia_cases.direct.touched.recall": 1,
        "spia_cases.direct.covered.recall": 1,
        "spia_cases.quasi.touched.recall": 0.5,
        "spia_cases.quasi.covered.recall": 0,
        "spia_posts.direct.touched.recall": 1,
        "spia_posts.quasi.touched.recall": 0,
        # "Call" is a claim like any other here.
        "presidio_synth.spans.precision": 0.5,
        "presidio_synth.spans.recall": 0.5,
        "presidio_synth.spans.F1": 0.5,
        # The handle and Ada are there; Ada is found, and a place is taken for a person.
        "wnut17.persons_handles_among_them.touched.recall": 0.5,
        "wnut17.persons_handles_among_them.touched.precision": 0.5,
        "wnut17.places.touched.recall": 0,
        "wnut17.places.touched.precision": None,
    }
    assert {key: found[key] for key in by_hand} == by_hand
    patient = {
        f.question: (f.estimate.hits, f.estimate.n, f.documents)
        for f in report.figures
        if f.question.startswith("aci_bench") and f.detector == "ours"
    }
    # A slipped mark is mended.
    (case,) = cases.cases_of(data, "spia_posts")
    start = POST.index("K7")
    assert [each.mentions for each in case.entities] == [((1, 10),), ((start, start + 2),)]
    # In dialogue and note.
    assert patient == {
        "aci_bench.first_name.recall": (2, 2, 1),
        "aci_bench.family_name.recall": (0, 2, 1),
        "aci_bench.age.recall": (0, 2, 1),
        "aci_bench.gender.recall": (0, 2, 1),
    }


def test_released_spans_answer_for_the_court_cases_alone(report: DetectionReport) -> None:
    assert report.detectors == ("ours", RELEASED)
    found = values(report, RELEASED)
    assert found["tab.characters.precision"] == 1
    assert found["tab.characters.recall"] == pytest.approx(9 / 27)
    assert found["spia_cases.direct.touched.recall"] == 0
    assert {key.split(".")[0] for key, value in found.items() if value is not None} == {"tab", "spia_cases"}
    assert report.figure("tab.speed", RELEASED).estimate.why_not == "it was not run for this"


def test_every_question_is_answered_or_said_not_to_be(report: DetectionReport) -> None:
    names = study.corpus_names()
    keys = [question.key for question in study.questions(names)]
    assert len(set(keys)) == len(keys)
    assert [figure.question for figure in report.figures if figure.detector == "ours"] == keys
    for figure in report.figures:
        assert (figure.estimate.value is None) == bool(figure.estimate.why_not)
    unasked = report.figure("crossner_politics.asked.exact.F1", "ours").estimate
    assert (unasked.value, unasked.why_not) == (None, "it was not run for this")
    assert set(tasks.KINDS) <= set(names)


def test_a_report_survives_json_and_holds_no_word_of_a_corpus(report: DetectionReport) -> None:
    text = json.dumps(report.model_dump(mode="json"))
    assert DetectionReport.model_validate_json(text) == report
    told = text + markdown(report) + misses_table(report, "ours") + repr(report)
    assert not any(word in told for word in "Novak Dornau 1961 mira_vole otto 0199 Lind".split())
    assert report.provenance.commit == "0" * 7
    assert f"{os.cpu_count()} cores" in report.provenance.hardware
    assert report.seeds == {"bootstrap": 0, "misses": 0, "answers": 20261120}


def test_misses_and_false_alarms_are_places(data: Path) -> None:
    report = report_of(data, corpora=["tab"])
    ours = [miss for miss in report.misses if miss.detector == "ours"]
    assert [(m.sort, m.label, m.start, m.shape) for m in ours] == [
        ("miss", "place", CASE.index("Dornau"), "Xxxxxx"),
        ("false alarm", "organization", CASE.index("lived"), "xxxxx"),
    ]
    assert report.wrong["ours"] == {"miss": 1, "false alarm": 1}
    assert "| miss | tab | tab:001-1 | 37 | 43 | place | 6 | `Xxxxxx` |" in misses_table(report, "ours")


ABOUT = {"firstname": "Ada", "familyname": "hill", "age": "43", "gender": "female"}


@pytest.mark.parametrize(
    ("about", "text", "words"),
    [
        (ABOUT, "Ada Hill, seen today", [("Ada", FIRST_NAME), ("Hill", FAMILY_NAME)]),
        (ABOUT, "hi miss hill , up the hill", [("hill", FAMILY_NAME)]),
        (ABOUT, "ada hill walks", [("ada", FIRST_NAME), ("hill", FAMILY_NAME)]),
        (ABOUT, "adage, Hilltop", []),
        (ABOUT, "she is 43 years old, for 43 days", [("43", AGE)]),
        (ABOUT, "a 43 -year-old", [("43", AGE)]),
        (ABOUT, "a 43 y.o. female", [("43", AGE), ("female", GENDER)]),
        (ABOUT, "aged forty three", [("forty three", AGE)]),
        (ABOUT, "at the age of 43.", [("43", AGE)]),
        (ABOUT, "at age 43.5, 143 years old", []),
        (ABOUT, "a pleasant, cooperative woman", [("woman", GENDER)]),
        (ABOUT, "a woman came; a pleasant man", []),
        (ABOUT, "pleasant\nwoman", []),
        ({"firstname": "33"}, "33 is 33 years old", []),
        ({"age": "9-month"}, "a 9-month-old boy, 19 years old", [("9", AGE)]),
        ({"age": "104"}, "aged 104", [("104", AGE)]),
    ],
)
def test_occurrences_that_say_who_the_patient_is(
    about: dict[str, str], text: str, words: list[tuple[str, str]]
) -> None:
    found = cases.occurrences(text, {f"patient_{field}": value for field, value in about.items()})
    assert [(text[mention.start : mention.end], mention.label) for mention in found] == words


def test_labels_of_politics_are_asked_by_name_and_have_to_be_right(data: Path) -> None:
    asked: list[Sequence[str]] = []
    steps: dict[str, tuple[int, int | None]] = {}

    def found(phrases: dict[str, str], *corpora: str) -> dict[str, float | None]:
        def factory(labels: Sequence[str]) -> PhraseDetector:
            asked.append(labels)
            return PhraseDetector(phrases)

        def progress(phase: str, done: int, total: int | None) -> None:
            steps[phase] = (done, total)

        wanted = [*corpora, "crossner_politics"]
        return values(report_of(data, corpora=wanted, for_labels={"ours": factory}, progress=progress))

    right = found({"Ada Lind": "politician", "Moss": "political party"}, "tab", "aci_bench")
    assert asked == [["political party", "politician"]]
    assert right["crossner_politics.asked.exact.F1"] == 0.5
    assert right["crossner_politics.asked.touched.F1"] == 1
    assert steps["aci_bench"] == (2, 2)
    assert steps["crossner_politics, ours"] == (3, 3)
    assert steps["speed"] == (1, 1)
    assert found({"Ada Lind": "political party"})["crossner_politics.asked.touched.F1"] == 0


def test_of_overlapping_claims_the_surest_stays() -> None:
    weak, sure = entity(0, 9, "place", confidence=0.4), entity(4, 6, PERSON, confidence=0.8)
    apart = entity(9, 12, "date", confidence=0.1)
    assert tasks.flat([weak, apart, sure]) == [sure, apart]


def test_share_of_answers_that_is_changed(data: Path) -> None:
    def generalize(documents: Sequence[Document]) -> list[list[Span] | None]:
        return [None if each.doc_id == failing else [Span(0, 10), Span(5, 15)] for each in documents]

    def progress(phase: str, done: int, total: int | None) -> None:
        steps.append((done, total))

    steps: list[tuple[int, int | None]] = []
    documents = tasks.answers(data)
    # Of 20 pages, those that nothing is trained on.
    assert len(documents) == 18
    drawn = tasks.answers(data, 5)
    assert drawn == tasks.answers(data, 5) and len({each.doc_id for each in drawn}) == 5
    failing = documents[0].doc_id
    report = report_of(data, progress=progress, corpora=["medquad"], generalizers={"ours": generalize})
    figure = report.figure("medquad.generalized", "ours")
    assert figure.estimate.value == pytest.approx(0.15)
    assert figure.documents == len(documents) - 1
    assert steps == [(16, 18), (18, 18)]


def test_what_a_sanitizer_keeps_is_not_changed() -> None:
    class Script:
        name = "script"

        def sanitize(self, documents: Sequence[Document]) -> list[SanitizedDocument | SanitizationError]:
            kept = Decision(entity(0, 4, "disease"), None, Action.KEEP, "test")
            cut = Decision(entity(5, 9, "date"), None, Action.SUPPRESS, "test")
            done = SanitizedDocument("a", "", [kept, cut], [(0, 4), (5, 5)], Risk(0, 0, "test"), "test", 0)
            return [done, SanitizationError("b", "detection failed (ValueError)")]

    changed = tasks.changed_by(Script())([Document("a", "flu since May"), Document("b", "x")])
    assert changed == [[Span(5, 9)], None]


def test_shape_hides_what_words_say() -> None:
    shapes = {"Anna Ruiz 1984": "Xxxx Xxxx 9999", "a|b`c\té": "x|x`x x", "x" * 40: "x" * 24, "№ ½": "? 9"}
    assert {words: study.shape_of(words) for words in shapes} == shapes


def test_an_absent_corpus_is_not_measured_and_marks_of_a_shape_do_not_break_its_cell(tmp_path: Path) -> None:
    write_sentence(tmp_path, "a|b`c", (0, 5, "PERSON"))
    report = report_of(tmp_path)
    figure = report.figure("tab.characters.F1", "ours").estimate
    assert (figure.value, figure.why_not) == (None, "the corpus was not read")
    assert list(report.corpora) == ["presidio_synth"]
    assert "| TAB: characters, all mentions: F1 | not measured |" in figures_table(report)
    assert misses_table(report, "ours").splitlines()[-1].endswith("| 5 | `x/x'x` |")


def test_a_sample_takes_corpora_and_labels_in_turn() -> None:
    sampled = study.MissSample("ours")
    for corpus, label, number in (("a", "date", 90), ("a", "place", 50), ("b", "date", 4)):
        for at in range(number):
            case = Case(f"{corpus}{at}", corpus, "u", "some words", (Mention(0, 4, label),), frozenset())
            sampled.look(case, [], [tasks.everything])
    drawn = sampled.drawn("miss")
    strata = [(m.corpus, m.label) for m in drawn]
    counts = {each: strata.count(each) for each in strata}
    assert counts == {("a", "date"): 13, ("a", "place"): 13, ("b", "date"): 4}
    assert sampled.counts() == {"miss": 144, "false alarm": 0}
    assert len({miss.record for miss in drawn if miss.label == "place"}) == 13


def test_claims_are_judged_only_where_marking_is_complete() -> None:
    found = [entity(0, 3, PERSON)]
    for asked, claims in ((), []), ((PERSON,), found):
        case = Case("c", "gum", "c", "Ada Eve", (Mention(4, 7, PERSON),), frozenset(asked))
        assert tasks.of_kind(case, found, tasks.PERSONS).claims == claims
    # Handles are found but not claimed.
    case = Case("c", "wnut17", "c", "@eve hi", (Mention(0, 4, "account handle"),), frozenset(["place"]))
    sides = tasks.of_kind(case, [entity(0, 4, "account handle")], tasks.PERSONS_AND_HANDLES)
    assert (len(sides.marked), len(sides.finders), len(sides.claims)) == (1, 1, 0)


def test_characters_taken_for_names_where_there_are_none() -> None:
    found = [entity(0, 3, PERSON), entity(1, 4, "city name"), entity(5, 8, "disease")]
    for asked, tally in ((PERSON,), Tally(3, 15)), ((), Tally()):
        case = Case("c", "bc5cdr", "c", "Marfan syndrome", (), frozenset(asked))
        assert tasks.taken_for(case, found, (tasks.PERSONS,)) == tally


class Silent:
    name = "silent"

    def detect(self, documents: Sequence[Document]) -> list[list[Entity]]:
        return []


def test_a_failing_detector_is_reported_without_its_words(data: Path) -> None:
    with pytest.raises(LetheError) as failed:
        study.run({"broken": FailingDetector("Novak")}, data, corpora=["tab"])
    repair = "repair it, or leave it or the corpus out."
    assert str(failed.value) == f"The detector broken failed on tab (RuntimeError); {repair}"
    assert failed.value.__cause__ is None
    with pytest.raises(LetheError, match="answered for 0 of 1 documents of tab; it must give one list"):
        study.run({"silent": Silent()}, data, corpora=["tab"])


def test_names_that_are_not_there_are_refused(data: Path, tmp_path: Path) -> None:
    asked: list[tuple[Path, dict[str, Any], str]] = [
        (data, {"corpora": ["moon"]}, "no benchmark corpus named moon: the names are tab"),
        (data, {"for_labels": {"theirs": Silent}}, "no detector named theirs to measure .* are ours"),
        (tmp_path, {}, "has none of the corpora to measure on: name the folder"),
    ]
    for folder, wanted, message in asked:
        with pytest.raises(ConfigurationError, match=message):
            report_of(folder, **wanted)


def test_files_in_another_layout_or_of_another_release_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_lines(path := tmp_path / "aci_bench" / "data.jsonl", [{"id": "v", "metadata": {}, "dialogue": 7}])
    with pytest.raises(ConfigurationError) as refused:
        report_of(tmp_path, corpora=["aci_bench"])
    restore = "restore the file, or leave the corpus out."
    assert str(refused.value) == f"Line 1 of {path} is not in the layout of its corpus: {restore}"
    write_cases(tmp_path, identifier_type="")
    wrong = r"^spia_cases: a mention of tab_dev\.jsonl has no entity_id or no identifier_type; take the"
    with pytest.raises(ConfigurationError, match=wrong):
        report_of(tmp_path, corpora=["spia_cases"])
    write_cases(tmp_path, released=[3, 12])
    with pytest.raises(LetheError, match=r"does not hold \[start, end, label\] lists by case"):
        report_of(tmp_path, corpora=["tab"])
    write_cases(tmp_path)
    monkeypatch.setattr(cases, "spia_entities", lambda folder, corpus: {})
    with pytest.raises(ConfigurationError, match="spia_cases: the text of .* not in tab_dev.jsonl; take all"):
        report_of(tmp_path, corpora=["spia_cases"])


def test_rims_and_titles_do_not_count() -> None:
    assert cases.trimmed(" “Ada”. ", (0, 8)) == (2, 5)
    assert cases.trimmed("...", (0, 3)) is None
    text = "the Dr. Mr Ada Lind,"
    assert cases.core(text, (0, len(text))) == (11, 19)
    assert cases.core("Mrs.", (0, 4)) == (0, 3)
    assert cases.core("theatre", (0, 7)) == (0, 7)
    assert cases.core("...", (0, 3)) == (0, 3)
    text = "Ada, Eve."
    assert cases.equal(text, [(0, 4)], [(0, 3)]) == Tally(1, 1, 1, 1)
    assert cases.overlapping(text, [(0, 3), (0, 4)], [(5, 8), (3, 5)]) == Tally(0, 1, 0, 1)
    assert cases.characters(text, [(0, 9)], [(0, 3)]) == Tally(3, 8, 3, 3)


def test_an_entity_needs_all_its_mentions() -> None:
    one = [cases.MarkedEntity("DIRECT", ((0, 6), (11, 14)))]
    spans: list[tuple[list[Ends], int, int]] = [([(0, 2)], 0, 0), ([(0, 2), (13, 14)], 1, 0)]
    for found, touched, covered in (*spans, ([(3, 6), (11, 13), (13, 14)], 1, 1)):
        assert cases.entities_touched(one, found) == Tally(touched, 1)
        assert cases.entities_covered("Mr Ada and Ada", one, found) == Tally(covered, 1)


@pytest.mark.parametrize(
    ("measure", "counts", "value"),
    [
        (Measure.F1, [(0, 0, 0, 0)], None),
        (Measure.F1, [(0, 3, 0, 0)], 0),
        (Measure.F1, [(0, 0, 0, 3)], 0),
        # The ratio of sums where counts are equal.
        (Measure.F1, [(3, 9, 3, 4), (0, 2, 0, 0), (7, 7, 7, 13)], 2 * 10 / (18 + 17)),
        (Measure.PRECISION, [(0, 3, 0, 0)], None),
        (Measure.RECALL, [], None),
    ],
)
def test_measures_by_hand(measure: Measure, counts: list[tuple[int, ...]], value: float | None) -> None:
    found = cases.estimated(measure, {str(n): Tally(*each) for n, each in enumerate(counts)}).value
    assert found == (value and pytest.approx(value))


def test_intervals_widen_with_what_documents_differ() -> None:
    same = cases.estimated(Measure.F1, {str(n): Tally(5, 10, 5, 10) for n in range(10)})
    unlike = cases.estimated(Measure.F1, {str(n): Tally(n, 10, n, 10) for n in range(10)})
    assert (same.low, same.value, same.high) == (0.5, 0.5, 0.5)
    assert unlike.low is not None and unlike.high is not None and unlike.high - unlike.low > 0.1


TEXT = "Ab, cd. the Ef gh?"
ends = st.tuples(st.integers(0, len(TEXT) - 1), st.integers(1, len(TEXT))).map(
    lambda pair: (min(pair), max(max(pair), min(pair) + 1))
)
many = st.lists(ends, max_size=6)
part = st.integers(0, 5).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
tallies = st.dictionaries(
    st.text("abcdef", min_size=1, max_size=2), st.builds(lambda a, b: Tally(*a, *b), part, part), max_size=4
)


@given(many, ends)
def test_a_cover_holds_what_its_spans_hold(spans: list[Ends], asked: Ends) -> None:
    held = {at for start, end in spans for at in range(start, end)}
    cover = cases.Cover(spans)
    assert len(cover) == len(held)
    assert cover.held(asked) == len(held & set(range(*asked)))


@given(many, many, many)
def test_counts_are_bounded_symmetric_and_grow_with_what_is_found(
    marked: list[Ends], found: list[Ends], more: list[Ends]
) -> None:
    for measure in (cases.characters, cases.overlapping, cases.equal):
        one, other = measure(TEXT, marked, found), measure(TEXT, found, marked)
        assert 0 <= one.met <= one.marked
        assert (one.met, one.marked) == (other.right, other.found)
        assert one == measure(TEXT, marked[::-1], found[::-1])
        assert measure(TEXT, marked, found + more).met >= one.met
    assert cases.equal(TEXT, marked, found).met <= cases.overlapping(TEXT, marked, found).met


@given(st.lists(st.lists(ends, min_size=1, max_size=3), max_size=4), many, many)
def test_full_cover_implies_any_overlap_and_more_spans_never_lower_either(
    groups: list[list[Ends]], found: list[Ends], more: list[Ends]
) -> None:
    for group in groups:
        one = [cases.MarkedEntity("DIRECT", tuple(group))]
        touched, covered = cases.entities_touched(one, found), cases.entities_covered(TEXT, one, found)
        assert covered.met <= touched.met <= cases.entities_touched(one, found + more).met
        assert covered.met <= cases.entities_covered(TEXT, one, found + more).met


@given(tallies)
def test_f1_lies_between_precision_and_recall_and_the_order_of_documents_does_not_matter(
    counts: dict[str, Tally],
) -> None:
    turned = dict(reversed(counts.items()))
    found = {measure: cases.estimated(measure, counts) for measure in Measure}
    assert found == {measure: cases.estimated(measure, turned) for measure in Measure}
    for each in found.values():
        if each.value is not None and each.low is not None and each.high is not None:
            assert 0 <= each.low <= each.high <= 1
            assert 0 <= each.value <= 1
    precision, recall, f1 = (found[each].value for each in (Measure.PRECISION, Measure.RECALL, Measure.F1))
    if precision is not None and recall is not None and f1 is not None:
        assert min(precision, recall) - 1e-12 <= f1 <= max(precision, recall) + 1e-12


def test_the_benchmark_cases_are_those_kept_for_it() -> None:
    folder = public_data("tab", "spia")
    units = {case.unit for case in cases.cases_of(folder, "tab")}
    linked = list(cases.cases_of(folder, "spia_cases"))
    assert (len(units), len(linked)) == (63, 21)
    assert {case.unit for case in linked} <= units
    assert all(case.entities for case in linked)
