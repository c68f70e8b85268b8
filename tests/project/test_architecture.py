import ast
from collections.abc import Iterator
from pathlib import Path

from tests.commands import imported_by

ROOT = Path(__file__).parents[2]
ROOMS = ("models", "ingest", "retrieval", "eval", "app")
HEAVY = ("torch", "transformers", "sentence_transformers", "gliner", "faiss", "llama_cpp", "openai", "ray")
FILES = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))


def imports_of(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module or ""


# In each room a file may import those of its own step and of the steps before it.
STEPS = {
    "models": "errors vectors packs progress loopback remembering local_files catalog trained pull corpora "
    "encoders gliner_model risk reader answers bits wording judges attributes fields language training",
    "ingest": "documents labels spans annotated errors protocols temporary private_files keys readers "
    "language read detection linking wording scoring deciding protecting synthesizing explain "
    "sanitize pipeline workers on_ray langchain_transformer",
    "retrieval": "documents errors writing protocols search index citations store manifest "
    "passages collection reviewing retriever guards generators langchain_adapters system",
    "eval": "documents progress rows measures targets corpora provenance attacks "
    "experiment prepared tasks studies reports",
    "app": "machine presets settings policies data_dir access compose preloaded demo "
    "rows ingesting on_ray dry_run erasing auditing langchain_store explaining "
    "jobs sanitizing marked server cli",
}


def module_of(path: Path) -> list[str]:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return [part for part in parts if part != "__init__"]


def test_imports_point_inward() -> None:
    outward = []
    for path in FILES:
        room, *inside = module_of(path)
        steps = STEPS.get(room, "").split()
        for name in imports_of(ast.parse(path.read_text(encoding="utf-8"))):
            other, *step = name.split(".")
            inward = other not in ROOMS or ROOMS.index(other) <= ROOMS.index(room)
            if other == room and steps and inside and step:
                inward = steps.index(step[0]) <= steps.index(inside[0])
            if not inward or other == "tests":
                outward.append(f"{path.relative_to(ROOT)} imports {name}")
    assert not outward


def test_only_one_place_builds_a_sanitized_document() -> None:
    builders = {
        str(path.relative_to(ROOT))
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "SanitizedDocument"
    }
    assert builders == {"ingest/sanitize.py"}


def test_only_one_module_downloads() -> None:
    fetching = ("snapshot_download", "hf_hub_download")
    downloading = set()
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in fetching:
                local = any(
                    keyword.arg == "local_files_only"
                    and isinstance(keyword.value, ast.Constant)
                    and keyword.value.value is True
                    for keyword in node.keywords
                )
                downloading |= set() if local else {str(path.relative_to(ROOT))}
    assert downloading == {"models/pull.py"}


def test_nothing_heavy_is_imported_with_a_module() -> None:
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in FILES]
    modules = [
        name.removesuffix(".__init__") for name in names if not name.endswith(("__main__", ".preloaded"))
    ]
    code = f"import importlib\nfor name in {modules!r}: importlib.import_module(name)"
    assert imported_by(code, HEAVY) == []


def test_help_imports_next_to_nothing() -> None:
    code = "from app.cli.arguments import parser\nfrom app.cli.main import main\nparser()"
    assert imported_by(code, ("numpy", "pydantic", "rich", "fastapi")) == []
