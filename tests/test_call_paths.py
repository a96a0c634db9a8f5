"""Calls go down through the packages: none is entered twice on the way, but by a callback."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

from perceptron_lab import solve
from perceptron_lab.cli.main import main
from scripts.import_graph import PACKAGE

CALLBACKS = {
    "_driven": "a system says how it is driven: rows and cones by the driver that asks",
    "_stopping.<locals>.<lambda>": "long loops ask whether the run is to stop",
    "Interrupt.asked": "and whether Ctrl-C was pressed",
    "_Lines.started": "progress is told of each cell",
    "_Lines.ended": "and of those that failed",
    "_Lines.__exit__": "and of the end",
    "make_report": "a run ends with its report, of the rows that it has",
}
"""Functions that are handed down to be called from below, with the reason."""
PROGRAM = """2 = mdim
1 = nblocks
2
1.0 1.0
0 1 1 1 -1.0
0 1 2 2 -1.0
1 1 1 1 1.0
2 1 1 2 1.0
"""
CONFIG = """
experiment: small
problems: [{dataset: maxcut, instances: [torus-3x3]}]
algorithms: [{name: perceptron}]
"""


@cache
def package_of(file: str) -> str:
    """Return the part of the package that a file is in; empty for others."""
    inside = file.startswith(f"{PACKAGE}/")
    return file.removeprefix(f"{PACKAGE}/").partition("/")[0] if inside else ""


def paths_of(call: Callable[[], Any]) -> dict[tuple[str, ...], str]:
    """Return the packages on the stack of each call, from the last callback on; imports apart."""
    paths: dict[tuple[str, ...], str] = {}

    def entered(frame: FrameType, event: str, argument: object) -> None:
        if event != "call" or not package_of(frame.f_code.co_filename):
            return
        stack: list[str] = []
        above: FrameType | None = frame
        while above is not None:
            package = package_of(above.f_code.co_filename)
            if "importlib" in above.f_code.co_filename:
                return
            if package and stack[-1:] != [package]:
                stack.append(package)
            if package and above.f_code.co_qualname in CALLBACKS:
                break
            above = above.f_back
        paths.setdefault(tuple(reversed(stack)), frame.f_code.co_qualname)

    sys.setprofile(entered)
    try:
        call()
    finally:
        sys.setprofile(None)
    return paths


def plab(*words: str) -> None:
    with suppress(SystemExit):
        main(list(words))


CALLS: dict[str, tuple[Callable[[], Any], set[str]]] = {
    "plab run": (lambda: plab("run", "small.yaml"), {"cli", "experiments", "reporting"}),
    "solve(rows)": (
        lambda: solve(np.array([[1.0, 2.0], [3.0, -1.0]])),
        {"solving", "systems", "algorithms", "certificates"},
    ),
    "plab verify": (
        lambda: plab("verify", "results/small"),
        {"cli", "experiments", "datasets", "certificates"},
    ),
    "plab solve program.dat-s": (
        lambda: plab("solve", "program.dat-s"),
        {"cli", "datasets", "solving", "systems", "algorithms", "certificates", "cones"},
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_no_package_is_entered_twice(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("small.yaml").write_text(CONFIG, encoding="utf-8")
    Path("program.dat-s").write_text(PROGRAM, encoding="utf-8")
    if name == "plab verify":
        plab("run", "small.yaml", "-q")
    call, passed = CALLS[name]
    paths = paths_of(call)
    capsys.readouterr()
    assert passed <= {path[-1] for path in paths}
    twice = {path: function for path, function in paths.items() if len(set(path)) < len(path)}
    assert twice == {}


def test_a_package_entered_twice_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(CALLBACKS, "_driven")
    paths = paths_of(lambda: solve(np.eye(2)))
    assert ("solving", "systems", "solving") in paths
