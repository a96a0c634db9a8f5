"""``plab check`` and ``plab run`` of a user's own files: every fault, in the words of YAML."""

from __future__ import annotations

from pathlib import Path

import pytest

from perceptron_lab import check
from perceptron_lab.cli.main import main
from perceptron_lab.core.errors import ConfigError
from perceptron_lab.experiments import check as checking

CONFIG = """\
experiment: own
problems:
  - dataset: files
    files: [one.csv, two.csv]
    labels: kind
    test_fraction: 0.5
algorithms: [{name: perceptron}]
"""
GOOD = "a,kind\n" + "1,x\n2,y\n" * 4


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("one.csv", "two.csv"):
        Path(name).write_text(GOOD)


def faults(config: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    Path("own.yaml").write_text(config)
    assert main(["check", "own.yaml"]) == 2
    return [line.removeprefix("Error: ") for line in capsys.readouterr().err.splitlines()]


def test_files_that_can_be_read_are_ok(capsys: pytest.CaptureFixture[str]) -> None:
    Path("own.yaml").write_text(CONFIG)
    assert main(["check", "own.yaml"]) == 0
    assert capsys.readouterr() == ("own.yaml: ok, 2 cells\n", "")


def test_all_faulty_files_are_reported_together_with_their_locations(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("one.csv").unlink()
    Path("two.csv").write_text(GOOD.replace("2,y", "z,y", 1))
    missing, text = faults(CONFIG + "seeds: [0, 1]\n", capsys)
    start = "own.yaml:4:13: problems.0.files.0: one.csv: no such file in the current folder ("
    assert missing.startswith(f"{start}did you mean 'two.csv'?)")
    assert text.startswith(
        "own.yaml:4:22: problems.0.files.1: two.csv: line 3, column 'a': received 'z', which"
    )
    with pytest.raises(ConfigError, match=r"(?s)problems\.0\.files\.0.*problems\.0\.files\.1"):
        check("own.yaml")


def test_messages_name_keys_and_not_options(capsys: pytest.CaptureFixture[str]) -> None:
    config = CONFIG.replace("    labels: kind\n    test_fraction: 0.5\n", "")
    Path("two.csv").write_text("a,target\n1,2\n3,4\n5,6\n")
    Path("three.csv").write_text("a,b\n1,\n")
    text, looks, empty = faults(config.replace("two.csv", "two.csv, three.csv"), capsys)
    assert text.endswith(
        "say labels: kind if the column holds the labels, or rows: true and "
        "one_hot: true if it is a coordinate"
    )
    assert "say labels: target if it holds them, or rows: true if every" in looks
    assert empty.endswith("leave such rows out: drop_missing: true")


def test_a_learner_without_test_examples_is_a_fault(capsys: pytest.CaptureFixture[str]) -> None:
    config = CONFIG.replace("    test_fraction: 0.5\n", "").replace("perceptron", "polynomial-svm")
    first, second = faults(config, capsys)
    assert first == (
        "own.yaml:4:13: problems.0.files.0: polynomial-svm is a learner, and one of the dataset "
        "files has no training and test examples; give labels and a test_fraction, or an algorithm"
    )
    assert second.startswith("own.yaml:4:22: problems.0.files.1: polynomial-svm is a learner")


def test_faults_in_files_of_a_grid_name_their_entry(capsys: pytest.CaptureFixture[str]) -> None:
    swept = "    grid: {files: [[one.csv], [two.csv]], labels: [kind, knid]}\n"
    config = CONFIG.replace("    files: [one.csv, two.csv]\n    labels: kind\n", swept)
    assert [line.partition(": no column")[0] for line in faults(config, capsys)] == [
        "own.yaml:3:5: problems.0: one.csv",
        "own.yaml:3:5: problems.0: two.csv",
    ]


def test_a_larger_file_is_not_read(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "LARGEST", 100)
    Path("one.csv").write_text(GOOD + "z,x\n" * 30)
    Path("own.yaml").write_text(CONFIG)
    assert main(["check", "own.yaml"]) == 0
    printed = capsys.readouterr()
    assert printed.out == "own.yaml: ok, 2 cells\n"
    assert printed.err == (
        "warning: one.csv: not read, as it takes more than 0.0001 MB; `plab run` reads it first\n"
    )


def test_files_that_may_be_missing_are_no_fault() -> None:
    Path("one.csv").unlink()
    Path("own.yaml").write_text(CONFIG.replace("files\n", "files\n    missing: skip\n", 1))
    assert main(["check", "own.yaml"]) == 0


def test_a_program_file_of_a_user_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.dat-s").write_text("1\n1\n2\n")
    config = "experiment: own\nproblems: [{dataset: sdpa, files: [a.dat-s]}]\n"
    (fault,) = faults(config + "algorithms: [{name: perceptron}]\n", capsys)
    assert fault.startswith("own.yaml:2:36: problems.0.files.0: a.dat-s")


def test_a_run_names_all_faulty_files(capsys: pytest.CaptureFixture[str]) -> None:
    Path("one.csv").unlink()
    Path("two.csv").write_text("a,kind\nz,x\n2,y\n")
    Path("own.yaml").write_text(CONFIG + "seeds: [0, 1]\n")
    assert main(["run", "own.yaml"]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("Error: problem one: one.csv: no such file")
    assert second.startswith("Error: problem two: two.csv: line 2, column 'a': received 'z'")
    assert not Path("results").exists()
