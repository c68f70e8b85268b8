"""Invented dates, times, ages and addresses."""

import pytest

from tests.patterns_table import assert_absent, assert_found

POSITIVE = [
    ("date", "on ‹12 March 2021› and ‹March 12th, 2021›"),
    ("date", "‹2021-03-12›, ‹12.03.2021›, ‹3/12/21› and since ‹03/04›"),
    ("date", "the ‹3rd of May›, in ‹May 2019›, on the evening of ‹Friday 3 June›"),
    ("date", "the ‹third of October›"),
    ("date", "in ‹2014›, since ‹1998›, between ‹1990 and 1992›"),
    ("date", "el ‹12 de marzo de 2021›, am ‹3. Oktober 2020›, le ‹14 juillet 1999›"),
    ("date", "en ‹mayo de 2006›, in ‹1951, 1950 and 1964›"),
    ("date", "in the ‹summer of 2018›"),
    ("date of birth", "born on ‹3 May 1980› in Leeds"),
    ("date of birth", "DOB: ‹04/05/1971›, D.O.B. ‹1971-05-04›"),
    ("date of birth", "She was born in Leeds in ‹1962›."),
    ("date of birth", "Fecha de nacimiento: ‹12/11/2013›"),
    ("time", "at ‹14:30›, ‹9 a.m.›, ‹half past three› and ‹2.15 p.m.›"),
    ("time", "it was ‹three o'clock›"),
    ("person age", "a ‹32 year old›, aged ‹45›, a ‹76-year-old›"),
    ("person age", "‹sixty-two years of age›, in her ‹late forties›, age: ‹9›"),
    ("person age", "‹six months old›, ‹67 y/o›, at the age of ‹fifteen›"),
    ("person age", "pt is ‹67F›, seen with ‹45M›."),
    ("person age", "I'm ‹34›. He turned ‹40› in the spring."),
    ("person age", "ein ‹45-jähriger› Mann; paciente de ‹31 años›"),
    ("street address", "at ‹12 Quill Street, Leeds LS1 4AB›."),
    ("street address", "‹1400 M Street NW, Suite 800, Washington, DC 20006›"),
    ("street address", "in der ‹Lindenstraße 12a, 10969 Berlin›"),
    ("street address", "‹12 bis, rue de la Paix, 75002 Paris›"),
    ("street address", "‹Calle Mayor 5, 28013 Madrid› y ‹Keizersgracht 123, 1015 CJ Amsterdam›"),
    ("street address", "send it to ‹P.O. Box 123›"),
    ("secondary address unit", "in ‹Apt 4B› today"),
    ("zip postal code", "Springfield, IL ‹62704› or ‹SW1A 1AA›"),
    ("zip postal code", "zip code ‹90210›, PLZ ‹10969›"),
]

NEGATIVE = [
    ("date", "May and April met June on Friday; she may 3 times; march 12 miles"),
    ("date", "500 mg, 140/90, 1.2.3.4.5, 7/10 pain, strength 5/5, open 24/7, 1/2 cup"),
    ("date", "Article 6 § 1, section 34, Room 12, page 1998, 2012 people"),
    ("date", "item 2004-17-3391"),
    ("date of birth", "He died on 3 May 1980."),
    ("time", "a ratio of 12:30, titer 1:40, Källviken 1:18, five to six times"),
    ("person age", "Room 12, 45 mg, page 34, the M11, 15 8 male mice, a 20 year plan"),
    ("person age", "dolor desde hace 2 años"),
    ("street address", "12 patients on the street, 3 Doctors drive, in 5 places"),
    ("secondary address unit", "the unit I know, a flat a day"),
    ("zip postal code", "a list of 12345 items, T3N2M0"),
]


@pytest.mark.parametrize(("label", "sentence"), POSITIVE)
def test_is_found(label: str, sentence: str) -> None:
    assert_found(label, sentence)


@pytest.mark.parametrize(("label", "text"), NEGATIVE)
def test_look_alike_is_not(label: str, text: str) -> None:
    assert_absent(label, text)
