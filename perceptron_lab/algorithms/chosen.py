"""Algorithms that another one's parameters choose, by their registered names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from pydantic import ValidationError

from perceptron_lab.algorithms.base import AnyAlgorithm
from perceptron_lab.core import registry
from perceptron_lab.core.errors import ConfigError, InputError, did_you_mean


def chosen(
    role: str, name: str, parameters: Mapping[str, Any] | None, **shared: Any
) -> AnyAlgorithm:
    """Return the record of a registered algorithm.

    Parameters
    ----------
    role
        What messages call it, before its name: ``the whitened``.
    name
        Of `plab list algorithms`.
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
    known = [field.name for field in fields(kind)]
    given = parameters or {}
    for key in (one for one in given if one not in known):
        raise ConfigError(
            f"{role} {name} has no parameter {key!r}{did_you_mean(key, known)}; it has: "
            f"{', '.join(known) or 'none'}"
        )
    common = {key: value for key, value in shared.items() if key in known}
    try:
        record: AnyAlgorithm = kind(**common | dict(given))
    except (InputError, ValidationError) as error:  # a record of a user's own may raise either
        said = " ".join(str(error).split())
        raise ConfigError(f"parameters of {role} {name}: {said}") from None
    return record
