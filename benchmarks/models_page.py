"""``python -m benchmarks.models_page`` writes docs/models.md from docs/models.template.md.

Figures come from ``benchmarks/results``, facts from the cards in ``models/weights``, and how well readers
agree from the marked passages; the page names missing ones.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.claim_judges import CHOSEN_WITH, FRESH, READERS, agreements, gain, of_corpus
from benchmarks.judged_blind import blind_table
from benchmarks.kept import read
from benchmarks.weights_manifest import command
from eval.measures.uncertainty import Estimate, ratio_of, share_of
from eval.provenance import Provenance
from eval.reports.detection import markdown as detection_markdown
from eval.reports.detection import misses_table
from eval.reports.render import markdown_table
from eval.reports.risk import DEFINITIONS, agreement_table, models_table
from eval.reports.schema import Cell, Row, Table, estimate_cell, share
from eval.studies.detection.study import DetectionReport
from eval.studies.risk import RiskReport
from models.corpora.passages import Mark, Part, passages, second_reading
from models.judges import LEVELS, UNSUPPORTED

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "models.md"
TEMPLATE = ROOT / "docs" / "models.template.md"
RESULTS = ROOT / "benchmarks" / "results"
WEIGHTS = ROOT / "models" / "weights"
FILES = {"reader": ("reader.safetensors", "encoder.safetensors"), "judge": ("judge.safetensors",)}
PARTS: tuple[Part, ...] = ("learn", "aside")
AGREED: Mapping[str, Callable[[Mark], bool]] = {
    "any mark": lambda mark: True,
    "must 1 or 2": lambda mark: mark.must >= 1,
    "must 2": lambda mark: mark.must == 2,
    "DIRECT": lambda mark: mark.identifier == "DIRECT",
    "QUASI, must 2": lambda mark: mark.identifier == "QUASI" and mark.must == 2,
}
"""Marks for which the page says how well two readings agree."""
LABEL_CURVE = """### How many scored snippets it takes

TRIP-RAG's label-size curve: a transformer fine-tuned on a given number of snippets only, drawn from the
training side under five seeds, and its Spearman correlation with the scores of the held-out mentions
(`python -m benchmarks.label_curve DATA --encoder FOLDER`). Lowest and highest are over seeds. On its own
clinical data the paper reports, with DeBERTa-v3-base, nearly .8 at 128 snippets and .916 at 200."""
_TOLD = {
    "phases": "phases",
    "passages": "marked passages",
    "characters": "their characters",
    "recipe": "recipe",
    "examples": "pairs learned from, by how they were made",
    "corpora": "of the corpora",
}
"""Entries of the cards, and what the page calls them."""


def main() -> None:
    """Rewrite the page from its template."""
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)


def page(results: Path = RESULTS, weights: Path = WEIGHTS) -> str:
    """The page from the results and cards in two folders."""
    detection, risk, reader = (_results(results, name) for name in ("detection", "risk", "reader"))
    found = None if detection is None else DetectionReport.model_validate(detection)
    judged = None if risk is None else RiskReport.model_validate(risk)
    earlier, fresh = (_results(results, each.name) for each in (CHOSEN_WITH, FRESH))
    blind, parts_off = (_results(results, name) for name in ("judged_blind", "parts"))
    card = _card(weights, "reader")
    stale = {
        name: _stale(kept, card)
        for name, kept in (("detection", detection), ("risk", risk), ("reader", reader))
    }
    parts = {
        "@READER@": _facts(weights, "reader", card),
        "@READERS@": _readers(),
        "@BY_LANGUAGE@": _missing("reader") if reader is None else stale["reader"] + _by_language(reader),
        "@BLIND@": _missing("judged_blind") if blind is None else blind_table(blind),
        "@PARTS@": _missing("parts") if parts_off is None else _parts(parts_off),
        "@DETECTION@": _missing("detection")
        if found is None
        else stale["detection"] + detection_markdown(found),
        "@MISSES@": _missing("detection") if found is None else _misses(found),
        "@AGREEMENT@": _missing("risk") if judged is None else agreement_table(judged),
        "@RISK@": _missing("risk") if judged is None else stale["risk"] + _risk(judged),
        "@LABEL_CURVE@": _label_curve(_results(results, "label_curve")),
        "@JUDGE@": _facts(weights, "judge", _card(weights, "judge")),
        "@JUDGES@": _missing(FRESH.name) if fresh is None else _judges(fresh),
        "@EARLIER@": _missing(CHOSEN_WITH.name) if earlier is None else _earlier(earlier),
        "@JUDGES_BY_TEXT@": _missing(FRESH.name) if fresh is None else _judges_by_text(fresh),
        "@LEVELS@": _missing(FRESH.name) if fresh is None else _levels(fresh),
    }
    text = TEMPLATE.read_text(encoding="utf-8")
    for name, part in parts.items():
        text = text.replace(name, part.strip())
    return re.sub("\n{3,}", "\n\n", text)


def _results(folder: Path, name: str) -> dict[str, Any] | None:
    return _json(folder / f"{name}.json")


def _card(folder: Path, kind: str) -> dict[str, Any] | None:
    return _json(folder / f"{kind}.json")


def _json(path: Path) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = json.loads(read(path))
    except FileNotFoundError:
        return None
    return found


def _stale(kept: Mapping[str, Any] | None, card: Mapping[str, Any] | None) -> str:
    """A warning where figures are older than the reader."""
    if kept is None or card is None or kept["provenance"]["date"][:10] >= card["trained"]:
        return ""
    return "**Measured before the reader was trained: these are figures of an earlier model.**\n\n"


def _readers() -> str:
    """How well two readings of the same passages agree."""
    first = {each.name: each.marks for part in PARTS for each in passages(part)}
    again = second_reading()
    rows: list[Row] = []
    for name, part in AGREED.items():
        pairs = [(_characters(first[each], part), _characters(again[each], part)) for each in again]
        both = [2.0 * len(one & other) for one, other in pairs]
        f1 = ratio_of(both, [float(len(one) + len(other)) for one, other in pairs])
        rows.append((name, estimate_cell(f1)))
    return _rows(("marks", f"F1, {len(again)} passages"), rows)


def _characters(marks: Sequence[Mark], part: Callable[[Mark], bool]) -> set[int]:
    return {place for mark in marks if part(mark) for place in range(mark.start, mark.end)}


def _by_language(kept: Mapping[str, Any]) -> str:
    """Every figure on the passages put aside: a row for each language, a column for each detector."""
    rows = {(row["figure"], row["language"], row["detector"]): row for row in kept["rows"]}
    figures, languages, detectors = (list(dict.fromkeys(names)) for names in zip(*rows, strict=True))
    shown = list[Row]()
    for figure in figures:
        style = "{:.1f}" if " per " in figure else "{:.3f}"
        for language in languages:
            row = {name: rows[figure, language, name] for name in detectors}
            cells = (
                estimate_cell(Estimate(each["value"], each["low"], each["high"]), style)
                for each in row.values()
            )
            n = f"{row[detectors[-1]]['n']:,.1f}".removesuffix(".0")
            shown.append((figure, language, n, *cells))
    sizes = {row["language"]: row["passages"] for row in kept["rows"]}
    refused = {(row["language"], row["detector"]): row["refused"] for row in kept["rows"]}
    former = " `default` is the detector that was the default then." if "default" in detectors else ""
    return (
        f"Passages: {_listed(sizes)}; {sum(refused.values())} more were refused.{former}\n\n"
        f"{markdown_table(Table('', ('figure', 'language', 'n', *detectors), shown), words=2)}\n"
        f"{_measured(Provenance.model_validate(kept['provenance']))}."
    )


def _parts(kept: Mapping[str, Any]) -> str:
    """A row for each part beside the reader: what the figures are without it."""
    found: dict[str, dict[str, Estimate]] = {}
    for row in kept["rows"]:
        found.setdefault(row["without"], {})[row["figure"]] = Estimate(row["value"], row["low"], row["high"])
    n = {row["figure"]: f"{row['n']:,.1f}".removesuffix(".0") for row in kept["rows"]}
    shown = {f"{group}, {how}": "{:.3f}" for group in ("DIRECT", "must 2") for how in ("touched", "covered")}
    shown |= {"must 0, touched": "{:.3f}", "unmarked characters changed": "{:.4f}"}
    shown |= {"invented names per 10,000 characters": "{:.2f}"}
    alike = dict[tuple[Cell, ...], list[str]]()
    for part, each in found.items():
        cells = tuple(estimate_cell(each[of], style) for of, style in shown.items())
        alike.setdefault(cells, []).append(f"without {part}" if part else "whole")
    rows: list[Row] = [("; ".join(parts), *cells) for cells, parts in alike.items()]
    head = ("", *(f"{figure} ({n[figure]})" for figure in shown))
    return f"{_rows(head, rows)}\n{_measured(Provenance.model_validate(kept['provenance']))}."


def _rows(head: Sequence[str], rows: Sequence[Row]) -> str:
    return markdown_table(Table("", head, rows))


def _missing(name: str) -> str:
    return f"Not measured yet: there is no `benchmarks/results/{name}.json`."


def _facts(weights: Path, kind: str, card: Mapping[str, Any] | None) -> str:
    """The facts of a model and its training, from its card and the sizes of its files."""
    if card is None:
        return f"Not trained yet: there is no `models/weights/{kind}.json`."
    where = card.get("hardware") or card.get("device")
    rows = [
        ("name", f"`{card['name']}`: {card['kind']}"),
        ("files", ", ".join(_file(weights / name) for name in FILES[kind])),
        ("license", str(card["licence"])),
        ("training command", f"`{command(kind, card)}`"),
        ("trained", f"{card['trained']}, {card['seconds']:,} seconds" + (f" on {where}" if where else "")),
        *((words, _listed(card[key])) for key, words in _TOLD.items() if key in card),
    ]
    link = f"[models/weights/{kind}.md](../models/weights/{kind}.md)"
    return f"{_table(('', ''), rows)}\nMore is in its card, {link}."


_RATED_BY = {
    "second": "the second reader",
    "first": "the first reader",
    "embedded": "the trained judge",
    "lexical": "the lexical judge",
    "ROUGE-L recall": "ROUGE-L recall",
}
_TEXTS = {"medqa": "exam questions", "mts": "dialogues", "bio": "biographies"}


def _judges(kept: Mapping[str, Any]) -> str:
    """How far each judge agrees with each reader, and how much more the trained one does."""
    found = agreements(kept)
    pairs, texts = len(kept["pairs"]), len(set(kept["texts"]))
    rows: list[Row] = [
        (_RATED_BY[judge], reader, *(estimate_cell(each) for each in found[judge, reader]))
        for judge, reader in found
    ]
    gains: list[Row] = [
        ("trained less lexical", reader, "", estimate_cell(gain(kept, reader))) for reader in READERS
    ]
    made = _rows(("rated by", "beside the reader", "Spearman", "weighted kappa"), [*rows, *gains])
    differ = sum(
        one != other for one, other in zip(*(kept["ratings"][name] for name in READERS), strict=True)
    )
    said = f"{pairs} pairs of {texts} texts; the readers differ on {differ} of them"
    return f"{said}.\n\n{made}"


def _earlier(kept: Mapping[str, Any]) -> str:
    """The kappas of the pairs with which the recipe was chosen, in words."""
    found = agreements(kept)
    trained, lexical = (
        " and ".join(f"{found[judge, reader][1].value:.3f}" for reader in READERS)
        for judge in ("embedded", "lexical")
    )
    return f"{len(kept['pairs'])} pairs, weighted kappa {trained}, of the lexical judge {lexical}"


def _judges_by_text(kept: Mapping[str, Any]) -> str:
    """Kappa with the first reader by the kind of text."""
    rows = list[Row]()
    for corpus, name in _TEXTS.items():
        of = of_corpus(kept, corpus)
        found = agreements(of)
        cells = (estimate_cell(found[judge, "first"][1]) for judge in ("second", "embedded", "lexical"))
        rows.append((name, f"{len(of['texts']):,}", *cells))
    return _rows(("texts", "pairs", *(_RATED_BY[each] for each in ("second", "embedded", "lexical"))), rows)


def _levels(kept: Mapping[str, Any]) -> str:
    """How often each gave each level, and how often told or not told was what the first reader said."""
    first = kept["ratings"]["first"]
    rows = list[Row]()
    for name in ("first", "second", "embedded", "lexical"):
        given = kept["ratings"][name]
        agreed = sum(
            (one != UNSUPPORTED) == (other != UNSUPPORTED) for one, other in zip(given, first, strict=True)
        )
        said = "" if name == "first" else share(share_of(agreed, len(given)))
        rows.append((_RATED_BY[name], *(f"{given.count(level):,}" for level in LEVELS), said))
    return _rows(("rated by", "fully (1)", "partly (2)", "not (3)", "told or not as the first reader"), rows)


def _file(path: Path) -> str:
    if not path.is_file():
        return f"`{path.name}`, not here"
    return f"`models/weights/{path.name}`, {path.stat().st_size / 1e6:.1f} MB"


def _listed(values: Mapping[str, object] | Sequence[Mapping[str, object]]) -> str:
    """Names and numbers; of phases of a training their layers and steps."""
    if not isinstance(values, Mapping):
        return ", then ".join(f"{each['layers']} layers, {each['steps']:,} steps" for each in values)
    return ", ".join(
        f"{name} {value:,}" if isinstance(value, int) and name != "seed" else f"{name} {value}"
        for name, value in values.items()
    )


def _misses(report: DetectionReport) -> str:
    """A sample of each sort: counts by label, and each item as a place and a shape."""
    ours = report.detectors[0]
    parts = []
    for sort, words in (("miss", "misses"), ("false alarm", "false alarms")):
        chosen = tuple(miss for miss in report.misses if (miss.detector, miss.sort) == (ours, sort))
        labels = Counter(miss.label for miss in chosen).most_common()
        by_label = ", ".join(f"{label} {number}" for label, number in labels) or "none"
        table = misses_table(report.model_copy(update={"misses": chosen}), ours)
        parts.append(
            f"{len(chosen)} of {report.wrong[ours][sort]:,} {words}, by label: {by_label}.\n\n"
            f"<details><summary>the {words}</summary>\n\n{table}\n</details>"
        )
    return "\n\n".join(parts)


def _risk(report: RiskReport) -> str:
    definitions = "\n".join(f"- {line}" for line in DEFINITIONS)
    bootstrap = f"seed {report.seed}, {report.resamples:,} redraws"
    return f"{models_table(report)}\n{definitions}\n\n{_measured(report.provenance)}, {bootstrap}."


def _label_curve(found: Mapping[str, Any] | None) -> str:
    """The table and plot of rank correlation by number of snippets, once they are measured."""
    if found is None:
        return ""
    about = found["about"]
    rows = [
        (f"{row['size']}", f"{row['mean']:.3f}", f"{row['low']:.3f}–{row['high']:.3f}", f"{row['runs']}")
        for row in found["sizes"]
    ]
    return (
        f"{LABEL_CURVE}\n\n![Spearman by number of snippets](label_curve.svg)\n\n"
        f"{_table(('snippets', 'mean Spearman', 'lowest–highest', 'runs'), rows)}\n"
        f"{about['encoder']}; {about['held_out_mentions']:,} mentions of {about['held_out_snippets']:,} "
        f"held-out snippets. {_measured(Provenance.model_validate(found['provenance']))}."
    )


def _measured(here: Provenance) -> str:
    return f"Measured {here.date} on {here.hardware}, commit {here.commit or 'not recorded'}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return markdown_table(Table("", head, list(rows)), words=1 if len(head) > 2 else len(head))


if __name__ == "__main__":
    main()
