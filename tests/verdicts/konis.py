"""Konis's linear program in doubles, by HiGHS: another way to ask, which proves nothing.

max sum_i a_i'b subject to A b >= 0, -1 <= b <= 1 (K. Konis, Linear programming algorithms for
detecting separated data in binary logistic regression models, Oxford 2007): if the optimum is 0 the
classes overlap, and else they are separated.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from perceptron_lab.linear.floating_rows import INFINITE, run_highs
from tests.verdicts.labelled_systems import Labelled

TOLERANCE = 1e-9


def konis_separates(system: Labelled) -> bool:
    """Return whether the program in doubles calls the classes separated, in either way."""
    examples: Any = np.array(system.examples, dtype=float)
    constant = np.ones((len(examples), int(system.affine)))
    rows = np.hstack([examples, constant]) * np.array(system.labels)[:, None]
    width, count = rows.shape[1], rows.shape[0]
    found = run_highs(
        -rows.sum(axis=0),
        (np.full(width, -1.0), np.ones(width)),
        sp.csr_array(rows),
        (np.zeros(count), np.full(count, INFINITE)),
        60.0,
    )
    return bool(found.optimal and (rows @ found.values).sum() > TOLERANCE)
