"""Kinds, moments and amounts where a sentence takes a phrase of its own. All texts are invented."""

import pytest

from tests.ingest.wording.test_wording import written


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("in [[May|d]] Ms Orr wrote", "in a certain month Ms Orr wrote"),
        ("the [[July|d]] fees", "the [month] fees"),
        ("Stage one ([[June|d]]): closed", "Stage one ([month]): closed"),
        ("by the end of [[May|d]].", "by the end of a certain month."),
        ("Since last [[March|d]] she walks", "For some time she walks"),
        ("so next [[March|d]] we move", "so later we move"),
        ("a year, [[back in June|d]]. So", "a year, in a certain month. So"),
        ("until the [[22nd|d]].", "until a certain day."),
        ("half days from [[week 31|d]].", "half days from a certain week."),
        ("in the week of [[April 12|d]].", "in the week in mid-April."),
        ("cash on hand [[Friday|d]], with", "cash on hand on a weekday, with"),
        ("[[Friday|d]] we met", "On a weekday we met"),
        ("on [[Tuesday morning|d]].", "on a weekday morning."),
        ("off on [[Sundays|d]].", "off on weekend days."),
        ("read [[Friday|d]]'s notes", "read a weekday's notes"),
        ("call at [[9 am Orrin|d]] time to", "call in the morning to"),
        ("from [[2-6pm|d]].", "from a certain time."),
        ('"at": "[[10:41 AM UTC-03:00|d]]"', '"at": "morning"'),
        ("held [[April second of O six|d]].", "held in April 2006."),
        ("due by [[Nov 8th/2021|d]].", "due by November 2021."),
        ("born in [[1931, 1944 and 1975|date of birth]].", "born in the 1930s to the 1970s."),
        ("as of [[this Friday|d]] we", "as of a certain day we"),
        ("has a [[three year|d]] lease", "has a few years' lease"),
        ("a [[45-minute|duration]] talk", "a more-than-40-minute talk"),
        ("in the last [[three years|duration]], we", "in the last few years, we"),
        ("a [[few months|duration]] later", "a few months later"),
        ("it took [[a year and a half|duration]].", "it took some time."),
        ("wrote [[about a week ago|duration]].", "wrote some time ago."),
        ("away [[over three months|duration]].", "away a few months."),
        ("they teach [[riddle making|d]].", "they teach [date]."),
        ("in her [[1984|d]] essay", "in her 1980s essay"),
    ],
)
def test_moments_and_lengths_of_time(marked: str, expected: str) -> None:
    assert written(marked) == expected


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("pupils under [[7 years old|a]].", "pupils under 10 years old."),
        ("for those over [[80|a]] and", "for those over 70 and"),
        ("since she was [[6 or 7 years old|a]].", "since she was a young child."),
        ("She is [[twelve days old|a]].", "She is a young child."),
        ("talk to a [[3 year old|a]], then", "talk to a young child, then"),
        ("I am [[sixteen|a]].", "I am between 10 and 19."),
        ("the patient, a [[37F|a]], was", "the patient, a woman in her thirties, was"),
        ("this [[19 yo|a]] student", "this 10-to-19-year-old student"),
        ("a [[38 year old|a]] [[tall man|x]], yes", "a 30-to-39-year-old [personal detail], yes"),
    ],
)
def test_ages(marked: str, expected: str) -> None:
    assert written(marked) == expected


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("a [[neighbour|x]] of hers", "an acquaintance of hers"),
        ("[[Widower|x]] since then", "[personal detail] since then"),
        ("for [[widows' pensions|identifying detail]] was", "for [detail] was"),
        ("with a [[man|gender]] in", "with a person in"),
        ("works at [[a small shoe store|x]], she", "works at [personal detail], she"),
        ("in [[Islam|religion]] and", "in [religion] and"),
        ("a [[Catholic|religion]] choir", "a religious choir"),
        ("I am [[Catholic|religion]].", "I am religious."),
        ("holds a [[degree in law|x]], so", "holds a [personal detail], so"),
        ("during my [[PhD|x]] years", "during my qualified years"),
        ("a [[naprolin|medication]]-led cure", "a medicine-led cure"),
        ("Ada Lind, retired [[glimmerer|j]] of", "Ada Lind, retired [job title] of"),
        ("sent for the [[E S R|medical test]].", "sent for the test."),
        ("the [[naprolin|medication]] label", "the medicine label"),
        ("she takes [[naprolin|medication]].", "she takes a medicine."),
        ("has [[C O P D|diagnosis]].", "has a medical condition."),
        ("has been [[hospitalized|diagnosis]] since", "has been affected by a medical condition since"),
        ("He is [[diabetic|diagnosis]].", "He is affected by a metabolic condition."),
        ("He is [[HIV positive|disease]] and", "He is affected by a health problem and"),
        ("is tall and [[coeliac|x]], she", "is tall and [personal detail], she"),
        ("had a [[seizure in the attic|disease]].", "had a health problem."),
        ("takes 40 mg [[morphine|medication]].", "takes 40 mg of a painkiller."),
        ("a [[neonatologist|j]] at", "a doctor at"),
        ("she is a [[haemophiliac|disease]].", "she is affected by a health problem."),
        ("a lapsed [[Quaker|religion]].", "a lapsed [religion]."),
        ("a student of [[marine biology|x]] at", "a student of [personal detail] at"),
        ("the [[child protection officer|x]] came", "the [personal detail] came"),
        ("the island's [[lighthouse warden|j]] came", "the island's [job title] came"),
        ("Former [[mayor|j]] of", "Former [job title] of"),
        ("of [[Vietnamese origin|nationality]], he", "of Southeast Asian origin, he"),
        ("runs the [[only Norwegian bakery|identifying detail]] there", "runs the [detail] there"),
        ("attends a [[village school|x]].", "attends a [personal detail]."),
        ("his cousin [[Boz was hurt in the shaft|identifying detail]].", "his cousin [detail]."),
        ("pays [[0.40 euros|monetary amount]] a mile", "pays a certain amount a mile"),
    ],
)
def test_descriptions(marked: str, expected: str) -> None:
    assert written(marked) == expected


def test_a_name_has_one_noun_in_the_whole_text() -> None:
    text = "with [[QRS|n|0]]. [[Quell|o|1]] and [[Quell|o|2]] pay; [[Quell|n|3]] does not. [[Nina|n|4]] left."
    expected = (
        "with Organization A. Organization B and Organization B pay; Organization B does not. Person A left."
    )
    assert written(text) == expected


def test_a_code_is_an_item() -> None:
    assert written("the use of [[XRP-17|n]] in") == "the use of Item A in"


def test_letters_around_an_ampersand_are_one_word() -> None:
    assert written("shares of [[B|o]]&Q fell") == "shares of Organization A fell"


def test_a_line_break_of_code_stays() -> None:
    assert written("Best,\\n[[Nina|n]]") == "Best,\\nPerson A"
