"""The free corpora as examples: every one in its own layout, under our labels, with our splits."""

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain
from pathlib import Path

from models.errors import ConfigurationError
from models.training.corpora import documents
from models.training.corpora.detokenize import PLAIN, SPLIT, Style
from models.training.corpora.passages import PASSAGE_WORDS, Sentence, passages
from models.training.corpora.posts import post
from models.training.corpora.records import Row, parsed_lines
from models.training.corpora.sentences import biomedical, gum, plain, re3d, sec, tweet, uner
from models.training.examples import Example
from models.training.label_maps import asked_labels
from models.training.splits import (
    HELD_OUT_SHARES,
    MEDQUAD_ANSWERS,
    MEDQUAD_SHARE,
    Part,
    block_of,
    files_of,
    held_out_cases,
    held_out_share,
)

Reader = Callable[[Path, Part], Iterable[Example]]


def corpora_in(folder: Path) -> tuple[str, ...]:
    """The names of the corpora whose folders lie under ``folder``, in the order they are read."""
    return tuple(name for name in _READERS if (folder / _FOLDERS.get(name, name)).is_dir())


def read_corpora(folder: Path, part: Part, leave_out: Collection[str] = ()) -> Iterator[Example]:
    """Every example of ``part`` of every corpus under ``folder`` but those that ``leave_out`` names.

    A corpus whose folder is missing is skipped.

    Raises:
        ConfigurationError: ``leave_out`` names no corpus, a file is missing, or a line is broken.
    """
    unknown = sorted(set(leave_out) - set(_READERS))
    if unknown:
        raise ConfigurationError(
            f"There is no training corpus named {', '.join(unknown)}: the names are {', '.join(_READERS)}."
        )
    return chain.from_iterable(
        _READERS[name](folder, part) for name in corpora_in(folder) if name not in leave_out
    )


def medquad_training_docs(folder: Path) -> frozenset[str]:
    """The pages whose answers are learned from; whoever measures on the others must leave these out."""
    path = folder / "medquad" / "data.jsonl.gz"
    return held_out_share(parsed_lines(path, lambda row, _: str(row["doc"])), MEDQUAD_SHARE)


def _medquad(folder: Path, part: Part) -> Iterator[Example]:
    if part == "held_out":
        return
    docs = medquad_training_docs(folder)
    count = 0
    for one in parsed_lines(folder / "medquad" / "data.jsonl.gz", lambda row, _: documents.medquad(row)):
        if one.group in docs and count < MEDQUAD_ANSWERS:
            count += 1
            yield one


def _tab(folder: Path, part: Part) -> Iterator[Example]:
    named = {one.group for one in _cases(folder, "held_out")}
    cases = list(parsed_lines(folder / "tab" / "dev.jsonl", lambda row, _: documents.tab_case(row)))
    kept = held_out_cases((case.group for case in cases), named)
    return (case for case in cases if (case.group in kept) == (part == "held_out"))


def _spia_cases(folder: Path, part: Part) -> Iterator[Example]:
    kept: set[str] = set()
    if part == "train":
        # A case must not be learned under one corpus and measured under the other.
        kept = {one.group for one in _cases(folder, "held_out")}
        if (folder / "tab").is_dir():
            kept |= {one.group for one in _tab(folder, "held_out")}
    return (one for one in _cases(folder, part) if one.group not in kept)


def _cases(folder: Path, part: Part) -> Iterator[Example]:
    for file in files_of("spia_cases", part):
        yield from parsed_lines(folder / "spia" / f"{file}.jsonl", lambda row, _: documents.spia_case(row))


def _shared(corpus: str, examples: Iterable[Example], part: Part) -> Iterator[Example]:
    """The side of a corpus that we split ourselves."""
    found = list(examples)
    kept = held_out_share((one.group for one in found), HELD_OUT_SHARES[corpus])
    return (one for one in found if (one.group in kept) == (part == "held_out"))


def _posts(folder: Path, part: Part) -> Iterator[Example]:
    path = folder / "spia" / "panorama_entities.jsonl"
    return _shared("spia_posts", parsed_lines(path, lambda row, _: post(row)), part)


def _presidio(folder: Path, part: Part) -> Iterator[Example]:
    path = folder / "presidio_synth" / "data.jsonl"
    return _shared("presidio_synth", parsed_lines(path, lambda row, _: documents.presidio(row)), part)


def _litbank(folder: Path, part: Part) -> Iterator[Example]:
    lines = parsed_lines(folder / "litbank" / "all.jsonl", lambda row, _: documents.litbank(row))
    return _shared("litbank", _together("litbank", chain.from_iterable(lines)), part)


def _re3d(folder: Path, part: Part) -> Iterator[Example]:
    lines = parsed_lines(folder / "re3d" / "all.jsonl", lambda row, _: re3d(row))
    return _shared("re3d", _together("re3d", lines), part)


def _wikigold(folder: Path, part: Part) -> Iterator[Example]:
    lines = parsed_lines(
        folder / "wikigold" / "all.jsonl",
        lambda row, number: plain("wikigold", row, block_of("wikigold", number)),
    )
    return _shared("wikigold", _together("wikigold", lines), part)


def _uner(folder: Path, part: Part) -> Iterator[Example]:
    lines = parsed_lines(folder / "uner_ewt" / "dev.jsonl", lambda row, _: uner(row))
    return _shared("uner_ewt", _together("uner_ewt", lines), part)


def _gum(folder: Path, part: Part) -> Iterator[Example]:
    return _together("gum", _lines(folder, "gum", part, lambda row, _: gum(row)))


def _sec(folder: Path, part: Part) -> Iterator[Example]:
    return _together("sec_filings", _lines(folder, "sec_filings", part, sec))


def _bc5cdr(folder: Path, part: Part) -> Iterator[Example]:
    return _alone("bc5cdr", _lines(folder, "bc5cdr", part, lambda row, at: biomedical("bc5cdr", row, at)))


def _ncbi(folder: Path, part: Part) -> Iterator[Example]:
    lines = _lines(folder, "ncbi_disease", part, lambda row, at: biomedical("ncbi_disease", row, at))
    return _alone("ncbi_disease", lines)


def _wnut(folder: Path, part: Part) -> Iterator[Example]:
    for file in files_of("wnut17", part):
        # Its training posts were cut at blanks, the others at every mark.
        yield from _tweets(folder, "wnut17", file, PLAIN if file == "train" else SPLIT)


def _broad_twitter(folder: Path, part: Part) -> Iterator[Example]:
    for file in files_of("broad_twitter", part):
        yield from _tweets(folder, "broad_twitter", file, PLAIN)


def _tweets(folder: Path, corpus: str, file: str, style: Style) -> Iterator[Example]:
    path = folder / corpus / f"{file}.jsonl"
    return _alone(corpus, parsed_lines(path, lambda row, _: tweet(corpus, row, style)))


def _crossner(folder: Path, part: Part) -> Iterator[Example]:
    # Its fields share some sentences of the encyclopedia; what was learned from is not measured on.
    learned = {example.text for example in _crossner(folder, "train")} if part == "held_out" else set()
    for file in files_of("crossner", part):
        lines = parsed_lines(
            folder / "crossner" / f"{file}.jsonl", lambda row, _: plain("crossner", row, row["id"])
        )
        found = passages("crossner", lines, asked_labels("crossner", file.split("_")[0]), 0)
        yield from (example for example in found if example.text not in learned)


def _lines(
    folder: Path, corpus: str, part: Part, parse: Callable[[Row, int], Sentence]
) -> Iterator[Sentence]:
    for file in files_of(corpus, part):
        yield from parsed_lines(folder / corpus / f"{file}.jsonl", parse)


def _together(corpus: str, lines: Iterable[Sentence]) -> Iterator[Example]:
    return passages(corpus, lines, asked_labels(corpus), PASSAGE_WORDS)


def _alone(corpus: str, lines: Iterable[Sentence]) -> Iterator[Example]:
    return passages(corpus, lines, asked_labels(corpus), 0)


_FOLDERS = {"spia_cases": "spia", "spia_posts": "spia"}
_READERS: dict[str, Reader] = {
    "tab": _tab,
    "spia_cases": _spia_cases,
    "spia_posts": _posts,
    "gum": _gum,
    "litbank": _litbank,
    "re3d": _re3d,
    "wikigold": _wikigold,
    "uner_ewt": _uner,
    "wnut17": _wnut,
    "broad_twitter": _broad_twitter,
    "crossner": _crossner,
    "sec_filings": _sec,
    "bc5cdr": _bc5cdr,
    "ncbi_disease": _ncbi,
    "presidio_synth": _presidio,
    "medquad": _medquad,
}
