"""The number of documents refused or doubtful for their language: ``python -m benchmarks.languages DATA``.

``DATA`` is the folder of the corpora. The counts go into ``benchmarks/results/languages.json``. No threshold
was chosen on these corpora.
"""

import argparse
import gzip
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from eval.measures.uncertainty import share_of
from eval.provenance import commit_here, provenance_here
from ingest.detection.doubts import doubts_of
from ingest.language.identification import languages_of

RESULTS = Path(__file__).parent / "results" / "languages.json"
CORPORA = (
    ("ewt_email", "data.jsonl", "text", "English"),
    ("mts_dialog", "data.jsonl", "dialogue", "English"),
    ("aci_bench", "data.jsonl", "note", "English"),
    ("tab", "dev.jsonl", "text", "English"),
    ("medqa", "data.jsonl", "question", "English"),
    ("medquad", "data.jsonl.gz", "answer", "English"),
    ("litbank", "all.jsonl", "text", "English"),
    ("meddocan_es", "train.jsonl", "text", "Spanish"),
)
MOST = 2_000
"""The number of documents read per corpus."""


def texts(path: Path, name: str) -> Iterator[str]:
    """The non-empty texts of one field."""
    opened = gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8")
    with opened as lines:
        for line, _ in zip(lines, range(MOST), strict=False):
            text = json.loads(line).get(name)
            if isinstance(text, str) and text.strip():
                yield text


def main() -> None:
    """Count, and write the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder of the corpora")
    data = parser.parse_args().data
    rows = []
    for corpus, file, name, language in CORPORA:
        documents = refused = 0
        doubts: Counter[str] = Counter()
        for text in texts(data / corpus / file, name):
            documents += 1
            refused += languages_of(text).is_foreign
            doubts.update(doubts_of(text))
        share = asdict(share_of(refused, documents))
        rows.append({"corpus": corpus, "language": language, "refused": share, "doubts": dict(doubts)})
        print(json.dumps(rows[-1]))
    report = {"provenance": provenance_here({}, commit_here()).model_dump(), "rows": rows}
    RESULTS.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
