"""How privacy-risk models are measured. All snippets are invented."""

import json
import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import label_curve
from benchmarks.label_curve import drawn, plot, recipe_for, summary, trained
from eval.measures.agreement import (
    Statistic,
    estimated,
    mean_absolute_difference,
    share_near,
    spearman,
    value_of,
    weighted_kappa,
)
from eval.measures.uncertainty import Floats
from eval.reports.risk import agreement_table, markdown, models_table
from eval.studies.risk import RiskReport, judged, measure
from ingest.annotated import AnnotatedText
from ingest.protocols import Hazards, RiskModel
from ingest.scoring.prior import RiskPrior
from models.catalog import ModelRef
from models.corpora.rubric import Snippet, parse_marked
from models.errors import ConfigurationError, LetheError
from models.training.transformer_risk import TransformerRecipe
from tests.models.test_transformer_risk import make_roberta
from tests.small_models import one_thread


class Scripted:
    """Knows the risk of words; of a linked entity it says the highest of its mentions."""

    name = "scripted (test double)"

    def __init__(self, risks: Mapping[str, float]) -> None:
        self._risks = risks

    def hazards(self, texts: Sequence[AnnotatedText]) -> list[Hazards]:
        return [self._hazards(text) for text in texts]

    def _hazards(self, text: AnnotatedText) -> Hazards:
        risks: dict[int, float] = {}
        for entity in text.entities:
            risk = self._risks[text.text[entity.span.start : entity.span.end]]
            risks[entity.link] = max(risk, risks.get(entity.link, 0.0))
        marginals = {link: -math.log1p(-risk) for link, risk in risks.items()}
        return Hazards(sum(marginals.values()), marginals)


class Answering:
    """Gives the same answer whatever it is asked, or fails with the text in its message."""

    name = "answering (test double)"

    def __init__(self, answer: list[Mapping[int, float]] | None) -> None:
        self._answer = answer

    def hazards(self, texts: Sequence[AnnotatedText]) -> list[Hazards]:
        if self._answer is None:
            raise ValueError(f"cannot read {texts[0].text}")
        return [Hazards(0.0, marginals) for marginals in self._answer]


def snippet(id_: str, marked: str, *passes: Sequence[float], domain: str = "clinical") -> Snippet:
    text, places, labels = parse_marked(marked)
    return Snippet(id_, domain, text, places, labels, tuple(map(tuple, passes)))


NOTE = snippet(
    "clinical-001",
    "[[Ada Lind|person full name]], [[61|person age]], of [[Dornau|city name]], has a [[cough|symptom]].",
    *((0.9, 0.5, 0.4, 0.0), (1.0, 0.5, 0.3, 0.0)),
)
LEAVES = "[[Otto Vole|person full name]] leaves [[Pinewood|organization]] on [[3 May|date]]."
MAIL = snippet("email-001", LEAVES, (0.8, 0.3, 0.2), (0.8, 0.2, 0.4), domain="email")
BACK = "[[Mira|person full name]] is back from [[Dornau|city name]]."
PLACE = snippet("email-ref-001", BACK, (0.6, 0.1), (0.7, 0.1), domain="email")
SNIPPETS = [NOTE, MAIL, PLACE]
RISKS = {
    "Ada Lind": 0.95, "61": 0.5, "Dornau": 0.3, "cough": 0.05,
    "Otto Vole": 0.9, "Pinewood": 0.35, "3 May": 0.3, "Mira": 0.7,
}  # fmt: skip
WORDS = {*RISKS, "leaves", "back from"} - {"61"}


def report_of(model: RiskModel | None = None, snippets: Sequence[Snippet] = SNIPPETS) -> RiskReport:
    return measure({"ours": model or Scripted(RISKS)}, snippets)


def once(statistic: Statistic, first: Sequence[float], second: Sequence[float]) -> float | None:
    return value_of(statistic, [(first, second)])


def floats(values: Sequence[float]) -> Floats:
    return np.array(values, np.float64)


def plain_spearman(first: Sequence[float], second: Sequence[float]) -> float:
    """The textbook's way: count for each value what lies below it and what equals it."""
    sides = []
    for side in (first, second):
        ranks = [sum(y < x for y in side) + (sum(y == x for y in side) + 1) / 2 for x in side]
        sides.append([rank - sum(ranks) / len(ranks) for rank in ranks])
    together, left, right = (
        sum(x * y for x, y in zip(a, b, strict=True))
        for a, b in ((sides[0], sides[1]), (sides[0], sides[0]), (sides[1], sides[1]))
    )
    return together / math.sqrt(left * right)


TENTHS = st.integers(0, 10).map(lambda number: number / 10)
ROWS = st.lists(st.tuples(TENTHS, TENTHS), min_size=2, max_size=12).filter(
    lambda rows: len({a for a, _ in rows}) > 1 and len({b for _, b in rows}) > 1
)


def test_spearman_kappa_and_near_are_those_computed_by_hand() -> None:
    assert once(spearman, [1, 2, 2, 3], [1, 2, 3, 4]) == pytest.approx(4.5 / math.sqrt(22.5))
    assert once(spearman, [0.1, 0.2, 0.9], [0.6, 0.5, 0.0]) == pytest.approx(-1.0)
    # What has no order has no correlation.
    for nothing in (([], []), ([0.5], [0.7]), ([0.5, 0.5], [0.1, 0.9]), ([0.1, 0.9], [0.3, 0.3])):
        assert once(spearman, *nothing) is None
    # Levels 0 0 3 3 against 0 1 3 2: 1 + 1 where they meet, and every one against every other by chance.
    first, second = [0.05, 0.05, 0.9, 0.9], [0.05, 0.1, 0.7, 0.4]
    by_chance = sum((a - b) ** 2 for a in (0, 0, 3, 3) for b in (0, 1, 3, 2)) / 4
    assert once(weighted_kappa, first, second) == pytest.approx(1 - 2 / by_chance)
    assert once(weighted_kappa, first, first) == pytest.approx(1.0)
    assert once(weighted_kappa, [0.2, 0.3], [0.1, 0.39]) is None
    # A tenth is near, whatever its rounding.
    assert once(share_near, [0.3, 0.8, 0.5], [0.2, 0.9, 0.61]) == pytest.approx(2 / 3)


@given(ROWS)
def test_spearman_is_the_textbook_s(rows: list[tuple[float, float]]) -> None:
    first, second = (list(side) for side in zip(*rows, strict=True))
    assert once(spearman, first, second) == pytest.approx(plain_spearman(first, second))


@given(ROWS, st.data())
def test_a_count_is_as_good_as_so_many_rows(rows: list[tuple[float, float]], data: st.DataObject) -> None:
    several = st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows))
    redraws = data.draw(st.lists(several, min_size=1, max_size=3))
    first, second = (floats(side) for side in zip(*rows, strict=True))
    statistics: list[Statistic] = [spearman, mean_absolute_difference, share_near, weighted_kappa]
    for statistic in statistics:
        counted = statistic(first, second, np.array(redraws, np.float64))
        for value, counts in zip(counted, redraws, strict=True):
            many = [row for row, count in zip(rows, counts, strict=True) for _ in range(count)]
            expected = once(statistic, [a for a, _ in many], [b for _, b in many])
            assert value == pytest.approx(math.nan if expected is None else expected, nan_ok=True)


def test_an_interval_redraws_whole_snippets() -> None:
    agree, disagree = ([0.1, 0.5, 0.9], [0.1, 0.5, 0.9]), ([0.1, 0.5, 0.9], [0.9, 0.5, 0.1])
    answer = estimated(mean_absolute_difference, [agree, disagree])
    assert answer.value == pytest.approx(0.8 / 3)
    assert answer.low == pytest.approx(0.0)
    assert answer.high == pytest.approx(1.6 / 3)
    assert estimated(mean_absolute_difference, [agree, disagree]) == answer
    assert (estimated(spearman, [agree]).value, estimated(spearman, [agree]).low) == (1.0, None)
    assert value_of(spearman, []) is None


def test_a_mention_is_judged_by_the_hazard_of_its_linked_entity_and_none_is_below_zero() -> None:
    twice = snippet("s", "[[Ada Lind|person full name]] came. [[Lind|person full name]] left.", (0.9, 0.8))
    (found,) = judged("ours", Scripted({"Ada Lind": 0.9, "Lind": 0.4}), [twice])
    assert found == pytest.approx([0.9, 0.9])
    assert judged("ours", Answering([{0: -0.5, 1: 700.0}]), [PLACE]) == [[0.0, 1.0]]


def test_figures_are_those_computed_by_hand() -> None:
    report, turned = report_of(), report_of(snippets=SNIPPETS[::-1])
    assert (report.rows, report.agreement) == (turned.rows, turned.agreement)
    prior = measure({"prior": RiskPrior(), "ours": Scripted(RISKS)}, SNIPPETS)
    assert (prior.models, prior.provenance.settings["prior"]) == (("prior", "ours"), "prior")
    assert 0.5 < (prior.row("prior").spearman.value or 0) < 1
    ours = report.row("ours")
    assert (ours.snippets, ours.mentions) == (3, 9)
    golden = [0.95, 0.5, 0.35, 0.0, 0.8, 0.25, 0.3, 0.65, 0.1]
    said = [0.95, 0.5, 0.3, 0.05, 0.9, 0.35, 0.3, 0.7, 0.3]
    assert ours.spearman.value == pytest.approx(plain_spearman(said, golden))
    assert ours.error.value == pytest.approx(sum(abs(a - b) for a, b in zip(said, golden, strict=True)) / 9)
    for figure in (ours.spearman, ours.error):
        assert figure.low is not None and figure.high is not None and figure.value is not None
        assert figure.low <= figure.value <= figure.high


def test_domains_and_kinds_are_distinguished_and_what_is_not_there_is_not_measured() -> None:
    report, counts = report_of(), {"clinical": (4, 4, 0, 0), "email": (5, 3, 2, 0), "all": (9, 7, 2, 0)}
    kinds = ("all", "invented", "references", "fresh")
    assert [(row.domain, row.kind, row.mentions) for row in report.rows] == [
        (domain, *each) for domain, of in counts.items() for each in zip(kinds, of, strict=True)
    ]
    assert report.row("ours", "clinical").spearman.value == pytest.approx(1.0)
    assert report.row("ours", "email", "invented").spearman.value == pytest.approx(0.5)
    with pytest.raises(KeyError):
        report.row("ours", "legal")
    row = report.row("ours", "clinical", "references")
    assert (row.snippets, row.spearman.value, row.spearman.why_not) == (0, None, "there is no mention")
    lonely = report_of(Scripted({"Dornau": 0.4}), [snippet("s", "[[Dornau|city name]]", (0.4,), (0.5,))])
    ours, kappa = lonely.row("ours"), lonely.agreed().kappa
    assert ours.spearman.value is kappa.value is ours.error.low is None
    assert ours.spearman.why_not == "one side has a single value, which has no order"
    assert kappa.why_not == "all scores are of one level"
    assert ours.error.value == pytest.approx(0.05)
    assert "NaN" not in json.dumps(lonely.model_dump(mode="json"))


def test_passes_are_compared_where_there_are_two() -> None:
    unrepeated = snippet("social-001", "[[Mira|person full name]] waved.", (0.6,), domain="social")
    report = report_of(snippets=[*SNIPPETS, unrepeated])
    agreed = report.agreed()
    assert (agreed.snippets, agreed.mentions) == (3, 9)
    assert report.row("ours").mentions == 10
    first, second = (NOTE.passes[n] + MAIL.passes[n] + PLACE.passes[n] for n in (0, 1))
    assert agreed.spearman.value == pytest.approx(plain_spearman(first, second))
    assert agreed.difference.value == pytest.approx(0.6 / 9)
    assert agreed.near.value == pytest.approx(8 / 9)
    with pytest.raises(KeyError):
        report.agreed("social")
    report = measure({"ours": Scripted(RISKS)}, [NOTE], scored_twice=SNIPPETS)
    assert (report.row("ours").mentions, report.agreed().mentions) == (4, 9)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, " failed on scored snippets (ValueError); repair it, or leave it out."),
        ([], " answered for 0 of 1 snippets; it must answer for each."),
        ([{0: 0.5}], " gave no finite hazard for a mark of snippet email-ref-001; it must give one"),
        ([{0: 0.5, 1: math.nan}], " gave no finite hazard for a mark of snippet email-ref-001"),
    ],
)
def test_a_model_that_fails_is_reported_without_a_word_of_a_snippet(
    answer: list[Mapping[int, float]] | None, message: str
) -> None:
    with pytest.raises(LetheError) as caught:
        report_of(Answering(answer), [PLACE])
    assert f"The privacy-risk model ours{message}" in str(caught.value)
    assert "Mira" not in str(caught.value)


def test_progress_names_every_model_and_no_snippets_are_refused() -> None:
    steps: list[tuple[str, int, int | None]] = []
    measure({"ours": Scripted(RISKS)}, SNIPPETS * 6, lambda *what: steps.append(what))
    assert steps == [("privacy risk, ours", 16, 18), ("privacy risk, ours", 18, 18)]
    with pytest.raises(ConfigurationError, match="no scored snippet to measure on: give at least one"):
        report_of(snippets=[])


def test_tables_hold_figures_and_no_word_of_a_snippet() -> None:
    report = report_of(snippets=[NOTE, MAIL])
    table = models_table(report)
    assert table.splitlines()[0] == "| domain | snippets | n | mentions | ours: Spearman | ours: error |"
    assert "| clinical | all | 1 | 4 | 1.000 | 0.025 |" in table
    assert "| all | references | 0 | 0 | not measured | not measured |" in table
    assert "| email | references | 0 | 0 | not measured |" in agreement_table(report)
    whole = markdown(report)
    assert f"on {report.provenance.hardware}, commit not recorded, seed 0, 1,000 redraws." in whole
    everything_told = whole + repr(report) + json.dumps(report.model_dump(mode="json")) + repr(NOTE)
    assert not [word for word in WORDS if word in everything_told]
    assert RiskReport.model_validate_json(json.dumps(report.model_dump(mode="json"))) == report


# -- the label-size curve ----------------------------------------------------------------------------------


def many(number: int) -> list[Snippet]:
    """Snippets of which a fourth is held out, each with two passes."""
    marked = "[[Ada Lind|person full name]] of [[Dornau|city name]] has a [[cough|symptom]]."
    scores = [(0.9, 0.4, 0.0), (0.9, 0.3, 0.1)]
    return [snippet(f"clinical-{n:03d}", marked, *scores) for n in range(number)]


def test_larger_draws_hold_the_smaller_ones() -> None:
    snippets = many(40)
    for seed in (1, 2):
        small, large = drawn(snippets, 4, seed), drawn(snippets, 16, seed)
        assert large[:4] == small
        assert len({each.id for each in large}) == 16
    assert drawn(snippets, 8, 1) != drawn(snippets, 8, 2)
    assert [recipe_for(size, 7).epochs for size in (2, 200)] == [30, TransformerRecipe().epochs]
    found = ((4, 0.5), (2, 0.2), (4, 0.7), (8, None))
    assert summary([{"size": size, "spearman": value} for size, value in found]) == [
        {"size": 2, "mean": 0.2, "low": 0.2, "high": 0.2, "runs": 1},
        {"size": 4, "mean": pytest.approx(0.6), "low": 0.5, "high": 0.7, "runs": 2},
    ]


class Trainer:
    """Counts what it is asked for; stops after so many models."""

    def __init__(self, most: int = 1000) -> None:
        self.asked: list[tuple[int, int]] = []
        self._most = most

    def __call__(self, snippets: Sequence[Snippet], recipe: TransformerRecipe) -> RiskModel:
        if len(self.asked) == self._most:
            raise KeyboardInterrupt
        self.asked.append((len(snippets), recipe.seed))
        return Scripted({"Ada Lind": 0.9, "Dornau": 0.5, "cough": 0.1})


@pytest.fixture
def curve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Arguments of a run over 40 snippets, of which 30 are trained on."""
    monkeypatch.setattr(label_curve, "shipped_snippets", lambda data: many(40))
    written = ["--output", str(tmp_path / "curve.json"), "--plot", str(tmp_path / "curve.svg")]
    return [str(tmp_path), "--encoder", "invented/encoder", *written]


def test_a_curve_goes_on_where_it_was_stopped_and_is_not_mixed_with_others(
    curve: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, third = Trainer(most=3), Trainer(), Trainer()
    with pytest.raises(KeyboardInterrupt):
        label_curve.main(curve, first)
    assert label_curve.main(curve, second) == 0
    assert first.asked == [(2, 1), (2, 2), (2, 3)]
    assert second.asked[:3] == [(2, 4), (2, 5), (4, 1)]
    assert "run 20 of 20, 16 snippets, seed 5: Spearman 1.000" in capsys.readouterr().err
    found = json.loads((tmp_path / "curve.json").read_text())
    assert [row["size"] for row in found["sizes"]] == [2, 4, 8, 16]
    assert found["sizes"][0]["mean"] == pytest.approx(1.0)
    assert len(found["runs"]) == len(first.asked + second.asked) == 20
    assert (found["about"]["training_snippets"], found["about"]["held_out_snippets"]) == (30, 10)
    assert found["about"]["encoder"] == "invented/encoder"
    assert label_curve.main(curve, third) == 0
    assert third.asked == []
    for number, encoder in ((40, "invented/other"), (44, "invented/encoder")):
        monkeypatch.setattr(label_curve, "shipped_snippets", lambda data, number=number: many(number))
        assert label_curve.main([*curve, "--encoder", encoder], third) == 1
        message = "was made with other snippets, or by another recipe or encoder: move it away"
        assert message in capsys.readouterr().err


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"about": 1}'])
def test_another_file_is_not_written_over(
    curve: list[str], content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "curve.json").write_text(content)
    assert label_curve.main(curve, Trainer()) == 1
    stderr = capsys.readouterr().err
    assert "is no result of this command: move it away." in stderr or "was made with other snippets" in stderr
    assert (tmp_path / "curve.json").read_text() == content


def test_a_curve_needs_the_folder_of_the_corpora_and_the_transformer(
    curve: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert label_curve.main([str(tmp_path / "none"), *curve[1:]], Trainer()) == 1
    assert "none is no folder: name the one that holds the corpora." in capsys.readouterr().err
    assert label_curve.main(curve) == 1
    assert "label curve: The risk model invented/encoder" in capsys.readouterr().err
    assert not (tmp_path / "curve.json").exists()


def test_every_run_fine_tunes_the_transformer_of_a_folder_anew(tmp_path: Path) -> None:
    encoder, snippets = ModelRef(source="path", name=str(make_roberta(tmp_path / "tiny"))), many(2)
    recipe, golden = recipe_for(2, 1), [each.scores for each in snippets]
    with one_thread():
        one, again, shorter = (
            judged("tiny", trained(snippets, each, encoder, threads=1), snippets)
            for each in (recipe, recipe, replace(recipe, epochs=1))
        )
    assert np.array(one) == pytest.approx(np.array(again), abs=1e-5)
    assert value_of(spearman, list(zip(one, golden, strict=True))) == 1.0
    errors = [float(np.abs(np.array(each) - np.array(golden)).mean()) for each in (one, shorter)]
    assert errors[0] < errors[1]


def test_the_plot_is_drawn_for_light_and_dark() -> None:
    shapes = ((2, 0.1, -0.2, 0.4), (200, 0.9, 0.9, 0.9))
    drawing = plot([{"size": n, "mean": m, "low": a, "high": b, "runs": 5} for n, m, a, b in shapes])
    root = ElementTree.fromstring(drawing)
    assert "Spearman with held-out scores" in drawing
    assert {"2 snippets", "200 snippets"} <= {
        each.text for each in root.iter("{http://www.w3.org/2000/svg}text")
    }
    assert "prefers-color-scheme: dark" in drawing
    assert "2: 0.100; 200: 0.900" in root.attrib["aria-label"]
    assert "nothing measured" in plot([])
    ElementTree.fromstring(plot([]))
