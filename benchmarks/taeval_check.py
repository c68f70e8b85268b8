"""``python -m benchmarks.taeval_check DATA`` holds recall and precision to another implementation of them.

taeval 1.2.0 (PyPI, MIT) is the tool of the authors of INTACT's measures. The files that were published lack
its package ``tae.metrics``, so that ``import tae`` fails and none of its metrics runs. Its module
``tae.utils`` is whole: it reads gold annotations and says which mentions are masked and which annotators
agree, and recall and precision are sums of that. Those are compared, on the held-out cases that SPIA marked
and on the spans of two methods and of chance. Nothing else of it runs without a hub: TPS, TPI and weighted
precision ask BERT, TPS, NMI and TRIR further models, and the parts of speech that it ignores come from a
spaCy model. So it reads the text once without parts of speech, and once with those that our list of words
stands for.

Two differences are left in the second reading. Mentions that may stay count in its recall if another
mention of their entity has to go; and its tokens hold the full stop of "Mr.", which is then no title.

It is in no environment of ours but by choice: ``pip install 'lethe[taeval]'``. Without it the command says
so and does nothing.
"""

import argparse
import importlib.metadata
import importlib.util
import json
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from eval.corpora.marked import presidio_marks, replaced_cases
from eval.documents import MarkedDocument
from eval.measures.preserved import (
    FUNCTION_WORDS,
    Masked,
    Part,
    masked_parts,
    masked_shares,
    word_information,
)
from eval.provenance import commit_here, provenance_here
from eval.reports.render import markdown_table
from eval.reports.schema import Cell, Table
from eval.studies.intact.study import benchmark_cases
from ingest.documents import Span
from models.errors import ConfigurationError

RESULT = Path(__file__).parent / "results" / "taeval.json"
SHARES: Mapping[str, str] = {
    "direct": "direct entities",
    "quasi": "quasi entities",
    "entities": "entities",
    "mentions": "mentions",
    "tokens": "tokens",
    "token_precision": "token precision",
    "mention_precision": "mention precision",
}
"""The fields of ``Masked`` that are compared, and what tables call them."""
PLAIN, LISTED = "without parts of speech", "with ours"
CANNOT_RUN: Mapping[str, str] = {
    "every metric": "tae.metrics, which the published files lack, wheel and source alike: import tae fails",
    "TPS, TPI, weighted precision": "google-bert/bert-base-uncased from a hub, and en_core_web_md from spaCy",
    "TPS, NMI": "a sentence encoder from a hub",
    "TRIR": "distilbert-base-uncased from a hub, trained on the backgrounds",
}
"""What of it does not run here, and what it needs."""
Spans = Sequence[Sequence[Span]]
"""The masked spans of each document."""


class Missing(Exception):
    """A package that is needed is not installed."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print both figures and their difference, and keep them; 0 where it is not installed, too."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "data", type=Path, help="folder with a subfolder for each corpus, tab and spia among them"
    )
    parser.add_argument("--output", type=Path, default=RESULT, help="where to keep the figures, as JSON")
    given = parser.parse_args(arguments)
    try:
        utils = taeval_utils()
    except Missing as why:
        print(f"skipped: {why}")
        return 0
    commit = commit_here()
    documents, spans = inputs(given.data / "tab")
    found = {name: compared(utils, documents, each) for name, each in spans.items()}
    print(markdown_table(table_of(found), words=2))
    made = provenance_here({"taeval": importlib.metadata.version("taeval")}, commit).model_dump(mode="json")
    kept = {"provenance": made, "cases": len(documents), "cannot run": CANNOT_RUN, "shares": found}
    given.output.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    return 0


def taeval_utils() -> ModuleType:
    """The module ``tae.utils``, read without its package, whose import fails.

    Raises:
        Missing: taeval, or a package that the module imports, is not installed.
    """
    try:
        file = importlib.metadata.distribution("taeval").locate_file("tae/utils.py")
        spec = importlib.util.spec_from_file_location("taeval_utils", str(file))
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        # Its dataclasses ask for their module by name.
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    except (ImportError, FileNotFoundError) as error:
        name = getattr(error, "name", None) or "taeval"
        raise Missing(f"{name} is not installed; pip install 'lethe[taeval]'") from None
    return module


def inputs(path: Path) -> tuple[list[tuple[MarkedDocument, ...]], dict[str, Spans]]:
    """The marked held-out cases, and the spans that are compared on them."""
    everything = replaced_cases(path)
    marked = [tuple(each) for each in benchmark_cases(path, everything, everything).marked]
    texts = [each[0].document.text for each in marked]
    gold = _spans([case.marked for case in everything])
    stock = _spans(presidio_marks(path, [case.document for case in everything]))
    if not all(text in stock for text in texts):
        raise ConfigurationError(
            "Presidio's spans are not beside the corpus: take both as they were published."
        )
    rng = random.Random(0)
    return marked, {
        "none": [[] for _ in texts],
        "gold, all mentions": [gold[text] for text in texts],
        "half of gold": [[span for span in gold[text] if rng.random() < 0.5] for text in texts],
        "stock Presidio": [stock[text] for text in texts],
    }


def _spans(documents: Sequence[MarkedDocument]) -> dict[str, list[Span]]:
    return {
        each.document.text: sorted({Span(mark.start, mark.end) for mark in each.marks}) for each in documents
    }


def compared(
    utils: ModuleType, documents: Sequence[Sequence[MarkedDocument]], spans: Spans
) -> dict[str, dict[str, float | None]]:
    """Each share by ours, and by theirs under both readings."""
    information = word_information([each[0].document.text for each in documents])
    cases = list(zip(documents, spans, information, strict=True))
    ours = masked_shares([masked_parts(each, masked, table) for each, masked, table in cases])
    theirs = {
        reading: masked_shares(
            [their_parts(utils, each, masked, reading == LISTED) for each, masked, _ in cases]
        )
        for reading in (PLAIN, LISTED)
    }
    return {name: _values(name, ours, theirs) for name in SHARES}


def _values(name: str, ours: Masked, theirs: Mapping[str, Masked]) -> dict[str, float | None]:
    return {"ours": getattr(ours, name).value} | {
        reading: getattr(each, name).value for reading, each in theirs.items()
    }


def their_parts(
    utils: ModuleType, annotated: Sequence[MarkedDocument], spans: Sequence[Span], listed: bool
) -> dict[str, Part]:
    """The parts of each share of a document, as taeval's own methods answer."""
    text = annotated[0].document.text
    document = utils.Document("case", text, _parsed(text, listed), _annotations(annotated))
    masked = utils.MaskedDocument("case", [(span.start, span.end) for span in spans], [None for _ in spans])

    def protected(direct: bool, quasi: bool) -> Part:
        entities = document.get_entities_to_mask(direct, quasi)
        return Part(sum(document.is_masked(masked, each) for each in entities), len(entities))

    def gone(places: Sequence[tuple[int, int]]) -> Part:
        return Part(sum(document.is_mention_masked(masked, *each) for each in places), len(places))

    def agreed(places: Sequence[tuple[int, int]]) -> Part:
        annotators = [len(document.get_annotators_for_span(*each)) for each in places]
        return Part(sum(annotators), len(annotated) * len(places))

    mentions = [place for each in document.get_entities_to_mask() for place in each.mentions]
    tokens = [token for place in mentions for token in document.split_by_tokens(*place)]
    masked_tokens = [token for place in masked.masked_spans for token in document.split_by_tokens(*place)]
    precision = agreed(masked_tokens)
    return {
        "direct entities": protected(True, False),
        "quasi entities": protected(False, True),
        "entities": protected(True, True),
        "mentions": gone(mentions),
        "tokens": gone(tokens),
        "token precision": precision,
        "mention precision": agreed(masked.masked_spans),
        "weighted precision": precision,
    }


def _parsed(text: str, listed: bool) -> Any:
    """The tokens of the text; on request function words are marked as what taeval ignores."""
    import spacy

    parsed = spacy.blank("en")(text)
    for token in parsed if listed else ():
        if token.text.casefold() in FUNCTION_WORDS:
            token.pos_ = "ADP"
    return parsed


def _annotations(annotated: Sequence[MarkedDocument]) -> dict[str, dict[str, list[dict[str, object]]]]:
    return {
        f"annotator {number}": {
            "entity_mentions": [
                {
                    "entity_id": f"{number} {mark.entity}",
                    "entity_type": mark.type,
                    "identifier_type": mark.kind if mark.must == 2 else "NO_MASK",
                    "start_offset": mark.start,
                    "end_offset": mark.end,
                }
                for mark in each.marks
            ]
        }
        for number, each in enumerate(annotated)
    }


def table_of(found: Mapping[str, Mapping[str, Mapping[str, float | None]]]) -> Table:
    """A row for each method and share: ours, theirs, and the differences."""
    head = (
        "spans",
        "share",
        "ours",
        *(f"taeval {reading}" for reading in (PLAIN, LISTED)),
        "ours minus both",
    )
    return Table("", head, list(_rows(found)))


def _rows(found: Mapping[str, Mapping[str, Mapping[str, float | None]]]) -> Iterator[list[Cell | str]]:
    for spans, shares in found.items():
        for name, values in shares.items():
            ours, *theirs = (values[each] for each in ("ours", PLAIN, LISTED))
            differences = [f"{ours - each:+.4f}" for each in theirs if ours is not None and each is not None]
            figures = ["–" if each is None else f"{each:.4f}" for each in (ours, *theirs)]
            yield [spans, SHARES[name], *figures, ", ".join(differences) or "–"]


if __name__ == "__main__":
    sys.exit(main())
