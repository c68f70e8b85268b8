"""Categories of claims. All claims are invented."""

import pytest

from eval.tasks.linkage import CLINICAL, GENERAL, Categorizer

CASES = {
    "The accountant is 40 years old": {"Age", "Occupation"},
    "A 3-month-old otter": {"Age"},
    "She met a man": {"Gender"},
    "He is bisexual": {"Sexual_Orientation"},
    "Her friend is Norwegian": {"Race_Nationality"},
    "His husband sings": {"Spouse"},
    "Her boyfriend sings": {"Partner"},
    "They have been divorced since May": {"Relationship_Status"},
    "His grandmother sings": {"Family"},
    "They moved to Varde": {"Location"},
    "He is tall": {"Appearance"},
    "They keep two parrots": {"Pet"},
    "They were employed at the mill": {"Occupation"},
    "They go to college": {"Education"},
    "They cannot pay their debts": {"Finance"},
    "The boiler burst": set(),
}
CLINICAL_CASES = {
    "He comes to the physician because of a noise": {"Chief_Concern"},
    "It began three weeks ago": {"History_of_Present_Illness"},
    "She underwent repairs": {"Past_Medical_History"},
    "She takes 20 mg a day": {"Medications"},
    "They are allergic to wool": {"Allergies_Reactions"},
    "They drink wine": {"Social_History"},
    "His uncle died of it": {"Family", "Family_History"},
    "She denies it": {"Review_of_Systems"},
    "Auscultation was loud": {"Physical_Exam"},
    "Serum iron is low": {"Diagnostic_Results"},
}
GENERAL_CASES = {"They are in pain": {"Health"}, "They feel lonely": {"Mental_Health"}}


ALL = [
    *((each, claim, expected) for each in (CLINICAL, GENERAL) for claim, expected in CASES.items()),
    *((CLINICAL, claim, expected) for claim, expected in CLINICAL_CASES.items()),
    *((GENERAL, claim, expected) for claim, expected in GENERAL_CASES.items()),
]


@pytest.mark.parametrize(("categorizer", "claim", "expected"), ALL)
def test_a_claim_has_the_categories_of_its_cues(
    categorizer: Categorizer, claim: str, expected: set[str]
) -> None:
    assert categorizer.label([claim]) == [expected]


def test_there_are_as_many_categories_as_in_the_paper() -> None:
    assert [len(each.categories) for each in (CLINICAL, GENERAL)] == [24, 16]
    assert list(CLINICAL.categories[:14]) == list(GENERAL.categories[:14])
    covered = set().union(*CASES.values(), *CLINICAL_CASES.values(), *GENERAL_CASES.values())
    assert covered == {*CLINICAL.categories, *GENERAL.categories}


def test_those_who_treat_are_not_said_to_work() -> None:
    claims = ["She is a nurse", "The physician agreed", "She works as a nurse"]
    assert CLINICAL.label(claims) == [set(), set(), {"Occupation"}]
    assert CLINICAL.label([]) == []
