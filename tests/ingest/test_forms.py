"""What a model calls a number has to have the form of one. Every number here is invented."""

import pytest

from ingest.detection.forms import has_form

KEPT = [
    ("national id number", "104 RR 22 771 BX", ""),
    ("national id number", "8812", "her id is "),
    ("national id number", "4173926", "Passcode: "),
    ("case number", "221", "Case no. "),
    ("case number", "17/4", "docket "),
    ("case number", "48213/07", "the complaint "),
    ("reference number", "88213940", ""),
    ("medical record number", "5519", "the chart "),
    ("medical record number", "551923", ""),
    ("medical record number", "QWZXPL", ""),
    ("national id number", "AB123456C", ""),
    ("phone number", "0412 551 902", ""),
    ("monetary amount", "250", "she paid "),
    ("monetary amount", "1,540.80", "Total "),
    ("monetary amount", "€40", ""),
    ("monetary amount", "2,000 to 3,000 euros", "some "),
    ("monetary amount", "two hundred thousand", "about "),
    ("street address", "14 Quillon", "he said "),
    ("street address", "Braden 14", "lives at "),
    ("street address", "Quillonweg 14", ""),
    ("zip postal code", "10969", "moved to "),
    ("zip postal code", "12207", "Larkmoor, NY "),
    ("vehicle VRM", "B-XY 1234", ""),
    ("URL link", "larkmail.example", ""),
    ("quantity", "About 40", ""),
    ("phone number", "oh seven seven double three", "call "),
    ("phone number", "x54667", "Karen. "),
    ("phone number", "4521", "extension "),
    ("social security number", "3391", "the last four: "),
    ("social security number", "412-07-3391", ""),
    ("IP address", "203.0.113.x", ""),
    ("MAC address", "00:1b:44", ""),
    ("personal web link", "larkmail.example/ada", ""),
    ("nearby GPS coordinate", "52.5200, 13.4050", ""),
    ("vehicle VRM", "AB12 CDE", ""),
    ("vehicle VRM", "LM 358", "her car is "),
    ("PIN code", "4417", "the code is "),
    ("PIN code", "swordfish", ""),
    ("street address", "12 Quill Street", ""),
    ("street address", "27", "PO Box "),
    ("zip postal code", "SW1A", ""),
    ("password", "8!", ""),
    ("quantity", "2", ""),
]
RULED_OUT = [
    ("phone number", "0.3333333333333333", "enter "),
    ("street address", "14 Quillon Road, ada@larkmail.example", "at "),
    ("national id number", "104 RR 22", ""),
    ("national id number", "121/79", "Vitals: "),
    ("case number", "CRP 221", ""),
    ("case number", "553", "10:22:31,"),
    ("reference number", "12.4ms", "duration="),
    ("reference number", "500mg", "order: "),
    ("bank account number", "2.318", ""),
    ("phone number", "1700", "glucose "),
    ("IP address", "4.17.21", "version "),
    ("IP address", "0", "ratio="),
    ("MAC address", "10", ""),
    ("email address", "p", "user="),
    ("personal web link", "http-nio-8080-exec-3", "["),
    ("nearby GPS coordinate", "34/16", "PAP "),
    ("vehicle VRM", "CVP 8", "MAP 65, "),
    ("PIN code", "5432", "port="),
    ("street address", "ISS 25", ""),
    ("street address", "104 RR 22", ""),
    ("street address", "eGFR 72", "Cr 88, "),
    ("street address", "Braden 14", ""),
    ("street address", "Morse 65, Norton 11", ""),
    ("street address", "12 LEAD", "ECG "),
    ("street address", "STE V2-V4", "ST elevation "),
    ("street address", "52211", "on port "),
    ("zip postal code", "52211", "on port "),
    ("zip postal code", "CK 8840", ""),
    ("zip postal code", "GAD-7", ""),
    ("vehicle VRM", "Cr 88", "the reg said "),
    ("monetary amount", "Na 138", "K 4.1, "),
    ("monetary amount", "mg", "Cap 1000 "),
    ("monetary amount", "+560 mL", "net "),
    ("monetary amount", "2.5", "INR "),
    ("quantity", "WCC 14.2", "CRP 221, "),
    ("quantity", "4.1, Na", "K "),
    ("PIN code", "RR", "HR 112, "),
    ("secondary address unit", "Hb", ""),
    ("street address", "1140", "Trop "),
    ("quantity", "K 4.1, Na 138", ""),
    ("national id number", "MSG00001", ""),
    ("national id number", "104 RR 22 BP 96/54 SPO2 91", "HR "),
    ("national id number", "2450/1890", "I/O: "),
    ("national id number", ":221", "Chart.load(Chart.java"),
    ("phone number", "2100 201", ""),
    ("credit card CVV", "52211", "port "),
    ("URL link", "com.ward.Chart.load", "at "),
    ("personal web link", "App.java", "at "),
    ("zip postal code", "QTc 431", ""),
    ("secret key", "50122", "port "),
    ("account handle", "@ 0730", "BG 246 "),
]


@pytest.mark.parametrize(("label", "said", "before"), KEPT)
def test_what_may_identify_is_kept(label: str, said: str, before: str) -> None:
    assert has_form(label, said, before)


@pytest.mark.parametrize(("label", "said", "before"), RULED_OUT)
def test_what_cannot_be_of_its_label_is_ruled_out(label: str, said: str, before: str) -> None:
    assert not has_form(label, said, before)


@pytest.mark.parametrize(
    ("label", "said", "after", "may_be"),
    [
        ("identifying detail", "CRP", " 221", False),
        ("identifying detail", "CRP", " was raised", True),
        ("place", "ST", " elevation in V2", False),
        ("city name", "STE", " V2-V4", False),
        ("place", "NY", " office", True),
        ("place", "UK", " office", True),
        ("monetary amount", "250", " euros", True),
        ("monetary amount", "250", " mL", False),
        ("street address", "217", " Gray there", True),
        ("street address", "217", " copies", False),
    ],
)
def test_what_follows_counts_too(label: str, said: str, after: str, may_be: bool) -> None:
    assert has_form(label, said, "", after) is may_be
