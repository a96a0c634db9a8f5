"""The optimal values that SDPLIB lists for its programs.

From the README of SDPLIB 1.2 (B. Borchers, 1999), as printed there, in SDPA's sign. Its values of
maxG51 and maxG55, 4003.809 and 9999.210, are not those of the files: 4006.2555 and 12869.8667 lie
in the proved intervals, and are kept beside them as corrections.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib import resources


@dataclass(frozen=True)
class Listed:
    """A listed value: as printed, and what it is corrected to, or empty."""

    printed: str
    corrected: str

    @property
    def value(self) -> float:
        """The corrected value, if there is one, else the printed one."""
        return float(self.corrected or self.printed)

    def agrees(self, lower: float, upper: float) -> bool:
        """Return whether [lower, upper] and the printed value have a number in common.

        A printed value stands for all that are nearer than a unit of its last digit.
        """
        printed = Decimal(self.printed)
        exponent = printed.as_tuple().exponent
        assert isinstance(exponent, int)
        unit = Decimal(1).scaleb(exponent)
        return Decimal(lower) < printed + unit and printed - unit < Decimal(upper)


@cache
def sdplib_optima() -> dict[str, Listed]:
    """Return instance -> its listed value, for those that are not listed as infeasible."""
    text = resources.files(__package__).joinpath("sdplib_optima.csv").read_text("ascii")
    rows = csv.DictReader(text.splitlines())
    return {row["instance"]: Listed(row["listed"], row["corrected"]) for row in rows}
