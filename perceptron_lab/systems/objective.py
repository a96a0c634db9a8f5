"""The objective of a program whose feasible set is a homogenised system."""

from __future__ import annotations

from dataclasses import dataclass

from perceptron_lab.core.results import FloatArray


@dataclass(frozen=True, eq=False)
class Objective:
    """c of min c'x subject to F(x) = sum_i x_i F_i - F_0 positive semidefinite.

    Parameters
    ----------
    values
        c, shape ``(m,)``: of the coordinates 1 to m of a point (x_0, x).
    roundings
        0: the values are doubles; 1: they are the doubles nearest to those meant.
    """

    values: FloatArray
    roundings: int = 0
