"""The linkage attack as a task of an experiment. All documents are invented."""

import json
import random
import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from eval.attacks.claims import Access, OwnWords, RuleAtomizer
from eval.attacks.linkage import Bm25, Dense, Linker, Rouge
from eval.corpora.corpus import Selection
from eval.corpora.loaders import load
from eval.experiment import SanitizedCorpus
from eval.measures.claim_distance import Asked, Rating
from eval.progress import no_progress
from eval.rows import Row
from eval.tasks import linkage as linked
from ingest.deciding.baselines.uniform import ORIGIN, REDACT
from ingest.documents import Document, SanitizedDocument, Span
from ingest.protocols import Encoder, Method
from ingest.sanitize import DecidingSanitizer
from ingest.scoring.prior import RiskPrior
from tests.commands import public_data
from tests.doubles import PhraseDetector
from tests.hashing_encoder import HashingEncoder

THINGS = (
    "anvil barge churn dory easel fiddle gondola harrow inkwell jib kiln loom mangle niche oar piano".split()
)
TOWNS = "Varde Ostby Quellby Tarnholt Drumsk Fjelby Holmra Skarvik".split()
ENCODER: Encoder = HashingEncoder()


def invented(number: int) -> Document:
    """A document of five claims, all with things of its own but the last."""
    one, two, three, four = (f"{thing}{number}" for thing in random.Random(number).sample(THINGS, 4))
    town = TOWNS[number % len(TOWNS)]
    text = f"A man of {town} has a {one} and mends a {two}. The {three} is red; the {four} is old. It rains."
    return Document(f"d{number}", text)


DOCUMENTS = [invented(number) for number in range(24)]
OWN = [f"{thing}{number}" for thing in THINGS for number in range(len(DOCUMENTS))]
PHRASES = dict.fromkeys(TOWNS, "city name") | dict.fromkeys(sorted(OWN, key=len, reverse=True), "job title")


def kept(method: Method, documents: Sequence[Document] = DOCUMENTS, name: str = "s") -> SanitizedCorpus:
    done = DecidingSanitizer(PhraseDetector(PHRASES), method, RiskPrior()).sanitize(documents)
    there = [each for each in done if isinstance(each, SanitizedDocument)]

    def retriever(encoder: Encoder) -> object:
        raise AssertionError("nothing is asked")

    return SanitizedCorpus(name, len(there), {}, {}, retriever, there)  # type: ignore[arg-type]


def rows(task: linked.LinkageTask, corpus: SanitizedCorpus, cases: Sequence[str] | None = None) -> list[Row]:
    return list(task.rows(corpus, task.cases if cases is None else cases, no_progress))


TASK = linked.LinkageTask(DOCUMENTS, Linker(Bm25()), encoder=ENCODER, access=Access(2), rewording=OwnWords())


def test_an_unsanitized_document_is_linked_and_tells_everything() -> None:
    found = rows(TASK, kept(ORIGIN))
    assert [row.case for row in found] == TASK.cases
    assert linked.linkage(found).rate.value == 1
    for figure in (linked.DISTANCE, linked.EMBEDDING, linked.LEXICAL):
        assert linked.distances(found, figure).mean.value == pytest.approx(0)
    assert linked.leaked_claims(found).value == 1
    figures = found[0].figures
    claims = RuleAtomizer().claims([DOCUMENTS[0].text])[0]
    assert (figures[linked.KNOWN], figures[linked.LEFT]) == (2, len(claims) - 2)
    assert figures[linked.CLAIMS] == figures[linked.LINKABLE] == len(claims)
    assert figures[linked.RATED] == figures[linked.LEAKED]
    assert figures[linked.INVALID] == figures[linked.MISSING] == 0
    assert figures[linked.WORDING] == figures[linked.OWN_WORDING] == 1
    assert sum(linked.distribution(found).right) == len(DOCUMENTS) == linked.distribution(found).right[0]


def test_a_redacted_document_tells_less() -> None:
    origin, redacted = rows(TASK, kept(ORIGIN)), rows(TASK, kept(REDACT))
    for figure in (linked.DISTANCE, linked.EMBEDDING, linked.LEXICAL):
        more, less = (linked.distances(each, figure).mean.value for each in (redacted, origin))
        assert more is not None and less is not None and more > less + 0.1, figure
    rate = linked.linkage(redacted).rate.value
    assert rate is not None and rate < 0.5


def test_a_known_claim_is_the_same_for_every_system_every_selection_of_cases_and_all_ids() -> None:
    every = {row.case: row for row in rows(TASK, kept(REDACT))}
    assert rows(TASK, kept(REDACT), ["d7", "d3"]) == [every["d7"], every["d3"]]
    said = [linked.CLAIMS, linked.OVERLAP, linked.OWN_WORDING]
    for of, row in zip(rows(TASK, kept(ORIGIN)), every.values(), strict=True):
        assert [of.figures[name] for name in said] == [row.figures[name] for name in said]
    renamed = [replace(document, doc_id=f"x{99 - n}") for n, document in enumerate(DOCUMENTS)]
    other = rows(replace(TASK, documents=renamed), kept(REDACT, renamed))
    assert [row.figures for row in other] == [row.figures for row in every.values()]


def test_a_document_hidden_among_others_does_not_depend_on_what_else_is_attacked() -> None:
    others, attacked = DOCUMENTS[:12], DOCUMENTS[12:]
    task = replace(TASK, documents=attacked, among=others)
    corpus = kept(REDACT)
    found = rows(task, corpus)
    assert [row.case for row in found] == [each.doc_id for each in attacked]
    alone = [rows(replace(task, documents=attacked[:n]), corpus)[-1] for n in range(1, len(attacked) + 1)]
    assert [row.figures[linked.RIGHT] for row in found] == [row.figures[linked.RIGHT] for row in alone]
    assert linked.linkage(rows(task, kept(ORIGIN))).rate.value == 1
    # The second stands behind one of the others: as if it alone were attacked with them.
    together = replace(TASK, documents=[others[0], attacked[1], *others[1:]])
    (same,) = rows(together, corpus, [attacked[1].doc_id])
    assert found[1].figures[linked.RIGHT] == same.figures[linked.RIGHT]


def test_what_was_not_sanitized_is_no_candidate_and_not_measured() -> None:
    corpus = kept(ORIGIN, DOCUMENTS[1:])
    failing = replace(corpus, failed={"d0": "Broken"})
    assert [row.failure for row in rows(TASK, corpus)[:2]] == ["not sanitized", ""]
    found = rows(TASK, failing)
    assert (found[0].failure, found[0].figures) == ("Broken", {})
    assert linked.linkage(found).rate.n == len(DOCUMENTS) - 1
    assert linked.linkage(found).rate.value == 1


def test_who_has_no_claims_is_skipped() -> None:
    documents = [Document("empty", ""), Document("short", "The kiln is red."), *DOCUMENTS]
    empty, short, *_ = rows(replace(TASK, documents=documents), kept(ORIGIN, documents))
    assert empty.figures[linked.SKIPPED] == 1
    assert empty.figures[linked.RIGHT] == empty.figures[linked.CLAIMS] == 0
    assert linked.DISTANCE not in empty.figures
    # All of it is known: it is linked, and nothing is left to find out.
    assert (short.figures[linked.RIGHT], short.figures[linked.LEFT]) == (1, 0)
    assert linked.DISTANCE not in short.figures and linked.EMBEDDING not in short.figures
    assert linked.distances([empty, short]).skipped == 0


class Fixed:
    """Rates by the place of the claim, whatever is said."""

    name = "fixed (test double)"

    def __init__(self, *given: Rating) -> None:
        self._given = given

    def ratings(self, claims: Sequence[str], text: str) -> list[Rating]:
        return list(self._given[: len(claims)])

    def rated(self, asked: Sequence[Asked]) -> list[list[Rating]]:
        return [self.ratings(*each) for each in asked]


def test_a_judge_decides_what_leaked() -> None:
    text = "A kiln is red. A loom is old. Her dog is here. She is 40 years old. She is tall."
    documents = [Document("d", text)]
    task = replace(TASK, documents=documents, access=Access(2, "first"))
    # Three claims are left. Ratings 1, 3 and an invalid 9, which counts as 1: (0 + 1 + 0) / 3, two leaked.
    (row,) = rows(replace(task, judge=Fixed(1, 3, 9)), kept(ORIGIN, documents))
    assert row.figures[linked.DISTANCE] == row.figures[linked.OVERLAP] == pytest.approx(1 / 3)
    assert (row.figures[linked.RATED], row.figures[linked.LEAKED], row.figures[linked.INVALID]) == (3, 2, 1)
    shares = linked.leaked_by_category([row], ["Pet", "Age", "Appearance", "Finance"])
    assert [(each.hits, each.n) for each in shares.values()] == [(1, 1), (0, 1), (1, 1), (0, 0)]
    (row,) = rows(replace(task, judge=Fixed(None, 3, 3)), kept(ORIGIN, documents))
    assert (row.figures[linked.RATED], row.figures[linked.MISSING]) == (2, 1)
    assert not any("Pet" in name for name in row.figures)


def test_details_that_are_gone_are_hidden() -> None:
    details = {
        each.doc_id: [Span(match.start(), match.end()) for match in re.finditer("|".join(TOWNS), each.text)]
        for each in DOCUMENTS
    }
    task = replace(TASK, details=details, access=Access(2, "last"))
    assert linked.distances(rows(task, kept(ORIGIN)), linked.HIDDEN).mean.value == 0
    redacted = linked.distances(rows(task, kept(REDACT)), linked.HIDDEN)
    assert redacted.mean.value == 1 and redacted.mean.n + redacted.skipped == len(DOCUMENTS)
    # Where the sentence with the town is known, nothing is looked for.
    known = rows(replace(task, access=Access(1, "first")), kept(ORIGIN))
    assert linked.distances(known, linked.HIDDEN).mean.value is None


def test_the_first_version_asks_bm25_in_own_words_and_the_second_each_claim_in_others() -> None:
    one, two = linked.version_1(DOCUMENTS), linked.version_2(DOCUMENTS, ENCODER)
    claims, judged = "3 random claims in", "judge[lexical-3level]"
    assert one.name == f"linkage, bm25[k1 0.9, b 0.4], joined over documents, {claims} own words, {judged}"
    assert two.name == f"linkage, dense[hashed words], each over claims, {claims} paraphrase[rule], {judged}"
    for task in (one, two):
        found = rows(task, kept(ORIGIN))
        assert linked.linkage(found).rate.hits >= 0.9 * len(DOCUMENTS)
        assert linked.linkage(found).rate == linked.linkage(rows(task, kept(ORIGIN))).rate
    assert found[0].figures[linked.WORDING] <= found[0].figures[linked.OWN_WORDING] == 1


def test_a_row_holds_numbers_and_names_of_parts_only() -> None:
    task = replace(linked.version_2(DOCUMENTS, ENCODER), categorizer=linked.CLINICAL)
    for row in rows(task, kept(REDACT)):
        assert row.engine == (
            "atoms[rule]; paraphrase[rule]; dense[hashed words], each over claims; judge[lexical-3level]; "
            "categories[rule, 24]; hashed words"
        )
        shown = json.dumps(row.model_dump(mode="json")) + repr(row)
        assert not any(each in shown for each in (*THINGS, *TOWNS))
        assert all(isinstance(value, float) for value in row.figures.values())
    shown = repr(task) + repr(linked.Person(DOCUMENTS[0], ["kiln"], ["kiln"], ["kiln"]))
    assert not any(each in shown for each in (*THINGS, *TOWNS))


@pytest.mark.parametrize("linker", [Linker(Rouge(), "joined", "documents"), Linker(Dense(ENCODER), "joined")])
def test_every_linker_of_the_paper_is_a_task(linker: Linker) -> None:
    found = rows(linked.LinkageTask(DOCUMENTS, linker), kept(ORIGIN))
    assert linked.linkage(found).rate.hits >= 0.9 * len(DOCUMENTS)
    assert linked.EMBEDDING not in found[0].figures


def test_claims_in_their_own_words_link_published_vignettes() -> None:
    # By words alone, version 1 of A False Sense of Privacy reports .99 on unsanitized text.
    documents = load("medqa", public_data("medqa") / "medqa", Selection(most_documents=300)).documents
    task = linked.LinkageTask(documents, Linker(Bm25()), access=Access(3), rewording=OwnWords())
    assert linked.linkage(rows(task, kept(ORIGIN, documents))).rate.hits >= 0.95 * len(documents)
