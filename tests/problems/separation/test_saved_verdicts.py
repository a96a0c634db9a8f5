"""Saved verdicts are proved anew on their data, and what is wrong with them is found out."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perceptron_lab import separation, verify
from perceptron_lab.cli.main import main
from perceptron_lab.core.errors import DataError
from perceptron_lab.problems.separation.labelled import labelled
from perceptron_lab.problems.separation.pair_verification import proof_arrays
from perceptron_lab.problems.separation.verdict import SeparationVerdict, verdict_proved
from tests.problems.separation.labelled_systems import KINDS
from tests.problems.separation.labelled_systems import labelled as system_of

CLINIC = "age,dose,effect\n30,0,no\n40,0,yes\n50,0,no\n35,0,yes\n45,0,no\n55,1,yes\n60,1,yes\n"


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A verdict, beside the file that it is of."""
    data, path = tmp_path / "clinic.csv", tmp_path / "verdict.npz"
    data.write_text(CLINIC)
    assert main(["solve", str(data), "--labels", "effect", "--verdict", "--save", str(path)]) == 0
    return path


def verified_answer(path: Path) -> tuple[str, str]:
    (only,) = verify(path).cells
    return only.verdict.value, only.message


def changed(path: Path, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> None:
    """Change the text and the arrays of a saved file."""
    with np.load(path) as arrays:
        changed_arrays = dict(arrays)
    record = json.loads(str(changed_arrays.pop("json")))
    exact = json.loads(changed_arrays["proof.exact"].astype(np.uint8).tobytes())
    change(record, exact)
    changed_arrays["proof.exact"] = np.frombuffer(json.dumps(exact).encode(), np.uint8).astype(
        float
    )
    with path.open("wb") as file:
        np.savez_compressed(file, json=np.array(json.dumps(record)), **changed_arrays)


def test_it_is_proved_again_from_the_file(
    saved: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "perceptron_lab.problems.separation.separation.verdict_for", None
    )  # nothing is solved
    assert main(["verify", str(saved)]) == 0
    assert "PROVED  clinic.csv  separation  quasi-complete" in capsys.readouterr().out


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_verdicts_of_every_kind_survive_a_round_trip(kind: str, seed: int, tmp_path: Path) -> None:
    system = system_of(kind, seed, (20, 4))
    verdict = separation(system.examples, system.labels, affine=system.affine)
    verdict.save(tmp_path / "verdict.npz")
    again = SeparationVerdict.load(tmp_path / "verdict.npz", system.examples, system.labels)
    assert again.as_json() == verdict.as_json()
    assert str(again) == str(verdict)


def test_large_numbers_come_back() -> None:
    """Of more decimal digits than Python reads or writes: here the fewest that it can be asked."""
    rng = np.random.default_rng(0)
    pairs = zip(rng.integers(-9, 10, 50).tolist(), rng.integers(-99, 100, 50).tolist(), strict=True)
    examples = np.array([a * 2**900 + b for a, b in pairs], dtype=object).reshape(10, 5)
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        verdict = separation(examples, [0, 1] * 5)
        again = verdict_proved(labelled(examples, [0, 1] * 5), proof_arrays(verdict))
        texts = json.dumps(again.as_json())
    finally:
        sys.set_int_max_str_digits(before)
    assert texts == json.dumps(verdict.as_json())
    assert max(map(len, re.findall(r"\d+", texts))) > 640


def test_other_data_are_rejected(saved: Path) -> None:
    data = saved.with_name("clinic.csv")
    data.write_text(CLINIC.replace("45,0,no", "45,1,no"))
    assert verified_answer(saved)[0] == "DATA CHANGED"
    changed(saved, lambda record, _: record["source"].update(sha256=_sha256(data)))
    verdict, message = verified_answer(saved)
    assert verdict == "NOT PROVED"
    assert "the direction is not 0 on the rows that overlap" in message
    data.unlink()
    verdict, message = verified_answer(saved)
    assert (verdict, "name the folder that they are in: --base" in message) == ("MISSING", True)


def test_moved_data_are_found_through_their_folder(saved: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    saved.with_name("clinic.csv").rename(elsewhere / "clinic.csv")
    assert main(["verify", str(saved)]) == 1
    assert main(["verify", str(saved), "--base", str(elsewhere)]) == 0


@pytest.mark.parametrize(
    ("change", "verdict", "words"),
    [
        (
            lambda record, _: record.update(verdict="complete"),
            "NOT PROVED",
            '"complete" is claimed',
        ),
        (
            lambda record, _: record["coefficients"].update(dose="FINITE"),
            "NOT PROVED",
            "coefficients: ",
        ),
        (
            lambda _, exact: exact["coefficients"][1].update({"class": "-INF"}),
            "NOT PROVED",
            "coefficient 1: its rows do not combine to the unit vector",
        ),
        (
            lambda _, exact: exact.update(direction=["0", "-1", "0"]),
            "NOT PROVED",
            "the direction is not positive on the separated rows",
        ),
        (
            lambda _, exact: exact.update(direction=["0", "1"]),
            "DAMAGED",
            "a direction of 2 entries",
        ),
        (lambda _, exact: exact["basis"].update({"99": "1/1"}), "DAMAGED", "no proof"),
        (lambda _, exact: exact["basis"].update({"0": "1/0"}), "DAMAGED", "no proof"),
        (lambda _, exact: exact["coefficients"].clear(), "NOT PROVED", "coefficients: "),
        (lambda record, _: record.pop("names"), "DAMAGED", "not that of a verdict"),
        (lambda record, _: record.update(source={}), "DAMAGED", "which file it is of"),
        (lambda record, _: record.update(source=None), "MISSING", "no data recorded; pass --data"),
    ],
)
def test_changed_files_are_rejected(saved: Path, change: Any, verdict: str, words: str) -> None:
    changed(saved, change)
    answer, message = verified_answer(saved)
    assert answer == verdict, message
    assert words in message


def test_broken_files_are_damaged(saved: Path) -> None:
    full = saved.read_bytes()
    for size in (0, 10, len(full) // 2, len(full) - 1):
        saved.write_bytes(full[:size])
        assert verified_answer(saved)[0] == "DAMAGED"


def test_without_time_nothing_is_claimed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("perceptron_lab.problems.separation.separation.exact_pair", lambda *_: None)
    (tmp_path / "clinic.csv").write_text(CLINIC)
    path = tmp_path / "verdict.npz"
    words = ["solve", str(tmp_path / "clinic.csv"), "--labels", "effect", "--verdict"]
    assert main([*words, "--save", str(path)]) == 0
    assert verified_answer(path) == ("NOTHING CLAIMED", "")


def test_other_examples_are_refused_in_python(tmp_path: Path) -> None:
    path = tmp_path / "verdict.npz"
    separation([[1], [2], [3]], [0, 0, 1]).save(path)
    for examples, labels, words in [
        ([[1], [2], [3]], [0, 1, 1], "direction is not positive"),
        ([[1], [2], [4]], [0, 0, 1], "unit vector"),
        ([[1], [2], [3]], ["a", "a", "b"], 'classes: \\[0, 1\\] is claimed, \\["a", "b"\\]'),
        ([[1, 2, 3], [2, 3, 4], [3, 5, 6]], [0, 0, 1], "has 2 coefficients, the examples have 3"),
    ]:
        with pytest.raises(DataError, match=words):
            SeparationVerdict.load(path, examples, labels)
    with pytest.raises(DataError, match="not a saved verdict"):
        SeparationVerdict.load(tmp_path / "absent.npz", [[1], [2]], [0, 1])


def _sha256(path: Path) -> str:
    from perceptron_lab.datasets.regular_files import sha256_of

    return sha256_of(path)
