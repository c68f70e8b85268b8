"""What the figures of a benchmark depend on, as one digest: parts of another run must not be mixed in."""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path

from app.bench.options import Options
from app.compose import Services
from app.provenance import source_digest
from app.settings import Settings
from app.settings_report import settings_digest
from eval.corpora.bench_corpus import BenchCorpus
from eval.report import provenance_here
from models.catalog import ModelRef, Role, folder_of


def run_digest(
    services: Services,
    bench: BenchCorpus,
    options: Options,
    encoders: Sequence[str],
    source: str | None = None,
) -> str:
    """32 hexadecimal digits that differ where anything differs that the figures depend on.

    ``source`` digests the code, None for that of this process. A model's file counts by its size and time
    of change; what comes with the code is held to its own digest when it is loaded.

    Raises:
        ModelUnavailable: A folder that the settings name is not there.
    """
    settings = services.settings
    found = blake2b(digest_size=16)
    made_with = (
        settings_digest(settings),
        settings.generator.model_dump(mode="json", exclude={"api_key"}),
        list(encoders),
        options,
        _files(_model_paths(settings, options.encoders)),
        sorted(provenance_here({}).versions.items()),
        version("lethe"),
        source or source_digest(),
        (bench.name, bench.split, bench.source),
    )
    found.update(repr(made_with).encode())
    for document in bench.documents:
        found.update(repr((document.doc_id, document.text)).encode())
    for question in bench.questions:
        found.update(repr((question.question_id, question.text, question.answer, question.about)).encode())
    for doc_id, rows in (bench.gold or {}).items():
        found.update(repr((doc_id, [dict(row) for row in rows])).encode())
    return found.hexdigest()


def _model_paths(settings: Settings, encoders: Iterable[ModelRef]) -> list[Path]:
    """Files and folders of the models in use that are not the code's own."""
    used: list[tuple[ModelRef, Role]] = [(settings.encoder, "encoder")]
    used += [(ref, "encoder") for ref in encoders]
    if settings.detector.learned:
        used.append((settings.detector.model, "detector"))
    if settings.risk.kind == "learned":
        used.append((settings.risk.model, "risk"))
    found = [folder_of(ref, role) for ref, role in used if ref.source != "embedded"]
    gguf = settings.generator.path
    return found if gguf is None else [*found, gguf]


def _files(paths: Iterable[Path]) -> list[tuple[str, int, int]]:
    """Name, bytes and time of change of every file; where a model lies makes no difference."""
    found = []
    for path in paths:
        inside = [path] if path.is_file() else sorted(each for each in path.rglob("*") if each.is_file())
        for file in inside:
            told = file.stat()
            found.append((str(file.relative_to(path.parent)), told.st_size, told.st_mtime_ns))
    return found
