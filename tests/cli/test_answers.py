"""plab solve: sentences, names, saved answers that are verified, ellipsoids, Ctrl-C."""

from __future__ import annotations

import io
import itertools
import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perceptron_lab import Result, verify
from perceptron_lab.cli import live
from perceptron_lab.cli.answers import MOST_NUMBERS
from perceptron_lab.cli.main import main
from perceptron_lab.core import registry
from perceptron_lab.core.results import Trace
from perceptron_lab.experiments.running.console import VisibleConsole
from perceptron_lab.numerics.compiled.kernel import logged_compilation

FLOWERS = """\
length,width,kind
1.4,0.2,setosa
1.3,0.2,setosa
1.7,0.4,setosa
4.7,1.4,versicolor
4.5,1.5,versicolor
5.1,1.9,versicolor
"""
XOR = "a,b,kind\n0,0,x\n1,1,x\n0,1,y\n1,0,y\n"


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("flowers.csv").write_text(FLOWERS)
    Path("xor.csv").write_text(XOR)
    Path("rows.csv").write_text("1,2\n2,1\n")


def printed_by(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    assert main(["solve", *words]) == code
    printed = capsys.readouterr()
    return printed.err if code == 2 else printed.out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["flowers.csv", "--labels", "kind"],
            "flowers.csv: there is an affine function that separates 'versicolor' from 'setosa', "
            "unit margin 0.1",
        ),
        (
            ["xor.csv", "--labels", "kind"],
            "xor.csv: no hyperplane separates 'y' from 'x' (proved)",
        ),
        (["rows.csv"], "rows.csv: there is a point with all inequalities strict, unit margin "),
        (
            ["xor.csv", "--labels", "kind", "--algorithm", "perceptron", "--budget-updates", "3"],
            "xor.csv: not decided; an affine function that separates 'y' from 'x' has a unit "
            "margin of ",
        ),
    ],
)
def test_the_answer_is_a_sentence(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    reading, answer = printed_by(capsys, *words).split("\n", 1)
    assert reading.startswith(f"{words[0]}: read as ")
    assert answer.startswith(sentence)


def test_coordinates_have_the_names_of_features(capsys: pytest.CaptureFixture[str]) -> None:
    printed = printed_by(capsys, "flowers.csv", "--labels", "kind", "--save", "a.npz")
    point = Result.load("a.npz").point
    named = zip(("length", "width", "constant"), point, strict=True)
    assert f"  point: {', '.join(f'{name} {value:.6g}' for name, value in named)}" in printed
    assert "  6 constraints, dimension 3; 'versicolor' against 'setosa'; auto" in printed
    assert " of 6 weights are not 0: line " in printed
    assert "  point: y_1 " in printed_by(capsys, "rows.csv")


def test_json_names_the_classes_and_the_features(capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(printed_by(capsys, "flowers.csv", "--labels", "3", "--json"))
    assert data["labels"] == {"name": "kind", "negative": "setosa", "positive": "versicolor"}
    assert data["features"] == ["length", "width"]
    assert len(data["point"]) == 3
    assert data["goal_reached"] is True
    assert data["certificate"]["data"] == "exact"


def test_vectors_that_are_long_are_left_to_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    np.save("many.npy", np.abs(rng.normal(size=(MOST_NUMBERS + 1, 2))))
    data = json.loads(printed_by(capsys, "many.npy", "--json", "--save", "many.npz"))
    assert data["weights"] is None
    assert len(data["point"]) == 2
    weights = Result.load("many.npz").weights
    assert weights is None or len(weights) == MOST_NUMBERS + 1


@pytest.mark.parametrize(
    "words",
    [
        ["flowers.csv", "--labels", "kind"],
        ["xor.csv", "--labels", "kind"],
        ["xor.csv", "--labels", "last", "--goal", "margin_upper=0.5"],
        ["rows.csv", "--algorithm", "perceptron", "--oracle", "cyclic"],
        ["flowers.csv", "--rows", "--one-hot"],
        ["rows.csv", "--algorithm", "mirror-prox", "--budget-updates", "2"],
    ],
)
def test_a_saved_answer_is_proved_again(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    printed_by(capsys, *words, "--save", "answer.data")
    assert main(["verify", "answer.data"]) == 0
    assert "1 PROVED" in capsys.readouterr().out
    os.makedirs("elsewhere")
    Path("answer.data").rename("elsewhere/answer.data")
    for name in ("flowers.csv", "xor.csv", "rows.csv"):
        Path(name).rename(f"elsewhere/{name}")
    shifted = verify("elsewhere/answer.data", base="elsewhere")
    assert [cell.verdict.value for cell in shifted.cells] == ["PROVED"]


def test_a_file_of_any_name_is_read_again(capsys: pytest.CaptureFixture[str]) -> None:
    Path("flowers.csv").rename("my flowers (2).csv")
    printed_by(capsys, "my flowers (2).csv", "--labels", "kind", "--save", "a.npz")
    assert main(["verify", "a.npz"]) == 0
    assert "1 PROVED" in capsys.readouterr().out


def test_changed_data_are_noticed(capsys: pytest.CaptureFixture[str]) -> None:
    printed_by(capsys, "flowers.csv", "--labels", "kind", "--save", "a.npz")
    Path("flowers.csv").write_text(FLOWERS.replace("1.4", "1.5"))
    assert main(["verify", "a.npz"]) == 1
    assert "DATA CHANGED" in capsys.readouterr().out


def test_forged_answers_are_not_proved(capsys: pytest.CaptureFixture[str]) -> None:
    printed_by(capsys, "flowers.csv", "--labels", "kind", "--save", "a.npz")
    with np.load("a.npz") as arrays:
        content = dict(arrays)
    content["point"] = -content["point"]
    np.savez("b.npz", **content)
    assert main(["verify", "b.npz"]) == 1
    assert "NOT PROVED" in capsys.readouterr().out
    record = json.loads(str(content["json"]))
    record["margin_lower"] = 0.9
    np.savez("c.npz", **(content | {"point": -content["point"], "json": json.dumps(record)}))
    assert main(["verify", "c.npz"]) == 1
    assert "NOT PROVED" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["unit", "directional", "geometric"])
def test_the_requested_margin_is_named_and_verified(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["flowers.csv", "--labels", "kind", "--goal", "margin_ratio=0.99", "--margin", name]
    printed = printed_by(capsys, *words, "--save", "a.npz")
    assert f"'setosa', {name} margin " in printed
    assert f"\n  {name} margin in [" in printed
    assert main(["verify", "a.npz"]) == 0
    assert "PROVED" in capsys.readouterr().out
    assert json.loads(printed_by(capsys, *words, "--json"))["certificate"]["margin"] == name
    with np.load("a.npz") as arrays:  # the other margins are not the one claimed
        content = dict(arrays)
    record = json.loads(str(content["json"]))
    record["source"]["problem"]["parameters"]["margin"] = (
        "directional" if name == "unit" else "unit"
    )
    np.savez("b.npz", **(content | {"json": json.dumps(record)}))
    assert main(["verify", "b.npz"]) == 1
    assert "NOT PROVED" in capsys.readouterr().out


def test_a_margin_that_the_file_does_not_have(capsys: pytest.CaptureFixture[str]) -> None:
    said_of_rows = printed_by(capsys, "rows.csv", "--margin", "geometric", code=2)
    assert "margin 'geometric' of rows, which have no classes" in said_of_rows
    assert "--margin" in printed_by(capsys, "rows.csv", "--margin", "wide", code=2)


def test_parameters_of_an_algorithm(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["rows.csv", "--algorithm", "von-neumann", "-s"]
    assert "von-neumann(epsilon=0.5)" in printed_by(capsys, *words, "parameters.epsilon=0.5")
    for assignment, message in (
        (
            "parameters.epsilo=1",
            "unknown key 'epsilo'; allowed: epsilon, initial (did you mean 'epsilon'?)",
        ),
        ("parameters.epsilon=x", "epsilon: received the text 'x'; allowed: a number"),
        ("parameters.epsilon", "-s parameters.epsilon: an override is path.to.key=value"),
        ("parameters.", "-s parameters.: an override is path.to.key=value"),
        ("parameters.epsilon=[", "-s parameters.epsilon=["),
    ):
        assert message in " ".join(printed_by(capsys, *words, assignment, code=2).split())


def test_a_parameter_without_its_path_is_deprecated(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["solve", "rows.csv", "--algorithm", "von-neumann", "-s", "epsilon=0.5"]
    warning = "warning: -s epsilon=0.5 is deprecated; use -s parameters.epsilon=0.5\n"
    for quiet, expected in (([], warning), (["--json"], warning), (["-q"], "")):
        assert main([*words, *quiet]) == 0
        printed = capsys.readouterr()
        assert printed.err == expected
        assert ("0.5" in printed.out) is (quiet != ["-q"])


@pytest.mark.parametrize("name", ["a.png", "a.pdf", "a.svg"])
def test_figures_are_drawn(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    printed_by(capsys, "flowers.csv", "--labels", "kind", "--plot", name)
    begin = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<?xml"}[name[1:]]
    assert Path(name).read_bytes().startswith(begin)


@pytest.mark.parametrize("name", ["a.txt", "nowhere/a.png"])
def test_figures_that_cannot_be_drawn(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert name in printed_by(capsys, "rows.csv", "--plot", name, code=2)


def test_an_ellipsoid_needs_its_option(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["flowers.csv", "--labels", "kind"]
    for learner in registry.names("learner"):
        assert "or --ellipsoid" in printed_by(capsys, *words, "--algorithm", learner, code=2)
    printed = printed_by(capsys, *words, "--ellipsoid", "--plot", "e.png")
    assert "an ellipsoid with 'versicolor' inside separates the classes (proved)" in printed
    assert "an ellipsoid with 'setosa' inside separates the classes (proved)" in printed
    assert "t = (ratio of half-axes)^2 - 1 in [" in printed
    assert Path("e.png").is_file()


def test_no_ellipsoid_is_proved_as_well(capsys: pytest.CaptureFixture[str]) -> None:
    # Squares of one class inside and outside of the other's
    corners = [
        f"{s * x},{t * x},{kind}"
        for x, kind in ((1, "in"), (3, "in"), (2, "out"))
        for s in (1, -1)
        for t in (1, -1)
    ]
    Path("rings.csv").write_text("a,b,kind\n" + "\n".join(corners) + "\n")
    data = json.loads(printed_by(capsys, "rings.csv", "--labels", "kind", "--ellipsoid", "--json"))
    answers: dict[str, Any] = {answer["inside"]: answer for answer in data["separations"]}
    assert (answers["in"]["status"], answers["in"]["proved"]) == ("INFEASIBLE", True)
    assert answers["in"]["ratio_upper"] == 0.0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["flowers.csv", "--labels", "kind", "--ellipsoid", "--save", "a.npz"],
            "--save does not apply to --el",
        ),
        (
            ["flowers.csv", "--labels", "kind", "--ellipsoid", "-s", "a=1"],
            "-s does not apply to --ellipsoid",
        ),
        (["rows.csv", "--ellipsoid"], "--ellipsoid needs two classes"),
        (["flowers.csv", "--labels", "kind", "--rows"], "labels and rows both"),
        (["flowers.csv"], "say --labels kind if the column holds the labels, or --rows"),
    ],
)
def test_questions_that_make_no_sense(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in " ".join(printed_by(capsys, *words, code=2).split())


def test_a_line_moves_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.StringIO()

    def console(**arguments: Any) -> VisibleConsole:
        return VisibleConsole(file=written, force_terminal=True, width=120, color_system=None)

    monkeypatch.setattr(live, "VisibleConsole", console)
    with live.live_line("rows", quiet=False) as watch:
        assert watch is not None
        with logged_compilation(3):
            time.sleep(0.3)
        assert "rows: compiling 3 kernels (first run only)" in written.getvalue()
        watch(Trace(updates=[0, 8], margin=[-0.5, 0.25]))
        time.sleep(0.3)  # the line is drawn some times a second
    assert "rows: 8 updates, margin 0.25 (computed), 0 s" in written.getvalue()
    with live.live_line("rows", quiet=True) as watch:
        assert watch is None


@pytest.fixture
def _heard() -> Iterator[None]:
    """Ctrl-C is heard also where the tests run in the background of a script, which ignores it."""
    earlier = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, earlier)


@pytest.mark.usefixtures("_heard")
def test_the_first_interrupt_stops_cleanly_and_the_second_at_once() -> None:
    earlier = signal.getsignal(signal.SIGINT)
    with live.interruptible() as interrupt:
        assert interrupt.asked() is None
        signal.raise_signal(signal.SIGINT)
        assert interrupt.asked() == "interrupted; what is proved so far holds"
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is earlier


@pytest.mark.usefixtures("_heard")
def test_an_interrupt_before_the_first_question_ends_at_once() -> None:
    """While data are read, nothing is proved that could be told."""
    with live.interruptible() as interrupt, pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    assert interrupt.asked() is None


@pytest.mark.usefixtures("_heard")
@pytest.mark.parametrize("question", ["--verdict", "--ellipsoid"])
def test_an_interrupted_command_prints_what_is_verified(
    question: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    lines = [f"{a},{b},{k}" for (a, b), k in zip(rng.random((40, 2)), "xy" * 20, strict=True)]
    Path("two.csv").write_text("\n".join(["a,b,kind", *lines]))
    original = live.Interrupt.asked

    def interrupted(interrupt: live.Interrupt) -> str | None:
        if original(interrupt) is None:
            signal.raise_signal(signal.SIGINT)
        return original(interrupt)

    monkeypatch.setattr(live.Interrupt, "asked", interrupted)
    words = ["two.csv", "--labels", "kind", question]
    printed = printed_by(capsys, *words, code=130)
    expected = {
        "--verdict": "not decided whether",
        "--ellipsoid": "no time is left for an ellipsoid with",
    }
    assert expected[question] in printed


def test_a_bound_of_overlapping_classes_refers_to_the_exact_verdict(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("line.csv").write_text("a,b,kind\n1,1,x\n2,2,y\n3,3,x\n4,4,y\n")
    words = ["--algorithm", "von-neumann", "--goal", "margin_upper=0.01"]
    printed = printed_by(capsys, "line.csv", "--labels", "kind", *words)
    assert "--verdict says exactly whether the classes overlap" in printed.splitlines()[1]
    assert "--verdict" not in printed_by(
        capsys, "rows.csv", "--goal", "margin_upper=0.9", *words[:2]
    )
    assert "'x' and 'y' overlap" in printed_by(capsys, "line.csv", "--labels", "kind", "--verdict")


@pytest.mark.usefixtures("_heard")
def test_ctrl_c_keeps_the_bracket(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C comes at the hundredth question: no proof that would end the run is there yet."""
    np.save("hard.npy", np.random.default_rng(0).normal(size=(3000, 60)))
    question, questions = live.Interrupt.asked, itertools.count(1)

    def interrupted(interrupt: live.Interrupt) -> str | None:
        if next(questions) == 100:
            os.kill(os.getpid(), signal.SIGINT)
        return question(interrupt)

    monkeypatch.setattr(live.Interrupt, "asked", interrupted)
    words = ["solve", "hard.npy", "--algorithm", "mirror-prox", "--goal", "budget"]
    assert main([*words, "--budget-seconds", "60", "--save", "a.npz"]) == 130
    assert "interrupted; what is proved so far holds" in capsys.readouterr().out
    assert Result.load("a.npz").margin_upper is not None
