"""Datasets of the three margins: the same examples, each with the margin that is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perceptron_lab import solve
from perceptron_lab.core.errors import InputError
from perceptron_lab.datasets.collections.tabular import Tabular
from perceptron_lab.datasets.generated.margin_sets import MarginSets

MARGINS = ["unit", "directional", "geometric"]


@pytest.mark.parametrize("margin", MARGINS)
def test_the_margin_of_tabular_data_and_of_classes(margin: Any) -> None:
    iris = Tabular(source="iris", task="pairs", margin=margin)
    classes = MarginSets(family="classes", dimension=4, rows=60, measured=margin)
    for problem in (iris.load("iris-0-1", seed=0, base=Path()), classes.problem(0)):
        system: Any = problem.system
        assert system.margin_name == margin
        result = solve(system, goal={"margin_ratio": 0.999})
        assert result.goal_reached


def test_the_margins_are_computed_for_one_problem() -> None:
    problems = [
        MarginSets(family="classes", dimension=4, rows=60, measured=margin).problem(0)
        for margin in ("unit", "directional", "geometric")
    ]
    assert len({problem.sha256 for problem in problems}) == 1
    point = np.ones(4)
    signs = [np.sign(problem.system.scores(point)).tolist() for problem in problems]  # type: ignore[union-attr]
    assert signs[0] == signs[1] == signs[2]


def test_other_data_have_no_such_margin() -> None:
    with pytest.raises(InputError, match="that of classes; choose unit or directional"):
        MarginSets(family="thin", measured="geometric")
    with pytest.raises(InputError, match="a kernel has the unit margin alone"):
        Tabular(source="wine", kernel="rbf", margin="directional")
