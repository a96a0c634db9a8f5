"""Optima of programs without a strictly feasible point, on the minimal face of their cone.

Let weights w in K*, w != 0, have <F_i, w> = 0 and <F_0, w> = 0. All F(x) in K lie in the face of K
orthogonal to w. On the minimal face, found by exact steps of facial reduction, the program has a
strictly feasible point, and an external solver's answer can be repaired to one. It is x = Z z in
rational numbers, in the closed cone, so c'x bounds the optimum from above; the dual problem of the
program as given bounds it from below, with or without a strictly feasible point.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import numpy as np

from perceptron_lab.algorithms.automatic.auto import Auto
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.outward_rounding import text_above, text_below
from perceptron_lab.core.results import Result
from perceptron_lab.core.run_options import RunOptions
from perceptron_lab.core.time_limit import seconds_left
from perceptron_lab.numerics.exact_doubles import to_doubles
from perceptron_lab.problems.optima.exact_objective import boundary_objective
from perceptron_lab.problems.optima.levels import objective_of
from perceptron_lab.solving.driver import with_kind
from perceptron_lab.solving.infeasibility import Closed
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.system import Objective

Minimise = Callable[[ConicSystem], Result]


def on_boundary(
    system: ConicSystem, result: Result, options: RunOptions, minimise: Minimise
) -> Result:
    """Return an INFEASIBLE result with its kind, and with an upper bound if it is a boundary point.

    Parameters
    ----------
    system
        The program.
    minimise
        Bounds the optimum of another program.
    """

    def better(closed: Closed) -> list[Fraction] | None:
        return least_point(system, closed, minimise)

    result = with_kind(
        system, Auto(), replace(options, goal="decide"), result, seconds_left, better
    )
    upper = boundary_objective(system, result.certificate.get("boundary_point", ()))
    if upper is None:
        return result
    figures = result.certificate["figures"] | {"optimum_upper": upper}
    lower = "" if result.optimum_lower is None else f"[{text_below(result.optimum_lower, 10)}, "
    bracket = f"{lower}{text_above(upper, 10)}]" if lower else f"at most {text_above(upper, 10)}"
    return replace(
        result,
        optimum_upper=upper,
        certificate=result.certificate | {"figures": figures},
        message=f"{result.message}; the optimum over the closed cones is in {bracket}",
    )


def least_point(system: ConicSystem, closed: Closed, minimise: Minimise) -> list[Fraction] | None:
    """Return an exact (x_0, x) in the closed cone with nearly the least objective, or None."""
    from perceptron_lab.systems.facial_reduction import FaceSystem, lifted, substituted

    faces = [face for _, face in closed.steps if face is not None]
    if not faces or faces[-1].pencil is None:
        return None
    pencil, columns = substituted(faces[-1].pencil)

    def original(z: Sequence[Fraction]) -> list[Fraction]:
        y = lifted(columns, z)
        for face in reversed(faces):
            y = lifted(face.columns, y)
        return y

    face, width = FaceSystem.of(pencil), pencil.width
    units = [[Fraction(int(i == j)) for i in range(width)] for j in range(1, width)]
    costs = list(map(Fraction, objective_of(system).values.tolist()))
    exact = [
        sum((c * x for c, x in zip(costs, original(z)[1:], strict=True)), Fraction()) / length
        for z, length in zip(units, pencil.lengths[1:], strict=True)
    ]
    if not any(exact):
        return None
    with suppress(InputError):
        program = replace(face, homogenised=True, objective=Objective(to_doubles(exact), 1))
        answer = minimise(program)
        if answer.optimum_upper is not None and np.isfinite(answer.point).all():
            return original(face.unscaled(answer.point))
    return None
