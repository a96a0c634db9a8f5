"""Learners in experiments: what is fitted to a task, and how it is judged on the test examples."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from perceptron_lab.datasets.task import Task
from perceptron_lab.ellipsoids.precision import average_precision
from perceptron_lab.results import Bound, FloatArray, Result, Status, Trace

PROVED = frozenset({Status.FEASIBLE, Status.INFEASIBLE, Status.MARGIN_BOUNDED, Status.UNBOUNDED})
"""What a learner may have proved of the training examples."""


@dataclass(frozen=True)
class Learned:
    """What a learner made of a task.

    Parameters
    ----------
    scores
        f of the test examples, shape ``(m,)``: positive for the positive class.
    status
        FITTED, or what is proved of the training examples.
    message
        One sentence.
    seconds, proof_seconds
        Of the final fit, features included and tuning excluded; of the proofs.
    iterations
        Of the fit.
    figures
        Numbers by name: columns ``measure.NAME``.
    arrays
        Arrays by name, for figures.
    certificate
        What was proved and chosen, and how.
    """

    scores: FloatArray
    status: Status = Status.FITTED
    message: str = "fitted"
    seconds: float = 0.0
    proof_seconds: float = 0.0
    iterations: int = 0
    figures: dict[str, float] = field(default_factory=dict)
    arrays: dict[str, FloatArray] = field(default_factory=dict)
    certificate: dict[str, Any] = field(default_factory=dict)


class Learner(Protocol):
    """A frozen record of parameters that learns from a task's training examples."""

    def learn(self, task: Task, seed: int) -> Learned:
        """Fit, and score the test examples; ``seed`` is the only source of randomness."""
        ...


def learn(learner: Learner, tasks: Sequence[Task], seed: int) -> Result:
    """Learn each task and judge it on its test examples.

    Figures are means over the tasks: ``error`` is the share of test examples on the wrong side of
    0, ``average_precision`` the microaverage precision. The status is that of all tasks, or FITTED
    where they differ. The trace measures ``scores`` and ``labels`` of the first task's test
    examples.
    """
    began = time.perf_counter()
    outcomes = [learner.learn(task, seed) for task in tasks]
    first = outcomes[0]
    status = first.status if len({one.status for one in outcomes}) == 1 else Status.FITTED
    arrays = {name: [values] for name, values in first.arrays.items()}
    figures = figures_of(tasks, outcomes)
    return Result(
        status=status,
        proved=status in PROVED,
        point=np.empty(0),
        weights=None,
        margin_lower=None,
        margin_upper=None,
        updates=0,
        queries=0,
        iterations=sum(one.iterations for one in outcomes),
        products=0.0,
        seconds=math.fsum(one.seconds for one in outcomes),
        proof_seconds=math.fsum(one.proof_seconds for one in outcomes),
        total_seconds=time.perf_counter() - began,
        trace=Trace(measures={"scores": [first.scores], "labels": [tasks[0].test_labels]} | arrays),
        certificate=first.certificate | {"figures": figures},
        bound=Bound(None, "", "a learner has no bound of its updates"),
        message=first.message,
    )


def figures_of(tasks: Sequence[Task], outcomes: Sequence[Learned]) -> dict[str, float]:
    """Return the mean figures over the tasks."""
    each = [_judged(task, one) | one.figures for task, one in zip(tasks, outcomes, strict=True)]
    names = [name for name in each[0] if all(name in one for one in each)]
    return {name: math.fsum(one[name] for one in each) / len(each) for name in names}


def _judged(task: Task, learned: Learned) -> dict[str, float]:
    wrong = np.where(learned.scores > 0.0, 1.0, -1.0) != task.test_labels
    return {
        "average_precision": average_precision(task.test_labels, learned.scores),
        "error": float(np.mean(wrong)),
    }
