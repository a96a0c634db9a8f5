"""Base class and data of the reference solvers."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

import scipy.sparse as sp

from perceptron_lab import registry
from perceptron_lab.algorithms.base import AnyAlgorithm, S, SeesAll
from perceptron_lab.errors import InputError
from perceptron_lab.facts import Facts
from perceptron_lab.operators.matrix import Matrix
from perceptron_lab.results import Bound, FloatArray
from perceptron_lab.system import ConicSystem

Rows = FloatArray | sp.csr_array  # Rows as a solver takes them, dense or sparse


class Peer(SeesAll[S]):
    """A solver of others, whose answers are proved like everyone's."""

    needs_whole: ClassVar[bool] = False  # most refuse all matrix blocks

    def view(self, system: ConicSystem) -> ConicSystem:
        """Return whole matrices; a kernel's features in the coordinates of a Cholesky factor."""
        return system.in_coordinates().completed(required=self.needs_whole)

    def bound(self, facts: Facts) -> Bound:
        """Return no bound: none is stated in these terms."""
        return Bound(None, type(self).__name__, "a reference solver without a bound in these terms")


@contextmanager
def quiet() -> Iterator[None]:
    """Silence a solver's warnings: the proof says whether its answer is right."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def ending(solver: str, made: int, most: int) -> str:
    """Return in words how a training ended; fewer iterations than allowed mean convergence."""
    if made < most:
        return f"{solver} converged after {made} iterations"
    return f"{solver} stopped at its limit of {most} iterations"


def refuse_other_cones(algorithm: AnyAlgorithm, system: ConicSystem) -> None:
    """Refuse every system but one of rows."""
    if not system.cone.of_rows:
        name = registry.name_of("algorithm", algorithm)
        raise InputError(f"{name} separates rows and kernels only; choose another algorithm")


def rows_of(system: ConicSystem) -> Rows:
    """Return the data as the system sees them, scaled: for rows, those of norm 1."""
    assert isinstance(system.operator, Matrix)
    return system.operator.scaled()
