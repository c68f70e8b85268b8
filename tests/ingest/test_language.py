"""Languages that the reader did not learn are refused, and doubts are reported. All texts are invented."""

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.cli.main import main
from ingest.deciding.baselines.uniform import REDACT
from ingest.detection.doubts import CAPITALS, CODE, GLUED, TABLE, UNKNOWN_LANGUAGE, doubts_of
from ingest.documents import ACCEPTED, Document, SanitizedDocument
from ingest.errors import SanitizationError
from ingest.language.identification import WINDOW, _windows, languages_of
from ingest.language.sentences import split_sentences
from ingest.sanitize import DecidingSanitizer
from ingest.scoring.prior import RiskPrior
from models.corpora.passages import passages
from tests.doubles import PhraseDetector

ENGLISH = (
    "The patient was seen in clinic today. She has had a dry cough for two weeks and takes nothing for it. "
    "Her chest is clear, and she will come back if it gets worse.\n"
)
KNOWN = {
    "English": ENGLISH,
    "German": "Der Patient wurde heute in der Sprechstunde gesehen. Er hustet seit zwei Wochen und nimmt "
    "nichts dagegen ein. Die Lunge ist frei, und er kommt wieder, wenn es schlimmer wird.\n",
    "French": "Le patient a été vu aujourd'hui en consultation. Il tousse depuis deux semaines et ne prend "
    "rien. Les poumons sont clairs, et il reviendra si cela s'aggrave.\n",
    "Spanish": "El paciente fue visto hoy en la consulta. Tose desde hace dos semanas y no toma nada. Los "
    "pulmones están limpios y volverá si empeora.\n",
    "Italian": "Il paziente è stato visto oggi in ambulatorio. Tossisce da due settimane e non prende nulla. "
    "I polmoni sono liberi e tornerà se peggiora.\n",
    "Dutch": "De patiënt is vandaag op het spreekuur gezien. Hij hoest al twee weken en neemt er niets voor "
    "in. De longen zijn schoon en hij komt terug als het erger wordt.\n",
    "Portuguese": "O doente foi visto hoje na consulta. Tosse há duas semanas e não toma nada. Os pulmões "
    "estão limpos e ele voltará se piorar.\n",
}
OTHERS = {
    "Catalan": "La pacient va venir ahir a la consulta perquè fa dues setmanes que tus i no pren res. Viu "
    "amb la seva filla gran a prop del mercat i treballa de cuinera en una escola.\n",
    "Galician": "A paciente veu onte á consulta porque leva dúas semanas tusindo e non toma nada. Vive coa "
    "súa filla maior preto do mercado e traballa de cociñeira nunha escola.\n",
    "Luxembourgish": "D'Patientin ass gëschter an d'Sprechstonn komm, well si zënter zwou Wochen houscht. Si "
    "wunnt mat hirer eelster Duechter beim Maart a schafft als Kächin an enger Schoul.\n",
    "Afrikaans": "Die pasiënt het gister by die spreekkamer aangekom omdat sy al twee weke lank hoes. Sy "
    "woon saam met haar oudste dogter naby die mark en werk as kok by 'n skool.\n",
    "another language": "De pasjint kaam juster op it sprekoere om't se al twa wiken hoastet en der neat "
    "foar nimt. Se wennet mei har âldste dochter tichtby de merk en wurket as kok op in skoalle.\n",
    "Danish": "Patienten kom i går til konsultation, fordi hun har hostet i to uger. Hun bor sammen med sin "
    "ældste datter tæt på torvet og arbejder som kok på en skole.\n",
    "Norwegian": "Pasienten kom i går til konsultasjon fordi hun har hostet i to uker. Hun bor sammen med "
    "den eldste dattera si nær torget og jobber som kokk på en skole.\n",
    "Romanian": "Pacienta a venit ieri la consultație pentru că tușește de două săptămâni. Locuiește cu "
    "fiica ei cea mare lângă piață și lucrează ca bucătăreasă la o școală.\n",
    "Polish": "Pacjentka przyszła wczoraj do przychodni, ponieważ kaszle od dwóch tygodni. Mieszka ze "
    "starszą córką niedaleko targu i pracuje jako kucharka w szkole.\n",
    "Finnish": "Potilas tuli eilen vastaanotolle, koska hän on yskinyt kaksi viikkoa. Hän asuu vanhimman "
    "tyttärensä kanssa torin lähellä ja työskentelee kokkina koulussa.\n",
    "Chinese": "病人今天来门诊就诊，咳嗽两周，没有吃药。肺部检查正常，如果加重会再来。\n",
    "Russian": "Пациент сегодня был на приёме. Он кашляет две недели и ничего не принимает.\n",
}


@pytest.mark.parametrize("known", KNOWN)
@pytest.mark.parametrize("language", OTHERS)
def test_languages_that_the_reader_did_not_learn_are_told(language: str, known: str) -> None:
    for text in (OTHERS[language], *split_sentences(OTHERS[language])):
        assert languages_of(text).foreign == language and languages_of(text).is_foreign
    assert doubts_of(OTHERS[language]) == (f"in {language}",)
    partly = doubts_of(KNOWN[known] * 12 + OTHERS[language] * 2)
    assert partly in ((f"partly in {language}",), (f"in {language}",))


def test_texts_in_known_languages_and_in_several_of_them_are_read_without_a_doubt() -> None:
    assert list(KNOWN) == list(ACCEPTED.values())
    assert set(KNOWN) == {each.language for each in passages("learn")}
    for text in (*KNOWN.values(), "".join(KNOWN.values()), " ".join(KNOWN.values()).replace("\n", "")):
        assert doubts_of(text) == ()


def test_passages_in_known_languages_are_not_refused() -> None:
    aside = passages("aside")
    refused = Counter(each.language for each in aside if languages_of(each.text).is_foreign)
    assert len({each.language for each in aside}) == len(ACCEPTED)
    assert refused.keys() <= {"English"}
    assert refused["English"] <= 0.01 * sum(each.language == "English" for each in aside)


@pytest.mark.parametrize(
    "text",
    [
        "Tomasz Krzywoszewski came. Tomasz had the key.",
        "Mrs Ngọc Thị Hạnh rang Dr Đặng. The rash is gone.",
        "Meeting with Sølvi Østerhaug and Åge Sætervik.",
        "Zdzisława Wąsowicz: cough",
        "Jan Żabiński, Zdzisława Wąsowicz, Piotr Źrebiec",
        "Visit of Mrs Þorgerður Ásgeirsdóttir",
    ],
)
def test_names_alone_make_no_text_foreign(text: str) -> None:
    assert not languages_of(text).is_foreign


def test_a_sentence_is_enough() -> None:
    for text in ("Pacjent skarży się na kaszel.", "Patienten klagar över hosta.", "王小明，男，四岁"):
        assert languages_of(text).is_foreign


@pytest.mark.parametrize(
    "text",
    [
        "Is the dry cough treated with lisinopril or with codeine?",
        "The α and β values were normal, and the dose was raised by 2 µg.",
        f"{ENGLISH * 3}She takes lisinopril, metoprolol succinate and levothyroxine every morning.",
        f"{ENGLISH * 3}The Institut für Angewandte Mathematik in Heidelberg sent her the report on Monday.",
    ],
)
def test_english_with_words_of_other_languages_is_read_without_a_doubt(text: str) -> None:
    assert doubts_of(text) == ()


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("Keller, Anna", UNKNOWN_LANGUAGE),
        ("", UNKNOWN_LANGUAGE),
        (ENGLISH.upper(), CAPITALS),
        ("name | ward | day\n" + "Keller | 4 | Monday\n" * 5, TABLE),
        ("".join((ENGLISH * 4).split()), GLUED),
        ("def fetch(name):\n    return rows[name];\nfor each in rows:\n    print(each);\n", CODE),
    ],
)
def test_doubtful_texts_say_why(text: str, doubt: str) -> None:
    assert doubt in doubts_of(text)


@given(st.text(alphabet="ab \n\x0b", max_size=3 * WINDOW))
def test_windows_hold_the_whole_text(text: str) -> None:
    windows = list(_windows(text))
    assert "".join(windows) == text
    assert all(0 < len(window) <= 2 * WINDOW for window in windows)


def sanitizer(language: str) -> DecidingSanitizer:
    detector = PhraseDetector({"Keller": "person full name"})
    return DecidingSanitizer(detector, REDACT, RiskPrior(), language="any" if language == "any" else "known")


def test_a_document_in_another_language_is_refused_and_the_others_are_not() -> None:
    documents = [Document("a", ENGLISH), Document("b", OTHERS["Polish"]), Document("c", "Keller 4471")]
    documents += [Document(language, text) for language, text in KNOWN.items()]
    one, two, three, *others = sanitizer("known").sanitize(documents)
    assert isinstance(two, SanitizationError)
    assert str(two) == (
        "document b was not indexed: it is in Polish, and only English, German, French, Spanish, Italian, "
        "Dutch and Portuguese are accepted (with --language any it is read, with a warning in every result); "
        "nothing of it was kept"
    )
    assert isinstance(three, SanitizedDocument) and three.doubts == (UNKNOWN_LANGUAGE,)
    assert all(isinstance(each, SanitizedDocument) and each.doubts == () for each in (one, *others))
    with pytest.raises(SanitizationError, match="it is in Polish"):
        sanitizer("known").explain(documents[1])
    (read,) = sanitizer("any").sanitize(documents[1:2])
    assert isinstance(read, SanitizedDocument) and read.doubts == ("in Polish",)


LETTERS = {
    "Sehr geehrte Frau Dr. Ostermann,\nHerr Joachim Wieczorek, geb. 03.09.1961, hustet seit Januar, und "
    "seine Frau Gudrun hat ihn angemeldet. Er ist unter 0171 5550932 zu erreichen.\n": (
        "Ostermann Joachim Wieczorek Gudrun 5550932"
    ),
    "Estimada señora Belmonte:\nDoña Remedios Arizmendi, DNI 48291503T, fue despedida en octubre, y su "
    "compañera Casilda Urrechu fue testigo. Llame al 655 041 982.\n": (
        "Belmonte Remedios Arizmendi 48291503T Casilda Urrechu 655"
    ),
}


@pytest.mark.parametrize("letter", LETTERS)
def test_names_and_numbers_go_from_letters_in_known_languages(
    letter: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LETHE_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "letter.txt").write_text(letter, encoding="utf-8")
    assert main(["sanitize", str(tmp_path / "letter.txt")]) == 0
    row = json.loads(capsys.readouterr().out)
    assert row["doubts"] == []
    assert [part for part in LETTERS[letter].split() if part in row["text"]] == []


def test_every_result_of_a_doubtful_document_warns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = {"DETECTOR__LEARNED": "false", "RISK__KIND": "prior", "DATA_DIR": str(tmp_path / "data")}
    for name, value in settings.items():
        monkeypatch.setenv(f"LETHE_{name}", value)
    note = tmp_path / "note.txt"
    note.write_text(OTHERS["Polish"], encoding="utf-8")

    def run(*arguments: str) -> tuple[int, list[dict[str, object]]]:
        code = main(arguments)
        return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    code, (summary,) = run("ingest", str(note), "-c", "c", "--policy", "redact")
    assert code == 1
    assert "it is in Polish" in str(summary["failures"])
    code, (summary,) = run("ingest", str(note), "-c", "c", "--policy", "redact", "--language", "any")
    assert code == 0
    assert summary["doubts"] == {"in Polish": 1}
    code, (row,) = run("sanitize", str(note), "--policy", "redact", "--language", "any")
    assert row["doubts"] == ["in Polish"]
    assert row["detected_risk"] == {"of": "what was found", "before": 0, "after": 0, "engine": "prior"}
    code, (document,) = run("documents", "-c", "c")
    assert document["doubts"] == ["in Polish"]
    code, (answer,) = run("ask", "Od jak dawna pacjentka kaszle?", "-c", "c")
    assert str(answer["warnings"]).endswith(": in Polish']")


SENTENCES = {
    "La senyora Marguerite Ashdown viu des de fa vint anys a la ciutat de Girona.": "Catalan",
    "Fru Marguerite Ashdown fra Aalborg bad i går om en ny tid hos lægen.": "Danish",
    "Pani Ashdown mieszka w Krakowie i pracuje tam od dawna w piekarni.": "Polish",
}


@pytest.mark.parametrize(("sentence", "language"), SENTENCES.items())
@pytest.mark.parametrize("ahead", ["\n", " "])
def test_one_sentence_in_another_language_is_told(sentence: str, language: str, ahead: str) -> None:
    text = ENGLISH.strip() * 8 + ahead + sentence + ahead + ENGLISH * 8
    assert doubts_of(text) == (f"partly in {language}",)
    assert not languages_of(text).is_foreign
    assert languages_of(text).accepted + languages_of(text).unknown > 0


def test_a_language_without_a_name_of_ours_is_another_language() -> None:
    somali = "Bukaanku wuxuu yimid maanta rugta caafimaadka, wuxuuna qufacayaa laba toddobaad oo dhan."
    assert doubts_of(somali) == ("in another language",)
