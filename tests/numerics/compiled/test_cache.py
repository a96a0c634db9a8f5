"""Where compiled kernels are kept, and what is said when they are not there yet."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from perceptron_lab.numerics.compiled import compilation_lock
from perceptron_lab.numerics.compiled.compilation_lock import compiling_alone

pytestmark = pytest.mark.slow

SCRIPT = """
from perceptron_lab.numerics.compiled.kernel import kernel

@kernel()
def doubled(x: float) -> float:
    return x + x
"""


def run(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    completed = subprocess.run(words, capture_output=True, text=True, env=environment | variables)
    assert completed.returncode == 0, completed.stderr
    return completed


def cached(folder: Path) -> list[str]:
    return [path.name.split("-")[0] for path in folder.rglob("*.nbi")]


def test_the_cache_is_in_the_user_folder_where_the_package_is_read_only(tmp_path: Path) -> None:
    package, home = tmp_path / "package", tmp_path / "home"
    package.mkdir()
    (package / "kernels.py").write_text(SCRIPT)
    (package / "__pycache__").touch()  # a file: no folder can be made, not even by root
    print_it = [sys.executable, "-c", "import kernels; print(kernels.doubled(2.0))"]
    arguments = {
        "PYTHONPATH": str(package),
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / "cache"),
    }
    assert run(*print_it, **arguments).stdout == "4.0\n"
    assert cached(home) == ["kernels.doubled"]
    assert "compiling" not in run(*print_it, **arguments).stderr
    named = tmp_path / "named"
    assert run(*print_it, **arguments, NUMBA_CACHE_DIR=str(named)).stdout == "4.0\n"
    assert cached(named) == ["kernels.doubled"]
    # below a file there is no room either
    arguments |= dict.fromkeys(["HOME", "XDG_CACHE_HOME"], str(package / "__pycache__" / "home"))
    completed = run(*print_it, **arguments)
    assert completed.stdout == "4.0\n"
    assert completed.stderr == "compiling 1 kernel (first run only)\n"


def test_compilation_is_reported_on_stderr_unless_quiet(tmp_path: Path) -> None:
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


BESIDE = """
from contextlib import contextmanager
from numba.core.event import Listener, install_listener
from perceptron_lab.numerics.compiled.absolute_products import products
from perceptron_lab.numerics.compiled.kernel import load_kernels, surround_compilations

class Count(Listener):
    compilations = 0

    def on_start(self, event):
        self.compilations += 1

    def on_end(self, event):
        pass

@contextmanager
def counted(kernels):
    print(kernels, flush=True)
    input()  # the other process has found no cached kernel, either
    with install_listener("numba:compile", count):
        yield

count = Count()
surround_compilations(counted)
load_kernels([products])
print(count.compilations)
"""


def test_processes_that_need_a_kernel_at_the_same_time_compile_it_once(tmp_path: Path) -> None:
    with ExitStack() as stack:
        processes = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", BESIDE],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                    env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
                )
            )
            for _ in range(2)
        ]
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "1\n"
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        waiting, compiling = sorted(int(process.communicate()[0]) for process in processes)
    assert waiting == 0 < compiling


def test_a_lock_that_is_not_released_is_waited_for_and_then_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, pauses = tmp_path / "kernels.py", list[float]()
    source.touch()
    monkeypatch.setattr(compilation_lock, "_PATIENCE", 0.3)
    monkeypatch.setattr("time.sleep", pauses.append)
    with compiling_alone(str(source)), compiling_alone("<a notebook>"):
        assert not pauses
        with compiling_alone(str(source)):
            assert pauses
    pauses.clear()
    with compiling_alone(str(source)):
        assert not pauses


@pytest.mark.long
def test_two_processes_compile_all_kernels_between_them(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "perceptron_lab.numerics.compiled"]
    first, second = (run(*command, NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(2))
    assert first.stdout == second.stdout
    assert first.stderr.startswith("compiling ")
    assert not second.stderr
