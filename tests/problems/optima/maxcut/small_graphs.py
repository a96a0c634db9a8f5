"""Small MAXCUT programs, degenerate ones among them, and their optima by Clarabel."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from perceptron_lab.core.results import FloatArray
from perceptron_lab.problems.optima.maxcut.program import MaxCutProgram


def random_program(seed: int, n: int = 12, scale: float = 1.0) -> MaxCutProgram:
    """Any symmetric C: a third of its entries, signs mixed, on and beside the diagonal."""
    rng = np.random.default_rng(seed)
    half = np.triu(rng.standard_normal((n, n)) * (rng.random((n, n)) < 0.33))
    return MaxCutProgram.of_matrix(scale * (half + half.T))


def random_graph(seed: int, n: int = 12, signed: bool = False) -> MaxCutProgram:
    rng = np.random.default_rng(seed)
    rows, columns = np.triu_indices(n, 1)
    present = rng.random(len(rows)) < 0.35
    weights = rng.choice([-1.0, 1.0] if signed else [1.0, 2.0], size=int(present.sum()))
    return MaxCutProgram.of_graph(n, rows[present], columns[present], weights)


DEGENERATE: dict[str, MaxCutProgram] = {
    "one vertex": MaxCutProgram.of_matrix([[2.5]]),
    "two vertices": MaxCutProgram.of_graph(2, [0], [1], [3.0]),
    "zero matrix": MaxCutProgram.of_matrix(np.zeros((4, 4))),
    "empty rows": MaxCutProgram.of_graph(6, [1, 1, 3], [3, 4, 4], [1.0, 1.0, 1.0]),
    "bipartite": MaxCutProgram.of_graph(6, [0, 0, 1, 2], [3, 4, 5, 5], np.ones(4)),
    "disconnected": MaxCutProgram.of_graph(
        6, [0, 0, 1, 3, 3, 4], [1, 2, 2, 4, 5, 5], [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]
    ),
    "negative weights": MaxCutProgram.of_graph(4, [0, 1, 2, 3], [1, 2, 3, 0], -np.ones(4)),
    "diagonal": MaxCutProgram.of_matrix(np.diag([1.0, -2.0, 0.0])),
    "tiny weights": MaxCutProgram.of_graph(3, [0, 0, 1], [1, 2, 2], [1e-300] * 3),
    "huge weights": MaxCutProgram.of_graph(3, [0, 0, 1], [1, 2, 2], [1e300] * 3),
    "all scales": MaxCutProgram.of_graph(4, [0, 0, 1, 2], [1, 2, 2, 3], [1e300, 1.0, 1.0, 1e-300]),
}
OPTIMA = {
    "one vertex": 2.5,
    "two vertices": 3.0,
    "zero matrix": 0.0,
    "empty rows": 2.25,
    "bipartite": 4.0,
    "disconnected": 6.75,
    "negative weights": 0.0,
    "diagonal": -1.0,
    "tiny weights": 2.25e-300,
    "huge weights": 2.25e300,
    "all scales": 1e300,
}


def dense(program: MaxCutProgram) -> FloatArray:
    """C as a dense matrix."""
    return np.asarray(np.diag(program.diagonal) + program.weights.toarray())


def judged(program: MaxCutProgram) -> float:
    """The optimum that Clarabel computes for max <C, X>, diag(X) = 1, X psd."""
    import clarabel

    matrix, n = dense(program), program.order
    indices = [(i, j) for j in range(n) for i in range(j + 1)]  # the upper triangle by columns
    root = 2.0**0.5
    objective = np.array([-matrix[i, j] * (1.0 if i == j else root) for i, j in indices])
    on = [k for k, (i, j) in enumerate(indices) if i == j]
    units = sp.csc_matrix((np.ones(n), (np.arange(n), on)), shape=(n, len(indices)))
    rows = sp.vstack([units, -sp.eye(len(indices), format="csc")], format="csc")
    right = np.concatenate([np.ones(n), np.zeros(len(indices))])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    cones = [clarabel.ZeroConeT(n), clarabel.PSDTriangleConeT(n)]
    none = sp.csc_matrix((len(indices),) * 2)
    solver = clarabel.DefaultSolver(none, objective, sp.csc_matrix(rows), right, cones, settings)
    return -float(solver.solve().obj_val)
