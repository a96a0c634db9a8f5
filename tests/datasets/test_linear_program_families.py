"""Families of linear programs and programs of netlib are what they are called."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from perceptron_lab.algorithms.linear.exact_optimum import minimised
from perceptron_lab.core.errors import ConfigError, InputError
from perceptron_lab.core.results import Status
from perceptron_lab.datasets.collections.netlib import INFEASIBLE, Netlib
from perceptron_lab.datasets.download.registered_files import collection
from perceptron_lab.datasets.generated.linear_programs import LinearPrograms
from perceptron_lab.systems.linear_system import LinearSystem
from tests.algorithms.linear.exact_simplex import has_a_point

KINDS = ("chain", "inventory", "transport", "equations", "degenerate", "scaled", "infeasible")


def generated(seed: int, **parameters: Any) -> LinearSystem:
    system = LinearPrograms(**parameters).problem(seed).system
    assert isinstance(system, LinearSystem)
    return system


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [2, 3])
def test_the_known_answer_is_right_by_a_simplex_method_in_fractions(kind: str, size: int) -> None:
    system = generated(size, kind=kind, size=size, gap=20)
    rows, equations = [], []
    for row in system.conditions:
        entries = dict(zip(row.columns, row.coefficients, strict=True))
        line = [entries.get(j, 0) for j in range(system.unknowns)]
        (equations if row.equation else rows).append((line, row.right))
    parts = [[line for line, _ in rows], [right for _, right in rows]]
    parts += [[line for line, _ in equations], [right for _, right in equations]]
    assert has_a_point(*parts) == LinearPrograms(kind=kind, size=size).feasible


@pytest.mark.parametrize("gap", [0, 9, 30])
def test_an_infeasible_program_lacks_exactly_its_gap(gap: int) -> None:
    system = generated(1, kind="infeasible", size=12, gap=gap)
    *others, last = (row for row in system.conditions if row.equation)
    less = last._replace(right=last.right - Fraction(last.scale, 10**gap))
    assert less.right.denominator == 1
    less = less._replace(right=int(less.right))
    bounds = [row for row in system.conditions if not row.equation]
    relaxed = LinearSystem.of_conditions([*others, less, *bounds], system.variables)
    assert minimised(system, {}).status is Status.INFEASIBLE
    assert minimised(relaxed, {}).status is Status.FEASIBLE


def test_entries_of_scaled_programs_span_their_powers_of_ten() -> None:
    system = generated(0, kind="scaled", size=40)
    sizes = [
        abs(Fraction(number, row.scale))
        for row in system.conditions
        if row.equation
        for number in row.coefficients
    ]
    assert Fraction(1, 10**13) <= min(sizes) < Fraction(1, 10**10)
    assert 10**10 < max(sizes) < 10**13


def test_a_degenerate_program_has_one_point() -> None:
    system = generated(0, kind="degenerate", size=5)
    for j, name in enumerate(system.variables):
        least, most = minimised(system, {j: Fraction(1)}), minimised(system, {j: Fraction(-1)})
        i, k = name[1:].split("_")
        assert least.value == -(most.value or 0) == (i == k)


def test_equal_seeds_give_equal_programs() -> None:
    dataset = LinearPrograms(kind="infeasible", gap=3)
    (name,) = dataset.names()
    assert name == "infeasible-50-3"
    first, again, other = (dataset.load(name, seed=seed, base=Path()) for seed in (1, 1, 2))
    assert first.sha256 == again.sha256 != other.sha256
    with pytest.raises(InputError):
        LinearPrograms(size=1)


def test_programs_of_netlib_are_registered_by_their_names() -> None:
    files = collection("linear_programs").files
    assert set(files) > INFEASIBLE
    with pytest.raises(InputError, match=r"no registered linear program is called 'afir'.*afiro"):
        Netlib(["afir"])
    with pytest.raises(ConfigError):
        Netlib(["afiro"]).load("kb2", seed=0, base=Path())


@pytest.mark.skipif("PLAB_DATA_MIRROR" not in os.environ, reason="needs PLAB_DATA_MIRROR")
@pytest.mark.parametrize("name", ["afiro", "woodinfe", "kb2"])
def test_programs_of_netlib_have_a_point_or_none_as_is_known(name: str) -> None:
    system = Netlib([name]).load(name, seed=0, base=Path()).system
    assert isinstance(system, LinearSystem)
    assert (minimised(system, {}).status is Status.INFEASIBLE) == (name in INFEASIBLE)
