"""The proved separation verdict as a learner: partition, coefficients and proof."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar

import numpy as np

from perceptron_lab.core.findings import Finding, SeparationAnswer
from perceptron_lab.core.refusals import Positive, parameter_record
from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.datasets.problem import Task
from perceptron_lab.estimators.learners.learning import Learned, Learner, Reproved
from perceptron_lab.numerics.exact_doubles import to_doubles
from perceptron_lab.problems.separation.coefficients import (
    CLASSES,
    FINITE,
    MINUS,
    PLUS,
    UNDETERMINED,
)
from perceptron_lab.problems.separation.labelled import labelled
from perceptron_lab.problems.separation.pair_verification import ProofError, proof_arrays
from perceptron_lab.problems.separation.separation import verdict_for
from perceptron_lab.problems.separation.verdict import SeparationVerdict, verdict_proved
from perceptron_lab.problems.separation.verdict_record import COMPLETE

_FIGURES = {
    FINITE: "finite",
    PLUS: "plus_infinite",
    MINUS: "minus_infinite",
    UNDETERMINED: "undetermined",
}


@parameter_record
class ProvedSeparation(Learner):
    """The verdict on two classes, and on the estimates of logistic regression, proved exactly.

    Of R = {b : y_i (x_i, 1)'b >= 0 for all i}: rows that are positive somewhere on R are separated,
    the others overlap; the estimate of a coefficient is finite if it is 0 on R, runs to +infinity
    or -infinity if it has one sign there, and is undetermined if it has both; see
    :func:`perceptron_lab.separation`. The message begins with ``complete``, ``quasi-complete``,
    ``overlap`` or ``undecided``.

    The status is FEASIBLE where the separation is complete, INFEASIBLE where it is not, TIME_LIMIT
    if it is undecided. Scores of test examples are those of the direction b. Test examples are
    optional.

    Figures: ``separated_rows``, ``overlap_rows``; ``finite``, ``plus_infinite``,
    ``minus_infinite``, ``undetermined``, how many coefficients are so, and ``diverging``, how many
    are not finite; ``cpu_seconds``. All but the last are counted again by ``plab verify``, in exact
    arithmetic. The array ``classes`` holds 0, 1, 2 or 3 of each coefficient, in this order;
    nothing where some are not decided.

    Parameters
    ----------
    affine
        Whether there is an intercept, whose coefficient is the last (default true).
    max_seconds
        Above 0; None (default) for no limit but the budget's.
    """

    judged: ClassVar[bool] = False
    affine: bool = True
    max_seconds: Positive | None = None

    def learn(self, task: Task, seed: int) -> Learned:
        """Decide the separation of the training examples; nothing is random."""
        began = time.process_time()
        examples = labelled(task.examples, task.labels, affine=self.affine, leave_out=False)
        verdict = verdict_for(examples, max_seconds=self.max_seconds)
        seconds = time.process_time() - began
        codes = [CLASSES.index(proof.name) for proof in verdict.proofs if verdict.classified]
        finding = Finding(separation=SeparationAnswer(verdict.verdict))
        return Learned(
            self._scores(verdict, task),
            _status(verdict),
            f"{finding.sentence}: {verdict.sentence} ({verdict.method})",
            finding,
            seconds=seconds,
            figures=_counted_metrics(verdict) | {"cpu_seconds": seconds},
            arrays={"classes": np.array(codes, dtype=float)},
            certificate={"statement": verdict.sentence},
            proof=proof_arrays(verdict),
        )

    def prove(self, task: Task, proof: Mapping[str, FloatArray], seed: int) -> Reproved:
        """Verify the stored proof on the training examples."""
        examples = labelled(task.examples, task.labels, affine=self.affine, leave_out=False)
        try:
            verdict = verdict_proved(examples, proof)
        except ProofError as error:
            return Reproved(Status.FITTED, {}, str(error))
        return Reproved(_status(verdict), {}, verdict.sentence, _counted_metrics(verdict))

    def _scores(self, verdict: SeparationVerdict, task: Task) -> FloatArray:
        """Return b'(x, 1) of the test examples, b divided by its largest entry."""
        if not len(task.test_labels):
            return np.zeros(0)
        # Divided exactly before conversion: entries may be beyond the range of doubles.
        largest = max(map(abs, verdict.direction), default=Fraction()) or Fraction(1)
        b = to_doubles(
            coefficient / largest for coefficient in verdict.direction or [0] * len(verdict.names)
        )
        return np.asarray(task.test_examples @ b[: len(b) - self.affine] + b[-1] * self.affine)


def _status(verdict: SeparationVerdict) -> Status:
    if verdict.pair is None:
        return Status.TIME_LIMIT
    return Status.FEASIBLE if verdict.verdict == COMPLETE else Status.INFEASIBLE


def _counted_metrics(verdict: SeparationVerdict) -> dict[str, float]:
    """Return the numbers of rows and coefficients of each kind; empty if undecided."""
    if verdict.pair is None:
        return {}
    rows = {
        "separated_rows": float(len(verdict.separated_rows)),
        "overlap_rows": float(len(verdict.overlap_rows)),
    }
    if not verdict.classified:
        return rows
    counts = Counter(proof.name for proof in verdict.proofs)
    column_counts = {figure: float(counts[name]) for name, figure in _FIGURES.items()}
    return rows | column_counts | {"diverging": float(len(verdict.proofs) - counts[FINITE])}
