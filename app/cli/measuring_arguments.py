"""The arguments of the verbs that measure and fit: each with its help."""

import argparse

from app.cli.shared_arguments import (
    as_json,
    collection,
    how_many,
    language,
    limit,
    model_file,
    numbers,
    of_collection,
    output,
    paths,
    policy,
    positive,
    preset,
    share,
    target,
)
from ingest.deciding.baselines.als_like import ALS_LIKE
from ingest.protecting.incognitext import VARIANTS
from ingest.protecting.whole_texts import BY_MODEL

COVERING = ("copybreak", "pirates", "dgea")
"""Attacks of ``lethe bench defences --also``, which imports them late."""


def calibrate(verb: argparse.ArgumentParser) -> None:
    """``lethe calibrate``."""
    paths(verb)
    policy(verb)
    by = verb.add_mutually_exclusive_group(required=True)
    by.add_argument(
        "--max-leak",
        type=share,
        metavar="SHARE",
        help="fit the largest threshold whose expected leakage is at most this share (default none; this, "
        "--share, --marks or --ask-model is needed)",
    )
    by.add_argument(
        "--share",
        type=share,
        help="fit the threshold that generalizes this share of all entities (default none)",
    )
    by.add_argument(
        "--marks",
        metavar="FIELD",
        help="fit the threshold to the entities that must go, in this field of the records (default none)",
    )
    by.add_argument(
        "--ask-model",
        action="store_true",
        help="fit the threshold to entities that the configured language model marks",
    )
    verb.add_argument(
        "--confidence", type=share, default=0.95, help="confidence of --max-leak (default 0.95)"
    )
    verb.add_argument(
        "--count",
        choices=("identifiers", "all"),
        default="identifiers",
        help="entities whose leakage --max-leak bounds: identifiers (default), or all sensitive ones",
    )
    verb.add_argument(
        "--attack",
        metavar="MEASURE",
        help="bound by --max-leak how often this attack of `lethe audit` succeeds: linked, told or "
        "singled-out (default none)",
    )
    _gold(
        verb, "field of the records with all sensitive entities, for --max-leak; without it the detected ones"
    )
    verb.add_argument(
        "--quantile", type=share, default=0.1, help="share of the marked entities that may stay (default 0.1)"
    )
    model_file(verb, "model file for --ask-model, through llama.cpp (default the generator of the settings)")
    preset(verb)
    verb.add_argument(
        "--output", metavar="FILE", help="policy file to write, for --policy; without it none is written"
    )


def tune(verb: argparse.ArgumentParser) -> None:
    """``lethe tune``."""
    _corpus(verb, "layout, as in `lethe bench trip-rag` (default folder)")
    _sample(verb)
    for option, weighed in (("--betas", "knowledge"), ("--gammas", "topic")):
        help_text = f"weights of {weighed}, beside 0 (default 0.2,0.4,0.5,0.6,0.8,1)"
        verb.add_argument(option, type=numbers, metavar="LIST", help=help_text)
    verb.add_argument(
        "--shares",
        type=numbers,
        metavar="LIST",
        help="shares of all entities that are generalized (default 0.2,0.4,0.6,0.8)",
    )
    verb.add_argument("--seed", type=int, default=0, help="seed of samples and halves (default 0)")
    output(verb, "folder for tuning.json, tuning.html and a policy file of each choice; without it none")
    as_json(verb)
    policy(verb)


def audit(verb: argparse.ArgumentParser) -> None:
    """``lethe audit``."""
    collection(verb)
    paths(verb, "--originals")
    language(verb, "documents")
    verb.add_argument(
        "--suite",
        choices=("quick", "standard", "full"),
        default="standard",
        help="quick takes 100 documents and a few minutes, standard 1,000, full all (default standard)",
    )
    for option, fails in (("--fail-above", "a leak is above"), ("--fail-below", "usefulness is below")):
        verb.add_argument(
            option,
            type=limit,
            action="append",
            metavar="MEASURE=VALUE",
            help=f"exit with 100 if {fails} this; may be repeated (default no gate)",
        )
    _gold(verb, "field of the records with the entities that must not leak; without it the detected ones")
    verb.add_argument(
        "--person-field",
        metavar="FIELD",
        help="field of the records that says whom each is about, for the attack that looks for documents "
        "about one person (default none, and no such attack)",
    )
    verb.add_argument(
        "--attributes-field",
        metavar="FIELD",
        help="field of the records with what is known of whom each is about, by the names of attributes, for "
        "the attack that infers it (default none, and no such attack)",
    )
    verb.add_argument("--seed", type=int, default=0, help="seed of samples, draws and prompts (default 0)")
    verb.add_argument(
        "--reveal",
        action="store_true",
        help="print what the worst documents still show, on the terminal only",
    )
    output(
        verb,
        "folder for report.html, audit.json, junit.xml, audit.sarif and the rows, where an interrupted audit "
        "goes on; without it none is written",
    )
    as_json(verb)


def compare(verb: argparse.ArgumentParser) -> None:
    """``lethe compare``."""
    for name, which in (("one", "first"), ("other", "second")):
        verb.add_argument(name, metavar=name.upper(), help=f"folder of the {which} audit, or its audit.json")
    as_json(verb)


def extraction(verb: argparse.ArgumentParser) -> None:
    """``lethe attack extraction``."""
    _leaking(verb)
    verb.add_argument("-n", type=positive, default=250, metavar="N", help="prompts of each aim (default 250)")
    verb.add_argument("--seed", type=int, default=0, help="seed of the prompts (default 0)")
    verb.add_argument(
        "--aim",
        choices=("health", "office", "legal", "untargeted"),
        action="append",
        help="what the prompts ask about; may be repeated (default all four)",
    )


def custom_attack(verb: argparse.ArgumentParser) -> None:
    """``lethe attack custom``."""
    verb.add_argument(
        "attack_file",
        metavar="FILE.py:CLASS",
        help="a class of a Python file that has the shape of an attack (docs/extending.md); the file is run",
    )
    _leaking(verb)


def membership(verb: argparse.ArgumentParser) -> None:
    """``lethe attack membership``."""
    _attacked(verb)
    verb.add_argument(
        "--held-out",
        type=share,
        default=0.2,
        metavar="SHARE",
        help="share of the documents that is not indexed (default 0.2)",
    )
    verb.add_argument(
        "--candidates",
        type=positive,
        default=100,
        metavar="N",
        help="the most documents of each kind, indexed and held out, that are asked about (default 100)",
    )
    verb.add_argument("--seed", type=int, default=0, help="seed of draws, masks and intervals (default 0)")


def _leaking(verb: argparse.ArgumentParser) -> None:
    """Arguments of the attacks that bring out sensitive entities."""
    _attacked(verb)
    of_collection(
        verb, "attack what this collection keeps of these documents; without it they are sanitized anew"
    )
    _gold(verb, "field of the records with the entities that must not leak; without it the detected ones")


def _attacked(verb: argparse.ArgumentParser) -> None:
    """Arguments of every attack."""
    paths(verb)
    policy(verb)
    how_many(verb)
    verb.add_argument(
        "--generator",
        choices=("verbatim", "settings"),
        default="verbatim",
        help="verbatim repeats every passage, the worst case (default); settings uses the configured one",
    )
    verb.add_argument(
        "--report",
        metavar="DIR",
        help="folder for report.html, summary.json and rows.jsonl; without it none is written",
    )
    as_json(verb)


def bench_detection(verb: argparse.ArgumentParser) -> None:
    """``lethe bench detection``."""
    verb.add_argument("data", metavar="DATA", help="folder with a subfolder for each corpus")
    output(verb, "folder for detection.json, risk.json and tables.md; without it none is written")
    verb.add_argument(
        "--corpus", action="append", metavar="NAME", help="only this corpus; may be repeated (default all)"
    )
    verb.add_argument(
        "--columns", metavar="NAMES", help="detectors, comma-separated: embedded, patterns (default both)"
    )
    verb.add_argument(
        "--commit", metavar="HASH", help="commit of the code, for the record (default asked of git)"
    )


def bench_marks(verb: argparse.ArgumentParser) -> None:
    """``lethe bench marks``."""
    verb.add_argument("data", metavar="DATA", help="folder with a subfolder for each corpus")
    verb.add_argument(
        "--corpus",
        action="append",
        metavar="NAME",
        help="visits_mail_gold, spia_cases, spia_posts, tab or demo; may be repeated (default all of them)",
    )
    verb.add_argument(
        "--learned",
        action="store_true",
        help="also measure documents that parts of Lethe learned from, as a part of their own",
    )
    verb.add_argument("--seed", type=int, default=0, help="seed of draws and intervals (default 0)")
    verb.add_argument(
        "--output",
        metavar="DIR",
        help="folder for marks.json, tables.md and the rows of each corpus; without it none is written",
    )


def bench_intact(verb: argparse.ArgumentParser) -> None:
    """``lethe bench intact``."""
    verb.add_argument(
        "path", metavar="PATH", help="folder or file of the Text Anonymization Benchmark, in layout tab"
    )
    verb.add_argument(
        "--documents", type=positive, metavar="N", help="only this many of the cases to report (default all)"
    )
    verb.add_argument(
        "--judged",
        metavar="FILE",
        help="people's judgements of replacements, as INTACT's authors published them: how far the automatic "
        "check agrees with them (default not measured)",
    )
    verb.add_argument(
        "--table",
        action="store_true",
        help="only the benchmark's table and the published order of methods, without truth, kinds and "
        "guesses, which take most of the time",
    )
    verb.add_argument("--seed", type=int, default=0, help="seed of pools, runs and intervals (default 0)")
    output(verb, "folder for intact.json and tables.md; without it none is written")


def bench_linkage(verb: argparse.ArgumentParser) -> None:
    """``lethe bench linkage``."""
    _corpus(verb, "layout: medqa, mts_dialog, or another one of `lethe bench trip-rag` (default folder)")
    verb.add_argument(
        "--paper",
        dest="version_of_paper",
        choices=("1", "2"),
        default="2",
        help="the attack of this version of A False Sense of Privacy: 1 is BM25 over documents with claims "
        "in their own words, 2 lets reworded claims vote by vectors (default 2)",
    )
    verb.add_argument(
        "--linker",
        choices=("rouge", "bm25", "bm25-majority", "dense", "dense-majority"),
        help="search by words in common, BM25 or vectors; all known claims as one question for documents, or "
        "a majority of claims (default that of --paper)",
    )
    verb.add_argument(
        "--known",
        choices=("first", "random", "last"),
        help="which claims the attacker knows (default random)",
    )
    verb.add_argument(
        "-k",
        type=int,
        choices=range(1, 6),
        metavar="K",
        help="how many claims the attacker knows, 1 to 5 (default 3)",
    )
    verb.add_argument(
        "--words",
        choices=("own", "reworded"),
        help="whether he knows them in the words of the original (default that of --paper)",
    )
    verb.add_argument(
        "--judge",
        choices=("lexical", "trained", "model"),
        help="who says whether a text tells a claim: a rule that counts words, the shipped model, which "
        "knows other words for the same, or the language model, five times (default lexical, or model with "
        "--ask-model)",
    )
    verb.add_argument(
        "--ask-model",
        action="store_true",
        help="as in the paper: let the language model of the settings cut texts into claims, reword what the "
        "attacker knows, judge claims, judge how coherent texts are, and answer the exam; it reads the texts "
        "as they are",
    )
    model_file(verb, "language model in GGUF format for --ask-model (default that of the settings)")
    _also(verb)
    verb.add_argument(
        "--quick", action="store_true", help="a small sample, and only the main attack's tables"
    )
    verb.add_argument(
        "--split", metavar="NAME", help="only this official split, such as test or train (default all)"
    )
    verb.add_argument(
        "--documents", type=positive, metavar="N", help="a sample of this many documents (default all)"
    )
    verb.add_argument(
        "--held-out",
        metavar="DATA",
        help="leave out documents that Lethe learned from or that were looked at, before the sample is "
        "drawn; the folder with a subfolder for each public corpus tells which (default all documents)",
    )
    verb.add_argument("--seed", type=int, default=0, help="seed of sample, draws and intervals (default 0)")
    output(verb, "folder for linkage.json, tables.md and the rows; without it none is written")


def bench_defences(verb: argparse.ArgumentParser) -> None:
    """``lethe bench defences``."""
    paths(verb)
    policy(verb)
    how_many(verb)
    verb.add_argument(
        "--questions", type=positive, default=100, metavar="N", help="questions of each attack (default 100)"
    )
    verb.add_argument(
        "--also",
        action="append",
        choices=COVERING,
        metavar="ATTACK",
        help=f"also measure what {', '.join(COVERING)} cover; may be repeated (default none)",
    )
    _gold(verb, "field of the records with the entities that must not leak; without it the detected ones")
    verb.add_argument("--seed", type=int, default=0, help="seed of samples, draws and prompts (default 0)")
    output(verb, "folder for defences.json, tables.md and the rows; without it none is written")


def bench_attributes(verb: argparse.ArgumentParser) -> None:
    """``lethe bench attributes``."""
    paths(verb)
    verb.add_argument(
        "--attributes-field",
        required=True,
        metavar="FIELD",
        help="field of the records with what is known of who wrote each, by the names of attributes",
    )
    policy(verb)
    verb.add_argument(
        "--ask-model",
        action="store_true",
        help="let the language model of the settings attack too, protect texts by IncogniText, and judge how "
        "coherent and useful they stay; it reads the texts as they are",
    )
    model_file(verb, "language model in GGUF format for --ask-model (default that of the settings)")
    verb.add_argument(
        "--variant",
        action="append",
        choices=list(VARIANTS),
        metavar="NAME",
        help=f"setting of IncogniText, one of {', '.join(VARIANTS)}; may be repeated (default feedback and "
        "incognitext)",
    )
    verb.add_argument(
        "--epsilon",
        type=float,
        metavar="E",
        help="draw the values that texts shall suggest by randomized response with this epsilon (default "
        "never the true one)",
    )
    verb.add_argument(
        "--pairs",
        metavar="FILE",
        help="also write texts before and after IncogniText where it misled the model, for `lethe distill`: "
        "raw texts, readable by you alone (default none)",
    )
    verb.add_argument(
        "--target",
        type=target,
        action="append",
        metavar="ATTRIBUTE=VALUE",
        help="value that texts shall suggest, such as occupation=chef, unless it is true; may be repeated "
        "(default one drawn for each author)",
    )
    _also(verb)
    _dp_bart(verb)
    verb.add_argument("--seed", type=int, default=0, help="seed of draws and intervals (default 0)")
    output(verb, "folder for attributes.json, tables.md and sealed answers; without it none is written")


def bench_trip_rag(verb: argparse.ArgumentParser) -> None:
    """``lethe bench trip-rag``."""
    _corpus(
        verb,
        "layout: mts_dialog, aci_bench, medqa, healthcaremagic, enronqa, aeslc, ewt_email, tab, demo, or any "
        "folder of documents (default folder)",
    )
    verb.add_argument(
        "--quick", action="store_true", help="a small sample, and only the main methods' tables"
    )
    _sample(verb)
    verb.add_argument(
        "--questions-file",
        metavar="FILE",
        help="your own questions about a folder: JSON lines, question, answer (default documents held out)",
    )
    verb.add_argument(
        "--held-out",
        metavar="DATA",
        help="leave out documents that Lethe learned from or that were looked at, as far as others remain; "
        "the folder with a subfolder for each public corpus tells which (default all documents)",
    )
    verb.add_argument(
        "--asked-share",
        type=share,
        default=0.01,
        help="share held out as questions (default 0.01, the paper's)",
    )
    verb.add_argument(
        "--prompts", type=positive, metavar="N", help="attack prompts of each aim (default 250, quick 20)"
    )
    verb.add_argument(
        "--encoders",
        metavar="NAME,NAME",
        help="further encoders to retrieve with: embedded, folders, or ids of pulled models (default none)",
    )
    verb.add_argument("--seed", type=int, default=0, help="seed of samples, draws and prompts (default 0)")
    _dp_bart(verb)
    model_file(verb, "answer and paraphrase with this model file (default the settings' generator)")
    output(verb, "folder for the page, its figures and their rows; without it none is written")
    as_json(verb)
    policy(verb)
    preset(verb)


def _dp_bart(verb: argparse.ArgumentParser) -> None:
    """A method that needs a model."""
    verb.add_argument(
        "--dp-bart",
        metavar="DIR",
        help="also rewrite texts by DP-BART with the BART in this folder, as the transformers library "
        "writes it; its noise has a seed, so for measurement alone; pruned_neurons.json lists neurons to "
        "prune, without it a quarter is (default none)",
    )
    verb.add_argument(
        "--budgets",
        type=numbers,
        metavar="LIST",
        help="epsilons of --dp-bart, each for a whole text at delta 0.00001 (default 1000,2500, those of "
        "IncogniText's table)",
    )


def _also(verb: argparse.ArgumentParser) -> None:
    """Further methods."""
    verb.add_argument(
        "--also",
        action="append",
        choices=[ALS_LIKE, *BY_MODEL],
        metavar="METHOD",
        help=f"also measure {ALS_LIKE}, which stars out what a cloud service for personal data would, or, by "
        f"the model of --ask-model, {', '.join(BY_MODEL)}; may be repeated (default none)",
    )


def _gold(verb: argparse.ArgumentParser, help_text: str) -> None:
    """Annotated entities of records."""
    verb.add_argument("--gold-field", metavar="FIELD", help=help_text)


def _corpus(verb: argparse.ArgumentParser, layouts: str) -> None:
    """A corpus and its layout."""
    verb.add_argument("path", metavar="PATH", help="folder of the corpus, or one file of it")
    verb.add_argument("--corpus", default="folder", metavar="NAME", help=layouts)


def _sample(verb: argparse.ArgumentParser) -> None:
    """A part of the corpus."""
    verb.add_argument(
        "--split", metavar="NAME", help="only this official split, such as test or train (default all)"
    )
    for option in ("documents", "questions"):
        help_text = f"a sample of this many {option} (default all)"
        verb.add_argument(f"--{option}", type=positive, metavar="N", help=help_text)
