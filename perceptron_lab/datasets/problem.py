"""One instance of a dataset: a conic system, and the classification tasks that go with it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from perceptron_lab.core.facts import Facts
from perceptron_lab.core.results import AnyArray, FloatArray

if TYPE_CHECKING:
    from perceptron_lab.systems import System

# One example per row: dense, or sparse in CSR
Examples = FloatArray | sp.csr_array
# Further metrics of a point, by name: numbers or arrays
Measure = Callable[[FloatArray], Mapping[str, float | AnyArray]]


@dataclass(frozen=True)
class Task:
    """A classification task: two classes, split into training and test examples.

    Parameters
    ----------
    name
        The name of the positive class.
    examples, labels
        Training examples, shape ``(m, features)``, and labels +1 or -1, shape ``(m,)``.
    test_examples, test_labels
        Test examples, for evaluation only; there may be none, for learners that are not evaluated.
    """

    name: str
    examples: Examples
    labels: FloatArray
    test_examples: Examples
    test_labels: FloatArray


@dataclass(frozen=True)
class Problem:
    """One instance of a dataset.

    Parameters
    ----------
    name, system
        The instance's name, and the system that algorithms solve.
    sha256
        Digest of the data: of a file's bytes, or of a generated instance's arrays or text.
    facts
        What is known about the system before an algorithm runs.
    measure
        Metrics of a point, shape ``(unknowns,)``, which become columns ``measure.NAME``; or None.
    tasks
        For learners: one task, or repetitions of it; empty for systems without labels.
    """

    name: str
    system: System
    sha256: str
    facts: Facts
    measure: Measure | None = None
    tasks: tuple[Task, ...] = ()


def sha256_of_arrays(*arrays: AnyArray) -> str:
    """Return the sha256 of the types, shapes and bytes of arrays, in this order."""
    digest = hashlib.sha256()
    for array in arrays:
        # Type and shape as well: equal bytes of other shapes are other data.
        digest.update(f"{array.dtype.str} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
