"""The files of deploy/: what they name exists here, and no default of theirs opens a door."""

import json
import re
import shlex
from collections.abc import Mapping
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
PORT = 8000
OF_COMPOSE = {"LETHE_EXTRAS", "LETHE_NAME", "LETHE_UPSTREAM"}
"""Variables of compose.yaml and of the proxy; the server never sees them."""
USER, KNOWN = 10001, {variable_of(name) for name in known_fields(Settings)}
SHOWN_DEFAULT = re.compile(r"\$\{\w+:-([^}]*)\}")
"""Variables of compose.yaml and of the proxy; the server never sees them."""


def text_of(name: str) -> str:
    return (DEPLOY / name).read_text(encoding="utf-8")


STEPS = list(instructions(text_of("Dockerfile")))


def said(name: str) -> list[str]:
    """What the last stage of the image says with an instruction."""
    last = max(number for number, (each, _) in enumerate(STEPS) if each == "FROM")
    return [rest for each, rest in STEPS[last:] if each == name]


MANIFESTS: dict[str, Any] = {
    each["kind"]: each for each in yaml.safe_load_all(text_of("kubernetes/lethe.yaml"))
}
COMPOSE: Any = yaml.safe_load(text_of("compose.yaml"))
POD = MANIFESTS["StatefulSet"]["spec"]["template"]["spec"]
(CONTAINER,) = POD["containers"]


def environments() -> Mapping[str, Mapping[str, str]]:
    """The variables that each way of starting the server sets."""
    unit = re.findall(r"^Environment=(.*)$", text_of("lethe.service"), re.MULTILINE)
    return {
        "image": dict(each.split("=", 1) for rest in said("ENV") for each in shlex.split(rest)),
        "compose": COMPOSE["services"]["lethe"]["environment"],
        "kubernetes": {each["name"]: each["value"] for each in CONTAINER["env"]},
        "systemd": dict(each.split("=", 1) for line in unit for each in shlex.split(line)),
    }


@pytest.mark.parametrize("place", ["image", "compose", "kubernetes", "systemd"])
def test_every_variable_is_a_setting_and_its_value_is_taken(
    monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    named = {name: value for name, value in environments()[place].items() if name.startswith(PREFIX)}
    assert named and named.keys() <= KNOWN
    for name, value in named.items():
        if "SETTINGS_FILE" not in name:
            monkeypatch.setenv(name, SHOWN_DEFAULT.sub(r"\1", str(value)))
    assert Settings().server.port == PORT


def test_every_setting_that_a_file_speaks_of_exists() -> None:
    for path in [each for each in DEPLOY.rglob("*") if each.is_file() and "__pycache__" not in each.parts]:
        for name in re.findall(r"\bLETHE_[A-Z_]+[A-Z]\b", path.read_text(encoding="utf-8")):
            assert name in KNOWN | OF_COMPOSE | {"LETHE_PORT"}, f"{path.name}: {name}"


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
    (base,) = [rest for name, rest in STEPS if name == "ARG" and rest.startswith("BASE=")]
    assert re.fullmatch(r"BASE=debian:\d+\.\d+-slim(@sha256:[0-9a-f]{64})?", base)
    assert [rest.split()[0] for name, rest in STEPS if name == "FROM"] == ["${BASE}"] * 2
    lines = "# x\nFROM a AS b\nRUN one \\\n# between\n    && two\n\nCMD []\n"
    assert list(instructions(lines)) == [("FROM", "a AS b"), ("RUN", "one     && two"), ("CMD", "[]")]
    with pytest.raises(SystemExit, match="does not know ONBUILD"):
        list(instructions("ONBUILD RUN x"))


def test_nothing_but_the_program_is_in_the_context() -> None:
    rules = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if not line.startswith("#")]
    private = ["lethe-data/secret.key", "notes.txt", ".git/config", ".venv/bin/python", "tests/commands.py"]
    for path in (*private, "deploy/secrets/settings.toml", "app/server/__pycache__/app.cpython-311.pyc"):
        assert ignored(path, rules), path
    copied = [rest.split()[:-1] for name, rest in STEPS if name == "COPY" and "--from" not in rest]
    parts = ["app/cli/main.py", "models/weights", "pyproject.toml", "deploy/backup.py"]
    for part in [*parts, *(source for sources in copied for source in sources)]:
        assert (ROOT / part).exists() and not ignored(part, rules), part


# -- compose, Kubernetes, systemd ----------------------------------------------------------------------


def test_no_service_of_compose_is_open_or_has_rights() -> None:
    services = COMPOSE["services"]
    lethe = services["lethe"]
    assert lethe["ports"] == [f"127.0.0.1:{PORT}:{PORT}"]
    assert lethe["read_only"] is True and "profiles" not in lethe
    for name, service in services.items():
        assert service["cap_drop"] == ["ALL"], name
        assert name == "lethe" or service["profiles"], name
        assert ":" in service["image"] and not service["image"].endswith(":latest"), name
        for variable, value in service.get("environment", {}).items():
            secret = re.search("PASSWORD|SECRET|KEY", variable)
            assert not secret or str(value).startswith("/run/secrets/"), variable
    # The model is on Lethe's loopback, and counts as local only there.
    assert services["model"]["network_mode"] == "service:lethe"
    for database in ("postgres", "milvus"):
        assert "ports" not in services[database] and services[database]["networks"] == ["inside"]
    assert COMPOSE["networks"]["inside"]["internal"] is True
    assert all(secret["file"].startswith("./secrets/") for secret in COMPOSE["secrets"].values())
    assert "deploy/secrets/" in (ROOT / ".gitignore").read_text()


def test_the_pod_has_no_rights_and_one_replica() -> None:
    workload = MANIFESTS["StatefulSet"]["spec"]
    assert workload["replicas"] == 1
    assert (POD["securityContext"]["runAsNonRoot"], POD["securityContext"]["runAsUser"]) == (True, USER)
    # Kubernetes would set LETHE_PORT, a setting that does not exist.
    assert POD["automountServiceAccountToken"] is POD["enableServiceLinks"] is False
    (waiting,) = POD["initContainers"]
    rights = CONTAINER["securityContext"]
    assert waiting["securityContext"] == rights and waiting["image"] == CONTAINER["image"]
    assert rights["readOnlyRootFilesystem"] is True and rights["allowPrivilegeEscalation"] is False
    assert rights["capabilities"] == {"drop": ["ALL"]}
    assert workload["selector"]["matchLabels"] == workload["template"]["metadata"]["labels"]
    for kind in ("Service", "PodDisruptionBudget", "NetworkPolicy"):
        assert "namespace" not in MANIFESTS[kind]["metadata"]
    assert MANIFESTS["NetworkPolicy"]["spec"]["egress"] == []


def test_probes_ask_for_what_the_server_has_by_a_name_that_it_answers_to() -> None:
    headers = [{"name": "Host", "value": "localhost"}]
    for probe, path in {"startup": "/readyz", "readiness": "/readyz", "liveness": "/livez"}.items():
        asked = CONTAINER[f"{probe}Probe"]["httpGet"]
        assert (asked["path"], asked["port"], asked["httpHeaders"]) == (path, "http", headers)
    assert CONTAINER["ports"] == [{"name": "http", "containerPort": PORT}]
    assert MANIFESTS["Service"]["spec"]["ports"][0]["targetPort"] == "http"


def test_what_the_pod_mounts_is_declared_and_the_data_is_a_claim() -> None:
    claims = MANIFESTS["StatefulSet"]["spec"]["volumeClaimTemplates"]
    declared = {each["name"] for each in POD["volumes"]} | {each["metadata"]["name"] for each in claims}
    mounted = {each["name"]: each["mountPath"] for each in CONTAINER["volumeMounts"]}
    assert set(mounted) == declared
    assert mounted["data"] == environments()["image"]["LETHE_DATA_DIR"]
    secret = yaml.safe_load(text_of("kubernetes/secret.example.yaml"))
    names = {*secret["data"], *secret["stringData"]}
    for variable in ("LETHE_KEY_FILE", "LETHE_SETTINGS_FILE"):
        path = Path(environments()["kubernetes"][variable])
        assert str(path.parent) == mounted["secrets"] and path.name in names


def test_the_unit_gives_the_server_little() -> None:
    little = ["User=lethe", "ProtectSystem=strict", "CapabilityBoundingSet=", "LimitCORE=0", "UMask=0077"]
    lines = text_of("lethe.service").splitlines()
    assert {*little, "IPAddressDeny=any", "RestartPreventExitStatus=2"} <= {*lines}


def test_proxies_keep_what_is_for_operators_to_themselves() -> None:
    nginx, caddy = text_of("proxy/nginx.conf"), text_of("proxy/Caddyfile")
    for path in ("metrics", "livez", "readyz"):
        assert f"/{path}" in caddy.split("@inner path")[1].splitlines()[0]
        assert path in re.search(r"location ~ (\S+)", nginx)[1]  # type: ignore[index]
    # A path may hold the id of a document, and a first line quotes the path.
    assert "$request_uri" not in nginx and "$uri" not in nginx and "$request'" not in nginx
    assert re.search(r"access_log \S+ lethe;", nginx) and "log" not in caddy.replace("login", "")


# -- figures -------------------------------------------------------------------------------------------


ALERTS: Any = yaml.safe_load(text_of("monitoring/alerts.yaml"))["groups"]
DASHBOARD: Any = json.loads(text_of("monitoring/grafana.json"))
FIGURE = re.compile(r"\b(?:lethe|process|python)_[a-z_]+")


def test_every_figure_of_the_dashboard_and_the_alerts_is_one_of_the_server(tmp_path: Path) -> None:
    asked = [rule["expr"] for group in ALERTS for rule in group["rules"]]
    asked += [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
    named = {name for each in asked for name in FIGURE.findall(each)}
    labels = {
        (found[1], label)
        for each in asked
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
    assert "lethe_jobs" in named <= set(exported)
    assert [each for each in labels if each[1] not in exported[each[0]]] == []
    # No address of the dashboard leads outside.
    assert "http" not in json.dumps(DASHBOARD)
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(set(ids)) == len(ids)


def test_each_alert_has_a_test_and_a_place_in_the_page() -> None:
    (group,) = ALERTS
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
        allowed = SHOWN_DEFAULT.sub(r"\1", environments()[place]["LETHE_SERVER__HOSTS"])
        assert name in json.loads(allowed)
