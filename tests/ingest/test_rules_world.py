"""Places, organizations, words about people and medical words. Every text here is invented."""

import pytest

from ingest.detection.rules.find import find_by_rules


def labelled(text: str, label: str) -> list[str]:
    return [
        text[entity.span.start : entity.span.end] for entity in find_by_rules(text) if entity.label == label
    ]


FOUND = (
    ("city name", "He moved to Diyarbakır last year.", "Diyarbakır"),
    ("city name", "an office in New York City, open daily", "New York City"),
    ("city name", "She was born in Torsmåla.", "Torsmåla"),
    ("city name", "a house in Reading", "Reading"),
    ("country", "citizens of Sierra Leone", "Sierra Leone"),
    ("country", "the Republic of Turkey", "Republic of Turkey"),
    ("state or province", "They live in Ohio now.", "Ohio"),
    ("state or province", "Springfield, IL 62704", "IL"),
    ("state or province", "a farm in Nova Scotia", "Nova Scotia"),
    ("county", "the sheriff of Larkmoor County said", "Larkmoor County"),
    ("county", "a village in County Derry", "County Derry"),
    ("place", "held in Edirvane Prison", "Edirvane Prison"),
    ("place", "a hut by the Osterbrook River", "Osterbrook River"),
    ("place", "hiking at Mount Velmora", "Mount Velmora"),
    ("place", "in the Borough of Ellsgate", "Borough of Ellsgate"),
    ("street address", "at 12 Quillfeather Street today", "12 Quillfeather Street"),
    ("street address", "near Quillfeather Avenue", "Quillfeather Avenue"),
    ("organization", "works for Brandt & Oster Ltd in Leeds", "Brandt & Oster Ltd"),
    ("organization", "hired by Velmora Systems GmbH", "Velmora Systems GmbH"),
    ("organization", "studied at the University of Larkmoor", "University of Larkmoor"),
    ("organization", "seen at St. Brannock's Hospital", "St. Brannock's Hospital"),
    ("organization", "the Ministry of Foreign Affairs replied", "Ministry of Foreign Affairs"),
    ("organization", "tried by the Larkmoor State Revenue Court", "Larkmoor State Revenue Court"),
    ("organization", "an account at Larkmoor Savings Bank", "Larkmoor Savings Bank"),
    ("organization", "an account at Wells Fargo", "Wells Fargo"),
    ("organization", "he sued Protocol Labs Inc in May", "Protocol Labs Inc"),
    ("organization", "shares of Convention Holdings Ltd", "Convention Holdings Ltd"),
    ("organization", "a grant of the Bill Hartwell Trust", "Bill Hartwell Trust"),
    ("organization", "the Larkmoor Workers' Party (LWP) and the LWP", "LWP"),
    ("gender", "a 32 year old man", "man"),
    ("gender", "identifies as a white female", "female"),
    ("nationality", "a Polish national", "Polish"),
    ("nationality", "an African American patient", "African American"),
    ("nationality", "a black male with fever", "black"),
    ("language", "she speaks Spanish at home", "Spanish"),
    ("language", "a Kurdish-speaking family", "Kurdish"),
    ("religion", "raised as a Jehovah's Witness", "Jehovah's Witness"),
    ("religion", "a practising Muslim", "Muslim"),
    ("marital status", "He is divorced.", "divorced"),
    ("marital status", "I am single and live alone", "single"),
    ("marital status", "Marital status: separated", "separated"),
    ("job title", "is a retired school teacher", "school teacher"),
    ("job title", "works as a nurse", "nurse"),
    ("job title", "She worked as a medical coder.", "medical coder"),
    ("job title", "my uncle is an electrician", "electrician"),
    ("symptom", "chest pain and shortness of breath", "shortness of breath"),
    ("symptom", "severe headaches", "headaches"),
    ("disease", "a history of high blood pressure", "high blood pressure"),
    ("disease", "Crohn's disease is chronic", "Crohn's disease"),
    ("diagnosis", "He was diagnosed with type 2 diabetes.", "type 2 diabetes"),
    ("medication", "taking Metoprolol daily", "Metoprolol"),
    ("medication", "started on zorvastatin", "zorvastatin"),
    ("dosage", "ibuprofen 400 mg as needed", "400 mg"),
    ("frequency", "ibuprofen 400 mg twice a day", "twice a day"),
    ("frequency", "one tablet every six hours", "every six hours"),
    ("duration", "coughing for three weeks", "three weeks"),
    ("duration", "it began two days ago", "two days"),
    ("medical test", "the chest x-ray was clear", "chest x-ray"),
    ("procedure", "after a hip replacement", "hip replacement"),
    ("medical department", "seen in the emergency room", "emergency room"),
    ("allergy", "I am allergic to penicillin.", "penicillin"),
    ("allergy", "Allergies: sulfa, latex", "latex"),
)


@pytest.mark.parametrize(("label", "text", "expected"), FOUND)
def test_it_is_found_whole(label: str, text: str, expected: str) -> None:
    assert expected in labelled(text, label)


NOT_FOUND = (
    ("organization", "The Court and the Government disagreed."),
    ("organization", "the European Court of Human Rights"),
    ("organization", "The NIH, the FDA and the WHO advise it."),
    ("organization", "under the Convention"),
    ("organization", "Rule 36 of the Rules of Court"),
    ("organization", "the County Court Rules"),
    ("organization", "the Federal Police Act"),
    ("city name", "Nice work, and reading is fun."),
    ("city name", "I drive a Van and a Mobile home"),
    ("country", "We ate turkey on china plates."),
    ("state or province", "OK, in that case, OR else"),
    ("gender", "she and he and they"),
    ("gender", "female hormones"),
    ("nationality", "polish the table"),
    ("language", "an English gentleman"),
    ("marital status", "a single dose, the single best"),
    ("job title", "You should see a doctor."),
    ("medication", "the April protocol and cholesterol"),
    ("dosage", "Room 500 and 3 cats"),
    ("frequency", "once upon a time"),
    ("allergy", "I took penicillin."),
    ("diagnosis", "no diabetes"),
)


@pytest.mark.parametrize(("label", "text"), NOT_FOUND)
def test_it_is_left_alone(label: str, text: str) -> None:
    assert labelled(text, label) == []


def test_a_town_inside_a_name_is_part_of_the_name() -> None:
    text = "Ms Clara London lives in London."
    assert labelled(text, "person full name") == ["Clara London"]
    assert labelled(text, "city name") == ["London"]
