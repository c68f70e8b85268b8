import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.reports.detection import figures_table, markdown, misses_table
from eval.studies.detection.cases import (
    AGE,
    FAMILY_NAME,
    FIRST_NAME,
    GENDER,
    Case,
    Cover,
    MarkedEntity,
    Measure,
    Tally,
    cases_of,
    characters,
    core,
    entities_covered,
    entities_touched,
    equal,
    estimated,
    f1_of,
    occurrences,
    overlapping,
    trimmed,
)
from eval.studies.detection.study import (
    DetectionReport,
    MissSample,
    as_json,
    corpus_names,
    questions,
    run,
    shape_of,
)
from eval.studies.detection.tasks import (
    KINDS,
    PERSONS,
    PERSONS_AND_HANDLES,
    answers,
    changed_by,
    detected,
    everything,
    flat,
    of_kind,
    share_changed,
    taken_for,
)
from ingest.documents import Action, Decision, Document, Entity, Risk, SanitizedDocument, Span
from ingest.errors import SanitizationError, UnreadableDocument
from models.corpora.examples import Mention
from models.errors import ConfigurationError, LetheError
from tests.commands import public_data, write_lines
from tests.doubles import FailingDetector, PhraseDetector, entity

CASE = "Mr Jan Novak, born in 1961, lived in Dornau. Novak left."
POST = "@mira_vole writes: my code is K7."
SENTENCE = "Call Ada at 555 0199."
PEOPLE = {
    "Jan Novak": "person full name",
    "Novak": "person full name",
    "196": "date",
    "lived": "organization",
    "born": "symptom",
    "mira_vole": "account handle",
    "Ada": "person full name",
    "Call": "symptom",
    " otto": "person full name",
    "Pinewood": "person full name",
}


def spia_mention(text: str, words: str, kind: str, number: str, nth: int = 0, label: str = "PERSON") -> Any:
    start = -1
    for _ in range(nth + 1):
        start = text.index(words, start + 1)
    return {
        "span_text": words,
        "entity_type": label,
        "start_offset": start,
        "end_offset": start + len(words),
        "entity_id": number,
        "identifier_type": kind,
    }


def write_cases(folder: Path) -> None:
    marks = [
        spia_mention(CASE, "Mr Jan Novak", "DIRECT", "e1"),
        spia_mention(CASE, "Novak", "NO_MASK", "e1", 1),
        spia_mention(CASE, "1961", "QUASI", "e2", label="DATETIME"),
        spia_mention(CASE, "Dornau", "QUASI", "e3", label="LOC"),
    ]
    row = {"metadata": {"data_id": "T-1", "provenance": {"doc_id": "001-1"}}, "text": CASE, "entities": marks}
    write_lines(folder / "spia" / "tab_dev.jsonl", [row])
    write_lines(folder / "spia" / "tab_train.jsonl", [])
    mentions = [{"start": m["start_offset"], "end": m["end_offset"], "type": m["entity_type"]} for m in marks]
    write_lines(folder / "tab" / "dev.jsonl", [{"doc_id": "001-1", "text": CASE, "mentions": mentions}])
    released = {"001-1": [[3, 12, "PERSON"]]}
    (folder / "tab" / "presidio_baseline_spans_dev.json").write_text(json.dumps(released))


def write_posts(folder: Path) -> None:
    profile = {"Unique ID": "p1", "First Name": "Mira", "Last Name": "Vole"}
    marks = [
        # The second mark has slipped by one character.
        spia_mention(POST, "mira_vole", "DIRECT", "1"),
        {**spia_mention(POST, "K7", "QUASI", "2", label="CODE"), "start_offset": POST.index("K7") + 1},
    ]
    row = {
        "metadata": {"data_id": "post-1", "provenance": {"profile": profile}},
        "text": POST,
        "entities": marks,
    }
    write_lines(folder / "spia" / "panorama_entities.jsonl", [row])


def write_visits(folder: Path) -> None:
    about = {
        "patient_firstname": "otto",
        "patient_familyname": "Green",
        "patient_age": "43.0",
        "patient_gender": "male ",
    }
    dialogue = "[doctor] hi , otto . you look green today . otto is a forty-three year old tired male ."
    note = "Mr. Green is a 43-year-old male. A man fell on Green."
    visit = {"id": "v1", "metadata": about, "dialogue": dialogue, "note": note}
    write_lines(folder / "aci_bench" / "data.jsonl", [visit])


def write_sentences(folder: Path) -> None:
    spans = [{"start": 5, "end": 8, "label": "PERSON"}, {"start": 12, "end": 20, "label": "PHONE_NUMBER"}]
    row = {"id": "s1", "template_id": "1", "text": SENTENCE, "spans": spans}
    write_lines(folder / "presidio_synth" / "data.jsonl", [row])


def write_tokens(folder: Path) -> None:
    posts = [
        {"id": "w1", "tokens": ["@otto99", "met", "Ada", "in", "Dornau"], "ner": [[2, 2, "person"]]},
        {"id": "w2", "tokens": ["Pinewood", "is", "quiet"], "ner": [[0, 0, "location"]]},
    ]
    write_lines(folder / "wnut17" / "test.jsonl", posts)
    for field in ("ai", "literature", "music", "science"):
        for part in ("train", "dev", "test"):
            write_lines(folder / "crossner" / f"{field}_{part}.jsonl", [])
    tokens = ["Ada", "Lind", "leads", "the", "Moss", "Party", "."]
    marks = [[0, 1, "politician"], [4, 5, "politicalparty"]]
    for part in ("train", "dev", "test"):
        rows = [{"id": f"crossner-politics-{part}-0", "tokens": tokens, "ner": marks}]
        write_lines(folder / "crossner" / f"politics_{part}.jsonl", rows)


def write_answers(folder: Path, pages: int = 20) -> None:
    rows = [
        {"id": f"m{n:02d}", "doc": f"page-{n:02d}", "answer": "rest and water help " * 5}
        for n in range(pages)
    ]
    write_lines(folder / "medquad" / "data.jsonl.gz", rows)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for writer in (
        write_cases,
        write_posts,
        write_visits,
        write_sentences,
        write_tokens,
        write_answers,
    ):
        writer(tmp_path)
    return tmp_path


def report_of(folder: Path, **more: Any) -> DetectionReport:
    return run({"ours": PhraseDetector(PEOPLE)}, folder, **more)


def values(report: DetectionReport, detector: str = "ours") -> dict[str, float | None]:
    return {
        figure.question: figure.estimate.value for figure in report.figures if figure.detector == detector
    }


def test_figures_of_court_cases_are_those_computed_by_hand(data: Path) -> None:
    found = values(report_of(data, corpora=["tab", "spia_cases"]))
    # Marked: 12 + 4 + 6 + 5 characters. Found: 9 + 3 + 5 + 5, of which 17 are marked; "born" is medical.
    for corpus in ("tab", "spia_cases"):
        assert found[f"{corpus}.characters.precision"] == pytest.approx(17 / 22)
        assert found[f"{corpus}.characters.recall"] == pytest.approx(17 / 27)
        assert found[f"{corpus}.characters.F1"] == pytest.approx(34 / 49)
    assert found["spia_cases.direct.touched.recall"] == 1
    assert found["spia_cases.direct.covered.recall"] == 1
    assert found["spia_cases.quasi.touched.recall"] == 0.5
    assert found["spia_cases.quasi.covered.recall"] == 0
    assert (found["tab.speed"] or 0) > 0


def test_released_spans_answer_for_the_court_cases_alone(data: Path) -> None:
    report = report_of(data)
    assert report.detectors == ("ours", "Presidio, released spans")
    found = values(report, "Presidio, released spans")
    assert found["tab.characters.precision"] == 1
    assert found["tab.characters.recall"] == pytest.approx(9 / 27)
    assert found["spia_cases.direct.touched.recall"] == 0
    measured = {key.split(".")[0] for key, value in found.items() if value is not None}
    assert measured == {"tab", "spia_cases"}
    assert (
        report.figure("tab.speed", "Presidio, released spans").estimate.why_not == "it was not run for this"
    )


def test_figures_of_posts_and_sentences(data: Path) -> None:
    found = values(report_of(data, corpora=["spia_posts", "presidio_synth", "wnut17"]))
    assert found["spia_posts.direct.touched.recall"] == 1
    assert found["spia_posts.quasi.touched.recall"] == 0
    # "Call" is a claim like any other here.
    assert found["presidio_synth.spans.precision"] == 0.5
    assert found["presidio_synth.spans.recall"] == 0.5
    assert found["presidio_synth.spans.F1"] == 0.5
    # The handle and Ada are there; Ada is found, and a place is taken for a person.
    assert found["wnut17.persons_handles_among_them.touched.recall"] == 0.5
    assert found["wnut17.persons_handles_among_them.touched.precision"] == 0.5
    assert found["wnut17.places.touched.recall"] == 0
    assert found["wnut17.places.touched.precision"] is None


def test_a_slipped_mark_is_mended(data: Path) -> None:
    (case,) = cases_of(data, "spia_posts")
    start = POST.index("K7")
    assert [each.mentions for each in case.entities] == [((1, 10),), ((start, start + 2),)]


def test_the_patient_is_counted_in_dialogue_and_note(data: Path) -> None:
    report = report_of(data, corpora=["aci_bench"])
    hits = {f.question: (f.estimate.hits, f.estimate.n) for f in report.figures}
    assert hits == {
        "aci_bench.first_name.recall": (2, 2),
        "aci_bench.family_name.recall": (0, 2),
        "aci_bench.age.recall": (0, 2),
        "aci_bench.gender.recall": (0, 2),
    }
    assert report.figure("aci_bench.first_name.recall", "ours").documents == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Ada Hill, seen today", [("Ada", FIRST_NAME), ("Hill", FAMILY_NAME)]),
        ("hi miss hill , up the hill", [("hill", FAMILY_NAME)]),
        ("ada hill walks", [("ada", FIRST_NAME), ("hill", FAMILY_NAME)]),
        ("adage, Hilltop", []),
        ("she is 43 years old, for 43 days", [("43", AGE)]),
        ("a 43 -year-old", [("43", AGE)]),
        ("a 43 y.o. female", [("43", AGE), ("female", GENDER)]),
        ("aged forty three", [("forty three", AGE)]),
        ("at the age of 43.", [("43", AGE)]),
        ("at age 43.5, 143 years old", []),
        ("a pleasant, cooperative woman", [("woman", GENDER)]),
        ("a woman came; a pleasant man", []),
        ("pleasant\nwoman", []),
    ],
)
def test_occurrences_that_say_who_the_patient_is(text: str, words: list[tuple[str, str]]) -> None:
    about = {
        "patient_firstname": "Ada",
        "patient_familyname": "hill",
        "patient_age": "43",
        "patient_gender": "female",
    }
    found = [(text[mention.start : mention.end], mention.label) for mention in occurrences(text, about)]
    assert found == words


def test_what_metadata_lacks_is_not_looked_for() -> None:
    assert occurrences("33 is 33 years old", {"patient_firstname": "33"}) == []
    months = occurrences("a 9-month-old boy, 9 years old", {"patient_age": "9-month"})
    assert [(m.start, m.end) for m in months] == [(2, 3)]
    assert [m.label for m in occurrences("aged 104", {"patient_age": "104"})] == [AGE]


def test_labels_of_politics_are_asked_by_name(data: Path) -> None:
    asked: list[Sequence[str]] = []

    def factory(labels: Sequence[str]) -> PhraseDetector:
        asked.append(labels)
        return PhraseDetector({"Ada Lind": "politician", "Moss": "political party"})

    report = report_of(data, corpora=["crossner_politics"], for_labels={"ours": factory})
    assert asked == [["political party", "politician"]]
    found = values(report)
    assert found["crossner_politics.asked.exact.F1"] == 0.5
    assert found["crossner_politics.asked.touched.F1"] == 1


def test_a_wrong_label_is_no_find_where_labels_are_asked(data: Path) -> None:
    report = report_of(
        data,
        corpora=["crossner_politics"],
        for_labels={"ours": lambda labels: PhraseDetector({"Ada Lind": "political party"})},
    )
    assert values(report)["crossner_politics.asked.touched.F1"] == 0


def test_without_a_detector_for_labels_politics_is_not_measured(data: Path) -> None:
    figure = report_of(data).figure("crossner_politics.asked.exact.F1", "ours").estimate
    assert (figure.value, figure.why_not) == (None, "it was not run for this")


def test_of_overlapping_claims_the_surest_stays() -> None:
    weak, sure = entity(0, 9, "place", confidence=0.4), entity(4, 6, "person full name", confidence=0.8)
    apart = entity(9, 12, "date", confidence=0.1)
    assert flat([weak, apart, sure]) == [sure, apart]


def test_share_of_answers_that_is_changed(data: Path) -> None:
    def generalize(documents: Sequence[Document]) -> list[list[Span] | None]:
        return [None if each.doc_id == failing else [Span(0, 10), Span(5, 15)] for each in documents]

    documents = answers(data)
    failing = documents[0].doc_id
    report = report_of(data, corpora=["medquad"], generalizers={"ours": generalize})
    figure = report.figure("medquad.generalized", "ours")
    assert figure.estimate.value == pytest.approx(0.15)
    assert figure.documents == len(documents) - 1


def test_answers_come_from_pages_that_nothing_is_trained_on(data: Path) -> None:
    assert len(answers(data)) == 18
    drawn = answers(data, 5)
    assert drawn == answers(data, 5)
    assert len({document.doc_id for document in drawn}) == 5


def test_what_a_sanitizer_keeps_is_not_changed() -> None:
    class Script:
        name = "script"

        def sanitize(self, documents: Sequence[Document]) -> list[SanitizedDocument | SanitizationError]:
            kept = Decision(entity(0, 4, "disease"), None, Action.KEEP, "test")
            cut = Decision(entity(5, 9, "date"), None, Action.SUPPRESS, "test")
            done = SanitizedDocument("a", "", [kept, cut], [(0, 4), (5, 5)], Risk(0, 0, "test"), "test", 0)
            return [done, SanitizationError("b", "detection failed (ValueError)")]

    assert changed_by(Script())([Document("a", "flu since May"), Document("b", "x")]) == [[Span(5, 9)], None]


def test_an_absent_corpus_is_not_measured(tmp_path: Path) -> None:
    write_sentences(tmp_path)
    report = report_of(tmp_path)
    figure = report.figure("tab.characters.F1", "ours").estimate
    assert (figure.value, figure.why_not) == (None, "the corpus was not read")
    assert list(report.corpora) == ["presidio_synth"]
    assert "| TAB: characters, all mentions: F1 | not measured |" in figures_table(report)


def test_every_question_is_answered_or_said_not_to_be(data: Path) -> None:
    report = report_of(data)
    keys = [question.key for question in questions(corpus_names())]
    assert len(set(keys)) == len(keys)
    assert [figure.question for figure in report.figures if figure.detector == "ours"] == keys
    for figure in report.figures:
        assert (figure.estimate.value is None) == bool(figure.estimate.why_not)


def test_progress_names_every_corpus(data: Path) -> None:
    steps: dict[str, tuple[int, int | None]] = {}

    def progress(phase: str, done: int, total: int | None) -> None:
        steps[phase] = (done, total)

    report_of(data, progress=progress, for_labels={"ours": lambda labels: PhraseDetector({})})
    assert steps["aci_bench"] == (2, 2)
    assert steps["crossner_politics, ours"] == (3, 3)
    assert steps["speed"] == (1, 1)


def test_a_report_survives_json_and_holds_no_word_of_a_corpus(data: Path) -> None:
    report = report_of(data, commit="0" * 7)
    text = json.dumps(as_json(report))
    assert DetectionReport.model_validate_json(text) == report
    everything_told = text + markdown(report) + misses_table(report, "ours") + repr(report)
    for word in ("Novak", "Dornau", "1961", "mira_vole", "otto", "555 0199", "Lind"):
        assert word not in everything_told
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


@pytest.mark.parametrize(
    ("words", "shape"),
    [
        ("Anna Ruiz 1984", "Xxxx Xxxx 9999"),
        ("a|b`c\té", "x|x`x x"),
        ("x" * 40, "x" * 24),
        ("№ ½", "? 9"),
    ],
)
def test_shape_hides_what_words_say(words: str, shape: str) -> None:
    assert shape_of(words) == shape


def test_marks_of_a_shape_do_not_break_its_cell(data: Path) -> None:
    write_lines(
        data / "presidio_synth" / "data.jsonl",
        [
            {
                "id": "s",
                "template_id": "1",
                "text": "a|b`c",
                "spans": [{"start": 0, "end": 5, "label": "PERSON"}],
            }
        ],
    )
    table = misses_table(report_of(data, corpora=["presidio_synth"]), "ours")
    assert table.splitlines()[-1].endswith("| 5 | `x/x'x` |")


def test_a_sample_takes_corpora_and_labels_in_turn() -> None:
    sampled = MissSample("ours")
    for corpus, label, number in (("a", "date", 90), ("a", "place", 50), ("b", "date", 4)):
        for at in range(number):
            text = "some words"
            case = Case(f"{corpus}{at}", corpus, "u", text, (Mention(0, 4, label),), frozenset())
            sampled.look(case, [], [everything])
    drawn = sampled.drawn("miss")
    counts = {(m.corpus, m.label): 0 for m in drawn}
    for miss in drawn:
        counts[miss.corpus, miss.label] += 1
    assert counts == {("a", "date"): 13, ("a", "place"): 13, ("b", "date"): 4}
    assert sampled.counts() == {"miss": 144, "false alarm": 0}
    assert len({miss.record for miss in drawn if miss.label == "place"}) == 13


def test_claims_are_judged_only_where_marking_is_complete() -> None:
    found = [entity(0, 3, "person full name")]
    marked = (Mention(4, 7, "person full name"),)
    unsure = Case("c", "gum", "c", "Ada Eve", marked, frozenset())
    assert of_kind(unsure, found, PERSONS).claims == []
    sure = Case("c", "gum", "c", "Ada Eve", marked, frozenset(("person full name",)))
    assert of_kind(sure, found, PERSONS).claims == found


def test_characters_taken_for_names_where_there_are_none() -> None:
    found = [entity(0, 3, "person full name"), entity(1, 4, "city name"), entity(5, 8, "disease")]
    asked = frozenset(("person full name",))
    case = Case("c", "bc5cdr", "c", "Marfan syndrome", (), asked)
    assert taken_for(case, found, (PERSONS,)) == Tally(3, 15)
    assert taken_for(Case("c", "bc5cdr", "c", "x", (), frozenset()), found, (PERSONS,)) == Tally()


def test_handles_are_found_but_not_claimed() -> None:
    case = Case("c", "wnut17", "c", "@eve hi", (Mention(0, 4, "account handle"),), frozenset(["place"]))
    sides = of_kind(case, [entity(0, 4, "account handle")], PERSONS_AND_HANDLES)
    assert (len(sides.marked), len(sides.finders), len(sides.claims)) == (1, 1, 0)


def test_kinds_name_no_corpus_that_is_not_measured() -> None:
    assert set(KINDS) <= set(corpus_names())


def test_a_failing_detector_is_reported_without_its_words(data: Path) -> None:
    with pytest.raises(LetheError) as failed:
        run({"broken": FailingDetector("Novak")}, data, corpora=["tab"])
    assert str(failed.value) == (
        "The detector broken failed on tab (RuntimeError); repair it, or leave it or the corpus out."
    )
    assert failed.value.__cause__ is None


def test_a_detector_answers_for_every_document() -> None:
    class Silent:
        name = "silent"

        def detect(self, documents: Sequence[Document]) -> list[list[Entity]]:
            return []

    with pytest.raises(LetheError, match="answered for 0 of 1 documents of tab; it must give one list"):
        detected("silent", Silent(), "tab", [Document("a", "b")])


def test_names_that_are_not_there_are_refused(data: Path, tmp_path: Path) -> None:
    with pytest.raises(
        ConfigurationError, match="There is no benchmark corpus named moon: the names are tab"
    ):
        report_of(data, corpora=["moon"])
    with pytest.raises(ConfigurationError, match="There is no detector named theirs to measure .* are ours"):
        report_of(data, for_labels={"theirs": lambda labels: PhraseDetector({})})
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(ConfigurationError, match="has none of the corpora to measure on: name the folder"):
        report_of(empty)


def test_texts_of_another_release_are_refused(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval.studies.detection.cases.spia_entities", lambda folder, corpus: {})
    with pytest.raises(
        ConfigurationError, match="spia_cases: the text of .* is not in tab_dev.jsonl; take all"
    ):
        report_of(data, corpora=["spia_cases"])


def test_a_record_without_its_fields_is_reported_by_its_place(data: Path) -> None:
    write_lines(
        data / "aci_bench" / "data.jsonl", [{"id": "v", "metadata": {}, "dialogue": 7, "note": "secret"}]
    )
    with pytest.raises(ConfigurationError) as refused:
        report_of(data, corpora=["aci_bench"])
    assert str(refused.value) == (
        f"Line 1 of {data / 'aci_bench' / 'data.jsonl'} is not in the layout of its corpus: "
        "restore the file, or leave the corpus out."
    )


def test_a_mention_without_its_entity_is_refused(data: Path) -> None:
    (line,) = (data / "spia" / "tab_dev.jsonl").read_text(encoding="utf-8").splitlines()
    row = json.loads(line)
    del row["entities"][1]["identifier_type"]
    write_lines(data / "spia" / "tab_dev.jsonl", [row])
    with pytest.raises(
        ConfigurationError,
        match=r"^spia_cases: a mention of tab_dev\.jsonl has no entity_id or no identifier_type; take the",
    ):
        report_of(data, corpora=["spia_cases"])


def test_released_spans_in_another_layout_are_refused(data: Path) -> None:
    (data / "tab" / "presidio_baseline_spans_dev.json").write_text('{"001-1": [3, 12]}')
    with pytest.raises(UnreadableDocument, match=r"does not hold \[start, end, label\] lists by case"):
        report_of(data, corpora=["tab"])


def test_rims_and_titles_do_not_count() -> None:
    assert trimmed(" “Ada”. ", (0, 8)) == (2, 5)
    assert trimmed("...", (0, 3)) is None
    text = "the Dr. Mr Ada Lind,"
    assert core(text, (0, len(text))) == (11, 19)
    assert core("Mrs.", (0, 4)) == (0, 3)
    assert core("theatre", (0, 7)) == (0, 7)
    assert core("...", (0, 3)) == (0, 3)


def test_spans_are_compared_without_their_rims() -> None:
    text = "Ada, Eve."
    assert equal(text, [(0, 4)], [(0, 3)]) == Tally(1, 1, 1, 1)
    assert overlapping(text, [(0, 3), (0, 4)], [(5, 8), (3, 5)]) == Tally(0, 1, 0, 1)
    assert characters(text, [(0, 9)], [(0, 3)]) == Tally(3, 8, 3, 3)


def test_an_entity_needs_all_its_mentions() -> None:
    text = "Mr Ada and Ada"
    one = MarkedEntity("DIRECT", ((0, 6), (11, 14)))
    assert entities_touched([one], [(0, 2)]) == Tally(0, 1)
    assert entities_touched([one], [(0, 2), (13, 14)]) == Tally(1, 1)
    assert entities_covered(text, [one], [(0, 2), (13, 14)]) == Tally(0, 1)
    assert entities_covered(text, [one], [(3, 6), (11, 13), (13, 14)]) == Tally(1, 1)


def test_f1_without_anything_is_not_measured() -> None:
    assert f1_of(Tally()) is None
    assert f1_of(Tally(0, 3, 0, 0)) == 0
    assert f1_of(Tally(0, 0, 0, 3)) == 0
    assert estimated(Measure.F1, {"a": Tally()}).value is None
    assert estimated(Measure.PRECISION, {"a": Tally(0, 3, 0, 0)}).value is None
    assert estimated(Measure.RECALL, {}).value is None


TEXT = "Ab, cd. the Ef gh?"
ends = st.tuples(st.integers(0, len(TEXT) - 1), st.integers(1, len(TEXT))).map(
    lambda pair: (min(pair), max(max(pair), min(pair) + 1))
)
many = st.lists(ends, max_size=6)
tallies = st.dictionaries(
    st.text("abcdef", min_size=1, max_size=2),
    st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 5), st.integers(0, 5)).map(
        lambda n: Tally(n[0], n[0] + n[1], n[2], n[2] + n[3])
    ),
    max_size=4,
)


@given(many, ends)
def test_a_cover_holds_what_its_spans_hold(spans: list[tuple[int, int]], asked: tuple[int, int]) -> None:
    held = {at for start, end in spans for at in range(start, end)}
    cover = Cover(spans)
    assert len(cover) == len(held)
    assert cover.held(asked) == len(held & set(range(*asked)))


@given(many, many, st.randoms(use_true_random=False))
def test_the_order_of_spans_does_not_matter(
    marked: list[tuple[int, int]], found: list[tuple[int, int]], chance: Any
) -> None:
    again = chance.sample(marked, len(marked)), chance.sample(found, len(found))
    for measure in (characters, overlapping, equal):
        assert measure(TEXT, marked, found) == measure(TEXT, *again)


@given(many, many, many)
def test_more_spans_never_lower_recall(
    marked: list[tuple[int, int]], found: list[tuple[int, int]], more: list[tuple[int, int]]
) -> None:
    for measure in (characters, overlapping, equal):
        assert measure(TEXT, marked, found + more).met >= measure(TEXT, marked, found).met
    entities = [MarkedEntity("QUASI", (span,)) for span in marked]
    assert entities_touched(entities, found + more).met >= entities_touched(entities, found).met
    covered = entities_covered(TEXT, entities, found).met
    assert entities_covered(TEXT, entities, found + more).met >= covered


@given(st.lists(st.lists(ends, min_size=1, max_size=3), max_size=4), many)
def test_full_cover_implies_any_overlap(
    groups: list[list[tuple[int, int]]], found: list[tuple[int, int]]
) -> None:
    for group in groups:
        one = [MarkedEntity("DIRECT", tuple(group))]
        assert entities_covered(TEXT, one, found).met <= entities_touched(one, found).met


@given(many, many)
def test_counts_are_bounded_and_symmetric(
    marked: list[tuple[int, int]], found: list[tuple[int, int]]
) -> None:
    for measure in (characters, overlapping, equal):
        one, other = measure(TEXT, marked, found), measure(TEXT, found, marked)
        assert 0 <= one.met <= one.marked
        assert (one.met, one.marked) == (other.right, other.found)
    loose, strict = overlapping(TEXT, marked, found), equal(TEXT, marked, found)
    assert strict.met <= loose.met


@given(tallies)
def test_f1_lies_between_precision_and_recall(counts: dict[str, Tally]) -> None:
    precision, recall, f1 = (estimated(m, counts) for m in (Measure.PRECISION, Measure.RECALL, Measure.F1))
    for each in (precision, recall, f1):
        if each.value is not None and each.low is not None and each.high is not None:
            assert 0 <= each.low <= each.high <= 1
            assert 0 <= each.value <= 1
    if precision.value is not None and recall.value is not None and f1.value is not None:
        ends_of = sorted((precision.value, recall.value))
        assert ends_of[0] - 1e-12 <= f1.value <= ends_of[1] + 1e-12


@given(tallies)
def test_intervals_do_not_depend_on_the_order_of_documents(counts: dict[str, Tally]) -> None:
    turned = dict(reversed(counts.items()))
    for measure in Measure:
        assert estimated(measure, counts) == estimated(measure, turned)


def test_intervals_widen_with_what_documents_differ() -> None:
    same = estimated(Measure.F1, {str(n): Tally(5, 10, 5, 10) for n in range(10)})
    unlike = estimated(Measure.F1, {str(n): Tally(n, 10, n, 10) for n in range(10)})
    assert (same.low, same.value, same.high) == (0.5, 0.5, 0.5)
    assert unlike.low is not None and unlike.high is not None and unlike.high - unlike.low > 0.1


def test_f1_of_equal_counts_is_the_ratio_of_sums() -> None:
    counts = {"a": Tally(3, 9, 3, 4), "b": Tally(0, 2, 0, 0), "c": Tally(7, 7, 7, 13)}
    assert estimated(Measure.F1, counts).value == pytest.approx(2 * 10 / (18 + 17))


def test_the_benchmark_cases_are_those_kept_for_it() -> None:
    folder = public_data("tab", "spia")
    cases = {case.unit for case in cases_of(folder, "tab")}
    linked = list(cases_of(folder, "spia_cases"))
    assert (len(cases), len(linked)) == (63, 21)
    assert {case.unit for case in linked} <= cases
    assert all(case.entities for case in linked)


def test_shares_are_reported_while_answers_are_changed() -> None:
    steps: list[tuple[int, int | None]] = []
    documents = [Document(str(n), "word") for n in range(20)]
    whole, counted = share_changed(
        lambda batch: [[Span(0, 4)] for _ in batch],
        documents,
        lambda done, total: steps.append((done, total)),
    )
    assert (whole.value, counted) == (1, 20)
    assert steps == [(16, 20), (20, 20)]
