"""What can be dropped from a text so that whole, true sentences remain: by closed rules, for English.

A sentence goes where the next one does not lean on it. Of a sentence goes what is set off from it: brackets,
hashtags at its end and pictures, what introduces it before a comma, what is added behind one, a clause of
time or reason at its end, one of two main clauses. What remains is true because the rest only adds to it: no
rule acts where a negation, a condition, a quantity or a question could turn the rest around.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ingest.documents import Span
from ingest.language.sentences import MAX_CHARACTERS, split_sentences
from ingest.protecting.edits import Edit, deletion


def _any(words: str) -> str:
    """A pattern of any of the words, in which an underscore is a blank."""
    return rf"(?:{'|'.join(each.replace('_', ' ') for each in words.split())})"


_END = r"(?=\s*[.!?…]*[\"”’)]*\s*$)"
"""Before what closes a sentence."""
_STUFF = r"[^,;:()\n]{2,110}?"
_SUBJECT = rf"{_any('I we you he she they it there this that')}\b"
_AUX = _any(
    "am is are was were has have had do does did will can could may might must should would 's 're 'm 've"
)
_GREETING = re.compile(r"(?i)(?:hi|hey|hello)(?: \w+){1,3}[,!:] ")
_WHOLE = re.compile(
    rf"(?i)[\"“']?(?:(?:hi|hey|hello)(?: \w+){{0,3}}[,!:] )?"
    rf"(?:{_any('so well yes oh hi hey honestly today yesterday now then here')},? )?"
    rf"(?:{_SUBJECT}(?:['’]\w+)?\s+\S+|my [\w'’-]+ and I\s+\S+"
    rf"|{_any('my our the a an this these those some')}\s(?:[\w'’-]+\s){{1,4}}{_AUX}\s+\S+)"
)
"""The beginning of what has a subject and a verb."""
_TURNS = re.compile(
    r"(?i)\b"
    + _any(
        "not no never nobody nothing none nowhere neither nor cannot without hardly barely "
        "rarely seldom few little only just except unless if whether until till than every "
        "everyone everything all always any anyone each most would could should might may wish "
        "pretend imagine hope doubt deny avoid stop stopped refuse refused fail failed too "
        "as_if supposed maybe perhaps almost nearly"
    )
    + r"\b|n['’]t\b|\?"
)
"""Words under which less said may be more claimed."""
_LEANS = re.compile(
    r"(?i)\W*"
    + _any(
        "but however so then that this these those it they he she him her his its their them "
        "which who because and or nor yet still also too otherwise instead yes yeah yep no nope "
        "nah not either neither both same such thus therefore hence though although even anyway "
        "besides moreover furthermore additionally plus finally second third next another "
        "others? ones? there here why what how if afterwards later meanwhile kidding "
        "just_kidding joking jk psych wrong right true false exactly maybe perhaps again "
        "since_then after_that first for_example for_instance in_fact turns_out until unless "
        "except only"
    )
    + r"\b"
)
"""How a sentence begins that leans on the one before it."""
_LEADING = re.compile(
    _any(
        "As_an? As_the After Before When While Since Because Growing_up Being Having Working "
        "Living During In At On For With Back Speaking_as Over Around From"
    )
    + r" [^,;:()\n]{2,90}, "
)
_RESUMES = re.compile(rf"(?:{_SUBJECT}(?:['’]\w+)? \S+ \S|(?:my|our|the) [\w'’-]+ {_AUX} \S)")
_ADDED = re.compile(
    rf", (?:{_any('who whom whose which where')}\b|an? (?!lot\b|bit\b|few\b)|"
    + _any(
        "especially particularly mostly mainly including like being having working living after "
        "before since because as while when thanks_to along_with together_with just_like "
        "although though even_though"
    )
    + rf"\s){_STUFF}{_END}"
)
_PARENTHETIC = re.compile(
    rf", (?:(?:who|whose|which)\b|{_any('an? being having working living as_an? like_my like_our')} )"
    rf"[^,;:()\n]{{2,90}},(?= {_AUX} | [a-z]+ed )"
)
_SUBORDINATE = re.compile(
    rf" {_any('when after before while since because even_though although though as_soon_as')} "
    rf"(?:{_SUBJECT}|(?:my|our|the|his|their) ){_STUFF}{_END}"
)
_TAKES_CLAUSE = re.compile(
    r"(?i)\b"
    + _any(
        "remember recall forget forgot knew know wonder ask asked see saw tell told is was be "
        "been are were that of about from like even ever time day moment years? months? weeks? "
        "days? long shortly right soon back hates? loved? loves hated said say until to and or "
        "but up out ago especially only partly mainly mostly just not also then now"
    )
    + "$"
)
"""Words whose clause belongs to them."""
_OF_TIME = re.compile("(?i) ?(?:when|while|as soon as) ")
_PAST = re.compile(
    r"\b"
    + _any(
        "was were had did went came got met left took made saw felt began lost found bought grew [a-z]{2,}ed"
    )
    + r"\b"
)
_CONJOINED = re.compile(rf", (?:and|but|so|yet) (?={_SUBJECT}|(?:my|our) \w)")
_OWN = re.compile(r"(?:I|we|my|our)\b")
_POINTS_BACK = re.compile(
    r"(?i)\b"
    + _any(
        "it its he him his she hers? they them their this that these those there ones? too also so do did "
        "does"
    )
    + r"\b"
)
_BRACKETS = re.compile(r" \((?![^()]*\d{3})[^()\n]{2,120}\)(?=[\s.,;:!?]|$)")
_TOKEN = re.compile(r"\S+")
_HASHTAG = re.compile(r"\s+#\w+")
_PICTURE = re.compile(r"\s*[\U0001f000-\U0001faff\u2600-\u27bf\u200d\ufe0f]+")
_KIN = _any(
    "wife husband spouse partner girlfriend boyfriend fianc[eé]e? kids? child(?:ren)? sons? "
    "daughters? parents? mom mum mother dad father brothers? sisters? family grandkids "
    "grandchildren friends?"
)
_WITH_KIN = re.compile(
    rf" (?:with|and) (?:my|our) {_KIN}(?:(?:,| and|, and) (?:(?:my|our) )?(?:\w+ )?{_KIN})*"
    r"(?=[.!?,]|$| (?:last|this|yesterday|today)\b)"
)
_NEEDS_WITH = re.compile(
    r"(?i)\b"
    + _any(
        "lived? lives living agree[ds]? deal dealing fight fighting argue[ds]? arguing happy "
        "stuck together back up along starts? started begin begins am is are was were be been "
        "me blessed in_love married chat talk meet shared? shares sharing play between balance "
        "balancing"
    )
    + "$"
)
_WORK_AS = re.compile(
    r"(?i)(?P<work>\b(?:work(?:s|ed|ing)?(?: (?:hard|full-time|part-time|nights|days|here|there|remotely))?"
    r"|my (?:job|career|work))) as (?:an?|the) [a-z-]+(?: [a-z-]+){0,2}(?=[.,!?]|$| (?:and|but|at|in|for)\b)"
)
_NAME = r"[A-Z][\w.’'-]*(?: [A-Z][\w.’'-]*){0,2}"
_LABEL = re.compile(rf"\A\s*(?:@[\w.-]+ ?|{_NAME} ): (?=\S)")
_LABELS = re.compile(rf"(?m)^\s*(?:@[\w.-]+|{_NAME})\s?: ")
_CLOSING = ' .!?…"”’)'
_FEWEST, _MOST_COMMAS = 3, 2


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence or a line of its own, and whether it is one whole."""

    span: Span
    said: str = field(repr=False)
    whole: bool

    @property
    def words(self) -> int:
        """How many words it has."""
        return len(self.said.split())


def sentences_of(text: str) -> list[Sentence]:
    """The sentences of a text with their places; a piece of a longer one is none."""
    found: list[Sentence] = []
    cursor = 0
    for said in split_sentences(text):
        match = re.compile(r"\s+".join(map(re.escape, said.split()))).search(text, cursor)
        if match is None:
            continue
        cursor = match.end()
        whole = len(said) < MAX_CHARACTERS - 60 and (
            said[-1] in '.!?…"”’)'
            or "\n" in text[match.end() : match.end() + 3]
            or match.end() == len(text.rstrip())
        )
        found.append(Sentence(Span(*match.span()), text[match.start() : match.end()], whole))
    return found


def deletions(text: str) -> list[Edit]:
    """All deletions, each of which leaves whole sentences; they are not all made together."""
    sentences = sentences_of(text)
    found = list(_of_sentences(text, sentences))
    begins = 0
    if (label := _LABEL.match(text)) and len(_LABELS.findall(text)) == 1:
        begins = label.end()
        found.append(deletion("phrase", 0, begins))
    for each in sentences:
        if each.whole:
            first = max(begins, each.span.start)
            phrases = dict.fromkeys(_phrases(text[first : each.span.end]))
            found += [deletion("phrase", first + start, first + end) for start, end in phrases]
    return [each for each in found if _is_balanced(text, each)]


def _is_balanced(text: str, edit: Edit) -> bool:
    """Whether a deletion takes both or none of each pair of quotation marks and brackets."""
    ((span, _),) = edit.replacements
    said = text[span.start : span.end]
    return said.count('"') % 2 == 0 and all(said.count(a) == said.count(b) for a, b in ("“”", "()", "[]"))


def _of_sentences(text: str, sentences: list[Sentence]) -> Iterator[Edit]:
    for number, each in enumerate(sentences):
        behind = sentences[number + 1] if number + 1 < len(sentences) else None
        before = sentences[number - 1] if number else None
        leant_on = behind is not None and (
            _LEANS.match(behind.said) or each.said.endswith((":", ",", " no."))
        )
        told = before is not None and (before.said.endswith((":", "?", " no.", " No.")) or not before.whole)
        others = sum(other.words for other in sentences if other is not each)
        if each.whole and not leant_on and not told and others >= _FEWEST:
            end = behind.span.start if behind else len(text)
            start = each.span.start if behind else (before.span.end if before else 0)
            yield deletion("sentence", start, end)


def _phrases(said: str) -> Iterator[tuple[int, int]]:
    """Start and end of what can be dropped from one sentence."""
    yield from (match.span() for match in _BRACKETS.finditer(said) if match.start())
    yield from _ornaments(said)
    greeting = _GREETING.match(said)
    if not _TURNS.search(said, greeting.end() if greeting else 0):
        yield from _main_clauses(said)
        yield from _adjuncts(said)
        yield from _companions(said)


def _main_clauses(said: str) -> Iterator[tuple[int, int]]:
    """The second of two main clauses, and the first where the second does not lean on it."""
    for match in _CONJOINED.finditer(said):
        one, other = said[: match.start()], said[match.end() :]
        if "," not in one and _WHOLE.match(one):
            if (ending := len(said.rstrip(_CLOSING))) > match.start():
                yield match.start(), ending
            if _RESUMES.match(other) and _OWN.match(other) and not _POINTS_BACK.search(other):
                yield 0, match.end()


def _adjuncts(said: str) -> Iterator[tuple[int, int]]:
    """What introduces a sentence, is added to its end, or stands between its subject and its verb."""
    if (leading := _LEADING.match(said)) and _RESUMES.match(said, leading.end()):
        if not _OF_TIME.match(said) or _PAST.search(said, leading.end()):
            yield 0, leading.end()
    for match in (*_ADDED.finditer(said), *_SUBORDINATE.finditer(said)):
        rest = said[: match.start()]
        lasting = _OF_TIME.match(match[0]) and not _PAST.search(rest)
        whole = _WHOLE.match(rest) and not _TAKES_CLAUSE.search(rest) and rest.count(",") < _MOST_COMMAS
        if whole and not lasting:
            yield match.span()
    yield from (match.span() for match in _PARENTHETIC.finditer(said) if "," not in said[: match.start()])


def _companions(said: str) -> Iterator[tuple[int, int]]:
    """With whom somebody does something, and as what somebody works."""
    for match in _WITH_KIN.finditer(said):
        rest = said[: match.start()]
        if _WHOLE.match(rest) and len(rest.split()) >= _FEWEST and not _NEEDS_WITH.search(rest):
            yield match.span()
    yield from ((match.end("work"), match.end()) for match in _WORK_AS.finditer(said))


def _ornaments(said: str) -> Iterator[tuple[int, int]]:
    """Hashtags behind the last word, each by itself, and pictures."""
    words = [each for each in _TOKEN.finditer(said) if each[0][0] != "#" and any(map(str.isalnum, each[0]))]
    if words:
        yield from (tag.span() for tag in _HASHTAG.finditer(said, words[-1].end()))
    yield from (match.span() for match in _PICTURE.finditer(said) if match.start())
