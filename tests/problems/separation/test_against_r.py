"""R as a judge: the fitted probabilities and means of ``glm`` run to their limits where separated.

R ends when the deviance changes by less than 1e-12 of itself. Then the fitted values of separated
rows, whose distance to 0 or 1 falls by a factor e in each step, are within 1e-8 of it, and those of
overlapping rows of these small integers are not. R's NA are the aliased coefficients.
"""

from __future__ import annotations

import json
import shutil
import subprocess

import numpy as np
import pytest

from perceptron_lab import separation
from tests.repetitions import repeated

pytestmark = pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not on PATH")
SCRIPT = """
text <- readLines(file("stdin"))
for (line in text) {
  parts <- strsplit(line, ";")[[1]]
  numbers <- function(k) as.numeric(strsplit(parts[k], " ")[[1]])
  y <- numbers(2)
  X <- matrix(numbers(3), length(y), byrow = TRUE)
  control <- glm.control(epsilon = 1e-12, maxit = 100)
  fit <- suppressWarnings(glm(y ~ X, family = parts[1], control = control))
  limits <- abs(fit$fitted.values - y) < 1e-8 & (y == 0 | parts[1] == "binomial")
  cat(paste(as.integer(limits), collapse = " "), ";", as.integer(is.na(coef(fit))), "\\n")
}
"""


def designs(family: str, count: int) -> list[tuple[list[list[int]], list[int]]]:
    """Small integers, with dependent columns in some, and both outcomes."""
    rng = np.random.default_rng(45)
    found: list[tuple[list[list[int]], list[int]]] = []
    while len(found) < count:
        X = rng.integers(-1, 2, (9, 3))
        if len(found) % 3 == 0:
            X[:, 2] = X[:, 0] + X[:, 1]
        y = rng.integers(0, 2, 9) * (rng.integers(1, 4, 9) if family == "poisson" else 1)
        if 0 < (y > 0).sum() < 9:
            found.append((X.tolist(), y.tolist()))
    return found


@pytest.mark.parametrize(
    ("family", "count"),
    repeated([("binomial", 10), ("poisson", 10), ("binomial", 30), ("poisson", 30)], kept=2),
)
def test_rows_and_aliased_columns_are_those_of_r(family: str, count: int) -> None:
    examples = designs(family, count)
    lines = [
        f"{family};{' '.join(map(str, y))};{' '.join(str(x) for row in X for x in row)}"
        for X, y in examples
    ]
    call = ["Rscript", "--vanilla", "-e", SCRIPT]
    answer = subprocess.run(
        call, input="\n".join(lines), capture_output=True, text=True, check=True, timeout=120
    )
    verdicts = set()
    for line, (X, y) in zip(answer.stdout.splitlines(), examples, strict=True):
        rows, aliased = (np.array(part.split(), dtype=int) for part in line.split(";"))
        found = separation(X, y, family=family)
        verdicts.add(found.verdict)
        assert found.separated_rows.tolist() == np.flatnonzero(rows).tolist(), json.dumps([X, y])
        names = ["intercept", "x_1", "x_2", "x_3"]
        constant = set(found.constant_columns)
        expected = {names[k] for k in np.flatnonzero(aliased)} - constant
        assert set(found.remedies(max_seconds=20).aliased) == expected, json.dumps([X, y])
    assert len(verdicts) > 1
