"""Rows of weight 0, indexes of frames, names of families, and models without an intercept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from perceptron_lab import separation
from perceptron_lab.cli.main import main
from perceptron_lab.core.errors import DataError, InputError
from perceptron_lab.problems.separation.domain import Domain
from perceptron_lab.problems.separation.verdict import SeparationVerdict

X = np.array([[0.0, 3.0], [0.0, 1.0], [1.0, 2.0], [1.0, 4.0], [np.nan, 1.0]])
Y = [0.0, 0.0, 3.0, 1.0, np.nan]
WEIGHTS = [1, 2, 1, 1, 0]


@pytest.mark.parametrize("form", [np.array, pd.DataFrame, sp.csr_array, sp.coo_array, list])
def test_rows_of_weight_0_may_have_missing_values(form: Any) -> None:
    """As R and statsmodels leave them out."""
    expected = separation(X[:4], Y[:4], family="poisson", offset=[0.0] * 4)
    offset = [0.0, 0.0, 0.0, 0.0, np.nan]
    found = separation(form(X), Y, family="poisson", weights=WEIGHTS, offset=offset)
    assert [*found.coefficients.values()] == [*expected.coefficients.values()]
    assert found.separated_rows.tolist() == expected.separated_rows.tolist()
    later = np.roll(np.arange(5), 1)  # the row of weight 0 comes first
    found = separation(X[later], np.array(Y)[later], family="poisson", weights=np.roll(WEIGHTS, 1))
    assert found.separated_rows.tolist() == (expected.separated_rows + 1).tolist()


def test_rows_in_messages_are_those_of_the_data() -> None:
    rows, weights = [[0.0], [1.0], [2.0], [np.inf]], [0, 1, 1, 1]
    with pytest.raises(InputError, match="row 3 holds NaN or infinity"):
        separation(rows, [0, 1, 2, 3], family="poisson", weights=weights)
    with pytest.raises(InputError, match="row 2 has y -1"):
        separation([[0.0], [1.0], [2.0], [3.0]], [0, 1, -1, 3], family="poisson", weights=weights)
    with pytest.raises(InputError, match=r"4 rows, but y of shape \(3,\)"):
        separation([[0.0], [1.0], [2.0], [3.0]], [0, 1, 3], family="poisson", weights=weights)


def test_frames_with_different_indexes_are_refused() -> None:
    frame = pd.DataFrame({"x": [0, 1, 1, 2]}, index=[4, 5, 6, 7])
    y = pd.Series([0, 1, 0, 1])
    with pytest.raises(InputError, match=r"y has another index than X.*y\.to_numpy\(\)"):
        separation(frame, y)
    assert separation(frame, y.to_numpy()).verdict == "quasi-complete"
    assert separation(frame, y.set_axis(frame.index)).verdict == "quasi-complete"
    assert separation(frame.to_numpy(), y).verdict == "quasi-complete"
    with pytest.raises(InputError, match="weights has another index than X"):
        separation(frame, y.to_numpy(), weights=pd.Series([1, 1, 1, 1]))
    pytest.importorskip("formulaic")
    table = frame.assign(y=y.to_numpy())
    with pytest.raises(InputError, match="weights='w' is no column of the frame; columns: x, y"):
        separation("y ~ x", table, weights="w")
    with pytest.raises(InputError, match="weights has another index than y"):
        separation("y ~ x", table, weights=pd.Series([1, 1, 1, 1]))


@pytest.mark.parametrize(
    ("family", "usual"),
    [
        ("logit", "family='binomial', link='logit'"),
        ("Probit", "family='binomial', link='probit'"),
        ("logistic", "family='binomial'"),
        ("gaussian", "least squares estimates exist on all data"),
        ("proportional_odds", "family='ordinal'"),
    ],
)
def test_names_of_families_elsewhere(family: str, usual: str) -> None:
    with pytest.raises(InputError, match=usual):
        separation([[0], [1]], [0, 1], family=family)


def test_two_columns_of_successes_and_failures() -> None:
    for y in ([[1, 0], [0, 1], [2, 2]], pd.DataFrame({"won": [1, 0, 2], "lost": [0, 1, 2]})):
        with pytest.raises(InputError, match=r"y has two columns; .* counts="):
            separation([[0], [1], [2]], y)


def test_starts_before_all_times() -> None:
    options: dict[str, Any] = {"family": "cox", "time": [1, 3, 2]}
    found = separation([[1], [0], [0]], [1, 0, 1], start=[-np.inf, -np.inf, 1], **options)
    expected = separation([[1], [0], [0]], [1, 0, 1], start=[0, 0, 1], **options)
    assert found.coefficients == expected.coefficients
    assert found.separated_rows.tolist() == expected.separated_rows.tolist()
    with pytest.raises(InputError, match="start inf"):
        separation([[1], [0], [0]], [1, 0, 1], start=[np.inf, 0, 1], **options)


DOMAIN: dict[str, Any] = {"family": "log-binomial", "affine": False, "offset": [-1.0, -1.0]}


def test_a_domain_is_decided_within_the_time_limit() -> None:
    late = separation([[1.0], [-1.0]], [0, 1], max_seconds=0, **DOMAIN)
    assert (late.verdict, late.proved) == ("undecided", False)


def test_a_saved_domain_is_verified_and_not_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, path = ([[1.0], [-1.0]], [0, 1]), tmp_path / "v.npz"
    verdict = separation(*data, **DOMAIN)
    assert verdict.domain is not None
    assert verdict.domain.contains(verdict.domain.point)
    assert not verdict.domain.contains((5, 1))
    assert not verdict.domain.contains((0, -1))
    verdict.save(path)
    monkeypatch.delattr(Domain, "with_point")
    again = SeparationVerdict.load(path, *data, offset=DOMAIN["offset"])
    assert (again.verdict, again.domain and again.domain.point) == ("overlap", verdict.domain.point)
    with pytest.raises(DataError, match="a probability is above 1"):
        SeparationVerdict.load(path, *data, offset=[5.0, 5.0])


@pytest.mark.parametrize("family", ["binomial", "poisson"])
def test_a_model_without_intercept_of_a_file(
    family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text("x,z,y\n1,0.3,0\n2,1,0\n1,3,1\n3,5,1\n")
    call = ["solve", "d.csv", "--labels", "y", "--verdict", "--family", family, "--no-intercept"]
    assert main([*call, "--json", "--save", "v.npz"]) == 0
    found = json.loads(capsys.readouterr().out)
    rows, y = [[1, 0.3], [2, 1], [1, 3], [3, 5]], [0, 0, 1, 1]
    expected = separation(rows, y, family=family, affine=False)
    assert found["coefficients"] == dict(zip("xz", expected.coefficients.values(), strict=True))
    assert found["intercept"] is None
    assert main(["verify", "v.npz"]) == 0
    if family == "poisson":
        assert main(["certify", "v.npz", "--into", "certified"]) == 0
        assert "CERTIFIED  d.csv  separation" in capsys.readouterr().out
    assert main(["solve", "d.csv", "--labels", "y", "--no-intercept"]) == 2
    assert "--no-intercept belongs to --verdict" in capsys.readouterr().err


def test_the_command_line_translates_families(tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "d.csv"
    file.write_text("x,y\n1,0\n2,1\n")
    call = ["solve", str(file), "--labels", "y", "--verdict", "--family", "probit"]
    assert main(call) == 2
    assert "give --family binomial --link probit" in capsys.readouterr().err
    assert main([*call[:-1], "poison"]) == 2
    assert "'poison' is unknown (did you mean 'poisson'?); known: binom" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"X": [[1], [1, 2]]},
            "real numbers: row 1 has 2 entries, and row 0 has 1; give",
        ),
        ({"family": ["poisson"]}, r"family=\['poisson'\] is unknown"),
        ({"max_seconds": "1"}, "max_seconds is '1'; give 0 or more"),
    ],
)
def test_values_of_other_types_are_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        separation(**{"X": [[0], [1]], "y": [0, 1], **changed})


def test_whole_numbers_beyond_doubles_have_no_certificate(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text("x,y\n1e308,0\n0.1,2\n1e-300,1\n3,0\n")
    call = ["solve", "d.csv", "--labels", "y", "--verdict", "--family", "poisson"]
    assert main([*call, "--save", "r.npz"]) == 0
    assert main(["certify", "r.npz", "--into", "c"]) == 1
    assert "its rows in whole numbers are no doubles; round the data" in capsys.readouterr().out
