"""Primal-dual steps in single precision, on rows: compiled passes, checked in double precision."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from perceptron_lab.algorithms.base import State
from perceptron_lab.claims import Claim, FeasiblePoint, MarginBelow
from perceptron_lab.compiled.entropic_separation import Course, SeparationRun, begin, separate
from perceptron_lab.compiled.entropic_steps import TRIALS
from perceptron_lab.errors import InputError
from perceptron_lab.operators.blockwise import blocks
from perceptron_lab.operators.matrix import Matrix
from perceptron_lab.system import ConicSystem

RESOLUTION = 1e-6
"""A norm(A x) that single precision can hardly tell from 0."""
_CHUNK = 256
_UNIT = 1e-3
"""Single-precision rows whose norms differ from 1 by no more are used as they are."""


@dataclass(kw_only=True)
class SingleState(State):
    """The rows in single precision, where the steps on them stand, and what was done."""

    rows: npt.NDArray[np.float32]
    course: Course
    notes: list[str] = field(default_factory=list)


def start_single(system: ConicSystem) -> SingleState:
    """Return the state at x_0 = e / n and y_1.

    Raises
    ------
    InputError
        If the system is not one of dense rows.
    """
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
    """Return the unit rows of a system in single precision: a copy, unless that is what they are.

    Raises
    ------
    InputError
        If the system is not one of dense rows.
    """
    operator = system.operator
    if not system.cone.of_rows:
        raise _refusal(f"a {type(system.cone).__name__} cone")
    if not isinstance(operator, Matrix):
        raise _refusal(f"a {type(operator).__name__} operator")
    if not isinstance(operator.stored, np.ndarray) or not system.unit_rows:
        raise _refusal("rows that are sparse or were not normalised")
    data, scale = operator.stored, operator.scale
    if data.dtype == np.float32 and (scale is None or np.abs(scale - 1.0).max() <= _UNIT):
        return np.ascontiguousarray(data)
    rows = np.empty(data.shape, np.float32)
    for at, block in blocks(data):
        factor = 1.0 if scale is None else scale[at, None]
        np.multiply(block, factor, out=rows[at], casting="same_kind")
    return rows


def _refusal(received: str) -> InputError:
    return InputError(
        f"primal-dual: precision 'single' received {received}; give dense rows by "
        "ConicSystem.from_rows, or precision 'double'"
    )


def step_single(
    system: ConicSystem, state: SingleState, most: int, bound: float
) -> tuple[Claim | None, bool]:
    """Make up to ``most`` iterations; return a claim and whether to go on in double precision.

    Parameters
    ----------
    system, state
        What the algorithm runs on, and where it stands.
    most
        Iterations at most.
    bound
        The largest norm(A x) that is worth a claim.
    """
    asked = min(most, _CHUNK)
    run = separate(state.rows, asked, start=state.course)
    _note_progress(system, state, run)
    if run.separated:
        return _separator(system, state, run)
    if run.iterations < asked:
        state.notes.append("single precision overflowed; went on in double precision")
        return None, True
    claim = _upper_bound(system, state, run, bound)
    if run.length <= RESOLUTION:
        state.notes.append(
            f"norm(A x) came down to {run.length:.1e}, which single precision can hardly tell "
            "from 0; went on in double precision"
        )
        return claim, True
    return claim, False


def _note_progress(system: ConicSystem, state: SingleState, run: SeparationRun) -> None:
    """Take over where the steps stand, and count."""
    state.point, state.weights = run.point, run.weights
    state.updates += run.iterations
    state.iterations = round(run.course.numbers[TRIALS])
    system.counters.products += run.products
    system.counters.queries += run.products - run.iterations


def _separator(
    system: ConicSystem, state: SingleState, run: SeparationRun
) -> tuple[Claim | None, bool]:
    scores = system.scores(run.point)
    lowest = system.lowest(scores)
    if state.claimed == state.updates or not system.inside(lowest, scores):
        state.notes.append(
            f"a point separated in single precision only (least score {lowest:.1e} in double); "
            "went on in double precision"
        )
        return None, True
    state.claimed = state.updates
    return FeasiblePoint(run.point.copy()), False


def _upper_bound(
    system: ConicSystem, state: SingleState, run: SeparationRun, bound: float
) -> Claim | None:
    if run.length > bound or system.norm(system.combine(run.weights)) > bound:
        return None
    state.claimed = state.updates
    return MarginBelow(run.weights.copy(), bound)
