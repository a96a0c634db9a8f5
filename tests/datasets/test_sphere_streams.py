"""Streams on the sphere and on ellipsoids: lengths, moments, labels of a hyperplane."""

from __future__ import annotations

import numpy as np
import pytest

from perceptron_lab.core.errors import InputError
from perceptron_lab.datasets.generated.sphere_streams import SphereStreams
from tests.repetitions import repeated


@pytest.mark.parametrize("seed", repeated(range(20), kept=2))
def test_examples_lie_on_the_sphere_and_labels_on_both_sides(seed: int) -> None:
    (task,) = SphereStreams(dimension=4, rows=3000).problem(seed).tasks
    rows = np.asarray(task.examples)
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(3000))
    assert np.abs(rows.T @ rows / 3000 - np.eye(4) / 4).max() < 0.03
    assert abs(task.labels.mean()) < 0.1
    normal = (task.labels[:, None] * rows).mean(axis=0)
    test = np.asarray(task.test_examples)
    assert (np.sign(test @ normal) == task.test_labels).mean() > 0.93


def test_a_stretched_stream_has_axes_of_this_condition() -> None:
    (task,) = SphereStreams(dimension=4, rows=4000, stretch=50.0).problem(0).tasks
    rows = np.asarray(task.examples)
    lengths = np.sqrt(np.linalg.eigvalsh(rows.T @ rows / 4000))
    assert lengths[-1] / lengths[0] == pytest.approx(50.0, rel=0.1)


def test_the_seed_determines_a_stream() -> None:
    dataset = SphereStreams(dimension=3, rows=9)
    first, again, other = (dataset.problem(seed).sha256 for seed in (0, 0, 1))
    assert first == again != other
    assert dataset.names() == ["sphere-3x9-1"]
    with pytest.raises(InputError, match="seed -1"):
        dataset.problem(-1)


def test_a_stream_of_one_label_is_refused_with_a_remedy() -> None:
    with pytest.raises(InputError, match="sphere-2x2-1: all labels are equal; give more rows"):
        SphereStreams(dimension=2, rows=2).problem(4)
