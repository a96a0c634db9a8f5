"""Lower bounds of any program by exactly feasible dual points, for both checkers."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from copy import deepcopy
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perceptron_lab.exact.checker import checker
from perceptron_lab.exact.weights import vipr_text
from perceptron_lab.experiments.certifying.certify import CertificationStatus, certify
from tests.exact.certificates_on_disk import as_number
from tests.exact.viprchk import accepted, viprchk, viprchk_output
from tests.experiments.certified import certified
from tests.repetitions import repeated

LINEAR = """3
1
-5
1.0 2.5 -0.3
0 1 1 1 1.0
1 1 1 1 1.0
2 1 1 1 0.7
1 1 2 2 -1.0
0 1 2 2 -10.0
2 1 3 3 1
0 1 3 3 -4
3 1 4 4 1
2 1 4 4 -0.1
0 1 4 4 -3
3 1 5 5 -1
1 1 5 5 0.5
0 1 5 5 -2.5
"""
# Lovasz's number of the cycle of five: min t with t I + (entries of edges) - J semidefinite
PENTAGON = "6\n1\n5\n1 0 0 0 0 0\n"
PENTAGON += "".join(f"0 1 {i} {j} 1\n" for i in range(1, 6) for j in range(i, 6))
PENTAGON += "".join(f"1 1 {i} {i} 1\n" for i in range(1, 6))
PENTAGON += "".join(f"{k + 1} 1 {k} {k + 1} 1\n" for k in range(1, 5)) + "6 1 1 5 1\n"
# <vv', X> = 0 for v = (1, 1, 1), and trace X = 1: the largest eigenvalue of F_0 beside v
FACE = "2\n1\n3\n0 1\n0 1 1 1 1\n0 1 2 2 2\n0 1 3 3 4\n"
FACE += "".join(f"1 1 {i} {j} 1\n" for i in range(1, 4) for j in range(i, 4))
FACE += "2 1 1 1 1\n2 1 2 2 1\n2 1 3 3 1\n"
_BESIDE = np.linalg.svd(np.ones((1, 3)))[2][1:]
CLARABEL = {"name": "verified-solver", "parameters": {"solver": "clarabel"}}
BISECTION = {"name": "objective-bisection", "parameters": {"method": "ellipsoid"}}
LARGEST = float(np.linalg.eigvalsh(_BESIDE @ np.diag([1.0, 2.0, 4.0]) @ _BESIDE.T)[-1])
CASES: dict[str, tuple[str, dict[str, Any], float]] = {
    "linear": (LINEAR, CLARABEL, -7.52),
    "pentagon": (PENTAGON, CLARABEL, math.sqrt(5.0)),
    "face": (FACE, CLARABEL, LARGEST),
    "levels": (FACE, BISECTION, LARGEST),
    "levels of the pentagon": (PENTAGON, BISECTION, math.sqrt(5.0)),
}

every_case = pytest.mark.parametrize("name", repeated(CASES, kept=4))


Certificate = tuple[dict[str, Any], Any, float]


@pytest.fixture(scope="module")
def certificate_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Certificate]:
    return cache(lambda name: certificate_in(tmp_path_factory.mktemp("dual_points"), name))


def certificate_in(folder: Path, name: str) -> Certificate:
    """Return the certificate of an optimum, the checker's system, and what the optimum is."""
    text, algorithm, optimum = CASES[name]
    (folder / "p.dat-s").write_text(text)
    problem = {"dataset": "sdpa", "files": ["p.dat-s"]}
    path = certified(folder, problem, algorithm, goal={"width": 1e-6})
    (cell,) = certify(path, folder / "exact").cells
    assert cell.outcome is CertificationStatus.CERTIFIED, cell
    assert not cell.message, cell
    assert cell.claims == ("objective at most", "objective at least"), cell
    assert cell.path is not None
    assert checker().main([cell.path, str(folder / "p.dat-s")]) == 0
    record = json.loads(Path(cell.path).read_bytes())
    return record, checker().sdpa_system(text.encode(), record["data"]), optimum


@pytest.mark.slow
@every_case
def test_both_sides_of_an_optimum_are_proved(
    name: str, certificate_of: Callable[[str], Certificate]
) -> None:
    record, _, optimum = certificate_of(name)
    upper, lower = (Fraction(*map(as_number, claim["bound"])) for claim in record["claims"])
    assert lower <= upper
    assert float(upper - lower) <= 3e-6 * max(1.0, abs(optimum))
    assert float(lower) <= optimum + 1e-12 <= float(upper) + 1e-11


@pytest.mark.parametrize("name", ["linear", "face"])
def test_a_lower_bound_of_another_objective_or_unit_is_refused(
    name: str, certificate_of: Callable[[str], Certificate]
) -> None:
    record, system, _ = certificate_of(name)
    claim = record["claims"][1]
    checker().check_claim(system, claim)
    forged: list[dict[str, Any]] = []
    p, q = (as_number(part) for part in claim["bound"])
    reached = claim | {"bound": [p * 10**6 + abs(p) + q, q * 10**6]}
    forged += [reached, claim | {"unit": as_number(claim["unit"]) + 1}]
    changed = deepcopy(claim)
    numbers = changed["weights"][1][0 if name == "face" else 1]
    numbers[0] = as_number(numbers[0]) + 1
    forged.append(changed)
    for forgery in forged:
        with pytest.raises(checker().Refuted):
            checker().check_claim(system, forgery)


@every_case
def test_a_lower_bound_is_a_linear_proof(
    name: str, tmp_path: Path, certificate_of: Callable[[str], Certificate]
) -> None:
    record, system, _ = certificate_of(name)
    text = vipr_text(system, record["claims"][1])
    assert text is not None
    assert f"VAR {system.width - 1}\n" in text
    assert accepted(text)
    assert not viprchk() or viprchk_output(text, tmp_path) is not None


def test_a_program_whose_dual_has_no_interior_is_reported(tmp_path: Path) -> None:
    (tmp_path / "p.dat-s").write_text(LINEAR)
    problem = {"dataset": "sdpa", "files": ["p.dat-s"]}
    path = certified(tmp_path, problem, CLARABEL, goal={"width": 1e-6})
    with np.load(path) as archive:
        arrays = dict(archive)
    (name,) = (array for array in arrays if array.endswith("dual"))
    arrays[name] = np.zeros_like(arrays[name])  # no X at all
    np.savez(path, **arrays)
    (cell,) = certify(path, tmp_path / "exact").cells
    assert cell.claims == ("objective at most",)
    assert "optimum_lower: no exactly feasible dual point" in cell.message
