"""Online learning: the perceptron on a stream of examples, its mistakes and their bounds."""

from __future__ import annotations

from perceptron_lab.problems.streams.inequalities import (
    Farkas,
    LiftedInequalities,
    linear_inequalities,
)
from perceptron_lab.problems.streams.kernel_perceptron import (
    OnlineKernelPerceptron,
    online_kernel_perceptron,
)
from perceptron_lab.problems.streams.mistake_bounds import (
    MistakeBound,
    hinge_loss_bound,
    hinge_loss_bound_of,
    novikoff_bound,
)
from perceptron_lab.problems.streams.perceptron import (
    Mistakes,
    OnlinePerceptron,
    WorstCase,
    online_perceptron,
    worst_case,
)

__all__ = [
    "Farkas",
    "LiftedInequalities",
    "MistakeBound",
    "Mistakes",
    "OnlineKernelPerceptron",
    "OnlinePerceptron",
    "WorstCase",
    "hinge_loss_bound",
    "hinge_loss_bound_of",
    "linear_inequalities",
    "novikoff_bound",
    "online_kernel_perceptron",
    "online_perceptron",
    "worst_case",
]
