"""The only repetition of steps: no clock, no status."""

from __future__ import annotations

import inspect
from typing import Any, get_args

import numpy as np

from perceptron_lab.algorithms.base import Algorithm, S, Step
from perceptron_lab.core.claims import Claim
from perceptron_lab.core.errors import ConfigError
from perceptron_lab.systems import ConicSystem


def advance(algorithm: Algorithm[S], system: ConicSystem, state: S, most: int) -> Step[S]:
    """Step until ``most`` updates are made, the algorithm claims something or enters a new phase.

    A step that does none of the three is the last one: the caller has the clock, and may call
    again. ``most`` is 1 or more.

    Raises
    ------
    ConfigError
        If the algorithm claims something that is no claim about this system.
    """
    target, phase = state.updates + most, state.phase
    claim: Claim | None = None
    while state.updates < target and claim is None and state.phase == phase:
        before = state.updates
        state, claim = algorithm.step(system, state, target - before)
        if claim is not None:
            _refuse_wrong(claim, algorithm, system)
        if state.updates == before:
            break
    return state, claim


def _refuse_wrong(claim: object, algorithm: Algorithm[S], system: ConicSystem) -> None:
    """Refuse what is no claim, or whose arrays do not have the shapes of the system."""
    if not isinstance(claim, Claim):
        allowed = ", ".join(kind.__name__ for kind in get_args(Claim))
        raise ConfigError(
            f"{_place(algorithm)}: the step returned as its claim what is {_described(claim)}; "
            f"allowed: {allowed} of perceptron_lab.core.claims, or None"
        )
    for name, size in (("point", system.dimension), ("weights", system.cone.size)):
        if not hasattr(claim, name):
            continue
        array: Any = getattr(claim, name)
        real = isinstance(array, np.ndarray) and array.dtype.kind in "fiu"
        if not real or array.shape != (size,):
            raise ConfigError(
                f"{_place(algorithm)}: {type(claim).__name__}.{name} is {_described(array)}; "
                f"allowed: an array of numbers, shape ({size},)"
            )


def _described(value: object) -> str:
    """Return the type of a value, and the shape and type of an array."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype}, shape {value.shape}"
    return f"of type {type(value).__name__}"


def _place(algorithm: Algorithm[S]) -> str:
    """Return the class of an algorithm with the file that defines it."""
    kind = type(algorithm)
    try:
        return f"{kind.__qualname__} ({inspect.getsourcefile(kind)})"
    except TypeError:  # defined where there is no file
        return f"{kind.__module__}.{kind.__qualname__}"
