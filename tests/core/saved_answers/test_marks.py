"""What is not verified is said: on the command line, in JSON, and by loaded results."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from perceptron_lab import Result, separation, verify
from perceptron_lab.cli.main import main
from perceptron_lab.core.exact_form import MOST_CHARACTERS
from perceptron_lab.problems.separation.verdict import SeparationVerdict
from tests.core.saved_answers.edits import changed, read, write

MODEL = "NAME a\nROWS\n N c\n G c1\nCOLUMNS\n x c1 1\nRHS\n r c1 3\nBOUNDS\n UP b x 1\nENDATA\n"


@pytest.fixture
def answer(tmp_path: Path) -> Path:
    """A contradiction of linear conditions, saved beside its data."""
    (tmp_path / "a.mps").write_text(MODEL)
    assert main(["solve", str(tmp_path / "a.mps"), "--save", str(tmp_path / "a.npz")]) == 0
    return tmp_path / "a.npz"


def test_verify_names_the_fields_it_does_not_verify(
    answer: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["verify", str(answer)]) == 0
    first, second, _ = capsys.readouterr().out.splitlines()
    assert first == "PROVED  a  auto  INFEASIBLE"
    assert second.startswith("  not verified: goal, updates, ")
    assert main(["verify", str(answer), "--json"]) == 0
    (cell,) = json.loads(capsys.readouterr().out)
    assert {"updates", "trace.seconds", "source.algorithm.name"} <= set(cell["not_verified"])
    proved = {"message", "certificate.linear.violation", "certificate.contradiction", "point"}
    assert not proved & set(cell["not_verified"])


def test_a_loaded_result_says_that_it_is_not_verified(answer: Path) -> None:
    loaded = Result.load(answer)
    assert {"status", "message", "point", "trace"} <= set(loaded.not_verified)
    assert "not verified" in str(loaded)
    assert "not verified" in repr(loaded)
    assert "not verified" in loaded._repr_html_()
    tree = read(answer)
    for path, value in (("seconds", "1"), ("updates", True), ("trace.updates", [-1])):
        write(answer, changed(tree, path, value))
        with pytest.raises(Exception, match=re.escape(f"{path} is ")):
            Result.load(answer)


def test_statements_weaker_than_the_proof_are_marked(answer: Path) -> None:
    """Edits that agree with each other, and claim nothing that is wrong."""
    tree = read(answer)
    message = tree["message"].replace(", none of which can be left out", "")
    assert message != tree["message"]
    tree = changed(changed(tree, "certificate.linear.irreducible", False), "message", message)
    write(answer, changed(tree, "certificate.linear.violation", [0.0, None]))
    (cell,) = verify(answer).cells
    assert cell.verdict.value == "PROVED"
    marked = {"certificate.linear.irreducible", "certificate.linear.violation"}
    assert marked <= set(cell.not_verified)


@pytest.mark.parametrize("text", ["1e999999999", "1" * (MOST_CHARACTERS + 1), "1_0", "٣"])
def test_a_number_that_would_not_end_is_refused(text: str, answer: Path) -> None:
    write(answer, changed(read(answer), "certificate.linear.weights", {"0": text, "1": "1"}))
    (cell,) = verify(answer).cells
    assert cell.verdict.value == "DAMAGED"
    assert "certificate.linear.weights" in cell.message


def test_a_loaded_verdict_names_the_unverified_fields(tmp_path: Path) -> None:
    examples, labels = [[1.0], [2.0], [3.0]], [0, 0, 1]
    verdict = separation(examples, labels)
    assert verdict.not_verified == ()
    verdict.save(tmp_path / "v.npz")
    loaded = SeparationVerdict.load(tmp_path / "v.npz", examples, labels)
    assert loaded.not_verified == ("method", "names")
