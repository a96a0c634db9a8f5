"""Cuts rounded from the relaxation: exact values, the guarantee, and improvement by flips."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.generated.maxcut import graph_of
from perceptron_lab.problems.optima.maxcut.cuts import (
    Cut,
    cut_of,
    hyperplane_signs,
    improved,
    rounded,
    values_of,
)
from perceptron_lab.problems.optima.maxcut.program import MaxCutProgram

SEEDS = st.integers(0, 2**32)
GUARANTEE = 0.87856
"""Goemans and Williamson's constant, rounded down."""


def program_of(name: str, seed: int = 0) -> MaxCutProgram:
    edges = graph_of(name, seed).tocoo()
    upper = edges.coords[0] < edges.coords[1]
    rows, columns = (end[upper] for end in edges.coords)
    return MaxCutProgram.of_graph(edges.shape[0], rows, columns, edges.data[upper])


def solution(program: MaxCutProgram, rank: int = 8, sweeps: int = 300) -> FloatArray:
    """Return nearly optimal unit rows, by plain coordinate ascent."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((program.order, rank))
    weights = program.weights.toarray()
    for _ in range(sweeps):
        for i in range(program.order):
            pull = weights[i] @ rows
            if pull.any():
                rows[i] = pull / np.linalg.norm(pull)
    return np.asarray(rows / np.linalg.norm(rows, axis=1)[:, None])


def exact_value(program: MaxCutProgram, signs: np.ndarray) -> Fraction:
    """<C, ss'> in rational arithmetic."""
    rows, columns, values = program.edges
    total = sum(map(Fraction, program.diagonal.tolist()), Fraction(0))
    for i, j, value in zip(rows.tolist(), columns.tolist(), values.tolist(), strict=True):
        total += 2 * Fraction(value) * int(signs[i]) * int(signs[j])
    return total


@given(st.sampled_from(["random-20-60", "planar-20-54-pm1", "torus-5x4"]), SEEDS)
@settings(max_examples=20)
def test_the_value_is_the_weight_of_the_cut(name: str, seed: int) -> None:
    """<C, ss'> with C = L / 4 is the weight between the sides, and exact for whole weights."""
    weights = graph_of(name, 1).toarray()
    signs = np.random.default_rng(seed).choice([-1, 1], len(weights)).astype(np.int8)
    cut = cut_of(program_of(name, 1), signs)
    between = weights[np.ix_(signs > 0, signs < 0)].sum()
    assert cut.exact
    assert cut.value == between


@given(SEEDS, st.sampled_from([0, 1]))
@settings(max_examples=40)
def test_values_of_other_numbers_are_proved_from_below(seed: int, roundings: int) -> None:
    """At most the rational value, and by less than a unit in the last place if C is meant so."""
    rng = np.random.default_rng(seed)
    size = rng.choice([1e-3, 1.0, 1e12], 15)
    original = MaxCutProgram.of_graph(6, *np.triu_indices(6, 1), rng.standard_normal(15) * size)
    program = MaxCutProgram(original.diagonal, original.weights, roundings)
    signs = rng.choice([-1, 1], 6).astype(np.int8)
    cut, value = cut_of(program, signs), exact_value(program, signs)
    assert cut.exact == (not roundings and Fraction(cut.value) == value)
    assert Fraction(cut.value) <= value
    if roundings:
        assert Fraction(cut.value) < value
    else:
        assert Fraction(math.nextafter(cut.value, math.inf)) > value


def test_rounded_data_are_within_the_bound_of_any_numbers_meant() -> None:
    """Every entry moved by its half unit against the cut."""
    half = Fraction(1, 2**53)
    program = program_of("random-12-30")
    signs = np.where(np.arange(12) % 2, 1, -1).astype(np.int8)
    rows, columns, values = program.edges
    terms = [Fraction(value) for value in program.diagonal.tolist()]
    pairs = zip(rows.tolist(), columns.tolist(), values.tolist(), strict=True)
    terms += [2 * Fraction(c) * int(signs[i] * signs[j]) for i, j, c in pairs]
    worst = sum((term - half * abs(term) for term in terms), Fraction(0))
    doubtful = MaxCutProgram(program.diagonal, program.weights, roundings=1)
    assert Fraction(cut_of(doubtful, signs).value) <= worst


@pytest.mark.parametrize("name", ["random-40-120", "planar-40-114", "torus-5x7-unit"])
def test_hyperplanes_reach_the_guarantee_on_average(name: str) -> None:
    """E <C, ss'> >= 0.87856 <C, X> for weights that are not negative; and its own formula.

    E s_i s_j = (2 / pi) arcsin(v_i'v_j) holds for any unit rows: the mean of 4000 cuts lies within
    five standard errors of it.
    """
    program = program_of(name)
    vectors = solution(program, sweeps=60)
    rows, columns, values = program.edges
    cosines = np.einsum("ij,ij->i", vectors[rows], vectors[columns])
    relaxed = program.diagonal.sum() + 2.0 * (values * cosines).sum()
    angles = 2.0 / np.pi * np.arcsin(np.clip(cosines, -1.0, 1.0))
    expected = program.diagonal.sum() + 2.0 * (values * angles).sum()
    cut_values = values_of(program, hyperplane_signs(vectors, np.random.default_rng(1), 4000))
    error = 5.0 * cut_values.std() / np.sqrt(4000) + 1e-9 * relaxed
    assert abs(cut_values.mean() - expected) < error
    assert expected >= GUARANTEE * relaxed
    assert cut_values.mean() >= GUARANTEE * relaxed - error


def test_the_best_cut_of_small_graphs_is_reached_and_never_exceeded() -> None:
    """All 2^10 cuts of graphs with 11 vertices: rounded cuts are at most the best, and reach it."""
    for seed in range(3):
        program = program_of("random-11-25-pm1", seed)
        sides = (np.arange(2**10)[:, None] >> np.arange(11)) & 1
        best = values_of(program, np.where(sides, 1, -1).astype(np.int8)).max()
        cut = rounded(program, solution(program, sweeps=40))
        assert cut.value <= best
        assert cut.value == best


@given(st.sampled_from(["random-30-90-pm1", "torus-6x6", "random-30-90"]), SEEDS)
@settings(max_examples=20)
def test_no_flip_improves_an_improved_cut(name: str, seed: int) -> None:
    program = program_of(name)
    begun = np.random.default_rng(seed).choice([-1, 1], program.order).astype(np.int8)
    better = improved(program, begun[None])[0]
    assert values_of(program, better[None])[0] >= values_of(program, begun[None])[0]
    assert (better * (program.weights @ better) >= 0.0).all()


def test_flips_of_inexact_weights_end() -> None:
    """Weights of all sizes: no cycle, as each flip gains in truth."""
    rng = np.random.default_rng(3)
    weights = rng.standard_normal(190) * 10.0 ** rng.integers(-9, 9, 190)
    program = MaxCutProgram.of_graph(20, *np.triu_indices(20, 1), weights)
    begun = rng.choice([-1, 1], 20).astype(np.int8)
    improvement = improved(program, begun[None], flips=2000)
    assert (improved(program, improvement, flips=2000) == improvement).all()
    improvement = improvement[0]
    assert exact_value(program, improvement) >= exact_value(program, begun)


def test_a_seed_determines_the_cut_and_rows_need_no_length() -> None:
    program = program_of("planar-60-250-pm1")
    vectors = solution(program, sweeps=20)
    first = rounded(program, vectors, seed=4, improve=False)
    lengths = np.linspace(0.5, 3.0, 60)[:, None]
    again = rounded(program, vectors * lengths, seed=4, improve=False)
    assert (first.signs == again.signs).all()
    assert first.value == again.value
    assert rounded(program, vectors, seed=4).value >= first.value
    few = rounded(program, vectors, count=3, seed=4, improve=False)
    assert few.value <= first.value


def test_the_ratio_is_rounded_down() -> None:
    signs = np.ones(1, np.int8)
    for upper in (1.1, 3.0, 7.0):
        ratio = Cut(signs, 1.0, True).ratio(upper)
        assert ratio is not None
        assert Fraction(ratio) <= 1 / Fraction(upper)
    assert Cut(signs, 0.0, True).ratio(1.0) is None
    assert Cut(signs, 1.0, True).ratio(math.inf) is None


@pytest.mark.parametrize("signs", [np.ones(4, np.int8), np.zeros(5, np.int8)])
def test_signs_of_no_cut_are_refused(signs: np.ndarray) -> None:
    with pytest.raises(InputError, match=r"allowed: \+1 or -1 for each of 5 vertices"):
        cut_of(program_of("random-5-6"), signs)
