"""The free corpora as examples: every one in its own layout, under our labels, with our splits."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import chain, islice
from pathlib import Path

from models.corpora import documents, sentences
from models.corpora.detokenize import PLAIN, SPLIT
from models.corpora.examples import Example
from models.corpora.labels import (
    MEDQUAD_ANSWERS,
    MEDQUAD_SHARE,
    Part,
    asked_labels,
    block_of,
    corpus_facts,
    held_out_cases,
    held_out_share,
    mapped_corpora,
)
from models.corpora.records import Row, parsed_lines
from models.corpora.sentences import PASSAGE_WORDS, Sentence, passages
from models.errors import ConfigurationError


def corpora_in(folder: Path) -> tuple[str, ...]:
    """The names of the corpora whose folders lie under ``folder``, in the order they are read."""
    folders = {name: folder / corpus_facts(name).get("folder", name) for name in mapped_corpora()}
    return tuple(name for name, path in folders.items() if path.is_dir())


def read_corpora(folder: Path, part: Part, leave_out: Collection[str] = ()) -> Iterator[Example]:
    """Every example of ``part`` of every corpus under ``folder`` but those that ``leave_out`` names.

    A corpus whose folder is missing is skipped. Raises ConfigurationError where ``leave_out`` names no
    corpus, a file is missing, or a line is broken.
    """
    unknown = sorted(set(leave_out) - set(mapped_corpora()))
    if unknown:
        names = ", ".join(mapped_corpora())
        raise ConfigurationError(
            f"There is no training corpus named {', '.join(unknown)}: the names are {names}."
        )
    return chain.from_iterable(
        _READERS[name](folder, part) if name in _READERS else _sentences(folder, name, part)
        for name in corpora_in(folder)
        if name not in leave_out
    )


def medquad_training_docs(folder: Path) -> frozenset[str]:
    """The pages in the training part; exclude them when measuring on held-out pages."""
    return held_out_share((answer.group for answer in documents.medquad_answers(folder)), MEDQUAD_SHARE)


def _medquad(folder: Path, part: Part) -> Iterator[Example]:
    if part == "held_out":
        return iter(())
    docs = medquad_training_docs(folder)
    seen = (answer for answer in documents.medquad_answers(folder) if answer.group in docs)
    examples = (documents.example_of("medquad", each, each.id) for each in islice(seen, MEDQUAD_ANSWERS))
    # Nobody is protected there.
    return (replace(each, needs=()) for each in examples)


def _tab(folder: Path, part: Part) -> Iterator[Example]:
    path = folder / documents.TAB_FILE
    cases = list(parsed_lines(path, lambda row, _: documents.example_of("tab", documents.tab_case(row))))
    named = {one.group for one in _cases(folder, "held_out")}
    kept = held_out_cases((case.group for case in cases), named)
    return (case for case in cases if (case.group in kept) == (part == "held_out"))


def _spia_cases(folder: Path, part: Part) -> Iterator[Example]:
    kept: set[str] = set()
    if part == "train":
        # The same case must not be in the training part of one corpus and held out in the other.
        kept = {one.group for one in _cases(folder, "held_out")}
        if (folder / "tab").is_dir():
            kept |= {one.group for one in _tab(folder, "held_out")}
    return (one for one in _cases(folder, part) if one.group not in kept)


def _cases(folder: Path, part: Part) -> Iterator[Example]:
    for file in corpus_facts("spia_cases")[part]:
        yield from parsed_lines(
            folder / "spia" / f"{file}.jsonl", lambda row, _: documents.court_case(documents.spia_text(row))
        )


def _posts(folder: Path, part: Part) -> Iterator[Example]:
    path = folder / "spia" / f"{documents.POSTS}.jsonl"
    posts = parsed_lines(path, lambda row, _: documents.post(documents.spia_text(row)))
    return _side("spia_posts", posts, part)


def _presidio(folder: Path, part: Part) -> Iterator[Example]:
    path = folder / "presidio_synth" / "data.jsonl"
    return _side("presidio_synth", parsed_lines(path, lambda row, _: documents.presidio(row)), part)


def _litbank(folder: Path, part: Part) -> Iterator[Example]:
    lines = parsed_lines(folder / "litbank" / "all.jsonl", lambda row, _: documents.litbank(row))
    found = passages("litbank", chain.from_iterable(lines), asked_labels("litbank"), PASSAGE_WORDS)
    return _side("litbank", found, part)


def _crossner(folder: Path, part: Part) -> Iterator[Example]:
    # Its fields share some sentences; training sentences are excluded from the held-out part.
    learned = {example.text for example in _crossner(folder, "train")} if part == "held_out" else set()
    for file in corpus_facts("crossner")[part]:
        lines = parsed_lines(
            folder / "crossner" / f"{file}.jsonl", lambda row, _: sentences.plain("crossner", row, row["id"])
        )
        found = passages("crossner", lines, asked_labels("crossner", file.split("_")[0]), 0)
        yield from (example for example in found if example.text not in learned)


def _side(corpus: str, examples: Iterable[Example], part: Part) -> Iterator[Example]:
    """The given part of a corpus that we split ourselves."""
    found = list(examples)
    share = Fraction(corpus_facts(corpus)["held_out_share"])
    kept = held_out_share((one.group for one in found), share)
    return (one for one in found if (one.group in kept) == (part == "held_out"))


def _sentences(folder: Path, corpus: str, part: Part) -> Iterator[Example]:
    """A corpus of tokens: its lines joined to passages, or each alone."""
    facts, parse = corpus_facts(corpus), _PARSERS[corpus]

    def of_file(file: str) -> Iterator[Sentence]:
        path = folder / corpus / f"{file}.jsonl"
        return parsed_lines(path, lambda row, number: parse(row, number, file))

    lines = chain.from_iterable(map(of_file, facts.get(part) or facts["files"]))
    found = passages(corpus, lines, asked_labels(corpus), 0 if facts.get("alone") else PASSAGE_WORDS)
    return _side(corpus, found, part) if "held_out_share" in facts else found


_READERS: dict[str, Callable[[Path, Part], Iterator[Example]]] = {
    "tab": _tab,
    "spia_cases": _spia_cases,
    "spia_posts": _posts,
    "litbank": _litbank,
    "crossner": _crossner,
    "presidio_synth": _presidio,
    "medquad": _medquad,
}
_PARSERS: dict[str, Callable[[Row, int, str], Sentence]] = {
    "gum": lambda row, number, file: sentences.gum(row),
    "re3d": lambda row, number, file: sentences.re3d(row),
    "wikigold": lambda row, number, file: sentences.plain("wikigold", row, block_of("wikigold", number)),
    "uner_ewt": lambda row, number, file: sentences.uner(row),
    # Its training posts were cut at blanks, the others at every mark.
    "wnut17": lambda row, number, file: sentences.tweet("wnut17", row, PLAIN if file == "train" else SPLIT),
    "broad_twitter": lambda row, number, file: sentences.tweet("broad_twitter", row, PLAIN),
    "sec_filings": lambda row, number, file: sentences.sec(row, number),
    "bc5cdr": lambda row, number, file: sentences.biomedical("bc5cdr", row, number),
    "ncbi_disease": lambda row, number, file: sentences.biomedical("ncbi_disease", row, number),
}
"""By corpus: how a line becomes a sentence, given its number in its file."""
