"""Irreducible sets of constraints in conflict, with exact weights.

A set of constraints is in conflict if it has no strictly feasible point. It is irreducible if each
constraint, left out, leaves a strictly feasible point, and these points are proved. The constraints
of a conic system are its blocks, and the rows of diagonal blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp

from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.core.results import IntArray, Result, Status
from perceptron_lab.numerics.exact_texts import exact_text
from perceptron_lab.systems.conic_system import ConicSystem
from perceptron_lab.systems.elimination import EliminatedSystem, as_conditions
from perceptron_lab.systems.exact_pencil import Term, entry, guess_of
from perceptron_lab.systems.linear_system import LinearSystem
from perceptron_lab.systems.system import System

Constraint = TypeVar("Constraint")

MOST_FILTERED = 20
"""Constraints with weights at most that are left out one by one, unless that is asked for."""
MOST_SCORES = 60
"""Scores at most of systems whose conflicts are looked for unasked: a fraction of a second."""
HEAVY = 1e-6
"""Part of the largest weight above which constraints are tried as a conflict first."""


def irreducible(
    constraints: list[Constraint],
    decide: Callable[[list[Constraint]], tuple[Status, list[Constraint]]],
) -> tuple[list[Constraint], list[Constraint]]:
    """Return a part of constraints in conflict, and those of it that may not be necessary.

    Each is left out in turn (a deletion filter). If a strict point is proved without it, it is in
    every conflict among the others and itself.

    Parameters
    ----------
    constraints
        In conflict.
    decide
        The status of some of them, one at least, and if INFEASIBLE those with weights.
    """
    conflict, unproved = constraints, list[Constraint]()
    for constraint in constraints:
        rest = [other for other in conflict if other is not constraint]
        if not rest or len(rest) == len(conflict):
            continue
        status, weighted = decide(rest)
        if status is Status.INFEASIBLE:
            conflict = weighted
        elif status is not Status.FEASIBLE:
            unproved.append(constraint)
    return conflict, [c for c in unproved if any(c is other for other in conflict)]


def entries_of_conflict(
    unproved: Iterable[str], system: System, answer: Result, names: Sequence[str]
) -> dict[str, Any]:
    """Return the certificate's ``conflict``: names that may not be necessary, and exact weights.

    Weights of rows and of second-order cones are lists of numbers, those of a matrix are its rows.
    A name of several blocks has the list of their weights.

    Parameters
    ----------
    system, answer
        Of the conflict alone; exact weights are near those of the answer.
    names
        Of the blocks of a conic system, without x_0 > 0.
    """
    weights = answer.certificate.get("contradiction", {})
    if isinstance(system, ConicSystem):
        blocks = dict[str, list[Any]]()
        for name, block in zip(names, _exact_blocks(system, answer), strict=False):
            blocks.setdefault(name, []).append(block)
        weights = {name: parts[0] if len(parts) == 1 else parts for name, parts in blocks.items()}
    return {"not proved necessary": list(unproved), "weights": weights}


def _exact_blocks(system: ConicSystem, answer: Result) -> list[Any]:
    """Return the exact weights of each block, without x_0; none if there are none near these."""
    from perceptron_lab.systems.face_weights import weights_near

    weights, pencil = answer.weights, system.exact_pencil()
    if pencil is None or weights is None or len(weights) != system.cone.size:
        return []
    exact = weights_near(pencil, guess_of(system.cone, weights))
    if exact is None:
        return []
    blocks = zip(pencil.blocks, exact, strict=True)
    return [_written(kind, order, terms) for (kind, order), terms in blocks][system.homogenised :]


def _written(kind: str, order: int, terms: Sequence[Term]) -> list[Any]:
    if kind != "matrix":
        return [exact_text(entry(kind, terms, i, i)) for i in range(order)]
    indices = range(order)
    return [[exact_text(sum(d * v[i] * v[j] for d, v in terms)) for j in indices] for i in indices]


class Part(NamedTuple):
    """A block, or a row of a diagonal block: its name, and the places of its scores."""

    name: str
    scores: IntArray


def parts_of(system: ConicSystem) -> list[Part]:
    """Return the constraints of a system, without x_0 > 0."""
    parts = list[Part]()
    for number, (cone, span) in enumerate(system.cone.blocks[system.homogenised :], start=1):
        scores, name = np.arange(span.start, span.stop), f"block {number}"
        rows = enumerate(scores[:, None], start=1) if cone.of_rows and cone.size > 1 else ()
        parts += [Part(f"{name}, row {i}", row) for i, row in rows] or [Part(name, scores)]
    names = system.names or [part.name for part in parts]
    return [part._replace(name=name) for part, name in zip(parts, names, strict=True)]


def restricted(system: ConicSystem, parts: Sequence[Part]) -> ConicSystem:
    """Return the system of some constraints, of x_0 > 0, and of equations if there are any."""
    blocks = {span.start: cone for cone, span in system.cone.blocks}
    first = Part("", np.arange(int(system.homogenised)))
    cones = [
        Orthant(1) if len(part.scores) == 1 else blocks[int(part.scores[0])]
        for part in (first, *parts)
        if len(part.scores)
    ]
    scores = np.concatenate([part.scores for part in (first, *parts)])
    data: Any = sp.csr_array(system.matrix.data)[scores]
    operator = Matrix(sp.csr_array(data), roundings=system.matrix.roundings)
    names, cone = tuple(part.name for part in parts), Product(cones)
    more: dict[str, Any] = {}
    if isinstance(system, EliminatedSystem):
        more = {"rows": tuple(system.rows[i] for i in scores.tolist()), "original_cone": cone}
    return replace(system, operator=operator, cone=cone, names=names, **more)


def with_conflict(
    system: ConicSystem,
    result: Result,
    run: Callable[[System], Result],
    most: float = MOST_FILTERED,
) -> Result:
    """Return an INFEASIBLE result with the names and the exact weights of a conflict.

    Parameters
    ----------
    system
        Of blocks that are not all rows.
    run
        Decides systems of fewer constraints.
    most
        Constraints with weights at most; of more none is left out. Up to ``MOST_FILTERED``, larger
        systems than of ``MOST_SCORES`` are left as they are.
    """
    if result.status is not Status.INFEASIBLE or result.weights is None:
        return result
    if most <= MOST_FILTERED and system.cone.size > MOST_SCORES:
        return result
    if len(result.weights) != system.cone.size:
        system = system.completed(required=False)

    def decide(rest: list[Part]) -> tuple[Status, list[Part]]:
        part = restricted(system, rest)
        answer = run(_closed(part))
        return answer.status, _weighted(rest, part, answer)

    conflict = _weighted(parts_of(system), system, result)
    # Weights that are proved by an ellipsoid around them are on all constraints
    heavy = _weighted(parts_of(system), system, result, HEAVY)
    if 0 < len(heavy) < len(conflict):
        status, weighted = decide(heavy)
        conflict = weighted if status is Status.INFEASIBLE else conflict
    if not 0 < len(conflict) <= most:
        return result

    conflict, unproved = irreducible(conflict, decide)
    part, names = restricted(system, conflict), tuple(part.name for part in conflict)
    rows = _closed(part)
    entries = entries_of_conflict([c.name for c in unproved], rows, run(rows), names)
    return replace(result, conflict=names, certificate=result.certificate | {"conflict": entries})


def _weighted(parts: list[Part], system: System, answer: Result, least: float = 0.0) -> list[Part]:
    """Return the constraints with weights in an answer on their system, or all of them.

    ``least``: above such a part of the largest.
    """
    weights = answer.weights
    if not isinstance(system, ConicSystem) or weights is None or len(weights) != system.cone.size:
        return parts
    pairs = zip(parts, parts_of(system), strict=True)
    sizes = np.abs(weights)
    return [part for part, at in pairs if sizes[at.scores].max() > least * sizes.max()]


def _closed(system: ConicSystem) -> System:
    """Return the linear system of rows that may be 0, where there are no cones, or the system."""
    rows = all(cone.of_rows for cone, _ in system.cone.blocks)
    closed = rows and system.closed_rows and not isinstance(system, EliminatedSystem)
    scores = as_conditions(system)[1:] if closed else []
    conditions = [
        row._replace(name=name) for row, name in zip(scores, system.names, strict=bool(scores))
    ]
    names = [f"x_{j}" for j in range(1, system.dimension)]
    return LinearSystem.of_conditions(conditions, names) if conditions else system
