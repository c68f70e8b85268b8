import itertools
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.annotated import AnnotatedText
from ingest.detection.hybrid import HybridDetector
from ingest.detection.own.detector import OwnDetector
from ingest.detection.own.lists import OwnEntities
from ingest.detection.reading import ReadingDetector
from ingest.detection.repeats import FIELD
from ingest.documents import Document, Entity, Span
from ingest.labels import LABELS, PERSON, label_of
from ingest.language.naming import Naming, naming_of
from ingest.linking.accounts import link_accounts, rigid_apart
from ingest.linking.link import link
from ingest.linking.names import person_at
from ingest.protocols import likely_same
from tests.doubles import PhraseDetector, entity
from tests.small_models import shipped_reader
from tests.strategies import annotated_texts
from tests.timing import cost

Said = tuple[str, str]
"""What stands in a text, and its label; without one it is between the mentions."""
Case = tuple[Document, list[Entity]]
Guesses = Callable[[Sequence[Span]], list[list[int]]]

ORGANIZATION, CITY = "organization", "city name"
MAIL, HANDLE, PAGE, HOLDER = "email address", "account handle", "personal web link", "bank account name"
MANY = settings(max_examples=200, deadline=None)


def told(*parts: Said | str) -> Case:
    """A text of these parts, one after the other, and the mentions in it."""
    text, found = "", []
    for part in parts:
        words, label = part if isinstance(part, tuple) else (part, "")
        if label:
            found.append(entity(len(text), len(text) + len(words), label))
        text += words
    return Document("d", text), found


def apart(mentions: Sequence[Said | str], label: str) -> Case:
    """A text in which mentions stand apart; a plain string is a mention of ``label``."""
    labelled = [(each, label) if isinstance(each, str) else each for each in mentions]
    parts: list[tuple[Said | str, ...]] = [(each, "; ") for each in labelled]
    return told(*itertools.chain.from_iterable(parts))


def numbers(case: Case) -> list[int]:
    return [each.link for each in link(*case)]


def links(*mentions: Said | str, label: str = PERSON) -> list[int]:
    """The links of mentions that stand apart."""
    return numbers(apart(mentions, label))


def both(document: Document, found: Sequence[Entity]) -> list[Entity]:
    return link_accounts(document, link(document, found))


def accounts(*mentions: Said | str) -> list[int]:
    """As ``links``, with links across labels."""
    return [each.link for each in both(*apart(mentions, PERSON))]


def rows(table: str) -> list[list[str]]:
    """The cells between bars, of rows that end at a semicolon or with their line."""
    return [[cell.strip() for cell in row.split("|")] for row in re.split("[;\n]", table.strip())]


ONE_PERSON = """
Anna Keller|KELLER; Anna Keller|Anna; Anna B. Keller|A. Keller; Anna B. Keller|Anna Keller
Anna Beate Keller|Anna B. Keller|A. B. Keller|A.B.K.|A.K.; Anna Keller|A. K.; A. Keller|Keller
Keller, Anna|Anna Keller; KELLER Anna|Anna Keller; Keller, A.|Anna Keller; Anna Keller|Anna K.
Keller's|Keller’s|Keller|KELLER'S; Mr Jonas|Jonas'; Josef Keller|Josef K.
Dr. Anna Keller|Prof. Keller|Judge Keller|Mrs Keller|Keller; Sir Tom Hale|Sir Tom|Lord Hale
Keller, Dr. Anna|Dr. Keller, Anna|Anna Keller; Anna Keller, MD|Anna Keller, Ph.D.|Anna Keller
Jan van der Berg|van der Berg|Van Der Berg|Berg|J. van der Berg|Jan Berg
VAN DER BERG Jan|Jan van der Berg|van der Berg, Jan; Omar al-Masri|Al Masri|Masri|Omar Masri
Faisal bin Omar Said|Faisal Said|Bin Omar Said; Sean O'Hara|O’Hara|O'HARA|OHara|O' Hara|S. O'Hara
Maria de la Cruz|de la Cruz|Cruz|Maria Cruz; Łukasz Ødegård|Lukasz Odegard|ODEGARD
Jean-Luc Martin|Jean Luc Martin|Martin|Jean-Luc|Jean|J.-L. Martin
Anna Keller-Braun|Keller-Braun|Keller|Braun|Anna Keller Braun
Jörg Müller|MÜLLER|Muller|Müller|Jorg Muller|J. Müller; John Smith Jr.|John Smith|Smith, John, Jr|Smith Jr
"""
FITS_TWO = """
Anna Keller|Tom Keller|Keller; Anna Keller|Anna Braun|Anna; Anna Keller|Arno Keller|A. Keller
Anna Keller|Arno Keller|A. B. Keller; Anna Keller|Arno Kramer|A.K.; Anna Keller|Arno Kramer|AK
Anna Keller|Anna Kramer|Anna K.; Anna B. Keller|Anna C. Keller|Anna Keller
Martin Keller|Anna Martin|Martin; Jan van der Berg|Ida Berg|Berg; John Smith Jr|John Smith Sr|John Smith
Anna Keller-Braun|Tom Braun|Braun; Jörg Müller|Ute Muller|MÜLLER
"""
OTHERS = """
Anna Keller|Bernd Keller; Anna Keller|B. Keller; Anna Bea Keller|B. Keller; Anna C. Keller|A. B. Keller
Anna C. Keller|Anna B. Keller; A. Keller|Anna; B. Keller|B.; J.K.|K.; Anna Keller|B.K.; Anna Keller|A.B.
Anna Keller|Ak; John Smith Jr|John Smith Sr; Jan van der Berg|Jan de Berg; Olga Neill|Sean O'Neill
AJ Keller|Tom Keller; Mr Keller|Mrs Anna Keller; Herr Dr. Keller|Frau Keller; Mr A. Keller|Mrs A. Keller
AK|Tom Braun; Keller|akeller; Li Na|Lina
"""
NUMBERED = """
0120|Mr Keller|Mrs Keller|Keller|Mr. Keller; 01012|Mrs Anna Keller|Mr Tom Keller|Mrs Keller|Mr Keller|Keller
012|Anna Keller|Mr Keller|Mrs Keller; 000|Mr Keller|Dr Keller|Keller; 000|LI Wei|LI|Li
010|Anna Keller|Ak|AK; 012|Anna Keller|Arno Klein|AK; 0000|Anna Keller|akeller|kellera|annakeller
012|Anna Keller|Arno Keller|akeller; 010|---|...|---
"""


@pytest.mark.parametrize("names", rows(ONE_PERSON))
def test_forms_of_one_name_are_one_person(names: Sequence[str]) -> None:
    assert set(links(*names)) == {0}
    assert set(links(*reversed(names))) == {0}


@pytest.mark.parametrize("names", rows(FITS_TWO))
def test_a_form_that_fits_two_people_stays_by_itself(names: Sequence[str]) -> None:
    for ordered in itertools.permutations(names):
        assert links(*ordered) == [0, 1, 2]


@pytest.mark.parametrize(("one", "other"), rows(OTHERS))
def test_other_names_are_other_people(one: str, other: str) -> None:
    assert links(one, other) == [0, 1]


@pytest.mark.parametrize("row", rows(NUMBERED))
def test_titles_capitals_and_accounts_say_who_is_who(row: Sequence[str]) -> None:
    assert links(*row[1:]) == list(map(int, row[0]))


def test_a_title_before_the_mention_counts_too() -> None:
    assert numbers(told("Mr ", ("Keller", PERSON), " met Mrs. Dr. ", ("Keller", PERSON))) == [0, 1]


def test_the_same_words_under_another_label_are_another_thing_and_numbers_follow_the_text() -> None:
    assert links("Austin", ("Austin", CITY), ("AUSTIN", CITY)) == [0, 1, 1]
    assert links("Bremen", "Ulm", "BREMEN", label=CITY) == [0, 1, 0]
    document = Document("d", "--- 42 ---")
    found = PhraseDetector({"---": "symptom", "42": "person age"}).detect([document])[0]
    assert numbers((document, found)) == [0, 1, 0]


def test_a_naming_says_what_the_words_are_and_shows_no_name() -> None:
    text = "Mr KELLER-BRAUN, Jörg, Jr."
    span = Span(0, len(text))
    assert naming_of(text, span) == Naming(("jorg", "keller", "braun", "jr"), "m")
    assert naming_of("E. Keller", Span(0, 9)) == Naming(("e", "keller"))
    assert naming_of("AK", Span(0, 2)) == Naming(("ak",), capitals=True)
    shown = repr(naming_of(text, span)) + repr(person_at(text, span))
    assert "eller" not in shown.casefold() and "jorg" not in shown.casefold()


BETWEEN = "The water was cold and the ward was quiet. " * 40


@pytest.mark.parametrize(
    "text",
    [
        "Dr [Orrin Vexley 0] saw [Jana Holub 1] on Monday. [Vexley 0] noted that [Jana 1] slept well. "
        "[J.H. 1] asked [Orrin 0] for a letter. Ms [Holub 1] will call.",
        "Elizabeth Marlow was seen at home with her husband [Graham Marlow 0]. [Liz 1] has not slept. "
        "[Graham 0] worries. [Lizzie 1] refused the tablets.",
        "From: [A. Quarrie 0]\nTo: [Bea Lomax 1]\n\nHi [Bea 1],\nplease ask [AQ 0] or [Lomax 1].\n"
        "[Alastair Quarrie 0]",
        "Mr [Keller 0] signed first. Mrs [Keller 1] signed after him. Mr [Keller 0] left, and Mrs [Keller 1] "
        "stayed.",
        f"[Jana Holub 0] came in. {BETWEEN}[Holub 0] slept. {BETWEEN}[Tobi 1] waited. {BETWEEN}Then "
        "[Jana Holub 0] left.",
    ],
    ids=["initials", "pet names", "mail", "titles", "far apart"],
)
def test_the_reader_knows_people(text: str) -> None:
    parts = re.split(r"\[(.+?) (\d)\]", text)
    said = ((part, PERSON if n % 3 else "") for n, part in enumerate(parts) if n % 3 < 2)
    document, found = told(*said)
    detector = OwnDetector(HybridDetector(ReadingDetector(shipped_reader())), OwnEntities())
    linked = link(document, found, partial(likely_same, detector, document.text))
    assert [str(each.link) for each in linked] == parts[2::3]


LIKELY = st.lists(st.lists(st.integers(0, 30), max_size=4), min_size=40, max_size=40)
FORMS = st.sampled_from("Mr Keller,Mrs Keller,Keller,Anna Keller,Tom Keller,Tom,Ohm,Ida Ohm".split(","))


@st.composite
def people_and_guesses(draw: st.DrawFn) -> tuple[list[str], Guesses]:
    """Forms of names, and any answer that a reader may give of them."""
    names, drawn = draw(st.lists(FORMS, min_size=1, max_size=12)), draw(LIKELY)
    return names, lambda spans: [[each % n for each in drawn[n]] if n else [] for n in range(len(spans))]


@MANY
@given(people_and_guesses(), st.randoms())
def test_whatever_the_reader_says_names_settle_what_they_can(
    case: tuple[list[str], Guesses], chance: random.Random
) -> None:
    names, guesses = case
    document, found = apart(names, PERSON)
    numbers = [each.link for each in link(document, found, guesses)]
    by_name: dict[str, set[int]] = {}
    for name, number in zip(names, numbers, strict=True):
        by_name.setdefault(name, set()).add(number)
    assert not by_name.get("Mr Keller", set()) & by_name.get("Mrs Keller", set())
    assert all(len(by_name[name]) == 1 for name in by_name if " " in name)
    # Whole names with nothing in common are two people.
    kellers = by_name.get("Anna Keller", set()) | by_name.get("Tom Keller", set())
    assert not by_name.get("Ida Ohm", set()) & kellers
    assert list(dict.fromkeys(numbers)) == list(range(len(set(numbers))))
    shuffled = chance.sample(found, len(found))
    assert [each.link for each in link(document, shuffled, guesses)] == numbers


@MANY
@given(people_and_guesses())
def test_two_names_in_fields_are_two_people_whatever_the_reader_says(
    case: tuple[list[str], Guesses],
) -> None:
    document, found = apart(["Una Strake", *case[0], "Strake"], PERSON)
    found[0], found[-1] = (replace(found[place], source=FIELD) for place in (0, -1))
    linked = link(document, found, case[1])
    assert linked[0].link != linked[-1].link


ONE_FIRM = """
Keller & Sons Ltd|Keller & Sons|Keller and Sons Limited|KELLER & SONS; Keller & Co. KG|Keller|The Keller
Varde Harbour S.A.|Varde Harbour SA|Varde Harbour|Varde Harbour's; Møller GmbH|Moller
U.S. Kites Inc.|US Kites|U.S. Kites, Inc; The Company|Company|the company
World Heron Organization (WHO)|WHO|World Heron Organization
"""
OTHER_FIRMS = "Keller Ltd|Keller Inc|Keller; Keller Ltd|Keller Bank; World Heron Organization|WHO"


@pytest.mark.parametrize("names", rows(ONE_FIRM))
def test_forms_of_one_organization_are_one(names: Sequence[str]) -> None:
    assert set(links(*names, label=ORGANIZATION)) == {0}


@pytest.mark.parametrize("names", rows(OTHER_FIRMS))
def test_a_name_that_fits_two_legal_forms_stays_by_itself(names: Sequence[str]) -> None:
    assert links(*names, label=ORGANIZATION) == list(range(len(names)))


@pytest.mark.parametrize(
    ("before", "expected"),
    [("World Heron Organization| (|WHO|) met.|WHO|; |World Heron Organization", [0, 0, 0, 0])]
    + [("World Heron Organization|\n[|W.H.O.|] met.|W.H.O.|; |World Heron Organization", [0, 0, 0, 0])]
    + [("Court of Kite Rights| (the “|CtKR|) met.|CtKR|; |Court of Kite Rights", [0, 0, 0, 0])]
    + [("Keller & Sons Ltd| (hereinafter “|Keller|) met.|Keller|; |Keller & Sons Ltd", [0, 0, 0, 0])]
    + [("WHO| (|World Heron Organization|) met.|World Heron Organization|; |WHO", [0, 0, 0, 0])]
    + [("World Heron Organization| (WHO) met.|WHO", [0, 0])]
    + [("World Heron Organization| (|Ulm|)|Ulm", [0, 1, 1]), ("World Heron Organization| (|Oslo|)", [0, 1])]
    + [("World Heron Organization| (WHO) and |Welsh Hat Office| (WHO). |WHO", [0, 1, 2])],
)
def test_a_short_form_in_brackets_belongs_to_the_one_name_before_that_it_shortens(
    before: str, expected: list[int]
) -> None:
    parts = before.split("|")
    assert numbers(told(*((each, "" if n % 2 else ORGANIZATION) for n, each in enumerate(parts)))) == expected


SAME = """
date|3 May 2019|May 3rd, 2019|3rd of May 2019|2019-05-03|20190503
date|Friday, 3 May 2019|3 May 2019|Fri 3 May, 2019
date|25/12/2018|12/25/2018|25.12.2018|Dec. 25, 2018|25. Dezember 2018
date|04/04/2019|4 April 2019|4 avril 2019
date|03/05/2019|3/5/2019|03.05.2019; date|May 2019|05/2019|mayo de 2019; date|3 May|May 3rd|the 3rd of May
date of birth|1 März 1961|1961-03-01|March 1, 1961; phone number|555-0100|555 0100|5550100|555.0100
IBAN|DE89 3704 0044|de8937040044; email address|Anna.Keller@mill.example|anna.keller@mill.example
email address|anna at mill dot example|anna [at] mill (dot) example|anna@mill.example
monetary amount|1,000 euros|1000 euros|1 000 euros; city name|Zürich|ZURICH|Zürich's; case number|17/3|17-3
"""
DIFFERENT = """
date|03/05/2019|3 May 2019; date|03/05/2019|05/03/2019; date|3 May 2019|3 May 2018; date|3 May 2019|3 May
date|3-5 May 2019|3 May 2019; date|early May 2019|May 2019; date|3/25/19|25 March 2019
date|May 3, '19|3 May 2019; date|2019-13-45|2019-12-31; case number|12/345|123/45
IP address|10.1.1.12|10.11.1.2; monetary amount|10.50|1050; phone number|---|...
"""


@pytest.mark.parametrize("row", rows(SAME))
def test_what_says_the_same_is_the_same(row: Sequence[str]) -> None:
    assert set(links(*row[1:], label=row[0])) == {0}


@pytest.mark.parametrize(("label", "one", "other"), rows(DIFFERENT))
def test_what_says_something_else_is_something_else(label: str, one: str, other: str) -> None:
    assert links(one, other, label=label) == [0, 1]


OF_ANNA = f"""
{MAIL}|anna.keller@mill.example; {MAIL}|Anna_Keller84@mill.example; {MAIL}|keller-anna@mill.example
{MAIL}|akeller+news@mill.example; {MAIL}|Anna_Keller%herons@mill.example; {MAIL}|anna at mill dot example
{MAIL}|keller@mill.example; {HANDLE}|akeller; {HANDLE}|keller_a; {HANDLE}|annak; {HANDLE}|@annakeller
{HANDLE}|@AnnaKeller@herons.example; {PAGE}|https://pages.example/in/anna-keller/
{PAGE}|https://pages.example/user?login=akeller; {PAGE}|annakeller.pages.example
{HOLDER}|Mrs A. Keller; {HOLDER}|Keller, Anna
"""
SPELLED = """
Jan van der Berg|janvanderberg; Jan van der Berg|j.vanderberg; Jan van der Berg|jan.berg
Anna B. Keller|abkeller; Anna B. Keller|annakeller; A. Keller|akeller; Sean O'Hara|sohara
Jörg Müller|jorg.muller; Anna Keller-Braun|anna.keller-braun; John Smith Jr|johnsmith
"""


@pytest.mark.parametrize(("label", "account"), rows(OF_ANNA))
def test_an_account_belongs_to_the_person_whom_it_spells(label: str, account: str) -> None:
    assert accounts("Anna Keller", (account, label), "Keller") == [0, 0, 0]
    assert accounts((account, label), "Tom Braun", "Anna Keller") == [0, 1, 0]


@pytest.mark.parametrize(("name", "account"), rows(SPELLED))
def test_accounts_of_longer_names(name: str, account: str) -> None:
    assert accounts(name, (f"{account}@mill.example", MAIL)) == [0, 0]


@pytest.mark.parametrize(
    "account", ["ak@mill", "info@keller", "bkeller@mill", "annabel@mill", "42@mill", "anna.kramer@mill"]
)
def test_an_account_that_spells_nobody_stays_apart(account: str) -> None:
    assert accounts("Anna Keller", (f"{account}.example", MAIL)) == [0, 1]


def test_an_account_is_joined_to_one_person_alone_and_other_labels_to_none() -> None:
    assert accounts("Anna Keller", "Arno Keller", ("akeller@mill.example", MAIL)) == [0, 1, 2]
    assert accounts("Anna Keller", "Tom Keller", "Keller", ("keller@mill.example", MAIL)) == [0, 1, 2, 3]
    assert accounts("Anna Keller", "Tom Keller", ("tkeller@mill.example", MAIL)) == [0, 1, 1]
    assert accounts("Austin Keller", ("Austin", CITY), ("Keller", ORGANIZATION)) == [0, 1, 2]
    assert accounts(("akeller", HANDLE), ("anna.keller@mill.example", MAIL), "Anna Keller") == [0, 0, 0]


def test_rigid_mentions_have_numbers_of_their_own_where_they_are_set_apart() -> None:
    case = apart(["Anna Keller", ("akeller@mill.example", MAIL), "Keller", ("Ulm", CITY)], PERSON)
    text = AnnotatedText(case[0].text, both(*case))
    assert [each.link for each in text.entities] == [0, 0, 0, 1]
    assert [each.link for each in rigid_apart(text).entities] == [0, 2, 0, 1]
    assert rigid_apart(AnnotatedText("", [])).entities == []


@MANY
@given(annotated_texts())
def test_no_number_is_shared_by_rigid_and_other_mentions(text: AnnotatedText) -> None:
    apart = rigid_apart(text)
    before = {(each.link, label_of(each.label).rigid) for each in text.entities}
    after = {(each.link, label_of(each.label).rigid) for each in apart.entities}
    assert len({number for number, _ in after}) == len(after) == len(before)
    assert [each.at(each.span) for each in text.entities if not label_of(each.label).rigid] == [
        each for each in apart.entities if not label_of(each.label).rigid
    ]


WORDS = "Anna Arno Keller KELLER Kramer van A. B. AK Müller Muller Jr O'Hara ,".split()
NAMES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
PHRASES = "Mrs Keller|Mr Keller|anna.keller@mill.example|akeller|3 May 2019|2019-05-03|555 0100|WHO".split(
    "|"
)


@st.composite
def mentions(draw: st.DrawFn) -> Case:
    """Invented names and other words, each a mention of a person or of a random label."""
    phrases = draw(st.lists(st.one_of(NAMES, st.sampled_from(PHRASES)), min_size=1, max_size=12))
    chosen = st.one_of(st.just(PERSON), st.sampled_from(sorted(LABELS)))
    gaps = st.sampled_from(["; ", " (", ") met Mr ", ". "])
    parts: list[tuple[Said | str, ...]] = [((phrase, draw(chosen)), draw(gaps)) for phrase in phrases]
    return told(*itertools.chain.from_iterable(parts))


@MANY
@given(mentions(), st.randoms())
def test_each_is_linked_once_in_any_order_and_what_is_linked_stays(case: Case, chance: random.Random) -> None:
    document, found = case
    within, across = link(document, found), both(document, found)
    shuffled = chance.sample(found, len(found))
    assert (link(document, shuffled), both(document, shuffled)) == (within, across)
    assert link(document, across) == within
    assert both(document, across) == link_accounts(document, across) == across
    for linked in (within, across):
        assert sorted((e.span, e.label) for e in linked) == sorted((e.span, e.label) for e in found)
        firsts = list(dict.fromkeys(each.link for each in linked))
        assert firsts == list(range(len(firsts)))
    pairs = {(one.link, other.link) for one, other in zip(within, across, strict=True)}
    assert len(pairs) == len({one for one, _ in pairs})


@MANY
@given(st.lists(NAMES, max_size=10))
def test_the_same_words_have_the_same_link(names: list[str]) -> None:
    pairs = set(zip([*names, *names], links(*names, *names), strict=True))
    assert len(pairs) == len(set(names))


@MANY
@given(st.text(min_size=1, max_size=40), st.sampled_from(sorted(LABELS)))
def test_any_characters_can_be_a_mention(said: str, label: str) -> None:
    assert accounts((said, label), (said, label)) == [0, 0]


GIVEN = st.sampled_from(["Anna", "Arno", "Beate", "Bernd", "Ida", "Jens"])
FAMILY = st.sampled_from(["Keller", "Kramer", "Braun", "Mahler", "Ohm"])


@MANY
@given(st.sets(st.tuples(GIVEN, FAMILY), min_size=2, max_size=8), st.data())
def test_a_form_joins_the_one_person_that_it_fits_or_nobody(
    people: set[tuple[str, str]], data: st.DataObject
) -> None:
    named = sorted(people)
    given_name, family = data.draw(st.sampled_from(named))
    readings: dict[str, Callable[[str, str], bool]] = {
        family: lambda g, f: family in (g, f),
        given_name: lambda g, f: given_name in (g, f),
        f"{given_name[0]}.{family[0]}.": lambda g, f: g[0] == given_name[0] and f[0] == family[0],
        f"{given_name[0]}. {family}": lambda g, f: g[0] == given_name[0] and f == family,
        f"{family}, {given_name}": lambda g, f: (g, f) == (given_name, family),
    }
    form = data.draw(st.sampled_from(sorted(readings)))
    found = links(*(f"{g} {f}" for g, f in named), form)
    fitting = [number for number, (g, f) in enumerate(named) if readings[form](g, f)]
    assert found[:-1] == list(range(len(named)))
    assert found[-1] == (fitting[0] if len(fitting) == 1 else len(named))


CROWDS: dict[str, Callable[[int], list[str]]] = {
    # Many share a first name, many a surname, and none both.
    "a grid": lambda count: [
        f"A{one}x K{other}y" for one in range(int(count**0.5)) for other in range(int(count**0.5))
    ],
    "one surname": lambda count: [f"X{n}y Keller" for n in range(count // 2)] + ["X. Keller"] * (count // 2),
    "one surname and middle initials": lambda count: [
        f"{'ABCDEFGHIJ'[n % 10]}{n}x {'KLMNOPQRST'[n // 10 % 10]}. Keller" for n in range(count)
    ],
    "initials alone": lambda count: [f"An{n}x Ke{n}y" for n in range(count // 2)]
    + [f"{one}.{other}." for one in "ABCDEFGH" for other in "ABCDEFGHKLMN"] * (count // 192),
    "long mentions": lambda count: ["KELLER md, " * (count // 4), "A." * count, "Keller (" * count],
    "one word": lambda count: [f"Ke{n % 7}x" for n in range(count)],
    ORGANIZATION: lambda count: [f"Mill {n} Ltd" for n in range(count)],
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("crowd", CROWDS)
def test_linking_a_crowd_is_not_quadratic(crowd: str) -> None:
    def seconds(count: int) -> float:
        case = apart(CROWDS[crowd](count), crowd if crowd == ORGANIZATION else PERSON)
        return cost(lambda: both(*case))

    assert seconds(8000) < 9 * seconds(2000)
