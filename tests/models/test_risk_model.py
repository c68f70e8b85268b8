"""The embedded privacy-risk model: windows, hazards and training. All texts here are invented."""

import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.catalog import ModelRef
from models.encoders.bert import CLS, SEP
from models.encoders.minilm import released
from models.errors import ConfigurationError, ModelUnavailable
from models.risk.embedded import SHAPES, WINDOW, EmbeddedRisk, LabeledText, jobs_of, load_risk
from models.trained import write_trained
from models.training import risk
from models.training.optimizing import Progress
from models.training.risk import RiskRecipe, train_risk
from models.training.scored import (
    PASSAGE,
    SCORES,
    WEIGHT,
    ScoredText,
    identifier_signals,
    with_masked_entities,
)
from tests.batches import assert_batches_do_not_show, assert_near
from tests.small_models import FILLER, NAMES, marked, one_thread, random_risk

if TYPE_CHECKING:
    from torch import Tensor

PERSON, DRUG = "person full name", "medication"
STAND_INS = {PERSON: "somebody", DRUG: "a medication"}


@pytest.fixture(scope="module")
def model() -> EmbeddedRisk:
    return EmbeddedRisk("random", random_risk())


TEXTS = [
    marked(
        "Mrs Keldra takes Norvexa for her knee.", ("Keldra", PERSON), ("Norvexa", DRUG), ("knee", "symptom")
    ),
    marked("", ("x", PERSON)),
    marked("Nothing is marked here."),
    marked("Zilpah Ostrun", ("Zilpah Ostrun", PERSON), ("Ostrun", PERSON), ("Zilpah", "zorblax")),
    marked("Norvexa, Norvexa and 😀 שלום Norvexa " * 40, ("Norvexa", DRUG), ("😀", "mood")),
]


def test_every_mention_has_a_hazard_and_none_is_negative(model: EmbeddedRisk) -> None:
    found = model.hazards(TEXTS)
    assert [len(hazards) for hazards in found] == [len(text.places) for text in TEXTS]
    assert sum(map(len, found)) > 120
    assert all(hazard > 0 for hazards in found for hazard in hazards)
    assert model.hazards([]) == []


def test_the_answer_is_the_same_alone_in_a_batch_and_in_any_order(model: EmbeddedRisk) -> None:
    assert_batches_do_not_show(model.hazards, TEXTS, assert_near)


def test_mentions_are_judged_each_by_itself(model: EmbeddedRisk) -> None:
    text = TEXTS[3]
    (together,) = model.hazards([text])
    alone = [
        model.hazards([LabeledText(text.text, [place], [label])])[0][0]
        for place, label in zip(text.places, text.labels, strict=True)
    ]
    assert together == pytest.approx(alone, abs=1e-5)
    assert len({round(hazard, 4) for hazard in together}) == 3
    reverse = LabeledText(text.text, list(reversed(text.places)), list(reversed(text.labels)))
    assert model.hazards([reverse])[0] == pytest.approx(together[::-1], abs=1e-5)


def test_the_label_and_the_context_both_tell(model: EmbeddedRisk) -> None:
    texts = [
        marked("Keldra was here.", ("Keldra", PERSON)),
        marked("Keldra was here.", ("Keldra", DRUG)),
        marked("The Keldra valley is green.", ("Keldra", PERSON)),
    ]
    assert len({round(hazard, 4) for (hazard,) in model.hazards(texts)}) == 3


def test_a_mentions_hazard_is_the_mean_over_its_tokens(model: EmbeddedRisk) -> None:
    text = "then Zilpah Ostrun of Quorin-Varde went"
    places = [(5, 18), (22, 34)]
    encoding = released().tokenizer.encode(text, add_special_tokens=False)
    (wholes,) = model.hazards([LabeledText(text, places, [PERSON, PERSON])])
    for (start, end), whole in zip(places, wholes, strict=True):
        tokens = [place for place in encoding.offsets if start <= place[0] and place[1] <= end]
        (parts,) = model.hazards([LabeledText(text, tokens, [PERSON] * len(tokens))])
        assert len(parts) > 3
        assert whole == pytest.approx(sum(parts) / len(parts), abs=1e-5)


@pytest.mark.parametrize("words", [1, 120, 186, 187, 249, 250, 251, 400, 3_000])
def test_a_mention_is_judged_as_in_its_window_alone(model: EmbeddedRisk, words: int) -> None:
    chance = random.Random(words)
    plain = [chance.choice(FILLER) for _ in range(3_200)]
    for at in (words, 0, 3_199):
        filled = [*plain[:at], "lamps", *plain[at:]]
        text = " ".join(filled)
        start = len(" ".join(filled[:at])) + (at > 0)
        # Of the windows that see it the one where it is farthest from an edge.
        step = WINDOW.tokens - WINDOW.overlap
        seeing = [
            begin for begin in range(0, 3_201 - WINDOW.overlap, step) if 0 <= at - begin < WINDOW.tokens
        ]
        begin = max(seeing, key=lambda b: min(at - b, min(b + WINDOW.tokens, 3_201) - at - 1))
        window = " ".join(filled[begin : begin + WINDOW.tokens])
        place = len(" ".join(filled[begin:at])) + (at > begin)
        long, short = model.hazards(
            [
                LabeledText(text, [(start, start + 5)], [DRUG]),
                LabeledText(window, [(place, place + 5)], [DRUG]),
            ]
        )
        assert text[start : start + 5] == window[place : place + 5] == "lamps"
        assert long == pytest.approx(short, abs=1e-4)


@st.composite
def pieces(draw: st.DrawFn) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Offsets of word pieces, some of no width and some sharing one place, and mentions anywhere."""
    offsets: list[tuple[int, int]] = []
    at = 0
    count = draw(st.sampled_from([1, 5, 250, 251, 700]))
    chance = draw(st.randoms(use_true_random=False))
    while len(offsets) < count:
        start = at + chance.choice([0, 0, 1])
        at = start + chance.choice([1, 1, 2, 5])
        offsets += [(start, at)] * min(chance.choice([1, 1, 1, 2]), count - len(offsets))
    begin = st.integers(0, at + 3)
    mentions = draw(st.lists(st.tuples(begin, st.sampled_from([1, 2, 9, 60, 600])), max_size=8))
    return offsets, [(start, start + width) for start, width in mentions]


@settings(max_examples=150)
@given(pieces())
def test_every_mention_is_judged_once_by_its_own_tokens(
    case: tuple[list[tuple[int, int]], list[tuple[int, int]]],
) -> None:
    offsets, places = case
    ids = list(range(1_000, 1_000 + len(offsets)))
    jobs = list(jobs_of(7, places, ids, offsets))
    judged = {number: (job, first, last) for job in jobs for number, first, last in job.mentions}
    assert sorted(number for job in jobs for number, _, _ in job.mentions) == list(range(len(places)))
    for job in jobs:
        assert job.text == 7
        assert (job.ids[0], job.ids[-1]) == (CLS, SEP)
        assert len(job.ids) <= WINDOW.tokens + 2
        assert job.ids[1:-1] == ids[job.ids[1] - 1_000 :][: len(job.ids) - 2]
    for number, (start, end) in enumerate(places):
        job, first, last = judged[number]
        assert 1 <= first < last <= len(job.ids) - 1
        own = [job.ids[at] - 1_000 for at in range(first, last)]
        touched = [at for at, (begin, stop) in enumerate(offsets) if begin < end and start < stop]
        if not touched:
            # Between two tokens, or behind the last: the nearest one speaks for it.
            assert len(own) == 1
        elif last == len(job.ids) - 1:
            assert own == touched[: len(own)]
        else:
            assert own == touched
        if len(touched) <= WINDOW.overlap:
            assert len(own) >= len(touched)


def test_control_characters_and_blank_texts_do_no_harm(model: EmbeddedRisk) -> None:
    odd = [
        LabeledText("\u200d\u200d", [(0, 1)], [PERSON]),
        LabeledText(" \n ", [(1, 2)], [PERSON]),
        LabeledText("\u200d Keldra", [(0, 1), (2, 8)], [PERSON, PERSON]),
        LabeledText("x" * 10_000, [(0, 10_000), (9_999, 10_000)], [PERSON, DRUG]),
        LabeledText("Keldra \u200d\u200d", [(7, 9)], [PERSON]),
    ]
    found = model.hazards(odd)
    assert found[:2] == [[0.0], [0.0]]
    assert all(hazard > 0 for hazards in found[2:] for hazard in hazards)


def test_a_mention_wider_than_a_window_is_judged_by_a_part_of_it(model: EmbeddedRisk) -> None:
    text = "lamp " * 900
    (found,) = model.hazards([LabeledText(text, [(0, len(text)), (500, 3_000)], [PERSON, PERSON])])
    assert all(hazard > 0 for hazard in found)


def test_a_text_is_in_no_repr() -> None:
    private = marked("Keldra takes Norvexa.", ("Keldra", PERSON))
    assert repr(private) == "LabeledText()"
    scored = ScoredText("Keldra", ((0, 6),), (PERSON,), (0.5,))
    assert repr(scored) == "ScoredText(weight=1.0)"


def test_a_risk_model_is_read_from_its_folder(tmp_path: Path) -> None:
    write_trained(tmp_path, "risk", random_risk(), {"name": "invented"})
    loaded = load_risk(ModelRef(source="path", name=str(tmp_path)))
    assert loaded.name == "invented"
    kept = {name: weight.half().float() for name, weight in random_risk().items()}
    expected = EmbeddedRisk("x", kept).hazards(TEXTS[:1])
    assert loaded.hazards(TEXTS[:1])[0] == pytest.approx(expected[0], abs=1e-6)
    with pytest.raises(ModelUnavailable, match="The risk model in .* could not be read"):
        load_risk(ModelRef(source="path", name=str(tmp_path.parent)))


def test_a_risk_model_that_lacks_a_part_is_told(tmp_path: Path) -> None:
    weights = {name: weight for name, weight in random_risk().items() if not name.startswith("risk.label")}
    write_trained(tmp_path, "risk", weights, {"name": "invented"})
    message = "The risk model invented has no weights named risk.label: train it again with 'lethe models"
    with pytest.raises(ModelUnavailable, match=message):
        load_risk(ModelRef(source="path", name=str(tmp_path)))


def snippet(seed: int) -> ScoredText:
    """Filler with a name, which exposes somebody, and a drug, which does not."""
    chance = random.Random(seed)
    words = [chance.choice(FILLER) for _ in range(chance.randint(6, 14))]
    first, second = chance.sample(range(len(words)), 2)
    words[first], words[second] = chance.choice(NAMES), chance.choice(["aspirin", "ibuprofen", "insulin"])
    starts = [sum(len(word) + 1 for word in words[:at]) for at in (first, second)]
    places = tuple((start, start + len(words[at])) for start, at in zip(starts, (first, second), strict=True))
    # The labels tell nothing: what tells is the word.
    return ScoredText(" ".join(words), places, ("thing", "thing"), (0.9, 0.05))


def learned(recipe: RiskRecipe, report: list[Progress]) -> "dict[str, Tensor]":
    with one_thread():
        return train_risk([snippet(seed) for seed in range(40)], STAND_INS, recipe, report.append)


@cache
def small_risk() -> "tuple[dict[str, Tensor], list[Progress]]":
    reports: list[Progress] = []
    recipe = RiskRecipe(seed=1, epochs=4, least_steps=1, tokens=128, masked=0.2, members=1)
    return learned(recipe, reports), reports


def test_training_lowers_the_loss_and_tells_two_kinds_apart() -> None:
    weights, reports = small_risk()
    assert reports[-1].loss < 0.6 * reports[0].loss
    assert reports[-1].step == reports[-1].steps
    model = EmbeddedRisk("small", weights)
    unseen = [snippet(seed) for seed in range(100, 130)]
    found = model.hazards([LabeledText(text.text, text.places, text.labels) for text in unseen])
    assert all(name > drug for name, drug in found)
    assert min(name for name, _ in found) > 2 * max(drug for _, drug in found)


def test_a_seed_fixes_the_weights_and_the_lower_layers_stay() -> None:
    recipe = RiskRecipe(seed=1, epochs=1, least_steps=2, tokens=2_048, members=1)
    reports: list[Progress] = []
    one, again = learned(recipe, reports), learned(recipe, [])
    other = learned(replace(recipe, seed=2), [])
    assert [(progress.step, progress.steps) for progress in reports] == [(1, 2), (2, 2)]
    assert all(float((one[name] - again[name]).abs().max()) < 1e-5 for name in one)
    differ = {name for name in one if float((one[name] - other[name]).abs().max()) > 1e-6}
    assert {name.split(".")[2] for name in differ if name.startswith("encoder.")} == set("2345")
    assert {name.rpartition(".")[0] for name in one if not name.startswith("encoder.")} == set(SHAPES)
    base = released().weights
    assert not any(weight.requires_grad for weight in (*base.values(), *one.values()))


def test_a_training_continues_from_the_weights_that_it_is_given() -> None:
    start, _ = small_risk()
    still = RiskRecipe(
        seed=1,
        epochs=1,
        least_steps=1,
        tokens=128,
        members=1,
        layer_rate=0.0,
        head_rate=0.0,
        weight_decay=0.0,
    )
    with one_thread():
        texts = [snippet(seed) for seed in range(40)]
        found = train_risk(texts, STAND_INS, still, lambda _: None, start)
    assert found.keys() == start.keys()
    assert all(float((found[name] - start[name]).abs().max()) == 0 for name in found)


def test_the_model_is_the_mean_of_trainings_that_begin_alike_and_differ(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recipe = RiskRecipe(seed=1, epochs=1, least_steps=2, tokens=2_048, members=2)
    reports: list[Progress] = []
    starts, members = [], []

    def watched(start: "dict[str, Tensor]", *others: Any) -> "dict[str, Tensor]":
        starts.append({name: weight.clone() for name, weight in start.items()})
        members.append(member(start, *others))
        return members[-1]

    member = risk._member
    monkeypatch.setattr(risk, "_member", watched)
    mean = learned(recipe, reports)
    assert [(progress.step, progress.steps) for progress in reports] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    for name, weight in mean.items():
        assert bool((starts[0][name] == starts[1][name]).all())
        assert float((weight - (members[0][name] + members[1][name]) / 2).abs().max()) < 1e-6
    assert any(float((members[0][name] - members[1][name]).abs().max()) > 1e-4 for name in mean)


@st.composite
def scored_texts(draw: st.DrawFn) -> ScoredText:
    """Pieces of which some are mentions, the same one several times, and some overlapping ones."""
    text, mentions = "", []
    for _ in range(draw(st.integers(0, 9))):
        start = len(text)
        piece = draw(st.sampled_from(["Keldra", "keldra", "Odalys Vashti", "Norvexa", "lamp", "😀"]))
        text += piece + draw(st.sampled_from([" ", "", "\n"]))
        if draw(st.booleans()):
            label = draw(st.sampled_from([PERSON, DRUG, "zorblax"]))
            mentions.append((start, start + len(piece), label, draw(st.sampled_from([0.0, 0.3, 0.9]))))
            if draw(st.booleans()):
                mentions.append((start, start + draw(st.integers(1, len(piece))), DRUG, 0.1))
    return ScoredText(
        text,
        tuple((start, end) for start, end, _, _ in mentions),
        tuple(label for _, _, label, _ in mentions),
        tuple(score for *_, score in mentions),
        0.5,
    )


@settings(max_examples=200)
@given(scored_texts(), st.sampled_from([0.0, 0.3, 1.0]), st.integers(0, 99))
def test_what_stays_when_some_is_taken_out_keeps_its_place(text: ScoredText, share: float, seed: int) -> None:
    left = with_masked_entities(text, STAND_INS, share, random.Random(seed))
    assert left.weight == text.weight
    old = [
        (text.text[start:end], label, score)
        for (start, end), label, score in zip(text.places, text.labels, text.scores, strict=True)
    ]
    new = [
        (left.text[start:end], label, score)
        for (start, end), label, score in zip(left.places, left.labels, left.scores, strict=True)
    ]
    assert not Counter(new) - Counter(old)
    assert all(one[1] <= other[0] for one, other in zip(left.places, left.places[1:], strict=False))
    if share == 0:
        assert left.text == text.text
        assert {name for name, _, _ in new} <= {name for name, _, _ in old}
        if not overlapping(text.places):
            assert new == old
    if share == 1:
        stayed = {name.casefold() for name, _, _ in new}
        assert len(stayed) == min(1, len(old)) or (not stayed and overlapping(text.places))
    if not overlapping(text.places):
        # A thing is gone everywhere or nowhere, whatever its case.
        gone = {name.casefold() for name, _, _ in old} - {name.casefold() for name, _, _ in new}
        assert sum(name.casefold() not in gone for name, _, _ in old) == len(new)
        assert left.text == rewritten(text, gone)


def overlapping(places: Sequence[tuple[int, int]]) -> bool:
    ordered = sorted(places)
    return any(one[1] > other[0] for one, other in zip(ordered, ordered[1:], strict=False))


def rewritten(text: ScoredText, gone: set[str]) -> str:
    """The text with the mentions that are gone replaced from the end, which moves no earlier place."""
    result = text.text
    for (start, end), label in sorted(zip(text.places, text.labels, strict=True), reverse=True):
        if result[start:end].casefold() in gone:
            result = result[:start] + STAND_INS.get(label, f"a {label}") + result[end:]
    return result


def test_the_cases_are_read_in_passages_with_the_annotators_words_as_scores(tmp_path: Path) -> None:
    (tmp_path / "spia").mkdir()
    text = "lamp " * 200 + "Keldra of Varde paid 4711 " + "lamp " * 150
    entities = [
        {"start_offset": 1_010, "end_offset": 1_015, "entity_type": "LOC", "identifier_type": "QUASI"},
        {"start_offset": 1_000, "end_offset": 1_006, "entity_type": "PERSON", "identifier_type": "DIRECT"},
        {"start_offset": 1_021, "end_offset": 1_025, "entity_type": "CODE", "identifier_type": "NO_MASK"},
    ]
    about = {"data_id": "TAB-1", "provenance": {"doc_id": "001-1"}}
    line = json.dumps({"text": text, "entities": entities, "metadata": about})
    (tmp_path / "spia" / "tab_train.jsonl").write_text(line + "\n", encoding="utf-8")
    (passage,) = identifier_signals(tmp_path, without={"spia/TAB-2"})
    assert [passage.text[start:end] for start, end in passage.places] == ["Keldra", "Varde", "4711"]
    assert passage.labels == (PERSON, "place", "reference number")
    assert passage.scores == (SCORES["DIRECT"], SCORES["QUASI"], SCORES["NO_MASK"])
    assert passage.weight == WEIGHT
    assert len(passage.text.split()) == PASSAGE.tokens
    assert identifier_signals(tmp_path, without={"spia/TAB-1"}) == []


def test_without_the_cases_there_are_no_further_signals(tmp_path: Path) -> None:
    assert identifier_signals(tmp_path, ()) == []


def test_nothing_scored_is_refused_at_once() -> None:
    with pytest.raises(ConfigurationError, match=r"^No mention is scored, .*: give scored snippets\.$"):
        train_risk([ScoredText("nobody here", (), (), ())], {}, RiskRecipe(), lambda _: None)
