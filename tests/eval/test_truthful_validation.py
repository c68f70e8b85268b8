"""The truthfulness proxy against people: counting on invented judgements, and figures on real ones."""

from pathlib import Path

import pytest

from eval.studies.intact import report
from eval.studies.intact.report import JudgedReplacement, Judgement, read_judgements, validated
from tests.commands import public_data, write_lines

JUDGEMENTS = "intact_manual_eval/dev.jsonl"
MARGIN = 0.02
REACHED = {"truthful": (0.880, 0.723), "less specific": (0.742, 0.449)}
"""Agreement and kappa on the reported half."""


INVENTED = [
    JudgedReplacement(f"d{doc}", system, "DATETIME", Judgement(truthful, less), said, told)
    for doc, system, said, told, truthful, less in (
        (1, "one", "7 March 2001", "March 2001", True, True),
        (1, "two", "7 March 2001", "April 2001", False, True),
        (2, "one", "June 1990", "the 1990s", True, True),
        (3, "one", "June 1990", "June 1990", True, True),
        (3, "two", "June 1990", "the 1980s", True, False),
    )
]


def test_agreement_is_counted_as_by_hand() -> None:
    result = validated(INVENTED)
    assert (result.replacements, result.documents) == (5, 3)
    figure = result.figure("truthful")
    assert (figure.both_yes, figure.only_proxy_yes, figure.only_people_yes, figure.both_no) == (3, 0, 1, 1)
    assert figure.agreement.value == pytest.approx(0.8)
    assert figure.majority == pytest.approx(0.8)
    # 0.8 are seen to agree, 0.6 * 0.8 + 0.4 * 0.2 would by chance.
    assert figure.kappa.value == pytest.approx((0.8 - 0.56) / (1 - 0.56))
    assert figure.agreement.low is not None and figure.agreement.low < 0.8
    # Types and systems have their own figures.
    assert result.figure("truthful", "one").agreement.value == 1.0
    assert result.figure("truthful", "two").agreement.value == 0.5
    assert result.figure("truthful", "DATETIME").agreement == result.figure("truthful").agreement
    with pytest.raises(KeyError, match="truthful, three"):
        result.figure("truthful", "three")

    with pytest.raises(ValueError, match="there are no judgements"):
        validated([])


def test_halves_are_by_document_and_share_none(tmp_path: Path) -> None:
    path = tmp_path / "judgements.jsonl"
    said = {"span_text": "Norwich", "entity_type": "LOC", "system": "one", "truthful": 1, "less_specific": 0}
    told = enumerate([None, "England"] * 30)
    write_lines(path, ({"doc_id": f"d{n // 3}", "replacement": each, **said} for n, each in told))
    chosen, reported = read_judgements(path, "chosen on"), read_judgements(path, "reported")
    assert len(chosen) + len(reported) == 60
    assert {each.doc_id for each in chosen}.isdisjoint(each.doc_id for each in reported)
    assert all(report.half_of(each.doc_id) == "reported" for each in reported)
    assert {each.replacement for each in [*chosen, *reported]} == {"", "England"}


def test_the_proxy_agrees_with_people_on_the_reported_half() -> None:
    judgements = public_data(JUDGEMENTS) / JUDGEMENTS
    result = validated(read_judgements(judgements, "reported"))
    assert result.replacements == 492
    for question in report.QUESTIONS:
        agreement, kappa = REACHED[question]
        figure = result.figure(question)
        assert figure.agreement.value is not None and figure.agreement.value >= agreement - MARGIN
        assert figure.kappa.value is not None and figure.kappa.value >= kappa - 2 * MARGIN
