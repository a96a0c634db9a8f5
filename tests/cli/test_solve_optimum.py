"""``plab solve --optimum``: a proved interval around the optimum of a program in a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perceptron_lab.cli.main import main
from perceptron_lab.core.results import Result
from perceptron_lab.datasets.generated.maxcut import generate
from perceptron_lab.systems.pencil import write_sdpa


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_sdpa(generate("random-12-25", 1), "graph.dat-s")


def test_the_sentence_and_the_keys_tell_the_interval(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "graph.dat-s", "--optimum", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert row["algorithm"] == "low-rank"
    assert (row["goal"], row["goal_reached"]) == ("width=1e-08", True)
    assert row["optimum_lower"] <= row["optimum_upper"]
    assert row["optimum_width"] <= 1e-8
    assert main(["solve", "graph.dat-s", "--optimum", "--goal", "width=1e-3"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("graph.dat-s: the optimum lies in [")
    assert "relative width" in printed.splitlines()[0]
    assert "goal width=0.001 reached" in printed
    assert "margin" not in printed


def test_graphs_of_the_g_set_have_a_cut_and_an_interval(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A cycle of 5 vertices: the optimum is (25 + 5 sqrt 5) / 8, the largest cut 4."""
    Path("G.rud").write_text("5 5\n1 2 1\n2 3 1\n3 4 1\n4 5 1\n5 1 1\n")
    assert main(["solve", "G.rud", "--optimum"]) == 0
    printed = capsys.readouterr().out.splitlines()[0]
    assert printed.startswith("G.rud: the optimum lies in [4.5225424")
    assert printed.endswith("; a cut has 4, 0.8844 of the largest or more (proved)")
    assert main(["solve", "G.rud", "--optimum", "--algorithm", "deep-cut-ellipsoid"]) == 0
    assert "cut has" not in capsys.readouterr().out


def test_a_missed_goal_is_reported_and_is_no_failure(capsys: pytest.CaptureFixture[str]) -> None:
    few = ["--algorithm", "low-rank", "-s", "rank=2", "--budget-updates", "3"]
    assert main(["solve", "graph.dat-s", "--optimum", *few]) == 0
    printed = capsys.readouterr().out
    assert "goal width=1e-08 missed" in printed
    assert "the budget of 3 sweeps is spent" in printed


def test_a_saved_interval_is_verified_again_and_a_changed_one_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["solve", "graph.dat-s", "--optimum", "--save", "found.npz"]) == 0
    assert main(["verify", "found.npz"]) == 0
    assert "PROVED  graph  low-rank  FEASIBLE  optimum in [" in capsys.readouterr().out
    assert Result.load("found.npz").optimum_width <= 1e-8  # type: ignore[operator]
    with np.load("found.npz") as file:
        arrays: dict[str, Any] = dict(file)
    record = json.loads(str(arrays["json"]))
    record["certificate"]["figures"]["optimum_upper"] *= 1.0 - 1e-9
    np.savez("tighter.npz", **arrays | {"json": np.array(json.dumps(record))})
    turned = -arrays["proof.vectors"]
    turned[0] *= -1.0
    np.savez("turned.npz", **arrays | {"proof.vectors": turned})
    for name in ("tighter.npz", "turned.npz"):
        assert main(["verify", name]) == 1
        assert "is claimed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--goal", "budget"], "use width=NUMBER"),
        (["--verdict"], "--optimum does not apply to --verdict"),
        (["--margin", "directional"], "--margin does not apply to --optimum"),
        (["--plot", "a.png"], "--plot does not apply to --optimum"),
        (["--algorithm", "perceptron"], "perceptron"),
        (["-s", "rank=3"], "name one"),
        (["--algorithm", "low-rank", "-s", "rank=0"], "rank"),
    ],
)
def test_options_of_other_questions_are_refused(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["solve", "graph.dat-s", "--optimum", *options]) == 2
    assert message in capsys.readouterr().err


def test_files_without_an_objective_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    Path("rows.csv").write_text("1,2\n3,4\n")
    assert main(["solve", "rows.csv", "--optimum"]) == 2
    assert "no objective" in capsys.readouterr().err
