"""Small semidefinite programs with interiors on both sides, and what independent solvers say."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import scipy.sparse as sp

from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.generated.maxcut import generate
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.pencil import SdpaData, homogenised


def dense_program(seed: int, order: int = 4, variables: int = 3, rows: int = 2) -> SdpaData:
    """A matrix block and rows: F(x) = I at some x, and X = I meets the equations."""
    rng = np.random.default_rng(seed)
    indices, values = [], []

    def add(matrix: int, block: int, entries: FloatArray) -> None:
        for i, j in zip(*np.triu_indices(len(entries)), strict=True):
            if entries[i, j] and (block == 0 or i == j):
                indices.append([matrix, block, i, j])
                values.append(float(entries[i, j]))

    point = rng.integers(-2, 3, variables)
    full = np.zeros((order, order))
    diagonal = np.zeros(rows)
    objective = np.zeros(variables)
    for k in range(variables):
        half = rng.integers(-2, 3, (order, order))
        matrix, row = (half + half.T).astype(float), rng.integers(-2, 3, rows).astype(float)
        add(k + 1, 0, matrix)
        add(k + 1, 1, np.diag(row))
        full, diagonal = full + point[k] * matrix, diagonal + point[k] * row
        objective[k] = np.trace(matrix) + row.sum()
    add(0, 0, full - np.eye(order))
    add(0, 1, np.diag(diagonal - 1.0))
    return SdpaData.from_entries(
        objective, [order, -rows], np.array(indices), np.array(values, dtype=float)
    )


def maxcut(seed: int, name: str = "random-12-25") -> ConicSystem:
    return homogenised(generate(name, seed))


def judged(system: ConicSystem) -> float:
    """The optimum that Clarabel computes."""
    import clarabel

    data = sp.csr_array(system.operator.data)[1:]  # type: ignore[attr-defined]
    rows, right, cones = [], [], []
    for part, span in system.cone.blocks[1:]:
        block = data[span.start - 1 : span.stop - 1]
        if not hasattr(part, "columns"):
            rows.append(-block[:, 1:].toarray())
            right.append(np.asarray(block[:, [0]].toarray()).ravel())
            cones.append(clarabel.NonnegativeConeT(part.rank))
            continue
        # Clarabel's triangle: the upper one, column by column, sqrt 2 off the diagonal
        order = part.rank
        position = {
            (int(i), int(j)): k
            for k, (i, j) in enumerate(zip(part.rows, part.columns, strict=True))
        }
        dense = block.toarray()
        for j in range(order):
            for i in range(j + 1):
                scale = 1.0 if i == j else 2.0**0.5
                entry = dense[position[i, j]] if (i, j) in position else np.zeros(dense.shape[1])
                rows.append(-scale * entry[None, 1:])
                right.append(np.array([scale * entry[0]]))
        cones.append(clarabel.PSDTriangleConeT(order))
    objective = system.objective
    assert objective is not None
    count = len(objective.values)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    solver = clarabel.DefaultSolver(
        sp.csc_matrix((count, count)),
        np.array(objective.values),
        sp.csc_matrix(np.vstack(rows)),
        np.concatenate(right),
        cones,
        settings,
    )
    return float(solver.solve().obj_val)


def rational(values: FloatArray) -> list[Fraction]:
    return [Fraction(value) for value in values.tolist()]
