"""The base of the classifiers of two classes: parameters, examples and labels, predictions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cache
from typing import Any, ClassVar, Literal, Self, get_type_hints

import numpy as np
import numpy.typing as npt
from pydantic import ConfigDict, TypeAdapter, ValidationError
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from perceptron_lab.datasets.problem import Examples
from perceptron_lab.errors import InputError
from perceptron_lab.goals import STRICT
from perceptron_lab.inputs import checked_rows, refuse_rounded
from perceptron_lab.results import FloatArray

BoolArray = npt.NDArray[np.bool_]


@cache
def _ranges(kind: type) -> dict[str, TypeAdapter[Any]]:
    """Return the allowed values of each parameter, by the annotations of ``__init__``."""
    hints = get_type_hints(vars(kind)["__init__"], include_extras=True)
    config = STRICT | ConfigDict(arbitrary_types_allowed=True)
    return {
        name: TypeAdapter(hint, config=config) for name, hint in hints.items() if name != "return"
    }


class BinaryClassifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A classifier of two classes by the sign of its decision function f.

    The larger label, ``classes_[1]``, is positive: where f is an ellipsoid's, it lies inside. A
    fitted classifier has ``n_iter_``, the iterations of its solver, and ``converged_``, whether
    that ended by its tolerance.
    """

    n_iter_: int
    converged_: bool
    takes_sparse: ClassVar[bool] = False

    @abstractmethod
    def fit(self, X: npt.ArrayLike | Examples, y: npt.ArrayLike) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X
            Examples of numbers that doubles hold, dense, or sparse where the classifier takes such,
            shape ``(m, features)``.
        y
            Labels of two classes, shape ``(m,)``.

        Raises
        ------
        ValueError
            If examples or labels are not as described, or a parameter is out of its range.
        """

    @abstractmethod
    def decision_function(self, X: npt.ArrayLike | Examples) -> FloatArray:
        """Return f(x) of every example, shape ``(m,)``: positive for ``classes_[1]``."""

    def predict(self, X: npt.ArrayLike | Examples) -> npt.NDArray[Any]:
        """Return ``classes_[1]`` where f(x) > 0, and ``classes_[0]`` elsewhere.

        Parameters
        ----------
        X
            Examples, shape ``(m, n_features_in_)``.
        """
        inside = self.decision_function(X) > 0.0
        labels: npt.NDArray[Any] = self.classes_[inside.astype(np.intp)]
        return labels

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = self._sparse_formats() is not False
        return tags

    def _sparse_formats(self) -> str | Literal[False]:
        """Return the format in which sparse examples are taken, or False for dense ones only."""
        return "csr" if self.takes_sparse else False

    def _check_parameters(self) -> None:
        for name, allowed in _ranges(type(self)).items():
            value = getattr(self, name)
            try:
                allowed.validate_python(value)
            except ValidationError as error:
                reason = str(error.errors()[0]["msg"])
                raise InputError(f"{name}={value!r}: {reason[:1].lower()}{reason[1:]}") from None

    def _learned(self, examples: Any, labels: Any) -> tuple[Any, BoolArray]:
        """Return checked examples and which of them are positive; set ``classes_``."""
        self._check_parameters()
        accepted = self._sparse_formats()
        data, given = validate_data(
            self, examples, labels, accept_sparse=accepted, dtype=np.float64
        )
        refuse_rounded(examples)
        check_classification_targets(given)
        kind = type_of_target(given, input_name="y")
        if kind != "binary":
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                f"{kind}; for more classes wrap it in OneVsRestClassifier"
            )
        self.classes_, place = np.unique(given, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs examples of two classes; the data has one class, "
                f"{self.classes_[0]!r}"
            )
        return checked_rows(data), place == 1

    def _new(self, examples: Any) -> Any:
        """Return checked new examples."""
        check_is_fitted(self)
        accepted = self._sparse_formats()
        data = validate_data(self, examples, accept_sparse=accepted, dtype=np.float64, reset=False)
        refuse_rounded(examples)
        return checked_rows(data)
