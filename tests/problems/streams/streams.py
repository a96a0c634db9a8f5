"""Streams of whole numbers, on which every sum and product is exact, and the plain perceptron."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptron_lab.core.results import FloatArray


def all_examples(seed: int, size: int = 60, features: int = 4) -> FloatArray:
    rng = np.random.default_rng(seed)
    return rng.integers(-9, 10, (size, features)).astype(float)


def separable(seed: int, size: int = 60, features: int = 4) -> tuple[FloatArray, FloatArray]:
    """Examples and signs of a whole separator, which none of them meets."""
    rng = np.random.default_rng([seed, 1])
    separator = rng.integers(1, 9, features) * rng.choice([-1, 1], features)
    examples = all_examples(seed, 4 * size, features)
    examples = examples[examples @ separator != 0][:size]
    examples[1] = -examples[0]  # of both classes
    return examples, np.sign(examples @ separator)


def noisy(
    seed: int, size: int = 60, features: int = 4, part: float = 0.15
) -> tuple[FloatArray, FloatArray]:
    """The same with a part of the signs changed, and an example of both signs: not separable."""
    examples, signs = separable(seed, size, features)
    changed = np.random.default_rng([seed, 2]).random(len(signs)) < part
    signs = np.where(changed, -signs, signs)
    examples[2], signs[2] = examples[3], -signs[3]
    return examples, signs


def plain_perceptron(
    examples: npt.NDArray[Any], signs: FloatArray, sequence: Iterable[int]
) -> tuple[FloatArray, list[int]]:
    """The listing of the notes: the weight, and the presentations that were mistakes."""
    weight, mistaken = np.zeros(examples.shape[1]), list[int]()
    for presentation, row in enumerate(sequence):
        if signs[row] * float(examples[row] @ weight) <= 0.0:
            weight = weight + signs[row] * examples[row]
            mistaken.append(presentation)
    return weight, mistaken
