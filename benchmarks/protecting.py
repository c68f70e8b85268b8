"""``python -m benchmarks.protecting CORPORA``: what is inferred of authors before and after the search.

Posts of SPIA, without those that the detector learned from. Each is protected against heads that learned
from posts in other folds, and then attacked by these, by heads that learned from half of those authors and
other names, and by heads that learned from the protected posts of those authors: the search read neither of
the last two. The rules were written with folds 0 to 2 in sight; folds 3 and 4 are measured once.
"""

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from app.compose import detector_of
from app.settings.load import load_settings
from benchmarks.attributes import POSTS, _texts
from eval.attacks.attribute_clues import ClueReader, Read
from eval.attacks.attribute_learning import as_numbers
from eval.attacks.attribute_truths import KnownText, posts_of
from eval.attacks.attribute_values import value_names
from eval.attacks.attributes import AttributeAttack
from eval.measures.overlap import rouge_l, stems
from eval.studies.detection.report import machine_and_versions
from eval.targets import reading_once
from eval.tasks.inferred import most_frequent
from ingest.documents import Document
from ingest.protecting.edits import KINDS
from ingest.protecting.search import Search, Searched
from ingest.protocols import Encoder
from ingest.sanitize import annotate
from models.attributes.heads import Heads, load_heads
from models.catalog import ModelRef
from models.encoders.minilm import MiniLM
from models.encoders.numbers import fastest
from models.local_files import best_device
from models.training.attributes import NAMES, AttributeRecipe, fit, folds_of, invented_names

OUTPUT = Path("benchmarks/results/protecting.json")
PARTS: Mapping[str, Sequence[int]] = {"development": (0, 1, 2), "held out": (3, 4)}
RECIPE = AttributeRecipe()
SAME, HALF, ADAPTED = ATTACKERS = "optimized against", "half of the authors", "learned from protected posts"


def main(argv: Sequence[str] | None = None) -> None:
    """Protect, attack, write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument("--folds", type=int, default=RECIPE.folds, help="the first folds alone (default all)")
    parser.add_argument("--commit", help="commit of the code, for the record")
    arguments = parser.parse_args(argv)
    encoder = reading_once(MiniLM(best_device(), fastest(best_device())))
    unseen = _texts(arguments.data, POSTS)
    all_folds = folds_of([each.group for each in unseen], RECIPE.folds).tolist()
    chosen = [pair for pair in zip(unseen, all_folds, strict=True) if pair[1] < arguments.folds]
    posts, folds = [post for post, _ in chosen], [fold for _, fold in chosen]
    documents = [Document(str(number), each.text) for number, each in enumerate(posts)]
    texts = annotate(detector_of(load_settings({})), documents)
    known = [each for each in posts_of(arguments.data) if each.truths]
    read = ClueReader(encoder).read([each.text for each in known])
    same = _heads(known, read, encoder, RECIPE.seed)
    searched: dict[int, Searched] = {}
    begun = time.perf_counter()
    for fold in sorted(set(folds)):
        mine = [number for number, each in enumerate(folds) if each == fold]
        attack = AttributeAttack(encoder, same[fold])
        found = Search(attack, encoder, attack.attributes).search([texts[number] for number in mine])
        searched |= dict(zip(mine, found, strict=True))
    seconds = time.perf_counter() - begun
    protected = {posts[number].text: each.text for number, each in searched.items()}
    rows = [row for row, each in enumerate(known) if each.text in protected]
    again = _read_again(read, rows, [protected[known[row].text] for row in rows], encoder)
    attackers = {
        SAME: same,
        HALF: _heads(known, read, encoder, RECIPE.seed + 1, halved=True),
        ADAPTED: _heads(known, again, encoder, RECIPE.seed),
    }
    parts = {}
    for name, those in PARTS.items():
        numbers = [number for number, fold in enumerate(folds) if fold in those]
        if numbers:
            parts[name] = {
                "attackers": {
                    attacker: _attacked(heads, encoder, posts, folds, searched, numbers)
                    for attacker, heads in attackers.items()
                },
                **_kept(encoder, posts, searched, numbers),
            }
    report = {
        "parts": parts,
        "characters_a_second": round(sum(len(each.text) for each in posts) / seconds),
        "provenance": machine_and_versions({}, arguments.commit).model_dump(mode="json"),
    }
    arguments.output.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def _read_again(read: Read, rows: Sequence[int], texts: Sequence[str], encoder: Encoder) -> Read:
    """What was read, with other texts in some rows."""
    new = ClueReader(encoder).read(texts)
    vectors, clues = read.vectors.copy(), {name: each.copy() for name, each in read.clues.items()}
    vectors[rows] = new.vectors
    for name, each in clues.items():
        each[rows] = new.clues[name]
    return Read(vectors, clues)


def _heads(
    known: Sequence[KnownText], read: Read, encoder: Encoder, seed: int, *, halved: bool = False
) -> dict[int, Heads]:
    """Heads by the fold that they did not learn from; ``halved`` ones learned from half of the others."""
    shipped = load_heads(ModelRef(), value_names()).heads
    learned = [
        each
        for each in as_numbers(known, read, invented_names(NAMES, seed), encoder)
        if each.attribute in shipped
    ]
    found = {}
    for fold in range(RECIPE.folds):
        heads = {}
        for each in learned:
            without = folds_of(each.groups, RECIPE.folds) == fold
            if halved:
                without |= folds_of([f"half {group}" for group in each.groups], 2) == 0
            heads[each.attribute] = fit(each, RECIPE, without)
        found[fold] = Heads(f"lethe-attributes, fold {fold}", heads)
    return found


def _attacked(
    heads: Mapping[int, Heads],
    encoder: Encoder,
    posts: Sequence[KnownText],
    folds: Sequence[int],
    searched: Mapping[int, Searched],
    numbers: Sequence[int],
) -> dict[str, Any]:
    """By attribute the texts, the share of the most frequent value, and what is right before and after."""
    usual = most_frequent([posts[number].truths for number in numbers])
    rows: dict[str, list[tuple[bool, bool, bool]]] = {}
    for fold in sorted({folds[number] for number in numbers}):
        mine = [number for number in numbers if folds[number] == fold]
        attack = AttributeAttack(encoder, heads[fold])
        before = attack.infer([posts[number].text for number in mine])
        after = attack.infer([searched[number].text for number in mine])
        for number, one, other in zip(mine, before, after, strict=True):
            for name, truths in posts[number].truths.items():
                if name in one:
                    row = (
                        usual[name] in truths,
                        one[name].guesses[0] in truths,
                        other[name].guesses[0] in truths,
                    )
                    rows.setdefault(name, []).append(row)
    return {
        name: {"n": len(those), **dict(zip(("majority", "before", "after"), _shares(those), strict=True))}
        for name, those in sorted(rows.items())
    }


def _shares(rows: Sequence[Sequence[bool]]) -> list[float]:
    return [round(float(each), 4) for each in np.mean(rows, axis=0)]


def _kept(
    encoder: Encoder, posts: Sequence[KnownText], searched: Mapping[int, Searched], numbers: Sequence[int]
) -> dict[str, Any]:
    """What stays of the texts, where an edit was found, and where the attacker stays too certain."""
    pairs = [(posts[number].text, searched[number].text) for number in numbers]
    vectors = [encoder.encode(list(pair)) for pair in pairs]
    mine = [searched[number] for number in numbers]
    names = mine[0].stops
    return {
        "posts": len(mine),
        "rouge_l": round(float(np.mean([rouge_l(stems(one), stems(other)).f for one, other in pairs])), 4),
        "cosine": round(float(np.mean([one @ other for one, other in vectors])), 4),
        "edited": round(float(np.mean([bool(each.edits) for each in mine])), 4),
        "still_certain": {
            name: round(float(np.mean([each.stops[name] == "no edit helps" for each in mine])), 4)
            for name in names
        },
        "edits": {kind: sum(each.edits.get(kind, 0) for each in mine) for kind in KINDS},
    }


if __name__ == "__main__":
    main()
