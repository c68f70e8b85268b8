"""Judges of claims against readers: does a sanitized text tell a claim fully (1), partly (2) or not (3)?

``python -m benchmarks.claim_judges draw ROUND DATA FOLDER`` sanitizes held-out documents and writes pairs to
read into FOLDER, which must lie outside the project. ``measure ROUND FOLDER MODEL`` rates them with every
judge and keeps numbers and digests only. Readers' ratings are those that were kept, or of
``first_labels.jsonl`` and ``second_labels.jsonl`` in FOLDER, lines of ``n`` and ``rating``. ``table ROUND``
prints what was kept. ROUND is first or fresh.
"""

import hashlib
import json
import random
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from benchmarks.kept import read
from eval.attacks.claims import RuleAtomizer, RuleRewording
from eval.measures.agreement import RESAMPLES, SEED, Rows, estimated, spearman, weighted_kappa
from eval.measures.claim_distance import ENOUGH, SOME, EmbeddedJudge, Judge
from eval.measures.overlap import rouge_l, stems
from eval.measures.uncertainty import Drawn, Estimate, Floats, bootstrap, percentiles
from eval.studies.marks.methods import systems
from eval.tasks.linkage import JUDGE
from ingest.deciding.baselines.within_rules import RULES_ALONE
from ingest.deciding.policy import PolicyName
from ingest.documents import Document
from ingest.errors import SanitizationError
from ingest.language.vocabulary import fold
from ingest.protocols import Sanitizer
from models.judges import UNSUPPORTED

if TYPE_CHECKING:
    from eval.prepared import Prepared
    from retrieval.system import System

KEPT = Path(__file__).parent / "results"
MOST = {"medqa": 150, "mts": 120, "bio": 120}
"""The documents among which those nearest to a text are looked for."""
LEVEL = {1: 0.0, 2: 0.2, 3: 0.5}
"""A score inside the level of ``eval.measures.agreement`` with the same rank, as its kappa takes scores."""
_LEFT_OUT = re.compile(
    r"\?|^(which|what|how)\b|following|next step|most likely"
    r"|^(good|thank|thanks|hi|hello|okay|ok|yeah|yes|no|uh)\b",
    re.IGNORECASE,
)
_SPEAKER = re.compile(r"(?m)^(Doctor|Patient|Guest_\w+):\s*")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Round:
    """A set of pairs: its name, its seed, the sanitizing methods, and how many texts of each corpus.

    None of the texts gave a training pair: MedQA and the biographies are for measuring only, and of the
    dialogues and mails the test and development parts are taken, which training does not read. ``after`` is
    the round whose texts are left out.
    """

    name: str
    seed: int
    methods: tuple[str, ...]
    texts: Mapping[str, int]
    after: "Round | None" = None

    @property
    def results(self) -> Path:
        """The file of its ratings."""
        return KEPT / f"{self.name}.json"


CHOSEN_WITH = Round(
    "claim_judges", 20261124, ("redact", "trip", "lethe"), {"medqa": 27, "mts": 27, "mail": 12}
)
"""The recipe of the trained judge was chosen with the readings of these pairs."""
FRESH = Round(
    "claim_judges_fresh",
    20261125,
    ("redact", RULES_ALONE, "trip", "lethe", "origin"),
    {"medqa": 27, "mts": 26, "bio": 19},
    after=CHOSEN_WITH,
)
"""Nobody had read these pairs, and no judge had rated them, when the judge was trained and shipped."""
READERS = ("first", "second")
ROUNDS = {"first": CHOSEN_WITH, "fresh": FRESH}


@dataclass(frozen=True, slots=True)
class Original:
    """A document to sanitize, and what somebody else wrote of it. Private."""

    corpus: str
    doc_id: str
    text: str = field(repr=False)
    note: str = field(default="", repr=False)


def drawn(data: Path, of: Round, chance: random.Random) -> dict[str, list[Original]]:
    """The pool of each corpus, of which the first documents are sanitized."""
    earlier = {each.doc_id for each in chosen(data, of.after)} if of.after else set[str]()
    pools = {}
    for name in of.texts:
        pool = [each for each in _POOLS[name](data) if each.doc_id not in earlier]
        pools[name] = chance.sample(pool, min(len(pool), MOST[name])) if name in MOST else pool
    return pools


def chosen(data: Path, of: Round) -> list[Original]:
    """The documents of a round that are sanitized."""
    pools = drawn(data, of, random.Random(of.seed))
    return [each for name, pool in pools.items() for each in pool[: of.texts[name]]]


def _medqa(data: Path) -> list[Original]:
    return [
        Original("medqa", row["id"], row["question"])
        for row in _records(data, "medqa")
        if 60 <= len(row["question"].split()) <= 170
    ]


def _dialogues(data: Path) -> list[Original]:
    return [
        Original("mts", f"mts-{row['id']}", row["dialogue"].replace("\r\n", "\n"), row["note_section"])
        for row in _records(data, "mts_dialog")
        if row["official_split"].startswith("test")
        and 60 <= len(row["dialogue"].split()) <= 260
        and len(row["note_section"].split()) >= 15
    ]


def _mails(data: Path) -> list[Original]:
    return [
        Original("mail", row["id"], row["text"])
        for row in _records(data, "ewt_email")
        if row["official_split"] == "dev" and len(row["text"]) <= 2700
    ]


def _biographies(data: Path) -> list[Original]:
    return [
        Original("bio", row["id"], row["text"])
        for row in _records(data, "db_bio")
        if row["official_split"] == "test" and 80 <= len(row["text"].split()) <= 260
    ]


_POOLS = {"medqa": _medqa, "mts": _dialogues, "mail": _mails, "bio": _biographies}


def draw(data: Path, folder: Path, of: Round) -> None:
    """Write ``pairs.jsonl``: claims of each sanitized document, of its note and of others, and its text.

    ``key.jsonl`` says of each pair what document it is of, and what sanitized it: readers do not see it.
    """
    from app.compose import system_of
    from app.settings.load import load_settings
    from eval.corpora.corpus import Corpus
    from eval.prepared import prepared

    chance = random.Random(of.seed)
    pools = drawn(data, of, chance)
    taken = [each for name, pool in pools.items() for each in pool[: of.texts[name]]]
    system = system_of(load_settings({}))
    ready = prepared(system, Corpus("judged", [Document(each.doc_id, each.text) for each in taken]))
    corpora = {each.doc_id: each.corpus for each in taken}
    texts: dict[str, str] = {}
    methods: dict[str, str] = {}
    for number, name in enumerate(of.methods):
        mine = [Document(each.doc_id, each.text) for each in taken[number :: len(of.methods)]]
        for outcome in _sanitizer(ready, system, name).sanitize(mine):
            if isinstance(outcome, SanitizationError):
                raise outcome
            texts[outcome.doc_id], methods[outcome.doc_id] = outcome.text, name
    flat = [each for pool in pools.values() for each in pool]
    vectors = system.encoder.encode([each.text for each in flat])
    claims: dict[str, list[str]] = {}
    for each in taken:
        places = np.argsort(-(vectors @ vectors[flat.index(each)]))
        alike = [flat[place] for place in places if flat[place].corpus == each.corpus]
        nearest = [other for other in alike if other is not each][:2]
        claims[each.doc_id] = list(dict.fromkeys(_claims(each, texts[each.doc_id], nearest, chance)))
    order = [doc_id for doc_id, each in claims.items() if each]
    chance.shuffle(order)
    pairs, key = list[dict[str, object]](), list[dict[str, object]]()
    for doc_id in order:
        chance.shuffle(claims[doc_id])
        for claim in claims[doc_id]:
            of_pair = {"corpus": corpora[doc_id], "document": doc_id, "method": methods[doc_id]}
            key.append({"n": len(pairs), **of_pair})
            pairs.append({"n": len(pairs), "claim": claim, "text": texts[doc_id]})
    folder.mkdir(parents=True, exist_ok=True)
    for name, written in (("pairs", pairs), ("key", key)):
        lines = "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in written)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")


def _sanitizer(ready: "Prepared", system: "System", name: str) -> Sanitizer:
    if name == RULES_ALONE:
        return systems(ready, 0)[name].sanitizer()
    policy = replace(system.policy, name=cast(PolicyName, name))
    return replace(system, scale=ready.scale, policy=policy).sanitizer()


def _claims(each: Original, text: str, nearest: Sequence[Original], chance: random.Random) -> list[str]:
    """Up to six claims: changed by the sanitizer, or not, those of the note, and of the nearest documents."""
    said = _words(text)
    own = _claims_of(each.text)
    chance.shuffle(own)
    changed = [claim for claim in own if not _words(claim) <= said]
    whole = [claim for claim in own if _words(claim) <= said]
    others = [claim for other in nearest for claim in _claims_of(other.note or other.text)]
    chance.shuffle(others)
    if each.note:
        noted = _claims_of(each.note)
        chance.shuffle(noted)
        return [*noted[:3], *changed[:1], *others[:1]]
    mail = each.corpus == "mail"
    reworded = [new for new, old in zip(RuleRewording().reworded(whole), whole, strict=True) if new != old]
    found = [*changed[: 3 if mail else 2], *reworded[: 2 if mail else 1]]
    found += whole[-1:] if chance.random() < 0.4 else []
    return [*found, *others[: 1 if mail else 2]]


def _claims_of(text: str) -> list[str]:
    found = RuleAtomizer().claims([_SPEAKER.sub("", text)])[0]
    return [each for each in found if 4 <= len(each.split()) <= 32 and not _LEFT_OUT.search(each)]


def _words(text: str) -> set[str]:
    return {fold(word) for word in _WORD.findall(text)}


def measure(folder: Path, model: Path, results: Path) -> None:
    """Rate the pairs with every judge; keep ratings and digests."""
    from models.catalog import ModelRef
    from models.judges import load_judge

    pairs = _lines(folder / "pairs.jsonl")
    judges: Mapping[str, Judge] = {
        "embedded": EmbeddedJudge(load_judge(ModelRef(source="path", name=str(model)))),
        "lexical": JUDGE,
    }
    asked = [([pair["claim"]], pair["text"]) for pair in pairs]
    ratings: dict[str, list[float]] = {
        name: [float(rating or UNSUPPORTED) for (rating,) in judge.rated(asked)]
        for name, judge in judges.items()
    }
    ratings["ROUGE-L recall"] = [rouge_l(stems(pair["claim"]), stems(pair["text"])).recall for pair in pairs]
    for reader in READERS:
        if (path := folder / f"{reader}_labels.jsonl").is_file():
            by_number = {row["n"]: float(row["rating"]) for row in _lines(path)}
            ratings[reader] = [by_number[pair["n"]] for pair in pairs]
        elif reader in (before := _kept_ratings(results)):
            ratings[reader] = [before[reader][_digest_of(pair)] for pair in pairs]
    kept = {
        "engines": {name: judge.name for name, judge in judges.items()},
        "texts": [_digest(pair["text"]) for pair in pairs],
        "pairs": [_digest_of(pair) for pair in pairs],
        "corpora": [each["corpus"] for each in _lines(folder / "key.jsonl")],
        "methods": [each["method"] for each in _lines(folder / "key.jsonl")],
        "ratings": {name: [round(value, 4) for value in each] for name, each in ratings.items()},
    }
    results.write_text(json.dumps(kept) + "\n", encoding="utf-8")


def _records(data: Path, name: str) -> list[dict[str, Any]]:
    return _lines(data / name / "data.jsonl")


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _kept_ratings(results: Path) -> dict[str, dict[str, float]]:
    """What each reader said of each pair, by its digest."""
    if not results.is_file():
        return {}
    kept = json.loads(read(results))
    return {
        name: dict(zip(kept["pairs"], kept["ratings"][name], strict=True))
        for name in READERS
        if name in kept["ratings"]
    }


def _digest_of(pair: Mapping[str, Any]) -> str:
    return _digest(pair["claim"] + "\n" + pair["text"])


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def agreements(kept: Mapping[str, Any]) -> dict[tuple[str, str], tuple[Estimate, Estimate]]:
    """Spearman and quadratically weighted kappa of each judge, and of the second reader, with each reader.

    Texts are drawn anew for the intervals. ROUGE-L is made a rating at the limits of the lexical judge.
    """
    readers = [name for name in READERS if name in kept["ratings"]]
    found = {}
    for name in ("second", "embedded", "lexical", "ROUGE-L recall"):
        for reader in readers:
            if name in kept["ratings"] and name != reader and (name, reader) != ("first", "second"):
                given = kept["ratings"][name]
                ranked = [-each for each in given] if name.startswith("ROUGE") else given
                levels = [_rating(each) for each in given] if name.startswith("ROUGE") else given
                right = kept["ratings"][reader]
                found[name, reader] = (
                    estimated(spearman, _rows(kept["texts"], ranked, right)),
                    estimated(
                        weighted_kappa,
                        _rows(kept["texts"], [LEVEL[int(r)] for r in levels], [LEVEL[int(r)] for r in right]),
                    ),
                )
    return found


def gain(kept: Mapping[str, Any], reader: str) -> Estimate:
    """The weighted kappa of the trained judge with a reader, less that of the lexical one."""
    trained, lexical, right = (
        np.array([LEVEL[int(each)] for each in kept["ratings"][name]])
        for name in ("embedded", "lexical", reader)
    )
    texts, owners = np.unique(kept["texts"], return_inverse=True)

    def difference(counts: Floats) -> Floats:
        return weighted_kappa(trained, right, counts) - weighted_kappa(lexical, right, counts)

    def redrawn(drawn: Drawn) -> Floats:
        counts = np.zeros(drawn.shape)
        np.add.at(counts, (np.arange(len(drawn))[:, None], drawn), 1.0)
        return difference(counts[:, owners])

    low, high = percentiles(bootstrap(redrawn, len(texts), SEED, RESAMPLES, len(right))) or (None, None)
    return Estimate(float(difference(np.ones((1, len(right))))[0]), low, high, n=len(right))


def of_corpus(kept: Mapping[str, Any], corpus: str) -> dict[str, Any]:
    """What was kept of the pairs of one corpus."""
    places = [place for place, each in enumerate(kept["corpora"]) if each == corpus]
    return {
        "texts": [kept["texts"][place] for place in places],
        "ratings": {name: [each[place] for place in places] for name, each in kept["ratings"].items()},
    }


def _rating(recall: float) -> int:
    return 1 if recall >= ENOUGH else 2 if recall >= SOME else 3


def _rows(texts: Sequence[str], first: Sequence[float], second: Sequence[float]) -> Rows:
    of_text: dict[str, tuple[list[float], list[float]]] = {}
    for text, one, other in zip(texts, first, second, strict=True):
        left, right = of_text.setdefault(text, ([], []))
        left.append(one)
        right.append(other)
    return list(of_text.values())


def main(arguments: Sequence[str]) -> None:
    """The command."""
    match arguments:
        case ["draw", ("first" | "fresh") as name, data, folder]:
            draw(Path(data), Path(folder), ROUNDS[name])
        case ["measure", ("first" | "fresh") as name, folder, model]:
            measure(Path(folder), Path(model), ROUNDS[name].results)
        case ["table", ("first" | "fresh") as name]:
            kept = json.loads(read(ROUNDS[name].results))
            for (judge, reader), both in agreements(kept).items():
                shown = (f"{each.value:.3f} [{each.low:.3f}, {each.high:.3f}]" for each in both)
                print(f"{judge} with {reader} reader: Spearman, weighted kappa", *shown)
            for reader in READERS:
                more = gain(kept, reader)
                print(f"gain in kappa, {reader} reader: {more.value:.3f} [{more.low:.3f}, {more.high:.3f}]")
        case _:
            raise SystemExit("give draw ROUND DATA FOLDER, measure ROUND FOLDER MODEL or table ROUND")


if __name__ == "__main__":
    main(sys.argv[1:])
