"""The smoothed problem of soft margins, and what is done where scipy's step has no real length."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from perceptron_lab.problems.streams import presented
from perceptron_lab.problems.streams.presented import Smoothed


def test_where_the_exact_step_fails_krylov_steps_lead_to_the_same_point(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    rows, signs = rng.standard_normal((40, 5)), rng.choice([-1.0, 1.0], 40)
    problem = Smoothed(rows, signs, 4.0, np.full(40, 2.0), np.full(40, 1e3))
    start, chosen = np.zeros(5), presented.minimize
    exact, asked = problem.solved(start), []

    def failing(*given: Any, **options: Any) -> Any:
        asked.append(options["method"])
        if options["method"] == "trust-exact":
            raise ValueError("math domain error")
        return chosen(*given, **options)

    monkeypatch.setattr(presented, "minimize", failing)
    assert problem.solved(start) == pytest.approx(exact, abs=1e-6)
    assert asked == ["trust-exact", "trust-krylov"]
