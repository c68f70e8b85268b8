"""What is no item of its kind in any document. All texts are invented."""

import time

import pytest

from ingest.detection.nothing import says_nothing


@pytest.mark.parametrize(
    ("label", "before", "said", "after", "expected"),
    [
        ("date", "at the ", "end of the hour", ", I", True),
        ("person age", "when he was ", "pretty young", ".", True),
        ("demographic attribute", "a ", "super old", " house", True),
        ("person age", "she is ", "sixty years old", ".", False),
        ("gender", "oh ", "man", ", games", True),
        ("nationality", "a ", "German", " shepherd barked", True),
        ("nationality", "a ", "German", " restaurant owner", False),
        ("nationality", "a ", "German", " nurse came", False),
        ("person full name", "by ", "God", "'s grace", True),
        ("person full name", "", "Mr", " Keller", True),
        ("person full name", "", "Dr.", " Keller", True),
        ("person full name", "", "Sheikh", " came", False),
        ("organization", "by ", "EOD Thursday", ".", True),
        ("gender", "the ", "man", " came", False),
        ("state or province", "the ", "Region", " will", True),
        ("place", "in ", "Ashdale Region", " will", False),
        ("person full name", "and ", "Username", ": ", True),
        ("person full name", "random ", "ms", " later", True),
        ("person full name", "hi ", "raj", ", come", False),
        ("person full name", "thanks dr. ", "wu", "", False),
        ("religion", "a ", "Jewish", " bread seller", False),
        ("person full name", "with ", "Ngo", " later", False),
        ("date", "during the ", "week", " of May 3", True),
        ("date", "in the ", "18th century", ",", True),
        ("date", "a ", "19th-century novel", ".", True),
        ("date", "score ", "14", " today", True),
        ("date", "on the ", "16", ".", False),
        ("date", "", "16", " May", False),
        ("date", "   ", "QX-118", "   07:00", True),
        ("date", "on ", "May-22", ".", False),
        ("date", "on ", "3 May", ".", False),
        ("date", "row ", "12.50 Q8800112 7.00", "", True),
        ("religion", "row ", "12.50 0 0", "", True),
        ("date", "since ", "20 03 2019", ".", False),
        ("place", "across ", "Southern Europe", ".", True),
        ("place", "in ", "Quelland", ".", False),
        ("place", "an ", "Orrin", " score of 8", False),
        ("place", "an ", "Apgar", " score of 8", True),
        ("organization", "at ", "Index Ventures", " in", False),
        ("organization", "for ", "Score Publishing Ltd", ".", False),
        ("organization", "the ", "Quellby Hospital", " patient questionnaire", False),
        ("disease", "an ", "HIV", " index case", False),
        ("organization", "The ", "Orrin Scale", " was", True),
        ("organization", "at ", "Orrin Gas", " was", False),
        ("person full name", "I ", "m", " tom", True),
        ("person full name", "positive ", "Romberg", "'s test", True),
        ("person full name", "COVID positive ", "Marek Nowak", "'s test", False),
        ("person full name", "Mrs ", "Okonjo", " staging: T2", False),
        ("person full name", "with ", "Orr", " and Quell’s test", False),
        ("person full name", "the ", "Quorrin", " index 45", False),
        ("person full name", "the ", "Barthel", " index 45", True),
        ("date", "Geburtstag ", "12.03", " in", False),
        ("date", "born ", "3.1984", ",", False),
        ("date", "at ", "19840312", ",", False),
        ("place", "plant (", "65MW", ")", True),
        ("date", "of ", "Phase II", " (", True),
        ("place", "in ", "Stagebury", " he", False),
        ("person full name", "said ", "Nina", " index in hand", False),
        ("organization", "", "33", ". We think", True),
        ("disease", "Quiet ", "Depression", " Scale 9", True),
        ("date", "under section 98(4) LRA ", "1996", ", and", True),
        ("date", "the Lakes Act ", "1955", " says", True),
        ("date", "at QVHC ", "1996", " was", False),
        ("monetary amount", "In ", "SEK", "\n", True),
        ("monetary amount", "In ", "SEK 5", "\n", False),
        ("medical department", "his ", "primary care", " physician", True),
        ("medical department", "seen in ", "cardiology", ".", False),
        ("quantity", "12 sq. ", "m", " in", True),
        ("quantity", "", "12 m", " in", False),
    ],
)
def test_what_says_nothing(label: str, before: str, said: str, after: str, expected: bool) -> None:
    assert says_nothing(label, said, before, after) is expected


def test_rows_of_figures_are_read_in_linear_time() -> None:
    begun = time.perf_counter()
    says_nothing("date", "1" * 40 + "!", "", "")
    assert time.perf_counter() - begun < 1
