"""How many direct identifiers that annotators marked may be lost: names, contacts and codes in the gold.

The gold is evaluation data: nothing is learned from it. What fails is counted and never quoted.
"""

from dataclasses import replace

import pytest

from app.compose import system_of
from app.settings.load import load_settings
from eval.corpora.marked import VISITS_MAIL, with_seen
from eval.corpora.seen import CASES
from eval.tasks.marks import COVERED, MARKS, TOUCHED, figure, mark_counts
from ingest.documents import SanitizedDocument
from ingest.scoring.scale import EMBEDDED_SCALE
from tests.commands import ROOT

DATA = ROOT.parent / "shared" / "data"
DIRECT = ("DIRECT", 2)
LEAST = 0.99
"""The share that has to be replaced: one of 109 in visits and mail is missed, none of 238 in cases."""

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", [VISITS_MAIL, CASES])
def test_direct_identifiers_of_the_gold_are_replaced_whole(name: str) -> None:
    if not (DATA / VISITS_MAIL).is_dir():
        pytest.skip("the marked corpora are not beside the project")
    corpus = with_seen(DATA, name)
    system = replace(system_of(load_settings({})), scale=EMBEDDED_SCALE)
    outcomes = system.sanitizer().sanitize(corpus.documents)
    sanitized = {each.doc_id: each for each in outcomes if isinstance(each, SanitizedDocument)}
    for annotator, documents in corpus.by_annotator.items():
        counts = [mark_counts(each, sanitized[each.document.doc_id]) for each in documents]
        marked, touched, covered = (
            sum(each.get(figure(DIRECT, what), 0) for each in counts) for what in (MARKS, TOUCHED, COVERED)
        )
        assert marked > 0
        assert touched >= LEAST * marked, f"{annotator}: {marked - touched:.0f} of {marked:.0f} stand whole"
        assert covered >= LEAST * marked, f"{annotator}: {marked - covered:.0f} of {marked:.0f} stand in part"
