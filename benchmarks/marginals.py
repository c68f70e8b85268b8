"""Marginal risk by one pass, held to the paper's F(T) with and without each entity.

``python -m benchmarks.marginals DATA`` measures documents of three corpora that the defaults were
not chosen on. The embedded model scores entities in their context, and its marginal hazard is the entity's
own; the slow form scores the text again without each entity. ``benchmarks/results/marginals.json`` has
Spearman's rank correlation of the two, and how often the policy trip decides the same about a mention.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from app.compose import system_of
from app.settings.load import load_settings
from benchmarks.searching import corpora
from eval.measures.agreement import estimated, spearman
from eval.measures.uncertainty import clustered_share
from eval.provenance import commit_here, provenance_of
from ingest.annotated import AnnotatedText
from ingest.documents import Action, Document, Span
from ingest.explain import Explanation
from ingest.protocols import Hazards, RiskModel
from ingest.scoring.prior import descriptor_of
from ingest.scoring.scale import EMBEDDED_SCALE
from retrieval.system import System

RESULT = Path(__file__).parent / "results" / "marginals.json"
DOCUMENTS = 20
"""Of each corpus."""


@dataclass(frozen=True, slots=True)
class LeaveOneOut:
    """R(T) - R(T without e) by a pass of ``risk`` for each linked entity e: slow and obviously correct."""

    risk: RiskModel

    @property
    def name(self) -> str:
        """The name of the model, with the form."""
        return f"{self.risk.name}, leaving one out"

    def hazards(self, texts: Sequence[AnnotatedText]) -> list[Hazards]:
        """The hazard of each text, and what it loses without each entity."""
        return [self._hazards(text) for text in texts]

    def _hazards(self, text: AnnotatedText) -> Hazards:
        (whole,) = self.risk.hazards([text])
        links = list(whole.marginals)
        without = self.risk.hazards([text.without({link}, descriptor_of) for link in links])
        lost = [max(0.0, whole.total - each.total) for each in without]
        return Hazards(whole.total, dict(zip(links, lost, strict=True)))


def compared(system: System, documents: Sequence[Document]) -> dict[str, Any]:
    """The agreement of both forms on some documents, with 95 % intervals over documents."""
    slow = replace(system, risk=LeaveOneOut(system.risk))
    pairs, same, mentions = [], [], []
    for document in documents:
        one, other = (each.deciding().explain(document) for each in (system, slow))
        risks = _risks(one), _risks(other)
        pairs.append(([*risks[0].values()], [risks[1][link] for link in risks[0]]))
        gone = [_spans(each, Action.GENERALIZE) for each in (one, other)]
        mentions.append(len(gone[0] | _spans(one, Action.KEEP)))
        same.append(mentions[-1] - len(gone[0] ^ gone[1]))
    return {
        "documents": len(documents),
        "entities": sum(len(first) for first, _ in pairs),
        "mentions": sum(mentions),
        "spearman": asdict(estimated(spearman, pairs)),
        "same_decision": asdict(clustered_share(same, mentions)),
    }


def _risks(explained: Explanation) -> dict[int, float]:
    return {each.link: each.scores.marginal_privacy_risk for each in explained.entities if each.scores}


def _spans(explained: Explanation, action: Action) -> set[tuple[Span, str]]:
    return {
        (span, each.label) for each in explained.entities if each.action is action for span in each.mentions
    }


def main() -> None:
    """Compare, and write the figures."""
    parser = argparse.ArgumentParser(description="Marginal risk by one pass against leaving one out.")
    parser.add_argument("data", type=Path, help="the folder of the public corpora")
    given = parser.parse_args()
    system, commit = (
        replace(system_of(load_settings({"policy.name": "trip"})), scale=EMBEDDED_SCALE, language="any"),
        commit_here(),
    )
    result = {}
    for corpus in corpora(given.data, chosen_on=False):
        result[corpus.name] = compared(system, corpus.documents[:DOCUMENTS])
        print(f"{corpus.name}: {result[corpus.name]}", file=sys.stderr, flush=True)
    made = provenance_of(system, {"risk": LeaveOneOut(system.risk).name}, commit).model_dump(mode="json")
    RESULT.write_text(json.dumps({"provenance": made, "corpora": result}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
