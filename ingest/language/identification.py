"""Language identification: documents are accepted in the languages that the reader learned.

A text is classified in windows of whole lines, since a Polish letter may follow an English one, and also by
sentence, since single Polish sentences may occur among English ones.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from math import inf

from ingest.documents import ACCEPTED
from ingest.language.sentences import split_sentences
from models.language.identification import language_shares

WINDOW = 400
"""Window size in characters: shorter ones are unreliable, longer ones hide a foreign passage."""
FEWEST_LETTERS = 20
"""Below this share the language of a window of Latin letters is unknown."""
FEWEST_BESIDE_NAMES = 12
"""Below so many letters in words without a capital, names are all that speaks for another language."""
LIKELY = 0.5
"""The share from which a window is taken to be in a language."""
FEWEST_LETTERS_OF_A_SENTENCE = 40
"""A shorter sentence is classified only with its context."""
HARDLY = 0.02
"""A sentence whose share of accepted languages lies below is in another; Latin names seldom get there."""
SURELY = 0.9
"""The share from which a passage is in another language than English, and gets no English words."""
FOREIGN = 0.25
"""The share of a text's letters from which it counts as written in another language."""

FEWEST_OF_OTHER_SCRIPT = 4
"""From so many letters beyond Latin on they are a text and no symbols."""
_WORD = re.compile(r"[^\W\d_]+")
_NONE = "zxx"
_ACCEPTED = "an accepted language"
_OTHER = "another language"
_OTHER_SCRIPT = "a script other than Latin"
_LATIN = re.compile("[A-Za-z\u00aa\u00ba\u00c0-\u024f\u1e00-\u1eff]")
_NAMES = dict.fromkeys((*ACCEPTED, "pcm"), _ACCEPTED) | dict(
    entry.split("=")
    for entry in (
        "af=Afrikaans ar=Arabic bg=Bulgarian bn=Bengali ca=Catalan cs=Czech cy=Welsh da=Danish "
        "el=Greek et=Estonian eu=Basque fa=Persian fi=Finnish ga=Irish gl=Galician gu=Gujarati "
        "he=Hebrew hi=Hindi hr=Croatian hu=Hungarian id=Indonesian is=Icelandic ja=Japanese ko=Korean "
        "la=Latin lb=Luxembourgish lt=Lithuanian lv=Latvian ms=Malay mt=Maltese nb=Norwegian "
        "nn=Norwegian no=Norwegian pa=Punjabi pl=Polish ro=Romanian ru=Russian sk=Slovak sl=Slovenian "
        "sq=Albanian sr=Serbian sv=Swedish sw=Swahili ta=Tamil te=Telugu th=Thai tl=Tagalog tr=Turkish "
        "uk=Ukrainian ur=Urdu vi=Vietnamese wuu=Chinese yue=Chinese zh=Chinese"
    ).split()
)
"""What is said of a code; Nigerian Pidgin reads as English."""

_REMEMBERED = 4_096


@dataclass(frozen=True, slots=True)
class Languages:
    """The numbers of letters of a text in accepted languages, in unknown and in each other language."""

    accepted: int
    unknown: int
    others: Mapping[str, int]

    @property
    def foreign(self) -> str:
        """The name of the language that most of the other letters are in; empty if there are none."""
        return max(self.others, key=lambda name: (self.others[name], name)) if self.others else ""

    @property
    def is_foreign(self) -> bool:
        """Whether so much is in other languages that the text counts as written in one."""
        others = sum(self.others.values())
        return others > 0 and others >= FOREIGN * (self.accepted + self.unknown + others)

    @property
    def is_unknown(self) -> bool:
        """Whether the text is too short, or too much of a list, to say what it is written in."""
        return self.accepted <= self.unknown and not self.others


_recent: dict[bytes, Languages] = {}


def languages_of(text: str) -> Languages:
    """The languages of ``text``, by letters. The last texts are remembered, by digest: several steps ask."""
    key = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    found = _recent.get(key)
    if found is None:
        if len(_recent) >= _REMEMBERED:
            _recent.clear()
        found = _recent[key] = _counted(text)
    return found


def is_english(text: str) -> bool:
    """Whether a passage is not surely in another language; one of few letters counts as English."""
    if sum(map(str.isalpha, text)) < FEWEST_LETTERS_OF_A_SENTENCE:
        return True
    shares = language_shares(unicodedata.normalize("NFKC", text))
    return (
        max(shares.get(code, 0.0) for code in ("en", "pcm", _NONE)) >= 1 - SURELY
        or max(shares.values()) < SURELY
    )


def _counted(text: str) -> Languages:
    accepted = unknown = 0
    others: Counter[str] = Counter()
    normal = unicodedata.normalize("NFKC", text)
    for window in _windows(normal):
        letters = sum(map(str.isalpha, window))
        beyond_latin = "".join(filter(str.isalpha, _LATIN.sub("", window)))
        if len(beyond_latin) >= FEWEST_OF_OTHER_SCRIPT:
            others[_likeliest(beyond_latin) or _OTHER_SCRIPT] += len(beyond_latin)
            letters -= len(beyond_latin)
        language = _likeliest(window) if letters >= FEWEST_LETTERS else ""
        if language not in ("", _ACCEPTED):
            language = _without_names(window)
        if language == _ACCEPTED:
            accepted += letters
        elif language:
            others[language] += letters
        else:
            unknown += letters
    hidden = _in_sentences(normal)
    for language in hidden.keys() - others.keys():
        # They were counted with the windows that they stand in.
        others[language] = hidden[language]
        accepted = max(0, accepted - hidden[language])
    return Languages(accepted, unknown, others)


def _in_sentences(text: str) -> Counter[str]:
    """The number of letters in sentences that are surely in no accepted language, by language."""
    found: Counter[str] = Counter()
    for sentence in split_sentences(text):
        letters = sum(map(str.isalpha, sentence))
        if letters < FEWEST_LETTERS_OF_A_SENTENCE or not _likeliest(sentence, HARDLY):
            continue
        if (language := _without_names(sentence, HARDLY)) not in ("", _ACCEPTED):
            found[language] += letters
    return found


def _without_names(text: str, most_accepted: float = inf) -> str:
    """As ``_likeliest``, by words without a capital: names are of any language. Empty for too few."""
    words = _WORD.findall(text)
    rest = " ".join(each for each in words if not each[0].isupper() or each.isupper())
    return _likeliest(rest, most_accepted) if sum(map(str.isalpha, rest)) >= FEWEST_BESIDE_NAMES else ""


def _likeliest(text: str, most_accepted: float = inf) -> str:
    """The name of the likely language, ``_ACCEPTED`` for any of these together; empty if none is.

    Empty also if the accepted ones are above ``most_accepted``.
    """
    shares: dict[str, float] = {}
    for code, share in language_shares(text).items():
        name = _NAMES.get(code, code)
        shares[name] = shares.get(name, 0.0) + share
    shares.pop(_NONE, None)
    best = max(shares, key=lambda name: shares[name])
    if shares[best] < LIKELY or shares[_ACCEPTED] > most_accepted:
        return ""
    return best if best in _NAMES.values() else _OTHER


def _windows(text: str) -> Iterator[str]:
    """Whole lines up to ``WINDOW`` characters; a longer line is cut, at a blank where there is one."""
    held = ""
    for line in text.splitlines(keepends=True):
        start = 0
        while len(line) - start > WINDOW:
            blank = line.rfind(" ", start + 1, start + WINDOW)
            end = blank if blank > 0 else start + WINDOW
            yield held + line[start:end]
            held, start = "", end
        if len(held) + len(line) - start > WINDOW:
            yield held
            held = ""
        held += line[start:]
    if held:
        yield held
