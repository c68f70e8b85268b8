"""Invented national numbers, files, cases and staff numbers; check digits were computed, not copied."""

import pytest

from tests.patterns_table import assert_absent, assert_found

POSITIVE = [
    ("social security number", "SSN ‹078-05-1121›."),
    ("social security number", "social security number is ‹078051121›"),
    ("social security number", "last four of her social: ‹1121›"),
    ("passport number", "passport no. ‹C01X00T47› issued"),
    ("passport number", "Passport: ‹AB 123 4567›"),
    ("driving licence number", "driver's license ‹D123-4567-8901›"),
    ("health insurance number", "NHS number ‹943 476 5919›"),
    ("health insurance number", "member ID: ‹XYZ123456789›"),
    ("tax number", "Steuer-ID ‹36 574 261 809›"),
    ("tax number", "VAT no. ‹GB999999973›"),
    ("national id number", "DNI ‹54362315K›, ‹X-2482300W›"),
    ("national id number", "NIR ‹2 95 10 99 126 111 93›"),
    ("national id number", "‹RCCMNL83S18D969H› (codice fiscale)"),
    ("national id number", "BSN ‹111222333›, PESEL ‹44051401359›"),
    ("national id number", "personnummer ‹880320-0016› and NINO ‹AB 12 34 56 C›"),
    ("national id number", "CPF ‹390.533.447-05›"),
    ("national id number", "Aadhaar ‹2341 2341 2346›"),
    ("medical record number", "MRN: ‹00482913›, hospital no. ‹H-77812›, chart # ‹5519›"),
    ("case number", "an application (no. ‹40593/04›) and nos. ‹12/34› and ‹5678/90›"),
    ("case number", "docket ‹1:19-cv-01234› and ‹2301234/2021›"),
    ("case number", "Case No. ‹CR-2019-0042›"),
    ("case number", "see ‹[2014] EWCA Civ 123›"),
    ("employee number", "employee ID ‹E-10442›, badge #‹7731›"),
    ("reference number", "claim number ‹CL-889-12›, ticket #‹48213›, invoice ‹20230114›"),
    ("reference number", "Our ref: ‹AB/2231/x9›"),
]

NEGATIVE = [
    ("social security number", "000-12-3456, 666-12-3456, 123-00-4567"),
    ("passport number", "a passport in 2019, passport control 12"),
    ("driving licence number", "5 mg/dl (RN 20-40)"),
    ("health insurance number", "NHS number 943 476 5918"),
    ("national id number", "the number 12345678 and 54362315A"),
    ("national id number", "BSN 111222334"),
    ("medical record number", "medical records of 2019, patient 3 of 10, unit 12"),
    ("case number", "140/90 mmHg, 24/7, 1996/97, 3/4 cup"),
    ("case number", "Article 6 § 1, section 34, case of 12 March"),
    ("case number", "date of incident: 1/15/2001"),
    ("employee number", "our 12 employees, an officer in 1998"),
    ("reference number", "Room 12, page 4, figure 3, in order 2 of 5"),
]


@pytest.mark.parametrize(("label", "sentence"), POSITIVE)
def test_is_found(label: str, sentence: str) -> None:
    assert_found(label, sentence)


@pytest.mark.parametrize(("label", "text"), NEGATIVE)
def test_look_alike_is_not(label: str, text: str) -> None:
    assert_absent(label, text)
