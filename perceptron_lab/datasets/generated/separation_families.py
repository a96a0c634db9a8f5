"""Labelled examples with known separation and known divergent coefficients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal

import numpy as np
import numpy.typing as npt
from numpy.random import Generator
from pydantic import Field

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.refusals import parameter_record
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.datasets.dataset import Defaults, defaulted_with
from perceptron_lab.datasets.generated.generator import GeneratedDataset
from perceptron_lab.datasets.problem import Problem, Task
from perceptron_lab.systems import ConicSystem

_LARGEST: Final = 9  # Largest magnitude of the random integers
_DEFAULTS: Defaults = {
    "complete": {"undetermined": 1},
    "quasi-complete": {"finite": 2, "undetermined": 1},
    "overlap": {"finite": 2},
}


@dataclass(frozen=True, eq=False)
class KnownAnswer:
    """The separation verdict, the partition and the coefficients, known by construction.

    Parameters
    ----------
    verdict
        ``complete``, ``quasi-complete`` or ``overlap``.
    separated
        Mask of the rows that are positive somewhere on R, shape ``(m,)``.
    classes
        Classes of the coefficients, the intercept last.
    """

    verdict: str
    separated: npt.NDArray[np.bool_]
    classes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows a_i = y_i (x_i, 1) under construction: labels, x, and whether they are separated."""

    labels: FloatArray
    examples: FloatArray
    separated: npt.NDArray[np.bool_]

    def rows_at(self, indices: IntArray | slice) -> _Rows:
        """Return the rows at the indices."""
        return _Rows(self.labels[indices], self.examples[indices], self.separated[indices])


@parameter_record
class SeparationFamilies(GeneratedDataset):
    """Generated examples of two classes with known verdict, partition and coefficients.

    Of R = {b : y_i (x_i, 1)'b >= 0 for all i}, by three kinds of features:

    * of ``finite`` features, some examples of both classes have equal sums of (x, 1), and span all;
      every other feature is 0 there: these features and the intercept are 0 on R;
    * each of the ``infinite`` features is above 0 for one class and at most 0 for the other, in
      turn, and pairs of examples have nothing else: their coefficients have one sign on R;
    * the ``undetermined`` features have any small values, on examples with an infinite feature
      only: coefficients of both signs are in R.

    ``complete`` has no finite features (and its intercept is undetermined), ``quasi-complete`` all
    kinds. ``overlap`` is quasi-complete, with one more example for each infinite feature on the
    wrong side by 2^-gap: so R = {0}, and all estimates are finite. Of the others the infinite
    features are multiplied by 2^-gap, as in a large unit.

    All numbers are whole, or whole multiples of 2^-gap, which doubles hold exactly. The instance's
    name holds all parameters, as ``quasi-complete-40-2i-2f-1u`` (rows, infinite, finite and
    undetermined features); name and seed determine the data. There are no test examples.

    Parameters
    ----------
    kind
        ``complete``, ``quasi-complete`` (default) or ``overlap``.
    rows
        Examples, 8 to 1 000 000 (default 40).
    finite, infinite, undetermined
        The numbers of features: 1 to 50 (default 2; none of complete), 1 to 50 (default 2), 0 to 50
        (default 1; none of overlap).
    gap
        0 (default) to 60.
    degenerate
        Whether a quarter of the rows repeats others, and there are three more columns: zeros, a
        copy of the last infinite feature, and a constant, none of which has an estimate
        (default false).
    """

    kind: Literal["complete", "quasi-complete", "overlap"] = "quasi-complete"
    rows: Annotated[int, Field(ge=8, le=1_000_000)] = 40
    finite: Annotated[int, Field(ge=1, le=50)] | None = None
    infinite: Annotated[int, Field(ge=1, le=50)] = 2
    undetermined: Annotated[int, Field(ge=0, le=50)] | None = None
    gap: Annotated[int, Field(ge=0, le=60)] = 0
    degenerate: bool = False

    _of_the_kind = defaulted_with("kind", _DEFAULTS, "finite", "undetermined")

    @property
    def name(self) -> str:
        """The name of the instance, as quasi-complete-40-2i-2f-1u-gap30-degenerate."""
        letters = zip(self._counts, "ifu", strict=True)
        counts = [f"{number}{letter}" for number, letter in letters if number]
        endings = [f"gap{self.gap}"] * (self.gap > 0) + ["degenerate"] * self.degenerate
        return "-".join([self.kind, str(self.rows), *counts, *endings])

    @property
    def _counts(self) -> tuple[int, int, int]:
        """The numbers of infinite, finite and undetermined features, in the order of columns."""
        return self.infinite, self.finite or 0, self.undetermined or 0

    def problem(self, seed: int) -> Problem:
        """Generate the instance."""
        generated, _ = self._generated(seed)
        system = ConicSystem.from_labelled(generated.examples, generated.labels)
        none = generated.examples[:0], generated.labels[:0]
        task = Task("positive", generated.examples, generated.labels, *none)
        return self.stated(system, generated.examples, generated.labels, tasks=(task,))

    def known_answer(self, seed: int) -> KnownAnswer:
        """Return the known answer for the instance of a seed."""
        generated, classes = self._generated(seed)
        return KnownAnswer(self.kind, generated.separated, classes)

    def _generated(self, seed: int) -> tuple[_Rows, tuple[str, ...]]:
        width = sum(self._counts) + 3 * self.degenerate
        with self.random(seed, 64 * self.rows * (width + 1)) as rng:
            rows = self._distinct_rows(rng)
            if self.degenerate:
                distinct = len(rows.labels)
                # Copies test whether ties and repeated rows change the verdict, which they must
                # not.
                repeated = rng.integers(0, distinct, self.rows - distinct)
                rows = rows.rows_at(np.concatenate([np.arange(distinct), repeated]))
            rows = rows.rows_at(rng.permutation(self.rows))
        examples = rows.examples
        if self.degenerate:
            copy = examples[:, [self.infinite - 1]]
            zeros = np.zeros_like(copy)
            examples = np.hstack([examples, zeros, copy, np.full_like(copy, 3.0)])
        return _Rows(rows.labels, examples, rows.separated), self._classes()

    def _classes(self) -> tuple[str, ...]:
        """Return the classes of the coefficients; columns that depend on others determine none."""
        infinite, finite, undetermined = self._counts
        signed = ["+INF" if j % 2 == 0 else "-INF" for j in range(infinite)]
        classes = [*signed, *["FINITE"] * finite, *["UNDETERMINED"] * undetermined]
        classes.append("UNDETERMINED" if self.kind == "complete" else "FINITE")
        if self.kind == "overlap":
            classes = ["FINITE"] * len(classes)
        if self.degenerate:
            classes[infinite - 1] = "UNDETERMINED"
            classes[-1:] = ["UNDETERMINED"] * 4
        return tuple(classes)

    def _distinct_rows(self, rng: Generator) -> _Rows:
        """Return the distinct rows, in integer multiples of 2^-gap."""
        infinite, finite, _ = self._counts
        count = self.rows - self.rows // 4 if self.degenerate else self.rows
        opposed = infinite if self.kind == "overlap" else 0
        least = 2 * infinite + opposed + (2 * (finite + 1) if finite else 0)
        if count < least:
            raise InputError(
                f"{self.name}: {count} distinct rows, but {least} are needed for these features; "
                "raise rows"
            )
        balanced = finite + 1 + (count - least) // 4 if finite else 0
        parts = [
            self._pairs(),
            self._opposed(opposed),
            self._balanced(rng, balanced),
            self._separated_rows(rng, count - 2 * infinite - opposed - 2 * balanced),
        ]
        labels, examples, separated = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("labels", "examples", "separated")
        )
        if self.kind == "overlap":
            # The opposed rows leave only b = 0 in R, so that no row is separated.
            return _Rows(labels, examples, np.zeros_like(separated))
        examples[:, :infinite] *= 2.0**-self.gap
        return _Rows(labels, examples, separated)

    @property
    def _signs(self) -> FloatArray:
        """The signs s_j of the infinite features: 1 and -1 in turn."""
        return np.where(np.arange(self.infinite) % 2 == 0, 1.0, -1.0)

    def _pairs(self) -> _Rows:
        """Return y = 1, x = s_j e_j and y = -1, x = -s_j e_j: the rows add up to 2 s_j e_j."""
        alone = np.diag(self._signs)
        labels = np.repeat([1.0, -1.0], self.infinite)
        return self._rows(labels, np.vstack([alone, -alone]))

    def _opposed(self, count: int) -> _Rows:
        """Return y = 1, x = -2^-gap s_j e_j for the first features."""
        return self._rows(np.ones(count), -(2.0**-self.gap) * np.diag(self._signs)[:count])

    def _balanced(self, rng: Generator, count: int) -> _Rows:
        """Return ``count`` examples of each class with equal sums; all other features are 0.

        The first are 0 and the unit vectors, so that the rows span all (x, 1).
        """
        finite = self.finite or 0
        drawn = rng.integers(-_LARGEST, _LARGEST + 1, (max(count - finite - 1, 0), finite))
        points = np.vstack([np.eye(finite + 1, finite, -1)[:count], drawn])
        moves = rng.integers(-2, 3, points.shape)
        moved_points = points + moves - np.roll(moves, 1, axis=0)
        rows = self._rows(np.repeat([1.0, -1.0], count), finite=np.vstack([points, moved_points]))
        return _Rows(rows.labels, rows.examples, np.zeros(2 * count, dtype=bool))

    def _separated_rows(self, rng: Generator, count: int) -> _Rows:
        """Return examples with y s_j x_j >= 0, and > 0 for one infinite feature at least."""
        infinite, finite, undetermined = self._counts
        labels = rng.choice([-1.0, 1.0], count)
        sizes = rng.integers(0, _LARGEST + 1, (count, infinite))
        # Each row is strictly separated by one infinite feature at least, in turn.
        sizes[np.arange(count), np.arange(count) % infinite] += 1
        sizes_beyond = rng.integers(-_LARGEST, _LARGEST + 1, (count, finite + undetermined))
        return self._rows(
            labels,
            labels[:, None] * self._signs * sizes,
            sizes_beyond[:, :finite],
            sizes_beyond[:, finite:],
        )

    def _rows(
        self,
        labels: FloatArray,
        infinite: npt.ArrayLike = 0.0,
        finite: npt.ArrayLike = 0.0,
        undetermined: npt.ArrayLike = 0.0,
    ) -> _Rows:
        """Return separated rows of the three kinds of features, in their order."""
        parts = [
            np.broadcast_to(values, (len(labels), width))
            for values, width in zip((infinite, finite, undetermined), self._counts, strict=True)
        ]
        return _Rows(labels, np.hstack(parts).astype(float), np.ones(len(labels), dtype=bool))
