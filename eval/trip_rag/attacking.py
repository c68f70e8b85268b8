"""The attacks of the benchmark, folded into one row of a table each."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from eval.attacks.extraction import Aim
from eval.attacks.guess_shares import guess_shares
from eval.attacks.guessing import guess_slots
from eval.attacks.reconstruction import reconstruct, reconstruction_means
from eval.documents import AttackResult
from eval.extraction_audit import ROUGE_THRESHOLD, attack_targets, summarize
from eval.measures.leakage import SensitiveIndex, entity_leakage, is_identifier
from eval.protocols import Attack
from eval.targets import RagTarget
from eval.trip_rag.report import AttackFigures, AttackRow, GuessFigures
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
) -> tuple[AttackFigures, list[AttackRow]]:
    """One attack on one method, and a row for each of its prompts."""
    rows = attack_targets({method: target}, attack, sensitive)[method]
    told = summarize(method, rows, attack, len(sensitive), {})
    figures = AttackFigures(
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
    return figures, [attack_row(method, target, row) for row in rows]


def attack_row(method: str, target: RagTarget, result: AttackResult) -> AttackRow:
    """What a result says without its evidence."""
    leaked, passages = result.leaked, result.passages
    return AttackRow(
        method=method,
        attack=result.attack,
        generator=target.generator.name,
        k=target.k,
        attempt=result.attempt,
        prompt_kind=result.prompt_kind,
        measured=result.measured,
        failure=result.failure,
        engine=result.engine,
        output_characters=result.output_characters,
        doc_ids=result.doc_ids,
        present=len(result.present),
        present_identifiers=sum(map(is_identifier, result.present)),
        leaked=len(leaked),
        leaked_identifiers=sum(is_identifier(each.entity) for each in leaked),
        prompted=sum(each.prompted for each in leaked),
        repeats=any(each.copied_runs for each in passages),
        rouge_recall_above=any(each.rouge_recall > ROUGE_THRESHOLD for each in passages),
        rouge_f_above=any(each.rouge_f > ROUGE_THRESHOLD for each in passages),
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
    # The pools are drawn by the ids, and public ones differ with the key of an installation.
    numbers = {document.doc_id: str(number) for number, document in enumerate(documents)}
    known = {number: doc_id for doc_id, number in numbers.items()}
    guessed = guess_slots(
        [replace(each, doc_id=numbers[each.doc_id]) for each in documents],
        [replace(each, doc_id=numbers[each.doc_id]) for each in sanitized],
        encoder,
        seed=seed,
    )
    guesses = [replace(each, doc_id=known[each.doc_id]) for each in guessed]
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
