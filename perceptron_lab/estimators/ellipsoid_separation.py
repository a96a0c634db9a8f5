"""The ellipsoid of maximal separation ratio as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy.typing as npt

from perceptron_lab.ellipsoids.separation import Separation
from perceptron_lab.ellipsoids.separation_ratio import MaximalSeparation, SolverName
from perceptron_lab.errors import InputError
from perceptron_lab.estimators.binary import BinaryClassifier
from perceptron_lab.results import FloatArray, Status

Inseparable = Literal["central-path", "error"]

NEGLIGIBLE = 1e-6
"""A t that is not proved to be positive counts as 0 up to this."""


class EllipsoidSeparationClassifier(BinaryClassifier):
    """Two classes by the ellipsoid of maximal separation ratio (`Kharechko2009`, chapters 7, 8).

        f(x) = ((1 + sqrt(1 + t)) / 2)^2 - x^'E^x^,   x^ = (x, 1),                          (8.2)

    with t and E^ of (7.9), as
    :class:`~perceptron_lab.ellipsoids.separation_ratio.MaximalSeparation` describes. The larger
    label is inside. There are no slacks: what happens in each case is stated by ``status_``,

    - FEASIBLE: an ellipsoid separates the classes;
    - UNBOUNDED: no example of the smaller label lies in the affine hull of the larger one's, as
      generically if there are no more of those than features; f falls with the squared distance
      from that hull;
    - else no ellipsoid separates them (t = 0, and E^ is empty): f ranks by the direction in which
      the central path of (7.9) approaches that solution, or ``fit`` fails, as ``inseparable`` says.

    Parameters
    ----------
    inseparable
        ``"central-path"`` or ``"error"``: what to do with classes that no ellipsoid separates.
    solver
        Of (7.9), a name that ``MaximalSeparation`` knows.
    tol
        The solver's tolerance, in (0, 1).

    Attributes
    ----------
    classes_
        The two labels, sorted.
    n_features_in_
        The number of features.
    status_
        As above.
    separation_
        t, E^, the weights and what is proved of them.
    """

    def __init__(
        self,
        *,
        inseparable: Inseparable = "central-path",
        solver: SolverName = "clarabel",
        tol: float = 1e-9,
    ) -> None:
        self.inseparable = inseparable
        self.solver = solver
        self.tol = tol

    def fit(self, X: Any, y: npt.ArrayLike) -> Self:
        """Find the ellipsoid.

        Parameters
        ----------
        X
            Dense examples, shape ``(m, features)``.
        y
            Labels of two classes, shape ``(m,)``.

        Raises
        ------
        ValueError
            If examples or labels are not as described, a parameter is not allowed, or the classes
            are inseparable and that is an error.
        NumericalError
            If the solver gives up.
        """
        if self.inseparable not in ("central-path", "error"):
            raise InputError(
                f"inseparable={self.inseparable!r}; allowed: 'central-path' or 'error'"
            )
        data, positive = self._learned(X, y)
        model = MaximalSeparation(solver=self.solver, tolerance=self.tol)
        found = model.fit(data[positive], data[~positive])
        if not _separates(found):
            if self.inseparable == "error":
                raise InputError(
                    f"no ellipsoid separates the classes ({found.message}); use slacks "
                    "(SoftEllipsoidClassifier), or inseparable='central-path'"
                )
            limit = MaximalSeparation(solver="central-path", tolerance=self.tol)
            found = limit.fit(data[positive], data[~positive])
        self.separation_, self.status_ = found, found.status
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Return f(x) of every example, shape ``(m,)``: positive inside the ellipsoid."""
        data = self._new(X)
        return self.separation_.decision_values(data)


def _separates(found: Separation) -> bool:
    """Tell whether f of a separation ranks: by an ellipsoid, a hull, or a limit found already."""
    limit = found.gaps is None
    return limit or found.status is Status.FEASIBLE or found.ratio > NEGLIGIBLE
