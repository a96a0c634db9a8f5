"""The data sets that scikit-learn holds, as systems of linear or kernel classifiers.

scikit-learn is imported where it is needed: checking a configuration need not wait for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, Literal
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt
from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from perceptron_lab.cones.operators import kernels
from perceptron_lab.core.errors import InputError, did_you_mean
from perceptron_lab.core.refusals import Count, Positive, parameter_record
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.datasets.dataset import Dataset, Defaults, Distinct, defaulted_with
from perceptron_lab.datasets.generated.generator import split_by_class
from perceptron_lab.datasets.problem import Problem, Task, sha256_of_arrays
from perceptron_lab.systems import ConicSystem

Source = Literal["digits", "breast-cancer", "wine", "iris"]

_CLASSES = {"digits": 10, "breast-cancer": 2, "wine": 3, "iris": 3}
_KERNELS = {"linear": kernels.Linear, "polynomial": kernels.Polynomial, "rbf": kernels.Rbf}
OF_KERNEL: Defaults = {
    "none": {},
    "linear": {},
    "polynomial": {"gamma": None, "polynomial_degree": 3, "coef0": 1.0},
    "rbf": {"gamma": None},
}


def stated_kernel(record: Any) -> kernels.Kernel | None:
    """Return the kernel of a parameter record, with its parameters; None for ``none``."""
    kind, names = _KERNELS.get(record.kernel), OF_KERNEL[record.kernel]
    values = {name.removeprefix("polynomial_"): getattr(record, name) for name in names}
    return None if kind is None else kind(**values)


def _check_dataset(name: str, info: ValidationInfo) -> str:
    """Return the name if the source and the task have this instance, or raise a ValueError."""
    if "source" not in info.data or "task" not in info.data:
        return name
    instances = list(instances_of(info.data["source"], info.data["task"]))
    if name not in instances:
        raise ValueError(
            f"no instance is called {name!r}{did_you_mean(name, instances)}; "
            f"{info.data['task']} has {len(instances)}, {instances[0]} to {instances[-1]}"
        )
    return name


@parameter_record
class Tabular(Dataset):
    """Real data included in scikit-learn: digits, breast cancer, wine, iris; no download is needed.

    Sought is a classifier f with f(x) > 0 on one class and f(x) < 0 on the others: affine,
    f(x) = w'x + b (lifting, section 3.2 of `PerceptronNotes`), or in the function space of a
    kernel. ``digits-3-rest`` separates class 3 from all others, ``digits-8-9`` class 8 from 9; f is
    positive on the class that is named first. ``breast-cancer``, whose two classes make one
    instance, has f positive on class 1, benign.

    With a test_fraction the classes are split in proportion, by the seed: all instances of one seed
    and source share one split. Then each answer is measured: ``test_error``, the fraction of the
    test examples of its two classes on which sign f is wrong (f = 0 is wrong), and ``decisions``,
    f(x) for all test examples in the order of :func:`held_out_labels`, in single precision since
    traces hold many of them. Learners have a task: the scaled features (whatever the kernel) of the
    training and test examples of its classes; without a test_fraction only such learners can have
    it as are not judged by test examples.

    Licence: BSD 3-Clause, with scikit-learn; all of them are CC BY 4.0 at the UCI Machine Learning
    Repository.

    Parameters
    ----------
    source
        ``digits``: 1797 examples, 64 features, 10 classes. ``breast-cancer``: 569, 30, 2.
        ``wine``: 178, 13, 3. ``iris``: 150, 4, 3.
    task
        ``one-vs-rest`` (default): one instance per class. ``pairs``: one per pair of classes.
    instances
        Some of the instances' names; by default all.
    scaling
        ``raw`` (default); ``standard``: mean 0 and variance 1 of each feature; ``unit``: divided by
        the largest norm; ``range``: divided by the largest absolute entry, so that digits' pixels
        lie in [0, 1]. Computed from the training examples of the instance alone.
    degree
        1 (default), or 2: all monomials up to degree 2 of the scaled features.
    test_fraction
        Of the examples, 0 (default) to below 1, not used for training.
    kernel
        ``none`` (default): affine. ``linear``, ``polynomial``, ``rbf``: without bias, features
        normalised to K(x, x) = 1.
    gamma
        Of polynomial and rbf, > 0 (default 1 / features).
    polynomial_degree, coef0
        Of polynomial, (gamma x'z + coef0)^polynomial_degree: >= 1 (default 3), >= 0 (default 1).
    margin
        Of affine classifiers, as for :meth:`.ConicSystem.from_labelled`: ``unit`` (default),
        ``directional`` or ``geometric``.
    """

    source: Source
    task: Literal["one-vs-rest", "pairs"] = "one-vs-rest"
    instances: Annotated[list[Annotated[str, AfterValidator(_check_dataset)]], Distinct] | None = (
        None
    )
    scaling: Literal["raw", "standard", "unit", "range"] = "raw"
    degree: Annotated[int, Field(ge=1, le=2)] = 1
    test_fraction: Annotated[float, Field(ge=0, lt=1)] = 0.0
    kernel: Literal["none", "linear", "polynomial", "rbf"] = "none"
    gamma: Positive | None = None
    polynomial_degree: Count | None = None
    coef0: Annotated[float, Field(ge=0)] | None = None
    margin: Literal["unit", "directional", "geometric"] = "unit"

    _of_the_kernel = defaulted_with("kernel", OF_KERNEL, "gamma", "polynomial_degree", "coef0")

    @field_validator("margin")
    @classmethod
    def _without_kernel(cls, margin: str, info: ValidationInfo) -> str:
        if margin != "unit" and info.data.get("kernel", "none") != "none":
            raise ValueError(f"a kernel has the unit margin alone; delete margin {margin}")
        return margin

    def names(self) -> list[str]:
        """Return the names of the instances; no data is loaded."""
        every = instances_of(self.source, self.task)
        return list(every if self.instances is None else self.instances)

    def load(self, name: str, *, seed: int, base: Path) -> Problem:
        """Return an instance; the seed is that of the split into training and test examples."""
        self.check_name(name)
        positive, negative = instances_of(self.source, self.task)[name]
        examples = self.examples(None if negative is None else (positive, negative), seed)
        signs = np.where(examples.labels == positive, 1.0, -1.0)
        if examples.kernel is None:
            system = ConicSystem.from_labelled(examples.train, signs, margin=self.margin)
        else:
            system = ConicSystem.from_kernel("precomputed", examples.gram, signs)
        held_out = HeldOut(examples, signs, positive, negative)
        sha256 = sha256_of_arrays(examples.train, signs, examples.test, examples.test_labels)
        measure = held_out if self.test_fraction else None
        return Problem(name, system, sha256, system.facts(), measure, (held_out.task(name),))

    def examples(self, classes: tuple[int, int] | None = None, seed: int = 0) -> Examples:
        """Return examples; equal arguments give the same object as long as it is in use.

        The training examples are of some classes, or of all (None); the seed is that of the split.
        """
        kernel = stated_kernel(self)
        seed = seed if self.test_fraction else 0
        key = (self.source, classes, self.scaling, self.degree, self.test_fraction, kernel, seed)
        shared = _shared.get(key)
        if shared is not None:
            return shared
        data, labels = _loaded(self.source)
        train, test = split(self.source, labels, self.test_fraction, seed)
        if classes is not None:
            train = train[np.isin(labels[train], classes)]
        # Taken from the training examples alone: test examples must not choose anything
        shift: FloatArray | float = 0.0
        scale: FloatArray | float = 1.0
        if self.scaling == "standard":
            from sklearn.preprocessing import StandardScaler

            scaler = StandardScaler().fit(data[train])
            shift, scale = scaler.mean_, scaler.scale_
        elif self.scaling == "unit":
            scale = float(np.linalg.norm(data[train], axis=1).max())
        elif self.scaling == "range":
            scale = float(np.abs(data[train]).max())
        features = [(data[part] - shift) / scale for part in (train, test)]
        if self.degree == 2:  # all x_i x_j, i <= j, after the features
            first, second = np.triu_indices(data.shape[1])
            features = [np.hstack([part, part[:, first] * part[:, second]]) for part in features]
        shared = Examples(features[0], labels[train], features[1], labels[test], kernel)
        _shared[key] = shared
        return shared


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The metrics of a classifier on the test examples.

    Parameters
    ----------
    signs
        +1 for the training examples of the positive class, -1 for the others.
    negative
        The negative class; None: all the others.
    """

    examples: Examples
    signs: FloatArray
    positive: int
    negative: int | None

    def decisions(self, point: FloatArray) -> FloatArray:
        """Return f(x) of the test examples, shape ``(t,)``.

        The point is (w, b) of w'x + b, or c of sum_j c_j s_j K(x_j, x).
        """
        if self.examples.kernel is None:
            return np.asarray(self.examples.test @ point[:-1] + point[-1])
        return np.asarray(self.examples.test_gram @ (self.signs * point))

    def task(self, name: str) -> Task:
        """Return the task of learning the positive class, under the instance's name.

        Its test examples are those of its two classes.
        """
        signs, test_rows = self._test_signs()
        examples = self.examples
        return Task(name, examples.train, self.signs, examples.test[test_rows], signs[test_rows])

    def _test_signs(self) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        """Return the signs of the test examples, and the mask of those in the two classes."""
        labels = self.examples.test_labels
        signs = np.where(labels == self.positive, 1.0, -1.0)
        if self.negative is None:
            return signs, np.full(len(labels), True)
        return signs, (labels == self.positive) | (labels == self.negative)

    def __call__(self, point: FloatArray) -> dict[str, float | npt.NDArray[np.float32]]:
        """Return ``test_error`` and ``decisions``."""
        decisions = self.decisions(point)
        signs, test_rows = self._test_signs()
        error_rate = float(np.mean(signs[test_rows] * decisions[test_rows] <= 0.0))
        return {"test_error": error_rate, "decisions": decisions.astype(np.float32)}


def held_out_labels(record: Tabular, seed: int) -> IntArray:
    """Return the classes of the test examples that all instances of a record and seed share.

    In the order of the measure ``decisions``: with the decisions of all one-vs-rest classifiers of
    the seed, argmax over the classes is the prediction for each.
    """
    if not record.test_fraction:
        raise InputError(f"{record.source} has no test examples here; give test_fraction above 0")
    labels = labels_of(record.source)
    return np.asarray(labels[split(record.source, labels, record.test_fraction, seed)[1]])


def instances_of(source: str, task: str) -> dict[str, tuple[int, int | None]]:
    """Return instance name -> positive class and negative class (None: all others)."""
    count = _CLASSES[source]
    if count == 2:
        return {source: (1, 0)}
    if task == "pairs":
        return {f"{source}-{a}-{b}": (a, b) for a, b in combinations(range(count), 2)}
    return {f"{source}-{a}-rest": (a, None) for a in range(count)}


@dataclass(frozen=True, eq=False)
class Examples:
    """Scaled training and test examples, one object for all instances that share them.

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
    kernel: kernels.Kernel | None

    @cached_property
    def gram(self) -> kernels.KernelMatrix:
        """K(x_i, x_j) of the training examples, shape ``(m, m)``, enclosed."""
        assert self.kernel is not None
        return kernels.kernel_matrix(self.kernel, self.train)

    @cached_property
    def test_gram(self) -> FloatArray:
        """K(x, x_j) of test and training examples, shape ``(t, m)``."""
        assert self.kernel is not None
        return self.kernel.matrix(self.test, self.train)


# Examples in use: the ten classifiers of one seed share their kernel matrices
_shared: WeakValueDictionary[tuple[object, ...], Examples] = WeakValueDictionary()


def labels_of(source: str) -> IntArray:
    """Return the class of every example of a source."""
    return _loaded(source)[1]


def split(source: str, labels: IntArray, fraction: float, seed: int) -> tuple[IntArray, IntArray]:
    """Return the ascending indices of training and test examples, stratified by class."""
    every = np.arange(len(labels))
    if not fraction:
        return every, every[:0]
    try:
        train, test = split_by_class(source, labels, fraction, seed)
        if not len(np.unique(labels[train])) == len(np.unique(labels[test])) == labels.max() + 1:
            raise ValueError("a class would have no example on one side")
    except ValueError as error:
        raise InputError(
            f"{source} cannot be split with test_fraction {fraction:g}: "
            f"{str(error).rstrip('.')}; choose one nearer to 0.5"
        ) from None
    return train, test


def _loaded(source: str) -> tuple[FloatArray, IntArray]:
    from sklearn import datasets

    data, labels = getattr(datasets, f"load_{source.replace('-', '_')}")(return_X_y=True)
    return np.asarray(data, dtype=np.float64), np.asarray(labels, dtype=np.int64)
