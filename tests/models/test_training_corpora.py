"""Every sentence, name, number and case here is invented."""

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.labels import LABELS
from models.corpora.detokenize import PLAIN, SPLIT, Style, joined
from models.corpora.examples import Example
from models.corpora.labels import Part, asked_labels, corpus_facts, label_map, label_names, mapped_corpora
from models.corpora.names import is_date, name_in, person_in
from models.corpora.read import corpora_in, medquad_training_docs, read_corpora
from models.errors import ConfigurationError
from tests.commands import public_data, write_lines

Line = dict[str, Any]
PARTS: tuple[Part, Part] = ("train", "held_out")


def tokens(name: str, text: str, *ner: tuple[int, int, str], **more: Any) -> Line:
    return {"id": name, "tokens": text.split(), "ner": [list(mark) for mark in ner], **more}


def put(folder: Path, file: str, *lines: Line) -> None:
    """The lines as a file of its corpus, whose other files are empty if they are not there yet."""
    corpus, facts = file.split("/")[0], corpus_facts(file.split("/")[0])
    for other in (*facts.get("train", ()), *facts.get("held_out", ())):
        if not (folder / corpus / f"{other}.jsonl").exists():
            write_lines(folder / corpus / f"{other}.jsonl", [])
    write_lines(folder / f"{file}.jsonl", lines)


def read(folder: Path, part: Part = "train", leave_out: Collection[str] = ()) -> list[Example]:
    return list(read_corpora(folder, part, leave_out))


def of(corpus: str, folder: Path, part: Part) -> list[Example]:
    return [example for example in read(folder, part) if example.corpus == corpus]


def found(example: Example) -> list[tuple[str, str]]:
    return [(example.text[m.start : m.end], m.label) for m in example.mentions]


NO_EYES = {*("litbank", "medquad", "broad_twitter", "uner_ewt", "wnut17", "presidio_synth", "spia_posts")}


def test_the_table_knows_its_labels_and_asks_each_once_where_it_is_marked() -> None:
    new, targets = set(label_names("new")), set()
    known = set(LABELS) | new
    assert not new & set(LABELS)
    for corpus in mapped_corpora():
        targets |= {ours for labels in label_map(corpus).values() for ours in labels}
        asked, left_out = asked_labels(corpus), corpus_facts(corpus).get("not_asked", ())
        assert targets | {*asked, *left_out} - {"@surely_absent"} <= known, corpus
        assert len(set(asked)) == len(asked), corpus
        assert "phone IMEI" in asked or corpus in ("presidio_synth", "spia_posts")
        assert ("eye color" in asked) == (corpus not in NO_EYES), corpus
    assert new <= targets, "a name that no corpus has teaches nothing"
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
        (SPLIT, "well - known 59 . 5 m , 18 , 000 in 1999 , 2001", "well-known 59.5 m, 18,000 in 1999, 2001"),
        (SPLIT, "Parkinson ' s disease", "Parkinson's disease"),
        (SPLIT, "I don ' t , we would n ' t", "I don't, we wouldn't"),
        (Style(dashes=True), "No -- never", "No--never"),
        (PLAIN, '(" Bank "), a bank', '("Bank"), a bank'),
    ],
)
def test_tokens_become_text(style: Style, cut: str, text: str) -> None:
    assert joined(cut.split(), style)[0] == text


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


def test_other_names_lose_their_article_and_descriptions_are_none() -> None:
    # One capital word is a name only where it is known to be one.
    assert person_in(["Volunteers"], alone=False) is None
    assert person_in(["Ruiz"]) == (0, 1)
    for words, place in {
        "the University of Ruritania": (1, 4),
        "the 2010 World Cup": (1, 4),
        "the old capital of Ruritania": None,
        "the town": None,
        "the": None,
    }.items():
        assert name_in(words.split()) == place
    assert is_date("last March".split())
    assert not is_date("the following day".split())


ANY, NAME = "any mention of a person", "person full name"
READ: list[tuple[str, list[Line], list[tuple[str, str, str]]]] = [
    (
        "gum/train",
        [
            tokens(
                "GUM_bio_ruiz-1",
                "The painter Ana Ruiz 's brother left Strelsau , the old capital , in May 1902 .",
                *((0, 4, "person"), (0, 5, "person"), (7, 7, "place"), (9, 11, "place"), (14, 15, "time")),
                named=[[0, 4, "person"], [7, 7, "place"]],
            ),
            tokens("GUM_bio_ruiz-2", "She stayed", named=[]),
            tokens("GUM_news-1", "It took the seven days of the week after it .", (2, 9, "time"), named=[]),
        ],
        [
            (
                "The painter Ana Ruiz's brother left Strelsau, the old capital, in May 1902. She stayed",
                "The painter Ana Ruiz: any mention of a person; "
                "The painter Ana Ruiz's brother: any mention of a person; Ana Ruiz: person full name; "
                "Strelsau: any mention of a place; Strelsau: place; the old capital: any mention of a place; "
                "May 1902: date",
                "+date",
            ),
            # A date that hides in a longer mention is unmarked.
            ("It took the seven days of the week after it.", "", "-date"),
        ],
    ),
    (
        "broad_twitter/a",
        [
            tokens("t-0", "Hi @ ana_r and @ Bo9 , love Carla !", (1, 2, "PER"), (5, 5, "PER"), (8, 8, "PER")),
            tokens("t-1", "lunch @ Strelsau Castle with @zed", (2, 3, "LOC")),
            tokens("t-2", "see you @ the fair"),
        ],
        [
            (
                "Hi @ana_r and @Bo9, love Carla!",
                "@ana_r: account handle; @Bo9: account handle; Carla: person full name",
                "",
            ),
            ("lunch @Strelsau Castle with @zed", "Strelsau Castle: place; @zed: account handle", ""),
            ("see you @the fair", "", ""),
        ],
    ),
    (
        "crossner/ai_train",
        [tokens("c-0", "Ruritanian Ana Ruiz chairs RUCON .", (0, 0, "misc"), (1, 2, "researcher"))],
        [("Ruritanian Ana Ruiz chairs RUCON.", "Ana Ruiz: person full name; Ana Ruiz: researcher", "-album")],
    ),
    (
        "sec_filings/train",
        [tokens("s-0", "Ana Ruiz , Borrower , pays Bank .", (0, 1, "PER"), (3, 3, "PER"), (6, 6, "ORG"))],
        [
            (
                "Ana Ruiz, Borrower, pays Bank.",
                "Ana Ruiz: person full name; Borrower: contract party; Bank: contract party",
                "-contract party",
            )
        ],
    ),
    (
        "ncbi_disease/train",
        [tokens("n-0", "Ruiz ' s disease killed .", (0, 3, "Disease")), tokens("n-1", "Cases from Norway .")],
        [
            ("Ruiz's disease killed.", "Ruiz's disease: disease", "+place"),
            # Places are not asked of an abstract that names one.
            ("Cases from Norway.", "", "-place"),
        ],
    ),
]


@pytest.mark.parametrize(("file", "lines", "expected"), READ, ids=[file for file, *_ in READ])
def test_a_corpus_is_read_under_our_labels(
    tmp_path: Path, file: str, lines: list[Line], expected: list[tuple[str, str, str]]
) -> None:
    put(tmp_path, file, *lines)
    examples = read(tmp_path)
    for example, (text, marks, asked) in zip(examples, expected, strict=True):
        assert (example.text, "; ".join(map(": ".join, found(example)))) == (text, marks)
        assert not asked or (asked[1:] in example.asked) == (asked[0] == "+")


def test_passages_are_cut_at_about_120_words_and_at_documents(tmp_path: Path) -> None:
    ids = [f"GUM_{document}-{number}" for document in "ab" for number in range(3)]
    put(tmp_path, "gum/train", *(tokens(name, "word " * 49 + ".", named=[]) for name in ids))
    sizes = [(example.group, len(example.text.split())) for example in read(tmp_path)]
    assert sizes == [("GUM_a", 98), ("GUM_a", 49), ("GUM_b", 98), ("GUM_b", 49)]


def test_a_sentence_that_was_learned_from_is_not_measured_on(tmp_path: Path) -> None:
    learned = tokens("c-0", "Ana Ruiz chairs it .", (0, 1, "researcher"))
    put(tmp_path, "crossner/ai_train", learned)
    put(tmp_path, "crossner/politics_test", learned, tokens("c-1", "Bo Ek chairs .", (0, 1, "politician")))
    assert [example.text for example in read(tmp_path, "held_out")] == ["Bo Ek chairs."]
    assert [example.text for example in read(tmp_path)] == ["Ana Ruiz chairs it."]


def test_litbank_is_put_together_and_cut_into_passages(tmp_path: Path) -> None:
    text = 'Miss Ruiz sat here .\n" Come , " said the old parson to Ana--Bo .'
    marks = [("Miss Ruiz", "PER"), ("here", "FAC"), ("the old parso", "PER"), ("Bo", "PER")]
    spans = [
        {"start": text.index(value), "end": text.index(value) + len(value), "label": label, "text": value}
        for value, label in marks
    ]
    put(tmp_path, "litbank/all", *({"id": f"{i}_novel", "text": text, "spans": spans} for i in range(5)))
    train, held_out = read(tmp_path), read(tmp_path, "held_out")
    assert (len(train), len(held_out)) == (4, 1)
    assert train[0].text == 'Miss Ruiz sat here. "Come," said the old parson to Ana--Bo.'
    whole = [(value, ANY) for value in ("Miss Ruiz", "the old parson", "Bo")]
    assert found(train[0]) == [whole[0], ("Miss Ruiz", NAME), *whole[1:], ("Bo", NAME)]
    assert NAME not in train[0].asked


def case(name: str, text: str = "Mr Bo Ruiz left.") -> Line:
    return {"doc_id": name, "text": text, "mentions": [{"start": 0, "end": 10, "type": "PERSON"}]}


def spia(name: str, kind: str = "NO_MASK") -> Line:
    entity = {"start_offset": 0, "end_offset": 10, "entity_type": "PERSON", "identifier_type": kind}
    about = {"data_id": f"T-{name}", "provenance": {"doc_id": name}}
    return {"metadata": about, "text": "Mr Bo Ruiz left.", "entities": [entity]}


def post(number: int, text: str, *entities: tuple[str, str], slip: int = 0, **profile: str) -> Line:
    provenance = {"profile": {"Unique ID": f"person-{number}", **profile}}
    marks = [
        {"span_text": value, "entity_type": kind, "start_offset": text.index(value) + slip}
        for value, kind in entities
    ]
    about = {"data_id": f"P-{number}", "provenance": provenance}
    return {"metadata": about, "text": text, "entities": marks}


def put_cases(folder: Path) -> None:
    put(folder, "tab/dev", *(case(f"001-{i:03d}") for i in range(127)))
    write_lines(folder / "spia" / "tab_dev.jsonl", [spia(f"001-{i:03d}") for i in range(21)])
    learned = [spia("002-000"), spia("001-000"), spia("002-001", "DIRECT")]
    write_lines(folder / "spia" / "tab_train.jsonl", learned)
    write_lines(folder / "spia" / "panorama_entities.jsonl", [post(i, "Hello") for i in range(10)])


def test_no_case_is_learned_from_in_one_corpus_and_measured_on_in_another(tmp_path: Path) -> None:
    put_cases(tmp_path)
    learned, kept = ({e.group for e in of("tab", tmp_path, part)} for part in PARTS)
    # What spia keeps is kept, and 42 others.
    assert (len(learned), len(kept)) == (64, 63)
    assert {f"001-{i:03d}" for i in range(21)} < kept
    assert not learned & kept
    train = of("spia_cases", tmp_path, "train")
    assert [e.group for e in train] == ["002-000", "002-001"]
    assert found(train[0]) == [("Mr Bo Ruiz", NAME)]
    assert len(of("spia_cases", tmp_path, "held_out")) == 21


def test_the_types_of_a_post_are_mended(tmp_path: Path) -> None:
    text = (
        "@bo_ruiz : Bo here, mail bo@x.test, call 555-010-4477 or 044 1234567, passport X1234567, "
        "ID AA-ID-12345, error 504 gone, at Ruiz and Sons, 5 Elm Road, Strelsau, dad of 2."
    )
    marks = [
        *(("bo_ruiz", "PERSON", "account handle"), ("Bo", "PERSON", NAME)),
        *(("bo@x.test", "CODE", "email address"), ("555-010-4477", "CODE", "phone number")),
        *(("044 1234567", "PERSON", "phone number"), ("X1234567", "PERSON", "passport number")),
        *(("AA-ID-12345", "CODE", "national id number"), ("error 504", "CODE", "")),
        *(("Ruiz and Sons", "PERSON", "organization"), ("5 Elm Road", "LOC", "street address")),
        *(("Strelsau", "ORG", "place"), ("dad of 2", "DEM", "demographic attribute")),
    ]
    profile = {
        **{"First Name": "Bo", "Last Name": "Ruiz", "Passport Number": "X1234567"},
        **{"Employer": "Ruiz and Sons", "Address": "9 Oak Road, Strelsau"},
    }
    put_cases(tmp_path)
    row = post(0, text, *((value, kind) for value, kind, _ in marks), slip=1, **profile)
    write_lines(tmp_path / "spia" / "panorama_entities.jsonl", [row])
    (example,) = of("spia_posts", tmp_path, "held_out")
    mended = [(value, label) for value, _, label in marks if label]
    assert found(example) == [("@bo_ruiz", "account handle"), *mended[1:]]


def put_presidio(folder: Path) -> None:
    spans = [{"start": 5, "end": 7, "label": "PERSON"}]
    lines = ({"id": f"p-{i}", "template_id": i % 10, "text": "I am Bo", "spans": spans} for i in range(40))
    put(folder, "presidio_synth/data", *lines)


def test_a_template_falls_to_one_side(tmp_path: Path) -> None:
    put_presidio(tmp_path)
    train, held_out = (read(tmp_path, part) for part in PARTS)
    sides = [{e.group for e in part} for part in (train, held_out)]
    assert (len(sides[0]), len(sides[1])) == (8, 2)
    assert not sides[0] & sides[1]
    assert len(train + held_out) == 40


def test_blocks_of_twenty_neighbors_fall_to_one_side(tmp_path: Path) -> None:
    put(tmp_path, "wikigold/all", *(tokens(f"wikigold-{i:05d}", f"Sentence {i} .") for i in range(100)))
    train, held_out = ("\n".join(e.text for e in read(tmp_path, part)) for part in PARTS)
    kept = [i for i in range(100) if f"Sentence {i}." in held_out]
    assert kept == list(range(kept[0], kept[0] + 20))
    assert all(f"Sentence {i}." in train for i in range(100) if i not in kept)


def test_the_pages_of_medquad_that_are_learned_from_are_told(tmp_path: Path) -> None:
    path = tmp_path / "medquad" / "data.jsonl.gz"
    about = {"question": "What?"}
    write_lines(
        path, ({"id": f"m-{i}", "doc": f"d-{i % 20}", "answer": f"Rest {i}.", **about} for i in range(60))
    )
    docs, train = medquad_training_docs(tmp_path), read(tmp_path)
    assert (len(docs), len(train)) == (2, 6)
    assert {e.group for e in train} == docs
    assert not any(e.mentions for e in train)
    assert "case number" in train[0].asked
    assert read(tmp_path, "held_out") == []
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(ConfigurationError, match=r"is not in the layout of its corpus"):
        medquad_training_docs(tmp_path)


def test_corpora_that_are_absent_or_left_out_are_not_read(tmp_path: Path) -> None:
    assert corpora_in(tmp_path) == ()
    assert read(tmp_path) == []
    put_cases(tmp_path)
    put_presidio(tmp_path)
    assert corpora_in(tmp_path) == ("tab", "spia_cases", "spia_posts", "presidio_synth")
    left = {e.corpus for e in read(tmp_path, leave_out=("tab", "presidio_synth"))}
    assert left == {"spia_cases", "spia_posts"}
    with pytest.raises(ConfigurationError, match="There is no training corpus named tabb: the names are tab"):
        read_corpora(tmp_path, "train", ("tabb",))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    put(tmp_path, "tab/dev", case("001-1"))
    missing = tmp_path / "spia" / "tab_dev.jsonl"
    with pytest.raises(ConfigurationError) as caught:
        read(tmp_path)
    assert str(caught.value).startswith(f"The training file {missing} is missing: put it there, or leave")


MARKED = {"id": "w", "tokens": ["secret", "Ruiz"]}
BROKEN_PROFILE = post(0, "secret")
BROKEN_PROFILE["metadata"]["provenance"]["profile"]["Social Media Handles"] = "{'x': secret_handle"


@pytest.mark.parametrize(
    ("file", "broken"),
    [
        ("wikigold/all", '{"id": "secret Ruiz'),
        ("wikigold/all", json.dumps({"id": "x", "secret": "Ruiz"})),
        ("wikigold/all", json.dumps({**MARKED, "ner": [[0, 99, "PER"]]})),
        ("wikigold/all", json.dumps({**MARKED, "ner": [[1, 0, "PER"]]})),
        ("wikigold/all", json.dumps(["secret Ruiz"])),
        ("uner_ewt/dev", json.dumps({**tokens("answers-1-0001", "secret left"), "text": "secret has left"})),
        ("tab/dev", json.dumps(case("001-1", text="secret"))),
        ("spia/panorama_entities", json.dumps(BROKEN_PROFILE)),
    ],
    ids=["cut", "no-tokens", "outside", "backward", "list", "other-text", "outside-text", "broken-profile"],
)
def test_a_broken_line_is_named_by_its_place(tmp_path: Path, file: str, broken: str) -> None:
    put_cases(tmp_path)
    path = tmp_path / f"{file}.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_text(broken + "\n")
    with pytest.raises(ConfigurationError) as caught:
        read(tmp_path)
    assert str(caught.value) == (
        f"Line 1 of {path} is not in the layout of its corpus: restore the file, or leave the corpus out."
    )
    assert caught.value.__suppress_context__
    assert caught.value.__cause__ is None


def test_the_web_treebank_keeps_its_own_text(tmp_path: Path) -> None:
    lines = (tokens(f"email-{i // 2}-{i % 2:04d}", "Mail Ana , please !", (1, 1, "PER")) for i in range(6))
    put(tmp_path, "uner_ewt/dev", *({**line, "text": "Mail Ana,  please!"} for line in lines))
    train, held_out = read(tmp_path), read(tmp_path, "held_out")
    assert (len(train), len(held_out)) == (2, 1)
    assert train[0].text == "Mail Ana,  please! Mail Ana,  please!"
    assert found(train[0]) == [("Ana", NAME)] * 2
    assert "Ana" not in repr(train[0])


def test_the_corpora_themselves() -> None:
    folder = public_data("tab")
    known, absent = set(LABELS) | set(label_names("new")), set(label_names("surely_absent")) - {"IBAN"}
    parts = {part: read(folder, part) for part in PARTS}
    for examples in parts.values():
        assert {e.corpus for e in examples} >= set(corpora_in(folder)) - {"medquad"}
        for example in examples:
            values = [example.text[m.start : m.end] for m in example.mentions]
            assert all(value and value == value.strip() for value in values), example.id
            labels = {m.label for m in example.mentions}
            assert set(example.asked) | labels <= known, example.id
            assert not labels & absent, example.id
    learned, kept = ({(e.corpus, e.group) for e in examples} for examples in parts.values())
    assert not learned & kept
    cases = [{g for c, g in side if c in ("tab", "spia_cases")} for side in (learned, kept)]
    assert not cases[0] & cases[1]
    ids = [example.id for examples in parts.values() for example in examples]
    assert len(set(ids)) == len(ids)
