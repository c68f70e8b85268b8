"""What can be quoted from a passage, and what goes together. All texts are invented."""

import pytest

from retrieval.documents import Passage, RetrievedPassage
from retrieval.quoting.turns import Sentence, Unit, sentences_of, speakers_of, units_of


def passage(text: str, doc_id: str = "doc", start: int = 0) -> RetrievedPassage:
    return RetrievedPassage(Passage(start, doc_id, start, start + len(text), text), 0.5)


def read(*texts: str, most: int = 100) -> list[Sentence]:
    return sentences_of({n: passage(text, f"doc-{n}") for n, text in enumerate(texts, start=1)}, most)


def quotable(text: str) -> list[str]:
    return [unit.text for unit in units_of(read(text))]


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("Doctor: Any pain?\nPatient: In the left knee.", ["Doctor: Any pain? Patient: In the left knee."]),
        ("Would surgery help? The clot lay too far out.", ["Would surgery help? The clot lay too far out."]),
        ("Nurse: Salt? Alcohol?\nPatient: A beer.", ["Nurse: Salt? Alcohol? Patient: A beer."]),
        ("Did you approve the message?\n\n(09:26 reporter)\nNo.", ["Did you approve the message? No."]),
        ("Dr: i see. any pain?\nPt: off and on", ["any pain? Pt: off and on"]),
        ("A: Who tied the key?\nB: Which key?\nA: The red one.", ["B: Which key? A: The red one."]),
        ("Any pain in the knee?", []),
        (
            "LF: Why post this? (shows it)\nVS: My daughter did.",
            ["LF: Why post this? (shows it) VS: My daughter did."],
        ),
        ("Why did you post this on the internet? (shows a screen shot)", []),
        (
            "Patient: Can I pass it on? My sister asked. She means well.\nDoctor: Not at all.",
            ["Patient: Can I pass it on? My sister asked. She means well. Doctor: Not at all."],
        ),
        (
            "Doctor: Any pain? You said it hurts at night.\nPatient: Less since the splint.",
            ["Doctor: Any pain? You said it hurts at night. Patient: Less since the splint."],
        ),
        (
            "Doctor: Any pain? The knee of last winter hurt at night.",
            ["The knee of last winter hurt at night."],
        ),
        (
            "Somebody: Who tied the key?\nSomebody: The foreman of the night.",
            ["Somebody: Who tied the key? Somebody: The foreman of the night."],
        ),
        (
            "Nurse: Any allergies to insects?\nNurse: The kettle in the hall is on.",
            ["Nurse: The kettle in the hall is on."],
        ),
        ("Is it off?\n\nDear Anna,\nThe oven has failed us again.", ["The oven has failed us again."]),
    ],
)
def test_a_question_goes_with_its_reply_or_not_at_all(text: str, units: list[str]) -> None:
    assert quotable(text) == units


@pytest.mark.parametrize(
    "text",
    [
        "Subject: boiler of the mill",
        "From: somebody <an email address>",
        "> Sent: a specific date",
        "Dear Mr somebody,",
        "Hi everyone,",
        "Good morning Anna,",
        "With kind regards,",
        "Yours sincerely",
        "Kind regards, somebody, Vestrand Logistics",
        "Kind regards, somebody, Harbour Bakery of the North, tel. a phone number",
        "Kind regards\nsomebody\nHead of Ovens and Mills, Harbour Bakery, 3 Quay Street, tel. a phone number",
        "AGREEMENT (form B7), made by a mediator",
        "Between Ms somebody and the partners of the bakery at the old harbour",
        "DISCHARGE LETTER",
        "DIABETES CLINIC, a specific date.",
        "Eye and face clinic, first visit",
        "Rest.",
        "---",
    ],
)
def test_what_frames_a_text_is_not_quoted(text: str) -> None:
    assert quotable(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Diagnosis: palsy of the left facial nerve",
        "Dear bought wine is not always good, as we learned.",
        "lowest saturation 74 %",
        "Regards for safety came last on that day.",
        "Regards, we will call you about the oven tomorrow.",
        "We will plate it if it slips.",
    ],
)
def test_what_says_something_is_quoted(text: str) -> None:
    assert quotable(text) == [text]


def test_list_marks_are_left_out_and_words_stay() -> None:
    text = "1. Sutures out on day twelve.\n- No lifting above two kilos.\n>> The inserts were too soft."
    assert quotable(text) == [
        "Sutures out on day twelve.",
        "No lifting above two kilos.",
        "The inserts were too soft.",
    ]


def test_each_line_of_a_list_is_a_unit() -> None:
    lines = [
        "ointment for the elbow, morning and evening, thinly, under a cotton sleeve",
        "drops for the left ear, three of them, warmed in the hand before use",
        "tea is NOT to be taken with the iron tablets",
        "bandage when required",
    ]
    assert quotable("Things to take home\n" + "\n".join(f"  {line}" for line in lines)) == lines[:3]
    agenda = [
        "the oven of the old mill and who is to pay for its new stone floor, with plans",
        "flour prices after the wet harvest, and whether to buy for the whole winter",
        "somebody to look after the cat of the mill during the long summer holidays",
        "any other business",
    ]
    assert quotable("Points\n" + "\n".join(agenda)) == agenda[:3]


def test_a_wrapped_sentence_is_no_list() -> None:
    text = "The oven of the mill is out of order since the flood, and\nwe bake\nat home until the stone floor"
    assert quotable(f"{text}\nhas dried") == [f"{text} has dried".replace("\n", " ")]
    assert quotable(f"{text}\nhas dried.") == [f"{text} has dried.".replace("\n", " ")]


def test_what_follows_a_signature_is_quoted() -> None:
    text = "Kind regards\nsomebody\nPS The oven has to cool down before anybody opens it."
    assert quotable(text) == ["PS The oven has to cool down before anybody opens it."]


def test_a_short_sentence_goes_with_the_one_before_it_in_its_turn() -> None:
    ladder = "The ladder test was done in the training tower. Not ready."
    assert quotable(ladder) == [ladder]
    assert quotable("The ladder test was done in the training tower.\n\nNot ready.") == [
        "The ladder test was done in the training tower."
    ]


def test_a_long_reply_ends_after_some_words() -> None:
    said = [
        f"The {word} part of this reply is said at some length by the patient."
        for word in ("first", "second")
    ]
    (unit, rest) = units_of(
        read(f"Doctor: How so?\nPatient: {' '.join([*said, 'The third sentence remains outside.'])}")
    )
    assert (unit.asked, unit.text) == (1, f"Doctor: How so? Patient: {' '.join(said)}")
    assert rest.text == "The third sentence remains outside."


def test_a_reply_does_not_come_from_another_document() -> None:
    asked = read("Doctor: Any pain in the knee?", "Patient: It hurts all night long.")
    assert [unit.text for unit in units_of(asked)] == ["Patient: It hurts all night long."]


@pytest.mark.parametrize(("start", "joined"), [(30, True), (31, False), (29, False)])
def test_passages_that_adjoin_are_read_on(start: int, joined: bool) -> None:
    asked = passage("Doctor: Any pain in the knee?\n")
    assert asked.passage.end == 30
    replied = passage("Patient: It hurts all night long.", start=start)
    sentences = sentences_of({1: replied, 2: asked}, 10)
    assert [sentence.mark for sentence in sentences] == [2, 1]
    assert units_of(sentences)[0].asked == joined


def test_a_turn_goes_on_in_the_next_passage() -> None:
    first = "Doctor: The scan of the knee was clear. "
    one, two = passage(first), passage("Rest for a week.\nPatient: Gladly.", start=len(first))
    sentences = sentences_of({1: one, 2: two}, 10)
    assert [(each.speaker, each.opens) for each in sentences] == [
        ("Doctor:", True),
        ("Doctor:", False),
        ("Patient:", True),
    ]
    assert sentences[0].turn == sentences[1].turn


def test_at_most_so_many_sentences_those_of_the_best_passages() -> None:
    sentences = read("One is here. Two is here.", "Three is here. Four is here.", most=3)
    assert [sentence.text for sentence in sentences] == ["One is here.", "Two is here.", "Three is here."]
    assert [sentence.place for sentence in sentences] == [0, 1, 2]


def test_speakers_open_more_than_one_turn() -> None:
    sentences = read("Note: all well.\nNurse: Sit.\nPatient: Yes.\nNurse: Good.\nPatient: Now?")
    assert speakers_of(sentences) == {"Nurse:", "Patient:"}


def test_no_sentence_stands_in_two_units_and_units_keep_the_order() -> None:
    text = (
        "Doctor: Any pain?\nPatient: None at all now. Yes.\nDoctor: Good. Keep the splint on at night.\nBye?"
    )
    places = [sentence.place for unit in units_of(read(text)) for sentence in unit.sentences]
    assert places == sorted(set(places))


def test_nothing_is_shown_in_a_repr() -> None:
    (unit,) = units_of(read("Zqxmarker: the boiler of the mill is broken."))
    assert isinstance(unit, Unit)
    assert "boiler" not in repr(unit)
    assert "Zqxmarker" not in repr(unit)
