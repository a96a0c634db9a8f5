"""When a run ends: its goal and its budget."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

STRICT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
"""Every parameter record refuses unknown keys, NaN, infinity and silent conversions."""


@dataclass(frozen=True, config=STRICT)
class Budget:
    """The limits of one run; every limit is echoed in the results.

    Parameters
    ----------
    updates
        Updates (iterations, for methods that are not mistake-driven) at most; 0 or more.
    seconds
        Seconds of the algorithm at most, verification and loading excluded; 0 or more.
    """

    updates: Annotated[int, Field(ge=0)] = 1_000_000
    seconds: Annotated[float, Field(ge=0)] = 300.0


@dataclass(frozen=True, config=STRICT)
class MarginUpper:
    """End as soon as the margin is proved to be at most ``margin_upper``, or as ``decide`` does."""

    margin_upper: Annotated[float, Field(gt=0)]


@dataclass(frozen=True, config=STRICT)
class MarginRatio:
    """End as soon as margin_lower >= margin_ratio * margin_upper is proved."""

    margin_ratio: Annotated[float, Field(gt=0, lt=1)]


Goal = Literal["decide", "budget"] | MarginUpper | MarginRatio
"""``decide`` ends with the first proof, ``budget`` runs on after it (for curves)."""
