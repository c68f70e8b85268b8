"""The edits that a search may choose among, and the deletions among them: closed rules for English.

A sentence goes where the next one does not lean on it; so does what a post begins with before a colon, and
each hashtag behind a sentence. What remains is true, because the rest only adds to it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ingest.documents import Span
from ingest.language.sentences import MAX_CHARACTERS, split_sentences
from ingest.spans import Replacement, substitute

Kind = Literal["sentence", "phrase", "wording", "entity"]

_LEANS = re.compile(
    r"(?i)\W*(?:but|however|so|then|that|this|these|those|it|they|he|she|him|her|his|its|their|them|which|who"
    r"|because|and|or|nor|yet|still|also|too|otherwise|instead|yes|yeah|yep|no|nope|nah|not|either|neither"
    r"|both|same|such|thus|therefore|hence|though|although|even|anyway|besides|moreover|furthermore"
    r"|additionally|plus|finally|second|third|next|another|others?|ones?|there|here|why|what|how|if"
    r"|afterwards|later|meanwhile|kidding|just kidding|joking|jk|psych|wrong|right|true|false|exactly|maybe"
    r"|perhaps|again|since then|after that|first|for example|for instance|in fact|turns out|until|unless"
    r"|except|only)\b"
)
"""How a sentence begins that leans on the one before it."""
_NAME = r"[A-Z][\w.’'-]*(?: [A-Z][\w.’'-]*){0,2}"
_LABEL = re.compile(rf"\A\s*(?:@[\w.-]+ ?|{_NAME} ): (?=\S)")
_LABELS = re.compile(rf"(?m)^\s*(?:@[\w.-]+|{_NAME})\s?: ")
_TAGS = re.compile(r"(?:\W+#\w+)+\W*$")
_HASHTAG = re.compile(r"\s+#\w+")


@dataclass(frozen=True, slots=True)
class Edit:
    """Disjoint replacements that are made together or not at all; deletions have no words. Private."""

    kind: Kind
    replacements: tuple[Replacement, ...] = field(repr=False)


def together(edits: Iterable[Edit]) -> list[Replacement] | None:
    """The replacements of all edits in text order; None where two of them cannot both be made.

    What lies within a deletion goes with it. Other overlaps are none that both could be made of.
    """
    replacements = {each for edit in edits for each in edit.replacements}
    kept: list[Replacement] = []
    for span, words in sorted(replacements, key=lambda pair: (pair[0].start, -pair[0].end)):
        if not kept or not kept[-1][0].overlaps(span):
            kept.append((span, words))
        elif kept[-1][1] or span.end > kept[-1][0].end:
            return None
    return kept


def written(text: str, edits: Sequence[Edit]) -> str | None:
    """The text after all edits, None where two cannot both be made.

    A capital begins it where its beginning went; nothing else of the text is changed.
    """
    made = together(edits)
    if made is None:
        return None
    after = substitute(text, made).strip(" ")
    return after[:1].upper() + after[1:] if made and made[0][0].start == 0 and not made[0][1] else after


def deletions(text: str) -> list[Edit]:
    """All deletions, each of which leaves whole sentences; they are not all made together."""
    sentences = sentences_of(text)
    found: list[tuple[Kind, Span]] = [("sentence", each) for each in _sentences(text, sentences)]
    if (label := _LABEL.match(text)) and len(_LABELS.findall(text)) == 1:
        found.append(("phrase", Span(*label.span())))
    for span, whole in sentences:
        if whole and (tags := _TAGS.search(text, span.start, span.end)) and tags.start() > span.start:
            each_tag = _HASHTAG.finditer(text, tags.start(), span.end)
            found += [("phrase", Span(*tag.span())) for tag in each_tag]
    return [Edit(kind, ((span, ""),)) for kind, span in found if _is_balanced(text[span.start : span.end])]


def sentences_of(text: str) -> list[tuple[Span, bool]]:
    """The places of the sentences and lines of a text, and whether each is a whole one."""
    found: list[tuple[Span, bool]] = []
    cursor = 0
    for said in split_sentences(text):
        match = re.compile(r"\s+".join(map(re.escape, said.split()))).search(text, cursor)
        if match is None:
            continue
        cursor = match.end()
        ends = said[-1] in '.!?…"”’)' or "\n" in text[cursor : cursor + 3] or not text[cursor:].strip()
        # A piece of a longer sentence is none.
        found.append((Span(*match.span()), ends and len(said) < MAX_CHARACTERS - 60))
    return found


def _sentences(text: str, sentences: Sequence[tuple[Span, bool]]) -> Iterator[Span]:
    """What goes with each sentence that no other leans on: the blanks up to the next, or the last."""
    said = [text[span.start : span.end] for span, _ in sentences]
    words = [len(each.split()) for each in said]
    for n, (span, whole) in enumerate(sentences):
        last = n + 1 == len(sentences)
        leant_on = not last and (_LEANS.match(said[n + 1]) or said[n].endswith((":", ",", " no.")))
        told = n and (not sentences[n - 1][1] or said[n - 1].endswith((":", "?", " no.", " No.")))
        if whole and not leant_on and not told and sum(words) - words[n] > 2:
            start = sentences[n - 1][0].end if last else span.start
            yield Span(start, len(text) if last else sentences[n + 1][0].start)


def _is_balanced(said: str) -> bool:
    """Whether words have both or none of each pair of quotation marks and brackets."""
    return said.count('"') % 2 == 0 and all(said.count(a) == said.count(b) for a, b in ("“”", "()", "[]"))
