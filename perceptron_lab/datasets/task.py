"""A classification task: examples to learn from, and examples to be judged by."""

from __future__ import annotations

from dataclasses import dataclass

import scipy.sparse as sp

from perceptron_lab.results import FloatArray

Examples = FloatArray | sp.csr_array
"""One example per row: dense, or sparse in CSR."""


@dataclass(frozen=True)
class Task:
    """Two classes, split into training and test examples.

    Parameters
    ----------
    name
        The name of the positive class.
    examples, labels
        To learn from: shape ``(m, features)``, and +1 or -1 each, shape ``(m,)``.
    test_examples, test_labels
        To be judged by, never to choose anything by.
    """

    name: str
    examples: Examples
    labels: FloatArray
    test_examples: Examples
    test_labels: FloatArray
