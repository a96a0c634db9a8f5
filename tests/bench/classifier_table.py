"""What both ellipsoid classifiers prove of the usual data sets, and how long they take.

`python -m tests.bench.classifier_table [FILE] [WORD]` fits both, with default parameters, to each
case whose name holds the word, writes a line per case to the file (CSV), and prints the summary of
its lines by data set (Markdown). Seconds are of the processor, one thread; they differ from machine
to machine, brackets do not.
"""

from __future__ import annotations

import csv
import math
import re
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from perceptron_lab.estimators import EllipsoidSeparationClassifier, SoftEllipsoidClassifier
from tests.estimators.usual_data import Case, Examples, generated, measured
from tests.gaussian_shells import GaussianShells


class Line(NamedTuple):
    """What is known of one case.

    Parameters
    ----------
    width
        Of the proved bracket of t, relative to it; absolute where nothing positive is proved; 0
        where t is proved to be unbounded.
    warned
        How many of both fits warned that they had not converged.
    """

    name: str
    rows: int
    features: int
    status: str
    ratio_lower: float
    ratio_upper: float
    width: float
    hard_seconds: float
    soft_seconds: float
    warned: int

    @property
    def family(self) -> str:
        """The name without the two classes."""
        return re.sub(r" \d+ in \d+", "", self.name)


def every_case() -> Iterator[Case]:
    """Yield all cases, those of one family after another."""
    yield from sorted(measured(), key=lambda case: (case.name.split()[0], case.name.split()[-1]))
    for size in (1000, 10_000, 100_000):
        yield from generated(size)
    yield from (_shells(drawn) for drawn in (5000, 100_000))


def _shells(drawn: int) -> Case:
    def load() -> tuple[Examples, npt.NDArray[np.bool_]]:
        inside, outside = GaussianShells(drawn).sample(0)
        labels = np.repeat([True, False], [len(inside), len(outside)])
        return np.vstack([inside, outside]), labels

    return Case(f"shells of {drawn}", load)


def line_of(case: Case) -> Line:
    """Fit both classifiers to a case."""
    rows, labels = case.load()
    hard, soft = EllipsoidSeparationClassifier(), SoftEllipsoidClassifier()
    hard_seconds, first = _timed(hard.fit, rows, labels)
    soft_seconds, other = _timed(soft.fit, rows, labels)
    separation = hard.separation_
    lower, upper = separation.ratio_lower, separation.ratio_upper
    return Line(
        case.name,
        *rows.shape,
        str(hard.status_),
        lower,
        upper,
        width(lower, upper),
        hard_seconds,
        soft_seconds,
        first + other,
    )


def width(lower: float, upper: float) -> float:
    """Return the width of a bracket of t, as :class:`Line` has it."""
    if math.isinf(lower):
        return 0.0
    return (upper - lower) / (lower if lower > 0.0 else 1.0)


def _timed(
    fit: Callable[[Examples, np.ndarray], object], rows: Examples, labels: np.ndarray
) -> tuple[float, int]:
    """Return the seconds of the processor, and whether it warned that it had not converged."""
    with threadpool_limits(1), warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always", ConvergenceWarning)
        began = time.process_time()
        fit(rows, labels)
        seconds = time.process_time() - began
    return seconds, int(any(issubclass(warning.category, ConvergenceWarning) for warning in raised))


def summary(lines: Iterable[Line]) -> str:
    """Return medians and worst of every family that lines come in, in Markdown."""
    head = (
        "data set",
        "cases",
        "rows x features",
        "t = 0 / unbounded",
        "width: median",
        "worst",
        "hard, s: median",
        "worst",
        "soft, s: median",
        "worst",
        "warned",
    )
    body = [_cells(family, list(part)) for family, part in groupby(lines, lambda line: line.family)]
    table = [head, tuple("---" for _ in head), *body]
    return "\n".join(f"| {' | '.join(row)} |" for row in table)


def _cells(family: str, lines: list[Line]) -> tuple[str, ...]:
    sizes = sorted({(line.rows, line.features) for line in lines})
    least, most = sizes[0], sizes[-1]
    size = f"{least[0]}{f'-{most[0]}' if most[0] > least[0] else ''} x {most[1]}"
    kinds = [sum(line.ratio_lower == bound for line in lines) for bound in (0.0, math.inf)]
    columns = (
        [line.width for line in lines],
        [line.hard_seconds for line in lines],
        [line.soft_seconds for line in lines],
    )
    both = [pick(values) for values in columns for pick in (statistics.median, max)]
    figures = [f"{value:.1e}" for value in both[:2]] + [f"{value:.2f}" for value in both[2:]]
    warned = str(sum(line.warned for line in lines))
    return family, str(len(lines)), size, f"{kinds[0]} / {kinds[1]}", *figures, warned


def write(cases: Iterable[Case], file: Path) -> list[Line]:
    """Write a line per case, each as soon as it is known; return them."""
    lines = []
    with file.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(Line._fields)
        for case in cases:
            lines.append(line_of(case))
            writer.writerow(lines[-1])
            stream.flush()
    return lines


if __name__ == "__main__":
    name, word = [*sys.argv[1:], *("classifiers.csv", "")[len(sys.argv) - 1 :]]
    print(summary(write((case for case in every_case() if word in case.name), Path(name))))
