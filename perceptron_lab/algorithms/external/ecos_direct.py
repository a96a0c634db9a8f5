"""The largest margin by ECOS, on rows and second-order cones, where it is installed."""

from __future__ import annotations

from importlib import metadata
from types import ModuleType
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from perceptron_lab.algorithms.base import Systems
from perceptron_lab.algorithms.external.direct import Direct, Solved, Taken, sizes_of
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.core.errors import InputError, NumericalError
from perceptron_lab.core.refusals import Count, parameter_record
from perceptron_lab.core.results import FloatArray


@parameter_record
class Ecos(Direct):
    """The largest margin by ECOS itself, an interior point method, for rows and second-order cones.

    Where it is not installed, its cells are SKIPPED and say how to install it. It has no limit of
    time. Its rows tell the version, and the six DIMACS errors of its answer as
    ``measure.claimed_...``.

    Parameters
    ----------
    tolerance
        ECOS's tolerances of the gap and of feasibility, > 0 (default 1e-8, its own).
    iterations
        ECOS's own at most (default 100).

    References
    ----------
    A. Domahidi, E. Chu and S. Boyd, ECOS: An SOCP solver for embedded systems, European Control
    Conference (2013) 3071-3076.
    """

    systems: ClassVar[Systems] = {
        "runs": "rows second-order product",
        "coordinates: runs": "kernel",
    }

    takes_matrices: ClassVar[bool] = False
    upper: ClassVar[bool] = True

    iterations: Count = 100

    def find(self) -> None:
        """Refuse to run where it is not installed."""
        _installed()

    def solve(
        self, matrix: sp.csc_array, bounds: FloatArray, objective: FloatArray, taken: list[Taken]
    ) -> Solved:
        """Return what ECOS finds."""
        sizes = sizes_of(taken)
        tolerances = dict.fromkeys(("abstol", "reltol", "feastol"), self.tolerance)
        try:
            found = _installed().solve(
                np.asarray(objective, dtype=np.float64),
                sp.csc_matrix(matrix),
                np.asarray(bounds, dtype=np.float64),
                {"l": sum(sizes[Orthant]), "q": sizes[SecondOrder]},
                verbose=False,
                max_iters=self.iterations,
                **tolerances,
            )
        except (ValueError, TypeError, ArithmeticError) as error:
            raise NumericalError(f"ecos gives no answer: {error}") from None
        return Solved(found["x"], found["s"], found["z"], str(found["info"]["infostring"]))

    @property
    def version(self) -> str:  # type: ignore[override]
        """The version that is installed."""
        return metadata.version("ecos")


def _installed() -> ModuleType:
    """Return the package."""
    try:
        import ecos
    except ModuleNotFoundError:
        raise InputError("ecos is not installed; run pip install perceptron-lab[ecos]") from None
    module: ModuleType = ecos
    return module
