"""``python -m benchmarks.rule_families DATA`` ablates each family of detection rules.

DATA is the folder with the public corpora. Only training documents are read, a seeded sample of each corpus.
The learned detector reads each text once; then the hybrid detector runs with one family removed at a time,
with and without the learned detector. Writes ``benchmarks/results/rule_families.json``.
"""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from app.compose import _finders
from app.settings.load import load_settings
from eval.studies.detection.labels import MEDICAL_CONTENT
from eval.studies.detection.measures import MarkedEntity, Tally, entities_covered, overlapping
from ingest.detection.hybrid import HybridDetector
from ingest.detection.learned import LearnedDetector
from ingest.detection.patterns import find as patterns
from ingest.documents import Document, Entity
from ingest.labels import label_of
from ingest.language import vocabulary
from models.corpora.examples import Example, Mention
from models.corpora.read import corpora_in, read_corpora
from models.corpora.splits import shuffled
from models.detectors.words import FoundSpan
from models.training.synthetic.generate import synthetic_examples

ROOT = Path(__file__).parents[1]
RESULT = ROOT / "benchmarks" / "results" / "rule_families.json"
SEED, SYNTHETIC_SEED = 12, 987_001
RESAMPLES = 1_000
KINDS = ("DIRECT", "QUASI")


@dataclass(frozen=True, slots=True)
class Text:
    """A text with its gold mentions; entities by kind if the corpus has them."""

    unit: str
    text: str = field(repr=False)
    marked: tuple[tuple[int, int], ...] = field(repr=False)
    labels: frozenset[str] | None = None
    entities: tuple[MarkedEntity, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Family:
    """What is removed together: names in modules with their replacements, or word lists.

    The size counts the lines of ``files`` and the entries of ``lists``.
    """

    name: str
    files: tuple[str, ...] = ()
    instead: Mapping[str, Any] = field(default_factory=dict)
    lists: tuple[str, ...] = ()


def nothing(*_: Any, **__: Any) -> list[Any]:
    """Finds nothing."""
    return []


def same(_: Any, kept: Any = None, *__: Any) -> Any:
    """Gives back the mentions as they are."""
    return kept


def unchanged(first: Any, *_: Any) -> Any:
    """Gives back its argument."""
    return first


def no(*_: Any) -> bool:
    """Denies."""
    return False


def yes(*_: Any) -> bool:
    """Affirms."""
    return True


def none(*_: Any) -> None:
    """Answers nothing."""


def _patterns(*modules: str, **instead: Any) -> Family:
    gone = tuple(
        pattern
        for module in modules
        for pattern in getattr(import_module(f"ingest.detection.patterns.{module}"), "PATTERNS", ())
    )
    kept = tuple(pattern for pattern in patterns.PATTERNS if pattern not in gone)
    files = tuple(f"patterns/{module}.py" for module in modules)
    places = {f"patterns.{name.replace('__', '.')}": value for name, value in instead.items()}
    return Family(f"patterns/{modules[0]}", files, {"patterns.find.PATTERNS": kept, **places})


def _rules(name: str, *functions: str) -> Family:
    found = {f"rules.find.{function}": nothing for function in functions or (name,)}
    return Family(f"rules/{name}", (f"rules/{name}.py",), found)


def families() -> tuple[Family, ...]:
    """Every family of rules and lists, in the order of the table."""
    measure = ("patterns.find.measured", "patterns.pattern.is_measure", "forms.is_measure")
    return (
        _patterns("contact"),
        _patterns("finance", finance__find_ibans=nothing),
        _patterns("money"),
        _patterns("technical"),
        _patterns("vehicles"),
        _patterns("national"),
        _patterns("records", records__find_application_numbers=nothing),
        _patterns("spoken"),
        _patterns("addresses"),
        _patterns("postal"),
        _patterns("dates", dates__with_birth_dates=same),
        _patterns("ages"),
        Family("patterns/phone", ("patterns/phone.py",), {"patterns.find.find_phones": nothing}),
        Family("patterns/measures", ("patterns/measures.py",), dict.fromkeys(measure, no)),
        _rules("persons", "running_text"),
        _rules("layout"),
        Family("rules/roles", ("rules/roles.py",), {"rules.persons.bracketed": none}),
        _rules("places"),
        _rules("organizations"),
        _rules("people_words"),
        _rules("medical"),
        Family("repeats", ("repeats.py",), {"hybrid.repeats": nothing}),
        Family("plausible", ("plausible.py",), {"learned.plausible": unchanged}),
        Family("forms", ("forms.py",), {"plausible.has_form": yes, "structured.has_form": yes}),
        Family("lengths_of_time", ("lengths_of_time.py",), {"plausible.with_lengths_of_time": unchanged}),
        Family("structured", ("structured.py",), {"hybrid.by_fields": same, "hybrid.named_by_keys": nothing}),
        Family(
            "hl7_fields",
            ("hl7_fields.py",),
            {"hybrid.with_messages": same, "hybrid.names_with_carets": nothing},
        ),
        Family("disguises", ("../language/disguises.py",), {"hybrid.view_of": none}),
        Family("plain_letters", ("../language/plain_letters.py",), {"hybrid.plain": unchanged}),
        Family("doubts", ("doubts.py",), {"hybrid.doubts_of": nothing}),
        Family("names", lists=("given_names", "given_names_ambiguous", "given_names_words", "surnames")),
        Family("places", lists=("cities", "countries", "states", "places", "state_codes")),
        Family("organizations", lists=("organizations", "public_bodies")),
        Family("origins", lists=("demonyms", "ethnicities", "languages", "religions")),
        Family("jobs", lists=("jobs", "jobs_weak")),
        Family("diseases and symptoms", lists=("diseases", "symptoms")),
        Family("drugs and allergens", lists=("medications", "drug_suffixes", "allergens")),
        Family("tests and procedures", lists=("medical_tests", "procedures", "departments")),
        Family("eponyms", lists=("eponyms", "eponym_nouns")),
        Family("words that are no names", lists=("common_words", "not_names")),
    )


class CachedFinder:
    """A span finder that caches its results."""

    def __init__(self, finder: Any) -> None:
        self.name: str = finder.name
        self._finder = finder
        self._known: dict[str, list[FoundSpan]] = {}

    def find(self, texts: Sequence[str]) -> list[list[FoundSpan]]:
        """The spans of each text."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        for first in range(0, len(new), 32):
            some = new[first : first + 32]
            self._known.update(zip(some, self._finder.find(some), strict=True))
        return [self._known[text] for text in texts]


def _remembering(function: Callable[..., Any], key: Callable[..., Any]) -> Callable[..., Any]:
    known: dict[Any, Any] = {}

    def remembered(*args: Any) -> Any:
        at = key(*args)
        if at not in known:
            answer = function(*args)
            known[at] = list(answer) if isinstance(answer, Iterator) else answer
        return known[at]

    return remembered


def _text_of(first: Any, *_: Any) -> Any:
    return getattr(first, "text", first)


def _pattern_and_text(pattern: Any, page: Any) -> Any:
    return pattern.name, page.whole


def _page_text(text: str, _: Any) -> str:
    return text


REMEMBERED: Mapping[str, Callable[..., Any]] = {
    "patterns.find.page_of": _page_text,
    "patterns.find.hits": _pattern_and_text,
    "rules.find.tokenize": _text_of,
    "rules.find.scan": _text_of,
    "rules.find.running_text": _text_of,
    "rules.find.places": _text_of,
    "rules.find.organizations": _text_of,
    "rules.find.people_words": _text_of,
    "rules.find.medical": _text_of,
    "repeats.tokenize": _text_of,
    "hybrid.view_of": _text_of,
    "hybrid.doubts_of": _text_of,
}
"""Cached functions with their cache keys; only the parts of detection differ."""


@contextmanager
def replaced(instead: Mapping[str, Any]) -> Iterator[None]:
    """Replace functions and values of ``ingest.detection`` temporarily."""
    with ExitStack() as stack:
        for place, value in instead.items():
            module, _, name = place.rpartition(".")
            stack.enter_context(patch.object(import_module(f"ingest.detection.{module}"), name, value))
        yield


@contextmanager
def without_lists(lists: Sequence[str]) -> Iterator[None]:
    """Read word lists as empty."""
    entries = vocabulary.entries
    caches = (
        vocabulary.words,
        *(_cache(place) for place in ("rules.lexicon.table", "rules.medical.drug_endings")),
    )

    def some(name: str) -> tuple[str, ...]:
        return () if name in lists else entries(name)

    try:
        with (
            patch.object(vocabulary, "entries", some),
            replaced({"rules.lexicon.entries": some, "rules.medical.entries": some}),
        ):
            for cached in caches:
                cached.cache_clear()
            yield
    finally:
        for cached in caches:
            cached.cache_clear()


def _cache(place: str) -> Any:
    module, _, name = place.rpartition(".")
    return getattr(import_module(f"ingest.detection.{module}"), name)


NAME_LABELS = frozenset(
    ("person full name", "place", "city name", "county", "state or province", "country", "organization")
)


CONTENT = frozenset(("disease", "diagnosis", "symptom", "chemical", "medication"))


def corpora(folder: Path) -> Iterator[tuple[str, list[Text]]]:
    """Samples of the corpora by name, and invented texts."""
    linked = {
        corpus: dict(_entities(folder / "spia" / f"{file}.jsonl"))
        for corpus, file in (("spia_cases", "tab_train"), ("spia_posts", "panorama_entities"))
    }
    wanted = {
        "tab": (18, None),
        "spia_cases": (12, None),
        "spia_posts": (100, None),
        "presidio_synth": (300, None),
        "uner_ewt": (60, NAME_LABELS),
        "broad_twitter": (250, NAME_LABELS),
        "bc5cdr": (120, CONTENT),
    }
    leave_out = set(corpora_in(folder)) - set(wanted)
    by_corpus: dict[str, list[Example]] = {}
    for example in read_corpora(folder, "train", leave_out):
        by_corpus.setdefault(example.corpus, []).append(example)
    for corpus, (number, labels) in wanted.items():
        examples = {example.id: example for example in by_corpus.get(corpus, ())}
        chosen = [examples[name] for name in shuffled(examples)[:number]]
        yield corpus, [_text(one, labels, linked.get(corpus, {})) for one in chosen]
    for corpus, file, number in (("wikiactors", "data", 12), ("meddocan_es", "train", 30)):
        yield corpus, _spans_of(folder / corpus / f"{file}.jsonl", number)
    invented = synthetic_examples(400, SYNTHETIC_SEED)
    yield "invented", [_text(one, None, {}) for one in invented]


def _text(example: Example, labels: frozenset[str] | None, linked: Mapping[str, Any]) -> Text:
    marked = [one for one in example.mentions if _counts(one.label, labels)]
    return Text(example.group, example.text, _places(marked), labels, linked.get(example.text, ()))


def _counts(label: str, labels: frozenset[str] | None) -> bool:
    return label in labels if labels else label not in MEDICAL_CONTENT


def _places(mentions: Iterable[Mention]) -> tuple[tuple[int, int], ...]:
    return tuple((one.start, one.end) for one in mentions)


def _spans_of(path: Path, number: int) -> list[Text]:
    with path.open(encoding="utf-8") as file:
        records = {record["id"]: record for record in map(json.loads, file)}
    return [
        Text(name, records[name]["text"], tuple((s["start"], s["end"]) for s in records[name]["spans"]))
        for name in shuffled(records)[:number]
    ]


def _entities(path: Path) -> Iterator[tuple[str, tuple[MarkedEntity, ...]]]:
    with path.open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            grouped: dict[str, list[dict[str, Any]]] = {}
            for mention in row["entities"]:
                grouped.setdefault(mention["entity_id"], []).append(mention)
            yield row["text"], tuple(map(_entity, grouped.values()))


def _entity(mentions: Sequence[Mapping[str, Any]]) -> MarkedEntity:
    kinds = {mention["identifier_type"] for mention in mentions}
    kind = next((kind for kind in KINDS if kind in kinds), "NO_MASK")
    return MarkedEntity(kind, tuple((m["start_offset"], m["end_offset"]) for m in mentions))


def counted(texts: Sequence[Text], found: Sequence[Sequence[Entity]]) -> dict[str, dict[str, Tally]]:
    """Tallies of each unit, by measure."""
    tallies: dict[str, dict[str, Tally]] = {"mentions": {}, **{kind: {} for kind in KINDS}}
    for text, entities in zip(texts, found, strict=True):
        spans = [(one.span.start, one.span.end) for one in entities if _counts(one.label, text.labels)]
        of_text = {"mentions": overlapping(text.text, text.marked, spans)}
        for kind in KINDS:
            of_kind = [entity for entity in text.entities if entity.kind == kind]
            of_text[kind] = entities_covered(text.text, of_kind, spans)
        for name, tally in of_text.items():
            tallies[name][text.unit] = tallies[name].get(text.unit, Tally()) + tally
    return tallies


Counts = dict[str, dict[str, dict[str, Tally]]]
"""By corpus, measure and unit."""


def lines_of(name: str) -> list[tuple[str, str]]:
    """The lines of an invented list of the tests with the headings above them."""
    heading, lines = "", []
    for line in (ROOT / "tests" / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            heading = line.removeprefix("# ")
        elif line:
            lines.append((heading, line))
    return lines


ADDRESSES = ("street address", "secondary address unit", "zip postal code")


def on_lines(detector: HybridDetector) -> dict[str, int]:
    """The number of lines with a missed identifier, and of lines touched without one."""
    kept, identifying = lines_of("kept_lines.txt"), lines_of("identifying_lines.txt")
    documents = [Document(str(number), line) for number, (_, line) in enumerate((*kept, *identifying))]
    found = detector.detect(documents)
    touched = sum(
        any(label_of(one.label).rigid or one.label in (*ADDRESSES, "monetary amount") for one in entities)
        for entities in found[: len(kept)]
    )
    missed = sum(
        not {one.label for one in entities}
        & ({*ADDRESSES, "national id number"} if label in ADDRESSES else {label})
        for (label, _), entities in zip(identifying, found[len(kept) :], strict=True)
    )
    return {"kept_lines_touched": touched, "identifying_lines_missed": missed}


def run(samples: Mapping[str, Sequence[Text]], detector: HybridDetector) -> tuple[Counts, dict[str, int]]:
    """The counts of a detector on the samples and on the test lines."""
    counts: Counts = {}
    for corpus, texts in samples.items():
        documents = [Document(str(number), text.text) for number, text in enumerate(texts)]
        counts[corpus] = counted(texts, detector.detect(documents))
    return counts, on_lines(detector)


def counts_of(whole: Counts, less: Counts, measure: str, corpora: Sequence[str]) -> Any:
    """Hits and totals with and without a family: four rows, one column per unit."""
    hits, of = MEASURES[measure]
    kind = measure.split()[0]
    rows = [
        (
            getattr(one, hits),
            getattr(one, of),
            getattr(less[corpus][kind][unit], hits),
            getattr(less[corpus][kind][unit], of),
        )
        for corpus in corpora
        for unit, one in whole[corpus][kind].items()
    ]
    return np.array(rows, dtype=float).reshape(-1, 4).T


MEASURES = {
    "mentions recall": ("met", "marked"),
    "mentions precision": ("right", "found"),
    "DIRECT recall": ("met", "marked"),
    "QUASI recall": ("met", "marked"),
}


def _with_and_without(counts: Any) -> dict[str, Any]:
    rng = np.random.default_rng(SEED)
    drawn = rng.integers(0, counts.shape[1], size=(RESAMPLES, counts.shape[1]))
    sums = counts[:, drawn].sum(axis=2)
    with np.errstate(invalid="ignore", divide="ignore"):
        losses = sums[0] / sums[1] - sums[2] / sums[3]
        a, n, b, m = counts.sum(axis=1)
        losses = losses[np.isfinite(losses)]
    low, high = (float(end) for end in np.quantile(losses, (0.025, 0.975)))
    return {
        "with": round(a / n, 6),
        "without": round(b / m, 6),
        "loss": [round(low, 6), round(high, 6)],
        "n": int(n),
        "hits": [int(a), int(b)],
        "documents": counts.shape[1],
    }


def _summed(counts: Any) -> list[int]:
    return [int(number) for number in counts.sum(axis=1)]


def size_of(family: Family) -> dict[str, int]:
    """Lines of code and entries of lists."""
    folder = ROOT / "ingest" / "detection"
    return {
        "lines": sum(len((folder / name).read_text(encoding="utf-8").splitlines()) for name in family.files),
        "entries": sum(len(vocabulary.entries(name)) for name in family.lists),
    }


def measured(
    family: Family, samples: Mapping[str, Sequence[Text]], systems: Mapping[str, Any]
) -> dict[str, Any]:
    """One row of the table."""
    row: dict[str, Any] = {"family": family.name, **size_of(family), "modes": {}}
    fresh = bool(family.lists) or any(
        place.startswith(("rules.persons", "forms.")) for place in family.instead
    )
    for mode, (detector, (whole, whole_lines)) in systems.items():
        with ExitStack() as stack:
            if fresh:
                stack.enter_context(replaced(ORIGINAL))
            stack.enter_context(without_lists(family.lists))
            stack.enter_context(replaced(family.instead))
            less, lines = run(samples, detector)
        corpora = list(samples)
        row["modes"][mode] = {
            **{name: [whole_lines[name], lines[name]] for name in lines},
            "all": {name: _with_and_without(counts_of(whole, less, name, corpora)) for name in MEASURES},
            "corpora": {
                corpus: {name: _summed(counts_of(whole, less, name, [corpus])) for name in MEASURES}
                for corpus in corpora
            },
        }
    return row


ORIGINAL: dict[str, Any] = {}
"""Restore the caches afterwards, for families that change cached results."""


def main(argv: Sequence[str]) -> None:
    """Measure all families, or those named after the folder."""
    folder, named = Path(argv[0]), set(argv[1:])
    settings = load_settings({})
    learned, careful = (
        LearnedDetector(CachedFinder(each)) for each in _finders(settings, ("balanced", "recall"))
    )
    samples = dict(corpora(folder))
    for place in REMEMBERED:
        module, _, name = place.rpartition(".")
        ORIGINAL[place] = getattr(import_module(f"ingest.detection.{module}"), name)
    remembering = {place: _remembering(ORIGINAL[place], key) for place, key in REMEMBERED.items()}
    rows = []
    with replaced(remembering):
        detectors = {"learned": HybridDetector(learned, careful), "alone": HybridDetector()}
        systems = {mode: (detector, run(samples, detector)) for mode, detector in detectors.items()}
        for family in families():
            if not named or family.name in named:
                rows.append(measured(family, samples, systems))
                print(summary(rows[-1]), flush=True)
    sizes = {name: [len(texts), sum(len(one.text) for one in texts)] for name, texts in samples.items()}
    if not named:
        before = json.loads(RESULT.read_text(encoding="utf-8")) if RESULT.is_file() else {}
        result = {"seed": SEED, "samples": sizes, "families": rows, "gone": before.get("gone", [])}
        RESULT.write_text(json.dumps(result, separators=(",", ":")) + "\n", encoding="utf-8")


def summary(row: Mapping[str, Any]) -> str:
    """A row in one line."""
    parts = [f"{row['family']:28} {row['lines']:4} {row['entries']:5}"]
    for mode, of in row["modes"].items():
        both = [of["all"][f"mentions {name}"] for name in ("recall", "precision")]
        parts.append(
            f"{mode}: "
            + " ".join(
                f"{one['with']:.4f}>{one['without']:.4f} [{one['loss'][0]:+.4f},{one['loss'][1]:+.4f}]"
                for one in both
            )
            + f" D{of['all']['DIRECT recall']['hits']} Q{of['all']['QUASI recall']['hits']}"
            + f" kept{of['kept_lines_touched']} missed{of['identifying_lines_missed']}"
        )
    return " | ".join(parts)


HEADS = (
    "family",
    "lines",
    "entries",
    "recall gained",
    "precision gained",
    "DIRECT",
    "QUASI",
    "kept",
    "missed",
) + ("recall gained alone",)


def table(result: Mapping[str, Any]) -> str:
    """The result as Markdown: all current families, then the removed ones."""
    rows = [*result["families"], *({**row, "family": f"{row['family']} (gone)"} for row in result["gone"])]
    lines = [HEADS, ("---", *["--:"] * (len(HEADS) - 1)), *map(_cells, rows)]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines) + "\n"


def _cells(row: Mapping[str, Any]) -> tuple[object, ...]:
    beside, alone = row["modes"]["learned"], row["modes"]["alone"]
    whole = beside["all"]
    counts = [whole[f"{kind} recall"]["hits"] for kind in KINDS]
    counts += [beside["kept_lines_touched"], beside["identifying_lines_missed"]]
    shares = [_gained(whole["mentions recall"]), _gained(whole["mentions precision"])]
    sizes = (row["lines"] or "", row["entries"] or "")
    changes = [str(one) if one == other else f"{one} → {other}" for one, other in counts]
    return (row["family"], *sizes, *shares, *changes, _gained(alone["all"]["mentions recall"]))


def _gained(figure: Mapping[str, Any]) -> str:
    low, high = (100 * end for end in figure["loss"])
    return f"{100 * (figure['with'] - figure['without']):+.2f} [{low:+.2f}, {high:+.2f}]"


if __name__ == "__main__":
    main(sys.argv[1:])
