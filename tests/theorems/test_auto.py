"""`auto` answers with a proof: on every family of rows, on kernels, on cones."""

import re

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab.algorithms.automatic import conic
from perceptron_lab.algorithms.automatic.auto import Auto
from perceptron_lab.algorithms.interior_point import interior_point, path_in_balls
from perceptron_lab.cones.operators.kernels import Linear, Rbf
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.core.goals import Budget
from perceptron_lab.core.results import Status
from perceptron_lab.datasets.generated.conditioned_cones import ConditionedCones
from perceptron_lab.solving.entry import solve
from perceptron_lab.systems import ConicSystem
from tests.families import complete_pattern, exact_margin, infeasible, planted, planted_pencil
from tests.repetitions import parts, repeated

SEEDS = range(20)


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
@pytest.mark.parametrize("margin", [1e-2, 1e-4, 1e-6, 1e-8, 1e-10])
def test_margins_of_every_size_are_found(margin, seed):
    rng = np.random.default_rng(seed)
    rows = planted(2 + seed, 60 + 10 * seed, margin, rng)[0]
    result = solve(rows, "auto", seed=seed)
    assert result.status is Status.FEASIBLE
    assert 0.0 < result.margin_lower <= margin * (1.0 + 1e-4)
    assert (rows @ result.point > 0).all()


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_infeasible_rows_are_proved_infeasible(seed):
    rng = np.random.default_rng(seed)
    rows = infeasible(2 + seed, 60 + 10 * seed, rng)
    result = solve(rows, "auto", seed=seed)
    assert result.status is Status.INFEASIBLE
    assert result.margin_upper == 0.0
    length = np.abs(rows).T @ result.weights
    assert (np.abs(rows.T @ result.weights) <= 1e-9 * length).all()


@pytest.mark.parametrize("factor", [0.5, 1.0, 1.5, 1.9, 2.1, 2.5, 4.0])
@pytest.mark.parametrize("seed", repeated(range(5), kept=1))
def test_gaussian_rows_on_both_sides_of_the_critical_number(factor, seed):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((int(30 * factor), 30))
    result = solve(rows, "auto", seed=seed)
    largest = exact_margin(rows / np.linalg.norm(rows, axis=1)[:, None])[0]
    feasible = largest > 1e-9
    assert result.status is (Status.FEASIBLE if feasible else Status.INFEASIBLE)


def test_large_sets_are_priced_a_few_times_only():
    rng = np.random.default_rng(3)
    rows = planted(20, 20_000, 1e-3, rng)[0]
    result = solve(rows, "auto")
    assert result.status is Status.FEASIBLE
    assert result.products <= 20


@pytest.mark.parametrize("seed", repeated(range(5), kept=2))
def test_sparse_rows_kernels_and_labels(seed):
    rng = np.random.default_rng(seed)
    rows = planted(6, 50, 0.02, rng)[0]
    assert solve(sp.csr_array(rows), "auto").status is Status.FEASIBLE
    labels = np.where(rng.uniform(size=50) < 0.5, 1.0, -1.0)
    gram = ConicSystem.from_kernel(Linear(), rows * labels[:, None], labels)
    assert solve(gram, "auto").status is Status.FEASIBLE
    examples = rng.standard_normal((40, 2))
    xor = ConicSystem.from_kernel(Rbf(gamma=2.0), examples, examples[:, 0] * examples[:, 1] > 0)
    assert solve(xor, "auto").status is Status.FEASIBLE


@pytest.mark.parametrize("seed", repeated(range(5), kept=2))
def test_cones(seed):
    system = planted_pencil(5, 4, 0.05, np.random.default_rng(seed))[0]
    assert solve(system, "auto", seed=seed).status is Status.FEASIBLE


@pytest.mark.parametrize("unit", repeated([1e-100, 1e3, 1e-20, 1e-9], kept=2))
def test_the_unit_of_the_data_does_not_change_what_is_decided(unit):
    rng = np.random.default_rng(5)
    matrices = [random + random.T for random in rng.standard_normal((3, 4, 4))]
    inside = sum(matrices) - 0.1 * np.eye(4)
    pencil = ConicSystem.from_matrices(unit * inside, [unit * matrix for matrix in matrices])
    balls = ConicSystem.second_order(unit * rng.standard_normal((9, 6)), [3, 4, 2])
    none = ConicSystem.from_matrices(unit * np.eye(3), [unit * np.diag([1.0, -1.0, 0.0])])
    statuses = [solve(system).status for system in (pencil, balls, none)]
    assert statuses == [Status.FEASIBLE, Status.FEASIBLE, Status.INFEASIBLE]


def test_equal_seeds_give_equal_iterates_and_notes():
    rows = planted(15, 3000, 1e-5, np.random.default_rng(4))[0]
    first, second = (solve(rows, Auto(first=2, growth=1), seed=9) for _ in range(2))
    assert np.array_equal(first.point, second.point)
    assert first.certificate["notes"] == second.certificate["notes"]
    pattern = r"a separator of \d+ rows, chosen in \d+ rounds, was sought by "
    assert re.match(pattern, first.certificate["notes"][0])


def test_the_message_names_the_algorithm_that_continued_with_another_cone():
    system = planted_pencil(5, 4, 0.05, np.random.default_rng(0))[0]
    result = solve(system, "auto", goal={"margin_ratio": 0.9}, budget=Budget(updates=500))
    (note,) = result.certificate["notes"]
    assert re.fullmatch(r"(\d+ updates? of [a-z-]+, then )+smoothed-von-neumann", note)


def test_a_goal_on_the_upper_bound_ends_with_weights():
    rows = np.random.default_rng(5).standard_normal((200, 20))
    result = solve(rows, "auto", goal={"margin_upper": 1e-3}, budget=Budget(updates=100))
    assert result.status in (Status.INFEASIBLE, Status.MARGIN_BOUNDED)
    assert result.margin_upper <= 1e-3


@pytest.mark.parametrize("side", ["feasible", "infeasible"])
@pytest.mark.parametrize("family", ["second-order", "semidefinite", "mixed"])
def test_badly_centred_cones_are_decided_by_newtons_method(family, side):
    system = ConditionedCones(family=family, delta=1e-3, side=side).problem(0).system
    result = solve(system, "auto")
    assert result.status is (Status.FEASIBLE if side == "feasible" else Status.INFEASIBLE)
    assert re.fullmatch(r"\d+ updates of von-neumann, then interior-point", note_of(result))
    assert result.updates < 60


def test_where_double_precision_ends_the_path_rescaling_continues(monkeypatch):
    monkeypatch.setattr(interior_point, "LEAST_THETA", 0.5)
    system = ConditionedCones(family="second-order", blocks=3, delta=0.3).problem(0).system
    result = solve(system, "auto")
    assert result.status is Status.FEASIBLE
    assert note_of(result).endswith("of interior-point, then projection-rescaling")


@pytest.mark.slow
@pytest.mark.parametrize("delta", repeated([1e-7, 1e-8], kept=1))
@pytest.mark.parametrize("seeds", parts(3, kept=1))
def test_the_final_claim_of_the_path_waits_for_rescaling(delta, seeds):
    """Interior-point alone bounds the margin; what comes after it proves that there is none."""
    record = ConditionedCones(
        family="second-order", blocks=6, block_size=4, side="infeasible", delta=delta
    )
    for seed in seeds:
        system = record.problem(seed).system
        alone, result = solve(system, "interior-point"), solve(system, "auto")
        assert alone.status in (Status.INFEASIBLE, Status.MARGIN_BOUNDED)
        assert result.status is Status.INFEASIBLE


@pytest.mark.slow
def test_a_bound_waits_for_the_path_with_more_digits(monkeypatch):
    """What rescaling bounds is decided by it; or the bound is the answer in the end."""
    record = ConditionedCones(
        family="second-order", blocks=5, block_size=4, side="infeasible", delta=1e-8
    )
    system = record.problem(3).system
    result = solve(system, "auto")
    assert result.status is Status.INFEASIBLE
    assert note_of(result).endswith("of projection-rescaling, then path-in-balls")
    monkeypatch.setattr(path_in_balls, "STEPS", 0)
    bounded = solve(system, "auto")
    assert bounded.status is Status.MARGIN_BOUNDED
    assert 0.0 < bounded.margin_upper < 1e-9


def test_an_unfinished_path_with_more_digits_is_worth_the_bound_of_its_weights(monkeypatch):
    """Where nothing before it has come to a claim."""
    monkeypatch.setattr(interior_point, "LEAST_THETA", 0.5)
    monkeypatch.setattr(conic, "LIGHT", 0.0)
    record = ConditionedCones(
        family="second-order", blocks=4, block_size=3, side="infeasible", delta=1e-8
    )
    system = record.problem(0).system
    result = solve(system, "auto")
    assert result.status is Status.INFEASIBLE
    assert note_of(result).endswith("of interior-point, then path-in-balls")
    monkeypatch.setattr(path_in_balls, "STEPS", 35)
    bounded = solve(system, "auto", budget=Budget(updates=500))
    assert bounded.status is Status.MARGIN_BOUNDED
    assert 0.0 < bounded.margin_upper <= 1e-9
    assert note_of(bounded) == note_of(result)


def touching(order, rng):
    """A system of whole numbers that meets the cone at its boundary alone, and weights that say so.

    With an integer matrix T of determinant 1 the score T'^-1 diag(0, I) T^-1 is attained, and
    W = T diag(I, 0) T' has A W = 0.
    """
    cone, half, turn = complete_pattern(order), order // 2, np.eye(order)
    for _ in range(2 * order):
        i, j = rng.choice(order, 2, replace=False)
        turn[i] += rng.choice([-1, 1]) * turn[j]
    back, at = np.rint(np.linalg.inv(turn)), (cone.rows, cone.columns)
    weights = (turn[:, :half] @ turn[:, :half].T)[at] * cone.multiplicity
    touching_columns = rng.integers(-3, 4, (cone.size, 2)) * weights[0]
    touching_columns[0] = -(weights[1:] @ touching_columns[1:]) / weights[0]
    return cone, np.column_stack([(back[half:].T @ back[half:])[at], touching_columns]), weights


@pytest.mark.parametrize("seed", repeated([10, *range(20)], kept=1))
def test_where_the_boundary_alone_is_met_the_margin_is_bounded(seed):
    """The bound that is claimed in the end is no smaller than what is proved."""
    cone, data, weights = touching(6, np.random.default_rng(seed))
    assert not (weights @ data).any()
    assert (data == np.rint(data)).all()
    result = solve(ConicSystem(Matrix(data), cone), "auto", budget=Budget(seconds=60))
    assert result.status in (Status.INFEASIBLE, Status.MARGIN_BOUNDED)
    assert 0.0 <= result.margin_upper <= 1e-9
    data[:, 0] *= 2.0**300  # no such bound is proved, and what waited is claimed once
    scaled = solve(ConicSystem(Matrix(data), cone), "auto", budget=Budget(seconds=60))
    assert scaled.status is not Status.FEASIBLE
    assert scaled.proved or note_of(scaled).endswith("then ellipsoid")


def test_where_double_precision_ends_the_path_the_ellipsoid_method_continues(monkeypatch):
    """On systems too large for rescaling, and for more digits."""
    monkeypatch.setattr(interior_point, "LEAST_THETA", 0.5)
    monkeypatch.setattr(conic, "LIGHT", 0.0)
    monkeypatch.setattr(path_in_balls, "MOST_PRODUCTS", 0)
    system = ConditionedCones(family="second-order", blocks=3, delta=0.3).problem(0).system
    result = solve(system, "auto")
    assert result.status is Status.FEASIBLE
    assert note_of(result).endswith("of interior-point, then ellipsoid")


def test_data_too_large_for_newtons_method_are_left_to_the_ellipsoid_method(monkeypatch):
    monkeypatch.setattr(interior_point, "AFFORDABLE_ENTRIES", 100)
    system = ConditionedCones(family="second-order", blocks=3, delta=0.03).problem(0).system
    result = solve(system, "auto")
    assert result.status is Status.FEASIBLE
    assert note_of(result) == "30 updates of von-neumann, then ellipsoid"


def test_other_goals_are_reached_after_newtons_method():
    system = ConditionedCones(family="semidefinite", known="margin", delta=0.02).problem(1).system
    wide = solve(system, "auto", goal={"margin_ratio": 0.5})
    assert wide.status is Status.FEASIBLE
    assert wide.goal_reached
    assert note_of(wide).endswith("then smoothed-von-neumann")
    ill_posed = ConditionedCones(family="second-order", side="ill-posed", delta=0.1).problem(0)
    bounded = solve(ill_posed.system, "auto", goal={"margin_upper": 1e-5})
    assert bounded.status is Status.MARGIN_BOUNDED
    assert bounded.goal_reached


def note_of(result):
    (note,) = result.certificate["notes"]
    return note


@pytest.mark.parametrize("algorithm", ["auto", "minimum-norm-point", "nnls"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_equal_examples_with_different_labels_are_a_contradiction(form, algorithm):
    rng = np.random.default_rng(0)
    examples = rng.standard_normal((12, 4))
    examples[7] = examples[2]
    labels = np.where(examples[:, 0] > 0.0, 1.0, -1.0)
    labels[7] = -labels[2]
    result = solve(ConicSystem.from_labelled(form(examples), labels), algorithm)
    assert result.status is Status.INFEASIBLE
    assert result.proved
