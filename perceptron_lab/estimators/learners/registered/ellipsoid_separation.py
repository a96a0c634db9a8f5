"""The ellipsoid of maximal separation ratio on Gram-Schmidt features, and its proofs."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, cast

import numpy as np

from perceptron_lab.certificates.rounding import PRODUCTS
from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.refusals import Proportion, parameter_record
from perceptron_lab.core.results import PROVED, FloatArray, Status
from perceptron_lab.datasets.problem import Task
from perceptron_lab.estimators.binary import BoolArray
from perceptron_lab.estimators.ellipsoid_separation import EllipsoidSeparationClassifier
from perceptron_lab.estimators.learners.features import Extracted, OnFeatures, extract
from perceptron_lab.estimators.learners.learning import Learned, Learner, Reproved
from perceptron_lab.estimators.learners.tuning import fitted
from perceptron_lab.numerics.compiled.kernel import Functions
from perceptron_lab.problems.ellipsoids.ellipsoid import dense_rows
from perceptron_lab.problems.ellipsoids.hard.separation import Separation, can_rank
from perceptron_lab.problems.ellipsoids.hard.separation_ratio import SolverName
from perceptron_lab.problems.ellipsoids.hard.separation_verification import (
    proof_arrays,
    prove_separation,
)


@parameter_record
class EllipsoidSeparation(OnFeatures, Learner):
    """The hard ellipsoid: maximal separation ratio on Gram-Schmidt features.

        maximise t over E^ >= 0 with x^'E^x^ <= 1 (positives), x^'E^x^ >= 1 + t (negatives),

    (7.9) of `Kharechko2009`, ranking by (8.2); x^ = (x, 1), x the Gram-Schmidt features of chapter
    8, with pivots chosen among training examples. Nothing is tuned. The status is proved for the
    training examples:

    - FEASIBLE: an ellipsoid separates the classes;
    - INFEASIBLE: none does, t = 0 exactly; MARGIN_BOUNDED: t <= 1e-6;
    - UNBOUNDED: no negative lies in the affine hull of the positives, as generically where there
      are no more positives than features; examples are ranked by their distance from the hull;
    - FITTED: nothing is proved.

    If t = 0, E^ = e e' does not rank examples. Then the ranking is by the solver's error, or with
    ``central-path`` by the direction in which the central path approaches E^.

    Figures: ``ratio``, t as computed, and its proved bracket, ``ratio_lower`` and ``ratio_upper``
    (left out where infinite, or t unbounded); ``components``; ``positives``, different ones;
    ``cpu_seconds`` of features, solution and proof. In up to 3 dimensions the arrays
    ``homogeneous``, ``threshold``, ``ratio``, ``positive_weights`` and ``negative_weights`` hold
    what can be drawn.

    Parameters
    ----------
    components
        k, 1 or more (default 30); None for the examples as they are, which must be dense.
    below_positives
        Whether k is lowered to the number of different positives less 1 (but not below 1), without
        which the problem is unbounded (default false).
    solver
        ``central-path`` (default) for classes that no ellipsoid separates; ``auto``,
        ``interior-point``, ``constraint-generation``; the references ``clarabel``,
        ``cvxpy-clarabel``, ``cvxpy-scs``.
    inseparable
        What ranks if the solver's t is at most 1e-6 and not proved positive: ``solver`` (default),
        its own matrix; ``central-path``, that limit, or the matrix where there is no limit (classes
        that only touch), as the message says.
    tolerance
        The solver's, between 0 and 1 (default 1e-9).
    whiten
        Whether to solve in coordinates in which the examples are white (default true), so that
        affine maps change nothing; false keeps those given.

    References
    ----------
    `Kharechko2009`, (7.9), (8.2), Table 8.1.
    """

    below_positives: bool = False
    solver: SolverName = "central-path"
    inseparable: Literal["solver", "central-path"] = "solver"
    tolerance: Proportion = 1e-9
    whiten: bool = True

    def compiled(self, tasks: Sequence[Task]) -> Functions:
        """Return combinations of rows, which prove that there is no ellipsoid."""
        return PRODUCTS[1:]

    def learn(self, task: Task, seed: int) -> Learned:
        """Separate the training examples, and score the test examples."""
        began = time.process_time()
        positive, positives, features = self._features(task, seed)
        fit = self._separation(features, positive)
        status = fit.status if fit.proved and fit.status in PROVED else Status.FITTED
        scores = fit.decision_values(features.test)
        seconds = time.process_time() - began
        lower, upper = fit.ratio_lower, fit.ratio_upper
        bracket = {"ratio": fit.ratio, "ratio_lower": lower, "ratio_upper": upper}
        bounded = fit.status is not Status.UNBOUNDED
        figures = {name: t for name, t in bracket.items() if bounded and math.isfinite(t)}
        statement: dict[str, object] = {"statement": fit.message, "proved": fit.proved}
        if fit.inseparability is not None:
            rows = fit.inseparability.rows
            statement["method"] = fit.inseparability.method
            statement["rows"] = None if rows is None else [int(row) for row in rows]
        return Learned(
            scores,
            status,
            fit.message,
            seconds=seconds,
            iterations=fit.iterations,
            figures=figures
            | features.figures
            | {"positives": float(positives), "cpu_seconds": seconds},
            arrays=_plot_arrays(fit),
            certificate=statement,
            # FITTED has nothing to verify, and needs no arrays.
            proof=proof_arrays(fit) if status in PROVED else {},
        )

    def prove(self, task: Task, proof: Mapping[str, FloatArray], seed: int) -> Reproved:
        """Verify the status on features extracted again; nothing is solved."""
        reproved = prove_separation(*self.classes(task, seed), proof, whiten=self.whiten)
        bounds = {"ratio_lower": reproved.ratio_lower, "ratio_upper": reproved.ratio_upper}
        return Reproved(reproved.status, bounds, reproved.message)

    def classes(self, task: Task, seed: int) -> tuple[FloatArray, FloatArray]:
        """Extract and return the features of the positives and of the negatives."""
        positive, _, features = self._features(task, seed)
        training = dense_rows(features.training)
        return training[positive], training[~positive]

    def _features(self, task: Task, seed: int) -> tuple[BoolArray, int, Extracted]:
        """Return the mask of positives, the number of distinct ones, and the features."""
        positive = task.labels > 0
        rows = task.examples[positive]
        if isinstance(rows, np.ndarray):
            positives = len(np.unique(rows, axis=0))
        else:
            bounds = zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
            parts = [slice(int(first), int(last)) for first, last in bounds]
            different = {
                (rows.indices[part].tobytes(), rows.data[part].tobytes()) for part in parts
            }
            positives = len(different)
        choice: OnFeatures = self
        if self.components is not None and self.below_positives:
            # With k or fewer distinct positives, these span a hull of lower dimension, off which
            # negatives lie generically.
            choice = replace(self, components=max(1, min(self.components, positives - 1)))
        return positive, positives, extract(task, choice.transformer(seed))

    def _separation(self, features: Extracted, positive: BoolArray) -> Separation:
        model = EllipsoidSeparationClassifier(
            inseparable="solver", solver=self.solver, whiten=self.whiten, tol=self.tolerance
        )
        examples = dense_rows(features.training)  # its error tells users how to treat sparse rows
        fit: Separation = fitted(model, examples, positive).separation_
        if self.inseparable == "solver" or can_rank(fit):
            return fit
        model.set_params(solver="central-path")
        try:
            return cast("Separation", fitted(model, examples, positive).separation_)
        except NumericalError as error:
            return replace(fit, message=f"{fit.message}; ranked by the solver, since {error}")


def _plot_arrays(fit: Separation) -> dict[str, FloatArray]:
    """Return the arrays of f(x) = threshold - (x, 1)' homogeneous (x, 1), t, and lambda."""
    homogeneous = fit.rule.homogeneous()
    if len(homogeneous) > 3 + 1:  # coordinates that a figure can show
        return {}
    return {
        "homogeneous": homogeneous,
        "threshold": np.array([fit.rule.threshold]),
        "ratio": np.array([fit.ratio]),
        "positive_weights": fit.positive_weights,
        "negative_weights": fit.negative_weights,
    }
