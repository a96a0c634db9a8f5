"""The contract of a dataset, and the checks that its parameters share."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import AfterValidator, ValidationInfo, field_validator

from perceptron_lab.core.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from perceptron_lab.datasets.problem import Problem

_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")


class Dataset(ABC):
    """Named instances of a problem, chosen by parameters.

    Your own dataset is a frozen dataclass that derives from this class. Its fields are the
    parameters that a configuration may give; its docstring is shown by ``plab show``, one paragraph
    of the section Parameters for each field. A pydantic dataclass has its parameters checked when
    the configuration is read. Each cell of an experiment calls ``load`` in a separate process, so
    that equal arguments must give equal data.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from perceptron_lab.datasets.problem import Problem, sha256_of_arrays
    >>> from perceptron_lab.systems import ConicSystem
    >>> @dataclass(frozen=True)
    ... class UnitRows(Dataset):
    ...     dimension: int = 3
    ...
    ...     def names(self):
    ...         return [f"unit-{self.dimension}"]
    ...
    ...     def load(self, name, *, seed, base):
    ...         self.check_name(name)
    ...         rows = np.eye(self.dimension)
    ...         system = ConicSystem.from_rows(rows)
    ...         return Problem(name, system, sha256_of_arrays(rows), system.facts())
    >>> UnitRows(5).load("unit-5", seed=0, base=Path()).system.dimension
    5

    ``perceptron_lab.register("dataset", "unit-rows", UnitRows)`` makes it available to
    configurations, as ``{dataset: unit-rows, dimension: 5}``.
    """

    @abstractmethod
    def names(self) -> list[str]:
        """Return the names of the instances, each once; nothing is loaded.

        A name has 1 to 64 letters, digits, dots, underscores and hyphens.
        """

    @abstractmethod
    def load(self, name: str, *, seed: int, base: Path) -> Problem:
        """Return an instance, one of :meth:`names`, else raise a ``ConfigError``.

        An ``InputError`` refuses an invalid seed or parameter; a ``DataError`` reports a file that
        is unavailable or has unexpected content.

        Parameters
        ----------
        name
            The instance's name.
        seed
            Seed of the cell, 0 or more. It determines all randomness in the data, including the
            split into training and test examples. Fixed data do not depend on it.
        base
            The folder of the configuration, from which relative paths start.
        """

    def own_file(self, name: str, base: Path) -> Path | None:
        """Return the user's file that an instance is read from, or None if there is no such file.

        ``plab check`` reads such files. ``name`` and ``base`` are as for :meth:`load`.
        """
        return None

    def check_name(self, name: str) -> None:
        """Raise a ``ConfigError`` if no instance has this name."""
        names = self.names()
        if name not in names:
            raise ConfigError(
                f"there is no instance {name!r}{did_you_mean(name, names)}; "
                f"known: {', '.join(names)}"
            )


def check_instance_name(name: str) -> str:
    """Return the name if it is valid for files and tables, or raise a ``ValueError``."""
    if not _NAME.fullmatch(name) or name in (".", ".."):
        raise ValueError(
            f"{name!r} cannot name an instance; allowed: 1 to 64 letters, digits, '.', '_', '-'"
        )
    return name


def check_distinct(names: list[str]) -> list[str]:
    """Return the names if they are distinct and not empty, or raise a ``ValueError``."""
    if not names:
        raise ValueError("the list is empty; name at least one instance")
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"{', '.join(repeated)} occurs more than once; name each instance once")
    return names


# Validator of a list of names in a configuration
Distinct = AfterValidator(check_distinct)


Defaults = Mapping[str, Mapping[str, object]]
"""Value of a parameter -> the other parameters that it admits, with their defaults."""


def value_or_default(value: object, info: ValidationInfo, choice: str, defaults: Defaults) -> Any:
    """Return a parameter's value, or for None its default under the value of another parameter.

    Parameters
    ----------
    value, info
        The value, and pydantic's record of the parameters validated so far.
    choice, defaults
        The parameter that decides which others exist; its values -> these with their defaults. A
        ``ValueError`` refuses parameters that do not exist under it.
    """
    # pydantic validates fields in order, so that the deciding parameter is known here if it is
    # valid.
    selected, name = info.data.get(choice), str(info.field_name)
    if selected is None or name in defaults[selected]:
        return value if value is not None or selected is None else defaults[selected][name]
    if value is not None:
        parameters = ", ".join(defaults[selected]) or "no further parameter"
        raise ValueError(f"{choice} {selected} has no {name}; it takes {parameters}: delete {name}")
    return None


def defaulted_with(choice: str, defaults: Defaults, *names: str) -> Any:
    """Return a validator that applies :func:`value_or_default` to several parameters."""

    def validated(cls: type[object], value: object, info: ValidationInfo) -> object:
        return value_or_default(value, info, choice, defaults)

    return field_validator(*names)(classmethod(validated))
