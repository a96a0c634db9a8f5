"""The costs of proofs by cone, answer and size, from stored rows."""

import numpy as np
import pandas as pd
import pytest

from perceptron_lab.reporting.theory import proof_costs
from perceptron_lab.reporting.theory.proof_costs import FEWEST, ProofCost
from perceptron_lab.reporting.theory.tightness import stored


def test_quartiles_and_share_of_known_times():
    cost = ProofCost("rows", "point", 3, np.array([1.0, 1.0, 6.0]), np.array([2.0, 1.0, 3.0]))
    assert [cost.quartile(part) for part in (0, 0.5, 1)] == [0.5, 1.0, 2.0]
    assert cost.share == pytest.approx(8 / 14)


def rows(cone, decade, count):
    return pd.DataFrame(
        {"cone": cone, "answer": "point", "decade": decade, "proving": 1.0, "solving": 4.0},
        index=range(count),
    )


def test_groups_are_in_the_order_of_cones_and_sizes_and_small_ones_are_left_out(monkeypatch):
    frames = {
        "one": rows("semidefinite", 1, FEWEST),
        "two": rows("rows", 5, FEWEST),
        "three": rows("rows", 2, FEWEST),
        "four": rows("mixed", 0, FEWEST - 1),
    }
    monkeypatch.setattr(proof_costs, "SAMPLES", tuple(frames))
    monkeypatch.setattr(proof_costs, "stored", frames.get)
    monkeypatch.setattr(proof_costs, "answers", lambda frame: frame)
    costs = proof_costs.measured()
    assert [(cost.cone, cost.decade) for cost in costs] == [
        ("rows", 2),
        ("rows", 5),
        ("semidefinite", 1),
    ]
    assert {cost.share for cost in costs} == {0.2}


def test_answers_of_a_store_have_their_cones_and_kinds():
    cones = proof_costs.answers(stored("conic_rescaling"))
    assert set(cones["cone"]) == {"second-order"}
    optima = proof_costs.answers(stored("sdplib_optimum"))
    assert set(optima["cone"]) == {"semidefinite"}
    assert set(optima["answer"]) == {"optimum"}
    assert (optima[["proving", "solving"]] > 0).all(axis=None)
