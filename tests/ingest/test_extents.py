"""How far mentions reach. All texts are invented."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.detection.extents import whole
from ingest.detection.kinds import of_its_kind, with_kinds
from ingest.documents import Entity, Identifier, Span
from ingest.labels import label_of
from models.detectors.words import Need
from tests.timing import cost

NEED = Need(0.9, 0.5, 0.2)
NAME, FIRM, AREA = "person full name", "organization", "place"


def mention(text: str, words: str, label: str, source: str = "model:x") -> Entity:
    start = text.index(words)
    return Entity(Span(start, start + len(words)), label, label_of(label).identifier, 0.9, source)


def told(text: str, *marked: tuple[str, str], source: str = "model:x") -> list[tuple[str, str]]:
    found = whole(text, [mention(text, words, label, source) for words, label in marked], lambda _: NEED)
    return [(text[each.span.start : each.span.end], each.label) for each in found]


@pytest.mark.parametrize(
    ("text", "marked", "label", "expected"),
    [
        ("To Ada Lind, Tom Quell and others.", "Ada Lind, Tom Quell", NAME, ["Ada Lind", "Tom Quell"]),
        ("Ada Lind, Tom Quell and Bo Orr came.", "Ada Lind, Tom Quell and Bo Orr", NAME,
         ["Ada Lind", "Tom Quell", "Bo Orr"]),
        ("Tom and Ada Lind came.", "Tom and Ada Lind", NAME, ["Tom", "Ada Lind"]),
        ("Omar quelled died.", "Omar quelled", NAME, ["Omar quelled"]),
        ("Ada emily came.", "Ada emily", NAME, ["Ada emily"]),
        ("Ada's tardiness is known.", "Ada's tardiness", NAME, ["Ada"]),
        ("St Ada's building is open.", "St Ada's building", FIRM, ["St Ada"]),
        ("Mr and Mrs Lind came.", "Mr and Mrs Lind", NAME, ["Mr and Mrs Lind"]),
        ("Lind, Ada came.", "Lind, Ada", NAME, ["Lind, Ada"]),
        ("Ada Lind, MD came.", "Ada Lind, MD", NAME, ["Ada Lind, MD"]),
        ("Ada\nTom Lind came.", "Ada\nTom Lind", NAME, ["Ada", "Tom Lind"]),
        ("Lind Power Company and Orr Gas Company, LLC pay.", "Lind Power Company and Orr Gas Company, LLC",
         FIRM, ["Lind Power Company", "Orr Gas Company, LLC"]),
        ("Lind, Orr & Quell wrote.", "Lind, Orr & Quell", FIRM, ["Lind, Orr & Quell"]),
        ("Lind Gas     12 Orr Oil", "Lind Gas     12 Orr Oil", FIRM, ["Lind Gas", "12 Orr Oil"]),
        ("It was Ada Lind.", "Ada Lind.", NAME, ["Ada Lind"]),
        ("It was Tom Lind Jr. then", "Tom Lind Jr.", NAME, ["Tom Lind Jr."]),
        ("It was Lind Inc. then", "Lind Inc.", FIRM, ["Lind Inc."]),
        ("Lind Gas\t12", "Lind Gas\t12", FIRM, ["Lind Gas", "12"]),
        ("Call Nina, Tobias now.", "Nina, Tobias", NAME, ["Nina", "Tobias"]),
        ("Ada Lind failed a test.", "Ada Lind failed a test", NAME, ["Ada Lind"]),
        ("Ada Lind  P.S. Call", "Ada Lind  P.S.", NAME, ["Ada Lind"]),
        ("Lind v Orr", "Lind v", NAME, ["Lind"]),
        ("Nguyen thi Mai came.", "Nguyen thi Mai", NAME, ["Nguyen thi Mai"]),
        ("Ada orrlind came.", "Ada orrlind", NAME, ["Ada orrlind"]),
        ("Quellby who left", "Quellby who", AREA, ["Quellby"]),
        ("To Anna Lind Tobias Quell Nina Maria Orr all", "Anna Lind Tobias Quell Nina Maria Orr", NAME,
         ["Anna Lind", "Tobias Quell", "Nina Maria Orr"]),
        ("by Anna Maria Lind Quell.", "Anna Maria Lind Quell", NAME, ["Anna Maria Lind Quell"]),
        ("As for Anna Lind", "As for Anna Lind", NAME, ["Anna Lind"]),
        ("Apparently Lind", "Apparently Lind", FIRM, ["Lind"]),
        ("with seven November deals", "seven November", "date", ["November"]),
        ("moved on nine June 2003", "nine June 2003", "date", ["nine June 2003"]),
        ("left on seven August and", "seven August", "date", ["seven August"]),
        ("Transferred.12 March 1984", "12 March 1984", "date", ["12 March 1984"]),
        ("client Kumar P.S. signed", "Kumar P.S.", NAME, ["Kumar P.S."]),
        ("In December 2011 he", "2011", "date", ["December 2011"]),
        ("at 4 p.m., he", "4 p.m", "time", ["4 p.m."]),
        ("told them.\\nNina left", "nNina", NAME, ["Nina"]),
        ("my four year old boy here", "four year old boy", "person age", ["four year old"]),
        ("after 31 years in Safety ", "31 years in Safety", "date", ["31 years"]),
        ("on the 3rd in May ", "3rd in May", "date", ["3rd in May"]),
        ("On Friday Mar. 9th we", "On Friday Mar", "date", ["Friday Mar. 9th"]),
        ("He came in May. 12 people died", "May", "date", ["May"]),
        ("in December. 3 of us left", "in December", "date", ["December"]),
        ("by early Dec. 12 people left", "early Dec", "date", ["early Dec"]),
        ("the Quellby ferry without a", "Quellby ferry without", FIRM, ["Quellby ferry"]),
        ("called Vo than", "Vo than", NAME, ["Vo"]),
    ],
)  # fmt: skip
def test_each_item_of_a_list_is_a_mention(text: str, marked: str, label: str, expected: list[str]) -> None:
    assert [words for words, _ in told(text, (marked, label))] == expected


@pytest.mark.parametrize(
    ("text", "marked", "label", "expected"),
    [
        ("the plant of National Steel here", "Steel", FIRM, "National Steel"),
        ("back in Quellby Kids again", "Quellby", FIRM, "Quellby Kids"),
        ("before the Varde court again", "court", FIRM, "Varde court"),
        ("such as Agua Quell Pool here", "Quell", AREA, "Agua Quell Pool"),
        ("the British Varde Securities Act says", "Varde", AREA, "Varde"),
        ("met Dr Lind Orr there", "Orr", FIRM, "Lind Orr"),
        ("on Monday Quellby closed", "Quellby", FIRM, "Quellby"),
        ("A Long Heading With Quellby Steel In It", "Quellby", FIRM, "Quellby Steel"),
        ("One Two Three Four Five Quellby", "Quellby", FIRM, "Quellby"),
        ("between Quellby Nets, LLC dated", "Quellby Nets", FIRM, "Quellby Nets, LLC"),
        ("with Quellby Gas I, Ltd. and", "Quellby Gas", FIRM, "Quellby Gas I, Ltd."),
        ("of Quellby Steel Inc. today", "Quellby Steel", FIRM, "Quellby Steel Inc."),
        ("of Quellby Steel, Limassol", "Quellby Steel", FIRM, "Quellby Steel"),
        ("at Quellby, Limited quantities", "Quellby", FIRM, "Quellby"),
        ("sued Quellby Nets, Inc. He left", "Quellby Nets", FIRM, "Quellby Nets, Inc"),
    ],
)
def test_a_name_is_whole(text: str, marked: str, label: str, expected: str) -> None:
    assert [words for words, _ in told(text, (marked, label))] == [expected]


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("8 May 1945, 9 May 1946", [("8 May 1945", "date"), ("9 May 1946", "date")]),
        ("09:00 10:00", [("09:00", "time"), ("10:00", "time")]),
        ("Monday, Tuesday", [("Monday", "date"), ("Tuesday", "date")]),
        ("45 34 years", [("45", "person age"), ("34 years", "person age")]),
    ],
)
def test_items_of_one_kind_stay_apart(text: str, marked: list[tuple[str, str]]) -> None:
    assert told(text, *marked) == marked


def test_no_need_is_diluted() -> None:
    text = "On 3 May 2019, 4:15 PM"
    needs = {"3 May 2019": Need(0.9, 0.5, 0.12), "4:15 PM": Need(0.6, 0.7, 0.01)}
    marked = [mention(text, words, "date") for words in needs]
    (found,) = whole(text, marked, lambda span: needs[text[span.start : span.end]])
    assert found.need == Need(0.9, 0.7, 0.12)


@pytest.mark.parametrize(
    "unit", ["Ada Lind and ", "Ada Lind, ", "Lind Ltd and ", "A. ", ".", "\u2003", "Aa "]
)
def test_time_grows_with_the_text_alone(unit: str) -> None:
    def seconds(times: int) -> float:
        text = "Ada " + unit * times
        entity = Entity(Span(0, len(text)), NAME, Identifier.DIRECT, 0.9, "model:x")
        return cost(lambda: whole(text, [entity, replace(entity, label=FIRM)], lambda _: NEED))

    assert seconds(8_000) < 12 * seconds(1_000) + 0.2


def test_time_grows_with_the_mentions_alone() -> None:
    def seconds(times: int) -> float:
        text = "Ada Lind. " * times
        each = [mention("Ada Lind", "Ada Lind", NAME).at(Span(n * 10, n * 10 + 8)) for n in range(times)]
        return cost(lambda: whole(text, each, lambda _: NEED))

    assert seconds(8_000) < 12 * seconds(1_000) + 0.2


def test_a_name_takes_no_words_of_another_mention() -> None:
    assert told("by Quellby Steel", ("Quellby", AREA), ("Steel", FIRM)) == [
        ("Quellby", AREA),
        ("Steel", FIRM),
    ]


@pytest.mark.parametrize(
    ("text", "marked", "expected"),
    [
        ("On 3 May 2019, 4:15 PM it rang.", [("3 May 2019", "date"), ("4:15 PM", "time")],
         "3 May 2019, 4:15 PM"),
        ("On 3 May 2019 at 4:15 pm it rang.", [("3 May 2019", "date"), ("4:15", "time")],
         "3 May 2019 at 4:15 pm"),
        ("On Sunday, 3 May 2019, 4:15 PM", [("Sunday", "date"), ("3 May 2019", "date"), ("4:15 PM", "date")],
         "Sunday, 3 May 2019, 4:15 PM"),
        ("On 3 May, 10:00 AM Central Standard Time", [("3 May", "date"), ("10:00", "time")],
         "3 May, 10:00 AM Central Standard Time"),
        ("At 4:15 PM on it", [("4:15 PM", "time")], "4:15 PM"),
        ("It was 5-6 years ago.", [("6 years", "duration")], "5-6 years"),
        ("On 3-5-6 years", [("6 years", "duration")], "6 years"),
        ("It was on 3 May.", [("on 3 May", "date")], "3 May"),
        ("at 05:00 on 3 May here", [("05:00", "time"), ("3 May", "date")], "05:00 on 3 May"),
        ("on 3 May, 9:30 AM EST here", [("3 May", "date"), ("9:30 AM", "time")], "3 May, 9:30 AM EST"),
        ("on May 3, 2019 here", [("May 3", "date"), ("2019", "date")], "May 3, 2019"),
        ("at .07 Mar .02", [("07 Mar", "date")], "Mar"),
    ],
)  # fmt: skip
def test_a_date_is_one_with_its_time(text: str, marked: list[tuple[str, str]], expected: str) -> None:
    assert [words for words, _ in told(text, *marked)] == [expected]


@pytest.mark.parametrize(
    ("text", "marked", "expected"),
    [
        ("Orr, A. B., and others", [("Orr", NAME), ("A. B.", NAME)], ["Orr, A. B."]),
        ("Orr, Ada came", [("Orr", NAME), ("Ada", NAME)], ["Orr", "Ada"]),
        ("She is 93 yrs old", [("93", "person age"), ("yrs", "person age")], ["93 yrs"]),
        ("the head of probate, who", [("head", "job title")], ["head of probate"]),
        ("the head of the firm here", [("head", "job title")], ["head"]),
        ("Director of Careers and Admissions here", [("Director", "job title")],
         ["Director of Careers and Admissions"]),
        ("an MS in Computer Science here", [("MS", "demographic attribute")], ["MS in Computer Science"]),
        ("the Equality and Fair Pay Commission", [("Equality", FIRM), ("Fair Pay Commission", FIRM)],
         ["Equality and Fair Pay Commission"]),
        ("Lind and Orr Steel", [("Lind", FIRM), ("Orr Steel", FIRM)], ["Lind", "Orr Steel"]),
        ("a retired dentist here", [("retired", "demographic attribute"), ("dentist", "job title")],
         ["retired dentist"]),
        ("President and Chief Officer", [("President", "job title"), ("Chief Officer", "job title")],
         ["President and Chief Officer"]),
        ("of Quellby Nets, LLC here", [("Quellby Nets", FIRM), ("LLC", FIRM)], ["Quellby Nets, LLC"]),
        ("cooks and drivers", [("cooks", "job title"), ("drivers", "job title")], ["cooks", "drivers"]),
        ("Manager, Customer Care", [("Manager", "job title"), ("Customer Care", "job area")],
         ["Manager, Customer Care"]),
        ("head of Quellby Steel", [("head", "job title"), ("Quellby Steel", FIRM)],
         ["head", "Quellby Steel"]),
    ],
)  # fmt: skip
def test_parts_of_a_name_an_age_or_a_job_are_one(
    text: str, marked: list[tuple[str, str]], expected: list[str]
) -> None:
    assert [words for words, _ in told(text, *marked)] == expected


@pytest.mark.parametrize(
    ("text", "marked", "label"),
    [
        ("Yes, ma'am.", "ma", "demographic attribute"),
        ("I don't.", "t", "demographic attribute"),
        ("It was of the two.", "of the", "identifying detail"),
        ("Sugar of two thirty three.", "two thirty three", "person age"),
        ("It read 233.", "233", "person age"),
        ("It read 233 to 240.", "233 to 240", "person age"),
        ("HENT: Clear.", "HENT", NAME),
        ("Yes, Ma'am.", "Ma", NAME),
        ("Dear Colleague:", "Colleague", NAME),
        ("It was around two.", "around", "person age"),
        ("Said:\n3. He left.", "3", "date"),
        ("(12) He left.", "12", "person age"),
        ("He died of old age.", "old age", "person age"),
        ("He died from old age.", "old age", "date"),
        ("The signed NDA came.", "NDA", FIRM),
    ],
)
def test_what_says_nothing_is_dropped(text: str, marked: str, label: str) -> None:
    assert told(text, (marked, label)) == []


@pytest.mark.parametrize(
    ("text", "marked", "label"),
    [
        ("And your age?\n43.", "43", "person age"),
        ("He is one hundred and two.", "one hundred and two", "person age"),
        ("She is fifty three.", "fifty three", "person age"),
        ("He is one hundred and fifteen.", "one hundred and fifteen", "person age"),
        ("I have three, one nineteen, one sixteen.", "one nineteen, one sixteen", "person age"),
        ("The child is 130 months old.", "130", "person age"),
        ("Yes Nina ma'am.", "Nina ma'am", NAME),
        ("My name is L E E.", "L E E", NAME),
        ("My name is M R I.", "M R I", NAME),
        ("Mail C T Quell today.", "C T Quell", NAME),
        ("hi I'm than.", "than", NAME),
        ("hi, I am per.", "per", NAME),
        ("Greta, Friend of ours", "Friend", NAME),
        ("we live in KL now", "KL", AREA),
        ("works at HR Quellby now", "HR", FIRM),
        ("i work at quellby 21", "quellby 21", FIRM),
        ("5   Quellby   12", "5   Quellby   12", "street address"),
        ("LS1   4AB", "LS1   4AB", "zip postal code"),
    ],
)
def test_what_says_something_stays(text: str, marked: str, label: str) -> None:
    assert told(text, (marked, label)) == [(marked, label)]


@pytest.mark.parametrize(
    ("text", "marked", "label", "expected"),
    [
        ("against the United Kingdom lodged", "United Kingdom", FIRM, "country"),
        ("died at the age of sixty nine", "age of sixty nine", "date", "person age"),
        ("a Sierra Leonean national", "Sierra Leonean", NAME, "nationality"),
        ("a Mr German called", "German", NAME, NAME),
        ("up by 9 for my class", "9", "person age", "time"),
        ("she moved at 9 with us", "9", "person age", "person age"),
        ("a Norway national", "Norway", NAME, "nationality"),
        ("under Norway law", "Norway", "county", "country"),
        ("Room 17, then", "17", "place", "secondary address unit"),
        ("Patient: Lind, A. B.", "Lind, A. B.", "demographic attribute", NAME),
        ("so Sat night we", "Sat night", NAME, "date"),
    ],
)
def test_states_and_nationalities_are_known(text: str, marked: str, label: str, expected: str) -> None:
    assert told(text, (marked, label)) == [(marked, expected)]


def test_a_sum_has_its_sign_and_a_code_its_parts() -> None:
    assert told("for $900 each", ("900", "quantity")) == [("$900", "monetary amount")]
    assert told("in the QX3-U3-Manual file", ("QX3", FIRM)) == [("QX3-U3-Manual", FIRM)]
    assert told("a Lind-owned shop", ("Lind", NAME)) == [("Lind", NAME)]


def test_a_name_behind_the_is_no_person() -> None:
    def labels(text: str) -> list[str]:
        found = [mention(text, "Lind", NAME), mention(text, "Orr", NAME)]
        again = [each.at(Span(text.rindex("Lind"), text.rindex("Lind") + 4)) for each in found[:1]]
        named = with_kinds(text, [*found, *again])
        assert all(each.identifier is Identifier.DIRECT for each in named)
        return [each.label for each in named]

    assert labels("the Lind report, says Orr of Lind") == [FIRM, NAME, FIRM]
    assert labels("the Lind family and Orr and Lind") == [NAME, NAME, NAME]


def test_a_name_that_a_firm_begins_with_is_the_firms() -> None:
    def labels(text: str, name: str, *others: tuple[str, str]) -> list[str]:
        found = [mention(text, name, NAME), *(mention(text, *other) for other in others)]
        return [each.label for each in with_kinds(text, found)]

    text = "Lindway sold it, and Lindway Resources Inc. kept it"
    assert labels(text, "Lindway", ("Lindway Resources Inc.", FIRM))[0] == FIRM
    both = ("Lindway Resources Inc.", FIRM), ("Bo Lindway", NAME)
    assert labels(f"{text}, says Bo Lindway", "Lindway", *both) == [NAME, FIRM, NAME]
    assert labels("Lindway v Orr Gas", "Lindway", ("Lindway v Orr Gas", FIRM)) == [NAME, FIRM]
    assert labels("Lindway of Lindway & Orr", "Lindway", ("Lindway & Orr", FIRM)) == [NAME, FIRM]
    assert labels("Anna of Anna Foods Ltd", "Anna", ("Anna Foods Ltd", FIRM)) == [NAME, FIRM]


def test_an_acronym_is_no_person_unless_it_is_somebodys_initials() -> None:
    text = "sent to QVHC by ABL for Ada Bo Lind"
    found = [mention(text, said, NAME) for said in ("QVHC", "ABL", "Ada Bo Lind")]
    assert [each.label for each in with_kinds(text, found)] == [FIRM, NAME, NAME]
    text = "seen by Dr. QVZ today"
    assert [each.label for each in with_kinds(text, [mention(text, "QVZ", NAME)])] == [NAME]


def test_a_town_behind_a_street_is_no_person_and_neither_is_it_elsewhere() -> None:
    def labels(text: str) -> list[str]:
        starts = [place.start() for place in re.finditer("Orrby", text)]
        found = [mention(text, "Orrby", NAME).at(Span(start, start + 5)) for start in starts]
        named = with_kinds(text, found)
        assert all(each.identifier is Identifier.DIRECT for each in named)
        return [each.label for each in named]

    assert labels("of 4 Mill Row, Orrby; the only bakery in Orrby") == ["place", "place"]
    assert labels("of 4 Mill Row, Orrby; then Orrby said") == [NAME, NAME]
    assert labels("the only bakery in Orrby") == [NAME]
    assert labels("On 3 June, Orrby said; in Orrby") == [NAME, NAME]


@pytest.mark.parametrize(
    ("said", "label", "kind"),
    [
        ("co-codamol", "demographic attribute", "medication"),
        ("tonsillitis", NAME, "disease"),
        ("Echo", NAME, NAME),
        ("emergency department", "place", "medical department"),
        ("sodium 128", "medication", "test result"),
        ("losartan 50", "medication", "medication"),
        ("Quorrin", NAME, NAME),
        ("19.1.66", "person age", "date of birth"),
    ],
)
def test_a_medical_term_is_what_it_is(said: str, label: str, kind: str) -> None:
    text = f"seen with {said} today"
    assert of_its_kind(mention(text, said, label), text).label == kind


def test_an_illness_has_its_type_and_a_count_is_no_age() -> None:
    text = "with bipolar II and nineteen pupils, nineteen years"
    ill = of_its_kind(mention(text, "bipolar", "diagnosis"), text)
    assert text[ill.span.start : ill.span.end] == "bipolar II"
    assert of_its_kind(mention(text, "nineteen pupils", "person age"), text).label == "quantity"
    assert of_its_kind(mention(text, "nineteen years", "person age"), text).label == "person age"


def test_a_surname_in_quotes_behind_a_first_name_is_found() -> None:
    text = "(1, 'Anna', 'Orrlind', 'admin'), (2, 'Tom', 'Quell', 'x'), ('Nina', 'The')"
    found = [mention(text, name, NAME) for name in ("Anna", "Tom", "Quell", "Nina")]
    new = with_kinds(text, found)[len(found) :]
    assert [(text[each.span.start : each.span.end], each.label) for each in new] == [("Orrlind", NAME)]


def test_a_length_of_time_is_no_date() -> None:
    assert told("(3 months) then", ("3 months", "date")) == [("3 months", "duration")]
    assert told("It was 3 months ago", ("3 months", "date")) == [("3 months", "date")]


def test_a_month_that_is_somebodys_first_name_is_hers() -> None:
    text = "April Orr came. One was April, and in April we left."
    month = mention(text, "April, and", "date").at(Span(24, 29))
    later = month.at(Span(text.rindex("April"), text.rindex("April") + 5))
    found = with_kinds(text, [mention(text, "April Orr", NAME), month, later])
    assert [each.label for each in found] == [NAME, NAME, "date"]


def test_patterns_and_structures_are_unchanged() -> None:
    assert told("Ada\nTom Lind", ("Ada\nTom Lind", NAME), source="pattern:x") == [("Ada\nTom Lind", NAME)]


LETTERS = st.text("Ad ,\n\t&'.9and", max_size=40)


@given(
    LETTERS, st.integers(0, 39), st.integers(1, 40), st.sampled_from([NAME, FIRM, AREA, "date", "quantity"])
)
def test_mentions_are_within_the_text_and_hold_no_line_break(
    text: str, start: int, length: int, label: str
) -> None:
    end = min(len(text), start + length)
    if start >= end:
        return
    entity = Entity(Span(start, end), label, label_of(label).identifier, 0.9, "model:x")
    for each in whole(text, [entity], lambda _: NEED):
        said = text[each.span.start : each.span.end]
        assert said.strip() and "\n" not in said and "\t" not in said


def test_who_is_named_elsewhere_is_no_place() -> None:
    text = "lives in Quelldale; Quelldale came"
    first = mention(text, "Quelldale", NAME)
    again = replace(first, span=Span(20, 29))
    assert [each.label for each in with_kinds(text, [first, again])] == [NAME, NAME]


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("a son who lives in Quelldale, he", "Quelldale", AREA),
        ("live in Turkey and Quelldale now", "Quelldale", AREA),
        ("born to Quelldale", "Quelldale", NAME),
        ("lives in Anna Quelldale", "Anna Quelldale", NAME),
        ("lives in Quelldale's house", "Quelldale", NAME),
        ("lives with Quelldale", "Quelldale", NAME),
    ],
)
def test_where_somebody_lives_is_a_place(text: str, name: str, expected: str) -> None:
    (found,) = with_kinds(text, [mention(text, name, NAME)])
    assert (found.label, found.identifier) == (expected, Identifier.DIRECT)
