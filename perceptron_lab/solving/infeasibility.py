"""What is proved of a homogenised system without a strictly feasible point.

Weights with <F_0, w> > 0 prove strong infeasibility. Others lead to a face of the cone, on which
the question is asked again: a strictly feasible point there is an exact point on the boundary, and
weights on x_0 at the end of such a chain prove that no x is in the closed cone. The same chain on
the alternative, weights w in K* with A w = 0 and <F_0, w> > 0, tells weak from strong
infeasibility.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from perceptron_lab.core.results import Result, Status
from perceptron_lab.core.time_limit import TimeIsUp
from perceptron_lab.numerics.exact_texts import exact_text, written
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.exact_pencil import ExactPencil, Weights, guess_of

if TYPE_CHECKING:  # python-flint loads where it is used
    from perceptron_lab.systems.face_chains import Step, WrittenElement

STRONG, WEAK, NO_POINT = "strong", "weak", "no point"
BOUNDARY, NO_STRICT = "boundary only", "no strict point"
# Scores times unknowns of a system that is reduced, and scores of one whose alternative is, at most
LARGEST, LARGEST_ALTERNATIVE = 200_000, 400

Run = Callable[[Any], Result]


@dataclass(frozen=True)
class Closed:
    """Whether the closed cone of a pencil has a point: an exact ``point``, or ``empty``.

    ``steps`` are weights on each face, and the next face.
    """

    pencil: ExactPencil
    steps: Sequence[Step]
    point: list[Fraction] | None = None
    empty: bool = False


Better = Callable[[Closed], list[Fraction] | None]


def classified(
    system: ConicSystem, result: Result, run: Run, better: Better | None = None
) -> dict[str, Any]:
    """Return the entries of a certificate that say what is proved.

    Parameters
    ----------
    system
        The system, homogenised.
    result
        INFEASIBLE, with its weights.
    run
        Decides the systems on faces.
    better
        Another exact point in the closed cone, or None, from one on the minimal face.
    """
    weights = result.weights
    if weights is None or weights[0] > 0.0:
        return {"infeasibility": NO_STRICT if weights is None else STRONG}
    if system.cone.size * system.dimension > LARGEST:
        return {"infeasibility": NO_STRICT}
    pencil = system.exact_pencil()
    closed = None if pencil is None else _closed(system, pencil, result, run)
    if closed is None or not (closed.empty or closed.point):
        return {"infeasibility": NO_STRICT}
    faces = sum(face is not None for _, face in closed.steps)
    entries: dict[str, Any] = {"infeasibility": BOUNDARY, "faces": faces}
    alternative = None
    if closed.point is not None:
        closed = replace(closed, point=(better and better(closed)) or closed.point)
        assert closed.point is not None
        x = [exact_text(number) for number in system.exact_answer(closed.point)]
        entries |= {"boundary_point": x}
    else:
        entries["infeasibility"], alternative = _strength(closed.pencil, run)
    with suppress(TimeIsUp):  # the kind is proved all the same, and has no certificate
        entries |= _certificate(closed, alternative)
    return entries


def _certificate(closed: Closed, alternative: Closed | None) -> dict[str, Any]:
    """Return the ``chain`` and the ``sequence`` that prove the kind, as the checker reads them."""
    from perceptron_lab.systems.face_chains import (
        written_chain,
        written_scores,
        written_sequence,
    )

    sequence: list[WrittenElement] | None = []
    if closed.point is not None:
        chain = written_chain(closed.pencil, [(closed.steps[0][0], None)])
        sequence = written_scores(closed.pencil, closed.point)
    elif alternative is not None and alternative.point is not None:
        chain = written_scores(alternative.pencil, alternative.point)
    else:
        chain = written_chain(closed.pencil, closed.steps)
        if alternative is not None and alternative.empty:
            sequence = written_chain(alternative.pencil, alternative.steps)
    points = None if sequence is None else written_sequence(closed.pencil, sequence)
    if chain is None or points is None:
        return {}
    certificate = {"chain": [step.lists for step in chain], "sequence": points}
    return {name: written(steps) for name, steps in certificate.items() if steps}


def _strength(pencil: ExactPencil, run: Run) -> tuple[str, Closed | None]:
    """Return the kind of a system without a point in the closed cone, and what its alternative is.

    The alternative has the weights w in the cone with A w = 0, and a point if one is on x_0.
    """
    from perceptron_lab.systems.facial_reduction import FaceSystem, alternative

    if (
        sum(k * (k + 1) // 2 if kind == "matrix" else k for kind, k in pencil.blocks)
        > LARGEST_ALTERNATIVE
    ):
        return NO_POINT, None
    other = alternative(pencil)
    face = FaceSystem.of(other)
    closed = _closed(face, other, run(face), run)
    if closed.point is not None:
        return STRONG, closed
    return WEAK if closed.empty else NO_POINT, closed


def _closed(system: ConicSystem, pencil: ExactPencil, result: Result, run: Run) -> Closed:
    """Return what is proved about the closed cone, by faces one inside the other."""
    from perceptron_lab.systems.face_weights import weights_near
    from perceptron_lab.systems.facial_reduction import FaceSystem, Reduced, lifted, reduced

    first, steps = pencil, list[tuple[Weights, Reduced]]()
    while True:
        if result.status is Status.FEASIBLE:
            assert isinstance(system, FaceSystem)
            y = system.unscaled(result.point)
            for _, face in reversed(steps):
                y = lifted(face.columns, y)
            return Closed(first, steps, point=y)
        weights = result.weights
        if result.status is not Status.INFEASIBLE or weights is None:
            return Closed(first, steps)
        guess = guess_of(system.cone, weights)
        if isinstance(system, FaceSystem):  # it is balanced
            guess = [block * float(f) for block, f in zip(guess, pencil.factors, strict=True)]
        exact = weights_near(pencil, guess) if np.isfinite(weights).all() else None
        if exact is None:
            return Closed(first, steps)
        if pencil.mass_of_first(exact) > 0:
            return Closed(first, [*steps, (exact, None)], empty=True)
        face = reduced(pencil, exact)
        steps.append((exact, face))
        if face.pencil is None:
            return Closed(first, steps, empty=True)
        pencil, system = face.pencil, FaceSystem.of(face.pencil)
        result = run(system)
