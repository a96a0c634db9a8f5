"""Generated linear systems, feasible and infeasible, of margins known or bounded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, ValidationInfo, field_validator

from perceptron_lab.core.refusals import Count, parameter_record
from perceptron_lab.datasets.dataset import chosen, chosen_with
from perceptron_lab.datasets.generated import margin_families as families
from perceptron_lab.datasets.generated.generator import GeneratedDataset, plain
from perceptron_lab.datasets.problem import Problem
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.infeasible_margin import negative_margin

# Numbers in a generated matrix: 4 gigabytes
MOST_ENTRIES = 500_000_000

Family = Literal[
    "exact", "reflected", "thin", "convex-combination", "gaussian", "classes", "worst-case"
]

_SIZES = {"dimension": 100, "rows": 5000}


class _Construction(NamedTuple):
    """How the rows of a family are made, from which parameters, and how many there must be."""

    make: Callable[..., families.MarginSet]
    defaults: dict[str, Any]
    fewest_rows: Callable[[int], int] = lambda dimension: 1


_FAMILIES = {
    "exact": _Construction(families.exact, _SIZES | {"margin": 1e-3}, lambda n: 2 * (n - 1)),
    "reflected": _Construction(families.reflected, _SIZES | {"difficulty": 0.3}),
    "thin": _Construction(families.thin, _SIZES | {"margin": 1e-3}, lambda n: 2),
    "convex-combination": _Construction(families.convex_combination, _SIZES, lambda n: n + 1),
    "gaussian": _Construction(families.gaussian, {"dimension": 100, "ratio": None, "rows": 5000}),
    "classes": _Construction(families.classes, _SIZES | {"separation": 8.0}, lambda n: 2),
    "worst-case": _Construction(families.worst_case, {"steepness": 100}),
}
_DEFAULTS = {name: family.defaults for name, family in _FAMILIES.items()}


@parameter_record
class MarginSets(GeneratedDataset):
    """Generated rows of known margin, infeasible rows, labelled classes; one instance per entry.

    Find y with a_i'y > 0 for all rows a_i. The instance's name holds all its parameters, as in
    ``reflected-100x5000-0.3`` (dimension x rows); name and seed determine it. Sweeps are written
    with ``grid:``. A parameter that the family does not have is refused.

    ``exact``: margin exactly ``margin``, rows in all directions. ``thin``: margin exactly
    ``margin``, an elliptic cone with log-spaced axes (ill-conditioned). ``reflected``: rows uniform
    on a half-sphere, flattened by the factor ``difficulty``; the synthetic data of
    `YuKilincCarbonell2014` as far as it is known; a lower bound of the margin is known.
    ``convex-combination``: infeasible, 0 is a known convex combination of the rows. ``gaussian``:
    normal rows, infeasible for rows > 2 dimension with high probability and near-critical around
    that; ``ratio`` gives the rows as a multiple of 2 dimension. ``classes``: two labelled normal
    classes, sought is an affine separator (dimension - 1 features). ``worst-case``: four rows in
    the plane on which the perceptron takes about 2 ``steepness``^2 updates (`PerceptronNotes`,
    section 3.1).

    Parameters
    ----------
    family
        One of the above.
    dimension
        Number of unknowns, 2 or more (default 100); not of worst-case.
    margin
        Of exact and thin, 1e-10 to 0.9 (default 1e-3).
    difficulty
        Of reflected, > 0, at most 1000 (default 0.3); smaller is harder, 1 is the half-sphere.
    separation
        Of classes, >= 0: the distance of the two means, in standard deviations (default 8).
    steepness
        Of worst-case, the notes' K, 1 or more (default 100).
    ratio
        Of gaussian, > 0, instead of ``rows``: rows = 2 dimension ratio, rounded.
    rows
        Number of rows, or of examples (default 5000); not of worst-case.
    bracket
        Whether to prove how negative the margin is, where no separator is known, so that
        certificates have bounds in terms of it (default false). It takes 2 dimension linear
        programs: a second for 125 rows of dimension 50, half a dozen for 1000.
    measured
        The margin that is sought, as for :meth:`.ConicSystem.from_labelled`: ``unit`` (default),
        ``directional``, or ``geometric``, of classes only.
    """

    family: Family
    dimension: Annotated[int, Field(ge=2, le=1_000_000)] | None = None
    margin: Annotated[float, Field(ge=1e-10, le=0.9)] | None = None
    difficulty: Annotated[float, Field(gt=0, le=1000)] | None = None
    separation: Annotated[float, Field(ge=0, le=1000)] | None = None
    steepness: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    ratio: Annotated[float, Field(gt=0, le=1000)] | None = None
    rows: Count | None = None
    bracket: bool = False
    measured: Literal["unit", "directional", "geometric"] = "unit"

    _of_the_family = chosen_with(
        "family", _DEFAULTS, "dimension", "margin", "difficulty", "separation", "steepness", "ratio"
    )

    @field_validator("ratio")
    @classmethod
    def _possible_ratio(cls, ratio: float | None, info: ValidationInfo) -> float | None:
        if ratio is not None and info.data.get("dimension") is not None:
            _check_rows(_rows(info.data["dimension"], ratio), info)
        return ratio

    @field_validator("rows")
    @classmethod
    def _possible_rows(cls, rows: int | None, info: ValidationInfo) -> int | None:
        if info.data.get("ratio") is None:
            return _check_rows(chosen(rows, info, "family", _DEFAULTS), info)
        if rows is not None:
            raise ValueError("ratio gives the rows already; keep one of the two")
        return None

    @field_validator("measured")
    @classmethod
    def _of_classes(cls, measured: str, info: ValidationInfo) -> str:
        if measured == "geometric" and info.data.get("family", "classes") != "classes":
            raise ValueError("the geometric margin is that of classes; choose unit or directional")
        return measured

    @property
    def name(self) -> str:
        """The instance's name, which holds the parameters of its data."""
        values = self._values()
        sizes = [f"{values.pop('dimension')}x{values.pop('rows')}"] if "rows" in values else []
        return "-".join([self.family, *sizes, *map(plain, values.values())])

    def problem(self, seed: int) -> Problem:
        """Generate the instance."""
        made = self.generate(seed)
        if made.labels is None:
            system = ConicSystem.from_rows(made.rows, margin=self.measured)
            arrays = [made.rows]
        else:
            system = ConicSystem.from_labelled(made.rows, made.labels, margin=self.measured)
            arrays = [made.rows, made.labels]
        problem = self.stated(system, *arrays, point=made.point)
        if not self.bracket or made.point is not None:
            return problem
        return replace(problem, facts=negative_margin(system).known(problem.facts))

    def generate(self, seed: int) -> families.MarginSet:
        """Return the rows, with the solutions known by construction."""
        values = self._values()
        size = 8 * values.get("rows", 4) * values.get("dimension", 2)
        with self.random(seed, size) as rng:
            return _FAMILIES[self.family].make(rng, **values)

    def _values(self) -> dict[str, Any]:
        """Return the arguments of the generator."""
        values = {name: getattr(self, name) for name in _DEFAULTS[self.family]}
        ratio = values.pop("ratio", None)
        if ratio is not None:
            values["rows"] = _rows(values["dimension"], ratio)
        return values


def _rows(dimension: int, ratio: float) -> int:
    """Return the number of Gaussian rows for a multiple of 2 dimension."""
    return max(1, round(2 * dimension * ratio))


def _check_rows(rows: int | None, info: ValidationInfo) -> int | None:
    """Return a number of rows that the family and the memory allow."""
    family, dimension = info.data.get("family"), info.data.get("dimension")
    if rows is None or family is None or dimension is None:
        return rows
    fewest, most = _FAMILIES[family].fewest_rows(dimension), MOST_ENTRIES // dimension
    if not fewest <= rows <= most:
        raise ValueError(
            f"{rows} rows in dimension {dimension}; the family {family} allows {fewest} to {most}"
        )
    return rows
