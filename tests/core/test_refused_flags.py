"""Arguments that are true or false take no texts, all of which would count as true."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perceptron_lab import ConicSystem, run, separation, solve, status, verify
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.facts import Facts
from perceptron_lab.datasets.collections.problem_files import read_system
from perceptron_lab.problems.streams.active_perceptron import active_perceptron
from perceptron_lab.problems.streams.mistake_bounds import novikoff_bound
from perceptron_lab.problems.streams.perceptron import online_perceptron

X, Y = [[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]], [1, 0, 1]
CALLS: dict[str, Callable[[Any], object]] = {
    "reflect": lambda flag: active_perceptron(X, Y, reflect=flag),
    "affine of a stream": lambda flag: online_perceptron(X, Y, affine=flag),
    "affine of a bound": lambda flag: novikoff_bound(X, Y, affine=flag),
    "affine of a verdict": lambda flag: separation(X, Y, affine=flag),
    "affine of a system": lambda flag: ConicSystem.from_labelled(X, Y, affine=flag),
    "trace_cuts": lambda flag: solve(X, Y, trace_cuts=flag),
    "unit_rows": lambda flag: Facts(2, 3, unit_rows=flag),
    "drop_missing": lambda flag: read_system(Path("rows.csv"), "y", drop_missing=flag),
    "one_hot": lambda flag: read_system(Path("rows.csv"), "y", one_hot=flag),
    "fresh": lambda flag: run("quickstart", fresh=flag),
    "refresh": lambda flag: run("quickstart", refresh=flag),
    "fail_fast": lambda flag: run("quickstart", fail_fast=flag),
    "certificates": lambda flag: status("results", certificates=flag),
    "exact": lambda flag: verify("answer.npz", exact=flag),
}


@pytest.mark.parametrize("argument", CALLS)
def test_a_text_is_no_truth_value(
    argument: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name = argument.split()[0]
    with pytest.raises(InputError, match=rf"^{name}='no'; allowed: true or false$"):
        CALLS[argument]("no")


def test_truth_values_of_numpy_are_truth_values() -> None:
    assert active_perceptron(X, Y, reflect=np.bool_(False)).presentations == 3
