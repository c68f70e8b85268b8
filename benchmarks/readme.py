"""``python -m benchmarks.readme`` makes README.md, its picture and docs/commands.md.

Figures come from ``benchmarks/results``, verbs and options from the parser.
"""

import argparse
import subprocess
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from app.cli.arguments import parser, verbs
from app.compose import system_of
from app.demo import corpus_path
from app.settings.load import load_settings
from benchmarks import yardstick
from eval.reports.render import draw, standalone
from ingest.documents import Document, SanitizedDocument
from ingest.errors import SanitizationError
from ingest.read.sources import read_documents

ROOT = Path(__file__).parents[1]

SHARED_BY = 3
"""Options of at least this many verbs are described once."""

PARAGRAPHS = (
    ("clinic-023", "Event:"),
    ("office-019", "About the other thing"),
    ("office-023", "Tue."),
    ("office-008", "(08:41"),
    ("tribunal-023", "GRIEVANCE APPEAL"),
)
"""Paragraphs of the invented corpus that the README shows: the document, and how they begin."""


def main() -> None:
    """Rewrite both pages."""
    (ROOT / "README.md").write_text(readme(), encoding="utf-8")
    (ROOT / "docs" / "pictures" / "cost.svg").write_text(picture(), encoding="utf-8")
    (ROOT / "docs" / "commands.md").write_text(commands(), encoding="utf-8")


def readme() -> str:
    """The README with its paragraphs before and after, and the table of results."""
    text = (ROOT / "docs" / "README.template.md").read_text(encoding="utf-8")
    tables = yardstick.tables()
    filled = {
        "@PICTURE@": before_after(),
        "@YARDSTICK@": tables["yardstick"],
        "@MEASURED@": tables["measured"],
        "@DIFFERENCES@": tables["differences"],
        "@QUOTED@": tables["quoted"],
    }
    for place, words in filled.items():
        text = text.replace(place, words)
    return text


def picture() -> str:
    """What each method costs and what it protects, as SVG."""
    drawn = draw(yardstick.cost())
    assert drawn is not None, "pip install 'lethe[reports]'"
    return standalone(drawn)


def commands() -> str:
    """The page of all verbs, with the output of its code."""
    text = (ROOT / "docs" / "commands.template.md").read_text(encoding="utf-8")
    options = {verb.prog.removeprefix("lethe "): _options(verb) for verb in every_verb(parser())}
    times = Counter(line for lines in options.values() for line in lines.values())
    shared = {line for line, count in times.items() if count >= SHARED_BY}
    filled = {
        "@PYTHON@": printed(python_block(text)),
        "@SHARED@": "\n".join(line for line in times if line in shared),
        "@VERBS@": "\n\n".join(_section(name, lines, shared) for name, lines in options.items()),
    }
    for place, words in filled.items():
        text = text.replace(place, words)
    return text


def before_after() -> str:
    """The paragraphs of the invented corpus before and after, as a diff; each document is sanitized whole."""
    read = (each.item for each in read_documents([str(corpus_path())]))
    texts = {each.doc_id: each.text for each in read if isinstance(each, Document)}
    documents = [Document(doc_id, texts[doc_id]) for doc_id, _ in PARAGRAPHS]
    shown = []
    for (doc_id, begin), after in zip(PARAGRAPHS, _sanitized(documents), strict=True):
        pairs = zip(texts[doc_id].split("\n\n"), after.split("\n\n"), strict=True)
        shown.append(next(_diff(old, new) for old, new in pairs if old.startswith(begin)))
    return "\n\n".join(shown)


def _sanitized(documents: Sequence[Document]) -> list[str]:
    outcomes = system_of(load_settings({})).sanitizer().sanitize(documents)
    for outcome in outcomes:
        if isinstance(outcome, SanitizationError):
            raise outcome
    return [outcome.text for outcome in outcomes if isinstance(outcome, SanitizedDocument)]


def _diff(before: str, after: str) -> str:
    old, new = before.splitlines(), after.splitlines()
    return "\n".join([*(f"- {line}" for line in old), *(f"+ {line}" for line in new)])


def every_verb(top: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Each verb, followed by the verbs below it."""
    for action in top._actions:
        if isinstance(action, argparse._SubParsersAction):
            for verb in action.choices.values():
                yield verb
                yield from every_verb(verb)


def _options(verb: argparse.ArgumentParser) -> dict[str, str]:
    """A line for each option, by how it is spelled."""
    return {
        _spelled(action): f"- {_spelled(action)}: {action.help}"
        for action in verb._actions
        if action.dest != "help" and not isinstance(action, argparse._SubParsersAction)
    }


def _section(name: str, lines: Mapping[str, str], shared: Collection[str]) -> str:
    paragraph, example = (verbs()[name][key] for key in ("about", "example"))
    own = [line for line in lines.values() if line not in shared]
    common = ", ".join(spelled for spelled, line in lines.items() if line in shared)
    options = "\n".join([*own, *([f"- shared: {common}"] if common else [])])
    return "\n\n".join([f"### lethe {name}", paragraph, f"    {example}", options]).rstrip()


def _spelled(action: argparse.Action) -> str:
    """An option with its value, or the name of a positional argument."""
    value = str(action.metavar or "|".join(action.choices or ()) or action.dest.upper())
    forms = [f"`{form}`" if action.nargs == 0 else f"`{form} {value}`" for form in action.option_strings]
    return ", ".join(forms) or f"`{value}`"


def python_block(text: str) -> str:
    """The example of a page."""
    return text.split("```python\n")[1].split("```")[0]


def printed(code: str) -> str:
    """The output of the example, run in a separate process."""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


if __name__ == "__main__":
    main()
