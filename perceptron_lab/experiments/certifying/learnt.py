"""Exact claims of learners, and of verdicts on two classes.

A verdict rests on a strictly complementary pair (:mod:`perceptron_lab.problems.separation.pairs`):
a direction that is positive on the separated rows and 0 on the others, and positive weights of the
others with sum_i w_i a_i = 0. Both are whole numbers already.

The class of a coefficient is that of the signs that it takes on R = {b : A b >= 0}. A member of R
shows that a sign occurs; weights w >= 0 with A'w a multiple of e_j, of the other sign, that it does
not: (7) of docs/notes/how-to-distrust-us.md. FINITE: neither sign occurs; +INF and -INF: that one
alone; UNDETERMINED: both.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from perceptron_lab.cones.operators.gram import Gram
from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.datasets.collections.problem_files import read_problem
from perceptron_lab.datasets.formats.columns import Columns
from perceptron_lab.datasets.formats.file_contents import read_contents
from perceptron_lab.datasets.problem import Problem, Task
from perceptron_lab.estimators.learners.learning import Learner
from perceptron_lab.estimators.learners.registered.ellipsoid_separation import EllipsoidSeparation
from perceptron_lab.estimators.learners.registered.online_perceptrons import OnlineLearner
from perceptron_lab.estimators.learners.registered.separation_verdict import ProvedSeparation
from perceptron_lab.exact.ellipsoid_ratio import (
    Vectors,
    ratio_at_least,
    ratio_unbounded,
    ratio_zero,
    ratios_at_most,
)
from perceptron_lab.exact.readings import (
    Reading,
    of_contents,
    of_rows,
    of_squares,
    of_system,
    of_table,
)
from perceptron_lab.exact.row_weights import balanced
from perceptron_lab.exact.whole_numbers import (
    CheckedSystem,
    Claim,
    exactly,
    whole_multiples,
    whole_weights,
)
from perceptron_lab.experiments.certifying.exact_claims import (
    CertifiedAnswer,
    Exact,
    accepted,
    exact_claims,
)
from perceptron_lab.experiments.verification.claims import Claims
from perceptron_lab.experiments.verification.reproof import TOLERANCE
from perceptron_lab.experiments.verification.separation_verdicts import proved_on_file
from perceptron_lab.numerics.exact_doubles import to_double
from perceptron_lab.numerics.sparse_arrays import dense
from perceptron_lab.problems.ellipsoids.ellipsoid import Ellipsoid
from perceptron_lab.problems.ellipsoids.hard.separation_verification import ELLIPSOID, WEIGHTS
from perceptron_lab.problems.separation.coefficients import (
    FINITE,
    MINUS,
    PLUS,
    UNDECIDED,
    Coefficient,
)
from perceptron_lab.problems.separation.labelled import labelled
from perceptron_lab.problems.separation.verdict import (
    SavedVerdict,
    SeparationVerdict,
    verdict_proved,
)
from perceptron_lab.problems.separation.verdict_record import COMPLETE
from perceptron_lab.systems import ConicSystem

# Rows that overlap, per coefficient, beyond which few of them are looked for
_MANY = 20


def partition_claim(verdict: SeparationVerdict) -> Claim | None:
    """Return the claim of a verdict's partition; None of one that is undecided."""
    pair = verdict.pair
    if pair is None:
        return None
    point = whole_multiples(verdict.direction) if len(pair.separated) else [0] * len(verdict.names)
    if verdict.verdict == COMPLETE:
        return {"claim": "feasible", "point": point, "factors": []}
    return {"claim": "partition", "point": point, "weights": [whole_weights(pair.exact_weights)]}


def verdict_claims(verdict: SeparationVerdict, system: CheckedSystem) -> Exact:
    """Return the claims of a verdict that the checker accepts: its partition, its coefficients.

    Parameters
    ----------
    system
        The checker's.
    """
    claim = partition_claim(verdict)
    if claim is None:
        return Exact(missing={"verdict": "nothing is decided"})
    exact = accepted([("verdict", claim), *sign_claims(verdict)], system)
    if not verdict.classified:
        exact.missing["coefficients"] = "their classes are not decided, or not all of them"
    return exact


def sign_claims(verdict: SeparationVerdict) -> Iterator[tuple[str, Claim]]:
    """Yield two claims per coefficient that has a class, each with the coefficient's name."""
    for j, (name, proof) in enumerate(zip(verdict.names, verdict.proofs, strict=False)):
        if proof.name == UNDECIDED:
            continue
        for sign, point in ((1, proof.positive), (-1, proof.negative)):
            claim: Claim = {"column": j, "sign": sign}
            if point is not None:
                integers = whole_multiples(verdict.rows.in_original_units(point))
                claim |= {"claim": "sign occurs", "point": integers}
            else:
                weights = _excluding(verdict, proof, j, sign)
                claim |= {"claim": "sign excluded", "weights": [weights]}
            yield name, claim


def _excluding(
    verdict: SeparationVerdict, coefficient: Coefficient, j: int, sign: int
) -> list[list[int]]:
    """Return w >= 0 with A'w a positive multiple of -sign e_j.

    The combination of the class's proof may have multipliers < 0 of rows that overlap: to it is
    added a multiple of their weights, whose combination is 0.
    """
    assert verdict.pair is not None
    # All overlapping rows would make a certificate as large as the data
    if len(verdict.pair.overlap) > _MANY * verdict.rows.width:
        few = _few(verdict, j, sign)
        if few is not None:
            return few
    turned = -1 if coefficient.name == FINITE and sign > 0 else 1
    multipliers = {row: turned * multiplier for row, multiplier in coefficient.combination.items()}
    assert coefficient.name in (FINITE, PLUS, MINUS)
    null = verdict.pair.exact_weights
    steps = (-multipliers[row] / null[row] for row in null.keys() & multipliers.keys())
    step = max(steps, default=Fraction())
    # No multiplier is negative
    if step <= 0:
        return whole_weights(multipliers)
    rows = {**null, **multipliers}
    return whole_weights(
        {row: multipliers.get(row, Fraction()) + step * null.get(row, Fraction()) for row in rows}
    )


def _few(verdict: SeparationVerdict, j: int, sign: int) -> list[list[int]] | None:
    """Return such weights of few rows, from a vertex of a linear program; None without any."""
    every = np.arange(verdict.rows.count)
    vectors = verdict.rows.integers(every).tolist()
    target = [sign * (i == j) for i in range(verdict.rows.width)]
    weights = balanced([*vectors, target], None, len(vectors))
    if weights is None or not weights[-1]:
        return None
    nonzero = [i for i, weight in enumerate(weights[:-1]) if weight]
    return [nonzero, [weights[i] for i in nonzero]]


def on_task(task: Task, proof: Mapping[str, FloatArray], *, affine: bool) -> tuple[Reading, Exact]:
    """Return the rows of a task, to be written, and the claims that a kept proof proves of them."""
    examples = labelled(task.examples, task.labels, affine=affine, leave_out=False)
    verdict = verdict_proved(examples, proof)
    rows = np.asarray(dense(task.examples))
    lifted = np.column_stack([rows, np.ones(len(rows))]) if affine else rows
    reading = of_rows(np.asarray(lifted * task.labels[:, None], dtype=float))
    return reading, verdict_claims(verdict, reading.system())


def on_saved(saved: SavedVerdict, file: Path, columns: Columns) -> tuple[Reading, Exact]:
    """Return how a checker reads the file of a saved verdict, and the claims that it proves.

    The rows of models, and rows without constant columns, are no rows of the file: the certificate
    holds them, and `plab verify` verifies that they are those of the file.
    """
    verdict = proved_on_file(saved, file, columns)
    if verdict.model is not None or verdict.constant_columns or verdict.intercept is None:
        return _on_own_rows(verdict)
    contents = read_contents(file, columns, exact=True)
    system = ConicSystem.of(read_problem(file, columns, margin="directional").system)
    reading = of_table(file, system) or of_contents(contents, system) or of_system(system)
    return reading, verdict_claims(verdict, reading.system())


def _on_own_rows(verdict: SeparationVerdict) -> tuple[Reading, Exact]:
    """Return the rows of a verdict, to be written, each column times a number > 0."""
    rows = verdict.rows
    table, scales = dense(rows.doubles), [Fraction(2) ** int(shift) for shift in rows.shifts]
    if rows.exact is not None:
        with np.errstate(over="ignore"):
            table, scales = np.ldexp(rows.doubles, rows.shifts), [Fraction(1)] * rows.width
        if (table.astype(object) != rows.exact).any():
            raise DataError("its rows in whole numbers are no doubles; round the data")
    reading = of_rows(np.asarray(table))
    in_these_units = replace(verdict, rows=replace(rows, scales=tuple(scales)))
    return reading, verdict_claims(in_these_units, reading.system())


# Products of entries of examples that are written down for a separation ratio at most
MOST_PRODUCTS = 10_000_000
# Bounds of a margin are those that doubles prove, weaker by this part of themselves
_WEAKER = 1e-12


def on_learner(
    learner: Learner, problem: Problem, claims: Claims, seed: int, proof: Mapping[str, FloatArray]
) -> tuple[Reading, Exact]:
    """Return how the data are read, and the claims of a learner's row with exact proofs.

    Raises
    ------
    DataError
        If there are several tasks, or nothing that the learner claims has an exact proof.
    """
    if len(problem.tasks) != 1:
        raise DataError("figures of several tasks are means, which have no exact certificate")
    task = problem.tasks[0]
    arrays = {name.removeprefix("0."): array for name, array in proof.items()}
    if isinstance(learner, ProvedSeparation):
        return on_task(task, arrays, affine=learner.affine)
    if isinstance(learner, EllipsoidSeparation):
        return _on_ellipsoid(learner.classes(task, seed), claims, arrays)
    if isinstance(learner, OnlineLearner):
        return _on_stream(learner, task, arrays)
    raise DataError(f"a learner {type(learner).__name__} proves nothing")


def _on_ellipsoid(
    classes: tuple[FloatArray, FloatArray], claims: Claims, arrays: Mapping[str, FloatArray]
) -> tuple[Reading, Exact]:
    """Return the exact bounds of t; a bound without proof is reported."""
    count, width = sum(map(len, classes)), classes[0].shape[1] + 1
    # Each example has so many products of two of its coordinates
    if count * width * (width + 1) // 2 > MOST_PRODUCTS:
        raise DataError(f"NOT CERTIFIED: {count} examples of {width - 1} features are too many")
    reading = of_squares(*classes)
    system = reading.system()
    bits = system.scale.bit_length() - 1
    inside, outside = (
        [[*exactly(row, bits), 2**bits] for row in np.asarray(part, dtype=float)]
        for part in classes
    )
    exact = Exact()
    if claims.status is Status.UNBOUNDED:
        exact.add("ratio", [ratio_unbounded(inside, outside)], system)
    else:
        _ratio_claims(exact, claims, arrays, classes, (inside, outside), system)
    exact.missing = {name: f"NOT CERTIFIED: {reason}" for name, reason in exact.missing.items()}
    return reading, exact


def _ratio_claims(
    exact: Exact,
    claims: Claims,
    arrays: Mapping[str, FloatArray],
    classes: tuple[FloatArray, FloatArray],
    vectors: tuple[Vectors, Vectors],
    system: CheckedSystem,
) -> None:
    """Add the exact bounds of t, by vectors (x, 1) of both classes in whole numbers."""
    weights = arrays[WEIGHTS[0]], arrays[WEIGHTS[1]]
    lower, upper = (claims.figures.get(f"ratio_{side}") for side in ("lower", "upper"))
    # t >= 0 holds always and needs no proof
    if lower is not None and lower > 0.0:
        claim = None
        if set(ELLIPSOID) <= arrays.keys():
            ellipsoid = Ellipsoid(*(arrays[name] for name in ELLIPSOID))
            claim = ratio_at_least(*vectors, ellipsoid, lower)
        _tell_weaker(exact, "ratio_lower", exact.add("ratio_lower", [claim], system), lower)
    if claims.status is Status.INFEASIBLE:
        exact.add("ratio_upper", [ratio_zero(*vectors, weights, classes)], system)
    elif upper is not None:
        claim = exact.add("ratio_upper", ratios_at_most(*vectors, weights, upper), system)
        _tell_weaker(exact, "ratio_upper", claim, upper)


def _tell_weaker(claims: Exact, name: str, claim: Claim | None, claimed: float) -> None:
    """Report an exact bound that is weaker than the claimed one beyond the tolerance."""
    exact = Fraction(claimed) if claim is None else Fraction(*claim["bound"])
    if abs(exact - Fraction(claimed)) > Fraction(TOLERANCE) * (1 + abs(Fraction(claimed))):
        proved = f"{to_double(exact):.10g}"
        claims.missing[name] = f"{claimed:.10g}; proved exactly is {proved}"


def _on_stream(
    learner: OnlineLearner, task: Task, arrays: Mapping[str, FloatArray]
) -> tuple[Reading, Exact]:
    """Return claims that a stream is separated, by the gamma in Theorem 1's R^2 / gamma^2."""
    system = learner.separating(task)
    reading = of_system(system)
    comparison = arrays.get("novikoff_comparison")
    if comparison is None:
        raise DataError("NOT CERTIFIED: no comparison of Theorem 1 is claimed")
    multipliers = arrays["novikoff_multipliers"]
    if isinstance(system.operator, Gram):  # f* = sum_j c_j K(x_j, .) has signed features
        comparison = system.operator.signs * comparison
    answer = CertifiedAnswer(system, reading, reading.system(), comparison, multipliers)
    lower = system.prove_point(comparison).margin_lower
    upper = system.prove_weights(multipliers)
    claims = Claims(
        Status.FEASIBLE,
        True,
        lower * (1.0 - _WEAKER) if math.isfinite(lower) else None,
        None if upper is None else upper * (1.0 + _WEAKER),
    )
    exact = exact_claims(claims, answer)
    exact.missing["hinge_bound"] = "sums of hinge losses have no exact claim"
    return reading, exact
