"""Marginal risk by one pass against leaving one out, on the real models."""

from dataclasses import replace

import pytest

from app.compose import system_of
from app.settings.load import load_settings
from benchmarks.marginals import LeaveOneOut, compared
from ingest.documents import Document
from ingest.sanitize import annotate
from ingest.scoring.prior import descriptor_of
from ingest.scoring.scale import EMBEDDED_SCALE

TEXT = "Ada Lind, born on 3 May 1971, lives in Quarnby with Bo Ferris. She is a plumber."


def test_leaving_one_out_scores_the_text_again_without_each_entity() -> None:
    system = replace(system_of(load_settings({"numbers": "float32"})), scale=EMBEDDED_SCALE)
    (text,) = annotate(system.detector, [Document("a", TEXT)])
    (found,) = LeaveOneOut(system.risk).hazards([text])
    (whole,) = system.risk.hazards([text])
    assert found.total == whole.total
    assert set(found.marginals) == {entity.link for entity in text.entities}
    for link, lost in found.marginals.items():
        (rest,) = system.risk.hazards([text.without({link}, descriptor_of)])
        assert lost == pytest.approx(max(0.0, whole.total - rest.total), abs=1e-4)
    row = compared(system, [Document("a", TEXT)])
    assert (row["documents"], row["entities"]) == (1, len(found.marginals))
    assert row["same_decision"]["n"] == row["mentions"] >= row["same_decision"]["hits"] > 0
