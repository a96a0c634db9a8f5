"""The effect of rounding on the counts of Table 6.1, as measured."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import pandas as pd

FILE = files(__package__) / "rounding.csv"


@dataclass(frozen=True)
class Spread:
    """The least and the largest number of queries of one entry of Table 6.1.

    Parameters
    ----------
    least, most
        Over the kernels of OpenBLAS for Prescott, Nehalem, Sandybridge, Haswell and SkylakeX, and
        numba's generic target.
    noisy_least, noisy_most
        With noise of 2^-52 times the largest entry in every point that is queried (two seeds).
        No zero stays one then, neither an entry of the matrix nor a pivot.
    """

    least: int
    most: int
    noisy_least: int
    noisy_most: int

    @property
    def hangs_on_kernel(self) -> bool:
        """Whether BLAS kernels differ in it."""
        return self.least < self.most

    @property
    def hangs_on_zeros(self) -> bool:
        """Whether it is another one where zeros are not exact."""
        return not self.least == self.noisy_least == self.noisy_most

    @property
    def change(self) -> float:
        """Percent by which noise changes it, at most."""
        moved = max(abs(self.noisy_least - self.least), abs(self.noisy_most - self.least))
        return 100.0 * moved / self.least


@cache
def spreads() -> dict[tuple[str, str], Spread]:
    """Return the spreads as (problem, label) -> spread."""
    with FILE.open(encoding="utf-8") as file:
        table = pd.read_csv(file)
    numbers = ["least", "most", "noisy_least", "noisy_most"]
    return {
        (row["problem"], row["label"]): Spread(*(int(row[name]) for name in numbers))
        for row in table.to_dict("records")
    }
