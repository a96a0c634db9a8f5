"""The stream on which the perceptron takes exponentially long (`PerceptronNotes`, section 3.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.generated.streams import STEEPEST, is_exact, worst_case_examples


@dataclass(frozen=True)
class WorstCase:
    """Four examples of length at most sqrt 2, and the mistakes that they cost.

    Parameters
    ----------
    examples, signs
        In the order of the notes, shapes ``(4, 2)`` and ``(4,)``.
    mistakes, passes
        Of the perceptron from 0, in this order, up to and with the first pass without a mistake.
    novikoff
        R^2 norm(w*)^2, its bound by Theorem 1 with the shortest w* that is consistent.
    """

    examples: FloatArray
    signs: FloatArray
    mistakes: int
    passes: int
    novikoff: int


def worst_case(steepness: int) -> WorstCase:
    """Return the stream for K = ``steepness``, with its exact number of mistakes.

    The positive examples (1, 1) and (1, 0), the negative one (0, 1), the positive one (1/K, 1): in
    this order, from w = 0, the perceptron makes 2 K^2 - 2 K + 5 mistakes in K^2 - K + 3 passes, and
    one pass without, while the input takes O(log K) bits.

    Proof: the first pass ends at w = (1, 0), after mistakes on (1, 1) and (0, 1). The second one
    makes w = (1, -1) and then (1 + 1/K, 0). Every pass from (p/K, 0), p = K, K + 1, .., K^2, makes
    the same two mistakes and ends at ((p + 1)/K, 0): (p/K, -1) is wrong on (1/K, 1) as long as
    p <= K^2. The pass from (K + 1/K, 0) makes one, and w = (K + 1/K, -1) is consistent. That is 2
    mistakes, 2 for each of K^2 - K + 1 passes, and 1.

    In whatever order, at least K mistakes: w = (p/K, r) with whole p and r is consistent only if
    r <= -1 and p > -r K^2 >= K^2, and no mistake adds more than K to p.

    Theorem 1 allows 8 K^2 + 2: R^2 = 2, and w* = (2 K, -1) is the shortest with s_i a_i'w* >= 1.

    Parameters
    ----------
    steepness
        K, a power of two from 1 to 2^26, so that all numbers are doubles and nothing is rounded.

    Raises
    ------
    InputError
        If K is not one of these.

    Examples
    --------
    >>> case = worst_case(64)
    >>> case.mistakes, case.novikoff
    (8069, 32770)
    >>> from perceptron_lab.problems.streams.perceptron import online_perceptron
    >>> online_perceptron(case.examples, case.signs, passes=case.passes).mistakes.total
    8069
    """
    whole = isinstance(steepness, int | np.integer) and not isinstance(steepness, bool)
    if not whole or not is_exact(int(steepness)):
        raise InputError(
            f"steepness={steepness!r}; give a power of two from 1 to {STEEPEST}, for which nothing "
            "is rounded"
        )
    k = int(steepness)
    examples, signs = worst_case_examples(k)
    mistakes, passes = 2 * k * k - 2 * k + 5, k * k - k + 4
    return WorstCase(examples, signs, mistakes, passes, 8 * k * k + 2)
