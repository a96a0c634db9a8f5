"""One system of every kind, feasible and not, by name; and the algorithms that run on each."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab.cones.operators.kernels import Linear, Rbf
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.core import registry
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.generated.maxcut import generate
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.pencil import homogenised
from tests.deciding_oracles import DECIDING
from tests.families import (
    complete_pattern,
    cones,
    infeasible,
    infeasible_conic,
    infeasible_of,
    planted,
    planted_conic,
    planted_pencil,
)

ALGORITHMS = DECIDING
PEERS = {name for name in ALGORITHMS if str(registry.target("algorithm", name)).count(".external.")}
PEERS -= {"postprocessed"}  # which goes on itself
"""Solvers of others: asked once, or trained for longer and longer."""
ROWS_ONLY = {
    name
    for name in ALGORITHMS
    if "second-order" not in " ".join(registry.load("algorithm", name).systems.values())
}
"""Algorithms that refuse every other cone."""
ANY_CONE = [name for name in ALGORITHMS if name not in ROWS_ONLY]
"""Algorithms that run on products of all cones."""
ITERATIVE = [name for name in ALGORITHMS if name not in PEERS]
"""Algorithms whose updates are steps of their own."""
RNG = np.random.default_rng


def refuses_sparse_rows(algorithm: str) -> bool:
    """Whether it says so when it is started on some."""
    rows = ConicSystem.from_rows(sp.csr_array(np.eye(2)))
    try:
        registry.load("algorithm", algorithm)().start(rows, RNG(0))
    except InputError as error:
        if "dense rows only" in str(error):
            return True
        raise
    return False


DENSE_ONLY = {name for name in ITERATIVE if refuses_sparse_rows(name)}
"""Algorithms that refuse sparse rows."""


def two_classes(seed: int) -> tuple[FloatArray, FloatArray]:
    rng = RNG(seed)
    examples = np.vstack([rng.normal(2, 0.5, (20, 3)), rng.normal(-2, 0.5, (20, 3))])
    return examples, np.repeat([1.0, 0.0], 20)


def rows() -> ConicSystem:
    return ConicSystem.from_rows(planted(5, 40, 0.05, RNG(1))[0])


def sparse() -> ConicSystem:
    dense = planted(5, 40, 0.05, RNG(2))[0]
    return ConicSystem.from_rows(sp.csr_array(np.where(abs(dense) < 0.05, 0.0, dense)))


def labelled() -> ConicSystem:
    return ConicSystem.from_labelled(*two_classes(3))


def rbf() -> ConicSystem:
    rng = RNG(4)
    examples = rng.standard_normal((20, 2))
    return ConicSystem.from_kernel(Rbf(gamma=1.0), examples, examples[:, 0] * examples[:, 1] > 0)


def linear_kernel() -> ConicSystem:
    """40 examples of rank 3."""
    return ConicSystem.from_kernel(Linear(), *two_classes(5))


def second_order() -> ConicSystem:
    system = planted_conic(cones()["second-order"], 5, 0.1, RNG(6))[0]
    assert isinstance(system.operator, Matrix)
    return ConicSystem.second_order(system.operator.data, [4, 3, 5])


def semidefinite() -> ConicSystem:
    return planted_conic(cones()["semidefinite"], 5, 0.1, RNG(7))[0]


def product() -> ConicSystem:
    return planted_conic(cones()["product"], 5, 0.1, RNG(8))[0]


def pencil() -> ConicSystem:
    return planted_pencil(5, 4, 0.3, RNG(4))[0]


def maxcut() -> ConicSystem:
    return homogenised(generate("random-12-25", seed=5))


def line() -> ConicSystem:
    return ConicSystem.from_rows(np.array([[2.0], [0.5]]))


def one_row() -> ConicSystem:
    return ConicSystem.from_rows(np.array([[3.0, -4.0, 12.0]]))


def one_entry() -> ConicSystem:
    return ConicSystem(Matrix(np.array([[-2.0, 0.5]])), complete_pattern(1))


def infeasible_rows() -> ConicSystem:
    return ConicSystem.from_rows(infeasible(4, 15, RNG(6)))


def infeasible_labelled() -> ConicSystem:
    """The corners of a square, opposite ones of one class."""
    corners = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    return ConicSystem.from_labelled(corners, [1, 1, 2, 2])


def infeasible_kernel() -> ConicSystem:
    return infeasible_of("polynomial Gram", 1).system


def infeasible_second_order() -> ConicSystem:
    return infeasible_conic(cones()["second-order"], 4, RNG(9))


def infeasible_semidefinite() -> ConicSystem:
    return infeasible_conic(cones()["semidefinite"], 4, RNG(10))


def infeasible_product() -> ConicSystem:
    return infeasible_conic(cones()["product"], 4, RNG(11))


def opposite_rows() -> ConicSystem:
    """Feasible but for strictness."""
    return ConicSystem.from_rows(np.array([[1.0, 2.0], [-1.0, -2.0], [3.0, 1.0]]))


Make = Callable[[], ConicSystem]
FEASIBLE: list[Make] = [
    rows,
    sparse,
    labelled,
    rbf,
    linear_kernel,
    second_order,
    semidefinite,
    product,
    pencil,
    maxcut,
    line,
    one_row,
    one_entry,
]
INFEASIBLE: list[Make] = [
    infeasible_rows,
    infeasible_labelled,
    infeasible_kernel,
    infeasible_second_order,
    infeasible_semidefinite,
    infeasible_product,
    opposite_rows,
]
SYSTEMS = FEASIBLE + INFEASIBLE
KERNELS: list[Make] = [rbf, linear_kernel, infeasible_kernel]


@cache
def form(make: Make) -> tuple[bool, bool]:
    """Whether the data are sparse, and whether they are rows."""
    system = make()
    return sp.issparse(getattr(system.operator, "data", None)), isinstance(system.cone, Orthant)


def runs(algorithm: str, make: Make) -> bool:
    sparse, of_rows = form(make)
    refused = (not of_rows and algorithm in ROWS_ONLY) or (sparse and algorithm in DENSE_ONLY)
    return not refused


def cases(systems: list[Make], algorithms: list[str] = ALGORITHMS) -> list[object]:
    """Every algorithm with every system that it runs on, as parameters."""
    return [
        pytest.param(algorithm, make, id=f"{algorithm}-{make.__name__}")
        for algorithm in algorithms
        for make in systems
        if runs(algorithm, make)
    ]
