"""The ellipsoid of maximal separation ratio as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy.typing as npt

from perceptron_lab.ellipsoids.assessment import ranks
from perceptron_lab.ellipsoids.separation import Separation
from perceptron_lab.ellipsoids.separation_ratio import MaximalSeparation, SolverName
from perceptron_lab.errors import InputError, NumericalError
from perceptron_lab.estimators.binary import BinaryClassifier, record_of
from perceptron_lab.results import FloatArray

Inseparable = Literal["central-path", "error"]


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
            If the solver gives up, or the classes only touch, where there is nothing to rank by.
        """
        if self.inseparable not in ("central-path", "error"):
            raise InputError(
                f"inseparable={self.inseparable!r}; allowed: 'central-path' or 'error'"
            )
        data, positive = self._learned(X, y)
        model = self._model(self.solver)
        found = model.fit(data[positive], data[~positive])
        if not ranks(found):
            found = self._limit(found, data[positive], data[~positive])
        self.separation_, self.status_ = found, found.status
        return self

    def _model(self, solver: str) -> MaximalSeparation:
        own = {"tolerance": "tol"}
        return record_of(MaximalSeparation, own, solver=solver, tolerance=self.tol)

    def _limit(self, found: Separation, inside: FloatArray, outside: FloatArray) -> Separation:
        """Return what ranks classes that no ellipsoid separates."""
        if self.inseparable == "error":
            raise InputError(
                f"inseparable='error': {found.message}; use slacks (SoftEllipsoidClassifier), or "
                "inseparable='central-path'"
            )
        try:
            return self._model("central-path").fit(inside, outside)
        except NumericalError as error:
            raise NumericalError(
                f"no ellipsoid is found that separates the classes ({found.message}), and the "
                "central path has no limit to rank them by, as where they only touch; use slacks "
                "(SoftEllipsoidClassifier)"
            ) from error

    def decision_function(self, X: Any) -> FloatArray:
        """Return f(x) of every example, shape ``(m,)``: positive inside the ellipsoid."""
        data = self._new(X)
        return self.separation_.decision_values(data)
