"""Resolve a user's files, folders and patterns to files, in a stable order."""

import os
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from ingest.errors import UnreadableDocument

_WILD = frozenset("*?[")
_UNPRINTED = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def files_of(named: str) -> Iterator[Path | UnreadableDocument]:
    """The files behind a path or pattern, sorted within each folder, or why there are none.

    A folder stands for all files below it, hidden ones left out. A folder that links lead to twice is read
    once. In a pattern ``**`` stands for any folders.
    """
    if not named:
        yield UnreadableDocument("an empty path", "names nothing; write . for the folder you are in")
        return
    found = False
    for item in _expanded(named):
        found = True
        yield item
    if not found:
        what = "holds" if exists(Path(named)) else "matches"
        yield UnreadableDocument(shown(named), f"{what} no file; check the path", canonical(named))


def canonical(path: str | Path) -> str:
    """The one name of a file or folder, however it is spelled: absolute, links followed, ``..`` resolved.

    What does not exist has one too, so that a document can be erased whose file is gone.
    """
    return shown(os.path.realpath(path))


def origin(path: Path, named: str | Path) -> str:
    """A file's origin: its path below the named folder, without following links below it.

    So a link's target belongs to the folder, and is removed with it.
    """
    root = Path(named)
    if path != root and path.is_relative_to(root):
        return shown(Path(canonical(root), path.relative_to(root)))
    return shown(Path(canonical(path.parent), path.name))


def path_id(named: str) -> str:
    """The id of a document named after its file: a path, or a path with "#" and a number."""
    path, mark, number = named.rpartition("#")
    return f"{canonical(path)}#{number}" if mark and number.isdecimal() else canonical(named)


def shown(path: str | Path) -> str:
    """A path as it can be printed on one line and stored, whatever its name is made of.

    Control characters, line breaks, marks that turn the direction of writing and bytes that are no text are
    written as escapes.
    """
    text = str(path).encode("utf-8", "backslashreplace").decode()
    return _UNPRINTED.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def exists(path: Path) -> bool:
    """Whether a path exists; one without read permission counts as existing."""
    try:
        path.stat()
    except FileNotFoundError:
        return False
    except (OSError, ValueError):
        return True
    return True


def os_problem(error: OSError) -> str:
    """An operating system error as a sentence with a remedy."""
    match error:
        case FileNotFoundError():
            return "does not exist; check the path"
        case PermissionError():
            return "may not be read; give the user of this program the right to read it"
    return f"could not be read ({error.strerror or type(error).__name__}); check the disk and try again"


def _expanded(named: str) -> Iterator[Path | UnreadableDocument]:
    path = Path(named)
    if exists(path) or not _WILD & set(named):
        yield from _below(path) if _is_folder(path) else [path]
        return
    fixed = next(number for number, part in enumerate(path.parts) if _WILD & set(part))
    folder, pattern = Path(*path.parts[:fixed]), path.parts[fixed:]
    if "**" in pattern:
        for item in _below(folder):
            if isinstance(item, UnreadableDocument) or _matches(item.relative_to(folder).parts, pattern):
                yield item
        return
    for match in sorted(folder.glob("/".join(pattern))):
        if not any(_hidden(*pair) for pair in zip(match.relative_to(folder).parts, pattern, strict=True)):
            yield from _below(match) if _is_folder(match) else [match]


def _hidden(name: str, pattern: str) -> bool:
    return name.startswith(".") and not pattern.startswith(".")


def _matches(parts: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    if not pattern:
        return not parts
    if pattern[0] != "**":
        return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])
    return len(pattern) == 1 or any(_matches(parts[start:], pattern[1:]) for start in range(len(parts)))


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False


def _below(top: Path) -> Iterator[Path | UnreadableDocument]:
    """All files below a folder, depth first, each folder's names sorted; folders are seen once each."""
    seen: set[tuple[int, int]] = set()
    stack: list[Iterator[Path]] = [iter([top])]
    while stack:
        path = next(stack[-1], None)
        if path is None:
            stack.pop()
            continue
        try:
            if len(stack) > 1 and not path.is_dir():
                yield path
                continue
            status = path.stat()
            if (status.st_dev, status.st_ino) in seen:
                continue
            seen.add((status.st_dev, status.st_ino))
            stack.append(_named_in(path))
        except OSError as error:
            yield UnreadableDocument(shown(path), os_problem(error), origin(path, top))


def _named_in(folder: Path) -> Iterator[Path]:
    # Names are kept and not paths: a folder can hold millions.
    names = sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith("."))
    return (folder / name for name in names)
