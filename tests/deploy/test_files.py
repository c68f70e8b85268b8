"""The files of deploy/: what they name exists here, and no default of theirs opens a door."""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from app.settings.load import PREFIX, Settings, known_fields, variable_of
from deploy.image import ignored, instructions
from tests.commands import ROOT
from tests.serving import ingested, served

DEPLOY = ROOT / "deploy"
USER = 10001
PORT = 8000
KNOWN = {variable_of(name) for name in known_fields(Settings)}
OF_COMPOSE = {"LETHE_EXTRAS", "LETHE_NAME", "LETHE_UPSTREAM"}
"""Variables of compose.yaml and of the proxy; the server never sees them."""


def text_of(name: str) -> str:
    return (DEPLOY / name).read_text(encoding="utf-8")


def steps() -> list[tuple[str, str]]:
    return list(instructions(text_of("Dockerfile")))


def said(name: str) -> list[str]:
    """What the last stage of the image says with an instruction."""
    found = steps()
    last = max(number for number, (each, _) in enumerate(found) if each == "FROM")
    return [rest for each, rest in found[last:] if each == name]


def manifests() -> dict[str, Any]:
    return {each["kind"]: each for each in yaml.safe_load_all(text_of("kubernetes/lethe.yaml"))}


def pod() -> Any:
    return manifests()["StatefulSet"]["spec"]["template"]["spec"]


def compose() -> Any:
    return yaml.safe_load(text_of("compose.yaml"))


def container() -> Any:
    (only,) = pod()["containers"]
    return only


def environments() -> Mapping[str, Mapping[str, str]]:
    """The variables that each way of starting the server sets."""
    image = dict(each.split("=", 1) for rest in said("ENV") for each in shlex.split(rest))
    unit = re.findall(r"^Environment=(.*)$", text_of("lethe.service"), re.MULTILINE)
    return {
        "image": image,
        "compose": compose()["services"]["lethe"]["environment"],
        "kubernetes": {each["name"]: each["value"] for each in container()["env"]},
        "systemd": dict(each.split("=", 1) for line in unit for each in shlex.split(line)),
    }


@pytest.mark.parametrize("place", ["image", "compose", "kubernetes", "systemd"])
def test_every_variable_is_a_setting(place: str) -> None:
    named = {name for name in environments()[place] if name.startswith(PREFIX)}
    assert named and named <= KNOWN


def test_every_setting_that_a_file_speaks_of_exists() -> None:
    for path in [each for each in DEPLOY.rglob("*") if each.is_file() and "__pycache__" not in each.parts]:
        for name in re.findall(r"\bLETHE_[A-Z_]+[A-Z]\b", path.read_text(encoding="utf-8")):
            assert name in KNOWN | OF_COMPOSE | {"LETHE_PORT"}, f"{path.name}: {name}"


def test_the_values_of_the_variables_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    for place, variables in environments().items():
        with monkeypatch.context() as patch:
            for name, value in variables.items():
                if name.startswith(PREFIX) and "SETTINGS_FILE" not in name:
                    patch.setenv(name, re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", str(value)))
            assert Settings().server.port == PORT, place


def test_the_example_of_settings_is_taken_with_each_of_its_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "settings.toml"
    monkeypatch.setenv("LETHE_SETTINGS_FILE", str(path))
    tables = re.findall(r"^# (\[\w+\]\n(?:# \w+ = .*\n)+)", text_of("settings.example.toml"), re.MULTILINE)
    assert len(tables) == 3
    for table in tables:
        path.write_text(table.replace("\n# ", "\n"), encoding="utf-8")
        assert Settings().model_fields_set - {"settings_file"}


# -- the image -----------------------------------------------------------------------------------------


def test_the_image_serves_as_a_user_without_rights_and_stops_by_sigterm() -> None:
    assert said("USER") == [f"{USER}:{USER}"]
    assert said("EXPOSE") == [str(PORT)]
    assert said("STOPSIGNAL") == ["SIGTERM"]
    assert json.loads(said("ENTRYPOINT")[0])[-1] == "lethe"
    assert said("CMD") == ['["serve"]']
    assert f"http://127.0.0.1:{PORT}/livez" in said("HEALTHCHECK")[0]


def test_the_base_has_a_version_and_both_stages_have_the_same() -> None:
    (base,) = [rest for name, rest in steps() if name == "ARG" and rest.startswith("BASE=")]
    assert re.fullmatch(r"BASE=debian:\d+\.\d+-slim(@sha256:[0-9a-f]{64})?", base)
    assert [rest.split()[0] for name, rest in steps() if name == "FROM"] == ["${BASE}"] * 2


def test_what_the_image_copies_is_there_and_in_the_context() -> None:
    rules = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if not line.startswith("#")]
    for name, rest in steps():
        if name == "COPY" and "--from" not in rest:
            for source in rest.split()[:-1]:
                assert (ROOT / source).exists(), source
                assert not ignored(source, rules), source


def test_nothing_but_the_program_is_in_the_context() -> None:
    rules = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if not line.startswith("#")]
    for private in (
        "lethe-data/secret.key",
        "notes.txt",
        ".git/config",
        ".venv/bin/python",
        "deploy/secrets/settings.toml",
        "tests/commands.py",
        "app/server/__pycache__/app.cpython-311.pyc",
    ):
        assert ignored(private, rules), private
    for part in ("app/cli/main.py", "models/weights", "pyproject.toml", "deploy/backup.py"):
        assert not ignored(part, rules), part


def test_the_lines_of_a_dockerfile_are_read_as_an_engine_reads_them() -> None:
    lines = "# x\nFROM a AS b\nRUN one \\\n# between\n    && two\n\nCMD []\n"
    assert list(instructions(lines)) == [("FROM", "a AS b"), ("RUN", "one     && two"), ("CMD", "[]")]
    with pytest.raises(SystemExit, match="does not know ONBUILD"):
        list(instructions("ONBUILD RUN x"))


# -- compose, Kubernetes, systemd ----------------------------------------------------------------------


def test_no_service_of_compose_is_open_or_has_rights() -> None:
    services = compose()["services"]
    lethe = services["lethe"]
    assert lethe["ports"] == [f"127.0.0.1:{PORT}:{PORT}"]
    assert lethe["read_only"] is True and "profiles" not in lethe
    for name, service in services.items():
        assert service["cap_drop"] == ["ALL"], name
        assert name == "lethe" or service["profiles"], name
        assert ":" in service["image"] and not service["image"].endswith(":latest"), name
    # The model is on Lethe's loopback, and counts as local only there.
    assert services["model"]["network_mode"] == "service:lethe"
    for database in ("postgres", "milvus"):
        assert "ports" not in services[database] and services[database]["networks"] == ["inside"]
    assert compose()["networks"]["inside"]["internal"] is True


def test_secrets_of_compose_are_files() -> None:
    for name, secret in compose()["secrets"].items():
        assert secret["file"].startswith("./secrets/"), name
    for service in compose()["services"].values():
        for name, value in service.get("environment", {}).items():
            secret = re.search("PASSWORD|SECRET|KEY", name)
            assert not secret or str(value).startswith("/run/secrets/"), name
    assert "deploy/secrets/" in (ROOT / ".gitignore").read_text()


def test_the_pod_has_no_rights_and_one_replica() -> None:
    workload = manifests()["StatefulSet"]["spec"]
    assert workload["replicas"] == 1
    assert pod()["securityContext"]["runAsNonRoot"] is True
    assert pod()["securityContext"]["runAsUser"] == USER
    assert pod()["automountServiceAccountToken"] is False
    # Kubernetes would set LETHE_PORT, a setting that does not exist.
    assert pod()["enableServiceLinks"] is False
    (waiting,) = pod()["initContainers"]
    rights = container()["securityContext"]
    assert waiting["securityContext"] == rights and waiting["image"] == container()["image"]
    assert rights["readOnlyRootFilesystem"] is True and rights["allowPrivilegeEscalation"] is False
    assert rights["capabilities"] == {"drop": ["ALL"]}
    assert workload["selector"]["matchLabels"] == workload["template"]["metadata"]["labels"]
    for kind in ("Service", "PodDisruptionBudget", "NetworkPolicy"):
        assert "namespace" not in manifests()[kind]["metadata"]
    assert manifests()["NetworkPolicy"]["spec"]["egress"] == []


def test_probes_ask_for_what_the_server_has_by_a_name_that_it_answers_to() -> None:
    paths = {}
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        asked = container()[probe]["httpGet"]
        assert asked["httpHeaders"] == [{"name": "Host", "value": "localhost"}]
        assert asked["port"] == "http"
        paths[probe] = asked["path"]
    assert paths == {"startupProbe": "/readyz", "readinessProbe": "/readyz", "livenessProbe": "/livez"}
    (port,) = container()["ports"]
    assert port == {"name": "http", "containerPort": PORT}
    assert manifests()["Service"]["spec"]["ports"][0]["targetPort"] == "http"


def test_what_the_pod_mounts_is_declared_and_the_data_is_a_claim() -> None:
    declared = {each["name"] for each in pod()["volumes"]}
    declared |= {
        each["metadata"]["name"] for each in manifests()["StatefulSet"]["spec"]["volumeClaimTemplates"]
    }
    mounted = {each["name"]: each["mountPath"] for each in container()["volumeMounts"]}
    assert set(mounted) == declared
    assert mounted["data"] == environments()["image"]["LETHE_DATA_DIR"]
    secret = yaml.safe_load(text_of("kubernetes/secret.example.yaml"))
    names = {*secret["data"], *secret["stringData"]}
    for variable in ("LETHE_KEY_FILE", "LETHE_SETTINGS_FILE"):
        path = Path(environments()["kubernetes"][variable])
        assert str(path.parent) == mounted["secrets"] and path.name in names


def test_the_unit_gives_the_server_little() -> None:
    unit = text_of("lethe.service")
    for line in (
        "User=lethe",
        "ProtectSystem=strict",
        "CapabilityBoundingSet=\n",
        "LimitCORE=0",
        "UMask=0077",
        "IPAddressDeny=any",
        "RestartPreventExitStatus=2",
    ):
        assert line in unit, line


def test_proxies_keep_what_is_for_operators_to_themselves() -> None:
    nginx, caddy = text_of("proxy/nginx.conf"), text_of("proxy/Caddyfile")
    for path in ("metrics", "livez", "readyz"):
        assert f"/{path}" in caddy.split("@inner path")[1].splitlines()[0]
        assert path in re.search(r"location ~ (\S+)", nginx)[1]  # type: ignore[index]
    # A path may hold the id of a document, and a first line quotes the path.
    assert "$request_uri" not in nginx and "$uri" not in nginx and "$request'" not in nginx
    assert re.search(r"access_log \S+ lethe;", nginx) and "log" not in caddy.replace("login", "")


# -- figures -------------------------------------------------------------------------------------------


def expressions() -> Iterator[str]:
    for group in yaml.safe_load(text_of("monitoring/alerts.yaml"))["groups"]:
        for rule in group["rules"]:
            yield rule["expr"]
    for panel in json.loads(text_of("monitoring/grafana.json"))["panels"]:
        for target in panel["targets"]:
            yield target["expr"]


FIGURE = re.compile(r"\b(?:lethe|process|python)_[a-z_]+")
OF_PROMETHEUS = {"up"}


def test_every_figure_of_the_dashboard_and_the_alerts_is_one_of_the_server(tmp_path: Path) -> None:
    named = {name for each in expressions() for name in FIGURE.findall(each)}
    labels = {
        (found[1], label)
        for each in expressions()
        for found in re.finditer(r"(lethe_[a-z_]+)\{([^}]*)\}", each)
        for label in re.findall(r"(\w+)(?:=~|!=|!~|=)", found[2])
    }
    settings = 'threads = 1\n[detector]\nlearned = false\n[risk]\nkind = "prior"\n'
    with served(ingested(tmp_path, settings, ["Invented. The mill was sold."])) as server:
        with server.client() as client:
            client.get("/livez")
            text = client.get("/metrics").text
    exported: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            exported.setdefault(sample.name, set()).update(sample.labels)
    assert named and named <= set(exported)
    assert any(name == "lethe_jobs" for name in named)
    for name, label in labels:
        assert label in exported[name], (name, label)


def test_each_alert_has_a_test_and_a_place_in_the_page() -> None:
    (group,) = yaml.safe_load(text_of("monitoring/alerts.yaml"))["groups"]
    tests = text_of("monitoring/alerts_test.yaml")
    page = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    assert group["rules"]
    for rule in group["rules"]:
        assert rule["labels"]["severity"] in ("page", "ticket")
        assert tests.count(f"alertname: {rule['alert']}") >= 2, rule["alert"]
        assert f"`{rule['alert']}`" in page, rule["alert"]


def test_the_scrape_has_a_key_and_asks_by_a_name_that_the_examples_allow() -> None:
    (scrape,) = yaml.safe_load(text_of("monitoring/prometheus.yaml"))["scrape_configs"]
    assert scrape["authorization"] == {"credentials_file": "key"}
    name, port = scrape["static_configs"][0]["targets"][0].split(":")
    assert int(port) == PORT
    for place in ("compose", "kubernetes"):
        allowed = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", environments()[place]["LETHE_SERVER__HOSTS"])
        assert name in json.loads(allowed)


def test_no_address_of_the_dashboard_leads_outside() -> None:
    dashboard = json.loads(text_of("monitoring/grafana.json"))
    assert "http" not in json.dumps(dashboard)
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(set(ids)) == len(ids)
