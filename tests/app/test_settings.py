"""Settings: who wins, what is refused, and that no refusal shows a value. All values are invented."""

import itertools
import json
import os
import subprocess
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr, ValidationError

from app.settings.load import (
    PolicySettings,
    Settings,
    known_fields,
    load_policy_file,
    load_settings,
    variable_of,
)
from app.settings.report import SettingRow, settings_digest, settings_rows
from app.settings.tables import GeneratorSettings
from ingest.deciding.policy import Policy
from ingest.scoring.scale import Weights
from models.catalog import ModelRef
from models.errors import ConfigurationError

MARKER = "zq-marker-9134"
"""Stands for a secret that somebody put into the wrong place."""

NAMES = list(known_fields(Settings))


pytestmark = pytest.mark.usefixtures("clean")


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def refusal(arguments: Mapping[str, object]) -> str:
    with pytest.raises(ConfigurationError) as caught:
        load_settings(arguments)
    return str(caught.value)


def row(arguments: Mapping[str, object], name: str) -> SettingRow:
    rows = settings_rows(load_settings(arguments), arguments)
    return next(row for row in rows if row.name == name)


# Who wins


@pytest.mark.parametrize("places", list(itertools.product([False, True], repeat=3)))
def test_argument_before_environment_before_file_before_default(
    places: tuple[bool, bool, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    argument, environment, file = places
    arguments = {"policy.tau": 0.1} if argument else {}
    if environment:
        monkeypatch.setenv("LETHE_POLICY__TAU", "0.2")
    if file:
        write(Path("lethe-data/settings.toml"), "[policy]\ntau = 0.3\n")
    stated = [
        (argument, 0.1, "argument"),
        (environment, 0.2, "environment"),
        (file, 0.3, "file"),
        (True, 0.5, "default"),
    ]
    value, origin = next((value, origin) for is_there, value, origin in stated if is_there)
    assert load_settings(arguments).policy.tau == value
    shown = row(arguments, "policy.tau")
    assert (shown.value, shown.origin) == (str(value), origin)


def test_one_table_may_come_from_three_places(monkeypatch: pytest.MonkeyPatch) -> None:
    write(Path("lethe-data/settings.toml"), "[policy]\nalpha = 3\nbeta = 3\ngamma = 3\n")
    monkeypatch.setenv("LETHE_POLICY", '{"alpha": 2, "beta": 2}')
    monkeypatch.setenv("LETHE_POLICY__BETA", "2.5")
    policy = load_settings({"policy.alpha": 1}).policy
    assert (policy.alpha, policy.beta, policy.gamma, policy.tau) == (1, 2.5, 3, 0.5)


def test_none_is_an_argument_that_was_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LETHE_THREADS", "3")
    assert load_settings({"threads": None}).threads == 3
    assert row({"threads": None}, "threads").origin == "environment"


def test_a_whole_table_as_argument_leaves_nothing_to_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LETHE_POLICY__BETA", "9")
    arguments = {"policy.tau": 0.7, "policy": PolicySettings(alpha=2)}
    assert load_settings(arguments).policy == PolicySettings(alpha=2, tau=0.7)
    assert row(arguments, "policy.beta").origin == "argument"


def test_arguments_are_left_as_they_were() -> None:
    table = {"tau": 0.1}
    assert load_settings({"policy": table, "policy.beta": 0.2}).policy.beta == 0.2
    assert table == {"tau": 0.1}


def test_a_model_below_a_field_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LETHE_DETECTOR__MODEL__SOURCE", "path")
    arguments = {"detector.model.name": "folder"}
    assert load_settings(arguments).detector.model == ModelRef(source="path", name="folder")
    assert row(arguments, "detector.model.source").origin == "environment"
    assert row(arguments, "detector.model.name").origin == "argument"
    assert row(arguments, "detector.model.revision").origin == "default"


def test_lists_and_tables_in_the_environment_are_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LETHE_DETECTOR__LABELS", '["boat name", "call sign"]')
    monkeypatch.setenv("LETHE_ENCODER", '{"source": "hub", "name": "some/encoder"}')
    settings = load_settings({})
    assert settings.detector.labels == ("boat name", "call sign")
    assert settings.encoder == ModelRef(source="hub", name="some/encoder")


# The settings file


def test_the_file_lies_in_the_data_folder_that_arguments_or_environment_choose(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write(Path("one/settings.toml"), "threads = 1\n")
    write(Path("two/settings.toml"), "threads = 2\n")
    assert load_settings({}).threads is None
    monkeypatch.setenv("LETHE_DATA_DIR", "one")
    assert load_settings({}).threads == 1
    assert load_settings({"data_dir": Path("two")}).threads == 2


def test_a_named_file_is_read_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    write(Path("lethe-data/settings.toml"), "threads = 1\n")
    write(Path("other.toml"), "data_dir = 'elsewhere'\nserver.port = 8100\n")
    write(Path("third.toml"), "\ufeffthreads = 3\n")
    monkeypatch.setenv("LETHE_SETTINGS_FILE", "other.toml")
    settings = load_settings({})
    assert (settings.data_dir, settings.server.port, settings.threads) == (Path("elsewhere"), 8100, None)
    assert load_settings({"settings_file": "third.toml"}).threads == 3


def test_a_named_file_that_is_missing_is_refused() -> None:
    assert refusal({"settings_file": "absent.toml"}) == "absent.toml: there is no such file; check the path"


def test_a_folder_is_not_a_file() -> None:
    Path("folder").mkdir()
    assert refusal({"settings_file": "folder"}) == (
        "folder: could not be read (IsADirectoryError); check that it is a file you may read"
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"threads = 1\nkey = %s\n", "is not TOML at line 2, column 7; correct it there"),
        (b"key = '''%s", "is not TOML at its end; correct it there"),
        (b"key = '\xff%s'\n", "is not UTF-8; save it as UTF-8"),
    ],
)
def test_a_file_that_is_not_toml_is_named_and_not_quoted(content: bytes, message: str) -> None:
    Path("bad.toml").write_bytes(content % MARKER.encode())
    assert refusal({"settings_file": "bad.toml"}) == f"bad.toml: {message}"


def test_a_settings_file_cannot_name_another() -> None:
    write(Path("one.toml"), "settings_file = 'two.toml'\n")
    assert refusal({"settings_file": "one.toml"}) == (
        "one.toml: settings_file cannot be set in a settings file; remove it"
    )


def test_the_data_folder_cannot_move_itself() -> None:
    write(Path("lethe-data/settings.toml"), "data_dir = 'elsewhere'\n")
    assert refusal({}) == (
        "lethe-data/settings.toml: data_dir cannot be set in the data folder itself; set LETHE_DATA_DIR"
    )


# What is refused


@pytest.mark.parametrize(
    ("variable", "meant"),
    [
        ("LETHE_POLICY_TAU", "LETHE_POLICY__TAU"),
        ("LETHE_POLICY__TAUU", "LETHE_POLICY__TAU"),
        ("LETHE_TAU", "LETHE_POLICY__TAU"),
        ("LETHE_RETRIEVAL_K", "LETHE_RETRIEVAL__K"),
        ("LETHE_API_KEY", "LETHE_GENERATOR__API_KEY"),
        ("LETHE_ENCODER__NMAE", "LETHE_ENCODER__NAME"),
        ("LETHE_DETECTOR__MODEL__NAM", "LETHE_DETECTOR__MODEL__NAME"),
    ],
)
def test_an_unknown_variable_is_refused(variable: str, meant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, MARKER)
    assert refusal({}) == f"settings: {variable}: no such setting, the nearest is {meant}"


def test_a_variable_has_one_spelling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("lethe_threads", "4")
    assert refusal({}) == "settings: lethe_threads: no such setting, the nearest is LETHE_THREADS"


def test_a_variable_below_a_value_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LETHE_POLICY__TAU", "0.5")
    monkeypatch.setenv("LETHE_POLICY__TAU__TAU", "0.5")
    assert "LETHE_POLICY__TAU__TAU: no such setting, the nearest is LETHE_POLICY__TAU" in refusal({})


@given(st.from_regex(r"LETHE_[A-Z_]{1,20}", fullmatch=True))
def test_no_variable_of_ours_passes_unread(variable: str) -> None:
    known = {variable_of(name) for name in NAMES}
    with mock.patch.dict(os.environ, {variable: MARKER}):
        if variable not in known:
            message = refusal({})
            assert message.startswith(f"settings: {variable}: no such setting, the nearest is LETHE_")
            assert message.rpartition(" ")[2] in known


def test_variables_of_others_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LETHEAN_TAU", "1")
    monkeypatch.setenv("POLICY__TAU", "1")
    monkeypatch.setenv("TAU", "1")
    assert load_settings({}) == Settings()


def test_an_unknown_key_is_refused_in_arguments_and_file() -> None:
    write(Path("lethe-data/settings.toml"), "tau = 0.1\n[server]\nprot = 1\n")
    assert refusal({"policy.tua": 1}) == (
        "settings: policy.tua (argument): no such setting, the nearest is policy.tau; "
        "server.prot (lethe-data/settings.toml): no such setting, the nearest is server.port; "
        "tau (lethe-data/settings.toml): no such setting, the nearest is policy.tau"
    )


def test_every_problem_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    write(Path("lethe-data/settings.toml"), f"threads = '{MARKER}'\n")
    monkeypatch.setenv("LETHE_POLICY__TYPO", MARKER)
    monkeypatch.setenv("LETHE_POLICY__NAME", MARKER)
    monkeypatch.setenv("LETHE_DETECTOR__LABELS", MARKER)
    monkeypatch.setenv("LETHE_INGEST", MARKER)
    assert refusal({"retrieval.k": MARKER, "server": MARKER}) == (
        "settings: LETHE_POLICY__TYPO: no such setting, the nearest is LETHE_POLICY__TAU; "
        "detector.labels (environment): should be a list, written as JSON; "
        "policy.name (environment): should be 'lethe', 'trip', 'intact', 'redact', 'suppress', "
        "'entity-type', 'lprag' or 'origin'; "
        "retrieval.k (argument): should be a valid integer, unable to parse string as an integer; "
        "ingest (environment): should be a table, written as JSON; "
        "server (argument): should be a table; "
        "threads (lethe-data/settings.toml): should be a valid integer, "
        "unable to parse string as an integer"
    )


@pytest.mark.parametrize(
    ("name", "value", "wrong"),
    [
        ("detector.threshold", 0, "should be greater than 0"),
        ("detector.threshold", 1, "should be less than 1"),
        ("risk.kind", "guess", "should be 'learned' or 'prior'"),
        ("detector.threshold", float("nan"), "should be a finite number"),
        ("policy.epsilon", 0, "should be greater than 0"),
        ("policy.scale", (0.2, 0.1, 0.5, 1.0), "should be two pairs of a lower and a higher percentile"),
        ("policy.scale", (0.1, 0.2, 1.0, 0.5), "should be two pairs of a lower and a higher percentile"),
        ("policy.tau", float("inf"), "should be a finite number"),
        ("policy.tau", float("nan"), "should be a finite number"),
        ("policy.alpha", -1, "should be greater than or equal to 0"),
        ("policy.beta", -1, "should be greater than or equal to 0"),
        ("policy.gamma", -1, "should be greater than or equal to 0"),
        ("policy.marginal", "both", "should be 'hazard' or 'difference'"),
        ("policy.k", 0, "should be greater than 0"),
        ("policy.k", float("inf"), "should be a finite number"),
        ("policy.people", 0, "should be greater than 0"),
        ("policy.direct_limit", -0.01, "should be greater than or equal to 0"),
        ("policy.direct_limit", 1.01, "should be less than or equal to 1"),
        ("policy.sensitive", "context", "should be 'keep' or 'generalize'"),
        ("generator.kind", "parrot", "should be 'extractive', 'llama_cpp' or 'openai_compatible'"),
        ("generator.max_tokens", 0, "should be greater than or equal to 1"),
        ("generator.context_tokens", 1, "should be greater than or equal to 2"),
        ("generator.gpu_layers", -2, "should be greater than or equal to -1"),
        ("generator.path", 5, "should be a path"),
        ("retrieval.k", 0, "should be greater than or equal to 1"),
        ("retrieval.k", 101, "should be less than or equal to 100"),
        ("retrieval.passage_tokens", 15, "should be greater than or equal to 16"),
        ("retrieval.passage_tokens", 513, "should be less than or equal to 512"),
        ("ingest.batch_documents", 0, "should be greater than or equal to 1"),
        ("ingest.batch_characters", 0, "should be greater than or equal to 1"),
        ("server.port", -1, "should be greater than or equal to 0"),
        ("server.port", 65536, "should be less than or equal to 65535"),
        ("threads", 0, "should be greater than or equal to 1"),
        ("encoder.source", "web", "should be 'embedded', 'path' or 'hub'"),
    ],
)
def test_bounds(name: str, value: object, wrong: str) -> None:
    assert refusal({name: value}) == f"settings: {name} (argument): {wrong}"


SHORT = "should be 1 to 60 printable characters in one line, without blanks around them"


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("detector.labels", ["a\nship"], f"detector.labels.0 (argument): {SHORT}"),
        ("policy.deny", {" ": ["Heron"]}, f"policy.deny. .[key] (argument): {SHORT}"),
        (
            "policy.operators",
            {"date": "blur"},
            "policy.operators.date (argument): should be 'generalize', 'mask', 'hash', 'suppress' or 'keep'",
        ),
        (
            "policy.operators",
            {"phone number": "keep"},
            "policy (argument): operators keeps phone number, which identifies somebody by itself: take "
            "generalize, mask, hash or suppress for it.",
        ),
        (
            "policy.words",
            {"city name": ""},
            "policy (argument): words for city name: give 1 to 60 printable characters in one line, without "
            "blanks around them.",
        ),
        (
            "policy.deny",
            ["Heron", "--"],
            "policy (argument): deny, entry 2: give a string with a letter or digit, and of up to 200 "
            "characters.",
        ),
        ("policy.patterns", [{"name": "ward"}], "policy.patterns.0.regex (argument): Field required"),
    ],
)
def test_what_is_said_of_labels_and_strings_is_refused_by_name(name: str, value: object, told: str) -> None:
    assert told in refusal({name: value})


def test_lists_and_expressions_are_counted_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LETHE_POLICY__ALLOW", json.dumps([MARKER]))
    write(
        Path("lethe-data/settings.toml"),
        f"[policy]\ndeny = ['{MARKER}', '{MARKER} 2']\noperators = {{date = 'mask'}}\n"
        f"[[policy.patterns]]\nname = 'ward'\nregex = '{MARKER}'\nlabel = 'place'\n",
    )
    settings = load_settings({})
    shown = {row.name: row.value for row in settings_rows(settings, {})}
    assert shown["policy.allow"] == "1 not shown"
    assert shown["policy.deny"] == '{"identifying detail": "2 not shown"}'
    assert shown["policy.operators"] == '{"date": "mask"}'
    assert json.loads(shown["policy.patterns"]) == [
        {"name": "ward", "regex": "**********", "label": "place", "check": "", "rigid": True}
    ]
    own = settings.policy.own_entities()
    assert (own.allow, own.deny) == ([MARKER], {"identifying detail": [MARKER, f"{MARKER} 2"]})
    assert MARKER not in f"{settings!r} {settings} {shown} {own!r} {settings.model_dump_json()}"


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "0.0.0.0", "lethe.example"])
def test_any_address_may_be_set(host: str) -> None:
    assert load_settings({"server.host": host}).server.host == host


def test_an_empty_address_is_refused() -> None:
    assert "server.host (argument)" in refusal({"server.host": ""})


def test_names_that_a_proxy_may_call_the_server_by() -> None:
    names = ("lethe.example", "records-2", "10.0.0.7")
    assert load_settings({"server.hosts": names}).server.hosts == names


@pytest.mark.parametrize("name", ["*", "*.example", "", "http://lethe.example", "lethe.example:8443", "a b"])
def test_names_of_the_server_are_names_alone(name: str) -> None:
    assert refusal({"server.hosts": ["lethe.example", name]}) == (
        "settings: server.hosts (argument): should be names alone such as lethe.example, without scheme, "
        "port or star"
    )


# The generator


SERVER = {"generator.base_url": "http://127.0.0.1:8080/v1", "generator.model": "small"}


@pytest.mark.parametrize(
    ("kind", "others", "wrong"),
    [
        ("llama_cpp", {}, "llama_cpp needs generator.path, a GGUF file, or --gguf"),
        (
            "extractive",
            {"generator.condense": True},
            "condense needs a language model: set generator.kind to llama_cpp or openai_compatible, or leave "
            "generator.condense out",
        ),
        ("openai_compatible", {}, "openai_compatible needs generator.base_url and generator.model"),
        ("openai_compatible", {"generator.model": "small"}, "openai_compatible needs generator.base_url"),
        (
            "openai_compatible",
            {"generator.base_url": "http://127.0.0.1:8080/v1"},
            "openai_compatible needs generator.model",
        ),
    ],
)
def test_a_generator_needs_its_fields(kind: str, others: dict[str, object], wrong: str) -> None:
    assert refusal({"generator.kind": kind, **others}) == f"settings: generator (argument): {wrong}"


def test_a_generator_with_its_fields() -> None:
    arguments = {"generator.kind": "openai_compatible", **SERVER, "generator.api_key": MARKER}
    generator = load_settings(arguments).generator
    assert generator.api_key is not None
    assert generator.api_key.get_secret_value() == MARKER
    assert load_settings(arguments | {"generator.condense": True}).generator.condense
    path = Path("small.gguf")
    assert load_settings({"generator.kind": "llama_cpp", "generator.path": path}).generator.path == path


@pytest.mark.parametrize(
    ("url", "wrong"),
    [
        ("example.org/v1", "an address such as http://127.0.0.1:8080/v1"),
        ("ftp://example.org/v1", "an address such as http://127.0.0.1:8080/v1"),
        ("http:///v1", "an address such as http://127.0.0.1:8080/v1"),
        (f"http://[{MARKER}]/v1", "an address such as http://127.0.0.1:8080/v1"),
        (
            f"https://me:{MARKER}@example.org",
            "scheme, host and path alone, with any key in generator.api_key",
        ),
        (
            f"https://example.org?key={MARKER}",
            "scheme, host and path alone, with any key in generator.api_key",
        ),
        (f"https://example.org#{MARKER}", "scheme, host and path alone, with any key in generator.api_key"),
    ],
)
def test_an_address_holds_no_secret(url: str, wrong: str) -> None:
    assert (
        refusal({"generator.base_url": url}) == f"settings: generator.base_url (argument): should be {wrong}"
    )


# No value is ever shown


def trace_of(arguments: Mapping[str, object]) -> str:
    """The whole traceback of a refusal, or nothing where the value is a good one."""
    try:
        load_settings(arguments)
    except ConfigurationError as error:
        assert error.__context__ is None
        return "".join(traceback.format_exception(error))
    return ""


TAKES_STRINGS = ("detector.labels", "policy.allow", "policy.deny", "server.hosts", "vault.old_key_files")


@pytest.mark.parametrize("name", [name for name in NAMES if name != "settings_file"])
@pytest.mark.parametrize("shape", [MARKER, [MARKER], {"name": [MARKER]}], ids=["text", "list", "table"])
def test_a_refused_value_is_not_shown(name: str, shape: object, monkeypatch: pytest.MonkeyPatch) -> None:
    from_argument = trace_of({name: shape})
    assert from_argument or isinstance(shape, str) or name in TAKES_STRINGS
    assert MARKER not in from_argument
    monkeypatch.setenv(variable_of(name), shape if isinstance(shape, str) else json.dumps(shape))
    assert MARKER not in trace_of({})


@pytest.mark.parametrize("wrong", ["policy.tau", "encoder.source", "generator.api_key", "threads"])
def test_pydantic_itself_is_told_to_be_silent(wrong: str) -> None:
    table, _, field = wrong.rpartition(".")
    value = {field: [MARKER]}
    with pytest.raises(ValidationError) as caught:
        Settings.model_validate({table: value} if table else value)
    assert MARKER not in str(caught.value)


def test_a_secret_is_stars_wherever_it_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LETHE_GENERATOR__API_KEY", MARKER)
    settings = load_settings({})
    rows = settings_rows(settings, {})
    key = next(row for row in rows if row.name == "generator.api_key")
    assert (key.value, key.origin) == ("**********", "environment")
    shown = [repr(settings), str(settings), repr(rows)]
    assert not any(MARKER in text for text in shown)
    assert "**********" in shown[2]


# The policy file


def test_a_policy_file_is_a_whole_policy() -> None:
    path = write(Path("policy.toml"), "name = 'redact'\ntau = 0.25\n")
    assert load_policy_file(path) == PolicySettings(name="redact", tau=0.25)


def test_a_policy_file_of_before_may_name_an_engine_and_the_settings_may_not() -> None:
    path = write(Path("policy.toml"), "name = 'trip'\ntau = 0.25\nengine = 'fast'\n")
    assert load_policy_file(path) == PolicySettings(name="trip", tau=0.25)
    with pytest.raises(ConfigurationError, match=r"policy\.engine \(argument\): no such setting"):
        load_settings({"policy.engine": "fast"})


def test_a_policy_file_tells_all_that_is_wrong() -> None:
    path = write(Path("policy.toml"), f"tua = 1\nmarginal = '{MARKER}'\nbeta = -1\n")
    with pytest.raises(ConfigurationError) as caught:
        load_policy_file(path)
    assert str(caught.value) == (
        "policy.toml: beta: should be greater than or equal to 0; "
        "marginal: should be 'hazard' or 'difference'; tua: no such setting, the nearest is tau"
    )


def test_a_policy_file_has_no_header() -> None:
    path = write(Path("policy.toml"), "[policy]\ntau = 1\n")
    with pytest.raises(ConfigurationError) as caught:
        load_policy_file(path)
    assert str(caught.value) == "policy.toml: write the keys of the policy without the header [policy]"


def test_a_policy_file_that_is_missing() -> None:
    with pytest.raises(ConfigurationError, match=r"^none\.toml: there is no such file; check the path$"):
        load_policy_file(Path("none.toml"))


# Reports


def test_every_setting_has_a_row_with_words() -> None:
    rows = settings_rows(load_settings({}), {})
    assert all(row.description and row.origin == "default" for row in rows)
    tables = {name.rpartition(".")[0] for name in NAMES}
    leaves = [n for n in NAMES if n not in tables]
    assert [row.name for row in rows] == leaves


def test_values_are_shown_as_they_are_written() -> None:
    settings = load_settings({"detector.labels": ["boat name"], "generator.allow_insecure": True})
    shown = {row.name: row.value for row in settings_rows(settings, {})}
    assert shown["detector.labels"] == '["boat name"]'
    assert shown["generator.allow_insecure"] == "true"
    assert shown["threads"] == "none"
    assert shown["data_dir"] == "lethe-data"


DIGESTED: dict[str, object] = {
    "detector.threshold": 0.4,
    "detector.labels": ["boat name"],
    "detector.model.source": "path",
    "detector.learned": False,
    "risk.kind": "prior",
    "risk.model.name": "elsewhere",
    "encoder.revision": "abc",
    "policy.tau": 0.61,
    "policy.name": "redact",
    "policy.k": 30,
    "policy.people": 1000,
    "policy.sensitive": "generalize",
    "policy.replacements": "alias",
    "policy.direct_limit": 0.7,
    "policy.operators": {"date": "mask"},
    "policy.words": {"date": "some day"},
    "policy.allow": ["Parkinson"],
    "policy.deny": ["Project Heron", "Project Stork"],
    "policy.deny_file": "names.txt",
    "policy.patterns": [{"name": "ward", "regex": "W-[0-9]{4}", "label": "place"}],
    "retrieval.passage_tokens": 100,
}
NOT_DIGESTED: dict[str, object] = {
    "data_dir": "elsewhere",
    "retrieval.k": 6,
    "generator.max_tokens": 5,
    "generator.context_tokens": 99,
    "generator.gpu_layers": 7,
    "generator.api_key": "invented",
    "ingest.batch_documents": 1,
    "server.port": 8001,
    "threads": 2,
}


def test_the_digest_follows_what_alters_a_sanitized_index_and_nothing_else() -> None:
    plain = settings_digest(load_settings({}))
    assert len(plain) == 32 and int(plain, 16) >= 0
    assert plain == settings_digest(load_settings({"policy.tau": "0.5"}))
    changed = [settings_digest(load_settings({name: value})) for name, value in DIGESTED.items()]
    assert len({plain, *changed}) == len(DIGESTED) + 1
    for name, value in NOT_DIGESTED.items():
        assert settings_digest(load_settings({name: value})) == plain, name


# The rest


def test_settings_are_frozen() -> None:
    settings = load_settings({})
    with pytest.raises(ValidationError, match="frozen"):
        settings.threads = 3
    with pytest.raises(ValidationError, match="frozen"):
        settings.policy.tau = 3.0


def test_defaults_are_the_safe_end() -> None:
    settings = load_settings({})
    assert settings.policy == PolicySettings(name="lethe", k=50, people=100, direct_limit=0)
    assert settings.generator == GeneratorSettings(kind="extractive", allow_insecure=False)
    assert settings.server.host == "127.0.0.1"
    assert settings.encoder == ModelRef(source="embedded")


def test_the_default_policy_is_that_of_the_ingest_room() -> None:
    ours, theirs = PolicySettings(), Policy()
    weights = Weights(ours.alpha, ours.beta, ours.gamma, ours.marginal)
    people = (ours.name, ours.k, ours.people)
    assert Policy(*people, ours.tau, weights, ours.replacements, ours.direct_limit) == theirs


def test_an_empty_key_is_no_key() -> None:
    assert "generator.api_key (argument): " in refusal({"generator.api_key": ""})
    assert GeneratorSettings(api_key=SecretStr("x")).api_key == SecretStr("x")


def test_importing_the_settings_loads_nothing_heavy() -> None:
    heavy = {"torch", "transformers", "gliner", "faiss", "openai", "numpy", "fastapi", "httpx"}
    code = "import sys, app.settings.report; print(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    assert not heavy & set(run.stdout.split())


def test_no_more_people_must_fit_than_might_be_meant() -> None:
    assert load_settings({"policy.k": 30, "policy.people": 30}).policy.k == 30
    with pytest.raises(ConfigurationError, match="k must be at most people"):
        load_settings({"policy.k": 31, "policy.people": 30})
