"""Trimming the vocabulary of multilingual-e5-small to the pieces of the supported languages."""

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from models.corpora.passages import passages
from models.encoders.e5_file import E5File
from models.encoders.pieces import packed
from models.encoders.words import UNK, words_of
from models.errors import ConfigurationError

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from torch import Tensor

LANGUAGES = {
    **dict.fromkeys(("en", "de", "fr", "es", "it", "nl", "pt"), 1.0),
    **dict.fromkeys(("ca", "cs", "pl", "ro", "sv", "da", "nb", "fi", "hu", "tr", "sh", "sk", "sl"), 0.05),
    **dict.fromkeys(("lt", "lv", "id", "fil", "is", "vi"), 0.05),
}
"""The languages whose words the vocabulary is for, and their weights; the others lend names."""
PIECES = 48_000
"""Fewer split many more words, and more hardly other ones."""
_WRITTEN = {"lower": 0.6, "title": 0.3, "upper": 0.05}
_GLUED = 0.1
"""Weight of a word without a space before it."""
_LETTERS = ((0, 0x530), (0x1E00, 0x2200), (0x300, 0x370))
"""Code points that are kept by themselves: Latin, Greek, Cyrillic, accents and signs."""


def trimmed(model: E5File, pieces: int = PIECES) -> "dict[str, Tensor]":
    """The input layer with the most frequent pieces, as ``models.encoders.pieces`` reads it.

    Raises ConfigurationError without the library that has the frequencies.
    """
    import torch

    kept = chosen_pieces(model, pieces)
    weight, bias = model.first_norm
    return {
        "pieces": packed([model.pieces[number] for number in kept]),
        "scores": torch.tensor(model.scores[kept]),
        "normalized": packed(sorted(model.normalized.items())),
        "words.codes": torch.tensor(model.words.codes[kept]),
        "words.scales": torch.tensor(model.words.scales[kept]),
        "positions": torch.tensor(model.positions).half(),
        "norm.weight": torch.tensor(weight),
        "norm.bias": torch.tensor(bias),
    }


def chosen_pieces(model: E5File, number: int) -> list[int]:
    """The pieces that are kept: those with a meaning, single signs, and the most frequent ones."""
    from tokenizers import Tokenizer, models

    whole = Tokenizer(models.Unigram(list(zip(model.pieces, model.scores.tolist(), strict=True)), unk_id=UNK))
    normalized = {ord(old): new for old, new in model.normalized.items()}
    counts: Counter[int] = Counter()
    for language, weight in LANGUAGES.items():
        _count(counts, whole, _written(_frequencies(language), weight, normalized))
    texts: Counter[str] = Counter()
    for passage in passages("learn"):
        for start, end in words_of(passage.text):
            glued = start and not passage.text[start - 1].isspace()
            texts[("" if glued else "\u2581") + passage.text[start:end].translate(normalized)] += 1
    _count(counts, whole, {word: count * 1e-5 for word, count in texts.items()})
    single = [
        place
        for place, piece in enumerate(model.pieces)
        if len(piece.replace("\u2581", "")) <= 1
        and (piece == "\u2581" or any(low <= ord(piece[-1]) < high for low, high in _LETTERS))
    ]
    return list(dict.fromkeys([*range(UNK + 1), *single, *(place for place, _ in counts.most_common())]))[
        :number
    ]


def _frequencies(language: str) -> Mapping[str, float]:
    try:
        from wordfreq import get_frequency_dict  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise ConfigurationError(
            "The frequencies of words are from the library wordfreq: install it with 'pip install wordfreq'."
        ) from None
    found: Mapping[str, float] = get_frequency_dict(language, wordlist="best")
    return found


def _written(
    frequencies: Mapping[str, float], weight: float, normalized: Mapping[int, str]
) -> dict[str, float]:
    made: dict[str, float] = {}
    for word, frequency in frequencies.items():
        for form, share in _WRITTEN.items():
            spelled = getattr(word, form)().translate(normalized)
            made["\u2581" + spelled] = made.get("\u2581" + spelled, 0.0) + frequency * weight * share
            made[spelled] = made.get(spelled, 0.0) + frequency * weight * share * _GLUED
    return made


def _count(counts: "Counter[int]", tokenizer: "Tokenizer", words: Mapping[str, float]) -> None:
    for (_, weight), encoding in zip(
        words.items(), tokenizer.encode_batch(list(words), add_special_tokens=False), strict=True
    ):
        for piece in encoding.ids:
            counts[piece] += weight  # type: ignore[assignment]
