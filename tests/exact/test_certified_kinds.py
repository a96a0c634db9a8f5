"""Certificates of kernels, learners and linear conditions: what their rows claim is proved."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perceptron_lab import ConicSystem, solve
from perceptron_lab.cones.operators.kernels import Rbf
from perceptron_lab.core.results import Status
from perceptron_lab.exact.checker import checker
from perceptron_lab.exact.ellipsoid_ratio import semidefinite_factor
from perceptron_lab.exact.readings import of_system
from perceptron_lab.experiments.certifying.certify import (
    CertificationStatus,
    CertifiedCell,
    certify,
)
from perceptron_lab.experiments.certifying.exact_claims import CertifiedAnswer, exact_claims
from perceptron_lab.experiments.storage.certificate_files import read_certificate
from perceptron_lab.experiments.verification.claims import Claims
from tests.exact.certificates_on_disk import as_number
from tests.experiments.certified import CELLS, KERNEL, LEARNER, SEPARABLE, certified

BRACKET = ["feasible", "margin at least", "margin at most"]


def certified_cell(path: Path) -> tuple[CertifiedCell, list[dict[str, Any]]]:
    """Return the outcome of a cell that is certified, and the claims of its file."""
    (cell,) = certify(path, path.parent / "exact").cells
    assert cell.outcome is CertificationStatus.CERTIFIED, cell
    assert cell.path is not None
    assert checker().main([cell.path]) == 0
    claims: list[dict[str, Any]] = json.loads(Path(cell.path).read_bytes())["claims"]
    assert [claim["claim"] for claim in claims] == list(cell.claims)
    return cell, claims


def bounds_of(claims: list[dict[str, Any]]) -> list[Fraction]:
    return [Fraction(*map(as_number, claim["bound"])) for claim in claims if "bound" in claim]


@pytest.mark.parametrize("name", ["kernel", "kernel in coordinates"])
def test_the_margin_of_a_stored_kernel_matrix_is_bracketed(name: str, tmp_path: Path) -> None:
    problem, algorithm, more, _ = CELLS[name]
    path = certified(tmp_path, problem, algorithm, **more)
    cell, claims = certified_cell(path)
    assert list(cell.claims) == BRACKET
    assert not cell.message
    stored = read_certificate(path)
    assert bounds_of(claims) == [Fraction(stored.margin_lower), Fraction(stored.margin_upper)]
    assert cell.data is not None
    matrix = np.load(cell.data)
    assert np.array_equal(matrix, matrix.T)


def test_examples_of_both_classes_make_a_kernel_infeasible() -> None:
    examples, labels = [[0.5], [1.5], [0.5], [3.0]], [-1, 1, 1, -1]
    system = ConicSystem.from_kernel(Rbf(gamma=0.5), examples, labels)
    result = solve(system, "minimum-norm-point")
    assert result.status is Status.INFEASIBLE
    reading = of_system(system)
    answer = CertifiedAnswer(system, reading, reading.system(), result.point, result.weights)
    exact = exact_claims(Claims(Status.INFEASIBLE, True), answer)
    assert not exact.missing
    ((indices, weights),) = exact.claims[0]["weights"]
    assert sorted(indices) == [0, 2]
    assert weights[0] == weights[1] > 0


@pytest.mark.parametrize(
    ("kind", "claims"),
    [
        ("feasible", ["closed feasible", "partition"]),
        ("tight", ["closed feasible", "partition"]),
        ("dependent", ["closed feasible", "partition"]),
        ("infeasible", ["closed infeasible"]),
    ],
)
def test_linear_conditions_are_certified(kind: str, claims: list[str], tmp_path: Path) -> None:
    path = certified(tmp_path, {"dataset": "linear-systems", "kind": kind}, {"name": "auto"})
    cell, answer = certified_cell(path)
    assert list(cell.claims) == claims
    assert not cell.message
    # with other right sides, nothing of it holds
    assert cell.path is not None
    assert cell.data is not None
    lines = [line.split() for line in Path(cell.data).read_text().splitlines()]
    raised = [
        [*words[:-1], str(int(words[-1]) + 1)] if k > 3 and words[0] == "0" else words
        for k, words in enumerate(lines)
    ]
    text = "\n".join(" ".join(words) for words in raised)
    record = json.loads(Path(cell.path).read_bytes())
    changed = checker().sdpa_system(text.encode(), record["data"])
    with pytest.raises(checker().Refuted):
        checker().check_claim(changed, answer[0])


@pytest.mark.parametrize("kind", ["complete", "quasi-complete", "overlap"])
def test_the_class_of_every_coefficient_is_proved(kind: str, tmp_path: Path) -> None:
    problem = {"dataset": "separation-families", "kind": kind}
    path = certified(tmp_path, problem, {"name": "separation-verdict"})
    cell, claims = certified_cell(path)
    assert not cell.message
    signs = [claim for claim in claims if "sign" in claim["claim"]]
    of_column: dict[int, list[bool]] = {}
    for sign in signs:
        of_column.setdefault(sign["column"], []).append(sign["claim"] == "sign occurs")
        assert sign["sign"] == (1, -1)[len(of_column[sign["column"]]) - 1]
    names = {
        (False, False): "finite",
        (True, False): "plus_infinite",
        (False, True): "minus_infinite",
        (True, True): "undetermined",
    }
    counted = Counter(names[tuple(value)] for value in of_column.values())  # type: ignore[index]
    figures = read_certificate(path).certificate["figures"]
    assert {name: figures[name] for name in names.values()} == {
        name: counted[name] for name in names.values()
    }
    assert {claim["claim"] for claim in claims} >= {
        "feasible" if kind == "complete" else "partition"
    }


@pytest.mark.parametrize("dimension", [2, 3, 5])
def test_both_sides_of_a_separation_ratio_are_proved(dimension: int, tmp_path: Path) -> None:
    path = certified(tmp_path, SEPARABLE | {"dimension": dimension}, LEARNER)
    cell, claims = certified_cell(path)
    assert list(cell.claims) == ["ratio at least", "ratio at most"]
    assert not cell.message
    figures = read_certificate(path).certificate["figures"]
    lower, upper = bounds_of(claims)
    assert lower <= Fraction(figures["ratio_lower"])
    assert abs(float(lower) - figures["ratio_lower"]) <= 1e-9 * (1.0 + float(lower))
    assert abs(float(upper) - figures["ratio_upper"]) <= 1e-9 * (1.0 + float(upper))


def test_no_ellipsoid_separates_by_balanced_weights(tmp_path: Path) -> None:
    path = certified(tmp_path, SEPARABLE | {"ratio": 0.5}, LEARNER)
    cell, claims = certified_cell(path)
    assert (cell.status, list(cell.claims)) == ("INFEASIBLE", ["ratio at most"])
    assert bounds_of(claims) == [0]


@pytest.mark.parametrize("name", ["online-perceptron", "online-kernel-perceptron"])
def test_a_separable_stream_has_an_exact_margin(name: str, tmp_path: Path) -> None:
    problem = {"dataset": "streams", "margin": 0.3, "rows": 40, "dimension": 5}
    path = certified(tmp_path, problem, {"name": name})
    cell, claims = certified_cell(path)
    assert list(cell.claims) == BRACKET
    assert cell.message == "hinge_bound: sums of hinge losses have no exact claim"
    lower, upper = (float(value) for value in bounds_of(claims))
    figures = read_certificate(path).certificate["figures"]
    assert cell.data is not None
    rows = np.load(cell.data)
    squares = rows.diagonal() if "kernel" in name else (rows**2).sum(axis=1)
    longest = float(squares.max())
    assert longest / lower**2 == pytest.approx(figures["novikoff_bound_upper"], rel=1e-6)
    assert longest / upper**2 == pytest.approx(figures["novikoff_bound_lower"], rel=1e-6)


def test_a_bound_without_exact_proof_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = certified(tmp_path, SEPARABLE, LEARNER)
    monkeypatch.setattr("perceptron_lab.exact.ellipsoid_ratio.semidefinite_factor", lambda _: None)
    (cell,) = certify(path, tmp_path / "exact").cells
    assert cell.claims == ("ratio at least",)
    assert cell.message == "ratio_upper: NOT CERTIFIED: no exact proof was found"


def test_results_without_claims_are_reported(tmp_path: Path) -> None:
    problem = KERNEL | {"instances": ["wine-1-rest"]}
    path = certified(tmp_path, problem, {"name": "smoothed-perceptron"})
    arrays = dict(np.load(path))
    arrays["point"] = -arrays["point"]
    np.savez(path, **arrays)
    (cell,) = certify(path, tmp_path / "exact").cells
    assert cell.outcome is CertificationStatus.NOT_CERTIFIED
    assert "score of a row is too low" in cell.message


@pytest.mark.parametrize("seed", range(4))
def test_factors_of_semidefinite_matrices(seed: int) -> None:
    rng = np.random.default_rng(seed)
    root = rng.integers(-(2**30), 2**30, (5, 7)).astype(object)
    full = root.dot(root.T)
    matrix = np.zeros((7, 7), dtype=object)
    matrix[np.ix_([0, 1, 3, 4, 6], [0, 1, 3, 4, 6])] = full
    factor = semidefinite_factor(matrix.tolist())
    entries = {(i, j): matrix[i, j] for i in range(7) for j in range(i, 7)}
    checker().require_definite(entries, factor, False)
    with pytest.raises(checker().Refuted):
        checker().require_definite(entries, factor, True)
    matrix[0, 0] -= int(full[0, 0])
    assert semidefinite_factor(matrix.tolist()) is None
    assert semidefinite_factor([[0, 0], [0, 0]]) == [0]
