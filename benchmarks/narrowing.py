"""``python -m benchmarks.narrowing DATA``: what orders of replacing facts are worth, and whether k is true.

Texts whose direct identifiers are gone are linked to public texts of the same people by three linkers, of
which the encoder is one that nothing was learned from. At equal numbers of replaced facts, and at an equal
number of replaced characters, orders are compared by how far the owner falls among all public texts, in bits,
against five draws; so is what the default replaces. The bits of a text are read by models that did not learn
of it. At equal numbers it is counted too how many mentions that have to go in the eyes of readers could be
extracted word by word. Then as many facts as are drawn stay in biographies, and the people whose text holds
all of them are counted beside the predicted k.
Writes ``benchmarks/results/narrowing.json``.
"""

import argparse
import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from app.compose import system_of
from app.settings.load import load_settings
from eval.corpora.marked import with_seen
from eval.documents import Mark
from eval.measures.agreement import estimated, spearman
from eval.measures.uncertainty import clustered_share, mean_of
from eval.provenance import commit_here, provenance_of
from eval.studies.narrowing import (
    Learned,
    Numbers,
    Pairs,
    Player,
    Recipe,
    Scores,
    actors,
    biographies,
    by_bm25,
    by_encoder,
    by_tf_idf,
    court_cases,
    cross_fitted,
    drawn,
    gone_of,
    mails,
    players,
    ranks,
    rows_to_learn,
    visits,
    words_of,
)
from ingest.deciding.narrowing import Facts, facts_of, in_order, rows_of
from ingest.deciding.policy import DEFAULT
from ingest.scoring.scale import EMBEDDED_SCALE, Distances, Weights, marginal_risk, scores_of
from models.bits import BitsModel, embedded_bits, surprisals
from retrieval.system import System

RESULT = Path(__file__).parent / "results" / "narrowing.json"
SHARES = (0.1, 0.2, 0.3, 0.5, 0.7)
MAIN = 0.2
DRAWS = 5
MOST = 400
"""Biographies that are linked, of those that a model is cross-fitted over."""
BY = ("number", "characters")
FEWEST_OF_TRADE = 15
PROMISES = (10, 20, 50)
MARKED = ("visits_mail_gold", "spia_cases", "spia_posts")
FACTS_LEFT = (1, 1, 2, 2, 3, 3)
BATCH = 16
Orders = Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True)
class Round:
    """A game with its texts, and for each the model that reads its bits."""

    pairs: Pairs
    texts: Sequence[Player] = field(repr=False)
    models: Sequence[BitsModel] = field(repr=False)

    def facts(self) -> list[Facts]:
        """The facts of each text with their bits."""
        return [
            facts_of([text.text], [text.direct], model)[0]
            for text, model in zip(self.texts, self.models, strict=True)
        ]


def rounds_of(data: Path, system: System, report: Callable[[str], None]) -> list[Round]:
    """The games; the bits of the two learned ones are cross-fitted, the others have the shipped model."""
    recipe = Recipe()
    read: dict[str, tuple[Pairs, list[Player]]] = {}
    for pairs in (court_cases(data), biographies(data), actors(data), visits(data), mails(data)):
        report(f"reading {len(pairs.texts):,} texts of {pairs.name}")
        read[pairs.name] = pairs, players(pairs, sorted(pairs.texts), system.detector)
    rows: dict[str, Learned] = {}
    for name in ("court cases", "biographies"):
        pairs, texts = read[name]
        rows[name] = rows_to_learn(texts, [words_of(each) for each in pairs.public.values()], recipe)
    found = []
    for name, (pairs, texts) in read.items():
        models = [embedded_bits()] * len(texts)
        if name in rows:
            report(f"learning without each fifth of {name}")
            others = [each for other, each in rows.items() if other != name]
            broad = None if name == "biographies" else rows["biographies"]
            for places, model in cross_fitted(rows[name], others, broad, recipe):
                for place in places:
                    models[place] = model
        kept = sorted(Random(0).sample(range(len(texts)), min(MOST, len(texts))))
        found.append(Round(pairs, [texts[each] for each in kept], [models[each] for each in kept]))
    return found


def orders_of(each: Round, bits: Sequence[Facts], system: System) -> dict[str, list[Orders]]:
    """Every order of replacing the facts of the texts, the draws first."""
    public = [words_of(text) for text in each.pairs.public.values()]
    having = Counter(word for text in public for word in text)
    texts = each.texts
    hazards = system.risk.hazards([player.text for player in texts])
    risk = [{link: h.marginals[link] for link in p.facts} for p, h in zip(texts, hazards, strict=True)]
    measured = [
        of_text
        for first in range(0, len(texts), BATCH)
        for of_text in system.engine.measure([p.text for p in texts[first : first + BATCH]])
    ]
    priority = [
        {link: _priority(marginal_risk(h.total, h.marginals[link], "hazard"), m[link]) for link in p.facts}
        for p, h, m in zip(texts, hazards, measured, strict=True)
    ]
    of_bits = [
        {link: _priority(1 - 2.0 ** -sum(facts[link].values()), m[link]) for link in p.facts}
        for p, facts, m in zip(texts, bits, measured, strict=True)
    ]
    collection = Counter(word for p in texts for word in p.left(()))
    return {
        "drawn": [drawn(texts, seed) for seed in range(DRAWS)],
        "risk": [_falling(risk)],
        "priority of TRIP-RAG": [_falling(priority)],
        "priority, P from bits": [_falling(of_bits)],
        "bits": [[_replacing(p, facts) for p, facts in zip(texts, bits, strict=True)]],
        "bits of a character": [
            [
                sorted(p.facts, key=lambda link: -sum(facts[link].values()) / p.characters(link))
                for p, facts in zip(texts, bits, strict=True)
            ]
        ],
        "least like itself": [[_greedy(p, collection, len(texts)) for p in texts]],
        "oracle": [[_oracle(p, public, having) for p in texts]],
    }


def _replacing(player: Player, facts: Facts) -> list[int]:
    """The facts that are kept last first; what has no word is no fact of the game."""
    chosen = set(player.facts)
    return [kept.link for kept in reversed(in_order(facts)) if kept.link in chosen]


def _priority(risk: float, distances: Distances) -> float:
    scored = scores_of(risk, distances, EMBEDDED_SCALE, Weights())
    assert scored.priority is not None
    return scored.priority


def _falling(worth: Sequence[Mapping[int, float]]) -> Orders:
    return [sorted(of_text, key=lambda link: (-of_text[link], link)) for of_text in worth]


def _greedy(player: Player, collection: Mapping[str, int], texts: int) -> list[int]:
    """Next what most lowers the cosine with the own original, by the frequencies of the collection."""
    idf = {word: math.log(texts / max(1, collection[word] - 1)) for word in player.left(())}
    whole = {word: (1 + math.log(count)) * idf[word] for word, count in player.left(()).items()}

    def likeness(left: Mapping[str, int]) -> float:
        now = {word: (1 + math.log(count)) * idf[word] for word, count in left.items() if count > 0}
        norm = math.sqrt(sum(each**2 for each in now.values())) or 1.0
        return sum(each * whole[word] for word, each in now.items()) / norm

    order: list[int] = []
    waiting = list(player.facts)
    scored = {link: likeness(player.left([link])) for link in waiting}
    while waiting:
        waiting.sort(key=lambda link: scored[link])
        for link in waiting[:10]:
            scored[link] = likeness(player.left([*order, link]))
        best = min(waiting[:10], key=lambda link: scored[link])
        order.append(best)
        waiting.remove(best)
    return order


def _oracle(player: Player, public: Sequence[Counter[str]], having: Counter[str]) -> list[int]:
    """First what the own public text shares that few others have."""
    own = public[player.owner]

    def shared(link: int) -> float:
        return sum(math.log(len(public) / having[word]) for word in player.words.words[link] if word in own)

    return sorted(player.facts, key=lambda link: (-shared(link), link))


def curves(
    each: Round,
    bits: Sequence[Facts],
    orders: Mapping[str, Sequence[Orders]],
    linkers: Mapping[str, Scores],
) -> dict[str, Any]:
    """By linker, way of counting and order: what each share of the facts is worth, and the default's."""
    texts, found = each.texts, dict[str, dict[str, Any]]()
    default = [
        frozenset(kept.link for kept in in_order(of_text) if kept.together >= DEFAULT.threshold) & {*p.facts}
        for of_text, p in zip(bits, texts, strict=True)
    ]
    as_many = [
        [frozenset(o[: len(gone)]) for o, gone in zip(one, default, strict=True)] for one in orders["drawn"]
    ]
    for name, linker in linkers.items():
        shares = (MAIN,) if name == "encoder" else SHARES

        def fallen(gone: Sequence[frozenset[int]], linker: Scores = linker) -> Numbers:
            return np.log2(1 + ranks(linker(texts, gone), texts))

        nothing, everything = fallen([frozenset()] * len(texts)), fallen([frozenset(p.facts) for p in texts])
        effect = float((everything - nothing).mean())
        figures: dict[str, Any] = {
            "own first": {"nothing": _first(nothing), "everything": _first(everything)},
            "bits of everything": asdict(mean_of((everything - nothing).tolist())),
        }
        figures |= {by: {} for by in BY}
        drawn_so: Numbers = np.mean([fallen(one) for one in as_many], axis=0)
        for which, rank in (("default", fallen(default)), ("drawn as many", drawn_so)):
            figures[which] = {
                "share of facts": sum(map(len, default)) / sum(len(p.facts) for p in texts),
                "share of effect": float((rank - nothing).mean()) / effect if effect else None,
                "above drawn": asdict(mean_of((rank - drawn_so).tolist())),
            }
        for by in BY:
            drawn_at: dict[float, Numbers] = {}
            for order, several in orders.items():
                row = {}
                for share in shares:
                    gone = [
                        [gone_of(p, o, share, by) for p, o in zip(texts, one, strict=True)] for one in several
                    ]
                    ranked = [fallen(one) for one in gone]
                    mean = np.mean(ranked, axis=0)
                    drawn_at.setdefault(share, mean)
                    row[f"{share:g}"] = {
                        "share of effect": float((mean - nothing).mean()) / effect if effect else None,
                        "own first": float(np.mean([_first(one) for one in ranked])),
                        "characters": float(np.mean([_characters(texts, one) for one in gone])),
                        "above drawn": asdict(mean_of((mean - drawn_at[share]).tolist())),
                    }
                figures[by][order] = row
        found[name] = figures
    return found


def _characters(texts: Sequence[Player], gone: Sequence[Collection[int]]) -> float:
    """The share of the characters of all facts that these have."""
    taken = sum(p.characters(link) for p, of_text in zip(texts, gone, strict=True) for link in of_text)
    return taken / sum(p.characters(link) for p in texts for link in p.facts)


def _first(fallen: Numbers) -> float:
    return float((fallen < 1).mean())


def extracted(data: Path, corpus: str, system: System) -> dict[str, Any]:
    """What stays word for word of the facts that readers marked as having to go, by share replaced and order.

    ``less than drawn`` is the mean over documents of how much smaller a share stays by bits.
    """
    annotator, *_ = (found := with_seen(data, corpus)).by_annotator
    documents = {each.document.doc_id: each for each in found.by_annotator[annotator]}
    texts = {name: each.document.text for name, each in documents.items()}
    chosen = sorted(documents)[:MOST]
    read = {name: players(Pairs(corpus, texts, {name: ""}), [name], system.detector) for name in chosen}
    played = {name: player for name, of_text in read.items() for player in of_text}
    bits = [_replacing(p, facts_of([p.text], [p.direct], embedded_bits())[0]) for p in played.values()]
    draws = [drawn(list(played.values()), seed) for seed in range(DRAWS)]
    figures: dict[str, Any] = {"documents": len(played)}
    for share in SHARES:
        rows = []
        for number, (name, player) in enumerate(played.items()):
            must = [m for m in documents[name].marks if m.must == 2 and m.kind != "DIRECT"]
            if must:
                orders = [bits[number], *(of_draw[number] for of_draw in draws)]
                left = [_left(player, must, gone_of(player, order, share, "number")) for order in orders]
                rows.append((left[0], float(np.mean(left[1:])), len(must)))
        ours, theirs = ([row[n] / row[2] for row in rows] for n in (0, 1))
        figures[f"{share:g}"] = {
            "marked": sum(row[2] for row in rows),
            "bits": float(np.mean(ours)),
            "drawn": float(np.mean(theirs)),
            "less than drawn": asdict(mean_of([b - a for a, b in zip(ours, theirs, strict=True)])),
        }
    return figures


def inferred(data: Path, each: Round, orders: Mapping[str, Sequence[Orders]]) -> dict[str, Any]:
    """How often the trade of a person is guessed from what is left, by share replaced and order.

    The guesser is a regression over words, learned from biographies of others; trades of few are left out.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    rows = (data / "db_bio" / "data.jsonl").read_text(encoding="utf-8").splitlines()
    trades = {row["id"]: row["l3"] for row in map(json.loads, rows)}
    ids = list(each.pairs.public)
    asked = {ids[player.owner] for player in each.texts}
    learned = {name: text for name, text in each.pairs.public.items() if name not in asked}
    having = Counter(trades[name] for name in learned)
    learned = {name: text for name, text in learned.items() if having[trades[name]] >= FEWEST_OF_TRADE}
    words = TfidfVectorizer(sublinear_tf=True, min_df=2)
    guesser = LogisticRegression(C=30, max_iter=2_000).fit(
        words.fit_transform(learned.values()), [trades[name] for name in learned]
    )
    places = [n for n, p in enumerate(each.texts) if having[trades[ids[p.owner]]] >= FEWEST_OF_TRADE]
    texts = [each.texts[n] for n in places]

    def right(gone: Sequence[Collection[int]]) -> Numbers:
        left = [" ".join(p.left(those).elements()) for p, those in zip(texts, gone, strict=True)]
        guesses = guesser.predict(words.transform(left))
        true = [trades[ids[p.owner]] for p in texts]
        return np.array([float(one == other) for one, other in zip(guesses, true, strict=True)])

    figures: dict[str, Any] = {"texts": len(texts), "trades": len({trades[name] for name in learned})}
    figures["nothing"] = float(right([()] * len(texts)).mean())
    figures["everything"] = float(right([p.facts for p in texts]).mean())
    for share in SHARES:
        ours, theirs = (
            np.mean(
                [
                    right([gone_of(each.texts[n], one[n], share, "number") for n in places])
                    for one in orders[order]
                ],
                axis=0,
            )
            for order in ("bits", "drawn")
        )
        figures[f"{share:g}"] = {
            "bits": float(ours.mean()),
            "drawn": float(theirs.mean()),
            "less than drawn": asdict(mean_of((theirs - ours).tolist())),
        }
    return figures


def _left(player: Player, marks: Sequence[Mark], gone: Collection[int]) -> int:
    """How many marks no replaced mention touches."""
    replaced = [each.span for each in player.text.entities if each.link in gone or each.link in player.direct]
    return sum(all(m.end <= span.start or span.end <= m.start for span in replaced) for m in marks)


def fitting(each: Round) -> dict[str, Any]:
    """Predicted and counted k: the people whose whole text has every word of the facts that are left.

    Predicted is what the words narrow down if all are known; what the policy counts is less, by how likely
    each is known. At least one fact is left, since with none all people fit by themselves.
    """
    people = [set(words_of(f"{each.pairs.texts[name]} {text}")) for name, text in each.pairs.public.items()]
    rng = Random(0)
    cases: list[tuple[list[float], list[float]]] = []
    for player, model in zip(each.texts, each.models, strict=True):
        rarity = surprisals(sorted({word for link in player.facts for word in player.words.words[link]}))
        keys, rows = rows_of(player.words, rarity)
        narrowing = dict(zip((word for _, word in keys), model.bits(rows)[1].tolist(), strict=True))
        predicted, counted = list[float](), list[float]()
        for facts in FACTS_LEFT:
            kept = rng.sample(player.facts, min(facts, len(player.facts)))
            words = {word for link in kept for word in player.words.words[link]}
            predicted.append(max(0.0, math.log2(len(people)) - sum(narrowing[word] for word in words)))
            counted.append(math.log2(max(1, sum(words <= one for one in people))))
        cases.append((predicted, counted))
    below = {}
    for k in PROMISES:
        promised = [[c < math.log2(k) for p, c in zip(*of, strict=True) if p >= math.log2(k)] for of in cases]
        hits, totals = ([count(low) for low in promised] for count in (sum, len))
        below[str(k)] = asdict(clustered_share(hits, totals))
    return {
        "people": len(people),
        "cases": sum(len(predicted) for predicted, _ in cases),
        "spearman": asdict(estimated(spearman, cases)),
        "below promised": below,
    }


def main() -> None:
    """Play all games, and write the figures."""
    parser = argparse.ArgumentParser(description="Orders of replacing facts against linkage.")
    parser.add_argument("data", type=Path, help="the folder of the public corpora")
    given = parser.parse_args()
    settings = load_settings({})
    system, commit = system_of(settings), commit_here()

    def report(words: str) -> None:
        print(words, file=sys.stderr, flush=True)

    corpora: dict[str, Any] = {}
    fits: dict[str, Any] = {}
    guessed: dict[str, Any] = {}
    for each in rounds_of(given.data, system, report):
        report(f"linking {len(each.texts):,} texts of {each.pairs.name}")
        public = list(each.pairs.public.values())
        linkers = {
            "tf-idf": by_tf_idf([words_of(text) for text in public]),
            "bm25": by_bm25(public),
            "encoder": by_encoder(system.encoder, public),
        }
        bits = each.facts()
        orders = orders_of(each, bits, system)
        corpora[each.pairs.name] = {
            "texts": len(each.texts),
            "public": len(public),
            "facts": sum(len(p.facts) for p in each.texts),
            "linkers": curves(each, bits, orders, linkers),
        }
        if each.pairs.name == "biographies":
            fits[each.pairs.name] = fitting(each)
            guessed[each.pairs.name] = inferred(given.data, each, orders)
    left = {}
    for name in MARKED:
        report(f"reading the marks of {name}")
        left[name] = extracted(given.data, name, system)
    made = provenance_of(system, {}, commit).model_dump(mode="json")
    RESULT.write_text(
        json.dumps(
            {"provenance": made, "corpora": corpora, "extracted": left, "inferred": guessed, "fitting": fits},
            indent=1,
        )
        + "\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
