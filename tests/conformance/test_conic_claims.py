"""No false claim on conic systems of any condition, ill-posed among them, judged in fractions."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from perceptron_lab import solve
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.core.results import Result, Status
from perceptron_lab.datasets.generated.conditioned_cones import ConditionedCones
from perceptron_lab.exact.readings import of_rows
from perceptron_lab.experiments.certifying.exact_claims import CertifiedAnswer, exact_claims
from perceptron_lab.experiments.verification.claims import Claims
from perceptron_lab.numerics.exact_texts import written
from perceptron_lab.systems import ConicSystem
from tests.certificates.exact_margins import rational
from tests.certificates.exact_weights import (
    Vector,
    blocks,
    inner,
    is_infeasible_near,
    lies_in_dual_cone,
)
from tests.conformance.plane_judge import has_interior_point
from tests.conformance.rational_judge import has_solution
from tests.exact.second_checker.check import PROVED, answers
from tests.repetitions import parts

SIDES = ("feasible", "infeasible", "ill-posed")


def drawn(rng: np.random.Generator, family: str, side: str) -> ConditionedCones:
    """Small blocks, and a condition from 0.2 down to 1e-9."""
    shapes: dict[str, dict[str, int]] = {
        "orthant": {"rows": int(rng.integers(4, 9))},
        "second-order": {"blocks": int(rng.integers(2, 4)), "block_size": int(rng.integers(2, 5))},
        "semidefinite": {"blocks": int(rng.integers(1, 3)), "order": int(rng.integers(2, 4))},
        "mixed": {"rows": 2, "blocks": 1, "block_size": int(rng.integers(2, 4)), "order": 2},
    }
    return ConditionedCones(
        family=family,  # type: ignore[arg-type]
        side=side,  # type: ignore[arg-type]
        known=str(rng.choice(["centre", "margin"])),  # type: ignore[arg-type]
        delta=float(f"{0.2 * 10.0 ** rng.uniform(-8, 0):.3g}"),
        dimension=2 + int(rng.integers(0, 2)) if family != "semidefinite" else 2,
        rotated=bool(rng.integers(0, 2)) and side != "feasible",
        **shapes[family],  # type: ignore[arg-type]
    )


def exact_scores(data: np.ndarray, point: np.ndarray) -> Vector:
    unknowns = rational(point)
    return [inner(list(row), unknowns) for row in map(rational, data)]


def is_strictly_inside(system: ConicSystem, data: np.ndarray, point: np.ndarray) -> bool:
    """Whether A*point lies inside every block, in fractions."""
    scores = exact_scores(data, point)
    multiplicity = rational(system.cone.multiplicity)
    weights = [score * factor for score, factor in zip(scores, multiplicity, strict=True)]
    spans = [(part, at) for part, at in blocks(system.cone)]
    rows = all(score > 0 for part, at in spans if isinstance(part, Orthant) for score in scores[at])
    return (
        rows
        and all(any(weights[at]) for _, at in spans)
        and lies_in_dual_cone(system.cone, weights)
    )


def is_true(system: ConicSystem, data: np.ndarray, result: Result) -> bool:
    if result.status is Status.FEASIBLE:
        return is_strictly_inside(system, data, result.point)
    if result.status is not Status.INFEASIBLE:
        return True
    assert result.weights is not None
    if system.cone.of_rows:
        return not has_solution([rational(row) for row in data])
    if data.shape[1] == 2:
        return not has_interior_point(system.cone, data)
    if is_infeasible_near(system.cone, data, result.weights):
        return True
    return has_exact_weights(system, data, result)


def has_exact_weights(system: ConicSystem, data: np.ndarray, result: Result) -> bool:
    """Whether the second checker accepts the exact weights of the answer's certificate.

    Weights on the boundary of a cone leave it when they are projected onto A w = 0 in fractions.
    """
    reading = of_rows(data, system.cone)
    answer = CertifiedAnswer(system, reading, reading.system(), result.point, result.weights)
    claims = exact_claims(Claims(Status.INFEASIBLE, True), answer).claims
    digest = hashlib.sha256(reading.content).hexdigest()
    record = {
        "format": "plab-certificate",
        "version": 2,
        "data": {"file": "rows.npy", "sha256": digest, **reading.fields},
        "claims": claims,
    }
    names = [claim["claim"] for claim in claims]
    certificate = json.dumps(written(record)).encode()
    return names == ["infeasible"] and answers(certificate, reading.content) == [PROVED]


@pytest.mark.parametrize("family", ["orthant", "second-order", "semidefinite", "mixed"])
@pytest.mark.parametrize("seeds", parts(850, kept=2, most=300))
def test_no_claim_is_false(family: str, seeds: range) -> None:
    answers: Counter[tuple[str, Status]] = Counter()
    for seed in seeds:
        rng = np.random.default_rng(seed)
        for side in SIDES:
            record = drawn(rng, family, side)
            sample, system = record.generate(seed), record.problem(seed).system
            result = solve(system, ("auto", "interior-point")[seed % 2])
            assert is_true(system, sample.data, result), (record.name, seed, result.status)
            answers[side, result.status] += 1
    assert answers["feasible", Status.INFEASIBLE] == 0  # the known point was proved
    assert answers["feasible", Status.FEASIBLE] > 0.9 * len(seeds)
    assert answers["infeasible", Status.INFEASIBLE] > 0.5 * len(seeds)


def test_the_reference_check_distinguishes_true_from_false() -> None:
    record = ConditionedCones(family="mixed", rows=2, blocks=1, block_size=2, order=2)
    sample, system = record.generate(0), record.problem(0).system
    assert sample.point is not None
    assert is_strictly_inside(system, sample.data, sample.point)
    assert not is_strictly_inside(system, sample.data, -sample.point)


def test_weights_on_the_boundary_are_proved_for_these_data_alone() -> None:
    rng = np.random.default_rng(14)
    record = [drawn(rng, "second-order", side) for side in SIDES][-1]
    data, system = record.generate(14).data, record.problem(14).system
    result = solve(system)
    assert result.status is Status.INFEASIBLE
    assert not is_infeasible_near(system.cone, data, result.weights)
    assert has_exact_weights(system, data, result)
    assert not has_interior_point(system.cone, data)
    other = data.copy()
    other[0, 0] = np.nextafter(other[0, 0], 1.0)
    assert not has_exact_weights(ConicSystem(Matrix(other), system.cone), other, result)


@pytest.mark.parametrize("family", ["orthant", "second-order", "semidefinite", "mixed"])
def test_the_judge_of_two_unknowns_knows_both_sides(family: str) -> None:
    rng = np.random.default_rng(0)
    for seed in range(3):
        for side, expected in (("feasible", True), ("infeasible", False)):
            record = replace(drawn(rng, family, side), dimension=2)
            cone = record.problem(seed).system.cone
            assert has_interior_point(cone, record.generate(seed).data) is expected


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([[-1.0, 0.0]], True),  # y = (-1, t)
        ([[0.0, 1.0], [1e-300, -1.0]], True),  # y = (1, t), 0 < t < 1e-300
        ([[0.0, 1.0], [-1e-300, -1.0], [1.0, 0.0]], False),
        ([[1.0, 0.0], [-1.0, 0.0]], False),
        ([[0.0, 0.0]], False),
    ],
)
def test_the_judge_of_two_unknowns_decides_rows(rows: list[list[float]], expected: bool) -> None:
    assert has_interior_point(Orthant(len(rows)), np.array(rows)) is expected
