"""The options that specify a model, and their values for the observations."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from perceptron_lab.core.errors import InputError, RowError, counted, did_you_mean
from perceptron_lab.core.results import FloatArray
from perceptron_lab.problems.separation.families.kinds import (
    FAMILIES,
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
    seconds
        Time limit of the decision whether a log-binomial model has a likelihood.
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
    seconds: float = math.inf

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
    invalid = np.flatnonzero(~(np.isfinite(numbers) & (numbers >= least)))
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
    if name not in names:
        suggestion = did_you_mean(str(name), names)
        raise InputError(f"{option}={name!r} is unknown{suggestion}; known: {', '.join(names)}")
