"""The compiled test of a diagonal that dominates decides as the checker does, in whole numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perceptron_lab.exact import checker as compiled
from perceptron_lab.exact.checker import _dominated, checker
from perceptron_lab.experiments.certifying.certify import certify
from tests.experiments.certified import certified
from tests.repetitions import parts

Entries = dict[tuple[int, int], int]


def accepted(entries: Entries, factor: list[Any]) -> bool:
    try:
        checker().require_definite(entries, factor)
    except checker().Refuted:
        return False
    return True


def drawn_entries(rng: np.random.Generator, shift: int) -> tuple[Entries, int, list[Any]]:
    """Return 2^s M near LL' with residuals that dominate by 1, by nothing, or not."""
    order, bits = int(rng.integers(1, 9)), int(rng.integers(1, 52))
    table = [
        [int(rng.integers(-(2**bits), 2**bits)) if rng.random() < 0.6 else 0 for _ in range(order)]
        for _ in range(order)
    ]
    expected = rng.integers(-3, 4, (order, order)).tolist()
    table[0][0] = table[0][0] or 1  # the checker alone decides on factors without an entry
    entries: Entries = {}
    for i in range(order):
        for j in range(i, order):
            entries[i, j] = sum(a * b for a, b in zip(table[i], table[j], strict=True))
            if i < j and rng.random() < 0.7:
                entries[i, j] += expected[i][j]
    exceeding = int(rng.integers(-1, 2))
    for i in range(order):
        rest = (abs(expected[min(i, j)][max(i, j)]) for j in range(order) if j != i)
        entries[i, i] += sum(rest) + exceeding
    columns = []
    for k in range(order):
        indices = [i for i in range(order) if table[i][k]]
        columns.append([indices, [table[i][k] for i in indices]])
    if shift < 0:
        entries = {position: value << -shift for position, value in entries.items()}
    return entries, order, [shift, *columns]


@pytest.mark.parametrize("shift", [0, -3, -60])
@pytest.mark.parametrize("seeds", parts(3000, kept=150))
def test_it_decides_as_the_checker_does(seeds: range, shift: int) -> None:
    counts = {True: 0, False: 0}
    for seed in seeds:
        arguments = drawn_entries(np.random.default_rng(seed), shift)
        dominated = _dominated(checker(), *arguments)
        plain = accepted(arguments[0], arguments[2])
        assert plain or not dominated, seed
        if shift == 0:
            assert dominated == plain, seed
        counts[dominated] += 1
    assert counts[False]
    assert counts[True] or shift


def test_scaled_matrices_are_decided_with_room() -> None:
    entries = {(0, 0): 7 << 40, (0, 1): (3 << 40) + 1, (1, 1): 9 << 40}
    factor = [-40, [[0, 1], [1, 1]]]
    assert _dominated(checker(), entries, 2, factor)
    assert not _dominated(checker(), entries | {(0, 0): 4 << 40}, 2, factor)
    assert _dominated(checker(), {(0, 0): 3, (1, 1): 5}, 2, [4, [[0], [6]], [[1], [8]]])


@pytest.mark.parametrize(
    "factor",
    [
        [0, [[0], [1, 2]]],  # another number of values
        [0, [[0, 0], [1, 2]]],  # two in one place
        [0, [[1, 0], [1, 2]]],  # places that do not increase
        [0, [[5], [1]]],
        [0, [[-1], [1]]],
        [0, [[0], [True]]],
        [0, [[0], [1.0]]],
        [0.0],
        [1 << 30],
    ],
)
def test_malformed_factors_are_refused_by_both(factor: list[Any]) -> None:
    entries = {(0, 0): 2**130, (1, 1): 2**130}
    with pytest.raises(ValueError, match=r"number|places|list|zip"):
        _dominated(checker(), entries, 2, factor)
    with pytest.raises(ValueError, match=r"number|places|list|zip"):
        checker().require_definite(entries, factor)


@pytest.mark.parametrize("factor", [[0, [[0], [2**60]]], [0]])
def test_undecided_factors_are_left_to_the_checker(factor: list[Any]) -> None:
    assert not _dominated(checker(), {(0, 0): 2**130, (1, 1): 2**130}, 2, factor)


def test_sums_that_words_do_not_hold_are_left_to_the_checker() -> None:
    entries = {(i, j): 2**100 if i < j else 2**106 for i in range(9) for j in range(i, 9)}
    factor = [0, [[0], [1]]]
    assert accepted(entries, factor)
    assert not _dominated(checker(), entries, 9, factor)


def test_the_module_calls_the_checker_where_it_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "SMALLEST", 1)
    module = compiled.compiled_checker()
    assert module is not checker()
    module.require_definite({(0, 0): 10}, [0, [[0], [3]]])
    module.require_definite({(0, 0): 2**200}, [0, [[0], [3 * 2**90]]])
    with pytest.raises(module.Refuted):
        module.require_definite({(0, 0): 9}, [0, [[0], [3]]])
    with pytest.raises(ValueError, match="do not rise"):
        module.require_definite({(0, 0): 10}, [0, [[0, 0], [1, 1]]])


@pytest.mark.slow
def test_factors_that_are_written_are_decided_by_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = {"dataset": "maxcut", "instances": ["random-310-450"]}
    path = certified(tmp_path, problem, {"name": "low-rank"}, goal={"width": 1e-8})
    calls: list[tuple[bool, bool]] = []

    def decided(module: Any, entries: Entries, order: int, factor: list[Any]) -> bool:
        dominated = _dominated(module, entries, order, factor)
        calls.append((order >= compiled.SMALLEST, dominated))
        return dominated

    monkeypatch.setattr(compiled, "_dominated", decided)
    (cell,) = certify(path, tmp_path / "exact").cells
    assert cell.claims == ("objective at most", "objective at least")
    assert (True, True) in calls
    assert cell.path is not None
    assert checker().main([cell.path]) == 0
