"""The perceptron that asks for labels only near its hyperplane (Dasgupta, Kalai, Monteleoni)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from perceptron_lab.core.errors import InputError, refuse_flags
from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.input_checks import ArrayOrSparse, checked_rows, refuse_extreme_rows
from perceptron_lab.numerics.sparse_arrays import dense
from perceptron_lab.problems.streams.perceptron import is_integer, signs_or_ones

# Examples whose scores are computed in one product
TOGETHER = 4096


@dataclass
class ActivePerceptron:
    """A perceptron after a stream, with counts of the labels that it requested.

    Parameters
    ----------
    weight
        v, shape ``(features,)``, norm(v) = 1 up to rounding where the update is a reflection.
    threshold
        s: labels are requested where abs(v'x) <= s; infinite where all are.
    labels, presentations
        The labels requested, that of the first example included, and the examples presented.
    halvings
        How often s was halved.
    mistakes_at
        The number of labels requested up to each mistake, that one included, ascending.
    weights
        v after the first label and after each mistake, shape ``(mistakes + 1, features)``.
    """

    weight: FloatArray
    threshold: float
    labels: int = 1
    presentations: int = 1
    halvings: int = 0
    mistakes_at: list[int] = field(default_factory=list)
    weights: list[FloatArray] = field(default_factory=list)

    @property
    def mistakes(self) -> int:
        """The requested labels that differ from their predictions."""
        return len(self.mistakes_at)

    def label_bound(self, patience: int) -> int:
        """Return 1 + R (M + H + 1), which the labels do not exceed: M mistakes, H halvings.

        Between two labels at which v or s changes there are less than R without a mistake.
        """
        return 1 + patience * (self.mistakes + self.halvings + 1)


def active_perceptron(
    examples: ArrayOrSparse,
    labels: npt.ArrayLike,
    *,
    patience: int | None = 20,
    reflect: bool = True,
) -> ActivePerceptron:
    """Present a stream to the perceptron once; it requests the labels that it needs.

    Examples are divided by their norms. From v = s_1 x_1 and the threshold s = 1 / sqrt(dimension):
    where abs(v'x) <= s, the label is requested. On a mistake, a product s_i v'x <= 0,

        v <- v - 2 (v'x) x,

    the reflection at the plane orthogonal to x. After R labels in succession without a mistake s is
    halved, and R labels are counted again.

    Guarantee, for signs s_i = sign(u'x_i): norm(v) = 1, and each mistake adds
    2 abs(v'x) abs(u'x) to u'v, so that the angle of v and u never grows. The labels are at most
    1 + R (M + H + 1) for M mistakes and H halvings. For uniform examples on the sphere
    d ln(1/eps) labels suffice for the error eps, up to logarithms of d and ln(1/eps).

    Parameters
    ----------
    examples, labels
        x_i as rows, shape ``(m, features)``; two different values, shape ``(m,)``.
    patience
        R, 1 or more; None asks for all labels (s stays infinite).
    reflect
        False for the perceptron's own update v <- v + s_i x.

    Raises
    ------
    InputError
        If an argument is not as described, or an example is zero.

    References
    ----------
    S. Dasgupta, A. T. Kalai, C. Monteleoni, Analysis of perceptron-based active learning, COLT
    2005; `Kharechko2009`, chapter 9.

    Examples
    --------
    >>> model = active_perceptron([[1, 0], [0.6, 0.8], [0.8, -0.6]], [1, 0, 1])
    >>> model.weight.round(2), model.labels, model.mistakes
    (array([ 0.28, -0.96]), 2, 1)
    """
    refuse_flags(reflect=reflect)
    if patience is not None and (not is_integer(patience) or patience < 1):
        raise InputError(f"patience={patience!r}; give a whole number, 1 or more, or None")
    rows = dense(checked_rows(examples))
    with np.errstate(over="ignore"):
        signs, norms = signs_or_ones(labels, len(rows)), np.linalg.norm(rows, axis=1)
    refuse_extreme_rows(rows, norms)
    rows = rows / norms[:, None]
    first = signs[0] * rows[0]
    threshold = math.inf if patience is None else 1.0 / math.sqrt(rows.shape[1])
    model = ActivePerceptron(first, threshold, weights=[first])
    correct = 0
    while model.presentations < len(rows):
        block = slice(model.presentations, model.presentations + TOGETHER)
        correct = _advance(model, rows[block], signs[block], patience, correct, reflect)
    return model


def _advance(
    model: ActivePerceptron,
    rows: FloatArray,
    signs: FloatArray,
    patience: int | None,
    correct: int,
    reflect: bool,
) -> int:
    """Present examples up to the first change of v or s; return the labels without a mistake."""
    scores = rows @ model.weight
    requested = np.flatnonzero(np.abs(scores) <= model.threshold)
    mistaken = np.flatnonzero(signs[requested] * scores[requested] <= 0.0)
    until = len(requested) if patience is None else min(len(requested), int(patience) - correct)
    if len(mistaken) and mistaken[0] < until:
        at = int(requested[mistaken[0]])
        model.labels += int(mistaken[0]) + 1
        model.presentations += at + 1
        step = -2.0 * scores[at] if reflect else signs[at]
        model.weight = model.weight + step * rows[at]
        model.mistakes_at.append(model.labels)
        model.weights.append(model.weight)
        return 0
    model.labels += until
    if patience is None or correct + until < patience:
        model.presentations += len(rows)
        return correct + until
    model.presentations += int(requested[until - 1]) + 1
    model.threshold /= 2.0
    model.halvings += 1
    return 0


def whitening(examples: ArrayOrSparse) -> FloatArray:
    """Return C^(-1/2), C the second moments of the rows, shape ``(features, features)``.

    No label is needed. For x = M z, z uniform on the sphere and M invertible, C tends to M M' / d,
    and C^(-1/2) x, divided by its norm, to an orthogonal image of z: the guarantees for the sphere
    hold there, however ill-conditioned M is.

    Raises
    ------
    InputError
        If the rows do not span the space, to rounding, or are no finite numbers.

    Examples
    --------
    >>> whitening(np.array([[8.0, 0.0], [0.0, 1.0]])).round(3)
    array([[0.177, 0.   ],
           [0.   , 1.414]])
    """
    rows = dense(checked_rows(examples))
    # A power of 2 as unit: no square overflows, and no digit changes
    unit = 2.0 ** np.frexp(np.abs(rows).max())[1]
    scaled = rows / unit
    values, vectors = np.linalg.eigh(scaled.T @ scaled / len(rows))
    if values[0] <= 1e-14 * values[-1]:
        raise InputError(
            "the examples do not span the space, to rounding; remove dependent features, or scale "
            "all features alike"
        )
    return np.asarray(vectors / np.sqrt(values) @ vectors.T / unit)
