"""Texts in other languages are refused, and doubts are reported. All texts are invented."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.cli.main import main
from ingest.deciding.baselines.uniform import REDACT
from ingest.detection.doubts import CAPITALS, CODE, GLUED, TABLE, UNKNOWN_LANGUAGE, doubts_of
from ingest.documents import Document, SanitizedDocument
from ingest.errors import SanitizationError
from ingest.language.identification import WINDOW, _windows, languages_of
from ingest.sanitize import DecidingSanitizer
from ingest.scoring.prior import RiskPrior
from tests.doubles import PhraseDetector

ENGLISH = (
    "The patient was seen in clinic today. She has had a dry cough for two weeks and takes nothing for it. "
    "Her chest is clear, and she will come back if it gets worse.\n"
)
OTHERS = {
    "German": "Der Patient wurde heute in der Sprechstunde gesehen. Er hustet seit zwei Wochen und nimmt "
    "nichts dagegen ein. Die Lunge ist frei, und er kommt wieder, wenn es schlimmer wird.\n",
    "French": "Le patient a été vu aujourd'hui en consultation. Il tousse depuis deux semaines et ne prend "
    "rien. Les poumons sont clairs, et il reviendra si cela s'aggrave.\n",
    "Spanish": "El paciente fue visto hoy en la consulta. Tose desde hace dos semanas y no toma nada. Los "
    "pulmones están limpios y volverá si empeora.\n",
    "Chinese": "病人今天来门诊就诊，咳嗽两周，没有吃药。肺部检查正常，如果加重会再来。\n",
    "Russian": "Пациент сегодня был на приёме. Он кашляет две недели и ничего не принимает.\n",
}


@pytest.mark.parametrize("language", OTHERS)
def test_other_languages_are_told(language: str) -> None:
    assert languages_of(OTHERS[language]).foreign == language
    assert languages_of(OTHERS[language]).is_foreign
    assert doubts_of(OTHERS[language]) == (f"in {language}",)
    partly = doubts_of(ENGLISH * 12 + OTHERS[language] * 2)
    assert partly in ((f"partly in {language}",), (f"in {language}",))


@pytest.mark.parametrize(
    "text",
    [
        "Patient klagt über Husten und Fieber.",
        "La paciente refiere dolor torácico desde ayer.",
        "王小明，男，四十五岁。",
        "Herr Keller wohnt in der Bahnhofstraße 12 und ist telefonisch nicht erreichbar.",
    ],
)
def test_a_sentence_is_enough(text: str) -> None:
    assert languages_of(text).is_foreign


def test_english_is_read_without_a_doubt() -> None:
    assert doubts_of(ENGLISH) == ()
    assert doubts_of("Is the dry cough treated with lisinopril or with codeine?") == ()
    assert doubts_of("The α and β values were normal, and the dose was raised by 2 µg.") == ()


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("4471", UNKNOWN_LANGUAGE),
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


class Recording(PhraseDetector):
    """Remembers what it was asked."""

    def __init__(self) -> None:
        super().__init__({})
        self.asked: list[str] = []

    def detect(self, documents: list[Document]) -> list[list[object]]:  # type: ignore[override]
        self.asked += [document.doc_id for document in documents]
        return [[] for _ in documents]


def test_doubtful_texts_are_read_by_the_careful_detector() -> None:
    from ingest.detection.hybrid import HybridDetector

    learned, careful = Recording(), Recording()
    detector = HybridDetector(learned, careful)  # type: ignore[arg-type]
    documents = [Document("prose", ENGLISH), Document("list", "Keller 4471"), Document("more", ENGLISH)]
    assert len(detector.detect(documents)) == 3
    assert (learned.asked, careful.asked) == (["prose", "more"], ["list"])


def sanitizer(language: str) -> DecidingSanitizer:
    detector = PhraseDetector({"Keller": "person full name"})
    return DecidingSanitizer(detector, REDACT, RiskPrior(), language="any" if language == "any" else "en")


def test_a_document_in_another_language_is_refused_and_the_others_are_not() -> None:
    documents = [Document("a", ENGLISH), Document("b", OTHERS["German"]), Document("c", "Keller 4471")]
    one, two, three = sanitizer("en").sanitize(documents)
    assert isinstance(two, SanitizationError)
    assert str(two) == (
        "document b was not indexed: it is in German, and the models learned English only (with --language "
        "any it is read, with a warning in every result); nothing of it was kept"
    )
    assert isinstance(one, SanitizedDocument)
    assert isinstance(three, SanitizedDocument)
    assert (one.doubts, three.doubts) == ((), (UNKNOWN_LANGUAGE,))
    with pytest.raises(SanitizationError, match="it is in German"):
        sanitizer("en").explain(documents[1], lambda text: [])
    (read,) = sanitizer("any").sanitize(documents[1:2])
    assert isinstance(read, SanitizedDocument)
    assert read.doubts == ("in German",)


def test_every_result_of_a_doubtful_document_warns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LETHE_DETECTOR__LEARNED", "false")
    monkeypatch.setenv("LETHE_RISK__KIND", "prior")
    monkeypatch.setenv("LETHE_DATA_DIR", str(tmp_path / "data"))
    note = tmp_path / "note.txt"
    note.write_text(OTHERS["German"], encoding="utf-8")

    def run(*arguments: str) -> tuple[int, list[dict[str, object]]]:
        code = main(arguments)
        return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    code, (summary,) = run("ingest", str(note), "-c", "c", "--policy", "redact")
    assert code == 1
    assert "it is in German" in str(summary["failures"])
    code, (summary,) = run("ingest", str(note), "-c", "c", "--policy", "redact", "--language", "any")
    assert code == 0
    assert summary["doubts"] == {"in German": 1}
    code, (row,) = run("sanitize", str(note), "--policy", "redact", "--language", "any")
    assert row["doubts"] == ["in German"]
    assert row["detected_risk"] == {"of": "what was found", "before": 0, "after": 0, "engine": "prior"}
    code, (document,) = run("documents", "-c", "c")
    assert document["doubts"] == ["in German"]
    code, (answer,) = run("ask", "Wie lange hustet der Patient?", "-c", "c")
    assert str(answer["warnings"]).endswith(": in German']")


@pytest.mark.parametrize(
    ("sentence", "language"),
    [
        ("La señora Marguerite Ashdown vive desde hace veinte años en la ciudad de Toledo.", "Spanish"),
        ("Frau Marguerite Ashdown aus Dortmund hat gestern um einen neuen Termin gebeten.", "German"),
        ("Pani Ashdown mieszka w Krakowie i pracuje tam od dawna w piekarni.", "Polish"),
    ],
)
@pytest.mark.parametrize("ahead", ["\n", " "])
def test_one_sentence_in_another_language_is_told(sentence: str, language: str, ahead: str) -> None:
    text = ENGLISH.strip() * 8 + ahead + sentence + ahead + ENGLISH * 8
    assert doubts_of(text) == (f"partly in {language}",)
    assert not languages_of(text).is_foreign
    assert languages_of(text).english + languages_of(text).unknown > 0


def test_lists_of_drugs_and_addresses_earn_no_doubt_of_language() -> None:
    for line in (
        "She takes lisinopril, metoprolol succinate, atorvastatin and levothyroxine every morning.",
        "The Institut für Angewandte Mathematik in Heidelberg sent her the report on Monday.",
    ):
        assert doubts_of(ENGLISH * 3 + line) == ()


def test_a_language_without_a_name_of_ours_is_another_language() -> None:
    somali = "Bukaanku wuxuu yimid maanta rugta caafimaadka, wuxuuna qufacayaa laba toddobaad oo dhan."
    assert doubts_of(somali) == ("in another language",)
