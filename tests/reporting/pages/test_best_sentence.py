"""The first sentence of a page, against tables whose best algorithm is known."""

from __future__ import annotations

from typing import Any

import pytest

from perceptron_lab.reporting.pages.best import best_sentence
from tests.reporting.artificial_runs import MakeRuns, make_row

UNANSWERED: dict[str, Any] = {"status": "TIME_LIMIT", "proved": False}
UNPROVED: dict[str, Any] = {"status": "FEASIBLE", "proved": False}
FAST, SLOW = {"seconds": 1.0}, {"seconds": 4.0}
Cells = dict[str, list[dict[str, Any]]]


def sentence_of(make_runs: MakeRuns, cells: Cells) -> str:
    """Return the sentence for label -> its cells on the problems p0, p1, ..."""
    return best_sentence(
        make_runs(
            *(
                make_row(f"p{number}", label, **changes)
                for label, changes_of_label in cells.items()
                for number, changes in enumerate(changes_of_label)
            )
        )
    )


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (
            {"A": [FAST] * 3, "B": [SLOW] * 3},
            "A was the best: A and B each have verified answers on 3 of 3 instances, and on the 3 "
            "that all of these answered it took 0.25 times the time of B to a verified answer "
            "(geometric mean).",
        ),
        (
            {"A": [FAST, FAST, UNANSWERED], "B": [SLOW] * 3},
            "B was the best: it has verified answers on 3 of 3 instances, A on 2; on the 2 that "
            "all of these answered it took 4 times the time of A to a verified answer (geometric "
            "mean).",
        ),
        (
            {"A": [SLOW] * 3, "B": [FAST, UNANSWERED, UNANSWERED], "C": [SLOW, SLOW, UNANSWERED]},
            "A was the best: it has verified answers on 3 of 3 instances, C on 2; on the 2 that "
            "all of these answered it took 1 times the time of C to a verified answer (geometric "
            "mean).",
        ),
        (
            {"A": [FAST], "B": [SLOW], "C": [SLOW], "D": [SLOW]},
            "A was the best: 4 algorithms each have verified answers on 1 of 1 instance, and on "
            "the one that all of these answered it took 0.25 times the time of B to a verified "
            "answer (geometric mean).",
        ),
        (
            {"A": [FAST, UNANSWERED], "B": [UNANSWERED, SLOW]},
            "No algorithm was the best: A and B each have verified answers on 1 of 2 instances, "
            "but on no common one.",
        ),
        (
            {"A": [FAST], "B": [FAST]},
            "A and B were equally good: A and B each have verified answers on 1 of 1 instance, "
            "and on the one that all of these answered the times of the two to a verified answer "
            "differ by less than 5 % (geometric mean).",
        ),
        (
            {"A": [FAST, UNPROVED], "B": [UNANSWERED] * 2},
            "A was the best: it alone has verified answers on 1 of 2 instances. 1 unverified "
            "answer did not count.",
        ),
        (
            {"A": [FAST, UNANSWERED]},
            "A, the only algorithm, has verified answers on 1 of 2 instances.",
        ),
        (
            {"A": [UNPROVED], "B": [UNANSWERED]},
            "No answer is verified, so no algorithm is named the best.",
        ),
        (
            {"A": [{"status": "FITTED", "proved": False}], "B": [FAST]},
            "Fitted models are not verified, so no algorithm is named the best.",
        ),
    ],
)
def test_the_best_algorithm_is_named(make_runs: MakeRuns, cells: Cells, expected: str) -> None:
    assert sentence_of(make_runs, cells) == expected


def test_times_include_the_proofs(make_runs: MakeRuns) -> None:
    slow_proof = {"seconds": 1.0, "proof_seconds": 9.0}
    assert sentence_of(make_runs, {"A": [slow_proof], "B": [SLOW]}).startswith("B was the best")


def test_a_bound_loses_to_a_feasible_point(make_runs: MakeRuns) -> None:
    bound = {"status": "MARGIN_BOUNDED", "seconds": 0.1}
    assert sentence_of(make_runs, {"A": [bound], "B": [SLOW]}).startswith("B was the best: it al")


def test_answers_that_miss_the_goal_and_whole_budgets_do_not_count(make_runs: MakeRuns) -> None:
    goal = {"goal": "width: 1e-8"}
    missed = FAST | goal | {"goal_reached": "false"}
    reached = SLOW | goal | {"goal_reached": "true"}
    assert sentence_of(make_runs, {"A": [missed], "B": [reached]}).startswith("B was the best: it")
    missed, reached = ({**cell, "goal": "decide"} for cell in (missed, reached))
    assert sentence_of(make_runs, {"A": [missed], "B": [reached]}).startswith("A was the best: A")
    optimum = FAST | {"goal": "", "optimum_width": 1e-3}
    assert "different widths" in sentence_of(make_runs, {"A": [optimum], "B": [optimum]})
    whole = FAST | {"goal": "budget"}
    assert "whole budget" in sentence_of(make_runs, {"A": [whole], "B": [whole]})
