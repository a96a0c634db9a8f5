"""The perceptron on a stream as a learner: its mistakes, and the theorems' bounds of them."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
import scipy.sparse as sp
from pydantic import Field

from perceptron_lab.certificates.rounding import PRODUCTS
from perceptron_lab.cones.operators import kernels
from perceptron_lab.core.errors import DataError, counted
from perceptron_lab.core.outward_rounding import text_above
from perceptron_lab.core.refusals import Count, Positive, parameter_record
from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.datasets.collections.tabular import OF_KERNEL, stated_kernel
from perceptron_lab.datasets.dataset import defaulted_with
from perceptron_lab.datasets.problem import Task
from perceptron_lab.estimators.learners.learning import Learned, Learner, Reproved
from perceptron_lab.numerics.compiled.kernel import Functions
from perceptron_lab.numerics.compiled.online_sweeps import online_sparse_sweep, online_sweep
from perceptron_lab.problems.streams import (
    MistakeBound,
    Mistakes,
    OnlineKernelPerceptron,
    OnlinePerceptron,
    hinge_loss_bound,
    novikoff_bound,
    online_kernel_perceptron,
    online_perceptron,
)
from perceptron_lab.problems.streams.mistake_bounds import mistake_history
from perceptron_lab.problems.streams.perceptron import Passes
from perceptron_lab.problems.streams.stream_examples import StreamExamples, stream_of
from perceptron_lab.systems import ConicSystem


@dataclass(frozen=True)
class OnlineLearner(Learner):
    """A perceptron that processes the training examples one by one.

    Parameters
    ----------
    passes
        Largest number of passes over the examples, 1 or more (default 1); a pass without a mistake
        is the last.
    order
        ``given`` (default), or ``shuffled``: a new order in every pass, from the seed.
    """

    passes: Count = 1
    order: Literal["given", "shuffled"] = "given"

    @abstractmethod
    def present(self, task: Task, seed: int) -> OnlinePerceptron | OnlineKernelPerceptron:
        """Return the perceptron after the stream."""

    @abstractmethod
    def features(self) -> dict[str, Any]:
        """Return ``affine`` and ``kernel``, which determine the features of the examples."""

    @abstractmethod
    def separating(self, task: Task) -> ConicSystem:
        """Return the system s_i a_i'w > 0 on the original features, whose margin is gamma."""

    def learn(self, task: Task, seed: int) -> Learned:
        """Present the training examples, bound the mistakes, and score the test examples."""
        began = time.process_time()
        model, features = self.present(task, seed), self.features()
        mistakes, (examples, labels) = model.mistakes, (task.examples, task.labels)
        hinge = hinge_loss_bound(examples, labels, presentations=mistakes.presentations, **features)
        novikoff = novikoff_bound(examples, labels, **features)
        passes = Passes(len(labels), self.passes, self.order, seed)
        along = mistake_history(mistakes, passes, hinge, examples, labels, **features)
        message = _summary(mistakes, hinge, novikoff)
        scores = model.decision_function(task.test_examples)
        seconds = time.process_time() - began
        bounds = {"hinge": hinge} | ({} if novikoff is None else {"novikoff": novikoff})
        return Learned(
            scores,
            Status.FITTED if novikoff is None else Status.FEASIBLE,
            message,
            seconds=seconds,
            iterations=int(mistakes.presentations.sum()),
            figures=_counted_metrics(mistakes)
            | {f"{name}_bound_lower": bound.least for name, bound in bounds.items()}
            | {f"{name}_bound_upper": bound.value for name, bound in bounds.items()}
            | {"hinge_loss_upper": hinge.hinge_loss, "cpu_seconds": seconds},
            arrays={
                "presented": along.presented.astype(float),
                "mistaken": along.mistaken.astype(float),
                "hinge_bound": along.bound,
            },
            certificate={"statement": message},
            proof={f"{name}_comparison": bound.comparison for name, bound in bounds.items()}
            | {f"{name}_multipliers": bound.multipliers for name, bound in bounds.items()},
        )

    def prove(self, task: Task, proof: Mapping[str, FloatArray], seed: int) -> Reproved:
        """Verify the bounds from comparisons and multipliers, and count the mistakes again."""
        mistakes, features = self.present(task, seed).mistakes, self.features()
        stream = stream_of(
            task.examples,
            task.labels,
            features["affine"],
            mistakes.presentations,
            features["kernel"],
        )
        w, multipliers = _stored_bound(proof, "hinge", stream, 2.0 * stream.counts)
        # The theorem holds for every w*: nothing about its origin has to be trusted.
        value, loss = stream.hinge_loss(w)
        bounds = {
            "hinge_bound_lower": stream.least_hinge_loss(multipliers),
            "hinge_bound_upper": value,
            "hinge_loss_upper": loss,
        }
        if "novikoff_comparison" in proof:
            w, multipliers = _stored_bound(proof, "novikoff", stream, np.inf)
            lower, upper = stream.least_consistent(multipliers), stream.consistent(w)[1]
            bounds |= {"novikoff_bound_lower": lower, "novikoff_bound_upper": upper}
        separable = np.isfinite(bounds.get("novikoff_bound_upper", np.inf))
        status = Status.FEASIBLE if separable else Status.FITTED
        message = "the comparison of Theorem 1 is consistent" if separable else "no such comparison"
        return Reproved(status, bounds, message, _counted_metrics(mistakes))


@parameter_record
class StreamedPerceptron(OnlineLearner):
    """The perceptron on a stream: w <- w + s a on each mistake, from w = 0 (`PerceptronNotes`).

    The training examples are presented in passes; a prediction sign(a'w) that is wrong, or 0, is a
    mistake. With R = max norm(a_i), at most R^2 norm(w*)^2 mistakes are made for any w* with
    s_i a_i'w* >= 1 (Theorem 1, Novikoff), and at most R^2 norm(w*)^2 + 2 L(w*) for any w*, where L
    is the sum of its hinge losses over all presentations (Theorem 2). The least bound of each
    theorem is computed, with proved lower and upper bounds.

    The status is FEASIBLE where Theorem 1 has a comparison w*: the training examples are proved to
    be separable. Otherwise it is FITTED.

    Figures: ``mistakes``, ``presentations``, ``passes``, ``separated`` (1 where the last pass was
    without a mistake); ``novikoff_bound_upper`` and ``hinge_bound_upper``, the bounds of the
    mistakes, each with ``_lower``, a proof that no other comparison w* gives a bound below it (none
    of Theorem 1 where no consistent w* is found); ``hinge_loss_upper``, L of that comparison;
    ``cpu_seconds``. The arrays
    ``presented``, ``mistaken`` and ``hinge_bound`` hold the mistakes along the stream next to
    Theorem 2's bounds of its beginnings.

    Parameters
    ----------
    passes
        Largest number of passes over the examples, 1 or more (default 1); a pass without a mistake
        is the last.
    order
        ``given`` (default), or ``shuffled``: a new order in every pass, from the seed.
    affine
        Whether a constant feature 1 is appended, which counts in R as well (default true).

    References
    ----------
    `PerceptronNotes`, sections 2.2 and 3.2, Theorems 1 and 2.
    """

    affine: bool = True

    def compiled(self, tasks: Sequence[Task]) -> Functions:
        """Return the sweep for the examples, and products for bounds."""
        sparse = any(sp.issparse(task.examples) for task in tasks)
        return (online_sparse_sweep,) if sparse else (online_sweep, *PRODUCTS)

    def present(self, task: Task, seed: int) -> OnlinePerceptron:
        """Return the perceptron after the stream."""
        return online_perceptron(
            task.examples,
            task.labels,
            affine=self.affine,
            passes=self.passes,
            order=self.order,
            seed=seed,
        )

    def features(self) -> dict[str, Any]:
        """Return the examples' own features."""
        return {"affine": self.affine, "kernel": None}

    def separating(self, task: Task) -> ConicSystem:
        """Return the system of the rows s_i (x_i, 1), or s_i x_i."""
        return ConicSystem.from_labelled(
            task.examples, task.labels, affine=self.affine, margin="directional"
        )


@parameter_record
class StreamedKernelPerceptron(OnlineLearner):
    """The kernel perceptron on a stream: c_i <- c_i + s_i on each mistake (`PerceptronNotes`).

    It is ``online-perceptron`` on features phi with phi(x)'phi(z) = K(x, z), which are never
    formed: the prediction on x is the sign of sum_j c_j K(x_j, x). Bounds, figures and status are
    the same, with R^2 = max K(x_i, x_i). Sparse examples are made dense. The bounds need all values
    of the kernel: a second for a few hundred examples, a minute for a thousand.

    Parameters
    ----------
    passes
        Largest number of passes over the examples, 1 or more (default 1); a pass without a mistake
        is the last.
    order
        ``given`` (default), or ``shuffled``: a new order in every pass, from the seed.
    kernel
        ``rbf`` (default) exp(-gamma norm(x - z)^2), ``polynomial``
        (gamma x'z + coef0)^polynomial_degree, or ``linear`` x'z.
    gamma
        Of polynomial and rbf, > 0 (default 1 / features).
    polynomial_degree, coef0
        Of polynomial: 1 or more (default 3), 0 or more (default 1).

    References
    ----------
    `PerceptronNotes`, section 2.5.
    """

    kernel: Literal["linear", "polynomial", "rbf"] = "rbf"
    gamma: Positive | None = None
    polynomial_degree: Count | None = None
    coef0: Annotated[float, Field(ge=0)] | None = None

    _of_the_kernel = defaulted_with("kernel", OF_KERNEL, "gamma", "polynomial_degree", "coef0")

    def compiled(self, tasks: Sequence[Task]) -> Functions:
        """Return products with values of the kernel, for bounds."""
        return PRODUCTS[:1]

    def present(self, task: Task, seed: int) -> OnlineKernelPerceptron:
        """Return the perceptron after the stream."""
        return online_kernel_perceptron(
            self._kernel(),
            task.examples,
            task.labels,
            passes=self.passes,
            order=self.order,
            seed=seed,
        )

    def features(self) -> dict[str, Any]:
        """Return the kernel."""
        return {"affine": False, "kernel": self._kernel()}

    def separating(self, task: Task) -> ConicSystem:
        """Return the system of the signed features, by their inner products."""
        origin = ConicSystem.from_kernel(self._kernel(), task.examples, task.labels).origin
        assert origin is not None
        return replace(origin, unit_rows=False)

    def _kernel(self) -> kernels.Kernel:
        kernel = stated_kernel(self)
        assert kernel is not None
        return kernel


def _counted_metrics(mistakes: Mistakes) -> dict[str, float]:
    """Return the metrics that are counts."""
    return {
        "mistakes": float(mistakes.total),
        "presentations": float(mistakes.presentations.sum()),
        "passes": float(len(mistakes.per_pass)),
        "separated": float(mistakes.separated),
    }


def _summary(mistakes: Mistakes, hinge: MistakeBound, novikoff: MistakeBound | None) -> str:
    """Return a sentence with the number of mistakes and its bounds."""
    allowed = f"Theorem 2 allows {text_above(hinge.value, 4)}"
    first = "Theorem 1 has no comparison"
    if novikoff is not None:
        first = f"Theorem 1 allows {text_above(novikoff.value, 4)}"
    number = int(mistakes.presentations.sum())
    total = counted(mistakes.total, "mistake")
    return f"{total} in {counted(number, 'presentation')}; {first}, {allowed}"


def _stored_bound(
    proof: Mapping[str, FloatArray], name: str, stream: StreamExamples, most: FloatArray | float
) -> tuple[FloatArray, FloatArray]:
    """Return a stored comparison and the multipliers of the presented examples, in [0, most]."""
    w, both_signs = (
        proof.get(f"{name}_{part}", np.empty(0)) for part in ("comparison", "multipliers")
    )
    if w.shape != (stream.unknowns,) or both_signs.shape != stream.at.shape:
        raise DataError(
            f"the proof's arrays {name}_comparison of shape {w.shape} and {name}_multipliers of "
            f"shape {both_signs.shape}; here are {stream.unknowns} unknowns, {len(stream.at)} "
            "examples"
        )
    # Examples that were not presented have no part in the bound.
    multipliers = both_signs[stream.at]
    if not (np.isfinite(w).all() and (multipliers >= 0.0).all() and (multipliers <= most).all()):
        raise DataError(f"the proof's arrays of the {name} bound are not finite, or out of range")
    return w, multipliers
