"""Bounds of lowest eigenvalues on a pattern: never above the eigenvalue, in exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from perceptron_lab.certificates.matrices import definite
from perceptron_lab.certificates.matrices.definite import (
    pattern_eigenvalue_bound,
    shifted_pattern_bound,
)
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.generated.maxcut import generate
from perceptron_lab.numerics.symmetric.factor import factorised
from perceptron_lab.numerics.symmetric.lanczos import lowest_eigenpair
from perceptron_lab.numerics.symmetric.pattern import Pattern
from perceptron_lab.systems.pencil import homogenised
from tests.cones.oracles.exact import Kind, exact, kind, plus_identity
from tests.repetitions import repeated


def random_pattern(order: int, share: float, rng: np.random.Generator) -> Pattern:
    rows, columns = np.triu_indices(order)
    mask = (rows == columns) | (rng.random(len(rows)) < share)
    return Pattern(order, rows[mask], columns[mask])


def nearly_singular(pattern: Pattern, lowest: float, rng: np.random.Generator) -> FloatArray:
    """Entries on the pattern whose lowest eigenvalue is about the one given."""
    entries = rng.standard_normal(pattern.size)
    least = float(np.linalg.eigvalsh(pattern.dense(entries))[0])
    entries[pattern.diagonal] += lowest - least
    return entries


def bounds_from_below(bound: float, pattern: Pattern, entries: FloatArray) -> bool:
    """Whether A - bound I is positive semidefinite."""
    if bound == -math.inf:
        return True
    full = exact(pattern.dense(entries))
    return kind(plus_identity(full, -Fraction(bound))) is not Kind.INDEFINITE


@pytest.mark.parametrize("seed", repeated(range(20), kept=1))
def test_no_matrix_on_the_edge_is_called_definite_where_a_plain_factorisation_errs(
    seed: int,
) -> None:
    rng = np.random.default_rng([2006, seed])
    fooled = proved = 0
    for _ in range(300):
        pattern = random_pattern(int(rng.integers(2, 8)), float(rng.uniform(0.1, 1.0)), rng)
        lowest = rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(-18, rng.choice([-15, -12]))
        entries = nearly_singular(pattern, lowest, rng)
        definite = kind(exact(pattern.dense(entries))) is Kind.DEFINITE
        bound = pattern_eigenvalue_bound(pattern, entries)
        assert bound <= 0.0 or definite
        assert bounds_from_below(bound, pattern, entries)
        proved += bound > 0.0
        plain = scipy.linalg.lapack.dpotrf(pattern.dense(entries), lower=1)[1] == 0
        fooled += not definite and (plain or factorised(pattern, entries).failed < 0)
    assert proved > 10
    assert fooled > 0  # so the matrices are hard


@pytest.mark.parametrize("seed", repeated(range(20), kept=2))
def test_every_shift_gives_a_true_bound(seed: int) -> None:
    rng = np.random.default_rng([7, seed])
    for _ in range(40):
        pattern = random_pattern(int(rng.integers(1, 9)), 0.5, rng)
        entries = nearly_singular(pattern, float(rng.uniform(-2, 2)), rng)
        lowest = float(np.linalg.eigvalsh(pattern.dense(entries))[0])
        for shift in (lowest, np.nextafter(lowest, -np.inf), lowest - 1e-15, lowest - 1.0):
            bound = shifted_pattern_bound(pattern, entries, float(shift))
            assert bounds_from_below(bound, pattern, entries)
            assert bound < shift


@pytest.mark.parametrize("exponent", [-1074, -1050, -1022, -900, -540, 500, 1010])
def test_tiny_and_huge_matrices(exponent: int) -> None:
    rng = np.random.default_rng(7)
    for order in (1, 2, 5):
        for _ in range(20):
            pattern = random_pattern(order, 0.6, rng)
            entries = rng.integers(-4, 5, pattern.size) + 6.0 * (pattern.rows == pattern.columns)
            scaled = np.ldexp(entries, exponent)
            bound = pattern_eigenvalue_bound(pattern, scaled)
            assert bounds_from_below(bound, pattern, scaled)
            if exponent >= -900:
                lowest = float(np.linalg.eigvalsh(pattern.dense(entries))[0])
                assert np.ldexp(bound, -exponent) == pytest.approx(lowest, abs=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_entries_that_are_not_finite_prove_nothing(bad: float) -> None:
    pattern = Pattern(2, np.array([0, 0, 1]), np.array([0, 1, 1]))
    for index in range(3):
        entries = np.array([3.0, 1.0, 3.0])
        entries[index] = bad
        assert pattern_eigenvalue_bound(pattern, entries) == -math.inf
        assert shifted_pattern_bound(pattern, entries, 0.0) == -math.inf


def test_the_zero_matrix_has_a_bound_among_the_subnormals() -> None:
    pattern = random_pattern(5, 0.5, np.random.default_rng(0))
    assert -1e-300 < pattern_eigenvalue_bound(pattern, np.zeros(pattern.size)) <= 0.0


@pytest.mark.parametrize("name", ["random-80-200", "random-300-900", "torus-20x20"])
def test_the_bound_is_sharp_and_takes_one_factorisation(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = homogenised(generate(name, 0))
    pattern = system.cone.parts[1].pattern  # type: ignore[attr-defined]
    calls = []
    monkeypatch.setattr(definite, "factorised", lambda *a: calls.append(a) or factorised(*a))
    for seed in range(5):
        rng = np.random.default_rng(seed)
        point = np.append(1.0, rng.uniform(1.0, 6.0, pattern.order))
        entries = system.operator.scores(point)[1:]
        calls.clear()
        bound = pattern_eigenvalue_bound(pattern, entries)
        lowest = float(np.linalg.eigvalsh(pattern.dense(entries))[0])
        shifted = np.trace(pattern.dense(entries)) - lowest * pattern.order
        rounding = pattern.elimination.terms * 2.0**-53 * shifted
        assert lowest - 8 * rounding <= bound <= lowest + rounding
        assert len(calls) == 1


def test_a_wrong_estimate_only_weakens_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    pattern = random_pattern(8, 0.5, np.random.default_rng(3))
    entries = nearly_singular(pattern, 0.5, np.random.default_rng(4))
    for eigenvalue in (0.7, 0.5 + 1e-9, 0.2, -5.0, math.inf, math.nan):
        monkeypatch.setattr(scipy.linalg, "eigh", lambda *_, w=eigenvalue, **__: np.array([w]))
        bound = pattern_eigenvalue_bound(pattern, entries)
        assert bounds_from_below(bound, pattern, entries)
        assert bound == -math.inf or bound <= 0.5 + 1e-12


@pytest.mark.slow
def test_a_large_matrix_is_proved_with_little_fill() -> None:
    """A path of 4000 vertices: dense, it would take 0.13 GB and half a minute."""
    order = 4000
    index = np.arange(order)
    pattern = Pattern(order, np.append(index, index[:-1]), np.append(index, index[1:]))
    entries = np.append(np.full(order, 2.5), np.full(order - 1, -1.0))
    bound = pattern_eigenvalue_bound(pattern, entries)
    assert 0.499 < bound <= 2.5 - 2.0 * math.cos(math.pi / (order + 1))
    assert pattern.elimination.terms < 10
    assert sp.issparse(pattern.sparse(entries))


def test_a_small_eigenvalue_that_lanczos_does_not_reach_is_proved_positive() -> None:
    """The lowest eigenvalues of a path, 2 - 2 cos(pi k / (n + 1)), are close together."""
    order = 800
    nodes = np.arange(order)
    rows, columns = np.append(nodes, nodes[:-1]), np.append(nodes, nodes[1:])
    lowest = 2.0 - 2.0 * math.cos(math.pi / (order + 1))
    entries = np.where(rows == columns, 2.0 - 0.9 * lowest, -1.0)
    pattern = Pattern(order, rows, columns)
    eigenpair = lowest_eigenpair(pattern.sparse(entries), 1e-15)
    assert eigenpair.error > 0.1 * lowest, "the matrix is too easy to say anything"
    assert 0.0 < pattern_eigenvalue_bound(pattern, entries) <= 0.1 * lowest * (1.0 + 1e-6)
