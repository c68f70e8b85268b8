"""The page of attacks is what its template and the kept figures make, and they are whole."""

import json

import pytest

from benchmarks import attacks_page
from benchmarks.kept import read
from eval.studies.defences import DefencesReport


@pytest.fixture(scope="module")
def report() -> DefencesReport:
    return DefencesReport.model_validate_json(read(attacks_page.DEFENCES))


def test_the_page_is_what_its_template_and_the_results_make() -> None:
    made = attacks_page.page()
    assert attacks_page.PAGE.read_text(encoding="utf-8") == made, "run: python -m benchmarks.attacks_page"


def test_every_attack_breaks_the_undefended_system_and_a_commit_is_known(report: DefencesReport) -> None:
    undefended = report.defences[0]
    budget = report.budget
    chance = undefended.drawn["random-text"][budget].value
    assert chance is not None
    assert all((undefended.drawn[name][budget].low or 0) > chance for name in ("suite", "follow"))
    assert undefended.injected.low is not None and undefended.injected.low > 0.5
    assert report.provenance.commit and "dirty" not in report.provenance.commit
    assert not any("/" in word for word in report.command.split())


def test_attributes_have_figures_for_every_system() -> None:
    parts = json.loads(read(attacks_page.ATTRIBUTES))["parts"]
    for systems in parts.values():
        assert set(systems) == set(attacks_page.ORDER)
        for each in systems.values():
            assert all(each["inferred"][attacks_page.ALL][kind]["n"] > 0 for kind in attacks_page.KINDS)
            assert each["protection"]["individual"]["n"] > 0
