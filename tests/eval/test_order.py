"""Published orders of methods: differences by hand, and whether they come out."""

import pytest

from eval.measures.preserved import ClustersKept, Preserved, Spread
from eval.measures.uncertainty import Estimate
from eval.studies.intact import order


def figures(tps: list[float], nmi: list[float] | None, named: str) -> order.Compared:
    """``named`` has a 1 for each document whose individual was named."""
    nothing = Spread(0.0, 0.0)
    return order.Compared(
        Preserved("tps", Estimate(), Estimate(), Estimate(), tps),
        [None if nmi is None else ClustersKept("nmi[x]", 3, nothing, nothing, nothing, nmi)],
        order.Reidentified("trir", Estimate(), 9, {str(n): each == "1" for n, each in enumerate(named)}),
    )


def test_the_difference_of_runs_by_hand() -> None:
    found = order.by_run([0.5, 0.5, 0.5], [0.6, 0.7, 0.8])
    assert found.value == pytest.approx(0.2)
    assert found.interval == pytest.approx((0.0, 0.4))


@pytest.mark.parametrize(
    ("difference", "said"),
    [
        (Estimate(0.2, 0.1, 0.3), "yes"),
        (Estimate(-0.2, -0.3, -0.1), "no, the reverse"),
        (Estimate(0.1, -0.1, 0.3), "unclear"),
        (Estimate(0.0), "no difference"),
        (Estimate(), "not measured"),
    ],
)
def test_what_an_interval_says(difference: Estimate, said: str) -> None:
    assert order.comes_out(difference) == said


def test_each_order_of_methods_that_were_measured() -> None:
    measured = {
        order.SUPPRESSION: figures([0.1, 0.2, 0.1, 0.2], [0.4, 0.5], "0000"),
        order.ENTITY_TYPE: figures([0.3, 0.5, 0.2, 0.4], [0.1, 0.2], "0100"),
        order.MOST: figures([0.8, 0.9, 0.8, 0.9], None, "0110"),
    }
    found = {(fact.measure, fact.lower, fact.higher): fact.difference for fact in order.order_facts(measured)}
    assert found.keys() == {
        ("TPS", order.SUPPRESSION, order.ENTITY_TYPE),
        ("TRIR", order.SUPPRESSION, order.MOST),
        ("TRIR", order.ENTITY_TYPE, order.SUPPRESSION),
    }
    assert found["TPS", order.SUPPRESSION, order.ENTITY_TYPE].value == pytest.approx(0.2)
    assert found["TRIR", order.SUPPRESSION, order.MOST].value == 0.5
    assert order.comes_out(found["TPS", order.SUPPRESSION, order.ENTITY_TYPE]) == "yes"
    # Suppression was found to name more, and names fewer here.
    assert found["TRIR", order.ENTITY_TYPE, order.SUPPRESSION].value == -0.25
