"""The factor f_t of an update that asks for the margin beta (`TsampoukaShaweTaylor`, (2.32))."""

from __future__ import annotations

from typing import Literal

import numpy as np

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray

# ``one``: f_t = 1; ``angle``: f_t = 1 - beta u_t'y_k / norm(y_k)^2
Factor = Literal["one", "angle"]


def factor_range(factor: Factor, beta: float, shortest: float) -> tuple[float, float]:
    """Return f_min and f_max over u_t'y_k <= beta and rows of norm r = ``shortest`` or more.

    Since -norm(y_k) <= u_t'y_k <= beta, they are 1 - beta^2 / r^2 and 1 + beta / r; f_min > 0 for
    beta < r, and gamma_d <= r.
    """
    if factor == "one":
        return 1.0, 1.0
    part = beta / shortest
    return (1.0 - part) * (1.0 + part), 1.0 + part


def squares_above(rows: FloatArray, beta: float) -> FloatArray:
    """Return norm(y_k)^2, shape ``(m,)``; refuse rows that are too short for the margin.

    Raises
    ------
    InputError
        If a row is no longer than beta: no point has more than its norm as a score.
    """
    squares = np.einsum("ij,ij->i", rows, rows)
    shortest = int(squares.argmin())
    length = float(np.sqrt(squares[shortest]))
    if length <= beta:
        raise InputError(
            f"beta={beta}, but row {shortest} has the norm {length:.3g}, above which no margin is; "
            "give a smaller beta"
        )
    return np.asarray(squares)
