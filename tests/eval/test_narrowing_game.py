"""The game in which the bits model learns what links: its linkers, its shares, and what is learned."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from eval.studies import narrowing as game
from ingest.deciding.narrowing import FEATURES, facts_of, in_order
from models.bits import load_bits
from models.catalog import ModelRef
from models.errors import LetheError
from tests.doubles import PhraseDetector

SMALL = game.Recipe(trees=6, fewest=2, nearest=3, folds=3)
TRADES = ("cooper", "tanner", "fuller", "glazier", "sexton", "chandler", "thatcher", "farrier")
TOWNS = ("Tarn", "Osk", "Venby", "Lund", "Quay", "Marl", "Hythe", "Dorn")
YEARS = [str(1900 + n) for n in range(100)]
DETECTOR = PhraseDetector(
    dict.fromkeys(TRADES, "job title") | dict.fromkeys(TOWNS, "city name") | dict.fromkeys(YEARS, "date")
    | {"Somebody": "person full name"}
)  # fmt: skip
LIVED = "Somebody was a {} in {} from {} on. The work was hard."
PUBLIC = "A {} of {}, and the work of years."
PAIRS = game.Pairs(
    "invented",
    {f"p{n}": LIVED.format(TRADES[n], TOWNS[n], 1910 + n) for n in range(8)},
    {f"p{n}": PUBLIC.format(TRADES[n], TOWNS[n]) for n in range(8)},
)
KNOWN = [game.words_of(each) for each in PAIRS.public.values()]


@pytest.fixture
def round_of() -> list[game.Player]:
    return game.players(PAIRS, sorted(PAIRS.texts), DETECTOR)


def test_identifiers_are_gone_and_all_else_is_a_fact(round_of: list[game.Player]) -> None:
    first = round_of[0]
    assert len(round_of) == 8
    assert len(first.facts) == 3
    assert "somebody" not in first.left(())
    assert "Somebody" not in first.shown(())
    assert first.left(first.facts).keys() == {"was", "a", "in", "from", "on", "the", "work", "hard"}
    assert "cooper" in first.shown(()) and "cooper" not in first.shown(first.facts)


@pytest.mark.parametrize("linker", ["tf-idf", "bm25"])
def test_linkers_find_the_owner_until_its_facts_are_gone(round_of: list[game.Player], linker: str) -> None:
    scores = game.by_tf_idf(KNOWN) if linker == "tf-idf" else game.by_bm25([*PAIRS.public.values()])
    assert not game.ranks(scores(round_of, [()] * 8), round_of).any()
    gone = [each.facts for each in round_of]
    # Without facts all public texts are alike: half of the ties count.
    assert game.ranks(scores(round_of, gone), round_of).tolist() == pytest.approx([3.5] * 8)


def test_shares_are_of_facts_or_of_characters(round_of: list[game.Player]) -> None:
    for each, order in zip(round_of, game.drawn(round_of, 1), strict=True):
        assert sorted(order) == sorted(each.facts)
        assert game.gone_of(each, order, 2 / 3, "number") == frozenset(order[:2])
        total = sum(map(each.characters, order))
        for share in (0.0, 0.3, 0.6, 1.0):
            taken = game.gone_of(each, order, share, "characters")
            assert sum(map(each.characters, taken)) <= share * total + 1e-9
        assert game.gone_of(each, order, 1.0, "characters") == frozenset(order)
    assert game.drawn(round_of, 1) == game.drawn(round_of, 1) != game.drawn(round_of, 2)


def test_what_the_owner_shares_with_few_others_is_worth_most(round_of: list[game.Player]) -> None:
    rows = game.rows_to_learn(round_of, KNOWN, SMALL)
    assert len(rows.rows) == 8 * 3
    worth = {round(float(each), 2) for each in rows.linking}
    # Trades and towns stand in the owner's text alone, the years in nobody's.
    assert max(worth) > 1 and min(worth) < 0
    assert (rows.linking > 1).sum() == 16
    assert (rows.narrowing > 0).all()


def test_trees_predict_what_the_library_does() -> None:
    from sklearn.tree import DecisionTreeRegressor

    rng = np.random.default_rng(3)
    rows = rng.normal(size=(300, len(FEATURES))).astype(np.float32)
    wanted = (rows[:, 0] + (rows[:, 3] > 0.2) * 2).astype(np.float32)
    recipe = replace(SMALL, trees=1, rate=1.0, fewest=10)
    made = game.boosted(rows, wanted, np.ones(300), recipe)
    rising = [int(name in ("surprisal", "times")) for name in FEATURES]
    limits = {"max_leaf_nodes": recipe.leaves, "min_samples_leaf": recipe.fewest, "random_state": recipe.seed}
    tree = DecisionTreeRegressor(monotonic_cst=rising, **limits).fit(rows, wanted - wanted.mean())
    assert made.of(rows) == pytest.approx(wanted.mean() + tree.predict(rows), abs=1e-4)
    many = game.boosted(rows, wanted, np.ones(300), replace(SMALL, trees=40, rate=0.2, fewest=10))
    assert np.square(many.of(rows) - wanted).mean() < np.square(made.of(rows) - wanted).mean()


def test_each_text_is_read_by_one_model_that_did_not_learn_of_it(round_of: list[game.Player]) -> None:
    rows = game.rows_to_learn(round_of, KNOWN, SMALL)
    parts = list(game.cross_fitted(rows, [], None, SMALL))
    assert sorted(int(place) for places, _ in parts for place in places) == list(range(8))
    assert len({model.linking.start for _, model in parts}) > 1
    whole = game.learned([rows], rows, SMALL)
    facts = facts_of([each.text for each in round_of], [each.direct for each in round_of], whole)
    for each, said in zip(round_of, facts, strict=True):
        assert sorted(kept.link for kept in in_order(said)) == sorted(each.facts)


def test_a_model_is_written_and_read_again(tmp_path: Path) -> None:
    (tmp_path / "tab").mkdir()
    cases = [{"doc_id": name, "text": text} for name, text in PAIRS.texts.items()]
    (tmp_path / "tab" / "dev.jsonl").write_text("\n".join(map(json.dumps, cases)))
    (tmp_path / "tab" / "background_public10_train_dev.json").write_text(json.dumps(PAIRS.public))
    (tmp_path / "db_bio").mkdir()
    ending = "It was long ago."
    lives = [{"id": n, "text": f"{text} {PAIRS.public[n]} {ending}"} for n, text in PAIRS.texts.items()]
    (tmp_path / "db_bio" / "data.jsonl").write_text("\n".join(map(json.dumps, lives)))
    told: list[str] = []
    card = game.make_bits(tmp_path, DETECTOR, tmp_path / "made", SMALL, told.append)
    assert card["texts"] == {"court cases": 8, "biographies": 8}
    assert told[-1] == "learning"
    made = ModelRef(source="path", name=str(tmp_path / "made"))
    assert load_bits(made).features == FEATURES
    again = game.make_bits(tmp_path, DETECTOR, tmp_path / "again", SMALL, told.append)
    one, other = (tmp_path / each / "bits.safetensors" for each in ("made", "again"))
    assert one.read_bytes() == other.read_bytes()
    assert again["start"] == card["start"]
    with pytest.raises(LetheError, match=r"dev\.jsonl: could not be read"):
        game.make_bits(tmp_path / "nothing", DETECTOR, tmp_path / "none", SMALL, told.append)
