"""Which documents of a corpus Lethe has seen: the one place that says so.

What counts as learned from:

- the training parts that the detector and its thresholds were fitted to (``models.corpora.read``);
- the passages that readers marked, which taught the detector what has to go, or gave its limits
  (``models.corpora.needs``);
- the passages whose scores taught the privacy-risk model, and the training cases of SPIA, which gave it a
  weaker signal (``models.training.transformer_risk``);
- the demo corpus, to which the embedded scale of the scores was fitted (``benchmarks.fit_scale``).

What counts as looked at:

- the passages that were scored to measure the privacy-risk model;
- the training splits of MTS-Dialog and ACI-Bench, on which the default weights and threshold were chosen, and
  the mail of the English Web Treebank, which had been looked at before that (``docs/decisions.md``);
- the first 500 records of MedQA, which are for development;
- the development data of the detector: the parts of SPIA and TAB that it did not learn from, and the visits
  of ACI-Bench. Rules were fixed with figures on them in sight (``docs/models.md``).

A published figure alone does not count: the test splits of MTS-Dialog were measured, and nothing was chosen
by it. What cannot be told, because a corpus is not here, counts as seen.
``eval.corpora.marked`` adds cases that share their identifiers with one that was learned from.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

from eval.corpora.corpus import Corpus
from models.corpora.documents import POSTS, MarkedText, spia_texts
from models.corpora.examples import Example
from models.corpora.needs import marked_records
from models.corpora.read import corpora_in, read_corpora
from models.corpora.records import parsed_lines
from models.corpora.rubric import referenced_records
from models.errors import ConfigurationError

MTS, ACI, EWT = "mts_dialog", "aci_bench", "ewt_email"
CASES, PUBLISHED_POSTS, TAB, DEMO = "spia_cases", "spia_posts", "tab", "demo"
MEDQA = "medqa"
MEDQA_DEVELOPMENT = 500
"""The first records of MedQA, in the order of its file, which may be looked at."""
_UNER, _SPIA = "uner_ewt", "spia"


class Exposure(StrEnum):
    """What Lethe has seen of a document."""

    LEARNED = "learned from"
    LOOKED_AT = "looked at"
    UNSEEN = "unseen"


def exposures(folder: Path, corpus: str, ids: Iterable[str]) -> Mapping[str, Exposure]:
    """What was seen of each document; ``folder`` has a subfolder for each corpus.

    Raises:
        ConfigurationError: The corpus is unknown, one of its files is broken, or the training data that tells
            is not here because this is an installed package.
    """
    if corpus not in _RULES:
        raise ConfigurationError(f"Of {corpus} it is not known what was learned from: {', '.join(_RULES)}.")
    learned, looked_at = _RULES[corpus](folder)

    def of(doc_id: str) -> Exposure:
        if learned(doc_id):
            return Exposure.LEARNED
        return Exposure.LOOKED_AT if looked_at(doc_id) else Exposure.UNSEEN

    return {doc_id: of(doc_id) for doc_id in ids}


def held_out(folder: Path, corpus: Corpus) -> Corpus:
    """The part of a corpus that nothing was learned from, and of that what was never looked at, if any was.

    For parameters and errors see ``exposures``. ``split`` says how many documents were left out.
    """
    seen = exposures(folder, corpus.name, [each.doc_id for each in corpus.documents])
    best = Exposure.UNSEEN if Exposure.UNSEEN in seen.values() else Exposure.LOOKED_AT
    documents = [each for each in corpus.documents if seen[each.doc_id] is best]
    if not documents:
        raise ConfigurationError(f"All {len(seen):,} documents of {corpus.name} were learned from.")
    ids = {each.doc_id for each in documents}
    left_out = f"{len(seen) - len(documents):,} documents that Lethe had seen are left out"
    gold = None if corpus.gold is None else {key: rows for key, rows in corpus.gold.items() if key in ids}
    return replace(
        corpus,
        documents=documents,
        questions=[each for each in corpus.questions if not each.about or each.about in ids],
        gold=gold,
        split=f"{corpus.split} {left_out}, the others are {best}.",
    )


def learned_texts(folder: Path) -> list[str]:
    """The court cases that were learned from, each whole."""
    if TAB not in corpora_in(folder):
        return []
    learned, _ = _cases(folder)
    by_case: dict[str, str] = {}
    for example in _training(folder, TAB):
        by_case[example.group] = by_case.get(example.group, "") + example.text
    return [*(text.text for text in _case_texts(folder) if learned(text.id)), *by_case.values()]


_Test = Callable[[str], bool]
_Tests = tuple[_Test, _Test]
"""Whether a document was learned from, and whether it was looked at."""


def _all(doc_id: str) -> bool:
    return True


def _scored(corpus: str) -> tuple[frozenset[str], frozenset[str]]:
    """The ids of a corpus's records with training snippets or marks, and of those with held-out snippets."""
    learned, measured = referenced_records()
    marked, prefix = marked_records(), f"{corpus}/"
    own, other = (
        frozenset(each.removeprefix(prefix) for each in records if each.startswith(prefix))
        for records in (learned | marked, measured - marked)
    )
    return own, other


def _case_texts(folder: Path) -> list[MarkedText]:
    """The court cases of SPIA."""
    return [text for file in ("tab_train", "tab_dev") for text in spia_texts(folder, file)]


def _training(folder: Path, corpus: str) -> list[Example]:
    """The examples of a corpus that the detector and its thresholds were fitted to."""
    others = [other for other in corpora_in(folder) if other != corpus]
    return list(read_corpora(folder, "train", leave_out=others))


def _dialogues(folder: Path) -> _Tests:
    learned, measured = _scored(MTS)
    path = folder / MTS / "data.jsonl"
    if not path.is_file():
        return learned.__contains__, _all
    splits = dict(parsed_lines(path, lambda row, _: (str(row["id"]), str(row["official_split"]))))
    return learned.__contains__, lambda doc_id: doc_id in measured or splits.get(doc_id, "train") == "train"


def _exams(folder: Path) -> _Tests:
    learned, measured = _scored(MEDQA)
    path = folder / MEDQA / "data.jsonl"
    if not path.is_file():
        return learned.__contains__, _all
    ids = list(parsed_lines(path, lambda row, _: str(row["id"])))
    return learned.__contains__, (measured | set(ids[:MEDQA_DEVELOPMENT])).__contains__


def _mails(folder: Path) -> _Tests:
    """Mails; sentences of some are also in UNER, under an id with another prefix."""
    learned, _ = _scored(EWT)
    if _UNER not in corpora_in(folder):
        return _all, _all
    read = {example.group.replace("email-", "ewt-", 1) for example in _training(folder, _UNER)}
    return (learned | read).__contains__, _all


def _cases(folder: Path) -> _Tests:
    """Cases by the id of SPIA; TAB holds some of them under its own."""
    learned, measured = _scored(_SPIA)
    signals = {text.id for text in spia_texts(folder, "tab_train")} - measured
    groups = {example.group for corpus in (CASES, TAB) for example in _training(folder, corpus)}
    trained = {text.id for text in _case_texts(folder) if text.group in groups}
    return (learned | signals | trained).__contains__, _all


def _posts(folder: Path) -> _Tests:
    """Posts. An author whose other posts were learned from is known too."""
    learned, _ = _scored(_SPIA)
    posts = list(spia_texts(folder, POSTS))
    authors = {example.group for example in _training(folder, PUBLISHED_POSTS)}
    authors |= {post.group for post in posts if post.id in learned}
    return {post.id for post in posts if post.group in authors}.__contains__, _all


def _benchmark(folder: Path) -> _Tests:
    """Cases of the Text Anonymization Benchmark, by its own ids; SPIA holds some of them."""
    names = corpora_in(folder)
    if TAB not in names or CASES not in names:
        return _all, _all
    cases, _ = _cases(folder)
    learned = {text.group for text in _case_texts(folder) if cases(text.id)}
    return (learned | {example.group for example in _training(folder, TAB)}).__contains__, _all


_RULES: Mapping[str, Callable[[Path], _Tests]] = {
    MTS: _dialogues,
    ACI: lambda _: (_scored(ACI)[0].__contains__, _all),
    MEDQA: _exams,
    EWT: _mails,
    CASES: _cases,
    PUBLISHED_POSTS: _posts,
    TAB: _benchmark,
    DEMO: lambda _: (_all, _all),
}
