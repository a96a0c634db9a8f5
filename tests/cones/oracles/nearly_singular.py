"""Symmetric matrices of order 3 to 40 within 1e-18 to 1e-12 of singular ones, and a census.

`python -m tests.cones.oracles.nearly_singular 400` asks every oracle whose word is proved about the
100 000 matrices of 400 seeds, judges the answers by exact elimination in integers, and prints how
often each was wrong, beside the judge of runs and LAPACK's Cholesky decomposition. Half of the
matrices are sparse, with fill in the order in which they are eliminated; 2 % have an order of 30 or
more.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

import flint
import numpy as np
import scipy.linalg

from perceptron_lab.certificates.matrices.definite import pattern_eigenvalue_bound
from perceptron_lab.cones.oracles.proving import ProvingExaminer, Question
from perceptron_lab.core import registry
from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.compiled.symmetric_products import diagonal_sizes
from perceptron_lab.numerics.symmetric.pattern import Pattern

ORACLES = ["sparse-ldl", "leading-cholesky", "lanczos", "auto"]
"""The oracles whose word is proved."""
OF_SEED = 250
"""Matrices of one seed: dense and sparse in turn, 5 of an order of 30 or more."""
POOL = 3
"""Sparse patterns of one order."""

Generator = np.random.Generator


class NearlySingular(NamedTuple):
    """A matrix by its entries on a pattern."""

    pattern: Pattern
    entries: FloatArray


@cache
def dense(order: int) -> Pattern:
    return Pattern(order, *np.triu_indices(order))


@cache
def sparse(order: int, kind: int) -> Pattern:
    """The pattern of a cycle with chords whose factor has more entries than the matrix."""
    rng = np.random.default_rng([order, kind])
    while True:
        around = rng.permutation(order)
        full = np.eye(order) + (rng.random((order, order)) < rng.uniform(0.0, 1.5) / order)
        full[around, np.roll(around, 1)] = 1.0
        pattern = Pattern(order, *np.nonzero(np.triu(full + full.T)))
        if pattern.elimination.fill > pattern.size:
            return pattern


def tiny(rng: Generator) -> float:
    return float(rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(-18, -12))


def shifted(pattern: Pattern, rng: Generator) -> FloatArray:
    """Gaussian entries, the diagonal moved until the lowest eigenvalue is tiny, up to rounding."""
    entries = rng.standard_normal(pattern.size)
    values = np.linalg.eigvalsh(pattern.dense(entries))
    entries[pattern.diagonal] += float(values[-1] - values[0]) * tiny(rng) - float(values[0])
    return entries


def laplacian(pattern: Pattern, rng: Generator) -> FloatArray:
    """SLS for the Laplacian L of a graph with whole weights, and a whole number more at a vertex.

    All is exact. L is semidefinite, L1 = 0, S a diagonal of signs; with p more at one vertex the
    lowest eigenvalue is about p / n, and its sign that of p.
    """
    order, off = pattern.order, pattern.off_diagonal
    weights = np.zeros(pattern.size)
    weights[off] = np.floor(2.0 ** rng.uniform(30.0, 46.0, len(off)))
    degrees = pattern.row_sums(weights)
    signs = rng.choice([-1.0, 1.0], order)
    entries = -weights * signs[pattern.rows] * signs[pattern.columns]
    more = tiny(rng) * order * float(degrees.max())
    degrees[rng.integers(order)] += np.copysign(max(np.rint(abs(more)), rng.integers(2)), more)
    assert degrees.max() < 2.0**53
    entries[pattern.diagonal] = degrees
    return entries


def matrices(seed: int) -> Iterator[NearlySingular]:
    """The matrices of a seed."""
    rng = np.random.default_rng([40, seed])
    for count in range(OF_SEED):
        least, most = (30, 41) if count % 50 == 0 else (13, 30) if count % 8 == 1 else (3, 13)
        few = (count // 50 + count) % 2 == 0
        order = int(rng.integers(max(least, 5) if few else least, most))
        pattern = sparse(order, int(rng.integers(POOL))) if few else dense(order)
        family = shifted if rng.random() < 0.5 else laplacian
        yield NearlySingular(pattern, family(pattern, rng))


def definite(matrix: FloatArray) -> bool:
    """Whether a matrix of doubles is positive definite: all leading minors, which are integers."""
    mantissas, exponents = np.frexp(matrix)
    shifts = exponents - int(exponents[mantissas != 0.0].min(initial=0))
    rows = [
        [int(m) << e for m, e in zip(*pair, strict=True)]
        for pair in zip(np.ldexp(mantissas, 53).tolist(), shifts.tolist(), strict=True)
    ]
    permutation, _, _, minors = flint.fmpz_mat(
        [[value if value else 0 for value in row] for row in rows]
    ).fflu()
    order = range(len(matrix))
    # rows are exchanged for a minor that is 0 only
    return all(permutation[i, i] == 1 and minors[i, i] > 0 for i in order)


@lru_cache(maxsize=4096)
def running(oracle: str, pattern: Pattern) -> ProvingExaminer:
    running_oracle = registry.load("oracle", oracle)().running_on(pattern)
    assert isinstance(running_oracle, ProvingExaminer)
    return running_oracle


def room(matrix: NearlySingular, oracle: str) -> float:
    """What rounding may add to the lowest eigenvalue of a matrix that has a factor."""
    pattern, entries = matrix
    _, largest, trace = diagonal_sizes(pattern.diagonal, entries)
    question = Question(pattern, entries, 0.0, False, largest, trace)
    dense_factor = oracle == "leading-cholesky"
    return question.shift(pattern.order if dense_factor else pattern.elimination.terms)


def judged(matrix: NearlySingular, oracles: Sequence[str], counts: Counter[str]) -> None:
    """Ask the oracles about a matrix, and count right and wrong answers."""
    pattern, entries = matrix
    full = pattern.dense(entries)
    truth, lowest = definite(full), abs(float(np.linalg.eigvalsh(full)[0]))
    counts["matrices"] += 1
    counts["of order 30 or more"] += pattern.order >= 30
    counts["sparse with fill"] += pattern.elimination.fill > pattern.size
    counts["definite"] += truth
    plain = scipy.linalg.lapack.dpotrf(full, lower=1)[1] == 0
    counts["LAPACK: wrong definite"] += plain and not truth
    bound = pattern_eigenvalue_bound(pattern, entries)
    counts["judge: wrong definite"] += bound > 0.0 and not truth
    clear = truth and lowest >= 10.0 * room(matrix, "sparse-ldl")
    counts["judge: clear without a proof"] += clear and not bound > 0.0
    for oracle in oracles:
        direction, proved = running(oracle, pattern).answer(entries, 0.0, closed=False)
        counts[f"{oracle}: wrong definite"] += direction is None and not truth
        counts[f"{oracle}: wrong cut"] += direction is not None and proved and truth
        clear = lowest >= 10.0 * room(matrix, oracle)
        counts[f"{oracle}: clear"] += clear
        counts[f"{oracle}: clear without a proof"] += clear and not proved
        counts[f"{oracle}: proved"] += proved


def census(seeds: Iterable[int], oracles: Sequence[str] = ORACLES) -> Counter[str]:
    counts: Counter[str] = Counter()
    for seed in seeds:
        for matrix in matrices(seed):
            judged(matrix, oracles, counts)
    return counts


if __name__ == "__main__":
    for name, count in census(range(int(sys.argv[1]))).items():
        sys.stdout.write(f"{count:7d} {name}\n")
