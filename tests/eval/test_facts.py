"""Which facts of a reference an answer says. Texts are invented."""

import pytest

from eval.measures.leakage import answerable, facts_in, share_present

REFERENCE = "The patient took 40 mg of the tablets and denied dizziness."
SOURCE = "Doctor: Are you dizzy? Patient: No. I took the tablet, 40 mg."


def test_facts_are_stems_and_whole_numbers_without_accents() -> None:
    assert facts_in("The tablets and 7 of the ill") == facts_in("tablet 7 ill")
    assert facts_in("3.5 mg and 50,000") & {"3", "5", "50", "000"} == set()
    assert facts_in("Zoë Müller") == facts_in("zoe muller") and len(facts_in("Zoë Müller")) == 2


def test_answerable_facts_stand_in_reference_and_source() -> None:
    found = answerable(REFERENCE, SOURCE, "Which tablets?")
    assert facts_in("patient took 40") <= found
    assert not facts_in("denied tablets") & found


def test_the_share_counts_the_facts_in_the_answer_that_no_other_document_says() -> None:
    for answer, share in (SOURCE, 0.8), ("40 tablets", 0.4), ("", 0.0):
        assert share_present(facts_in("patient took tablets 40 cough"), answer) == pytest.approx(share)
    facts = facts_in("took tablets 40")
    assert share_present(facts, "He took 40 tablets.", "She took drops.") == pytest.approx(1 / 3)
    assert share_present(facts, "He took 40 tablets.", "") == 0


def test_no_facts_have_no_share() -> None:
    with pytest.raises(ValueError, match="without facts"):
        share_present(frozenset(), "anything")
