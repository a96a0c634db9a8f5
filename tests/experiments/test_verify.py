"""Certificates are proved again, and no tampering with them is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import Status
from perceptron_lab.experiments.storage.certificate_files import (
    Certificate,
    identity_of,
    read_certificate,
    write_certificate,
)
from perceptron_lab.experiments.verification.claims import Verdict, Verified
from perceptron_lab.experiments.verify import Verification, verify
from tests.deciding_oracles import DECIDING
from tests.experiments.certified import (
    CELLS,
    EMPTY,
    ROWS,
    SEPARABLE,
    SYSTEMS,
    WHOLE,
    attempted,
    certified,
    forbid_algorithms,
)
from tests.repetitions import thinned


def verdict(path: Path) -> Verified:
    (cell,) = verify(path).cells
    return cell


def tampered(path: Path, change: Callable[[Certificate], Certificate]) -> Verified:
    """Return the verdict on a certificate that was changed by somebody who knows the format."""
    other = path.with_name("tampered.npz")
    write_certificate(other, change(read_certificate(path)))
    return verdict(other)


@pytest.mark.parametrize("name", CELLS)
def test_every_claim_is_proved_again_without_an_algorithm(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, algorithm, more, status = CELLS[name]
    path = certified(tmp_path, problem, algorithm, **more)
    forbid_algorithms(monkeypatch)
    verified = verdict(path)
    assert (verified.verdict, verified.message) == (Verdict.PROVED, "")
    assert status is None or verified.status == status
    assert verified.cell == path.stem


TAMPERED: dict[str, tuple[str, Callable[[Certificate], Certificate], str]] = {
    "a point negated": (
        "rows",
        lambda answer: replace(answer, point=-answer.point),
        "the point is not proved strictly feasible",
    ),
    "a point with NaN": (
        "rows",
        lambda answer: replace(answer, point=np.full_like(answer.point, np.nan)),
        "the point is not proved",
    ),
    "a point that is cut off": (
        "rows",
        lambda answer: replace(answer, point=answer.point[1:]),
        "a point of shape (39,) in a problem of 40 unknowns",
    ),
    "a margin raised": (
        "rows",
        lambda answer: replace(answer, margin_lower=(answer.margin_lower or 0.0) * 1.001),
        "is claimed",
    ),
    "a margin of infinity": (
        "rows",
        lambda answer: replace(answer, margin_lower=np.inf),
        "a bound is not a finite number",
    ),
    "a margin of NaN": (
        "rows",
        lambda answer: replace(answer, margin_lower=np.nan),
        "a bound is not a finite number",
    ),
    "the proof denied": (
        "rows",
        lambda answer: replace(answer, proved=False),
        "FEASIBLE is not called proved",
    ),
    "a limit called feasible": (
        "limit",
        lambda answer: replace(answer, status=Status.FEASIBLE, proved=True),
        "the point is not proved strictly feasible",
    ),
    "a feasible problem called infeasible": (
        "rows, ratio",
        lambda answer: replace(answer, status=Status.INFEASIBLE, margin_lower=None),
        "the weights do not prove",
    ),
    "a limit called proved": (
        "limit",
        lambda answer: replace(answer, proved=True),
        "UPDATE_LIMIT is called proved",
    ),
    "a bound without weights": (
        "limit",
        lambda answer: replace(answer, weights=None, margin_upper=0.9),
        "and there are none",
    ),
    "weights of another cone": (
        "rows, none",
        lambda answer: replace(answer, weights=np.ones(3)),
        "weights of shape (3,) in a cone of size 60",
    ),
    "weights negated": (
        "rows, none",
        lambda answer: replace(answer, weights=-np.asarray(answer.weights)),
        "the weights do not prove",
    ),
    "weights of ones": (
        "mixed",
        lambda answer: replace(
            answer, status=Status.INFEASIBLE, weights=np.ones(19), margin_lower=None
        ),
        "weights",
    ),
    "an upper bound lowered": (
        "rows, bounded",
        lambda answer: replace(answer, margin_upper=(answer.margin_upper or 0.0) * 0.99),
        "is claimed",
    ),
    "a margin bounded by nothing": (
        "rows, bounded",
        lambda answer: replace(answer, margin_lower=None, margin_upper=None),
        "no bound that was asked for is proved",
    ),
    "a kernel's coefficients negated": (
        "kernel",
        lambda answer: replace(answer, point=-answer.point),
        "is not proved",
    ),
    "a matrix's point moved": (
        "matrices",
        lambda answer: replace(answer, point=answer.point - 1e3 * np.abs(answer.point).max()),
        "is not proved",
    ),
    "another seed": (
        "rows",
        lambda answer: replace(answer, problem=dict(answer.problem) | {"seed": 1}),
        "its settings are not those of the cell",
    ),
    "another algorithm": (
        "rows",
        lambda answer: replace(answer, algorithm=dict(answer.algorithm) | {"name": "winnow"}),
        "its settings are not those of the cell",
    ),
    "a larger ellipsoid": (
        "ellipsoid",
        lambda answer: replace(
            answer, proof=dict(answer.proof) | {"0.offset": 9.0 + answer.proof["0.offset"]}
        ),
        "FEASIBLE is claimed, FITTED is proved",
    ),
    "no ellipsoid at all": (
        "ellipsoid",
        lambda answer: replace(
            answer, proof={k: v for k, v in answer.proof.items() if k != "0.factor"}
        ),
        "FEASIBLE is claimed",
    ),
    "a larger ratio": (
        "ellipsoid",
        lambda answer: replace(
            answer, certificate={"figures": {"ratio_lower": 1e3, "ratio_upper": 1e4}}
        ),
        "ratio_lower 1000 is claimed",
    ),
    "other weights of the dual": (
        "no ellipsoid",
        lambda answer: replace(
            answer,
            proof=dict(answer.proof)
            | {"0.positive_weights": 0 * answer.proof["0.positive_weights"]},
        ),
        "is claimed, FITTED is proved",
    ),
    "negative weights of the dual": (
        "no ellipsoid",
        lambda answer: replace(
            answer,
            proof=dict(answer.proof) | {"0.positive_weights": -answer.proof["0.positive_weights"]},
        ),
        "is claimed, FITTED is proved",
    ),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_tampered_claims_are_not_verified(name: str, tmp_path: Path) -> None:
    cell, change, message = TAMPERED[name]
    problem, algorithm, more, _ = CELLS[cell]
    path = certified(tmp_path, problem, algorithm, **more)
    verdict = tampered(path, change)
    assert verdict.verdict is Verdict.NOT_PROVED
    assert message in verdict.message


DAMAGED: dict[str, tuple[str, Callable[[Certificate], Certificate]]] = {
    "proved is a text": ("rows", lambda answer: replace(answer, proved="yes")),  # type: ignore[arg-type]
    "a margin is a text": ("rows", lambda answer: replace(answer, margin_lower="big")),  # type: ignore[arg-type]
    "a point of words": ("rows", lambda answer: replace(answer, point=np.array(["x"]))),
    "no dataset": ("rows", lambda answer: replace(answer, problem={})),
    "a seed that is none": (
        "rows",
        lambda answer: replace(answer, problem=dict(answer.problem) | {"seed": "0"}),
    ),
    "figures that are none": (
        "ellipsoid",
        lambda answer: replace(answer, certificate={"figures": 3}),
    ),
    "a figure that is none": (
        "ellipsoid",
        lambda answer: replace(answer, certificate={"figures": {"ratio_lower": "1"}}),
    ),
    "an array of another task": (
        "ellipsoid",
        lambda answer: replace(answer, proof=dict(answer.proof) | {"7.factor": np.ones(1)}),
    ),
    "an ellipsoid of another dimension": (
        "ellipsoid",
        lambda answer: replace(answer, proof=dict(answer.proof) | {"0.shift": np.ones(1)}),
    ),
    "weights of other examples": (
        "ellipsoid",
        lambda answer: replace(
            answer, proof=dict(answer.proof) | {"0.negative_weights": np.ones(1)}
        ),
    ),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_malformed_certificates_are_damaged(name: str, tmp_path: Path) -> None:
    cell, change = DAMAGED[name]
    problem, algorithm, more, _ = CELLS[cell]
    path = certified(tmp_path, problem, algorithm, **more)
    verdict = tampered(path, change)
    assert verdict.verdict is Verdict.DAMAGED
    assert verdict.message


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", thinned(DECIDING, step=7))
def test_claims_of_every_algorithm_on_every_system_are_verified_again(
    algorithm: str, tmp_path: Path
) -> None:
    """Also what it claims when its budget ends, and whatever it runs on inside."""
    judged = 0
    for problem in SYSTEMS:
        for updates in (2, 400):
            path = attempted(tmp_path, problem, {"name": algorithm}, budget={"updates": updates})
            if path is None:
                continue  # it does not run on such systems
            verified = verdict(path)
            assert (verified.verdict, verified.message) in (
                (Verdict.PROVED, ""),
                (Verdict.NOTHING_CLAIMED, ""),
            ), problem
            judged += verified.verdict is Verdict.PROVED
    assert judged


SPECIAL = (0.0, -1.0, 1e-320, 1e300, -1e300, np.inf, -np.inf, np.nan)


@pytest.fixture(scope="module")
def sound_files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Certificates of cells with all kinds of proofs."""
    folder = tmp_path_factory.mktemp("whole")
    names = ("rows", "rows, none", "kernel", "mixed", "whole matrices", "ellipsoid", "no ellipsoid")
    return {name: certified(folder, *CELLS[name][:2], **CELLS[name][2]) for name in names}


@pytest.mark.slow
@given(data=st.data())
def test_no_numbers_make_it_fail(data: st.DataObject, sound_files: dict[str, Path]) -> None:
    """Whatever the arrays hold, there is a verdict, and a status that is not true is not proved."""
    name = data.draw(st.sampled_from(sorted(sound_files)))

    def spoilt(array: Any) -> Any:
        changed = np.array(array)
        if changed.size and data.draw(st.booleans()):
            with np.errstate(all="ignore"):
                changed = changed * data.draw(st.sampled_from((1.0, *SPECIAL)))
            indices = data.draw(st.lists(st.integers(0, changed.size - 1), max_size=3))
            for position in indices:
                changed.flat[position] = data.draw(st.sampled_from(SPECIAL))
        return changed

    def change(answer: Certificate) -> Certificate:
        weights = None if answer.weights is None else spoilt(answer.weights)
        proof = {name: spoilt(array) for name, array in answer.proof.items()}
        return replace(answer, point=spoilt(answer.point), weights=weights, proof=proof)

    assert tampered(sound_files[name], change).verdict in (
        Verdict.PROVED,
        Verdict.NOT_PROVED,
    )


@given(data=st.data())
def test_no_status_is_proved_that_contradicts_the_true_one(
    data: st.DataObject, sound_files: dict[str, Path]
) -> None:
    name = data.draw(st.sampled_from(sorted(set(sound_files) - {"whole matrices"})))
    true = read_certificate(sound_files[name]).status
    opposite = {Status.FEASIBLE: Status.INFEASIBLE, Status.INFEASIBLE: Status.FEASIBLE}

    def change(answer: Certificate) -> Certificate:
        size = len(answer.point) if answer.weights is None else len(answer.weights)
        weights = data.draw(st.sampled_from((answer.weights, np.ones(size), answer.point[:size])))
        point = data.draw(
            st.sampled_from((answer.point, -answer.point, np.ones_like(answer.point)))
        )
        bounds = {"margin_lower": None, "margin_upper": None}
        return replace(answer, status=opposite[true], point=point, weights=weights, **bounds)

    assert tampered(sound_files[name], change).verdict is Verdict.NOT_PROVED


def test_a_bound_may_be_missed_by_a_billionth_part_of_itself(tmp_path: Path) -> None:
    problem, algorithm, more, _ = CELLS["rows"]
    path = certified(tmp_path, problem, algorithm, **more)

    def raised(by: float) -> Verdict:
        def change(answer: Certificate) -> Certificate:
            assert answer.margin_lower is not None
            return replace(answer, margin_lower=answer.margin_lower * (1.0 + by))

        return tampered(path, change).verdict

    assert raised(0.9e-9) is Verdict.PROVED
    assert raised(1.1e-9) is Verdict.NOT_PROVED


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    problem = ROWS | {"dimension": 5, "rows": 3}
    return certified(tmp_path_factory.mktemp("small"), problem, {"name": "perceptron"})


@given(data=st.data())
def test_a_flipped_bit_is_found_or_changes_nothing(data: st.DataObject, small: Path) -> None:
    content = bytearray(small.read_bytes())
    at = data.draw(st.integers(0, 8 * len(content) - 1))
    content[at // 8] ^= 1 << at % 8
    flipped = small.with_name("flipped.npz")
    flipped.write_bytes(content)
    verified = verdict(flipped)
    assert verified.verdict in (Verdict.DAMAGED, Verdict.NOT_PROVED) or same(flipped, small)


def same(left: Path, right: Path) -> bool:
    """Return whether two certificates say the same: not all bytes of an archive say something."""
    first, second = read_certificate(left), read_certificate(right)
    texts = [json.dumps({k: str(v) for k, v in vars(c).items()}) for c in (first, second)]
    return texts[0] == texts[1] and np.array_equal(first.point, second.point)


@given(length=st.integers(0, 3000))
def test_truncated_files_are_damaged(length: int, small: Path) -> None:
    content = small.read_bytes()
    short = small.with_name("short.npz")
    short.write_bytes(content[: min(length, len(content) - 1)])
    assert verdict(short).verdict is Verdict.DAMAGED


def program(folder: Path, text: str, **parameters: Any) -> Path:
    """Write a program, solve it, and write the certificate."""
    (folder / "own.dat-s").write_text(text)
    problem = {"dataset": "sdpa", "files": ["own.dat-s"]} | parameters
    return certified(folder, problem, {"name": "auto"}, budget={"updates": 3000})


@pytest.mark.parametrize(
    ("text", "status"), [(EMPTY, Status.INFEASIBLE), (WHOLE, Status.FEASIBLE)], ids=["none", "one"]
)
def test_programs_in_files(text: str, status: Status, tmp_path: Path) -> None:
    verified = verdict(program(tmp_path, text))
    assert (verified.status, verified.verdict, verified.message) == (status, Verdict.PROVED, "")


def test_changed_data_are_distinguished_from_false_claims(tmp_path: Path) -> None:
    path = program(tmp_path, WHOLE)
    (tmp_path / "own.dat-s").write_text(WHOLE.replace("0.3", "0.4"))
    verified = verdict(path)
    assert verified.verdict is Verdict.DATA_CHANGED
    assert "sha256" in verified.message


def test_rows_on_disk_are_those_of_their_name_and_seed(tmp_path: Path) -> None:
    problem = {"dataset": "rows-on-disk", "dimension": 10, "rows": 100, "directory": "rows"}
    path = certified(tmp_path, problem, {"name": "perceptron"})
    (rows,) = (tmp_path / "rows").glob("*.npy")
    content = bytearray(rows.read_bytes())
    content[-1] ^= 1
    rows.write_bytes(content)  # of the same size; what is proved are the rows as they were
    assert verdict(path).verdict is Verdict.PROVED
    described = json.loads(rows.with_suffix(".json").read_text())
    described["sha256"] = hashlib.sha256(content).hexdigest()
    rows.with_suffix(".json").write_text(json.dumps(described))
    path = certified(tmp_path, problem, {"name": "perceptron"})  # on what somebody has changed
    assert verdict(path).verdict is Verdict.DATA_CHANGED


def test_without_data_nothing_is_verified(tmp_path: Path) -> None:
    path = program(tmp_path, WHOLE)
    (tmp_path / "own.dat-s").unlink()
    verified = verdict(path)
    assert verified.verdict is Verdict.MISSING
    assert "own.dat-s: no such file" in verified.message
    assert "name the folder that they are in: --base DIR" in verified.message
    there = verify(path, base=tmp_path).cells[0]
    assert there.verdict is Verdict.MISSING
    assert "--base" not in there.message


def test_data_may_be_in_another_folder(tmp_path: Path) -> None:
    path = program(tmp_path, WHOLE)
    (tmp_path / "there").mkdir()
    (tmp_path / "own.dat-s").rename(tmp_path / "there" / "own.dat-s")
    assert verify(path).failed
    assert not verify(path, base=tmp_path / "there").failed


def test_an_unknown_dataset_proves_nothing(tmp_path: Path) -> None:
    problem, algorithm, more, _ = CELLS["rows"]
    path = certified(tmp_path, problem, algorithm, **more)

    def renamed(answer: Certificate) -> Certificate:
        other = replace(answer, problem=dict(answer.problem) | {"dataset": "gone"})
        return replace(other, cell=identity_of(other))

    verdict = tampered(path, renamed)
    assert verdict.verdict is Verdict.UNKNOWN_DATA
    assert verdict.verdict.failed
    assert "the dataset 'gone' is not registered here" in verdict.message


def test_parameters_that_the_dataset_refuses(tmp_path: Path) -> None:
    problem, algorithm, more, _ = CELLS["rows"]
    path = certified(tmp_path, problem, algorithm, **more)

    def changed(answer: Certificate) -> Certificate:
        parameters = answer.problem["parameters"] | {"dimension": "40"}
        other = replace(answer, problem=dict(answer.problem) | {"parameters": parameters})
        return replace(other, cell=identity_of(other))

    assert tampered(path, changed).verdict is Verdict.NOT_PROVED


def test_learners_that_prove_nothing_claim_nothing(tmp_path: Path) -> None:
    path = certified(
        tmp_path,
        SEPARABLE,
        {"name": "soft-ellipsoid", "parameters": {"components": None, "regularisations": [1e-2]}},
    )
    assert verdict(path).verdict is Verdict.NOTHING_CLAIMED
    verified = tampered(path, lambda answer: replace(answer, status=Status.FEASIBLE, proved=True))
    assert verified.verdict is Verdict.NOT_PROVED
    assert "proves nothing" in verified.message


def test_a_verification_counts_and_escapes() -> None:
    cells = [
        Verified("a", "<b>p</b>", "l", "FEASIBLE", Verdict.PROVED, "", 0.5, None),
        Verified("b", "q", "l", "FEASIBLE", Verdict.MISSING, "gone"),
        Verified("c", "r", "l", "ERROR", Verdict.NOTHING_CLAIMED),
    ]
    verification = Verification(Path("results/x"), cells)
    assert verification.failed == [cells[1]]
    assert verification.counts == {"PROVED": 1, "NOTHING CLAIMED": 1, "MISSING": 1}
    assert str(verification) == "results/x: 1 PROVED, 1 NOTHING CLAIMED, 1 MISSING"
    assert list(verification.to_frame()["verdict"]) == ["PROVED", "MISSING", "NOTHING CLAIMED"]
    assert "&lt;b&gt;p&lt;/b&gt;" in verification._repr_html_()
    assert "<b>" not in verification._repr_html_()


def test_a_target_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        verify(tmp_path / "none.npz")
    with pytest.raises(DataError, match="no results there"):
        verify(tmp_path)


def test_a_file_that_is_no_certificate(tmp_path: Path) -> None:
    path = tmp_path / "text.npz"
    path.write_text("nothing")
    assert verdict(path).verdict is Verdict.DAMAGED
