"""How much a run will ask a language model, reckoned before it begins."""

from collections.abc import Sequence

from eval.attacks.claims import Access, ModelAtomizer, ModelRewording
from eval.corpora.exams import ChoiceQuestion
from eval.measures.claim_distance import Asked
from eval.measures.model_judges import ModelJudge, coherence_judge
from eval.studies.linkage.attacks import Attack
from eval.studies.linkage.material import Material
from eval.tasks.choices import ModelAnswerer
from eval.tasks.linkage import ATOMIZER
from ingest.protecting.whole_texts import BY_MODEL
from models.language.asking import NO_PLAN, Asker, Plan
from models.language.protocol import LanguageModel


def reckoned(
    model: LanguageModel,
    material: Material,
    attacks: Sequence[Attack],
    methods: Sequence[str],
    judging: bool,
) -> str:
    """In one sentence, rather too much than too little: kept answers and repetitions are not taken off.

    The originals stand in for what methods make of them, and claims by rule for those of the model. The main
    attack, the first, stands in for all. One method leaves nothing to ask about.
    """
    asker, texts = Asker(model), [each.text for each in material.corpus.documents]
    claims, read = ATOMIZER.claims(texts), len(methods) - 1
    known = [_known(claims, attack) for attack in attacks]
    reworded = [each for attack, each in zip(attacks, known, strict=True) if attack.words != "own"]
    parts: list[Plan] = [
        ModelAtomizer(asker).plan(texts).times(read),
        ModelRewording(asker).plan(
            list(dict.fromkeys(one for each in reworded for those in each for one in those))
        ),
        coherence_judge(asker).plan([(text, text) for text in texts]).times(read),
        *(BY_MODEL[name](asker).plan(texts) for name in methods if name in BY_MODEL),
        ModelAnswerer(asker).plan(*_examined(material)).times(len(methods)),
    ]
    if judging:
        judge = ModelJudge(asker)
        by_known: list[Asked] = [
            (each, "\n".join(those)) for each, those in zip(claims, known[0], strict=True)
        ]
        of_text = judge.plan(list(zip(claims, texts, strict=True))).times(read)
        parts += [of_text, (of_text + judge.plan(by_known)).times(len(attacks))]
    return sum(parts, NO_PLAN).reckoned("the originals, with claims cut by rule")


def _examined(material: Material) -> tuple[list[str], list[ChoiceQuestion]]:
    """Texts and the questions about them."""
    asked = [each for each in material.corpus.documents if each.doc_id in material.exam]
    return [each.text for each in asked], [material.exam[each.doc_id] for each in asked]


def _known(claims: Sequence[Sequence[str]], attack: Attack) -> list[list[str]]:
    access = Access(attack.k, attack.choice)
    return [[each[one] for one in access.known(len(each), number)] for number, each in enumerate(claims)]
