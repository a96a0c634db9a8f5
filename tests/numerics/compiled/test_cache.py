"""Where compiled kernels are kept, and what is said when they are not there yet."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SCRIPT = """
from perceptron_lab.numerics.compiled.kernel import kernel

@kernel()
def doubled(x: float) -> float:
    return x + x
"""


def run(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    done = subprocess.run(words, capture_output=True, text=True, env=environment | variables)
    assert done.returncode == 0, done.stderr
    return done


def cached(folder: Path) -> list[str]:
    return [path.name.split("-")[0] for path in folder.rglob("*.nbi")]


def test_the_cache_goes_to_the_user_where_the_package_cannot_be_written(tmp_path: Path) -> None:
    package, home = tmp_path / "package", tmp_path / "home"
    package.mkdir()
    (package / "kernels.py").write_text(SCRIPT)
    (package / "__pycache__").touch()  # a file: no folder can be made, not even by root
    print_it = [sys.executable, "-c", "import kernels; print(kernels.doubled(2.0))"]
    given = {"PYTHONPATH": str(package), "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    assert run(*print_it, **given).stdout == "4.0\n"
    assert cached(home) == ["kernels.doubled"]
    assert "compiling" not in run(*print_it, **given).stderr
    named = tmp_path / "named"
    assert run(*print_it, **given, NUMBA_CACHE_DIR=str(named)).stdout == "4.0\n"
    assert cached(named) == ["kernels.doubled"]
    # below a file there is no room either
    given |= dict.fromkeys(["HOME", "XDG_CACHE_HOME"], str(package / "__pycache__" / "home"))
    for _ in range(2):
        done = run(*print_it, **given)
        assert done.stdout == "4.0\n"
        assert done.stderr == "compiling 1 kernel (first run only)\n"


def test_a_command_says_on_stderr_that_it_compiles_unless_it_is_quiet(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("\n".join(f"{i}.5,{i * i},1" for i in range(40)))
    solve = [sys.executable, "-m", "perceptron_lab", "solve", str(rows)]
    command = [*solve, "--algorithm", "cyclic-perceptron"]
    first = run(*command, "--json", NUMBA_CACHE_DIR=str(tmp_path / "first"))
    assert set(first.stderr.splitlines()) == {"compiling 1 kernel (first run only)"}
    assert json.loads(first.stdout)["status"] == "FEASIBLE"
    quiet = run(*command, "-q", NUMBA_CACHE_DIR=str(tmp_path / "second"))
    assert (quiet.stdout, quiet.stderr) == ("", "")
    assert sorted(cached(tmp_path / "second")) == sorted(cached(tmp_path / "first"))
