"""Training the detector: the mixture of its texts and the training itself. All names here are invented."""

import math
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from statistics import mean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.corpora.examples import Example, Mention
from models.detectors.embedded import EmbeddedDetector
from models.detectors.network import HEADS
from models.detectors.words import words_of
from models.encoders.minilm import released
from models.errors import ConfigurationError
from models.training.commands import fitted, make_detector
from models.training.detector import FIRST_WORD_LOGIT, Recipe, _steps, new_parameters
from models.training.labels import SHARES
from models.training.mixture import FINISHING_SHARES, LOWERED, SWAPPED, Mixture, with_names
from models.training.optimizing import Progress, Rates, ahead, optimizer_of, take_step
from models.training.thresholds import BALANCED, PROFILES, RECALL
from tests.small_models import (
    PERSON,
    SHORT,
    invented_example,
    name_detector,
    trained,
)

POOL = {1: ["Zorvath", "Ilm", "Quorinda"], 2: ["Bo Ek", "Umbrella Okonjo", "T. Vask"]}


def test_training_lowers_the_loss_and_finds_the_planted_names() -> None:
    weights, reports = name_detector()
    assert reports[-1].loss < 0.3 * reports[0].loss
    detector = EmbeddedDetector("names", weights, [PERSON], {PERSON: 0.5})
    unseen = [invented_example(seed) for seed in range(1_000, 1_020)]
    assert not {example.text for example in unseen} & {invented_example(seed).text for seed in range(200)}
    gold = [{(mention.start, mention.end) for mention in example.mentions} for example in unseen]
    found = [{(s.start, s.end) for s in spans} for spans in detector.find([e.text for e in unseen])]
    right = sum(len(wanted & ours) for wanted, ours in zip(gold, found, strict=True))
    assert sum(map(len, gold)) > 40
    assert right >= 0.9 * sum(map(len, gold))
    assert right >= 0.9 * sum(map(len, found))


def test_a_seed_fixes_the_weights_and_every_layer_and_part_is_trained() -> None:
    recipe = replace(SHORT, steps=2, tokens=64, dropout=0.1)
    reports: list[Progress] = []
    one = trained(recipe, reports.append, every=1)
    again = trained(recipe, lambda _: None)
    other = trained(replace(recipe, seed=3), lambda _: None)
    assert [(progress.step, progress.steps) for progress in reports] == [(1, 2), (2, 2)]
    assert all(float((one[name] - again[name]).abs().max()) < 1e-5 for name in one)
    differ = {name for name in one if float((one[name] - other[name]).abs().max()) > 1e-6}
    assert {name.split(".")[2] for name in differ if name.startswith("encoder.")} == set("012345")
    assert {name.split(".")[0] for name in differ} == {
        *("encoder", "projection", "labels_projection", "out", "need", *HEADS)
    }
    base = released().weights
    assert all(float((one[n] - base[n]).abs().max()) > 0 for n in one if n.endswith("query.weight"))
    assert not any(weight.requires_grad for weight in one.values())


def test_training_leaves_the_released_weights_alone() -> None:
    before = {name: weight.clone() for name, weight in released().weights.items()}
    trained(replace(SHORT, steps=1, tokens=64), lambda _: None)
    assert all(weight.equal(before[name]) for name, weight in released().weights.items())
    assert not any(weight.requires_grad for weight in released().weights.values())


def test_at_first_every_word_is_said_to_be_nothing() -> None:
    import torch

    torch.manual_seed(0)
    weights = {name: weight.detach() for name, weight in new_parameters(released().weights).items()}
    detector = EmbeddedDetector("new", weights, [PERSON], {PERSON: 1e-9})
    texts = [invented_example(seed).text for seed in range(4)]
    hits = [hit for of_text in detector.hits(texts, [words_of(text) for text in texts]) for hit in of_text]
    assert mean(math.log(hit.score / (1 - hit.score)) for hit in hits) == pytest.approx(
        FIRST_WORD_LOGIT, abs=0.7
    )
    assert sum(hit.begins for hit in hits) == 0


@settings(max_examples=20)
@given(st.integers(1, 12), st.integers(60, 600), st.integers(1, 4))
def test_as_many_batches_as_steps_and_none_too_large(steps: int, tokens: int, pool: int) -> None:
    examples = [invented_example(seed) for seed in range(40)]
    made = list(_steps(Mixture(examples, 1), Recipe(steps=steps, tokens=tokens, pool=pool)))
    assert len(made) == steps
    for rows in made:
        assert rows
        assert len(rows) == 1 or len(rows) * max(len(row.ids) for row in rows) <= tokens


@pytest.mark.parametrize("number", [1, 3, 9])
def test_what_is_made_ahead_comes_in_order_and_whole(number: int) -> None:
    assert list(ahead(iter(range(7)), number)) == list(range(7))
    assert list(ahead(iter(()), number)) == []


def test_what_fails_ahead_fails_here() -> None:
    def broken() -> Iterator[int]:
        yield 1
        raise ConfigurationError("The corpus is gone.")

    with pytest.raises(ConfigurationError, match=r"^The corpus is gone\.$"):
        list(ahead(broken(), 2))


def test_rates_rise_to_their_peak_and_fall_to_nothing() -> None:
    import torch

    rates = Rates(layer_rate=0.5, head_rate=2.0, warmup=0.1, weight_decay=0.0)
    parameters = {name: torch.ones(2, 2, requires_grad=True) for name in ("encoder.a", "head")}
    optimizer = optimizer_of(parameters, rates)
    used = []
    for step in range(1, 101):
        loss = torch.stack([weight.sum() for weight in parameters.values()]).sum()
        take_step(optimizer, loss, parameters, step, 100, rates)
        used.append([group["lr"] / group["peak"] for group in optimizer.param_groups])
    assert sorted(group["peak"] for group in optimizer.param_groups if group["params"]) == [0.5, 2.0]
    assert all(share == pytest.approx(shares[0]) for shares in used for share in shares)
    shares = [of_step[0] for of_step in used]
    assert shares[:10] == pytest.approx([0.1 * step for step in range(1, 11)], rel=0.01)
    assert max(shares) == pytest.approx(1.0, rel=0.02)
    assert all(later < sooner for sooner, later in zip(shares[10:], shares[11:], strict=False))
    assert 0 < shares[-1] < 0.02
    # Both went against their gradient, the head four times as far.
    moved = {name: 1 - float(weight.detach().mean()) for name, weight in parameters.items()}
    assert moved["head"] == pytest.approx(4 * moved["encoder.a"], rel=0.01)
    assert moved["encoder.a"] > 1


def test_only_matrices_decay() -> None:
    import torch

    names = ("encoder.a.weight", "encoder.a.bias", "head.weight", "head.bias")
    parameters = {
        name: torch.ones((2, 2) if name.endswith("weight") else (2,), requires_grad=True) for name in names
    }
    rates = Rates(layer_rate=0.1, head_rate=0.1, warmup=0.0, weight_decay=0.5)
    nothing = torch.stack([0 * weight.sum() for weight in parameters.values()]).sum()
    take_step(optimizer_of(parameters, rates), nothing, parameters, 1, 1, rates)
    left = [float(weight.detach().max()) for weight in parameters.values()]
    # A step of the rate times what decays; the only step has half of the rate.
    assert left == pytest.approx([left[0], 1.0, left[0], 1.0])
    assert 0.94 < left[0] < 0.98


FILL = ("then", "saw", "the lamp", "Dr", "of")
OLD = ("Keldra", "Brunek", "Keldra Brunek", "Odalys Vashti", "keldra")


@st.composite
def named_examples(draw: st.DrawFn) -> Example:
    """Names among filler, some within other mentions, some holding one."""
    text, mentions = "", []
    for _ in range(draw(st.integers(1, 10))):
        start = len(text)
        piece = draw(st.sampled_from(OLD + FILL))
        text += piece + " "
        if piece not in OLD:
            continue
        mentions.append(Mention(start, start + len(piece), PERSON))
        kind = draw(st.sampled_from(["alone", "held", "same", "holding", "nested", "crossed"]))
        if kind == "held" and start:
            mentions.append(Mention(start - 1, len(text), "identifying detail"))
        if kind == "same":
            mentions.append(Mention(start, start + len(piece), "any mention of a person"))
        if kind == "holding":
            mentions.append(Mention(start, start + 3, "person title"))
        if kind == "nested":
            mentions.append(Mention(start + len(piece) - 6, start + len(piece), PERSON))
        if kind == "crossed":
            mentions.append(Mention(max(0, start - 2), start + 2, draw(st.sampled_from([PERSON, "place"]))))
    return Example("x", "invented", "g", text, tuple(mentions), (PERSON,))


def is_cut(mention: Mention, example: Example) -> bool:
    """Whether another one overlaps it without holding it whole."""
    inside = set(range(mention.start, mention.end))
    others = [set(range(other.start, other.end)) for other in example.mentions]
    return any(inside & other and not inside <= other for other in others)


@settings(max_examples=300)
@given(named_examples(), st.integers(0, 99))
def test_other_names_stand_where_names_stood_and_the_rest_is_as_it_was(example: Example, seed: int) -> None:
    given_names = with_names(example, POOL, random.Random(seed))
    pairs = list(zip(example.mentions, given_names.mentions, strict=True))
    chosen: dict[str, set[str]] = {}
    for old, new in pairs:
        assert old.label == new.label
        before, after = example.text[old.start : old.end], given_names.text[new.start : new.end]
        assert after
        if old.label == PERSON and before in OLD and not is_cut(old, example):
            assert after in (POOL[len(before.split())] if before[0].isupper() else [before])
            chosen.setdefault(before, set()).add(after)
    assert all(len(names) == 1 for names in chosen.values())
    assert chosen.get("keldra", {"keldra"}) == {"keldra"}

    def rest(text: str, mentions: tuple[Mention, ...]) -> str:
        inside = {at for mention in mentions for at in range(mention.start, mention.end)}
        return "".join(character for at, character in enumerate(text) if at not in inside)

    assert rest(example.text, example.mentions) == rest(given_names.text, given_names.mentions)


def test_names_are_replaced_unless_another_mention_cuts_them() -> None:
    text = "Keldra saw Odalys Vashti and Keldra"
    every = (Mention(0, 6, PERSON), Mention(11, 24, PERSON), Mention(29, 35, PERSON))
    example = Example("x", "invented", "g", text, every, (PERSON,))
    new = with_names(example, POOL, random.Random(0))
    first, second, third = (new.text[m.start : m.end] for m in new.mentions)
    assert first == third
    assert first in POOL[1]
    assert second in POOL[2]
    assert new.text == f"{first} saw {second} and {first}"

    nested = replace(example, mentions=(Mention(11, 24, PERSON), Mention(18, 24, PERSON)))
    new = with_names(nested, POOL, random.Random(0))
    outer, inner = (new.text[m.start : m.end] for m in new.mentions)
    assert inner in POOL[1]
    assert outer == f"Odalys {inner}"


@pytest.mark.parametrize("shares", [SHARES, FINISHING_SHARES])
def test_the_mixture_keeps_its_shares(shares: Mapping[str, float]) -> None:
    names = ("tab", "gum", "synthetic", "wnut17")
    examples = [
        replace(invented_example(seed), corpus=name, text="lamp " * (20 + seed % 60), mentions=())
        for name in names
        for seed in range(30)
    ]
    mixture = Mixture(examples, 5, shares)
    characters: Counter[str] = Counter()
    for _ in range(4_000):
        example = mixture.draw()
        characters[example.corpus] += len(example.text)
    total = sum(shares[name] for name in names)
    for name in names:
        assert characters[name] / characters.total() == pytest.approx(shares[name] / total, rel=0.03)


def test_the_mixture_is_fixed_by_its_seed_and_reads_all() -> None:
    examples = [invented_example(seed) for seed in range(50)]

    def drawn(seed: int) -> list[Example]:
        mixture = Mixture(examples, seed)
        return [mixture.draw() for _ in range(100)]

    assert drawn(1) == drawn(1) != drawn(2)
    assert Counter(example.id for example in drawn(1)) == Counter({example.id: 2 for example in examples})


def test_some_texts_get_other_names_and_some_lose_their_case() -> None:
    examples = [invented_example(seed) for seed in range(50)]
    mixture = Mixture(examples, 1)
    own = {example.id: example.text for example in examples}
    drawn = [mixture.draw() for _ in range(600)]
    lowered = sum(example.text == example.text.lower() for example in drawn) / len(drawn)
    renamed = sum(example.text.lower() != own[example.id].lower() for example in drawn) / len(drawn)
    assert lowered == pytest.approx(LOWERED, abs=0.03)
    # Some get the names that they had.
    assert SWAPPED / 2 < renamed <= SWAPPED + 0.05
    for example in drawn:
        for mention in example.mentions:
            assert example.text[mention.start : mention.end].isalpha()


def test_a_second_training_goes_on_from_the_first_and_leaves_it_alone() -> None:
    first, reports = name_detector()
    before = {name: weight.clone() for name, weight in first.items()}
    again: list[Progress] = []
    second = trained(replace(SHORT, steps=10, layer_rate=1e-5, head_rate=1e-4), again.append, start=first)
    # A fresh one would begin at the loss that the first began with.
    assert again[0].loss < 0.5 * reports[0].loss
    assert all(bool((first[name] == before[name]).all()) for name in first)
    assert any(bool((second[name] != before[name]).any()) for name in first)


def test_thresholds_are_fitted_for_every_profile_and_label() -> None:
    chosen = fitted(name_detector()[0], [invented_example(seed) for seed in range(2_000, 2_030)])
    assert set(chosen) == {profile.name for profile in PROFILES}
    for profile in (BALANCED, RECALL):
        assert set(chosen[profile.name]) == {"", PERSON}
        assert all(profile.low <= limit <= profile.high for limit in chosen[profile.name].values())


def test_a_folder_without_corpora_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"holds no corpus that the detector could learn from\.$"):
        make_detector(tmp_path, tmp_path / "made", {"recipe": Recipe()}, (), lambda _: None)
    assert not (tmp_path / "made").exists()
