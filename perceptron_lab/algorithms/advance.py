"""Repeated steps of an algorithm, and algorithms given as parameters of another one."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, get_args

import numpy as np
from pydantic import ValidationError

from perceptron_lab.algorithms.base import Algorithm, AnyAlgorithm, S, Step
from perceptron_lab.core import registry
from perceptron_lab.core.claims import Claim
from perceptron_lab.core.errors import ConfigError, InputError, did_you_mean
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
    """Refuse values that are no claims, and claims whose arrays have wrong shapes."""
    if not isinstance(claim, Claim):
        allowed = ", ".join(kind.__name__ for kind in get_args(Claim))
        raise ConfigError(
            f"{_class_location(algorithm)}: the claim that the step returned is "
            f"{_type_description(claim)}; "
            f"allowed: {allowed} of perceptron_lab.core.claims, or None"
        )
    for name, size in (("point", system.dimension), ("weights", system.cone.size)):
        if not hasattr(claim, name):
            continue
        array: Any = getattr(claim, name)
        real = isinstance(array, np.ndarray) and array.dtype.kind in "fiu"
        if not real or array.shape != (size,):
            raise ConfigError(
                f"{_class_location(algorithm)}: {type(claim).__name__}.{name} is "
                f"{_type_description(array)}; "
                f"allowed: an array of numbers, shape ({size},)"
            )


def _type_description(value: object) -> str:
    """Describe a value by its type, and an array by its element type and shape."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype}, shape {value.shape}"
    return f"of type {type(value).__name__}"


def _class_location(algorithm: Algorithm[S]) -> str:
    """Return the qualified name of the algorithm's class and the file that defines it."""
    kind = type(algorithm)
    try:
        return f"{kind.__qualname__} ({inspect.getsourcefile(kind)})"
    except TypeError:  # defined where there is no file
        return f"{kind.__module__}.{kind.__qualname__}"


def nested_algorithm(
    role: str, name: str, parameters: Mapping[str, object] | None, **shared: object
) -> AnyAlgorithm:
    """Return the parameter record of an algorithm that another algorithm runs.

    Parameters
    ----------
    role
        The words of messages before its name: ``the whitened``.
    name
        A name of `plab list algorithms`.
    parameters
        By name; those left out have their defaults (None: all).
    shared
        Parameters of whoever chooses, for those of the same name, unless ``parameters`` say
        otherwise.

    Raises
    ------
    ConfigError
        If there is no such algorithm or parameter, or it does not allow a value.
    """
    kind = registry.load("algorithm", name)
    names = [field.name for field in fields(kind)]
    arguments = parameters or {}
    for key in (argument for argument in arguments if argument not in names):
        raise ConfigError(
            f"{role} {name} has no parameter {key!r}{did_you_mean(key, names)}; it has: "
            f"{', '.join(names) or 'none'}"
        )
    common = {key: value for key, value in shared.items() if key in names}
    try:
        record: AnyAlgorithm = kind(**common | dict(arguments))
    except (InputError, ValidationError) as error:  # a record of a user's own may raise either
        reason = " ".join(str(error).split())
        raise ConfigError(f"parameters of {role} {name}: {reason}") from None
    return record
