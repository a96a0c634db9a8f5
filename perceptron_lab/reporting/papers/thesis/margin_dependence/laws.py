"""Two laws of queries against 1 / rho, fitted to the same medians: a logarithm and a power."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from perceptron_lab.core.errors import DataError
from perceptron_lab.datasets.generated.margin_sets import MarginSets
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import Outline
from perceptron_lab.reporting.summary import Summary, by_label, summaries

Reals = npt.NDArray[np.float64]

# Margins below which no law is fitted: two points lie on both
FEWEST = 3


@dataclass(frozen=True)
class Logarithm:
    """q = a + b ln(1 / rho): a and b make the sum of (fit / q - 1)^2 least."""

    a: float
    b: float
    residual: float

    @classmethod
    def of(cls, ratios: Reals, queries: Reals) -> Logarithm:
        """Return the fit; ``ratios`` are 1 / rho."""
        columns = np.column_stack([np.ones(len(ratios)), np.log(ratios)]) / queries[:, None]
        (a, b), *_ = np.linalg.lstsq(columns, np.ones(len(ratios)), rcond=None)
        law = cls(float(a), float(b), 0.0)
        return cls(law.a, law.b, residual_of(law.at(ratios), queries))

    def at(self, ratios: Reals) -> Reals:
        """Return the queries that it gives."""
        return self.a + self.b * np.log(ratios)


@dataclass(frozen=True)
class Power:
    """q = c (1 / rho)^p, by least squares in logarithms."""

    factor: float
    exponent: float
    residual: float

    @classmethod
    def of(cls, ratios: Reals, queries: Reals) -> Power:
        """Return the fit; ``ratios`` are 1 / rho."""
        columns = np.column_stack([np.ones(len(ratios)), np.log(ratios)])
        (log_factor, exponent), *_ = np.linalg.lstsq(columns, np.log(queries), rcond=None)
        law = cls(float(np.exp(log_factor)), float(exponent), 0.0)
        return cls(law.factor, law.exponent, residual_of(law.at(ratios), queries))

    def at(self, ratios: Reals) -> Reals:
        """Return the queries that it gives."""
        return np.asarray(self.factor * ratios**self.exponent)


def residual_of(fitted: Reals, queries: Reals) -> float:
    """Return the root of the mean of (fit / q - 1)^2."""
    return float(np.sqrt(np.mean((fitted / queries - 1.0) ** 2)))


@dataclass(frozen=True)
class Dependence:
    """The cells of one family and label, by decreasing margin.

    Parameters
    ----------
    family, label
        Which.
    margins, entries
        rho, and the cells of that margin.
    """

    family: str
    label: str
    margins: Sequence[float]
    entries: Sequence[Summary]

    @property
    def proved(self) -> list[tuple[float, float]]:
        """Margin and median of the queries, where a point is proved for every seed."""
        pairs = zip(self.margins, self.entries, strict=True)
        known = [(margin, entry.median("queries")) for margin, entry in pairs if entry.feasible]
        return [(margin, queries) for margin, queries in known if queries]

    @property
    def laws(self) -> tuple[Logarithm, Power] | None:
        """Both laws; None of fewer than three margins."""
        if len(self.proved) < FEWEST:
            return None
        margins, queries = np.array(self.proved).T
        return Logarithm.of(1.0 / margins, queries), Power.of(1.0 / margins, queries)

    @property
    def better(self) -> Logarithm | Power | None:
        """The law of the lesser residual."""
        if self.laws is None:
            return None
        logarithm, power = self.laws
        return logarithm if logarithm.residual < power.residual else power


def known_margins(outline: Outline) -> dict[str, tuple[str, float]]:
    """Return problem -> family and margin, of problems that have both as parameters."""
    found = {}
    for problem in outline.problems():
        parameters = outline.parameters(problem)
        family, margin = parameters.get("family"), parameters.get("margin")
        if isinstance(family, str) and isinstance(margin, int | float):
            rows = isinstance(outline.dataset(problem), MarginSets)
            found[problem] = (f"rows, {family}" if rows else family, float(margin))
    if len({margin for _, margin in found.values()}) < FEWEST:
        raise DataError(
            "a law of the margin needs problems of three known margins or more; give "
            "{dataset: conic-sets, grid: {margin: [...]}} or {dataset: margin-sets, family: exact}"
        )
    return found


def dependences(evidence: Evidence) -> list[Dependence]:
    """Return every family by every label that was run on it."""
    known = known_margins(evidence)
    frame = evidence.frame[evidence.frame["problem"].isin(list(known))]
    ran = [entry for entry in summaries(frame) if entry.seeds]
    found = []
    for family in dict.fromkeys(family for family, _ in known.values()):
        mine = [entry for entry in ran if known[entry.problem][0] == family]
        for label, entries in by_label(mine).items():
            ordered = sorted(entries, key=lambda entry: -known[entry.problem][1])
            margins = [known[entry.problem][1] for entry in ordered]
            found.append(Dependence(family, label, margins, ordered))
    return found
