"""Persons by rules. Every name and text here is invented."""

import pytest

from app.compose import detector_of
from app.settings.load import Settings
from ingest.detection.rules.find import find_by_rules
from ingest.documents import Document
from ingest.labels import PERSON
from ingest.protocols import EntityDetector


def persons(text: str) -> list[str]:
    return [
        text[entity.span.start : entity.span.end]
        for entity in find_by_rules(text)
        if entity.label == "person full name"
    ]


FOUND = {
    "title": ("She was followed by Dr. Kumar in May.", "Kumar"),
    "title-full": ("a Larkmoor resident, Mr Tevfik Quillan, on 3 October", "Tevfik Quillan"),
    "title-word": ("I shall ask Mr. Bench about it.", "Bench"),
    "title-initial": ("advised by Mr E. Torvik, a lawyer", "E. Torvik"),
    "title-lower": ("It looks like Doctor Osei followed up.", "Osei"),
    "title-german": ("Bitte fragen Sie Frau Krüger danach.", "Krüger"),
    "title-spanish": ("We met Señora Núñez yesterday.", "Núñez"),
    "title-particle": ("seen by Prof. Willem van der Berg today", "Willem van der Berg"),
    "given": ("Yesterday Anneliese called the office.", "Anneliese"),
    "given-surname": ("I met Matthew O’Halloran at the station.", "Matthew O’Halloran"),
    "given-hyphen": ("We asked Jean-Luc Martin-Dupont about it.", "Jean-Luc Martin-Dupont"),
    "given-everyday-surname": ("a letter from Lotte Gentle arrived", "Lotte Gentle"),
    "given-initial": ("signed by Martha B. Collins on behalf", "Martha B. Collins"),
    "accents": ("according to Süleyman Çakırbey, who spoke", "Süleyman Çakırbey"),
    "ambiguous": ("Later Grace Park left the room.", "Grace Park"),
    "ambiguous-job-surname": ("Later Grace Miller left the room.", "Grace Miller"),
    "ambiguous-verb": ("Mason Ward is a pleasant man.", "Mason Ward"),
    "unknown-given": ("a person, Xochi Martinez, came", "Xochi Martinez"),
    "initials": ("the report that J.K. Lindqvist wrote", "J.K. Lindqvist"),
    "letters": ("Then J.G., the lawyer, replied.", "J.G"),
    "last-first": ("Refer to Keller, Anna B for details.", "Keller, Anna B"),
    "bracket": ("seen with cards fellow (Subramaniam) today", "Subramaniam"),
    "bracket-registrar": ("ask the registrar (Okonjo).", "Okonjo"),
    "bracket-nurse": ("nurse (Brightwell) was there", "Brightwell"),
    "bracket-specialty": ("discussed with nephro (Okonkwo)", "Okonkwo"),
    "bracket-short": ("and the reg (Vandermeulen)", "Vandermeulen"),
    "bracket-job": ("the plumber (Wendt-Alavi), who", "Wendt-Alavi"),
    "bracket-ending": ("the tutor (Fleming), who", "Fleming"),
    "header": ("From: Priya Natarajan <x@example.org>\nTo: all", "Priya Natarajan"),
    "header-list": ("Cc: Zorvath Quimby; Elena Brandt\n", "Zorvath Quimby"),
    "mail-address": ("Jane Doe/HOU/ECT@ECT wrote", "Jane Doe"),
    "greeting": ("Hi John,\nsee below", "John"),
    "greeting-title": ("Dear Ms Ito,\nthank you", "Ito"),
    "greeting-unknown": ("Hello Vladoslau,\nwelcome", "Vladoslau"),
    "signature": ("See you then.\n\nBest regards,\nZbyniek\n", "Zbyniek"),
    "small-signature": ("It came as asked.\n\nrt", "rt"),
    "small-signature-name": ("It came as asked.\n\ned\n\n-----Original Message-----", "ed"),
    "field": ("Patient: Anna Keller\nAge: 44", "Anna Keller"),
    "field-claimant": ("Claimant: Ruben Castro; file closed", "Ruben Castro"),
    "speaker": ("Anna: Are you there?\nDoctor: Yes.", "Anna"),
    "versus": ("in the case of Quillan v. Norland (no. 1)", "Quillan"),
    "versus-two": ("the matter of Haddersley v. Okafor was", "Haddersley"),
}


@pytest.mark.parametrize("name", FOUND)
def test_a_person_is_found(name: str) -> None:
    text, expected = FOUND[name]
    assert expected in persons(text)


FOUND_BESIDE_THE_RULES = {
    "letter": ("It appointed the lawyer H. as counsel.", "H"),
    "relation": ("I live with my wife Susan and a cat.", "Susan"),
    "relation-comma": ("her son, Peter, is ten", "Peter"),
    "relation-unknown": ("a man named Qorbaxo lives there", "Qorbaxo"),
    "relation-pet-shop": ("My dog walker, a man named Okoro, came.", "Okoro"),
    "relation-puppy": ("I got the puppy from a girl named Zielke.", "Zielke"),
    "relation-pony": ("She rode a pony. Named Zielke, she was ten.", "Zielke"),
    "my-name": ("Hello, my name is Ito.", "Ito"),
    "caseless": ("[doctor] hi , martha . how are you ?\n[patient] fine", "martha"),
    "caseless-pair": ("[doctor] next is brittany ward . date of birth", "brittany ward"),
    "caseless-relation": ("[patient] my son sean fell while playing", "sean"),
    "title-of-case": ("Vorland v Quillfeather, judgment of 3 May", "Quillfeather"),
    "title-of-case-first": ("Vorland v Quillfeather Packaging was heard.", "Vorland"),
    "respondent": ("Claimant: Ines Vorland\nRespondent: Quillfeather Freight\n", "Quillfeather"),
    "caret": ("PN [HARTIGAN^ROSAMUND]", "HARTIGAN^ROSAMUND"),
    "caret-long": ("|12345^^^HOSP^MR||HARTIGAN^ROSAMUND^L^^MRS||1940|F", "HARTIGAN^ROSAMUND^L^^MRS"),
    "caret-small": ("read Hartigan^Rosamund, then", "Hartigan^Rosamund"),
    "caret-apostrophe": ("O'Brien^Mary Ann^^^Dr.", "O'Brien^Mary Ann^^^Dr"),
}


@pytest.fixture(scope="module")
def detector() -> EntityDetector:
    return detector_of(Settings())


@pytest.mark.parametrize("name", FOUND_BESIDE_THE_RULES)
def test_a_person_is_found_by_the_default_detector(name: str, detector: EntityDetector) -> None:
    text, expected = FOUND_BESIDE_THE_RULES[name]
    (found,) = detector.detect([Document("d", text)])
    named = [one for one in found if one.label in (PERSON, "account handle")]
    assert any(expected in text[one.span.start : one.span.end] for one in named)


NOBODY = {
    "bracket-firm": "an engineer (Siemens) and a driver (Uber)",
    "bracket-place": "a nurse (Manchester) and a consultant (London)",
    "bracket-field": "a teacher (Chemistry), a manager (Recruitment), a resident (Cardiology) there",
    "bracket-letters": "the manager (HR), the doctor (GP) and the nurse (RN)",
    "bracket-states": "neuro (Intact), resp (Clear), cardio (Normal) and ortho (Stable)",
    "bracket-words": "the nurse (who left), the officer (Army) and the doctor (Monday)",
    "bracket-more": "the nurse (Brightwell and others)",
    "bracket-no-role": "the river (Okonjo) and a table (Brightwell)",
    "caret-codes": "ADT^A01 and ORU^R01, CBC^Complete Blood Count^L, WBC^Leukocytes^LN",
    "caret-sums": "E = MC^2, A^B and x^Y, FEVER^COUGH",
    "caret-marks": "MSH|^~\\&|LAB| and ^_^",
    "eponyms": "Parkinson's disease, Crohn's disease, Wilson's disease and Bell's palsy were ruled out.",
    "syndromes": "Down syndrome, Cushing syndrome, Marfan syndrome and Tourette syndrome are listed.",
    "instruments": "A Foley catheter was placed; Apgar scores were 8 and 9; Glasgow Coma Scale 15.",
    "lymphoma": "Hodgkin lymphoma and Burkitt lymphoma, then Kaposi sarcoma.",
    "learned": "Wolff-Parkinson-White syndrome and Charcot-Marie-Tooth disease type 1A run in families.",
    "drugs": "He takes Lipitor, Zoloft, Advair and Coumadin with Tylenol.",
    "institutions": "He was treated at Johns Hopkins Hospital and the Mayo Clinic.",
    "pets": "I have a grey cat named Twinky, my dog Rocket and a horse that we named Star.",
    "saints": "She was born at St. Mary's Hospital.",
    "firms": "Accounts at Wells Fargo and Morgan Stanley near Lincoln Center.",
    "calendar": "In April and May, on Monday and Friday, June or August.",
    "places": "We flew from Paris to Jordan and on to Georgia.",
    "opening": "Will you come? May we ask? Grace is needed. Hope dies last. Bill the client.",
    "headings": "HISTORY OF PRESENT ILLNESS\nPhysical Exam\nSocial History\nTHE LAW\n",
    "law": "Under Article 34 of the Convention the High Court and the Parole Board decided.",
    "numbered": "A. Search of the premises\nB. Relevant law\n",
    "roles": "Doctor: How are you?\nPatient: Nope.\nGuest_family: Fine.\nDoctor: So?",
    "acronym": "Reflux (GERD) and an MRI in the NICU, with MS. The most common form",
    "lists": "Types X and Y. Hens carry one X chromosome each, and other hens too.",
    "streets": "They walked down Lincoln Street to Madison Avenue.",
    "title-alone": "The Doctor said that Nurse Practitioner Services and Judge Advocate agreed.",
}


@pytest.mark.parametrize("name", NOBODY)
def test_nobody_is_found(name: str) -> None:
    assert persons(NOBODY[name]) == []


EPONYMS = (
    ("Parkinson", "disease"),
    ("Alzheimer", "disease"),
    ("Huntington", "disease"),
    ("Addison", "disease"),
    ("Graves", "disease"),
    ("Hashimoto", "thyroiditis"),
    ("Wilms", "tumor"),
    ("Ewing", "sarcoma"),
    ("Babinski", "sign"),
    ("Murphy", "sign"),
    ("Romberg", "test"),
    ("Gleason", "score"),
    ("Gram", "stain"),
    ("Barrett", "esophagus"),
    ("Raynaud", "phenomenon"),
    ("Holter", "monitor"),
    ("Turner", "syndrome"),
    ("Gilbert", "syndrome"),
    ("Edwards", "syndrome"),
    ("Horner", "syndrome"),
)


@pytest.mark.parametrize(
    "text",
    [
        "MR Brain without contrast", "MS Office is there", "Mr. Speaker, I rise.", "Dr. He said so.",
        "It is on Elm Dr. House two.", "I Miss The bus.", "Ask Dr. Who.", "Seen by Dr. Then we left.",
    ],
)  # fmt: skip
def test_an_ordinary_word_after_what_is_no_title_is_nobody(text: str) -> None:
    assert persons(text) == []


@pytest.mark.parametrize(("name", "noun"), EPONYMS)
@pytest.mark.parametrize("mark", ["", "'s", "’s"])
def test_an_eponym_is_no_person(name: str, noun: str, mark: str) -> None:
    assert persons(f"There was no evidence of {name}{mark} {noun} at the visit.") == []


def test_the_span_leaves_the_title_and_the_possessive_out() -> None:
    assert persons("Mrs Willis's appeal was heard by Dr. Anna Keller.") == ["Willis", "Anna Keller"]


def test_the_town_behind_a_senders_firm_is_nobody_and_recipients_are_people() -> None:
    def headed(line: str) -> list[str]:
        text = f"{line}\n\nInvented."
        found = [each for each in find_by_rules(text) if each.label == "person full name"]
        return [text[each.span.start : each.span.end] for each in found]

    assert headed("From: Ada Lind, Quellby Hospital, Orrdale") == ["Ada Lind"]
    assert headed("To: Finance Department, Orrdale") == ["Orrdale"]
    assert headed("From: Quellby Hospital, Tobias Orrdale") == ["Tobias Orrdale"]
