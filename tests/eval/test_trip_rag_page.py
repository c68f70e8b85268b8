"""The page of the TRIP-RAG benchmark: what it says, what it must not. All data is invented."""

import re
from itertools import product

import pytest

from eval.measures.uncertainty import Estimate, clustered_share, share_of
from eval.provenance import Provenance
from eval.reports import published
from eval.reports.comparison import EVERYTHING, IDENTIFIERS, ROUGE, comparison, curves_of, methods_table
from eval.reports.render import html_page
from eval.reports.schema import PUBLISHED, Cell, Plot
from eval.studies.compare import report as study
from tests.pages import drawings_of, needs_nothing_else, read, words_of
from tests.pages import section_of as part_of

HOSTILE = '<script>alert("x")</script>'
ENCODER = "all-MiniLM-L6-v2"
OTHER = "owner/bge-large-en-v1.5@2030"
METHODS = {
    "origin": (1.0, 1.0), "redact": (0.42, 0.04), "suppress": (0.39, 0.04), "entity-type": (0.44, 0.05),
    "trip": (0.71, 0.07), "random": (0.63, 0.42), "random, frequency-matched": (0.6, 0.44),
    "lprag": (0.36, 0.12), "lprag-compat": (0.37, 0.14), "extract": (0.55, 0.49), "presidio": (0.57, 0.31)
}  # fmt: skip
VARIANTS = (
    "without residual limit", "scores alone", "privacy only", "without topic", "without knowledge",
    "difference of absolute risks", "single mentions"
)  # fmt: skip
WEIGHTS = (0.2, 0.4, 0.5, 0.6, 0.8, 1.0)
UNTARGETED, VERBATIM = "extraction (health, untargeted)", "verbatim (worst case)"
VICTIMS = (
    (UNTARGETED, VERBATIM, 5), (UNTARGETED, VERBATIM, 2), ("anchor-health", VERBATIM, 1),
    (UNTARGETED, "extractive", 5)
)  # fmt: skip


def mean(value: float, n: int = 400) -> Estimate:
    return Estimate(value, max(0.0, value - 0.03), min(1.0, value + 0.03), n=n)


def found(value: float, n: int = 2_000) -> Estimate:
    return share_of(round(n * min(1.0, max(0.0, value))), n)


def figures(method: str, use: float, leakage: float, strength: float | None = None) -> study.MethodFigures:
    return study.MethodFigures(
        method=method, encoder=ENCODER, strength=strength,
        recall_overlap={1: mean(use), 5: mean(min(1.0, use + 0.05)), 10: mean(min(1.0, use + 0.08))},
        found={k: found(use * 0.9, 400) for k in (1, 5, 10)}, bleu1=mean(0.08 + use / 20),
        sacrebleu=mean(0.03 + use / 30), rouge_l=mean(0.1 + use / 10), identifiers=found(leakage, 900),
        disclosed=found(min(1.0, leakage + 0.2)), kept=found(0.6), documents_failed=int(method == "presidio")
    )  # fmt: skip


def planted(method: str, numbers: int, names: int, phrases: int) -> study.CanaryFigures:
    hits = {"reference number": numbers, "person full name": names, "identifying detail": phrases}
    recall = {kind: share_of(count, 30) for kind, count in hits.items()}
    return study.CanaryFigures(method=method, k=5, documents=90, recall=recall)


def attack(method: str, leakage: float, victim: tuple[str, str, int]) -> study.AttackFigures:
    name, generator, k = victim
    return study.AttackFigures(
        method=method, attack=name, generator=generator, k=k, prompts=500, failed=0,
        all_entities=found(leakage * 0.9), prompts_leaking=found(leakage, 500),
        identifiers=clustered_share([round(20 * leakage)] * 40, [20] * 40),
        repeat_prompts=found(1.0, 500), repeat_passages=found(0.9, 300),
        rouge_recall_prompts=found(0.5, 500), rouge_f_prompts=found(0.2, 500)
    )  # fmt: skip


def guesses(method: str) -> study.GuessFigures:
    return study.GuessFigures(
        method=method, documents=60, slots=812, top1=found(0.12, 812), top5=found(0.31, 812),
        prior_top1=found(0.11, 812), prior_top5=found(0.29, 812), chance_top1=0.021, rouge_l=mean(0.9, 60),
        rebuilt_rouge_l=mean(0.91, 60), entities_left=found(0.1), entities_recovered=found(0.19)
    )  # fmt: skip


def promise(policy: str, counted: str, most: float, promised: int, violated: int) -> study.PromiseFigures:
    return study.PromiseFigures(
        policy=policy, counted=counted, max_leak=most, confidence=0.9, documents=1_200, splits=1_000,
        promised=promised, violated=violated
    )  # fmt: skip


def swept() -> list[study.MethodFigures]:
    """Strengths as a benchmark has them: four methods by ten shares, one by seven budgets."""
    methods = (
        ("trip", 0.6, 0.12),
        ("scores alone", 0.6, 0.3),
        ("privacy only", 0.66, 0.35),
        ("random", 0.6, 1.0),
    )
    by_share = [
        figures(name, 1 - loss * n / 10, left * (1 - n / 10) + 0.03, n / 10)
        for n, (name, loss, left) in product(range(1, 11), methods)
    ]
    budgets = enumerate((0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0))
    return by_share + [figures("lprag", 0.3 + 0.03 * n, 0.08 + 0.03 * n, budget) for n, budget in budgets]


def areas(**each: float) -> dict[str, Estimate]:
    return {name: Estimate(area, round(area - 0.05, 3), round(area + 0.05, 3)) for name, area in each.items()}


SUMMARY = study.Summary(
    recall=Estimate(0.71, 0.68, 0.74),
    recall_ratio=Estimate(1.69, 1.56, 1.84),
    identifier_excess=Estimate(-0.0001, -0.022, 0.022),
    leakage_change=Estimate(-0.93, -0.941, -0.917),
    rouge_change=Estimate(0.204, -0.082, 0.605),
    dominated=Estimate(0.838, 0.7, 0.95),
    dominated_all=Estimate(0.5),
)


def weighted(beta: float, gamma: float) -> study.MethodFigures:
    by_depth = {1: mean(0.5 + beta / 8 + gamma / 9), 5: mean(0.6 + beta / 8), 10: mean(0.7)}
    answers = {"bleu1": mean(0.1 + gamma / 50), "rouge_l": mean(0.15 + beta / 60)}
    changed = {"recall_overlap": by_depth, "identifiers": found(0.05 + beta / 100, 1_000), **answers}
    return figures("trip", 0.5, 0.0).model_copy(update=changed)


def whole_report(corpus: str = "invented notes") -> study.TripRagReport:
    """Everything that a long run has, with invented figures."""
    return study.TripRagReport(
        corpus=study.CorpusCard(
            name=corpus, documents=1_200, characters=1_234_567, questions=400, license="CC0",
            split="all documents searched, 1% asked about", source=f"written for a test {HOSTILE}",
            reference="gold annotations", sensitive_entities=7_654
        ),
        provenance=Provenance(
            date="2030-01-01T00:00:00+00:00", hardware="an invented machine", versions={"python": "3.11.0"},
            settings={"policy": HOSTILE, "tau": "0.5"}, commit="0123abc"
        ),
        seed=11, generator="extractive",
        sacrebleu_signature="nrefs:1|case:mixed|eff:yes|tok:13a|smooth:exp|version:2.6.0",
        methods=tuple(figures(name, *values) for name, values in METHODS.items()),
        ablations=tuple(figures(name, 0.6 + n / 50, 0.1 + n / 40) for n, name in enumerate(VARIANTS)),
        sweep=tuple(swept()),
        summary=SUMMARY,
        frontier=study.Frontier(
            dominated=31, by_trip=23, points=37, share=SUMMARY.dominated,
            areas=areas(trip=0.853, random=0.512, lprag=0.411)
        ),
        frontier_all=study.Frontier(
            dominated=19, by_trip=7, points=38, share=SUMMARY.dominated_all,
            areas=areas(extract=0.301, random=0.623, trip=0.734)
        ),
        attacks=tuple(
            attack(name, leakage / (2 if victim[2] == 1 else 1), victim)
            for name, (_, leakage) in METHODS.items()
            for victim in VICTIMS
        ),
        guesses=(guesses("redact"), guesses("trip")),
        encoders=tuple(
            figures(name, use, 0.1).model_copy(update={"encoder": OTHER})
            for name, use in (("origin", 1.0), ("redact", 0.37), ("trip", 0.66))
        ),
        canaries=(planted("origin", 30, 30, 30), planted("trip", 0, 2, 29)),
        correlations=tuple(
            study.Correlation(one=one, other=other, rho=Estimate(rho, rho - 0.1, rho + 0.1), n=5_432)
            for (one, other), rho in zip(published.CORRELATIONS, (0.21, -0.05, 0.38), strict=True)
        ),
        grid=tuple(
            study.GridCell(beta=beta, gamma=gamma, figures=weighted(beta, gamma))
            for beta, gamma in product(WEIGHTS, WEIGHTS)
        ),
        grid_spearman={"beta": 0.61, "gamma": 0.72},
        promises=(
            promise("trip", "identifiers", 0.05, promised=800, violated=20),
            promise("trip", "identifiers", 0.01, promised=0, violated=0),
            promise("trip", "all", 0.05, promised=600, violated=30),
            promise("scores alone", "identifiers", 0.05, promised=500, violated=40),
            promise("scores alone", "all", 0.05, promised=400, violated=48)
        ),
        absent={"paraphrase": f"needs a language model {HOSTILE}"},
        rows=()
    )  # fmt: skip


def quick_report() -> study.TripRagReport:
    """What a quick run has: no sweep, no grid; and nothing else that may be missing."""
    return whole_report().model_copy(
        update={
            "sweep": (), "grid": (), "grid_spearman": {}, "ablations": (), "attacks": (), "guesses": (),
            "correlations": (), "promises": (), "absent": {}, "encoders": (), "canaries": (),
            "frontier": study.NOTHING_COMPARED, "frontier_all": study.NOTHING_COMPARED,
            "summary": study.Summary(
                recall=SUMMARY.recall, recall_ratio=SUMMARY.recall_ratio, rouge_change=SUMMARY.rouge_change
            )
        }
    )  # fmt: skip


def trip_rag_page(report: study.TripRagReport) -> str:
    return html_page(comparison(report))


def section_of(page: str, title: str) -> str:
    """The words of one section, drawings aside, or of what stands around them."""
    if title == "header":
        return words_of(page.split("<section>")[0])
    if title == "cards":
        (cards,) = re.findall(r'<section class="cards".*?</section>', page, flags=re.DOTALL)
        return words_of(cards)
    return words_of(part_of(page, title))


def plots_of(report: study.TripRagReport, title: str) -> list[Plot]:
    (found,) = [section for section in comparison(report).sections if section.title == title]
    return list(found.plots)


@pytest.fixture(scope="module")
def page() -> str:
    return trip_rag_page(whole_report())


@pytest.fixture(scope="module")
def quick() -> str:
    return trip_rag_page(quick_report())


SECTIONS = (
    "Usefulness", "Leakage under extraction", "What an index reader finds", "What each part adds",
    "Whether the three scores differ", "Weights", "Privacy against usefulness",
    "Whether promised thresholds hold", "Planted secrets", "Guessing and reconstruction", "Not in the tables",
    "How this was measured", "Provenance"
)  # fmt: skip
SAID: dict[str, tuple[str, ...]] = {
    "header": (
        "invented notes", "1,200 documents", "400 questions", "7,654 sensitive entities: gold annotations",
        "split: all documents searched, 1% asked about", f"encoder {ENCODER}", "answers by extractive",
        "seed 11", "commit 0123abc", "2030-01-01T00:00:00+00:00"
    ),
    "cards": (
        "0.710 Recall@1 overlap of trip (0.680 to 0.740)",
        "1.69 times the Recall@1 overlap of redact (1.56 to 1.84)",
        "+20.4% ROUGE-L of answers, relative to redact (", "-93.0% sensitive entities extracted",
        "+0.0% of identifiers extracted more than from redact",
        "83.8% of baseline points dominated, by identifiers left in the index",
        "50.0% of baseline points dominated, by all that is sensitive there"
    ),
    "Usefulness": (
        f"Retrieval with {ENCODER}", f"Retrieval with {OTHER}", "0.660", "presidio documents failed: 1",
        "trip 0.710 0.680 to 0.740 n = 400 0.760", "0.703 0.760 0.789 0.929 0.702 0.679 random",
        whole_report().sacrebleu_signature
    ),
    "Leakage under extraction": (
        *(f"{name}; victim {generator}, k = {k}" for name, generator, k in VICTIMS),
        "The paper has no row for Redact", "lprag 10.0% 8.1 to 12.3 80 of 800", "21% 48% lprag-compat"
    ),
    "What each part adds": ("0.5560 0.6306 0.0933",),
    "Whether the three scores differ": (
        "P and D -0.050 -0.150 to +0.050 5,432 +0.1342 +0.0764",
        "K and D +0.380 +0.280 to +0.480 5,432 +0.3923 +0.4166"
    ),
    "Weights": (
        "beta +0.610 36 – gamma +0.720 36 – ", "beta or gamma not measured not measured +0.8561, n = 36",
        "0.2, 0.2 0.547", "All 36 pairs of weights"
    ),
    "Privacy against usefulness": (
        "by identifiers 31 of 37 (83.8%), 23 of them by trip alone; ", "area, identifiers area, all",
        "by all sensitive entities 19 of 38 (50.0%), 7 of them by trip alone. ", "All 58 points",
        "trip 11 0.853 0.803 to 0.903 0.734 0.684 to 0.784 random 11 0.512 0.462 to 0.562 0.623 0.573 to "
        "0.673 lprag 8 0.411 0.361 to 0.461 not measured extract 1 not measured 0.301 0.251 to 0.351"
    ),
    "Whether promised thresholds hold": (
        "at most 5.0% trip, identifiers 90% 1,200 80.0% 800 of 1,000 2.0% 20 of 1,000 2.5% 20 of 800",
        "at most 1.0% trip, identifiers 90% 1,200 0.0% 0 of 1,000 0.0% 0 of 1,000 not measured",
        "at most 5.0% trip, all 90% 1,200 60.0% 600 of 1,000 3.0% 30 of 1,000 5.0% 30 of 600",
        "at most 5.0% scores alone, all 90% 1,200 40.0% 400 of 1,000 4.8% 48 of 1,000 12.0% 48 of 400"
    ),
    "Planted secrets": (
        "an index of the 90 documents", "reference number", "0 of 30", "2 of 30", "29 of 30"
    ),
    "Guessing and reconstruction": (
        "trip 812 slots in 60 documents 11.9% 9.9 to 14.4 97 of 812", "2.1%", "0.910 0.880 to 0.940 n = 60"
    ),
    "Not in the tables": ("paraphrase needs a language model",)
}  # fmt: skip


def test_the_page_is_whole_and_needs_nothing_else(page: str) -> None:
    needs_nothing_else(page)
    assert re.findall(r"<h2>(.*?)</h2>", page) == list(SECTIONS)


@pytest.mark.parametrize("title", SAID)
def test_sections_say_what_was_measured(page: str, title: str) -> None:
    section = section_of(page, title)
    assert [words for words in SAID[title] if words not in section] == []
    assert title != "cards" or "not measured" not in section


@pytest.mark.parametrize(
    ("title", "pattern"),
    [
        # What the paper does not have gets no figure of it.
        ("Usefulness", r"extract 0\.550 .*? of 400 – – – – – – presidio"),
        ("Leakage under extraction", r"redact 5\.0% .*? – – suppress"),
        ("What each part adds", r"scores alone no limit on names, .*? 0\.6858 0\.7447 0\.1043 privacy only"),
        ("What each part adds", r"single mentions each mention by itself .*? – – –"),
        ("What each part adds", r"trip the default: .*without residual limit"),
    ],
)
def test_figures_stand_beside_those_of_the_paper(page: str, title: str, pattern: str) -> None:
    assert re.search(pattern, section_of(page, title))
    assert section_of(page, "Usefulness").count(PUBLISHED) == 7


@pytest.mark.parametrize(
    ("title", "sentence"),
    [
        ("Leakage under extraction", "No attack was run."),
        ("What each part adds", "No variant was measured in this run."),
        ("Whether the three scores differ", "No pair of scores has a correlation here."),
        ("Weights", "The grid of weights was not measured in this run."),
        ("Privacy against usefulness", "No strengths were swept in this run: each method has one point."),
        ("Privacy against usefulness", "No area: nothing leaks from the unsanitized index"),
        ("Whether promised thresholds hold", "No promise was checked in this run."),
        ("Planted secrets", "Nothing was planted."),
        ("Guessing and reconstruction", "Nothing was guessed."),
        ("Not in the tables", "Every method ran."),
    ],
)
def test_what_was_not_measured_is_said_in_a_sentence(quick: str, title: str, sentence: str) -> None:
    assert sentence in section_of(quick, title)
    assert read(quick).open == []
    assert OTHER not in words_of(quick)


def test_the_page_escapes_what_users_named() -> None:
    report = whole_report(HOSTILE)
    changed = {
        "methods": (figures(HOSTILE, 0.5, 0.5), *report.methods), "guesses": (guesses(HOSTILE),),
        "attacks": (attack(HOSTILE, 0.5, (HOSTILE, HOSTILE, 5)),), "generator": HOSTILE,
        "grid_spearman": {HOSTILE: 0.5}, "absent": {HOSTILE: HOSTILE}
    }  # fmt: skip
    page = trip_rag_page(report.model_copy(update=changed))
    assert HOSTILE not in page and "<script" not in page
    # Named in the title, the source and the settings too.
    assert words_of(page).count(HOSTILE) > 10
    assert read(page).open == []


def test_an_attack_that_one_method_lacks_is_not_a_zero(page: str) -> None:
    report, title = whole_report(), "Leakage under extraction"
    fewer = report.model_copy(update={"attacks": report.attacks[:-1]})
    section = section_of(trip_rag_page(fewer), title)
    assert re.search(r"presidio 30\.0% [^–]*? not measured not measured – –", section)
    assert "not measured" not in section_of(page, title).replace("Not measured", "")


def test_the_weights_have_maps(page: str) -> None:
    (maps,) = plots_of(whole_report(), "Weights")
    names = ["Recall@1 overlap", "Identifiers left in the index", "BLEU-1", "ROUGE-L"]
    assert [each.name for each in maps.series] == names
    assert all(len(each.points) == 36 for each in maps.series)
    (cell,) = [each for each in maps.series[0].points if (each.x, each.y) == (0.2, 0.2)]
    assert cell.label == "0.547"
    assert cell.z == pytest.approx(0.547, abs=5e-4)
    (drawing,) = drawings_of(part_of(page, "Weights"))
    words = [each.text for each in drawing.iter("text")]
    assert all(point.label in words for series in maps.series for point in series.points)


def test_the_trade_off_has_a_plot_for_each_leakage_and_use(page: str) -> None:
    plots = plots_of(whole_report(), "Privacy against usefulness")
    assert [each.title for each in plots] == [
        "Recall@1 overlap by identifiers left",
        "Recall@1 overlap by sensitive entities left",
        "ROUGE-L by sensitive entities left",
    ]
    defaults = [
        point
        for plot in plots
        for each in plot.series
        for point in each.points
        if (each.name, point.label) == ("trip", "")
    ]
    assert [point.x for point in defaults] == [0.07, 0.27, 0.27]
    assert [point.y for point in defaults] == pytest.approx([0.71, 0.71, 0.171])
    drawings = drawings_of(part_of(page, "Privacy against usefulness"))
    for plot, drawing in zip(plots, drawings, strict=True):
        assert drawing.get("aria-label", "").startswith(f"{plot.title}. 400 questions")
        words = [(each.text or "").strip() for each in drawing.iter("text")]
        drawn = [word for word in words if word in {*METHODS, *VARIANTS}]
        assert [each.name for each in plot.series] == drawn


def test_where_nothing_identifies_the_second_areas_still_stand() -> None:
    report = whole_report().model_copy(update={"frontier": study.NOTHING_COMPARED})
    section = section_of(trip_rag_page(report), "Privacy against usefulness")
    assert "by identifiers nothing was compared; by all sensitive entities 19 of 38" in section
    assert "trip 11 not measured 0.734 0.684 to 0.784 random 11 not measured 0.623" in section


def test_without_trip_or_attacks_the_cards_say_so(quick: str) -> None:
    assert section_of(quick, "cards").count("not measured") == 4
    report = quick_report()
    others = [each for each in report.methods if each.method != "redact"]
    assert "cards" not in trip_rag_page(report.model_copy(update={"methods": others})).split("</style>")[1]


def test_a_report_in_which_nothing_was_measured_is_still_a_page() -> None:
    empty, depths = Estimate(), dict.fromkeys((1, 5, 10), Estimate())
    single = dict.fromkeys(("bleu1", "sacrebleu", "rouge_l", "disclosed", "identifiers", "kept"), empty)
    bare = figures("origin", 1, 1).model_copy(update={"recall_overlap": depths, "found": depths, **single})
    page = trip_rag_page(quick_report().model_copy(update={"methods": (bare,)}))
    assert "No method has both leakage and Recall@1 overlap." in words_of(page)
    assert "not measured" in section_of(page, "Usefulness")
    assert "None" not in words_of(page)


def test_a_curve_is_drawn_by_leakage_and_keeps_its_place() -> None:
    report = whole_report()
    points = [*report.methods, *report.sweep]
    curves = {each.name: each for each in curves_of(points, ROUGE[1], IDENTIFIERS[1])}
    assert list(curves) == [*METHODS, "scores alone", "privacy only"]
    leakages = [point.x for point in curves["trip"].points]
    assert leakages == sorted(leakages) and len(leakages) == 11
    assert [point.label for point in curves["lprag"].points].count("") == 1, "the default has no strength"
    unknown = [each.model_copy(update={"identifiers": Estimate()}) for each in points[:1]]
    later = curves_of([*unknown, *points[1:]], ROUGE[1], IDENTIFIERS[1])
    assert [each.name for each in later] == list(curves), "a look goes by place, also of those not drawn"
    assert later[0].points == ()
    assert later[1:] == tuple(curves.values())[1:]
    (trip,) = [each for each in curves_of(points, ROUGE[1], EVERYTHING[1]) if each.name == "trip"]
    assert [point.x for point in trip.points] == sorted(
        each.disclosed.value or 0 for each in points if each.method == "trip"
    )
    assert curves_of(unknown, ROUGE[1], IDENTIFIERS[1]) == ()


def test_the_terminal_has_the_methods_at_their_defaults() -> None:
    report = whole_report()
    failed = [
        each.model_copy(update={"documents_failed": int(each.method in ("trip", "presidio"))})
        for each in report.methods
    ]
    table = methods_table(report.model_copy(update={"methods": tuple(failed)}))
    rows = {str(row[0]): [each.text for each in row[1:] if isinstance(each, Cell)] for row in table.rows}
    assert rows["redact"] == ["0.420", "0.470", "0.142", "0.040", "0.240", "0.600"]
    assert "trip*" in rows and "presidio*" in rows and "origin" in rows
    assert "* of fewer documents" in table.caption
    healthy = report.model_copy(update={"methods": report.methods[:3]})
    assert "*" not in methods_table(healthy).caption
