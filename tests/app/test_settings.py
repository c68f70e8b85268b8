"""Settings: who wins, what is refused, and that no refusal shows a value. All values are invented."""

import itertools
import json
import os
import traceback
from collections.abc import Mapping
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from app.settings.load import (
    PolicySettings,
    Settings,
    known_fields,
    load_policy_file,
    load_settings,
    variable_of,
)
from app.settings.report import settings_digest, settings_rows
from app.settings.tables import GeneratorSettings
from ingest.deciding.policy import Policy
from ingest.scoring.scale import Weights
from models.catalog import ModelRef
from models.errors import ConfigurationError
from tests.commands import imported_by

MARKER = "zq-marker-9134"
"""Stands for a secret that somebody put into the wrong place."""
NAMES = list(known_fields(Settings))
pytestmark = pytest.mark.usefixtures("clean")


def write(path: str, text: str) -> Path:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text, encoding="utf-8")
    return Path(path)


def refusal(arguments: Mapping[str, object]) -> str:
    with pytest.raises(ConfigurationError) as caught:
        load_settings(arguments)
    return str(caught.value)


def refused_policy(path: Path) -> str:
    with pytest.raises(ConfigurationError) as caught:
        load_policy_file(path)
    return str(caught.value)


def origins(arguments: Mapping[str, object]) -> dict[str, str]:
    return {row.name: row.origin for row in settings_rows(load_settings(arguments), arguments)}


@pytest.mark.parametrize("places", list(itertools.product([False, True], repeat=3)))
def test_argument_before_environment_before_file_before_default(
    places: tuple[bool, bool, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    argument, environment, file = places
    if environment:
        monkeypatch.setenv("LETHE_POLICY__TAU", "0.2")
    if file:
        write("lethe-data/settings.toml", "[policy]\ntau = 0.3\n")
    stated = [(argument, 0.1, "argument"), (environment, 0.2, "environment"), (file, 0.3, "file")]
    value, origin = next(((each, of) for is_there, each, of in stated if is_there), (0.5, "default"))
    arguments = {"policy.tau": 0.1} if argument else {}
    assert load_settings(arguments).policy.tau == value
    (row,) = [row for row in settings_rows(load_settings(arguments), arguments) if row.name == "policy.tau"]
    assert (row.value, row.origin) == (str(value), origin)


def test_one_table_may_come_from_three_places(monkeypatch: pytest.MonkeyPatch) -> None:
    write("lethe-data/settings.toml", "[policy]\nalpha = 3\nbeta = 3\ngamma = 3\n")
    for name, value in {
        "POLICY": '{"alpha": 2, "beta": 2}',
        "POLICY__BETA": "2.5",
        "DETECTOR__LABELS": '["boat name", "call sign"]',
        "DETECTOR__MODEL__SOURCE": "path",
        "ENCODER": '{"source": "hub", "name": "some/encoder"}',
        "THREADS": "3",
    }.items():
        monkeypatch.setenv(f"LETHE_{name}", value)
    arguments = {"policy.alpha": 1, "detector.model.name": "folder", "threads": None}
    settings = load_settings(arguments)
    policy, detector = settings.policy, settings.detector
    assert (policy.alpha, policy.beta, policy.gamma, policy.tau) == (1, 2.5, 3, 0.5)
    assert detector.model == ModelRef(source="path", name="folder")
    assert detector.labels == ("boat name", "call sign")
    assert settings.encoder == ModelRef(source="hub", name="some/encoder")
    assert settings.threads == 3
    of = origins(arguments)
    assert (of["detector.model.source"], of["threads"]) == ("environment", "environment")
    assert (of["detector.model.name"], of["detector.model.revision"]) == ("argument", "default")


def test_a_whole_table_as_argument_is_all_and_left_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LETHE_POLICY__BETA", "9")
    arguments = {"policy.tau": 0.7, "policy": PolicySettings(alpha=2)}
    assert load_settings(arguments).policy == PolicySettings(alpha=2, tau=0.7)
    assert origins(arguments)["policy.beta"] == "argument"
    table = {"tau": 0.1}
    assert load_settings({"policy": table, "policy.beta": 0.2}).policy.beta == 0.2
    assert table == {"tau": 0.1}


def test_the_file_lies_in_the_data_folder_or_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    write("one/settings.toml", "threads = 1\n")
    write("two/settings.toml", "threads = 2\n")
    write("other.toml", "data_dir = 'elsewhere'\nserver.port = 8100\n")
    write("third.toml", "\ufeffthreads = 3\n")
    assert load_settings({}).threads is None
    monkeypatch.setenv("LETHE_DATA_DIR", "one")
    assert load_settings({}).threads == 1
    assert load_settings({"data_dir": Path("two")}).threads == 2
    assert load_settings({"settings_file": "third.toml"}).threads == 3
    monkeypatch.delenv("LETHE_DATA_DIR")
    monkeypatch.setenv("LETHE_SETTINGS_FILE", "other.toml")
    settings = load_settings({})
    assert (settings.data_dir, settings.server.port, settings.threads) == (Path("elsewhere"), 8100, None)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no such file; check the path"),
        (b"threads = 1\nkey = %s\n", "is not TOML at line 2, column 7; correct it there"),
        (b"key = '''%s", "is not TOML at its end; correct it there"),
        (b"key = '\xff%s'\n", "is not UTF-8; save it as UTF-8"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_and_not_quoted(content: bytes | None, message: str) -> None:
    if content is not None:
        Path("bad.toml").write_bytes(content % MARKER.encode())
    assert refusal({"settings_file": "bad.toml"}) == f"bad.toml: {message}"
    assert refused_policy(Path("bad.toml")) == f"bad.toml: {message}"


def test_the_file_cannot_name_another_nor_move_its_folder_nor_be_a_folder() -> None:
    write("one.toml", "settings_file = 'two.toml'\n")
    write("lethe-data/settings.toml", "data_dir = 'elsewhere'\n")
    assert refusal({"settings_file": "one.toml"}) == (
        "one.toml: settings_file cannot be set in a settings file; remove it"
    )
    assert refusal({}) == (
        "lethe-data/settings.toml: data_dir cannot be set in the data folder itself; set LETHE_DATA_DIR"
    )
    assert refusal({"settings_file": "lethe-data"}) == (
        "lethe-data: could not be read (IsADirectoryError); check that it is a file you may read"
    )


@pytest.mark.parametrize(
    ("variable", "meant"),
    [
        ("LETHE_POLICY_TAU", "LETHE_POLICY__TAU"),
        ("LETHE_TAU", "LETHE_POLICY__TAU"),
        ("LETHE_API_KEY", "LETHE_GENERATOR__API_KEY"),
        ("LETHE_DETECTOR__MODEL__NAM", "LETHE_DETECTOR__MODEL__NAME"),
        ("lethe_threads", "LETHE_THREADS"),
    ],
)
def test_an_unknown_variable_is_refused(variable: str, meant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "4")
    assert refusal({}) == f"settings: {variable}: no such setting, the nearest is {meant}"


@given(st.from_regex(r"LETHE_[A-Z_]{1,20}", fullmatch=True))
def test_no_variable_of_ours_passes_unread(variable: str) -> None:
    known = {variable_of(name) for name in NAMES}
    with mock.patch.dict(os.environ, {variable: MARKER}):
        if variable not in known:
            message = refusal({})
            assert message.startswith(f"settings: {variable}: no such setting, the nearest is LETHE_")
            assert message.rpartition(" ")[2] in known


def test_variables_of_others_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LETHEAN_TAU", "POLICY__TAU", "TAU"):
        monkeypatch.setenv(name, "1")
    assert load_settings({}) == Settings()
    monkeypatch.setenv("LETHE_POLICY__TAU", "0.5")
    monkeypatch.setenv("LETHE_POLICY__TAU__TAU", "0.5")
    assert "LETHE_POLICY__TAU__TAU: no such setting, the nearest is LETHE_POLICY__TAU" in refusal({})


def test_every_problem_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    write("lethe-data/settings.toml", f"tau = 0.1\nthreads = '{MARKER}'\n[vault]\nprot = 1\n")
    for name in ("POLICY__TYPO", "POLICY__NAME", "DETECTOR__LABELS", "INGEST"):
        monkeypatch.setenv(f"LETHE_{name}", MARKER)
    assert refusal({"retrieval.k": MARKER, "server": MARKER, "policy.tua": 1}) == (
        "settings: LETHE_POLICY__TYPO: no such setting, the nearest is LETHE_POLICY__TAU; "
        "detector.labels (environment): should be a list, written as JSON; "
        "policy.name (environment): should be 'lethe', 'trip', 'intact', 'redact', 'suppress', "
        "'entity-type', 'lprag' or 'origin'; "
        "policy.tua (argument): no such setting, the nearest is policy.tau; "
        "retrieval.k (argument): should be a valid integer, unable to parse string as an integer; "
        "ingest (environment): should be a table, written as JSON; "
        "server (argument): should be a table; "
        "vault.prot (lethe-data/settings.toml): no such setting, the nearest is vault.key; "
        "threads (lethe-data/settings.toml): should be a valid integer, "
        "unable to parse string as an integer; "
        "tau (lethe-data/settings.toml): no such setting, the nearest is policy.tau"
    )


PAIRS = "two pairs of a lower and a higher percentile"


@pytest.mark.parametrize(
    ("names", "value", "wrong"),
    [
        ("detector.threshold policy.epsilon policy.k policy.people", 0, "greater than 0"),
        ("policy.alpha policy.beta policy.gamma server.port", -1, "greater than or equal to 0"),
        ("policy.direct_limit", -0.01, "greater than or equal to 0"),
        ("generator.max_tokens retrieval.k threads", 0, "greater than or equal to 1"),
        ("ingest.batch_documents ingest.batch_characters", 0, "greater than or equal to 1"),
        ("detector.threshold policy.tau", float("nan"), "a finite number"),
        ("policy.tau policy.k", float("inf"), "a finite number"),
        ("detector.threshold", 1, "less than 1"),
        ("policy.direct_limit", 1.01, "less than or equal to 1"),
        ("generator.context_tokens", 1, "greater than or equal to 2"),
        ("generator.gpu_layers", -2, "greater than or equal to -1"),
        ("retrieval.k", 101, "less than or equal to 100"),
        ("retrieval.passage_tokens", 15, "greater than or equal to 16"),
        ("retrieval.passage_tokens", 513, "less than or equal to 512"),
        ("server.port", 65536, "less than or equal to 65535"),
        ("generator.path", 5, "a path"),
        ("risk.kind", "guess", "'learned' or 'prior'"),
        ("policy.marginal", "both", "'hazard' or 'difference'"),
        ("policy.sensitive", "context", "'keep' or 'generalize'"),
        ("generator.kind", "parrot", "'extractive', 'llama_cpp', 'openai_compatible' or 'files'"),
        ("encoder.source", "web", "'embedded', 'path' or 'hub'"),
        ("policy.scale", (0.2, 0.1, 0.5, 1.0), PAIRS),
        ("policy.scale", (0.1, 0.2, 1.0, 0.5), PAIRS),
    ],
)
def test_bounds(names: str, value: object, wrong: str) -> None:
    for name in names.split():
        assert refusal({name: value}) == f"settings: {name} (argument): should be {wrong}"


SHORT = "1 to 60 printable characters in one line, without blanks around them"


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("detector.labels", ["a\nship"], f"detector.labels.0 (argument): should be {SHORT}"),
        ("policy.deny", {" ": ["Heron"]}, f"policy.deny. .[key] (argument): should be {SHORT}"),
        ("policy.operators", {"date": "blur"}, "policy.operators.date (argument): should be 'generalize', "),
        (
            "policy.operators",
            {"phone number": "keep"},
            "policy (argument): operators keeps phone number, which identifies somebody by itself: take "
            "generalize, mask, hash or suppress for it.",
        ),
        ("policy.words", {"city name": ""}, f"policy (argument): words for city name: give {SHORT}."),
        ("policy.deny", ["Heron", "--"], "policy (argument): deny, entry 2: give a string with a letter or"),
        ("policy.patterns", [{"name": "ward"}], "policy.patterns.0.regex (argument): Field required"),
        ("policy", {"k": 31, "people": 30}, "k must be at most people"),
    ],
)
def test_what_is_said_of_labels_and_people_is_refused_by_name(name: str, value: object, told: str) -> None:
    assert told in refusal({name: value})
    assert load_settings({"policy.k": 30, "policy.people": 30}).policy.k == 30


def test_lists_and_expressions_are_counted_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LETHE_POLICY__ALLOW", json.dumps([MARKER]))
    write(
        "lethe-data/settings.toml",
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


def test_addresses_and_names_of_the_server() -> None:
    for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "lethe.example"):
        assert load_settings({"server.host": host}).server.host == host
    assert "server.host (argument)" in refusal({"server.host": ""})
    names = ("lethe.example", "records-2", "10.0.0.7")
    assert load_settings({"server.hosts": names}).server.hosts == names
    for name in ("*", "*.example", "", "http://lethe.example", "lethe.example:8443", "a b"):
        assert refusal({"server.hosts": ["lethe.example", name]}) == (
            "settings: server.hosts (argument): should be names alone such as lethe.example, without scheme, "
            "port or star"
        )


SERVER = {"generator.base_url": "http://127.0.0.1:8080/v1", "generator.model": "small"}
CONDENSE = "set generator.kind to llama_cpp or openai_compatible, or leave generator.condense out"
NEEDED = [
    ("llama_cpp", (), "llama_cpp needs generator.path, a GGUF file, or --gguf"),
    ("extractive", ("generator.condense",), f"condense needs a language model: {CONDENSE}"),
    ("openai_compatible", (), "openai_compatible needs generator.base_url and generator.model"),
    ("openai_compatible", ("generator.model",), "openai_compatible needs generator.base_url"),
    ("openai_compatible", ("generator.base_url",), "openai_compatible needs generator.model"),
]


def test_a_generator_needs_its_fields() -> None:
    for kind, names, wrong in NEEDED:
        others = {name: SERVER.get(name, True) for name in names}
        assert refusal({"generator.kind": kind, **others}) == f"settings: generator (argument): {wrong}"
    arguments = {"generator.kind": "openai_compatible", **SERVER, "generator.api_key": MARKER}
    generator = load_settings(arguments | {"generator.condense": True}).generator
    assert generator.api_key is not None
    assert (generator.api_key.get_secret_value(), generator.condense) == (MARKER, True)
    assert "generator.api_key (argument): " in refusal({"generator.api_key": ""})
    path = Path("small.gguf")
    assert load_settings({"generator.kind": "llama_cpp", "generator.path": path}).generator.path == path


@pytest.mark.parametrize(
    ("wrong", "urls"),
    [
        ("an address such as http://127.0.0.1:8080/v1", ("x.org/v1", "ftp://x.org/v1", "http:///v1", "http://[{}]/")),
        (
            "scheme, host and path alone, with any key in generator.api_key",
            ("https://me:{}@example.org", "https://example.org?key={}", "https://example.org#{}"),
        ),
    ],
)  # fmt: skip
def test_an_address_holds_no_secret(wrong: str, urls: tuple[str, ...]) -> None:
    for url in urls:
        told = refusal({"generator.base_url": url.format(MARKER)})
        assert told == f"settings: generator.base_url (argument): should be {wrong}"


def trace_of(arguments: Mapping[str, object]) -> str:
    """The whole traceback of a refusal, or nothing where the value is a good one."""
    try:
        load_settings(arguments)
    except ConfigurationError as error:
        assert error.__context__ is None
        return "".join(traceback.format_exception(error))
    return ""


TAKES_STRINGS = ("detector.labels", "policy.allow", "policy.deny", "server.hosts", "vault.old_key_files")


@pytest.mark.parametrize("shape", [MARKER, [MARKER], {"name": [MARKER]}], ids=["text", "list", "table"])
def test_a_refused_value_is_not_shown(shape: object) -> None:
    for name in NAMES:
        if name == "settings_file":
            continue
        from_argument = trace_of({name: shape})
        assert from_argument or isinstance(shape, str) or name in TAKES_STRINGS
        assert MARKER not in from_argument, name
        value = shape if isinstance(shape, str) else json.dumps(shape)
        with mock.patch.dict(os.environ, {variable_of(name): value}):
            assert MARKER not in trace_of({}), name


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
    (key,) = [row for row in rows if row.name == "generator.api_key"]
    assert (key.value, key.origin) == ("**********", "environment")
    shown = [repr(settings), str(settings), repr(rows)]
    assert not any(MARKER in text for text in shown)
    assert "**********" in shown[2]


def test_a_policy_file_is_a_whole_policy_and_may_name_the_engine_of_before() -> None:
    path = write("policy.toml", "name = 'redact'\ntau = 0.25\nengine = 'fast'\n")
    assert load_policy_file(path) == PolicySettings(name="redact", tau=0.25)
    assert "policy.engine (argument): no such setting" in refusal({"policy.engine": "fast"})


def test_a_policy_file_tells_all_that_is_wrong_and_has_no_header() -> None:
    path = write("policy.toml", f"tua = 1\nmarginal = '{MARKER}'\nbeta = -1\n")
    assert refused_policy(path) == (
        "policy.toml: beta: should be greater than or equal to 0; "
        "marginal: should be 'hazard' or 'difference'; tua: no such setting, the nearest is tau"
    )
    write("policy.toml", "[policy]\ntau = 1\n")
    assert refused_policy(path) == "policy.toml: write the keys of the policy without the header [policy]"


def test_every_setting_has_a_row_with_words_and_its_value_as_it_is_written() -> None:
    rows = settings_rows(load_settings({}), {})
    assert all(row.description and row.origin == "default" for row in rows)
    tables = {name.rpartition(".")[0] for name in NAMES}
    assert [row.name for row in rows] == [name for name in NAMES if name not in tables]
    settings = load_settings({"detector.labels": ["boat name"], "generator.allow_insecure": True})
    shown = {row.name: row.value for row in settings_rows(settings, {})}
    assert (shown["detector.labels"], shown["generator.allow_insecure"]) == ('["boat name"]', "true")
    assert (shown["threads"], shown["data_dir"]) == ("none", "lethe-data")


DIGESTED: dict[str, object] = {
    "detector.threshold": 0.4, "detector.labels": ["boat name"], "detector.model.source": "path",
    "detector.learned": False, "risk.kind": "prior", "risk.model.name": "elsewhere",
    "encoder.revision": "abc", "policy.tau": 0.61, "policy.name": "redact", "policy.k": 30,
    "policy.people": 1000, "policy.sensitive": "generalize", "policy.replacements": "alias",
    "policy.direct_limit": 0.7, "policy.operators": {"date": "mask"}, "policy.words": {"date": "some day"},
    "policy.allow": ["Parkinson"], "policy.deny": ["Project Heron", "Project Stork"],
    "policy.deny_file": "names.txt", "retrieval.passage_tokens": 100,
    "policy.patterns": [{"name": "ward", "regex": "W-[0-9]{4}", "label": "place"}],
}  # fmt: skip
NOT_DIGESTED: dict[str, object] = {
    "data_dir": "elsewhere", "retrieval.k": 6, "generator.max_tokens": 5, "generator.context_tokens": 99,
    "generator.gpu_layers": 7, "generator.api_key": "invented", "ingest.batch_documents": 1,
    "server.port": 8001, "threads": 2,
}  # fmt: skip


def test_the_digest_follows_what_alters_a_sanitized_index_and_nothing_else() -> None:
    plain = settings_digest(load_settings({}))
    assert len(plain) == 32 and int(plain, 16) >= 0
    assert plain == settings_digest(load_settings({"policy.tau": "0.5"}))
    changed = [settings_digest(load_settings({name: value})) for name, value in DIGESTED.items()]
    assert len({plain, *changed}) == len(DIGESTED) + 1
    for name, value in NOT_DIGESTED.items():
        assert settings_digest(load_settings({name: value})) == plain, name


def test_defaults_are_the_safe_end() -> None:
    settings = load_settings({})
    assert settings.policy == PolicySettings(name="lethe", k=50, people=100, direct_limit=0)
    assert settings.generator == GeneratorSettings(kind="extractive", allow_insecure=False)
    assert settings.server.host == "127.0.0.1"
    assert settings.encoder == ModelRef(source="embedded")


def test_the_default_policy_is_that_of_the_ingest_room() -> None:
    ours = PolicySettings()
    weights = Weights(ours.alpha, ours.beta, ours.gamma, ours.marginal)
    people = (ours.name, ours.k, ours.people)
    assert Policy(*people, ours.tau, weights, ours.replacements, ours.direct_limit) == Policy()


def test_importing_the_settings_loads_nothing_heavy() -> None:
    heavy = ("torch", "transformers", "gliner", "faiss", "openai", "numpy", "fastapi", "httpx")
    assert imported_by("import app.settings.report", heavy) == []
