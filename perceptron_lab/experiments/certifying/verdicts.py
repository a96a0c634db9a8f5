"""Exact claims of verdicts on two classes: which rows are separated, and which overlap.

A verdict rests on a strictly complementary pair (:mod:`perceptron_lab.problems.separation.pairs`):
a direction that is positive on the separated rows and 0 on the others, and positive weights of the
others with sum_i w_i a_i = 0. Both are whole numbers already. The class of a coefficient is that of
the signs that it takes on the members of the cone.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.collections.problem_files import read_problem
from perceptron_lab.datasets.formats.columns import Columns
from perceptron_lab.datasets.formats.file_contents import read_contents
from perceptron_lab.datasets.problem import Task
from perceptron_lab.exact.coefficient_signs import sign_claims
from perceptron_lab.exact.points import Claim
from perceptron_lab.exact.readings import Reading, of_contents, of_rows, of_system, of_table
from perceptron_lab.exact.whole_numbers import by_places, whole_multiples
from perceptron_lab.experiments.certifying.claims import Exact, accepted
from perceptron_lab.experiments.verification.separation_verdicts import proved_on_file
from perceptron_lab.problems.separation.kept_proofs import proved_anew
from perceptron_lab.problems.separation.labelled import constant_places, labelled
from perceptron_lab.problems.separation.saved_verdicts import SavedVerdict
from perceptron_lab.problems.separation.verdict import COMPLETE, SeparationVerdict
from perceptron_lab.systems import ConicSystem


def partition_claim(found: SeparationVerdict) -> Claim | None:
    """Return the claim of a verdict's partition; None of one that is undecided."""
    pair = found.pair
    if pair is None:
        return None
    point = whole_multiples(found.direction) if len(pair.separated) else [0] * len(found.names)
    if found.verdict == COMPLETE:
        return {"claim": "feasible", "point": point, "factors": []}
    weights = {
        int(row): pair.basis.get(int(row), Fraction(int(weight)))
        for row, weight in zip(pair.overlap, pair.weights, strict=True)
    }
    listed = by_places(zip(weights, whole_multiples(weights.values()), strict=True))
    return {"claim": "partition", "point": point, "weights": [listed]}


def verdict_claims(found: SeparationVerdict, system: Any) -> Exact:
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


def on_task(task: Task, proof: Mapping[str, FloatArray], *, affine: bool) -> tuple[Reading, Exact]:
    """Return the rows of a task, to be written, and the claims that a kept proof proves of them."""
    given = labelled(task.examples, task.labels, affine=affine, leave_out=False)
    found = proved_anew(given, proof)
    examples: Any = task.examples
    dense = np.asarray(examples if isinstance(examples, np.ndarray) else examples.toarray())
    lifted = np.column_stack([dense, np.ones(len(dense))]) if affine else dense
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
