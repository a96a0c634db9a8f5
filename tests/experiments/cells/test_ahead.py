"""A server that is started ahead has loaded what the configuration names, and is ended."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from perceptron_lab.cli.main import main
from perceptron_lab.core.registry import register
from perceptron_lab.experiments.cells import server_handle
from perceptron_lab.experiments.cells.server_handle import ForkServer
from perceptron_lab.experiments.configuration.yaml_source import parse
from tests.experiments.processes import alive

# What the tests of commands stand in for.
started_ahead = server_handle.started_ahead

CONFIG = """\
experiment: small
problems:
  - {dataset: margin-sets, family: gaussian, dimension: 4, rows: 3}
algorithms:
  - {name: perceptron}
  - {name: nnls}
"""


class Recorded(ForkServer):
    """A server that is not started."""

    made: list[Recorded]

    def start(self) -> None:
        self.started = True
        Recorded.made.append(self)


@pytest.fixture
def started_servers(monkeypatch: pytest.MonkeyPatch) -> list[Recorded]:
    Recorded.made = []
    monkeypatch.setattr(server_handle, "ForkServer", Recorded)
    return Recorded.made


def config(folder: Path, text: str = CONFIG) -> str:
    path = folder / "small.yaml"
    path.write_text(text)
    return str(path)


def test_declared_modules_are_loaded(started_servers: list[Recorded]) -> None:
    server = started_ahead([parse("small.yaml", CONFIG)])
    assert started_servers == [server]
    assert server is not None
    assert server.has_loaded(
        [
            "perceptron_lab.algorithms.external.scipy_solvers",
            "perceptron_lab.datasets.generated.margin_sets",
        ]
    )
    assert server.has_loaded(["perceptron_lab.cones.orthant"])  # any server has
    assert not server.has_loaded(["perceptron_lab.algorithms.external.linear_models"])
    assert not server.has_loaded(["perceptron_lab.algorithms"])


def test_modules_named_by_parameters_are_loaded(started_servers: list[Recorded]) -> None:
    entry = "{name: whitened, parameters: {algorithm: von-neumann}}"
    server = started_ahead([parse("small.yaml", CONFIG.replace("{name: nnls}", entry))])
    assert server is not None
    named = [
        "perceptron_lab.algorithms.rescaling.whitened",
        "perceptron_lab.algorithms.nearest_point.most_violated",
    ]
    assert server.has_loaded(named)


def test_the_module_of_a_class_of_a_user_is_loaded(
    started_servers: list[Recorded], user_registrations: None
) -> None:
    register("algorithm", "mine", Recorded)
    server = started_ahead([parse("small.yaml", CONFIG.replace("nnls", "mine"))])
    assert server is not None
    assert server.has_loaded([__name__])


@pytest.mark.parametrize(
    "text", ["", "[1, 2]", "problems: 3", "problems: [x, {dataset: 3}]", "algorithms: [{name: no}]"]
)
def test_unknown_names_are_left_to_later_checks(text: str, started_servers: list[Recorded]) -> None:
    server = started_ahead([parse("small.yaml", text)])
    assert server is not None
    assert not server.has_loaded(["perceptron_lab.algorithms.external.scipy_solvers"])


def test_no_file_no_server(
    tmp_path: Path, started_servers: list[Recorded], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_handle, "started_ahead", started_ahead)
    assert main(["run", str(tmp_path / "none.yaml")]) == 2
    assert started_servers == []


@pytest.mark.parametrize("more", [["--dry-run"], ["--executor", "dask", "--jobs", "0"]])
def test_where_no_server_is_needed(
    more: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(configs: Any) -> None:
        raise AssertionError("a server was started")

    monkeypatch.setattr(server_handle, "started_ahead", refused)
    assert main(["run", config(tmp_path), "--output", str(tmp_path), *more]) in (0, 2)


@pytest.mark.parametrize("text", [CONFIG, CONFIG.replace("nnls", "perceptrn"), "experiment: 1"])
def test_the_server_is_closed_after_any_error(
    text: str, tmp_path: Path, started_servers: list[Recorded], monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = []
    monkeypatch.setattr(server_handle, "started_ahead", started_ahead)
    monkeypatch.setattr(Recorded, "close", lambda server: closed.append(server))
    monkeypatch.setattr(Recorded, "has_loaded", lambda server, modules: False)
    code = main(["run", config(tmp_path, text), "--output", str(tmp_path), "-q"])
    assert (code, len(started_servers)) == (0 if text == CONFIG else 2, 1)
    assert closed == started_servers


@pytest.mark.slow
def test_a_command_runs_its_cells_in_the_server_that_was_started_ahead(tmp_path: Path) -> None:
    code = f"""
import sys
from perceptron_lab.cli.main import main
from perceptron_lab.experiments.cells.server_handle import ForkServer
start, started = ForkServer.start, []
def counted(server):
    if server.process_id is None:
        started.append(server)
    start(server)
ForkServer.start = counted
before = "numpy" in sys.modules
code = main(["run", {config(tmp_path)!r}, "--output", {str(tmp_path)!r}, "-q"])
print(before, code, len(started), len({{id(one) for one in started}}), started[0].process_id)
"""
    completed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert completed.stdout.split() == ["False", "0", "1", "1", "None"], completed.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_a_server_that_is_loading_dies_with_its_parent(tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text("import time\ntime.sleep(600)\n")
    code = f"""
import os, signal, sys, time
from pathlib import Path
from perceptron_lab.experiments.cells.server_handle import ForkServer
sys.path.insert(0, {str(tmp_path)!r})
server = ForkServer()
server.start()
print(server.process_id, flush=True)
time.sleep(600)
"""
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    with parent.stdout:
        server = int(parent.stdout.readline())
        maps = Path(f"/proc/{server}/maps")
        waiting = until(lambda: "_ctypes" in maps.read_text())  # it has come as far as that
        parent.kill()
        parent.wait()
    assert waiting
    assert until(lambda: not alive(server))


def until(true: Callable[[], bool]) -> bool:
    """Wait for something, a minute at most."""
    end = time.monotonic() + 60.0
    while not (condition := true()) and time.monotonic() < end:
        time.sleep(0.05)
    return condition
