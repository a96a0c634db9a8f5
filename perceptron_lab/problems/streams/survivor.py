"""From mistakes to labels: an online learner as a learner in the PAC model."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.input_checks import ArrayOrSparse, checked_rows
from perceptron_lab.numerics.sparse_arrays import dense
from perceptron_lab.problems.streams.perceptron import online_perceptron, signs_or_ones

MOST, LEAST = 1e100, 1e-100  # Mistakes at most; error and confidence at least


@dataclass(frozen=True)
class Survivor:
    """A weight that made no mistake on many labels in succession.

    Parameters
    ----------
    weight
        w, shape ``(features,)``.
    labels
        The labels used, those on which w was tested included.
    bound
        (M + 1) k, which they do not exceed.
    """

    weight: FloatArray
    labels: int
    bound: int


def longest_survivor(
    examples: ArrayOrSparse,
    labels: npt.ArrayLike,
    *,
    mistakes: float,
    error: float,
    confidence: float,
) -> Survivor:
    """Return the first weight of the perceptron that survives k labels without a mistake.

    If the perceptron makes at most M mistakes on every stream of the examples' distribution, it has
    at most M + 1 weights. One with a larger error than eps survives k independent examples with a
    probability of at most (1 - eps)^k <= exp(-eps k), so that with

        k = ceil(ln((M + 1) / delta) / eps)

    the first weight that survives has an error of at most eps with probability 1 - delta, after at
    most (M + 1) k labels.

    Parameters
    ----------
    examples, labels
        A stream of independent examples as rows, shape ``(m, features)``; two different values.
    mistakes, error, confidence
        M, 0 to 1e100; eps and delta, 1e-100 or more and below 1.

    Raises
    ------
    InputError
        If a number is out of its range, or no weight survives before the stream ends.

    References
    ----------
    `Kharechko2009`, chapter 9; N. Littlestone, From on-line to batch learning, COLT 1989.

    Examples
    --------
    >>> examples, labels = [[1.0, 0.1], [-1.0, 0.2]] * 50, [1, 0] * 50
    >>> survivor = longest_survivor(
    ...     examples, labels, mistakes=2, error=0.1, confidence=0.05
    ... )
    >>> survivor.labels, survivor.bound
    (42, 123)
    """
    if not (0.0 <= mistakes <= MOST and LEAST <= error < 1.0 and LEAST <= confidence < 1.0):
        raise InputError(
            f"mistakes={mistakes}, error={error}, confidence={confidence}; give mistakes from 0 to "
            f"{MOST:g}, and the others from {LEAST:g} to less than 1"
        )
    patience = math.ceil(math.log((mistakes + 1.0) / confidence) / error)
    rows = dense(checked_rows(examples))
    rows = signs_or_ones(labels, len(rows))[:, None] * rows
    at = np.concatenate([[-1], online_perceptron(rows).mistakes.at])
    survived = np.diff(at, append=len(rows)) > patience
    if not survived.any():
        raise InputError(
            f"no weight survives {patience} labels within {len(rows)}; give a longer stream"
        )
    presented = int(at[np.argmax(survived)]) + 1
    weight = online_perceptron(rows[:presented]).weight if presented else np.zeros(rows.shape[1])
    return Survivor(weight, presented + patience, math.floor(mistakes + 1.0) * patience)
