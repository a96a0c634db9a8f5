"""An algorithm is one file and one name: everything else comes from the contract."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from perceptron_lab import list_names, register, show, solve
from perceptron_lab.core.results import Status
from tests.conformance.systems import cases, rows, second_order
from tests.conformance.test_contract import check_proofs

SOURCE = '''
"""A perceptron with steps of another length."""

from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from perceptron_lab.algorithms.base import Algorithm, State, Systems, cut_or_claim
from perceptron_lab.core.refusals import STRICT
from perceptron_lab.core.results import Bound
from perceptron_lab.systems import Cut


@dataclass(frozen=True, config=STRICT)
class Longer(Algorithm[State]):
    """The perceptron with longer steps: x <- x + length a / norm(a).

    Parameters
    ----------
    length
        > 0 (default 2).
    """

    systems: ClassVar[Systems] = {"runs": "rows second-order"}

    length: Annotated[float, Field(gt=0)] = 2.0

    def start(self, system, rng):
        return State(np.zeros(system.dimension))

    def step(self, system, state, most):
        for _ in range(most):
            cut = cut_or_claim(system, state.point)
            if not isinstance(cut, Cut):
                return state, cut
            state.point += self.length / cut.norm * cut.normal
            state.updates += 1
        return state, None

    def bound(self, facts):
        return Bound(None, "none", "an example")
'''


@pytest.fixture(autouse=True)
def _added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, user_registrations: None) -> None:
    (tmp_path / "longer_steps.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    register("algorithm", "longer", "longer_steps:Longer")


def test_one_file_and_one_line_add_an_algorithm() -> None:
    (listed,) = [item for item in list_names("algorithms") if item["name"] == "longer"]
    assert listed["systems"]["second-order"] == "runs"
    (algorithm,) = show("longer")
    assert [parameter["parameter"] for parameter in algorithm["parameters"]] == ["length"]
    for make in (rows, second_order):
        system = make()
        result = solve(system, "longer")
        assert (result.status, result.proved) == (Status.FEASIBLE, True)
        check_proofs(system, result, "longer")
        same = solve(system, "perceptron")
        assert result.updates == same.updates
        np.testing.assert_allclose(result.point, 2.0 * same.point, rtol=1e-12)


def test_the_suites_cases_take_up_every_registered_name() -> None:
    assert len(cases([rows], ["longer", "perceptron"])) == 2
