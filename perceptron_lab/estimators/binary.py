"""Base class of the binary classifiers: parameters, examples, labels and predictions."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, Self

import numpy as np
import numpy.typing as npt
from pydantic import ValidationError, WrapValidator
from pydantic_core import PydanticCustomError
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import type_of_target

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.refusals import Positive
from perceptron_lab.core.results import AnyArray, FloatArray
from perceptron_lab.datasets.problem import Examples
from perceptron_lab.estimators.validation import (
    learned_examples,
    new_examples,
    refuse_one_class,
    refuse_parameters,
)
from perceptron_lab.estimators.weights import checked_weights

BoolArray = npt.NDArray[np.bool_]


def _validated_class_weight(value: object, check: Callable[[object], object]) -> object:
    # pydantic would report each member of the union, and not mention None
    try:
        return check(value)
    except ValidationError:
        raise PydanticCustomError(
            "class_weight",
            "input should be None, 'balanced', or a mapping of labels to finite numbers above 0",
        ) from None


ClassWeight = Annotated[
    Literal["balanced"] | Mapping[Any, Positive] | None,
    WrapValidator(_validated_class_weight),
]
"""None, ``"balanced"`` (half of the weight in each class), or factors by label."""


class BinaryClassifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A classifier of two classes by the sign of its decision function f.

    The larger label, ``classes_[1]``, is positive: where f is an ellipsoid's, it lies inside.

    Attributes
    ----------
    classes_
        The two labels, sorted.
    n_features_in_
        The number of features.
    n_iter_, converged_
        The iterations of the solver, and whether it ended by its tolerance.
    """

    n_iter_: int
    converged_: bool

    def fit(
        self,
        X: npt.ArrayLike | Examples,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X
            Examples of numbers that doubles hold, dense, or sparse where the classifier takes such,
            shape ``(m, features)``.
        y
            Labels of two classes, shape ``(m,)``.
        sample_weight
            Weights >= 0 of the examples, shape ``(m,)``, or None for equal ones. A weight k counts
            as k equal examples, and weight 0 leaves an example out. Classifiers that repeat
            examples take whole numbers.

        Raises
        ------
        ValueError
            If examples, labels or weights are not as described, or a parameter is out of its range;
            if the classes are inseparable and that is an error.
        NumericalError
            If the solver of a hard margin gives up, as it may next to the critical penalty, or
            where the classes only touch.
        """
        self._fit(*self._checked_training_data(X, y, sample_weight))
        return self

    @abstractmethod
    def _fit(self, data: Any, positive: BoolArray, weights: FloatArray) -> None:
        """Fit to checked examples of weight > 0, of which some are positive."""

    @abstractmethod
    def decision_function(self, X: npt.ArrayLike | Examples) -> FloatArray:
        """Return f(x) of every example, shape ``(m,)``: positive for ``classes_[1]``."""

    def predict(self, X: npt.ArrayLike | Examples) -> AnyArray:
        """Return ``classes_[1]`` where f(x) > 0, and ``classes_[0]`` elsewhere.

        Parameters
        ----------
        X
            Examples, shape ``(m, n_features_in_)``.
        """
        inside = self.decision_function(X) > 0.0
        return np.asarray(self.classes_[inside.astype(np.intp)])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = self.takes_sparse
        return tags

    @property
    def takes_sparse(self) -> bool:
        """Whether examples may be sparse."""
        return False

    def _checked_training_data(
        self,
        examples: npt.ArrayLike | Examples,
        labels: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None,
    ) -> tuple[Any, BoolArray, FloatArray]:
        """Return examples of weight > 0, which are positive, and the weights; set ``classes_``."""
        refuse_parameters(self)
        data, targets = learned_examples(self, examples, labels, sparse=self.takes_sparse)
        weights = checked_weights(sample_weight, len(targets))
        if not weights.all():
            weighted = weights > 0.0
            data, targets, weights = data[weighted], targets[weighted], weights[weighted]
        kind = type_of_target(targets, input_name="y")
        if kind != "binary":
            # scikit-learn's checks of an estimator look for these words
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                f"{kind}; for more classes wrap it in OneVsRestClassifier"
            )
        self.classes_, class_index = np.unique(targets, return_inverse=True)
        refuse_one_class(self, self.classes_, len(targets))
        return data, class_index == 1, weights

    def _checked_examples(self, examples: npt.ArrayLike | Examples) -> Any:
        """Return checked new examples."""
        return new_examples(self, examples, sparse=self.takes_sparse)

    def _normalised_weights(
        self, weights: FloatArray, positive: BoolArray, class_weight: ClassWeight
    ) -> FloatArray:
        """Return weights with sum 1, adjusted by ``class_weight``."""
        if isinstance(class_weight, Mapping):
            labels = self.classes_[positive.astype(np.intp)]
            weights = weights * compute_sample_weight(dict(class_weight), labels)
        sums = [float(weights[part].sum()) for part in (positive, ~positive)]
        if min(sums) <= 0.0:
            raise InputError(
                "all examples of one class have weight 0; give some of them a positive weight"
            )
        if class_weight == "balanced":
            # Balanced by weights and not by counts, so that sample weights are respected.
            return np.asarray(weights * np.where(positive, 0.5 / sums[0], 0.5 / sums[1]))
        return np.asarray(weights / sum(sums))

    def _set_convergence(self, iterations: int, converged: bool, warning: str) -> None:
        """Set iterations and convergence; warn, located at ``fit``, if not converged."""
        self.n_iter_, self.converged_ = iterations, converged
        if not converged:
            warnings.warn(warning, ConvergenceWarning, stacklevel=4)
