"""Invented dates and times."""

POSITIVE = [
    ("date", "‹2021-03-12›, ‹12.03.2021› and ‹3/12/21›"),
    ("time", "at ‹14:30›, ‹9 a.m.› and ‹2.15 p.m.›"),
    ("date", "on ‹12 March 2021› and ‹March 12th, 2021›"),
    ("date", "the ‹3rd of May›, in ‹May 2019›, on the evening of ‹Friday 3 June›"),
    ("date", "el ‹12 de marzo de 2021›, am ‹3. Oktober 2020›, le ‹14 juillet 1999›"),
]

NEGATIVE = [
    ("date", "May and April met June on Friday; she may 3 times; march 12 miles"),
    ("date", "500 mg, 140/90, 1.2.3.4.5, 7/10 pain, strength 5/5, open 24/7, 1/2 cup"),
    ("date", "Article 6 § 1, section 34, Room 12, page 1998, 2012 people"),
    ("date", "item 2004-17-3391"),
    ("time", "a ratio of 12:30, titer 1:40, Källviken 1:18, five to six times"),
]
