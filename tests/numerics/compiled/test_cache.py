"""Where compiled kernels are kept, and what is said when they are not there yet."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import perceptron_lab
from perceptron_lab.numerics.compiled import compilation_lock
from perceptron_lab.numerics.compiled.compilation_lock import compiling_alone

pytestmark = pytest.mark.slow

SCRIPT = """
from perceptron_lab.numerics.compiled.kernel import kernel

@kernel()
def doubled(x: float) -> float:
    return x + x
"""


FORKS = """
import json, os, runpy, sys
import numba, perceptron_lab.cli.main, perceptron_lab.numerics.compiled.kernel

# Each process would prepare the compiler for itself
numba.njit("float64(float64)")(lambda x: x + x)

def execute(words, variables, out, err):
    os.environ.pop("NUMBA_CACHE_DIR", None)
    os.environ.update(variables)
    numba.config.reload_config()
    for number, path in ((1, out), (2, err)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
    sys.argv = words
    sys.path[0] = os.path.dirname(words[0])
    runpy.run_path(words[0], run_name="__main__")

for line in sys.stdin:
    if not os.fork():
        execute(*json.loads(line))
        sys.exit()
    print(os.wait()[1], flush=True)
"""

Run = Callable[..., tuple[str, str]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Return a function that runs a script, and returns its output and its errors.

    It has a process of its own, forked from one in which numba and the package are imported.
    """
    out, err = (tmp_path_factory.mktemp("written") / name for name in ("out", "err"))
    start, pipe = [sys.executable, "-c", FORKS], subprocess.PIPE

    with subprocess.Popen(start, stdin=pipe, stdout=pipe, text=True) as forks:
        requests, answers = forks.stdin, forks.stdout
        assert requests is not None
        assert answers is not None

        def run(*words: str | Path, **variables: str) -> tuple[str, str]:
            job = list(map(str, words)), variables, str(out), str(err)
            requests.write(json.dumps(job) + "\n")
            requests.flush()
            status, written = answers.readline(), (out.read_text(), err.read_text())
            assert status == "0\n", written
            return written

        yield run


def cached(folder: Path) -> list[str]:
    return [path.name.split("-")[0] for path in folder.rglob("*.nbi")]


def test_the_cache_is_in_the_user_folder_where_the_package_is_read_only(
    run: Run, tmp_path: Path
) -> None:
    package, home, named = tmp_path / "package", tmp_path / "home", tmp_path / "named"
    package.mkdir()
    (package / "kernels.py").write_text(SCRIPT)
    script = package / "script.py"
    script.write_text("import kernels; print(kernels.doubled(2.0))")
    (package / "__pycache__").touch()  # a file: no folder can be made, not even by root
    at_home = {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    # below a file there is no room either
    nowhere = dict.fromkeys(at_home, str(package / "__pycache__" / "home"))
    compiled = ("4.0\n", "compiling 1 kernel (first run only)\n")
    assert run(script, **at_home) == compiled
    assert cached(home) == ["kernels.doubled"]
    assert run(script, **at_home) == ("4.0\n", "")
    assert run(script, **at_home, NUMBA_CACHE_DIR=str(named)) == compiled
    assert cached(named) == ["kernels.doubled"]
    assert run(script, **nowhere) == compiled


def test_compilation_is_reported_on_stderr_unless_quiet(run: Run, tmp_path: Path) -> None:
    rows, main = tmp_path / "rows.csv", Path(perceptron_lab.__file__).with_name("__main__.py")
    rows.write_text("\n".join(f"{i}.5,{i * i},1" for i in range(40)))
    command = (main, "solve", rows, "--algorithm", "cyclic-perceptron")
    first, second = tmp_path / "first", tmp_path / "second"
    out, err = run(*command, "--json", NUMBA_CACHE_DIR=str(first))
    quiet = run(*command, "-q", NUMBA_CACHE_DIR=str(second))
    assert set(err.splitlines()) == {"compiling 1 kernel (first run only)"}
    assert json.loads(out)["status"] == "FEASIBLE"
    assert quiet == ("", "")
    assert sorted(cached(second)) == sorted(cached(first)) != []


BESIDE = """
from contextlib import contextmanager
from multiprocessing import get_context
from numba.core.event import Listener, install_listener
from perceptron_lab.numerics.compiled.absolute_products import products
from perceptron_lab.numerics.compiled.kernel import load_kernels, surround_compilations

class Count(Listener):
    compilations = 0

    def on_start(self, event):
        self.compilations += 1

    def on_end(self, event):
        pass

def load(barrier):
    @contextmanager
    def counted(kernels):
        assert kernels == 1
        barrier.wait(60.0)  # the other process has found no cached kernel, either
        with install_listener("numba:compile", count):
            yield

    count = Count()
    surround_compilations(counted)
    load_kernels([products])
    print(count.compilations, flush=True)

context = get_context("fork")
barrier = context.Barrier(2)
processes = [context.Process(target=load, args=[barrier]) for _ in range(2)]
for process in processes:
    process.start()
for process in processes:
    process.join()
"""


def test_processes_that_need_a_kernel_at_the_same_time_compile_it_once(tmp_path: Path) -> None:
    completed = subprocess.run(
        [sys.executable, "-c", BESIDE],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
        check=True,
    )
    waiting, compiling = sorted(map(int, completed.stdout.split()))
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
    where = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    first, second = (
        subprocess.run(command, capture_output=True, text=True, env=where, check=True)
        for _ in range(2)
    )
    assert first.stdout == second.stdout
    assert first.stderr.startswith("compiling ")
    assert not second.stderr
