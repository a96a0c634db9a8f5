"""The estimate of the time that a run still takes."""

from __future__ import annotations

import pytest

from perceptron_lab.experiments.cells.progress import Remaining, remaining


def test_nothing_is_estimated_before_a_cell_of_the_label_has_ended() -> None:
    assert remaining([], [("P", 0.0)]) is None
    assert remaining([("P", 3.0)], [("V", 0.0)]) is None
    assert remaining([("P", 3.0)], []) is None


def test_the_mean_of_a_label_stands_for_its_cells_to_come() -> None:
    ended = [("P", 10.0), ("P", 20.0), ("V", 100.0)]
    left = remaining(ended, [("P", 0.0), ("P", 5.0), ("V", 0.0)])
    assert left == Remaining(15.0 + 10.0 + 100.0, least=False)
    assert remaining(ended, [("P", 50.0)]) == Remaining(0.0, least=False)
    assert remaining(ended, [("P", 0.0), ("other", 0.0)]) == Remaining(15.0, least=True)


def test_cells_at_a_time_share_the_work_and_the_longest_is_waited_for() -> None:
    ended = [("P", 10.0), ("V", 100.0)]
    many = [("P", 0.0)] * 20
    assert remaining(ended, many, 4) == Remaining(50.0, least=False)
    assert remaining(ended, [*many, ("V", 0.0)], 30) == Remaining(100.0, least=False)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "1 s"), (59.4, "59 s"), (600.0, "10 min"), (7100.0, "118 min"), (9000.0, "2 h")],
)
def test_the_remaining_time_is_labelled_as_an_estimate(seconds: float, text: str) -> None:
    assert str(Remaining(seconds, least=False)) == f"about {text} left (estimate)"
    assert str(Remaining(seconds, least=True)) == f"more than {text} left (estimate)"
