"""Learners in experiments: fitted to training examples, evaluated on test examples."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import numpy as np

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.findings import NOTHING, Finding
from perceptron_lab.core.results import PROVED, AnyArray, Bound, FloatArray, Result, Status, Trace
from perceptron_lab.core.time_limit import clock_seconds
from perceptron_lab.datasets.problem import Task
from perceptron_lab.estimators.learners.precision import average_precision
from perceptron_lab.numerics.compiled.kernel import Functions

NO_BOUND: Final = Bound(None, "", "a learner has no bound of its updates")


@dataclass(frozen=True)
class Learned:
    """A learner's scores on the test examples of a task, with details of the fit."""

    scores: FloatArray  # f of the test examples, shape (m,): positive for the positive class
    status: Status = Status.FITTED  # FITTED, or the proved status for the training examples
    message: str = "fitted"  # one sentence
    finding: Finding = NOTHING  # the facts in it, as data
    # processor time of the final fit, features and proofs included and tuning excluded
    seconds: float = 0.0
    iterations: int = 0  # of the fit
    # numbers by name: columns measure.NAME
    figures: dict[str, float] = field(default_factory=dict)
    # arrays by name, for figures
    arrays: dict[str, FloatArray] = field(default_factory=dict)
    # details of proofs and choices
    certificate: dict[str, Any] = field(default_factory=dict)
    # arrays by name, from which ``prove`` verifies the status
    proof: dict[str, FloatArray] = field(default_factory=dict)


@dataclass(frozen=True)
class Reproved:
    """The verified status and bounds of a task."""

    status: Status  # FITTED if nothing is
    # name of a metric -> its proved bound: a lower one for *_lower, an upper one for *_upper
    bounds: dict[str, float]
    message: str
    # metrics that were counted again, which have to be equal
    counts: dict[str, float] = field(default_factory=dict)


class Learner(ABC):
    """A frozen record of parameters that learns from a task's training examples.

    ``judged`` is true for learners that are evaluated on test examples, which their tasks must
    have.
    """

    judged: ClassVar[bool] = True

    def compiled(self, tasks: Sequence[Task]) -> Functions:
        """Return the compiled functions that it calls on tasks."""
        return ()

    @abstractmethod
    def learn(self, task: Task, seed: int) -> Learned:
        """Fit, and score the test examples; ``seed`` is the only source of randomness."""

    def prove(self, task: Task, proof: Mapping[str, FloatArray], seed: int) -> Reproved | None:
        """Verify the status from the arrays that ``learn`` returned, without solving anything.

        None, the default, if there is nothing to verify. Raises a DataError if the arrays do not
        fit the task.
        """
        return None


def learn(learner: Learner, tasks: Sequence[Task], seed: int) -> Result:
    """Fit the learner to each task and evaluate it on the test examples.

    Figures are means over the tasks: ``error`` is the share of test examples on the wrong side of
    0, ``average_precision`` the microaverage precision, where there are test examples. The status
    is that of all tasks, or FITTED where they differ; seconds, proofs among them, and iterations
    are sums. Message, finding, certificate and arrays are the first task's, and the trace measures
    ``ranks`` (of the scores, 0 for the least; equal scores have equal ranks) and ``labels`` of its
    test examples, which determine average precision and take a fifth of the memory of scores.
    """
    began = clock_seconds()
    outcomes = [learner.learn(task, seed) for task in tasks]
    first = outcomes[0]
    status = first.status if len({outcome.status for outcome in outcomes}) == 1 else Status.FITTED
    arrays = {name: [values] for name, values in first.arrays.items()}
    return Result(
        status=status,
        proved=status in PROVED,
        point=np.empty(0),
        weights=None,
        margin_lower=None,
        margin_upper=None,
        updates=0,
        queries=0,
        iterations=sum(outcome.iterations for outcome in outcomes),
        products=0.0,
        # Exact sums: the order of tasks does not change stored numbers.
        seconds=math.fsum(outcome.seconds for outcome in outcomes),
        proof_seconds=0.0,
        total_seconds=clock_seconds() - began,
        trace=Trace(measures=_ranks_and_labels(first.scores, tasks[0].test_labels) | arrays),
        certificate=first.certificate | {"figures": figures_of(tasks, outcomes)},
        bound=NO_BOUND,
        message=first.message,
        finding=first.finding,
        proof={
            f"{number}.{name}": array
            for number, outcome in enumerate(outcomes)
            for name, array in outcome.proof.items()
        },
    )


def prove(
    learner: Learner, tasks: Sequence[Task], seed: int, proof: Mapping[str, FloatArray]
) -> Reproved | None:
    """Verify the result of :func:`learn`; None for learners that prove nothing.

    The status is that of all tasks, or FITTED where they differ; bounds and counts are means.
    Raises a DataError if the arrays do not fit the tasks.
    """
    parts: list[dict[str, str]] = [{} for _ in tasks]
    for key in proof:
        number, _, name = key.partition(".")
        if not (number.isdecimal() and int(number) < len(tasks)):
            raise DataError(f"the proof's array {key!r} belongs to none of {len(tasks)} tasks")
        parts[int(number)][name] = key
    reproved = [
        learner.prove(task, TaskArrays(proof, keys), seed)
        for task, keys in zip(tasks, parts, strict=True)
    ]
    # A mean over some of the tasks would claim more than was verified.
    each = [result for result in reproved if result is not None]
    if len(each) < len(reproved):
        return None
    status = each[0].status if len({result.status for result in each}) == 1 else Status.FITTED
    bounds, counts = (
        _means(figures)
        for figures in ([result.bounds for result in each], [result.counts for result in each])
    )
    return Reproved(status, bounds, each[0].message, counts)


class TaskArrays(Mapping[str, FloatArray]):
    """A view of the arrays of one task among those of all tasks, read on access.

    Parameters
    ----------
    proof
        The arrays of all tasks.
    keys
        Name of an array of the task -> its name there.
    """

    def __init__(self, proof: Mapping[str, FloatArray], keys: Mapping[str, str]) -> None:
        self._proof, self._keys = proof, keys

    def __getitem__(self, name: str) -> FloatArray:
        return self._proof[self._keys[name]]

    def __contains__(self, name: object) -> bool:
        return name in self._keys

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)


def _ranks_and_labels(scores: FloatArray, labels: FloatArray) -> dict[str, list[AnyArray]]:
    """Return the ranks of scores, and the labels, in the smallest integer types."""
    ranks = np.unique(scores, return_inverse=True)[1]
    return {
        "ranks": [ranks.astype(np.min_scalar_type(len(ranks)))],
        "labels": [labels.astype(np.int8)],
    }


def figures_of(tasks: Sequence[Task], outcomes: Sequence[Learned]) -> dict[str, float]:
    """Return the means over the tasks of the metrics that all tasks have."""
    each = []
    for task, outcome in zip(tasks, outcomes, strict=True):
        if not len(task.test_labels):
            each.append(outcome.figures)
            continue
        # A score of 0 counts as negative, as in predict.
        misclassified = np.where(outcome.scores > 0.0, 1.0, -1.0) != task.test_labels
        judged = {
            "average_precision": average_precision(task.test_labels, outcome.scores),
            "error": float(np.mean(misclassified)),
        }
        each.append(judged | outcome.figures)
    return _means(each)


def _means(each: Sequence[Mapping[str, float]]) -> dict[str, float]:
    names = [name for name in each[0] if all(name in record for record in each)]
    return {name: math.fsum(record[name] for record in each) / len(each) for name in names}
