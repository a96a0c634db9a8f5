"""The support vector machine with a polynomial kernel as a learner."""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np
import scipy.sparse as sp
from pydantic import Field
from pydantic.dataclasses import dataclass

from perceptron_lab.datasets.problem import Task
from perceptron_lab.learners.controls import PolynomialSvm
from perceptron_lab.learners.features.kernel_rows import KernelRows
from perceptron_lab.learners.learning import Learned
from perceptron_lab.learners.registered.extraction import CHECKED, OnFeatures
from perceptron_lab.learners.registered.tuned import Candidates, Folds, learn_tuned
from perceptron_lab.learners.tuning import Grid
from perceptron_lab.operators.kernels import Polynomial

MOST_KERNELS = 1
"""Kernel matrices that are kept: the categories of one collection share theirs."""

_kept: OrderedDict[tuple[str, Polynomial], tuple[KernelRows, float]] = OrderedDict()


@dataclass(frozen=True, config=CHECKED)
class TunedPolynomialSvm(OnFeatures):
    """The soft-margin machine with the kernel (1 + x'z)^degree, C chosen by cross-validation.

    See :class:`~perceptron_lab.learners.controls.PolynomialSvm`; with degree 2 it may draw any
    ellipsoid, and other quadrics. Sparse examples are known by one kernel matrix of training and
    test examples, n^2 doubles, which is kept for the next task with the same examples.

    Figures: those of every tuned learner, and for sparse examples ``kernel_seconds``, processor
    time of that matrix (computed once), which is no part of ``cpu_seconds``.

    Parameters
    ----------
    components
        The number of Gram-Schmidt features, 1 or more (default 30); None for the examples as they
        are, dense or sparse.
    feature_kernel
        Of these features: ``linear`` (default) x'z, ``polynomial``
        (1 + gamma x'z)^polynomial_degree, or ``rbf`` exp(-gamma norm(x - z)^2).
    gamma, polynomial_degree
        Of that kernel: > 0 (default 1 / columns of the examples); 1 or more (default 2).
    penalties
        The values of C that are tried, each above 0 (default 1e-2 to 1e4).
    degree
        Of the machine's own kernel, 1 or more (default 2).
    class_weight
        ``balanced``, or None (default).
    folds
        Of the cross-validation, 2 or more (default 3).
    iterations
        LIBSVM's at most in one fit, 1 or more (default 10 million).
    """

    penalties: Candidates = (1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3, 1e4)
    degree: Annotated[int, Field(ge=1)] = 2
    class_weight: Literal["balanced"] | None = None
    folds: Folds = 3
    iterations: Annotated[int, Field(ge=1)] = 10_000_000

    def learn(self, task: Task, seed: int) -> Learned:
        """Choose on training examples, fit, and score the test examples."""
        kernel = Polynomial(degree=self.degree, coef0=1.0, gamma=1.0)
        model = PolynomialSvm(
            kernel=kernel, class_weight=self.class_weight, iterations=self.iterations
        )
        grid = Grid(model, {"penalty": self.penalties})
        if self.components is not None or not sp.issparse(task.examples):
            return learn_tuned(grid, task, self.transformer(seed), self.folds, seed)
        rows, seconds = _kernel_rows(kernel, task)
        count = len(task.labels)
        indices = np.arange(rows.shape[0])
        parts: list[Any] = [rows[indices[:count]], rows[indices[count:]]]
        known = replace(task, examples=parts[0], test_examples=parts[1])
        learned = learn_tuned(grid, known, None, self.folds, seed)
        own = {"components": float(task.examples.shape[1]), "kernel_seconds": seconds}
        return replace(learned, figures=learned.figures | own)


def _kernel_rows(kernel: Polynomial, task: Task) -> tuple[KernelRows, float]:
    """Return the kernel matrix of training and test examples, and the seconds it took."""
    examples: list[Any] = [task.examples, task.test_examples]
    both = sp.csr_array(sp.vstack(examples))
    parts = (both.data, both.indices, both.indptr)
    digest = hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in parts))
    key = (digest.hexdigest(), kernel)
    if key not in _kept:
        while len(_kept) >= MOST_KERNELS:
            _kept.popitem(last=False)
        began = time.process_time()
        rows = KernelRows.of(kernel, both)
        _kept[key] = (rows, time.process_time() - began)
    return _kept[key]
