"""Patients' questions with doctors' answers: the paper's first corpus, and others in its layout."""

from pathlib import Path

from eval.corpora.assembling import assembled
from eval.corpora.corpus import Corpus, Question, Selection
from eval.corpora.layouts import Layout, check_known, document_in, records_in, text_of
from ingest.read.records import Record
from models.errors import ConfigurationError

HEALTHCAREMAGIC = Layout(
    "healthcaremagic",
    ("input", "output"),
    "ChatDoctor-HealthCareMagic-100k or another corpus of its layout (Li et al., Cureus 2023)",
    "as its publisher states it; for academic use",
    ("HealthCareMagic-100k*.json", "data.jsonl", "data.jsonl.gz", "*.parquet", "data/*.parquet"),
)


def healthcaremagic(path: Path, selection: Selection) -> Corpus:
    """A share of the consultations is held out as questions; the others are the documents.

    The paper holds out 1 %. Duplicates of a held-out question are in neither part. Records with an empty side
    are skipped.

    Raises:
        LetheError: The corpus cannot be read or has fewer than two consultations.
    """
    read = _consultations(path)
    if len(read) < 2:
        raise ConfigurationError(
            f"The corpus {HEALTHCAREMAGIC.corpus} holds {len(read)} whole consultations: give at least "
            "two, one to ask and one to find."
        )
    count = min(len(read) - 1, max(1, round(selection.asked_share * len(read))))
    held_out = set(selection.drawn("held out").sample(sorted(read), count))
    asked_before = {text_of(read[each], "input").casefold() for each in held_out}
    documents, questions = [], []
    for doc_id, record in read.items():
        patient, doctor = text_of(record, "input"), text_of(record, "output")
        if doc_id in held_out:
            questions.append(Question(doc_id, patient, doctor))
        elif patient.casefold() not in asked_before:
            documents.append(document_in(record, doc_id, f"Patient: {patient}\nDoctor: {doctor}"))
    repeated = len(read) - count - len(documents)
    how = (
        f"{count:,} of {len(read):,} consultations are held out, their patients' words are the questions and "
        f"their doctors' the reference answers, and {repeated:,} that repeat a held-out patient are left out"
    )
    return assembled(HEALTHCAREMAGIC, documents, questions, selection, how)


def _consultations(path: Path) -> dict[str, Record]:
    read: dict[str, Record] = {}
    for record in records_in(path, HEALTHCAREMAGIC):
        own = record.fields.get("id")
        # The published corpus has no ids.
        doc_id = str(own) if isinstance(own, str | int) else f"consultation-{len(read) + 1:06d}"
        check_known(read, doc_id, record)
        if text_of(record, "input") and text_of(record, "output"):
            read[doc_id] = record
    return read
