"""An algorithm from another one's answer: its start, its proofs, and the errors that it states."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from perceptron_lab import Budget, ConicSystem, solve
from perceptron_lab.algorithms.external.direct import ScsDirect
from perceptron_lab.algorithms.external.largest_margin import ERRORS, LargestMargin
from perceptron_lab.algorithms.external.postprocessed import STARTED, Postprocessed
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.core.claims import UNPROVED
from perceptron_lab.core.errors import ConfigError, NumericalError
from perceptron_lab.core.results import FloatArray, Result, Status
from perceptron_lab.datasets.generated.conditioned_cones import ConditionedCones
from tests.families import planted
from tests.repetitions import repeated

SHAPES: dict[str, dict[str, int]] = {
    "orthant": {"rows": 20},
    "second-order": {"blocks": 4, "block_size": 4},
    "semidefinite": {"blocks": 2, "order": 4},
    "mixed": {"rows": 4, "blocks": 1, "block_size": 3, "order": 3},
}


def system_of(family: str, side: str, delta: float, seed: int = 0) -> ConicSystem:
    dataset = ConditionedCones(family=family, side=side, delta=delta, **SHAPES[family])  # type: ignore[arg-type]
    return dataset.problem(seed).system


def errors(result: Result, prefix: str = UNPROVED) -> list[float]:
    figures = result.certificate["figures"]
    return [figures[name.replace(UNPROVED, prefix, 1)] for name in ERRORS]


def matrix_of(part: Any, entries: FloatArray) -> FloatArray:
    """An element of a cone's block as a symmetric matrix that is semidefinite where it is in K."""
    if isinstance(part, Orthant):
        return np.diag(entries)
    if isinstance(part, SecondOrder):
        arrow = entries[-1] * np.eye(len(entries))
        arrow[-1, :-1] = arrow[:-1, -1] = entries[:-1]
        return arrow
    matrix = np.zeros((part.rank, part.rank))
    matrix[part.rows, part.columns] = matrix[part.columns, part.rows] = entries
    return matrix


def lowest(parts: list[Any], element: FloatArray) -> float:
    return min(np.linalg.eigvalsh(matrix_of(part, element[at]))[0] for part, at in parts)


@pytest.mark.parametrize("family", SHAPES)
@pytest.mark.parametrize("seed", repeated(range(20), kept=2))
def test_errors_are_those_of_their_definition(family: str, seed: int) -> None:
    """Of any answer, recomputed: b, C and A of the program written out, eigenvalues by LAPACK."""
    rng = np.random.default_rng(seed)
    system = system_of(family, "feasible", 0.1).completed()
    program = LargestMargin(system)
    cone, n = system.cone, system.dimension
    data, e = np.asarray(program.data), cone.identity
    answer = program.answer_of(rng.standard_normal(n), rng.standard_normal(cone.size))
    answer = type(answer)(
        **{
            name: np.asarray(value) + 0.1 * rng.standard_normal(np.shape(value))
            if name != "top"
            else value + 0.05
            for name, value in vars(answer).items()
        }
    )
    # max b'z with Z = C - A'z: z = (y, t), A' = -(A*, -e; I, 0; 0, 0), C = (0; 0, 1), b = (0, 1)
    rows = np.vstack([np.column_stack([-data, e]), -np.eye(n + 1)])
    rows[-1] = 0.0
    constant, objective = np.zeros(len(rows)), np.zeros(n + 1)
    constant[-1] = objective[-1] = 1.0
    z = np.append(answer.point, answer.top)
    x, slack = np.append(answer.weights, answer.pull), np.append(answer.slack, answer.ball)
    lengths = np.sqrt(np.append(cone.multiplicity, np.ones(n + 1)))
    blocks = [*cone.blocks, (SecondOrder(n + 1), slice(cone.size, len(rows)))]
    primal, dual = constant @ x, objective @ z
    expected = [
        np.linalg.norm(rows.T @ x - objective) / (1.0 + np.linalg.norm(objective)),
        max(0.0, -lowest(blocks, x / lengths**2)) / (1.0 + np.linalg.norm(objective)),
        np.linalg.norm(lengths * (rows @ z + slack - constant)) / (1.0 + np.linalg.norm(constant)),
        max(0.0, -lowest(blocks, slack)) / (1.0 + np.linalg.norm(constant)),
        (primal - dual) / (1.0 + abs(primal) + abs(dual)),
        (x @ slack) / (1.0 + abs(primal) + abs(dual)),
    ]
    figures = program.figures(answer)
    assert [figures[name] for name in ERRORS] == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("family", SHAPES)
@pytest.mark.parametrize("side", ["feasible", "infeasible"])
def test_an_unverified_answer_is_postprocessed_to_a_verified_one(family: str, side: str) -> None:
    """SCS at its own tolerance, on systems whose condition is below it."""
    system = system_of(family, side, 1e-4)
    result = solve(system, Postprocessed(first="scs-direct", algorithm="auto"))
    assert result.status is {"feasible": Status.FEASIBLE, "infeasible": Status.INFEASIBLE}[side]
    assert result.certificate["notes"][0].startswith("scs-direct 3.")
    assert "from its point" in result.certificate["notes"][0]
    before, after = errors(result, STARTED), errors(result)
    answer = solve(system, ScsDirect(epsilon=1e-9))
    assert before == pytest.approx(errors(answer))
    assert max(abs(error) for error in after[:4]) <= 1e-14
    assert after[4] >= -1e-14  # a true gap: neither side leaves its cone
    assert after[4] == pytest.approx(after[5], abs=1e-13)


def test_a_feasible_answer_is_proved_without_an_update_of_the_second() -> None:
    rows, _ = planted(5, 40, 0.1, np.random.default_rng(0))
    for algorithm in ("ellipsoid", "interior-point", "perceptron-with-margin"):
        result = solve(rows, Postprocessed(first="clarabel-direct", algorithm=algorithm))
        assert result.status is Status.FEASIBLE
        assert result.updates == 1  # the solver's
        direct = solve(rows, "clarabel-direct")
        assert np.array_equal(result.point, direct.point)


def test_the_first_stage_may_be_an_algorithm_of_this_package_and_is_stopped() -> None:
    rows, _ = planted(5, 40, 0.01, np.random.default_rng(0))
    record = Postprocessed(first="perceptron", updates=7, algorithm="rescaled-perceptron")
    result = solve(rows, record)
    assert result.status is Status.FEASIBLE
    assert result.certificate["notes"][0] == (
        "perceptron has answered, after 7 updates; then rescaled-perceptron from its point"
    )
    assert result.trace.phase[0] == "perceptron"
    assert result.trace.phase[-1] == "rescaled-perceptron"
    short = solve(rows, record, budget=Budget(updates=4))
    assert (short.status, short.updates) == (Status.UPDATE_LIMIT, 4)


def test_without_an_answer_of_the_first_stage_the_second_uses_its_default_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows, _ = planted(4, 20, 0.1, np.random.default_rng(0))

    def silent(*_: Any) -> Any:
        raise NumericalError("it is asleep")

    monkeypatch.setattr(ScsDirect, "ask", silent)
    result = solve(rows, Postprocessed(algorithm="perceptron"))
    assert result.status is Status.FEASIBLE
    assert result.certificate["notes"][0] == (
        "scs-direct gives no answer (it is asleep), after 1 update; then perceptron from its own "
        "start"
    )
    assert not any(name.startswith(STARTED) for name in result.certificate["figures"])
    monkeypatch.setattr(ScsDirect, "ask", lambda self, system, state: None)  # at 0 as before
    assert "from its own start" in solve(rows, Postprocessed()).certificate["notes"][0]


def test_names_and_parameters_are_refused_in_its_words() -> None:
    for parameters, message in (
        ({"algorithm": "von-neumann"}, "von-neumann has its own starting point; choose"),
        ({"first": "scz"}, "unknown algorithm 'scz'"),
        ({"first_parameters": {"tolerence": 1}}, "the first scs-direct has no parameter 'tole"),
        ({"parameters": {"epsilon": -1.0}}, "parameters of the second auto"),
    ):
        with pytest.raises(ConfigError, match=message):
            Postprocessed(**parameters)  # type: ignore[arg-type]


def test_the_last_answer_is_the_best_of_both() -> None:
    """An ellipsoid method without weights keeps the solver's bound; its own point is the better."""
    system = system_of("second-order", "feasible", 1e-2)
    result = solve(system, Postprocessed(first="clarabel-direct", algorithm="ellipsoid"))
    after = errors(result)
    assert result.status is Status.FEASIBLE
    assert math.isfinite(after[4])
    assert after[4] < 1e-5


@pytest.mark.parametrize("algorithm", ["ellipsoid", "perceptron", "projection-rescaling", "auto"])
def test_the_second_begins_on_the_ray_of_the_first_answer(algorithm: str) -> None:
    system = system_of("second-order", "infeasible", 1e-3)
    recorded: list[FloatArray] = []
    record = Postprocessed(first="scs-direct", algorithm=algorithm)
    solve(
        system,
        record,
        budget=Budget(updates=1),
        observe=lambda point: recorded.append(point.copy()) or {},  # type: ignore[func-returns-value]
    )
    interior = solve(system, ScsDirect(epsilon=1e-9)).point
    last = recorded[-1] / np.linalg.norm(recorded[-1])
    assert last == pytest.approx(interior / np.linalg.norm(interior))
