"""``python -m benchmarks.models_page`` writes docs/models.md from docs/models.template.md.

Figures come from ``benchmarks/results`` and facts from the cards in ``models/weights``; the page names
missing ones.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.claim_judges import CHOSEN_WITH, FRESH, READERS, agreements, gain, of_corpus
from benchmarks.goals import goals_table, recall_losses
from benchmarks.kept import read
from benchmarks.rule_families import table as rules_table
from benchmarks.weights_manifest import command, first_card
from eval.measures.uncertainty import Estimate, share_of
from eval.provenance import Provenance
from eval.reports.detection import markdown as detection_markdown
from eval.reports.detection import misses_table
from eval.reports.render import markdown_table
from eval.reports.risk import DEFINITIONS, agreement_table, models_table
from eval.reports.schema import Row, Table, estimate_cell, share
from eval.studies.detection.report import DetectionReport
from eval.studies.risk.report import RiskReport
from models.corpora.needs import FOLDER as NEEDS
from models.judges.pairs import LEVELS, UNSUPPORTED

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "models.md"
TEMPLATE = ROOT / "docs" / "models.template.md"
RESULTS = ROOT / "benchmarks" / "results"
WEIGHTS = ROOT / "models" / "weights"


def main() -> None:
    """Rewrite the page from its template."""
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)


def page(results: Path = RESULTS, weights: Path = WEIGHTS) -> str:
    """The page from the results and cards in two folders."""
    detection, risk = _results(results, "detection"), _results(results, "risk")
    found = None if detection is None else DetectionReport.model_validate(detection)
    judged = None if risk is None else RiskReport.model_validate(risk)
    detector, risk_card = _card(weights, "detector"), _card(weights, "risk")
    earlier, fresh = (_results(results, each.name) for each in (CHOSEN_WITH, FRESH))
    left_out = _results(results, "leave_one_out")
    parts = {
        "@GOALS@": goals_table(found, judged, left_out),
        "@DETECTOR@": _facts(weights, "detector", detector),
        "@DETECTION@": _missing("detection") if found is None else detection_markdown(found),
        "@LEAVE_ONE_OUT@": _leave_one_out(left_out),
        "@MISSES@": _missing("detection") if found is None else _misses(found),
        "@THRESHOLDS@": _thresholds(detector),
        **_needs(_results(results, "needs"), _results(results, "agreement")),
        "@RISK_MODEL@": _facts(weights, "risk", risk_card),
        "@AGREEMENT@": _missing("risk") if judged is None else agreement_table(judged),
        "@RISK@": _missing("risk") if judged is None else _risk(judged),
        "@RULES@": _rules(_results(results, "rule_families")),
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
    return text


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


def _needs(found: Mapping[str, Any] | None, readers: Mapping[str, Any] | None) -> dict[str, str]:
    """What the detector knows of what has to go, and how well two readings agree."""
    files = [(NEEDS / f"{name}.jsonl").read_text(encoding="utf-8") for name in ("references", "invented")]
    fresh = [json.loads(line).get("fresh", False) for text in files for line in text.splitlines()]
    parts = {"@PASSAGES@": f"{fresh.count(False):,}", "@FRESH_PASSAGES@": f"{fresh.count(True):,}"}
    if found is None or readers is None:
        return {**parts, **dict.fromkeys(("@READERS@", "@NEEDS@", "@CALIBRATION@"), _missing("needs"))}
    agreed = [(name, estimate_cell(Estimate(**each))) for name, each in readers.items() if name != "passages"]
    areas = [
        (f"{part}: {kind}", estimate_cell(Estimate(**each)), f"{each['n']:,.0f}")
        for part in ("held out", "fresh", "gold")
        for kind, each in {"all": found[part]["area"], **found[part]["areas"]}.items()
        if each["value"] is not None
    ]
    curve = [
        (f"{row['from']:g} to {row['from'] + 0.1:.1f}", f"{row['words']:,}", f"{row['has to go']:.3f}")
        for row in found["held out"]["calibration"]
    ]
    return {
        **parts,
        "@READERS@": _rows(("marks", f"F1, {readers['passages']} passages"), agreed),
        "@NEEDS@": _rows(("texts", "area", "marks"), areas),
        "@CALIBRATION@": _rows(("probability", "words", "has to go"), curve),
    }


def _rows(head: Sequence[str], rows: Sequence[Row]) -> str:
    return markdown_table(Table("", head, rows))


def _missing(name: str) -> str:
    return f"Not measured yet: there is no `benchmarks/results/{name}.json`."


def _facts(weights: Path, kind: str, card: Mapping[str, Any] | None) -> str:
    """The facts of a model and its training, from its card and the size of its file."""
    if card is None:
        return f"Not trained yet: there is no `models/weights/{kind}.json`."
    rows = [
        ("name", f"`{card['name']}`, {card['kind']}"),
        ("file", _file(weights / f"{kind}.safetensors")),
        ("license", str(card["licence"])),
        ("training command", f"`{command(kind, card)}`"),
        ("trained", f"{card['trained']}, {card['seconds']:,} seconds"),
        ("recipe", _listed(first_card(card)["recipe"])),
        *(("then", _listed(card[name])) for name in ("finish", "needs") if card.get(name)),
        *_continued(card),
        *_data(card),
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


def _continued(card: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """What a model learned from before, if its training continued another."""
    if "start" in card:
        yield "then", _listed(card["recipe"])
        yield "snippets of the first training", _listed(first_card(card)["snippets"])


def _file(path: Path) -> str:
    if not path.is_file():
        return f"`{path.name}`, not here"
    return f"`models/weights/{path.name}`, {path.stat().st_size / 1e6:.1f} MB, 16-bit numbers"


def _data(card: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """The training data, from the card of either model."""
    for key, words in (
        (
            "examples",
            "pairs learned from, by how they were made" if "corpora" in card else "texts learned from",
        ),
        ("corpora", "of the corpora"),
        ("characters", "characters learned from"),
        ("left_out", "left out"),
        ("snippets", "snippets learned from"),
        ("scored_mentions", "scored mentions"),
        ("further_mentions", "mentions with a weaker signal"),
    ):
        value = card.get(key)
        if value:
            yield words, f"{value:,}" if isinstance(value, int) else _listed(value)


def _listed(values: Mapping[str, object] | Sequence[str]) -> str:
    if not isinstance(values, Mapping):
        return ", ".join(values)
    return ", ".join(f"{name} {_said(name, value)}" for name, value in values.items())


def _said(name: str, value: object) -> str:
    if isinstance(value, Mapping):
        return f"({_listed(value)})"
    return f"{value:,}" if isinstance(value, int) and name != "seed" else str(value)


def _thresholds(card: Mapping[str, Any] | None) -> str:
    if card is None:
        return "There are none before there is a detector."
    profiles: Mapping[str, Mapping[str, float]] = card["thresholds"]
    labels = sorted({label for fitted in profiles.values() for label in fitted})
    rows = [
        (label or "*every other label*", *(f"{of.get(label, of['']):.2f}" for of in profiles.values()))
        for label in labels
    ]
    table = _table(("label", *profiles), rows)
    return f"<details><summary>{len(labels)} thresholds</summary>\n\n{table}\n</details>"


def _leave_one_out(found: Mapping[str, Any] | None) -> str:
    """A row for each family of corpora left out, with the loss of recall."""
    if found is None:
        return _missing("leave_one_out")
    runs: Mapping[str, Mapping[str, Mapping[str, int]]] = found["runs"]
    everything = runs.get("", {})
    losses = recall_losses(found)
    rows = []
    for name, loss in losses.items():
        trained, unseen = everything[name], runs[name][name]
        cells = [f"{trained['texts']:,}", f"{trained['of']:,}", _recall(trained), _recall(unseen)]
        rows.append((name, *cells, f"{loss:.3f}"))
    if not rows:
        return "Not measured yet: no family of corpora was left out so far."
    head = ("kind of text", "texts", "mentions", "recall", "recall, left out", "loss")
    return (
        f"{_table(head, rows)}\nMean loss over {len(losses)} kinds of text: {fmean(losses.values()):.3f}. "
        f"Both detectors had {found['recipe']['steps']:,} steps, fewer than the shipped one: "
        f"the losses count here, not the levels. {_measured(Provenance.model_validate(found['provenance']))}."
    )


def _recall(counted: Mapping[str, int]) -> str:
    share = share_of(counted["met"], counted["of"])
    return f"{share.value:.3f} ({share.low:.3f}–{share.high:.3f})"


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


def _rules(found: Mapping[str, Any] | None) -> str:
    if found is None:
        return _missing("rule_families")
    sizes = ", ".join(f"{name} {texts}" for name, (texts, _) in found["samples"].items())
    first = found["families"][0]["modes"]
    figures = [
        f"{100 * first[mode]['all'][f'mentions {name}']['with']:.1f}%"
        for mode in ("learned", "alone")
        for name in ("recall", "precision")
    ]
    n = first["learned"]["all"]["mentions recall"]["n"]
    return (
        f"Texts: {sizes}; {n:,} mentions. Recall and precision of the whole detector: {figures[0]} and "
        f"{figures[1]}; without the learned model {figures[2]} and {figures[3]}.\n\n{rules_table(found)}"
    )


def _label_curve(found: Mapping[str, Any] | None) -> str:
    """The table and plot of rank correlation by number of snippets."""
    if found is None:
        return _missing("label_curve")
    about = found["about"]
    rows = [
        (f"{row['size']}", f"{row['mean']:.3f}", f"{row['low']:.3f}–{row['high']:.3f}", f"{row['runs']}")
        for row in found["sizes"]
    ]
    return (
        "![Spearman by number of snippets](label_curve.svg)\n\n"
        f"{_table(('snippets', 'mean Spearman', 'lowest–highest', 'runs'), rows)}\n"
        f"{about['held_out_mentions']:,} mentions of {about['held_out_snippets']:,} held-out snippets. "
        f"{_measured(Provenance.model_validate(found['provenance']))}."
    )


def _measured(here: Provenance) -> str:
    return f"Measured {here.date} on {here.hardware}, commit {here.commit or 'not recorded'}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return markdown_table(Table("", head, list(rows)), words=1 if len(head) > 2 else len(head))


if __name__ == "__main__":
    main()
