"""A GLiNER model over texts of any length: every word is read, whatever the model's own limit.

GLiNER (Zaratiana and others, 2024, arXiv:2311.08526) finds the spans of a text that fit labels
given as words. The library reads the first ``max_len`` words of a text and drops the rest with a
warning, and its tokenizer may drop more without one. Here windows are cut that fit both limits.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from threading import Lock
from typing import Any

from models.catalog import ModelRef, folder_of, reference
from models.encoders.windows import Limits, Window, windows
from models.errors import ConfigurationError, LetheError, ModelUnavailable
from models.local_files import best_device, quiet
from models.packs import packs
from models.progress import report

LONGEST_WORD = 64
"""Longer runs without a space are read in pieces, so that none overfills a window."""
FEWEST_TEXT_TOKENS = 2 * LONGEST_WORD
"""Less room than this beside the labels is refused."""
BATCHES_PER_CALL = 32
"""Number of batches passed to the library at once; bounds memory."""

Word = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class FoundSpan:
    """Characters ``start`` to ``end`` carry ``label``, with a score in [0, 1]."""

    start: int
    end: int
    label: str
    score: float


class GlinerModel:
    """Finds spans with a GLiNER model from this machine's files. Safe to call from many threads."""

    def __init__(
        self, model: ModelRef | Path | str, labels: Sequence[str], threshold: float = 0.5, batch_size: int = 8
    ) -> None:
        """Load ``model``, a folder or a hub id in the local cache, to look for ``labels``.

        ``threshold`` in [0, 1] is the least score of a span. Raises ModelUnavailable where files or the
        library are missing, ConfigurationError where labels or numbers do not do.
        """
        self.labels = tuple(dict.fromkeys(labels))
        if not self.labels or not all(self.labels):
            raise ConfigurationError(
                "A GLiNER detector needs labels to look for: give at least one, and none empty."
            )
        if not 0 <= threshold <= 1:
            raise ConfigurationError(f"The detector's threshold is {threshold}: give a number from 0 to 1.")
        if batch_size < 1:
            raise ConfigurationError(f"The detector's batch size is {batch_size}: give 1 or more.")
        ref = reference(model)
        self.name = Path(ref.name).name if ref.source == "path" else ref.name
        self._threshold = threshold
        self._batch_size = batch_size
        self._model = _load(folder_of(ref, "detector"), self.name)
        processor = self._model.data_processor
        self._split = processor.words_splitter
        # A window's words are those that it was made of: splitting it anew could give one too many.
        self._given: dict[str, list[Word]] = {}
        processor.words_splitter = lambda text: iter(self._given[text])
        self._limits = _limits_of(self._model, self.labels, self.name)
        self._lock = Lock()

    def find(self, texts: Sequence[str]) -> list[list[FoundSpan]]:
        """The spans of each text, by start; nothing for an empty text.

        The answer for a text depends on neither its neighbors nor the batch size. Raises
        ``LetheError`` if the model fails; the message does not quote the text.
        """
        with self._lock:
            try:
                return self._find(texts)
            except Exception as error:
                raise LetheError(
                    f"The detector {self.name} failed on a batch of {len(texts)} texts "
                    f"({type(error).__name__}): check that its files are whole and that it fits into memory."
                ) from None
            finally:
                self._given.clear()

    def _find(self, texts: Sequence[str]) -> list[list[FoundSpan]]:
        words = [self._words(text) for text in texts]
        spans = [[(start, end) for _, start, end in of_text] for of_text in words]
        jobs: list[tuple[int, int, Window]] = []
        for index, text in enumerate(texts):
            sizes = self._sizes(words[index])
            for window in windows(len(text), spans[index], self._limits, sizes):
                if window.first < window.last:
                    jobs.append((sum(sizes[window.first : window.last]), index, window))
        # Windows of like length share a batch, whatever text they come from.
        jobs.sort(key=lambda job: (job[0], job[1], job[2].first))
        found: list[list[tuple[Window, list[FoundSpan]]]] = [[] for _ in texts]
        for pack in packs(jobs, self._batch_size * BATCHES_PER_CALL):
            pieces = [texts[index][window.start : window.end] for _, index, window in pack]
            self._given = {
                piece: [
                    (word, start - window.start, end - window.start)
                    for word, start, end in words[index][window.first : window.last]
                ]
                for piece, (_, index, window) in zip(pieces, pack, strict=True)
            }
            answers = self._model.inference(
                pieces,
                list(self.labels),
                flat_ner=True,
                threshold=self._threshold,
                multi_label=False,
                batch_size=self._batch_size,
            )
            for (_, index, window), piece_spans in zip(pack, answers, strict=True):
                found[index].append((window, _found(piece_spans, window.start, self.labels)))
            report(sum(size for size, _, _ in pack))
        return [merge(of_text, spans[index]) for index, of_text in enumerate(found)]

    def _words(self, text: str) -> list[Word]:
        """The model's own words of ``text``, the longest ones in pieces."""
        return [
            (text[at : min(at + LONGEST_WORD, end)], at, min(at + LONGEST_WORD, end))
            for _, start, end in self._split(text)
            for at in range(start, end, LONGEST_WORD)
        ]

    def _sizes(self, words: Sequence[Word]) -> list[int]:
        """The number of text encoder tokens of each word."""
        distinct = list(dict.fromkeys(word for word, _, _ in words))
        if not distinct:
            return []
        ids = self._model.data_processor.transformer_tokenizer(
            [[word] for word in distinct], is_split_into_words=True, add_special_tokens=False, verbose=False
        )["input_ids"]
        size = {word: len(tokens) for word, tokens in zip(distinct, ids, strict=True)}
        return [size[word] for word, _, _ in words]


def _load(folder: Path, name: str) -> Any:
    _check_folder(folder, name)
    with quiet():
        try:
            from gliner import GLiNER

            model = GLiNER.from_pretrained(str(folder), local_files_only=True, map_location=best_device())
        except ImportError:
            raise ModelUnavailable(
                f"The detector {name} needs the library gliner, which is not here:",
                "install gliner, or use the embedded detector.",
            ) from None
        except Exception as error:
            raise ModelUnavailable(
                f"The detector {name} could not be loaded from its folder ({type(error).__name__}):",
                "copy or pull its files again; a model without a tokenizer of its own also needs "
                "its backbone, which 'lethe models pull' fetches with it.",
            ) from None
    model.eval()
    return model


def _check_folder(folder: Path, name: str) -> None:
    settings = folder / "gliner_config.json"
    if not settings.is_file():
        raise ModelUnavailable(
            f"The detector {name} is no GLiNER model:", "its folder needs a gliner_config.json."
        )
    # The library would fetch and run code that a configuration names.
    if '"auto_map"' in settings.read_text(encoding="utf-8", errors="replace"):
        raise ModelUnavailable(
            f"The detector {name} wants to run code of its own (auto_map) and is refused:",
            "use a model of a known architecture.",
        )


def _limits_of(model: Any, labels: Sequence[str], name: str) -> Limits:
    config = model.config
    further = ("labels_decoder", "relations_layer", "precomputed_prompts_mode")
    if config.model_type == "gliner_streaming_span" or any(getattr(config, each, None) for each in further):
        raise ModelUnavailable(
            f"The detector {name} is an unsupported kind of GLiNER ({config.model_type}):",
            "use a span or token model, with one encoder or two.",
        )
    words = int(config.max_len)
    room = min(_positions(model) - _prompt_size(model, labels), 4 * words)
    if room < FEWEST_TEXT_TOKENS:
        raise ConfigurationError(
            f"The {len(labels)} labels leave the detector {name} room for {max(room, 0)} tokens of "
            f"text, and {FEWEST_TEXT_TOKENS} are needed: name fewer or shorter labels."
        )
    # Twice the widest span, so that it is seen whole and with words around it.
    overlap = min(max(2 * int(config.max_width), words // 8), words // 2)
    return Limits(tokens=words, overlap=overlap, size=room)


def _positions(model: Any) -> int:
    """Maximum positions of the text encoder; a large number if positions are relative."""
    limit = int(model.data_processor.transformer_tokenizer.model_max_length)
    backbone = model.config.encoder_config
    if getattr(backbone, "position_biased_input", True):
        # RoBERTa's table has two places that no token takes.
        limit = min(limit, getattr(backbone, "max_position_embeddings", limit + 2) - 2)
    return limit


def _prompt_size(model: Any, labels: Sequence[str]) -> int:
    """The number of prompt tokens: special tokens and, with one encoder, the labels."""
    processor = model.data_processor
    if getattr(model.config, "labels_encoder", None):
        return int(processor.transformer_tokenizer.num_special_tokens_to_add())
    prompts, _ = processor.prepare_inputs([[]], list(labels))
    ids = processor.transformer_tokenizer(prompts[0], is_split_into_words=True, verbose=False)
    return len(ids["input_ids"])


def _found(answers: Sequence[dict[str, Any]], offset: int, labels: Sequence[str]) -> list[FoundSpan]:
    return [
        FoundSpan(offset + each["start"], offset + each["end"], each["label"], float(each["score"]))
        for each in answers
        if each["label"] in labels
    ]


def merge(
    found: Iterable[tuple[Window, Sequence[FoundSpan]]], tokens: Sequence[tuple[int, int]]
) -> list[FoundSpan]:
    """Merge the spans of all windows over ``tokens``, in offsets of the whole text, sorted by start.

    The result is the union: every character marked in any window stays marked. Using only the window in which
    a span is farther from the edge would lose spans of the other one, and missed mentions are published. A
    span at the inner edge of its window may be a fragment, so it is joined with every overlapping span of its
    label and takes the higher score. Thus a span no longer than the overlap is found whole.
    """

    def is_cut(span: FoundSpan, window: Window) -> bool:
        return (window.first > 0 and span.start <= tokens[window.first][0]) or (
            window.last < len(tokens) and span.end >= tokens[window.last - 1][1]
        )

    pieces = [(span, is_cut(span, window)) for window, spans in found for span in spans]
    pieces.sort(key=lambda each: (each[0].label, each[0].start, -each[0].end, each[1], -each[0].score))
    joined = [span for _, same in groupby(pieces, key=lambda piece: piece[0].label) for span in _join(same)]
    return sorted(joined, key=lambda span: (span.start, span.end, span.label))


def _join(pieces: Iterable[tuple[FoundSpan, bool]]) -> list[FoundSpan]:
    """Join the fragments among spans of one label, sorted by start."""
    joined: list[tuple[FoundSpan, bool]] = []
    for span, cut in pieces:
        last, last_cut = joined[-1] if joined else (FoundSpan(-1, -1, "", 0.0), False)
        same = (last.start, last.end) == (span.start, span.end)
        if same or ((last_cut or cut) and span.start < last.end):
            hull = replace(last, end=max(last.end, span.end), score=max(last.score, span.score))
            joined[-1] = (hull, cut and last_cut)
        else:
            joined.append((span, cut))
    # A hull may be what was found whole, too.
    spans = sorted((span for span, _ in joined), key=lambda span: span.score)
    return list({(span.start, span.end): span for span in spans}.values())
