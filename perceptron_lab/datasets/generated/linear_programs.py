"""Families of linear programs with structure, of which it is known whether they have a point."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from hashlib import sha256
from typing import Annotated, Literal

import numpy as np
from numpy.random import Generator
from pydantic import Field

from perceptron_lab.core.refusals import parameter_record
from perceptron_lab.datasets.generated.generator import GeneratedDataset
from perceptron_lab.datasets.problem import Problem
from perceptron_lab.systems.conditions import Condition, bound_conditions, condition
from perceptron_lab.systems.linear_system import LinearSystem

Number = Fraction | int
# A name, the entries by variables, and the right-hand side of an equation
Line = tuple[str, dict[str, Number], Number]
# The bounds of a variable; None for none above
Box = tuple[Number, Number | None]


@parameter_record
class LinearPrograms(GeneratedDataset):
    """Equations with bounds x >= 0 and others, of n = ``size`` stages, sites or rows.

    - ``chain``: x_{i+1} = x_i + d_i for n random whole d_i. An error in x_0 reaches x_n.
    - ``inventory``: stocks of n periods, s_t = s_{t-1} + p_t - d_t, with production and stock
      bounded.
    - ``transport``: n sources and n sinks, supply equal to demand.
    - ``equations``: n random equations in 2 n variables, of which half are 0 at the known point.
    - ``degenerate``: an assignment of n to n that only the identity satisfies, among n (n + 1) / 2
      variables: all others are 0 at every point.
    - ``scaled``: as ``equations``, rows and columns multiplied by powers of ten, so that entries
      are of sizes from 1e-13 to 1e13.
    - ``infeasible``: as ``inventory``, and demand exceeds all production by 10^-gap.

    Parameters
    ----------
    kind
        ``chain`` (default), ``inventory``, ``transport``, ``equations``, ``degenerate``, ``scaled``
        or ``infeasible``.
    size
        2 to 5000 (default 50); the number of variables may grow with its square.
    gap
        Of an infeasible program, 0 (default) to 40: far below the resolution of doubles.
    """

    kind: Literal[
        "chain", "inventory", "transport", "equations", "degenerate", "scaled", "infeasible"
    ] = "chain"
    size: Annotated[int, Field(ge=2, le=5000)] = 50
    gap: Annotated[int, Field(ge=0, le=40)] = 0

    @property
    def name(self) -> str:
        """The name of the instance: its kind, size and gap."""
        end = f"-{self.gap}" if self.kind == "infeasible" else ""
        return f"{self.kind}-{self.size}{end}"

    @property
    def feasible(self) -> bool:
        """Whether a point exists, by construction."""
        return self.kind != "infeasible"

    def problem(self, seed: int) -> Problem:
        """Generate the instance."""
        lines_of, cells = {
            "chain": (self._chain, 2 * self.size),
            "inventory": (self._inventory, 4 * self.size),
            "infeasible": (self._inventory, 4 * self.size),
            "transport": (self._transport, 2 * self.size**2),
            "degenerate": (self._assignment, self.size**2),
            "equations": (self._equations, 2 * self.size**2),
            "scaled": (self._equations, 2 * self.size**2),
        }[self.kind]
        boxes: dict[str, Box] = {}
        with self.random(seed, 256 * cells) as rng:
            lines = list(lines_of(rng, boxes))
        system = _system(lines, boxes)
        digest = sha256(repr(system.conditions).encode()).hexdigest()
        return Problem(self.name, system, digest, system.facts())

    def _chain(self, rng: Generator, boxes: dict[str, Box]) -> Iterator[Line]:
        for i, step in enumerate(rng.integers(1, 10, self.size).tolist()):
            yield f"step {i + 1}", {f"x{i}": -1, f"x{i + 1}": 1}, step

    def _inventory(self, rng: Generator, boxes: dict[str, Box]) -> Iterator[Line]:
        """Yield the balances; where they are infeasible, production is demand, one unit earlier."""
        demands = rng.integers(2, 10, self.size).tolist()
        for t, demand in enumerate(demands):
            capacity: Number = 10
            excess: Number = 0
            if not self.feasible:
                capacity = demand + (t < self.size // 2) - (t >= self.size - self.size // 2)
                excess = Fraction(1, 10**self.gap) if t == self.size - 1 else 0
            boxes[f"make{t}"] = 0, capacity
            boxes[f"stock{t}"] = 0, 20 if self.feasible else None
            entries: dict[str, Number] = {f"stock{t - 1}": 1} if t else {}
            yield f"balance {t}", {**entries, f"make{t}": 1, f"stock{t}": -1}, demand + excess

    def _transport(self, rng: Generator, boxes: dict[str, Box]) -> Iterator[Line]:
        shipped = rng.integers(0, 10, (self.size, self.size))
        sites = range(self.size)
        for i in sites:
            yield f"source {i}", {f"x{i}_{j}": 1 for j in sites}, int(shipped[i].sum())
        for j in sites:
            yield f"sink {j}", {f"x{i}_{j}": 1 for i in sites}, int(shipped[:, j].sum())

    def _assignment(self, rng: Generator, boxes: dict[str, Box]) -> Iterator[Line]:
        order = rng.permutation(self.size).tolist()
        for i in range(self.size):
            yield f"row {i}", {f"x{order[i]}_{order[j]}": 1 for j in range(i, self.size)}, 1
        for j in range(self.size):
            yield f"column {j}", {f"x{order[i]}_{order[j]}": 1 for i in range(j + 1)}, 1

    def _equations(self, rng: Generator, boxes: dict[str, Box]) -> Iterator[Line]:
        width = 2 * self.size
        matrix = rng.integers(-999, 1000, (self.size, width)).tolist()
        point = np.where(rng.random(width) < 0.5, rng.integers(1, 10, width), 0).tolist()
        scaled = self.kind == "scaled"
        rows = rng.integers(-6, 7, self.size).tolist() if scaled else [0] * self.size
        columns = rng.integers(-5, 6, width).tolist() if scaled else [0] * width
        for i, row in enumerate(matrix):
            entries: dict[str, Number] = {
                f"x{j}": entry * Fraction(10) ** (rows[i] + columns[j] - 2)
                for j, entry in enumerate(row)
            }
            right = sum(a * x for a, x in zip(row, point, strict=True)) * Fraction(10) ** (
                rows[i] - 2
            )
            yield f"row {i}", entries, right


def _system(lines: list[Line], boxes: dict[str, Box]) -> LinearSystem:
    """Return the system of equations and bounds; variables are >= 0 without another bound."""
    variables: dict[str, int] = {}
    conditions: list[Condition] = []
    for name, terms, right in lines:
        entries = {
            variables.setdefault(variable, len(variables)): Fraction(number)
            for variable, number in terms.items()
            if number
        }
        parts = tuple(entries), tuple(entries.values())
        conditions.append(condition(parts, Fraction(right), name, equation=True))
    lower = [Fraction(boxes[name][0] if name in boxes else 0) for name in variables]
    above = [boxes[name][1] if name in boxes else None for name in variables]
    upper = [None if limit is None else Fraction(limit) for limit in above]
    names = list(variables)
    bounds = bound_conditions(lower, upper, names)
    return LinearSystem.of_conditions([*conditions, *bounds], names)
