"""Which algorithm runs on which kind of system, and where a theorem bounds it, as computed."""

from __future__ import annotations

import numpy as np

from perceptron_lab import registry
from perceptron_lab.algorithms.base import view_of
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.errors import InputError
from perceptron_lab.operators.gram import Coordinates
from perceptron_lab.operators.kernels import Rbf
from perceptron_lab.operators.matrix import Matrix
from perceptron_lab.system import ConicSystem


def capabilities() -> dict[str, dict[str, str]]:
    """Return algorithm -> kind of system -> what holds there.

    ``theorem``: it runs, and its bound applies; ``runs``: it runs without a bound;
    ``coordinates``, followed by one of these: a Gram system is first given the coordinates of its
    pivoted Cholesky factor; ``-``: it does not run. Each entry is found by starting the algorithm,
    with its default parameters, on a small system of that kind and asking its bound for a margin
    of 0.1.
    """
    kinds = {
        "rows": _rows(),
        "kernel": _kernel(),
        "second-order": _of(SecondOrder(3)),
        "semidefinite": _of(Semidefinite(2, *np.triu_indices(2))),
        "product": _of(Product([Orthant(2), SecondOrder(3)])),
    }
    return {
        name: {kind: _capability(name, system) for kind, system in kinds.items()}
        for name in registry.names("algorithm")
    }


def _capability(name: str, system: ConicSystem) -> str:
    algorithm = registry.load("algorithm", name)()
    view = view_of(algorithm, system).started({}, np.random.default_rng(0))
    try:
        algorithm.start(view, np.random.default_rng(0))
    except InputError:
        return "-"
    view.spectral_norm()  # bounds may use it
    bounded = algorithm.bound(view.facts(0.1)).value is not None
    through = "coordinates: " if isinstance(view.operator, Coordinates) else ""
    return through + ("theorem" if bounded else "runs")


def _rows() -> ConicSystem:
    return ConicSystem.from_rows(np.array([[3.0, 4.0], [4.0, -3.0]]))


def _kernel() -> ConicSystem:
    examples = np.array([[0.0], [1.0], [2.0]])
    return ConicSystem.from_kernel(Rbf(gamma=1.0), examples, [0, 1, 0])


def _of(cone: Cone) -> ConicSystem:
    return ConicSystem(Matrix(np.eye(cone.size)), cone)
