"""``make house``: how large the project is and how its modules hang together, as a table.

``python -m benchmarks.house --picture`` draws which rooms import which.

Lines are those of Python files that git knows. Two commands are run on one invented letter, to count the
modules of ours that they import.
"""

import ast
import io
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from eval.reports.render import INK, STYLE, inline, standalone

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "pictures" / "rooms.svg"
WALK = ("models", "ingest", "retrieval", "eval", "app")
ROOMS = ("app", "benchmarks", "deploy", "eval", "ingest", "models", "retrieval")
LETTER = "Mr Tobias Quellmann called on 4 May 2021 about the boiler of the mill. It is broken.\n"
_COUNTED = f"""
import sys
from app.cli.main import main
code = main(sys.argv[1:])
print(sum(name.partition(".")[0] in {ROOMS!r} for name in sys.modules), file=sys.stderr)
sys.exit(code)
"""


def sources(room: str) -> list[Path]:
    """The Python files of a room that git knows."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", room], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return [
        ROOT / name for name in listed.stdout.split("\0") if name.endswith(".py") and (ROOT / name).is_file()
    ]


def lines_in(paths: Sequence[Path]) -> int:
    """Lines of all files together."""
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def module_of(path: Path) -> str:
    """The dotted name of a file."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imports_of(trees: Mapping[str, ast.Module]) -> dict[str, set[str]]:
    """By module the modules of ours that it imports when it is imported itself."""
    return {
        name: {each for each in _imported(tree) if each in trees} - {name} for name, tree in trees.items()
    }


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)
        elif isinstance(node, ast.Import):
            yield from (each.name for each in node.names)


def has_circle(imports: Mapping[str, set[str]]) -> bool:
    """Whether modules import each other in a circle."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError:
        return True
    return False


def used_once(tree: ast.Module) -> int:
    """Private functions and methods of a module that are named once in it, beside where they are made."""
    made = [
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("_") and not node.name.startswith("__")
    ]
    named = Counter(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    named += Counter(node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    return sum(named[name] == 1 for name in made)


def modules_of(*arguments: str) -> int:
    """How many modules of ours a command of ``lethe`` has imported when it ends."""
    ran = subprocess.run(
        [sys.executable, "-c", _COUNTED, *arguments], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return int(ran.stderr.split()[-1])


def rows() -> Iterator[tuple[str, str]]:
    """What is counted, and the figure."""
    paths = {room: sources(room) for room in ROOMS}
    for room, files in paths.items():
        yield f"lines of {room}, modules", f"{lines_in(files):,}, {len(files)}"
    every = [path for files in paths.values() for path in files]
    yield "lines of source, all rooms", f"{lines_in(every):,}"
    yield "lines of tests", f"{lines_in(sources('tests')):,}"
    texts = {module_of(path): path.read_text(encoding="utf-8") for path in every}
    trees = {name: ast.parse(text) for name, text in texts.items()}
    imports = imports_of(trees)
    users = Counter(each for own in imports.values() for each in own)
    yield "import circles", "some" if has_circle(imports) else "none"
    yield "modules that one other imports", f"{sum(users[name] == 1 for name in trees):,}"
    yield "private functions named once", f"{sum(map(used_once, trees.values())):,}"
    with tempfile.TemporaryDirectory() as folder:
        letter, data = Path(folder) / "letter.txt", str(Path(folder) / "data")
        letter.write_text(LETTER, encoding="utf-8")
        ingested = modules_of("ingest", str(letter), "-c", "house", "--data-dir", data)
        asked = modules_of("ask", "What is broken?", "-c", "house", "--data-dir", data)
    yield "modules of `lethe ingest`, of `lethe ask`", f"{ingested}, {asked}"
    yield "CHANGELOG, kB", f"{(ROOT / 'CHANGELOG.md').stat().st_size / 1000:.1f}"
    yield "lines of docs/decisions.md", str(lines_in([ROOT / "docs" / "decisions.md"]))


def between_rooms() -> set[tuple[str, str]]:
    """Which rooms of the walk import which others, late imports left aside."""
    files = [path for room in WALK for path in sources(room)]
    imports = imports_of({module_of(path): ast.parse(path.read_text(encoding="utf-8")) for path in files})
    pairs = {(name.split(".")[0], each.split(".")[0]) for name, own in imports.items() for each in own}
    return {(room, other) for room, other in pairs if room != other}


def picture() -> str:
    """The rooms and what they import, as SVG."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    file = io.StringIO()
    with rc_context(STYLE):
        figure = Figure(figsize=(8, 2.2))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(-0.5, len(WALK) - 0.5), ylim=(-0.3, 1))
        axes.axis("off")
        for place, room in enumerate(WALK):
            axes.text(place, 0, room, ha="center", va="center", bbox={"boxstyle": "round", "fill": False})
        for room, other in sorted(between_rooms()):
            first, last = WALK.index(room), WALK.index(other)
            arrow = {
                "arrowstyle": "->",
                "color": INK,
                "connectionstyle": f"arc3,rad={0.35 * (first - last > 1)}",
            }
            shift = 0.3 if first - last == 1 else 0.0
            height = 0.0 if first - last == 1 else 0.12
            axes.annotate("", (last + shift, height), (first - shift, height), arrowprops=arrow)
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    return standalone(
        inline(file.getvalue(), "The rooms in the order of the walk; an arrow leads to what is imported.")
    )


def main() -> None:
    """Print the table as Markdown, or write the picture of the rooms."""
    if "--picture" in sys.argv[1:]:
        PICTURE.write_text(picture(), encoding="utf-8")
        return
    print("| what | now |\n| --- | ---: |")
    for name, figure in rows():
        print(f"| {name} | {figure} |", flush=True)


if __name__ == "__main__":
    main()
