"""A semidefinite program as solvers of others are given it: by blocks, and in SDPA's format."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from perceptron_lab.algorithms.external.sdpa_format import Blocks
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.problems.optima.levels import objective_of
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.sdpa_data import SdpaData


@dataclass(frozen=True, eq=False)
class GivenProgram:
    """Minimise c'x subject to F(x) = sum_i x_i F_i - F_0 in a product of matrices and rows.

    Parameters
    ----------
    objective
        c, shape ``(m,)``.
    rows
        Entries of F_1, ..., F_m by columns, shape ``(size, m)``.
    constant
        Entries of F_0, shape ``(size,)``.
    blocks
        The cones and where they lie in the entries.
    identity
        The entries of I, shape ``(size,)``.
    """

    objective: FloatArray
    rows: sp.csr_array
    constant: FloatArray
    blocks: list[tuple[Cone, slice]]
    identity: FloatArray

    @classmethod
    def of(cls, system: ConicSystem) -> GivenProgram:
        """Return that of a homogenised system with an objective, patterns as they are."""
        objective, operator = objective_of(system), system.operator
        assert isinstance(operator, Matrix)
        data = sp.csr_array(operator.data)[1:]
        blocks = [
            (part, slice(span.start - 1, span.stop - 1)) for part, span in system.cone.blocks[1:]
        ]
        constant = -np.asarray(data[:, [0]].toarray()).ravel()
        identity = system.cone.identity[1:]
        return cls(objective.values, sp.csr_array(data[:, 1:]), constant, blocks, identity)

    def moved(self, slack: float = 0.0, multiplier: float = 0.0) -> GivenProgram:
        """Return the program of F(x) - slack I, and with X = Y + multiplier I of its Y.

        Its feasible x have F(x) >= slack I; X satisfies <F_i, X> = c_i where <F_i, Y> is
        c_i - multiplier tr F_i, and X >= multiplier I where Y is positive semidefinite.
        """
        traces = np.asarray(self.rows.T @ self.identity)
        return replace(
            self,
            objective=self.objective - multiplier * traces,
            constant=self.constant + slack * self.identity,
        )

    def relaxed(self) -> GivenProgram:
        """Return the program min t, F(x) + t I positive semidefinite, t the last variable."""
        return replace(
            self,
            objective=np.append(np.zeros_like(self.objective), 1.0),
            rows=sp.csr_array(sp.hstack([self.rows, sp.csr_array(self.identity[:, None])])),
        )

    def slack(self, x: FloatArray) -> FloatArray:
        """Return the entries of F(x)."""
        return np.asarray(self.rows @ x - self.constant)

    @property
    def matrices(self) -> list[tuple[Semidefinite, slice]]:
        """The blocks of matrices, in their order."""
        return [(part, span) for part, span in self.blocks if isinstance(part, Semidefinite)]

    @property
    def places_of_rows(self) -> IntArray:
        """Where all rows lie in the entries."""
        spans = [span for part, span in self.blocks if not isinstance(part, Semidefinite)]
        ranges = [np.arange(span.start, span.stop) for span in spans]
        return np.concatenate(ranges) if ranges else np.zeros(0, dtype=np.int64)

    def dense(self, entries: FloatArray) -> Blocks:
        """Return entries as whole matrices, and all rows as one more block if there are any."""
        rows = self.places_of_rows
        found = [part.matrix(entries[span]) for part, span in self.matrices]
        return [*found, entries[rows]] if len(rows) else found

    @property
    def multiplicity(self) -> FloatArray:
        """2 of entries beside the diagonal, else 1."""
        return np.concatenate([np.asarray(part.multiplicity) for part, _ in self.blocks])

    def weights(self, blocks: Blocks) -> FloatArray:
        """Return whole matrices and rows as weights on the patterns: off-diagonals doubled."""
        found = np.zeros(len(self.constant))
        for (part, span), block in zip(self.matrices, blocks, strict=False):
            found[span] = block[part.rows, part.columns]
        rows = self.places_of_rows
        if len(rows):
            found[rows] = blocks[-1]
        return found * self.multiplicity

    def sdpa(self) -> SdpaData:
        """Return it in SDPA's format: matrices in their order, then all rows as one block.

        Of several diagonal blocks DSDP would write the last alone.
        """
        table = np.zeros((len(self.constant), 3), dtype=np.int64)
        sizes = []
        for number, (part, span) in enumerate(self.matrices):
            table[span] = np.column_stack([np.full(part.size, number), part.rows, part.columns])
            sizes.append(part.rank)
        rows = self.places_of_rows
        if len(rows):
            on = np.arange(len(rows))
            table[rows] = np.column_stack([np.full(len(rows), len(sizes)), on, on])
            sizes.append(-len(rows))
        whole = sp.csr_array(sp.hstack([sp.csr_array(self.constant[:, None]), self.rows])).tocoo()
        place, matrix = whole.coords
        kept = whole.data != 0.0
        indices = np.column_stack([matrix, table[place]]).astype(np.int64)[kept]
        if not len(indices):
            raise InputError("all matrices of the program are 0; there is nothing to be solved")
        return SdpaData.from_entries(self.objective, sizes, indices, whole.data[kept])
