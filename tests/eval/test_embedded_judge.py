"""The claim-support model, its pairs made by rule, and the judge. All texts are invented."""

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.claim_judges import CHOSEN_WITH, FRESH, agreements, chosen, gain, of_corpus
from eval.attacks.claim_pairs import Passage, claim_pairs, cut, of_another, pairs_of
from eval.measures.claim_distance import Asked, EmbeddedJudge, LexicalJudge, Rating, rating_once
from eval.studies.audit.measures import Grounds, linking
from eval.tasks.linkage import JUDGE, JUDGES, LinkageTask, version_1
from ingest.documents import Document
from models.catalog import ModelRef
from models.errors import ConfigurationError, ModelUnavailable
from models.judges import ClaimPair, information, load_judge, names_in, negates, numbers_in
from models.trained import write_trained
from models.training.commands import make_judge
from models.training.judge import JudgeRecipe, aligned, train_judge
from tests.doubles import PhraseDetector, WordEncoder

TEXT = "The potter has two kilns. She sold 14 jars in Quellby. No jar was cracked."
PARTS = ("The potter has two kilns.", "She sold 14 jars in Quellby.", "No jar was cracked.")
OTHER = ("The ferry left late.", "A storm broke both masts.")
TRAINED = [
    (ClaimPair(claim, TEXT, level, level, "invented", f"{level} {number}"), parts)
    for number in range(10)
    for claim, parts, level in (
        ("The potter has two kilns", PARTS, 1),
        ("She sold jars in Quellby and the ferry sank", PARTS, 2),
        ("A storm broke the masts", PARTS, 3),
        ("No jar was cracked", PARTS, 1),
        ("Two kilns and a storm", PARTS, 2),
        ("She sold 14 jars", OTHER, 3),
    )
]
SHORT = JudgeRecipe(epochs=12, pairs=12)


def test_numbers_names_and_negations_are_read() -> None:
    assert numbers_in("I am fifty one") == {"51"}
    assert numbers_in("in two thousand four") == {"2004"}
    assert numbers_in("4.5 and 80/60 of 7") == {"4.5", "80/60", "7"}
    assert names_in("The potter met Ada in Quellby") == {"ada", "quellby"}
    assert negates("He denies it") and negates("It isn't") and not negates("It is a note")


def test_a_model_learns_what_is_told_and_is_read_back(tmp_path: Path) -> None:
    card = make_judge(TRAINED, tmp_path, SHORT, lambda _: None)
    assert (tmp_path / "judge.safetensors").stat().st_size < 2_000_000
    assert sum(card["examples"].values()) + card["held_back"] == len(TRAINED)
    judge = EmbeddedJudge(load_judge(ModelRef(source="path", name=str(tmp_path))))
    claims = ["The potter has two kilns", "A storm broke the masts", "..."]
    assert judge.ratings(claims, TEXT) == [1, 3, None]
    assert judge.ratings(claims, TEXT) == judge.ratings(claims[:1], TEXT) + judge.ratings(claims[1:], TEXT)
    assert judge.ratings(["A kiln", "..."], "") == [3, None]
    assert judge.name == "judge[lethe-judge-3level]"
    task = LinkageTask([Document("a", TEXT)], version_1([]).linker, judge=judge)
    assert task.name.endswith(judge.name)


def test_the_same_seed_gives_the_same_weights() -> None:
    told = information(PARTS)
    read = aligned(TRAINED[:18], told)
    one, other = (train_judge(read, told, JudgeRecipe(epochs=1), lambda _: None) for _ in range(2))
    assert all(bool((one[name] == other[name]).all()) for name in one)


def test_training_needs_all_levels() -> None:
    told = information(PARTS)
    with pytest.raises(ConfigurationError, match="do not show all three levels: give more text"):
        train_judge(aligned(TRAINED[:2], told), told, SHORT, lambda _: None)


def test_a_folder_without_weights_says_what_to_run(tmp_path: Path) -> None:
    import torch

    with pytest.raises(ModelUnavailable, match="judge.safetensors and judge.json"):
        load_judge(ModelRef(source="path", name=str(tmp_path)))
    write_trained(tmp_path, "judge", {"judge.told": torch.zeros(3)}, {"name": "half"})
    with pytest.raises(ModelUnavailable, match="train it again with 'lethe models train-judge'"):
        load_judge(ModelRef(source="path", name=str(tmp_path)))


def test_the_shipped_judge_knows_other_words_for_the_same() -> None:
    judge = JUDGES["trained"]()
    claims = ["The potter owns two kilns", "A storm broke both masts", "No jar had a crack", "..."]
    assert judge.ratings(claims, TEXT) == [1, 3, 1, None]
    assert JUDGE.ratings(claims[:1], TEXT) != [1]
    asked = [(claims, TEXT), ([], TEXT), (claims[1:], " ".join(OTHER))]
    assert judge.rated(asked) == [judge.ratings(*each) for each in asked]
    assert judge.name == "judge[lethe-judge-3level]"


def test_what_was_rated_is_not_rated_again() -> None:
    asked: list[str] = []

    class Counting(LexicalJudge):
        def rated(self, of: Sequence[Asked]) -> list[list[Rating]]:
            asked.extend(text for _, text in of)
            return super().rated(of)

    judge = rating_once(Counting())
    assert judge.rated([(["kiln", "jar"], "A kiln."), (["kiln"], "A kiln.")]) == [[1, 3], [1]]
    assert judge.rated([(["kiln"], "A kiln."), (["kiln"], "A jar."), ([], "A jar.")]) == [[1], [3], []]
    assert asked == ["A kiln.", "A kiln.", "A jar.", "A jar."] and judge.name == JUDGE.name


def test_audits_take_the_trained_judge_but_for_quick_ones() -> None:
    grounds = Grounds((), None, WordEncoder(), "quick", 5, 0)  # type: ignore[arg-type]

    def judge_of(each: Grounds) -> tuple[str, str]:
        _, told = linking(each)
        assert isinstance(told.task, LinkageTask) and told.task.judge.name in told.task.name
        return told.task.judge.name, told.blind

    reader = "what the judge gets wrong: a small model, whose agreement with readers is in docs/models.md"
    trained = ("judge[lethe-judge-3level]", reader)
    lexical = (JUDGE.name, "claims that are told in other words: the judge compares words")
    assert judge_of(grounds) == judge_of(replace(grounds, suite="full", judge="lexical")) == lexical
    for changed in replace(grounds, suite="standard"), replace(grounds, judge="trained"):
        assert judge_of(changed) == trained


def test_pairs_made_by_rule_have_their_levels() -> None:
    towns = (("Quellby", "cold"), ("Varde", "large"), ("Ostby", "broken")) * 4
    told = "Ada has {} jars. She lives in {}. The kiln is {}."
    passages = [
        Passage("invented", f"{number}", told.format(number + 12, *each)) for number, each in enumerate(towns)
    ]
    detector = PhraseDetector(dict.fromkeys(("Quellby", "Varde", "Ostby"), "city name"))
    pairs = pairs_of(passages, detector, random.Random(1))
    assert pairs == pairs_of(passages, detector, random.Random(1))
    bounds = {pair.kind: (pair.low, pair.high) for pair in pairs}
    assert bounds["own"] == (1, 1) and bounds["negated"] == (3, 3)
    assert {"generalized", "number", "name"} <= bounds.keys()
    for pair in pairs:
        if pair.kind == "own":
            assert pair.claim in pair.text
        if pair.kind == "number":
            assert not numbers_in(pair.claim) <= numbers_in(pair.text)
        if pair.kind == "negated":
            assert pair.claim not in pair.text


def test_what_is_said_of_oneself_is_told_by_another() -> None:
    told = {of_another("Yes, I have a cough in my chest", random.Random(seed)) for seed in range(9)}
    assert "He has a cough in his chest" in told and "The patient has a cough in the patient's chest" in told


def test_a_folder_without_corpora_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no corpus that the judge could learn from: mts_dialog, "):
        claim_pairs(tmp_path, PhraseDetector({}), 1)


@given(st.lists(st.text("ab .\n", max_size=400), max_size=8))
def test_passages_keep_every_letter(lines: list[str]) -> None:
    text = "\n".join(lines)
    assert "".join("".join(cut(text)).split()) == "".join(text.split())


def test_agreement_of_a_judge_that_is_a_reader() -> None:
    some = {"texts": ["a", "b", "a"], "corpora": ["mts", "bio", "mts"], "ratings": {"first": [1, 2, 3]}}
    assert of_corpus(some, "mts") == {"texts": ["a", "a"], "ratings": {"first": [1, 3]}}
    first = [1.0, 2.0, 3.0, 1.0, 3.0, 2.0]
    kept: dict[str, Any] = {
        "texts": ["a", "a", "b", "b", "c", "c"],
        "ratings": {"first": first, "embedded": first, "lexical": [3.0, 1.0, 2.0, 3.0, 1.0, 2.0]},
    }
    found = agreements(kept)
    assert [each.value for each in found["embedded", "first"]] == pytest.approx([1, 1])
    # Squared distances 4 + 1 + 1 + 4 + 4 + 0 = 14, and 8 / 6 a pair by chance: 1 - 14 / 8.
    assert found["lexical", "first"][1].value == pytest.approx(1 - 14 / 8)
    # The trained judge agrees fully: its gain is what the lexical one lacks.
    more = gain(kept, "first")
    assert more.value == pytest.approx(14 / 8) and more.low is not None and more.low > 0
    assert gain({**kept, "ratings": {**kept["ratings"], "lexical": first}}, "first").value == 0


def test_a_later_round_has_no_text_of_the_earlier_one(tmp_path: Path) -> None:
    words = "An invented visit. " * 30
    note = {"dialogue": words, "note_section": words, "official_split": "test1"}
    records = {
        "medqa": [{"id": f"q{n}", "question": words} for n in range(60)],
        "mts_dialog": [{"id": f"m{n}", **note} for n in range(60)],
        "ewt_email": [{"id": f"e{n}", "text": words, "official_split": "dev"} for n in range(12)],
        "db_bio": [{"id": f"b{n}", "text": words, "official_split": "test"} for n in range(20)],
    }
    for name, rows in records.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "data.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    first, fresh = ({each.doc_id for each in chosen(tmp_path, of)} for of in (CHOSEN_WITH, FRESH))
    assert len(first) == 66 and len(fresh) == 72 and not first & fresh
