"""Where compiled kernels are kept, and what is said when they are not there yet."""

from __future__ import annotations

import json
import os
import subprocess
import sys
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
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), number)
    sys.argv = words
    sys.path[0] = os.path.dirname(words[0])
    runpy.run_path(words[0], run_name="__main__")

for job in json.load(sys.stdin):
    if not os.fork():
        execute(*job)
        sys.exit()
    assert os.wait()[1] == 0
"""

Command = tuple[list[str | Path], dict[str, str]]


def run(folder: Path, *commands: Command) -> list[tuple[str, str]]:
    """Run a script after the other with words and variables; return what each has written.

    Each has a process of its own, forked from one in which numba and the package are imported.
    """
    folder.mkdir()
    jobs = [
        [
            list(map(str, words)),
            variables,
            str(folder / f"{index}.out"),
            str(folder / f"{index}.err"),
        ]
        for index, (words, variables) in enumerate(commands)
    ]
    start = [sys.executable, "-c", FORKS]
    completed = subprocess.run(start, input=json.dumps(jobs), text=True, capture_output=True)
    written = [(Path(out).read_text(), Path(err).read_text()) for *_, out, err in jobs]
    assert completed.returncode == 0, (completed.stderr, written)
    return written


def cached(folder: Path) -> list[str]:
    return [path.name.split("-")[0] for path in folder.rglob("*.nbi")]


def test_the_cache_is_in_the_user_folder_where_the_package_is_read_only(tmp_path: Path) -> None:
    package, home, named = tmp_path / "package", tmp_path / "home", tmp_path / "named"
    package.mkdir()
    (package / "kernels.py").write_text(SCRIPT)
    script = package / "script.py"
    script.write_text("import kernels; print(kernels.doubled(2.0))")
    (package / "__pycache__").touch()  # a file: no folder can be made, not even by root
    at_home = {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    # below a file there is no room either
    nowhere = dict.fromkeys(at_home, str(package / "__pycache__" / "home"))
    outputs = run(
        tmp_path / "outputs",
        ([script], at_home),
        ([script], at_home),
        ([script], at_home | {"NUMBA_CACHE_DIR": str(named)}),
        ([script], nowhere),
    )
    assert [out for out, _ in outputs] == ["4.0\n"] * 4
    compiling = "compiling 1 kernel (first run only)\n"
    assert [err for _, err in outputs] == [compiling, "", compiling, compiling]
    assert cached(home) == cached(named) == ["kernels.doubled"]


def test_compilation_is_reported_on_stderr_unless_quiet(tmp_path: Path) -> None:
    rows, main = tmp_path / "rows.csv", Path(perceptron_lab.__file__).with_name("__main__.py")
    rows.write_text("\n".join(f"{i}.5,{i * i},1" for i in range(40)))
    command: list[str | Path] = [main, "solve", rows, "--algorithm", "cyclic-perceptron"]
    first, second = tmp_path / "first", tmp_path / "second"
    (out, err), quiet = run(
        tmp_path / "outputs",
        ([*command, "--json"], {"NUMBA_CACHE_DIR": str(first)}),
        ([*command, "-q"], {"NUMBA_CACHE_DIR": str(second)}),
    )
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
