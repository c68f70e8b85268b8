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
from eval.tasks import marks
from eval.tasks.marks import ANY, COVERED, LEFT, MARKS, STANDING, TOUCHED, MarkShare, figure, mark_counts
from ingest.deciding.baselines.extract import Extract
from ingest.deciding.baselines.uniform import ORIGIN, REDACT
from ingest.documents import Document, SanitizedDocument
from ingest.protocols import Method
from ingest.sanitize import DecidingSanitizer, RewritingSanitizer
from ingest.scoring.prior import RiskPrior
from tests.doubles import PhraseDetector, WordEncoder

WORDS, ENTITIES = marks.WORDS_STANDING, marks.ENTITIES
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


@pytest.mark.parametrize(
    ("phrases", "kind", "counts"),
    [
        # Nothing is found: nothing is touched and all stands.
        ([], "DIRECT", {TOUCHED: 0, COVERED: 0, STANDING: 2, ENTITIES: 1, LEFT: 1, WORDS: 2}),
        # One mention is left: both mentions have the name that still stands, one of them in part.
        (["Anna Zeller"], "DIRECT", {TOUCHED: 1, COVERED: 1, LEFT: 1, STANDING: 1, WORDS: 2}),
        (["Anna Zeller", "Zeller"], "DIRECT", {COVERED: 2, LEFT: 0, STANDING: 0, WORDS: 0}),
        # A name left in part is touched and left.
        (["Zeller"], "DIRECT", {MARKS: 2, TOUCHED: 2, COVERED: 1, LEFT: 1}),
        (["Zeller"], "QUASI", {LEFT: 1, STANDING: 1}),
        # The other 45 is not marked: by place the age is gone, and a reader still finds it.
        (["45, of"], "QUASI", {COVERED: 1, LEFT: 0, STANDING: 1}),
        # All classes of a must together.
        ([], ANY, {MARKS: 3, ENTITIES: 2}),
    ],
)
def test_counts_by_hand(phrases: list[str], kind: str, counts: dict[str, float]) -> None:
    found = mark_counts(MARKED, sanitized(*phrases))
    assert {count: found[figure((kind, 2), count)] for count in counts} == counts
    nothing = mark_counts(MARKED, sanitized("Anna Zeller", method=ORIGIN))
    assert nothing[figure((ANY, 2), TOUCHED)] == 0 < nothing[figure((ANY, 2), STANDING)]


def test_what_may_stay_and_unmarked_text_count_as_needless() -> None:
    found = mark_counts(MARKED, sanitized("cough", "clinic"))
    assert found[figure(("SENSITIVE", 0), TOUCHED)] == 1
    letters = sum(each.isalnum() for each in TEXT)
    inside = sum(TEXT[m.start : m.end].replace(" ", "").isalnum() and m.end - m.start for m in MARKED.marks)
    assert found[marks.UNMARKED] == letters - inside + 1  # the blank of the full name
    assert found[marks.CHANGED] == len("clinic")
    for start, end, must in ((3, 3, 2), (-1, 2, 2), (0, 1, 3)):
        with pytest.raises(ValueError, match="no span|must is 3"):
            Mark(start, end, "DIRECT", must, "1")


def test_a_rewritten_text_has_no_places() -> None:
    rewriter = RewritingSanitizer(PhraseDetector({}), Extract(WordEncoder()), RiskPrior())
    (outcome,) = rewriter.sanitize([MARKED.document])
    assert isinstance(outcome, SanitizedDocument)
    found = mark_counts(MARKED, outcome)
    assert not {name for name in found if name.endswith((TOUCHED, COVERED, LEFT, marks.CHANGED))}
    assert figure(("DIRECT", 2), STANDING) in found
    row = Row(system="extract", task="marks, a", case="d", figures=found)
    places, words = MarkShare("DIRECT", 2, COVERED), MarkShare("DIRECT", 2, STANDING)
    assert marks.share_estimate(places, [row]).why_not == marks.NO_PLACES
    assert marks.share_estimate(words, [row]).value is not None
    assert marks.paired_difference(places, [[row]], [[row]]).why_not == marks.NO_PLACES


def test_the_oracle_covers_exactly_what_must_go() -> None:
    (outcome,) = DecidingSanitizer(GoldDetector([MARKED]), REDACT, RiskPrior()).sanitize([MARKED.document])
    assert isinstance(outcome, SanitizedDocument)
    found = mark_counts(MARKED, outcome)
    assert found[figure((ANY, 2), COVERED)] == found[figure((ANY, 2), MARKS)]
    assert found[figure((ANY, 2), LEFT)] == 0
    assert found[figure((ANY, 1), TOUCHED)] == found[figure((ANY, 0), TOUCHED)] == found[marks.CHANGED] == 0
    assert GoldDetector([MARKED]).detect([Document("x", "Another text.")]) == [[]]


words = st.lists(st.sampled_from(["Anna", "Zeller", "45", "Quarnby", "cough", "the", "."]), max_size=12)


@given(words, st.sets(st.sampled_from(["Anna", "Zeller", "45", "Quarnby", "cough", "the"])))
def test_counts_are_within_their_bounds_and_covering_is_touching(said: list[str], phrases: set[str]) -> None:
    text = " ".join(said)
    document = MarkedDocument(Document("d", text), marks_in(text), "invented", "a")
    found = mark_counts(document, sanitized(*sorted(phrases), text=text))
    row = Row(system="s", task="t", case="d", figures=found)
    for share in marks.shares_in([row]):
        pair = share.of(row)
        assert pair is not None and 0 <= pair[0] <= pair[1]
        if share.count == COVERED:
            touched = replace(share, count=TOUCHED).of(row)
            assert touched is not None and pair[0] <= touched[0]
        if share.count == LEFT:
            covered = replace(share, count=COVERED).of(row)
            assert covered is not None and (pair[0] == 0) == (covered[0] == covered[1])


def test_a_row_for_each_document_and_a_failure_where_there_is_none() -> None:
    task = marks.Marks([MARKED, replace(MARKED, document=Document("e", TEXT))], "a")
    assert (task.name, list(task.cases), len(task.sensitive)) == ("marks, a", ["d", "e"], 0)
    corpus = SanitizedCorpus("s", 1, {}, {}, lambda encoder: pytest.fail("not asked"), [sanitized()])
    one, other = task.rows(corpus, task.cases, no_progress)
    assert one.figures[figure(("DIRECT", 2), MARKS)] == 2
    assert (one.kind, one.doc_ids, other.failure, other.figures) == ("a", ("d",), NOT_SANITIZED, {})
    (named,) = task.rows(replace(corpus, failed={"e": "detection failed"}), ["e"], no_progress)
    assert named.failure == "detection failed"


SHARE = MarkShare("QUASI", 2, LEFT)
NAMES = figure(("QUASI", 2), LEFT), figure(("QUASI", 2), ENTITIES)


def rows(hits: Sequence[int], totals: Sequence[int], failed: str = "") -> list[Row]:
    found = []
    for number, (hit, total) in enumerate(zip(hits, totals, strict=True)):
        counts: dict[str, float] = dict(zip(NAMES, (hit, total), strict=True))
        row = Row(system="s", task="marks, a", case=f"d{number}", figures=counts)
        found.append(row.model_copy(update={"figures": {}, "failure": "x"}) if row.case == failed else row)
    return found


def test_a_share_is_pooled_over_documents_that_did_not_fail() -> None:
    found = marks.share_estimate(SHARE, rows([1, 0, 3], [2, 2, 4], failed="d1"))
    assert (found.value, found.hits, found.n) == (4 / 6, 4, 6)
    assert marks.share_estimate(SHARE, rows([0], [0])).why_not == marks.NONE_MARKED
    assert marks.share_estimate(SHARE, []).value is None
    # Draws of a method are pooled by document.
    draws = [*rows([1, 0], [2, 2]), *rows([2, 1], [2, 2])]
    found = marks.share_estimate(SHARE, draws)
    assert (found.value, found.hits, found.n) == (0.5, 2, 4)
    against = marks.paired_difference(SHARE, [draws], [rows([0, 0], [2, 2])])
    assert against.value == pytest.approx(0.5)


def test_the_mean_of_annotators_holds_the_intervals_of_both() -> None:
    one, other = rows([1, 0, 2], [2, 2, 4]), rows([1, 1, 3], [2, 1, 4])
    each = [marks.share_estimate(SHARE, one), marks.share_estimate(SHARE, other)]
    mean = marks.mean_estimate(SHARE, [one, other])
    assert mean.value == pytest.approx(sum(x.value or 0 for x in each) / 2)
    assert mean.interval is not None
    assert mean.interval == (min(x.low or 0 for x in each), max(x.high or 0 for x in each))
    assert marks.mean_estimate(SHARE, [one, rows([0], [0])]).why_not == marks.NONE_MARKED
    # A difference is that of means: pooled, the annotator with more marks would decide, and turn the sign.
    ours, theirs = [rows([1], [1]), rows([0], [9])], [rows([0], [1]), rows([3], [9])]
    means = [marks.mean_estimate(SHARE, side).value or 0.0 for side in (ours, theirs)]
    found = marks.paired_difference(SHARE, ours, theirs)
    assert found.value == pytest.approx(means[0] - means[1]) == pytest.approx(1 / 3)


def test_a_difference_is_paired_by_document() -> None:
    one, other = rows([2, 2, 4], [2, 2, 4]), rows([1, 2, 1], [2, 2, 4])
    found = marks.paired_difference(SHARE, [one], [other])
    assert found.value == pytest.approx(0.5)
    assert found.low is not None and found.high is not None and found.low <= 0.5 <= found.high
    same = marks.paired_difference(SHARE, [one], [one])
    assert (same.value, same.interval) == (0, None)
    assert marks.paired_difference(SHARE, [rows([0], [0])], [rows([0], [0])]).why_not == marks.NONE_MARKED
