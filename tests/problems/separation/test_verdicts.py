"""Verdicts on examples with known answers, on hard numbers, and on wrong input."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from flint import fmpq, fmpq_mat

from perceptron_lab import separation
from perceptron_lab.cli.main import main
from perceptron_lab.core.errors import InputError
from perceptron_lab.problems.separation.pair_verification import faults
from perceptron_lab.problems.separation.verdict import SeparationVerdict
from tests.problems.separation.labelled_systems import KINDS, labelled

# A side effect occurs at every dose above 0, and sometimes without one; age does not tell
CLINIC = pd.DataFrame(
    {
        "age": [30, 40, 50, 35, 45, 55, 60, 61],
        "dose": [0, 0, 0, 0, 0, 1, 1, 1.5],
    }
)
EFFECT = ["no", "yes", "no", "yes", "no", "yes", "yes", "yes"]


def problems(verdict: SeparationVerdict) -> list[str]:
    assert verdict.pair is not None
    return faults(verdict.rows, verdict.pair, verdict.proofs)


def test_quasi_complete_separation_is_described() -> None:
    verdict = separation(CLINIC, EFFECT)
    message = str(verdict)
    assert message.startswith("dose separates 'no' from 'yes' quasi-completely (proved")
    assert "the estimate of dose is +infinite" in message
    assert "the estimates of age and intercept are finite" in message
    assert "5 rows overlap (row 1, 2, 3, 4, 5), 3 are separated" in message
    assert "Firth's (Heinze and Schemper 2002)" in message
    assert verdict.coefficients == {"age": "FINITE", "dose": "+INF", "intercept": "FINITE"}


def test_the_certificate_contains_its_proof() -> None:
    """Put into the numbers given: weights add rows up to 0, multipliers to unit vectors."""
    verdict = separation(CLINIC, EFFECT)
    rows = [
        [(1 if label == "yes" else -1) * Fraction(value) for value in (age, dose, 1)]
        for (age, dose), label in zip(CLINIC.to_numpy().tolist(), EFFECT, strict=True)
    ]
    proof = json.loads(json.dumps(verdict.as_json()))["certificate"]
    assert combined(rows, proof["weights"]) == [0, 0, 0]
    assert set(map(int, proof["weights"])) == set(verdict.overlap_rows.tolist())
    assert min(map(Fraction, proof["weights"].values())) > 0
    for j, name in enumerate(verdict.names):
        multipliers = proof["coefficients"][name]["multipliers"]
        assert combined(rows, multipliers) == [int(i == j) for i in range(3)]
    scores = [sum(a * b for a, b in zip(row, verdict.direction, strict=True)) for row in rows]
    assert [i for i, score in enumerate(scores) if score > 0] == verdict.separated_rows.tolist()
    assert min(scores) == 0


def combined(rows: list[list[Fraction]], weights: dict[str, str]) -> list[Fraction]:
    pairs = [(rows[int(i)], Fraction(weight)) for i, weight in weights.items()]
    return [sum((weight * row[j] for row, weight in pairs), Fraction()) for j in range(3)]


def test_one_feature_at_a_threshold() -> None:
    """Complete below and above; with a tie at the threshold only that point overlaps."""
    complete = separation([[1], [2], [3], [4]], [0, 0, 1, 1])
    assert complete.verdict == "complete"
    assert complete.coefficients == {"x_1": "+INF", "intercept": "-INF"}
    tied = separation([[1], [2], [2], [3]], [0, 0, 1, 1])
    assert tied.verdict == "quasi-complete"
    assert tied.overlap_rows.tolist() == [1, 2]
    assert tied.coefficients == {"x_1": "+INF", "intercept": "-INF"}
    mixed = separation([[1], [3], [2], [4]], [0, 0, 1, 1])
    assert mixed.verdict == "overlap"
    assert str(mixed).startswith("0 and 1 overlap: no coefficient diverges (proved")


def test_a_coefficient_of_either_sign() -> None:
    """Points on both sides of a strip that many directions separate, the intercept 0 or not."""
    verdict = separation([[-1, 0], [-1, 1], [1, 0], [1, 1]], [0, 0, 1, 1])
    assert verdict.coefficients == {
        "x_1": "+INF",
        "x_2": "UNDETERMINED",
        "intercept": "UNDETERMINED",
    }


def test_dependent_columns_are_named_and_the_verdict_is_modulo_them() -> None:
    frame = CLINIC.assign(twice=2 * CLINIC["dose"])
    verdict = separation(frame, EFFECT)
    assert verdict.verdict == "quasi-complete"
    assert verdict.unidentified == ("dose", "twice")
    assert verdict.coefficients["dose"] == "UNDETERMINED"
    assert verdict.coefficients["age"] == "FINITE"
    assert "not identified, for columns are linearly dependent" in str(verdict)
    assert problems(verdict) == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_columns_that_determine_no_coefficient_are_those_that_others_span(kind: str) -> None:
    """Without such a column the rank is the same; python-flint computes it."""
    for seed in range(8):
        system = labelled(kind, seed, (20, 5))
        verdict = separation(system.examples, system.labels, affine=system.affine)
        every = [
            [fmpq(entry.numerator, entry.denominator) for entry in row] for row in system.rows()
        ]
        rank = fmpq_mat(every).rank()
        spanned = [
            name
            for j, name in enumerate(verdict.names)
            if rank == fmpq_mat([[*row[:j], 0, *row[j + 1 :]] for row in every]).rank()
        ]
        assert list(verdict.unidentified) == spanned


def test_rows_of_zeros_overlap() -> None:
    verdict = separation([[0, 0], [1, 2], [2, -1]], [0, 1, 1], affine=False)
    assert verdict.verdict == "quasi-complete"
    assert verdict.zero_rows.tolist() == verdict.overlap_rows.tolist() == [0]


@pytest.mark.parametrize("gap", [0, 1, -1])
def test_a_gap_that_no_double_resolves_decides(gap: int) -> None:
    """The classes touch, overlap, or leave a gap of 1e-30."""
    edge = Fraction(1, 3) + Fraction(gap, 10**30)
    verdict = separation([[0], [Fraction(1, 3)], [edge], [1]], [0, 0, 1, 1])
    assert verdict.verdict == {0: "quasi-complete", 1: "complete", -1: "overlap"}[gap]
    assert problems(verdict) == []


def test_a_sum_of_columns_in_decimals_is_dependent_and_that_of_doubles_is_not() -> None:
    rng = np.random.default_rng(4)
    parts = rng.integers(-9, 10, (12, 2))
    decimals = np.array([[Decimal(int(value)) / 10 for value in row] for row in parts])
    labels = rng.integers(0, 2, 12)
    exact = separation(np.c_[decimals, decimals.sum(axis=1)], labels)
    assert exact.unidentified == ("x_1", "x_2", "x_3")
    approximate = separation(np.c_[parts / 10, (parts / 10).sum(axis=1)], labels)
    assert approximate.unidentified == ()
    assert approximate.method == "Newton's steps, made exact"
    assert problems(approximate) == []


def test_scales_do_not_matter() -> None:
    rng = np.random.default_rng(8)
    examples = rng.standard_normal((40, 3))
    labels = examples @ [1.0, -1.0, 0.5] + rng.standard_normal(40) * 0.1 > 0
    plain = separation(examples, labels)
    scaled = separation(examples * [2.0**-900, 2.0**900, 1.0], labels)
    assert scaled.verdict == plain.verdict
    np.testing.assert_array_equal(scaled.overlap_rows, plain.overlap_rows)
    assert scaled.coefficients == plain.coefficients
    assert problems(scaled) == []


def test_labels_turned_round_turn_the_signs() -> None:
    verdict = separation(CLINIC, EFFECT)
    turned = separation(CLINIC, [{"no": "yes", "yes": "no"}[label] for label in EFFECT])
    signs = {"+INF": "-INF", "-INF": "+INF"}
    expected = {name: signs.get(answer, answer) for name, answer in verdict.coefficients.items()}
    assert turned.coefficients == expected
    np.testing.assert_array_equal(turned.overlap_rows, verdict.overlap_rows)


@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_many_rows(noise: float) -> None:
    rng = np.random.default_rng(5)
    examples = rng.standard_normal((1000, 4))
    labels = examples[:, 0] + 0.3 + noise * rng.standard_normal(1000) > 0
    verdict = separation(examples, labels)
    assert verdict.verdict == ("overlap" if noise else "complete")
    assert set(verdict.coefficients.values()) <= ({"FINITE"} if noise else {"+INF", "UNDETERMINED"})
    assert problems(verdict) == []


def test_sparse_examples_are_the_same_examples() -> None:
    sparse = separation(sp.csr_array(CLINIC.to_numpy()), EFFECT)
    dense = separation(CLINIC.to_numpy(), EFFECT)
    assert sparse.as_json() == dense.as_json()


def test_without_time_it_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "perceptron_lab.problems.separation.separation.logistic_proposals", lambda _: iter(())
    )
    monkeypatch.setattr(
        "perceptron_lab.problems.separation.separation.exact_decision_pair", lambda *_: None
    )
    verdict = separation(CLINIC, EFFECT, max_seconds=0.0)
    assert verdict.verdict == "undecided"
    assert not verdict.proved
    assert str(verdict).startswith("not decided whether 'no' and 'yes' are separated")
    assert verdict.as_json()["certificate"] == {}


def test_changed_proofs_are_rejected() -> None:
    verdict = separation(CLINIC, EFFECT)
    pair, proofs = verdict.pair, verdict.proofs
    assert pair is not None
    doubled = {row: 2 * weight for row, weight in pair.basis.items()}
    for change, message in (
        ({"overlap": np.array([0])}, "the rows are not in two parts"),
        ({"basis": doubled}, "do not add up to 0"),
        ({"basis": {}}, "has no weight > 0"),
        ({"weights": pair.weights + 1}, "has no weight > 0"),
        ({"direction": (0, -2, 0)}, "not positive on the separated rows"),
        ({"direction": (1, 2, 0)}, "not 0 on the rows that overlap"),
    ):
        assert any(
            message in fault for fault in faults(verdict.rows, replace(pair, **change), proofs)
        )
    for name, message in (
        ("FINITE", ["coefficient 1: rows are used that are not 0 on the cone"]),
        ("+INF", ["coefficient 0: no direction > 0", "coefficient 2: no direction > 0"]),
        ("UNDETERMINED", [f"coefficient {j}: no directions of both signs" for j in range(3)]),
    ):
        assert (
            faults(verdict.rows, pair, [replace(proof, name=name) for proof in proofs]) == message
        )
    outside = [replace(proof, positive=(1, 1, 1)) for proof in proofs]
    assert faults(verdict.rows, pair, outside) == [
        "a direction of a coefficient is not in the cone"
    ]


@pytest.mark.parametrize(
    ("examples", "labels", "message"),
    [
        ([[1.0], [np.nan]], [0, 1], "row 1 holds NaN or infinity"),
        ([["a"], ["b"]], [0, 1], "give a matrix of real numbers"),
        ([[1.0], [2.0]], [1, 1], "labels take 1 value, 1; give two classes"),
        ([[1.0]], [1], "labels take 1 value, 1; give two classes"),
        ([[1.0], [2.0], [3.0]], [0, 1, 2], "labels take 3 values"),
        ([[1.0], [2.0]], [0], "2 examples, but 1 label of shape (1,); give one each"),
        ([[1.0], [2.0]], [0, None], "label 1 is missing"),
        (np.zeros((0, 2)), [], "rows have shape (0, 2)"),
        ([1, 2], [0, 1], "or of a single column x.reshape(-1, 1)"),
        ([[1], ["x"]], [0, 1], "texts (numpy converts numbers to text if one entry is text)"),
        (np.array([["2020-01-01"], ["2020-01-02"]], "M8[D]"), [0, 1], "days since a first one"),
        (pd.DataFrame({"when": [date(2020, 1, 1)] * 2}), [0, 1], "give dates as numbers, such as"),
        (pd.DataFrame({"when": pd.to_datetime(["2020-01-01"] * 2)}), [0, 1], "give dates as num"),
        (pd.DataFrame({"a": [1, "x"]}), [0, 1], "column 'a' holds 'x' (str)"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), [0, 1], "2 columns have the name 'a'"),
    ],
)
def test_wrong_input_is_refused(examples: Any, labels: Any, message: str) -> None:
    with pytest.raises(InputError) as refused:
        separation(examples, labels)
    assert message in str(refused.value)


def test_a_time_below_0_is_refused() -> None:
    for seconds in (-1.0, float("nan")):
        with pytest.raises(InputError, match="give 0 or more, or None for no limit"):
            separation([[1], [2]], [0, 1], max_seconds=seconds)


def test_labels_of_any_kind_are_shown_as_texts() -> None:
    verdict = separation([[1], [2]], [date(2020, 1, 1), date(2020, 1, 2)])
    assert json.loads(json.dumps(verdict.as_json()))["classes"] == ["2020-01-01", "2020-01-02"]


Captured = pytest.CaptureFixture[str]


def printed_by(capsys: Captured, file: Path, *options: str) -> tuple[int, str]:
    code = main(["solve", str(file), "--verdict", *options])
    captured = capsys.readouterr()
    return code, captured.out + captured.err


def test_a_file_is_read_as_the_decimals_printed(tmp_path: Path, capsys: Captured) -> None:
    """The third row differs from the second in the 25th digit; as doubles they are the same."""
    file = tmp_path / "fine.csv"
    file.write_text("x,c\n0,a\n0.1,a\n0.1000000000000000000000001,b\n1,b\n")
    code, out = printed_by(capsys, file, "--labels", "c")
    assert code == 0
    assert "x separates 'a' from 'b' completely (proved" in out
    code, out = printed_by(capsys, file, "--labels", "c", "--json")
    assert json.loads(out)["verdict"] == "complete"
    assert json.loads(out)["coefficients"] == {"x": "+INF", "intercept": "-INF"}


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("x,c\n1,a\n2,b\n", ["--labels", "d"], "no column is called 'd'"),
        ("x,c\n1,a\n2,a\n", ["--labels", "c"], "labels take 1 value, 'a'; give two classes"),
        ("x,c\n1,a\n,b\n", ["--labels", "c"], "no value; fill it"),
        ("x,c\n1,a\nsome,b\n", ["--labels", "c"], "received 'some', which is no number"),
        ("x,c\n2020-01-01,a\n2,b\n", ["--labels", "c"], "days since the first one, or leave"),
        ("x,c\n1.2.2020,a\n2,b\n", ["--labels", "c"], "days since the first one, or leave"),
        ("x,c\n1,a\n", ["--labels", "c"], "labels take 1 value, 'a'; give two classes"),
        ("c\na\nb\n", ["--labels", "c"], "no column but that of the labels"),
        ("x,z\n1,4\n2,3\n", ["--rows"], "a verdict needs two classes"),
        ("x,c\n1,a\n2,b\n", ["--labels", "c", "--ellipsoid"], "does not apply to --verdict"),
    ],
)
def test_wrong_files_are_refused(
    text: str, options: list[str], message: str, tmp_path: Path, capsys: Captured
) -> None:
    file = tmp_path / "data.csv"
    file.write_text(text)
    code, out = printed_by(capsys, file, *options)
    assert code == 2
    assert message in out


def test_a_verdict_shows_its_sentences_and_a_table_of_coefficients() -> None:
    verdict = separation([[1.0, 2.0], [3.0, 1.0], [2.0, 2.0], [0.0, 1.0]], ["<b>", "y", "y", "<b>"])
    assert repr(verdict) == str(verdict)
    assert str(verdict).startswith(
        "x_1 and x_2 separate '<b>' from 'y' completely (proved)\n  modelled"
    )
    page = verdict._repr_html_()
    assert "<b>" not in page
    assert page.count("<tr>") == 1 + len(verdict.coefficients)
    assert "<td style='text-align:left'>x_1</td><td>+infinite</td>" in page


def test_a_table_of_many_coefficients_ends_with_their_number() -> None:
    examples = np.vstack([np.eye(51), -np.eye(51)])
    page = separation(examples, np.repeat([1, 0], 51))._repr_html_()
    assert page.count("<tr>") == 1 + 50 + 1
    assert "and 2 more" in page
