"""The bundled demo corpus, all of it invented: is it whole, well-formed and harmless?

Failures name documents, labels and counts; the texts are invented, but the habit is worth keeping.
"""

import json
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from stdnum import iban, imei, luhn
from stdnum.gb import nhs
from stdnum.it import codicefiscale
from stdnum.nl import bsn
from stdnum.pl import pesel

from app.demo import corpus_path, questions
from ingest.documents import Identifier
from ingest.labels import LABELS
from tests.commands import in_process, write_lines

KINDS = ("clinic", "office", "tribunal")
RESERVED_DOMAIN = re.compile(r"(?:\w+\.)*example\.(?:com|org|net)")
RESERVED_PHONE = re.compile(
    r"(?:\(\d{3}\) )?555-01\d\d"  # North America, for fiction
    r"|07700 900\d{3}|01632 960\d{3}|\(020\) 7946 0\d{3}"  # Ofcom's numbers for drama
    r"|(?:ext\.|bleep) \d{3,4}"  # inside a house, reachable from nowhere
)
DOCUMENTATION_ADDRESS = re.compile(r"(?:192\.0\.2|198\.51\.100|203\.0\.113)\.\d{1,3}|2001:db8:[0-9a-f:]+")
VIN_VALUES = dict(zip("ABCDEFGHJKLMNPRSTUVWXYZ", map(int, "12345678123457923456789"), strict=True))
VIN_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)


Record = dict[str, Any]


@pytest.fixture(scope="module")
def records() -> list[Record]:
    return [json.loads(line) for line in corpus_path().read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def documents(records: list[Record]) -> list[Record]:
    return records[1:]


def spans(form: str, text: str) -> list[tuple[int, int]]:
    """Where ``form`` stands in ``text`` as a whole word or words, half-open, in characters."""
    return [m.span() for m in re.finditer(rf"(?<!\w){re.escape(form)}(?!\w)", text)]


def covered(record: Record, chosen: list[Record]) -> set[int]:
    """The characters of the text that the mentions of the chosen forms take."""
    found = (span for form in chosen for span in spans(form["text"], record["text"]))
    return {place for span in found for place in range(*span)}


def forms_of(documents: list[Record], label: str) -> list[str]:
    return [e["text"] for d in documents for e in d["entities"] if e["label"] == label]


def vin_is_valid(vin: str) -> bool:
    values = (VIN_VALUES.get(sign) or int(sign) for sign in vin)
    total = sum(value * weight for value, weight in zip(values, VIN_WEIGHTS, strict=True))
    return vin[8] == "0123456789X"[total % 11]


def test_it_says_that_all_is_invented_before_three_kinds_of_24_documents(records: list[Record]) -> None:
    first, *documents = records
    assert (first["id"], first["entities"]) == ("about-this-corpus", [])
    assert first["text"].splitlines()[0].startswith("All documents in this corpus are invented")
    assert Counter(d["kind"] for d in documents) == dict.fromkeys(KINDS, 24)
    assert all(d["id"].startswith(f"{d['kind']}-") for d in documents)
    lengths = [len(d["text"]) for d in documents]
    assert 600 <= min(lengths) < 3 * min(lengths) < max(lengths) <= 3500
    for field in ("id", "text", "question", "answer"):
        assert len({str(r[field]) for r in records}) == len(records), field


def test_every_form_stands_in_its_document_and_is_listed_once(documents: list[Record]) -> None:
    for d in documents:
        assert len({e["text"] for e in d["entities"]}) == len(d["entities"]), d["id"]
        for e in d["entities"]:
            assert spans(e["text"], d["text"]), (d["id"], e["label"])
            assert e["label"] in LABELS, d["id"]
            assert LABELS[e["label"]].identifier is Identifier(e["identifier"]), d["id"]
            assert re.fullmatch(r"P\d\d|", e["subject"]), d["id"]
    entities = [e for d in documents for e in d["entities"]]
    assert len({e["label"] for e in entities}) >= 60
    assert {e["identifier"] for e in entities} == {"direct", "quasi", "attribute"}


def test_people_recur_across_documents_and_kinds(documents: list[Record]) -> None:
    ids, kinds, names = (defaultdict[str, set[str]](set) for _ in range(3))
    for d in documents:
        for e in d["entities"]:
            if e["subject"]:
                ids[e["subject"]].add(d["id"])
                kinds[e["subject"]].add(d["kind"])
            if e["label"] == "person full name":
                names[e["subject"]].add(e["text"])
    assert sum(len(of) >= 2 for of in ids.values()) >= 30
    assert sum(len(of) >= 2 for of in kinds.values()) >= 25
    assert sum(len(of) >= 3 for of in names.values()) >= 20


def test_a_name_known_in_a_document_leaves_no_mention_unlisted(documents: list[Record]) -> None:
    for d in documents:
        people = [e for e in d["entities"] if e["label"] == "person full name"]
        taken = covered(d, d["entities"])
        words = {w for e in people for w in re.findall(r"\b[A-Z][^\W\d_]{2,}", e["text"])}
        for word in words - {"April", "June", "Mrs", "Judge", "Employment"}:
            loose = [s for s in spans(word, d["text"]) if s[0] not in taken]
            assert loose == [], f"{d['id']}: a name stands unlisted at {loose}"


ADDRESS, NUMBER = r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+", r"(?<![\w-])555-\d{4}|\b0\d{4} \d{6}\b"


def test_every_address_and_number_is_listed_and_reserved(documents: list[Record]) -> None:
    for d in documents:
        for label, pattern in (("email address", ADDRESS), ("phone number", NUMBER)):
            listed = covered(d, [e for e in d["entities"] if e["label"] == label])
            for match in re.finditer(pattern, d["text"]):
                assert match.start() in listed, f"{d['id']}: unlisted {label} at {match.span()}"
        for match in re.finditer(ADDRESS, d["text"]):
            assert RESERVED_DOMAIN.fullmatch(match[0].split("@")[1]), f"{d['id']}: {match.span()}"
    phones, addresses = (forms_of(documents, label) for label in ("phone number", "IP address"))
    assert len(phones) >= 20 and len(addresses) >= 5
    assert [p for p in phones if not RESERVED_PHONE.fullmatch(p)] == []
    assert [a for a in addresses if not DOCUMENTATION_ADDRESS.fullmatch(a)] == []


def test_numbers_pass_their_checksums(documents: list[Record]) -> None:
    checks = {"credit card number": luhn.is_valid, "IBAN": iban.is_valid, "phone IMEI": imei.is_valid}
    for label, is_valid in (checks | {"vehicle VIN": vin_is_valid}).items():
        numbers = forms_of(documents, label)
        assert numbers and all(is_valid(n.replace(" ", "")) for n in numbers), label
    national = forms_of(documents, "national id number")
    assert len(national) == 3
    for each in national:
        assert pesel.is_valid(each) or bsn.is_valid(each) or codicefiscale.is_valid(each)
    health = [n for n in forms_of(documents, "health insurance number") if n[0].isdigit()]
    assert health and all(n.startswith("999") and nhs.is_valid(n) for n in health)


def test_questions_and_answers_identify_nobody(documents: list[Record]) -> None:
    for d in documents:
        assert d["question"].endswith("?"), d["id"]
        for e in d["entities"]:
            if e["identifier"] != "attribute":
                for told in (d["question"], d["answer"]):
                    assert not spans(e["text"], told), f"{d['id']}: tells a {e['label']}"


def test_look_alikes_are_there_and_are_nobodys_name(documents: list[Record]) -> None:
    named = {e["text"] for d in documents for e in d["entities"] if e["identifier"] != "attribute"}
    for kept in (
        "Crohn's disease", "Parkinson's disease", "Bell's palsy", "Foley catheter", "Yasmin", "Allegra",
        "Employment Tribunal", "Ministry of Health", "Equality Act 2010", "Room 12",
    ):  # fmt: skip
        assert any(kept.lower() in d["text"].lower() for d in documents), kept
        assert kept not in named


def test_the_demo_questions_one_of_each_kind_are_answered_from_their_documents(
    tmp_path: Path, documents: list[Record], capsys: pytest.CaptureFixture[str]
) -> None:
    kind_of = {d["question"]: d["kind"] for d in documents}
    assert tuple(kind_of[q] for q in questions()) == KINDS
    asked = [d for d in documents if d["question"] in questions()]
    others = [d for d in documents if d not in asked][::8]
    write_lines(tmp_path / "corpus.jsonl", (*others, *asked))
    there = ("-c", "demo", "--data-dir", str(tmp_path / "data"))
    ingested = in_process(capsys, "ingest", str(tmp_path / "corpus.jsonl"), *there)
    assert ingested.code == 0, ingested.err
    for document in asked:
        answer = in_process(capsys, "ask", document["question"], *there).summary
        gold, found = ({*re.findall(r"[a-z]{4,}", each["answer"].lower())} for each in (document, answer))
        assert len(gold & found) >= 3, f"{document['id']}: the answer says little of what the gold one does"
        # Brackets hold the number of a passage, and never what stands for a word that went without need.
        assert re.findall(r"\[(?!\d+\])", answer["answer"]) == [], document["id"]
        assert len({each["doc_id"] for each in answer["citations"]}) == 1, document["id"]
