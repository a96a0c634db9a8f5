"""The options that specify a model, and their values for the observations."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from perceptron_lab.core.errors import InputError, RowError, counted, did_you_mean
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.problems.separation.families.kinds import (
    FAMILIES,
    OTHER_NAMES,
    RISKS,
    THRESHOLDS,
    TIES,
    VARIABLES,
    Family,
)

_EVERYWHERE: Final = ("counts", "weights", "offset")


@dataclass(frozen=True, eq=False)
class ModelOptions:
    """A family with its link, and the variables of the observations.

    Parameters
    ----------
    family
        A name of :data:`FAMILIES`.
    link
        One of the family's links; None for its first one.
    ties
        How the Cox model treats events at the same time.
    counts, weights, strata, offset, time, start
        As for ``separation``, a value each, or None.
    """

    family: str = "binomial"
    link: str | None = None
    ties: str = "breslow"
    counts: npt.ArrayLike | None = None
    weights: npt.ArrayLike | None = None
    strata: npt.ArrayLike | None = None
    offset: npt.ArrayLike | None = None
    time: npt.ArrayLike | None = None
    start: npt.ArrayLike | None = None

    def __post_init__(self) -> None:
        _require_known("family", self.family, FAMILIES)
        object.__setattr__(self, "link", self.link or self.kind.links[0])
        _require_known("ties", self.ties, TIES)
        if self.link not in self.kind.links:
            remedy = " (family='log-binomial' has it)" if self.link == "log" else ""
            raise InputError(
                f"link={self.link!r} does not belong to family={self.family!r}{remedy}; allowed: "
                f"{', '.join(self.kind.links)}"
            )
        self._require_variables()

    @property
    def kind(self) -> Family:
        """The family."""
        return FAMILIES[self.family]

    @property
    def plain(self) -> bool:
        """Whether the model is logistic regression of two classes without any variable."""
        bare = all(getattr(self, name) is None for name in VARIABLES)
        return self.family == "binomial" and self.link == "logit" and bare

    def has_constants(self, affine: bool) -> bool:
        """Return whether there is an intercept, or thresholds, instead of constant columns."""
        return self.family in THRESHOLDS or (affine and self.family not in RISKS)

    def _require_variables(self) -> None:
        missing = [name for name in self.kind.needs if getattr(self, name) is None]
        if missing:
            raise InputError(f"family={self.family!r} needs {missing[0]}=, a value for each row")
        if self.ties != TIES[0] and self.family != "cox":
            raise InputError(f"ties= belongs to family='cox', not to family={self.family!r}")
        allowed = (*_EVERYWHERE, *self.kind.needs, *self.kind.allows)
        for name in VARIABLES:
            if getattr(self, name) is not None and name not in allowed:
                families = [
                    other for other, kind in FAMILIES.items() if name in (*kind.needs, *kind.allows)
                ]
                raise InputError(
                    f"{name}= does not belong to family={self.family!r}, but to "
                    f"{' and '.join(map(repr, families))}; leave it out, or name the family"
                )

    def numbers(self, name: str, count: int, least: float = -math.inf) -> FloatArray | None:
        """Return a variable as finite numbers from ``least`` on, shape ``(count,)``, or None."""
        values = getattr(self, name)
        return None if values is None else numbers_of(name, values, count, least)

    def included(self, count: int) -> IntArray:
        """Return the observations with weight and counts > 0."""
        there = np.ones(count, dtype=bool)
        for name in ("weights", "counts"):
            values = self.numbers(name, count, 0.0)
            there &= True if values is None else values > 0.0
        if count and not there.any():
            raise InputError("every row has weight 0 or counts 0; give rows with weights above 0")
        return np.flatnonzero(there)

    def part(self, rows: IntArray, count: int) -> ModelOptions:
        """Return the options for some of so many observations."""
        values = {name: getattr(self, name) for name in VARIABLES}
        stated = {name: value for name, value in values.items() if value is not None}
        return replace(self, **{n: part_of(n, value, rows, count) for n, value in stated.items()})


def of_record(record: Mapping[str, Any], variables: Mapping[str, Any]) -> ModelOptions:
    """Return options from the JSON values of a verdict, and variables of its observations."""
    unknown = sorted(variables.keys() - set(VARIABLES))
    if unknown:
        raise InputError(
            f"{unknown[0]}= is no variable of a model; allowed: {', '.join(VARIABLES)}"
        )
    texts = {name: record[name] for name in ("family", "link", "ties") if name in record}
    if not all(isinstance(value, str) for value in texts.values()):
        raise InputError("the file states no family of models")
    return ModelOptions(**texts, **variables)


def part_of(name: str, values: Any, rows: IntArray, count: int) -> Any:
    """Return the values of some of so many observations; categories keep their order."""
    if len(rows) == count:
        return values
    shape = values.shape if hasattr(values, "shape") else np.shape(values)
    if not shape or shape[0] != count:
        raise InputError(f"{counted(count, 'row')}, but {name} of shape {shape}; give a value each")
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    if hasattr(values, "tocsr"):
        return values.tocsr()[rows]
    return values[rows] if hasattr(values, "shape") else [values[i] for i in rows.tolist()]


def numbers_of(
    name: str, values: npt.ArrayLike, count: int, least: float = -math.inf, remedy: str = ""
) -> FloatArray:
    """Return finite numbers from ``least`` on, a value for each of ``count`` observations.

    ``remedy`` is an alternative to numbers, in the message on texts.

    Raises
    ------
    InputError
        If the length differs or there are texts; a ``RowError`` if a number is not allowed.
    """
    array = np.asarray(values)
    array = array[:, 0] if array.shape == (count, 1) else array
    if array.shape != (count,):
        raise InputError(
            f"{counted(count, 'row')}, but {name} of shape {array.shape}; give a number each"
        )
    try:
        numbers = array.astype(object if array.dtype.kind in "cmM" else np.float64).astype(float)
    except (TypeError, ValueError, OverflowError):
        faulty = (i for i, value in enumerate(array.tolist()) if not _is_double(value))
        i = next(faulty, 0)
        fault = f"has {name}: {str(array[i])[:40]!r} is no double; give numbers{remedy}"
        raise RowError(i, fault) from None
    allowed_numbers = np.isfinite(numbers) & (numbers >= least)
    if name == "start":
        allowed_numbers |= numbers == -np.inf  # at risk from the beginning
    invalid = np.flatnonzero(~allowed_numbers)
    if len(invalid):
        allowed = "finite numbers" + " >= 0" * (least == 0.0)
        more = f" ({len(invalid)} such rows)" if len(invalid) > 1 else ""
        fault = f"has {name} {numbers[invalid[0]]:g}{more}; give {allowed}, or leave the row out"
        raise RowError(int(invalid[0]), fault)
    return numbers


def _is_double(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _require_known(option: str, name: object, names: Collection[str]) -> None:
    if not isinstance(name, str) or name not in names:
        usual = OTHER_NAMES.get(str(name).lower().replace("_", "-").replace(" ", "-"))
        suggestion = f" (give {usual})" if usual else did_you_mean(str(name), names)
        raise InputError(f"{option}={name!r} is unknown{suggestion}; known: {', '.join(names)}")
