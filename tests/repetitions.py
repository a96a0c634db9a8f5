"""Repetitions of a test: a few for every run of the suite, all of them for `make test-long`.

A test holds a statement; seeds, sizes and damaged inputs repeat it. `repeated` gives a test's
parameters, of which the first few run always and the others only in the long run, and `examples`
does the same for the examples that hypothesis draws::

    @pytest.mark.parametrize("seed", repeated(range(50), kept=3))
    def test_the_bound_holds(seed: int) -> None: ...

    @settings(max_examples=examples(150))
    @given(vectors())
    def test_the_norm_is_enclosed(vector: Floats) -> None: ...

Where the parameters of a test are a product (several decorators or parametrised fixtures), a
`covering` of it runs always, in which each value of each factor occurs, and the other
combinations are long. `make check` runs a few repetitions of each test, which `spread` chooses.

`make test` leaves out what has the mark `long`. `make test-long` runs that and, with all their
examples, the tests of hypothesis; with SHARE and SEED a share of both, drawn by `drawn`.
"""

from __future__ import annotations

import os
import random
from collections import Counter, defaultdict
from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from typing import Any

import pytest

FEW = 10  # examples of a test of hypothesis outside the long run

_left_out = False  # whether no test is made of a long repetition


def repeated(values: Iterable[Any], kept: int) -> list[Any]:
    """Return parameters for `pytest.mark.parametrize`, the mark `long` on all but the first.

    Parameters
    ----------
    values
        One per repetition: a value of the only argument, a tuple with a value for each of several
        arguments, or a `pytest.param`, which keeps its marks and its id. (A tuple that is the
        value of an only argument comes as ``pytest.param(value)``.) Their ids are those that they
        have without `repeated`, so that a repetition is called the same whatever is kept.
    kept
        How many of them run always, the first ones: 1 to the number of values. Put first what
        differs most.
    """
    parameters = [_parameter(value) for value in values]
    if not 1 <= kept <= len(parameters):
        raise ValueError(f"kept = {kept}: allowed are 1 to {len(parameters)}, all repetitions")
    others = [] if _left_out else parameters[kept:]
    return parameters[:kept] + [_long(parameter) for parameter in others]


def parts(count: int, kept: int, most: int = 20_000) -> list[Any]:
    """Return the seeds of a test's loop in parts: 0 to `kept` run always, the others are long.

    A long part has at most so many seeds, as a test that takes minutes fails for its time.
    """
    others = [range(first, min(first + most, count)) for first in range(kept, count, most)]
    return repeated([pytest.param(part) for part in (range(kept), *others)], kept=1)


def thinned(values: Iterable[Any], step: int, first: int = 0) -> list[Any]:
    """Return the same parameters, of which each `step`-th runs always, from the `first` on.

    For a table of all pairs, row by row: with a step that does not divide the length of the rows,
    each row and each column keeps some of its pairs.
    """
    parameters = [_parameter(value) for value in values]
    return _kept(parameters, range(first, len(parameters), step))


def one_each(pairs: Iterable[Any], of: int = 0) -> list[Any]:
    """Return the same parameters, of which one for each value runs always.

    Of the pairs with the same value at position ``of``, it is the one whose other value occurred
    least among those before, so that the other values are spread as well.
    """
    parameters = [_parameter(pair) for pair in pairs]
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for position, parameter in enumerate(parameters):
        groups[parameter.values[of]].append(position)
    occurred: Counter[Hashable] = Counter()
    kept = set()
    for positions in groups.values():
        chosen = min(positions, key=lambda at: occurred[parameters[at].values[1 - of]])
        occurred[parameters[chosen].values[1 - of]] += 1
        kept.add(chosen)
    return _kept(parameters, kept)


def _kept(parameters: list[Any], positions: Container[int]) -> list[Any]:
    """Return the parameters at these positions and, marked as long, the others."""
    if _left_out:
        return [each for position, each in enumerate(parameters) if position in positions]
    return [
        each if position in positions else _long(each) for position, each in enumerate(parameters)
    ]


def _parameter(value: Any) -> Any:
    if isinstance(value, type(pytest.param())):
        return value
    return pytest.param(*value) if isinstance(value, tuple) else pytest.param(value)


def _long(parameter: Any) -> Any:
    return parameter._replace(marks=[*parameter.marks, pytest.mark.long])


def covering(cases: Sequence[Sequence[Hashable]]) -> list[int]:
    """Return positions of cases in which each value of each factor occurs, as few as is easy.

    Each next case has the most values that have not occurred; among equals, those that occurred
    least, so that also the other pairs of values are spread.
    """
    values = [list(enumerate(case)) for case in cases]
    occurred: Counter[tuple[int, Hashable]] = Counter()
    missing = {value for case in values for value in case}
    chosen = []

    def urgency(position: int) -> tuple[int, int, int]:
        counts = [occurred[value] for value in values[position]]
        return -counts.count(0), sum(counts), position

    while missing:
        chosen.append(min(range(len(cases)), key=urgency))
        occurred.update(values[chosen[-1]])
        missing.difference_update(values[chosen[-1]])
    return sorted(chosen)


def spread(count: int, most: int) -> list[int]:
    """Return at most `most` of the positions 0 to count - 1, evenly spread, 0 among them."""
    return list(range(count)) if count <= most else [k * count // most for k in range(most)]


def by_test(items: Iterable[pytest.Item]) -> list[list[pytest.Item]]:
    """Return the repetitions of each test, in their order."""
    tests: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        tests[item.nodeid.partition("[")[0]].append(item)
    return list(tests.values())


def factors(parameters: Mapping[str, Any], marks: Iterable[pytest.Mark]) -> list[Hashable]:
    """Return the value of each factor of a test's parameters, as identities.

    The arguments of one decorator are one factor, and so is each parametrised fixture.

    Parameters
    ----------
    parameters
        Name -> value of one repetition.
    marks
        The marks ``parametrize`` of the test.
    """
    values = {name: id(value) for name, value in parameters.items()}
    joint = [_names(mark.args[0]) for mark in marks]
    single = values.keys() - {name for names in joint for name in names}
    groups = [*joint, *([name] for name in sorted(single))]
    return [tuple(values[name] for name in names) for names in groups]


def _names(argnames: str | Sequence[str]) -> list[str]:
    listed = argnames.split(",") if isinstance(argnames, str) else argnames
    return [name.strip() for name in listed if name.strip()]


def mark_combinations(items: Iterable[pytest.Item]) -> None:
    """Mark as long what a covering of a product of parameters leaves out."""
    for repetitions in by_test(item for item in items if not item.get_closest_marker("long")):
        cases = [
            factors(_parameters(item), item.iter_markers("parametrize")) for item in repetitions
        ]
        if len(cases[0]) > 1:
            for position in set(range(len(cases))).difference(covering(cases)):
                repetitions[position].add_marker("long")


def _parameters(item: pytest.Item) -> dict[str, Any]:
    return getattr(getattr(item, "callspec", None), "params", {})


def leave_out_combinations(metafunc: pytest.Metafunc) -> None:
    """Make no tests of long repetitions, nor of what `mark_combinations` would mark as long."""
    calls = [call for call in metafunc._calls if all(mark.name != "long" for mark in call.marks)]
    if len(calls) > 1:
        marks = list(metafunc.definition.iter_markers("parametrize"))
        cases = [factors(call.params, marks) for call in calls]
        positions = covering(cases) if len(cases[0]) > 1 else range(len(cases))
        metafunc._calls = [calls[position] for position in positions]


def leave_out_repetitions(metafunc: pytest.Metafunc, each: int) -> None:
    """Make only so many tests of a function, if ``each`` > 0, those that `spread` chooses.

    Where repetitions have marks, all are made: a selection by ``-m`` comes before the choice.
    """
    calls = metafunc._calls
    if each and not any(call.marks for call in calls):
        metafunc._calls = [calls[position] for position in spread(len(calls), each)]


def left_out() -> bool:
    """Say whether tests of long repetitions are not made."""
    return _left_out


def leave_out(selection: str) -> None:
    """Make no tests of long repetitions from here on, if a selection (pytest's ``-m``) drops all.

    Two tests of three are long ones: a worker would take seconds to collect and to deselect them.
    """
    global _left_out
    _left_out = "not long" in selection.split(" and ")


def in_long_run() -> bool:
    """Say whether tests of hypothesis have all their examples (HYPOTHESIS_PROFILE is not `few`)."""
    return os.environ.get("HYPOTHESIS_PROFILE", "few") != "few"


def examples(many: int, few: int = FEW) -> int:
    """Return how many examples hypothesis draws: `many` in the long run, else `few` at most."""
    return many if in_long_run() else min(many, few)


def drawn(name: str, share: float, seed: int) -> bool:
    """Draw a test with probability `share`; the same name and seed always give the same answer.

    The other tests of a run have no part in it: what failed in a share of the whole suite is drawn
    again, with that seed, in a run of its file alone.
    """
    return random.Random(f"{seed} {name}").random() < share
