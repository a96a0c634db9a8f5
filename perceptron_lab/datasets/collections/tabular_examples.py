"""Examples of scikit-learn's data sets: loaded, split, scaled, expanded."""

from __future__ import annotations

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


# Examples in use: the ten classifiers of one seed share their kernel matrices
_shared: WeakValueDictionary[tuple[Any, ...], Examples] = WeakValueDictionary()


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

    The training examples are of some classes, or of all (None); the seed is that of the split.
    Other parameters are those of :class:`perceptron_lab.datasets.collections.tabular.Tabular`.
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
    shift, scale = _scaling(scaling, data[train])
    features = [(data[part] - shift) / scale for part in (train, test)]
    if degree == 2:  # all x_i x_j, i <= j, after the features
        first, second = np.triu_indices(data.shape[1])
        features = [np.hstack([part, part[:, first] * part[:, second]]) for part in features]
    made = Examples(features[0], labels[train], features[1], labels[test], kernel)
    _shared[key] = made
    return made


def labels_of(source: str) -> IntArray:
    """Return the class of every example of a source."""
    return _loaded(source)[1]


def split(
    source: str, labels: IntArray, test_fraction: float, seed: int
) -> tuple[IntArray, IntArray]:
    """Return the positions of training and test examples, ascending, the classes in proportion."""
    every = np.arange(len(labels))
    if not test_fraction:
        return every, every[:0]
    from sklearn.model_selection import train_test_split

    state = int(seed_sequence(f"{source}-split", seed).generate_state(1)[0])
    try:
        train, test = train_test_split(
            every, test_size=test_fraction, stratify=labels, random_state=state
        )
        if not len(np.unique(labels[train])) == len(np.unique(labels[test])) == labels.max() + 1:
            raise ValueError("a class would have no example on one side")
    except ValueError as error:
        raise InputError(
            f"{source} cannot be split with test_fraction {test_fraction:g}: "
            f"{str(error).rstrip('.')}; choose one nearer to 0.5"
        ) from None
    return np.sort(train), np.sort(test)


def _loaded(source: str) -> tuple[FloatArray, IntArray]:
    # Imported here, as below: checking a configuration need not wait for scikit-learn.
    from sklearn import datasets

    data, labels = getattr(datasets, f"load_{source.replace('-', '_')}")(return_X_y=True)
    return np.asarray(data, dtype=np.float64), np.asarray(labels, dtype=np.int64)


def _scaling(kind: str, train: FloatArray) -> tuple[FloatArray | float, FloatArray | float]:
    """Return shift and scale of examples, taken from ``train`` alone."""
    if kind == "standard":
        from sklearn.preprocessing import StandardScaler

        scaler = StandardScaler().fit(train)
        return scaler.mean_, scaler.scale_
    if kind == "unit":
        return 0.0, float(np.linalg.norm(train, axis=1).max())
    return 0.0, float(np.abs(train).max()) if kind == "range" else 1.0
