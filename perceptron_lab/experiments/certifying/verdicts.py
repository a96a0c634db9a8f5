"""Exact claims of verdicts on two classes: which rows are separated, and which overlap.

A verdict rests on a strictly complementary pair (:mod:`perceptron_lab.problems.separation.pairs`):
a direction that is positive on the separated rows and 0 on the others, and positive weights of the
others with sum_i w_i a_i = 0. Both are whole numbers already.

The class of a coefficient is that of the signs that it takes on R = {b : A b >= 0}. A member of R
shows that a sign occurs; weights w >= 0 with A'w a multiple of e_j, of the other sign, that it does
not: (7) of docs/notes/how-to-distrust-us.md. FINITE: neither sign occurs; +INF and -INF: that one
alone; UNDETERMINED: both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path

import numpy as np

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.collections.problem_files import read_problem
from perceptron_lab.datasets.formats.columns import Columns
from perceptron_lab.datasets.formats.file_contents import read_contents
from perceptron_lab.datasets.problem import Task
from perceptron_lab.exact.readings import Reading, of_contents, of_rows, of_system, of_table
from perceptron_lab.exact.row_weights import balanced
from perceptron_lab.exact.whole_numbers import CheckedSystem, Claim, whole_multiples, whole_weights
from perceptron_lab.experiments.certifying.claims import Exact, accepted
from perceptron_lab.experiments.verification.separation_verdicts import proved_on_file
from perceptron_lab.numerics.sparse_arrays import dense
from perceptron_lab.problems.separation.coefficients import (
    FINITE,
    MINUS,
    PLUS,
    UNDECIDED,
    Coefficient,
)
from perceptron_lab.problems.separation.labelled import constant_places, labelled
from perceptron_lab.problems.separation.verdict import (
    SavedVerdict,
    SeparationVerdict,
    verdict_proved,
)
from perceptron_lab.problems.separation.verdict_record import COMPLETE
from perceptron_lab.systems import ConicSystem

# Rows that overlap, per coefficient, beyond which few of them are looked for
_MANY = 20


def partition_claim(found: SeparationVerdict) -> Claim | None:
    """Return the claim of a verdict's partition; None of one that is undecided."""
    pair = found.pair
    if pair is None:
        return None
    point = whole_multiples(found.direction) if len(pair.separated) else [0] * len(found.names)
    if found.verdict == COMPLETE:
        return {"claim": "feasible", "point": point, "factors": []}
    return {
        "claim": "partition",
        "point": point,
        "weights": [whole_weights(pair.exact_weights)],
    }


def verdict_claims(found: SeparationVerdict, system: CheckedSystem) -> Exact:
    """Return the claims of a verdict that the checker accepts: its partition, its coefficients.

    Parameters
    ----------
    system
        The checker's.
    """
    claim = partition_claim(found)
    if claim is None:
        return Exact(missing={"verdict": "nothing is decided"})
    exact = accepted([("verdict", claim), *sign_claims(found)], system)
    if not found.classified:
        exact.missing["coefficients"] = "their classes are not decided, or not all of them"
    return exact


def sign_claims(found: SeparationVerdict) -> Iterator[tuple[str, Claim]]:
    """Yield two claims per coefficient that has a class, each with the coefficient's name."""
    for j, (name, one) in enumerate(zip(found.names, found.proofs, strict=False)):
        if one.name == UNDECIDED:
            continue
        for sign, point in ((1, one.positive), (-1, one.negative)):
            claim: Claim = {"column": j, "sign": sign}
            if point is not None:
                whole = whole_multiples(found.rows.given(point))
                claim |= {"claim": "sign occurs", "point": whole}
            else:
                weights = _excluding(found, one, j, sign)
                claim |= {"claim": "sign excluded", "weights": [weights]}
            yield name, claim


def _excluding(found: SeparationVerdict, one: Coefficient, j: int, sign: int) -> list[list[int]]:
    """Return w >= 0 with A'w a positive multiple of -sign e_j.

    The combination of the class's proof may have multipliers < 0 of rows that overlap: to it is
    added a multiple of their weights, whose combination is 0.
    """
    assert found.pair is not None
    if len(found.pair.overlap) > _MANY * found.rows.width:
        few = _few(found, j, sign)
        if few is not None:
            return few
    turned = -1 if one.name == FINITE and sign > 0 else 1
    given = {row: turned * multiplier for row, multiplier in one.combination.items()}
    assert one.name in (FINITE, PLUS, MINUS)
    null = found.pair.exact_weights
    steps = (-given[row] / null[row] for row in null.keys() & given.keys())
    step = max(steps, default=Fraction())
    if step <= 0:
        return whole_weights(given)
    rows = {**null, **given}
    return whole_weights(
        {row: given.get(row, Fraction()) + step * null.get(row, Fraction()) for row in rows}
    )


def _few(found: SeparationVerdict, j: int, sign: int) -> list[list[int]] | None:
    """Return such weights of few rows, those of a linear program's vertex; or None."""
    every = np.arange(found.rows.count)
    vectors = found.rows.whole(every).tolist()
    target = [sign * (i == j) for i in range(found.rows.width)]
    weights = balanced([*vectors, target], None, len(vectors))
    if weights is None or not weights[-1]:
        return None
    used = [i for i, weight in enumerate(weights[:-1]) if weight]
    return [used, [weights[i] for i in used]]


def on_task(task: Task, proof: Mapping[str, FloatArray], *, affine: bool) -> tuple[Reading, Exact]:
    """Return the rows of a task, to be written, and the claims that a kept proof proves of them."""
    given = labelled(task.examples, task.labels, affine=affine, leave_out=False)
    found = verdict_proved(given, proof)
    rows = np.asarray(dense(task.examples))
    lifted = np.column_stack([rows, np.ones(len(rows))]) if affine else rows
    reading = of_rows(np.asarray(lifted * task.labels[:, None], dtype=float))
    return reading, verdict_claims(found, reading.system())


def on_saved(saved: SavedVerdict, file: Path, columns: Columns) -> tuple[Reading, Exact]:
    """Return how a checker reads the file of a saved verdict, and the claims that it proves."""
    found = proved_on_file(saved, file, columns)
    if found.constant_columns:
        return _without_constants(found, file, columns)
    contents = read_contents(file, columns, exact=True)
    system = ConicSystem.of(read_problem(file, columns, margin="directional").system)
    reading = of_table(file, system) or of_contents(contents, system) or of_system(system)
    return reading, verdict_claims(found, reading.system())


def _without_constants(
    found: SeparationVerdict, file: Path, columns: Columns
) -> tuple[Reading, Exact]:
    """Return the rows without the constant columns that are left out, to be written."""
    contents = read_contents(file, columns)
    given = contents.in_memory()
    if given.roundings and given.whole is None:
        raise DataError("its numbers are no doubles; leave its constant columns out of the file")
    values = given.values if given.whole is None else given.whole  # a multiple of the rows
    rows = np.delete(values, constant_places(given), axis=1)
    lifted = np.column_stack([rows, np.full(len(rows), float(given.multiple))])
    reading = of_rows(lifted * contents.two_classes().signs[:, None])
    return reading, verdict_claims(found, reading.system())
