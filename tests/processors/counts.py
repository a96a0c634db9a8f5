"""The 28 counts of Table 6.1 under every kernel, and with noise in the points that are queried.

`PLAB_DATA_MIRROR=FOLDER python -m tests.processors.counts` writes `rounding.csv` anew, which lies
beside the thesis's table. Noise in the last bit of every entry is another way of rounding that
keeps exact zeros; noise in the last bit of the largest entry is one that does not.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from perceptron_lab.core.results import FloatArray
from perceptron_lab.reporting.papers.thesis.table_6_1.table import ROUNDING, thesis_table
from perceptron_lab.systems import ConicSystem, Cut
from tests.processors.factors import FACTORS, VARIABLES, Kernel, Target
from tests.processors.kernel_counts import Counts, counts
from tests.processors.processor import in_force_under

LAST_BIT = 2.0**-52
NOISES = range(2)
"""The seeds of the noise that is recorded."""

PROBLEMS = tuple(dict.fromkeys(problem for problem, _ in thesis_table()))


def counts_under(name: str, problems: Sequence[str]) -> Counts | None:
    """Return them from a process under a factor that is in force; None if it cannot be."""
    unasked = {key: value for key, value in os.environ.items() if key not in VARIABLES}
    processor, factor = in_force_under(unasked), FACTORS[name]
    if factor.lacking(processor):
        return None
    command = [sys.executable, "-m", "tests.processors.kernel_counts", name, *problems]
    environment = {**unasked, "OPENBLAS_NUM_THREADS": "1", **factor.environment(processor)}
    completed = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    return dict(json.loads(completed.stdout))


@contextmanager
def noise(seed: int, *, keep_zeros: bool) -> Iterator[None]:
    """Change every point that is queried in its last bits, from now on to the end of the block."""
    rng, plain = np.random.default_rng(seed), ConicSystem.cut

    def cut(system: ConicSystem, point: FloatArray, slack: float = 0.0) -> Cut | None:
        size = np.abs(point) if keep_zeros else np.abs(point).max()
        point += rng.uniform(-LAST_BIT, LAST_BIT, point.shape) * size
        return plain(system, point, slack)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ConicSystem, "cut", cut)
        yield


def measured() -> pd.DataFrame:
    """Return the spread of every count over the kernels and numba's targets, and over the noise."""
    processors = [name for name, factor in FACTORS.items() if isinstance(factor, Kernel | Target)]
    under = [counts_here for name in processors if (counts_here := counts_under(name, PROBLEMS))]
    noisy = []
    for seed in NOISES:
        with noise(seed, keep_zeros=False):
            noisy.append(counts(PROBLEMS))
    lines = [_line(cell, under, noisy) for cell in under[0]]
    return pd.DataFrame(lines)


def _line(cell: str, under: list[Counts], noisy: list[Counts]) -> dict[str, Any]:
    problem, label = cell.split()
    exact, shifted = ([counts_here[cell] for counts_here in group] for group in (under, noisy))
    spread = {"least": min(exact), "most": max(exact)}
    spread |= {"noisy_least": min(shifted), "noisy_most": max(shifted)}
    return {"problem": problem, "label": label, **spread}


if __name__ == "__main__":
    measured().to_csv(Path(str(ROUNDING)), index=False)
