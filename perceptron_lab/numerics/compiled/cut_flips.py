"""Local improvement of cuts: vertices change sides one at a time, in cyclic order."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import numpy.typing as npt

from perceptron_lab.numerics.compiled.kernel import Vector, kernel

Signs = Annotated[npt.NDArray[np.int8], "int8[::1]"]
Int32Vector = Annotated[npt.NDArray[np.int32], "int32[::1]"]


@kernel()
def flip_sweeps(
    starts: Int32Vector,
    columns: Int32Vector,
    weights: Vector,
    margins: Vector,
    signs: Signs,
    most: int,
) -> int:
    """Flip the sign s_i of vertices with s_i sum_j c_ij s_j < -margin_i, in place.

    A flip raises s'Cs by -4 s_i sum_j c_ij s_j. Where the margins bound the rounding of these sums
    every flip raises it in truth, so that no signs come back and the sweeps end: each vertex then
    has at least half of what its row can give, up to rounding.

    Parameters
    ----------
    starts, columns, weights
        C without its diagonal, in CSR form, both triangles.
    margins
        At least 0, shape ``(n,)``.
    signs
        s, +1 or -1 each, shape ``(n,)``.
    most
        Flips at most.

    Returns
    -------
    flips
        How many were made.
    """
    size = signs.shape[0]
    flips, quiet, vertex = 0, 0, 0
    while quiet < size and flips < most:
        total = 0.0
        for place in range(starts[vertex], starts[vertex + 1]):
            total += weights[place] * signs[columns[place]]
        if signs[vertex] * total < -margins[vertex]:
            signs[vertex] = -signs[vertex]
            flips += 1
            quiet = 0
        else:
            quiet += 1
        vertex += 1
        if vertex == size:
            vertex = 0
    return flips
