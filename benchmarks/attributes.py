"""``python -m benchmarks.attributes CORPORA``: what is inferred of people kept apart, by system.

Posts of SPIA are guessed at by heads that learned from other authors, without those that the detector learned
from. The posts of Staab et al. (2024) and the people of SynthPAI are measured on and nothing else: the heads
are the shipped ones, and of a post only the attribute that it was written to give away is known. The systems
are the default policy and the controls of an audit. Finished parts are not repeated.

The words in ``eval/attacks/attribute_values.toml`` were written with some twenty posts of SPIA in sight; the
penalties were chosen by the same cross-fitting that is reported. How names are read and the size of countries
were changed after results and 35 outputs had been read, 15 of them posts of Staab et al.: no figure is of
data that nobody had looked at.
"""

import argparse
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from app.compose import system_of
from app.settings.load import load_settings
from eval.attacks.attribute_truths import KnownText, as_numbers, drawn, known_texts, posts_of, truths_of
from eval.attacks.attributes import AttributeAttack, ClueReader, value_names
from eval.corpora.corpus import Corpus
from eval.corpora.seen import PUBLISHED_POSTS, Exposure, exposures
from eval.experiment import Experiment
from eval.measures.inferred import inferred, protection_in
from eval.prepared import prepared
from eval.rows import Row
from eval.studies.audit.study import controls
from eval.studies.detection.study import machine_and_versions
from eval.targets import reading_once
from eval.tasks.inferred import InferredTask
from ingest.documents import Document
from ingest.protocols import Encoder
from models.attributes import Heads, load_heads
from models.catalog import ModelRef
from models.corpora.records import Row as Record
from models.corpora.records import parsed_lines
from models.encoders.minilm import MiniLM
from models.training.attributes import NAMES, AttributeRecipe, fit, folds_of, invented_names

OUTPUT = Path("benchmarks/results/attributes.json")
POSTS, STAAB, SYNTHPAI = PARTS = ("SPIA posts", "posts of Staab et al.", "SynthPAI")
MOST = {STAAB: 120, SYNTHPAI: 60}
"""Texts that are drawn: each person of SynthPAI has many comments, which are one text."""
OWN = "lethe"
_RESTRICTED = "noncommercial"


def main(argv: Sequence[str] | None = None) -> None:
    """Do the missing parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument("--part", choices=PARTS, action="append", help="parts to do (default all)")
    parser.add_argument("--commit", help="commit of the code, for the record")
    arguments = parser.parse_args(argv)
    report: dict[str, Any] = {"parts": {}}
    if arguments.output.is_file():
        report = json.loads(arguments.output.read_text(encoding="utf-8"))
    encoder = reading_once(MiniLM())
    for name in arguments.part or PARTS:
        if name not in report["parts"]:
            rows, attributes = measured(arguments.data, name, encoder)
            report["parts"][name] = {system: figures(those, attributes) for system, those in rows.items()}
            report["provenance"] = machine_and_versions({}, arguments.commit).model_dump(mode="json")
            arguments.output.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def measured(data: Path, name: str, encoder: Encoder) -> tuple[dict[str, list[Row]], Sequence[str]]:
    """The rows of each system, and the attributes that there are heads for."""
    texts = dict(enumerate(_texts(data, name)))
    documents = {number: Document(str(number), each.text) for number, each in texts.items()}
    truths = {str(number): each.truths for number, each in texts.items()}
    if name == POSTS:
        attacks = list(_by_fold(data, [each.group for each in texts.values()], encoder))
    else:
        heads = load_heads(ModelRef(), value_names())
        attacks = [(AttributeAttack(encoder, heads), list(documents))]
    tasks = [
        InferredTask([documents[number] for number in numbers], attack, truths)
        for attack, numbers in attacks
        if numbers
    ]
    ready = prepared(system_of(load_settings({})), Corpus(name, list(documents.values())))
    systems = {OWN: ready.system, **controls(ready, 0)}
    experiment = Experiment(list(documents.values()), systems, dict.fromkeys(systems, tasks))
    found = {done.system: [row for those in done.rows.values() for row in those] for done in experiment.run()}
    return found, attacks[0][0].attributes


def _by_fold(
    data: Path, groups: Sequence[str], encoder: Encoder
) -> Iterator[tuple[AttributeAttack, list[int]]]:
    """An attack for each fold, which learned from the other folds, and the posts of the fold."""
    recipe = AttributeRecipe()
    known = drawn(known_texts(data), recipe.seed)
    read = ClueReader(encoder).read([each.text for each in known])
    learned = as_numbers(known, read, invented_names(NAMES, recipe.seed), encoder)
    shipped = load_heads(ModelRef(), value_names()).heads
    mine = folds_of(groups, recipe.folds)
    for fold in range(recipe.folds):
        heads = {
            each.attribute: fit(each, recipe, folds_of(each.groups, recipe.folds) == fold)
            for each in learned
            if each.attribute in shipped
        }
        numbers = [number for number, of in enumerate(mine.tolist()) if of == fold]
        yield AttributeAttack(encoder, Heads(f"lethe-attributes, fold {fold}", heads)), numbers


def _texts(data: Path, name: str) -> list[KnownText]:
    if name == POSTS:
        posts = posts_of(data)
        rows = parsed_lines(
            data / "spia" / "panorama_subjects.jsonl", lambda row, _: str(row["metadata"]["data_id"])
        )
        ids = list(rows)
        seen = exposures(data, PUBLISHED_POSTS, ids)
        unseen = zip(posts, ids, strict=True)
        return [post for post, doc_id in unseen if seen[doc_id] is not Exposure.LEARNED and post.truths]
    folder, parse = ("llmprivacy_synthetic", _post) if name == STAAB else ("synthpai", _person)
    texts = parsed_lines(data / _RESTRICTED / folder / "data.jsonl", lambda row, _: parse(row))
    known = [each for each in texts if each.truths]
    return random.Random(0).sample(known, min(MOST[name], len(known)))


def _post(row: Record) -> KnownText:
    known = {row["feature"]: row["personality"].get(row["feature"])}
    return KnownText(str(row["response"]), truths_of(known), "", STAAB)


def _person(row: Record) -> KnownText:
    return KnownText("\n".join(row["comments"]), truths_of(row["profile"]), str(row["id"]), SYNTHPAI)


def figures(rows: Sequence[Row], attributes: Sequence[str]) -> dict[str, Any]:
    """The figures of each attribute and of all together, and what is protected of each person and of all."""
    sets: Mapping[str, Sequence[str]] = {**{each: (each,) for each in attributes}, "all": attributes}
    found: dict[str, Any] = {
        name: asdict(inferred(rows, those)) for name, those in sets.items() if _known(rows, those)
    }
    return {
        "inferred": found,
        "protection": asdict(protection_in(rows, attributes)),
        "not measured": sum(not row.measured for row in rows),
    }


def _known(rows: Sequence[Row], attributes: Sequence[str]) -> bool:
    return bool(inferred(rows, attributes).strict.n)


if __name__ == "__main__":
    main()
