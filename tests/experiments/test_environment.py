"""What is said of the machine, and what is not."""

from __future__ import annotations

import getpass
import json
import platform
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from perceptron_lab.experiments.provenance import environment as module
from perceptron_lab.experiments.provenance.environment import environment, identity


def test_the_machine_and_the_software_are_described() -> None:
    described = json.loads(json.dumps(environment()))
    assert described["python"] == f"CPython {platform.python_version()}"
    assert described["cores"] >= 1
    assert described["cpu"]
    assert described["packages"]["numpy"]
    assert described["packages"]["perceptron-lab"]
    assert {"internal_api", "version", "architecture", "num_threads"} == set(described["blas"][0])
    assert described["time"].endswith("+00:00")


def test_no_host_no_user_no_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/somewhere/bin/plab", "run", "quickstart"])
    described = environment()
    assert described["argv"] == ["plab", "run", "quickstart"]
    text = json.dumps(described)
    assert "/somewhere" not in text
    assert str(Path(module.__file__).parents[2]) not in text
    words = set(text.replace('"', " ").split())
    assert not {socket.gethostname(), getpass.getuser()} & words


def test_the_identity_is_that_of_the_machine_and_software() -> None:
    described = environment()
    assert described["id"] == identity(described)
    assert identity(described | {"time": "later", "argv": []}) == described["id"]
    assert identity(described | {"cpu": "another"}) != described["id"]


@pytest.mark.slow
def test_unrelated_imports_do_not_change_the_environment() -> None:
    program = """
import os
from perceptron_lab.experiments.provenance.environment import environment
if not os.fork():  # a process that is the same up to here
    import scs, sklearn.svm
else:
    assert os.wait()[1] == 0
print(environment()["id"], flush=True)
"""
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert process.stderr == ""
    with_others, without = process.stdout.split()
    assert with_others == without


def test_a_clone_has_a_revision(tmp_path: Path) -> None:
    assert module.revision_of(tmp_path) is None
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    assert module.revision_of(tmp_path) is None
    (tmp_path / "a").write_text("1")
    author = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["add", "a"], [*author, "commit", "-qm", "a"]):
        subprocess.run(["git", "-C", str(tmp_path), *command], check=True)
    described = module.revision_of(tmp_path)
    assert described is not None
    assert len(described["revision"]) == 40
    assert described["dirty"] is False
    (tmp_path / "a").write_text("2")
    assert module.revision_of(tmp_path) == described | {"dirty": True}
