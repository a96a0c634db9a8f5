"""Examples of scikit-learn's data sets: loaded, split, scaled, expanded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from perceptron_lab.datasets.generated.generator import seed_sequence
from perceptron_lab.errors import InputError
from perceptron_lab.operators.kernel_matrix import KernelMatrix, kernel_matrix
from perceptron_lab.operators.kernels import Kernel
from perceptron_lab.results import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Examples:
    """Scaled examples for training and for testing; one object serves all instances they share.

    Parameters
    ----------
    train, labels
        Shapes ``(m, features)`` and ``(m,)``; labels are the classes 0, 1, ...
    test, test_labels
        Shapes ``(t, features)`` and ``(t,)``, of all classes of the source.
    kernel
        None for affine classifiers.
    """

    train: FloatArray
    labels: IntArray
    test: FloatArray
    test_labels: IntArray
    kernel: Kernel | None

    @cached_property
    def gram(self) -> KernelMatrix:
        """K(x_i, x_j) of the training examples, shape ``(m, m)``, enclosed."""
        assert self.kernel is not None
        return kernel_matrix(self.kernel, self.train)

    @cached_property
    def test_gram(self) -> FloatArray:
        """K(x, x_j) of test and training examples, shape ``(t, m)``."""
        assert self.kernel is not None
        return self.kernel.matrix(self.test, self.train)


_shared: WeakValueDictionary[tuple[Any, ...], Examples] = WeakValueDictionary()
"""Examples in use: the ten classifiers of one seed share their kernel matrices."""


def examples_of(
    source: str,
    classes: tuple[int, int] | None,
    *,
    scaling: str = "raw",
    degree: int = 1,
    test_fraction: float = 0.0,
    kernel: Kernel | None = None,
    seed: int = 0,
) -> Examples:
    """Return examples; equal arguments give the same object as long as it is in use.

    Parameters
    ----------
    source
        ``digits``, ``breast-cancer`` or ``wine``.
    classes
        The classes of the training examples; None for all.
    scaling, degree, test_fraction
        As for :class:`perceptron_lab.datasets.collections.tabular.Tabular`.
    kernel
        Kept with the examples.
    seed
        Of the split; without meaning if test_fraction is 0.

    Raises
    ------
    InputError
        If the seed is negative, or the test_fraction leaves a class without examples.
    """
    seed = seed if test_fraction else 0
    key = (source, classes, scaling, degree, test_fraction, kernel, seed)
    found = _shared.get(key)
    if found is not None:
        return found
    data, labels = _loaded(source)
    train, test = split(source, labels, test_fraction, seed)
    if classes is not None:
        train = train[np.isin(labels[train], classes)]
    scaled = _scaling(scaling, data[train])
    features = [_monomials(scaled(data[part]), degree) for part in (train, test)]
    made = Examples(features[0], labels[train], features[1], labels[test], kernel)
    _shared[key] = made
    return made


def labels_of(source: str) -> IntArray:
    """Return the class of every example of a source."""
    return _loaded(source)[1]


def split(
    source: str, labels: IntArray, test_fraction: float, seed: int
) -> tuple[IntArray, IntArray]:
    """Return the positions of training and test examples, ascending, the classes in proportion.

    Raises
    ------
    InputError
        If the seed is negative, or the test_fraction leaves a class without examples.
    """
    every = np.arange(len(labels))
    if not test_fraction:
        return every, every[:0]
    from sklearn.model_selection import train_test_split

    state = int(seed_sequence(f"{source}-split", seed).generate_state(1)[0])
    try:
        train, test = train_test_split(
            every, test_size=test_fraction, stratify=labels, random_state=state
        )
    except ValueError as error:
        raise _unsplit(source, test_fraction, str(error).rstrip(".")) from None
    if not len(np.unique(labels[train])) == len(np.unique(labels[test])) == labels.max() + 1:
        raise _unsplit(source, test_fraction, "a class would have no example on one side")
    return np.sort(train), np.sort(test)


def _unsplit(source: str, test_fraction: float, reason: str) -> InputError:
    return InputError(
        f"{source} cannot be split with test_fraction {test_fraction:g}: {reason}; choose one "
        "nearer to 0.5"
    )


def _loaded(source: str) -> tuple[FloatArray, IntArray]:
    """Return examples and classes."""
    # Imported here, as below: checking a configuration need not wait for scikit-learn.
    from sklearn import datasets

    loaders = {
        "digits": datasets.load_digits,
        "breast-cancer": datasets.load_breast_cancer,
        "wine": datasets.load_wine,
    }
    data, labels = loaders[source](return_X_y=True)
    return np.asarray(data, dtype=np.float64), np.asarray(labels, dtype=np.int64)


def _scaling(kind: str, train: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Return the function that scales examples, its constants taken from ``train`` alone."""
    shift: FloatArray | float = 0.0
    scale: FloatArray | float = 1.0
    if kind == "standard":
        from sklearn.preprocessing import StandardScaler

        scaler = StandardScaler().fit(train)
        shift, scale = scaler.mean_, scaler.scale_
    elif kind == "unit":
        scale = float(np.linalg.norm(train, axis=1).max())
    elif kind == "range":
        scale = float(np.abs(train).max())
    return lambda examples: (examples - shift) / scale


def _monomials(examples: FloatArray, degree: int) -> FloatArray:
    """Return the features, and for degree 2 all x_i x_j (i <= j) after them."""
    if degree == 1:
        return examples
    first, second = np.triu_indices(examples.shape[1])
    return np.hstack([examples, examples[:, first] * examples[:, second]])
