"""The verbs and their arguments, each with its help. Only argparse is imported here."""

import argparse
from importlib.metadata import version

_EXIT_CODES = "exit codes: 0 done, 1 failed in part or whole, 2 misused"


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    top = argparse.ArgumentParser(
        prog="lethe",
        description="Ingest private documents, answer over the sanitized text, see what an attacker gets. "
        "Results are JSON lines on standard output, messages go to standard error.",
        epilog=f"{_EXIT_CODES}. Everything that is kept lies under --data-dir.",
    )
    top.add_argument("--version", action="version", version=f"lethe {version('lethe')}")
    verbs = top.add_subparsers(dest="verb", required=True, metavar="VERB")
    _sanitize(_verb(verbs, "sanitize", "write sanitized documents, one JSON object each"))
    _explain(_verb(verbs, "explain", "say of each entity of a document why it was treated as it was"))
    _calibrate(_verb(verbs, "calibrate", "fit the threshold of the policy to documents of your own"))
    help_text = "search weights and thresholds: chosen on half of a corpus, checked on the other half"
    _tune(_verb(verbs, "tune", help_text))
    _ingest(_verb(verbs, "ingest", "sanitize documents and index them in a collection"))
    _search(_verb(verbs, "search", "the passages of a collection nearest to a question"))
    _ask(_verb(verbs, "ask", "answer a question from a collection, with citations"))
    _verb(verbs, "collections", "list the collections")
    _erase(_verb(verbs, "erase", "remove a document from a collection and prove it"))
    attack = verbs.add_parser("attack", help="attack a corpus and report what leaks")
    attacks = attack.add_subparsers(dest="attack", required=True, metavar="ATTACK")
    help_text = "make the generator repeat its context (Zeng et al. 2024)"
    _extraction(_verb(attacks, "extraction", help_text, module="attack"))
    bench = verbs.add_parser("bench", help="measure the models on corpora of this machine")
    benches = bench.add_subparsers(dest="bench", required=True, metavar="BENCH")
    help_text = "measure what is found and how risky it is judged, as tables"
    _bench_detection(_verb(benches, "detection", help_text, module="bench"))
    help_text = "compare TRIP-RAG with every baseline on a corpus: usefulness, leakage, trade-offs"
    _bench_trip_rag(_verb(benches, "trip-rag", help_text, module="trip_rag"))
    _serve(_verb(verbs, "serve", "a small HTTP server over the same parts"))
    _verb(verbs, "settings", "the settings in force and where each comes from")
    _models(verbs.add_parser("models", help="the models that are known, here, or to be fetched"))
    _demo(_verb(verbs, "demo", "the whole job on a bundled, invented corpus"))
    return top


def _verb(
    verbs: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    help_text: str,
    module: str | None = None,
) -> argparse.ArgumentParser:
    verb = verbs.add_parser(
        name, help=help_text, description=help_text.capitalize() + ".", epilog=_EXIT_CODES
    )
    verb.set_defaults(module=module or name, function="run")
    verb.add_argument("--data-dir", metavar="DIR", help="folder of the collections (or LETHE_DATA_DIR)")
    return verb


def _sanitize(verb: argparse.ArgumentParser) -> None:
    _paths(verb)
    _policy(verb)
    verb.add_argument("-c", "--collection", metavar="NAME", help="use the scale of this collection's scores")


def _explain(verb: argparse.ArgumentParser) -> None:
    _paths(verb)
    _policy(verb)
    verb.add_argument(
        "-c", "--collection", metavar="NAME", help="decide as this collection does, by its policy and scale"
    )
    shown = verb.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true", help="JSON lines without the text")
    shown.add_argument("--html", metavar="FILE", help="one page with the text colored; it quotes the text")


def _calibrate(verb: argparse.ArgumentParser) -> None:
    _paths(verb)
    _policy(verb)
    by = verb.add_mutually_exclusive_group(required=True)
    by.add_argument(
        "--max-leak",
        type=_share,
        metavar="SHARE",
        help="the largest threshold whose expected leakage is at most this share",
    )
    by.add_argument("--share", type=_share, help="the threshold that generalizes this share of all entities")
    by.add_argument("--marks", metavar="FIELD", help="field of the records with the entities that must go")
    by.add_argument(
        "--ask-model", action="store_true", help="let the language model of the settings mark them"
    )
    verb.add_argument(
        "--confidence", type=_share, default=0.95, help="of the promise of --max-leak (default 0.95)"
    )
    verb.add_argument(
        "--count",
        choices=("identifiers", "all"),
        default="identifiers",
        help="whose leakage --max-leak bounds: what identifies (default), or every sensitive entity",
    )
    verb.add_argument(
        "--gold-field",
        metavar="FIELD",
        help="field of the records with all sensitive entities, for --max-leak; without it what is detected",
    )
    verb.add_argument(
        "--quantile", type=_share, default=0.1, help="share of the marked that may stay (default 0.1)"
    )
    verb.add_argument("--gguf", metavar="FILE", help="model file for --ask-model, through llama.cpp")
    _preset(verb)
    verb.add_argument("--output", metavar="FILE", help="policy file to write, for --policy")


def _tune(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("path", metavar="PATH", help="folder of the corpus, or one file of it")
    verb.add_argument(
        "--corpus",
        default="folder",
        metavar="NAME",
        help="layout, as in `lethe bench trip-rag` (default folder)",
    )
    verb.add_argument("--split", metavar="NAME", help="records of official splits named so: test, train")
    verb.add_argument("--documents", type=_positive, metavar="N", help="a sample of this many documents")
    verb.add_argument("--questions", type=_positive, metavar="N", help="a sample of this many questions")
    verb.add_argument(
        "--betas",
        type=_numbers,
        metavar="LIST",
        help="weights of knowledge, beside 0 (default 0.2,0.4,0.5,0.6,0.8,1)",
    )
    verb.add_argument(
        "--gammas",
        type=_numbers,
        metavar="LIST",
        help="weights of topic, beside 0 (default 0.2,0.4,0.5,0.6,0.8,1)",
    )
    verb.add_argument(
        "--shares",
        type=_numbers,
        metavar="LIST",
        help="shares of all entities that are generalized (default 0.2,0.4,0.6,0.8)",
    )
    verb.add_argument("--seed", type=int, default=0, help="seed of samples and halves (default 0)")
    verb.add_argument(
        "--output", metavar="DIR", help="folder for tuning.json, tuning.html and a policy file of each choice"
    )
    _policy(verb)


def _ingest(verb: argparse.ArgumentParser) -> None:
    _paths(verb)
    _collection(verb)
    _policy(verb)
    verb.add_argument(
        "--keep-ids",
        action="store_true",
        default=None,
        help="keep ids that look opaque and name nobody; without it all ids are digested",
    )


def _search(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("question", type=_words, help="what to look for")
    _collection(verb)
    _k(verb)


def _ask(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("question", type=_words, help="what to answer")
    _collection(verb)
    _k(verb)
    verb.add_argument("--gguf", metavar="FILE", help="answer with this model file through llama.cpp")


def _erase(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("doc_id", nargs="+", help="ids as they were read, or as `lethe search` shows them")
    _collection(verb)


def _extraction(verb: argparse.ArgumentParser) -> None:
    _paths(verb)
    _policy(verb)
    _k(verb)
    verb.add_argument(
        "-c", "--collection", metavar="NAME", help="attack what this collection keeps of these documents"
    )
    verb.add_argument(
        "-n", type=_positive, default=250, metavar="N", help="prompts of each aim (default 250)"
    )
    verb.add_argument("--seed", type=int, default=0, help="seed of the prompts (default 0)")
    verb.add_argument(
        "--aim",
        choices=("health", "office", "legal", "untargeted"),
        action="append",
        help="what the prompts ask about; may be repeated (default all four)",
    )
    verb.add_argument(
        "--generator",
        choices=("verbatim", "settings"),
        default="verbatim",
        help="verbatim repeats every passage, the worst case (default); settings takes the configured one",
    )
    verb.add_argument(
        "--gold-field", metavar="FIELD", help="field of the records with the entities that must not leak"
    )
    verb.add_argument("--report", metavar="DIR", help="folder for report.html, summary.json and rows.jsonl")


def _bench_detection(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("data", metavar="DATA", help="folder in which each corpus has its own")
    verb.add_argument("--output", metavar="DIR", help="folder for detection.json, risk.json and tables.md")
    verb.add_argument(
        "--corpus", action="append", metavar="NAME", help="detect in this corpus alone; may be repeated"
    )
    verb.add_argument(
        "--columns",
        metavar="NAMES",
        help="which detectors, with commas: embedded, recall, patterns (default all three)",
    )
    verb.add_argument("--commit", metavar="HASH", help="commit of the code, for the record")


def _bench_trip_rag(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("path", metavar="PATH", help="folder of the corpus, or one file of it")
    verb.add_argument(
        "--corpus",
        default="folder",
        metavar="NAME",
        help="layout: mts_dialog, aci_bench, healthcaremagic, enronqa, aeslc, ewt_email, tab, demo, or any "
        "folder of documents (default folder)",
    )
    verb.add_argument(
        "--quick", action="store_true", help="a small sample and the main methods' tables alone"
    )
    verb.add_argument("--split", metavar="NAME", help="records of official splits named so: test, train")
    verb.add_argument("--documents", type=_positive, metavar="N", help="a sample of this many documents")
    verb.add_argument("--questions", type=_positive, metavar="N", help="a sample of this many questions")
    verb.add_argument(
        "--questions-file",
        metavar="FILE",
        help="your own questions about a folder: JSON lines, question, answer",
    )
    verb.add_argument(
        "--asked-share",
        type=_share,
        default=0.01,
        help="share held out as questions (default 0.01, the paper's)",
    )
    verb.add_argument(
        "--prompts", type=_positive, metavar="N", help="attack prompts of each aim (default 250, quick 20)"
    )
    verb.add_argument(
        "--encoders",
        metavar="NAME,NAME",
        help="further encoders to retrieve with: embedded, folders, or ids of pulled models",
    )
    verb.add_argument("--seed", type=int, default=0, help="seed of samples, draws and prompts (default 0)")
    verb.add_argument("--gguf", metavar="FILE", help="answer and paraphrase with this model file")
    verb.add_argument("--output", metavar="DIR", help="folder for the page, its figures and their rows")
    _policy(verb)
    _preset(verb)


def _serve(verb: argparse.ArgumentParser) -> None:
    _collection(verb)
    verb.add_argument("--host", help="loopback address to listen on (default 127.0.0.1)")
    verb.add_argument("--port", type=int, help="port (default 8000; 0 takes a free one)")


def _models(models: argparse.ArgumentParser) -> None:
    verbs = models.add_subparsers(dest="models_verb", required=True, metavar="VERB")
    for name, text in (
        ("list", "known models, and whether they are here"),
        ("verify", "check the embedded models against their digests"),
        ("pull", "download a model; the only thing in Lethe that downloads"),
    ):
        verb = _verb(verbs, name, text, module="models_verbs")
        verb.set_defaults(function=name)
        if name == "pull":
            verb.add_argument("model", help="id on the hub, for example BAAI/bge-large-en-v1.5")
            verb.add_argument("--revision", help="revision to pin (default: the one in the catalog)")
            verb.add_argument("--yes", action="store_true", help="do not ask")
    _train_detector(_verb(verbs, "train-detector", "train a detector on a folder of corpora", module="train"))
    _train_risk(_verb(verbs, "train-risk", "train a privacy-risk model on scored snippets", module="train"))
    _export_detector(
        _verb(verbs, "export-detector", "write the detector for GLiNER.from_pretrained", module="train")
    )


def _export_detector(verb: argparse.ArgumentParser) -> None:
    verb.set_defaults(function="export_detector")
    verb.add_argument("--output", required=True, metavar="DIR", help="folder that it is written into, 180 MB")
    verb.add_argument("--model", metavar="DIR", help="a detector of your own (default the shipped one)")


def _train_risk(verb: argparse.ArgumentParser) -> None:
    verb.set_defaults(function="train_risk")
    verb.add_argument(
        "data", nargs="?", metavar="DATA", help="folder of the corpora that some of our snippets refer to"
    )
    verb.add_argument("--output", required=True, metavar="DIR", help="folder that the model is written into")
    verb.add_argument(
        "--labels", metavar="FILE", help="snippets of your own, JSON lines with 'marked' and 'scores'"
    )
    verb.add_argument(
        "--encoder",
        metavar="FOLDER|ID",
        help="fine-tune this transformer, a folder or a pulled model such as microsoft/deberta-v3-base "
        "(default: a small model over the embedded encoder)",
    )
    verb.add_argument("--seed", type=_positive, help="seed of order, masking and new weights")


def _train_detector(verb: argparse.ArgumentParser) -> None:
    verb.set_defaults(function="train_detector")
    verb.add_argument("data", metavar="DATA", help="folder of corpora, each in the layout it is published in")
    verb.add_argument("--output", required=True, metavar="DIR", help="folder that the model is written into")
    verb.add_argument(
        "--steps",
        type=_positive,
        help="steps of the first of two trainings (by default an hour on two cores)",
    )
    verb.add_argument("--seed", type=_positive, help="seed of order, names and new weights")
    verb.add_argument("--rate", type=_share, help="highest learning rate of the layers (default 0.00015)")
    verb.add_argument(
        "--leave-out", action="append", metavar="CORPUS", help="do not read this corpus; may be repeated"
    )


def _demo(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--output", default="demo-output", metavar="DIR", help="folder for the demo's data")


def _paths(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("paths", nargs="+", metavar="PATH", help="files, folders, globs; - is standard input")
    verb.add_argument(
        "--text-field", default="text", metavar="FIELD", help="field of records with the text (default text)"
    )
    verb.add_argument(
        "--id-field", default="id", metavar="FIELD", help="field of records with the id (default id)"
    )


def _policy(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--policy",
        metavar="NAME|FILE",
        help="trip, redact, suppress, entity-type, lprag, origin, or a TOML file",
    )
    verb.add_argument("--tau", type=float, help="generalize from this priority on; lower is stricter")
    verb.add_argument(
        "--engine", choices=("reference", "exact", "fast"), help="scoring engine (default exact)"
    )
    verb.add_argument("--risk", choices=("learned", "prior"), help="privacy-risk model (default learned)")


def _preset(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--preset", metavar="NAME", help="shipped settings instead of settings.toml: paper, see docs/paper.md"
    )


def _collection(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("-c", "--collection", required=True, metavar="NAME", help="the collection")


def _k(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("-k", type=_positive, help="passages to retrieve (default 5)")


def _words(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise argparse.ArgumentTypeError("is not UTF-8; set the terminal to UTF-8") from None
    return text


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise argparse.ArgumentTypeError("must be a number above 0 and below 1")
    return share


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError("must be numbers with commas between them") from None


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError("must be a whole number, 1 or more")
    return int(text)
