"""A run in a notebook's kernel, which is simulated: IPython and its widgets are stood in for."""

from __future__ import annotations

import builtins
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from perceptron_lab import run
from perceptron_lab.experiments.cells.progress import Progress
from perceptron_lab.experiments.running.progress_lines import notebook_progress

CONFIG = {
    "experiment": "small",
    "problems": [{"dataset": "maxcut", "instances": ["random-8-12", "torus-3x4"]}],
    "algorithms": [{"name": "ellipsoid", "label": "EA"}],
}


class ZMQInteractiveShell:
    """The shell of a notebook's kernel is known by this name."""


class Output:
    """The widget that rich draws its bar in."""

    def __enter__(self) -> Output:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def clear_output(self, wait: bool = False) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


@pytest.fixture
def displays(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the notebook shows, as text."""
    displays: list[str] = []

    def display(*things: Any, **_: Any) -> None:
        for thing in things:
            bundle = getattr(thing, "_repr_mimebundle_", None)
            displays.append(bundle((), ())["text/plain"] if bundle else f"widget {type(thing)}")

    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(builtins, "get_ipython", ZMQInteractiveShell, raising=False)
    modules = {name: ModuleType(name) for name in ("IPython", "IPython.display")}
    modules["IPython.display"].display = display  # type: ignore[attr-defined]
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    return displays


@pytest.fixture
def widgets(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("ipywidgets")
    module.__spec__ = ModuleSpec("ipywidgets", None)
    module.Output = Output  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ipywidgets", module)


@pytest.mark.slow
@pytest.mark.usefixtures("widgets")
def test_a_bar_is_shown_and_no_line_for_each_cell(displays: list[str], tmp_path: Path) -> None:
    run(CONFIG, output=tmp_path)
    assert any("small" in text and "/2" in text for text in displays)
    assert not any("FEASIBLE" in text for text in displays)


@pytest.mark.slow
def test_without_widgets_there_are_lines(
    displays: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ipywidgets", None)  # also where it is installed
    run(CONFIG, output=tmp_path)
    lines = "".join(displays).splitlines()
    assert [line.split("  ")[:5] for line in lines] == [
        ["[1/2]", "random-8-12", "EA", "seed 0", "FEASIBLE"],
        ["[2/2]", "torus-3x4", "EA", "seed 0", "FEASIBLE"],
    ]


@pytest.mark.slow
@pytest.mark.usefixtures("widgets")
def test_progress_of_a_user_replaces_the_bar(displays: list[str], tmp_path: Path) -> None:
    run(CONFIG, output=tmp_path, progress=Progress())
    assert not displays


def test_a_script_has_no_bar(capsys: pytest.CaptureFixture[str]) -> None:
    assert notebook_progress("small") is None
    assert capsys.readouterr() == ("", "")
