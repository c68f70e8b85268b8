"""The kept figures of attacks are whole."""

import json

from benchmarks import attacks_page
from benchmarks.kept import read
from eval.studies.defences import DefencesReport


def test_every_attack_breaks_the_undefended_system_and_a_commit_is_known() -> None:
    report = DefencesReport.model_validate_json(read(attacks_page.DEFENCES))
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
