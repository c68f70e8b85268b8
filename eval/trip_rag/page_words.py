"""How the benchmark measures, in words, and what it was run with."""

from eval.trip_rag.report import TripRagReport

DEFINITIONS = {
    "Recall@k overlap": "The same question is put to the unsanitized index and to the sanitized one. Of the "
    "documents behind the first k passages of the first, the share that is behind the first k of the second, "
    "as a mean over questions. The unsanitized index has 1 by definition; it need not rise with k.",
    "found@k": "The share of questions whose document is behind one of the first k passages. Questions that "
    "are about no single document are left out.",
    "BLEU-1": "Share of words of the answer that the reference has too, each counted as often as there, "
    "with the brevity penalty; lower case, words between white space. The mean over questions.",
    "sacreBLEU": "The standard BLEU of single sentences, with the signature printed above, divided by 100.",
    "ROUGE-L": "F measure of the longest common subsequence of stems.",
    "Published, other data": "Printed in the paper, which answers other questions about other documents with "
    "another generator. Its tables 1 and 3 were separate runs.",
    "Identifiers": "Sensitive entities that identify a person by themselves, and those that do so with "
    "others and have a moderate risk or more.",
    "All sensitive entities": "Also what one would learn of a person, such as illnesses and drugs. Which "
    "entities are sensitive is told below.",
    "Leakage under extraction": "Of the sensitive entities of the original documents behind the passages "
    "that were retrieved, the share that stands word for word in the output, over all answered prompts. "
    "Attempts in which the victim failed are left out; they are not safe ones.",
    "Reading the whole index": "Of all sensitive entities of the documents in the index, the share that "
    "stands word for word in the sanitized text of its own document. Documents that could not be sanitized "
    "are not in the index and not counted.",
    "Kept": "Of all decisions about detected mentions, the share that left them as they were.",
    "Dominated": "A point for which Lethe has one that leaks no more, has at least as much Recall@1 overlap, "
    "and is better in one of both. Lethe’s are those of trip and of its scores alone. Points that fall "
    "together count once; arms that failed on a document are left out.",
    "What follows from the definitions": "The default policy always generalizes what is found and "
    "identifies, by the same border of risk (0.4) that the figures of identifiers count by. Where the "
    "reference is what the detector found, trip can hardly leak more of these than redact: the figure says "
    "that the rule works, not that the detector is good. Recall, answers, and all sensitive entities do not "
    "follow from any definition.",
    "Scores alone": "The default without its limits on names, quasi-identifiers and passages. Rigid "
    "identifiers, and what repeats the words of one, go whatever the scores say.",
    "Intervals": "95%. Means have a bootstrap over questions, none where nothing varies. Shares have "
    "Wilson’s interval; extracted entities also have bootstraps over prompts and over documents, entities in "
    "the index one over documents, and the widest is shown. Ratios of means, areas and the share that is "
    "dominated redraw questions, the same for all methods, and take what is left in the index as it was "
    "measured; areas have the basic interval, since the best of many points is too good by chance. "
    "Differences and ratios of leakage are put together from the intervals of both as if these were "
    "independent (Zou and Donner 2008). All take documents to come as like these.",
}


def facts(report: TripRagReport) -> list[tuple[str, str]]:
    """What one needs to know to run it again."""
    corpus, made = report.corpus, report.provenance
    told = [
        ("Corpus", f"{corpus.name}, {corpus.source}"),
        ("License", corpus.license),
        ("Documents", f"{corpus.documents:,}, {corpus.characters:,} characters"),
        ("Questions", f"{corpus.questions:,}"),
        ("Split", corpus.split),
        ("Sensitive entities", f"{corpus.sensitive_entities:,}, {corpus.reference}"),
        ("Answers by", report.generator),
        ("Encoder", ", ".join(dict.fromkeys(each.encoder for each in report.methods)) or "none"),
        ("sacreBLEU", report.sacrebleu_signature),
        ("Seed", str(report.seed)),
        ("Date", made.date),
        ("Machine", made.hardware),
        ("Versions", ", ".join(f"{name} {number}" for name, number in made.versions.items())),
        ("Commit", made.commit or "not known"),
    ]
    return told + sorted(made.settings.items())
