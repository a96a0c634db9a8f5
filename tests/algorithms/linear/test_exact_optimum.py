"""Exact optima against a simplex method in fractions, and by their own certificates."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab import Budget, optimum
from perceptron_lab.algorithms.linear.bounded_program import BoundedProgram
from perceptron_lab.algorithms.linear.exact_optimum import ExactOptimum, minimised
from perceptron_lab.algorithms.linear.linear_optimum import OptimumFields
from perceptron_lab.algorithms.linear.linear_result import LinearResult
from perceptron_lab.algorithms.linear.proofs import LinearProof, combination, contradiction, faults
from perceptron_lab.algorithms.linear.refinement import elastic, recession
from perceptron_lab.cli.main import main
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import Status
from perceptron_lab.core.time_limit import TimeIsUp
from perceptron_lab.datasets.collections.problem_files import read_system
from perceptron_lab.exact.checker import checker
from perceptron_lab.systems.conditions import LinearObjective
from perceptron_lab.systems.linear_system import LinearSystem, linear_system
from tests.algorithms.linear.random_programs import (
    Costs,
    is_bounded,
    larger_program,
    random_program,
)
from tests.repetitions import repeated, thinned

ONE = Fraction(1)


def check(system: LinearSystem, costs: Costs, optimum: ExactOptimum) -> None:
    """Assert that the numbers of an optimum prove it, on the conditions as given."""
    if optimum.status is Status.INFEASIBLE:
        assert contradiction(system, optimum.weights) is not None
        return
    assert optimum.point is not None
    assert system.violation(optimum.point) == 0
    value = sum((cost * optimum.point[j] for j, cost in costs.items()), Fraction(0))
    assert value == optimum.upper
    if optimum.status is Status.UNBOUNDED:
        ray = optimum.ray
        assert ray is not None
        assert sum(cost * ray[j] for j, cost in costs.items()) < 0
        far = tuple(x + 10**30 * r for x, r in zip(optimum.point, ray, strict=True))
        assert system.violation(far) == 0
        return
    assert optimum.status is Status.FEASIBLE
    assert all(w > 0 or system.conditions[k].equation for k, w in optimum.weights.items())
    assert combination(system, optimum.weights) == (costs, value)
    assert optimum.lower == value


@pytest.mark.parametrize("block", repeated(range(20), kept=1))
def test_small_programs_are_decided_as_by_a_simplex_method_in_fractions(block: int) -> None:
    for seed in range(20 * block, 20 * block + 20):
        system, costs = random_program(seed)
        optimum = minimised(system.system(), costs)
        check(system.system(), costs, optimum)
        assert (optimum.status is Status.INFEASIBLE) == (not system.has_a_point()), seed
        if optimum.status is not Status.INFEASIBLE:
            assert (optimum.status is Status.FEASIBLE) == is_bounded(system, costs), seed


@pytest.mark.parametrize(
    "seeds",
    repeated([pytest.param(range(1000, 1010)), pytest.param(range(1010, 1100))], kept=1),
    ids=str,
)
def test_auxiliary_programs_prove_what_no_basis_of_highs_does(
    seeds: range, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without pivots of the first bases: the elastic program, and that of directions."""
    monkeypatch.setattr("perceptron_lab.algorithms.linear.refinement._FEW", 0)
    for seed in seeds:
        given, costs = random_program(seed)
        answer = minimised(given.system(), costs)
        check(given.system(), costs, answer)
        assert (answer.status is Status.INFEASIBLE) == (not given.has_a_point()), seed
        rays = recession(given.system())
        descent = minimised(rays, costs)
        assert descent.value is not None
        assert (descent.value < 0) == (not is_bounded(given, costs)), seed
        total, _ = elastic(given.system())
        least = minimised(total, dict.fromkeys(range(len(given.lower), total.unknowns), ONE))
        assert least.status is Status.FEASIBLE or (
            BoundedProgram.of(given.system(), {}).contradiction() is not None
        )
        if least.status is Status.FEASIBLE:
            assert (least.value == 0) == given.has_a_point(), seed


MODEL = """\\ the optimum 16/3 of a maximum
maximize
 obj: x + 2 y + 3
subject to
 c1: x + 3 y <= 3
 {more}
bounds
 x <= 1
end
"""


def model(folder: Path, more: str = "") -> Path:
    path = folder / "model.lp"
    path.write_text(MODEL.format(more=more), encoding="utf-8")
    return path


def test_a_maximum_with_a_constant_is_exact(tmp_path: Path) -> None:
    result = optimum(model(tmp_path))
    assert result.status is Status.FEASIBLE
    assert result.certificate["optimum_exact"] == "16/3"
    assert result.optimum_lower is not None
    assert result.optimum_upper is not None
    assert Fraction(result.optimum_lower) <= Fraction(16, 3) <= Fraction(result.optimum_upper)
    assert result.goal_reached
    assert result.optimum_width is not None
    assert result.optimum_width < 1e-15


def test_an_infeasible_and_an_unbounded_program_are_proved(tmp_path: Path) -> None:
    result = optimum(model(tmp_path, "c2: x + 3 y >= 3.0000000000001"))
    assert (result.status, result.optimum_lower) == (Status.INFEASIBLE, None)
    system = replace(
        linear_system([[1, -1]], [0], lower=0),
        exact_objective=LinearObjective(((0,), (Fraction(1),)), maximise=True),
    )
    result = optimum(system)
    assert result.status is Status.UNBOUNDED
    assert result.optimum_upper is None
    assert isinstance(result, LinearResult)
    assert faults(system, result.status, result.exact) == []


def test_without_time_there_is_no_optimum(tmp_path: Path) -> None:
    result = optimum(model(tmp_path), budget=Budget(seconds=0.0))
    assert result.status is Status.TIME_LIMIT
    assert result.certificate["optimum_exact"] is None
    assert not result.goal_reached


def test_the_optimum_of_a_file_is_printed_exactly(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["solve", str(model(tmp_path)), "--optimum", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["optimum_exact"] == "16/3"
    assert record["optimum_lower"] <= 16 / 3 <= record["optimum_upper"]
    assert record["certificate"]["notes"] == []


def test_conditions_without_an_objective_have_no_optimum() -> None:
    with pytest.raises(InputError, match="without an objective"):
        optimum(linear_system([[1]], [0]))


@pytest.mark.parametrize("exponent", thinned(range(9, 31), step=7))
def test_gaps_below_every_tolerance_are_seen(exponent: int) -> None:
    """x + y >= 2 and x, y <= 1 up to a gap: infeasible by it, or a single point at gap 0."""
    gap = Fraction(1, 10**exponent)
    for shift, status in ((gap, Status.INFEASIBLE), (-gap, Status.FEASIBLE), (0, Status.FEASIBLE)):
        system = linear_system([[1, 1], [1, -1], [-1, 1]], [2 + shift, 0, 0], upper=1)
        costs = {0: Fraction(1), 1: Fraction(1)}
        answer = minimised(system, costs)
        check(system, costs, answer)
        assert answer.status is status


def certified(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[dict[str, Any], str]:
    """Save, verify and certify the optimum; return the certificate, and its form for VIPR."""
    saved, target = folder / "a.npz", folder / "proof"
    assert main(["solve", str(model(folder)), "--optimum", "--save", str(saved)]) == 0
    assert main(["verify", str(saved)]) == 0
    assert main(["certify", str(saved), "--into", str(target)]) == 0
    assert main(["certify", str(saved), "--into", str(target), "--format", "vipr"]) == 0
    assert "PROVED" in capsys.readouterr().out
    record = json.loads((target / "a.certificate.json").read_text(encoding="utf-8"))
    return record, (target / "a.vipr").read_text(encoding="utf-8")


def test_the_checker_proves_an_optimum_from_both_sides(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record, program = certified(tmp_path, capsys)
    bounds = {claim["claim"]: claim.get("bound") for claim in record["claims"]}
    assert bounds["closed objective at most"] == bounds["objective at least"] == [-7, 3]
    assert "RTP range -7/3 inf" in program
    path = tmp_path / "proof" / "a.certificate.json"
    assert [reason for _, reason in checker().check(path)] == [""] * 3
    for name, worse in (("closed objective at most", [-8, 3]), ("objective at least", [-6, 3])):
        false = [
            claim | {"bound": worse} if claim["claim"] == name else claim
            for claim in record["claims"]
        ]
        path.write_text(json.dumps(record | {"claims": false}), encoding="utf-8")
        assert sum(bool(reason) for _, reason in checker().check(path)) == 1


@pytest.mark.parametrize("field", ["optimum_exact", "linear"])
def test_a_changed_optimum_is_not_verified(field: str, tmp_path: Path) -> None:
    result = optimum(model(tmp_path))
    system = read_system(tmp_path / "model.lp")
    assert isinstance(system, LinearSystem)
    proof = LinearProof.of_json(result.certificate["linear"])
    if field == "linear":
        proof = replace(proof, dual={k: 2 * weight for k, weight in proof.dual.items()})
        assert faults(system, Status.FEASIBLE, proof) != []
    fields = OptimumFields.of(system, Status.FEASIBLE, proof, "a basis of HiGHS")
    assert (fields.exact == "16/3") == (field != "linear")


@pytest.mark.slow
@pytest.mark.parametrize("block", repeated(range(62), kept=1))
def test_larger_programs_are_decided_with_certificates(block: int) -> None:
    for seed in range(4 * block, 4 * block + 4):
        system, costs, infeasible = larger_program(seed)
        answer = minimised(system, costs)
        check(system, costs, answer)
        assert (answer.status is Status.INFEASIBLE) == infeasible, seed
        assert minimised(system, {}).status is (
            Status.INFEASIBLE if infeasible else Status.FEASIBLE
        )


def test_a_chain_of_equations_is_solved_by_substitution() -> None:
    """x_0 = 0 and x_j = x_{j-1} + 1, so that the least x_n is n."""
    count = 1000
    steps = sp.eye_array(count, format="csr") - sp.eye_array(count, k=-1, format="csr")
    right = np.append(0, np.ones(count - 1, dtype=int))
    system = linear_system(np.zeros((0, count)), [], (steps.astype(int), right), lower=0)
    answer = minimised(system, {count - 1: ONE})
    assert answer.value == count - 1
    check(system, {count - 1: ONE}, answer)


def _time_is_up(*_: object) -> None:
    raise TimeIsUp


def test_a_bracket_needs_no_exact_basis(monkeypatch: pytest.MonkeyPatch) -> None:
    """HiGHS's multipliers prove a lower bound where bounds of variables absorb what they miss."""
    monkeypatch.setattr("perceptron_lab.algorithms.linear.exact_basis.ExactBasis.of", _time_is_up)
    rows, right = [[0.3, 0.7, 1000.1], [0.9, 0.1, 3e-5]], [0.7, 0.1]
    costs = {0: Fraction(1, 3), 1: Fraction(7), 2: Fraction(1000)}
    bounded = linear_system(rows, right, lower=0, upper=1)
    bracket = minimised(bounded, costs)
    assert bracket.status is Status.TIME_LIMIT
    assert bracket.lower is not None
    assert combination(bounded, bracket.weights) == (costs, bracket.lower)
    monkeypatch.undo()
    exact = minimised(bounded, costs).value
    assert exact is not None
    assert 0 <= exact - bracket.lower < Fraction(1, 10**6)


def test_a_bracket_needs_neither_highs_nor_pivots(monkeypatch: pytest.MonkeyPatch) -> None:
    """x - y over x + y >= 1 with 0 <= x <= 4, 1 <= y <= 5: bounds alone, then HiGHS's basis."""
    system = linear_system([[1, 1]], [1], lower=[0, 1], upper=[4, 5])
    costs = {0: Fraction(1), 1: Fraction(-1)}
    module = "perceptron_lab.algorithms.linear.refinement"
    with monkeypatch.context() as patched:
        patched.setattr(f"{module}.run_highs", _time_is_up)
        bracket = minimised(system, costs)
    assert (bracket.status, bracket.lower, bracket.upper) == (Status.TIME_LIMIT, -5, -1)
    assert bracket.point == (0, 1)
    assert combination(system, bracket.weights) == (costs, -5)
    monkeypatch.setattr(f"{module}.pivoted", _time_is_up)
    proved = minimised(system, costs)
    assert (proved.status, proved.lower, proved.upper) == (Status.FEASIBLE, -5, -5)
    assert proved.point == (0, 5)
