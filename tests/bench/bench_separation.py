"""CPU seconds of verdicts beside Konis's program by HiGHS; run: pytest -s tests/bench/bench_*.py.

Both get the same rows in the same run; HiGHS proves nothing, and has two minutes.
"""

import time
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab import separation
from perceptron_lab.estimators.learners.registered.likelihood import konis_program

Rng = np.random.Generator


def dummies(rng: Rng, count: int, levels: tuple[int, ...] = (10, 15, 20, 14)) -> tuple[Any, Any]:
    """55 dummies of four factors whose levels have frequencies 1, 1/2, 1/3, ..."""
    parts = []
    for size in levels:
        frequencies = 1.0 / np.arange(1, size + 1)
        codes = rng.choice(size, count, p=frequencies / frequencies.sum())
        parts.append(np.eye(size)[codes][:, 1:])
    examples = np.hstack(parts)
    scores = examples @ rng.standard_normal(examples.shape[1]) - 1.0
    return examples, rng.random(count) < 1.0 / (1.0 + np.exp(-scores))


def normal(rng: Rng, count: int, width: int = 55) -> tuple[Any, Any]:
    """Normal variables: no two rows are equal, and all entries have 53 digits."""
    examples = rng.standard_normal((count, width))
    return examples, examples[:, 0] + rng.standard_normal(count) > 0.0


def binary(rng: Rng, count: int) -> tuple[Any, Any]:
    """Four binary variables."""
    examples = (rng.random((count, 4)) < 0.3).astype(float)
    return examples, rng.random(count) < 0.2 + 0.1 * examples[:, 0]


def fixed_effects(rng: Rng, count: int, levels: int = 1000) -> tuple[Any, Any]:
    """Counts with two fixed effects as sparse dummies; seven levels of the first have none."""
    one, two = rng.integers(0, levels, (2, count))
    every = np.arange(count)
    columns = np.concatenate([one, levels + two])
    table = sp.csr_array((np.ones(2 * count), (np.tile(every, 2), columns)))
    effects = rng.standard_normal((2, levels))
    counts = rng.poisson(np.exp(effects[0][one] + effects[1][two] - 3.0))
    counts[(one > 0) & (one < 8)] = 0
    remaining = np.delete(np.arange(2 * levels), [0, levels])
    return sp.csr_array(table[:, remaining]), counts


def powers(rng: Rng, count: int, degree: int = 12) -> tuple[Any, Any]:
    """Raw powers of a variable, and labels that change 13 times along it."""
    points = np.sort(rng.normal(50.0, 15.0, count))
    return np.vander(points, degree + 1, increasing=True)[:, 1:], np.arange(count) * 14 // count % 2


DESIGNS = {
    "1000 x 55 dummies": (dummies, 1000, "binomial"),
    "1000 x 55 normal": (normal, 1000, "binomial"),
    "200 000 x 55 dummies": (dummies, 200_000, "binomial"),
    "200 000 x 55 normal": (normal, 200_000, "binomial"),
    "1e6 x 4 binary": (binary, 1_000_000, "binomial"),
    "1e6, 2 x 1000 effects": (fixed_effects, 1_000_000, "binomial"),
    "1e6, 2 x 1000 effects, Poisson": (fixed_effects, 1_000_000, "poisson"),
    "200 x powers up to 12": (powers, 200, "binomial"),
}


def cpu_seconds(function: Any) -> tuple[float, Any]:
    began = time.process_time()
    value = function()
    return time.process_time() - began, value


@pytest.mark.timeout(1000)
@pytest.mark.parametrize("name", DESIGNS)
def test_verdict_and_konis_program(name: str) -> None:
    separation([[0.0], [1.0], [0.0], [1.0]], [0, 1, 1, 0])  # modules load
    design, count, family = DESIGNS[name]
    examples, y = design(np.random.default_rng(0), count)
    options = {} if family == "binomial" else {"family": family}
    labels = y > 0 if family == "binomial" else y
    ours, verdict = cpu_seconds(lambda: separation(examples, labels, **options))
    assert verdict.classified
    table: Any = verdict.rows.doubles
    theirs, program = cpu_seconds(lambda: konis_program(table, 120.0))
    answer = ("separated" if program.gain > 1e-6 else "not separated") if program.solved else "none"
    print(
        f"\n{name}: {verdict.verdict} in {ours:.3f} s ({verdict.method}); HiGHS: {answer} in "
        f"{theirs:.3f} s, ratio {theirs / ours:.2g}"
    )
