"""Files of a user's own, named on the command line: run, listed, solved with; or refused."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from perceptron_lab.cli.main import main
from perceptron_lab.core import registry
from perceptron_lab.core.errors import ConfigError
from perceptron_lab.experiments import plugins
from perceptron_lab.experiments.plugins import load_plugins

OWN = '''
"""An algorithm of one's own."""
from dataclasses import dataclass

from perceptron_lab import register
from perceptron_lab.algorithms.perceptrons.perceptron import Perceptron


@dataclass(frozen=True)
class Mine(Perceptron):
    """My own perceptron.

    Parameters
    ----------
    rounds
        How often.
    """

    rounds: int = 3


register("algorithm", "my-own", Mine)
'''
CONFIG = """\
experiment: own
problems: [{dataset: maxcut, instances: [random-8-12]}]
algorithms: [{name: my-own, parameters: {rounds: 4}}]
"""


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    """Forget what a test has imported and registered."""
    modules, path = set(sys.modules), list(sys.path)
    yield
    for name in set(sys.modules) - modules:
        if name.startswith("my_"):  # others may not be loaded twice
            del sys.modules[name]
    sys.path[:] = path
    for kind, name, _ in registry.additions():
        registry.unregister(kind, name)


def plugin(folder: Path, text: str = OWN, name: str = "my_own_plugin.py") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_a_file_registers_once_however_often_it_is_named(tmp_path: Path) -> None:
    path = plugin(tmp_path)
    load_plugins([path, path])
    load_plugins([path])
    assert [name for _, name, _ in registry.additions()] == ["my-own"]


@pytest.mark.slow
@pytest.mark.usefixtures("modules_of_cells")
def test_commands_solve_run_list_and_show_use_plugins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    plugin(tmp_path)
    Path("rows.csv").write_text("1,2\n2,1\n")
    Path("own.yaml").write_text(CONFIG)
    assert main(["run", "own.yaml"]) == 2
    assert "my-own" in capsys.readouterr().err
    options = ("--plugin", "my_own_plugin.py")
    assert main(["solve", "rows.csv", "--algorithm", "my-own", "--json", *options]) == 0
    assert json.loads(capsys.readouterr().out)["algorithm"] == "my-own"
    assert main(["list", "algorithms", *options]) == 0
    assert "my-own" in capsys.readouterr().out
    assert main(["show", "my-own", *options]) == 0
    assert "How often" in capsys.readouterr().out
    assert main(["run", "own.yaml", *options]) == 0
    assert "FEASIBLE" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("my_own.txt", OWN, "give a Python file that can be imported"),
        ("my-own.py", OWN, "give a Python file that can be imported"),
        ("my_own.py", None, "no such file"),
        ("json.py", OWN, "another module is called 'json'; rename the file"),
        ("my_own.py", "x = 1\n", "it registers nothing; let it call"),
        ("my_own.py", "x = 1\n1 / 0\n", "line 2: ZeroDivisionError"),
        ("my_own.py", "def f(:\n", "line 1: SyntaxError"),
        ("my_own.py", "import perceptron_lab as p\np.register('algorithm', 'a', 3)", "give its cl"),
    ],
)
def test_files_that_are_no_plugin_are_refused(
    tmp_path: Path, name: str, text: str | None, message: str
) -> None:
    path = tmp_path / name if text is None else plugin(tmp_path, text, name)
    with pytest.raises(ConfigError, match=message):
        load_plugins([path])
    assert registry.additions() == []


def test_an_installed_plugin_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plugin(tmp_path, name="my_installed_plugin.py")
    monkeypatch.syspath_prepend(tmp_path)
    point = EntryPoint("mine", "my_installed_plugin", plugins.GROUP)
    monkeypatch.setattr(plugins, "entry_points", lambda group: EntryPoints([point]))
    load_plugins()
    assert [name for _, name, _ in registry.additions()] == ["my-own"]


STATED = CONFIG + "plugins: [my_own_plugin.py]\nreport: {tables: [my-table]}\n"
WITH_OTHERS = STATED.replace("algorithms: [", "algorithms: [{name: perceptron}, ")


def test_a_configuration_states_plugins_and_loads_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    plugin(tmp_path, "raise SystemExit('it was run')")
    Path("own.yaml").write_text(WITH_OTHERS)
    assert main(["check", "own.yaml"]) == 0
    assert capsys.readouterr().out == (
        "own.yaml: ok, 2 cells; not checked, of plugins my_own_plugin.py: "
        "table 'my-table', algorithm 'my-own' (add --plugin FILE.py)\n"
    )
    assert main(["status", "own.yaml"]) == 0
    assert "1 missing of 1 cell" in capsys.readouterr().out
    assert main(["run", "own.yaml"]) == 2
    error = capsys.readouterr().err
    assert "unknown algorithm 'my-own'; plugins: my_own_plugin.py is not loaded: add --" in error
    assert "unknown table 'my-table'; plugins: my_own_plugin.py is not loaded" in error


def test_names_are_faults_where_no_plugin_is_stated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.yaml").write_text(CONFIG)
    assert main(["check", "own.yaml"]) == 2
    assert "own.yaml:3:21: algorithms.0.name: unknown algorithm 'my-own'" in capsys.readouterr().err


def test_cells_of_plugins_that_are_not_loaded_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """2 + 1 instances, 1 + 3 algorithms and 2 seeds: 24 cells, 2 of them of known names."""
    monkeypatch.chdir(tmp_path)
    Path("own.yaml").write_text(
        "experiment: own\nplugins: [mine.py]\nseeds: [0, 1]\n"
        "problems:\n- {dataset: my-data, instances: [a, b]}\n"
        "- {dataset: maxcut, instances: [torus-3x3]}\n"
        "algorithms:\n- {name: perceptron}\n- {name: my-own, grid: {k: [1, 2, 3]}}\n"
    )
    assert main(["check", "own.yaml"]) == 0
    assert capsys.readouterr().out.startswith(
        "own.yaml: ok, 24 cells; not checked, of plugins mine"
    )
