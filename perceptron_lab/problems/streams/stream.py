"""A stream of examples: signs, and the order in which each pass presents them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.numerics.input_checks import signs_of

# "given": as they stand; "shuffled": in a new order in every pass; or the examples to present
Order: TypeAlias = Literal["given", "shuffled"] | npt.ArrayLike
# Takes a sequence of examples, and returns the positions in it at which it made mistakes
Sweep = Callable[[IntArray], IntArray]

# Presentations that are swept in one call, or one pass if that is longer
TOGETHER = 100_000


def signs_or_ones(labels: npt.ArrayLike | None, count: int) -> FloatArray:
    """Return s_i = +1 for the larger of two labels, -1 for the other; +1 for all without labels."""
    return np.ones(count) if labels is None else signs_of(labels, count)


@dataclass(frozen=True)
class Mistakes:
    """The mistakes of a perceptron on a stream.

    Parameters
    ----------
    per_pass
        Mistakes in each pass made, shape ``(passes,)``.
    at
        The presentations at which they were made, counted from 0 through all passes, ascending,
        shape ``(total,)``.
    of_example
        Mistakes on each example, shape ``(m,)``.
    presentations
        How often each example was presented, shape ``(m,)``.
    """

    per_pass: IntArray
    at: IntArray
    of_example: IntArray
    presentations: IntArray

    @property
    def total(self) -> int:
        """All mistakes, M in `PerceptronNotes`."""
        return len(self.at)

    @property
    def separated(self) -> bool:
        """Whether the last pass was without a mistake: no later one would have any."""
        return bool(self.per_pass[-1] == 0)


@dataclass(frozen=True)
class Passes:
    """Passes over examples, each of which presents the same ones.

    Parameters
    ----------
    size
        The number of examples, m >= 1.
    most
        Passes at most, 1 or more.
    order
        See :data:`Order`; indices from 0 to m - 1, of which some may be repeated or left out.
    seed
        Of the orders that are shuffled.

    Raises
    ------
    InputError
        If the passes are not a whole number, 1 or more, or the order is none of those.
    """

    size: int
    most: int = 1
    order: Order = "given"
    seed: int = 0

    def __post_init__(self) -> None:
        whole = isinstance(self.most, int | np.integer) and not isinstance(self.most, bool)
        if not whole or self.most < 1:
            raise InputError(f"passes={self.most!r}; give a whole number, 1 or more")
        if isinstance(self.order, str):
            if self.order not in ("given", "shuffled"):
                raise InputError(
                    f"order={self.order!r}; give 'given', 'shuffled', or indices of the examples"
                )
            return
        indices = np.asarray(self.order)
        if indices.dtype.kind not in "iu" or indices.ndim != 1 or not indices.size:
            raise InputError(
                f"an order of type {indices.dtype} and shape {indices.shape}; give 'given', "
                "'shuffled', or a list of indices of examples"
            )
        if indices.min() < 0 or indices.max() >= self.size:
            raise InputError(
                f"the order holds the indices {indices.min()} to {indices.max()}; allowed are 0 to "
                f"{self.size - 1} for {self.size} examples"
            )

    def mistakes(self, sweep: Sweep) -> Mistakes:
        """Return the mistakes in all passes, up to the first without one."""
        per_pass, at, of_example = list[IntArray](), list[IntArray](), np.zeros(self.size, np.int64)
        made, one = 0, self._one()
        length = len(one)
        for sequence in self.sequences():
            wrong = sweep(sequence)
            counts = np.bincount(wrong // length, minlength=len(sequence) // length)
            clean = np.flatnonzero(counts == 0)
            if len(clean):
                counts = counts[: clean[0] + 1]
            per_pass.append(counts)
            at.append(made * length + wrong)
            of_example += np.bincount(sequence[wrong], minlength=self.size)
            made += len(counts)
            if len(clean):
                break
        presentations = made * np.bincount(one, minlength=self.size)
        return Mistakes(np.concatenate(per_pass), np.concatenate(at), of_example, presentations)

    def _one(self) -> IntArray:
        """Return the examples of one pass."""
        if isinstance(self.order, str):
            return np.arange(self.size)
        return np.ascontiguousarray(self.order, dtype=np.int64)

    def sequences(self) -> Iterator[IntArray]:
        """Yield the examples of all passes, those of several whole passes at a time."""
        one = self._one()
        rng = np.random.default_rng(self.seed)
        together = max(1, TOGETHER // len(one))
        for first in range(0, self.most, together):
            passes = min(together, self.most - first)
            if isinstance(self.order, str) and self.order == "shuffled":
                yield rng.permuted(np.tile(one, (passes, 1)), axis=1).ravel()
            else:
                yield np.tile(one, passes) if passes > 1 else one
