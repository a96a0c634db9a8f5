"""V by accelerated coordinate ascent: max <C, VV'> over matrices with rows of norm 1.

The best v_i for the other rows is g_i / |g_i|, g_i = sum_{j != i} c_ij v_j; a sweep sets every row
so, in turn. Before a sweep V is extrapolated by t / (t + 5) of the last step, t the sweeps since
the last restart, as Nesterov does; it restarts where a step turns against the momentum. Of rank
k with k (k + 1) > 2 n, and mostly of a far smaller one, all local maxima are global.

References
----------
P.-W. Wang, W.-C. Chang, J. Z. Kolter, The mixing method, arXiv:1706.00476. B. O'Donoghue,
E. Candes, Adaptive restart for accelerated gradient schemes, Found. Comput. Math. 15 (2015):
restart by the gradient. N. Boumal, V. Voroninski, A. Bandeira, The non-convex Burer-Monteiro
approach works on smooth semidefinite programs, NeurIPS 2016.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.compiled.maxcut import sweep
from perceptron_lab.problems.optima.maxcut.program import MaxCutProgram

# t / (t + this): with 2 to 6 the sweeps to a width differ by less than with the seed
DELAY = 5.0
# The size of new columns beside rows of norm 1
_NEW = 1e-3
# and that of a direction in which F(x) is negative
_FIRST = 0.1


class Ascent:
    """The iteration on C / 2^k, the exponent k of the program.

    Parameters
    ----------
    program
        The program.
    rank
        k, columns of V.
    rng
        Draws the rows of the first V, uniformly.
    """

    def __init__(self, program: MaxCutProgram, rank: int, rng: np.random.Generator) -> None:
        whole = program.weights
        self._starts = whole.indptr.astype(np.int64)
        self._columns = whole.indices.astype(np.int64)
        self._values = np.ldexp(whole.data, -program.exponent)
        self.weights = sp.csr_array((self._values, whole.indices, whole.indptr), shape=whole.shape)
        self._rng = rng
        self.sweeps = 0
        self._begin(rng.standard_normal((program.order, rank)))

    def _begin(self, vectors: FloatArray) -> None:
        norms = np.linalg.norm(vectors, axis=1)[:, None]
        vectors[norms[:, 0] == 0.0, 0] = 1.0
        self.vectors = vectors / np.where(norms > 0.0, norms, 1.0)
        self._before, self._since = self.vectors.copy(), 0

    def run(self, sweeps: int) -> None:
        """Make so many sweeps."""
        data = self._starts, self._columns, self._values
        since, swapped = sweep(*data, self.vectors, self._before, sweeps, self._since, DELAY)
        if swapped:
            self.vectors, self._before = self._before, self.vectors
        self._since = since
        self.sweeps += sweeps

    def widen(self, direction: FloatArray | None = None) -> None:
        """Double the rank by small columns, along which V may leave a saddle point.

        Parameters
        ----------
        direction
            Of negative curvature, a unit vector: the first of the new columns. Others are random.
        """
        n, rank = self.vectors.shape
        more = _NEW * self._rng.standard_normal((n, rank))
        if direction is not None:
            more[:, 0] = _FIRST * np.sqrt(n) * direction
        self._begin(np.hstack([self.vectors, more]))
