"""The page of a comparison on one corpus, beside the paper's figures.

Its words are in ``words/comparison.toml``.
"""

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from eval.measures.uncertainty import Estimate, counted_share
from eval.reports import published
from eval.reports.published import CORPORA
from eval.reports.schema import (
    DASH,
    DECIMAL,
    NOTHING,
    PERCENT,
    PUBLISHED,
    Cell,
    Column,
    Plot,
    Point,
    Report,
    Row,
    Section,
    Series,
    Table,
    bars,
    estimate_cell,
    mean,
    printed,
    share,
    table,
)
from eval.reports.words import words
from eval.studies.compare.figures import by_area
from eval.studies.compare.report import (
    AttackFigures,
    Correlation,
    Frontier,
    GuessFigures,
    MethodFigures,
    TripRagReport,
    whole,
)

DEPTHS = (1, 5, 10)
SIGNED = "{:+.3f}"
WORDS = words("comparison")
DEFINITIONS: Mapping[str, str] = WORDS["what_figures_count"]
VARIANTS: Mapping[str, str] = WORDS["variants"]
Figure = Callable[[MethodFigures], Estimate]
RECALL: tuple[str, Figure] = ("Recall@1 overlap", lambda each: each.recall_overlap[1])
ROUGE: tuple[str, Figure] = ("ROUGE-L", lambda each: each.rouge_l)
IDENTIFIERS: tuple[str, Figure] = ("identifiers left", lambda each: each.identifiers)
EVERYTHING: tuple[str, Figure] = ("sensitive entities left", lambda each: each.disclosed)


def comparison(report: TripRagReport) -> Report:
    """The whole page."""
    corpus = report.corpus
    parts: Sequence[tuple[str, object, Callable[[TripRagReport], Section]]] = (
        ("leakage", report.attacks, _leakage),
        ("index", True, _index_reader),
        ("ablations", report.ablations, _ablations),
        ("scores", report.correlations, _scores),
        ("weights", report.grid, _weights),
        ("tradeoff", True, _tradeoff),
        ("promises", report.promises, _promises),
        ("canaries", report.canaries, _canaries),
        ("guessing", report.guesses, _guessing),
        ("absent", report.absent, lambda made: _section("absent", terms=tuple(made.absent.items()))),
    )
    return Report(
        title=f"TRIP-RAG and what it is compared with: {corpus.name}",
        lead="How useful retrieval stays after each method of sanitizing, and what attackers still get. "
        "Every method saw the same documents and was asked the same questions.",
        facts=(
            f"{corpus.documents:,} documents",
            f"{corpus.questions:,} questions",
            f"{corpus.sensitive_entities:,} sensitive entities: {corpus.reference}",
            f"split: {corpus.split}",
            *(f"encoder {name}" for name in dict.fromkeys(each.encoder for each in report.methods)),
            f"answers by {report.generator}",
            f"seed {report.seed}",
            f"commit {report.provenance.commit or 'not known'}",
            report.provenance.date,
        ),
        cards=_cards(report),
        sections=(
            _usefulness(report),
            *(
                part(report) if there else _section(key, missing=(WORDS[key]["missing"],))
                for key, there, part in parts
            ),
            _section("definitions", terms=tuple(DEFINITIONS.items())),
            _section("facts", terms=facts(report)),
        ),
        quotes="document, question or answer",
    )


def _section(key: str, *tables: Table, **parts: Any) -> Section:
    """A section by its key in the words."""
    return Section(WORDS[key]["title"], WORDS[key]["words"], tables=tables, **parts)


def _cards(report: TripRagReport) -> list[tuple[Cell, str]]:
    """Trip against Redact and against no sanitizing; empty if one of them is missing."""
    if not {"trip", "redact", "origin"} <= {each.method for each in report.methods}:
        return []
    found = report.summary
    shown = (
        (found.recall, DECIMAL, "Recall@1 overlap of trip"),
        (found.recall_ratio, "{:.2f}", "times the Recall@1 overlap of redact"),
        (found.rouge_change, "{:+.1%}", "ROUGE-L of answers, relative to redact"),
        (found.leakage_change, "{:+.1%}", "sensitive entities extracted, relative to no sanitizing"),
        (found.identifier_excess, "{:+.1%}", "of identifiers extracted more than from redact"),
        (found.dominated, PERCENT, "of baseline points dominated, by identifiers left in the index"),
        (found.dominated_all, PERCENT, "of baseline points dominated, by all that is sensitive there"),
    )
    return [(estimate_cell(estimate, style), said) for estimate, style, said in shown]


def facts(report: TripRagReport) -> list[tuple[str, str]]:
    """What is needed to reproduce the run."""
    corpus = report.corpus
    return [
        ("Corpus", f"{corpus.name}, {corpus.source}"),
        ("License", corpus.license),
        ("Documents", f"{corpus.documents:,}, {corpus.characters:,} characters"),
        ("Questions", f"{corpus.questions:,}"),
        ("Split", corpus.split),
        ("Sensitive entities", f"{corpus.sensitive_entities:,}, {corpus.reference}"),
        ("Answers by", report.generator),
        ("Encoder", ", ".join(dict.fromkeys(each.encoder for each in report.methods)) or "none"),
        ("sacreBLEU", report.sacrebleu_signature),
        ("Seed", str(report.seed)),
        *report.provenance.facts(),
    ]


def _columns(style: Callable[[Estimate], Cell], figures: Mapping[str, str], group: str = "") -> list[Column]:
    """One column per figure, by its head and the name of its field."""

    def cell(figure: Callable[[Any], Estimate]) -> Callable[[Any], Cell]:
        return lambda row: style(figure(row))

    return [(group, head, cell(attrgetter(name))) for head, name in figures.items()]


def _depths(
    group: str, head: str, cell: Callable[[Any, int], Cell], depths: Sequence[int] = DEPTHS
) -> list[Column]:
    """One column per depth."""

    def column(k: int) -> Column:
        return group, f"{head}@{k}", lambda row: cell(row, k)

    return [column(k) for k in depths]


def _recall(row: MethodFigures, k: int) -> Cell:
    return mean(row.recall_overlap[k])


def _recall_of(k: int) -> Callable[[published.PublishedAnswers], float]:
    return lambda row: row.recall[k]


def _paper(figures: Mapping[str, Callable[[published.PublishedAnswers], float]]) -> list[Column]:
    """The paper's columns for each of its corpora; it has rows for its methods with its encoders."""

    def column(corpus: str, head: str, of: Callable[[published.PublishedAnswers], float]) -> Column:
        def cell(row: MethodFigures) -> Cell:
            theirs = published.answers_of(row.encoder, row.method).get(corpus)
            return printed(None if theirs is None else of(theirs))

        return f"{PUBLISHED}: {corpus}", head, cell

    return [column(corpus, head, of) for corpus in CORPORA for head, of in figures.items()]


def _named(head: str, note: Callable[[Any], str] = lambda row: "") -> Column:
    return "", head, lambda row: Cell(row.method, note=note(row))


def _failures(figures: MethodFigures) -> str:
    failed = figures.documents_failed
    return f"documents failed: {failed:,}" if failed else ""


def methods_table(report: TripRagReport) -> Table:
    """The methods at their defaults, in few columns."""
    corpus = report.corpus
    caption = (
        f"{corpus.name}: {corpus.documents:,} documents, {corpus.questions:,} questions, answers by "
        f"{report.generator}"
    )
    if not all(map(whole, report.methods)):
        caption += "\n* of fewer documents: the others could not be sanitized, and are not measured"

    def short(estimate: Estimate) -> Cell:
        return Cell(DASH if estimate.value is None else estimate_cell(estimate).text)

    figures = {"ROUGE-L": "rouge_l", "identifiers": "identifiers", "all": "disclosed", "kept": "kept"}
    columns: list[Column] = [
        ("", "method", lambda row: row.method + ("" if whole(row) else "*")),
        *_depths("", "R", lambda row, k: short(row.recall_overlap[k]), (1, 5)),
        *_columns(short, figures),
    ]
    return table(caption, report.methods, columns)


def _bars(title: str, note: str, methods: Sequence[MethodFigures], *figures: tuple[str, Figure]) -> Plot:
    panels = (bars(name, {each.method: of(each) for each in methods}) for name, of in figures)
    return Plot("bars", title, note, tuple(panels))


def _usefulness(report: TripRagReport) -> Section:
    methods, said = report.methods, WORDS["usefulness"]
    encoders = dict.fromkeys(each.encoder for each in report.encoders)
    by_encoder = [[each for each in report.encoders if each.encoder == name] for name in encoders]
    note = "Higher is better. Whiskers are intervals."
    plot = _bars("Usefulness by method", note, methods, RECALL, ("ROUGE-L of answers", ROUGE[1]))
    measured = {"BLEU-1": "bleu1", "sacreBLEU": "sacrebleu", "ROUGE-L": "rouge_l"}
    answers = table(
        said["answers"].format(generator=report.generator, signature=report.sacrebleu_signature),
        (*methods, *report.encoders),
        [
            _named("Method, encoder", lambda row: row.encoder),
            *_columns(mean, measured, "measured"),
            *_paper({"BLEU": lambda row: row.bleu, "ROUGE-L": lambda row: row.rouge_l}),
        ],
    )
    return _section("usefulness", *map(_retrieval, (methods, *by_encoder)), answers, plots=(plot,))


def _retrieval(methods: Sequence[MethodFigures]) -> Table:
    return table(
        WORDS["usefulness"]["caption"].format(encoder=methods[0].encoder),
        methods,
        [
            _named("Method", _failures),
            *_depths("Recall@k overlap", "R", _recall),
            *_depths("found@k", "found", lambda row, k: share(row.found[k])),
            *_paper({f"R@{k}": _recall_of(k) for k in DEPTHS}),
        ],
    )


def _victim(figures: AttackFigures) -> str:
    return f"{figures.attack}; victim {figures.generator}, k = {figures.k}"


def _leakage(report: TripRagReport) -> Section:
    attacks, said = report.attacks, WORDS["leakage"]
    victims = list(dict.fromkeys(map(_victim, attacks)))
    names = list(dict.fromkeys(each.method for each in attacks))
    found = {(each.method, _victim(each)): each for each in attacks}
    panels = (
        bars(one, {name: found[name, one].identifiers for name in names if (name, one) in found})
        for one in victims
    )

    def measured(victim: str, head: str, figure: str) -> Column:
        def cell(name: str) -> Cell:
            each = found.get((name, victim))
            return NOTHING if each is None else share(getattr(each, figure))

        return victim, head, cell

    def theirs(corpus: str) -> Column:
        return PUBLISHED, corpus, lambda name: printed(published.LEAKAGE.get(name, {}).get(corpus), "{:.0%}")

    figures = {"identifiers": "identifiers", "all": "all_entities"}
    columns: list[Column] = [
        ("", "Method", str),
        *(measured(one, *figure) for one in victims for figure in figures.items()),
        *map(theirs, CORPORA),
    ]
    entities = table(said["caption"], names, columns)
    copies = {
        "Prompts leaking": "prompts_leaking",
        "Copied prompts": "repeat_prompts",
        "Copied passages": "repeat_passages",
        "ROUGE-L recall above 0.5": "rouge_recall_prompts",
        "ROUGE-L F above 0.5": "rouge_f_prompts",
    }
    details = table(
        said["details"],
        attacks,
        [
            _named("Method, victim", _victim),
            ("", "Prompts answered", lambda row: f"{row.prompts:,}"),
            ("", "Not measured", lambda row: f"{row.failed:,}"),
            *_columns(share, copies),
        ],
        folded="Prompts, copies and failures",
    )
    plot = Plot("bars", "Identifiers by victim and method", "Lower is better.", tuple(panels))
    return _section("leakage", entities, details, plots=(plot,))


def _index_reader(report: TripRagReport) -> Section:
    left = {"Identifiers": "identifiers", "All sensitive entities": "disclosed", "Mentions kept": "kept"}
    columns = [_named("Method", _failures), *_columns(share, left)]
    title, note = "What still stands in the index, by method", "Lower is better."
    plot = _bars(title, note, report.methods, IDENTIFIERS, EVERYTHING)
    return _section("index", table(WORDS["index"]["caption"], report.methods, columns), plots=(plot,))


def _canaries(report: TripRagReport) -> Section:
    found, said = report.canaries, WORDS["canaries"]
    kinds = dict.fromkeys(kind for each in found for kind in each.recall)
    columns: list[Column] = [
        _named("Method", lambda row: f"k = {row.k}"),
        *(("", kind, lambda row, kind=kind: share(row.recall.get(kind))) for kind in kinds),
    ]
    return _section("canaries", table(said["caption"].format(documents=found[0].documents), found, columns))


def _guessing(report: TripRagReport) -> Section:
    columns = [
        _named("Method", slots),
        *_columns(share, {"guessed": "top1", "prior": "prior_top1"}, "original ranked first"),
        ("original ranked first", "chance", lambda row: estimate_cell(Estimate(row.chance_top1), PERCENT)),
        *_columns(share, {"guessed": "top5", "prior": "prior_top5"}, "among the first five"),
        *_columns(mean, {"as written": "rouge_l", "rebuilt": "rebuilt_rouge_l"}, "ROUGE-L with the original"),
        *_columns(
            share,
            {"as written": "entities_left", "rebuilt": "entities_recovered"},
            "sensitive entities there",
        ),
    ]
    return _section("guessing", table(WORDS["guessing"]["caption"], report.guesses, columns))


def slots(found: GuessFigures) -> str:
    """The number of slots and documents."""
    return f"{found.slots:,} slots in {found.documents:,} documents"


def _ablations(report: TripRagReport) -> Section:
    usefulness, left = "measured: usefulness", "measured: left in the index"

    def theirs(place: int, head: str) -> Column:
        def cell(row: MethodFigures) -> Cell:
            return printed(published.ABLATIONS.get(row.method, (None,) * 3)[place], "{:.4f}")

        return f"{PUBLISHED}: {published.CHATDOCTOR}", head, cell

    columns: list[Column] = [
        _named("Variant", lambda row: VARIANTS.get(row.method, "")),
        *_depths(usefulness, "R", _recall, (1, 5)),
        *_columns(mean, {"BLEU-1": "bleu1", "ROUGE-L": "rouge_l"}, usefulness),
        *_columns(share, {"identifiers": "identifiers", "all": "disclosed", "kept": "kept"}, left),
        *(theirs(place, head) for place, head in enumerate(("R@1", "R@5", "BLEU-1"))),
    ]
    return _section("ablations", table(WORDS["ablations"]["caption"], variants_of(report), columns))


def variants_of(report: TripRagReport) -> list[MethodFigures]:
    """The default and its variants."""
    return [*(each for each in report.methods if each.method == "trip"), *report.ablations]


def _scores(report: TripRagReport) -> Section:
    return _section("scores", table(WORDS["scores"]["caption"], report.correlations, SCORES))


def _printed_rho(corpus: str) -> Column:
    def cell(row: Correlation) -> Cell:
        return printed(published.CORRELATIONS.get((row.one, row.other), {}).get(corpus), "{:+.4f}")

    return PUBLISHED, corpus, cell


SCORES: Sequence[Column] = (
    ("", "Scores", lambda row: f"{row.one} and {row.other}"),
    ("measured", "Spearman", lambda row: estimate_cell(row.rho, SIGNED)),
    ("measured", "linked entities", lambda row: f"{row.n:,}"),
    *map(_printed_rho, CORPORA),
)
"""Spearman of a pair of scores, and the paper's."""


def _weights(report: TripRagReport) -> Section:
    cells, said = report.grid, WORDS["weights"]
    shown: tuple[tuple[str, Figure, str], ...] = (
        (*RECALL, DECIMAL),
        ("Identifiers left in the index", IDENTIFIERS[1], PERCENT),
        ("BLEU-1", lambda each: each.bleu1, DECIMAL),
        (*ROUGE, DECIMAL),
    )
    maps = []
    for name, figure, style in shown:
        measured = ((cell, figure(cell.figures).value) for cell in cells)
        points = [Point(c.beta, c.gamma, style.format(z), z=z) for c, z in measured if z is not None]
        maps += [Series(name, tuple(points))] if points else []
    note = "Identifiers: lower is better; the others: higher is better."
    theirs = Cell(f"{published.WEIGHT_SPEARMAN:+.4f}, n = 36", mark="muted")
    rows: list[Row] = [
        *(
            (name, SIGNED.format(rho), f"{len(cells):,}", printed(None))
            for name, rho in report.grid_spearman.items()
        ),
        ("beta or gamma", NOTHING, NOTHING, theirs),
    ]
    grid = table(
        said["details"],
        cells,
        [
            ("", "beta, gamma", lambda cell: f"{cell.beta:g}, {cell.gamma:g}"),
            *_depths("", "R", lambda cell, k: _recall(cell.figures, k)),
            *_columns(mean, {"BLEU-1": "figures.bleu1", "ROUGE-L": "figures.rouge_l"}),
            *_columns(share, {"identifiers left": "figures.identifiers"}),
        ],
        folded=f"All {len(cells)} pairs of weights",
    )
    return _section(
        "weights",
        Table(said["caption"], ("Weight", "Spearman", "pairs of weights", PUBLISHED), rows),
        grid,
        plots=(Plot("maps", "Weights", note, tuple(maps), "beta (knowledge)", "gamma (topic)"),),
    )


def _tradeoff(report: TripRagReport) -> Section:
    points, said = [*report.methods, *report.sweep], WORDS["tradeoff"]
    plots, missing = [], []
    for use, left in ((RECALL, IDENTIFIERS), (RECALL, EVERYTHING), (ROUGE, EVERYTHING)):
        curves = curves_of(points, use[1], left[1])
        if curves:
            note = said["plot"].format(questions=report.corpus.questions)
            plots.append(Plot("curves", f"{use[0]} by {left[0]}", note, curves, left[0], use[0]))
        else:
            missing.append(said["no_plot"].format(use=use[0]))
    frontiers = (report.frontier, report.frontier_all)
    areas = table(
        said["caption"].format(identifiers=dominated(frontiers[0]), everything=dominated(frontiers[1])),
        by_area(*frontiers),
        [
            ("", "Method", str),
            ("", "points", lambda name: f"{sum(each.method == name for each in points):,}"),
            ("", "area, identifiers", lambda name: estimate_cell(frontiers[0].areas.get(name))),
            ("", "area, all", lambda name: estimate_cell(frontiers[1].areas.get(name))),
        ],
    )
    every = table(
        said["details"],
        points,
        [
            _named("Method"),
            ("", "strength", lambda row: "default" if row.strength is None else f"{row.strength:g}"),
            *_columns(share, {"identifiers": "identifiers", "all": "disclosed"}),
            *_depths("", "R", _recall, (1,)),
            *_columns(mean, {"BLEU-1": "bleu1", "ROUGE-L": "rouge_l"}),
        ],
        folded=f"All {len(points)} points",
    )
    missing += [] if report.sweep else [said["unswept"]]
    missing += [] if areas.rows else [said["no_area"]]
    tables = (areas, every) if areas.rows else (every,)
    return _section("tradeoff", *tables, plots=plots, missing=list(dict.fromkeys(missing)))


def curves_of(points: Sequence[MethodFigures], use: Figure, left: Figure) -> tuple[Series, ...]:
    """One curve per method, points in the order of leakage, since defaults have no strength.

    Points without leakage or usefulness are left out. A method keeps its place, and so its style, in
    all plots of a report.
    """
    curves: dict[str, list[Point]] = {each.method: [] for each in points}
    for each in points:
        leaked, used = left(each).value, use(each).value
        if leaked is not None and used is not None:
            label = "" if each.strength is None else f"{each.strength:.3g}"
            curves[each.method].append(Point(leaked, used, label))
    if not any(curves.values()):
        return ()
    return tuple(
        Series(name, tuple(sorted(own, key=lambda point: (point.x, point.y)))) for name, own in curves.items()
    )


def dominated(found: Frontier) -> str:
    """The number of dominated baseline points."""
    if not found.points:
        return "nothing was compared"
    return (
        f"{found.dominated:,} of {found.points:,} ({found.dominated / found.points:.1%}), "
        f"{found.by_trip:,} of them by trip alone"
    )


def _promises(report: TripRagReport) -> Section:
    # Splits share documents, so an interval over splits would be too narrow.
    columns: list[Column] = [
        ("", "Limit", lambda row: f"at most {row.max_leak:.1%}"),
        ("", "policy, counted", lambda row: f"{row.policy}, {row.counted}"),
        ("", "confidence", lambda row: f"{row.confidence:.0%}"),
        ("", "documents", lambda row: f"{row.documents:,}"),
        ("", "promised, of all splits", lambda row: share(counted_share(row.promised, row.splits))),
        ("", "broken, of all splits", lambda row: share(counted_share(row.violated, row.splits))),
        ("", "broken, of those promised", lambda row: share(counted_share(row.violated, row.promised))),
    ]
    return _section("promises", table(WORDS["promises"]["caption"], report.promises, columns))
