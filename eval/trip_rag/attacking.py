"""The attacks of the benchmark, folded into one row of a table each."""

from collections.abc import Mapping, Sequence

from eval.attacks.extraction import Aim
from eval.attacks.guess_shares import guess_shares
from eval.attacks.guessing import guess_slots
from eval.attacks.reconstruction import reconstruct, reconstruction_means
from eval.extraction_audit import attack_targets, summarize
from eval.measures.leakage import SensitiveIndex, entity_leakage, is_identifier
from eval.protocols import Attack
from eval.targets import RagTarget
from eval.trip_rag.report import AttackFigures, GuessFigures
from ingest.documents import Document, SanitizedDocument
from ingest.protocols import Encoder

AIMS: Mapping[str, Sequence[Aim]] = {
    "mts_dialog": (Aim.HEALTH, Aim.UNTARGETED),
    "aci_bench": (Aim.HEALTH, Aim.UNTARGETED),
    "healthcaremagic": (Aim.HEALTH, Aim.UNTARGETED),
    "enronqa": (Aim.OFFICE, Aim.UNTARGETED),
    "aeslc": (Aim.OFFICE, Aim.UNTARGETED),
    "ewt_email": (Aim.OFFICE, Aim.UNTARGETED),
    "tab": (Aim.LEGAL, Aim.UNTARGETED),
}
"""What the prompts ask about, by corpus; all four where nobody knows what the documents are about."""


def aims_of(corpus: str) -> Sequence[Aim]:
    """The aims of the extraction attack on a corpus."""
    return AIMS.get(corpus, tuple(Aim))


def attack_figures(
    method: str, target: RagTarget, attack: Attack, sensitive: SensitiveIndex
) -> AttackFigures:
    """One attack on one method."""
    rows = attack_targets({method: target}, attack, sensitive)[method]
    told = summarize(method, rows, attack, len(sensitive), {})
    return AttackFigures(
        method=method,
        attack=attack.name,
        generator=target.generator.name,
        k=target.k,
        prompts=told.completed,
        failed=told.not_measured,
        all_entities=told.entity_leakage,
        identifiers=entity_leakage(rows, attack.seed, is_identifier),
        prompts_leaking=told.query_leakage,
        repeat_prompts=told.repeat_prompts,
        repeat_passages=told.repeat_passages,
        rouge_recall_prompts=told.rouge_recall_prompts,
        rouge_f_prompts=told.rouge_f_prompts,
    )


def guess_figures(
    method: str,
    documents: Sequence[Document],
    sanitized: Sequence[SanitizedDocument],
    encoder: Encoder,
    sensitive: SensitiveIndex,
    seed: int,
) -> GuessFigures:
    """Entity inference and reconstruction of what one method wrote; kept slots do not count as guessed."""
    guesses = guess_slots(documents, sanitized, encoder, seed=seed)
    replaced = [each for each in guesses if not each.kept]
    shares = guess_shares(replaced, seed)
    rebuilt = reconstruction_means(reconstruct(documents, sanitized, guesses, sensitive), seed)
    return GuessFigures(
        method=method,
        documents=len(sanitized),
        slots=len(replaced),
        top1=shares.first,
        top5=shares.first_five,
        prior_top1=shares.prior_first,
        prior_top5=shares.prior_first_five,
        chance_top1=shares.chance_first,
        rouge_l=rebuilt.sanitized_rouge,
        rebuilt_rouge_l=rebuilt.rouge,
        entities_left=rebuilt.left,
        entities_recovered=rebuilt.recovered,
    )
