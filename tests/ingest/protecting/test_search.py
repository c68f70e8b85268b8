"""The search over true edits: what may go, what the words are, and how the search ends. Invented texts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.annotated import AnnotatedText
from ingest.documents import Entity, Identifier, Span
from ingest.protecting.adversary import Inference
from ingest.protecting.edits import Edit, deletions, sentences_of, together, written
from ingest.protecting.search import NEAREST, TELLS_NOTHING, Search, offered_edits
from ingest.protecting.wordings import entity_edits, neutral_words, wordings
from models.vectors import Vectors

TEXT = "My wife and I moved here. I retired in May. The harbour is quiet at night, and I like it."


def results(text: str) -> list[str | None]:
    return [written(text, [each]) for each in [*deletions(text), *wordings(text)]]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I fix roofs. The rain came early.", "The rain came early."),
        ("It rained. My tram was late. We walked.", "It rained. We walked."),
        ("My tram was late. It rained.", "My tram was late."),
        ("What a day! #roofer #dad", "What a day! #roofer"),
        ("What a day! #roofer #dad", "What a day! #dad"),
        ("@tove_88 : the crane is stuck", "The crane is stuck"),
    ],
)
def test_what_may_go_leaves_whole_sentences(before: str, after: str) -> None:
    assert after in results(before)


@pytest.mark.parametrize(
    "text",
    [
        "I am a surgeon. Just kidding, I sell shoes.",
        "My sister won. She was proud of that prize.",
        "Can you fix it? No.",
        "It needs the following: A new rope.",
        '"The tide is out. We walk."',
    ],
)
def test_a_sentence_stays_that_the_next_one_leans_on(text: str) -> None:
    first, _ = sentences_of(text)[0]
    assert not any(each.replacements[0][0].start == first.start for each in deletions(text))


def test_the_only_sentence_and_who_speaks_where_several_do_stay() -> None:
    assert not [each for each in deletions("Tove : Hello.\nMoll : Hi there.") if each.kind == "phrase"]
    assert results("I am a surgeon.") == results("") == []


def test_places_of_sentences_are_those_of_the_text() -> None:
    text = "One  day it rained. Two:\n\nThree came."
    found = [(text[span.start : span.end], whole) for span, whole in sentences_of(text)]
    assert found == [("One  day it rained.", True), ("Two:", True), ("Three came.", True)]


ENTRIES = [(words, member) for words, members in neutral_words() for member in members]
DETERMINERS = ("my", "your", "his", "her", "our", "the", "proud")
PLURALS = ("people", "children", "men", "women", "gentlemen", "grandchildren")
SINGULARS = ("actress", "waitress", "stewardess", "missus", "thesis")


def is_plural(words: str) -> bool:
    last = words.split()[-1].rstrip(".")
    return " and " in words or last in PLURALS or (last.endswith("s") and last not in SINGULARS)


@pytest.mark.parametrize(("words", "member"), ENTRIES)
def test_each_entry_keeps_determiner_and_number_and_fits_its_sentence(words: str, member: str) -> None:
    assert not {"thing", "things", "somebody", "someone", "something", "one"} & set(words.split())
    bare = member.removesuffix(".")
    first, said = words.split()[0], bare.split()[0]
    assert (first == said) or {first, said} <= {"a", "an"} or first not in DETERMINERS
    assert first != "an" or words.split()[1][0] in "aeiou"
    assert first != "a" or words.split()[1][0] not in "aeiou"
    if not words.startswith(("in ", "being ", "parental")):
        assert is_plural(words) == is_plural(bare)
    text = f"So much for {bare}." if bare[0].islower() else f"{bare}."
    assert written(text, wordings(text)) == text.replace(bare, words)


def test_all_places_of_an_entry_change_together_with_their_capitals() -> None:
    text = "My wife called. I told my wife. Is my wife’s coat here?"
    (edit,) = wordings(text)
    assert written(text, [edit]) == "My partner called. I told my partner. Is my partner’s coat here?"


STAY = (
    "My mother tongue is Frisian.|My brother met my sister.|I am a woman.|As a man I fish."
    "|They got married to save tax.|We watched My Wife on stage.|My wife-to-be sings.|I'm married with a dog."
)


@pytest.mark.parametrize("text", STAY.split("|"))
def test_words_stay_that_neutral_ones_would_break_or_make_untrue(text: str) -> None:
    assert wordings(text) == []


def entity(text: str, said: str, label: str, link: int = 0) -> Entity:
    start = text.index(said)
    return Entity(Span(start, start + len(said)), label, Identifier.QUASI, 0.9, "test", link)


def after_entities(text: str, *found: Entity) -> list[str | None]:
    return [written(text, [each]) for each in entity_edits(AnnotatedText(text, found), [])]


def test_an_entity_goes_to_a_rung_of_its_ladder_and_only_a_number_to_a_kind_in_brackets() -> None:
    text = "I moved to Marseille by boat."
    (said,) = after_entities(text, entity(text, "Marseille", "city name"))
    assert said is not None and said.startswith("I moved to ") and "France" in said
    text = "Married life is fine, call 0117 496 0000."
    number = entity(text, "0117 496 0000", "phone number", 1)
    found = after_entities(text, entity(text, "Married", "marital status"), number)
    assert found == ["Married life is fine, call [phone number]."]


def test_a_neutral_wording_goes_before_a_rung() -> None:
    text = "My wife sings."
    annotated = AnnotatedText(text, [entity(text, "wife", "demographic attribute")])
    assert [each.kind for each in offered_edits(annotated)] == ["wording"]


def test_what_lies_in_a_deletion_goes_with_it_and_half_of_it_cannot() -> None:
    word = Edit("wording", ((Span(4, 6), "xx"),))
    whole, half = (Edit("phrase", ((span, ""),)) for span in (Span(2, 8), Span(5, 10)))
    assert together([word, whole]) == [(Span(2, 8), "")]
    assert together([word, half]) is None and together([whole, half]) is None
    assert written("abcdefghijkl", [whole, half]) is None


FRAGMENTS = (
    "My wife sings.|I mend nets, and my wife sells fish.|As a nurse, I slept badly.|It rained.|What (a) day!"
    "|#dad|My mother called me when I left.|We sold it (the van).|No.|I work as a roofer.|x|\n|👷"
).split("|")


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=8), st.data())
def test_the_output_is_the_input_with_whole_deletions_and_words_of_the_table(
    fragments: Sequence[str], data: st.DataObject
) -> None:
    text = " ".join(fragments)
    offered = list(offered_edits(AnnotatedText(text, [])))
    chosen = data.draw(st.lists(st.sampled_from(offered), unique=True, max_size=4)) if offered else []
    after = written(text, chosen)
    made = together(chosen)
    if after is None or made is None:
        assert (after, made) == (None, None)
        return
    assert all(not words or words.lower() in dict(neutral_words()) for _, words in made)
    kept, cursor = [], 0
    for span, words in made:
        kept += [text[cursor : span.start], words]
        cursor = span.end
    assert after.casefold() == "".join([*kept, text[cursor:]]).strip(" ").casefold()
    assert after != "" or not text.strip(" ")


@dataclass
class Reader:
    """The more of its words stand in a text, the more certain it is."""

    words: Mapping[str, float]
    name = "reader (test double)"
    asked: list[int] = field(default_factory=list)

    def infer(self, texts: Sequence[str]) -> list[Mapping[str, Inference]]:
        self.asked.append(len(texts))
        certain = [0.5 + sum(gain for word, gain in self.words.items() if word in text) for text in texts]
        return [{"sex": Inference(("male",), said)} for said in certain]


class Letters:
    """A text's vector counts its letters."""

    name, dim, max_tokens = "letters", 26, 1_000

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        return []

    def encode(self, texts: Sequence[str]) -> Vectors:
        counted = [[1 + each.lower().count(chr(97 + n)) for n in range(26)] for each in texts]
        rows = np.array(counted, np.float32)
        unit: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit


def search(words: Mapping[str, float], attributes: Sequence[str] = ("sex",)) -> Search:
    return Search(Reader(words), Letters(), attributes)


def test_a_cue_that_is_no_entity_goes_and_nothing_else() -> None:
    found = search({"wife": 0.3, "retired": 0.2}).search(AnnotatedText(TEXT, []))
    assert found.text == "My partner and I moved here. The harbour is quiet at night, and I like it."
    assert (found.stops, dict(found.edits)) == ({"sex": "protected"}, {"wording": 1, "sentence": 1})
    assert found.before["sex"] == pytest.approx(1.0) and found.after == {"sex": 0.5}
    assert found.rounds == {"text": 2}


@pytest.mark.parametrize(
    ("text", "cue", "stop"), [(TEXT, "whale", "already safe"), ("The harbour.", "harbour", "no edit helps")]
)
def test_what_is_not_inferred_or_cannot_be_helped_stays_and_is_said_to_be_so(
    text: str, cue: str, stop: str
) -> None:
    found = search({cue: 0.3}).search(AnnotatedText(text, []))
    assert (found.text, found.stops, found.edits) == (text, {"sex": stop}, {})


def test_edits_that_gain_next_to_nothing_or_move_too_far_are_not_made() -> None:
    found = search({"wife": 0.005, "harbour": 0.4}).search(AnnotatedText(TEXT, []))
    assert "wife" in found.text and "harbour" not in found.text
    long = f"{'Zzz. ' * 40}A big zoo zzz zzz. The wife."
    found = search({"zz": 0.4}).search(AnnotatedText(long, []))
    near = Letters().encode([long, found.text])
    assert near[0] @ near[1] >= NEAREST


class Both(Reader):
    """Sees the second word only where the first is gone."""

    def infer(self, texts: Sequence[str]) -> list[Mapping[str, Inference]]:
        sure = [0.9 if "wife" in each else 0.8 if "retired" in each else 0.5 for each in texts]
        return [{"sex": Inference(("male",), each)} for each in sure]


def test_what_did_not_help_is_tried_again_before_the_search_ends() -> None:
    found = Search(Both({}), Letters(), ("sex",)).search(AnnotatedText(TEXT, []))
    assert found.stops == {"sex": "protected"} and "retired" not in found.text


def test_a_rewriter_keeps_its_outcomes_by_text_and_shows_none() -> None:
    rewriter = search({"wife": 0.3})
    (text,) = rewriter.rewrite([AnnotatedText(TEXT, [])])
    assert rewriter.outcomes[TEXT].text == text and (rewriter.name, rewriter.truthful) == ("search", True)
    shown = repr((rewriter.outcomes[TEXT], wordings(TEXT)))
    assert "wife" not in shown and "partner" not in shown and "harbour" not in shown


def test_the_attacker_is_compared_with_what_it_says_of_texts_that_tell_nothing() -> None:
    reader = Reader({})
    Search(reader, Letters(), ("sex",))
    assert reader.asked == [len(TELLS_NOTHING)]
