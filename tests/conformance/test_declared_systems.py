"""What each algorithm declares of the systems that it runs on is what happens when it is started.

``theorem``: it runs, and its bound applies; ``runs``: it runs without a bound; ``coordinates``,
followed by one of these: it is given the coordinates of a Gram system; ``-``: it does not run. Each
is found by starting the algorithm, with its default parameters, on a small system of that kind and
asking its bound for a margin of 0.1.
"""

from __future__ import annotations

import numpy as np
import pytest

from perceptron_lab.algorithms.external import direct
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.operators.gram import Coordinates
from perceptron_lab.cones.operators.kernels import Rbf
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core import registry
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.facts import Facts
from perceptron_lab.experiments.configuration.catalogue import SYSTEMS, declared
from perceptron_lab.systems import ConicSystem


def of(cone: Cone) -> ConicSystem:
    return ConicSystem(Matrix(np.eye(cone.size)), cone)


MADE = {
    "rows": lambda: ConicSystem.from_rows(np.array([[3.0, 4.0], [4.0, -3.0]])),
    "kernel": lambda: ConicSystem.from_kernel(
        Rbf(gamma=1.0), np.array([[0.0], [1.0], [2.0]]), [0, 1, 0]
    ),
    "second-order": lambda: of(SecondOrder(3)),
    "semidefinite": lambda: of(Semidefinite(2, *np.triu_indices(2))),
    "product": lambda: of(Product([Orthant(2), SecondOrder(3)])),
}

FACTS = Facts(
    dimension=3, rank=8, margin=0.01, unit_margin=0.01, raw_margin=0.01, norm=1.0, shortest=1.0,
    unit_rows=True, spectral=2.0, largest_entry=1.0, l1_margin=0.01, centre_norm=0.5,
)  # fmt: skip


def declared_answer(name: str, system: ConicSystem) -> str:
    algorithm = registry.load("algorithm", name)()
    view = algorithm.view(system).started({}, np.random.default_rng(0))
    try:
        algorithm.start(view, np.random.default_rng(0))
    except InputError:
        return "-"
    view.spectral_norm()  # bounds may use it
    bounded = algorithm.bound(view.facts(0.1)).value is not None
    through = "coordinates: " if isinstance(view.operator, Coordinates) else ""
    return through + ("theorem" if bounded else "runs")


@pytest.fixture(autouse=True)
def _programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs of others need not be there to say where they run."""
    monkeypatch.setattr("shutil.which", str)
    monkeypatch.setattr(direct, "_installed", lambda: None)


@pytest.mark.parametrize("name", registry.names("algorithm"))
def test_an_algorithm_runs_where_it_declares(name: str) -> None:
    assert tuple(MADE) == SYSTEMS
    systems = {kind: declared_answer(name, system()) for kind, system in MADE.items()}
    assert declared("algorithm", name).systems == systems


@pytest.mark.parametrize("name", registry.names("algorithm"))
def test_the_stated_guarantee_agrees_with_the_bound(name: str) -> None:
    algorithm = registry.load("algorithm", name)
    stated = algorithm.guarantee
    assert stated.formula or stated.note
    bound = algorithm().bound(FACTS)
    if stated.formula:
        assert stated.theorem in bound.theorem or bound.value is None
        assert stated.paper in bound.theorem or bound.value is None
    else:
        assert bound.value is None
