"""The perceptron that asks for labels as a learner: its labels, mistakes and errors."""

from __future__ import annotations

import time
from typing import Literal

import numpy as np
import scipy.sparse as sp

from perceptron_lab.core.errors import counted
from perceptron_lab.core.refusals import Count, parameter_record
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.problem import Examples, Task
from perceptron_lab.estimators.learners.learning import Learned, Learner
from perceptron_lab.problems.streams.active_perceptron import (
    ActivePerceptron,
    active_perceptron,
    whitening,
)

# Errors whose labels are columns measure.labels_to_ERROR
ERRORS = (0.1, 0.03, 0.01, 0.003, 0.001)
# Weights along the stream whose error is measured, at most
RECORDED = 100


@parameter_record
class LabelRequests(Learner):
    """A perceptron that asks for labels where abs(v'x) <= s, and halves s (Dasgupta et al. 2005).

    One pass over the training examples, divided by their norms, through the origin. From
    v = s_1 x_1 and the threshold s = 1 / sqrt(d): where abs(v'x) <= s the label is requested; on a
    mistake v <- v - 2 (v'x) x; after R labels in succession without a mistake s is halved. For
    labels sign(u'x), each mistake adds 2 abs(v'x) abs(u'x) to u'v, and at most
    1 + R (M + H + 1) labels are requested, M the mistakes and H the halvings. For examples uniform
    on the sphere the labels needed for an error eps grow as d ln(1/eps), where all of
    d/eps are needed if every label is given.

    Figures: ``labels``, ``mistakes``, ``presentations``; of active requests ``halvings`` and
    ``label_bound``; ``labels_to_0.1`` down to ``labels_to_0.001``, the labels
    after which the error on the test examples was first at most that, where it was;
    ``cpu_seconds``. The arrays
    ``requested`` and ``error_after`` hold errors on the test examples against labels.

    Parameters
    ----------
    requests
        ``active`` (default), or ``all``: every label is given, and s has no part.
    update
        ``reflection`` (default), or ``perceptron``: v <- v + s_i x_i.
    patience
        R of active requests, 1 or more (default 20).
    rescaled
        Whether examples are first mapped by C^(-1/2), C the second moments of the training
        examples (default false); no label is needed for it.

    References
    ----------
    S. Dasgupta, A. T. Kalai, C. Monteleoni, Analysis of perceptron-based active learning, COLT
    2005; `Kharechko2009`, chapter 9.
    """

    requests: Literal["active", "all"] = "active"
    update: Literal["reflection", "perceptron"] = "reflection"
    patience: Count = 20
    rescaled: bool = False

    def learn(self, task: Task, seed: int) -> Learned:
        """Present the training examples, and measure the errors along the stream."""
        began = time.process_time()
        model, back = self.present(task)
        seconds = time.process_time() - began
        requested, weights = _recorded(model)
        test = _dense(task.test_examples)
        errors = np.array([np.mean(test @ w * task.test_labels <= 0.0) for w in weights @ back])
        message = (
            f"{counted(model.labels, 'label')} of {counted(model.presentations, 'presentation')} "
            f"requested, {counted(model.mistakes, 'mistake')}"
        )
        return Learned(
            test @ (back @ model.weight),
            message=message,
            seconds=seconds,
            iterations=model.presentations,
            figures=self._counted(model) | _labels_to(requested, errors) | {"cpu_seconds": seconds},
            arrays={"requested": requested, "error_after": errors},
        )

    def present(self, task: Task) -> tuple[ActivePerceptron, FloatArray]:
        """Return the perceptron after its stream, and the symmetric map of the examples."""
        rows = _dense(task.examples)
        back = np.eye(rows.shape[1])
        if self.rescaled:
            back = whitening(rows)
            rows = rows @ back
        patience = self.patience if self.requests == "active" else None
        reflect = self.update == "reflection"
        return active_perceptron(rows, task.labels, patience=patience, reflect=reflect), back

    def _counted(self, model: ActivePerceptron) -> dict[str, float]:
        counts = {
            "labels": float(model.labels),
            "mistakes": float(model.mistakes),
            "presentations": float(model.presentations),
        }
        if self.requests == "all":
            return counts
        bound = float(model.label_bound(self.patience))
        return counts | {"halvings": float(model.halvings), "label_bound": bound}


def _dense(examples: Examples) -> FloatArray:
    return np.asarray(examples.toarray() if sp.issparse(examples) else examples, dtype=np.float64)


def _recorded(model: ActivePerceptron) -> tuple[FloatArray, FloatArray]:
    """Return numbers of labels, spaced on a logarithmic scale, and the weights after them."""
    changes = np.array([1, *model.mistakes_at])
    spaced = np.geomspace(1.0, model.labels, RECORDED)
    at = np.unique(np.searchsorted(changes, spaced, side="right") - 1)
    return changes[at].astype(float), np.array(model.weights)[at]


def _labels_to(requested: FloatArray, errors: FloatArray) -> dict[str, float]:
    reached = {f"labels_to_{error:g}": requested[errors <= error] for error in ERRORS}
    return {name: float(labels[0]) for name, labels in reached.items() if len(labels)}
