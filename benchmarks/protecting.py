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
from typing import Any, get_args

import numpy as np

from app.compose import detector_of
from app.settings.load import load_settings
from benchmarks.attributes import POSTS, _texts
from eval.attacks.attribute_truths import KnownText, as_numbers, posts_of
from eval.attacks.attributes import AttributeAttack, ClueReader, Read, value_names
from eval.measures.overlap import rouge_l, stems
from eval.studies.detection.study import machine_and_versions
from eval.targets import reading_once
from eval.tasks.inferred import most_frequent
from ingest.documents import Document
from ingest.protecting.edits import Kind
from ingest.protecting.search import Search, Searched
from ingest.protocols import Encoder
from ingest.sanitize import annotate
from models.attributes import Heads, load_heads
from models.catalog import ModelRef
from models.encoders.minilm import MiniLM
from models.encoders.numbers import fastest
from models.local_files import best_device
from models.training.attributes import NAMES, AttributeRecipe, fit, folds_of, invented_names

OUTPUT = Path("benchmarks/results/protecting.json")
PARTS: Mapping[str, Sequence[int]] = {"development": (0, 1, 2), "held out": (3, 4)}
RECIPE = AttributeRecipe()
Row = tuple[KnownText, int, Searched]
"""A post, its fold, and what the search made of it."""
SAME, HALF, ADAPTED = ATTACKERS = "optimized against", "half of the authors", "learned from protected posts"


def main(argv: Sequence[str] | None = None) -> None:
    """Protect, attack, write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument("--commit", help="commit of the code, for the record")
    arguments = parser.parse_args(argv)
    encoder = reading_once(MiniLM(best_device(), fastest(best_device())))
    posts = _texts(arguments.data, POSTS)
    folds = folds_of([each.group for each in posts], RECIPE.folds).tolist()
    documents = [Document(str(number), each.text) for number, each in enumerate(posts)]
    texts = annotate(detector_of(load_settings({})), documents)
    known = [each for each in posts_of(arguments.data) if each.truths]
    read = ClueReader(encoder).read([each.text for each in known])
    same = _attacks(known, read, encoder, RECIPE.seed)
    begun = time.perf_counter()
    searches = {fold: Search(each, encoder, each.attributes) for fold, each in same.items()}
    searched = [searches[fold].search(text) for fold, text in zip(folds, texts, strict=True)]
    seconds = time.perf_counter() - begun
    protected = {post.text: each.text for post, each in zip(posts, searched, strict=True)}
    rows = [row for row, each in enumerate(known) if each.text in protected]
    again = _read_again(read, rows, [protected[known[row].text] for row in rows], encoder)
    attackers = {
        SAME: same,
        HALF: _attacks(known, read, encoder, RECIPE.seed + 1, halved=True),
        ADAPTED: _attacks(known, again, encoder, RECIPE.seed),
    }
    parts = {}
    for name, those in PARTS.items():
        mine = [row for row in zip(posts, folds, searched, strict=True) if row[1] in those]
        attacked = {attacker: _attacked(each, mine) for attacker, each in attackers.items()}
        parts[name] = {"attackers": attacked, **_kept(encoder, mine)}
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


def _attacks(
    known: Sequence[KnownText], read: Read, encoder: Encoder, seed: int, *, halved: bool = False
) -> dict[int, AttributeAttack]:
    """Attackers by the fold that they did not learn from; ``halved`` ones learned from half of the others."""
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
        found[fold] = AttributeAttack(encoder, Heads(f"lethe-attributes, fold {fold}", heads))
    return found


def _attacked(attacks: Mapping[int, AttributeAttack], rows: Sequence[Row]) -> dict[str, Any]:
    """By attribute the texts, the share of the most frequent value, and what is right before and after."""
    usual = most_frequent([post.truths for post, _, _ in rows])
    found: dict[str, list[list[bool]]] = {}
    for post, fold, searched in rows:
        before, after = attacks[fold].infer([post.text, searched.text])
        for name, truths in post.truths.items():
            if name in before:
                guesses = usual[name], before[name].guesses[0], after[name].guesses[0]
                found.setdefault(name, []).append([each in truths for each in guesses])
    return {
        name: {
            "n": len(those),
            **dict(zip(("majority", "before", "after"), map(_mean, zip(*those, strict=True)), strict=True)),
        }
        for name, those in sorted(found.items())
    }


def _kept(encoder: Encoder, rows: Sequence[Row]) -> dict[str, Any]:
    """What stays of the texts, where an edit was found, and where the attacker stays too certain."""
    mine = [searched for _, _, searched in rows]
    pairs = [(post.text, searched.text) for post, _, searched in rows]
    vectors = [encoder.encode(list(pair)) for pair in pairs]
    return {
        "posts": len(mine),
        "rouge_l": _mean([rouge_l(stems(one), stems(other)).f for one, other in pairs]),
        "cosine": _mean([float(one @ other) for one, other in vectors]),
        "edited": _mean([bool(each.edits) for each in mine]),
        "still_certain": {
            name: _mean([each.stops[name] == "no edit helps" for each in mine]) for name in mine[0].stops
        },
        "edits": {kind: sum(each.edits.get(kind, 0) for each in mine) for kind in get_args(Kind)},
    }


def _mean(values: Sequence[float]) -> float:
    return round(float(np.mean(values)), 4)


if __name__ == "__main__":
    main()
