"""Every line of Python in README and docs runs, and gives what is said beside it."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import cvxpy
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from perceptron_lab import Result, Status
from perceptron_lab.datasets.generated.maxcut import generate
from perceptron_lab.problems.separation.verdict import SeparationVerdict
from perceptron_lab.systems.pencil import write_sdpa
from tests.prose.pages import PAGES, README, blocks

CLASSES = {
    "X": np.array([[0.0, 1.0], [1.0, 2.0], [0.5, 1.5], [2.0, 0.0], [3.0, 1.0], [2.5, 0.2]]),
    "y": np.array([1, 1, 1, -1, -1, -1]),
}
"""Two classes of two features, separable."""


def run(page: str, arguments: dict[str, Any]) -> list[Any]:
    """Run the page's blocks of Python one after the other; return the values of expressions."""
    results = []
    for block in blocks(page, "python"):
        for line in ast.parse(block).body:
            if isinstance(line, ast.Expr):
                results.append(eval(compile(ast.Expression(line.value), page, "eval"), arguments))
            else:
                exec(compile(ast.Module([line], []), page, "exec"), arguments)
    return results


def statuses(values: list[Any]) -> list[Status]:
    return [value.status for value in values if isinstance(value, Result)]


def program(name: str) -> None:
    """Write a small MAXCUT relaxation under the name of a larger one."""
    write_sdpa(generate("random-12-20", 0), name)


def second_order() -> Any:
    """Second-order blocks of 3, 3 and 5 scores: t > norm(u) at the last unknown."""
    matrix = np.random.default_rng(0).normal(size=(11, 3))
    matrix[[2, 5, 10], 2] += 20.0
    return matrix


def test_the_python_of_every_page_is_run() -> None:
    source = Path(__file__).read_text(encoding="utf-8")
    for page in PAGES:
        if blocks(page, "python") and not page.startswith(("docs/tutorial/", "docs/extending/")):
            assert f'run("{page}"' in source, page


def test_index() -> None:
    arguments: dict[str, Any] = {}
    run("docs/index.md", arguments)
    assert (arguments["result"].status, arguments["result"].proved) == (Status.FEASIBLE, True)


def test_readme(capsys: pytest.CaptureFixture[str]) -> None:
    values = run("README.md", {})
    assert statuses(values) == [Status.FEASIBLE] * 3
    comments = re.findall(r"^# (.*)$", blocks("README.md", "python")[0], re.MULTILINE)
    printed = capsys.readouterr().out.splitlines()
    assert len(comments) == 3
    assert [_timeless(text) for text in comments] == [_timeless(text) for text in printed]


def _timeless(line: str) -> str:
    return re.sub(r"[\d.e-]+ s$", "- s", line)


@pytest.mark.slow  # a run of quickstart
def test_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    program("control1.dat-s")
    matrices = {"F0": -np.eye(2), "F1": np.diag([1.0, -1.0]), "F2": [[0, 1], [1, 0]]}
    arguments = {**CLASSES, "matrix": second_order(), **matrices}
    values = run("docs/python.md", arguments)
    assert set(statuses(values)) == {Status.FEASIBLE}
    assert arguments["fitted"].separable_ is True
    assert arguments["results"].failed == []
    assert set(values[-1]) == {"PROVED"}


def test_estimators() -> None:
    arguments: dict[str, Any] = {**CLASSES}
    values = run("docs/estimators.md", arguments)
    fitted, soft, equal, updates, objective, no_updates, probabilities = values
    assert (fitted[0], soft[0].all(), soft[1], soft[2]) == (True, True, False, Status.INFEASIBLE)
    assert equal
    assert updates > 0 == no_updates
    assert objective > 0.0
    assert arguments["scores"].shape == (3,)
    assert probabilities.sum(axis=1) == pytest.approx(np.ones(6))


def test_what_to_report(capsys: pytest.CaptureFixture[str]) -> None:
    arguments: dict[str, Any] = {}
    run("docs/what-to-report.md", arguments)
    assert capsys.readouterr().out == blocks("docs/what-to-report.md", "text")[0]
    verdict, trial = arguments["verdict"], arguments["trial"]
    assert not trial.relapse[trial.treated == 1].eq("yes").any()
    assert len(verdict.remedies().labels.members) == 1  # "a single relapse"
    assert set(verdict.overlap_rows) == set(trial.index[trial.treated == 0])


def test_separation() -> None:
    frame = pd.DataFrame({"outcome": list("aabb"), "smoke": list("nynn"), "age": [1, 2, 3, 4]})
    frame = frame.assign(visits=[0, 1, 0, 2], n=1)
    model = make_pipeline(StandardScaler(), LogisticRegression())
    arguments = {"X": frame[["age"]], "y": frame.outcome == "b", "frame": frame, "pipeline": model}
    values = run("docs/separation.md", arguments)
    verdicts = [value.verdict for value in values if isinstance(value, SeparationVerdict)]
    assert verdicts == ["overlap", "complete", "complete", "overlap"]
    values = [value for value in values if not isinstance(value, SeparationVerdict)]
    (estimates, rows, determined), (columns, labels) = values
    assert estimates == {"x_1": "+INF", "x_2": "FINITE", "intercept": "FINITE"}
    assert (rows.tolist(), determined) == ([0, 1, 2, 3], ("x_2", "intercept"))
    assert columns == ("x_1",)
    assert len(labels) == 1


def test_start(capsys: pytest.CaptureFixture[str]) -> None:
    run("docs/start.md", {})
    assert capsys.readouterr().out.startswith("FEASIBLE True [")


def test_optima(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    program("maxG11.dat-s")
    upper, triangle = run("docs/optima.md", {})
    assert upper > 10.0  # a cut of 10 edges at least: half of them
    assert triangle.proved
    assert abs(triangle.optimum_upper - 9.0 / 4.0) < 1e-6  # three unit vectors at 120 degrees


def test_linear_programs() -> None:
    import cvxpy as cp

    from perceptron_lab import ConicSystem, solve

    arguments = {
        "ConicSystem": ConicSystem,
        "solve": solve,
        "cp": cp,
        "x": cp.Variable(2, name="x"),
    }
    conditions = {"A": [[1, 2]], "b": [3], "C": [[1, -1]], "d": [0]}
    contradictory = ConicSystem.from_linear([[1, 1], [-1, 0]], [5, 0], lower=0, upper=2)
    arguments |= {**conditions, "contradictory": contradictory}
    point, values, conflict, names, changes = run("docs/linear-programs.md", arguments)
    assert len(names) == 1
    assert changes == {0: -3}
    assert point[0] == point[1] >= 1
    assert values.sum() == 3.0
    assert not conflict


def test_no_solution() -> None:
    from perceptron_lab import ConicSystem, solve

    arguments: dict[str, Any] = {"ConicSystem": ConicSystem, "solve": solve, "np": np}
    arguments["cvxpy"] = cvxpy
    run("docs/no-solution.md", arguments)
    assert arguments["kinds"] == ["strong", "weak", "boundary only"]
    assert "gives `strong`, `weak` and `boundary only`" in PAGES["docs/no-solution.md"]
    assert arguments["status"] is Status.FEASIBLE
    assert "gives `FEASIBLE`, at x = (1/2, 1/2)" in PAGES["docs/no-solution.md"]
    assert arguments["between"][0].args[0].value == pytest.approx(1.0)
    conditions = [" ".join(str(condition).split()) for condition in arguments["conditions"]]
    assert arguments["clash"].conflict == tuple(conditions[:3])
    assert set(arguments["weights"]) == {*conditions[:3], "auxiliary"}


def test_the_certificate_checked_by_hand_is_found() -> None:
    from perceptron_lab import ConicSystem, solve

    result = solve(ConicSystem.from_matrices(np.diag([1, 0]), [np.diag([0, 1])]))
    assert result.weights is not None
    assert result.weights[1] > 0.0 == result.weights[2]  # w = diag(1, 0), after the weight of x_0


def test_ellipsoids() -> None:
    (values,) = run("docs/papers/ellipsoids.md", {**CLASSES, "X_test": CLASSES["X"][:2]})
    assert values.shape == (2,)
    assert np.isfinite(values).all()


def test_rows_in_parts() -> None:
    arguments: dict[str, Any] = {}
    run("docs/rows-in-parts.md", arguments)
    result, rows = arguments["result"], arguments["rows"]
    assert (result.status, result.proved) == (Status.FEASIBLE, True)
    assert result.certificate["passes"] >= 1
    assert (rows @ result.point > 0.0).all()


def test_readme_is_short() -> None:
    assert len(README.splitlines()) <= 200
