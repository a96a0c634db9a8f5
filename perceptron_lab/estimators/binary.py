"""What the classifiers of two classes share: checks, signs and predictions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt
from pydantic import ValidationError
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from perceptron_lab.errors import InputError
from perceptron_lab.inputs import refuse_rounded
from perceptron_lab.results import FloatArray

Record = TypeVar("Record")


class BinaryClassifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A classifier of two classes by the sign of its decision function.

    The larger label, ``classes_[1]``, is positive: it lies inside the ellipsoid.
    """

    @abstractmethod
    def decision_function(self, X: Any) -> FloatArray:
        """Return f(x) of every example, shape ``(m,)``: positive inside the ellipsoid."""

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return ``classes_[1]`` where f(x) > 0, and ``classes_[0]`` elsewhere.

        Parameters
        ----------
        X
            Examples, shape ``(m, n_features_in_)``.
        """
        inside = self.decision_function(X) > 0.0
        labels: npt.NDArray[Any] = self.classes_[inside.astype(np.intp)]
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = self._sparse_formats() is not False
        return tags

    def _sparse_formats(self) -> str | Literal[False]:
        """Return the format in which sparse examples are taken, or False for dense ones only."""
        return False

    def _learned(self, examples: Any, labels: Any) -> tuple[Any, npt.NDArray[np.bool_]]:
        """Return checked examples and which of them are positive; set ``classes_``."""
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
        return data, place == 1

    def _new(self, examples: Any) -> Any:
        """Return checked new examples."""
        check_is_fitted(self)
        accepted = self._sparse_formats()
        data = validate_data(self, examples, accept_sparse=accepted, dtype=np.float64, reset=False)
        refuse_rounded(examples)
        return data


def record_of(kind: Callable[..., Record], own: Mapping[str, str], **parameters: Any) -> Record:
    """Return a record of parameters; its complaints name the classifier's own.

    Parameters
    ----------
    kind
        The record's class.
    own
        Names of the record -> names of the classifier, where they differ.
    parameters
        By the record's names.

    Raises
    ------
    InputError
        If a parameter is not allowed.
    """
    try:
        return kind(**parameters)
    except ValidationError as error:
        first = error.errors()[0]
        name, reason = str(first["loc"][0]), str(first["msg"])
        raise InputError(
            f"{own.get(name, name)}={first['input']!r}: {reason[:1].lower()}{reason[1:]}"
        ) from None
