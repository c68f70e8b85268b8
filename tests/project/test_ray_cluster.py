"""The files of deploy/ray: a cluster that may hold raw text."""

from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy" / "ray"


def test_no_machine_of_the_cluster_writes_objects_to_a_disk() -> None:
    cluster = yaml.safe_load((FOLDER / "cluster.yaml").read_text(encoding="utf-8"))
    for part in ("head", "worker"):
        (start,) = [line for line in cluster[f"{part}_start_ray_commands"] if "ray start" in line]
        for flag in (
            "RAY_AUTH_MODE=token",
            "RAY_USAGE_STATS_ENABLED=0",
            "RAY_automatic_object_spilling_enabled=0",
            "--plasma-directory=/dev/shm",
            "--object-spilling-directory=/dev/shm/",
        ):
            assert flag in start, (part, flag)
    assert "--include-dashboard=false" in cluster["head_start_ray_commands"][-1]


def test_the_cluster_has_the_version_that_is_tested() -> None:
    pinned = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    (ray,) = [line for line in pinned if line.startswith("ray==")]
    assert ray.replace("ray", "ray[data]") in (FOLDER / "cluster.yaml").read_text(encoding="utf-8")


def test_ray_takes_the_file() -> None:
    util = pytest.importorskip(
        "ray.autoscaler._private.util", reason="Ray is absent: pip install 'lethe[ray]'"
    )
    util.validate_config(util.prepare_config(yaml.safe_load((FOLDER / "cluster.yaml").read_text("utf-8"))))
