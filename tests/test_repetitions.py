"""What runs always, what in the long run only, and what a share of that draws."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest

from tests import repetitions
from tests.repetitions import (
    FEW,
    covering,
    drawn,
    examples,
    factors,
    leave_out,
    leave_out_combinations,
    leave_out_repetitions,
    mark_combinations,
    one_each,
    parts,
    repeated,
    spread,
    thinned,
)


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


@pytest.mark.parametrize("of", [0, 1])
def test_one_pair_of_each_value_runs_always_with_any_other_value(of: int) -> None:
    """Rows 2 and 3 have no pair with columns 0 and 1."""
    pairs = [(row, at) for row in range(6) for at in range(4) if row not in (2, 3) or at > 1]
    table = one_each(pairs, of)
    kept = [parameter.values for parameter in table if not is_long(parameter)]
    assert [parameter.values for parameter in table] == pairs
    assert len(kept) == (6, 4)[of]
    assert len({pair[of] for pair in kept}) == len(kept)
    assert len({pair[1 - of] for pair in kept}) == 4
    repetitions.leave_out("not long")
    assert [parameter.values for parameter in one_each(pairs, of)] == kept


@pytest.mark.parametrize("sizes", [(5, 3), (4, 4), (2, 7), (3, 4, 2), (6,)])
def test_a_covering_has_each_value_of_each_factor(sizes: tuple[int, ...]) -> None:
    cases = list(product(*map(range, sizes)))
    chosen = [cases[position] for position in covering(cases)]
    assert len(chosen) == max(sizes)
    for factor, size in enumerate(sizes):
        assert {case[factor] for case in chosen} == set(range(size))


def test_a_covering_spreads_the_values_of_the_shorter_factor() -> None:
    cases = list(product(range(8), range(2)))
    second = [cases[position][1] for position in covering(cases)]
    assert second.count(0) == second.count(1) == 4


def test_a_covering_of_an_incomplete_product_has_all_that_occurs() -> None:
    cases = [(0, 0), (0, 1), (1, 1), (2, 1)]
    assert covering(cases) == [0, 2, 3]


@pytest.mark.parametrize("second", ["p", "q"])
@pytest.mark.parametrize(("first", "other"), [(1, "a"), (1, "b")])
def test_the_arguments_of_a_decorator_are_one_factor(
    request: pytest.FixtureRequest, first: int, other: str, second: str
) -> None:
    node: Any = request.node
    values = factors(node.callspec.params, node.iter_markers("parametrize"))
    assert sorted(map(len, values)) == [1, 2]
    assert (id(first), id(other)) in values
    assert (id(second),) in values


class Case:
    """A repetition of a test, as far as it is looked at."""

    def __init__(self, test: str, marked: tuple[str, ...] = (), **values: int) -> None:
        self.nodeid = f"{test}[{values}]"
        self.callspec = SimpleNamespace(params=values)
        self.marks = [*marked]

    def iter_markers(self, name: str) -> list[Any]:
        return [pytest.mark.parametrize(("a", "b"), []).mark]

    def get_closest_marker(self, name: str) -> bool:
        return name in self.marks

    def add_marker(self, name: str) -> None:
        self.marks.append(name)


def test_of_a_product_the_combinations_beyond_a_covering_are_long() -> None:
    single = [Case("single", a=number, b=number) for number in range(4)]
    combined = [Case("combined", a=i, b=i, fixture=j) for i in range(3) for j in range(2)]
    further = [Case("combined", ("long",), a=i, b=i, fixture=2) for i in range(3)]
    mark_combinations([*single, *combined, *further])  # type: ignore[list-item]
    assert not any(case.marks for case in single)
    assert [case.marks for case in combined].count(["long"]) == 3
    assert all(case.marks == ["long"] for case in further)


def test_no_tests_are_made_of_the_combinations_beyond_a_covering() -> None:
    cases = [Case("", a=i, b=i, fixture=j) for i in range(3) for j in range(2)]
    calls = [SimpleNamespace(params=case.callspec.params, marks=[]) for case in cases]
    long = SimpleNamespace(params={"a": 3, "b": 3, "fixture": 0}, marks=[pytest.mark.long.mark])
    metafunc: Any = SimpleNamespace(definition=cases[0], _calls=[*calls, long])
    leave_out_combinations(metafunc)
    mark_combinations(cases)  # type: ignore[arg-type]
    assert metafunc._calls == [
        call for call, case in zip(calls, cases, strict=True) if not case.marks
    ]


def test_of_many_repetitions_a_few_are_spread_evenly() -> None:
    assert spread(3, most=4) == [0, 1, 2]
    assert spread(9, most=3) == [0, 3, 6]
    assert spread(5, most=1) == [0]


@pytest.mark.parametrize("selection", ["not long", "not slow and not long"])
def test_no_tests_are_made_of_repetitions_that_the_selection_drops(selection: str) -> None:
    leave_out(selection)
    assert repeated(range(5), kept=2) == [pytest.param(0), pytest.param(1)]
    assert thinned(range(5), step=2) == [pytest.param(0), pytest.param(2), pytest.param(4)]
    assert thinned(range(5), step=2, first=1) == [pytest.param(1), pytest.param(3)]


@pytest.mark.parametrize("selection", ["", "long or hypothesis", "not long or slow", "slow"])
def test_repetitions_that_a_selection_may_take_are_made(selection: str) -> None:
    leave_out(selection)
    assert len(repeated(range(5), kept=2)) == len(thinned(range(5), step=2)) == 5


def test_the_seeds_of_a_loop_are_cut_in_two() -> None:
    few, many = parts(12, kept=3)
    assert (few.values, many.values) == ((range(3),), (range(3, 12),))
    assert (is_long(few), is_long(many)) == (False, True)
    shown = [part.values[0] for part in parts(12, kept=3, most=4)]
    assert shown == [range(3), range(3, 7), range(7, 11), range(11, 12)]


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


def test_only_the_chosen_repetitions_are_made_unless_some_have_marks() -> None:
    calls = [SimpleNamespace(marks=[]) for _ in range(5)]
    metafunc: Any = SimpleNamespace(_calls=calls)
    leave_out_repetitions(metafunc, 0)
    assert metafunc._calls == calls
    leave_out_repetitions(metafunc, 2)
    assert metafunc._calls == [calls[0], calls[2]]
    metafunc._calls = marked = [*calls, SimpleNamespace(marks=[pytest.mark.slow])]
    leave_out_repetitions(metafunc, 2)
    assert metafunc._calls == marked
