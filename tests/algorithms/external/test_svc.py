"""The reference solver: its answers are proved, or not believed."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import SVC

from perceptron_lab.algorithms.external.linear_models import Svc
from perceptron_lab.cones.operators.kernels import Linear, Rbf
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.goals import Budget
from perceptron_lab.core.results import Status
from perceptron_lab.solving.entry import solve
from perceptron_lab.systems import ConicSystem
from tests.families import exact_margin, infeasible, planted
from tests.repetitions import repeated


@pytest.mark.parametrize("seed", repeated(range(5), kept=2))
def test_the_machine_finds_the_largest_margin(seed):
    rows = planted(5, 40, 0.05, np.random.default_rng(seed))[0]
    result = solve(rows, Svc(tolerance=1e-6))
    assert result.status is Status.FEASIBLE
    assert result.margin_lower == pytest.approx(exact_margin(rows)[0], rel=1e-4)
    assert result.margin_upper == pytest.approx(result.margin_lower, rel=1e-3)


def test_kernel_and_rows_agree():
    rng = np.random.default_rng(1)
    examples = rng.standard_normal((40, 3))
    labels = examples[:, 0] > 0
    kernel = solve(ConicSystem.from_kernel(Linear(), examples, labels), "svc")
    rows = solve(ConicSystem.from_labelled(examples, labels, affine=False), "svc")
    assert kernel.status is rows.status is Status.FEASIBLE
    assert kernel.margin_lower == pytest.approx(rows.margin_lower, rel=1e-2)


def test_it_separates_what_a_kernel_separates():
    rng = np.random.default_rng(2)
    examples = rng.standard_normal((60, 4))
    labels = np.sum(examples**2, axis=1) > 3.5
    result = solve(ConicSystem.from_kernel(Rbf(gamma=0.5), examples, labels), "svc")
    assert result.status is Status.FEASIBLE
    assert result.point.shape == (60,)


def test_where_nothing_separates_its_weights_bound_the_margin():
    rows = infeasible(3, 12, np.random.default_rng(3))
    result = solve(rows, Svc(iterations=1000, epsilon=0.5))
    assert result.status in (Status.MARGIN_BOUNDED, Status.INFEASIBLE)
    assert result.proved
    assert result.margin_upper < 0.5
    assert solve(rows, Svc(iterations=1, epsilon=1e-12)).status is Status.UNVERIFIED


def test_only_rows_and_kernels():
    system = ConicSystem.second_order(np.eye(3), [3])
    with pytest.raises(InputError, match="rows and kernels only"):
        solve(system, "svc")


def test_it_is_trained_for_twice_as_long_until_it_separates():
    rows = planted(6, 80, 1e-3, np.random.default_rng(0))[0]
    short = solve(rows, Svc(first=2, iterations=4))
    assert short.status is not Status.FEASIBLE
    assert (short.updates, short.iterations) == (2, 6)
    result = solve(rows, Svc(first=2))
    assert result.status is Status.FEASIBLE
    assert result.updates > 2
    assert result.iterations == 2 * (2**result.updates - 1)
    assert solve(rows, Svc(first=2), budget=Budget(updates=1)).status is Status.UPDATE_LIMIT


def test_sparse_rows_are_the_same_rows():
    rows = planted(6, 40, 0.05, np.random.default_rng(2))[0]
    rows = np.where(abs(rows) < 0.05, 0.0, rows)
    first, second = (solve(data, "svc") for data in (rows, sp.csr_array(rows)))
    assert first.status is second.status is Status.FEASIBLE
    assert first.point == pytest.approx(second.point, rel=1e-2, abs=1e-3)


def test_a_false_answer_of_the_svm_is_not_verified(monkeypatch):
    rows = planted(4, 20, 0.1, np.random.default_rng(0))[0]
    monkeypatch.setattr(Svc, "_train", lambda *_: (np.zeros(20), 0.0, True))
    result = solve(rows, "svc")
    assert result.status is Status.UNVERIFIED
    assert not result.proved


def test_the_reported_iterations_are_those_of_the_svm_and_its_stop_is_reported():
    rows = planted(6, 80, 0.05, np.random.default_rng(0))[0]
    machine = SVC(C=1e6, tol=1e-3, max_iter=10**6, kernel="linear", cache_size=1000.0)
    unit = rows / np.linalg.norm(rows, axis=1)[:, None]
    machine.fit(np.vstack([unit, -unit]), np.repeat([1.0, -1.0], 80))
    result = solve(rows, "svc")
    assert result.iterations == machine.n_iter_[0] < 10**6
    missed = solve(rows, "svc", goal={"margin_ratio": 1 - 1e-15})
    assert not missed.goal_reached
    assert f"LIBSVM converged after {result.iterations} iterations" in missed.message
    short = solve(rows, Svc(first=2, iterations=2))
    assert "LIBSVM stopped at its limit of 2 iterations" in short.message


def two_classes(seed):
    """Return two clouds far from the origin, apart along a random direction."""
    rng = np.random.default_rng(seed)
    labels = np.arange(60) % 3 == 0
    examples = rng.standard_normal((60, 4))
    direction = rng.standard_normal(4)
    examples += np.outer(np.where(labels, 5.0, -5.0), direction / np.linalg.norm(direction))
    return examples + 30.0, labels


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("arranged", [np.asarray, sp.csr_array])
def test_with_a_free_bias_the_geometric_margin_is_attained(seed, arranged):
    examples, labels = two_classes(seed)
    exact = solve(examples, labels, margin="geometric", goal={"margin_ratio": 1 - 1e-6})
    assert exact.goal_reached
    result = solve(arranged(examples), labels, Svc(tolerance=1e-5), margin="geometric")
    assert result.status is Status.FEASIBLE
    assert result.certificate["margin"] == "geometric"
    assert result.margin_lower == pytest.approx(exact.margin_lower, rel=1e-3)
    assert exact.margin_lower <= result.margin_upper
    assert result.margin_upper == pytest.approx(exact.margin_lower, rel=1e-3)
    assert exact.margin_upper >= result.margin_lower


def test_its_bias_is_not_that_of_the_unit_rows():
    """The directional margin of lifted examples far from the origin has a worse hyperplane."""
    examples, labels = two_classes(0)
    geometric = solve(examples, labels, Svc(tolerance=1e-5), margin="geometric")
    system = ConicSystem.from_labelled(examples, labels, margin="directional")
    directional = solve(system, Svc(tolerance=1e-5))
    lifted = ConicSystem.from_labelled(examples, labels, margin="geometric")
    other = lifted.prove_point(directional.point)
    assert other.margin_lower < 0.99 * geometric.margin_lower


def test_overlapping_classes_have_no_geometric_margin():
    examples, labels = two_classes(1)
    result = solve(examples, np.roll(labels, 1), Svc(iterations=2000), margin="geometric")
    assert result.status is not Status.FEASIBLE
    assert result.margin_upper == pytest.approx(0.0, abs=0.5)


def test_examples_on_disk_are_refused(tmp_path):
    examples, labels = two_classes(2)
    np.save(tmp_path / "x.npy", examples)
    source = np.load(tmp_path / "x.npy", mmap_mode="r")
    system = ConicSystem.from_labelled(source, labels, margin="geometric", memory=2**20)
    with pytest.raises(InputError, match="read in blocks"):
        solve(system, "svc")
