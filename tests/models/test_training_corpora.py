"""Every sentence, name, number and case here is invented."""

import json
from collections.abc import Callable, Collection
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.labels import LABELS
from models.corpora.detokenize import PLAIN, SPLIT, Style, joined
from models.corpora.examples import Example
from models.corpora.labels import (
    Part,
    asked_labels,
    corpus_facts,
    held_out_cases,
    held_out_share,
    label_map,
    label_names,
    mapped_corpora,
    shuffled,
)
from models.corpora.names import is_date, name_in, person_in
from models.corpora.read import corpora_in, medquad_training_docs, read_corpora
from models.errors import ConfigurationError
from tests.commands import public_data, write_lines

Line = dict[str, Any]
PARTS: tuple[Part, Part] = ("train", "held_out")


def tokens(name: str, text: str, *ner: tuple[int, int, str], **more: Any) -> Line:
    return {"id": name, "tokens": text.split(), "ner": [list(mark) for mark in ner], **more}


def read(folder: Path, part: Part = "train", leave_out: Collection[str] = ()) -> list[Example]:
    return list(read_corpora(folder, part, leave_out))


def found(example: Example) -> list[tuple[str, str]]:
    return [(example.text[m.start : m.end], m.label) for m in example.mentions]


def one(folder: Path, part: Part = "train") -> Example:
    (example,) = read(folder, part)
    return example


def test_every_target_is_a_known_label() -> None:
    new = set(label_names("new"))
    known = set(LABELS) | new
    targets = {
        ours for corpus in mapped_corpora() for labels in label_map(corpus).values() for ours in labels
    }
    also = {label for corpus in mapped_corpora() for label in asked_labels(corpus)}
    assert targets | also <= known
    assert new <= targets, "a name that no corpus has teaches nothing"
    assert not new & set(LABELS)
    left_out = {label for corpus in mapped_corpora() for label in corpus_facts(corpus).get("not_asked", ())}
    assert left_out - {"@surely_absent"} <= known


@pytest.mark.parametrize("corpus", sorted(mapped_corpora()))
def test_what_is_asked_is_asked_once_and_of_the_table(corpus: str) -> None:
    asked = asked_labels(corpus)
    assert len(set(asked)) == len(asked)
    assert "phone IMEI" in asked or corpus in ("presidio_synth", "spia_posts")
    assert ("eye color" in asked) == (
        corpus
        not in (
            *("litbank", "medquad", "broad_twitter", "uner_ewt", "wnut17"),
            *("presidio_synth", "spia_posts"),
        )
    )


def test_a_field_of_crossner_asks_only_what_it_marks() -> None:
    for labels in corpus_facts("crossner")["fields"].values():
        assert set(labels) <= set(label_map("crossner"))
    assert "song" in asked_labels("crossner", "music")
    assert "song" not in asked_labels("crossner", "science")
    assert "person full name" in asked_labels("crossner", "ai")


@pytest.mark.parametrize(
    ("style", "cut", "text"),
    [
        (PLAIN, "Ana , Bo ; she said : no !", "Ana, Bo; she said: no!"),
        (PLAIN, "He ( Bo ) paid $ 5 , or 7 % .", "He (Bo) paid $5, or 7%."),
        (PLAIN, "I do n't know Ana 's dog , I 'm new", "I don't know Ana's dog, I'm new"),
        (PLAIN, "the Ruiz ’s and the Simons ' house", "the Ruiz’s and the Simons' house"),
        (PLAIN, '" Good night , " said Bo .', '"Good night," said Bo.'),
        (PLAIN, "“ Yes , ” said ‘ Bo ’ .", "“Yes,” said ‘Bo’."),
        (PLAIN, "see # fun and @ bo_7 :) ok", "see #fun and @bo_7 :) ok"),
        (PLAIN, "rare - for us", "rare - for us"),
        (PLAIN, "he and / or she", "he and/or she"),
        (PLAIN, "in 1914 - 1918", "in 1914-1918"),
        (SPLIT, "a well - known 59 . 5 m and 18 , 000 in 1999 , 2001", None),
        (SPLIT, "Parkinson ' s disease", "Parkinson's disease"),
        (SPLIT, "I don ' t , we would n ' t", "I don't, we wouldn't"),
        (Style(dashes=True), "No -- never", "No--never"),
        (PLAIN, '(" Bank "), a bank', '("Bank"), a bank'),
    ],
)
def test_tokens_become_text(style: Style, cut: str, text: str | None) -> None:
    expected = "a well-known 59.5 m and 18,000 in 1999, 2001" if text is None else text
    assert joined(cut.split(), style)[0] == expected


PIECES = st.sampled_from([*"ab.,;:!?()[]'\"-/#@$%’“”", "n't", "'s", "n", "t", "12", "Ana", " x ", "", "--"])


@given(st.lists(st.one_of(PIECES, st.text(max_size=4)), max_size=12), st.sampled_from([PLAIN, SPLIT]))
def test_every_token_is_at_its_place(cut: list[str], style: Style) -> None:
    text, places = joined(cut, style)
    assert [text[start:end] for start, end in places] == [token.strip() for token in cut]
    assert "".join(text.split()) == "".join("".join(cut).split())


@pytest.mark.parametrize(
    ("mention", "name"),
    [
        ("Ana Ruiz", "Ana Ruiz"),
        ("Ana Ruiz 's", "Ana Ruiz"),
        ("the painter Ana Ruiz", "Ana Ruiz"),
        ("Portuguese author Ana de Ruiz", "Ana de Ruiz"),
        ("Ana Ruiz , who left in 1902", "Ana Ruiz"),
        ("Lee Kwok - hung of the Labour Party", "Lee Kwok - hung"),
        ("a native of Ruiz", None),
        ("the Prime Minister", None),
        ("USI professor of art", None),
        ("the Ruritanians", None),
        ("her brother", None),
    ],
)
def test_the_name_in_a_mention_of_a_person(mention: str, name: str | None) -> None:
    words = mention.split()
    place = person_in(words)
    assert (place and " ".join(words[slice(*place)])) == name


def test_one_capital_word_is_a_name_only_where_it_is_known_to_be_one() -> None:
    assert person_in(["Volunteers"], alone=False) is None
    assert person_in(["Ruiz"]) == (0, 1)


def test_other_names_lose_their_article_and_descriptions_are_none() -> None:
    assert name_in("the University of Ruritania".split()) == (1, 4)
    assert name_in("the 2010 World Cup".split()) == (1, 4)
    assert name_in("the old capital of Ruritania".split()) is None
    assert name_in("the town".split()) is None
    assert name_in(["the"]) is None
    assert is_date("last March".split())
    assert not is_date("the following day".split())


def test_gum_gives_mentions_and_names_in_passages(tmp_path: Path) -> None:
    write_lines(
        tmp_path / "gum" / "train.jsonl",
        [
            tokens(
                "GUM_bio_ruiz-1",
                "The painter Ana Ruiz 's brother left Strelsau , the old capital , in May 1902 .",
                *((0, 4, "person"), (0, 5, "person"), (7, 7, "place"), (9, 11, "place"), (14, 15, "time")),
                named=[[0, 4, "person"], [7, 7, "place"]],
            ),
            tokens("GUM_bio_ruiz-2", "She stayed", named=[]),
            tokens(
                "GUM_news_fair-1",
                "It took the seven days of the week after the fair .",
                (2, 9, "time"),
                named=[],
            ),
        ],
    )
    write_lines(tmp_path / "gum" / "dev.jsonl", [])
    first, second = read(tmp_path)
    assert first.text == (
        "The painter Ana Ruiz's brother left Strelsau, the old capital, in May 1902. She stayed"
    )
    assert found(first) == [
        ("The painter Ana Ruiz", "any mention of a person"),
        ("The painter Ana Ruiz's brother", "any mention of a person"),
        ("Ana Ruiz", "person full name"),
        ("Strelsau", "any mention of a place"),
        ("Strelsau", "place"),
        ("the old capital", "any mention of a place"),
        ("May 1902", "date"),
    ]
    assert (first.group, second.group) == ("GUM_bio_ruiz", "GUM_news_fair")
    assert "date" in first.asked
    assert "date" not in second.asked, "a date that hides in a longer mention is unmarked"


def test_passages_are_cut_at_about_120_words_and_at_documents(tmp_path: Path) -> None:
    sentence = "word " * 49 + "."
    lines = [tokens(f"GUM_{name}-{i}", sentence, named=[]) for name in "ab" for i in range(3)]
    write_lines(tmp_path / "gum" / "train.jsonl", lines)
    write_lines(tmp_path / "gum" / "dev.jsonl", [])
    sizes = [(example.group, len(example.text.split())) for example in read(tmp_path)]
    assert sizes == [("GUM_a", 98), ("GUM_a", 49), ("GUM_b", 98), ("GUM_b", 49)]


def test_what_follows_an_at_sign_is_an_account(tmp_path: Path) -> None:
    lines = [
        tokens("t-0", "Thanks @ ana_r and @ Bo9 , love Carla !", (1, 2, "PER"), (5, 5, "PER"), (8, 8, "PER")),
        tokens("t-1", "lunch @ Strelsau Castle with @zed", (2, 3, "LOC")),
        tokens("t-2", "see you @ the fair"),
    ]
    for section in "abeg":
        write_lines(tmp_path / "broad_twitter" / f"{section}.jsonl", lines if section == "a" else [])
    accounts, place, neither = read(tmp_path)
    assert accounts.text == "Thanks @ana_r and @Bo9, love Carla!"
    assert found(accounts) == [
        ("@ana_r", "account handle"),
        ("@Bo9", "account handle"),
        ("Carla", "person full name"),
    ]
    assert found(place) == [("Strelsau Castle", "place"), ("@zed", "account handle")]
    assert found(neither) == []


def test_a_line_of_crossner_means_several_labels_and_leaves_out_misc(tmp_path: Path) -> None:
    for file in ("literature", "music", "science"):
        for part in ("train", "dev"):
            write_lines(tmp_path / "crossner" / f"{file}_{part}.jsonl", [])
    write_lines(tmp_path / "crossner" / "ai_dev.jsonl", [])
    write_lines(
        tmp_path / "crossner" / "ai_train.jsonl",
        [tokens("c-0", "Ruritanian Ana Ruiz chairs RUCON .", (0, 0, "misc"), (1, 2, "researcher"))],
    )
    example = one(tmp_path)
    assert found(example) == [("Ana Ruiz", "person full name"), ("Ana Ruiz", "researcher")]
    assert "conference" in example.asked
    assert "album" not in example.asked


def test_a_sentence_that_was_learned_from_is_not_measured_on(tmp_path: Path) -> None:
    learned = tokens("c-0", "Ana Ruiz chairs it .", (0, 1, "researcher"))
    other = tokens("c-1", "Bo Ek chairs it .", (0, 1, "politician"))
    for field in ("ai", "literature", "music", "science", "politics"):
        for part in ("train", "dev", "test"):
            write_lines(tmp_path / "crossner" / f"{field}_{part}.jsonl", [])
    write_lines(tmp_path / "crossner" / "ai_train.jsonl", [learned])
    write_lines(tmp_path / "crossner" / "politics_test.jsonl", [learned, other])
    assert [example.text for example in read(tmp_path, "held_out")] == ["Bo Ek chairs it."]
    assert [example.text for example in read(tmp_path)] == ["Ana Ruiz chairs it."]


def test_role_words_of_a_contract_are_parties(tmp_path: Path) -> None:
    line = tokens(
        "sec-train-0", "Ana Ruiz , Borrower , pays Bank .", (0, 1, "PER"), (3, 3, "PER"), (6, 6, "ORG")
    )
    write_lines(tmp_path / "sec_filings" / "train.jsonl", [line])
    example = one(tmp_path)
    assert found(example) == [
        ("Ana Ruiz", "person full name"),
        ("Borrower", "contract party"),
        ("Bank", "contract party"),
    ]
    assert "contract party" not in example.asked


def test_places_are_not_asked_of_an_abstract_that_names_one(tmp_path: Path) -> None:
    write_lines(
        tmp_path / "ncbi_disease" / "train.jsonl",
        [
            tokens("n-0", "Ruiz ' s disease in mice .", (0, 3, "Disease")),
            tokens("n-1", "Cases from Norway ."),
        ],
    )
    mice, norway = read(tmp_path)
    assert found(mice) == [("Ruiz's disease", "disease")]
    assert "place" in mice.asked
    assert "person full name" in mice.asked
    assert "place" not in norway.asked


def test_litbank_is_put_together_and_cut_into_passages(tmp_path: Path) -> None:
    text = 'Miss Ruiz sat here .\n" Come , " said the old parson to Ana--Bo .'
    marks = [("Miss Ruiz", "PER"), ("here", "FAC"), ("the old parso", "PER"), ("Bo", "PER")]
    spans = [
        {"start": text.index(value), "end": text.index(value) + len(value), "label": label, "text": value}
        for value, label in marks
    ]
    lines = [{"id": f"{i}_novel", "text": text, "spans": spans} for i in range(5)]
    write_lines(tmp_path / "litbank" / "all.jsonl", lines)
    train, held_out = read(tmp_path), read(tmp_path, "held_out")
    assert (len(train), len(held_out)) == (4, 1)
    assert train[0].text == 'Miss Ruiz sat here. "Come," said the old parson to Ana--Bo.'
    assert found(train[0]) == [
        ("Miss Ruiz", "any mention of a person"),
        ("Miss Ruiz", "person full name"),
        ("the old parson", "any mention of a person"),
        ("Bo", "any mention of a person"),
        ("Bo", "person full name"),
    ]
    assert "person full name" not in train[0].asked


def case(name: str, text: str = "Mr Bo Ruiz left.") -> Line:
    return {"doc_id": name, "text": text, "mentions": [{"start": 0, "end": 10, "type": "PERSON"}]}


def spia(name: str, kind: str = "NO_MASK") -> Line:
    entity = {"start_offset": 0, "end_offset": 10, "entity_type": "PERSON", "identifier_type": kind}
    about = {"data_id": f"T-{name}", "provenance": {"doc_id": name}}
    return {"metadata": about, "text": "Mr Bo Ruiz left.", "entities": [entity]}


def post(number: int, text: str, *entities: tuple[str, str], slip: int = 0, **profile: str) -> Line:
    return {
        "metadata": {
            "data_id": f"P-{number}",
            "provenance": {"profile": {"Unique ID": f"person-{number}", **profile}},
        },
        "text": text,
        "entities": [
            {"span_text": value, "entity_type": kind, "start_offset": text.index(value) + slip}
            for value, kind in entities
        ],
    }


def put_cases(folder: Path) -> None:
    write_lines(folder / "tab" / "dev.jsonl", [case(f"001-{i:03d}") for i in range(127)])
    write_lines(folder / "spia" / "tab_dev.jsonl", [spia(f"001-{i:03d}") for i in range(21)])
    write_lines(
        folder / "spia" / "tab_train.jsonl", [spia("002-000"), spia("001-000"), spia("002-001", "DIRECT")]
    )
    write_lines(folder / "spia" / "panorama_entities.jsonl", [post(i, "Hello") for i in range(10)])


def test_the_cases_that_spia_keeps_and_42_others_are_kept(tmp_path: Path) -> None:
    put_cases(tmp_path)
    ids = {part: {e.group for e in read(tmp_path, part) if e.corpus == "tab"} for part in PARTS}
    assert len(ids["held_out"]) == 63
    assert {f"001-{i:03d}" for i in range(21)} < ids["held_out"]
    assert len(ids["train"]) == 64
    assert not ids["train"] & ids["held_out"]


def test_a_post_with_a_broken_profile_is_told_by_its_place_and_not_by_its_text(tmp_path: Path) -> None:
    row = post(0, "Hello")
    row["metadata"]["provenance"]["profile"]["Social Media Handles"] = "{'x': secret_handle"
    write_lines(tmp_path / "spia" / "panorama_entities.jsonl", [row])
    for file in ("tab_train", "tab_dev"):
        write_lines(tmp_path / "spia" / f"{file}.jsonl", [])
    with pytest.raises(
        ConfigurationError, match=r"^Line 1 of .*panorama_entities\.jsonl is not in the"
    ) as told:
        read(tmp_path)
    assert "secret_handle" not in str(told.value)
    assert told.value.__cause__ is None


def test_no_case_is_learned_from_one_corpus_and_measured_on_in_another(tmp_path: Path) -> None:
    put_cases(tmp_path)
    train = [e for e in read(tmp_path) if e.corpus == "spia_cases"]
    assert [e.group for e in train] == ["002-000", "002-001"]
    assert found(train[0]) == [("Mr Bo Ruiz", "person full name")]
    assert len([e for e in read(tmp_path, "held_out") if e.corpus == "spia_cases"]) == 21


def test_the_types_of_a_post_are_mended(tmp_path: Path) -> None:
    text = (
        "@bo_ruiz : Bo here, mail bo@x.test, call 555-010-4477 or 044 1234567, passport X1234567, "
        "ID AA-ID-12345, error 504 gone, at Ruiz and Sons, 5 Elm Road, Strelsau, dad of 2."
    )
    entities = (
        *(("bo_ruiz", "PERSON"), ("Bo", "PERSON"), ("bo@x.test", "CODE"), ("555-010-4477", "CODE")),
        *(("044 1234567", "PERSON"), ("X1234567", "PERSON"), ("AA-ID-12345", "CODE")),
        *(("error 504", "CODE"), ("Ruiz and Sons", "PERSON"), ("5 Elm Road", "LOC")),
        *(("Strelsau", "ORG"), ("dad of 2", "DEM")),
    )
    profile = {
        "First Name": "Bo",
        "Last Name": "Ruiz",
        "Passport Number": "X1234567",
        "Employer": "Ruiz and Sons",
        "Address": "9 Oak Road, Strelsau",
    }
    put_cases(tmp_path)
    write_lines(tmp_path / "spia" / "panorama_entities.jsonl", [post(0, text, *entities, slip=1, **profile)])
    (example,) = [e for e in read(tmp_path, "held_out") if e.corpus == "spia_posts"]
    assert found(example) == [
        ("@bo_ruiz", "account handle"),
        ("Bo", "person full name"),
        ("bo@x.test", "email address"),
        ("555-010-4477", "phone number"),
        ("044 1234567", "phone number"),
        ("X1234567", "passport number"),
        ("AA-ID-12345", "national id number"),
        ("Ruiz and Sons", "organization"),
        ("5 Elm Road", "street address"),
        ("Strelsau", "place"),
        ("dad of 2", "demographic attribute"),
    ]


def put_presidio(folder: Path) -> None:
    lines = [
        {
            "id": f"p-{i}",
            "template_id": i % 10,
            "text": "I am Bo",
            "spans": [{"start": 5, "end": 7, "label": "PERSON"}],
        }
        for i in range(40)
    ]
    write_lines(folder / "presidio_synth" / "data.jsonl", lines)


def test_a_template_falls_to_one_side(tmp_path: Path) -> None:
    put_presidio(tmp_path)
    sides = {part: {e.group for e in read(tmp_path, part)} for part in PARTS}
    assert (len(sides["train"]), len(sides["held_out"])) == (8, 2)
    assert not sides["train"] & sides["held_out"]
    assert sum(len(read(tmp_path, part)) for part in PARTS) == 40


def test_blocks_of_twenty_neighbors_fall_to_one_side(tmp_path: Path) -> None:
    lines = [tokens(f"wikigold-{i:05d}", f"Sentence {i} .") for i in range(100)]
    write_lines(tmp_path / "wikigold" / "all.jsonl", lines)
    train, held_out = ("\n".join(e.text for e in read(tmp_path, part)) for part in PARTS)
    kept = [i for i in range(100) if f"Sentence {i}." in held_out]
    assert len(kept) == 20
    assert kept == list(range(kept[0], kept[0] + 20))
    assert all(f"Sentence {i}." in train for i in range(100) if i not in kept)


def test_shuffles_depend_on_names_alone() -> None:
    names = [f"g{i}" for i in range(50)]
    assert shuffled(names) == shuffled(reversed([*names, *names]))
    assert shuffled(names) != names
    assert held_out_cases(names, ["g1"]) >= {"g1"}
    assert held_out_share([], Fraction(1, 5)) == frozenset()
    assert len(held_out_share(names[:6], Fraction(1, 5))) == 2


def test_the_pages_of_medquad_that_are_learned_from_are_told(tmp_path: Path) -> None:
    lines = [
        {"id": f"m-{i}", "doc": f"doc-{i % 20}", "answer": f"Rest helps {i}.", "question": "What?"}
        for i in range(60)
    ]
    write_lines(tmp_path / "medquad" / "data.jsonl.gz", lines)
    docs = medquad_training_docs(tmp_path)
    train = read(tmp_path)
    assert len(docs) == 2
    assert {e.group for e in train} == docs
    assert len(train) == 6
    assert not any(e.mentions for e in train)
    assert "case number" in train[0].asked
    assert read(tmp_path, "held_out") == []


def test_corpora_that_are_absent_or_left_out_are_not_read(tmp_path: Path) -> None:
    assert corpora_in(tmp_path) == ()
    assert read(tmp_path) == []
    put_cases(tmp_path)
    put_presidio(tmp_path)
    assert corpora_in(tmp_path) == ("tab", "spia_cases", "spia_posts", "presidio_synth")
    left = {e.corpus for e in read(tmp_path, leave_out=("tab", "presidio_synth"))}
    assert left == {"spia_cases", "spia_posts"}


def test_leaving_out_what_is_no_corpus_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigurationError, match=r"There is no training corpus named tabb: the names are tab, "
    ):
        read_corpora(tmp_path, "train", ("tabb",))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    write_lines(tmp_path / "tab" / "dev.jsonl", [case("001-1")])
    expected = f"The training file {tmp_path / 'spia' / 'tab_dev.jsonl'} is missing: put it there, or leave"
    with pytest.raises(ConfigurationError) as caught:
        read(tmp_path)
    assert str(caught.value).startswith(expected)


def _no_json(line: Line) -> str:
    return '{"id": "secret Ruiz'


def _no_tokens(line: Line) -> str:
    return json.dumps({"id": "x", "secret": "Ruiz"})


def _outside(line: Line) -> str:
    return json.dumps({**line, "ner": [[0, 99, "PER"]]})


def _backward(line: Line) -> str:
    return json.dumps({**line, "ner": [[1, 0, "PER"]]})


def _a_list(line: Line) -> str:
    return json.dumps(["secret Ruiz"])


@pytest.mark.parametrize("broken", [_no_json, _no_tokens, _outside, _backward, _a_list])
def test_a_broken_line_is_named_by_its_place(tmp_path: Path, broken: Callable[[Line], str]) -> None:
    path = tmp_path / "wikigold" / "all.jsonl"
    good = tokens("w-0", "secret Ruiz", (0, 1, "PER"))
    write_lines(path, [good])
    path.write_text(path.read_text() + broken(good) + "\n")
    with pytest.raises(ConfigurationError) as caught:
        read(tmp_path)
    assert str(caught.value) == (
        f"Line 2 of {path} is not in the layout of its corpus: restore the file, or leave the corpus out."
    )
    assert caught.value.__suppress_context__


def test_a_mention_outside_its_text_is_a_broken_line(tmp_path: Path) -> None:
    put_cases(tmp_path)
    write_lines(tmp_path / "tab" / "dev.jsonl", [case("001-1", text="Bo")])
    with pytest.raises(ConfigurationError, match=r"Line 1 of .*dev\.jsonl is not in the layout"):
        read(tmp_path)


def test_a_torn_archive_is_a_broken_line(tmp_path: Path) -> None:
    path = tmp_path / "medquad" / "data.jsonl.gz"
    write_lines(path, [{"id": "m", "doc": "d", "answer": "Rest."}])
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(ConfigurationError, match=r"is not in the layout of its corpus"):
        medquad_training_docs(tmp_path)


def test_the_web_treebank_keeps_its_own_text(tmp_path: Path) -> None:
    lines = [
        {**tokens(f"email-{doc}-{i:04d}", "Mail Ana , please !", (1, 1, "PER")), "text": "Mail Ana,  please!"}
        for doc in range(3)
        for i in range(2)
    ]
    write_lines(tmp_path / "uner_ewt" / "dev.jsonl", lines)
    train, held_out = read(tmp_path), read(tmp_path, "held_out")
    assert (len(train), len(held_out)) == (2, 1)
    assert train[0].text == "Mail Ana,  please! Mail Ana,  please!"
    assert found(train[0]) == [("Ana", "person full name")] * 2
    assert "Ana" not in repr(train[0])


def test_text_that_its_tokens_do_not_make_up_is_a_broken_line(tmp_path: Path) -> None:
    line = tokens("answers-1-0001", "Bo left")
    write_lines(tmp_path / "uner_ewt" / "dev.jsonl", [{**line, "text": "Bo has left"}])
    with pytest.raises(ConfigurationError, match=r"Line 1 of .*dev\.jsonl"):
        read(tmp_path)


def test_the_corpora_themselves() -> None:
    folder = public_data("tab")
    known = set(LABELS) | set(label_names("new"))
    groups: dict[str, set[tuple[str, str]]] = {}
    ids: list[str] = []
    for part in PARTS:
        examples = read(folder, part)
        groups[part] = {(e.corpus, e.group) for e in examples}
        assert {e.corpus for e in examples} >= set(corpora_in(folder)) - {"medquad"}
        for example in examples:
            values = [example.text[m.start : m.end] for m in example.mentions]
            assert all(value and value == value.strip() for value in values), example.id
            assert set(example.asked) | {m.label for m in example.mentions} <= known, example.id
            assert not {m.label for m in example.mentions} & (set(label_names("surely_absent")) - {"IBAN"}), (
                example.id
            )
            ids.append(example.id)
        groups[f"{part} cases"] = {(c, g) for c, g in groups[part] if c in ("tab", "spia_cases")}
    assert not groups["train"] & groups["held_out"]
    assert not {g for _, g in groups["train cases"]} & {g for _, g in groups["held_out cases"]}
    assert len(set(ids)) == len(ids)
