"""Resolve a user's files, folders and patterns to files, in a stable order."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from ingest.errors import UnreadableDocument

_WILD = frozenset("*?[")
_UNPRINTED = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class LeadsOut(OSError):
    """A link below a folder leads out of it."""


@dataclass(frozen=True, slots=True)
class Walk:
    """How folders are read: whether links out of them are followed, and which origins alone, if not all."""

    follow_links: bool = False
    only: frozenset[str] | None = field(default=None, repr=False)

    def root_of(self, named: str) -> str:
        """The folder that no link may lead out of: a named one, or that of a pattern.

        It is "" where links are followed, and for a file that the user names: its link is what was meant.
        """
        path = Path(named)
        if self.follow_links or not named:
            return ""
        if _is_pattern(path):
            return str(_split(path)[0])
        return named if _is_folder(path) else ""

    def takes(self, item: Path | UnreadableDocument, named: str) -> bool:
        """Whether what lies behind a named path is asked for."""
        if self.only is None:
            return True
        return (item.source if isinstance(item, UnreadableDocument) else origin(item, named)) in self.only


FOLDERS_ALONE = Walk()


def files_of(named: str, walk: Walk = FOLDERS_ALONE) -> Iterator[Path | UnreadableDocument]:
    """The files behind a path or pattern, sorted within each folder, or why there are none.

    A folder stands for all files below it, hidden ones left out. A folder that links lead to twice is read
    once; one outside is not entered. In a pattern ``**`` stands for any folders. Links among the files are
    checked by who opens them (``opened``).
    """
    if not named:
        yield UnreadableDocument("an empty path", "names nothing; write . for the folder you are in")
        return
    found = False
    for item in _expanded(named, walk.root_of(named)):
        found = True
        if walk.takes(item, named):
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


def upload_origin(name: str) -> str:
    """The origin of a file that was uploaded under a name: no path of this machine."""
    return f"upload:{name}"


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


def opened(path: Path, root: str, flags: int = 0) -> int:
    """The descriptor of a file or folder opened for reading; waits for nobody who writes into a pipe.

    Raises:
        LeadsOut: It does not lie below the root, "" for none. What was opened is what is checked, so nothing
            can be put in its place in between.
        OSError: It cannot be opened.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | flags)
    try:
        if root and not Path(f"/proc/self/fd/{handle}").readlink().is_relative_to(os.path.realpath(root)):
            raise LeadsOut
    except BaseException:
        os.close(handle)
        raise
    return handle


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
        case LeadsOut():
            return (
                "was skipped: a link leads out of the folder to it; name it, or give --follow-links or set "
                "ingest.follow_links to read all that links lead to"
            )
        case FileNotFoundError():
            return "does not exist; check the path"
        case PermissionError():
            return "may not be read; give the user of this program the right to read it"
    return f"could not be read ({error.strerror or type(error).__name__}); check the disk and try again"


def _expanded(named: str, root: str) -> Iterator[Path | UnreadableDocument]:
    path = Path(named)
    if not _is_pattern(path):
        yield from _below(path, root) if _is_folder(path) else [path]
        return
    folder, pattern = _split(path)
    if "**" in pattern:
        for item in _below(folder, root):
            if isinstance(item, UnreadableDocument) or _matches(item.relative_to(folder).parts, pattern):
                yield item
        return
    for match in _matching(folder, pattern, root):
        if isinstance(match, Path) and _is_folder(match):
            yield from _below(match, root)
        else:
            yield match


def _is_pattern(path: Path) -> bool:
    return bool(_WILD & set(str(path))) and not exists(path)


def _split(path: Path) -> tuple[Path, tuple[str, ...]]:
    """The folder of a pattern and the parts from the first wild card on."""
    fixed = next(number for number, part in enumerate(path.parts) if _WILD & set(part))
    return Path(*path.parts[:fixed]), path.parts[fixed:]


def _matching(folder: Path, pattern: Sequence[str], root: str) -> Iterator[Path | UnreadableDocument]:
    """The files and folders of a pattern without ``**``; hidden ones only where it says so."""
    first, *rest = pattern
    try:
        _, names = _listed(folder, root)
    except OSError as error:
        yield UnreadableDocument(shown(folder), os_problem(error), canonical(folder))
        return
    for name in names:
        path = folder / name
        if not fnmatchcase(name, first) or (name.startswith(".") and not first.startswith(".")):
            continue
        if not rest:
            yield path
        elif _is_folder(path):
            yield from _matching(path, rest, root)


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


def _below(top: Path, root: str) -> Iterator[Path | UnreadableDocument]:
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
            identity, names = _listed(path, root)
            if identity in seen:
                continue
            seen.add(identity)
            stack.append(map(path.joinpath, (name for name in names if not name.startswith("."))))
        except OSError as error:
            yield UnreadableDocument(shown(path), os_problem(error), origin(path, top))


def _listed(folder: Path, root: str) -> tuple[tuple[int, int], list[str]]:
    """What identifies a folder, and its names in order. They are no paths: a folder can hold millions."""
    handle = opened(folder, root, os.O_DIRECTORY)
    try:
        status = os.fstat(handle)
        with os.scandir(handle) as entries:
            return (status.st_dev, status.st_ino), sorted(entry.name for entry in entries)
    finally:
        os.close(handle)
