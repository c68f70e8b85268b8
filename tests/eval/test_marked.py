"""What methods do to marks: counts, rows and shares. All people are invented."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.documents import Mark, MarkedDocument
from eval.experiment import NOT_SANITIZED, SanitizedCorpus
from eval.progress import no_progress
from eval.rows import Row
from eval.studies.marks.methods import GoldDetector
from eval.tasks.marks import (
    ANY,
    CHANGED,
    COVERED,
    ENTITIES,
    ENTITIES_STANDING,
    LEFT,
    MARKS,
    NO_PLACES,
    NONE_MARKED,
    STANDING,
    TOUCHED,
    UNMARKED,
    WORDS_STANDING,
    Marks,
    MarkShare,
    figure,
    mark_counts,
    mean_estimate,
    paired_difference,
    share_estimate,
    shares_in,
)
from ingest.deciding.baselines.extract import Extract
from ingest.deciding.baselines.uniform import ORIGIN, REDACT
from ingest.documents import Document, SanitizedDocument
from ingest.protocols import Method
from ingest.sanitize import DecidingSanitizer, RewritingSanitizer
from ingest.scoring.prior import RiskPrior
from tests.doubles import PhraseDetector, WordEncoder

TEXT = "Anna Zeller, 45, of Quarnby. Zeller has a cough. Call the clinic on 45 days."
SPANS = {"Anna Zeller": ("DIRECT", 2), "45": ("QUASI", 2), "Quarnby": ("QUASI", 1), "cough": ("SENSITIVE", 0)}


def marks_in(text: str = TEXT) -> tuple[Mark, ...]:
    found = [
        Mark(start, start + len(words), kind, must, words, "PERSON")
        for words, (kind, must) in SPANS.items()
        if (start := text.find(words)) >= 0
    ]
    second = text.find("Zeller", text.find("Zeller") + 1)
    more = [Mark(second, second + 6, "DIRECT", 2, "Anna Zeller", "PERSON")] if second >= 0 else []
    return tuple(sorted([*found, *more]))


MARKED = MarkedDocument(Document("d", TEXT), marks_in(), "invented", "a")


def sanitized(*phrases: str, method: Method = REDACT, text: str = TEXT) -> SanitizedDocument:
    detector = PhraseDetector(dict.fromkeys(phrases, "person full name"))
    (outcome,) = DecidingSanitizer(detector, method, RiskPrior()).sanitize([Document("d", text)])
    assert isinstance(outcome, SanitizedDocument)
    return outcome


def counts_of(outcome: SanitizedDocument, kind: str, must: int) -> dict[str, float]:
    found = mark_counts(MARKED, outcome)
    prefix = figure((kind, must), "")
    return {name.removeprefix(prefix): count for name, count in found.items() if name.startswith(prefix)}


def test_nothing_is_touched_and_all_stands_where_nothing_is_done() -> None:
    found = counts_of(sanitized("Anna Zeller", method=ORIGIN), "DIRECT", 2)
    assert (found[MARKS], found[TOUCHED], found[COVERED], found[STANDING]) == (2, 0, 0, 2)
    assert (found[ENTITIES], found[LEFT], found[ENTITIES_STANDING], found[WORDS_STANDING]) == (1, 1, 1, 2)


def test_one_mention_that_is_left_leaves_the_entity() -> None:
    found = counts_of(sanitized("Anna Zeller"), "DIRECT", 2)
    assert (found[TOUCHED], found[COVERED], found[LEFT]) == (1, 1, 1)
    # Both mentions have the name that still stands, one of them in part.
    assert (found[STANDING], found[WORDS_STANDING]) == (1, 2)
    whole = counts_of(sanitized("Anna Zeller", "Zeller"), "DIRECT", 2)
    assert (whole[COVERED], whole[LEFT], whole[STANDING], whole[WORDS_STANDING]) == (2, 0, 0, 0)


def test_a_partly_left_name_is_touched_and_left() -> None:
    found = counts_of(sanitized("Zeller"), "DIRECT", 2)
    assert (found[TOUCHED], found[COVERED], found[LEFT]) == (2, 1, 1)


def test_two_digits_count_and_a_reader_cannot_tell_whence_they_are() -> None:
    kept = counts_of(sanitized("Zeller"), "QUASI", 2)
    assert (kept[LEFT], kept[STANDING]) == (1, 1)
    # The other 45 is not marked: by place the age is gone, and a reader still finds it.
    places = sanitized("45, of")
    gone = counts_of(places, "QUASI", 2)
    assert (gone[COVERED], gone[LEFT], gone[STANDING]) == (1, 0, 1)


def test_what_may_stay_and_unmarked_text_count_as_needless() -> None:
    found = mark_counts(MARKED, sanitized("cough", "clinic"))
    assert found[figure(("SENSITIVE", 0), TOUCHED)] == 1
    letters = sum(each.isalnum() for each in TEXT)
    inside = sum(TEXT[m.start : m.end].replace(" ", "").isalnum() and m.end - m.start for m in MARKED.marks)
    assert found[UNMARKED] == letters - inside + 1  # the blank of the full name
    assert found[CHANGED] == len("clinic")


def test_all_classes_of_a_must_are_counted_together() -> None:
    found = mark_counts(MARKED, sanitized())
    assert found[figure((ANY, 2), MARKS)] == 3
    assert found[figure((ANY, 2), ENTITIES)] == 2


def test_a_rewritten_text_has_no_places() -> None:
    rewriter = RewritingSanitizer(PhraseDetector({}), Extract(WordEncoder()), RiskPrior())
    (outcome,) = rewriter.sanitize([MARKED.document])
    assert isinstance(outcome, SanitizedDocument)
    found = mark_counts(MARKED, outcome)
    assert not {name for name in found if name.endswith((TOUCHED, COVERED, LEFT, CHANGED))}
    assert figure(("DIRECT", 2), STANDING) in found
    row = Row(system="extract", task="marks, a", case="d", figures=found)
    assert share_estimate(MarkShare("DIRECT", 2, COVERED), [row]).why_not == NO_PLACES
    assert share_estimate(MarkShare("DIRECT", 2, STANDING), [row]).value is not None
    assert paired_difference(MarkShare("DIRECT", 2, COVERED), [[row]], [[row]]).why_not == NO_PLACES


def test_the_oracle_covers_exactly_what_must_go() -> None:
    oracle = DecidingSanitizer(GoldDetector([MARKED]), REDACT, RiskPrior())
    (outcome,) = oracle.sanitize([MARKED.document])
    assert isinstance(outcome, SanitizedDocument)
    found = mark_counts(MARKED, outcome)
    assert found[figure((ANY, 2), COVERED)] == found[figure((ANY, 2), MARKS)]
    assert found[figure((ANY, 2), LEFT)] == 0
    assert found[figure((ANY, 1), TOUCHED)] == found[figure((ANY, 0), TOUCHED)] == found[CHANGED] == 0
    assert GoldDetector([MARKED]).detect([Document("x", "Another text.")]) == [[]]


words = st.lists(st.sampled_from(["Anna", "Zeller", "45", "Quarnby", "cough", "the", "."]), max_size=12)


@given(words, st.sets(st.sampled_from(["Anna", "Zeller", "45", "Quarnby", "cough", "the"])))
def test_counts_are_within_their_bounds_and_covering_is_touching(said: list[str], phrases: set[str]) -> None:
    text = " ".join(said)
    document = MarkedDocument(Document("d", text), marks_in(text), "invented", "a")
    found = mark_counts(document, sanitized(*sorted(phrases), text=text))
    for share in shares_in([Row(system="s", task="t", case="d", figures=found)]):
        row = Row(system="s", task="t", case="d", figures=found)
        pair = share.of(row)
        assert pair is not None and 0 <= pair[0] <= pair[1]
        if share.count == COVERED:
            touched = replace(share, count=TOUCHED).of(row)
            assert touched is not None and pair[0] <= touched[0]
        if share.count == LEFT:
            covered = replace(share, count=COVERED).of(row)
            assert covered is not None and (pair[0] == 0) == (covered[0] == covered[1])


def test_a_mark_is_a_span_with_a_must() -> None:
    for start, end, must in ((3, 3, 2), (-1, 2, 2), (0, 1, 3)):
        with pytest.raises(ValueError, match="no span|must is 3"):
            Mark(start, end, "DIRECT", must, "1")


# -- rows and shares ---------------------------------------------------------------------------------------


def kept(*documents: SanitizedDocument, failed: dict[str, str] | None = None) -> SanitizedCorpus:
    def none(_: object) -> object:
        raise AssertionError("nothing is retrieved")

    return SanitizedCorpus("s", len(documents), failed or {}, {}, none, documents)  # type: ignore[arg-type]


def test_a_row_for_each_document_and_a_failure_where_there_is_none() -> None:
    task = Marks([MARKED, replace(MARKED, document=Document("e", TEXT))], "a")
    assert (task.name, list(task.cases), len(task.sensitive)) == ("marks, a", ["d", "e"], 0)
    one, other = task.rows(kept(sanitized()), task.cases, no_progress)
    assert one.figures[figure(("DIRECT", 2), MARKS)] == 2
    assert (one.kind, one.doc_ids, other.failure, other.figures) == ("a", ("d",), NOT_SANITIZED, {})
    (named,) = task.rows(kept(failed={"e": "detection failed"}), ["e"], no_progress)
    assert named.failure == "detection failed"


def rows(hits: Sequence[int], totals: Sequence[int], failed: str = "") -> list[Row]:
    found = []
    for number, (hit, total) in enumerate(zip(hits, totals, strict=True)):
        counts = {figure(("QUASI", 2), LEFT): float(hit), figure(("QUASI", 2), ENTITIES): float(total)}
        case = f"d{number}"
        failure = "x" if case == failed else ""
        figures = {} if failure else counts
        found.append(Row(system="s", task="marks, a", case=case, figures=figures, failure=failure))
    return found


SHARE = MarkShare("QUASI", 2, LEFT)


def test_a_share_is_pooled_over_documents_that_did_not_fail() -> None:
    found = share_estimate(SHARE, rows([1, 0, 3], [2, 2, 4], failed="d1"))
    assert (found.value, found.hits, found.n) == (4 / 6, 4, 6)
    assert share_estimate(SHARE, rows([0], [0])).why_not == NONE_MARKED
    assert share_estimate(SHARE, []).value is None


def test_draws_of_a_method_are_pooled_by_document() -> None:
    draws = [*rows([1, 0], [2, 2]), *rows([2, 1], [2, 2])]
    found = share_estimate(SHARE, draws)
    assert (found.value, found.hits, found.n) == (0.5, 2, 4)
    against = paired_difference(SHARE, [draws], [rows([0, 0], [2, 2])])
    assert against.value == pytest.approx(0.5)


def test_the_mean_of_annotators_holds_the_intervals_of_both() -> None:
    one, other = rows([1, 0, 2], [2, 2, 4]), rows([1, 1, 3], [2, 1, 4])
    each = [share_estimate(SHARE, one), share_estimate(SHARE, other)]
    mean = mean_estimate(SHARE, [one, other])
    assert mean.value == pytest.approx(sum(x.value or 0 for x in each) / 2)
    assert mean.interval is not None
    assert mean.interval == (min(x.low or 0 for x in each), max(x.high or 0 for x in each))
    assert mean_estimate(SHARE, [one, rows([0], [0])]).why_not == NONE_MARKED


def test_a_difference_of_annotators_is_the_difference_of_their_means() -> None:
    """Pooled, the annotator with more marks would decide, and might turn the sign."""
    one, other = [rows([1], [1]), rows([0], [9])], [rows([0], [1]), rows([3], [9])]
    means = [mean_estimate(SHARE, side).value or 0.0 for side in (one, other)]
    found = paired_difference(SHARE, one, other)
    assert found.value == pytest.approx(means[0] - means[1]) == pytest.approx(1 / 3)


def test_a_difference_is_paired_by_document() -> None:
    one, other = rows([2, 2, 4], [2, 2, 4]), rows([1, 2, 1], [2, 2, 4])
    found = paired_difference(SHARE, [one], [other])
    assert found.value == pytest.approx(0.5)
    assert found.low is not None and found.high is not None and found.low <= 0.5 <= found.high
    same = paired_difference(SHARE, [one], [one])
    assert (same.value, same.interval) == (0, None)
    assert paired_difference(SHARE, [rows([0], [0])], [rows([0], [0])]).why_not == NONE_MARKED
