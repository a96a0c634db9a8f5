"""Generated rows in parts: each part alone is the same, and their margin is as large as stated."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError
from sklearn.linear_model import SGDClassifier

from perceptron_lab.algorithms.external.linear_models import Sgd
from perceptron_lab.cones.operators.row_source import LEAST_MEMORY, ArrayRows
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.goals import Budget
from perceptron_lab.core.results import Status
from perceptron_lab.datasets.generated.rows_in_parts import RowsInParts
from perceptron_lab.solving.entry import solve
from tests.repetitions import repeated

SMALL = RowsInParts(rows=2500, dimension=5, part_rows=1000)


def whole(dataset: RowsInParts, seed: int = 0) -> np.ndarray:
    return np.vstack([rows for part in dataset.parts(seed) for _, rows in part.blocks()])


def test_a_part_alone_is_the_part_of_all() -> None:
    first, again = SMALL.parts(3), SMALL.parts(3)
    assert [part.shape[0] for part in first] == [1000, 1000, 500]
    alone = pickle.loads(pickle.dumps(again[1]))
    assert len(pickle.dumps(again[1])) < 1000
    np.testing.assert_array_equal(
        np.vstack([r for _, r in alone.blocks()]), whole(SMALL, 3)[1000:2000]
    )
    assert not np.array_equal(whole(SMALL, 3), whole(SMALL, 4))
    assert not np.array_equal(first[0][np.arange(500)], first[2][np.arange(500)])


def test_rows_do_not_depend_on_the_memory_and_are_read_by_number() -> None:
    dataset = RowsInParts(rows=70_000, dimension=40)
    (part,) = dataset.parts(0)
    (small,) = RowsInParts(rows=70_000, dimension=40, memory=LEAST_MEMORY).parts(0)
    assert small.step < part.step
    spans = [at for at, _ in small.blocks()]
    assert [at.start for at in spans] == [0, *(at.stop for at in spans[:-1])]
    rows = whole(dataset)
    np.testing.assert_array_equal(np.vstack([block for _, block in small.blocks()]), rows)
    indices = np.array([69_999, 3, 65_536, 3, 65_535])
    np.testing.assert_array_equal(part[indices], rows[indices])


@pytest.mark.parametrize(
    ("dimension", "gap"), repeated([(2, 0.001), (20, 0.02), (1000, 0.001), (7, 1.0)], kept=2)
)
def test_the_margin_is_at_least_the_stated_one(dimension: int, gap: float) -> None:
    dataset = RowsInParts(rows=20_000, dimension=dimension, gap=gap)
    rows = whole(dataset).astype(float)
    direction = dataset.parts(0)[0]._direction.astype(float)
    scores = rows @ direction / np.linalg.norm(rows, axis=1) / dimension**0.5
    assert 0.0 < dataset.margin <= scores.min()
    assert scores.min() < 20 * dataset.margin


def test_sgd_passes_one_block_after_the_other_to_partial_fit() -> None:
    system: Any = SMALL.problem(0).system
    algorithm = Sgd(longest=1)
    state, claim = algorithm.step(system, algorithm.start(system, np.random.default_rng(1)), 1)
    assert claim is not None
    assert state.iterations == 1
    seed = int(np.random.default_rng(1).integers(2**31))
    model = SGDClassifier(
        loss="hinge",
        alpha=1e-9,
        learning_rate="constant",
        eta0=1.0,
        fit_intercept=False,
        random_state=seed,
    )
    rows = whole(SMALL).astype(float)
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    signs = np.where(np.arange(len(rows)) % 2 == 0, 1.0, -1.0)
    for part in np.split(np.arange(len(rows)), [1000, 2000]):
        model.partial_fit(rows[part] * signs[part, None], signs[part], classes=[-1.0, 1.0])
    np.testing.assert_allclose(state.point, model.coef_[0], rtol=1e-9)


def test_sgd_ends_in_time_and_doubles_its_passes() -> None:
    rows = np.array([[1.0, 0.0], [-1.0, 0.0], [1.0, 2.0]])
    source = ArrayRows(rows)
    result = solve(source, Sgd(longest=4), budget=Budget(seconds=5.0))
    assert result.status is not Status.FEASIBLE
    assert result.iterations == 1 + 2 + 4


def test_the_instance_is_solved_and_named_by_what_determines_it() -> None:
    problem = SMALL.load("parts-5x2500-0.02-1000", seed=0, base=None)  # type: ignore[arg-type]
    result = solve(problem.system)
    assert result.status is Status.FEASIBLE
    assert (whole(SMALL).astype(float) @ result.point > 0).all()
    assert problem.facts.margin == SMALL.margin
    assert problem.measure is not None
    assert problem.measure(result.point) == {"bytes_per_pass": whole(SMALL).nbytes}
    assert problem.sha256 != SMALL.problem(1).sha256
    with pytest.raises(InputError, match="seed -1"):
        SMALL.problem(-1)
    for wrong in ({"rows": 0}, {"gap": 0.0}, {"dimension": 1}, {"part_rows": 0}):
        with pytest.raises(ValidationError):
            TypeAdapter(RowsInParts).validate_python(wrong)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
def test_workers_prove_a_point_of_the_same_rows() -> None:
    pytest.importorskip("distributed")
    parameters = {"rows": 3000, "dimension": 4, "part_rows": 1000}
    one = RowsInParts(**parameters).problem(0)
    several = RowsInParts(**parameters, workers=1).problem(0)
    assert (several.name, several.sha256) == (one.name, one.sha256)
    result = solve(several.system)
    assert result.status is Status.FEASIBLE
    figures = result.certificate["figures"]
    assert figures["claimed_passes"] == result.certificate["passes"] >= 1
    assert 5e7 < figures["claimed_worker_memory"] < 2e9
    assert figures["claimed_worker_seconds"] > 0
    assert several.measure is not None
    assert figures["bytes_per_pass"] == several.measure(result.point)["bytes_per_pass"] == 48_000
    assert one.system.prove_point(result.point).feasible  # type: ignore[attr-defined]
