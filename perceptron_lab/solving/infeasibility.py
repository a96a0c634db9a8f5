"""What is proved of a homogenised system without a strictly feasible point.

Weights with <F_0, w> > 0 prove strong infeasibility. Others lead to a face of the cone, on which
the question is asked again: a strictly feasible point there is an exact point on the boundary, and
weights on x_0 at the end of such a chain prove that no x is in the closed cone. The same chain on
the alternative, weights w in K* with A w = 0 and <F_0, w> > 0, tells weak from strong
infeasibility.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from perceptron_lab.core.results import Result, Status
from perceptron_lab.numerics.exact_texts import exact_text
from perceptron_lab.systems import ConicSystem

STRONG, WEAK, NO_POINT = "strong", "weak", "no point"
BOUNDARY, NO_STRICT = "boundary only", "no strict point"
SENTENCES = {
    WEAK: "weakly infeasible: no x is in the closed cones, though some are as near as is wished",
    NO_POINT: "no x is in the closed cones",
    BOUNDARY: "an exact x is in the closed cones, on their boundary",
}
# Scores times unknowns of a system that is reduced, and scores of one whose alternative is, at most
LARGEST, LARGEST_ALTERNATIVE = 200_000, 400

Run = Callable[[Any], Result]


@dataclass(frozen=True)
class Closed:
    """Whether the closed cone has a point: an exact ``point``, or ``empty``; else unknown.

    ``steps`` is the number of faces.
    """

    point: list[Fraction] | None = None
    empty: bool = False
    steps: int = 0


def classified(system: ConicSystem, result: Result, run: Run) -> dict[str, Any]:
    """Return the entries of a certificate that say what is proved.

    Parameters
    ----------
    system
        The system, homogenised.
    result
        INFEASIBLE, with its weights.
    run
        Decides the systems on faces.
    """
    weights = result.weights
    if weights is None or weights[0] > 0.0:
        return {"infeasibility": NO_STRICT if weights is None else STRONG}
    if system.cone.size * system.dimension > LARGEST:
        return {"infeasibility": NO_STRICT}
    closed = _closed(system, result, run)
    if closed.point is not None:
        x = [exact_text(number) for number in system.exact_answer(closed.point)]
        return {"infeasibility": BOUNDARY, "faces": closed.steps, "boundary_point": x}
    if not closed.empty:
        return {"infeasibility": NO_STRICT}
    return {"infeasibility": _strength(system, run), "faces": closed.steps}


def _strength(system: ConicSystem, run: Run) -> str:
    """Return whether a system without a point in the closed cone is infeasible strongly."""
    from perceptron_lab.systems.facial_reduction import FaceSystem, alternative

    pencil = system.exact_pencil()
    if pencil is None or system.cone.size > LARGEST_ALTERNATIVE:
        return NO_POINT
    other = alternative(pencil)
    if other is None:
        return WEAK
    face = FaceSystem.of(other)
    closed = _closed(face, run(face), run)
    if closed.point is not None:
        return STRONG
    return WEAK if closed.empty else NO_POINT


def _closed(system: ConicSystem, result: Result, run: Run) -> Closed:
    """Return what is proved about the closed cone, by faces one inside the other."""
    from perceptron_lab.systems.exact_pencil import guess_of
    from perceptron_lab.systems.face_weights import weights_near
    from perceptron_lab.systems.facial_reduction import FaceSystem, IntegerVector, lifted, reduced

    pencil, faces = system.exact_pencil(), list[list[IntegerVector]]()
    while pencil is not None:
        if result.status is Status.FEASIBLE:
            assert isinstance(system, FaceSystem)
            y = system.unscaled(result.point)
            for columns in reversed(faces):
                y = lifted(columns, y)
            return Closed(point=y, steps=len(faces))
        weights = result.weights
        if result.status is not Status.INFEASIBLE or weights is None:
            break
        finite = np.isfinite(weights).all()
        exact = weights_near(pencil, guess_of(system.cone, weights)) if finite else None
        if exact is None:
            break
        if pencil.mass_of_first(exact) > 0:
            return Closed(empty=True, steps=len(faces))
        face = reduced(pencil, exact)
        faces.append(face.columns)
        if face.pencil is None:
            return Closed(empty=True, steps=len(faces))
        pencil, system = face.pencil, FaceSystem.of(face.pencil)
        result = run(system)
    return Closed(steps=len(faces))
