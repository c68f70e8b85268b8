"""How useful each method leaves the index, and what stands in it: the page's part on table 1."""

from collections.abc import Sequence

from eval.report_charts import Bar, chart, estimate_bar, share_bar
from eval.trip_rag import published
from eval.trip_rag.cells import (
    estimate_html,
    panel,
    published_groups,
    published_html,
    row,
    section,
    share_html,
    table,
)
from eval.trip_rag.report import MethodFigures, TripRagReport

DEPTHS = (1, 5, 10)
DECIMALS = "{:.3f}"


def usefulness(report: TripRagReport) -> str:
    """Table 1: retrieval and answers."""
    methods = report.methods
    charts = (
        chart(
            "Recall@1 overlap",
            "How often the first passage comes from the same document as without sanitizing",
            [estimate_bar(each.method, place, each.recall_overlap[1]) for place, each in enumerate(methods)],
        ),
        chart(
            "ROUGE-L of answers",
            "Answers compared with the reference answers",
            [estimate_bar(each.method, place, each.rouge_l) for place, each in enumerate(methods)],
        ),
    )
    return section(
        "Usefulness",
        "What retrieval and answers are worth after each method; higher is better. Whiskers and the smaller "
        "figures are 95% intervals. Columns named “published, other data” are printed in the paper "
        "with the same encoder and Llama-2-7b-chat on other documents: compare their order with ours, "
        "not their size.",
        f'<div class="charts">{"".join(charts)}</div>',
        panel(_retrieval(methods)),
        *(panel(_retrieval(of_one)) for of_one in _by_encoder(report.encoders)),
        panel(_answers((*methods, *report.encoders), report)),
    )


def _by_encoder(figures: Sequence[MethodFigures]) -> list[list[MethodFigures]]:
    return [
        [each for each in figures if each.encoder == name]
        for name in dict.fromkeys(each.encoder for each in figures)
    ]


def _retrieval(methods: Sequence[MethodFigures]) -> str:
    names = [f"R@{k}" for k in DEPTHS]
    rows = []
    for each in methods:
        theirs = published.answers_of(each.encoder, each.method)
        printed = [
            theirs[corpus].recall[k] if corpus in theirs else None
            for corpus in published.CORPORA
            for k in DEPTHS
        ]
        rows.append(
            row(
                each.method,
                [
                    *(estimate_html(each.recall_overlap[k]) for k in DEPTHS),
                    *(share_html(each.found[k]) for k in DEPTHS),
                    *(published_html(value, DECIMALS) for value in printed),
                ],
                _failures(each),
            )
        )
    return table(
        f"Retrieval with {methods[0].encoder}: Recall@k overlap with the unsanitized index, and how often "
        "the document asked about is among the first k (found@k).",
        "Method",
        [
            ("Recall@k overlap", names),
            ("found@k", [f"found@{k}" for k in DEPTHS]),
            *published_groups(names),
        ],
        rows,
    )


def _answers(methods: Sequence[MethodFigures], report: TripRagReport) -> str:
    rows = []
    for each in methods:
        theirs = published.answers_of(each.encoder, each.method)
        printed = [
            value
            for corpus in published.CORPORA
            for value in ((theirs[corpus].bleu, theirs[corpus].rouge_l) if corpus in theirs else (None, None))
        ]
        rows.append(
            row(
                each.method,
                [
                    *(estimate_html(value) for value in (each.bleu1, each.sacrebleu, each.rouge_l)),
                    *(published_html(value, DECIMALS) for value in printed),
                ],
                each.encoder,
            )
        )
    return table(
        f"Answers by {report.generator}, from five passages, against the reference answers, on a scale from "
        f"0 to 1. sacreBLEU: {report.sacrebleu_signature}. The paper does not say which BLEU it printed.",
        "Method, encoder",
        [("measured", ["BLEU-1", "sacreBLEU", "ROUGE-L"]), *published_groups(["BLEU", "ROUGE-L"])],
        rows,
    )


def _failures(figures: MethodFigures) -> str:
    failed = figures.documents_failed
    return f"documents failed: {failed:,}" if failed else ""


def index_reader(report: TripRagReport) -> str:
    """What somebody finds who reads the whole index."""
    methods = report.methods
    rows = [
        row(
            each.method,
            [share_html(each.identifiers), share_html(each.disclosed), share_html(each.kept)],
            _failures(each),
        )
        for each in methods
    ]
    found: list[list[Bar]] = [
        [share_bar(each.method, place, each.identifiers) for place, each in enumerate(methods)],
        [share_bar(each.method, place, each.disclosed) for place, each in enumerate(methods)],
    ]
    charts = (
        chart("Identifiers", "Of what names a person, the share that still stands there", found[0]),
        chart("All sensitive entities", "Illnesses, drugs and the like among them", found[1]),
    )
    return section(
        "What a reader of the whole index finds",
        "Sensitive entities that stand word for word in the sanitized text of their own document, with no "
        "attack in between; lower is better. Kept is the share of detected mentions that a method left "
        "as they were, which says how much it changed and is neither good nor bad.",
        f'<div class="charts">{"".join(charts)}</div>',
        panel(
            table(
                "Shares with the wider of two 95% intervals, and counts.",
                "Method",
                [("", ["Identifiers", "All sensitive entities", "Mentions kept"])],
                rows,
            )
        ),
    )
