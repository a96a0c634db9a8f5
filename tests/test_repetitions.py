"""What runs always, what in the long run only, and what a share of that draws."""

from __future__ import annotations

from typing import Any

import pytest

from tests import repetitions
from tests.repetitions import FEW, drawn, examples, leave_out, parts, repeated, thinned


@pytest.fixture(autouse=True)
def _long_ones_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repetitions, "_left_out", False)


def is_long(parameter: Any) -> bool:
    return any(mark.name == "long" for mark in parameter.marks)


def test_all_but_the_first_repetitions_are_long() -> None:
    parameters = repeated(range(5), kept=2)
    assert [parameter.values for parameter in parameters] == [(0,), (1,), (2,), (3,), (4,)]
    assert [is_long(parameter) for parameter in parameters] == [False, False, True, True, True]


def test_of_a_table_of_pairs_each_row_and_column_keeps_some() -> None:
    table = thinned(((row, column) for row in range(5) for column in range(4)), step=3)
    kept = [parameter.values for parameter in table if not is_long(parameter)]
    assert len(table) == 20
    assert len(kept) == 7
    assert {row for row, _ in kept} == {0, 1, 2, 3, 4}
    assert {column for _, column in kept} == {0, 1, 2, 3}


@pytest.mark.parametrize("selection", ["not long", "not slow and not long"])
def test_no_tests_are_made_of_repetitions_that_the_selection_drops(selection: str) -> None:
    leave_out(selection)
    assert repeated(range(5), kept=2) == [pytest.param(0), pytest.param(1)]
    assert thinned(range(5), step=2) == [pytest.param(0), pytest.param(2), pytest.param(4)]


@pytest.mark.parametrize("selection", ["", "long or hypothesis", "not long or slow", "slow"])
def test_repetitions_that_a_selection_may_take_are_made(selection: str) -> None:
    leave_out(selection)
    assert len(repeated(range(5), kept=2)) == len(thinned(range(5), step=2)) == 5


def test_the_seeds_of_a_loop_are_cut_in_two() -> None:
    few, many = parts(12, kept=3)
    assert (few.values, many.values) == ((range(3),), (range(3, 12),))
    assert (is_long(few), is_long(many)) == (False, True)


def test_a_tuple_gives_one_value_per_argument() -> None:
    assert [parameter.values for parameter in repeated([(1, "a"), (2, "b")], kept=1)] == [
        (1, "a"),
        (2, "b"),
    ]


def test_a_parameter_keeps_its_marks_and_its_id() -> None:
    given = pytest.param((1, 2), marks=pytest.mark.slow, id="pair")
    _, long = repeated([0, given], kept=1)
    assert long.values == ((1, 2),)
    assert long.id == "pair"
    assert [mark.name for mark in long.marks] == ["slow", "long"]


@pytest.mark.parametrize("kept", [0, 4])
def test_no_statement_is_left_without_a_repetition(kept: int) -> None:
    with pytest.raises(ValueError, match=rf"kept = {kept}: allowed are 1 to 3"):
        repeated(range(3), kept=kept)


def test_hypothesis_draws_few_examples_but_in_the_long_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("HYPOTHESIS_PROFILE", raising=False)
    assert (examples(3), examples(500)) == (3, FEW)
    monkeypatch.setenv("HYPOTHESIS_PROFILE", "long")
    assert (examples(3), examples(500)) == (3, 500)


def test_a_share_is_drawn_by_its_seed_alone() -> None:
    names = [f"tests/test_bound.py::test_it_holds[{index}]" for index in range(2000)]
    first = {name for name in names if drawn(name, share=0.05, seed=1)}
    assert 50 < len(first) < 150
    assert first == {name for name in reversed(names) if drawn(name, share=0.05, seed=1)}
    assert first != {name for name in names if drawn(name, share=0.05, seed=2)}
    assert all(drawn(name, share=1.0, seed=1) for name in names)
