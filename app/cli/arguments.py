"""The verbs and their arguments, each with its help. Only argparse is imported here."""

import argparse
from importlib.metadata import version

from app.cli.measuring_arguments import bench_detection, bench_trip_rag, calibrate, extraction, tune
from app.cli.shared_arguments import collection, how_many, paths, policy, positive, share, words

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
    calibrate(_verb(verbs, "calibrate", "fit the threshold of the policy to documents of your own"))
    help_text = "search weights and thresholds: chosen on half of a corpus, checked on the other half"
    tune(_verb(verbs, "tune", help_text))
    _ingest(_verb(verbs, "ingest", "sanitize documents and index them in a collection"))
    _search(_verb(verbs, "search", "the passages of a collection nearest to a question"))
    _ask(_verb(verbs, "ask", "answer a question from a collection, with citations"))
    _verb(verbs, "collections", "list the collections")
    _erase(_verb(verbs, "erase", "remove a document from a collection and prove it"))
    attack = verbs.add_parser("attack", help="attack a corpus and report what leaks")
    attacks = attack.add_subparsers(dest="attack", required=True, metavar="ATTACK")
    help_text = "make the generator repeat its context (Zeng et al. 2024)"
    extraction(_verb(attacks, "extraction", help_text, module="attack"))
    bench = verbs.add_parser("bench", help="measure the models on corpora of this machine")
    benches = bench.add_subparsers(dest="bench", required=True, metavar="BENCH")
    help_text = "measure what is found and how risky it is judged, as tables"
    bench_detection(_verb(benches, "detection", help_text, module="bench"))
    help_text = "compare TRIP-RAG with every baseline on a corpus: usefulness, leakage, trade-offs"
    bench_trip_rag(_verb(benches, "trip-rag", help_text, module="trip_rag"))
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
    paths(verb)
    policy(verb)
    verb.add_argument("-c", "--collection", metavar="NAME", help="use the scale of this collection's scores")


def _explain(verb: argparse.ArgumentParser) -> None:
    paths(verb)
    policy(verb)
    verb.add_argument(
        "-c", "--collection", metavar="NAME", help="decide as this collection does, by its policy and scale"
    )
    shown = verb.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true", help="JSON lines without the text")
    shown.add_argument("--html", metavar="FILE", help="one page with the text colored; it quotes the text")


def _ingest(verb: argparse.ArgumentParser) -> None:
    paths(verb)
    collection(verb)
    policy(verb)
    verb.add_argument(
        "--keep-ids",
        action="store_true",
        default=None,
        help="keep ids that look opaque and name nobody; without it all ids are digested",
    )


def _search(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("question", type=words, help="what to look for")
    collection(verb)
    how_many(verb)


def _ask(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("question", type=words, help="what to answer")
    collection(verb)
    how_many(verb)
    verb.add_argument("--gguf", metavar="FILE", help="answer with this model file through llama.cpp")


def _erase(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("doc_id", nargs="+", help="ids as they were read, or as `lethe search` shows them")
    collection(verb)


def _serve(verb: argparse.ArgumentParser) -> None:
    collection(verb)
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
    verb.add_argument("--seed", type=positive, help="seed of order, masking and new weights")


def _train_detector(verb: argparse.ArgumentParser) -> None:
    verb.set_defaults(function="train_detector")
    verb.add_argument("data", metavar="DATA", help="folder of corpora, each in the layout it is published in")
    verb.add_argument("--output", required=True, metavar="DIR", help="folder that the model is written into")
    verb.add_argument(
        "--steps",
        type=positive,
        help="steps of the first of two trainings (by default an hour on two cores)",
    )
    verb.add_argument("--seed", type=positive, help="seed of order, names and new weights")
    verb.add_argument("--rate", type=share, help="highest learning rate of the layers (default 0.00015)")
    verb.add_argument(
        "--leave-out", action="append", metavar="CORPUS", help="do not read this corpus; may be repeated"
    )


def _demo(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--output", default="demo-output", metavar="DIR", help="folder for the demo's data")
