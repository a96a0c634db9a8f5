"""Primal-dual steps in single precision, on rows: compiled passes, checked in double precision."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from perceptron_lab.algorithms.base import State, claim_bound
from perceptron_lab.cones.operators.blockwise import blocks
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.operators.row_source import Dense
from perceptron_lab.core.claims import Claim, FeasiblePoint
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.numerics.compiled.entropic_separation import Course, begin, separate
from perceptron_lab.numerics.compiled.entropic_trials import TRIALS
from perceptron_lab.systems import ConicSystem

RESOLUTION = 1e-6  # A norm(A x) that single precision can hardly tell from 0
_CHUNK = 256
_UNIT = 1e-3  # Single-precision rows whose norms differ from 1 by no more are used as they are


@dataclass(kw_only=True)
class SingleState(State):
    """The rows in single precision, and the sums and iterates of the steps on them."""

    rows: npt.NDArray[np.float32]
    course: Course


def start_single(system: ConicSystem) -> SingleState:
    """Return the state at x_0 = e / n and y_1."""
    rows = single_rows(system)
    course = begin(rows)
    system.counters.products += 1
    return SingleState(
        point=course.points[0],
        weights=course.entries[1],
        rows=rows,
        course=course,
        phase="single precision",
        notes=["passes in single precision, claims checked in double precision"],
    )


def single_rows(system: ConicSystem) -> npt.NDArray[np.float32]:
    """Return the unit rows of a system in single precision; a copy, unless they are stored so."""
    operator = system.operator
    if not system.cone.of_rows:
        wrong = f"a {type(system.cone).__name__} cone"
    elif not isinstance(operator, Matrix):
        wrong = f"a {type(operator).__name__} operator"
    elif not isinstance(operator.stored, np.ndarray) or not system.unit_rows:
        wrong = "rows that are sparse or were not normalised"
    else:
        return rounded_rows(operator.stored, operator.scale)
    raise InputError(
        f"primal-dual: precision 'single' received {wrong}; give dense rows by "
        "ConicSystem.from_rows, or precision 'double'"
    )


def rounded_rows(data: Dense, scale: FloatArray | None) -> npt.NDArray[np.float32]:
    """Return rows times their scale in single precision."""
    if data.dtype == np.float32 and (scale is None or np.abs(scale - 1.0).max() <= _UNIT):
        return np.ascontiguousarray(data)
    rows = np.empty(data.shape, np.float32)
    for at, block in blocks(data):
        factor = 1.0 if scale is None else scale[at, None]
        np.multiply(block, factor, out=rows[at], casting="same_kind")
    return rows


def step_single(
    system: ConicSystem, state: SingleState, most: int, epsilon: float
) -> tuple[Claim | None, bool]:
    """Make up to ``most`` iterations; return a claim and whether to go on in double precision."""
    asked = min(most, _CHUNK)
    run = separate(state.rows, asked, start=state.course)
    state.point, state.weights = run.point, run.weights
    state.updates += run.iterations
    state.iterations = round(run.course.numbers[TRIALS])
    system.counters.products += run.products
    system.counters.queries += run.products - run.iterations
    if run.separated:
        scores = system.scores(run.point)
        lowest = system.lowest(scores)
        if state.claimed != state.updates and system.inside(lowest, scores):
            state.claimed = state.updates
            return FeasiblePoint(run.point.copy()), False
        state.notes.append(
            f"a point separated in single precision only (least score {lowest:.1e} in double); "
            "went on in double precision"
        )
        return None, True
    check_time()
    if run.iterations < asked:
        state.notes.append("single precision overflowed; went on in double precision")
        return None, True
    claim, bound = None, system.worth(epsilon)
    if run.length <= bound and system.norm(system.combine(run.weights)) <= bound:
        state.claimed = state.updates
        claim = claim_bound(system, run.weights, epsilon)
    if run.length <= RESOLUTION:
        state.notes.append(
            f"norm(A x) came down to {run.length:.1e}, which single precision can hardly tell "
            "from 0; went on in double precision"
        )
        return claim, True
    return claim, False
