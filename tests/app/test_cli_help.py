"""The help of every verb: what it does, an example that parses, and the default of each option."""

import argparse
import shlex

import pytest

from app.cli.arguments import parser, verbs
from benchmarks.readme import every_verb
from ingest.read.sources import EXTENSIONS

EVERY = {each.prog.removeprefix("lethe "): each for each in every_verb(parser())}


def test_the_help_is_of_verbs_that_are_there() -> None:
    assert {*verbs()} == {"shared", *EVERY}


@pytest.mark.parametrize("name", EVERY)
def test_every_verb_says_what_it_does_its_defaults_and_an_example_that_parses(name: str) -> None:
    help_text = EVERY[name].format_help()
    example = verbs()[name]["example"]
    assert f"Example: {example}\n" in help_text
    assert example.startswith(f"lethe {name}")
    parser().parse_args(shlex.split(example)[1:])
    paragraph = " ".join((EVERY[name].description or "").split())
    assert paragraph.endswith(".") and paragraph[0].isupper()
    assert "exit codes: 0 done" in help_text
    for option in EVERY[name]._actions:
        said = str(option.help)
        if option.option_strings and option.nargs != 0 and not option.required:
            assert "default" in said or "without it" in said, option.option_strings
        if option.default not in (None, False, argparse.SUPPRESS):
            assert f"(default {option.default}" in said or "(default)" in said


@pytest.mark.parametrize("name", ["sanitize", "explain", "ingest", "calibrate"])
def test_the_files_that_are_read_are_named(name: str) -> None:
    words = EVERY[name].format_help().split()
    assert not [each for each in EXTENSIONS if not {each, f"{each},"} & set(words)]


def test_help_fits_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for each in EVERY.values():
        # A group of options in the usage is not broken into lines.
        _, help_text = each.format_help().split("\n\n", 1)
        assert all(len(line) <= 80 for line in help_text.splitlines())


def test_the_folder_named_before_or_after_the_second_verb_holds() -> None:
    for words in (
        ["collections", "--data-dir", "here"],
        ["collections", "--data-dir", "here", "list"],
        ["collections", "list", "--data-dir", "here"],
        ["collections", "--data-dir", "there", "delete", "x", "--data-dir", "here"],
    ):
        assert parser().parse_args(words).data_dir == "here"
    for words in (["collections"], ["collections", "list"], ["collections", "delete", "x"]):
        assert parser().parse_args(words).data_dir is None
